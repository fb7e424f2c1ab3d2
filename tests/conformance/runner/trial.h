/* Checks one relation on one request: sends it, changes it, sends it again, and compares the two answers. */
#ifndef TRIAL_H
#define TRIAL_H
#include "judge.h"
#include "relations.h"
#include "session.h"

typedef enum {
    TRIAL_HELD, TRIAL_BROKEN,
    TRIAL_SKIPPED,              /* the program skipped it or reported an error */
    TRIAL_NOTHING               /* the relation changes nothing in this batch, or concerns no output that was returned */
} trial_kind;

typedef struct {
    trial_kind kind;
    char *what;                 /* what is wrong, or why it is skipped; else NULL */
    char where[80];             /* of TRIAL_BROKEN: the place of the wrong number, and below the output that has it */
    char output[40];
    int64_t judged;
    double worst;               /* error, in eps of scale */
    cJSON *request, *answer, *changed, *changed_answer;
} trial;

typedef struct {
    session *s;
    const rules *r;
    const test_case *c;         /* its number of tokens limits the size of an answer */
} asker;

/* base: the answer to the request if it is known, else NULL; scale: the scales of the outputs, NULL: taken from the answers; outputs: those
 * that the relation holds for, a sum of OF_... */
trial relation_try(const asker *a, const relation *rel, const cJSON *request, const cJSON *base, const cJSON *scale, int outputs);
void trial_free(trial *t);

char *trial_words(const char *before, const char *after);      /* the two joined, for the caller to free; after may be NULL */

/* sends the request; returns the result, or NULL with kind and what of *t set */
cJSON *request_ask(const asker *a, const cJSON *request, trial *t);

/* scales made of the sizes of an answer's numbers, where the vectors have none */
cJSON *sizes_of(const cJSON *of);

#endif
