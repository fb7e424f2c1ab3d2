/* Rows of logits: log-probability, entropy and gradient against a slow evaluation in long double.  Rows of double are scalar; float,
 * bfloat16 and binary16 use vectors, tested with each instruction set that the processor has, and on a GPU (rows_on_gpu.h).  Errors are in
 * units of 2^-52 or 2^-23 of the exact value; for log-sum and for gradients by logp and entropy together of their scale, the sum of the
 * absolute values of the terms. */
static int instructions;                /* index of the instruction set */
#ifdef ROWS_ON_GPU                      /* implementation: rows_on_gpu.cu; the eight numbers of a float sum are adjacent */
#include "../../extra/grpo_logits.h"
enum { LANES = 1 };
#else
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#define GRPO_INSTRUCTIONS_() ((grpo_instructions_)instructions)
#include "../../extra/grpo_logits.h"
enum { LANES = GRPO_ROW_LANES_ };
#endif
#include "rows_on_gpu.h"
#include "../support/check.h"
#include "../support/random_batch.h"
#define GRPO_MESSAGES_IMPLEMENTATION
#include "../../extra/grpo_messages.h"
#include "sixteen_bits.h"
#include "../support/status.h"
#include <stdlib.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { MOST = 1000000 };
typedef struct { long double logp, entropy, log_sum, sum_squares, size, other; } exact_row;
typedef struct {
    grpo_logits_type type;
    int n, target;
    double tau;
    double z[MOST];                     /* -inf where not kept, and ... */
    union { float real[MOST]; double twice[MOST]; uint16_t half[MOST]; } element;      /* ... the same as elements of the type */
    int masked;
    uint8_t kept[MOST];
} sample;

static const char *const name[] = { "the compiler's own", "AVX2", "AVX-512" };

/* the worst errors: [0] scalar, [1] vectors */
static struct { double logp, entropy, log_sum, squares, gradient, plain_gradient, cut, other; } worst[2];

static int by_vectors(const sample *s) { return s->type != GRPO_LOGITS_REAL || sizeof(grpo_real) == sizeof(float); }
static double eps(const sample *s) { return by_vectors(s) ? (double)FLT_EPSILON : DBL_EPSILON; }
static double limit(const sample *s) { return by_vectors(s) ? 2 : 4; }
static void raise_to(double *most, double x) { if (x > *most) *most = x; }

/* ---- elements ---------------------------------------------------------------------------------------------------------------------- */

static double get(const sample *s, const void *element, int v) {
    if (s->type == GRPO_LOGITS_BFLOAT16) return of_bfloat(((const uint16_t *)element)[v]);
    if (s->type == GRPO_LOGITS_FLOAT16) return of_half(((const uint16_t *)element)[v]);
    return (double)((const grpo_real *)element)[v];
}

/* stores x as element v, rounded to its type; -inf is kept */
static void put(sample *s, int v, double x) {
    if (s->type == GRPO_LOGITS_BFLOAT16) s->element.half[v] = bfloat_of(x);
    else if (s->type == GRPO_LOGITS_FLOAT16) s->element.half[v] = half_of(x > 6e4 ? 6e4 : x);
    else ((grpo_real *)&s->element)[v] = (grpo_real)x;
    s->kept[v] = 1;
    s->z[v] = get(s, &s->element, v);
}

/* ---- the slow evaluation ---------------------------------------------------------------------------------------------------------- */

/* a sum whose error does not grow with the number of its terms (Kahan, 1965) */
typedef struct { long double sum, lost; } long_sum;

static void add(long_sum *s, long double x) {
    const long double y = x - s->lost, sum = s->sum + y;
    s->lost = (sum - s->sum) - y;
    s->sum = sum;
}

/* p: probabilities, log_p: their logarithms; computed relative to the largest logit, without cancellation */
static exact_row exact(const sample *s, long double *p, long double *log_p) {
    exact_row r = { 0, 0, 0, 0, 0, 0 };
    const double *z = s->z;
    const long double tau = s->tau;
    long_sum rest = { 0, 0 }, entropy = rest, squares = rest, other = rest;
    long double log_rest;
    int v, most = 0;
    for (v = 1; v < s->n; v++) if (z[v] > z[most]) most = v;
    for (v = 0; v < s->n; v++) {
        if (z[v] == -HUGE_VAL) p[v] = 0;
        else p[v] = v > 0 && z[v] == z[v - 1] ? p[v - 1] : expl(((long double)z[v] - z[most]) / tau);
        if (v != most) add(&rest, p[v]);
    }
    log_rest = log1pl(rest.sum);
    r.log_sum = z[most] / tau + log_rest;
    for (v = 0; v < s->n; v++) {
        p[v] /= 1 + rest.sum;
        log_p[v] = ((long double)z[v] - z[most]) / tau - log_rest;
        if (p[v] > 0) add(&entropy, -p[v] * log_p[v]);
        add(&squares, p[v] * p[v]);
        if (v != s->target) add(&other, p[v]);
        if (p[v] > 0) r.size += p[v] * fabsl(z[v] / tau);
    }
    r.logp = s->target < 0 ? 0 : log_p[s->target]; r.entropy = entropy.sum; r.sum_squares = squares.sum;
    r.other = other.sum;
    r.size += r.entropy + fabsl(r.log_sum);
    return r;
}

/* the error in units of the scale; 0 where both numbers are negligible */
static double off(const sample *s, double found, long double expected, long double scale) {
    const long double least = by_vectors(s) ? 1e-38L : 1e-300L, unit = fabsl(scale) * (long double)eps(s);
    if (found == (double)expected || (fabsl(found) < least && fabsl(expected) < least)) return 0;
    return unit > 0 && found == found ? (double)(fabsl(found - expected) / unit) : HUGE_VAL;
}

/* ---- one row ---------------------------------------------------------------------------------------------------------------------- */

static grpo_logits logits_of(const sample *s, const int64_t *target) {
    grpo_logits x;
    memset(&x, 0, sizeof x);
    x.type = s->type;
    x.logits = &s->element; x.rows = 1; x.vocab = x.stride = s->n;
    x.target = target; x.temperature = s->tau;
    x.kept = s->masked ? s->kept : NULL;
    x.squares = 1;
    return x;
}

/* about the largest number of the element type */
static long double largest_of(const sample *s) {
    if (s->type == GRPO_LOGITS_REAL && sizeof(grpo_real) == sizeof(double)) return DBL_MAX;
    return s->type == GRPO_LOGITS_FLOAT16 ? 65504 : FLT_MAX;
}

