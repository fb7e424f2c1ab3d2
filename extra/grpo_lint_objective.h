/* grpo_lint_objective.h - settings of an objective that do nothing, or leave nothing to learn from, though no function refuses them.
 * An optional part of grpo.h and gspo.h, beside grpo_lint.h, which looks at the numbers of a batch.  In one source file write
 *
 *     #define GRPO_LINT_OBJECTIVE_IMPLEMENTATION
 *     #include "extra/grpo_lint_objective.h"
 *
 * (a file of its own, or behind the implementation of gspo.h) and include it plainly elsewhere.  No objective needs it.
 *
 *     grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
 *     char text[GRPO_LINT_MESSAGE_SIZE];
 *     const int n = grpo_lint_objective(&obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST);
 *     for (int k = 0; k < n; k++) puts(grpo_objective_finding_message(&finding[k], text, sizeof text));
 *         // likely mistake: surrogate.weight_max is 0, so that surrogate.kind=cispo gives no gradient
 *         // note: surrogate.eps_high is 0.28, but nothing reads it while surrogate.kind=cispo (what does: ppo_clip, dual_clip ...)
 *
 * Once, before the first step.  Nothing is allocated.  With GRPO_NO_TEXT there are no messages, and grpo_objective_finding.what is "". */
#ifndef GRPO_LINT_OBJECTIVE_H
#define GRPO_LINT_OBJECTIVE_H

#include "grpo_lint.h"

#if GRPO_VERSION_NUMBER != 200
#error "extra/grpo_lint_objective.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_lint_objective grpo_lint_objective_f64
#define grpo_objective_reads grpo_objective_reads_f64
#define grpo_objective_finding_message grpo_objective_finding_message_f64
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which choices read a number ----
 * X(number, level, with, with, with): the number is read where every `with` holds, each some choices of a field (of a number: that it is
 * not 0).  Of rows of one number each suffices.  A number without a row is always read.  level: of a number that is set and not read;
 * likely where the choice that reads it is switched off altogether.  tests/extra_lint_objective.c holds every row against what the loss
 * makes of a change: where nothing reads a number, it changes no bit; for each choice of each row it changes some.  Aside
 * from refusals (surrogate.clip_dual must exceed 1 + eps_high, read or not) and from a KL in the reward that the credit does not take off:
 * it is refused beyond 1e150, and its being there may cost a last bit of whitened advantages. */
typedef struct { uint16_t field; uint64_t choices; } grpo_lint_with_; /* its offset; a bit for each choice, of a number 1: 0, 2: the rest */

#define GRPO_LINT_C_(choice) (UINT64_C(1) << (choice))
#define GRPO_LINT_C2_(a, b) (GRPO_LINT_C_(a) | GRPO_LINT_C_(b))
#define GRPO_LINT_C3_(a, b, c) (GRPO_LINT_C2_(a, b) | GRPO_LINT_C_(c))
#define GRPO_LINT_C4_(a, b, c, d) (GRPO_LINT_C2_(a, b) | GRPO_LINT_C2_(c, d))
#define GRPO_LINT_WITH_(path, some) (path, some)                   /* in parentheses, which GRPO_LINT_OF_ takes off at last */
#define GRPO_LINT_OF_(path, some) { (uint16_t)offsetof(grpo_objective, path), some }
#define GRPO_LINT_IS_(path, choice) GRPO_LINT_WITH_(path, GRPO_LINT_C_(choice))
#define GRPO_LINT_ISNT_(path, choice) GRPO_LINT_WITH_(path, ~GRPO_LINT_C_(choice))
#define GRPO_LINT_0_(number) GRPO_LINT_WITH_(number, UINT64_C(1))
#define GRPO_LINT_NOT_0_(number) GRPO_LINT_WITH_(number, UINT64_C(2))
#define GRPO_LINT_ANY_ GRPO_LINT_WITH_(reward.truncated, ~UINT64_C(0))

#define GRPO_LINT_STEPS_ GRPO_LINT_C4_(GRPO_CREDIT_STEP, GRPO_CREDIT_STEP_OWN, GRPO_CREDIT_EPISODE_STEP, GRPO_CREDIT_STEP_GAE)
#define GRPO_LINT_OF_STEPS_ GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_STEPS_)
#define GRPO_LINT_OF_RESPONSES_ GRPO_LINT_WITH_(advantage.credit, ~GRPO_LINT_STEPS_)
/* what R of axis 1 is made of: it is an item, or an item of the outcome beside the steps', or that of a step */
#define GRPO_LINT_REWARD_(X, number, with) \
    X(number, LIKELY, with, GRPO_LINT_OF_RESPONSES_, GRPO_LINT_IS_(advantage.rewards, GRPO_REWARDS_ONE)) \
    X(number, LIKELY, with, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP), GRPO_LINT_ANY_) \
    X(number, LIKELY, with, GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_STEPS_ & ~GRPO_LINT_C_(GRPO_CREDIT_EPISODE_STEP)), \
      GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RESPONSE))
#define GRPO_LINT_ESTIMATED_ GRPO_LINT_WITH_(penalty.kl, ~GRPO_LINT_C2_(GRPO_KL_NONE, GRPO_KL_EXTERNAL))
#define GRPO_LINT_NO_RATIO_ GRPO_LINT_C2_(GRPO_SURROGATE_REINFORCE, GRPO_SURROGATE_NONE)
#define GRPO_LINT_TRUSTS_RATIO_ (GRPO_LINT_C3_(GRPO_TRUST_ONE_SIDED, GRPO_TRUST_TWO_SIDED, GRPO_TRUST_LOG_TWO_SIDED) \
    | GRPO_LINT_C3_(GRPO_TRUST_RING, GRPO_TRUST_DIVERGENCE, GRPO_TRUST_NEGATIVE_BAND))
/* what a ratio is made of: it is the surrogate's, or the weight of the KL, or what a token is trusted by */
#define GRPO_LINT_RATIO_(X, number, with) \
    X(number, NOTE, GRPO_LINT_WITH_(surrogate.kind, ~GRPO_LINT_NO_RATIO_), with, GRPO_LINT_ANY_) \
    X(number, NOTE, GRPO_LINT_ESTIMATED_, \
      GRPO_LINT_ISNT_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_NONE), with) \
    X(number, NOTE, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_REINFORCE), GRPO_LINT_WITH_(weight.trust, GRPO_LINT_TRUSTS_RATIO_), with)
#define GRPO_LINT_1_(X, number, level, with) X(number, level, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
#define GRPO_LINT_2_(X, number, level, with, and_with) X(number, level, with, and_with, GRPO_LINT_ANY_)
#define GRPO_LINT_SURROGATE_(X, number, some) GRPO_LINT_1_(X, surrogate.number, NOTE, GRPO_LINT_WITH_(surrogate.kind, some))
/* a weight of a surrogate that is none at all weighs nothing */
#define GRPO_LINT_WEIGHT_(X, number, with) \
    X(weight.number, LIKELY, with, GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE), GRPO_LINT_ANY_)

