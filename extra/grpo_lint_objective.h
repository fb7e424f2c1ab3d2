/* grpo_lint_objective.h - settings of an objective that have no effect, or leave nothing to learn from, although no function refuses them.
 * An optional part of grpo.h and gspo.h; grpo_lint.h examines the numbers of a batch.  In one source file write
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

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_lint_objective.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_lint_objective grpo_lint_objective_f64
#define grpo_objective_reads grpo_objective_reads_f64
#define grpo_objective_finding_message grpo_objective_finding_message_f64
#endif

GRPO_C_BEGIN_

/* ---- which choices read a number ----
 * X(number, level, with, with, with): the number is read if every `with` holds; each is a field with some of its choices (for a field that
 * is a number: that it is not 0).  If a number has several rows, one is enough.  A number without a row is always read.  level: of the
 * finding that a number is set and not read; likely if the choice that reads it is switched off altogether.  The test
 * extra_lint_objective compares every row with what the loss does: if nothing reads a number, changing it changes no bit; for each
 * choice of each row it changes some.  Two exceptions: refusals (surrogate.clip_dual must exceed 1 + eps_high, read or not); and a KL in
 * the reward that the credit does not use, which is refused beyond 1e150, and may change the last bit of whitened advantages. */
typedef struct { uint16_t field; uint64_t choices; } grpo_lint_with_; /* offset of the field; a bit per choice, for a number bit 0: it is 0,
                                                                         bit 1: it is not */

#define GRPO_LINT_C_(choice) (UINT64_C(1) << (choice))
#define GRPO_LINT_C2_(a, b) (GRPO_LINT_C_(a) | GRPO_LINT_C_(b))
#define GRPO_LINT_C3_(a, b, c) (GRPO_LINT_C2_(a, b) | GRPO_LINT_C_(c))
#define GRPO_LINT_C4_(a, b, c, d) (GRPO_LINT_C2_(a, b) | GRPO_LINT_C2_(c, d))
#define GRPO_LINT_WITH_(path, some) (path, some)                   /* in parentheses, which GRPO_LINT_OF_ removes */
#define GRPO_LINT_OF_(path, some) { (uint16_t)offsetof(grpo_objective, path), some }
#define GRPO_LINT_IS_(path, choice) GRPO_LINT_WITH_(path, GRPO_LINT_C_(choice))
#define GRPO_LINT_ISNT_(path, choice) GRPO_LINT_WITH_(path, ~GRPO_LINT_C_(choice))
#define GRPO_LINT_0_(number) GRPO_LINT_WITH_(number, UINT64_C(1))
#define GRPO_LINT_NOT_0_(number) GRPO_LINT_WITH_(number, UINT64_C(2))
#define GRPO_LINT_ANY_ GRPO_LINT_WITH_(reward.truncated, ~UINT64_C(0))

#define GRPO_LINT_STEPS_ GRPO_LINT_C4_(GRPO_CREDIT_STEP, GRPO_CREDIT_STEP_OWN, GRPO_CREDIT_EPISODE_STEP, GRPO_CREDIT_STEP_GAE)
#define GRPO_LINT_OF_STEPS_ GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_STEPS_)
#define GRPO_LINT_OF_RESPONSES_ GRPO_LINT_WITH_(advantage.credit, ~GRPO_LINT_STEPS_)
/* what the R of axis 1 consists of is read: if R is an item; if it is an outcome item beside those of steps; or if it is a step's value */
#define GRPO_LINT_REWARD_(X, number, with) \
    X(number, GRPO_LINT_LIKELY, with, GRPO_LINT_OF_RESPONSES_, GRPO_LINT_IS_(advantage.rewards, GRPO_REWARDS_ONE)) \
    X(number, GRPO_LINT_LIKELY, with, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP), GRPO_LINT_ANY_) \
    X(number, GRPO_LINT_LIKELY, with, GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_STEPS_ & ~GRPO_LINT_C_(GRPO_CREDIT_EPISODE_STEP)), \
      GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RESPONSE))
#define GRPO_LINT_ESTIMATED_ GRPO_LINT_WITH_(penalty.kl, ~GRPO_LINT_C2_(GRPO_KL_NONE, GRPO_KL_EXTERNAL))
#define GRPO_LINT_NO_RATIO_ GRPO_LINT_C2_(GRPO_SURROGATE_REINFORCE, GRPO_SURROGATE_NONE)
#define GRPO_LINT_TRUSTS_RATIO_ (GRPO_LINT_C3_(GRPO_TRUST_ONE_SIDED, GRPO_TRUST_TWO_SIDED, GRPO_TRUST_LOG_TWO_SIDED) \
    | GRPO_LINT_C3_(GRPO_TRUST_RING, GRPO_TRUST_DIVERGENCE, GRPO_TRUST_NEGATIVE_BAND))
/* what a ratio consists of is read: by the surrogate, by the weight of the KL, or by the trust region of reinforce */
#define GRPO_LINT_RATIO_(X, number, with) \
    X(number, GRPO_LINT_NOTE, GRPO_LINT_WITH_(surrogate.kind, ~GRPO_LINT_NO_RATIO_), with, GRPO_LINT_ANY_) \
    X(number, GRPO_LINT_NOTE, GRPO_LINT_ESTIMATED_, \
      GRPO_LINT_ISNT_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_NONE), with) \
    X(number, GRPO_LINT_NOTE, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_REINFORCE), \
      GRPO_LINT_WITH_(weight.trust, GRPO_LINT_TRUSTS_RATIO_), with)
