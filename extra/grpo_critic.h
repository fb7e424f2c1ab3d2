/* grpo_critic.h - the value loss of a critic, log-probabilities of a proximal policy, distances from a teacher.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_CRITIC_IMPLEMENTATION
 *     #include "extra/grpo_critic.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Generalised advantage estimation is in grpo.h: advantage.credit gae, from batch.value (rows ppo, vapo-gae).  A critic's returns are these
 * advantages plus the values, before anything changes them: with advantage.scale and batch_norm none.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h. */
#ifndef GRPO_CRITIC_H
#define GRPO_CRITIC_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_critic.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_value_loss grpo_value_loss_f64
#define grpo_proximal_logp grpo_proximal_logp_f64
#define grpo_generalised_jsd grpo_generalised_jsd_f64
#define grpo_top_k_gap grpo_top_k_gap_f64
#endif

GRPO_C_BEGIN_

/* a token's value loss: (V - R)^2/2 or, if that is larger, (v - R)^2/2 with v = clamp(V, Vold - clip, Vold + clip), compared exactly (PPO's
 * implementations, as verl; V, Vold, R are value, value_old, returns).  clip >= 0, 0: no clipping */
typedef struct { double loss, slope; int clipped; } grpo_value_term;      /* slope: d loss/d V, 0 if clipped; clipped: 1 if the second
                                                                             square is the larger one */

GRPO_FN grpo_value_term grpo_value_loss_term(double value, double value_old, double returns, double clip) {
    grpo_dd error = grpo_two_diff(value, returns), bound = { 0, 0 }, other, sides;
    grpo_value_term x = { nan(""), nan(""), 0 };
    const int above = clip > 0 && grpo_dd_exceeds(grpo_dd_add(grpo_two_diff(value, value_old), grpo_two_diff(0, clip)), 0);
    const int below = clip > 0 && grpo_dd_exceeds(grpo_dd_add(grpo_two_diff(value_old, value), grpo_two_diff(0, clip)), 0);
    if (!(clip >= 0) || !grpo_is_finite(value) || !grpo_is_finite(returns) || (clip > 0 && !grpo_is_finite(value_old))) return x;
    bound = grpo_two_sum(value_old, above ? clip : -clip);
    other = grpo_dd_add(bound, grpo_two_diff(0, returns));
    sides = grpo_dd_add(grpo_two_sum(value, value_old), grpo_two_sum(above ? clip : -clip, -2 * returns));
    x.clipped = (above && sides.hi < 0) || (below && sides.hi > 0);     /* |v - R| > |V - R|: V + v - 2R has the sign of v - V */
    x.loss = grpo_dd_mul(x.clipped ? grpo_dd_product(other, other) : grpo_dd_product(error, error), 0.5).hi;
    x.slope = x.clipped ? 0 : error.hi;
    return x;
}

/* the value loss of a batch, aggregated over the mask by the settings of axis 7, except token_mean_by_sign, seq_mean_by_sign,
 * token_mean_nonzero_std and seq_mean_segment_mean (GRPO_NOT_A_CHOICE, of aggregation, member 0); value, value_old, returns (n_tokens),
 * value_old is read only if clip > 0; clip >= 0; dvalue (n_tokens; NULL: not wanted): d loss/d value.  The batch is the whole; in parts
 * take aggregation token_sum, and divide loss and dvalue by a count of your own: for token_mean, the unmasked tokens of all parts */
typedef struct { double loss, clip_fraction; } grpo_value_report;      /* clip_fraction: the share of tokens whose clipped square is the
                                                                          larger one */

grpo_status grpo_value_loss(const grpo_batch *batch, const grpo_real *value, const grpo_real *value_old, const grpo_real *returns,
                            double clip, const grpo_aggregation *aggregation, grpo_real *dvalue, grpo_value_report *report);

/* log-probability of a proximal policy between the behaviour policy, `lag` >= 0 versions ago, and the current one (AReaL, RLinf): with
 * alpha = (lag - 1)/lag, 0 for lag 0, b = behaviour and l = logp, log-probabilities, which may be -inf */