#define GRPO_LINT_REWARD_READS_(X) \
    GRPO_LINT_REWARD_(X, reward.truncated_factor, GRPO_LINT_IS_(reward.truncated, GRPO_REWARD_TRUNCATED_SCALE)) \
    X(reward.truncated_factor, LIKELY, GRPO_LINT_IS_(reward.truncated, GRPO_REWARD_TRUNCATED_SCALE), \
      GRPO_LINT_IS_(advantage.rewards, GRPO_REWARDS_EACH), GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_ZERO_VARIANCE)) \
    GRPO_LINT_REWARD_(X, reward.length_coef, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_KIMI)) \
    GRPO_LINT_REWARD_(X, reward.length_max, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_COSINE)) \
    GRPO_LINT_REWARD_(X, reward.correct_low, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_COSINE)) \
    GRPO_LINT_REWARD_(X, reward.correct_high, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_COSINE)) \
    GRPO_LINT_REWARD_(X, reward.wrong_low, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_COSINE)) \
    GRPO_LINT_REWARD_(X, reward.wrong_high, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_COSINE)) \
    GRPO_LINT_REWARD_(X, reward.overlong_max, GRPO_LINT_ISNT_(reward.overlong, GRPO_OVERLONG_NONE)) \
    GRPO_LINT_REWARD_(X, reward.overlong_cache, GRPO_LINT_ISNT_(reward.overlong, GRPO_OVERLONG_NONE)) \
    GRPO_LINT_REWARD_(X, reward.overlong_factor, GRPO_LINT_ISNT_(reward.overlong, GRPO_OVERLONG_NONE)) \
    GRPO_LINT_REWARD_(X, reward.map_bias, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE)) \
    GRPO_LINT_REWARD_(X, reward.map_factor, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE)) \
    GRPO_LINT_REWARD_(X, reward.map_low, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE)) \
    GRPO_LINT_REWARD_(X, reward.map_high, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE)) \
    GRPO_LINT_2_(X, reward.kl_coef, LIKELY, GRPO_LINT_ISNT_(reward.kl, GRPO_KL_NONE), GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C2_(GRPO_CREDIT_OUTCOME, GRPO_CREDIT_RETURN) \
      | GRPO_LINT_C3_(GRPO_CREDIT_STEP, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE)))
#define GRPO_LINT_ADVANTAGE_READS_(X) \
    GRPO_LINT_2_(X, advantage.history_length, LIKELY, GRPO_LINT_IS_(advantage.step_group, GRPO_STEP_GROUP_HISTORY), GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_2_(X, advantage.history_power, LIKELY, GRPO_LINT_IS_(advantage.step_group, GRPO_STEP_GROUP_HISTORY), GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_1_(X, advantage.excluded_coef, LIKELY, GRPO_LINT_IS_(advantage.excluded, GRPO_EXCLUDED_ANCHOR)) \
    GRPO_LINT_1_(X, advantage.pass_k, LIKELY, GRPO_LINT_WITH_(advantage.transform, \
      ~GRPO_LINT_C2_(GRPO_TRANSFORM_NONE, GRPO_TRANSFORM_BEST_MINUS_SECOND))) \
    GRPO_LINT_1_(X, advantage.baseline_shift, NOTE, GRPO_LINT_ISNT_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.quantile, NOTE, GRPO_LINT_WITH_(advantage.baseline, \
      GRPO_LINT_C2_(GRPO_BASELINE_QUANTILE, GRPO_BASELINE_QUANTILE_LINEAR))) \
    GRPO_LINT_1_(X, advantage.temperature, NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_LOG_MEAN_EXP)) \
    GRPO_LINT_1_(X, advantage.hdi_mass, NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_HDI_MEDIAN)) \
    GRPO_LINT_1_(X, advantage.process_noise, NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_KALMAN)) \
    GRPO_LINT_1_(X, advantage.observation_noise, NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_KALMAN)) \
    GRPO_LINT_1_(X, advantage.eps, NOTE, GRPO_LINT_WITH_(advantage.scale, \
      ~GRPO_LINT_C3_(GRPO_SCALE_NONE, GRPO_SCALE_CONSTANT, GRPO_SCALE_BETA))) \
    GRPO_LINT_1_(X, advantage.eps, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.scale_divisor, NOTE, GRPO_LINT_IS_(advantage.scale, GRPO_SCALE_CONSTANT)) \
    GRPO_LINT_1_(X, advantage.difficulty_weight_low, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_weight_high, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_slope, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_midpoint, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.focal_reward_low, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.focal_reward_high, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.length_power, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER)) \
    GRPO_LINT_1_(X, advantage.reweight_temperature, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_EXPONENTIAL)) \
    GRPO_LINT_1_(X, advantage.focal_gamma, LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.batch_norm_eps, LIKELY, GRPO_LINT_WITH_(advantage.batch_norm, \
      GRPO_LINT_C2_(GRPO_BATCH_NORM_ITEMS, GRPO_BATCH_NORM_TOKENS)))
#define GRPO_LINT_CREDIT_READS_(X) \
    GRPO_LINT_1_(X, advantage.gamma, NOTE, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_2_(X, advantage.gamma, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_TOKENS)) \
    GRPO_LINT_2_(X, advantage.step_gamma, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS)) \
    GRPO_LINT_2_(X, advantage.step_gamma, NOTE, GRPO_LINT_OF_STEPS_, GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RETURN)) \
    GRPO_LINT_1_(X, advantage.lambda, NOTE, GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_C2_(GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.lambda_length, NOTE, \
      GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_C2_(GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.truncated_tail, NOTE, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.step_coef, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP)) \
    GRPO_LINT_1_(X, advantage.entropy_share_coef, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.entropy_share_eps, NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.entropy_coef, LIKELY, GRPO_LINT_ISNT_(advantage.entropy, GRPO_ENTROPY_NONE)) \
    GRPO_LINT_1_(X, advantage.entropy_kappa, LIKELY, GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_BONUS)) \
    GRPO_LINT_1_(X, advantage.entropy_max, LIKELY, GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_RESPONSE)) \
    GRPO_LINT_1_(X, advantage.teacher_clip, LIKELY, GRPO_LINT_NOT_0_(advantage.teacher_share)) \
    GRPO_LINT_1_(X, advantage.teacher_gamma, LIKELY, GRPO_LINT_NOT_0_(advantage.teacher_coef)) \
    GRPO_LINT_1_(X, advantage.marked_value, LIKELY, GRPO_LINT_ISNT_(advantage.marked, GRPO_MARKED_NONE))
#define GRPO_LINT_RATIO_READS_(X) \
    GRPO_LINT_RATIO_(X, ratio.token_clip_low, GRPO_LINT_WITH_(ratio.level, \
      GRPO_LINT_C2_(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN, GRPO_LEVEL_SEQUENCE_POWER_MEAN))) \
    GRPO_LINT_RATIO_(X, ratio.token_clip_high, GRPO_LINT_WITH_(ratio.level, \
      GRPO_LINT_C2_(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN, GRPO_LEVEL_SEQUENCE_POWER_MEAN))) \
    GRPO_LINT_RATIO_(X, ratio.power, GRPO_LINT_IS_(ratio.level, GRPO_LEVEL_SEQUENCE_POWER_MEAN)) \
    GRPO_LINT_RATIO_(X, ratio.clamp_low, GRPO_LINT_ANY_) GRPO_LINT_RATIO_(X, ratio.clamp_high, GRPO_LINT_ANY_) \
    GRPO_LINT_RATIO_(X, ratio.level_clamp_low, GRPO_LINT_ANY_) GRPO_LINT_RATIO_(X, ratio.level_clamp_high, GRPO_LINT_ANY_) \
    GRPO_LINT_RATIO_(X, ratio.interpolate_token, GRPO_LINT_IS_(ratio.interpolate, GRPO_INTERPOLATE_GEOMETRIC)) \
    GRPO_LINT_RATIO_(X, ratio.interpolate_level, GRPO_LINT_IS_(ratio.interpolate, GRPO_INTERPOLATE_GEOMETRIC))

#define GRPO_LINT_CLIPS_ GRPO_LINT_C3_(GRPO_SURROGATE_PPO_CLIP, GRPO_SURROGATE_DUAL_CLIP, GRPO_SURROGATE_GPPO)
#define GRPO_LINT_POSITIONS_ GRPO_LINT_IS_(surrogate.bounds, GRPO_BOUNDS_POSITION)
#define GRPO_LINT_SOFTMAXES_ (GRPO_LINT_C2_(GRPO_SURROGATE_TILTED_CROSS_ENTROPY, GRPO_SURROGATE_PAIRWISE_SOFT) \
    | GRPO_LINT_C3_(GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY, GRPO_SURROGATE_SOFTMAX_MSE, GRPO_SURROGATE_SOFTMAX_JS))
#define GRPO_LINT_BETAS_ (GRPO_LINT_SOFTMAXES_ | GRPO_LINT_C3_(GRPO_SURROGATE_SQUARED, GRPO_SURROGATE_LOGISTIC, GRPO_SURROGATE_VARIANCE) \
    | GRPO_LINT_C4_(GRPO_SURROGATE_PAIRWISE_LOGISTIC, GRPO_SURROGATE_PAIRWISE_HINGE, GRPO_SURROGATE_STANDARDISED, \
                    GRPO_SURROGATE_REGRESSION))
