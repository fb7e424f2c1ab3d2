/* Every argument of every function of extra/ is refused when invalid: a valid call, then the same with one argument invalid at a time: a
 * NULL pointer, a number that is NaN or infinite, a negative whole number, an undefined choice.  The status names the argument and says
 * which of these it is, and nothing is written.  The list `takes` has the arguments that accept any value, each with the reason; a missing
 * and a needless entry are failures.  The same for the members of structs of settings and the arrays of the batch.
 * calls_faults.c and calls_refused.c have the rest: domains, elements of arrays, other forms. */
#include "../../extra/grpo_context.h"
#include "../../extra/grpo_control.h"
#include "../../extra/grpo_credit.h"
#include "../../extra/grpo_critic.h"
#include "../../extra/grpo_distill.h"
#include "../../extra/grpo_flow.h"
#include "../../extra/grpo_hidden.h"
#include "../../extra/grpo_logits.h"
#include "../../extra/grpo_rewards.h"
#include "../../extra/grpo_selection.h"
#include "../../extra/grpo_weights.h"
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/small_batch.h"
#include "../support/status.h"
#include <limits.h>

/* ---- valid arguments ------------------------------------------------------------------------------------------------------------ */

typedef enum { A_POINTER, A_NUMBER, A_WHOLE, A_FLAG, A_FORM } kind;
typedef struct { kind is; void *p; double x; int64_t n; unsigned form; int flag; } value;

static rollouts arrays;
static grpo_batch batch, one_token;
static const double halves[16] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
static const double minus[8] = { -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5 }, ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
static const double gram[4] = { 1, 0.5, 0.5, 1 }, wins[4] = { 0, 1, 0, 0 };
static const grpo_real reals[2 * TOKENS] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
static const int64_t ids[TOKENS] = { 0, 1, 0, 1, 0, 1, 0, 1 }, order[TOKENS] = { 7, 6, 5, 4, 3, 2, 1, 0 }, begin[2] = { 0, 2 };
static const int64_t tree[4] = { -1, 0, 0, 1 }, depth[4] = { 1, 2, 2, 3 }, no_gate[4] = { -1, -1, -1, -1 };
static const uint8_t flags[TOKENS] = { 1, 0, 1, 0, 1, 0, 1, 0 };
static const grpo_prefix_gate prefix_gate = { 3, 0.8, 0.15, 0.02, 0.9, 1 };
static const grpo_balance balance = { 0.6, 1.2, 0.8, 2, 0.05, 1 };
static const grpo_adaptation adaptation = { 0.2, 0.2, 1, 1 };
static const grpo_key_measure key_measure = { 1, 1, 1, 1, -1 };
static const grpo_canon canon = { 1, 0, 1, GRPO_HALF_LOW };
static const grpo_feature feature = { halves, halves, halves, flags, 1, 1 };
static const grpo_risk risk = { 0, 1, 0.2, 0.8, 1.5, 1e-6 };
static const grpo_coplayer coplayer = { 0.96, 0.96, 2, 0, 0, 0, 0, 1 };
static const grpo_anchors anchors = { 0.2, 0.8, 1.25, 2, GRPO_ANCHORS_PAPER };
static const grpo_constraint constraint = { 0.95, 0.05, 5, 2 };
static const grpo_cost cost = { halves, halves, halves, 0.25, 0.1, 0.1 };
static const grpo_trust_bounds trust_bounds = { 0.2, 0.5, 0.9, 0.1 };
static const grpo_centroids centroids = { 2, 1, 0.8, 1.2 };
static grpo_aggregation aggregation;
static grpo_objective objective;
static grpo_logits logits;
static grpo_logits_batch rows;
static grpo_hidden hidden_rows;
static grpo_distill distill;
static grpo_distill_part distilled[1];
static grpo_real numbers_of_steps[5];
static const grpo_gaussian_numbers step_numbers = { numbers_of_steps, numbers_of_steps + 1, numbers_of_steps + 2, numbers_of_steps + 3,
                                                    numbers_of_steps + 4 };
static const grpo_gaussian_gradients step_gradients = { reals, reals, reals, reals, reals };
static const grpo_nft nft = { 5, 1, 0.5 };
static int64_t sorted_ids[1];
static grpo_real sorted_reals[1];
static grpo_logits_part row_part, merged, parts[1];
static grpo_output output;
static grpo_partial partial;
static grpo_response records[SEQUENCES], measured[SEQUENCES];           /* of responses without tokens */
static grpo_sum through[SEQUENCES];
static grpo_totals counted, all_counted;
static grpo_partial evaluated, complete;
static double room[256];                        /* scratch */
static double written[3][64], before[3][64];    /* the outputs, and their bytes before the call */

static void fill(void) {
    static const int64_t group[2] = { 0, 1 }, offset = 0, length = 1, target = 1;
    static const grpo_real z[2] = { 1, 2 }, rewards[SEQUENCES] = { 1, 0, 0, 1 };
    static grpo_real drawn[2], dz[2], dlogp[1], dentropy[1], tile[3], d_weight[2];
    static grpo_hidden_row tile_rows[1];
    fill_batch(&arrays);
    batch = rollouts_view(&arrays);
    memcpy(arrays.reward, rewards, sizeof rewards);
    batch.shaping_mask = flags;
    aggregation.kind = GRPO_AGGREGATION_SEQ_MEAN_CONSTANT; aggregation.constant = 8;
    grpo_objective_named("grpo", &objective);
    one_token.n_groups = one_token.n_tokens = 1; one_token.group_begin = group; one_token.offset = &offset; one_token.length = &length;
    one_token.logp_old = one_token.logp_ref = reals;
    logits.type = GRPO_LOGITS_REAL; logits.logits = z; logits.rows = 1; logits.vocab = logits.stride = 2; logits.target = &target;
    logits.temperature = 1;
    distill.student = logits; distill.teacher_stride = distill.k = 2; distill.teacher_temperature = 1;
    rows.logits = logits; rows.part = parts; rows.logp = &drawn[0]; rows.entropy = &drawn[1]; rows.dlogits = dz;
    hidden_rows.hidden = z; hidden_rows.weight = reals; hidden_rows.width = 1; hidden_rows.vocab = 2; hidden_rows.target = &target;
    hidden_rows.temperature = 1; hidden_rows.tile_rows = 1; hidden_rows.tile = tile; hidden_rows.row = tile_rows;
    hidden_rows.logp = &drawn[0]; hidden_rows.entropy = &drawn[1]; hidden_rows.d_hidden = dz; hidden_rows.d_weight = d_weight;
    output.dlogp = dlogp; output.dentropy = dentropy;
    check(grpo_logits_row_read(&logits, 0, &row_part) == GRPO_OK, "row_read");
    merged = grpo_logits_part_empty();
    check(grpo_context_totals_add(&objective, &batch, records, &all_counted) == GRPO_OK, "context_totals_add");
    complete.scales.divisor = 1;
    memset(before, 0x5a, sizeof before);
}

/* ---- the functions: IN an input array, OUT one of `written` ------------------------------------------------------------------------ */

#define IN(place) { A_POINTER, (void *)(place), 0, 0, 0, 0 }
#define OUT(k) { A_POINTER, written[k], 0, 0, 0, 0 }
#define NUMBER(value) { A_NUMBER, NULL, value, 0, 0, 0 }
#define WHOLE(value) { A_WHOLE, NULL, 0, value, 0, 0 }
#define FLAG(value) { A_FLAG, NULL, 0, 0, 0, value }
#define FORM(value) { A_FORM, NULL, 0, 0, value, 0 }

