#!/usr/bin/env python3
"""Writes names.tsv (kind, old, new, reason). The list below is the only place where names are decided."""
import os
N = []
def add(kind, reason, *pairs):
    for old, new in pairs:
        N.append((kind, old, new, reason))

# ---- fields: axis.old -> axis.new; the prefix of the enum's constants and its type go with them (kinds const, type)
add("field", "TRL importance_sampling_level", ("ratio.unit", "ratio.level"))
add("field", "whose log-probabilities the ratio is over", ("ratio.against", "ratio.behaviour"))
add("field", "ART averages of two levels", ("ratio.mix", "ratio.interpolate"), ("ratio.mix_token", "ratio.interpolate_token"),
    ("ratio.mix_unit", "ratio.interpolate_level"))
add("field", "GMPO clips the tokens' log-ratios before it pools them", ("ratio.pool_low", "ratio.token_clip_low"), ("ratio.pool_high", "ratio.token_clip_high"))
add("field", "on the log-ratio of the level", ("ratio.unit_clamp_low", "ratio.level_clamp_low"), ("ratio.unit_clamp_high", "ratio.level_clamp_high"))
add("field", "the field's word", ("surrogate.score", "surrogate.group_score"))
add("field", "with group_score", ("surrogate.score_eps", "surrogate.group_score_eps"))
add("field", "verl clip_ratio_c, TRL delta: the bound of the ratio where A < 0, 0: none", ("surrogate.dual", "surrogate.clip_dual"))
add("field", "the same where A > 0, on 1/w (ASPO)", ("surrogate.dual_pos", "surrogate.clip_dual_pos"))
add("field", "CTPO's dual bound in the logarithm", ("surrogate.log_dual", "surrogate.log_clip_dual"))
add("field", "factor of the log-ratio or score (DPO, Kimi, GVPO, GIFT); of balance it is split off", ("surrogate.strength", "surrogate.beta"))
add("field", "GPPO's beta_1, beta_2; beta is another number", ("surrogate.beta_low", "surrogate.gppo_beta_low"), ("surrogate.beta_high", "surrogate.gppo_beta_high"))
add("field", "LUFFY f(x) = x/(x + gamma); gamma alone is the discount", ("surrogate.shape", "surrogate.shaping_gamma"))
add("field", "the field's word", ("surrogate.margin", "surrogate.min_gap"))
add("field", "split: offset of logistic; of hinge: hinge_margin", ("surrogate.shift", "surrogate.logit_shift"))
add("field", "the field's word", ("surrogate.k_pos", "surrogate.vespo_k_pos"), ("surrogate.lambda_pos", "surrogate.vespo_lambda_pos"),
    ("surrogate.k_neg", "surrogate.vespo_k_neg"), ("surrogate.lambda_neg", "surrogate.vespo_lambda_neg"))
add("field", "DRPO: rate of the weight by length", ("surrogate.length_rate", "surrogate.length_decay"))
add("field", "second normalisation over the batch (REINFORCE++, Magistral, GDPO)", ("advantage.second", "advantage.batch_norm"),
    ("advantage.second_eps", "advantage.batch_norm_eps"))
add("field", "better than the plan's group_weight: two of six are by response (GRPO-LEAD, REC: advantage reweighting)", ("advantage.gain", "advantage.reweight"))
add("field", "of reweight difficulty (GRPO-LEAD); split from the range of rewards of focal", ("advantage.gain_low", "advantage.difficulty_weight_low"),
    ("advantage.gain_high", "advantage.difficulty_weight_high"), ("advantage.gain_slope", "advantage.difficulty_slope"), ("advantage.gain_centre", "advantage.difficulty_midpoint"))