typedef enum {
    GRPO_PROXIMAL_LOG_LINEAR,     /* b + alpha (l - b) */
    GRPO_PROXIMAL_LINEAR          /* log((1 - alpha) e^b + alpha e^l); their 1e-10 in the log is left out */
} grpo_proximal_form;

GRPO_FN double grpo_proximal(grpo_proximal_form form, double logp, double behaviour, int64_t lag) {
    const double n = (double)lag, most = n - 1;
    grpo_dd x = grpo_two_diff(logp, behaviour), y = { 0, 0 };
    double change;
    if (lag < 0 || !(logp < HUGE_VAL) || !(behaviour < HUGE_VAL)) return nan("");
    if (form != GRPO_PROXIMAL_LOG_LINEAR && form != GRPO_PROXIMAL_LINEAR) return nan("");
    if (lag <= 1 || logp == behaviour) return behaviour;
    if (form == GRPO_PROXIMAL_LOG_LINEAR) {
        y.hi = behaviour;
        return grpo_dd_div(grpo_dd_add(y, grpo_two_prod(logp, most)), n).hi;
    }
    if (x.hi > 0) return logp + log1p(grpo_exp_minus_one(grpo_dd_negative(x)) / n);
    change = most / n * grpo_exp_minus_one(x);
    return behaviour + (change > -0.5 ? log1p(change) : log((1 + most * grpo_exp(x)) / n));
}

/* logp_old (n_tokens) by grpo_proximal of batch.logp and batch.logp_rollout; version: the current one, in 0 .. 2^53; behaviour_version
 * (n_tokens): the one that sampled the token, in 0 .. version */
grpo_status grpo_proximal_logp(const grpo_batch *batch, int64_t version, const int64_t *behaviour_version, grpo_proximal_form form,
                               grpo_real *logp_old);

/* *value = beta KL(p, M) + (1 - beta) KL(q, M), M = beta p + (1 - beta) q, in nats; p and q are the softmax of the logits of teacher and
 * student (n) over temperature >= 1e-150; a logit of -inf is a banned token; n >= 1, not all banned (GKD, 2306.13649, eq. 1; OPSD,
 * 2601.18734, official script: beta 0.5, temperature 1.1).  beta in [0, 1]; 0: KL(p, q), 1: KL(q, p), as TRL's generalized_jsd_loss, where
 * eq. 1 would be 0; KL is +infinity if its first argument has mass where the second has none.  dstudent (n; NULL: not wanted): d value/d
 * student, 0 where banned; if the value is infinite, the finite part of its gradient, or infinities */
grpo_status grpo_generalised_jsd(const double *student, const double *teacher, int64_t n, double temperature, double beta, double *value,
                                 double *dstudent);

/* *gap = log q_target - log p_target, both renormalised over the given n >= 1 tokens, from log-probabilities of student (p) and teacher (q)
 * (n); target in 0 .. n - 1 (VISD, 2605.06094, official code: over the teacher's top k and the sampled token) */
grpo_status grpo_top_k_gap(const double *student, const double *teacher, int64_t n, int64_t target, double *gap);

GRPO_C_END_
#endif /* GRPO_CRITIC_H */

#if defined(GRPO_CRITIC_IMPLEMENTATION) && !defined(GRPO_CRITIC_IMPLEMENTED)
#define GRPO_CRITIC_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

static void grpo_count_mask_(const grpo_batch *b, grpo_totals *totals) {
    memset(totals, 0, sizeof *totals);
    for (int64_t g = 0; g < b->n_groups; g++) {
        const grpo_group_counts_ n = grpo_count_mask_of_group_(b, g);
        totals->tokens += n.tokens;
        totals->sequences += n.sequences;
        totals->sequences_nonempty += n.nonempty;
        totals->groups++;
        totals->groups_nonempty += n.tokens > 0;
    }
}

/* checks the kind of aggregation, which not all are allowed, and the fields of axis 7 */
static grpo_status grpo_check_aggregation_(const grpo_aggregation *a) {
    grpo_objective o;
    grpo_status st;
    memset(&o, 0, sizeof o);
    o.aggregation = *a;
    st = grpo_objective_check(&o);
    if (st) return st;
    if (a->kind != GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN && a->kind != GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD && !grpo_counts_by_sign_(&o)
        && !grpo_counts_sequences_by_sign_(&o)) return GRPO_OK;
    return grpo_refuse_(GRPO_NOT_A_CHOICE, 6, 0);
}

