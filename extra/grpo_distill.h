/* grpo_distill.h - distillation: divergences of a student's next-token distribution from a teacher's, and their gradient by the logits.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_DISTILL_IMPLEMENTATION
 *     #include "extra/grpo_distill.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it: a row's divergence
 * belongs to its token, and may be added to a policy loss: between the two calls below, grpo_loss with penalty.kl external reads it as
 * batch.divergence_ref, and its out.ddivergence_ref is the weight of the second; with surrogate none the loss is the distillation alone.
 *
 * A status names argument and entry (grpo_messages.h), of a struct argument the member; nothing has been written then.  Divergences and
 * log-probabilities are in nats.  Outputs overlap no argument, unless a comment says so. */
#ifndef GRPO_DISTILL_H
#define GRPO_DISTILL_H

#include "grpo_logits.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_distill.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_distill grpo_distill_f64
#define grpo_distill_divergence grpo_distill_divergence_f64
#define grpo_distill_gradient grpo_distill_gradient_f64
#define grpo_distill_top grpo_distill_top_f64
#define grpo_distill_at grpo_distill_at_f64
#define grpo_distill_sort grpo_distill_sort_f64
#define grpo_distill_pairs grpo_distill_pairs_f64
#define grpo_frontier_weight grpo_frontier_weight_f64
#define grpo_distill_importance_weight grpo_distill_importance_weight_f64
#endif

GRPO_C_BEGIN_

/* ======== divergence ===============================================================================================================
 * p is the teacher's distribution, a constant; q the student's, softmax of its logits z over temperature tau.  Entries are the tokens of
 * the vocabulary or of a set of ids; the divergence D of a row is the sum of their terms:
 *
 *     forward           p log(p/q)                                       KL(teacher || student)
 *     reverse           q log(q/p)                                       KL(student || teacher)
 *     jensen_shannon    beta p log(p/M) + (1 - beta) q log(q/M),         M = beta p + (1 - beta) q; beta 0 is forward and 1 is reverse
 *
 * (GKD, 2306.13649, eq. 1, whose P and Q are p and q; its divergence is 0 for beta 0 and 1; TRL's generalized_jsd_loss is as here.  SDPO,
 * 2601.20802: alpha = beta.)  There is no factor of tau^2.
 * With a set of ids, the rest of the vocabulary, the tail, is treated as
 *
 *     left_out          ignored: p and q are those of the whole vocabulary, and D may be negative (verl's code, forward_kl_topk)
 *     renormalised      ignored, and p and q are divided by their sums over the ids (OPSD, 2601.18734; SDPO and TRL without a tail)
 *     bucket            one more entry.  The log of the mass inside the ids is at most -1e-7, for p and for q (SDPO, TRL's add_tail_bucket)
 *
 * Where the term of an entry, a log-probability or D is clipped, the gradient is 0 beyond the bound and unchanged at it, as torch.clamp's.
 *
 * A logit of -inf is a banned token, with q = 0 and gradient 0; so is a token not in student.kept.  D may be +infinity; its gradient is
 * then the finite part, or infinities.  So it may where logits are so far apart that a log-probability is below -1.8e308.  Equal
 * distributions give exactly 0.
 *
 * Errors of double.  Where p and q sum to 1 over the entries and no bound is reached: 4 ulps of D (and 1e-31), with a bucket 4 ulps of the
 * sum of |terms|.  Else, as errors of log q no longer cancel: 4 ulps of the sum of p |log p| + p |log q| (reverse: q), of jensen_shannon of
 * the sum of the absolute values of both halves of the terms.  d D/d z: 4 ulps of the sum of the absolute values that make it up, in which
 * probabilities below the normal range may count as 0.  Other types are computed in double and rounded at the end; but where grpo_real is
 * float, log p and log q are one double each, and D of nearly equal distributions is within 4 ulps of float (and 1e-24).
 *
 * Entries are evaluated one by one, 0.4 microseconds each for both calls (jensen_shannon of double 0.8), half as much again with a clip; of
 * a renormalised set of ids, only the entries of the set.
 * If the implementation is compiled with OpenMP, its threads share the rows; the bits are the same for every number of threads. */

typedef enum { GRPO_DISTILL_FORWARD, GRPO_DISTILL_REVERSE, GRPO_DISTILL_JENSEN_SHANNON } grpo_distill_kind;
typedef enum { GRPO_TAIL_LEFT_OUT, GRPO_TAIL_RENORMALISED, GRPO_TAIL_BUCKET } grpo_tail_kind;

typedef struct {
    grpo_logits student;                /* target and squares are not read */
    grpo_logits_type teacher_type;
    int64_t teacher_stride;             /* elements from one row of the teacher to the next */
    int64_t k;                          /* ids per row; not read if ids is NULL */
    double teacher_temperature;         /* > 0: divides the teacher's logits, for the whole vocabulary or renormalised ids; else must be
                                           1 */
    grpo_distill_kind kind;
    double beta;                        /* in [0, 1]: the teacher's share of M; read for jensen_shannon (OPSD's scripts: 0.5) */
    grpo_tail_kind tail;                /* without ids it must be left_out */
    double clip;                        /* >= 0: terms are clipped to at most this (OPSD; SSOPD, 2605.17497: pointwise clipping); 0: not
                                           clipped */
    double logp_min;                    /* <= 0: with left_out ids, log p and log q are clamped to at least this (verl's log_prob_min_clamp:
                                           -10); 0: none */
    double divergence_max;              /* >= 0: D is clamped to [0, this], +infinity too (verl's clamp_min and loss_max_clamp); 0: not
                                           clamped */
} grpo_distill;

