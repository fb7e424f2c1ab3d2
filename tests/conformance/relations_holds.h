/* For which of the outputs of a request a relation holds, from the axes of its objective alone. */
#ifndef RELATIONS_HOLDS_H
#define RELATIONS_HOLDS_H
#include <cJSON.h>

int holds_everywhere(const cJSON *request);
int holds_in_any_order(const cJSON *request);
int holds_padded_right(const cJSON *request);
int holds_padded_left(const cJSON *request);
int holds_as_mean(const cJSON *request);
int holds_as_sum(const cJSON *request);
int holds_normalised(const cJSON *request);
int holds_unnormalised(const cJSON *request);
int holds_linear(const cJSON *request);

#endif
