/* The results of a run, the failures grouped by cause, and the writers of the report formats. */
#ifndef REPORT_H
#define REPORT_H
#include "diagnose.h"
#include "profile.h"
#include "session.h"

typedef enum { CASE_PASSED, CASE_FAILED, CASE_SKIPPED, CASE_ACCEPTABLE } verdict;
typedef struct { mismatch m; char where[64]; } wrong_output;

typedef struct {
    char *id, *variant, *evidence;  /* variant: the file's name, a row; evidence: what the row's settings are based on, or NULL */
    const char *comment;            /* of the case in the vectors: what its batch tests; NULL: none */
    verdict verdict;
    char *reason;                   /* of a skip, or of a failure that is not a wrong number; else NULL */
    char *note;                     /* of invalid input refused with an error that does not name the field at fault; else NULL */
    char *minimal;                  /* NULL, or JSON: the smallest case in which a relation does not hold */
    wrong_output *wrong;            /* stb_ds array */
    int *conventions;               /* stb_ds array: the conventions of the profile that made an answer acceptable */
    rounding rounding;              /* where one of them is float32 rounding: the largest error and its bound */
    int fragile;                    /* has infinities or enormous numbers (diagnose.h): not a good example of a mistake */
    int64_t judged;                 /* numbers compared */
    double worst, seconds;
} case_result;

/* failures with the same cause */
typedef struct {
    int cause;                      /* index in the diagnostician's causes; -1: unexplained, -2: a failure with a `reason` */
    const char *reason;             /* of -2: that of the first case; of -1: which output is wrong first */
    char *where;                    /* NULL, or the rows and choices to which the cause is restricted */
    char *hint;                     /* of -1: what the cases have in common; of a cause: what is wrong besides;
                                     * of a relation: what it is; NULL: none */
    int *cases;                     /* stb_ds array: indices of results */
    int *also;                      /* stb_ds array: causes that give the same numbers in these cases */
    int *partly;                    /* stb_ds array: causes that give the same numbers in some of these cases */
    int refuted;                    /* answers for which the cause would have given other numbers than were found */
} failure_group;

typedef struct {
    case_result *results;           /* stb_ds array */
    failure_group *groups;          /* stb_ds array */
    const diagnostician *d;
    const session *s;
    const rules *r;
    const profile *profile;
    int verbose, strict;            /* strict: acceptable answers are reported as failures */
    int64_t passed, acceptable, failed, skipped;
} report;

void report_group(report *r);       /* computes counts and groups from the results; groups are ordered by what they explain */
void report_free(report *r);
char *report_details(const report *r, int result);       /* reason or diagnosis, and the numbers; for the caller to free */
char *report_name(const report *r, const failure_group *g);      /* the cause's name, or the reason, in words; for the caller to free */
int report_is_ambiguous(const failure_group *g);         /* do too many causes give the numbers of its only case for one to be believed? */
size_t report_reason_length(const char *reason);         /* without its last part, which differs from case to case */

typedef void report_writer(const report *r);
report_writer *report_format(const char *name);     /* "text", "tap", "junit", "json", "html"; NULL if there is none of that name */
void report_html(const report *r);  /* a self-contained page without scripts */

void report_end(const report *r, session *s, const char *format);     /* after the writer: messages on standard error; ends the session */
void report_summary(const report *r, char *buffer, size_t size);       /* "N passed, N failed, N skipped", and how many are acceptable */

#endif
