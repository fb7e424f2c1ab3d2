/* grpo_flow.h - flow and diffusion models: the Gaussian steps of a sampler as tokens of an objective, and the losses that need no steps.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_FLOW_IMPLEMENTATION
 *     #include "extra/grpo_flow.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.
 *
 * A denoising chain is a response, and each step of it a token.  grpo_gaussian_steps turns the means of the policy, of the old policy and
 * of the reference into the numbers of a batch; grpo_loss gives the loss; grpo_gaussian_steps_backward takes its gradient back to the
 * policy's means; times velocity_factor that is the gradient by the predicted velocity.  examples/flow.c trains a model this way.
 *
 * A status names argument and entry (grpo_messages.h), of a struct argument the member; nothing has been written then.  Inputs are finite;
 * those of the losses without steps are at most 1e150 in magnitude.  Outputs overlap no argument.  After an arXiv id come the equations,
 * and the settings of the paper or its code. */
#ifndef GRPO_FLOW_H
#define GRPO_FLOW_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_flow.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_flow_schedule grpo_flow_schedule_f64
#define grpo_balance_steps grpo_balance_steps_f64
#define grpo_gaussian_numbers grpo_gaussian_numbers_f64
#define grpo_gaussian_gradients grpo_gaussian_gradients_f64
#define grpo_gaussian_steps grpo_gaussian_steps_f64
#define grpo_gaussian_steps_backward grpo_gaussian_steps_backward_f64
#define grpo_denoising_error grpo_denoising_error_f64
#define grpo_denoising_error_backward grpo_denoising_error_backward_f64
#define grpo_denoising_preference grpo_denoising_preference_f64
#define grpo_diffusion_nft grpo_diffusion_nft_f64
#endif

GRPO_C_BEGIN_

/* ======== schedule =================================================================================================================
 * A stochastic step from noise level s0 to s1 < s0, h = s0 - s1, with v the predicted velocity at the sample z: the next sample is Gaussian
 * with mean a z + b v and standard deviation s.  With g the noise's standard deviation per square root of time,
 *
 *     a = 1 - g^2 h/(2 s0),    b = -h (1 + g^2 (1 - s0)/(2 s0)),    s = g sqrt(h)
 *
 *     flow_sde     g = eta sqrt(s0/(1 - s0)), at s0 = 1 with the divisor 1 - sigma_max (Flow-GRPO, 2505.05470: eta 0.7)
 *     dance_sde    g = eta (DanceGRPO, 2505.07818: eta 0.3)
 *     flash_sde    g = eta (sigma_min + (sigma_max - sigma_min) s0) (Flash-GRPO, 2605.15980)
 *     sage_sde     s^2 = eta^2 (log((1 - s1)/(1 - min(s0, 0.997))) - h) in place of g^2 h (SAGE-GRPO, 2603.21872; s1 below about 0.997)
 *     cps          with c = cos(eta pi/2): a = 1 - s1 + s1 c,  b = -s0 (1 - s1) + (1 - s0) s1 c,  s = s1 sin(eta pi/2), eta at most 1
 *                  (Coefficients-Preserving Sampling, 2509.05952, as in the codes of Flow-GRPO and SAGE-GRPO) */
typedef enum { GRPO_FLOW_SDE, GRPO_FLOW_DANCE_SDE, GRPO_FLOW_FLASH_SDE, GRPO_FLOW_SAGE_SDE, GRPO_FLOW_CPS } grpo_flow_kind;
typedef struct {
    double sample_factor, velocity_factor, std;    /* a, b, s */
    double rate;                                    /* s/|b|: the reciprocal of |d logp/d v| for unit noise */
} grpo_flow_step;

/* 0 <= next_level < level <= 1; sigma_max in (0, 1): the level after the first step; sigma_min in [0, sigma_max]: that before the last
 * step; eta > 0.  A step without noise, as cps has to next_level 0, is refused: leave it out of the batch, or mask it. */
grpo_status grpo_flow_schedule(grpo_flow_kind kind, double level, double next_level, double sigma_max, double sigma_min, double eta,
                               grpo_flow_step *step);

/* weights that give all steps the same influence, from the rates of a schedule: rate over the rate whose reciprocal is the median, the
 * lower of the two middle ones (SAGE-GRPO, 2603.21872), or over the mean rate (Flash-GRPO, 2605.15980).  rate (n) > 0, n > 0 -> weight (n),
 * for batch.external_weight.  The median takes O(n^2) */
