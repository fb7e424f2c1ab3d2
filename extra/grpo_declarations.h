/* grpo_declarations.h - what grpo.h, gspo.h and the headers of extra/ declare, in plain C without a directive, for programs that
 * read declarations.  Written by tests/declarations.py; what it all means stands in the headers.  Nothing includes it beside them.
 *
 *     ffi.cdef(open("extra/grpo_declarations.h").read())                             # Python, cffi
 *     bindgen extra/grpo_declarations.h -- -include stdint.h -include stddef.h       # Rust
 *
 * Names that end with _f64 are those of a library compiled with -DGRPO_DOUBLE.  Before its first call a program compares
 * GRPO_VERSION_NUMBER with what grpo_version() returns. */

enum { GRPO_OK = 0, GRPO_VERSION_NUMBER = 400, GRPO_MESSAGE_SIZE = 160, GRPO_MAX_REWARDS = 16 };
typedef enum { GRPO_NO_RULE, GRPO_NULL, GRPO_NAN, GRPO_INFINITE, GRPO_TOO_LARGE, GRPO_NEGATIVE, GRPO_NOT_POSITIVE,
    GRPO_ZERO, GRPO_NOT_UNIT, GRPO_NOT_BELOW_ONE, GRPO_NOT_ABOVE_ONE, GRPO_NOT_POWER, GRPO_NOT_WHOLE, GRPO_TOO_MANY,
    GRPO_NOT_A_CHOICE, GRPO_UNKNOWN, GRPO_NOT_INCREASING, GRPO_NEEDS_GSPO, GRPO_TOO_SMALL, GRPO_MIXED, GRPO_POSITIVE,
    GRPO_OUT_OF_RANGE, GRPO_ZERO_SUM, GRPO_NONE_LEFT, GRPO_NOT_PERMUTATION, GRPO_NOT_MIRRORED, GRPO_WHOLE_RESPONSE,
    GRPO_LONE_RESPONSE, GRPO_TOO_LONG, GRPO_NOT_IEEE, GRPO_CROSSED, GRPO_NOT_BELOW, GRPO_NOT_BEYOND, GRPO_PAST_END,
    GRPO_FEW_ITEMS, GRPO_COMBINATION, GRPO_N_RULES } grpo_rule;
typedef int64_t grpo_status;
const char *grpo_status_name(grpo_status st);
const char *grpo_status_text(grpo_status st);
const char *grpo_status_what(grpo_status st);
const char *grpo_status_other(grpo_status st);
const char *grpo_status_message(grpo_status st, char *buffer, size_t size);
typedef struct {
    double hi, lo;
} grpo_dd;
typedef struct {
    int64_t limb[68];
    int64_t pos_inf, neg_inf;
    int64_t pending;
} grpo_sum;
typedef enum { GRPO_REWARD_TRUNCATED_KEEP, GRPO_REWARD_TRUNCATED_SCALE, } grpo_reward_truncated_kind;
typedef enum { GRPO_LENGTH_NONE, GRPO_LENGTH_KIMI, GRPO_LENGTH_COSINE, GRPO_LENGTH_INVERSE, } grpo_length_kind;
typedef enum { GRPO_MAP_NONE, GRPO_MAP_AFFINE, } grpo_map_kind;
typedef enum { GRPO_OVERLONG_NONE, GRPO_OVERLONG_SOFT, GRPO_OVERLONG_LINEAR, } grpo_overlong_kind;
typedef enum { GRPO_KL_NONE, GRPO_KL_K1, GRPO_KL_K2, GRPO_KL_K3, GRPO_KL_ABS, GRPO_KL_EXTERNAL, } grpo_kl_kind;
typedef struct {
    grpo_reward_truncated_kind truncated;
    double truncated_factor;
    grpo_length_kind length;
    double length_coef;
    double length_max;
    double correct_low, correct_high;
    double wrong_low, wrong_high;
    grpo_overlong_kind overlong;
    double overlong_max, overlong_cache;
    double overlong_factor;
    grpo_map_kind map;
    double map_bias, map_factor;
    double map_low, map_high;
    grpo_kl_kind kl;
    double kl_coef;
} grpo_reward;
typedef struct {
    double value, derivative;
} grpo_kl_term;
typedef enum { GRPO_REWARDS_ONE, GRPO_REWARDS_EACH, } grpo_rewards_kind;
typedef enum { GRPO_STEP_VALUE_REWARD, GRPO_STEP_VALUE_RETURN, GRPO_STEP_VALUE_RESPONSE, } grpo_step_value_kind;
typedef enum { GRPO_STEP_GROUP_PROMPT, GRPO_STEP_GROUP_STATE, GRPO_STEP_GROUP_INDEX, GRPO_STEP_GROUP_HISTORY, }
    grpo_step_group_kind;
typedef enum { GRPO_EXCLUDED_NONE, GRPO_EXCLUDED_ZERO, GRPO_EXCLUDED_ANCHOR, GRPO_EXCLUDED_OWN, } grpo_excluded_kind;
typedef enum { GRPO_TRANSFORM_NONE, GRPO_TRANSFORM_BEST_MINUS_SECOND, GRPO_TRANSFORM_PASS_AT_K,
    GRPO_TRANSFORM_PKPO_MAXRL, GRPO_TRANSFORM_PKPO_MAX, GRPO_TRANSFORM_PKPO_GAIN, GRPO_TRANSFORM_PKPO_LOO, }
    grpo_transform_kind;
typedef enum { GRPO_BASELINE_NONE, GRPO_BASELINE_GROUP_MEAN, GRPO_BASELINE_LEAVE_ONE_OUT, GRPO_BASELINE_LENGTH_WEIGHTED,
    GRPO_BASELINE_EXTERNAL, GRPO_BASELINE_BATCH_MEAN, GRPO_BASELINE_QUANTILE, GRPO_BASELINE_QUANTILE_LINEAR,
    GRPO_BASELINE_LOG_MEAN_EXP, GRPO_BASELINE_HDI_MEDIAN, GRPO_BASELINE_KALMAN, } grpo_baseline_kind;
typedef enum { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_BATCH_STD, GRPO_SCALE_BATCH_CENTRED_STD,
    GRPO_SCALE_TOKEN_WHITEN, GRPO_SCALE_GROUP_MEAN, GRPO_SCALE_LEAVE_ONE_OUT_STD, GRPO_SCALE_RESIDUAL_RMS,
    GRPO_SCALE_KALMAN_STD, GRPO_SCALE_CONSTANT, GRPO_SCALE_BETA, GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION, } grpo_scale_kind;
typedef enum { GRPO_STD_SAMPLE, GRPO_STD_POPULATION, } grpo_std_kind;
typedef enum { GRPO_EPS_ADD, GRPO_EPS_INSIDE, GRPO_EPS_FLOOR, GRPO_EPS_FLOOR_ADD, } grpo_eps_place_kind;
typedef enum { GRPO_SINGLETON_ZERO, GRPO_SINGLETON_RAW, } grpo_singleton_kind;
typedef enum { GRPO_SAMPLES_RESPONSES, GRPO_SAMPLES_STEPS, } grpo_samples_kind;
typedef enum { GRPO_REWEIGHT_NONE, GRPO_REWEIGHT_VALID_GROUPS, GRPO_REWEIGHT_NONZERO_REWARDS, GRPO_REWEIGHT_DIFFICULTY,
    GRPO_REWEIGHT_LENGTH_POWER, GRPO_REWEIGHT_EXPONENTIAL, GRPO_REWEIGHT_FOCAL, } grpo_reweight_kind;
typedef enum { GRPO_BATCH_NORM_NONE, GRPO_BATCH_NORM_ITEMS, GRPO_BATCH_NORM_TOKENS, GRPO_BATCH_NORM_MEAN_ABS, }
    grpo_batch_norm_kind;
typedef enum { GRPO_CREDIT_OUTCOME, GRPO_CREDIT_RETURN, GRPO_CREDIT_STEP, GRPO_CREDIT_GAE, GRPO_CREDIT_STEP_OWN,
    GRPO_CREDIT_EPISODE_STEP, GRPO_CREDIT_ENTROPY_SHARE, GRPO_CREDIT_PREFIX_TREE, GRPO_CREDIT_STEP_GAE, }
    grpo_credit_kind;
typedef enum { GRPO_STEP_DISCOUNT_TOKENS, GRPO_STEP_DISCOUNT_STEPS, } grpo_step_discount_kind;
typedef enum { GRPO_BOOTSTRAP_ZERO, GRPO_BOOTSTRAP_REPEAT, } grpo_bootstrap_kind;
typedef enum { GRPO_ENTROPY_NONE, GRPO_ENTROPY_BONUS, GRPO_ENTROPY_ZERO_VARIANCE, GRPO_ENTROPY_RELATIVE,
    GRPO_ENTROPY_RESPONSE, } grpo_entropy_kind;
typedef enum { GRPO_TEACHER_NORM_NONE, GRPO_TEACHER_NORM_MEAN, } grpo_teacher_norm_kind;
typedef enum { GRPO_TOKEN_BASELINE_NONE, GRPO_TOKEN_BASELINE_OPTIMAL, GRPO_TOKEN_BASELINE_OPTIMAL_SHARED, }
    grpo_token_baseline_kind;
typedef enum { GRPO_MARKED_NONE, GRPO_MARKED_FIXED, GRPO_MARKED_BOOST, } grpo_marked_kind;
typedef struct {
    grpo_rewards_kind rewards;
    grpo_step_value_kind step_value;
    grpo_step_group_kind step_group;
    double history_length, history_power;
    grpo_excluded_kind excluded;
    double excluded_coef;
    grpo_transform_kind transform;
    double pass_k;
    grpo_baseline_kind baseline;
    double baseline_shift;
    double quantile;
    double temperature;
    double hdi_mass;
    double process_noise, observation_noise;
    grpo_scale_kind scale;
    grpo_std_kind std;
    grpo_samples_kind samples;
    double eps;
    double scale_divisor;
    grpo_eps_place_kind eps_place;
    grpo_singleton_kind singleton;
    grpo_reweight_kind reweight;
    double difficulty_weight_low, difficulty_weight_high;
    double difficulty_slope, difficulty_midpoint;
    double focal_reward_low, focal_reward_high;
    double length_power;
    double reweight_temperature;
    double focal_gamma;
    grpo_batch_norm_kind batch_norm;
    double batch_norm_eps;
    grpo_credit_kind credit;
    grpo_step_discount_kind step_discount;
    grpo_bootstrap_kind bootstrap;
    double gamma, lambda;
    double step_gamma;
    double lambda_length;
    double truncated_tail;
    double step_coef;
    double entropy_share_coef;
    double entropy_share_eps;
    grpo_token_baseline_kind token_baseline;
    grpo_entropy_kind entropy;
    double entropy_coef, entropy_kappa;
    double entropy_max;
    double teacher_share, teacher_clip;
    double teacher_coef;
    double teacher_gamma;
    grpo_teacher_norm_kind teacher_norm;
    double kl_centred_coef;
    grpo_marked_kind marked;
    double marked_value;
    double clamp_low, clamp_high;
} grpo_advantage;
typedef struct {
    grpo_dd mean, variance, residual;
} grpo_kalman;
typedef struct {
    grpo_dd mean, size;
} grpo_beta;
typedef enum { GRPO_BEHAVIOUR_OLD, GRPO_BEHAVIOUR_ROLLOUT, GRPO_BEHAVIOUR_REF, GRPO_BEHAVIOUR_CURRENT,
    GRPO_BEHAVIOUR_NONE, } grpo_behaviour_kind;
typedef enum { GRPO_OVER_TOKEN, GRPO_OVER_SEGMENT, GRPO_OVER_PREFIX, GRPO_OVER_SEQUENCE } grpo_over;
typedef enum { GRPO_HOW_SUM, GRPO_HOW_MEAN, GRPO_HOW_MAX } grpo_how;
typedef struct {
    grpo_over over;
    grpo_how how;
} grpo_pool;
typedef enum { GRPO_LEVEL_TOKEN, GRPO_LEVEL_SEQUENCE_MEAN, GRPO_LEVEL_SEQUENCE_SUM, GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN,
    GRPO_LEVEL_SEGMENT_MEAN, GRPO_LEVEL_SEGMENT_SUM, GRPO_LEVEL_PREFIX_SUM, GRPO_LEVEL_PREFIX_MEAN,
    GRPO_LEVEL_SEQUENCE_MEAN_RATIO, GRPO_LEVEL_SEQUENCE_POWER_MEAN, } grpo_level_kind;