#define FUNCTIONS(X) \
    X##4(grpo_select_top_fraction, IN(&batch), IN(reals), NUMBER(0.5), OUT(0)) \
    X##4(grpo_select_top_k, IN(&batch), IN(reals), WHOLE(4), OUT(0)) \
    X##8(grpo_select_between, IN(&batch), IN(reals), NUMBER(0), NUMBER(1), IN(flags), IN(order), WHOLE(4), OUT(0)) \
    X##5(grpo_select_second_moment, IN(&batch), IN(reals), FORM(GRPO_SECOND_MOMENT_DRIFTING), NUMBER(0.5), OUT(0)) \
    X##3(grpo_covariance, IN(&batch), IN(reals), OUT(0)) \
    X##4(grpo_reward_range_filter, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_resampling_weights, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##5(grpo_resample, IN(halves), WHOLE(4), IN(halves), WHOLE(4), OUT(0)) \
    X##3(grpo_replay_score, IN(&batch), IN(reals), OUT(0)) \
    X##4(grpo_entropy_clip_batch, IN(&batch), IN(reals), NUMBER(0.5), OUT(0)) \
    X##6(grpo_entropy_clip_vocabulary, IN(&batch), IN(reals), IN(reals), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##6(grpo_balanced_subset, IN(halves), WHOLE(4), WHOLE(2), NUMBER(0), NUMBER(1), OUT(0)) \
    X##5(grpo_prefix_trust_region, IN(&batch), IN(reals), IN(&prefix_gate), IN(room), OUT(0)) \
    X##6(grpo_allocate_rollouts, IN(halves), WHOLE(2), WHOLE(1), WHOLE(4), WHOLE(8), OUT(0)) \
    X##4(grpo_select_value_of_information, IN(halves), WHOLE(4), WHOLE(2), OUT(0)) \
    X##6(grpo_visit_value, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_max_variance_subset, IN(halves), WHOLE(4), WHOLE(2), OUT(0)) \
    X##4(grpo_pad_valid, IN(&batch), IN(flags), OUT(0), OUT(1)) \
    X##7(grpo_cluster_probability, IN(halves), IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), OUT(0), OUT(1)) \
    X##4(grpo_explore_weight, IN(halves), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##3(grpo_reward_std_filter, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##6(grpo_advantage_filter, IN(halves), WHOLE(4), NUMBER(0.5), WHOLE(4), FLAG(0), OUT(0)) \
    X##3(grpo_select_low_probability, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##7(grpo_sequence_distance, IN(ids), WHOLE(4), IN(ids), WHOLE(4), FORM(0), IN(room), OUT(0)) \
    X##4(grpo_balanced_clip_bounds, IN(&batch), IN(reals), IN(&balance), OUT(0)) \
    X##5(grpo_running_baseline, IN(halves), WHOLE(4), NUMBER(0.5), OUT(0), OUT(1)) \
    X##4(grpo_regret_temperature, IN(ids), IN(halves), WHOLE(4), OUT(0)) \
    X##7(grpo_adaptive_clip, IN(&batch), IN(reals), IN(reals), IN(&adaptation), OUT(0), OUT(1), OUT(2)) \
    X##5(grpo_drift_decay, IN(&batch), NUMBER(1), NUMBER(0), NUMBER(1), OUT(0)) \
    X##7(grpo_quantile_tracker, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), IN(halves), WHOLE(4), OUT(0)) \
    X##5(grpo_turn_factor, IN(&batch), IN(halves), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##7(grpo_hint_level, IN(ids), IN(halves), WHOLE(4), NUMBER(0.1), NUMBER(0.35), WHOLE(3), OUT(0)) \
    X##4(grpo_standardised_entropy, IN(&batch), NUMBER(0.5), FORM(0), OUT(0)) \
    X##4(grpo_ratio_quantile, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_logit_shift, IN(&batch), IN(flags), NUMBER(0.5), OUT(0)) \
    X##6(grpo_multiplier_update, IN(halves), IN(flags), WHOLE(4), IN(&constraint), OUT(0), OUT(1)) \
    X##6(grpo_key_token_advantage, IN(&batch), IN(ids), IN(&key_measure), IN(room), WHOLE(TOKENS), OUT(0)) \
    X##4(grpo_jsd_advantage, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##7(grpo_distribution_advantage, IN(&batch), IN(reals), IN(reals), IN(flags), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##3(grpo_boltzmann_advantage, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##6(grpo_likelihood_advantage, IN(&batch), NUMBER(0.5), NUMBER(0.5), FLAG(0), IN(room), OUT(0)) \
    X##4(grpo_canon_advantage, IN(&batch), IN(halves), IN(&canon), OUT(0)) \
    X##4(grpo_asymmetric_advantage, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##6(grpo_sharpening_advantage, IN(&batch), IN(halves), NUMBER(0.5), NUMBER(0.5), IN(room), OUT(0)) \
    X##3(grpo_feature_advantage, IN(&batch), IN(&feature), OUT(0)) \
    X##5(grpo_virtual_reward_advantage, IN(&batch), NUMBER(0.5), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##5(grpo_bundle_advantage, IN(&batch), IN(ids), IN(&risk), IN(room), OUT(0)) \
    X##7(grpo_set_advantage, IN(halves), IN(ids), WHOLE(4), IN(ids), IN(begin), WHOLE(1), OUT(0)) \
    X##8(grpo_reference_advantage, IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), FLAG(0), OUT(0), OUT(1)) \
    X##5(grpo_implicit_advantage, IN(&batch), IN(reals), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_hardness_advantage, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##5(grpo_token_advantage, IN(&batch), NUMBER(0.5), NUMBER(0.5), FLAG(0), OUT(0)) \
    X##3(grpo_future_success_advantage, IN(halves), WHOLE(4), OUT(0)) \
    X##5(grpo_alignment_advantage, IN(halves), IN(halves), WHOLE(4), IN(&coplayer), OUT(0)) \
    X##8(grpo_projected_advantage, IN(halves), WHOLE(4), IN(halves), WHOLE(1), NUMBER(0.5), FLAG(0), IN(room), OUT(0)) \
    X##8(grpo_branch_advantage, IN(tree), IN(halves), IN(minus), WHOLE(4), FORM(GRPO_BRANCH_PROBABILITY), NUMBER(0.5), IN(room), OUT(0)) \
    X##3(grpo_collapsed_advantage, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##6(grpo_variant_advantage, IN(halves), IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##4(grpo_step_weight_advantage, IN(halves), IN(halves), WHOLE(4), OUT(0)) \
    X##8(grpo_tree_advantage, IN(tree), IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), FORM(GRPO_TREE_TD), IN(room), OUT(0)) \
    X##4(grpo_two_anchor_advantage, IN(&batch), IN(ones), IN(&anchors), OUT(0)) \
    X##5(grpo_calibration_advantage, IN(&batch), IN(flags), NUMBER(0.5), IN(room), OUT(0)) \
    X##4(grpo_multi_scale_advantage, IN(halves), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##4(grpo_hard_negative_advantage, IN(&batch), IN(halves), OUT(0), OUT(1)) \
    X##4(grpo_position_advantage, IN(minus), IN(halves), WHOLE(4), OUT(0)) \
    X##5(grpo_role_advantage, IN(halves), IN(ids), WHOLE(4), FORM(0), OUT(0)) \
    X##4(grpo_median_advantage, IN(&batch), NUMBER(0.5), OUT(0), OUT(1)) \
    X##6(grpo_mix_advantages, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##8(grpo_gram_rank, IN(gram), IN(halves), WHOLE(2), NUMBER(1), WHOLE(1), WHOLE(64), OUT(0), OUT(1)) \
    X##6(grpo_odds_advantage, IN(&batch), IN(reals), IN(reals), IN(halves), NUMBER(0.5), OUT(0)) \
    X##3(grpo_relative_cost_penalty, IN(&batch), IN(&cost), OUT(0)) \
    X##5(grpo_diversity_reward, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##4(grpo_unlikeliness_reward, IN(&batch), NUMBER(0.5), IN(room), OUT(0)) \
    X##2(grpo_early_exit_reward, IN(&batch), OUT(0)) \
    X##6(grpo_trust_reward, IN(&batch), IN(halves), IN(halves), NUMBER(0.5), IN(&trust_bounds), OUT(0)) \
    X##7(grpo_tool_efficiency_reward, IN(&batch), IN(halves), IN(flags), NUMBER(0.5), NUMBER(0.5), FORM(0), OUT(0)) \
    X##6(grpo_entity_reward, IN(&batch), IN(halves), IN(flags), IN(flags), NUMBER(0.5), OUT(0)) \
    X##4(grpo_retention_reward, IN(&batch), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##6(grpo_efficiency_reward, IN(&batch), IN(flags), NUMBER(0.5), NUMBER(0.5), OUT(0), OUT(1)) \
    X##6(grpo_consistency_bonus, IN(&batch), IN(halves), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##6(grpo_gated_reward_sum, IN(halves), WHOLE(1), WHOLE(4), IN(halves), IN(no_gate), OUT(0)) \
    X##5(grpo_brier_reward, IN(halves), WHOLE(4), IN(flags), IN(flags), OUT(0)) \
    X##6(grpo_length_shape_reward, IN(halves), WHOLE(4), FORM(GRPO_SHAPE_PARABOLA), NUMBER(0.5), NUMBER(1), OUT(0)) \
    X##6(grpo_log_exp_reward, IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##9(grpo_tree_reward, IN(tree), IN(halves), IN(depth), WHOLE(4), NUMBER(0.5), FORM(GRPO_TREE_MEAN_BY_DEPTH), WHOLE(3), IN(room), \
        OUT(0)) \
    X##7(grpo_hint_reward, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), FORM(0), FLAG(0), OUT(0)) \
    X##8(grpo_meta_reward, IN(flags), IN(ids), WHOLE(4), IN(ids), WHOLE(1), WHOLE(8), WHOLE(1), OUT(0)) \
    X##3(grpo_win_rate_reward, IN(wins), WHOLE(2), OUT(0)) \
    X##6(grpo_entropy_rank_reward, IN(halves), IN(halves), WHOLE(4), NUMBER(0.5), IN(room), OUT(0)) \
    X##6(grpo_interval_reward, IN(minus), IN(halves), WHOLE(4), NUMBER(0.5), FLAG(0), OUT(0)) \
    X##5(grpo_dense_rewards, IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_information_gain_reward, IN(minus), WHOLE(4), FORM(GRPO_INFORMATION_LOG), OUT(0)) \
    X##3(grpo_shorter_correct_reward, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##5(grpo_permutation_reward, IN(ids), WHOLE(2), WHOLE(2), FORM(GRPO_PERMUTATION_JUDGE), OUT(0)) \
    X##4(grpo_frequency_reward, IN(&batch), IN(ids), WHOLE(1), OUT(0)) \
    X##5(grpo_repetition_penalty, IN(&batch), IN(ids), WHOLE(4), NUMBER(0.5), OUT(0)) \
    X##6(grpo_correct_length_reward, IN(&batch), IN(flags), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##5(grpo_pairwise_rewards, IN(&batch), IN(ids), IN(flags), OUT(0), OUT(1)) \
    X##3(grpo_min_max_reward, IN(halves), WHOLE(4), OUT(0)) \
    X##4(grpo_sample_weights, IN(&batch), IN(halves), FLAG(0), OUT(0)) \
    X##6(grpo_teacher_gate, IN(&batch), IN(reals), NUMBER(0.5), NUMBER(0.5), IN(flags), OUT(0)) \
    X##4(grpo_prefix_discrepancy_weight, IN(&batch), NUMBER(0.5), FORM(0), OUT(0)) \
    X##6(grpo_soft_top_k_weight, IN(minus), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0), OUT(1)) \
    X##3(grpo_probability_weight, IN(&batch), NUMBER(0.5), OUT(0)) \
    X##5(grpo_conflict_weight, IN(&batch), IN(ids), IN(ids), NUMBER(0.5), OUT(0)) \
    X##6(grpo_prompt_weight, IN(&batch), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), FORM(0), OUT(0)) \
    X##4(grpo_invariance_weight, IN(&batch), IN(ids), IN(flags), OUT(0)) \
    X##6(grpo_centroid_weight, IN(&batch), IN(reals), IN(reals), IN(&centroids), IN(room), OUT(0)) \
    X##3(grpo_agent_weights, IN(&batch), IN(ids), OUT(0)) \
    X##4(grpo_centred_weights, IN(&batch), NUMBER(0.5), OUT(0), OUT(1)) \
    X##6(grpo_consistency_weights, IN(halves), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0), OUT(1)) \
    X##4(grpo_confidence_factor, IN(&batch), IN(flags), NUMBER(0.5), OUT(0)) \
    X##7(grpo_surprisal_weight, IN(&batch), IN(reals), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), NUMBER(0.5), OUT(0)) \
    X##4(grpo_difficulty_weight, IN(&batch), IN(halves), NUMBER(0.5), OUT(0)) \
    X##3(grpo_covariance_weight, IN(&batch), IN(reals), OUT(0)) \
    X##4(grpo_routed_weight, IN(&batch), IN(flags), NUMBER(0.5), OUT(0)) \
    X##5(grpo_entropy_factor, IN(halves), WHOLE(4), NUMBER(0.5), WHOLE(4), OUT(0)) \
    X##4(grpo_semantic_entropy, IN(&batch), IN(ids), IN(halves), OUT(0)) \
    X##5(grpo_dynamic_scale, IN(halves), IN(halves), WHOLE(4), NUMBER(1), OUT(0)) \
    X##6(grpo_length_preference_weight, IN(&batch), IN(halves), NUMBER(0.5), NUMBER(0.5), OUT(0), OUT(1)) \
    X##8(grpo_value_loss, IN(&batch), IN(reals), IN(reals), IN(reals), NUMBER(0.5), IN(&aggregation), OUT(0), OUT(1)) \
    X##5(grpo_proximal_logp, IN(&batch), WHOLE(8), IN(ids), FORM(GRPO_PROXIMAL_LINEAR), OUT(0)) \
    X##7(grpo_generalised_jsd, IN(halves), IN(minus), WHOLE(4), NUMBER(0.5), NUMBER(0.5), OUT(0), OUT(1)) \
    X##5(grpo_top_k_gap, IN(minus), IN(minus), WHOLE(4), WHOLE(3), OUT(0)) \
    X##6(grpo_distill_divergence, IN(&distill), IN(reals), IN(ids), IN(flags), OUT(0), OUT(1)) \
    X##8(grpo_distill_gradient, IN(&distill), IN(reals), IN(ids), IN(flags), IN(distilled), IN(reals), FLAG(0), OUT(0)) \
    X##4(grpo_distill_top, IN(&logits), IN(flags), WHOLE(1), OUT(0)) \
    X##5(grpo_distill_at, IN(&logits), IN(flags), IN(ids), WHOLE(1), OUT(0)) \
    X##4(grpo_distill_sort, WHOLE(1), WHOLE(1), IN(sorted_ids), IN(sorted_reals)) \
    X##4(grpo_distill_pairs, IN(&batch), IN(flags), OUT(0), OUT(1)) \
    X##4(grpo_frontier_weight, IN(&batch), IN(flags), NUMBER(0.5), OUT(0)) \
    X##3(grpo_distill_importance_weight, IN(&batch), NUMBER(2), OUT(0)) \
    X##7(grpo_flow_schedule, FORM(GRPO_FLOW_CPS), NUMBER(0.5), NUMBER(0.25), NUMBER(0.75), NUMBER(0.125), NUMBER(0.5), OUT(0)) \
    X##4(grpo_balance_steps, WHOLE(2), IN(halves), FORM(GRPO_BALANCE_MEAN), OUT(0)) \
    X##9(grpo_gaussian_steps, WHOLE(1), IN(begin), IN(reals), IN(reals), IN(reals), IN(reals), IN(halves), IN(halves), \
         IN(&step_numbers)) \
    X##10(grpo_gaussian_steps_backward, WHOLE(1), IN(begin), IN(reals), IN(reals), IN(reals), IN(reals), IN(halves), IN(halves), \
          IN(&step_gradients), OUT(0)) \
    X##5(grpo_denoising_error, WHOLE(1), IN(begin), IN(reals), IN(reals), OUT(0)) \
    X##6(grpo_denoising_error_backward, WHOLE(1), IN(begin), IN(reals), IN(reals), IN(halves), OUT(0)) \
    X##7(grpo_denoising_preference, WHOLE(1), IN(halves), IN(halves), IN(halves), NUMBER(2), OUT(0), OUT(1)) \
    X##13(grpo_diffusion_nft, WHOLE(1), IN(begin), IN(reals), IN(reals), IN(reals), IN(reals), IN(reals), IN(halves), IN(halves), \
          IN(&nft), OUT(0), OUT(1), OUT(2)) \
    X##7(grpo_hidden_loss, IN(&objective), IN(&one_token), IN(reals), IN(NULL), IN(&hidden_rows), IN(&output), OUT(0)) \
    X##7(grpo_hidden_loss_add, IN(&objective), IN(&one_token), IN(reals), IN(NULL), IN(&hidden_rows), IN(&output), IN(&partial)) \
    X##3(grpo_logits_row_read, IN(&logits), WHOLE(0), OUT(0)) \
    X##3(grpo_logits_part_merge, IN(&merged), IN(&row_part), NUMBER(1)) \
    X##3(grpo_logits_part_row, IN(&row_part), NUMBER(1), OUT(0)) \
    X##6(grpo_logits_row_gradient, IN(&logits), WHOLE(0), IN(&row_part), NUMBER(1), NUMBER(1), OUT(0)) \
    X##7(grpo_logits_loss, IN(&objective), IN(&one_token), IN(reals), IN(NULL), IN(&rows), IN(&output), OUT(0)) \
    X##7(grpo_logits_loss_add, IN(&objective), IN(&one_token), IN(reals), IN(NULL), IN(&rows), IN(&output), IN(&partial)) \
    X##4(grpo_logits_batch_read, IN(&rows), IN(flags), WHOLE(0), WHOLE(1)) \
    X##6(grpo_logits_batch_gradient, IN(&rows), IN(flags), IN(reals), IN(reals), WHOLE(0), WHOLE(1)) \
    X##5(grpo_context_measure, IN(&objective), IN(&batch), IN(reals), IN(records), IN(measured)) \
    X##4(grpo_context_totals_add, IN(&objective), IN(&batch), IN(records), IN(&counted)) \
    X##9(grpo_context_loss_add, IN(&objective), IN(&batch), IN(reals), IN(records), IN(&all_counted), IN(NULL), FLAG(0), IN(&evaluated), \
         IN(through)) \
    X##7(grpo_context_backward, IN(&objective), IN(&batch), IN(reals), IN(records), IN(through), IN(NULL), IN(&complete))