#define GRPO_LINT_1_(X, number, level, with) X(number, level, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
#define GRPO_LINT_2_(X, number, level, with, and_with) X(number, level, with, and_with, GRPO_LINT_ANY_)
#define GRPO_LINT_SURROGATE_(X, number, some) GRPO_LINT_1_(X, surrogate.number, GRPO_LINT_NOTE, GRPO_LINT_WITH_(surrogate.kind, some))
/* a weight is not read without a surrogate */
#define GRPO_LINT_WEIGHT_(X, number, with) \
    X(weight.number, GRPO_LINT_LIKELY, with, GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE), GRPO_LINT_ANY_)

#define GRPO_LINT_REWARD_READS_(X) \
    GRPO_LINT_REWARD_(X, reward.truncated_factor, GRPO_LINT_IS_(reward.truncated, GRPO_REWARD_TRUNCATED_SCALE)) \
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
    GRPO_LINT_2_(X, reward.kl_coef, GRPO_LINT_LIKELY, GRPO_LINT_ISNT_(reward.kl, GRPO_KL_NONE), GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C2_(GRPO_CREDIT_OUTCOME, GRPO_CREDIT_RETURN) | GRPO_LINT_C2_(GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE)))
#define GRPO_LINT_ADVANTAGE_READS_(X) \
    GRPO_LINT_2_(X, advantage.history_length, GRPO_LINT_LIKELY, \
        GRPO_LINT_IS_(advantage.step_group, GRPO_STEP_GROUP_HISTORY), GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_2_(X, advantage.history_power, GRPO_LINT_LIKELY, \
        GRPO_LINT_IS_(advantage.step_group, GRPO_STEP_GROUP_HISTORY), GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_1_(X, advantage.excluded_coef, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.excluded, GRPO_EXCLUDED_ANCHOR)) \
    GRPO_LINT_1_(X, advantage.pass_k, GRPO_LINT_LIKELY, GRPO_LINT_WITH_(advantage.transform, \
      ~GRPO_LINT_C2_(GRPO_TRANSFORM_NONE, GRPO_TRANSFORM_BEST_MINUS_SECOND))) \
    GRPO_LINT_1_(X, advantage.baseline_shift, GRPO_LINT_NOTE, GRPO_LINT_ISNT_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.quantile, GRPO_LINT_NOTE, GRPO_LINT_WITH_(advantage.baseline, \
      GRPO_LINT_C2_(GRPO_BASELINE_QUANTILE, GRPO_BASELINE_QUANTILE_LINEAR))) \
    GRPO_LINT_1_(X, advantage.temperature, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_LOG_MEAN_EXP)) \
    GRPO_LINT_1_(X, advantage.hdi_mass, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_HDI_MEDIAN)) \
    GRPO_LINT_1_(X, advantage.process_noise, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_KALMAN)) \
    GRPO_LINT_1_(X, advantage.observation_noise, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.baseline, GRPO_BASELINE_KALMAN)) \
    GRPO_LINT_1_(X, advantage.eps, GRPO_LINT_NOTE, GRPO_LINT_WITH_(advantage.scale, \
      ~GRPO_LINT_C3_(GRPO_SCALE_NONE, GRPO_SCALE_CONSTANT, GRPO_SCALE_BETA))) \
    GRPO_LINT_1_(X, advantage.eps, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.scale_divisor, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.scale, GRPO_SCALE_CONSTANT)) \
    GRPO_LINT_1_(X, advantage.difficulty_weight_low, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_weight_high, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_slope, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.difficulty_midpoint, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_1_(X, advantage.focal_reward_low, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.focal_reward_high, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.length_power, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER)) \
    GRPO_LINT_1_(X, advantage.reweight_temperature, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_EXPONENTIAL)) \
    GRPO_LINT_1_(X, advantage.focal_gamma, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_1_(X, advantage.batch_norm_eps, GRPO_LINT_LIKELY, GRPO_LINT_WITH_(advantage.batch_norm, \
      GRPO_LINT_C2_(GRPO_BATCH_NORM_ITEMS, GRPO_BATCH_NORM_TOKENS)))
#define GRPO_LINT_CREDIT_READS_(X) \
    GRPO_LINT_1_(X, advantage.gamma, GRPO_LINT_NOTE, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_2_(X, advantage.gamma, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_TOKENS)) \
    GRPO_LINT_2_(X, advantage.step_gamma, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS)) \
    GRPO_LINT_2_(X, advantage.step_gamma, GRPO_LINT_NOTE, GRPO_LINT_OF_STEPS_, \
        GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RETURN)) \
    GRPO_LINT_1_(X, advantage.lambda, GRPO_LINT_NOTE, \
        GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_C2_(GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.lambda_length, GRPO_LINT_NOTE, \
      GRPO_LINT_WITH_(advantage.credit, GRPO_LINT_C2_(GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.truncated_tail, GRPO_LINT_NOTE, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE))) \
    GRPO_LINT_1_(X, advantage.step_coef, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP)) \
    GRPO_LINT_1_(X, advantage.entropy_share_coef, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.entropy_share_eps, GRPO_LINT_NOTE, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE)) \
    GRPO_LINT_1_(X, advantage.entropy_coef, GRPO_LINT_LIKELY, GRPO_LINT_ISNT_(advantage.entropy, GRPO_ENTROPY_NONE)) \
    GRPO_LINT_1_(X, advantage.entropy_kappa, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_BONUS)) \
    GRPO_LINT_1_(X, advantage.entropy_max, GRPO_LINT_LIKELY, GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_RESPONSE)) \
    GRPO_LINT_1_(X, advantage.teacher_clip, GRPO_LINT_LIKELY, GRPO_LINT_NOT_0_(advantage.teacher_share)) \
    GRPO_LINT_1_(X, advantage.teacher_gamma, GRPO_LINT_LIKELY, GRPO_LINT_NOT_0_(advantage.teacher_coef)) \
    GRPO_LINT_1_(X, advantage.marked_value, GRPO_LINT_LIKELY, GRPO_LINT_ISNT_(advantage.marked, GRPO_MARKED_NONE))
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
    GRPO_LINT_2_(X, surrogate.eps_low, GRPO_LINT_NOTE, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_), \
      GRPO_LINT_WITH_(surrogate.bounds, GRPO_LINT_C2_(GRPO_BOUNDS_FIXED, GRPO_BOUNDS_PROBABILITY))) \
    GRPO_LINT_SURROGATE_(X, eps_low, GRPO_LINT_C3_(GRPO_SURROGATE_ASPO, GRPO_SURROGATE_POLICY_SHAPING, GRPO_SURROGATE_UNBOUNDED_POSITIVE)) \
    GRPO_LINT_2_(X, surrogate.eps_high, GRPO_LINT_NOTE, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_), \
      GRPO_LINT_WITH_(surrogate.bounds, GRPO_LINT_C2_(GRPO_BOUNDS_FIXED, GRPO_BOUNDS_PROBABILITY))) \
    GRPO_LINT_SURROGATE_(X, eps_high, GRPO_LINT_C2_(GRPO_SURROGATE_ASPO, GRPO_SURROGATE_POLICY_SHAPING)) \
    GRPO_LINT_SURROGATE_(X, quadratic_eps, GRPO_LINT_C2_(GRPO_SURROGATE_QUADRATIC, GRPO_SURROGATE_QUADRATIC_PROBABILITY)) \
    GRPO_LINT_2_(X, surrogate.bound_cap, GRPO_LINT_NOTE, GRPO_LINT_IS_(surrogate.bounds, GRPO_BOUNDS_PROBABILITY), \
      GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_CLIPS_)) \
    GRPO_LINT_1_(X, surrogate.log_low, GRPO_LINT_NOTE, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_1_(X, surrogate.log_high, GRPO_LINT_NOTE, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_2_(X, surrogate.log_clip_dual, GRPO_LINT_NOTE, GRPO_LINT_POSITIONS_, \
        GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DUAL_CLIP)) \
    GRPO_LINT_1_(X, surrogate.position_power, GRPO_LINT_NOTE, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_2_(X, surrogate.clip_dual, GRPO_LINT_NOTE, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DUAL_CLIP), \
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
    GRPO_LINT_1_(X, penalty.kl_importance_weight_max, GRPO_LINT_LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_1_(X, penalty.kl_coef, GRPO_LINT_LIKELY, GRPO_LINT_ISNT_(penalty.kl, GRPO_KL_NONE)) \
    GRPO_LINT_1_(X, penalty.kl_clamp_log, GRPO_LINT_LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_1_(X, penalty.kl_clamp_value, GRPO_LINT_LIKELY, GRPO_LINT_ESTIMATED_) \
    GRPO_LINT_2_(X, penalty.nll_teacher_slope, GRPO_LINT_LIKELY, GRPO_LINT_IS_(penalty.nll_weight, GRPO_NLL_WEIGHT_TEACHER_GATE), \
      GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_1_(X, penalty.nll_coef, GRPO_LINT_LIKELY, GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_1_(X, penalty.preference_min_gap, GRPO_LINT_LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_beta, GRPO_LINT_LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_coef, GRPO_LINT_LIKELY, GRPO_LINT_PREFERS_) \
    GRPO_LINT_1_(X, penalty.preference_kappa, GRPO_LINT_LIKELY, GRPO_LINT_PREFERS_)

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
    GRPO_LINT_1_(X, weight.rollout_is_low, GRPO_LINT_LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_is_high, GRPO_LINT_LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_clamp, GRPO_LINT_LIKELY, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_1_(X, weight.rollout_clamp, GRPO_LINT_LIKELY, GRPO_LINT_WITH_(weight.rollout_rs, \
      ~GRPO_LINT_C3_(GRPO_ROLLOUT_RS_NONE, GRPO_ROLLOUT_RS_PROBABILITY, GRPO_ROLLOUT_RS_BINARY_KL_MAX))) \
    GRPO_LINT_1_(X, weight.rollout_clamp, GRPO_LINT_LIKELY, GRPO_LINT_NOT_0_(weight.rollout_veto)) \
    GRPO_LINT_WEIGHT_(X, policy_is_low, GRPO_LINT_ISNT_(weight.policy_is, GRPO_POLICY_IS_NONE)) \
    GRPO_LINT_WEIGHT_(X, policy_is_high, GRPO_LINT_ISNT_(weight.policy_is, GRPO_POLICY_IS_NONE)) \
    GRPO_LINT_1_(X, weight.rollout_rs_low, GRPO_LINT_LIKELY, GRPO_LINT_REJECTS_) \
    GRPO_LINT_1_(X, weight.rollout_rs_high, GRPO_LINT_LIKELY, GRPO_LINT_REJECTS_) \
    GRPO_LINT_WEIGHT_(X, fipo_half_life, GRPO_LINT_FIPO_) GRPO_LINT_WEIGHT_(X, fipo_ratio_max, GRPO_LINT_FIPO_) \
    GRPO_LINT_WEIGHT_(X, fipo_low, GRPO_LINT_FIPO_) GRPO_LINT_WEIGHT_(X, fipo_high, GRPO_LINT_FIPO_) \
    GRPO_LINT_WEIGHT_(X, fipo_safe_ratio, GRPO_LINT_FIPO_) \
    X(weight.fipo_safe_low, GRPO_LINT_LIKELY, GRPO_LINT_NOT_0_(weight.fipo_safe_ratio), GRPO_LINT_FIPO_, \
      GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE)) \
    X(weight.fipo_safe_high, GRPO_LINT_LIKELY, GRPO_LINT_NOT_0_(weight.fipo_safe_ratio), GRPO_LINT_FIPO_, \
      GRPO_LINT_ISNT_(surrogate.kind, GRPO_SURROGATE_NONE)) \
    GRPO_LINT_1_(X, aggregation.constant, GRPO_LINT_NOTE, GRPO_LINT_WITH_(aggregation.kind, \
      GRPO_LINT_C2_(GRPO_AGGREGATION_SEQ_MEAN_CONSTANT, GRPO_AGGREGATION_CONSTANT))) \
    GRPO_LINT_1_(X, aggregation.power, GRPO_LINT_NOTE, GRPO_LINT_IS_(aggregation.kind, GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER))

#define GRPO_LINT_READS_(X) GRPO_LINT_REWARD_READS_(X) GRPO_LINT_ADVANTAGE_READS_(X) GRPO_LINT_CREDIT_READS_(X) \
    GRPO_LINT_RATIO_READS_(X) GRPO_LINT_SURROGATE_READS_(X) GRPO_LINT_PENALTY_READS_(X) GRPO_LINT_WEIGHT_READS_(X)

/* ---- numbers that were left 0 ----
 * X(effect, number, number, with, with, with): if both numbers are 0 (a single one is given twice) and every `with` holds, the choice of
 * the first `with`, which the sentence names, has this effect */
#define GRPO_LINT_MOVES_ GRPO_LINT_C4_(GRPO_TRUST_ONE_SIDED, GRPO_TRUST_PROBABILITY, GRPO_TRUST_BINARY_KL, GRPO_TRUST_DIVERGENCE)
#define GRPO_LINT_PLAIN_CLIPS_ GRPO_LINT_C2_(GRPO_SURROGATE_PPO_CLIP, GRPO_SURROGATE_DUAL_CLIP)
#define GRPO_LINT_OWN_POOLS_ GRPO_LINT_C2_(GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN, GRPO_LEVEL_SEQUENCE_POWER_MEAN)
#define GRPO_LINT_ZERO_(X, effect, number, with) X(effect, number, number, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
#define GRPO_LINT_ZERO_AND_(X, effect, number, with, and_with) X(effect, number, number, with, and_with, GRPO_LINT_ANY_)
#define GRPO_LINT_ZEROS_OF_2_(X, effect, number, other, with) X(effect, number, other, with, GRPO_LINT_ANY_, GRPO_LINT_ANY_)
/* if a teacher is the only signal, rewards are discarded on purpose */
#define GRPO_LINT_NO_TEACHER_ GRPO_LINT_0_(advantage.teacher_coef)
#define GRPO_LINT_ZEROS_OF_REWARDS_(X) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, reward.length_coef, GRPO_LINT_IS_(reward.length, GRPO_LENGTH_KIMI)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, reward.overlong_factor, GRPO_LINT_ISNT_(reward.overlong, GRPO_OVERLONG_NONE)) \
    X(GRPO_OBJECTIVE_EQUAL_REWARDS, reward.map_factor, reward.map_factor, GRPO_LINT_IS_(reward.map, GRPO_MAP_AFFINE), \
      GRPO_LINT_NO_TEACHER_, GRPO_LINT_ISNT_(penalty.kl_reference, GRPO_KL_REFERENCE_TEACHER)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, reward.kl_coef, GRPO_LINT_ISNT_(reward.kl, GRPO_KL_NONE)) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_NO_ADVANTAGE, advantage.difficulty_weight_low, advantage.difficulty_weight_high, \
      GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.length_power, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.focal_gamma, GRPO_LINT_IS_(advantage.reweight, GRPO_REWEIGHT_FOCAL)) \
    GRPO_LINT_ZERO_AND_(X, GRPO_OBJECTIVE_NOT_BACK, advantage.gamma, GRPO_LINT_WITH_(advantage.credit, \
      GRPO_LINT_C3_(GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_GAE)), GRPO_LINT_NO_TEACHER_) \
    GRPO_LINT_ZERO_AND_(X, GRPO_OBJECTIVE_NOT_BACK, advantage.gamma, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_TOKENS)) \
    GRPO_LINT_ZERO_AND_(X, GRPO_OBJECTIVE_NOT_BACK, advantage.step_gamma, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_STEP), \
      GRPO_LINT_IS_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS)) \
    GRPO_LINT_ZERO_AND_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.step_gamma, GRPO_LINT_IS_(advantage.step_value, GRPO_STEP_VALUE_RETURN), \
      GRPO_LINT_OF_STEPS_) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.step_coef, GRPO_LINT_IS_(advantage.credit, GRPO_CREDIT_EPISODE_STEP)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.entropy_coef, GRPO_LINT_WITH_(advantage.entropy, \
      GRPO_LINT_C2_(GRPO_ENTROPY_BONUS, GRPO_ENTROPY_RELATIVE))) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.entropy_coef, advantage.entropy_max, \
      GRPO_LINT_IS_(advantage.entropy, GRPO_ENTROPY_RESPONSE)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, advantage.marked_value, GRPO_LINT_IS_(advantage.marked, GRPO_MARKED_BOOST))
