/* Computes what a program with one common mistake answers to a case: every output, on every row that the mistake affects.  (Mistakes that
 * cannot be computed this way are recorded in the vectors, by ../oracle/defects.) */
#ifndef COMPUTED_H
#define COMPUTED_H
#include "answer.h"

typedef struct {
    const char *id, *name;      /* id: the one in DEFECTS.md, NULL if it is not there */
    int whole;                  /* not looked for in the gradient alone, which is another mistake, or the value alone */
} computed_mistake;

/* Mistakes with the same name are forms of it, such as by automatic differentiation and with a hand-written gradient; they are adjacent. */
int computed_count(stage_kind stage);
computed_mistake computed_named(stage_kind stage, int n);

/* the answer of mistake n; 0 if it has no effect on the case or cannot be computed there */
int computed_answer(const test_case *c, stage_kind stage, int n, answer *out);

/* Is it the case that it was asked about last?  By its id too: another case may have come to its address. */
typedef struct { const test_case *c; char id[240]; } last_case;
int is_last_case(last_case *last, const test_case *c);

/* the mistakes of each file: computed_loss.c, computed_advantage.c, computed_credit.c, computed_split.c,
 * computed_rows.c */
int computed_loss_count(void);
int computed_advantage_count(void);
computed_mistake computed_loss_named(int n);
computed_mistake computed_advantage_named(int n);
int computed_credit_count(void);            /* of GAE and whitening; among those of advantages */
computed_mistake computed_credit_named(int n);
int computed_credit(const test_case *c, int n, answer *out);
int computed_split_count(void);             /* of kind split */
computed_mistake computed_split_named(int n);
int computed_split(const test_case *c, int n, answer *out);
int computed_rows_count(void);              /* of logits and hidden states */
computed_mistake computed_rows_named(int n);
int computed_rows(const test_case *c, int n, answer *out);
int computed_loss(const test_case *c, int n, answer *out);
int computed_advantage(const test_case *c, int n, answer *out);

/* Of a case with logits or hidden states: the case of its objective alone, with the log-probabilities that a correct softmax gives; its
 * expected answers are computed with the headers.  NULL: there is no objective.  c must outlive it. */
test_case *loss_of_rows(const test_case *c);
void loss_of_rows_free(test_case *l);
/* continues an answer to that case to an answer to c, by the chain rule; 0 if it has no loss or no dlogp */
int answer_of_rows(const test_case *c, const answer *of_loss, answer *out);

#endif