/* the member of `value` that has the argument's type */
#define AS_IN(place) .p
#define AS_OUT(k) .p
#define AS_NUMBER(value) .x
#define AS_WHOLE(value) .n
#define AS_FLAG(value) .flag
#define AS_FORM(value) .form
#define RUN2(name, a, b) static grpo_status run_##name(const value *v) { return name(v[0] AS_##a, v[1] AS_##b); }
#define RUN3(name, a, b, c) static grpo_status run_##name(const value *v) { return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c); }
#define RUN4(name, a, b, c, d) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d); \
    }
#define RUN5(name, a, b, c, d, e) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e); \
    }
#define RUN6(name, a, b, c, d, e, f) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f); \
    }
#define RUN7(name, a, b, c, d, e, f, g) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f, \
                    v[6] AS_##g); \
    }
#define RUN8(name, a, b, c, d, e, f, g, h) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f, \
                    v[6] AS_##g, v[7] AS_##h); \
    }
#define RUN9(name, a, b, c, d, e, f, g, h, i) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f, \
                    v[6] AS_##g, v[7] AS_##h, v[8] AS_##i); \
    }
#define RUN10(name, a, b, c, d, e, f, g, h, i, j) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f, \
                    v[6] AS_##g, v[7] AS_##h, v[8] AS_##i, v[9] AS_##j); \
    }
