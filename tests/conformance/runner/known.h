/* The known mistakes of the vectors, from the tables of their DEFECTS.md. */
#ifndef KNOWN_H
#define KNOWN_H

typedef struct { char *id, *wrong, *right, *seen; } known_mistake;

known_mistake *known_mistakes(const char *vectors);     /* an stb_ds array; empty if there is no such file */
void known_free(known_mistake *list);

#endif
