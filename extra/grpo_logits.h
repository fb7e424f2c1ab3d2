/* grpo_logits.h - from logits to the loss and to d loss/d logits, in two passes over each row.
 * An optional part of grpo.h and gspo.h.  In one source file write
 *
 *     #define GRPO_LOGITS_IMPLEMENTATION
 *     #include "extra/grpo_logits.h"
 *
 * and include it plainly elsewhere.  grpo_logits_loss and grpo_logits_loss_add call the implementation of gspo.h, which some file of the
 * program must have; the functions of rows need none. */
#ifndef GRPO_LOGITS_H
#define GRPO_LOGITS_H

#include "../gspo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_logits.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_logits grpo_logits_f64
#define grpo_logits_row_read grpo_logits_row_read_f64
#define grpo_logits_part_merge grpo_logits_part_merge_f64
#define grpo_logits_part_row grpo_logits_part_row_f64
#define grpo_logits_row_gradient grpo_logits_row_gradient_f64
#define grpo_logits_part_empty grpo_logits_part_empty_f64
#define grpo_logits_part_add grpo_logits_part_add_f64
#define grpo_logits_part_slopes grpo_logits_part_slopes_f64
#define grpo_logits_slope grpo_logits_slope_f64
#define grpo_logits_batch grpo_logits_batch_f64
#define grpo_logits_batch_read grpo_logits_batch_read_f64
#define grpo_logits_batch_gradient grpo_logits_batch_gradient_f64
#define grpo_logits_loss grpo_logits_loss_f64
#define grpo_logits_loss_add grpo_logits_loss_add_f64
#endif

GRPO_C_BEGIN_

/* ======== logits ==================================================================================================================
 * From a row of logits z (one position, the vocabulary wide) to logp and entropy, and from d loss/d logp, d loss/d entropy back to
 * d loss/d z.  With p_v = e^(z_v/tau)/sum e^(z/tau), logp = log p_target, H = -sum p log p:
 *
 *     d logp/d z_v = (1[v = target] - p_v)/tau,    d H/d z_v = -p_v (log p_v + H)/tau
 *
 * One pass over the row for each direction; only a few numbers are kept in between, and no softmax is stored.  A vocabulary may be split
 * into shards: each reads its part of the row, the parts are merged, and each writes its part of the gradient.  A logit of -inf is a banned
 * token, with p = 0 and gradient 0; so is one that `kept` leaves out.  NaN or +inf is an error.
 *
 * double elements are evaluated one by one, to 4 ulps of double.  Probabilities, and products with them, below the normal range may count
 * as 0, which adds to the error: of logp and 1 - p_target 2.3e-308, of entropy and log_sum 1.8e-305, of d z 2.3e-308 (|dlogp| + 750
 * |dentropy|)/tau + 5e-324 (1 + 1/tau).  All others are evaluated by loops that compilers vectorise, to 2 ulps of float (2^-23): logp,
 * 1 - p_target (and 2.3e-308), entropy, log_sum (and 2^-160), sum p^2, and each d z (and (2.3e-308 |dlogp| + 2^-160 |dentropy|)/tau) before
 * it is rounded to its type.  (log_sum, and d z through logp and entropy together, to such ulps of the sum of the absolute values that make
 * it up.)  Results for different shardings of a row are within twice that of each other.  The bits do not depend on calls, threads or the
 * order of rows.
 *
 * On x86-64, gcc and clang compile these loops three times: for the target of the rest of the program, for AVX2 with FMA and for AVX-512;
 * each row uses the widest that the processor has, so -O2 alone is as fast as -march=native.  A processor gives the same bits whatever
 * target the program was compiled for (if the compiler does not contract expressions: -std=c99 or -ffp-contract=off).  Processors without
 * fused multiply-adds round differently.  GRPO_NO_DISPATCH compiles the first only, a third of their code: for a compiler whose runtime
 * library cannot detect the processor, or to have the bits of baseline x86-64 everywhere. */

typedef enum {
    GRPO_LOGITS_REAL,           /* grpo_real */
    GRPO_LOGITS_BFLOAT16,       /* stored as uint16_t */
    GRPO_LOGITS_FLOAT16         /* IEEE binary16, stored as uint16_t */
} grpo_logits_type;

typedef struct {
    grpo_logits_type type;
    const void *logits;             /* (rows, stride) */
    int64_t rows, vocab, stride;    /* rows and vocabulary of this shard; elements from one row to the next */
    const int64_t *target;          /* (rows) the sampled token, relative to the shard's first; outside 0 .. vocab-1: it is in another shard
                                       (refused by grpo_logits_loss) */
    const uint8_t *kept;            /* (rows, stride) 0: the sampler had filtered the token out (top-k, top-p); if that is the target, logp
                                       is -inf; NULL: all are kept */
    double temperature;             /* tau > 0 */
    int squares;                    /* 1: compute sum_squares; 0: it is NaN, at no cost */
} grpo_logits;

/* the statistics of a row, or of a shard of one.  The target and the largest of the other logits are kept apart from the sums, so that
 * probabilities are exact near 0 and near 1; x = (z - largest)/tau. */
typedef struct {
    double largest;                 /* the largest logit but the target's; -inf: there is none */
    grpo_dd sum, spread, squares;   /* sum e^x, sum e^x x, sum e^2x over all logits except the target and `largest`; squares is NaN if not
                                       asked for */
    double target;                  /* its logit */
    int has_target;                 /* 1: it is in this shard */
} grpo_logits_part;

typedef struct {
    double logp, entropy;           /* nats */
    double log_sum;                 /* log sum e^(z/tau); -inf if all tokens of the row are banned */
    double sum_squares;             /* sum p^2 if asked for, else NaN */
    double other;                   /* 1 - p_target, without cancellation */
} grpo_logits_row;

#if defined(__CUDACC__)
#define GRPO_LOGITS_FN __host__ __device__
#else
#define GRPO_LOGITS_FN
#endif

