/* grpo_control.h - coefficients, bounds and baselines that follow what was measured, from one step to the next.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_CONTROL_IMPLEMENTATION
 *     #include "extra/grpo_control.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h. */
#ifndef GRPO_CONTROL_H
#define GRPO_CONTROL_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_control.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_balanced_clip_bounds grpo_balanced_clip_bounds_f64
#define grpo_running_baseline grpo_running_baseline_f64
#define grpo_regret_temperature grpo_regret_temperature_f64
#define grpo_adaptive_clip grpo_adaptive_clip_f64
#define grpo_drift_decay grpo_drift_decay_f64
#define grpo_quantile_tracker grpo_quantile_tracker_f64
#define grpo_turn_factor grpo_turn_factor_f64
#define grpo_hint_level grpo_hint_level_f64
#define grpo_standardised_entropy grpo_standardised_entropy_f64
#define grpo_ratio_quantile grpo_ratio_quantile_f64
#define grpo_logit_shift grpo_logit_shift_f64
#define grpo_multiplier_update grpo_multiplier_update_f64
#endif

GRPO_C_BEGIN_

/* the adaptive KL coefficient (1909.08593; the bound 0.2 is theirs, as in verl): returns kl_coef (1 + clip(kl/target - 1, -0.2, 0.2)
 * steps/horizon).  kl and target in nats, target > 0; steps >= 0, those since the last call, and horizon > 0 in the same unit */
GRPO_FN double grpo_kl_control(double kl_coef, double kl, double target, double steps, double horizon) {
    double e, m, s, h, step;
    int em, es, eh;
    if (!grpo_is_finite(kl_coef) || !grpo_is_finite(kl) || !(target > 0 && steps >= 0 && horizon > 0)) return nan("");
    if (!grpo_is_finite(target) || !grpo_is_finite(steps) || !grpo_is_finite(horizon)) return nan("");
    e = grpo_two_diff(kl, target).hi / target;                          /* not kl/target - 1, which would cancel */
    e = e < -0.2 ? -0.2 : e > 0.2 ? 0.2 : e;
    m = frexp(kl_coef, &em); s = frexp(steps, &es); h = frexp(horizon, &eh);      /* no intermediate overflow or underflow */
    step = ldexp(m * e * s / h, em + es - eh);
    if (grpo_is_finite(step)) return kl_coef + step;
    return 4 * (0.25 * kl_coef + ldexp(m * e * s / h, em + es - eh - 2));         /* the sum may be finite although the step is not */
}

/* adaptive entropy coefficient (Skywork-OR1, 2505.22312; official scripts: target 0.2 nats, delta 1e-4, coef from 0 within 0 .. 5e-3; TRL:
 * delta 5e-3, within 0 .. 1): coef := clip(coef + delta, low, high) if entropy < target, and used = coef; else coef := clip(coef - delta,
 * low, high) and used = 0.  inclusive not 0: entropy <= target, as TRL; the official code is strict.  low <= high */
typedef struct { double coef, used; } grpo_entropy_coef;      /* coef: pass it to the next call; used: penalty.entropy_coef of this step */

GRPO_FN grpo_entropy_coef grpo_entropy_control(double coef, double entropy, double target, double delta, double low, double high,
                                               int inclusive) {
    const int below = inclusive ? entropy <= target : entropy < target;
    const double moved = below ? coef + delta : coef - delta;
    grpo_entropy_coef r = { nan(""), nan("") };
    if (!grpo_is_finite(coef) || !grpo_is_finite(entropy) || !grpo_is_finite(target) || !grpo_is_finite(delta)) return r;
    if (!grpo_is_finite(low) || !grpo_is_finite(high) || low > high) return r;
    r.coef = grpo_within(moved, low, high);
    r.used = below ? r.coef : 0;
    return r;
}

/* smooth advantage standardisation (DCPO, dynamic clipping, 2509.02333): at visit i = visits >= 1 of a prompt, returns whichever of ((i-1)
 * fresh + total)/i and (fresh + (i-1) total)/i is smaller in magnitude, the second if they are equal.  fresh: the advantage from the
 * rewards of this visit, A_new; total: from those of all visits, A_total */
GRPO_FN double grpo_smooth_advantage(int64_t visits, double fresh, double total) {
    double i, past;
    int side;
    if (visits < 1 || !grpo_is_finite(fresh) || !grpo_is_finite(total)) return nan("");
    i = (double)visits; past = (double)(visits - 1);
    side = ((fresh > total) - (fresh < total)) * ((fresh > -total) - (fresh < -total));   /* |a| < |b| iff (a - b)(a + b) < 0, which is */
    if (visits == 1) side = -side;                                                        /* (i - 2)(fresh - total)(fresh + total)/i */
    if (visits != 2 && side < 0) return past / i * fresh + total / i;
    return fresh / i + past / i * total;
}

/* running mean and variance over all visits of a prompt up to this one, number i = visits >= 1 (DCPO, 2509.02333, official code, whose
 * observed variance is the sample variance): ((i-1) mean + observed mean)/i and ((i-1) variance + observed variance + ((i-1)/i)(observed
 * mean - mean)^2)/i; at visit 1 the observed ones */
typedef struct { double mean, variance; } grpo_mean_variance;