typedef struct {
    const grpo_real *value, *value_old, *returns;
    double clip, local, divisor;
    grpo_real *dvalue;
    grpo_sum loss;
    int64_t clipped;
} grpo_critic_;

static void grpo_value_sequence_(const grpo_batch *b, int64_t i, grpo_critic_ *c) {
    int overflow = 0;
    for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        grpo_value_term x = { 0, 0, 0 };
        if (grpo_is_unmasked_(b, t)) x = grpo_value_loss_term((double)c->value[t], (double)c->value_old[t], (double)c->returns[t], c->clip);
        grpo_sum_add_(&c->loss, x.loss / c->local);
        c->clipped += x.clipped;
        if (c->dvalue) grpo_put_(c->dvalue, t, x.slope / c->local / c->divisor, &overflow);
    }
}

grpo_status grpo_value_loss(const grpo_batch *batch, const grpo_real *value, const grpo_real *value_old, const grpo_real *returns,
                            double clip, const grpo_aggregation *aggregation, grpo_real *dvalue, grpo_value_report *report) {
    grpo_status st = grpo_check_call_(batch, report, 8);
    grpo_totals totals;
    grpo_critic_ c;
    grpo_group_counts_ group;
    if (!st) st = grpo_check_output_(aggregation, 6);
    if (!st) st = grpo_check_number_(clip, GRPO_MODERATE_FACTOR_, 5);
    if (!st) st = grpo_check_aggregation_(aggregation);
    if (!st) st = grpo_check_tokens_(batch, value, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 2);
    if (!st && clip > 0) st = grpo_check_tokens_(batch, value_old, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 3);
    if (!st) st = grpo_check_tokens_(batch, returns, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 4);
    if (st) return st;
    grpo_count_mask_(batch, &totals);
    memset(&c, 0, sizeof c);
    c.value = value; c.value_old = clip > 0 ? value_old : value; c.returns = returns; c.clip = clip; c.dvalue = dvalue;
    c.divisor = grpo_divisor_(aggregation, &totals);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        group = grpo_count_mask_of_group_(batch, g);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            c.local = grpo_sequence_divisor_(aggregation, grpo_unmasked_(batch, i), 0, &group);
            grpo_value_sequence_(batch, i, &c);
        }
    }
    report->loss = grpo_sum_total_(&c.loss) / c.divisor;
    report->clip_fraction = totals.tokens ? (double)c.clipped / (double)totals.tokens : 0;
    return GRPO_OK;
}

static grpo_status grpo_check_versions_(const grpo_batch *b, int64_t version, const int64_t *behaviour_version) {
    grpo_status st = grpo_check_count_(version, 0, 2);
    grpo_index_ at;
    int64_t t;
    if (!st && version > INT64_C(1) << 53) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 2, -1);
    if (!st) st = grpo_check_not_null_(behaviour_version, b->n_groups, 3);
    for (at = grpo_before_tokens_(b); !st && (t = grpo_next_token_(b, &at)) >= 0; ) {
        if (behaviour_version[t] < 0) st = grpo_refuse_(GRPO_NEGATIVE, 3, t);
        else if (behaviour_version[t] > version) st = grpo_refuse_both_(GRPO_CROSSED, 3, 2, t);
    }
    return st;
}

grpo_status grpo_proximal_logp(const grpo_batch *batch, int64_t version, const int64_t *behaviour_version, grpo_proximal_form form,
                               grpo_real *logp_old) {
    grpo_status st = grpo_check_call_(batch, logp_old, 5);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_choice_((int)form, 2, 4);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_ROLLOUT_);
    if (!st) st = grpo_check_versions_(batch, version, behaviour_version);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(logp_old, t, grpo_proximal(form, (double)batch->logp[t], (double)batch->logp_rollout[t], version - behaviour_version[t]),
                  &overflow);
    grpo_clear_masked_(batch, logp_old);
    return GRPO_OK;
}