/* what the first call computes of a row, for the second */
typedef struct { double largest, temperature; grpo_dd log_sum; } grpo_distill_side;     /* log p = (z - largest)/temperature - log_sum */
typedef struct {
    grpo_distill_side student, teacher;
    grpo_dd tail[2];                    /* log q and log p of the bucket */
    double slope, tail_slope;           /* the sum over entries of d D/d log q; the bucket's, divided by its q */
    int whole;                          /* p and q sum to 1, and nothing is clipped */
    int outside;                        /* D is beyond its clamp: no gradient */
} grpo_distill_part;

/* teacher: elements of teacher_type, (rows, teacher_stride).  For the whole vocabulary and for renormalised ids, logits or
 * log-probabilities; for other ids log-probabilities at the temperature.  -inf: probability 0.
 * ids (rows, k), ascending in each row; NULL: the whole vocabulary.  The teacher's top k, the student's, or any other set.  Renormalised:
 * a row of ids that one side bans altogether is refused (GRPO_NONE_LEFT).
 * mask (rows), NULL: all rows count; rows whose mask is 0 are not read, their divergence is 0.
 * -> part (rows), divergence (rows) */
grpo_status grpo_distill_divergence(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
                                    grpo_distill_part *part, grpo_real *divergence);

/* the same arguments, part as the first call wrote it, weight (rows): d loss/d divergence -> dlogits (rows, stride) of the student's type:
 * weight times d D/d z, written (0 where the mask is 0; may be the array of logits), or, with `add`, added to what is there.  The contents
 * of rows, ids and teacher are not checked again. */
grpo_status grpo_distill_gradient(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
                                  const grpo_distill_part *part, const grpo_real *weight, int add, void *dlogits);

/* of rows of logits (target and squares are not read): top: ids (rows, k) of the k largest, 1 <= k <= vocab, ascending, of equal logits the
 * first; at: logp (rows, k), the log-probabilities over the whole vocabulary at given ids (rows, k), in any order.  Rows whose mask is 0
 * are neither read nor written (SDPO, 2601.20802, SDFT, 2601.19897, as in their code and TRL). */
grpo_status grpo_distill_top(const grpo_logits *x, const uint8_t *mask, int64_t k, int64_t *ids);
grpo_status grpo_distill_at(const grpo_logits *x, const uint8_t *mask, const int64_t *ids, int64_t k, grpo_real *logp);

/* sorts ids (rows, k) in ascending order within each row, and numbers (rows, k) with them, in place: for a teacher that lists the most
 * probable tokens first */
grpo_status grpo_distill_sort(int64_t rows, int64_t k, int64_t *ids, grpo_real *numbers);

/* for each group: the correct response with the fewest unmasked tokens, whose text the teacher is shown, and the wrong one with the most,
 * on whose tokens teacher and student are compared; of equal ones the first; both -1 if the group has only correct or only wrong responses
 * (SSOPD, 2605.17497, as summaries have it).  correct (sequences) -> teacher, student (n_groups): sequences, indexed as batch.reward */
grpo_status grpo_distill_pairs(const grpo_batch *batch, const uint8_t *correct, int64_t *teacher, int64_t *student);
/* weight (n_groups) = strength 4 c (1 - c), c the share of correct (sequences) responses of the group (SSOPD, as summaries have it: 0.5) */
grpo_status grpo_frontier_weight(const grpo_batch *batch, const uint8_t *correct, double strength, double *weight);
/* weight (n_tokens) = min(e^clamp(logp - logp_old, -20, 20), clip), 0 where masked: the constant by which SDPO (2601.20802, its code) and
 * TRL multiply D (is_clip; TRL: 2) */
grpo_status grpo_distill_importance_weight(const grpo_batch *batch, double clip, grpo_real *weight);

GRPO_C_END_
#endif /* GRPO_DISTILL_H */

#if defined(GRPO_DISTILL_IMPLEMENTATION) && !defined(GRPO_DISTILL_IMPLEMENTED)
#define GRPO_DISTILL_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"
#include "grpo_shared_logits.h"

GRPO_C_BEGIN_

/* ---- rows ------------------------------------------------------------------------------------------------------------------------ */

/* n numbers of a row: those at `ids`, or the first n if that is NULL */
typedef struct {
    grpo_logits_type type;
    const void *numbers;
    const uint8_t *kept;
    const int64_t *ids;
    int64_t first, n;
} grpo_distill_row_;

static double grpo_distill_number_(const grpo_distill_row_ *r, int64_t j) {
    const int64_t at = r->first + (r->ids ? r->ids[j] : j);
    return r->kept && !r->kept[at] ? -HUGE_VAL : grpo_stored_number_(r->type, r->numbers, at);
}

static grpo_distill_row_ grpo_distill_row_of_(const grpo_logits *x, int64_t row) {
    grpo_distill_row_ r;
    r.type = x->type; r.numbers = x->logits; r.kept = x->kept; r.ids = NULL;
    r.first = row * x->stride; r.n = x->vocab;
    return r;
}