GRPO_FN grpo_mean_variance grpo_running_moments(int64_t visits, grpo_mean_variance before, grpo_mean_variance observed) {
    const double i = (double)visits;
    grpo_mean_variance r = { nan(""), nan("") };
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

/* BAPO's clip bounds (Balanced Policy Optimization, 2510.18927, official code: 0.6, 1.2, 0.8, 2, 0.05, 1).  With w = e^(logp - logp_old), v
 * = min(w, high) if A >= 0 and max(w, low) if A < 0, let P = sum of v A over A > 0, Q = sum of |v A| over the others, rho = P/Q, infinite
 * if Q = 0.  While rho < target and low < low_max, low := min(low + step, low_max); then high in the same way.  A bound at or beyond its
 * maximum does not move */
typedef struct { double low, high, low_max, high_max, step, target; } grpo_balance;      /* step > 0; at most 1e6 steps to either maximum */
typedef struct { double low, high; } grpo_bounds;             /* of the ratio itself: 1 - eps_low, 1 + eps_high */

/* reads batch.logp, batch.logp_old and A = advantage (n_tokens).  One pass over the batch per step */
grpo_status grpo_balanced_clip_bounds(const grpo_batch *batch, const grpo_real *advantage, const grpo_balance *balance,
                                      grpo_bounds *bounds);

/* for each reward in turn: advantage (n) = reward (n) - *baseline, then *baseline := momentum *baseline + (1 - momentum) reward, rounded at
 * the end; momentum in [0, 1] (role-conditioned advantages of SPIRAL, 2506.24119, as prime-rl: starts at 0, momentum 0.95, one baseline per
 * role) */
grpo_status grpo_running_baseline(const double *reward, int64_t n, double momentum, double *advantage, double *baseline);

/* the weight of a pairwise preference term added to a loss (AMIR-GRPO, 2601.03661, official code, which has all these numbers; lambda
 * there), from q = coef pair_loss/max(1e-9, loss): min(0.05, 1.25 coef) if q < 0.3, max(0.005, 0.8 coef) if q > 0.7, else coef */
GRPO_FN double grpo_preference_coef_control(double coef, double pair_loss, double loss) {
    const grpo_dd least = { 1e-9, -6.228159145777985e-26 };
    grpo_dd q = grpo_dd_mul(grpo_two_prod(coef, pair_loss), 10), base = { 0, 0 };
    const double more = 1.25 * coef, less = coef / 1.25;
    if (!grpo_is_finite(coef) || !grpo_is_finite(pair_loss) || !grpo_is_finite(loss)) return nan("");
    base.hi = loss;
    if (!(loss >= 1e-9)) base = least;                                  /* the double is larger than 1e-9 */
    if (grpo_dd_exceeds(grpo_dd_add(grpo_dd_mul(base, 3), grpo_dd_negative(q)), 0)) return more < 0.05 ? more : 0.05;
    if (grpo_dd_exceeds(grpo_dd_add(q, grpo_dd_mul(base, -7)), 0)) return less > 0.005 ? less : 0.005;
    return coef;
}

/* *temperature: where sum length s e^(s/temperature) is about 0, for scores s = score (n) if sum length s is negative; else 0
 * (Trinity-RFT's CoD; its code has all these numbers).  Bisection of [0.8, 100], to higher temperatures while the sum is not negative,
 * until the interval is shorter than 0.05; returns the last midpoint.  length (n) >= 0 in tokens, their sum below 2^53 */
grpo_status grpo_regret_temperature(const int64_t *length, const double *score, int64_t n, double *temperature);

/* token-wise clip bounds and advantages from h = standard (n_tokens), the output of grpo_standardised_entropy (HAPO, 2509.16591, official
 * code: 0.2, 0.2, 1, 1; c and b of the last two); all arrays (n_tokens), A = advantage:
 *     clip_low = low (1 - clip_coef h) if h <= 0, else low;   clip_high = high (1 + clip_coef h) if h > 0, else high, to be used as
 *     batch.eps_low and batch.eps_high of surrogate.bounds external
 *     shaped = A (1 + gain h) if h > 0 and w is outside of 1 - clip_low/2 < w < 1 + clip_high/2, or h <= 0 and w is inside; else A;
 *     w = e^(batch.logp - batch.logp_old) */
typedef struct { double low, high, clip_coef, gain; } grpo_adaptation;

grpo_status grpo_adaptive_clip(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *standard, const grpo_adaptation *how,
                              grpo_real *clip_low, grpo_real *clip_high, grpo_real *shaped);

/* a prompt's counts of successes and failures, with exponential decay: alpha := decay alpha + successes, beta := decay beta + failures,
 * each rounded once (SPO, single-stream, 2509.13232: decay is rho of grpo_drift_decay; VADE, 2511.18902, its figure: 0.2 for the selected
 * prompts, 0.999 and no trials for the others).  Counts >= 0, decay in [0, 1] */
typedef struct { double alpha, beta; } grpo_counts;           /* pseudo-counts of a Beta distribution */

GRPO_FN grpo_counts grpo_decayed_counts(double alpha, double beta, double decay, double successes, double failures) {
    grpo_counts r = { nan(""), nan("") };
    if (!(alpha >= 0 && beta >= 0 && successes >= 0 && failures >= 0 && decay >= 0 && decay <= 1)) return r;
    if (!grpo_is_finite(alpha) || !grpo_is_finite(beta) || !grpo_is_finite(successes) || !grpo_is_finite(failures)) return r;
    r.alpha = grpo_dd_add(grpo_two_prod(decay, alpha), grpo_dd_of_(successes)).hi;
    r.beta = grpo_dd_add(grpo_two_prod(decay, beta), grpo_dd_of_(failures)).hi;
    return r;
}

/* *decay = clamp(2^(-D/half_life), low, high), D the mean of |batch.logp - batch.logp_old| over the mask, 0 if there are no tokens (SPO,
 * single-stream, 2509.13232, official recipe: 0.06, 0.875, 0.96; D_half, rho_min, rho_max); half_life > 0, low <= high */
grpo_status grpo_drift_decay(const grpo_batch *batch, double half_life, double low, double high, double *decay);

/* exponential moving average: rate state + (1 - rate) value; rate in [0, 1] (the sigma of RaPO, 2605.09640: 0.999) */
GRPO_FN double grpo_moving_average(double state, double value, double rate) {
    if (!grpo_is_finite(state) || !grpo_is_finite(value) || !(rate >= 0 && rate <= 1)) return nan("");
    return grpo_dd_add(grpo_two_prod(rate, state), grpo_dd_mul(grpo_two_diff(1, rate), value)).hi;
}

/* tracked (n) = quantile (n) + rate (level (n) - share of `observed` (m >= 1) below quantile): one gradient step on the pinball loss
 * (RiskPO, 2510.00911, official code: levels 0.05, 0.1 .. 0.95, quantiles start at 0; rate 0.1).  n m comparisons */
grpo_status grpo_quantile_tracker(const double *quantile, const double *level, int64_t n, double rate, const double *observed, int64_t m,
                                double *tracked);

/* updated (sequences) = clamp(M clamp(e^g, 1 - low, 1 + high), 1 - low, 1 + high), M = factor (sequences) >= 0; g is the mean of batch.logp
 * - batch.logp_old over the response's mask, clamped to [-10, 10], 0 if there are no tokens: the weight of the turns that have been trained
 * already (SeeUPO, 2602.06554, official code: 0.2, 0.2, M starts at 1; logp after the step).  low in [0, 1], high >= 0 */
grpo_status grpo_turn_factor(const grpo_batch *batch, const double *factor, double low, double high, double *updated);

/* linear decay: start max(0, 1 - step/steps); start itself if steps = 0 or step <= 0 (SERL, 2605.19447, official code: 0.5, 50 steps; lam0,
 * N_decay; VISD, 2605.06094, counts from 1: pass step - 1); steps >= 0 */
GRPO_FN double grpo_linear_schedule(double start, double step, double steps) {
    if (!grpo_is_finite(start) || !grpo_is_finite(step) || !(steps >= 0 && grpo_is_finite(steps))) return nan("");
    if (steps == 0 || step <= 0) return start;
    return step < steps ? grpo_two_diff(steps, step).hi / steps * start : 0;
}

/* max(1, start factor^floor(step/every)) tokens (Train Long, Think Short, 2508.08940: 256, 0.7, 100; B0, gamma, T_int); start > 0, factor
 * in (0, 1], step >= 0, every > 0 */
GRPO_FN double grpo_token_budget_schedule(double start, double factor, int64_t step, int64_t every) {
    const int64_t unit = INT64_C(1) << 32;
    double budget;
    if (!(start > 0 && grpo_is_finite(start)) || !(factor > 0 && factor <= 1) || step < 0 || every <= 0) return nan("");
    budget = start * pow(factor, (double)(step / every % unit));        /* in two parts: the whole exponent may be no double */
    budget *= pow(factor, (double)(step / every / unit * unit));
    return budget > 1 ? budget : 1;
}

/* new_level (n) = min(level + 1, max) where success < low, max(level - 1, 0) where success > high, else level; level (n), max >= 0, success
 * (n) in [0, 1], low <= high (SAGE-light, 2602.03143, official code: 0.1, 0.35, 3; Algorithm 1 never lowers: high 1) */
grpo_status grpo_hint_level(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t max,
                            int64_t *new_level);

/* standard (n_tokens): the standardised entropy of HAPO (2509.16591, official code: quantile 0.8, each epsilon 1e-8).  e = log
 * max(batch.entropy, 1e-8); m is its nearest-rank quantile (of the n tokens in ascending order the first, number j, with j/n >= quantile,
 * j/n as a double); h = (e - m)/sqrt max(mean (e - m)^2, 1e-8).  Then h/max(max h, 1e-8) if h > 0, else by form.  quantile in [0, 1] */
typedef enum {
    GRPO_STANDARD_CODED,          /* h/min(min h, -1e-8), in [0, 1]: official code */
    GRPO_STANDARD_INTENDED        /* -h/min(min h, -1e-8), in [-1, 0]: the paper */
} grpo_standard_form;

grpo_status grpo_standardised_entropy(const grpo_batch *batch, double quantile, grpo_standard_form form, grpo_real *standard);

/* *value = max(least, quantile of e^(batch.logp - batch.logp_old) over the m unmasked tokens of batch.shaping_mask), linearly interpolated
 * at position quantile (m - 1); least if m = 0; quantile in [0, 1], least >= 0 (GUIDE, 2506.13923, official code: 0.9, 1e-4; g of its
 * surrogate w/(w + g)) */
grpo_status grpo_ratio_quantile(const grpo_batch *batch, double quantile, double least, double *value);

/* *shift = (mean of z over the correct (sequences) + mean over the others)/2, an empty mean being 0; z = beta sum of batch.logp -
 * batch.logp_ref over the unmasked tokens (VPD, 2605.15113: 0.1, delta; its loss is -log sigmoid(z - shift), with the sign by correct) */
grpo_status grpo_logit_shift(const grpo_batch *batch, const uint8_t *correct, double beta, double *shift);

/* margin (1 - cos(pi r))/2, r = min(progress/share, 1): 0 at the start of a run, margin once `share` of it is done (ConSPO, 2605.12969,
 * section 4.3: 0.01, 0.3; M and alpha there, progress is lambda; surrogate.contrast_margin); progress in [0, 1], share in (0, 1] */
GRPO_FN double grpo_margin_schedule(double margin, double progress, double share) {
    if (!grpo_is_finite(margin) || !(progress >= 0 && progress <= 1) || !(share > 0 && share <= 1)) return nan("");
    if (progress >= share) return margin;
    return grpo_dd_mul(grpo_sine_squared(grpo_dd_div(grpo_dd_of_(progress), share)), margin).hi;
}

/* one update of the Lagrange multiplier of the constraint mean score >= target (FGRPO, 2604.08476, equations 2 to 6):
 *     *multiplier := min(max, max(0, *multiplier + rate (target - m))),  m = *mean of score (n) where `counted` (n) is set
 * *multiplier (theirs starts at 1) does not change if fewer than `least` scores are counted, or none (m = 0 then); n >= 1; all but scores
 * and target >= 0; score is read only where counted */
typedef struct { double target, rate, max; int64_t least; } grpo_constraint;      /* FGRPO: target 0.95 for two constraints; rate 0.05, max
                                                                                     5 (eta, lambda_max); least 8 */

grpo_status grpo_multiplier_update(const double *score, const uint8_t *counted, int64_t n, const grpo_constraint *constraint,
                                   double *multiplier, double *mean);

/* the penalty coef |entropy - target| (Confucius3-Math, 2506.18330, section 6.1: target 0.55, coef 0.001): `value` is the penalty, `coef`
 * the penalty.entropy_coef whose bonus has the same gradient, coef sign(target - entropy) */
typedef struct { double coef, value; } grpo_target_coef;

GRPO_FN grpo_target_coef grpo_entropy_target_coef(double entropy, double target, double coef) {
    grpo_target_coef r = { nan(""), nan("") };
    if (!grpo_is_finite(entropy) || !grpo_is_finite(target) || !grpo_is_finite(coef)) return r;
    r.coef = entropy < target ? coef : entropy > target ? -coef : 0;
    r.value = grpo_times(coef, fabs(entropy - target));
    return r;
}

/* a KL penalty that applies only above delta: coefficient beta max(0, kl - delta) (DisCO, 2505.12366, official code: 1e-4, 1000) */
GRPO_FN double grpo_kl_hinge(double kl, double delta, double beta) {
    if (!grpo_is_finite(kl) || !grpo_is_finite(delta) || !grpo_is_finite(beta)) return nan("");
    return kl > delta ? grpo_times(beta, kl - delta) : 0;
}

/* ratio.power and the bound of the power mean at a step whose rewards have this mean, mu, and deviation, sigma (APMPO, 2605.04066; low and
 * high are its eps_min and eps_max):
 *     power = e^(-gamma mu),  eps = low + (high - low) tanh(mu/(sigma + delta)),  log_high = log(1 + eps), which is ratio.token_clip_high
 * sigma, delta >= 0, their sum finite and not 0, 0 <= low <= high, eps > -1; NaN if an argument violates this */
typedef struct { double power, eps, log_high; } grpo_power_bounds;

GRPO_FN grpo_power_bounds grpo_power_mean_bounds(double mean, double deviation, double gamma, double low, double high, double delta) {
    const grpo_power_bounds none = { nan(""), nan(""), nan("") };
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

GRPO_C_END_
#endif /* GRPO_CONTROL_H */

#if defined(GRPO_CONTROL_IMPLEMENTATION) && !defined(GRPO_CONTROL_IMPLEMENTED)
#define GRPO_CONTROL_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

/* the largest logp - logp_old of the tokens with an advantage, if their ratios may underflow, times the advantage, and no bound acts on any
 * of them; else 0 */
static double grpo_ratio_unit_(const grpo_batch *b, const grpo_real *advantage, grpo_bounds bounds) {
    grpo_index_ at = grpo_before_tokens_(b);
    double most = -HUGE_VAL;
    int64_t t;
    if (bounds.low > 0) return 0;
    while ((t = grpo_next_token_(b, &at)) >= 0) {
        const double d = (double)b->logp[t] - (double)b->logp_old[t];
        if (advantage[t] != 0 && d > most) most = d;
    }
    return most > -HUGE_VAL && most < -300 && bounds.high > 2 * grpo_exp(grpo_dd_of_(most)) ? most : 0;
}

/* 1 if P < target Q, that is rho < target; P and Q are the sums above and below 0.  Ratios are in units of e^unit, which has no effect on
 * rho */
static int grpo_is_negative_heavy_(const grpo_batch *b, const grpo_real *advantage, grpo_bounds bounds, double target) {
    const double unit = grpo_ratio_unit_(b, advantage, bounds);
    grpo_sum above = GRPO_NO_SUM_, below = GRPO_NO_SUM_;
    grpo_index_ at = grpo_before_tokens_(b);
    grpo_dd w, mass;
    double adv, q[4];
    int64_t t;
    while ((t = grpo_next_token_(b, &at)) >= 0) {
        adv = (double)advantage[t];
        if (adv == 0) continue;
        w = grpo_exp_twice(grpo_dd_add_double_(grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]), -unit));
        if (unit == 0 && adv > 0 && grpo_dd_exceeds(w, bounds.high)) w = grpo_dd_of_(bounds.high);
        if (unit == 0 && adv < 0 && grpo_dd_less(w, grpo_dd_of_(bounds.low))) w = grpo_dd_of_(bounds.low);
        mass = grpo_dd_mul(w, adv);
        if (mass.hi > 0) grpo_sum_add_dd_(&above, mass);
        else grpo_sum_add_dd_(&below, grpo_dd_negative(mass));
    }
    grpo_sum_expand_(&below, q, 4);
    if (q[0] == 0 || !(target > 0)) return 0;
    for (int k = 0; k < 4; k++) grpo_sum_add_dd_(&above, grpo_two_prod(-target, q[k]));
    return grpo_sum_value_(&above) < 0;
}