add("field", "of reweight exponential (REC)", ("advantage.gain_temperature", "advantage.reweight_temperature"))
add("field", "F-GRPO: focal exponent", ("advantage.gain_power", "advantage.focal_gamma"))
add("field", "AsymRE; surrogate has another shift", ("advantage.shift", "advantage.baseline_shift"))
add("field", "GAPO: highest-density interval, its share of the group", ("advantage.window", "advantage.hdi_mass"))
add("field", "GTPO", ("advantage.share_coef", "advantage.entropy_share_coef"), ("advantage.share_eps", "advantage.entropy_share_eps"))
add("field", "kappa of 2506.14758; split from the threshold of entropy response: entropy_max", ("advantage.entropy_cap", "advantage.entropy_kappa"))
add("field", "stutter; ratio says clamp too", ("advantage.advantage_low", "advantage.clamp_low"), ("advantage.advantage_high", "advantage.clamp_high"))
add("field", "plain English: not in the group's statistics", ("advantage.outside", "advantage.excluded"), ("advantage.outside_coef", "advantage.excluded_coef"))
add("field", "HGPO", ("advantage.history", "advantage.history_length"))
add("field", "the policy that the KL is measured to", ("penalty.kl_against", "penalty.kl_reference"))
add("field", "the field's word", ("penalty.kl_ratio", "penalty.kl_importance_weight"), ("penalty.kl_ratio_max", "penalty.kl_importance_weight_max"))
add("field", "auxiliary NLL / SFT loss", ("penalty.likelihood_on", "penalty.nll_on"), ("penalty.likelihood_weight", "penalty.nll_weight"),
    ("penalty.likelihood_form", "penalty.nll_form"), ("penalty.likelihood_gate", "penalty.nll_gate"), ("penalty.likelihood_coef", "penalty.nll_coef"))
add("field", "SDAR: slope of the teacher's gate", ("penalty.likelihood_gain", "penalty.nll_teacher_slope"))
add("field", "Bradley-Terry, DPO beta", ("penalty.pairs", "penalty.preference"), ("penalty.pair_score", "penalty.preference_score"),
    ("penalty.pair_beta", "penalty.preference_beta"), ("penalty.pair_coef", "penalty.preference_coef"))
add("field", "as surrogate.min_gap", ("penalty.pair_margin", "penalty.preference_min_gap"))
add("field", "TRPA's kappa", ("penalty.pair_gain", "penalty.preference_kappa"))
add("field", "verl rollout_is", ("weight.correction", "weight.rollout_is"), ("weight.correction_unit", "weight.rollout_is_level"),
    ("weight.correction_low", "weight.rollout_is_low"), ("weight.correction_high", "weight.rollout_is_high"), ("weight.correction_norm", "weight.rollout_is_norm"))
add("field", "clamps the log-ratio to the rollout, for rollout_is and rollout_rs alike", ("weight.correction_clamp", "weight.rollout_clamp"))
add("field", "verl rollout_rs", ("weight.reject", "weight.rollout_rs"), ("weight.reject_unit", "weight.rollout_rs_level"),
    ("weight.reject_low", "weight.rollout_rs_low"), ("weight.reject_high", "weight.rollout_rs_high"))
add("field", "verl rollout_token_veto_threshold", ("weight.veto", "weight.rollout_veto"))
add("field", "of rollout_is, rollout_rs and rollout_veto", ("weight.rejected", "weight.rollout_rejected"))
add("field", "the field's word (detached ratio of the policy)", ("weight.drift", "weight.policy_is"), ("weight.drift_low", "weight.policy_is_low"), ("weight.drift_high", "weight.policy_is_high"))
add("field", "FIPO", ("weight.future", "weight.fipo"), ("weight.future_half_life", "weight.fipo_half_life"), ("weight.future_max", "weight.fipo_ratio_max"),
    ("weight.future_low", "weight.fipo_low"), ("weight.future_high", "weight.fipo_high"), ("weight.future_safe", "weight.fipo_safe_ratio"),
    ("weight.future_safe_low", "weight.fipo_safe_low"), ("weight.future_safe_high", "weight.fipo_safe_high"))
add("field", "REC-Ring's outer bounds", ("weight.ring_low", "weight.rec_outer_low"), ("weight.ring_high", "weight.rec_outer_high"))
add("field", "TRL off_policy_mask_threshold, slime opsm", ("weight.off_policy", "weight.off_policy_mask"), ("weight.off_policy_max", "weight.off_policy_mask_threshold"))
add("field", "the field's word", ("weight.given", "weight.external"))
add("field", "the field's word", ("aggregation.empty", "aggregation.empty_sequences"))

# ---- splits by kind (handled by split rules of rename.py)
add("split", "FlowRL's beta is on the reward", ("surrogate.strength", "surrogate.reward_beta: kind trajectory_balance; surrogate.beta: all others"))
add("split", "CFPO's curvature is no clip", ("surrogate.eps_high", "surrogate.quadratic_eps: kind quadratic; surrogate.eps_high: all others"))
add("split", "the field's word", ("surrogate.shift", "surrogate.hinge_margin: kind pairwise_hinge; surrogate.logit_shift: kind logistic"))
add("split", "temperature of a softmax of advantages, not of scores by sign", ("surrogate.tau_pos",
    "surrogate.advantage_temperature: kinds softmax_cross_entropy, pairwise_soft, softmax_mse, softmax_js, tilted_cross_entropy; surrogate.tau_pos: sapo, sapo_detached, logistic_lse"))