/* half an ulp of a type of 16 bits at x; of float the smallest number */
static long double rounding(const sample *s, long double x) {
    const int bits = s->type == GRPO_LOGITS_BFLOAT16 ? 8 : 11, least = s->type == GRPO_LOGITS_BFLOAT16 ? -126 : -14;
    int e;
    if (s->type == GRPO_LOGITS_REAL) return 0x1p-149L;
    (void)frexpl(x, &e);
    return ldexpl(1, (e - 1 > least ? e - 1 : least) - bits);
}

/* what a gradient x may be off besides its ulps: as grpo_logits.h states, and by being stored */
static long double slack(const sample *s, long double x, double dlogp, double dentropy) {
    const long double by = fabsl(dlogp), of = fabsl(dentropy), tau = s->tau;
    if (!by_vectors(s)) return 2.3e-308L * (by + 750 * of) / tau + 0x1p-1074L * (1 + 1 / tau);
    return rounding(s, x) + (2.3e-308L * by + 0x1p-160L * of) / tau;
}

static void check_gradient(const sample *s, const grpo_logits *x, const grpo_logits_part *part, const exact_row *e, const long double *p,
                           const long double *logs, double dlogp, double dentropy) {
    static union { grpo_real real[MOST]; uint16_t half[MOST]; } g;
    double most = 0;
    int v, at = 0;
    if (ON_GPU) { dlogp = (double)(float)dlogp; dentropy = (double)(float)dentropy; }      /* the kernel takes float */
    if (!check(grpo_logits_row_gradient(x, 0, part, dlogp, dentropy, &g) == GRPO_OK, "gradient")) return;
    for (v = 0; v < s->n; v++) {
        const double found = get(s, &g, v);
        long double log_p = p[v] > 0 ? logs[v] : 0, through, entropic, expected, scale, error;
        through = dlogp * (v == s->target ? e->other : -p[v]) / s->tau;
        entropic = -dentropy * p[v] * (log_p + e->entropy) / s->tau;
        expected = through + entropic;
        scale = fabsl(through) + fabsl(dentropy * p[v]) * (fabsl(log_p) + e->entropy) / s->tau;
        if (s->z[v] == -HUGE_VAL) { check(found == 0, "gradient of a banned token: %g", found); continue; }
        if (scale > 0.99L * largest_of(s)) {                            /* where terms cancel, only the exact ones do */
            check(found == found && (fabsl(expected) < 1.01L * largest_of(s) || fabsl(expected) < 1e-6L * scale || fabs(found) == HUGE_VAL),
                  "a gradient of %g, not %Lg", found, expected);
            continue;
        }
        error = fabsl(found - expected) - slack(s, expected, dlogp, dentropy);
        error = found != found ? HUGE_VAL : error > 0 ? error / (scale * (long double)eps(s)) : 0;
        if ((double)error > most) { most = (double)error; at = v; }
    }
    check(most <= limit(s), "type %d, tau %g, by %g and %g: gradient %d of %d (target %d), z %g, p %Lg: off by %g", (int)s->type,
          s->tau, dlogp, dentropy, at, s->n, s->target, s->z[at], p[at], most);
    raise_to(dentropy == 0 ? &worst[by_vectors(s)].plain_gradient : &worst[by_vectors(s)].gradient, most);
}

#ifdef ROWS_ON_GPU
static void check_same_bits(const sample *s, const grpo_logits *x, const grpo_logits_part *part) { (void)s; (void)x; (void)part; }
static int widest(void) { return is_there_a_gpu() ? 0 : -1; }
static void check_loops(void) { }
#else
static int widest(void) { return (int)grpo_widest_instructions_(); }

/* each instruction set has loops of its own */
static void check_loops(void) {
    check(grpo_row_loops_of_(GRPO_LOOPS_BASE_) == &grpo_row_loops_base_, "the compiler's own loops");
#ifdef GRPO_DISPATCH_
    check(grpo_row_loops_of_(GRPO_LOOPS_AVX2_) == &grpo_row_loops_avx2_, "the loops for AVX2");
    check(grpo_row_loops_of_(GRPO_LOOPS_AVX512_) == &grpo_row_loops_avx512_, "the loops for AVX-512");
#endif
}

/* The instruction sets perform the same operations, so that sums and gradients have the same bits, unless only one of them fuses
 * multiplications with additions. */
static void check_same_bits(const sample *s, const grpo_logits *x, const grpo_logits_part *part) {
    static union { grpo_real real[MOST]; uint16_t half[MOST]; } g, other;
    const size_t size = (size_t)s->n * (s->type == GRPO_LOGITS_REAL ? sizeof(grpo_real) : sizeof(uint16_t));
    const int first = instructions;
    grpo_logits_part found;
    if (first == GRPO_LOOPS_BASE_ || !by_vectors(s)) return;
    for (int with_entropy = 0; with_entropy < 2; with_entropy++) {
        check(!grpo_logits_row_gradient(x, 0, part, -0.75, with_entropy * 0.5, &g), "gradient");
        for (instructions = GRPO_FUSED_ ? GRPO_LOOPS_BASE_ : GRPO_LOOPS_AVX2_; instructions < first; instructions++) {
            check(!grpo_logits_row_read(x, 0, &found) && !memcmp(&found, part, offsetof(grpo_logits_part, has_target)),
                  "type %d, row of %d, tau %g: %s and %s read it as other sums", (int)s->type, s->n, s->tau,
                  name[instructions], name[first]);
            check(!grpo_logits_row_gradient(x, 0, part, -0.75, with_entropy * 0.5, &other) && !memcmp(&g, &other, size),
                  "type %d, row of %d, tau %g: %s and %s give other gradients", (int)s->type, s->n, s->tau,
                  name[instructions], name[first]);
        }
        instructions = first;
    }
}
#endif