/* one row of the shard, 0 .. rows - 1 -> part.  Parts of shards merge, in any order, into the part of the whole row; at most one of them
 * has the target */
grpo_status grpo_logits_row_read(const grpo_logits *x, int64_t row, grpo_logits_part *part);
GRPO_LOGITS_FN grpo_status grpo_logits_part_merge(grpo_logits_part *into, const grpo_logits_part *from, double temperature);
/* the part of the whole row -> its numbers; logp is -inf if the target is banned or in no shard, even if the whole row is banned */
GRPO_LOGITS_FN grpo_status grpo_logits_part_row(const grpo_logits_part *part, double temperature, grpo_logits_row *row);
/* d loss/d z of the shard's row, elements of type x->type; `part` must be that of the whole row; dlogits may be the logits' own row */
grpo_status grpo_logits_row_gradient(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp, double dentropy,
    void *dlogits);

/* the same one logit at a time, for kernels of your own (examples/cuda/): start with the empty part, add each logit z of the row, in any
 * order; merge the parts of several threads.  is_target: 1 for the sampled token.  Not checked: temperature > 0; z not NaN, not
 * +infinity */
GRPO_LOGITS_FN grpo_logits_part grpo_logits_part_empty(void);
GRPO_LOGITS_FN void grpo_logits_part_add(grpo_logits_part *part, double z, int is_target, double temperature);

/* part_slopes: coefficients of d loss/d z of a row, from the loss's derivatives dlogp and dentropy (NaN if the temperature is not > 0 and
 * finite); slope: d loss/d z of a logit from these, with x = (z - largest)/temperature: scale share e^x (at + slope x)/temperature, for the
 * target scale target/temperature */
typedef struct {
    double largest, temperature, share, at, slope, target;
    double scale;                   /* factor still to be applied to at, slope and target: a power of two, or infinity */
} grpo_logits_slopes;
GRPO_LOGITS_FN grpo_logits_slopes grpo_logits_part_slopes(const grpo_logits_part *part, double temperature, double dlogp, double dentropy);
GRPO_LOGITS_FN double grpo_logits_slope(const grpo_logits_slopes *s, double z, int is_target);

/* the logits of a batch: row t is the distribution that the token at index t was drawn from, so rows = batch.n_tokens, padded or packed as
 * the batch is.  In a causal model's output that is the row of the preceding position: a response whose first token is at position p has
 * offset p - 1, and target[t] is the token at t + 1 (examples/cpp/parts.cpp).  The arrays are the caller's, O(tokens) of them. */
typedef struct {
    grpo_logits logits;
    grpo_logits_part *part;         /* (rows) scratch */
    grpo_real *logp, *entropy;      /* (rows) written */
    void *dlogits;                  /* (rows, stride) of logits.type, d loss/d logits: written; may be logits.logits; NULL: not wanted */
} grpo_logits_batch;

/* both passes with the loss in between, logits -> loss -> d logits: grpo_loss with logp and entropy from the rows; batch.logp and
 * batch.entropy are not read.  If rows.dlogits is wanted, out.dlogp and out.dentropy must not be NULL.  Rows of masked tokens are not read,
 * and get gradient 0; rows that belong to no sequence are neither read nor written.  If the implementation is compiled with OpenMP, its
 * threads share the rows.  The bits are the same for every number of threads, order of sequences, and split into parts with the same
 * totals.  If a logit is refused, part has been written; after any other refusal nothing has. */
grpo_status grpo_logits_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_logits_batch *rows, const grpo_output *out, grpo_report *report);
grpo_status grpo_logits_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_logits_batch *rows, const grpo_output *out, grpo_partial *partial);

/* the two passes on their own, for rows first .. first + count - 1, in the calling thread: for thread pools, and if advantages or an
 * exchange between ranks come in between.  mask (rows), NULL: all rows count; rows whose mask is 0 are not read, and 0 is written.  read:
 * logits -> part, logp, entropy (the last two unless NULL); if it refuses, rows before the one at fault may have been written.  gradient:
 * part, and dlogp, dentropy (rows), NULL: 0 -> dlogits. */
grpo_status grpo_logits_batch_read(const grpo_logits_batch *rows, const uint8_t *mask, int64_t first, int64_t count);
grpo_status grpo_logits_batch_gradient(const grpo_logits_batch *rows, const uint8_t *mask, const grpo_real *dlogp,
    const grpo_real *dentropy, int64_t first, int64_t count);

GRPO_C_END_
#endif /* GRPO_LOGITS_H */

#if defined(GRPO_LOGITS_IMPLEMENTATION) && !defined(GRPO_LOGITS_IMPLEMENTED)
#define GRPO_LOGITS_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared_logits.h"
#include "grpo_shared_loops.h"

GRPO_C_BEGIN_

/* ---- logits -------------------------------------------------------------------------------------------------------------------- */

/* rescales the sums from the present largest logit to one that is `up` above it, in units of tau */
static GRPO_LOGITS_FN void grpo_row_raise_(grpo_logits_part *p, grpo_dd up) {
    double f;
    up.hi = -up.hi; up.lo = -up.lo;
    f = grpo_exp(up);
    p->spread = grpo_dd_mul(grpo_dd_add(p->spread, grpo_dd_mul(p->sum, up.hi)), f);
    p->sum = grpo_dd_mul(p->sum, f);
    p->squares = grpo_dd_mul(grpo_dd_mul(p->squares, f), f);
}

static GRPO_LOGITS_FN void grpo_row_accumulate_(grpo_logits_part *p, double z, double tau) {
    grpo_dd x;
    double e;
    if (z == -HUGE_VAL) return;
    if (p->largest == -HUGE_VAL) { p->largest = z; return; }
    if (z > p->largest) {                                              /* the old largest joins the sums */
        double old = p->largest;
        grpo_row_raise_(p, grpo_logit_exponent_(z, old, tau));
        p->largest = z;
        z = old;
    }
    x = grpo_logit_exponent_(z, p->largest, tau);
    e = grpo_exp(x);
    grpo_dd_accumulate_(&p->sum, e);
    grpo_dd_accumulate_(&p->spread, grpo_times(e, x.hi));
    grpo_dd_accumulate_(&p->squares, e * e);
}