#define RUN13(name, a, b, c, d, e, f, g, h, i, j, k, l, m) \
    static grpo_status run_##name(const value *v) { \
        return name(v[0] AS_##a, v[1] AS_##b, v[2] AS_##c, v[3] AS_##d, v[4] AS_##e, v[5] AS_##f, \
                    v[6] AS_##g, v[7] AS_##h, v[8] AS_##i, v[9] AS_##j, v[10] AS_##k, v[11] AS_##l, v[12] AS_##m); \
    }
FUNCTIONS(RUN)

#define ROW2(name, ...) { #name, run_##name, { __VA_ARGS__ } },
#define ROW3 ROW2
#define ROW4 ROW2
#define ROW5 ROW2
#define ROW6 ROW2
#define ROW7 ROW2
#define ROW8 ROW2
#define ROW9 ROW2
#define ROW10 ROW2
#define ROW13 ROW2
enum { MOST_ARGUMENTS = 13 };
static const struct { const char *name; grpo_status (*run)(const value *v); value right[MOST_ARGUMENTS]; } functions[] = { FUNCTIONS(ROW) };

/* ---- functions that return a number, NaN for invalid arguments ----------------------------------------------------------------------- */

static double kl_control(const value *v) { return grpo_kl_control(v[0].x, v[1].x, v[2].x, v[3].x, v[4].x); }
static double entropy_control(const value *v) {
    return grpo_entropy_control(v[0].x, v[1].x, v[2].x, v[3].x, v[4].x, v[5].x, v[6].flag).coef;
}
static double smooth_advantage(const value *v) { return grpo_smooth_advantage(v[0].n, v[1].x, v[2].x); }
static double running_moments(const value *v) {
    const grpo_mean_variance past = { v[1].x, v[2].x }, observed = { v[3].x, v[4].x };
    return grpo_running_moments(v[0].n, past, observed).mean;
}
static double preference_margin_control(const value *v) { return grpo_preference_coef_control(v[0].x, v[1].x, v[2].x); }
static double decayed_counts(const value *v) { return grpo_decayed_counts(v[0].x, v[1].x, v[2].x, v[3].x, v[4].x).alpha; }
static double moving_average(const value *v) { return grpo_moving_average(v[0].x, v[1].x, v[2].x); }
static double linear_decay(const value *v) { return grpo_linear_schedule(v[0].x, v[1].x, v[2].x); }
static double count_budget(const value *v) { return grpo_token_budget_schedule(v[0].x, v[1].x, v[2].n, v[3].n); }
static double entropy_target_coef(const value *v) { return grpo_entropy_target_coef(v[0].x, v[1].x, v[2].x).value; }
static double margin_schedule(const value *v) { return grpo_margin_schedule(v[0].x, v[1].x, v[2].x); }
static double kl_hinge(const value *v) { return grpo_kl_hinge(v[0].x, v[1].x, v[2].x); }
static double power_clip(const value *v) { return grpo_power_mean_bounds(v[0].x, v[1].x, v[2].x, v[3].x, v[4].x, v[5].x).eps; }
static double informative_probability(const value *v) { return grpo_mixed_group_probability(v[0].x, v[1].n); }
static double annealed_split(const value *v) {
    const grpo_split s = grpo_annealed_split(v[0].n, v[1].n, v[2].n);
    return s.own < 0 ? NAN : (double)s.own;
}

