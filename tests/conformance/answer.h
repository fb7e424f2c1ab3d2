/* What can be returned for a case, all in one form: lists of numbers, some of them not given.  Expected answers, scales, answers of
 * programs, the answers of known mistakes and our own evaluations of other objectives are compared as such. */
#ifndef ANSWER_H
#define ANSWER_H
#include "../compare.h"
#include <cJSON.h>

typedef enum { OUT_ADVANTAGE, OUT_DYNAMIC_SAMPLING, OUT_LOSS, OUT_TERM, OUT_DLOGP, OUT_DENTROPY, OUT_DDIVERGENCE_REF, OUT_DLOG_Z, OUT_REPORT, OUT_LOGP,
               OUT_ENTROPY,
               OUT_ROW_LOSS,    /* the loss of a case with logits or hidden states: it is of their stage */
               OUT_DLOGITS, OUT_DHIDDEN, OUT_DWEIGHT,
               OUT_LIST,        /* and after: what a split has lists of, by case_list_kind */
               OUT_CALL = OUT_LIST + CASE_N_LISTS,      /* all that a function answers, whatever it is called */
               N_OUTPUTS } output_kind;
extern const char *const output_name[N_OUTPUTS];

/* which outputs a mistake can explain together: the protocol lets nothing of one stage reach the next */
typedef enum { STAGE_ADVANTAGE, STAGE_LOSS, STAGE_LOGITS, STAGE_CALL, N_STAGES } stage_kind;
stage_kind stage_of(output_kind output);

typedef struct {
    double *value;              /* (count); NULL: the output is absent */
    uint8_t *given;             /* (count); of a report some keys may be missing */
    double *size;               /* (count) sums of the terms' sizes, where they are not those of the right answer; NULL: not known */
    int64_t count;
} numbers;

typedef struct { numbers of[N_OUTPUTS]; } answer;

void answer_free(answer *a);
double *answer_add(answer *a, output_kind output, int64_t count);     /* room for an output, every number given and 0 */
double *answer_add_size(answer *a, output_kind output);               /* and for the sizes of one that is there */
answer answer_expected(const test_case *c);
answer answer_scale(const test_case *c);

/* 0, or nonzero with what is wrong; outputs that the case has no answer to are left out (a wrong shape is wrong all the same) */
int answer_read(const cJSON *json, const test_case *c, answer *out, char *error, size_t error_size);

/* Of a known mistake a case has all that differs, as answers, or one number after its place: {"loss": [x]}, {"dlogp": [i, t, x]},
 * {"report": ["ess", x]}, {"dynamic_sampling_mask": [g, true]}.  Nonzero if it is not of that form. */
int answer_is_brief(const cJSON *json);
int answer_read_brief(const cJSON *json, const test_case *c, answer *out);

/* the first answer of a call that is not there, NULL: none; of other cases none is missing, as what is absent is not judged */
const char *answer_missing(const cJSON *json, const test_case *c);

/* what our headers find for the stage; advantage: of the loss, NULL for the case's exact ones.  0 when they refuse the objective. */
int answer_evaluate(const test_case *c, const grpo_objective *obj, stage_kind stage, const double *advantage, answer *out);

/* "dlogp[2][5]", "report.clip_fraction_low", "loss", of a call "selected[2][5]" */
void answer_where(const test_case *c, output_kind output, int64_t index, char *buffer, size_t size);

#endif