GRPO_LOGITS_FN grpo_logits_part grpo_logits_part_empty(void) {
    const grpo_dd zero = { 0, 0 };
    grpo_logits_part p;
    p.largest = -HUGE_VAL; p.target = 0; p.has_target = 0;
    p.sum = p.spread = p.squares = zero;
    return p;
}

GRPO_LOGITS_FN void grpo_logits_part_add(grpo_logits_part *part, double z, int is_target, double temperature) {
    if (!is_target) { grpo_row_accumulate_(part, z, temperature); return; }
    part->target = z;
    part->has_target = 1;
}

static grpo_status grpo_check_row_of_logits_(const grpo_logits *x, int64_t row) {
    const grpo_status st = grpo_check_logits_(x);
    return st || (row >= 0 && row < x->rows) ? st : GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 2, -1);
}

/* ---- logits, a block at a time: around the loops of grpo_shared_loops.h -------------------------------------------------------------- */

static int grpo_is_fast_(const grpo_logits *x) {
    return (sizeof(grpo_real) == sizeof(float) || x->type != GRPO_LOGITS_REAL) && x->temperature > 1e-4 && x->temperature < 1e4;
}

/* makes powers relative to 2^top; h = tau ln 2 */
static GRPO_LOGITS_FN void grpo_exps_set_top_(grpo_exps_ *k, float top, double h) {
    k->top = top;
    k->shift = 12582912.0f + (191 - top);
    k->least = (float)(((double)top - 191) * h);
}

static GRPO_LOGITS_FN void grpo_exps_from_(grpo_exps_ *k, double tau, double largest) {
    const double h = tau * 0.69314718055994531, n = largest / h;
    int e;
    (void)frexp(h, &e);
    k->origin = 0;
    if (!(n >= -512 && n <= 512)) {
        const double unit = ldexp(1.0, e), few = floor(largest / unit + 0.5);
        k->origin = (float)(few > -8388608 && few < 8388608 ? few * unit : largest);
    }
    k->from = (float)(largest - (double)k->origin);
    grpo_exps_set_top_(k, (float)ceil((double)k->from / h), h);
}

static GRPO_LOGITS_FN grpo_exps_ grpo_exps_of_(double tau) {
    const double h = tau * 0.69314718055994531, per = 1 / h;
    grpo_exps_ k;
    k.per = (float)per;
    k.h1 = grpo_float_of_bits_(grpo_bits_of_float_((float)h) & 0xfffffc00);
    k.h2 = (float)(h - (double)k.h1);
    k.b1 = (float)(per * 0.693147228156);
    k.b2 = (float)(per * per * 0.24022651108);
    k.b3 = (float)(per * per * per * 0.0555029269622);
    k.b4 = (float)(per * per * (per * per) * 0.00961802678505);
    k.b5 = (float)(per * per * (per * per) * per * 0.00134115411451);
    k.b6 = (float)(per * per * (per * per) * (per * per) * 0.000154710651778);
    grpo_exps_from_(&k, tau, 0);
    return k;
}

/* accumulators of a shard's row: sums in lanes, in the units of k, without the largest logit itself */
typedef struct {
    const grpo_row_loops_ *loops;
    grpo_exps_ k;
    grpo_lanes_ lanes;
    double tau;
    float largest;
    int squares;
} grpo_tally_;

/* (z - R)/tau - N log 2 */
static GRPO_LOGITS_FN double grpo_exps_log_(const grpo_exps_ *k, double tau, double z) {
    return (z - (double)k->origin) / tau - (double)k->top * 0.69314718055994531;
}

/* takes a new largest logit: rescales the sums to it, and adds the old one to them */
static void grpo_tally_raise_(grpo_tally_ *s, float largest) {
    const grpo_exps_ old = s->k;
    const double up = (double)largest - (double)s->largest;
    double f, own;
    grpo_exps_from_(&s->k, s->tau, (double)largest);
    if (s->largest > -HUGE_VALF) {
        f = exp(grpo_exps_log_(&s->k, s->tau, (double)s->largest));    /* of the old largest, from both */
        own = ldexp(f, 64);
        f /= exp(grpo_exps_log_(&old, s->tau, (double)s->largest));
        for (int j = 0; j < GRPO_ROW_LANES_; j++) {
            s->lanes.spread[j] = f * (s->lanes.spread[j] - up * s->lanes.sum[j]);
            s->lanes.sum[j] *= f;
            s->lanes.squares[j] *= f * f;
        }
        s->lanes.sum[0] += own;
        s->lanes.spread[0] -= own > 0 ? own * up : 0;
        s->lanes.squares[0] += ldexp(own, -64) * ldexp(own, -64);
    }
    s->largest = largest;
}

static float grpo_tally_sums_(const grpo_tally_ *s, const float *z, int64_t size, grpo_lanes_ *out) {
    if (s->squares) return s->loops->sums_squared(z, size, &s->k, out);
    return s->k.origin == 0 ? s->loops->sums(z, size, &s->k, out) : s->loops->sums_off(z, size, &s->k, out);
}

