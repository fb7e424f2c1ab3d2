/* One relation on one request: ask, change, ask again, compare. */
#ifndef TRIAL_H
#define TRIAL_H
#include "judge.h"
#include "relations.h"
#include "session.h"

typedef enum {
    TRIAL_HELD, TRIAL_BROKEN,
    TRIAL_SKIPPED,              /* by the program */
    TRIAL_NOTHING               /* the batch has nothing to change, or what was returned says nothing */
} trial_kind;

typedef struct {
    trial_kind kind;
    char *what;                 /* is wrong, or why it is skipped; else NULL */
    char where[80];             /* of TRIAL_BROKEN: which number, and the output that it is of */
    char output[40];
    int64_t judged;
    double worst;               /* error, in eps of scale */
    cJSON *request, *answer, *changed, *changed_answer;
} trial;

typedef struct {
    session *s;
    const rules *r;
    const test_case *c;         /* whose tokens are counted */
} asker;

/* base: the answer to the request if it is known, else NULL; scale: those of the outputs, NULL: they are taken from the answers;
 * outputs: which of them the relation holds for */
trial relation_try(const asker *a, const relation *rel, const cJSON *request, const cJSON *base, const cJSON *scale, int outputs);
void trial_free(trial *t);

char *trial_words(const char *before, const char *after);      /* for the caller to free; after: may be NULL */

/* a result, NULL with what came instead */
cJSON *request_ask(const asker *a, const cJSON *request, trial *t);

/* of the numbers in the answers, where no better scale is known */
cJSON *sizes_of(const cJSON *of);

#endif