static const struct {
    const char *name;
    double (*run)(const value *v);
    const char *arguments;
    value right[MOST_ARGUMENTS];
} number_functions[] = {
    { "grpo_kl_control", kl_control, "kl_coef kl target steps horizon", { NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1) } },
    { "grpo_entropy_control", entropy_control, "coef entropy target delta low high inclusive",
      { NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(0), NUMBER(1), FLAG(0) } },
    { "grpo_smooth_advantage", smooth_advantage, "visits fresh total", { WHOLE(1), NUMBER(1), NUMBER(1) } },
    { "grpo_running_moments", running_moments, "visits before.mean before.variance observed.mean observed.variance",
      { WHOLE(2), NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1) } },
    { "grpo_preference_coef_control", preference_margin_control, "coef pair_loss loss", { NUMBER(1), NUMBER(1), NUMBER(1) } },
    { "grpo_decayed_counts", decayed_counts, "alpha beta decay successes failures",
      { NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(1) } },
    { "grpo_moving_average", moving_average, "state value rate", { NUMBER(1), NUMBER(1), NUMBER(0.5) } },
    { "grpo_linear_schedule", linear_decay, "start step steps", { NUMBER(1), NUMBER(1), NUMBER(2) } },
    { "grpo_token_budget_schedule", count_budget, "start factor step every", { NUMBER(8), NUMBER(0.5), WHOLE(1), WHOLE(1) } },
    { "grpo_entropy_target_coef", entropy_target_coef, "entropy target coef", { NUMBER(1), NUMBER(2), NUMBER(1) } },
    { "grpo_margin_schedule", margin_schedule, "margin progress share", { NUMBER(0.01), NUMBER(0.15), NUMBER(0.3) } },
    { "grpo_kl_hinge", kl_hinge, "kl delta beta", { NUMBER(2), NUMBER(1), NUMBER(1) } },
    { "grpo_power_mean_bounds", power_clip, "mean deviation gamma low high delta",
      { NUMBER(1), NUMBER(1), NUMBER(1), NUMBER(0.1), NUMBER(0.3), NUMBER(1) } },
    { "grpo_mixed_group_probability", informative_probability, "p n", { NUMBER(0.5), WHOLE(8) } },
    { "grpo_annealed_split", annealed_split, "step steps size", { WHOLE(1), WHOLE(2), WHOLE(3) } },
};

/* ---- arguments that accept any value ---------------------------------------------------------------------------------------------- */

enum { MOST_PROBES = 3, EVERY = -1, MISSING = 0, INFINITY_ABOVE = 1, INFINITY_BELOW = 2 };   /* indices into the values of probes_of */
#define LEFT_OUT "may be left out"
#define A_CHOICE_OF_TWO "a flag: 0, or any other number"
#define NOT_WANTED "the caller does not want it"

static const struct { const char *function, *argument; int probe; const char *why; } takes[] = {
    { "grpo_select_between", "excluded", MISSING, LEFT_OUT }, { "grpo_brier_reward", "missing", MISSING, LEFT_OUT },
    { "grpo_sample_weights", "difficulty", MISSING, LEFT_OUT }, { "grpo_teacher_gate", "selected", MISSING, LEFT_OUT },
    { "grpo_logits_loss", "totals", MISSING, LEFT_OUT }, { "grpo_logits_loss_add", "totals", MISSING, LEFT_OUT },
    { "grpo_hidden_loss", "totals", MISSING, LEFT_OUT }, { "grpo_hidden_loss_add", "totals", MISSING, LEFT_OUT },
    { "grpo_logits_batch_read", "mask", MISSING, LEFT_OUT }, { "grpo_logits_batch_gradient", "mask", MISSING, LEFT_OUT },
    { "grpo_distill_divergence", "ids", MISSING, "the whole vocabulary" }, { "grpo_distill_divergence", "mask", MISSING, LEFT_OUT },
    { "grpo_distill_gradient", "ids", MISSING, "the whole vocabulary" }, { "grpo_distill_gradient", "mask", MISSING, LEFT_OUT },
    { "grpo_distill_gradient", "add", EVERY, A_CHOICE_OF_TWO }, { "grpo_distill_top", "mask", MISSING, LEFT_OUT },
    { "grpo_gaussian_steps", "kl_std", MISSING, "std" }, { "grpo_gaussian_steps_backward", "kl_std", MISSING, "std" },
    { "grpo_denoising_preference", "derror", MISSING, NOT_WANTED }, { "grpo_diffusion_nft", "share", MISSING, NOT_WANTED },
    { "grpo_diffusion_nft", "loss", MISSING, NOT_WANTED }, { "grpo_diffusion_nft", "dvelocity", MISSING, NOT_WANTED },
    { "grpo_distill_at", "mask", MISSING, LEFT_OUT }, { "grpo_distill_importance_weight", "clip", INFINITY_ABOVE, "no bound" },
    { "grpo_logits_batch_gradient", "dlogp", MISSING, "all 0" }, { "grpo_logits_batch_gradient", "dentropy", MISSING, "all 0" },
    { "grpo_value_loss", "dvalue", MISSING, NOT_WANTED }, { "grpo_generalised_jsd", "dstudent", MISSING, NOT_WANTED },
    { "grpo_token_advantage", "limit", INFINITY_ABOVE, "no limit" },
    { "grpo_logits_row_gradient", "dlogp", EVERY, "a loss that is not finite has the gradient that it has: NaN" },
    { "grpo_logits_row_gradient", "dentropy", EVERY, "a loss that is not finite has the gradient that it has: NaN" },
    { "grpo_advantage_filter", "positive", EVERY, A_CHOICE_OF_TWO }, { "grpo_likelihood_advantage", "by_length", EVERY, A_CHOICE_OF_TWO },
    { "grpo_reference_advantage", "with_reference", EVERY, A_CHOICE_OF_TWO }, { "grpo_token_advantage", "scaled", EVERY, A_CHOICE_OF_TWO },
    { "grpo_projected_advantage", "positive", EVERY, A_CHOICE_OF_TWO }, { "grpo_hint_reward", "gate", EVERY, A_CHOICE_OF_TWO },
    { "grpo_interval_reward", "sample", EVERY, A_CHOICE_OF_TWO }, { "grpo_sample_weights", "by_length", EVERY, A_CHOICE_OF_TWO },
    { "grpo_entropy_control", "inclusive", EVERY, A_CHOICE_OF_TWO },
    { "grpo_context_measure", "whole", MISSING, "the first round" }, { "grpo_context_loss_add", "leads", EVERY, A_CHOICE_OF_TWO },
    { "grpo_context_loss_add", "out", MISSING, "no gradient" }, { "grpo_context_backward", "out", MISSING, "no gradient" },
    { "grpo_meta_reward", "passes", MISSING, "-1: no prediction" },
    { "grpo_meta_reward", "predicted_length", MISSING, "-1: no prediction" },
};
enum { TAKES = sizeof takes / sizeof *takes };
static int taken[TAKES];