static grpo_distill_row_ grpo_distill_student_(const grpo_distill *x, const int64_t *ids, int64_t row) {
    grpo_distill_row_ r = grpo_distill_row_of_(&x->student, row);
    if (ids) { r.ids = ids + row * x->k; r.n = x->k; }
    return r;
}

static grpo_distill_row_ grpo_distill_teacher_(const grpo_distill *x, const void *teacher, const int64_t *ids, int64_t row) {
    grpo_distill_row_ r;
    r.type = x->teacher_type; r.numbers = teacher; r.kept = NULL; r.ids = NULL;
    r.first = row * x->teacher_stride; r.n = ids ? x->k : x->student.vocab;
    return r;
}

static double grpo_distill_largest_(const grpo_distill_row_ *r) {
    double most = -HUGE_VAL;
    for (int64_t j = 0; j < r->n; j++) most = grpo_distill_number_(r, j) > most ? grpo_distill_number_(r, j) : most;
    return most;
}

/* for elements of float one double is enough, also for -inf: its rounding error is 2^-29 of theirs */
enum { GRPO_DISTILL_ONE_WORD_ = sizeof(grpo_real) == sizeof(float) };

static grpo_dd grpo_distill_exponent_(const grpo_distill_side *s, double z) {
    return GRPO_DISTILL_ONE_WORD_ ? grpo_dd_of_((z - s->largest) / s->temperature) : grpo_logit_exponent_(z, s->largest, s->temperature);
}

static grpo_dd grpo_distill_log_(const grpo_distill_side *s, double z) {
    const grpo_dd x = grpo_distill_exponent_(s, z);
    if (GRPO_DISTILL_ONE_WORD_ || z == -HUGE_VAL) return grpo_dd_of_(x.hi - s->log_sum.hi);
    return grpo_dd_minus_(x, s->log_sum);
}

/* log q - log p, 0 where both are -inf */
static grpo_dd grpo_distill_log_ratio_(grpo_dd log_q, grpo_dd log_p) {
    if (GRPO_DISTILL_ONE_WORD_) return grpo_dd_of_(grpo_two_diff(log_q.hi, log_p.hi).hi);
    return grpo_dd_minus_(log_q, log_p);
}

/* adds e^exponent of the numbers of row r to `sum`; if `but` is given, only of those whose index is not among its n ascending ids */
static void grpo_distill_add_powers_(const grpo_distill_side *s, const grpo_distill_row_ *r, const int64_t *but, int64_t n, grpo_dd *sum) {
    int64_t at = 0;
    for (int64_t j = 0; j < r->n; j++) {
        const double z = grpo_distill_number_(r, j);
        if (but && at < n && but[at] == j) { at++; continue; }
        if (z > -HUGE_VAL) grpo_dd_accumulate_(sum, grpo_exp(grpo_distill_exponent_(s, z)));
    }
}

static grpo_distill_side grpo_distill_side_of_(const grpo_distill_row_ *r, double temperature, grpo_dd *total) {
    grpo_distill_side s;
    s.largest = grpo_distill_largest_(r); s.temperature = temperature; s.log_sum = *total = grpo_dd_of_(0);
    grpo_distill_add_powers_(&s, r, NULL, 0, total);
    s.log_sum = grpo_dd_log(*total);
    return s;
}

/* ---- terms ------------------------------------------------------------------------------------------------------------------------- */

/* an entry: its term, d D/d log q, and q.  If p and q sum to 1 (whole), a term may be changed by q - p and a slope by a multiple of q
 * without changing the result: the terms then are >= 0 and of second order in d, which avoids cancellation */
typedef struct { double term, slope, q; } grpo_distill_entry_;

static grpo_distill_entry_ grpo_distill_forward_(double p, double q, grpo_dd d, int whole) {
    grpo_distill_entry_ e;
    e.q = q;
    e.term = whole ? grpo_kl_part_(p, q, grpo_dd_negative(d)) : -grpo_times(p, d.hi);
    if (d.hi == -HUGE_VAL) e.term = HUGE_VAL;                           /* even if p has underflowed */
    e.slope = !whole ? -p : fabs(d.hi) < 1 ? p * grpo_exp_minus_one(d) : q - p;
    return e;
}

static grpo_distill_entry_ grpo_distill_reverse_(double p, double q, grpo_dd d, int whole) {
    grpo_distill_entry_ e;
    e.q = q;
    e.term = whole ? grpo_kl_part_(q, p, d) : grpo_times(q, d.hi);
    if (d.hi == HUGE_VAL) e.term = HUGE_VAL;
    e.slope = grpo_times(q, whole ? d.hi : d.hi + 1);
    return e;
}

/* grpo_mixture_log_; for whole in two words: the exponential of a KL part multiplies its error by up to 30 */
static grpo_dd grpo_distill_mixture_log_(grpo_dd x, double w, double rest, int whole) {
    grpo_dd u;
    if (GRPO_DISTILL_ONE_WORD_ || !whole || !(fabs(x.hi) < 650)) return grpo_dd_of_(grpo_mixture_log_(x, w, rest));
    u = grpo_dd_mul(grpo_exp_minus_one_twice(x), w);
    if (u.hi < -0.5) return grpo_dd_log(grpo_dd_add(grpo_dd_of_(rest), grpo_dd_mul(grpo_exp_twice(x), w)));
    return u.hi < 1 ? gspo_log_one_plus_twice(u) : grpo_dd_log(grpo_dd_add(u, grpo_dd_of_(1)));
}