#define GRPO_LINT_WEIGHTS_ GRPO_LINT_C4_(GRPO_SURROGATE_CISPO, GRPO_SURROGATE_TOPR, GRPO_SURROGATE_MASKED_WEIGHT, GRPO_SURROGATE_DISPO)
#define GRPO_LINT_TAUS_ GRPO_LINT_C3_(GRPO_SURROGATE_SAPO, GRPO_SURROGATE_SAPO_DETACHED, GRPO_SURROGATE_LOGISTIC_LSE)
#define GRPO_LINT_SURROGATE_READS_(X) \
    GRPO_LINT_2_(X, surrogate.eps_low, NOTE, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_), \
      GRPO_LINT_WITH_(surrogate.bounds, GRPO_LINT_C2_(GRPO_BOUNDS_FIXED, GRPO_BOUNDS_PROBABILITY))) \
    GRPO_LINT_SURROGATE_(X, eps_low, GRPO_LINT_C3_(GRPO_SURROGATE_ASPO, GRPO_SURROGATE_POLICY_SHAPING, GRPO_SURROGATE_UNBOUNDED_POSITIVE)) \
    GRPO_LINT_2_(X, surrogate.eps_high, NOTE, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_), \
      GRPO_LINT_WITH_(surrogate.bounds, GRPO_LINT_C2_(GRPO_BOUNDS_FIXED, GRPO_BOUNDS_PROBABILITY))) \
    GRPO_LINT_SURROGATE_(X, eps_high, GRPO_LINT_C2_(GRPO_SURROGATE_ASPO, GRPO_SURROGATE_POLICY_SHAPING)) \
    GRPO_LINT_SURROGATE_(X, quadratic_eps, GRPO_LINT_C2_(GRPO_SURROGATE_QUADRATIC, GRPO_SURROGATE_QUADRATIC_PROBABILITY)) \
    GRPO_LINT_2_(X, surrogate.bound_cap, NOTE, GRPO_LINT_IS_(surrogate.bounds, GRPO_BOUNDS_PROBABILITY), \
      GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_)) \
    GRPO_LINT_1_(X, surrogate.log_low, NOTE, GRPO_LINT_POSITIONS_) GRPO_LINT_1_(X, surrogate.log_high, NOTE, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_2_(X, surrogate.log_clip_dual, NOTE, GRPO_LINT_POSITIONS_, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DUAL_CLIP)) \
    GRPO_LINT_1_(X, surrogate.position_power, NOTE, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_2_(X, surrogate.clip_dual, NOTE, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DUAL_CLIP), \
      GRPO_LINT_ISNT_(surrogate.bounds, GRPO_BOUNDS_POSITION)) \
    GRPO_LINT_SURROGATE_(X, clip_dual, GRPO_LINT_C3_(GRPO_SURROGATE_GPPO, GRPO_SURROGATE_ASPO, GRPO_SURROGATE_UNBOUNDED_POSITIVE)) \
    GRPO_LINT_SURROGATE_(X, clip_dual_pos, GRPO_LINT_C_(GRPO_SURROGATE_ASPO)) \
    GRPO_LINT_SURROGATE_(X, gppo_beta_low, GRPO_LINT_C_(GRPO_SURROGATE_GPPO)) \
    GRPO_LINT_SURROGATE_(X, gppo_beta_high, GRPO_LINT_C_(GRPO_SURROGATE_GPPO)) \
    GRPO_LINT_SURROGATE_(X, weight_min, GRPO_LINT_WEIGHTS_) GRPO_LINT_SURROGATE_(X, weight_max, GRPO_LINT_WEIGHTS_) \
    GRPO_LINT_SURROGATE_(X, weight_min_neg, GRPO_LINT_C_(GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_SURROGATE_(X, weight_max_neg, GRPO_LINT_C_(GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_SURROGATE_(X, tau_pos, GRPO_LINT_TAUS_) \
    GRPO_LINT_SURROGATE_(X, tau_neg, GRPO_LINT_TAUS_ | GRPO_LINT_C_(GRPO_SURROGATE_DISCRIMINATIVE_LSE)) \
    GRPO_LINT_SURROGATE_(X, advantage_temperature, GRPO_LINT_SOFTMAXES_) \
    GRPO_LINT_SURROGATE_(X, vespo_k_pos, GRPO_LINT_C_(GRPO_SURROGATE_VESPO)) \
    GRPO_LINT_SURROGATE_(X, vespo_lambda_pos, GRPO_LINT_C_(GRPO_SURROGATE_VESPO)) \
    GRPO_LINT_SURROGATE_(X, vespo_k_neg, GRPO_LINT_C_(GRPO_SURROGATE_VESPO)) \
    GRPO_LINT_SURROGATE_(X, vespo_lambda_neg, GRPO_LINT_C_(GRPO_SURROGATE_VESPO)) \
    GRPO_LINT_SURROGATE_(X, beta, GRPO_LINT_BETAS_) \
    GRPO_LINT_SURROGATE_(X, reward_beta, GRPO_LINT_C_(GRPO_SURROGATE_TRAJECTORY_BALANCE)) \
    GRPO_LINT_SURROGATE_(X, length_decay, GRPO_LINT_C2_(GRPO_SURROGATE_DISCRIMINATIVE_MEAN, GRPO_SURROGATE_DISCRIMINATIVE_LSE)) \
    GRPO_LINT_SURROGATE_(X, logit_shift, GRPO_LINT_C_(GRPO_SURROGATE_LOGISTIC)) \
    GRPO_LINT_SURROGATE_(X, hinge_margin, GRPO_LINT_C_(GRPO_SURROGATE_PAIRWISE_HINGE)) \
    GRPO_LINT_SURROGATE_(X, shaping_gamma, GRPO_LINT_C_(GRPO_SURROGATE_POLICY_SHAPING)) \
    GRPO_LINT_SURROGATE_(X, min_gap, GRPO_LINT_C2_(GRPO_SURROGATE_PAIRWISE_LOGISTIC, GRPO_SURROGATE_PAIRWISE_HINGE)) \
    GRPO_LINT_SURROGATE_(X, group_score_eps, GRPO_LINT_C2_(GRPO_SURROGATE_STANDARDISED, GRPO_SURROGATE_REGRESSION)) \
    GRPO_LINT_SURROGATE_(X, contrast_temperature, GRPO_LINT_C_(GRPO_SURROGATE_CONTRASTIVE)) \
    GRPO_LINT_SURROGATE_(X, contrast_margin, GRPO_LINT_C_(GRPO_SURROGATE_CONTRASTIVE))

#define GRPO_LINT_PREFERS_ GRPO_LINT_ISNT_(penalty.preference, GRPO_PREFERENCE_NONE)
#define GRPO_LINT_PENALTY_READS_(X) \
    GRPO_LINT_1_(X, penalty.kl_importance_weight_max, LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_1_(X, penalty.kl_coef, LIKELY, GRPO_LINT_ISNT_(penalty.kl, GRPO_KL_NONE)) \
    GRPO_LINT_1_(X, penalty.kl_clamp_log, LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_1_(X, penalty.kl_clamp_value, LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_2_(X, penalty.nll_teacher_slope, LIKELY, GRPO_LINT_IS_(penalty.nll_weight, GRPO_NLL_WEIGHT_TEACHER_GATE), \
      GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_1_(X, penalty.nll_coef, LIKELY, GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_1_(X, penalty.preference_min_gap, LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_beta, LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_coef, LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_kappa, LIKELY, GRPO_LINT_PREFERS_)

#define GRPO_LINT_CORRECTS_ GRPO_LINT_ISNT_(weight.rollout_is, GRPO_ROLLOUT_IS_NONE)
#define GRPO_LINT_REJECTS_ GRPO_LINT_ISNT_(weight.rollout_rs, GRPO_ROLLOUT_RS_NONE)
#define GRPO_LINT_FIPO_ GRPO_LINT_IS_(weight.fipo, GRPO_FIPO_DECAYED)
#define GRPO_LINT_WEIGHT_READS_(X) \
    GRPO_LINT_WEIGHT_(X, trust_low, GRPO_LINT_WITH_(weight.trust, \
      ~GRPO_LINT_C3_(GRPO_TRUST_NONE, GRPO_TRUST_PROBABILITY_BOTH, GRPO_TRUST_K2))) \
    GRPO_LINT_WEIGHT_(X, trust_high, GRPO_LINT_ISNT_(weight.trust, GRPO_TRUST_NONE)) \
    GRPO_LINT_WEIGHT_(X, rec_outer_low, GRPO_LINT_IS_(weight.trust, GRPO_TRUST_RING)) \
    GRPO_LINT_WEIGHT_(X, rec_outer_high, GRPO_LINT_IS_(weight.trust, GRPO_TRUST_RING)) \
    GRPO_LINT_WEIGHT_(X, off_policy_mask_threshold, GRPO_LINT_ISNT_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_NONE)) \
    GRPO_LINT_1_(X, weight.rollout_is_low, LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_is_high, LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_clamp, LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_clamp, LIKELY, GRPO_LINT_WITH_(weight.rollout_rs, \
      ~GRPO_LINT_C3_(GRPO_ROLLOUT_RS_NONE, GRPO_ROLLOUT_RS_PROBABILITY, GRPO_ROLLOUT_RS_BINARY_KL_MAX))) \
    GRPO_LINT_1_(X, weight.rollout_clamp, LIKELY, GRPO_LINT_NOT_0_(weight.rollout_veto)) \
    GRPO_LINT_WEIGHT_(X, policy_is_low, GRPO_LINT_ISNT_(weight.policy_is, GRPO_POLICY_IS_NONE)) \
    GRPO_LINT_WEIGHT_(X, policy_is_high, GRPO_LINT_ISNT_(weight.policy_is, GRPO_POLICY_IS_NONE)) \
    GRPO_LINT_1_(X, weight.rollout_rs_low, LIKELY, GRPO_LINT_REJECTS_) \
    GRPO_LINT_1_(X, weight.rollout_rs_high, LIKELY, GRPO_LINT_REJECTS_) \
    GRPO_LINT_WEIGHT_(X, fipo_half_life, GRPO_LINT_FIPO_) GRPO_LINT_WEIGHT_(X, fipo_ratio_max, GRPO_LINT_FIPO_) \
    GRPO_LINT_WEIGHT_(X, fipo_low, GRPO_LINT_FIPO_) GRPO_LINT_WEIGHT_(X, fipo_high, GRPO_LINT_FIPO_) \
    GRPO_LINT_WEIGHT_(X, fipo_safe_ratio, GRPO_LINT_FIPO_) \
    X(weight.fipo_safe_low, LIKELY, GRPO_LINT_NOT_0_(weight.fipo_safe_ratio), GRPO_LINT_FIPO_, \
      GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE)) \
    X(weight.fipo_safe_high, LIKELY, GRPO_LINT_NOT_0_(weight.fipo_safe_ratio), GRPO_LINT_FIPO_, \
      GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE)) \
    GRPO_LINT_1_(X, aggregation.constant, NOTE, GRPO_LINT_WITH_(aggregation.kind, \
      GRPO_LINT_C2_(GRPO_AGGREGATION_SEQ_MEAN_CONSTANT, GRPO_AGGREGATION_CONSTANT))) \
    GRPO_LINT_1_(X, aggregation.power, NOTE, GRPO_LINT_IS_(aggregation.kind, GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER))

#define GRPO_LINT_READS_(X) GRPO_LINT_REWARD_READS_(X) GRPO_LINT_ADVANTAGE_READS_(X) GRPO_LINT_CREDIT_READS_(X) \
    GRPO_LINT_RATIO_READS_(X) GRPO_LINT_SURROGATE_READS_(X) GRPO_LINT_PENALTY_READS_(X) GRPO_LINT_WEIGHT_READS_(X)

/* ---- numbers that were left 0 ----
 * X(effect, number, number, with, with, with): where every `with` holds, the first of which names the choice that is spoken of, and both
 * numbers are 0 (one of them is there twice), the choice has this effect */
#define GRPO_LINT_MOVES_ GRPO_LINT_C4_(GRPO_TRUST_ONE_SIDED, GRPO_TRUST_PROBABILITY, GRPO_TRUST_BINARY_KL, GRPO_TRUST_DIVERGENCE)
#define GRPO_LINT_PLAIN_CLIPS_ GRPO_LINT_C2_(GRPO_SURROGATE_PPO_CLIP, GRPO_SURROGATE_DUAL_CLIP)
#define GRPO_LINT_OWN_POOLS_ GRPO_LINT_C2_(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN, GRPO_LEVEL_SEQUENCE_POWER_MEAN)
#define GRPO_LINT_ZERO_(X, effect, number, with) X(effect, number, number, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
#define GRPO_LINT_ZERO_AND_(X, effect, number, with, and_with) X(effect, number, number, with, and_with, GRPO_LINT_ANY_)
#define GRPO_LINT_ZEROS_OF_2_(X, effect, number, other, with) X(effect, number, other, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
/* where a teacher is all that is learnt from, rewards are thrown away on purpose */
#define GRPO_LINT_NO_TEACHER_ GRPO_LINT_0_(advantage.teacher_coef)
#define GRPO_LINT_ZEROS_OF_REWARDS_(X) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, reward.length_coef, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_KIMI)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, reward.overlong_factor, GRPO_LINT_ISNT_(reward.overlong, GRPO_OVERLONG_NONE)) \
    X(EQUAL_REWARDS, reward.map_factor, reward.map_factor, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE), GRPO_LINT_NO_TEACHER_, \
      GRPO_LINT_ISNT_(penalty.kl_reference, GRPO_KL_REFERENCE_TEACHER)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, reward.kl_coef, GRPO_LINT_ISNT_(reward.kl, GRPO_KL_NONE)) \
    GRPO_LINT_ZEROS_OF_2_(X, NO_ADVANTAGE, advantage.difficulty_weight_low, advantage.difficulty_weight_high, \
      GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, advantage.length_power, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, advantage.focal_gamma, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_ZERO_AND_(X, NOT_BACK, advantage.gamma, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE)), GRPO_LINT_NO_TEACHER_) \
    GRPO_LINT_ZERO_AND_(X, NOT_BACK, advantage.gamma, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_TOKENS)) \
    GRPO_LINT_ZERO_AND_(X, NOT_BACK, advantage.step_gamma, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS)) \
    GRPO_LINT_ZERO_AND_(X, NO_EFFECT, advantage.step_gamma, GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RETURN), \
      GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, advantage.step_coef, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, advantage.entropy_coef, GRPO_LINT_WITH_(advantage.entropy, \
      GRPO_LINT_C2_(GRPO_ENTROPY_BONUS, GRPO_ENTROPY_RELATIVE))) \
    GRPO_LINT_ZEROS_OF_2_(X, NO_EFFECT, advantage.entropy_coef, advantage.entropy_max, \
      GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_RESPONSE)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, advantage.marked_value, GRPO_LINT_IS_(advantage.marked, GRPO_MARKED_BOOST))
