/* What a run found, and how it is told. */
#ifndef REPORT_H
#define REPORT_H
#include "diagnose.h"
#include "profile.h"
#include "session.h"

typedef enum { CASE_PASSED, CASE_FAILED, CASE_SKIPPED, CASE_ACCEPTABLE } verdict;
typedef struct { mismatch m; char where[64]; } wrong_output;

typedef struct {
    char *id, *variant, *evidence;  /* evidence: what the row is, NULL if the file says nothing */
    const char *comment;            /* the case's own, what its batch is made to show; NULL: none */
    verdict verdict;
    char *reason;                   /* of a skip, or of a failure that is not a wrong number; else NULL */
    char *note;                     /* of an input that is refused, but not for what is wrong with it; else NULL */
    char *minimal;                  /* NULL, or JSON: the smallest case in which a relation is broken */
    wrong_output *wrong;            /* stb_ds array */
    int *conventions;               /* stb_ds array: of the profile, what made an answer acceptable */
    rounding rounding;              /* where that is float32 on the way */
    int fragile;                    /* of infinities or enormous numbers: no example of something else */
    int64_t judged;
    double worst, seconds;
} case_result;

/* failures that one thing explains */
typedef struct {
    int cause;                      /* of the diagnostician; -1: unexplained, -2: `reason` */
    const char *reason;             /* of -2: the first case's; of -1: which output goes wrong first */
    char *where;                    /* NULL, or the rows and the choices in which alone the cause holds */
    char *hint;                     /* of -1: what the cases have in common; NULL: nothing */
    int *cases;                     /* stb_ds arrays: of results, */
    int *also;                      /* of causes that explain the same cases just as well */
    int *partly;                    /* ... and of those that explain some of them alone */
    int refuted;                    /* cases that the cause would have failed, and which passed or failed otherwise */
} failure_group;

typedef struct {
    case_result *results;           /* stb_ds arrays */
    failure_group *groups;
    const diagnostician *d;
    const session *s;
    const rules *r;
    const profile *profile;
    int verbose, strict;            /* strict: what is acceptable is told as a failure */
    int64_t passed, acceptable, failed, skipped;
} report;

void report_group(report *r);       /* results -> counts and groups, the largest first */
void report_free(report *r);
char *report_details(const report *r, int result);       /* reason or diagnosis, and the numbers; for the caller to free */
size_t report_reason_length(const char *reason);

typedef void report_writer(const report *r);
report_writer *report_format(const char *name);     /* "text", "tap", "junit", "json", "html"; NULL if there is none of that name */
void report_html(const report *r);  /* a page that stands alone: no script, nothing from elsewhere */

void report_end(const report *r, session *s, const char *format);     /* after the writer: standard error, and the session's end */
void report_summary(const report *r, char *buffer, size_t size);       /* "N passed, N failed, N skipped", and how many are acceptable */

#endif
