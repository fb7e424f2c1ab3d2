/* Relations between two answers of one program: what is changed in a request, what must then follow for each output, and for which
 * objectives.  No expected number is needed. */
#ifndef RELATIONS_H
#define RELATIONS_H
#include <cJSON.h>

/* the outputs that something is said of: by what they are a function of */
enum { OF_ADVANTAGE = 1, OF_VALUE = 2, OF_GRADIENT = 4, OF_LOSS = 6, OF_ALL = 7 };
int output_part(const char *output);            /* "term": OF_VALUE */

typedef struct {
    const char *name, *changed, *follows;
    const char *where;                          /* for which objectives, and why */
    int (*holds)(const cJSON *request);         /* for which of its outputs; 0: for none */
    /* with an objective of the program's own: "" for every one, "mean": where the user says so, "!order": where not, NULL: never */
    const char *property;
    void (*prepare)(cJSON *request);            /* NULL; else what is done to the request before it is asked at all */
    int (*change)(cJSON *request);              /* NULL: finite differences; 0: there is nothing to change in this batch */
    void (*follow)(const cJSON *request, cJSON *answer, int is_scale);      /* the answer to it, or its scales -> what must be answered */
} relation;

extern const relation relations[];
extern const int n_relations;

extern const char *const relation_properties[];     /* ends with NULL */

#endif