/* a KL to the old policy may begin with 0: grpo_kl_hinge of grpo_control.h makes its coefficient anew for every step */
#define GRPO_LINT_ZEROS_OF_RATIOS_(X) \
    GRPO_LINT_ZEROS_OF_2_(X, MOVED, ratio.token_clip_low, ratio.token_clip_high, GRPO_LINT_WITH_(ratio.level, GRPO_LINT_OWN_POOLS_)) \
    GRPO_LINT_ZEROS_OF_2_(X, RATIO_ONE, ratio.interpolate_token, ratio.interpolate_level, \
      GRPO_LINT_IS_(ratio.interpolate, GRPO_INTERPOLATE_GEOMETRIC)) \
    X(MOVED, surrogate.eps_low, surrogate.eps_high, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_PLAIN_CLIPS_), \
      GRPO_LINT_IS_(surrogate.bounds, GRPO_BOUNDS_FIXED), GRPO_LINT_ANY_) \
    GRPO_LINT_ZEROS_OF_2_(X, MOVED, surrogate.log_low, surrogate.log_high, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, surrogate.weight_max, \
      GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_C2_(GRPO_SURROGATE_CISPO, GRPO_SURROGATE_MASKED_WEIGHT))) \
    GRPO_LINT_ZERO_(X, NONE_DOWN, surrogate.weight_max, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_TOPR)) \
    GRPO_LINT_ZERO_(X, NONE_UP, surrogate.weight_max, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_ZERO_(X, NONE_DOWN, surrogate.weight_max_neg, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, surrogate.beta, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_BETAS_)) \
    GRPO_LINT_ZERO_(X, BLIND, surrogate.reward_beta, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_TRAJECTORY_BALANCE)) \
    GRPO_LINT_ZERO_AND_(X, NO_EFFECT, penalty.kl_coef, GRPO_LINT_ISNT_(penalty.kl, GRPO_KL_NONE), \
      GRPO_LINT_ISNT_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, penalty.nll_coef, GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_ZERO_(X, NO_EFFECT, penalty.preference_coef, GRPO_LINT_PREFERS_) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, penalty.preference_beta, GRPO_LINT_IS_(penalty.preference, GRPO_PREFERENCE_PAIRWISE))