typedef enum { GRPO_BALANCE_MEDIAN, GRPO_BALANCE_MEAN } grpo_balance_kind;
grpo_status grpo_balance_steps(int64_t n, const double *rate, grpo_balance_kind centre, double *weight);

/* ======== steps ====================================================================================================================
 * n steps; step k has the elements begin[k] .. begin[k+1]-1 of each element array, at least one; begin (n + 1).  y is the sample that was
 * drawn, mu the mean.  Log-probabilities and divergences are means over the step's elements, not sums.  std is s; for a sampler whose
 * log-probability lacks the factor 1/(2 s^2), pass s = sqrt(1/2). */

/* outputs per step (n), each NULL if not wanted; log_ratio, regulated and divergence_old need mean_old, divergence_ref needs mean_ref */
typedef struct {
    grpo_real *logp;                /* mean of -(y - mu)^2/(2 s^2) - log s - log(2 pi)/2 */
    grpo_real *log_ratio;           /* logp - logp_old, computed from the means, so that nothing cancels but summands of different elements.
                                       In the batch use it as logp, with a logp_old of zeros */
    grpo_real *regulated;           /* s log_ratio + mean (mu - mu_old)^2/(2 s): the log-ratio of GRPO-Guard (2510.22319, eq. 8).  Its code
                                       takes this mean over the whole batch (yifan123/flow_grpo issue 244: a mistake) */
    grpo_real *divergence_old;      /* mean (mu - mu_old)^2/(2 s^2) (Flow-DPPO, 2606.11025, eq. 14): for weight.trust divergence */
    grpo_real *divergence_ref;      /* mean (mu - mu_ref)^2/(2 c^2): for penalty.kl external; c is kl_std, for methods whose code uses
                                       another deviation here (Flow-GRPO's g), or std if kl_std is NULL */
} grpo_gaussian_numbers;
/* sample, mean, mean_old, mean_ref: element arrays; the last two NULL if no output needs them; std, kl_std (n) > 0 */
grpo_status grpo_gaussian_steps(int64_t n, const int64_t *begin, const grpo_real *sample, const grpo_real *mean, const grpo_real *mean_old,
                                const grpo_real *mean_ref, const double *std, const double *kl_std, const grpo_gaussian_numbers *out);

/* d loss/d each output (n), finite; NULL counts as 0 */
typedef struct { const grpo_real *logp, *log_ratio, *regulated, *divergence_old, *divergence_ref; } grpo_gaussian_gradients;
/* the same arguments -> dmean, per element; sample, mean_old, mean_ref, std and kl_std are constants */
grpo_status grpo_gaussian_steps_backward(int64_t n, const int64_t *begin, const grpo_real *sample, const grpo_real *mean,
                                         const grpo_real *mean_old, const grpo_real *mean_ref, const double *std, const double *kl_std,
                                         const grpo_gaussian_gradients *by, grpo_real *dmean);

/* ======== without steps ============================================================================================================
 * begin (n + 1) as above, but of samples instead of steps. */

/* e = mean (prediction - target)^2; prediction, target: element arrays -> error (n).  Backward: derror (n), d loss/d e -> dprediction, d
 * loss/d prediction per element (GDPO-SR, 2603.16769; Diffusion-DPO, 2311.12908, as in their code) */
grpo_status grpo_denoising_error(int64_t n, const int64_t *begin, const grpo_real *prediction, const grpo_real *target, double *error);
grpo_status grpo_denoising_error_backward(int64_t n, const int64_t *begin, const grpo_real *prediction, const grpo_real *target,
                                          const double *derror, grpo_real *dprediction);

/* *loss = log(1 + e^u), u = beta/2 sum weight (e - e_ref), beta > 0: GDPO-SR (2603.16769) with beta 5000 and the group's standardised
 * rewards as weights; Diffusion-DPO (2311.12908) of a pair with beta 2000 and weights 1 and -1.  error, error_ref, weight (n), n > 0 ->
 * loss, derror (n; NULL: not wanted): d loss/d error */
grpo_status grpo_denoising_preference(int64_t n, const double *error, const double *error_ref, const double *weight, double beta,
                                      double *loss, double *derror);

/* DiffusionNFT (2509.16117, its code).  For a sample at noise level t, noisy = (1 - t) clean + t noise: r = clip(A, -M, M)/(2 M) + 1/2 is
 * its optimality probability; u+ = v_old + beta (v - v_old) and u- = v_old - beta (v - v_old) predict clean as x+- = noisy - t u+-;
 *
 *     loss = M/beta (r mean (x+ - clean)^2/w+ + (1 - r) mean (x- - clean)^2/w-) + kl_coef mean (v - v_ref)^2
 *
 * with w+- = max(mean |x+- - clean|, 1e-5), treated as constants. */