/* 1 if x is at max or steps get it there: each is large enough to change x, and at most 1e6 are needed */
static int grpo_step_arrives_(double x, double max, double step) {
    const double size = fabs(x) > fabs(max) ? fabs(x) : fabs(max);
    return x >= max || (size + step / 2 > size && (max - x) / step <= 1e6);
}

/* member numbers in declaration order */
static grpo_status grpo_check_balance_(const grpo_balance *x, int place) {
    grpo_status st = grpo_check_member_(x->low, GRPO_MODERATE_, place, 0);
    if (!st) st = grpo_check_member_(x->high, GRPO_MODERATE_, place, 1);
    if (!st) st = grpo_check_member_(x->low_max, GRPO_MODERATE_, place, 2);
    if (!st) st = grpo_check_member_(x->high_max, GRPO_MODERATE_, place, 3);
    if (!st) st = grpo_check_member_(x->step, GRPO_POSITIVE_, place, 4);
    if (!st && !(grpo_step_arrives_(x->low, x->low_max, x->step) && grpo_step_arrives_(x->high, x->high_max, x->step)))
        st = grpo_refuse_(GRPO_TOO_SMALL, place, 4);
    return st ? st : grpo_check_member_(x->target, GRPO_MODERATE_, place, 5);
}

grpo_status grpo_balanced_clip_bounds(const grpo_batch *batch, const grpo_real *advantage, const grpo_balance *balance,
                                      grpo_bounds *bounds) {
    grpo_status st = grpo_check_call_(batch, bounds, 4);
    grpo_bounds now;
    if (!st) st = grpo_check_output_(balance, 3);
    if (!st) st = grpo_check_balance_(balance, 3);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
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

grpo_status grpo_running_baseline(const double *reward, int64_t n, double momentum, double *advantage, double *baseline) {
    const grpo_dd rest = grpo_two_diff(1, momentum);
    grpo_dd b;
    int64_t i;
    grpo_status st = grpo_check_output_(advantage, 4);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(momentum, GRPO_PART_, 3);
    if (!st) st = grpo_check_list_(baseline, 1, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = GRPO_DISJOINT_(advantage, n, 4, baseline, 1, GRPO_AT_ARGUMENT_ + 5);
    if (st) return st;
    for (b = grpo_dd_of_(*baseline), i = 0; i < n; i++) {
        const grpo_dd r = grpo_dd_of_(reward[i]);
        advantage[i] = grpo_dd_minus_(r, b).hi;
        b = grpo_dd_add(grpo_dd_mul(b, momentum), grpo_dd_product(rest, r));
    }
    *baseline = b.hi;
    return GRPO_OK;
}

/* 1 if sum length s e^((s - top)/temperature) < 0, temperature = numerator/divisor; top: the largest score that is not 0 */
static int grpo_sum_is_negative_(const int64_t *length, const double *score, int64_t n, double top, double numerator, double divisor) {
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd x;
    for (int64_t k = 0; k < n; k++) {
        if (length[k] == 0 || score[k] == 0) continue;
        x = grpo_dd_div(grpo_dd_mul(grpo_two_diff(score[k], top), divisor), numerator);
        grpo_sum_add_dd_(&sum, grpo_dd_mul(grpo_dd_mul(grpo_exp_twice(x), score[k]), (double)length[k]));
    }
    return grpo_sum_value_(&sum) < 0;
}

/* 0.8 = 4 2^k/(5 2^k) and 100 = 500 2^k/(5 2^k): every midpoint is a quotient of integers; it ends at 99.2/2^11 < 0.05 */
static double grpo_bisected_temperature_(const int64_t *length, const double *score, int64_t n, double top) {
    double low = 4, high = 500, divisor = 5, middle = 0;
    while ((high - low) / divisor >= 0.05) {
        low *= 2; high *= 2; divisor *= 2;
        middle = (low + high) / 2;
        if (grpo_sum_is_negative_(length, score, n, top, middle, divisor)) high = middle;
        else low = middle;
    }
    return middle / divisor;
}

grpo_status grpo_regret_temperature(const int64_t *length, const double *score, int64_t n, double *temperature) {
    grpo_sum sum = GRPO_NO_SUM_;
    double top = -HUGE_VAL;
    grpo_status st = grpo_check_output_(temperature, 4);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_not_null_(length, n, 1);
    if (!st) st = grpo_check_list_(score, n, GRPO_MODERATE_, 2);
    for (int64_t k = 0; !st && k < n; k++) if (length[k] < 0) st = grpo_refuse_(GRPO_NEGATIVE, 1, k);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        grpo_sum_add_dd_(&sum, grpo_two_prod((double)length[k], score[k]));
        if (length[k] > 0 && score[k] != 0 && score[k] > top) top = score[k];
    }
    *temperature = grpo_sum_value_(&sum) < 0 ? grpo_bisected_temperature_(length, score, n, top) : 0;
    return GRPO_OK;
}

/* writes the clip bounds at h, and A or A (1 + gain h), by whether the ratio is inside the half-width bounds */
static void grpo_adapt_token_(const grpo_batch *b, int64_t t, double h, double adv, const grpo_adaptation *x, grpo_real *clip_low,
                              grpo_real *clip_high, grpo_real *shaped) {
    const grpo_dd one = grpo_dd_of_(1), change = grpo_two_prod(x->clip_coef, h);
    const grpo_dd low = h <= 0 ? grpo_dd_mul(grpo_dd_minus_(one, change), x->low) : grpo_dd_of_(x->low);
    const grpo_dd high = h > 0 ? grpo_dd_mul(grpo_dd_add(one, change), x->high) : grpo_dd_of_(x->high);
    const grpo_dd w = grpo_exp_twice(grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]));
    const int inside = grpo_dd_less(grpo_dd_minus_(one, grpo_dd_mul(low, 0.5)), w)
        && grpo_dd_less(w, grpo_dd_add(one, grpo_dd_mul(high, 0.5)));
    int overflow = 0;
    grpo_put_(clip_low, t, low.hi, &overflow);
    grpo_put_(clip_high, t, high.hi, &overflow);
    grpo_put_(shaped, t, inside == (h <= 0) ? grpo_dd_mul(grpo_dd_add(one, grpo_two_prod(x->gain, h)), adv).hi : adv, &overflow);
}