/* row 0: the student, q; row 1: the teacher, p; each is e^x/total with x = (z - top)/tau, and log p - log q = x_p - x_q - shift */
typedef struct { const double *z[2]; int64_t n; double tau, beta, top[2], total[2], shift; int infinite; } grpo_two_rows_;

static grpo_dd grpo_rows_exponent_(const grpo_two_rows_ *r, int row, int64_t v) {
    return grpo_dd_div(grpo_two_diff(r->z[row][v], r->top[row]), r->tau);
}

static grpo_dd grpo_rows_log_ratio_(const grpo_two_rows_ *r, int64_t v) {
    return grpo_dd_div(grpo_dd_minus_(grpo_two_diff(r->z[1][v], r->top[1]), grpo_two_diff(r->z[0][v], r->top[0])), r->tau);
}

/* finds tops, totals and shift = log(total of p/total of q); if the totals are close, from the sum of the differences: exactly 0 if all are
 * equal */
static void grpo_survey_rows_(grpo_two_rows_ *r) {
    grpo_sum total[2], difference;
    int64_t v;
    double mean_difference;
    for (int k = 0; k < 2; k++)
        for (r->top[k] = -HUGE_VAL, v = 0; v < r->n; v++) if (r->z[k][v] > r->top[k]) r->top[k] = r->z[k][v];
    memset(total, 0, sizeof total);
    memset(&difference, 0, sizeof difference);
    for (r->infinite = 0, v = 0; v < r->n; v++) {
        const double q = grpo_exp(grpo_rows_exponent_(r, 0, v)), p = grpo_exp(grpo_rows_exponent_(r, 1, v));
        const grpo_dd d = grpo_rows_log_ratio_(r, v);
        grpo_sum_add_(&total[0], q);
        grpo_sum_add_(&total[1], p);
        if (d.hi > 0) grpo_sum_add_(&difference, -grpo_times(p, grpo_exp_minus_one(grpo_dd_negative(d))));
        else grpo_sum_add_(&difference, grpo_times(q, grpo_exp_minus_one(d)));
        if (r->beta == 0) r->infinite |= r->z[0][v] == -HUGE_VAL && r->z[1][v] > -HUGE_VAL;
        if (r->beta == 1) r->infinite |= r->z[1][v] == -HUGE_VAL && r->z[0][v] > -HUGE_VAL;
    }
    for (int k = 0; k < 2; k++) r->total[k] = grpo_sum_value_(&total[k]);
    mean_difference = grpo_sum_value_(&difference) / r->total[0];
    r->shift = fabs(mean_difference) < 0.5 ? log1p(mean_difference) : log(r->total[1] / r->total[0]);
}

/* p, q and d = log p - log q of token v; both banned: p = q = d = 0 */
typedef struct { double p, q; grpo_dd d; } grpo_rows_at_;

static grpo_rows_at_ grpo_rows_look_(const grpo_two_rows_ *r, int64_t v) {
    grpo_rows_at_ x;
    x.q = grpo_exp(grpo_rows_exponent_(r, 0, v)) / r->total[0];
    x.p = grpo_exp(grpo_rows_exponent_(r, 1, v)) / r->total[1];
    x.d = grpo_dd_minus_(grpo_rows_log_ratio_(r, v), grpo_dd_of_(r->shift));
    return x;
}

/* the term of token v in the value: beta p log(p/M) + (1 - beta) q log(q/M), or that of a KL */
static double grpo_divergence_part_(const grpo_two_rows_ *r, int64_t v) {
    const grpo_rows_at_ x = grpo_rows_look_(r, v);
    const double beta = r->beta, rest = 1 - beta;
    if (beta == 0) return grpo_kl_part_(x.p, x.q, x.d);
    if (beta == 1) return grpo_kl_part_(x.q, x.p, grpo_dd_negative(x.d));
    return grpo_mixture_term_(x.p, x.q, grpo_mixture_log_(grpo_dd_negative(x.d), rest, beta), grpo_mixture_log_(x.d, beta, rest), beta);
}

/* g = d value/d q_v for beta > 0, up to a constant that does not depend on v */
static double grpo_divergence_slope_(const grpo_two_rows_ *r, const grpo_rows_at_ *x) {
    return r->beta == 1 ? -x->d.hi : -(1 - r->beta) * grpo_mixture_log_(x->d, r->beta, 1 - r->beta);
}