/* not for a KL to the old policy, which may start at 0: grpo_kl_hinge of grpo_control.h sets its coefficient in every step */
#define GRPO_LINT_ZEROS_OF_RATIOS_(X) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_MOVED, ratio.token_clip_low, ratio.token_clip_high, \
        GRPO_LINT_WITH_(ratio.level, GRPO_LINT_OWN_POOLS_)) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_RATIO_ONE, ratio.interpolate_token, ratio.interpolate_level, \
      GRPO_LINT_IS_(ratio.interpolate, GRPO_INTERPOLATE_GEOMETRIC)) \
    X(GRPO_OBJECTIVE_MOVED, surrogate.eps_low, surrogate.eps_high, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_PLAIN_CLIPS_), \
      GRPO_LINT_IS_(surrogate.bounds, GRPO_BOUNDS_FIXED), GRPO_LINT_ANY_) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_MOVED, surrogate.log_low, surrogate.log_high, GRPO_LINT_POSITIONS_) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, surrogate.weight_max, \
      GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_C2_(GRPO_SURROGATE_CISPO, GRPO_SURROGATE_MASKED_WEIGHT))) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NONE_DOWN, surrogate.weight_max, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_TOPR)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NONE_UP, surrogate.weight_max, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NONE_DOWN, surrogate.weight_max_neg, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_DISPO)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, surrogate.beta, GRPO_LINT_WITH_(surrogate.kind, GRPO_LINT_BETAS_)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_BLIND, surrogate.reward_beta, GRPO_LINT_IS_(surrogate.kind, GRPO_SURROGATE_TRAJECTORY_BALANCE)) \
    GRPO_LINT_ZERO_AND_(X, GRPO_OBJECTIVE_NO_EFFECT, penalty.kl_coef, GRPO_LINT_ISNT_(penalty.kl, GRPO_KL_NONE), \
      GRPO_LINT_ISNT_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, penalty.nll_coef, GRPO_LINT_ISNT_(penalty.nll_on, GRPO_NLL_NONE)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_EFFECT, penalty.preference_coef, GRPO_LINT_PREFERS_) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, penalty.preference_beta, GRPO_LINT_IS_(penalty.preference, GRPO_PREFERENCE_PAIRWISE))