static void check_sample(const sample *s) {
    static long double p[MOST], logs[MOST];
    static const double by[][2] = { { -0.75, 0.5 }, { -1e-7, 0 }, { 1e9, 0 }, { 0, 1 }, { 1e-20, 1e-20 } };
    const int64_t target = s->target;
    const grpo_logits x = logits_of(s, &target);
    const exact_row e = exact(s, p, logs);
    const int few = s->n > 20000 ? 2 : 5;
    grpo_logits_part part;
    grpo_logits_row r;
    double a, b, c, d, o;
    int k;
    if (!check(grpo_logits_row_read(&x, 0, &part) == GRPO_OK && grpo_logits_part_row(&part, s->tau, &r) == GRPO_OK, "a row of %d",
        s->n)) return;
    check_same_bits(s, &x, &part);
    a = s->z[s->target] == -HUGE_VAL ? (r.logp == -HUGE_VAL ? 0 : HUGE_VAL) : off(s, r.logp, e.logp, e.logp);
    b = off(s, r.entropy, e.entropy, e.entropy);
    c = off(s, r.sum_squares, e.sum_squares, e.sum_squares);
    d = off(s, r.log_sum, e.log_sum, e.size);
    o = s->z[s->target] == -HUGE_VAL ? (r.other == 1 ? 0 : HUGE_VAL) : off(s, r.other, e.other, e.other);
    raise_to(&worst[by_vectors(s)].logp, a); raise_to(&worst[by_vectors(s)].entropy, b);
    raise_to(&worst[by_vectors(s)].squares, c); raise_to(&worst[by_vectors(s)].log_sum, d);
    raise_to(&worst[by_vectors(s)].other, o);
    check(a <= limit(s) && b <= limit(s), "type %d, row of %d, tau %g: logp %.17g, expected %.17g; entropy %.17g, expected %.17g",
          (int)s->type, s->n, s->tau, r.logp, (double)e.logp, r.entropy, (double)e.entropy);
    check(c <= limit(s), "sum p^2 %.17g, expected %.17g", r.sum_squares, (double)e.sum_squares);
    check(d <= limit(s), "log sum %.17g, expected %.17g", r.log_sum, (double)e.log_sum);
    check(o <= limit(s), "1 - p %.17g, expected %.17g", r.other, (double)e.other);
    if (s->z[s->target] > -HUGE_VAL) for (k = 0; k < few; k++) check_gradient(s, &x, &part, &e, p, logs, by[k][0], by[k][1]);
}

/* ---- shards ------------------------------------------------------------------------------------------------------------------------ */

/* the row in shards, cut at `cuts` random places, and merged */
static grpo_logits_part merged_part(rng *r, const sample *s, int cuts) {
    const int64_t whole_target = s->target;
    grpo_logits x = logits_of(s, &whole_target);
    grpo_logits_part merged, part;
    int at, end = 0, k;
    for (k = 0, at = 0; at < s->n; k++, at = end) {
        const size_t size = s->type != GRPO_LOGITS_REAL ? sizeof(uint16_t) : sizeof(grpo_real);
        const int64_t target = s->target - at;
        grpo_logits shard = x;
        end = k == cuts ? s->n : at + 1 + (int)rng_below(r, s->n - at);
        shard.logits = (const char *)&s->element + (size_t)at * size;
        shard.vocab = end - at; shard.target = &target;
        if (x.kept) shard.kept = s->kept + at;
        check(!grpo_logits_row_read(&shard, 0, &part), "a shard");
        if (at == 0) merged = part;
        else check(!grpo_logits_part_merge(&merged, &part, s->tau), "a merge");
    }
    return merged;
}

/* Merged shards against the whole row.  Double: within a few roundings.  Vectors: the same exponentials are added in another order, so both
 * are within their bound of the exact value, and within twice the bound of each other. */
static void check_shards(rng *r, const sample *s) {
    const int64_t target = s->target;
    const grpo_logits x = logits_of(s, &target);
    const grpo_logits_part parts = merged_part(r, s, s->n > 20000 ? 7 : s->n);
    grpo_logits_part whole;
    grpo_logits_row a, b;
    double l, h, q, o;
    if (!check(!grpo_logits_row_read(&x, 0, &whole) && !grpo_logits_part_row(&whole, s->tau, &a), "a row")) return;
    if (!check(!grpo_logits_part_row(&parts, s->tau, &b), "a row in parts")) return;
    l = off(s, b.logp, a.logp, a.logp);
    h = off(s, b.entropy, a.entropy, a.entropy);
    q = off(s, b.sum_squares, a.sum_squares, a.sum_squares);
    o = off(s, b.other, a.other, a.other);
    raise_to(&worst[by_vectors(s)].cut, l > h ? l > q ? l : q : h > q ? h : q);
    check(whole.largest == parts.largest && l <= limit(s) * 2 && h <= limit(s) * 2 && q <= limit(s) * 2 && o <= limit(s) * 2,
          "cut: logp %.17g and %.17g, entropy %.17g and %.17g, sum p^2 %.17g and %.17g, 1 - p %.17g and %.17g", a.logp, b.logp, a.entropy,
          b.entropy, a.sum_squares, b.sum_squares, a.other, b.other);
}

static grpo_logits_type random_type(rng *r) { return (grpo_logits_type)rng_below(r, 3); }

/* draws the target, which must not be banned, and sometimes a set of kept ids */
static void settle(rng *r, sample *s, double base) {
    int v;
    s->target = rng_chance(r, 40) ? 0 : (int)rng_below(r, (uint32_t)s->n);
    if (s->z[s->target] == -HUGE_VAL) put(s, s->target, base);
    s->masked = rng_chance(r, 20);
    if (s->masked) for (v = 0; v < s->n; v++) {
        if (v == s->target || !rng_chance(r, 30)) continue;
        if (rng_chance(r, 30)) put(s, v, NAN);
        s->kept[v] = 0;
        s->z[v] = -HUGE_VAL;
    }
}

static void random_sample(rng *r, sample *s) {
    static const double width[] = { 0, 0.1, 3, 20, 300, 1e4 }, tau[] = { 1, 1, 0.7, 2, 0.1, 1e-3, 50, 1e-5, 1e5 };
    const double w = width[rng_below(r, 6)], base = rng_chance(r, 30) ? 9000 * (2 * rng_unit(r) - 1) : 0;
    int v;
    s->type = random_type(r);
    s->n = rng_chance(r, 20) ? 1000 + (int)rng_below(r, 4000) : 1 + (int)rng_below(r, 12);
    s->tau = tau[rng_below(r, 9)];
    for (v = 0; v < s->n; v++) put(s, v, rng_chance(r, 5) && s->n > 1 ? -HUGE_VAL : base + w * (2 * rng_unit(r) - 1));
    if (rng_chance(r, 20)) put(s, 0, base + w + 30 * s->tau);          /* p near 1 */
    settle(r, s, base);
}

/* ---- rows as wide as vocabularies ------------------------------------------------------------------------------------------------------
 * Rounding errors of the same sign add up: equal logits, and two values, one in each half of the numbers that a vector adds up. */

static void alike_sample(rng *r, sample *s, int n, double below) {
    const double other = below + rng_unit(r);
    const int half = LANES << rng_below(r, 3);               /* of the eight of a float sum */
    const int top = (int)rng_below(r, (uint32_t)n), pairs = rng_chance(r, 70);
    int v;
    s->n = n;
    s->masked = 0;
    for (v = 0; v < n; v++) put(s, v, pairs && v & half ? -other : -below);
    put(s, top, 0);
    s->target = rng_chance(r, 50) ? top : (int)rng_below(r, (uint32_t)n);
}

