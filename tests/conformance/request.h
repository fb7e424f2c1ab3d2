/* A request of the protocol and the answer to it, as JSON: what can be done to the responses, tokens and numbers of both alike. */
#ifndef REQUEST_H
#define REQUEST_H
#include <cJSON.h>
#include <stdint.h>

/* by what the members of an array stand */
typedef enum { BY_NOTHING, BY_SEQUENCE, BY_GROUP, BY_TOKEN } array_shape;
array_shape array_shape_of(const char *key);

cJSON *json_get(const cJSON *object, const char *key);             /* NULL where there is none */
void json_put(cJSON *object, const char *key, cJSON *item);        /* in the place of what is there */
cJSON *json_number(double x);                                      /* infinities and NaN as strings */
cJSON *json_token(const cJSON *rows, int sequence, int token);

int request_sequences(const cJSON *request);
int request_length(const cJSON *request, int sequence);
int request_groups(const cJSON *request);                           /* 0: it has none */
int request_group(const cJSON *request, int sequence);
int request_active(const cJSON *request, int sequence, int token);  /* by the mask */
const char *request_choice(const cJSON *request, const char *path);    /* "surrogate.kind": the choice, or the default if left out */
double request_field(const cJSON *request, const char *path);          /* a number of the objective, 0 where it is left out */
int request_always_has(const char *path);                               /* is the field written even where it has its default? */
void request_reset(cJSON *request, const char *axis, const char *field);       /* to its default: left out, unless it is always written */
int request_is(const cJSON *request, const char *path, const char *words);     /* is the choice one of the words? */

/* every array of the batch and beside it, and every output of an answer: calls back with the object that holds it */
typedef void array_edit(void *user, cJSON *holder, cJSON *array, array_shape shape);
void request_each(cJSON *request, array_edit *edit, void *user);
void answer_each(cJSON *answer, array_edit *edit, void *user);

/* The responses of a list of groups, or of responses, in this order; a group may stand there twice.  `both` is a request, and its answer
 * is edited by the same list.  Groups are numbered anew. */
typedef struct { int *sequence, *group, *from_group; } selection;      /* stb_ds arrays: of each new response; of each new group */
selection selection_of_groups(const cJSON *request, const int *groups, int n);
void selection_reverse_responses(selection *s);                    /* within each group */
void selection_drop(selection *s, int index);                      /* a response; its group goes with the last of it */
void selection_free(selection *s);
void request_select(cJSON *request, const selection *s);
void answer_select(cJSON *answer, const selection *s);

/* masked tokens before and after those of every response, with `fill` in all that is a number */
void request_pad(cJSON *request, int before, int after, double fill);
void answer_pad(cJSON *answer, int before, int after);            /* zeros there */
void request_drop_token(cJSON *request, int sequence, int token);

void json_scale(cJSON *item, double factor);                        /* every number in it */

#endif