typedef enum { GRPO_GRADIENT_FULL, GRPO_GRADIENT_TOKEN, } grpo_gradient_kind;
typedef enum { GRPO_INTERPOLATE_NONE, GRPO_INTERPOLATE_ARITHMETIC, GRPO_INTERPOLATE_GEOMETRIC, } grpo_interpolate_kind;
typedef struct {
    grpo_level_kind level;
    grpo_gradient_kind gradient;
    grpo_interpolate_kind interpolate;
    double interpolate_token, interpolate_level;
    grpo_behaviour_kind behaviour;
    double token_clip_low, token_clip_high;
    double power;
    double clamp_low, clamp_high;
    double level_clamp_low, level_clamp_high;
} grpo_ratio_axis;
typedef struct {
    double log, log_lo, value;
} grpo_ratio;
typedef enum { GRPO_SURROGATE_REINFORCE, GRPO_SURROGATE_RATIO, GRPO_SURROGATE_PPO_CLIP, GRPO_SURROGATE_DUAL_CLIP,
    GRPO_SURROGATE_CISPO, GRPO_SURROGATE_SAPO, GRPO_SURROGATE_VESPO, GRPO_SURROGATE_LOG_RATIO, GRPO_SURROGATE_SQUARED,
    GRPO_SURROGATE_GPPO, GRPO_SURROGATE_ASPO, GRPO_SURROGATE_TOPR, GRPO_SURROGATE_MASKED_WEIGHT,
    GRPO_SURROGATE_SAPO_DETACHED, GRPO_SURROGATE_VARIANCE, GRPO_SURROGATE_LOGISTIC_LSE,
    GRPO_SURROGATE_TRAJECTORY_BALANCE, GRPO_SURROGATE_PAIRWISE_LOGISTIC, GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY,
    GRPO_SURROGATE_DISCRIMINATIVE_MEAN, GRPO_SURROGATE_DISCRIMINATIVE_LSE, GRPO_SURROGATE_PAIRWISE_SOFT,
    GRPO_SURROGATE_SOFTMAX_MSE, GRPO_SURROGATE_SOFTMAX_JS, GRPO_SURROGATE_LOGISTIC, GRPO_SURROGATE_DISPO,
    GRPO_SURROGATE_BGPO, GRPO_SURROGATE_POLICY_SHAPING, GRPO_SURROGATE_QUADRATIC, GRPO_SURROGATE_UNBOUNDED_POSITIVE,
    GRPO_SURROGATE_STANDARDISED, GRPO_SURROGATE_TILTED_CROSS_ENTROPY, GRPO_SURROGATE_PAIRWISE_HINGE,
    GRPO_SURROGATE_REGRESSION, GRPO_SURROGATE_CONTRASTIVE, GRPO_SURROGATE_QUADRATIC_PROBABILITY, GRPO_SURROGATE_NONE, }
    grpo_surrogate_kind;
typedef enum { GRPO_GROUP_SCORE_LOG, GRPO_GROUP_SCORE_RATIO, } grpo_group_score_kind;
typedef enum { GRPO_BOUNDS_FIXED, GRPO_BOUNDS_PROBABILITY, GRPO_BOUNDS_POSITION, GRPO_BOUNDS_EXTERNAL, }
    grpo_bounds_kind;
typedef struct {
    grpo_surrogate_kind kind;
    grpo_group_score_kind group_score;
    grpo_bounds_kind bounds;
    double eps_low, eps_high;
    double quadratic_eps;
    double bound_cap;
    double log_low, log_high, log_clip_dual;
    double position_power;
    double clip_dual;
    double clip_dual_pos;
    double gppo_beta_low, gppo_beta_high;
    double weight_min, weight_max;
    double weight_min_neg, weight_max_neg;
    double tau_pos, tau_neg;
    double advantage_temperature;
    double vespo_k_pos, vespo_lambda_pos, vespo_k_neg, vespo_lambda_neg;
    double beta;
    double reward_beta;
    double length_decay;
    double logit_shift;
    double hinge_margin;
    double shaping_gamma;
    double min_gap;
    double group_score_eps;
    double contrast_temperature, contrast_margin;
} grpo_surrogate;
typedef enum { GRPO_CLIP_NO, GRPO_CLIP_LOW, GRPO_CLIP_HIGH, GRPO_CLIP_DUAL } grpo_clip_side;
typedef struct {
    double value, d_log_ratio, d_logp;
    grpo_clip_side clip;
} grpo_term;
typedef struct {
    double low, high, log_low, log_high;
} grpo_range;
typedef struct {
    grpo_dd low, high, dual;
} grpo_log_range;
typedef struct {
    double value, slope;
} grpo_gate;
typedef enum { GRPO_KL_REFERENCE_REF, GRPO_KL_REFERENCE_OLD, GRPO_KL_REFERENCE_ROLLOUT, GRPO_KL_REFERENCE_TEACHER, }
    grpo_kl_reference_kind;
typedef enum { GRPO_KL_GRADIENT_EXACT, GRPO_KL_GRADIENT_STRAIGHT_THROUGH_K2, GRPO_KL_GRADIENT_DETACHED, }
    grpo_kl_gradient_kind;
typedef enum { GRPO_KL_IMPORTANCE_WEIGHT_NONE, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN, GRPO_KL_IMPORTANCE_WEIGHT_LEVEL,
    GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION, } grpo_kl_importance_weight_kind;
typedef enum { GRPO_KL_CLAMP_ON_ESTIMATE, GRPO_KL_CLAMP_ON_WEIGHTED, } grpo_kl_clamp_on_kind;
typedef enum { GRPO_KL_ON_ALL, GRPO_KL_ON_SELECTED, } grpo_kl_on_kind;
typedef enum { GRPO_PENALTY_AGGREGATION_TERMS, GRPO_PENALTY_AGGREGATION_TOKEN_MEAN,
    GRPO_PENALTY_AGGREGATION_SEQ_MEAN_TOKEN_MEAN, } grpo_penalty_aggregation_kind;
typedef enum { GRPO_NLL_NONE, GRPO_NLL_CORRECT, GRPO_NLL_POSITIVE, GRPO_NLL_SELECTED, GRPO_NLL_ALL,
    GRPO_NLL_NOT_NEGATIVE, } grpo_nll_kind;
typedef enum { GRPO_NLL_WEIGHT_NONE, GRPO_NLL_WEIGHT_P, GRPO_NLL_WEIGHT_P_ONE_MINUS_P, GRPO_NLL_WEIGHT_TEACHER_GATE, }
    grpo_nll_weight_kind;
typedef enum { GRPO_NLL_FORM_LOGP, GRPO_NLL_FORM_TEACHER_GAP, GRPO_NLL_FORM_DISPLACEMENT, } grpo_nll_form_kind;
typedef enum { GRPO_NLL_GATE_NONE, GRPO_NLL_GATE_SEQUENCE, GRPO_NLL_GATE_SEGMENT, } grpo_nll_gate_kind;
typedef enum { GRPO_PREFERENCE_NONE, GRPO_PREFERENCE_PAIRWISE, GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE, }
    grpo_preference_kind;
typedef enum { GRPO_PREFERENCE_SCORE_REF, GRPO_PREFERENCE_SCORE_REFERENCE_FREE, } grpo_preference_score_kind;
typedef struct {
    grpo_kl_kind kl;
    grpo_kl_reference_kind kl_reference;
    grpo_kl_on_kind kl_on;
    grpo_kl_gradient_kind kl_gradient;
    grpo_kl_importance_weight_kind kl_importance_weight;
    double kl_importance_weight_max;
    double kl_coef;
    double kl_clamp_log, kl_clamp_value;
    grpo_kl_clamp_on_kind kl_clamp_on;
    grpo_penalty_aggregation_kind kl_aggregation;
    double entropy_coef;
    grpo_penalty_aggregation_kind entropy_aggregation;
    grpo_nll_kind nll_on;
    grpo_nll_weight_kind nll_weight;
    grpo_nll_form_kind nll_form;
    grpo_nll_gate_kind nll_gate;
    double nll_teacher_slope;
    double nll_coef;
    grpo_preference_kind preference;
    grpo_preference_score_kind preference_score;
    double preference_min_gap;
    double preference_beta, preference_coef;
    double preference_kappa;
} grpo_penalty;
typedef enum { GRPO_WEIGHT_TRUNCATED_KEEP, GRPO_WEIGHT_TRUNCATED_MASK, } grpo_weight_truncated_kind;
typedef enum { GRPO_ROLLOUT_IS_NONE, GRPO_ROLLOUT_IS_TRUNCATE, GRPO_ROLLOUT_IS_MASK, GRPO_ROLLOUT_IS_REJECT, }
    grpo_rollout_is_kind;
typedef enum { GRPO_ROLLOUT_IS_LEVEL_TOKEN, GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_SUM, GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_MEAN,
    GRPO_ROLLOUT_IS_LEVEL_SEGMENT_SUM, GRPO_ROLLOUT_IS_LEVEL_SEGMENT_MEAN, } grpo_rollout_is_level_kind;
typedef enum { GRPO_POLICY_IS_NONE, GRPO_POLICY_IS_TOKEN, GRPO_POLICY_IS_SEQUENCE_SUM, GRPO_POLICY_IS_SEQUENCE_MEAN, }
    grpo_policy_is_kind;
typedef enum { GRPO_ROLLOUT_IS_NORM_NONE, GRPO_ROLLOUT_IS_NORM_MEAN, } grpo_rollout_is_norm_kind;
typedef enum { GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT, GRPO_ROLLOUT_REJECTED_UNMASK, } grpo_rollout_rejected_kind;
typedef enum { GRPO_TRUST_NONE, GRPO_TRUST_ONE_SIDED, GRPO_TRUST_TWO_SIDED, GRPO_TRUST_LOG_TWO_SIDED,
    GRPO_TRUST_PROBABILITY, GRPO_TRUST_PROBABILITY_BOTH, GRPO_TRUST_BINARY_KL, GRPO_TRUST_K2, GRPO_TRUST_RING,
    GRPO_TRUST_DIVERGENCE, GRPO_TRUST_NEGATIVE_BAND, } grpo_trust_kind;
typedef enum { GRPO_OFF_POLICY_MASK_NONE, GRPO_OFF_POLICY_MASK_OLD, GRPO_OFF_POLICY_MASK_ROLLOUT,
    GRPO_OFF_POLICY_MASK_TOTAL_VARIATION, } grpo_off_policy_mask_kind;
typedef enum { GRPO_SELECTED_ALL, GRPO_SELECTED_KEEP, GRPO_SELECTED_DROP, GRPO_SELECTED_ONLY, } grpo_selected_kind;
typedef enum { GRPO_ROLLOUT_RS_NONE, GRPO_ROLLOUT_RS_RATIO, GRPO_ROLLOUT_RS_K2, GRPO_ROLLOUT_RS_K3,
    GRPO_ROLLOUT_RS_PROBABILITY, GRPO_ROLLOUT_RS_EXP_ABS, GRPO_ROLLOUT_RS_K3_REVERSE, GRPO_ROLLOUT_RS_BINARY_KL_MAX, }
    grpo_rollout_rs_kind;
typedef enum { GRPO_ROLLOUT_RS_LEVEL_TOKEN, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_SUM, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN,
    GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MAX, GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM, GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MEAN,
    GRPO_ROLLOUT_RS_LEVEL_SEGMENT_MAX, } grpo_rollout_rs_level_kind;