add("split", "the divisor is no epsilon", ("advantage.eps", "advantage.scale_divisor: scale constant; advantage.eps: all others"))
add("split", "range of rewards", ("advantage.gain_low", "advantage.focal_reward_low: reweight focal; advantage.difficulty_weight_low: difficulty"),
    ("advantage.gain_high", "advantage.focal_reward_high: reweight focal; advantage.difficulty_weight_high: difficulty"))
add("split", "threshold", ("advantage.entropy_cap", "advantage.entropy_max: entropy response; advantage.entropy_kappa: entropy bonus"))
add("split", "per token, per step", ("advantage.gamma", "advantage.step_gamma: step_value return, and step_discount steps; advantage.gamma: credits return, gae, step_gae and step (discount by tokens)"))
add("split", "one array per reader", ("batch.selected", "batch.selected: weight.selected; batch.kl_mask: penalty.kl_on; batch.nll_mask: penalty.nll_on; batch.marked: advantage.marked; batch.shaping_mask: policy_shaping"))
add("split", "one array per meaning", ("batch.state", "batch.token_id: credit prefix_tree; batch.state: step_group"))
add("split", "one array per meaning", ("batch.step_end", "batch.segment_end: levels of segments, nll_gate segment, seq_mean_segment_mean; batch.step_end: step credits"))

# ---- choices: axis.field.old -> new (old field names)
add("choice", "the field's word", ("ratio.against.nothing", "none"))
add("choice", "through all tokens of the level", ("ratio.gradient.unit", "full"))
add("choice", "of the two ratios; ART average, geometric_average", ("ratio.mix.average", "arithmetic"), ("ratio.mix.weighted", "geometric"))
K = "surrogate.kind."
add("choice", "the field's word", (K + "score", "reinforce"), (K + "band", "masked_weight"), (K + "shaped", "policy_shaping"), (K + "labels", "logistic_lse"), (K + "balance", "trajectory_balance"))
add("choice", "RankNet / Bradley-Terry over pairs", (K + "pairs", "pairwise_logistic"), (K + "soft_pairs", "pairwise_soft"), (K + "hinge", "pairwise_hinge"))
add("choice", "cross-entropy of two softmaxes (ListNet)", (K + "contrast", "softmax_cross_entropy"))
add("choice", "TPO: to the old softmax tilted by the advantages", (K + "target", "tilted_cross_entropy"))
add("choice", "DMPO: distance of two softmaxes", (K + "match", "softmax_mse"), (K + "match_js", "softmax_js"))
add("choice", "DisCO: discriminative", (K + "contrast_mean", "discriminative_mean"), (K + "contrast_lse", "discriminative_lse"))
add("choice", "consistent with weight.external", ("surrogate.bounds.given", "external"), ("advantage.baseline.given", "external"))
add("choice", "GAPO: median of the highest-density interval", ("advantage.baseline.densest", "hdi_median"))
add("choice", "DGPO", ("advantage.scale.mean_deviation", "mean_absolute_deviation"))
add("choice", "F-GRPO: focal weight", ("advantage.gain.failure_power", "focal"))
add("choice", "over items, over tokens", ("advantage.second.batch", "items"))
add("choice", "the field's word", ("penalty.kl_gradient.own", "exact"), ("penalty.kl_gradient.k2", "straight_through_k2"), ("penalty.kl_gradient.none", "detached"))
add("choice", "as ratio.level; the score function", ("penalty.kl_ratio.unit", "level"), ("penalty.kl_ratio.score", "score_function"))
add("choice", "CHORD p (1 - p); LLDS likelihood displacement", ("penalty.likelihood_weight.p_not_p", "p_one_minus_p"), ("penalty.likelihood_form.lost", "displacement"))
add("choice", "TRPA: pairwise, else pointwise; TRL reference_free", ("penalty.pairs.margin", "pairwise"), ("penalty.pairs.margin_else_sign", "pairwise_else_pointwise"),
    ("penalty.pair_score.free", "reference_free"))
