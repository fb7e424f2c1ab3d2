/* grpo_rows.h - the published objectives by name: grpo_presets, grpo_objective_from_preset and grpo_objective_named of grpo.h.
 *
 * A part of grpo.h's implementation, which includes it at its end; nothing else includes it.  With GRPO_NO_ROWS defined, grpo.h and
 * gspo.h do not need this file.  At its end is what messages add to the rule: the nearest name to one that is unknown, and what helps.
 *
 * A row is a published algorithm: the choices and numbers of the seven axes that it sets.  A choice that it leaves out is the first one of
 * its list, a number 0.
 *
 *     GRPO_ROW_("name", "arXiv id or source", "equations", "what it changes", SETTINGS)
 *
 * SETTINGS follow each other without commas, in the order of the axes: GRPO_CHOOSE_(path, choice) and GRPO_SET_(path, number), or the
 * macros below for settings that many rows make together.  A row named after a method is its paper's equation with the paper's numbers; if
 * the paper writes just mean and std, the sample standard deviation without an eps.  A row named after a framework is what that framework
 * computes by default, unless its summary calls it a recipe.  OBJECTIVES.md says what each row is, and of which release; tests/evidence has
 * the source of every setting.
 *
 * To add one: write the row at the end of the table, and its line in tests/oracle/rows.txt from the paper, not from here; CONTRIBUTING.md
 * says what else to do.
 *
 * Licence: MIT-0, as grpo.h. */
#ifndef GRPO_ROWS_H
#define GRPO_ROWS_H

#ifndef GRPO_IMPLEMENTED
#error "grpo_rows.h is a part of grpo.h: include that, with GRPO_IMPLEMENTATION defined in one source file"
#endif
#if GRPO_VERSION_NUMBER != 400
#error "grpo_rows.h and grpo.h are of different versions"
#endif

GRPO_C_BEGIN_

/* ---- settings that go together ---- */

#define GRPO_OVERLONG_(m, c) \
    GRPO_CHOOSE_(reward.overlong, GRPO_OVERLONG_SOFT) GRPO_SET_(reward.overlong_max, m) GRPO_SET_(reward.overlong_cache, c) \
    GRPO_SET_(reward.overlong_factor, 1)
#define GRPO_REWARD_K1_(beta)          GRPO_CHOOSE_(reward.kl, GRPO_KL_K1) GRPO_SET_(reward.kl_coef, beta)
#define GRPO_AFFINE_(bias, by, lo, hi) \
    GRPO_CHOOSE_(reward.map, GRPO_MAP_AFFINE) GRPO_SET_(reward.map_bias, bias) GRPO_SET_(reward.map_factor, by) \
    GRPO_SET_(reward.map_low, lo) GRPO_SET_(reward.map_high, hi)