#define GRPO_LINT_ZEROS_OF_WEIGHTS_(X) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_EXACT, weight.trust_low, weight.trust_high, GRPO_LINT_WITH_(weight.trust, \
      GRPO_LINT_C2_(GRPO_TRUST_TWO_SIDED, GRPO_TRUST_LOG_TWO_SIDED))) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_EXACT, weight.trust_high, \
        GRPO_LINT_WITH_(weight.trust, GRPO_LINT_C2_(GRPO_TRUST_PROBABILITY_BOTH, GRPO_TRUST_K2))) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_MOVED, weight.trust_low, weight.trust_high, GRPO_LINT_WITH_(weight.trust, GRPO_LINT_MOVES_)) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_EXACT_DOWN, weight.trust_low, weight.trust_high, \
        GRPO_LINT_IS_(weight.trust, GRPO_TRUST_NEGATIVE_BAND)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_STALE, weight.off_policy_mask_threshold, GRPO_LINT_WITH_(weight.off_policy_mask, \
      GRPO_LINT_C2_(GRPO_OFF_POLICY_MASK_OLD, GRPO_OFF_POLICY_MASK_ROLLOUT))) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_STALE_AT_ALL, weight.off_policy_mask_threshold, \
      GRPO_LINT_IS_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_TOTAL_VARIATION)) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, weight.rollout_is_high, GRPO_LINT_CORRECTS_) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, weight.rollout_rs_high, GRPO_LINT_WITH_(weight.rollout_rs, \
      GRPO_LINT_C2_(GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_EXP_ABS))) \
    GRPO_LINT_ZEROS_OF_2_(X, GRPO_OBJECTIVE_DIFFERS, weight.rollout_rs_low, weight.rollout_rs_high, GRPO_LINT_WITH_(weight.rollout_rs, \
      ~GRPO_LINT_C3_(GRPO_ROLLOUT_RS_NONE, GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_EXP_ABS))) \
    GRPO_LINT_ZERO_(X, GRPO_OBJECTIVE_NO_GRADIENT, weight.fipo_high, GRPO_LINT_FIPO_)