add("choice", "the field's word", ("aggregation.empty.count", "keep"), ("aggregation.empty.skip", "drop"))
add("choice", "TRL dapo_zv, frac_reward_zero_std", ("aggregation.kind.token_mean_varied", "token_mean_nonzero_std"))

# ---- enum constants by prefix (old prefix* -> new prefix*), exact constants first
add("const", "the tables of choices", *[(f"GRPO_{o}_CHOICES", f"GRPO_{n}_CHOICES") for o, n in (("SECOND", "BATCH_NORM"), ("MIX", "INTERPOLATE"), ("SCORE", "GROUP_SCORE"),
    ("KL_RATIO", "KL_IMPORTANCE_WEIGHT"), ("PAIRS", "PREFERENCE"), ("PAIR_SCORE", "PREFERENCE_SCORE"), ("CORRECTION", "ROLLOUT_IS"), ("CORRECTION_UNIT", "ROLLOUT_IS_LEVEL"),
    ("REJECT", "ROLLOUT_RS"), ("REJECT_UNIT", "ROLLOUT_RS_LEVEL"), ("EMPTY", "EMPTY_SEQUENCES"))])
add("const", "of the choices above",
    ("GRPO_CUT_", "GRPO_REWARD_TRUNCATED_*"), ("GRPO_TRUNCATED_", "GRPO_WEIGHT_TRUNCATED_*"), ("GRPO_OUTSIDE_", "GRPO_EXCLUDED_*"),
    ("GRPO_GAIN_FAILURE_POWER", "GRPO_REWEIGHT_FOCAL"), ("GRPO_GAIN_", "GRPO_REWEIGHT_*"),
    ("GRPO_SECOND_NONE", "GRPO_BATCH_NORM_NONE"), ("GRPO_SECOND_BATCH", "GRPO_BATCH_NORM_ITEMS"), ("GRPO_SECOND_TOKENS", "GRPO_BATCH_NORM_TOKENS"),
    ("GRPO_AGAINST_NOTHING", "GRPO_BEHAVIOUR_NONE"), ("GRPO_AGAINST_", "GRPO_BEHAVIOUR_*"), ("GRPO_KL_AGAINST_", "GRPO_KL_REFERENCE_*"),
    ("GRPO_UNIT_", "GRPO_LEVEL_*"), ("GRPO_GRADIENT_UNIT", "GRPO_GRADIENT_FULL"),
    ("GRPO_MIX_NONE", "GRPO_INTERPOLATE_NONE"), ("GRPO_MIX_AVERAGE", "GRPO_INTERPOLATE_ARITHMETIC"), ("GRPO_MIX_WEIGHTED", "GRPO_INTERPOLATE_GEOMETRIC"),
    ("GRPO_SURROGATE_SCORE", "GRPO_SURROGATE_REINFORCE"), ("GRPO_SURROGATE_BAND", "GRPO_SURROGATE_MASKED_WEIGHT"),
    ("GRPO_SURROGATE_SHAPED", "GRPO_SURROGATE_POLICY_SHAPING"), ("GRPO_SURROGATE_LABELS", "GRPO_SURROGATE_LOGISTIC_LSE"),
    ("GRPO_SURROGATE_BALANCE", "GRPO_SURROGATE_TRAJECTORY_BALANCE"), ("GRPO_SURROGATE_PAIRS", "GRPO_SURROGATE_PAIRWISE_LOGISTIC"),
    ("GRPO_SURROGATE_SOFT_PAIRS", "GRPO_SURROGATE_PAIRWISE_SOFT"), ("GRPO_SURROGATE_HINGE", "GRPO_SURROGATE_PAIRWISE_HINGE"),
    ("GRPO_SURROGATE_CONTRAST_MEAN", "GRPO_SURROGATE_DISCRIMINATIVE_MEAN"), ("GRPO_SURROGATE_CONTRAST_LSE", "GRPO_SURROGATE_DISCRIMINATIVE_LSE"),
    ("GRPO_SURROGATE_CONTRAST", "GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY"), ("GRPO_SURROGATE_TARGET", "GRPO_SURROGATE_TILTED_CROSS_ENTROPY"),
    ("GRPO_SURROGATE_MATCH_JS", "GRPO_SURROGATE_SOFTMAX_JS"), ("GRPO_SURROGATE_MATCH", "GRPO_SURROGATE_SOFTMAX_MSE"),
    ("GRPO_SCORE_LOG", "GRPO_GROUP_SCORE_LOG"), ("GRPO_SCORE_RATIO", "GRPO_GROUP_SCORE_RATIO"),
    ("GRPO_BOUNDS_GIVEN", "GRPO_BOUNDS_EXTERNAL"), ("GRPO_BASELINE_GIVEN", "GRPO_BASELINE_EXTERNAL"), ("GRPO_BASELINE_DENSEST", "GRPO_BASELINE_HDI_MEDIAN"),
    ("GRPO_SCALE_MEAN_DEVIATION", "GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION"),
    ("GRPO_KL_GRADIENT_OWN", "GRPO_KL_GRADIENT_EXACT"), ("GRPO_KL_GRADIENT_K2", "GRPO_KL_GRADIENT_STRAIGHT_THROUGH_K2"), ("GRPO_KL_GRADIENT_NONE", "GRPO_KL_GRADIENT_DETACHED"),
    ("GRPO_KL_RATIO_NONE", "GRPO_KL_IMPORTANCE_WEIGHT_NONE"), ("GRPO_KL_RATIO_TOKEN", "GRPO_KL_IMPORTANCE_WEIGHT_TOKEN"),
    ("GRPO_KL_RATIO_UNIT", "GRPO_KL_IMPORTANCE_WEIGHT_LEVEL"), ("GRPO_KL_RATIO_SCORE", "GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION"),
    ("GRPO_LIKELIHOOD_FORM_LOST", "GRPO_NLL_FORM_DISPLACEMENT"), ("GRPO_LIKELIHOOD_WEIGHT_P_NOT_P", "GRPO_NLL_WEIGHT_P_ONE_MINUS_P"), ("GRPO_LIKELIHOOD_", "GRPO_NLL_*"),
    ("GRPO_PAIRS_NONE", "GRPO_PREFERENCE_NONE"), ("GRPO_PAIRS_MARGIN_ELSE_SIGN", "GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE"), ("GRPO_PAIRS_MARGIN", "GRPO_PREFERENCE_PAIRWISE"),
    ("GRPO_PAIR_SCORE_REF", "GRPO_PREFERENCE_SCORE_REF"), ("GRPO_PAIR_SCORE_FREE", "GRPO_PREFERENCE_SCORE_REFERENCE_FREE"),
    ("GRPO_CORRECTION_NONE", "GRPO_ROLLOUT_IS_NONE"), ("GRPO_CORRECTION_TRUNCATE", "GRPO_ROLLOUT_IS_TRUNCATE"), ("GRPO_CORRECTION_MASK", "GRPO_ROLLOUT_IS_MASK"),
    ("GRPO_CORRECTION_REJECT", "GRPO_ROLLOUT_IS_REJECT"), ("GRPO_CORRECTION_NORM_", "GRPO_ROLLOUT_IS_NORM_*"), ("GRPO_CORRECTION_", "GRPO_ROLLOUT_IS_LEVEL_*"),
    ("GRPO_REJECTED_", "GRPO_ROLLOUT_REJECTED_*"),
    ("GRPO_REJECT_NONE", "GRPO_ROLLOUT_RS_NONE"), ("GRPO_REJECT_RATIO", "GRPO_ROLLOUT_RS_RATIO"), ("GRPO_REJECT_K2", "GRPO_ROLLOUT_RS_K2"), ("GRPO_REJECT_K3", "GRPO_ROLLOUT_RS_K3"),
    ("GRPO_REJECT_PROBABILITY", "GRPO_ROLLOUT_RS_PROBABILITY"), ("GRPO_REJECT_EXP_ABS", "GRPO_ROLLOUT_RS_EXP_ABS"), ("GRPO_REJECT_", "GRPO_ROLLOUT_RS_LEVEL_*"),
    ("GRPO_DRIFT_", "GRPO_POLICY_IS_*"), ("GRPO_FUTURE_", "GRPO_FIPO_*"), ("GRPO_GIVEN_", "GRPO_EXTERNAL_*"), ("GRPO_OFF_POLICY_", "GRPO_OFF_POLICY_MASK_*"),
    ("GRPO_EMPTY_COUNT", "GRPO_EMPTY_SEQUENCES_KEEP"), ("GRPO_EMPTY_SKIP", "GRPO_EMPTY_SEQUENCES_DROP"),
    ("GRPO_ROW_REAL", "GRPO_LOGITS_REAL"), ("GRPO_ROW_BFLOAT16", "GRPO_LOGITS_BFLOAT16"), ("GRPO_ROW_FLOAT16", "GRPO_LOGITS_FLOAT16"), ("GRPO_ROW_FN", "GRPO_LOGITS_FN"))