/* for whole, M - p and M - q are added to the two KL terms, which are then >= 0; weighted by beta and 1 - beta they cancel in the sum */
static grpo_distill_entry_ grpo_distill_mixed_(double p, double q, grpo_dd d, int whole, double beta) {
    const double rest = 1 - beta, m = beta * p + rest * q;
    const grpo_dd over_p = grpo_distill_mixture_log_(d, rest, beta, whole);
    const grpo_dd over_q = grpo_distill_mixture_log_(grpo_dd_negative(d), beta, rest, whole);
    grpo_distill_entry_ e;
    e.q = q;
    e.term = whole ? beta * grpo_kl_part_(p, m, grpo_dd_negative(over_p)) + rest * grpo_kl_part_(q, m, grpo_dd_negative(over_q))
                   : grpo_mixture_term_(p, q, over_p.hi, over_q.hi, beta);
    e.slope = -rest * grpo_times(q, over_q.hi);
    return e;
}

static grpo_distill_kind grpo_distill_kind_of_(const grpo_distill *x) {
    if (x->kind != GRPO_DISTILL_JENSEN_SHANNON || (x->beta > 0 && x->beta < 1)) return x->kind;
    return x->beta > 0 ? GRPO_DISTILL_REVERSE : GRPO_DISTILL_FORWARD;
}

static grpo_distill_entry_ grpo_distill_entry_of_(const grpo_distill *x, int whole, grpo_dd log_p, grpo_dd log_q) {
    const int low = x->logp_min < 0 && log_q.hi < x->logp_min;
    grpo_distill_entry_ e;
    grpo_dd d;
    double p, q;
    const double own = low ? grpo_exp(log_q) : 0;
    if (low) log_q = grpo_dd_of_(x->logp_min);
    if (x->logp_min < 0 && log_p.hi < x->logp_min) log_p = grpo_dd_of_(x->logp_min);
    p = grpo_exp(log_p); q = grpo_exp(log_q);
    d = grpo_distill_log_ratio_(log_q, log_p);
    switch (grpo_distill_kind_of_(x)) {
    case GRPO_DISTILL_FORWARD: e = grpo_distill_forward_(p, q, d, whole); break;
    case GRPO_DISTILL_REVERSE: e = grpo_distill_reverse_(p, q, d, whole); break;
    default:                   e = grpo_distill_mixed_(p, q, d, whole, x->beta); break;
    }
    if (low) { e.q = own; e.slope = 0; }
    if (!whole && x->clip > 0 && e.term > x->clip) { e.term = x->clip; e.slope = 0; }
    return e;
}

/* ---- a row ------------------------------------------------------------------------------------------------------------------------- */

/* the smallest mass of a bucket: 1 - e^-1e-7 */
#define GRPO_LEAST_TAIL_ 9.99999950000001667e-08

static grpo_dd grpo_distill_tail_log_(grpo_dd mass, int *bounded) {
    *bounded = mass.hi < GRPO_LEAST_TAIL_;
    return grpo_dd_log(*bounded ? grpo_dd_of_(GRPO_LEAST_TAIL_) : mass);
}

/* 1 - sum p, from the teacher's log-probabilities */
static grpo_dd grpo_distill_rest_(const grpo_distill_row_ *r) {
    grpo_dd rest = { 1, 0 };
    for (int64_t j = 0; j < r->n; j++) rest = grpo_dd_minus_(rest, grpo_exp_twice(grpo_dd_of_(grpo_distill_number_(r, j))));
    return rest;
}

/* sets both sides of a row, and the buckets; *bounded: 1 if the student's bucket has the smallest mass */
static void grpo_distill_sides_(const grpo_distill *x, const void *teacher, const int64_t *ids, int64_t row, grpo_distill_part *part,
                                int *bounded) {
    const int renormalised = ids && x->tail == GRPO_TAIL_RENORMALISED;
    const grpo_distill_row_ student = grpo_distill_student_(x, renormalised ? ids : NULL, row);
    const grpo_distill_row_ other = grpo_distill_teacher_(x, teacher, ids, row);
    grpo_dd total, mass;
    int bounded_too = 0;
    memset(part, 0, sizeof *part);
    part->student = grpo_distill_side_of_(&student, x->student.temperature, &total);
    part->teacher.temperature = 1;
    part->whole = !ids || renormalised;
    *bounded = 0;
    if (part->whole) part->teacher = grpo_distill_side_of_(&other, x->teacher_temperature, &mass);
    if (ids && x->tail == GRPO_TAIL_BUCKET) {
        grpo_dd outside = { 0, 0 };
        grpo_distill_add_powers_(&part->student, &student, ids + row * x->k, x->k, &outside);
        part->tail[0] = grpo_distill_tail_log_(grpo_dd_quotient(outside, total), bounded);
        part->tail[1] = grpo_distill_tail_log_(grpo_distill_rest_(&other), &bounded_too);
        part->whole = !*bounded && !bounded_too;
    }
    if (x->logp_min < 0) part->whole = 0;
}