typedef enum { GRPO_FIPO_NONE, GRPO_FIPO_DECAYED, } grpo_fipo_kind;
typedef enum { GRPO_EXTERNAL_NONE, GRPO_EXTERNAL_POLICY, GRPO_EXTERNAL_TERM, } grpo_external_kind;
typedef struct {
    grpo_weight_truncated_kind truncated;
    grpo_trust_kind trust;
    double trust_low, trust_high;
    double rec_outer_low, rec_outer_high;
    grpo_off_policy_mask_kind off_policy_mask;
    double off_policy_mask_threshold;
    grpo_selected_kind selected;
    grpo_rollout_is_kind rollout_is;
    grpo_rollout_is_level_kind rollout_is_level;
    double rollout_is_low, rollout_is_high;
    double rollout_clamp;
    grpo_rollout_is_norm_kind rollout_is_norm;
    grpo_policy_is_kind policy_is;
    double policy_is_low, policy_is_high;
    grpo_rollout_rs_kind rollout_rs;
    grpo_rollout_rs_level_kind rollout_rs_level;
    double rollout_rs_low, rollout_rs_high;
    double rollout_veto;
    grpo_rollout_rejected_kind rollout_rejected;
    grpo_fipo_kind fipo;
    double fipo_half_life;
    double fipo_ratio_max;
    double fipo_low, fipo_high;
    double fipo_safe_ratio;
    double fipo_safe_low, fipo_safe_high;
    grpo_external_kind external;
} grpo_weight;
typedef struct {
    double value;
    int inside;
} grpo_rollout_is_weight;
typedef enum { GRPO_AGGREGATION_TOKEN_SUM, GRPO_AGGREGATION_TOKEN_MEAN, GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN,
    GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM, GRPO_AGGREGATION_SEQ_MEAN_CONSTANT, GRPO_AGGREGATION_CONSTANT,
    GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN, GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER, GRPO_AGGREGATION_SEQ_SUM_TOKEN_MEAN,
    GRPO_AGGREGATION_GROUP_MEAN, GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN, GRPO_AGGREGATION_TOKEN_MEAN_BY_SIGN,
    GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN, GRPO_AGGREGATION_SEQ_MEAN_BY_SIGN, GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD, }
    grpo_aggregation_kind;
typedef enum { GRPO_EMPTY_SEQUENCES_KEEP, GRPO_EMPTY_SEQUENCES_DROP, } grpo_empty_sequences_kind;
typedef struct {
    grpo_aggregation_kind kind;
    double constant;
    double power;
    grpo_empty_sequences_kind empty_sequences;
} grpo_aggregation;
typedef struct {
    grpo_reward reward;
    grpo_advantage advantage;
    grpo_ratio_axis ratio;
    grpo_surrogate surrogate;
    grpo_penalty penalty;
    grpo_weight weight;
    grpo_aggregation aggregation;
} grpo_objective;
enum { GRPO_LOW_EXCLUDED = 1, GRPO_HIGH_EXCLUDED = 2, GRPO_WHOLE = 4, GRPO_EXCEPT_0 = 8, GRPO_OR_0 = 16 };
typedef struct {
    double low, high;
    int flags;
    grpo_rule below, above;
} grpo_domain;
typedef struct {
    const char *path;
    const char *choices;
    uint16_t offset;
    uint16_t n_choices;
    uint16_t domain;
} grpo_field;
typedef struct {
    const char *name, *paper, *equations, *summary;
} grpo_preset;
const grpo_preset *grpo_presets(int *count);
grpo_objective grpo_objective_from_preset(const grpo_preset *preset);
grpo_status grpo_objective_named(const char *name, grpo_objective *obj);
const grpo_field *grpo_fields(int *count);
grpo_status grpo_objective_set(grpo_objective *obj, const char *path, double value);
grpo_status grpo_objective_choose(grpo_objective *obj, const char *path, const char *choice);
double grpo_objective_get(const grpo_objective *obj, const grpo_field *field);
grpo_domain grpo_field_domain(const grpo_field *field);
grpo_status grpo_objective_check(const grpo_objective *obj);
typedef struct {
    int64_t n_groups;
    const int64_t *group_begin;
    const int64_t *offset, *length;
    int64_t n_tokens;
    const float *logp;
    const float *logp_old;
    const float *logp_ref;
    const float *logp_rollout;
    const float *logp_teacher;
    const float *entropy;
    const float *value;
    const float *step_reward;
    const uint8_t *step_end;
    const uint8_t *segment_end;
    const uint8_t *mask;
    const uint8_t *selected;
    const uint8_t *kl_mask;
    const uint8_t *nll_mask;
    const uint8_t *marked;
    const uint8_t *shaping_mask;
    const int64_t *state;
    const int64_t *token_id;
    const float *sum_pi_squared;
    const float *reward;
    const float *rewards;
    int64_t n_rewards;
    const float *reward_weight;
    const uint8_t *truncated;
    const uint8_t *excluded;
    const float *baseline;
    const float *log_partition;
    const float *external_weight;
    const float *eps_low, *eps_high;
    const float *divergence_ref, *divergence_old;
} grpo_batch;
typedef struct {
    int64_t tokens;
    int64_t sequences, sequences_nonempty, groups, groups_nonempty;
    int64_t ranks;
    int64_t positive_tokens, positive_sequences;
    int64_t nonzero_std_tokens;
    int64_t nll_tokens, preference_pairs;
    int64_t rollout_is_count;
    grpo_sum rollout_is_sum;
} grpo_totals;
typedef struct {
    double loss, policy_loss, penalty_loss;
    int64_t tokens, sequences, groups;
    int64_t masked_tokens, rejected_tokens;
    int64_t degenerate_groups;
    double clip_fraction, clip_fraction_low, clip_fraction_high, clip_fraction_dual;
    double ratio_mean, ratio_min, ratio_max;
    double ess;
    double approx_kl_k1, approx_kl_k3;
    double kl_k1, kl_k2, kl_k3;
    double entropy;
    double rollout_is_mean;
    int overflow;
} grpo_report;
enum { GRPO_SUM_POLICY, GRPO_SUM_PENALTY, GRPO_SUM_RATIO, GRPO_SUM_RATIO_EXCESS, GRPO_SUM_RATIO_SQUARED,
    GRPO_SUM_APPROX_KL_K1, GRPO_SUM_APPROX_KL_K3, GRPO_SUM_KL_K1, GRPO_SUM_KL_K2, GRPO_SUM_KL_K3, GRPO_SUM_ENTROPY,
    GRPO_SUM_WEIGHT, GRPO_SUM_NLL, GRPO_SUM_PREFERENCE, GRPO_N_SUMS };
typedef struct {
    double divisor, factor;
    double by_sign[2];
    double nll, preference;
    double own[2];
    int alone;
    grpo_dd norm;
    double norm_top;
} grpo_scales;
typedef struct {
    grpo_sum sum[GRPO_N_SUMS];
    grpo_scales scales;
    int64_t tokens, sequences, groups, masked_tokens, rejected_tokens, degenerate_groups;
    int64_t ratio_tokens, weight_tokens;
    int64_t clips[4];
    double ratio_min, ratio_max;
    int overflow;
} grpo_partial;
typedef struct {
    grpo_sum sum, squares;
    grpo_dd min, max;
    int64_t count;
} grpo_values;
typedef struct {
    grpo_values values;
    grpo_sum rest, rest_squares, rest_cross;
    grpo_sum column[16];
    grpo_sum length;
    grpo_sum entropy, divergence;
    int64_t tokens, items, sequences, sequences_nonempty, degenerate_sequences, nonzero_items;
} grpo_moments;
typedef struct {
    float *dlogp, *dentropy;
    float *term;
    float *ddivergence_ref;
    float *dlog_partition;
    double *scratch;
    int64_t scratch_size;
} grpo_output;
grpo_status grpo_advantages(const grpo_objective *obj, const grpo_batch *batch, float *advantage);
grpo_status grpo_loss(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, const grpo_output *out, grpo_report *report);
grpo_status grpo_dynamic_sampling_mask(const grpo_batch *batch, uint8_t *keep);
grpo_status grpo_totals_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, grpo_totals
    *totals);
grpo_status grpo_totals_merge(grpo_totals *into, const grpo_totals *from);
grpo_status grpo_moments_add(const grpo_objective *obj, const grpo_batch *batch, grpo_moments *moments);
grpo_status grpo_moments_merge(grpo_moments *into, const grpo_moments *from);
grpo_status grpo_advantages_with_moments(const grpo_objective *obj, const grpo_batch *batch, const grpo_moments *moments,
    float *advantage);
grpo_status grpo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, const grpo_output *out, grpo_partial *partial);
grpo_status grpo_partial_merge(grpo_partial *into, const grpo_partial *from);
void grpo_partial_report(const grpo_partial *partial, grpo_report *report);
typedef struct {
    double up, down, variance;
} grpo_pass_at_k_values;
typedef struct {
    double value, slope;
} grpo_logistic;
grpo_status gspo_loss(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, const grpo_output *out, grpo_report *report);
grpo_status gspo_loss_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, const grpo_output *out, grpo_partial *partial);
grpo_status gspo_loss_check(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, const grpo_output *out, const grpo_partial *partial);
int64_t gspo_scratch(const grpo_objective *obj, const grpo_batch *batch);
grpo_dd gspo_log_ratio(const float *logp, const float *logp_old, const uint8_t *mask, int64_t n);
typedef struct {
    int64_t in_mask;
    int64_t vetoed;
    int64_t above, reaching;
    int64_t tokens;
    int64_t with_advantage;
    int64_t positive_tokens, nll_tokens;
    grpo_sum rollout_is, rollout_rs;
    grpo_sum log_ratio;
    grpo_sum stale, policy_is;
} grpo_response;
grpo_status grpo_context_check(const grpo_objective *obj);
int grpo_context_rounds(const grpo_objective *obj);
int grpo_context_needs_groups(const grpo_objective *obj);
int grpo_context_needs_moments(const grpo_objective *obj);
typedef enum { GRPO_READER_ADVANTAGES, GRPO_READER_TOTALS, GRPO_READER_LOSS } grpo_reader;
typedef enum { GRPO_ARRAY_UNKNOWN = -1, GRPO_ARRAY_UNREAD, GRPO_ARRAY_OPTIONAL, GRPO_ARRAY_NEEDED } grpo_array_use;
grpo_array_use grpo_context_array_use(const grpo_objective *obj, grpo_reader reader, const char *array);
grpo_status grpo_context_measure(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_response *whole, grpo_response *part);
void grpo_context_add(grpo_response *into, const grpo_response *from, int64_t n);
void grpo_context_add_sums(grpo_sum *into, const grpo_sum *from, int64_t n);
grpo_status grpo_context_totals_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_response *whole,
    grpo_totals *totals);
grpo_status grpo_context_loss_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_response *whole, const grpo_totals *totals, const grpo_output *out, int leads, grpo_partial *partial, grpo_sum
    *through);
grpo_status grpo_context_backward(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_response *whole, const grpo_sum *through, const grpo_output *out, grpo_partial *partial);
typedef struct {
    double coef, used;
} grpo_entropy_coef;
typedef struct {
    double mean, variance;
} grpo_mean_variance;
typedef struct {
    double low, high, low_max, high_max, step, target;
} grpo_balance;
typedef struct {
    double low, high;
} grpo_bounds;
grpo_status grpo_balanced_clip_bounds(const grpo_batch *batch, const float *advantage, const grpo_balance *balance,
    grpo_bounds *bounds);
grpo_status grpo_running_baseline(const double *reward, int64_t n, double momentum, double *advantage, double *baseline);
grpo_status grpo_regret_temperature(const int64_t *length, const double *score, int64_t n, double *temperature);
typedef struct {
    double low, high, clip_coef, gain;
} grpo_adaptation;
grpo_status grpo_adaptive_clip(const grpo_batch *batch, const float *advantage, const float *standard, const
    grpo_adaptation *how, float *clip_low, float *clip_high, float *shaped);
typedef struct {
    double alpha, beta;
} grpo_counts;
grpo_status grpo_drift_decay(const grpo_batch *batch, double half_life, double low, double high, double *decay);
grpo_status grpo_quantile_tracker(const double *quantile, const double *level, int64_t n, double rate, const double
    *observed, int64_t m, double *tracked);
grpo_status grpo_turn_factor(const grpo_batch *batch, const double *factor, double low, double high, double *updated);
grpo_status grpo_hint_level(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t max,
    int64_t *new_level);
typedef enum { GRPO_STANDARD_CODED, GRPO_STANDARD_INTENDED } grpo_standard_form;
grpo_status grpo_standardised_entropy(const grpo_batch *batch, double quantile, grpo_standard_form form, float
    *standard);
grpo_status grpo_ratio_quantile(const grpo_batch *batch, double quantile, double least, double *value);
grpo_status grpo_logit_shift(const grpo_batch *batch, const uint8_t *correct, double beta, double *shift);
typedef struct {
    double target, rate, max;
    int64_t least;
} grpo_constraint;
grpo_status grpo_multiplier_update(const double *score, const uint8_t *counted, int64_t n, const grpo_constraint
    *constraint, double *multiplier, double *mean);
