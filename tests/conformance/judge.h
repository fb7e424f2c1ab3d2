/* Found against expected, and against what a mistake would give. */
#ifndef JUDGE_H
#define JUDGE_H
#include "answer.h"

typedef struct { const compare_precision *precision; double tolerance; } rules;     /* tolerance: in eps of scale */

typedef struct {
    output_kind output;
    int64_t index;              /* of the worst number */
    double expected, found, error;
    int64_t wrong, judged;      /* numbers of the output */
} mismatch;

typedef struct { const test_case *c; answer expected, scale; } question;

question question_of(const test_case *c);
void question_free(question *q);

/* the outputs that have a wrong number, an stb_ds array; *judged: all the numbers that were looked at, *worst: their largest error */
mismatch *judge(const rules *r, const question *q, const answer *found, int64_t *judged, double *worst);
int judge_failed(const mismatch *wrong, stage_kind stage);

/* Is `found` what `mistake` gives?  JUDGE_SILENT: what was returned cannot tell the mistake from the right answer.
 * *evidence: of the numbers that are the same, those that the right answer has otherwise, finite and not 0.  NULL: not asked for. */
typedef enum { JUDGE_SILENT, JUDGE_DIFFERENT, JUDGE_SAME } judge_match;
typedef enum {
    JUDGE_ALL,          /* as recorded in the vectors: where the mistake names no number the found one must be right; few digits */
    JUDGE_NAMED,        /* by the numbers that it names alone; few digits */
    JUDGE_COMPUTED      /* the same, with all digits */
} judge_how;
judge_match judge_against(const rules *r, const question *q, stage_kind stage, const answer *found, const answer *mistake, judge_how how,
                          int *evidence);

/* is it the same number, within the tolerance of the scale? */
int judge_agrees(const rules *r, double found, double other, double scale);

/* how far apart, 0 (the same) to 1, the worst output of a set of bits; outputs that either lacks have no say */
double judge_distance(unsigned outputs, const answer *a, const answer *b);

#endif