/* adds `size` logits, z, which is in the row or is `copy`; if they have a new largest one, the block is summed again without it */
static void grpo_tally_block_(grpo_tally_ *s, const float *z, int64_t size, float *copy) {
    grpo_lanes_ block;
    float most = s->largest == -HUGE_VALF ? s->loops->largest(z, size) : -HUGE_VALF;
    int64_t v = 0;
    if (!(most > s->largest)) most = grpo_tally_sums_(s, z, size, &block);
    if (most > s->largest) {
        grpo_tally_raise_(s, most);
        if (z != copy) memcpy(copy, z, (size_t)size * sizeof *copy);
        while (copy[v] != most) v++;
        copy[v] = -HUGE_VALF;
        grpo_tally_sums_(s, copy, size, &block);
    }
    for (int j = 0; j < GRPO_ROW_LANES_; j++) {
        s->lanes.sum[j] += block.sum[j];
        s->lanes.spread[j] += block.spread[j];
        s->lanes.squares[j] += block.squares[j];
    }
}

/* returns n logits of the row from `at` on: a pointer into the row if it is a whole block of floats of which all are kept, else `copy`,
 * converted, with -inf where not kept and as padding up to a multiple of GRPO_STEP_ */
static const float *grpo_block_of_(const grpo_row_loops_ *loops, const grpo_logits *x, int64_t row, int64_t at, int64_t n, float *copy) {
    const int64_t first = row * x->stride + at;
    if (x->type == GRPO_LOGITS_REAL && !x->kept && n == GRPO_ROW_BLOCK_) return (const float *)x->logits + first;
    if (x->type == GRPO_LOGITS_BFLOAT16) loops->of_bfloats((const uint16_t *)x->logits + first, n, copy);
    else if (x->type == GRPO_LOGITS_FLOAT16) loops->of_halves((const uint16_t *)x->logits + first, n, copy);
    else memcpy(copy, (const float *)x->logits + first, (size_t)n * sizeof *copy);
    if (x->kept) loops->keep(x->kept + first, n, copy);
    for (int64_t v = n; v % GRPO_STEP_ != 0; v++) copy[v] = -HUGE_VALF;
    return copy;
}

static int64_t grpo_block_size_(const grpo_logits *x, int64_t at) {
    const int64_t rest = x->vocab - at, whole = GRPO_ROW_BLOCK_;
    return rest < whole ? rest : whole;
}

static int64_t grpo_steps_(int64_t n) { return (n + GRPO_STEP_ - 1) / GRPO_STEP_ * GRPO_STEP_; }

static double grpo_lanes_total_(const double *x) {
    double sum = 0;
    for (int j = 0; j < GRPO_ROW_LANES_; j++) sum += x[j];
    return sum;
}

/* the row's part, with sums relative to the largest logit; NaN if a logit was */
static void grpo_tally_part_(const grpo_tally_ *s, grpo_logits_part *p) {
    double f;
    p->largest = (double)s->largest;
    if (s->largest == -HUGE_VALF) { p->sum.hi = grpo_lanes_total_(s->lanes.sum); return; }
    f = ldexp(exp(-grpo_exps_log_(&s->k, s->tau, (double)s->largest)), -64);
    p->sum.hi = f * grpo_lanes_total_(s->lanes.sum);
    p->spread.hi = f * grpo_lanes_total_(s->lanes.spread) / s->tau;
    if (s->squares) p->squares.hi = ldexp(f, 64) * ldexp(f, 64) * grpo_lanes_total_(s->lanes.squares);
}

/* returns 0 if there is a NaN or an infinity */
static int grpo_row_read_fast_(const grpo_logits *x, int64_t row, grpo_logits_part *part) {
    const int64_t target = x->target[row];
    float copy[GRPO_ROW_BLOCK_];
    grpo_tally_ s;
    int64_t n;
    memset(&s, 0, sizeof s);
    s.loops = grpo_row_loops_of_(GRPO_INSTRUCTIONS_());
    s.k = grpo_exps_of_(x->temperature);
    s.tau = x->temperature;
    s.squares = x->squares;
    s.largest = -HUGE_VALF;
    for (int64_t at = 0; at < x->vocab; at += n) {
        const float *z;
        n = grpo_block_size_(x, at);
        z = grpo_block_of_(s.loops, x, row, at, n, copy);
        if (target >= at && target < at + n) {
            if (z != copy) memcpy(copy, z, sizeof copy);
            part->target = (double)copy[target - at];
            part->has_target = 1;
            if (!(part->target < HUGE_VAL)) return 0;
            copy[target - at] = -HUGE_VALF;
            z = copy;
        }
        grpo_tally_block_(&s, z, grpo_steps_(n), copy);
        if (s.largest == HUGE_VALF) return 0;
    }
    grpo_tally_part_(&s, part);
    return part->sum.hi == part->sum.hi;
}

static void grpo_put_block_(const grpo_row_loops_ *loops, grpo_logits_type type, const float *g, void *out, int64_t at, int64_t n) {
    if (type == GRPO_LOGITS_BFLOAT16) loops->to_bfloats(g, n, (uint16_t *)out + at);
    else if (type == GRPO_LOGITS_FLOAT16) loops->to_halves(g, n, (uint16_t *)out + at);
    else memcpy((float *)out + at, g, (size_t)n * sizeof *g);
}

/* folds `at` into the polynomial of the powers; c is for powers multiplied by 2^a, with a such that `at` 2^-a is about 2^-24 and the
 * smallest float still comes from a power that is not 0.  Returns 1 with `at` 2^-a in two floats, 0 if it is too large for that */
static GRPO_LOGITS_FN int grpo_fold_(grpo_exps_ *k, double tau, double at, grpo_powers_ *c) {
    int a;
    (void)frexp(at, &a);
    a = a + 24 > 0 ? 0 : a + 24 < -191 ? -191 : a + 24;
    at = ldexp(at, -a);
    if (!(fabs(at) < 1e18 && fabs(at) * (double)k->b6 < 3e38)) return 0;
    k->shift += (float)a;
    k->least = (float)(((double)k->top - 191 - a) * tau * 0.69314718055994531);
    c->high = (float)at;
    c->low = (float)(at - (double)c->high);
    c->c1 = (float)(at * (double)k->b1); c->c2 = (float)(at * (double)k->b2); c->c3 = (float)(at * (double)k->b3);
    c->c4 = (float)(at * (double)k->b4); c->c5 = (float)(at * (double)k->b5); c->c6 = (float)(at * (double)k->b6);
    return 1;
}

