/* The changes of requests that relations make, and the changes of the answer, or (is_scale) of its scales, that must follow. */
#ifndef RELATIONS_CHANGES_H
#define RELATIONS_CHANGES_H
#include <cJSON.h>

/* relations_cut.c: the batch is cut into parts; advantages are given */
void give_advantages(cJSON *request);
int cut_micro_batches(cJSON *request);
int cut_over_ranks(cJSON *request);
int pack_in_rows(cJSON *request);
void loss_and_gradient(const cJSON *request, cJSON *answer, int is_scale);

/* relations_shift.c: a constant is added */
int shift_rewards(cJSON *request);
void rewards_shifted(const cJSON *request, cJSON *answer, int is_scale);
int shift_log_probabilities(cJSON *request);

/* relations_rows.c: from logits and hidden states */
int reverse_vocabulary(cJSON *request);
void vocabulary_reversed(const cJSON *request, cJSON *answer, int is_scale);
int double_temperature(cJSON *request);
void temperature_doubled(const cJSON *request, cJSON *answer, int is_scale);
int poison_banned(cJSON *request);
int shift_logits(cJSON *request);
void logits_shifted(const cJSON *request, cJSON *answer, int is_scale);

#endif