typedef struct {
    double coef, value;
} grpo_target_coef;
typedef struct {
    double power, eps, log_high;
} grpo_power_bounds;
typedef struct {
    double fisher, gain, top;
    int frequency;
    int64_t ignored;
} grpo_key_measure;
typedef struct {
    int64_t token, sequence, slot;
} grpo_token_place;
grpo_status grpo_key_token_advantage(const grpo_batch *batch, const int64_t *token, const grpo_key_measure *measure,
    grpo_token_place *scratch, int64_t capacity, float *key);
grpo_status grpo_jsd_advantage(const grpo_batch *batch, double beta, double coef, float *advantage);
grpo_status grpo_distribution_advantage(const grpo_batch *batch, const float *advantage, const float *tempered, const
    uint8_t *correct, double entropy, double entropy_base, float *shaped);
grpo_status grpo_boltzmann_advantage(const grpo_batch *batch, double temperature, float *advantage);
grpo_status grpo_likelihood_advantage(const grpo_batch *batch, double threshold, double temperature, int by_length,
    grpo_dd *scratch, float *advantage);
typedef enum { GRPO_HALF_LOW, GRPO_HALF_HIGH } grpo_half;
typedef struct {
    double alpha, offset, mix;
    grpo_half scaled;
} grpo_canon;
grpo_status grpo_canon_advantage(const grpo_batch *batch, const double *metric, const grpo_canon *canon, float
    *advantage);
grpo_status grpo_asymmetric_advantage(const grpo_batch *batch, double alpha, double mean_reward, float *advantage);
grpo_status grpo_sharpening_advantage(const grpo_batch *batch, const double *advantage, double lambda, double kappa,
    grpo_dd *scratch, float *shaped);
typedef struct {
    const double *advantage, *feature, *divisor;
    const uint8_t *eligible;
    double delta, k;
} grpo_feature;
grpo_status grpo_feature_advantage(const grpo_batch *batch, const grpo_feature *feature, float *shaped);
grpo_status grpo_virtual_reward_advantage(const grpo_batch *batch, double virtual_reward, int64_t count, double eps,
    float *advantage);
typedef struct {
    double low, high, a, c, omega, eps;
} grpo_risk;
grpo_status grpo_bundle_advantage(const grpo_batch *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd
    *scratch, float *advantage);
grpo_status grpo_set_advantage(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const
    int64_t *set_begin, int64_t n_sets, double *advantage);
grpo_status grpo_reference_advantage(const double *reward, int64_t n, double reference_reward, double beta, double
    lambda, int with_reference, double *advantage, double *reference);
grpo_status grpo_implicit_advantage(const grpo_batch *batch, const float *process, double process_coef, double
    outcome_coef, float *advantage);
grpo_status grpo_hardness_advantage(const grpo_batch *batch, double slope, double offset, float *advantage);
grpo_status grpo_token_advantage(const grpo_batch *batch, double eps, double limit, int scaled, float *advantage);
grpo_status grpo_future_success_advantage(const double *reward, int64_t n, double *advantage);
typedef struct {
    double gamma, weight_gamma, beta, clip;
    int inclusive, sign, per_step, discount;
} grpo_coplayer;
grpo_status grpo_alignment_advantage(const double *own, const double *other, int64_t n, const grpo_coplayer *how, double
    *credit);
grpo_status grpo_projected_advantage(const double *advantage, int64_t n, const double *basis, int64_t k, double alpha,
    int positive, grpo_dd *scratch, double *shaped);
typedef enum { GRPO_BRANCH_LEAVES, GRPO_BRANCH_PROBABILITY } grpo_branch_form;
typedef struct {
    grpo_dd value;
    int64_t leaves, depth;
} grpo_branch;
grpo_status grpo_branch_advantage(const int64_t *parent, const double *reward, const double *logp, int64_t n,
    grpo_branch_form form, double alpha, grpo_branch *scratch, double *advantage);
grpo_status grpo_collapsed_advantage(const grpo_batch *batch, double eps, float *advantage);
grpo_status grpo_variant_advantage(const double *advantage, const double *difficulty, const double *mean, int64_t n,
    double k, double *weighted);
grpo_status grpo_step_weight_advantage(const double *advantage, const double *weight, int64_t n, double *weighted);
typedef enum { GRPO_TREE_TD, GRPO_TREE_SIBLINGS, GRPO_TREE_PARENT } grpo_tree_advantage_form;
typedef struct {
    grpo_dd value;
    int64_t leaves, children;
} grpo_tree_state;
grpo_status grpo_tree_advantage(const int64_t *parent, const double *reward, const double *value, int64_t n, double
    gamma, grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage);
typedef enum { GRPO_ANCHORS_PAPER, GRPO_ANCHORS_CODE } grpo_anchors_form;
typedef struct {
    double alpha, beta, gain_pos, gain_neg;
    grpo_anchors_form form;
} grpo_anchors;
grpo_status grpo_two_anchor_advantage(const grpo_batch *batch, const double *constraints, const grpo_anchors *anchors,
    float *advantage);
grpo_status grpo_calibration_advantage(const grpo_batch *batch, const uint8_t *correct, double temperature, grpo_dd
    *scratch, float *advantage);
grpo_status grpo_multi_scale_advantage(const double *reward, int64_t n, double eps, double *advantage);
grpo_status grpo_hard_negative_advantage(const grpo_batch *batch, const double *utility, float *advantage, int64_t
    *replace);
grpo_status grpo_position_advantage(const double *logp_old, const double *reward, int64_t n, double *advantage);
typedef enum { GRPO_ROLE_MEAN, GRPO_ROLE_MEAN_STD, GRPO_ROLE_CLIPPED } grpo_role_form;
grpo_status grpo_role_advantage(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double
    *advantage);
grpo_status grpo_median_advantage(const grpo_batch *batch, double eps, double *advantage, int64_t *pivot);
grpo_status grpo_mix_advantages(const double *x, const double *y, int64_t n, double a, double b, double *mixed);
grpo_status grpo_odds_advantage(const grpo_batch *batch, const float *informed, const float *plain, const double *prior,
    double evidence_max, float *advantage);
grpo_status grpo_gram_rank(const double *gram, const double *advantage, int64_t n, double share, int64_t least, int64_t
    most, int64_t *rank, double *effective);
typedef struct {
    double loss, slope;
    int clipped;
} grpo_value_term;
typedef struct {
    double loss, clip_fraction;
} grpo_value_report;
grpo_status grpo_value_loss(const grpo_batch *batch, const float *value, const float *value_old, const float *returns,
    double clip, const grpo_aggregation *aggregation, float *dvalue, grpo_value_report *report);
typedef enum { GRPO_PROXIMAL_LOG_LINEAR, GRPO_PROXIMAL_LINEAR } grpo_proximal_form;
grpo_status grpo_proximal_logp(const grpo_batch *batch, int64_t version, const int64_t *behaviour_version,
    grpo_proximal_form form, float *logp_old);
grpo_status grpo_generalised_jsd(const double *student, const double *teacher, int64_t n, double temperature, double
    beta, double *value, double *dstudent);
grpo_status grpo_top_k_gap(const double *student, const double *teacher, int64_t n, int64_t target, double *gap);
typedef enum { GRPO_LOGITS_REAL, GRPO_LOGITS_BFLOAT16, GRPO_LOGITS_FLOAT16 } grpo_logits_type;
typedef struct {
    grpo_logits_type type;
    const void *logits;
    int64_t rows, vocab, stride;
    const int64_t *target;
    const uint8_t *kept;
    double temperature;
    int squares;
} grpo_logits;
typedef struct {
    double largest;
    grpo_dd sum, spread, squares;
    double target;
    int has_target;
} grpo_logits_part;
typedef struct {
    double logp, entropy;
    double log_sum;
    double sum_squares;
    double other;
} grpo_logits_row;
grpo_status grpo_logits_row_read(const grpo_logits *x, int64_t row, grpo_logits_part *part);
grpo_status grpo_logits_part_merge(grpo_logits_part *into, const grpo_logits_part *from, double temperature);
grpo_status grpo_logits_part_row(const grpo_logits_part *part, double temperature, grpo_logits_row *row);
grpo_status grpo_logits_row_gradient(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp,
    double dentropy, void *dlogits);
grpo_logits_part grpo_logits_part_empty(void);
void grpo_logits_part_add(grpo_logits_part *part, double z, int is_target, double temperature);
typedef struct {
    double largest, temperature, share, at, slope, target;
    double scale;
} grpo_logits_slopes;
grpo_logits_slopes grpo_logits_part_slopes(const grpo_logits_part *part, double temperature, double dlogp, double
    dentropy);
double grpo_logits_slope(const grpo_logits_slopes *s, double z, int is_target);
typedef struct {
    grpo_logits logits;
    grpo_logits_part *part;
    float *logp, *entropy;
    void *dlogits;
} grpo_logits_batch;
grpo_status grpo_logits_loss(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_totals *totals, const grpo_logits_batch *rows, const grpo_output *out, grpo_report *report);
grpo_status grpo_logits_loss_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_totals *totals, const grpo_logits_batch *rows, const grpo_output *out, grpo_partial *partial);
grpo_status grpo_logits_batch_read(const grpo_logits_batch *rows, const uint8_t *mask, int64_t first, int64_t count);
grpo_status grpo_logits_batch_gradient(const grpo_logits_batch *rows, const uint8_t *mask, const float *dlogp, const
    float *dentropy, int64_t first, int64_t count);
typedef enum { GRPO_DISTILL_FORWARD, GRPO_DISTILL_REVERSE, GRPO_DISTILL_JENSEN_SHANNON } grpo_distill_kind;
typedef enum { GRPO_TAIL_LEFT_OUT, GRPO_TAIL_RENORMALISED, GRPO_TAIL_BUCKET } grpo_tail_kind;
typedef struct {
    grpo_logits student;
    grpo_logits_type teacher_type;
    int64_t teacher_stride;
    int64_t k;
    double teacher_temperature;
    grpo_distill_kind kind;
    double beta;
    grpo_tail_kind tail;
    double clip;
    double logp_min;
    double divergence_max;
} grpo_distill;
typedef struct {
    double largest, temperature;
    grpo_dd log_sum;
} grpo_distill_side;
typedef struct {
    grpo_distill_side student, teacher;
    grpo_dd tail[2];
    double slope, tail_slope;
    int whole;
    int outside;
} grpo_distill_part;
grpo_status grpo_distill_divergence(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
    grpo_distill_part *part, float *divergence);
grpo_status grpo_distill_gradient(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
    const grpo_distill_part *part, const float *weight, int add, void *dlogits);
grpo_status grpo_distill_top(const grpo_logits *x, const uint8_t *mask, int64_t k, int64_t *ids);
grpo_status grpo_distill_at(const grpo_logits *x, const uint8_t *mask, const int64_t *ids, int64_t k, float *logp);
grpo_status grpo_distill_sort(int64_t rows, int64_t k, int64_t *ids, float *numbers);
grpo_status grpo_distill_pairs(const grpo_batch *batch, const uint8_t *correct, int64_t *teacher, int64_t *student);
grpo_status grpo_frontier_weight(const grpo_batch *batch, const uint8_t *correct, double strength, double *weight);
grpo_status grpo_distill_importance_weight(const grpo_batch *batch, double clip, float *weight);
typedef enum { GRPO_FLOW_SDE, GRPO_FLOW_DANCE_SDE, GRPO_FLOW_FLASH_SDE, GRPO_FLOW_SAGE_SDE, GRPO_FLOW_CPS }
    grpo_flow_kind;
typedef struct {
    double sample_factor, velocity_factor, std;
    double rate;
} grpo_flow_step;
grpo_status grpo_flow_schedule(grpo_flow_kind kind, double level, double next_level, double sigma_max, double sigma_min,
    double eta, grpo_flow_step *step);
typedef enum { GRPO_BALANCE_MEDIAN, GRPO_BALANCE_MEAN } grpo_balance_kind;
grpo_status grpo_balance_steps(int64_t n, const double *rate, grpo_balance_kind centre, double *weight);
typedef struct {
    float *logp;
    float *log_ratio;
    float *regulated;
    float *divergence_old;
    float *divergence_ref;
} grpo_gaussian_numbers;
grpo_status grpo_gaussian_steps(int64_t n, const int64_t *begin, const float *sample, const float *mean, const float
    *mean_old, const float *mean_ref, const double *std, const double *kl_std, const grpo_gaussian_numbers *out);