grpo_status grpo_adaptive_clip(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *standard, const grpo_adaptation *how,
                              grpo_real *clip_low, grpo_real *clip_high, grpo_real *shaped) {
    grpo_status st = grpo_check_call_(batch, shaped, 7);
    grpo_index_ at;
    int64_t t;
    if (!st) st = grpo_check_output_(clip_low, 5);
    if (!st) st = grpo_check_output_(clip_high, 6);
    if (!st) st = grpo_check_output_(how, 4);
    if (st) return st;
    st = grpo_check_member_(how->low, GRPO_MODERATE_, 4, 0);
    if (!st) st = grpo_check_member_(how->high, GRPO_MODERATE_, 4, 1);
    if (!st) st = grpo_check_member_(how->clip_coef, GRPO_MODERATE_, 4, 2);
    if (!st) st = grpo_check_member_(how->gain, GRPO_MODERATE_, 4, 3);
    if (!st) st = grpo_check_tokens_(batch, standard, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 3);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (!st) st = GRPO_DISJOINT_(clip_low, batch->n_tokens, 5, clip_high, batch->n_tokens, GRPO_AT_ARGUMENT_ + 6);
    if (!st) st = GRPO_DISJOINT_(clip_low, batch->n_tokens, 5, shaped, batch->n_tokens, GRPO_AT_ARGUMENT_ + 7);
    if (!st) st = GRPO_DISJOINT_(clip_high, batch->n_tokens, 6, shaped, batch->n_tokens, GRPO_AT_ARGUMENT_ + 7);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_adapt_token_(batch, t, (double)standard[t], (double)advantage[t], how, clip_low, clip_high, shaped);
    grpo_clear_masked_(batch, clip_low);
    grpo_clear_masked_(batch, clip_high);
    grpo_clear_masked_(batch, shaped);
    return GRPO_OK;
}