/* statuses that name something other than the declared argument */
static const struct { const char *function, *argument, *thing; } called[] = {
    { "grpo_allocate_rollouts", "high", "low, high" }, { "grpo_tree_reward", "turns", "depth[0]" },     /* depth exceeds turns */
    { "grpo_logits_row_read", "x", "logits" }, { "grpo_logits_row_gradient", "x", "logits" }, { "grpo_logits_loss", "obj", "objective" },
    { "grpo_logits_loss_add", "obj", "objective" }, { "grpo_logits_loss", "out", "out.dlogp" },
    { "grpo_hidden_loss", "obj", "objective" }, { "grpo_hidden_loss_add", "obj", "objective" },
    { "grpo_hidden_loss", "out", "out.dlogp" }, { "grpo_hidden_loss_add", "out", "out.dlogp" },
    { "grpo_logits_loss_add", "out", "out.dlogp" }, { "grpo_distill_top", "x", "logits" }, { "grpo_distill_at", "x", "logits" },
    { "grpo_context_measure", "obj", "objective" }, { "grpo_context_totals_add", "obj", "objective" },
    { "grpo_context_loss_add", "obj", "objective" }, { "grpo_context_backward", "obj", "objective" },
};

/* the index of the entry in `takes`, or -1 */
static int entry_of(const char *function, const char *argument, int probe) {
    for (int k = 0; k < TAKES; k++)
        if (!strcmp(takes[k].function, function) && !strcmp(takes[k].argument, argument)
            && (takes[k].probe == EVERY || takes[k].probe == probe)) return k;
    return -1;
}

static int names(const char *function, const char *argument, const char *thing) {
    for (size_t k = 0; k < sizeof called / sizeof *called; k++)
        if (!strcmp(called[k].function, function) && !strcmp(called[k].argument, argument)) return !strcmp(thing, called[k].thing);
    return !strcmp(thing, argument);
}

/* ---- one invalid argument at a time ---------------------------------------------------------------------------------------------- */

/* writes the invalid values to try in place of a valid one; returns how many */
static int probes_of(const value *right, value *wrong) {
    static const double numbers[MOST_PROBES] = { NAN, INFINITY, -INFINITY };
    for (int k = 0; k < MOST_PROBES; k++) {
        wrong[k] = *right;
        wrong[k].p = NULL;
        wrong[k].x = numbers[k];
        wrong[k].n = k ? INT64_MIN : -1;
        wrong[k].form = k ? UINT_MAX : 99;                    /* and -1, in enumerations that have it */
        wrong[k].flag = 99;
    }
    return right->is == A_NUMBER ? 3 : right->is == A_WHOLE || right->is == A_FORM ? 2 : 1;
}

/* is that the rule for invalid value `probe` of an argument of that kind? */
static int is_rule_of(int rule, kind is, int probe) {
    switch (is) {
    case A_POINTER: return rule == GRPO_NULL;
    case A_NUMBER:                                            /* -INFINITY may be outside the domain first */
        return rule == (probe ? GRPO_INFINITE : GRPO_NAN) || (probe == INFINITY_BELOW && rule == GRPO_NOT_POSITIVE);
    case A_WHOLE:                                             /* whatever its domain is */
        return rule == GRPO_NEGATIVE || rule == GRPO_NOT_POSITIVE || rule == GRPO_TOO_SMALL || rule == GRPO_OUT_OF_RANGE
               || rule == GRPO_CROSSED;
    case A_FORM: return rule == GRPO_NOT_A_CHOICE;
    default: return 0;                                        /* flags take any value */
    }
}

/* the status of a call with invalid value `probe` of `thing`, which it names by the right rule; nothing was written */
static void check_refusal(const char *function, const char *thing, grpo_status st, kind is, int probe) {
    check(is_rule_of(grpo_status_rule(st), is, probe), "%s, %s (probe %d): \"%s\"", function, thing, probe, status_line(st));
    check(!memcmp(written, before, sizeof written), "%s, %s: something was written", function, thing);
}

/* checks that the value is either refused or in `takes`, and not both */
static void expect_refused(const char *function, const char *argument, int probe, int refused) {
    const int k = entry_of(function, argument, probe);
    if (k < 0) { check(refused, "%s takes any %s (probe %d), and `takes` does not say why", function, argument, probe); return; }
    check(!refused, "%s refuses %s (probe %d), and `takes` says that it does not: %s", function, argument, probe, takes[k].why);
    taken[k]++;
}

static void test_status_function(size_t k, int place, const char *argument) {
    const char *name = functions[k].name;
    value wrong[MOST_PROBES], v[MOST_ARGUMENTS];
    const int probes = probes_of(&functions[k].right[place], wrong);
    for (int j = 0; j < probes; j++) {
        grpo_status st;
        memcpy(v, functions[k].right, sizeof v);
        v[place] = wrong[j];
        memcpy(written, before, sizeof written);
        st = functions[k].run(v);
        expect_refused(name, argument, j, st != GRPO_OK);
        if (!st) continue;
        check(names(name, argument, thing_of(name, st)), "%s, %s: \"%s\"", name, argument, status_line(st));
        check_refusal(name, argument, st, functions[k].right[place].is, j);
    }
}

static void test_number_function(size_t k, int place, const char *argument) {
    value wrong[MOST_PROBES], v[MOST_ARGUMENTS];
    const int probes = probes_of(&number_functions[k].right[place], wrong);
    for (int j = 0; j < probes; j++) {
        memcpy(v, number_functions[k].right, sizeof v);
        v[place] = wrong[j];
        expect_refused(number_functions[k].name, argument, j, isnan(number_functions[k].run(v)));
    }
}

/* ---- a batch without groups: its arrays, and lists, may be NULL ---------------------------------------------------------------------- */

static int is_list(const void *p) {
    const void *const lists[] = { reals, halves, minus, ones, flags, ids, order, room };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) if (p == lists[k]) return 1;
    return 0;
}

static void test_no_groups(size_t k) {
    const grpo_batch whole = batch;
    value v[MOST_ARGUMENTS];
    grpo_status st;
    memcpy(v, functions[k].right, sizeof v);
    for (int place = 0; place < MOST_ARGUMENTS; place++) if (is_list(v[place].p)) v[place].p = NULL;
    memset(&batch, 0, sizeof batch);
    batch.n_rewards = whole.n_rewards;
    st = functions[k].run(v);
    batch = whole;
    check(st == GRPO_OK, "%s of no groups: \"%s\"", functions[k].name, status_line(st));
}