AGG = "TOKEN_SUM TOKEN_MEAN SEQ_MEAN_TOKEN_MEAN SEQ_MEAN_TOKEN_SUM SEQ_MEAN_CONSTANT CONSTANT GROUP_MEAN_TOKEN_MEAN SEQ_MEAN_LENGTH_POWER SEQ_SUM_TOKEN_MEAN GROUP_MEAN GROUP_MEAN_SEQ_MEAN TOKEN_MEAN_BY_SIGN SEQ_MEAN_SEGMENT_MEAN SEQ_MEAN_BY_SIGN".split()
add("const", "say the axis", *[("GRPO_" + a, "GRPO_AGGREGATION_" + a) for a in AGG], ("GRPO_TOKEN_MEAN_VARIED", "GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD"))

add("type", "of the fields above", ("grpo_cut_kind", "grpo_reward_truncated_kind"), ("grpo_truncated_kind", "grpo_weight_truncated_kind"),
    ("grpo_outside_kind", "grpo_excluded_kind"), ("grpo_gain_kind", "grpo_reweight_kind"), ("grpo_second_kind", "grpo_batch_norm_kind"),
    ("grpo_against_kind", "grpo_behaviour_kind"), ("grpo_kl_against_kind", "grpo_kl_reference_kind"), ("grpo_unit_kind", "grpo_level_kind"),
    ("grpo_mix_kind", "grpo_interpolate_kind"), ("grpo_score_kind", "grpo_group_score_kind"), ("grpo_kl_ratio_kind", "grpo_kl_importance_weight_kind"),
    ("grpo_likelihood_kind", "grpo_nll_kind"), ("grpo_likelihood_weight_kind", "grpo_nll_weight_kind"), ("grpo_likelihood_form_kind", "grpo_nll_form_kind"),
    ("grpo_likelihood_gate_kind", "grpo_nll_gate_kind"), ("grpo_pairs_kind", "grpo_preference_kind"), ("grpo_pair_score_kind", "grpo_preference_score_kind"),
    ("grpo_correction_kind", "grpo_rollout_is_kind"), ("grpo_correction_unit", "grpo_rollout_is_level_kind"), ("grpo_correction_norm", "grpo_rollout_is_norm_kind"),
    ("grpo_reject_kind", "grpo_rollout_rs_kind"), ("grpo_reject_unit", "grpo_rollout_rs_level_kind"), ("grpo_rejected_kind", "grpo_rollout_rejected_kind"),
    ("grpo_drift_kind", "grpo_policy_is_kind"), ("grpo_future_kind", "grpo_fipo_kind"), ("grpo_given_kind", "grpo_external_kind"),
    ("grpo_off_policy_kind", "grpo_off_policy_mask_kind"), ("grpo_empty_kind", "grpo_empty_sequences_kind"), ("grpo_eps_place", "grpo_eps_place_kind"))
