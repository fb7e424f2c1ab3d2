/* Edits of a case: what a program with one mistake reads or computes in its place.  p is a number or a kind. */
#ifndef EDITS_H
#define EDITS_H
#include "edited.h"

typedef void edit_function(edited *s, double p);
typedef struct { edit_function *make; double p; } edit;

/* edits_advantage.c: advantages */
edit_function advantage_times, advantage_size, advantage_squared, advantage_bounded, advantage_sign, advantage_side,
    advantage_one, advantage_of_one, advantage_of_other, advantage_of_response, advantage_of_all, advantage_drifts,
    advantage_everywhere, advantage_sorted, advantage_by_length, advantage_rolled, advantage_shifted,
    advantage_of_last_position;

/* edits_ratio.c: log-probabilities and ratios */
edit_function log_ratio_times_by_hand, log_ratio_times, ratio_times, old_is_policy, old_is_reference, old_is_rollout, old_is_old,
    old_is_certain, ratio_of_logs, rollout_weight_of_policy, rollout_weight_inverted, reference_is_old, share_ratio,
    share_gradient, mean_of_ratios, mean_of_all, ratio_of_response, taus_exchanged, eps_low_times, eps_high_times,
    roll_old_sequence, roll_reference_sequence, roll_policy_sequence, roll_policy_by_hand_sequence, roll_old_zero,
    roll_reference_zero, roll_policy_zero, roll_policy_by_hand_zero, roll_old_edge, roll_reference_edge, roll_policy_edge,
    roll_policy_by_hand_edge, roll_old_batch, roll_reference_batch, roll_policy_batch, roll_policy_by_hand_batch, pad_rows,
    old_at_other_end, reference_at_other_end, mean_of_position, mean_not_detached, pooled_otherwise,
    old_rounded, reference_rounded, policy_rounded, all_rounded, log_ratio_rounded, ratio_rounded, ratio_rounded_twice,
    log_ratio_size, old_divided, policy_divided, all_divided, masked_are_zero, tokens_clipped_first, sum_not_mean,
    rollout_weight_in_ratio, rollout_cap_is_floor;

/* edits_mask.c: masks */
edit_function mask_all, mask_last, mask_end_of_full_rows, mask_first, mask_inverted, mask_shifted, mask_shifted_on,
    mask_shifted_own, mask_shifted_response, mask_shifted_row, mask_shifted_batch, mask_zero_advantages, mask_first_column,
    mask_whole_responses;

/* edits_aggregation.c: divisors, weights of responses, kinds of aggregation */
edit_function share_loss, drop_response, drop_and_uncount, only_group, share_total, sum_over_all, share_mean_of_group,
    share_mean_of_response, policy_aggregated, penalty_aggregated, all_aggregated, empty_means,
    masked_ratio_is_one, mean_of_micro_batches, mean_of_parts, weighted_micro_batches, constant_is_longest, penalty_of_all,
    count_with_advantage, mean_of_positions;

/* edits_penalty.c: the KL, and factors of policy, penalty and entropy bonus */
edit_function penalty_of_old, penalty_of_mean, penalty_in_advantage, penalty_times, penalty_coefficient_again, penalty_gradient_times,
    penalty_by_ratio, penalty_weight_detached, bonus_times, bonus_without_coefficient, policy_times, policy_gradient_times;

/* how GMPO's bounds of a token's log-ratio d are mistaken */
typedef enum { BOUNDS_EXCHANGED, BOUNDS_BOTH, BOUNDS_OF_RATIO, BOUNDS_OF_RATIO_BOTH, BOUNDS_OF_ZERO, BOUNDS_RIGHT } bounds_kind;

/* the factors by which a response's sum is multiplied or divided */
typedef enum { BY_SLOTS, BY_WIDTH, BY_TOKENS, TIMES_TOKENS, BY_ONE_MORE, BY_ONE_LESS, BY_ONE_LESS_OR_1, BY_ROOT,
    BY_EPS_6, BY_EPS_8, BY_EPS_5, BY_EPS_9, BY_EPS_4, BY_MEAN_LENGTH } share_kind;
double share_of(const edited *s, int64_t i, share_kind kind);        /* of response i */

#endif