typedef struct {
    double advantage_max;           /* M > 0 (the code: 5) */
    double beta;                    /* > 0 (the code: 1 or 0.1) */
    double kl_coef;                 /* >= 0; velocity_ref is read only if it is not 0 (the code: 1e-4) */
} grpo_nft;
/* velocity v, velocity_old, velocity_ref, noisy, clean: element arrays; level t in [0, 1], advantage A (n) -> share (n): r; loss (n);
 * dvelocity, per element: d loss of its own sample/d v; each NULL if not wanted */
grpo_status grpo_diffusion_nft(int64_t n, const int64_t *begin, const grpo_real *velocity, const grpo_real *velocity_old,
                               const grpo_real *velocity_ref, const grpo_real *noisy, const grpo_real *clean, const double *level,
                               const double *advantage, const grpo_nft *x, double *share, double *loss, grpo_real *dvelocity);

GRPO_C_END_
#endif /* GRPO_FLOW_H */

#if defined(GRPO_FLOW_IMPLEMENTATION) && !defined(GRPO_FLOW_IMPLEMENTED)
#define GRPO_FLOW_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

/* ---- schedule -------------------------------------------------------------------------------------------------------------------- */
/* a, b, s from the variance g^2 h of the step over eta^2, a double-double; the drift has half of g^2 h over s0 */
static grpo_flow_step grpo_flow_step_of_(double s0, grpo_dd h, grpo_dd variance, double eta) {
    const grpo_dd half = grpo_dd_div(grpo_dd_mul(grpo_dd_product(grpo_two_prod(eta, eta), variance), 0.5), s0);
    grpo_flow_step x;
    x.sample_factor = grpo_dd_minus_(grpo_dd_of_(1), half).hi;
    x.velocity_factor = -grpo_dd_add(h, grpo_dd_product(half, grpo_two_diff(1, s0))).hi;
    x.std = grpo_dd_mul(grpo_sqrt_twice_(variance), eta).hi;
    x.rate = x.std / fabs(x.velocity_factor);
    return x;
}

/* log(1 + q) - q for 0 <= q < 1/64, whose terms from q^15 on are less than 2^-80 of it: a logarithm less q would cancel */
static grpo_dd grpo_flow_log_rest_(grpo_dd q) {
    grpo_dd sum = grpo_dd_of_(0);
    for (int k = 14; k >= 2; k--) sum = grpo_dd_minus_(grpo_dd_div(grpo_dd_of_(1), k), grpo_dd_product(q, sum));
    return grpo_dd_negative(grpo_dd_product(grpo_dd_product(q, q), sum));
}

/* s^2/eta^2 */
static grpo_dd grpo_flow_variance_(grpo_flow_kind kind, double s0, double s1, double sigma_max, double sigma_min) {
    const grpo_dd h = grpo_two_diff(s0, s1), least = { 0.003, -6.245004513516505e-20 };
    const grpo_dd rest = s0 > 0.997 ? least : grpo_two_diff(1, s0);
    grpo_dd g;
    switch (kind) {
    case GRPO_FLOW_DANCE_SDE: return h;
    case GRPO_FLOW_FLASH_SDE:
        g = grpo_dd_add(grpo_dd_mul(grpo_two_diff(sigma_max, sigma_min), s0), grpo_dd_of_(sigma_min));
        return grpo_dd_product(grpo_dd_product(g, g), h);
    case GRPO_FLOW_SAGE_SDE:
        g = grpo_dd_quotient(h, rest);                                  /* log(1 + g) - h, and g - h = g s0 */
        if (s0 <= 0.997 && g.hi < 1.0 / 64) return grpo_dd_add(grpo_dd_mul(g, s0), grpo_flow_log_rest_(g));
        return grpo_dd_minus_(grpo_dd_log(grpo_dd_quotient(grpo_two_diff(1, s1), rest)), h);
    default:
        return grpo_dd_quotient(grpo_dd_mul(h, s0), grpo_two_diff(1, s0 < 1 ? s0 : sigma_max));
    }
}