/* 1 if a gradient may be a float above 0 although its power, below 2^-190 of the largest, counts as 0.  1000 is more than |log p + H| can
 * be where that is so; `by` has the factor 2^-64 of the powers, so that 2^-30 is 2^-156 at most for such a power, below the least float */
static int grpo_slope_is_steep_(grpo_slope_ by, double tau) { return fabs(by.at) + 1000 * tau * fabs(by.slope) > ldexp(1.0, -30); }

/* evaluates one by one the gradients whose power counts as 0 */
static void grpo_row_steep_(const float *z, int64_t n, const grpo_logits_slopes *s, float *g) {
    for (int64_t v = 0; v < n; v++)
        if (g[v] == 0 && z[v] > -HUGE_VALF) g[v] = (float)grpo_logits_slope(s, (double)z[v], 0);
}

static void grpo_row_gradient_fast_(const grpo_logits *x, int64_t row, const grpo_logits_slopes *s, void *dlogits) {
    const double tau = x->temperature, most = s->largest > -HUGE_VAL ? s->largest : 0;
    const grpo_row_loops_ *loops = grpo_row_loops_of_(GRPO_INSTRUCTIONS_());
    float copy[GRPO_ROW_BLOCK_], own[GRPO_ROW_BLOCK_], *out = x->type == GRPO_LOGITS_REAL ? (float *)dlogits : NULL;
    grpo_powers_ c;
    grpo_exps_ k = grpo_exps_of_(tau);
    grpo_slope_ by;
    int64_t n;
    double unit;
    int folded, steep;
    grpo_exps_from_(&k, tau, most);
    unit = ldexp(s->share * exp(-grpo_exps_log_(&k, tau, most)) / tau, -64);
    by.at = s->at * unit;
    by.slope = s->slope * (unit / tau);
    steep = grpo_slope_is_steep_(by, tau);
    folded = by.slope == 0 && grpo_fold_(&k, tau, by.at, &c);
    for (int64_t at = 0; at < x->vocab; at += n) {
        const float *z;
        float *g = own;
        n = grpo_block_size_(x, at);
        z = grpo_block_of_(loops, x, row, at, n, copy);
        if (out && n == GRPO_ROW_BLOCK_ && z != out + at) g = out + at;
        if (folded) loops->powers(z, grpo_steps_(n), &k, &c, g);
        else loops->slopes(z, grpo_steps_(n), &k, by, g);
        if (steep) grpo_row_steep_(z, n, s, g);
        if (g == own) grpo_put_block_(loops, x->type, g, dlogits, at, n);
    }
}

/* ---- a row ---------------------------------------------------------------------------------------------------------------------- */

/* the same sums one by one, exactly: for doubles, and for very large or small temperatures */
static int grpo_row_read_each_(const grpo_logits *x, int64_t row, grpo_logits_part *p) {
    for (int64_t v = 0; v < x->vocab; v++) {
        const double z = grpo_logit_(x, row, v);
        if (!(z < HUGE_VAL)) return 0;
        grpo_logits_part_add(p, z, v == x->target[row], x->temperature);
    }
    return 1;
}

/* the status for a row with a NaN or +infinity */
static grpo_status grpo_refuse_row_(const grpo_logits *x, int64_t row) {
    int64_t v = 0;
    while (v < x->vocab - 1 && grpo_logit_(x, row, v) < HUGE_VAL) v++;
    return grpo_status_at_(grpo_logit_(x, row, v) > 0 ? GRPO_INFINITE : GRPO_NAN, GRPO_AT_logits_logits_, row * x->stride + v);
}

grpo_status grpo_logits_row_read(const grpo_logits *x, int64_t row, grpo_logits_part *part) {
    grpo_logits_part p;
    grpo_status st = grpo_check_row_of_logits_(x, row);
    if (st) return st;
    if (!part) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 3, -1);
    memset(&p, 0, sizeof p);
    p = grpo_logits_part_empty();
    if (!(grpo_is_fast_(x) ? grpo_row_read_fast_(x, row, &p) : grpo_row_read_each_(x, row, &p))) return grpo_refuse_row_(x, row);
    if (!x->squares) p.squares = grpo_dd_of_(GRPO_NAN_);
    *part = p;
    return GRPO_OK;
}

GRPO_LOGITS_FN grpo_status grpo_logits_part_merge(grpo_logits_part *into, const grpo_logits_part *from, double temperature) {
    grpo_logits_part low;
    int squares;
    const grpo_rule rule = grpo_rule_of_temperature_(temperature);
    if (!into) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 1, -1);
    if (!from) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 2, -1);
    if (rule) return GRPO_STATUS_ARGUMENT_(rule, 3, -1);
    if (into->has_target && from->has_target)
        return GRPO_STATUS_ARGUMENT_(GRPO_COMBINATION, 2, -1) | (grpo_status)(GRPO_AT_ARGUMENT_ + 1) << 18;
    low = *from;
    squares = low.squares.hi == low.squares.hi && into->squares.hi == into->squares.hi;
    if (low.largest > into->largest) { grpo_logits_part high = low; low = *into; *into = high; }
    if (low.has_target) { into->target = low.target; into->has_target = 1; }
    if (!squares) into->squares.hi = GRPO_NAN_;
    if (low.largest == -HUGE_VAL) return GRPO_OK;
    grpo_row_raise_(&low, grpo_logit_exponent_(into->largest, low.largest, temperature));
    into->sum = grpo_dd_add(into->sum, low.sum);
    into->spread = grpo_dd_add(into->spread, low.spread);
    into->squares = grpo_dd_add(into->squares, low.squares);
    grpo_row_accumulate_(into, low.largest, temperature);
    if (!squares) into->squares.hi = GRPO_NAN_;                              /* which the sums above have set to 0 */
    return GRPO_OK;
}

