/* Evaluates a case of the vectors and compares found with expected numbers, in ulps of their scale. */
#ifndef COMPARE_H
#define COMPARE_H
#include "../../gspo.h"
#include "case.h"

/* in ulps, as the headers promise; of the element type for numbers that have been stored in an array, else of double */
#define COMPARE_LIMIT 4.0

typedef enum { COMPARE_ADVANTAGE, COMPARE_TERM, COMPARE_LOSS, COMPARE_DLOGP, COMPARE_DENTROPY, COMPARE_DDIVERGENCE_REF, COMPARE_DLOG_Z,
    COMPARE_REPORT, COMPARE_N_OUTPUTS } compare_output;
extern const char *const compare_output_name[COMPARE_N_OUTPUTS];

typedef struct {
    compare_output output;
    const char *key;                /* a metric of the report, or the name of an output */
    int64_t sequence, token;        /* -1: the number belongs to the whole batch, or (dlog_partition) sequence is the group */
    double found, expected, scale, error;
} compared;

typedef void compare_sink(void *user, const test_case *c, const compared *number);

/* the precision that an error is measured in; tiny: absolute error that underflow may add */
typedef struct { const char *name; double eps, max, tiny; } compare_precision;
extern const compare_precision compare_f64, compare_f32, compare_bf16;

int compare_holds(const compare_precision *p, double x);        /* can a number of the precision have the magnitude of x? */
double compare_error_in(const compare_precision *p, double found, double expected, double scale);

/* reads a metric of the report by its key; returns 0 if there is none */
int compare_metric(const grpo_report *report, const char *key, double *value);
const char *compare_metric_name(int n);     /* NULL past the last */

/* ulps of scale; HUGE_VAL where no tolerance applies, as for a NaN.  stored: found has been an element, and may have overflowed */
double compare_error(double found, double expected, double scale, int stored);

typedef grpo_status loss_function(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                  const grpo_totals *totals, const grpo_output *out, grpo_report *report);
typedef grpo_status loss_add_function(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                      const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);

/* what an evaluation wrote; outputs start as NaN, so that elements that it does not write are detected */
typedef struct {
    grpo_status status;
    grpo_real *advantage, *dlogp, *dentropy, *ddivergence_ref, *term;     /* (n_tokens); NULL if not requested */
    grpo_real *dlog_partition;                          /* (n_groups) */
    int64_t n_tokens, n_groups;
    grpo_report report;
} outcome;

outcome outcome_of_advantages(const test_case *c, const grpo_objective *obj);
outcome outcome_of_loss(const test_case *c, const grpo_objective *obj, const grpo_real *advantage, loss_function *loss);
outcome outcome_of_parts(const test_case *c, const grpo_objective *obj, const grpo_real *advantage, loss_add_function *add);
void outcome_free(outcome *o);
const char *outcome_difference(const outcome *a, const outcome *b);     /* the name of an output whose bits differ, or NULL */

/* the expected advantages as elements, for the caller to free; NULL where an element cannot hold one */
grpo_real *compare_expected_advantage(const test_case *c);

void compare_advantage(const test_case *c, const outcome *o, compare_sink *sink, void *user);
void compare_loss(const test_case *c, const outcome *o, compare_sink *sink, void *user);      /* and term, the gradients, report */

#endif