#define GRPO_HALF_PI_ 1.57079632679489661923
static grpo_flow_step grpo_flow_cps_(double s0, double s1, double eta) {
    const double other = 1 - eta;                                      /* exact for eta > 1/2, where it is used: cos(eta pi/2) would cancel
                                                                          there */
    const double c = eta <= 0.5 ? cos(eta * GRPO_HALF_PI_) : sin(other * GRPO_HALF_PI_);
    const double s = eta <= 0.5 ? sin(eta * GRPO_HALF_PI_) : cos(other * GRPO_HALF_PI_);
    const grpo_dd part = grpo_two_prod(s1, c), rest = grpo_two_diff(1, s1);
    grpo_flow_step x;
    x.sample_factor = grpo_dd_add(rest, part).hi;
    x.velocity_factor = grpo_dd_minus_(grpo_dd_product(grpo_two_diff(1, s0), part), grpo_dd_mul(rest, s0)).hi;
    x.std = s1 * s;
    x.rate = x.std / fabs(x.velocity_factor);
    return x;
}

grpo_status grpo_flow_schedule(grpo_flow_kind kind, double level, double next_level, double sigma_max, double sigma_min, double eta,
                               grpo_flow_step *step) {
    grpo_status st = grpo_check_choice_((int)kind, GRPO_FLOW_CPS + 1, 1);
    grpo_flow_step x;
    if (!st) st = grpo_check_number_(level, GRPO_PART_, 2);
    if (!st) st = grpo_check_number_(next_level, GRPO_PART_, 3);
    if (!st && next_level >= level) st = grpo_refuse_both_(GRPO_NOT_BELOW, 3, 2, -1);
    if (!st) st = grpo_check_number_(sigma_max, GRPO_OPEN_PART_, 4);
    if (!st) st = grpo_check_number_(sigma_min, GRPO_BELOW_ONE_, 5);
    if (!st && sigma_min > sigma_max) st = grpo_refuse_both_(GRPO_CROSSED, 5, 4, -1);
    if (!st) st = grpo_check_number_(eta, kind == GRPO_FLOW_CPS ? GRPO_SHARE_ : GRPO_MODERATE_POSITIVE_, 6);
    if (!st) st = grpo_check_output_(step, 7);
    if (st) return st;
    if (kind == GRPO_FLOW_CPS) x = grpo_flow_cps_(level, next_level, eta);
    else {
        const grpo_dd variance = grpo_flow_variance_(kind, level, next_level, sigma_max, sigma_min);
        if (!grpo_is_finite(eta * eta * variance.hi)) return grpo_refuse_(GRPO_OUT_OF_RANGE, 6, -1);
        x = grpo_flow_step_of_(level, grpo_two_diff(level, next_level), variance, eta);
    }
    if (!(x.std > 0)) return grpo_refuse_(GRPO_OUT_OF_RANGE, 3, -1);
    *step = x;
    return GRPO_OK;
}

/* the rate whose reciprocal is the lower median of the reciprocals; of equal rates the first */
static double grpo_median_rate_(int64_t n, const double *rate) {
    for (int64_t k = 0; k < n; k++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) before += rate[j] > rate[k] || (rate[j] == rate[k] && j < k);
        if (before == (n - 1) / 2) return rate[k];
    }
    return 1;
}

grpo_status grpo_balance_steps(int64_t n, const double *rate, grpo_balance_kind centre, double *weight) {
    grpo_status st = grpo_check_count_(n, 1, 1);
    grpo_dd middle;
    if (!st) st = grpo_check_list_(rate, n, GRPO_POSITIVE_, 2);
    if (!st) st = grpo_check_choice_((int)centre, GRPO_BALANCE_MEAN + 1, 3);
    if (!st) st = grpo_check_output_(weight, 4);
    if (st) return st;
    middle = centre == GRPO_BALANCE_MEDIAN ? grpo_dd_of_(grpo_median_rate_(n, rate)) : grpo_mean_of_(rate, NULL, n);
    for (int64_t k = 0; k < n; k++) weight[k] = grpo_dd_quotient(grpo_dd_of_(rate[k]), middle).hi;
    return GRPO_OK;
}

/* ---- elements of steps and samples ------------------------------------------------------------------------------------------------ */
/* argument 2: begin */
static grpo_status grpo_check_spans_(int64_t n, const int64_t *begin) {
    grpo_status st = grpo_check_count_(n, 0, 1);
    if (!st) st = grpo_check_not_null_(begin, n, 2);
    if (!st && n > 0 && begin[0] < 0) st = grpo_refuse_(GRPO_NEGATIVE, 2, 0);
    for (int64_t k = 0; !st && k < n; k++) if (begin[k + 1] <= begin[k]) st = grpo_refuse_(GRPO_NOT_INCREASING, 2, k + 1);
    return st;
}