/* (sum of the others)/(the target's), its reciprocal, and its logarithm */
typedef struct { double ratio, inverse, log; } grpo_odds_;

static GRPO_LOGITS_FN grpo_odds_ grpo_row_odds_(const grpo_logits_part *p, double tau) {
    grpo_odds_ o = { 0, HUGE_VAL, -HUGE_VAL }, all = { HUGE_VAL, 0, HUGE_VAL };
    const double rest = 1 + p->sum.hi;
    grpo_dd d;
    if (!p->has_target || p->target == -HUGE_VAL) return all;
    if (p->largest == -HUGE_VAL) return o;
    d = grpo_logit_exponent_(p->largest, p->target, tau);
    o.log = d.hi + log1p(p->sum.hi);
    o.ratio = grpo_exp(d) * rest;
    d.hi = -d.hi; d.lo = -d.lo;
    o.inverse = grpo_exp(d) / rest;
    return o;
}

/* log(1 + ratio), log(1 + inverse); from `log`, where cancellation is possible, only if the ratio nearly or really overflows */
static GRPO_LOGITS_FN double grpo_log_all_(const grpo_odds_ *o) { return o->ratio <= 1e300 ? log1p(o->ratio) : o->log + log1p(o->inverse); }
static GRPO_LOGITS_FN double grpo_log_all_inverse_(const grpo_odds_ *o) {
    return o->inverse <= 1e300 ? log1p(o->inverse) : -o->log + log1p(o->ratio);
}

GRPO_LOGITS_FN grpo_status grpo_logits_part_row(const grpo_logits_part *part, double temperature, grpo_logits_row *row) {
    grpo_odds_ o;
    double rest, target, others;
    const grpo_rule rule = grpo_rule_of_temperature_(temperature);
    if (!part) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 1, -1);
    if (rule) return GRPO_STATUS_ARGUMENT_(rule, 2, -1);
    if (!row) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 3, -1);
    o = grpo_row_odds_(part, temperature);
    rest = 1 + part->sum.hi;                                           /* the others' sum, relative to their largest */
    target = 1 / (1 + o.ratio);
    row->other = 1 / (1 + o.inverse);
    row->logp = -grpo_log_all_(&o);
    row->entropy = grpo_times(target, -row->logp);
    if (row->other > 0) row->entropy += row->other * (log1p(part->sum.hi) - part->spread.hi / rest + grpo_log_all_inverse_(&o));
    row->log_sum = -HUGE_VAL;
    if (row->other > 0.5) row->log_sum = part->largest / temperature + (log1p(part->sum.hi) + grpo_log_all_inverse_(&o));
    else if (part->has_target) row->log_sum = part->target / temperature + grpo_log_all_(&o);
    others = part->largest > -HUGE_VAL ? row->other : 0;               /* there may be no other token at all */
    row->sum_squares = target * target + others * others * ((1 + part->squares.hi) / (rest * rest));
    return GRPO_OK;
}

/* scales the derivatives by 2^-64 if they are so large that an intermediate result could overflow; returns the factor that undoes it.  If
 * one is infinite, only signs are known: infinite ones count as equally large, finite ones as 0, and the factor is infinite */
static GRPO_LOGITS_FN double grpo_row_scale_(double *dlogp, double *dentropy) {
    const double most = fabs(*dlogp) > fabs(*dentropy) ? fabs(*dlogp) : fabs(*dentropy);
    if (most < 1e270) return 1;
    if (grpo_is_finite(most)) {
        *dlogp *= 1.0 / 18446744073709551616.0;
        *dentropy *= 1.0 / 18446744073709551616.0;
        return 18446744073709551616.0;
    }
    *dlogp = grpo_is_finite(*dlogp) ? 0 : *dlogp > 0 ? 1 : -1;
    *dentropy = grpo_is_finite(*dentropy) ? 0 : *dentropy > 0 ? 1 : -1;
    return HUGE_VAL;
}

GRPO_LOGITS_FN grpo_logits_slopes grpo_logits_part_slopes(const grpo_logits_part *part, double temperature, double dlogp, double dentropy) {
    grpo_odds_ odds;
    grpo_logits_slopes s;
    grpo_logits_row r;
    if (grpo_logits_part_row(part, temperature, &r)) {
        s.largest = s.temperature = s.share = s.at = s.slope = s.target = s.scale = GRPO_NAN_;
        return s;
    }
    odds = grpo_row_odds_(part, temperature);
    s.scale = grpo_row_scale_(&dlogp, &dentropy);
    s.largest = part->largest; s.temperature = temperature;
    s.at = s.slope = 0;
    s.share = part->largest > -HUGE_VAL ? r.other / (1 + part->sum.hi) : 0;     /* probability of the largest of the others */
    if (s.share > 0) {                                                 /* log p + H: its constant part, and its slope */
        s.at = -dlogp - grpo_times(dentropy, r.entropy - grpo_log_all_inverse_(&odds) - log1p(part->sum.hi));
        s.slope = -dentropy;
    }
    s.target = grpo_times(dlogp, r.other) - grpo_times(dentropy, grpo_times(1 / (1 + odds.ratio), r.logp + r.entropy));
    if (part->target == -HUGE_VAL) s.target = 0;
    return s;
}

/* x scale/temperature, infinite only if the result is */
static GRPO_LOGITS_FN double grpo_row_unscaled_(const grpo_logits_slopes *s, double x) {
    const double whole = grpo_times(x, s->scale);
    return grpo_is_finite(whole) ? whole / s->temperature : grpo_times(x / s->temperature, s->scale);
}

GRPO_LOGITS_FN double grpo_logits_slope(const grpo_logits_slopes *s, double z, int is_target) {
    grpo_dd e;
    double p;
    if (is_target) return grpo_row_unscaled_(s, s->target);
    if (z == -HUGE_VAL) return 0;
    e = grpo_logit_exponent_(z, s->largest, s->temperature);
    p = grpo_exp(e) * s->share;
    return grpo_row_unscaled_(s, grpo_times(p, s->at) + grpo_times(p, grpo_times(s->slope, e.hi)));
}

