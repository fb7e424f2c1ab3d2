/* The answer to a case: for each output a list of numbers, some of which may be missing.  Expected answers, scales, answers of programs,
 * those of known mistakes and evaluations of other objectives all have this form and are compared in it. */
#ifndef ANSWER_H
#define ANSWER_H
#include "../../support/compare.h"
#include <cJSON.h>

typedef enum { OUT_ADVANTAGE, OUT_DYNAMIC_SAMPLING, OUT_LOSS, OUT_TERM, OUT_DLOGP, OUT_DENTROPY, OUT_DDIVERGENCE_REF, OUT_DLOG_Z,
               OUT_REPORT, OUT_LOGP, OUT_ENTROPY,
               OUT_ROW_LOSS,    /* the loss of a case with logits or hidden states, which is in their stage */
               OUT_DLOGITS, OUT_DHIDDEN, OUT_DWEIGHT,
               OUT_LIST,        /* and following: the lists of a split, by case_list_kind */
               OUT_CALL = OUT_LIST + CASE_N_LISTS,      /* all outputs of a function */
               N_OUTPUTS } output_kind;
extern const char *const output_name[N_OUTPUTS];

/* The outputs that one mistake can affect together.  The loss is computed from given advantages, so a mistake stays within its stage. */
typedef enum { STAGE_ADVANTAGE, STAGE_LOSS, STAGE_LOGITS, STAGE_CALL, N_STAGES } stage_kind;
stage_kind stage_of(output_kind output);

typedef struct {
    double *value;              /* (count); NULL: the output is absent */
    uint8_t *given;             /* (count) 0: the number is missing, such as a key of a report */
    double *size;               /* (count) of a mistake: the sum of the sizes of the number's terms, where it differs from the scale of the
                                   right answer; NULL: not known */
    int64_t count;
} numbers;

typedef struct { numbers of[N_OUTPUTS]; } answer;

void answer_free(answer *a);
double *answer_add(answer *a, output_kind output, int64_t count);     /* adds an output; every number is given and 0 */
double *answer_add_size(answer *a, output_kind output);               /* adds the sizes of an output that is there */
answer answer_expected(const test_case *c);
answer answer_scale(const test_case *c);

int output_named(const test_case *c, const char *name);                /* OUT_CALL: there is none of this name */

/* 0, or nonzero with the error; outputs for which the case has no expected value are ignored */
int answer_read(const cJSON *json, const test_case *c, answer *out, char *error, size_t error_size);

/* A case records a known mistake in full, as an object of outputs, or in brief, as one number: x for the loss, else a list of the output,
 * the place and the number: ["dlogp", i, t, x], ["report", "ess", x], ["dynamic_sampling_mask", g, true].  answer_read_brief returns
 * nonzero if it does not have this form. */
int answer_is_brief(const cJSON *json);
int answer_read_brief(const cJSON *json, const test_case *c, answer *out);

/* the first output of a call that is missing, or NULL; of other kinds NULL, since missing outputs are not judged */
const char *answer_missing(const cJSON *json, const test_case *c);

/* evaluates the objective with the headers here; advantage: for the loss, NULL: the exact ones of the case.  0 if the headers refuse it. */
int answer_evaluate(const test_case *c, const grpo_objective *obj, stage_kind stage, const double *advantage, answer *out);

/* writes the place of a number: "dlogp[2][5]", "report.clip_fraction_low", "loss"; of a call "selected[2][5]" */
void answer_where(const test_case *c, output_kind output, int64_t index, char *buffer, size_t size);

#endif