#define GRPO_LINT_ZEROS_(X) GRPO_LINT_ZEROS_OF_REWARDS_(X) GRPO_LINT_ZEROS_OF_RATIOS_(X) GRPO_LINT_ZEROS_OF_WEIGHTS_(X)

/* ---- findings ----
 * A rule, its level (that of unread is in the table above) and sentence.  In the sentence: %v value, %c the choice, as field=choice, %r the
 * choices that read the number, %o a second number.
 *   refused        what grpo_objective_check returns; then nothing else is examined
 *   no_row         every field is 0, which is no published row
 *   no_groups      the batch has none
 *   no_effect ... differs    a choice is switched on and its number is left 0
 *   below, above   of two clamps that are off if both are 0, one is set to a finite number: the 0 then acts as a bound too
 *   unread         a number that is not 0, although no choice reads it
 *   array          an array of the batch that neither advantages nor loss nor report read; not batch.reward, which other functions read
 *   bound          a bound of a weight is below 1, the ratio of a policy that has not moved
 *   distance       the distance of a bound from 1 is 1 to 5; larger ones leave a clip open on purpose
 *   percent        surrogate.eps_low or eps_high is 15 to 100
 *   wide           one of them is 0.1 to 1, and the ratio that it bounds is a mean over a response (2507.18071, section 5.1: 3e-4 and 4e-4)
 *   one_zero       one of them is 0 and the other is not
 *   narrow         surrogate.eps_high is less than eps_low, and neither is 0 or above 1
 *   negative       the coefficient of a KL or of a penalty by length is below 0
 *   kl_cap, kl_scale    kl_importance_weight_max is set although the weight of the KL is 1 */
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
    X(GRPO_OBJECTIVE_PERCENT, percent, NOTE, "is %v: it is the distance of a bound from 1, not a percentage") \
    X(GRPO_OBJECTIVE_WIDE, wide, NOTE, "is %v, but with %c ratios stay near 1: GSPO's paper has 0.0003 and 0.0004") \
    X(GRPO_OBJECTIVE_ONE_ZERO, one_zero, NOTE, "is 0 and %o is not: no gradient to what has moved to that side and should") \
    X(GRPO_OBJECTIVE_NARROW, narrow, NOTE, "is %v, less than %o: the upper bound is usually as far from 1 as the lower one, or farther") \
    X(GRPO_OBJECTIVE_NEGATIVE, negative, LIKELY, "is %v: a penalty with a coefficient below 0 rewards what it should prevent") \
    X(GRPO_OBJECTIVE_ARRAY, array, NOTE, "is there, but no choice of this objective reads it")

