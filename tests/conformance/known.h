/* The mistakes that the vectors know by name: the rows of DEFECTS.md, or defects.json where a directory has one. */
#ifndef KNOWN_H
#define KNOWN_H

typedef struct { char *id, *wrong, *right, *seen; } known_mistake;

known_mistake *known_mistakes(const char *vectors);     /* an stb_ds array; empty where there is no table */
void known_free(known_mistake *list);

#endif