#define GRPO_LINT_ZEROS_OF_WEIGHTS_(X) \
    GRPO_LINT_ZEROS_OF_2_(X, EXACT, weight.trust_low, weight.trust_high, GRPO_LINT_WITH_(weight.trust, \
      GRPO_LINT_C2_(GRPO_TRUST_TWO_SIDED, GRPO_TRUST_LOG_TWO_SIDED))) \
    GRPO_LINT_ZERO_(X, EXACT, weight.trust_high, GRPO_LINT_WITH_(weight.trust, GRPO_LINT_C2_(GRPO_TRUST_PROBABILITY_BOTH, GRPO_TRUST_K2))) \
    GRPO_LINT_ZEROS_OF_2_(X, MOVED, weight.trust_low, weight.trust_high, GRPO_LINT_WITH_(weight.trust, GRPO_LINT_MOVES_)) \
    GRPO_LINT_ZEROS_OF_2_(X, EXACT_DOWN, weight.trust_low, weight.trust_high, GRPO_LINT_IS_(weight.trust, GRPO_TRUST_NEGATIVE_BAND)) \
    GRPO_LINT_ZERO_(X, STALE, weight.off_policy_mask_threshold, GRPO_LINT_WITH_(weight.off_policy_mask, \
      GRPO_LINT_C2_(GRPO_OFF_POLICY_MASK_OLD, GRPO_OFF_POLICY_MASK_ROLLOUT))) \
    GRPO_LINT_ZERO_(X, STALE_AT_ALL, weight.off_policy_mask_threshold, \
      GRPO_LINT_IS_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_TOTAL_VARIATION)) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, weight.rollout_is_high, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, weight.rollout_rs_high, GRPO_LINT_WITH_(weight.rollout_rs, \
      GRPO_LINT_C2_(GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_EXP_ABS))) \
    GRPO_LINT_ZEROS_OF_2_(X, DIFFERS, weight.rollout_rs_low, weight.rollout_rs_high, GRPO_LINT_WITH_(weight.rollout_rs, \
      ~GRPO_LINT_C3_(GRPO_ROLLOUT_RS_NONE, GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_EXP_ABS))) \
    GRPO_LINT_ZERO_(X, NO_GRADIENT, weight.fipo_high, GRPO_LINT_FIPO_)
#define GRPO_LINT_ZEROS_(X) GRPO_LINT_ZEROS_OF_REWARDS_(X) GRPO_LINT_ZEROS_OF_RATIOS_(X) GRPO_LINT_ZEROS_OF_WEIGHTS_(X)

/* ---- findings ----
 * A rule, its level (that of unread stands in the table above) and sentence.  Of the sentence: %v value, %c the choice, as field=choice,
 * %r the choices that read the number, %o a second number.
 *   refused        what grpo_objective_check says; then nothing else is looked at
 *   no_row         every field is 0, which is no published row
 *   no_groups      of the batch
 *   no_effect ... differs    a choice is switched on and its number left 0
 *   below, above   of two clamps that are none if both are 0 one is set, and finite: the other is then a bound too
 *   unread         a number that is not 0, where no choice reads it
 *   array          of the batch, that neither advantages nor loss nor report read.  batch.reward is not looked at: other functions read it
 *   bound          a weight's own bound is below 1, the ratio of a policy that has not moved
 *   distance       of a bound from 1, that is 1 to 5; larger ones leave a clip open on purpose
 *   kl_cap, kl_scale    kl_importance_weight_max where the weight of the KL is 1 */
#define GRPO_OBJECTIVE_RULES(X) \
    X(GRPO_OBJECTIVE_REFUSED, refused, ERROR, "") \
    X(GRPO_OBJECTIVE_NO_GROUPS, no_groups, LIKELY, "is 0: nothing is evaluated") \
    X(GRPO_OBJECTIVE_NO_ROW, no_row, LIKELY, "is 0 throughout: no row, and no choice, has been put in it") \
    X(GRPO_OBJECTIVE_NO_GRADIENT, no_gradient, LIKELY, "%c gives no gradient") \
    X(GRPO_OBJECTIVE_NO_ADVANTAGE, no_advantage, LIKELY, "%c makes every advantage 0") \
    X(GRPO_OBJECTIVE_EQUAL_REWARDS, equal_rewards, LIKELY, "%c makes all rewards the same") \
    X(GRPO_OBJECTIVE_BLIND, blind, LIKELY, "%c does not look at the advantages") \
    X(GRPO_OBJECTIVE_RATIO_ONE, ratio_one, LIKELY, "%c makes every ratio 1, whatever the policy does") \
    X(GRPO_OBJECTIVE_EXACT, exact, LIKELY, "%c drops every token that has moved at all") \
    X(GRPO_OBJECTIVE_MOVED, moved, LIKELY, "%c leaves no gradient to what has moved the way its advantage wants") \
    X(GRPO_OBJECTIVE_EXACT_DOWN, exact_down, LIKELY, "%c drops every token with A < 0 that has moved at all") \
    X(GRPO_OBJECTIVE_NONE_UP, none_up, LIKELY, "%c gives no gradient where A > 0") \
    X(GRPO_OBJECTIVE_NONE_DOWN, none_down, LIKELY, "%c gives no gradient where A < 0") \
    X(GRPO_OBJECTIVE_STALE, stale, LIKELY, "%c drops tokens with A < 0 of every response that has become less probable at all") \
    X(GRPO_OBJECTIVE_STALE_AT_ALL, stale_at_all, LIKELY, \
        "%c drops tokens of every response of which batch.logp_old and batch.logp_rollout differ at all") \
    X(GRPO_OBJECTIVE_DIFFERS, differs, LIKELY, "%c rejects all of which batch.logp_old and batch.logp_rollout differ at all") \
    X(GRPO_OBJECTIVE_NOT_BACK, not_back, LIKELY, "%c hands nothing back to what comes earlier") \
    X(GRPO_OBJECTIVE_NO_EFFECT, no_effect, LIKELY, "%c changes nothing") \
    X(GRPO_OBJECTIVE_BELOW, below, LIKELY, "is %v and %o is 0, which then is a bound too: all below 0 becomes 0") \
    X(GRPO_OBJECTIVE_ABOVE, above, LIKELY, "is %v and %o is 0, which then is a bound too: all above 0 becomes 0") \
    X(GRPO_OBJECTIVE_KL_CAP, kl_cap, LIKELY, "is %v, but with %c the KL has weight 1, which it does not bound") \
    X(GRPO_OBJECTIVE_KL_SCALE, kl_scale, LIKELY, "is %v, and with %c the KL has weight 1: it becomes that weight") \
    X(GRPO_OBJECTIVE_UNREAD, unread, NOTE, "is %v, but nothing reads it while %c (what does: %r)") \
    X(GRPO_OBJECTIVE_BOUND, bound, NOTE, "is %v, less than 1: it is a bound of the weight itself, not the distance of a bound from 1") \
    X(GRPO_OBJECTIVE_DISTANCE, distance, NOTE, "is %v: it is the distance of a bound from 1, not the bound itself") \
    X(GRPO_OBJECTIVE_ARRAY, array, NOTE, "is there, but no choice of this objective reads it")