/* the mean of logp - logp_old, or of its magnitude, over the unmasked tokens of sequences begin .. end - 1; 0 if there are none */
static grpo_dd grpo_mean_change_(const grpo_batch *b, int64_t begin, int64_t end, int magnitude) {
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd d;
    int64_t i, t, n = 0;
    for (i = begin; i < end; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_unmasked_(b, t)) continue;
            d = grpo_two_diff((double)b->logp[t], (double)b->logp_old[t]);
            grpo_sum_add_dd_(&sum, magnitude && d.hi < 0 ? grpo_dd_negative(d) : d);
            n++;
        }
    return grpo_mean_(&sum, n);
}

grpo_status grpo_drift_decay(const grpo_batch *batch, double half_life, double low, double high, double *decay) {
    const grpo_dd minus_ln2 = { -GRPO_LN2_HI_, -GRPO_LN2_LO_ };
    grpo_status st = grpo_check_call_(batch, decay, 5);
    grpo_dd x;
    double rho;
    if (!st) st = grpo_check_number_(half_life, GRPO_POSITIVE_, 2);
    if (!st) st = grpo_check_number_(low, GRPO_FINITE_, 3);
    if (!st) st = grpo_check_number_(high, GRPO_FINITE_, 4);
    if (!st && low > high) st = grpo_refuse_both_(GRPO_CROSSED, 3, 4, -1);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_);
    if (st) return st;
    x = grpo_mean_change_(batch, grpo_first_sequence_(batch), grpo_end_sequence_(batch), 1);
    rho = grpo_exp(grpo_dd_product(grpo_dd_div(x, half_life), minus_ln2));
    *decay = grpo_within(rho, low, high);
    return GRPO_OK;
}

