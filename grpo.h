/* grpo.h - the GRPO family of policy-optimisation objectives for language models, with exact gradients.
 *
 * C99 (and C++11), one file, no dependency, no allocation, no state.  In one source file write
 *
 *     #define GRPO_IMPLEMENTATION
 *     #include "grpo.h"
 *
 * and include it plainly elsewhere.  gspo.h adds the objectives whose ratio is taken over more than a token (GSPO, GMPO, turns ...).
 *
 * A policy-optimisation objective is seven choices over a batch of rollouts: what a response is worth (reward), better than what
 * (advantage), how far the policy has moved (ratio), what a ratio and an advantage are worth together (surrogate), what else is paid
 * for (penalty), which tokens count and how much (weight), divided by what (aggregation).  A published algorithm is a row of choices:
 *
 *     grpo_objective obj;
 *     grpo_objective_named("dapo", &obj);              // a row; change any choice after it:
 *     obj.surrogate.eps_high = 0.3;
 *     obj.reward.overlong_max = 512; obj.reward.overlong_cache = 128;
 *
 *     grpo_batch batch = { 0 };                        // two prompts, two responses each; padded or packed: offsets say which
 *     batch.n_groups = 2;   batch.group_begin = group; // {0, 2, 4}
 *     batch.n_tokens = size; batch.offset = offset; batch.length = length;
 *     batch.logp = logp; batch.logp_old = logp_old; batch.reward = reward;
 *
 *     grpo_report report;
 *     grpo_output out = { 0 };                         // what to write; further: d loss / d entropy, the terms ...
 *     out.dlogp = dlogp;
 *     grpo_status st = grpo_advantages(&obj, &batch, advantage);
 *     if (!st) st = grpo_loss(&obj, &batch, advantage, NULL, &out, &report);
 *     if (st) return fprintf(stderr, "%s\n", grpo_status_text(st)), 1;
 *     printf("loss %.17g, clipped %.2f %%\n", report.loss, 100 * report.clip_fraction);
 *
 * dlogp is d loss / d logp, same layout as logp: hand it to your backward pass.
 *
 * Arrays hold float, or double after #define GRPO_DOUBLE; arithmetic is double either way.  One program may use both (in different
 * source files, each with its implementation): every symbol of the double build carries the suffix _f64.
 *
 * Numerical promises (tests/accuracy.c measures them; the README has the table):
 *   - loss, terms, gradients, advantages and report within 4 ulps of the scale of the exact result, extremes included;
 *   - no NaN from finite input; what exceeds the largest double is an infinity and sets report.overflow;
 *   - loss, report and gradients have the same bits for every order of tokens, sequences and groups and every split into parts;
 *   - masked tokens may hold anything, NaN included.
 * They need IEEE arithmetic: -ffast-math is refused (GRPO_ALLOW_FAST_MATH overrides, and voids them).
 *
 * Contents:  data | exact sums | axis 1 reward | 2 advantage | 3 ratio | 4 surrogate | 5 penalty | 6 weight | 7 aggregation |
 *            objective | batch | functions | selection, control, sampling | beside the axes | of papers | trackers, samplers, allocators |
 *            logits | implementation: numbers, checks, the axes again in order, evaluation, logits, presets
 *
 * Version 0.1.0.  Licence: MIT-0, at the end of the file. */
#ifndef GRPO_H
#define GRPO_H

#define GRPO_VERSION "0.1.0"

#if defined(__FAST_MATH__) && !defined(GRPO_ALLOW_FAST_MATH)
#error "grpo.h needs IEEE arithmetic: compile without -ffast-math (or define GRPO_ALLOW_FAST_MATH and lose every numerical promise)"
#endif

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD == 2 && !defined(GRPO_ALLOW_FAST_MATH)
#error "grpo.h needs double arithmetic without excess precision: compile with -msse2 -mfpmath=sse"
#endif

#ifdef GRPO_DOUBLE
typedef double grpo_real;
#define grpo_batch grpo_batch_f64
#define grpo_output grpo_output_f64
#define grpo_advantages grpo_advantages_f64
#define grpo_advantages_with grpo_advantages_with_f64
#define grpo_moments_add grpo_moments_add_f64
#define grpo_informative grpo_informative_f64
#define grpo_count grpo_count_f64
#define grpo_loss grpo_loss_f64
#define grpo_loss_add grpo_loss_add_f64
#define grpo_partial_merge grpo_partial_merge_f64
#define grpo_report_of grpo_report_of_f64
#define grpo_logits grpo_logits_f64
#define grpo_row_read grpo_row_read_f64
#define grpo_row_merge grpo_row_merge_f64
#define grpo_row_of grpo_row_of_f64
#define grpo_row_gradient grpo_row_gradient_f64
#define grpo_row_nothing grpo_row_nothing_f64
#define grpo_row_take grpo_row_take_f64
#define grpo_row_slopes_of grpo_row_slopes_of_f64
#define grpo_row_slope grpo_row_slope_f64
#define grpo_rows grpo_rows_f64
#define grpo_rows_read grpo_rows_read_f64
#define grpo_rows_gradient grpo_rows_gradient_f64
#define grpo_logits_loss grpo_logits_loss_f64
#define grpo_logits_loss_add grpo_logits_loss_add_f64
#define grpo_objective_of grpo_objective_of_f64
#define grpo_objective_named grpo_objective_named_f64
#define grpo_objective_set grpo_objective_set_f64
#define grpo_objective_choose grpo_objective_choose_f64
#define grpo_objective_get grpo_objective_get_f64
#define grpo_objective_check grpo_objective_check_f64
#define grpo_presets grpo_presets_f64
#define grpo_fields grpo_fields_f64
#define grpo_status_text grpo_status_text_f64
#define grpo_select_top grpo_select_top_f64
#define grpo_select_largest grpo_select_largest_f64
#define grpo_select_between grpo_select_between_f64
#define grpo_select_second_moment grpo_select_second_moment_f64
#define grpo_covariance grpo_covariance_f64
#define grpo_balanced_bounds grpo_balanced_bounds_f64
#define grpo_keep_between grpo_keep_between_f64
#define grpo_resampling_weights grpo_resampling_weights_f64
#define grpo_resample grpo_resample_f64
#define grpo_replay_score grpo_replay_score_f64
#define grpo_value_loss grpo_value_loss_f64
#define grpo_proximal_logp grpo_proximal_logp_f64
#define grpo_sample_weights grpo_sample_weights_f64
#define grpo_relative_cost grpo_relative_cost_f64
#define grpo_diversity_reward grpo_diversity_reward_f64
#define grpo_key_tokens grpo_key_tokens_f64
#define grpo_running_baseline grpo_running_baseline_f64
#define grpo_balanced_subset grpo_balanced_subset_f64
#define grpo_clip_below grpo_clip_below_f64
#define grpo_clip_value grpo_clip_value_f64
#define grpo_regret_temperature grpo_regret_temperature_f64
#define grpo_jsd_advantage grpo_jsd_advantage_f64
#define grpo_distribution_advantage grpo_distribution_advantage_f64
#define grpo_decay_by_drift grpo_decay_by_drift_f64
#define grpo_quantile_track grpo_quantile_track_f64
#define grpo_turn_factor grpo_turn_factor_f64
#define grpo_allocate grpo_allocate_f64
#define grpo_value_information grpo_value_information_f64
#define grpo_visit_value grpo_visit_value_f64
#define grpo_downsample_variance grpo_downsample_variance_f64
#define grpo_pad_valid grpo_pad_valid_f64
#define grpo_spread_keep grpo_spread_keep_f64
#define grpo_advantage_keep grpo_advantage_keep_f64
#define grpo_probability_select grpo_probability_select_f64
#define grpo_median_advantage grpo_median_advantage_f64
#define grpo_mix_advantages grpo_mix_advantages_f64
#define grpo_length_preference grpo_length_preference_f64
#define grpo_entropy_standard grpo_entropy_standard_f64
#define grpo_teacher_gate grpo_teacher_gate_f64
#define grpo_prefix_discrepancy grpo_prefix_discrepancy_f64
#define grpo_window_weight grpo_window_weight_f64
#define grpo_probability_gain grpo_probability_gain_f64
#define grpo_conflict_weight grpo_conflict_weight_f64
#define grpo_prompt_weight grpo_prompt_weight_f64
#define grpo_unlikeliness grpo_unlikeliness_f64
#define grpo_early_exit grpo_early_exit_f64
#define grpo_trust_reward grpo_trust_reward_f64
#define grpo_tool_efficiency grpo_tool_efficiency_f64
#define grpo_entity_credit grpo_entity_credit_f64
#define grpo_retention_reward grpo_retention_reward_f64
#define grpo_gated_sum grpo_gated_sum_f64
#define grpo_brier_reward grpo_brier_reward_f64
#define grpo_length_shape grpo_length_shape_f64
#define grpo_log_exp_map grpo_log_exp_map_f64
#define grpo_tree_reward grpo_tree_reward_f64
#define grpo_boltzmann_advantage grpo_boltzmann_advantage_f64
#define grpo_likelihood_share grpo_likelihood_share_f64
#define grpo_canon_advantage grpo_canon_advantage_f64
#define grpo_group_relative_scale grpo_group_relative_scale_f64
#define grpo_sharpening grpo_sharpening_f64
#define grpo_feature_bonus grpo_feature_bonus_f64
#define grpo_virtual_reward grpo_virtual_reward_f64
#define grpo_bundle_advantage grpo_bundle_advantage_f64
#define grpo_set_advantage grpo_set_advantage_f64
#define grpo_answer_entropy grpo_answer_entropy_f64
#define grpo_reference_advantage grpo_reference_advantage_f64
#define grpo_invariance_weight grpo_invariance_weight_f64
#define grpo_centroid_weight grpo_centroid_weight_f64
#define grpo_adapted_clip grpo_adapted_clip_f64
#define grpo_agent_weights grpo_agent_weights_f64
#define grpo_centred_weights grpo_centred_weights_f64
#define grpo_consistency_weights grpo_consistency_weights_f64
#define grpo_efficiency_reward grpo_efficiency_reward_f64
#define grpo_consistency_bonus grpo_consistency_bonus_f64
#define grpo_hint_reward grpo_hint_reward_f64
#define grpo_meta_reward grpo_meta_reward_f64
#define grpo_pairwise_wins grpo_pairwise_wins_f64
#define grpo_entropy_rank_reward grpo_entropy_rank_reward_f64
#define grpo_interval_reward grpo_interval_reward_f64
#define grpo_dense_rewards grpo_dense_rewards_f64
#define grpo_information_gain grpo_information_gain_f64
#define grpo_implicit_advantage grpo_implicit_advantage_f64
#define grpo_hardness_advantage grpo_hardness_advantage_f64
#define grpo_token_advantage grpo_token_advantage_f64
#define grpo_future_success grpo_future_success_f64
#define grpo_coplayer_credit grpo_coplayer_credit_f64
#define grpo_project_advantage grpo_project_advantage_f64
#define grpo_dynamic_scale grpo_dynamic_scale_f64
#define grpo_branch_advantage grpo_branch_advantage_f64
#define grpo_divergence grpo_divergence_f64
#define grpo_set_gap grpo_set_gap_f64
#define grpo_cluster_probability grpo_cluster_probability_f64
#define grpo_explore_weight grpo_explore_weight_f64
#define grpo_hint_level grpo_hint_level_f64
#define grpo_ratio_quantile grpo_ratio_quantile_f64
#define grpo_logistic_shift grpo_logistic_shift_f64
#define grpo_gram_rank grpo_gram_rank_f64
#define grpo_confidence_factor grpo_confidence_factor_f64
#define grpo_surprisal_weight grpo_surprisal_weight_f64
#define grpo_prefix_budget grpo_prefix_budget_f64
#define grpo_difficulty_weight grpo_difficulty_weight_f64
#define grpo_gaussian_covariance grpo_gaussian_covariance_f64
#define grpo_entropy_factor grpo_entropy_factor_f64
#define grpo_shorter_correct grpo_shorter_correct_f64
#define grpo_permutation_reward grpo_permutation_reward_f64
#define grpo_frequency_reward grpo_frequency_reward_f64
#define grpo_repetition_reward grpo_repetition_reward_f64
#define grpo_correct_length grpo_correct_length_f64
#define grpo_pair_rewards grpo_pair_rewards_f64
#define grpo_spread_reward grpo_spread_reward_f64
#define grpo_collapsed_advantage grpo_collapsed_advantage_f64
#define grpo_variant_advantage grpo_variant_advantage_f64
#define grpo_step_weight grpo_step_weight_f64
#define grpo_tree_advantage grpo_tree_advantage_f64
#define grpo_two_anchors grpo_two_anchors_f64
#define grpo_pairwise_calibration grpo_pairwise_calibration_f64
#define grpo_multi_scale_advantage grpo_multi_scale_advantage_f64
#define grpo_hardest_miss grpo_hardest_miss_f64
#define grpo_position_advantage grpo_position_advantage_f64
#define grpo_route_weight grpo_route_weight_f64
#define grpo_role_reward grpo_role_reward_f64
#define grpo_sequence_distance grpo_sequence_distance_f64
#else
typedef float grpo_real;
#endif

#if defined(__CUDACC__)
#define GRPO_FN static __host__ __device__ inline
#else
#define GRPO_FN static inline
#endif
#if defined(__GNUC__)
#define GRPO_INLINE_ static inline __attribute__((always_inline))      /* where gcc -O2 would call the steps one by one */
#else
#define GRPO_INLINE_ static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ---------------------------------------------------------------------------------------------------------------------
 * Every function that can fail returns a status, 0 when all is well.  On any other status nothing has been written.  The text names
 * the field at fault. */

#define GRPO_STATUS_LIST(X) \
    X(GRPO_OK, "ok") \
    X(GRPO_NULL_OBJECTIVE, "objective is NULL") \
    X(GRPO_NULL_BATCH, "batch is NULL") \
    X(GRPO_NULL_OUTPUT, "an output is NULL (advantage, totals, partial, moments, keep or report; or the last argument)") \
    X(GRPO_NULL_GROUP_BEGIN, "batch.group_begin is NULL") \
    X(GRPO_NULL_OFFSET, "batch.offset is NULL") \
    X(GRPO_NULL_LENGTH, "batch.length is NULL") \
    X(GRPO_NULL_LOGP, "batch.logp is NULL") \
    X(GRPO_NULL_LOGP_OLD, "batch.logp_old is NULL but the objective needs it") \
    X(GRPO_NULL_LOGP_REF, "batch.logp_ref is NULL but the objective needs it") \
    X(GRPO_NULL_LOGP_ROLLOUT, "batch.logp_rollout is NULL but the objective needs it") \
    X(GRPO_NULL_REWARD, "batch.reward is NULL but the objective needs it") \
    X(GRPO_NULL_BASELINE, "batch.baseline is NULL but advantage.baseline is given") \
    X(GRPO_NULL_VALUE, "batch.value is NULL but advantage.credit is gae or step_gae") \
    X(GRPO_NULL_STEP_REWARD, "batch.step_reward is NULL but advantage.credit is of steps") \
    X(GRPO_NULL_REWARDS, "batch.rewards is NULL but advantage.rewards is each") \
    X(GRPO_NULL_LOGP_TEACHER, "batch.logp_teacher is NULL but advantage.teacher_*, penalty.kl_against or penalty.likelihood_* needs it") \
    X(GRPO_NULL_ENTROPY, "batch.entropy is NULL but the objective needs it") \
    X(GRPO_NULL_SELECTED, "batch.selected is NULL but weight.selected, penalty.kl_on or likelihood_on, advantage.marked or " \
      "surrogate.kind shaped needs it") \
    X(GRPO_NULL_TRUNCATED, "batch.truncated is NULL but the objective needs it") \
    X(GRPO_NULL_STEP_END, "batch.step_end is NULL but the objective has steps or segments") \
    X(GRPO_NULL_TOKEN_WEIGHT, "batch.weight is NULL but weight.given needs it") \
    X(GRPO_NULL_LOG_Z, "batch.log_z is NULL but surrogate.kind is balance") \
    X(GRPO_NULL_ADVANTAGE, "advantage is NULL but the loss, or the objective's way of counting tokens, needs it") \
    X(GRPO_BAD_GROUPS, "batch.n_groups is negative") \
    X(GRPO_BAD_GROUP_BEGIN, "batch.group_begin must start at 0 or later and increase: every group needs a sequence") \
    X(GRPO_BAD_LENGTH, "batch.length has a negative entry") \
    X(GRPO_BAD_OFFSET, "batch.offset is negative, or offset + length is past batch.n_tokens") \
    X(GRPO_BAD_LOGP, "batch.logp has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_OLD, "batch.logp_old has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_REF, "batch.logp_ref has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_LOGP_ROLLOUT, "batch.logp_rollout has a NaN or +infinity at an unmasked token") \
    X(GRPO_BAD_REWARD, "batch.reward has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_N_REWARDS, "batch.n_rewards must lie in 1..16 (GRPO_MAX_REWARDS)") \
    X(GRPO_BAD_REWARDS, "batch.rewards has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_REWARD_WEIGHT, "batch.reward_weight has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_LOGP_TEACHER, "batch.logp_teacher has a NaN or +infinity at an unmasked token; for advantage.teacher_* it and " \
      "batch.logp_old must be finite") \
    X(GRPO_FEW_ITEMS, "batch: a group has fewer items than objective.advantage.pass_k") \
    X(GRPO_BAD_SHAPED_REWARD, "objective.reward makes a reward, or the KL of a token in it, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_BASELINE, "batch.baseline has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_LOG_Z, "batch.log_z has an entry that is NaN or infinite") \
    X(GRPO_BAD_VALUE, "batch.value has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_STEP_REWARD, "batch.step_reward has a NaN, an infinity or a magnitude above 1e150 at the end of a step, or a return has") \
    X(GRPO_BAD_ENTROPY, "batch.entropy has a NaN or an infinity at an unmasked token") \
    X(GRPO_BAD_TOKEN_WEIGHT, "batch.weight has an entry that is NaN, infinite or negative at an unmasked token") \
    X(GRPO_BAD_ADVANTAGE, "advantage has a NaN or an infinity at an unmasked token") \
    X(GRPO_BAD_CHOICE, "objective: an axis holds a value that is not one of its choices") \
    X(GRPO_BAD_OVERLONG, "objective.reward: overlong needs 0 < overlong_cache <= overlong_max") \
    X(GRPO_BAD_NUMBER, "objective: a number is NaN, or infinite where only clips and clamps may be") \
    X(GRPO_BAD_GAMMA, "objective.advantage: gamma and lambda must lie in [0, 1]") \
    X(GRPO_BAD_EPS, "objective.advantage.eps and second_eps must not be negative, and scale constant needs a positive eps") \
    X(GRPO_BAD_COMBINATION, "objective: choices that do not go together") \
    X(GRPO_BAD_LENGTH_MAX, "objective.reward.length_max must be positive for length cosine") \
    X(GRPO_BAD_MAP, "objective.reward.map_low must not exceed map_high") \
    X(GRPO_BAD_PASS_K, "objective.advantage.pass_k must be a whole number of at least 1 for this transform") \
    X(GRPO_BAD_QUANTILE, "objective.advantage.quantile must lie in [0, 1]") \
    X(GRPO_BAD_TEMPERATURE, "objective.advantage.temperature must be positive for baseline log_mean_exp") \
    X(GRPO_BAD_WINDOW, "objective.advantage.window must be positive and at most 1 for baseline densest") \
    X(GRPO_BAD_NOISE, "objective.advantage: baseline kalman needs process_noise >= 0 and observation_noise > 0, both at most 1e150") \
    X(GRPO_BAD_LENGTH_POWER, "objective.advantage.length_power must lie in [-16, 16]") \
    X(GRPO_BAD_LAMBDA_LENGTH, "objective.advantage.lambda_length must not be negative") \
    X(GRPO_BAD_ENTROPY_CAP, "objective.advantage.entropy_cap must be positive for entropy bonus and not negative for entropy response") \
    X(GRPO_BAD_ADVANTAGE_CLAMP, "objective.advantage.advantage_low must not exceed advantage_high") \
    X(GRPO_BAD_CLAMP, "objective.ratio: a clamp's low must not exceed its high") \
    X(GRPO_BAD_CLIP, "objective.surrogate: eps_low, eps_high and bound_cap must not be negative") \
    X(GRPO_BAD_DUAL, "objective.surrogate.dual must exceed 1 + eps_high (gppo: or be 0); of aspo, dual and dual_pos must exceed 1 or be 0") \
    X(GRPO_BAD_BETA, "objective.surrogate: beta_low and beta_high must not be negative") \
    X(GRPO_BAD_WEIGHT_RANGE, "objective.surrogate: 0 <= weight_min <= weight_max is needed, of dispo of the weight_*_neg too") \
    X(GRPO_BAD_TAU, "objective.surrogate: tau_pos and tau_neg must be positive where the kind reads them") \
    X(GRPO_BAD_MARGIN, "objective: surrogate.margin and penalty.pair_margin must not be negative") \
    X(GRPO_BAD_POOL, "objective.ratio: pool_low and pool_high must not be negative") \
    X(GRPO_BAD_KL_CLAMP, "objective.penalty: kl_clamp_log, kl_clamp_value and kl_ratio_max must not be negative") \
    X(GRPO_BAD_TRUST, "objective.weight: trust_low, trust_high, ring_low and ring_high must not be negative") \
    X(GRPO_BAD_FUTURE, "objective.weight: future needs future_half_life > 0, 0 <= future_low <= future_high, 0 <= future_safe_low <= " \
      "future_safe_high, and future_max and future_safe that are not negative") \
    X(GRPO_BAD_CORRECTION, "objective.weight: 0 <= correction_low <= correction_high and 0 <= correction_clamp is needed") \
    X(GRPO_BAD_DRIFT, "objective.weight: 0 <= drift_low <= drift_high and 0 < drift_high is needed") \
    X(GRPO_BAD_REJECT, "objective.weight: reject_low <= reject_high, 0 <= veto and, for ratio, 0 <= reject_low is needed") \
    X(GRPO_BAD_CONSTANT, "objective.aggregation.constant must be positive and at most 1e150 for this kind") \
    X(GRPO_NULL_LOGITS, "logits, or its arrays logits or target, are NULL") \
    X(GRPO_BAD_LOGITS_SHAPE, "logits: 0 <= row < rows, 0 <= vocab <= stride, one shard with the target and a row per token are needed") \
    X(GRPO_BAD_LOGITS_TEMPERATURE, "logits: the temperature must be positive and finite") \
    X(GRPO_BAD_LOGITS, "logits has a NaN or +infinity") \
    X(GRPO_BAD_TARGET, "logits.target is not in 0 .. vocab - 1 at an unmasked token") \
    X(GRPO_NULL_ROWS, "rows, or its part, logp or entropy, is NULL; or out.dlogp or out.dentropy is, and rows.dlogits asks for them") \
    X(GRPO_BAD_TOTALS, "totals are smaller than the part they are used with") \
    X(GRPO_NULL_BY, "by is NULL: it is the array that tokens are selected by") \
    X(GRPO_NULL_ORDER, "order is NULL") \
    X(GRPO_NULL_BALANCE, "balance is NULL") \
    X(GRPO_NULL_WEIGHT, "weight is NULL") \
    X(GRPO_NULL_UNIFORM, "uniform is NULL") \
    X(GRPO_BAD_BY, "by has a NaN or an infinity at an unmasked token") \
    X(GRPO_UNBOUNDED_LOGP, "batch.logp has an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_UNBOUNDED_LOGP_OLD, "batch.logp_old has an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_UNBOUNDED_LOGP_ROLLOUT, "batch.logp_rollout has an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_UNBOUNDED_ADVANTAGE, "advantage has a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_FRACTION, "fraction must lie in [0, 1]") \
    X(GRPO_BAD_COUNT, "count is negative (of grpo_resample: n or draws)") \
    X(GRPO_BAD_BOUND, "low or high is NaN or infinite") \
    X(GRPO_BAD_ORDER, "order is not a permutation of 0 .. (sum of batch.length) - 1") \
    X(GRPO_BAD_THRESHOLD, "threshold must be positive and finite") \
    X(GRPO_BAD_FORM, "form is not one of its choices") \
    X(GRPO_BAD_BALANCE, "balance: low, high, low_max, high_max or target is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_STEP, "balance.step must be positive and large enough to take low to low_max and high to high_max in a million steps") \
    X(GRPO_BAD_POWER, "power and eps must be finite and not negative") \
    X(GRPO_BAD_WEIGHT, "weight, or probability of clusters, has an entry that is NaN, negative or larger than 1e150, or its sum is 0") \
    X(GRPO_BAD_UNIFORM, "uniform has an entry outside [0, 1)") \
    X(GRPO_NULL_VALUES, "value or returns is NULL, or value_old is and clip is not 0") \
    X(GRPO_NULL_AGGREGATION, "aggregation is NULL") \
    X(GRPO_NULL_VERSION, "behaviour_version is NULL") \
    X(GRPO_NULL_COST, "cost is NULL, or its output, input or turns is") \
    X(GRPO_NULL_REWARD_LIST, "reward is NULL") \
    X(GRPO_NULL_SIMILARITY, "similarity is NULL") \
    X(GRPO_NULL_TOKEN, "token is NULL") \
    X(GRPO_NULL_KEY_MEASURE, "measure is NULL") \
    X(GRPO_NULL_EXPECTED, "expected is NULL") \
    X(GRPO_NULL_SCORE, "length or score is NULL") \
    X(GRPO_NULL_TEMPERED, "tempered is NULL") \
    X(GRPO_NULL_CORRECT, "correct is NULL") \
    X(GRPO_BAD_VALUES, "value, value_old or returns has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_VALUE_CLIP, "clip must lie in [0, 1e150]") \
    X(GRPO_BAD_AGGREGATION, "aggregation: kind or empty is no choice, kind asks for advantages, rewards or segments, power is not " \
      "finite, or constant is read and not in (0, 1e150]") \
    X(GRPO_BAD_VERSION, "version or behaviour_version at an unmasked token is not in 0 .. 2^53, or behaviour_version is above version") \
    X(GRPO_BAD_DIFFICULTY, "difficulty has an entry that is NaN or infinite") \
    X(GRPO_BAD_COST, "cost: output, input or turns has an entry outside [0, 1e150], or a coefficient is NaN or above 1e150 in magnitude") \
    X(GRPO_BAD_REWARD_LIST, "reward has an entry that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_SIMILARITY, "similarity or eps is NaN, infinite or larger than 1e150 in magnitude, or a row's sum and eps make 0") \
    X(GRPO_BAD_KEY_MEASURE, "measure: fisher and gain must lie in [0, 1e150] and not both be 0, and top must be finite") \
    X(GRPO_BAD_SCRATCH, "scratch is NULL, or capacity is less than the unmasked tokens of the largest group") \
    X(GRPO_BAD_MOMENTUM, "momentum must lie in [0, 1], and the magnitude of baseline must not exceed 1e150") \
    X(GRPO_BAD_SUBSET, "n must lie in 1 .. 20 and count in 1 .. n") \
    X(GRPO_NO_SUBSET, "no subset of count rewards has a mean between low and high") \
    X(GRPO_BAD_MU, "mu must be finite") \
    X(GRPO_BAD_EXPECTED, "expected has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_SCORE, "length has a negative entry, or score one that is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_JSD, "beta must lie in [0, 1] and coef must be finite") \
    X(GRPO_BAD_TEMPERED, "tempered has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_ENTROPY_BASE, "entropy or entropy_base is NaN or infinite") \
    X(GRPO_NULL_LIST, "an array among the arguments is NULL: scratch, draw, p, diversity, level, observed, quantile, factor, valid, " \
                      "length, advantage, x, y, token, sign, outcome, thought, calls, found, invalid, rewards, weight, gate, " \
                      "confidence, parent, depth, metric, feature, divisor, eligible, klass, member, set_begin, answer, score, bundle, " \
                      "meta, anchor, standard, agent, entropy, gap, net, wins, peak, overall, begin, end, logp, process, own, other, " \
                      "basis, hardness, student, teacher, rate, probability, success, value or gram") \
    X(GRPO_BAD_DECAY, "half_life must be positive and finite, low and high finite with low <= high") \
    X(GRPO_BAD_TRACK, "quantile, level, rate or observed is NaN or larger than 1e150 in magnitude, or observed is empty") \
    X(GRPO_BAD_FACTOR, "factor has an entry outside [0, 1e150], low is not in [0, 1] or high not in [0, 1e150]") \
    X(GRPO_BAD_PROBABILITY, "p, draw or probability is not in [0, 1]") \
    X(GRPO_BAD_ALLOCATION, "low must be at least 1, high at least low, and total at least n low") \
    X(GRPO_BAD_CHOICE_COUNT, "count must lie in 0 .. n") \
    X(GRPO_BAD_VISIT, "diversity, alpha or beta is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_ADVANTAGE_LIST, "advantage, x, y, a or b is NaN, infinite or larger than 1e150 in magnitude") \
    X(GRPO_BAD_LEAST, "least or eps is not in [0, 1e150]") \
    X(GRPO_BAD_MULTIPLE, "multiple is negative") \
    X(GRPO_BAD_PREFERENCE, "length has an entry outside [0, 1e150], r or lambda is not finite, or h^lambda is above 1e150") \
    X(GRPO_BAD_QUANTILE_LEVEL, "quantile must lie in [0, 1]") \
    X(GRPO_NULL_BOUNDS, "bounds, canon, feature, risk or how is NULL") \
    X(GRPO_BAD_STRENGTH, "strength must lie in [0, 1]") \
    X(GRPO_BAD_GATE_CLIP, "clip must lie in (0, 1)") \
    X(GRPO_BAD_SOFTMAX_TEMPERATURE, "temperature must lie in [1e-150, 1e150]") \
    X(GRPO_BAD_SHAPING, "gamma, beta, lambda, alpha, kappa, delta, k, mix, offset, inside, high, a, c, omega, decay, threshold, limit, " \
                        "low, mean_reward, reference_reward, virtual_reward, eps, upper, lower, clip_coef, gain, centre, cap, margin, " \
                        "top, score, total, process_coef, outcome_coef, slope, clip or bound is NaN, infinite or above 1e150 in size") \
    X(GRPO_BAD_ALPHA, "alpha must be positive, or of grpo_retention_reward and grpo_efficiency_reward not negative") \
    X(GRPO_BAD_DEVIATION_EPS, "eps must not be negative") \
    X(GRPO_BAD_SMOOTH, "smooth must lie in (0, 1e150]") \
    X(GRPO_BAD_LIST, "outcome, thought, rewards, weight, confidence, metric, advantage, feature, score, accuracy, entropy, reward, gap, " \
                     "peak, overall, begin, end, own, other, hardness, logp, student or teacher has an entry that is NaN, infinite or " \
                     "larger than 1e150 in magnitude") \
    X(GRPO_BAD_TRUST_BOUNDS, "bounds: low, right, every or none is NaN or infinite") \
    X(GRPO_BAD_CALLS, "calls or length has an entry outside [0, 1e150]") \
    X(GRPO_BAD_FOUND, "found has an entry outside [0, 1]") \
    X(GRPO_BAD_GATE, "columns is negative, or gate is not -1 and no column") \
    X(GRPO_BAD_SHAPE, "max must lie in (0, 1e150] and peak in (0, 1), of the triangle in (0, 1e150]") \
    X(GRPO_BAD_TREE, "parent is not -1 and no earlier node, -1 of one that is not the first branch, or depth is not in 1 .. turns") \
    X(GRPO_BAD_BINARY, "batch.reward has an entry that is not 0 or 1") \
    X(GRPO_BAD_DIVISOR, "divisor has an entry outside (0, 1e150]") \
    X(GRPO_BAD_RISK, "risk: 0 <= a < c, 0 <= omega, 0 <= eps and 0 < a + eps are needed") \
    X(GRPO_BAD_SETS, "set_begin must start at 0 or later and increase, and member must be in 0 .. n - 1") \
    X(GRPO_BAD_WINDOW_WEIGHT, "x has an entry outside [-1e150, 0], or target is not in (0, 1e150]") \
    X(GRPO_NEEDS_GSPO, "objective.ratio.unit is more than a token, or penalty.pairs compares responses: use gspo_loss from gspo.h") \
    X(GRPO_NEEDS_SCRATCH, "out.scratch is NULL, or out.scratch_size is less than gspo_scratch says") \
    X(GRPO_UNKNOWN_OBJECTIVE, "no objective has that name") \
    X(GRPO_UNKNOWN_FIELD, "no field of an objective has that path") \
    X(GRPO_UNKNOWN_CHOICE, "the field has no choice of that name or number") \
    X(GRPO_MIXED_PARTIALS, "the partials belong to different totals") \
    X(GRPO_NULL_STATE, "batch.state is NULL but advantage.step_group is state or history, or advantage.credit prefix_tree") \
    X(GRPO_NULL_PROBABILITY_SQUARES, "batch.probability_squares is NULL but advantage.token_baseline is optimal") \
    X(GRPO_BAD_PROBABILITY_SQUARES, "batch.probability_squares has a NaN, an infinity or a magnitude above 1e150 at an unmasked token") \
    X(GRPO_BAD_LOGP_CENTRED, "batch.logp_rollout or logp_ref has a NaN or an infinity at an unmasked token, but kl_centred_coef is not 0") \
    X(GRPO_BAD_UNIT_REWARD, "objective.advantage.scale beta needs rewards in [0, 1]") \
    X(GRPO_BAD_HISTORY, "objective.advantage: history must be a whole number of at least 1, and history_power lie in [-16, 16]") \
    X(GRPO_BAD_GAIN_TEMPERATURE, "objective.advantage.gain_temperature must not be 0 for gain exponential") \
    X(GRPO_BAD_SHARE, "objective.advantage.share_eps must be positive for credit entropy_share") \
    X(GRPO_TOO_FEW, "n must be at least 1, of grpo_interval_reward 2; n_a and n_b at least 1") \
    X(GRPO_LONE_RESPONSE, "batch: a group has one response, but a response is compared with the others") \
    X(GRPO_BAD_TOKEN_LIST, "process, standard or feature has a NaN or a magnitude above 1e150 (feature: 1e70) at an unmasked token") \
    X(GRPO_BAD_UNIT, "share, gamma, weight_gamma, alpha, beta, rate, success or value must lie in [0, 1], success of clusters may be -1") \
    X(GRPO_BAD_POSITIVE, "cap, limit, share, least or most must be positive") \
    X(GRPO_BAD_NEGATIVE, "gamma, clip or reward must not be negative") \
    X(GRPO_BAD_WIDTH, "width must be at least 1, and refine not negative") \
    X(GRPO_BAD_PREDICTION, "passes is not in -1 .. 8, predicted_length below -1, or length has a negative entry") \
    X(GRPO_BAD_WINS, "wins has an entry beside the diagonal that is not 0, 1/2 or 1, or two that are not 1 together") \
    X(GRPO_BAD_INTERVAL, "begin is not less than end") \
    X(GRPO_BAD_ANSWER_LOGP, "logp has an entry outside [-1e150, 0]") \
    X(GRPO_BAD_BASIS, "basis has an entry that is NaN, infinite or larger than 1e75 in magnitude") \
    X(GRPO_NONE_KEPT, "no gap is within bound of the mean") \
    X(GRPO_BAD_DISTRIBUTION, "student or teacher has no finite logit, or one that is NaN, +infinity or larger than 1e150 in magnitude") \
    X(GRPO_BAD_SET_TARGET, "target is not in 0 .. n - 1") \
    X(GRPO_BAD_LEVELS, "level or max is negative, or low above high") \
    X(GRPO_BAD_GRAM, "gram is not symmetric, or has an entry that is NaN, larger than 1e150 in magnitude or, on the diagonal, negative") \
    X(GRPO_BAD_GAIN_POWER, "objective.advantage: gain failure_power needs gain_power >= 0 and gain_low < gain_high") \
    X(GRPO_BAD_QUADRATIC, "objective.surrogate.eps_high must be positive for kind quadratic") \
    X(GRPO_BAD_SCORE_EPS, "objective.surrogate.score_eps must not be negative") \
    X(GRPO_NULL_ARGUMENT, "an argument is NULL: a, b, accuracy, advantage, anchors, answer, choice, constraints, difficulty, distance, " \
                          "ended, entropy, gate, logp_old, mean, outcome, parent, role, routed, scratch, token, utility, value or weight") \
    X(GRPO_BAD_ENTRY, "accuracy, advantage, constraints, difficulty, distance, entropy, logp_old, mean, outcome, utility, value or " \
                      "weight has an entry that is NaN, infinite, larger than 1e150 in magnitude or out of its range") \
    X(GRPO_BAD_PARAMETER, "alpha, beta, coef, down, gain_neg, gain_pos, gamma, k, penalty, target, up or wrong is NaN, infinite or larger than " \
                          "1e150 in magnitude") \
    X(GRPO_NEGATIVE_PARAMETER, "alpha, beta, budget, delta, eps or factor is not in [0, 1e150], or delta of grpo_prefix_budget or eps of " \
                               "grpo_multi_scale_advantage is 0") \
    X(GRPO_BAD_SHARE_ARGUMENT, "share, least or quantile is not in [0, 1]") \
    X(GRPO_SMALL_WIDTH, "width is less than an entry of batch.length") \
    X(GRPO_BAD_SIZE, "size must be at least 1 (grpo_entropy_factor: 2), permutations not negative (judge: 2), n of grpo_position_advantage " \
                     "at least 2, of grpo_multi_scale_advantage in 2 .. 20") \
    X(GRPO_NULL_CLIP_LOW, "batch.clip_low is NULL but surrogate.bounds is given") \
    X(GRPO_NULL_CLIP_HIGH, "batch.clip_high is NULL but surrogate.bounds is given") \
    X(GRPO_BAD_CLIP_LOW, "batch.clip_low has an entry outside [0, 1] at an unmasked token") \
    X(GRPO_BAD_CLIP_HIGH, "batch.clip_high has an entry that is NaN, infinite, negative or at least surrogate.dual - 1 at an unmasked " \
      "token") \
    X(GRPO_BAD_POSITION, "objective.surrogate: log_low, log_high and log_dual must not be negative, position_power lie in [-16, 16], " \
      "and with bounds position and kind dual_clip log_dual be at least log_high") \
    X(GRPO_BAD_SURROGATE_SHAPE, "objective.surrogate.shape must be positive for kind shaped") \
    X(GRPO_BAD_TAIL, "objective.advantage.truncated_tail must be a whole number that is not negative") \
    X(GRPO_BAD_TEACHER, "objective.advantage: teacher_share and teacher_gamma must lie in [0, 1] and teacher_clip in [0, 1)") \
    X(GRPO_BAD_RATIO_POWER, "objective.ratio.power must lie in (0, 16], or be 0 for 1, with unit sequence_power_mean") \
    X(GRPO_BAD_PAIR_GAIN, "objective.penalty.pair_gain must not be negative")

#define GRPO_STATUS_ENUM_(name, text) name,
typedef enum { GRPO_STATUS_LIST(GRPO_STATUS_ENUM_) GRPO_N_STATUS } grpo_status;
#undef GRPO_STATUS_ENUM_

/* ---- numbers --------------------------------------------------------------------------------------------------------------------
 * Rounding made before an exp is multiplied by its argument, so differences and means keep theirs in a second word. */

typedef struct { double hi, lo; } grpo_dd;                             /* the number hi + lo, |lo| <= ulp(hi)/2 */

GRPO_FN int grpo_is_finite(double x) { return x - x == 0; }

/* a + b exactly (Knuth); -inf and +inf cancel to 0, see "-inf log-probabilities" at grpo_batch */
GRPO_FN grpo_dd grpo_two_sum(double a, double b)
{
    grpo_dd r;
    double t;
    r.hi = a + b;
    if (!grpo_is_finite(r.hi)) { r.lo = 0; if (r.hi != r.hi) r.hi = 0; return r; }
    t = r.hi - a;
    r.lo = (a - (r.hi - t)) + (b - t);
    return r;
}

GRPO_FN grpo_dd grpo_two_diff(double a, double b) { return grpo_two_sum(a, -b); }

/* a b exactly, barring underflow */
GRPO_FN grpo_dd grpo_two_prod(double a, double b)
{
    grpo_dd r;
    r.hi = a * b;
    r.lo = grpo_is_finite(r.hi) ? fma(a, b, -r.hi) : 0;
    return r;
}

GRPO_FN grpo_dd grpo_dd_add(grpo_dd a, grpo_dd b)                      /* error below 2^-103 of |a| + |b| */
{
    grpo_dd s = grpo_two_sum(a.hi, b.hi), t;
    if (!grpo_is_finite(s.hi)) return s;
    t = grpo_two_sum(a.lo, b.lo);
    s = grpo_two_sum(s.hi, s.lo + t.hi);
    return grpo_two_sum(s.hi, s.lo + t.lo);
}

GRPO_FN grpo_dd grpo_dd_mul(grpo_dd a, double b)
{
    grpo_dd p = grpo_two_prod(a.hi, b);
    return grpo_is_finite(p.hi) ? grpo_two_sum(p.hi, p.lo + a.lo * b) : p;
}

GRPO_FN grpo_dd grpo_dd_div(grpo_dd a, double b)                       /* b > 0 */
{
    grpo_dd q;
    q.hi = a.hi / b;
    q.lo = grpo_is_finite(q.hi) ? (fma(-q.hi, b, a.hi) + a.lo) / b : 0;
    return q;
}

GRPO_FN int grpo_dd_less(grpo_dd a, grpo_dd b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
GRPO_FN int grpo_dd_exceeds(grpo_dd x, double bound) { return x.hi > bound || (x.hi == bound && x.lo > 0); }
GRPO_FN grpo_dd grpo_dd_negative(grpo_dd x) { x.hi = -x.hi; x.lo = -x.lo; return x; }
GRPO_FN grpo_dd grpo_dd_product(grpo_dd a, grpo_dd b)                  /* error below 2^-102 of it */
{
    grpo_dd p = grpo_two_prod(a.hi, b.hi);
    return grpo_is_finite(p.hi) ? grpo_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi)) : p;
}

GRPO_FN grpo_dd grpo_dd_quotient(grpo_dd a, grpo_dd b)                 /* b > 0; error below 2^-101 of it */
{
    grpo_dd q;
    q.hi = a.hi / b.hi; q.lo = 0;
    return grpo_is_finite(q.hi) ? grpo_two_sum(q.hi, grpo_dd_add(a, grpo_dd_mul(b, -q.hi)).hi / b.hi) : q;
}

/* x y where a factor that is exactly 0 wins over an infinite one */
GRPO_FN double grpo_times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

/* x + y; two overflows of opposite sign, which have no sum in double, give +infinity and never NaN */
GRPO_FN double grpo_plus(double x, double y) { double s = x + y; return s == s ? s : HUGE_VAL; }

/* e^y - y - 1 = (y^2/2)(1 + y/3 + y^2/12 + ... + 2 y^15/17!) for |y| <= 1/2, 2 ulps; one polynomial in a shape that neither waits for
 * itself nor branches, so that loops over it vectorise */
#define GRPO_SERIES_ 0.5
GRPO_FN double grpo_exp_series_(double y)
{
    const double z = y * y, z2 = z * z;
    const double a = (1 + y * (2.0 / 6)) + z * (2.0 / 24 + y * (2.0 / 120));
    const double b = (2.0 / 720 + y * (2.0 / 5040)) + z * (2.0 / 40320 + y * (2.0 / 362880));
    const double c = (2.0 / 3628800 + y * (2.0 / 39916800)) + z * (2.0 / 479001600 + y * (2.0 / 6227020800));
    const double d = (2.0 / 87178291200 + y * (2.0 / 1307674368000)) + z * (2.0 / 20922789888000 + y * (2.0 / 355687428096000));
    return 0.5 * z * ((a + z2 * b) + z2 * z2 * (c + z2 * d));
}

/* e^(hi + lo), 1 ulp */
GRPO_FN double grpo_exp(grpo_dd x)
{
    double e;
    if (x.hi >= -GRPO_SERIES_ && x.hi <= GRPO_SERIES_) {               /* most tokens: the policy has not moved far */
        e = x.hi + grpo_exp_series_(x.hi);
        return 1 + (e + x.lo * (1 + e));
    }
    e = exp(x.hi);
    return grpo_is_finite(e) ? e + e * x.lo : e;
}

/* e^r - 1 to 2^-90 of it, for |r| < 0.35 */
GRPO_FN grpo_dd grpo_small_exp_minus_one_(grpo_dd r)
{
    const grpo_dd one = { 1, 0 };
    grpo_dd s = { 0, 0 };                                              /* s = e^r - 1 by Horner, r^10/10! < 2^-95 */
    int k;
    r.hi *= 1.0 / 64; r.lo *= 1.0 / 64;                                /* |r| < 0.0055 */
    for (k = 9; k >= 1; k--) {                                         /* s := (r/k) (1 + s) */
        grpo_dd t = grpo_dd_add(one, s), u = grpo_dd_mul(t, r.hi);
        u = grpo_dd_add(u, grpo_two_prod(t.hi, r.lo));
        s = grpo_dd_div(u, k);
    }
    for (k = 0; k < 6; k++) {                                          /* e^2r - 1 = 2s + s^2 */
        grpo_dd q = grpo_dd_add(grpo_two_prod(s.hi, s.hi), grpo_two_prod(2 * s.hi, s.lo));
        s.hi *= 2; s.lo *= 2;
        s = grpo_dd_add(s, q);
    }
    return s;
}

/* e^x to twice the precision, 2^-90; for exponents that are exponentials themselves */
GRPO_FN grpo_dd grpo_exp_twice(grpo_dd x)
{
    static const double ln2[3] = { 6.93147180559945286e-01, 2.31904681384629956e-17, 5.70770843841621207e-34 };
    double n = floor(x.hi * 1.44269504088896341 + 0.5);
    grpo_dd r = x, s, one = { 1, 0 };
    int k;
    if (!(x.hi > -700 && x.hi < 700)) { r.hi = grpo_exp(x); r.lo = 0; return r; }
    for (k = 0; k < 3; k++) r = grpo_dd_add(r, grpo_two_prod(-n, ln2[k]));
    s = grpo_dd_add(one, grpo_small_exp_minus_one_(r));
    s.hi = ldexp(s.hi, (int)n); s.lo = ldexp(s.lo, (int)n);
    return s;
}

/* e^x - 1 to 2^-88 of it */
GRPO_FN grpo_dd grpo_exp_minus_one_twice(grpo_dd x)
{
    const grpo_dd minus_one = { -1, 0 };
    return fabs(x.hi) < 0.34 ? grpo_small_exp_minus_one_(x) : grpo_dd_add(grpo_exp_twice(x), minus_one);
}

/* log x to twice the precision, 2^-90, for 1e-300 < x < 1e300: a Newton step on e^y = x */
GRPO_FN grpo_dd grpo_log_twice(double x)
{
    grpo_dd y = { 0, 0 }, e, minus_one = { -1, 0 };
    y.hi = -log(x);
    e = grpo_dd_add(grpo_dd_mul(grpo_exp_twice(y), x), minus_one);      /* x e^-y - 1; log(1 + e) = e - e^2/2 */
    e.lo -= 0.5 * e.hi * e.hi;
    y.hi = -y.hi;
    return grpo_dd_add(y, e);
}

/* log(1 + x) to 2^-85 of it, or what an error of 2^-102 of x does to it, for -1 < x < 1e300: the same step on e^y - 1 = x */
GRPO_FN grpo_dd grpo_log_one_plus_twice(grpo_dd x)
{
    const grpo_dd one = { 1, 0 };
    grpo_dd y = { 0, 0 }, e;
    y.hi = -log1p(x.hi);
    e = grpo_dd_add(x, grpo_dd_product(grpo_dd_add(one, x), grpo_exp_minus_one_twice(y)));
    e.lo -= 0.5 * e.hi * e.hi;
    y.hi = -y.hi;
    return grpo_dd_add(y, e);
}

/* log x for every x > 0, however small or large */
GRPO_FN grpo_dd grpo_log_of(double x)
{
    const grpo_dd ln2 = { 6.93147180559945286e-01, 2.31904681384629956e-17 };
    int e;
    const grpo_dd y = grpo_log_twice(frexp(x, &e));
    return grpo_dd_add(y, grpo_dd_mul(ln2, e));
}

/* sin^2(pi y/2) to twice the precision, 2^-95, for 0 <= y <= 1 */
GRPO_FN grpo_dd grpo_sine_squared(grpo_dd y)
{
    grpo_dd half_pi = { 1.57079632679489656, 6.12323399573676604e-17 }, one = { 1, 0 }, x, x2, s = { 1, 0 };
    int k, complement = y.hi > 0.5;
    if (complement) { y.hi = -y.hi; y.lo = -y.lo; y = grpo_dd_add(one, y); }
    x = grpo_dd_product(y, half_pi);                                    /* at most pi/4: x^29/29! < 2^-110 */
    x2 = grpo_dd_product(x, x);
    for (k = 14; k >= 1; k--) s = grpo_dd_add(one, grpo_dd_div(grpo_dd_product(grpo_dd_mul(x2, -1), s), 2.0 * k * (2 * k + 1)));
    s = grpo_dd_product(x2, grpo_dd_product(s, s));
    if (complement) { s.hi = -s.hi; s.lo = -s.lo; s = grpo_dd_add(one, s); }
    return s;
}

/* e^x - x - 1 >= 0, 3 ulps, no cancellation near 0 */
GRPO_FN double grpo_exp_minus_linear(grpo_dd x)
{
    double v, y = x.hi;
    if (y >= -GRPO_SERIES_ && y <= GRPO_SERIES_) v = grpo_exp_series_(y);
    else if (y > -1 && y < 2) {                                        /* the same, further */
        static const double inv[25] = { 0, 1, 1.0/2, 1.0/3, 1.0/4, 1.0/5, 1.0/6, 1.0/7, 1.0/8, 1.0/9, 1.0/10, 1.0/11, 1.0/12,
            1.0/13, 1.0/14, 1.0/15, 1.0/16, 1.0/17, 1.0/18, 1.0/19, 1.0/20, 1.0/21, 1.0/22, 1.0/23, 1.0/24 };
        int k;
        for (v = 1, k = 24; k >= 3; k--) v = 1 + y * inv[k] * v;
        v *= 0.5 * y * y;
    } else {
        v = exp(y);
        v = grpo_is_finite(v) ? (v - y) - 1 : v;
        if (y == -HUGE_VAL) v = HUGE_VAL;
    }
    return x.lo == 0 || !grpo_is_finite(v) ? v : v + x.lo * expm1(y);
}

/* e^x - 1, 1 ulp */
GRPO_FN double grpo_exp_minus_one(grpo_dd x)
{
    double e = expm1(x.hi);
    return grpo_is_finite(e) ? e + (e + 1) * x.lo : e;
}

/* e^a - e^b of log-probabilities, 4 ulps, no cancellation near a = b; what underflows keeps its sign */
GRPO_FN double grpo_probability_change(double a, double b)
{
    grpo_dd d = grpo_two_diff(a, b);
    double x;
    if (a > b) x = -grpo_times(exp(a), grpo_exp_minus_one(grpo_dd_negative(d)));       /* by the larger: no overflow meets an underflow */
    else x = grpo_times(exp(b), grpo_exp_minus_one(d));
    return x != 0 || a == b ? x : a > b ? DBL_MIN : -DBL_MIN;
}

/* KL between coins, 12 ulps: p0 (x - l) + (1 - p0) log((1 - p0)/(1 - p)) for p = e^l, p0 = e^x, x <= 0; as p0 f(l - x) + (1 - p0) f(s) with
 * s = log((1 - p)/(1 - p0)) and f(y) = e^y - y - 1 >= 0, where nothing cancels */
GRPO_FN double grpo_binary_kl(double l, double x)
{
    grpo_dd d = grpo_two_diff(l, x), s = { 0, 0 };
    double p0 = exp(x), rest = -expm1(x), change = grpo_probability_change(l, x), heads, kl;
    if (l == x) return 0;
    if (l == -HUGE_VAL) return HUGE_VAL;
    if (!(rest > 0)) return -d.hi;
    if (l >= 0) return HUGE_VAL;
    s.hi = fabs(change) < 0.5 * rest ? log1p(-change / rest) : log(expm1(l) / expm1(x));
    heads = d.hi > 1 ? change - grpo_times(p0, d.hi) : p0 * grpo_exp_minus_linear(d);      /* p0 e^d may be all there is of it */
    kl = heads + rest * grpo_exp_minus_linear(s);
    return kl > 0 ? kl : DBL_MIN;
}

/* ---- exact sums -----------------------------------------------------------------------------------------------------------------
 * A fixed-point number as wide as the range of double: what is added stays exact, so the sum does not depend on order or grouping
 * (as in Neal, "Fast exact summation using small and large superaccumulators").  Zero-initialise. */

#define GRPO_SUM_LIMBS 68
typedef struct {
    int64_t limb[GRPO_SUM_LIMBS];   /* limb k counts units of 2^(32 k - 1074) */
    int64_t pos_inf, neg_inf;       /* infinities seen; equal numbers cancel */
    int64_t pending;                /* additions since the carries were last propagated */
} grpo_sum;

/* ======== axis 1: reward ==========================================================================================================
 * What is each response worth?  R_i = map(length(truncated(reward_i)) + overlong(T_i)) [- kl_coef sum_t KL_t], T_i the length. */

typedef enum {
    GRPO_CUT_KEEP,
    GRPO_CUT_SCALE           /* times truncated_factor where the generation was cut off (AReaL's mask_no_eos_with_zero: 0) */
} grpo_cut_kind;

typedef enum {
    GRPO_LENGTH_NONE,
    GRPO_LENGTH_KIMI,        /* + length_coef lambda (Kimi k1.5, 2501.12599, 2.3.3) */
    GRPO_LENGTH_COSINE,      /* replaced by half a cosine of T (2502.03373, as TRL) */
    GRPO_LENGTH_INVERSE      /* divided by T (TIC-GRPO, 2508.02833) */
} grpo_length_kind;

typedef enum {
    GRPO_MAP_NONE,
    GRPO_MAP_AFFINE          /* clamp((r + bias) factor, low, high) (AReaL) */
} grpo_map_kind;

typedef enum {
    GRPO_OVERLONG_NONE,
    GRPO_OVERLONG_SOFT,      /* DAPO eq. 13 (2503.14476): 0, then falling linearly to -factor over the last `cache` tokens, -factor beyond */
    GRPO_OVERLONG_LINEAR     /* the same without the floor, as verl and AReaL compute it */
} grpo_overlong_kind;

/* estimators of KL(p || q) from one token of p, D = log p - log q (Schulman, "Approximating KL divergence") */
typedef enum {
    GRPO_KL_NONE,
    GRPO_KL_K1,              /* D */
    GRPO_KL_K2,              /* D^2/2 */
    GRPO_KL_K3,              /* e^-D + D - 1 */
    GRPO_KL_ABS              /* |D| */
} grpo_kl_kind;

typedef struct {
    grpo_cut_kind truncated;
    double truncated_factor;
    grpo_length_kind length;
    double length_coef;                    /* kimi */
    double length_max;                     /* cosine, tokens, > 0 */
    double correct_low, correct_high;      /* cosine, reward > 0: at length_max and beyond, and at 0 */
    double wrong_low, wrong_high;          /* cosine, other rewards: at 0, and at length_max and beyond */
    grpo_overlong_kind overlong;
    double overlong_max, overlong_cache;   /* L_max and L_cache, tokens */
    double overlong_factor;
    grpo_map_kind map;
    double map_bias, map_factor;
    double map_low, map_high;              /* both 0: no clamp */
    grpo_kl_kind kl;                       /* of (logp_old, logp_ref), detached; subtracted from the reward */
    double kl_coef;
} grpo_reward;

/* penalty to add to the reward of a response of `length` tokens, <= 0 */
GRPO_FN grpo_dd grpo_overlong(grpo_overlong_kind kind, double length, double max, double cache, double factor)
{
    grpo_dd zero = { 0, 0 }, full = { 0, 0 }, end = { 0, 0 }, over;
    full.hi = -factor; end.hi = length;
    over = grpo_dd_add(end, grpo_two_diff(cache, max));
    if (kind == GRPO_OVERLONG_NONE || over.hi <= 0) return zero;
    if (kind == GRPO_OVERLONG_SOFT && length > max) return full;
    return grpo_dd_mul(grpo_dd_div(over, cache), -factor);
}

/* lambda of Kimi k1.5, 2.3.3: 1/2 for the shortest response of the group falling to -1/2 for the longest; wrong ones are not paid for it */
GRPO_FN grpo_dd grpo_kimi_length(double length, double shortest, double longest, int correct)
{
    grpo_dd lambda = { 0, 0 };
    if (longest <= shortest) return lambda;
    lambda.hi = (longest - length) - (length - shortest);
    if (!correct && lambda.hi > 0) lambda.hi = 0;
    return grpo_dd_div(lambda, 2 * (longest - shortest));
}

/* at_max + (at_0 - at_max)/2 (1 + cos(pi min(length/max, 1))) (2502.03373), as at_max + (at_0 - at_max) sin^2(pi/2 (1 - length/max)) */
GRPO_FN grpo_dd grpo_cosine_length(double length, double max, double at_0, double at_max)
{
    grpo_dd left = { 0, 0 }, end = { 0, 0 };
    end.hi = at_max;
    if (length < max) left = grpo_dd_div(grpo_two_diff(max, length), max);
    return grpo_dd_add(end, grpo_dd_product(grpo_two_diff(at_0, at_max), grpo_sine_squared(left)));
}

typedef struct { double value, derivative; } grpo_kl_term;

/* k3 from m = -D: e^m - m - 1 and -(e^m - 1) */
GRPO_FN grpo_kl_term grpo_k3_(grpo_dd m)
{
    grpo_kl_term k;
    if (m.hi >= -GRPO_SERIES_ && m.hi <= GRPO_SERIES_) {
        const double e = grpo_exp_series_(m.hi), change = m.hi + e;    /* e^m - 1 */
        k.value = e + m.lo * change;
        k.derivative = -(change + m.lo * (1 + change));
    } else { k.value = grpo_exp_minus_linear(m); k.derivative = -grpo_exp_minus_one(m); }
    return k;
}

/* KL estimator and its derivative with respect to log p, from D = log p - log q */
GRPO_FN grpo_kl_term grpo_kl(grpo_kl_kind kind, grpo_dd D)
{
    grpo_kl_term k = { 0, 0 };
    grpo_dd m;
    m.hi = -D.hi; m.lo = -D.lo;
    switch (kind) {
    case GRPO_KL_NONE: break;
    case GRPO_KL_K1:   k.value = D.hi;                      k.derivative = 1; break;
    case GRPO_KL_K2:   k.value = 0.5 * D.hi * D.hi;         k.derivative = D.hi; break;
    case GRPO_KL_K3:   return grpo_k3_(m);
    case GRPO_KL_ABS:  k.value = fabs(D.hi);                k.derivative = D.hi > 0 ? 1 : D.hi < 0 ? -1 : 0; break;
    }
    return k;
}

/* ======== axis 2: advantage =======================================================================================================
 * Better than what?  Items (responses, or the steps of process supervision) get a baseline and a scale within their group (prompt),
 * a = gain (R - b)/sigma, and are then credited to tokens.  Statistics are exact; items that are all equal have a = 0 exactly.
 * The stages in their order, as are the fields of the struct: items, transform, baseline, scale, gain, second, credit, tokens. */

typedef enum {
    GRPO_REWARDS_ONE,        /* items are R of axis 1 */
    GRPO_REWARDS_EACH        /* every column of batch.rewards by itself, then summed with batch.reward_weight (GDPO, 2601.05242) */
} grpo_rewards_kind;

/* what the item of a step (credit step, step_own, episode_step) is worth before anything else */
typedef enum {
    GRPO_STEP_VALUE_REWARD,      /* r_k = batch.step_reward at its last token */
    GRPO_STEP_VALUE_RETURN,      /* sum over this and later steps of the response of gamma^(k' - k) r_k' (GiGPO, 2505.10978, eq. 5) */
    GRPO_STEP_VALUE_RESPONSE     /* R of its response (prefix trees: a node is worth what its leaves are) */
} grpo_step_value_kind;

/* the pool a step is compared with, among the steps of its prompt: it stands for the group in baseline, scale and singleton.  A pool is
 * found by a pass over the prompt's tokens for every step, and one more for every level of a history */
typedef enum {
    GRPO_STEP_GROUP_PROMPT,      /* all of them */
    GRPO_STEP_GROUP_STATE,       /* those that started from the same batch.state (GiGPO, 2505.10978, eq. 6) */
    GRPO_STEP_GROUP_INDEX,       /* those with the same number within their response */
    GRPO_STEP_GROUP_HISTORY      /* pools of level k = 1 .. min(history, number of the step): the last k states are the same, pools of one
                                    do not count; a = sum w_k a_k over the levels with a_k != 0, w_k proportional to (k + 1)^history_power
                                    (HGPO, 2602.22817, as verl-agent) */
} grpo_step_group_kind;

/* responses with batch.outside: no part of their group's mean, deviation or number */
typedef enum {
    GRPO_OUTSIDE_NONE,           /* nobody, the array is not read */
    GRPO_OUTSIDE_ZERO,           /* a = 0 (RED-Drop, 2509.24203) */
    GRPO_OUTSIDE_ANCHOR,         /* a = outside_coef times the largest a of the others (TempSamp-R1, 2509.18056, (b)) */
    GRPO_OUTSIDE_OWN             /* (R - b)/sigma with the mean and deviation of the others */
} grpo_outside_kind;

/* n items, c of them with R > 0, k = pass_k */
typedef enum {
    GRPO_TRANSFORM_NONE,
    GRPO_TRANSFORM_BEST_MINUS_SECOND,    /* of the best, 0 for the others (2503.19595); sigma is that of the R before */
    GRPO_TRANSFORM_PASS_AT_K,            /* analytic pass@k advantage (2508.10751), V = Rbar (1 - Rbar) */
    GRPO_TRANSFORM_PKPO,                 /* R C(n-c, k-1)/C(n-1, k-1) (2505.15201, binary form) */
    /* of any rewards, over the C(n, k) subsets I of k items, in some n^3 steps for a group: */
    GRPO_TRANSFORM_PKPO_MAX,             /* sum over the I with the item of max(I), over C(n, k) (2505.15201, s_i of eq. 19) */
    GRPO_TRANSFORM_PKPO_GAIN             /* the same of max(I) - max(I without the item), max of nothing being 0 (s_i^(loo-1) of eq. 33) */
} grpo_transform_kind;

typedef enum {
    GRPO_BASELINE_NONE,
    GRPO_BASELINE_GROUP_MEAN,        /* GRPO */
    GRPO_BASELINE_LEAVE_ONE_OUT,     /* RLOO: mean of the others; R - b = G/(G-1) (R - mean) */
    GRPO_BASELINE_LENGTH_WEIGHTED,   /* OPO: sum T R / sum T */
    GRPO_BASELINE_GIVEN,             /* batch.baseline (ReMax: the greedy response's reward) */
    GRPO_BASELINE_BATCH_MEAN,
    GRPO_BASELINE_QUANTILE,          /* inf{x : F(x) >= quantile} (QAE, 2509.22611) */
    GRPO_BASELINE_QUANTILE_LINEAR,   /* interpolated between order statistics (QAE's code) */
    GRPO_BASELINE_LOG_MEAN_EXP,      /* tau log mean e^(R/tau), tau = temperature (OPMD) */
    GRPO_BASELINE_DENSEST,           /* median of the narrowest window of the sorted items (GAPO, 2510.21830) */
    GRPO_BASELINE_KALMAN             /* filtered over the items in their order (KRPO, 2505.07527) */
} grpo_baseline_kind;

typedef enum {
    GRPO_SCALE_NONE,
    GRPO_SCALE_GROUP_STD,            /* GRPO */
    GRPO_SCALE_BATCH_STD,            /* std of the raw items of the batch (Lite PPO) */
    GRPO_SCALE_BATCH_CENTRED_STD,    /* std of R - b over the batch (ScaleRL) */
    GRPO_SCALE_TOKEN_WHITEN,         /* after credit: (A - mean)/sigma over the batch's tokens (REINFORCE++) */
    GRPO_SCALE_GROUP_MEAN,           /* m + eps, m the mean of the group (MaxRL, 2602.02710); a = 0 where m <= 0 */
    GRPO_SCALE_LEAVE_ONE_OUT_STD,    /* of the other items; not divided where they are all equal (NeMo-RL) */
    GRPO_SCALE_RESIDUAL_RMS,         /* of the R - b of the group (AReaL, GAPO) */
    GRPO_SCALE_KALMAN_STD,           /* of the filter just after the item (KRPO) */
    GRPO_SCALE_CONSTANT,             /* eps */
    GRPO_SCALE_BETA,                 /* max(f(p), 1e-6), f a Beta density, p the mean of the group (BNPO, 2506.02864); rewards in [0, 1] */
    GRPO_SCALE_MEAN_DEVIATION        /* (sum |R - mean R| + eps)/G over the group (DGPO, 2601.20614); a = 0 where all are equal */
} grpo_scale_kind;
typedef enum { GRPO_STD_SAMPLE, GRPO_STD_POPULATION } grpo_std_kind;                            /* divisor n - 1 or n */
typedef enum {
    GRPO_EPS_ADD,            /* sqrt(V) + eps */
    GRPO_EPS_INSIDE,         /* sqrt(V + eps) */
    GRPO_EPS_FLOOR,          /* sqrt(max(V, eps)) */
    GRPO_EPS_FLOOR_ADD       /* sqrt(max(V, eps)) + eps */
} grpo_eps_place;
typedef enum {
    GRPO_SINGLETON_ZERO,     /* an item alone in its group has a = 0 when the group is its yardstick */
    GRPO_SINGLETON_RAW       /* baseline 0, deviation 1 (verl) */
} grpo_singleton_kind;
typedef enum {
    GRPO_GAIN_NONE,
    GRPO_GAIN_VALID_GROUPS,      /* N/(N - M), M responses in groups of equal rewards (GPG) */
    GRPO_GAIN_NONZERO_REWARDS,   /* N/#{R != 0} (GPG as verl computes it) */
    GRPO_GAIN_DIFFICULTY,        /* w(rho) where a > 0, w(1 - rho) elsewhere, rho the share of R > 0 (GRPO-LEAD, 2504.09696) */
    GRPO_GAIN_LENGTH_POWER,      /* T^-p over its mean in the batch (Delta L, 2509.07558) */
    GRPO_GAIN_EXPONENTIAL,       /* e^(a/gain_temperature) (Trinity-RFT's regret weighting; REC, 2509.24203, advantage weight) */
    GRPO_GAIN_FAILURE_POWER      /* (1 - mu)^gain_power, mu the place of the group's mean in [gain_low, gain_high] (F-GRPO, 2602.06717) */
} grpo_gain_kind;
typedef enum {
    GRPO_SECOND_NONE,
    GRPO_SECOND_BATCH,       /* (a - mean)/(std + second_eps) over the items of the batch */
    GRPO_SECOND_TOKENS       /* after credit: (A - mean)/sqrt(V + second_eps) over the batch's tokens (GDPO as verl) */
} grpo_second_kind;

typedef enum {
    GRPO_CREDIT_OUTCOME,     /* A_t = a at every token */
    GRPO_CREDIT_RETURN,      /* a at the last token, -kl at every token, discounted reward-to-go (REINFORCE++) */
    GRPO_CREDIT_STEP,        /* items are steps: sum of the a of this and later steps, discounted (GRPO process supervision, 4.1.3) */
    GRPO_CREDIT_GAE,         /* generalised advantage estimation over the unmasked tokens (1506.02438) */
    GRPO_CREDIT_STEP_OWN,    /* items are steps: A_t = a of the step t is in, 0 after the last one */
    GRPO_CREDIT_EPISODE_STEP,    /* e + step_coef times that, e the outcome advantage of the response (GiGPO, 2505.10978, eq. 8) */
    GRPO_CREDIT_ENTROPY_SHARE,   /* rewards of tokens by their share of the entropy at their position, normalised over the tokens of the
                                    prompt's responses with R > 0 and over those of the others (GTPO, 2508.04349) */
    GRPO_CREDIT_PREFIX_TREE,     /* a + (V_t - V_(t-1))/sigma, V_t the mean R of the prompt's responses whose first t tokens are i's own, as
                                    batch.state names them; after a masked token nobody's are (TEMPO, 2509.18314) */
    GRPO_CREDIT_STEP_GAE         /* items are steps: gae whose reward is a where a step ends, and nothing at the last token (MT-GUIDE) */
} grpo_credit_kind;
typedef enum {
    GRPO_STEP_DISCOUNT_TOKENS,   /* credit step: gamma for every token between */
    GRPO_STEP_DISCOUNT_STEPS     /* for every step (IGPO, 2510.14967) */
} grpo_step_discount_kind;
typedef enum {
    GRPO_BOOTSTRAP_ZERO,         /* credit gae: the value after the last token is 0 */
    GRPO_BOOTSTRAP_REPEAT        /* where batch.truncated it is that of the last token, whose reward is dropped (T-PPO, 2506.15050) */
} grpo_bootstrap_kind;

typedef enum {
    GRPO_ENTROPY_NONE,
    GRPO_ENTROPY_BONUS,          /* A + min(coef H, |A|/cap) (2506.14758) */
    GRPO_ENTROPY_ZERO_VARIANCE,  /* coef H or -coef (max H - H) by the sign of R, in groups of equal items (RL-ZVP, 2509.21880) */
    GRPO_ENTROPY_RELATIVE,       /* A max(0, 1 + coef (H/mean H - 1)), mean over the batch's tokens (textpolicy) */
    GRPO_ENTROPY_RESPONSE        /* A - coef mean H of the response, 0 where that mean is above cap; cap 0: none (GTPO, 2508.03772) */
} grpo_entropy_kind;
typedef enum {
    GRPO_TEACHER_NORM_NONE,
    GRPO_TEACHER_NORM_MEAN       /* over the sum of the discounts (MiniLLM, 2306.08543) */
} grpo_teacher_norm_kind;

typedef enum {
    GRPO_TOKEN_BASELINE_NONE,
    GRPO_TOKEN_BASELINE_OPTIMAL  /* A - B, B the mean of the A at this position in the prompt's responses, weighted by the energies up to it
                                    (optimal token baseline, as verl); a prompt of one response keeps A */
} grpo_token_baseline_kind;

/* tokens with batch.selected */
typedef enum {
    GRPO_MARKED_NONE,
    GRPO_MARKED_FIXED,           /* A = marked_value (NeMo-RL: invalid tool calls) */
    GRPO_MARKED_BOOST            /* A + marked_value |A| (HICRA, 2509.03646) */
} grpo_marked_kind;

typedef struct {
    /* items */
    grpo_rewards_kind rewards;
    grpo_step_value_kind step_value;
    grpo_step_group_kind step_group;
    double history, history_power;                  /* levels, a whole number of at least 1; in [-16, 16] */
    grpo_outside_kind outside;
    double outside_coef;                            /* anchor */
    grpo_transform_kind transform;
    double pass_k;                                  /* a whole number, at least 1 */
    /* baseline, to which shift is added (AsymRE, 2506.20520) */
    grpo_baseline_kind baseline;
    double shift;
    double quantile;                                /* in [0, 1] */
    double temperature;                             /* > 0 */
    double window;                                  /* share of the group, 0 < window <= 1 */
    double process_noise, observation_noise;        /* of the filter */
    /* scale */
    grpo_scale_kind scale;
    grpo_std_kind std;
    double eps;
    grpo_eps_place eps_place;
    grpo_singleton_kind singleton;
    /* gain */
    grpo_gain_kind gain;
    double gain_low, gain_high, gain_slope, gain_centre;     /* of w: from high to low, fastest at centre */
    double length_power;
    double gain_temperature;                        /* not 0 */
    double gain_power;                              /* >= 0; of failure_power, which needs gain_low < gain_high too */
    /* second normalisation */
    grpo_second_kind second;
    double second_eps;
    /* credit */
    grpo_credit_kind credit;
    grpo_step_discount_kind step_discount;
    grpo_bootstrap_kind bootstrap;
    double gamma, lambda;
    double lambda_length;                           /* > 0: lambda is at least 1 - 1/max(1, lambda_length T) (VAPO, T-PPO) */
    double truncated_tail;                          /* of return and both gae: A = 0 at the last so many tokens where batch.truncated, and
                                                       whitening and second leave them out (T-PPO) */
    double step_coef;
    double share_coef, share_eps;
    /* tokens, in this order */
    grpo_token_baseline_kind token_baseline;
    grpo_entropy_kind entropy;
    double entropy_coef, entropy_cap;
    double teacher_share, teacher_clip;             /* A (1 - share + share clip(e^(+-(logp_teacher - logp_old)), 1 - clip, 1 + clip)), + or
                                                       - the sign of A (RLSD, 2604.03128, as ms-swift) */
    double teacher_coef;                            /* + teacher_coef (logp_teacher - logp_old): on-policy distillation */
    double teacher_gamma;                           /* not 0: that difference summed over this and later tokens, discounted */
    grpo_teacher_norm_kind teacher_norm;
    double kl_centred_coef;                         /* + kl_centred_coef (mean D - D), D = logp_rollout - logp_ref (tinker-cookbook) */
    grpo_marked_kind marked;
    double marked_value;
    double advantage_low, advantage_high;           /* clamp; both 0: none */
} grpo_advantage;

/* C(a, k)/C(b, k) for whole numbers 0 <= k <= b; 0 where a < k */
GRPO_FN grpo_dd grpo_binomial_ratio(double a, double b, double k)
{
    grpo_dd p = { 0, 0 };
    double j;
    if (a < k) return p;
    for (p.hi = 1, j = 0; j < k; j++) p = grpo_dd_div(grpo_dd_mul(p, a - j), b - j);
    return p;
}

/* R of pass@k (2508.10751) for items with R > 0 (up) and the others (down), and V of both */
typedef struct { double up, down, variance; } grpo_pass_at_k_values;

GRPO_FN grpo_pass_at_k_values grpo_pass_at_k(double n, double c, double k)
{
    grpo_pass_at_k_values v = { 0, 0, 0 };
    grpo_dd fails = grpo_binomial_ratio(n - c, n, k), one = { 1, 0 }, minus;    /* 1 - Rbar */
    if (c == 0 || fails.hi == 0) return v;
    minus.hi = -fails.hi; minus.lo = -fails.lo;
    v.up = fails.hi;
    v.down = grpo_dd_div(grpo_dd_mul(minus, c), n - c).hi;     /* C(n-c-1, k-1)/C(n-1, k-1) = (1 - Rbar) n/(n - c) */
    v.variance = grpo_dd_product(fails, grpo_dd_add(one, minus)).hi;
    return v;
}

/* A with a teacher's opinion of the token, gap = log of its probability over the old one's */
GRPO_FN double grpo_teacher_shared(double A, grpo_dd gap, double share, double clip)
{
    const double w = grpo_exp(A < 0 ? grpo_dd_negative(gap) : gap), low = 1 - clip, high = 1 + clip;
    return grpo_times(A, (1 - share) + share * (w < low ? low : w > high ? high : w));
}

/* the filter of KRPO: starts at mean 0, variance 1 */
typedef struct { grpo_dd mean, variance, residual; } grpo_kalman;

/* takes x in: P' = P + process_noise, K = P'/(P' + observation_noise), mean += K (x - mean), P = (1 - K) P'; residual: x - mean after */
GRPO_FN grpo_kalman grpo_kalman_step(grpo_kalman f, grpo_dd x, double process_noise, double observation_noise)
{
    grpo_dd q = { 0, 0 }, r = { 0, 0 }, predicted, rest;
    q.hi = process_noise; r.hi = observation_noise;
    predicted = grpo_dd_add(f.variance, q);
    rest = grpo_dd_quotient(r, grpo_dd_add(predicted, r));                       /* 1 - K */
    f.mean.hi = -f.mean.hi; f.mean.lo = -f.mean.lo;
    f.residual = grpo_dd_product(rest, grpo_dd_add(x, f.mean));
    f.variance = grpo_dd_product(rest, predicted);
    f.mean.hi = -f.residual.hi; f.mean.lo = -f.residual.lo;
    f.mean = grpo_dd_add(x, f.mean);
    return f;
}

/* w(x) = low + (high - low)/(1 + e^(slope (x - centre))) of GRPO-LEAD (2504.09696), x = part/whole */
GRPO_FN double grpo_difficulty(double part, double whole, double low, double high, double slope, double centre)
{
    grpo_dd x = { 0, 0 }, one = { 1, 0 }, minus_centre = { 0, 0 }, e, far, near;
    int falling;
    x.hi = part; minus_centre.hi = -centre;
    x = grpo_dd_mul(grpo_dd_add(grpo_dd_div(x, whole), minus_centre), slope);
    falling = x.hi > 0;
    if (falling) { x.hi = -x.hi; x.lo = -x.lo; }
    e = grpo_exp_twice(x);                                                       /* <= 1, whichever way */
    near = grpo_dd_quotient(one, grpo_dd_add(one, e));
    far = grpo_dd_product(e, near);
    return grpo_dd_add(grpo_dd_mul(falling ? near : far, low), grpo_dd_mul(falling ? far : near, high)).hi;
}

/* T^-p of Delta L (2509.07558), T >= 1 */
GRPO_FN grpo_dd grpo_length_power(double length, double power) { return grpo_exp_twice(grpo_dd_mul(grpo_log_twice(length), -power)); }

/* lambda of VAPO: 1 - 1/max(1, alpha T) */
GRPO_FN grpo_dd grpo_length_lambda(double alpha, double length)
{
    grpo_dd n = grpo_two_prod(alpha, length), none = { 0, 0 }, minus_one = { -1, 0 };
    return n.hi > 1 || (n.hi == 1 && n.lo > 0) ? grpo_dd_quotient(grpo_dd_add(n, minus_one), n) : none;
}

/* a e^(a/temperature) */
GRPO_FN double grpo_exponential_gain(grpo_dd a, double temperature) { return grpo_times(a.hi, grpo_exp(grpo_dd_div(a, temperature))); }

/* 1 - 2 p + s, p = e^l the probability of the token, s the sum of the squares of all: the squared gradient of l by the logits */
GRPO_FN grpo_dd grpo_energy(double logp, double squares)
{
    grpo_dd one = { 1, 0 }, s = { 0, 0 };
    s.hi = squares;
    return grpo_dd_add(grpo_dd_add(one, s), grpo_dd_mul(grpo_exp_twice(grpo_two_sum(logp, 0)), -2));
}

/* max(0, 1 + coef (H/mean - 1)); 1 where the mean is 0 */
GRPO_FN double grpo_relative_entropy(double H, grpo_dd mean, double coef)
{
    grpo_dd x = { 0, 0 }, minus_one = { -1, 0 }, one = { 1, 0 };
    double factor;
    if (mean.hi == 0) return 1;
    x.hi = H;
    x = grpo_dd_add(grpo_dd_quotient(x, mean), minus_one);
    factor = x.hi == 0 || coef == 0 ? 1 : grpo_dd_add(one, grpo_dd_mul(x, coef)).hi;
    return factor > 0 ? factor : 0;
}

/* A at a token with batch.selected */
GRPO_FN double grpo_marked(grpo_marked_kind kind, double A, double value)
{
    switch (kind) {
    case GRPO_MARKED_NONE:  break;
    case GRPO_MARKED_FIXED: return value;
    case GRPO_MARKED_BOOST: return grpo_times(A, 1 + (A < 0 ? -value : value));
    }
    return A;
}

/* log x to twice the precision */
GRPO_FN grpo_dd grpo_dd_log(grpo_dd x)
{
    grpo_dd y = { 0, 0 };
    if (!(x.hi > 1e-300 && x.hi < 1e300)) { y.hi = log(x.hi); return y; }
    y.hi = x.lo / x.hi;
    return grpo_dd_add(grpo_log_twice(x.hi), y);
}

/* (1 - mu)^power of F-GRPO (2602.06717), mu = (mean - low)/(high - low) within [0, 1]; 0^0 = 1 */
GRPO_FN double grpo_failure_power(grpo_dd mean, double low, double high, double power)
{
    grpo_dd rest = { 0, 0 };
    rest.hi = high;
    rest = grpo_dd_quotient(grpo_dd_add(rest, grpo_dd_negative(mean)), grpo_two_diff(high, low));
    if (power == 0 || !grpo_dd_exceeds(grpo_dd_negative(rest), -1)) return 1;
    return rest.hi > 0 ? grpo_exp_twice(grpo_dd_mul(grpo_dd_log(rest), power)).hi : 0;
}

/* log Gamma(x) to twice the precision, 2^-80 of x log x, for 1 <= x < 1e300: Stirling's series at x + n >= 32, less log x (x+1) ... */
GRPO_FN grpo_dd grpo_log_gamma(grpo_dd x)
{
    static const double over[12] = { 12, -360, 1260, -1680, 1188, -360360, 156, -122400, 244188, -125400, 5796, -1506960 };
    static const double numerator[12] = { 1, 1, 1, 1, 1, 691, 1, 3617, 43867, 174611, 77683, 236364091 };
    const grpo_dd half_log_two_pi = { 0.91893853320467274178, -3.8782941580672414e-17 }, one = { 1, 0 }, minus_half = { -0.5, 0 };
    grpo_dd product = one, square, series = { 0, 0 }, log_x;
    int k;
    for (; x.hi < 32; x = grpo_dd_add(x, one)) product = grpo_dd_product(product, x);
    square = grpo_dd_quotient(one, grpo_dd_product(x, x));
    for (k = 11; k >= 0; k--) {
        grpo_dd c = { 0, 0 };
        c.hi = over[k] < 0 ? -numerator[k] : numerator[k];
        series = grpo_dd_add(grpo_dd_product(series, square), grpo_dd_div(c, fabs(over[k])));
    }
    log_x = grpo_dd_log(x);
    series = grpo_dd_add(grpo_dd_quotient(series, x), half_log_two_pi);
    series = grpo_dd_add(series, grpo_dd_product(grpo_dd_add(x, minus_half), log_x));
    return grpo_dd_add(grpo_dd_add(series, grpo_dd_negative(x)), grpo_dd_negative(grpo_dd_log(product)));
}

/* the density of Beta(alpha, beta) at p in [0, 1], for alpha, beta >= 1: within 4 ulps of 1 + its logarithm up to 1e6 */
GRPO_FN double grpo_beta_density(grpo_dd alpha, grpo_dd beta, grpo_dd p)
{
    grpo_dd one = { 1, 0 }, minus_one = { -1, 0 }, log_density, rest = grpo_dd_add(one, grpo_dd_negative(p));
    if (p.hi <= 0) return alpha.hi > 1 ? 0 : beta.hi;
    if (rest.hi <= 0) return beta.hi > 1 ? 0 : alpha.hi;
    log_density = grpo_dd_add(grpo_log_gamma(grpo_dd_add(alpha, beta)),
                              grpo_dd_negative(grpo_dd_add(grpo_log_gamma(alpha), grpo_log_gamma(beta))));
    log_density = grpo_dd_add(log_density, grpo_dd_product(grpo_dd_add(alpha, minus_one), grpo_dd_log(p)));
    return grpo_exp(grpo_dd_add(log_density, grpo_dd_product(grpo_dd_add(beta, minus_one), grpo_dd_log(rest))));
}

/* alpha and beta of BNPO: with v the variance of the prompts' means and mu their mean, 1 + max(0, m mu/3) and 1 + max(0, m (1 - mu)/3),
 * m = mu (1 - mu)/v - 1 */
typedef struct { grpo_dd alpha, beta; } grpo_beta;

GRPO_FN grpo_beta grpo_beta_of(grpo_dd mu, grpo_dd variance)
{
    grpo_dd one = { 1, 0 }, minus_one = { -1, 0 }, rest = grpo_dd_add(one, grpo_dd_negative(mu)), m;
    grpo_beta r;
    m = grpo_dd_add(grpo_dd_quotient(grpo_dd_product(mu, rest), variance), minus_one);
    r.alpha = r.beta = one;
    if (!(m.hi > 0)) return r;
    r.alpha = grpo_dd_add(one, grpo_dd_div(grpo_dd_product(m, mu), 3));
    r.beta = grpo_dd_add(one, grpo_dd_div(grpo_dd_product(m, rest), 3));
    return r;
}

/* the divisor sigma from a variance */
GRPO_FN double grpo_deviation(double variance, double eps, grpo_eps_place place)
{
    switch (place) {
    case GRPO_EPS_INSIDE:    return sqrt(variance + eps);
    case GRPO_EPS_FLOOR:     return sqrt(variance > eps ? variance : eps);
    case GRPO_EPS_FLOOR_ADD: return sqrt(variance > eps ? variance : eps) + eps;
    default:                 return sqrt(variance) + eps;
    }
}

/* ======== axis 3: ratio ===========================================================================================================
 * How far has the policy moved, over which unit?  From d_t = logp - logp_old to the log-ratio y_t of the unit that token t is in. */

typedef enum {
    GRPO_AGAINST_OLD,
    GRPO_AGAINST_ROLLOUT,
    GRPO_AGAINST_REF,
    GRPO_AGAINST_CURRENT,                /* d = l - sg[l]: the ratio is 1, its gradient that of log-probability (exactly on-policy) */
    GRPO_AGAINST_NOTHING                 /* d = l: y is a log-probability and no ratio */
} grpo_against_kind;
typedef enum {
    GRPO_UNIT_TOKEN,                     /* y = d_t */
    GRPO_UNIT_SEQUENCE_MEAN,             /* y = (1/T) sum d: GSPO eq. 7 (2507.18071) */
    GRPO_UNIT_SEQUENCE_SUM,              /* y = sum d: the ratio of the whole response */
    GRPO_UNIT_SEQUENCE_CLIPPED_MEAN,     /* y = (1/T) sum of d clipped at pool_high (A >= 0) or -pool_low (A < 0): GMPO (2507.20673) */
    GRPO_UNIT_SEGMENT_MEAN,              /* y = mean of d over t's segment (ROLL's turns) */
    GRPO_UNIT_SEGMENT_SUM,               /* y = sum of d over t's segment */
    GRPO_UNIT_PREFIX_SUM,                /* y = sum of d up to and including t */
    GRPO_UNIT_PREFIX_MEAN,               /* that divided by the number of them */
    GRPO_UNIT_SEQUENCE_MEAN_RATIO,       /* y = log((1/T) sum e^d): GRPO-S (2508.04349) */
    GRPO_UNIT_SEQUENCE_POWER_MEAN        /* y = (1/power) log((1/T) sum e^(power d)), d clipped as in GMPO: APMPO (2605.04066) */
} grpo_unit_kind;
typedef enum {
    GRPO_GRADIENT_UNIT,                  /* through every token of the unit */
    GRPO_GRADIENT_TOKEN                  /* through the token itself: y = sg[y] + l - sg[l] (GSPO-token eq. 14) */
} grpo_gradient_kind;
typedef enum {
    GRPO_MIX_NONE,
    GRPO_MIX_AVERAGE,                    /* y := log((e^d + e^y)/2): mean of the token's and the unit's ratio (ART) */
    GRPO_MIX_WEIGHTED                    /* y := mix_token d + mix_unit y (ART's geometric average: 1/2, 1/2) */
} grpo_mix_kind;

typedef struct {
    grpo_unit_kind unit;
    grpo_gradient_kind gradient;
    grpo_mix_kind mix;                         /* of the token's own d with the unit's y */
    double mix_token, mix_unit;
    grpo_against_kind against;
    double pool_low, pool_high;                /* log-space bounds of the clipped mean and of the power mean */
    double power;                              /* of the power mean, in (0, 16]; 0: 1 */
    double clamp_low, clamp_high;              /* on d, derivative 0 outside; both 0: none */
    double unit_clamp_low, unit_clamp_high;    /* on y, likewise */
} grpo_ratio_axis;

/* an importance ratio; comparisons use log, so that exp is never needed of what a clip discards */
typedef struct { double log, log_lo, value; } grpo_ratio;

GRPO_FN grpo_ratio grpo_ratio_exp(grpo_dd log_ratio)
{
    grpo_ratio r;
    r.log = log_ratio.hi; r.log_lo = log_ratio.lo; r.value = grpo_exp(log_ratio);
    return r;
}

/* the token's ratio, from log-probabilities under the new and the old policy */
GRPO_FN grpo_ratio grpo_ratio_of(double logp, double logp_old) { return grpo_ratio_exp(grpo_two_diff(logp, logp_old)); }

/* x clamped to [low, high]; *passes = 0 where the derivative is cut */
GRPO_FN grpo_dd grpo_clamp(grpo_dd x, double low, double high, int *passes)
{
    grpo_dd bound = { 0, 0 };
    *passes = 1;
    if (low == 0 && high == 0) return x;
    if (x.hi < low || (x.hi == low && x.lo < 0)) { bound.hi = low; *passes = 0; return bound; }
    if (x.hi > high || (x.hi == high && x.lo > 0)) { bound.hi = high; *passes = 0; return bound; }
    return x;
}

/* ======== axis 4: surrogate =======================================================================================================
 * What is a (ratio, advantage) pair worth?  As a loss.  w = ratio, A = advantage, l = logp. */

typedef enum {
    GRPO_SURROGATE_SCORE,      /* -A l (Williams 1992) */
    GRPO_SURROGATE_RATIO,      /* -w A */
    GRPO_SURROGATE_PPO_CLIP,   /* max(-w A, -clip(w, 1 - eps_low, 1 + eps_high) A): PPO (1707.06347), DAPO's clip-higher */
    GRPO_SURROGATE_DUAL_CLIP,  /* the same, and at most -dual A where A < 0 (1912.09729); also the two-sided clip "delta" (2505.07291) */
    GRPO_SURROGATE_CISPO,      /* -sg[clip(w, weight_min, weight_max)] A l (2506.13585 eq. 4) */
    GRPO_SURROGATE_SAPO,       /* -(4/tau) sigmoid(tau (w - 1)) A, tau by the sign of A (2511.20347 eqs. 5-7) */
    GRPO_SURROGATE_VESPO,      /* -sg[w^k e^(lambda (1 - w))] A l, (k, lambda) by the sign of A (2602.10693) */
    GRPO_SURROGATE_LOG_RATIO,  /* -A y, y the log-ratio */
    GRPO_SURROGATE_SQUARED,    /* (A - strength y)^2, where A = 0 too (Kimi k1.5, 2501.12599 section 2.3.2; Kimi K2, 2507.20534) */
    GRPO_SURROGATE_GPPO,       /* PPO clip that keeps a gradient: clipped, -beta bound A sg[1/w] w (2508.07629 eqs. 11, 17-18; CE-GPPO 2509.20712) */
    GRPO_SURROGATE_ASPO,       /* weight 1/w instead of w where A > 0, soft dual clips on both sides (2510.06062) */
    GRPO_SURROGATE_TOPR,       /* -sg[u] A l, u = 1 if A > 0, else w clipped to [weight_min, weight_max] (2503.14286) */
    GRPO_SURROGATE_BAND,       /* -sg[w] A l inside [weight_min, weight_max], 0 outside */
    GRPO_SURROGATE_SAPO_DETACHED,  /* -A sg[(4/tau) sigmoid(tau (w - 1))] l (Trinity-RFT) */
    /* of gspo.h, functions of a group: F_i from the scores s_j and the advantages A_j (at the first active token) of its G responses
     * with active tokens, with the unit of a response; F_i is the worth of each token of i.  k = strength; + and -: the n+ responses with
     * A > 0 and the n- others; v = 1/n+, or where length_rate is not 0 the softmax over + of -length_rate T */
    GRPO_SURROGATE_VARIANCE,   /* (k (s_i - mean s) - A_i)^2/(2 (G - 1)) (GVPO, 2504.19599) */
    GRPO_SURROGATE_LABELS,     /* A_i > 0: log(1 + sum_+ e^(-s_j/tau_pos))/n+, else log(1 + sum_- e^(s_j/tau_neg))/n- (REAL, 2602.05630) */
    GRPO_SURROGATE_BALANCE,    /* (z + s_i - k A_i)^2, z = batch.log_z, whose gradient is grpo_output.dlog_z (FlowRL, 2509.15207) */
    GRPO_SURROGATE_PAIRS,      /* 1/P sum_b log(1 + e^(-k (s_i - s_b))) over the P pairs of the group with A_i - A_b > margin */
    GRPO_SURROGATE_CONTRAST,   /* -softmax(A/tau_pos)_i log softmax(k s)_i */
    GRPO_SURROGATE_CONTRAST_MEAN,  /* A_i > 0: -v_i s_i, else s_i/n-; 0 without + or without - (DisCO-b, 2505.12366) */
    GRPO_SURROGATE_CONTRAST_LSE,   /* A_i > 0: -v_i (s_i - tau_neg log((1/n-) sum_- e^(s_j/tau_neg))), else 0; 0 without + or without -
                                      (DisCO; DRPO, 2510.04474, with a length_rate) */
    GRPO_SURROGATE_SOFT_PAIRS, /* 1/(G (G - 1)) sum_j log(1 + e^D) - p D, D = k (s_i - s_j), p = sigmoid((A_i - A_j)/tau_pos) (DNO,
                                  2404.03715, algorithm 1) */
    GRPO_SURROGATE_MATCH,      /* (p_i - u_i)^2, p = softmax(A/tau_pos), u = softmax(k s) (DMPO, 2605.19461, its code) */
    GRPO_SURROGATE_MATCH_JS,   /* (p_i log(p_i/q_i) + u_i log(u_i/q_i))/2, q = (p + u)/2 (the same) */
    /* of one unit again */
    GRPO_SURROGATE_LOGISTIC,   /* log(1 + e^(-+(k y - shift))), - where A > 0, else +, where A = 0 too (VPD, 2605.15113, E-step) */
    GRPO_SURROGATE_DISPO,      /* cispo with bounds of its own where A < 0: weight_min_neg, weight_max_neg (2602.00983) */
    GRPO_SURROGATE_BGPO,       /* A > 0: -(1 + y) A, A < 0: -w A: a bound on -w A (2510.11683 eqs. 11-16) */
    GRPO_SURROGATE_SHAPED,     /* -A w/(w + shape) at tokens with batch.selected (GUIDE, 2506.13923; LUFFY, 2504.14945), ppo_clip at others */
    GRPO_SURROGATE_QUADRATIC,  /* -A w + |A| (w - 1)^2/(2 eps_high): best at 1 +- eps_high, never clipped (CFPO, 2601.22801) */
    GRPO_SURROGATE_UNBOUNDED_POSITIVE,     /* A > 0: -A, with the gradient of -A l; A < 0: dual_clip (UP, 2607.06987, eq. 15) */
    /* of a group */
    GRPO_SURROGATE_STANDARDISED,   /* (A_i - k z_i)^2, z_i = (s_i - sg[mean s])/(sg[sample std s] + score_eps) (GIFT, 2510.23868) */
    GRPO_SURROGATE_TARGET,     /* -q_i log softmax(k s)_i, q = softmax(k o + A/tau_pos), o as y of logp_old: against nothing, unit
                                  sequence_mean or sequence_sum (TPO, 2604.06159) */
    GRPO_SURROGATE_HINGE,      /* 1/P sum_b max(0, shift - k (s_i - s_b)) over the pairs of PAIRS (Click, 2306.03350) */
    GRPO_SURROGATE_REGRESSION, /* STANDARDISED with mean and deviation differentiated too, A_i^2 of one response (Reg-GRPO, 2506.07464,
                                  eqs. 8-9) */
    GRPO_SURROGATE_NONE        /* 0: what else is paid for is all there is (TRPA, 2504.04524).  Needs no ratio, and no advantages where
                                  nothing else reads them: NULL is all 0 */
} grpo_surrogate_kind;

/* what the functions of a group call a response's score */
typedef enum {
    GRPO_SCORE_LOG,            /* s = y */
    GRPO_SCORE_RATIO           /* s = e^y */
} grpo_score_kind;

typedef enum {
    GRPO_BOUNDS_FIXED,         /* 1 - eps_low, 1 + eps_high */
    GRPO_BOUNDS_PROBABILITY,   /* wider for tokens that were less probable, of ppo_clip, dual_clip and gppo (DCPO 2509.02333) */
    GRPO_BOUNDS_POSITION,      /* e^(-log_low s), e^(log_high s), e^(log_dual s), s = n^position_power at the n-th token that counts of its
                                  response, of ppo_clip and dual_clip (CTPO 2605.07331) */
    GRPO_BOUNDS_GIVEN          /* 1 - batch.clip_low, 1 + batch.clip_high, of ppo_clip, dual_clip and gppo */
} grpo_bounds_kind;

typedef struct {
    grpo_surrogate_kind kind;
    grpo_score_kind score;
    grpo_bounds_kind bounds;
    double eps_low, eps_high;
    double bound_cap;              /* bounds probability: the upper one is at most this; 0: none */
    double log_low, log_high, log_dual;    /* bounds position, >= 0: of the log-ratio, at the first token */
    double position_power;         /* in [-16, 16] */
    double dual, dual_pos;         /* dual_pos: on 1/w where A > 0 (aspo); 0: none (gppo, aspo) */
    double beta_low, beta_high;    /* gppo: 0 is PPO's clip of the gradient */
    double weight_min, weight_max;
    double weight_min_neg, weight_max_neg;     /* dispo, where A < 0 */
    double tau_pos, tau_neg;
    double k_pos, lambda_pos, k_neg, lambda_neg;
    double strength;
    double length_rate;            /* contrast_mean, contrast_lse */
    double shift;                  /* logistic, hinge */
    double shape;                  /* shaped, > 0 */
    double margin;                 /* pairs, hinge, >= 0 */
    double score_eps;              /* standardised, regression, >= 0 */
} grpo_surrogate;

typedef enum { GRPO_CLIP_NO, GRPO_CLIP_LOW, GRPO_CLIP_HIGH, GRPO_CLIP_DUAL } grpo_clip_side;

/* a loss term with its derivatives with respect to the log-ratio and to logp; clip: which bound took the gradient */
typedef struct { double value, d_log_ratio, d_logp; grpo_clip_side clip; } grpo_term;

typedef struct { double low, high, log_low, log_high; } grpo_range;    /* of the ratio */

GRPO_FN grpo_range grpo_clip_range(double eps_low, double eps_high)
{
    grpo_range r;
    r.low = 1 - eps_low;      r.log_low = r.low > 0 ? log1p(-eps_low) : -HUGE_VAL;
    r.high = 1 + eps_high;    r.log_high = log1p(eps_high);
    return r;
}

/* DCPO's bounds on w of a token whose probability p = e^x is that in the ratio's denominator:
 * 1/2 + 1/2 sqrt(max(1 - 4 eps_low/p, 0)) and 1/2 + 1/2 sqrt(1 + 4 eps_high/p).  The first root is near 0 where p is near 4 eps_low: the
 * difference under it is taken beyond double precision.  The second is that of 1 + h^2, for h^2 may be beyond the largest double. */
GRPO_FN grpo_range grpo_probability_range(double x, double eps_low, double eps_high, double cap)
{
    const double h = eps_high < HUGE_VAL ? grpo_times(2 * sqrt(eps_high), exp(-0.5 * x)) : HUGE_VAL;
    grpo_range r = { 1, HUGE_VAL, 0, HUGE_VAL };
    grpo_dd minus_x = { 0, 0 }, one = { 1, 0 }, q;
    double root;
    if (x > -HUGE_VAL) {
        minus_x.hi = -x;
        q = eps_low > 0 ? grpo_dd_mul(grpo_exp_twice(minus_x), 4 * eps_low) : minus_x;
        root = eps_low > 0 ? grpo_dd_add(one, grpo_dd_negative(q)).hi : 1;
        root = root > 0 ? sqrt(root) : 0;
        r.low = 0.5 + 0.5 * root;
        r.log_low = root == 1 ? 0 : root > 0 ? log1p(-0.5 * q.hi / (1 + root)) : log(0.5);
        root = h < 1e100 ? sqrt(1 + h * h) : h;
        r.high = 0.5 + 0.5 * root;
        r.log_high = h < 1e100 ? log1p(0.5 * (h * h) / (1 + root)) : 0.5 * (log(eps_high) - x);
    }
    if (cap != 0 && r.high > cap) { r.high = cap; r.log_high = log(cap); }
    return r;
}

/* bounds of the log-ratio */
typedef struct { grpo_dd low, high, dual; } grpo_log_range;

/* n^power; exact where that has 106 bits and 2 power is whole */
GRPO_FN grpo_dd grpo_position_scale(double n, double power)
{
    const double size = fabs(power), root = sqrt(n);
    grpo_dd s = { 1, 0 }, one = { 1, 0 }, r = { 0, 0 };
    int k;
    if (2 * size != floor(2 * size)) return grpo_length_power(n, -power);
    for (k = 0; k < (int)size; k++) s = grpo_dd_mul(s, n);
    r.hi = root; r.lo = fma(-root, root, n) / (2 * root);
    if (size != floor(size)) s = grpo_dd_product(s, r);
    return power < 0 ? grpo_dd_quotient(one, s) : s;
}

/* CTPO's, at the n-th token */
GRPO_FN grpo_log_range grpo_position_range(const grpo_surrogate *s, double n)
{
    const grpo_dd scale = grpo_position_scale(n, s->position_power);
    grpo_log_range r;
    r.low = grpo_dd_mul(scale, -s->log_low);
    r.high = grpo_dd_mul(scale, s->log_high);
    r.dual = grpo_dd_mul(scale, s->kind == GRPO_SURROGATE_DUAL_CLIP ? s->log_dual : HUGE_VAL);
    return r;
}

GRPO_FN grpo_term grpo_score(double advantage, double logp)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = grpo_times(-advantage, logp);
    t.d_logp = -advantage;
    return t;
}

GRPO_FN grpo_term grpo_ratio_term(grpo_ratio w, double advantage)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = t.d_log_ratio = grpo_times(-advantage, w.value);
    return t;
}

GRPO_FN grpo_term grpo_clipped(double bound, double advantage, grpo_clip_side side)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = -bound * advantage;
    t.clip = side;
    return t;
}

GRPO_FN grpo_term grpo_ppo_clip(grpo_ratio w, double advantage, grpo_range range)
{
    if (advantage > 0 && w.log > range.log_high) return grpo_clipped(range.high, advantage, GRPO_CLIP_HIGH);
    if (advantage < 0 && w.log < range.log_low) return grpo_clipped(range.low, advantage, GRPO_CLIP_LOW);
    return grpo_ratio_term(w, advantage);
}

GRPO_FN grpo_term grpo_dual_clip(grpo_ratio w, double advantage, grpo_range range, double dual)
{
    if (advantage < 0 && w.value > dual) return grpo_clipped(dual, advantage, GRPO_CLIP_DUAL);
    return grpo_ppo_clip(w, advantage, range);
}

/* both, between bounds of the log-ratio: what is compared is known beyond double precision, and e^ is taken of what is worth something */
GRPO_FN grpo_term grpo_log_clip(grpo_ratio w, double advantage, grpo_log_range range)
{
    grpo_dd y;
    y.hi = w.log; y.lo = w.log_lo;
    if (advantage < 0 && grpo_dd_less(range.dual, y)) return grpo_clipped(grpo_exp(range.dual), advantage, GRPO_CLIP_DUAL);
    if (advantage > 0 && grpo_dd_less(range.high, y)) return grpo_clipped(grpo_exp(range.high), advantage, GRPO_CLIP_HIGH);
    if (advantage < 0 && grpo_dd_less(y, range.low)) return grpo_clipped(grpo_exp(range.low), advantage, GRPO_CLIP_LOW);
    return grpo_ratio_term(w, advantage);
}

GRPO_FN grpo_term grpo_cispo(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max)
{
    double v = w.value < weight_min ? weight_min : w.value > weight_max ? weight_max : w.value;
    grpo_term t = grpo_score(grpo_times(v, advantage), logp);
    if (advantage != 0) t.clip = w.value < weight_min ? GRPO_CLIP_LOW : w.value > weight_max ? GRPO_CLIP_HIGH : GRPO_CLIP_NO;
    return t;
}

/* w - 1 as the argument of an exponential: the ratio itself must then be known beyond double precision */
GRPO_FN grpo_dd grpo_ratio_minus_one(grpo_ratio w)
{
    grpo_dd x, v = { 0, 0 }, minus_one = { -1, 0 };
    x.hi = w.log; x.lo = w.log_lo;
    v.hi = w.value;
    return grpo_dd_add(w.value > 2 ? grpo_exp_twice(x) : v, minus_one);
}

/* sigmoid(z) and its derivative, e/(1 + e)^2, even in z */
typedef struct { double value, slope; } grpo_gate;

GRPO_FN grpo_gate grpo_sigmoid(grpo_dd z)
{
    double e = grpo_exp(z.hi > 0 ? grpo_dd_negative(z) : z);
    grpo_gate g;
    g.value = (z.hi > 0 ? 1 : e) / (1 + e);
    g.slope = e / ((1 + e) * (1 + e));
    return g;
}

/* that of tau (w - 1) */
GRPO_FN grpo_gate grpo_sigmoid_gate(grpo_ratio w, double tau) { return grpo_sigmoid(grpo_dd_mul(grpo_ratio_minus_one(w), tau)); }

/* log(1 + e^-x) and its derivative */
typedef struct { double value, slope; } grpo_logistic;

GRPO_FN grpo_logistic grpo_logistic_loss(grpo_dd x)
{
    double e = grpo_exp(x.hi > 0 ? grpo_dd_negative(x) : x);           /* e^-|x| */
    grpo_logistic f;
    f.value = x.hi > 0 ? log1p(e) : grpo_plus(-x.hi, log1p(e));
    f.slope = -(x.hi > 0 ? e : 1) / (1 + e);
    return f;
}

GRPO_FN grpo_term grpo_sapo(grpo_ratio w, double advantage, double tau)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_gate g = grpo_sigmoid_gate(w, tau);
    t.value = -(4 / tau) * g.value * advantage;
    t.d_log_ratio = grpo_times(-4 * g.slope * advantage, w.value);
    return t;
}

GRPO_FN grpo_term grpo_sapo_detached(grpo_ratio w, double advantage, double logp, double tau)
{
    return grpo_score((4 / tau) * grpo_sigmoid_gate(w, tau).value * advantage, logp);
}

GRPO_FN grpo_term grpo_vespo(grpo_ratio w, double advantage, double logp, double k, double lambda)
{
    grpo_dd y, x = { 0, 0 };
    y.hi = w.log; y.lo = w.log_lo;
    if (lambda > 0 && w.value == HUGE_VAL) return grpo_score(0, logp);         /* the outer exponential wins */
    if (k != 0) x = grpo_dd_mul(y, k);
    if (lambda != 0) x = grpo_dd_add(x, grpo_dd_mul(grpo_ratio_minus_one(w), -lambda));
    return grpo_score(grpo_times(grpo_exp(x), advantage), logp);
}

GRPO_FN grpo_term grpo_log_ratio_term(grpo_ratio w, double advantage)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    t.value = grpo_times(-advantage, w.log);
    t.d_log_ratio = -advantage;
    return t;
}

/* the difference in twice the precision: k y may all but cancel A */
GRPO_FN grpo_term grpo_squared(grpo_ratio w, double advantage, double strength)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd y, e = { 0, 0 };
    y.hi = w.log; y.lo = w.log_lo;
    e.hi = advantage;
    if (strength != 0) e = grpo_dd_add(e, grpo_dd_mul(y, -strength));
    t.value = e.hi * e.hi;
    t.d_log_ratio = grpo_times(-2 * strength, e.hi);
    return t;
}

/* a clip that keeps the gradient: -bound A sg[1/w] w */
GRPO_FN grpo_term grpo_leaky(double bound, double advantage, grpo_clip_side side)
{
    grpo_term t = grpo_clipped(bound, advantage, side);
    t.d_log_ratio = t.value;
    return t;
}

/* dual 0: none */
GRPO_FN grpo_term grpo_gppo(grpo_ratio w, double advantage, grpo_range range, double dual, double beta_low, double beta_high)
{
    if (advantage < 0 && dual != 0 && w.value > dual) return grpo_clipped(dual, advantage, GRPO_CLIP_DUAL);
    if (advantage > 0 && w.log > range.log_high) return grpo_leaky(grpo_times(beta_high, range.high), advantage, GRPO_CLIP_HIGH);
    if (advantage < 0 && w.log < range.log_low) return grpo_leaky(beta_low * range.low, advantage, GRPO_CLIP_LOW);
    return grpo_ratio_term(w, advantage);
}

/* dual, dual_pos 0: none */
GRPO_FN grpo_term grpo_aspo(grpo_ratio w, double advantage, double logp, grpo_range range, double dual, double dual_pos)
{
    grpo_dd y;
    grpo_ratio flipped;
    grpo_term t;
    double limit = advantage > 0 ? dual_pos : dual;
    y.hi = -w.log; y.lo = -w.log_lo;
    flipped = grpo_ratio_exp(y);                                       /* 1/w */
    if (limit != 0 && (advantage > 0 ? flipped.value : w.value) > limit) {
        t = grpo_score(limit * advantage, logp);
        t.clip = GRPO_CLIP_DUAL;
        return t;
    }
    if (advantage < 0) return grpo_ppo_clip(w, advantage, range);
    if (w.log > range.log_high) return grpo_clipped(1 / range.high, advantage, GRPO_CLIP_HIGH);
    return grpo_ratio_term(flipped, advantage);                        /* by y the same sign as with w: the flip is inside sg (sic) */
}

GRPO_FN grpo_term grpo_topr(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max)
{
    return advantage > 0 ? grpo_score(advantage, logp) : grpo_cispo(w, advantage, logp, weight_min, weight_max);
}

GRPO_FN grpo_term grpo_band(grpo_ratio w, double advantage, double logp, double weight_min, double weight_max)
{
    grpo_term t = grpo_cispo(w, advantage, logp, weight_min, weight_max);
    if (t.clip != GRPO_CLIP_NO) t.value = t.d_logp = 0;
    return t;
}

/* a response is right where A > 0 and wrong where not; x = k y - shift beyond double precision, for the two may all but cancel */
GRPO_FN grpo_term grpo_logistic_term(grpo_ratio w, double advantage, double strength, double shift)
{
    const double sign = advantage > 0 ? 1 : -1;
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd y, x = { 0, 0 };
    grpo_logistic f;
    y.hi = w.log; y.lo = w.log_lo;
    x.hi = -shift;
    if (strength != 0) x = grpo_dd_add(x, grpo_dd_mul(y, strength));
    f = grpo_logistic_loss(sign < 0 ? grpo_dd_negative(x) : x);
    t.value = f.value;
    t.d_log_ratio = grpo_times(sign * strength, f.slope);
    return t;
}

/* 1 + y <= w where a larger w is better, w itself where it is worse */
GRPO_FN grpo_term grpo_bgpo(grpo_ratio w, double advantage)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd y, one = { 1, 0 };
    if (advantage < 0) return grpo_ratio_term(w, advantage);
    y.hi = w.log; y.lo = w.log_lo;
    t.value = grpo_times(-advantage, grpo_dd_add(one, y).hi);
    t.d_log_ratio = -advantage;
    return t;
}

/* -A w/(w + shape), as -A sigmoid(y - log shape): w may be beyond double */
GRPO_FN grpo_term grpo_shaped(grpo_ratio w, double advantage, double shape)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd y;
    grpo_gate g;
    y.hi = w.log; y.lo = w.log_lo;
    g = grpo_sigmoid(grpo_dd_add(y, grpo_dd_negative(grpo_log_of(shape))));
    t.value = -advantage * g.value;
    t.d_log_ratio = -advantage * g.slope;
    return t;
}

/* -A w + |A| (w - 1)^2/(2 eps), derivative w (-A + |A| (w - 1)/eps) (CFPO, 2601.22801): the two parts may all but cancel, and w - 1 may be
 * small beside w, so both are known to twice the precision */
GRPO_FN grpo_term grpo_quadratic(grpo_ratio w, double advantage, double eps)
{
    const double size = fabs(advantage);
    grpo_term t = grpo_ratio_term(w, advantage);
    grpo_dd y, v, off, far, minus_one = { -1, 0 }, x;
    if (eps == HUGE_VAL) return t;
    if (w.value == HUGE_VAL) { t.value = t.d_log_ratio = HUGE_VAL; return t; }
    y.hi = w.log; y.lo = w.log_lo;
    v = grpo_exp_twice(y);
    off = grpo_dd_add(v, minus_one);
    far = grpo_dd_div(off, eps);
    x = grpo_dd_mul(grpo_dd_product(grpo_dd_mul(off, size), far), 0.5);
    if (grpo_is_finite(x.hi) && grpo_is_finite(t.value)) t.value = grpo_dd_add(x, grpo_dd_mul(v, -advantage)).hi;
    else t.value = grpo_times(size, grpo_dd_add(grpo_dd_mul(grpo_dd_product(off, far), 0.5), advantage > 0 ? grpo_dd_negative(v) : v).hi);
    x = grpo_dd_add(grpo_dd_mul(far, size), grpo_dd_mul(minus_one, advantage));
    t.d_log_ratio = grpo_is_finite(x.hi) ? grpo_dd_product(v, x).hi : grpo_times(v.hi, x.hi);
    return t;
}

/* A > 0: -A e^(l - sg[l]); A < 0: dual clip (UP, 2607.06987, eq. 15) */
GRPO_FN grpo_term grpo_unbounded_positive(grpo_ratio w, double advantage, grpo_range range, double dual)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    if (advantage < 0) return grpo_dual_clip(w, advantage, range, dual);
    t.value = t.d_logp = -advantage;
    return t;
}

/* the choice, of shaped at tokens that are not selected; A = 0 is worth 0 and has no gradient, but for regressions */
GRPO_FN grpo_term grpo_surrogate_term(const grpo_surrogate *s, grpo_range range, grpo_ratio w, double advantage, double logp)
{
    grpo_term zero = { 0, 0, 0, GRPO_CLIP_NO };
    if (advantage == 0 && s->kind != GRPO_SURROGATE_SQUARED && s->kind != GRPO_SURROGATE_LOGISTIC) return zero;
    switch (s->kind) {
    case GRPO_SURROGATE_SCORE:     return grpo_score(advantage, logp);
    case GRPO_SURROGATE_RATIO:     return grpo_ratio_term(w, advantage);
    case GRPO_SURROGATE_PPO_CLIP:  return grpo_ppo_clip(w, advantage, range);
    case GRPO_SURROGATE_DUAL_CLIP: return grpo_dual_clip(w, advantage, range, s->dual);
    case GRPO_SURROGATE_CISPO:     return grpo_cispo(w, advantage, logp, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_SAPO:      return grpo_sapo(w, advantage, advantage > 0 ? s->tau_pos : s->tau_neg);
    case GRPO_SURROGATE_VESPO:     return advantage > 0 ? grpo_vespo(w, advantage, logp, s->k_pos, s->lambda_pos)
                                                        : grpo_vespo(w, advantage, logp, s->k_neg, s->lambda_neg);
    case GRPO_SURROGATE_LOG_RATIO: return grpo_log_ratio_term(w, advantage);
    case GRPO_SURROGATE_SQUARED:   return grpo_squared(w, advantage, s->strength);
    case GRPO_SURROGATE_GPPO:      return grpo_gppo(w, advantage, range, s->dual, s->beta_low, s->beta_high);
    case GRPO_SURROGATE_ASPO:      return grpo_aspo(w, advantage, logp, range, s->dual, s->dual_pos);
    case GRPO_SURROGATE_TOPR:      return grpo_topr(w, advantage, logp, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_BAND:      return grpo_band(w, advantage, logp, s->weight_min, s->weight_max);
    case GRPO_SURROGATE_SAPO_DETACHED: return grpo_sapo_detached(w, advantage, logp, advantage > 0 ? s->tau_pos : s->tau_neg);
    case GRPO_SURROGATE_LOGISTIC:  return grpo_logistic_term(w, advantage, s->strength, s->shift);
    case GRPO_SURROGATE_DISPO:     return advantage > 0 ? grpo_cispo(w, advantage, logp, s->weight_min, s->weight_max)
                                                        : grpo_cispo(w, advantage, logp, s->weight_min_neg, s->weight_max_neg);
    case GRPO_SURROGATE_BGPO:      return grpo_bgpo(w, advantage);
    case GRPO_SURROGATE_SHAPED:    return grpo_ppo_clip(w, advantage, range);
    case GRPO_SURROGATE_QUADRATIC: return grpo_quadratic(w, advantage, s->eps_high);
    case GRPO_SURROGATE_UNBOUNDED_POSITIVE: return grpo_unbounded_positive(w, advantage, range, s->dual);
    default: return zero;                                              /* no function of one token */
    }
}

/* ======== axis 5: penalty =========================================================================================================
 * What else is paid for?  At each token kl_coef u K - entropy_coef H, K an estimator of KL(policy || reference), H the entropy.  And
 * beside the terms, with divisors of their own: a likelihood over some tokens, and pairs of responses. */

typedef enum { GRPO_KL_AGAINST_REF, GRPO_KL_AGAINST_OLD, GRPO_KL_AGAINST_ROLLOUT, GRPO_KL_AGAINST_TEACHER } grpo_kl_against_kind;

typedef enum {
    GRPO_KL_GRADIENT_OWN,
    GRPO_KL_GRADIENT_K2,         /* value of K, gradient of k2: straight-through (verl's "k3+") */
    GRPO_KL_GRADIENT_NONE        /* value of K, no gradient: what is left is that of u */
} grpo_kl_gradient_kind;
typedef enum {
    GRPO_KL_RATIO_NONE,          /* u = 1 */
    GRPO_KL_RATIO_TOKEN,         /* u = e^d, d of axis 3 unclamped, differentiated: unbiased off-policy (DeepSeek-V3.2, 2512.02556) */
    GRPO_KL_RATIO_UNIT,          /* u = the ratio of axis 3, differentiated (TRL at sequence level) */
    GRPO_KL_RATIO_SCORE          /* u = e^(l - sg[l]): 1, with the gradient of the score function */
} grpo_kl_ratio_kind;
typedef enum {
    GRPO_KL_ON_ALL,
    GRPO_KL_ON_SELECTED          /* at tokens with batch.selected (KL-Cov, 2505.22617) */
} grpo_kl_on_kind;

/* likelihood_coef/D times the sum of -u h over D tokens of the batch */
typedef enum {
    GRPO_LIKELIHOOD_NONE,
    GRPO_LIKELIHOOD_CORRECT,     /* of responses with batch.reward > 0 (VAPO, 2504.05118) */
    GRPO_LIKELIHOOD_POSITIVE,    /* with A > 0 (OREAL, 2502.06781, as xtuner) */
    GRPO_LIKELIHOOD_SELECTED,    /* with batch.selected (CHORD, 2508.11408: those of the demonstrations) */
    GRPO_LIKELIHOOD_ALL,
    GRPO_LIKELIHOOD_NOT_NEGATIVE /* with A >= 0 (LLDS, 2512.04220) */
} grpo_likelihood_kind;
/* u, detached; p = e^l */
typedef enum {
    GRPO_LIKELIHOOD_WEIGHT_NONE,       /* 1 */
    GRPO_LIKELIHOOD_WEIGHT_P,          /* p */
    GRPO_LIKELIHOOD_WEIGHT_P_NOT_P,    /* p (1 - p) (CHORD's phi) */
    GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE    /* sigmoid(likelihood_gain (logp_teacher - l)) (SDAR, 2605.15155) */
} grpo_likelihood_weight_kind;
/* h */
typedef enum {
    GRPO_LIKELIHOOD_FORM_LOGP,         /* l */
    GRPO_LIKELIHOOD_FORM_TEACHER_GAP,  /* l - logp_teacher (SDAR, 2605.15155) */
    GRPO_LIKELIHOOD_FORM_LOST          /* -max(logp_old - l, 0) (LLDS, 2512.04220) */
} grpo_likelihood_form_kind;
/* of form lost: tokens outside of what the gate lets pass add nothing and stay among the D */
typedef enum {
    GRPO_LIKELIHOOD_GATE_NONE,
    GRPO_LIKELIHOOD_GATE_SEQUENCE,     /* responses whose logp_old - l sum to more than 0, over their tokens among the D (2512.04220) */
    GRPO_LIKELIHOOD_GATE_SEGMENT       /* the same of segments: turns */
} grpo_likelihood_gate_kind;

/* of gspo.h: pair_coef/D times the sum of log(1 + e^(-pair_beta (s_a - s_b))) over the D pairs of responses of one group with
 * reward_a - reward_b > pair_margin (AMIR-GRPO, 2601.03661) */
typedef enum {
    GRPO_PAIRS_NONE,
    GRPO_PAIRS_MARGIN,
    GRPO_PAIRS_MARGIN_ELSE_SIGN  /* where the step has no such pair pair_coef/N times the sum of log(1 + e^(-+s)) over its N responses with
                                    tokens that count, - where the reward is > 0 (TRPA, 2504.04524) */
} grpo_pairs_kind;
typedef enum {
    GRPO_PAIR_SCORE_REF,         /* s = mean of l - logp_ref over the response */
    GRPO_PAIR_SCORE_FREE         /* s = mean of l */
} grpo_pair_score_kind;

typedef struct {
    grpo_kl_kind kl;
    grpo_kl_against_kind kl_against;       /* the reference that D = l - x is from */
    grpo_kl_on_kind kl_on;
    grpo_kl_gradient_kind kl_gradient;
    grpo_kl_ratio_kind kl_ratio;
    double kl_ratio_max;                   /* u at most this, derivative 0 where it binds; 0: none */
    double kl_coef;
    double kl_clamp_log, kl_clamp_value;   /* |D| and |K| at most this, derivative 0 outside; 0: none */
    double entropy_coef;                   /* its gradient is grpo_output.dentropy */
    grpo_likelihood_kind likelihood_on;
    grpo_likelihood_weight_kind likelihood_weight;
    grpo_likelihood_form_kind likelihood_form;
    grpo_likelihood_gate_kind likelihood_gate;
    double likelihood_gain;                /* of teacher_gate */
    double likelihood_coef;
    grpo_pairs_kind pairs;
    grpo_pair_score_kind pair_score;
    double pair_margin;                    /* >= 0 */
    double pair_beta, pair_coef;
    double pair_gain;                      /* >= 0; not 0: pair_beta is so many times as much where reward_a > 0 (TRPA's kappa) */
} grpo_penalty;

/* the KL part.  logp_ref: of kl_against; token_ratio: e^d at the token (kl_ratio token); unit: the ratio of axis 3 (kl_ratio unit) */
GRPO_FN grpo_term grpo_kl_penalty(const grpo_penalty *p, double logp, double logp_ref, double token_ratio, double unit)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_kl_term k;
    grpo_dd D;
    double u;
    int in_log, moves = p->kl_ratio != GRPO_KL_RATIO_NONE;             /* is u differentiated? */
    if (p->kl == GRPO_KL_NONE || p->kl_coef == 0) return t;
    D = grpo_clamp(grpo_two_diff(logp, logp_ref), -p->kl_clamp_log, p->kl_clamp_log, &in_log);
    k = grpo_kl(p->kl, D);
    if (p->kl_gradient == GRPO_KL_GRADIENT_K2) k.derivative = D.hi;
    if (p->kl_gradient == GRPO_KL_GRADIENT_NONE || !in_log) k.derivative = 0;
    if (p->kl_clamp_value != 0 && fabs(k.value) > p->kl_clamp_value) {
        k.value = k.value < 0 ? -p->kl_clamp_value : p->kl_clamp_value;
        k.derivative = 0;
    }
    u = p->kl_ratio == GRPO_KL_RATIO_TOKEN ? token_ratio : p->kl_ratio == GRPO_KL_RATIO_UNIT ? unit : 1;
    if (p->kl_ratio_max != 0 && u > p->kl_ratio_max) { u = p->kl_ratio_max; moves = 0; }
    u *= p->kl_coef;
    t.value = grpo_times(u, k.value);
    t.d_logp = grpo_times(u, k.derivative);
    if (moves && p->kl_ratio == GRPO_KL_RATIO_UNIT) t.d_log_ratio = t.value;
    else if (moves) t.d_logp = grpo_plus(t.d_logp, t.value);                             /* du = u dl */
    return t;
}

/* u; logp_teacher: of teacher_gate */
GRPO_FN double grpo_likelihood_weight(const grpo_penalty *p, double logp, double logp_teacher)
{
    grpo_dd gap = { 0, 0 };
    switch (p->likelihood_weight) {
    case GRPO_LIKELIHOOD_WEIGHT_P:       return exp(logp);
    case GRPO_LIKELIHOOD_WEIGHT_P_NOT_P: return -grpo_times(exp(logp), expm1(logp));
    case GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE:
        if (p->likelihood_gain != 0) gap = grpo_dd_mul(grpo_two_diff(logp_teacher, logp), p->likelihood_gain);
        return grpo_sigmoid(gap).value;
    default:                             return 1;
    }
}

/* -u h and its derivative by l; logp_old: of form lost; logp_teacher: of teacher_gap and teacher_gate */
GRPO_FN grpo_term grpo_likelihood(const grpo_penalty *p, double logp, double logp_old, double logp_teacher)
{
    grpo_term t = { 0, 0, 0, GRPO_CLIP_NO };
    grpo_dd h = { 0, 0 };
    h.hi = logp;
    if (p->likelihood_form == GRPO_LIKELIHOOD_FORM_TEACHER_GAP) h = grpo_two_diff(logp, logp_teacher);
    if (p->likelihood_form == GRPO_LIKELIHOOD_FORM_LOST) h = grpo_two_diff(logp, logp_old);
    if (p->likelihood_form == GRPO_LIKELIHOOD_FORM_LOST && !(h.hi < 0)) return t;
    t.d_logp = -grpo_likelihood_weight(p, logp, logp_teacher);
    t.value = grpo_times(t.d_logp, h.hi);
    return t;
}

/* ======== axis 6: weight ==========================================================================================================
 * Which tokens and sequences count, and how much?  The surrogate is multiplied by M v g: v = importance weight of old over rollout
 * policy, g that of the policy over old, M = 0 for tokens dropped by trust, off_policy or selected, else 1; all detached. */

typedef enum { GRPO_TRUNCATED_KEEP, GRPO_TRUNCATED_MASK } grpo_truncated_kind;      /* mask: DAPO's overlong filtering */
typedef enum {
    GRPO_CORRECTION_NONE,
    GRPO_CORRECTION_TRUNCATE,    /* clip(v, low, high): TIS */
    GRPO_CORRECTION_MASK,        /* v inside [low, high], else 0: MIS, IcePop (2510.18855) */
    GRPO_CORRECTION_REJECT       /* 1 inside, else 0: rejection sampling */
} grpo_correction_kind;
typedef enum {
    GRPO_CORRECTION_TOKEN,           /* e^q_t, q = logp_old - logp_rollout */
    GRPO_CORRECTION_SEQUENCE_SUM,    /* e^(sum q) */
    GRPO_CORRECTION_SEQUENCE_MEAN,   /* e^(mean q), geometric */
    GRPO_CORRECTION_SEGMENT_SUM,     /* the same over t's segment */
    GRPO_CORRECTION_SEGMENT_MEAN
} grpo_correction_unit;
/* g, clipped to [drift_low, drift_high] */
typedef enum {
    GRPO_DRIFT_NONE,             /* 1 */
    GRPO_DRIFT_TOKEN,            /* e^(logp - logp_old) */
    GRPO_DRIFT_SEQUENCE_SUM,     /* e^(sum of logp - logp_old) (FlowRL, 2509.15207) */
    GRPO_DRIFT_SEQUENCE_MEAN     /* e^(mean of it) */
} grpo_drift_kind;
typedef enum {
    GRPO_CORRECTION_NORM_NONE,
    GRPO_CORRECTION_NORM_MEAN        /* v over its mean in the batch: of tokens, or of responses where the unit is one (verl) */
} grpo_correction_norm;
typedef enum {
    GRPO_REJECTED_ZERO_WEIGHT,   /* surrogate times 0; divisors and penalty keep the token (IcePop) */
    GRPO_REJECTED_UNMASK         /* the token leaves the mask altogether (verl) */
} grpo_rejected_kind;

/* which tokens are dropped; x = log-probability in the ratio's denominator, p = e^l, p0 = e^x, w and y of axis 3, lo = trust_low, hi =
 * trust_high */
typedef enum {
    GRPO_TRUST_NONE,
    GRPO_TRUST_ONE_SIDED,            /* A > 0 and w > 1 + hi, A < 0 and w < 1 - lo: where a PPO clip would bind */
    GRPO_TRUST_TWO_SIDED,            /* w outside [1 - lo, 1 + hi], whatever A */
    GRPO_TRUST_LOG_TWO_SIDED,        /* y outside [-lo, hi] */
    GRPO_TRUST_PROBABILITY,          /* A > 0 and p - p0 > hi, A < 0 and p0 - p > lo (DPPO-TV, 2602.04879) */
    GRPO_TRUST_PROBABILITY_BOTH,     /* |p - p0| > hi */
    GRPO_TRUST_BINARY_KL,            /* p moved the way A wants and KL((p0, 1 - p0) || (p, 1 - p)) > hi (A > 0) or lo (A < 0) (DPPO-KL) */
    GRPO_TRUST_K2,                   /* (l - x)^2/2 > hi */
    GRPO_TRUST_RING                  /* w outside [1 - lo, 1 + hi], but not where A >= 0 and w <= 1 - ring_low, or A <= 0 and w >= 1 +
                                        ring_high (REC, 2509.24203) */
} grpo_trust_kind;
typedef enum {
    GRPO_OFF_POLICY_NONE,
    GRPO_OFF_POLICY_OLD,         /* drop tokens with A < 0 where a sequence's mean of logp_old - logp is above off_policy_max (2512.02556) */
    GRPO_OFF_POLICY_ROLLOUT,     /* the same from logp_rollout */
    GRPO_OFF_POLICY_TOTAL_VARIATION  /* drop tokens with q A > 0 where a sequence's mean of |e^q - 1| is above it (VACO, 2603.01365) */
} grpo_off_policy_kind;
typedef enum {
    GRPO_SELECTED_ALL,
    GRPO_SELECTED_KEEP,          /* drop tokens without batch.selected (high-entropy tokens only, 2506.01939) */
    GRPO_SELECTED_DROP           /* drop tokens with it (Clip-Cov, 2505.22617) */
} grpo_selected_kind;

/* grounds for rejection besides the correction's band: a statistic of q, pooled over a unit, outside [reject_low, reject_high] */
typedef enum {
    GRPO_REJECT_NONE,
    GRPO_REJECT_RATIO,           /* e^(pooled q) */
    GRPO_REJECT_K2,              /* q^2/2 */
    GRPO_REJECT_K3,              /* e^q - 1 - q */
    GRPO_REJECT_PROBABILITY,     /* e^logp_old - e^logp_rollout */
    GRPO_REJECT_EXP_ABS          /* e^|q| (NeMo-RL's probability error of a sequence) */
} grpo_reject_kind;
typedef enum {
    GRPO_REJECT_TOKEN, GRPO_REJECT_SEQUENCE_SUM, GRPO_REJECT_SEQUENCE_MEAN, GRPO_REJECT_SEQUENCE_MAX,
    GRPO_REJECT_SEGMENT_SUM, GRPO_REJECT_SEGMENT_MEAN, GRPO_REJECT_SEGMENT_MAX
} grpo_reject_unit;

typedef enum {
    GRPO_FUTURE_NONE,
    GRPO_FUTURE_DECAYED          /* v times clip(e^F, future_low, future_high), F = sum over k >= t of 2^(-(k - t)/half_life) d_k,
                                    d = logp - logp_old; positions count, masked ones too (FIPO, 2603.19835) */
} grpo_future_kind;
typedef enum {
    GRPO_GIVEN_NONE,
    GRPO_GIVEN_POLICY,           /* batch.weight multiplies v */
    GRPO_GIVEN_TERM              /* batch.weight multiplies the whole term */
} grpo_given_kind;

typedef struct {
    grpo_truncated_kind truncated;
    grpo_trust_kind trust;
    double trust_low, trust_high;
    double ring_low, ring_high;
    grpo_off_policy_kind off_policy;
    double off_policy_max;
    grpo_selected_kind selected;
    grpo_correction_kind correction;
    grpo_correction_unit correction_unit;
    double correction_low, correction_high;
    double correction_clamp;                  /* |q| at most this; 0: none */
    grpo_correction_norm correction_norm;
    grpo_drift_kind drift;
    double drift_low, drift_high;
    grpo_reject_kind reject;
    grpo_reject_unit reject_unit;
    double reject_low, reject_high;
    double veto;                              /* a sequence with a token e^q below this is rejected whole; 0: none */
    grpo_rejected_kind rejected;
    grpo_future_kind future;
    double future_half_life;                  /* tokens */
    double future_max;                        /* tokens with e^d above this add nothing to F; 0: none */
    double future_low, future_high;
    double future_safe;                       /* A < 0 and e^d above this: the factor is clipped to the next two as well; 0: never */
    double future_safe_low, future_safe_high;
    grpo_given_kind given;
} grpo_weight;

/* 0: dropped.  w: of axis 3; logp_old: in its denominator */
GRPO_FN int grpo_trusts(const grpo_weight *c, grpo_ratio w, double advantage, double logp, double logp_old)
{
    const grpo_range range = grpo_clip_range(c->trust_low, c->trust_high);
    const int above = w.log > range.log_high, below = w.log < range.log_low, up = advantage > 0, down = advantage < 0;
    grpo_range outer;
    grpo_dd y, d;
    double change;
    switch (c->trust) {
    case GRPO_TRUST_NONE: break;
    case GRPO_TRUST_ONE_SIDED: return !(up && above) && !(down && below);
    case GRPO_TRUST_TWO_SIDED: return !above && !below;
    case GRPO_TRUST_LOG_TWO_SIDED:
        y.hi = w.log; y.lo = w.log_lo;
        return !grpo_dd_exceeds(y, c->trust_high) && !grpo_dd_exceeds(grpo_dd_negative(y), c->trust_low);
    case GRPO_TRUST_PROBABILITY:
        change = grpo_probability_change(logp, logp_old);
        return !(up && change > c->trust_high) && !(down && -change > c->trust_low);
    case GRPO_TRUST_PROBABILITY_BOTH: return !(fabs(grpo_probability_change(logp, logp_old)) > c->trust_high);
    case GRPO_TRUST_BINARY_KL:
        if (up && logp > logp_old) return !(grpo_binary_kl(logp, logp_old) > c->trust_high);
        return !(down && logp < logp_old && grpo_binary_kl(logp, logp_old) > c->trust_low);
    case GRPO_TRUST_K2:
        d = grpo_two_diff(logp, logp_old);
        return !(0.5 * d.hi * d.hi > c->trust_high);
    case GRPO_TRUST_RING:
        outer = grpo_clip_range(c->ring_low, c->ring_high);
        if (!down && outer.low >= 0 && !(w.log > outer.log_low)) return 1;
        return (!above && !below) || (!up && !(w.log < outer.log_high));
    }
    return 1;
}

/* the statistic of a token; q = old - rollout after its clamp */
GRPO_FN grpo_dd grpo_reject_statistic(grpo_reject_kind kind, grpo_dd q, double logp_old, double logp_rollout)
{
    grpo_dd s = { 0, 0 };
    switch (kind) {
    case GRPO_REJECT_NONE:        break;
    case GRPO_REJECT_RATIO:       return q;
    case GRPO_REJECT_K2:          s.hi = 0.5 * q.hi * q.hi; break;
    case GRPO_REJECT_K3:          s.hi = grpo_exp_minus_linear(q); break;
    case GRPO_REJECT_PROBABILITY: s.hi = grpo_probability_change(logp_old, logp_rollout); break;
    case GRPO_REJECT_EXP_ABS:     s.hi = grpo_exp(q.hi < 0 ? grpo_dd_negative(q) : q); break;
    }
    return s;
}

/* is the pooled statistic inside its bounds? */
GRPO_FN int grpo_accepts(const grpo_weight *c, grpo_dd pooled)
{
    switch (c->reject) {
    case GRPO_REJECT_NONE:  return 1;
    case GRPO_REJECT_RATIO: return !(pooled.hi < log(c->reject_low)) && !(pooled.hi > log(c->reject_high));
    default:                return pooled.hi >= c->reject_low && pooled.hi <= c->reject_high;
    }
}

typedef struct { double value; int inside; } grpo_corrected;      /* the weight, and whether v was inside [low, high] */

/* v must be e^log_v; comparisons are made on the logarithm */
GRPO_FN grpo_corrected grpo_correct(const grpo_weight *c, grpo_ratio v)
{
    grpo_corrected r;
    int below = v.log < log(c->correction_low), above = v.log > log(c->correction_high);
    r.inside = !below && !above;
    switch (c->correction) {
    case GRPO_CORRECTION_TRUNCATE: r.value = below ? c->correction_low : above ? c->correction_high : v.value; break;
    case GRPO_CORRECTION_MASK:     r.value = r.inside ? v.value : 0; break;
    case GRPO_CORRECTION_REJECT:   r.value = r.inside ? 1 : 0; break;
    default:                       r.value = 1; r.inside = 1; break;
    }
    return r;
}

/* g of a log-ratio */
GRPO_FN double grpo_drift(const grpo_weight *c, grpo_dd log_ratio)
{
    double g = grpo_exp(log_ratio);
    return g < c->drift_low ? c->drift_low : g > c->drift_high ? c->drift_high : g;
}

/* the decay of F from one position to the next, 2^(-1/half_life) */
GRPO_FN grpo_dd grpo_future_decay(double half_life)
{
    grpo_dd ln2 = { 6.93147180559945286e-01, 2.31904681384629956e-17 };
    return grpo_exp_twice(grpo_dd_negative(grpo_dd_div(ln2, half_life)));
}

/* FIPO's factor on v, from F; token_ratio: e^d */
GRPO_FN double grpo_future_weight(const grpo_weight *c, grpo_dd future, double token_ratio, double advantage)
{
    double f = grpo_exp(future);
    f = f < c->future_low ? c->future_low : f > c->future_high ? c->future_high : f;
    if (!(advantage < 0 && c->future_safe != 0 && token_ratio > c->future_safe)) return f;
    return f < c->future_safe_low ? c->future_safe_low : f > c->future_safe_high ? c->future_safe_high : f;
}

/* ======== axis 7: aggregation =====================================================================================================
 * Divided by what?  loss = sum of terms times the coefficient.  N sequences, T_i tokens that count, C = constant. */

typedef enum {
    GRPO_TOKEN_SUM,                  /* 1 */
    GRPO_TOKEN_MEAN,                 /* 1/sum T (DAPO) */
    GRPO_SEQ_MEAN_TOKEN_MEAN,        /* 1/(N T_i) (GRPO, GSPO) */
    GRPO_SEQ_MEAN_TOKEN_SUM,         /* 1/N */
    GRPO_SEQ_MEAN_CONSTANT,          /* 1/(N C) (Dr.GRPO) */
    GRPO_CONSTANT,                   /* 1/C (verl's seq-mean-token-sum-norm) */
    GRPO_GROUP_MEAN_TOKEN_MEAN,      /* 1/(groups * tokens of the group) (ScaleRL's prompt average) */
    GRPO_SEQ_MEAN_LENGTH_POWER,      /* T_i^(power - 1)/N: token mean at power 0, token sum at 1 */
    GRPO_SEQ_SUM_TOKEN_MEAN,         /* 1/T_i */
    GRPO_GROUP_MEAN,                 /* 1/(groups * T_i): mean over groups of the sum over responses of token means (GVPO, REAL) */
    GRPO_GROUP_MEAN_SEQ_MEAN,        /* 1/(groups * responses of the group * T_i) */
    GRPO_TOKEN_MEAN_BY_SIGN,         /* 1/(tokens with A > 0) at those, 1/(the others) at the others (OREAL, 2502.06781, as xtuner) */
    GRPO_SEQ_MEAN_SEGMENT_MEAN,      /* 1/(N K_i n), K_i segments with tokens that count, n of them in t's segment (RLinf's turns) */
    GRPO_SEQ_MEAN_BY_SIGN,           /* 1/(T_i n), n the responses of i's sign: A > 0 at the first token that counts, or not (VPD, 2605.15113) */
    GRPO_TOKEN_MEAN_VARIED           /* 1/(tokens of groups with max - min of batch.reward > 1e-6), of every token (DAPO-ZV); 1 if none */
} grpo_aggregation_kind;
typedef enum { GRPO_EMPTY_COUNT, GRPO_EMPTY_SKIP } grpo_empty_kind;      /* do sequences (groups) without tokens count in N? */

typedef struct {
    grpo_aggregation_kind kind;
    double constant;
    double power;
    grpo_empty_kind empty;
} grpo_aggregation;

/* ======== the objective ========================================================================================================== */

typedef struct {
    grpo_reward reward;
    grpo_advantage advantage;
    grpo_ratio_axis ratio;
    grpo_surrogate surrogate;
    grpo_penalty penalty;
    grpo_weight weight;
    grpo_aggregation aggregation;
} grpo_objective;

/* a field of grpo_objective by its path, "surrogate.eps_high" */
typedef struct {
    const char *path;
    const char *choices;     /* "none|soft|linear" in the order of the enum; NULL for a number */
    size_t offset;           /* into grpo_objective: of an enum, or of a double */
} grpo_field;

#ifndef GRPO_NO_ROWS
/* a published objective.  paper: arXiv id where there is one; equations: its numbers, or what it calls them.  What a row sets are the
 * fields whose grpo_objective_get of its grpo_objective_of is not 0: all else is the first choice or 0. */
typedef struct { const char *name, *paper, *equations, *summary; } grpo_preset;
const grpo_preset *grpo_presets(int *count);
grpo_objective grpo_objective_of(const grpo_preset *preset);                         /* of one of grpo_presets */
grpo_status grpo_objective_named(const char *name, grpo_objective *obj);
#endif
const grpo_field *grpo_fields(int *count);
grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value);              /* a number, or a choice by number */
grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice);
double      grpo_objective_get(const grpo_objective *obj, const grpo_field *field);
grpo_status grpo_objective_check(const grpo_objective *obj);     /* what every call checks first: are the numbers of the axes sound? */
const char *grpo_status_text(grpo_status st);

/* ======== the batch ===============================================================================================================
 * Caller's arrays, never copied.  Group g (a prompt) is the sequences group_begin[g] .. group_begin[g+1]-1; sequence i (a response) is
 * the tokens offset[i] .. offset[i]+length[i]-1 of every token array: padded and packed layouts are both views.
 *
 * -inf log-probabilities stand for -K with one K -> infinity: -inf - -inf is 0, infinite log-ratios of opposite sign in one sum
 * cancel in pairs, e^-inf times inf is 0.  NaN or +inf at an unmasked token is an error.
 * A sequence may be empty or fully masked; it still counts in its group's statistics. */

#define GRPO_MAX_REWARDS 16

typedef struct {
    int64_t n_groups;
    const int64_t *group_begin;       /* (n_groups + 1) */
    const int64_t *offset, *length;   /* (sequences), in tokens, prompt excluded, masked tokens included */
    int64_t n_tokens;                 /* elements of each token array */
    /* per token */
    const grpo_real *logp;            /* under the policy being trained */
    const grpo_real *logp_old;        /* under the policy at the start of the update */
    const grpo_real *logp_ref;        /* under the frozen reference */
    const grpo_real *logp_rollout;    /* under the engine that sampled */
    const grpo_real *logp_teacher;    /* under a teacher; read by penalty.kl_against, likelihood_* and, finite, by advantage.teacher_* */
    const grpo_real *entropy;         /* nats; reported; read by advantage.entropy and penalty.entropy_coef */
    const grpo_real *value;           /* critic */
    const grpo_real *step_reward;     /* read where step_end */
    const uint8_t *step_end;          /* last token of a step; segments end there too, masked tokens' flags count for them */
    const uint8_t *mask;              /* 0: the token takes part in nothing; NULL: all count */
    const uint8_t *selected;          /* by entropy, covariance, at random ...: read by weight.selected, penalty.kl_on, likelihood_on,
                                         advantage.marked and surrogate.kind shaped */
    const int64_t *state;             /* where the step started from (an observation, a node of a prefix tree ...): read where step_end;
                                         for advantage.credit prefix_tree what the token is: read everywhere */
    const grpo_real *probability_squares;     /* sum over the vocabulary of the squared probabilities under the old policy */
    /* per sequence */
    const grpo_real *reward;
    const grpo_real *rewards;         /* (sequences, n_rewards); read where advantage.rewards is each */
    int64_t n_rewards;                /* 1 .. GRPO_MAX_REWARDS */
    const grpo_real *reward_weight;   /* (n_rewards); NULL: all 1 */
    const uint8_t *truncated;         /* generation was cut off */
    const uint8_t *outside;           /* read by advantage.outside; NULL: nobody */
    /* per group */
    const grpo_real *baseline;
    const grpo_real *log_z;           /* log of the partition function, learned (surrogate balance) */
    /* per token */
    const grpo_real *weight;          /* finite, not negative; read by weight.given */
    const grpo_real *clip_low, *clip_high;    /* 0 <= clip_low <= 1, 0 <= clip_high: of surrogate.bounds given */
} grpo_batch;

/* what the divisors count; add up over micro-batches and ranks, every number by itself (those of the exact sum too: grpo_count leaves it
 * with room for two thousand million ranks) */
typedef struct {
    int64_t tokens;                                 /* that count */
    int64_t sequences, sequences_nonempty;
    int64_t groups, groups_nonempty;
    int64_t ranks;                                  /* loss and gradient are multiplied by it, for trainers that average gradients over ranks; 0: 1 */
    int64_t positive_tokens, positive_sequences;    /* with A > 0, at the first token that counts, where aggregation.kind asks */
    int64_t varied_tokens;                          /* of groups whose rewards differ, where aggregation.kind asks */
    int64_t likelihood_tokens, pairs;               /* the D of penalty.likelihood_on and penalty.pairs */
    int64_t weights;                                /* correction weights, for their mean (weight.correction_norm) */
    grpo_sum weight;                                /* their sum */
} grpo_totals;

typedef struct {
    double loss, policy_loss, penalty_loss;
    int64_t tokens, sequences, groups;              /* that count; sequences and groups with at least one token */
    int64_t masked_tokens, rejected_tokens;
    int64_t degenerate_groups;                      /* whose every advantage is 0 */
    double clip_fraction, clip_low, clip_high, clip_dual;   /* of tokens whose gradient the clip changed, or trust or off_policy dropped */
    double ratio_mean, ratio_min, ratio_max;
    double ess;                                     /* (sum w)^2 / (n sum w^2), ratios above 2^500 counted as 2^500 */
    double old_k1, old_k3;                          /* estimates of KL(old || policy) */
    double kl_k1, kl_k2, kl_k3;                     /* of KL(policy || reference) */
    double entropy;
    double weight_mean;                             /* of the rollout correction */
    int overflow;                                   /* 1 if a number here, or in an array that was asked for, is beyond the largest one
                                                       and so an infinity */
} grpo_report;

enum { GRPO_SUM_POLICY, GRPO_SUM_PENALTY, GRPO_SUM_RATIO, GRPO_SUM_RATIO_EXCESS, GRPO_SUM_RATIO_SQUARED, GRPO_SUM_OLD_K1, GRPO_SUM_OLD_K3,
       GRPO_SUM_KL_K1, GRPO_SUM_KL_K2, GRPO_SUM_KL_K3, GRPO_SUM_ENTROPY, GRPO_SUM_WEIGHT, GRPO_SUM_LIKELIHOOD, GRPO_SUM_PAIRS, GRPO_N_SUMS };

/* what the sums of the loss are divided or multiplied by; the same in all parts */
typedef struct {
    double divisor, factor;                         /* of all terms; ranks */
    double by_sign[2];                              /* divisors of the terms, or responses, with A <= 0 and A > 0, where they differ */
    double likelihood, pairs;                       /* coef/D */
    int alone;                                      /* there is no pair: `pairs` is coef/N */
    grpo_dd norm;                                   /* mean of the correction weights, 0: none */
    double norm_top;                                /* an infinite weight over an infinite mean */
} grpo_scales;

/* an evaluation in progress: exact, so that parts merge to the bits of the whole.  Zero-initialise. */
typedef struct {
    grpo_sum sum[GRPO_N_SUMS];
    grpo_scales scales;                             /* divisor 0: nothing has been added yet */
    int64_t tokens, sequences, groups, masked_tokens, rejected_tokens, degenerate_groups;
    int64_t ratio_tokens, weight_tokens;            /* that have a ratio, a correction weight */
    int64_t clips[4];                               /* by grpo_clip_side */
    double ratio_min, ratio_max;
    int overflow;
} grpo_partial;

/* values and their exact sums */
typedef struct {
    grpo_sum sum, squares;
    grpo_dd min, max;
    int64_t count;
} grpo_values;

/* batch-wide statistics of the advantage axis; exact, parts merge by being added to the same object.  Zero-initialise. */
typedef struct {
    grpo_values values;                             /* items, R - b, a, A or the prompts' means, by advantage.scale and second */
    grpo_sum rest, rest_squares, rest_cross;        /* of the part of A that no gain multiplies (KL, critic), and with values */
    grpo_sum column[GRPO_MAX_REWARDS];              /* items, for baseline batch_mean */
    grpo_sum length;                                /* T^-p, for gain length_power */
    grpo_sum entropy, divergence;                   /* over the tokens, for entropy relative and kl_centred_coef */
    int64_t tokens;
    int64_t items, sequences, sequences_nonempty, degenerate_sequences, nonzero_items;
} grpo_moments;

/* what to write, each may be NULL; no array of the batch, nor the advantages.  Zero-initialise. */
typedef struct {
    grpo_real *dlogp, *dentropy, *term;             /* per token: d loss/d logp, d loss/d entropy, the token's loss before aggregation */
    grpo_real *dlog_z;                              /* per group: d loss/d batch.log_z */
    double *scratch;                                /* room to work in, for objectives of gspo.h that look at a group as a whole */
    int64_t scratch_size;                           /* its elements, gspo_scratch of them at least */
} grpo_output;

/* ======== functions =============================================================================================================== */

/* rewards -> advantage (per token, 0 where masked) */
grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage);

/* advantages, log-probabilities -> loss, what `out` asks for (NULL: nothing), report.  totals: from grpo_count over all parts, NULL if
 * this batch is all there is.  Outputs are written at every token of every sequence (dlog_z: for every group), 0 where it does not count. */
grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report);

/* DAPO's dynamic-sampling test: keep[g] = the rewards of group g are not all equal */
grpo_status grpo_informative(const grpo_batch *batch, uint8_t *keep);

/* In parts (micro-batches, threads, ranks; groups are never cut).  First add every part's counts, and moments where the advantage axis
 * looks at the whole batch (baseline batch_mean, scale batch_*, beta or token_whiten, gain, second, entropy relative, kl_centred_coef);
 * then evaluate every part; then merge.
 * grpo_count reads advantages, which may else be NULL, for aggregation *_by_sign and likelihood_on positive and not_negative, and
 * batch.reward for token_mean_varied, likelihood_on correct and pairs. */
grpo_status grpo_count(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals);
grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments);
grpo_status grpo_advantages_with(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments, grpo_real *advantage);
grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial);
grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from);
void        grpo_report_of(const grpo_partial *partial, grpo_report *report);

/* ======== selection, control, sampling ============================================================================================
 * Pure functions beside the objective, in exact statistics: comparisons are those of the exact quantities (barring underflow), ties go
 * to the token that comes first in the order of sequences and tokens.  Tokens are those of the mask; no weight axis acts.  What is
 * written per token is laid out as the batch is, and 0 at masked tokens; `selected` is fit for batch.selected.  Every number must be
 * finite: a scalar function given another, or one out of range, returns NaN. */

/* the adaptive KL coefficient (1909.08593): kl_coef (1 + clip(kl/target - 1, -0.2, 0.2) steps/horizon); target, horizon > 0, steps >= 0 */
GRPO_FN double grpo_kl_control(double kl_coef, double kl, double target, double steps, double horizon)
{
    double e, m, s, h;
    int em, es, eh;
    if (!grpo_is_finite(kl_coef) || !grpo_is_finite(kl) || !(target > 0 && steps >= 0 && horizon > 0)) return NAN;
    if (!grpo_is_finite(target) || !grpo_is_finite(steps) || !grpo_is_finite(horizon)) return NAN;
    e = grpo_two_diff(kl, target).hi / target;                          /* kl/target - 1 would cancel, and steps/horizon multiply it */
    e = e < -0.2 ? -0.2 : e > 0.2 ? 0.2 : e;
    m = frexp(kl_coef, &em); s = frexp(steps, &es); h = frexp(horizon, &eh);      /* no overflow meets an underflow */
    return kl_coef + ldexp(m * e * s / h, em + es - eh);
}

/* adaptive entropy (Skywork-OR1, 2505.22312): coef moves by delta, up where entropy < target, and is used there only.  inclusive: <=,
 * as TRL; the official code is strict.  low <= high */
typedef struct { double coef, used; } grpo_entropy_coef;

GRPO_FN grpo_entropy_coef grpo_entropy_control(double coef, double entropy, double target, double delta, double low, double high,
                                               int inclusive)
{
    const int below = inclusive ? entropy <= target : entropy < target;
    const double moved = below ? coef + delta : coef - delta;
    grpo_entropy_coef r = { NAN, NAN };
    if (!grpo_is_finite(coef) || !grpo_is_finite(entropy) || !grpo_is_finite(target) || !grpo_is_finite(delta)) return r;
    if (!grpo_is_finite(low) || !grpo_is_finite(high) || low > high) return r;
    r.coef = moved < low ? low : moved > high ? high : moved;
    r.used = below ? r.coef : 0;
    return r;
}

/* smooth advantage standardisation (DCPO, 2509.02333): at visit i >= 1 of a prompt, of ((i-1) fresh + total)/i and
 * (fresh + (i-1) total)/i the one that is smaller in magnitude, the second if they are equal */
GRPO_FN double grpo_smooth_advantage(int64_t visits, double fresh, double total)
{
    const double i = (double)visits, past = (double)(visits - 1);
    int side;
    if (visits < 1 || !grpo_is_finite(fresh) || !grpo_is_finite(total)) return NAN;
    side = ((fresh > total) - (fresh < total)) * ((fresh > -total) - (fresh < -total));   /* |a| < |b| iff (a - b)(a + b) < 0, which is */
    if (visits == 1) side = -side;                                                        /* (i - 2)(fresh - total)(fresh + total)/i */
    if (visits != 2 && side < 0) return past / i * fresh + total / i;
    return fresh / i + past / i * total;
}

/* mean and variance over all visits of a prompt, this one (the i-th) included (DCPO's code): ((i-1) mean + observed mean)/i and
 * ((i-1) variance + observed variance + ((i-1)/i)(observed mean - mean)^2)/i */
typedef struct { double mean, variance; } grpo_mean_variance;

GRPO_FN grpo_mean_variance grpo_running_moments(int64_t visits, grpo_mean_variance before, grpo_mean_variance observed)
{
    const double i = (double)visits;
    grpo_mean_variance r = { NAN, NAN };
    grpo_dd past = { 0, 0 }, x = { 0, 0 }, d;
    if (visits < 1 || !grpo_is_finite(before.mean) || !grpo_is_finite(before.variance)) return r;
    if (!grpo_is_finite(observed.mean) || !grpo_is_finite(observed.variance)) return r;
    if (visits == 1) return observed;
    past.hi = (double)(visits - 1);
    past = grpo_dd_div(past, i);
    x.hi = observed.mean;
    r.mean = grpo_dd_add(grpo_dd_mul(past, before.mean), grpo_dd_div(x, i)).hi;
    d = grpo_two_diff(observed.mean, before.mean);
    x.hi = observed.variance;
    x = grpo_dd_add(grpo_dd_mul(past, before.variance), grpo_dd_div(x, i));
    r.variance = grpo_dd_add(x, grpo_dd_product(grpo_dd_div(grpo_dd_product(past, d), i), d)).hi;
    return r;
}

/* tokens at or above the (1 - fraction) quantile of `by` (n_tokens; batch.entropy, batch.logp ...), linearly interpolated at position
 * (1 - fraction)(n - 1), 1 - fraction as a double (2506.01939) */
grpo_status grpo_select_top(const grpo_batch *batch, const grpo_real *by, double fraction, uint8_t *selected);

/* the `count` largest of `by`, all if there are fewer (KL-Cov, 2505.22617, by grpo_covariance) */
grpo_status grpo_select_largest(const grpo_batch *batch, const grpo_real *by, int64_t count, uint8_t *selected);

/* the first `count` tokens in `order` that have low < by < high and are not `excluded` (n_tokens; NULL: none are): Clip-Cov (2505.22617)
 * by grpo_covariance.  order: a permutation of 0 .. (sum of batch.length) - 1, which count the tokens through the sequences, masked
 * ones too; a repeated entry is found by a 64-bit checksum.  selected and excluded are not the same array */
grpo_status grpo_select_between(const grpo_batch *batch, const grpo_real *by, double low, double high, const uint8_t *excluded,
                                const int64_t *order, int64_t count, uint8_t *selected);

/* M2PO: with delta^2 in ascending order, its longest prefix whose mean is below a threshold > 0 */
typedef enum {
    GRPO_SECOND_MOMENT_ALL,       /* delta = logp_rollout - logp_old; mean < threshold, at least one token (AReaL) */
    GRPO_SECOND_MOMENT_DRIFTING   /* delta = logp - logp_old, only of tokens where its sign is that of the advantage; mean <= threshold;
                                     all other tokens are selected (2510.01161 as Trinity-RFT) */
} grpo_second_moment_form;

/* advantage (n_tokens): read by form drifting */
grpo_status grpo_select_second_moment(const grpo_batch *batch, const grpo_real *advantage, grpo_second_moment_form form, double threshold,
                                      uint8_t *selected);

/* (A - mean A)(logp - mean logp) (n_tokens), means over the mask (2505.22617) */
grpo_status grpo_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *covariance);

/* BAPO's bounds of the clip (2510.18927, official code): with v = min(w, high) if A >= 0, max(w, low) if A < 0, P = sum of v A > 0, Q that
 * of the others' |v A| and rho = P/Q, infinite if Q = 0: while rho < target and low < low_max, low := min(low + step, low_max); then high
 * likewise.  Published: 0.6, 1.2, 0.8, 2, 0.05, 1.  One pass over the batch for every step */
typedef struct { double low, high, low_max, high_max, step, target; } grpo_balance;
typedef struct { double low, high; } grpo_bounds;

grpo_status grpo_balanced_bounds(const grpo_batch *batch, const grpo_real *advantage, const grpo_balance *balance, grpo_bounds *bounds);

/* keep[g] (n_groups) = low < mean reward of group g < high (OpenRLHF, torchrl, ROLL) */
grpo_status grpo_keep_between(const grpo_batch *batch, double low, double high, uint8_t *keep);

/* weight (sequences) = |reward|^power + eps, both >= 0 (PF-PPO, as verl: 2, 1e-8) */
grpo_status grpo_resampling_weights(const grpo_batch *batch, double power, double eps, double *weight);

/* index (draws): the smallest j with weight[0] + ... + weight[j] > uniform sum weight; weight (n), uniform (draws) in [0, 1) */
grpo_status grpo_resample(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index);

/* score (n_groups) = sum over the responses of |A| at their first unmasked token, times the sample standard deviation of the rewards, 0
 * for one response (TRL's replay buffer) */
grpo_status grpo_replay_score(const grpo_batch *batch, const grpo_real *advantage, double *score);

/* ======== beside the axes =========================================================================================================
 * More functions under the rules of the section before: of the critic, of log-probabilities, rewards and advantages, which stand before
 * the axes, then selection, control and sampling again.  Arrays of (sequences) are numbered as batch.reward is, of (n_tokens) as
 * batch.logp; what is read of them must be finite and at most 1e150 in magnitude, at masked tokens nothing is. */

/* ---- the critic ---- */

/* (V - R)^2/2 or, where that is larger, (v - R)^2/2 with v = clamp(V, Vold - clip, Vold + clip), as exact comparisons tell (PPO, as verl);
 * slope: d loss/d V, 0 where the second is.  clip 0: none */
typedef struct { double loss, slope; int clipped; } grpo_value_term;

GRPO_FN grpo_value_term grpo_value_square(double value, double value_old, double returns, double clip)
{
    grpo_dd error = grpo_two_diff(value, returns), bound = { 0, 0 }, other, sides;
    grpo_value_term x;
    const int above = clip > 0 && grpo_dd_exceeds(grpo_dd_add(grpo_two_diff(value, value_old), grpo_two_diff(0, clip)), 0);
    const int below = clip > 0 && grpo_dd_exceeds(grpo_dd_add(grpo_two_diff(value_old, value), grpo_two_diff(0, clip)), 0);
    bound = grpo_two_sum(value_old, above ? clip : -clip);
    other = grpo_dd_add(bound, grpo_two_diff(0, returns));
    sides = grpo_dd_add(grpo_two_sum(value, value_old), grpo_two_sum(above ? clip : -clip, -2 * returns));
    x.clipped = (above && sides.hi < 0) || (below && sides.hi > 0);     /* |v - R| > |V - R|: V + v - 2R has the sign of v - V */
    x.loss = grpo_dd_mul(x.clipped ? grpo_dd_product(other, other) : grpo_dd_product(error, error), 0.5).hi;
    x.slope = x.clipped ? 0 : error.hi;
    return x;
}

/* aggregated over the mask as axis 7 says, but for token_mean_by_sign, token_mean_varied and segments; dvalue (n_tokens; NULL: not wanted):
 * d loss/d value, 0 where masked.  clip_fraction: share of tokens whose clipped square is the larger one.  value_old is read if clip > 0 */
typedef struct { double loss, clip_fraction; } grpo_value_report;

grpo_status grpo_value_loss(const grpo_batch *batch, const grpo_real *value, const grpo_real *value_old, const grpo_real *returns,
                            double clip, const grpo_aggregation *aggregation, grpo_real *dvalue, grpo_value_report *report);

/* ---- log-probabilities ---- */

/* the proximal policy between the one that sampled, `lag` versions ago, and the present one (AReaL, RLinf): with
 * alpha = (lag - 1)/lag, 0 for lag 0, in log-probabilities b and l */
typedef enum {
    GRPO_PROXIMAL_LOG_LINEAR,     /* b + alpha (l - b) */
    GRPO_PROXIMAL_LINEAR          /* log((1 - alpha) e^b + alpha e^l); their 1e-10 in the log is left out */
} grpo_proximal_form;

GRPO_FN double grpo_proximal(grpo_proximal_form form, double logp, double behaviour, int64_t lag)
{
    const double n = (double)lag, most = n - 1;
    grpo_dd x = grpo_two_diff(logp, behaviour), y = { 0, 0 };
    double change;
    if (lag <= 1 || logp == behaviour) return behaviour;
    if (form == GRPO_PROXIMAL_LOG_LINEAR) {
        y.hi = behaviour;
        return grpo_dd_div(grpo_dd_add(y, grpo_two_prod(logp, most)), n).hi;
    }
    if (x.hi > 0) return logp + log1p(grpo_exp_minus_one(grpo_dd_negative(x)) / n);
    change = most / n * grpo_exp_minus_one(x);
    return behaviour + (change > -0.5 ? log1p(change) : log((1 + most * grpo_exp(x)) / n));
}

/* logp_old (n_tokens) from batch.logp and batch.logp_rollout, 0 where masked; version now, behaviour_version (n_tokens) when the token was
 * sampled, neither negative */
grpo_status grpo_proximal_logp(const grpo_batch *batch, int64_t version, const int64_t *behaviour_version, grpo_proximal_form form,
                               grpo_real *logp_old);

/* ---- rewards and weights of responses ---- */

/* weight (sequences) = w N/sum w, w = (0.5 + 1.5 clamp(difficulty, 0, 1)) (1.5 - (T - Tmin)/(Tmax - Tmin)), the second factor 1.5 where
 * Tmax = Tmin (ROLL; its 1e-8 are left out); T: unmasked tokens of the response, Tmin and Tmax over the batch.  difficulty (sequences;
 * NULL: without the first factor); by_length: with the second */
grpo_status grpo_sample_weights(const grpo_batch *batch, const double *difficulty, int by_length, double *weight);

/* reward (sequences) = r - rbar (output_coef output/max output + input_coef input/max input + turns_coef turns/max turns), mean and
 * maxima over the group, 0 for a quotient whose maximum is 0 (prime-rl's linear length penalty: 0.25, 0.1, 0.1; it counts, and has
 * max(1, maximum)).  output, input: tokens of the response and of what it was conditioned on; none is negative */
typedef struct {
    const double *output, *input, *turns;       /* (sequences) */
    double output_coef, input_coef, turns_coef;
} grpo_cost;

grpo_status grpo_relative_cost(const grpo_batch *batch, const grpo_cost *cost, grpo_real *reward);

/* shaped (n) = reward_i/(sum_j similarity_ij + eps) (DRA-GRPO, 2505.09655, official code: 1e-6); similarity (n, n), itself included;
 * shaped may be reward */
grpo_status grpo_diversity_reward(const double *reward, const double *similarity, int64_t n, double eps, double *shaped);

/* ---- advantages ---- */

/* key tokens (KTAE, 2505.16826, official code): of an id, with a and b of the group's responses with reward > 0 and <= 0 that have it, c
 * and d that do not, n of its copies among the L tokens of either kind of response,
 *     key = top tanh(x/2),  x = (fisher f + gain IG) h/(fisher + gain)
 *     f = e^-2p, 0 where p = 1: p the two-sided p-value of Fisher's exact test of (a b; c d)
 *     IG = H(y) - H(y|x) in bits, y: is the response right, x: does it have the id
 *     h = asin sqrt(a/(a + c + 1e-10)) - asin sqrt(b/(b + d + 1e-10)), + tf/(tf' + 1e-5) - tf'/(tf + 1e-5) if frequency,
 *     tf = 3 q/(q + 1 + 2 L/(L + L')) of the right ones and tf' of the wrong, q = n/L
 * 0 for the id `ignored` (-1: none is; theirs: the end of a response) and in groups that are all right or all wrong.  To be added to
 * the advantages */
typedef struct {
    double fisher, gain, top;                   /* published: 1, 1, 1 */
    int frequency;
    int64_t ignored;
} grpo_key_measure;

typedef struct { int64_t token, sequence, slot; } grpo_token_place;

/* key, token (n_tokens): ids; scratch (capacity): as many as the largest group has unmasked tokens, n_tokens suffice */
grpo_status grpo_key_tokens(const grpo_batch *batch, const int64_t *token, const grpo_key_measure *measure, grpo_token_place *scratch,
                            int64_t capacity, grpo_real *key);

/* one token's share of the Jensen-Shannon divergence (Trinity-RFT): beta p (log p - log m) + (1 - beta) q (log q - log m), p = e^teacher,
 * q = e^student, m = beta p + (1 - beta) q; 0 for beta 0 or 1 */
GRPO_FN double grpo_jensen_shannon(double teacher, double student, double beta)
{
    const double rest = 1 - beta;
    grpo_dd d = grpo_two_diff(teacher, student), back = grpo_dd_negative(d);
    double of_teacher = rest * grpo_exp_minus_one(back), of_student = beta * grpo_exp_minus_one(d);      /* m/p - 1, m/q - 1 */
    if (!(beta > 0 && beta < 1)) return 0;
    if (of_teacher < -0.5) of_teacher = log(beta + rest * grpo_exp(back));
    else of_teacher = grpo_is_finite(of_teacher) ? log1p(of_teacher) : back.hi + log(rest);
    if (of_student < -0.5) of_student = log(rest + beta * grpo_exp(d));
    else of_student = grpo_is_finite(of_student) ? log1p(of_student) : d.hi + log(beta);
    return grpo_plus(-grpo_times(beta * exp(teacher), of_teacher), -grpo_times(rest * exp(student), of_student));
}

/* advantage (n_tokens) = -coef times that of batch.logp_teacher and batch.logp_old */
grpo_status grpo_jsd_advantage(const grpo_batch *batch, double beta, double coef, grpo_real *advantage);

/* shaped (n_tokens) = (1 - alpha) A + alpha c_i e^(tempered - logp_old), alpha = m/(p + m), m = min(|entropy_base - entropy|, 0.1), p the
 * share of the batch's responses with c_i = correct (sequences) true; A itself where p = 0 (DCPO, distribution-centric, official code).
 * tempered (n_tokens): logp_old at temperature 1.2 if entropy <= entropy_base, else 0.8; shaped may be advantage */
grpo_status grpo_distribution_advantage(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *tempered,
                                        const uint8_t *correct, double entropy, double entropy_base, grpo_real *shaped);

/* advantage (n) = reward - *baseline, then *baseline := momentum *baseline + (1 - momentum) reward, one after the other, rounded at the end
 * (SPIRAL, 2506.24119, as prime-rl: from 0 with 0.95, a baseline for each role) */
grpo_status grpo_running_baseline(const double *reward, int64_t n, double momentum, double *advantage, double *baseline);

/* ---- selection ---- */

/* tokens to drop for the entropy's sake, by S = e^logp (batch.entropy + logp) (2602.03392 as Trinity-RFT): A < 0 and
 * S - mean S < -mu std S, mean and population std over the mask (Clip_B; published mu: 2.5) */
grpo_status grpo_clip_below(const grpo_batch *batch, const grpo_real *advantage, double mu, uint8_t *selected);

/* and by x = expected - S (Clip_V; published 8.5, 1e-4): A < 0 and x > mu std x, std x not 0; of them the max(1, floor(fraction n)) largest
 * x, n tokens of the mask.  expected (n_tokens): of S under the full distribution */
grpo_status grpo_clip_value(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *expected, double mu, double fraction,
                            uint8_t *selected);

/* index (count), ascending: of the subsets of that size with low < mean < high the one whose mean is nearest (low + high)/2, then with the
 * largest max - min, then the first in lexicographic order (torchrl's MCAdvantageSelector where it enumerates them); n <= 20.  Every
 * subset is looked at: microseconds for 4 of 8, a third of a second for 10 of 20 */
grpo_status grpo_balanced_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *index);

/* ---- control ---- */

/* the weight of a pairwise preference term beside a loss (AMIR-GRPO, 2601.03661, official code), by q = coef pair_loss/max(1e-9, loss):
 * min(0.05, 1.25 coef) for q < 0.3, max(0.005, 0.8 coef) for q > 0.7, else coef */
GRPO_FN double grpo_preference_margin_control(double coef, double pair_loss, double loss)
{
    const grpo_dd least = { 1e-9, -6.228159145777985e-26 };
    grpo_dd q = grpo_dd_mul(grpo_two_prod(coef, pair_loss), 10), base = { 0, 0 };
    const double more = 1.25 * coef, less = coef / 1.25;
    if (!grpo_is_finite(coef) || !grpo_is_finite(pair_loss) || !grpo_is_finite(loss)) return NAN;
    base.hi = loss;
    if (!(loss > 1e-9)) base = least;
    if (grpo_dd_exceeds(grpo_dd_add(grpo_dd_mul(base, 3), grpo_dd_negative(q)), 0)) return more < 0.05 ? more : 0.05;
    if (grpo_dd_exceeds(grpo_dd_add(q, grpo_dd_mul(base, -7)), 0)) return less > 0.005 ? less : 0.005;
    return coef;
}

/* temperature at which sum length s e^(s/temperature) is about 0, for scores s (n) whose sum length s is negative, else 0 (Trinity-RFT's
 * CoD): bisection of [0.8, 100], up where the sum is not negative, to a width below 0.05; the last middle */
grpo_status grpo_regret_temperature(const int64_t *length, const double *score, int64_t n, double *temperature);

/* ======== weights, rewards and advantages of papers ===============================================================================
 * Functions of single methods, under the rules of the two sections before.  Those of a batch read its groups and the arrays they name;
 * what they write by response, (sequences), is numbered as batch.reward is; what they write by token is 0 where masked.  Lists of (n) know
 * no batch.  Equal numbers are taken in their order.  scratch: (sequences). */

/* ---- weights ---- */

/* weight (n_tokens) = (1 - strength) + strength clip(e^(sign(A)(q - l)), 1 - clip, 1 + clip), q of batch.logp_teacher; 1 where A = 0 or
 * selected (n_tokens; NULL: everywhere) is not set (SERL, 2605.19447; VISD, 2605.06094; 0.5, 0.2) */
grpo_status grpo_teacher_gate(const grpo_batch *batch, const grpo_real *advantage, double strength, double clip, const uint8_t *selected,
                              grpo_real *weight);

/* weight (n_tokens) = 1 + gamma (1 - S_{t-1}/D), S_t = sum of |q - o| over the unmasked tokens up to t of batch.logp_teacher and
 * batch.logp_old (IW-OPD, 2606.22600; 0.5) */
typedef enum {
    GRPO_DISCREPANCY_PAPER,       /* D = S_{T-1}; all weights 1 where it is 0 */
    GRPO_DISCREPANCY_TRL          /* D = S_T (TRL; its 1e-8 is left out); all weights 1 + gamma where it is 0 */
} grpo_discrepancy_form;

grpo_status grpo_prefix_discrepancy(const grpo_batch *batch, double gamma, grpo_discrepancy_form form, grpo_real *weight);

/* weight (n) = min(1, e^((x - c)/temperature)), c such that they sum up to target > 0, all 1 for target >= n; normalised (n) = n weight/sum
 * weight (TAWin, 2604.22504: the soft top-K).  x (n) <= 0; O(n^2) */
grpo_status grpo_window_weight(const double *x, int64_t n, double target, double temperature, double *weight, double *normalised);

/* weight (n_tokens) = strength e^o + 1 - strength of batch.logp_old (AR, 2505.12929; 0.2, 0.3) */
grpo_status grpo_probability_gain(const grpo_batch *batch, double strength, grpo_real *weight);

/* weight (n_tokens): a place, counted over unmasked tokens, is in conflict if one id stands there in a response with sign > 0 and in one
 * with sign < 0 of the group.  Factor `inside` for sign > 0, 0 for sign < 0, on the longest run of places in conflict from the first token,
 * again on the one that ends with the last, where places are counted from the end; else 1 (GTPO, 2508.03772, the paper's form; 2).
 * token (n_tokens), sign (sequences) */
grpo_status grpo_conflict_weight(const grpo_batch *batch, const int64_t *token, const int64_t *sign, double inside, grpo_real *weight);

/* weight (groups) of a prompt: 1 or `low`.  T: batch.length; right: reward > threshold; P: largest T of the right ones, Q: mean T of those
 * that are wrong and have T < limit (ADORA) */
typedef enum {
    GRPO_PROMPT_LLM,              /* 1 iff some are right and none is in Q, or P > Q (1.01, 4054, 0.1) */
    GRPO_PROMPT_VLM               /* 1 iff none is right, or P > Q and some are in Q (0.5, 4094, 0.1) */
} grpo_prompt_form;

grpo_status grpo_prompt_weight(const grpo_batch *batch, double threshold, double limit, double low, grpo_prompt_form form,
                               double *weight);

/* weight (sequences) = D r for responses to open prompts, 0 for those to anchors; D = mean over the anchors of the prompt's meta group of
 * their mean rewards - the prompt's own mean reward, 0 where there are none (AIR, 2605.20994: it weighs log pi of the response, not the
 * ratio).  meta: any ids, anchor (n_groups) */
grpo_status grpo_invariance_weight(const grpo_batch *batch, const int64_t *meta, const uint8_t *anchor, grpo_real *weight);

/* weight (n_tokens) = lambda n/sum lambda over the n unmasked tokens, lambda = low + (high - low) s, low where A = 0 (DelTA, 2605.21467,
 * official code: refine 1, low 0.8, high 1.2).  Of the tokens with A > 0, and of those with A < 0:
 *     mu = sum |A| v/max(sum |A|, 1e-8),  M = |v - mu'|^2 - |v - mu|^2, mu' the other side's
 *     gamma = sqrt max(Var M, 1e-8),  s = sigmoid(M/gamma)
 * then `refine` times: mu with |A| s for |A|, M with that, s with that and the gamma from before, gamma.  feature (n_tokens, width): v, at
 * most 1e70 in magnitude; scratch (2 n_tokens + 2 width) */
typedef struct { int64_t width, refine; double low, high; } grpo_centroids;

grpo_status grpo_centroid_weight(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *feature, const grpo_centroids *how,
                                 grpo_dd *scratch, grpo_real *weight);

/* by h = standard (n_tokens), what grpo_entropy_standard gives (HAPO, 2509.16591, official code: 0.2, 0.2, 1, 1), all (n_tokens):
 *     clip_low = low (1 - clip_coef h) where h <= 0, else low;   clip_high = high (1 + clip_coef h) where h > 0, else high
 *     shaped = A (1 + gain h) for h > 0 outside of 1 - clip_low/2 < w < 1 + clip_high/2, and for h <= 0 inside it; else A; w = e^(l - o) */
typedef struct { double low, high, clip_coef, gain; } grpo_adaptation;

grpo_status grpo_adapted_clip(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *standard, const grpo_adaptation *how,
                              grpo_real *clip_low, grpo_real *clip_high, grpo_real *shaped);

/* weight (n_tokens) = 1/(a n), a the different ids among the response's unmasked tokens, n those with this id (RLinf's loss scales; with
 * weight.given = term and seq_mean_token_sum every agent of a response weighs the same); agent (n_tokens): any ids */
grpo_status grpo_agent_weights(const grpo_batch *batch, const int64_t *agent, grpo_real *weight);

/* surrogate, penalty (sequences) = 1 + k (r - mean r), 1 - k (r - mean r), mean over the group (AP-GRPO, 2602.23615): weights of the two */
grpo_status grpo_centred_weights(const grpo_batch *batch, double k, grpo_real *surrogate, grpo_real *penalty);

/* local, global (n) = sigmoid(gamma (entropy - centre)), 1 - that: weights of the losses with advantages of the prompt and of the batch, by
 * grpo_answer_entropy (COPO, 2508.04138; 20, 1.5) */
grpo_status grpo_consistency_weights(const double *entropy, int64_t n, double gamma, double centre, double *local, double *global);

/* factor (groups) = 4 c p (1 - p) + delta over the responses with unmasked tokens, delta without any: c = e^(mean of their means of
 * batch.logp_old), p the share of correct (sequences) ones (CoDaPO, 2606.07950; 0.1: the factor of their z-scores) */
grpo_status grpo_confidence_factor(const grpo_batch *batch, const uint8_t *correct, double delta, double *factor);

/* weight (n_tokens): 1, but where the mean of batch.entropy over the mask is below target, `up` at the ceil(share n) of the n tokens with
 * A > 0 that have the smallest logp and `down` at those with A < 0 likewise (STARE, 2606.19236; 0.1, 1.1, its C2 0.9, 0.3).  share n is
 * rounded */
grpo_status grpo_surprisal_weight(const grpo_batch *batch, const grpo_real *advantage, double share, double up, double down,
                                  double target, grpo_real *weight);

/* the trust region of a prefix (CPPO, 2606.10968, pull request to verl): with D = |e^logp - e^logp_old|, w = least + (1 - least)(width -
 * p)/max(width - 1, 1) at position p = 1 .., masked tokens counted, S and W the sums of w D and of w over the unmasked tokens before,
 * selected (n_tokens): A (e^(logp - logp_old) - 1) <= 0 or w D <= min(delta, delta + d W - S), d = clip(factor Q, budget, 5 budget), Q the
 * quantile, linear, of the D of the response */
typedef struct {
    int64_t width;                /* at least every length */
    double least, delta, budget, quantile, factor;      /* 0.8, 0.15, 0.02, 0.9, 1 */
} grpo_prefix_gate;

/* scratch (n_tokens) */
grpo_status grpo_prefix_budget(const grpo_batch *batch, const grpo_real *advantage, const grpo_prefix_gate *gate, double *scratch,
                               uint8_t *selected);

/* weight (groups): of the v groups whose rewards are not all equal v softmax(-D/temperature), D the mean of accuracy (sequences), 1 where
 * that is 0, times (unmasked tokens of the batch)/(those of these groups); 1 of the others (DGPO, 2601.20614; 2) */
grpo_status grpo_difficulty_weight(const grpo_batch *batch, const double *accuracy, double temperature, double *weight);

/* weight (n_tokens) = w T/sum w over the T unmasked tokens of the group, w = e^(-c^2/(2 s^2)), c = (logp - mean)(A - mean) and its
 * population deviation s over the batch; all 1 where all c are equal (CW-GRPO, 2605.11538) */
grpo_status grpo_gaussian_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *weight);

/* weight (n_tokens) = u/mean u, u = e^(-beta H) of batch.entropy, the teacher's, over the unmasked tokens of routed (sequences) responses;
 * 0 at all other tokens (SRPO, 2604.02288; 1) */
grpo_status grpo_route_weight(const grpo_batch *batch, const uint8_t *routed, double beta, grpo_real *weight);

/* factor (n) = 1/(1 + alpha entropy/log size), entropy >= 0, size >= 2 (SEED-GRPO, 2505.12346, authors' code; 0.0417) */
grpo_status grpo_entropy_factor(const double *entropy, int64_t n, double alpha, int64_t size, double *factor);

/* ---- rewards from a group ---- */

/* reward (sequences) = r (1 - beta rank/G), rank 0 .. G - 1 ascending in the mean of batch.logp_old over the response's unmasked tokens, 0
 * without any (2506.02355; 0.25) */
grpo_status grpo_unlikeliness(const grpo_batch *batch, double beta, grpo_dd *scratch, grpo_real *reward);

/* reward (sequences) = 2^-(c-1) where r > 0, c such responses of the group so far with this one, else 0 (S-GRPO, 2505.07686) */
grpo_status grpo_early_exit(const grpo_batch *batch, grpo_real *reward);

/* reward (sequences) = outcome + gamma decay thought, thought 0 where outcome < low; over the group, C: outcome >= right, W: the rest, mc
 * and mw means of thought, 0 for none; gamma = 1 if mc >= mw or C is empty, else e^(mc - mw); 0 if all outcomes >= every or all <= none
 * (TRUST-GRPO, official code: 0.2, 0.5, 0.9, 0.1, decay 0.3 e^(-step/500)) */
typedef struct { double low, right, every, none; } grpo_trust_bounds;

grpo_status grpo_trust_reward(const grpo_batch *batch, const double *outcome, const double *thought, double decay,
                              const grpo_trust_bounds *bounds, grpo_real *reward);

/* reward (sequences) = alpha t of correct responses with m tool calls, else 0 (OTC, 2504.14870); nothing is correct: 0 */
typedef enum {
    GRPO_TOOLS_PPO,               /* t = cos(pi m/(2 m + smooth)) */
    GRPO_TOOLS_GRPO               /* n = least m of the group's correct ones: that where n = 0, else sin(pi m/(m + n)) */
} grpo_tools_form;

grpo_status grpo_tool_efficiency(const grpo_batch *batch, const double *calls, const uint8_t *correct, double smooth, double alpha,
                                 grpo_tools_form form, grpo_real *reward);

/* reward (sequences) = 0 if invalid, 1 if correct, else alpha found/max found of the group, 0 where that is 0 (E-GRPO, 2510.24694; 0.3) */
grpo_status grpo_entity_credit(const grpo_batch *batch, const double *found, const uint8_t *correct, const uint8_t *invalid, double alpha,
                               grpo_real *reward);

/* reward (sequences) = r + lambda e^(-alpha d), d = max(0, mean of o - f over the unmasked tokens) of batch.logp_old and batch.logp_ref
 * (RaPO, 2605.09640; 0.5, 20) */
grpo_status grpo_retention_reward(const grpo_batch *batch, double lambda, double alpha, grpo_real *reward);

/* reward (sequences): 0 where not correct (sequences), 1 where correct, but in the first max(1, ceil(share n_groups)) groups by falling
 * share of correct ones (product rounded to double; ties to the first), efficient[g] = 1, 1 - alpha sigmoid((T - m)/s): T unmasked tokens,
 * m and s their mean and population deviation over the group's correct ones, sigmoid(0) for s = 0 (GRPO-lambda, 2505.18086; 0.2) */
grpo_status grpo_efficiency_reward(const grpo_batch *batch, const uint8_t *correct, double share, double alpha, grpo_real *reward,
                                   uint8_t *efficient);

/* reward (sequences) = r + lambda a where a > 0.1, a >= mean a of the group and c >= mean c - margin, else r; a = accuracy (sequences), c =
 * min(e^m, cap), m the mean of batch.logp_ref over the unmasked tokens of batch.selected (the answer), 0 without any; mean c over the
 * responses that a lets pass (GRPO-CARE, 2506.16141, official code: 0.5, 0.95, 0.01) */
grpo_status grpo_consistency_bonus(const grpo_batch *batch, const double *accuracy, double lambda, double cap, double margin,
                                   grpo_real *reward);

/* ---- rewards of lists ---- */

/* reward (n) = sum_k weight_k g_k r_k of rewards (n, columns), g_k the column gate_k or, for -1, 1 (P-GRPO: gate of the last is the one
 * before) */
grpo_status grpo_gated_sum(const double *rewards, int64_t n, int64_t columns, const double *weight, const int64_t *gate, double *reward);

/* reward (n) = 1 - (p - c)^2, p = confidence clipped to [0, 1], c = correct; missing (NULL: none): p = 1/2, and 1 less (REFINE) */
grpo_status grpo_brier_reward(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing, double *reward);

/* of x = length/max, 0 < peak < 1 */
typedef enum {
    GRPO_SHAPE_PARABOLA,          /* 1 - (1 - x/peak)^2, from the peak on 1 - 2 ((x - peak)/(1 - peak))^2 */
    GRPO_SHAPE_POLYLINE,          /* x/peak, from the peak on 1 - 2 (x - peak)/(1 - peak); published with peak 1/2 */
    GRPO_SHAPE_TRIANGLE           /* x/peak, from the peak on max(0, 2 - x/peak); any peak > 0 */
} grpo_shape_form;

grpo_status grpo_length_shape(const double *length, int64_t n, grpo_shape_form form, double peak, double max, double *reward);

/* reward (n): for r >= threshold, threshold + upper log(1 + r - threshold), else threshold - (e^(lower (threshold - r)) - 1)/(e^lower - 1),
 * r itself for lower = 0 (2509.18056; 0.8, 0.01, 1) */
grpo_status grpo_log_exp_map(const double *reward, int64_t n, double threshold, double upper, double lower, double *mapped);

/* shaped (n): what a node of a tree has from its children c; one without any keeps r (MURPHY, 2511.07833; 0.9) */
typedef enum {
    GRPO_TREE_MAX,                /* MARS: max(r, max_c R_c) */
    GRPO_TREE_MEAN,               /* MERS: r + gamma mean_c R_c */
    GRPO_TREE_MEAN_BY_DEPTH       /* that/(turns - depth + 1) */
} grpo_tree_form;

/* parent (n): an earlier node or -1; depth (n): 1 .. turns, read by mean_by_depth; scratch (n).  O(n^2) */
grpo_status grpo_tree_reward(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double gamma,
                             grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped);

/* *reward of a hint under which n rollouts have reward (n), p the share with r > 1/2: u e^(min(D, 0)/temperature), D the mean over those of
 * gap (n): mean log-probability without the hint minus with it; 0 for p of 0 or 1; -0.2 with gate, the hint broke a rule (HiLL, 2604.00698,
 * official code: informative, 0.3) */
typedef enum {
    GRPO_HINT_VARIANCE,           /* u = p (1 - p) */
    GRPO_HINT_INFORMATIVE         /* u = 1 - p^n - (1 - p)^n */
} grpo_hint_form;

grpo_status grpo_hint_reward(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form form, int gate,
                             double *reward_of_hint);

/* *reward = (share of net (m) that is > 0 + 0.01^|share of correct (n) - passes/8| + [min < predicted_length < max of length (n) over the
 * correct ones])/3, each 0 without its prediction, -1; net: of a predicted notion, right responses with it minus wrong ones (MASA,
 * 2510.03259, official code) */
grpo_status grpo_meta_reward(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m, int64_t passes,
                             int64_t predicted_length, double *reward);

/* reward (n) = sum_j wins_ij/(n - 1), 0 for n = 1; wins (n, n): 1, 1/2 or 0 of i against j, not read for i = j (Pref-GRPO, 2508.20751,
 * which rounds to 3 decimals) */
grpo_status grpo_pairwise_wins(const double *wins, int64_t n, double *reward);

/* reward (n) = top (1 - k/(n - 1)), top for n = 1, k = 0 .. n - 1 by falling number of the others with a lower peak and a higher overall
 * (R3, 2601.19620: mean entropy of the response's most uncertain tokens, and of all); scratch (n) */
grpo_status grpo_entropy_rank_reward(const double *peak, const double *overall, int64_t n, double top, int64_t *scratch, double *reward);

/* reward (n) = IoU([begin, end], [mean begin, mean end]) e^(-gamma u), u = std begin + std end, IoU = max(0, least end - largest begin)/
 * (largest end - least begin) (URPA, 2508.06317); begin, end (n), n >= 2; sample: divisor n - 1 */
grpo_status grpo_interval_reward(const double *begin, const double *end, int64_t n, double gamma, int sample, double *reward);

/* shaped (n) = reward/D by turn, D = max(1, rewards > 0) if score > 0, else max(1, total) (A Practitioner's Guide to Multi-turn RL) */
grpo_status grpo_dense_rewards(const double *reward, int64_t n, double score, double total, double *shaped);

/* gain (n - 1) from logp (n): mean log-probability of the true answer before the first turn and after each (IGPO, 2510.14967) */
typedef enum {
    GRPO_INFORMATION_LOG,         /* x_t - x_(t-1): second version */
    GRPO_INFORMATION_PROBABILITY  /* e^x_t - e^x_(t-1): first version and code */
} grpo_information_form;

grpo_status grpo_information_gain(const double *logp, int64_t n, grpo_information_form form, double *gain);

/* reward (sequences): r (1 + coef (Tmax - T)/(Tmax - Tmin)) of the responses with r = 1, where the group has others too and their T differ;
 * else r (AGPO, 2503.15952; 0.1) */
grpo_status grpo_shorter_correct(const grpo_batch *batch, double coef, grpo_real *reward);

/* reward (permutations, n) of choice (permutations, n), ids: 1 or -1 (PA-GRPO, 2603.21016) */
typedef enum {
    GRPO_PERMUTATION_JUDGE,       /* 1 where both permutations chose the same at that sample */
    GRPO_PERMUTATION_VOTES        /* 1 where it is the only most frequent one of all choices */
} grpo_permutation_form;

grpo_status grpo_permutation_reward(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form form, double *reward);

/* reward (sequences) = 1 - (f - 1/size), f the share of its answer (sequences), an id, among the group's that are not negative; -1 of a
 * negative one (GAPO, EMNLP 2025) */
grpo_status grpo_frequency_reward(const grpo_batch *batch, const int64_t *answer, int64_t size, grpo_real *reward);

/* reward (sequences) = penalty times the share of the runs of `size` tokens that have been there before, 0 where there are fewer tokens;
 * token (n_tokens): ids, read where the mask is (2502.03373, appendix C.2, as TRL; 3, -1).  Quadratic in the length of a response */
grpo_status grpo_repetition_reward(const grpo_batch *batch, const int64_t *token, int64_t size, double penalty, grpo_real *reward);

/* reward (sequences) = e^(-alpha z) of correct (sequences) ones, z = (T - mean)/(population deviation + eps) over these, 0 where they are
 * equal; else `wrong` (GRPO-LEAD, 2504.09696; 0.05, wrong -1) */
grpo_status grpo_correct_length(const grpo_batch *batch, const uint8_t *correct, double alpha, double eps, double wrong,
                                grpo_real *reward);

/* of each two responses of a group, in their order, outcome (pairs, of all groups): 1 the first wins, -1 the second, 0 a tie.  reward
 * (sequences): of a winner Tmin/T, Tmin the least T of the group's winners that have ended (sequences), -1 if it has not; -1 of a loser; 0
 * of ties and of the last one of an odd group.  masked (sequences): ties.  T is 1 at least (PPR-GDE, 2605.18191, official code) */
grpo_status grpo_pair_rewards(const grpo_batch *batch, const int64_t *outcome, const uint8_t *ended, grpo_real *reward, uint8_t *masked);

/* reward (n) = (distance - min)/(max - min), all 0 where max - min < 1e-8 (PPR-GDE) */
grpo_status grpo_spread_reward(const double *distance, int64_t n, double *reward);

/* ---- advantages beside the axis ---- */

/* advantage (sequences) = e^(R/temperature)/mean of it over the group (DRIFT, 2605.31455; 0.1; the 1e-12 is left out) */
grpo_status grpo_boltzmann_advantage(const grpo_batch *batch, double temperature, grpo_real *advantage);

/* advantage (sequences): softmax of the mean of batch.logp_old over the unmasked tokens over temperature, among the group's responses with
 * r > threshold that have any; by_length: each over its unmasked tokens, and those divided by their sum; 0 for the others (POPO,
 * 2605.06650) */
grpo_status grpo_likelihood_share(const grpo_batch *batch, double threshold, double temperature, int by_length, grpo_dd *scratch,
                                  grpo_real *advantage);

/* advantage (sequences) = mix (r' - mean r' of the other half + offset, of the low half - offset) + (1 - mix)(r - mean r of its half); by
 * metric (sequences), the first floor(G/2) of the group are its low half; r' = alpha r in the half that `scaled` names, r in the other; a
 * mean of none is 0 (CANON; 1, 0, 1) */
typedef enum { GRPO_HALF_LOW, GRPO_HALF_HIGH } grpo_half;
typedef struct { double alpha, offset, mix; grpo_half scaled; } grpo_canon;

grpo_status grpo_canon_advantage(const grpo_batch *batch, const double *metric, const grpo_canon *canon, grpo_real *advantage);

/* advantage (sequences) = 1/2 A (U/(sqrt p + 1e-6) + (1 - U)/(1 - sqrt p + 1e-6)) min(1, U/alpha), the last where A > 0; A = (r - p)/
 * (sample std + 1e-6), p the group's mean of rewards that are 0 or 1, U = mean_reward, the mean of p over prompts; 0 for p of 0 or 1
 * (A-GRAE, official code) */
grpo_status grpo_group_relative_scale(const grpo_batch *batch, double alpha, double mean_reward, grpo_real *advantage);

/* shaped (sequences) = A + min(max(lambda (1 - e^(s - mean s)), 0), kappa A) where r > 0 and A > 0, s the mean of batch.logp_old over the
 * unmasked tokens, mean s over the group's responses that have any; else A = advantage (sequences) (XRPO; 2.5, 0.5) */
grpo_status grpo_sharpening(const grpo_batch *batch, const double *advantage, double lambda, double kappa, grpo_dd *scratch,
                            grpo_real *shaped);

/* shaped (sequences) = A + clip(delta (feature - mean feature)/mean divisor, -k |A|, k |A|) where eligible, means over the eligible ones of
 * the group (ASPO, 2508.19201; -2, 0.7: first token of code, length); all (sequences), divisor > 0 */
typedef struct { const double *advantage, *feature, *divisor; const uint8_t *eligible; double delta, k; } grpo_feature;

grpo_status grpo_feature_bonus(const grpo_batch *batch, const grpo_feature *feature, grpo_real *shaped);

/* advantage (sequences) = (R - m)/(s + eps), mean and sample standard deviation over the group and `count` rewards `virtual_reward` more; R
 * itself in a group of one (NGRPO; 1, 1, 1e-6) */
grpo_status grpo_virtual_reward(const grpo_batch *batch, double virtual_reward, int64_t count, double eps, grpo_real *advantage);

/* advantage (sequences), of responses to the groups of one bundle (bundle, (groups): any ids), n the least of their sizes, B their number,
 * S_k the sum of the rewards of their k-th responses, k < n; scratch (groups):
 *     U = (omega v + u)/(omega + 1)/(std S + eps),  u = (max(S - low, 0) - max(S - high, 0))/(c - a + eps),  v = -max(low - S, 0)/(a + eps)
 *     A = U (r - m)/D, m the mean of its group, D the sum of r - m over the k-th responses; U/B where |D| <= 1e-6
 * sample std, 1 for n = 1; 0 for responses from the n-th on (RiskPO, official code without its natural baseline: a 0.2, c 0.8, omega 1.5,
 * eps 1e-6; low and high: the quantiles of S at a and c) */
typedef struct { double low, high, a, c, omega, eps; } grpo_risk;

grpo_status grpo_bundle_advantage(const grpo_batch *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd *scratch,
                                  grpo_real *advantage);

/* advantage (n_sets) = f - mean f over the sets, f = mean reward of the set's members times its distinct classes over its size (POLY,
 * 2509.25424); reward, klass (n); set s: member[set_begin[s]] .. member[set_begin[s+1]-1], not empty */
grpo_status grpo_set_advantage(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const int64_t *set_begin,
                               int64_t n_sets, double *advantage);

/* entropy (groups) = -sum_c p_c log p_c over clusters of responses with one answer, p_c = sum_{i in c} e^score/sum e^score (SEED-GRPO,
 * COPO); answer (sequences), -1: one by itself; score (sequences): 0 for counts */
grpo_status grpo_answer_entropy(const grpo_batch *batch, const int64_t *answer, const double *score, double *entropy);

/* advantages of the responses to one prompt and of its reference answer y, for the score surrogate and seq_mean_token_mean over the n + 1:
 *     advantage (n) = (1 + lambda) A (n + 1)/n,  reference = (n + 1)(beta A_y - lambda mean A)
 * A = (r - mean)/population std over the responses, and y with with_reference; all 0 where that is 0 (GRAO) */
grpo_status grpo_reference_advantage(const double *reward, int64_t n, double reference_reward, double beta, double lambda,
                                     int with_reference, double *advantage, double *reference);

/* advantage (n_tokens) = sum over this and the later unmasked tokens of the response of process_coef (x G/(G - 1) - B), B = sum of the
 * group's means of x over unmasked tokens/(G - 1), + outcome_coef (r - mean r of the others) at the last (PRIME, 2502.01456, as verl's
 * recipe: 5, 5, then whitened: advantage.token_whiten or second).  process (n_tokens): x, the implicit reward; G > 1 */
grpo_status grpo_implicit_advantage(const grpo_batch *batch, const grpo_real *process, double process_coef, double outcome_coef,
                                    grpo_real *advantage);

/* advantage (sequences) = (r - m)(slope m + offset), m the mean over the group (Confucius3-Math: -0.256, 1.256) */
grpo_status grpo_hardness_advantage(const grpo_batch *batch, double slope, double offset, grpo_real *advantage);

/* advantage (sequences) = (r - m)/(s + eps), mean and population deviation over the group's unmasked tokens, each with r of its response;
 * 0 where all with tokens are equal.  If the magnitude of one that has tokens reaches `limit`: of the whole group mean and sample
 * deviation over the responses.  scaled 0: r - m, likewise (HAPO, 2509.16591, official code: 1e-6, 5) */
grpo_status grpo_token_advantage(const grpo_batch *batch, double eps, double limit, int scaled, grpo_real *advantage);

/* advantage (n) = r_i (1 + mean of the later r), the last one r_n (StepCodeReasoner, 2605.11922: of the steps of a response) */
grpo_status grpo_future_success(const double *reward, int64_t n, double *advantage);

/* credit (n) = g^t (own_t + beta W_t other_t), by step; W_t = h sum_(k<t) h^(t-k) own_k, inclusive: h sum_(k<=t); per_step: over t + 1;
 * then clipped to -clip .. clip, 0: not; then its sign; discount 0: without g^t (advantage alignment, 2511.19405, official code: gamma g =
 * weight_gamma h = 0.96, beta 2) */
typedef struct { double gamma, weight_gamma, beta, clip; int inclusive, sign, per_step, discount; } grpo_coplayer;

grpo_status grpo_coplayer_credit(const double *own, const double *other, int64_t n, const grpo_coplayer *how, double *credit);

/* shaped (n) = P A + alpha (B - P B), P = V^T V, B = max(A, 0) with positive, else A (SALT, 2606.05800, official code: alpha = 1 -
 * effective of grpo_gram_rank within its bounds).  basis (k, n): V, its rows orthonormal, the first eigenvectors of the Gram matrix;
 * scratch (k) */
grpo_status grpo_project_advantage(const double *advantage, int64_t n, const double *basis, int64_t k, double alpha, int positive,
                                   grpo_dd *scratch, double *shaped);

/* factor (n) = sigmoid(d)/sigmoid(mean d) sigmoid(m)/sigmoid(mean R), d = hardness (n), R = gap (n), m the mean of those with
 * (R - mean R)^2 <= bound (DR-IRL's GRPO-S) */
grpo_status grpo_dynamic_scale(const double *hardness, const double *gap, int64_t n, double bound, double *factor);

/* advantage (n) of the nodes of a tree = (R - mean)/(s + 1e-8) over those of one depth, s their sample deviation; 0 for s < 1e-6 and for a
 * node alone (BranchGRPO, 2509.06040, official code).  R of a leaf is its reward (n), of other nodes: */
typedef enum {
    GRPO_BRANCH_LEAVES,           /* mean over the leaves below */
    GRPO_BRANCH_PROBABILITY       /* sum over the children of softmax(alpha logp) R, logp (n) that of the edge to the child */
} grpo_branch_form;

typedef struct { grpo_dd value; int64_t leaves, depth; } grpo_branch;

/* parent (n): an earlier node, of the first one -1; logp is not read by `leaves`; scratch (n).  O(n depth), probability O(n^2) */
grpo_status grpo_branch_advantage(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                  double alpha, grpo_branch *scratch, double *advantage);

/* advantage (sequences): z = (r - mean)/(sample deviation + eps); in a group of equal rewards 1 if they are 1, -1 if they are 0, else 0; r
 * in a group of one (AGPO, 2503.15952, code; 1e-6) */
grpo_status grpo_collapsed_advantage(const grpo_batch *batch, double eps, grpo_real *advantage);

/* weighted (n) = e^(k (difficulty - mean) sign(A)) A (DIVA-GRPO, 2603.01106, the paper's form); weighted may be advantage */
grpo_status grpo_variant_advantage(const double *advantage, const double *difficulty, const double *mean, int64_t n, double k,
                                   double *weighted);

/* weighted (n) = A W where A >= 0, A (2 - W) elsewhere; W = weight (n) in [0, 1] (DPEPO, 2604.24320); weighted may be advantage */
grpo_status grpo_step_weight(const double *advantage, const double *weight, int64_t n, double *weighted);

/* advantage (n) of the nodes of a tree, 0 of a root; V is the mean over its children of: */
typedef enum {
    GRPO_TREE_TD,                 /* r_c + gamma V_c, 0 of a leaf.  A = (r + gamma V' - V'(parent))/(leaves from here on), V' = V, or value
                                     where the parent has one child (ATPO, 2603.02216, code) */
    GRPO_TREE_SIBLINGS,           /* V_c, r of a leaf.  A = V - mean V of the siblings, V without any (D-TreeRPO, 2512.09675, code) */
    GRPO_TREE_PARENT              /* the same, A = V - V(parent) (D-TreeRPO, the paper) */
} grpo_tree_advantage_form;

typedef struct { grpo_dd value; int64_t leaves, children; } grpo_tree_state;

/* parent (n): an earlier node, or -1; reward (n); value (n), gamma: of td; scratch (n) */
grpo_status grpo_tree_advantage(const int64_t *parent, const double *reward, const double *value, int64_t n, double gamma,
                                grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage);

/* advantage (sequences) = (1 - alpha) PT(z) + alpha PT(d), PT(v) = gain_pos tanh(beta v) for v >= 0, else gain_neg tanh(beta v); z = (r -
 * mean)/max(population deviation, 1e-8); C = constraints (sequences) >= 1 (MDP-GRPO, 2606.06058) */
typedef enum {
    GRPO_ANCHORS_PAPER,           /* d = 2 sqrt(C) (r - 1/2) */
    GRPO_ANCHORS_CODE             /* d = (r - max(1/2, mean))/sqrt(G/(4 C)) */
} grpo_anchors_form;
typedef struct { double alpha, beta, gain_pos, gain_neg; grpo_anchors_form form; } grpo_anchors;        /* 0.2, 0.8, 1.25, 2 */

grpo_status grpo_two_anchors(const grpo_batch *batch, const double *constraints, const grpo_anchors *anchors, grpo_real *advantage);

/* advantage (sequences): with s the mean of logp over the unmasked tokens, of a correct (sequences) one the sum over the group's wrong ones
 * j of sigmoid((s_j - s)/temperature)/temperature, of a wrong one minus that over the correct ones of sigmoid((s - s_j)/temperature)/
 * temperature; responses without tokens take no part and have 0 (CAPO, 2604.12632; 0.5) */
grpo_status grpo_pairwise_calibration(const grpo_batch *batch, const uint8_t *correct, double temperature, grpo_dd *scratch,
                                      grpo_real *advantage);

/* advantage (n), n in 2 .. 20: the mean over sizes 2 .. n of the mean over the subsets of that size with the item of (r - mean)/(population
 * deviation + eps) over the subset, eps > 0 (MS-GRPO).  All 2^n subsets: a second for 20 */
grpo_status grpo_multi_scale_advantage(const double *reward, int64_t n, double eps, double *advantage);

/* advantage (sequences): 1 of the first largest reward of the group, -1 of the first largest utility (sequences) among those of reward 0,
 * where there are a reward above 0 and one of 0; else 0.  replace (groups): where all rewards are 0 the response with the first smallest
 * utility, else -1 (ReCast, 2604.22169) */
grpo_status grpo_hardest_miss(const grpo_batch *batch, const double *utility, grpo_real *advantage, int64_t *replace);

/* advantage (n) = w/sum |w| of n >= 2 candidates for one place, w = p (r - sum p r/sum p), p = e^logp_old; all 0 where the sum is 0 (TLPO,
 * 2604.26553, code) */
grpo_status grpo_position_advantage(const double *logp_old, const double *reward, int64_t n, double *advantage);

/* advantage (n) from the rewards of turns, over those of the same role, any ids (MARS, official code, its first step); it may be reward */
typedef enum {
    GRPO_ROLE_MEAN,               /* r - mean */
    GRPO_ROLE_MEAN_STD,           /* (r - mean)/(sample deviation + 1e-6), 0 where all are equal */
    GRPO_ROLE_CLIPPED             /* that within [-1, 3] */
} grpo_role_form;

grpo_status grpo_role_reward(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double *advantage);

/* ---- distances from a teacher ---- */

/* *value = beta KL(q, M) + (1 - beta) KL(p, M), M = (1 - beta) p + beta q; beta 0: KL(q, p), 1: KL(p, q), +infinity where the first has
 * mass that the second lacks (OPSD, 2601.18734; GKD: 0.5, 1.1).  p and q: softmax of student and teacher (n) over temperature, -inf a
 * banned token.  dstudent (n; NULL: not wanted): d value/d student, 0 where banned; where the value is infinite what is finite of it, or
 * infinities */
grpo_status grpo_divergence(const double *student, const double *teacher, int64_t n, double temperature, double beta, double *value,
                            double *dstudent);

/* *gap = log q_target - log p_target, each renormalised over a set of n tokens, from log-probabilities (VISD, 2605.06094: the teacher's
 * top k and the sampled token) */
grpo_status grpo_set_gap(const double *student, const double *teacher, int64_t n, int64_t target, double *gap);

/* ======== trackers, samplers, allocators ==========================================================================================
 * State from one step to the next, what to sample next, which responses to keep, and the coefficients that follow a measurement; under
 * the rules of the two sections before.  Lists (n) are doubles in either build; ties go to the lower index. */

/* ---- trackers ---- */

/* counts of a prompt's successes and failures, the past ones decaying: alpha := decay alpha + successes, beta := decay beta + failures,
 * each rounded once (SPO-stream; VADE: 0.2 for the selected prompts, 0.999 and no trials for the others).  Counts >= 0, decay in [0, 1] */
typedef struct { double alpha, beta; } grpo_counts;

GRPO_FN grpo_counts grpo_decayed_counts(double alpha, double beta, double decay, double successes, double failures)
{
    grpo_counts r = { NAN, NAN };
    if (!grpo_is_finite(alpha + beta) || !grpo_is_finite(successes + failures) || !(decay >= 0 && decay <= 1)) return r;
    if (alpha < 0 || beta < 0 || successes < 0 || failures < 0) return r;
    r.alpha = fma(decay, alpha, successes);
    r.beta = fma(decay, beta, failures);
    return r;
}

/* decay = clamp(2^(-D/half_life), low, high), D the mean of |logp - logp_old| over the mask, 0 without tokens (SPO-stream: 0.06, 0.875,
 * 0.96); half_life > 0, low <= high */
grpo_status grpo_decay_by_drift(const grpo_batch *batch, double half_life, double low, double high, double *decay);

/* rate state + (1 - rate) value; rate in [0, 1] (RaPO's sigma: rate 0.999) */
GRPO_FN double grpo_moving_average(double state, double value, double rate)
{
    if (!grpo_is_finite(state) || !grpo_is_finite(value) || !(rate >= 0 && rate <= 1)) return NAN;
    return grpo_dd_add(grpo_two_prod(rate, state), grpo_dd_mul(grpo_two_diff(1, rate), value)).hi;
}

/* tracked (n) = quantile + rate (level - share of `observed` (m > 0) below quantile), a step down the pinball loss (RISKPO: 0.1); tracked
 * may be quantile */
grpo_status grpo_quantile_track(const double *quantile, const double *level, int64_t n, double rate, const double *observed, int64_t m,
                                double *tracked);

/* updated (sequences) = clamp(M clamp(e^g, 1 - low, 1 + high), 1 - low, 1 + high), M = factor (sequences) >= 0, g the mean of logp -
 * logp_old over the response's mask within [-10, 10], 0 without tokens: the weight of the turns that are trained already (SeeUPO: 0.2, 0.2;
 * logp after the step).  low in [0, 1], high >= 0; updated may be factor */
grpo_status grpo_turn_factor(const grpo_batch *batch, const double *factor, double low, double high, double *updated);

/* start max(0, 1 - step/steps), start itself for steps 0 and before the first (SERL: 50; VISD counts from 1: step - 1); steps >= 0 */
GRPO_FN double grpo_linear_decay(double start, double step, double steps)
{
    if (!grpo_is_finite(start) || !grpo_is_finite(step) || !(steps >= 0 && grpo_is_finite(steps))) return NAN;
    if (steps == 0 || step <= 0) return start;
    return step < steps ? grpo_two_diff(steps, step).hi / steps * start : 0;
}

/* max(1, start factor^floor(step/every)) (curriculum GRPO's tokens: 256, 0.7, 100); start > 0, factor in (0, 1], step >= 0, every > 0 */
GRPO_FN double grpo_count_budget(double start, double factor, int64_t step, int64_t every)
{
    double budget;
    if (!(start > 0 && grpo_is_finite(start)) || !(factor > 0 && factor <= 1) || step < 0 || every <= 0) return NAN;
    budget = start * pow(factor, (double)(step / every));
    return budget > 1 ? budget : 1;
}

/* ---- samplers and allocators ---- */

/* the chance that n responses, right with probability p each, are not all alike: 1 - p^n - (1 - p)^n (SAGE-HINT, HILL, Knapsack-RL); p in
 * [0, 1], n >= 1 */
GRPO_FN double grpo_informative_probability(double p, int64_t n)
{
    const double a = p > 0.5 ? 1 - p : p, count = (double)n;            /* exact */
    if (!(p >= 0 && p <= 1) || n < 1) return NAN;
    if (n == 1 || a == 0) return 0;
    return -expm1(count * log1p(-a)) - pow(a, count);
}

/* count (n): responses for each prompt, low .. high of them (low >= 1) and `total` in all or fewer, whose sum of (1 - p^N - (1 - p)^N) p
 * (1 - p)^2 is the largest (Knapsack-RL): from low on one by one where it adds most; low for p 0 or 1.  A pass over the prompts for
 * every response above low */
grpo_status grpo_allocate(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t *count);

/* index (count): those with the largest q (1 - q)^2, the largest first; draw (n) in [0, 1]: q of each prompt, from Beta(alpha + 1,
 * beta + 1) (VADE) */
grpo_status grpo_value_information(const double *draw, int64_t n, int64_t count, int64_t *index);

/* weight (n) = alpha p (1 - p) + beta diversity (VAS of MMR1: 0.8, 0.2); p in [0, 1] */
grpo_status grpo_visit_value(const double *p, const double *diversity, int64_t n, double alpha, double beta, double *weight);

/* index (count): of advantage in descending order the first k and the last count - k, k such that their variance is the largest, the
 * smallest such k; in that order (D3S) */
grpo_status grpo_downsample_variance(const double *advantage, int64_t n, int64_t count, int64_t *index);

/* index (sequences), *count of them: of each group whose valid (sequences) responses are more than half of it, those, repeated in turn to
 * the size of the group; none of the others (GLM-5) */
grpo_status grpo_pad_valid(const grpo_batch *batch, const uint8_t *valid, int64_t *index, int64_t *count);

/* new_rate (n) = success (n), the share of right answers in this step, or rate where that is -1: not sampled; new_probability (n) =
 * (1 - alpha) probability + alpha new_rate/sum new_rate, 1/n where that sum is 0, over the sum of these (ADS, 2606.22305, official code:
 * 0.3, rates from 0.5); they may be rate and probability */
grpo_status grpo_cluster_probability(const double *rate, const double *probability, const double *success, int64_t n, double alpha,
                                     double *new_rate, double *new_probability);

/* weight (n) = sqrt(v (1 - v)) + least, v = value in [0, 1] (SPO's sampling weights: 0.05) */
grpo_status grpo_explore_weight(const double *value, int64_t n, double least, double *weight);

/* new_level (n) = min(level + 1, max) where success < low, max(level - 1, 0) where success > high, else level (SAGE-light, 2602.03143: 0.1,
 * 0.35, 3; the paper never lowers: high 1); new_level may be level */
grpo_status grpo_hint_level(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t max,
                            int64_t *new_level);

/* ---- what is kept ---- */

/* keep[g] (n_groups) = population deviation of the rewards >= least >= 0, compared as squares (ReST-GRPO: 0.05) */
grpo_status grpo_spread_keep(const grpo_batch *batch, double least, uint8_t *keep);

/* keep (n) = |A| >= least; then as many more, next largest |A| first, as make their number a multiple of `multiple` (0 or 1: none; all if
 * there are too few); positive: only of those with A > 0 (LOOP: 0.01) */
grpo_status grpo_advantage_keep(const double *advantage, int64_t n, double least, int64_t multiple, int positive, uint8_t *keep);

/* tokens with e^logp_old < probability (Lopti, 2505.12929; SPO's segments cut there) */
grpo_status grpo_probability_select(const grpo_batch *batch, double probability, uint8_t *selected);

/* how far a branch a (n_a) is from its parent b (n_b), lists of ids with n_a, n_b >= 1 (LATR, official code: drops it where edit < 0.4,
 * suffix > 0.2 or rouge_l > 0.5).  scratch (2 n_b + 2), not of suffix */
typedef enum {
    GRPO_DISTANCE_EDIT,           /* insertions, deletions and replacements from one to the other, over the larger length */
    GRPO_DISTANCE_SUFFIX,         /* the longest suffix of one that is somewhere in the other, over the larger length */
    GRPO_DISTANCE_ROUGE_L         /* 2 L/(n_a + n_b), L the longest common subsequence */
} grpo_distance_form;

grpo_status grpo_sequence_distance(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form form, int64_t *scratch,
                                   double *distance);

/* of size >= 1 rollouts at step >= 1, of steps >= 2 in which the share of the small model falls: ceil((1 - (step - 1)/(steps - 1)) size) of
 * its own, none after the last of them (S2L-PO, 2605.30789, Algorithm 1); -1 for other numbers, and for those above 2^31 */
typedef struct { int64_t other, own; } grpo_split;

GRPO_FN grpo_split grpo_annealed_split(int64_t step, int64_t steps, int64_t size)
{
    const int64_t most = INT64_C(1) << 31;
    grpo_split r = { -1, -1 };
    if (step < 1 || steps < 2 || size < 1 || steps > most || size > most) return r;
    r.other = step <= steps ? ((steps - step) * size + steps - 2) / (steps - 1) : 0;
    r.own = size - r.other;
    return r;
}

/* ---- statistics of a group or the batch ---- */

/* advantage (sequences) = (r - m)/(d + eps), m the lower median of the group's rewards, d that of |r - m|; 0 where r = m.  pivot
 * (n_groups): the first response with r = m (MC-GRPO: 0.001; it leaves the loss) */
grpo_status grpo_median_advantage(const grpo_batch *batch, double eps, double *advantage, int64_t *pivot);

/* mixed (n) = a x + b y, rounded once (levels of advantages: GiGPO, stratified GRPO); mixed may be x or y */
grpo_status grpo_mix_advantages(const double *x, const double *y, int64_t n, double a, double b, double *mixed);

/* lambda-GRPO: of the G responses of a group, with z = (length - mean)/population deviation, 0 where all are equal, h = max(1 + r z, 1e-6):
 * weight (sequences) = G softmax(h^lambda), slope (sequences) = d weight/d lambda */
grpo_status grpo_length_preference(const grpo_batch *batch, const double *length, double r, double lambda, double *weight, double *slope);

/* HAPO's standardised entropy (n_tokens), 0 where masked: e = log max(entropy, 1e-8), m its nearest-rank quantile (of the n tokens in
 * ascending order the first number j with j/n >= quantile, j/n as a double), h = (e - m)/sqrt max(mean (e - m)^2, 1e-8); for h > 0
 * h/max(max h, 1e-8), else */
typedef enum {
    GRPO_STANDARD_CODED,          /* h/min(min h, -1e-8), in [0, 1]: official code */
    GRPO_STANDARD_INTENDED        /* -h/min(min h, -1e-8), in [-1, 0]: the paper */
} grpo_standard_form;

grpo_status grpo_entropy_standard(const grpo_batch *batch, double quantile, grpo_standard_form form, grpo_real *standard);

/* *value = max(least, quantile of e^(logp - logp_old) over the unmasked tokens of batch.selected), interpolated linearly at position
 * quantile (m - 1) of the m; least without any (GUIDE, 2506.13923: 0.9, 1e-4, g of its surrogate w/(w + g)) */
grpo_status grpo_ratio_quantile(const grpo_batch *batch, double quantile, double least, double *value);

/* *shift = (mean of z over the correct (sequences) + over the others)/2, a mean of none is 0; z = beta sum of logp - logp_ref over the
 * unmasked tokens (VPD, 2605.15113: 0.1; its loss is -log sigmoid(z - shift), sign by correct) */
grpo_status grpo_logistic_shift(const grpo_batch *batch, const uint8_t *correct, double beta, double *shift);

/* of gram (n, n): K_ij = g_i g_j of the responses' gradients, symmetric (SALT, 2606.05800, official code: 1, 1, 64)
 *     rank = max(least, min(share PR rounded half to even, most, n - 1)),  PR = (tr K)^2/(sum K_ij^2 + 1e-10 n^2)
 *     effective = sum A_i A_j K_ij/(sum A_i^2 K_ii + 1e-9) */
grpo_status grpo_gram_rank(const double *gram, const double *advantage, int64_t n, double share, int64_t least, int64_t most, int64_t *rank,
                           double *effective);

/* ---- coefficients ---- */

/* of the penalty coef |entropy - target| (C3's target entropy: 0.55, 0.001): `value`, and as penalty.entropy_coef, whose bonus has the same
 * gradient: coef sign(target - entropy) */
typedef struct { double coef, value; } grpo_target_coef;

GRPO_FN grpo_target_coef grpo_entropy_target_coef(double entropy, double target, double coef)
{
    grpo_target_coef r = { NAN, NAN };
    if (!grpo_is_finite(entropy) || !grpo_is_finite(target) || !grpo_is_finite(coef)) return r;
    r.coef = entropy < target ? coef : entropy > target ? -coef : 0;
    r.value = coef * fabs(entropy - target);
    return r;
}

/* coefficient of a KL that stands over delta: beta max(0, kl - delta) (DisCO, 2505.12366: 1e-4, 1000) */
GRPO_FN double grpo_kl_hinge(double kl, double delta, double beta)
{
    if (!grpo_is_finite(kl) || !grpo_is_finite(delta) || !grpo_is_finite(beta)) return NAN;
    return kl > delta ? beta * (kl - delta) : 0;
}

/* ratio.power and the bound of the power mean at a step whose rewards have mean mu and deviation sigma (APMPO, 2605.04066):
 *     power = e^(-gamma mu),  eps = low + (high - low) tanh(mu/(sigma + delta)),  log_high = log(1 + eps), which is ratio.pool_high
 * sigma, delta >= 0 and not both 0, 0 <= low <= high, eps > -1; NaN for other numbers */
typedef struct { double power, eps, log_high; } grpo_power_bounds;

GRPO_FN grpo_power_bounds grpo_power_clip(double mean, double deviation, double gamma, double low, double high, double delta)
{
    const grpo_power_bounds none = { NAN, NAN, NAN };
    grpo_power_bounds r;
    grpo_dd x = { 0, 0 }, eps = { 0, 0 }, one = { 1, 0 };
    if (!grpo_is_finite(mean) || !grpo_is_finite(gamma) || !grpo_is_finite(high) || !(deviation >= 0 && delta >= 0)) return none;
    if (!(low >= 0 && low <= high && deviation + delta > 0 && grpo_is_finite(deviation + delta))) return none;
    x.hi = mean; eps.hi = low;
    x = grpo_dd_quotient(x, grpo_two_sum(deviation, delta));
    eps = grpo_dd_add(eps, grpo_dd_mul(grpo_two_diff(high, low), tanh(x.hi)));
    one = grpo_dd_add(one, eps);
    if (!(one.hi > 0)) return none;
    r.power = grpo_exp(grpo_two_prod(-gamma, mean));
    r.eps = eps.hi;
    r.log_high = fabs(eps.hi) < 0.5 ? log1p(eps.hi) + eps.lo / one.hi : grpo_dd_log(one).hi;
    return r;
}

/* ======== logits ==================================================================================================================
 * From a row of logits z (one position, the vocabulary wide) to logp and entropy, and from d loss/d logp, d loss/d entropy back to
 * d loss/d z.  With p_v = e^(z_v/tau)/sum e^(z/tau), logp = log p_target, H = -sum p log p:
 *
 *     d logp/d z_v = (1[v = target] - p_v)/tau,    d H/d z_v = -p_v (log p_v + H)/tau
 *
 * One pass over the row for each, and between them only a few numbers: no softmax is stored.  A vocabulary may be cut into shards:
 * each reads its part of the row, parts merge, each writes its part of the gradient.  A logit of -inf is a banned token, p = 0 and
 * gradient 0; so is what `kept` leaves out.  NaN or +inf is an error.
 *
 * double elements are evaluated one by one, to 4 ulps of double.  All others are by loops that compilers turn into vector instructions,
 * to 2 ulps of float (2^-23): of logp, entropy, sum p^2 and each d z before it is rounded to its type.  (Of log-sum, and of d z through
 * logp and entropy together, ulps of the sum of the absolute values that make it up.)  However a row is cut, the results are within
 * twice that of each other.  Builds for different processors may differ as much; calls, threads and orders never do. */

typedef enum {
    GRPO_ROW_REAL,           /* grpo_real */
    GRPO_ROW_BFLOAT16,       /* stored as uint16_t */
    GRPO_ROW_FLOAT16         /* IEEE binary16, stored as uint16_t */
} grpo_row_type;

typedef struct {
    grpo_row_type type;
    const void *logits;             /* (rows, stride) */
    int64_t rows, vocab, stride;    /* of this shard; elements from one row to the next */
    const int64_t *target;          /* (rows) the sampled token, counted from the shard's first; outside 0 .. vocab-1: in another shard */
    const uint8_t *kept;            /* (rows, stride) 0: the sampler had cut the token off (top-k, top-p); NULL: none was */
    double temperature;             /* tau > 0 */
    int squares;                    /* 1: sum_squares is wanted; 0: it is NaN, and costs nothing */
} grpo_logits;

/* what a row, or a shard of one, comes to.  The target and the largest of the others are kept apart, so that a probability near 1 does
 * not swallow the rest; sums are over all others, x = (z - largest)/tau. */
typedef struct {
    double largest;                 /* of the others; -inf: there is none */
    grpo_dd sum, spread, squares;   /* sum e^x, sum e^x x, sum e^2x */
    double target;                  /* its logit */
    int has_target;
} grpo_row_part;

typedef struct {
    double logp, entropy;           /* nats */
    double log_sum;                 /* log sum e^(z/tau) */
    double sum_squares;             /* sum p^2, if asked for */
    double other;                   /* 1 - p_target, small ones too */
} grpo_row;

#if defined(__CUDACC__)
#define GRPO_ROW_FN __host__ __device__
#else
#define GRPO_ROW_FN
#endif

/* one row of the shard -> part */
grpo_status grpo_row_read(const grpo_logits *x, int64_t row, grpo_row_part *part);
GRPO_ROW_FN grpo_status grpo_row_merge(grpo_row_part *into, const grpo_row_part *from, double temperature);
/* the whole row's part -> numbers; a row without its target has logp -inf */
GRPO_ROW_FN grpo_status grpo_row_of(const grpo_row_part *part, double temperature, grpo_row *row);
/* d loss/d z of the shard's row, elements of x->type, `part` that of the whole row; dlogits may be the logits' own row */
grpo_status grpo_row_gradient(const grpo_logits *x, int64_t row, const grpo_row_part *part, double dlogp, double dentropy, void *dlogits);

/* The same one logit at a time, for kernels of your own (examples/cuda/): part = nothing, then take each logit of the row, in any order;
 * parts of several threads merge.  is_target: it is the sampled token's. */
GRPO_ROW_FN grpo_row_part grpo_row_nothing(void);
GRPO_ROW_FN void grpo_row_take(grpo_row_part *part, double z, int is_target, double temperature);

/* what d loss / d z is made of, for a row whose loss has these derivatives; then d loss / d z */
typedef struct { double largest, temperature, share, at, slope, target; } grpo_row_slopes;
GRPO_ROW_FN grpo_row_slopes grpo_row_slopes_of(const grpo_row_part *part, double temperature, double dlogp, double dentropy);
GRPO_ROW_FN double grpo_row_slope(const grpo_row_slopes *s, double z, int is_target);

/* The rows of a batch: row t is what the token of slot t was drawn from, so rows = batch.n_tokens, padded or packed as the batch is.
 * The caller's arrays, O(tokens) of them. */
typedef struct {
    grpo_logits logits;
    grpo_row_part *part;            /* (rows) room to work in */
    grpo_real *logp, *entropy;      /* (rows) written */
    void *dlogits;                  /* (rows, stride) of logits.type, d loss / d logits: written; may be logits.logits; NULL: not wanted */
} grpo_rows;

/* All at once, logits -> loss -> d logits: grpo_loss with logp and entropy from the rows; batch.logp and batch.entropy are not read.
 * out.dlogp and out.dentropy must be there if rows.dlogits is.  Rows of masked tokens are not read, and have gradient 0; rows of slots
 * that are in no sequence are neither read nor written.  If the implementation is compiled with OpenMP, its threads share the rows.  The
 * bits are the same for every number of threads, order of sequences, and split into parts with the same totals.
 * Where logits are refused, part has been written; where totals or partial are, logp and entropy too. */
grpo_status grpo_logits_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_rows *rows, const grpo_output *out, grpo_report *report);
grpo_status grpo_logits_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_rows *rows, const grpo_output *out, grpo_partial *partial);

/* The two passes by themselves, of rows first .. first + count - 1, in the calling thread: for pools of threads, and where advantages or
 * an exchange between ranks come in between.  mask (rows), NULL: all count; where it is 0 nothing is read, and 0 is written.  read:
 * logits -> part, logp, entropy (the last two unless NULL); a range that is refused may have been written up to the row at fault. */
grpo_status grpo_rows_read(const grpo_rows *rows, const uint8_t *mask, int64_t first, int64_t count);
grpo_status grpo_rows_gradient(const grpo_rows *rows, const uint8_t *mask, const grpo_real *dlogp, const grpo_real *dentropy,
                               int64_t first, int64_t count);

#ifdef __cplusplus
}
#endif
#endif /* GRPO_H */

/* =================================================================================================================================
 * Implementation
 * ============================================================================================================================== */
#if defined(GRPO_IMPLEMENTATION) && !defined(GRPO_IMPLEMENTED)
#define GRPO_IMPLEMENTED

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
#define GRPO_RESTRICT_ __restrict
#else
#define GRPO_RESTRICT_ restrict
#endif

/* ---- exact sums ---------------------------------------------------------------------------------------------------------------- */

static void grpo_sum_carry_(grpo_sum *s)
{
    int k;
    for (k = 0; k + 1 < GRPO_SUM_LIMBS; k++) {
        int64_t low = s->limb[k] & INT64_C(0xffffffff);
        s->limb[k + 1] += (s->limb[k] - low) / INT64_C(0x100000000);
        s->limb[k] = low;
    }
    s->pending = 0;
}

static void grpo_sum_add_(grpo_sum *s, double x)
{
    uint64_t bits, m;
    int64_t low, high;
    int e, k, shift;
    if (!grpo_is_finite(x)) { if (x > 0) s->pos_inf++; else s->neg_inf++; return; }
    memcpy(&bits, &x, sizeof bits);
    e = (int)(bits >> 52 & 2047);
    m = bits & ((UINT64_C(1) << 52) - 1);
    if (e) { m |= UINT64_C(1) << 52; e--; }                             /* |x| = m 2^(e - 1074) */
    k = e >> 5; shift = e & 31;
    low = (int64_t)((m << shift) & 0xffffffff);
    high = (int64_t)(m >> (32 - shift));                               /* < 2^53: a thousand of them fit */
    if (bits >> 63) { low = -low; high = -high; }
    s->limb[k] += low;
    s->limb[k + 1] += high;
    if (++s->pending == 1000) grpo_sum_carry_(s);
}

/* A block of numbers: cut at a power of two so far above them that the upper parts, multiples of one unit, add without rounding in any
 * order (Rump, Ogita and Oishi, "Accurate floating-point summation"); what is left is exact and is cut again, or added one by one. */
enum { GRPO_BLOCK_ = 128, GRPO_LANES_ = 8 };

/* Sums over a block go by quarters, which vectorises everywhere and waits for nothing.  Of a quarter to which the rest has been added: */
static double grpo_quarter_total_(const double *x)
{
    double y[GRPO_BLOCK_ / 16];
    int k;
    for (k = 0; k < GRPO_BLOCK_ / 16; k++)
        y[k] = (x[k] + x[k + GRPO_BLOCK_ / 16]) + (x[k + GRPO_BLOCK_ / 8] + x[k + 3 * GRPO_BLOCK_ / 16]);
    return ((y[0] + y[1]) + (y[2] + y[3])) + ((y[4] + y[5]) + (y[6] + y[7]));
}

static double grpo_block_total_(const double *x)
{
    double y[GRPO_BLOCK_ / 4];
    int k;
    for (k = 0; k < GRPO_BLOCK_ / 4; k++)
        y[k] = (x[k] + x[k + GRPO_BLOCK_ / 4]) + (x[k + GRPO_BLOCK_ / 2] + x[k + 3 * GRPO_BLOCK_ / 4]);
    return grpo_quarter_total_(y);
}

/* sum of |x|, rounded; infinite or NaN where an x is */
static double grpo_block_magnitude_(const double *x)
{
    double y[GRPO_BLOCK_ / 4];
    int k;
    for (k = 0; k < GRPO_BLOCK_ / 4; k++)
        y[k] = (fabs(x[k]) + fabs(x[k + GRPO_BLOCK_ / 4])) + (fabs(x[k + GRPO_BLOCK_ / 2]) + fabs(x[k + 3 * GRPO_BLOCK_ / 4]));
    return grpo_quarter_total_(y);
}

/* into upper and lower the sums of the parts of x above the units of cut[0] and of cut[1]; returns whether that is not all */
static int grpo_block_cut_(const double *x, const double *cut, double *upper, double *lower)
{
    const double *x1 = x + GRPO_BLOCK_ / 4, *x2 = x1 + GRPO_BLOCK_ / 4, *x3 = x2 + GRPO_BLOCK_ / 4;
    const double high = cut[0], low = cut[1];
    double a[GRPO_BLOCK_ / 4], b[GRPO_BLOCK_ / 4], left[GRPO_BLOCK_ / 4];
    int k;
    for (k = 0; k < GRPO_BLOCK_ / 4; k++) {
        const double p0 = (high + x[k]) - high, p1 = (high + x1[k]) - high, p2 = (high + x2[k]) - high, p3 = (high + x3[k]) - high;
        const double r0 = x[k] - p0, r1 = x1[k] - p1, r2 = x2[k] - p2, r3 = x3[k] - p3;
        const double q0 = (low + r0) - low, q1 = (low + r1) - low, q2 = (low + r2) - low, q3 = (low + r3) - low;
        a[k] = (p0 + p1) + (p2 + p3);
        b[k] = (q0 + q1) + (q2 + q3);
        left[k] = (fabs(r0 - q0) + fabs(r1 - q1)) + (fabs(r2 - q2) + fabs(r3 - q3));
    }
    *upper = grpo_quarter_total_(a);
    *lower = grpo_quarter_total_(b);
    return grpo_quarter_total_(left) != 0;
}

/* adds the numbers of a block times a power of two, or minus that */
static void grpo_sum_add_block_(grpo_sum *s, double factor, const double *x)
{
    const double size = grpo_block_magnitude_(x);
    const int cuts = size > 1e-200 && size < 1e200;
    double cut[2] = { 0, 0 }, upper, lower;
    int k, exponent;
    if (size == 0) return;
    if (cuts) {
        frexp(size, &exponent);
        cut[0] = ldexp(1, exponent + 1);                               /* the parts add up to at most half of it */
        cut[1] = cut[0] * (1.0 / (UINT64_C(1) << 45));                 /* what is left of each is at most cut 2^-53 */
        k = grpo_block_cut_(x, cut, &upper, &lower);
        grpo_sum_add_(s, factor * upper);
        grpo_sum_add_(s, factor * lower);
        if (!k) return;
    }
    for (k = 0; k < GRPO_BLOCK_; k++) {
        double y = x[k];
        if (cuts) { y -= (cut[0] + y) - cut[0]; y -= (cut[1] + y) - cut[1]; }
        if (y != 0) grpo_sum_add_(s, factor * y);
    }
}

static void grpo_sum_add_dd_(grpo_sum *s, grpo_dd x)
{
    grpo_sum_add_(s, x.hi);
    if (x.lo != 0) grpo_sum_add_(s, x.lo);
}

/* + a - b, of log-probabilities: of an infinite one the finite partner still counts */
static void grpo_sum_add_diff_(grpo_sum *s, double a, double b)
{
    grpo_sum_add_(s, a);
    grpo_sum_add_(s, -b);
}

static void grpo_sum_merge_(grpo_sum *into, const grpo_sum *from)
{
    int k;
    grpo_sum other = *from;
    grpo_sum_carry_(into);
    grpo_sum_carry_(&other);
    for (k = 0; k < GRPO_SUM_LIMBS; k++) into->limb[k] += other.limb[k];
    into->pos_inf += from->pos_inf;
    into->neg_inf += from->neg_inf;
    into->pending = 2;
}

/* the sum rounded once; infinities of opposite sign cancel in pairs */
static double grpo_sum_value_(const grpo_sum *sum)
{
    grpo_sum s = *sum;
    int64_t l[3];
    uint64_t top, rest, sticky, m;
    int k, j, negative, z = 0;
    double r;
    if (s.pos_inf != s.neg_inf) return s.pos_inf > s.neg_inf ? HUGE_VAL : -HUGE_VAL;
    grpo_sum_carry_(&s);
    negative = s.limb[GRPO_SUM_LIMBS - 1] < 0;
    if (negative) {
        for (k = 0; k < GRPO_SUM_LIMBS; k++) s.limb[k] = -s.limb[k];
        grpo_sum_carry_(&s);
    }
    for (k = GRPO_SUM_LIMBS - 1; k > 0 && s.limb[k] == 0; k--) { }
    for (j = 0; j < 3; j++) l[j] = k >= j ? s.limb[k - j] : 0;
    for (sticky = 0, j = k - 3; j >= 0; j--) sticky |= (uint64_t)s.limb[j];
    if (l[0] == 0) return 0;
    top = (uint64_t)l[0] << 32 | (uint64_t)l[1];                       /* value = (top + rest 2^-32) 2^(32 (k-1) - 1074) */
    rest = (uint64_t)l[2];
    if (k < 2 && (k == 0 || top < UINT64_C(1) << 53)) {                /* fewer bits than a double holds */
        r = ldexp((double)(k == 0 ? (uint64_t)l[0] : top), -1074);
        return negative ? -r : r;
    }
    while (!(top >> 63)) {
        top = top << 1 | (rest >> 31 & 1);
        rest = rest << 1 & 0xffffffff;
        z++;
    }
    sticky |= rest;
    m = top >> 11;
    top &= 2047;
    if (top > 1024 || (top == 1024 && (sticky || (m & 1)))) m++;
    r = ldexp((double)m, 32 * (k - 1) - z + 11 - 1074);
    return negative ? -r : r;
}

/* for sums of losses: overflows of both signs give +infinity */
static double grpo_sum_total_(const grpo_sum *s)
{
    return s->pos_inf && s->neg_inf ? HUGE_VAL : grpo_sum_value_(s);
}

/* the sum as out[0] + ... + out[n-1], each rounding what the ones before left */
static void grpo_sum_expand_(const grpo_sum *sum, double *out, int n)
{
    grpo_sum s = *sum;
    int k;
    for (k = 0; k < n; k++) {
        out[k] = grpo_sum_value_(&s);
        if (grpo_is_finite(out[k])) grpo_sum_add_(&s, -out[k]);
    }
}

static grpo_dd grpo_sum_dd_(const grpo_sum *s)
{
    double out[2];
    grpo_dd r;
    grpo_sum_expand_(s, out, 2);
    r.hi = out[0];
    r.lo = grpo_is_finite(out[0]) ? out[1] : 0;
    return r;
}

/* ---- checks -------------------------------------------------------------------------------------------------------------------- */

/* arrays a stage needs */
enum { GRPO_NEED_LOGP_ = 1, GRPO_NEED_OLD_ = 2, GRPO_NEED_REF_ = 4, GRPO_NEED_ROLLOUT_ = 8, GRPO_NEED_REWARD_ = 16, GRPO_NEED_BASELINE_ = 32,
       GRPO_NEED_VALUE_ = 64, GRPO_NEED_STEP_ = 128, GRPO_NEED_TRUNCATED_ = 256, GRPO_NEED_ADVANTAGE_ = 512, GRPO_NEED_REWARDS_ = 1024,
       GRPO_NEED_TEACHER_ = 2048, GRPO_NEED_ENTROPY_ = 4096, GRPO_NEED_SELECTED_ = 8192, GRPO_NEED_LOGP_TEACHER_ = 16384,
       GRPO_NEED_LOG_Z_ = 32768, GRPO_NEED_STEP_END_ = 65536, GRPO_NEED_STATE_ = 131072, GRPO_NEED_SQUARES_ = 262144,
       GRPO_NEED_CENTRED_ = 524288, GRPO_NEED_WEIGHT_ = 1048576, GRPO_NEED_CLIPS_ = 2097152 };

/* the surrogates that are functions of a group: arrays they need, temperatures they read */
enum { GRPO_READS_TAU_POS_ = 1, GRPO_READS_TAU_NEG_ = 2 };
typedef struct { grpo_surrogate_kind kind; int needs, reads; } grpo_group_kind_;

static const grpo_group_kind_ *grpo_group_kind_of_(grpo_surrogate_kind kind)
{
    static const grpo_group_kind_ kinds[] = {
        { GRPO_SURROGATE_VARIANCE, 0, 0 },
        { GRPO_SURROGATE_LABELS, 0, GRPO_READS_TAU_POS_ | GRPO_READS_TAU_NEG_ },
        { GRPO_SURROGATE_BALANCE, GRPO_NEED_LOG_Z_, 0 },
        { GRPO_SURROGATE_PAIRS, 0, 0 },
        { GRPO_SURROGATE_CONTRAST, 0, GRPO_READS_TAU_POS_ },
        { GRPO_SURROGATE_CONTRAST_MEAN, 0, 0 },
        { GRPO_SURROGATE_CONTRAST_LSE, 0, GRPO_READS_TAU_NEG_ },
        { GRPO_SURROGATE_SOFT_PAIRS, 0, GRPO_READS_TAU_POS_ },
        { GRPO_SURROGATE_MATCH, 0, GRPO_READS_TAU_POS_ },
        { GRPO_SURROGATE_MATCH_JS, 0, GRPO_READS_TAU_POS_ },
        { GRPO_SURROGATE_STANDARDISED, 0, 0 },
        { GRPO_SURROGATE_TARGET, GRPO_NEED_OLD_, GRPO_READS_TAU_POS_ },
        { GRPO_SURROGATE_HINGE, 0, 0 },
        { GRPO_SURROGATE_REGRESSION, 0, 0 },
    };
    size_t k;
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) if (kinds[k].kind == kind) return &kinds[k];
    return NULL;
}

/* do surrogate or penalty have a ratio? */
static int grpo_uses_ratio_(const grpo_objective *o)
{
    const int without = o->surrogate.kind == GRPO_SURROGATE_SCORE || o->surrogate.kind == GRPO_SURROGATE_NONE;
    return !without || (o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_ratio != GRPO_KL_RATIO_NONE);
}

/* for the report to speak of */
static int grpo_reports_ratio_(const grpo_objective *o) { return grpo_uses_ratio_(o) && o->ratio.against != GRPO_AGAINST_NOTHING; }

static int grpo_needs_ratio_(const grpo_objective *o) { return grpo_uses_ratio_(o) || o->weight.trust != GRPO_TRUST_NONE; }

static int grpo_rejects_(const grpo_weight *w) { return w->reject != GRPO_REJECT_NONE || w->veto != 0; }

/* are there weights, or grounds for rejection, besides the mask? */
static int grpo_judges_(const grpo_weight *w) { return w->correction != GRPO_CORRECTION_NONE || grpo_rejects_(w); }

static int grpo_credits_steps_(const grpo_advantage *a)
{
    return a->credit == GRPO_CREDIT_STEP || a->credit == GRPO_CREDIT_STEP_OWN || a->credit == GRPO_CREDIT_EPISODE_STEP
        || a->credit == GRPO_CREDIT_STEP_GAE;
}

static int grpo_has_critic_(const grpo_advantage *a) { return a->credit == GRPO_CREDIT_GAE || a->credit == GRPO_CREDIT_STEP_GAE; }

/* what a statistic is pooled over, and how */
typedef enum { GRPO_OVER_TOKEN_, GRPO_OVER_SEQUENCE_, GRPO_OVER_SEGMENT_ } grpo_pool_;
typedef struct { grpo_pool_ over; int mean, max; } grpo_pooling_;

static grpo_pooling_ grpo_correction_pooling_(const grpo_weight *w)
{
    const grpo_correction_unit u = w->correction_unit;
    grpo_pooling_ p;
    p.over = u == GRPO_CORRECTION_TOKEN ? GRPO_OVER_TOKEN_ : u < GRPO_CORRECTION_SEGMENT_SUM ? GRPO_OVER_SEQUENCE_ : GRPO_OVER_SEGMENT_;
    p.mean = u == GRPO_CORRECTION_SEQUENCE_MEAN || u == GRPO_CORRECTION_SEGMENT_MEAN;
    p.max = 0;
    return p;
}

static grpo_pooling_ grpo_reject_pooling_(const grpo_weight *w)
{
    const grpo_reject_unit u = w->reject_unit;
    grpo_pooling_ p;
    p.over = u == GRPO_REJECT_TOKEN ? GRPO_OVER_TOKEN_ : u < GRPO_REJECT_SEGMENT_SUM ? GRPO_OVER_SEQUENCE_ : GRPO_OVER_SEGMENT_;
    p.mean = u == GRPO_REJECT_SEQUENCE_MEAN || u == GRPO_REJECT_SEGMENT_MEAN;
    p.max = u == GRPO_REJECT_SEQUENCE_MAX || u == GRPO_REJECT_SEGMENT_MAX;
    return p;
}

static int grpo_corrects_over_(const grpo_weight *w, grpo_pool_ over)
{
    return w->correction != GRPO_CORRECTION_NONE && grpo_correction_pooling_(w).over == over;
}

static int grpo_rejects_over_(const grpo_weight *w, grpo_pool_ over)
{
    return w->reject != GRPO_REJECT_NONE && grpo_reject_pooling_(w).over == over;
}

static int grpo_has_segments_(const grpo_weight *w)
{
    return grpo_corrects_over_(w, GRPO_OVER_SEGMENT_) || grpo_rejects_over_(w, GRPO_OVER_SEGMENT_);
}

/* one y of the response */
static int grpo_unit_is_sequence_(grpo_unit_kind unit)
{
    return (unit > GRPO_UNIT_TOKEN && unit < GRPO_UNIT_SEGMENT_MEAN) || unit >= GRPO_UNIT_SEQUENCE_MEAN_RATIO;
}

static int grpo_unit_is_segment_(grpo_unit_kind unit) { return unit == GRPO_UNIT_SEGMENT_MEAN || unit == GRPO_UNIT_SEGMENT_SUM; }

/* does the advantage axis look at R of axis 1?  With several rewards only to tell the sign in groups without variance */
static int grpo_reads_shaped_(const grpo_objective *o)
{
    const grpo_advantage *a = &o->advantage;
    if (grpo_credits_steps_(a)) return a->credit == GRPO_CREDIT_EPISODE_STEP || a->step_value == GRPO_STEP_VALUE_RESPONSE;
    return a->rewards == GRPO_REWARDS_ONE || a->entropy == GRPO_ENTROPY_ZERO_VARIANCE;
}

static int grpo_step_needs_(const grpo_advantage *a)
{
    int n = GRPO_NEED_STEP_END_;
    if (a->step_value != GRPO_STEP_VALUE_RESPONSE) n |= GRPO_NEED_STEP_;
    if (a->step_group == GRPO_STEP_GROUP_STATE || a->step_group == GRPO_STEP_GROUP_HISTORY) n |= GRPO_NEED_STATE_;
    return n;
}

static int grpo_advantage_needs_(const grpo_objective *o)
{
    int n = 0;
    if (grpo_credits_steps_(&o->advantage)) n |= grpo_step_needs_(&o->advantage);
    if (o->advantage.credit == GRPO_CREDIT_PREFIX_TREE) n |= GRPO_NEED_STATE_;
    if (o->advantage.rewards == GRPO_REWARDS_EACH) n |= GRPO_NEED_REWARDS_;
    if (grpo_reads_shaped_(o)) n |= GRPO_NEED_REWARD_ | (o->reward.truncated == GRPO_CUT_SCALE ? GRPO_NEED_TRUNCATED_ : 0);
    if (o->advantage.entropy != GRPO_ENTROPY_NONE || o->advantage.credit == GRPO_CREDIT_ENTROPY_SHARE) n |= GRPO_NEED_ENTROPY_;
    if (o->advantage.token_baseline == GRPO_TOKEN_BASELINE_OPTIMAL) n |= GRPO_NEED_OLD_ | GRPO_NEED_SQUARES_;
    if (o->advantage.teacher_coef != 0 || o->advantage.teacher_share != 0) n |= GRPO_NEED_TEACHER_ | GRPO_NEED_OLD_;
    if (o->advantage.kl_centred_coef != 0) n |= GRPO_NEED_CENTRED_;
    if (o->advantage.marked != GRPO_MARKED_NONE) n |= GRPO_NEED_SELECTED_;
    if (grpo_has_critic_(&o->advantage)) n |= GRPO_NEED_VALUE_;
    if (o->advantage.baseline == GRPO_BASELINE_GIVEN) n |= GRPO_NEED_BASELINE_;
    if (o->reward.kl != GRPO_KL_NONE) n |= GRPO_NEED_OLD_ | GRPO_NEED_REF_;
    return n;
}

/* log-probabilities that something is measured against; nobody's are 0 */
typedef enum { GRPO_OLD_, GRPO_ROLLOUT_, GRPO_REF_, GRPO_CURRENT_, GRPO_NOBODY_, GRPO_TEACHER_ } grpo_whose_;

static grpo_whose_ grpo_ratio_whose_(const grpo_ratio_axis *a)
{
    static const grpo_whose_ whose[] = { GRPO_OLD_, GRPO_ROLLOUT_, GRPO_REF_, GRPO_CURRENT_, GRPO_NOBODY_ };
    return whose[a->against];
}

static grpo_whose_ grpo_kl_whose_(const grpo_penalty *p)
{
    static const grpo_whose_ whose[] = { GRPO_REF_, GRPO_OLD_, GRPO_ROLLOUT_, GRPO_TEACHER_ };
    return whose[p->kl_against];
}

static grpo_whose_ grpo_off_policy_whose_(const grpo_weight *w) { return w->off_policy == GRPO_OFF_POLICY_OLD ? GRPO_OLD_ : GRPO_ROLLOUT_; }

/* of the current policy: sg[logp] */
static const grpo_real *grpo_logp_of_(const grpo_batch *b, grpo_whose_ whose)
{
    switch (whose) {
    case GRPO_OLD_:     return b->logp_old;
    case GRPO_ROLLOUT_: return b->logp_rollout;
    case GRPO_REF_:     return b->logp_ref;
    case GRPO_CURRENT_: return b->logp;
    case GRPO_TEACHER_: return b->logp_teacher;
    default:            return NULL;
    }
}

static int grpo_need_of_(grpo_whose_ whose)
{
    static const int need[] = { GRPO_NEED_OLD_, GRPO_NEED_ROLLOUT_, GRPO_NEED_REF_, GRPO_NEED_LOGP_, 0, GRPO_NEED_LOGP_TEACHER_ };
    return need[whose];
}

static int grpo_counts_by_sign_(const grpo_objective *o) { return o->aggregation.kind == GRPO_TOKEN_MEAN_BY_SIGN; }
static int grpo_counts_varied_(const grpo_objective *o) { return o->aggregation.kind == GRPO_TOKEN_MEAN_VARIED; }
static int grpo_counts_sequences_by_sign_(const grpo_objective *o) { return o->aggregation.kind == GRPO_SEQ_MEAN_BY_SIGN; }

/* is the choice of bounds that of the surrogate?  The range of others is fixed */
static int grpo_bounds_act_(const grpo_surrogate *s)
{
    return s->kind == GRPO_SURROGATE_PPO_CLIP || s->kind == GRPO_SURROGATE_DUAL_CLIP || s->kind == GRPO_SURROGATE_GPPO;
}

static int grpo_off_policy_needs_(const grpo_weight *w)
{
    switch (w->off_policy) {
    case GRPO_OFF_POLICY_NONE:            return 0;
    case GRPO_OFF_POLICY_TOTAL_VARIATION: return GRPO_NEED_OLD_ | GRPO_NEED_ROLLOUT_;
    default:                              return grpo_need_of_(grpo_off_policy_whose_(w));
    }
}

/* of the tokens that enter the likelihood */
static int grpo_likelihood_needs_(const grpo_penalty *p)
{
    int n = 0;
    if (p->likelihood_on == GRPO_LIKELIHOOD_NONE) return 0;
    if (p->likelihood_form == GRPO_LIKELIHOOD_FORM_LOST) n |= GRPO_NEED_OLD_;
    if (p->likelihood_form == GRPO_LIKELIHOOD_FORM_TEACHER_GAP) n |= GRPO_NEED_LOGP_TEACHER_;
    if (p->likelihood_weight == GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE) n |= GRPO_NEED_LOGP_TEACHER_;
    if (p->likelihood_gate == GRPO_LIKELIHOOD_GATE_SEGMENT) n |= GRPO_NEED_STEP_END_;
    return n;
}

static int grpo_count_needs_(const grpo_objective *o)
{
    static const int likelihood[] = { 0, GRPO_NEED_REWARD_, GRPO_NEED_ADVANTAGE_, GRPO_NEED_SELECTED_, 0, GRPO_NEED_ADVANTAGE_ };
    int n = likelihood[o->penalty.likelihood_on];
    if (grpo_counts_by_sign_(o) || grpo_counts_sequences_by_sign_(o)) n |= GRPO_NEED_ADVANTAGE_;
    if (grpo_counts_varied_(o)) n |= GRPO_NEED_REWARD_;
    if (o->penalty.pairs != GRPO_PAIRS_NONE) n |= GRPO_NEED_REWARD_;
    if (o->weight.truncated == GRPO_TRUNCATED_MASK) n |= GRPO_NEED_TRUNCATED_;
    if (grpo_judges_(&o->weight)) n |= GRPO_NEED_OLD_ | GRPO_NEED_ROLLOUT_;
    if (grpo_has_segments_(&o->weight)) n |= GRPO_NEED_STEP_END_;
    return n;
}

/* does something beside the counts look at A? */
static int grpo_reads_advantage_(const grpo_objective *o)
{
    const int pool = o->ratio.unit == GRPO_UNIT_SEQUENCE_CLIPPED_MEAN || o->ratio.unit == GRPO_UNIT_SEQUENCE_POWER_MEAN;
    return o->surrogate.kind != GRPO_SURROGATE_NONE || o->weight.future != GRPO_FUTURE_NONE || (pool && grpo_needs_ratio_(o));
}

static int grpo_loss_needs_(const grpo_objective *o)
{
    const grpo_group_kind_ *group = grpo_group_kind_of_(o->surrogate.kind);
    int n = GRPO_NEED_LOGP_ | grpo_count_needs_(o) | (group ? group->needs : 0);
    if (grpo_reads_advantage_(o)) n |= GRPO_NEED_ADVANTAGE_;
    if (grpo_needs_ratio_(o)) n |= grpo_need_of_(grpo_ratio_whose_(&o->ratio));
    if (o->penalty.kl != GRPO_KL_NONE) n |= grpo_need_of_(grpo_kl_whose_(&o->penalty));
    if (grpo_needs_ratio_(o) && grpo_unit_is_segment_(o->ratio.unit)) n |= GRPO_NEED_STEP_END_;
    if (o->aggregation.kind == GRPO_SEQ_MEAN_SEGMENT_MEAN) n |= GRPO_NEED_STEP_END_;
    if (o->weight.future != GRPO_FUTURE_NONE) n |= GRPO_NEED_OLD_;
    if (o->weight.given != GRPO_GIVEN_NONE) n |= GRPO_NEED_WEIGHT_;
    n |= grpo_off_policy_needs_(&o->weight) | grpo_likelihood_needs_(&o->penalty);
    if (o->penalty.entropy_coef != 0) n |= GRPO_NEED_ENTROPY_;
    if (o->penalty.pairs != GRPO_PAIRS_NONE && o->penalty.pair_score == GRPO_PAIR_SCORE_REF) n |= GRPO_NEED_REF_;
    if (o->weight.drift != GRPO_DRIFT_NONE) n |= GRPO_NEED_OLD_;
    if (o->weight.selected != GRPO_SELECTED_ALL || o->penalty.kl_on != GRPO_KL_ON_ALL) n |= GRPO_NEED_SELECTED_;
    if (o->surrogate.kind == GRPO_SURROGATE_SHAPED) n |= GRPO_NEED_SELECTED_;
    if (o->surrogate.bounds == GRPO_BOUNDS_GIVEN) n |= GRPO_NEED_CLIPS_;
    return n;
}

static int grpo_choice_count_(const char *choices)
{
    int n = 1;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

/* a clip or clamp at infinity is none; elsewhere an infinite number makes NaN */
static int grpo_may_be_infinite_(const char *path)
{
    static const char *const paths[] = { "reward.map_low", "reward.map_high", "advantage.advantage_low", "advantage.advantage_high",
        "surrogate.eps_low", "surrogate.eps_high", "surrogate.dual", "surrogate.weight_max", "surrogate.bound_cap", "surrogate.dual_pos",
        "surrogate.weight_max_neg", "surrogate.log_low", "surrogate.log_high", "surrogate.log_dual",
        "ratio.pool_low", "ratio.pool_high", "ratio.clamp_low", "ratio.clamp_high", "ratio.unit_clamp_low", "ratio.unit_clamp_high",
        "penalty.kl_ratio_max", "penalty.kl_clamp_log", "penalty.kl_clamp_value", "weight.trust_low", "weight.trust_high",
        "weight.off_policy_max", "weight.correction_high", "weight.correction_clamp", "weight.drift_high", "weight.reject_low",
        "weight.reject_high", "weight.ring_high", "weight.future_max", "weight.future_high", "weight.future_safe",
        "weight.future_safe_high" };
    size_t k;
    for (k = 0; k < sizeof paths / sizeof *paths; k++) if (strcmp(path, paths[k]) == 0) return 1;
    return 0;
}

static grpo_status grpo_check_fields_(const grpo_objective *o)
{
    int i, n;
    const grpo_field *f = grpo_fields(&n);
    for (i = 0; i < n; i++) {
        double v = grpo_objective_get(o, &f[i]);
        if (v != v || (!grpo_is_finite(v) && !grpo_may_be_infinite_(f[i].path))) return GRPO_BAD_NUMBER;
        if (f[i].choices && !(v >= 0 && v < grpo_choice_count_(f[i].choices))) return GRPO_BAD_CHOICE;
    }
    return GRPO_OK;
}

/* the bounds of the clip and what they go with */
static grpo_status grpo_check_bounds_(const grpo_surrogate *s, grpo_unit_kind unit)
{
    const int position = s->bounds == GRPO_BOUNDS_POSITION, given = s->bounds == GRPO_BOUNDS_GIVEN;
    if (s->eps_low < 0 || s->eps_high < 0 || s->bound_cap < 0) return GRPO_BAD_CLIP;
    if (s->log_low < 0 || s->log_high < 0 || s->log_dual < 0 || fabs(s->position_power) > 16) return GRPO_BAD_POSITION;
    if (position && s->kind == GRPO_SURROGATE_DUAL_CLIP && s->log_dual < s->log_high) return GRPO_BAD_POSITION;
    if (s->kind == GRPO_SURROGATE_DUAL_CLIP && !position && !(s->dual > 1 + s->eps_high)) return GRPO_BAD_DUAL;
    if (s->bounds == GRPO_BOUNDS_PROBABILITY && unit != GRPO_UNIT_TOKEN) return GRPO_BAD_COMBINATION;
    if (given && !(grpo_bounds_act_(s) && unit == GRPO_UNIT_TOKEN)) return GRPO_BAD_COMBINATION;
    if (position && !(grpo_bounds_act_(s) && s->kind != GRPO_SURROGATE_GPPO)) return GRPO_BAD_COMBINATION;
    return GRPO_OK;
}

static grpo_status grpo_check_surrogate_(const grpo_surrogate *s, grpo_unit_kind unit)
{
    const int dispo = s->kind == GRPO_SURROGATE_DISPO;
    const int weighs = s->kind == GRPO_SURROGATE_CISPO || s->kind == GRPO_SURROGATE_TOPR || s->kind == GRPO_SURROGATE_BAND || dispo;
    const int gates = s->kind == GRPO_SURROGATE_SAPO || s->kind == GRPO_SURROGATE_SAPO_DETACHED;
    const grpo_group_kind_ *group = grpo_group_kind_of_(s->kind);
    const int reads = group ? group->reads : gates ? GRPO_READS_TAU_POS_ | GRPO_READS_TAU_NEG_ : 0;
    const grpo_status st = grpo_check_bounds_(s, unit);
    if (st) return st;
    if (s->kind == GRPO_SURROGATE_UNBOUNDED_POSITIVE && !(s->dual > 1 + s->eps_high)) return GRPO_BAD_DUAL;
    if (s->kind == GRPO_SURROGATE_QUADRATIC && s->eps_high == 0) return GRPO_BAD_QUADRATIC;
    if (s->score_eps < 0) return GRPO_BAD_SCORE_EPS;
    if (s->kind == GRPO_SURROGATE_GPPO && s->dual != 0 && !(s->dual > 1 + s->eps_high)) return GRPO_BAD_DUAL;
    if (s->kind == GRPO_SURROGATE_ASPO && s->dual != 0 && !(s->dual > 1)) return GRPO_BAD_DUAL;
    if (s->kind == GRPO_SURROGATE_ASPO && s->dual_pos != 0 && !(s->dual_pos > 1)) return GRPO_BAD_DUAL;
    if (s->beta_low < 0 || s->beta_high < 0) return GRPO_BAD_BETA;
    if (weighs && !(s->weight_min >= 0 && s->weight_min <= s->weight_max)) return GRPO_BAD_WEIGHT_RANGE;
    if (dispo && !(s->weight_min_neg >= 0 && s->weight_min_neg <= s->weight_max_neg)) return GRPO_BAD_WEIGHT_RANGE;
    if (s->kind == GRPO_SURROGATE_SHAPED && !(s->shape > 0)) return GRPO_BAD_SURROGATE_SHAPE;
    if ((reads & GRPO_READS_TAU_POS_) && !(s->tau_pos > 0)) return GRPO_BAD_TAU;
    if ((reads & GRPO_READS_TAU_NEG_) && !(s->tau_neg > 0)) return GRPO_BAD_TAU;
    if (s->margin < 0) return GRPO_BAD_MARGIN;
    if (group && !grpo_unit_is_sequence_(unit)) return GRPO_BAD_COMBINATION;
    return GRPO_OK;
}

static int grpo_future_is_sound_(const grpo_weight *w)
{
    if (w->future == GRPO_FUTURE_NONE) return 1;
    return w->future_half_life > 0 && w->future_max >= 0 && w->future_low >= 0 && w->future_low <= w->future_high && w->future_safe >= 0
        && w->future_safe_low >= 0 && w->future_safe_low <= w->future_safe_high;
}

static grpo_status grpo_check_weight_(const grpo_weight *w)
{
    const int corrects = w->correction != GRPO_CORRECTION_NONE;
    if (corrects && !(w->correction_low >= 0 && w->correction_low <= w->correction_high)) return GRPO_BAD_CORRECTION;
    if ((corrects || grpo_rejects_(w)) && w->correction_clamp < 0) return GRPO_BAD_CORRECTION;
    if (w->drift != GRPO_DRIFT_NONE && !(w->drift_low >= 0 && w->drift_low <= w->drift_high && w->drift_high > 0)) return GRPO_BAD_DRIFT;
    if (w->trust_low < 0 || w->trust_high < 0 || w->ring_low < 0 || w->ring_high < 0) return GRPO_BAD_TRUST;
    if (w->reject != GRPO_REJECT_NONE && w->reject_low > w->reject_high) return GRPO_BAD_REJECT;
    if (w->veto < 0 || (w->reject == GRPO_REJECT_RATIO && w->reject_low < 0)) return GRPO_BAD_REJECT;
    if (!grpo_future_is_sound_(w)) return GRPO_BAD_FUTURE;
    return GRPO_OK;
}

static grpo_status grpo_check_reward_(const grpo_reward *r)
{
    if (r->overlong != GRPO_OVERLONG_NONE && !(r->overlong_cache > 0 && r->overlong_cache <= r->overlong_max)) return GRPO_BAD_OVERLONG;
    if (r->length == GRPO_LENGTH_COSINE && !(r->length_max > 0)) return GRPO_BAD_LENGTH_MAX;
    if (r->map == GRPO_MAP_AFFINE && r->map_low > r->map_high) return GRPO_BAD_MAP;
    return GRPO_OK;
}

static int grpo_is_whole_(double x) { return x >= 1 && x == floor(x); }
static int grpo_reads_pass_k_(grpo_transform_kind k) { return k != GRPO_TRANSFORM_NONE && k != GRPO_TRANSFORM_BEST_MINUS_SECOND; }

/* the numbers that the choices read */
static grpo_status grpo_check_advantage_(const grpo_advantage *a)
{
    grpo_baseline_kind b = a->baseline;
    if (a->step_group == GRPO_STEP_GROUP_HISTORY && !(grpo_is_whole_(a->history) && fabs(a->history_power) <= 16)) return GRPO_BAD_HISTORY;
    if (a->gain == GRPO_GAIN_EXPONENTIAL && a->gain_temperature == 0) return GRPO_BAD_GAIN_TEMPERATURE;
    if (a->gain == GRPO_GAIN_FAILURE_POWER && !(a->gain_power >= 0 && a->gain_low < a->gain_high)) return GRPO_BAD_GAIN_POWER;
    if (a->credit == GRPO_CREDIT_ENTROPY_SHARE && !(a->share_eps > 0)) return GRPO_BAD_SHARE;
    if (!(a->gamma >= 0 && a->gamma <= 1 && a->lambda >= 0 && a->lambda <= 1)) return GRPO_BAD_GAMMA;
    if (a->lambda_length < 0) return GRPO_BAD_LAMBDA_LENGTH;
    if (a->eps < 0 || a->second_eps < 0 || (a->scale == GRPO_SCALE_CONSTANT && a->eps == 0)) return GRPO_BAD_EPS;
    if (grpo_reads_pass_k_(a->transform) && !grpo_is_whole_(a->pass_k)) return GRPO_BAD_PASS_K;
    if ((b == GRPO_BASELINE_QUANTILE || b == GRPO_BASELINE_QUANTILE_LINEAR) && !(a->quantile >= 0 && a->quantile <= 1))
        return GRPO_BAD_QUANTILE;
    if (b == GRPO_BASELINE_LOG_MEAN_EXP && !(a->temperature > 0)) return GRPO_BAD_TEMPERATURE;
    if (b == GRPO_BASELINE_DENSEST && !(a->window > 0 && a->window <= 1)) return GRPO_BAD_WINDOW;
    if (b == GRPO_BASELINE_KALMAN && !(a->process_noise >= 0 && a->process_noise <= 1e150)) return GRPO_BAD_NOISE;
    if (b == GRPO_BASELINE_KALMAN && !(a->observation_noise > 0 && a->observation_noise <= 1e150)) return GRPO_BAD_NOISE;
    if (a->gain == GRPO_GAIN_LENGTH_POWER && !(fabs(a->length_power) <= 16)) return GRPO_BAD_LENGTH_POWER;     /* T^-p in double */
    if (a->entropy == GRPO_ENTROPY_BONUS && !(a->entropy_cap > 0)) return GRPO_BAD_ENTROPY_CAP;
    if (a->entropy == GRPO_ENTROPY_RESPONSE && a->entropy_cap < 0) return GRPO_BAD_ENTROPY_CAP;
    if (a->truncated_tail != 0 && !grpo_is_whole_(a->truncated_tail)) return GRPO_BAD_TAIL;
    if (!(a->teacher_share >= 0 && a->teacher_share <= 1 && a->teacher_clip >= 0 && a->teacher_clip < 1)) return GRPO_BAD_TEACHER;
    if (!(a->teacher_gamma >= 0 && a->teacher_gamma <= 1)) return GRPO_BAD_TEACHER;
    if (a->advantage_low > a->advantage_high) return GRPO_BAD_ADVANTAGE_CLAMP;
    return GRPO_OK;
}

static int grpo_scale_is_of_batch_(grpo_scale_kind k)
{
    return k == GRPO_SCALE_BATCH_STD || k == GRPO_SCALE_BATCH_CENTRED_STD || k == GRPO_SCALE_TOKEN_WHITEN || k == GRPO_SCALE_BETA;
}

static int grpo_gain_is_of_batch_(grpo_gain_kind k)
{
    return k == GRPO_GAIN_VALID_GROUPS || k == GRPO_GAIN_NONZERO_REWARDS || k == GRPO_GAIN_LENGTH_POWER;
}

/* columns of rewards know no axis 1, and only what acts on one column at a time */
static int grpo_goes_with_columns_(const grpo_objective *o)
{
    const grpo_reward *r = &o->reward;
    const grpo_advantage *a = &o->advantage;
    return r->length == GRPO_LENGTH_NONE && r->overlong == GRPO_OVERLONG_NONE && r->map == GRPO_MAP_NONE && r->kl == GRPO_KL_NONE
        && a->credit == GRPO_CREDIT_OUTCOME && a->transform == GRPO_TRANSFORM_NONE && a->gain == GRPO_GAIN_NONE
        && (a->scale == GRPO_SCALE_NONE || a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_GROUP_MEAN
            || a->scale == GRPO_SCALE_CONSTANT || a->scale == GRPO_SCALE_LEAVE_ONE_OUT_STD);
}

/* pools within the prompt know no more than their own means and deviations */
static int grpo_goes_with_pools_(const grpo_advantage *a)
{
    const int baseline = a->baseline == GRPO_BASELINE_NONE || a->baseline == GRPO_BASELINE_GROUP_MEAN
        || a->baseline == GRPO_BASELINE_LEAVE_ONE_OUT;
    const int scale = a->scale == GRPO_SCALE_NONE || a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_CONSTANT;
    return baseline && scale && a->transform == GRPO_TRANSFORM_NONE && a->gain == GRPO_GAIN_NONE && a->second == GRPO_SECOND_NONE;
}

/* the outcome advantage of a response beside its steps knows baseline and scale of its prompt */
static int grpo_goes_with_episodes_(const grpo_advantage *a)
{
    const int batch = grpo_scale_is_of_batch_(a->scale) && a->scale != GRPO_SCALE_TOKEN_WHITEN;
    return !batch && a->baseline != GRPO_BASELINE_BATCH_MEAN && a->transform == GRPO_TRANSFORM_NONE && a->gain == GRPO_GAIN_NONE
        && a->second != GRPO_SECOND_BATCH;
}

/* rewards of tokens are made of R itself */
static int grpo_goes_with_shares_(const grpo_advantage *a)
{
    return a->baseline == GRPO_BASELINE_NONE && a->shift == 0 && a->scale == GRPO_SCALE_NONE && a->transform == GRPO_TRANSFORM_NONE
        && a->gain == GRPO_GAIN_NONE && a->second != GRPO_SECOND_BATCH;
}

/* both distributions are of plain scores */
static int grpo_goes_with_target_(const grpo_ratio_axis *r)
{
    return r->against == GRPO_AGAINST_NOTHING && (r->unit == GRPO_UNIT_SEQUENCE_MEAN || r->unit == GRPO_UNIT_SEQUENCE_SUM);
}

/* what single credits alone know */
static int grpo_goes_with_credit_(const grpo_advantage *a)
{
    const int outcome = a->credit == GRPO_CREDIT_OUTCOME, tails = a->credit == GRPO_CREDIT_RETURN || grpo_has_critic_(a);
    if (a->step_discount != GRPO_STEP_DISCOUNT_TOKENS && a->credit != GRPO_CREDIT_STEP) return 0;
    if (a->truncated_tail != 0 && !tails) return 0;
    if (a->credit == GRPO_CREDIT_STEP_GAE && a->bootstrap != GRPO_BOOTSTRAP_ZERO) return 0;
    if (a->credit == GRPO_CREDIT_PREFIX_TREE && !grpo_goes_with_pools_(a)) return 0;
    return a->outside == GRPO_OUTSIDE_NONE || (outcome && a->rewards == GRPO_REWARDS_ONE && grpo_goes_with_pools_(a));
}

static grpo_status grpo_check_combination_(const grpo_objective *o)
{
    const grpo_advantage *a = &o->advantage;
    int outcome = a->credit == GRPO_CREDIT_OUTCOME, one_gain = a->gain != GRPO_GAIN_DIFFICULTY && a->gain != GRPO_GAIN_LENGTH_POWER
        && a->gain != GRPO_GAIN_FAILURE_POWER;
    int batch_mean = a->baseline == GRPO_BASELINE_BATCH_MEAN;
    if (a->rewards == GRPO_REWARDS_EACH && !grpo_goes_with_columns_(o)) return GRPO_BAD_COMBINATION;
    if (a->scale == GRPO_SCALE_KALMAN_STD && a->baseline != GRPO_BASELINE_KALMAN) return GRPO_BAD_COMBINATION;
    if (a->scale == GRPO_SCALE_BETA && a->transform != GRPO_TRANSFORM_NONE) return GRPO_BAD_COMBINATION;
    if (a->gain == GRPO_GAIN_LENGTH_POWER && grpo_credits_steps_(a)) return GRPO_BAD_COMBINATION;
    if (a->step_group != GRPO_STEP_GROUP_PROMPT && !grpo_goes_with_pools_(a)) return GRPO_BAD_COMBINATION;
    if (a->credit == GRPO_CREDIT_EPISODE_STEP && !grpo_goes_with_episodes_(a)) return GRPO_BAD_COMBINATION;
    if (a->credit == GRPO_CREDIT_ENTROPY_SHARE && !grpo_goes_with_shares_(a)) return GRPO_BAD_COMBINATION;
    if (!grpo_goes_with_credit_(a)) return GRPO_BAD_COMBINATION;
    if (a->second != GRPO_SECOND_NONE && (batch_mean || grpo_scale_is_of_batch_(a->scale) || a->gain != GRPO_GAIN_NONE))
        return GRPO_BAD_COMBINATION;
    if (a->entropy == GRPO_ENTROPY_ZERO_VARIANCE && !outcome) return GRPO_BAD_COMBINATION;
    if (o->ratio.mix != GRPO_MIX_NONE && (o->ratio.unit == GRPO_UNIT_TOKEN || grpo_group_kind_of_(o->surrogate.kind)))
        return GRPO_BAD_COMBINATION;
    if (o->surrogate.kind == GRPO_SURROGATE_TARGET && !grpo_goes_with_target_(&o->ratio)) return GRPO_BAD_COMBINATION;
    /* a mean over the batch of what needs another mean over the batch: only where the second undoes the first */
    if (batch_mean && a->scale == GRPO_SCALE_TOKEN_WHITEN && !(outcome && one_gain)) return GRPO_BAD_COMBINATION;
    return GRPO_OK;
}

grpo_status grpo_objective_check(const grpo_objective *o)
{
    const grpo_ratio_axis *r;
    const grpo_penalty *p;
    grpo_status st = o ? grpo_check_fields_(o) : GRPO_NULL_OBJECTIVE;
    if (!st) st = grpo_check_reward_(&o->reward);
    if (!st) st = grpo_check_advantage_(&o->advantage);
    if (!st) st = grpo_check_combination_(o);
    if (st) return st;
    r = &o->ratio; p = &o->penalty;
    if (r->clamp_low > r->clamp_high || r->unit_clamp_low > r->unit_clamp_high) return GRPO_BAD_CLAMP;
    if (r->pool_low < 0 || r->pool_high < 0) return GRPO_BAD_POOL;
    if (r->unit == GRPO_UNIT_SEQUENCE_POWER_MEAN && !(r->power >= 0 && r->power <= 16)) return GRPO_BAD_RATIO_POWER;
    st = grpo_check_surrogate_(&o->surrogate, r->unit);
    if (st) return st;
    if (p->kl_clamp_log < 0 || p->kl_clamp_value < 0 || p->kl_ratio_max < 0) return GRPO_BAD_KL_CLAMP;
    if (p->pair_margin < 0) return GRPO_BAD_MARGIN;
    if (p->pair_gain < 0) return GRPO_BAD_PAIR_GAIN;
    if (p->likelihood_gate != GRPO_LIKELIHOOD_GATE_NONE && p->likelihood_form != GRPO_LIKELIHOOD_FORM_LOST) return GRPO_BAD_COMBINATION;
    st = grpo_check_weight_(&o->weight);
    if (st) return st;
    if ((o->aggregation.kind == GRPO_SEQ_MEAN_CONSTANT || o->aggregation.kind == GRPO_CONSTANT)
        && !(o->aggregation.constant > 0 && o->aggregation.constant <= 1e150)) return GRPO_BAD_CONSTANT;
    return GRPO_OK;
}

static grpo_status grpo_check_layout_(const grpo_batch *b)
{
    int64_t g, i;
    if (!b) return GRPO_NULL_BATCH;
    if (b->n_groups < 0) return GRPO_BAD_GROUPS;
    if (b->n_groups == 0) return GRPO_OK;
    if (!b->group_begin) return GRPO_NULL_GROUP_BEGIN;
    if (b->group_begin[0] < 0) return GRPO_BAD_GROUP_BEGIN;
    for (g = 0; g < b->n_groups; g++)
        if (b->group_begin[g + 1] <= b->group_begin[g]) return GRPO_BAD_GROUP_BEGIN;
    if (!b->offset) return GRPO_NULL_OFFSET;
    if (!b->length) return GRPO_NULL_LENGTH;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        if (b->length[i] < 0) return GRPO_BAD_LENGTH;
        if (b->offset[i] < 0 || b->offset[i] > b->n_tokens || b->length[i] > b->n_tokens - b->offset[i]) return GRPO_BAD_OFFSET;
    }
    return GRPO_OK;
}

typedef enum { GRPO_LOG_PROBABILITY_, GRPO_FINITE_, GRPO_FACTOR_, GRPO_PART_, GRPO_MODERATE_ } grpo_domain_;

/* the numbers of a domain lie between these, infinities included; NaN does not */
static double grpo_domain_low_(grpo_domain_ domain)
{
    switch (domain) {
    case GRPO_LOG_PROBABILITY_: return -HUGE_VAL;
    case GRPO_FINITE_:          return -DBL_MAX;
    case GRPO_FACTOR_: case GRPO_PART_: return 0;
    default:                    return -1e150;                         /* squares must not overflow */
    }
}

static double grpo_domain_high_(grpo_domain_ domain) { return domain == GRPO_MODERATE_ ? 1e150 : domain == GRPO_PART_ ? 1 : DBL_MAX; }

static int grpo_in_domain_(double x, grpo_domain_ domain) { return x >= grpo_domain_low_(domain) && x <= grpo_domain_high_(domain); }

/* by lanes of the element's own type, whose finite numbers all lie between bounds beyond them */
static int grpo_all_in_domain_(const grpo_real *x, int64_t begin, int64_t end, grpo_domain_ domain)
{
    const double most = sizeof(grpo_real) == sizeof(float) ? FLT_MAX : DBL_MAX;
    const double above = grpo_domain_high_(domain), below = grpo_domain_low_(domain);
    const grpo_real low = (grpo_real)(below < -most && below > -HUGE_VAL ? -most : below), high = (grpo_real)(above < most ? above : most);
    grpo_real outside[GRPO_LANES_] = { 0 };
    const int64_t n = end - begin, whole = n - n % GRPO_LANES_;
    int64_t k, j;
    int rest = 1;
    for (k = 0; k < whole; k += GRPO_LANES_)
        for (j = 0; j < GRPO_LANES_; j++) {
            const grpo_real y = x[begin + k + j], a = y >= low ? 0 : 1, b = y <= high ? 0 : 1;
            outside[j] += a + b;
        }
    for (; k < n; k++) rest &= x[begin + k] >= low && x[begin + k] <= high;
    for (j = 1; j < GRPO_LANES_; j++) outside[0] += outside[j];
    return rest && outside[0] == 0;
}

static int grpo_tokens_in_domain_(const grpo_batch *b, const grpo_real *x, const uint8_t *where, grpo_domain_ domain)
{
    int64_t i, t;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) {
        const int64_t begin = b->offset[i], end = begin + b->length[i];
        if (!b->mask && !where && !grpo_all_in_domain_(x, begin, end, domain)) return 0;
        for (t = begin; (b->mask || where) && t < end; t++)
            if ((!b->mask || b->mask[t]) && (!where || where[t]) && !grpo_in_domain_((double)x[t], domain)) return 0;
    }
    return 1;
}

/* `needs` must be there; `reads` is looked at where it is there */
static grpo_status grpo_check_arrays_(const grpo_batch *b, const grpo_real *advantage, int needs, int reads)
{
    const struct { int bit; const grpo_real *x; const uint8_t *where; grpo_domain_ domain; grpo_status null, bad; } token[] = {
        { GRPO_NEED_LOGP_, b->logp, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP, GRPO_BAD_LOGP },
        { GRPO_NEED_OLD_, b->logp_old, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_OLD, GRPO_BAD_LOGP_OLD },
        { GRPO_NEED_REF_, b->logp_ref, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_REF },
        { GRPO_NEED_ROLLOUT_, b->logp_rollout, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_ROLLOUT, GRPO_BAD_LOGP_ROLLOUT },
        { GRPO_NEED_LOGP_TEACHER_, b->logp_teacher, NULL, GRPO_LOG_PROBABILITY_, GRPO_NULL_LOGP_TEACHER, GRPO_BAD_LOGP_TEACHER },
        { GRPO_NEED_TEACHER_, b->logp_teacher, NULL, GRPO_FINITE_, GRPO_NULL_LOGP_TEACHER, GRPO_BAD_LOGP_TEACHER },
        { GRPO_NEED_TEACHER_, b->logp_old, NULL, GRPO_FINITE_, GRPO_NULL_LOGP_OLD, GRPO_BAD_LOGP_TEACHER },
        { GRPO_NEED_ENTROPY_, b->entropy, NULL, GRPO_FINITE_, GRPO_NULL_ENTROPY, GRPO_BAD_ENTROPY },
        { GRPO_NEED_VALUE_, b->value, NULL, GRPO_MODERATE_, GRPO_NULL_VALUE, GRPO_BAD_VALUE },
        { GRPO_NEED_STEP_, b->step_reward, b->step_end, GRPO_MODERATE_, GRPO_NULL_STEP_REWARD, GRPO_BAD_STEP_REWARD },
        { GRPO_NEED_SQUARES_, b->probability_squares, NULL, GRPO_MODERATE_, GRPO_NULL_PROBABILITY_SQUARES, GRPO_BAD_PROBABILITY_SQUARES },
        { GRPO_NEED_CENTRED_, b->logp_rollout, NULL, GRPO_FINITE_, GRPO_NULL_LOGP_ROLLOUT, GRPO_BAD_LOGP_CENTRED },
        { GRPO_NEED_CENTRED_, b->logp_ref, NULL, GRPO_FINITE_, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_CENTRED },
        { GRPO_NEED_WEIGHT_, b->weight, NULL, GRPO_FACTOR_, GRPO_NULL_TOKEN_WEIGHT, GRPO_BAD_TOKEN_WEIGHT },
        { GRPO_NEED_CLIPS_, b->clip_low, NULL, GRPO_PART_, GRPO_NULL_CLIP_LOW, GRPO_BAD_CLIP_LOW },
        { GRPO_NEED_CLIPS_, b->clip_high, NULL, GRPO_FACTOR_, GRPO_NULL_CLIP_HIGH, GRPO_BAD_CLIP_HIGH },
        { GRPO_NEED_ADVANTAGE_, advantage, NULL, GRPO_FINITE_, GRPO_NULL_ADVANTAGE, GRPO_BAD_ADVANTAGE },
    };
    int64_t begin, end;
    size_t k;
    if (b->n_groups == 0) return GRPO_OK;
    begin = b->group_begin[0]; end = b->group_begin[b->n_groups];
    if ((needs & GRPO_NEED_STEP_END_) && !b->step_end) return GRPO_NULL_STEP_END;
    for (k = 0; k < sizeof token / sizeof *token; k++)
        if ((needs & token[k].bit) && !token[k].x) return token[k].null;
    if ((needs & GRPO_NEED_REWARD_) && !b->reward) return GRPO_NULL_REWARD;
    if ((needs & GRPO_NEED_REWARDS_) && !b->rewards) return GRPO_NULL_REWARDS;
    if ((needs & GRPO_NEED_REWARDS_) && !(b->n_rewards >= 1 && b->n_rewards <= GRPO_MAX_REWARDS)) return GRPO_BAD_N_REWARDS;
    if ((needs & GRPO_NEED_BASELINE_) && !b->baseline) return GRPO_NULL_BASELINE;
    if ((needs & GRPO_NEED_LOG_Z_) && !b->log_z) return GRPO_NULL_LOG_Z;
    if ((needs & GRPO_NEED_TRUNCATED_) && !b->truncated) return GRPO_NULL_TRUNCATED;
    if ((needs & GRPO_NEED_SELECTED_) && !b->selected) return GRPO_NULL_SELECTED;
    if ((needs & GRPO_NEED_STATE_) && !b->state) return GRPO_NULL_STATE;
    for (k = 0; k < sizeof token / sizeof *token; k++)
        if (((needs | reads) & token[k].bit) && token[k].x && !grpo_tokens_in_domain_(b, token[k].x, token[k].where, token[k].domain))
            return token[k].bad;
    if ((needs & GRPO_NEED_REWARD_) && !grpo_all_in_domain_(b->reward, begin, end, GRPO_MODERATE_)) return GRPO_BAD_REWARD;
    if ((needs & GRPO_NEED_REWARDS_) && !grpo_all_in_domain_(b->rewards, begin * b->n_rewards, end * b->n_rewards, GRPO_MODERATE_))
        return GRPO_BAD_REWARDS;
    if ((needs & GRPO_NEED_REWARDS_) && b->reward_weight && !grpo_all_in_domain_(b->reward_weight, 0, b->n_rewards, GRPO_MODERATE_))
        return GRPO_BAD_REWARD_WEIGHT;
    if ((needs & GRPO_NEED_BASELINE_) && !grpo_all_in_domain_(b->baseline, 0, b->n_groups, GRPO_MODERATE_)) return GRPO_BAD_BASELINE;
    if ((needs & GRPO_NEED_LOG_Z_) && !grpo_all_in_domain_(b->log_z, 0, b->n_groups, GRPO_FINITE_)) return GRPO_BAD_LOG_Z;
    return GRPO_OK;
}

/* a second clip must lie beyond the first, as between the numbers of an objective */
static grpo_status grpo_check_dual_(const grpo_surrogate *s, const grpo_batch *b)
{
    int64_t i, t;
    if (s->kind == GRPO_SURROGATE_PPO_CLIP || (s->kind == GRPO_SURROGATE_GPPO && s->dual == 0) || b->n_groups == 0) return GRPO_OK;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if ((!b->mask || b->mask[t]) && !(s->dual > 1 + (double)b->clip_high[t])) return GRPO_BAD_CLIP_HIGH;
    return GRPO_OK;
}

/* needs: of a sound objective */
static grpo_status grpo_check_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage,
                               int (*needs)(const grpo_objective *), int reads)
{
    grpo_status st = grpo_objective_check(o);
    if (!st) st = grpo_check_layout_(b);
    if (!st) st = grpo_check_arrays_(b, advantage, needs(o), reads);
    return !st && (needs(o) & GRPO_NEED_CLIPS_) ? grpo_check_dual_(&o->surrogate, b) : st;
}

GRPO_INLINE_ void grpo_put_(grpo_real *out, int64_t t, double x, int *overflow)
{
    if (!grpo_is_finite(x)) *overflow = 1;
#ifdef GRPO_DOUBLE
    out[t] = x;
#else
    if (x > FLT_MAX || x < -FLT_MAX) {                                 /* the halfway point to 2^128 rounds up */
        int inf = fabs(x) >= 3.4028235677973366e38;
        if (inf) *overflow = 1;
        out[t] = x > 0 ? (inf ? (float)HUGE_VAL : FLT_MAX) : (inf ? -(float)HUGE_VAL : -FLT_MAX);
    } else out[t] = (float)x;
#endif
}

/* ---- axes 1 and 2: rewards to advantages --------------------------------------------------------------------------------------- */

static grpo_dd grpo_dd_of_(double x) { grpo_dd r; r.hi = x; r.lo = 0; return r; }
static grpo_dd grpo_dd_minus_(grpo_dd a, grpo_dd b) { b.hi = -b.hi; b.lo = -b.lo; return grpo_dd_add(a, b); }

/* x/n, rounded once */
static double grpo_over_(grpo_dd x, double n)
{
    grpo_dd q = grpo_dd_div(x, n);
    return q.hi + q.lo;
}

static int grpo_dd_same_(grpo_dd a, grpo_dd b) { return a.hi == b.hi && a.lo == b.lo; }

/* x to 96 bits: what is exactly equal and was found in different ways becomes equal in every bit, what is exact becomes exact */
static grpo_dd grpo_dd_steady_(grpo_dd x)
{
    double big;
    int e;
    if (x.lo == 0) return x;
    frexp(x.hi, &e);
    if (e < -900) return grpo_dd_of_(x.hi);
    big = ldexp(3, e - 96 + 51);                                        /* its last bit is worth 2^(e - 96) */
    return grpo_two_sum(x.hi, (big + x.lo) - big);
}

/* e^y - y - 1 to twice the precision, 2^-69 */
static grpo_dd grpo_exp_minus_linear_twice_(grpo_dd y)
{
    grpo_dd v = grpo_dd_of_(1), one = v;
    int k;
    if (!(fabs(y.hi) < 1.0 / 1024)) return grpo_dd_minus_(grpo_dd_minus_(grpo_exp_twice(y), y), one);
    for (k = 10; k >= 3; k--) v = grpo_dd_add(one, grpo_dd_product(grpo_dd_div(y, k), v));
    return grpo_dd_mul(grpo_dd_product(grpo_dd_product(y, y), v), 0.5);
}

/* is a small sigma or mean of the group set against rewards that are large and not centred?  It then magnifies what they are rounded by */
static int grpo_magnifies_(const grpo_advantage *a)
{
    const grpo_baseline_kind b = a->baseline;
    if (a->scale == GRPO_SCALE_NONE || a->scale == GRPO_SCALE_TOKEN_WHITEN || a->scale == GRPO_SCALE_CONSTANT) return 0;
    return a->scale == GRPO_SCALE_GROUP_MEAN || a->shift != 0 || b == GRPO_BASELINE_NONE || b == GRPO_BASELINE_GIVEN
        || b == GRPO_BASELINE_BATCH_MEAN || b == GRPO_BASELINE_KALMAN;
}

/* the estimators of grpo_kl to twice the precision; k3, ten times slower so, where that counts */
static grpo_dd grpo_reward_kl_(const grpo_objective *o, const grpo_batch *b, int64_t t)
{
    grpo_dd D = grpo_two_diff((double)b->logp_old[t], (double)b->logp_ref[t]);
    switch (o->reward.kl) {
    case GRPO_KL_K1:  return D;
    case GRPO_KL_K2:  return grpo_dd_mul(grpo_dd_product(D, D), 0.5);
    case GRPO_KL_K3:
        if (!grpo_magnifies_(&o->advantage)) return grpo_dd_of_(grpo_kl(GRPO_KL_K3, D).value);
        return grpo_exp_minus_linear_twice_(grpo_dd_mul(D, -1));
    case GRPO_KL_ABS: return D.hi < 0 ? grpo_dd_mul(D, -1) : D;
    default:          return grpo_dd_of_(0);
    }
}

/* what the reward of a sequence is compared with: the lengths of its group */
typedef struct { double shortest, longest; } grpo_lengths_;

static grpo_lengths_ grpo_lengths_of_(const grpo_batch *b, int64_t g)
{
    int64_t i, shortest = b->length[b->group_begin[g]], longest = shortest;
    grpo_lengths_ l;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (b->length[i] < shortest) shortest = b->length[i];
        if (b->length[i] > longest) longest = b->length[i];
    }
    l.shortest = (double)shortest; l.longest = (double)longest;
    return l;
}

/* reward.length of a reward R, T tokens long */
static grpo_dd grpo_length_reward_(const grpo_reward *r, grpo_dd R, int correct, double T, grpo_lengths_ group)
{
    grpo_dd lambda;
    switch (r->length) {
    case GRPO_LENGTH_KIMI:
        lambda = grpo_kimi_length(T, group.shortest, group.longest, correct);
        return grpo_dd_add(R, grpo_dd_steady_(grpo_dd_mul(lambda, r->length_coef)));
    case GRPO_LENGTH_COSINE:
        R = correct ? grpo_cosine_length(T, r->length_max, r->correct_high, r->correct_low)
                    : grpo_cosine_length(T, r->length_max, r->wrong_low, r->wrong_high);
        return grpo_dd_steady_(R);
    case GRPO_LENGTH_INVERSE: return T > 0 ? grpo_dd_steady_(grpo_dd_div(R, T)) : grpo_dd_of_(0);
    default:                  return R;
    }
}

/* R_i; what is equal is equal in every bit */
static grpo_dd grpo_shaped_reward_(const grpo_objective *o, const grpo_batch *b, int64_t i, grpo_lengths_ group)
{
    const grpo_reward *r = &o->reward;
    const double reward = (double)b->reward[i], T = (double)b->length[i];
    const int exact = r->length == GRPO_LENGTH_NONE && r->overlong == GRPO_OVERLONG_NONE && r->map == GRPO_MAP_NONE;
    grpo_dd R = grpo_dd_of_(reward);
    grpo_sum s;
    int64_t t;
    int passes;
    if (r->truncated == GRPO_CUT_SCALE && b->truncated[i]) R = grpo_two_prod(reward, r->truncated_factor);
    R = grpo_length_reward_(r, R, reward > 0, T, group);
    R = grpo_dd_add(R, grpo_dd_steady_(grpo_overlong(r->overlong, T, r->overlong_max, r->overlong_cache, r->overlong_factor)));
    if (r->map == GRPO_MAP_AFFINE) {
        R = grpo_dd_mul(grpo_dd_add(R, grpo_dd_of_(r->map_bias)), r->map_factor);
        R = grpo_clamp(R, r->map_low, r->map_high, &passes);
    }
    if (r->kl == GRPO_KL_NONE || r->kl_coef == 0 || o->advantage.credit != GRPO_CREDIT_OUTCOME) return exact ? R : grpo_dd_steady_(R);
    memset(&s, 0, sizeof s);
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if (!b->mask || b->mask[t]) grpo_sum_add_dd_(&s, grpo_dd_mul(grpo_reward_kl_(o, b, t), -r->kl_coef));
    grpo_sum_add_dd_(&s, R);
    return grpo_dd_steady_(grpo_sum_dd_(&s));
}

/* ---- exact statistics ---- */

/* the square of x times a sign, exactly */
static void grpo_sum_add_square_(grpo_sum *s, double sign, grpo_dd x)
{
    grpo_sum_add_dd_(s, grpo_two_prod(sign * x.hi, x.hi));
    if (x.lo == 0) return;
    grpo_sum_add_dd_(s, grpo_two_prod(sign * 2 * x.hi, x.lo));
    grpo_sum_add_dd_(s, grpo_two_prod(sign * x.lo, x.lo));
}

static void grpo_values_take_(grpo_values *v, grpo_dd x)
{
    if (v->count == 0 || grpo_dd_less(x, v->min)) v->min = x;
    if (v->count == 0 || grpo_dd_less(v->max, x)) v->max = x;
    v->count++;
    grpo_sum_add_dd_(&v->sum, x);
    grpo_sum_add_square_(&v->squares, 1, x);
}

/* += n sum uv - sum u sum v, exactly */
static void grpo_covariance_add_(grpo_sum *acc, double n, const grpo_sum *uv, const grpo_sum *u, const grpo_sum *v)
{
    double q[4], s[4], t[4];
    int j, k;
    grpo_sum_expand_(uv, q, 4);
    grpo_sum_expand_(u, s, 4);
    grpo_sum_expand_(v, t, 4);
    for (j = 0; j < 4; j++) grpo_sum_add_dd_(acc, grpo_two_prod(n, q[j]));
    for (j = 0; j < 4; j++) for (k = 0; k < 4; k++) grpo_sum_add_dd_(acc, grpo_two_prod(-s[j], t[k]));
}

static double grpo_variance_divisor_(double n, grpo_std_kind kind) { return n * (kind == GRPO_STD_SAMPLE ? n - 1 : n); }

/* (n sum x^2 - (sum x)^2)/(n (n-1) or n^2), from exact sums: no offset of x can hurt; exactly 0 iff all x are equal */
static double grpo_variance_(const grpo_values *v, grpo_std_kind kind)
{
    double n = (double)v->count;
    grpo_sum acc;
    if (v->count < 2 || grpo_dd_same_(v->min, v->max)) return 0;
    memset(&acc, 0, sizeof acc);
    grpo_covariance_add_(&acc, n, &v->squares, &v->sum, &v->sum);
    if (v->squares.pos_inf || acc.pos_inf || acc.neg_inf) return HUGE_VAL;
    return grpo_sum_value_(&acc) / grpo_variance_divisor_(n, kind);
}

static int64_t grpo_unmasked_(const grpo_batch *b, int64_t i)
{
    int64_t t, n = 0;
    if (!b->mask) return b->length[i];
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) n += b->mask[t] != 0;
    return n;
}

/* ---- the items of a group ---- */

/* an item: its sequence; of a step also its token, and from grpo_next_item_ its number within the sequence */
typedef struct { int64_t i, t, number; } grpo_index_;

/* the items of group `index`, one column of rewards, and their statistics */
typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    int64_t index, column;
    int steps;                          /* the items are steps, not responses */
    grpo_step_group_kind pool;          /* only those of the pool of `of`, a history's of this level */
    grpo_index_ of;
    int64_t level;
    const grpo_values *values;          /* of the items, after the transform */
    grpo_lengths_ lengths;
    /* before the transform */
    int64_t count, positive;            /* items; those with R > 0 */
    int equal;                          /* all of them */
    grpo_dd largest, second;            /* second: the largest beside one that is largest */
    grpo_dd up, down;                   /* what the transform makes of the best (or those with R > 0) and of the others */
    grpo_dd factor;                     /* of pkpo */
    grpo_dd kth;                        /* the pass_k-th smallest */
    double gain_up, gain_down;          /* of difficulty and failure_power */
    /* after it */
    grpo_dd min, max;
    int64_t at_min, at_max;             /* items there */
    grpo_dd sum, weighted_sum;          /* sum R, sum T R */
    int doubles;                        /* all of them, so that the sums are exact */
    int64_t weight;                     /* sum T */
    grpo_dd baseline;                   /* where all items have the same and it is no mean */
    double variance;                    /* of group_std or residual_rms */
    double density;                     /* of beta */
    double deviation;                   /* of mean_deviation: sigma */
} grpo_group_;

/* the rewards of the tokens of credit entropy_share: of a prompt's responses with R > 0, or of the others */
typedef struct { grpo_dd sum; double count, sigma; } grpo_shares_;

typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    grpo_dd batch_sum;                  /* of what batch_variance is the variance of */
    double batch_variance, batch_count, gain, items;
    grpo_dd column_sum[GRPO_MAX_REWARDS];
    grpo_dd entropy, divergence;        /* sums over the batch's tokens */
    double tokens;
    int has_beta;                       /* the prompts' means differ */
    grpo_beta beta;
    int columns;
    grpo_group_ group[GRPO_MAX_REWARDS];                 /* of the group at hand, by column */
    grpo_values values[GRPO_MAX_REWARDS];
    grpo_group_ episode;                /* its responses, where the items are steps */
    grpo_values episode_values;
    grpo_shares_ shares[2];             /* R > 0: 1 */
} grpo_crediting_;

static grpo_index_ grpo_before_items_(const grpo_group_ *s)
{
    grpo_index_ at;
    at.i = s->batch->group_begin[s->index] - 1;
    at.t = at.number = -1;
    return at;
}

static int grpo_ends_step_(const grpo_batch *b, int64_t t) { return b->step_end[t] && (!b->mask || b->mask[t]); }

/* to the step before it in its response; 0: there is none */
static int grpo_previous_step_(const grpo_batch *b, grpo_index_ *at)
{
    for (at->t--, at->number--; at->t >= b->offset[at->i]; at->t--) if (grpo_ends_step_(b, at->t)) return 1;
    return 0;
}

static int64_t grpo_step_number_(const grpo_batch *b, grpo_index_ at)
{
    for (at.number = 0; grpo_previous_step_(b, &at); ) { }
    return -at.number - 1;
}

/* to the next step of the group; 0: there is none */
static int grpo_next_step_(const grpo_group_ *s, grpo_index_ *at)
{
    const grpo_batch *b = s->batch;
    for (at->t++; ; at->t++) {
        while (at->i < b->group_begin[s->index] || at->t >= b->offset[at->i] + b->length[at->i]) {
            if (++at->i >= b->group_begin[s->index + 1]) return 0;
            at->t = b->offset[at->i];
            at->number = -1;
        }
        if (grpo_ends_step_(b, at->t)) { at->number++; return 1; }
    }
}

/* have both steps the same last n states, their own and those of the steps before? */
static int grpo_same_history_(const grpo_batch *b, grpo_index_ x, grpo_index_ y, int64_t n)
{
    while (b->state[x.t] == b->state[y.t]) {
        if (--n == 0) return 1;
        if (!grpo_previous_step_(b, &x) || !grpo_previous_step_(b, &y)) return 0;
    }
    return 0;
}

static int grpo_in_pool_(const grpo_group_ *s, grpo_index_ at)
{
    switch (s->pool) {
    case GRPO_STEP_GROUP_STATE:   return s->batch->state[at.t] == s->batch->state[s->of.t];
    case GRPO_STEP_GROUP_INDEX:   return at.number == s->of.number;
    case GRPO_STEP_GROUP_HISTORY: return grpo_same_history_(s->batch, at, s->of, s->level);
    default:                      return 1;
    }
}

static int grpo_is_outside_(const grpo_objective *o, const grpo_batch *b, int64_t i)
{
    return o->advantage.outside != GRPO_OUTSIDE_NONE && b->outside && b->outside[i];
}

/* to the next item in order; 0: there is none */
static int grpo_next_item_(const grpo_group_ *s, grpo_index_ *at)
{
    while (!s->steps) {
        if (++at->i >= s->batch->group_begin[s->index + 1]) return 0;
        if (!grpo_is_outside_(s->obj, s->batch, at->i)) return 1;
    }
    while (grpo_next_step_(s, at)) if (grpo_in_pool_(s, *at)) return 1;
    return 0;
}

/* sum over this and later steps of gamma^(k' - k) r_k', backwards; the same rewards have the same bits */
static grpo_dd grpo_step_return_(const grpo_batch *b, double gamma, grpo_index_ at)
{
    grpo_dd G = grpo_dd_of_(0);
    int64_t t;
    for (t = b->offset[at.i] + b->length[at.i] - 1; t >= at.t; t--)
        if (grpo_ends_step_(b, t)) G = grpo_dd_add(grpo_dd_mul(G, gamma), grpo_dd_of_((double)b->step_reward[t]));
    return grpo_dd_steady_(G);
}

static grpo_dd grpo_step_value_(const grpo_group_ *s, grpo_index_ at)
{
    switch (s->obj->advantage.step_value) {
    case GRPO_STEP_VALUE_RETURN:   return grpo_step_return_(s->batch, s->obj->advantage.gamma, at);
    case GRPO_STEP_VALUE_RESPONSE: return grpo_shaped_reward_(s->obj, s->batch, at.i, s->lengths);
    default:                       return grpo_dd_of_((double)s->batch->step_reward[at.t]);
    }
}

static grpo_dd grpo_raw_(const grpo_group_ *s, grpo_index_ at)
{
    const grpo_batch *b = s->batch;
    if (s->steps) return grpo_step_value_(s, at);
    if (s->obj->advantage.rewards == GRPO_REWARDS_EACH) return grpo_dd_of_((double)b->rewards[at.i * b->n_rewards + s->column]);
    return grpo_shaped_reward_(s->obj, b, at.i, s->lengths);
}

static grpo_dd grpo_transformed_(const grpo_group_ *s, grpo_dd R);

/* R as baseline and scale see it */
static grpo_dd grpo_item_value_(const grpo_group_ *s, grpo_index_ at) { return grpo_transformed_(s, grpo_raw_(s, at)); }

/* the item that has `rank` among the sorted ones (0: the smallest); order: its place among all, which decides between equal ones;
 * raw: sorted before the transform */
typedef struct { int64_t rank, order; grpo_dd value; int raw; } grpo_sorted_;

static void grpo_sorted_next_(const grpo_group_ *s, grpo_sorted_ *x)
{
    grpo_sorted_ next = { 0, -1, { 0, 0 }, 0 };
    grpo_index_ at = grpo_before_items_(s);
    int64_t order;
    for (order = 0; grpo_next_item_(s, &at); order++) {
        grpo_dd R = x->raw ? grpo_raw_(s, at) : grpo_item_value_(s, at);
        if (x->rank >= 0 && (grpo_dd_less(R, x->value) || (grpo_dd_same_(R, x->value) && order <= x->order))) continue;
        if (next.order < 0 || grpo_dd_less(R, next.value)) { next.value = R; next.order = order; }
    }
    next.rank = x->rank + 1;
    next.raw = x->raw;
    *x = next;
}

static grpo_sorted_ grpo_sorted_at_(const grpo_group_ *s, int raw, int64_t rank)
{
    grpo_sorted_ x = { -1, -1, { 0, 0 }, 0 };
    x.raw = raw;
    while (x.rank < rank) grpo_sorted_next_(s, &x);
    return x;
}

/* items that are raw less than R, or up to it */
static int64_t grpo_raw_below_(const grpo_group_ *s, grpo_dd R, int or_same)
{
    grpo_index_ at = grpo_before_items_(s);
    int64_t n = 0;
    while (grpo_next_item_(s, &at)) {
        const grpo_dd x = grpo_raw_(s, at);
        n += grpo_dd_less(x, R) || (or_same && grpo_dd_same_(x, R));
    }
    return n;
}

/* what one of n items gets, the smallest being R_1: (C(r-1, k-1) R_r + sum over m > r of C(m-2, k-2) R_m)/C(n, k) for the r-th.  The same
 * for all up to the k-th, and for all that are equal: the last of them stands for them */
static grpo_dd grpo_pkpo_max_(const grpo_group_ *s, grpo_dd R)
{
    const double n = (double)s->count, k = s->obj->advantage.pass_k;
    grpo_sorted_ x = { 0, INT64_MAX, { 0, 0 }, 1 };
    grpo_dd own, above = grpo_dd_of_(0);
    double m;
    x.value = grpo_dd_less(R, s->kth) ? s->kth : R;
    x.rank = grpo_raw_below_(s, x.value, 1) - 1;
    own = grpo_dd_div(grpo_dd_mul(grpo_dd_product(grpo_binomial_ratio((double)x.rank, n - 1, k - 1), x.value), k), n);
    if (k == 1) return grpo_dd_steady_(own);
    for (m = (double)x.rank + 2; m <= n; m++) {
        grpo_sorted_next_(s, &x);
        above = grpo_dd_add(above, grpo_dd_product(grpo_binomial_ratio(m - 2, n - 2, k - 2), x.value));
    }
    return grpo_dd_steady_(grpo_dd_add(own, grpo_dd_div(grpo_dd_mul(above, k * (k - 1)), n * (n - 1))));
}

/* likewise sum over m of C(m-1, k-2) (R - R_m)/C(n, k), R_m the smaller ones */
static grpo_dd grpo_pkpo_gain_(const grpo_group_ *s, grpo_dd R)
{
    const double n = (double)s->count, k = s->obj->advantage.pass_k, smaller = (double)grpo_raw_below_(s, R, 0);
    grpo_sorted_ x = { -1, -1, { 0, 0 }, 1 };
    grpo_dd sum = grpo_dd_of_(0);
    double m;
    if (k == 1) return grpo_dd_steady_(grpo_dd_div(R, n));
    for (m = 1; m <= smaller; m++) {
        grpo_sorted_next_(s, &x);
        sum = grpo_dd_add(sum, grpo_dd_product(grpo_binomial_ratio(m - 1, n - 2, k - 2), grpo_dd_minus_(R, x.value)));
    }
    return grpo_dd_steady_(grpo_dd_div(grpo_dd_mul(sum, k * (k - 1)), n * (n - 1)));
}

static grpo_dd grpo_transformed_(const grpo_group_ *s, grpo_dd R)
{
    switch (s->obj->advantage.transform) {
    case GRPO_TRANSFORM_BEST_MINUS_SECOND: return grpo_dd_same_(R, s->largest) ? s->up : s->down;
    case GRPO_TRANSFORM_PASS_AT_K:         return R.hi > 0 ? s->up : s->down;
    case GRPO_TRANSFORM_PKPO:              return grpo_dd_steady_(grpo_dd_product(R, s->factor));
    case GRPO_TRANSFORM_PKPO_MAX:          return grpo_pkpo_max_(s, R);
    case GRPO_TRANSFORM_PKPO_GAIN:         return grpo_pkpo_gain_(s, R);
    default:                               return R;
    }
}

/* ---- baselines that are one number for the group ---- */

/* inf{x : #{R <= x}/n >= q} */
static grpo_dd grpo_quantile_(const grpo_group_ *s, double q)
{
    int64_t j = 1;
    while (j < s->count && (double)j / (double)s->count < q) j++;
    return grpo_sorted_at_(s, 0, j - 1).value;
}

/* between order statistics, at position q (n - 1) */
static grpo_dd grpo_quantile_linear_(const grpo_group_ *s, double q)
{
    grpo_dd h = grpo_two_prod(q, (double)(s->count - 1));
    double whole = floor(h.hi);
    grpo_sorted_ below, above;
    if (whole == h.hi && h.lo < 0) whole--;
    below = above = grpo_sorted_at_(s, 0, (int64_t)whole);
    if (below.rank < s->count - 1) grpo_sorted_next_(s, &above);
    h = grpo_dd_add(h, grpo_dd_of_(-whole));
    return grpo_dd_add(below.value, grpo_dd_product(h, grpo_dd_minus_(above.value, below.value)));
}

/* tau log((1/n) sum e^(R/tau)), from the largest R; the mean of e^x - 1 keeps what a mean near 1 would lose */
static grpo_dd grpo_log_mean_exp_(const grpo_group_ *s, double tau)
{
    grpo_sum powers, minus_one;
    grpo_index_ at = grpo_before_items_(s);
    double n = (double)s->count, below;
    memset(&powers, 0, sizeof powers);
    memset(&minus_one, 0, sizeof minus_one);
    if (grpo_dd_same_(s->min, s->max)) return s->max;
    while (grpo_next_item_(s, &at)) {
        grpo_dd x = grpo_dd_div(grpo_dd_minus_(grpo_item_value_(s, at), s->max), tau);
        grpo_sum_add_(&powers, grpo_exp(x));
        grpo_sum_add_(&minus_one, grpo_exp_minus_one(x));
    }
    below = grpo_sum_value_(&minus_one) / n;
    below = below > -0.5 ? log1p(below) : log(grpo_sum_value_(&powers) / n);
    return grpo_dd_add(s->max, grpo_two_prod(tau, below));
}

/* is [c, d] narrower than [a, b]?  Exact for doubles; of other numbers the last bits are not known */
static int grpo_narrower_(grpo_dd a, grpo_dd b, grpo_dd c, grpo_dd d)
{
    grpo_dd gain = grpo_dd_minus_(grpo_dd_minus_(b, a), grpo_dd_minus_(d, c));
    int doubles = a.lo == 0 && b.lo == 0 && c.lo == 0 && d.lo == 0;
    return gain.hi > (doubles ? 0 : ldexp(fabs(a.hi) + fabs(b.hi) + fabs(c.hi) + fabs(d.hi), -90));
}

/* median of the narrowest window of h sorted items */
static grpo_dd grpo_densest_(const grpo_group_ *s, double window)
{
    double n = (double)s->count, wanted = ceil(window * n);
    int64_t h = wanted < 1 ? 1 : wanted > n ? s->count : (int64_t)wanted;
    grpo_sorted_ low = grpo_sorted_at_(s, 0, 0), high = grpo_sorted_at_(s, 0, h - 1), first = low, last = high;
    while (high.rank < s->count - 1) {
        grpo_sorted_next_(s, &low);
        grpo_sorted_next_(s, &high);
        if (grpo_narrower_(first.value, last.value, low.value, high.value)) { first = low; last = high; }
    }
    low = high = grpo_sorted_at_(s, 0, first.rank + (h - 1) / 2);
    if (h % 2 == 0) grpo_sorted_next_(s, &high);
    return grpo_dd_mul(grpo_dd_add(low.value, high.value), 0.5);
}

static grpo_dd grpo_group_baseline_(const grpo_group_ *s)
{
    const grpo_advantage *a = &s->obj->advantage;
    grpo_dd b = grpo_dd_of_(0);
    if (s->count == 0) return b;
    switch (a->baseline) {
    case GRPO_BASELINE_QUANTILE:        b = grpo_quantile_(s, a->quantile); break;
    case GRPO_BASELINE_QUANTILE_LINEAR: b = grpo_quantile_linear_(s, a->quantile); break;
    case GRPO_BASELINE_LOG_MEAN_EXP:    b = grpo_log_mean_exp_(s, a->temperature); break;
    case GRPO_BASELINE_DENSEST:         b = grpo_densest_(s, a->window); break;
    default: break;
    }
    b.hi += 0;                                                          /* whichever of 0 and -0 came first */
    return b;
}

/* the filter just after item `at` */
static grpo_kalman grpo_filtered_(const grpo_group_ *s, grpo_index_ at)
{
    const grpo_advantage *a = &s->obj->advantage;
    grpo_kalman f = { { 0, 0 }, { 1, 0 }, { 0, 0 } };
    grpo_index_ k = grpo_before_items_(s);
    while (grpo_next_item_(s, &k)) {
        f = grpo_kalman_step(f, grpo_item_value_(s, k), a->process_noise, a->observation_noise);
        if (k.i == at.i && k.t == at.t) break;
    }
    return f;
}

/* ---- one item ---- */

/* baselines that a single item makes 0: singleton raw */
static int grpo_baseline_is_of_group_(grpo_baseline_kind k)
{
    return k != GRPO_BASELINE_NONE && k != GRPO_BASELINE_GIVEN && k != GRPO_BASELINE_BATCH_MEAN && k != GRPO_BASELINE_KALMAN;
}

static int grpo_scale_is_of_group_(grpo_scale_kind k)
{
    return k == GRPO_SCALE_GROUP_STD || k == GRPO_SCALE_GROUP_MEAN || k == GRPO_SCALE_RESIDUAL_RMS || k == GRPO_SCALE_MEAN_DEVIATION;
}

/* R - b without the shift, as numerator and divisor, so that it is rounded only once */
static grpo_dd grpo_centred_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at, grpo_dd R, double *divisor)
{
    const grpo_advantage *a = &c->obj->advantage;
    double n = (double)s->count;
    *divisor = 1;
    if (s->count == 1 && grpo_baseline_is_of_group_(a->baseline)) return R;                  /* singleton raw */
    switch (a->baseline) {
    case GRPO_BASELINE_NONE: break;
    case GRPO_BASELINE_GROUP_MEAN:
    case GRPO_BASELINE_LEAVE_ONE_OUT:
        *divisor = a->baseline == GRPO_BASELINE_GROUP_MEAN ? n : n - 1;
        return grpo_dd_same_(s->min, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(R, n), s->sum);
    case GRPO_BASELINE_LENGTH_WEIGHTED:
        if (s->weight == 0) break;
        *divisor = (double)s->weight;
        return grpo_dd_same_(s->min, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(R, *divisor), s->weighted_sum);
    case GRPO_BASELINE_GIVEN: return grpo_dd_minus_(R, grpo_dd_of_((double)c->batch->baseline[s->index]));
    case GRPO_BASELINE_BATCH_MEAN:
        if (c->items == 0) break;                                       /* unknown yet, or what follows takes off a mean anyway */
        *divisor = c->items;
        return grpo_dd_minus_(grpo_dd_mul(R, c->items), c->column_sum[s->column]);
    case GRPO_BASELINE_KALMAN: return grpo_filtered_(s, at).residual;
    default: return grpo_dd_minus_(R, s->baseline);
    }
    return R;
}

/* R - b */
static grpo_dd grpo_shifted_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at, grpo_dd R, double *divisor)
{
    grpo_dd x = grpo_centred_(c, s, at, R, divisor);
    return c->obj->advantage.shift == 0 ? x : grpo_dd_minus_(x, grpo_two_prod(c->obj->advantage.shift, *divisor));
}

/* V of the items other than one that is R */
static double grpo_variance_of_others_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_dd R)
{
    grpo_values others = *s->values;
    grpo_dd minus;
    minus.hi = -R.hi; minus.lo = -R.lo;
    if ((s->at_max == s->count - 1 && grpo_dd_same_(R, s->min)) || (s->at_min == s->count - 1 && grpo_dd_same_(R, s->max))) return 0;
    others.count--;
    grpo_sum_add_dd_(&others.sum, minus);
    grpo_sum_add_square_(&others.squares, -1, R);
    return grpo_variance_(&others, c->obj->advantage.std);
}

/* m + eps, 0 where m <= 0; of numbers that are no doubles the last bits are not known */
static double grpo_group_mean_sigma_(const grpo_group_ *s)
{
    double n = (double)s->count, largest = fabs(s->min.hi) > fabs(s->max.hi) ? fabs(s->min.hi) : fabs(s->max.hi);
    return s->sum.hi > (s->doubles ? 0 : ldexp(n * largest, -90)) ? grpo_over_(s->sum, n) + s->obj->advantage.eps : 0;
}

/* sigma; 0: a is 0 */
static double grpo_sigma_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at, grpo_dd R)
{
    const grpo_advantage *a = &c->obj->advantage;
    double variance = 0;
    switch (a->scale) {
    case GRPO_SCALE_NONE:
    case GRPO_SCALE_TOKEN_WHITEN: return 1;
    case GRPO_SCALE_CONSTANT:     return a->eps;
    case GRPO_SCALE_BETA:         return s->density;
    case GRPO_SCALE_GROUP_MEAN:   return grpo_group_mean_sigma_(s);
    case GRPO_SCALE_MEAN_DEVIATION: return s->deviation;
    case GRPO_SCALE_GROUP_STD:
    case GRPO_SCALE_RESIDUAL_RMS: variance = s->count == 1 ? 1 : s->variance; break;
    case GRPO_SCALE_BATCH_STD:
    case GRPO_SCALE_BATCH_CENTRED_STD: variance = c->batch_variance; break;
    case GRPO_SCALE_LEAVE_ONE_OUT_STD:
        variance = grpo_variance_of_others_(c, s, R);
        if (variance == 0) return 1;
        break;
    case GRPO_SCALE_KALMAN_STD: variance = grpo_filtered_(s, at).variance.hi; break;
    }
    return variance == 0 ? 0 : grpo_deviation(variance, a->eps, a->eps_place);
}

/* alone in a group that is its yardstick: a = 0 */
static int grpo_is_pinned_(const grpo_group_ *s)
{
    const grpo_advantage *a = &s->obj->advantage;
    return s->count == 1 && a->singleton == GRPO_SINGLETON_ZERO
        && (grpo_baseline_is_of_group_(a->baseline) || grpo_scale_is_of_group_(a->scale));
}

/* x/divisor is R - b; sigma 0: a is 0 */
typedef struct { grpo_dd x; double divisor, sigma; } grpo_item_parts_;

static grpo_item_parts_ grpo_item_parts_of_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at)
{
    grpo_item_parts_ p = { { 0, 0 }, 1, 0 };
    grpo_dd R;
    if (grpo_is_pinned_(s)) return p;
    R = grpo_item_value_(s, at);
    p.sigma = grpo_sigma_(c, s, at, R);
    p.x = grpo_shifted_(c, s, at, R, &p.divisor);
    return p;
}

static double grpo_outside_worth_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at);

/* a = (R - b)/sigma, of one column, without gain */
static double grpo_item_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at)
{
    grpo_item_parts_ p;
    if (grpo_is_outside_(c->obj, c->batch, at.i)) return grpo_outside_worth_(c, s, at);
    p = grpo_item_parts_of_(c, s, at);
    return p.sigma == 0 ? 0 : grpo_over_(p.x, p.divisor) / p.sigma;
}

/* a of a response that the statistics of its group leave out */
static double grpo_outside_worth_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at)
{
    const grpo_advantage *a = &c->obj->advantage;
    const grpo_dd R = grpo_item_value_(s, at);
    const double sigma = grpo_sigma_(c, s, at, R), n = (double)s->count;
    const int centres = s->count > 1 && a->baseline != GRPO_BASELINE_NONE;
    grpo_dd x = R;
    double best = -HUGE_VAL, own;
    if (s->count == 0 || a->outside == GRPO_OUTSIDE_ZERO) return 0;
    if (a->outside == GRPO_OUTSIDE_ANCHOR) {
        for (at = grpo_before_items_(s); grpo_next_item_(s, &at); best = own > best ? own : best) own = grpo_item_(c, s, at);
        return grpo_times(a->outside_coef, best);
    }
    if (sigma == 0 || grpo_is_pinned_(s)) return 0;
    if (centres) x = grpo_dd_same_(R, s->min) && grpo_dd_same_(R, s->max) ? grpo_dd_of_(0) : grpo_dd_minus_(grpo_dd_mul(R, n), s->sum);
    if (a->shift != 0) x = grpo_dd_minus_(x, grpo_two_prod(a->shift, centres ? n : 1));
    return grpo_over_(x, centres ? n : 1) / sigma;
}

/* the same with its rounding, for an exponential */
static grpo_dd grpo_item_twice_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at)
{
    const grpo_item_parts_ p = grpo_item_parts_of_(c, s, at);
    return p.sigma == 0 ? grpo_dd_of_(0) : grpo_dd_div(grpo_dd_div(p.x, p.divisor), p.sigma);
}

static double grpo_weighted_columns_(const grpo_crediting_ *c, grpo_index_ at)
{
    grpo_dd a = grpo_dd_of_(0);
    int k;
    for (k = 0; k < c->columns; k++) {
        double w = c->batch->reward_weight ? (double)c->batch->reward_weight[k] : 1, x = grpo_item_(c, &c->group[k], at);
        if (w != 0 && x != 0) a = grpo_dd_add(a, grpo_two_prod(w, x));
    }
    return a.hi;
}

/* (x - mean)/sigma with the mean of the batch; 0 where it does not vary, or too much for double */
static double grpo_normalised_(const grpo_crediting_ *c, double x, double sigma)
{
    double n = c->batch_count;
    if (c->batch_variance == 0 || !grpo_is_finite(sigma)) return 0;
    return grpo_dd_minus_(grpo_two_prod(n, x), c->batch_sum).hi / (n * sigma);
}

static double grpo_pool_worth_(const grpo_crediting_ *c, grpo_index_ at);

/* a with its gain, after the second normalisation */
static double grpo_worth_(const grpo_crediting_ *c, grpo_index_ at)
{
    const grpo_advantage *o = &c->obj->advantage;
    const grpo_group_ *s = &c->group[0];
    double a;
    if (s->steps && o->step_group != GRPO_STEP_GROUP_PROMPT) return grpo_pool_worth_(c, at);
    if (o->gain == GRPO_GAIN_EXPONENTIAL) return grpo_exponential_gain(grpo_item_twice_(c, s, at), o->gain_temperature);
    a = o->rewards == GRPO_REWARDS_EACH ? grpo_weighted_columns_(c, at) : grpo_item_(c, s, at);
    if (o->gain == GRPO_GAIN_DIFFICULTY || o->gain == GRPO_GAIN_FAILURE_POWER) return grpo_times(a, a > 0 ? s->gain_up : s->gain_down);
    if (o->gain == GRPO_GAIN_LENGTH_POWER) {
        int64_t T = grpo_unmasked_(c->batch, at.i);
        return T ? grpo_times(a, grpo_dd_mul(grpo_length_power((double)T, o->length_power), c->gain).hi) : 0;
    }
    if (o->second == GRPO_SECOND_BATCH && c->batch_count > 0) return grpo_normalised_(c, a, sqrt(c->batch_variance) + o->second_eps);
    return grpo_times(a, c->gain);
}

/* ---- one group ---- */

static void grpo_group_take_(grpo_group_ *s, grpo_values *v, grpo_sum *weighted, int64_t tokens, grpo_dd R)
{
    if (v->count == 0 || grpo_dd_less(R, v->min)) s->at_min = 0;
    if (v->count == 0 || grpo_dd_less(v->max, R)) s->at_max = 0;
    if (v->count) {
        grpo_dd lesser = grpo_dd_less(R, v->max) ? R : v->max;
        if (v->count == 1 || grpo_dd_less(s->second, lesser)) s->second = lesser;
    }
    grpo_values_take_(v, R);
    s->at_min += grpo_dd_same_(R, v->min);
    s->at_max += grpo_dd_same_(R, v->max);
    s->positive += R.hi > 0;
    s->doubles &= R.lo == 0;
    s->weight += tokens;
    if (tokens) {
        grpo_sum_add_dd_(weighted, grpo_two_prod((double)tokens, R.hi));
        if (R.lo != 0) grpo_sum_add_dd_(weighted, grpo_two_prod((double)tokens, R.lo));
    }
}

/* all items, before or after the transform */
static void grpo_group_survey_(grpo_group_ *s, int transformed, grpo_values *v)
{
    const int weigh = s->obj->advantage.baseline == GRPO_BASELINE_LENGTH_WEIGHTED;
    grpo_index_ at = grpo_before_items_(s);
    grpo_sum weighted;
    memset(v, 0, sizeof *v);
    memset(&weighted, 0, sizeof weighted);
    s->positive = s->weight = 0;
    s->doubles = 1;
    while (grpo_next_item_(s, &at)) {
        grpo_dd R = grpo_raw_(s, at);
        grpo_group_take_(s, v, &weighted, weigh ? grpo_unmasked_(s->batch, at.i) : 0, transformed ? grpo_transformed_(s, R) : R);
    }
    s->count = v->count;
    s->min = v->min; s->max = v->max;
    s->sum = grpo_sum_dd_(&v->sum);
    if (weigh) s->weighted_sum = grpo_sum_dd_(&weighted);
}

/* after the survey of the items before it: what the transform needs to know; s->variance is V of group_std */
static void grpo_group_transform_(grpo_group_ *s, grpo_values *v)
{
    const grpo_advantage *a = &s->obj->advantage;
    const double n = (double)s->count, c = (double)s->positive;
    grpo_pass_at_k_values pass;
    if (a->transform == GRPO_TRANSFORM_BEST_MINUS_SECOND && s->count > 1) s->up = grpo_dd_minus_(s->largest, s->second);
    s->up.hi += 0;                                                      /* no -0, whichever of 0 and -0 was the second */
    if (a->transform == GRPO_TRANSFORM_PASS_AT_K) {
        pass = grpo_pass_at_k(n, c, a->pass_k);
        s->up.hi = pass.up; s->down.hi = pass.down;
        s->variance = pass.variance;
    } else if (a->transform == GRPO_TRANSFORM_PKPO) s->factor = grpo_binomial_ratio(n - c, n - 1, a->pass_k - 1);
    else s->variance = grpo_variance_(v, a->std);
    if (a->transform == GRPO_TRANSFORM_NONE) return;
    if (a->transform == GRPO_TRANSFORM_PKPO_MAX) s->kth = grpo_sorted_at_(s, 1, (int64_t)a->pass_k - 1).value;
    grpo_group_survey_(s, 1, v);
    s->positive = (int64_t)c;
    if (a->transform == GRPO_TRANSFORM_PASS_AT_K) s->sum = grpo_dd_of_(0);                  /* c up + (n - c) down */
    if (a->transform >= GRPO_TRANSFORM_PKPO) s->variance = grpo_variance_(v, a->std);       /* and its forms for any rewards */
}

/* sum (R - b)^2/(n - 1 or n) */
static double grpo_residual_variance_(const grpo_crediting_ *c, const grpo_group_ *s)
{
    grpo_index_ at = grpo_before_items_(s);
    double n = (double)s->count, divisor;
    grpo_sum squares;
    if (s->count < 2) return 0;
    memset(&squares, 0, sizeof squares);
    while (grpo_next_item_(s, &at)) {
        grpo_dd x = grpo_shifted_(c, s, at, grpo_item_value_(s, at), &divisor);
        grpo_sum_add_square_(&squares, 1, grpo_dd_of_(grpo_over_(x, divisor)));
    }
    return grpo_sum_value_(&squares) / (c->obj->advantage.std == GRPO_STD_SAMPLE ? n - 1 : n);
}

/* sigma of DGPO (2601.20614): (sum |R - mean R| + eps)/n, 1 for a single item, 0 where all are equal */
static double grpo_mean_deviation_(const grpo_crediting_ *c, const grpo_group_ *s)
{
    grpo_index_ at = grpo_before_items_(s);
    const double n = (double)s->count;
    grpo_sum sum;
    grpo_dd x;
    if (s->count == 1) return 1;
    if (grpo_dd_same_(s->min, s->max)) return 0;
    memset(&sum, 0, sizeof sum);
    while (grpo_next_item_(s, &at)) {
        x = grpo_dd_minus_(grpo_dd_mul(grpo_item_value_(s, at), n), s->sum);
        grpo_sum_add_dd_(&sum, x.hi < 0 ? grpo_dd_negative(x) : x);
    }
    return grpo_over_(grpo_dd_add(grpo_dd_div(grpo_sum_dd_(&sum), n), grpo_dd_of_(c->obj->advantage.eps)), n);
}

/* p of BNPO: the mean of the items, 0 for a single one */
static grpo_dd grpo_success_rate_(const grpo_group_ *s)
{
    return s->count < 2 ? grpo_dd_of_(0) : grpo_dd_steady_(grpo_dd_div(s->sum, (double)s->count));
}

/* everything about the items that s says which they are */
static void grpo_group_study_(const grpo_crediting_ *c, grpo_group_ *s, grpo_values *v)
{
    const grpo_advantage *a = &c->obj->advantage;
    s->obj = c->obj; s->batch = c->batch; s->values = v;
    s->lengths = grpo_lengths_of_(c->batch, s->index);
    grpo_group_survey_(s, 0, v);
    s->equal = grpo_dd_same_(s->min, s->max);
    s->largest = s->max;
    if (s->count == 0) return;
    if (a->gain == GRPO_GAIN_DIFFICULTY) {
        double n = (double)s->count, won = (double)s->positive;
        s->gain_up = grpo_difficulty(won, n, a->gain_low, a->gain_high, a->gain_slope, a->gain_centre);
        s->gain_down = grpo_difficulty(n - won, n, a->gain_low, a->gain_high, a->gain_slope, a->gain_centre);
    }
    if (a->gain == GRPO_GAIN_FAILURE_POWER)
        s->gain_up = s->gain_down = grpo_failure_power(grpo_dd_div(s->sum, (double)s->count), a->gain_low, a->gain_high, a->gain_power);
    grpo_group_transform_(s, v);
    if (a->scale == GRPO_SCALE_MEAN_DEVIATION) s->deviation = grpo_mean_deviation_(c, s);
    s->baseline = grpo_group_baseline_(s);
    if (a->scale == GRPO_SCALE_RESIDUAL_RMS) s->variance = grpo_residual_variance_(c, s);
    if (c->has_beta) s->density = fmax(grpo_beta_density(c->beta.alpha, c->beta.beta, grpo_success_rate_(s)), 1e-6);
}

/* the pool of step `of`; level: of a history */
static void grpo_pool_of_(const grpo_crediting_ *c, grpo_index_ of, int64_t level, grpo_group_ *s, grpo_values *v)
{
    memset(s, 0, sizeof *s);
    s->index = c->group[0].index; s->steps = 1; s->level = level; s->of = of;
    s->pool = c->obj->advantage.step_group;
    grpo_group_study_(c, s, v);
}

/* a_k where it is not exactly 0; of numbers that are no doubles the last bits are not known */
static double grpo_level_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at)
{
    const double largest = fabs(s->min.hi) > fabs(s->max.hi) ? fabs(s->min.hi) : fabs(s->max.hi);
    const grpo_item_parts_ p = grpo_item_parts_of_(c, s, at);
    if (p.sigma == 0 || fabs(p.x.hi) <= (s->doubles ? 0 : ldexp(p.divisor * largest, -90))) return 0;
    return grpo_over_(p.x, p.divisor) / p.sigma;
}

/* sum w_k a_k of HGPO; the pools are nested */
static double grpo_history_(const grpo_crediting_ *c, grpo_index_ at)
{
    const grpo_advantage *a = &c->obj->advantage;
    grpo_dd sum = grpo_dd_of_(0), weights = sum;
    grpo_values values;
    grpo_group_ s;
    int64_t k;
    for (k = 1; (double)k <= a->history && k <= at.number + 1; k++) {
        grpo_dd w = grpo_length_power((double)(k + 1), -a->history_power);
        double x;
        grpo_pool_of_(c, at, k, &s, &values);
        if (s.count < 2) break;
        x = grpo_level_(c, &s, at);
        if (x == 0) continue;
        weights = grpo_dd_add(weights, w);
        sum = grpo_dd_add(sum, grpo_dd_mul(w, x));
    }
    return weights.hi > 0 ? grpo_dd_quotient(sum, weights).hi : 0;
}

/* a of a step within its pool */
static double grpo_pool_worth_(const grpo_crediting_ *c, grpo_index_ at)
{
    grpo_values values;
    grpo_group_ s;
    at.number = grpo_step_number_(c->batch, at);
    if (c->obj->advantage.step_group == GRPO_STEP_GROUP_HISTORY) return grpo_history_(c, at);
    grpo_pool_of_(c, at, 0, &s, &values);
    return grpo_item_(c, &s, at);
}

/* ---- rewards by the share of the entropy ---- */

static int grpo_is_plus_(const grpo_crediting_ *c, int64_t i)
{
    return grpo_shaped_reward_(c->obj, c->batch, i, c->group[0].lengths).hi > 0;
}

/* what token t of sequence i has of the entropy at its position, or of its inverse: H, or 1/(H + share_eps) */
static grpo_dd grpo_share_part_(const grpo_crediting_ *c, int plus, int64_t t)
{
    const double H = (double)c->batch->entropy[t];
    if (plus) return grpo_dd_of_(H);
    return grpo_dd_quotient(grpo_dd_of_(1), grpo_two_sum(H, c->obj->advantage.share_eps));
}

/* u of GTPO (2508.04349): R + c n H/sum H where R > 0, else -1 - c n h/sum h, h = 1/(H + eps); sums over the n responses of that kind that
 * have a token at the position */
static grpo_dd grpo_shared_reward_(const grpo_crediting_ *c, int64_t i, int64_t t)
{
    const grpo_batch *b = c->batch;
    const int64_t g = c->group[0].index, position = t - b->offset[i];
    const int plus = grpo_is_plus_(c, i);
    grpo_dd u = plus ? grpo_shaped_reward_(c->obj, b, i, c->group[0].lengths) : grpo_dd_of_(-1), share, total;
    grpo_sum sum;
    int64_t k, n = 0;
    memset(&sum, 0, sizeof sum);
    for (k = b->group_begin[g]; k < b->group_begin[g + 1]; k++) {
        const int64_t at = b->offset[k] + position;
        if (position >= b->length[k] || (b->mask && !b->mask[at]) || grpo_is_plus_(c, k) != plus) continue;
        grpo_sum_add_dd_(&sum, grpo_share_part_(c, plus, at));
        n++;
    }
    total = grpo_sum_dd_(&sum);
    share = grpo_dd_mul(grpo_share_part_(c, plus, t), (double)n);
    if (total.hi == 0 || share.hi == 0 || !grpo_is_finite(total.hi) || !grpo_is_finite(share.hi)) return u;
    share = grpo_dd_mul(grpo_dd_steady_(grpo_dd_quotient(share, total)), plus ? c->obj->advantage.share_coef : -c->obj->advantage.share_coef);
    return grpo_dd_steady_(grpo_dd_add(u, share));
}

/* mean and sigma over the tokens of the prompt's responses with R > 0, or of the others */
static grpo_shares_ grpo_shares_of_(const grpo_crediting_ *c, int64_t g, int plus)
{
    const grpo_batch *b = c->batch;
    const grpo_advantage *a = &c->obj->advantage;
    grpo_shares_ r;
    grpo_values v;
    double variance;
    int64_t i, t;
    memset(&v, 0, sizeof v);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (grpo_is_plus_(c, i) != plus) continue;
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (!b->mask || b->mask[t]) grpo_values_take_(&v, grpo_shared_reward_(c, i, t));
    }
    variance = grpo_variance_(&v, a->std);
    r.count = (double)v.count;
    r.sum = grpo_sum_dd_(&v.sum);
    r.sigma = variance == 0 ? 0 : grpo_deviation(variance, a->eps, a->eps_place);
    return r;
}

static grpo_dd grpo_shared_(const grpo_crediting_ *c, int64_t i, int64_t t)
{
    const grpo_shares_ *s = &c->shares[grpo_is_plus_(c, i)];
    if (s->sigma == 0 || !grpo_is_finite(s->sigma)) return grpo_dd_of_(0);
    return grpo_dd_of_(grpo_over_(grpo_dd_minus_(grpo_dd_mul(grpo_shared_reward_(c, i, t), s->count), s->sum), s->count) / s->sigma);
}

static void grpo_take_group_(grpo_crediting_ *c, int64_t g)
{
    const grpo_advantage *a = &c->obj->advantage;
    int k;
    for (k = 0; k < c->columns; k++) {
        memset(&c->group[k], 0, sizeof c->group[k]);
        c->group[k].index = g; c->group[k].column = k; c->group[k].steps = grpo_credits_steps_(a);
        grpo_group_study_(c, &c->group[k], &c->values[k]);
    }
    if (a->credit == GRPO_CREDIT_EPISODE_STEP) {
        memset(&c->episode, 0, sizeof c->episode);
        c->episode.index = g;
        grpo_group_study_(c, &c->episode, &c->episode_values);
    }
    for (k = 0; a->credit == GRPO_CREDIT_ENTROPY_SHARE && k < 2; k++) c->shares[k] = grpo_shares_of_(c, g, k);
}

/* ---- credit ---- */

/* A in two parts: what the gain multiplies, and what it does not (KL, critic) */
typedef struct { grpo_dd own, rest; } grpo_credited_;

static double grpo_credited_value_(grpo_credited_ A) { return A.rest.hi == 0 ? A.own.hi : grpo_dd_add(A.own, A.rest).hi; }

/* token reward rho_t of credit return, step and both gae; a: the sequence's item */
static grpo_credited_ grpo_token_reward_(const grpo_crediting_ *c, int64_t i, int64_t t, int last, double a)
{
    const grpo_objective *o = c->obj;
    const grpo_batch *b = c->batch;
    grpo_credited_ rho = { { 0, 0 }, { 0, 0 } };
    grpo_index_ at;
    at.i = i; at.t = t; at.number = -1;
    if (!grpo_credits_steps_(&o->advantage)) { if (last) rho.own.hi = a; }
    else if (b->step_end[t]) rho.own.hi = grpo_worth_(c, at);
    if (o->reward.kl != GRPO_KL_NONE && o->reward.kl_coef != 0) rho.rest = grpo_dd_mul(grpo_reward_kl_(o, b, t), -o->reward.kl_coef);
    return rho;
}

static double grpo_whitened_(const grpo_crediting_ *c, double A)
{
    const grpo_advantage *a = &c->obj->advantage;
    return grpo_normalised_(c, A, grpo_deviation(c->batch_variance, a->eps, a->eps_place));
}

/* what the token level knows of a sequence, whose tokens it meets from the last to the first */
typedef struct {
    int flat;                           /* entropy zero_variance acts on it */
    int positive;                       /* R > 0 */
    double max_entropy;
    int uncertain;                      /* its mean entropy is above the cap of entropy response */
    grpo_dd mean_entropy;
    grpo_dd gap, discounts;             /* of the teacher, from the token at hand on */
} grpo_token_stage_;

/* exactly: is the mean above the cap? */
static void grpo_find_mean_entropy_(const grpo_crediting_ *c, int64_t i, grpo_token_stage_ *s)
{
    const grpo_batch *b = c->batch;
    const double n = (double)grpo_unmasked_(b, i), cap = c->obj->advantage.entropy_cap;
    grpo_sum sum;
    int64_t t;
    memset(&sum, 0, sizeof sum);
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (!b->mask || b->mask[t]) grpo_sum_add_(&sum, (double)b->entropy[t]);
    if (n > 0) s->mean_entropy = grpo_dd_div(grpo_sum_dd_(&sum), n);
    grpo_sum_add_dd_(&sum, grpo_two_prod(-cap, n));
    s->uncertain = cap != 0 && grpo_sum_value_(&sum) > 0;
}

static grpo_token_stage_ grpo_token_stage_of_(const grpo_crediting_ *c, int64_t i)
{
    const grpo_batch *b = c->batch;
    grpo_token_stage_ s = { 0, 0, -HUGE_VAL, 0, { 0, 0 }, { 0, 0 }, { 0, 0 } };
    int64_t t;
    int k;
    if (c->obj->advantage.entropy == GRPO_ENTROPY_RESPONSE) grpo_find_mean_entropy_(c, i, &s);
    if (c->obj->advantage.entropy != GRPO_ENTROPY_ZERO_VARIANCE) return s;
    for (s.flat = 1, k = 0; k < c->columns; k++) s.flat &= c->group[k].equal;
    s.positive = grpo_shaped_reward_(c->obj, b, i, c->group[0].lengths).hi > 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        if ((!b->mask || b->mask[t]) && (double)b->entropy[t] > s.max_entropy) s.max_entropy = (double)b->entropy[t];
    return s;
}

static double grpo_with_entropy_(const grpo_crediting_ *c, const grpo_token_stage_ *s, int64_t t, double A)
{
    const grpo_advantage *a = &c->obj->advantage;
    const grpo_batch *b = c->batch;
    if (a->entropy == GRPO_ENTROPY_BONUS) {
        double bonus = a->entropy_coef * (double)b->entropy[t], most = fabs(A) / a->entropy_cap;
        A = grpo_plus(A, bonus < most ? bonus : most);
    }
    if (s->flat) A = s->positive ? a->entropy_coef * (double)b->entropy[t]
                                 : grpo_dd_mul(grpo_two_diff(s->max_entropy, (double)b->entropy[t]), -a->entropy_coef).hi;
    if (a->entropy == GRPO_ENTROPY_RELATIVE)
        A = grpo_times(A, grpo_relative_entropy((double)b->entropy[t], grpo_dd_div(c->entropy, c->tokens), a->entropy_coef));
    if (a->entropy == GRPO_ENTROPY_RESPONSE)
        A = s->uncertain ? 0 : grpo_dd_add(grpo_dd_mul(s->mean_entropy, -a->entropy_coef), grpo_dd_of_(A)).hi;
    return A;
}

/* what teacher_coef multiplies at token t, of which `gap` is the teacher's log-ratio */
static grpo_dd grpo_teacher_term_(const grpo_advantage *a, grpo_token_stage_ *s, grpo_dd gap)
{
    if (a->teacher_gamma == 0) return gap;
    s->gap = grpo_dd_add(gap, grpo_dd_mul(s->gap, a->teacher_gamma));
    s->discounts = grpo_dd_add(grpo_dd_of_(1), grpo_dd_mul(s->discounts, a->teacher_gamma));
    return a->teacher_norm == GRPO_TEACHER_NORM_MEAN ? grpo_dd_quotient(s->gap, s->discounts) : s->gap;
}

/* m - D of the token, as one number */
static grpo_dd grpo_centred_divergence_(const grpo_crediting_ *c, int64_t t)
{
    const grpo_dd D = grpo_two_diff((double)c->batch->logp_rollout[t], (double)c->batch->logp_ref[t]);
    return grpo_dd_div(grpo_dd_minus_(c->divergence, grpo_dd_mul(D, c->tokens)), c->tokens);
}

/* does anything follow a token's credit, whitening and baseline? */
static int grpo_finishes_(const grpo_advantage *a)
{
    return a->entropy != GRPO_ENTROPY_NONE || a->teacher_share != 0 || a->teacher_coef != 0 || a->kl_centred_coef != 0
        || a->marked != GRPO_MARKED_NONE || a->advantage_low != 0 || a->advantage_high != 0;
}

/* A with entropy, teacher, centred KL, mark and clamp */
static double grpo_finished_(const grpo_crediting_ *c, grpo_token_stage_ *s, int64_t t, double A)
{
    const grpo_advantage *a = &c->obj->advantage;
    const grpo_batch *b = c->batch;
    if (a->entropy != GRPO_ENTROPY_NONE) A = grpo_with_entropy_(c, s, t, A);
    if (a->teacher_coef != 0 || a->teacher_share != 0) {
        const grpo_dd gap = grpo_two_diff((double)b->logp_teacher[t], (double)b->logp_old[t]);
        if (a->teacher_share != 0) A = grpo_teacher_shared(A, gap, a->teacher_share, a->teacher_clip);
        if (a->teacher_coef != 0) A = grpo_dd_add(grpo_dd_mul(grpo_teacher_term_(a, s, gap), a->teacher_coef), grpo_dd_of_(A)).hi;
    }
    if (a->kl_centred_coef != 0)
        A = grpo_dd_add(grpo_dd_mul(grpo_centred_divergence_(c, t), a->kl_centred_coef), grpo_dd_of_(A)).hi;
    if (a->marked != GRPO_MARKED_NONE && b->selected[t]) A = grpo_marked(a->marked, A, a->marked_value);
    if (a->advantage_low == 0 && a->advantage_high == 0) return A;
    return A < a->advantage_low ? a->advantage_low : A > a->advantage_high ? a->advantage_high : A;
}

/* does the gain multiply only a part of A? */
static int grpo_splits_(const grpo_objective *o)
{
    const grpo_advantage *a = &o->advantage;
    return grpo_gain_is_of_batch_(a->gain) && a->credit != GRPO_CREDIT_OUTCOME
        && (grpo_has_critic_(a) || (o->reward.kl != GRPO_KL_NONE && o->reward.kl_coef != 0));
}

static void grpo_collect_(const grpo_objective *o, grpo_moments *m, grpo_credited_ A)
{
    if (!grpo_splits_(o)) { grpo_values_take_(&m->values, grpo_dd_of_(grpo_credited_value_(A))); return; }
    grpo_values_take_(&m->values, grpo_dd_of_(A.own.hi));
    grpo_sum_add_(&m->rest, A.rest.hi);
    grpo_sum_add_dd_(&m->rest_squares, grpo_two_prod(A.rest.hi, A.rest.hi));
    grpo_sum_add_dd_(&m->rest_cross, grpo_two_prod(A.own.hi, A.rest.hi));
}

/* the tokens of sequence i, taken backwards */
typedef struct {
    int64_t i;
    double item;                        /* what it is worth, or the step at hand */
    double episode;                     /* e of credit episode_step */
    grpo_dd decay;
    grpo_credited_ G;
    double v_next;
    int last;                           /* the last token is yet to come */
    int repeats;                        /* its value is that of what would have followed */
    double tail, met;                   /* tokens at the end that are not credited, tokens met */
    int64_t branch;                     /* of prefix_tree: the position before which the responses part that were the last to part */
    double sigma;
} grpo_backwards_;

/* ---- prefixes of a prompt's responses ---- */

/* positions from the first on at which both have the same unmasked token */
static int64_t grpo_common_prefix_(const grpo_batch *b, int64_t i, int64_t j)
{
    const int64_t most = b->length[i] < b->length[j] ? b->length[i] : b->length[j], x = b->offset[i], y = b->offset[j];
    int64_t k = 0;
    while (k < most && (!b->mask || (b->mask[x + k] && b->mask[y + k])) && b->state[x + k] == b->state[y + k]) k++;
    return k;
}

/* the longest prefix of response i that another has too, below a limit; -1: there is none */
static int64_t grpo_branch_below_(const grpo_crediting_ *c, int64_t i, int64_t limit)
{
    const grpo_batch *b = c->batch;
    const int64_t g = c->group[0].index;
    int64_t j, branch = -1;
    for (j = b->group_begin[g]; j < b->group_begin[g + 1]; j++) {
        const int64_t k = j != i ? grpo_common_prefix_(b, i, j) : -1;
        if (k < limit && k > branch) branch = k;
    }
    return branch;
}

/* V of the responses that have i's first n + 1 tokens, less V of those that have the first n; 0 where they all have the same R */
static double grpo_branch_value_(const grpo_crediting_ *c, int64_t i, int64_t n)
{
    const grpo_batch *b = c->batch;
    const int64_t g = c->group[0].index;
    grpo_values before;
    grpo_sum after;
    grpo_dd sum;
    double still = 0, all;
    int64_t j;
    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    for (j = b->group_begin[g]; j < b->group_begin[g + 1]; j++) {
        const int64_t k = j != i ? grpo_common_prefix_(b, i, j) : n + 1;
        const grpo_dd R = k < n ? grpo_dd_of_(0) : grpo_shaped_reward_(c->obj, b, j, c->group[0].lengths);
        if (k < n) continue;
        grpo_values_take_(&before, R);
        if (k > n) { grpo_sum_add_dd_(&after, R); still++; }
    }
    if (grpo_dd_same_(before.min, before.max)) return 0;
    all = (double)before.count;
    sum = grpo_dd_minus_(grpo_dd_mul(grpo_sum_dd_(&after), all), grpo_dd_mul(grpo_sum_dd_(&before.sum), still));
    return grpo_over_(sum, still * all);
}

/* A of a token of credit prefix_tree */
static grpo_dd grpo_tree_credit_(const grpo_crediting_ *c, grpo_backwards_ *s, int64_t t)
{
    const int64_t position = t - c->batch->offset[s->i];
    while (s->branch > position) s->branch = grpo_branch_below_(c, s->i, s->branch);
    if (s->branch != position || s->sigma == 0) return grpo_dd_of_(s->item);
    return grpo_dd_of_(grpo_plus(s->item, grpo_branch_value_(c, s->i, position) / s->sigma));
}

static grpo_backwards_ grpo_backwards_of_(const grpo_crediting_ *c, int64_t i)
{
    const grpo_advantage *a = &c->obj->advantage;
    grpo_backwards_ s;
    grpo_index_ at;
    memset(&s, 0, sizeof s);
    at.i = i; at.t = at.number = -1;
    s.i = i;
    s.last = 1;
    s.decay = grpo_dd_of_(a->lambda);
    if (a->lambda_length > 0) {
        const grpo_dd least = grpo_length_lambda(a->lambda_length, (double)grpo_unmasked_(c->batch, i));
        if (grpo_dd_less(s.decay, least)) s.decay = least;
    }
    if (!grpo_credits_steps_(a)) s.item = grpo_worth_(c, at);
    if (c->batch->truncated && c->batch->truncated[i]) {
        s.tail = a->truncated_tail;
        s.repeats = a->credit == GRPO_CREDIT_GAE && a->bootstrap == GRPO_BOOTSTRAP_REPEAT;
        if (s.repeats) s.item = 0;
    }
    if (a->credit == GRPO_CREDIT_PREFIX_TREE) {
        s.sigma = grpo_item_parts_of_(c, &c->group[0], at).sigma;
        s.branch = grpo_branch_below_(c, i, INT64_MAX);
    }
    if (a->credit == GRPO_CREDIT_OUTCOME) s.G.own.hi = s.item;
    if (a->credit == GRPO_CREDIT_EPISODE_STEP) s.episode = grpo_item_(c, &c->episode, at);
    return s;
}

/* A of a token of credit step_own or episode_step */
static grpo_dd grpo_step_credit_(const grpo_crediting_ *c, grpo_backwards_ *s, int64_t t)
{
    const grpo_advantage *a = &c->obj->advantage;
    grpo_index_ at;
    at.i = s->i; at.t = t; at.number = -1;
    if (c->batch->step_end[t]) s->item = grpo_worth_(c, at);
    if (a->credit == GRPO_CREDIT_STEP_OWN) return grpo_dd_of_(s->item);
    return grpo_dd_of_(grpo_dd_add(grpo_two_prod(a->step_coef, s->item), grpo_dd_of_(s->episode)).hi);
}

/* G times a discount, where 0 wins over an infinity */
static grpo_dd grpo_discounted_(grpo_dd G, double gamma) { return gamma == 0 ? grpo_dd_of_(0) : grpo_dd_mul(G, gamma); }

/* A of credit return, step and both gae */
static grpo_credited_ grpo_return_(const grpo_crediting_ *c, grpo_backwards_ *s, int64_t t)
{
    const grpo_advantage *a = &c->obj->advantage;
    const double gamma = a->step_discount == GRPO_STEP_DISCOUNT_STEPS && !c->batch->step_end[t] ? 1 : a->gamma;
    grpo_credited_ rho = grpo_token_reward_(c, s->i, t, s->last, s->item);
    if (grpo_has_critic_(a)) {
        if (s->last && s->repeats) s->v_next = (double)c->batch->value[t];
        rho.rest = grpo_dd_minus_(grpo_dd_add(rho.rest, grpo_two_prod(a->gamma, s->v_next)), grpo_dd_of_((double)c->batch->value[t]));
        s->v_next = (double)c->batch->value[t];
        s->G.own = s->decay.hi == 0 ? grpo_dd_of_(0) : grpo_dd_product(s->G.own, s->decay);
        s->G.rest = grpo_dd_product(s->G.rest, s->decay);
    }
    s->G.own = grpo_dd_add(rho.own, grpo_discounted_(s->G.own, gamma));
    s->G.rest = grpo_dd_add(rho.rest, grpo_dd_mul(s->G.rest, gamma));
    s->last = 0;
    return s->G;
}

static grpo_credited_ grpo_credited_at_(const grpo_crediting_ *c, grpo_backwards_ *s, int64_t t)
{
    switch (c->obj->advantage.credit) {
    case GRPO_CREDIT_OUTCOME:       break;
    case GRPO_CREDIT_STEP_OWN:
    case GRPO_CREDIT_EPISODE_STEP:  s->G.own = grpo_step_credit_(c, s, t); break;
    case GRPO_CREDIT_ENTROPY_SHARE: s->G.own = grpo_shared_(c, s->i, t); break;
    case GRPO_CREDIT_PREFIX_TREE:   s->G.own = grpo_tree_credit_(c, s, t); break;
    default:                        return grpo_return_(c, s, t);
    }
    return s->G;
}

/* credits sequence i: its A go to `collect` before whitening, or are written to `advantage`, without what follows a token baseline */
static void grpo_credit_(const grpo_crediting_ *c, int64_t i, grpo_moments *collect, grpo_real *advantage)
{
    const grpo_batch *b = c->batch;
    const grpo_advantage *a = &c->obj->advantage;
    const int same = a->credit == GRPO_CREDIT_OUTCOME, finish = grpo_finishes_(a) && a->token_baseline == GRPO_TOKEN_BASELINE_NONE;
    grpo_token_stage_ stage = grpo_token_stage_of_(c, i);
    grpo_backwards_ s = grpo_backwards_of_(c, i);
    grpo_credited_ G = s.G;
    int64_t t;
    int overflow = 0;
    for (t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        double A;
        int cut;
        if (b->mask && !b->mask[t]) { if (advantage) advantage[t] = 0; continue; }
        if (!same) G = grpo_credited_at_(c, &s, t);
        cut = s.tail > 0 && s.met++ < s.tail;
        if (collect) { if (!cut) grpo_collect_(c->obj, collect, G); continue; }
        A = cut ? 0 : grpo_credited_value_(G);
        if (a->scale == GRPO_SCALE_TOKEN_WHITEN && !cut) A = grpo_whitened_(c, A);
        if (a->second == GRPO_SECOND_TOKENS && !cut) A = grpo_normalised_(c, A, sqrt(c->batch_variance + a->second_eps));
        grpo_put_(advantage, t, finish ? grpo_finished_(c, &stage, t, A) : A, &overflow);
    }
}

/* ---- the token baseline ----
 * The A of a prompt stand in `advantage`, position by position less their mean; of the first responses the energies so far are kept. */

enum { GRPO_ENERGIES_ = 256 };

static grpo_dd grpo_energy_at_(const grpo_batch *b, int64_t t) { return grpo_energy((double)b->logp_old[t], (double)b->probability_squares[t]); }

/* up to and including token t */
static grpo_dd grpo_energy_until_(const grpo_batch *b, int64_t i, int64_t t)
{
    grpo_dd W = grpo_dd_of_(0);
    int64_t k;
    for (k = b->offset[i]; k <= t; k++) if (!b->mask || b->mask[k]) W = grpo_dd_add(W, grpo_energy_at_(b, k));
    return W;
}

/* A - (sum A W)/sum W, where nothing has weight A; alike: all A are the same */
static double grpo_less_mean_(double A, grpo_dd weighted, grpo_dd weight, int alike)
{
    if (weight.hi == 0) return A;
    if (alike) return 0;
    if (!grpo_is_finite(weight.hi) || !grpo_is_finite(weighted.hi)) return A;
    return grpo_dd_quotient(grpo_dd_minus_(grpo_dd_mul(weight, A), weighted), weight).hi;
}

static void grpo_rebase_position_(const grpo_crediting_ *c, int64_t g, int64_t position, grpo_dd *energy, grpo_real *advantage)
{
    const grpo_batch *b = c->batch;
    grpo_sum weights, weighted;
    grpo_dd W, product;
    double A, low = HUGE_VAL, high = -HUGE_VAL;
    int64_t i, t;
    int pass, overflow = 0;
    memset(&weights, 0, sizeof weights);
    memset(&weighted, 0, sizeof weighted);
    for (pass = 0; pass < 2; pass++) {
        const grpo_dd sum = grpo_sum_dd_(&weights), product_sum = grpo_sum_dd_(&weighted);
        for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            const int64_t k = i - b->group_begin[g];
            t = b->offset[i] + position;
            if (position >= b->length[i] || (b->mask && !b->mask[t])) continue;
            A = (double)advantage[t];
            if (pass) { grpo_put_(advantage, t, grpo_less_mean_(A, product_sum, sum, low == high), &overflow); continue; }
            W = k < GRPO_ENERGIES_ ? energy[k] = grpo_dd_add(energy[k], grpo_energy_at_(b, t)) : grpo_energy_until_(b, i, t);
            low = A < low ? A : low;
            high = A > high ? A : high;
            grpo_sum_add_dd_(&weights, W);
            if (A == 0) continue;
            product = grpo_two_prod(W.hi, A);
            grpo_sum_add_dd_(&weighted, product);
            if (grpo_is_finite(product.hi)) grpo_sum_add_dd_(&weighted, grpo_two_prod(W.lo, A));
        }
    }
}

/* ... and what follows */
static void grpo_rebase_(const grpo_crediting_ *c, int64_t g, grpo_real *advantage)
{
    const grpo_batch *b = c->batch;
    const int64_t longest = b->group_begin[g + 1] - b->group_begin[g] > 1 ? (int64_t)grpo_lengths_of_(b, g).longest : 0;
    grpo_dd energy[GRPO_ENERGIES_];
    int64_t i, t;
    int overflow = 0;
    memset(energy, 0, sizeof energy);
    for (t = 0; t < longest; t++) grpo_rebase_position_(c, g, t, energy, advantage);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        grpo_token_stage_ stage = grpo_token_stage_of_(c, i);
        for (t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--)
            if (!b->mask || b->mask[t]) grpo_put_(advantage, t, grpo_finished_(c, &stage, t, (double)advantage[t]), &overflow);
    }
}

/* ---- the batch ---- */

static int grpo_needs_moments_(const grpo_advantage *a)
{
    return a->baseline == GRPO_BASELINE_BATCH_MEAN || grpo_scale_is_of_batch_(a->scale) || grpo_gain_is_of_batch_(a->gain)
        || a->second != GRPO_SECOND_NONE || a->entropy == GRPO_ENTROPY_RELATIVE || a->kl_centred_coef != 0;
}

/* the factor that is the same for the whole batch */
static double grpo_gain_(grpo_gain_kind kind, const grpo_moments *m)
{
    int64_t valid = m->sequences - m->degenerate_sequences;
    switch (kind) {
    case GRPO_GAIN_VALID_GROUPS: return valid ? (double)m->sequences / (double)valid : 1;
    case GRPO_GAIN_NONZERO_REWARDS: return (double)m->sequences / (double)(m->nonzero_items ? m->nonzero_items : 1);
    case GRPO_GAIN_LENGTH_POWER: return m->sequences_nonempty ? (double)m->sequences_nonempty / grpo_sum_value_(&m->length) : 1;
    default: return 1;
    }
}

/* item `at` of column k into the batch's moments */
static void grpo_moments_of_item_(const grpo_crediting_ *c, const grpo_group_ *s, grpo_index_ at, grpo_moments *m)
{
    const grpo_advantage *a = &c->obj->advantage;
    grpo_dd raw = grpo_raw_(s, at), R = grpo_transformed_(s, raw);
    if (a->baseline == GRPO_BASELINE_BATCH_MEAN && a->transform != GRPO_TRANSFORM_PASS_AT_K) grpo_sum_add_dd_(&m->column[s->column], R);
    if (s->column) return;
    m->items++;
    m->nonzero_items += raw.hi != 0;
    if (a->scale == GRPO_SCALE_BATCH_STD) grpo_values_take_(&m->values, R);
    if (a->scale == GRPO_SCALE_BATCH_CENTRED_STD) {
        double divisor;
        grpo_dd x = grpo_centred_(c, s, at, R, &divisor);               /* without the shift, as V is; what is pinned to 0 is not shifted */
        grpo_values_take_(&m->values, grpo_is_pinned_(s) ? grpo_dd_of_(a->shift) : grpo_dd_steady_(grpo_dd_div(x, divisor)));
    }
    if (a->second == GRPO_SECOND_BATCH) grpo_values_take_(&m->values, grpo_dd_of_(grpo_worth_(c, at)));
}

/* what the token level wants to know of the tokens of sequence i */
static void grpo_moments_of_tokens_(const grpo_crediting_ *c, int64_t i, grpo_moments *m)
{
    const grpo_batch *b = c->batch;
    const int entropy = c->obj->advantage.entropy == GRPO_ENTROPY_RELATIVE, divergence = c->obj->advantage.kl_centred_coef != 0;
    int64_t t;
    if (!entropy && !divergence) return;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        if (b->mask && !b->mask[t]) continue;
        m->tokens++;
        if (entropy) grpo_sum_add_(&m->entropy, (double)b->entropy[t]);
        if (divergence) grpo_sum_add_diff_(&m->divergence, (double)b->logp_rollout[t], (double)b->logp_ref[t]);
    }
}

/* the items of one group, or its tokens, into the batch's moments */
static void grpo_moments_of_group_(const grpo_crediting_ *c, int64_t g, grpo_moments *m)
{
    const grpo_batch *b = c->batch;
    const grpo_advantage *a = &c->obj->advantage;
    int64_t i;
    int k;
    for (k = 0; k < c->columns; k++) {
        grpo_index_ at = grpo_before_items_(&c->group[k]);
        while (grpo_next_item_(&c->group[k], &at)) grpo_moments_of_item_(c, &c->group[k], at, m);
    }
    if (a->scale == GRPO_SCALE_BETA && c->group[0].count > 0) grpo_values_take_(&m->values, grpo_success_rate_(&c->group[0]));
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        int64_t T = grpo_unmasked_(b, i);
        if (a->scale == GRPO_SCALE_TOKEN_WHITEN || a->second == GRPO_SECOND_TOKENS) grpo_credit_(c, i, m, NULL);
        grpo_moments_of_tokens_(c, i, m);
        m->sequences++;
        m->sequences_nonempty += T > 0;
        m->degenerate_sequences += c->group[0].equal;
        if (a->gain == GRPO_GAIN_LENGTH_POWER && T) grpo_sum_add_dd_(&m->length, grpo_length_power((double)T, a->length_power));
    }
}

/* V and n m of A = gain own + rest over the batch's tokens: in one part, or in two */
static void grpo_whitening_(grpo_crediting_ *c, const grpo_moments *m)
{
    const grpo_advantage *a = &c->obj->advantage;
    double n = (double)m->values.count, gain = c->gain, variance;
    grpo_sum own, rest, cross;
    grpo_dd sum;
    c->batch_variance = grpo_variance_(&m->values, a->std) * (gain * gain);
    c->batch_sum = grpo_dd_mul(grpo_sum_dd_(&m->values.sum), gain);
    if (!grpo_splits_(c->obj) || m->values.count < 2) return;
    memset(&own, 0, sizeof own);
    memset(&rest, 0, sizeof rest);
    memset(&cross, 0, sizeof cross);
    grpo_covariance_add_(&own, n, &m->values.squares, &m->values.sum, &m->values.sum);
    grpo_covariance_add_(&rest, n, &m->rest_squares, &m->rest, &m->rest);
    grpo_covariance_add_(&cross, n, &m->rest_cross, &m->values.sum, &m->rest);
    sum = grpo_dd_mul(grpo_dd_mul(grpo_sum_dd_(&own), gain), gain);
    sum = grpo_dd_add(sum, grpo_dd_mul(grpo_sum_dd_(&cross), 2 * gain));
    sum = grpo_dd_add(sum, grpo_sum_dd_(&rest));
    variance = sum.hi / grpo_variance_divisor_(n, a->std);
    c->batch_variance = variance > 0 ? variance : 0;
    c->batch_sum = grpo_dd_add(c->batch_sum, grpo_sum_dd_(&m->rest));
}

/* of the prompts' p; a single one has mean 0 and variance 1 */
static void grpo_take_beta_(grpo_crediting_ *c, const grpo_values *v)
{
    const double n = (double)v->count;
    grpo_sum acc;
    if (v->count == 1) { c->beta = grpo_beta_of(grpo_dd_of_(0), grpo_dd_of_(1)); c->has_beta = 1; }
    if (v->count < 2 || grpo_dd_same_(v->min, v->max)) return;
    memset(&acc, 0, sizeof acc);
    grpo_covariance_add_(&acc, n, &v->squares, &v->sum, &v->sum);
    c->beta = grpo_beta_of(grpo_dd_div(grpo_sum_dd_(&v->sum), n), grpo_dd_div(grpo_sum_dd_(&acc), n * (n - 1)));
    c->has_beta = 1;
}

/* the batch's statistics as the items and tokens need them */
static void grpo_take_moments_(grpo_crediting_ *c, const grpo_moments *m)
{
    const grpo_advantage *a = &c->obj->advantage;
    int k;
    c->gain = grpo_gain_(a->gain, m);
    c->batch_count = (double)m->values.count;
    c->tokens = (double)m->tokens;
    c->entropy = grpo_sum_dd_(&m->entropy);
    c->divergence = grpo_sum_dd_(&m->divergence);
    if (a->scale == GRPO_SCALE_BETA) grpo_take_beta_(c, &m->values);
    if (a->scale == GRPO_SCALE_TOKEN_WHITEN) grpo_whitening_(c, m);
    else {
        c->batch_variance = grpo_variance_(&m->values, a->std);
        c->batch_sum = grpo_sum_dd_(&m->values.sum);
    }
    if (a->baseline != GRPO_BASELINE_BATCH_MEAN || a->scale == GRPO_SCALE_TOKEN_WHITEN) return;
    c->items = (double)m->items;
    for (k = 0; k < c->columns; k++) c->column_sum[k] = grpo_sum_dd_(&m->column[k]);
}

static int64_t grpo_items_of_group_(const grpo_crediting_ *c, int64_t g)
{
    grpo_group_ s;
    grpo_index_ at;
    int64_t n = 0;
    memset(&s, 0, sizeof s);
    s.obj = c->obj; s.batch = c->batch; s.index = g; s.steps = grpo_credits_steps_(&c->obj->advantage);
    for (at = grpo_before_items_(&s); grpo_next_item_(&s, &at); ) n++;
    return n;
}

/* the returns of sequence i must stay in the domain of rewards, and rewards of scale beta in [0, 1] */
static grpo_status grpo_check_steps_(const grpo_crediting_ *c, int64_t i)
{
    const grpo_batch *b = c->batch;
    const grpo_advantage *a = &c->obj->advantage;
    double G = 0;
    int64_t t;
    if (a->step_value == GRPO_STEP_VALUE_RESPONSE) return GRPO_OK;
    if (a->step_value == GRPO_STEP_VALUE_REWARD && a->scale != GRPO_SCALE_BETA) return GRPO_OK;
    for (t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        if (!grpo_ends_step_(b, t)) continue;
        G = (double)b->step_reward[t] + (a->step_value == GRPO_STEP_VALUE_RETURN ? a->gamma * G : 0);
        if (!grpo_in_domain_(G, GRPO_MODERATE_)) return GRPO_BAD_STEP_REWARD;
        if (a->scale == GRPO_SCALE_BETA && !(G >= 0 && G <= 1)) return GRPO_BAD_UNIT_REWARD;
    }
    return GRPO_OK;
}

static grpo_status grpo_check_sequence_(const grpo_crediting_ *c, int64_t i, grpo_lengths_ lengths)
{
    const grpo_objective *o = c->obj;
    const grpo_batch *b = c->batch;
    grpo_status st = grpo_credits_steps_(&o->advantage) ? grpo_check_steps_(c, i) : GRPO_OK;
    grpo_dd R;
    int64_t t;
    if (st) return st;
    for (t = b->offset[i]; o->reward.kl != GRPO_KL_NONE && t < b->offset[i] + b->length[i]; t++) {
        if (b->mask && !b->mask[t]) continue;
        if (!grpo_in_domain_(o->reward.kl_coef * grpo_reward_kl_(o, b, t).hi, GRPO_MODERATE_)) return GRPO_BAD_SHAPED_REWARD;
    }
    if (!grpo_reads_shaped_(o)) return GRPO_OK;
    R = grpo_shaped_reward_(o, b, i, lengths);
    if (!grpo_in_domain_(R.hi, GRPO_MODERATE_)) return GRPO_BAD_SHAPED_REWARD;
    return o->advantage.scale == GRPO_SCALE_BETA && (R.hi < 0 || grpo_dd_exceeds(R, 1)) ? GRPO_BAD_UNIT_REWARD : GRPO_OK;
}

/* what objective.reward does to rewards must stay in their domain: of a -inf log-probability it may not; k of n needs n items */
static grpo_status grpo_check_items_(const grpo_crediting_ *c)
{
    const grpo_objective *o = c->obj;
    const grpo_batch *b = c->batch;
    int64_t g, i;
    for (g = 0; g < b->n_groups; g++) {
        grpo_lengths_ lengths = grpo_lengths_of_(b, g);
        if (grpo_reads_pass_k_(o->advantage.transform) && (double)grpo_items_of_group_(c, g) < o->advantage.pass_k) return GRPO_FEW_ITEMS;
        for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            grpo_status st = grpo_check_sequence_(c, i, lengths);
            if (st) return st;
        }
    }
    return GRPO_OK;
}

static grpo_status grpo_crediting_start_(grpo_crediting_ *c, const grpo_objective *obj, const grpo_batch *batch)
{
    grpo_status st = grpo_check_(obj, batch, NULL, grpo_advantage_needs_, 0);
    memset(c, 0, sizeof *c);
    c->obj = obj; c->batch = batch; c->gain = 1;
    if (st) return st;
    c->columns = obj->advantage.rewards == GRPO_REWARDS_EACH ? (int)batch->n_rewards : 1;
    return grpo_check_items_(c);
}

grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments)
{
    grpo_crediting_ c;
    grpo_status st;
    int64_t g;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!moments) return GRPO_NULL_OUTPUT;
    st = grpo_crediting_start_(&c, obj, batch);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_take_group_(&c, g);
        grpo_moments_of_group_(&c, g, moments);
    }
    return GRPO_OK;
}

grpo_status grpo_advantages_with(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments, grpo_real *advantage)
{
    grpo_crediting_ c;
    grpo_status st;
    int64_t g, i;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!advantage || (!moments && grpo_needs_moments_(&obj->advantage))) return GRPO_NULL_OUTPUT;
    st = grpo_crediting_start_(&c, obj, batch);
    if (st) return st;
    if (grpo_needs_moments_(&obj->advantage)) grpo_take_moments_(&c, moments);
    for (g = 0; g < batch->n_groups; g++) {
        grpo_take_group_(&c, g);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_credit_(&c, i, NULL, advantage);
        if (obj->advantage.token_baseline == GRPO_TOKEN_BASELINE_OPTIMAL) grpo_rebase_(&c, g, advantage);
    }
    return GRPO_OK;
}

grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, grpo_real *advantage)
{
    grpo_moments m;
    grpo_status st;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!advantage) return GRPO_NULL_OUTPUT;
    memset(&m, 0, sizeof m);
    if (!grpo_needs_moments_(&obj->advantage)) return grpo_advantages_with(obj, batch, NULL, advantage);
    st = grpo_moments_add(obj, batch, &m);
    return st ? st : grpo_advantages_with(obj, batch, &m, advantage);
}

grpo_status grpo_informative(const grpo_batch *batch, uint8_t *keep)
{
    grpo_status st = grpo_check_layout_(batch);
    int64_t g, i;
    if (st) return st;
    if (!keep) return GRPO_NULL_OUTPUT;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        keep[g] = 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            if ((double)batch->reward[i] != (double)batch->reward[batch->group_begin[g]]) keep[g] = 1;
    }
    return GRPO_OK;
}

/* ---- selection, control, sampling ---------------------------------------------------------------------------------------------- */

/* grpo_check_arrays_ lets -inf log-probabilities pass */
static grpo_status grpo_check_bounded_(const grpo_batch *b, const grpo_real *advantage, int needs)
{
    const struct { int bit; const grpo_real *x; grpo_status bad; } token[] = {
        { GRPO_NEED_LOGP_, b->logp, GRPO_UNBOUNDED_LOGP },
        { GRPO_NEED_OLD_, b->logp_old, GRPO_UNBOUNDED_LOGP_OLD },
        { GRPO_NEED_ROLLOUT_, b->logp_rollout, GRPO_UNBOUNDED_LOGP_ROLLOUT },
        { GRPO_NEED_ADVANTAGE_, advantage, GRPO_UNBOUNDED_ADVANTAGE },
    };
    size_t k;
    if (b->n_groups == 0) return GRPO_OK;
    for (k = 0; k < sizeof token / sizeof *token; k++)
        if ((needs & token[k].bit) && !grpo_tokens_in_domain_(b, token[k].x, NULL, GRPO_MODERATE_)) return token[k].bad;
    return GRPO_OK;
}

/* a batch and the place for the result; what they hold is checked after the other arguments */
static grpo_status grpo_check_call_(const grpo_batch *b, const void *result)
{
    grpo_status st = grpo_check_layout_(b);
    return st ? st : result ? GRPO_OK : GRPO_NULL_OUTPUT;
}

static grpo_status grpo_check_inputs_(const grpo_batch *b, const grpo_real *advantage, int needs)
{
    grpo_status st = grpo_check_arrays_(b, advantage, needs, 0);
    return st ? st : grpo_check_bounded_(b, advantage, needs);
}

static grpo_status grpo_check_by_(const grpo_batch *b, const grpo_real *by)
{
    if (b->n_groups == 0) return GRPO_OK;
    if (!by) return GRPO_NULL_BY;
    return grpo_tokens_in_domain_(b, by, NULL, GRPO_FINITE_) ? GRPO_OK : GRPO_BAD_BY;
}

/* ---- the tokens of the mask, one after the other ---- */

static int64_t grpo_first_sequence_(const grpo_batch *b) { return b->n_groups ? b->group_begin[0] : 0; }
static int64_t grpo_end_sequence_(const grpo_batch *b) { return b->n_groups ? b->group_begin[b->n_groups] : 0; }

static grpo_index_ grpo_before_tokens_(const grpo_batch *b)
{
    grpo_index_ at;
    at.i = grpo_first_sequence_(b); at.t = -1;
    return at;
}

/* the slot of the next one, -1 when there is none; at.t counts inside the sequence */
static int64_t grpo_next_token_(const grpo_batch *b, grpo_index_ *at)
{
    for (; at->i < grpo_end_sequence_(b); at->i++, at->t = -1)
        while (++at->t < b->length[at->i])
            if (!b->mask || b->mask[b->offset[at->i] + at->t]) return b->offset[at->i] + at->t;
    return -1;
}

static void grpo_clear_tokens_(const grpo_batch *b, uint8_t *selected)
{
    int64_t i;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        if (b->length[i]) memset(selected + b->offset[i], 0, (size_t)b->length[i]);
}

/* ---- what entropy clips look at ---- */

typedef struct {
    const grpo_batch *batch;
    const grpo_real *expected;          /* x = expected - S; NULL: x = S */
} grpo_signal_;

static grpo_dd grpo_signal_at_(const grpo_signal_ *s, int64_t t)
{
    const double l = (double)s->batch->logp[t];
    const grpo_dd p = grpo_exp_twice(grpo_dd_of_(l)), S = grpo_dd_product(p, grpo_two_sum((double)s->batch->entropy[t], l));
    return s->expected ? grpo_dd_minus_(grpo_dd_of_((double)s->expected[t]), S) : S;
}

/* ---- prefixes of the tokens in ascending order ----
 * Found without sorting: the place where the longest prefix that fits ends is narrowed down by four bits of the key a pass. */

typedef struct {
    const grpo_batch *batch;
    const grpo_real *by, *minus;        /* the value: by, or |by - minus| where minus is given */
    const grpo_signal_ *signal;         /* given: the value instead */
    int with_sign;                      /* by - minus itself */
    const grpo_real *advantage;         /* given: only of tokens where by - minus has the advantage's sign */
    const uint8_t *where;               /* given: only of tokens where it is set */
    const grpo_real *signed_by;         /* given: only of tokens where it has this sign, 1 or -1 */
    int sign;
    int descending;
    double threshold;                   /* > 0: a prefix fits whose mean of squares is below */
    int inclusive;                      /* or equal */
    int64_t most;                       /* threshold 0: a prefix fits that has at most so many tokens */
} grpo_order_;

typedef struct { grpo_dd value; uint64_t word[2]; } grpo_key_;          /* value = hi + lo in order as its two words are */

typedef struct {
    uint64_t word[2];                   /* the key at which the prefix ends: it has all tokens below ... */
    int64_t ties;                       /* ... and so many of those that have this key */
    int whole;                          /* or all tokens there are */
    int64_t count;                      /* its tokens below the key, and while it is sought those below the bits found */
    grpo_sum squares;
} grpo_prefix_;

/* as integers in the order of the doubles; 0 and -0 are one */
static uint64_t grpo_ordered_bits_(double x)
{
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* 0: the token is not in the order */
static int grpo_key_of_(const grpo_order_ *o, int64_t t, grpo_key_ *key)
{
    double sign;
    if (o->where && !o->where[t]) return 0;
    key->value = o->signal ? grpo_signal_at_(o->signal, t) : grpo_two_diff((double)o->by[t], o->minus ? (double)o->minus[t] : 0);
    if (o->signed_by && !(o->sign * (double)o->signed_by[t] > 0)) return 0;
    if (o->advantage) {
        sign = (double)o->advantage[t];
        if (!((sign > 0 && key->value.hi > 0) || (sign < 0 && key->value.hi < 0))) return 0;
    }
    if (o->minus && !o->with_sign && key->value.hi < 0) key->value = grpo_dd_negative(key->value);
    if (o->descending) key->value = grpo_dd_negative(key->value);
    key->word[0] = grpo_ordered_bits_(key->value.hi);
    key->word[1] = grpo_ordered_bits_(key->value.lo);
    return 1;
}

static int grpo_fits_(const grpo_order_ *o, int64_t count, const grpo_sum *squares)
{
    grpo_sum excess;
    double sign;
    if (count == 0) return 1;
    if (o->threshold == 0) return count <= o->most;
    excess = *squares;
    grpo_sum_add_dd_(&excess, grpo_two_prod(-o->threshold, (double)count));
    sign = grpo_sum_value_(&excess);
    return o->inclusive ? sign <= 0 : sign < 0;
}

static int grpo_begins_like_(const grpo_key_ *key, const grpo_prefix_ *p, int word, int shift)
{
    return (word == 0 || key->word[0] == p->word[0]) && key->word[word] >> shift >> 4 == p->word[word] >> shift >> 4;
}

/* the next four bits */
static void grpo_narrow_prefix_(const grpo_order_ *o, grpo_prefix_ *p, int word, int shift)
{
    int64_t count[16], t;
    grpo_sum squares[16], with;
    grpo_index_ at = grpo_before_tokens_(o->batch);
    grpo_key_ key;
    int digit;
    memset(count, 0, sizeof count);
    memset(squares, 0, sizeof squares);
    while ((t = grpo_next_token_(o->batch, &at)) >= 0) {
        if (!grpo_key_of_(o, t, &key) || !grpo_begins_like_(&key, p, word, shift)) continue;
        digit = (int)(key.word[word] >> shift & 15);
        count[digit]++;
        if (o->threshold != 0) grpo_sum_add_square_(&squares[digit], 1, key.value);
    }
    for (digit = 0; digit < 16; digit++) {
        if (count[digit] == 0) continue;
        with = p->squares;
        grpo_sum_merge_(&with, &squares[digit]);
        if (!grpo_fits_(o, p->count + count[digit], &with)) break;
        p->squares = with;
        p->count += count[digit];
    }
    if (digit == 16) p->whole = 1;
    else p->word[word] |= (uint64_t)digit << shift;
}

/* of the tokens at the key, the first ones go in as long as they fit */
static void grpo_take_ties_(const grpo_order_ *o, grpo_prefix_ *p)
{
    grpo_index_ at = grpo_before_tokens_(o->batch);
    grpo_sum squares = p->squares;
    grpo_key_ key;
    int64_t t;
    while ((t = grpo_next_token_(o->batch, &at)) >= 0) {
        if (!grpo_key_of_(o, t, &key) || key.word[0] != p->word[0] || key.word[1] != p->word[1]) continue;
        if (o->threshold != 0) grpo_sum_add_square_(&squares, 1, key.value);
        if (!grpo_fits_(o, p->count + p->ties + 1, &squares)) return;
        p->ties++;
    }
}

static void grpo_find_prefix_(const grpo_order_ *o, grpo_prefix_ *p)
{
    const int single = !o->minus && !o->signal;
    int word, shift;
    memset(p, 0, sizeof *p);
    for (word = 0; word < (single ? 1 : 2); word++)
        for (shift = 60; shift >= 0 && !p->whole; shift -= 4) grpo_narrow_prefix_(o, p, word, shift);
    if (single) p->word[1] = grpo_ordered_bits_(0);
    if (!p->whole) grpo_take_ties_(o, p);
}

/* ties: how many tokens at the key are still to come */
static int grpo_in_prefix_(const grpo_prefix_ *p, const grpo_key_ *key, int64_t *ties)
{
    if (p->whole || key->word[0] < p->word[0] || (key->word[0] == p->word[0] && key->word[1] < p->word[1])) return 1;
    return key->word[0] == p->word[0] && key->word[1] == p->word[1] && (*ties)-- > 0;
}

/* selected = in: the prefix, or what it leaves; others: tokens that are not in the order */
static void grpo_mark_prefix_(const grpo_order_ *o, const grpo_prefix_ *p, uint8_t in, uint8_t others, uint8_t *selected)
{
    grpo_index_ at = grpo_before_tokens_(o->batch);
    grpo_key_ key;
    int64_t t, ties = p->ties;
    grpo_clear_tokens_(o->batch, selected);
    while ((t = grpo_next_token_(o->batch, &at)) >= 0) {
        selected[t] = others;
        if (grpo_key_of_(o, t, &key)) selected[t] = grpo_in_prefix_(p, &key, &ties) ? in : !in;
    }
}

/* ---- selection ---- */

/* ceil(q n) */
static int64_t grpo_ceil_of_(double q, int64_t n)
{
    grpo_dd p = grpo_two_prod(q, (double)n);
    double c = ceil(p.hi);
    return (int64_t)c + (c == p.hi && p.lo > 0);
}

/* no token lies inside the two that the quantile is between: at or above it is at or above the upper one, number ceil(position) */
grpo_status grpo_select_top(const grpo_batch *batch, const grpo_real *by, double fraction, uint8_t *selected)
{
    grpo_status st = grpo_check_call_(batch, selected);
    grpo_order_ o;
    grpo_prefix_ p;
    int64_t i, n = 0;
    if (st) return st;
    if (!(fraction >= 0 && fraction <= 1)) return GRPO_BAD_FRACTION;
    st = grpo_check_by_(batch, by);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) n += grpo_unmasked_(batch, i);
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = by;
    o.most = n > 0 ? grpo_ceil_of_(1 - fraction, n - 1) : 0;
    grpo_find_prefix_(&o, &p);
    p.ties = 0;
    grpo_mark_prefix_(&o, &p, 0, 0, selected);
    return GRPO_OK;
}

grpo_status grpo_select_largest(const grpo_batch *batch, const grpo_real *by, int64_t count, uint8_t *selected)
{
    grpo_status st = grpo_check_call_(batch, selected);
    grpo_order_ o;
    grpo_prefix_ p;
    if (st) return st;
    if (count < 0) return GRPO_BAD_COUNT;
    st = grpo_check_by_(batch, by);
    if (st) return st;
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = by; o.descending = 1; o.most = count;
    grpo_find_prefix_(&o, &p);
    grpo_mark_prefix_(&o, &p, 1, 0, selected);
    return GRPO_OK;
}

grpo_status grpo_select_second_moment(const grpo_batch *batch, const grpo_real *advantage, grpo_second_moment_form form, double threshold,
                                      uint8_t *selected)
{
    const int drifting = form == GRPO_SECOND_MOMENT_DRIFTING;
    grpo_status st = grpo_check_call_(batch, selected);
    grpo_order_ o;
    grpo_prefix_ p;
    if (st) return st;
    if (form != GRPO_SECOND_MOMENT_ALL && !drifting) return GRPO_BAD_FORM;
    if (!(threshold > 0 && grpo_is_finite(threshold))) return GRPO_BAD_THRESHOLD;
    st = grpo_check_inputs_(batch, advantage, GRPO_NEED_OLD_ | (drifting ? GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_ : GRPO_NEED_ROLLOUT_));
    if (st) return st;
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = drifting ? batch->logp : batch->logp_rollout; o.minus = batch->logp_old;
    o.advantage = drifting ? advantage : NULL;
    o.threshold = threshold; o.inclusive = drifting;
    grpo_find_prefix_(&o, &p);
    if (!drifting && !p.whole && p.count + p.ties == 0) p.ties = 1;
    grpo_mark_prefix_(&o, &p, 1, 1, selected);
    return GRPO_OK;
}

/* ---- tokens counted through the sequences ---- */

#define GRPO_STOPS_ 256
typedef struct {
    const grpo_batch *batch;
    int64_t stride, n;                  /* sequences between two stops, tokens of the batch */
    int64_t before[GRPO_STOPS_];        /* tokens before each stop */
} grpo_places_;

static void grpo_places_of_(const grpo_batch *b, grpo_places_ *p)
{
    int64_t k, first = grpo_first_sequence_(b), sequences = grpo_end_sequence_(b) - first;
    p->batch = b;
    p->stride = sequences / GRPO_STOPS_ + 1;
    p->n = 0;
    for (k = 0; k < sequences; k++) {
        if (k % p->stride == 0) p->before[k / p->stride] = p->n;
        p->n += b->length[first + k];
    }
    for (k = (sequences + p->stride - 1) / p->stride; k < GRPO_STOPS_; k++) p->before[k] = p->n;
}

/* the slot of token k < n */
static int64_t grpo_slot_of_(const grpo_places_ *p, int64_t k)
{
    int64_t i;
    int stop = 0, step;
    for (step = GRPO_STOPS_ / 2; step > 0; step /= 2) if (p->before[stop + step] <= k) stop += step;
    i = grpo_first_sequence_(p->batch) + stop * p->stride;
    for (k -= p->before[stop]; k >= p->batch->length[i]; i++) k -= p->batch->length[i];
    return p->batch->offset[i] + k;
}

static uint64_t grpo_scrambled_(uint64_t x)                            /* splitmix64's */
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* exact but for one chance in 2^64 to overlook that an entry is there twice, which would need memory to be found */
static int grpo_is_permutation_(const int64_t *order, int64_t n)
{
    uint64_t sum = 0;
    int64_t k;
    for (k = 0; k < n; k++) {
        if (order[k] < 0 || order[k] >= n) return 0;
        sum += grpo_scrambled_((uint64_t)order[k]) - grpo_scrambled_((uint64_t)k);
    }
    return sum == 0;
}

grpo_status grpo_select_between(const grpo_batch *batch, const grpo_real *by, double low, double high, const uint8_t *excluded,
                                const int64_t *order, int64_t count, uint8_t *selected)
{
    grpo_status st = grpo_check_call_(batch, selected);
    grpo_places_ places;
    int64_t k, t;
    if (st) return st;
    if (!grpo_is_finite(low) || !grpo_is_finite(high)) return GRPO_BAD_BOUND;
    if (count < 0) return GRPO_BAD_COUNT;
    st = grpo_check_by_(batch, by);
    if (st) return st;
    grpo_places_of_(batch, &places);
    if (places.n > 0 && !order) return GRPO_NULL_ORDER;
    if (!grpo_is_permutation_(order, places.n)) return GRPO_BAD_ORDER;
    grpo_clear_tokens_(batch, selected);
    for (k = 0; k < places.n && count > 0; k++) {
        t = grpo_slot_of_(&places, order[k]);
        if ((batch->mask && !batch->mask[t]) || (excluded && excluded[t])) continue;
        if (!((double)by[t] > low && (double)by[t] < high)) continue;
        selected[t] = 1;
        count--;
    }
    return GRPO_OK;
}

/* ---- statistics of the batch ---- */

grpo_status grpo_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *covariance)
{
    grpo_status st = grpo_check_call_(batch, covariance);
    grpo_sum sum[2];
    grpo_dd mean_A, mean_l;
    grpo_index_ at;
    int64_t i, t, n = 0;
    int overflow = 0;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    memset(sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n++) {
        grpo_sum_add_(&sum[0], (double)advantage[t]);
        grpo_sum_add_(&sum[1], (double)batch->logp[t]);
    }
    mean_A = grpo_dd_div(grpo_sum_dd_(&sum[0]), n > 0 ? (double)n : 1);
    mean_l = grpo_dd_div(grpo_sum_dd_(&sum[1]), n > 0 ? (double)n : 1);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++) {
            double c = 0;
            if (!batch->mask || batch->mask[t])
                c = grpo_dd_product(grpo_dd_minus_(grpo_dd_of_((double)advantage[t]), mean_A),
                                    grpo_dd_minus_(grpo_dd_of_((double)batch->logp[t]), mean_l)).hi;
            grpo_put_(covariance, t, c, &overflow);
        }
    return GRPO_OK;
}

/* P < target Q, that is rho < target */
static int grpo_is_negative_heavy_(const grpo_batch *b, const grpo_real *advantage, grpo_bounds bounds, double target)
{
    grpo_sum P, Q;
    grpo_index_ at = grpo_before_tokens_(b);
    grpo_dd mass;
    double A, w, q[4];
    int64_t t;
    int k;
    memset(&P, 0, sizeof P);
    memset(&Q, 0, sizeof Q);
    while ((t = grpo_next_token_(b, &at)) >= 0) {
        A = (double)advantage[t];
        w = grpo_exp(grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]));
        w = A >= 0 ? (w < bounds.high ? w : bounds.high) : (w > bounds.low ? w : bounds.low);
        mass = A == 0 ? grpo_dd_of_(0) : grpo_two_prod(w, A);
        if (mass.hi > 0) grpo_sum_add_dd_(&P, mass);
        else grpo_sum_add_dd_(&Q, grpo_dd_negative(mass));
    }
    grpo_sum_expand_(&Q, q, 4);
    if (q[0] == 0 || !(target > 0)) return 0;
    for (k = 0; k < 4; k++) grpo_sum_add_dd_(&P, grpo_two_prod(-target, q[k]));
    return grpo_sum_value_(&P) < 0;
}

/* does x + step arrive at max? */
static int grpo_step_arrives_(double x, double max, double step)
{
    const double size = fabs(x) > fabs(max) ? fabs(x) : fabs(max);
    return x >= max || (size + step / 2 > size && (max - x) / step <= 1e6);
}

grpo_status grpo_balanced_bounds(const grpo_batch *batch, const grpo_real *advantage, const grpo_balance *balance, grpo_bounds *bounds)
{
    grpo_status st = grpo_check_call_(batch, bounds);
    grpo_bounds now;
    if (st) return st;
    if (!balance) return GRPO_NULL_BALANCE;
    if (!(fabs(balance->low) <= 1e150 && fabs(balance->high) <= 1e150 && fabs(balance->low_max) <= 1e150 && fabs(balance->high_max) <= 1e150
          && fabs(balance->target) <= 1e150)) return GRPO_BAD_BALANCE;
    if (!(balance->step > 0 && grpo_is_finite(balance->step) && grpo_step_arrives_(balance->low, balance->low_max, balance->step)
          && grpo_step_arrives_(balance->high, balance->high_max, balance->step))) return GRPO_BAD_STEP;
    st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    now.low = balance->low;
    now.high = balance->high;
    while (now.low < balance->low_max && grpo_is_negative_heavy_(batch, advantage, now, balance->target))
        now.low = now.low + balance->step < balance->low_max ? now.low + balance->step : balance->low_max;
    while (now.high < balance->high_max && grpo_is_negative_heavy_(batch, advantage, now, balance->target))
        now.high = now.high + balance->step < balance->high_max ? now.high + balance->step : balance->high_max;
    *bounds = now;
    return GRPO_OK;
}

/* ---- groups and sequences ---- */

/* n (mean x - bound), from sum x */
static double grpo_mean_exceeds_(const grpo_sum *sum, int64_t n, double bound)
{
    grpo_sum s = *sum;
    grpo_sum_add_dd_(&s, grpo_two_prod(-bound, (double)n));
    return grpo_sum_value_(&s);
}

grpo_status grpo_keep_between(const grpo_batch *batch, double low, double high, uint8_t *keep)
{
    grpo_status st = grpo_check_call_(batch, keep);
    grpo_sum sum;
    int64_t g, i, n;
    if (st) return st;
    if (!grpo_is_finite(low) || !grpo_is_finite(high)) return GRPO_BAD_BOUND;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        memset(&sum, 0, sizeof sum);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)batch->reward[i]);
        n = batch->group_begin[g + 1] - batch->group_begin[g];
        keep[g] = grpo_mean_exceeds_(&sum, n, low) > 0 && grpo_mean_exceeds_(&sum, n, high) < 0;
    }
    return GRPO_OK;
}

grpo_status grpo_resampling_weights(const grpo_batch *batch, double power, double eps, double *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t i;
    if (st) return st;
    if (!(power >= 0 && grpo_is_finite(power) && eps >= 0 && grpo_is_finite(eps))) return GRPO_BAD_POWER;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        weight[i] = pow(fabs((double)batch->reward[i]), power) + eps;
    return GRPO_OK;
}

/* a guess in double, put right by exact sums: above = weight[0] + ... + weight[j] - u total */
static int64_t grpo_drawn_(const double *weight, int64_t n, double u, double total)
{
    grpo_sum above;
    double before = 0;
    int64_t i, j = 0;
    memset(&above, 0, sizeof above);
    for (i = 0; i < n; i++) grpo_sum_add_dd_(&above, grpo_two_prod(-u, weight[i]));
    for (; j + 1 < n && before + weight[j] <= u * total; j++) before += weight[j];
    for (i = 0; i <= j; i++) grpo_sum_add_(&above, weight[i]);
    for (; j + 1 < n && grpo_sum_value_(&above) <= 0; j++) grpo_sum_add_(&above, weight[j + 1]);
    for (; j > 0; j--) {
        grpo_sum_add_(&above, -weight[j]);
        if (grpo_sum_value_(&above) <= 0) break;
    }
    return j;
}

grpo_status grpo_resample(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index)
{
    grpo_sum sum;
    double total;
    int64_t k;
    if (!index) return GRPO_NULL_OUTPUT;
    if (n < 0 || draws < 0) return GRPO_BAD_COUNT;
    if (!weight) return GRPO_NULL_WEIGHT;
    if (!uniform) return GRPO_NULL_UNIFORM;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < n; k++) {
        if (!(weight[k] >= 0 && weight[k] <= 1e150)) return GRPO_BAD_WEIGHT;
        grpo_sum_add_(&sum, weight[k]);
    }
    total = grpo_sum_value_(&sum);
    if (!(total > 0)) return GRPO_BAD_WEIGHT;
    for (k = 0; k < draws; k++) if (!(uniform[k] >= 0 && uniform[k] < 1)) return GRPO_BAD_UNIFORM;
    for (k = 0; k < draws; k++) index[k] = grpo_drawn_(weight, n, uniform[k], total);
    return GRPO_OK;
}

/* the sample deviation of the rewards of group g is the result times 2^exponent: what is far from 1 has no squares */
static double grpo_reward_deviation_(const grpo_batch *b, int64_t g, int *exponent)
{
    grpo_values v;
    double largest = 0;
    int64_t i;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    frexp(largest, exponent);
    memset(&v, 0, sizeof v);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -*exponent)));
    return sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE));
}

grpo_status grpo_replay_score(const grpo_batch *batch, const grpo_real *advantage, double *score)
{
    grpo_status st = grpo_check_call_(batch, score);
    grpo_sum sum;
    double size, deviation;
    int64_t g, i, t;
    int e_size, e_deviation;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_REWARD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        memset(&sum, 0, sizeof sum);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i] && batch->mask && !batch->mask[t]; t++) { }
            if (t < batch->offset[i] + batch->length[i]) grpo_sum_add_(&sum, fabs((double)advantage[t]));
        }
        size = frexp(grpo_sum_value_(&sum), &e_size);
        deviation = grpo_reward_deviation_(batch, g, &e_deviation);
        score[g] = ldexp(size * deviation, e_size + e_deviation);
    }
    return GRPO_OK;
}

/* ---- axis 6: which tokens count ------------------------------------------------------------------------------------------------ */

typedef struct { int64_t begin, end; } grpo_span_;                     /* tokens */

/* what the weight axis pools over a segment, as of a sequence below */
typedef struct {
    grpo_span_ span;
    int refused;
    grpo_corrected correction;
} grpo_segment_;

typedef struct {
    int64_t index;                  /* in the batch */
    int64_t begin, end;             /* tokens */
    int64_t count;                  /* that count */
    int64_t rejected;
    int off;                        /* the whole sequence is masked as truncated */
    int refused;                    /* the whole sequence is rejected, by a pooled statistic or a veto */
    int stale;                      /* off_policy drops tokens of it */
    int plain;                      /* neither correction nor rejection: every token that counts has v = 1 */
    double drift;                   /* when its unit is the sequence */
    int64_t member;                 /* which of the group's sequences with tokens that count it is */
    grpo_corrected correction;      /* when its unit is the sequence */
    grpo_segment_ segment;          /* the one that was asked for last */
} grpo_sequence_;

/* counts: is it in the mask, before rejection?  v: correction weight, 0 if rejected */
typedef struct { int counts, rejected; double v; } grpo_token_;

/* the segment that token t of s is in; without step_end the response */
static grpo_span_ grpo_segment_at_(const grpo_batch *b, const grpo_sequence_ *s, int64_t t)
{
    grpo_span_ x;
    x.begin = t;
    x.end = t + 1;
    while (x.begin > s->begin && !(b->step_end && b->step_end[x.begin - 1])) x.begin--;
    while (x.end < s->end && !(b->step_end && b->step_end[x.end - 1])) x.end++;
    return x;
}

static int grpo_is_in_(grpo_span_ x, int64_t t) { return t >= x.begin && t < x.end; }

/* q */
static grpo_dd grpo_correction_log_(const grpo_objective *o, const grpo_batch *b, int64_t t, int *passes)
{
    double c = o->weight.correction_clamp;
    return grpo_clamp(grpo_two_diff((double)b->logp_old[t], (double)b->logp_rollout[t]), -c, c, passes);
}

/* the statistic of one token; *passes: it is q itself, not a bound of its clamp */
static grpo_dd grpo_statistic_(const grpo_objective *o, const grpo_batch *b, int64_t t, grpo_reject_kind kind, int *passes)
{
    return grpo_reject_statistic(kind, grpo_correction_log_(o, b, t, passes), (double)b->logp_old[t], (double)b->logp_rollout[t]);
}

/* the statistic pooled over the tokens of a span that are in the mask */
static grpo_dd grpo_pooled_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span, grpo_reject_kind kind, grpo_pooling_ how)
{
    grpo_sum sum;
    grpo_dd x, most = { -HUGE_VAL, 0 };
    int64_t t, n = 0;
    int passes;
    memset(&sum, 0, sizeof sum);
    for (t = span.begin; t < span.end; t++) {
        if (b->mask && !b->mask[t]) continue;
        x = grpo_statistic_(o, b, t, kind, &passes);
        if (x.hi > most.hi || (x.hi == most.hi && x.lo > most.lo)) most = x;
        if (kind == GRPO_REJECT_RATIO && passes) grpo_sum_add_diff_(&sum, (double)b->logp_old[t], (double)b->logp_rollout[t]);
        else grpo_sum_add_dd_(&sum, x);
        n++;
    }
    if (how.max) return most;
    x = grpo_sum_dd_(&sum);
    return how.mean && n ? grpo_dd_div(x, (double)n) : x;
}

static grpo_corrected grpo_pooled_correction_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span)
{
    const grpo_dd q = grpo_pooled_(o, b, span, GRPO_REJECT_RATIO, grpo_correction_pooling_(&o->weight));
    return grpo_correct(&o->weight, grpo_ratio_exp(q));
}

static int grpo_refuses_(const grpo_objective *o, const grpo_batch *b, grpo_span_ span)
{
    const grpo_weight *w = &o->weight;
    return !grpo_accepts(w, grpo_pooled_(o, b, span, w->reject, grpo_reject_pooling_(w)));
}

static int grpo_refused_(const grpo_objective *o, const grpo_batch *b, grpo_span_ response)
{
    const grpo_weight *w = &o->weight;
    int64_t t;
    int passes;
    if (grpo_rejects_over_(w, GRPO_OVER_SEQUENCE_) && grpo_refuses_(o, b, response)) return 1;
    for (t = response.begin; w->veto != 0 && t < response.end; t++)
        if ((!b->mask || b->mask[t]) && grpo_correction_log_(o, b, t, &passes).hi < log(w->veto)) return 1;
    return 0;
}

/* what the weight axis pools over the segment of token t */
static const grpo_segment_ *grpo_weight_segment_(const grpo_objective *o, const grpo_batch *b, grpo_sequence_ *s, int64_t t)
{
    grpo_segment_ *x = &s->segment;
    if (grpo_is_in_(x->span, t)) return x;
    x->span = grpo_segment_at_(b, s, t);
    x->correction = s->correction;
    if (grpo_corrects_over_(&o->weight, GRPO_OVER_SEGMENT_)) x->correction = grpo_pooled_correction_(o, b, x->span);
    x->refused = grpo_rejects_over_(&o->weight, GRPO_OVER_SEGMENT_) && grpo_refuses_(o, b, x->span);
    return x;
}

/* is the token outside of a band? */
static int grpo_rejected_(const grpo_objective *o, const grpo_batch *b, int64_t t, grpo_corrected v)
{
    const grpo_weight *w = &o->weight;
    int passes;
    if (!v.inside && (w->correction == GRPO_CORRECTION_MASK || w->correction == GRPO_CORRECTION_REJECT)) return 1;
    if (!grpo_rejects_over_(w, GRPO_OVER_TOKEN_)) return 0;
    return !grpo_accepts(w, grpo_statistic_(o, b, t, w->reject, &passes));
}

GRPO_INLINE_ grpo_token_ grpo_token_at_(const grpo_objective *o, const grpo_batch *b, grpo_sequence_ *s, int64_t t)
{
    grpo_token_ k = { 0, 0, 1 };
    grpo_corrected v = s->correction;
    int passes, refused = s->refused;
    k.counts = !s->off && (!b->mask || b->mask[t]);
    if (!k.counts || s->plain) return k;
    if (grpo_has_segments_(&o->weight)) {
        const grpo_segment_ *x = grpo_weight_segment_(o, b, s, t);
        v = x->correction;
        refused |= x->refused;
    }
    if (grpo_corrects_over_(&o->weight, GRPO_OVER_TOKEN_))
        v = grpo_correct(&o->weight, grpo_ratio_exp(grpo_correction_log_(o, b, t, &passes)));
    k.rejected = refused || grpo_rejected_(o, b, t, v);
    k.v = k.rejected ? 0 : v.value;
    return k;
}

static int grpo_is_active_(const grpo_objective *o, const grpo_token_ *k)
{
    return k->counts && !(k->rejected && o->weight.rejected == GRPO_REJECTED_UNMASK);
}

static grpo_sequence_ grpo_sequence_at_(const grpo_objective *o, const grpo_batch *b, int64_t i)
{
    grpo_sequence_ s;
    grpo_span_ response;
    int64_t t;
    memset(&s, 0, sizeof s);
    s.index = i;
    s.begin = response.begin = b->offset[i]; s.end = response.end = s.begin + b->length[i];
    s.off = o->weight.truncated == GRPO_TRUNCATED_MASK && b->truncated[i];
    s.drift = 1;
    s.correction.value = 1; s.correction.inside = 1;
    s.plain = !grpo_judges_(&o->weight);
    if (s.plain) {
        if (!s.off) s.count = grpo_unmasked_(b, i);
        return s;
    }
    if (!s.off && grpo_corrects_over_(&o->weight, GRPO_OVER_SEQUENCE_)) s.correction = grpo_pooled_correction_(o, b, response);
    s.refused = !s.off && grpo_refused_(o, b, response);
    for (t = s.begin; t < s.end; t++) {
        grpo_token_ k = grpo_token_at_(o, b, &s, t);
        s.rejected += k.rejected;
        s.count += grpo_is_active_(o, &k);
    }
    return s;
}

/* does token t of sequence i enter the likelihood, if it counts? */
static int grpo_is_likely_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, int64_t i, int64_t t)
{
    switch (o->penalty.likelihood_on) {
    case GRPO_LIKELIHOOD_CORRECT:  return b->reward[i] > 0;
    case GRPO_LIKELIHOOD_POSITIVE: return advantage[t] > 0;
    case GRPO_LIKELIHOOD_SELECTED: return b->selected[t] != 0;
    case GRPO_LIKELIHOOD_ALL:      return 1;
    case GRPO_LIKELIHOOD_NOT_NEGATIVE: return advantage[t] >= 0;
    default:                       return 0;
    }
}

/* is reward a above reward b by more than the margin? */
static int grpo_outdoes_(const grpo_objective *o, double a, double b) { return grpo_dd_exceeds(grpo_two_diff(a, b), o->penalty.pair_margin); }

/* of one group, the sequences with tokens that count found in blocks */
static int64_t grpo_count_pairs_(const grpo_objective *o, const grpo_batch *b, int64_t g)
{
    uint8_t counts[256];
    const int64_t most = (int64_t)sizeof counts, end = b->group_begin[g + 1];
    int64_t i, j, block, n, pairs = 0;
    for (block = b->group_begin[g]; block < end; block += most) {
        n = end - block < most ? end - block : most;
        for (j = 0; j < n; j++) counts[j] = grpo_sequence_at_(o, b, block + j).count > 0;
        for (i = b->group_begin[g]; i < end; i++) {
            if (grpo_sequence_at_(o, b, i).count == 0) continue;
            for (j = 0; j < n; j++) pairs += counts[j] && grpo_outdoes_(o, (double)b->reward[i], (double)b->reward[block + j]);
        }
    }
    return pairs;
}

/* positive_tokens and likelihood_tokens */
static void grpo_count_tokens_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, grpo_sequence_ *s,
                               grpo_totals *totals)
{
    int64_t t;
    if (!grpo_counts_by_sign_(o) && o->penalty.likelihood_on == GRPO_LIKELIHOOD_NONE) return;
    for (t = s->begin; t < s->end; t++) {
        const grpo_token_ k = grpo_token_at_(o, b, s, t);
        if (!grpo_is_active_(o, &k)) continue;
        totals->positive_tokens += grpo_counts_by_sign_(o) && advantage[t] > 0;
        totals->likelihood_tokens += grpo_is_likely_(o, b, advantage, s->index, t);
    }
}

/* has the response A > 0 at the first token that counts? */
static int grpo_starts_up_(const grpo_objective *o, const grpo_batch *b, const grpo_real *advantage, grpo_sequence_ *s)
{
    int64_t t;
    for (t = s->begin; t < s->end; t++) {
        const grpo_token_ k = grpo_token_at_(o, b, s, t);
        if (grpo_is_active_(o, &k)) return advantage[t] > 0;
    }
    return 0;
}

/* for the mean of the correction weights: one of each token that counts, or where the unit is the response the mean of those, of which
 * rejection leaves v or 0 */
static void grpo_count_weights_(const grpo_objective *o, const grpo_batch *b, grpo_sequence_ *s, grpo_totals *totals)
{
    const int whole = grpo_correction_pooling_(&o->weight).over == GRPO_OVER_SEQUENCE_;
    double v = 0, weighed = 0;
    int64_t t;
    if (o->weight.correction_norm == GRPO_CORRECTION_NORM_NONE || s->count == 0) return;
    totals->weights += whole ? 1 : s->count;
    for (t = s->begin; t < s->end; t++) {
        grpo_token_ k = grpo_token_at_(o, b, s, t);
        if (!grpo_is_active_(o, &k)) continue;
        if (!whole) grpo_sum_add_(&totals->weight, k.v);
        if (k.v != 0) { v = k.v; weighed++; }
    }
    if (whole && v < HUGE_VAL) grpo_sum_add_dd_(&totals->weight, grpo_dd_div(grpo_two_prod(v, weighed), (double)s->count));
    else if (whole) grpo_sum_add_(&totals->weight, v);
}

/* do the rewards of group g differ by more than 1e-6? */
static int grpo_is_varied_(const grpo_batch *b, int64_t g)
{
    double least = (double)b->reward[b->group_begin[g]], most = least;
    int64_t i;
    for (i = b->group_begin[g] + 1; i < b->group_begin[g + 1]; i++) {
        const double r = (double)b->reward[i];
        if (r < least) least = r;
        if (r > most) most = r;
    }
    return grpo_dd_exceeds(grpo_two_diff(most, least), 1e-6);
}

/* grpo_count of what has been checked */
static void grpo_count_all_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals)
{
    int64_t g, i;
    for (g = 0; g < batch->n_groups; g++) {
        int64_t tokens = 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            grpo_sequence_ s = grpo_sequence_at_(obj, batch, i);
            tokens += s.count;
            totals->sequences++;
            totals->sequences_nonempty += s.count > 0;
            totals->positive_sequences += grpo_counts_sequences_by_sign_(obj) && grpo_starts_up_(obj, batch, advantage, &s);
            grpo_count_weights_(obj, batch, &s, totals);
            grpo_count_tokens_(obj, batch, advantage, &s, totals);
        }
        totals->tokens += tokens;
        if (grpo_counts_varied_(obj) && grpo_is_varied_(batch, g)) totals->varied_tokens += tokens;
        totals->groups++;
        totals->groups_nonempty += tokens > 0;
        if (obj->penalty.pairs != GRPO_PAIRS_NONE) totals->pairs += grpo_count_pairs_(obj, batch, g);
    }
    grpo_sum_carry_(&totals->weight);
}

grpo_status grpo_count(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, grpo_totals *totals)
{
    grpo_status st;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!totals) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, advantage, grpo_count_needs_, 0);
    if (!st) grpo_count_all_(obj, batch, advantage, totals);
    return st;
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------- */

typedef struct { int64_t tokens, sequences, nonempty; } grpo_group_counts_;

typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    const grpo_real *advantage;
    grpo_output out;
    grpo_partial *partial;
    grpo_range range;
    const grpo_real *old;              /* log-probabilities in the ratio's denominator; NULL: 0 */
    int uses_ratio, needs_ratio;       /* needs: to trust tokens, though the report does not speak of it */
    int reports_ratio, judges;
    int plain;                         /* v of the correction is all that multiplies S, no divisor or bound is a token's own, no gate */
    int trusting;                      /* nothing but v does: neither trust nor drift nor a selection */
    grpo_scales scales;
    double local;                      /* a coefficient is factor/(local shared divisor) */
    double coef;                       /* factor/(local divisor) where that is exact enough to multiply with, else 0 */
    double shared;                     /* of the token at hand: with tokens of its segment, or of its sign of A */
    grpo_span_ segment;                /* the one that shared was last found for */
    grpo_span_ gate;                   /* the tokens that the likelihood's gate was last found for, and whether it is shut */
    int shut;
    grpo_log_range log_range;          /* of the token at hand, with bounds position */
    grpo_dd decay;                     /* of F from one token to the next */
    grpo_group_counts_ group;          /* where the local divisor asks */
    const double *value, *slope;       /* of the members of a group that a surrogate couples: F_i, dL/dy_i times divisor/factor */
    const double *pair_slope;          /* of the members of a group that a penalty couples: dL/dl/factor at each of its tokens */
    struct grpo_waiting_ *pool;        /* what the report's sums will take */
    struct grpo_block_ *block;         /* tokens that will be evaluated together; NULL: one by one */
} grpo_run_;

/* evaluates one sequence; grpo.h has the one for token ratios, gspo.h the one for all others */
typedef void (*grpo_evaluate_)(grpo_run_ *run, grpo_sequence_ *s);

/* how to evaluate: couple, before the sequences of group g, finds what they have to do with each other; NULL: nothing */
typedef struct {
    grpo_evaluate_ evaluate;
    void (*couple)(grpo_run_ *run, int64_t g);
    int64_t scratch;                   /* elements that couple needs */
} grpo_method_;

/* in the ratio's denominator */
static double grpo_old_(const grpo_run_ *r, int64_t t) { return r->old ? (double)r->old[t] : 0; }

/* d_t of axis 3 */
GRPO_INLINE_ grpo_dd grpo_log_ratio_(const grpo_run_ *r, int64_t t, int *passes)
{
    const grpo_ratio_axis *a = &r->obj->ratio;
    return grpo_clamp(grpo_two_diff((double)r->batch->logp[t], grpo_old_(r, t)), a->clamp_low, a->clamp_high, passes);
}

GRPO_INLINE_ grpo_term grpo_scaled_(grpo_term t, double v)
{
    t.value = grpo_times(v, t.value);
    t.d_log_ratio = grpo_times(v, t.d_log_ratio);
    t.d_logp = grpo_times(v, t.d_logp);
    return t;
}

/* the bounds of the clip at token t */
GRPO_INLINE_ grpo_range grpo_range_at_(const grpo_run_ *r, int64_t t)
{
    const grpo_surrogate *s = &r->obj->surrogate;
    if (s->bounds == GRPO_BOUNDS_FIXED || !grpo_bounds_act_(s)) return r->range;
    if (s->bounds == GRPO_BOUNDS_GIVEN) return grpo_clip_range((double)r->batch->clip_low[t], (double)r->batch->clip_high[t]);
    return grpo_probability_range(grpo_old_(r, t), s->eps_low, s->eps_high, s->bound_cap);
}

/* would the token's gradient drive a stale response further off? */
static int grpo_drives_off_(const grpo_run_ *r, int64_t t, double A)
{
    double o, b;
    if (r->obj->weight.off_policy != GRPO_OFF_POLICY_TOTAL_VARIATION) return A < 0;
    o = (double)r->batch->logp_old[t]; b = (double)r->batch->logp_rollout[t];
    return A > 0 ? o > b : A < 0 && o < b;
}

/* do trust or off_policy drop the token? */
static inline int grpo_distrusted_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, grpo_ratio w)
{
    const grpo_weight *c = &r->obj->weight;
    const double A = (double)r->advantage[t];
    if (s->stale && grpo_drives_off_(r, t, A)) return 1;
    return c->trust != GRPO_TRUST_NONE && !grpo_trusts(c, w, A, (double)r->batch->logp[t], grpo_old_(r, t));
}

static int grpo_unselected_(const grpo_run_ *r, int64_t t)
{
    const grpo_selected_kind kind = r->obj->weight.selected;
    return kind != GRPO_SELECTED_ALL && (kind == GRPO_SELECTED_KEEP) == !r->batch->selected[t];
}

/* v g, g the drift of the token or of its sequence */
static inline double grpo_drifted_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, double v)
{
    const grpo_weight *c = &r->obj->weight;
    if (c->drift != GRPO_DRIFT_TOKEN) return grpo_times(v, s->drift);
    return grpo_times(v, grpo_drift(c, grpo_two_diff((double)r->batch->logp[t], (double)r->batch->logp_old[t])));
}

/* M v g; *distrusted: trust or off_policy dropped the token */
static inline double grpo_token_weight_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, grpo_ratio w, double v, int *distrusted)
{
    *distrusted = grpo_distrusted_(r, s, t, w);
    return *distrusted || grpo_unselected_(r, t) ? 0 : grpo_drifted_(r, s, t, v);
}

/* M v g S of S = x; pool: the side on which the ratio's pool has clipped the token */
GRPO_INLINE_ grpo_term grpo_weighed_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, grpo_ratio w, double v,
                                     grpo_clip_side pool, grpo_term x)
{
    const double A = (double)r->advantage[t];
    int distrusted;
    if (v == 1 && r->trusting && pool == GRPO_CLIP_NO) return x;
    x = grpo_scaled_(x, grpo_token_weight_(r, s, t, w, v, &distrusted));
    if (pool != GRPO_CLIP_NO) x.clip = pool;
    if (distrusted && A != 0) x.clip = A > 0 ? GRPO_CLIP_HIGH : GRPO_CLIP_LOW;
    return x;
}

/* S of token t */
GRPO_INLINE_ grpo_term grpo_token_surrogate_(const grpo_run_ *r, int64_t t, grpo_ratio w)
{
    const grpo_surrogate *s = &r->obj->surrogate;
    const double A = (double)r->advantage[t];
    if (A != 0 && s->bounds == GRPO_BOUNDS_POSITION) return grpo_log_clip(w, A, r->log_range);
    if (A != 0 && s->kind == GRPO_SURROGATE_SHAPED && r->batch->selected[t]) return grpo_shaped(w, A, s->shape);
    return grpo_surrogate_term(s, grpo_range_at_(r, t), w, A, (double)r->batch->logp[t]);
}

GRPO_INLINE_ grpo_term grpo_token_policy_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, grpo_ratio w, double v,
                                            grpo_clip_side pool)
{
    const grpo_term zero = { 0, 0, 0, GRPO_CLIP_NO };
    if (r->obj->surrogate.kind == GRPO_SURROGATE_NONE) return zero;    /* there may be no advantages */
    return grpo_weighed_(r, s, t, w, v, pool, grpo_token_surrogate_(r, t, w));
}

/* P; given: what multiplies the whole term */
GRPO_INLINE_ grpo_term grpo_token_penalty_(const grpo_run_ *r, int64_t t, grpo_ratio w, double given)
{
    const grpo_penalty *p = &r->obj->penalty;
    double l = (double)r->batch->logp[t], own = 1;
    grpo_term x = { 0, 0, 0, GRPO_CLIP_NO };
    if (p->kl == GRPO_KL_NONE && p->entropy_coef == 0) return x;
    if (p->kl != GRPO_KL_NONE && (p->kl_on == GRPO_KL_ON_ALL || r->batch->selected[t])) {
        if (p->kl_ratio == GRPO_KL_RATIO_TOKEN) own = grpo_ratio_of(l, grpo_old_(r, t)).value;
        x = grpo_kl_penalty(p, l, (double)grpo_logp_of_(r->batch, grpo_kl_whose_(p))[t], own, w.value);
    }
    if (p->entropy_coef != 0) x.value = grpo_plus(x.value, -p->entropy_coef * (double)r->batch->entropy[t]);
    return given == 1 ? x : grpo_scaled_(x, given);
}

GRPO_INLINE_ void grpo_write_(const grpo_run_ *r, grpo_real *out, int64_t t, double x)
{
    if (out) grpo_put_(out, t, x, &r->partial->overflow);
}

static inline double grpo_aggregated_(const grpo_run_ *r, double x)
{
    return r->coef != 0 ? x * r->coef : x * r->scales.factor / r->local / r->scales.divisor;
}

/* local, divisor and factor are whole numbers as a rule: then only the quotient is rounded */
static double grpo_coef_(const grpo_run_ *r)
{
    const double product = r->local * r->scales.divisor, coef = r->scales.factor / product;
    return fma(r->local, r->scales.divisor, -product) == 0 && coef > 1e-100 && coef < 1e100 ? coef : 0;
}

/* x over what the token at hand shares */
static inline double grpo_share_(const grpo_run_ *r, double x) { return r->shared == 1 ? x : x / r->shared; }

static inline int grpo_has_likelihood_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t)
{
    return r->scales.likelihood != 0 && !r->shut && grpo_is_likely_(r->obj, r->batch, r->advantage, s->index, t);
}

static grpo_term grpo_likelihood_at_(const grpo_run_ *r, int64_t t)
{
    const grpo_batch *b = r->batch;
    return grpo_likelihood(&r->obj->penalty, (double)b->logp[t], b->logp_old ? (double)b->logp_old[t] : 0,
                           b->logp_teacher ? (double)b->logp_teacher[t] : 0);
}

/* the gradient of what is added to the loss beside the terms, over factor */
static double grpo_gradient_beside_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t)
{
    double g = r->pair_slope ? r->pair_slope[s->member] : 0;
    if (grpo_has_likelihood_(r, s, t)) g = grpo_plus(g, grpo_times(r->scales.likelihood, grpo_likelihood_at_(r, t).d_logp));
    return g;
}

/* of the terms of the token at hand: what they give to its log-probability and to its ratio, the same whoever asks to the bit */
static inline double grpo_own_share_(const grpo_run_ *r, const grpo_term *policy, const grpo_term *penalty)
{
    return grpo_share_(r, grpo_plus(policy->d_logp, penalty->d_logp));
}

static inline double grpo_ratio_share_(const grpo_run_ *r, const grpo_term *policy, const grpo_term *penalty)
{
    return grpo_plus(grpo_share_(r, policy->d_log_ratio), grpo_share_(r, penalty->d_log_ratio));
}

/* g: that of the terms, with their shares taken; coupled: what the group gives through the sequence, over the local divisors */
GRPO_INLINE_ void grpo_write_gradient_(const grpo_run_ *r, const grpo_sequence_ *s, int64_t t, double g, double coupled)
{
    double sum;
    if (coupled == 0 && !r->pair_slope && r->scales.likelihood == 0) {
        grpo_write_(r, r->out.dlogp, t, grpo_aggregated_(r, g));
        return;
    }
    sum = grpo_plus(g / r->local, coupled) / r->scales.divisor;
    grpo_write_(r, r->out.dlogp, t, r->scales.factor * grpo_plus(sum, grpo_gradient_beside_(r, s, t)));
}

/* The report is made of sums over tokens: these wait here until a block is full.  0 where there is nothing to add. */
typedef struct grpo_waiting_ {
    double policy[GRPO_BLOCK_], penalty[GRPO_BLOCK_];
    double ratio[GRPO_BLOCK_], entropy[GRPO_BLOCK_], weight[GRPO_BLOCK_];
    double old[2][GRPO_BLOCK_], ref[2][GRPO_BLOCK_];                   /* hi and lo of l - logp_old and of l - logp_ref */
    double old_k3[GRPO_BLOCK_], ref_k3[GRPO_BLOCK_];                   /* e^x - x - 1 of them, of -x for ref, if they are known */
    int n, has_k3;
} grpo_waiting_;

/* is a number beyond `most` among them, or one that is not finite? */
static int grpo_block_exceeds_(const double *x, double most)
{
    double beyond[GRPO_BLOCK_];
    int k;
    if (grpo_block_magnitude_(x) <= most) return 0;
    for (k = 0; k < GRPO_BLOCK_; k++) beyond[k] = fabs(x[k]) <= most ? 0 : 1;
    return grpo_block_total_(beyond) != 0;
}

static int grpo_is_far_(double x) { return !(fabs(x) <= GRPO_SERIES_); }

/* e^x - x - 1 of a block, x = sign (hi + lo); far: some are beyond the reach of the series */
static void grpo_block_k3_(double *GRPO_RESTRICT_ k3, double sign, const double *GRPO_RESTRICT_ hi, const double *GRPO_RESTRICT_ lo,
                           int far)
{
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) {
        const double y = sign * hi[k], e = grpo_exp_series_(y);
        k3[k] = e + sign * lo[k] * (y + e);
    }
    for (k = 0; far && k < GRPO_BLOCK_; k++) {
        grpo_dd x;
        x.hi = sign * hi[k]; x.lo = sign * lo[k];
        if (grpo_is_far_(hi[k])) k3[k] = grpo_exp_minus_linear(x);
    }
}

static void grpo_pool_add_squares_(grpo_sum *sum, double factor, const double *from)
{
    double v[GRPO_BLOCK_];
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) v[k] = factor * from[k] * from[k];
    grpo_sum_add_block_(sum, 1, v);
}

/* the sums take what waits */
static void grpo_pool_flush_(grpo_run_ *r)
{
    grpo_sum *sum = r->partial->sum;
    grpo_waiting_ *p = r->pool;
    const grpo_batch *b = r->batch;
    if (p->n == 0) return;
    grpo_sum_add_block_(&sum[GRPO_SUM_POLICY], 1, p->policy);
    if (r->obj->penalty.kl != GRPO_KL_NONE || r->obj->penalty.entropy_coef != 0) grpo_sum_add_block_(&sum[GRPO_SUM_PENALTY], 1, p->penalty);
    if (r->reports_ratio) {
        grpo_sum_add_block_(&sum[GRPO_SUM_RATIO], 1, p->ratio);
        grpo_pool_add_squares_(&sum[GRPO_SUM_RATIO_SQUARED], 1, p->ratio);
    }
    if (b->logp_old) {
        grpo_sum_add_block_(&sum[GRPO_SUM_OLD_K1], -1, p->old[0]);
        grpo_sum_add_block_(&sum[GRPO_SUM_OLD_K1], -1, p->old[1]);
        if (!p->has_k3) grpo_block_k3_(p->old_k3, 1, p->old[0], p->old[1], grpo_block_exceeds_(p->old[0], GRPO_SERIES_));
        grpo_sum_add_block_(&sum[GRPO_SUM_OLD_K3], 1, p->old_k3);
    }
    if (b->logp_ref) {
        grpo_sum_add_block_(&sum[GRPO_SUM_KL_K1], 1, p->ref[0]);
        grpo_sum_add_block_(&sum[GRPO_SUM_KL_K1], 1, p->ref[1]);
        grpo_pool_add_squares_(&sum[GRPO_SUM_KL_K2], 0.5, p->ref[0]);
        if (!p->has_k3) grpo_block_k3_(p->ref_k3, -1, p->ref[0], p->ref[1], grpo_block_exceeds_(p->ref[0], GRPO_SERIES_));
        grpo_sum_add_block_(&sum[GRPO_SUM_KL_K3], 1, p->ref_k3);
    }
    if (b->entropy) grpo_sum_add_block_(&sum[GRPO_SUM_ENTROPY], 1, p->entropy);
    if (r->judges) grpo_sum_add_block_(&sum[GRPO_SUM_WEIGHT], 1, p->weight);
    p->n = 0;
}

GRPO_INLINE_ void grpo_report_ratio_(grpo_run_ *r, double w)
{
    const double cap = 3.2733906078961419e150;                         /* 2^500 */
    grpo_partial *p = r->partial;
    if (!r->reports_ratio) w = 1;
    if (p->tokens == 0 || w < p->ratio_min) p->ratio_min = w;
    if (p->tokens == 0 || w > p->ratio_max) p->ratio_max = w;
    if (!r->reports_ratio) return;
    p->ratio_tokens++;
    r->pool->ratio[r->pool->n] = w < cap ? w : cap;
    if (w > cap) { grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], w); grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], -cap); }
}

/* l - x of the token into difference[0] + difference[1]; returns 0, and leaves 0 there, where it is infinite */
GRPO_INLINE_ int grpo_report_gap_(double (*difference)[GRPO_BLOCK_], int n, double l, double x)
{
    const grpo_dd d = grpo_two_diff(l, x);
    if (!grpo_is_finite(l - x)) return 0;
    difference[0][n] = d.hi; difference[1][n] = d.lo;
    return 1;
}

/* the same of what is infinite, at once */
static void grpo_report_old_(grpo_partial *p, double l, double old)
{
    grpo_sum_add_diff_(&p->sum[GRPO_SUM_OLD_K1], old, l);
    grpo_sum_add_(&p->sum[GRPO_SUM_OLD_K3], grpo_exp_minus_linear(grpo_two_diff(l, old)));
}

static void grpo_report_ref_(grpo_partial *p, double l, double ref)
{
    const grpo_dd D = grpo_two_diff(l, ref);
    grpo_sum_add_diff_(&p->sum[GRPO_SUM_KL_K1], l, ref);
    grpo_sum_add_(&p->sum[GRPO_SUM_KL_K2], grpo_kl(GRPO_KL_K2, D).value);
    grpo_sum_add_(&p->sum[GRPO_SUM_KL_K3], grpo_kl(GRPO_KL_K3, D).value);
}

/* everything the report takes from one token */
GRPO_INLINE_ void grpo_report_token_(grpo_run_ *r, int64_t t, grpo_ratio w, double v, const grpo_term *policy, const grpo_term *penalty)
{
    const grpo_batch *b = r->batch;
    grpo_partial *p = r->partial;
    grpo_waiting_ *pool = r->pool;
    const int n = pool->n;
    const double l = (double)b->logp[t];
    if (n == 0) memset(pool, 0, sizeof *pool);
    grpo_report_ratio_(r, w.value);
    p->tokens++;
    p->clips[policy->clip]++;
    pool->policy[n] = grpo_share_(r, r->local == 1 ? policy->value : policy->value / r->local);
    if (penalty->value != 0) pool->penalty[n] = grpo_share_(r, penalty->value / r->local);
    if (b->logp_old && !grpo_report_gap_(pool->old, n, l, (double)b->logp_old[t])) grpo_report_old_(p, l, (double)b->logp_old[t]);
    if (b->logp_ref && !grpo_report_gap_(pool->ref, n, l, (double)b->logp_ref[t])) grpo_report_ref_(p, l, (double)b->logp_ref[t]);
    if (b->entropy) pool->entropy[n] = (double)b->entropy[t];
    if (r->judges) { p->weight_tokens++; pool->weight[n] = v; }
    if (++pool->n == GRPO_BLOCK_) grpo_pool_flush_(r);
}

/* of a token that counts: v of the correction, what multiplies the surrogate, and what multiplies the whole term */
typedef struct { double correction, policy, term; } grpo_weights_;

/* all but the gradient by logp, which may need the other tokens */
GRPO_INLINE_ void grpo_take_token_(grpo_run_ *r, const grpo_sequence_ *s, int64_t t, grpo_ratio w, grpo_weights_ v, const grpo_term *policy,
                             const grpo_term *penalty)
{
    const double coef = r->obj->penalty.entropy_coef;
    grpo_write_(r, r->out.term, t, grpo_plus(policy->value, penalty->value));
    grpo_write_(r, r->out.dentropy, t, coef != 0 ? grpo_aggregated_(r, grpo_share_(r, grpo_times(-coef, v.term))) : 0);
    grpo_report_token_(r, t, w, v.correction, policy, penalty);
    if (grpo_has_likelihood_(r, s, t)) grpo_sum_add_(&r->partial->sum[GRPO_SUM_LIKELIHOOD], grpo_likelihood_at_(r, t).value);
}

static void grpo_skip_token_(grpo_run_ *r, int64_t t)
{
    r->partial->masked_tokens++;
    grpo_write_(r, r->out.term, t, 0);
    grpo_write_(r, r->out.dlogp, t, 0);
    grpo_write_(r, r->out.dentropy, t, 0);
}

static inline int grpo_counted_(const grpo_run_ *r, grpo_sequence_ *s, int64_t t)
{
    grpo_token_ k;
    if (s->plain) return !s->off && (!r->batch->mask || r->batch->mask[t]);
    k = grpo_token_at_(r->obj, r->batch, s, t);
    return grpo_is_active_(r->obj, &k);
}

/* A response is evaluated from its last token to its first, for what lies ahead of a token may be in its weight.  An infinite d is K as
 * in "-inf log-probabilities" at grpo_batch; F is then as infinite as the sum of their decays. */
typedef struct {
    int64_t t;
    int counts;
    int64_t met;                       /* tokens that count, up to the one at hand */
    grpo_weights_ v;
    grpo_dd future;                    /* F */
    double infinite;                   /* in units of K */
} grpo_walk_;

static grpo_walk_ grpo_walk_from_(int64_t end)
{
    grpo_walk_ k;
    memset(&k, 0, sizeof k);
    k.t = end;
    return k;
}

/* F_t = d_t + 2^(-1/half_life) F_(t+1).  The decay makes no K a 0. */
static void grpo_look_ahead_(const grpo_run_ *r, grpo_walk_ *k, grpo_dd d)
{
    const double infinite = k->infinite * r->decay.hi;
    if (k->infinite != 0) k->infinite = infinite != 0 ? infinite : k->infinite > 0 ? DBL_MIN : -DBL_MIN;
    k->future = grpo_dd_add(grpo_dd_product(k->future, r->decay), d);
    if (grpo_is_finite(k->future.hi)) return;
    k->infinite += k->future.hi > 0 ? 1 : -1;
    k->future = grpo_dd_of_(0);
}

/* the factor that comes of it */
static double grpo_ahead_(const grpo_run_ *r, grpo_walk_ *k)
{
    const grpo_weight *c = &r->obj->weight;
    grpo_dd d = { 0, 0 }, all;
    double ratio;
    if (k->counts) d = grpo_two_diff((double)r->batch->logp[k->t], (double)r->batch->logp_old[k->t]);
    ratio = grpo_exp(d);
    grpo_look_ahead_(r, k, c->future_max != 0 && ratio > c->future_max ? grpo_dd_of_(0) : d);
    all = k->future;
    if (k->infinite != 0) all = grpo_dd_of_(k->infinite > 0 ? HUGE_VAL : -HUGE_VAL);
    return k->counts ? grpo_future_weight(c, all, ratio, (double)r->advantage[k->t]) : 1;
}

/* v over the mean of the correction weights */
static double grpo_normed_(const grpo_run_ *r, double v)
{
    if (r->scales.norm.hi == 0 || v == 0) return v;
    if (r->scales.norm.hi == HUGE_VAL) return v == HUGE_VAL ? r->scales.norm_top : 0;
    return v == HUGE_VAL ? v : grpo_dd_quotient(grpo_dd_of_(v), r->scales.norm).hi;
}

static double grpo_shared_of_(const grpo_run_ *r, grpo_sequence_ *s, grpo_span_ segment)
{
    int64_t t, n = 0;
    for (t = segment.begin; t < segment.end; t++) n += grpo_counted_(r, s, t);
    return n ? (double)n : 1;
}

/* is the likelihood's gate shut for token t?  Exactly: the sum's rounding keeps its sign */
static void grpo_find_gate_(grpo_run_ *r, grpo_sequence_ *s, int64_t t)
{
    const grpo_batch *b = r->batch;
    grpo_sum lost;
    if (grpo_is_in_(r->gate, t)) return;
    r->gate.begin = s->begin; r->gate.end = s->end;
    if (r->obj->penalty.likelihood_gate == GRPO_LIKELIHOOD_GATE_SEGMENT) r->gate = grpo_segment_at_(b, s, t);
    memset(&lost, 0, sizeof lost);
    for (t = r->gate.begin; t < r->gate.end; t++)
        if (grpo_counted_(r, s, t) && grpo_is_likely_(r->obj, b, r->advantage, s->index, t))
            grpo_sum_add_diff_(&lost, (double)b->logp_old[t], (double)b->logp[t]);
    r->shut = !(grpo_sum_value_(&lost) > 0);
}

/* the weights of the token at hand, of correction v, and what it shares with its segment */
static void grpo_weigh_(grpo_run_ *r, grpo_sequence_ *s, grpo_walk_ *k, double v)
{
    const grpo_given_kind given = r->obj->weight.given;
    const double ahead = r->obj->weight.future != GRPO_FUTURE_NONE ? grpo_ahead_(r, k) : 1;
    if (!k->counts) return;
    if (r->obj->penalty.likelihood_gate != GRPO_LIKELIHOOD_GATE_NONE && r->scales.likelihood != 0) grpo_find_gate_(r, s, k->t);
    k->v.policy = grpo_times(grpo_normed_(r, v), ahead);
    k->v.term = given == GRPO_GIVEN_TERM ? (double)r->batch->weight[k->t] : 1;
    if (given != GRPO_GIVEN_NONE) k->v.policy = grpo_times(k->v.policy, (double)r->batch->weight[k->t]);
    if (r->obj->surrogate.bounds == GRPO_BOUNDS_POSITION)
        r->log_range = grpo_position_range(&r->obj->surrogate, (double)(s->count - k->met + 1));
    if (grpo_counts_by_sign_(r->obj)) r->shared = r->scales.by_sign[r->advantage[k->t] > 0];
    if (r->obj->aggregation.kind == GRPO_SEQ_MEAN_SEGMENT_MEAN && !grpo_is_in_(r->segment, k->t)) {
        r->segment = grpo_segment_at_(r->batch, s, k->t);
        r->shared = grpo_shared_of_(r, s, r->segment);
    }
}

/* one token on; 0 at the beginning of the span */
GRPO_INLINE_ int grpo_step_back_(grpo_run_ *r, grpo_sequence_ *s, int64_t begin, grpo_walk_ *k)
{
    grpo_token_ x;
    if (k->t == begin) return 0;
    k->t--;
    x = grpo_token_at_(r->obj, r->batch, s, k->t);
    k->counts = grpo_is_active_(r->obj, &x);
    k->met += k->counts;
    k->v.correction = k->v.policy = x.v;
    k->v.term = 1;
    if (!r->plain) grpo_weigh_(r, s, k, x.v);
    return 1;
}

/* what off_policy takes the mean of, of one token */
static void grpo_add_staleness_(const grpo_run_ *r, int64_t t, grpo_sum *sum)
{
    const grpo_weight *c = &r->obj->weight;
    const grpo_batch *b = r->batch;
    if (c->off_policy == GRPO_OFF_POLICY_TOTAL_VARIATION)
        grpo_sum_add_(sum, fabs(grpo_exp_minus_one(grpo_two_diff((double)b->logp_old[t], (double)b->logp_rollout[t]))));
    else grpo_sum_add_diff_(sum, (double)grpo_logp_of_(b, grpo_off_policy_whose_(c))[t], (double)b->logp[t]);
}

/* is the mean over the tokens that count above the bound? */
static int grpo_is_stale_(const grpo_run_ *r, grpo_sequence_ *s)
{
    const grpo_weight *c = &r->obj->weight;
    grpo_sum sum;
    int64_t t;
    if (c->off_policy == GRPO_OFF_POLICY_NONE || s->count == 0) return 0;
    memset(&sum, 0, sizeof sum);
    for (t = s->begin; t < s->end; t++) if (grpo_counted_(r, s, t)) grpo_add_staleness_(r, t, &sum);
    return grpo_dd_exceeds(grpo_dd_div(grpo_sum_dd_(&sum), (double)s->count), c->off_policy_max);
}

/* drift of a sequence as a whole, from its tokens that count */
static double grpo_sequence_drift_(const grpo_run_ *r, grpo_sequence_ *s)
{
    const grpo_weight *c = &r->obj->weight;
    const grpo_batch *b = r->batch;
    grpo_sum sum;
    grpo_dd x;
    int64_t t;
    if (c->drift == GRPO_DRIFT_NONE || c->drift == GRPO_DRIFT_TOKEN || s->count == 0) return 1;
    memset(&sum, 0, sizeof sum);
    for (t = s->begin; t < s->end; t++) if (grpo_counted_(r, s, t)) grpo_sum_add_diff_(&sum, (double)b->logp[t], (double)b->logp_old[t]);
    x = grpo_sum_dd_(&sum);
    return grpo_drift(c, c->drift == GRPO_DRIFT_SEQUENCE_MEAN ? grpo_dd_div(x, (double)s->count) : x);
}

/* ---- blocks of tokens ----
 * Most objectives ask no more of a token than its own ratio, a clip and a KL, all weighed alike: such tokens wait until a block of them is
 * full, and are evaluated side by side in loops that vectorise.  Those whose policy has moved far are done over, one by one. */

typedef struct grpo_block_ {
    int64_t at[GRPO_BLOCK_];
    double logp[GRPO_BLOCK_], old[GRPO_BLOCK_], A[GRPO_BLOCK_];
    double local[GRPO_BLOCK_], coef[GRPO_BLOCK_];                      /* of their sequences */
    double w[GRPO_BLOCK_];
    double value[GRPO_BLOCK_], slope[GRPO_BLOCK_], direct[GRPO_BLOCK_];    /* of S; by the log-ratio, by logp */
    double charge[GRPO_BLOCK_], pull[GRPO_BLOCK_];                     /* of P, and by logp */
    int n, given;                                                      /* given: w, value and slope are those of their responses */
    int divided, scattered;                                            /* some local is not 1; their places are no single run */
} grpo_block_;

static int grpo_is_clip_(grpo_surrogate_kind kind)
{
    return kind == GRPO_SURROGATE_RATIO || kind == GRPO_SURROGATE_PPO_CLIP || kind == GRPO_SURROGATE_DUAL_CLIP;
}

/* does the objective ask no more? */
static int grpo_goes_by_blocks_(const grpo_run_ *r)
{
    const grpo_objective *o = r->obj;
    const grpo_ratio_axis *a = &o->ratio;
    const grpo_penalty *p = &o->penalty;
    const grpo_surrogate_kind kind = o->surrogate.kind;
    if (!r->reports_ratio || kind == GRPO_SURROGATE_SHAPED || grpo_group_kind_of_(kind)) return 0;
    if (o->surrogate.bounds != GRPO_BOUNDS_FIXED && grpo_bounds_act_(&o->surrogate)) return 0;
    if (a->unit > GRPO_UNIT_SEQUENCE_SUM || (a->unit != GRPO_UNIT_TOKEN && !grpo_is_clip_(kind))) return 0;
    if (a->mix != GRPO_MIX_NONE || a->against != GRPO_AGAINST_OLD || a->clamp_low != 0 || a->clamp_high != 0) return 0;
    if (a->unit_clamp_low != 0 || a->unit_clamp_high != 0 || !r->plain || !r->trusting || r->judges) return 0;
    if (r->scales.likelihood != 0 || p->pairs != GRPO_PAIRS_NONE) return 0;
    return p->kl == GRPO_KL_NONE || p->kl_coef == 0
        || (p->kl_against == GRPO_KL_AGAINST_REF && p->kl_on == GRPO_KL_ON_ALL && p->kl_ratio == GRPO_KL_RATIO_NONE
            && p->kl_gradient == GRPO_KL_GRADIENT_OWN && p->kl_clamp_log == 0 && p->kl_clamp_value == 0 && p->kl_ratio_max == 0);
}

/* a - b into hi + lo; returns whether one exceeds the reach of the series */
static int grpo_block_gap_(double *GRPO_RESTRICT_ hi, double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ a,
                           const double *GRPO_RESTRICT_ b)
{
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) {
        const double s = a[k] - b[k], t = s - a[k];
        hi[k] = s;
        lo[k] = (a[k] - (s - t)) + (-b[k] - t);
    }
    return grpo_block_exceeds_(hi, GRPO_SERIES_);
}

/* w = e^d and k3 = e^d - d - 1 of d = hi + lo, by the series */
static void grpo_block_powers_(double *GRPO_RESTRICT_ w, double *GRPO_RESTRICT_ k3, const double *GRPO_RESTRICT_ hi,
                               const double *GRPO_RESTRICT_ lo)
{
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) {
        const double f = grpo_exp_series_(hi[k]), e = hi[k] + f;
        w[k] = 1 + (e + lo[k] * (1 + e));
        k3[k] = f + lo[k] * e;
    }
}

/* the same of the block, with d = l - logp_old; returns whether a d exceeds the reach of the series */
static int grpo_block_ratios_(grpo_block_ *x, double *hi, double *lo, double *k3)
{
    const int far = grpo_block_gap_(hi, lo, x->logp, x->old);
    double own[GRPO_BLOCK_], *w = x->given ? own : x->w;
    int k;
    grpo_block_powers_(w, k3, hi, lo);
    for (k = 0; far && k < GRPO_BLOCK_; k++) {
        grpo_dd y;
        if (!grpo_is_far_(hi[k])) continue;
        y = grpo_two_diff(x->logp[k], x->old[k]);
        hi[k] = y.hi; lo[k] = y.lo;
        w[k] = grpo_exp(y);
        k3[k] = grpo_exp_minus_linear(y);
    }
    return far;
}

/* 1 where x > bound and A > 0, else 0; how many there are */
static double grpo_block_above_(double *GRPO_RESTRICT_ is, const double *GRPO_RESTRICT_ A, const double *GRPO_RESTRICT_ x, double bound)
{
    double up[GRPO_BLOCK_];
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) up[k] = A[k] > 0 ? 1 : 0;
    for (k = 0; k < GRPO_BLOCK_; k++) is[k] = x[k] > bound ? 1 : 0;
    for (k = 0; k < GRPO_BLOCK_; k++) is[k] *= up[k];
    return grpo_block_total_(is);
}

/* ratio, ppo_clip and dual_clip, in loops with a choice each, which gcc -O2 vectorises; d: the log-ratio, as far as the bounds are compared
 * with it; far: some are large.  Where a token is clipped, one of the three is 1. */
static void grpo_block_clip_(const grpo_run_ *r, grpo_block_ *x, const double *GRPO_RESTRICT_ d, int far)
{
    const grpo_surrogate *s = &r->obj->surrogate;
    const int clips = s->kind != GRPO_SURROGATE_RATIO, twice = s->kind == GRPO_SURROGATE_DUAL_CLIP;
    const double low = grpo_is_finite(r->range.low) ? r->range.low : 0, high = grpo_is_finite(r->range.high) ? r->range.high : 0;
    const double dual = twice && grpo_is_finite(s->dual) ? s->dual : 0;
    const double *GRPO_RESTRICT_ w = x->w, *GRPO_RESTRICT_ A = x->A;
    double *GRPO_RESTRICT_ value = x->value, *GRPO_RESTRICT_ slope = x->slope;
    double by_high[GRPO_BLOCK_], by_low[GRPO_BLOCK_], by_dual[GRPO_BLOCK_], own[GRPO_BLOCK_], down[GRPO_BLOCK_], minus_d[GRPO_BLOCK_];
    int64_t *clip = r->partial->clips, highs, lows, duals;
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) { down[k] = -A[k]; minus_d[k] = -d[k]; }
    highs = (int64_t)grpo_block_above_(by_high, A, d, clips ? r->range.log_high : HUGE_VAL);
    lows = (int64_t)grpo_block_above_(by_low, down, minus_d, clips ? -r->range.log_low : HUGE_VAL);
    duals = (int64_t)grpo_block_above_(by_dual, down, w, twice ? s->dual : HUGE_VAL);
    for (k = 0; k < GRPO_BLOCK_; k++) own[k] = down[k] * w[k] + 0.0;  /* no -0 */
    for (k = 0; far && k < GRPO_BLOCK_; k++) own[k] = grpo_times(down[k], w[k]);
    for (k = 0; k < GRPO_BLOCK_; k++) slope[k] = by_high[k] + by_low[k] + by_dual[k] > 0 ? 0 : own[k];
    for (k = 0; k < GRPO_BLOCK_; k++) value[k] = slope[k] - (by_high[k] * high + by_low[k] * low + by_dual[k] * dual) * A[k];
    clip[GRPO_CLIP_HIGH] += highs;
    clip[GRPO_CLIP_LOW] += lows;
    clip[GRPO_CLIP_DUAL] += duals;
    clip[GRPO_CLIP_NO] += x->n - highs - lows - duals;
}

/* S of the other kinds, token by token */
static void grpo_block_terms_(const grpo_run_ *r, grpo_block_ *x, const double *hi, const double *lo)
{
    int k;
    for (k = 0; k < x->n; k++) {
        grpo_ratio w;
        grpo_term t;
        w.log = hi[k]; w.log_lo = lo[k]; w.value = x->w[k];
        t = grpo_surrogate_term(&r->obj->surrogate, r->range, w, x->A[k], x->logp[k]);
        x->value[k] = t.value; x->slope[k] = t.d_log_ratio; x->direct[k] = t.d_logp;
        r->partial->clips[t.clip]++;
    }
}

/* coef K3 of D = hi + lo, and its derivative; k3: that of D */
static void grpo_block_charges_(double *GRPO_RESTRICT_ value, double *GRPO_RESTRICT_ slope, double coef, const double *GRPO_RESTRICT_ hi,
                                const double *GRPO_RESTRICT_ lo, const double *GRPO_RESTRICT_ k3)
{
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) {
        const double m = -hi[k], change = m + (k3[k] + lo[k] * m);     /* e^m - 1 */
        value[k] = coef * k3[k];
        slope[k] = -coef * (change + -lo[k] * (1 + change));
    }
}

/* kl_coef K of D, and its derivative */
static void grpo_block_kl_(const grpo_penalty *p, grpo_block_ *x, double (*D)[GRPO_BLOCK_], const double *k3, int far)
{
    const double *hi = D[0], *lo = D[1];
    double *value = x->charge, *slope = x->pull;
    int k;
    if (p->kl == GRPO_KL_K3) grpo_block_charges_(value, slope, p->kl_coef, hi, lo, k3);
    for (k = 0; (far || p->kl != GRPO_KL_K3) && k < GRPO_BLOCK_; k++) {
        grpo_kl_term t;
        grpo_dd y;
        if (p->kl == GRPO_KL_K3 && !grpo_is_far_(hi[k])) continue;
        y.hi = hi[k]; y.lo = lo[k];
        t = grpo_kl(p->kl, y);
        value[k] = grpo_times(p->kl_coef, t.value);
        slope[k] = grpo_times(p->kl_coef, t.derivative);
    }
}

/* writes x to the places of the block's tokens */
static void grpo_block_write_(const grpo_run_ *r, const grpo_block_ *b, grpo_real *GRPO_RESTRICT_ out, const double *GRPO_RESTRICT_ x)
{
    int k;
    if (!out) return;
    if (grpo_block_exceeds_(x, FLT_MAX)) for (k = 0; k < b->n; k++) grpo_put_(out, b->at[k], x[k], &r->partial->overflow);
    else if (b->scattered || b->n < GRPO_BLOCK_) for (k = 0; k < b->n; k++) out[b->at[k]] = (grpo_real)x[k];
    else for (out += b->at[0], k = 0; k < GRPO_BLOCK_; k++) out[k] = (grpo_real)x[k];
}

static void grpo_block_write_all_(const grpo_run_ *r, const grpo_block_ *b)
{
    const double coef = r->obj->penalty.entropy_coef;
    double x[GRPO_BLOCK_];
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(b->slope[k], b->pull[k]);
    if (!grpo_is_clip_(r->obj->surrogate.kind)) for (k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(x[k], b->direct[k]);
    for (k = 0; k < GRPO_BLOCK_; k++) x[k] *= b->coef[k];
    grpo_block_write_(r, b, r->out.dlogp, x);
    if (r->out.term) {
        for (k = 0; k < GRPO_BLOCK_; k++) x[k] = grpo_plus(b->value[k], b->charge[k]);
        grpo_block_write_(r, b, r->out.term, x);
    }
    if (r->out.dentropy && coef == 0) for (k = 0; k < b->n; k++) r->out.dentropy[b->at[k]] = 0;
    else if (r->out.dentropy) {
        for (k = 0; k < GRPO_BLOCK_; k++) x[k] = -coef * b->coef[k];
        grpo_block_write_(r, b, r->out.dentropy, x);
    }
}

/* the least of sign x */
static double grpo_block_least_(const double *x, double sign)
{
    double y[GRPO_BLOCK_], least;
    int k;
    for (k = 0; k < GRPO_BLOCK_; k++) y[k] = sign * x[k];
    for (k = 0; k < GRPO_BLOCK_ / 2; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 2]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 4; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 4]; y[k] = a < b ? a : b; }
    for (k = 0; k < GRPO_BLOCK_ / 8; k++) { const double a = y[k], b = y[k + GRPO_BLOCK_ / 8]; y[k] = a < b ? a : b; }
    for (least = y[0], k = 1; k < GRPO_BLOCK_ / 8; k++) least = y[k] < least ? y[k] : least;
    return least;
}

/* the ratios into the report; what is beyond n is none */
static void grpo_block_report_ratios_(grpo_run_ *r, grpo_block_ *x)
{
    const double cap = 3.2733906078961419e150;                         /* 2^500 */
    grpo_partial *p = r->partial;
    double least, most, *w = x->w, *ratio = r->pool->ratio;
    int k;
    for (k = x->n; k < GRPO_BLOCK_; k++) w[k] = w[0];
    least = grpo_block_least_(w, 1);
    most = -grpo_block_least_(w, -1);
    if (p->tokens == 0 || least < p->ratio_min) p->ratio_min = least;
    if (p->tokens == 0 || most > p->ratio_max) p->ratio_max = most;
    for (k = 0; k < GRPO_BLOCK_; k++) ratio[k] = w[k] < cap ? w[k] : cap;
    for (k = 0; most > cap && k < x->n; k++)
        if (w[k] > cap) { grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], w[k]); grpo_sum_add_(&p->sum[GRPO_SUM_RATIO_EXCESS], -cap); }
    for (k = x->n; k < GRPO_BLOCK_; k++) ratio[k] = 0;
    p->ratio_tokens += x->n;
}

/* what is infinite among the differences goes to its sums at once */
static void grpo_block_infinite_(const grpo_run_ *r, const grpo_block_ *x, double (*difference)[GRPO_BLOCK_], double *k3,
                                 const grpo_real *than, void (*report)(grpo_partial *, double, double))
{
    int k;
    for (k = 0; k < x->n; k++) {
        const double other = (double)than[x->at[k]];
        if (grpo_is_finite(x->logp[k] - other)) continue;
        difference[0][k] = difference[1][k] = k3[k] = 0;
        report(r->partial, x->logp[k], other);
    }
}

/* those beyond n are of no weight: l = logp_old = logp_ref = A = 0 */
static void grpo_block_pad_(grpo_block_ *x)
{
    int k;
    for (k = x->n; k < GRPO_BLOCK_; k++) {
        x->logp[k] = x->old[k] = x->A[k] = x->coef[k] = x->value[k] = x->slope[k] = x->direct[k] = 0;
        x->local[k] = 1;
    }
}

/* the gaps to batch.logp_ref, if it is there, and the penalty */
static int grpo_block_penalty_(const grpo_run_ *r, grpo_block_ *x)
{
    const grpo_penalty *p = &r->obj->penalty;
    const grpo_batch *b = r->batch;
    grpo_waiting_ *pool = r->pool;
    double ref[GRPO_BLOCK_];
    int k, far = 0;
    for (k = 0; b->logp_ref && k < GRPO_BLOCK_; k++) ref[k] = k < x->n ? (double)b->logp_ref[x->at[k]] : 0;
    if (b->logp_ref) far = grpo_block_gap_(pool->ref[0], pool->ref[1], x->logp, ref);
    for (k = 0; far && k < x->n; k++) {
        const grpo_dd D = grpo_two_diff(x->logp[k], ref[k]);
        pool->ref[0][k] = D.hi; pool->ref[1][k] = D.lo;
    }
    if (b->logp_ref) grpo_block_k3_(pool->ref_k3, -1, pool->ref[0], pool->ref[1], far);
    if (p->kl != GRPO_KL_NONE && p->kl_coef != 0) grpo_block_kl_(p, x, pool->ref, pool->ref_k3, far);
    else for (k = 0; k < GRPO_BLOCK_; k++) x->charge[k] = x->pull[k] = 0;
    if (p->entropy_coef != 0)
        for (k = 0; k < x->n; k++) x->charge[k] = grpo_plus(x->charge[k], -p->entropy_coef * (double)b->entropy[x->at[k]]);
    return far;
}

/* what the report takes of a term: over its local divisor */
static void grpo_block_over_(double *GRPO_RESTRICT_ to, const double *GRPO_RESTRICT_ from, const grpo_block_ *x)
{
    int k;
    if (x->divided && grpo_block_magnitude_(from) != 0) for (k = 0; k < GRPO_BLOCK_; k++) to[k] = from[k] / x->local[k];
    else memcpy(to, from, sizeof x->local);
}

/* evaluates the tokens that wait */
static void grpo_block_flush_(grpo_run_ *r)
{
    const grpo_batch *b = r->batch;
    grpo_waiting_ *pool = r->pool;
    grpo_block_ *x = r->block;
    int k, far, far_ref;
    if (x->n == 0) return;
    grpo_pool_flush_(r);
    if (x->n < GRPO_BLOCK_) grpo_block_pad_(x);
    far = grpo_block_ratios_(x, pool->old[0], pool->old[1], pool->old_k3);
    if (!x->given && grpo_is_clip_(r->obj->surrogate.kind)) grpo_block_clip_(r, x, pool->old[0], far);
    else if (!x->given) grpo_block_terms_(r, x, pool->old[0], pool->old[1]);
    far_ref = grpo_block_penalty_(r, x);
    grpo_block_write_all_(r, x);
    grpo_block_report_ratios_(r, x);
    grpo_block_over_(pool->policy, x->value, x);
    grpo_block_over_(pool->penalty, x->charge, x);
    for (k = 0; b->entropy && k < GRPO_BLOCK_; k++) pool->entropy[k] = k < x->n ? (double)b->entropy[x->at[k]] : 0;
    if (far) grpo_block_infinite_(r, x, pool->old, pool->old_k3, b->logp_old, grpo_report_old_);
    if (far_ref) grpo_block_infinite_(r, x, pool->ref, pool->ref_k3, b->logp_ref, grpo_report_ref_);
    r->partial->tokens += x->n;
    pool->n = x->n;
    pool->has_k3 = 1;
    grpo_pool_flush_(r);
    x->n = x->divided = x->scattered = 0;
}

/* tokens begin .. begin + n - 1 of a sequence join those that wait, among which there is room; w, term: of them all, if they are given */
static void grpo_block_join_(const grpo_run_ *r, int64_t begin, int n, double w, const grpo_term *term)
{
    const grpo_real *logp = r->batch->logp + begin, *old = r->batch->logp_old + begin, *A = r->advantage + begin;
    const int at = r->block->n;
    grpo_block_ *x = r->block;
    int k;
    x->scattered |= at > 0 && x->at[at - 1] != begin - 1;
    for (k = 0; k < n; k++) x->at[at + k] = begin + k;
    for (k = 0; k < n; k++) { x->logp[at + k] = (double)logp[k]; x->old[at + k] = (double)old[k]; x->A[at + k] = (double)A[k]; }
    for (k = 0; k < n; k++) { x->local[at + k] = r->local; x->coef[at + k] = r->coef; }
    for (k = 0; term && k < n; k++) { x->w[at + k] = w; x->value[at + k] = term->value; x->slope[at + k] = term->d_log_ratio; }
    x->divided |= r->local != 1;
    x->n += n;
}

/* the tokens of a sequence wait */
static void grpo_block_take_(grpo_run_ *r, const grpo_sequence_ *s, double w, const grpo_term *term)
{
    const uint8_t *mask = r->batch->mask;
    int64_t t = s->begin;
    while (t < s->end) {
        const int room = GRPO_BLOCK_ - r->block->n;
        const int most = s->off ? 0 : s->end - t < room ? (int)(s->end - t) : room;
        int n = mask ? 0 : most;
        while (mask && n < most && mask[t + n]) n++;
        if (n == 0) { grpo_skip_token_(r, t++); continue; }
        grpo_block_join_(r, t, n, w, term);
        t += n;
        if (r->block->n == GRPO_BLOCK_) grpo_block_flush_(r);
    }
}

static void grpo_evaluate_tokens_(grpo_run_ *r, grpo_sequence_ *s)
{
    const grpo_ratio_axis *a = &r->obj->ratio;
    grpo_walk_ k = grpo_walk_from_(s->end);
    if (r->block && r->coef != 0) { grpo_block_take_(r, s, 1, NULL); return; }
    while (grpo_step_back_(r, s, s->begin, &k)) {
        grpo_ratio w = { 0, 0, 1 };
        grpo_term policy, penalty;
        double g;
        int passes = 1, unit_passes = 1;
        if (!k.counts) { grpo_skip_token_(r, k.t); continue; }
        if (r->needs_ratio)
            w = grpo_ratio_exp(grpo_clamp(grpo_log_ratio_(r, k.t, &passes), a->unit_clamp_low, a->unit_clamp_high, &unit_passes));
        policy = grpo_token_policy_(r, s, k.t, w, k.v.policy, GRPO_CLIP_NO);
        penalty = grpo_token_penalty_(r, k.t, w, k.v.term);
        if (!passes || !unit_passes) policy.d_log_ratio = penalty.d_log_ratio = 0;
        g = grpo_plus(grpo_own_share_(r, &policy, &penalty), grpo_ratio_share_(r, &policy, &penalty));
        grpo_write_gradient_(r, s, k.t, g, 0);
        grpo_take_token_(r, s, k.t, w, k.v, &policy, &penalty);
    }
}

static double grpo_at_least_one_(double x) { return x > 0 ? x : 1; }

/* axis 7: the divisor that all terms share */
static double grpo_divisor_(const grpo_aggregation *a, const grpo_totals *n)
{
    int skip = a->empty == GRPO_EMPTY_SKIP;
    double sequences = grpo_at_least_one_((double)(skip ? n->sequences_nonempty : n->sequences));
    double groups = grpo_at_least_one_((double)(skip ? n->groups_nonempty : n->groups));
    switch (a->kind) {
    case GRPO_TOKEN_MEAN:            return grpo_at_least_one_((double)n->tokens);
    case GRPO_TOKEN_MEAN_VARIED:     return grpo_at_least_one_((double)n->varied_tokens);
    case GRPO_SEQ_MEAN_TOKEN_MEAN:
    case GRPO_SEQ_MEAN_LENGTH_POWER:
    case GRPO_SEQ_MEAN_SEGMENT_MEAN:
    case GRPO_SEQ_MEAN_TOKEN_SUM:    return sequences;
    case GRPO_SEQ_MEAN_CONSTANT:     return sequences * a->constant;
    case GRPO_CONSTANT:              return a->constant;
    case GRPO_GROUP_MEAN:
    case GRPO_GROUP_MEAN_SEQ_MEAN:
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return groups;
    default:                         return 1;
    }
}

/* segments with a token that counts */
static int64_t grpo_segments_(const grpo_run_ *r, grpo_sequence_ *s)
{
    grpo_span_ last = { 0, 0 };
    int64_t t, n = 0;
    for (t = s->begin; t < s->end; t++)
        if (!grpo_is_in_(last, t) && grpo_counted_(r, s, t)) { last = grpo_segment_at_(r->batch, s, t); n++; }
    return n;
}

/* and the one of this sequence */
static double grpo_local_divisor_(const grpo_aggregation *a, int64_t sequence_tokens, int64_t segments, const grpo_group_counts_ *group)
{
    const double tokens = grpo_at_least_one_((double)sequence_tokens);
    double power;
    switch (a->kind) {
    case GRPO_GROUP_MEAN_SEQ_MEAN:
        return tokens * grpo_at_least_one_((double)(a->empty == GRPO_EMPTY_SKIP ? group->nonempty : group->sequences));
    case GRPO_GROUP_MEAN:
    case GRPO_SEQ_SUM_TOKEN_MEAN:
    case GRPO_SEQ_MEAN_BY_SIGN:
    case GRPO_SEQ_MEAN_TOKEN_MEAN:   return tokens;
    case GRPO_SEQ_MEAN_SEGMENT_MEAN: return grpo_at_least_one_((double)segments);
    case GRPO_SEQ_MEAN_LENGTH_POWER:
        power = pow(tokens, 1 - a->power);
        return power < DBL_MIN ? DBL_MIN : power > DBL_MAX ? DBL_MAX : power;           /* 0 / 0 and inf / inf have no sense */
    case GRPO_GROUP_MEAN_TOKEN_MEAN: return grpo_at_least_one_((double)group->tokens);
    default:                         return 1;
    }
}

/* the mean that correction_norm divides by; infinite ones among the weights are taken as equal */
static void grpo_take_norm_(const grpo_objective *o, const grpo_totals *n, grpo_scales *s)
{
    if (o->weight.correction_norm == GRPO_CORRECTION_NORM_NONE || n->weights == 0) return;
    s->norm = grpo_dd_div(grpo_sum_dd_(&n->weight), (double)n->weights);
    s->norm_top = n->weight.pos_inf ? (double)n->weights / (double)n->weight.pos_inf : 0;
}

/* what all terms of the batch share, from its counts */
static grpo_scales grpo_scales_of_(const grpo_objective *o, const grpo_totals *n)
{
    const grpo_penalty *p = &o->penalty;
    grpo_scales s = { 1, 1, { 1, 1 }, 0, 0, 0, { 0, 0 }, 0 };
    s.divisor = grpo_divisor_(&o->aggregation, n);
    if (n->ranks) s.factor = (double)n->ranks;
    if (grpo_counts_by_sign_(o)) {
        s.by_sign[0] = grpo_at_least_one_((double)(n->tokens - n->positive_tokens));
        s.by_sign[1] = grpo_at_least_one_((double)n->positive_tokens);
    }
    if (grpo_counts_sequences_by_sign_(o)) {
        s.by_sign[0] = grpo_at_least_one_((double)(n->sequences_nonempty - n->positive_sequences));
        s.by_sign[1] = grpo_at_least_one_((double)n->positive_sequences);
    }
    if (p->likelihood_on != GRPO_LIKELIHOOD_NONE && n->likelihood_tokens) s.likelihood = p->likelihood_coef / (double)n->likelihood_tokens;
    s.alone = p->pairs == GRPO_PAIRS_MARGIN_ELSE_SIGN && n->pairs == 0;
    if (p->pairs != GRPO_PAIRS_NONE && n->pairs) s.pairs = p->pair_coef / (double)n->pairs;
    if (s.alone && n->sequences_nonempty) s.pairs = p->pair_coef / (double)n->sequences_nonempty;
    grpo_take_norm_(o, n, &s);
    return s;
}

static int grpo_same_scales_(const grpo_scales *a, const grpo_scales *b)
{
    return a->divisor == b->divisor && a->factor == b->factor && a->by_sign[0] == b->by_sign[0] && a->by_sign[1] == b->by_sign[1]
        && a->likelihood == b->likelihood && a->pairs == b->pairs && a->alone == b->alone
        && a->norm.hi == b->norm.hi && a->norm.lo == b->norm.lo && a->norm_top == b->norm_top;
}

static grpo_group_counts_ grpo_count_group_(const grpo_objective *o, const grpo_batch *b, int64_t g)
{
    grpo_group_counts_ n = { 0, 0, 0 };
    int64_t i;
    const grpo_aggregation_kind kind = o->aggregation.kind;
    if (kind != GRPO_GROUP_MEAN_TOKEN_MEAN && kind != GRPO_GROUP_MEAN_SEQ_MEAN) return n;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const int64_t tokens = grpo_sequence_at_(o, b, i).count;
        n.tokens += tokens;
        n.nonempty += tokens > 0;
        n.sequences++;
    }
    return n;
}

/* sequence i as it is evaluated, with the run's local divisor set for it */
static grpo_sequence_ grpo_open_sequence_(grpo_run_ *r, int64_t i)
{
    const grpo_aggregation *a = &r->obj->aggregation;
    grpo_sequence_ s = grpo_sequence_at_(r->obj, r->batch, i);
    s.stale = grpo_is_stale_(r, &s);
    s.drift = grpo_sequence_drift_(r, &s);
    r->local = grpo_local_divisor_(a, s.count, a->kind == GRPO_SEQ_MEAN_SEGMENT_MEAN ? grpo_segments_(r, &s) : 0, &r->group);
    if (grpo_counts_sequences_by_sign_(r->obj)) r->local *= r->scales.by_sign[grpo_starts_up_(r->obj, r->batch, r->advantage, &s)];
    r->coef = grpo_coef_(r);
    r->segment.begin = r->segment.end = r->gate.begin = r->gate.end = 0;
    return s;
}

static int grpo_has_advantage_(const grpo_run_ *r, grpo_sequence_ *s)
{
    int64_t t;
    for (t = s->begin; r->advantage && t < s->end; t++)
        if (r->advantage[t] != 0 && grpo_counted_(r, s, t)) return 1;
    return 0;
}

static void grpo_run_group_(grpo_run_ *r, int64_t g, const grpo_method_ *how)
{
    const grpo_batch *b = r->batch;
    int64_t i, members = 0;
    int any = 0;
    r->group = grpo_count_group_(r->obj, b, g);
    grpo_write_(r, r->out.dlog_z, g, 0);
    if (how->couple) how->couple(r, g);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        grpo_sequence_ s = grpo_open_sequence_(r, i);
        s.member = members;
        members += s.count > 0;
        r->partial->sequences += s.count > 0;
        r->partial->rejected_tokens += s.rejected;
        if (!any) any = grpo_has_advantage_(r, &s);
        how->evaluate(r, &s);
    }
    r->partial->groups += members > 0;
    r->partial->degenerate_groups += members > 0 && !any;
}

static int grpo_totals_cover_(const grpo_totals *all, const grpo_totals *part)
{
    return all->tokens >= part->tokens && all->sequences >= part->sequences && all->sequences_nonempty >= part->sequences_nonempty
        && all->groups >= part->groups && all->groups_nonempty >= part->groups_nonempty && all->ranks >= 0
        && all->positive_tokens >= part->positive_tokens && all->tokens - all->positive_tokens >= part->tokens - part->positive_tokens
        && all->positive_sequences >= part->positive_sequences
        && all->sequences_nonempty - all->positive_sequences >= part->sequences_nonempty - part->positive_sequences
        && all->likelihood_tokens >= part->likelihood_tokens && all->pairs >= part->pairs && all->weights >= part->weights
        && all->varied_tokens >= part->varied_tokens;
}

static int grpo_weighs_plainly_(const grpo_objective *o)
{
    const grpo_weight *w = &o->weight;
    return w->correction_norm == GRPO_CORRECTION_NORM_NONE && w->future == GRPO_FUTURE_NONE && w->given == GRPO_GIVEN_NONE
        && o->penalty.likelihood_gate == GRPO_LIKELIHOOD_GATE_NONE && o->surrogate.bounds != GRPO_BOUNDS_POSITION
        && o->aggregation.kind != GRPO_SEQ_MEAN_SEGMENT_MEAN && !grpo_counts_by_sign_(o);
}

static int grpo_is_trusting_(const grpo_weight *w)
{
    return w->trust == GRPO_TRUST_NONE && w->off_policy == GRPO_OFF_POLICY_NONE && w->selected == GRPO_SELECTED_ALL
        && w->drift == GRPO_DRIFT_NONE;
}

static grpo_status grpo_run_batch_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                   const grpo_output *out, grpo_partial *partial, const grpo_method_ *how)
{
    grpo_run_ r;
    grpo_waiting_ pool;
    grpo_block_ block;
    grpo_totals own;
    grpo_status st;
    int64_t g;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!partial) return GRPO_NULL_OUTPUT;
    st = grpo_check_(obj, batch, advantage, grpo_loss_needs_,
                     GRPO_NEED_OLD_ | GRPO_NEED_REF_ | GRPO_NEED_ENTROPY_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    memset(&own, 0, sizeof own);
    grpo_count_all_(obj, batch, advantage, &own);
    if (how->scratch > 0 && !(out && out->scratch && out->scratch_size >= how->scratch)) return GRPO_NEEDS_SCRATCH;
    if (totals && !grpo_totals_cover_(totals, &own)) return GRPO_BAD_TOTALS;
    memset(&r, 0, sizeof r);
    r.obj = obj; r.batch = batch; r.advantage = advantage; r.partial = partial;
    if (out) r.out = *out;
    r.range = grpo_clip_range(obj->surrogate.eps_low, obj->surrogate.eps_high);
    r.old = grpo_logp_of_(batch, grpo_ratio_whose_(&obj->ratio));
    r.uses_ratio = grpo_uses_ratio_(obj);
    r.needs_ratio = grpo_needs_ratio_(obj);
    r.reports_ratio = grpo_reports_ratio_(obj);
    r.judges = grpo_judges_(&obj->weight);
    r.plain = grpo_weighs_plainly_(obj);
    r.trusting = grpo_is_trusting_(&obj->weight);
    r.shared = 1;
    if (obj->weight.future != GRPO_FUTURE_NONE) r.decay = grpo_future_decay(obj->weight.future_half_life);
    r.scales = grpo_scales_of_(obj, totals ? totals : &own);
    if (partial->scales.divisor != 0 && !grpo_same_scales_(&partial->scales, &r.scales)) return GRPO_MIXED_PARTIALS;
    partial->scales = r.scales;
    pool.n = 0;
    r.pool = &pool;
    block.n = block.divided = block.scattered = 0;
    block.given = obj->ratio.unit != GRPO_UNIT_TOKEN;
    if (grpo_goes_by_blocks_(&r)) r.block = &block;
    for (g = 0; g < batch->n_groups; g++) grpo_run_group_(&r, g, how);
    if (r.block) grpo_block_flush_(&r);
    grpo_pool_flush_(&r);
    return GRPO_OK;
}

/* grpo_loss and gspo_loss in terms of their _add */
static grpo_status grpo_run_once_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                  const grpo_output *out, grpo_report *report, const grpo_method_ *how)
{
    grpo_partial partial;
    grpo_status st;
    memset(&partial, 0, sizeof partial);
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!report) return GRPO_NULL_OUTPUT;
    st = grpo_run_batch_(obj, batch, advantage, totals, out, &partial, how);
    if (!st) grpo_report_of(&partial, report);
    return st;
}

/* a unit of more than a token, or pairs; a number that is no choice is left to the checks */
static int grpo_is_of_gspo_(const grpo_objective *obj)
{
    return obj && (((int)obj->ratio.unit > (int)GRPO_UNIT_TOKEN && (int)obj->ratio.unit <= (int)GRPO_UNIT_SEQUENCE_POWER_MEAN)
                   || obj->penalty.pairs == GRPO_PAIRS_MARGIN || obj->penalty.pairs == GRPO_PAIRS_MARGIN_ELSE_SIGN);
}

static const grpo_method_ grpo_by_tokens_ = { grpo_evaluate_tokens_, NULL, 0 };

grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                          const grpo_totals *totals, const grpo_output *out, grpo_partial *partial)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_batch_(obj, batch, advantage, totals, out, partial, &grpo_by_tokens_);
}

grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                      const grpo_totals *totals, const grpo_output *out, grpo_report *report)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_once_(obj, batch, advantage, totals, out, report, &grpo_by_tokens_);
}

grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from)
{
    int k;
    if (!into || !from) return GRPO_NULL_OUTPUT;
    if (from->scales.divisor == 0) return GRPO_OK;
    if (into->scales.divisor != 0 && !grpo_same_scales_(&into->scales, &from->scales)) return GRPO_MIXED_PARTIALS;
    into->scales = from->scales;
    for (k = 0; k < GRPO_N_SUMS; k++) grpo_sum_merge_(&into->sum[k], &from->sum[k]);
    if (from->tokens && (!into->tokens || from->ratio_min < into->ratio_min)) into->ratio_min = from->ratio_min;
    if (from->tokens && (!into->tokens || from->ratio_max > into->ratio_max)) into->ratio_max = from->ratio_max;
    into->tokens += from->tokens;
    into->ratio_tokens += from->ratio_tokens;
    into->weight_tokens += from->weight_tokens;
    into->sequences += from->sequences;
    into->groups += from->groups;
    into->masked_tokens += from->masked_tokens;
    into->rejected_tokens += from->rejected_tokens;
    into->degenerate_groups += from->degenerate_groups;
    for (k = 0; k < 4; k++) into->clips[k] += from->clips[k];
    into->overflow |= from->overflow;
    return GRPO_OK;
}

static double grpo_part_of_(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

static double grpo_noted_(double x, grpo_report *r)
{
    if (!grpo_is_finite(x)) r->overflow = 1;
    return x;
}

static double grpo_total_over_(const grpo_sum *a, const grpo_sum *b, double divisor, grpo_report *r)
{
    grpo_sum s = *a;
    double total;
    int k;
    if (b) grpo_sum_merge_(&s, b);
    total = grpo_sum_total_(&s);
    if (grpo_is_finite(total) || s.pos_inf || s.neg_inf) return grpo_noted_(total, r) / divisor;
    grpo_sum_carry_(&s);                                               /* a sum beyond the largest double may have a mean: 2^64 times less */
    for (k = 0; k < GRPO_SUM_LIMBS; k++) s.limb[k] = k + 2 < GRPO_SUM_LIMBS ? s.limb[k + 2] : 0;
    return grpo_noted_(ldexp(grpo_sum_value_(&s) / divisor, 64), r);
}

/* the terms beside those that are aggregated */
static double grpo_loss_beside_(const grpo_partial *p, grpo_report *r)
{
    const double likelihood = grpo_times(p->scales.likelihood, grpo_sum_total_(&p->sum[GRPO_SUM_LIKELIHOOD]));
    return grpo_noted_(grpo_plus(likelihood, grpo_times(p->scales.pairs, grpo_sum_total_(&p->sum[GRPO_SUM_PAIRS]))), r);
}

void grpo_report_of(const grpo_partial *p, grpo_report *r)
{
    const grpo_sum *s = p->sum;
    double n = grpo_at_least_one_((double)p->tokens), divisor = p->scales.divisor != 0 ? p->scales.divisor : 1, sum, squares, beside;
    double factor = p->scales.factor != 0 ? p->scales.factor : 1;
    memset(r, 0, sizeof *r);
    r->overflow = p->overflow;
    beside = grpo_loss_beside_(p, r);
    r->loss = factor * grpo_plus(grpo_total_over_(&s[GRPO_SUM_POLICY], &s[GRPO_SUM_PENALTY], divisor, r), beside);
    r->policy_loss = factor * grpo_total_over_(&s[GRPO_SUM_POLICY], NULL, divisor, r);
    r->penalty_loss = factor * grpo_plus(grpo_total_over_(&s[GRPO_SUM_PENALTY], NULL, divisor, r), beside);
    r->tokens = p->tokens; r->sequences = p->sequences; r->groups = p->groups;
    r->masked_tokens = p->masked_tokens; r->rejected_tokens = p->rejected_tokens; r->degenerate_groups = p->degenerate_groups;
    r->clip_low = grpo_part_of_(p->clips[GRPO_CLIP_LOW], p->tokens);
    r->clip_high = grpo_part_of_(p->clips[GRPO_CLIP_HIGH], p->tokens);
    r->clip_dual = grpo_part_of_(p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->clip_fraction = grpo_part_of_(p->clips[GRPO_CLIP_LOW] + p->clips[GRPO_CLIP_HIGH] + p->clips[GRPO_CLIP_DUAL], p->tokens);
    r->old_k1 = grpo_noted_(grpo_sum_value_(&s[GRPO_SUM_OLD_K1]), r) / n;
    r->old_k3 = grpo_total_over_(&s[GRPO_SUM_OLD_K3], NULL, n, r);
    r->kl_k1 = grpo_noted_(grpo_sum_value_(&s[GRPO_SUM_KL_K1]), r) / n;
    r->kl_k2 = grpo_total_over_(&s[GRPO_SUM_KL_K2], NULL, n, r);
    r->kl_k3 = grpo_total_over_(&s[GRPO_SUM_KL_K3], NULL, n, r);
    r->entropy = grpo_total_over_(&s[GRPO_SUM_ENTROPY], NULL, n, r);
    sum = grpo_sum_total_(&s[GRPO_SUM_RATIO]);
    squares = grpo_sum_total_(&s[GRPO_SUM_RATIO_SQUARED]);
    r->ratio_mean = p->ratio_tokens ? grpo_total_over_(&s[GRPO_SUM_RATIO], &s[GRPO_SUM_RATIO_EXCESS], n, r) : 1;
    r->ratio_min = p->tokens ? p->ratio_min : 1;
    r->ratio_max = p->tokens ? p->ratio_max : 1;
    r->ess = squares > 0 ? (sum / n) * (sum / squares) : 1;
    r->weight_mean = p->weight_tokens ? grpo_total_over_(&s[GRPO_SUM_WEIGHT], NULL, n, r) : 1;
}

/* ---- beside the axes ----------------------------------------------------------------------------------------------------------- */

/* an array of the caller's, by token; batches without groups need none */
static grpo_status grpo_check_tokens_(const grpo_batch *b, const grpo_real *x, grpo_status null, grpo_status bad)
{
    if (b->n_groups == 0) return GRPO_OK;
    if (!x) return null;
    return grpo_tokens_in_domain_(b, x, NULL, GRPO_MODERATE_) ? GRPO_OK : bad;
}

/* |x| <= 1e150 */
static int grpo_are_moderate_(const double *x, int64_t begin, int64_t end)
{
    for (; begin < end; begin++) if (!grpo_in_domain_(x[begin], GRPO_MODERATE_)) return 0;
    return 1;
}

static void grpo_clear_reals_(const grpo_batch *b, grpo_real *out)
{
    int64_t i, t;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) out[t] = 0;
}

static void grpo_clear_masked_(const grpo_batch *b, grpo_real *out)
{
    int64_t i, t;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (b->mask && !b->mask[t]) out[t] = 0;
}

/* ---- the critic ---- */

static grpo_group_counts_ grpo_count_mask_of_group_(const grpo_batch *b, int64_t g)
{
    grpo_group_counts_ n = { 0, 0, 0 };
    int64_t i;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const int64_t tokens = grpo_unmasked_(b, i);
        n.tokens += tokens;
        n.nonempty += tokens > 0;
        n.sequences++;
    }
    return n;
}

static void grpo_count_mask_(const grpo_batch *b, grpo_totals *totals)
{
    int64_t g;
    memset(totals, 0, sizeof *totals);
    for (g = 0; g < b->n_groups; g++) {
        const grpo_group_counts_ n = grpo_count_mask_of_group_(b, g);
        totals->tokens += n.tokens;
        totals->sequences += n.sequences;
        totals->sequences_nonempty += n.nonempty;
        totals->groups++;
        totals->groups_nonempty += n.tokens > 0;
    }
}

static grpo_status grpo_check_aggregation_(const grpo_aggregation *a)
{
    grpo_objective o;
    memset(&o, 0, sizeof o);
    o.aggregation = *a;
    if (a->kind == GRPO_SEQ_MEAN_SEGMENT_MEAN || a->kind == GRPO_TOKEN_MEAN_VARIED) return GRPO_BAD_AGGREGATION;
    return grpo_objective_check(&o) || grpo_counts_by_sign_(&o) || grpo_counts_sequences_by_sign_(&o) ? GRPO_BAD_AGGREGATION : GRPO_OK;
}

static grpo_status grpo_check_values_(const grpo_batch *b, const grpo_real *value, const grpo_real *value_old, const grpo_real *returns)
{
    grpo_status st = grpo_check_tokens_(b, value, GRPO_NULL_VALUES, GRPO_BAD_VALUES);
    if (!st) st = grpo_check_tokens_(b, returns, GRPO_NULL_VALUES, GRPO_BAD_VALUES);
    return st ? st : grpo_check_tokens_(b, value_old, GRPO_NULL_VALUES, GRPO_BAD_VALUES);
}

typedef struct {
    const grpo_real *value, *value_old, *returns;
    double clip, local, divisor;
    grpo_real *dvalue;
    grpo_sum loss;
    int64_t clipped;
} grpo_critic_;

static void grpo_value_sequence_(const grpo_batch *b, int64_t i, grpo_critic_ *c)
{
    int64_t t;
    int overflow = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        grpo_value_term x = { 0, 0, 0 };
        if (!b->mask || b->mask[t]) x = grpo_value_square((double)c->value[t], (double)c->value_old[t], (double)c->returns[t], c->clip);
        grpo_sum_add_(&c->loss, x.loss / c->local);
        c->clipped += x.clipped;
        if (c->dvalue) grpo_put_(c->dvalue, t, x.slope / c->local / c->divisor, &overflow);
    }
}

grpo_status grpo_value_loss(const grpo_batch *batch, const grpo_real *value, const grpo_real *value_old, const grpo_real *returns,
                            double clip, const grpo_aggregation *aggregation, grpo_real *dvalue, grpo_value_report *report)
{
    grpo_status st = grpo_check_call_(batch, report);
    grpo_totals totals;
    grpo_critic_ c;
    grpo_group_counts_ group;
    int64_t g, i;
    if (st) return st;
    if (!aggregation) return GRPO_NULL_AGGREGATION;
    if (!(clip >= 0 && clip <= 1e150)) return GRPO_BAD_VALUE_CLIP;
    st = grpo_check_aggregation_(aggregation);
    if (!st) st = grpo_check_values_(batch, value, clip > 0 ? value_old : value, returns);
    if (st) return st;
    grpo_count_mask_(batch, &totals);
    memset(&c, 0, sizeof c);
    c.value = value; c.value_old = clip > 0 ? value_old : value; c.returns = returns; c.clip = clip; c.dvalue = dvalue;
    c.divisor = grpo_divisor_(aggregation, &totals);
    for (g = 0; g < batch->n_groups; g++) {
        group = grpo_count_mask_of_group_(batch, g);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            c.local = grpo_local_divisor_(aggregation, grpo_unmasked_(batch, i), 0, &group);
            grpo_value_sequence_(batch, i, &c);
        }
    }
    report->loss = grpo_sum_total_(&c.loss) / c.divisor;
    report->clip_fraction = totals.tokens ? (double)c.clipped / (double)totals.tokens : 0;
    return GRPO_OK;
}

/* ---- log-probabilities ---- */

static int grpo_is_version_(int64_t v) { return v >= 0 && v <= INT64_C(1) << 53; }

grpo_status grpo_proximal_logp(const grpo_batch *batch, int64_t version, const int64_t *behaviour_version, grpo_proximal_form form,
                               grpo_real *logp_old)
{
    grpo_status st = grpo_check_call_(batch, logp_old);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (st) return st;
    if (form != GRPO_PROXIMAL_LOG_LINEAR && form != GRPO_PROXIMAL_LINEAR) return GRPO_BAD_FORM;
    if (batch->n_groups && !behaviour_version) return GRPO_NULL_VERSION;
    st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_ROLLOUT_);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        if (!grpo_is_version_(version) || !grpo_is_version_(behaviour_version[t]) || behaviour_version[t] > version) return GRPO_BAD_VERSION;
    grpo_clear_reals_(batch, logp_old);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(logp_old, t, grpo_proximal(form, (double)batch->logp[t], (double)batch->logp_rollout[t], version - behaviour_version[t]),
                  &overflow);
    return GRPO_OK;
}

/* ---- rewards and weights of responses ---- */

/* w of a response of T tokens, before the weights are normalised */
static grpo_dd grpo_sample_weight_(const double *difficulty, int64_t i, int by_length, double T, grpo_lengths_ all)
{
    const double span = all.longest - all.shortest;
    double hard;
    grpo_dd w = grpo_dd_of_(1);
    if (difficulty) {
        hard = difficulty[i] < 0 ? 0 : difficulty[i] > 1 ? 1 : difficulty[i];
        w = grpo_dd_add(grpo_dd_of_(0.5), grpo_two_prod(1.5, hard));
    }
    if (!by_length) return w;
    if (!(span > 0)) return grpo_dd_mul(w, 1.5);
    return grpo_dd_product(w, grpo_dd_div(grpo_dd_of_(1.5 * span - (T - all.shortest)), span));
}

grpo_status grpo_sample_weights(const grpo_batch *batch, const double *difficulty, int by_length, double *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    const int64_t first = st ? 0 : grpo_first_sequence_(batch), end = st ? 0 : grpo_end_sequence_(batch);
    grpo_lengths_ all = { HUGE_VAL, 0 };
    grpo_sum sum;
    grpo_dd total, w;
    double T;
    int64_t i;
    if (st) return st;
    memset(&sum, 0, sizeof sum);
    for (i = first; i < end; i++) {
        if (difficulty && !grpo_is_finite(difficulty[i])) return GRPO_BAD_DIFFICULTY;
        T = (double)grpo_unmasked_(batch, i);
        if (T < all.shortest) all.shortest = T;
        if (T > all.longest) all.longest = T;
    }
    for (i = first; i < end; i++)
        grpo_sum_add_dd_(&sum, grpo_sample_weight_(difficulty, i, by_length, (double)grpo_unmasked_(batch, i), all));
    total = grpo_sum_dd_(&sum);
    for (i = first; i < end; i++) {
        w = grpo_sample_weight_(difficulty, i, by_length, (double)grpo_unmasked_(batch, i), all);
        weight[i] = grpo_dd_quotient(grpo_dd_mul(w, (double)(end - first)), total).hi;
    }
    return GRPO_OK;
}

static double grpo_largest_(const double *x, int64_t begin, int64_t end)
{
    double most = 0;
    for (; begin < end; begin++) if (x[begin] > most) most = x[begin];
    return most;
}

static grpo_status grpo_check_cost_(const grpo_cost *c, int64_t begin, int64_t end)
{
    const double *const arrays[] = { c->output, c->input, c->turns }, coefs[] = { c->output_coef, c->input_coef, c->turns_coef };
    int64_t i;
    int k;
    for (k = 0; k < 3; k++) if (begin < end && !arrays[k]) return GRPO_NULL_COST;
    if (!grpo_are_moderate_(coefs, 0, 3)) return GRPO_BAD_COST;
    for (k = 0; k < 3; k++) for (i = begin; i < end; i++) if (!(arrays[k][i] >= 0 && arrays[k][i] <= 1e150)) return GRPO_BAD_COST;
    return GRPO_OK;
}

static void grpo_cost_group_(const grpo_batch *b, int64_t g, const grpo_cost *c, grpo_real *reward)
{
    const double *const arrays[] = { c->output, c->input, c->turns }, coefs[] = { c->output_coef, c->input_coef, c->turns_coef };
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_sum sum;
    grpo_dd mean, share;
    double most[3];
    int64_t i;
    int k, overflow = 0;
    memset(&sum, 0, sizeof sum);
    for (i = begin; i < end; i++) grpo_sum_add_(&sum, (double)b->reward[i]);
    mean = grpo_dd_div(grpo_sum_dd_(&sum), (double)(end - begin));
    for (k = 0; k < 3; k++) most[k] = grpo_largest_(arrays[k], begin, end);
    for (i = begin; i < end; i++) {
        share = grpo_dd_of_(0);
        for (k = 0; k < 3; k++) if (most[k] > 0) share = grpo_dd_add(share, grpo_dd_div(grpo_two_prod(coefs[k], arrays[k][i]), most[k]));
        grpo_put_(reward, i, grpo_dd_minus_(grpo_dd_of_((double)b->reward[i]), grpo_dd_product(mean, share)).hi, &overflow);
    }
}

grpo_status grpo_relative_cost(const grpo_batch *batch, const grpo_cost *cost, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g;
    if (st) return st;
    if (!cost) return GRPO_NULL_COST;
    st = grpo_check_cost_(cost, grpo_first_sequence_(batch), grpo_end_sequence_(batch));
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) grpo_cost_group_(batch, g, cost, reward);
    return GRPO_OK;
}

static grpo_dd grpo_row_total_(const double *x, int64_t n, double eps)
{
    grpo_sum sum;
    int64_t k;
    memset(&sum, 0, sizeof sum);
    grpo_sum_add_(&sum, eps);
    for (k = 0; k < n; k++) grpo_sum_add_(&sum, x[k]);
    return grpo_sum_dd_(&sum);
}

grpo_status grpo_diversity_reward(const double *reward, const double *similarity, int64_t n, double eps, double *shaped)
{
    grpo_dd total;
    int64_t i;
    if (!shaped) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (n > 0 && !similarity) return GRPO_NULL_SIMILARITY;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    if (!grpo_are_moderate_(similarity, 0, n * n) || !grpo_are_moderate_(&eps, 0, 1)) return GRPO_BAD_SIMILARITY;
    for (i = 0; i < n; i++) if (grpo_row_total_(similarity + i * n, n, eps).hi == 0) return GRPO_BAD_SIMILARITY;
    for (i = 0; i < n; i++) {
        total = grpo_row_total_(similarity + i * n, n, eps);
        shaped[i] = total.hi > 0 ? grpo_dd_quotient(grpo_dd_of_(reward[i]), total).hi
                                 : grpo_dd_quotient(grpo_dd_of_(-reward[i]), grpo_dd_negative(total)).hi;
    }
    return GRPO_OK;
}

/* ---- key tokens ---- */

/* of the responses that are right [0] and wrong [1]: how many there are, how many have the id, their tokens, those with the id */
typedef struct { double responses[2], with[2], tokens[2], hits[2]; } grpo_key_counts_;

/* two-sided p-value of (a b; c d): the share of tables with its margins that are not more probable, each in units of its own probability.
 * 1 exactly if all are */
static grpo_dd grpo_fisher_(double a, double b, double c, double d)
{
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd rare = one, total = one, w;
    double k;
    int all = 1, up;
    for (up = 0; up < 2; up++) {
        const double most = up ? (b < c ? b : c) : (a < d ? a : d);     /* tables a + k, b - k, c - k, d + k; downwards the signs change */
        for (w = one, k = 0; k < most; k++) {
            const double from = up ? (b - k) * (c - k) : (a - k) * (d - k);
            w = grpo_dd_div(grpo_dd_mul(w, from), up ? (a + k + 1) * (d + k + 1) : (b + k + 1) * (c + k + 1));
            total = grpo_dd_add(total, w);
            if (w.hi <= 1 + 1e-15) rare = grpo_dd_add(rare, w);
            else all = 0;
        }
    }
    if (all) return one;
    return grpo_is_finite(total.hi) ? grpo_dd_quotient(rare, total) : grpo_dd_of_(0);
}

static void grpo_add_log_(grpo_dd *sum, double sign, double n)         /* + sign n log n */
{
    if (n > 0) *sum = grpo_dd_add(*sum, grpo_dd_mul(grpo_log_twice(n), sign * n));
}

/* in bits; 0 exactly where the rows of (a b; c d) are proportional */
static grpo_dd grpo_information_(double a, double b, double c, double d)
{
    const grpo_dd ln2 = { 6.93147180559945286e-01, 2.31904681384629956e-17 };
    grpo_dd sum = { 0, 0 };
    if (a * d == b * c) return sum;
    grpo_add_log_(&sum, 1, a); grpo_add_log_(&sum, 1, b); grpo_add_log_(&sum, 1, c); grpo_add_log_(&sum, 1, d);
    grpo_add_log_(&sum, -1, a + b); grpo_add_log_(&sum, -1, c + d); grpo_add_log_(&sum, -1, a + c); grpo_add_log_(&sum, -1, b + d);
    grpo_add_log_(&sum, 1, a + b + c + d);
    return grpo_dd_quotient(sum, grpo_dd_mul(ln2, a + b + c + d));
}

static grpo_dd grpo_sqrt_twice_(grpo_dd x)                             /* x >= 0 */
{
    grpo_dd s = grpo_dd_of_(sqrt(x.hi));
    if (s.hi == 0) return s;
    return grpo_two_sum(s.hi, grpo_dd_minus_(x, grpo_two_prod(s.hi, s.hi)).hi / (2 * s.hi));
}

/* to twice the precision: atan x = 2 atan(x/(1 + sqrt(1 + x^2))) five times, then |x| < 0.05 and x^25/25 < 2^-110 */
static grpo_dd grpo_atan_twice_(grpo_dd x)
{
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd square, sum = { 0, 0 };
    int k;
    for (k = 0; k < 5; k++) x = grpo_dd_quotient(x, grpo_dd_add(one, grpo_sqrt_twice_(grpo_dd_add(one, grpo_dd_product(x, x)))));
    square = grpo_dd_product(x, x);
    for (k = 23; k >= 1; k -= 2) sum = grpo_dd_minus_(grpo_dd_div(one, k), grpo_dd_product(square, sum));
    return grpo_dd_mul(grpo_dd_product(x, sum), 32);
}

/* asin sqrt(a/(a + c + eps)) - asin sqrt(b/(b + d + eps)) = atan sqrt(a/(c + eps)) - atan sqrt(b/(d + eps)) as one arc tangent */
static grpo_dd grpo_arc_difference_(double a, double b, double c, double d)
{
    const grpo_dd eps = { 1e-10, -3.643219731549774e-27 };
    const grpo_dd C = grpo_dd_add(grpo_dd_of_(c), eps), D = grpo_dd_add(grpo_dd_of_(d), eps);
    grpo_dd over = grpo_dd_add(grpo_two_diff(a * d, b * c), grpo_dd_mul(eps, a - b)), under;
    if (over.hi == 0) return over;
    over = grpo_dd_quotient(over, grpo_dd_add(grpo_sqrt_twice_(grpo_dd_mul(D, a)), grpo_sqrt_twice_(grpo_dd_mul(C, b))));
    under = grpo_dd_add(grpo_sqrt_twice_(grpo_dd_product(C, D)), grpo_sqrt_twice_(grpo_dd_of_(a * b)));
    return grpo_atan_twice_(grpo_dd_quotient(over, under));
}

/* tf of the right (side 0) or the wrong responses: 3 n (L + L')/(n (L + L') + L (3 L + L')) */
static grpo_dd grpo_term_frequency_(const grpo_key_counts_ *k, int side)
{
    const double n = k->hits[side], L = k->tokens[side], both = k->tokens[0] + k->tokens[1];
    if (n == 0) return grpo_dd_of_(0);
    return grpo_dd_steady_(grpo_dd_quotient(grpo_two_prod(3 * n, both), grpo_dd_add(grpo_two_prod(n, both), grpo_two_prod(L, 2 * L + both))));
}

/* tf/(tf' + eps) - tf'/(tf + eps) = (tf - tf')(tf + tf' + eps)/((tf' + eps)(tf + eps)) */
static grpo_dd grpo_frequency_difference_(const grpo_key_counts_ *k)
{
    const grpo_dd eps = { 1e-5, -8.180305391403131e-22 };
    const grpo_dd right = grpo_term_frequency_(k, 0), wrong = grpo_term_frequency_(k, 1), sum = grpo_dd_add(grpo_dd_add(right, wrong), eps);
    const grpo_dd under = grpo_dd_product(grpo_dd_add(right, eps), grpo_dd_add(wrong, eps));
    return grpo_dd_quotient(grpo_dd_product(grpo_dd_minus_(right, wrong), sum), under);
}

static double grpo_key_of_counts_(const grpo_key_measure *m, const grpo_key_counts_ *k)
{
    const double a = k->with[0], b = k->with[1], c = k->responses[0] - a, d = k->responses[1] - b;
    const grpo_dd p = grpo_fisher_(a, b, c, d);
    grpo_dd w = { 0, 0 }, h = grpo_arc_difference_(a, b, c, d);
    double t;
    if (p.hi != 1 || p.lo != 0) w = grpo_dd_mul(grpo_exp_twice(grpo_dd_mul(p, -2)), m->fisher);
    w = grpo_dd_add(w, grpo_dd_mul(grpo_information_(a, b, c, d), m->gain));
    if (m->frequency) h = grpo_dd_add(h, grpo_frequency_difference_(k));
    h = grpo_dd_mul(grpo_dd_product(grpo_dd_quotient(w, grpo_two_sum(m->fisher, m->gain)), h), 0.5);
    t = tanh(h.hi);
    return grpo_times(m->top, t + h.lo * (1 - t * t));
}

static int grpo_place_before_(const grpo_token_place *x, const grpo_token_place *y)
{
    return x->token < y->token || (x->token == y->token && x->sequence < y->sequence);
}

/* the heap below `root` has only its root out of place */
static void grpo_sift_(grpo_token_place *heap, int64_t root, int64_t n)
{
    int64_t child;
    grpo_token_place x = heap[root];
    for (; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && grpo_place_before_(&heap[child], &heap[child + 1])) child++;
        if (!grpo_place_before_(&x, &heap[child])) break;
        heap[root] = heap[child];
    }
    heap[root] = x;
}

static void grpo_sort_places_(grpo_token_place *x, int64_t n)
{
    grpo_token_place last;
    int64_t k;
    for (k = n / 2; k > 0; k--) grpo_sift_(x, k - 1, n);
    for (k = n - 1; k > 0; k--) {
        last = x[k]; x[k] = x[0]; x[0] = last;
        grpo_sift_(x, 0, k);
    }
}

/* the unmasked tokens of group g, and the counts that all ids share */
static int64_t grpo_gather_places_(const grpo_batch *b, int64_t g, const int64_t *token, grpo_token_place *place, grpo_key_counts_ *k)
{
    int64_t i, t, n = 0, before;
    int wrong;
    memset(k, 0, sizeof *k);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        wrong = !((double)b->reward[i] > 0);
        for (before = n, t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (b->mask && !b->mask[t]) continue;
            place[n].token = token[t]; place[n].sequence = i; place[n].slot = t;
            n++;
        }
        k->responses[wrong]++;
        k->tokens[wrong] += (double)(n - before);
    }
    return n;
}

static void grpo_key_group_(const grpo_batch *b, int64_t g, const int64_t *token, const grpo_key_measure *m, grpo_token_place *place,
                            grpo_real *key)
{
    grpo_key_counts_ k;
    double x;
    int64_t begin, end, j, n = grpo_gather_places_(b, g, token, place, &k);
    int wrong, overflow = 0;
    if (k.responses[0] == 0 || k.responses[1] == 0) return;
    grpo_sort_places_(place, n);
    for (begin = 0; begin < n; begin = end) {
        k.with[0] = k.with[1] = k.hits[0] = k.hits[1] = 0;
        for (end = begin; end < n && place[end].token == place[begin].token; end++) {
            wrong = !((double)b->reward[place[end].sequence] > 0);
            k.hits[wrong]++;
            k.with[wrong] += end == begin || place[end].sequence != place[end - 1].sequence;
        }
        if (m->ignored != -1 && place[begin].token == m->ignored) continue;
        x = grpo_key_of_counts_(m, &k);
        for (j = begin; j < end; j++) grpo_put_(key, place[j].slot, x, &overflow);
    }
}

static grpo_status grpo_check_scratch_(const grpo_batch *b, const grpo_token_place *scratch, int64_t capacity)
{
    int64_t g, i, n;
    for (g = 0; g < b->n_groups; g++) {
        for (n = 0, i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) n += grpo_unmasked_(b, i);
        if (n > capacity || (n > 0 && !scratch)) return GRPO_BAD_SCRATCH;
    }
    return GRPO_OK;
}

grpo_status grpo_key_tokens(const grpo_batch *batch, const int64_t *token, const grpo_key_measure *measure, grpo_token_place *scratch,
                            int64_t capacity, grpo_real *key)
{
    grpo_status st = grpo_check_call_(batch, key);
    int64_t g;
    if (st) return st;
    if (!measure) return GRPO_NULL_KEY_MEASURE;
    if (!(measure->fisher >= 0 && measure->fisher <= 1e150 && measure->gain >= 0 && measure->gain <= 1e150 && grpo_is_finite(measure->top)
          && measure->fisher + measure->gain > 0)) return GRPO_BAD_KEY_MEASURE;
    if (batch->n_groups && !token) return GRPO_NULL_TOKEN;
    st = grpo_check_scratch_(batch, scratch, capacity);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    grpo_clear_reals_(batch, key);
    for (g = 0; g < batch->n_groups; g++) grpo_key_group_(batch, g, token, measure, scratch, key);
    return GRPO_OK;
}

/* ---- advantages ---- */

grpo_status grpo_jsd_advantage(const grpo_batch *batch, double beta, double coef, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (st) return st;
    if (!(beta >= 0 && beta <= 1 && grpo_is_finite(coef))) return GRPO_BAD_JSD;
    st = grpo_check_tokens_(batch, batch->logp_teacher, GRPO_NULL_LOGP_TEACHER, GRPO_BAD_LOGP_TEACHER);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    grpo_clear_reals_(batch, advantage);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(advantage, t, grpo_times(-coef, grpo_jensen_shannon((double)batch->logp_teacher[t], (double)batch->logp_old[t], beta)),
                  &overflow);
    return GRPO_OK;
}

/* alpha = m/(p + m) = m N/(c + m N) of the c correct ones among N; 0 for c = 0 */
static grpo_dd grpo_distribution_share_(const grpo_batch *b, const uint8_t *correct, double entropy, double entropy_base)
{
    const grpo_dd tenth = { 0.1, -5.551115123125783e-18 };
    const int64_t first = grpo_first_sequence_(b), end = grpo_end_sequence_(b);
    grpo_dd m = grpo_two_diff(entropy_base, entropy);
    int64_t i, c = 0;
    for (i = first; i < end; i++) c += correct[i] != 0;
    if (c == 0) return grpo_dd_of_(0);
    if (m.hi < 0) m = grpo_dd_negative(m);
    if (grpo_dd_less(tenth, m)) m = tenth;
    m = grpo_dd_mul(m, (double)(end - first));
    return grpo_dd_quotient(m, grpo_dd_add(grpo_dd_of_((double)c), m));
}

grpo_status grpo_distribution_advantage(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *tempered,
                                        const uint8_t *correct, double entropy, double entropy_base, grpo_real *shaped)
{
    grpo_status st = grpo_check_call_(batch, shaped);
    grpo_dd alpha, rest;
    int64_t i, t;
    int overflow = 0;
    if (st) return st;
    if (!grpo_is_finite(entropy) || !grpo_is_finite(entropy_base)) return GRPO_BAD_ENTROPY_BASE;
    if (batch->n_groups && !correct) return GRPO_NULL_CORRECT;
    st = grpo_check_tokens_(batch, tempered, GRPO_NULL_TEMPERED, GRPO_BAD_TEMPERED);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    alpha = grpo_distribution_share_(batch, correct, entropy, entropy_base);
    rest = grpo_dd_minus_(grpo_dd_of_(1), alpha);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++) {
            double A = 0, push = 0;
            if (!batch->mask || batch->mask[t]) A = grpo_dd_mul(rest, (double)advantage[t]).hi;
            if ((!batch->mask || batch->mask[t]) && correct[i])
                push = grpo_times(alpha.hi, grpo_exp(grpo_two_diff((double)tempered[t], (double)batch->logp_old[t])));
            grpo_put_(shaped, t, A + push, &overflow);
        }
    return GRPO_OK;
}

grpo_status grpo_running_baseline(const double *reward, int64_t n, double momentum, double *advantage, double *baseline)
{
    const grpo_dd rest = grpo_two_diff(1, momentum);
    grpo_dd b;
    int64_t i;
    if (!advantage || !baseline) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (!(momentum >= 0 && momentum <= 1) || !grpo_are_moderate_(baseline, 0, 1)) return GRPO_BAD_MOMENTUM;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    for (b = grpo_dd_of_(*baseline), i = 0; i < n; i++) {
        const grpo_dd r = grpo_dd_of_(reward[i]);
        advantage[i] = grpo_dd_minus_(r, b).hi;
        b = grpo_dd_add(grpo_dd_mul(b, momentum), grpo_dd_product(rest, r));
    }
    *baseline = b.hi;
    return GRPO_OK;
}

/* ---- entropy clips ---- */

/* of the signal over the mask, in units of 2^exponent, whose squares neither overflow nor underflow: sum x, n sum x^2 - (sum x)^2 */
typedef struct { grpo_dd sum, square; double n; int exponent; } grpo_spread_;

static grpo_spread_ grpo_spread_of_(const grpo_signal_ *s)
{
    grpo_spread_ r;
    grpo_values v;
    grpo_sum acc;
    grpo_index_ at;
    grpo_dd x;
    double largest = 0;
    int64_t t;
    memset(&v, 0, sizeof v);
    memset(&acc, 0, sizeof acc);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_token_(s->batch, &at)) >= 0; ) {
        x = grpo_signal_at_(s, t);
        if (!(fabs(x.hi) <= largest)) largest = fabs(x.hi);
    }
    frexp(grpo_is_finite(largest) ? largest : 0, &r.exponent);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_token_(s->batch, &at)) >= 0; ) {
        x = grpo_signal_at_(s, t);
        x.hi = ldexp(x.hi, -r.exponent); x.lo = ldexp(x.lo, -r.exponent);
        grpo_values_take_(&v, x);
    }
    r.n = (double)v.count;
    r.sum = grpo_sum_dd_(&v.sum);
    r.square = grpo_dd_of_(0);
    if (v.count < 2 || !grpo_is_finite(largest) || grpo_dd_same_(v.min, v.max)) return r;
    grpo_covariance_add_(&acc, r.n, &v.squares, &v.sum, &v.sum);
    r.square = grpo_sum_dd_(&acc);
    return r;
}

/* n y > mu n std for y = mean x - x or, not centred, x; two that differ by less than 2^-60 of them are one number */
static int grpo_stands_out_(const grpo_signal_ *s, const grpo_spread_ *spread, int64_t t, double mu)
{
    grpo_dd x = grpo_signal_at_(s, t), bound;
    if (!(spread->square.hi > 0)) return 0;
    x.hi = ldexp(x.hi, -spread->exponent); x.lo = ldexp(x.lo, -spread->exponent);
    x = grpo_dd_mul(x, spread->n);
    if (!s->expected) x = grpo_dd_minus_(spread->sum, x);
    if (!(x.hi > 0)) return 0;
    bound = grpo_dd_mul(grpo_sqrt_twice_(spread->square), mu);
    return grpo_dd_minus_(x, bound).hi > ldexp(x.hi, -60);
}

/* selects the tokens with A < 0 that stand out, and counts them */
static int64_t grpo_select_outliers_(const grpo_signal_ *s, const grpo_spread_ *spread, const grpo_real *advantage, double mu,
                                     uint8_t *selected)
{
    grpo_index_ at;
    int64_t t, n = 0;
    grpo_clear_tokens_(s->batch, selected);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_token_(s->batch, &at)) >= 0; ) {
        if (!(advantage[t] < 0) || !grpo_stands_out_(s, spread, t, mu)) continue;
        selected[t] = 1;
        n++;
    }
    return n;
}

static grpo_status grpo_check_clip_(const grpo_batch *b, const grpo_real *advantage, double mu, const uint8_t *selected)
{
    grpo_status st = grpo_check_call_(b, selected);
    if (st) return st;
    if (!grpo_is_finite(mu)) return GRPO_BAD_MU;
    return grpo_check_inputs_(b, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_ | GRPO_NEED_ADVANTAGE_);
}

grpo_status grpo_clip_below(const grpo_batch *batch, const grpo_real *advantage, double mu, uint8_t *selected)
{
    grpo_status st = grpo_check_clip_(batch, advantage, mu, selected);
    grpo_signal_ s;
    grpo_spread_ spread;
    if (st) return st;
    s.batch = batch; s.expected = NULL;
    spread = grpo_spread_of_(&s);
    grpo_select_outliers_(&s, &spread, advantage, mu, selected);
    return GRPO_OK;
}

/* of the selected tokens only the `most` with the largest signal stay */
static void grpo_keep_largest_(const grpo_signal_ *s, int64_t most, uint8_t *selected)
{
    grpo_batch candidates = *s->batch;
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    int64_t t, ties;
    candidates.mask = selected;
    memset(&o, 0, sizeof o);
    o.batch = &candidates; o.signal = s; o.descending = 1; o.most = most;
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(&candidates); (t = grpo_next_token_(&candidates, &at)) >= 0; ) {
        grpo_key_of_(&o, t, &key);
        selected[t] = grpo_in_prefix_(&p, &key, &ties) ? 1 : 0;
    }
}

grpo_status grpo_clip_value(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *expected, double mu, double fraction,
                            uint8_t *selected)
{
    grpo_status st = grpo_check_clip_(batch, advantage, mu, selected);
    grpo_signal_ s;
    grpo_spread_ spread;
    int64_t most;
    if (!st && !(fraction >= 0 && fraction <= 1)) st = GRPO_BAD_FRACTION;
    if (!st) st = grpo_check_tokens_(batch, expected, GRPO_NULL_EXPECTED, GRPO_BAD_EXPECTED);
    if (st) return st;
    s.batch = batch; s.expected = expected;
    spread = grpo_spread_of_(&s);
    most = -grpo_ceil_of_(-fraction, (int64_t)spread.n);                /* floor(fraction n) */
    if (most < 1) most = 1;
    if (grpo_select_outliers_(&s, &spread, advantage, mu, selected) > most) grpo_keep_largest_(&s, most, selected);
    return GRPO_OK;
}

/* ---- sampling ---- */

#define GRPO_MAX_CANDIDATES_ 20
typedef struct { int64_t index[GRPO_MAX_CANDIDATES_]; int sign; grpo_dd spread; } grpo_subset_;

/* + sign count (mean - bound) of a subset, times 2 */
static void grpo_add_distance_(grpo_sum *s, const double *reward, const grpo_subset_ *x, int64_t count, double low, double high, int sign)
{
    int64_t k;
    for (k = 0; k < count; k++) {
        grpo_sum_add_(s, sign * 2 * reward[x->index[k]]);
        grpo_sum_add_(s, -sign * low);
        grpo_sum_add_(s, -sign * high);
    }
}

static double grpo_distance_(const double *reward, const grpo_subset_ *x, int64_t count, double low, double high)
{
    grpo_sum s;
    memset(&s, 0, sizeof s);
    grpo_add_distance_(&s, reward, x, count, low, high, 1);
    return grpo_sum_value_(&s);
}

/* the subset's place among others: on which side of the middle its mean is, and its spread.  0: the mean is not between the bounds */
static int grpo_rate_subset_(const double *reward, grpo_subset_ *x, int64_t count, double low, double high)
{
    double least = reward[x->index[0]], most = least;
    int64_t k;
    if (!(grpo_distance_(reward, x, count, low, low) > 0 && grpo_distance_(reward, x, count, high, high) < 0)) return 0;
    for (k = 1; k < count; k++) {
        if (reward[x->index[k]] < least) least = reward[x->index[k]];
        if (reward[x->index[k]] > most) most = reward[x->index[k]];
    }
    x->spread = grpo_two_diff(most, least);
    x->sign = grpo_distance_(reward, x, count, low, high) < 0 ? -1 : 1;
    return 1;
}

static int grpo_subset_better_(const double *reward, const grpo_subset_ *x, const grpo_subset_ *than, int64_t count, double low, double high)
{
    grpo_sum s;
    double nearer;
    memset(&s, 0, sizeof s);
    grpo_add_distance_(&s, reward, x, count, low, high, x->sign);
    grpo_add_distance_(&s, reward, than, count, low, high, -than->sign);
    nearer = grpo_sum_value_(&s);
    return nearer < 0 || (nearer == 0 && grpo_dd_less(than->spread, x->spread));
}

/* the next one in lexicographic order; 0: there is none */
static int grpo_next_subset_(int64_t *index, int64_t n, int64_t count)
{
    int64_t j = count - 1, k;
    while (j >= 0 && index[j] == n - count + j) j--;
    if (j < 0) return 0;
    for (index[j]++, k = j + 1; k < count; k++) index[k] = index[k - 1] + 1;
    return 1;
}

grpo_status grpo_balanced_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *index)
{
    grpo_subset_ x, best;
    int64_t k;
    int any = 0;
    if (!index) return GRPO_NULL_OUTPUT;
    if (!reward) return GRPO_NULL_REWARD_LIST;
    if (!(n >= 1 && n <= GRPO_MAX_CANDIDATES_ && count >= 1 && count <= n)) return GRPO_BAD_SUBSET;
    if (!grpo_is_finite(low) || !grpo_is_finite(high)) return GRPO_BAD_BOUND;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    memset(&x, 0, sizeof x);
    best = x;
    for (k = 0; k < count; k++) x.index[k] = k;
    do {
        if (!grpo_rate_subset_(reward, &x, count, low, high)) continue;
        if (!any || grpo_subset_better_(reward, &x, &best, count, low, high)) best = x;
        any = 1;
    } while (grpo_next_subset_(x.index, n, count));
    if (!any) return GRPO_NO_SUBSET;
    for (k = 0; k < count; k++) index[k] = best.index[k];
    return GRPO_OK;
}

/* ---- control ---- */

/* sum length s e^((s - top)/temperature) < 0, temperature = numerator/divisor; top: the largest score that is not 0 */
static int grpo_regrets_(const int64_t *length, const double *score, int64_t n, double top, double numerator, double divisor)
{
    grpo_sum sum;
    grpo_dd x;
    int64_t k;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < n; k++) {
        if (length[k] == 0 || score[k] == 0) continue;
        x = grpo_dd_div(grpo_dd_mul(grpo_two_diff(score[k], top), divisor), numerator);
        grpo_sum_add_dd_(&sum, grpo_dd_mul(grpo_dd_mul(grpo_exp_twice(x), score[k]), (double)length[k]));
    }
    return grpo_sum_value_(&sum) < 0;
}

/* 0.8 = 4 2^k/(5 2^k) and 100 = 500 2^k/(5 2^k): every middle is a quotient of whole numbers; 99.2/2^11 < 0.05 */
static double grpo_bisected_temperature_(const int64_t *length, const double *score, int64_t n, double top)
{
    double low = 4, high = 500, divisor = 5, middle = 0;
    while ((high - low) / divisor >= 0.05) {
        low *= 2; high *= 2; divisor *= 2;
        middle = (low + high) / 2;
        if (grpo_regrets_(length, score, n, top, middle, divisor)) high = middle;
        else low = middle;
    }
    return middle / divisor;
}

grpo_status grpo_regret_temperature(const int64_t *length, const double *score, int64_t n, double *temperature)
{
    grpo_sum sum;
    double top = -HUGE_VAL;
    int64_t k;
    if (!temperature) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!length || !score)) return GRPO_NULL_SCORE;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < n; k++) {
        if (length[k] < 0 || !grpo_in_domain_(score[k], GRPO_MODERATE_)) return GRPO_BAD_SCORE;
        grpo_sum_add_dd_(&sum, grpo_two_prod((double)length[k], score[k]));
        if (length[k] > 0 && score[k] != 0 && score[k] > top) top = score[k];
    }
    *temperature = grpo_sum_value_(&sum) < 0 ? grpo_bisected_temperature_(length, score, n, top) : 0;
    return GRPO_OK;
}

/* ---- weights, rewards and advantages of papers --------------------------------------------------------------------------------------- */

static const grpo_dd grpo_1e_minus_8_ = { 1e-8, -2.092256083012847e-25 };

static int64_t grpo_group_size_(const grpo_batch *b, int64_t g) { return b->group_begin[g + 1] - b->group_begin[g]; }

static int grpo_exponent_of_(const double *x, int64_t n)               /* of the largest magnitude */
{
    double largest = 0;
    int64_t k;
    int e;
    for (k = 0; k < n; k++) if (fabs(x[k]) > largest) largest = fabs(x[k]);
    frexp(largest, &e);
    return e;
}

static int grpo_token_counts_(const grpo_batch *b, int64_t t) { return !b->mask || b->mask[t]; }

/* of x - y over the unmasked tokens, y NULL: of x; 0 without any */
static grpo_dd grpo_response_mean_(const grpo_batch *b, const grpo_real *x, const grpo_real *y, int64_t i)
{
    grpo_sum sum;
    int64_t t, n = 0;
    memset(&sum, 0, sizeof sum);
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_token_counts_(b, t)) continue;
        grpo_sum_add_diff_(&sum, (double)x[t], y ? (double)y[t] : 0);
        n++;
    }
    return n ? grpo_dd_steady_(grpo_dd_div(grpo_sum_dd_(&sum), (double)n)) : grpo_dd_of_(0);
}

static void grpo_old_means_(const grpo_batch *b, grpo_dd *mean)
{
    int64_t i;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++) mean[i] = grpo_response_mean_(b, b->logp_old, NULL, i);
}

/* x of the responses to group g, where `of` (NULL: all) is set */
static grpo_dd grpo_list_mean_(const grpo_batch *b, int64_t g, const double *x, const uint8_t *of)
{
    grpo_sum sum;
    int64_t i, n = 0;
    memset(&sum, 0, sizeof sum);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) if (!of || of[i]) { grpo_sum_add_(&sum, x[i]); n++; }
    return n ? grpo_dd_div(grpo_sum_dd_(&sum), (double)n) : grpo_dd_of_(0);
}

/* a list by response: there, and |x| <= 1e150 */
static grpo_status grpo_check_list_(const grpo_batch *b, const double *x)
{
    if (b->n_groups == 0) return GRPO_OK;
    if (!x) return GRPO_NULL_LIST;
    return grpo_are_moderate_(x, grpo_first_sequence_(b), grpo_end_sequence_(b)) ? GRPO_OK : GRPO_BAD_LIST;
}

static int grpo_list_between_(const double *x, int64_t begin, int64_t end, double low, double high)
{
    for (; begin < end; begin++) if (!(x[begin] >= low && x[begin] <= high)) return 0;
    return 1;
}

static grpo_status grpo_check_shaping_(double a, double b, double c)
{
    const double x[] = { a, b, c };
    return grpo_are_moderate_(x, 0, 3) ? GRPO_OK : GRPO_BAD_SHAPING;
}

static grpo_status grpo_check_temperature_(double x) { return x >= 1e-150 && x <= 1e150 ? GRPO_OK : GRPO_BAD_SOFTMAX_TEMPERATURE; }

/* sin(pi a/b) for 0 <= a/b <= 1/2, 2 ulps */
static double grpo_sine_pi_(grpo_dd a, grpo_dd b)
{
    const grpo_dd pi = { 3.14159265358979312, 1.22464679914735321e-16 };
    const grpo_dd x = grpo_dd_product(grpo_dd_quotient(a, b), pi);
    return sin(x.hi) + cos(x.hi) * x.lo;
}

/* where is set (NULL: everywhere) among the unmasked tokens: x is there, and |x| <= 1e150 */
static grpo_status grpo_check_marked_(const grpo_batch *b, const grpo_real *x, const uint8_t *where, grpo_status null, grpo_status bad)
{
    if (b->n_groups == 0) return GRPO_OK;
    if (!x) return null;
    return grpo_tokens_in_domain_(b, x, where, GRPO_MODERATE_) ? GRPO_OK : bad;
}

/* lists of n > 0 numbers, NULL where one is not needed: there, and |x| <= 1e150 */
static grpo_status grpo_check_numbers_(const double *x, const double *y, int64_t n)
{
    if (n < 1) return n < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!x || !y) return GRPO_NULL_LIST;
    return grpo_are_moderate_(x, 0, n) && grpo_are_moderate_(y, 0, n) ? GRPO_OK : GRPO_BAD_LIST;
}

static int grpo_is_unit_(double x) { return x >= 0 && x <= 1; }

static grpo_dd grpo_group_mean_(const grpo_batch *b, int64_t g)
{
    grpo_sum sum;
    int64_t i;
    memset(&sum, 0, sizeof sum);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)b->reward[i]);
    return grpo_dd_div(grpo_sum_dd_(&sum), (double)(b->group_begin[g + 1] - b->group_begin[g]));
}

/* of x over the n numbers where `of` (NULL: all) is set; 0 without any */
static grpo_dd grpo_mean_of_(const double *x, const uint8_t *of, int64_t n)
{
    grpo_sum sum;
    int64_t k, count = 0;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < n; k++) if (!of || of[k]) { grpo_sum_add_(&sum, x[k]); count++; }
    return count ? grpo_dd_div(grpo_sum_dd_(&sum), (double)count) : grpo_dd_of_(0);
}

/* an array by response: there, and every entry in [low, high] */
static grpo_status grpo_check_entries_(const grpo_batch *b, const double *x, double low, double high)
{
    if (b->n_groups == 0) return GRPO_OK;
    if (!x) return GRPO_NULL_ARGUMENT;
    return grpo_list_between_(x, grpo_first_sequence_(b), grpo_end_sequence_(b), low, high) ? GRPO_OK : GRPO_BAD_ENTRY;
}

static grpo_status grpo_check_entry_list_(const double *x, int64_t n, double low, double high)
{
    if (n > 0 && !x) return GRPO_NULL_ARGUMENT;
    return grpo_list_between_(x, 0, n, low, high) ? GRPO_OK : GRPO_BAD_ENTRY;
}

static grpo_status grpo_check_list_call_(const void *result, int64_t n)
{
    return !result ? GRPO_NULL_OUTPUT : n < 0 ? GRPO_BAD_COUNT : GRPO_OK;
}

static grpo_status grpo_check_correct_(const grpo_batch *b, const uint8_t *correct)
{
    return b->n_groups && !correct ? GRPO_NULL_CORRECT : GRPO_OK;
}

static grpo_status grpo_check_parameter_(double x) { return grpo_in_domain_(x, GRPO_MODERATE_) ? GRPO_OK : GRPO_BAD_PARAMETER; }
static grpo_status grpo_check_weighting_(double x) { return x >= 0 && x <= 1e150 ? GRPO_OK : GRPO_NEGATIVE_PARAMETER; }

/* an exponent to divide by so that squares are numbers; 0 where they are */
static int grpo_square_exponent_(double largest)
{
    int e;
    frexp(largest, &e);
    return e > -400 && e < 400 ? 0 : e;
}

static grpo_dd grpo_dd_scaled_(grpo_dd x, int e)
{
    if (e != 0) { x.hi = ldexp(x.hi, e); x.lo = ldexp(x.lo, e); }
    return x;
}

/* of values in units of 2^e: the standard deviation, 0 where all are equal */
static grpo_dd grpo_values_deviation_(const grpo_values *v, grpo_std_kind kind, int e)
{
    grpo_sum acc;
    if (v->count < 2 || grpo_dd_same_(v->min, v->max)) return grpo_dd_of_(0);
    memset(&acc, 0, sizeof acc);
    grpo_covariance_add_(&acc, (double)v->count, &v->squares, &v->sum, &v->sum);
    return grpo_dd_scaled_(grpo_sqrt_twice_(grpo_dd_div(grpo_sum_dd_(&acc), grpo_variance_divisor_((double)v->count, kind))), e);
}

typedef struct { grpo_dd mean, deviation; } grpo_mean_deviation_of_;

/* likewise */
static grpo_mean_deviation_of_ grpo_mean_and_deviation_(const grpo_values *v, grpo_std_kind kind, int e)
{
    grpo_mean_deviation_of_ r;
    r.mean = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v->sum), (double)v->count), e);
    r.deviation = grpo_values_deviation_(v, kind, e);
    return r;
}

static grpo_mean_deviation_of_ grpo_reward_spread_(const grpo_batch *b, int64_t g, grpo_std_kind kind)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_values v;
    double largest = 0;
    int64_t i;
    int e;
    for (i = begin; i < end; i++) if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    e = grpo_square_exponent_(largest);
    memset(&v, 0, sizeof v);
    for (i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -e)));
    return grpo_mean_and_deviation_(&v, kind, e);
}

/* ---- weights ---- */

/* (1 - strength) + strength clip(e^x, 1 - clip, 1 + clip) */
static double grpo_gate_(grpo_dd x, double strength, double clip)
{
    grpo_dd e = grpo_dd_of_(grpo_exp(x));
    const grpo_dd low = grpo_two_diff(1, clip), high = grpo_two_sum(1, clip);
    if (grpo_dd_less(e, low)) e = low;
    if (grpo_dd_less(high, e)) e = high;
    return grpo_dd_add(grpo_two_diff(1, strength), grpo_dd_mul(e, strength)).hi;
}

grpo_status grpo_teacher_gate(const grpo_batch *batch, const grpo_real *advantage, double strength, double clip, const uint8_t *selected,
                              grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (st) return st;
    if (!(strength >= 0 && strength <= 1)) return GRPO_BAD_STRENGTH;
    if (!(clip > 0 && clip < 1)) return GRPO_BAD_GATE_CLIP;
    st = grpo_check_tokens_(batch, batch->logp_teacher, GRPO_NULL_LOGP_TEACHER, GRPO_BAD_LOGP_TEACHER);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) {
        const double q = (double)batch->logp_teacher[t], l = (double)batch->logp[t], A = (double)advantage[t];
        const int acts = A != 0 && (!selected || selected[t]);
        grpo_put_(weight, t, acts ? grpo_gate_(A > 0 ? grpo_two_diff(q, l) : grpo_two_diff(l, q), strength, clip) : 1, &overflow);
    }
    return GRPO_OK;
}

static grpo_dd grpo_discrepancy_(const grpo_batch *b, int64_t t)
{
    const grpo_dd d = grpo_two_diff((double)b->logp_teacher[t], (double)b->logp_old[t]);
    return d.hi < 0 ? grpo_dd_negative(d) : d;
}

static void grpo_discrepancy_sequence_(const grpo_batch *b, int64_t i, double gamma, grpo_discrepancy_form form, grpo_real *weight)
{
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    grpo_dd sum = grpo_dd_of_(0), before = sum, whole, rest;
    int64_t t;
    int overflow = 0;
    for (t = begin; t < end; t++) if (grpo_token_counts_(b, t)) { before = sum; sum = grpo_dd_add(sum, grpo_discrepancy_(b, t)); }
    whole = form == GRPO_DISCREPANCY_PAPER ? before : sum;
    for (sum = grpo_dd_of_(0), t = begin; t < end; t++) {
        if (!grpo_token_counts_(b, t)) { weight[t] = 0; continue; }
        rest = grpo_dd_of_(form == GRPO_DISCREPANCY_TRL);
        if (whole.hi > 0) rest = grpo_dd_quotient(grpo_dd_minus_(whole, sum), whole);
        grpo_put_(weight, t, grpo_dd_add(grpo_dd_of_(1), grpo_dd_mul(rest, gamma)).hi, &overflow);
        sum = grpo_dd_add(sum, grpo_discrepancy_(b, t));
    }
}

grpo_status grpo_prefix_discrepancy(const grpo_batch *batch, double gamma, grpo_discrepancy_form form, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t i;
    if (!st) st = grpo_check_shaping_(gamma, 0, 0);
    if (st) return st;
    if (form != GRPO_DISCREPANCY_PAPER && form != GRPO_DISCREPANCY_TRL) return GRPO_BAD_FORM;
    st = grpo_check_tokens_(batch, batch->logp_teacher, GRPO_NULL_LOGP_TEACHER, GRPO_BAD_LOGP_TEACHER);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) grpo_discrepancy_sequence_(batch, i, gamma, form, weight);
    return GRPO_OK;
}

/* the next in descending order after number k (-1: the first) */
static int64_t grpo_next_smaller_(const double *x, int64_t n, int64_t k)
{
    int64_t i, next = -1;
    for (i = 0; i < n; i++) {
        if (k >= 0 && (x[i] > x[k] || (x[i] == x[k] && i <= k))) continue;
        if (next < 0 || x[i] > x[next]) next = i;
    }
    return next;
}

/* weight of x = top where those above it have 1 and the sum of all is target: (target - above)/sum_{x <= top} e^((x - top)/temperature) */
static grpo_dd grpo_window_share_(const double *x, int64_t n, int64_t k, int64_t above, double target, double temperature)
{
    grpo_sum sum;
    int64_t i;
    memset(&sum, 0, sizeof sum);
    for (i = 0; i < n; i++)
        if (x[i] < x[k] || (x[i] == x[k] && i >= k)) grpo_sum_add_(&sum, grpo_exp(grpo_dd_div(grpo_two_diff(x[i], x[k]), temperature)));
    return grpo_dd_quotient(grpo_two_diff(target, (double)above), grpo_sum_dd_(&sum));
}

grpo_status grpo_window_weight(const double *x, int64_t n, double target, double temperature, double *weight, double *normalised)
{
    grpo_status st = grpo_check_temperature_(temperature);
    grpo_dd share = grpo_dd_of_(1);
    int64_t i, k = -1, above = 0;
    if (!weight || !normalised) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !x) return GRPO_NULL_LIST;
    if (st) return st;
    if (!(target > 0 && target <= 1e150) || !grpo_list_between_(x, 0, n, -1e150, 0)) return GRPO_BAD_WINDOW_WEIGHT;
    for (i = 0; i < n; i++) weight[i] = normalised[i] = 1;
    if (target >= (double)n) return GRPO_OK;
    for (k = grpo_next_smaller_(x, n, -1); ; k = grpo_next_smaller_(x, n, k), above++) {
        share = grpo_window_share_(x, n, k, above, target, temperature);
        if (share.hi <= 1) break;
    }
    for (i = 0; i < n; i++) {
        if (x[i] < x[k] || (x[i] == x[k] && i >= k))
            weight[i] = grpo_times(share.hi, grpo_exp(grpo_dd_div(grpo_two_diff(x[i], x[k]), temperature)));
        normalised[i] = weight[i] / target * (double)n;
    }
    return GRPO_OK;
}

grpo_status grpo_probability_gain(const grpo_batch *batch, double strength, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (st) return st;
    if (!(strength >= 0 && strength <= 1)) return GRPO_BAD_STRENGTH;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_OLD_, 0);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(weight, t, grpo_times(strength, exp((double)batch->logp_old[t])) + (1 - strength), &overflow);
    return GRPO_OK;
}

/* the slot of unmasked token `place` of response i, from its first or its last; -1: there is none */
static int64_t grpo_place_(const grpo_batch *b, int64_t i, int64_t place, int backward)
{
    int64_t k, t;
    for (k = 0; k < b->length[i]; k++) {
        t = b->offset[i] + (backward ? b->length[i] - 1 - k : k);
        if (grpo_token_counts_(b, t) && place-- == 0) return t;
    }
    return -1;
}

/* does the id in slot t stand at `place` in responses of both signs of group g? */
static int grpo_in_conflict_(const grpo_batch *b, int64_t g, const int64_t *token, const int64_t *sign, int64_t t, int64_t place,
                             int backward)
{
    int64_t j, other;
    int up = 0, down = 0;
    for (j = b->group_begin[g]; j < b->group_begin[g + 1] && !(up && down); j++) {
        if (sign[j] == 0) continue;
        other = grpo_place_(b, j, place, backward);
        if (other < 0 || token[other] != token[t]) continue;
        up |= sign[j] > 0; down |= sign[j] < 0;
    }
    return up && down;
}

grpo_status grpo_conflict_weight(const grpo_batch *batch, const int64_t *token, const int64_t *sign, double inside, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t g, i, t, place;
    int backward, overflow = 0;
    if (!st) st = grpo_check_shaping_(inside, 0, 0);
    if (st) return st;
    if (batch->n_groups && (!token || !sign)) return GRPO_NULL_LIST;
    for (g = 0; g < batch->n_groups; g++)
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++)
                weight[t] = (grpo_real)(grpo_token_counts_(batch, t) ? 1 : 0);
            for (backward = 0; backward < 2 && sign[i] != 0; backward++)
                for (place = 0; (t = grpo_place_(batch, i, place, backward)) >= 0; place++) {
                    if (!grpo_in_conflict_(batch, g, token, sign, t, place, backward)) break;
                    grpo_put_(weight, t, weight[t] == 1 ? (sign[i] > 0 ? inside : 0) : sign[i] > 0 ? inside * inside : 0, &overflow);
                }
        }
    return GRPO_OK;
}

static int grpo_prompt_counts_(const grpo_batch *b, int64_t g, double threshold, double limit, grpo_prompt_form form)
{
    int64_t i, longest = -1, wrong = 0;
    double sum = 0;                                                     /* of whole numbers */
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if ((double)b->reward[i] > threshold) { if (b->length[i] > longest) longest = b->length[i]; }
        else if ((double)b->length[i] < limit) { sum += (double)b->length[i]; wrong++; }
    }
    if (longest < 0) return form == GRPO_PROMPT_VLM;
    if (wrong == 0) return form == GRPO_PROMPT_LLM;
    return (double)longest * (double)wrong > sum;
}

grpo_status grpo_prompt_weight(const grpo_batch *batch, double threshold, double limit, double low, grpo_prompt_form form,
                               double *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t g;
    if (!st) st = grpo_check_shaping_(threshold, limit, low);
    if (st) return st;
    if (form != GRPO_PROMPT_LLM && form != GRPO_PROMPT_VLM) return GRPO_BAD_FORM;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) weight[g] = grpo_prompt_counts_(batch, g, threshold, limit, form) ? 1 : low;
    return GRPO_OK;
}

/* the mean over the anchors of a meta group of their mean rewards; *count of them */
static grpo_dd grpo_anchor_mean_(const grpo_batch *b, const int64_t *meta, const uint8_t *anchor, int64_t id, int64_t *count)
{
    grpo_sum sum;
    int64_t g;
    memset(&sum, 0, sizeof sum);
    for (*count = 0, g = 0; g < b->n_groups; g++) {
        if (!anchor[g] || meta[g] != id) continue;
        grpo_sum_add_dd_(&sum, grpo_group_mean_(b, g));
        ++*count;
    }
    return *count ? grpo_dd_div(grpo_sum_dd_(&sum), (double)*count) : grpo_dd_of_(0);
}

grpo_status grpo_invariance_weight(const grpo_batch *batch, const int64_t *meta, const uint8_t *anchor, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t g, i, anchors;
    int overflow = 0;
    if (st) return st;
    if (batch->n_groups && (!meta || !anchor)) return GRPO_NULL_LIST;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_dd ahead = grpo_dd_minus_(grpo_anchor_mean_(batch, meta, anchor, meta[g], &anchors), grpo_group_mean_(batch, g));
        const int acts = !anchor[g] && anchors > 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(weight, i, acts ? grpo_dd_mul(ahead, (double)batch->reward[i]).hi : 0, &overflow);
    }
    return GRPO_OK;
}

/* the tokens with A > 0, side 0, and with A < 0, side 1 */
typedef struct {
    const grpo_batch *batch;
    const grpo_real *advantage, *feature;
    int64_t width;
    grpo_dd *centre;                    /* (2, width) */
    grpo_dd *margin, *share;            /* (n_tokens) */
    double gamma[2];
} grpo_sides_;

/* the next token of either side, -1 when there is none */
static int64_t grpo_next_of_sides_(const grpo_sides_ *s, grpo_index_ *at, int *side)
{
    int64_t t;
    while ((t = grpo_next_token_(s->batch, at)) >= 0) {
        *side = s->advantage[t] < 0;
        if (s->advantage[t] != 0) break;
    }
    return t;
}

/* mu = sum c v/max(sum c, 1e-8), c = |A| share */
static void grpo_find_centres_(const grpo_sides_ *s)
{
    const grpo_dd least = { 1e-8, -2.092256083012847e-25 };
    grpo_dd total[2] = { { 0, 0 }, { 0, 0 } };
    grpo_index_ at;
    int64_t t, d;
    int side;
    for (d = 0; d < 2 * s->width; d++) s->centre[d] = grpo_dd_of_(0);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) {
        const double c = fabs((double)s->advantage[t]) * s->share[t].hi;
        const grpo_real *v = s->feature + t * s->width;
        grpo_dd *mu = s->centre + side * s->width;
        total[side] = grpo_dd_add(total[side], grpo_dd_of_(c));
        for (d = 0; d < s->width; d++) mu[d] = grpo_dd_add(mu[d], grpo_two_prod(c, (double)v[d]));
    }
    for (side = 0; side < 2; side++) {
        if (grpo_dd_less(total[side], least)) total[side] = least;
        for (d = 0; d < s->width; d++) s->centre[side * s->width + d] = grpo_dd_quotient(s->centre[side * s->width + d], total[side]);
    }
}

/* M = sum over d of (mu - mu')(2 v - mu - mu'), mu' of the other side */
static void grpo_find_margins_(const grpo_sides_ *s)
{
    grpo_index_ at;
    int64_t t, d;
    int side;
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) {
        const grpo_real *v = s->feature + t * s->width;
        const grpo_dd *own = s->centre + side * s->width, *other = s->centre + !side * s->width;
        grpo_dd sum = grpo_dd_of_(0);
        for (d = 0; d < s->width; d++) {
            const grpo_dd twice = grpo_dd_minus_(grpo_dd_minus_(grpo_dd_of_(2 * (double)v[d]), own[d]), other[d]);
            sum = grpo_dd_add(sum, grpo_dd_product(grpo_dd_minus_(own[d], other[d]), twice));
        }
        s->margin[t] = sum;
    }
}

/* the deviation of M on either side, at least 1e-4 */
static void grpo_find_gammas_(grpo_sides_ *s)
{
    grpo_values v[2];
    grpo_index_ at;
    int64_t t;
    int side;
    memset(v, 0, sizeof v);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) grpo_values_take_(&v[side], s->margin[t]);
    for (side = 0; side < 2; side++) {
        const double variance = grpo_variance_(&v[side], GRPO_STD_POPULATION);
        s->gamma[side] = sqrt(variance > 1e-8 ? variance : 1e-8);
    }
}

static void grpo_find_shares_(const grpo_sides_ *s)
{
    grpo_index_ at;
    int64_t t;
    int side;
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; )
        s->share[t] = grpo_dd_of_(grpo_sigmoid(grpo_dd_div(s->margin[t], s->gamma[side])).value);
}

static grpo_status grpo_check_centroids_(const grpo_batch *b, const grpo_real *advantage, const grpo_real *feature,
                                         const grpo_centroids *how)
{
    grpo_status st = grpo_check_inputs_(b, advantage, GRPO_NEED_ADVANTAGE_);
    grpo_index_ at;
    int64_t t, d;
    if (st || b->n_groups == 0) return st;
    if (!feature) return GRPO_NULL_LIST;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; )
        for (d = 0; d < how->width; d++) if (!(fabs((double)feature[t * how->width + d]) <= 1e70)) return GRPO_BAD_TOKEN_LIST;
    return GRPO_OK;
}

/* lambda = low + (high - low) share */
static grpo_dd grpo_centroid_lambda_(const grpo_sides_ *s, const grpo_centroids *how, int64_t t)
{
    const grpo_dd low = grpo_dd_of_(how->low);
    return s->advantage[t] == 0 ? low : grpo_dd_add(low, grpo_dd_mul(grpo_two_diff(how->high, how->low), s->share[t].hi));
}

grpo_status grpo_centroid_weight(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *feature, const grpo_centroids *how,
                                 grpo_dd *scratch, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_sides_ s;
    grpo_sum sum;
    grpo_index_ at;
    grpo_dd total, n;
    int64_t t, k;
    int overflow = 0;
    if (st) return st;
    if (!how) return GRPO_NULL_BOUNDS;
    if (how->width < 1 || how->refine < 0) return GRPO_BAD_WIDTH;
    st = grpo_check_shaping_(how->low, how->high, 0);
    if (!st && batch->n_groups && !scratch) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_centroids_(batch, advantage, feature, how);
    if (st || batch->n_groups == 0) return st;
    s.batch = batch; s.advantage = advantage; s.feature = feature; s.width = how->width;
    s.centre = scratch; s.margin = scratch + 2 * how->width; s.share = s.margin + batch->n_tokens;
    for (t = 0; t < batch->n_tokens; t++) s.share[t] = grpo_dd_of_(1);
    for (k = 0; k <= how->refine; k++) {
        grpo_find_centres_(&s);
        grpo_find_margins_(&s);
        if (k == 0) grpo_find_gammas_(&s);
        grpo_find_shares_(&s);
        if (k > 0) grpo_find_gammas_(&s);
    }
    memset(&sum, 0, sizeof sum);
    n = grpo_dd_of_(0);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n.hi++)
        grpo_sum_add_dd_(&sum, grpo_centroid_lambda_(&s, how, t));
    total = grpo_sum_dd_(&sum);
    if (total.hi < 0) { total = grpo_dd_negative(total); n.hi = -n.hi; }
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); total.hi > 0 && (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(weight, t, grpo_dd_quotient(grpo_dd_mul(grpo_centroid_lambda_(&s, how, t), n.hi), total).hi, &overflow);
    return GRPO_OK;
}

/* the bounds at h, and A (1 + gain h) where the ratio's place asks for it */
static void grpo_adapt_token_(const grpo_batch *b, int64_t t, double h, double A, const grpo_adaptation *x, grpo_real *clip_low,
                              grpo_real *clip_high, grpo_real *shaped)
{
    const grpo_dd one = grpo_dd_of_(1), change = grpo_two_prod(x->clip_coef, h);
    const grpo_dd low = h <= 0 ? grpo_dd_mul(grpo_dd_minus_(one, change), x->low) : grpo_dd_of_(x->low);
    const grpo_dd high = h > 0 ? grpo_dd_mul(grpo_dd_add(one, change), x->high) : grpo_dd_of_(x->high);
    const double off = grpo_exp_minus_one(grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]));
    const int inside = off > -low.hi / 2 && off < high.hi / 2;
    int overflow = 0;
    grpo_put_(clip_low, t, low.hi, &overflow);
    grpo_put_(clip_high, t, high.hi, &overflow);
    grpo_put_(shaped, t, inside == (h <= 0) ? grpo_dd_mul(grpo_dd_add(one, grpo_two_prod(x->gain, h)), A).hi : A, &overflow);
}

grpo_status grpo_adapted_clip(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *standard, const grpo_adaptation *how,
                              grpo_real *clip_low, grpo_real *clip_high, grpo_real *shaped)
{
    grpo_status st = grpo_check_call_(batch, shaped);
    grpo_index_ at;
    int64_t t;
    if (st) return st;
    if (!clip_low || !clip_high) return GRPO_NULL_OUTPUT;
    if (!how) return GRPO_NULL_BOUNDS;
    st = grpo_check_shaping_(how->low, how->high, how->clip_coef);
    if (!st) st = grpo_check_shaping_(how->gain, 0, 0);
    if (!st) st = grpo_check_tokens_(batch, standard, GRPO_NULL_LIST, GRPO_BAD_TOKEN_LIST);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_adapt_token_(batch, t, (double)standard[t], (double)advantage[t], how, clip_low, clip_high, shaped);
    grpo_clear_masked_(batch, clip_low);
    grpo_clear_masked_(batch, clip_high);
    grpo_clear_masked_(batch, shaped);
    return GRPO_OK;
}

/* is no unmasked token before t, from `begin` on, of its agent? */
static int grpo_is_first_of_agent_(const grpo_batch *b, const int64_t *agent, int64_t begin, int64_t t)
{
    int64_t u;
    for (u = t - 1; u >= begin; u--) if (grpo_token_counts_(b, u) && agent[u] == agent[t]) return 0;
    return 1;
}

static void grpo_agents_of_response_(const grpo_batch *b, const int64_t *agent, int64_t i, grpo_real *weight)
{
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    int64_t t, u, agents = 0, tokens;
    int overflow = 0;
    for (t = begin; t < end; t++) agents += grpo_token_counts_(b, t) && grpo_is_first_of_agent_(b, agent, begin, t);
    for (t = begin; t < end; t++) {
        if (!grpo_token_counts_(b, t)) { weight[t] = 0; continue; }
        if (!grpo_is_first_of_agent_(b, agent, begin, t)) continue;
        for (tokens = 0, u = t; u < end; u++) tokens += grpo_token_counts_(b, u) && agent[u] == agent[t];
        for (u = t; u < end; u++)
            if (grpo_token_counts_(b, u) && agent[u] == agent[t]) grpo_put_(weight, u, 1 / ((double)agents * (double)tokens), &overflow);
    }
}

grpo_status grpo_agent_weights(const grpo_batch *batch, const int64_t *agent, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    int64_t i;
    if (!st && batch->n_groups && !agent) st = GRPO_NULL_LIST;
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) grpo_agents_of_response_(batch, agent, i, weight);
    return GRPO_OK;
}

grpo_status grpo_centred_weights(const grpo_batch *batch, double k, grpo_real *surrogate, grpo_real *penalty)
{
    grpo_status st = grpo_check_call_(batch, surrogate);
    const grpo_dd one = grpo_dd_of_(1);
    int64_t g, i;
    int overflow = 0;
    if (!st && !penalty) st = GRPO_NULL_OUTPUT;
    if (!st) st = grpo_check_shaping_(k, 0, 0);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_dd mean = grpo_group_mean_(batch, g);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd off = grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_((double)batch->reward[i]), mean), k);
            grpo_put_(surrogate, i, grpo_dd_add(one, off).hi, &overflow);
            grpo_put_(penalty, i, grpo_dd_minus_(one, off).hi, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_consistency_weights(const double *entropy, int64_t n, double gamma, double centre, double *local, double *global)
{
    grpo_status st = grpo_check_shaping_(gamma, centre, 0);
    int64_t k;
    if (!local || !global) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !entropy) return GRPO_NULL_LIST;
    if (st) return st;
    if (!grpo_are_moderate_(entropy, 0, n)) return GRPO_BAD_LIST;
    for (k = 0; k < n; k++) {
        const grpo_dd x = grpo_dd_mul(grpo_two_diff(entropy[k], centre), gamma);
        local[k] = grpo_sigmoid(x).value;
        global[k] = grpo_sigmoid(grpo_dd_negative(x)).value;
    }
    return GRPO_OK;
}

static double grpo_confidence_group_(const grpo_batch *b, int64_t g, const uint8_t *correct)
{
    grpo_sum sum;
    double n = 0, right = 0;
    int64_t i;
    memset(&sum, 0, sizeof sum);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (!grpo_unmasked_(b, i)) continue;
        grpo_sum_add_dd_(&sum, grpo_response_mean_(b, b->logp_old, NULL, i));
        n++;
        right += correct[i] != 0;
    }
    if (n == 0) return 0;
    return grpo_exp(grpo_dd_div(grpo_sum_dd_(&sum), n)) * (4 * right * (n - right) / (n * n));
}

grpo_status grpo_confidence_factor(const grpo_batch *batch, const uint8_t *correct, double delta, double *factor)
{
    grpo_status st = grpo_check_call_(batch, factor);
    int64_t g;
    if (!st) st = grpo_check_weighting_(delta);
    if (!st) st = grpo_check_correct_(batch, correct);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) factor[g] = grpo_confidence_group_(batch, g, correct) + delta;
    return GRPO_OK;
}

/* weight at the ceil(share n) of the n tokens whose A has that sign that have the smallest logp */
static void grpo_weigh_surprising_(const grpo_batch *b, const grpo_real *advantage, int sign, double share, double by, grpo_real *weight)
{
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    int64_t t, n = 0, ties;
    int overflow = 0;
    memset(&o, 0, sizeof o);
    o.batch = b; o.by = b->logp; o.signed_by = advantage; o.sign = sign;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; ) n += grpo_key_of_(&o, t, &key);
    o.most = (int64_t)ceil(share * (double)n);
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; )
        if (grpo_key_of_(&o, t, &key) && grpo_in_prefix_(&p, &key, &ties)) grpo_put_(weight, t, by, &overflow);
}

grpo_status grpo_surprisal_weight(const grpo_batch *batch, const grpo_real *advantage, double share, double up, double down,
                                  double target, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_index_ at;
    grpo_sum sum;
    int64_t t, n = 0;
    if (!st && !(share >= 0 && share <= 1)) st = GRPO_BAD_SHARE_ARGUMENT;
    if (!st) st = grpo_check_parameter_(up);
    if (!st) st = grpo_check_parameter_(down);
    if (!st) st = grpo_check_parameter_(target);
    if (!st) st = grpo_check_tokens_(batch, batch->entropy, GRPO_NULL_ENTROPY, GRPO_BAD_ENTROPY);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    memset(&sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n++) {
        weight[t] = 1;
        grpo_sum_add_(&sum, (double)batch->entropy[t]);
    }
    if (n == 0 || !(grpo_mean_exceeds_(&sum, n, target) < 0)) return GRPO_OK;
    grpo_weigh_surprising_(batch, advantage, 1, share, up, weight);
    grpo_weigh_surprising_(batch, advantage, -1, share, down, weight);
    return GRPO_OK;
}

/* number k, from 0, in ascending order of the x >= 0 at the unmasked tokens of response i, found by its bits from the first on */
static double grpo_order_statistic_(const grpo_batch *b, int64_t i, const double *x, int64_t k)
{
    uint64_t found = 0, trial, bits;
    int64_t t, below;
    double value;
    int bit;
    for (bit = 62; bit >= 0; bit--) {
        trial = found | UINT64_C(1) << bit;
        for (below = 0, t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_token_counts_(b, t)) continue;
            memcpy(&bits, &x[t], sizeof bits);
            below += bits < trial;
        }
        if (below <= k) found = trial;
    }
    memcpy(&value, &found, sizeof value);
    return value;
}

/* between order statistics, at position q (n - 1) */
static double grpo_linear_quantile_(const grpo_batch *b, int64_t i, const double *x, int64_t n, double q)
{
    const grpo_dd h = grpo_two_prod(q, (double)(n - 1));
    double whole = floor(h.hi), low;
    if (whole == h.hi && h.lo < 0) whole--;
    low = grpo_order_statistic_(b, i, x, (int64_t)whole);
    if ((int64_t)whole >= n - 1) return low;
    return low + grpo_dd_add(h, grpo_dd_of_(-whole)).hi * (grpo_order_statistic_(b, i, x, (int64_t)whole + 1) - low);
}

static void grpo_gate_response_(const grpo_batch *b, int64_t i, const grpo_real *advantage, const grpo_prefix_gate *x, double *D,
                                uint8_t *selected)
{
    const double span = x->width > 1 ? (double)(x->width - 1) : 1;
    const int64_t begin = b->offset[i], n = grpo_unmasked_(b, i);
    grpo_dd S = grpo_dd_of_(0), W = S, w, Z, rest;
    double d;
    int64_t t;
    for (t = begin; t < begin + b->length[i]; t++)
        if (grpo_token_counts_(b, t)) D[t] = fabs(grpo_probability_change((double)b->logp[t], (double)b->logp_old[t]));
    d = n ? x->factor * grpo_linear_quantile_(b, i, D, n, x->quantile) : 0;
    d = d < x->budget ? x->budget : d > 5 * x->budget ? 5 * x->budget : d;
    for (t = begin; t < begin + b->length[i]; t++) {
        const double A = (double)advantage[t], l = (double)b->logp[t], o = (double)b->logp_old[t];
        selected[t] = 0;
        if (!grpo_token_counts_(b, t)) continue;
        w = grpo_dd_div(grpo_dd_mul(grpo_two_diff(1, x->least), (double)(x->width - (t - begin) - 1)), span);
        w = grpo_dd_add(w, grpo_dd_of_(x->least));
        Z = grpo_dd_mul(w, D[t]);
        rest = grpo_dd_add(grpo_dd_of_(x->delta), grpo_dd_minus_(grpo_dd_mul(W, d), S));
        selected[t] = !((A > 0 && l > o) || (A < 0 && l < o)) || (!grpo_dd_exceeds(Z, x->delta) && !grpo_dd_less(rest, Z));
        S = grpo_dd_add(S, Z);
        W = grpo_dd_add(W, w);
    }
}

static grpo_status grpo_check_prefix_gate_(const grpo_batch *b, const grpo_prefix_gate *x)
{
    grpo_status st = grpo_check_weighting_(x->delta);
    int64_t i;
    if (!st) st = grpo_check_weighting_(x->budget);
    if (!st) st = grpo_check_weighting_(x->factor);
    if (!st && x->delta == 0) st = GRPO_NEGATIVE_PARAMETER;
    if (!st && !(x->least >= 0 && x->least <= 1 && x->quantile >= 0 && x->quantile <= 1)) st = GRPO_BAD_SHARE_ARGUMENT;
    if (st) return st;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++) if (x->width < b->length[i]) return GRPO_SMALL_WIDTH;
    return GRPO_OK;
}

grpo_status grpo_prefix_budget(const grpo_batch *batch, const grpo_real *advantage, const grpo_prefix_gate *gate, double *scratch,
                               uint8_t *selected)
{
    grpo_status st = grpo_check_call_(batch, selected);
    int64_t i;
    if (st) return st;
    if (!gate || (batch->n_groups && !scratch)) return GRPO_NULL_ARGUMENT;
    st = grpo_check_prefix_gate_(batch, gate);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        grpo_gate_response_(batch, i, advantage, gate, scratch, selected);
    return GRPO_OK;
}

static int grpo_rewards_differ_(const grpo_batch *b, int64_t g)
{
    int64_t i;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if ((double)b->reward[i] != (double)b->reward[b->group_begin[g]]) return 1;
    return 0;
}

static grpo_dd grpo_difficulty_of_(const grpo_batch *b, int64_t g, const double *accuracy)
{
    const grpo_dd D = grpo_list_mean_(b, g, accuracy, NULL);
    return D.hi == 0 ? grpo_dd_of_(1) : D;
}

grpo_status grpo_difficulty_weight(const grpo_batch *batch, const double *accuracy, double temperature, double *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_dd least = grpo_dd_of_(HUGE_VAL), total;
    grpo_sum sum;
    double groups = 0, all = 0, own = 0;
    int64_t g;
    if (!st) st = grpo_check_temperature_(temperature);
    if (!st) st = grpo_check_entries_(batch, accuracy, -1e150, 1e150);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    memset(&sum, 0, sizeof sum);
    for (g = 0; g < batch->n_groups; g++) {
        const double tokens = (double)grpo_count_mask_of_group_(batch, g).tokens;
        all += tokens;
        if (!grpo_rewards_differ_(batch, g)) continue;
        groups++;
        own += tokens;
        if (grpo_dd_less(grpo_difficulty_of_(batch, g, accuracy), least)) least = grpo_difficulty_of_(batch, g, accuracy);
    }
    for (g = 0; g < batch->n_groups; g++) {
        weight[g] = 1;
        if (!grpo_rewards_differ_(batch, g)) continue;
        weight[g] = grpo_exp(grpo_dd_div(grpo_dd_minus_(least, grpo_difficulty_of_(batch, g, accuracy)), temperature));
        grpo_sum_add_(&sum, weight[g]);
    }
    total = grpo_dd_mul(grpo_sum_dd_(&sum), own > 0 ? own : 1);
    for (g = 0; g < batch->n_groups; g++)
        if (grpo_rewards_differ_(batch, g))
            weight[g] = grpo_dd_quotient(grpo_dd_mul(grpo_two_prod(groups, own > 0 ? all : 1), weight[g]), total).hi;
    return GRPO_OK;
}

/* (logp - mean)(A - mean) of the tokens of the batch */
typedef struct {
    const grpo_batch *batch;
    const grpo_real *advantage;
    grpo_dd mean_l, mean_A;
    int exponent;                       /* of their unit, so that squares are numbers */
    double variance;
} grpo_products_;

static grpo_dd grpo_product_at_(const grpo_products_ *p, int64_t t)
{
    const grpo_dd l = grpo_dd_minus_(grpo_dd_of_((double)p->batch->logp[t]), p->mean_l);
    const grpo_dd A = grpo_dd_minus_(grpo_dd_of_((double)p->advantage[t]), p->mean_A);
    return grpo_dd_steady_(grpo_dd_scaled_(grpo_dd_product(l, A), -p->exponent));
}

static void grpo_survey_products_(grpo_products_ *p)
{
    grpo_sum sum[2];
    grpo_values v;
    grpo_index_ at;
    double n = 0, largest = 0;
    int64_t t;
    memset(sum, 0, sizeof sum);
    memset(&v, 0, sizeof v);
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; n++) {
        grpo_sum_add_(&sum[0], (double)p->batch->logp[t]);
        grpo_sum_add_(&sum[1], (double)p->advantage[t]);
    }
    p->mean_l = grpo_dd_div(grpo_sum_dd_(&sum[0]), n > 0 ? n : 1);
    p->mean_A = grpo_dd_div(grpo_sum_dd_(&sum[1]), n > 0 ? n : 1);
    p->exponent = 0;
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; ) {
        const double x = fabs(grpo_product_at_(p, t).hi);
        if (x > largest) largest = x;
    }
    p->exponent = grpo_square_exponent_(largest);
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; ) grpo_values_take_(&v, grpo_product_at_(p, t));
    p->variance = grpo_variance_(&v, GRPO_STD_POPULATION);
}

/* c^2/(2 s^2) */
static grpo_dd grpo_product_exponent_(const grpo_products_ *p, int64_t t)
{
    const grpo_dd c = grpo_product_at_(p, t);
    return grpo_dd_div(grpo_dd_product(c, c), 2 * p->variance);
}

static void grpo_gaussian_group_(const grpo_products_ *p, int64_t g, grpo_real *weight)
{
    const grpo_batch *b = p->batch;
    grpo_batch one = *b;
    grpo_dd least = grpo_dd_of_(HUGE_VAL), x, total;
    grpo_index_ at;
    grpo_sum sum;
    double n = 0;
    int64_t t;
    int overflow = 0;
    one.n_groups = 1; one.group_begin = b->group_begin + g;
    memset(&sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; n++) {
        x = grpo_product_exponent_(p, t);
        if (grpo_dd_less(x, least)) least = x;
    }
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; )
        grpo_sum_add_(&sum, grpo_exp(grpo_dd_minus_(least, grpo_product_exponent_(p, t))));
    total = grpo_sum_dd_(&sum);
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; ) {
        x = grpo_two_prod(n, grpo_exp(grpo_dd_minus_(least, grpo_product_exponent_(p, t))));
        grpo_put_(weight, t, grpo_dd_quotient(x, total).hi, &overflow);
    }
}

grpo_status grpo_gaussian_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_products_ p;
    grpo_index_ at;
    int64_t g, t;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    p.batch = batch; p.advantage = advantage;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) weight[t] = 1;
    grpo_survey_products_(&p);
    for (g = 0; p.variance > 0 && g < batch->n_groups; g++) grpo_gaussian_group_(&p, g, weight);
    return GRPO_OK;
}

/* the next unmasked token of a routed response, or -1 */
static int64_t grpo_next_routed_(const grpo_batch *b, const uint8_t *routed, grpo_index_ *at)
{
    int64_t t;
    do t = grpo_next_token_(b, at); while (t >= 0 && !routed[at->i]);
    return t;
}

grpo_status grpo_route_weight(const grpo_batch *batch, const uint8_t *routed, double beta, grpo_real *weight)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_index_ at;
    grpo_sum sum;
    grpo_dd top = { -HUGE_VAL, 0 };
    int64_t t, n = 0;
    int overflow = 0;
    if (!st) st = grpo_check_weighting_(beta);
    if (!st && batch->n_groups && !routed) st = GRPO_NULL_ARGUMENT;
    if (!st && batch->n_groups && !batch->entropy) st = GRPO_NULL_ENTROPY;
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; n++) {
        const grpo_dd x = grpo_two_prod(-beta, (double)batch->entropy[t]);
        if (!grpo_in_domain_((double)batch->entropy[t], GRPO_MODERATE_)) return GRPO_BAD_ENTROPY;
        if (grpo_dd_less(top, x)) top = x;
    }
    grpo_clear_reals_(batch, weight);
    memset(&sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; )
        grpo_sum_add_dd_(&sum, grpo_exp_twice(grpo_dd_minus_(grpo_two_prod(-beta, (double)batch->entropy[t]), top)));
    if (n > 0) top = grpo_dd_add(top, grpo_dd_log(grpo_dd_div(grpo_sum_dd_(&sum), (double)n)));        /* log mean u */
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; )
        grpo_put_(weight, t, grpo_exp(grpo_dd_minus_(grpo_two_prod(-beta, (double)batch->entropy[t]), top)), &overflow);
    return GRPO_OK;
}

grpo_status grpo_entropy_factor(const double *entropy, int64_t n, double alpha, int64_t size, double *factor)
{
    grpo_status st = grpo_check_list_call_(factor, n);
    grpo_dd most, x;
    int64_t k;
    if (!st) st = grpo_check_entry_list_(entropy, n, 0, 1e150);
    if (!st) st = grpo_check_weighting_(alpha);
    if (!st && size < 2) st = GRPO_BAD_SIZE;
    if (st) return st;
    most = grpo_log_twice((double)size);
    for (k = 0; k < n; k++) {
        x = grpo_dd_quotient(grpo_two_prod(alpha, entropy[k]), most);
        factor[k] = grpo_dd_quotient(grpo_dd_of_(1), grpo_dd_add(grpo_dd_of_(1), x)).hi;
    }
    return GRPO_OK;
}

/* ---- rewards from a group ---- */

grpo_status grpo_unlikeliness(const grpo_batch *batch, double beta, grpo_dd *scratch, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i, j, begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(beta, 0, 0);
    if (!st && batch->n_groups && !scratch) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (g = 0; g < batch->n_groups; g++) {
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (i = begin; i < end; i++) {
            const double n = (double)(end - begin);
            int64_t rank = 0;
            grpo_dd factor;
            for (j = begin; j < end; j++)
                rank += grpo_dd_less(scratch[j], scratch[i]) || (j < i && grpo_dd_same_(scratch[j], scratch[i]));
            factor = grpo_dd_div(grpo_dd_minus_(grpo_dd_of_(n), grpo_two_prod(beta, (double)rank)), n);
            grpo_put_(reward, i, grpo_dd_mul(factor, (double)batch->reward[i]).hi, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_early_exit(const grpo_batch *batch, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i;
    int right, overflow = 0;
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++)
        for (right = 0, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            grpo_put_(reward, i, batch->reward[i] > 0 ? ldexp(1, -right) : 0, &overflow);
            if (right < 2000) right += batch->reward[i] > 0;
        }
    return GRPO_OK;
}

/* the factor of thought in a group, before decay */
static double grpo_trust_factor_(const grpo_batch *b, int64_t g, const double *outcome, const double *thought, const grpo_trust_bounds *x)
{
    grpo_sum sum[2];
    int64_t i, n[2] = { 0, 0 }, every = 0, none = 0;
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_dd mean[2] = { { 0, 0 }, { 0, 0 } };
    int k;
    memset(sum, 0, sizeof sum);
    for (i = begin; i < end; i++) {
        k = outcome[i] >= x->right;
        grpo_sum_add_(&sum[k], outcome[i] < x->low ? 0 : thought[i]);
        n[k]++;
        every += outcome[i] >= x->every; none += outcome[i] <= x->none;
    }
    for (k = 0; k < 2; k++) if (n[k]) mean[k] = grpo_dd_steady_(grpo_dd_div(grpo_sum_dd_(&sum[k]), (double)n[k]));
    if (every == end - begin || none == end - begin) return 0;
    return n[1] == 0 || !grpo_dd_less(mean[1], mean[0]) ? 1 : grpo_exp(grpo_dd_minus_(mean[1], mean[0]));
}

grpo_status grpo_trust_reward(const grpo_batch *batch, const double *outcome, const double *thought, double decay,
                              const grpo_trust_bounds *bounds, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(decay, 0, 0);
    if (st) return st;
    if (!bounds) return GRPO_NULL_BOUNDS;
    if (!(grpo_is_finite(bounds->low) && grpo_is_finite(bounds->right) && grpo_is_finite(bounds->every) && grpo_is_finite(bounds->none)))
        return GRPO_BAD_TRUST_BOUNDS;
    st = grpo_check_list_(batch, outcome);
    if (!st) st = grpo_check_list_(batch, thought);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const double gamma = grpo_trust_factor_(batch, g, outcome, thought, bounds);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd more = grpo_dd_mul(grpo_two_prod(gamma, decay), outcome[i] < bounds->low ? 0 : thought[i]);
            grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_(outcome[i]), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

/* of m calls where the least is n */
static double grpo_tool_factor_(double m, double n, double smooth, grpo_tools_form form)
{
    if (form == GRPO_TOOLS_GRPO && n > 0) return grpo_sine_pi_(grpo_dd_of_(n), grpo_two_sum(m, n));
    return grpo_sine_pi_(grpo_dd_of_(smooth), grpo_two_sum(4 * m, 2 * smooth));     /* pi m/(2m + c) = pi/2 - pi c/(4m + 2c) */
}

grpo_status grpo_tool_efficiency(const grpo_batch *batch, const double *calls, const uint8_t *correct, double smooth, double alpha,
                                 grpo_tools_form form, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(alpha, 0, 0);
    if (st) return st;
    if (form != GRPO_TOOLS_PPO && form != GRPO_TOOLS_GRPO) return GRPO_BAD_FORM;
    if (!(smooth > 0 && smooth <= 1e150)) return GRPO_BAD_SMOOTH;
    if (batch->n_groups && !calls) return GRPO_NULL_LIST;
    if (batch->n_groups && !correct) return GRPO_NULL_CORRECT;
    if (!grpo_list_between_(calls, grpo_first_sequence_(batch), grpo_end_sequence_(batch), 0, 1e150)) return GRPO_BAD_CALLS;
    for (g = 0; g < batch->n_groups; g++) {
        double least = HUGE_VAL;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) if (correct[i] && calls[i] < least) least = calls[i];
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(reward, i, correct[i] ? alpha * grpo_tool_factor_(calls[i], least, smooth, form) : 0, &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_entity_credit(const grpo_batch *batch, const double *found, const uint8_t *correct, const uint8_t *invalid, double alpha,
                               grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(alpha, 0, 0);
    if (st) return st;
    if (batch->n_groups && (!found || !invalid)) return GRPO_NULL_LIST;
    if (batch->n_groups && !correct) return GRPO_NULL_CORRECT;
    if (!grpo_list_between_(found, grpo_first_sequence_(batch), grpo_end_sequence_(batch), 0, 1)) return GRPO_BAD_FOUND;
    for (g = 0; g < batch->n_groups; g++) {
        const double most = grpo_largest_(found, batch->group_begin[g], batch->group_begin[g + 1]);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            double share = most > 0 ? grpo_dd_div(grpo_two_prod(alpha, found[i]), most).hi : 0;
            grpo_put_(reward, i, invalid[i] ? 0 : correct[i] ? 1 : share, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_retention_reward(const grpo_batch *batch, double lambda, double alpha, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(lambda, alpha, 0);
    if (!st && alpha < 0) st = GRPO_BAD_ALPHA;
    if (!st) st = grpo_check_tokens_(batch, batch->logp_ref, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_REF);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        grpo_dd d = grpo_response_mean_(batch, batch->logp_old, batch->logp_ref, i);
        if (d.hi < 0) d = grpo_dd_of_(0);
        d = grpo_two_prod(lambda, grpo_exp(grpo_dd_mul(d, -alpha)));
        grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_((double)batch->reward[i]), d).hi, &overflow);
    }
    return GRPO_OK;
}

static int64_t grpo_correct_in_(const grpo_batch *b, int64_t g, const uint8_t *correct)
{
    int64_t i, n = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) n += correct[i] != 0;
    return n;
}

/* is g among the first `count` groups by falling share of correct ones? */
static int grpo_is_efficient_(const grpo_batch *b, int64_t g, const uint8_t *correct, int64_t count)
{
    const double own = (double)grpo_correct_in_(b, g, correct), n = (double)(b->group_begin[g + 1] - b->group_begin[g]);
    int64_t h, rank = 0;
    for (h = 0; h < b->n_groups && rank < count; h++) {
        const double other = (double)grpo_correct_in_(b, h, correct) * n, here = own * (double)(b->group_begin[h + 1] - b->group_begin[h]);
        rank += other > here || (other == here && h < g);
    }
    return rank < count;
}

static void grpo_efficient_group_(const grpo_batch *b, int64_t g, const uint8_t *correct, double alpha, grpo_real *reward)
{
    grpo_values v;
    grpo_dd mean;
    double s;
    int64_t i;
    int overflow = 0;
    memset(&v, 0, sizeof v);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (correct[i]) grpo_values_take_(&v, grpo_dd_of_((double)grpo_unmasked_(b, i)));
    mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1);
    s = sqrt(grpo_variance_(&v, GRPO_STD_POPULATION));
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        grpo_dd z = grpo_dd_minus_(grpo_dd_of_((double)grpo_unmasked_(b, i)), mean);
        z = s > 0 ? grpo_dd_div(z, s) : grpo_dd_of_(0);
        grpo_put_(reward, i, correct[i] ? grpo_dd_minus_(grpo_dd_of_(1), grpo_two_prod(alpha, grpo_sigmoid(z).value)).hi : 0, &overflow);
    }
}

grpo_status grpo_efficiency_reward(const grpo_batch *batch, const uint8_t *correct, double share, double alpha, grpo_real *reward,
                                   uint8_t *efficient)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i, count;
    if (st) return st;
    if (!efficient) return GRPO_NULL_OUTPUT;
    if (!grpo_is_unit_(share)) return GRPO_BAD_UNIT;
    if (!(alpha >= 0 && alpha <= 1e150)) return GRPO_BAD_ALPHA;
    if (batch->n_groups && !correct) return GRPO_NULL_CORRECT;
    count = (int64_t)ceil(share * (double)batch->n_groups);
    if (count < 1) count = 1;
    for (g = 0; g < batch->n_groups; g++) {
        efficient[g] = grpo_is_efficient_(batch, g, correct, count) ? 1 : 0;
        if (efficient[g]) grpo_efficient_group_(batch, g, correct, alpha, reward);
        else for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) reward[i] = correct[i] ? 1 : 0;
    }
    return GRPO_OK;
}

/* min(e^m, cap), m the mean of logp_ref over the tokens of the answer, 0 without any */
static grpo_dd grpo_answer_likelihood_(const grpo_batch *b, int64_t i, double cap)
{
    grpo_sum sum;
    grpo_dd c = grpo_dd_of_(1);
    int64_t t, n = 0;
    memset(&sum, 0, sizeof sum);
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_token_counts_(b, t) || !b->selected[t]) continue;
        grpo_sum_add_(&sum, (double)b->logp_ref[t]);
        n++;
    }
    if (n) c = grpo_dd_steady_(grpo_exp_twice(grpo_dd_steady_(grpo_dd_div(grpo_sum_dd_(&sum), (double)n))));
    return grpo_dd_exceeds(c, cap) ? grpo_dd_of_(cap) : c;
}

/* is response i more than wrong, and no worse than the mean of its group, whose accuracies have this sum? */
static int grpo_is_accurate_(double accuracy, const grpo_sum *sum, int64_t n)
{
    return accuracy > 0.1 && grpo_mean_exceeds_(sum, n, accuracy) <= 0;
}

static void grpo_bonus_group_(const grpo_batch *b, int64_t g, const double *accuracy, double lambda, double cap, double margin,
                              grpo_real *reward)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_sum sum, likelihoods;
    grpo_dd bar;
    int64_t i, n = 0;
    int overflow = 0;
    memset(&sum, 0, sizeof sum);
    memset(&likelihoods, 0, sizeof likelihoods);
    for (i = begin; i < end; i++) grpo_sum_add_(&sum, accuracy[i]);
    for (i = begin; i < end; i++) {
        if (!grpo_is_accurate_(accuracy[i], &sum, end - begin)) continue;
        grpo_sum_add_dd_(&likelihoods, grpo_answer_likelihood_(b, i, cap));
        n++;
    }
    bar = grpo_dd_steady_(grpo_dd_div(grpo_sum_dd_(&likelihoods), n ? (double)n : 1));
    for (i = begin; i < end; i++) {
        const grpo_dd r = grpo_dd_of_((double)b->reward[i]);
        const int passes = grpo_is_accurate_(accuracy[i], &sum, end - begin)
            && !grpo_dd_less(grpo_dd_add(grpo_dd_minus_(grpo_answer_likelihood_(b, i, cap), bar), grpo_dd_of_(margin)), grpo_dd_of_(0));
        grpo_put_(reward, i, passes ? grpo_dd_add(r, grpo_two_prod(lambda, accuracy[i])).hi : r.hi, &overflow);
    }
}

grpo_status grpo_consistency_bonus(const grpo_batch *batch, const double *accuracy, double lambda, double cap, double margin,
                                   grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g;
    if (!st) st = grpo_check_shaping_(lambda, cap, margin);
    if (!st && !(cap > 0)) st = GRPO_BAD_POSITIVE;
    if (!st) st = grpo_check_list_(batch, accuracy);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_ | GRPO_NEED_SELECTED_, 0);
    if (!st) st = grpo_check_marked_(batch, batch->logp_ref, batch->selected, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_REF);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) grpo_bonus_group_(batch, g, accuracy, lambda, cap, margin, reward);
    return GRPO_OK;
}

/* ---- rewards of lists ---- */

grpo_status grpo_gated_sum(const double *rewards, int64_t n, int64_t columns, const double *weight, const int64_t *gate, double *reward)
{
    int64_t i, k;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (columns < 0) return GRPO_BAD_GATE;
    if (n > 0 && columns > 0 && (!rewards || !weight || !gate)) return GRPO_NULL_LIST;
    if (!grpo_are_moderate_(rewards, 0, n * columns) || !grpo_are_moderate_(weight, 0, n > 0 ? columns : 0)) return GRPO_BAD_LIST;
    for (k = 0; n > 0 && k < columns; k++) if (gate[k] < -1 || gate[k] >= columns) return GRPO_BAD_GATE;
    for (i = 0; i < n; i++) {
        const double *r = rewards + i * columns;
        grpo_dd sum = grpo_dd_of_(0);
        for (k = 0; k < columns; k++) sum = grpo_dd_add(sum, grpo_dd_mul(grpo_two_prod(weight[k], r[k]), gate[k] < 0 ? 1 : r[gate[k]]));
        reward[i] = sum.hi;
    }
    return GRPO_OK;
}

grpo_status grpo_brier_reward(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing, double *reward)
{
    grpo_dd off;
    double p;
    int64_t i;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !confidence) return GRPO_NULL_LIST;
    if (n > 0 && !correct) return GRPO_NULL_CORRECT;
    for (i = 0; i < n; i++) if (!(missing && missing[i]) && !grpo_in_domain_(confidence[i], GRPO_MODERATE_)) return GRPO_BAD_LIST;
    for (i = 0; i < n; i++) {
        const int absent = missing && missing[i];
        p = absent ? 0.5 : confidence[i] < 0 ? 0 : confidence[i] > 1 ? 1 : confidence[i];
        off = grpo_two_diff(p, correct[i] ? 1 : 0);
        reward[i] = grpo_dd_minus_(grpo_dd_of_(absent ? 0 : 1), grpo_dd_product(off, off)).hi;
    }
    return GRPO_OK;
}

static double grpo_shape_(grpo_shape_form form, double length, double peak, double max)
{
    const grpo_dd one = grpo_dd_of_(1), x = grpo_dd_div(grpo_dd_of_(length), max);
    const int beyond = grpo_dd_exceeds(grpo_dd_minus_(x, grpo_dd_of_(peak)), 0);
    grpo_dd y = grpo_dd_div(x, peak), rest;
    if (form == GRPO_SHAPE_TRIANGLE && beyond) y = grpo_dd_minus_(grpo_dd_of_(2), y);
    if (form == GRPO_SHAPE_TRIANGLE) return y.hi > 0 ? y.hi : 0;
    if (beyond) {
        rest = grpo_dd_quotient(grpo_dd_minus_(x, grpo_dd_of_(peak)), grpo_two_diff(1, peak));
        if (form == GRPO_SHAPE_PARABOLA) rest = grpo_dd_product(rest, rest);
        return grpo_dd_minus_(one, grpo_dd_mul(rest, 2)).hi;
    }
    return form == GRPO_SHAPE_PARABOLA ? grpo_dd_product(y, grpo_dd_minus_(grpo_dd_of_(2), y)).hi : y.hi;
}

grpo_status grpo_length_shape(const double *length, int64_t n, grpo_shape_form form, double peak, double max, double *reward)
{
    const int triangle = form == GRPO_SHAPE_TRIANGLE;
    int64_t i;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !length) return GRPO_NULL_LIST;
    if (form != GRPO_SHAPE_PARABOLA && form != GRPO_SHAPE_POLYLINE && !triangle) return GRPO_BAD_FORM;
    if (!(max > 0 && max <= 1e150 && peak > 0 && (triangle ? peak <= 1e150 : peak < 1))) return GRPO_BAD_SHAPE;
    if (!grpo_list_between_(length, 0, n, 0, 1e150)) return GRPO_BAD_CALLS;
    for (i = 0; i < n; i++) reward[i] = grpo_shape_(form, length[i], peak, max);
    return GRPO_OK;
}

/* (e^(a y) - 1)/(e^a - 1) for y > 0; for large a as e^(a (y - 1)) (1 - e^(-a y))/(1 - e^-a) */
static double grpo_exp_curve_(double a, grpo_dd y)
{
    const grpo_dd x = grpo_dd_mul(y, a);
    if (a == 0) return y.hi;
    if (a < 1) return grpo_exp_minus_one(x) / expm1(a);
    return grpo_times(grpo_exp(grpo_dd_mul(grpo_dd_minus_(y, grpo_dd_of_(1)), a)), grpo_exp_minus_one(grpo_dd_negative(x)) / expm1(-a));
}

grpo_status grpo_log_exp_map(const double *reward, int64_t n, double threshold, double upper, double lower, double *mapped)
{
    grpo_status st = grpo_check_shaping_(threshold, upper, lower);
    int64_t i;
    if (!mapped) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (st) return st;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    for (i = 0; i < n; i++) {
        const grpo_dd above = grpo_two_diff(reward[i], threshold);
        if (reward[i] >= threshold) mapped[i] = threshold + upper * (log1p(above.hi) + above.lo / (1 + above.hi));
        else if (lower == 0) mapped[i] = reward[i];
        else mapped[i] = threshold - grpo_exp_curve_(lower, grpo_dd_negative(above));
    }
    return GRPO_OK;
}

/* R of a node whose children have theirs */
static grpo_dd grpo_tree_node_(const int64_t *parent, const double *reward, int64_t n, int64_t k, double gamma, grpo_tree_form form,
                               const grpo_dd *R)
{
    grpo_dd most = grpo_dd_of_(reward[k]);
    grpo_sum sum;
    int64_t c, children = 0;
    memset(&sum, 0, sizeof sum);
    for (c = k + 1; c < n; c++) {
        if (parent[c] != k) continue;
        if (grpo_dd_less(most, R[c])) most = R[c];
        grpo_sum_add_dd_(&sum, R[c]);
        children++;
    }
    if (children == 0 || form == GRPO_TREE_MAX) return most;
    return grpo_dd_add(grpo_dd_of_(reward[k]), grpo_dd_mul(grpo_dd_div(grpo_sum_dd_(&sum), (double)children), gamma));
}

static int grpo_has_child_(const int64_t *parent, int64_t n, int64_t k)
{
    int64_t c;
    for (c = k + 1; c < n; c++) if (parent[c] == k) return 1;
    return 0;
}

grpo_status grpo_tree_reward(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double gamma,
                             grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped)
{
    const int divides = form == GRPO_TREE_MEAN_BY_DEPTH;
    grpo_status st = grpo_check_shaping_(gamma, 0, 0);
    int64_t k;
    if (!shaped) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!parent || !scratch || (divides && !depth))) return GRPO_NULL_LIST;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (form != GRPO_TREE_MAX && form != GRPO_TREE_MEAN && !divides) return GRPO_BAD_FORM;
    if (st) return st;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    for (k = 0; k < n; k++) if (parent[k] < -1 || parent[k] >= k || (divides && (depth[k] < 1 || depth[k] > turns))) return GRPO_BAD_TREE;
    for (k = n - 1; k >= 0; k--) {
        scratch[k] = grpo_tree_node_(parent, reward, n, k, gamma, form, scratch);
        if (divides && grpo_has_child_(parent, n, k)) scratch[k] = grpo_dd_div(scratch[k], (double)(turns - depth[k] + 1));
        shaped[k] = scratch[k].hi;
    }
    return GRPO_OK;
}

/* p (1 - p) or 1 - p^n - (1 - p)^n of p = right/n */
static double grpo_hint_value_(double right, double n, grpo_hint_form form)
{
    const double a = (right < n - right ? right : n - right) / n;
    if (form == GRPO_HINT_VARIANCE) return grpo_dd_div(grpo_dd_div(grpo_two_prod(right, n - right), n), n).hi;
    return -expm1(n * log1p(-a)) - pow(a, n);
}

grpo_status grpo_hint_reward(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form form, int gate,
                             double *reward_of_hint)
{
    grpo_status st = grpo_check_temperature_(temperature);
    grpo_sum sum;
    grpo_dd mean;
    double right = 0;
    int64_t k;
    if (!reward_of_hint) return GRPO_NULL_OUTPUT;
    if (form != GRPO_HINT_VARIANCE && form != GRPO_HINT_INFORMATIVE) return GRPO_BAD_FORM;
    if (!st) st = grpo_check_numbers_(reward, gap, n);
    if (st) return st;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < n; k++) if (reward[k] > 0.5) { grpo_sum_add_(&sum, gap[k]); right++; }
    mean = grpo_dd_div(grpo_sum_dd_(&sum), right > 0 ? right : 1);
    if (mean.hi > 0) mean = grpo_dd_of_(0);
    *reward_of_hint = gate ? -0.2 : right == 0 || right == (double)n ? 0
        : grpo_times(grpo_hint_value_(right, (double)n, form), grpo_exp(grpo_dd_div(mean, temperature)));
    return GRPO_OK;
}

/* is x between the shortest and the longest of the correct ones? */
static int grpo_inside_lengths_(const uint8_t *correct, const int64_t *length, int64_t n, int64_t x)
{
    int64_t k;
    int longer = 0, shorter = 0;
    for (k = 0; k < n; k++) if (correct[k]) { longer |= length[k] > x; shorter |= length[k] < x; }
    return longer && shorter;
}

grpo_status grpo_meta_reward(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m, int64_t passes,
                             int64_t predicted_length, double *reward)
{
    const grpo_dd minus_ln100 = { -4.605170185988092, 4.3415124467644987e-16 };
    grpo_dd off;
    double sum = 0;
    int64_t k, right = 0, good = 0;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n < 1 || m < 0) return n < 0 || m < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!correct) return GRPO_NULL_CORRECT;
    if (!length || (m > 0 && !net)) return GRPO_NULL_LIST;
    if (passes < -1 || passes > 8 || predicted_length < -1) return GRPO_BAD_PREDICTION;
    for (k = 0; k < n; k++) if (length[k] < 0) return GRPO_BAD_PREDICTION;
    for (k = 0; k < m; k++) good += net[k] > 0;
    for (k = 0; k < n; k++) right += correct[k] != 0;
    if (m > 0) sum = (double)good / (double)m;
    if (passes >= 0) {
        off = grpo_dd_div(grpo_dd_of_(fabs(8 * (double)right - (double)passes * (double)n)), 8 * (double)n);
        sum += grpo_exp(grpo_dd_product(off, minus_ln100));
    }
    if (predicted_length >= 0) sum += grpo_inside_lengths_(correct, length, n, predicted_length);
    *reward = sum / 3;
    return GRPO_OK;
}

grpo_status grpo_pairwise_wins(const double *wins, int64_t n, double *reward)
{
    int64_t i, j;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 1 && !wins) return GRPO_NULL_LIST;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            const double x = i == j ? 0.5 : wins[i * n + j], y = i == j ? 0.5 : wins[j * n + i];
            if (!(x == 0 || x == 0.5 || x == 1) || x + y != 1) return GRPO_BAD_WINS;
        }
    for (i = 0; i < n; i++) {
        double sum = 0;                                                 /* of halves */
        for (j = 0; j < n; j++) if (j != i) sum += wins[i * n + j];
        reward[i] = n > 1 ? sum / (double)(n - 1) : 0;
    }
    return GRPO_OK;
}

grpo_status grpo_entropy_rank_reward(const double *peak, const double *overall, int64_t n, double top, int64_t *scratch, double *reward)
{
    grpo_status st = grpo_check_shaping_(top, 0, 0);
    int64_t i, j, rank;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (n == 0) return GRPO_OK;
    if (!st) st = grpo_check_numbers_(peak, overall, n);
    if (st) return st;
    if (!scratch) return GRPO_NULL_LIST;
    for (i = 0; i < n; i++)                                             /* how many it dominates */
        for (scratch[i] = 0, j = 0; j < n; j++) scratch[i] += peak[i] > peak[j] && overall[i] < overall[j];
    for (i = 0; i < n; i++) {
        for (rank = 0, j = 0; j < n; j++) rank += scratch[j] > scratch[i] || (scratch[j] == scratch[i] && j < i);
        reward[i] = n > 1 ? grpo_dd_div(grpo_two_prod(top, (double)(n - 1 - rank)), (double)(n - 1)).hi : top;
    }
    return GRPO_OK;
}

/* the standard deviation of a list, of numbers whose squares no double holds too */
static double grpo_list_deviation_(const double *x, int64_t n, grpo_std_kind kind)
{
    grpo_values v;
    double largest = 0;
    int64_t k;
    int e;
    for (k = 0; k < n; k++) if (fabs(x[k]) > largest) largest = fabs(x[k]);
    frexp(largest, &e);
    memset(&v, 0, sizeof v);
    for (k = 0; k < n; k++) grpo_values_take_(&v, grpo_dd_of_(ldexp(x[k], -e)));
    return ldexp(sqrt(grpo_variance_(&v, kind)), e);
}

/* [begin, end] and [s, e]: common length over that from the first begin to the last end */
static double grpo_interval_overlap_(grpo_dd begin, grpo_dd end, grpo_dd s, grpo_dd e)
{
    const grpo_dd common = grpo_dd_minus_(grpo_dd_less(end, e) ? end : e, grpo_dd_less(s, begin) ? begin : s);
    const grpo_dd all = grpo_dd_minus_(grpo_dd_less(end, e) ? e : end, grpo_dd_less(s, begin) ? s : begin);
    return common.hi > 0 ? grpo_dd_quotient(common, all).hi : 0;
}

grpo_status grpo_interval_reward(const double *begin, const double *end, int64_t n, double gamma, int sample, double *reward)
{
    const grpo_std_kind kind = sample ? GRPO_STD_SAMPLE : GRPO_STD_POPULATION;
    grpo_status st = grpo_check_shaping_(gamma, 0, 0);
    grpo_dd s, e;
    double confidence;
    int64_t k;
    if (!reward) return GRPO_NULL_OUTPUT;
    if (!st && gamma < 0) st = GRPO_BAD_NEGATIVE;
    if (!st) st = n == 1 ? GRPO_TOO_FEW : grpo_check_numbers_(begin, end, n);
    if (st) return st;
    for (k = 0; k < n; k++) if (!(end[k] > begin[k])) return GRPO_BAD_INTERVAL;
    s = grpo_mean_of_(begin, NULL, n);
    e = grpo_mean_of_(end, NULL, n);
    confidence = grpo_exp(grpo_dd_mul(grpo_two_sum(grpo_list_deviation_(begin, n, kind), grpo_list_deviation_(end, n, kind)), -gamma));
    for (k = 0; k < n; k++) reward[k] = grpo_times(grpo_interval_overlap_(grpo_dd_of_(begin[k]), grpo_dd_of_(end[k]), s, e), confidence);
    return GRPO_OK;
}

grpo_status grpo_dense_rewards(const double *reward, int64_t n, double score, double total, double *shaped)
{
    grpo_status st = grpo_check_shaping_(score, total, 0);
    double divisor = 0;
    int64_t k;
    if (!shaped) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (st) return st;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    for (k = 0; k < n; k++) if (reward[k] < 0) return GRPO_BAD_NEGATIVE;
    for (k = 0; k < n; k++) divisor += reward[k] > 0;
    if (!(score > 0)) divisor = total;
    for (k = 0; k < n; k++) shaped[k] = divisor > 1 ? reward[k] / divisor : reward[k];
    return GRPO_OK;
}

grpo_status grpo_information_gain(const double *logp, int64_t n, grpo_information_form form, double *gain)
{
    int64_t k;
    if (!gain) return GRPO_NULL_OUTPUT;
    if (n < 1) return n < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!logp) return GRPO_NULL_LIST;
    if (form != GRPO_INFORMATION_LOG && form != GRPO_INFORMATION_PROBABILITY) return GRPO_BAD_FORM;
    if (!grpo_list_between_(logp, 0, n, -1e150, 0)) return GRPO_BAD_ANSWER_LOGP;
    for (k = 1; k < n; k++)
        gain[k - 1] = form == GRPO_INFORMATION_LOG ? logp[k] - logp[k - 1] : exp(logp[k]) - exp(logp[k - 1]);
    return GRPO_OK;
}

/* of the responses with reward 1: their tokens; 0: there are none, no others, or all are as long */
static int grpo_correct_lengths_(const grpo_batch *b, int64_t g, grpo_lengths_ *l)
{
    int64_t i, right = 0;
    l->shortest = HUGE_VAL; l->longest = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const double T = (double)grpo_unmasked_(b, i);
        if ((double)b->reward[i] != 1) continue;
        right++;
        if (T < l->shortest) l->shortest = T;
        if (T > l->longest) l->longest = T;
    }
    return right > 0 && right < b->group_begin[g + 1] - b->group_begin[g] && l->shortest < l->longest;
}

grpo_status grpo_shorter_correct(const grpo_batch *batch, double coef, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    grpo_lengths_ l;
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_parameter_(coef);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const int pays = grpo_correct_lengths_(batch, g, &l);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            grpo_dd more = grpo_dd_of_(0);
            const double spared = l.longest - (double)grpo_unmasked_(batch, i);
            if (pays && r == 1) more = grpo_dd_div(grpo_two_prod(coef, spared), l.longest - l.shortest);
            grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_(r), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

static int64_t grpo_occurrences_(const int64_t *x, int64_t n, int64_t id)
{
    int64_t k, count = 0;
    for (k = 0; k < n; k++) count += x[k] == id;
    return count;
}

/* is it the most frequent of the n, and the only one? */
static int grpo_is_mode_(const int64_t *x, int64_t n, int64_t id)
{
    const int64_t own = grpo_occurrences_(x, n, id);
    int64_t k;
    for (k = 0; k < n; k++) if (x[k] != id && grpo_occurrences_(x, n, x[k]) >= own) return 0;
    return 1;
}

grpo_status grpo_permutation_reward(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form form, double *reward)
{
    grpo_status st = grpo_check_list_call_(reward, n);
    int64_t k, all;
    if (st) return st;
    if (form != GRPO_PERMUTATION_JUDGE && form != GRPO_PERMUTATION_VOTES) return GRPO_BAD_FORM;
    if (permutations < 0 || (form == GRPO_PERMUTATION_JUDGE && permutations != 2)) return GRPO_BAD_SIZE;
    all = permutations * n;
    if (all > 0 && !choice) return GRPO_NULL_ARGUMENT;
    for (k = 0; k < all; k++) {
        const int agrees = form == GRPO_PERMUTATION_JUDGE ? choice[k % n] == choice[n + k % n] : grpo_is_mode_(choice, all, choice[k]);
        reward[k] = agrees ? 1 : -1;
    }
    return GRPO_OK;
}

grpo_status grpo_frequency_reward(const grpo_batch *batch, const int64_t *answer, int64_t size, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, i, j;
    int overflow = 0;
    if (!st && batch->n_groups && !answer) st = GRPO_NULL_ARGUMENT;
    if (!st && size < 1) st = GRPO_BAD_SIZE;
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++)
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            double valid = 0, same = 0;
            grpo_dd x = grpo_dd_div(grpo_dd_of_(1), (double)size);
            for (j = batch->group_begin[g]; j < batch->group_begin[g + 1]; j++) { valid += answer[j] >= 0; same += answer[j] == answer[i]; }
            if (answer[i] >= 0) x = grpo_dd_add(x, grpo_dd_div(grpo_dd_of_(valid - same), valid));      /* 1 - f */
            grpo_put_(reward, i, answer[i] < 0 ? -1 : x.hi, &overflow);
        }
    return GRPO_OK;
}

/* the first token of the mask from t on, or end */
static int64_t grpo_token_from_(const grpo_batch *b, int64_t t, int64_t end)
{
    while (t < end && !grpo_token_counts_(b, t)) t++;
    return t;
}

/* are `size` tokens from s on those from t on?  s < t, and there are as many */
static int grpo_is_same_run_(const grpo_batch *b, const int64_t *token, int64_t s, int64_t t, int64_t end, int64_t size)
{
    for (; size > 0; size--) {
        if (token[s] != token[t]) return 0;
        s = grpo_token_from_(b, s + 1, end);
        t = grpo_token_from_(b, t + 1, end);
    }
    return 1;
}

/* share of the runs of sequence i that have been there before */
static double grpo_repeated_(const grpo_batch *b, const int64_t *token, int64_t i, int64_t size)
{
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    int64_t s, t, left = 0, runs, again = 0;
    for (t = begin; t < end; t++) left += grpo_token_counts_(b, t) != 0;
    runs = left - size + 1;
    if (runs < 1) return 0;
    for (t = grpo_token_from_(b, begin, end), left = runs; left > 0; left--, t = grpo_token_from_(b, t + 1, end)) {
        s = grpo_token_from_(b, begin, end);
        while (s < t && !grpo_is_same_run_(b, token, s, t, end, size)) s = grpo_token_from_(b, s + 1, end);
        again += s < t;
    }
    return (double)again / (double)runs;
}

grpo_status grpo_repetition_reward(const grpo_batch *batch, const int64_t *token, int64_t size, double penalty, grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t i;
    int overflow = 0;
    if (!st && batch->n_groups && !token) st = GRPO_NULL_ARGUMENT;
    if (!st && size < 1) st = GRPO_BAD_SIZE;
    if (!st) st = grpo_check_parameter_(penalty);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        grpo_put_(reward, i, grpo_times(penalty, grpo_repeated_(batch, token, i, size)), &overflow);
    return GRPO_OK;
}

grpo_status grpo_correct_length(const grpo_batch *batch, const uint8_t *correct, double alpha, double eps, double wrong,
                                grpo_real *reward)
{
    grpo_status st = grpo_check_call_(batch, reward);
    grpo_values v;
    grpo_dd mean, s, z;
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_parameter_(alpha);
    if (!st) st = grpo_check_parameter_(wrong);
    if (!st) st = grpo_check_weighting_(eps);
    if (!st) st = grpo_check_correct_(batch, correct);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        memset(&v, 0, sizeof v);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            if (correct[i]) grpo_values_take_(&v, grpo_dd_of_((double)grpo_unmasked_(batch, i)));
        mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1);
        s = grpo_values_deviation_(&v, GRPO_STD_POPULATION, 0);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            z = grpo_dd_minus_(mean, grpo_dd_of_((double)grpo_unmasked_(batch, i)));
            z = s.hi > 0 ? grpo_dd_mul(grpo_dd_quotient(z, grpo_dd_add(s, grpo_dd_of_(eps))), alpha) : grpo_dd_of_(0);
            grpo_put_(reward, i, correct[i] ? grpo_exp(z) : wrong, &overflow);
        }
    }
    return GRPO_OK;
}

/* of response i of a pair with that outcome: 1 it wins, -1 it loses, 0 neither */
static int grpo_verdict_(const int64_t *outcome, int64_t place)
{
    const int first = place % 2 == 0, up = outcome[place / 2] > 0;
    return outcome[place / 2] == 0 ? 0 : first == up ? 1 : -1;
}

static double grpo_tokens_or_one_(const grpo_batch *b, int64_t i) { return (double)(grpo_unmasked_(b, i) ? grpo_unmasked_(b, i) : 1); }

static void grpo_pair_group_(const grpo_batch *b, int64_t g, const int64_t *outcome, const uint8_t *ended, grpo_real *reward,
                             uint8_t *masked)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], paired = (end - begin) / 2 * 2;
    double least = HUGE_VAL;
    int64_t k;
    int overflow = 0;
    for (k = 0; k < paired; k++)
        if (grpo_verdict_(outcome, k) > 0 && ended[begin + k] && grpo_tokens_or_one_(b, begin + k) < least)
            least = grpo_tokens_or_one_(b, begin + k);
    for (k = 0; k < end - begin; k++) {
        const int verdict = k < paired ? grpo_verdict_(outcome, k) : 0, wins = verdict > 0 && ended[begin + k];
        masked[begin + k] = k < paired && verdict == 0;
        grpo_put_(reward, begin + k, wins ? least / grpo_tokens_or_one_(b, begin + k) : verdict ? -1 : 0, &overflow);
    }
}

grpo_status grpo_pair_rewards(const grpo_batch *batch, const int64_t *outcome, const uint8_t *ended, grpo_real *reward, uint8_t *masked)
{
    grpo_status st = grpo_check_call_(batch, reward);
    int64_t g, k, pairs = 0;
    if (!st && !masked) st = GRPO_NULL_OUTPUT;
    if (!st && batch->n_groups && !ended) st = GRPO_NULL_ARGUMENT;
    for (g = 0; !st && g < batch->n_groups; g++) pairs += grpo_group_size_(batch, g) / 2;
    if (!st && pairs && !outcome) st = GRPO_NULL_ARGUMENT;
    for (k = 0; !st && k < pairs; k++) if (outcome[k] < -1 || outcome[k] > 1) st = GRPO_BAD_ENTRY;
    if (st) return st;
    for (k = 0, g = 0; g < batch->n_groups; g++) {
        grpo_pair_group_(batch, g, pairs ? outcome + k : NULL, ended, reward, masked);
        k += grpo_group_size_(batch, g) / 2;
    }
    return GRPO_OK;
}

grpo_status grpo_spread_reward(const double *distance, int64_t n, double *reward)
{
    grpo_status st = grpo_check_list_call_(reward, n);
    grpo_dd span;
    double least = HUGE_VAL, most = -HUGE_VAL;
    int64_t k;
    if (!st) st = grpo_check_entry_list_(distance, n, -1e150, 1e150);
    if (st || n == 0) return st;
    for (k = 0; k < n; k++) {
        if (distance[k] < least) least = distance[k];
        if (distance[k] > most) most = distance[k];
    }
    span = grpo_two_diff(most, least);
    for (k = 0; k < n; k++)
        reward[k] = grpo_dd_less(span, grpo_1e_minus_8_) ? 0 : grpo_dd_quotient(grpo_two_diff(distance[k], least), span).hi;
    return GRPO_OK;
}

/* ---- advantages beside the axis ---- */

grpo_status grpo_boltzmann_advantage(const grpo_batch *batch, double temperature, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    grpo_sum sum;
    int64_t g, i, begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_temperature_(temperature);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        double top = -HUGE_VAL;
        grpo_dd mean;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        memset(&sum, 0, sizeof sum);
        for (i = begin; i < end; i++) if ((double)batch->reward[i] > top) top = (double)batch->reward[i];
        for (i = begin; i < end; i++) grpo_sum_add_(&sum, grpo_exp(grpo_dd_div(grpo_two_diff((double)batch->reward[i], top), temperature)));
        mean = grpo_dd_div(grpo_sum_dd_(&sum), (double)(end - begin));
        for (i = begin; i < end; i++)
            grpo_put_(advantage, i, grpo_exp(grpo_dd_div(grpo_two_diff((double)batch->reward[i], top), temperature)) / mean.hi, &overflow);
    }
    return GRPO_OK;
}

/* e^((mean - largest mean)/temperature) of response i of those that take part, else 0 */
static int grpo_has_likelihood_share_(const grpo_batch *b, double threshold, int64_t i)
{
    return (double)b->reward[i] > threshold && grpo_unmasked_(b, i) > 0;
}

static double grpo_likelihood_(const grpo_batch *b, double threshold, double temperature, const grpo_dd *mean, grpo_dd top, int64_t i)
{
    if (!grpo_has_likelihood_share_(b, threshold, i)) return 0;
    return grpo_exp(grpo_dd_div(grpo_dd_minus_(mean[i], top), temperature));
}

static void grpo_likelihood_group_(const grpo_batch *b, int64_t g, double threshold, double temperature, int by_length, const grpo_dd *mean,
                                   grpo_real *advantage)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_dd top = grpo_dd_of_(-HUGE_VAL);
    grpo_sum sum, shares;
    double e, whole;
    int64_t i;
    int overflow = 0;
    memset(&sum, 0, sizeof sum);
    memset(&shares, 0, sizeof shares);
    for (i = begin; i < end; i++) if (grpo_has_likelihood_share_(b, threshold, i) && grpo_dd_less(top, mean[i])) top = mean[i];
    for (i = begin; i < end; i++) {
        e = grpo_likelihood_(b, threshold, temperature, mean, top, i);
        grpo_sum_add_(&sum, e);
        if (e > 0) grpo_sum_add_(&shares, e / (double)grpo_unmasked_(b, i));
    }
    whole = grpo_sum_value_(by_length ? &shares : &sum);
    for (i = begin; i < end; i++) {
        e = grpo_likelihood_(b, threshold, temperature, mean, top, i);
        grpo_put_(advantage, i, e > 0 ? e / (by_length ? (double)grpo_unmasked_(b, i) : 1) / whole : 0, &overflow);
    }
}

grpo_status grpo_likelihood_share(const grpo_batch *batch, double threshold, double temperature, int by_length, grpo_dd *scratch,
                                  grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g;
    if (!st) st = grpo_check_temperature_(temperature);
    if (!st) st = grpo_check_shaping_(threshold, 0, 0);
    if (!st && batch->n_groups && !scratch) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (g = 0; g < batch->n_groups; g++) grpo_likelihood_group_(batch, g, threshold, temperature, by_length, scratch, advantage);
    return GRPO_OK;
}

/* is response i among the first floor(G/2) by metric? */
static int grpo_is_low_(const double *metric, int64_t begin, int64_t end, int64_t i)
{
    int64_t j, rank = 0;
    for (j = begin; j < end; j++) rank += metric[j] < metric[i] || (metric[j] == metric[i] && j < i);
    return rank < (end - begin) / 2;
}

static void grpo_canon_group_(const grpo_batch *b, int64_t g, const double *metric, const grpo_canon *c, grpo_real *advantage)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], half = (end - begin) / 2;
    grpo_dd mean[2] = { { 0, 0 }, { 0, 0 } }, inter, intra;             /* of the high half, of the low one */
    grpo_sum sum[2];
    int64_t i;
    int low, overflow = 0;
    memset(sum, 0, sizeof sum);
    for (i = begin; i < end; i++) grpo_sum_add_(&sum[grpo_is_low_(metric, begin, end, i)], (double)b->reward[i]);
    mean[0] = grpo_dd_div(grpo_sum_dd_(&sum[0]), (double)(end - begin - half));
    if (half > 0) mean[1] = grpo_dd_div(grpo_sum_dd_(&sum[1]), (double)half);
    for (i = begin; i < end; i++) {
        const grpo_dd r = grpo_dd_of_((double)b->reward[i]);
        low = grpo_is_low_(metric, begin, end, i);
        inter = grpo_dd_minus_(grpo_dd_mul(r, low == (c->scaled == GRPO_HALF_LOW) ? c->alpha : 1),
                               grpo_dd_mul(mean[!low], low == (c->scaled == GRPO_HALF_LOW) ? 1 : c->alpha));
        inter = grpo_dd_add(inter, grpo_dd_of_(low ? -c->offset : c->offset));
        intra = grpo_dd_minus_(r, mean[low]);
        grpo_put_(advantage, i, grpo_dd_add(grpo_dd_mul(inter, c->mix), grpo_dd_product(grpo_two_diff(1, c->mix), intra)).hi, &overflow);
    }
}

grpo_status grpo_canon_advantage(const grpo_batch *batch, const double *metric, const grpo_canon *canon, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g;
    if (st) return st;
    if (!canon) return GRPO_NULL_BOUNDS;
    if (canon->scaled != GRPO_HALF_LOW && canon->scaled != GRPO_HALF_HIGH) return GRPO_BAD_FORM;
    st = grpo_check_shaping_(canon->alpha, canon->offset, canon->mix);
    if (!st) st = grpo_check_list_(batch, metric);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) grpo_canon_group_(batch, g, metric, canon, advantage);
    return GRPO_OK;
}

/* of n rewards of which `right` are 1: 1/2 (U/(sqrt p + e) + (1 - U)/(1 - sqrt p + e))/(sample std + e), p = right/n */
static double grpo_relative_factor_(double n, double right, double mean_reward)
{
    const double e = 1e-6, p = right / n, root = sqrt(p), rest = (n - right) / n / (1 + root);       /* 1 - sqrt p */
    const double deviation = sqrt(right * (n - right) / (n * (n - 1)));
    return 0.5 * (mean_reward / (root + e) + (1 - mean_reward) / (rest + e)) / (deviation + e);
}

grpo_status grpo_group_relative_scale(const grpo_batch *batch, double alpha, double mean_reward, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i, begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(alpha, mean_reward, 0);
    if (!st && !(alpha > 0)) st = GRPO_BAD_ALPHA;
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        if (batch->reward[i] != 0 && batch->reward[i] != 1) return GRPO_BAD_BINARY;
    for (g = 0; g < batch->n_groups; g++) {
        double n, right = 0, factor;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (n = (double)(end - begin), i = begin; i < end; i++) right += (double)batch->reward[i];
        factor = right > 0 && right < n ? grpo_relative_factor_(n, right, mean_reward) : 0;
        for (i = begin; i < end; i++) {
            double A = factor * ((n * (double)batch->reward[i] - right) / n);
            if (A > 0 && mean_reward < alpha) A *= mean_reward / alpha;
            grpo_put_(advantage, i, A, &overflow);
        }
    }
    return GRPO_OK;
}

/* the mean over group g of the means of responses with tokens */
static grpo_dd grpo_mean_of_means_(const grpo_batch *b, int64_t g, const grpo_dd *mean)
{
    grpo_sum sum;
    int64_t i, n = 0;
    memset(&sum, 0, sizeof sum);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (!grpo_unmasked_(b, i)) continue;
        grpo_sum_add_dd_(&sum, mean[i]);
        n++;
    }
    return n ? grpo_dd_div(grpo_sum_dd_(&sum), (double)n) : grpo_dd_of_(0);
}

grpo_status grpo_sharpening(const grpo_batch *batch, const double *advantage, double lambda, double kappa, grpo_dd *scratch,
                            grpo_real *shaped)
{
    grpo_status st = grpo_check_call_(batch, shaped);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(lambda, kappa, 0);
    if (!st && batch->n_groups && !scratch) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_list_(batch, advantage);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_dd centre = grpo_mean_of_means_(batch, g, scratch);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double A = advantage[i];
            double more = 0;
            if (A > 0 && batch->reward[i] > 0 && grpo_unmasked_(batch, i)) {
                more = grpo_times(-lambda, grpo_exp_minus_one(grpo_dd_minus_(scratch[i], centre)));
                if (!(more > 0)) more = 0;
                if (more > kappa * A) more = kappa * A;
            }
            grpo_put_(shaped, i, A + more, &overflow);
        }
    }
    return GRPO_OK;
}

static grpo_status grpo_check_feature_(const grpo_batch *b, const grpo_feature *f)
{
    grpo_status st;
    if (!f) return GRPO_NULL_BOUNDS;
    st = grpo_check_shaping_(f->delta, f->k, 0);
    if (!st && b->n_groups && (!f->eligible || !f->divisor)) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_list_(b, f->advantage);
    if (!st) st = grpo_check_list_(b, f->feature);
    if (!st && !grpo_list_between_(f->divisor, grpo_first_sequence_(b), grpo_end_sequence_(b), DBL_MIN, 1e150)) st = GRPO_BAD_DIVISOR;
    return st;
}

grpo_status grpo_feature_bonus(const grpo_batch *batch, const grpo_feature *feature, grpo_real *shaped)
{
    grpo_status st = grpo_check_call_(batch, shaped);
    const grpo_feature *f = feature;
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_feature_(batch, f);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_dd centre = grpo_list_mean_(batch, g, f->feature, f->eligible), by = grpo_list_mean_(batch, g, f->divisor, f->eligible);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd most = grpo_two_prod(f->k, fabs(f->advantage[i]));
            grpo_dd more = grpo_dd_of_(0);
            if (f->eligible[i]) {
                more = grpo_dd_quotient(grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_(f->feature[i]), centre), f->delta), by);
                if (grpo_dd_less(more, grpo_dd_negative(most))) more = grpo_dd_negative(most);
                if (grpo_dd_less(most, more)) more = most;
            }
            grpo_put_(shaped, i, grpo_dd_add(grpo_dd_of_(f->advantage[i]), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

/* `count` more values of x */
static void grpo_values_repeat_(grpo_values *v, double x, int64_t count)
{
    const grpo_dd square = grpo_two_prod(x, x);
    if (count == 0) return;
    if (v->count == 0 || grpo_dd_less(grpo_dd_of_(x), v->min)) v->min = grpo_dd_of_(x);
    if (v->count == 0 || grpo_dd_less(v->max, grpo_dd_of_(x))) v->max = grpo_dd_of_(x);
    v->count += count;
    grpo_sum_add_dd_(&v->sum, grpo_two_prod((double)count, x));
    grpo_sum_add_dd_(&v->squares, grpo_two_prod((double)count, square.hi));
    grpo_sum_add_dd_(&v->squares, grpo_two_prod((double)count, square.lo));
}

grpo_status grpo_virtual_reward(const grpo_batch *batch, double virtual_reward, int64_t count, double eps, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i, begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(virtual_reward, eps, 0);
    if (!st && eps < 0) st = GRPO_BAD_DEVIATION_EPS;
    if (!st && (count < 0 || count > INT64_C(1) << 40)) st = GRPO_BAD_COUNT;
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_values v;
        grpo_dd mean;
        double s;
        memset(&v, 0, sizeof v);
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_((double)batch->reward[i]));
        grpo_values_repeat_(&v, virtual_reward, count);
        mean = grpo_dd_div(grpo_sum_dd_(&v.sum), (double)v.count);
        s = sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE));
        for (i = begin; i < end; i++) {
            const double r = (double)batch->reward[i], off = grpo_dd_minus_(grpo_dd_of_(r), mean).hi;
            grpo_put_(advantage, i, end - begin == 1 ? r : s == 0 ? 0 : off / (s + eps), &overflow);
        }
    }
    return GRPO_OK;
}

/* the bundle of group g: its least group size; *groups: how many it has */
static int64_t grpo_bundle_size_(const grpo_batch *b, const int64_t *bundle, int64_t g, int64_t *groups)
{
    int64_t h, least = grpo_group_size_(b, g);
    for (*groups = 0, h = 0; h < b->n_groups; h++) {
        if (bundle[h] != bundle[g]) continue;
        if (grpo_group_size_(b, h) < least) least = grpo_group_size_(b, h);
        ++*groups;
    }
    return least;
}

/* the sum of its k-th rewards, or of those less the means of their groups */
static grpo_dd grpo_bundle_sum_(const grpo_batch *b, const int64_t *bundle, int64_t g, int64_t k, const grpo_dd *mean)
{
    grpo_sum sum;
    int64_t h;
    memset(&sum, 0, sizeof sum);
    for (h = 0; h < b->n_groups; h++) {
        if (bundle[h] != bundle[g]) continue;
        grpo_sum_add_(&sum, (double)b->reward[b->group_begin[h] + k]);
        if (mean) grpo_sum_add_dd_(&sum, grpo_dd_negative(mean[h]));
    }
    return grpo_sum_dd_(&sum);
}

static grpo_dd grpo_positive_part_(grpo_dd x) { return x.hi > 0 ? x : grpo_dd_of_(0); }

/* (omega v + u)/(omega + 1) */
static double grpo_risk_(const grpo_risk *x, grpo_dd S)
{
    const grpo_dd above = grpo_dd_minus_(S, grpo_dd_of_(x->low)), beyond = grpo_dd_minus_(S, grpo_dd_of_(x->high));
    const grpo_dd gain = grpo_dd_minus_(grpo_positive_part_(above), grpo_positive_part_(beyond));
    const grpo_dd lost = grpo_positive_part_(grpo_dd_negative(above));
    const grpo_dd u = grpo_dd_quotient(gain, grpo_dd_add(grpo_two_diff(x->c, x->a), grpo_dd_of_(x->eps)));
    const grpo_dd v = grpo_dd_mul(grpo_dd_quotient(lost, grpo_two_sum(x->a, x->eps)), x->omega);
    return grpo_dd_quotient(grpo_dd_minus_(u, v), grpo_two_sum(x->omega, 1)).hi;
}

static void grpo_bundle_group_(const grpo_batch *b, const int64_t *bundle, const grpo_risk *risk, int64_t g, const grpo_dd *mean,
                               grpo_real *advantage)
{
    int64_t groups, k;
    const int64_t begin = b->group_begin[g], n = grpo_bundle_size_(b, bundle, g, &groups);
    grpo_values v;
    grpo_dd D, off;
    double U, s;
    int overflow = 0;
    memset(&v, 0, sizeof v);
    for (k = 0; k < n; k++) grpo_values_take_(&v, grpo_bundle_sum_(b, bundle, g, k, NULL));
    s = (n > 1 ? sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE)) : 1) + risk->eps;
    for (k = 0; k < grpo_group_size_(b, g); k++) {
        if (k >= n) { grpo_put_(advantage, begin + k, 0, &overflow); continue; }
        D = grpo_bundle_sum_(b, bundle, g, k, mean);
        U = grpo_risk_(risk, grpo_bundle_sum_(b, bundle, g, k, NULL)) / s;
        off = grpo_dd_minus_(grpo_dd_of_((double)b->reward[begin + k]), mean[g]);
        grpo_put_(advantage, begin + k, fabs(D.hi) > 1e-6 ? U * (off.hi / D.hi) : U / (double)groups, &overflow);
    }
}

static grpo_status grpo_check_risk_(const grpo_risk *x)
{
    grpo_status st = grpo_check_shaping_(x->low, x->high, x->omega);
    if (!st) st = grpo_check_shaping_(x->a, x->c, x->eps);
    return !st && !(x->eps >= 0 && x->a >= 0 && x->a + x->eps > 0 && x->a < x->c && x->omega >= 0) ? GRPO_BAD_RISK : st;
}

grpo_status grpo_bundle_advantage(const grpo_batch *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd *scratch,
                                  grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    if (st) return st;
    if (!risk) return GRPO_NULL_BOUNDS;
    st = grpo_check_risk_(risk);
    if (!st && batch->n_groups && (!bundle || !scratch)) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_sum sum;
        memset(&sum, 0, sizeof sum);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)batch->reward[i]);
        scratch[g] = grpo_dd_div(grpo_sum_dd_(&sum), (double)grpo_group_size_(batch, g));
    }
    for (g = 0; g < batch->n_groups; g++) grpo_bundle_group_(batch, bundle, risk, g, scratch, advantage);
    return GRPO_OK;
}

/* mean reward times distinct classes over size */
static grpo_dd grpo_set_value_(const double *reward, const int64_t *klass, const int64_t *member, int64_t size)
{
    grpo_sum sum;
    int64_t j, k, distinct = 0;
    memset(&sum, 0, sizeof sum);
    for (k = 0; k < size; k++) {
        grpo_sum_add_(&sum, reward[member[k]]);
        for (j = 0; j < k && klass[member[j]] != klass[member[k]]; j++) { }
        distinct += j == k;
    }
    return grpo_dd_steady_(grpo_dd_div(grpo_dd_div(grpo_dd_mul(grpo_sum_dd_(&sum), (double)distinct), (double)size), (double)size));
}

grpo_status grpo_set_advantage(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const int64_t *set_begin,
                               int64_t n_sets, double *advantage)
{
    grpo_values v;
    grpo_dd f, mean;
    int64_t s, k;
    if (!advantage) return GRPO_NULL_OUTPUT;
    if (n < 0 || n_sets < 0) return GRPO_BAD_COUNT;
    if (n_sets == 0) return GRPO_OK;
    if (!klass || !member || !set_begin) return GRPO_NULL_LIST;
    if (!reward) return GRPO_NULL_REWARD_LIST;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    if (set_begin[0] < 0) return GRPO_BAD_SETS;
    for (s = 0; s < n_sets; s++) if (set_begin[s + 1] <= set_begin[s]) return GRPO_BAD_SETS;
    for (k = set_begin[0]; k < set_begin[n_sets]; k++) if (member[k] < 0 || member[k] >= n) return GRPO_BAD_SETS;
    memset(&v, 0, sizeof v);
    for (s = 0; s < n_sets; s++)
        grpo_values_take_(&v, grpo_set_value_(reward, klass, member + set_begin[s], set_begin[s + 1] - set_begin[s]));
    mean = grpo_dd_div(grpo_sum_dd_(&v.sum), (double)n_sets);
    for (s = 0; s < n_sets; s++) {
        f = grpo_set_value_(reward, klass, member + set_begin[s], set_begin[s + 1] - set_begin[s]);
        advantage[s] = grpo_dd_same_(v.min, v.max) ? 0 : grpo_dd_minus_(f, mean).hi;
    }
    return GRPO_OK;
}

/* are responses i and j of one cluster? */
static int grpo_one_answer_(const int64_t *answer, int64_t i, int64_t j) { return i == j || (answer[i] >= 0 && answer[i] == answer[j]); }

static double grpo_answer_entropy_group_(const int64_t *answer, const double *score, int64_t begin, int64_t end)
{
    grpo_sum in, out, H;
    double top = -HUGE_VAL, w, rest;
    int64_t i, j;
    memset(&H, 0, sizeof H);
    for (i = begin; i < end; i++) if (score[i] > top) top = score[i];
    for (i = begin; i < end; i++) {
        for (j = begin; j < i && !grpo_one_answer_(answer, i, j); j++) { }
        if (j < i) continue;                                            /* its cluster was there */
        memset(&in, 0, sizeof in);
        memset(&out, 0, sizeof out);
        for (j = begin; j < end; j++) grpo_sum_add_(grpo_one_answer_(answer, i, j) ? &in : &out, grpo_exp(grpo_two_diff(score[j], top)));
        w = grpo_sum_value_(&in); rest = grpo_sum_value_(&out);
        if (w > 0) grpo_sum_add_(&H, w / (w + rest) * (rest < 1e300 * w ? log1p(rest / w) : log(rest) - log(w)));     /* -p log p */
    }
    return grpo_sum_value_(&H);
}

grpo_status grpo_answer_entropy(const grpo_batch *batch, const int64_t *answer, const double *score, double *entropy)
{
    grpo_status st = grpo_check_call_(batch, entropy);
    int64_t g;
    if (!st && batch->n_groups && !answer) st = GRPO_NULL_LIST;
    if (!st) st = grpo_check_list_(batch, score);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++)
        entropy[g] = grpo_answer_entropy_group_(answer, score, batch->group_begin[g], batch->group_begin[g + 1]);
    return GRPO_OK;
}

grpo_status grpo_reference_advantage(const double *reward, int64_t n, double reference_reward, double beta, double lambda,
                                     int with_reference, double *advantage, double *reference)
{
    grpo_status st = grpo_check_shaping_(reference_reward, beta, lambda);
    const grpo_dd y = grpo_dd_of_(reference_reward);
    const double more = (double)n + 1;
    grpo_values v;
    grpo_dd mean, own, last;
    double s;
    int64_t i;
    if (!advantage || !reference) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (st) return st;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    memset(&v, 0, sizeof v);
    for (i = 0; i < n; i++) grpo_values_take_(&v, grpo_dd_of_(reward[i]));
    own = grpo_dd_div(grpo_sum_dd_(&v.sum), n > 0 ? (double)n : 1);
    if (with_reference) grpo_values_take_(&v, y);
    mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count > 0 ? (double)v.count : 1);
    s = sqrt(grpo_variance_(&v, GRPO_STD_POPULATION));
    for (i = 0; i < n; i++) {
        const grpo_dd off = grpo_dd_minus_(grpo_dd_of_(reward[i]), mean);
        advantage[i] = s > 0 ? grpo_dd_product(grpo_two_sum(1, lambda), grpo_dd_div(grpo_dd_mul(off, more), (double)n)).hi / s : 0;
    }
    last = grpo_dd_mul(grpo_dd_minus_(y, mean), beta);
    if (with_reference) last = grpo_dd_minus_(last, grpo_dd_mul(grpo_dd_minus_(own, mean), lambda));        /* else mean A = 0 */
    *reference = s > 0 ? grpo_dd_mul(last, more).hi / s : 0;
    return GRPO_OK;
}

/* of a group of G: process_coef (x G - S)/(G - 1) by token, S the sum of the responses' means, and outcome_coef (r G - R)/(G - 1) once */
typedef struct { const grpo_real *process; double process_coef, outcome_coef, G; grpo_dd S, R; } grpo_implicit_;

static grpo_dd grpo_against_others_(double x, grpo_dd sum, double G, double coef)
{
    return grpo_dd_mul(grpo_dd_div(grpo_dd_minus_(grpo_two_prod(x, G), sum), G - 1), coef);
}

static void grpo_implicit_response_(const grpo_batch *b, int64_t i, const grpo_implicit_ *x, grpo_real *advantage)
{
    grpo_dd sum = grpo_against_others_((double)b->reward[i], x->R, x->G, x->outcome_coef);
    int64_t t;
    int overflow = 0;
    for (t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        if (!grpo_token_counts_(b, t)) { advantage[t] = 0; continue; }
        sum = grpo_dd_add(sum, grpo_against_others_((double)x->process[t], x->S, x->G, x->process_coef));
        grpo_put_(advantage, t, sum.hi, &overflow);
    }
}

grpo_status grpo_implicit_advantage(const grpo_batch *batch, const grpo_real *process, double process_coef, double outcome_coef,
                                    grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    grpo_implicit_ x;
    int64_t g, i, begin, end;
    if (!st) st = grpo_check_shaping_(process_coef, outcome_coef, 0);
    if (!st) st = grpo_check_tokens_(batch, process, GRPO_NULL_LIST, GRPO_BAD_TOKEN_LIST);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) if (batch->group_begin[g + 1] - batch->group_begin[g] < 2) return GRPO_LONE_RESPONSE;
    x.process = process; x.process_coef = process_coef; x.outcome_coef = outcome_coef;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_sum means;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        memset(&means, 0, sizeof means);
        for (i = begin; i < end; i++) grpo_sum_add_dd_(&means, grpo_response_mean_(batch, process, NULL, i));
        x.G = (double)(end - begin);
        x.S = grpo_sum_dd_(&means);
        x.R = grpo_dd_mul(grpo_group_mean_(batch, g), x.G);
        for (i = begin; i < end; i++) grpo_implicit_response_(batch, i, &x, advantage);
    }
    return GRPO_OK;
}

grpo_status grpo_hardness_advantage(const grpo_batch *batch, double slope, double offset, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_shaping_(slope, offset, 0);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_dd mean = grpo_group_mean_(batch, g), hard = grpo_dd_add(grpo_dd_mul(mean, slope), grpo_dd_of_(offset));
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_dd_product(grpo_dd_minus_(grpo_dd_of_((double)batch->reward[i]), mean), hard).hi, &overflow);
    }
    return GRPO_OK;
}

/* (r - mean)/divisor, 0 where all are equal */
typedef struct { grpo_dd mean; double divisor; int equal; } grpo_standing_;

static double grpo_standing_of_(const grpo_standing_ *s, double r)
{
    return s->equal ? 0 : grpo_dd_minus_(grpo_dd_of_(r), s->mean).hi / s->divisor;
}

/* among the rewards of the group's unmasked tokens, or among those of its responses */
static grpo_standing_ grpo_group_standing_(const grpo_batch *b, int64_t g, int by_token, double eps, int scaled)
{
    grpo_values v;
    grpo_standing_ s;
    int64_t i;
    memset(&v, 0, sizeof v);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        grpo_values_repeat_(&v, (double)b->reward[i], by_token ? grpo_unmasked_(b, i) : 1);
    s.equal = v.count == 0 || grpo_dd_same_(v.min, v.max);
    s.mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1);
    s.divisor = scaled ? sqrt(grpo_variance_(&v, by_token ? GRPO_STD_POPULATION : GRPO_STD_SAMPLE)) + eps : 1;
    return s;
}

grpo_status grpo_token_advantage(const grpo_batch *batch, double eps, double limit, int scaled, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    int beyond, overflow = 0;
    if (st) return st;
    if (!(eps >= 0 && eps <= 1e150)) return GRPO_BAD_LEAST;
    if (!(limit > 0)) return GRPO_BAD_POSITIVE;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_standing_ s = grpo_group_standing_(batch, g, 1, eps, scaled);
        for (beyond = 0, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            beyond |= grpo_unmasked_(batch, i) > 0 && fabs(grpo_standing_of_(&s, (double)batch->reward[i])) >= limit;
        if (beyond) s = grpo_group_standing_(batch, g, 0, eps, scaled);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_standing_of_(&s, (double)batch->reward[i]), &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_future_success(const double *reward, int64_t n, double *advantage)
{
    grpo_dd later = grpo_dd_of_(0), more;
    double r;
    int64_t i;
    if (!advantage) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    for (i = n - 1; i >= 0; i--) {
        r = reward[i];                                                  /* advantage may be reward */
        more = grpo_dd_div(later, i < n - 1 ? (double)(n - 1 - i) : 1);
        advantage[i] = grpo_dd_mul(grpo_dd_add(grpo_dd_of_(1), more), r).hi;
        later = grpo_dd_add(later, grpo_dd_of_(r));
    }
    return GRPO_OK;
}

typedef struct { grpo_dd m; int64_t e; } grpo_power_;                 /* m 2^e, 1/2 <= m < 1: powers that no double holds */

static grpo_power_ grpo_power_of_(grpo_dd x, int64_t e)
{
    grpo_power_ r;
    int k;
    frexp(x.hi, &k);
    r.m.hi = ldexp(x.hi, -k); r.m.lo = ldexp(x.lo, -k); r.e = e + k;
    return r;
}

static grpo_power_ grpo_power_product_(grpo_power_ a, grpo_power_ b) { return grpo_power_of_(grpo_dd_product(a.m, b.m), a.e + b.e); }

static grpo_power_ grpo_power_raised_(grpo_power_ x, int64_t n)
{
    grpo_power_ r = grpo_power_of_(grpo_dd_of_(1), 0);
    for (; n > 0; n >>= 1) {
        if (n & 1) r = grpo_power_product_(r, x);
        x = grpo_power_product_(x, x);
    }
    return r;
}

static grpo_power_ grpo_power_sum_(grpo_power_ a, grpo_power_ b)
{
    const grpo_power_ big = a.e < b.e ? b : a, small = a.e < b.e ? a : b;
    const int shift = big.e - small.e < 1100 ? (int)(big.e - small.e) : 1100;
    grpo_dd s;
    s.hi = ldexp(small.m.hi, -shift); s.lo = ldexp(small.m.lo, -shift);
    return grpo_power_of_(grpo_dd_add(big.m, s), big.e);
}

static int grpo_power_less_(grpo_power_ a, grpo_power_ b) { return a.e != b.e ? a.e < b.e : grpo_dd_less(a.m, b.m); }

/* the sum of two of either sign */
static grpo_power_ grpo_power_plus_(grpo_power_ a, grpo_power_ b) { return a.m.hi == 0 ? b : b.m.hi == 0 ? a : grpo_power_sum_(a, b); }

static grpo_dd grpo_power_value_(grpo_power_ x)
{
    const int e = x.e > 4000 ? 4000 : x.e < -4000 ? -4000 : (int)x.e;
    grpo_dd r;
    r.hi = ldexp(x.m.hi, e);
    r.lo = grpo_is_finite(r.hi) ? ldexp(x.m.lo, e) : 0;
    return r;
}

static grpo_power_ grpo_power_from_(double x) { return grpo_power_of_(grpo_dd_of_(x), 0); }

/* W from the discounted sum of what was before, or inclusive up to now */
static grpo_power_ grpo_coplayer_weight_(const grpo_coplayer *c, grpo_power_ sum, int64_t t)
{
    grpo_power_ W = grpo_power_product_(grpo_power_from_(c->weight_gamma), sum);
    grpo_dd x;
    if (c->per_step) W = grpo_power_of_(grpo_dd_div(W.m, (double)t + 1), W.e);
    x = grpo_power_value_(W);
    if (c->clip > 0 && grpo_dd_exceeds(x.hi < 0 ? grpo_dd_negative(x) : x, c->clip)) W = grpo_power_from_(x.hi < 0 ? -c->clip : c->clip);
    if (c->sign) W = grpo_power_from_((W.m.hi > 0) - (W.m.hi < 0));
    return W;
}

/* sums and products of discounts in a range of their own: a step far on may be worth less than any double, and still be multiplied */
grpo_status grpo_coplayer_credit(const double *own, const double *other, int64_t n, const grpo_coplayer *how, double *credit)
{
    grpo_power_ past = grpo_power_from_(0), discount = grpo_power_from_(1), with, x;
    int64_t t;
    if (!credit) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!own || !other)) return GRPO_NULL_LIST;
    if (!how) return GRPO_NULL_BOUNDS;
    if (!grpo_is_unit_(how->gamma) || !grpo_is_unit_(how->weight_gamma)) return GRPO_BAD_UNIT;
    if (grpo_check_shaping_(how->beta, how->clip, 0)) return GRPO_BAD_SHAPING;
    if (how->clip < 0) return GRPO_BAD_NEGATIVE;
    if (!grpo_are_moderate_(own, 0, n) || !grpo_are_moderate_(other, 0, n)) return GRPO_BAD_LIST;
    for (t = 0; t < n; t++) {
        with = grpo_power_plus_(past, grpo_power_from_(own[t]));
        x = grpo_power_product_(grpo_coplayer_weight_(how, how->inclusive ? with : past, t), grpo_power_from_(other[t]));
        x = grpo_power_plus_(grpo_power_from_(own[t]), grpo_power_product_(grpo_power_from_(how->beta), x));
        credit[t] = grpo_power_value_(grpo_power_product_(x, discount)).hi;
        past = grpo_power_product_(with, grpo_power_from_(how->weight_gamma));
        if (how->discount) discount = grpo_power_product_(discount, grpo_power_from_(how->gamma));
    }
    return GRPO_OK;
}

/* alpha B */
static grpo_dd grpo_project_part_(double A, double alpha, int positive)
{
    return positive && !(A > 0) ? grpo_dd_of_(0) : grpo_two_prod(alpha, A);
}

grpo_status grpo_project_advantage(const double *advantage, int64_t n, const double *basis, int64_t k, double alpha, int positive,
                                   grpo_dd *scratch, double *shaped)
{
    grpo_status st = grpo_check_shaping_(alpha, 0, 0);
    int64_t i, j;
    if (!shaped) return GRPO_NULL_OUTPUT;
    if (n < 0 || k < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!advantage || (k > 0 && (!basis || !scratch)))) return GRPO_NULL_LIST;
    if (st) return st;
    if (!grpo_are_moderate_(advantage, 0, n)) return GRPO_BAD_ADVANTAGE_LIST;
    for (i = 0; i < n * k; i++) if (!(fabs(basis[i]) <= 1e75)) return GRPO_BAD_BASIS;
    for (j = 0; j < k; j++)                                             /* P (A - alpha B) + alpha B */
        for (scratch[j] = grpo_dd_of_(0), i = 0; i < n; i++) {
            const grpo_dd x = grpo_dd_minus_(grpo_dd_of_(advantage[i]), grpo_project_part_(advantage[i], alpha, positive));
            if (basis[j * n + i] != 0) scratch[j] = grpo_dd_add(scratch[j], grpo_dd_mul(x, basis[j * n + i]));
        }
    for (i = 0; i < n; i++) {
        grpo_dd x = grpo_project_part_(advantage[i], alpha, positive);
        for (j = 0; j < k; j++) if (basis[j * n + i] != 0) x = grpo_dd_add(x, grpo_dd_mul(scratch[j], basis[j * n + i]));
        shaped[i] = x.hi;
    }
    return GRPO_OK;
}

/* the mean of the gaps with (R - mean R)^2 <= bound: (n R - sum R)^2 <= bound n^2, exactly; *count of them */
static grpo_dd grpo_kept_mean_(const double *gap, int64_t n, double bound, int64_t *count)
{
    const double size = (double)n;
    grpo_sum sum, kept, off, excess;
    double x[3];
    int64_t k;
    int i, j;
    memset(&sum, 0, sizeof sum);
    memset(&kept, 0, sizeof kept);
    for (k = 0; k < n; k++) grpo_sum_add_(&sum, -gap[k]);
    for (*count = 0, k = 0; k < n; k++) {
        off = sum;
        grpo_sum_add_dd_(&off, grpo_two_prod(size, gap[k]));
        grpo_sum_expand_(&off, x, 3);
        memset(&excess, 0, sizeof excess);
        for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) grpo_sum_add_dd_(&excess, grpo_two_prod(x[i], x[j]));
        grpo_sum_add_dd_(&excess, grpo_two_prod(-bound, size * size));
        if (grpo_sum_value_(&excess) > 0) continue;
        grpo_sum_add_(&kept, gap[k]);
        ++*count;
    }
    return grpo_dd_div(grpo_sum_dd_(&kept), *count ? (double)*count : 1);
}

/* sigmoid x as e^part/(1 + rest) */
static grpo_dd grpo_sigmoid_part_(grpo_dd x) { return x.hi < 0 ? x : grpo_dd_of_(0); }
static grpo_dd grpo_sigmoid_rest_(grpo_dd x) { return grpo_two_sum(1, grpo_exp(x.hi < 0 ? x : grpo_dd_negative(x))); }

grpo_status grpo_dynamic_scale(const double *hardness, const double *gap, int64_t n, double bound, double *factor)
{
    grpo_status st = grpo_check_shaping_(bound, 0, 0);
    grpo_dd hard, mean, kept;
    int64_t k, count;
    if (!factor) return GRPO_NULL_OUTPUT;
    if (!st) st = grpo_check_numbers_(hardness, gap, n);
    if (st) return st;
    kept = grpo_kept_mean_(gap, n, bound, &count);
    if (count == 0) return GRPO_NONE_KEPT;
    hard = grpo_mean_of_(hardness, NULL, n);
    mean = grpo_mean_of_(gap, NULL, n);
    for (k = 0; k < n; k++) {
        const grpo_dd d = grpo_dd_of_(hardness[k]);
        const grpo_dd over = grpo_dd_add(grpo_sigmoid_part_(d), grpo_sigmoid_part_(kept));
        const grpo_dd under = grpo_dd_add(grpo_sigmoid_part_(hard), grpo_sigmoid_part_(mean));
        const grpo_dd rest = grpo_dd_quotient(grpo_dd_product(grpo_sigmoid_rest_(hard), grpo_sigmoid_rest_(mean)),
                                              grpo_dd_product(grpo_sigmoid_rest_(d), grpo_sigmoid_rest_(kept)));
        factor[k] = grpo_times(rest.hi, grpo_exp(grpo_dd_minus_(over, under)));
    }
    return GRPO_OK;
}

/* sum over the children of k of softmax(alpha logp) R */
static grpo_dd grpo_branch_expected_(const int64_t *parent, const double *logp, int64_t n, int64_t k, double alpha, const grpo_branch *node)
{
    grpo_sum sum, whole;
    double top = -HUGE_VAL;
    int64_t c;
    memset(&sum, 0, sizeof sum);
    memset(&whole, 0, sizeof whole);
    for (c = k + 1; c < n; c++) if (parent[c] == k && alpha * logp[c] > top) top = alpha * logp[c];
    for (c = k + 1; c < n; c++) {
        double share;
        if (parent[c] != k) continue;
        share = grpo_exp(grpo_dd_minus_(grpo_two_prod(alpha, logp[c]), grpo_dd_of_(top)));
        grpo_sum_add_(&whole, share);
        if (share > 0) grpo_sum_add_dd_(&sum, grpo_dd_mul(node[c].value, share));
    }
    return grpo_dd_steady_(grpo_dd_quotient(grpo_sum_dd_(&sum), grpo_sum_dd_(&whole)));
}

/* depth, leaves below (a leaf: itself) and R of every node; the depths there are */
static int64_t grpo_branch_values_(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                   double alpha, grpo_branch *node)
{
    int64_t k, depths = 0;
    for (k = 0; k < n; k++) {
        node[k].value = grpo_dd_of_(0);
        node[k].leaves = 0;
        node[k].depth = k == 0 ? 0 : node[parent[k]].depth + 1;
        if (node[k].depth >= depths) depths = node[k].depth + 1;
    }
    for (k = n - 1; k >= 0; k--) {                                      /* value: first the sum over the leaves */
        const int leaf = node[k].leaves == 0;
        if (leaf) { node[k].leaves = 1; node[k].value = grpo_dd_of_(reward[k]); }
        if (k > 0) node[parent[k]].leaves += node[k].leaves;
        if (k > 0 && form == GRPO_BRANCH_LEAVES) node[parent[k]].value = grpo_dd_add(node[parent[k]].value, node[k].value);
        if (!leaf && form == GRPO_BRANCH_PROBABILITY) node[k].value = grpo_branch_expected_(parent, logp, n, k, alpha, node);
    }
    for (k = 0; k < n && form == GRPO_BRANCH_LEAVES; k++)
        node[k].value = grpo_dd_steady_(grpo_dd_div(node[k].value, (double)node[k].leaves));
    return depths;
}

static grpo_status grpo_check_branches_(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form)
{
    int64_t k;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!parent || (form == GRPO_BRANCH_PROBABILITY && !logp))) return GRPO_NULL_LIST;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    for (k = 0; k < n; k++) if (parent[k] >= k || parent[k] < (k == 0 ? -1 : 0)) return GRPO_BAD_TREE;
    for (k = 0; k < n; k++) if (!grpo_in_domain_(reward[k], GRPO_MODERATE_) && !grpo_has_child_(parent, n, k)) return GRPO_BAD_REWARD_LIST;
    if (form == GRPO_BRANCH_PROBABILITY && n > 1 && !grpo_are_moderate_(logp, 1, n)) return GRPO_BAD_LIST;
    return GRPO_OK;
}

grpo_status grpo_branch_advantage(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                  double alpha, grpo_branch *scratch, double *advantage)
{
    grpo_status st = grpo_check_shaping_(alpha, 0, 0);
    int64_t k, depth, depths;
    if (!advantage) return GRPO_NULL_OUTPUT;
    if (form != GRPO_BRANCH_LEAVES && form != GRPO_BRANCH_PROBABILITY) return GRPO_BAD_FORM;
    if (!st) st = grpo_check_branches_(parent, reward, logp, n, form);
    if (st) return st;
    if (n > 0 && !scratch) return GRPO_NULL_LIST;
    depths = grpo_branch_values_(parent, reward, logp, n, form, alpha, scratch);
    for (depth = 0; depth < depths; depth++) {
        grpo_values v;
        grpo_dd mean;
        double s;
        memset(&v, 0, sizeof v);
        for (k = 0; k < n; k++) if (scratch[k].depth == depth) grpo_values_take_(&v, scratch[k].value);
        mean = grpo_dd_div(grpo_sum_dd_(&v.sum), (double)v.count);
        s = sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE));
        for (k = 0; k < n; k++)
            if (scratch[k].depth == depth) advantage[k] = s < 1e-6 ? 0 : grpo_dd_minus_(scratch[k].value, mean).hi / (s + 1e-8);
    }
    return GRPO_OK;
}

static double grpo_collapsed_(double r) { return r == 1 ? 1 : r == 0 ? -1 : 0; }

grpo_status grpo_collapsed_advantage(const grpo_batch *batch, double eps, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_weighting_(eps);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_mean_deviation_of_ x = grpo_reward_spread_(batch, g, GRPO_STD_SAMPLE);
        const int alone = grpo_group_size_(batch, g) == 1, equal = !grpo_rewards_differ_(batch, g);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            double A = alone ? r : grpo_collapsed_(r);
            if (!equal) A = grpo_dd_quotient(grpo_dd_minus_(grpo_dd_of_(r), x.mean), grpo_dd_add(x.deviation, grpo_dd_of_(eps))).hi;
            grpo_put_(advantage, i, A, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_variant_advantage(const double *advantage, const double *difficulty, const double *mean, int64_t n, double k,
                                   double *weighted)
{
    grpo_status st = grpo_check_list_call_(weighted, n);
    int64_t j;
    if (!st) st = grpo_check_entry_list_(advantage, n, -1e150, 1e150);
    if (!st) st = grpo_check_entry_list_(difficulty, n, -1e150, 1e150);
    if (!st) st = grpo_check_entry_list_(mean, n, -1e150, 1e150);
    if (!st) st = grpo_check_parameter_(k);
    if (st) return st;
    for (j = 0; j < n; j++) {
        const grpo_dd x = grpo_dd_mul(grpo_two_diff(difficulty[j], mean[j]), advantage[j] < 0 ? -k : k);
        weighted[j] = grpo_times(advantage[j], grpo_exp(x));
    }
    return GRPO_OK;
}

grpo_status grpo_step_weight(const double *advantage, const double *weight, int64_t n, double *weighted)
{
    grpo_status st = grpo_check_list_call_(weighted, n);
    int64_t k;
    if (!st) st = grpo_check_entry_list_(advantage, n, -1e150, 1e150);
    if (!st) st = grpo_check_entry_list_(weight, n, 0, 1);
    if (st) return st;
    for (k = 0; k < n; k++)
        weighted[k] = grpo_dd_mul(advantage[k] < 0 ? grpo_two_diff(2, weight[k]) : grpo_dd_of_(weight[k]), advantage[k]).hi;
    return GRPO_OK;
}

/* node k, whose children have theirs */
static grpo_tree_state grpo_tree_state_(const int64_t *parent, const double *reward, int64_t n, int64_t k, double gamma,
                                        grpo_tree_advantage_form form, const grpo_tree_state *of)
{
    grpo_tree_state s = { { 0, 0 }, 0, 0 };
    grpo_sum sum;
    int64_t c;
    memset(&sum, 0, sizeof sum);
    for (c = k + 1; c < n; c++) {
        if (parent[c] != k) continue;
        if (form == GRPO_TREE_TD) grpo_sum_add_(&sum, reward[c]);
        grpo_sum_add_dd_(&sum, form == GRPO_TREE_TD ? grpo_dd_mul(of[c].value, gamma) : of[c].value);
        s.children++;
        s.leaves += of[c].leaves;
    }
    if (s.children) s.value = grpo_dd_div(grpo_sum_dd_(&sum), (double)s.children);
    else { s.leaves = 1; s.value = grpo_dd_of_(form == GRPO_TREE_TD ? 0 : reward[k]); }
    return s;
}

static double grpo_tree_difference_(const int64_t *parent, const double *reward, const double *value, int64_t k, double gamma,
                                    const grpo_tree_state *of)
{
    const int64_t up = parent[k];
    const int alone = of[up].children == 1;
    grpo_dd x = grpo_dd_mul(alone ? grpo_dd_of_(value[k]) : of[k].value, gamma);
    x = grpo_dd_add(grpo_dd_of_(reward[k]), x);
    return grpo_over_(grpo_dd_minus_(x, alone ? grpo_dd_of_(value[up]) : of[up].value), (double)of[k].leaves);
}

/* V - mean V of the other children of its parent */
static double grpo_sibling_difference_(const int64_t *parent, int64_t n, int64_t k, const grpo_tree_state *of)
{
    grpo_sum sum;
    int64_t c, others = of[parent[k]].children - 1;
    memset(&sum, 0, sizeof sum);
    for (c = 0; c < n; c++) if (c != k && parent[c] == parent[k]) grpo_sum_add_dd_(&sum, of[c].value);
    return others ? grpo_dd_minus_(of[k].value, grpo_dd_div(grpo_sum_dd_(&sum), (double)others)).hi : of[k].value.hi;
}

static grpo_status grpo_check_tree_(const int64_t *parent, const double *reward, const double *value, int64_t n,
                                    grpo_tree_advantage_form form)
{
    int64_t k;
    if (form != GRPO_TREE_TD && form != GRPO_TREE_SIBLINGS && form != GRPO_TREE_PARENT) return GRPO_BAD_FORM;
    if (n > 0 && !reward) return GRPO_NULL_REWARD_LIST;
    if (n > 0 && (!parent || (form == GRPO_TREE_TD && !value))) return GRPO_NULL_ARGUMENT;
    if (!grpo_are_moderate_(reward, 0, n)) return GRPO_BAD_REWARD_LIST;
    if (form == GRPO_TREE_TD && !grpo_are_moderate_(value, 0, n)) return GRPO_BAD_ENTRY;
    for (k = 0; k < n; k++) if (parent[k] < -1 || parent[k] >= k) return GRPO_BAD_TREE;
    return GRPO_OK;
}

grpo_status grpo_tree_advantage(const int64_t *parent, const double *reward, const double *value, int64_t n, double gamma,
                                grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage)
{
    grpo_status st = grpo_check_list_call_(advantage, n);
    int64_t k;
    if (!st) st = grpo_check_tree_(parent, reward, value, n, form);
    if (!st && n > 0 && !scratch) st = GRPO_NULL_ARGUMENT;
    if (!st) st = grpo_check_parameter_(gamma);
    if (st) return st;
    for (k = n - 1; k >= 0; k--) scratch[k] = grpo_tree_state_(parent, reward, n, k, gamma, form, scratch);
    for (k = 0; k < n; k++) {
        if (parent[k] < 0) advantage[k] = 0;
        else if (form == GRPO_TREE_TD) advantage[k] = grpo_tree_difference_(parent, reward, value, k, gamma, scratch);
        else if (form == GRPO_TREE_SIBLINGS) advantage[k] = grpo_sibling_difference_(parent, n, k, scratch);
        else advantage[k] = grpo_dd_minus_(scratch[k].value, scratch[parent[k]].value).hi;
    }
    return GRPO_OK;
}

/* gain tanh(beta v) */
static grpo_dd grpo_anchored_(const grpo_anchors *a, grpo_dd v)
{
    const grpo_dd x = grpo_dd_mul(v, a->beta);
    double t = tanh(x.hi);
    if (grpo_is_finite(x.hi)) t += (1 - t * t) * x.lo;
    return grpo_two_prod(v.hi < 0 ? a->gain_neg : a->gain_pos, t);
}

/* the distance from the goal */
static grpo_dd grpo_from_goal_(const grpo_anchors *a, double r, grpo_dd mean, double constraints, double n)
{
    grpo_dd goal = grpo_dd_of_(0.5), root = grpo_dd_of_(constraints);
    if (a->form == GRPO_ANCHORS_CODE) {
        if (grpo_dd_less(goal, mean)) goal = mean;
        root = grpo_dd_div(root, n);
    }
    return grpo_dd_mul(grpo_dd_product(grpo_sqrt_twice_(root), grpo_dd_minus_(grpo_dd_of_(r), goal)), 2);
}

static grpo_status grpo_check_anchors_(const grpo_anchors *a)
{
    grpo_status st = grpo_check_parameter_(a->alpha);
    if (!st) st = grpo_check_parameter_(a->beta);
    if (!st) st = grpo_check_parameter_(a->gain_pos);
    if (!st) st = grpo_check_parameter_(a->gain_neg);
    return !st && a->form != GRPO_ANCHORS_PAPER && a->form != GRPO_ANCHORS_CODE ? GRPO_BAD_FORM : st;
}

grpo_status grpo_two_anchors(const grpo_batch *batch, const double *constraints, const grpo_anchors *anchors, grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    int overflow = 0;
    if (st) return st;
    if (!anchors) return GRPO_NULL_ARGUMENT;
    st = grpo_check_anchors_(anchors);
    if (!st) st = grpo_check_entries_(batch, constraints, 1, 1e150);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        const grpo_mean_deviation_of_ x = grpo_reward_spread_(batch, g, GRPO_STD_POPULATION);
        const grpo_dd s = grpo_dd_less(x.deviation, grpo_1e_minus_8_) ? grpo_1e_minus_8_ : x.deviation;
        const double n = (double)grpo_group_size_(batch, g);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            grpo_dd z = grpo_dd_quotient(grpo_dd_minus_(grpo_dd_of_(r), x.mean), s);
            const grpo_dd d = grpo_from_goal_(anchors, r, x.mean, constraints[i], n);
            if (x.deviation.hi == 0) z = grpo_dd_of_(0);
            z = grpo_dd_product(grpo_two_diff(1, anchors->alpha), grpo_anchored_(anchors, z));
            grpo_put_(advantage, i, grpo_dd_add(z, grpo_dd_mul(grpo_anchored_(anchors, d), anchors->alpha)).hi, &overflow);
        }
    }
    return GRPO_OK;
}

static double grpo_calibrated_(const grpo_batch *b, int64_t g, int64_t i, const uint8_t *correct, double temperature, const grpo_dd *mean)
{
    grpo_sum sum;
    int64_t j;
    memset(&sum, 0, sizeof sum);
    for (j = b->group_begin[g]; j < b->group_begin[g + 1]; j++) {
        const grpo_dd ahead = correct[i] ? grpo_dd_minus_(mean[i], mean[j]) : grpo_dd_minus_(mean[j], mean[i]);
        if (!correct[j] == !correct[i] || !grpo_unmasked_(b, j)) continue;
        grpo_sum_add_(&sum, -grpo_logistic_loss(grpo_dd_div(ahead, temperature)).slope);
    }
    return grpo_sum_value_(&sum) / (correct[i] ? temperature : -temperature);
}

grpo_status grpo_pairwise_calibration(const grpo_batch *batch, const uint8_t *correct, double temperature, grpo_dd *scratch,
                                      grpo_real *advantage)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    int overflow = 0;
    if (!st) st = grpo_check_temperature_(temperature);
    if (!st) st = grpo_check_correct_(batch, correct);
    if (!st && batch->n_groups && !scratch) st = GRPO_NULL_ARGUMENT;
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) scratch[i] = grpo_response_mean_(batch, batch->logp, NULL, i);
    for (g = 0; g < batch->n_groups; g++)
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_unmasked_(batch, i) ? grpo_calibrated_(batch, g, i, correct, temperature, scratch) : 0, &overflow);
    return GRPO_OK;
}

/* of one subset, its size members: what each adds to the sums of its size */
static void grpo_add_subset_(const double *x, int64_t n, uint32_t subset, int size, double eps, grpo_dd *sum)
{
    grpo_dd off[20], mean = { 0, 0 }, squares = { 0, 0 };
    double s, first = 0;
    int64_t k;
    int any = 0, equal = 1;
    for (k = 0; k < n; k++) {
        if (!(subset >> k & 1)) continue;
        if (any && x[k] != first) equal = 0;
        if (!any) first = x[k];
        any = 1;
        mean = grpo_dd_add(mean, grpo_dd_of_(x[k]));
    }
    if (equal) return;
    mean = grpo_dd_div(mean, (double)size);
    for (k = 0; k < n; k++) {
        if (!(subset >> k & 1)) continue;
        off[k] = grpo_dd_minus_(grpo_dd_of_(x[k]), mean);
        squares = grpo_dd_add(squares, grpo_two_prod(off[k].hi, off[k].hi));
    }
    s = sqrt(squares.hi / (double)size) + eps;
    for (k = 0; k < n; k++) if (subset >> k & 1) sum[k] = grpo_dd_add(sum[k], grpo_dd_of_(off[k].hi / s));
}

grpo_status grpo_multi_scale_advantage(const double *reward, int64_t n, double eps, double *advantage)
{
    grpo_status st = grpo_check_list_call_(advantage, n);
    double x[20], count;
    grpo_dd sum[21][20], total;
    uint32_t subset, rest;
    int64_t k;
    int e, size;
    if (!st && !reward) st = GRPO_NULL_REWARD_LIST;
    if (!st) st = grpo_check_weighting_(eps);
    if (!st && eps == 0) st = GRPO_NEGATIVE_PARAMETER;
    if (!st && !(n >= 2 && n <= 20)) st = GRPO_BAD_SIZE;
    if (!st && !grpo_are_moderate_(reward, 0, n)) st = GRPO_BAD_REWARD_LIST;
    if (st) return st;
    e = grpo_square_exponent_(ldexp(1, grpo_exponent_of_(reward, n)));
    memset(sum, 0, sizeof sum);
    for (k = 0; k < n; k++) x[k] = ldexp(reward[k], -e);
    for (subset = 3; subset < UINT32_C(1) << n; subset++) {
        for (size = 0, rest = subset; rest; rest &= rest - 1) size++;
        if (size > 1) grpo_add_subset_(x, n, subset, size, ldexp(eps, -e), sum[size]);
    }
    for (k = 0; k < n; k++) {
        total = grpo_dd_of_(0);
        for (count = 1, size = 2; size <= n; size++) {
            count = count * (double)(n - size + 1) / (double)(size - 1);       /* C(n - 1, size - 1) */
            total = grpo_dd_add(total, grpo_dd_div(sum[size][k], count));
        }
        advantage[k] = grpo_over_(total, (double)(n - 1));
    }
    return GRPO_OK;
}

grpo_status grpo_hardest_miss(const grpo_batch *batch, const double *utility, grpo_real *advantage, int64_t *replace)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    int64_t g, i;
    if (!st && !replace) st = GRPO_NULL_OUTPUT;
    if (!st) st = grpo_check_entries_(batch, utility, -1e150, 1e150);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        int64_t hit = batch->group_begin[g], miss = -1, least = hit, misses = 0;
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            advantage[i] = 0;
            if (batch->reward[i] > batch->reward[hit]) hit = i;
            if (utility[i] < utility[least]) least = i;
            if (batch->reward[i] != 0) continue;
            misses++;
            if (miss < 0 || utility[i] > utility[miss]) miss = i;
        }
        replace[g] = misses == grpo_group_size_(batch, g) ? least : -1;
        if (!(batch->reward[hit] > 0) || miss < 0) continue;
        advantage[hit] = 1;
        advantage[miss] = -1;
    }
    return GRPO_OK;
}

/* w = p sum_j p_j (r - r_j), over sum p, of candidate k as e^exponent times the result: of the probabilities of the others the largest is
 * taken out, so that what underflows is nothing beside the rest */
static grpo_dd grpo_candidate_(const double *logp_old, const double *reward, int64_t n, int64_t k, grpo_dd *exponent)
{
    grpo_dd sum = { 0, 0 };
    double top = -HUGE_VAL;
    int64_t j;
    for (j = 0; j < n; j++) if (reward[j] != reward[k] && logp_old[j] > top) top = logp_old[j];
    *exponent = grpo_two_sum(logp_old[k], top);
    for (j = 0; j < n; j++)
        if (reward[j] != reward[k])
            sum = grpo_dd_add(sum, grpo_dd_product(grpo_exp_twice(grpo_two_diff(logp_old[j], top)), grpo_two_diff(reward[k], reward[j])));
    return sum;
}

grpo_status grpo_position_advantage(const double *logp_old, const double *reward, int64_t n, double *advantage)
{
    grpo_status st = grpo_check_list_call_(advantage, n);
    grpo_dd top = { -HUGE_VAL, 0 }, size = { 0, 0 }, w, e;
    int64_t k;
    int pass;
    if (!st && n < 2) st = GRPO_BAD_SIZE;
    if (!st && !reward) st = GRPO_NULL_REWARD_LIST;
    if (!st) st = grpo_check_entry_list_(logp_old, n, -1e150, 1e150);
    if (!st && !grpo_are_moderate_(reward, 0, n)) st = GRPO_BAD_REWARD_LIST;
    if (st) return st;
    for (k = 0; k < n; k++) {
        grpo_candidate_(logp_old, reward, n, k, &e);
        if (grpo_dd_less(top, e)) top = e;
    }
    for (pass = 0; pass < 2; pass++)
        for (k = 0; k < n; k++) {
            w = grpo_candidate_(logp_old, reward, n, k, &e);
            w = w.hi == 0 ? w : grpo_dd_product(w, grpo_exp_twice(grpo_dd_minus_(e, top)));
            if (pass == 0) size = grpo_dd_add(size, w.hi < 0 ? grpo_dd_negative(w) : w);
            else advantage[k] = size.hi > 0 ? grpo_dd_quotient(w, size).hi : 0;
        }
    return GRPO_OK;
}

/* is no turn before number k of its role? */
static int grpo_opens_role_(const int64_t *role, int64_t k)
{
    int64_t j = 0;
    while (role[j] != role[k]) j++;
    return j == k;
}

static grpo_mean_deviation_of_ grpo_role_spread_(const double *reward, const int64_t *role, int64_t n, int64_t id)
{
    grpo_values v;
    double largest = 0;
    int64_t k;
    int e;
    for (k = 0; k < n; k++) if (role[k] == id && fabs(reward[k]) > largest) largest = fabs(reward[k]);
    e = grpo_square_exponent_(largest);
    memset(&v, 0, sizeof v);
    for (k = 0; k < n; k++) if (role[k] == id) grpo_values_take_(&v, grpo_dd_of_(ldexp(reward[k], -e)));
    return grpo_mean_and_deviation_(&v, GRPO_STD_SAMPLE, e);
}

static double grpo_role_advantage_(double r, const grpo_mean_deviation_of_ *of, grpo_role_form form)
{
    grpo_dd x = grpo_dd_minus_(grpo_dd_of_(r), of->mean);
    if (form == GRPO_ROLE_MEAN) return x.hi;
    if (of->deviation.hi == 0) return 0;
    x = grpo_dd_quotient(x, grpo_dd_add(of->deviation, grpo_dd_of_(1e-6)));
    if (form == GRPO_ROLE_MEAN_STD) return x.hi;
    return x.hi < -1 ? -1 : x.hi > 3 ? 3 : x.hi;
}

grpo_status grpo_role_reward(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double *advantage)
{
    grpo_status st = grpo_check_list_call_(advantage, n);
    int64_t k, j;
    if (!st && form != GRPO_ROLE_MEAN && form != GRPO_ROLE_MEAN_STD && form != GRPO_ROLE_CLIPPED) st = GRPO_BAD_FORM;
    if (!st && n > 0 && !reward) st = GRPO_NULL_REWARD_LIST;
    if (!st && n > 0 && !role) st = GRPO_NULL_ARGUMENT;
    if (!st && !grpo_are_moderate_(reward, 0, n)) st = GRPO_BAD_REWARD_LIST;
    if (st) return st;
    for (k = 0; k < n; k++) {
        grpo_mean_deviation_of_ of;
        if (!grpo_opens_role_(role, k)) continue;
        of = grpo_role_spread_(reward, role, n, role[k]);
        for (j = k; j < n; j++) if (role[j] == role[k]) advantage[j] = grpo_role_advantage_(reward[j], &of, form);
    }
    return GRPO_OK;
}

/* ---- distances from a teacher ---- */

/* p of the student, q of the teacher, as e^x/total with x = (z - top)/tau, and log q - log p = x_q - x_p - shift */
typedef struct { const double *z[2]; int64_t n; double tau, beta, top[2], total[2], shift; int infinite; } grpo_two_rows_;

static grpo_dd grpo_rows_exponent_(const grpo_two_rows_ *r, int row, int64_t v)
{
    return grpo_dd_div(grpo_two_diff(r->z[row][v], r->top[row]), r->tau);
}

static grpo_dd grpo_rows_apart_(const grpo_two_rows_ *r, int64_t v)
{
    return grpo_dd_div(grpo_dd_minus_(grpo_two_diff(r->z[1][v], r->top[1]), grpo_two_diff(r->z[0][v], r->top[0])), r->tau);
}

/* shift = log(total of q/total of p), by the difference of the two where they are near each other: exactly 0 where all are equal */
static void grpo_survey_rows_(grpo_two_rows_ *r)
{
    grpo_sum total[2], difference;
    int64_t v;
    int k;
    double D;
    for (k = 0; k < 2; k++)
        for (r->top[k] = -HUGE_VAL, v = 0; v < r->n; v++) if (r->z[k][v] > r->top[k]) r->top[k] = r->z[k][v];
    memset(total, 0, sizeof total);
    memset(&difference, 0, sizeof difference);
    for (r->infinite = 0, v = 0; v < r->n; v++) {
        const double p = grpo_exp(grpo_rows_exponent_(r, 0, v)), q = grpo_exp(grpo_rows_exponent_(r, 1, v));
        const grpo_dd d = grpo_rows_apart_(r, v);
        grpo_sum_add_(&total[0], p);
        grpo_sum_add_(&total[1], q);
        if (d.hi > 0) grpo_sum_add_(&difference, -grpo_times(q, grpo_exp_minus_one(grpo_dd_negative(d))));
        else grpo_sum_add_(&difference, grpo_times(p, grpo_exp_minus_one(d)));
        if (r->beta == 0) r->infinite |= r->z[0][v] == -HUGE_VAL && r->z[1][v] > -HUGE_VAL;
        if (r->beta == 1) r->infinite |= r->z[1][v] == -HUGE_VAL && r->z[0][v] > -HUGE_VAL;
    }
    for (k = 0; k < 2; k++) r->total[k] = grpo_sum_value_(&total[k]);
    D = grpo_sum_value_(&difference) / r->total[0];
    r->shift = fabs(D) < 0.5 ? log1p(D) : log(r->total[1] / r->total[0]);
}

/* p, q and d = log q - log p of token v; both banned: p = q = d = 0 */
typedef struct { double p, q; grpo_dd d; } grpo_rows_at_;

static grpo_rows_at_ grpo_rows_look_(const grpo_two_rows_ *r, int64_t v)
{
    grpo_rows_at_ x;
    x.p = grpo_exp(grpo_rows_exponent_(r, 0, v)) / r->total[0];
    x.q = grpo_exp(grpo_rows_exponent_(r, 1, v)) / r->total[1];
    x.d = grpo_dd_minus_(grpo_rows_apart_(r, v), grpo_dd_of_(r->shift));
    return x;
}

/* a (log a - log b) - a + b >= 0, d = log a - log b: the same sum as without the last two, and what d is off by hardly counts */
static double grpo_kl_part_(double a, double b, grpo_dd d)
{
    if (d.hi > -30 && d.hi < 30) return a * grpo_exp_minus_linear(grpo_dd_negative(d));
    return grpo_times(a, d.hi) - a + b;
}

/* log(rest + w e^x), rest = 1 - w */
static double grpo_mixture_log_(grpo_dd x, double w, double rest)
{
    const double e = w * grpo_exp_minus_one(x);
    if (e < -0.5) return log(rest + w * grpo_exp(x));
    return grpo_is_finite(e) ? log1p(e) : x.hi + log(w);
}

/* the part of v in the value: beta q log(q/M) + (1 - beta) p log(p/M), or of a KL */
static double grpo_divergence_part_(const grpo_two_rows_ *r, int64_t v)
{
    const grpo_rows_at_ x = grpo_rows_look_(r, v);
    const double beta = r->beta, rest = 1 - beta;
    if (beta == 0) return grpo_kl_part_(x.q, x.p, x.d);
    if (beta == 1) return grpo_kl_part_(x.p, x.q, grpo_dd_negative(x.d));
    return -grpo_times(beta * x.q, grpo_mixture_log_(grpo_dd_negative(x.d), rest, beta))
        - grpo_times(rest * x.p, grpo_mixture_log_(x.d, beta, rest));
}

/* d value/d p_v for beta > 0, but for a constant */
static double grpo_divergence_slope_(const grpo_two_rows_ *r, const grpo_rows_at_ *x)
{
    return r->beta == 1 ? -x->d.hi : -(1 - r->beta) * grpo_mixture_log_(x->d, r->beta, 1 - r->beta);
}

/* p (g - sum p g)/tau; of beta 0 p g = -q */
static double grpo_divergence_gradient_(const grpo_two_rows_ *r, int64_t v, double mean)
{
    const grpo_rows_at_ x = grpo_rows_look_(r, v);
    double g;
    if (r->z[0][v] == -HUGE_VAL) return 0;
    if (r->beta == 0) return (x.p - x.q) / r->tau;
    if (r->infinite) return r->z[1][v] == -HUGE_VAL ? HUGE_VAL : -HUGE_VAL;
    g = grpo_divergence_slope_(r, &x) - mean;
    return r->tau < 1 ? grpo_times(x.p / r->tau, g) : grpo_times(x.p, g) / r->tau;
}

static grpo_status grpo_check_row_(const double *z, int64_t n)
{
    int64_t v, finite = 0;
    for (v = 0; v < n; v++) {
        if (z[v] == -HUGE_VAL) continue;
        if (!grpo_in_domain_(z[v], GRPO_MODERATE_)) return GRPO_BAD_DISTRIBUTION;
        finite++;
    }
    return finite ? GRPO_OK : GRPO_BAD_DISTRIBUTION;
}

grpo_status grpo_divergence(const double *student, const double *teacher, int64_t n, double temperature, double beta, double *value,
                            double *dstudent)
{
    grpo_status st = grpo_check_temperature_(temperature);
    grpo_two_rows_ r;
    grpo_sum sum, slopes;
    double mean;
    int64_t v;
    if (!value) return GRPO_NULL_OUTPUT;
    if (n < 1) return n < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!student || !teacher) return GRPO_NULL_LIST;
    if (!st && !grpo_is_unit_(beta)) st = GRPO_BAD_UNIT;
    if (!st) st = grpo_check_row_(student, n);
    if (!st) st = grpo_check_row_(teacher, n);
    if (st) return st;
    r.z[0] = student; r.z[1] = teacher; r.n = n; r.tau = temperature; r.beta = beta;
    grpo_survey_rows_(&r);
    memset(&sum, 0, sizeof sum);
    memset(&slopes, 0, sizeof slopes);
    for (v = 0; v < n && !r.infinite; v++) {
        const grpo_rows_at_ x = grpo_rows_look_(&r, v);
        grpo_sum_add_(&sum, grpo_divergence_part_(&r, v));
        if (beta > 0 && dstudent) grpo_sum_add_(&slopes, grpo_times(x.p, grpo_divergence_slope_(&r, &x)));
    }
    mean = grpo_sum_value_(&slopes);
    *value = r.infinite ? HUGE_VAL : grpo_sum_total_(&sum);
    for (v = 0; v < n && dstudent; v++) dstudent[v] = grpo_divergence_gradient_(&r, v, mean);
    return GRPO_OK;
}

/* x_k - log sum e^x = (x_k - top) - log(1 + sum over the others of e^(x - top)) */
static grpo_dd grpo_log_share_(const double *x, int64_t n, int64_t k)
{
    grpo_sum others;
    int64_t j, top = 0;
    memset(&others, 0, sizeof others);
    for (j = 1; j < n; j++) if (x[j] > x[top]) top = j;
    for (j = 0; j < n; j++) if (j != top) grpo_sum_add_(&others, grpo_exp(grpo_two_diff(x[j], x[top])));
    return grpo_dd_minus_(grpo_two_diff(x[k], x[top]), grpo_dd_of_(log1p(grpo_sum_value_(&others))));
}

grpo_status grpo_set_gap(const double *student, const double *teacher, int64_t n, int64_t target, double *gap)
{
    grpo_status st;
    if (!gap) return GRPO_NULL_OUTPUT;
    st = grpo_check_numbers_(student, teacher, n);
    if (st) return st;
    if (target < 0 || target >= n) return GRPO_BAD_SET_TARGET;
    *gap = grpo_dd_minus_(grpo_log_share_(teacher, n, target), grpo_log_share_(student, n, target)).hi;
    return GRPO_OK;
}

/* ---- trackers, samplers, allocators ------------------------------------------------------------------------------------------------ */

/* ---- trackers ---- */

/* over the mask of sequences begin .. end - 1: the mean of logp - logp_old, or of its magnitude; 0 without tokens */
static grpo_dd grpo_mean_change_(const grpo_batch *b, int64_t begin, int64_t end, int magnitude)
{
    grpo_sum sum;
    grpo_dd d;
    int64_t i, t, n = 0;
    memset(&sum, 0, sizeof sum);
    for (i = begin; i < end; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (b->mask && !b->mask[t]) continue;
            d = grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]);
            grpo_sum_add_dd_(&sum, magnitude && d.hi < 0 ? grpo_dd_negative(d) : d);
            n++;
        }
    return n ? grpo_dd_div(grpo_sum_dd_(&sum), (double)n) : grpo_dd_of_(0);
}

grpo_status grpo_decay_by_drift(const grpo_batch *batch, double half_life, double low, double high, double *decay)
{
    const grpo_dd minus_ln2 = { -6.93147180559945286e-01, -2.31904681384629956e-17 };
    grpo_status st = grpo_check_call_(batch, decay);
    grpo_dd x;
    double rho;
    if (st) return st;
    if (!(half_life > 0 && grpo_is_finite(half_life)) || !grpo_is_finite(low) || !grpo_is_finite(high) || low > high) return GRPO_BAD_DECAY;
    st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_);
    if (st) return st;
    x = grpo_mean_change_(batch, grpo_first_sequence_(batch), grpo_end_sequence_(batch), 1);
    rho = grpo_exp(grpo_dd_product(grpo_dd_div(x, half_life), minus_ln2));
    *decay = rho < low ? low : rho > high ? high : rho;
    return GRPO_OK;
}

grpo_status grpo_quantile_track(const double *quantile, const double *level, int64_t n, double rate, const double *observed, int64_t m,
                                double *tracked)
{
    grpo_dd share;
    int64_t k, j, below;
    if (!tracked) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if ((n > 0 && (!quantile || !level)) || (m > 0 && !observed)) return GRPO_NULL_LIST;
    if (m < 1 || !grpo_are_moderate_(quantile, 0, n) || !grpo_are_moderate_(level, 0, n)) return GRPO_BAD_TRACK;
    if (!grpo_are_moderate_(&rate, 0, 1) || !grpo_are_moderate_(observed, 0, m)) return GRPO_BAD_TRACK;
    for (k = 0; k < n; k++) {
        for (below = 0, j = 0; j < m; j++) below += observed[j] < quantile[k];
        share = grpo_dd_div(grpo_dd_of_((double)below), (double)m);
        tracked[k] = grpo_dd_add(grpo_dd_of_(quantile[k]), grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_(level[k]), share), rate)).hi;
    }
    return GRPO_OK;
}

static grpo_dd grpo_dd_between_(grpo_dd x, grpo_dd low, grpo_dd high)
{
    return grpo_dd_less(x, low) ? low : grpo_dd_less(high, x) ? high : x;
}

grpo_status grpo_turn_factor(const grpo_batch *batch, const double *factor, double low, double high, double *updated)
{
    const grpo_dd least = grpo_two_diff(1, low), most = grpo_two_sum(1, high);
    grpo_status st = grpo_check_call_(batch, updated);
    grpo_dd g;
    int64_t i;
    if (st) return st;
    if (batch->n_groups && !factor) return GRPO_NULL_LIST;
    if (!(low >= 0 && low <= 1 && high >= 0 && high <= 1e150)) return GRPO_BAD_FACTOR;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        if (!(factor[i] >= 0 && factor[i] <= 1e150)) return GRPO_BAD_FACTOR;
    st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        g = grpo_dd_between_(grpo_mean_change_(batch, i, i + 1, 0), grpo_dd_of_(-10), grpo_dd_of_(10));
        g = grpo_dd_mul(grpo_dd_between_(grpo_exp_twice(g), least, most), factor[i]);
        updated[i] = grpo_dd_between_(g, least, most).hi;
    }
    return GRPO_OK;
}

/* ---- samplers and allocators ---- */

/* what the response after the N-th adds: p^2 q^3 (p^(N-1) + q^(N-1)), q = 1 - p; 0 < p < 1 */
static grpo_power_ grpo_gain_of_response_(double p, int64_t N)
{
    const grpo_power_ P = grpo_power_of_(grpo_dd_of_(p), 0), Q = grpo_power_of_(grpo_two_diff(1, p), 0);
    const grpo_power_ powers = grpo_power_sum_(grpo_power_raised_(P, N - 1), grpo_power_raised_(Q, N - 1));
    return grpo_power_product_(grpo_power_product_(grpo_power_raised_(P, 2), grpo_power_raised_(Q, 3)), powers);
}

/* its logarithm, to 1e-12 of it */
static double grpo_log_gain_(double p, int64_t N)
{
    const double x = log(p), y = log1p(-p), most = x > y ? x : y, least = x > y ? y : x, n = (double)(N - 1);
    return 2 * x + 3 * y + n * most + log1p(exp(n * (least - most)));
}

/* the prompt to which one more response adds most, -1: none takes one */
static int64_t grpo_neediest_(const double *p, const int64_t *count, int64_t n, int64_t high)
{
    double most = 0, x, near;
    int64_t i, best = -1;
    for (i = 0; i < n; i++) {
        if (!(p[i] > 0 && p[i] < 1) || count[i] >= high) continue;
        x = grpo_log_gain_(p[i], count[i]);
        near = 1e-10 * (1 + fabs(x));
        if (best >= 0 && x < most - near) continue;
        if (best >= 0 && x <= most + near
            && !grpo_power_less_(grpo_gain_of_response_(p[best], count[best]), grpo_gain_of_response_(p[i], count[i]))) continue;
        best = i;
        most = x;
    }
    return best;
}

/* are all in [0, 1]? */
static int grpo_are_probabilities_(const double *p, int64_t n)
{
    int64_t k;
    for (k = 0; k < n; k++) if (!(p[k] >= 0 && p[k] <= 1)) return 0;
    return 1;
}

grpo_status grpo_allocate(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t *count)
{
    int64_t k, left, best;
    if (!count) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !p) return GRPO_NULL_LIST;
    if (low < 1 || high < low || total < 0 || (n > 0 && total / n < low)) return GRPO_BAD_ALLOCATION;
    if (!grpo_are_probabilities_(p, n)) return GRPO_BAD_PROBABILITY;
    for (k = 0; k < n; k++) count[k] = low;
    for (left = total - n * low; left > 0; left--) {
        best = grpo_neediest_(p, count, n, high);
        if (best < 0) break;
        count[best]++;
    }
    return GRPO_OK;
}

/* the sign of a - b, or of what they stand for */
typedef int grpo_compare_(double a, double b);

static int grpo_compare_numbers_(double a, double b) { return (a > b) - (a < b); }

/* a (1 - a)^2 - b (1 - b)^2 = (a - b)(1 - 2a - 2b + a^2 + ab + b^2) */
static int grpo_compare_information_(double a, double b)
{
    grpo_sum s;
    memset(&s, 0, sizeof s);
    grpo_sum_add_(&s, 1);
    grpo_sum_add_(&s, -2 * a);
    grpo_sum_add_(&s, -2 * b);
    grpo_sum_add_dd_(&s, grpo_two_prod(a, a));
    grpo_sum_add_dd_(&s, grpo_two_prod(a, b));
    grpo_sum_add_dd_(&s, grpo_two_prod(b, b));
    return grpo_compare_numbers_(a, b) * grpo_compare_numbers_(grpo_sum_value_(&s), 0);
}

/* is x[i] before (< 0) x[j] in descending order, the lower index first of equal ones? */
static int grpo_place_of_(const double *x, grpo_compare_ *compare, int64_t i, int64_t j)
{
    const int c = compare(x[j], x[i]);
    return c ? c : (i > j) - (i < j);
}

/* the first (direction 1) or last (-1) in that order of those after (before) `last`, of all where that is -1 */
static int64_t grpo_next_place_(const double *x, int64_t n, grpo_compare_ *compare, int64_t last, int direction)
{
    int64_t i, best = -1;
    for (i = 0; i < n; i++) {
        if (last >= 0 && direction * grpo_place_of_(x, compare, i, last) <= 0) continue;
        if (best < 0 || direction * grpo_place_of_(x, compare, i, best) < 0) best = i;
    }
    return best;
}

grpo_status grpo_value_information(const double *draw, int64_t n, int64_t count, int64_t *index)
{
    int64_t k, last = -1;
    if (!index) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !draw) return GRPO_NULL_LIST;
    if (count < 0 || count > n) return GRPO_BAD_CHOICE_COUNT;
    if (!grpo_are_probabilities_(draw, n)) return GRPO_BAD_PROBABILITY;
    for (k = 0; k < count; k++) index[k] = last = grpo_next_place_(draw, n, grpo_compare_information_, last, 1);
    return GRPO_OK;
}

grpo_status grpo_visit_value(const double *p, const double *diversity, int64_t n, double alpha, double beta, double *weight)
{
    grpo_dd v;
    int64_t k;
    if (!weight) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!p || !diversity)) return GRPO_NULL_LIST;
    if (!grpo_are_probabilities_(p, n)) return GRPO_BAD_PROBABILITY;
    if (!grpo_are_moderate_(diversity, 0, n) || !grpo_in_domain_(alpha, GRPO_MODERATE_) || !grpo_in_domain_(beta, GRPO_MODERATE_))
        return GRPO_BAD_VISIT;
    for (k = 0; k < n; k++) {
        v = grpo_dd_mul(grpo_dd_mul(grpo_two_diff(1, p[k]), p[k]), alpha);
        weight[k] = grpo_dd_add(v, grpo_two_prod(beta, diversity[k])).hi;
    }
    return GRPO_OK;
}

/* count of the first and the rest of the last, for the largest n sum x^2 - (sum x)^2; index holds the last `count` in order */
static int64_t grpo_best_prefix_(const double *advantage, int64_t n, int64_t count, const int64_t *index)
{
    const int e = -grpo_exponent_of_(advantage, n);
    grpo_sum sum, squares, acc;
    grpo_dd best = { 0, 0 }, spread, x;
    int64_t k, top = -1, prefix = 0;
    memset(&sum, 0, sizeof sum);
    memset(&squares, 0, sizeof squares);
    for (k = -count; k <= count; k++) {                                 /* first fill with the last ones, then exchange them */
        const int64_t in = k < 0 ? index[k + count] : k > 0 ? (top = grpo_next_place_(advantage, n, grpo_compare_numbers_, top, 1)) : -1;
        if (in >= 0) {
            x = grpo_dd_of_(ldexp(advantage[in], e));
            grpo_sum_add_(&sum, x.hi);
            grpo_sum_add_square_(&squares, 1, x);
        }
        if (k > 0) {
            x = grpo_dd_of_(ldexp(advantage[index[k - 1]], e));
            grpo_sum_add_(&sum, -x.hi);
            grpo_sum_add_square_(&squares, -1, x);
        }
        if (k < 0) continue;
        memset(&acc, 0, sizeof acc);
        grpo_covariance_add_(&acc, (double)count, &squares, &sum, &sum);
        spread = grpo_sum_dd_(&acc);
        if (k == 0 || grpo_dd_less(best, spread)) { best = spread; prefix = k; }
    }
    return prefix;
}

grpo_status grpo_downsample_variance(const double *advantage, int64_t n, int64_t count, int64_t *index)
{
    int64_t k, last = -1, prefix;
    if (!index) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !advantage) return GRPO_NULL_LIST;
    if (count < 0 || count > n) return GRPO_BAD_CHOICE_COUNT;
    if (!grpo_are_moderate_(advantage, 0, n)) return GRPO_BAD_ADVANTAGE_LIST;
    for (k = count - 1; k >= 0; k--) index[k] = last = grpo_next_place_(advantage, n, grpo_compare_numbers_, last, -1);
    prefix = grpo_best_prefix_(advantage, n, count, index);
    for (last = -1, k = 0; k < prefix; k++) index[k] = last = grpo_next_place_(advantage, n, grpo_compare_numbers_, last, 1);
    return GRPO_OK;
}

grpo_status grpo_pad_valid(const grpo_batch *batch, const uint8_t *valid, int64_t *index, int64_t *count)
{
    grpo_status st = grpo_check_call_(batch, index);
    int64_t g, i, begin, end, k, first, n = 0;
    if (st) return st;
    if (!count) return GRPO_NULL_OUTPUT;
    if (batch->n_groups && !valid) return GRPO_NULL_LIST;
    for (g = 0; g < batch->n_groups; g++) {
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (first = n, i = begin; i < end; i++) if (valid[i]) index[n++] = i;
        k = n - first;
        if (2 * k > end - begin) for (i = first; n - first < end - begin; i++) index[n++] = index[i];
        else n = first;
    }
    *count = n;
    return GRPO_OK;
}

grpo_status grpo_cluster_probability(const double *rate, const double *probability, const double *success, int64_t n, double alpha,
                                     double *new_rate, double *new_probability)
{
    grpo_sum rates, total;
    grpo_dd all, divisor;
    int64_t k;
    if (!new_rate || !new_probability) return GRPO_NULL_OUTPUT;
    if (n < 1) return n < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!rate || !probability || !success) return GRPO_NULL_LIST;
    if (!grpo_is_unit_(alpha)) return GRPO_BAD_UNIT;
    memset(&rates, 0, sizeof rates);
    memset(&total, 0, sizeof total);
    for (k = 0; k < n; k++) {
        if (!grpo_is_unit_(rate[k]) || !(success[k] == -1 || grpo_is_unit_(success[k]))) return GRPO_BAD_UNIT;
        if (!(probability[k] >= 0 && probability[k] <= 1e150)) return GRPO_BAD_WEIGHT;
        grpo_sum_add_(&rates, success[k] >= 0 ? success[k] : rate[k]);
        grpo_sum_add_(&total, probability[k]);
    }
    all = grpo_sum_dd_(&rates);
    divisor = grpo_sum_dd_(&total);
    if (!(divisor.hi > 0)) return GRPO_BAD_WEIGHT;
    divisor = grpo_dd_add(grpo_dd_product(divisor, grpo_two_diff(1, alpha)), grpo_dd_of_(alpha));
    for (k = 0; k < n; k++) {
        const grpo_dd r = grpo_dd_of_(success[k] >= 0 ? success[k] : rate[k]);
        const grpo_dd share = all.hi > 0 ? grpo_dd_quotient(r, all) : grpo_dd_div(grpo_dd_of_(1), (double)n);
        const grpo_dd p = grpo_dd_add(grpo_dd_mul(grpo_two_diff(1, alpha), probability[k]), grpo_dd_mul(share, alpha));
        new_rate[k] = r.hi;
        new_probability[k] = grpo_dd_quotient(p, divisor).hi;
    }
    return GRPO_OK;
}

grpo_status grpo_explore_weight(const double *value, int64_t n, double least, double *weight)
{
    int64_t k;
    if (!weight) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !value) return GRPO_NULL_LIST;
    if (!(least >= 0 && least <= 1e150)) return GRPO_BAD_LEAST;
    for (k = 0; k < n; k++) if (!grpo_is_unit_(value[k])) return GRPO_BAD_UNIT;
    for (k = 0; k < n; k++) weight[k] = sqrt(value[k] * (1 - value[k])) + least;
    return GRPO_OK;
}

grpo_status grpo_hint_level(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t max,
                            int64_t *new_level)
{
    int64_t k, next;
    if (!new_level) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!level || !success)) return GRPO_NULL_LIST;
    if (!grpo_is_finite(low) || !grpo_is_finite(high) || low > high || max < 0) return GRPO_BAD_LEVELS;
    for (k = 0; k < n; k++) if (level[k] < 0) return GRPO_BAD_LEVELS;
    for (k = 0; k < n; k++) if (!grpo_is_unit_(success[k])) return GRPO_BAD_UNIT;
    for (k = 0; k < n; k++) {
        next = level[k];
        if (success[k] < low) next = next < max ? next + 1 : max;
        else if (success[k] > high) next = next > 0 ? next - 1 : 0;
        new_level[k] = next;
    }
    return GRPO_OK;
}

/* ---- what is kept ---- */

/* (n sum r^2 - (sum r)^2) >= (n least)^2, in units of 2^-e */
static int grpo_spreads_(const grpo_batch *b, int64_t g, double least)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    const double n = (double)(end - begin);
    double largest = least;
    grpo_values v;
    grpo_sum acc;
    int64_t i;
    int e;
    for (i = begin; i < end; i++) if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    frexp(largest, &e);
    memset(&v, 0, sizeof v);
    memset(&acc, 0, sizeof acc);
    for (i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -e)));
    grpo_covariance_add_(&acc, n, &v.squares, &v.sum, &v.sum);
    grpo_sum_add_square_(&acc, -1, grpo_two_prod(n, ldexp(least, -e)));
    return grpo_sum_value_(&acc) >= 0;
}

grpo_status grpo_spread_keep(const grpo_batch *batch, double least, uint8_t *keep)
{
    grpo_status st = grpo_check_call_(batch, keep);
    int64_t g;
    if (st) return st;
    if (!(least >= 0 && least <= 1e150)) return GRPO_BAD_LEAST;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) keep[g] = grpo_spreads_(batch, g, least) ? 1 : 0;
    return GRPO_OK;
}

grpo_status grpo_advantage_keep(const double *advantage, int64_t n, double least, int64_t multiple, int positive, uint8_t *keep)
{
    int64_t k, best, kept = 0;
    if (!keep) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && !advantage) return GRPO_NULL_LIST;
    if (!(least >= 0 && least <= 1e150)) return GRPO_BAD_LEAST;
    if (multiple < 0) return GRPO_BAD_MULTIPLE;
    if (!grpo_are_moderate_(advantage, 0, n)) return GRPO_BAD_ADVANTAGE_LIST;
    for (k = 0; k < n; k++) {
        keep[k] = fabs(advantage[k]) >= least && (!positive || advantage[k] > 0) ? 1 : 0;
        kept += keep[k];
    }
    while (multiple > 1 && kept % multiple != 0) {
        for (best = -1, k = 0; k < n; k++) {
            if (keep[k] || (positive && !(advantage[k] > 0))) continue;
            if (best < 0 || fabs(advantage[k]) > fabs(advantage[best])) best = k;
        }
        if (best < 0) break;
        keep[best] = 1;
        kept++;
    }
    return GRPO_OK;
}

grpo_status grpo_probability_select(const grpo_batch *batch, double probability, uint8_t *selected)
{
    grpo_status st = grpo_check_call_(batch, selected);
    grpo_dd bound = { -HUGE_VAL, 0 };
    grpo_index_ at;
    int64_t t;
    if (st) return st;
    if (!grpo_are_probabilities_(&probability, 1)) return GRPO_BAD_PROBABILITY;
    st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    if (probability > 1e-290) bound = grpo_log_twice(probability);
    else if (probability > 0) bound.hi = log(probability);
    grpo_clear_tokens_(batch, selected);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        selected[t] = grpo_dd_less(grpo_dd_of_((double)batch->logp_old[t]), bound) ? 1 : 0;
    return GRPO_OK;
}

static int64_t grpo_better_(int64_t x, int64_t y, int least) { return (x < y) == least ? x : y; }

/* row i of the table of two sequences from the one before, at j the first j of b: the least edits from one to the other, or the longest
 * common subsequence */
static void grpo_distance_row_(int64_t id, const int64_t *b, int64_t n, int edits, const int64_t *before, int64_t *row)
{
    int64_t j;
    for (j = 1; j <= n; j++) {
        const int64_t straight = before[j - 1] + (b[j - 1] == id ? !edits : edits);
        row[j] = grpo_better_(straight, grpo_better_(before[j], row[j - 1], edits) + edits, edits);
    }
}

static double grpo_table_(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, int edits, int64_t *scratch)
{
    int64_t *before = scratch, *row = scratch + n_b + 1, *swap, i, j;
    for (j = 0; j <= n_b; j++) before[j] = edits ? j : 0;
    for (i = 0; i < n_a; i++) {
        row[0] = edits ? i + 1 : 0;
        grpo_distance_row_(a[i], b, n_b, edits, before, row);
        swap = before; before = row; row = swap;
    }
    return (double)before[n_b];
}

/* of the suffixes of a the longest that is somewhere in b */
static int64_t grpo_common_suffix_(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b)
{
    int64_t end, k, most = 0;
    for (end = n_b; end > most; end--) {
        for (k = 0; k < end && k < n_a && a[n_a - 1 - k] == b[end - 1 - k]; k++) { }
        if (k > most) most = k;
    }
    return most;
}

grpo_status grpo_sequence_distance(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form form, int64_t *scratch,
                                   double *distance)
{
    const double longer = (double)(n_a > n_b ? n_a : n_b);
    int64_t there, back;
    if (!distance) return GRPO_NULL_OUTPUT;
    if (form != GRPO_DISTANCE_EDIT && form != GRPO_DISTANCE_SUFFIX && form != GRPO_DISTANCE_ROUGE_L) return GRPO_BAD_FORM;
    if (n_a < 1 || n_b < 1) return GRPO_TOO_FEW;
    if (!a || !b || (!scratch && form != GRPO_DISTANCE_SUFFIX)) return GRPO_NULL_ARGUMENT;
    if (form == GRPO_DISTANCE_EDIT) *distance = grpo_table_(a, n_a, b, n_b, 1, scratch) / longer;
    if (form == GRPO_DISTANCE_ROUGE_L) *distance = 2 * grpo_table_(a, n_a, b, n_b, 0, scratch) / ((double)n_a + (double)n_b);
    if (form != GRPO_DISTANCE_SUFFIX) return GRPO_OK;
    there = grpo_common_suffix_(a, n_a, b, n_b);
    back = grpo_common_suffix_(b, n_b, a, n_a);
    *distance = (double)(there > back ? there : back) / longer;
    return GRPO_OK;
}

/* ---- statistics of a group or the batch ---- */

static grpo_dd grpo_reward_from_(const grpo_batch *b, int64_t i, const double *centre)     /* r, or |r - centre| */
{
    const grpo_dd d = grpo_two_diff((double)b->reward[i], centre ? *centre : 0);
    return centre && d.hi < 0 ? grpo_dd_negative(d) : d;
}

/* number floor((n + 1)/2) of the n in ascending order */
static grpo_dd grpo_lower_median_(const grpo_batch *b, int64_t g, const double *centre)
{
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], place = (end - begin - 1) / 2;
    int64_t i, j, below, same;
    grpo_dd x = { 0, 0 }, y;
    for (i = begin; i < end; i++) {
        x = grpo_reward_from_(b, i, centre);
        for (below = same = 0, j = begin; j < end; j++) {
            y = grpo_reward_from_(b, j, centre);
            below += grpo_dd_less(y, x);
            same += grpo_dd_same_(y, x);
        }
        if (below <= place && place < below + same) break;
    }
    return x;
}

grpo_status grpo_median_advantage(const grpo_batch *batch, double eps, double *advantage, int64_t *pivot)
{
    grpo_status st = grpo_check_call_(batch, advantage);
    grpo_dd d, scale;
    double median;
    int64_t g, i;
    if (st) return st;
    if (!pivot) return GRPO_NULL_OUTPUT;
    if (!(eps >= 0 && eps <= 1e150)) return GRPO_BAD_LEAST;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        median = grpo_lower_median_(batch, g, NULL).hi;
        scale = grpo_dd_add(grpo_lower_median_(batch, g, &median), grpo_dd_of_(eps));
        for (pivot[g] = -1, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            d = grpo_two_diff((double)batch->reward[i], median);
            if (d.hi == 0 && pivot[g] < 0) pivot[g] = i;
            if (d.hi == 0) advantage[i] = 0;
            else advantage[i] = scale.hi > 0 ? grpo_dd_quotient(d, scale).hi : d.hi > 0 ? HUGE_VAL : -HUGE_VAL;
        }
    }
    return GRPO_OK;
}

grpo_status grpo_mix_advantages(const double *x, const double *y, int64_t n, double a, double b, double *mixed)
{
    grpo_sum sum;
    int64_t k;
    if (!mixed) return GRPO_NULL_OUTPUT;
    if (n < 0) return GRPO_BAD_COUNT;
    if (n > 0 && (!x || !y)) return GRPO_NULL_LIST;
    if (!grpo_are_moderate_(x, 0, n) || !grpo_are_moderate_(y, 0, n)) return GRPO_BAD_ADVANTAGE_LIST;
    if (!grpo_are_moderate_(&a, 0, 1) || !grpo_are_moderate_(&b, 0, 1)) return GRPO_BAD_ADVANTAGE_LIST;
    for (k = 0; k < n; k++) {
        memset(&sum, 0, sizeof sum);
        grpo_sum_add_dd_(&sum, grpo_two_prod(a, x[k]));
        grpo_sum_add_dd_(&sum, grpo_two_prod(b, y[k]));
        mixed[k] = grpo_sum_value_(&sum);
    }
    return GRPO_OK;
}

/* the lengths of a group: their number, sum and number times deviation; the exponents of the softmax, their largest, its sums */
typedef struct { double n, r, lambda; grpo_dd sum, deviation, most, total, tilt; } grpo_preference_;

/* g = h^lambda; slope: d g/d lambda = g log h */
static grpo_dd grpo_preferred_(const grpo_preference_ *p, double length, grpo_dd *slope)
{
    const grpo_dd least = { 1e-6, 4.525188817411374e-23 };
    grpo_dd h = grpo_dd_of_(1), log_h, g;
    if (p->deviation.hi > 0)
        h = grpo_dd_add(h, grpo_dd_mul(grpo_dd_quotient(grpo_dd_minus_(grpo_two_prod(p->n, length), p->sum), p->deviation), p->r));
    if (grpo_dd_less(h, least)) h = least;
    log_h = grpo_dd_add(grpo_log_twice(h.hi), grpo_dd_of_(h.lo / h.hi));
    g = grpo_exp_twice(grpo_dd_mul(log_h, p->lambda));
    *slope = grpo_dd_product(g, log_h);
    return g;
}

/* 0: an exponent is too large */
static int grpo_survey_lengths_(const double *length, int64_t begin, int64_t end, grpo_preference_ *p)
{
    grpo_values v;
    grpo_sum acc;
    grpo_dd g, e, slope;
    int64_t i;
    memset(&v, 0, sizeof v);
    memset(&acc, 0, sizeof acc);
    for (i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(length[i]));
    p->n = (double)(end - begin);
    grpo_covariance_add_(&acc, p->n, &v.squares, &v.sum, &v.sum);
    p->sum = grpo_sum_dd_(&v.sum);
    p->deviation = grpo_dd_same_(v.min, v.max) ? grpo_dd_of_(0) : grpo_sqrt_twice_(grpo_sum_dd_(&acc));
    p->most = p->total = p->tilt = grpo_dd_of_(0);
    for (i = begin; i < end; i++) {
        g = grpo_preferred_(p, length[i], &slope);
        if (!(g.hi <= 1e150)) return 0;
        if (grpo_dd_less(p->most, g)) p->most = g;
    }
    for (i = begin; i < end; i++) {
        g = grpo_preferred_(p, length[i], &slope);
        e = grpo_exp_twice(grpo_dd_minus_(g, p->most));
        p->total = grpo_dd_add(p->total, e);
        p->tilt = grpo_dd_add(p->tilt, grpo_dd_product(e, slope));
    }
    return 1;
}

grpo_status grpo_length_preference(const grpo_batch *batch, const double *length, double r, double lambda, double *weight, double *slope)
{
    grpo_status st = grpo_check_call_(batch, weight);
    grpo_preference_ p;
    grpo_dd share, rise;
    int64_t g, i;
    if (st) return st;
    if (!slope) return GRPO_NULL_OUTPUT;
    if (batch->n_groups && !length) return GRPO_NULL_LIST;
    if (!grpo_are_moderate_(&r, 0, 1) || !grpo_are_moderate_(&lambda, 0, 1)) return GRPO_BAD_PREFERENCE;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        if (!(length[i] >= 0 && length[i] <= 1e150)) return GRPO_BAD_PREFERENCE;
    p.r = r; p.lambda = lambda;
    for (g = 0; g < batch->n_groups; g++)
        if (!grpo_survey_lengths_(length, batch->group_begin[g], batch->group_begin[g + 1], &p)) return GRPO_BAD_PREFERENCE;
    for (g = 0; g < batch->n_groups; g++) {
        grpo_survey_lengths_(length, batch->group_begin[g], batch->group_begin[g + 1], &p);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            share = grpo_exp_twice(grpo_dd_minus_(grpo_preferred_(&p, length[i], &rise), p.most));
            share = grpo_dd_quotient(grpo_dd_mul(share, p.n), p.total);
            weight[i] = share.hi;
            slope[i] = grpo_dd_product(share, grpo_dd_minus_(rise, grpo_dd_quotient(p.tilt, p.total))).hi;
        }
    }
    return GRPO_OK;
}

static grpo_dd grpo_log_entropy_(double H)
{
    const grpo_dd least = grpo_1e_minus_8_;
    if (!(H < least.hi)) return grpo_log_twice(H);
    return grpo_dd_add(grpo_log_twice(least.hi), grpo_dd_of_(least.lo / least.hi));
}

/* the largest of the `rank` smallest */
static double grpo_entropy_quantile_(const grpo_batch *b, int64_t rank)
{
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    double H = -HUGE_VAL;
    int64_t t, ties;
    memset(&o, 0, sizeof o);
    o.batch = b; o.by = b->entropy; o.most = rank;
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; ) {
        grpo_key_of_(&o, t, &key);
        if (grpo_in_prefix_(&p, &key, &ties) && key.value.hi > H) H = key.value.hi;
    }
    return H;
}

/* of e - pivot: the largest and the least, at least 1e-8 deviations away */
typedef struct { grpo_dd pivot, above, below; } grpo_entropies_;

static void grpo_survey_entropies_(const grpo_batch *b, int64_t n, grpo_entropies_ *s)
{
    grpo_index_ at;
    grpo_sum sum;
    grpo_dd d, square, least;
    int64_t t;
    memset(&sum, 0, sizeof sum);
    s->above = s->below = grpo_dd_of_(0);
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; ) {
        d = grpo_dd_minus_(grpo_log_entropy_((double)b->entropy[t]), s->pivot);
        grpo_sum_add_dd_(&sum, grpo_dd_product(d, d));
        if (grpo_dd_less(s->above, d)) s->above = d;
        if (grpo_dd_less(d, s->below)) s->below = d;
    }
    square = grpo_dd_div(grpo_sum_dd_(&sum), (double)n);
    if (grpo_dd_less(square, grpo_1e_minus_8_)) square = grpo_1e_minus_8_;
    least = grpo_dd_product(grpo_sqrt_twice_(square), grpo_1e_minus_8_);
    s->below = grpo_dd_negative(s->below);
    if (grpo_dd_less(s->above, least)) s->above = least;
    if (grpo_dd_less(s->below, least)) s->below = least;
}

grpo_status grpo_entropy_standard(const grpo_batch *batch, double quantile, grpo_standard_form form, grpo_real *standard)
{
    grpo_status st = grpo_check_call_(batch, standard);
    grpo_entropies_ s;
    grpo_index_ at;
    grpo_dd d;
    int64_t i, t, n = 0, rank;
    int overflow = 0;
    if (st) return st;
    if (form != GRPO_STANDARD_CODED && form != GRPO_STANDARD_INTENDED) return GRPO_BAD_FORM;
    if (!(quantile >= 0 && quantile <= 1)) return GRPO_BAD_QUANTILE_LEVEL;
    st = grpo_check_tokens_(batch, batch->entropy, GRPO_NULL_ENTROPY, GRPO_BAD_ENTROPY);
    if (st) return st;
    grpo_clear_reals_(batch, standard);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) n += grpo_unmasked_(batch, i);
    if (n == 0) return GRPO_OK;
    rank = grpo_ceil_of_(quantile, n);
    if ((double)(rank - 1) / (double)n >= quantile) rank--;
    s.pivot = grpo_log_entropy_(grpo_entropy_quantile_(batch, rank > 0 ? rank : 1));
    grpo_survey_entropies_(batch, n, &s);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) {
        d = grpo_dd_minus_(grpo_log_entropy_((double)batch->entropy[t]), s.pivot);
        if (d.hi < 0 && form == GRPO_STANDARD_CODED) d = grpo_dd_quotient(grpo_dd_negative(d), s.below);
        else d = grpo_dd_quotient(d, d.hi < 0 ? s.below : s.above);
        grpo_put_(standard, t, d.hi, &overflow);
    }
    return GRPO_OK;
}

/* e^(logp - logp_old) of the token of this rank, from 1 up, in ascending order */
static double grpo_ratio_at_rank_(grpo_order_ *o, int64_t rank)
{
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    grpo_dd d = { -HUGE_VAL, 0 };
    int64_t t, ties;
    o->most = rank;
    grpo_find_prefix_(o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(o->batch); (t = grpo_next_token_(o->batch, &at)) >= 0; )
        if (grpo_key_of_(o, t, &key) && grpo_in_prefix_(&p, &key, &ties) && grpo_dd_less(d, key.value)) d = key.value;
    return grpo_exp(d);
}

grpo_status grpo_ratio_quantile(const grpo_batch *batch, double quantile, double least, double *value)
{
    grpo_status st = grpo_check_call_(batch, value);
    grpo_order_ o;
    grpo_index_ at;
    grpo_dd place;
    double low, high, w = 0;
    int64_t t, m = 0;
    if (st) return st;
    if (!(quantile >= 0 && quantile <= 1)) return GRPO_BAD_QUANTILE_LEVEL;
    if (!(least >= 0 && least <= 1e150)) return GRPO_BAD_LEAST;
    st = grpo_check_arrays_(batch, NULL, GRPO_NEED_SELECTED_, 0);
    if (!st) st = grpo_check_marked_(batch, batch->logp, batch->selected, GRPO_NULL_LOGP, GRPO_BAD_LOGP);
    if (!st) st = grpo_check_marked_(batch, batch->logp_old, batch->selected, GRPO_NULL_LOGP_OLD, GRPO_BAD_LOGP_OLD);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) m += batch->selected[t] != 0;
    if (m > 0) {
        memset(&o, 0, sizeof o);
        o.batch = batch; o.by = batch->logp; o.minus = batch->logp_old; o.with_sign = 1; o.where = batch->selected;
        place = grpo_two_prod(quantile, (double)(m - 1));
        low = floor(place.hi);
        if (low == place.hi && place.lo < 0) low--;
        place = grpo_dd_minus_(place, grpo_dd_of_(low));                /* what is left of it */
        w = high = grpo_ratio_at_rank_(&o, (int64_t)low + 1);
        if (place.hi > 0) high = grpo_ratio_at_rank_(&o, (int64_t)low + 2);
        if (high > w) w = w + place.hi * (high - w);
    }
    *value = w > least ? w : least;
    return GRPO_OK;
}

grpo_status grpo_logistic_shift(const grpo_batch *batch, const uint8_t *correct, double beta, double *shift)
{
    grpo_status st = grpo_check_call_(batch, shift);
    grpo_sum sum[2];
    grpo_dd mean = grpo_dd_of_(0);
    int64_t i, t, n[2] = { 0, 0 };
    int k;
    if (!st) st = grpo_check_shaping_(beta, 0, 0);
    if (st) return st;
    if (batch->n_groups && !correct) return GRPO_NULL_CORRECT;
    st = grpo_check_tokens_(batch, batch->logp_ref, GRPO_NULL_LOGP_REF, GRPO_BAD_LOGP_REF);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_);
    if (st) return st;
    memset(sum, 0, sizeof sum);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        k = correct[i] != 0;
        n[k]++;
        for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++)
            if (grpo_token_counts_(batch, t)) grpo_sum_add_diff_(&sum[k], (double)batch->logp[t], (double)batch->logp_ref[t]);
    }
    for (k = 0; k < 2; k++) if (n[k]) mean = grpo_dd_add(mean, grpo_dd_div(grpo_sum_dd_(&sum[k]), (double)n[k]));
    *shift = grpo_dd_mul(mean, beta).hi / 2;
    return GRPO_OK;
}

static grpo_power_ grpo_gram_term_(const double *gram, const double *advantage, int64_t n, int64_t i, int64_t j)
{
    const grpo_power_ pair = grpo_power_product_(grpo_power_from_(advantage[i]), grpo_power_from_(advantage[j]));
    return grpo_power_product_(pair, grpo_power_from_(gram[i * n + j]));
}

/* sum A_i A_j K_ij/(sum A_i^2 K_ii + 1e-9) */
static double grpo_effective_(const double *gram, const double *advantage, int64_t n)
{
    grpo_power_ over = grpo_power_from_(0), under = grpo_power_from_(1e-9);
    int64_t i, j;
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++) over = grpo_power_plus_(over, grpo_gram_term_(gram, advantage, n, i, j));
        under = grpo_power_plus_(under, grpo_gram_term_(gram, advantage, n, i, i));
    }
    return grpo_power_value_(grpo_power_of_(grpo_dd_quotient(over.m, under.m), over.e - under.e)).hi;
}

/* (tr K)^2/(sum K^2 + 1e-10 n^2) */
static double grpo_participation_(const double *gram, int64_t n)
{
    const int e = grpo_exponent_of_(gram, n * n);
    const double size = (double)n;
    grpo_sum trace, squares;
    double tr;
    int64_t k;
    memset(&trace, 0, sizeof trace);
    memset(&squares, 0, sizeof squares);
    for (k = 0; k < n; k++) grpo_sum_add_(&trace, ldexp(gram[k * n + k], -e));
    for (k = 0; k < n * n; k++) grpo_sum_add_square_(&squares, 1, grpo_dd_of_(ldexp(gram[k], -e)));
    tr = grpo_sum_value_(&trace);
    return tr * tr / (grpo_sum_value_(&squares) + ldexp(1e-10 * size * size, -2 * e));
}

static int grpo_is_gram_(const double *gram, int64_t n)
{
    int64_t i, j;
    if (!grpo_are_moderate_(gram, 0, n * n)) return 0;
    for (i = 0; i < n; i++) {
        if (gram[i * n + i] < 0) return 0;
        for (j = 0; j < i; j++) if (gram[i * n + j] != gram[j * n + i]) return 0;
    }
    return 1;
}

/* to a whole number, halves to even, at most `most` */
static int64_t grpo_rounded_(double x, int64_t most)
{
    double low = floor(x);
    if (!(x < (double)most)) return most;
    if (x - low > 0.5 || (x - low == 0.5 && fmod(low, 2) != 0)) low++;
    return (int64_t)low;
}

grpo_status grpo_gram_rank(const double *gram, const double *advantage, int64_t n, double share, int64_t least, int64_t most, int64_t *rank,
                           double *effective)
{
    int64_t k;
    if (!rank || !effective) return GRPO_NULL_OUTPUT;
    if (n < 1) return n < 0 ? GRPO_BAD_COUNT : GRPO_TOO_FEW;
    if (!gram || !advantage) return GRPO_NULL_LIST;
    if (!(share > 0 && share <= 1e150) || least < 1 || most < 1) return GRPO_BAD_POSITIVE;
    if (!grpo_is_gram_(gram, n)) return GRPO_BAD_GRAM;
    if (!grpo_are_moderate_(advantage, 0, n)) return GRPO_BAD_ADVANTAGE_LIST;
    k = grpo_rounded_(share * grpo_participation_(gram, n), most < n - 1 ? most : n - 1);
    *rank = k > least ? k : least;
    *effective = grpo_effective_(gram, advantage, n);
    return GRPO_OK;
}

/* ---- logits -------------------------------------------------------------------------------------------------------------------- */

static float grpo_float_of_bits_(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static uint32_t grpo_bits_of_float_(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }

static float grpo_from_half_(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = (uint32_t)(h & 0x7fff) << 13;
    const uint32_t bits = grpo_bits_of_float_(grpo_float_of_bits_(magnitude) * 5.192296858534828e33f);    /* 2^112 */
    return grpo_float_of_bits_(sign | bits | (magnitude >= 0x0f800000 ? 0x7f800000 : 0));                 /* infinity, NaN */
}

/* to nearest, ties to even */
static uint16_t grpo_to_half_(float x)
{
    const uint32_t bits = grpo_bits_of_float_(x), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    const uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
    const uint32_t small = grpo_bits_of_float_(grpo_float_of_bits_(a) + 0.5f) - 0x3f000000;             /* units of 2^-24 */
    const uint32_t finite = a >= 0x38800000 ? normal : small, other = a > 0x7f800000 ? 0x7e00 : 0x7c00;
    return (uint16_t)(sign | (a >= 0x477ff000 ? other : finite));                                       /* 65520 rounds to 2^16 */
}

static uint16_t grpo_to_bfloat_(float x)
{
    const uint32_t bits = grpo_bits_of_float_(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

static size_t grpo_element_size_(grpo_row_type type) { return type == GRPO_ROW_REAL ? sizeof(grpo_real) : sizeof(uint16_t); }

/* -inf where it is not kept */
static double grpo_logit_(const grpo_logits *x, int64_t row, int64_t v)
{
    int64_t at = row * x->stride + v;
    if (x->kept && !x->kept[at]) return -HUGE_VAL;
    switch (x->type) {
    case GRPO_ROW_BFLOAT16: return (double)grpo_float_of_bits_((uint32_t)((const uint16_t *)x->logits)[at] << 16);
    case GRPO_ROW_FLOAT16:  return (double)grpo_from_half_(((const uint16_t *)x->logits)[at]);
    default:                return (double)((const grpo_real *)x->logits)[at];
    }
}

static void grpo_put_logit_(grpo_row_type type, void *out, int64_t v, double g)
{
    int overflow;
    switch (type) {
    case GRPO_ROW_BFLOAT16: ((uint16_t *)out)[v] = grpo_to_bfloat_((float)g); break;
    case GRPO_ROW_FLOAT16:  ((uint16_t *)out)[v] = grpo_to_half_((float)g); break;
    default:                grpo_put_((grpo_real *)out, v, g, &overflow); break;
    }
}

static GRPO_ROW_FN void grpo_dd_take_(grpo_dd *sum, double x)
{
    grpo_dd s = grpo_two_sum(sum->hi, x);
    *sum = grpo_two_sum(s.hi, s.lo + sum->lo);
}

/* (z - from)/tau, its exponential is then good to 1 ulp */
static GRPO_ROW_FN grpo_dd grpo_row_exponent_(double z, double from, double tau) { return grpo_dd_div(grpo_two_diff(z, from), tau); }

/* the sums, relative to the largest, become relative to a logit that is `up` above it, in units of tau */
static GRPO_ROW_FN void grpo_row_raise_(grpo_row_part *p, grpo_dd up)
{
    double f;
    up.hi = -up.hi; up.lo = -up.lo;
    f = grpo_exp(up);
    p->spread = grpo_dd_mul(grpo_dd_add(p->spread, grpo_dd_mul(p->sum, up.hi)), f);
    p->sum = grpo_dd_mul(p->sum, f);
    p->squares = grpo_dd_mul(grpo_dd_mul(p->squares, f), f);
}

static GRPO_ROW_FN void grpo_row_take_(grpo_row_part *p, double z, double tau)
{
    grpo_dd x;
    double e;
    if (z == -HUGE_VAL) return;
    if (p->largest == -HUGE_VAL) { p->largest = z; return; }
    if (z > p->largest) {                                              /* the old largest joins the sums */
        double old = p->largest;
        grpo_row_raise_(p, grpo_row_exponent_(z, old, tau));
        p->largest = z;
        z = old;
    }
    x = grpo_row_exponent_(z, p->largest, tau);
    e = grpo_exp(x);
    grpo_dd_take_(&p->sum, e);
    grpo_dd_take_(&p->spread, grpo_times(e, x.hi));
    grpo_dd_take_(&p->squares, e * e);
}

GRPO_ROW_FN grpo_row_part grpo_row_nothing(void)
{
    const grpo_dd zero = { 0, 0 };
    grpo_row_part p;
    p.largest = -HUGE_VAL; p.target = 0; p.has_target = 0;
    p.sum = p.spread = p.squares = zero;
    return p;
}

GRPO_ROW_FN void grpo_row_take(grpo_row_part *part, double z, int is_target, double temperature)
{
    if (!is_target) { grpo_row_take_(part, z, temperature); return; }
    part->target = z;
    part->has_target = 1;
}

static grpo_status grpo_check_logits_(const grpo_logits *x, int64_t row)
{
    if (!x || !x->logits || !x->target) return GRPO_NULL_LOGITS;
    if (x->rows < 0 || x->vocab < 0 || x->stride < x->vocab || row < 0 || row >= x->rows) return GRPO_BAD_LOGITS_SHAPE;
    if (!(x->temperature > 0 && grpo_is_finite(x->temperature))) return GRPO_BAD_LOGITS_TEMPERATURE;
    return GRPO_OK;
}

/* ---- logits, many at a time -----------------------------------------------------------------------------------------------------
 * Rows of float, bfloat16 and binary16, by loops that compilers turn into vector instructions: counts known at compile time, plain
 * local variables, no branch.  With h = tau ln 2,
 *
 *     e^((z - R)/tau) = 2^n e^(g/tau),   n = round((z - R)/h),   g = (z - R) - n h,   |g| <= h/2
 *
 * (Cody and Waite, "Software Manual for the Elementary Functions", 1980, ch. 6).  Rounding z/tau itself would cost |z/tau| ulps.  R is 0
 * where the largest logit is within 512 h of 0, and else the largest to a few bits: either way z - R is exact where the power is not 0.
 * h = h1 + h2 with h1 so short that n h1 is exact.  So g is off by 2^-25 h at most, and the power by 0.9 2^-23 of it.
 *
 * Powers are 2^64 times those relative to 2^N, the first power of two that none exceeds: small ones count down to 2^-190 of the
 * largest, and what is below is 0.  Four of them are added in float, fours in double. */

#if defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
#define GRPO_MADD_(a, b, c) fmaf(a, b, c)
#else
#define GRPO_MADD_(a, b, c) ((a) * (b) + (c))
#endif

enum { GRPO_ROW_BLOCK_ = 1024, GRPO_ROW_LANES_ = 32, GRPO_STRIDE_ = 2 * GRPO_ROW_LANES_, GRPO_STEP_ = 2 * GRPO_STRIDE_ };

/* of one temperature: 1/h, h1, h2, and e^(g/tau) = 1 + b1 g + ... + b6 g^6 to 4.2e-9; of a row's largest logit, once there is one: R, N,
 * 1.5 2^23 + 191 - N, the z - R that stands for all below it, and largest - R */
typedef struct {
    float per, h1, h2, b1, b2, b3, b4, b5, b6;
    float origin, top, shift, least, from;
} grpo_exps_;

static int grpo_is_fast_(const grpo_logits *x)
{
    return (sizeof(grpo_real) == sizeof(float) || x->type != GRPO_ROW_REAL) && x->temperature > 1e-4 && x->temperature < 1e4;
}

static void grpo_exps_from_(grpo_exps_ *k, double tau, double largest)
{
    const double h = tau * 0.69314718055994531, n = largest / h;
    int e;
    (void)frexp(h, &e);
    k->origin = 0;
    if (!(n >= -512 && n <= 512)) {
        const double unit = ldexp(1, e), few = floor(largest / unit + 0.5);
        k->origin = (float)(few > -8388608 && few < 8388608 ? few * unit : largest);
    }
    k->from = (float)(largest - (double)k->origin);
    k->top = (float)ceil((double)k->from / h);
    k->shift = 12582912.0f + (191 - k->top);
    k->least = (float)(((double)k->top - 191) * h);
}

static grpo_exps_ grpo_exps_of_(double tau)
{
    const double h = tau * 0.69314718055994531, per = 1 / h;
    grpo_exps_ k;
    k.per = (float)per;
    k.h1 = grpo_float_of_bits_(grpo_bits_of_float_((float)h) & 0xfffffc00);
    k.h2 = (float)(h - (double)k.h1);
    k.b1 = (float)(per * 0.693147228156);
    k.b2 = (float)(per * per * 0.24022651108);
    k.b3 = (float)(per * per * per * 0.0555029269622);
    k.b4 = (float)(per * per * (per * per) * 0.00961802678505);
    k.b5 = (float)(per * per * (per * per) * per * 0.00134115411451);
    k.b6 = (float)(per * per * (per * per) * (per * per) * 0.000154710651778);
    grpo_exps_from_(&k, tau, 0);
    return k;
}

/* z - R, from below */
GRPO_INLINE_ float grpo_above_(float z, float origin, float least)
{
    const float d = z - origin;
    return d < least ? least : d;                                      /* NaN stays */
}

/* 2^(64 - N) high e^(d/tau), or where `twice` is 1 (high + low) of it, b1 .. b6 those of e^(g/tau) times that: n ends up in the low bits of
 * t, and from there in the exponent, which is 0 for the least */
GRPO_INLINE_ float grpo_exp_float_(float d, float shift, float per, float h1, float h2, const int twice, float high, float low,
                                   float b1, float b2, float b3, float b4, float b5, float b6)
{
    const float t = GRPO_MADD_(d, per, shift), n = shift - t;
    const float g = GRPO_MADD_(n, h2, GRPO_MADD_(n, h1, d));
    float p = GRPO_MADD_(g, b6, b5);
    p = GRPO_MADD_(p, g, b4);
    p = GRPO_MADD_(p, g, b3);
    p = GRPO_MADD_(p, g, b2);
    p = GRPO_MADD_(p, g, b1);
    p = twice ? high + GRPO_MADD_(p, g, low) : GRPO_MADD_(p, g, high);
    return p * grpo_float_of_bits_(grpo_bits_of_float_(t) << 23);
}

#define GRPO_EXP_LOCALS_(k) \
    const float shift = (k)->shift, per = (k)->per, h1 = (k)->h1, h2 = (k)->h2, origin = (k)->origin, least = (k)->least, \
                from = (k)->from, b1 = (k)->b1, b2 = (k)->b2, b3 = (k)->b3, b4 = (k)->b4, b5 = (k)->b5, b6 = (k)->b6
#define GRPO_EXP_(d) grpo_exp_float_(d, shift, per, h1, h2, 0, 1.0f, 0.0f, b1, b2, b3, b4, b5, b6)

static float grpo_largest_of_(const float *most)
{
    float m = most[0];
    int j;
    for (j = 1; j < GRPO_ROW_LANES_; j++) m = most[j] > m ? most[j] : m;
    return m;
}

/* of n numbers, n a multiple of GRPO_STEP_; NaN is passed over */
static float grpo_block_largest_(const float *z, int64_t n)
{
    float most[GRPO_ROW_LANES_];
    int64_t v;
    int j;
    for (j = 0; j < GRPO_ROW_LANES_; j++) most[j] = -HUGE_VALF;
    for (v = 0; v < n; v += GRPO_ROW_LANES_)
        for (j = 0; j < GRPO_ROW_LANES_; j++) most[j] = z[v + j] > most[j] ? z[v + j] : most[j];
    return grpo_largest_of_(most);
}

typedef struct { double sum[GRPO_ROW_LANES_], spread[GRPO_ROW_LANES_], squares[GRPO_ROW_LANES_]; } grpo_lanes_;

/* sums of e, e (z - largest) and, if asked for, (2^-64 e)^2 over a block; returns the block's largest logit.  In float and in double by
 * turns: a loop that has both has vectors of doubles only. */
GRPO_INLINE_ float grpo_block_sums_(const float *GRPO_RESTRICT_ z, int64_t size, const grpo_exps_ *k, const int squares, grpo_lanes_ *out)
{
    GRPO_EXP_LOCALS_(k);
    double sum[GRPO_ROW_LANES_], spread[GRPO_ROW_LANES_], square[GRPO_ROW_LANES_];
    float most[GRPO_ROW_LANES_], s[GRPO_ROW_LANES_], w[GRPO_ROW_LANES_], q[GRPO_ROW_LANES_];
    int64_t v;
    int j;
    for (j = 0; j < GRPO_ROW_LANES_; j++) { sum[j] = spread[j] = square[j] = 0; most[j] = -HUGE_VALF; }
    for (v = 0; v < size; v += GRPO_STEP_) {
        for (j = 0; j < GRPO_ROW_LANES_; j++) {
            const float z0 = z[v + j], z1 = z[v + GRPO_ROW_LANES_ + j];
            const float z2 = z[v + 2 * GRPO_ROW_LANES_ + j], z3 = z[v + 3 * GRPO_ROW_LANES_ + j];
            const float first = z0 > z1 ? z0 : z1, second = z2 > z3 ? z2 : z3, larger = first > second ? first : second;
            const float d0 = grpo_above_(z0, origin, least), d1 = grpo_above_(z1, origin, least);
            const float d2 = grpo_above_(z2, origin, least), d3 = grpo_above_(z3, origin, least);
            const float e0 = GRPO_EXP_(d0), e1 = GRPO_EXP_(d1), e2 = GRPO_EXP_(d2), e3 = GRPO_EXP_(d3);
            most[j] = larger > most[j] ? larger : most[j];
            s[j] = (e0 + e1) + (e2 + e3);
            w[j] = GRPO_MADD_(e1, d1 - from, e0 * (d0 - from)) + GRPO_MADD_(e3, d3 - from, e2 * (d2 - from));
            if (squares) {
                const float p0 = e0 * 5.421010862427522e-20f, p1 = e1 * 5.421010862427522e-20f;
                const float p2 = e2 * 5.421010862427522e-20f, p3 = e3 * 5.421010862427522e-20f;
                q[j] = GRPO_MADD_(p1, p1, p0 * p0) + GRPO_MADD_(p3, p3, p2 * p2);
            }
        }
        for (j = 0; j < GRPO_ROW_LANES_; j++) { sum[j] += (double)s[j]; spread[j] += (double)w[j]; }
        if (squares) for (j = 0; j < GRPO_ROW_LANES_; j++) square[j] += (double)q[j];
    }
    memcpy(out->sum, sum, sizeof sum); memcpy(out->spread, spread, sizeof spread); memcpy(out->squares, square, sizeof square);
    return grpo_largest_of_(most);
}

static float grpo_block_plain_(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out)
{
    return grpo_block_sums_(z, size, k, 0, out);
}

static float grpo_block_squared_(const float *z, int64_t size, const grpo_exps_ *k, grpo_lanes_ *out)
{
    return grpo_block_sums_(z, size, k, 1, out);
}

/* a shard's row on the way: sums in lanes, relative to the k of the largest logit, which is not in them */
typedef struct {
    grpo_exps_ k;
    grpo_lanes_ lanes;
    double tau;
    float largest;
    int squares;
} grpo_tally_;

/* (z - R)/tau - N log 2 */
static double grpo_exps_log_(const grpo_exps_ *k, double tau, double z)
{
    return (z - (double)k->origin) / tau - (double)k->top * 0.69314718055994531;
}

/* a larger one comes: sums become relative to it, the old one joins them */
static void grpo_tally_raise_(grpo_tally_ *s, float largest)
{
    const grpo_exps_ old = s->k;
    const double up = (double)largest - (double)s->largest;
    double f, own;
    int j;
    grpo_exps_from_(&s->k, s->tau, (double)largest);
    if (s->largest > -HUGE_VALF) {
        f = exp(grpo_exps_log_(&s->k, s->tau, (double)s->largest));    /* of the old largest, from both */
        own = ldexp(f, 64);
        f /= exp(grpo_exps_log_(&old, s->tau, (double)s->largest));
        for (j = 0; j < GRPO_ROW_LANES_; j++) {
            s->lanes.spread[j] = f * (s->lanes.spread[j] - up * s->lanes.sum[j]);
            s->lanes.sum[j] *= f;
            s->lanes.squares[j] *= f * f;
        }
        s->lanes.sum[0] += own;
        s->lanes.spread[0] -= own > 0 ? own * up : 0;
        s->lanes.squares[0] += ldexp(own, -64) * ldexp(own, -64);
    }
    s->largest = largest;
}

/* z: `size` logits, in the row or in `copy`; where they hold a new largest one, the block is done again without it */
static void grpo_tally_block_(grpo_tally_ *s, const float *z, int64_t size, float *copy)
{
    grpo_lanes_ block;
    float most = s->largest == -HUGE_VALF ? grpo_block_largest_(z, size) : -HUGE_VALF;
    int64_t v = 0;
    int j;
    if (!(most > s->largest)) most = s->squares ? grpo_block_squared_(z, size, &s->k, &block) : grpo_block_plain_(z, size, &s->k, &block);
    if (most > s->largest) {
        grpo_tally_raise_(s, most);
        if (z != copy) memcpy(copy, z, (size_t)size * sizeof *copy);
        while (copy[v] != most) v++;
        copy[v] = -HUGE_VALF;
        if (s->squares) grpo_block_squared_(copy, size, &s->k, &block); else grpo_block_plain_(copy, size, &s->k, &block);
    }
    for (j = 0; j < GRPO_ROW_LANES_; j++) {
        s->lanes.sum[j] += block.sum[j];
        s->lanes.spread[j] += block.spread[j];
        s->lanes.squares[j] += block.squares[j];
    }
}

static void grpo_floats_of_bfloat_(const uint16_t *from, float *to, int64_t n)
{
    int64_t v = 0;
    int j;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_)
        for (j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_float_of_bits_((uint32_t)from[v + j] << 16);
    for (; v < n; v++) to[v] = grpo_float_of_bits_((uint32_t)from[v] << 16);
}

static void grpo_floats_of_half_(const uint16_t *from, float *to, int64_t n)
{
    int64_t v = 0;
    int j;
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_)
        for (j = 0; j < GRPO_STEP_; j++) to[v + j] = grpo_from_half_(from[v + j]);
    for (; v < n; v++) to[v] = grpo_from_half_(from[v]);
}

/* n logits of a row from `at` on, in the row itself if it has a whole block of floats, or else in `copy`: there -inf where not kept, and
 * up to a multiple of GRPO_STEP_ */
static const float *grpo_block_of_(const grpo_logits *x, int64_t row, int64_t at, int64_t n, float *copy)
{
    const int64_t first = row * x->stride + at;
    int64_t v;
    if (x->type == GRPO_ROW_REAL && !x->kept && n == GRPO_ROW_BLOCK_) return (const float *)x->logits + first;
    if (x->type == GRPO_ROW_BFLOAT16) grpo_floats_of_bfloat_((const uint16_t *)x->logits + first, copy, n);
    else if (x->type == GRPO_ROW_FLOAT16) grpo_floats_of_half_((const uint16_t *)x->logits + first, copy, n);
    else memcpy(copy, (const float *)x->logits + first, (size_t)n * sizeof *copy);
    if (x->kept) for (v = 0; v < n; v++) copy[v] = x->kept[first + v] ? copy[v] : -HUGE_VALF;
    for (v = n; v % GRPO_STEP_ != 0; v++) copy[v] = -HUGE_VALF;
    return copy;
}

static int64_t grpo_block_size_(const grpo_logits *x, int64_t at)
{
    const int64_t rest = x->vocab - at, whole = GRPO_ROW_BLOCK_;
    return rest < whole ? rest : whole;
}

static int64_t grpo_steps_(int64_t n) { return (n + GRPO_STEP_ - 1) / GRPO_STEP_ * GRPO_STEP_; }

static double grpo_lanes_total_(const double *x)
{
    double sum = 0;
    int j;
    for (j = 0; j < GRPO_ROW_LANES_; j++) sum += x[j];
    return sum;
}

/* the sums, relative to the largest itself; NaN if a logit was */
static void grpo_tally_part_(const grpo_tally_ *s, grpo_row_part *p)
{
    double f;
    p->largest = (double)s->largest;
    if (s->largest == -HUGE_VALF) { p->sum.hi = grpo_lanes_total_(s->lanes.sum); return; }
    f = ldexp(exp(-grpo_exps_log_(&s->k, s->tau, (double)s->largest)), -64);
    p->sum.hi = f * grpo_lanes_total_(s->lanes.sum);
    p->spread.hi = f * grpo_lanes_total_(s->lanes.spread) / s->tau;
    if (s->squares) p->squares.hi = ldexp(f, 64) * ldexp(f, 64) * grpo_lanes_total_(s->lanes.squares);
}

static grpo_status grpo_row_read_fast_(const grpo_logits *x, int64_t row, grpo_row_part *part)
{
    const int64_t target = x->target[row];
    float copy[GRPO_ROW_BLOCK_];
    grpo_tally_ s;
    int64_t at, n;
    memset(&s, 0, sizeof s);
    s.k = grpo_exps_of_(x->temperature);
    s.tau = x->temperature;
    s.squares = x->squares;
    s.largest = -HUGE_VALF;
    for (at = 0; at < x->vocab; at += n) {
        const float *z;
        n = grpo_block_size_(x, at);
        z = grpo_block_of_(x, row, at, n, copy);
        if (target >= at && target < at + n) {
            if (z != copy) memcpy(copy, z, sizeof copy);
            part->target = (double)copy[target - at];
            part->has_target = 1;
            if (!(part->target < HUGE_VAL)) return GRPO_BAD_LOGITS;
            copy[target - at] = -HUGE_VALF;
            z = copy;
        }
        grpo_tally_block_(&s, z, grpo_steps_(n), copy);
        if (s.largest == HUGE_VALF) return GRPO_BAD_LOGITS;
    }
    grpo_tally_part_(&s, part);
    return part->sum.hi == part->sum.hi ? GRPO_OK : GRPO_BAD_LOGITS;
}

/* what the gradient at an element that is not the target has beside its power: at + slope (z - largest) */
typedef struct { double at, slope; } grpo_slope_;

/* at e^(g/tau) = (high + low) + c1 g + ... + c6 g^6 */
typedef struct { float high, low, c1, c2, c3, c4, c5, c6; } grpo_powers_;

static void grpo_block_gradient_(const float *GRPO_RESTRICT_ z, int64_t size, const grpo_exps_ *k, const grpo_powers_ *c,
                                 float *GRPO_RESTRICT_ g)
{
    const float shift = k->shift, per = k->per, h1 = k->h1, h2 = k->h2, origin = k->origin, least = k->least;
    const float high = c->high, low = c->low, c1 = c->c1, c2 = c->c2, c3 = c->c3, c4 = c->c4, c5 = c->c5, c6 = c->c6;
    float out[GRPO_STRIDE_];
    int64_t v;
    int j;
    for (v = 0; v < size; v += GRPO_STRIDE_) {
        for (j = 0; j < GRPO_STRIDE_; j++)
            out[j] = grpo_exp_float_(grpo_above_(z[v + j], origin, least), shift, per, h1, h2, 1, high, low, c1, c2, c3, c4, c5, c6);
        memcpy(g + v, out, sizeof out);
    }
}

static void grpo_block_gradients_(const float *GRPO_RESTRICT_ z, int64_t size, const grpo_exps_ *k, grpo_slope_ by,
                                  float *GRPO_RESTRICT_ g)
{
    GRPO_EXP_LOCALS_(k);
    const double at = by.at, slope = by.slope;
    float e[GRPO_STRIDE_], x[GRPO_STRIDE_], out[GRPO_STRIDE_];
    int64_t v;
    int j;
    for (v = 0; v < size; v += GRPO_STRIDE_) {
        for (j = 0; j < GRPO_STRIDE_; j++) {
            const float d = grpo_above_(z[v + j], origin, least);
            e[j] = GRPO_EXP_(d);
            x[j] = d - from;
        }
        for (j = 0; j < GRPO_STRIDE_; j++) out[j] = (float)((double)e[j] * (at + slope * (double)x[j]));
        memcpy(g + v, out, sizeof out);
    }
}

static void grpo_put_block_(grpo_row_type type, const float *g, void *out, int64_t at, int64_t n)
{
    uint16_t *half = (uint16_t *)out + at;
    int64_t v = 0;
    int j;
    if (type == GRPO_ROW_REAL) { memcpy((float *)out + at, g, (size_t)n * sizeof *g); return; }
    for (; v + GRPO_STEP_ <= n; v += GRPO_STEP_) {
        if (type == GRPO_ROW_BFLOAT16) for (j = 0; j < GRPO_STEP_; j++) half[v + j] = grpo_to_bfloat_(g[v + j]);
        else for (j = 0; j < GRPO_STEP_; j++) half[v + j] = grpo_to_half_(g[v + j]);
    }
    for (; v < n; v++) half[v] = type == GRPO_ROW_BFLOAT16 ? grpo_to_bfloat_(g[v]) : grpo_to_half_(g[v]);
}

/* Powers that are already multiplied by a power of two, 2^a: chosen so that what is left of `at` is 2^-24, and the least number of float
 * still comes from a power that is not 0.  1: `at` is in two floats.  0: it is beyond that. */
static int grpo_fold_(grpo_exps_ *k, double tau, double at, grpo_powers_ *c)
{
    int a;
    (void)frexp(at, &a);
    a = a + 24 > 0 ? 0 : a + 24 < -191 ? -191 : a + 24;
    at = ldexp(at, -a);
    if (!(fabs(at) < 1e18)) return 0;
    k->shift += (float)a;
    k->least = (float)(((double)k->top - 191 - a) * tau * 0.69314718055994531);
    c->high = (float)at;
    c->low = (float)(at - (double)c->high);
    c->c1 = (float)(at * (double)k->b1); c->c2 = (float)(at * (double)k->b2); c->c3 = (float)(at * (double)k->b3);
    c->c4 = (float)(at * (double)k->b4); c->c5 = (float)(at * (double)k->b5); c->c6 = (float)(at * (double)k->b6);
    return 1;
}

static void grpo_row_gradient_fast_(const grpo_logits *x, int64_t row, const grpo_row_slopes *s, void *dlogits)
{
    const double tau = x->temperature, most = s->largest > -HUGE_VAL ? s->largest : 0;
    float copy[GRPO_ROW_BLOCK_], own[GRPO_ROW_BLOCK_], *out = x->type == GRPO_ROW_REAL ? (float *)dlogits : NULL;
    grpo_powers_ c;
    grpo_exps_ k = grpo_exps_of_(tau);
    grpo_slope_ by;
    int64_t at, n;
    double unit;
    int folded;
    grpo_exps_from_(&k, tau, most);
    unit = ldexp(s->share * exp(-grpo_exps_log_(&k, tau, most)) / tau, -64);
    by.at = s->at * unit;
    by.slope = s->slope * (unit / tau);
    folded = by.slope == 0 && grpo_fold_(&k, tau, by.at, &c);
    for (at = 0; at < x->vocab; at += n) {
        const float *z;
        float *g = own;
        n = grpo_block_size_(x, at);
        z = grpo_block_of_(x, row, at, n, copy);
        if (out && n == GRPO_ROW_BLOCK_ && z != out + at) g = out + at;
        if (folded) grpo_block_gradient_(z, grpo_steps_(n), &k, &c, g);
        else grpo_block_gradients_(z, grpo_steps_(n), &k, by, g);
        if (g == own) grpo_put_block_(x->type, g, dlogits, at, n);
    }
}

/* ---- a row ---------------------------------------------------------------------------------------------------------------------- */

/* the same sums one by one, exactly: for doubles, and for temperatures out of the ordinary */
static grpo_status grpo_row_read_each_(const grpo_logits *x, int64_t row, grpo_row_part *p)
{
    int64_t v;
    for (v = 0; v < x->vocab; v++) {
        const double z = grpo_logit_(x, row, v);
        if (!(z < HUGE_VAL)) return GRPO_BAD_LOGITS;
        grpo_row_take(p, z, v == x->target[row], x->temperature);
    }
    return GRPO_OK;
}

grpo_status grpo_row_read(const grpo_logits *x, int64_t row, grpo_row_part *part)
{
    grpo_row_part p;
    grpo_status st = grpo_check_logits_(x, row);
    if (st) return st;
    if (!part) return GRPO_NULL_OUTPUT;
    memset(&p, 0, sizeof p);
    p = grpo_row_nothing();
    st = grpo_is_fast_(x) ? grpo_row_read_fast_(x, row, &p) : grpo_row_read_each_(x, row, &p);
    if (st) return st;
    if (!x->squares) p.squares = grpo_dd_of_(NAN);
    *part = p;
    return GRPO_OK;
}

GRPO_ROW_FN grpo_status grpo_row_merge(grpo_row_part *into, const grpo_row_part *from, double temperature)
{
    grpo_row_part low;
    int squares;
    if (!into || !from) return GRPO_NULL_OUTPUT;
    if (!(temperature > 0 && grpo_is_finite(temperature))) return GRPO_BAD_LOGITS_TEMPERATURE;
    if (into->has_target && from->has_target) return GRPO_BAD_LOGITS_SHAPE;
    low = *from;
    squares = low.squares.hi == low.squares.hi && into->squares.hi == into->squares.hi;
    if (low.largest > into->largest) { grpo_row_part high = low; low = *into; *into = high; }
    if (low.has_target) { into->target = low.target; into->has_target = 1; }
    if (!squares) into->squares.hi = NAN;
    if (low.largest == -HUGE_VAL) return GRPO_OK;
    grpo_row_raise_(&low, grpo_row_exponent_(into->largest, low.largest, temperature));
    into->sum = grpo_dd_add(into->sum, low.sum);
    into->spread = grpo_dd_add(into->spread, low.spread);
    into->squares = grpo_dd_add(into->squares, low.squares);
    grpo_row_take_(into, low.largest, temperature);
    if (!squares) into->squares.hi = NAN;                              /* which sums have made 0 of */
    return GRPO_OK;
}

/* (sum of the others)/(the target's), upside down, and its logarithm */
typedef struct { double ratio, inverse, log; } grpo_odds_;

static GRPO_ROW_FN grpo_odds_ grpo_row_odds_(const grpo_row_part *p, double tau)
{
    grpo_odds_ o = { 0, HUGE_VAL, -HUGE_VAL }, all = { HUGE_VAL, 0, HUGE_VAL };
    const double rest = 1 + p->sum.hi;
    grpo_dd d;
    if (p->largest == -HUGE_VAL) return o;
    if (!p->has_target || p->target == -HUGE_VAL) return all;
    d = grpo_row_exponent_(p->largest, p->target, tau);
    o.log = d.hi + log1p(p->sum.hi);
    o.ratio = grpo_exp(d) * rest;
    d.hi = -d.hi; d.lo = -d.lo;
    o.inverse = grpo_exp(d) / rest;
    return o;
}

/* log(1 + ratio), log(1 + inverse) */
static GRPO_ROW_FN double grpo_log_all_(const grpo_odds_ *o) { return o->ratio <= 1 ? log1p(o->ratio) : o->log + log1p(o->inverse); }
static GRPO_ROW_FN double grpo_log_all_inverse_(const grpo_odds_ *o)
{
    return o->inverse <= 1 ? log1p(o->inverse) : -o->log + log1p(o->ratio);
}

GRPO_ROW_FN grpo_status grpo_row_of(const grpo_row_part *part, double temperature, grpo_row *row)
{
    grpo_odds_ o;
    double rest, target;
    if (!part || !row) return GRPO_NULL_OUTPUT;
    if (!(temperature > 0 && grpo_is_finite(temperature))) return GRPO_BAD_LOGITS_TEMPERATURE;
    o = grpo_row_odds_(part, temperature);
    rest = 1 + part->sum.hi;                                           /* the others' sum, relative to their largest */
    target = 1 / (1 + o.ratio);
    row->other = 1 / (1 + o.inverse);
    row->logp = -grpo_log_all_(&o);
    row->entropy = grpo_times(target, -row->logp);
    if (row->other > 0) row->entropy += row->other * (log1p(part->sum.hi) - part->spread.hi / rest + grpo_log_all_inverse_(&o));
    row->log_sum = -HUGE_VAL;
    if (row->other > 0.5) row->log_sum = part->largest / temperature + (log1p(part->sum.hi) + grpo_log_all_inverse_(&o));
    else if (part->has_target) row->log_sum = part->target / temperature + grpo_log_all_(&o);
    row->sum_squares = target * target + row->other * row->other * ((1 + part->squares.hi) / (rest * rest));
    return GRPO_OK;
}

GRPO_ROW_FN grpo_row_slopes grpo_row_slopes_of(const grpo_row_part *part, double temperature, double dlogp, double dentropy)
{
    const grpo_odds_ odds = grpo_row_odds_(part, temperature);
    grpo_row_slopes s;
    grpo_row r;
    grpo_row_of(part, temperature, &r);
    s.largest = part->largest; s.temperature = temperature;
    s.at = s.slope = 0;
    s.share = r.other / (1 + part->sum.hi);                            /* probability of the largest of the others */
    if (s.share > 0) {                                                 /* of log p + H: what all have in common, and what differs */
        s.at = -dlogp - grpo_times(dentropy, r.entropy - grpo_log_all_inverse_(&odds) - log1p(part->sum.hi));
        s.slope = -dentropy;
    }
    s.target = grpo_times(dlogp, r.other) - grpo_times(dentropy, grpo_times(1 / (1 + odds.ratio), r.logp + r.entropy));
    if (part->target == -HUGE_VAL) s.target = 0;
    return s;
}

GRPO_ROW_FN double grpo_row_slope(const grpo_row_slopes *s, double z, int is_target)
{
    grpo_dd e;
    double p;
    if (is_target) return s->target / s->temperature;
    if (z == -HUGE_VAL) return 0;
    e = grpo_row_exponent_(z, s->largest, s->temperature);
    p = grpo_exp(e) * s->share;
    return (grpo_times(p, s->at) + grpo_times(p, grpo_times(s->slope, e.hi))) / s->temperature;
}

static void grpo_row_gradient_each_(const grpo_logits *x, int64_t row, const grpo_row_slopes *s, void *dlogits)
{
    int64_t v;
    for (v = 0; v < x->vocab; v++) grpo_put_logit_(x->type, dlogits, v, grpo_row_slope(s, grpo_logit_(x, row, v), 0));
}

grpo_status grpo_row_gradient(const grpo_logits *x, int64_t row, const grpo_row_part *part, double dlogp, double dentropy, void *dlogits)
{
    grpo_row_slopes s;
    grpo_status st = grpo_check_logits_(x, row);
    if (st) return st;
    if (!part || !dlogits) return GRPO_NULL_OUTPUT;
    s = grpo_row_slopes_of(part, x->temperature, dlogp, dentropy);
    if (s.at == 0 && s.slope == 0) memset(dlogits, 0, (size_t)x->vocab * grpo_element_size_(x->type));
    else if (grpo_is_fast_(x) && fabs(s.at) < 1e150 && fabs(s.slope) < 1e150) grpo_row_gradient_fast_(x, row, &s, dlogits);
    else grpo_row_gradient_each_(x, row, &s, dlogits);
    if (x->target[row] >= 0 && x->target[row] < x->vocab) grpo_put_logit_(x->type, dlogits, x->target[row], grpo_row_slope(&s, 0, 1));
    return GRPO_OK;
}

/* ---- the rows of a batch ------------------------------------------------------------------------------------------------------------ */

static void *grpo_row_at_(const grpo_rows *rows, int64_t row)
{
    return (char *)rows->dlogits + (size_t)(row * rows->logits.stride) * grpo_element_size_(rows->logits.type);
}

/* 0 for NULL, which stands for nothing to pass on */
static double grpo_real_at_(const grpo_real *x, int64_t t) { return x ? (double)x[t] : 0; }

static grpo_status grpo_check_range_(const grpo_rows *rows, int64_t first, int64_t count)
{
    grpo_status st;
    if (!rows || !rows->part) return GRPO_NULL_ROWS;
    if (first < 0 || count < 0 || count > rows->logits.rows - first) return GRPO_BAD_LOGITS_SHAPE;
    st = grpo_check_logits_(&rows->logits, first);
    return count == 0 && st == GRPO_BAD_LOGITS_SHAPE ? GRPO_OK : st;
}

static void grpo_write_row_(const grpo_rows *rows, int64_t t, const grpo_row *r)
{
    int overflow;
    if (rows->logp) grpo_put_(rows->logp, t, r ? r->logp : 0, &overflow);
    if (rows->entropy) grpo_put_(rows->entropy, t, r ? r->entropy : 0, &overflow);
}

grpo_status grpo_rows_read(const grpo_rows *rows, const uint8_t *mask, int64_t first, int64_t count)
{
    grpo_status st = grpo_check_range_(rows, first, count);
    grpo_row r;
    int64_t t;
    for (t = first; !st && t < first + count; t++) {
        if (mask && !mask[t]) { grpo_write_row_(rows, t, NULL); continue; }
        st = grpo_row_read(&rows->logits, t, &rows->part[t]);
        if (!st) st = grpo_row_of(&rows->part[t], rows->logits.temperature, &r);
        if (!st) grpo_write_row_(rows, t, &r);
    }
    return st;
}

static void grpo_clear_row_(const grpo_rows *rows, int64_t t)
{
    memset(grpo_row_at_(rows, t), 0, (size_t)rows->logits.vocab * grpo_element_size_(rows->logits.type));
}

grpo_status grpo_rows_gradient(const grpo_rows *rows, const uint8_t *mask, const grpo_real *dlogp, const grpo_real *dentropy,
                               int64_t first, int64_t count)
{
    grpo_status st = grpo_check_range_(rows, first, count);
    int64_t t;
    if (!st && !rows->dlogits) st = GRPO_NULL_OUTPUT;
    for (t = first; !st && t < first + count; t++) {
        if (mask && !mask[t]) grpo_clear_row_(rows, t);
        else st = grpo_row_gradient(&rows->logits, t, &rows->part[t], grpo_real_at_(dlogp, t), grpo_real_at_(dentropy, t),
                                    grpo_row_at_(rows, t));
    }
    return st;
}

/* what becomes of a row is noted in part.has_target until the row is read */
enum { GRPO_ROW_OF_NONE_ = -3, GRPO_ROW_MASKED_ = -2, GRPO_ROW_COUNTS_ = -1 };

static grpo_status grpo_mark_rows_(const grpo_batch *b, const grpo_rows *rows)
{
    const grpo_logits *x = &rows->logits;
    int64_t i, t;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if ((!b->mask || b->mask[t]) && !(x->target[t] >= 0 && x->target[t] < x->vocab)) return GRPO_BAD_TARGET;
    for (t = 0; t < x->rows; t++) rows->part[t].has_target = GRPO_ROW_OF_NONE_;
    for (i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            rows->part[t].has_target = !b->mask || b->mask[t] ? GRPO_ROW_COUNTS_ : GRPO_ROW_MASKED_;
    return GRPO_OK;
}

#ifdef _OPENMP
#define GRPO_OMP_(text) _Pragma(text)
#else
#define GRPO_OMP_(text)
#endif

static grpo_status grpo_read_marked_(const grpo_rows *rows)
{
    const int64_t n = rows->logits.rows;
    int64_t t;
    int bad = 0;
    GRPO_OMP_("omp parallel for schedule(guided) reduction(|:bad)")
    for (t = 0; t < n; t++)
        if (rows->part[t].has_target == GRPO_ROW_COUNTS_) bad |= grpo_row_read(&rows->logits, t, &rows->part[t]) != GRPO_OK;
    if (bad) return GRPO_BAD_LOGITS;
    GRPO_OMP_("omp parallel for schedule(static)")
    for (t = 0; t < n; t++) {
        grpo_row r;
        if (rows->part[t].has_target == GRPO_ROW_MASKED_) grpo_write_row_(rows, t, NULL);
        if (rows->part[t].has_target < 0) continue;
        grpo_row_of(&rows->part[t], rows->logits.temperature, &r);
        grpo_write_row_(rows, t, &r);
    }
    return GRPO_OK;
}

static void grpo_differentiate_marked_(const grpo_rows *rows, const grpo_output *out)
{
    const int64_t n = rows->logits.rows;
    int64_t t;
    GRPO_OMP_("omp parallel for schedule(guided)")
    for (t = 0; t < n; t++) {
        const grpo_row_part *p = &rows->part[t];
        if (p->has_target == GRPO_ROW_MASKED_) grpo_clear_row_(rows, t);
        if (p->has_target < 0) continue;
        grpo_row_gradient(&rows->logits, t, p, (double)out->dlogp[t], (double)out->dentropy[t], grpo_row_at_(rows, t));
    }
}

/* all that can be wrong before a row has been read */
static grpo_status grpo_check_rows_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_rows *rows,
                                    const grpo_output *out, const grpo_method_ *how)
{
    grpo_status st;
    int needs;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    st = grpo_objective_check(obj);
    if (!st) st = grpo_check_layout_(batch);
    if (st) return st;
    needs = grpo_loss_needs_(obj) & ~(GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_);
    st = grpo_check_arrays_(batch, advantage, needs, GRPO_NEED_OLD_ | GRPO_NEED_REF_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    if (!rows || !rows->part || !rows->logp || !rows->entropy) return GRPO_NULL_ROWS;
    if (rows->dlogits && !(out && out->dlogp && out->dentropy)) return GRPO_NULL_ROWS;
    if (how->scratch > 0 && !(out && out->scratch && out->scratch_size >= how->scratch)) return GRPO_NEEDS_SCRATCH;
    if (rows->logits.rows != batch->n_tokens) return GRPO_BAD_LOGITS_SHAPE;
    return grpo_check_range_(rows, 0, rows->logits.rows);
}

static grpo_status grpo_run_rows_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                  const grpo_rows *rows, const grpo_output *out, grpo_partial *partial, const grpo_method_ *how)
{
    grpo_status st = grpo_check_rows_(obj, batch, advantage, rows, out, how);
    grpo_batch b;
    if (!st && !partial) st = GRPO_NULL_OUTPUT;
    if (!st) st = grpo_mark_rows_(batch, rows);
    if (!st) st = grpo_read_marked_(rows);
    if (st) return st;
    b = *batch;
    b.logp = rows->logp; b.entropy = rows->entropy;
    st = grpo_run_batch_(obj, &b, advantage, totals, out, partial, how);
    if (!st && rows->dlogits) grpo_differentiate_marked_(rows, out);
    return st;
}

static grpo_status grpo_run_rows_once_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                       const grpo_totals *totals, const grpo_rows *rows, const grpo_output *out, grpo_report *report,
                                       const grpo_method_ *how)
{
    grpo_partial partial;
    grpo_status st;
    memset(&partial, 0, sizeof partial);
    if (!report) return obj ? GRPO_NULL_OUTPUT : GRPO_NULL_OBJECTIVE;
    st = grpo_run_rows_(obj, batch, advantage, totals, rows, out, &partial, how);
    if (!st) grpo_report_of(&partial, report);
    return st;
}

grpo_status grpo_logits_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_rows *rows, const grpo_output *out, grpo_report *report)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_rows_once_(obj, batch, advantage, totals, rows, out, report, &grpo_by_tokens_);
}

grpo_status grpo_logits_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_rows *rows, const grpo_output *out, grpo_partial *partial)
{
    if (grpo_is_of_gspo_(obj)) return GRPO_NEEDS_GSPO;
    return grpo_run_rows_(obj, batch, advantage, totals, rows, out, partial, &grpo_by_tokens_);
}

/* ---- fields, presets, names ---------------------------------------------------------------------------------------------------- */

const grpo_field *grpo_fields(int *count)
{
    static const grpo_field fields[] = {
#define GRPO_CHOICE_(path, choices) { #path, choices, offsetof(grpo_objective, path) }
#define GRPO_NUMBER_(path) { #path, NULL, offsetof(grpo_objective, path) }
        GRPO_CHOICE_(reward.truncated, "keep|scale"), GRPO_NUMBER_(reward.truncated_factor),
        GRPO_CHOICE_(reward.length, "none|kimi|cosine|inverse"), GRPO_NUMBER_(reward.length_coef), GRPO_NUMBER_(reward.length_max),
        GRPO_NUMBER_(reward.correct_low), GRPO_NUMBER_(reward.correct_high),
        GRPO_NUMBER_(reward.wrong_low), GRPO_NUMBER_(reward.wrong_high),
        GRPO_CHOICE_(reward.overlong, "none|soft|linear"),
        GRPO_NUMBER_(reward.overlong_max), GRPO_NUMBER_(reward.overlong_cache), GRPO_NUMBER_(reward.overlong_factor),
        GRPO_CHOICE_(reward.map, "none|affine"), GRPO_NUMBER_(reward.map_bias), GRPO_NUMBER_(reward.map_factor),
        GRPO_NUMBER_(reward.map_low), GRPO_NUMBER_(reward.map_high),
        GRPO_CHOICE_(reward.kl, "none|k1|k2|k3|abs"), GRPO_NUMBER_(reward.kl_coef),
        GRPO_CHOICE_(advantage.rewards, "one|each"),
        GRPO_CHOICE_(advantage.step_value, "reward|return|response"),
        GRPO_CHOICE_(advantage.step_group, "prompt|state|index|history"),
        GRPO_NUMBER_(advantage.history), GRPO_NUMBER_(advantage.history_power),
        GRPO_CHOICE_(advantage.outside, "none|zero|anchor|own"), GRPO_NUMBER_(advantage.outside_coef),
        GRPO_CHOICE_(advantage.transform, "none|best_minus_second|pass_at_k|pkpo|pkpo_max|pkpo_gain"), GRPO_NUMBER_(advantage.pass_k),
        GRPO_CHOICE_(advantage.baseline, "none|group_mean|leave_one_out|length_weighted|given"
                     "|batch_mean|quantile|quantile_linear|log_mean_exp|densest|kalman"),
        GRPO_NUMBER_(advantage.shift), GRPO_NUMBER_(advantage.quantile),
        GRPO_NUMBER_(advantage.temperature), GRPO_NUMBER_(advantage.window),
        GRPO_NUMBER_(advantage.process_noise), GRPO_NUMBER_(advantage.observation_noise),
        GRPO_CHOICE_(advantage.scale, "none|group_std|batch_std|batch_centred_std|token_whiten"
                     "|group_mean|leave_one_out_std|residual_rms|kalman_std|constant|beta"
                     "|mean_deviation"),
        GRPO_CHOICE_(advantage.std, "sample|population"),
        GRPO_NUMBER_(advantage.eps), GRPO_CHOICE_(advantage.eps_place, "add|inside|floor|floor_add"),
        GRPO_CHOICE_(advantage.singleton, "zero|raw"),
        GRPO_CHOICE_(advantage.gain, "none|valid_groups|nonzero_rewards|difficulty|length_power|exponential"
                     "|failure_power"),
        GRPO_NUMBER_(advantage.gain_low), GRPO_NUMBER_(advantage.gain_high),
        GRPO_NUMBER_(advantage.gain_slope), GRPO_NUMBER_(advantage.gain_centre),
        GRPO_NUMBER_(advantage.length_power), GRPO_NUMBER_(advantage.gain_temperature),
        GRPO_NUMBER_(advantage.gain_power),
        GRPO_CHOICE_(advantage.second, "none|batch|tokens"), GRPO_NUMBER_(advantage.second_eps),
        GRPO_CHOICE_(advantage.credit, "outcome|return|step|gae|step_own|episode_step|entropy_share|prefix_tree"
                     "|step_gae"),
        GRPO_CHOICE_(advantage.step_discount, "tokens|steps"), GRPO_CHOICE_(advantage.bootstrap, "zero|repeat"),
        GRPO_NUMBER_(advantage.gamma), GRPO_NUMBER_(advantage.lambda), GRPO_NUMBER_(advantage.lambda_length),
        GRPO_NUMBER_(advantage.truncated_tail),
        GRPO_NUMBER_(advantage.step_coef), GRPO_NUMBER_(advantage.share_coef), GRPO_NUMBER_(advantage.share_eps),
        GRPO_CHOICE_(advantage.token_baseline, "none|optimal"),
        GRPO_CHOICE_(advantage.entropy, "none|bonus|zero_variance|relative|response"),
        GRPO_NUMBER_(advantage.entropy_coef), GRPO_NUMBER_(advantage.entropy_cap),
        GRPO_NUMBER_(advantage.teacher_share), GRPO_NUMBER_(advantage.teacher_clip),
        GRPO_NUMBER_(advantage.teacher_coef), GRPO_NUMBER_(advantage.teacher_gamma), GRPO_CHOICE_(advantage.teacher_norm, "none|mean"),
        GRPO_NUMBER_(advantage.kl_centred_coef),
        GRPO_CHOICE_(advantage.marked, "none|fixed|boost"), GRPO_NUMBER_(advantage.marked_value),
        GRPO_NUMBER_(advantage.advantage_low), GRPO_NUMBER_(advantage.advantage_high),
        GRPO_CHOICE_(ratio.unit, "token|sequence_mean|sequence_sum|sequence_clipped_mean"
                     "|segment_mean|segment_sum|prefix_sum|prefix_mean|sequence_mean_ratio"
                     "|sequence_power_mean"),
        GRPO_CHOICE_(ratio.gradient, "unit|token"), GRPO_CHOICE_(ratio.against, "old|rollout|ref|current|nothing"),
        GRPO_NUMBER_(ratio.pool_low), GRPO_NUMBER_(ratio.pool_high), GRPO_NUMBER_(ratio.power),
        GRPO_NUMBER_(ratio.clamp_low), GRPO_NUMBER_(ratio.clamp_high),
        GRPO_NUMBER_(ratio.unit_clamp_low), GRPO_NUMBER_(ratio.unit_clamp_high),
        GRPO_CHOICE_(ratio.mix, "none|average|weighted"), GRPO_NUMBER_(ratio.mix_token), GRPO_NUMBER_(ratio.mix_unit),
        GRPO_CHOICE_(surrogate.kind, "score|ratio|ppo_clip|dual_clip|cispo|sapo|vespo|log_ratio|squared|gppo|aspo|topr|band|sapo_detached"
                     "|variance|labels|balance|pairs|contrast|contrast_mean|contrast_lse|soft_pairs|match|match_js"
                     "|logistic|dispo|bgpo|shaped|quadratic|unbounded_positive|standardised|target|hinge"
                     "|regression|none"),
        GRPO_CHOICE_(surrogate.score, "log|ratio"),
        GRPO_CHOICE_(surrogate.bounds, "fixed|probability|position|given"),
        GRPO_NUMBER_(surrogate.eps_low), GRPO_NUMBER_(surrogate.eps_high), GRPO_NUMBER_(surrogate.bound_cap),
        GRPO_NUMBER_(surrogate.log_low), GRPO_NUMBER_(surrogate.log_high), GRPO_NUMBER_(surrogate.log_dual),
        GRPO_NUMBER_(surrogate.position_power),
        GRPO_NUMBER_(surrogate.dual), GRPO_NUMBER_(surrogate.dual_pos), GRPO_NUMBER_(surrogate.beta_low), GRPO_NUMBER_(surrogate.beta_high),
        GRPO_NUMBER_(surrogate.weight_min), GRPO_NUMBER_(surrogate.weight_max),
        GRPO_NUMBER_(surrogate.weight_min_neg), GRPO_NUMBER_(surrogate.weight_max_neg),
        GRPO_NUMBER_(surrogate.tau_pos), GRPO_NUMBER_(surrogate.tau_neg),
        GRPO_NUMBER_(surrogate.k_pos), GRPO_NUMBER_(surrogate.lambda_pos), GRPO_NUMBER_(surrogate.k_neg), GRPO_NUMBER_(surrogate.lambda_neg),
        GRPO_NUMBER_(surrogate.strength), GRPO_NUMBER_(surrogate.length_rate), GRPO_NUMBER_(surrogate.shift), GRPO_NUMBER_(surrogate.shape),
        GRPO_NUMBER_(surrogate.margin), GRPO_NUMBER_(surrogate.score_eps),
        GRPO_CHOICE_(penalty.kl, "none|k1|k2|k3|abs"), GRPO_CHOICE_(penalty.kl_against, "ref|old|rollout|teacher"),
        GRPO_CHOICE_(penalty.kl_on, "all|selected"), GRPO_CHOICE_(penalty.kl_gradient, "own|k2|none"),
        GRPO_CHOICE_(penalty.kl_ratio, "none|token|unit|score"), GRPO_NUMBER_(penalty.kl_ratio_max),
        GRPO_NUMBER_(penalty.kl_coef), GRPO_NUMBER_(penalty.kl_clamp_log), GRPO_NUMBER_(penalty.kl_clamp_value),
        GRPO_NUMBER_(penalty.entropy_coef),
        GRPO_CHOICE_(penalty.likelihood_on, "none|correct|positive|selected|all|not_negative"),
        GRPO_CHOICE_(penalty.likelihood_weight, "none|p|p_not_p|teacher_gate"),
        GRPO_CHOICE_(penalty.likelihood_form, "logp|teacher_gap|lost"), GRPO_CHOICE_(penalty.likelihood_gate, "none|sequence|segment"),
        GRPO_NUMBER_(penalty.likelihood_gain), GRPO_NUMBER_(penalty.likelihood_coef),
        GRPO_CHOICE_(penalty.pairs, "none|margin|margin_else_sign"), GRPO_CHOICE_(penalty.pair_score, "ref|free"),
        GRPO_NUMBER_(penalty.pair_margin), GRPO_NUMBER_(penalty.pair_beta), GRPO_NUMBER_(penalty.pair_coef),
        GRPO_NUMBER_(penalty.pair_gain),
        GRPO_CHOICE_(weight.truncated, "keep|mask"),
        GRPO_CHOICE_(weight.trust, "none|one_sided|two_sided|log_two_sided|probability|probability_both|binary_kl|k2|ring"),
        GRPO_NUMBER_(weight.trust_low), GRPO_NUMBER_(weight.trust_high), GRPO_NUMBER_(weight.ring_low), GRPO_NUMBER_(weight.ring_high),
        GRPO_CHOICE_(weight.off_policy, "none|old|rollout|total_variation"), GRPO_NUMBER_(weight.off_policy_max),
        GRPO_CHOICE_(weight.selected, "all|keep|drop"), GRPO_CHOICE_(weight.correction, "none|truncate|mask|reject"),
        GRPO_CHOICE_(weight.correction_unit, "token|sequence_sum|sequence_mean|segment_sum|segment_mean"),
        GRPO_NUMBER_(weight.correction_low), GRPO_NUMBER_(weight.correction_high), GRPO_NUMBER_(weight.correction_clamp),
        GRPO_CHOICE_(weight.correction_norm, "none|mean"),
        GRPO_CHOICE_(weight.drift, "none|token|sequence_sum|sequence_mean"), GRPO_NUMBER_(weight.drift_low), GRPO_NUMBER_(weight.drift_high),
        GRPO_CHOICE_(weight.reject, "none|ratio|k2|k3|probability|exp_abs"),
        GRPO_CHOICE_(weight.reject_unit, "token|sequence_sum|sequence_mean|sequence_max|segment_sum|segment_mean|segment_max"),
        GRPO_NUMBER_(weight.reject_low), GRPO_NUMBER_(weight.reject_high), GRPO_NUMBER_(weight.veto),
        GRPO_CHOICE_(weight.rejected, "zero_weight|unmask"),
        GRPO_CHOICE_(weight.future, "none|decayed"), GRPO_NUMBER_(weight.future_half_life), GRPO_NUMBER_(weight.future_max),
        GRPO_NUMBER_(weight.future_low), GRPO_NUMBER_(weight.future_high), GRPO_NUMBER_(weight.future_safe),
        GRPO_NUMBER_(weight.future_safe_low), GRPO_NUMBER_(weight.future_safe_high),
        GRPO_CHOICE_(weight.given, "none|policy|term"),
        GRPO_CHOICE_(aggregation.kind, "token_sum|token_mean|seq_mean_token_mean|seq_mean_token_sum|seq_mean_constant|constant|group_mean_token_mean"
                                       "|seq_mean_length_power|seq_sum_token_mean|group_mean|group_mean_seq_mean|token_mean_by_sign"
                                       "|seq_mean_segment_mean|seq_mean_by_sign|token_mean_varied"),
        GRPO_NUMBER_(aggregation.constant), GRPO_NUMBER_(aggregation.power), GRPO_CHOICE_(aggregation.empty, "count|skip")
#undef GRPO_CHOICE_
#undef GRPO_NUMBER_
    };
    *count = (int)(sizeof fields / sizeof *fields);
    return fields;
}

#ifndef GRPO_NO_ROWS
/* What each row sets; the rest is the first choice and 0.  Where a paper writes mean and std without more: sample standard deviation, no
 * eps.  trl-* and verl-* rows are what those frameworks compute where it differs from the papers. */
#define OVERLONG(m, c)         SET(reward.overlong, GRPO_OVERLONG_SOFT), SET(reward.overlong_max, m), SET(reward.overlong_cache, c), \
        SET(reward.overlong_factor, 1)
#define REWARD_K1(beta)        SET(reward.kl, GRPO_KL_K1), SET(reward.kl_coef, beta)
#define AFFINE(bias, by, lo, hi)  SET(reward.map, GRPO_MAP_AFFINE), SET(reward.map_bias, bias), SET(reward.map_factor, by), \
        SET(reward.map_low, lo), SET(reward.map_high, hi)
#define CREDIT(kind, discount) SET(advantage.credit, GRPO_CREDIT_##kind), SET(advantage.gamma, discount)
#define GAE(discount, decay)   CREDIT(GAE, discount), SET(advantage.lambda, decay)
#define STEPS(value, group)    SET(advantage.step_value, GRPO_STEP_VALUE_##value), SET(advantage.step_group, GRPO_STEP_GROUP_##group)
#define BASELINE(kind)         SET(advantage.baseline, GRPO_BASELINE_##kind)
#define SCALE(kind)            SET(advantage.scale, GRPO_SCALE_##kind)
#define EPS(number, place)     SET(advantage.eps, number), SET(advantage.eps_place, GRPO_EPS_##place)
#define GROUP_NORM             BASELINE(GROUP_MEAN), SCALE(GROUP_STD)
#define TRL_NORM               GROUP_NORM, SET(advantage.eps, 1e-4)
#define VERL_NORM              GROUP_NORM, SET(advantage.eps, 1e-6), SET(advantage.singleton, GRPO_SINGLETON_RAW)
#define UNIT(kind)             SET(ratio.unit, GRPO_UNIT_##kind)
#define CLAMP(lo, hi)          SET(ratio.clamp_low, lo), SET(ratio.clamp_high, hi)
#define UNIT_CLAMP(lo, hi)     SET(ratio.unit_clamp_low, lo), SET(ratio.unit_clamp_high, hi)
#define AGAINST(whom)          SET(ratio.against, GRPO_AGAINST_##whom)
#define SURROGATE(what)        SET(surrogate.kind, GRPO_SURROGATE_##what)
#define BAND(lo, hi)           SET(surrogate.eps_low, lo), SET(surrogate.eps_high, hi)
#define CLIP(lo, hi)           SURROGATE(PPO_CLIP), BAND(lo, hi)
#define DUAL(lo, hi, c)        SURROGATE(DUAL_CLIP), BAND(lo, hi), SET(surrogate.dual, c)
#define LOG_DUAL(lo, hi, c, power) SURROGATE(DUAL_CLIP), SET(surrogate.bounds, GRPO_BOUNDS_POSITION), SET(surrogate.log_low, lo), \
        SET(surrogate.log_high, hi), SET(surrogate.log_dual, c), SET(surrogate.position_power, power)
#define CISPO(lo, hi)          SURROGATE(CISPO), SET(surrogate.weight_min, lo), SET(surrogate.weight_max, hi)
#define SAPO(pos, neg)         SURROGATE(SAPO), SET(surrogate.tau_pos, pos), SET(surrogate.tau_neg, neg)
#define VESPO(kp, lp, kn, ln)  SURROGATE(VESPO), SET(surrogate.k_pos, kp), SET(surrogate.lambda_pos, lp), \
        SET(surrogate.k_neg, kn), SET(surrogate.lambda_neg, ln)
#define KL(kind, beta)         SET(penalty.kl, GRPO_KL_##kind), SET(penalty.kl_coef, beta)
#define AGAINST_TEACHER        SET(penalty.kl_against, GRPO_KL_AGAINST_TEACHER)
#define LIKELIHOOD(on, by, c)  SET(penalty.likelihood_on, GRPO_LIKELIHOOD_##on), \
        SET(penalty.likelihood_weight, GRPO_LIKELIHOOD_WEIGHT_##by), SET(penalty.likelihood_coef, c)
#define PAIRED(margin, beta, c)  SET(penalty.pairs, GRPO_PAIRS_MARGIN), SET(penalty.pair_margin, margin), SET(penalty.pair_beta, beta), \
        SET(penalty.pair_coef, c)
#define DRIFT(unit, lo, hi)    SET(weight.drift, GRPO_DRIFT_##unit), SET(weight.drift_low, lo), SET(weight.drift_high, hi)
#define FINISHED               SET(weight.truncated, GRPO_TRUNCATED_MASK)
#define CORRECT(kind, unit, lo, hi, outside) SET(weight.correction, GRPO_CORRECTION_##kind), \
        SET(weight.correction_unit, GRPO_CORRECTION_##unit), SET(weight.correction_low, lo), SET(weight.correction_high, hi), \
        SET(weight.rejected, GRPO_REJECTED_##outside)
#define TRUST(kind, lo, hi)    SET(weight.trust, GRPO_TRUST_##kind), SET(weight.trust_low, lo), SET(weight.trust_high, hi)
#define RING(lo, hi)           SET(weight.ring_low, lo), SET(weight.ring_high, hi)
#define REJECT(kind, unit, lo, hi) SET(weight.reject, GRPO_REJECT_##kind), SET(weight.reject_unit, GRPO_REJECT_##unit), \
        SET(weight.reject_low, lo), SET(weight.reject_high, hi)
#define FUTURE(half_life, max, lo, hi) SET(weight.future, GRPO_FUTURE_DECAYED), SET(weight.future_half_life, half_life), \
        SET(weight.future_max, max), SET(weight.future_low, lo), SET(weight.future_high, hi)
#define FUTURE_SAFE(from, lo, hi) SET(weight.future_safe, from), SET(weight.future_safe_low, lo), SET(weight.future_safe_high, hi)
#define MIX(kind)              SET(ratio.mix, GRPO_MIX_##kind)
#define HALVES                 MIX(WEIGHTED), SET(ratio.mix_token, 0.5), SET(ratio.mix_unit, 0.5)
#define DIVIDE(by)             SET(aggregation.kind, GRPO_##by)
#define SKIP_EMPTY             SET(aggregation.empty, GRPO_EMPTY_SKIP)
#define GRPO_ROWS_ \
    ROW("reinforce", "Williams 1992", "REINFORCE", "score function of the raw reward, no baseline", \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("ppo", "1707.06347", "7, 11-12", "clipped token ratio, generalised advantage estimation from a critic", \
        GAE(0.99, 0.95), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("ppo-dual-clip", "1912.09729", "dual-clip objective", "PPO whose loss is bounded for bad actions too", \
        GAE(0.99, 0.95), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("grpo", "2402.03300", "3-4", "group mean and deviation as baseline, KL k3 in the loss", \
        GROUP_NORM, CLIP(0.2, 0.2), KL(K3, 0.04), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("grpo-process", "2402.03300", "3-4, section 4.1.3", "GRPO on step rewards, normalised together and summed to go", \
        CREDIT(STEP, 1), GROUP_NORM, CLIP(0.2, 0.2), KL(K3, 0.04), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("grpo-unbiased-kl", "2512.02556", "unbiased KL estimate", "k3 times the ratio; no deviation", \
        BASELINE(GROUP_MEAN), CLIP(0.2, 0.2), KL(K3, 0.001), SET(penalty.kl_ratio, GRPO_KL_RATIO_TOKEN), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dr-grpo", "2503.20783", "objective of section 3", "no deviation, no length: a constant divides", \
        BASELINE(GROUP_MEAN), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_CONSTANT), SET(aggregation.constant, 3000)) \
    ROW("dapo", "2503.14476", "8-13", "clip higher, mean over all tokens, soft overlong punishment", \
        OVERLONG(20480, 4096), GROUP_NORM, CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("dapo-filter", "2503.14476", "8-12", "DAPO with truncated responses left out instead of punished", \
        GROUP_NORM, CLIP(0.2, 0.28), FINISHED, DIVIDE(TOKEN_MEAN)) \
    ROW("rloo", "2402.14740", "leave-one-out estimator", "leave-one-out baseline, KL in the reward, whole responses", \
        REWARD_K1(0.05), BASELINE(LEAVE_ONE_OUT), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("reinforce++", "2501.03262", "REINFORCE++", "KL in the token rewards, whitened over the tokens of the batch", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), SCALE(TOKEN_WHITEN), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("reinforce++-baseline", "2501.03262", "REINFORCE++ with baseline", "group mean, then whitened; KL k2 in the loss", \
        BASELINE(GROUP_MEAN), SCALE(TOKEN_WHITEN), CLIP(0.2, 0.2), KL(K2, 0.001), DIVIDE(TOKEN_MEAN)) \
    ROW("remax", "2310.10505", "ReMax estimator", "reward of the greedy response as baseline", \
        BASELINE(GIVEN), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("opo", "2505.23585", "optimal baseline", "length-weighted mean as baseline", \
        BASELINE(LENGTH_WEIGHTED), DIVIDE(TOKEN_MEAN)) \
    ROW("gpg", "2504.02546", "GPG objective", "group mean, scaled up for the groups that give no gradient", \
        BASELINE(GROUP_MEAN), SET(advantage.gain, GRPO_GAIN_VALID_GROUPS), DIVIDE(TOKEN_MEAN)) \
    ROW("lite-ppo", "2508.08221", "Lite PPO", "group mean, deviation of the batch, mean over all tokens", \
        BASELINE(GROUP_MEAN), SCALE(BATCH_STD), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("gspo", "2507.18071", "5-7", "one length-normalised ratio per response", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), CLIP(3e-4, 4e-4), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gspo-token", "2507.18071", "13-17", "GSPO whose gradient stays at the token, for advantages that differ inside a response", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), CLIP(3e-4, 4e-4), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gmpo", "2507.20673", "GMPO objective", "geometric mean of token ratios, each clipped before", \
        GROUP_NORM, UNIT(SEQUENCE_CLIPPED_MEAN), SET(ratio.pool_low, 0.4), SET(ratio.pool_high, 0.4), SURROGATE(RATIO), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("cispo", "2506.13585", "4-5", "clips the weight and not the gradient", \
        GROUP_NORM, CISPO(0, 5), DIVIDE(TOKEN_MEAN)) \
    ROW("sapo", "2511.20347", "5-7", "a sigmoid gate instead of a clip", \
        GROUP_NORM, SAPO(1, 1.05), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("luspo", "2602.05261", "LUSPO objective", "GSPO with every response weighted by its length", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), CLIP(2e-3, 2.5e-3), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("vespo", "2602.10693", "VESPO kernel", "smooth detached weight of the whole response's ratio", \
        GROUP_NORM, UNIT(SEQUENCE_SUM), VESPO(2, 3, 3, 2), DIVIDE(TOKEN_MEAN)) \
    ROW("two-sided", "2505.07291", "two-sided clip", "GRPO with a second clip, against huge ratios of bad tokens", \
        GROUP_NORM, DUAL(0.2, 0.2, 4), KL(K3, 0.001), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("scalerl", "2510.13786", "ScaleRL objective", "CISPO against the sampling engine, mean per prompt", \
        BASELINE(GROUP_MEAN), SCALE(BATCH_CENTRED_STD), SET(ratio.against, GRPO_AGAINST_ROLLOUT), CISPO(0, 5), \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("tis", "Yao et al. 2025", "min(v, 2), tokens", "rollout mismatch: token weights, truncated", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tis-sequence", "Yao et al. 2025", "min(v, 2), responses", "rollout mismatch: response weights, truncated", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("icepop", "2510.18855", "IcePop", "rollout mismatch: tokens outside the band weigh nothing", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(MASK, TOKEN, 0.5, 5, ZERO_WEIGHT), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("mis-sequence", "Liu, Li et al. 2025", "v 1[0.5 <= v <= 2], responses", \
        "rollout mismatch: responses outside the band weigh nothing", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(MASK, SEQUENCE_SUM, 0.5, 2, ZERO_WEIGHT), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("geo-reject", "verl", "1[0.999 <= v <= 1.001], geometric mean", "rollout mismatch: responses outside the band leave the batch", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(REJECT, SEQUENCE_MEAN, 0.999, 1.001, UNMASK), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-grpo", "2402.03300", "as TRL", "GRPO as TRL computes it: eps 1e-4 beside the deviation, no KL", \
        TRL_NORM, CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-dapo", "2503.14476", "as TRL", "DAPO loss as TRL computes it", \
        TRL_NORM, CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-bnpo", "TRL", "as TRL", "TRL's loss_type bnpo: mean over the tokens of the batch", \
        TRL_NORM, CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-rloo", "2402.14740", "as TRL", "RLOO as TRL computes it: a clipped ratio of the whole response", \
        REWARD_K1(0.05), BASELINE(LEAVE_ONE_OUT), UNIT(SEQUENCE_SUM), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("verl-grpo", "2402.03300", "as verl", "GRPO as verl computes it: dual clip, bounded log-ratio, mean over tokens", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gspo", "2507.18071", "as verl", "GSPO as verl computes it: GSPO-token, log-ratio at most 10", \
        VERL_NORM, UNIT(SEQUENCE_MEAN), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), UNIT_CLAMP(-HUGE_VAL, 10), CLIP(3e-4, 4e-4), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("verl-cispo", "2506.13585", "as verl", "CISPO as verl computes it: weight in 0.8..1.2", \
        VERL_NORM, CLAMP(-20, 20), CISPO(0.8, 1.2), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-reinforce++", "2501.03262", "as verl", "REINFORCE++ as verl computes it: eps 1e-8 inside the root", \
        CREDIT(RETURN, 1), SCALE(TOKEN_WHITEN), EPS(1e-8, INSIDE), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("grpo-r1", "2501.12948", "1-3", "one importance ratio for the whole response, product over its tokens", \
        GROUP_NORM, UNIT(SEQUENCE_SUM), CLIP(10, 10), KL(K3, 0.001), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("opmd", "Trinity-RFT", "advantage and loss (logavgexp)", "log-mean-exp baseline, REINFORCE without a ratio, divided by 1 + tau", \
        BASELINE(LOG_MEAN_EXP), SCALE(CONSTANT), SET(advantage.temperature, 1), SET(advantage.eps, 2), \
        SET(advantage.singleton, GRPO_SINGLETON_RAW), DIVIDE(TOKEN_MEAN)) \
    ROW("kimi-k1.5", "2501.12599", "section 2.3.2", "squares reward minus log-mean-exp baseline minus scaled sequence log-ratio", \
        BASELINE(LOG_MEAN_EXP), SET(advantage.temperature, 0.1), UNIT(SEQUENCE_SUM), SURROGATE(SQUARED), SET(surrogate.strength, 0.1), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("kimi-k2", "2507.20534", "objective", "squares mean-centred reward minus scaled sequence log-ratio", \
        BASELINE(GROUP_MEAN), UNIT(SEQUENCE_SUM), SURROGATE(SQUARED), SET(surrogate.strength, 0.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("asymre", "2506.20520", "advantage", "off-policy REINFORCE with the baseline shifted down by 0.1", \
        BASELINE(GROUP_MEAN), SET(advantage.shift, -0.1), SET(advantage.singleton, GRPO_SINGLETON_RAW), DIVIDE(TOKEN_MEAN)) \
    ROW("maxrl", "2602.02710", "advantage", "divides centred rewards by the group mean instead of the std", \
        BASELINE(GROUP_MEAN), SCALE(GROUP_MEAN), SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("qae", "2509.22611", "2-4", "0.4-quantile of the group as baseline instead of the mean", \
        BASELINE(QUANTILE), SCALE(GROUP_STD), SET(advantage.quantile, 0.4), SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("qae-linear", "2509.22611", "official code", "quantile baseline by linear interpolation between order statistics", \
        BASELINE(QUANTILE_LINEAR), SCALE(GROUP_STD), SET(advantage.quantile, 0.4), SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gapo", "2510.21830", "official code", "median of the densest half as baseline, spread measured around it", \
        BASELINE(DENSEST), SCALE(RESIDUAL_RMS), SET(advantage.window, 0.5), SET(advantage.eps, 1e-6), \
        SET(advantage.singleton, GRPO_SINGLETON_RAW), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("krpo", "2505.07527", "official code", "Kalman filter over the group gives baseline and scale", \
        BASELINE(KALMAN), SCALE(KALMAN_STD), SET(advantage.process_noise, 1e-5), SET(advantage.observation_noise, 0.01), \
        SET(advantage.eps, 1e-8), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pass-at-k", "2508.10751", "analytic advantage", "analytic advantage of pass@k over binary rewards", \
        SCALE(GROUP_STD), SET(advantage.transform, GRPO_TRANSFORM_PASS_AT_K), SET(advantage.pass_k, 2), SET(advantage.eps, 1e-6), \
        CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("best-minus-second", "2503.19595", "advantage, without std", "only the best response is rewarded, by its lead over the second", \
        SET(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pkpo", "2505.15201", "binary form, leave-one-out", "pass@k reward transform with leave-one-out baseline", \
        BASELINE(LEAVE_ONE_OUT), SET(advantage.transform, GRPO_TRANSFORM_PKPO), SET(advantage.pass_k, 2), \
        SET(advantage.singleton, GRPO_SINGLETON_RAW), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("grpo-lead", "2504.09696", "official code, reweighting", "advantages reweighted by a logistic function of the success rate", \
        GROUP_NORM, SET(advantage.eps, 1e-6), SET(advantage.gain, GRPO_GAIN_DIFFICULTY), SET(advantage.gain_low, 0.4), \
        SET(advantage.gain_high, 1.5), SET(advantage.gain_slope, 10), SET(advantage.gain_centre, 0.75), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("delta-l", "2509.07558", "official code", "advantages weighted by inverse length, constant divisor", \
        GROUP_NORM, SET(advantage.eps, 1e-6), SET(advantage.gain, GRPO_GAIN_LENGTH_POWER), SET(advantage.length_power, 1), CLIP(0.2, 0.3), \
        DIVIDE(SEQ_MEAN_CONSTANT), SET(aggregation.constant, 3000)) \
    ROW("gdpo", "2601.05242", "as TRL", "normalises every reward by itself, sums, then normalises over the batch", \
        TRL_NORM, SET(advantage.rewards, GRPO_REWARDS_EACH), SET(advantage.second, GRPO_SECOND_BATCH), SET(advantage.second_eps, 0.0001), \
        CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("magistral", "2506.10910", "section 2.1", "group-mean baseline, then normalised over the minibatch, clip-higher", \
        BASELINE(GROUP_MEAN), SET(advantage.second, GRPO_SECOND_BATCH), CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("entropy-advantage", "2506.14758", "advantage", "adds a capped entropy bonus to the advantage", \
        GROUP_NORM, SET(advantage.entropy, GRPO_ENTROPY_BONUS), SET(advantage.entropy_coef, 0.4), SET(advantage.entropy_cap, 2), \
        CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("rl-zvp", "2509.21880", "5", "entropy-shaped advantages for groups whose rewards are all equal", \
        GROUP_NORM, SET(advantage.entropy, GRPO_ENTROPY_ZERO_VARIANCE), SET(advantage.entropy_coef, 0.1), CLIP(0.2, 0.28), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("gppo", "2508.07629", "11-12", "clipped tokens keep a bounded gradient", \
        GROUP_NORM, SURROGATE(GPPO), BAND(0.2, 0.28), SET(surrogate.beta_low, 1), SET(surrogate.beta_high, 1), DIVIDE(TOKEN_MEAN)) \
    ROW("ce-gppo", "2509.20712", "official code, 7B", "gradient-preserving clip with weakened low side and dual clip", \
        GROUP_NORM, SURROGATE(GPPO), BAND(0.2, 0.2), SET(surrogate.beta_low, 0.75), SET(surrogate.beta_high, 1), SET(surrogate.dual, 10), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("aspo", "2510.06062", "official code", "inverts the ratio of tokens with positive advantage, soft dual clips", \
        GROUP_NORM, CLAMP(-20, 20), SURROGATE(ASPO), BAND(0.2, 0.2), SET(surrogate.dual, 3), SET(surrogate.dual_pos, 3), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("topr", "2503.14286", "gradient, sequence level", \
        "REINFORCE whose negative responses are weighted by a truncated trajectory ratio", \
        UNIT(SEQUENCE_SUM), SURROGATE(TOPR), SET(surrogate.weight_max, 1), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("dppo-tv", "2602.04879", "binary TV", "masks tokens whose probability moved too far, instead of clipping ratios", \
        GROUP_NORM, CLAMP(-20, 20), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), TRUST(PROBABILITY, 0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dppo-kl", "2602.04879", "binary KL", "masks tokens whose binary KL to the rollout is too large", \
        GROUP_NORM, CLAMP(-20, 20), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), TRUST(BINARY_KL, 0.05, 0.05), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dro", "2405.19107", "token form, as verl", "REINFORCE plus half squared log-ratio to the old policy", \
        GROUP_NORM, KL(K2, 0.05), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("deepseek-v3.2", "2512.02556", "section 3.1", "off-policy sequence mask, ratio-weighted KL, no std", \
        BASELINE(GROUP_MEAN), CLIP(0.2, 0.2), KL(K3, 0.04), SET(penalty.kl_ratio, GRPO_KL_RATIO_TOKEN), \
        SET(weight.off_policy, GRPO_OFF_POLICY_ROLLOUT), SET(weight.off_policy_max, 0.5), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dcpo", "2509.02333", "dynamic clipping, OTM", "clip bounds that widen for improbable tokens, sums response means", \
        GROUP_NORM, DUAL(0.16, 0.2, 10), SET(surrogate.bounds, GRPO_BOUNDS_PROBABILITY), SET(surrogate.bound_cap, 10), \
        DIVIDE(SEQ_SUM_TOKEN_MEAN)) \
    ROW("clip-cov", "2505.22617", "Clip-Cov", "drops the loss of selected tokens of high covariance", \
        GROUP_NORM, CLIP(1, 1), SET(weight.selected, GRPO_SELECTED_DROP), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("kl-cov", "2505.22617", "KL-Cov", "penalises the log-ratio of selected tokens, no clip", \
        GROUP_NORM, SURROGATE(RATIO), KL(ABS, 1), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), SET(penalty.kl_on, GRPO_KL_ON_SELECTED), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("high-entropy", "2506.01939", "objective", "DAPO on the selected high-entropy tokens alone", \
        GROUP_NORM, CLIP(0.2, 0.28), SET(weight.selected, GRPO_SELECTED_KEEP), DIVIDE(TOKEN_MEAN)) \
    ROW("decoupled-ppo", "2505.24298", "decoupled objective", "proximal ratio weighted by old over rollout, tokens above 5 masked", \
        GROUP_NORM, CLIP(0.2, 0.2), CORRECT(MASK, TOKEN, 0, 5, ZERO_WEIGHT), DIVIDE(TOKEN_MEAN)) \
    ROW("length-power", "2607.23364", "as grpo.cpp", "weights a response by a power of its length, alpha 0.5", \
        GROUP_NORM, EPS(1e-8, INSIDE), SET(advantage.std, GRPO_STD_POPULATION), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_LENGTH_POWER), \
        SET(aggregation.power, 0.5)) \
    ROW("opd", "ROLL", "on-policy distillation", "REINFORCE with teacher minus old log-probability as the advantage", \
        AFFINE(0, 0, 0, 0), SET(advantage.teacher_coef, 1), DIVIDE(TOKEN_MEAN)) \
    ROW("mopd", "2601.02780", "5-9", "teacher advantage, weight kept only inside a band of the rollout ratio", \
        AFFINE(0, 0, 0, 0), SET(advantage.teacher_coef, 1), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(BAND), \
        SET(surrogate.weight_min, 0.5), SET(surrogate.weight_max, 5), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("prpo", "rLLM", "as rLLM", "normalises rewards over the whole batch, not the group", \
        BASELINE(BATCH_MEAN), SCALE(BATCH_STD), SET(advantage.std, GRPO_STD_POPULATION), SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("kimi-length", "2501.12599", "section 2.3.3", "adds a length reward relative to the group, on GRPO", \
        GROUP_NORM, SET(reward.length, GRPO_LENGTH_KIMI), SET(reward.length_coef, 1), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("cosine-length", "2502.03373", "as TRL", "reward scaled by a cosine of the length, on GRPO", \
        GROUP_NORM, SET(reward.length, GRPO_LENGTH_COSINE), SET(reward.length_max, 1024), SET(reward.correct_low, 0.5), \
        SET(reward.correct_high, 1), SET(reward.wrong_low, -1), SET(reward.wrong_high, -0.5), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("vapo-gae", "2504.05118", "as NeMo-RL", "critic advantages with a lambda that grows with the length", \
        CREDIT(GAE, 1), SET(advantage.lambda_length, 0.05), CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-gspo", "TRL", "loss grpo, sequence level", "TRL's GSPO, ratio of the mean log-ratio with narrow clip", \
        TRL_NORM, UNIT(SEQUENCE_MEAN), CLIP(0.0003, 0.0004), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-gspo-token", "TRL", "experimental trainer, sequence_token", \
        "TRL's GSPO-token, sequence ratio with gradient local to the token", \
        TRL_NORM, UNIT(SEQUENCE_MEAN), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), CLIP(0.0003, 0.0004), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-cispo", "TRL", "loss cispo", "TRL's CISPO, detached weight capped at 5, no lower bound", \
        TRL_NORM, CISPO(0, 5), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-sapo", "TRL", "loss sapo", "TRL's SAPO, soft gate in place of the clip", \
        TRL_NORM, SAPO(1, 1.05), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-luspo", "TRL", "loss luspo", "TRL's LUSPO, sequence loss multiplied by the length", \
        TRL_NORM, UNIT(SEQUENCE_MEAN), CLIP(0.002, 0.0025), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("trl-vespo", "TRL", "loss vespo", "TRL's VESPO, clamped sequence product in a soft weight", \
        TRL_NORM, UNIT(SEQUENCE_SUM), CLAMP(-20, 20), UNIT_CLAMP(-18.420680743952367, 20), VESPO(2, 3, 3, 2), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-dr-grpo", "TRL", "loss dr_grpo", "TRL's dr_grpo, constant divisor while the std scaling stays on", \
        TRL_NORM, CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_CONSTANT), SET(aggregation.constant, 3000)) \
    ROW("trl-gmpo", "TRL", "experimental trainer", "TRL's GMPO, geometric mean of clipped token ratios", \
        TRL_NORM, UNIT(SEQUENCE_CLIPPED_MEAN), SET(ratio.pool_low, 0.4), SET(ratio.pool_high, 0.4), SURROGATE(RATIO), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-lite-ppo", "TRL", "scale batch, loss dapo", "TRL's Lite PPO, group mean but std of the whole batch", \
        BASELINE(GROUP_MEAN), SCALE(BATCH_STD), SET(advantage.eps, 0.0001), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-rloo-normalized", "TRL", "RLOO trainer, normalize_advantages", \
        "TRL's RLOO with sequence product ratio and batch-normalised advantages", \
        REWARD_K1(0.05), BASELINE(LEAVE_ONE_OUT), SET(advantage.second, GRPO_SECOND_BATCH), SET(advantage.second_eps, 0.0001), \
        UNIT(SEQUENCE_SUM), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-gdpo", "TRL", "normalize_then_sum", "TRL's GDPO, each reward normalised, then the batch", \
        TRL_NORM, SET(advantage.rewards, GRPO_REWARDS_EACH), SET(advantage.second, GRPO_SECOND_BATCH), SET(advantage.second_eps, 0.0001), \
        CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-async", "TRL", "experimental async trainer", "TRL's asynchronous GRPO with population std", \
        GROUP_NORM, SET(advantage.std, GRPO_STD_POPULATION), SET(advantage.eps, 1e-8), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-opsm", "TRL", "off_policy_mask_threshold", "TRL with negative sequences dropped that drifted from the old policy", \
        TRL_NORM, CLIP(0.2, 0.2), SET(weight.off_policy, GRPO_OFF_POLICY_OLD), SET(weight.off_policy_max, 0.5), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-sequence-mask", "TRL", "vllm sequence_mask, C_max 3", "TRL's default rollout correction, sequence product zeroed above 3", \
        TRL_NORM, CLIP(0.2, 0.2), CORRECT(MASK, SEQUENCE_SUM, 0, 3, ZERO_WEIGHT), DIVIDE(TOKEN_MEAN)) \
    ROW("trl-unbiased-kl", "TRL", "use_bias_correction_kl", "TRL with the KL multiplied by the differentiated token ratio", \
        TRL_NORM, CLIP(0.2, 0.2), KL(K3, 0.04), SET(penalty.kl_ratio, GRPO_KL_RATIO_TOKEN), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-ppo", "verl", "gae, vanilla", "verl's PPO, critic advantages whitened over tokens, dual clip", \
        GAE(1, 1), SCALE(TOKEN_WHITEN), EPS(1e-8, INSIDE), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dapo", "verl", "vanilla, reward manager dapo", \
        "verl's DAPO, clip-higher, dual clip at 10, unbounded linear overlong penalty", \
        SET(reward.overlong, GRPO_OVERLONG_LINEAR), SET(reward.overlong_max, 20480), SET(reward.overlong_cache, 4096), \
        SET(reward.overlong_factor, 1), VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.28, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dr-grpo", "verl", "seq-mean-token-sum-norm", "verl's Dr.GRPO, no std and a constant divisor", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(SEQ_MEAN_CONSTANT), \
        SKIP_EMPTY, SET(aggregation.constant, 8192)) \
    ROW("verl-rloo", "verl", "rloo, vanilla", "verl's RLOO, leave-one-out advantage with token-level dual-clip PPO", \
        BASELINE(LEAVE_ONE_OUT), SET(advantage.singleton, GRPO_SINGLETON_RAW), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-opo", "verl", "opo, vanilla", "verl's OPO, length-weighted group baseline", \
        BASELINE(LENGTH_WEIGHTED), SET(advantage.singleton, GRPO_SINGLETON_RAW), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gpg", "verl", "gpg", "verl's GPG, REINFORCE scaled by the share of non-zero rewards", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), SET(advantage.gain, GRPO_GAIN_NONZERO_REWARDS), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-remax", "verl", "remax, vanilla", "verl's ReMax, greedy baseline with dual-clip PPO", \
        BASELINE(GIVEN), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-reinforce++-baseline", "verl", "reinforce_plus_plus_baseline, vanilla", \
        "verl's REINFORCE++-baseline, centred rewards whitened over tokens", \
        BASELINE(GROUP_MEAN), SCALE(TOKEN_WHITEN), EPS(1e-8, INSIDE), SET(advantage.singleton, GRPO_SINGLETON_RAW), CLAMP(-20, 20), \
        DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gmpo", "verl", "geo_mean", "verl's GMPO, geometric mean of ratios clipped at 0.2 in log space", \
        VERL_NORM, UNIT(SEQUENCE_CLIPPED_MEAN), SET(ratio.pool_low, 0.2), SET(ratio.pool_high, 0.2), SURROGATE(RATIO), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("verl-sapo", "verl", "sapo", "verl's SAPO, soft gate with clamped log-ratio", \
        VERL_NORM, CLAMP(-20, 20), SAPO(1, 1.05), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("verl-dppo-tv", "verl", "dppo_tv", "verl's DPPO-TV, detached ratio capped at 3, probability mask", \
        VERL_NORM, CLAMP(-20, 20), CISPO(0, 3), TRUST(PROBABILITY, 0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dppo-kl", "verl", "dppo_kl", "verl's DPPO-KL, detached ratio capped at 3, binary KL mask", \
        VERL_NORM, CLAMP(-20, 20), CISPO(0, 3), TRUST(BINARY_KL, 0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dro", "verl", "dro", "verl's DRO, REINFORCE plus half squared log-ratio per token", \
        VERL_NORM, KL(K2, 0.05), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-clip-cov", "verl", "clip_cov", "verl's Clip-Cov, selected tokens dropped from the clipped loss", \
        VERL_NORM, CLIP(0.2, 0.2), SET(weight.selected, GRPO_SELECTED_DROP), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-kl-cov", "verl", "kl_cov", "verl's KL-Cov, absolute log-ratio penalty on selected tokens", \
        VERL_NORM, SURROGATE(RATIO), KL(ABS, 0.1), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), SET(penalty.kl_on, GRPO_KL_ON_SELECTED), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-passk", "verl", "grpo_passk, vanilla", "verl's pass@k advantage, best minus second over the std", \
        SCALE(GROUP_STD), SET(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND), SET(advantage.eps, 1e-6), CLAMP(-20, 20), \
        DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-tis", "verl", "rollout_is sequence, 2", "verl's GRPO with sequence importance weights truncated at 2", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-geo-rs", "verl", "rollout_rs seq_mean_k1, 0.999_1.001", "verl's GRPO, sequences rejected by their geometric mean ratio", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), SET(weight.correction_clamp, 20), SET(weight.rejected, GRPO_REJECTED_UNMASK), \
        SET(weight.reject, GRPO_REJECT_RATIO), SET(weight.reject_unit, GRPO_REJECT_SEQUENCE_MEAN), \
        SET(weight.reject_low, 0.9990009990009991), SET(weight.reject_high, 1.001001001001001), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-token-k3", "verl", "rollout_rs token_k3, 0.01", "verl's GRPO, tokens rejected by their k3 divergence", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), SET(weight.correction_clamp, 20), SET(weight.rejected, GRPO_REJECTED_UNMASK), \
        SET(weight.reject, GRPO_REJECT_K3), SET(weight.reject_high, 0.01), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-kl-loss", "verl", "vanilla, low_var_kl", "verl's GRPO with clamped k3 in the loss", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), KL(K3, 0.001), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-ppo", "OpenRLHF", "gae, ppo", "OpenRLHF's PPO, critic advantages whitened, KL in the reward", \
        REWARD_K1(0.01), AFFINE(0, 1, -10, 10), GAE(1, 1), SCALE(TOKEN_WHITEN), EPS(1e-8, FLOOR), SET(advantage.std, GRPO_STD_POPULATION), \
        CLAMP(-20, 20), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-rloo", "OpenRLHF", "rloo, ppo", "OpenRLHF's RLOO, token KL subtracted after the leave-one-out baseline", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), BASELINE(LEAVE_ONE_OUT), CLAMP(-20, 20), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-reinforce-baseline", "OpenRLHF", "reinforce_baseline, ppo", \
        "OpenRLHF's REINFORCE++-baseline, whitened returns with KL in the reward", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), BASELINE(GROUP_MEAN), SCALE(TOKEN_WHITEN), EPS(1e-8, FLOOR), \
        SET(advantage.std, GRPO_STD_POPULATION), CLAMP(-20, 20), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-group-norm", "OpenRLHF", "group_norm, ppo", "OpenRLHF's GRPO, token KL subtracted after the normalisation", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), GROUP_NORM, SET(advantage.eps, 1e-9), CLAMP(-20, 20), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-gspo", "OpenRLHF", "group_norm, gspo", "OpenRLHF's GSPO, KL in the reward and clip 0.2", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), GROUP_NORM, SET(advantage.eps, 1e-9), UNIT(SEQUENCE_MEAN), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("openrlhf-seq-mask-tis", "OpenRLHF", "group_norm, ppo, seq-mask-tis", \
        "OpenRLHF's unclamped token weights, sequences filtered by geometric mean", \
        REWARD_K1(0.01), CREDIT(RETURN, 1), GROUP_NORM, SET(advantage.eps, 1e-9), CLAMP(-20, 20), CLIP(0.2, 0.2), \
        CORRECT(TRUNCATE, TOKEN, 0, HUGE_VAL, ZERO_WEIGHT), SET(weight.reject, GRPO_REJECT_RATIO), \
        SET(weight.reject_unit, GRPO_REJECT_SEQUENCE_MEAN), SET(weight.reject_low, 0.5), SET(weight.reject_high, 5), DIVIDE(TOKEN_MEAN)) \
    ROW("swift-grpo", "ms-swift", "grpo", "ms-swift's GRPO with a doubly clamped KL of 0.04", \
        TRL_NORM, CLIP(0.2, 0.2), KL(K3, 0.04), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-grpo", "ROLL", "grpo, ppo", "ROLL's GRPO, mean of response means without KL", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-tis", "ROLL", "pg_variant tis", "ROLL's REINFORCE with the ratio truncated at 1", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CISPO(0, 1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-topr", "ROLL", "pg_variant topr", "ROLL's TOPR, token ratio truncated for non-positive raw scores", \
        SURROGATE(TOPR), SET(surrogate.weight_max, 1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-cispo", "ROLL", "pg_variant cispo", "ROLL's CISPO, detached weight within 0.1 of one", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CISPO(0.9, 1.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-kimi15", "ROLL", "pg_variant kimi15", "ROLL's Kimi k1.5, squared log-ratio per token", \
        GROUP_NORM, SET(advantage.eps, 1e-6), KL(K2, 0.1), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("areal-grpo", "AReaL", "grpo", "AReaL's GRPO, clipped reward, KL in the token reward, token mean", \
        REWARD_K1(0.1), AFFINE(0, 1, -20, 20), CREDIT(RETURN, 1), GROUP_NORM, SET(advantage.eps, 1e-5), CLIP(0.2, 0.2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("areal-gspo", "AReaL", "sequence ratio", "AReaL's GSPO, sequence ratio divided by tokens", \
        AFFINE(0, 1, -20, 20), GROUP_NORM, SET(advantage.eps, 1e-5), UNIT(SEQUENCE_MEAN), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("areal-sapo", "AReaL", "sapo", "AReaL's SAPO, soft gate with a token mean", \
        REWARD_K1(0.1), AFFINE(0, 1, -20, 20), CREDIT(RETURN, 1), GROUP_NORM, SET(advantage.eps, 1e-5), SAPO(1, 1.05), DIVIDE(TOKEN_MEAN)) \
    ROW("slime-grpo", "slime", "grpo", "slime's GRPO, mean of response means", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-gspo", "slime", "gspo", "slime's GSPO, differentiated sequence ratio with clip 0.2", \
        GROUP_NORM, SET(advantage.eps, 1e-6), UNIT(SEQUENCE_MEAN), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-cispo", "slime", "cispo", "slime's CISPO, detached weight clipped on both sides at 0.2", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CISPO(0.8, 1.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-opsm", "slime", "grpo, opsm", "slime's off-policy sequence mask with a threshold of 1e-4", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), SET(weight.off_policy, GRPO_OFF_POLICY_OLD), \
        SET(weight.off_policy_max, 0.0001), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("nemo-grpo", "NeMo-RL", "grpo", "NeMo-RL's GRPO, leave-one-out mean and std, score-function KL", \
        BASELINE(LEAVE_ONE_OUT), SCALE(LEAVE_ONE_OUT_STD), SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), KL(K3, 0.01), \
        SET(penalty.kl_ratio, GRPO_KL_RATIO_SCORE), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-reinforce++", "NeMo-RL", "reinforce++", "NeMo-RL's REINFORCE++, rewards whitened over tokens with a variance floor", \
        SCALE(TOKEN_WHITEN), EPS(1e-8, FLOOR), SET(advantage.std, GRPO_STD_POPULATION), CLIP(0.2, 0.2), KL(K3, 0.01), \
        SET(penalty.kl_ratio, GRPO_KL_RATIO_SCORE), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("skyrl-dppo-tv", "SkyRL", "dppo, binary_tv", "SkyRL's DPPO-TV against the rollout policy, with KL loss", \
        VERL_NORM, CLAMP(-20, 20), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), KL(K3, 0.001), \
        TRUST(PROBABILITY, 0.2, 0.2), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl", "prime-rl", "default loss", "DPPO-TV mask plus squared log-ratio to the rollout policy", \
        BASELINE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), KL(K2, 0.002), TRUST(PROBABILITY, 0.2, 0.2), \
        SET(penalty.kl_against, GRPO_KL_AGAINST_ROLLOUT), DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl-ipo", "prime-rl", "ipo", "probability mask for both signs of the advantage", \
        BASELINE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), KL(K2, 0.002), TRUST(PROBABILITY_BOTH, 0, 0.1), \
        SET(penalty.kl_against, GRPO_KL_AGAINST_ROLLOUT), DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl-maxrl", "prime-rl", "max_rl, default loss", "centred rewards divided by the group mean, under the default loss", \
        BASELINE(GROUP_MEAN), SCALE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO), KL(K2, 0.002), \
        TRUST(PROBABILITY, 0.2, 0.2), SET(penalty.kl_against, GRPO_KL_AGAINST_ROLLOUT), DIVIDE(TOKEN_MEAN)) \
    ROW("open-instruct-dapo", "open-instruct", "loss_fn dapo", "centred advantages, asymmetric clip, truncated rollout weights, KL 0.05", \
        BASELINE(GROUP_MEAN), CLIP(0.2, 0.272), KL(K3, 0.05), CORRECT(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT), SET(penalty.kl_clamp_log, 40), \
        SET(weight.correction_clamp, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("open-instruct-cispo", "open-instruct", "loss_fn cispo", "detached ratio capped at 1.272, truncated rollout weights, KL 0.05", \
        BASELINE(GROUP_MEAN), CISPO(0, 1.272), KL(K3, 0.05), CORRECT(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT), SET(penalty.kl_clamp_log, 40), \
        SET(weight.correction_clamp, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("tunix-grpo", "tunix", "grpo", "tunix's GRPO with k1 in the loss, empty sequences left out", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLAMP(-20, 20), CLIP(0.2, 0.2), KL(K1, 0.04), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("tunix-rloo", "tunix", "rloo", "tunix's RLOO advantage under its GRPO loss", \
        BASELINE(LEAVE_ONE_OUT), CLAMP(-20, 20), CLIP(0.2, 0.2), KL(K1, 0.04), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("rllm-grpo", "rLLM", "grpo, loss of verl", "rLLM's GRPO with population std under verl's loss", \
        GROUP_NORM, SET(advantage.eps, 1e-6), SET(advantage.singleton, GRPO_SINGLETON_RAW), SET(advantage.std, GRPO_STD_POPULATION), \
        CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("rllm-reinforce++", "rLLM", "reinforce++ baseline, loss of verl", "centred rewards over their std in the whole batch", \
        BASELINE(GROUP_MEAN), SCALE(BATCH_CENTRED_STD), SET(advantage.std, GRPO_STD_POPULATION), SET(advantage.eps, 1e-6), CLAMP(-20, 20), \
        DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("easyr1-grpo", "EasyR1", "grpo, default", "EasyR1's GRPO, clip-higher at 0.3 with dual clip", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLAMP(-20, 20), DUAL(0.2, 0.3, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("easyr1-sapo", "EasyR1", "sapo", "EasyR1's SAPO, soft gate with a token mean", \
        GROUP_NORM, SET(advantage.eps, 1e-6), CLAMP(-20, 20), SAPO(1, 1.05), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-ppo", "Trinity-RFT", "ppo", "Trinity's policy loss with dual clip under group advantages", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-sppo", "Trinity-RFT", "sppo", "log-ratio times advantage inside a symmetric log-ratio band", \
        VERL_NORM, SURROGATE(LOG_RATIO), TRUST(LOG_TWO_SIDED, 0.26236426446749106, 0.26236426446749106), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-topr", "Trinity-RFT", "topr", "raw reward, token ratio truncated at 1 for non-positive rewards", \
        SURROGATE(TOPR), SET(surrogate.weight_max, 1), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-cispo", "Trinity-RFT", "cispo", "CISPO with detached weights from 0 to 1.28", \
        VERL_NORM, CISPO(0, 1.28), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-sapo", "Trinity-RFT", "sapo", "SAPO with a detached gate before the log-probability", \
        VERL_NORM, SURROGATE(SAPO_DETACHED), SET(surrogate.tau_pos, 1), SET(surrogate.tau_neg, 1.05), DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-corrected-k3", "Trinity-RFT", "ppo, corrected_k3", "k3 weighted by the differentiated ratio, at most 2", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), KL(K3, 0.001), SET(penalty.kl_ratio, GRPO_KL_RATIO_TOKEN), \
        SET(penalty.kl_ratio_max, 2), DIVIDE(TOKEN_MEAN)) \
    ROW("torchforge-grpo", "torchforge", "SimpleGRPOLoss", "ratio of the policy to itself, k3 of 0.1", \
        TRL_NORM, SET(ratio.against, GRPO_AGAINST_CURRENT), SURROGATE(RATIO), KL(K3, 0.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("torchforge-reinforce", "torchforge", "ReinforceLoss", "REINFORCE with the clipped detached ratio to the rollout policy", \
        TRL_NORM, SET(ratio.against, GRPO_AGAINST_ROLLOUT), CISPO(0.1, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("torchtune-grpo", "torchtune", "GRPOLoss", "torchtune's GRPO with clip and KL of 0.1, token mean", \
        TRL_NORM, CLIP(0.1, 0.1), KL(K3, 0.1), DIVIDE(TOKEN_MEAN)) \
    ROW("torchtune-sequence", "torchtune", "GRPOCompletionLoss, without its KL", \
        "one product ratio for the whole response, clipped at 0.1", \
        TRL_NORM, UNIT(SEQUENCE_SUM), CLIP(0.1, 0.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tinker-importance-sampling", "Tinker", "importance_sampling", "plain sum of ratio times advantage, no clip", \
        BASELINE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), SURROGATE(RATIO)) \
    ROW("tinker-ppo", "Tinker", "ppo", "clipped ratio to the sampler, plain sum over tokens", \
        BASELINE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), CLIP(0.2, 0.2)) \
    ROW("tinker-cispo", "Tinker", "cispo", "detached ratio capped at 4, plain sum over tokens", \
        BASELINE(GROUP_MEAN), SET(ratio.against, GRPO_AGAINST_ROLLOUT), CISPO(0, 4)) \
    ROW("tinker-dro", "Tinker", "dro", "REINFORCE plus half squared log-ratio to the sampler, summed", \
        BASELINE(GROUP_MEAN), KL(K2, 0.05), SET(penalty.kl_against, GRPO_KL_AGAINST_ROLLOUT)) \
    ROW("art-grpo", "OpenPipe ART", "default loss", "detached ratio from 0 to 5 with a token mean", \
        GROUP_NORM, CISPO(0, 5), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-agent-gspo", "verl-agent", "gspo", "GSPO-token with the log-ratio capped above at 10", \
        VERL_NORM, UNIT(SEQUENCE_MEAN), UNIT_CLAMP(-HUGE_VAL, 10), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), CLIP(0.2, 0.2), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("axolotl-grpo", "axolotl", "as axolotl", "TRL's clipped loss as reimplemented, token mean", \
        TRL_NORM, CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("a-star-po", "2505.20686", "A*-PO", "regresses the response log-ratio to the reference on the reward over an optimal value", \
        BASELINE(GIVEN), UNIT(SEQUENCE_SUM), SET(ratio.against, GRPO_AGAINST_REF), SURROGATE(SQUARED), SET(surrogate.strength, 0.001), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pvpo", "2508.21104", "advantage", "baseline is the mean reward of a reference model on the prompt", \
        BASELINE(GIVEN), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gvpo", "2504.19599", "objective, official code", "variance of the group's log-ratios about its advantages, sum over tokens", \
        BASELINE(GROUP_MEAN), UNIT(SEQUENCE_SUM), SURROGATE(VARIANCE), SET(surrogate.strength, 0.1), DIVIDE(GROUP_MEAN)) \
    ROW("real", "2602.05630", "section 3, split as ms-swift", \
        "rewards as labels: a logistic loss of the group's length-normalised log-ratios", \
        BASELINE(GROUP_MEAN), UNIT(SEQUENCE_MEAN), SURROGATE(LABELS), SET(surrogate.tau_pos, 0.5), SET(surrogate.tau_neg, 0.5), \
        DIVIDE(GROUP_MEAN)) \
    ROW("flowrl", "2509.15207", "6", "flow balance against a learned partition function, clipped weight of the response", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), SET(ratio.against, GRPO_AGAINST_REF), SURROGATE(BALANCE), SET(surrogate.strength, 15), \
        DRIFT(SEQUENCE_SUM, 0.8, 1.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("flowrl-code", "FlowRL", "official code", "FlowRL (2509.15207) as its code has it: the weight is not clipped", \
        VERL_NORM, UNIT(SEQUENCE_MEAN), SET(ratio.against, GRPO_AGAINST_REF), SURROGATE(BALANCE), SET(surrogate.strength, 15), \
        DRIFT(SEQUENCE_SUM, 0, HUGE_VAL), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("amir-grpo", "2601.03661", "official code", "GRPO and a logistic loss of the pairs whose rewards are far apart", \
        GROUP_NORM, SET(advantage.eps, 1e-4), CLIP(0.2, 0.2), PAIRED(1.5, 0.2, 0.01), SET(penalty.pair_score, GRPO_PAIR_SCORE_FREE), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("vapo", "2504.05118", "objective", "PPO with a lambda by length and the likelihood of right answers", \
        CREDIT(GAE, 1), SET(advantage.lambda_length, 0.05), CLIP(0.2, 0.28), LIKELIHOOD(CORRECT, NONE, 0.1), DIVIDE(TOKEN_MEAN)) \
    ROW("oreal", "xtuner", "oreal loss", "OREAL (2502.06781): dual clip and likelihood, good and other tokens with means of their own", \
        GROUP_NORM, SET(advantage.eps, 1e-8), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), LIKELIHOOD(POSITIVE, NONE, 1), \
        DIVIDE(TOKEN_MEAN_BY_SIGN)) \
    ROW("chord", "Trinity-RFT", "mix_chord, mu 0.1, over 0.9", \
        "CHORD (2508.11408): GRPO, and on selected tokens the likelihood weighted by p (1 - p) instead", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), LIKELIHOOD(SELECTED, P_NOT_P, 0.1111111111111111), \
        SET(weight.selected, GRPO_SELECTED_DROP), DIVIDE(TOKEN_MEAN)) \
    ROW("kdrl-areal", "AReaL", "joint loss, rl_loss_weight 1", "GRPO and the log-ratio to a teacher, as AReaL has KDRL (2506.02208)", \
        AFFINE(0, 1, -20, 20), GROUP_NORM, SET(advantage.eps, 1e-5), CLIP(0.2, 0.2), KL(K1, 0.005), AGAINST_TEACHER, DIVIDE(TOKEN_MEAN)) \
    ROW("kd-areal", "AReaL", "rl_loss_weight 0", "distillation alone: the ratio times the detached log-ratio to the teacher", \
        AFFINE(0, 0, 0, 0), KL(K1, 0.005), AGAINST_TEACHER, SET(penalty.kl_gradient, GRPO_KL_GRADIENT_NONE), \
        SET(penalty.kl_ratio, GRPO_KL_RATIO_TOKEN), DIVIDE(TOKEN_MEAN)) \
    ROW("gigpo-mean", "2505.10978", "3-8, as verl-agent, mean_norm", "GiGPO without deviations, the default of its function", \
        CREDIT(EPISODE_STEP, 0.95), STEPS(RETURN, STATE), SET(advantage.step_coef, 1), BASELINE(GROUP_MEAN), DUAL(0.2, 0.2, 3), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("gigpo", "2505.10978", "3-8, as verl-agent, mean_std_norm", \
        "advantage of the episode plus that of the step among steps from the same state", \
        CREDIT(EPISODE_STEP, 0.95), STEPS(RETURN, STATE), SET(advantage.step_coef, 1), GROUP_NORM, SET(advantage.eps, 1e-6), \
        DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("roll-gigpo", "ROLL", "gigpo, ppo", "ROLL's GiGPO, mean of response means", \
        CREDIT(EPISODE_STEP, 0.95), STEPS(RETURN, STATE), SET(advantage.step_coef, 1), GROUP_NORM, SET(advantage.eps, 1e-6), \
        CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("step-reinforce", "ROLL", "step_reinforce, ppo", "ROLL's step returns alone, normalised over the steps of the prompt", \
        CREDIT(STEP_OWN, 0.95), STEPS(RETURN, PROMPT), GROUP_NORM, SET(advantage.eps, 1e-6), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("hgpo", "2602.22817", "as its recipe in verl-agent", \
        "step advantages among steps of the same last one, two and three states, longer histories weigh more", \
        CREDIT(STEP_OWN, 0.95), STEPS(RETURN, HISTORY), SET(advantage.history, 3), SET(advantage.history_power, 1), GROUP_NORM, \
        SET(advantage.std, GRPO_STD_POPULATION), SET(advantage.eps, 1e-6), DUAL(0.2, 0.2, 3), KL(K3, 0.01), SET(penalty.kl_clamp_log, 20), \
        SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-gdpo", "NeMo-RL", "gdpo", "NeMo-RL's GDPO, each reward against the others of the group, the sum normalised over the batch", \
        SET(advantage.rewards, GRPO_REWARDS_EACH), BASELINE(LEAVE_ONE_OUT), SCALE(LEAVE_ONE_OUT_STD), SET(advantage.eps, 1e-6), \
        SET(advantage.second, GRPO_SECOND_BATCH), CLIP(0.2, 0.2), KL(K3, 0.01), SET(penalty.kl_ratio, GRPO_KL_RATIO_SCORE), \
        SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gdpo", "verl", "gdpo, vanilla", "verl's GDPO, the sum of normalised rewards whitened over tokens", \
        VERL_NORM, SET(advantage.rewards, GRPO_REWARDS_EACH), SET(advantage.second, GRPO_SECOND_TOKENS), SET(advantage.second_eps, 1e-8), \
        CLAMP(-20, 20), DUAL(0.2, 0.2, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("verl-otb", "verl", "optimal_token_baseline, vanilla", \
        "verl's optimal token baseline, returns weighted by the variance up to the token", \
        CREDIT(RETURN, 1), SET(advantage.token_baseline, GRPO_TOKEN_BASELINE_OPTIMAL), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("bnpo", "2506.02864", "official code, run.sh", "centred rewards over a Beta density fitted to the success rates", \
        BASELINE(GROUP_MEAN), SCALE(BETA), SET(advantage.singleton, GRPO_SINGLETON_RAW), DUAL(0.2, 0.28, 10), DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("pkpo-max", "2505.15201", "19", "estimator of maxg@k without a baseline, rewards of any size", \
        SET(advantage.transform, GRPO_TRANSFORM_PKPO_MAX), SET(advantage.pass_k, 2), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pkpo-gain", "2505.15201", "33", "what a response adds to the best of the others in sets of k", \
        SET(advantage.transform, GRPO_TRANSFORM_PKPO_GAIN), SET(advantage.pass_k, 2), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gtpo", "2508.04349", "3, 5-7", "token rewards by share of the entropy, right and wrong tokens normalised apart", \
        SET(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE), SET(advantage.share_coef, 0.1), SET(advantage.share_eps, 1e-8), \
        SET(advantage.std, GRPO_STD_POPULATION), EPS(1e-8, INSIDE), CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("hicra", "textpolicy", "hicra, as textpolicy", "advantages of planning tokens are raised by a fifth of their size", \
        BASELINE(GROUP_MEAN), SET(advantage.marked, GRPO_MARKED_BOOST), SET(advantage.marked_value, 0.2), CLIP(0.2, 0.2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("segment-gspo", "ROLL", "ratio_type segment", "one length-normalised ratio per turn of a response", \
        GROUP_NORM, SET(advantage.eps, 1e-6), UNIT(SEGMENT_MEAN), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("art-average", "OpenPipe ART", "importance_sampling_level average, ppo", \
        "clips the mean of the token's ratio and of the response's", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), MIX(AVERAGE), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("art-geometric", "OpenPipe ART", "importance_sampling_level geometric_average, ppo", \
        "clips the root of the token's ratio times the response's", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), HALVES, CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("hybrid-ratio", "textpolicy", "gspo, variant hybrid", "the same root with the response's ratio detached, centred advantages", \
        BASELINE(GROUP_MEAN), UNIT(SEQUENCE_MEAN), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), HALVES, CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("fipo", "2603.19835", "as ms-swift", "weighs tokens by how the policy has moved on what follows them", \
        OVERLONG(20480, 4096), GROUP_NORM, CLIP(0.2, 0.28), FUTURE(32, 10, 1, 1.2), FUTURE_SAFE(4, 0.8, 1), DIVIDE(TOKEN_MEAN)) \
    ROW("vaco", "open-instruct", "VACO (2603.01365), rho_mask_tv_divergence", \
        "drops tokens that would add to a total variation from the sampler that is too large", \
        BASELINE(GROUP_MEAN), CLIP(0.2, 0.272), KL(K3, 0.05), CORRECT(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT), SET(penalty.kl_clamp_log, 40), \
        SET(weight.correction_clamp, 10), SET(weight.off_policy, GRPO_OFF_POLICY_TOTAL_VARIATION), SET(weight.off_policy_max, 2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("rec-ring", "2509.24203", "REC-Ring, as Trinity-RFT", \
        "REINFORCE on tokens inside a ring of ratios, or beyond a second one where it pulls back", \
        BASELINE(GROUP_MEAN), TRUST(RING, 0.2, 0.2), RING(0.6, 2), DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-gspo", "NeMo-RL", "gspo, seq_logprob_error_threshold 2", \
        "GSPO without the responses whose probabilities two engines disagree on", \
        BASELINE(LEAVE_ONE_OUT), SCALE(LEAVE_ONE_OUT_STD), SET(advantage.eps, 1e-6), UNIT(SEQUENCE_MEAN), CLIP(0.2, 0.2), \
        REJECT(EXP_ABS, SEQUENCE_MEAN, 0, 2), SET(weight.rejected, GRPO_REJECTED_UNMASK), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("verl-tis-normalized", "verl", "rollout_is sequence, 2, batch_normalize", \
        "verl's truncated sequence weights divided by their mean", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.2, 3), CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT), \
        SET(weight.correction_norm, GRPO_CORRECTION_NORM_MEAN), DIVIDE(TOKEN_MEAN)) \
    ROW("vopd", "2605.07865", "official code, full vocabulary", \
        "on-policy distillation with the teacher's expected gap as a control variate", \
        AFFINE(0, 0, 0, 0), CREDIT(GAE, 0), SET(advantage.teacher_coef, 1), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("lightning-opd", "2604.13010", "official code", "distillation with a clipped ratio on rollouts and teacher scores made once", \
        AFFINE(0, 0, 0, 0), SET(advantage.teacher_coef, 1), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("siop", "2605.04984", "official code", "rewards of turns, normalised together over the group and summed to go", \
        CREDIT(STEP, 1), GROUP_NORM, SET(advantage.eps, 1e-6), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), KL(K3, 0.005), \
        SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("igrpo", "2602.09000", "gradient of the second stage", "GRPO on prompts that carry the best of several drafts, KL of 1e-4", \
        GROUP_NORM, CLIP(0.2, 0.2), KL(K3, 1e-4), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("sage-hint", "2602.03143", "official script", "GRPO as verl computes it, clip-higher, on prompts with a hint", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.28, 3), DIVIDE(TOKEN_MEAN)) \
    ROW("spo-stream", "2509.13232", "official recipe", "tracked value as baseline, normalised over the batch, one response a prompt", \
        BASELINE(GIVEN), SET(advantage.second, GRPO_SECOND_BATCH), SET(advantage.second_eps, 1e-8), CLAMP(-20, 20), DUAL(0.2, 0.28, 10), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("nemotron-cascade", "2512.13607", "RL objective", \
        "strictly on-policy GRPO, ratio of the policy to itself, no KL, mean over the tokens of a prompt", \
        GROUP_NORM, SET(ratio.against, GRPO_AGAINST_CURRENT), SURROGATE(RATIO), DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("rec-oneside-nois", "2509.24203", "official code, one-side, weight none", \
        "REINFORCE on the tokens where PPO's clip would not bind", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), TRUST(ONE_SIDED, 0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("rec-oneside-is", "2509.24203", "official code, one-side, importance_sampling", \
        "detached uncapped ratio times the score where PPO's clip would not bind: its gradient is PPO's", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), CISPO(0, HUGE_VAL), TRUST(ONE_SIDED, 0.2, 0.2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("rec-twoside-nois", "2509.24203", "official code, two-side, weight none", \
        "REINFORCE on the tokens whose ratio is inside the band, whatever the advantage", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), TRUST(TWO_SIDED, 0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("rec-twoside-is", "2509.24203", "official code, two-side, importance_sampling", \
        "detached ratio times the score where the ratio is inside the band", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), CISPO(0, HUGE_VAL), TRUST(TWO_SIDED, 0.2, 0.2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-rec-gspo", "Trinity-RFT", "rec, gspo-one-side, gspo_importance_sampling", \
        "REC with the length-normalised ratio of the response as mask and detached weight", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), UNIT(SEQUENCE_MEAN), CISPO(0, HUGE_VAL), \
        TRUST(ONE_SIDED, 0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("rep-k2", "2509.24203", "official code, regularizer k2", \
        "REINFORCE plus 0.1 times the squared log-ratio to the old policy, mean over tokens", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), KL(K2, 0.2), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("opmd-mean", "Trinity-RFT", "opmd, baseline mean", "REINFORCE with the group mean as baseline, divided by 1 + tau", \
        BASELINE(GROUP_MEAN), SCALE(CONSTANT), SET(advantage.eps, 2), SET(advantage.singleton, GRPO_SINGLETON_RAW), DIVIDE(TOKEN_MEAN)) \
    ROW("loop", "2502.01600", "official code, per token", \
        "leave-one-out baseline, token ratios clipped to 1/1.1 .. 1.1, mean of rollout means", \
        BASELINE(LEAVE_ONE_OUT), CLIP(0.09090909090909091, 0.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("loop-trajectory", "2502.01600", "official code, per trajectory", \
        "leave-one-out baseline, product ratio of the rollout clipped to 1/1.1 .. 1.1", \
        BASELINE(LEAVE_ONE_OUT), UNIT(SEQUENCE_SUM), CLIP(0.09090909090909091, 0.1), DIVIDE(SEQ_MEAN_TOKEN_MEAN), SKIP_EMPTY) \
    ROW("agentflow", "2510.05592", "official code", "every turn a response of its prompt's group, under verl's loss", \
        VERL_NORM, CLAMP(-20, 20), DUAL(0.2, 0.3, 3), KL(K3, 0.001), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("glm-5", "2602.15763", "1", "GRPO without KL, rollout weights kept inside 0.5 to 2 and zero outside", \
        GROUP_NORM, CLIP(0.2, 0.28), CORRECT(MASK, TOKEN, 0.5, 2, ZERO_WEIGHT), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("lopti", "2505.12929", "official code, Lopti", "selected tokens alone in loss and KL, improbable ones first, then the others", \
        VERL_NORM, DUAL(0.2, 0.24, 10), KL(K3, 0.001), SET(penalty.kl_on, GRPO_KL_ON_SELECTED), SET(penalty.kl_clamp_log, 5), \
        SET(penalty.kl_clamp_value, 10), SET(weight.selected, GRPO_SELECTED_KEEP), DIVIDE(TOKEN_MEAN)) \
    ROW("disco-b", "2505.12366", "DisCO-b, log-L, delta 1e-4 by kl_hinge", \
        "mean likelihood of right responses less that of wrong ones, binary rewards", \
        UNIT(SEQUENCE_MEAN), AGAINST(NOTHING), SURROGATE(CONTRAST_MEAN), KL(K1, 0), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), \
        DIVIDE(GROUP_MEAN)) \
    /* their constraint on the KL: kl_coef is the caller's, of every step minus grpo_kl_hinge, k1 against old being the KL's negative */ \
    ROW("disco", "2505.12366", "DisCO, log-L, delta 1e-4 by kl_hinge", \
        "right responses against a soft maximum of the wrong ones, KL under a hinge", \
        UNIT(SEQUENCE_MEAN), AGAINST(NOTHING), SURROGATE(CONTRAST_LSE), SET(surrogate.tau_neg, 10), KL(K1, 0), \
        SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(GROUP_MEAN)) \
    ROW("disco-ratio", "2505.12366", "DisCO, L-ratio", "the same on the mean ratio of a response's tokens", \
        UNIT(SEQUENCE_MEAN_RATIO), SURROGATE(CONTRAST_LSE), SET(surrogate.score, GRPO_SCORE_RATIO), SET(surrogate.tau_neg, 1), KL(K1, 0), \
        SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(GROUP_MEAN)) \
    /* length_rate is the caller's: 1/(lambda T_max), lambda 0.1, T_max the length of the longest response there may be */ \
    ROW("drpo", "2510.04474", "objective, official code", "DisCO whose right responses weigh more the shorter they are", \
        UNIT(SEQUENCE_MEAN), AGAINST(NOTHING), SURROGATE(CONTRAST_LSE), SET(surrogate.tau_neg, 10), KL(K1, 0), \
        SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(GROUP_MEAN)) \
    ROW("dno", "2404.03715", "algorithm 1, 8", "a sigmoid of differences of log-ratios regressed on that of differences of rewards", \
        UNIT(SEQUENCE_SUM), SURROGATE(SOFT_PAIRS), SET(surrogate.strength, 0.1), SET(surrogate.tau_pos, 1), DIVIDE(GROUP_MEAN)) \
    ROW("dmpo", "2605.19461", "official code, pure_dmpo", \
        "likelihoods within the group drawn to a softmax of the advantages, squared differences", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), AGAINST(NOTHING), SURROGATE(MATCH), SET(surrogate.strength, 1), SET(surrogate.tau_pos, 1.0 / 15), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dmpo-js", "2605.19461", "official code, pure_dmpo, JS", "the same by the Jensen-Shannon divergence", \
        GROUP_NORM, UNIT(SEQUENCE_MEAN), AGAINST(NOTHING), SURROGATE(MATCH_JS), SET(surrogate.strength, 1), \
        SET(surrogate.tau_pos, 1.0 / 15), DIVIDE(GROUP_MEAN)) \
    ROW("vpd", "2605.15113", "E-step, restated", \
        "logistic loss of right responses and of wrong ones, each with a mean; the shift is the caller's", \
        UNIT(SEQUENCE_SUM), AGAINST(REF), SURROGATE(LOGISTIC), SET(surrogate.strength, 0.1), DIVIDE(SEQ_MEAN_BY_SIGN)) \
    ROW("dispo", "2602.00983", "objective", "CISPO with bounds for each sign of the advantage: 0.8 to 11, and 0 to 101", \
        GROUP_NORM, SURROGATE(DISPO), SET(surrogate.weight_min, 0.8), SET(surrogate.weight_max, 11), SET(surrogate.weight_max_neg, 101), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("bgpo", "2510.11683", "2-19", "a bound of the ratio objective, linear in the log-ratio where A is positive", \
        GROUP_NORM, SURROGATE(BGPO), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("ctpo", "2605.07331", "official code, cumprod", "product of the ratios so far, clipped in log space by the root of the position", \
        VERL_NORM, UNIT(PREFIX_SUM), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), CLAMP(-20, 20), UNIT_CLAMP(-HUGE_VAL, 10), \
        LOG_DUAL(0.025, 0.05, 0.05, 0.5), CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT), DIVIDE(TOKEN_MEAN)) \
    ROW("ctpo-geomean", "2605.07331", "official code, geomean", "geometric mean of the ratios so far, clipped tighter the later", \
        VERL_NORM, UNIT(PREFIX_MEAN), SET(ratio.gradient, GRPO_GRADIENT_TOKEN), CLAMP(-20, 20), UNIT_CLAMP(-HUGE_VAL, 10), \
        LOG_DUAL(0.025, 0.05, 0.05, -0.5), CORRECT(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT), DIVIDE(TOKEN_MEAN)) \
    /* its default is the caller's: shape = max(0.9-quantile of the ratios of the selected tokens, 1e-4) */ \
    ROW("guide-grpo", "2506.13923", "official code, constant g", "w/(w + 1) in place of the clip at tokens of responses that had a hint", \
        VERL_NORM, SURROGATE(SHAPED), BAND(0.2, 0.2), SET(surrogate.shape, 1), DIVIDE(TOKEN_MEAN)) \
    ROW("llds", "2512.04220", "4-6", "GRPO, and what turns of good responses have lost of their likelihood", \
        GROUP_NORM, CLIP(0.2, 0.2), KL(K3, 0.001), LIKELIHOOD(NOT_NEGATIVE, NONE, 0.2), \
        SET(penalty.likelihood_form, GRPO_LIKELIHOOD_FORM_LOST), SET(penalty.likelihood_gate, GRPO_LIKELIHOOD_GATE_SEGMENT), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("sdar", "2605.15155", "as ms-swift", "swift-grpo, and the gap to a teacher where a gate of that gap is open", \
        TRL_NORM, CLIP(0.2, 0.2), KL(K3, 0.04), SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), \
        LIKELIHOOD(ALL, TEACHER_GATE, 1), SET(penalty.likelihood_form, GRPO_LIKELIHOOD_FORM_TEACHER_GAP), SET(penalty.likelihood_gain, 5), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("rlsd", "2604.03128", "as ms-swift", "swift-grpo with advantages that a teacher's log-ratio raises or lowers by at most a tenth", \
        TRL_NORM, SET(advantage.teacher_share, 0.5), SET(advantage.teacher_clip, 0.2), CLIP(0.2, 0.2), KL(K3, 0.04), \
        SET(penalty.kl_clamp_log, 20), SET(penalty.kl_clamp_value, 10), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("igpo", "2510.14967", "3-4 of the second version", \
        "rewards of turns normalised by kind, which is their state, and discounted by turn", \
        CREDIT(STEP, 0.95), STEPS(REWARD, STATE), SET(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS), GROUP_NORM, CLIP(0.2, 0.2), \
        KL(K3, 0.001), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tempo", "2509.18314", "official code", "what a token adds to the mean reward of the responses with the same prefix", \
        SET(advantage.credit, GRPO_CREDIT_PREFIX_TREE), GROUP_NORM, SET(advantage.eps, 1e-6), CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN)) \
    ROW("red-drop", "2509.24203", "RED-Drop, as Trinity-RFT", \
        "REINFORCE without the negatives that the caller drew, which still count as tokens", \
        BASELINE(GROUP_MEAN), SET(advantage.singleton, GRPO_SINGLETON_RAW), SET(advantage.outside, GRPO_OUTSIDE_ZERO), DIVIDE(TOKEN_MEAN)) \
    ROW("temp-samp", "2509.18056", "form (b)", "on-policy GRPO and a response from elsewhere, worth 1.2 times the best", \
        GROUP_NORM, SET(advantage.outside, GRPO_OUTSIDE_ANCHOR), SET(advantage.outside_coef, 1.2), AGAINST(CURRENT), SURROGATE(RATIO), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gtpo-conf", "2508.03772", "objective", "advantages less the response's entropy, none where it is high, grpo_conflict_weight", \
        BASELINE(GROUP_MEAN), SET(advantage.entropy, GRPO_ENTROPY_RESPONSE), SET(advantage.entropy_coef, 0.1), \
        SET(advantage.entropy_cap, 0.6931471805599453), AGAINST(CURRENT), SURROGATE(RATIO), SET(weight.given, GRPO_GIVEN_POLICY), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("t-ppo", "2506.15050", "as the change to verl", \
        "PPO on windows of responses that go on: the last value repeats, the last tokens wait", \
        GAE(1, 0.95), SET(advantage.bootstrap, GRPO_BOOTSTRAP_REPEAT), SET(advantage.lambda_length, 0.05), \
        SET(advantage.truncated_tail, 8), SCALE(TOKEN_WHITEN), EPS(1e-8, INSIDE), SET(advantage.advantage_low, -10), \
        SET(advantage.advantage_high, 10), DUAL(0.2, 0.28, 10), DIVIDE(TOKEN_MEAN)) \
    ROW("rank-grpo", "2510.20150", "official code", "items of a list compared rank by rank, each with a ratio of its own", \
        SET(advantage.credit, GRPO_CREDIT_STEP_OWN), STEPS(REWARD, INDEX), TRL_NORM, UNIT(SEGMENT_MEAN), CLIP(0.2, 0.2), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("minillm", "2306.08543", "as TRL", "trl-grpo with the teacher's log-ratio added to the advantage", \
        TRL_NORM, SET(advantage.teacher_coef, 1), CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("cfpo", "2601.22801", "CFPO, as verl's port", "no clip: a parabola in the ratio whose best is at 1 + eps or 1 - eps", \
        VERL_NORM, CLAMP(-20, 20), SURROGATE(QUADRATIC), SET(surrogate.eps_high, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("up-grpo", "2607.06987", "15", "REINFORCE where the advantage is positive, dual clip where it is negative, KL of 0.001", \
        VERL_NORM, CLAMP(-20, 20), SURROGATE(UNBOUNDED_POSITIVE), BAND(0.2, 0.2), SET(surrogate.dual, 3), KL(K3, 0.001), \
        DIVIDE(TOKEN_MEAN)) \
    ROW("gift", "2510.23868", "as the author's pull request to verl", \
        "the response's log-ratio, standardised over the group, regressed on the advantage", \
        VERL_NORM, UNIT(SEQUENCE_SUM), SURROGATE(STANDARDISED), SET(surrogate.strength, 1), SET(surrogate.score_eps, 1e-6), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tpo", "2604.06159", "as the author's pull request to TRL", \
        "cross-entropy of the group's likelihoods to the old ones tilted by the advantages", \
        GROUP_NORM, SET(advantage.std, GRPO_STD_POPULATION), UNIT(SEQUENCE_MEAN), SET(ratio.against, GRPO_AGAINST_NOTHING), \
        SURROGATE(TARGET), SET(surrogate.strength, 1), SET(surrogate.tau_pos, 1), DIVIDE(GROUP_MEAN)) \
    ROW("click", "2306.03350", "contrastive loss, official code", \
        "hinge on how far each better response's likelihood is above a worse one's", \
        UNIT(SEQUENCE_SUM), SET(ratio.against, GRPO_AGAINST_NOTHING), SURROGATE(HINGE), SET(surrogate.strength, 1), \
        SET(surrogate.shift, 20), DIVIDE(GROUP_MEAN)) \
    ROW("minirl", "2512.01374", "5, 7, as verl's port", \
        "detached ratio times the score where PPO's clip would not bind, rollout weights up to 5", \
        BASELINE(GROUP_MEAN), CLAMP(-20, 20), CISPO(0, HUGE_VAL), TRUST(ONE_SIDED, 0.2, 0.2), CORRECT(TRUNCATE, TOKEN, 0, 5, ZERO_WEIGHT), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("mirror-descent", "2501.12599", "token by token, as verl's port", \
        "REINFORCE with the group mean as baseline and a squared log-ratio, token by token", \
        BASELINE(GROUP_MEAN), KL(K2, 100), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), DIVIDE(TOKEN_MEAN)) \
    ROW("dapo-zv", "2503.14476", "8-13, divisor as TRL's dapo_zv", "DAPO divided by the tokens of the groups whose rewards differ", \
        OVERLONG(20480, 4096), GROUP_NORM, CLIP(0.2, 0.28), DIVIDE(TOKEN_MEAN_VARIED)) \
    ROW("dgpo", "2601.20614", "DGPO, official code", \
        "divided by the mean absolute deviation; the weights of harder prompts are grpo_difficulty_weight", \
        BASELINE(GROUP_MEAN), SCALE(MEAN_DEVIATION), SET(advantage.eps, 1e-4), CLIP(0.2, 0.2), DIVIDE(TOKEN_MEAN)) \
    ROW("f-grpo", "2602.06717", "F-GRPO, as verl's ports", "advantages times the prompt's share of failures", \
        VERL_NORM, SET(advantage.gain, GRPO_GAIN_FAILURE_POWER), SET(advantage.gain_power, 1), SET(advantage.gain_high, 1), \
        CLIP(0.2, 0.2), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("reg-grpo", "2506.07464", "8-9, without the KL", "GRPO's advantage regressed on the response's log-ratio, standardised too", \
        GROUP_NORM, UNIT(SEQUENCE_SUM), SURROGATE(REGRESSION), SET(surrogate.strength, 1), DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    /* rewards are its levels of preference: the best one positive, the worse ones 0, -1, -2 */ \
    ROW("trpa", "2504.04524", "official code", "pairs of better and worse responses, KL to the old policy", \
        SURROGATE(NONE), KL(K3, 0.001), SET(penalty.kl_against, GRPO_KL_AGAINST_OLD), SET(penalty.kl_clamp_value, 10), \
        SET(penalty.pairs, GRPO_PAIRS_MARGIN_ELSE_SIGN), SET(penalty.pair_beta, 0.1), SET(penalty.pair_coef, 1), \
        SET(penalty.pair_gain, 2.5), DIVIDE(TOKEN_MEAN)) \
    ROW("mt-guide", "2510.01132", "PPO on dense rewards, without its KL", "verl's PPO with a reward at the end of each turn", \
        GAE(1, 1), SET(advantage.credit, GRPO_CREDIT_STEP_GAE), SCALE(TOKEN_WHITEN), EPS(1e-8, INSIDE), CLAMP(-20, 20), DUAL(0.2, 0.2, 3), \
        DIVIDE(TOKEN_MEAN)) \
    /* ratio.power and ratio.pool_high are the caller's of every step: grpo_power_clip */ \
    ROW("apmpo", "2605.04066", "objective, at a mean reward of 0", \
        "power mean of a response's clipped token ratios, from GRPO's to GMPO's", \
        GROUP_NORM, SET(advantage.std, GRPO_STD_POPULATION), UNIT(SEQUENCE_POWER_MEAN), SET(ratio.power, 1), \
        SET(ratio.pool_low, 0.2231435513142097), SET(ratio.pool_high, 0.1823215567939546), SURROGATE(RATIO), KL(K3, 0.001), \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN))

/* GRPO_ROWS_ is written out three times: where each setting goes, its value, and the names.  A setting goes to an offset into
 * grpo_objective, plus one where it is a choice, which is an int and no double: offsets are even.  GRPO_ROW_END_ closes a row. */
enum { GRPO_ROW_END_ = 0xffff };
static grpo_objective grpo_objective_of_row_(int row)
{
#define SET(path, value) offsetof(grpo_objective, path) + (sizeof(((grpo_objective *)0)->path) == sizeof(int))
#define ROW(name, paper, equations, summary, ...) __VA_ARGS__, GRPO_ROW_END_,
    static const uint16_t place[] = { GRPO_ROWS_ };
#undef SET
#undef ROW
#define SET(path, value) value
#define ROW(name, paper, equations, summary, ...) __VA_ARGS__, 0,
    static const double value[] = { GRPO_ROWS_ };
#undef ROW
    grpo_objective obj;
    int k, choice;
    memset(&obj, 0, sizeof obj);
    for (k = 0; row > 0; k++) row -= place[k] == GRPO_ROW_END_;
    for (; place[k] != GRPO_ROW_END_; k++) {
        choice = place[k] & 1 ? (int)value[k] : 0;                     /* a number may be infinite */
        if (place[k] & 1) memcpy((char *)&obj + place[k] - 1, &choice, sizeof choice);
        else memcpy((char *)&obj + place[k], &value[k], sizeof *value);
    }
    return obj;
}

const grpo_preset *grpo_presets(int *count)
{
#define ROW(name, paper, equations, summary, ...) { name, paper, equations, summary },
    static const grpo_preset presets[] = { GRPO_ROWS_ };
    *count = (int)(sizeof presets / sizeof *presets);
    return presets;
}
#undef GRPO_ROWS_
#undef ROW
#undef SET
#undef OVERLONG
#undef REWARD_K1
#undef AFFINE
#undef CREDIT
#undef GAE
#undef STEPS
#undef BASELINE
#undef SCALE
#undef EPS
#undef GROUP_NORM
#undef TRL_NORM
#undef VERL_NORM
#undef UNIT
#undef CLAMP
#undef UNIT_CLAMP
#undef AGAINST
#undef SURROGATE
#undef BAND
#undef CLIP
#undef DUAL
#undef LOG_DUAL
#undef CISPO
#undef SAPO
#undef VESPO
#undef KL
#undef AGAINST_TEACHER
#undef LIKELIHOOD
#undef PAIRED
#undef DRIFT
#undef FINISHED
#undef CORRECT
#undef TRUST
#undef RING
#undef REJECT
#undef FUTURE
#undef FUTURE_SAFE
#undef MIX
#undef HALVES
#undef DIVIDE
#undef SKIP_EMPTY

grpo_status grpo_objective_named(const char *name, grpo_objective *obj)
{
    int row, n;
    const grpo_preset *p = grpo_presets(&n);
    if (!obj) return GRPO_NULL_OBJECTIVE;
    for (row = 0; name && row < n; row++)
        if (strcmp(p[row].name, name) == 0) { *obj = grpo_objective_of_row_(row); return GRPO_OK; }
    return GRPO_UNKNOWN_OBJECTIVE;
}

grpo_objective grpo_objective_of(const grpo_preset *preset)
{
    grpo_objective obj;
    if (grpo_objective_named(preset->name, &obj)) memset(&obj, 0, sizeof obj);
    return obj;
}
#endif /* GRPO_NO_ROWS */

static void grpo_field_put_(grpo_objective *obj, const grpo_field *field, double value)
{
    int choice = field->choices ? (int)value : 0;                      /* a number may be infinite */
    if (field->choices) memcpy((char *)obj + field->offset, &choice, sizeof choice);
    else memcpy((char *)obj + field->offset, &value, sizeof value);
}

static const grpo_field *grpo_field_named_(const char *path)
{
    int i, n;
    const grpo_field *f = grpo_fields(&n);
    for (i = 0; path && i < n; i++) if (strcmp(f[i].path, path) == 0) return &f[i];
    return NULL;
}

/* enums are reached as int: the compiler may give them either signedness, never another size */
typedef char grpo_enums_are_ints_[sizeof(grpo_credit_kind) == sizeof(int) ? 1 : -1];

double grpo_objective_get(const grpo_objective *obj, const grpo_field *field)
{
    int choice;
    double number;
    if (field->choices) {
        memcpy(&choice, (const char *)obj + field->offset, sizeof choice);
        return choice;
    }
    memcpy(&number, (const char *)obj + field->offset, sizeof number);
    return number;
}

grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value)
{
    const grpo_field *f = grpo_field_named_(path);
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!f) return GRPO_UNKNOWN_FIELD;
    if (value != value) return GRPO_BAD_NUMBER;
    if (f->choices && !(value >= 0 && value < grpo_choice_count_(f->choices) && value == floor(value))) return GRPO_UNKNOWN_CHOICE;
    grpo_field_put_(obj, f, value);
    return GRPO_OK;
}

grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice)
{
    const grpo_field *f = grpo_field_named_(path);
    const char *p;
    int k = 0;
    if (!obj) return GRPO_NULL_OBJECTIVE;
    if (!f) return GRPO_UNKNOWN_FIELD;
    if (!f->choices || !choice) return GRPO_UNKNOWN_CHOICE;
    for (p = f->choices; p; p = strchr(p, '|'), p = p ? p + 1 : NULL, k++) {
        size_t n = strcspn(p, "|");
        if (strlen(choice) == n && strncmp(choice, p, n) == 0) return grpo_objective_set(obj, path, k);
    }
    return GRPO_UNKNOWN_CHOICE;
}

const char *grpo_status_text(grpo_status st)
{
#define GRPO_STATUS_TEXT_(name, text) text,
    static const char *const texts[] = { GRPO_STATUS_LIST(GRPO_STATUS_TEXT_) NULL };
#undef GRPO_STATUS_TEXT_
    return (int)st >= 0 && (int)st < GRPO_N_STATUS ? texts[(int)st] : "not a status of this library";
}

#ifdef __cplusplus
}
#endif
#endif /* GRPO_IMPLEMENTATION */

/* MIT No Attribution
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
 * (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
 * publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
 * MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
 * FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
 * WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