/* nothing is there: the objective is named first, as by grpo_loss */
static void test_nothing(size_t k) {
    value v[MOST_ARGUMENTS];
    grpo_status st;
    memcpy(v, functions[k].right, sizeof v);
    for (int place = 0; place < MOST_ARGUMENTS; place++) v[place].p = NULL;
    st = functions[k].run(v);
    check(says(functions[k].name, st, GRPO_NULL, "objective"), "%s of nothing: \"%s\"", functions[k].name, status_line(st));
}

/* ---- members of structs of settings ---------------------------------------------------------------------------------------------- */

enum { MOST_MEMBERS = 6, MOST_BYTES = 64 };
#define M(type, is, member) { #member, is, offsetof(type, member) }

/* the members of structs in order; trailing flags, which accept any value, are left out */
static const struct {
    const char *function, *argument;
    size_t size;
    int n;
    struct { const char *name; kind is; size_t at; } member[MOST_MEMBERS];
} structs[] = {
    { "grpo_prefix_trust_region", "gate", sizeof(grpo_prefix_gate), 6,
      { M(grpo_prefix_gate, A_WHOLE, width), M(grpo_prefix_gate, A_NUMBER, least), M(grpo_prefix_gate, A_NUMBER, delta),
        M(grpo_prefix_gate, A_NUMBER, budget), M(grpo_prefix_gate, A_NUMBER, quantile), M(grpo_prefix_gate, A_NUMBER, factor) } },
    { "grpo_balanced_clip_bounds", "balance", sizeof(grpo_balance), 6,
      { M(grpo_balance, A_NUMBER, low), M(grpo_balance, A_NUMBER, high), M(grpo_balance, A_NUMBER, low_max),
        M(grpo_balance, A_NUMBER, high_max), M(grpo_balance, A_NUMBER, step), M(grpo_balance, A_NUMBER, target) } },
    { "grpo_adaptive_clip", "how", sizeof(grpo_adaptation), 4,
      { M(grpo_adaptation, A_NUMBER, low), M(grpo_adaptation, A_NUMBER, high), M(grpo_adaptation, A_NUMBER, clip_coef),
        M(grpo_adaptation, A_NUMBER, gain) } },
    { "grpo_multiplier_update", "constraint", sizeof(grpo_constraint), 4,
      { M(grpo_constraint, A_NUMBER, target), M(grpo_constraint, A_NUMBER, rate), M(grpo_constraint, A_NUMBER, max),
        M(grpo_constraint, A_WHOLE, least) } },
    { "grpo_key_token_advantage", "measure", sizeof(grpo_key_measure), 3,
      { M(grpo_key_measure, A_NUMBER, fisher), M(grpo_key_measure, A_NUMBER, gain), M(grpo_key_measure, A_NUMBER, top) } },
    { "grpo_canon_advantage", "canon", sizeof(grpo_canon), 4,
      { M(grpo_canon, A_NUMBER, alpha), M(grpo_canon, A_NUMBER, offset), M(grpo_canon, A_NUMBER, mix), M(grpo_canon, A_FORM, scaled) } },
    { "grpo_feature_advantage", "feature", sizeof(grpo_feature), 6,
      { M(grpo_feature, A_POINTER, advantage), M(grpo_feature, A_POINTER, feature), M(grpo_feature, A_POINTER, divisor),
        M(grpo_feature, A_POINTER, eligible), M(grpo_feature, A_NUMBER, delta), M(grpo_feature, A_NUMBER, k) } },
    { "grpo_bundle_advantage", "risk", sizeof(grpo_risk), 6,
      { M(grpo_risk, A_NUMBER, low), M(grpo_risk, A_NUMBER, high), M(grpo_risk, A_NUMBER, a), M(grpo_risk, A_NUMBER, c),
        M(grpo_risk, A_NUMBER, omega), M(grpo_risk, A_NUMBER, eps) } },
    { "grpo_alignment_advantage", "how", sizeof(grpo_coplayer), 4,
      { M(grpo_coplayer, A_NUMBER, gamma), M(grpo_coplayer, A_NUMBER, weight_gamma), M(grpo_coplayer, A_NUMBER, beta),
        M(grpo_coplayer, A_NUMBER, clip) } },
    { "grpo_two_anchor_advantage", "anchors", sizeof(grpo_anchors), 5,
      { M(grpo_anchors, A_NUMBER, alpha), M(grpo_anchors, A_NUMBER, beta), M(grpo_anchors, A_NUMBER, gain_pos),
        M(grpo_anchors, A_NUMBER, gain_neg), M(grpo_anchors, A_FORM, form) } },
    { "grpo_relative_cost_penalty", "cost", sizeof(grpo_cost), 6,
      { M(grpo_cost, A_POINTER, output), M(grpo_cost, A_POINTER, input), M(grpo_cost, A_POINTER, turns),
        M(grpo_cost, A_NUMBER, output_coef), M(grpo_cost, A_NUMBER, input_coef), M(grpo_cost, A_NUMBER, turns_coef) } },
    { "grpo_trust_reward", "bounds", sizeof(grpo_trust_bounds), 4,
      { M(grpo_trust_bounds, A_NUMBER, low), M(grpo_trust_bounds, A_NUMBER, right), M(grpo_trust_bounds, A_NUMBER, every),
        M(grpo_trust_bounds, A_NUMBER, none) } },
    { "grpo_centroid_weight", "how", sizeof(grpo_centroids), 4,
      { M(grpo_centroids, A_WHOLE, width), M(grpo_centroids, A_WHOLE, refine), M(grpo_centroids, A_NUMBER, low),
        M(grpo_centroids, A_NUMBER, high) } },
    { "grpo_diffusion_nft", "x", sizeof(grpo_nft), 3,
      { M(grpo_nft, A_NUMBER, advantage_max), M(grpo_nft, A_NUMBER, beta), M(grpo_nft, A_NUMBER, kl_coef) } },
};

static void put(void *to, const value *wrong) {
    switch (wrong->is) {
    case A_POINTER: memcpy(to, &wrong->p, sizeof wrong->p); break;
    case A_NUMBER: memcpy(to, &wrong->x, sizeof wrong->x); break;
    case A_WHOLE: memcpy(to, &wrong->n, sizeof wrong->n); break;
    case A_FLAG: memcpy(to, &wrong->flag, sizeof wrong->flag); break;
    case A_FORM: memcpy(to, &wrong->form, sizeof wrong->form); break;
    }
}

/* member m of struct s, argument `place` of function k */
static void test_member(size_t s, int m, size_t k, int place) {
    const value right = { structs[s].member[m].is, NULL, 0, 0, 0, 0 };
    union { double number; int64_t whole; char byte[MOST_BYTES]; } changed;
    value wrong[MOST_PROBES], v[MOST_ARGUMENTS];
    const int probes = probes_of(&right, wrong);
    char thing[40];
    snprintf(thing, sizeof thing, "%s.%s", structs[s].argument, structs[s].member[m].name);
    for (int j = 0; j < probes; j++) {
        grpo_status st;
        memcpy(v, functions[k].right, sizeof v);
        memcpy(&changed, v[place].p, structs[s].size);
        put(changed.byte + structs[s].member[m].at, &wrong[j]);
        v[place].p = &changed;
        memcpy(written, before, sizeof written);
        st = functions[k].run(v);
        check(st != GRPO_OK, "%s takes any %s (probe %d)", functions[k].name, thing, j);
        check(!strcmp(thing_of(functions[k].name, st), thing), "%s, %s: \"%s\"", functions[k].name, thing, status_line(st));
        check_refusal(functions[k].name, thing, st, right.is, j);
    }
}