/* checks an array of elements, which must be there if needed, else may be NULL */
static grpo_status grpo_check_elements_(int64_t n, const int64_t *begin, const grpo_real *x, int needed, grpo_domain_kind_ domain,
                                        int place) {
    if (n == 0 || (!x && !needed)) return GRPO_OK;
    if (!x) return grpo_refuse_(GRPO_NULL, place, -1);
    for (int64_t d = begin[0]; d < begin[n]; d++)
        if (!grpo_in_domain_((double)x[d], domain)) return grpo_check_member_((double)x[d], domain, place, d);
    return GRPO_OK;
}

static grpo_dd grpo_element_gap_(const grpo_real *x, const grpo_real *y, int64_t d) { return grpo_two_diff((double)x[d], (double)y[d]); }

/* over the elements begin .. end - 1: mean of ((x - y)/s)^2 */
static grpo_dd grpo_mean_square_(const grpo_real *x, const grpo_real *y, int64_t begin, int64_t end, double s) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t d = begin; d < end; d++) {
        const grpo_dd e = grpo_dd_div(grpo_element_gap_(x, y, d), s);
        grpo_sum_add_dd_(&sum, grpo_dd_product(e, e));
    }
    return grpo_mean_(&sum, end - begin);
}

/* mean of (mu - mu_old)/s times (y - mu_old), or, if `both`, times ((y - mu_old) + (y - mu))/s */
static grpo_dd grpo_mean_step_(const grpo_real *sample, const grpo_real *mean, const grpo_real *old, int64_t begin, int64_t end, double s,
                               int both) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t d = begin; d < end; d++) {
        const grpo_dd moved = grpo_element_gap_(mean, old, d);
        grpo_dd e = grpo_element_gap_(sample, old, d);
        if (both) e = grpo_dd_div(grpo_dd_add(e, grpo_element_gap_(sample, mean, d)), s);
        if (moved.hi != 0 && e.hi != 0) grpo_sum_add_dd_(&sum, grpo_dd_product(grpo_dd_div(moved, s), e));
    }
    return grpo_mean_(&sum, end - begin);
}

/* ---- Gaussian steps ---------------------------------------------------------------------------------------------------------------- */
typedef struct {
    int64_t n;
    const int64_t *begin;
    const grpo_real *sample, *mean, *old, *ref;
    const double *std, *kl_std;
} grpo_gaussians_;

static grpo_status grpo_check_gaussians_(const grpo_gaussians_ *x, int needs_old, int needs_ref) {
    grpo_status st = grpo_check_spans_(x->n, x->begin);
    if (!st) st = grpo_check_elements_(x->n, x->begin, x->sample, 1, GRPO_FINITE_, 3);
    if (!st) st = grpo_check_elements_(x->n, x->begin, x->mean, 1, GRPO_FINITE_, 4);
    if (!st) st = grpo_check_elements_(x->n, x->begin, x->old, needs_old, GRPO_FINITE_, 5);
    if (!st) st = grpo_check_elements_(x->n, x->begin, x->ref, needs_ref, GRPO_FINITE_, 6);
    if (!st) st = grpo_check_list_(x->std, x->n, GRPO_POSITIVE_, 7);
    return st || !x->kl_std ? st : grpo_check_list_(x->kl_std, x->n, GRPO_POSITIVE_, 8);
}

static double grpo_gaussian_logp_(grpo_dd square, double s) {
    const grpo_dd half_log_2_pi = { 0.91893853320467278, -3.8782941580672414e-17 };
    return grpo_dd_negative(grpo_dd_add(grpo_dd_mul(square, 0.5), grpo_dd_add(grpo_dd_log(grpo_dd_of_(s)), half_log_2_pi))).hi;
}

static void grpo_gaussian_step_(const grpo_gaussians_ *x, int64_t k, const grpo_gaussian_numbers *out) {
    const int64_t begin = x->begin[k], end = x->begin[k + 1];
    const double s = x->std[k], c = x->kl_std ? x->kl_std[k] : s;
    int overflow = 0;
    if (out->logp) grpo_put_(out->logp, k, grpo_gaussian_logp_(grpo_mean_square_(x->sample, x->mean, begin, end, s), s), &overflow);
    if (out->log_ratio) grpo_put_(out->log_ratio, k, 0.5 * grpo_mean_step_(x->sample, x->mean, x->old, begin, end, s, 1).hi, &overflow);
    if (out->regulated) grpo_put_(out->regulated, k, grpo_mean_step_(x->sample, x->mean, x->old, begin, end, s, 0).hi, &overflow);
    if (out->divergence_old) grpo_put_(out->divergence_old, k, 0.5 * grpo_mean_square_(x->mean, x->old, begin, end, s).hi, &overflow);
    if (out->divergence_ref) grpo_put_(out->divergence_ref, k, 0.5 * grpo_mean_square_(x->mean, x->ref, begin, end, c).hi, &overflow);
}

