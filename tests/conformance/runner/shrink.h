/* Reduces a request on which a relation does not hold to a minimal one. */
#ifndef SHRINK_H
#define SHRINK_H
#include "trial.h"

/* A JSON object with the relation, the minimal request, its answer, the changed request and its answer, for the caller to free.  found: the
 * trial to start from; fixed: the program has an objective of its own, so that the fields of the objective stay. */
char *shrink(const asker *a, const relation *rel, const trial *found, int outputs, int fixed);

#endif