typedef struct {
    const float *logp, *log_ratio, *regulated, *divergence_old, *divergence_ref;
} grpo_gaussian_gradients;
grpo_status grpo_gaussian_steps_backward(int64_t n, const int64_t *begin, const float *sample, const float *mean, const
    float *mean_old, const float *mean_ref, const double *std, const double *kl_std, const grpo_gaussian_gradients *by,
    float *dmean);
grpo_status grpo_denoising_error(int64_t n, const int64_t *begin, const float *prediction, const float *target, double
    *error);
grpo_status grpo_denoising_error_backward(int64_t n, const int64_t *begin, const float *prediction, const float *target,
    const double *derror, float *dprediction);
grpo_status grpo_denoising_preference(int64_t n, const double *error, const double *error_ref, const double *weight,
    double beta, double *loss, double *derror);
typedef struct {
    double advantage_max;
    double beta;
    double kl_coef;
} grpo_nft;
grpo_status grpo_diffusion_nft(int64_t n, const int64_t *begin, const float *velocity, const float *velocity_old, const
    float *velocity_ref, const float *noisy, const float *clean, const double *level, const double *advantage, const
    grpo_nft *x, double *share, double *loss, float *dvelocity);
typedef void (*grpo_product)(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const
    float *a, const float *b, int add, float *c);
typedef struct {
    grpo_logits_part part;
    int64_t slot;
} grpo_hidden_row;
typedef struct {
    const float *hidden;
    const float *weight;
    int64_t width, vocab;
    const int64_t *target;
    double temperature;
    grpo_product product;
    void *context;
    int passes;
    int64_t tile_rows;
    float *tile;
    grpo_hidden_row *row;
    float *logp, *entropy;
    float *d_hidden;
    float *d_weight;
} grpo_hidden;
grpo_status grpo_hidden_check(const grpo_objective *obj);
int grpo_hidden_passes(const grpo_objective *obj);
grpo_status grpo_hidden_loss(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_totals *totals, const grpo_hidden *rows, const grpo_output *out, grpo_report *report);
grpo_status grpo_hidden_loss_add(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const
    grpo_totals *totals, const grpo_hidden *rows, const grpo_output *out, grpo_partial *partial);
void grpo_hidden_product(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const float
    *a, const float *b, int add, float *c);
typedef struct {
    const char *structure;
    const char *member;
    int64_t offset, size;
} grpo_layout;
int grpo_version(void);
int64_t grpo_sizeof(const char *structure);
const grpo_layout *grpo_layouts(int *count);
grpo_status grpo_layout_check(const grpo_layout *declared, int64_t n);
typedef struct {
    const char *what;
    int64_t index;
    int64_t group, response;
    int64_t sequence, token;
    int64_t column;
    int has_value, has_other;
    double value, other;
} grpo_fault;
grpo_fault grpo_fault_of(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const float *advantage);
typedef enum { GRPO_LINT_NOTE, GRPO_LINT_LIKELY, GRPO_LINT_ERROR } grpo_lint_level;
typedef enum { GRPO_LINT_REFUSED, GRPO_LINT_REPEATED, GRPO_LINT_OVERLAP, GRPO_LINT_NO_TOKENS, GRPO_LINT_NO_GROUPS,
    GRPO_LINT_POSITIVE_LOGP, GRPO_LINT_PROBABILITIES, GRPO_LINT_NEGATED, GRPO_LINT_OTHER_TYPE, GRPO_LINT_AHEAD,
    GRPO_LINT_BEHIND, GRPO_LINT_ZEROS, GRPO_LINT_UNLIKE, GRPO_LINT_FAR, GRPO_LINT_PADDED, GRPO_LINT_PADDED_ONE,
    GRPO_LINT_NOT_SAMPLED, GRPO_LINT_NONE_COUNT, GRPO_LINT_MASK_BYTES, GRPO_LINT_INVERTED_MASK, GRPO_LINT_FIRST_LEFT_OUT,
    GRPO_LINT_SHORT_TRUNCATED, GRPO_LINT_NEGATIVE_ENTROPY, GRPO_LINT_PER_RESPONSE, GRPO_LINT_NO_ADVANTAGE,
    GRPO_LINT_AGAINST_REWARD, GRPO_LINT_UNEQUAL, GRPO_LINT_RAW_REWARD, GRPO_LINT_OWN_MOMENTS, GRPO_LINT_OTHER_TOTALS,
    GRPO_LINT_UNWRITTEN, GRPO_LINT_LOST_GRADIENT, GRPO_LINT_MISSING_PART, GRPO_LINT_REPEATED_PART, GRPO_LINT_PIECES,
    GRPO_LINT_NOT_MERGED, GRPO_LINT_MISSING_MOMENTS, GRPO_LINT_MORE_MOMENTS, GRPO_LINT_GROUP_OF_ONE,
    GRPO_LINT_EQUAL_REWARDS, GRPO_LINT_EMPTY, GRPO_LINT_MASKED, GRPO_LINT_LAST_LEFT_OUT, GRPO_LINT_COUNTS_END,
    GRPO_LINT_FLAG, GRPO_LINT_FIXED_LENGTH, GRPO_LINT_PADDED_LENGTH, GRPO_LINT_CUT_GROUP, GRPO_LINT_LONE_ADVANTAGE,
    GRPO_LINT_UNCENTRED, GRPO_LINT_ZERO_PROBABILITY, GRPO_LINT_APART, GRPO_LINT_SAME, GRPO_LINT_UNCORRECTED,
    GRPO_N_LINT_RULES } grpo_lint_rule;
typedef struct {
    grpo_lint_rule rule;
    grpo_lint_level level;
    grpo_status status;
    grpo_fault at;
    int64_t count;
} grpo_finding;
enum { GRPO_LINT_MESSAGE_SIZE = 400, GRPO_LINT_MOST = 64 };
int grpo_lint(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals *totals,
    const grpo_output *out, grpo_finding *finding, int room);
int grpo_lint_own_moments(const grpo_objective *obj, const grpo_batch *batch, const float *advantage, const grpo_totals
    *totals, float *alone, grpo_finding *finding);
int grpo_lint_parts(const grpo_totals *totals, const grpo_partial *partial, const grpo_moments *moments, grpo_finding
    *finding, int room);
const char *grpo_fault_message(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const float
    *advantage, char *buffer, size_t size);
const char *grpo_logits_fault_message(grpo_status st, const grpo_logits *logits, const grpo_batch *batch, char *buffer,
    size_t size);
const char *grpo_finding_message(const grpo_finding *finding, char *buffer, size_t size);
typedef enum { GRPO_OBJECTIVE_REFUSED, GRPO_OBJECTIVE_NO_GROUPS, GRPO_OBJECTIVE_NO_ROW, GRPO_OBJECTIVE_NO_GRADIENT,
    GRPO_OBJECTIVE_NO_ADVANTAGE, GRPO_OBJECTIVE_EQUAL_REWARDS, GRPO_OBJECTIVE_BLIND, GRPO_OBJECTIVE_RATIO_ONE,
    GRPO_OBJECTIVE_EXACT, GRPO_OBJECTIVE_MOVED, GRPO_OBJECTIVE_EXACT_DOWN, GRPO_OBJECTIVE_NONE_UP,
    GRPO_OBJECTIVE_NONE_DOWN, GRPO_OBJECTIVE_STALE, GRPO_OBJECTIVE_STALE_AT_ALL, GRPO_OBJECTIVE_DIFFERS,
    GRPO_OBJECTIVE_NOT_BACK, GRPO_OBJECTIVE_NO_EFFECT, GRPO_OBJECTIVE_BELOW, GRPO_OBJECTIVE_ABOVE, GRPO_OBJECTIVE_KL_CAP,
    GRPO_OBJECTIVE_KL_SCALE, GRPO_OBJECTIVE_UNREAD, GRPO_OBJECTIVE_BOUND, GRPO_OBJECTIVE_DISTANCE,
    GRPO_OBJECTIVE_PERCENT, GRPO_OBJECTIVE_WIDE, GRPO_OBJECTIVE_ONE_ZERO, GRPO_OBJECTIVE_NARROW, GRPO_OBJECTIVE_NEGATIVE,
    GRPO_OBJECTIVE_ARRAY, GRPO_N_OBJECTIVE_RULES } grpo_objective_rule;
typedef struct {
    grpo_objective_rule rule;
    grpo_lint_level level;
    grpo_status status;
    const char *what;
    double value, other;
    int row;
} grpo_objective_finding;
enum { GRPO_LINT_OBJECTIVE_MOST = 256 };
int grpo_lint_objective(const grpo_objective *obj, const grpo_batch *batch, grpo_objective_finding *finding, int room);
int grpo_objective_reads(const grpo_objective *obj, const grpo_field *field);
const char *grpo_objective_finding_message(const grpo_objective_finding *finding, char *buffer, size_t size);
const char *grpo_call_message(const char *function, grpo_status st, char *buffer, size_t size);
typedef struct {
    const double *output, *input, *turns;
    double output_coef, input_coef, turns_coef;
} grpo_cost;
grpo_status grpo_relative_cost_penalty(const grpo_batch *batch, const grpo_cost *cost, float *reward);
grpo_status grpo_diversity_reward(const double *reward, const double *similarity, int64_t n, double eps, double *shaped);
grpo_status grpo_unlikeliness_reward(const grpo_batch *batch, double beta, grpo_dd *scratch, float *reward);
grpo_status grpo_early_exit_reward(const grpo_batch *batch, float *reward);
typedef struct {
    double low, right, every, none;
} grpo_trust_bounds;
grpo_status grpo_trust_reward(const grpo_batch *batch, const double *outcome, const double *thought, double decay, const
    grpo_trust_bounds *bounds, float *reward);
typedef enum { GRPO_TOOLS_PPO, GRPO_TOOLS_GRPO } grpo_tools_form;
grpo_status grpo_tool_efficiency_reward(const grpo_batch *batch, const double *calls, const uint8_t *correct, double
    smooth, double alpha, grpo_tools_form form, float *reward);
grpo_status grpo_entity_reward(const grpo_batch *batch, const double *found, const uint8_t *correct, const uint8_t
    *invalid, double alpha, float *reward);
grpo_status grpo_retention_reward(const grpo_batch *batch, double lambda, double alpha, float *reward);
grpo_status grpo_efficiency_reward(const grpo_batch *batch, const uint8_t *correct, double share, double alpha, float
    *reward, uint8_t *efficient);
grpo_status grpo_consistency_bonus(const grpo_batch *batch, const double *accuracy, double lambda, double cap, double
    margin, float *reward);
grpo_status grpo_gated_reward_sum(const double *rewards, int64_t n, int64_t columns, const double *weight, const int64_t
    *gate, double *reward);
grpo_status grpo_brier_reward(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing, double
    *reward);
typedef enum { GRPO_SHAPE_PARABOLA, GRPO_SHAPE_POLYLINE, GRPO_SHAPE_TRIANGLE } grpo_shape_form;
grpo_status grpo_length_shape_reward(const double *length, int64_t n, grpo_shape_form form, double peak, double max,
    double *reward);
grpo_status grpo_log_exp_reward(const double *reward, int64_t n, double threshold, double upper, double lower, double
    *mapped);
typedef enum { GRPO_TREE_MAX, GRPO_TREE_MEAN, GRPO_TREE_MEAN_BY_DEPTH } grpo_tree_form;
grpo_status grpo_tree_reward(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double gamma,
    grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped);
typedef enum { GRPO_HINT_VARIANCE, GRPO_HINT_INFORMATIVE } grpo_hint_form;
grpo_status grpo_hint_reward(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form form,
    int gate, double *reward_of_hint);
grpo_status grpo_meta_reward(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m,
    int64_t passes, int64_t predicted_length, double *reward);
grpo_status grpo_win_rate_reward(const double *wins, int64_t n, double *reward);
grpo_status grpo_entropy_rank_reward(const double *peak, const double *overall, int64_t n, double top, int64_t *scratch,
    double *reward);
grpo_status grpo_interval_reward(const double *begin, const double *end, int64_t n, double gamma, int sample, double
    *reward);