static void check_alike(rng *r, sample *s) {
    int k;
    for (k = 0; k < 600 / DRAWS_OVER; k++) {
        s->type = k % 8 == 0 ? random_type(r) : GRPO_LOGITS_REAL;
        s->tau = k % 4 == 0 ? 0.2 + rng_unit(r) : 1;
        alike_sample(r, s, 4000, 30 * rng_unit(r) * rng_unit(r));
        check_sample(s);
        check_shards(r, s);
    }
    s->type = GRPO_LOGITS_REAL;
    s->tau = 1;
    for (k = 0; k < 12; k += DRAWS_OVER) {
        alike_sample(r, s, MOST, 2 + 8.5 * k);                          /* up to float's underflow */
        check_sample(s);
    }
}

static void check_wide(rng *r, sample *s) {
    static const double width[] = { 0.5, 10, 1e4 };
    int k, v;
    for (k = 0; k < 12; k++) {
        s->type = (grpo_logits_type)(k % 3);
        s->tau = k % 2 ? 1 : 0.3;
        s->n = k < 3 ? MOST : 151936 - k;
        for (v = 0; v < s->n; v++) put(s, v, width[k / 3 % 3] * (k == 8 ? (double)v / s->n : 2 * rng_unit(r) - 1));
        settle(r, s, 0);
        check_sample(s);
        check_shards(r, s);
    }
}

/* ---- 16-bit gradients, kept ids ---------------------------------------------------------------------------------------------------- */

static void check_sixteen_bits(void) {
    static const float value[] = { 0, 1, -1, 0.5f, 65504, -65504, 65519, 65520, 1e30f, 6.1035156e-05f, 5.9604645e-08f, 2.9802322e-08f,
                                   2.9802326e-08f, 1.00048828125f, 1.00146484375f, 0.333333343f };
    static const uint16_t half[] = { 0, 0x3c00, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7bff, 0x7c00, 0x7c00, 0x0400, 0x0001, 0,
                                     0x0001, 0x3c00, 0x3c02, 0x3555 };
    static const uint16_t bfloat[] = { 0, 0x3f80, 0xbf80, 0x3f00, 0x4780, 0xc780, 0x4780, 0x4780, 0x714a, 0x3880, 0x3380, 0x3300,
                                       0x3300, 0x3f80, 0x3f80, 0x3eab };
    const int64_t target = 1;
    grpo_logits x;
    grpo_logits_part part;
    uint16_t z[2], g[2];
    size_t k;
    for (k = 0; k < sizeof value / sizeof *value; k++)                  /* two equal logits: p = 1/2 */
        for (int type = GRPO_LOGITS_BFLOAT16; type <= GRPO_LOGITS_FLOAT16; type++) {
            memset(&x, 0, sizeof x);
            z[0] = z[1] = 0;
            x.type = (grpo_logits_type)type; x.logits = z; x.rows = 1; x.vocab = x.stride = 2; x.target = &target; x.temperature = 1;
            check(!grpo_logits_row_read(&x, 0, &part) && part.largest == 0 && part.target == 0, "a row of sixteen bits");
            check(!grpo_logits_row_gradient(&x, 0, &part, -2 * (double)value[k], 0, g), "its gradient");
            check(g[0] == (type == GRPO_LOGITS_FLOAT16 ? half[k] : bfloat[k]), "%g is stored as %x in type %d", (double)value[k], g[0],
                type);
        }
}

static void check_kept(void) {
    grpo_real z[4] = { 1, 2, 30, 0 };
    const uint8_t kept[4] = { 1, 1, 0, 1 };
    const int64_t target = 1;
    grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 4, 4, NULL, NULL, 1, 0 };
    grpo_logits_part part;
    grpo_logits_row a, b;
    grpo_real g[4];
    x.logits = z; x.target = &target; x.kept = kept;
    check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, 1, &a) && !grpo_logits_row_gradient(&x, 0, &part, 1, 1, g)
        && g[2] == 0, "kept");
    check(a.sum_squares != a.sum_squares, "squares that nobody asked for");
    check(!grpo_logits_part_merge(&part, &part, 1) || part.squares.hi != part.squares.hi, "nor do they come from a merge");
    z[2] = (grpo_real)-HUGE_VAL; x.kept = NULL;
    check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, 1, &b), "banned");
    check(a.logp == b.logp && a.entropy == b.entropy, "what is not kept is banned");
}

/* all tokens banned, the target among them or in another shard: log-probability -inf, no entropy, no gradient */
static void check_nothing_left(sample *s) {
    s->n = 2; s->tau = 1; s->masked = 0;
    for (int k = 0; k < 9; k++) {
        const int64_t target = k / 3 - 1;
        grpo_logits_part part;
        grpo_logits_row r;
        double g[2] = { 5, 5 };
        grpo_logits x;
        s->type = (grpo_logits_type)(k % 3);
        put(s, 0, -HUGE_VAL); put(s, 1, -HUGE_VAL);
        x = logits_of(s, &target);
        x.squares = 1;
        check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, 1, &r)
              && !grpo_logits_row_gradient(&x, 0, &part, 1, 1, g), "nothing left");
        check(r.logp == -HUGE_VAL && r.entropy == 0 && r.log_sum == -HUGE_VAL && r.sum_squares == 0 && r.other == 1,
              "nothing left, target %d: %g, %g, %g, %g, %g", (int)target, r.logp, r.entropy, r.log_sum, r.sum_squares, r.other);
        for (int v = 0; v < 2; v++) check(get(s, g, v) == 0, "nothing left: a gradient of %g", get(s, g, v));
    }
}

static void check_no_temperature(void) {
    const double wrong[] = { 0, -1, NAN, HUGE_VAL };
    grpo_logits_part part = grpo_logits_part_empty();
    grpo_logits_part_add(&part, 1, 1, 1);
    grpo_logits_part_add(&part, 2, 0, 1);
    for (int k = 0; k < 4; k++) {
        const grpo_logits_slopes s = grpo_logits_part_slopes(&part, wrong[k], 1, 1);
        check(isnan(grpo_logits_slope(&s, 1, 1)) && isnan(grpo_logits_slope(&s, 2, 0)), "slopes at temperature %g", wrong[k]);
    }
}