/* the position of an argument of function k, or -1 */
static int place_of(size_t k, const char *argument) {
    for (int place = 0; place < MOST_ARGUMENTS; place++) if (!strcmp(argument_of(functions[k].name, place + 1), argument)) return place;
    return -1;
}

static void test_members(void) {
    for (size_t s = 0; s < sizeof structs / sizeof *structs; s++) {
        size_t k = 0;
        int place;
        while (k < sizeof functions / sizeof *functions && strcmp(functions[k].name, structs[s].function)) k++;
        place = k < sizeof functions / sizeof *functions ? place_of(k, structs[s].argument) : -1;
        check(place >= 0, "%s has no %s", structs[s].function, structs[s].argument);
        for (int m = 0; place >= 0 && m < structs[s].n; m++) test_member(s, m, k, place);
    }
}

/* ---- arrays of the batch: those that a function does not read may hold anything, those that it reads are checked --------------------- */

#define ARRAY(member) { #member, offsetof(grpo_batch, member) }
static const struct { const char *name; size_t at; } batch_arrays[] = {
    ARRAY(logp), ARRAY(logp_old), ARRAY(logp_ref), ARRAY(logp_rollout), ARRAY(logp_teacher), ARRAY(entropy), ARRAY(value),
    ARRAY(step_reward), ARRAY(sum_pi_squared), ARRAY(reward), ARRAY(rewards), ARRAY(reward_weight), ARRAY(baseline), ARRAY(log_partition),
    ARRAY(external_weight), ARRAY(eps_low), ARRAY(eps_high), ARRAY(divergence_ref), ARRAY(divergence_old),
};

/* calls function k with that array of the batch; returns its status, and what it wrote in result */
static grpo_status run_with(size_t k, size_t at, const grpo_real *array, char *result) {
    const grpo_batch whole = batch;
    grpo_status st;
    memcpy((char *)&batch + at, &array, sizeof array);
    memcpy(written, before, sizeof written);
    st = functions[k].run(functions[k].right);
    memcpy(result, written, sizeof written);
    batch = whole;
    return st;
}

static void test_batch_arrays(size_t k) {
    static char right[sizeof written], without[sizeof written], wild[sizeof written];
    static grpo_real nans[64];
    for (int t = 0; t < 64; t++) nans[t] = (grpo_real)NAN;
    for (size_t a = 0; a < sizeof batch_arrays / sizeof *batch_arrays; a++) {
        const size_t at = batch_arrays[a].at;
        const char *name = functions[k].name, *array_name = batch_arrays[a].name;
        const grpo_real *array;
        char thing[40];
        grpo_status st;
        int reads;
        memcpy(&array, (char *)&batch + at, sizeof array);
        check(run_with(k, at, array, right) == GRPO_OK, "%s", name);
        snprintf(thing, sizeof thing, "batch.%s", array_name);
        st = run_with(k, at, NULL, without);
        reads = st != GRPO_OK || memcmp(right, without, sizeof right);
        check(!reads || says(name, st, GRPO_NULL, thing), "%s without %s: \"%s\"", name, thing, status_line(st));
        st = run_with(k, at, nans, wild);
        check(!reads || (grpo_status_rule(st) == GRPO_NAN && speaks_of(st, thing)), "%s, %s is NaN: \"%s\"", name, thing, status_line(st));
        check(!st == !reads, "%s %s batch.%s, and NaN there: \"%s\"", name, reads ? "reads" : "does without", array_name, status_line(st));
        check(!memcmp(wild, reads ? (const char *)before : right, sizeof wild), "%s, batch.%s: NaN shows", name, array_name);
    }
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------------- */

static void expect_message(const char *function, grpo_status st, const char *expected) {
    char text[GRPO_MESSAGE_SIZE], part[GRPO_MESSAGE_SIZE];
    check(!strcmp(grpo_call_message(function, st, text, sizeof text), expected), "\"%s\" instead of \"%s\"", text, expected);
    for (size_t size = 1; size <= strlen(expected); size++) {
        memset(part, '#', sizeof part);
        grpo_call_message(function, st, part, size);
        check(strlen(part) == size - 1 && !strncmp(part, expected, size - 1), "\"%s\" in %d bytes: \"%.20s\"", expected, (int)size, part);
    }
    check(!strcmp(grpo_call_message(function, st, text, 0), ""), "\"%s\" in no bytes", expected);
}

static void test_messages(void) {
    const grpo_status nan = GRPO_STATUS_ARGUMENT_(GRPO_NAN, 3, 5), array = GRPO_STATUS_(GRPO_NAN, GRPO_AT_logp_old_);
    const grpo_status crossed = GRPO_STATUS_ARGUMENT_(GRPO_CROSSED, 3, -1) | (grpo_status)(GRPO_AT_ARGUMENT_ + 4) << 18;
    expect_message("grpo_prefix_trust_region", nan, "gate.factor is NaN");
    expect_message("prefix_trust_region", nan, "gate.factor is NaN");
    expect_message("grpo_prefix_trust_region", GRPO_STATUS_ARGUMENT_(GRPO_NAN, 3, 6), "gate[6] is NaN");
    expect_message("grpo_teacher_gate", GRPO_STATUS_ARGUMENT_(GRPO_NAN, 2, 5000000000), "advantage[5000000000] is NaN");
    expect_message("grpo_allocate_rollouts", crossed, "low must not exceed high");
    expect_message("grpo_select_top_k", GRPO_STATUS_ARGUMENT_(GRPO_NULL, 5, -1), "argument 5 is NULL but needed");
    expect_message("grpo_no_such_function", nan, "argument 3[5] is NaN");
    expect_message("", nan, "argument 3[5] is NaN");
    expect_message(NULL, nan, "argument 3[5] is NaN");
    expect_message("grpo_replay_score", array, "batch.logp_old is NaN");
}

/* the next name in a list, which moves on; "" behind the last */
static const char *next_name(const char **list) {
    static char name[40];
    const size_t n = strcspn(*list, " ");
    snprintf(name, sizeof name, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ' ');
    return name;
}

int main(void) {
    char argument[200];
    fill();
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const grpo_status st = functions[k].run(functions[k].right);
        check(st == GRPO_OK, "%s: nothing is wrong, yet \"%s\"", functions[k].name, status_line(st));
        check(*argument_of(functions[k].name, 1), "grpo_call_message does not know %s", functions[k].name);
        for (int place = 0; *argument_of(functions[k].name, place + 1); place++) {
            snprintf(argument, sizeof argument, "%s", argument_of(functions[k].name, place + 1));
            test_status_function(k, place, argument);
        }
        if (functions[k].right[0].p == &batch) { test_batch_arrays(k); test_no_groups(k); }
        if (functions[k].right[0].p == &objective) test_nothing(k);
    }
    test_members();
    test_messages();
    for (size_t k = 0; k < sizeof number_functions / sizeof *number_functions; k++) {
        const char *names_left = number_functions[k].arguments;
        check(!isnan(number_functions[k].run(number_functions[k].right)), "%s: nothing is wrong", number_functions[k].name);
        for (int place = 0; *names_left; place++) test_number_function(k, place, next_name(&names_left));
    }
    for (int k = 0; k < TAKES; k++) check(taken[k] > 0, "%s has no %s", takes[k].function, takes[k].argument);
    rollouts_free(&arrays);
    return check_summary();
}