grpo_status grpo_gaussian_steps(int64_t n, const int64_t *begin, const grpo_real *sample, const grpo_real *mean, const grpo_real *mean_old,
                                const grpo_real *mean_ref, const double *std, const double *kl_std, const grpo_gaussian_numbers *out) {
    const grpo_gaussians_ x = { n, begin, sample, mean, mean_old, mean_ref, std, kl_std };
    grpo_status st = grpo_check_output_(out, 9);
    if (!st) st = grpo_check_gaussians_(&x, out->log_ratio || out->regulated || out->divergence_old, out->divergence_ref != NULL);
    for (int64_t k = 0; !st && k < n; k++) grpo_gaussian_step_(&x, k, out);
    return st;
}

/* g (x - y)/(s t); where the quotient would leave the range of double, with the exponents apart */
static grpo_dd grpo_gaussian_slope_(double g, const grpo_real *x, const grpo_real *y, int64_t d, double s, double t) {
    const grpo_dd gap = grpo_element_gap_(x, y, d);
    grpo_dd q;
    if (g == 0 || gap.hi == 0) return grpo_dd_of_(0);
    q = grpo_dd_div(grpo_dd_div(gap, s), t);
    if ((fabs(q.hi) > 1e-280 && fabs(q.hi) < 1e300) || !grpo_is_finite(gap.hi)) return grpo_dd_mul(q, g);
    return grpo_quotient_apart_(gap, g, s, t);
}

static void grpo_gaussian_step_backward_(const grpo_gaussians_ *x, int64_t k, const grpo_gaussian_gradients *by, grpo_real *dmean) {
    const double s = x->std[k], c = x->kl_std ? x->kl_std[k] : s, count = (double)(x->begin[k + 1] - x->begin[k]);
    const double own = (by->logp ? (double)by->logp[k] : 0) + (by->log_ratio ? (double)by->log_ratio[k] : 0);
    const double guard = by->regulated ? (double)by->regulated[k] : 0, old = by->divergence_old ? (double)by->divergence_old[k] : 0;
    const double ref = by->divergence_ref ? (double)by->divergence_ref[k] : 0;
    int overflow = 0;
    for (int64_t d = x->begin[k]; d < x->begin[k + 1]; d++) {
        grpo_dd g = grpo_gaussian_slope_(own, x->sample, x->mean, d, s, s);
        if (guard != 0) g = grpo_dd_add(g, grpo_gaussian_slope_(guard, x->sample, x->old, d, s, 1));
        if (old != 0) g = grpo_dd_add(g, grpo_gaussian_slope_(old, x->mean, x->old, d, s, s));
        if (ref != 0) g = grpo_dd_add(g, grpo_gaussian_slope_(ref, x->mean, x->ref, d, c, c));
        grpo_put_(dmean, d, grpo_dd_div(g, count).hi, &overflow);
    }
}

static grpo_status grpo_check_gaussian_gradients_(const grpo_gaussian_gradients *by, int64_t n) {
    const grpo_real *gradients[] = { by->logp, by->log_ratio, by->regulated, by->divergence_old, by->divergence_ref };
    grpo_status st = GRPO_OK;
    for (size_t g = 0; g < sizeof gradients / sizeof *gradients; g++)
        for (int64_t k = 0; gradients[g] && !st && k < n; k++) st = grpo_check_member_((double)gradients[g][k], GRPO_FINITE_, 9, k);
    return st;
}

grpo_status grpo_gaussian_steps_backward(int64_t n, const int64_t *begin, const grpo_real *sample, const grpo_real *mean,
                                         const grpo_real *mean_old, const grpo_real *mean_ref, const double *std, const double *kl_std,
                                         const grpo_gaussian_gradients *by, grpo_real *dmean) {
    const grpo_gaussians_ x = { n, begin, sample, mean, mean_old, mean_ref, std, kl_std };
    grpo_status st = grpo_check_output_(by, 9);
    if (!st) st = grpo_check_gaussians_(&x, by->log_ratio || by->regulated || by->divergence_old, by->divergence_ref != NULL);
    if (!st) st = grpo_check_gaussian_gradients_(by, n);
    if (!st) st = grpo_check_not_null_(dmean, n, 10);
    for (int64_t k = 0; !st && k < n; k++) grpo_gaussian_step_backward_(&x, k, by, dmean);
    return st;
}