/* 1 if a term of the row is clipped */
static int grpo_distill_is_clipped_(const grpo_distill *x, const grpo_distill_row_ *student, const grpo_distill_row_ *teacher,
                                    const grpo_distill_part *part, int bucket) {
    if (!(x->clip > 0)) return 0;
    for (int64_t j = 0; j < student->n; j++)
        if (!(grpo_distill_entry_of_(x, 0, grpo_distill_log_(&part->teacher, grpo_distill_number_(teacher, j)),
                                     grpo_distill_log_(&part->student, grpo_distill_number_(student, j))).term < x->clip)) return 1;
    return bucket && !(grpo_distill_entry_of_(x, 0, part->tail[1], part->tail[0]).term < x->clip);
}

/* D, clamped; fills part */
static double grpo_distill_row_divergence_(const grpo_distill *x, const void *teacher, const int64_t *ids, int64_t row,
                                           grpo_distill_part *part) {
    const grpo_distill_row_ student = grpo_distill_student_(x, ids, row), other = grpo_distill_teacher_(x, teacher, ids, row);
    grpo_dd terms = { 0, 0 }, slopes = { 0, 0 };
    grpo_distill_entry_ e;
    double divergence;
    int bounded;
    grpo_distill_sides_(x, teacher, ids, row, part, &bounded);
    if (grpo_distill_is_clipped_(x, &student, &other, part, ids && x->tail == GRPO_TAIL_BUCKET)) part->whole = 0;
    for (int64_t j = 0; j < student.n; j++) {
        e = grpo_distill_entry_of_(x, part->whole, grpo_distill_log_(&part->teacher, grpo_distill_number_(&other, j)),
                                   grpo_distill_log_(&part->student, grpo_distill_number_(&student, j)));
        grpo_dd_accumulate_(&terms, e.term);
        grpo_dd_accumulate_(&slopes, e.slope);
    }
    if (ids && x->tail == GRPO_TAIL_BUCKET) {
        e = grpo_distill_entry_of_(x, part->whole, part->tail[1], part->tail[0]);
        grpo_dd_accumulate_(&terms, e.term);
        if (!bounded) { part->tail_slope = e.slope / e.q; grpo_dd_accumulate_(&slopes, e.slope); }
    }
    part->slope = part->whole && grpo_distill_kind_of_(x) == GRPO_DISTILL_FORWARD ? 0 : slopes.hi;
    divergence = terms.hi;
    part->outside = x->divergence_max > 0 && !(divergence >= 0 && divergence <= x->divergence_max);
    return part->outside ? (divergence < 0 ? 0 : x->divergence_max) : divergence;
}

/* (slope weight)/tau, infinite only if the result is */
static double grpo_distill_scaled_(double slope, double tau, double weight) {
    const double whole = grpo_times(slope, weight);
    return grpo_is_finite(whole) && fabs(whole) >= DBL_MIN ? whole / tau : grpo_times(slope / tau, weight);
}

static void grpo_distill_put_(const grpo_logits *x, void *dlogits, int64_t at, double g, int add) {
    grpo_put_logit_(x->type, dlogits, at, add ? grpo_plus(grpo_stored_number_(x->type, dlogits, at), g) : g);
}

static void grpo_distill_row_gradient_(const grpo_distill *x, const void *teacher, const int64_t *ids, int64_t row,
                                       const grpo_distill_part *part, double weight, int add, void *dlogits) {
    const grpo_distill_row_ student = grpo_distill_student_(x, NULL, row), other = grpo_distill_teacher_(x, teacher, ids, row);
    const int renormalised = ids && x->tail == GRPO_TAIL_RENORMALISED, finite = grpo_is_finite(part->slope);
    int64_t next = 0;
    for (int64_t v = 0; v < student.n; v++) {
        const double z = grpo_distill_number_(&student, v);
        const int inside = !ids || (next < x->k && ids[row * x->k + next] == v);
        const grpo_dd log_q = grpo_distill_log_(&part->student, z);
        double g = 0, slope;
        if (z > -HUGE_VAL && !part->outside && (inside || !renormalised)) {
            const double q = grpo_exp(log_q);
            slope = inside ? grpo_distill_entry_of_(x, part->whole, grpo_distill_log_(&part->teacher,
                                                    grpo_distill_number_(&other, ids ? next : v)), log_q).slope
                           : grpo_times(q, part->tail_slope);
            if (finite) g = slope - grpo_times(q, part->slope);
            else g = slope == HUGE_VAL ? HUGE_VAL : q > 0 ? -HUGE_VAL : 0;
        }
        next += ids && inside;
        grpo_distill_put_(&x->student, dlogits, student.first + v, grpo_distill_scaled_(g, x->student.temperature, weight), add);
    }
}

/* ---- checks ------------------------------------------------------------------------------------------------------------------------ */

static int grpo_distill_counts_(const uint8_t *mask, int64_t row) { return !mask || mask[row]; }

/* the target is not needed */
static grpo_status grpo_distill_check_logits_(const grpo_logits *x) {
    const int64_t none = 0;
    grpo_logits y;
    if (!x) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_logits_);
    y = *x;
    y.target = &none;
    return grpo_check_logits_(&y);
}

