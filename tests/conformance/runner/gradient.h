/* Checks by finite differences that dlogp is the derivative of the program's own loss. */
#ifndef GRADIENT_H
#define GRADIENT_H
#include "trial.h"

/* checks t->request; base: the answer to it if it is known, else NULL; scale: as in relation_try */
void try_gradient(const asker *a, const cJSON *base, const cJSON *scale, trial *t);

#endif
