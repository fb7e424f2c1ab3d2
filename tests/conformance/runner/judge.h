/* Compares the numbers found with those expected, and with those that a mistake would give. */
#ifndef JUDGE_H
#define JUDGE_H
#include "answer.h"

typedef struct { const compare_precision *precision; double tolerance; } rules;     /* tolerance: in eps of scale */

typedef struct {
    output_kind output;
    int64_t index;              /* of the number with the largest error */
    double expected, found, error;
    int64_t wrong, judged;      /* how many numbers of the output are wrong, and how many were compared */
} mismatch;

typedef struct { const test_case *c; answer expected, scale; } question;      /* a case and its right answer */

question question_of(const test_case *c);
void question_free(question *q);

/* the outputs that have a wrong number, an stb_ds array; *judged: how many numbers were compared, *worst: their largest error */
mismatch *judge(const rules *r, const question *q, const answer *found, int64_t *judged, double *worst);
int judge_failed(const mismatch *wrong, stage_kind stage);      /* is an output of the stage wrong? */

/* Does `found` have the numbers that `mistake` gives?  JUDGE_SILENT: the mistake gives the right numbers for all that was returned.
 * *evidence: how many numbers agree with the mistake, differ from the right answer, and are finite and not 0; may be NULL. */
typedef enum { JUDGE_SILENT, JUDGE_DIFFERENT, JUDGE_SAME } judge_match;
typedef enum {
    JUDGE_ALL,          /* recorded in the vectors with few digits; numbers that the mistake does not list must be right */
    JUDGE_NAMED,        /* recorded with few digits; only the numbers that the mistake lists are compared */
    JUDGE_COMPUTED,     /* computed with all digits; only the numbers that the mistake has are compared */
    JUDGE_APART         /* the same, without the advantages that are wrong by a mistake of their own: judge_apart */
} judge_how;
judge_match judge_against(const rules *r, const question *q, stage_kind stage, const answer *found, const answer *mistake, judge_how how,
                          int *evidence);

/* Advantages that are wrong whatever those of other tokens are made of, a bit set: of masked tokens, which have that of their response
 * where it should be 0; NaN of a response alone in its group; NaN, 0/0, of a group whose advantages should all be 0 */
enum { APART_MASKED = 1, APART_ALONE = 2, APART_EQUAL = 4 };
unsigned judge_apart(const question *q, const answer *found);
int judge_is_only_apart(const rules *r, const question *q, const answer *found);        /* are all wrong advantages such? */

/* is it the same number, within the tolerance of the scale? */
int judge_agrees(const rules *r, double found, double other, double scale);

/* The relative distance of two answers, from 0 (equal) to 1: the largest over the outputs of a bit set.  Outputs that one of them lacks are
 * left out. */
double judge_distance(unsigned outputs, const answer *a, const answer *b);

#endif