/* checks the numbers of a row, which may be -inf; `some`: at least one must be finite */
static grpo_status grpo_distill_check_row_(const grpo_distill_row_ *r, int some, int place) {
    double most = -HUGE_VAL;
    for (int64_t j = 0; j < r->n; j++) {
        const double z = grpo_distill_number_(r, j);
        if (!(z < HUGE_VAL)) return grpo_status_at_(z > 0 ? GRPO_INFINITE : GRPO_NAN, place, r->first + (r->ids ? r->ids[j] : j));
        most = z > most ? z : most;
    }
    return some && most == -HUGE_VAL ? grpo_status_at_(GRPO_NONE_LEFT, place, r->first) : GRPO_OK;
}

static grpo_status grpo_distill_check_rows_(const grpo_logits *x, const uint8_t *mask) {
    grpo_status st = GRPO_OK;
    for (int64_t t = 0; !st && t < x->rows; t++) {
        const grpo_distill_row_ r = grpo_distill_row_of_(x, t);
        if (grpo_distill_counts_(mask, t)) st = grpo_distill_check_row_(&r, 1, GRPO_AT_logits_logits_);
    }
    return st;
}

/* numbers of the members of the first argument, after the student */
enum {
    GRPO_DISTILL_TEACHER_TYPE_ = 1, GRPO_DISTILL_TEACHER_STRIDE_, GRPO_DISTILL_K_, GRPO_DISTILL_TEACHER_TEMPERATURE_, GRPO_DISTILL_KIND_,
    GRPO_DISTILL_BETA_, GRPO_DISTILL_TAIL_, GRPO_DISTILL_CLIP_, GRPO_DISTILL_LOGP_MIN_, GRPO_DISTILL_DIVERGENCE_MAX_
};

static grpo_status grpo_distill_check_choices_(const grpo_distill *x) {
    if ((int)x->teacher_type < 0 || (int)x->teacher_type > (int)GRPO_LOGITS_FLOAT16)
        return grpo_refuse_(GRPO_NOT_A_CHOICE, 1, GRPO_DISTILL_TEACHER_TYPE_);
    if ((int)x->kind < 0 || (int)x->kind > (int)GRPO_DISTILL_JENSEN_SHANNON) return grpo_refuse_(GRPO_NOT_A_CHOICE, 1, GRPO_DISTILL_KIND_);
    if ((int)x->tail < 0 || (int)x->tail > (int)GRPO_TAIL_BUCKET) return grpo_refuse_(GRPO_NOT_A_CHOICE, 1, GRPO_DISTILL_TAIL_);
    return GRPO_OK;
}

static grpo_status grpo_distill_check_settings_(const grpo_distill *x, int has_ids) {
    const int as_they_are = has_ids && x->tail != GRPO_TAIL_RENORMALISED;
    const int64_t n = has_ids ? x->k : x->student.vocab;
    grpo_status st = grpo_distill_check_choices_(x);
    if (!st) st = grpo_check_member_(x->teacher_temperature, GRPO_POSITIVE_, 1, GRPO_DISTILL_TEACHER_TEMPERATURE_);
    if (!st) st = grpo_check_member_(x->beta, GRPO_PART_, 1, GRPO_DISTILL_BETA_);
    if (!st) st = grpo_check_member_(x->clip, GRPO_FACTOR_, 1, GRPO_DISTILL_CLIP_);
    if (!st) st = grpo_check_member_(x->logp_min, GRPO_MODERATE_NEGATIVE_, 1, GRPO_DISTILL_LOGP_MIN_);
    if (!st) st = grpo_check_member_(x->divergence_max, GRPO_BOUND_, 1, GRPO_DISTILL_DIVERGENCE_MAX_);
    if (st) return st;
    if (has_ids && x->k < 1) return grpo_refuse_(GRPO_NOT_POSITIVE, 1, GRPO_DISTILL_K_);
    if (x->teacher_stride < n) return grpo_refuse_(GRPO_TOO_SMALL, 1, GRPO_DISTILL_TEACHER_STRIDE_);
    if (x->teacher_stride > 0 && x->student.rows > INT64_MAX / (int64_t)sizeof(double) / x->teacher_stride)
        return grpo_refuse_(GRPO_OUT_OF_RANGE, 1, GRPO_DISTILL_TEACHER_STRIDE_);
    if (!has_ids && x->tail != GRPO_TAIL_LEFT_OUT) return grpo_refuse_both_(GRPO_COMBINATION, 1, 3, GRPO_DISTILL_TAIL_);
    if (as_they_are && x->teacher_temperature != 1) return grpo_refuse_both_(GRPO_COMBINATION, 1, 3, GRPO_DISTILL_TEACHER_TEMPERATURE_);
    if (x->logp_min < 0 && !(has_ids && x->tail == GRPO_TAIL_LEFT_OUT))
        return grpo_refuse_both_(GRPO_COMBINATION, 1, 3, GRPO_DISTILL_LOGP_MIN_);
    return GRPO_OK;
}

static grpo_status grpo_distill_check_ids_(const int64_t *ids, int64_t row, int64_t k, int64_t vocab, int ascending, int place) {
    for (int64_t j = row * k; j < (row + 1) * k; j++) {
        if (ids[j] < 0 || ids[j] >= vocab) return grpo_refuse_(GRPO_OUT_OF_RANGE, place, j);
        if (ascending && j > row * k && ids[j] <= ids[j - 1]) return grpo_refuse_(GRPO_NOT_INCREASING, place, j);
    }
    return GRPO_OK;
}