grpo_status grpo_quantile_tracker(const double *quantile, const double *level, int64_t n, double rate, const double *observed, int64_t m,
                                double *tracked) {
    grpo_dd share;
    int64_t j, below;
    grpo_status st = grpo_check_output_(tracked, 7);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_count_(m, 1, 6);
    if (!st) st = grpo_check_list_(quantile, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(level, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(rate, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(observed, m, GRPO_MODERATE_, 5);
    if (!st) st = GRPO_DISJOINT_(tracked, n, 7, observed, m, GRPO_AT_ARGUMENT_ + 5);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        for (below = 0, j = 0; j < m; j++) below += observed[j] < quantile[k];
        share = grpo_dd_div(grpo_dd_of_((double)below), (double)m);
        tracked[k] = grpo_dd_add(grpo_dd_of_(quantile[k]), grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_(level[k]), share), rate)).hi;
    }
    return GRPO_OK;
}

static grpo_dd grpo_dd_between_(grpo_dd x, grpo_dd low, grpo_dd high) {
    return grpo_dd_less(x, low) ? low : grpo_dd_less(high, x) ? high : x;
}

grpo_status grpo_turn_factor(const grpo_batch *batch, const double *factor, double low, double high, double *updated) {
    const grpo_dd least = grpo_two_diff(1, low), most = grpo_two_sum(1, high);
    grpo_status st = grpo_check_call_(batch, updated, 5);
    grpo_dd g;
    if (!st) st = grpo_check_number_(low, GRPO_PART_, 3);
    if (!st) st = grpo_check_number_(high, GRPO_MODERATE_FACTOR_, 4);
    if (!st) st = grpo_check_responses_(batch, factor, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        g = grpo_dd_between_(grpo_mean_change_(batch, i, i + 1, 0), grpo_dd_of_(-10), grpo_dd_of_(10));
        g = grpo_dd_mul(grpo_dd_between_(grpo_exp_twice(g), least, most), factor[i]);
        updated[i] = grpo_dd_between_(g, least, most).hi;
    }
    return GRPO_OK;
}