#define GRPO_LINT_ID_(id, ...) id,
typedef enum { GRPO_OBJECTIVE_RULES(GRPO_LINT_ID_) GRPO_N_OBJECTIVE_RULES } grpo_objective_rule;
#undef GRPO_LINT_ID_

typedef struct {
    grpo_objective_rule rule;
    grpo_lint_level level;
    grpo_status status;            /* of refused that of grpo_objective_check; of others the field or array that it is about and, as the
                                      second of two things, the choice or number that makes it so, without a rule; of batch.excluded 0 */
    const char *what;              /* "surrogate.weight_max", "batch.selected" */
    double value, other;           /* of the field, and of the second; a choice by its number */
    int row;                       /* of the tables above; -1: of none */
} grpo_objective_finding;

enum { GRPO_LINT_OBJECTIVE_MOST = 256 };       /* there are never more findings */

/* What an objective's settings leave idle, the worst first; the number of findings, of which the first `room` are written to finding
 * (room; NULL if room is 0).  batch: NULL, or one of which it is looked at how many groups and which arrays are there, nothing else. */
int grpo_lint_objective(const grpo_objective *obj, const grpo_batch *batch, grpo_objective_finding *finding, int room);

/* does a choice of the objective read the number?  1 of a field that is a choice */
int grpo_objective_reads(const grpo_objective *obj, const grpo_field *field);

#ifndef GRPO_NO_TEXT
/* a finding in one sentence, cut where buffer (size) ends; returns buffer */
const char *grpo_objective_finding_message(const grpo_objective_finding *finding, char *buffer, size_t size);
#endif

#ifdef __cplusplus
}
#endif
#endif /* GRPO_LINT_OBJECTIVE_H */

#if defined(GRPO_LINT_OBJECTIVE_IMPLEMENTATION) && !defined(GRPO_LINT_OBJECTIVE_IMPLEMENTED)
#define GRPO_LINT_OBJECTIVE_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared_text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the tables ----------------------------------------------------------------------------------------------------------------- */
typedef struct { uint16_t number; grpo_lint_level level; grpo_lint_with_ with[3]; } grpo_idle_read_;

static const grpo_idle_read_ grpo_idle_reads_[] = {
#define GRPO_IDLE_READ_(number, level, a, b, c) \
    { (uint16_t)offsetof(grpo_objective, number), GRPO_LINT_##level, { GRPO_LINT_OF_ a, GRPO_LINT_OF_ b, GRPO_LINT_OF_ c } },
    GRPO_LINT_READS_(GRPO_IDLE_READ_)
};

typedef struct { grpo_objective_rule rule; uint16_t number[2]; grpo_lint_with_ with[3]; } grpo_idle_zero_;

static const grpo_idle_zero_ grpo_idle_zeros_[] = {
#define GRPO_IDLE_ZERO_(effect, x, y, a, b, c) \
    { GRPO_OBJECTIVE_##effect, { (uint16_t)offsetof(grpo_objective, x), (uint16_t)offsetof(grpo_objective, y) }, \
      { GRPO_LINT_OF_ a, GRPO_LINT_OF_ b, GRPO_LINT_OF_ c } },
    GRPO_LINT_ZEROS_(GRPO_IDLE_ZERO_)
};

enum { GRPO_IDLE_READS_ = sizeof grpo_idle_reads_ / sizeof *grpo_idle_reads_,
       GRPO_IDLE_ZEROS_ = sizeof grpo_idle_zeros_ / sizeof *grpo_idle_zeros_ };

/* pairs of clamps */
static const uint16_t grpo_idle_clamps_[][2] = {
#define GRPO_IDLE_PAIR_(low, high) { (uint16_t)offsetof(grpo_objective, low), (uint16_t)offsetof(grpo_objective, high) },
    GRPO_IDLE_PAIR_(ratio.clamp_low, ratio.clamp_high) GRPO_IDLE_PAIR_(ratio.level_clamp_low, ratio.level_clamp_high)
    GRPO_IDLE_PAIR_(advantage.clamp_low, advantage.clamp_high)
};

/* bounds of a ratio or weight, where they act as such: by their distance from 1, or by themselves */
typedef struct { grpo_objective_rule rule; uint16_t number; grpo_lint_with_ with; } grpo_idle_bound_;

static const grpo_idle_bound_ grpo_idle_bounds_[] = {
#define GRPO_IDLE_BOUND_(rule, number, with) { GRPO_OBJECTIVE_##rule, (uint16_t)offsetof(grpo_objective, number), GRPO_LINT_OF_ with },
#define GRPO_IDLE_RATIO_BANDS_ GRPO_LINT_WITH_(weight.trust, \
    GRPO_LINT_C4_(GRPO_TRUST_ONE_SIDED, GRPO_TRUST_TWO_SIDED, GRPO_TRUST_RING, GRPO_TRUST_NEGATIVE_BAND))
    GRPO_IDLE_BOUND_(BOUND, surrogate.weight_max, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_WEIGHTS_))
    GRPO_IDLE_BOUND_(BOUND, surrogate.weight_max_neg, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DISPO))
    GRPO_IDLE_BOUND_(BOUND, weight.rollout_is_high, GRPO_LINT_CORRECTS_)
    GRPO_IDLE_BOUND_(BOUND, weight.policy_is_high, GRPO_LINT_ISNT_(weight.policy_is, GRPO_POLICY_IS_NONE))
    GRPO_IDLE_BOUND_(BOUND, weight.rollout_rs_high, GRPO_LINT_WITH_(weight.rollout_rs, \
        GRPO_LINT_C2_(GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_EXP_ABS)))
    GRPO_IDLE_BOUND_(DISTANCE, surrogate.eps_low, GRPO_LINT_ANY_) GRPO_IDLE_BOUND_(DISTANCE, surrogate.eps_high, GRPO_LINT_ANY_)
    GRPO_IDLE_BOUND_(DISTANCE, weight.trust_low, GRPO_IDLE_RATIO_BANDS_)
    GRPO_IDLE_BOUND_(DISTANCE, weight.trust_high, GRPO_IDLE_RATIO_BANDS_)
};

static const grpo_lint_level grpo_idle_levels_[] = {
#define GRPO_IDLE_LEVEL_(id, name, level, text) GRPO_LINT_##level,
    GRPO_OBJECTIVE_RULES(GRPO_IDLE_LEVEL_)
};

/* ---- fields --------------------------------------------------------------------------------------------------------------------- */
/* the number of the field at an offset, as a status counts */
static int grpo_idle_field_(uint16_t offset) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) if (f[k].offset == offset) return k + 1;
    return 0;
}

static double grpo_idle_value_(const grpo_objective *obj, uint16_t offset) {
    int n;
    return grpo_objective_get(obj, &grpo_fields(&n)[grpo_idle_field_(offset) - 1]);
}

static int grpo_idle_holds_(const grpo_objective *obj, grpo_lint_with_ with) {
    int n;
    const grpo_field *f = grpo_fields(&n) + (grpo_idle_field_(with.field) - 1);
    const double x = grpo_objective_get(obj, f);
    if (with.choices == ~UINT64_C(0)) return 1;
    return (int)(with.choices >> (f->n_choices ? (int)x : x != 0) & 1);
}

/* the first of three that does not hold, NULL: all do */
static const grpo_lint_with_ *grpo_idle_missing_(const grpo_objective *obj, const grpo_lint_with_ *with) {
    for (int k = 0; k < 3; k++) if (!grpo_idle_holds_(obj, with[k])) return &with[k];
    return NULL;
}

/* the first row of a number that no row reads, -1: one does, or there is none */
static int grpo_idle_unread_(const grpo_objective *obj, uint16_t number) {
    int first = -1;
    for (int k = 0; k < GRPO_IDLE_READS_; k++) {
        if (grpo_idle_reads_[k].number != number) continue;
        if (!grpo_idle_missing_(obj, grpo_idle_reads_[k].with)) return -1;
        if (first < 0) first = k;
    }
    return first;
}