/* ---- errors of a denoiser ---------------------------------------------------------------------------------------------------------- */
static grpo_status grpo_check_denoiser_(int64_t n, const int64_t *begin, const grpo_real *prediction, const grpo_real *target) {
    grpo_status st = grpo_check_spans_(n, begin);
    if (!st) st = grpo_check_elements_(n, begin, prediction, 1, GRPO_MODERATE_, 3);
    return st ? st : grpo_check_elements_(n, begin, target, 1, GRPO_MODERATE_, 4);
}

grpo_status grpo_denoising_error(int64_t n, const int64_t *begin, const grpo_real *prediction, const grpo_real *target, double *error) {
    grpo_status st = grpo_check_denoiser_(n, begin, prediction, target);
    if (!st) st = grpo_check_not_null_(error, n, 5);
    for (int64_t k = 0; !st && k < n; k++) error[k] = grpo_mean_square_(prediction, target, begin[k], begin[k + 1], 1).hi;
    return st;
}

grpo_status grpo_denoising_error_backward(int64_t n, const int64_t *begin, const grpo_real *prediction, const grpo_real *target,
                                          const double *derror, grpo_real *dprediction) {
    grpo_status st = grpo_check_denoiser_(n, begin, prediction, target);
    int overflow = 0;
    if (!st) st = grpo_check_list_(derror, n, GRPO_FINITE_, 5);
    if (!st) st = grpo_check_not_null_(dprediction, n, 6);
    for (int64_t k = 0; !st && k < n; k++) {
        const double count = (double)(begin[k + 1] - begin[k]);
        for (int64_t d = begin[k]; d < begin[k + 1]; d++)
            grpo_put_(dprediction, d, 2 * grpo_dd_mul(grpo_dd_div(grpo_element_gap_(prediction, target, d), count), derror[k]).hi,
                      &overflow);
    }
    return st;
}