grpo_status grpo_hint_level(const int64_t *level, const double *success, int64_t n, double low, double high, int64_t max,
                            int64_t *new_level) {
    int64_t next;
    grpo_status st = grpo_check_output_(new_level, 7);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_count_(max, 0, 6);
    if (!st) st = grpo_check_number_(low, GRPO_FINITE_, 4);
    if (!st) st = grpo_check_number_(high, GRPO_FINITE_, 5);
    if (!st && low > high) st = grpo_refuse_both_(GRPO_CROSSED, 4, 5, -1);
    if (!st) st = grpo_check_not_null_(level, n, 1);
    for (int64_t k = 0; !st && k < n; k++) if (level[k] < 0) st = grpo_refuse_(GRPO_NEGATIVE, 1, k);
    if (!st) st = grpo_check_list_(success, n, GRPO_PART_, 2);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        next = level[k];
        if (success[k] < low) next = next < max ? next + 1 : max;
        else if (success[k] > high) next = next > 0 ? next - 1 : 0;
        new_level[k] = next;
    }
    return GRPO_OK;
}

static grpo_dd grpo_log_entropy_(double ent) {
    const grpo_dd least = grpo_1e_minus_8_;
    if (!(ent < least.hi)) return grpo_log_twice(ent);
    return grpo_dd_add(grpo_log_twice(least.hi), grpo_dd_of_(least.lo / least.hi));
}

/* the entropy of this rank (from 1) in ascending order */
static double grpo_entropy_quantile_(const grpo_batch *b, int64_t rank) {
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    double ent = -HUGE_VAL;
    int64_t t, ties;
    memset(&o, 0, sizeof o);
    o.batch = b; o.by = b->entropy; o.most = rank;
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; ) {
        grpo_key_of_(&o, t, &key);
        if (grpo_in_prefix_(&p, &key, &ties) && key.value.hi > ent) ent = key.value.hi;
    }
    return ent;
}

/* above and below: the largest e - pivot and minus the smallest, each at least 1e-8 root mean squares of e - pivot */
typedef struct { grpo_dd pivot, above, below; } grpo_entropies_;

static void grpo_survey_entropies_(const grpo_batch *b, int64_t n, grpo_entropies_ *s) {
    grpo_index_ at;
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd d, square, least;
    int64_t t;
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

grpo_status grpo_standardised_entropy(const grpo_batch *batch, double quantile, grpo_standard_form form, grpo_real *standard) {
    grpo_status st = grpo_check_call_(batch, standard, 4);
    grpo_entropies_ s;
    grpo_index_ at;
    grpo_dd d;
    int64_t i, t, n = 0, rank;
    int overflow = 0;
    if (!st) st = grpo_check_choice_((int)form, 2, 3);
    if (!st) st = grpo_check_number_(quantile, GRPO_PART_, 2);
    if (!st) st = grpo_check_tokens_(batch, batch->entropy, NULL, GRPO_MODERATE_, GRPO_AT_entropy_);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) n += grpo_unmasked_(batch, i);
    if (n == 0) { grpo_clear_reals_(batch, standard); return GRPO_OK; }
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
    grpo_clear_masked_(batch, standard);
    return GRPO_OK;
}

