/* What a program with one common mistake answers to a case, computed with the headers here: of every output, on every row that it touches.
 * (Mistakes that need more than this are recorded in the vectors by ../oracle/defects.) */
#ifndef PLAIN_H
#define PLAIN_H
#include "answer.h"

typedef struct { const char *id, *name; } computed_mistake;     /* id: of DEFECTS.md, where it stands there; else NULL */

/* several mistakes of one name are forms of it: by automatic differentiation and by hand, say; they stand next to each other */
int computed_count(stage_kind stage);
computed_mistake computed_named(stage_kind stage, int n);

/* the answer of mistake n, 0 where it does not apply or is not known to */
int computed_answer(const test_case *c, stage_kind stage, int n, answer *out);

/* of the stages */
int computed_loss_count(void);
int computed_advantage_count(void);
computed_mistake computed_loss_named(int n);
computed_mistake computed_advantage_named(int n);
int computed_split_count(void);             /* of the loss, too */
computed_mistake computed_split_named(int n);
int computed_split(const test_case *c, int n, answer *out);
int computed_rows_count(void);              /* of logits and hidden states */
computed_mistake computed_rows_named(int n);
int computed_rows(const test_case *c, int n, answer *out);
int computed_loss(const test_case *c, int n, answer *out);
int computed_advantage(const test_case *c, int n, answer *out);

/* What a case with logits or hidden states asks of its objective: the case of log-probabilities that a right softmax makes of it, whose
 * answers are the headers'.  NULL: it has no objective.  The case must outlive it. */
test_case *loss_of_rows(const test_case *c);
void loss_of_rows_free(test_case *l);
/* an answer to that case, by the chain rule as one to the case it was made of; 0 where it has no loss or no dlogp */
int answer_of_rows(const test_case *c, const answer *of_loss, answer *out);

#endif