add("type", "a row is a row of logits, a preset a preset", ("grpo_row", "grpo_logits_row"), ("grpo_rows", "grpo_logits_batch"), ("grpo_row_part", "grpo_logits_part"),
    ("grpo_row_type", "grpo_logits_type"), ("grpo_row_slopes", "grpo_logits_slopes"))
add("type", "the weight of rollout_is", ("grpo_corrected", "grpo_rollout_is_weight"))

# ---- functions of the core
add("function", "the field's word", ("grpo_informative", "grpo_dynamic_sampling_mask"))
add("function", "what it takes, what it adds to", ("grpo_advantages_with", "grpo_advantages_with_moments"), ("grpo_count", "grpo_totals_add"),
    ("grpo_report_of", "grpo_partial_report"), ("grpo_objective_of", "grpo_objective_from_preset"))
add("function", "rows of logits", ("grpo_row_read", "grpo_logits_row_read"), ("grpo_row_merge", "grpo_logits_part_merge"), ("grpo_row_of", "grpo_logits_part_row"),
    ("grpo_row_gradient", "grpo_logits_row_gradient"), ("grpo_row_nothing", "grpo_logits_part_empty"), ("grpo_row_take", "grpo_logits_part_add"),
    ("grpo_row_slopes_of", "grpo_logits_part_slopes"), ("grpo_row_slope", "grpo_logits_slope"), ("grpo_rows_read", "grpo_logits_batch_read"), ("grpo_rows_gradient", "grpo_logits_batch_gradient"))
