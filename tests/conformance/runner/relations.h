/* Relations between two answers of one program: how a request is changed, how the answer must change then, and for which objectives and
 * outputs.  No expected number is needed. */
#ifndef RELATIONS_H
#define RELATIONS_H
#include <cJSON.h>

/* sets of outputs: advantages, outputs that are values (loss, term, report, log-probabilities ...), outputs that are gradients */
enum { OF_ADVANTAGE = 1, OF_VALUE = 2, OF_GRADIENT = 4, OF_LOSS = 6, OF_ALL = 7 };
int output_part(const char *output);            /* the set that an output is in; of "term" OF_VALUE */

typedef struct {
    const char *name, *changed, *follows;       /* in words: what is changed, and what must follow */
    const char *where;                          /* in words: for which objectives, and why */
    int (*holds)(const cJSON *request);         /* the outputs of the request for which the relation holds, a sum of OF_... */
    /* With --objective-fixed the relation is checked: "" always, "mean" if --holds has this property, "!order" if it does not have it, NULL
     * never. */
    const char *property;
    void (*prepare)(cJSON *request);            /* NULL, or changes the request before its first use */
    int (*change)(cJSON *request);              /* changes the request; returns 0 if this batch has nothing to change.  NULL: no change,
                                                   the relation is that of finite differences */
    void (*follow)(const cJSON *request, cJSON *answer, int is_scale);      /* changes the answer to the request, or (is_scale) its scales,
                                                   into that expected for the changed request */
} relation;

extern const relation relations[];
extern const int n_relations;

extern const char *const relation_properties[];     /* the words that --holds accepts; ends with NULL */

#endif