/* a NaN or an infinity at any place of a row with whole blocks and a remainder is refused */
static void check_refused(rng *r, sample *s) {
    static const double bad[] = { NAN, -NAN, HUGE_VAL };
    char thing[40];
    int64_t target;
    int k, v, at;
    for (k = 0; k < 600; k++) {
        grpo_logits_part part, before;
        grpo_logits x;
        s->type = random_type(r);
        s->n = 1 + (int)rng_below(r, 3000);
        s->tau = 1;
        s->masked = 0;
        for (v = 0; v < s->n; v++) put(s, v, rng_chance(r, 50) && k % 5 ? 9 * rng_unit(r) : -HUGE_VAL);
        at = (int)rng_below(r, s->n);
        target = s->target = rng_chance(r, 30) ? at : (int)rng_below(r, s->n);
        x = logits_of(s, &target);
        check(grpo_logits_row_read(&x, 0, &part) == GRPO_OK, "a row of banned tokens");
        if (s->type == GRPO_LOGITS_REAL) put(s, at, rng_pick(r, bad, 3));
        else s->element.half[at] = (uint16_t)((s->type == GRPO_LOGITS_FLOAT16 ? 0x7c00 : 0x7f80) + rng_below(r, 3));
        memset(&part, 0x5a, sizeof part);
        before = part;
        snprintf(thing, sizeof thing, "logits.logits[%d]", at);
        check(says("logits_row_read", grpo_logits_row_read(&x, 0, &part), isnan(get(s, &s->element, at)) ? GRPO_NAN : GRPO_INFINITE, thing)
              && !memcmp(&part, &before, sizeof part), "type %d, %d of %d: %g",
              (int)s->type, at, s->n, get(s, &s->element, at));
    }
}

/* an undefined element type is refused before the size of a row is computed from it */
static void check_types(void) {
    static const int none[] = { -1, 3, 255 };
    uint16_t z[2] = { 0, 0 }, g[2] = { 7, 7 };
    const int64_t target = 1;
    grpo_logits x = { GRPO_LOGITS_FLOAT16, NULL, 1, 2, 2, NULL, NULL, 1, 0 };
    grpo_logits_part part, before;
    size_t k;
    x.logits = z; x.target = &target;
    memset(&part, 0x5a, sizeof part);
    before = part;
    for (k = 0; k < sizeof none / sizeof *none; k++) {
        memcpy(&x.type, &none[k], sizeof x.type);
        check(says("logits_row_read", grpo_logits_row_read(&x, 0, &part), GRPO_NOT_A_CHOICE, "logits.type")
              && !memcmp(&part, &before, sizeof part), "type %d is read", none[k]);
        check(says("logits_row_gradient", grpo_logits_row_gradient(&x, 0, &part, 1, 1, g), GRPO_NOT_A_CHOICE, "logits.type")
              && g[0] == 7 && g[1] == 7, "type %d is written", none[k]);
    }
}

/* a shard of no logits is part of a row; one of fewer is refused */
static void check_no_vocabulary(void) {
    const grpo_real z = 1;
    const int64_t target = 0;
    grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 0, 0, NULL, NULL, 1, 0 };
    grpo_logits_part part;
    x.logits = &z; x.target = &target;
    check(!grpo_logits_row_read(&x, 0, &part) && part.largest == -HUGE_VAL && !part.has_target && part.sum.hi == 0, "a shard of no logits");
    x.vocab = x.stride = -1;
    check(says("logits_row_read", grpo_logits_row_read(&x, 0, &part), GRPO_NEGATIVE, "logits.vocab"), "a shard of -1 logits");
}

/* a gradient g within 64 ulps of `size` of `exact`; an infinity of its sign where that overflows */
static void check_extreme(double g, long double exact, long double size, const char *what) {
    const long double most = sizeof(grpo_real) == sizeof(float) ? (long double)FLT_MAX : (long double)DBL_MAX;
    const long double error = 64 * size * (sizeof(grpo_real) == sizeof(float) ? (long double)FLT_EPSILON : (long double)DBL_EPSILON);
    check(g == g, "%s: NaN, and not %Lg", what, exact);
    if (g == HUGE_VAL) check(exact + error > most, "%s: an infinity, and not %Lg", what, exact);
    else if (g == -HUGE_VAL) check(exact - error < -most, "%s: -infinity, and not %Lg", what, exact);
    else check(fabsl((long double)g - exact) <= error + (long double)FLT_MIN, "%s: %.17g, and not %.20Lg", what, g, exact);
}

static void check_extreme_row(const grpo_real *z, int64_t target, double tau, double dlogp, double dentropy) {
    grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 3, 3, NULL, NULL, 1, 0 };
    grpo_logits_part part;
    grpo_real g[3];
    char what[120];
    long double power[3], sum = 0, entropy = 0, log_p[3], largest = (long double)z[0];
    int v;
    x.logits = z; x.target = &target; x.temperature = tau;
    check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_row_gradient(&x, 0, &part, dlogp, dentropy, g), "an extreme row");
    for (v = 1; v < 3; v++) if ((long double)z[v] > largest) largest = (long double)z[v];
    for (v = 0; v < 3; v++) sum += power[v] = expl(((long double)z[v] - largest) / (long double)tau);
    for (v = 0; v < 3; v++) log_p[v] = ((long double)z[v] - largest) / (long double)tau - logl(sum);
    for (v = 0; v < 3; v++) if (power[v] > 0) entropy -= power[v] / sum * log_p[v];
    for (v = 0; v < 3; v++) {
        const long double p = power[v] / sum, by_entropy = p > 0 ? -p * (log_p[v] + entropy) : 0, by_logp = (v == target) - p;
        const long double size = (fabsl((long double)dlogp) * (v == target ? 1 + p : p)
                                  + fabsl((long double)dentropy) * (p > 0 ? p * (fabsl(log_p[v]) + entropy) : 0)) / (long double)tau;
        snprintf(what, sizeof what, "z = %g, %g, %g, tau %g, dlogp %g, dentropy %g: element %d", (double)z[0], (double)z[1], (double)z[2],
            tau,
                 dlogp, dentropy, v);
        check_extreme((double)g[v], ((long double)dlogp * by_logp + (long double)dentropy * by_entropy) / (long double)tau, size, what);
    }
}

/* derivatives so large that their terms overflow, with and without cancellation */
static void check_extremes(void) {
    static const grpo_real row[][3] = { { 2, 0, 0 }, { 0, 2, -1 }, { 0, 0, 0 }, { 5, 30, -3 }, { -600, 100, 90 } };
    static const double slope[] = { 1.5e308, 1e308, 1.7e308, 1e290, 1, 0 }, tau[] = { 1, 0.5, 3, 1e-300, 1e300 };
    int j, k, n, m, signs;
    if (LDBL_MAX_EXP == DBL_MAX_EXP) return;            /* long double overflows where double does, as on POWER: nothing to compare with */
    check_extreme_row(row[0], 1, 1, 1.5e308, 1e308);
    for (j = 0; j < 5; j++)
        for (k = 0; k < 5; k++)
            for (n = 0; n < 6; n++)
                for (m = 0; m < 6; m++)
                    for (signs = 0; signs < 4; signs++)
                        check_extreme_row(row[j], j % 3, tau[k], signs & 1 ? -slope[n] : slope[n], signs & 2 ? -slope[m] : slope[m]);
}