add("function", "of the choices above", ("grpo_score", "grpo_reinforce"), ("grpo_band", "grpo_masked_weight"), ("grpo_shaped", "grpo_policy_shaping"),
    ("grpo_likelihood", "grpo_nll"), ("grpo_likelihood_weight", "grpo_nll_weight"), ("grpo_trusts", "grpo_in_trust_region"),
    ("grpo_reject_statistic", "grpo_rollout_rs_statistic"), ("grpo_accepts", "grpo_rollout_rs_accepts"), ("grpo_correct", "grpo_rollout_is"),
    ("grpo_drift", "grpo_policy_is"), ("grpo_future_decay", "grpo_fipo_decay"), ("grpo_future_weight", "grpo_fipo_weight"),
    ("grpo_exponential_gain", "grpo_exponential_reweight"), ("grpo_failure_power", "grpo_focal_weight"), ("grpo_teacher_shared", "grpo_teacher_weighted"),
    ("grpo_leaky", "grpo_gradient_preserving_clip"), ("grpo_kl", "grpo_kl_estimate"), ("grpo_energy", "grpo_logit_gradient_energy"),
    ("grpo_kimi_length", "grpo_kimi_length_reward"), ("grpo_cosine_length", "grpo_cosine_length_reward"), ("grpo_overlong", "grpo_overlong_penalty"))

# ---- functions beside the objective (grpo_OLD, and OLD in the vectors)
def calls(reason, *pairs):
    add("call", reason, *pairs)
calls("the k largest", ("select_largest", "select_top_k"))
calls("the top fraction", ("select_top", "select_top_fraction"))
calls("OpenRLHF dynamic_filtering_reward_range", ("keep_between", "reward_range_filter"))
calls("by the deviation of the rewards", ("spread_keep", "reward_std_filter"))
calls("by |A|", ("advantage_keep", "advantage_filter"))
calls("tokens of low probability", ("probability_select", "select_low_probability"))
calls("2602.03392: Clip_B, over the batch; Clip_V, over the vocabulary", ("clip_below", "entropy_clip_batch"), ("clip_value", "entropy_clip_vocabulary"))
calls("PODS, D3S: max-variance down-sampling", ("downsample_variance", "max_variance_subset"))
calls("CPPO: trust region of a prefix", ("prefix_budget", "prefix_trust_region"))
calls("chance of rewards that differ", ("informative_probability", "mixed_group_probability"))
calls("Knapsack-RL: rollouts for prompts", ("allocate", "allocate_rollouts"))
calls("the coefficient of the preference term", ("preference_margin_control", "preference_coef_control"))
calls("S-GRPO, E-GRPO, OTC, unlikeliness: rewards", ("early_exit", "early_exit_reward"), ("entity_credit", "entity_reward"), ("tool_efficiency", "tool_efficiency_reward"), ("unlikeliness", "unlikeliness_reward"))
calls("prime-rl's length penalty within the group", ("relative_cost", "relative_cost_penalty"))
calls("what it gives", ("gated_sum", "gated_reward_sum"), ("length_shape", "length_shape_reward"), ("log_exp_map", "log_exp_reward"), ("shorter_correct", "shorter_correct_reward"),
      ("correct_length", "correct_length_reward"), ("pair_rewards", "pairwise_rewards"), ("information_gain", "information_gain_reward"))
calls("Pref-GRPO: win rate", ("pairwise_wins", "win_rate_reward"))
calls("TRL repetition penalty", ("repetition_reward", "repetition_penalty"))
calls("min-max normalisation", ("spread_reward", "min_max_reward"))
calls("TAWin: soft top-K", ("window_weight", "soft_top_k_weight"))
calls("AR: reweighting by probability", ("probability_gain", "probability_weight"))
calls("IW-OPD", ("prefix_discrepancy", "prefix_discrepancy_weight"))
calls("CW-GRPO: covariance weight", ("gaussian_covariance", "covariance_weight"))
calls("SRPO", ("route_weight", "routed_weight"))
calls("SEED-GRPO, COPO: semantic entropy", ("answer_entropy", "semantic_entropy"))
calls("lambda-GRPO", ("length_preference", "length_preference_weight"))
calls("KTAE: key-token advantage", ("key_tokens", "key_token_advantage"))
calls("advantages, by what makes them", ("likelihood_share", "likelihood_advantage"), ("group_relative_scale", "asymmetric_advantage"), ("sharpening", "sharpening_advantage"),
      ("feature_bonus", "feature_advantage"), ("virtual_reward", "virtual_reward_advantage"), ("future_success", "future_success_advantage"), ("project_advantage", "projected_advantage"),
      ("two_anchors", "two_anchor_advantage"), ("pairwise_calibration", "calibration_advantage"), ("role_reward", "role_advantage"), ("step_weight", "step_weight_advantage"))