#define GRPO_LINT_ID_(id, ...) id,
typedef enum { GRPO_OBJECTIVE_RULES(GRPO_LINT_ID_) GRPO_N_OBJECTIVE_RULES } grpo_objective_rule;
#undef GRPO_LINT_ID_

typedef struct {
    grpo_objective_rule rule;
    grpo_lint_level level;
    grpo_status status;            /* of refused: what grpo_objective_check returns; else, without a rule, the field or array it is about
                                      and, as the second, the choice or number that causes it; 0 for batch.excluded */
    const char *what;              /* "surrogate.weight_max", "batch.selected" */
    double value, other;           /* of the field, and of the second; a choice as its number */
    int row;                       /* in the tables above; -1: in none */
} grpo_objective_finding;

enum { GRPO_LINT_OBJECTIVE_MOST = 256 };       /* there are never more findings than this */

/* writes the settings that have no effect, the worst first, to finding (room; NULL if room is 0) and returns the number of findings, of
 * which the first `room` are written.  batch: NULL, or one of which only the number of groups and which arrays are not NULL are
 * examined. */
int grpo_lint_objective(const grpo_objective *obj, const grpo_batch *batch, grpo_objective_finding *finding, int room);

/* 1 if a choice of the objective reads the number; 1 also if the field is a choice */
int grpo_objective_reads(const grpo_objective *obj, const grpo_field *field);

#ifndef GRPO_NO_TEXT
/* a finding in one sentence, truncated to buffer (size); returns buffer */
const char *grpo_objective_finding_message(const grpo_objective_finding *finding, char *buffer, size_t size);
#endif

GRPO_C_END_
#endif /* GRPO_LINT_OBJECTIVE_H */

#if defined(GRPO_LINT_OBJECTIVE_IMPLEMENTATION) && !defined(GRPO_LINT_OBJECTIVE_IMPLEMENTED)
#define GRPO_LINT_OBJECTIVE_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"
#include "grpo_shared_text.h"

GRPO_C_BEGIN_

/* ---- the tables ----------------------------------------------------------------------------------------------------------------- */
typedef struct { uint16_t number; grpo_lint_level level; grpo_lint_with_ with[3]; } grpo_idle_read_;