/* the same gradient in the place of the logits */
static void check_in_place(const sample *s, const grpo_logits *x, const grpo_logits_part *part, double dlogp, double dentropy) {
    static union { grpo_real real[MOST]; uint16_t half[MOST]; } g, own;
    const size_t size = (size_t)s->n * (s->type == GRPO_LOGITS_REAL ? sizeof(grpo_real) : sizeof(uint16_t));
    grpo_logits y = *x;
    memcpy(&own, &s->element, size);
    y.logits = &own;
    check(!grpo_logits_row_gradient(x, 0, part, dlogp, dentropy, &g) && !grpo_logits_row_gradient(&y, 0, part, dlogp, dentropy, &own)
          && !memcmp(&g, &own, size), "type %d, tau %g, by %g and %g: in place another gradient", (int)s->type, s->tau, dlogp, dentropy);
}

/* a derivative so large that probabilities far below 2^-190 count, at every temperature, with a target and without (N + 1) */
static void check_steep_row(sample *s, double shift, const double *by) {
    static const double far[] = { -100, -131, -132, -133, -150, -170, -200, -300 };
    static long double p[1300], logs[1300];
    enum { N = 1300 };
    const int64_t target = s->target;
    grpo_logits_part part;
    exact_row e;
    s->n = N; s->masked = 0;
    for (int v = 0; v < N; v++) put(s, v, v == 700 ? shift * s->tau : v % 100 == 5 ? -HUGE_VAL : (shift + far[v % 8]) * s->tau);
    const grpo_logits x = logits_of(s, &target);
    e = exact(s, p, logs);
    if (!check(!grpo_logits_row_read(&x, 0, &part), "a steep row is refused")) return;
    check_gradient(s, &x, &part, &e, p, logs, by[0], by[1]);
    check_in_place(s, &x, &part, by[0], by[1]);
}

static void check_steep(sample *s) {
    static const double slope[][2] = { { 1e11, 0 }, { 1.2e13, 0 }, { 0, 1e11 }, { 1e13, 1e11 }, { 0, -1e13 }, { 1e20, 0 }, { -1e30, 1e30 },
        { 1e33, 0 }, { 1e38, 0 }, { 0, 1e38 }, { 1e120, 0 }, { 0, -1e149 }, { 1e200, 0 } };       /* the last three do not fit into float */
    static const double tau[] = { 1, 0.5, 3, 1.0001e-4, 9999, 200, 1e-5, 1e5 }, shift[] = { 0, 1024, -30 };
    for (int type = 0; type < 3; type++)
        for (int k = 0; k < 8 * 3 * 2; k++)
            for (int n = 0; n < (ON_GPU ? 10 : 13); n++) {
                s->type = (grpo_logits_type)type; s->tau = tau[k % 8]; s->target = k / 24 ? -1 : 1;
                if (type == GRPO_LOGITS_FLOAT16 && s->tau * (300 + shift[k / 8 % 3]) > 6e4) continue;
                check_steep_row(s, shift[k / 8 % 3], slope[n]);
            }
}

/* double: probabilities below the normal range, with large derivatives: what grpo_logits.h states */
static void check_below_normal(void) {
    enum { N = 5 };
    const int64_t target = 2;
    double largest = 0;
    if (sizeof(grpo_real) == sizeof(float) || LDBL_MAX_EXP == DBL_MAX_EXP) return;
    for (int k = 0; k < 9240; k++) {
        const double t = pow(10, (k % 5) - 2), by = pow(10, 40 + k % 7 * 40), dlogp = k % 3 == 1 ? 0 : by, dentropy = k % 3 == 0 ? 0 : -by;
        const double from = -700 - k % 60, own = k % 2 ? from - 3 : 0.5;
        grpo_real z[N], g[N];
        grpo_logits x = { GRPO_LOGITS_REAL, z, 1, N, N, &target, NULL, t, 0 };
        grpo_logits_part part;
        long double p[N], logs[N], rest = 0, h = 0;
        z[0] = 0; z[1] = (grpo_real)(from * t); z[2] = (grpo_real)(own * t); z[3] = (grpo_real)((from - 0.37 * (k % 11)) * t);
        z[4] = (grpo_real)(k % 4 ? (from - 20) * t : -0.1 * t);
        for (int v = 0; v < N; v++) logs[v] = (long double)z[v] / (long double)t;
        for (int v = 1; v < N; v++) rest += expl(logs[v]);
        for (int v = 0; v < N; v++) { logs[v] -= log1pl(rest); p[v] = expl(logs[v]); h -= p[v] * logs[v]; }
        check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_row_gradient(&x, 0, &part, dlogp, dentropy, g), "a row is refused");
        for (int v = 0; v < N; v++) {
            const long double a = (long double)dlogp, b = (long double)dentropy, tau = (long double)t, lp = logs[v];
            const long double exact = (a * ((v == target) - p[v]) - b * p[v] * (lp + h)) / tau;
            const long double size = (fabsl(a) * ((v == target) + p[v]) + fabsl(b) * p[v] * (fabsl(lp) + h)) / tau;
            const long double bound = 4 * (long double)DBL_EPSILON * size + 2.3e-308L * (fabsl(a) + 750 * fabsl(b)) / tau + 5e-324L;
            const long double error = fabsl((long double)g[v] - exact) / bound;
            if ((double)error > largest) largest = (double)error;
        }
    }
    check(largest <= 1, "probabilities below the normal range: %g of the bound", largest);
    printf("probabilities below the normal range: %.2f of the bound\n", largest);
}

/* `found` within the type's ulps of `size`, and of `besides` */
static double share_of_bound(const sample *s, double found, long double expected, long double size, long double besides) {
    const long double bound = limit(s) * eps(s) * fabsl(size) + besides;
    return found == found ? (double)(fabsl(found - expected) / bound) : HUGE_VAL;
}

/* one token has nearly all the probability, that of the others goes down to nothing: what grpo_logits.h states of logp, 1 - p, entropy and
 * log-sum, however small */
