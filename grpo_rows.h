/* grpo_rows.h - the published objectives by name: grpo_presets, grpo_objective_from_preset and grpo_objective_named of grpo.h.
 *
 * A part of grpo.h's implementation, which includes it at its end; nothing else includes it.  With GRPO_NO_ROWS defined, grpo.h and
 * gspo.h do not need this file.
 *
 * A row is a published algorithm: the choices and numbers of the seven axes that it sets.  A choice that it leaves out is the first one of
 * its list, a number 0.
 *
 *     ROW("name", "arXiv id or source", "equations", "what it changes", SETTINGS)
 *
 * SETTINGS follow each other without commas, in the order of the axes: CHOOSE(path, choice) and SET(path, number), or the macros below for
 * settings that many rows make together.  A row named after a method is its paper's equation with the paper's numbers; if the paper writes
 * just mean and std, the sample standard deviation without an eps.  A row named after a framework is what that framework computes by
 * default, unless its summary calls it a recipe.  OBJECTIVES.md says what each row is, and of which release; tests/evidence has the source
 * of every setting.
 *
 * To add one: write the ROW at the end of the table, and its line in tests/oracle/rows.txt from the paper, not from here; CONTRIBUTING.md
 * says what else to do.
 *
 * Licence: MIT-0, as grpo.h. */
#ifndef GRPO_ROWS_H
#define GRPO_ROWS_H

#ifndef GRPO_IMPLEMENTED
#error "grpo_rows.h is a part of grpo.h: include that, with GRPO_IMPLEMENTATION defined in one source file"
#endif
#if GRPO_VERSION_NUMBER != 200
#error "grpo_rows.h and grpo.h are of different versions"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- settings that go together ---- */

#define OVERLONG(m, c)         CHOOSE(reward.overlong, GRPO_OVERLONG_SOFT) SET(reward.overlong_max, m) SET(reward.overlong_cache, c) \
        SET(reward.overlong_factor, 1)
#define REWARD_K1(beta)        CHOOSE(reward.kl, GRPO_KL_K1) SET(reward.kl_coef, beta)
#define AFFINE(bias, by, lo, hi) CHOOSE(reward.map, GRPO_MAP_AFFINE) SET(reward.map_bias, bias) SET(reward.map_factor, by) \
        SET(reward.map_low, lo) SET(reward.map_high, hi)
#define CREDIT(kind, discount) CHOOSE(advantage.credit, GRPO_CREDIT_##kind) SET(advantage.gamma, discount)
#define STEP_CREDIT(kind, discount) CHOOSE(advantage.credit, GRPO_CREDIT_##kind) SET(advantage.step_gamma, discount)
#define GAE(discount, decay)   CREDIT(GAE, discount) SET(advantage.lambda, decay)
#define STEPS(value, group)    CHOOSE(advantage.step_value, GRPO_STEP_VALUE_##value) CHOOSE(advantage.step_group, GRPO_STEP_GROUP_##group)
#define BASELINE(kind)         CHOOSE(advantage.baseline, GRPO_BASELINE_##kind)
#define SCALE(kind)            CHOOSE(advantage.scale, GRPO_SCALE_##kind)
#define EPS(number, place)     SET(advantage.eps, number) CHOOSE(advantage.eps_place, GRPO_EPS_##place)
#define GROUP_NORM             BASELINE(GROUP_MEAN) SCALE(GROUP_STD)
#define TRL_NORM               GROUP_NORM SET(advantage.eps, 1e-4)
#define VERL_NORM              GROUP_NORM SET(advantage.eps, 1e-6) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW)
#define LEVEL(kind)             CHOOSE(ratio.level, GRPO_LEVEL_##kind)
#define CLAMP(lo, hi)          SET(ratio.clamp_low, lo) SET(ratio.clamp_high, hi)
#define LEVEL_CLAMP(lo, hi)     SET(ratio.level_clamp_low, lo) SET(ratio.level_clamp_high, hi)
#define BEHAVIOUR(whom)          CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_##whom)
#define SURROGATE(what)        CHOOSE(surrogate.kind, GRPO_SURROGATE_##what)
#define CLIP_RANGE(lo, hi)           SET(surrogate.eps_low, lo) SET(surrogate.eps_high, hi)
#define CLIP(lo, hi)           SURROGATE(PPO_CLIP) CLIP_RANGE(lo, hi)
#define DUAL(lo, hi, c)        SURROGATE(DUAL_CLIP) CLIP_RANGE(lo, hi) SET(surrogate.clip_dual, c)
#define LOG_DUAL(lo, hi, c, power) SURROGATE(DUAL_CLIP) CHOOSE(surrogate.bounds, GRPO_BOUNDS_POSITION) SET(surrogate.log_low, lo) \
        SET(surrogate.log_high, hi) SET(surrogate.log_clip_dual, c) SET(surrogate.position_power, power)
#define CISPO(lo, hi)          SURROGATE(CISPO) SET(surrogate.weight_min, lo) SET(surrogate.weight_max, hi)
#define SAPO(pos, neg)         SURROGATE(SAPO) SET(surrogate.tau_pos, pos) SET(surrogate.tau_neg, neg)
#define VESPO(kp, lp, kn, ln)  SURROGATE(VESPO) SET(surrogate.vespo_k_pos, kp) SET(surrogate.vespo_lambda_pos, lp) \
    SET(surrogate.vespo_k_neg, kn) \
        SET(surrogate.vespo_lambda_neg, ln)