grpo_status grpo_dense_rewards(const double *reward, int64_t n, double score, double total, double *shaped);
typedef enum { GRPO_INFORMATION_LOG, GRPO_INFORMATION_PROBABILITY } grpo_information_form;
grpo_status grpo_information_gain_reward(const double *logp, int64_t n, grpo_information_form form, double *gain);
grpo_status grpo_shorter_correct_reward(const grpo_batch *batch, double coef, float *reward);
typedef enum { GRPO_PERMUTATION_JUDGE, GRPO_PERMUTATION_VOTES } grpo_permutation_form;
grpo_status grpo_permutation_reward(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form form,
    double *reward);
grpo_status grpo_frequency_reward(const grpo_batch *batch, const int64_t *answer, int64_t size, float *reward);
grpo_status grpo_repetition_penalty(const grpo_batch *batch, const int64_t *token, int64_t size, double penalty, float
    *reward);
grpo_status grpo_correct_length_reward(const grpo_batch *batch, const uint8_t *correct, double alpha, double eps, double
    wrong, float *reward);
grpo_status grpo_pairwise_rewards(const grpo_batch *batch, const int64_t *outcome, const uint8_t *ended, float *reward,
    uint8_t *masked);
grpo_status grpo_min_max_reward(const double *distance, int64_t n, double *reward);
grpo_status grpo_select_top_fraction(const grpo_batch *batch, const float *by, double fraction, uint8_t *selected);
grpo_status grpo_select_top_k(const grpo_batch *batch, const float *by, int64_t count, uint8_t *selected);
grpo_status grpo_select_between(const grpo_batch *batch, const float *by, double low, double high, const uint8_t
    *excluded, const int64_t *order, int64_t count, uint8_t *selected);
typedef enum { GRPO_SECOND_MOMENT_ALL, GRPO_SECOND_MOMENT_DRIFTING } grpo_second_moment_form;
grpo_status grpo_select_second_moment(const grpo_batch *batch, const float *advantage, grpo_second_moment_form form,
    double threshold, uint8_t *selected);
grpo_status grpo_covariance(const grpo_batch *batch, const float *advantage, float *covariance);
grpo_status grpo_reward_range_filter(const grpo_batch *batch, double low, double high, uint8_t *keep);
grpo_status grpo_resampling_weights(const grpo_batch *batch, double power, double eps, double *weight);
grpo_status grpo_resample(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index);
grpo_status grpo_replay_score(const grpo_batch *batch, const float *advantage, double *score);
grpo_status grpo_entropy_clip_batch(const grpo_batch *batch, const float *advantage, double mu, uint8_t *selected);
grpo_status grpo_entropy_clip_vocabulary(const grpo_batch *batch, const float *advantage, const float *expected, double
    mu, double fraction, uint8_t *selected);
grpo_status grpo_balanced_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t
    *index);
typedef struct {
    int64_t width;
    double least, delta, budget;
    double quantile, factor;
} grpo_prefix_gate;
grpo_status grpo_prefix_trust_region(const grpo_batch *batch, const float *advantage, const grpo_prefix_gate *gate,
    double *scratch, uint8_t *selected);
grpo_status grpo_allocate_rollouts(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t *count);
grpo_status grpo_select_value_of_information(const double *draw, int64_t n, int64_t count, int64_t *index);
grpo_status grpo_visit_value(const double *p, const double *diversity, int64_t n, double alpha, double beta, double
    *weight);
grpo_status grpo_max_variance_subset(const double *advantage, int64_t n, int64_t count, int64_t *index);
grpo_status grpo_pad_valid(const grpo_batch *batch, const uint8_t *valid, int64_t *index, int64_t *count);
grpo_status grpo_cluster_probability(const double *rate, const double *probability, const double *success, int64_t n,
    double alpha, double *new_rate, double *new_probability);
grpo_status grpo_explore_weight(const double *value, int64_t n, double least, double *weight);
grpo_status grpo_reward_std_filter(const grpo_batch *batch, double least, uint8_t *keep);
grpo_status grpo_advantage_filter(const double *advantage, int64_t n, double least, int64_t multiple, int positive,
    uint8_t *keep);
grpo_status grpo_select_low_probability(const grpo_batch *batch, double probability, uint8_t *selected);
typedef enum { GRPO_DISTANCE_EDIT, GRPO_DISTANCE_SUFFIX, GRPO_DISTANCE_ROUGE_L } grpo_distance_form;
grpo_status grpo_sequence_distance(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form form,
    int64_t *scratch, double *distance);
typedef struct {
    int64_t other, own;
} grpo_split;
grpo_status grpo_sample_weights(const grpo_batch *batch, const double *difficulty, int by_length, double *weight);
grpo_status grpo_teacher_gate(const grpo_batch *batch, const float *advantage, double strength, double clip, const
    uint8_t *selected, float *weight);
typedef enum { GRPO_DISCREPANCY_PAPER, GRPO_DISCREPANCY_TRL } grpo_discrepancy_form;
grpo_status grpo_prefix_discrepancy_weight(const grpo_batch *batch, double gamma, grpo_discrepancy_form form, float
    *weight);
grpo_status grpo_soft_top_k_weight(const double *x, int64_t n, double target, double temperature, double *weight, double
    *normalised);
grpo_status grpo_probability_weight(const grpo_batch *batch, double strength, float *weight);
grpo_status grpo_conflict_weight(const grpo_batch *batch, const int64_t *token, const int64_t *sign, double inside, float
    *weight);
typedef enum { GRPO_PROMPT_LLM, GRPO_PROMPT_VLM } grpo_prompt_form;
grpo_status grpo_prompt_weight(const grpo_batch *batch, double threshold, double limit, double low, grpo_prompt_form
    form, double *weight);
grpo_status grpo_invariance_weight(const grpo_batch *batch, const int64_t *meta, const uint8_t *anchor, float *weight);
typedef struct {
    int64_t width, refine;
    double low, high;
} grpo_centroids;
grpo_status grpo_centroid_weight(const grpo_batch *batch, const float *advantage, const float *feature, const
    grpo_centroids *how, grpo_dd *scratch, float *weight);
grpo_status grpo_agent_weights(const grpo_batch *batch, const int64_t *agent, float *weight);
grpo_status grpo_centred_weights(const grpo_batch *batch, double k, float *surrogate, float *penalty);
grpo_status grpo_consistency_weights(const double *entropy, int64_t n, double gamma, double centre, double *local, double
    *global);
grpo_status grpo_confidence_factor(const grpo_batch *batch, const uint8_t *correct, double delta, double *factor);
grpo_status grpo_surprisal_weight(const grpo_batch *batch, const float *advantage, double share, double up, double down,
    double target, float *weight);
grpo_status grpo_difficulty_weight(const grpo_batch *batch, const double *accuracy, double temperature, double *weight);
grpo_status grpo_covariance_weight(const grpo_batch *batch, const float *advantage, float *weight);
grpo_status grpo_routed_weight(const grpo_batch *batch, const uint8_t *routed, double beta, float *weight);
grpo_status grpo_entropy_factor(const double *entropy, int64_t n, double alpha, int64_t size, double *factor);
grpo_status grpo_semantic_entropy(const grpo_batch *batch, const int64_t *answer, const double *score, double *entropy);
grpo_status grpo_dynamic_scale(const double *hardness, const double *gap, int64_t n, double bound, double *factor);
grpo_status grpo_length_preference_weight(const grpo_batch *batch, const double *length, double r, double lambda, double
    *weight, double *slope);
const char *grpo_status_name_f64(grpo_status st);
const char *grpo_status_text_f64(grpo_status st);
const char *grpo_status_what_f64(grpo_status st);
const char *grpo_status_other_f64(grpo_status st);
const char *grpo_status_message_f64(grpo_status st, char *buffer, size_t size);
const grpo_preset *grpo_presets_f64(int *count);
grpo_objective grpo_objective_from_preset_f64(const grpo_preset *preset);
grpo_status grpo_objective_named_f64(const char *name, grpo_objective *obj);
const grpo_field *grpo_fields_f64(int *count);
grpo_status grpo_objective_set_f64(grpo_objective *obj, const char *path, double value);
grpo_status grpo_objective_choose_f64(grpo_objective *obj, const char *path, const char *choice);
double grpo_objective_get_f64(const grpo_objective *obj, const grpo_field *field);
grpo_domain grpo_field_domain_f64(const grpo_field *field);
grpo_status grpo_objective_check_f64(const grpo_objective *obj);
typedef struct {
    int64_t n_groups;
    const int64_t *group_begin;
    const int64_t *offset, *length;
    int64_t n_tokens;
    const double *logp;
    const double *logp_old;
    const double *logp_ref;
    const double *logp_rollout;
    const double *logp_teacher;
    const double *entropy;
    const double *value;
    const double *step_reward;
    const uint8_t *step_end;
    const uint8_t *segment_end;
    const uint8_t *mask;
    const uint8_t *selected;
    const uint8_t *kl_mask;
    const uint8_t *nll_mask;
    const uint8_t *marked;
    const uint8_t *shaping_mask;
    const int64_t *state;
    const int64_t *token_id;
    const double *sum_pi_squared;
    const double *reward;
    const double *rewards;
    int64_t n_rewards;
    const double *reward_weight;
    const uint8_t *truncated;
    const uint8_t *excluded;
    const double *baseline;
    const double *log_partition;
    const double *external_weight;
    const double *eps_low, *eps_high;
    const double *divergence_ref, *divergence_old;
} grpo_batch_f64;
typedef struct {
    double *dlogp, *dentropy;
    double *term;
    double *ddivergence_ref;
    double *dlog_partition;
    double *scratch;
    int64_t scratch_size;
} grpo_output_f64;
grpo_status grpo_advantages_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, double *advantage);
grpo_status grpo_loss_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_output_f64 *out, grpo_report *report);
grpo_status grpo_dynamic_sampling_mask_f64(const grpo_batch_f64 *batch, uint8_t *keep);
grpo_status grpo_totals_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    grpo_totals *totals);
grpo_status grpo_totals_merge_f64(grpo_totals *into, const grpo_totals *from);
grpo_status grpo_moments_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, grpo_moments *moments);
grpo_status grpo_moments_merge_f64(grpo_moments *into, const grpo_moments *from);
grpo_status grpo_advantages_with_moments_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const grpo_moments
    *moments, double *advantage);
grpo_status grpo_loss_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_output_f64 *out, grpo_partial *partial);
grpo_status grpo_partial_merge_f64(grpo_partial *into, const grpo_partial *from);
void grpo_partial_report_f64(const grpo_partial *partial, grpo_report *report);
grpo_status gspo_loss_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_output_f64 *out, grpo_report *report);
grpo_status gspo_loss_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_output_f64 *out, grpo_partial *partial);
grpo_status gspo_loss_check_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_output_f64 *out, const grpo_partial *partial);
int64_t gspo_scratch_f64(const grpo_objective *obj, const grpo_batch_f64 *batch);
grpo_dd gspo_log_ratio_f64(const double *logp, const double *logp_old, const uint8_t *mask, int64_t n);
grpo_status grpo_context_check_f64(const grpo_objective *obj);
int grpo_context_rounds_f64(const grpo_objective *obj);
int grpo_context_needs_groups_f64(const grpo_objective *obj);
int grpo_context_needs_moments_f64(const grpo_objective *obj);
grpo_array_use grpo_context_array_use_f64(const grpo_objective *obj, grpo_reader reader, const char *array);
grpo_status grpo_context_measure_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    const grpo_response *whole, grpo_response *part);
void grpo_context_add_f64(grpo_response *into, const grpo_response *from, int64_t n);
void grpo_context_add_sums_f64(grpo_sum *into, const grpo_sum *from, int64_t n);
grpo_status grpo_context_totals_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const grpo_response
    *whole, grpo_totals *totals);
grpo_status grpo_context_loss_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    const grpo_response *whole, const grpo_totals *totals, const grpo_output_f64 *out, int leads, grpo_partial *partial,
    grpo_sum *through);
grpo_status grpo_context_backward_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    const grpo_response *whole, const grpo_sum *through, const grpo_output_f64 *out, grpo_partial *partial);
grpo_status grpo_balanced_clip_bounds_f64(const grpo_batch_f64 *batch, const double *advantage, const grpo_balance
    *balance, grpo_bounds *bounds);