/* everything but the contents of the rows */
static grpo_status grpo_distill_check_(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask) {
    grpo_status st = grpo_check_output_(x, 1);
    if (!st) st = grpo_distill_check_logits_(&x->student);
    if (!st) st = grpo_distill_check_settings_(x, ids != NULL);
    if (!st) st = grpo_check_not_null_(teacher, x->student.rows, 2);
    for (int64_t t = 0; !st && ids && t < x->student.rows; t++)
        if (grpo_distill_counts_(mask, t)) st = grpo_distill_check_ids_(ids, t, x->k, x->student.vocab, 1, 3);
    return st;
}

static grpo_status grpo_distill_check_contents_(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask) {
    const int some = !ids || x->tail == GRPO_TAIL_RENORMALISED;
    grpo_status st = grpo_distill_check_rows_(&x->student, mask);
    for (int64_t t = 0; !st && t < x->student.rows; t++) {
        const grpo_distill_row_ student = grpo_distill_student_(x, ids, t), other = grpo_distill_teacher_(x, teacher, ids, t);
        if (!grpo_distill_counts_(mask, t)) continue;
        st = grpo_distill_check_row_(&other, some, GRPO_AT_ARGUMENT_ + 2);
        if (!st && some) st = grpo_distill_check_row_(&student, 1, GRPO_AT_logits_logits_);
    }
    return st;
}

/* ---- divergences of rows ------------------------------------------------------------------------------------------------------------ */