/* logp - logp_old of the token of this rank (from 1) in ascending order */
static grpo_dd grpo_log_ratio_at_rank_(grpo_order_ *o, int64_t rank) {
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
    return d;
}

/* (1 - share) e^low + share e^high for low <= high, 0 <= share <= 1: in the exponent where e^high overflows */
static double grpo_between_ratios_(grpo_dd low, grpo_dd high, double share) {
    const double w = grpo_exp(low), most = grpo_exp(high);
    if (!(share > 0 && most > w)) return w;
    if (grpo_is_finite(most)) return w + share * (most - w);
    return (1 - share) * w + grpo_exp(grpo_dd_add(high, grpo_log_of(share)));
}

grpo_status grpo_ratio_quantile(const grpo_batch *batch, double quantile, double least, double *value) {
    grpo_status st = grpo_check_call_(batch, value, 4);
    grpo_order_ o;
    grpo_index_ at;
    grpo_dd place, first, next;
    double low, w = 0;
    int64_t t, m = 0;
    if (!st) st = grpo_check_number_(quantile, GRPO_PART_, 2);
    if (!st) st = grpo_check_number_(least, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_SHAPING_MASK_, 0);
    if (!st) st = grpo_check_tokens_(batch, batch->logp, batch->shaping_mask, GRPO_MODERATE_, GRPO_AT_logp_);
    if (!st) st = grpo_check_tokens_(batch, batch->logp_old, batch->shaping_mask, GRPO_MODERATE_, GRPO_AT_logp_old_);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) m += batch->shaping_mask[t] != 0;
    if (m > 0) {
        memset(&o, 0, sizeof o);
        o.batch = batch; o.by = batch->logp; o.minus = batch->logp_old; o.with_sign = 1; o.where = batch->shaping_mask;
        place = grpo_two_prod(quantile, (double)(m - 1));
        low = floor(place.hi);
        if (low == place.hi && place.lo < 0) low--;
        place = grpo_dd_minus_(place, grpo_dd_of_(low));                /* the fractional part */
        next = first = grpo_log_ratio_at_rank_(&o, (int64_t)low + 1);
        if (place.hi > 0) next = grpo_log_ratio_at_rank_(&o, (int64_t)low + 2);
        w = grpo_between_ratios_(first, next, place.hi);
    }
    *value = w > least ? w : least;
    return GRPO_OK;
}

static grpo_status grpo_check_constraint_(const grpo_constraint *x, int place) {
    grpo_status st = grpo_check_output_(x, place);
    if (!st) st = grpo_check_member_(x->target, GRPO_MODERATE_, place, 0);
    if (!st) st = grpo_check_member_(x->rate, GRPO_MODERATE_FACTOR_, place, 1);
    if (!st) st = grpo_check_member_(x->max, GRPO_MODERATE_FACTOR_, place, 2);
    return !st && x->least < 0 ? grpo_refuse_(GRPO_NEGATIVE, place, 3) : st;
}

grpo_status grpo_multiplier_update(const double *score, const uint8_t *counted, int64_t n, const grpo_constraint *constraint,
                                   double *multiplier, double *mean) {
    grpo_status st = grpo_check_output_(multiplier, 5);
    int64_t count = 0;
    grpo_dd m, moved;
    if (!st) st = grpo_check_output_(mean, 6);
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_constraint_(constraint, 4);
    if (!st) st = grpo_check_number_(*multiplier, GRPO_MODERATE_FACTOR_, 5);
    if (!st) st = grpo_check_output_(counted, 2);
    if (!st) st = grpo_check_output_(score, 1);
    for (int64_t k = 0; !st && k < n; k++) {
        if (counted[k]) st = grpo_check_member_(score[k], GRPO_MODERATE_, 1, k);
        count += counted[k] != 0;
    }
    if (!st) st = GRPO_DISJOINT_(multiplier, 1, 5, mean, 1, GRPO_AT_ARGUMENT_ + 6);
    if (st) return st;
    m = grpo_mean_of_(score, counted, n);
    *mean = m.hi;
    if (count == 0 || count < constraint->least) return GRPO_OK;
    moved = grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_(constraint->target), m), constraint->rate);
    *multiplier = grpo_within(grpo_dd_add(moved, grpo_dd_of_(*multiplier)).hi, 0, constraint->max);
    return GRPO_OK;
}

grpo_status grpo_logit_shift(const grpo_batch *batch, const uint8_t *correct, double beta, double *shift) {
    grpo_status st = grpo_check_call_(batch, shift, 4);
    grpo_sum sum[2];
    grpo_dd mean = grpo_dd_of_(0);
    int64_t i, t, n[2] = { 0, 0 };
    int k;
    if (!st) st = grpo_check_number_(beta, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_REF_);
    if (st) return st;
    memset(sum, 0, sizeof sum);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        k = correct[i] != 0;
        n[k]++;
        for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++)
            if (grpo_is_unmasked_(batch, t)) grpo_sum_add_diff_(&sum[k], (double)batch->logp[t], (double)batch->logp_ref[t]);
    }
    for (k = 0; k < 2; k++) if (n[k]) mean = grpo_dd_add(mean, grpo_dd_div(grpo_sum_dd_(&sum[k]), (double)n[k]));
    *shift = grpo_dd_mul(mean, beta).hi / 2;
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_CONTROL_IMPLEMENTATION */