grpo_status grpo_running_baseline_f64(const double *reward, int64_t n, double momentum, double *advantage, double
    *baseline);
grpo_status grpo_regret_temperature_f64(const int64_t *length, const double *score, int64_t n, double *temperature);
grpo_status grpo_adaptive_clip_f64(const grpo_batch_f64 *batch, const double *advantage, const double *standard, const
    grpo_adaptation *how, double *clip_low, double *clip_high, double *shaped);
grpo_status grpo_drift_decay_f64(const grpo_batch_f64 *batch, double half_life, double low, double high, double *decay);
grpo_status grpo_quantile_tracker_f64(const double *quantile, const double *level, int64_t n, double rate, const double
    *observed, int64_t m, double *tracked);
grpo_status grpo_turn_factor_f64(const grpo_batch_f64 *batch, const double *factor, double low, double high, double
    *updated);
grpo_status grpo_hint_level_f64(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t
    max, int64_t *new_level);
grpo_status grpo_standardised_entropy_f64(const grpo_batch_f64 *batch, double quantile, grpo_standard_form form, double
    *standard);
grpo_status grpo_ratio_quantile_f64(const grpo_batch_f64 *batch, double quantile, double least, double *value);
grpo_status grpo_logit_shift_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double beta, double *shift);
grpo_status grpo_multiplier_update_f64(const double *score, const uint8_t *counted, int64_t n, const grpo_constraint
    *constraint, double *multiplier, double *mean);
grpo_status grpo_key_token_advantage_f64(const grpo_batch_f64 *batch, const int64_t *token, const grpo_key_measure
    *measure, grpo_token_place *scratch, int64_t capacity, double *key);
grpo_status grpo_jsd_advantage_f64(const grpo_batch_f64 *batch, double beta, double coef, double *advantage);
grpo_status grpo_distribution_advantage_f64(const grpo_batch_f64 *batch, const double *advantage, const double *tempered,
    const uint8_t *correct, double entropy, double entropy_base, double *shaped);
grpo_status grpo_boltzmann_advantage_f64(const grpo_batch_f64 *batch, double temperature, double *advantage);
grpo_status grpo_likelihood_advantage_f64(const grpo_batch_f64 *batch, double threshold, double temperature, int
    by_length, grpo_dd *scratch, double *advantage);
grpo_status grpo_canon_advantage_f64(const grpo_batch_f64 *batch, const double *metric, const grpo_canon *canon, double
    *advantage);
grpo_status grpo_asymmetric_advantage_f64(const grpo_batch_f64 *batch, double alpha, double mean_reward, double
    *advantage);
grpo_status grpo_sharpening_advantage_f64(const grpo_batch_f64 *batch, const double *advantage, double lambda, double
    kappa, grpo_dd *scratch, double *shaped);
grpo_status grpo_feature_advantage_f64(const grpo_batch_f64 *batch, const grpo_feature *feature, double *shaped);
grpo_status grpo_virtual_reward_advantage_f64(const grpo_batch_f64 *batch, double virtual_reward, int64_t count, double
    eps, double *advantage);
grpo_status grpo_bundle_advantage_f64(const grpo_batch_f64 *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd
    *scratch, double *advantage);
grpo_status grpo_set_advantage_f64(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const
    int64_t *set_begin, int64_t n_sets, double *advantage);
grpo_status grpo_reference_advantage_f64(const double *reward, int64_t n, double reference_reward, double beta, double
    lambda, int with_reference, double *advantage, double *reference);
grpo_status grpo_implicit_advantage_f64(const grpo_batch_f64 *batch, const double *process, double process_coef, double
    outcome_coef, double *advantage);
grpo_status grpo_hardness_advantage_f64(const grpo_batch_f64 *batch, double slope, double offset, double *advantage);
grpo_status grpo_token_advantage_f64(const grpo_batch_f64 *batch, double eps, double limit, int scaled, double
    *advantage);
grpo_status grpo_future_success_advantage_f64(const double *reward, int64_t n, double *advantage);
grpo_status grpo_alignment_advantage_f64(const double *own, const double *other, int64_t n, const grpo_coplayer *how,
    double *credit);
grpo_status grpo_projected_advantage_f64(const double *advantage, int64_t n, const double *basis, int64_t k, double
    alpha, int positive, grpo_dd *scratch, double *shaped);
grpo_status grpo_branch_advantage_f64(const int64_t *parent, const double *reward, const double *logp, int64_t n,
    grpo_branch_form form, double alpha, grpo_branch *scratch, double *advantage);
grpo_status grpo_collapsed_advantage_f64(const grpo_batch_f64 *batch, double eps, double *advantage);
grpo_status grpo_variant_advantage_f64(const double *advantage, const double *difficulty, const double *mean, int64_t n,
    double k, double *weighted);
grpo_status grpo_step_weight_advantage_f64(const double *advantage, const double *weight, int64_t n, double *weighted);
grpo_status grpo_tree_advantage_f64(const int64_t *parent, const double *reward, const double *value, int64_t n, double
    gamma, grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage);
grpo_status grpo_two_anchor_advantage_f64(const grpo_batch_f64 *batch, const double *constraints, const grpo_anchors
    *anchors, double *advantage);
grpo_status grpo_calibration_advantage_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double temperature,
    grpo_dd *scratch, double *advantage);
grpo_status grpo_multi_scale_advantage_f64(const double *reward, int64_t n, double eps, double *advantage);
grpo_status grpo_hard_negative_advantage_f64(const grpo_batch_f64 *batch, const double *utility, double *advantage,
    int64_t *replace);
grpo_status grpo_position_advantage_f64(const double *logp_old, const double *reward, int64_t n, double *advantage);
grpo_status grpo_role_advantage_f64(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double
    *advantage);
grpo_status grpo_median_advantage_f64(const grpo_batch_f64 *batch, double eps, double *advantage, int64_t *pivot);
grpo_status grpo_mix_advantages_f64(const double *x, const double *y, int64_t n, double a, double b, double *mixed);
grpo_status grpo_odds_advantage_f64(const grpo_batch_f64 *batch, const double *informed, const double *plain, const
    double *prior, double evidence_max, double *advantage);
grpo_status grpo_gram_rank_f64(const double *gram, const double *advantage, int64_t n, double share, int64_t least,
    int64_t most, int64_t *rank, double *effective);
grpo_status grpo_value_loss_f64(const grpo_batch_f64 *batch, const double *value, const double *value_old, const double
    *returns, double clip, const grpo_aggregation *aggregation, double *dvalue, grpo_value_report *report);
grpo_status grpo_proximal_logp_f64(const grpo_batch_f64 *batch, int64_t version, const int64_t *behaviour_version,
    grpo_proximal_form form, double *logp_old);
grpo_status grpo_generalised_jsd_f64(const double *student, const double *teacher, int64_t n, double temperature, double
    beta, double *value, double *dstudent);
grpo_status grpo_top_k_gap_f64(const double *student, const double *teacher, int64_t n, int64_t target, double *gap);
typedef struct {
    grpo_logits_type type;
    const void *logits;
    int64_t rows, vocab, stride;
    const int64_t *target;
    const uint8_t *kept;
    double temperature;
    int squares;
} grpo_logits_f64;
grpo_status grpo_logits_row_read_f64(const grpo_logits_f64 *x, int64_t row, grpo_logits_part *part);
grpo_status grpo_logits_part_merge_f64(grpo_logits_part *into, const grpo_logits_part *from, double temperature);
grpo_status grpo_logits_part_row_f64(const grpo_logits_part *part, double temperature, grpo_logits_row *row);
grpo_status grpo_logits_row_gradient_f64(const grpo_logits_f64 *x, int64_t row, const grpo_logits_part *part, double
    dlogp, double dentropy, void *dlogits);
grpo_logits_part grpo_logits_part_empty_f64(void);
void grpo_logits_part_add_f64(grpo_logits_part *part, double z, int is_target, double temperature);
grpo_logits_slopes grpo_logits_part_slopes_f64(const grpo_logits_part *part, double temperature, double dlogp, double
    dentropy);
double grpo_logits_slope_f64(const grpo_logits_slopes *s, double z, int is_target);
typedef struct {
    grpo_logits_f64 logits;
    grpo_logits_part *part;
    double *logp, *entropy;
    void *dlogits;
} grpo_logits_batch_f64;
grpo_status grpo_logits_loss_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_logits_batch_f64 *rows, const grpo_output_f64 *out, grpo_report *report);
grpo_status grpo_logits_loss_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    const grpo_totals *totals, const grpo_logits_batch_f64 *rows, const grpo_output_f64 *out, grpo_partial *partial);
grpo_status grpo_logits_batch_read_f64(const grpo_logits_batch_f64 *rows, const uint8_t *mask, int64_t first, int64_t
    count);
grpo_status grpo_logits_batch_gradient_f64(const grpo_logits_batch_f64 *rows, const uint8_t *mask, const double *dlogp,
    const double *dentropy, int64_t first, int64_t count);
typedef struct {
    grpo_logits_f64 student;
    grpo_logits_type teacher_type;
    int64_t teacher_stride;
    int64_t k;
    double teacher_temperature;
    grpo_distill_kind kind;
    double beta;
    grpo_tail_kind tail;
    double clip;
    double logp_min;
    double divergence_max;
} grpo_distill_f64;
grpo_status grpo_distill_divergence_f64(const grpo_distill_f64 *x, const void *teacher, const int64_t *ids, const uint8_t
    *mask, grpo_distill_part *part, double *divergence);
grpo_status grpo_distill_gradient_f64(const grpo_distill_f64 *x, const void *teacher, const int64_t *ids, const uint8_t
    *mask, const grpo_distill_part *part, const double *weight, int add, void *dlogits);
grpo_status grpo_distill_top_f64(const grpo_logits_f64 *x, const uint8_t *mask, int64_t k, int64_t *ids);
grpo_status grpo_distill_at_f64(const grpo_logits_f64 *x, const uint8_t *mask, const int64_t *ids, int64_t k, double
    *logp);
grpo_status grpo_distill_sort_f64(int64_t rows, int64_t k, int64_t *ids, double *numbers);
grpo_status grpo_distill_pairs_f64(const grpo_batch_f64 *batch, const uint8_t *correct, int64_t *teacher, int64_t
    *student);
grpo_status grpo_frontier_weight_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double strength, double
    *weight);
grpo_status grpo_distill_importance_weight_f64(const grpo_batch_f64 *batch, double clip, double *weight);
grpo_status grpo_flow_schedule_f64(grpo_flow_kind kind, double level, double next_level, double sigma_max, double
    sigma_min, double eta, grpo_flow_step *step);
grpo_status grpo_balance_steps_f64(int64_t n, const double *rate, grpo_balance_kind centre, double *weight);
typedef struct {
    double *logp;
    double *log_ratio;
    double *regulated;
    double *divergence_old;
    double *divergence_ref;
} grpo_gaussian_numbers_f64;
grpo_status grpo_gaussian_steps_f64(int64_t n, const int64_t *begin, const double *sample, const double *mean, const
    double *mean_old, const double *mean_ref, const double *std, const double *kl_std, const grpo_gaussian_numbers_f64
    *out);
typedef struct {
    const double *logp, *log_ratio, *regulated, *divergence_old, *divergence_ref;
} grpo_gaussian_gradients_f64;
grpo_status grpo_gaussian_steps_backward_f64(int64_t n, const int64_t *begin, const double *sample, const double *mean,
    const double *mean_old, const double *mean_ref, const double *std, const double *kl_std, const
    grpo_gaussian_gradients_f64 *by, double *dmean);
grpo_status grpo_denoising_error_f64(int64_t n, const int64_t *begin, const double *prediction, const double *target,
    double *error);
grpo_status grpo_denoising_error_backward_f64(int64_t n, const int64_t *begin, const double *prediction, const double
    *target, const double *derror, double *dprediction);
grpo_status grpo_denoising_preference_f64(int64_t n, const double *error, const double *error_ref, const double *weight,
    double beta, double *loss, double *derror);
grpo_status grpo_diffusion_nft_f64(int64_t n, const int64_t *begin, const double *velocity, const double *velocity_old,
    const double *velocity_ref, const double *noisy, const double *clean, const double *level, const double *advantage,
    const grpo_nft *x, double *share, double *loss, double *dvelocity);
typedef void (*grpo_product_f64)(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const
    double *a, const double *b, int add, double *c);