grpo_status grpo_distill_divergence(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
                                    grpo_distill_part *part, grpo_real *divergence) {
    grpo_status st = grpo_distill_check_(x, teacher, ids, mask);
    if (!st) st = grpo_check_not_null_(part, x->student.rows, 5);
    if (!st) st = grpo_check_not_null_(divergence, x->student.rows, 6);
    if (!st) st = grpo_distill_check_contents_(x, teacher, ids, mask);
    if (st) return st;
    GRPO_OMP_("omp parallel for schedule(guided)")
    for (int64_t t = 0; t < x->student.rows; t++) {
        int overflow;
        grpo_put_(divergence, t, grpo_distill_counts_(mask, t) ? grpo_distill_row_divergence_(x, teacher, ids, t, &part[t]) : 0, &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_distill_gradient(const grpo_distill *x, const void *teacher, const int64_t *ids, const uint8_t *mask,
                                  const grpo_distill_part *part, const grpo_real *weight, int add, void *dlogits) {
    grpo_status st = grpo_distill_check_(x, teacher, ids, mask);
    if (!st) st = grpo_check_not_null_(part, x->student.rows, 5);
    if (!st) st = grpo_check_not_null_(weight, x->student.rows, 6);
    if (!st) st = grpo_check_not_null_(dlogits, x->student.rows, 8);
    if (st) return st;
    GRPO_OMP_("omp parallel for schedule(guided)")
    for (int64_t t = 0; t < x->student.rows; t++) {
        if (grpo_distill_counts_(mask, t))
            grpo_distill_row_gradient_(x, teacher, ids, t, &part[t], (double)weight[t], add, dlogits);
        else if (!add)
            for (int64_t v = 0; v < x->student.vocab; v++) grpo_put_logit_(x->student.type, dlogits, t * x->student.stride + v, 0);
    }
    return GRPO_OK;
}

/* ---- the most probable tokens -------------------------------------------------------------------------------------------------------- */

/* 1 if token a comes before token b in descending order of the row's numbers, of equal ones the lower id first */
static int grpo_distill_before_(const grpo_distill_row_ *r, int64_t a, int64_t b) {
    const double x = grpo_distill_number_(r, a), y = grpo_distill_number_(r, b);
    return x > y || (x == y && a < b);
}

/* order of a heap of ids that has on top the one that comes last: by the row's numbers, or, without a row, the largest id */
static int grpo_distill_below_(const grpo_distill_row_ *r, int64_t a, int64_t b) { return r ? grpo_distill_before_(r, a, b) : a < b; }

static void grpo_distill_swap_(int64_t *ids, grpo_real *numbers, int64_t a, int64_t b) {
    const int64_t id = ids[a];
    ids[a] = ids[b]; ids[b] = id;
    if (numbers) { const grpo_real z = numbers[a]; numbers[a] = numbers[b]; numbers[b] = z; }
}

static void grpo_distill_sift_(const grpo_distill_row_ *r, int64_t *ids, grpo_real *numbers, int64_t n, int64_t at) {
    for (int64_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
        if (child + 1 < n && grpo_distill_below_(r, ids[child], ids[child + 1])) child++;
        if (!grpo_distill_below_(r, ids[at], ids[child])) return;
        grpo_distill_swap_(ids, numbers, at, child);
    }
}

static void grpo_distill_sort_row_(int64_t *ids, grpo_real *numbers, int64_t k) {
    for (int64_t at = k / 2; at-- > 0; ) grpo_distill_sift_(NULL, ids, numbers, k, at);
    for (int64_t n = k; n-- > 1; ) {
        grpo_distill_swap_(ids, numbers, 0, n);
        grpo_distill_sift_(NULL, ids, numbers, n, 0);
    }
}

static void grpo_distill_top_row_(const grpo_distill_row_ *r, int64_t k, int64_t *ids) {
    for (int64_t j = 0; j < k; j++) ids[j] = j;
    for (int64_t at = k / 2; at-- > 0; ) grpo_distill_sift_(r, ids, NULL, k, at);
    for (int64_t v = k; v < r->n; v++) {
        if (!grpo_distill_before_(r, v, ids[0])) continue;
        ids[0] = v;
        grpo_distill_sift_(r, ids, NULL, k, 0);
    }
    grpo_distill_sort_row_(ids, NULL, k);
}

grpo_status grpo_distill_top(const grpo_logits *x, const uint8_t *mask, int64_t k, int64_t *ids) {
    grpo_status st = grpo_distill_check_logits_(x);
    if (!st) st = grpo_check_count_(k, 1, 3);
    if (!st && k > x->vocab) st = grpo_status_between_(GRPO_CROSSED, GRPO_AT_ARGUMENT_ + 3, GRPO_AT_logits_vocab_, -1);
    if (!st) st = grpo_check_not_null_(ids, x->rows, 4);
    if (!st) st = grpo_distill_check_rows_(x, mask);
    for (int64_t t = 0; !st && t < x->rows; t++) {
        const grpo_distill_row_ r = grpo_distill_row_of_(x, t);
        if (grpo_distill_counts_(mask, t)) grpo_distill_top_row_(&r, k, ids + t * k);
    }
    return st;
}

grpo_status grpo_distill_at(const grpo_logits *x, const uint8_t *mask, const int64_t *ids, int64_t k, grpo_real *logp) {
    grpo_status st = grpo_distill_check_logits_(x);
    int overflow = 0;
    if (!st) st = grpo_check_count_(k, 1, 4);
    if (!st && x->rows > INT64_MAX / (int64_t)sizeof(double) / k) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 4, -1);
    if (!st) st = grpo_check_not_null_(ids, x->rows, 3);
    if (!st) st = grpo_check_not_null_(logp, x->rows, 5);
    for (int64_t t = 0; !st && t < x->rows; t++)
        if (grpo_distill_counts_(mask, t)) st = grpo_distill_check_ids_(ids, t, k, x->vocab, 0, 3);
    if (!st) st = grpo_distill_check_rows_(x, mask);
    for (int64_t t = 0; !st && t < x->rows; t++) {
        const grpo_distill_row_ r = grpo_distill_row_of_(x, t);
        grpo_distill_side s;
        grpo_dd total;
        if (!grpo_distill_counts_(mask, t)) continue;
        s = grpo_distill_side_of_(&r, x->temperature, &total);
        for (int64_t j = t * k; j < (t + 1) * k; j++)
            grpo_put_(logp, j, grpo_distill_log_(&s, grpo_distill_number_(&r, ids[j])).hi, &overflow);
    }
    return st;
}

grpo_status grpo_distill_sort(int64_t rows, int64_t k, int64_t *ids, grpo_real *numbers) {
    grpo_status st = grpo_check_count_(rows, 0, 1);
    if (!st) st = grpo_check_count_(k, 1, 2);
    if (!st && rows > INT64_MAX / (int64_t)sizeof(double) / k) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 1, -1);
    if (!st) st = grpo_check_not_null_(ids, rows, 3);
    if (!st) st = grpo_check_not_null_(numbers, rows, 4);
    for (int64_t t = 0; !st && t < rows; t++) grpo_distill_sort_row_(ids + t * k, numbers + t * k, k);
    return st;
}

/* ---- which responses, and how much ------------------------------------------------------------------------------------------------- */

grpo_status grpo_distill_pairs(const grpo_batch *batch, const uint8_t *correct, int64_t *teacher, int64_t *student) {
    grpo_status st = grpo_check_call_(batch, teacher, 3);
    if (!st) st = grpo_check_output_(student, 4);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    for (int64_t g = 0; !st && g < batch->n_groups; g++) {
        int64_t shortest = -1, longest = -1, fewest = 0, most = 0;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const int64_t n = grpo_unmasked_(batch, i);
            if (correct[i] && (shortest < 0 || n < fewest)) { shortest = i; fewest = n; }
            if (!correct[i] && (longest < 0 || n > most)) { longest = i; most = n; }
        }
        teacher[g] = longest < 0 ? -1 : shortest;
        student[g] = shortest < 0 ? -1 : longest;
    }
    return st;
}

grpo_status grpo_frontier_weight(const grpo_batch *batch, const uint8_t *correct, double strength, double *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    if (!st) st = grpo_check_number_(strength, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    for (int64_t g = 0; !st && g < batch->n_groups; g++) {
        double right = 0;
        const double n = (double)grpo_group_size_(batch, g);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) right += correct[i] != 0;
        weight[g] = strength * (4 * (right / n) * ((n - right) / n));
    }
    return st;
}

grpo_status grpo_distill_importance_weight(const grpo_batch *batch, double clip, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 3);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_number_(clip, GRPO_POSITIVE_BOUND_, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) {
        const grpo_dd x = grpo_two_diff((double)batch->logp[t], (double)batch->logp_old[t]);
        const double w = x.hi >= 20 ? grpo_exp(grpo_dd_of_(20)) : x.hi <= -20 ? grpo_exp(grpo_dd_of_(-20)) : grpo_exp(x);
        grpo_put_(weight, t, w < clip ? w : clip, &overflow);
    }
    return st;
}

GRPO_C_END_
#endif /* GRPO_DISTILL_IMPLEMENTATION */
