/* Decides from the objective of a request for which outputs each relation holds. */
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
int holds_shifted_rewards(const cJSON *request);
int holds_for_differences(const cJSON *request);
int holds_for_exact_gradients(const cJSON *request);
int holds_cut(const cJSON *request);
int holds_for_rows(const cJSON *request);
int holds_for_logits(const cJSON *request);
int holds_for_softmax(const cJSON *request);

#endif