#define GRPO_CREDIT_(kind, discount)   GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_##kind) GRPO_SET_(advantage.gamma, discount)
#define GRPO_STEP_CREDIT_(kind, discount) GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_##kind) GRPO_SET_(advantage.step_gamma, discount)
#define GRPO_GAE_(discount, decay)     GRPO_CREDIT_(GAE, discount) GRPO_SET_(advantage.lambda, decay)
#define GRPO_STEP_VALUES_(value, group) \
    GRPO_CHOOSE_(advantage.step_value, GRPO_STEP_VALUE_##value) GRPO_CHOOSE_(advantage.step_group, GRPO_STEP_GROUP_##group)
#define GRPO_BASELINE_(kind)           GRPO_CHOOSE_(advantage.baseline, GRPO_BASELINE_##kind)
#define GRPO_SCALE_(kind)              GRPO_CHOOSE_(advantage.scale, GRPO_SCALE_##kind)
#define GRPO_EPS_(number, place)       GRPO_SET_(advantage.eps, number) GRPO_CHOOSE_(advantage.eps_place, GRPO_EPS_##place)
#define GRPO_GROUP_NORM_               GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(GROUP_STD)
#define GRPO_TRL_NORM_                 GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-4)
#define GRPO_VERL_NORM_                GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW)
#define GRPO_LEVEL_(kind)              GRPO_CHOOSE_(ratio.level, GRPO_LEVEL_##kind)
#define GRPO_CLAMP_(lo, hi)            GRPO_SET_(ratio.clamp_low, lo) GRPO_SET_(ratio.clamp_high, hi)
#define GRPO_LEVEL_CLAMP_(lo, hi)      GRPO_SET_(ratio.level_clamp_low, lo) GRPO_SET_(ratio.level_clamp_high, hi)
#define GRPO_BEHAVIOUR_(whom)          GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_##whom)
#define GRPO_SURROGATE_(what)          GRPO_CHOOSE_(surrogate.kind, GRPO_SURROGATE_##what)
#define GRPO_CLIP_RANGE_(lo, hi)       GRPO_SET_(surrogate.eps_low, lo) GRPO_SET_(surrogate.eps_high, hi)
#define GRPO_CLIP_(lo, hi)             GRPO_SURROGATE_(PPO_CLIP) GRPO_CLIP_RANGE_(lo, hi)
#define GRPO_DUAL_(lo, hi, c)          GRPO_SURROGATE_(DUAL_CLIP) GRPO_CLIP_RANGE_(lo, hi) GRPO_SET_(surrogate.clip_dual, c)
#define GRPO_LOG_DUAL_(lo, hi, c, power) \
    GRPO_SURROGATE_(DUAL_CLIP) GRPO_CHOOSE_(surrogate.bounds, GRPO_BOUNDS_POSITION) GRPO_SET_(surrogate.log_low, lo) \
    GRPO_SET_(surrogate.log_high, hi) GRPO_SET_(surrogate.log_clip_dual, c) GRPO_SET_(surrogate.position_power, power)
#define GRPO_CISPO_(lo, hi)            GRPO_SURROGATE_(CISPO) GRPO_SET_(surrogate.weight_min, lo) GRPO_SET_(surrogate.weight_max, hi)
#define GRPO_SAPO_(pos, neg)           GRPO_SURROGATE_(SAPO) GRPO_SET_(surrogate.tau_pos, pos) GRPO_SET_(surrogate.tau_neg, neg)
#define GRPO_VESPO_(kp, lp, kn, ln) \
    GRPO_SURROGATE_(VESPO) GRPO_SET_(surrogate.vespo_k_pos, kp) GRPO_SET_(surrogate.vespo_lambda_pos, lp) \
    GRPO_SET_(surrogate.vespo_k_neg, kn) GRPO_SET_(surrogate.vespo_lambda_neg, ln)
#define GRPO_MEAN_ABS_                 GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_MEAN_ABS)
#define GRPO_STEP_SAMPLES_             GRPO_CHOOSE_(advantage.samples, GRPO_SAMPLES_STEPS)
#define GRPO_KL_DIVIDE_(by)            GRPO_CHOOSE_(penalty.kl_aggregation, GRPO_PENALTY_AGGREGATION_##by)
#define GRPO_KL_(kind, beta)           GRPO_CHOOSE_(penalty.kl, GRPO_KL_##kind) GRPO_SET_(penalty.kl_coef, beta)
#define GRPO_KL_TO_TEACHER_            GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_TEACHER)
#define GRPO_NLL_(on, by, c) \
    GRPO_CHOOSE_(penalty.nll_on, GRPO_NLL_##on) GRPO_CHOOSE_(penalty.nll_weight, GRPO_NLL_WEIGHT_##by) GRPO_SET_(penalty.nll_coef, c)
#define GRPO_PREFERENCE_(margin, beta, c) \
    GRPO_CHOOSE_(penalty.preference, GRPO_PREFERENCE_PAIRWISE) GRPO_SET_(penalty.preference_min_gap, margin) \
    GRPO_SET_(penalty.preference_beta, beta) GRPO_SET_(penalty.preference_coef, c)
#define GRPO_POLICY_IS_(unit, lo, hi) \
    GRPO_CHOOSE_(weight.policy_is, GRPO_POLICY_IS_##unit) GRPO_SET_(weight.policy_is_low, lo) GRPO_SET_(weight.policy_is_high, hi)
#define GRPO_FINISHED_                 GRPO_CHOOSE_(weight.truncated, GRPO_WEIGHT_TRUNCATED_MASK)
#define GRPO_ROLLOUT_IS_(kind, unit, lo, hi, outside) \
    GRPO_CHOOSE_(weight.rollout_is, GRPO_ROLLOUT_IS_##kind) GRPO_CHOOSE_(weight.rollout_is_level, GRPO_ROLLOUT_IS_LEVEL_##unit) \
    GRPO_SET_(weight.rollout_is_low, lo) GRPO_SET_(weight.rollout_is_high, hi) \
    GRPO_CHOOSE_(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_##outside)
#define GRPO_TRUST_(kind, lo, hi) \
    GRPO_CHOOSE_(weight.trust, GRPO_TRUST_##kind) GRPO_SET_(weight.trust_low, lo) GRPO_SET_(weight.trust_high, hi)
#define GRPO_REC_OUTER_(lo, hi)        GRPO_SET_(weight.rec_outer_low, lo) GRPO_SET_(weight.rec_outer_high, hi)
#define GRPO_ROLLOUT_RS_(kind, unit, lo, hi) \
    GRPO_CHOOSE_(weight.rollout_rs, GRPO_ROLLOUT_RS_##kind) GRPO_CHOOSE_(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_##unit) \
    GRPO_SET_(weight.rollout_rs_low, lo) GRPO_SET_(weight.rollout_rs_high, hi)
#define GRPO_FIPO_(half_life, max, lo, hi) \
    GRPO_CHOOSE_(weight.fipo, GRPO_FIPO_DECAYED) GRPO_SET_(weight.fipo_half_life, half_life) GRPO_SET_(weight.fipo_ratio_max, max) \
    GRPO_SET_(weight.fipo_low, lo) GRPO_SET_(weight.fipo_high, hi)
#define GRPO_FIPO_SAFE_(from, lo, hi) \
    GRPO_SET_(weight.fipo_safe_ratio, from) GRPO_SET_(weight.fipo_safe_low, lo) GRPO_SET_(weight.fipo_safe_high, hi)
#define GRPO_INTERPOLATE_(kind)        GRPO_CHOOSE_(ratio.interpolate, GRPO_INTERPOLATE_##kind)
#define GRPO_HALVES_ \
    GRPO_INTERPOLATE_(GEOMETRIC) GRPO_SET_(ratio.interpolate_token, 0.5) GRPO_SET_(ratio.interpolate_level, 0.5)
#define GRPO_DIVIDE_(by)               GRPO_CHOOSE_(aggregation.kind, GRPO_AGGREGATION_##by)
#define GRPO_DROP_EMPTY_               GRPO_CHOOSE_(aggregation.empty_sequences, GRPO_EMPTY_SEQUENCES_DROP)

/* ---- the rows ---- */

#define GRPO_ROWS_ \
    GRPO_ROW_("reinforce", "Williams 1992", "REINFORCE", "score function of the raw reward, no baseline", \
        GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("ppo", "1707.06347", "7, 11-12", "clipped token ratio, generalised advantage estimation from a critic", \
        GRPO_GAE_(0.99, 0.95) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("ppo-dual-clip", "1912.09729", "5", "PPO whose loss is bounded where A < 0 too", \
        GRPO_GAE_(0.997, 0.95) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("grpo", "2402.03300", "3-4", "group mean and deviation as baseline, KL k3 in the loss", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.04) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("grpo-process", "2402.03300", "3-4, section 4.1.3", "GRPO on step rewards, normalised together and summed to go", \
        GRPO_CREDIT_(STEP, 1) GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.04) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("grpo-unbiased-kl", "2512.02556", "unbiased KL estimate", "k3 times the ratio; no deviation", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("dr-grpo", "2503.20783", "objective of section 3", "no deviation, no length: a constant divides", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) GRPO_SET_(aggregation.constant, 3000)) \
    GRPO_ROW_("dapo", "2503.14476", "8-13", "clip higher, mean per prompt, soft overlong punishment", \
        GRPO_OVERLONG_(20480, 4096) GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("dapo-filter", "2503.14476", "8-12", "DAPO with truncated responses left out instead of punished", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.28) GRPO_FINISHED_ GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("rloo", "2402.14740", "leave-one-out estimator", "leave-one-out baseline, KL in the reward, whole responses", \
        GRPO_REWARD_K1_(0.03) GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("reinforce++", "2501.03262", "REINFORCE++", "KL in the token rewards, whitened over the tokens of the batch", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_SCALE_(TOKEN_WHITEN) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("reinforce++-baseline", "2501.03262", "REINFORCE++ with baseline", "group mean, then batch norm; KL k2 in the loss", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K2, 0.001) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("remax", "2310.10505", "ReMax estimator", "reward of the greedy response as baseline", \
        GRPO_BASELINE_(EXTERNAL) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("opo", "2505.23585", "optimal baseline", "length-weighted mean as baseline", \
        GRPO_BASELINE_(LENGTH_WEIGHTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gpg", "2504.02546", "GPG objective", "group mean, scaled up for the groups that give no gradient", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.reweight, GRPO_REWEIGHT_VALID_GROUPS) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("lite-ppo", "2508.08221", "Lite PPO", "group mean, deviation of the batch, mean over all tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gspo", "2507.18071", "5-7", "one length-normalised ratio per response", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(3e-4, 4e-4) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("gspo-token", "2507.18071", "13-17", "GSPO whose gradient stays at the token, for advantages that differ inside a response", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_CLIP_(3e-4, 4e-4) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("gmpo", "2507.20673", "GMPO objective", "geometric mean of token ratios, each clipped before", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_CLIPPED_MEAN) GRPO_SET_(ratio.token_clip_low, 0.4) GRPO_SET_(ratio.token_clip_high, 0.4) \
            GRPO_SURROGATE_(RATIO) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("cispo", "2506.13585", "4-5", "clips the weight and not the gradient", \
        GRPO_GROUP_NORM_ GRPO_CISPO_(0, 5) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("sapo", "2511.20347", "5-7", "a sigmoid gate instead of a clip", \
        GRPO_GROUP_NORM_ GRPO_SAPO_(1, 1.05) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("luspo", "2602.05261", "LUSPO objective", "GSPO with every response weighted by its length", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(2e-3, 2.5e-3) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("vespo", "2602.10693", "17, 20", "smooth detached weight of the whole response's ratio", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_VESPO_(2, 3, 3, 2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("two-sided", "2505.07291", "two-sided clip", "GRPO with a second clip, against huge ratios where A < 0", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_DUAL_(0.2, 0.2, 4) GRPO_KL_(K3, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("scalerl", "2510.13786", "ScaleRL objective", "CISPO against the sampling engine, mean per prompt", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_CENTRED_STD) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_CISPO_(0, 5) \
            GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("tis", "Yao et al. 2025", "min(v, 2), tokens", "rollout mismatch: token weights, truncated", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("tis-sequence", "Yao et al. 2025", "min(v, 2), responses", "rollout mismatch: response weights, truncated", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("icepop", "2510.18855", "IcePop", "rollout mismatch: tokens outside the band weigh nothing", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(MASK, TOKEN, 0.5, 5, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("mis-sequence", "Liu, Li et al. 2025", "v 1[v <= 2], responses", \
        "rollout mismatch: responses beyond the bound weigh nothing", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(MASK, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("geo-reject", "verl", "1[0.999 <= 1/v <= 1.001], geometric mean", \
        "verl's rejection on GRPO: responses outside the band are masked", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_CHOOSE_(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_UNMASK) \
            GRPO_SET_(weight.rollout_clamp, 20) GRPO_ROLLOUT_RS_(RATIO, SEQUENCE_MEAN, 1/1.001, 1/0.999) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-grpo", "2402.03300", "as TRL", "GRPO as TRL computes it: eps 1e-4 beside the deviation, no KL", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-dapo", "2503.14476", "as TRL", "TRL's recipe for DAPO: soft overlong punishment, truncated responses masked", \
        GRPO_OVERLONG_(20480, 4096) GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.28) GRPO_FINISHED_ GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-bnpo", "TRL", "as TRL", "TRL's loss_type bnpo, and its default, dapo: mean over the tokens of the batch", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-rloo", "2402.14740", "as TRL", "RLOO as TRL computes it: a clipped ratio of the whole response", \
        GRPO_REWARD_K1_(0.05) GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("verl-grpo", "2402.03300", "as verl", "GRPO as verl computes it: dual clip, bounded log-ratio, mean over tokens", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-gspo", "2507.18071", "as verl", "GSPO as verl computes it: GSPO-token, log-ratio at most 10", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_LEVEL_CLAMP_(-HUGE_VAL, 10) \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-cispo", "2506.13585", "as verl", "CISPO as verl computes it: weight in 0.8..1.2", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_CISPO_(0.8, 1.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-reinforce++", "2501.03262", "as verl", "REINFORCE++ as verl computes it: eps 1e-8 inside the root", \
        GRPO_CREDIT_(RETURN, 1) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, INSIDE) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("grpo-r1", "2501.12948", "1 and 3, without the KL of 2", \
        "one importance ratio for the whole response, product over its tokens", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLIP_(10, 10) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("opmd", "Trinity-RFT", "advantage and loss (logavgexp)", \
        "log-mean-exp baseline, REINFORCE without a ratio, divided by 1 + tau", \
        GRPO_BASELINE_(LOG_MEAN_EXP) GRPO_SCALE_(CONSTANT) GRPO_SET_(advantage.temperature, 1) GRPO_SET_(advantage.scale_divisor, 2) \
            GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_KL_(K2, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("kimi-k1.5", "2501.12599", "section 2.3.2", "squares reward minus log-mean-exp baseline minus scaled sequence log-ratio", \
        GRPO_BASELINE_(LOG_MEAN_EXP) GRPO_SET_(advantage.temperature, 0.1) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(SQUARED) \
            GRPO_SET_(surrogate.beta, 0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("kimi-k2", "2507.20534", "objective", "squares mean-centred reward minus scaled sequence log-ratio", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(SQUARED) GRPO_SET_(surrogate.beta, 0.1) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("asymre", "2506.20520", "advantage", "off-policy REINFORCE with the baseline shifted down by 0.1", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SET_(advantage.baseline_shift, -0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("maxrl", "2602.02710", "official code", "divides centred rewards by the group mean instead of the std", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(GROUP_MEAN) GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("qae", "2509.22611", "section 4.1, 3-4", "0.4-quantile of the group as baseline instead of the mean", \
        GRPO_OVERLONG_(20480, 4096) GRPO_BASELINE_(QUANTILE) GRPO_SCALE_(GROUP_STD) GRPO_SET_(advantage.quantile, 0.4) \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("qae-linear", "2509.22611", "official code", "quantile baseline by linear interpolation between order statistics", \
        GRPO_OVERLONG_(20480, 4096) GRPO_BASELINE_(QUANTILE_LINEAR) GRPO_SCALE_(GROUP_STD) GRPO_SET_(advantage.quantile, 0.4) \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) \
            GRPO_DUAL_(0.2, 0.28, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gapo", "2510.21830", "official code", "median of the densest half as baseline, spread measured around it", \
        GRPO_BASELINE_(HDI_MEDIAN) GRPO_SCALE_(RESIDUAL_RMS) GRPO_SET_(advantage.hdi_mass, 0.5) GRPO_SET_(advantage.eps, 1e-6) \
            GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 10) GRPO_KL_(K3, 0.01) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("krpo", "2505.07527", "official code", "Kalman filter over the group gives baseline and scale", \
        GRPO_BASELINE_(KALMAN) GRPO_SCALE_(KALMAN_STD) GRPO_SET_(advantage.process_noise, 1e-5) \
            GRPO_SET_(advantage.observation_noise, 0.01) GRPO_SET_(advantage.eps, 1e-8) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.01) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("pass-at-k", "2508.10751", "11-15", "analytic advantage of pass@k over binary rewards", \
        GRPO_SCALE_(GROUP_STD) GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_PASS_AT_K) GRPO_SET_(advantage.pass_k, 2) \
            GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("best-minus-second", "2503.19595", "advantage, without std", \
        "only the best response is rewarded, by its lead over the second", \
        GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("pkpo", "2505.15201", "29", "estimator of maxg@k with a leave-one-out baseline", \
        GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_PKPO_LOO) GRPO_SET_(advantage.pass_k, 2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("grpo-lead", "2504.09696", "official code, reweighting", "advantages reweighted by a logistic function of the success rate", \
        GRPO_VERL_NORM_ GRPO_CHOOSE_(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY) GRPO_SET_(advantage.difficulty_weight_low, 0.4) \
            GRPO_SET_(advantage.difficulty_weight_high, 1.5) GRPO_SET_(advantage.difficulty_slope, 10) \
            GRPO_SET_(advantage.difficulty_midpoint, 0.75) GRPO_CLIP_(0.2, 0.2) GRPO_SET_(penalty.entropy_coef, 0.001) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("delta-l", "2509.07558", "official code, math", "advantages weighted by length^-0.75, constant divisor", \
        GRPO_VERL_NORM_ GRPO_CHOOSE_(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER) GRPO_SET_(advantage.length_power, 0.75) \
            GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.3, 3) GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) GRPO_SET_(aggregation.constant, 8192)) \
    GRPO_ROW_("gdpo", "2601.05242", "as TRL", "normalises every reward by itself, sums, then normalises over the batch", \
        GRPO_TRL_NORM_ GRPO_CHOOSE_(advantage.rewards, GRPO_REWARDS_EACH) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) \
            GRPO_SET_(advantage.batch_norm_eps, 0.0001) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("magistral", "2506.10910", "section 2.1", "group-mean baseline, then normalised over the minibatch, clip-higher", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) GRPO_CLIP_(0.2, 0.28) \
            GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("entropy-advantage", "2506.14758", "4-6", "adds a capped entropy bonus to the advantage", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.entropy, GRPO_ENTROPY_BONUS) GRPO_SET_(advantage.entropy_coef, 0.4) \
            GRPO_SET_(advantage.entropy_kappa, 2) GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rl-zvp", "2509.21880", "5", "entropy-shaped advantages for groups whose rewards are all equal", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.entropy, GRPO_ENTROPY_ZERO_VARIANCE) GRPO_SET_(advantage.entropy_coef, 0.1) \
            GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("gppo", "2508.07629", "4, 11-12", "clipped tokens keep a bounded gradient", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SURROGATE_(GPPO) GRPO_CLIP_RANGE_(0.2, 0.28) \
            GRPO_SET_(surrogate.gppo_beta_low, 1) GRPO_SET_(surrogate.gppo_beta_high, 1) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("ce-gppo", "2509.20712", "8, 7B", "gradient-preserving clip with weakened low side", \
        GRPO_GROUP_NORM_ GRPO_SURROGATE_(GPPO) GRPO_CLIP_RANGE_(0.2, 0.2) GRPO_SET_(surrogate.gppo_beta_low, 0.75) \
            GRPO_SET_(surrogate.gppo_beta_high, 1) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("aspo", "2510.06062", "official code", "inverts the ratio of tokens with positive advantage, soft dual clips", \
        GRPO_CHOOSE_(reward.overlong, GRPO_OVERLONG_LINEAR) GRPO_SET_(reward.overlong_max, 32768) GRPO_SET_(reward.overlong_cache, 16) \
            GRPO_SET_(reward.overlong_factor, 1) GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_SURROGATE_(ASPO) GRPO_CLIP_RANGE_(0.2, 0.2) \
            GRPO_SET_(surrogate.clip_dual, 3) GRPO_SET_(surrogate.clip_dual_pos, 3) GRPO_KL_(K3, 0.001) \
            GRPO_CHOOSE_(penalty.kl_on, GRPO_KL_ON_SELECTED) GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("topr", "2503.14286", "gradient, sequence level", \
        "REINFORCE whose negative responses are weighted by a truncated trajectory ratio", \
        GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(TOPR) GRPO_SET_(surrogate.weight_max, 1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("dppo-tv", "2602.04879", "12-13", "masks tokens whose probability moved too far, instead of clipping ratios", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) \
            GRPO_TRUST_(PROBABILITY, 0.15, 0.15) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("dppo-kl", "2602.04879", "12, 14", "masks tokens whose binary KL to the rollout is too large", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) \
            GRPO_TRUST_(BINARY_KL, 0.05, 0.05) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("dro", "2405.19107", "4, 8", "squares reward minus value minus log-ratio to reference", \
        GRPO_BASELINE_(EXTERNAL) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_REF) GRPO_SURROGATE_(SQUARED) \
            GRPO_SET_(surrogate.beta, 1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("deepseek-v3.2", "2512.02556", "5-9", "off-policy sequence mask, ratio-weighted KL, no std", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) \
            GRPO_CHOOSE_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_ROLLOUT) GRPO_SET_(weight.off_policy_mask_threshold, 0.5) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("dcpo", "2509.02333", "8, dynamic clipping", "clip bounds that widen for improbable tokens, sums response means", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_DUAL_(0.16, 0.2, 10) \
            GRPO_CHOOSE_(surrogate.bounds, GRPO_BOUNDS_PROBABILITY) GRPO_SET_(surrogate.bound_cap, 10) GRPO_DIVIDE_(SEQ_SUM_TOKEN_MEAN)) \
    GRPO_ROW_("clip-cov", "2505.22617", "11-12", "drops the loss of selected tokens of high covariance", \
        GRPO_GROUP_NORM_ GRPO_SURROGATE_(RATIO) GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_DROP) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("kl-cov", "2505.22617", "13-14", "penalises the log-ratio of selected tokens, no clip", \
        GRPO_GROUP_NORM_ GRPO_SURROGATE_(RATIO) GRPO_KL_(ABS, 1) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            GRPO_CHOOSE_(penalty.kl_on, GRPO_KL_ON_SELECTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("high-entropy", "2506.01939", "6", "DAPO on the selected high-entropy tokens alone, divided by their number", \
        GRPO_OVERLONG_(20480, 4096) GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.28) GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_ONLY) \
            GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("decoupled-ppo", "2505.24298", "as AReaL 0.3.0", "proximal ratio weighted by old over rollout, tokens above 5 masked", \
        GRPO_SCALE_(TOKEN_WHITEN) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-5) GRPO_CLIP_(0.2, 0.2) \
            GRPO_ROLLOUT_IS_(MASK, TOKEN, 0, 5, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("length-power", "2607.23364", "as grpo.cpp", "weights a response by a power of its length; alpha 0.5 is chosen here", \
        GRPO_GROUP_NORM_ GRPO_EPS_(1e-8, INSIDE) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(SEQ_MEAN_LENGTH_POWER) GRPO_SET_(aggregation.power, 0.5)) \
    GRPO_ROW_("opd", "ROLL", "on-policy distillation", "PPO's clip; the advantage is teacher minus old log-probability", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_SET_(advantage.teacher_coef, 1) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("mopd", "2601.02780", "5-8", \
        "teacher advantage alone (eq. 9 adds the outcome's), weight kept only inside a band of the rollout ratio", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_SET_(advantage.teacher_coef, 1) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) \
            GRPO_SURROGATE_(MASKED_WEIGHT) GRPO_SET_(surrogate.weight_min, 0.5) GRPO_SET_(surrogate.weight_max, 5) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("prpo", "rLLM", "as rLLM, loss of verl", "normalises rewards over the whole batch, not the group", \
        GRPO_BASELINE_(BATCH_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-6) \
            GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("kimi-length", "2501.12599", "sections 2.3.2, 2.3.3", "a length reward relative to the group, on kimi-k1.5", \
        GRPO_CHOOSE_(reward.length, GRPO_LENGTH_KIMI) GRPO_SET_(reward.length_coef, 1) GRPO_BASELINE_(LOG_MEAN_EXP) \
            GRPO_SET_(advantage.temperature, 0.1) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(SQUARED) GRPO_SET_(surrogate.beta, 0.1) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("cosine-length", "2502.03373", "as TRL", "reward scaled by a cosine of the length, on GRPO", \
        GRPO_TRL_NORM_ GRPO_CHOOSE_(reward.length, GRPO_LENGTH_COSINE) GRPO_SET_(reward.length_max, 4096) \
            GRPO_SET_(reward.correct_low, 0.5) GRPO_SET_(reward.correct_high, 1) GRPO_SET_(reward.wrong_low, -1) \
            GRPO_SET_(reward.wrong_high, -0.5) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("vapo-gae", "2504.05118", "3, 5, 8", "critic advantages with a lambda that grows with the length", \
        GRPO_CREDIT_(GAE, 1) GRPO_SET_(advantage.lambda_length, 0.05) GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-gspo", "TRL", "loss grpo, sequence level", "TRL's GSPO recipe, mean log-ratio with a narrow clip", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(0.0003, 0.0004) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-gspo-token", "TRL", "experimental trainer, sequence_token", \
        "TRL's GSPO-token, sequence ratio with gradient local to the token", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-cispo", "TRL", "loss cispo", "TRL's CISPO, detached weight at most 0.2, no lower bound", \
        GRPO_TRL_NORM_ GRPO_CISPO_(0, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-sapo", "TRL", "loss sapo", "TRL's SAPO, soft gate in place of the clip", \
        GRPO_TRL_NORM_ GRPO_SAPO_(1, 1.05) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-luspo", "TRL", "loss luspo", "TRL's LUSPO recipe, sequence loss times the length", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(0.002, 0.0025) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("trl-vespo", "TRL", "loss vespo", "TRL's VESPO, clamped sequence product in a soft weight", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLAMP_(-20, 20) GRPO_LEVEL_CLAMP_(-18.420680743952367, 20) GRPO_VESPO_(2, 3, 3, 2) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-dr-grpo", "TRL", "loss dr_grpo", "TRL's dr_grpo, constant divisor while the std scaling stays on", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) GRPO_SET_(aggregation.constant, 512)) \
    GRPO_ROW_("trl-gmpo", "TRL", "experimental trainer", "TRL's GMPO, geometric mean of clipped token ratios", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_CLIPPED_MEAN) GRPO_SET_(ratio.token_clip_low, 0.4) GRPO_SET_(ratio.token_clip_high, 0.4) \
            GRPO_SURROGATE_(RATIO) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-lite-ppo", "TRL", "scale batch, loss dapo", "TRL's Lite PPO recipe, std of the whole batch", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_SET_(advantage.eps, 0.0001) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-rloo-normalized", "TRL", "RLOO trainer, normalize_advantages", \
        "TRL's RLOO with sequence product ratio and batch-normalised advantages", \
        GRPO_REWARD_K1_(0.05) GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) \
            GRPO_SET_(advantage.batch_norm_eps, 0.0001) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("trl-gdpo", "TRL", "normalize_then_sum", "TRL's GDPO, each reward normalised, then the batch", \
        GRPO_TRL_NORM_ GRPO_CHOOSE_(advantage.rewards, GRPO_REWARDS_EACH) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) \
            GRPO_SET_(advantage.batch_norm_eps, 0.0001) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-async", "TRL", "experimental async trainer", "TRL's asynchronous GRPO: ratio against the sampler, population std", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-8) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-opsm", "TRL", "off_policy_mask_threshold", "TRL's recipe to drop negative sequences far from the old policy", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_CHOOSE_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_OLD) \
            GRPO_SET_(weight.off_policy_mask_threshold, 0.5) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-sequence-mask", "TRL", "vllm sequence_mask, C_max 3", \
        "TRL's default rollout correction, sequence product zeroed above 3", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(MASK, SEQUENCE_SUM, 0, 3, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trl-unbiased-kl", "TRL", "use_bias_correction_kl", "TRL's recipe, KL multiplied by the differentiated ratio", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_LEVEL) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-ppo", "verl", "gae, vanilla", "verl's PPO, critic advantages whitened over tokens, dual clip", \
        GRPO_GAE_(1, 1) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, INSIDE) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-dapo", "verl", "vanilla, reward manager dapo", \
        "verl's DAPO recipe, clip-higher, dual clip at 10, linear overlong penalty", \
        GRPO_CHOOSE_(reward.overlong, GRPO_OVERLONG_LINEAR) GRPO_SET_(reward.overlong_max, 20480) GRPO_SET_(reward.overlong_cache, 4096) \
            GRPO_SET_(reward.overlong_factor, 1) GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-dr-grpo", "verl", "seq-mean-token-sum-norm", "verl's Dr.GRPO recipe, no std, fixed divisor", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) GRPO_SET_(aggregation.constant, 512)) \
    GRPO_ROW_("verl-rloo", "verl", "rloo, vanilla", "verl's RLOO, leave-one-out advantage with token-level dual-clip PPO", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-opo", "verl", "opo, vanilla", "verl's OPO, length-weighted group baseline", \
        GRPO_BASELINE_(LENGTH_WEIGHTED) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-gpg", "verl", "gpg", "verl's GPG, REINFORCE scaled by the share of non-zero rewards", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) \
            GRPO_CHOOSE_(advantage.reweight, GRPO_REWEIGHT_NONZERO_REWARDS) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-remax", "verl", "remax, vanilla", "verl's ReMax, greedy baseline with dual-clip PPO", \
        GRPO_CREDIT_(RETURN, 1) GRPO_BASELINE_(EXTERNAL) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-reinforce++-baseline", "verl", "reinforce_plus_plus_baseline, vanilla", \
        "verl's REINFORCE++-baseline, centred rewards whitened over tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, INSIDE) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) \
            GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-gmpo", "verl", "geo_mean", "verl's GMPO, geometric mean of ratios clipped at 0.2 in log space", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_CLIPPED_MEAN) GRPO_SET_(ratio.token_clip_low, 0.2) GRPO_SET_(ratio.token_clip_high, 0.2) \
            GRPO_SURROGATE_(RATIO) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("verl-sapo", "verl", "sapo", "verl's SAPO, soft gate with clamped log-ratio", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_SAPO_(1, 1.05) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("verl-dppo-tv", "verl", "dppo_tv", "verl's DPPO-TV, detached ratio capped at 3, probability mask", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_CISPO_(0, 3) GRPO_TRUST_(PROBABILITY, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-dppo-kl", "verl", "dppo_kl", "verl's DPPO-KL, detached ratio capped at 3, binary KL mask", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_CISPO_(0, 3) GRPO_TRUST_(BINARY_KL, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-dro", "verl", "dro", "verl's DRO, REINFORCE plus half squared log-ratio per token", \
        GRPO_VERL_NORM_ GRPO_KL_(K2, 0.05) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-clip-cov", "verl", "clip_cov", "verl's Clip-Cov, selected tokens dropped from the clipped loss", \
        GRPO_VERL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_DROP) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-kl-cov", "verl", "kl_cov", "verl's KL-Cov, absolute log-ratio penalty on selected tokens", \
        GRPO_VERL_NORM_ GRPO_SURROGATE_(RATIO) GRPO_KL_(ABS, 0.1) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            GRPO_CHOOSE_(penalty.kl_on, GRPO_KL_ON_SELECTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-passk", "verl", "grpo_passk, vanilla", "verl's pass@k advantage, best minus second over the std", \
        GRPO_SCALE_(GROUP_STD) GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND) GRPO_SET_(advantage.eps, 1e-6) \
            GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-tis", "verl", "rollout_is sequence, 2", "verl's GRPO with sequence importance weights truncated at 2", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-geo-rs", "verl", "rollout_rs seq_mean_k1, 0.999_1.001", \
        "verl's GRPO, sequences rejected by their geometric mean ratio", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_SET_(weight.rollout_clamp, 20) \
            GRPO_CHOOSE_(weight.rollout_rs, GRPO_ROLLOUT_RS_RATIO) \
            GRPO_CHOOSE_(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN) \
            GRPO_SET_(weight.rollout_rs_low, 0.9990009990009991) GRPO_SET_(weight.rollout_rs_high, 1.001001001001001) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-token-k3", "verl", "rollout_rs token_k3, 0.01", "verl's GRPO, tokens rejected by their k3 divergence", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_SET_(weight.rollout_clamp, 20) \
            GRPO_CHOOSE_(weight.rollout_rs, GRPO_ROLLOUT_RS_K3) GRPO_SET_(weight.rollout_rs_high, 0.01) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-kl-loss", "verl", "vanilla, low_var_kl", "verl's GRPO with clamped k3 in the loss", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.001) GRPO_SET_(penalty.kl_clamp_log, 20) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("openrlhf-ppo", "OpenRLHF", "gae, ppo", "OpenRLHF's PPO, critic advantages whitened, KL in the reward", \
        GRPO_REWARD_K1_(0.01) GRPO_AFFINE_(0, 1, -10, 10) GRPO_GAE_(1, 1) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, FLOOR) \
            GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_CLAMP_(-20, 20) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("openrlhf-rloo", "OpenRLHF", "rloo, ppo", "OpenRLHF's RLOO, token KL subtracted after the leave-one-out baseline", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CLAMP_(-20, 20) GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("openrlhf-reinforce-baseline", "OpenRLHF", "reinforce_baseline, ppo", \
        "OpenRLHF's REINFORCE++-baseline, whitened returns with KL in the reward", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, FLOOR) \
            GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_CLAMP_(-20, 20) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("openrlhf-group-norm", "OpenRLHF", "group_norm, ppo", "OpenRLHF's GRPO, token KL subtracted after the normalisation", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-9) GRPO_CLAMP_(-20, 20) \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("openrlhf-gspo", "OpenRLHF", "group_norm, gspo", "OpenRLHF's GSPO, KL in the reward and clip 0.2", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-9) GRPO_LEVEL_(SEQUENCE_MEAN) \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("openrlhf-seq-mask-tis", "OpenRLHF", "group_norm, ppo, seq-mask-tis", \
        "OpenRLHF's unclamped token weights, sequences filtered by geometric mean", \
        GRPO_REWARD_K1_(0.01) GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-9) GRPO_CLAMP_(-20, 20) \
            GRPO_CLIP_(0.2, 0.2) GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, HUGE_VAL, ZERO_WEIGHT) \
            GRPO_CHOOSE_(weight.rollout_rs, GRPO_ROLLOUT_RS_RATIO) \
            GRPO_CHOOSE_(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN) GRPO_SET_(weight.rollout_rs_low, 0.5) \
            GRPO_SET_(weight.rollout_rs_high, 5) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("swift-grpo", "ms-swift", "grpo", "ms-swift's GRPO with a doubly clamped KL of 0.04", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.04) GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("roll-grpo", "ROLL", "grpo, ppo", "ROLL's GRPO, mean of response means without KL", \
        GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("roll-tis", "ROLL", "grpo, pg_variant tis", "ROLL's TIS: GRPO's advantage, detached ratio truncated at 1", \
        GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CISPO_(0, 1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("roll-topr", "ROLL", "reinforce, pg_variant topr", "ROLL's TOPR, token ratio truncated for non-positive raw scores", \
        GRPO_CREDIT_(RETURN, 1) GRPO_SURROGATE_(TOPR) GRPO_SET_(surrogate.weight_max, 1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("roll-cispo", "ROLL", "grpo, pg_variant cispo", "ROLL's CISPO, detached weight within 0.1 of one", \
        GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CISPO_(0.9, 1.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("roll-kimi15", "ROLL", "grpo, pg_variant kimi15", "ROLL's Kimi k1.5, squared log-ratio per token", \
        GRPO_CREDIT_(RETURN, 1) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_KL_(K2, 0.1) \
            GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("areal-grpo", "AReaL", "grpo", "AReaL's defaults: clipped reward, KL in the reward, no baseline; logp_old is the sampler's", \
        GRPO_REWARD_K1_(0.1) GRPO_AFFINE_(0, 1, -20, 20) GRPO_CREDIT_(RETURN, 1) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("areal-gspo", "AReaL", "sequence ratio", "AReaL's GSPO, sequence ratio divided by tokens; logp_old is the sampler's", \
        GRPO_AFFINE_(0, 1, -20, 20) GRPO_CREDIT_(RETURN, 1) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("areal-sapo", "AReaL", "sapo", "AReaL's SAPO, soft gate with a token mean; logp_old is the sampler's", \
        GRPO_REWARD_K1_(0.1) GRPO_AFFINE_(0, 1, -20, 20) GRPO_CREDIT_(RETURN, 1) GRPO_SAPO_(1, 1.05) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("slime-grpo", "slime", "grpo", "slime's GRPO, mean of response means", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("slime-gspo", "slime", "gspo", "slime's GSPO, differentiated sequence ratio with clip 0.2", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("slime-cispo", "slime", "cispo", "slime's CISPO, detached weight clipped on both sides at 0.2", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CISPO_(0.8, 1.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("slime-opsm", "slime", "grpo, opsm", "slime's off-policy sequence mask with a threshold of 1e-4", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLIP_(0.2, 0.2) \
            GRPO_CHOOSE_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_OLD) GRPO_SET_(weight.off_policy_mask_threshold, 0.0001) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("nemo-grpo", "NeMo-RL", "grpo", "NeMo-RL's GRPO, leave-one-out mean and std, score-function KL", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_SCALE_(LEAVE_ONE_OUT_STD) GRPO_SET_(advantage.eps, 1e-6) GRPO_CLIP_(0.2, 0.2) \
            GRPO_KL_(K3, 0.01) GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_CHOOSE_(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("nemo-reinforce++", "NeMo-RL", "reinforce++", "NeMo-RL's REINFORCE++, centred rewards whitened, variance floor", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, FLOOR) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) \
            GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.01) GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_CHOOSE_(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("skyrl-dppo-tv", "SkyRL", "dppo, binary_tv", "SkyRL's DPPO-TV against the rollout policy, with KL loss", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) \
            GRPO_KL_(K3, 0.001) GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_KL_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_TRUST_(PROBABILITY, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("prime-rl", "prime-rl", "default loss", \
        "DPPO-TV mask plus squared log-ratio to the rollout policy; tokens of advantage 0 are left out before", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) GRPO_KL_(K2, 0.002) \
            GRPO_TRUST_(PROBABILITY, 0.2, 0.2) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("prime-rl-ipo", "prime-rl", "ipo", \
        "probability mask for both signs of the advantage; tokens of advantage 0 are left out before", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) GRPO_KL_(K2, 0.002) \
            GRPO_TRUST_(PROBABILITY_BOTH, 0, 0.1) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("prime-rl-maxrl", "prime-rl", "max_rl, default loss", "centred rewards divided by the group mean, under the default loss", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO) \
            GRPO_KL_(K2, 0.002) GRPO_TRUST_(PROBABILITY, 0.2, 0.2) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("open-instruct-dapo", "open-instruct", "loss_fn dapo", \
        "centred advantages, asymmetric clip, truncated rollout weights, KL 0.05", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.272) GRPO_KL_(K3, 0.05) GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) \
            GRPO_SET_(penalty.kl_clamp_log, 40) GRPO_SET_(weight.rollout_clamp, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("open-instruct-cispo", "open-instruct", "loss_fn cispo", \
        "detached ratio capped at 1.272, truncated rollout weights, KL 0.05", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CISPO_(0, 1.272) GRPO_KL_(K3, 0.05) GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) \
            GRPO_SET_(penalty.kl_clamp_log, 40) GRPO_SET_(weight.rollout_clamp, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("tunix-grpo", "tunix", "grpo", "tunix's GRPO with k1 in the loss, empty sequences left out", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K1, 0.04) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("tunix-rloo", "tunix", "rloo", "tunix's RLOO advantage under its GRPO loss", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CLAMP_(-20, 20) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K1, 0.04) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("rllm-grpo", "rLLM", "grpo, loss of verl", "rLLM's GRPO with population std under verl's loss", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) \
            GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rllm-reinforce++", "rLLM", "reinforce++ baseline, loss of verl", "centred rewards over their std in the whole batch", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_CENTRED_STD) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("easyr1-grpo", "EasyR1", "grpo, examples/config.yaml", "EasyR1's GRPO, clip-higher at 0.3 with dual clip, KL in the loss", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.3, 3) GRPO_KL_(K3, 0.01) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("easyr1-sapo", "EasyR1", "sapo, its script", "EasyR1's SAPO, soft gate with a token mean, no KL", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_SAPO_(1, 1.05) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-ppo", "Trinity-RFT", "algorithm grpo, policy loss ppo", \
        "Trinity's policy loss with dual clip under group advantages", \
        GRPO_VERL_NORM_ GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K2, 0.001) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-sppo", "Trinity-RFT", "sppo", "log-ratio times advantage inside a symmetric log-ratio band", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_SURROGATE_(LOG_RATIO) GRPO_TRUST_(LOG_TWO_SIDED, 0.26236426446749106, 0.26236426446749106) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-topr", "Trinity-RFT", "topr", "raw reward, token ratio truncated at 1 for non-positive rewards", \
        GRPO_BEHAVIOUR_(ROLLOUT) GRPO_SURROGATE_(TOPR) GRPO_SET_(surrogate.weight_max, 1) GRPO_KL_(K2, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-cispo", "Trinity-RFT", "cispo", "CISPO with detached weights from 0 to 1.28", \
        GRPO_VERL_NORM_ GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CISPO_(0, 1.28) GRPO_KL_(K2, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-sapo", "Trinity-RFT", "sapo", "SAPO with a detached gate before the log-probability", \
        GRPO_VERL_NORM_ GRPO_BEHAVIOUR_(ROLLOUT) GRPO_SURROGATE_(SAPO_DETACHED) GRPO_SET_(surrogate.tau_pos, 1) \
            GRPO_SET_(surrogate.tau_neg, 1.05) GRPO_KL_(K2, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-corrected-k3", "Trinity-RFT", "ppo, corrected_k3", "k3 weighted by the differentiated ratio, at most 2", \
        GRPO_VERL_NORM_ GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.001) \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) GRPO_SET_(penalty.kl_importance_weight_max, 2) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("torchforge-grpo", "torchforge", "SimpleGRPOLoss", "ratio of the policy to itself, k3 of 0.1", \
        GRPO_TRL_NORM_ GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_CURRENT) GRPO_SURROGATE_(RATIO) GRPO_KL_(K3, 0.1) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("torchforge-reinforce", "torchforge", "ReinforceLoss", "REINFORCE with the clipped detached ratio to the rollout policy", \
        GRPO_TRL_NORM_ GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_CISPO_(0.1, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("torchtune-grpo", "torchtune", "GRPOLoss", "torchtune's GRPO with clip and KL of 0.1, token mean", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.1, 0.1) GRPO_KL_(K3, 0.1) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("torchtune-sequence", "torchtune", "GRPOCompletionLoss as its comments say, without its KL", \
        "one product ratio for the whole response, clipped at 0.1; as shipped the product is over all responses", \
        GRPO_TRL_NORM_ GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLIP_(0.1, 0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("tinker-importance-sampling", "Tinker", "importance_sampling", "plain sum of ratio times advantage, no clip", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_SURROGATE_(RATIO)) \
    GRPO_ROW_("tinker-ppo", "Tinker", "ppo", "clipped ratio to the sampler, plain sum over tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_CLIP_(0.2, 0.2)) \
    GRPO_ROW_("tinker-cispo", "Tinker", "cispo", "detached ratio capped at 4, plain sum over tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) GRPO_CISPO_(0, 4)) \
    GRPO_ROW_("tinker-dro", "Tinker", "dro", "REINFORCE plus half squared log-ratio to the sampler, summed", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_KL_(K2, 0.05) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT)) \
    GRPO_ROW_("art-grpo", "OpenPipe ART", "default loss", "detached ratio from 0 to 5, response means", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-6) GRPO_MEAN_ABS_ \
            GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_CISPO_(0, 5) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("verl-agent-gspo", "verl-agent", "gspo", "GSPO-token with the log-ratio capped above at 10", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_LEVEL_CLAMP_(-HUGE_VAL, 10) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) \
            GRPO_CLIP_(0.2, 0.2) GRPO_SET_(penalty.entropy_coef, 0.001) \
            GRPO_CHOOSE_(penalty.entropy_aggregation, GRPO_PENALTY_AGGREGATION_TOKEN_MEAN) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("axolotl-grpo", "axolotl", "as axolotl", "TRL's clipped loss as reimplemented, token mean", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("a-star-po", "2505.20686", "A*-PO", "regresses the response log-ratio to the reference on the reward over an optimal value", \
        GRPO_BASELINE_(EXTERNAL) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_REF) GRPO_SURROGATE_(SQUARED) \
            GRPO_SET_(surrogate.beta, 0.001) GRPO_SET_(penalty.entropy_coef, 0.001) \
            GRPO_CHOOSE_(penalty.entropy_aggregation, GRPO_PENALTY_AGGREGATION_TOKEN_MEAN) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("pvpo", "2508.21104", "5 without its KL, 11", "baseline is the mean reward of a reference model on the prompt", \
        GRPO_BASELINE_(EXTERNAL) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("gvpo", "2504.19599", "objective, official code", \
        "variance of the group's log-ratios about its advantages, sum over tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(VARIANCE) GRPO_SET_(surrogate.beta, 0.1) \
            GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("real", "2602.05630", "section 3, split as ms-swift", \
        "rewards as labels: a logistic loss of the group's length-normalised log-ratios", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_SURROGATE_(LOGISTIC_LSE) GRPO_SET_(surrogate.tau_pos, 0.5) \
            GRPO_SET_(surrogate.tau_neg, 0.5) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("flowrl", "2509.15207", "6", "flow balance against a learned partition function, clipped weight of the response", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_REF) GRPO_SURROGATE_(TRAJECTORY_BALANCE) \
            GRPO_SET_(surrogate.reward_beta, 15) GRPO_POLICY_IS_(SEQUENCE_SUM, 0.8, 1.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("flowrl-code", "FlowRL", "official code", "FlowRL (2509.15207) as its code has it: the weight is not clipped", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_REF) GRPO_SURROGATE_(TRAJECTORY_BALANCE) \
            GRPO_SET_(surrogate.reward_beta, 15) GRPO_POLICY_IS_(SEQUENCE_SUM, 0, HUGE_VAL) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("amir-grpo", "2601.03661", "official code", "GRPO with a KL and a logistic loss of the pairs whose rewards are far apart", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-4) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) GRPO_PREFERENCE_(2, 0.5, 0.01) \
            GRPO_CHOOSE_(penalty.preference_score, GRPO_PREFERENCE_SCORE_REFERENCE_FREE) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("vapo", "2504.05118", "objective", "PPO with a lambda by length and the likelihood of right answers", \
        GRPO_CREDIT_(GAE, 1) GRPO_SET_(advantage.lambda_length, 0.05) GRPO_CLIP_(0.2, 0.28) GRPO_NLL_(CORRECT, NONE, 0.1) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("oreal", "xtuner", "oreal loss", \
        "OREAL (2502.06781): dual clip and likelihood, good and other tokens with means of their own", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-8) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_NLL_(POSITIVE, NONE, 1) \
            GRPO_DIVIDE_(TOKEN_MEAN_BY_SIGN)) \
    GRPO_ROW_("chord", "Trinity-RFT", "mix_chord, mu 0.1, over 0.9", \
        "CHORD (2508.11408): GRPO, and on selected tokens the likelihood weighted by p (1 - p) instead", \
        GRPO_VERL_NORM_ GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K2, 0.001111111111111111) \
            GRPO_NLL_(SELECTED, P_ONE_MINUS_P, 0.1111111111111111) GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_DROP) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("kdrl-areal", "AReaL", "gsm8k_grpo_distill", "GRPO and the log-ratio to a teacher, AReaL's recipe of KDRL (2506.02208)", \
        GRPO_AFFINE_(-0.5, 10, -20, 20) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-5) \
            GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_TOKENS) GRPO_SET_(advantage.batch_norm_eps, 1e-5) GRPO_CLIP_(0.4, 0.4) \
            GRPO_KL_(K1, 0.005) GRPO_KL_TO_TEACHER_ GRPO_ROLLOUT_IS_(MASK, TOKEN, 0, 5, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("kd-areal", "AReaL", "rl_loss_weight 0", "distillation alone: the ratio times the detached log-ratio to the teacher", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_BEHAVIOUR_(ROLLOUT) GRPO_KL_(K1, 0.005) GRPO_KL_TO_TEACHER_ \
            GRPO_CHOOSE_(penalty.kl_gradient, GRPO_KL_GRADIENT_DETACHED) \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gigpo-mean", "2505.10978", "3-8, as verl-agent, mean_norm", "GiGPO without deviations, the default of its function", \
        GRPO_STEP_CREDIT_(EPISODE_STEP, 0.95) GRPO_STEP_VALUES_(RETURN, STATE) GRPO_SET_(advantage.step_coef, 1) \
            GRPO_BASELINE_(GROUP_MEAN) GRPO_STEP_SAMPLES_ GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.01) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gigpo", "2505.10978", "3-8, as verl-agent, mean_std_norm", \
        "advantage of the episode plus that of the step among steps from the same state", \
        GRPO_STEP_CREDIT_(EPISODE_STEP, 0.95) GRPO_STEP_VALUES_(RETURN, STATE) GRPO_SET_(advantage.step_coef, 1) GRPO_GROUP_NORM_ \
            GRPO_STEP_SAMPLES_ GRPO_SET_(advantage.eps, 1e-6) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.01) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("roll-gigpo", "ROLL", "gigpo, ppo", "ROLL's GiGPO recipe, no deviation", \
        GRPO_STEP_CREDIT_(EPISODE_STEP, 0.95) GRPO_STEP_VALUES_(RETURN, STATE) GRPO_SET_(advantage.step_coef, 1) \
            GRPO_BASELINE_(GROUP_MEAN) GRPO_STEP_SAMPLES_ GRPO_SET_(advantage.clamp_low, -20) GRPO_SET_(advantage.clamp_high, 20) \
            GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.01) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(SEQ_MEAN_SEGMENT_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("step-reinforce", "ROLL", "step_reinforce, ppo", "ROLL's step returns alone, as they are", \
        GRPO_STEP_CREDIT_(STEP_OWN, 0.95) GRPO_STEP_VALUES_(RETURN, PROMPT) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_SEGMENT_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("hgpo", "2602.22817", "as its recipe in verl-agent", \
        "step advantages among steps of the same last one, two and three states, longer histories weigh more", \
        GRPO_STEP_CREDIT_(STEP_OWN, 0.95) GRPO_STEP_VALUES_(RETURN, HISTORY) GRPO_SET_(advantage.history_length, 3) \
            GRPO_SET_(advantage.history_power, 1) GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.01) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("nemo-gdpo", "NeMo-RL", "gdpo", \
        "NeMo-RL's GDPO, each reward against the others of the group, the sum normalised over the batch", \
        GRPO_CHOOSE_(advantage.rewards, GRPO_REWARDS_EACH) GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_SCALE_(LEAVE_ONE_OUT_STD) \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) GRPO_CLIP_(0.2, 0.2) \
            GRPO_KL_(K3, 0.01) GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_CHOOSE_(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-gdpo", "verl", "gdpo, vanilla", "verl's GDPO, the sum of normalised rewards whitened over tokens", \
        GRPO_VERL_NORM_ GRPO_CHOOSE_(advantage.rewards, GRPO_REWARDS_EACH) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_TOKENS) \
            GRPO_SET_(advantage.batch_norm_eps, 1e-8) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-otb", "verl", "optimal_token_baseline, vanilla", \
        "verl's optimal token baseline, returns weighted by the variance up to the token", \
        GRPO_CREDIT_(RETURN, 1) GRPO_CHOOSE_(advantage.token_baseline, GRPO_TOKEN_BASELINE_OPTIMAL_SHARED) GRPO_CLAMP_(-20, 20) \
            GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("bnpo", "2506.02864", "official code, run.sh", "centred rewards over a Beta density fitted to the success rates", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BETA) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_DUAL_(0.2, 0.28, 10) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("pkpo-max", "2505.15201", "19", "estimator of maxg@k without a baseline, rewards of any size", \
        GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_PKPO_MAX) GRPO_SET_(advantage.pass_k, 2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("pkpo-gain", "2505.15201", "33", "what a response adds to the best of the others in sets of k", \
        GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_PKPO_GAIN) GRPO_SET_(advantage.pass_k, 2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("gtpo", "2508.04349", "3, 5-7", "token rewards by share of the entropy, right and wrong tokens normalised apart", \
        GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE) GRPO_SET_(advantage.entropy_share_coef, 0.1) \
            GRPO_SET_(advantage.entropy_share_eps, 1e-8) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_EPS_(1e-8, INSIDE) \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("hicra", "textpolicy", "hicra, as textpolicy", "advantages of planning tokens are raised by a fifth of their size", \
        GRPO_BASELINE_(BATCH_MEAN) GRPO_CHOOSE_(advantage.marked, GRPO_MARKED_BOOST) GRPO_SET_(advantage.marked_value, 0.2) \
            GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("segment-gspo", "ROLL", "ratio_type segment", "one length-normalised ratio per turn of a response", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_LEVEL_(SEGMENT_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("art-average", "OpenPipe ART", "importance_sampling_level average, ppo", \
        "clips the mean of the token's ratio and of the response's", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-6) GRPO_MEAN_ABS_ \
            GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_INTERPOLATE_(ARITHMETIC) GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("art-geometric", "OpenPipe ART", "importance_sampling_level geometric_average, ppo", \
        "clips the root of the token's ratio times the response's", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-6) GRPO_MEAN_ABS_ \
            GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CLAMP_(-20, 20) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_HALVES_ GRPO_CLIP_(0.2, 0.2) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("hybrid-ratio", "textpolicy", "gspo, variant hybrid", \
        "the same root with the response's ratio detached, advantages centred in the batch", \
        GRPO_BASELINE_(BATCH_MEAN) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_HALVES_ \
            GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("fipo", "2603.19835", "5-8", "weighs tokens by how the policy has moved on what follows them", \
        GRPO_OVERLONG_(20480, 4096) GRPO_GROUP_NORM_ GRPO_DUAL_(0.2, 0.28, 10) GRPO_FIPO_(32, 10, 1, 1.2) GRPO_FIPO_SAFE_(10, 1, 1) \
            GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("vaco", "open-instruct", "VACO (2603.01365), rho_mask_tv_divergence", \
        "drops tokens that would add to a total variation from the sampler that is too large", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.272) GRPO_KL_(K3, 0.05) GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) \
            GRPO_SET_(penalty.kl_clamp_log, 40) GRPO_SET_(weight.rollout_clamp, 10) \
            GRPO_CHOOSE_(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) GRPO_SET_(weight.off_policy_mask_threshold, 2) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rec-ring", "2509.24203", "REC-Ring, as Trinity-RFT", \
        "REINFORCE on tokens inside a ring of ratios, or beyond a second one where it pulls back", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_TRUST_(RING, 0.2, 0.2) GRPO_REC_OUTER_(0.6, 2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("nemo-gspo", "NeMo-RL", "gspo, seq_logprob_error_threshold 2", \
        "recipe: GSPO without truncated responses and those on which two engines disagree", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_SCALE_(LEAVE_ONE_OUT_STD) GRPO_SET_(advantage.eps, 1e-6) GRPO_LEVEL_(SEQUENCE_MEAN) \
            GRPO_CLIP_(0.2, 0.28) GRPO_FINISHED_ GRPO_ROLLOUT_RS_(EXP_ABS, SEQUENCE_MEAN, 0, 2) \
            GRPO_CHOOSE_(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_UNMASK) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("verl-tis-normalized", "verl", "rollout_is sequence, 2, batch_normalize", \
        "verl's truncated sequence weights divided by their mean", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) \
            GRPO_CHOOSE_(weight.rollout_is_norm, GRPO_ROLLOUT_IS_NORM_MEAN) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("vopd", "2605.07865", "official code, full vocabulary", \
        "on-policy distillation with the teacher's expected gap as a control variate", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_CREDIT_(GAE, 0) GRPO_SET_(advantage.teacher_coef, 1) GRPO_CLIP_(0.2, 0.2) \
            GRPO_ROLLOUT_IS_(MASK, SEQUENCE_SUM, 0, 3, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("lightning-opd", "2604.13010", "official code", \
        "distillation with a clipped ratio on rollouts and teacher scores made once", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_SET_(advantage.teacher_coef, 1) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("siop", "2605.04984", "official code", "rewards of turns, normalised together over the group and summed to go", \
        GRPO_STEP_CREDIT_(STEP, 1) GRPO_CHOOSE_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) GRPO_GROUP_NORM_ \
            GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.005) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("igrpo", "2602.09000", "gradient of the second stage", "GRPO on prompts that carry the best of several drafts", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("sage-hint", "2602.03143", "official script", "GRPO as verl computes it, clip-higher, on prompts with a hint", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("spo-stream", "2509.13232", "official recipe", \
        "tracked value as baseline, normalised over the batch, one response a prompt", \
        GRPO_BASELINE_(EXTERNAL) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) GRPO_SET_(advantage.batch_norm_eps, 1e-8) \
            GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("nemotron-cascade", "2512.13607", "RL objective", \
        "strictly on-policy GRPO, ratio of the policy to itself, no KL, mean over the tokens of a prompt", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_CURRENT) GRPO_SURROGATE_(RATIO) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("rec-oneside-nois", "2509.24203", "official code, one-side, weight none", \
        "REINFORCE on the tokens where PPO's clip would not bind", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_TRUST_(ONE_SIDED, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rec-oneside-is", "2509.24203", "official code, one-side, importance_sampling", \
        "detached uncapped ratio times the score where PPO's clip would not bind: its gradient is PPO's", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CISPO_(0, HUGE_VAL) \
            GRPO_TRUST_(ONE_SIDED, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rec-twoside-nois", "2509.24203", "official code, two-side, weight none", \
        "REINFORCE on the tokens whose ratio is inside the band, whatever the advantage", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_TRUST_(TWO_SIDED, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rec-twoside-is", "2509.24203", "official code, two-side, importance_sampling", \
        "detached ratio times the score where the ratio is inside the band", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) GRPO_CISPO_(0, HUGE_VAL) \
            GRPO_TRUST_(TWO_SIDED, 0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("trinity-rec-gspo", "Trinity-RFT", "rec, gspo-one-side, gspo_importance_sampling", \
        "REC with the length-normalised ratio of the response as mask and detached weight", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_BEHAVIOUR_(ROLLOUT) \
            GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CISPO_(0, HUGE_VAL) GRPO_KL_(K2, 0.001) GRPO_KL_DIVIDE_(TOKEN_MEAN) \
            GRPO_TRUST_(ONE_SIDED, 0.2, 0.2) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("rep-k2", "2509.24203", "official code, regularizer k2", \
        "REINFORCE plus 0.1 times the squared log-ratio to the sampler, mean over tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_KL_(K2, 0.2) \
            GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("opmd-mean", "Trinity-RFT", "opmd, baseline mean", "REINFORCE with the group mean as baseline, divided by 1 + tau", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(CONSTANT) GRPO_SET_(advantage.scale_divisor, 2) \
            GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_KL_(K2, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("loop", "2502.01600", "official code, per token", \
        "leave-one-out baseline, token ratios clipped to 1/1.1 .. 1.1, mean of rollout means", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CLIP_(0.09090909090909091, 0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) GRPO_DROP_EMPTY_) \
    GRPO_ROW_("loop-trajectory", "2502.01600", "official code, per trajectory", \
        "leave-one-out baseline, product ratio of the rollout clipped to 1/1.1 .. 1.1", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CLIP_(0.09090909090909091, 0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN) \
            GRPO_DROP_EMPTY_) \
    GRPO_ROW_("agentflow", "2510.05592", "official code", "every turn a response of its prompt's group, under verl's loss", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.3, 3) GRPO_KL_(K3, 0.001) GRPO_SET_(penalty.kl_clamp_log, 20) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("glm-5", "2602.15763", "1", "GRPO without KL, rollout weights kept inside 0.5 to 2 and zero outside", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.28) GRPO_ROLLOUT_IS_(MASK, TOKEN, 0.5, 2, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("lopti", "2505.12929", "official code, Lopti", \
        "selected tokens alone in loss and KL, improbable ones first, then the others", \
        GRPO_VERL_NORM_ GRPO_DUAL_(0.2, 0.24, 10) GRPO_KL_(K3, 0.001) GRPO_CHOOSE_(penalty.kl_on, GRPO_KL_ON_SELECTED) \
            GRPO_SET_(penalty.kl_clamp_log, 5) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_KEEP) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("disco-b", "2505.12366", "DisCO-b, log-L, delta 1e-4 by kl_hinge", \
        "mean likelihood of right responses less that of wrong ones, binary rewards", \
        GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(DISCRIMINATIVE_MEAN) GRPO_KL_(K1, 0) \
            GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) GRPO_KL_DIVIDE_(TOKEN_MEAN) GRPO_DIVIDE_(GROUP_MEAN)) \
    /* DisCO's constraint on the KL: at every step the caller sets kl_coef = -grpo_kl_hinge(...): k1 to old estimates the negative KL */ \
    GRPO_ROW_("disco", "2505.12366", "DisCO, log-L, delta 1e-4 by kl_hinge", \
        "right responses against a soft maximum of the wrong ones, KL under a hinge", \
        GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(DISCRIMINATIVE_LSE) GRPO_SET_(surrogate.tau_neg, 10) \
            GRPO_KL_(K1, 0) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) GRPO_KL_DIVIDE_(TOKEN_MEAN) \
            GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("disco-ratio", "2505.12366", "DisCO, L-ratio, delta 1e-4 by kl_hinge", \
        "mean ratios of right responses against a soft maximum of the wrong ones, KL under a hinge", \
        GRPO_LEVEL_(SEQUENCE_MEAN_RATIO) GRPO_SURROGATE_(DISCRIMINATIVE_LSE) GRPO_CHOOSE_(surrogate.group_score, GRPO_GROUP_SCORE_RATIO) \
            GRPO_SET_(surrogate.tau_neg, 1) GRPO_KL_(K1, 0) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            GRPO_KL_DIVIDE_(TOKEN_MEAN) GRPO_DIVIDE_(GROUP_MEAN)) \
    /* length_decay = 1/(lambda T_max), lambda 0.1, T_max the largest length that a response may have, 8192 */ \
    GRPO_ROW_("drpo", "2510.04474", "objective, official code", "DisCO whose right responses weigh more the shorter they are", \
        GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(DISCRIMINATIVE_LSE) GRPO_SET_(surrogate.tau_neg, 10) \
            GRPO_SET_(surrogate.length_decay, 1/819.2) GRPO_KL_(K1, 0) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            GRPO_KL_DIVIDE_(TOKEN_MEAN) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("dno", "2404.03715", "algorithm 1, 8", "a sigmoid of differences of log-ratios regressed on that of differences of rewards", \
        GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(PAIRWISE_SOFT) GRPO_SET_(surrogate.beta, 0.1) \
            GRPO_SET_(surrogate.advantage_temperature, 1) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("dmpo", "2605.19461", "official code, pure_dmpo", \
        "likelihoods within the group drawn to a softmax of the advantages, squared differences", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(SOFTMAX_MSE) GRPO_SET_(surrogate.beta, 1) \
            GRPO_SET_(surrogate.advantage_temperature, 1.0 / 15) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("dmpo-js", "2605.19461", "official code, dmpo_js", "dmpo by the Jensen-Shannon divergence", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(SOFTMAX_JS) GRPO_SET_(surrogate.beta, 1) \
            GRPO_SET_(surrogate.advantage_temperature, 1.0 / 15) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("vpd", "2605.15113", "E-step, restated", \
        "logistic loss of right responses and of wrong ones, each with a mean; the shift is the caller's", \
        GRPO_LEVEL_(SEQUENCE_SUM) GRPO_BEHAVIOUR_(REF) GRPO_SURROGATE_(LOGISTIC) GRPO_SET_(surrogate.beta, 0.1) \
            GRPO_DIVIDE_(SEQ_MEAN_BY_SIGN)) \
    GRPO_ROW_("dispo", "2602.00983", "objective, restated", "CISPO with bounds for each sign of the advantage: 0.8 to 11, and 0 to 101", \
        GRPO_GROUP_NORM_ GRPO_SURROGATE_(DISPO) GRPO_SET_(surrogate.weight_min, 0.8) GRPO_SET_(surrogate.weight_max, 11) \
            GRPO_SET_(surrogate.weight_max_neg, 101) GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("bgpo", "2510.11683", "9-10, 12-14, 18-19", "a bound of the ratio objective; a token is one Monte Carlo term of a response", \
        GRPO_GROUP_NORM_ GRPO_SURROGATE_(BGPO) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("ctpo", "2605.07331", "official code, cumprod", \
        "product of the ratios so far, clipped in log space by the root of the position", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(PREFIX_SUM) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_CLAMP_(-20, 20) \
            GRPO_LEVEL_CLAMP_(-HUGE_VAL, 10) GRPO_LOG_DUAL_(0.025, 0.05, 0.05, 0.5) \
            GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("ctpo-geomean", "2605.07331", "official code, geomean", "geometric mean of the ratios so far, clipped tighter the later", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(PREFIX_MEAN) GRPO_CHOOSE_(ratio.gradient, GRPO_GRADIENT_TOKEN) GRPO_CLAMP_(-20, 20) \
            GRPO_LEVEL_CLAMP_(-HUGE_VAL, 10) GRPO_LOG_DUAL_(0.025, 0.05, 0.05, -0.5) \
            GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT) GRPO_DIVIDE_(TOKEN_MEAN)) \
    /* the code's default: the caller sets shaping_gamma = max(0.9-quantile of the ratios of the tokens with shaping_mask, 1e-4) */ \
    GRPO_ROW_("guide-grpo", "2506.13923", "official code, constant g", \
        "w/(w + 1) in place of the clip at tokens of responses that had a hint", \
        GRPO_VERL_NORM_ GRPO_SURROGATE_(POLICY_SHAPING) GRPO_CLIP_RANGE_(0.2, 0.2) GRPO_SET_(surrogate.shaping_gamma, 1) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("llds", "2512.04220", "1, 4-6", "GRPO, and a penalty on likelihood that turns of good responses lose", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) GRPO_NLL_(NOT_NEGATIVE, NONE, 0.2) \
            GRPO_CHOOSE_(penalty.nll_form, GRPO_NLL_FORM_DISPLACEMENT) GRPO_CHOOSE_(penalty.nll_gate, GRPO_NLL_GATE_SEGMENT) \
            GRPO_DIVIDE_(GROUP_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("sdar", "2605.15155", "as ms-swift, recipe", "swift-grpo, and the gap to a teacher where its gate is open, a recipe", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.04) GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_NLL_(ALL, TEACHER_GATE, 0.1) GRPO_CHOOSE_(penalty.nll_form, GRPO_NLL_FORM_TEACHER_GAP) \
            GRPO_SET_(penalty.nll_teacher_slope, 5) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("rlsd", "2604.03128", "as ms-swift", \
        "swift-grpo with advantages that a teacher's log-ratio raises or lowers by at most a tenth", \
        GRPO_TRL_NORM_ GRPO_SET_(advantage.teacher_share, 0.5) GRPO_SET_(advantage.teacher_clip, 0.2) GRPO_CLIP_(0.2, 0.2) \
            GRPO_KL_(K3, 0.04) GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("igpo", "2510.14967", "5-7 of the second version", \
        "rewards of turns normalised by kind, which is their state, and summed to go", \
        GRPO_STEP_CREDIT_(STEP, 1) GRPO_STEP_VALUES_(REWARD, STATE) GRPO_CHOOSE_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) \
            GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("tempo", "2509.18314", "official code", "what a token adds to the mean reward of the responses with the same prefix", \
        GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_PREFIX_TREE) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_CLAMP_(-20, 20) \
            GRPO_DUAL_(0.2, 0.28, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("red-drop", "2509.24203", "RED-Drop, as Trinity-RFT", \
        "REINFORCE without the negatives that the caller drew, which still count as tokens", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) \
            GRPO_CHOOSE_(advantage.excluded, GRPO_EXCLUDED_ZERO) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("temp-samp", "2509.18056", "1, 3, without the KL", "on-policy GRPO and a response from elsewhere, worth 1.2 times the best", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.excluded, GRPO_EXCLUDED_ANCHOR) GRPO_SET_(advantage.excluded_coef, 1.2) \
            GRPO_BEHAVIOUR_(CURRENT) GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(RATIO) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("gtpo-conf", "2508.03772", "objective of its official page", \
        "advantages less the response's entropy, none where it is high, grpo_conflict_weight", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.entropy, GRPO_ENTROPY_RESPONSE) GRPO_SET_(advantage.entropy_coef, 0.1) \
            GRPO_SET_(advantage.entropy_max, 0.6931471805599453) GRPO_BEHAVIOUR_(CURRENT) GRPO_SURROGATE_(RATIO) \
            GRPO_CHOOSE_(weight.external, GRPO_EXTERNAL_POLICY) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("t-ppo", "2506.15050", "as the change to verl", \
        "PPO on windows of responses that go on: the last value repeats, the last tokens wait", \
        GRPO_GAE_(1, 0.95) GRPO_CHOOSE_(advantage.bootstrap, GRPO_BOOTSTRAP_REPEAT) GRPO_SET_(advantage.lambda_length, 0.05) \
            GRPO_SET_(advantage.truncated_tail, 8) GRPO_SCALE_(TOKEN_WHITEN) GRPO_EPS_(1e-8, INSIDE) GRPO_SET_(advantage.clamp_low, -10) \
            GRPO_SET_(advantage.clamp_high, 10) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 10) GRPO_NLL_(CORRECT, NONE, 0.1) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("rank-grpo", "2510.20150", "official script", "items of a list compared rank by rank, each with a ratio of its own", \
        GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_STEP_OWN) GRPO_STEP_VALUES_(REWARD, INDEX) GRPO_TRL_NORM_ GRPO_LEVEL_(SEGMENT_MEAN) \
            GRPO_CLIP_(0.06, 0.08) GRPO_KL_(K3, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("minillm", "2306.08543", "as TRL while ratios are 1, without the single-step term", \
        "TRL's loss with the teacher's log-ratio in the advantage, which is differentiated", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K1, 1) GRPO_KL_TO_TEACHER_ \
            GRPO_CHOOSE_(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("cfpo", "2601.22801", "CFPO, as verl's port", "no clip: a parabola in the ratio whose best is at 1 + eps or 1 - eps", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_SURROGATE_(QUADRATIC) GRPO_SET_(surrogate.quadratic_eps, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("up-grpo", "2607.06987", "15, as the author's code", \
        "REINFORCE where the advantage is positive, dual clip where it is negative, KL of 0.001", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_SURROGATE_(UNBOUNDED_POSITIVE) GRPO_CLIP_RANGE_(0.2, 0.2) \
            GRPO_SET_(surrogate.clip_dual, 3) GRPO_KL_(K3, 0.001) GRPO_SET_(penalty.kl_clamp_log, 20) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gift", "2510.23868", "as the author's pull request to verl", \
        "the response's log-ratio, standardised over the group, regressed on the advantage", \
        GRPO_VERL_NORM_ GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(STANDARDISED) GRPO_SET_(surrogate.beta, 1) \
            GRPO_SET_(surrogate.group_score_eps, 1e-6) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("tpo", "2604.06159", "1-3", \
        "cross-entropy of the group's likelihoods to the old ones tilted by the advantages", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_LEVEL_(SEQUENCE_SUM) \
            GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_NONE) GRPO_SURROGATE_(TILTED_CROSS_ENTROPY) GRPO_SET_(surrogate.beta, 1) \
            GRPO_SET_(surrogate.advantage_temperature, 1) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("click", "2306.03350", "contrastive loss, official code", \
        "hinge on how far each better response's likelihood is above a worse one's", \
        GRPO_LEVEL_(SEQUENCE_SUM) GRPO_CHOOSE_(ratio.behaviour, GRPO_BEHAVIOUR_NONE) GRPO_SURROGATE_(PAIRWISE_HINGE) \
            GRPO_SET_(surrogate.beta, 1) GRPO_SET_(surrogate.hinge_margin, 20) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("minirl", "2512.01374", "5, 7", \
        "detached ratio times the score where PPO's clip would not bind, rollout weights up to 5", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CISPO_(0, HUGE_VAL) GRPO_TRUST_(ONE_SIDED, 0.2, 0.27) \
            GRPO_ROLLOUT_IS_(TRUNCATE, TOKEN, 0, 5, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("mirror-descent", "2501.12599", "token by token, as verl's port", \
        "REINFORCE with the group mean as baseline and a squared log-ratio, token by token", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_KL_(K2, 100) \
            GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("dapo-zv", "TRL", "dapo_zv, as proposed", "recipe: TRL's loss over the tokens of the groups whose rewards differ", \
        GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN_NONZERO_STD)) \
    GRPO_ROW_("dgpo", "2601.20614", "3-5", \
        "divided by the mean absolute deviation; the weights of prompts are grpo_difficulty_weight, by weight.external policy", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(MEAN_ABSOLUTE_DEVIATION) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN_NONZERO_STD)) \
    GRPO_ROW_("f-grpo", "2602.06717", "11-13, appendix L", "advantages times the root of the prompt's share of failures", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.reweight, GRPO_REWEIGHT_FOCAL) GRPO_SET_(advantage.focal_gamma, 0.5) \
            GRPO_SET_(advantage.focal_reward_high, 1) GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("reg-grpo", "2506.07464", "5-8, without the KL", "GRPO's advantage regressed on the response's log-ratio, standardised too", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_SUM) GRPO_SURROGATE_(REGRESSION) GRPO_SET_(surrogate.beta, 1) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    /* rewards must be the paper's preference levels: positive for the best, 0, -1, -2 for the worse ones */ \
    GRPO_ROW_("trpa", "2504.04524", "official code", "pairs of better and worse responses, KL to the old policy", \
        GRPO_SURROGATE_(NONE) GRPO_KL_(K3, 0.001) GRPO_CHOOSE_(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_CHOOSE_(penalty.preference, GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE) \
            GRPO_SET_(penalty.preference_beta, 0.1) GRPO_SET_(penalty.preference_coef, 1) GRPO_SET_(penalty.preference_kappa, 2.5) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("mt-guide", "2510.01132", "official script, dense rewards", "verl's PPO with a reward at the end of each turn", \
        GRPO_REWARD_K1_(0.01) GRPO_GAE_(1, 1) GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_STEP_GAE) GRPO_SCALE_(TOKEN_WHITEN) \
            GRPO_EPS_(1e-8, INSIDE) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    /* the caller sets ratio.power and ratio.token_clip_high at every step: grpo_power_mean_bounds */ \
    GRPO_ROW_("apmpo", "2605.04066", "objective, at a mean reward of 0", \
        "power mean of a response's clipped token ratios, from GRPO's to GMPO's", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_POWER_MEAN) GRPO_SET_(ratio.power, 1) GRPO_SET_(ratio.token_clip_low, 0.2231435513142097) \
            GRPO_SET_(ratio.token_clip_high, 0.1823215567939546) GRPO_SURROGATE_(RATIO) GRPO_KL_(K3, 0.001) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("dapo-recipe", "2503.14476", "the authors' script", "the authors' recipe: mean over the batch's tokens, dual clip at 10", \
        GRPO_OVERLONG_(20480, 4096) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-6) GRPO_DUAL_(0.2, 0.28, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("maxrl-passk", "2602.02710", "official code", "pass@k reward transform with leave-one-out baseline", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CHOOSE_(advantage.transform, GRPO_TRANSFORM_PKPO_MAXRL) GRPO_SET_(advantage.pass_k, 2) \
            GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("flow-grpo", "2505.05470", "Flow-GRPO objective, as its code", "steps of a sampler, deviation of the batch, a Gaussian KL", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-4) \
            GRPO_SET_(advantage.clamp_low, -5) GRPO_SET_(advantage.clamp_high, 5) GRPO_CLIP_(1e-4, 1e-4) GRPO_KL_(EXTERNAL, 0.04) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("dance-grpo", "2505.07818", "DanceGRPO objective, as its code", "steps of a sampler, a random subset of them, no KL", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-8) GRPO_SET_(advantage.clamp_low, -5) GRPO_SET_(advantage.clamp_high, 5) \
            GRPO_CLIP_(1e-4, 1e-4) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("mix-grpo", "2507.21802", "MixGRPO objective, as its code", \
        "a window of stochastic steps, each reward standardised by itself", \
        GRPO_CHOOSE_(advantage.rewards, GRPO_REWARDS_EACH) GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-8) \
            GRPO_SET_(advantage.clamp_low, -5) GRPO_SET_(advantage.clamp_high, 5) GRPO_CLIP_(1e-4, 1e-4) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("flash-grpo", "2605.15980", "Flash-GRPO objective, as its code", \
        "one stochastic step per sample, weighted by one over its gradient's scale, the weights' mean being 1", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-4) \
            GRPO_SET_(advantage.clamp_low, -5) GRPO_SET_(advantage.clamp_high, 5) GRPO_CLIP_(1e-3, 1e-3) \
            GRPO_CHOOSE_(weight.external, GRPO_EXTERNAL_POLICY) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("grpo-guard", "2510.22319", "GRPO-Guard objective, as its code", "a sampler's steps weighted alike, unbiased log-ratios", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_SET_(advantage.eps, 1e-4) \
            GRPO_SET_(advantage.clamp_low, -5) GRPO_SET_(advantage.clamp_high, 5) GRPO_CLIP_(2e-6, 2e-6) \
            GRPO_CHOOSE_(weight.external, GRPO_EXTERNAL_POLICY) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("flow-dppo", "2606.11025", "17-18", "no clip: steps that have diverged the way their advantage wants are dropped", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_SCALE_(BATCH_STD) GRPO_SET_(advantage.eps, 1e-8) GRPO_SURROGATE_(RATIO) \
            GRPO_TRUST_(DIVERGENCE, 1e-5, 1e-5) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("sage-grpo-video", "2603.21872", "SAGE-GRPO objective, as its code", \
        "steps balanced by a schedule, KL to a reference that moves", \
        GRPO_GROUP_NORM_ GRPO_CHOOSE_(advantage.std, GRPO_STD_POPULATION) GRPO_EPS_(1e-12, FLOOR) GRPO_SET_(advantage.clamp_low, -5) \
            GRPO_SET_(advantage.clamp_high, 5) GRPO_CLIP_(1e-4, 1e-4) GRPO_KL_(EXTERNAL, 1e-7) GRPO_NLL_(ALL, NONE, 1e-8) \
            GRPO_CHOOSE_(weight.external, GRPO_EXTERNAL_POLICY) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("diffu-grpo", "2504.12216", "diffu-GRPO objective, as its code", \
        "a masked language model in one step, reward less the mean", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.5, 0.5) GRPO_KL_(K3, 0.04) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("agrpo", "2510.04019", "AGRPO objective, as its code", "tokens of drawn unmasking steps, weighted by how they were drawn", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_CHOOSE_(weight.external, GRPO_EXTERNAL_TERM) GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) \
            GRPO_SET_(aggregation.constant, 24)) \
    GRPO_ROW_("espo", "2512.03759", "ESPO objective, as its code", "ratio of evidence lower bounds per response, leave-one-out baseline", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(EXTERNAL, 1e-3) \
            GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("conspo", "2605.12969", "8, 13", \
        "each right response against the wrong ones of its group, by mean log-probabilities and with a margin, no ratio", \
        GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_BEHAVIOUR_(NONE) GRPO_SURROGATE_(CONTRASTIVE) GRPO_SET_(surrogate.contrast_temperature, 10) \
            GRPO_SET_(surrogate.contrast_margin, 0.01) GRPO_DIVIDE_(GROUP_MEAN)) \
    GRPO_ROW_("drpo-quadratic", "2606.09821", "5, 9, as its recipe", \
        "no clip: a parabola around ratio 1 that is as steep as the sampler's probability", \
        GRPO_BASELINE_(GROUP_MEAN) GRPO_CLAMP_(-20, 20) GRPO_BEHAVIOUR_(ROLLOUT) GRPO_SURROGATE_(QUADRATIC_PROBABILITY) \
            GRPO_SET_(surrogate.quadratic_eps, 12.5) GRPO_DIVIDE_(SEQ_MEAN_CONSTANT) GRPO_SET_(aggregation.constant, 8192)) \
    GRPO_ROW_("qarl-tbpo", "2604.07853", "restated", \
        "GSPO against a quantised sampler: bad responses keep a gradient inside a band of the ratio alone", \
        GRPO_GROUP_NORM_ GRPO_LEVEL_(SEQUENCE_MEAN) GRPO_CLIP_(3e-4, 4e-4) GRPO_TRUST_(NEGATIVE_BAND, 3e-4, 7e-4) \
            GRPO_ROLLOUT_IS_(TRUNCATE, SEQUENCE_MEAN, 0, 2, ZERO_WEIGHT) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("sapo-step", "2605.17648", "early code of the first author", \
        "rewards of steps, each compared with the same step of the other responses and kept by its own tokens", \
        GRPO_CHOOSE_(advantage.credit, GRPO_CREDIT_STEP_OWN) GRPO_STEP_VALUES_(REWARD, INDEX) GRPO_GROUP_NORM_ GRPO_EPS_(1e-12, FLOOR) \
            GRPO_CHOOSE_(advantage.singleton, GRPO_SINGLETON_RAW) GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.001) \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("erc", "2512.05591", "official code, DAPO", \
        "selected tokens alone, whose entropy has changed by less than 5 %; and a tenth of the likelihood of right responses", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.28, 10) GRPO_NLL_(CORRECT, NONE, 0.1) \
            GRPO_CHOOSE_(weight.selected, GRPO_SELECTED_KEEP) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("gigpo-paper", "2505.10978", "3-9", "GiGPO as its paper writes it: one ratio and one term a turn, means over turns", \
        GRPO_STEP_CREDIT_(EPISODE_STEP, 0.95) GRPO_STEP_VALUES_(RETURN, STATE) GRPO_SET_(advantage.step_coef, 1) GRPO_GROUP_NORM_ \
            GRPO_LEVEL_(SEGMENT_SUM) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.01) GRPO_DIVIDE_(SEQ_MEAN_SEGMENT_MEAN)) \
    GRPO_ROW_("amir-grpo-recipe", "2601.03661", "authors' command", "amir-grpo with a flatter logistic loss of the pairs", \
        GRPO_GROUP_NORM_ GRPO_SET_(advantage.eps, 1e-4) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) GRPO_PREFERENCE_(2, 0.2, 0.01) \
            GRPO_CHOOSE_(penalty.preference_score, GRPO_PREFERENCE_SCORE_REFERENCE_FREE) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("sdar-recipe", "2605.15155", "official code and script", \
        "verl-agent's GRPO, a turn is a response, and the gap to a teacher where its gate is open", \
        GRPO_VERL_NORM_ GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 0.01) GRPO_SET_(penalty.kl_clamp_value, 10) \
            GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_NLL_(ALL, TEACHER_GATE, 0.01) \
            GRPO_CHOOSE_(penalty.nll_form, GRPO_NLL_FORM_TEACHER_GAP) GRPO_SET_(penalty.nll_teacher_slope, 5) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("loop-paper", "2502.01600", "per token", \
        "leave-one-out baseline, token ratios clipped to 1 - eps .. 1 + eps, eps of the code; the caller masks |A| < 0.01", \
        GRPO_BASELINE_(LEAVE_ONE_OUT) GRPO_CLIP_(0.1, 0.1) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_MEAN)) \
    GRPO_ROW_("agentflow-paper", "2510.05592", "5-7", \
        "GRPO whose means are over turns of means over their tokens, clip range of the code", \
        GRPO_GROUP_NORM_ GRPO_CLIP_(0.2, 0.3) GRPO_KL_(K3, 0.001) GRPO_DIVIDE_(SEQ_MEAN_SEGMENT_MEAN)) \
    GRPO_ROW_("llds-code", "2512.04220", "official code and script", \
        "GRPO of Search-R1, and a penalty on likelihood that turns of good responses lose, divided by the number of all tokens", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-HUGE_VAL, 4.605170185988092) GRPO_CLIP_(0.2, 0.2) GRPO_KL_(K3, 0.001) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_SET_(penalty.entropy_coef, 0.001) GRPO_NLL_(NOT_NEGATIVE, NONE, 0.2) \
            GRPO_CHOOSE_(penalty.nll_form, GRPO_NLL_FORM_DISPLACEMENT) GRPO_CHOOSE_(penalty.nll_gate, GRPO_NLL_GATE_SEGMENT) \
            GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("spo-stream-paper", "2509.13232", "8-10", \
        "tracked value as baseline, normalised over the batch, the recipe's clip range, no dual clip", \
        GRPO_BASELINE_(EXTERNAL) GRPO_CHOOSE_(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) GRPO_CLIP_(0.2, 0.28) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("lightning-opd-paper", "2604.13010", "2-4", \
        "the log-ratio of the teacher to the policy as advantage, no ratio, no clip", \
        GRPO_AFFINE_(0, 0, 0, 0) GRPO_SET_(advantage.teacher_coef, 1) GRPO_SET_(advantage.clamp_low, -10) \
            GRPO_SET_(advantage.clamp_high, 10) GRPO_DIVIDE_(SEQ_MEAN_TOKEN_SUM)) \
    GRPO_ROW_("mt-grpo", "2505.11821", "official code, aae", \
        "reward of the turn and of the outcome, each compared by itself, both for what comes before the tool's result", \
        GRPO_STEP_CREDIT_(STEP, 1) GRPO_STEP_VALUES_(REWARD, INDEX) GRPO_CHOOSE_(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) \
            GRPO_TRL_NORM_ GRPO_CLIP_(0.2, 0.2) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-opd", "verl", "distillation k3, use_task_rewards false", \
        "verl's on-policy distillation alone: the bounded k3 to a teacher, differentiated", \
        GRPO_SURROGATE_(NONE) GRPO_KL_(K3, 1) GRPO_KL_TO_TEACHER_ GRPO_SET_(penalty.kl_clamp_log, 20) \
            GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN)) \
    GRPO_ROW_("verl-opd-task", "verl", "distillation k3, vanilla", \
        "verl's GRPO and, beside it, its distillation: the bounded k3 to a teacher", \
        GRPO_VERL_NORM_ GRPO_CLAMP_(-20, 20) GRPO_DUAL_(0.2, 0.2, 3) GRPO_KL_(K3, 1) GRPO_KL_TO_TEACHER_ \
            GRPO_SET_(penalty.kl_clamp_log, 20) GRPO_SET_(penalty.kl_clamp_value, 10) GRPO_DIVIDE_(TOKEN_MEAN))

/* ---- from the table to an objective ----
 * GRPO_ROWS_ is expanded three times: to the settings, to their numbers, and to the names.  A setting is a uint16_t: the low 9 bits are the
 * offset of its field in grpo_objective, in units of 4 bytes; the high bits the choice + 1, or 0 for a field that takes the next element of
 * numbers[].  GRPO_ROW_END_ ends a row.  A field of another size, or a value that does not fit these bits, does not compile. */
enum { GRPO_ROW_END_ = 0xffff, GRPO_PLACES_ = 512, GRPO_MOST_CHOICES_ = 126 };
#define GRPO_PLACE_(path, type) (offsetof(grpo_objective, path) / 4 + 0 * sizeof(char[ \
    sizeof(((grpo_objective *)0)->path) == sizeof(type) && sizeof(grpo_objective) / 4 < GRPO_PLACES_ && sizeof(int) == 4 ? 1 : -1]))
#define GRPO_CHOSEN_(choice) ((size_t)(choice) + 1 + 0 * sizeof(char[(int)(choice) < GRPO_MOST_CHOICES_ ? 1 : -1]))
static grpo_objective grpo_objective_of_row_(int row) {
#define GRPO_ROW_(name, paper, equations, summary, ...) __VA_ARGS__ GRPO_ROW_END_,
#define GRPO_SET_(path, value) (uint16_t)GRPO_PLACE_(path, double),
#define GRPO_CHOOSE_(path, choice) (uint16_t)(GRPO_PLACE_(path, int) | GRPO_CHOSEN_(choice) * GRPO_PLACES_),
    static const uint16_t settings[] = { GRPO_ROWS_ };
#undef GRPO_ROW_
#undef GRPO_SET_
#undef GRPO_CHOOSE_
#define GRPO_ROW_(name, paper, equations, summary, ...) __VA_ARGS__
#define GRPO_SET_(path, value) value,
#define GRPO_CHOOSE_(path, choice)
    static const double numbers[] = { GRPO_ROWS_ };
#undef GRPO_ROW_
    const uint16_t *s = settings;
    const double *number = numbers;
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    for (; *s != GRPO_ROW_END_ || row > 0; s++) {
        char *field = (char *)&obj + 4 * (*s % GRPO_PLACES_);
        const int choice = *s / GRPO_PLACES_ - 1;
        if (*s == GRPO_ROW_END_) row--;
        else if (choice < 0) {
            if (row == 0) memcpy(field, number, sizeof *number);
            number++;
        } else if (row == 0) memcpy(field, &choice, sizeof choice);
    }
    return obj;
}

const grpo_preset *grpo_presets(int *count) {
#define GRPO_ROW_(name, paper, equations, summary, ...) { name, paper, equations, summary },
    static const grpo_preset presets[] = { GRPO_ROWS_ };
    *count = (int)(sizeof presets / sizeof *presets);
    return presets;
}
#undef GRPO_ROWS_
#undef GRPO_PLACE_
#undef GRPO_CHOSEN_
#undef GRPO_ROW_
#undef GRPO_SET_
#undef GRPO_CHOOSE_
#undef GRPO_OVERLONG_
#undef GRPO_REWARD_K1_
#undef GRPO_AFFINE_
#undef GRPO_CREDIT_
#undef GRPO_STEP_CREDIT_
#undef GRPO_GAE_
#undef GRPO_STEP_VALUES_
#undef GRPO_BASELINE_
#undef GRPO_SCALE_
#undef GRPO_EPS_
#undef GRPO_GROUP_NORM_
#undef GRPO_TRL_NORM_
#undef GRPO_VERL_NORM_
#undef GRPO_LEVEL_
#undef GRPO_CLAMP_
#undef GRPO_LEVEL_CLAMP_
#undef GRPO_BEHAVIOUR_
#undef GRPO_SURROGATE_
#undef GRPO_CLIP_RANGE_
#undef GRPO_CLIP_
#undef GRPO_DUAL_
#undef GRPO_LOG_DUAL_
#undef GRPO_CISPO_
#undef GRPO_SAPO_
#undef GRPO_VESPO_
#undef GRPO_KL_
#undef GRPO_KL_TO_TEACHER_
#undef GRPO_NLL_
#undef GRPO_PREFERENCE_
#undef GRPO_POLICY_IS_
#undef GRPO_FINISHED_
#undef GRPO_ROLLOUT_IS_
#undef GRPO_TRUST_
#undef GRPO_REC_OUTER_
#undef GRPO_ROLLOUT_RS_
#undef GRPO_FIPO_
#undef GRPO_FIPO_SAFE_
#undef GRPO_INTERPOLATE_
#undef GRPO_HALVES_
#undef GRPO_MEAN_ABS_
#undef GRPO_STEP_SAMPLES_
#undef GRPO_KL_DIVIDE_
#undef GRPO_DIVIDE_
#undef GRPO_DROP_EMPTY_

/* ---- what helps, for messages ---- */
#ifndef GRPO_NO_TEXT
enum { GRPO_LONGEST_NAME_ = 64 };

static int grpo_letter_(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c == '_' || c == ' ' ? '-' : c; }

/* 1 if one of them, of at least three letters, begins the other */
static int grpo_begins_(const char *given, size_t length, const char *name, size_t n) {
    const size_t both = length < n ? length : n;
    for (size_t j = 0; j < both; j++) if (grpo_letter_(given[j]) != grpo_letter_(name[j])) return 0;
    return both >= 3;
}

/* how many letters must be inserted, left out or replaced to get name (n) from given, capitals and underscores aside */
static int grpo_edits_(const char *given, const char *name, size_t n) {
    int edits[GRPO_LONGEST_NAME_ + 1];                       /* from the letters of `given` so far to the first j of name */
    for (size_t j = 0; j <= n; j++) edits[j] = (int)j;
    for (; *given; given++) {
        int corner = edits[0]++;
        for (size_t j = 1; j <= n; j++) {
            const int replaced = corner + (grpo_letter_(*given) != grpo_letter_(name[j - 1]));
            corner = edits[j];
            edits[j] = (edits[j] < edits[j - 1] ? edits[j] : edits[j - 1]) + 1;
            if (replaced < edits[j]) edits[j] = replaced;
        }
    }
    return edits[n];
}

/* makes k the nearest if name (n) is nearer than all before it, and at most about a third of `given` is different */
static void grpo_compare_name_(const char *given, const char *name, size_t n, int k, int *nearest, int *least) {
    const size_t length = strlen(given);
    const int edits = length && length <= GRPO_LONGEST_NAME_ && n <= GRPO_LONGEST_NAME_ ? grpo_edits_(given, name, n) : *least;
    if (edits >= *least || edits > (int)length / 3 + 1) return;
    *nearest = k;
    *least = edits;
}

/* the name of row k, of field k, or of choice k of a field, up to 0 or |; NULL: there is none */
static const char *grpo_name_of_kind_(int what, int64_t k) {
    int n, rows;
    const grpo_field *f = grpo_fields(&n);
    const grpo_preset *row = grpo_presets(&rows);
    const char *name = what >= 1 && what <= n ? f[what - 1].choices : NULL;
    if (what == GRPO_AT_name_) return k >= 0 && k < rows ? row[k].name : NULL;
    if (what == GRPO_AT_path_) return k >= 0 && k < n ? f[k].path : NULL;
    for (; name && k > 0; k--) {
        name = strchr(name, '|');
        if (name) name++;
    }
    return k < 0 ? NULL : name;
}

/* a path may be without its axis: of paths that are as near, the last, so that kl_coef stands for penalty.kl_coef */
static int grpo_nearest_(int what, const char *given) {
    int n, nearest = -1, least = GRPO_LONGEST_NAME_;
    const grpo_field *f = grpo_fields(&n);
    const char *name;
    for (int k = n - 1; given && what == GRPO_AT_path_ && k >= 0; k--) {
        name = strchr(f[k].path, '.') + 1;
        grpo_compare_name_(given, f[k].path, strlen(f[k].path), k, &nearest, &least);
        grpo_compare_name_(given, name, strlen(name), k, &nearest, &least);
        if (least > 1 && strchr(given, '.') && strlen(given) < strlen(f[k].path)
            && grpo_begins_(given, strlen(given), f[k].path, strlen(f[k].path))) { nearest = k; least = 1; }
    }
    for (int k = 0; given && what != GRPO_AT_path_ && (name = grpo_name_of_kind_(what, k)) != NULL; k++) {
        const size_t size = strcspn(name, "|");
        grpo_compare_name_(given, name, size, k, &nearest, &least);
        const int begun = strlen(given) < size ? 1 : 2;                    /* an abbreviation counts as one edit, an addition as two */
        if (least > begun && grpo_begins_(given, strlen(given), name, size)) { nearest = k; least = begun; }
    }
    return nearest;
}

/* X(rule, what it is about, what helps) */
#define GRPO_REMEDIES_(X) \
    X(GRPO_TOO_SMALL, totals, ": this batch has more; first give every part to grpo_totals_add, with the same groups") \
    X(GRPO_TOO_SMALL, moments, ": this batch has more responses; give every part to grpo_moments_add first") \
    X(GRPO_TOO_SMALL, scratch_size, ": gspo_scratch says how many doubles") X(GRPO_NULL, scratch, ": gspo_scratch says how many doubles") \
    X(GRPO_OUT_OF_RANGE, totals, ": was it zero-initialised?") X(GRPO_OUT_OF_RANGE, partial, ": was it zero-initialised?") \
    X(GRPO_OUT_OF_RANGE, moments, ": was it zero-initialised?") X(GRPO_OUT_OF_RANGE, into, ": was it zero-initialised?") \
    X(GRPO_OUT_OF_RANGE, from, ": was it zero-initialised?") X(GRPO_OUT_OF_RANGE, group_begin, ": at most 2^32, of int64_t") \
    X(GRPO_NOT_INCREASING, group_begin, ": n_groups + 1 elements of int64_t, where each group begins and the last ends") \
    X(GRPO_PAST_END, offset, ", which is the size of arrays per token") X(GRPO_PAST_END, length, ", which is the size of arrays per token")

/* X(array, what reads it): what a message adds if it is missing */
#define GRPO_READERS_(X) \
    X(logp_old, "of the policy at the start of the update, for ratios and divergences") \
    X(logp_ref, "of the frozen reference, for penalty.kl, reward.kl, ratio.behaviour ...") \
    X(logp_rollout, "of the sampler, for weight.rollout_is, rollout_rs, rollout_veto ...") \
    X(logp_teacher, "of a teacher, for advantage.teacher_*, penalty.kl_reference, nll_*") \
    X(entropy, "for penalty.entropy_coef, advantage.entropy or advantage.credit") X(value, "for advantage.credit gae and step_gae") \
    X(step_end, "for advantage.credit of steps") X(step_reward, "for advantage.credit of steps") \
    X(segment_end, "for segments, of ratio.level, weight.rollout_*_level, aggregation.kind ...") X(selected, "for weight.selected") \
    X(kl_mask, "for penalty.kl_on") X(nll_mask, "for penalty.nll_on") X(marked, "for advantage.marked") \
    X(shaping_mask, "for surrogate.kind policy_shaping") X(state, "for advantage.step_group") \
    X(token_id, "for advantage.credit prefix_tree") X(sum_pi_squared, "for advantage.token_baseline") \
    X(rewards, "for advantage.rewards each") X(truncated, "for reward.truncated and weight.truncated") \
    X(baseline, "for advantage.baseline external") X(log_partition, "for surrogate.kind trajectory_balance") \
    X(external_weight, "for weight.external") X(eps_low, "for surrogate.bounds external") X(eps_high, "for surrogate.bounds external") \
    X(divergence_ref, "for penalty.kl external") X(divergence_old, "for weight.trust divergence")

static void grpo_append_help_(char *buffer, size_t size, grpo_status st, int what) {
#define GRPO_REMEDY_(rule, name, text) { rule, GRPO_AT_##name##_, text },
#define GRPO_READER_(name, text) GRPO_REMEDY_(GRPO_NULL, name, ": " text)
    static const struct { int rule, what; const char *text; } remedies[] = { GRPO_REMEDIES_(GRPO_REMEDY_) GRPO_READERS_(GRPO_READER_) };
    const int misspelt = grpo_status_is(st, GRPO_UNKNOWN) || grpo_status_is(st, GRPO_NOT_A_CHOICE);
    const char *nearest = misspelt ? grpo_name_of_kind_(what, grpo_status_index(st)) : NULL;
    int n;
    const grpo_field *f = grpo_fields(&n);
    for (size_t k = 0; k < sizeof remedies / sizeof *remedies; k++)
        if (grpo_status_is(st, remedies[k].rule) && what == remedies[k].what) grpo_append_(buffer, size, remedies[k].text);
    if (nearest) {
        grpo_append_(buffer, size, ": the nearest is ");
        const size_t end = strlen(buffer) + strcspn(nearest, "|") + 1;
        grpo_append_(buffer, end < size ? end : size, nearest);
    }
    if (!grpo_status_is(st, GRPO_NOT_A_CHOICE) || what < 1 || what > n) return;
    f += what - 1;
    grpo_append_(buffer, size, f->choices ? nearest ? ", of " : ": it has " : ": it is a number, for grpo_objective_set");
    if (f->choices) grpo_append_(buffer, size, f->choices);
    char *last = strlen(buffer) + 1 == size ? strrchr(buffer, '|') : NULL;                 /* as many choices as there is room for */
    for (; last && last + sizeof "|..." > buffer + size; last = strrchr(buffer, '|')) *last = 0;
    if (last) memcpy(last, "|...", sizeof "|...");
}
#endif

grpo_status grpo_objective_named(const char *name, grpo_objective *obj) {
    int row, n;
    const grpo_preset *p = grpo_presets(&n);
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    for (row = 0; name && row < n; row++)
        if (strcmp(p[row].name, name) == 0) { *obj = grpo_objective_of_row_(row); return GRPO_OK; }
    return grpo_status_at_(GRPO_UNKNOWN, GRPO_AT_name_, grpo_nearest_(GRPO_AT_name_, name));
}

grpo_objective grpo_objective_from_preset(const grpo_preset *preset) {
    grpo_objective obj;
    if (grpo_objective_named(preset->name, &obj)) memset(&obj, 0, sizeof obj);
    return obj;
}

GRPO_C_END_
#endif /* GRPO_ROWS_H */