int grpo_objective_reads(const grpo_objective *obj, const grpo_field *field) {
    return field->n_choices || grpo_idle_unread_(obj, field->offset) < 0;
}

/* ---- findings ------------------------------------------------------------------------------------------------------------------- */
typedef struct {
    const grpo_objective *obj;
    const grpo_batch *batch;
    grpo_objective_finding *finding;
    int room, count;
    grpo_lint_level level;         /* only those of this level are kept */
} grpo_idle_;

static const char *grpo_idle_name_(int what) {
#ifdef GRPO_NO_TEXT
    (void)what;
    return "";
#else
    return grpo_status_what(GRPO_STATUS_(0, what));
#endif
}

static void grpo_idle_keep_(grpo_idle_ *l, const grpo_objective_finding *x) {
    if (x->level != l->level) return;
    if (l->count < l->room) l->finding[l->count] = *x;
    l->count++;
}

static grpo_objective_finding grpo_idle_finding_(grpo_objective_rule rule, int what) {
    grpo_objective_finding x;
    memset(&x, 0, sizeof x);
    x.rule = rule;
    x.level = grpo_idle_levels_[rule];
    x.status = GRPO_STATUS_(0, what);
    x.what = grpo_idle_name_(what);
    x.row = -1;
    return x;
}

/* about a field, because of another; 0: of none */
static grpo_objective_finding grpo_idle_of_(const grpo_idle_ *l, grpo_objective_rule rule, uint16_t number, int has_other, uint16_t other) {
    grpo_objective_finding x = grpo_idle_finding_(rule, grpo_idle_field_(number));
    x.value = grpo_idle_value_(l->obj, number);
    if (!has_other) return x;
    x.status |= (grpo_status)grpo_idle_field_(other) << 18;
    x.other = grpo_idle_value_(l->obj, other);
    return x;
}

static void grpo_idle_about_(grpo_idle_ *l, grpo_objective_rule rule, uint16_t number, int has_other, uint16_t other) {
    const grpo_objective_finding x = grpo_idle_of_(l, rule, number, has_other, other);
    grpo_idle_keep_(l, &x);
}

/* ---- rules ---- */
static int grpo_idle_is_nothing_(const grpo_objective *obj) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) if (grpo_objective_get(obj, &f[k]) != 0) return 0;
    return 1;
}

static void grpo_idle_whole_(grpo_idle_ *l) {
    const grpo_objective_finding no_groups = grpo_idle_finding_(GRPO_OBJECTIVE_NO_GROUPS, GRPO_AT_n_groups_);
    const grpo_objective_finding no_row = grpo_idle_finding_(GRPO_OBJECTIVE_NO_ROW, GRPO_AT_objective_);
    if (l->batch && l->batch->n_groups == 0) grpo_idle_keep_(l, &no_groups);
    if (grpo_idle_is_nothing_(l->obj)) grpo_idle_keep_(l, &no_row);
}

static void grpo_idle_look_at_zeros_(grpo_idle_ *l) {
    for (int k = 0; k < GRPO_IDLE_ZEROS_; k++) {
        const grpo_idle_zero_ *z = &grpo_idle_zeros_[k];
        grpo_objective_finding x;
        if (grpo_idle_value_(l->obj, z->number[0]) != 0 || grpo_idle_value_(l->obj, z->number[1]) != 0) continue;
        if (grpo_idle_missing_(l->obj, z->with) || grpo_idle_unread_(l->obj, z->number[0]) >= 0) continue;
        x = grpo_idle_of_(l, z->rule, z->number[0], 1, z->with[0].field);
        x.row = k;
        grpo_idle_keep_(l, &x);
    }
}

static void grpo_idle_look_at_clamps_(grpo_idle_ *l) {
    for (size_t k = 0; k < sizeof grpo_idle_clamps_ / sizeof *grpo_idle_clamps_; k++) {
        const uint16_t low = grpo_idle_clamps_[k][0], high = grpo_idle_clamps_[k][1];
        const double x = grpo_idle_value_(l->obj, low), y = grpo_idle_value_(l->obj, high);
        if (grpo_idle_unread_(l->obj, low) >= 0) continue;
        if (x == 0 && y != 0 && grpo_is_finite(y)) grpo_idle_about_(l, GRPO_OBJECTIVE_BELOW, high, 1, low);
        if (y == 0 && x != 0 && grpo_is_finite(x)) grpo_idle_about_(l, GRPO_OBJECTIVE_ABOVE, low, 1, high);
    }
}

static void grpo_idle_look_at_bounds_(grpo_idle_ *l) {
    const grpo_penalty *p = &l->obj->penalty;
    const int weightless = p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_NONE
        || p->kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION;
    const uint16_t most = (uint16_t)offsetof(grpo_objective, penalty.kl_importance_weight_max);
    for (size_t k = 0; k < sizeof grpo_idle_bounds_ / sizeof *grpo_idle_bounds_; k++) {
        const grpo_idle_bound_ *b = &grpo_idle_bounds_[k];
        const double x = grpo_idle_value_(l->obj, b->number);
        if (!grpo_idle_holds_(l->obj, b->with) || grpo_idle_unread_(l->obj, b->number) >= 0) continue;
        if (b->rule == GRPO_OBJECTIVE_BOUND ? x > 0 && x < 1 : x >= 1 && x <= 5) grpo_idle_about_(l, b->rule, b->number, 0, 0);
    }
    if (p->kl_importance_weight_max != 0 && weightless && grpo_idle_unread_(l->obj, most) < 0)
        grpo_idle_about_(l, p->kl_importance_weight_max < 1 ? GRPO_OBJECTIVE_KL_SCALE : GRPO_OBJECTIVE_KL_CAP, most, 1,
                         (uint16_t)offsetof(grpo_objective, penalty.kl_importance_weight));
}

static void grpo_idle_look_at_numbers_(grpo_idle_ *l) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) {
        const int row = f[k].n_choices || grpo_objective_get(l->obj, &f[k]) == 0 ? -1 : grpo_idle_unread_(l->obj, f[k].offset);
        grpo_objective_finding x;
        if (row < 0) continue;
        x = grpo_idle_of_(l, GRPO_OBJECTIVE_UNREAD, f[k].offset, 1, grpo_idle_missing_(l->obj, grpo_idle_reads_[row].with)->field);
        x.level = grpo_idle_reads_[row].level;
        x.row = row;
        grpo_idle_keep_(l, &x);
    }
}

/* ---- arrays: those that a batch of one response without tokens is refused for the want of, by advantages or loss ---- */
GRPO_NOINLINE_ int grpo_idle_advantages_need_(const grpo_objective *obj, const grpo_batch *b, int what) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    return grpo_moments_add(obj, b, &m) == GRPO_STATUS_(GRPO_NULL, what);
}

static int grpo_idle_loss_needs_(const grpo_objective *obj, const grpo_batch *b, int what) {
    static const grpo_real advantage[1] = { 0 };
    double nothing = 0;
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.scratch = &nothing; out.scratch_size = INT64_MAX;
    return gspo_loss_check(obj, b, advantage, NULL, &out, NULL) == GRPO_STATUS_(GRPO_NULL, what);
}

/* is the array needed?  `at`: the place of its pointer in a batch */
static int grpo_idle_needs_(const grpo_objective *obj, int what, size_t at) {
    static const int64_t group[2] = { 0, 1 }, none[1] = { 0 };
    static const grpo_real zeros[1] = { 0 };
    static const size_t arrays[] = {
#define GRPO_IDLE_AT_(member, ...) offsetof(grpo_batch, member),
        GRPO_ARRAYS_(GRPO_IDLE_AT_)
    };
    const void *const there = zeros;
    grpo_batch b;
    memset(&b, 0, sizeof b);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (arrays[k] != at) memcpy((char *)&b + arrays[k], &there, sizeof there);
    b.n_groups = 1; b.group_begin = group; b.offset = none; b.length = none; b.n_rewards = 1;
    return grpo_idle_advantages_need_(obj, &b, what) || grpo_idle_loss_needs_(obj, &b, what);
}