typedef struct {
    const double *hidden;
    const double *weight;
    int64_t width, vocab;
    const int64_t *target;
    double temperature;
    grpo_product_f64 product;
    void *context;
    int passes;
    int64_t tile_rows;
    double *tile;
    grpo_hidden_row *row;
    double *logp, *entropy;
    double *d_hidden;
    double *d_weight;
} grpo_hidden_f64;
grpo_status grpo_hidden_check_f64(const grpo_objective *obj);
int grpo_hidden_passes_f64(const grpo_objective *obj);
grpo_status grpo_hidden_loss_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, const grpo_hidden_f64 *rows, const grpo_output_f64 *out, grpo_report *report);
grpo_status grpo_hidden_loss_add_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage,
    const grpo_totals *totals, const grpo_hidden_f64 *rows, const grpo_output_f64 *out, grpo_partial *partial);
void grpo_hidden_product_f64(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const
    double *a, const double *b, int add, double *c);
int grpo_version_f64(void);
int64_t grpo_sizeof_f64(const char *structure);
const grpo_layout *grpo_layouts_f64(int *count);
grpo_status grpo_layout_check_f64(const grpo_layout *declared, int64_t n);
grpo_fault grpo_fault_of_f64(grpo_status st, const grpo_objective *obj, const grpo_batch_f64 *batch, const double
    *advantage);
int grpo_lint_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const grpo_totals
    *totals, const grpo_output_f64 *out, grpo_finding *finding, int room);
int grpo_lint_own_moments_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, const double *advantage, const
    grpo_totals *totals, double *alone, grpo_finding *finding);
int grpo_lint_parts_f64(const grpo_totals *totals, const grpo_partial *partial, const grpo_moments *moments, grpo_finding
    *finding, int room);
const char *grpo_fault_message_f64(grpo_status st, const grpo_objective *obj, const grpo_batch_f64 *batch, const double
    *advantage, char *buffer, size_t size);
const char *grpo_logits_fault_message_f64(grpo_status st, const grpo_logits_f64 *logits, const grpo_batch_f64 *batch,
    char *buffer, size_t size);
const char *grpo_finding_message_f64(const grpo_finding *finding, char *buffer, size_t size);
int grpo_lint_objective_f64(const grpo_objective *obj, const grpo_batch_f64 *batch, grpo_objective_finding *finding, int
    room);
int grpo_objective_reads_f64(const grpo_objective *obj, const grpo_field *field);
const char *grpo_objective_finding_message_f64(const grpo_objective_finding *finding, char *buffer, size_t size);
const char *grpo_call_message_f64(const char *function, grpo_status st, char *buffer, size_t size);
grpo_status grpo_relative_cost_penalty_f64(const grpo_batch_f64 *batch, const grpo_cost *cost, double *reward);
grpo_status grpo_diversity_reward_f64(const double *reward, const double *similarity, int64_t n, double eps, double
    *shaped);
grpo_status grpo_unlikeliness_reward_f64(const grpo_batch_f64 *batch, double beta, grpo_dd *scratch, double *reward);
grpo_status grpo_early_exit_reward_f64(const grpo_batch_f64 *batch, double *reward);
grpo_status grpo_trust_reward_f64(const grpo_batch_f64 *batch, const double *outcome, const double *thought, double
    decay, const grpo_trust_bounds *bounds, double *reward);
grpo_status grpo_tool_efficiency_reward_f64(const grpo_batch_f64 *batch, const double *calls, const uint8_t *correct,
    double smooth, double alpha, grpo_tools_form form, double *reward);
grpo_status grpo_entity_reward_f64(const grpo_batch_f64 *batch, const double *found, const uint8_t *correct, const
    uint8_t *invalid, double alpha, double *reward);
grpo_status grpo_retention_reward_f64(const grpo_batch_f64 *batch, double lambda, double alpha, double *reward);
grpo_status grpo_efficiency_reward_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double share, double alpha,
    double *reward, uint8_t *efficient);
grpo_status grpo_consistency_bonus_f64(const grpo_batch_f64 *batch, const double *accuracy, double lambda, double cap,
    double margin, double *reward);
grpo_status grpo_gated_reward_sum_f64(const double *rewards, int64_t n, int64_t columns, const double *weight, const
    int64_t *gate, double *reward);
grpo_status grpo_brier_reward_f64(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing,
    double *reward);
grpo_status grpo_length_shape_reward_f64(const double *length, int64_t n, grpo_shape_form form, double peak, double max,
    double *reward);
grpo_status grpo_log_exp_reward_f64(const double *reward, int64_t n, double threshold, double upper, double lower, double
    *mapped);
grpo_status grpo_tree_reward_f64(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double
    gamma, grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped);
grpo_status grpo_hint_reward_f64(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form
    form, int gate, double *reward_of_hint);
grpo_status grpo_meta_reward_f64(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m,
    int64_t passes, int64_t predicted_length, double *reward);
grpo_status grpo_win_rate_reward_f64(const double *wins, int64_t n, double *reward);
grpo_status grpo_entropy_rank_reward_f64(const double *peak, const double *overall, int64_t n, double top, int64_t
    *scratch, double *reward);
grpo_status grpo_interval_reward_f64(const double *begin, const double *end, int64_t n, double gamma, int sample, double
    *reward);
grpo_status grpo_dense_rewards_f64(const double *reward, int64_t n, double score, double total, double *shaped);
grpo_status grpo_information_gain_reward_f64(const double *logp, int64_t n, grpo_information_form form, double *gain);
grpo_status grpo_shorter_correct_reward_f64(const grpo_batch_f64 *batch, double coef, double *reward);
grpo_status grpo_permutation_reward_f64(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form
    form, double *reward);
grpo_status grpo_frequency_reward_f64(const grpo_batch_f64 *batch, const int64_t *answer, int64_t size, double *reward);
grpo_status grpo_repetition_penalty_f64(const grpo_batch_f64 *batch, const int64_t *token, int64_t size, double penalty,
    double *reward);
grpo_status grpo_correct_length_reward_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double alpha, double eps,
    double wrong, double *reward);
grpo_status grpo_pairwise_rewards_f64(const grpo_batch_f64 *batch, const int64_t *outcome, const uint8_t *ended, double
    *reward, uint8_t *masked);
grpo_status grpo_min_max_reward_f64(const double *distance, int64_t n, double *reward);
grpo_status grpo_select_top_fraction_f64(const grpo_batch_f64 *batch, const double *by, double fraction, uint8_t
    *selected);
grpo_status grpo_select_top_k_f64(const grpo_batch_f64 *batch, const double *by, int64_t count, uint8_t *selected);
grpo_status grpo_select_between_f64(const grpo_batch_f64 *batch, const double *by, double low, double high, const uint8_t
    *excluded, const int64_t *order, int64_t count, uint8_t *selected);
grpo_status grpo_select_second_moment_f64(const grpo_batch_f64 *batch, const double *advantage, grpo_second_moment_form
    form, double threshold, uint8_t *selected);
grpo_status grpo_covariance_f64(const grpo_batch_f64 *batch, const double *advantage, double *covariance);
grpo_status grpo_reward_range_filter_f64(const grpo_batch_f64 *batch, double low, double high, uint8_t *keep);
grpo_status grpo_resampling_weights_f64(const grpo_batch_f64 *batch, double power, double eps, double *weight);
grpo_status grpo_resample_f64(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index);
grpo_status grpo_replay_score_f64(const grpo_batch_f64 *batch, const double *advantage, double *score);
grpo_status grpo_entropy_clip_batch_f64(const grpo_batch_f64 *batch, const double *advantage, double mu, uint8_t
    *selected);
grpo_status grpo_entropy_clip_vocabulary_f64(const grpo_batch_f64 *batch, const double *advantage, const double
    *expected, double mu, double fraction, uint8_t *selected);
grpo_status grpo_balanced_subset_f64(const double *reward, int64_t n, int64_t count, double low, double high, int64_t
    *index);
grpo_status grpo_prefix_trust_region_f64(const grpo_batch_f64 *batch, const double *advantage, const grpo_prefix_gate
    *gate, double *scratch, uint8_t *selected);
grpo_status grpo_allocate_rollouts_f64(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t
    *count);
grpo_status grpo_select_value_of_information_f64(const double *draw, int64_t n, int64_t count, int64_t *index);
grpo_status grpo_visit_value_f64(const double *p, const double *diversity, int64_t n, double alpha, double beta, double
    *weight);
grpo_status grpo_max_variance_subset_f64(const double *advantage, int64_t n, int64_t count, int64_t *index);
grpo_status grpo_pad_valid_f64(const grpo_batch_f64 *batch, const uint8_t *valid, int64_t *index, int64_t *count);
grpo_status grpo_cluster_probability_f64(const double *rate, const double *probability, const double *success, int64_t n,
    double alpha, double *new_rate, double *new_probability);
grpo_status grpo_explore_weight_f64(const double *value, int64_t n, double least, double *weight);
grpo_status grpo_reward_std_filter_f64(const grpo_batch_f64 *batch, double least, uint8_t *keep);
grpo_status grpo_advantage_filter_f64(const double *advantage, int64_t n, double least, int64_t multiple, int positive,
    uint8_t *keep);
grpo_status grpo_select_low_probability_f64(const grpo_batch_f64 *batch, double probability, uint8_t *selected);
grpo_status grpo_sequence_distance_f64(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form
    form, int64_t *scratch, double *distance);
grpo_status grpo_sample_weights_f64(const grpo_batch_f64 *batch, const double *difficulty, int by_length, double
    *weight);
grpo_status grpo_teacher_gate_f64(const grpo_batch_f64 *batch, const double *advantage, double strength, double clip,
    const uint8_t *selected, double *weight);
grpo_status grpo_prefix_discrepancy_weight_f64(const grpo_batch_f64 *batch, double gamma, grpo_discrepancy_form form,
    double *weight);
grpo_status grpo_soft_top_k_weight_f64(const double *x, int64_t n, double target, double temperature, double *weight,
    double *normalised);
grpo_status grpo_probability_weight_f64(const grpo_batch_f64 *batch, double strength, double *weight);
grpo_status grpo_conflict_weight_f64(const grpo_batch_f64 *batch, const int64_t *token, const int64_t *sign, double
    inside, double *weight);
grpo_status grpo_prompt_weight_f64(const grpo_batch_f64 *batch, double threshold, double limit, double low,
    grpo_prompt_form form, double *weight);
grpo_status grpo_invariance_weight_f64(const grpo_batch_f64 *batch, const int64_t *meta, const uint8_t *anchor, double
    *weight);
grpo_status grpo_centroid_weight_f64(const grpo_batch_f64 *batch, const double *advantage, const double *feature, const
    grpo_centroids *how, grpo_dd *scratch, double *weight);
grpo_status grpo_agent_weights_f64(const grpo_batch_f64 *batch, const int64_t *agent, double *weight);
grpo_status grpo_centred_weights_f64(const grpo_batch_f64 *batch, double k, double *surrogate, double *penalty);
grpo_status grpo_consistency_weights_f64(const double *entropy, int64_t n, double gamma, double centre, double *local,
    double *global);
grpo_status grpo_confidence_factor_f64(const grpo_batch_f64 *batch, const uint8_t *correct, double delta, double
    *factor);
grpo_status grpo_surprisal_weight_f64(const grpo_batch_f64 *batch, const double *advantage, double share, double up,
    double down, double target, double *weight);
grpo_status grpo_difficulty_weight_f64(const grpo_batch_f64 *batch, const double *accuracy, double temperature, double
    *weight);
grpo_status grpo_covariance_weight_f64(const grpo_batch_f64 *batch, const double *advantage, double *weight);
grpo_status grpo_routed_weight_f64(const grpo_batch_f64 *batch, const uint8_t *routed, double beta, double *weight);
grpo_status grpo_entropy_factor_f64(const double *entropy, int64_t n, double alpha, int64_t size, double *factor);
grpo_status grpo_semantic_entropy_f64(const grpo_batch_f64 *batch, const int64_t *answer, const double *score, double
    *entropy);
grpo_status grpo_dynamic_scale_f64(const double *hardness, const double *gap, int64_t n, double bound, double *factor);
grpo_status grpo_length_preference_weight_f64(const grpo_batch_f64 *batch, const double *length, double r, double lambda,
    double *weight, double *slope);
