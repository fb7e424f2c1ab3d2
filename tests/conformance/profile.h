/* A program's conventions (profiles/README.md): where it differs from the vectors on purpose, so that the right answer is computed anew. */
#ifndef PROFILE_H
#define PROFILE_H
#include "judge.h"

typedef struct {
    cJSON *json;                        /* NULL: there is no profile */
    const char *name, *program, *release;
    const cJSON **convention;           /* stb_ds array */
} profile;

/* An error as of float32 arithmetic in a run of higher precision, and what of it can be rounding, in eps of float32 of the scale.
 * bound 0: there is none. */
typedef struct { double error, bound; } rounding;

int profile_load(const char *path, profile *p);         /* nonzero after a message */
void profile_free(profile *p);

/* Is every number of the stage what the program's conventions make of it?  *used: an stb_ds array of those that it takes;
 * *worst: the error that is nearest to its bound, if it is larger than what is there. */
int profile_accepts(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, int **used,
                    rounding *worst);

/* Of a list of conventions: what they make of it (JUDGE_SILENT: the right answer), and those without which it is something else. */
judge_match profile_gives(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list);
int *profile_needed(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list);

int profile_applies(const profile *p, int n, const rules *r, const test_case *c);       /* does convention n hold in the case? */
int profile_known_as(const profile *p, int n, const char *id);      /* has DEFECTS.md it under that name? */
int profile_goes_with(const profile *p, int j, int k);              /* can a program have both? */
int profile_accepts_error(const profile *p, const rules *r, const test_case *c, const char *error, int **used);

const char *profile_what(const profile *p, int n);      /* what convention n is, */
const char *profile_where(const profile *p, int n);     /* and in which part of the program; "" where the profile does not say */

#endif