static void grpo_row_gradient_each_(const grpo_logits *x, int64_t row, const grpo_logits_slopes *s, void *dlogits) {
    for (int64_t v = 0; v < x->vocab; v++) grpo_put_logit_(x->type, dlogits, v, grpo_logits_slope(s, grpo_logit_(x, row, v), 0));
}

/* the largest finite number of the type, or slightly less */
static double grpo_row_limit_(grpo_logits_type type) {
    switch (type) {
    case GRPO_LOGITS_BFLOAT16: return 3.3e38;
    case GRPO_LOGITS_FLOAT16:  return 65504;
    default:                return sizeof(grpo_real) == sizeof(float) ? 3.4e38 : 1.7e308;
    }
}

/* 1 if a gradient may exceed that.  p is at most `share`, p |log p - log share| at most share/e. */
static int grpo_row_may_overflow_(const grpo_logits *x, const grpo_logits_slopes *s) {
    const double most = s->share * (fabs(s->at) + fabs(s->slope)) + fabs(s->target);
    return !(grpo_row_unscaled_(s, most) < grpo_row_limit_(x->type));
}

static int grpo_row_has_infinity_(const grpo_logits *x, const void *dlogits) {
    grpo_logits g = *x;
    g.logits = dlogits; g.kept = NULL;
    for (int64_t v = 0; v < x->vocab; v++) if (!grpo_is_finite(grpo_logit_(&g, 0, v))) return 1;
    return 0;
}

/* grpo_logits_row_gradient; sets *overflow if a gradient exceeds the largest number of its type */
static grpo_status grpo_row_gradient_(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp, double dentropy,
                                      void *dlogits, int *overflow) {
    grpo_logits_slopes s;
    grpo_status st = grpo_check_row_of_logits_(x, row);
    if (st) return st;
    if (!part) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 3, -1);
    if (!dlogits) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 6, -1);
    s = grpo_logits_part_slopes(part, x->temperature, dlogp, dentropy);
    if (s.at == 0 && s.slope == 0) memset(dlogits, 0, (size_t)x->vocab * grpo_element_size_(x->type));
    else if (grpo_is_fast_(x) && s.scale == 1 && fabs(s.at) < 1e150 && fabs(s.slope) < 1e150) grpo_row_gradient_fast_(x, row, &s, dlogits);
    else grpo_row_gradient_each_(x, row, &s, dlogits);
    if (x->target[row] >= 0 && x->target[row] < x->vocab) grpo_put_logit_(x->type, dlogits, x->target[row], grpo_logits_slope(&s, 0, 1));
    if (grpo_row_may_overflow_(x, &s) && grpo_row_has_infinity_(x, dlogits)) *overflow = 1;
    return GRPO_OK;
}

grpo_status grpo_logits_row_gradient(const grpo_logits *x, int64_t row, const grpo_logits_part *part, double dlogp, double dentropy,
    void *dlogits) {
    int overflow;
    return grpo_row_gradient_(x, row, part, dlogp, dentropy, dlogits, &overflow);
}

/* ---- the rows of a batch ------------------------------------------------------------------------------------------------------------ */

static void *grpo_row_at_(const grpo_logits_batch *rows, int64_t row) {
    return (char *)rows->dlogits + (size_t)(row * rows->logits.stride) * grpo_element_size_(rows->logits.type);
}

/* x[t], or 0 for NULL: no derivative */
static double grpo_real_at_(const grpo_real *x, int64_t t) { return x ? (double)x[t] : 0; }

static grpo_status grpo_check_rows_there_(const grpo_logits_batch *rows) {
    if (!rows) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_);
    return rows->part ? grpo_check_logits_(&rows->logits) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_part_);
}

/* checks rows first .. first + count - 1; first is argument `place`, count the next */
static grpo_status grpo_check_range_(const grpo_logits_batch *rows, int64_t first, int64_t count, int place) {
    const grpo_status st = grpo_check_rows_there_(rows);
    if (st) return st;
    if (first < 0) return GRPO_STATUS_ARGUMENT_(GRPO_NEGATIVE, place, -1);
    if (count < 0) return GRPO_STATUS_ARGUMENT_(GRPO_NEGATIVE, place + 1, -1);
    if (first > rows->logits.rows) return grpo_status_between_(GRPO_PAST_END, GRPO_AT_ARGUMENT_ + place, GRPO_AT_logits_rows_, -1);
    return count <= rows->logits.rows - first ? GRPO_OK
        : grpo_status_between_(GRPO_PAST_END, GRPO_AT_ARGUMENT_ + place + 1, GRPO_AT_logits_rows_, -1);
}

static void grpo_write_row_(const grpo_logits_batch *rows, int64_t t, const grpo_logits_row *r) {
    int overflow;
    if (rows->logp) grpo_put_(rows->logp, t, r ? r->logp : 0, &overflow);
    if (rows->entropy) grpo_put_(rows->entropy, t, r ? r->entropy : 0, &overflow);
}

grpo_status grpo_logits_batch_read(const grpo_logits_batch *rows, const uint8_t *mask, int64_t first, int64_t count) {
    grpo_status st = grpo_check_range_(rows, first, count, 3);
    grpo_logits_row r;
    for (int64_t t = first; !st && t < first + count; t++) {
        if (mask && !mask[t]) { grpo_write_row_(rows, t, NULL); continue; }
        st = grpo_logits_row_read(&rows->logits, t, &rows->part[t]);
        if (!st) st = grpo_logits_part_row(&rows->part[t], rows->logits.temperature, &r);
        if (!st) grpo_write_row_(rows, t, &r);
    }
    return st;
}

