/* Policy, penalty and entropy bonus of an edited case, evaluated separately: by the headers, or a formula token by token. */
#ifndef LOSS_PARTS_H
#define LOSS_PARTS_H
#include "edits.h"
#include "loss_formulas.h"

typedef struct { const char *id, *name; row_kind kind; edit edits[4]; formula *policy, *penalty; } mistake;

/* the arrays are allocated in `edited` */
typedef struct { double loss, *term, *dlogp, *dentropy, policy_loss, penalty_loss; int ok; } part;

/* the answer of a program with the mistake, or (NULL) none; s is an edited_of the case */
part made(edited *s, const mistake *m);
/* do policy and penalty, by the headers or by their right formulas, add up to the right answer of the case? */
int is_plain(const test_case *c, int by_formula, int kl_by_formula);

#endif