#define MEAN_ABS               CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_MEAN_ABS)
#define STEP_SAMPLES           CHOOSE(advantage.samples, GRPO_SAMPLES_STEPS)
#define KL_DIVIDE(by)          CHOOSE(penalty.kl_aggregation, GRPO_PENALTY_AGGREGATION_##by)
#define KL(kind, beta)         CHOOSE(penalty.kl, GRPO_KL_##kind) SET(penalty.kl_coef, beta)
#define KL_TO_TEACHER        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_TEACHER)
#define NLL(on, by, c)  CHOOSE(penalty.nll_on, GRPO_NLL_##on) \
        CHOOSE(penalty.nll_weight, GRPO_NLL_WEIGHT_##by) SET(penalty.nll_coef, c)
#define PREFERENCE(margin, beta, c) CHOOSE(penalty.preference, GRPO_PREFERENCE_PAIRWISE) SET(penalty.preference_min_gap, margin) \
    SET(penalty.preference_beta, beta) \
        SET(penalty.preference_coef, c)
#define POLICY_IS(unit, lo, hi)    CHOOSE(weight.policy_is, GRPO_POLICY_IS_##unit) SET(weight.policy_is_low, lo) \
    SET(weight.policy_is_high, hi)
#define FINISHED               CHOOSE(weight.truncated, GRPO_WEIGHT_TRUNCATED_MASK)
#define ROLLOUT_IS(kind, unit, lo, hi, outside) CHOOSE(weight.rollout_is, GRPO_ROLLOUT_IS_##kind) \
        CHOOSE(weight.rollout_is_level, GRPO_ROLLOUT_IS_LEVEL_##unit) SET(weight.rollout_is_low, lo) SET(weight.rollout_is_high, hi) \
        CHOOSE(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_##outside)
#define TRUST(kind, lo, hi)    CHOOSE(weight.trust, GRPO_TRUST_##kind) SET(weight.trust_low, lo) SET(weight.trust_high, hi)
#define REC_OUTER(lo, hi)           SET(weight.rec_outer_low, lo) SET(weight.rec_outer_high, hi)
#define ROLLOUT_RS(kind, unit, lo, hi) CHOOSE(weight.rollout_rs, GRPO_ROLLOUT_RS_##kind) \
    CHOOSE(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_##unit) \
        SET(weight.rollout_rs_low, lo) SET(weight.rollout_rs_high, hi)
#define FIPO(half_life, max, lo, hi) CHOOSE(weight.fipo, GRPO_FIPO_DECAYED) SET(weight.fipo_half_life, half_life) \
        SET(weight.fipo_ratio_max, max) SET(weight.fipo_low, lo) SET(weight.fipo_high, hi)
#define FIPO_SAFE(from, lo, hi) SET(weight.fipo_safe_ratio, from) SET(weight.fipo_safe_low, lo) SET(weight.fipo_safe_high, hi)
#define INTERPOLATE(kind)              CHOOSE(ratio.interpolate, GRPO_INTERPOLATE_##kind)
#define HALVES                 INTERPOLATE(GEOMETRIC) SET(ratio.interpolate_token, 0.5) SET(ratio.interpolate_level, 0.5)
#define DIVIDE(by)             CHOOSE(aggregation.kind, GRPO_AGGREGATION_##by)
#define DROP_EMPTY             CHOOSE(aggregation.empty_sequences, GRPO_EMPTY_SEQUENCES_DROP)

/* ---- the rows ---- */

#define GRPO_ROWS_ \
    ROW("reinforce", "Williams 1992", "REINFORCE", "score function of the raw reward, no baseline", \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("ppo", "1707.06347", "7, 11-12", "clipped token ratio, generalised advantage estimation from a critic", \
        GAE(0.99, 0.95) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("ppo-dual-clip", "1912.09729", "5", "PPO whose loss is bounded where A < 0 too", \
        GAE(0.997, 0.95) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("grpo", "2402.03300", "3-4", "group mean and deviation as baseline, KL k3 in the loss", \
        GROUP_NORM CLIP(0.2, 0.2) KL(K3, 0.04) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("grpo-process", "2402.03300", "3-4, section 4.1.3", "GRPO on step rewards, normalised together and summed to go", \
        CREDIT(STEP, 1) GROUP_NORM CLIP(0.2, 0.2) KL(K3, 0.04) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("grpo-unbiased-kl", "2512.02556", "unbiased KL estimate", "k3 times the ratio; no deviation", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.2) KL(K3, 0.001) CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) \
            DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dr-grpo", "2503.20783", "objective of section 3", "no deviation, no length: a constant divides", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_CONSTANT) SET(aggregation.constant, 3000)) \
    ROW("dapo", "2503.14476", "8-13", "clip higher, mean per prompt, soft overlong punishment", \
        OVERLONG(20480, 4096) GROUP_NORM CLIP(0.2, 0.28) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("dapo-filter", "2503.14476", "8-12", "DAPO with truncated responses left out instead of punished", \
        GROUP_NORM CLIP(0.2, 0.28) FINISHED DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("rloo", "2402.14740", "leave-one-out estimator", "leave-one-out baseline, KL in the reward, whole responses", \
        REWARD_K1(0.03) BASELINE(LEAVE_ONE_OUT) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("reinforce++", "2501.03262", "REINFORCE++", "KL in the token rewards, whitened over the tokens of the batch", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) SCALE(TOKEN_WHITEN) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("reinforce++-baseline", "2501.03262", "REINFORCE++ with baseline", "group mean, then batch norm; KL k2 in the loss", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) CLIP(0.2, 0.2) KL(K2, 1e-5) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("remax", "2310.10505", "ReMax estimator", "reward of the greedy response as baseline", \
        BASELINE(EXTERNAL) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("opo", "2505.23585", "optimal baseline", "length-weighted mean as baseline", \
        BASELINE(LENGTH_WEIGHTED) DIVIDE(TOKEN_MEAN)) \
    ROW("gpg", "2504.02546", "GPG objective", "group mean, scaled up for the groups that give no gradient", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.reweight, GRPO_REWEIGHT_VALID_GROUPS) DIVIDE(TOKEN_MEAN)) \
    ROW("lite-ppo", "2508.08221", "Lite PPO", "group mean, deviation of the batch, mean over all tokens", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_STD) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("gspo", "2507.18071", "5-7", "one length-normalised ratio per response", \
        GROUP_NORM LEVEL(SEQUENCE_MEAN) CLIP(3e-4, 4e-4) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gspo-token", "2507.18071", "13-17", "GSPO whose gradient stays at the token, for advantages that differ inside a response", \
        GROUP_NORM LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) CLIP(3e-4, 4e-4) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gmpo", "2507.20673", "GMPO objective", "geometric mean of token ratios, each clipped before", \
        GROUP_NORM LEVEL(SEQUENCE_CLIPPED_MEAN) SET(ratio.token_clip_low, 0.4) SET(ratio.token_clip_high, 0.4) SURROGATE(RATIO) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("cispo", "2506.13585", "4-5", "clips the weight and not the gradient", \
        GROUP_NORM CISPO(0, 5) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("sapo", "2511.20347", "5-7", "a sigmoid gate instead of a clip", \
        GROUP_NORM SAPO(1, 1.05) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("luspo", "2602.05261", "LUSPO objective", "GSPO with every response weighted by its length", \
        GROUP_NORM LEVEL(SEQUENCE_MEAN) CLIP(2e-3, 2.5e-3) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("vespo", "2602.10693", "17, 20", "smooth detached weight of the whole response's ratio", \
        BASELINE(GROUP_MEAN) LEVEL(SEQUENCE_SUM) VESPO(2, 3, 3, 2) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("two-sided", "2505.07291", "two-sided clip", "GRPO with a second clip, against huge ratios where A < 0", \
        GROUP_NORM SET(advantage.eps, 1e-6) DUAL(0.2, 0.2, 4) KL(K3, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("scalerl", "2510.13786", "ScaleRL objective", "CISPO against the sampling engine, mean per prompt", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_CENTRED_STD) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) CISPO(0, 5) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("tis", "Yao et al. 2025", "min(v, 2), tokens", "rollout mismatch: token weights, truncated", \
        GROUP_NORM CLIP(0.2, 0.2) ROLLOUT_IS(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tis-sequence", "Yao et al. 2025", "min(v, 2), responses", "rollout mismatch: response weights, truncated", \
        GROUP_NORM CLIP(0.2, 0.2) ROLLOUT_IS(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("icepop", "2510.18855", "IcePop", "rollout mismatch: tokens outside the band weigh nothing", \
        GROUP_NORM CLIP(0.2, 0.2) ROLLOUT_IS(MASK, TOKEN, 0.5, 5, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("mis-sequence", "Liu, Li et al. 2025", "v 1[0.5 <= v <= 2], responses", \
        "rollout mismatch: responses outside the band weigh nothing", \
        GROUP_NORM CLIP(0.2, 0.2) ROLLOUT_IS(MASK, SEQUENCE_SUM, 0.5, 2, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("geo-reject", "verl", "1[0.999 <= 1/v <= 1.001], geometric mean", \
        "verl's rejection on GRPO: responses outside the band are masked", \
        GROUP_NORM CLIP(0.2, 0.2) CHOOSE(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_UNMASK) SET(weight.rollout_clamp, 20) \
        ROLLOUT_RS(RATIO, SEQUENCE_MEAN, 1/1.001, 1/0.999) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-grpo", "2402.03300", "as TRL", "GRPO as TRL computes it: eps 1e-4 beside the deviation, no KL", \
        TRL_NORM CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-dapo", "2503.14476", "as TRL", "TRL's recipe for DAPO: soft overlong punishment, truncated responses masked", \
        OVERLONG(20480, 4096) TRL_NORM CLIP(0.2, 0.28) FINISHED DIVIDE(TOKEN_MEAN)) \
    ROW("trl-bnpo", "TRL", "as TRL", "TRL's loss_type bnpo: mean over the tokens of the batch", \
        TRL_NORM CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-rloo", "2402.14740", "as TRL", "RLOO as TRL computes it: a clipped ratio of the whole response", \
        REWARD_K1(0.05) BASELINE(LEAVE_ONE_OUT) LEVEL(SEQUENCE_SUM) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("verl-grpo", "2402.03300", "as verl", "GRPO as verl computes it: dual clip, bounded log-ratio, mean over tokens", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gspo", "2507.18071", "as verl", "GSPO as verl computes it: GSPO-token, log-ratio at most 10", \
        VERL_NORM LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) LEVEL_CLAMP(-HUGE_VAL, 10) CLIP(0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-cispo", "2506.13585", "as verl", "CISPO as verl computes it: weight in 0.8..1.2", \
        VERL_NORM CLAMP(-20, 20) CISPO(0.8, 1.2) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-reinforce++", "2501.03262", "as verl", "REINFORCE++ as verl computes it: eps 1e-8 inside the root", \
        CREDIT(RETURN, 1) SCALE(TOKEN_WHITEN) EPS(1e-8, INSIDE) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("grpo-r1", "2501.12948", "1 and 3, without the KL of 2", "one importance ratio for the whole response, product over its tokens", \
        GROUP_NORM LEVEL(SEQUENCE_SUM) CLIP(10, 10) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("opmd", "Trinity-RFT", "advantage and loss (logavgexp)", "log-mean-exp baseline, REINFORCE without a ratio, divided by 1 + tau", \
        BASELINE(LOG_MEAN_EXP) SCALE(CONSTANT) SET(advantage.temperature, 1) SET(advantage.scale_divisor, 2) \
        CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) KL(K2, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("kimi-k1.5", "2501.12599", "section 2.3.2", "squares reward minus log-mean-exp baseline minus scaled sequence log-ratio", \
        BASELINE(LOG_MEAN_EXP) SET(advantage.temperature, 0.1) LEVEL(SEQUENCE_SUM) SURROGATE(SQUARED) SET(surrogate.beta, 0.1) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("kimi-k2", "2507.20534", "objective", "squares mean-centred reward minus scaled sequence log-ratio", \
        BASELINE(GROUP_MEAN) LEVEL(SEQUENCE_SUM) SURROGATE(SQUARED) SET(surrogate.beta, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("asymre", "2506.20520", "advantage", "off-policy REINFORCE with the baseline shifted down by 0.1", \
        BASELINE(GROUP_MEAN) SET(advantage.baseline_shift, -0.1) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("maxrl", "2602.02710", "official code", "divides centred rewards by the group mean instead of the std", \
        BASELINE(GROUP_MEAN) SCALE(GROUP_MEAN) SET(advantage.eps, 1e-6) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("qae", "2509.22611", "section 4.1, 3-4", "0.4-quantile of the group as baseline instead of the mean", \
        OVERLONG(20480, 4096) BASELINE(QUANTILE) SCALE(GROUP_STD) SET(advantage.quantile, 0.4) SET(advantage.eps, 1e-6) \
        CLIP(0.2, 0.28) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("qae-linear", "2509.22611", "official code", "quantile baseline by linear interpolation between order statistics", \
        OVERLONG(20480, 4096) BASELINE(QUANTILE_LINEAR) SCALE(GROUP_STD) SET(advantage.quantile, 0.4) SET(advantage.eps, 1e-6) \
        CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.28, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("gapo", "2510.21830", "official code", "median of the densest half as baseline, spread measured around it", \
        BASELINE(HDI_MEDIAN) SCALE(RESIDUAL_RMS) SET(advantage.hdi_mass, 0.5) SET(advantage.eps, 1e-6) \
        CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.28, 10) KL(K3, 0.01) \
        SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("krpo", "2505.07527", "official code", "Kalman filter over the group gives baseline and scale", \
        BASELINE(KALMAN) SCALE(KALMAN_STD) SET(advantage.process_noise, 1e-5) SET(advantage.observation_noise, 0.01) \
        SET(advantage.eps, 1e-8) CLIP(0.2, 0.2) KL(K3, 0.01) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pass-at-k", "2508.10751", "11-15", "analytic advantage of pass@k over binary rewards", \
        SCALE(GROUP_STD) CHOOSE(advantage.transform, GRPO_TRANSFORM_PASS_AT_K) SET(advantage.pass_k, 2) CLIP(0.2, 0.28) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("best-minus-second", "2503.19595", "advantage, without std", "only the best response is rewarded, by its lead over the second", \
        CHOOSE(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("pkpo", "2505.15201", "29", "estimator of maxg@k with a leave-one-out baseline", \
        CHOOSE(advantage.transform, GRPO_TRANSFORM_PKPO_LOO) SET(advantage.pass_k, 2) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("grpo-lead", "2504.09696", "official code, reweighting", "advantages reweighted by a logistic function of the success rate", \
        VERL_NORM CHOOSE(advantage.reweight, GRPO_REWEIGHT_DIFFICULTY) SET(advantage.difficulty_weight_low, 0.4) \
        SET(advantage.difficulty_weight_high, 1.5) SET(advantage.difficulty_slope, 10) SET(advantage.difficulty_midpoint, 0.75) \
        CLIP(0.2, 0.2) SET(penalty.entropy_coef, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("delta-l", "2509.07558", "official code, math", "advantages weighted by length^-0.75, constant divisor", \
        VERL_NORM CHOOSE(advantage.reweight, GRPO_REWEIGHT_LENGTH_POWER) SET(advantage.length_power, 0.75) \
        CLAMP(-20, 20) DUAL(0.2, 0.3, 3) DIVIDE(SEQ_MEAN_CONSTANT) SET(aggregation.constant, 8192)) \
    ROW("gdpo", "2601.05242", "as TRL", "normalises every reward by itself, sums, then normalises over the batch", \
        TRL_NORM CHOOSE(advantage.rewards, GRPO_REWARDS_EACH) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) \
        SET(advantage.batch_norm_eps, 0.0001) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("magistral", "2506.10910", "section 2.1", "group-mean baseline, then normalised over the minibatch, clip-higher", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) CLIP(0.2, 0.28) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("entropy-advantage", "2506.14758", "4-6", "adds a capped entropy bonus to the advantage", \
        GROUP_NORM CHOOSE(advantage.entropy, GRPO_ENTROPY_BONUS) SET(advantage.entropy_coef, 0.4) SET(advantage.entropy_kappa, 2) \
        CLIP(0.2, 0.28) DIVIDE(TOKEN_MEAN)) \
    ROW("rl-zvp", "2509.21880", "5", "entropy-shaped advantages for groups whose rewards are all equal", \
        GROUP_NORM CHOOSE(advantage.entropy, GRPO_ENTROPY_ZERO_VARIANCE) SET(advantage.entropy_coef, 0.1) CLIP(0.2, 0.28) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("gppo", "2508.07629", "4, 11-12", "clipped tokens keep a bounded gradient", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) SURROGATE(GPPO) CLIP_RANGE(0.2, 0.28) \
        SET(surrogate.gppo_beta_low, 1) SET(surrogate.gppo_beta_high, 1) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("ce-gppo", "2509.20712", "8, 7B", "gradient-preserving clip with weakened low side", \
        GROUP_NORM SURROGATE(GPPO) CLIP_RANGE(0.2, 0.2) SET(surrogate.gppo_beta_low, 0.75) SET(surrogate.gppo_beta_high, 1) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("aspo", "2510.06062", "official code", "inverts the ratio of tokens with positive advantage, soft dual clips", \
        VERL_NORM CLAMP(-20, 20) SURROGATE(ASPO) CLIP_RANGE(0.2, 0.2) SET(surrogate.clip_dual, 3) \
        SET(surrogate.clip_dual_pos, 3) KL(K3, 0.001) CHOOSE(penalty.kl_on, GRPO_KL_ON_SELECTED) \
        SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("topr", "2503.14286", "gradient, sequence level", \
        "REINFORCE whose negative responses are weighted by a truncated trajectory ratio", \
        LEVEL(SEQUENCE_SUM) SURROGATE(TOPR) SET(surrogate.weight_max, 1) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("dppo-tv", "2602.04879", "12-13", "masks tokens whose probability moved too far, instead of clipping ratios", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) TRUST(PROBABILITY, 0.15, 0.15) \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("dppo-kl", "2602.04879", "12, 14", "masks tokens whose binary KL to the rollout is too large", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) TRUST(BINARY_KL, 0.05, 0.05) \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("dro", "2405.19107", "4, 8", "squares reward minus value minus log-ratio to reference", \
        BASELINE(EXTERNAL) LEVEL(SEQUENCE_SUM) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_REF) SURROGATE(SQUARED) SET(surrogate.beta, 1) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("deepseek-v3.2", "2512.02556", "5-9", "off-policy sequence mask, ratio-weighted KL, no std", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.2) KL(K3, 0.001) CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) \
        CHOOSE(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_ROLLOUT) SET(weight.off_policy_mask_threshold, 0.5) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dcpo", "2509.02333", "8, dynamic clipping", "clip bounds that widen for improbable tokens, sums response means", \
        GROUP_NORM DUAL(0.16, 0.2, 10) CHOOSE(surrogate.bounds, GRPO_BOUNDS_PROBABILITY) SET(surrogate.bound_cap, 10) \
        DIVIDE(SEQ_SUM_TOKEN_MEAN)) \
    ROW("clip-cov", "2505.22617", "11-12", "drops the loss of selected tokens of high covariance", \
        GROUP_NORM SURROGATE(RATIO) CHOOSE(weight.selected, GRPO_SELECTED_DROP) DIVIDE(TOKEN_MEAN)) \
    ROW("kl-cov", "2505.22617", "13-14", "penalises the log-ratio of selected tokens, no clip", \
        GROUP_NORM SURROGATE(RATIO) KL(ABS, 1) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
        CHOOSE(penalty.kl_on, GRPO_KL_ON_SELECTED) DIVIDE(TOKEN_MEAN)) \
    ROW("high-entropy", "2506.01939", "6", "DAPO on the selected high-entropy tokens alone, divided by their number", \
        OVERLONG(20480, 4096) GROUP_NORM CLIP(0.2, 0.28) CHOOSE(weight.selected, GRPO_SELECTED_ONLY) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("decoupled-ppo", "2505.24298", "decoupled objective", "proximal ratio weighted by old over rollout, tokens above 5 masked", \
        GROUP_NORM CLIP(0.2, 0.2) ROLLOUT_IS(MASK, TOKEN, 0, 5, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    ROW("length-power", "2607.23364", "as grpo.cpp", "weights a response by a power of its length; alpha 0.5 is chosen here", \
        GROUP_NORM EPS(1e-8, INSIDE) CHOOSE(advantage.std, GRPO_STD_POPULATION) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_LENGTH_POWER) \
        SET(aggregation.power, 0.5)) \
    ROW("opd", "ROLL", "on-policy distillation", "PPO's clip; the advantage is teacher minus old log-probability", \
        AFFINE(0, 0, 0, 0) SET(advantage.teacher_coef, 1) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("mopd", "2601.02780", "5-8", \
        "teacher advantage alone (eq. 9 adds the outcome's), weight kept only inside a band of the rollout ratio", \
        AFFINE(0, 0, 0, 0) SET(advantage.teacher_coef, 1) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(MASKED_WEIGHT) \
        SET(surrogate.weight_min, 0.5) SET(surrogate.weight_max, 5) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("prpo", "rLLM", "as rLLM, loss of verl", "normalises rewards over the whole batch, not the group", \
        BASELINE(BATCH_MEAN) SCALE(BATCH_STD) CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("kimi-length", "2501.12599", "sections 2.3.2, 2.3.3", "a length reward relative to the group, on kimi-k1.5", \
        CHOOSE(reward.length, GRPO_LENGTH_KIMI) SET(reward.length_coef, 1) BASELINE(LOG_MEAN_EXP) SET(advantage.temperature, 0.1) \
        LEVEL(SEQUENCE_SUM) SURROGATE(SQUARED) SET(surrogate.beta, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("cosine-length", "2502.03373", "as TRL", "reward scaled by a cosine of the length, on GRPO", \
        TRL_NORM CHOOSE(reward.length, GRPO_LENGTH_COSINE) SET(reward.length_max, 4096) SET(reward.correct_low, 0.5) \
        SET(reward.correct_high, 1) SET(reward.wrong_low, -1) SET(reward.wrong_high, -0.5) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("vapo-gae", "2504.05118", "3, 5, 8", "critic advantages with a lambda that grows with the length", \
        CREDIT(GAE, 1) SET(advantage.lambda_length, 0.05) CLIP(0.2, 0.28) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-gspo", "TRL", "loss grpo, sequence level", "TRL's GSPO recipe, mean log-ratio with a narrow clip", \
        TRL_NORM LEVEL(SEQUENCE_MEAN) CLIP(0.0003, 0.0004) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-gspo-token", "TRL", "experimental trainer, sequence_token", \
        "TRL's GSPO-token, sequence ratio with gradient local to the token", \
        TRL_NORM LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-cispo", "TRL", "loss cispo", "TRL's CISPO, detached weight at most 0.2, no lower bound", \
        TRL_NORM CISPO(0, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-sapo", "TRL", "loss sapo", "TRL's SAPO, soft gate in place of the clip", \
        TRL_NORM SAPO(1, 1.05) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-luspo", "TRL", "loss luspo", "TRL's LUSPO recipe, sequence loss times the length", \
        TRL_NORM LEVEL(SEQUENCE_MEAN) CLIP(0.002, 0.0025) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("trl-vespo", "TRL", "loss vespo", "TRL's VESPO, clamped sequence product in a soft weight", \
        TRL_NORM LEVEL(SEQUENCE_SUM) CLAMP(-20, 20) LEVEL_CLAMP(-18.420680743952367, 20) VESPO(2, 3, 3, 2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-dr-grpo", "TRL", "loss dr_grpo", "TRL's dr_grpo, constant divisor while the std scaling stays on", \
        TRL_NORM CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_CONSTANT) SET(aggregation.constant, 512)) \
    ROW("trl-gmpo", "TRL", "experimental trainer", "TRL's GMPO, geometric mean of clipped token ratios", \
        TRL_NORM LEVEL(SEQUENCE_CLIPPED_MEAN) SET(ratio.token_clip_low, 0.4) SET(ratio.token_clip_high, 0.4) SURROGATE(RATIO) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-lite-ppo", "TRL", "scale batch, loss dapo", "TRL's Lite PPO recipe, std of the whole batch", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_STD) SET(advantage.eps, 0.0001) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-rloo-normalized", "TRL", "RLOO trainer, normalize_advantages", \
        "TRL's RLOO with sequence product ratio and batch-normalised advantages", \
        REWARD_K1(0.05) BASELINE(LEAVE_ONE_OUT) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) SET(advantage.batch_norm_eps, 0.0001) \
        LEVEL(SEQUENCE_SUM) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("trl-gdpo", "TRL", "normalize_then_sum", "TRL's GDPO, each reward normalised, then the batch", \
        TRL_NORM CHOOSE(advantage.rewards, GRPO_REWARDS_EACH) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) \
        SET(advantage.batch_norm_eps, 0.0001) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-async", "TRL", "experimental async trainer", "TRL's asynchronous GRPO: ratio against the sampler, population std", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-8) BEHAVIOUR(ROLLOUT) CLIP(0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("trl-opsm", "TRL", "off_policy_mask_threshold", "TRL's recipe to drop negative sequences far from the old policy", \
        TRL_NORM CLIP(0.2, 0.2) CHOOSE(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_OLD) SET(weight.off_policy_mask_threshold, 0.5) \
            DIVIDE(TOKEN_MEAN)) \
    ROW("trl-sequence-mask", "TRL", "vllm sequence_mask, C_max 3", "TRL's default rollout correction, sequence product zeroed above 3", \
        TRL_NORM CLIP(0.2, 0.2) ROLLOUT_IS(MASK, SEQUENCE_SUM, 0, 3, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    ROW("trl-unbiased-kl", "TRL", "use_bias_correction_kl", "TRL's recipe, KL multiplied by the differentiated ratio", \
        TRL_NORM CLIP(0.2, 0.2) KL(K3, 0.001) CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_LEVEL) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-ppo", "verl", "gae, vanilla", "verl's PPO, critic advantages whitened over tokens, dual clip", \
        GAE(1, 1) SCALE(TOKEN_WHITEN) EPS(1e-8, INSIDE) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dapo", "verl", "vanilla, reward manager dapo", \
        "verl's DAPO recipe, clip-higher, dual clip at 10, linear overlong penalty", \
        CHOOSE(reward.overlong, GRPO_OVERLONG_LINEAR) SET(reward.overlong_max, 20480) SET(reward.overlong_cache, 4096) \
        SET(reward.overlong_factor, 1) VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.28, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dr-grpo", "verl", "seq-mean-token-sum-norm", "verl's Dr.GRPO recipe, no std, fixed divisor", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(SEQ_MEAN_CONSTANT) \
        SET(aggregation.constant, 512)) \
    ROW("verl-rloo", "verl", "rloo, vanilla", "verl's RLOO, leave-one-out advantage with token-level dual-clip PPO", \
        BASELINE(LEAVE_ONE_OUT) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-opo", "verl", "opo, vanilla", "verl's OPO, length-weighted group baseline", \
        BASELINE(LENGTH_WEIGHTED) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gpg", "verl", "gpg", "verl's GPG, REINFORCE scaled by the share of non-zero rewards", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CHOOSE(advantage.reweight, GRPO_REWEIGHT_NONZERO_REWARDS) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-remax", "verl", "remax, vanilla", "verl's ReMax, greedy baseline with dual-clip PPO", \
        CREDIT(RETURN, 1) BASELINE(EXTERNAL) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-reinforce++-baseline", "verl", "reinforce_plus_plus_baseline, vanilla", \
        "verl's REINFORCE++-baseline, centred rewards whitened over tokens", \
        BASELINE(GROUP_MEAN) SCALE(TOKEN_WHITEN) EPS(1e-8, INSIDE) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gmpo", "verl", "geo_mean", "verl's GMPO, geometric mean of ratios clipped at 0.2 in log space", \
        VERL_NORM LEVEL(SEQUENCE_CLIPPED_MEAN) SET(ratio.token_clip_low, 0.2) SET(ratio.token_clip_high, 0.2) SURROGATE(RATIO) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("verl-sapo", "verl", "sapo", "verl's SAPO, soft gate with clamped log-ratio", \
        VERL_NORM CLAMP(-20, 20) SAPO(1, 1.05) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("verl-dppo-tv", "verl", "dppo_tv", "verl's DPPO-TV, detached ratio capped at 3, probability mask", \
        VERL_NORM CLAMP(-20, 20) CISPO(0, 3) TRUST(PROBABILITY, 0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dppo-kl", "verl", "dppo_kl", "verl's DPPO-KL, detached ratio capped at 3, binary KL mask", \
        VERL_NORM CLAMP(-20, 20) CISPO(0, 3) TRUST(BINARY_KL, 0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-dro", "verl", "dro", "verl's DRO, REINFORCE plus half squared log-ratio per token", \
        VERL_NORM KL(K2, 0.05) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-clip-cov", "verl", "clip_cov", "verl's Clip-Cov, selected tokens dropped from the clipped loss", \
        VERL_NORM CLIP(0.2, 0.2) CHOOSE(weight.selected, GRPO_SELECTED_DROP) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-kl-cov", "verl", "kl_cov", "verl's KL-Cov, absolute log-ratio penalty on selected tokens", \
        VERL_NORM SURROGATE(RATIO) KL(ABS, 0.1) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
            CHOOSE(penalty.kl_on, GRPO_KL_ON_SELECTED) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-passk", "verl", "grpo_passk, vanilla", "verl's pass@k advantage, best minus second over the std", \
        SCALE(GROUP_STD) CHOOSE(advantage.transform, GRPO_TRANSFORM_BEST_MINUS_SECOND) SET(advantage.eps, 1e-6) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-tis", "verl", "rollout_is sequence, 2", "verl's GRPO with sequence importance weights truncated at 2", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) ROLLOUT_IS(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-geo-rs", "verl", "rollout_rs seq_mean_k1, 0.999_1.001", "verl's GRPO, sequences rejected by their geometric mean ratio", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) SET(weight.rollout_clamp, 20) \
        CHOOSE(weight.rollout_rs, GRPO_ROLLOUT_RS_RATIO) CHOOSE(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN) \
        SET(weight.rollout_rs_low, 0.9990009990009991) SET(weight.rollout_rs_high, 1.001001001001001) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-token-k3", "verl", "rollout_rs token_k3, 0.01", "verl's GRPO, tokens rejected by their k3 divergence", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) SET(weight.rollout_clamp, 20) \
        CHOOSE(weight.rollout_rs, GRPO_ROLLOUT_RS_K3) SET(weight.rollout_rs_high, 0.01) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-kl-loss", "verl", "vanilla, low_var_kl", "verl's GRPO with clamped k3 in the loss", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K3, 0.001) SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-ppo", "OpenRLHF", "gae, ppo", "OpenRLHF's PPO, critic advantages whitened, KL in the reward", \
        REWARD_K1(0.01) AFFINE(0, 1, -10, 10) GAE(1, 1) SCALE(TOKEN_WHITEN) EPS(1e-8, FLOOR) CHOOSE(advantage.std, GRPO_STD_POPULATION) \
        CLAMP(-20, 20) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-rloo", "OpenRLHF", "rloo, ppo", "OpenRLHF's RLOO, token KL subtracted after the leave-one-out baseline", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) BASELINE(LEAVE_ONE_OUT) CLAMP(-20, 20) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-reinforce-baseline", "OpenRLHF", "reinforce_baseline, ppo", \
        "OpenRLHF's REINFORCE++-baseline, whitened returns with KL in the reward", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) BASELINE(GROUP_MEAN) SCALE(TOKEN_WHITEN) EPS(1e-8, FLOOR) \
        CHOOSE(advantage.std, GRPO_STD_POPULATION) CLAMP(-20, 20) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-group-norm", "OpenRLHF", "group_norm, ppo", "OpenRLHF's GRPO, token KL subtracted after the normalisation", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-9) CLAMP(-20, 20) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("openrlhf-gspo", "OpenRLHF", "group_norm, gspo", "OpenRLHF's GSPO, KL in the reward and clip 0.2", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-9) LEVEL(SEQUENCE_MEAN) CLIP(0.2, 0.2) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("openrlhf-seq-mask-tis", "OpenRLHF", "group_norm, ppo, seq-mask-tis", \
        "OpenRLHF's unclamped token weights, sequences filtered by geometric mean", \
        REWARD_K1(0.01) CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-9) CLAMP(-20, 20) CLIP(0.2, 0.2) \
        ROLLOUT_IS(TRUNCATE, TOKEN, 0, HUGE_VAL, ZERO_WEIGHT) CHOOSE(weight.rollout_rs, GRPO_ROLLOUT_RS_RATIO) \
        CHOOSE(weight.rollout_rs_level, GRPO_ROLLOUT_RS_LEVEL_SEQUENCE_MEAN) SET(weight.rollout_rs_low, 0.5) \
            SET(weight.rollout_rs_high, 5) DIVIDE(TOKEN_MEAN)) \
    ROW("swift-grpo", "ms-swift", "grpo", "ms-swift's GRPO with a doubly clamped KL of 0.04", \
        TRL_NORM CLIP(0.2, 0.2) KL(K3, 0.04) SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("roll-grpo", "ROLL", "grpo, ppo", "ROLL's GRPO, mean of response means without KL", \
        CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-6) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("roll-tis", "ROLL", "grpo, pg_variant tis", "ROLL's TIS: GRPO's advantage, detached ratio truncated at 1", \
        CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-6) CISPO(0, 1) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("roll-topr", "ROLL", "reinforce, pg_variant topr", "ROLL's TOPR, token ratio truncated for non-positive raw scores", \
        CREDIT(RETURN, 1) SURROGATE(TOPR) SET(surrogate.weight_max, 1) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("roll-cispo", "ROLL", "grpo, pg_variant cispo", "ROLL's CISPO, detached weight within 0.1 of one", \
        CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-6) CISPO(0.9, 1.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("roll-kimi15", "ROLL", "grpo, pg_variant kimi15", "ROLL's Kimi k1.5, squared log-ratio per token", \
        CREDIT(RETURN, 1) GROUP_NORM SET(advantage.eps, 1e-6) KL(K2, 0.1) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("areal-grpo", "AReaL", "grpo", "AReaL's defaults: clipped reward, KL in the reward, no baseline; logp_old is the sampler's", \
        REWARD_K1(0.1) AFFINE(0, 1, -20, 20) CREDIT(RETURN, 1) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("areal-gspo", "AReaL", "sequence ratio", "AReaL's GSPO, sequence ratio divided by tokens; logp_old is the sampler's", \
        AFFINE(0, 1, -20, 20) CREDIT(RETURN, 1) LEVEL(SEQUENCE_MEAN) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("areal-sapo", "AReaL", "sapo", "AReaL's SAPO, soft gate with a token mean; logp_old is the sampler's", \
        REWARD_K1(0.1) AFFINE(0, 1, -20, 20) CREDIT(RETURN, 1) SAPO(1, 1.05) DIVIDE(TOKEN_MEAN)) \
    ROW("slime-grpo", "slime", "grpo", "slime's GRPO, mean of response means", \
        GROUP_NORM SET(advantage.eps, 1e-6) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-gspo", "slime", "gspo", "slime's GSPO, differentiated sequence ratio with clip 0.2", \
        GROUP_NORM SET(advantage.eps, 1e-6) LEVEL(SEQUENCE_MEAN) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-cispo", "slime", "cispo", "slime's CISPO, detached weight clipped on both sides at 0.2", \
        GROUP_NORM SET(advantage.eps, 1e-6) CISPO(0.8, 1.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("slime-opsm", "slime", "grpo, opsm", "slime's off-policy sequence mask with a threshold of 1e-4", \
        GROUP_NORM SET(advantage.eps, 1e-6) CLIP(0.2, 0.2) CHOOSE(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_OLD) \
        SET(weight.off_policy_mask_threshold, 0.0001) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("nemo-grpo", "NeMo-RL", "grpo", "NeMo-RL's GRPO, leave-one-out mean and std, score-function KL", \
        BASELINE(LEAVE_ONE_OUT) SCALE(LEAVE_ONE_OUT_STD) SET(advantage.eps, 1e-6) CLIP(0.2, 0.2) KL(K3, 0.01) \
        CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) SET(penalty.kl_clamp_log, 20) \
            SET(penalty.kl_clamp_value, 10) CHOOSE(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-reinforce++", "NeMo-RL", "reinforce++", "NeMo-RL's REINFORCE++, centred rewards whitened, variance floor", \
        BASELINE(GROUP_MEAN) SCALE(TOKEN_WHITEN) EPS(1e-8, FLOOR) CHOOSE(advantage.std, GRPO_STD_POPULATION) CLIP(0.2, 0.2) KL(K3, 0.01) \
        CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) SET(penalty.kl_clamp_log, 20) \
            SET(penalty.kl_clamp_value, 10) CHOOSE(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) DIVIDE(TOKEN_MEAN)) \
    ROW("skyrl-dppo-tv", "SkyRL", "dppo, binary_tv", "SkyRL's DPPO-TV against the rollout policy, with KL loss", \
        VERL_NORM CLAMP(-20, 20) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) KL(K3, 0.001) \
            SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) KL_DIVIDE(SEQ_MEAN_TOKEN_MEAN) \
        TRUST(PROBABILITY, 0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl", "prime-rl", "default loss", \
        "DPPO-TV mask plus squared log-ratio to the rollout policy; tokens of advantage 0 are left out before", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) KL(K2, 0.002) TRUST(PROBABILITY, 0.2, 0.2) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl-ipo", "prime-rl", "ipo", "probability mask for both signs of the advantage; tokens of advantage 0 are left out before", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) KL(K2, 0.002) \
            TRUST(PROBABILITY_BOTH, 0, 0.1) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) DIVIDE(TOKEN_MEAN)) \
    ROW("prime-rl-maxrl", "prime-rl", "max_rl, default loss", "centred rewards divided by the group mean, under the default loss", \
        BASELINE(GROUP_MEAN) SCALE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO) KL(K2, 0.002) \
        TRUST(PROBABILITY, 0.2, 0.2) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) DIVIDE(TOKEN_MEAN)) \
    ROW("open-instruct-dapo", "open-instruct", "loss_fn dapo", "centred advantages, asymmetric clip, truncated rollout weights, KL 0.05", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.272) KL(K3, 0.05) ROLLOUT_IS(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) SET(penalty.kl_clamp_log, 40) \
        SET(weight.rollout_clamp, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("open-instruct-cispo", "open-instruct", "loss_fn cispo", "detached ratio capped at 1.272, truncated rollout weights, KL 0.05", \
        BASELINE(GROUP_MEAN) CISPO(0, 1.272) KL(K3, 0.05) ROLLOUT_IS(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) SET(penalty.kl_clamp_log, 40) \
        SET(weight.rollout_clamp, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("tunix-grpo", "tunix", "grpo", "tunix's GRPO with k1 in the loss, empty sequences left out", \
        GROUP_NORM SET(advantage.eps, 1e-6) CLAMP(-20, 20) CLIP(0.2, 0.2) KL(K1, 0.04) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("tunix-rloo", "tunix", "rloo", "tunix's RLOO advantage under its GRPO loss", \
        BASELINE(LEAVE_ONE_OUT) CLAMP(-20, 20) CLIP(0.2, 0.2) KL(K1, 0.04) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("rllm-grpo", "rLLM", "grpo, loss of verl", "rLLM's GRPO with population std under verl's loss", \
        GROUP_NORM SET(advantage.eps, 1e-6) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CHOOSE(advantage.std, GRPO_STD_POPULATION) \
        CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("rllm-reinforce++", "rLLM", "reinforce++ baseline, loss of verl", "centred rewards over their std in the whole batch", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_CENTRED_STD) CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("easyr1-grpo", "EasyR1", "grpo, examples/config.yaml", "EasyR1's GRPO, clip-higher at 0.3 with dual clip, KL in the loss", \
        GROUP_NORM SET(advantage.eps, 1e-6) CLAMP(-20, 20) DUAL(0.2, 0.3, 3) KL(K3, 0.01) \
        SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("easyr1-sapo", "EasyR1", "sapo, its script", "EasyR1's SAPO, soft gate with a token mean, no KL", \
        GROUP_NORM SET(advantage.eps, 1e-6) CLAMP(-20, 20) SAPO(1, 1.05) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-ppo", "Trinity-RFT", "algorithm grpo, policy loss ppo", "Trinity's policy loss with dual clip under group advantages", \
        VERL_NORM BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K2, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-sppo", "Trinity-RFT", "sppo", "log-ratio times advantage inside a symmetric log-ratio band", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) SURROGATE(LOG_RATIO) \
        TRUST(LOG_TWO_SIDED, 0.26236426446749106, 0.26236426446749106) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-topr", "Trinity-RFT", "topr", "raw reward, token ratio truncated at 1 for non-positive rewards", \
        BEHAVIOUR(ROLLOUT) SURROGATE(TOPR) SET(surrogate.weight_max, 1) KL(K2, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-cispo", "Trinity-RFT", "cispo", "CISPO with detached weights from 0 to 1.28", \
        VERL_NORM BEHAVIOUR(ROLLOUT) CISPO(0, 1.28) KL(K2, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-sapo", "Trinity-RFT", "sapo", "SAPO with a detached gate before the log-probability", \
        VERL_NORM BEHAVIOUR(ROLLOUT) SURROGATE(SAPO_DETACHED) SET(surrogate.tau_pos, 1) SET(surrogate.tau_neg, 1.05) KL(K2, 0.001) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-corrected-k3", "Trinity-RFT", "ppo, corrected_k3", "k3 weighted by the differentiated ratio, at most 2", \
        VERL_NORM BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K3, 0.001) \
        CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) SET(penalty.kl_importance_weight_max, 2) DIVIDE(TOKEN_MEAN)) \
    ROW("torchforge-grpo", "torchforge", "SimpleGRPOLoss", "ratio of the policy to itself, k3 of 0.1", \
        TRL_NORM CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_CURRENT) SURROGATE(RATIO) KL(K3, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("torchforge-reinforce", "torchforge", "ReinforceLoss", "REINFORCE with the clipped detached ratio to the rollout policy", \
        TRL_NORM CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) CISPO(0.1, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("torchtune-grpo", "torchtune", "GRPOLoss", "torchtune's GRPO with clip and KL of 0.1, token mean", \
        TRL_NORM CLIP(0.1, 0.1) KL(K3, 0.1) DIVIDE(TOKEN_MEAN)) \
    ROW("torchtune-sequence", "torchtune", "GRPOCompletionLoss as its comments say, without its KL", \
        "one product ratio for the whole response, clipped at 0.1; as shipped the product is over all responses", \
        TRL_NORM LEVEL(SEQUENCE_SUM) CLIP(0.1, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tinker-importance-sampling", "Tinker", "importance_sampling", "plain sum of ratio times advantage, no clip", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) SURROGATE(RATIO)) \
    ROW("tinker-ppo", "Tinker", "ppo", "clipped ratio to the sampler, plain sum over tokens", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) CLIP(0.2, 0.2)) \
    ROW("tinker-cispo", "Tinker", "cispo", "detached ratio capped at 4, plain sum over tokens", \
        BASELINE(GROUP_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_ROLLOUT) CISPO(0, 4)) \
    ROW("tinker-dro", "Tinker", "dro", "REINFORCE plus half squared log-ratio to the sampler, summed", \
        BASELINE(GROUP_MEAN) KL(K2, 0.05) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT)) \
    ROW("art-grpo", "OpenPipe ART", "default loss", "detached ratio from 0 to 5, response means", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) MEAN_ABS BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) \
        CISPO(0, 5) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("verl-agent-gspo", "verl-agent", "gspo", "GSPO-token with the log-ratio capped above at 10", \
        VERL_NORM LEVEL(SEQUENCE_MEAN) LEVEL_CLAMP(-HUGE_VAL, 10) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) CLIP(0.2, 0.2) \
        SET(penalty.entropy_coef, 0.001) CHOOSE(penalty.entropy_aggregation, GRPO_PENALTY_AGGREGATION_TOKEN_MEAN) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("axolotl-grpo", "axolotl", "as axolotl", "TRL's clipped loss as reimplemented, token mean", \
        TRL_NORM CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("a-star-po", "2505.20686", "A*-PO", "regresses the response log-ratio to the reference on the reward over an optimal value", \
        BASELINE(EXTERNAL) LEVEL(SEQUENCE_SUM) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_REF) SURROGATE(SQUARED) SET(surrogate.beta, 0.001) \
        SET(penalty.entropy_coef, 0.001) CHOOSE(penalty.entropy_aggregation, GRPO_PENALTY_AGGREGATION_TOKEN_MEAN) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("pvpo", "2508.21104", "5 without its KL, 11", "baseline is the mean reward of a reference model on the prompt", \
        BASELINE(EXTERNAL) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gvpo", "2504.19599", "objective, official code", "variance of the group's log-ratios about its advantages, sum over tokens", \
        BASELINE(GROUP_MEAN) LEVEL(SEQUENCE_SUM) SURROGATE(VARIANCE) SET(surrogate.beta, 0.1) DIVIDE(GROUP_MEAN)) \
    ROW("real", "2602.05630", "section 3, split as ms-swift", \
        "rewards as labels: a logistic loss of the group's length-normalised log-ratios", \
        BASELINE(GROUP_MEAN) LEVEL(SEQUENCE_MEAN) SURROGATE(LOGISTIC_LSE) SET(surrogate.tau_pos, 0.5) SET(surrogate.tau_neg, 0.5) \
        DIVIDE(GROUP_MEAN)) \
    ROW("flowrl", "2509.15207", "6", "flow balance against a learned partition function, clipped weight of the response", \
        GROUP_NORM LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_REF) SURROGATE(TRAJECTORY_BALANCE) \
            SET(surrogate.reward_beta, 15) \
        POLICY_IS(SEQUENCE_SUM, 0.8, 1.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("flowrl-code", "FlowRL", "official code", "FlowRL (2509.15207) as its code has it: the weight is not clipped", \
        VERL_NORM LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_REF) SURROGATE(TRAJECTORY_BALANCE) \
            SET(surrogate.reward_beta, 15) \
        POLICY_IS(SEQUENCE_SUM, 0, HUGE_VAL) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("amir-grpo", "2601.03661", "official code", "GRPO and a logistic loss of the pairs whose rewards are far apart", \
        GROUP_NORM SET(advantage.eps, 1e-4) CLIP(0.2, 0.2) PREFERENCE(2, 0.5, 0.01) \
            CHOOSE(penalty.preference_score, GRPO_PREFERENCE_SCORE_REFERENCE_FREE) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("vapo", "2504.05118", "objective", "PPO with a lambda by length and the likelihood of right answers", \
        CREDIT(GAE, 1) SET(advantage.lambda_length, 0.05) CLIP(0.2, 0.28) NLL(CORRECT, NONE, 0.1) DIVIDE(TOKEN_MEAN)) \
    ROW("oreal", "xtuner", "oreal loss", "OREAL (2502.06781): dual clip and likelihood, good and other tokens with means of their own", \
        GROUP_NORM SET(advantage.eps, 1e-8) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) NLL(POSITIVE, NONE, 1) DIVIDE(TOKEN_MEAN_BY_SIGN)) \
    ROW("chord", "Trinity-RFT", "mix_chord, mu 0.1, over 0.9", \
        "CHORD (2508.11408): GRPO, and on selected tokens the likelihood weighted by p (1 - p) instead", \
        VERL_NORM BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K2, 0.001111111111111111) \
        NLL(SELECTED, P_ONE_MINUS_P, 0.1111111111111111) CHOOSE(weight.selected, GRPO_SELECTED_DROP) DIVIDE(TOKEN_MEAN)) \
    ROW("kdrl-areal", "AReaL", "gsm8k_grpo_distill", "GRPO and the log-ratio to a teacher, AReaL's recipe of KDRL (2506.02208)", \
        AFFINE(-0.5, 10, -20, 20) GROUP_NORM SET(advantage.eps, 1e-5) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_TOKENS) \
        SET(advantage.batch_norm_eps, 1e-5) CLIP(0.4, 0.4) KL(K1, 0.005) KL_TO_TEACHER ROLLOUT_IS(MASK, TOKEN, 0, 5, ZERO_WEIGHT) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("kd-areal", "AReaL", "rl_loss_weight 0", "distillation alone: the ratio times the detached log-ratio to the teacher", \
        AFFINE(0, 0, 0, 0) BEHAVIOUR(ROLLOUT) KL(K1, 0.005) KL_TO_TEACHER CHOOSE(penalty.kl_gradient, GRPO_KL_GRADIENT_DETACHED) \
        CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_TOKEN) DIVIDE(TOKEN_MEAN)) \
    ROW("gigpo-mean", "2505.10978", "3-8, as verl-agent, mean_norm", "GiGPO without deviations, the default of its function", \
        STEP_CREDIT(EPISODE_STEP, 0.95) STEPS(RETURN, STATE) SET(advantage.step_coef, 1) BASELINE(GROUP_MEAN) STEP_SAMPLES \
        DUAL(0.2, 0.2, 3) KL(K3, 0.01) SET(penalty.kl_clamp_value, 10) SET(penalty.entropy_coef, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("gigpo", "2505.10978", "3-8, as verl-agent, mean_std_norm", \
        "advantage of the episode plus that of the step among steps from the same state", \
        STEP_CREDIT(EPISODE_STEP, 0.95) STEPS(RETURN, STATE) SET(advantage.step_coef, 1) GROUP_NORM STEP_SAMPLES SET(advantage.eps, 1e-6) \
        DUAL(0.2, 0.2, 3) KL(K3, 0.01) SET(penalty.kl_clamp_value, 10) SET(penalty.entropy_coef, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("roll-gigpo", "ROLL", "gigpo, ppo", "ROLL's GiGPO recipe, no deviation", \
        STEP_CREDIT(EPISODE_STEP, 0.95) STEPS(RETURN, STATE) SET(advantage.step_coef, 1) BASELINE(GROUP_MEAN) STEP_SAMPLES \
        SET(advantage.clamp_low, -20) SET(advantage.clamp_high, 20) CLIP(0.2, 0.2) KL(K3, 0.01) SET(penalty.kl_clamp_value, 10) \
        DIVIDE(SEQ_MEAN_SEGMENT_MEAN) DROP_EMPTY) \
    ROW("step-reinforce", "ROLL", "step_reinforce, ppo", "ROLL's step returns alone, as they are", \
        STEP_CREDIT(STEP_OWN, 0.95) STEPS(RETURN, PROMPT) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_SEGMENT_MEAN) DROP_EMPTY) \
    ROW("hgpo", "2602.22817", "as its recipe in verl-agent", \
        "step advantages among steps of the same last one, two and three states, longer histories weigh more", \
        STEP_CREDIT(STEP_OWN, 0.95) STEPS(RETURN, HISTORY) SET(advantage.history_length, 3) SET(advantage.history_power, 1) GROUP_NORM \
        CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) DUAL(0.2, 0.2, 3) KL(K3, 0.01) \
        SET(penalty.kl_clamp_value, 10) SET(penalty.entropy_coef, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-gdpo", "NeMo-RL", "gdpo", "NeMo-RL's GDPO, each reward against the others of the group, the sum normalised over the batch", \
        CHOOSE(advantage.rewards, GRPO_REWARDS_EACH) BASELINE(LEAVE_ONE_OUT) SCALE(LEAVE_ONE_OUT_STD) SET(advantage.eps, 1e-6) \
        CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) CLIP(0.2, 0.2) KL(K3, 0.01) \
            CHOOSE(penalty.kl_importance_weight, GRPO_KL_IMPORTANCE_WEIGHT_SCORE_FUNCTION) \
        SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) CHOOSE(penalty.kl_clamp_on, GRPO_KL_CLAMP_ON_WEIGHTED) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-gdpo", "verl", "gdpo, vanilla", "verl's GDPO, the sum of normalised rewards whitened over tokens", \
        VERL_NORM CHOOSE(advantage.rewards, GRPO_REWARDS_EACH) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_TOKENS) \
        SET(advantage.batch_norm_eps, 1e-8) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-otb", "verl", "optimal_token_baseline, vanilla", \
        "verl's optimal token baseline, returns weighted by the variance up to the token", \
        CREDIT(RETURN, 1) CHOOSE(advantage.token_baseline, GRPO_TOKEN_BASELINE_OPTIMAL_SHARED) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("bnpo", "2506.02864", "official code, run.sh", "centred rewards over a Beta density fitted to the success rates", \
        BASELINE(GROUP_MEAN) SCALE(BETA) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) DUAL(0.2, 0.28, 10) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("pkpo-max", "2505.15201", "19", "estimator of maxg@k without a baseline, rewards of any size", \
        CHOOSE(advantage.transform, GRPO_TRANSFORM_PKPO_MAX) SET(advantage.pass_k, 2) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("pkpo-gain", "2505.15201", "33", "what a response adds to the best of the others in sets of k", \
        CHOOSE(advantage.transform, GRPO_TRANSFORM_PKPO_GAIN) SET(advantage.pass_k, 2) DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("gtpo", "2508.04349", "3, 5-7", "token rewards by share of the entropy, right and wrong tokens normalised apart", \
        CHOOSE(advantage.credit, GRPO_CREDIT_ENTROPY_SHARE) SET(advantage.entropy_share_coef, 0.1) SET(advantage.entropy_share_eps, 1e-8) \
        CHOOSE(advantage.std, GRPO_STD_POPULATION) EPS(1e-8, INSIDE) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("hicra", "textpolicy", "hicra, as textpolicy", "advantages of planning tokens are raised by a fifth of their size", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.marked, GRPO_MARKED_BOOST) SET(advantage.marked_value, 0.2) CLIP(0.2, 0.28) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("segment-gspo", "ROLL", "ratio_type segment", "one length-normalised ratio per turn of a response", \
        GROUP_NORM SET(advantage.eps, 1e-6) LEVEL(SEGMENT_MEAN) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("art-average", "OpenPipe ART", "importance_sampling_level average, ppo", \
        "clips the mean of the token's ratio and of the response's", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) MEAN_ABS BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) \
        LEVEL(SEQUENCE_MEAN) INTERPOLATE(ARITHMETIC) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("art-geometric", "OpenPipe ART", "importance_sampling_level geometric_average, ppo", \
        "clips the root of the token's ratio times the response's", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-6) MEAN_ABS BEHAVIOUR(ROLLOUT) CLAMP(-20, 20) \
        LEVEL(SEQUENCE_MEAN) HALVES CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("hybrid-ratio", "textpolicy", "gspo, variant hybrid", \
        "the same root with the response's ratio detached, advantages centred in the batch", \
        BASELINE(BATCH_MEAN) LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) HALVES CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("fipo", "2603.19835", "5-8", "weighs tokens by how the policy has moved on what follows them", \
        OVERLONG(20480, 4096) GROUP_NORM DUAL(0.2, 0.28, 10) FIPO(32, 10, 1, 1.2) FIPO_SAFE(10, 1, 1) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("vaco", "open-instruct", "VACO (2603.01365), rho_mask_tv_divergence", \
        "drops tokens that would add to a total variation from the sampler that is too large", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.272) KL(K3, 0.05) ROLLOUT_IS(TRUNCATE, TOKEN, 0, 2, ZERO_WEIGHT) SET(penalty.kl_clamp_log, 40) \
        SET(weight.rollout_clamp, 10) CHOOSE(weight.off_policy_mask, GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) \
            SET(weight.off_policy_mask_threshold, 2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("rec-ring", "2509.24203", "REC-Ring, as Trinity-RFT", \
        "REINFORCE on tokens inside a ring of ratios, or beyond a second one where it pulls back", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) TRUST(RING, 0.2, 0.2) REC_OUTER(0.6, 2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("nemo-gspo", "NeMo-RL", "gspo, seq_logprob_error_threshold 2", \
        "recipe: GSPO without truncated responses and those on which two engines disagree", \
        BASELINE(LEAVE_ONE_OUT) SCALE(LEAVE_ONE_OUT_STD) SET(advantage.eps, 1e-6) LEVEL(SEQUENCE_MEAN) CLIP(0.2, 0.28) \
        FINISHED ROLLOUT_RS(EXP_ABS, SEQUENCE_MEAN, 0, 2) CHOOSE(weight.rollout_rejected, GRPO_ROLLOUT_REJECTED_UNMASK) \
            DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("verl-tis-normalized", "verl", "rollout_is sequence, 2, batch_normalize", \
        "verl's truncated sequence weights divided by their mean", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) ROLLOUT_IS(TRUNCATE, SEQUENCE_SUM, 0, 2, ZERO_WEIGHT) \
        CHOOSE(weight.rollout_is_norm, GRPO_ROLLOUT_IS_NORM_MEAN) DIVIDE(TOKEN_MEAN)) \
    ROW("vopd", "2605.07865", "official code, full vocabulary", \
        "on-policy distillation with the teacher's expected gap as a control variate", \
        AFFINE(0, 0, 0, 0) CREDIT(GAE, 0) SET(advantage.teacher_coef, 1) CLIP(0.2, 0.2) \
        ROLLOUT_IS(MASK, SEQUENCE_SUM, 0, 3, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    ROW("lightning-opd", "2604.13010", "official code", "distillation with a clipped ratio on rollouts and teacher scores made once", \
        AFFINE(0, 0, 0, 0) SET(advantage.teacher_coef, 1) CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("siop", "2605.04984", "official code", "rewards of turns, normalised together over the group and summed to go", \
        STEP_CREDIT(STEP, 1) CHOOSE(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) GROUP_NORM SET(advantage.eps, 1e-6) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) KL(K3, 0.005) SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("igrpo", "2602.09000", "gradient of the second stage", "GRPO on prompts that carry the best of several drafts", \
        GROUP_NORM CLIP(0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("sage-hint", "2602.03143", "official script", "GRPO as verl computes it, clip-higher, on prompts with a hint", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.28, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("spo-stream", "2509.13232", "official recipe", "tracked value as baseline, normalised over the batch, one response a prompt", \
        BASELINE(EXTERNAL) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) SET(advantage.batch_norm_eps, 1e-8) CLAMP(-20, 20) \
            DUAL(0.2, 0.28, 10) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("nemotron-cascade", "2512.13607", "RL objective", \
        "strictly on-policy GRPO, ratio of the policy to itself, no KL, mean over the tokens of a prompt", \
        GROUP_NORM CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_CURRENT) SURROGATE(RATIO) DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("rec-oneside-nois", "2509.24203", "official code, one-side, weight none", \
        "REINFORCE on the tokens where PPO's clip would not bind", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) TRUST(ONE_SIDED, 0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("rec-oneside-is", "2509.24203", "official code, one-side, importance_sampling", \
        "detached uncapped ratio times the score where PPO's clip would not bind: its gradient is PPO's", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) CISPO(0, HUGE_VAL) \
        TRUST(ONE_SIDED, 0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("rec-twoside-nois", "2509.24203", "official code, two-side, weight none", \
        "REINFORCE on the tokens whose ratio is inside the band, whatever the advantage", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) TRUST(TWO_SIDED, 0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("rec-twoside-is", "2509.24203", "official code, two-side, importance_sampling", \
        "detached ratio times the score where the ratio is inside the band", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) CISPO(0, HUGE_VAL) \
        TRUST(TWO_SIDED, 0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("trinity-rec-gspo", "Trinity-RFT", "rec, gspo-one-side, gspo_importance_sampling", \
        "REC with the length-normalised ratio of the response as mask and detached weight", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) BEHAVIOUR(ROLLOUT) LEVEL(SEQUENCE_MEAN) \
        CISPO(0, HUGE_VAL) KL(K2, 0.001) KL_DIVIDE(TOKEN_MEAN) TRUST(ONE_SIDED, 0.2, 0.2) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("rep-k2", "2509.24203", "official code, regularizer k2", \
        "REINFORCE plus 0.1 times the squared log-ratio to the sampler, mean over tokens", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) KL(K2, 0.2) \
            CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_ROLLOUT) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("opmd-mean", "Trinity-RFT", "opmd, baseline mean", "REINFORCE with the group mean as baseline, divided by 1 + tau", \
        BASELINE(GROUP_MEAN) SCALE(CONSTANT) SET(advantage.scale_divisor, 2) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) \
            KL(K2, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("loop", "2502.01600", "official code, per token", \
        "leave-one-out baseline, token ratios clipped to 1/1.1 .. 1.1, mean of rollout means", \
        BASELINE(LEAVE_ONE_OUT) CLIP(0.09090909090909091, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("loop-trajectory", "2502.01600", "official code, per trajectory", \
        "leave-one-out baseline, product ratio of the rollout clipped to 1/1.1 .. 1.1", \
        BASELINE(LEAVE_ONE_OUT) LEVEL(SEQUENCE_SUM) CLIP(0.09090909090909091, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN) DROP_EMPTY) \
    ROW("agentflow", "2510.05592", "official code", "every turn a response of its prompt's group, under verl's loss", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.3, 3) KL(K3, 0.001) SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("glm-5", "2602.15763", "1", "GRPO without KL, rollout weights kept inside 0.5 to 2 and zero outside", \
        GROUP_NORM CLIP(0.2, 0.28) ROLLOUT_IS(MASK, TOKEN, 0.5, 2, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("lopti", "2505.12929", "official code, Lopti", "selected tokens alone in loss and KL, improbable ones first, then the others", \
        VERL_NORM DUAL(0.2, 0.24, 10) KL(K3, 0.001) CHOOSE(penalty.kl_on, GRPO_KL_ON_SELECTED) SET(penalty.kl_clamp_log, 5) \
        SET(penalty.kl_clamp_value, 10) CHOOSE(weight.selected, GRPO_SELECTED_KEEP) DIVIDE(TOKEN_MEAN)) \
    ROW("disco-b", "2505.12366", "DisCO-b, log-L, delta 1e-4 by kl_hinge", \
        "mean likelihood of right responses less that of wrong ones, binary rewards", \
        LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(DISCRIMINATIVE_MEAN) KL(K1, 0) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) \
        KL_DIVIDE(TOKEN_MEAN) DIVIDE(GROUP_MEAN)) \
    /* DisCO's constraint on the KL: at every step the caller sets kl_coef = -grpo_kl_hinge(...): k1 to old estimates the negative KL */ \
    ROW("disco", "2505.12366", "DisCO, log-L, delta 1e-4 by kl_hinge", \
        "right responses against a soft maximum of the wrong ones, KL under a hinge", \
        LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(DISCRIMINATIVE_LSE) SET(surrogate.tau_neg, 10) KL(K1, 0) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) KL_DIVIDE(TOKEN_MEAN) DIVIDE(GROUP_MEAN)) \
    ROW("disco-ratio", "2505.12366", "DisCO, L-ratio, delta 1e-4 by kl_hinge", \
        "mean ratios of right responses against a soft maximum of the wrong ones, KL under a hinge", \
        LEVEL(SEQUENCE_MEAN_RATIO) SURROGATE(DISCRIMINATIVE_LSE) CHOOSE(surrogate.group_score, GRPO_GROUP_SCORE_RATIO) \
            SET(surrogate.tau_neg, 1) KL(K1, 0) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) KL_DIVIDE(TOKEN_MEAN) DIVIDE(GROUP_MEAN)) \
    /* the caller sets length_decay = 1/(lambda T_max), lambda 0.1, T_max the largest length a response may have */ \
    ROW("drpo", "2510.04474", "objective, official code", "DisCO whose right responses weigh more the shorter they are", \
        LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(DISCRIMINATIVE_LSE) SET(surrogate.tau_neg, 10) KL(K1, 0) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) KL_DIVIDE(TOKEN_MEAN) DIVIDE(GROUP_MEAN)) \
    ROW("dno", "2404.03715", "algorithm 1, 8", "a sigmoid of differences of log-ratios regressed on that of differences of rewards", \
        LEVEL(SEQUENCE_SUM) SURROGATE(PAIRWISE_SOFT) SET(surrogate.beta, 0.1) SET(surrogate.advantage_temperature, 1) DIVIDE(GROUP_MEAN)) \
    ROW("dmpo", "2605.19461", "official code, pure_dmpo", \
        "likelihoods within the group drawn to a softmax of the advantages, squared differences", \
        VERL_NORM LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(SOFTMAX_MSE) SET(surrogate.beta, 1) \
            SET(surrogate.advantage_temperature, 1.0 / 15) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dmpo-js", "2605.19461", "official code, dmpo_js", "dmpo by the Jensen-Shannon divergence", \
        VERL_NORM LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(SOFTMAX_JS) SET(surrogate.beta, 1) \
            SET(surrogate.advantage_temperature, 1.0 / 15) \
        DIVIDE(GROUP_MEAN)) \
    ROW("vpd", "2605.15113", "E-step, restated", \
        "logistic loss of right responses and of wrong ones, each with a mean; the shift is the caller's", \
        LEVEL(SEQUENCE_SUM) BEHAVIOUR(REF) SURROGATE(LOGISTIC) SET(surrogate.beta, 0.1) DIVIDE(SEQ_MEAN_BY_SIGN)) \
    ROW("dispo", "2602.00983", "objective, restated", "CISPO with bounds for each sign of the advantage: 0.8 to 11, and 0 to 101", \
        GROUP_NORM SURROGATE(DISPO) SET(surrogate.weight_min, 0.8) SET(surrogate.weight_max, 11) SET(surrogate.weight_max_neg, 101) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("bgpo", "2510.11683", "9-10, 12-14, 18-19", "a bound of the ratio objective; a token is one Monte Carlo term of a response", \
        GROUP_NORM SURROGATE(BGPO) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("ctpo", "2605.07331", "official code, cumprod", "product of the ratios so far, clipped in log space by the root of the position", \
        VERL_NORM LEVEL(PREFIX_SUM) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) CLAMP(-20, 20) LEVEL_CLAMP(-HUGE_VAL, 10) \
        LOG_DUAL(0.025, 0.05, 0.05, 0.5) ROLLOUT_IS(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    ROW("ctpo-geomean", "2605.07331", "official code, geomean", "geometric mean of the ratios so far, clipped tighter the later", \
        VERL_NORM LEVEL(PREFIX_MEAN) CHOOSE(ratio.gradient, GRPO_GRADIENT_TOKEN) CLAMP(-20, 20) LEVEL_CLAMP(-HUGE_VAL, 10) \
        LOG_DUAL(0.025, 0.05, 0.05, -0.5) ROLLOUT_IS(TRUNCATE, SEQUENCE_SUM, 0, 5, ZERO_WEIGHT) DIVIDE(TOKEN_MEAN)) \
    /* the code's default: the caller sets shaping_gamma = max(0.9-quantile of the ratios of the tokens with shaping_mask, 1e-4) */ \
    ROW("guide-grpo", "2506.13923", "official code, constant g", "w/(w + 1) in place of the clip at tokens of responses that had a hint", \
        VERL_NORM SURROGATE(POLICY_SHAPING) CLIP_RANGE(0.2, 0.2) SET(surrogate.shaping_gamma, 1) DIVIDE(TOKEN_MEAN)) \
    ROW("llds", "2512.04220", "1, 4-6", "GRPO, and a penalty on likelihood that turns of good responses lose", \
        GROUP_NORM CLIP(0.2, 0.2) KL(K3, 0.001) NLL(NOT_NEGATIVE, NONE, 0.2) \
        CHOOSE(penalty.nll_form, GRPO_NLL_FORM_DISPLACEMENT) CHOOSE(penalty.nll_gate, GRPO_NLL_GATE_SEGMENT) \
        DIVIDE(GROUP_MEAN_TOKEN_MEAN)) \
    ROW("sdar", "2605.15155", "as ms-swift, recipe", "swift-grpo, and the gap to a teacher where its gate is open, a recipe", \
        TRL_NORM CLIP(0.2, 0.2) KL(K3, 0.04) SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) \
        NLL(ALL, TEACHER_GATE, 0.1) CHOOSE(penalty.nll_form, GRPO_NLL_FORM_TEACHER_GAP) SET(penalty.nll_teacher_slope, 5) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("rlsd", "2604.03128", "as ms-swift", "swift-grpo with advantages that a teacher's log-ratio raises or lowers by at most a tenth", \
        TRL_NORM SET(advantage.teacher_share, 0.5) SET(advantage.teacher_clip, 0.2) CLIP(0.2, 0.2) KL(K3, 0.04) \
        SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("igpo", "2510.14967", "5-7 of the second version", \
        "rewards of turns normalised by kind, which is their state, and summed to go", \
        STEP_CREDIT(STEP, 1) STEPS(REWARD, STATE) CHOOSE(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) GROUP_NORM CLIP(0.2, 0.2) \
        KL(K3, 0.001) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tempo", "2509.18314", "official code", "what a token adds to the mean reward of the responses with the same prefix", \
        CHOOSE(advantage.credit, GRPO_CREDIT_PREFIX_TREE) GROUP_NORM SET(advantage.eps, 1e-6) CLAMP(-20, 20) DUAL(0.2, 0.28, 3) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("red-drop", "2509.24203", "RED-Drop, as Trinity-RFT", \
        "REINFORCE without the negatives that the caller drew, which still count as tokens", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CHOOSE(advantage.excluded, GRPO_EXCLUDED_ZERO) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("temp-samp", "2509.18056", "1, 3, without the KL", "on-policy GRPO and a response from elsewhere, worth 1.2 times the best", \
        GROUP_NORM CHOOSE(advantage.excluded, GRPO_EXCLUDED_ANCHOR) SET(advantage.excluded_coef, 1.2) BEHAVIOUR(CURRENT) \
        LEVEL(SEQUENCE_SUM) SURROGATE(RATIO) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("gtpo-conf", "2508.03772", "objective of its official page", \
        "advantages less the response's entropy, none where it is high, grpo_conflict_weight", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.entropy, GRPO_ENTROPY_RESPONSE) SET(advantage.entropy_coef, 0.1) \
        SET(advantage.entropy_max, 0.6931471805599453) BEHAVIOUR(CURRENT) SURROGATE(RATIO) CHOOSE(weight.external, GRPO_EXTERNAL_POLICY) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("t-ppo", "2506.15050", "as the change to verl", \
        "PPO on windows of responses that go on: the last value repeats, the last tokens wait", \
        GAE(1, 0.95) CHOOSE(advantage.bootstrap, GRPO_BOOTSTRAP_REPEAT) SET(advantage.lambda_length, 0.05) \
        SET(advantage.truncated_tail, 8) SCALE(TOKEN_WHITEN) EPS(1e-8, INSIDE) SET(advantage.clamp_low, -10) \
        SET(advantage.clamp_high, 10) CLAMP(-20, 20) DUAL(0.2, 0.28, 10) NLL(CORRECT, NONE, 0.1) DIVIDE(TOKEN_MEAN)) \
    ROW("rank-grpo", "2510.20150", "official script", "items of a list compared rank by rank, each with a ratio of its own", \
        CHOOSE(advantage.credit, GRPO_CREDIT_STEP_OWN) STEPS(REWARD, INDEX) TRL_NORM LEVEL(SEGMENT_MEAN) CLIP(0.06, 0.08) \
            KL(K3, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("minillm", "2306.08543", "as TRL, detached, without the single-step term", \
        "TRL's loss with the teacher's log-ratio added to the advantage", \
        TRL_NORM SET(advantage.teacher_coef, 1) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("cfpo", "2601.22801", "CFPO, as verl's port", "no clip: a parabola in the ratio whose best is at 1 + eps or 1 - eps", \
        VERL_NORM CLAMP(-20, 20) SURROGATE(QUADRATIC) SET(surrogate.quadratic_eps, 0.2) DIVIDE(TOKEN_MEAN)) \
    ROW("up-grpo", "2607.06987", "15, as the author's code", \
        "REINFORCE where the advantage is positive, dual clip where it is negative, KL of 0.001", \
        VERL_NORM CLAMP(-20, 20) SURROGATE(UNBOUNDED_POSITIVE) CLIP_RANGE(0.2, 0.2) SET(surrogate.clip_dual, 3) KL(K3, 0.001) \
            SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("gift", "2510.23868", "as the author's pull request to verl", \
        "the response's log-ratio, standardised over the group, regressed on the advantage", \
        VERL_NORM LEVEL(SEQUENCE_SUM) SURROGATE(STANDARDISED) SET(surrogate.beta, 1) SET(surrogate.group_score_eps, 1e-6) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("tpo", "2604.06159", "as the author's pull request to TRL", \
        "cross-entropy of the group's likelihoods to the old ones tilted by the advantages", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) LEVEL(SEQUENCE_MEAN) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_NONE) \
        SURROGATE(TILTED_CROSS_ENTROPY) SET(surrogate.beta, 1) SET(surrogate.advantage_temperature, 1) DIVIDE(GROUP_MEAN)) \
    ROW("click", "2306.03350", "contrastive loss, official code", \
        "hinge on how far each better response's likelihood is above a worse one's", \
        LEVEL(SEQUENCE_SUM) CHOOSE(ratio.behaviour, GRPO_BEHAVIOUR_NONE) SURROGATE(PAIRWISE_HINGE) SET(surrogate.beta, 1) \
        SET(surrogate.hinge_margin, 20) DIVIDE(GROUP_MEAN)) \
    ROW("minirl", "2512.01374", "5, 7", \
        "detached ratio times the score where PPO's clip would not bind, rollout weights up to 5", \
        BASELINE(GROUP_MEAN) CISPO(0, HUGE_VAL) TRUST(ONE_SIDED, 0.2, 0.27) ROLLOUT_IS(TRUNCATE, TOKEN, 0, 5, ZERO_WEIGHT) \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("mirror-descent", "2501.12599", "token by token, as verl's port", \
        "REINFORCE with the group mean as baseline and a squared log-ratio, token by token", \
        BASELINE(GROUP_MEAN) CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) KL(K2, 100) \
        CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) SET(penalty.entropy_coef, 0.001) DIVIDE(TOKEN_MEAN)) \
    ROW("dapo-zv", "TRL", "dapo_zv, as proposed", "recipe: TRL's loss over the tokens of the groups whose rewards differ", \
        TRL_NORM CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN_NONZERO_STD)) \
    ROW("dgpo", "2601.20614", "3-5", \
        "divided by the mean absolute deviation; the weights of prompts are grpo_difficulty_weight, by weight.external policy", \
        BASELINE(GROUP_MEAN) SCALE(MEAN_ABSOLUTE_DEVIATION) CLIP(0.2, 0.2) DIVIDE(TOKEN_MEAN_NONZERO_STD)) \
    ROW("f-grpo", "2602.06717", "11-13, appendix L", "advantages times the root of the prompt's share of failures", \
        GROUP_NORM CHOOSE(advantage.reweight, GRPO_REWEIGHT_FOCAL) SET(advantage.focal_gamma, 0.5) SET(advantage.focal_reward_high, 1) \
            CLIP(0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("reg-grpo", "2506.07464", "5-8, without the KL", "GRPO's advantage regressed on the response's log-ratio, standardised too", \
        GROUP_NORM LEVEL(SEQUENCE_SUM) SURROGATE(REGRESSION) SET(surrogate.beta, 1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    /* rewards must be the paper's preference levels: positive for the best, 0, -1, -2 for the worse ones */ \
    ROW("trpa", "2504.04524", "official code", "pairs of better and worse responses, KL to the old policy", \
        SURROGATE(NONE) KL(K3, 0.001) CHOOSE(penalty.kl_reference, GRPO_KL_REFERENCE_OLD) SET(penalty.kl_clamp_value, 10) \
        CHOOSE(penalty.preference, GRPO_PREFERENCE_PAIRWISE_ELSE_POINTWISE) SET(penalty.preference_beta, 0.1) \
            SET(penalty.preference_coef, 1) \
        SET(penalty.preference_kappa, 2.5) DIVIDE(TOKEN_MEAN)) \
    ROW("mt-guide", "2510.01132", "official script, dense rewards", "verl's PPO with a reward at the end of each turn", \
        REWARD_K1(0.01) GAE(1, 1) CHOOSE(advantage.credit, GRPO_CREDIT_STEP_GAE) SCALE(TOKEN_WHITEN) EPS(1e-8, INSIDE) CLAMP(-20, 20) \
        DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    /* the caller sets ratio.power and ratio.token_clip_high at every step: grpo_power_mean_bounds */ \
    ROW("apmpo", "2605.04066", "objective, at a mean reward of 0", \
        "power mean of a response's clipped token ratios, from GRPO's to GMPO's", \
        GROUP_NORM LEVEL(SEQUENCE_POWER_MEAN) SET(ratio.power, 1) \
        SET(ratio.token_clip_low, 0.2231435513142097) SET(ratio.token_clip_high, 0.1823215567939546) SURROGATE(RATIO) KL(K3, 0.001) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("dapo-recipe", "2503.14476", "the authors' script", "the authors' recipe: mean over the batch's tokens, dual clip at 10", \
        OVERLONG(20480, 4096) GROUP_NORM SET(advantage.eps, 1e-6) DUAL(0.2, 0.28, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("maxrl-passk", "2602.02710", "official code", "pass@k reward transform with leave-one-out baseline", \
        BASELINE(LEAVE_ONE_OUT) CHOOSE(advantage.transform, GRPO_TRANSFORM_PKPO_MAXRL) SET(advantage.pass_k, 2) \
        CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) DIVIDE(TOKEN_MEAN)) \
    ROW("flow-grpo", "2505.05470", "Flow-GRPO objective, as its code", "steps of a sampler, deviation of the batch, a Gaussian KL", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_STD) CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-4) \
        SET(advantage.clamp_low, -5) SET(advantage.clamp_high, 5) CLIP(1e-4, 1e-4) KL(EXTERNAL, 0.04) DIVIDE(TOKEN_MEAN)) \
    ROW("dance-grpo", "2505.07818", "DanceGRPO objective, as its code", "steps of a sampler, a random subset of them, no KL", \
        GROUP_NORM SET(advantage.eps, 1e-8) SET(advantage.clamp_low, -5) SET(advantage.clamp_high, 5) CLIP(1e-4, 1e-4) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("mix-grpo", "2507.21802", "MixGRPO objective, as its code", "a window of stochastic steps, each reward standardised by itself", \
        CHOOSE(advantage.rewards, GRPO_REWARDS_EACH) GROUP_NORM SET(advantage.eps, 1e-8) SET(advantage.clamp_low, -5) \
        SET(advantage.clamp_high, 5) CLIP(1e-4, 1e-4) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("flash-grpo", "2605.15980", "Flash-GRPO objective, as its code", \
        "one stochastic step per sample, weighted by one over its gradient's scale, the weights' mean being 1", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_STD) CHOOSE(advantage.std, GRPO_STD_POPULATION) SET(advantage.eps, 1e-4) \
        SET(advantage.clamp_low, -5) SET(advantage.clamp_high, 5) CLIP(1e-3, 1e-3) \
        CHOOSE(weight.external, GRPO_EXTERNAL_POLICY) DIVIDE(TOKEN_MEAN)) \
    ROW("grpo-guard", "2510.22319", "8, 12", "log-ratios of a sampler's steps without their bias, steps weighted alike", \
        GROUP_NORM CLIP(2e-6, 2e-6) CHOOSE(weight.external, GRPO_EXTERNAL_POLICY) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("flow-dppo", "2606.11025", "17-18", "no clip: steps that have diverged the way their advantage wants are dropped", \
        BASELINE(GROUP_MEAN) SCALE(BATCH_STD) SET(advantage.eps, 1e-8) SURROGATE(RATIO) TRUST(DIVERGENCE, 1e-5, 1e-5) DIVIDE(TOKEN_MEAN)) \
    ROW("sage-grpo-video", "2603.21872", "SAGE-GRPO objective, as its code", "steps balanced by a schedule, KL to a reference that moves", \
        GROUP_NORM CHOOSE(advantage.std, GRPO_STD_POPULATION) EPS(1e-12, FLOOR) SET(advantage.clamp_low, -5) SET(advantage.clamp_high, 5) \
        CLIP(1e-4, 1e-4) KL(EXTERNAL, 1e-7) NLL(ALL, NONE, 1e-8) CHOOSE(weight.external, GRPO_EXTERNAL_POLICY) DIVIDE(TOKEN_MEAN)) \
    ROW("diffu-grpo", "2504.12216", "diffu-GRPO objective, as its code", "a masked language model in one step, reward less the mean", \
        BASELINE(GROUP_MEAN) CLIP(0.5, 0.5) KL(K3, 0.04) DIVIDE(TOKEN_MEAN)) \
    ROW("agrpo", "2510.04019", "AGRPO objective, as its code", "tokens of drawn unmasking steps, weighted by how they were drawn", \
        BASELINE(GROUP_MEAN) CLIP(0.2, 0.2) CHOOSE(weight.external, GRPO_EXTERNAL_TERM) DIVIDE(SEQ_MEAN_CONSTANT) \
        SET(aggregation.constant, 24)) \
    ROW("espo", "2512.03759", "ESPO objective, as its code", "ratio of evidence lower bounds per response, leave-one-out baseline", \
        BASELINE(LEAVE_ONE_OUT) LEVEL(SEQUENCE_MEAN) CLIP(0.2, 0.2) KL(EXTERNAL, 1e-3) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("conspo", "2605.12969", "8, 13", \
        "each right response against the wrong ones of its group, by mean log-probabilities and with a margin, no ratio", \
        LEVEL(SEQUENCE_MEAN) BEHAVIOUR(NONE) SURROGATE(CONTRASTIVE) SET(surrogate.contrast_temperature, 10) \
        SET(surrogate.contrast_margin, 0.01) DIVIDE(GROUP_MEAN)) \
    ROW("drpo-quadratic", "2606.09821", "5, 9, as its recipe", \
        "no clip: a parabola around ratio 1 that is as steep as the sampler's probability", \
        BASELINE(GROUP_MEAN) CLAMP(-20, 20) BEHAVIOUR(ROLLOUT) SURROGATE(QUADRATIC_PROBABILITY) SET(surrogate.quadratic_eps, 12.5) \
        DIVIDE(SEQ_MEAN_CONSTANT) SET(aggregation.constant, 8192)) \
    ROW("qarl-tbpo", "2604.07853", "restated", \
        "GSPO against a quantised sampler: bad responses keep a gradient inside a band of the ratio alone", \
        GROUP_NORM LEVEL(SEQUENCE_MEAN) CLIP(3e-4, 4e-4) TRUST(NEGATIVE_BAND, 3e-4, 7e-4) \
        ROLLOUT_IS(TRUNCATE, SEQUENCE_MEAN, 0, 2, ZERO_WEIGHT) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("sapo-step", "2605.17648", "early code of the first author", \
        "rewards of steps, each compared with the same step of the other responses and kept by its own tokens", \
        CHOOSE(advantage.credit, GRPO_CREDIT_STEP_OWN) STEPS(REWARD, INDEX) GROUP_NORM EPS(1e-12, FLOOR) \
        CHOOSE(advantage.singleton, GRPO_SINGLETON_RAW) CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K3, 0.001) SET(penalty.kl_clamp_log, 20) \
        SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("erc", "2512.05591", "official code, DAPO", \
        "selected tokens alone, whose entropy has changed by less than 5 %; and a tenth of the likelihood of right responses", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.28, 10) NLL(CORRECT, NONE, 0.1) CHOOSE(weight.selected, GRPO_SELECTED_KEEP) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("gigpo-paper", "2505.10978", "3-9", "GiGPO as its paper writes it: one ratio and one term a turn, means over turns", \
        STEP_CREDIT(EPISODE_STEP, 0.95) STEPS(RETURN, STATE) SET(advantage.step_coef, 1) GROUP_NORM LEVEL(SEGMENT_SUM) \
        CLIP(0.2, 0.2) KL(K3, 0.01) DIVIDE(SEQ_MEAN_SEGMENT_MEAN)) \
    ROW("amir-grpo-recipe", "2601.03661", "authors' command", "amir-grpo with a flatter logistic loss of the pairs", \
        GROUP_NORM SET(advantage.eps, 1e-4) CLIP(0.2, 0.2) PREFERENCE(2, 0.2, 0.01) \
            CHOOSE(penalty.preference_score, GRPO_PREFERENCE_SCORE_REFERENCE_FREE) \
        DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("sdar-recipe", "2605.15155", "official code and script", \
        "verl-agent's GRPO, a turn is a response, and the gap to a teacher where its gate is open", \
        VERL_NORM DUAL(0.2, 0.2, 3) KL(K3, 0.01) SET(penalty.kl_clamp_value, 10) SET(penalty.entropy_coef, 0.001) \
        NLL(ALL, TEACHER_GATE, 0.01) CHOOSE(penalty.nll_form, GRPO_NLL_FORM_TEACHER_GAP) SET(penalty.nll_teacher_slope, 5) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("loop-paper", "2502.01600", "per token", \
        "leave-one-out baseline, token ratios clipped to 1 - eps .. 1 + eps, eps of the code; the caller masks |A| < 0.01", \
        BASELINE(LEAVE_ONE_OUT) CLIP(0.1, 0.1) DIVIDE(SEQ_MEAN_TOKEN_MEAN)) \
    ROW("agentflow-paper", "2510.05592", "5-7", "GRPO whose means are over turns of means over their tokens, clip range of the code", \
        GROUP_NORM CLIP(0.2, 0.3) KL(K3, 0.001) DIVIDE(SEQ_MEAN_SEGMENT_MEAN)) \
    ROW("llds-code", "2512.04220", "official code and script", \
        "GRPO of Search-R1, and a penalty on likelihood that turns of good responses lose, divided by the number of all tokens", \
        VERL_NORM CLAMP(-HUGE_VAL, 4.605170185988092) CLIP(0.2, 0.2) KL(K3, 0.001) SET(penalty.kl_clamp_value, 10) \
        SET(penalty.entropy_coef, 0.001) NLL(NOT_NEGATIVE, NONE, 0.2) CHOOSE(penalty.nll_form, GRPO_NLL_FORM_DISPLACEMENT) \
        CHOOSE(penalty.nll_gate, GRPO_NLL_GATE_SEGMENT) DIVIDE(TOKEN_MEAN)) \
    ROW("spo-stream-paper", "2509.13232", "8-10", \
        "tracked value as baseline, normalised over the batch, the recipe's clip range, no dual clip", \
        BASELINE(EXTERNAL) CHOOSE(advantage.batch_norm, GRPO_BATCH_NORM_ITEMS) CLIP(0.2, 0.28) DIVIDE(TOKEN_MEAN)) \
    ROW("lightning-opd-paper", "2604.13010", "2-4", \
        "the log-ratio of the teacher to the policy as advantage, no ratio, no clip", \
        AFFINE(0, 0, 0, 0) SET(advantage.teacher_coef, 1) SET(advantage.clamp_low, -10) SET(advantage.clamp_high, 10) \
        DIVIDE(SEQ_MEAN_TOKEN_SUM)) \
    ROW("mt-grpo", "2505.11821", "official code, aae", \
        "reward of the turn and of the outcome, each compared by itself, both for what comes before the tool's result", \
        STEP_CREDIT(STEP, 1) STEPS(REWARD, INDEX) CHOOSE(advantage.step_discount, GRPO_STEP_DISCOUNT_STEPS) TRL_NORM CLIP(0.2, 0.2) \
        DIVIDE(TOKEN_MEAN)) \
    ROW("verl-opd", "verl", "distillation k3, use_task_rewards false", \
        "verl's on-policy distillation alone: the bounded k3 to a teacher, differentiated", \
        SURROGATE(NONE) KL(K3, 1) KL_TO_TEACHER SET(penalty.kl_clamp_log, 20) SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN)) \
    ROW("verl-opd-task", "verl", "distillation k3, vanilla", \
        "verl's GRPO and, beside it, its distillation: the bounded k3 to a teacher", \
        VERL_NORM CLAMP(-20, 20) DUAL(0.2, 0.2, 3) KL(K3, 1) KL_TO_TEACHER SET(penalty.kl_clamp_log, 20) \
        SET(penalty.kl_clamp_value, 10) DIVIDE(TOKEN_MEAN))

/* ---- from the table to an objective ----
 * GRPO_ROWS_ is expanded three times: to the settings, to their numbers, and to the names.  A setting is a uint16_t: the low 9 bits are the
 * offset of its field in grpo_objective, in units of 4 bytes; the high bits the choice + 1, or 0 for a field that takes the next element of
 * numbers[].  GRPO_ROW_END_ ends a row.  A field of another size, or a value that does not fit these bits, does not compile. */
enum { GRPO_ROW_END_ = 0xffff, GRPO_PLACES_ = 512, GRPO_MOST_CHOICES_ = 126 };
#define GRPO_PLACE_(path, type) (offsetof(grpo_objective, path) / 4 + 0 * sizeof(char[ \
    sizeof(((grpo_objective *)0)->path) == sizeof(type) && sizeof(grpo_objective) / 4 < GRPO_PLACES_ && sizeof(int) == 4 ? 1 : -1]))
#define GRPO_CHOSEN_(choice) ((size_t)(choice) + 1 + 0 * sizeof(char[(int)(choice) < GRPO_MOST_CHOICES_ ? 1 : -1]))
static grpo_objective grpo_objective_of_row_(int row) {
#define ROW(name, paper, equations, summary, ...) __VA_ARGS__ GRPO_ROW_END_,
#define SET(path, value) (uint16_t)GRPO_PLACE_(path, double),
#define CHOOSE(path, choice) (uint16_t)(GRPO_PLACE_(path, int) | GRPO_CHOSEN_(choice) * GRPO_PLACES_),
    static const uint16_t settings[] = { GRPO_ROWS_ };
#undef ROW
#undef SET
#undef CHOOSE
#define ROW(name, paper, equations, summary, ...) __VA_ARGS__
#define SET(path, value) value,
#define CHOOSE(path, choice)
    static const double numbers[] = { GRPO_ROWS_ };
#undef ROW
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
#define ROW(name, paper, equations, summary, ...) { name, paper, equations, summary },
    static const grpo_preset presets[] = { GRPO_ROWS_ };
    *count = (int)(sizeof presets / sizeof *presets);
    return presets;
}
#undef GRPO_ROWS_
#undef GRPO_PLACE_
#undef GRPO_CHOSEN_
#undef ROW
#undef SET
#undef CHOOSE
#undef OVERLONG
#undef REWARD_K1
#undef AFFINE
#undef CREDIT
#undef STEP_CREDIT
#undef GAE
#undef STEPS
#undef BASELINE
#undef SCALE
#undef EPS
#undef GROUP_NORM
#undef TRL_NORM
#undef VERL_NORM
#undef LEVEL
#undef CLAMP
#undef LEVEL_CLAMP
#undef BEHAVIOUR
#undef SURROGATE
#undef CLIP_RANGE
#undef CLIP
#undef DUAL
#undef LOG_DUAL
#undef CISPO
#undef SAPO
#undef VESPO
#undef KL
#undef KL_TO_TEACHER
#undef NLL
#undef PREFERENCE
#undef POLICY_IS
#undef FINISHED
#undef ROLLOUT_IS
#undef TRUST
#undef REC_OUTER
#undef ROLLOUT_RS
#undef FIPO
#undef FIPO_SAFE
#undef INTERPOLATE
#undef HALVES
#undef MEAN_ABS
#undef STEP_SAMPLES
#undef KL_DIVIDE
#undef DIVIDE
#undef DROP_EMPTY

grpo_status grpo_objective_named(const char *name, grpo_objective *obj) {
    int row, n;
    const grpo_preset *p = grpo_presets(&n);
    if (!obj) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    for (row = 0; name && row < n; row++)
        if (strcmp(p[row].name, name) == 0) { *obj = grpo_objective_of_row_(row); return GRPO_OK; }
    return GRPO_STATUS_(GRPO_UNKNOWN, GRPO_AT_name_);
}

grpo_objective grpo_objective_from_preset(const grpo_preset *preset) {
    grpo_objective obj;
    if (grpo_objective_named(preset->name, &obj)) memset(&obj, 0, sizeof obj);
    return obj;
}

#ifdef __cplusplus
}
#endif
#endif /* GRPO_ROWS_H */