static void check_nearly_certain(sample *s) {
    static long double p[5], logs[5];
    static const double tau[] = { 1, 0.5, 100, 1e-5, 1e5 };
    double largest[4] = { 0, 0, 0, 0 };
    if (LDBL_MAX_EXP == DBL_MAX_EXP) return;
    s->n = 5; s->masked = 0;
    for (int k = 0; k < 3 * 5 * 760; k++) {
        const double from = -(k / 15) * 1.001, t = s->tau = tau[k / 3 % 5];
        const long double rare = 2.3e-308L;
        long double small;
        grpo_logits_part part;
        grpo_logits_row r;
        exact_row e;
        s->type = (grpo_logits_type)(k % 3);
        small = by_vectors(s) ? 0x1p-160L : 1.8e-305L;
        if (s->type == GRPO_LOGITS_FLOAT16 && t * from < -6e4) continue;
        put(s, 0, 0); put(s, 1, from * t); put(s, 2, (from - k % 7) * t); put(s, 3, (from - 15) * t); put(s, 4, (from - 0.3) * t);
        for (s->target = 0; s->target < 3; s->target++) {
            const int64_t target = s->target;
            const grpo_logits x = logits_of(s, &target);
            e = exact(s, p, logs);
            if (!check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, t, &r), "a row is refused")) return;
            raise_to(&largest[0], share_of_bound(s, r.logp, e.logp, e.logp, rare));
            raise_to(&largest[1], share_of_bound(s, r.other, e.other, e.other, rare));
            raise_to(&largest[2], share_of_bound(s, r.entropy, e.entropy, e.entropy, small));
            raise_to(&largest[3], share_of_bound(s, r.log_sum, e.log_sum, e.size, small));
        }
    }
    for (int k = 0; k < 4; k++) check(largest[k] <= 1, "nearly certain, number %d: %g of the bound", k, largest[k]);
    printf("one token nearly certain: logp %.2f, 1 - p %.2f, entropy %.2f, log-sum %.2f of the bound\n", largest[0], largest[1], largest[2],
           largest[3]);
}

static double part_largest(const grpo_real *z) {
    double most = (double)z[0];
    for (int v = 1; v < 3; v++) most = (double)z[v] > most ? (double)z[v] : most;
    return most;
}

/* logits whose difference overflows */
static void check_far_apart(void) {
    const double most = sizeof(grpo_real) == sizeof(float) ? 3.4e38 : 1.7e308, unit = most / 1.7;
    static const double tau[] = { 1, 0, 1e-300 };                       /* 0: the unit */
    if (LDBL_MAX_EXP == DBL_MAX_EXP) return;                            /* the differences overflow there too */
    for (int k = 0; k < 9; k++) {
        const double t = tau[k / 3] == 0 ? unit : tau[k / 3], by[] = { 1.7, -1.7, -1 };
        grpo_real z[3];
        const int64_t target = k % 3;
        grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 3, 3, NULL, NULL, 1, 1 };
        grpo_logits_part part;
        grpo_logits_row row;
        long double sum = 0, p[3], logp;
        for (int v = 0; v < 3; v++) z[v] = (grpo_real)(by[(v + k) % 3] * unit);
        x.logits = z; x.target = &target; x.temperature = t;
        check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, t, &row), "logits far apart");
        for (int v = 0; v < 3; v++) sum += p[v] = expl(((long double)z[v] - (long double)part_largest(z)) / (long double)t);
        logp = ((long double)z[target] - (long double)part_largest(z)) / (long double)t - logl(sum);
        if (logp < -(long double)DBL_MAX) check(row.logp == -HUGE_VAL, "far apart, tau %g: logp %g", t, row.logp);
        else check(fabsl((long double)row.logp - logp) <= 4 * DBL_EPSILON * fabsl(logp), "far apart, tau %g: logp %g, not %Lg", t, row.logp,
                   logp);
        check(fabsl((long double)row.other - (1 - p[target] / sum)) < 1e-15L && row.entropy >= 0, "far apart, tau %g: other", t);
    }
}

/* an infinite derivative, alone or two of the same size, gives every logit that is not banned an infinity of the right sign; beside it a
 * finite one is nothing */
static void check_infinite_derivatives(sample *s) {
    static const double by[] = { HUGE_VAL, -HUGE_VAL, ON_GPU ? 1e30 : 1e300, -3, 0 };
    for (int k = 0; k < 3 * 25; k++) {
        const double dlogp = by[k / 3 % 5], dentropy = by[k / 15];
        const long double a = isinf(dlogp) ? copysignl(1, dlogp) : 0, b = isinf(dentropy) ? copysignl(1, dentropy) : 0;
        const int64_t target = 1;
        long double p[4], logs[4];
        double g[4];
        grpo_logits_part part;
        grpo_logits x;
        exact_row e;
        s->type = (grpo_logits_type)(k % 3); s->n = 4; s->target = 1; s->tau = 2; s->masked = 0;
        put(s, 0, 2); put(s, 1, 0); put(s, 2, -HUGE_VAL); put(s, 3, -1);
        e = exact(s, p, logs);
        x = logits_of(s, &target);
        check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_row_gradient(&x, 0, &part, dlogp, dentropy, g), "infinite derivatives");
        for (int v = 0; v < 4 && (a != 0 || b != 0); v++) {
            const long double sign = v == 2 ? 0 : a * ((v == 1) - p[v]) - b * p[v] * (logs[v] + e.entropy);
            check(get(s, g, v) == (double)(sign == 0 ? 0 : copysignl(HUGE_VALL, sign)), "type %d, by %g and %g: %g of logit %d, not %Lg",
                  (int)s->type, dlogp, dentropy, get(s, g, v), v, sign);
        }
    }
}

/* a NaN stays one in every type, whatever its payload */
static void check_nan_derivative(sample *s) {
    static const uint64_t bits[] = { UINT64_C(0x7fffffffffffffff), UINT64_C(0x7ff8000000000000), UINT64_C(0xffffffffe0000000) };
    const int64_t target = 0;
    s->n = 2; s->target = 0; s->tau = 1; s->masked = 0;
    for (int k = 0; k < 9; k++) {
        double g[2], dlogp;
        grpo_logits_part part;
        grpo_logits x;
        memcpy(&dlogp, &bits[k / 3], sizeof dlogp);
        s->type = (grpo_logits_type)(k % 3);
        put(s, 0, 1); put(s, 1, 0);
        x = logits_of(s, &target);
        check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_row_gradient(&x, 0, &part, dlogp, 0, g), "a NaN");
        for (int v = 0; v < 2; v++) check(isnan(get(s, g, v)), "type %d: a gradient of NaN is %g", (int)s->type, get(s, g, v));
    }
}

static void show_worst(int vectors, const char *by) {
    if (worst[vectors].logp == 0) return;
    printf("%s: logp %.2f, entropy %.2f, sum p^2 %.2f, log-sum %.2f, gradient %.2f, without entropy %.2f, cut %.2f, 1 - p %.2f "
           "ulps of %s\n", by, worst[vectors].logp, worst[vectors].entropy, worst[vectors].squares, worst[vectors].log_sum,
           worst[vectors].gradient, worst[vectors].plain_gradient, worst[vectors].cut, worst[vectors].other, vectors ? "float" : "double");
}

