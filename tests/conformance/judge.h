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

/* Is `found` what `mistake` gives?  Where the mistake names no number the found one must be right.
 * JUDGE_SILENT: what was returned cannot tell the mistake from the right answer. */
typedef enum { JUDGE_SILENT, JUDGE_DIFFERENT, JUDGE_SAME } judge_match;
judge_match judge_against(const rules *r, const question *q, stage_kind stage, const answer *found, const answer *mistake);

/* the same by the numbers that the mistake names alone */
judge_match judge_named(const rules *r, const question *q, stage_kind stage, const answer *found, const answer *mistake);

/* how far apart, 0 (the same) to 1, the worst output of the stage; outputs that either lacks have no say */
double judge_distance(stage_kind stage, const answer *a, const answer *b);

#endif