static void grpo_clear_row_(const grpo_logits_batch *rows, int64_t t) {
    memset(grpo_row_at_(rows, t), 0, (size_t)rows->logits.vocab * grpo_element_size_(rows->logits.type));
}

grpo_status grpo_logits_batch_gradient(const grpo_logits_batch *rows, const uint8_t *mask, const grpo_real *dlogp,
    const grpo_real *dentropy, int64_t first, int64_t count) {
    grpo_status st = grpo_check_range_(rows, first, count, 5);
    if (!st && !rows->dlogits) st = GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_dlogits_);
    for (int64_t t = first; !st && t < first + count; t++) {
        if (mask && !mask[t]) grpo_clear_row_(rows, t);
        else st = grpo_logits_row_gradient(&rows->logits, t, &rows->part[t], grpo_real_at_(dlogp, t), grpo_real_at_(dentropy, t),
                                    grpo_row_at_(rows, t));
    }
    return st;
}

/* part.has_target holds what to do with a row, until it is read */
enum { GRPO_ROW_OF_NONE_ = -3, GRPO_ROW_MASKED_ = -2, GRPO_ROW_COUNTS_ = -1 };

static grpo_status grpo_mark_rows_(const grpo_batch *b, const grpo_logits_batch *rows) {
    const grpo_logits *x = &rows->logits;
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (grpo_is_unmasked_(b, t) && !(x->target[t] >= 0 && x->target[t] < x->vocab))
                return grpo_status_at_(GRPO_OUT_OF_RANGE, GRPO_AT_logits_target_, t);
    for (int64_t t = 0; t < x->rows; t++) rows->part[t].has_target = GRPO_ROW_OF_NONE_;
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            rows->part[t].has_target = grpo_is_unmasked_(b, t) ? GRPO_ROW_COUNTS_ : GRPO_ROW_MASKED_;
    return GRPO_OK;
}

static grpo_status grpo_read_marked_(const grpo_logits_batch *rows) {
    const int64_t n = rows->logits.rows;
    int bad = 0;
    GRPO_OMP_("omp parallel for schedule(guided) reduction(|:bad)")
    for (int64_t t = 0; t < n; t++)
        if (rows->part[t].has_target == GRPO_ROW_COUNTS_) bad |= grpo_logits_row_read(&rows->logits, t, &rows->part[t]) != GRPO_OK;
    for (int64_t t = 0; bad && t < n; t++) if (rows->part[t].has_target == GRPO_ROW_COUNTS_) return grpo_refuse_row_(&rows->logits, t);
    GRPO_OMP_("omp parallel for schedule(static)")
    for (int64_t t = 0; t < n; t++) {
        grpo_logits_row r;
        if (rows->part[t].has_target == GRPO_ROW_MASKED_) grpo_write_row_(rows, t, NULL);
        if (rows->part[t].has_target < 0) continue;
        grpo_logits_part_row(&rows->part[t], rows->logits.temperature, &r);
        grpo_write_row_(rows, t, &r);
    }
    return GRPO_OK;
}

/* returns 1 if a gradient exceeds the largest number of its type */
static int grpo_differentiate_marked_(const grpo_logits_batch *rows, const grpo_output *out) {
    const int64_t n = rows->logits.rows;
    int overflow = 0;
    GRPO_OMP_("omp parallel for schedule(guided) reduction(|:overflow)")
    for (int64_t t = 0; t < n; t++) {
        const grpo_logits_part *p = &rows->part[t];
        if (p->has_target == GRPO_ROW_MASKED_) grpo_clear_row_(rows, t);
        if (p->has_target < 0) continue;
        grpo_row_gradient_(&rows->logits, t, p, (double)out->dlogp[t], (double)out->dentropy[t], grpo_row_at_(rows, t), &overflow);
    }
    return overflow;
}

/* all checks but those of the logits */
static grpo_status grpo_check_rows_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                    const grpo_totals *totals, const grpo_logits_batch *rows, const grpo_output *out,
                                        const grpo_partial *partial) {
    grpo_status st = gspo_loss_check(obj, batch, advantage, totals, out, partial);
    if (!st) st = grpo_check_rows_there_(rows);
    if (st) return st;
    if (!rows->logp) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_logp_);
    if (!rows->entropy) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_entropy_);
    if (rows->dlogits && !(out && out->dlogp)) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_dlogp_);
    if (rows->dlogits && !out->dentropy) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_dentropy_);
    return rows->logits.rows == batch->n_tokens ? GRPO_OK
        : grpo_status_between_(GRPO_COMBINATION, GRPO_AT_logits_rows_, GRPO_AT_n_tokens_, -1);
}

grpo_status grpo_logits_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_logits_batch *rows, const grpo_output *out, grpo_partial *partial) {
    grpo_status st = grpo_check_rows_(obj, batch, advantage, totals, rows, out, partial);
    grpo_batch b;
    if (!st && !partial) st = GRPO_STATUS_(GRPO_NULL, GRPO_AT_partial_);
    if (!st) st = grpo_mark_rows_(batch, rows);
    if (!st) st = grpo_read_marked_(rows);
    if (st) return st;
    b = *batch;
    b.logp = rows->logp; b.entropy = rows->entropy;
    st = gspo_loss_add(obj, &b, advantage, totals, out, partial);
    if (!st && rows->dlogits) partial->overflow |= grpo_differentiate_marked_(rows, out);
    return st;
}

grpo_status grpo_logits_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_logits_batch *rows, const grpo_output *out, grpo_report *report) {
    grpo_partial partial;
    grpo_status st;
    memset(&partial, 0, sizeof partial);
    if (!report) return obj ? GRPO_STATUS_(GRPO_NULL, GRPO_AT_report_) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    st = grpo_logits_loss_add(obj, batch, advantage, totals, rows, out, &partial);
    if (!st) grpo_partial_report(&partial, report);
    return st;
}

GRPO_C_END_
#endif /* GRPO_LOGITS_IMPLEMENTATION */
