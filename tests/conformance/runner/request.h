/* Edits of a request of the protocol and of the answer to it, as JSON: responses, groups, tokens, numbers. */
#ifndef REQUEST_H
#define REQUEST_H
#include "text.h"
#include <stdint.h>

/* what the items of an array belong to */
typedef enum { BY_NOTHING, BY_SEQUENCE, BY_GROUP, BY_TOKEN } array_shape;
array_shape array_shape_of(const char *key);

void json_put(cJSON *object, const char *key, cJSON *item);        /* replaces the item of this key, if there is one */
cJSON *json_number(double x);                                      /* infinities and NaN as strings */
cJSON *json_token(const cJSON *rows, int sequence, int token);
int json_double(cJSON *item);      /* every number; returns 0, and changes none, where one would leave the range of a float */

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

/* calls `edit` for every array of the batch and of the request, or for every output of the answer; holder: the object that has it */
typedef void array_edit(void *user, cJSON *holder, cJSON *array, array_shape shape);
void request_each(cJSON *request, array_edit *edit, void *user);
void answer_each(cJSON *answer, array_edit *edit, void *user);

/* A selection of groups or responses, in this order; a group may be selected twice.  A request and its answer are edited by the same
 * selection.  Groups are renumbered. */
typedef struct { int *sequence, *group, *from_group; } selection;      /* stb_ds arrays: the old index and the new
                                                                          group of each response; the old index of each group */
selection selection_of_groups(const cJSON *request, const int *groups, int n);
void selection_reverse_responses(selection *s);                    /* within each group */
void selection_drop(selection *s, int index);                      /* drops a response, and its group with the last response of it */
void selection_free(selection *s);
void request_select(cJSON *request, const selection *s);
void answer_select(cJSON *answer, const selection *s);

/* adds masked tokens before and after those of every response; `fill` is their value in arrays of numbers */
void request_pad(cJSON *request, int before, int after, double fill);
void answer_pad(cJSON *answer, int before, int after);            /* adds zeros */
void request_drop_token(cJSON *request, int sequence, int token);

void json_scale(cJSON *item, double factor);                        /* multiplies every number in it */

#endif