/* logits of any magnitude, of which the largest has probability 1 */
static void check_large(rng *r, sample *s) {
    static const double size[] = { 1e5, 1e9, 1e20, 1e37, 3e38 };
    for (int k = 0; k < 200; k++) {
        s->type = random_type(r);
        s->n = 1 + (int)rng_below(r, 900);
        s->tau = k % 3 ? 1 : 0.01;
        s->masked = 0;
        const double most = s->type == GRPO_LOGITS_FLOAT16 ? 6e4 : size[k % 5];
        for (int v = 0; v < s->n; v++) put(s, v, (k % 2 ? -most : most) * (1 - rng_unit(r) / 4));
        s->target = (int)rng_below(r, (uint32_t)s->n);
        check_sample(s);
    }
}

/* the largest logits of the type, of both signs, beside others, so that differences or their rounding errors overflow; at temperatures of
 * every size */
static void check_largest(rng *r, sample *s) {
    if (LDBL_MAX_EXP == DBL_MAX_EXP) return;                            /* the differences overflow there too */
    for (int k = 0; k < 4000 / DRAWS_OVER; k++) {
        const double tau[] = { 1, 1.1e-4, 9999, 1e-5, 1e5, 1e-300, 1e300, DBL_MAX };
        s->type = random_type(r);
        const double most = s->type == GRPO_LOGITS_FLOAT16 ? 6e4 : (double)largest_of(s);
        s->n = 1 + (int)rng_below(r, k % 8 ? 6 : 900);
        s->tau = rng_chance(r, 20) && most < 1e300 ? most * (1 + rng_unit(r)) : rng_pick(r, tau, 8);
        s->masked = 0;
        for (int v = 0; v < s->n; v++) {
            const double size = rng_chance(r, 60) ? 1 : rng_unit(r) * (rng_chance(r, 50) ? 1 : rng_unit(r));
            put(s, v, (rng_chance(r, 50) ? -most : most) * size);
        }
        s->target = (int)rng_below(r, (uint32_t)s->n);
        check_sample(s);
    }
}

/* ---- flush-to-zero ----------------------------------------------------------------------------------------------------------------- */

#if defined(__SSE2__) && !defined(ROWS_ON_GPU)
typedef struct { grpo_logits_part part; grpo_logits_row row; uint16_t half[2000]; grpo_real real[2000]; } flushed;

/* the row's part, numbers and gradient, with or without the processor's flush-to-zero and denormals-are-zero */
static void read_flushing(const grpo_logits *x, int flush, flushed *f) {
    const unsigned mode = _mm_getcsr();
    grpo_status st;
    memset(f, 0, sizeof *f);
    if (flush) _mm_setcsr(mode | 0x8040);
    st = grpo_logits_row_read(x, 0, &f->part);
    if (!st) st = grpo_logits_part_row(&f->part, x->temperature, &f->row);
    if (!st) st = grpo_logits_row_gradient(x, 0, &f->part, -0.3, 0.01, x->type == GRPO_LOGITS_REAL ? (void *)f->real : (void *)f->half);
    _mm_setcsr(mode);
    check(!st, "a row with flush-to-zero %d: %s", flush, status_line(st));
}

/* the same numbers, but 0 for those below the normal range of float; sums of squares, [3] and [8], without squares below it.  Rows of
 * double: within 1e-290 */
static void check_same_flushed(const sample *s, const flushed *a, const flushed *b) {
    const double before[] = { a->part.largest, a->part.sum.hi, a->part.spread.hi, a->part.squares.hi, a->part.target, a->row.logp,
        a->row.entropy, a->row.log_sum, a->row.sum_squares, a->row.other };
    const double after[] = { b->part.largest, b->part.sum.hi, b->part.spread.hi, b->part.squares.hi, b->part.target, b->row.logp,
        b->row.entropy, b->row.log_sum, b->row.sum_squares, b->row.other };
    const double least = by_vectors(s) ? (double)FLT_MIN : 1e-290;
    int bad = 0;
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
        check(before[k] == after[k] || (by_vectors(s) ? fabs(before[k]) < least && after[k] == 0 : fabs(before[k] - after[k]) <= least)
              || ((k == 3 || k == 8) && before[k] > after[k] && before[k] - after[k] < s->n * least),
              "flush-to-zero, type %d, %d logits: %.17g became %.17g", (int)s->type, s->n, before[k], after[k]);
    for (int v = 0; v < s->n; v++) {
        const double x = s->type == GRPO_LOGITS_REAL ? (double)a->real[v] : get(s, a->half, v);
        const double y = s->type == GRPO_LOGITS_REAL ? (double)b->real[v] : get(s, b->half, v);
        bad += !(x == y || (by_vectors(s) ? fabs(x) <= least && y == 0 : fabs(x - y) <= least));
    }
    check(!bad, "flush-to-zero, type %d, %d logits: %d gradients", (int)s->type, s->n, bad);
}

/* flush-to-zero changes nothing above the normal range, nor in rows of binary16, whose smallest numbers lie far above that of float */
static void check_flushed(rng *r, sample *s) {
    static flushed a, b;
    static const double scale[] = { 6e-5, 1e-3, 1, 10, 100, 3e4, 400, 700, 750 };
    for (int k = 0; k < 300 / DRAWS_OVER; k++) {
        const int64_t target = rng_below(r, s->n = 1 + (int)rng_below(r, 1999));
        const grpo_logits x = { (grpo_logits_type)(k % 3), &s->element, 1, s->n, s->n, &target, NULL, k % 2 ? 1 : 0.1, 1 };
        s->type = x.type;
        for (int v = 0; v < s->n; v++) put(s, v, scale[k % 9] * (2 * rng_unit(r) - 1));
        read_flushing(&x, 0, &a);
        read_flushing(&x, 1, &b);
        check_same_flushed(s, &a, &b);
    }
}
#else
static void check_flushed(rng *r, sample *s) { (void)r; (void)s; }
#endif

static void check_rows(sample *s) {
    rng r = { 11 };
    for (int k = 0; k < 6000 / DRAWS_OVER; k++) {
        random_sample(&r, s);
        check_sample(s);
        check_shards(&r, s);
    }
    check_alike(&r, s);
    check_wide(&r, s);
    check_refused(&r, s);
    check_large(&r, s);
    check_largest(&r, s);
    check_flushed(&r, s);
}

int main(void) {
    static sample s;
    if (widest() < 0) return 77;
    for (int k = 0; k <= widest(); k++) {
        instructions = k;
        check_rows(&s);
        check_sixteen_bits();
        show_worst(1, ON_GPU ? "the GPU" : name[k]);
        memset(&worst[1], 0, sizeof worst[1]);
    }
    check_loops();
    check_kept();
    check_nothing_left(&s);
    check_no_temperature();
    check_types();
    check_no_vocabulary();
    check_steep(&s);
    check_infinite_derivatives(&s);
    check_nan_derivative(&s);
    if (!ON_GPU) { check_nearly_certain(&s); check_below_normal(); check_far_apart(); check_extremes(); }
    show_worst(0, "one by one");
    return check_summary();
}