static const grpo_idle_read_ grpo_idle_reads_[] = {
#define GRPO_IDLE_READ_(number, level, a, b, c) \
    { (uint16_t)offsetof(grpo_objective, number), level, { GRPO_LINT_OF_ a, GRPO_LINT_OF_ b, GRPO_LINT_OF_ c } },
    GRPO_LINT_READS_(GRPO_IDLE_READ_)
};

typedef struct { grpo_objective_rule rule; uint16_t number[2]; grpo_lint_with_ with[3]; } grpo_idle_zero_;

static const grpo_idle_zero_ grpo_idle_zeros_[] = {
#define GRPO_IDLE_ZERO_(effect, x, y, a, b, c) \
    { effect, { (uint16_t)offsetof(grpo_objective, x), (uint16_t)offsetof(grpo_objective, y) }, \
      { GRPO_LINT_OF_ a, GRPO_LINT_OF_ b, GRPO_LINT_OF_ c } },
    GRPO_LINT_ZEROS_(GRPO_IDLE_ZERO_)
};

enum { GRPO_IDLE_READS_ = sizeof grpo_idle_reads_ / sizeof *grpo_idle_reads_,
       GRPO_IDLE_ZEROS_ = sizeof grpo_idle_zeros_ / sizeof *grpo_idle_zeros_ };

/* low and high of the clamps */
static const uint16_t grpo_idle_clamps_[][2] = {
#define GRPO_IDLE_PAIR_(low, high) { (uint16_t)offsetof(grpo_objective, low), (uint16_t)offsetof(grpo_objective, high) },
    GRPO_IDLE_PAIR_(ratio.clamp_low, ratio.clamp_high) GRPO_IDLE_PAIR_(ratio.level_clamp_low, ratio.level_clamp_high)
    GRPO_IDLE_PAIR_(advantage.clamp_low, advantage.clamp_high)
};

/* bounds of a ratio or weight and when they are read: given as distance from 1, or as the bound itself */
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

/* coefficients that are not meant to be negative.  Entropy may be rewarded or punished, likelihood too */
static const uint16_t grpo_idle_signs_[] = {
#define GRPO_IDLE_AT_OFFSET_(number) (uint16_t)offsetof(grpo_objective, number)
    GRPO_IDLE_AT_OFFSET_(penalty.kl_coef), GRPO_IDLE_AT_OFFSET_(reward.kl_coef), GRPO_IDLE_AT_OFFSET_(reward.overlong_factor),
    GRPO_IDLE_AT_OFFSET_(reward.length_coef)
};

static const grpo_lint_level grpo_idle_levels_[] = {
#define GRPO_IDLE_LEVEL_(id, name, level, text) GRPO_LINT_##level,
    GRPO_OBJECTIVE_RULES(GRPO_IDLE_LEVEL_)
};

/* ---- fields --------------------------------------------------------------------------------------------------------------------- */
/* the number that statuses have for the field at an offset */
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

/* the first of three conditions that does not hold, NULL if all do */
static const grpo_lint_with_ *grpo_idle_missing_(const grpo_objective *obj, const grpo_lint_with_ *with) {
    for (int k = 0; k < 3; k++) if (!grpo_idle_holds_(obj, with[k])) return &with[k];
    return NULL;
}

/* if no row of the number says that it is read, its first row; -1 if one does, or if it has no row */
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
    grpo_lint_level level;         /* other levels are ignored */
} grpo_idle_;

static void grpo_idle_keep_(grpo_idle_ *l, const grpo_objective_finding *x) {
    if (x->level != l->level) return;
    if (l->count < l->room) l->finding[l->count] = *x;
    if (l->count < GRPO_LINT_OBJECTIVE_MOST) l->count++;                /* not known to happen: a caller may rely on it */
}

static grpo_objective_finding grpo_idle_finding_(grpo_objective_rule rule, int what) {
    grpo_objective_finding x;
    memset(&x, 0, sizeof x);
    x.rule = rule;
    x.level = grpo_idle_levels_[rule];
    x.status = GRPO_STATUS_(0, what);
    x.what = grpo_name_of_(what);
    x.row = -1;
    return x;
}

/* a finding about a number, caused by the field `other` if has_other */
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