grpo_status grpo_denoising_preference(int64_t n, const double *error, const double *error_ref, const double *weight, double beta,
                                      double *loss, double *derror) {
    grpo_status st = grpo_check_count_(n, 1, 1);
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_logistic f;
    if (!st) st = grpo_check_list_(error, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_list_(error_ref, n, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_list_(weight, n, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(beta, GRPO_POSITIVE_, 5);
    if (!st) st = grpo_check_output_(loss, 6);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) grpo_sum_add_dd_(&sum, grpo_dd_mul(grpo_two_diff(error[k], error_ref[k]), weight[k]));
    f = grpo_logistic_loss(grpo_dd_negative(grpo_dd_mul(grpo_sum_dd_(&sum), 0.5 * beta)));
    *loss = f.value;
    for (int64_t k = 0; derror && k < n; k++) derror[k] = grpo_times(-f.slope * (0.5 * beta), weight[k]);
    return GRPO_OK;
}

/* ---- DiffusionNFT -------------------------------------------------------------------------------------------------------------------- */
typedef struct {
    const grpo_real *v, *old, *ref, *noisy, *clean;
    const grpo_nft *settings;
    int64_t begin, end;
    double t;
} grpo_nft_sample_;

/* x+ - clean (sign 1) or x- - clean (-1) of an element */
static grpo_dd grpo_nft_gap_(const grpo_nft_sample_ *x, int64_t d, double sign) {
    const grpo_dd moved = grpo_dd_mul(grpo_element_gap_(x->v, x->old, d), sign * x->settings->beta);
    const grpo_dd u = grpo_dd_mul(grpo_dd_add(grpo_dd_of_((double)x->old[d]), moved), x->t);
    return grpo_dd_minus_(grpo_element_gap_(x->noisy, x->clean, d), u);
}

/* *weight = max(mean |e|, 1e-5); returns mean e^2 over *weight, e = x+ - clean or x- - clean */
static double grpo_nft_part_(const grpo_nft_sample_ *x, double sign, grpo_dd *weight) {
    const grpo_dd least = { 1e-5, -8.180305391403131e-22 };
    grpo_sum size = GRPO_NO_SUM_, squares = GRPO_NO_SUM_;
    double largest = 0;
    int unit;
    for (int64_t d = x->begin; d < x->end; d++) {
        const grpo_dd e = grpo_nft_gap_(x, d, sign);
        grpo_sum_add_dd_(&size, e.hi < 0 ? grpo_dd_negative(e) : e);
        if (fabs(e.hi) > largest) largest = fabs(e.hi);
    }
    unit = largest > 1 ? grpo_square_exponent_(largest) : 0;
    for (int64_t d = x->begin; d < x->end; d++) {
        const grpo_dd e = grpo_dd_scaled_(grpo_nft_gap_(x, d, sign), -unit);
        grpo_sum_add_dd_(&squares, grpo_dd_product(e, e));
    }
    *weight = grpo_mean_(&size, x->end - x->begin);
    if (grpo_dd_less(*weight, least)) *weight = least;
    return ldexp(grpo_dd_quotient(grpo_mean_(&squares, x->end - x->begin), grpo_dd_scaled_(*weight, -unit)).hi, unit);
}

static double grpo_nft_share_(double advantage, double most) {
    return grpo_within(grpo_dd_add(grpo_dd_div(grpo_dd_of_(grpo_within(advantage, -most, most)), 2 * most), grpo_dd_of_(0.5)).hi, 0, 1);
}

/* rest = 1 - r, rounded by itself */
static double grpo_nft_sample_loss_(const grpo_nft_sample_ *x, double r, double rest, grpo_real *dvelocity) {
    const double count = (double)(x->end - x->begin), adv_max = x->settings->advantage_max, kl = x->settings->kl_coef;
    grpo_dd up, down;
    const double up_part = grpo_nft_part_(x, 1, &up), down_part = grpo_nft_part_(x, -1, &down);
    int overflow = 0, e_M, e_beta;
    const double m = frexp(adv_max, &e_M), beta = frexp(x->settings->beta, &e_beta);
    double loss = ldexp(m * grpo_plus(grpo_times(r, up_part), grpo_times(rest, down_part)) / beta, e_M - e_beta);
    for (int64_t d = x->begin; dvelocity && d < x->end; d++) {
        grpo_dd g = grpo_dd_mul(grpo_dd_quotient(grpo_nft_gap_(x, d, -1), down), rest);
        g = grpo_dd_minus_(g, grpo_dd_mul(grpo_dd_quotient(grpo_nft_gap_(x, d, 1), up), r));
        g = grpo_dd_product(g, grpo_two_prod(x->t, adv_max));
        if (kl != 0) g = grpo_dd_add(g, grpo_dd_mul(grpo_element_gap_(x->v, x->ref, d), kl));
        grpo_put_(dvelocity, d, 2 * grpo_dd_div(g, count).hi, &overflow);
    }
    if (kl != 0) loss = grpo_plus(loss, kl * grpo_mean_square_(x->v, x->ref, x->begin, x->end, 1).hi);
    return loss;
}

static grpo_status grpo_check_nft_(const grpo_nft *x) {
    grpo_status st = grpo_check_output_(x, 10);
    if (!st) st = grpo_check_member_(x->advantage_max, GRPO_MODERATE_POSITIVE_, 10, 0);
    if (!st) st = grpo_check_member_(x->beta, GRPO_MODERATE_POSITIVE_, 10, 1);
    return st ? st : grpo_check_member_(x->kl_coef, GRPO_MODERATE_FACTOR_, 10, 2);
}

grpo_status grpo_diffusion_nft(int64_t n, const int64_t *begin, const grpo_real *velocity, const grpo_real *velocity_old,
                               const grpo_real *velocity_ref, const grpo_real *noisy, const grpo_real *clean, const double *level,
                               const double *advantage, const grpo_nft *x, double *share, double *loss, grpo_real *dvelocity) {
    grpo_status st = grpo_check_nft_(x);
    if (!st) st = grpo_check_spans_(n, begin);
    if (!st) st = grpo_check_elements_(n, begin, velocity, 1, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_elements_(n, begin, velocity_old, 1, GRPO_MODERATE_, 4);
    if (!st && x->kl_coef != 0) st = grpo_check_elements_(n, begin, velocity_ref, 1, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_elements_(n, begin, noisy, 1, GRPO_MODERATE_, 6);
    if (!st) st = grpo_check_elements_(n, begin, clean, 1, GRPO_MODERATE_, 7);
    if (!st) st = grpo_check_list_(level, n, GRPO_PART_, 8);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_FINITE_, 9);
    for (int64_t k = 0; !st && k < n; k++) {
        const grpo_nft_sample_ s = { velocity, velocity_old, velocity_ref, noisy, clean, x, begin[k], begin[k + 1], level[k] };
        const double r = grpo_nft_share_(advantage[k], x->advantage_max), rest = grpo_nft_share_(-advantage[k], x->advantage_max);
        const double own = loss || dvelocity ? grpo_nft_sample_loss_(&s, r, rest, dvelocity) : 0;
        if (share) share[k] = r;
        if (loss) loss[k] = own;
    }
    return st;
}

GRPO_C_END_
#endif /* GRPO_FLOW_IMPLEMENTATION */