calls("ReCast: hard negative", ("hardest_miss", "hard_negative_advantage"))
calls("advantage alignment (2511.19405)", ("coplayer_credit", "alignment_advantage"))
calls("HAPO's standardised entropy, adaptive clip", ("entropy_standard", "standardised_entropy"), ("adapted_clip", "adaptive_clip"))
calls("surrogate.logit_shift", ("logistic_shift", "logit_shift"))
calls("APMPO: bounds of the power mean", ("power_clip", "power_mean_bounds"))
calls("a schedule of tokens", ("count_budget", "token_budget_schedule"), ("linear_decay", "linear_schedule"))
calls("SPO: decay by the distance of the policies", ("decay_by_drift", "drift_decay"))
calls("RISKPO: pinball step", ("quantile_track", "quantile_tracker"))
calls("GKD, OPSD: generalised Jensen-Shannon divergence", ("divergence", "generalised_jsd"))
calls("VISD: of the top k", ("set_gap", "top_k_gap"))
calls("PPO's value loss of one token", ("value_square", "value_loss_term"))
calls("BAPO", ("balanced_bounds", "balanced_clip_bounds"))
calls("value of information", ("value_information", "select_value_of_information"))

# ---- keys
add("report", "a share of tokens", ("clip_low", "clip_fraction_low"), ("clip_high", "clip_fraction_high"), ("clip_dual", "clip_fraction_dual"))
add("report", "TRL, verl approx_kl", ("old_k1", "approx_kl_k1"), ("old_k3", "approx_kl_k3"))
add("report", "verl rollout_is_mean", ("weight_mean", "rollout_is_mean"))
add("totals", "a sum and its count; the fields' words", ("weight", "rollout_is_sum"), ("weights", "rollout_is_count"), ("likelihood_tokens", "nll_tokens"),
    ("pairs", "preference_pairs"), ("varied_tokens", "nonzero_std_tokens"))
add("batch", "log of the partition function", ("log_z", "log_partition"))
add("batch", "as advantage.excluded", ("outside", "excluded"))
add("batch", "as surrogate.eps_low: distances from 1, not shares", ("clip_low", "eps_low"), ("clip_high", "eps_high"))
add("batch", "read by weight.external", ("weight", "external_weight"))
add("batch", "verl sum_pi_squared (optimal token baseline)", ("probability_squares", "sum_pi_squared"))
add("output", "with batch.log_partition", ("dlog_z", "dlog_partition"))
add("expect", "the function's name", ("informative", "dynamic_sampling_mask"), ("dlog_z", "dlog_partition"))

# ---- internals
add("internal", "names of the field instead of sentences", ("grpo_is_likely_", "grpo_counts_in_nll_"), ("grpo_starts_up_", "grpo_is_positive_response_"),
    ("grpo_judges_", "grpo_has_rollout_correction_"), ("grpo_crediting_", "grpo_credit_context_"), ("grpo_weigh_", "grpo_apply_rollout_is_"), ("grpo_weighed_", "grpo_rollout_weight_"),
    ("grpo_noted_", "grpo_reported_"), ("grpo_weights_", "grpo_token_weights_"))
# ---- files
add("file", "says what is checked: every choice and number makes a difference in a vector", ("tests/knobs.c", "tests/field_coverage.c"))
add("file", "exact sums", ("tests/sums.c", "tests/exact_sums.c"))
add("file", "scalar functions", ("tests/numbers.c", "tests/scalar_accuracy.c"))
add("file", "rows of logits", ("tests/rows.c", "tests/logits_rows.c"))
add("file", "prints the table of presets", ("tests/variants.c", "tests/presets_table.c"))
add("file", "the loop over a file of vectors", ("tests/stb_ds.c", "tests/stb_ds.c"))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "names.tsv"), "w") as f:
    f.write("kind\told\tnew\treason\n")
    for row in N:
        if row[1] != row[2]:
            f.write("\t".join(row) + "\n")
