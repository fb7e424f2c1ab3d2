/* Which known mistake a wrong answer is; else which other objective it belongs to; else which one is nearest. */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H
#include "alternatives.h"
#include "judge.h"

/* anything that can be the reason of a wrong answer; `name` of a known mistake is its id, which its text says more of */
typedef struct { char *name, *text; int known, explains; } cause_info;       /* explains: a case of this run */

typedef struct { char *id, *wrong, *right, *seen; } known_mistake;

typedef struct {
    known_mistake *known;           /* stb_ds arrays */
    cause_info *causes;
    change *pairs;                  /* that explained a case, two by two */
    int64_t work_left;              /* a program that gets everything wrong is no reason to take minutes */
    int pairs_left;
} diagnostician;

/* of one stage of one case */
typedef struct {
    int failed;
    int *causes;                    /* stb_ds arrays of indices: what gives these very numbers */
    int *refuted;                   /* known mistakes that would have given others */
    int nearest;                    /* a cause, or -1 */
    double nearest_distance, right_distance;
} stage_diagnosis;

typedef struct { stage_diagnosis stage[N_STAGES]; } diagnosis;

void diagnostician_open(diagnostician *d, const char *vectors);
void diagnostician_free(diagnostician *d);

diagnosis diagnose(diagnostician *d, const rules *r, const question *q, const answer *found, const mismatch *wrong);
void diagnosis_free(diagnosis *d);

#endif
