/* The smallest request on which a relation is still broken. */
#ifndef SHRINK_H
#define SHRINK_H
#include "trial.h"

/* a JSON object with the relation, the request, its answer, the changed request and its answer, for the caller to free; `found` is what
 * is to be made smaller, fixed: the program has an objective of its own */
char *shrink(const asker *a, const relation *rel, const trial *found, int outputs, int fixed);

#endif