/* d value/d z = q (g - sum q g)/tau; for beta 0, q g = -p */
static double grpo_divergence_gradient_(const grpo_two_rows_ *r, int64_t v, double mean) {
    const grpo_rows_at_ x = grpo_rows_look_(r, v);
    double g;
    if (r->z[0][v] == -HUGE_VAL) return 0;
    if (r->beta == 0) return (x.q - x.p) / r->tau;
    if (r->infinite) return r->z[1][v] == -HUGE_VAL ? HUGE_VAL : -HUGE_VAL;
    g = grpo_divergence_slope_(r, &x) - mean;
    return r->tau < 1 ? grpo_times(x.q / r->tau, g) : grpo_times(x.q, g) / r->tau;
}

/* finite numbers, or -inf for a banned token; not all banned */
static grpo_status grpo_check_row_(const double *z, int64_t n, int place) {
    grpo_status st = grpo_check_not_null_(z, n, place);
    int64_t v, finite = 0;
    for (v = 0; !st && v < n; v++) {
        if (z[v] == -HUGE_VAL) continue;
        st = grpo_check_member_(z[v], GRPO_MODERATE_, place, v);
        finite++;
    }
    return !st && !finite ? grpo_refuse_(GRPO_NONE_LEFT, place, -1) : st;
}

grpo_status grpo_generalised_jsd(const double *student, const double *teacher, int64_t n, double temperature, double beta, double *value,
                                 double *dstudent) {
    grpo_status st = grpo_check_output_(value, 6);
    grpo_two_rows_ r;
    grpo_sum sum, slopes;
    double mean;
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 4);
    if (!st) st = grpo_check_number_(beta, GRPO_PART_, 5);
    if (!st) st = grpo_check_row_(student, n, 1);
    if (!st) st = grpo_check_row_(teacher, n, 2);
    if (!st && dstudent) st = GRPO_DISJOINT_(value, 1, 6, dstudent, n, GRPO_AT_ARGUMENT_ + 7);
    if (st) return st;
    r.z[0] = student; r.z[1] = teacher; r.n = n; r.tau = temperature; r.beta = beta;
    grpo_survey_rows_(&r);
    memset(&sum, 0, sizeof sum);
    memset(&slopes, 0, sizeof slopes);
    for (int64_t v = 0; v < n && !r.infinite; v++) {
        const grpo_rows_at_ x = grpo_rows_look_(&r, v);
        grpo_sum_add_(&sum, grpo_divergence_part_(&r, v));
        if (beta > 0 && dstudent) grpo_sum_add_(&slopes, grpo_times(x.q, grpo_divergence_slope_(&r, &x)));
    }
    mean = grpo_sum_value_(&slopes);
    for (int64_t v = 0; v < n && dstudent; v++) dstudent[v] = grpo_divergence_gradient_(&r, v, mean);
    *value = r.infinite ? HUGE_VAL : grpo_sum_total_(&sum);
    return GRPO_OK;
}

/* x_k - log sum e^x = (x_k - top) - log(1 + sum over the others of e^(x - top)) */
static grpo_dd grpo_log_share_(const double *x, int64_t n, int64_t k) {
    grpo_sum others = GRPO_NO_SUM_;
    int64_t j, top = 0;
    for (j = 1; j < n; j++) if (x[j] > x[top]) top = j;
    for (j = 0; j < n; j++) if (j != top) grpo_sum_add_(&others, grpo_exp(grpo_two_diff(x[j], x[top])));
    return grpo_dd_minus_(grpo_two_diff(x[k], x[top]), grpo_dd_of_(log1p(grpo_sum_value_(&others))));
}

grpo_status grpo_top_k_gap(const double *student, const double *teacher, int64_t n, int64_t target, double *gap) {
    grpo_status st = grpo_check_output_(gap, 5);
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_list_(student, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(teacher, n, GRPO_MODERATE_, 2);
    if (!st && (target < 0 || target >= n)) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 4, -1);
    if (st) return st;
    *gap = grpo_dd_minus_(grpo_log_share_(teacher, n, target), grpo_log_share_(student, n, target)).hi;
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_CRITIC_IMPLEMENTATION */
