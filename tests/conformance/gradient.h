/* Is dlogp the derivative of the program's own loss? */
#ifndef GRADIENT_H
#define GRADIENT_H
#include "trial.h"

/* of t->request; base: its answer if it is known, else NULL; scale: as in relation_try */
void try_gradient(const asker *a, const cJSON *base, const cJSON *scale, trial *t);

#endif
