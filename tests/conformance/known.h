/* Reads the known mistakes of the vectors: from defects.json if the folder has it, else from the tables of DEFECTS.md. */
#ifndef KNOWN_H
#define KNOWN_H

typedef struct { char *id, *wrong, *right, *seen; } known_mistake;

known_mistake *known_mistakes(const char *vectors);     /* an stb_ds array; empty if there is neither file */
void known_free(known_mistake *list);

#endif