/* arrays that may be missing where they are read, and those that are read whatever is chosen */
static int grpo_idle_reads_array_(const grpo_objective *obj, int what) {
    const grpo_advantage *a = &obj->advantage;
    switch (what) {
    case GRPO_AT_logp_: case GRPO_AT_logp_old_: case GRPO_AT_logp_ref_: case GRPO_AT_entropy_: case GRPO_AT_reward_: return 1;
    case GRPO_AT_reward_weight_: return a->rewards == GRPO_REWARDS_EACH;
    case GRPO_AT_truncated_: return a->truncated_tail != 0 || (a->credit == GRPO_CREDIT_GAE && a->bootstrap == GRPO_BOOTSTRAP_REPEAT);
    default: return 0;
    }
}

static void grpo_idle_look_at_arrays_(grpo_idle_ *l) {
    static const struct { int what; size_t at; } arrays[] = {
#define GRPO_IDLE_ARRAY_(member, ...) { GRPO_AT_##member##_, offsetof(grpo_batch, member) },
        GRPO_ARRAYS_(GRPO_IDLE_ARRAY_)
    };
    grpo_objective_finding x;
    for (size_t k = 0; l->batch && l->level == GRPO_LINT_NOTE && k < sizeof arrays / sizeof *arrays; k++) {
        const void *array;
        memcpy(&array, (const char *)l->batch + arrays[k].at, sizeof array);
        if (!array || grpo_idle_reads_array_(l->obj, arrays[k].what) || grpo_idle_needs_(l->obj, arrays[k].what, arrays[k].at)) continue;
        x = grpo_idle_finding_(GRPO_OBJECTIVE_ARRAY, arrays[k].what);
        grpo_idle_keep_(l, &x);
    }
    if (!l->batch || !l->batch->excluded || l->obj->advantage.excluded != GRPO_EXCLUDED_NONE) return;
    x = grpo_idle_finding_(GRPO_OBJECTIVE_ARRAY, 0);
    x.what = "batch.excluded";
    grpo_idle_keep_(l, &x);
}

int grpo_lint_objective(const grpo_objective *obj, const grpo_batch *batch, grpo_objective_finding *finding, int room) {
    const grpo_status st = grpo_objective_check(obj);
    grpo_idle_ l;
    memset(&l, 0, sizeof l);
    l.obj = obj; l.batch = batch;
    l.finding = finding; l.room = finding && room > 0 ? room : 0;
    if (st) {
        grpo_objective_finding x = grpo_idle_finding_(GRPO_OBJECTIVE_REFUSED, (int)(st >> 8 & 1023));
        x.status = st;
        l.level = GRPO_LINT_ERROR;
        grpo_idle_keep_(&l, &x);
        return l.count;
    }
    for (int level = GRPO_LINT_LIKELY; level >= GRPO_LINT_NOTE; level--) {
        l.level = (grpo_lint_level)level;
        grpo_idle_whole_(&l);
        grpo_idle_look_at_zeros_(&l);
        grpo_idle_look_at_clamps_(&l);
        grpo_idle_look_at_bounds_(&l);
        grpo_idle_look_at_numbers_(&l);
        grpo_idle_look_at_arrays_(&l);
    }
    return l.count;
}

/* ---- sentences ------------------------------------------------------------------------------------------------------------------ */
#ifndef GRPO_NO_TEXT
/* choice k of a field; names are there, as texts are */
static const char *grpo_idle_choice_(const grpo_field *f, int k, size_t *length) {
    const char *name = f->choices;
    for (; k > 0; k--) name = strchr(name, '|') + 1;
    *length = strcspn(name, "|");
    return name;
}

/* the field with what it is: surrogate.kind=cispo */
static void grpo_idle_say_setting_(grpo_text_ *to, const grpo_field *f, double x) {
    size_t length = 0;
    const char *name = f->n_choices ? grpo_idle_choice_(f, (int)x, &length) : "";
    grpo_say_(to, f->path);
    grpo_say_(to, "=");
    if (f->n_choices) grpo_say_part_(to, name, length);
    else grpo_say_number_(to, x);
}

/* the choices of f with which rows of a number read it */
static void grpo_idle_say_readers_(grpo_text_ *to, const grpo_field *f, uint16_t number) {
    uint64_t some = 0;
    int left = 0, said = 0;
    for (int k = 0; k < GRPO_IDLE_READS_; k++)
        for (int j = 0; grpo_idle_reads_[k].number == number && j < 3; j++)
            if (grpo_idle_reads_[k].with[j].field == f->offset) some |= grpo_idle_reads_[k].with[j].choices;
    for (int k = 0; k < f->n_choices; k++) left += (int)(some >> k & 1);
    if (!f->n_choices || left > 8) grpo_say_(to, f->n_choices ? "most of its other choices" : "any other number");
    for (int k = 0; k < f->n_choices && left <= 8 && said < left; k++) {
        size_t length;
        const char *name = grpo_idle_choice_(f, k, &length);
        if (!(some >> k & 1)) continue;
        if (said++) grpo_say_(to, said == left ? " or " : ", ");
        grpo_say_part_(to, name, length);
    }
}

static void grpo_idle_say_sentence_(grpo_text_ *to, const char *sentence, const grpo_objective_finding *x) {
    const int what = (int)(x->status >> 8 & 1023), other = (int)(x->status >> 18 & 1023);
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (; *sentence; sentence++) {
        if (*sentence != '%') { grpo_say_part_(to, sentence, 1); continue; }
        switch (*++sentence) {
        case 'v': grpo_say_number_(to, x->value); break;
        case 'o': grpo_say_(to, grpo_idle_name_(other)); break;
        case 'c': if (other >= 1 && other <= n) grpo_idle_say_setting_(to, &f[other - 1], x->other); break;
        default:  if (what >= 1 && what <= n && other >= 1 && other <= n) grpo_idle_say_readers_(to, &f[other - 1], f[what - 1].offset);
        }
    }
}

/* "surrogate.weight_max is 0, so that ", "weight.trust_low and weight.trust_high are 0, so that " */
static void grpo_idle_say_zeros_(grpo_text_ *to, const grpo_objective_finding *x) {
    const uint16_t *number = grpo_idle_zeros_[x->row].number;
    grpo_say_(to, x->what);
    if (number[1] != number[0]) {
        grpo_say_(to, " and ");
        grpo_say_(to, grpo_idle_name_(grpo_idle_field_(number[1])));
    }
    grpo_say_(to, number[1] != number[0] ? " are 0, so that " : " is 0, so that ");
}

const char *grpo_objective_finding_message(const grpo_objective_finding *finding, char *buffer, size_t size) {
    static const char *const levels[] = { "note: ", "likely mistake: ", "error: " };
#define GRPO_IDLE_SENTENCE_(id, name, level, text) text,
    static const char *const sentences[] = { GRPO_OBJECTIVE_RULES(GRPO_IDLE_SENTENCE_) };
    char text[GRPO_MESSAGE_SIZE];
    grpo_text_ to;
    if (size == 0) return "";
    to.buffer = buffer; to.room = size - 1;
    *buffer = 0;
    if ((unsigned)finding->level > GRPO_LINT_ERROR || (unsigned)finding->rule >= GRPO_N_OBJECTIVE_RULES) return buffer;
    grpo_say_(&to, levels[finding->level]);
    if (finding->rule == GRPO_OBJECTIVE_REFUSED) {
        grpo_say_(&to, grpo_status_message(finding->status, text, sizeof text));
        return buffer;
    }
    if (finding->rule >= GRPO_OBJECTIVE_NO_GRADIENT && finding->rule <= GRPO_OBJECTIVE_NO_EFFECT && finding->row >= 0
        && finding->row < GRPO_IDLE_ZEROS_) grpo_idle_say_zeros_(&to, finding);
    else { grpo_say_(&to, finding->what); grpo_say_(&to, " "); }
    grpo_idle_say_sentence_(&to, sentences[finding->rule], finding);
    return buffer;
}
#endif

#ifdef __cplusplus
}
#endif
#endif /* GRPO_LINT_OBJECTIVE_IMPLEMENTATION */