/* the two numbers of the clip, each read or not */
static void grpo_idle_look_at_clip_(grpo_idle_ *l) {
    const grpo_surrogate *s = &l->obj->surrogate;
    const grpo_ratio_axis *r = &l->obj->ratio;
    const uint16_t low = GRPO_IDLE_AT_OFFSET_(surrogate.eps_low), high = GRPO_IDLE_AT_OFFSET_(surrogate.eps_high);
    const int reads_low = grpo_idle_unread_(l->obj, low) < 0, reads_high = grpo_idle_unread_(l->obj, high) < 0;
    const int mean = r->level == GRPO_LEVEL_SEQUENCE_MEAN || r->level == GRPO_LEVEL_SEQUENCE_MEAN_RATIO;
    const int wide_high = reads_high && s->eps_high >= 0.1 && s->eps_high < 1;
    if (reads_low && s->eps_low >= 15 && s->eps_low <= 100) grpo_idle_about_(l, GRPO_OBJECTIVE_PERCENT, low, 0, 0);
    if (reads_high && s->eps_high >= 15 && s->eps_high <= 100) grpo_idle_about_(l, GRPO_OBJECTIVE_PERCENT, high, 0, 0);
    if (mean && r->interpolate == GRPO_INTERPOLATE_NONE && (wide_high || (reads_low && s->eps_low >= 0.1 && s->eps_low < 1)))
        grpo_idle_about_(l, GRPO_OBJECTIVE_WIDE, wide_high ? high : low, 1, GRPO_IDLE_AT_OFFSET_(ratio.level));
    if (!reads_low || !reads_high) return;
    if (s->eps_low == 0 && s->eps_high > 0) grpo_idle_about_(l, GRPO_OBJECTIVE_ONE_ZERO, low, 1, high);
    if (s->eps_high == 0 && s->eps_low > 0) grpo_idle_about_(l, GRPO_OBJECTIVE_ONE_ZERO, high, 1, low);
    if (s->eps_high > 0 && s->eps_high < s->eps_low && s->eps_low <= 1) grpo_idle_about_(l, GRPO_OBJECTIVE_NARROW, high, 1, low);
}

static void grpo_idle_look_at_signs_(grpo_idle_ *l) {
    for (size_t k = 0; k < sizeof grpo_idle_signs_ / sizeof *grpo_idle_signs_; k++)
        if (grpo_idle_value_(l->obj, grpo_idle_signs_[k]) < 0 && grpo_idle_unread_(l->obj, grpo_idle_signs_[k]) < 0)
            grpo_idle_about_(l, GRPO_OBJECTIVE_NEGATIVE, grpo_idle_signs_[k], 0, 0);
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

/* ---- arrays: needed are those without which advantages or loss refuse a batch of one response without tokens ---- */
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

/* 1 if the array is needed; at: the offset of its pointer in grpo_batch */
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

/* 1 for arrays that are read though they may be NULL, and for those that count as read by every objective */
static int grpo_idle_reads_array_(const grpo_objective *obj, int what) {
    switch (what) {
    case GRPO_AT_logp_: case GRPO_AT_logp_old_: case GRPO_AT_logp_ref_: case GRPO_AT_entropy_: case GRPO_AT_reward_: return 1;
    case GRPO_AT_reward_weight_: return obj->advantage.rewards == GRPO_REWARDS_EACH;
    case GRPO_AT_truncated_: return grpo_reads_truncated_(&obj->advantage);
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
        grpo_idle_look_at_clip_(&l);
        grpo_idle_look_at_signs_(&l);
        grpo_idle_look_at_numbers_(&l);
        grpo_idle_look_at_arrays_(&l);
    }
    return l.count;
}

/* ---- sentences ------------------------------------------------------------------------------------------------------------------ */
#ifndef GRPO_NO_TEXT
/* the name of choice k of a field, and its length; not called with GRPO_NO_TEXT */
static const char *grpo_idle_choice_(const grpo_field *f, int k, size_t *length) {
    const char *name = f->choices;
    for (; k > 0; k--) name = strchr(name, '|') + 1;
    *length = strcspn(name, "|");
    return name;
}

/* a field and its value: surrogate.kind=cispo */
static void grpo_idle_say_setting_(grpo_text_ *to, const grpo_field *f, double x) {
    size_t length = 0;
    const char *name = f->n_choices ? grpo_idle_choice_(f, (int)x, &length) : "";
    grpo_say_(to, f->path);
    grpo_say_(to, "=");
    if (f->n_choices) grpo_say_part_(to, name, length);
    else grpo_say_number_(to, x);
}

/* the choices of f by which some row of a number reads it */
static void grpo_idle_say_readers_(grpo_text_ *to, const grpo_field *f, uint16_t number) {
    uint64_t some = 0;
    int left = 0, said = 0;
    for (int k = 0; k < GRPO_IDLE_READS_; k++)
        for (int j = 0; grpo_idle_reads_[k].number == number && j < 3; j++)
            if (grpo_idle_reads_[k].with[j].field == f->offset && ~grpo_idle_reads_[k].with[j].choices)      /* not GRPO_LINT_ANY_ */
                some |= grpo_idle_reads_[k].with[j].choices;
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
        case 'o': grpo_say_(to, grpo_name_of_(other)); break;
        case 'c': if (other >= 1 && other <= n) grpo_idle_say_setting_(to, &f[other - 1], x->other); break;
        default:  if (what >= 1 && what <= n && other >= 1 && other <= n) grpo_idle_say_readers_(to, &f[other - 1], f[what - 1].offset);
        }
    }
}

/* says "surrogate.weight_max is 0, so that ", or "weight.trust_low and weight.trust_high are 0, so that " */
static void grpo_idle_say_zeros_(grpo_text_ *to, const grpo_objective_finding *x) {
    const uint16_t *number = grpo_idle_zeros_[x->row].number;
    grpo_say_(to, x->what);
    if (number[1] != number[0]) {
        grpo_say_(to, " and ");
        grpo_say_(to, grpo_name_of_(grpo_idle_field_(number[1])));
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

GRPO_C_END_
#endif /* GRPO_LINT_OBJECTIVE_IMPLEMENTATION */
