/* A profile: conventions in which a program differs from the vectors on purpose (profiles/README.md).  The right answer is recomputed with
 * them. */
#ifndef PROFILE_H
#define PROFILE_H
#include "judge.h"

typedef struct {
    cJSON *json;                        /* NULL: there is no profile */
    const char *name, *program, *release;
    const cJSON **convention;           /* stb_ds array */
} profile;

/* A float32 rounding error in a run of higher precision, and the bound for it, in eps of float32 of the scale.  bound 0: there is none. */
typedef struct { double error, bound; } rounding;

int profile_load(const char *path, profile *p);         /* nonzero after an error message */
void profile_free(profile *p);

/* Is every number of the stage right by the conventions that apply?  *used: an stb_ds array, to which those that are needed are added;
 * *worst: replaced by the rounding error nearest to its bound, if that is nearer than the present one. */
int profile_accepts(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, int **used,
                    rounding *worst);

/* profile_gives: does `found` have the numbers that the listed conventions give?  (JUDGE_SILENT: they change nothing.)  profile_needed:
 * those of the list without which it would not; an stb_ds array. */
judge_match profile_gives(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list);
int *profile_needed(const profile *p, const rules *r, const question *q, const answer *found, stage_kind stage, const int *list);

int profile_applies(const profile *p, int n, const rules *r, const test_case *c);       /* does convention n apply to the case? */
int profile_known_as(const profile *p, int n, const char *id);      /* is the id in its known_as? */
int profile_goes_with(const profile *p, int j, int k);              /* can a program have both, that is, change different fields? */
int profile_accepts_error(const profile *p, const rules *r, const test_case *c, const char *error, int **used);    /* an error's text */

const char *profile_what(const profile *p, int n);      /* the text of convention n, `what` */
const char *profile_where(const profile *p, int n);     /* its place in the program, `in`; "" if there is none */

#endif
