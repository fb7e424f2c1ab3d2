/* extra/grpo_distill.h: divergences against their definition in binary128; gradients against the definition's derivative through the
 * softmax, which is itself compared with differences; top tokens, pairs and weights against sorted lists and worked cases. */
#include "../../extra/grpo_distill.h"
#include "extra.h"
#include "../logits/sixteen_bits.h"

enum { MOST_VOCAB = 48 };
typedef enum { EASY, NEAR, PEAKED, BANNED, TIED, N_SHAPES } shape;

/* a row: the header's input, and the same in double */
typedef struct {
    grpo_distill x;
    int vocab, k;
    int64_t ids[MOST_VOCAB];
    uint8_t kept[MOST_VOCAB];
    union { grpo_real real[MOST_VOCAB]; uint16_t half[MOST_VOCAB]; } student, teacher;
    double z[MOST_VOCAB], t[MOST_VOCAB];
    int has_ids;
} sample;

/* ---- elements ---------------------------------------------------------------------------------------------------------------------- */

static double element(grpo_logits_type type, const void *from, int v) {
    if (type == GRPO_LOGITS_BFLOAT16) return of_bfloat(((const uint16_t *)from)[v]);
    if (type == GRPO_LOGITS_FLOAT16) return of_half(((const uint16_t *)from)[v]);
    return (double)((const grpo_real *)from)[v];
}

/* stores x as an element, rounded to its type; returns the stored value */
static double put(grpo_logits_type type, void *to, int v, double x) {
    if (type == GRPO_LOGITS_BFLOAT16) ((uint16_t *)to)[v] = bfloat_of(x);
    else if (type == GRPO_LOGITS_FLOAT16) ((uint16_t *)to)[v] = half_of(x);
    else ((grpo_real *)to)[v] = (grpo_real)x;
    return element(type, to, v);
}

/* ---- random rows --------------------------------------------------------------------------------------------------------------------- */

static double random_logit(rng *r, shape s) {
    static const double few[] = { -1, 0, 0.5, 2 };
    if (s == TIED) return rng_pick(r, few, 4);
    if (s == BANNED && rng_chance(r, 30)) return -HUGE_VAL;
    return (s == PEAKED ? 30 : 2) * rng_bell(r);
}

/* out: log-probabilities of n logits at temperature tau */
static void normalise_row(const double *z, int n, double tau, double *out) {
    double most = -HUGE_VAL, sum = 0;
    for (int v = 0; v < n; v++) most = z[v] > most ? z[v] : most;
    for (int v = 0; v < n; v++) sum += exp((z[v] - most) / tau);
    for (int v = 0; v < n; v++) out[v] = (z[v] - most) / tau - log(sum);
}

static void random_ids(rng *r, sample *s) {
    const int share = rng_chance(r, 20) ? 100 : (int)rng_below(r, 100);
    s->has_ids = 1;
    s->k = 0;
    for (int v = 0; v < s->vocab; v++) if (rng_chance(r, share) || (s->k == 0 && v == s->vocab - 1)) s->ids[s->k++] = v;
}

static void random_settings(rng *r, grpo_distill *x, int has_ids) {
    static const double taus[] = { 1, 1, 0.5, 1.1, 2, 1e-3, 1e6, 1e100 }, clips[] = { 0, 0, 0.01, 0.3 }, floors[] = { 0, 0, -10, -2 };
    static const double mosts[] = { 0, 0, 10, 0.2, HUGE_VAL }, betas[] = { 0.5, 0.1, 0.9, 1e-9, 0, 1 };
    x->student.temperature = rng_pick(r, taus, 8);
    x->teacher_temperature = rng_chance(r, 70) ? x->student.temperature : 1;
    x->kind = (grpo_distill_kind)rng_below(r, 3);
    x->beta = rng_pick(r, betas, 6);
    x->tail = has_ids ? (grpo_tail_kind)rng_below(r, 3) : GRPO_TAIL_LEFT_OUT;
    x->clip = rng_pick(r, clips, 4);
    x->logp_min = has_ids && x->tail == GRPO_TAIL_LEFT_OUT ? rng_pick(r, floors, 4) : 0;
    x->divergence_max = rng_pick(r, mosts, 5);
    if (has_ids && x->tail != GRPO_TAIL_RENORMALISED) x->teacher_temperature = 1;
    x->student.type = (grpo_logits_type)rng_below(r, 3);
    x->teacher_type = (grpo_logits_type)rng_below(r, 3);
}

static void random_numbers(rng *r, sample *s) {
    const shape how = (shape)rng_below(r, N_SHAPES);
    const int as_they_are = s->has_ids && s->x.tail != GRPO_TAIL_RENORMALISED;
    double of_teacher[MOST_VOCAB], logs[MOST_VOCAB];
    for (int v = 0; v < s->vocab; v++) {
        s->kept[v] = !(how == BANNED && rng_chance(r, 10));
        s->z[v] = put(s->x.student.type, &s->student, v, random_logit(r, how));
        of_teacher[v] = how == NEAR ? s->z[v] + 1e-6 * rng_bell(r) : random_logit(r, how);
        if (!s->kept[v]) s->z[v] = -HUGE_VAL;
    }
    s->z[s->ids[0]] = put(s->x.student.type, &s->student, (int)s->ids[0], 0.25);         /* one id is kept */
    s->kept[s->ids[0]] = 1;
    of_teacher[s->ids[0]] = 0.75;
    normalise_row(of_teacher, s->vocab, s->x.student.temperature, logs);
    for (int j = 0; j < s->k; j++)
        s->t[j] = put(s->x.teacher_type, &s->teacher, j, (as_they_are ? logs : of_teacher)[s->has_ids ? s->ids[j] : j]);
}

static void random_sample(rng *r, sample *s) {
    memset(s, 0, sizeof *s);
    s->vocab = s->k = 1 + (int)rng_below(r, rng_chance(r, 20) ? 3 : MOST_VOCAB);
    if (rng_chance(r, 70)) random_ids(r, s);
    random_settings(r, &s->x, s->has_ids);
    random_numbers(r, s);
    s->x.student.logits = &s->student; s->x.student.rows = 1; s->x.student.vocab = s->x.student.stride = s->vocab;
    s->x.student.kept = s->kept;
    s->x.teacher_stride = s->x.k = s->k;
}

/* ---- the definition ------------------------------------------------------------------------------------------------------------------ */

typedef struct { reference_real p, q, log_p, log_q, term, slope, size, steepness; int low; } exact_entry;
typedef struct {
    exact_entry entry[MOST_VOCAB + 1];
    int n, is_tail, judged;             /* judged: 0 where rounding may decide a comparison */
    int whole;                          /* 1: p and q sum to 1 and nothing is clipped */
    reference_real q[MOST_VOCAB];       /* over the vocabulary, or renormalised over the ids */
    reference_real D, terms, size, rest;        /* terms: sum of |term|; rest: 1 - the sum of q over the bucket's ids */
    int infinite, outside, bounded;
} exact_row;


/* log(a e^x + b e^y) */
static reference_real log_of_mixture(reference_real a, reference_real x, reference_real b, reference_real y) {
    const reference_real most = x > y ? x : y;
    return most > -(reference_real)HUGE_VAL ? most + ref_ln(a * ref_exp(x - most) + b * ref_exp(y - most)) : most;
}

static reference_real ref_times(reference_real x, reference_real y) { return x == 0 || y == 0 ? 0 : x * y; }
/* p x, but an infinite x stays infinite for p = 0 */
static reference_real times_log(reference_real p, reference_real x) { return x > 1e300 ? x : p * x; }
static void near_bound(exact_row *e, reference_real x, reference_real bound) {
    if (ref_abs(x - bound) <= 1e-10 * (ref_abs(bound) + ref_abs(x))) e->judged = 0;
}

/* log of the softmax of n numbers over tau */
static void log_softmax(const reference_real *z, int n, reference_real tau, reference_real *out) {
    reference_real most = -(reference_real)HUGE_VAL, sum = 0;
    for (int v = 0; v < n; v++) if (z[v] > most) most = z[v];
    for (int v = 0; v < n; v++) if (z[v] > -(reference_real)HUGE_VAL) sum += ref_exp((z[v] - most) / tau);
    for (int v = 0; v < n; v++) out[v] = z[v] > -(reference_real)HUGE_VAL ? (z[v] - most) / tau - ref_ln(sum) : z[v];
}

static reference_real tail_of(reference_real mass, exact_row *e, int *bounded) {
    const reference_real least = 1 - ref_exp(-(reference_real)1e-7);
    near_bound(e, mass, least);
    *bounded = mass < least;
    return *bounded ? least : mass;
}

/* a term, its derivative d D/d log q, and the sizes of both */
static void exact_term(const grpo_distill *x, exact_entry *e) {
    const reference_real p = e->p, q = e->q, beta = x->beta, rest = 1 - beta, lm = log_of_mixture(beta, e->log_p, rest, e->log_q);
    const int has_p = e->log_p > -(reference_real)HUGE_VAL, has_q = e->log_q > -(reference_real)HUGE_VAL;
    const int forward = x->kind == GRPO_DISTILL_FORWARD || (x->kind == GRPO_DISTILL_JENSEN_SHANNON && x->beta == 0);
    const int reverse = x->kind == GRPO_DISTILL_REVERSE || (x->kind == GRPO_DISTILL_JENSEN_SHANNON && x->beta == 1);
    if (forward) {
        e->term = has_p ? times_log(p, e->log_p - e->log_q) : 0;
        e->size = ref_times(p, ref_abs(e->log_p)) + ref_times(p, ref_abs(e->log_q));
        e->slope = -p; e->steepness = p;
    } else if (reverse) {
        e->term = has_q ? times_log(q, e->log_q - e->log_p) : 0;
        e->size = ref_times(q, ref_abs(e->log_p)) + ref_times(q, ref_abs(e->log_q));
        e->slope = q > 0 ? q * (e->log_q - e->log_p + 1) : 0;
        e->steepness = e->size + q;
    } else {
        const reference_real teacher = p > 0 ? beta * p * (e->log_p - lm) : 0, student = q > 0 ? rest * q * (e->log_q - lm) : 0;
        e->term = teacher + student;
        e->size = ref_abs(teacher) + ref_abs(student);
        e->slope = student;
        e->steepness = rest * (ref_times(q, ref_abs(e->log_q)) + ref_times(q, ref_abs(lm)));
    }
    if (e->low) e->slope = 0;
}

static void exact_add(const grpo_distill *x, exact_row *r, reference_real log_p, reference_real log_q) {
    exact_entry *e = &r->entry[r->n++];
    if (x->logp_min < 0) {
        near_bound(r, log_q, x->logp_min);
        near_bound(r, log_p, x->logp_min);
        e->low = log_q < x->logp_min;
        if (e->low) log_q = x->logp_min;
        if (log_p < x->logp_min) log_p = x->logp_min;
    }
    e->log_p = log_p; e->log_q = log_q;
    e->p = ref_exp(log_p); e->q = ref_exp(log_q);
    exact_term(x, e);
    if (x->clip > 0) {
        near_bound(r, e->term, x->clip);
        if (e->term > x->clip) { e->term = x->clip; e->slope = 0; e->size = x->clip; }
    }
    if (e->term > 1e300) r->infinite = 1;
    r->D += e->term;
    r->terms += ref_abs(e->term);
    r->size += e->size;
}

static void exact_bucket(const sample *s, const reference_real *log_q, exact_row *e) {
    reference_real inside = 0, outside = 0;
    int j = 0, bounded_too;
    for (int k = 0; k < s->k; k++) inside += ref_exp(s->t[k]);
    for (int v = 0; v < s->vocab; v++) { if (j < s->k && s->ids[j] == v) j++; else outside += ref_exp(log_q[v]); }
    e->is_tail = 1;
    inside = tail_of(1 - inside, e, &bounded_too);
    outside = tail_of(outside, e, &e->bounded);
    exact_add(&s->x, e, ref_ln(inside), ref_ln(outside));
    e->rest = outside;
    e->whole = e->whole && !e->bounded && !bounded_too;
}

/* the divergence of a student with logits z */
static void exact_divergence(const sample *s, const reference_real *z, exact_row *e) {
    const int renormalised = s->has_ids && s->x.tail == GRPO_TAIL_RENORMALISED;
    reference_real own[MOST_VOCAB], log_q[MOST_VOCAB], t[MOST_VOCAB], log_p[MOST_VOCAB];
    memset(e, 0, sizeof *e);
    e->judged = 1;
    e->whole = (!s->has_ids || s->x.tail != GRPO_TAIL_LEFT_OUT) && s->x.clip == 0 && s->x.logp_min == 0;
    for (int j = 0; j < s->k; j++) { own[j] = z[s->has_ids ? s->ids[j] : j]; t[j] = log_p[j] = s->t[j]; }
    if (!s->has_ids || renormalised) log_softmax(t, s->k, s->x.teacher_temperature, log_p);
    if (renormalised) log_softmax(own, s->k, s->x.student.temperature, log_q);
    else log_softmax(z, s->vocab, s->x.student.temperature, log_q);
    for (int v = 0; v < s->vocab; v++) e->q[v] = renormalised ? 0 : ref_exp(log_q[v]);
    for (int j = 0; j < s->k; j++) {
        if (renormalised) e->q[s->ids[j]] = ref_exp(log_q[j]);
        exact_add(&s->x, e, log_p[j], log_q[renormalised || !s->has_ids ? j : s->ids[j]]);
    }
    if (s->has_ids && s->x.tail == GRPO_TAIL_BUCKET) exact_bucket(s, log_q, e);
    if (s->x.divergence_max > 0) {
        near_bound(e, e->D, 0);
        near_bound(e, e->D, s->x.divergence_max);
        if (ref_abs(e->D) < 1e-12 * e->size + 1e-28) e->judged = 0;
        e->outside = !(e->D >= 0 && (e->D <= s->x.divergence_max || isinf(s->x.divergence_max)));
        if (e->outside) e->D = e->D < 0 ? 0 : s->x.divergence_max;
    }
}

/* what grpo_distill.h states besides ulps of the scale, over 4 ulps: of D 1e-31 (which is the error of binary128 itself), with elements of
 * float 1e-24; of gradients 751 probabilities below the normal range */
static const double TINY_DIVERGENCE = sizeof(grpo_real) == sizeof(float) ? 1e-24 / (4 * (double)FLT_EPSILON) : 1e-31 / (4 * DBL_EPSILON);
static const double TINY_PROBABILITY = 751 * 2.3e-308 / (4 * DBL_EPSILON);

/* d D/d z_v through log softmax; *size: the sum of the absolute values that are added up */
static reference_real exact_slope(const sample *s, const exact_row *e, int v, reference_real *size) {
    const int last = e->is_tail ? e->n - 1 : e->n;
    reference_real sum = 0, sizes = 0, own = 0, steepness = 0;
    int at = -1;
    for (int j = 0; j < e->n; j++) {
        if (e->is_tail && j == last && e->bounded) continue;
        sum += e->entry[j].slope;
        sizes += e->entry[j].steepness;
    }
    for (int j = 0; j < last; j++) if ((s->has_ids ? s->ids[j] : j) == v) at = j;
    if (at >= 0) { own = e->entry[at].slope; steepness = e->entry[at].steepness; }
    else if (e->is_tail && !e->bounded) {
        own = e->q[v] / e->rest * e->entry[last].slope;
        steepness = e->q[v] / e->rest * e->entry[last].steepness;
    }
    *size = (steepness + e->q[v] * sizes + TINY_PROBABILITY) / s->x.student.temperature;
    if (e->outside || isinf(s->z[v])) return *size = 0;
    return (own - e->q[v] * sum) / s->x.student.temperature;
}

/* ---- rows against the definition --------------------------------------------------------------------------------------------------- */

/* names for judge: by kind, and by exact_row.whole */
static const char *const names[3][2] = {
    { "forward, cut", "forward" }, { "reverse, cut", "reverse" }, { "jensen_shannon, cut", "jensen_shannon" }
};
static const char *const gradient_names[3][2] = {
    { "d forward, cut", "d forward" }, { "d reverse, cut", "d reverse" }, { "d jensen_shannon, cut", "d jensen_shannon" }
};

/* within 4 ulps of double of `size`, plus the rounding to the element type */
static void judge_stored(const char *name, grpo_logits_type type, double found, reference_real expected, reference_real size) {
    const reference_real half = type == GRPO_LOGITS_BFLOAT16 ? ref_abs(expected) * 0x1p-8 + 1e-38 : ref_abs(expected) * 0x1p-10 + 0x1p-24;
    if (type == GRPO_LOGITS_REAL) { judge(name, found, expected, size, 1); return; }
    check(ref_abs((reference_real)found - expected) <= half + 4 * DBL_EPSILON * size || ref_abs(expected) > 6e4,
          "%s: 16 bits: %g, expected %g", name, found, (double)expected);
}

/* the reference's derivative against differences of its own value */
static void check_differences(const sample *s, const reference_real *z, const exact_row *e, int v) {
    const reference_real h = 0x1p-36 * (reference_real)s->x.student.temperature;
    reference_real moved[MOST_VOCAB], size, slope = exact_slope(s, e, v, &size), up;
    exact_row there;
    memcpy(moved, z, sizeof moved);
    moved[v] = z[v] + h;
    exact_divergence(s, moved, &there);
    up = there.D;
    moved[v] = z[v] - h;
    exact_divergence(s, moved, &there);
    up = (up - there.D) / (2 * h) * s->x.student.temperature;
    slope *= s->x.student.temperature;
    check(ref_abs(up - slope) <= 1e-19 * (1 + e->size), "difference %g, slope %g", (double)up, (double)slope);
}

static void judge_row(rng *r, const sample *s) {
    exact_row e;
    grpo_distill_part part;
    grpo_real D = (grpo_real)NAN, weight = (grpo_real)(rng_chance(r, 50) ? 1 : 0.75);
    union { grpo_real real[MOST_VOCAB]; uint16_t half[MOST_VOCAB]; } dz;
    reference_real z[MOST_VOCAB], size, scale;
    const int64_t *ids = s->has_ids ? s->ids : NULL;
    const char *name;
    for (int v = 0; v < s->vocab; v++) z[v] = s->z[v];
    exact_divergence(s, z, &e);
    if (!check(grpo_distill_divergence(&s->x, &s->teacher, ids, NULL, &part, &D) == GRPO_OK, "divergence refused")) return;
    if (!check(grpo_distill_gradient(&s->x, &s->teacher, ids, NULL, &part, &weight, 0, &dz) == GRPO_OK, "gradient refused")) return;
    if (!e.judged) return;
    name = names[s->x.kind][e.whole];
    if (e.infinite && !e.outside) { check(D == (grpo_real)HUGE_VAL, "%s: %g is no infinity", name, (double)D); return; }
    check(!e.infinite || D == (grpo_real)e.D, "%s: infinity beyond the most", name);
    scale = !e.whole || e.outside ? e.size : e.is_tail ? e.terms : ref_abs(e.D);
    judge(name, (double)D, e.D, scale + TINY_DIVERGENCE, 1);
    for (int v = 0; v < s->vocab; v++) {
        const reference_real slope = exact_slope(s, &e, v, &size);
        judge_stored(gradient_names[s->x.kind][e.whole], s->x.student.type, element(s->x.student.type, &dz, v), weight * slope,
                     weight * size);
    }
    if (rng_chance(r, 5) && !e.infinite) check_differences(s, z, &e, (int)s->ids[0]);
}

static void test_row(rng *r) {
    sample s;
    random_sample(r, &s);
    judge_row(r, &s);
}

/* two or three tokens, with log-ratios from 1e-4 to 60: where few terms are added up, the errors of each are seen */
static void test_few_tokens(rng *r) {
    static const double betas[] = { 0.5, 0.1, 0.9, 0.3, 1e-9, 1 - 0x1p-53 };
    sample s;
    memset(&s, 0, sizeof s);
    s.vocab = s.k = 2 + (int)rng_below(r, 2);
    s.x.student.logits = &s.student; s.x.student.rows = 1;
    s.x.student.vocab = s.x.student.stride = s.x.teacher_stride = s.vocab;
    s.x.student.temperature = s.x.teacher_temperature = 1;
    s.x.kind = (grpo_distill_kind)rng_below(r, 3);
    s.x.beta = rng_pick(r, betas, 6);
    const double apart = pow(10, 5.8 * rng_unit(r) - 4);
    for (int v = 0; v < s.vocab; v++) {
        s.z[v] = put(GRPO_LOGITS_REAL, &s.student, v, 3 * rng_bell(r));
        s.t[v] = put(GRPO_LOGITS_REAL, &s.teacher, v, s.z[v] + apart * rng_bell(r));
    }
    judge_row(r, &s);
}

/* ---- worked cases ------------------------------------------------------------------------------------------------------------------ */

static grpo_distill of_reals(const grpo_real *z, int rows, int vocab) {
    grpo_distill x;
    memset(&x, 0, sizeof x);
    x.student.logits = z; x.student.rows = rows; x.student.vocab = x.student.stride = x.teacher_stride = vocab;
    x.student.temperature = x.teacher_temperature = 1;
    x.beta = 0.5;
    return x;
}

/* logits whose difference, or its rounding error, overflows: a power of two as unit of logits and temperatures changes nothing but the
 * gradient's unit */
static void test_far_apart(void) {
    const int e = sizeof(grpo_real) == sizeof(float) ? 127 : 1023;
    const double most = 2 - (sizeof(grpo_real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON);
    const double student[][3] = { { 1.75, -1.75, -1 }, { 0.6, most, 0.55 }, { -most, most, 0.7 } };
    const double teacher[][3] = { { -1.5, 1.75, 0.25 }, { most, 0.7, 0.9 }, { most, 0.8, 0.65 } };
    for (int k = 0; k < 9; k++) {
        grpo_real z[2][3], t[2][3], D[2], g[2][3];
        const grpo_real weight = 1;
        for (int far = 0; far < 2; far++) {
            grpo_distill x = of_reals(z[far], 1, 3);
            grpo_distill_part part;
            for (int v = 0; v < 3; v++) z[far][v] = (grpo_real)ldexp(student[k / 3][v], far ? e : 0);
            for (int v = 0; v < 3; v++) t[far][v] = (grpo_real)ldexp(teacher[k / 3][v], far ? e : 0);
            x.kind = (grpo_distill_kind)(k % 3); x.beta = 0.5;
            x.student.temperature = x.teacher_temperature = ldexp(1, far ? e : 0);
            check(!grpo_distill_divergence(&x, t[far], NULL, NULL, &part, &D[far]), "far apart");
            check(!grpo_distill_gradient(&x, t[far], NULL, NULL, &part, &weight, 0, g[far]), "far apart");
        }
        check(D[0] > 0 && D[0] == D[1], "far apart, kind %d: %g, not %g", k % 3, (double)D[1], (double)D[0]);
        for (int v = 0; v < 3; v++)
            check(fabs(ldexp((double)g[1][v], e - 1) - ldexp((double)g[0][v], -1)) <= 2 - most,
                  "far apart, kind %d: gradient %g, not %g", k % 3, ldexp((double)g[1][v], e), (double)g[0][v]);
    }
}

/* exactly 0 for equal rows, also if one is shifted by a constant */
static void test_equal(void) {
    static const int64_t some[3] = { 0, 2, 3 };
    grpo_real z[5] = { 1, -2, 0.5, 3, -(grpo_real)HUGE_VAL }, t[5], dz[5], D, one = 1, picked[3];
    grpo_distill_part part;
    for (int shift = 0; shift < 2; shift++)
        for (int kind = 0; kind < 3; kind++) {
            grpo_distill x = of_reals(z, 1, 5);
            x.kind = (grpo_distill_kind)kind;
            for (int v = 0; v < 5; v++) t[v] = z[v] + (grpo_real)(8 * shift);
            for (int k = 0; k < 3; k++) picked[k] = t[some[k]];
            D = 1;
            check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && D == 0, "equal: %g", (double)D);
            check(!grpo_distill_gradient(&x, t, NULL, NULL, &part, &one, 0, dz), "equal");
            for (int v = 0; v < 5; v++) check(dz[v] == 0, "equal: d %g", (double)dz[v]);
            x.tail = GRPO_TAIL_RENORMALISED; x.k = 3;
            D = 1;
            check(!grpo_distill_divergence(&x, picked, some, NULL, &part, &D) && D == 0, "equal ids: %g", (double)D);
            check(!grpo_distill_gradient(&x, picked, some, NULL, &part, &one, 0, dz), "equal ids");
            for (int v = 0; v < 5; v++) check(dz[v] == 0, "equal ids: d %g", (double)dz[v]);
        }
}

/* infinite where one row has probability 0 and the other has not; finite for mixtures, and with a clip or a floor */
static void test_infinite(void) {
    static const int64_t all[3] = { 0, 1, 2 };
    const grpo_real none = -(grpo_real)HUGE_VAL, z[3] = { 0, 0, none }, t[3] = { 0, none, 0 };
    const grpo_real logs[3] = { (grpo_real)-0.75, none, (grpo_real)-0.75 };
    grpo_real D = 0, dz[3] = { 0, 0, 0 }, one = 1;
    grpo_distill_part part;
    grpo_distill x = of_reals(z, 1, 3);
    check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && D == (grpo_real)HUGE_VAL, "forward: %g", (double)D);
    check(!grpo_distill_gradient(&x, t, NULL, NULL, &part, &one, 0, dz) && dz[0] == 0 && dz[1] == (grpo_real)0.5 && dz[2] == 0,
          "what is finite of d forward: %g %g %g", (double)dz[0], (double)dz[1], (double)dz[2]);
    x.kind = GRPO_DISTILL_REVERSE;
    check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && D == (grpo_real)HUGE_VAL, "reverse: %g", (double)D);
    check(!grpo_distill_gradient(&x, t, NULL, NULL, &part, &one, 0, dz) && dz[0] == -(grpo_real)HUGE_VAL && dz[1] == (grpo_real)HUGE_VAL
          && dz[2] == 0, "d reverse: %g %g %g", (double)dz[0], (double)dz[1], (double)dz[2]);
    x.kind = GRPO_DISTILL_JENSEN_SHANNON;
    check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && fabs((double)D - log(2) / 2) < 1e-6, "mixture: %g", (double)D);
    x.kind = GRPO_DISTILL_FORWARD; x.clip = 0.25;
    check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && D == (grpo_real)0.25, "a clipped infinity: %g", (double)D);
    x.clip = 0; x.divergence_max = 2;
    for (int kind = 0; kind < 2; kind++) {
        x.kind = (grpo_distill_kind)kind;
        check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D) && D == 2, "a clamped infinity: %g", (double)D);
        check(!grpo_distill_gradient(&x, t, NULL, NULL, &part, &one, 0, dz) && dz[0] == 0 && dz[1] == 0, "d of a clamped infinity");
    }
    x.kind = GRPO_DISTILL_FORWARD; x.divergence_max = 0;
    x.k = 3; x.logp_min = -10;
    check(!grpo_distill_divergence(&x, logs, all, NULL, &part, &D) && D > 0 && D < 10, "floor: %g", (double)D);
}

/* one renormalised id: divergence and gradient are 0; all ids renormalised, or the vocabulary in reverse order, change no bit */
static void test_sets(rng *r) {
    enum { N = 40 };
    grpo_real z[N], t[N], back_z[N], back_t[N], D[3], dz[N], of_all[N], one = 1;
    int64_t all[N], id = 7;
    grpo_distill_part part;
    grpo_distill x;
    for (int v = 0; v < N; v++) {
        z[v] = (grpo_real)rng_bell(r); t[v] = (grpo_real)rng_bell(r);
        back_z[N - 1 - v] = z[v]; back_t[N - 1 - v] = t[v];
        all[v] = v;
    }
    x = of_reals(z, 1, N);
    x.kind = (grpo_distill_kind)rng_below(r, 3);
    check(!grpo_distill_divergence(&x, t, NULL, NULL, &part, &D[0]), "all");
    check(!grpo_distill_gradient(&x, t, NULL, NULL, &part, &one, 0, dz), "d all");
    x.k = N; x.tail = GRPO_TAIL_RENORMALISED;
    check(!grpo_distill_divergence(&x, t, all, NULL, &part, &D[1]), "ids");
    check(!grpo_distill_gradient(&x, t, all, NULL, &part, &one, 0, of_all), "d ids");
    x.k = 0; x.tail = GRPO_TAIL_LEFT_OUT; x.student.logits = back_z;
    check(!grpo_distill_divergence(&x, back_t, NULL, NULL, &part, &D[2]), "backwards");
    check(D[0] == D[1] && D[0] == D[2] && !memcmp(dz, of_all, sizeof dz), "other bits: %g %g %g", (double)D[0], (double)D[1], (double)D[2]);
    x.student.logits = z; x.k = 1; x.tail = GRPO_TAIL_RENORMALISED;
    check(!grpo_distill_divergence(&x, t, &id, NULL, &part, &D[0]) && D[0] == 0, "one id: %g", (double)D[0]);
    check(!grpo_distill_gradient(&x, t, &id, NULL, &part, &one, 0, dz), "one id");
    for (int v = 0; v < N; v++) check(dz[v] == 0, "one id: d %g", (double)dz[v]);
}

/* rows with a stride; masked rows may hold anything, and get 0 or stay; gradients in place of the logits; padding is untouched */
static void test_rows(void) {
    enum { ROWS = 3, N = 4, STRIDE = 6 };
    static const uint8_t mask[ROWS] = { 1, 0, 1 };
    static const grpo_real weight[ROWS] = { 1, (grpo_real)NAN, -2 };
    grpo_real z[ROWS * STRIDE], t[ROWS * N], D[ROWS], dz[ROWS * STRIDE], added[ROWS * STRIDE], kept;
    grpo_distill_part part[ROWS];
    grpo_distill x;
    for (int k = 0; k < ROWS * STRIDE; k++) { z[k] = k / STRIDE == 1 ? (grpo_real)NAN : (grpo_real)(k % 5); dz[k] = 77; added[k] = 1; }
    for (int k = 0; k < ROWS * N; k++) t[k] = k / N == 1 ? (grpo_real)NAN : (grpo_real)(k % 3);
    x = of_reals(z, ROWS, N);
    x.student.stride = STRIDE;
    check(!grpo_distill_divergence(&x, t, NULL, mask, part, D) && D[0] > 0 && D[1] == 0 && D[2] > 0, "rows");
    check(!grpo_distill_gradient(&x, t, NULL, mask, part, weight, 0, dz), "rows");
    check(!grpo_distill_gradient(&x, t, NULL, mask, part, weight, 1, added), "rows added");
    check(!grpo_distill_gradient(&x, t, NULL, mask, part, weight, 0, z), "rows in place");
    for (int k = 0; k < ROWS * STRIDE; k++) {
        const int padding = k % STRIDE >= N;
        kept = padding ? 77 : k / STRIDE == 1 ? 0 : dz[k];
        check(dz[k] == kept, "row %d: %g", k / STRIDE, (double)dz[k]);
        if (!padding) check(z[k] == dz[k], "in place: %g, %g", (double)z[k], (double)dz[k]);
        check(padding || k / STRIDE == 1 ? added[k] == 1 : fabs((double)(added[k] - (1 + dz[k]))) < 1e-6, "added: %g", (double)added[k]);
    }
}

/* verl's forward KL over top k: teacher log 1/2 and -20, student log 1/4, log-probabilities floored at -10 */
static void test_verl(void) {
    const double q = log(0.25), e10 = exp(-10);
    static const int64_t ids[2] = { 1, 3 };
    grpo_real z[4] = { 0, 0, 0, 0 }, t[2], D, dz[4], one = 1;
    grpo_distill_part part;
    grpo_distill x = of_reals(z, 1, 4);
    t[0] = (grpo_real)log(0.5); t[1] = -20;
    x.k = x.teacher_stride = 2; x.logp_min = -10; x.divergence_max = 10;
    check(!grpo_distill_divergence(&x, t, ids, NULL, &part, &D), "verl");
    check(fabs((double)D - ((double)exp((double)t[0]) * ((double)t[0] - q) + e10 * (-10 - q))) < 1e-6, "verl: %g", (double)D);
    check(!grpo_distill_gradient(&x, t, ids, NULL, &part, &one, 0, dz), "verl");
    check(fabs((double)dz[0] - 0.25 * (0.5 + e10)) < 1e-6 && fabs((double)dz[1] - (0.25 * (0.5 + e10) - 0.5)) < 1e-6, "verl: d %g %g",
          (double)dz[0], (double)dz[1]);
    t[0] = -3;                                                          /* a negative sum: divergence and gradient are 0 */
    check(!grpo_distill_divergence(&x, t, ids, NULL, &part, &D) && D == 0, "verl, negative: %g", (double)D);
    check(!grpo_distill_gradient(&x, t, ids, NULL, &part, &one, 0, dz) && dz[0] == 0 && dz[1] == 0, "verl, negative: d");
}

/* ---- top tokens -------------------------------------------------------------------------------------------------------------------- */

static const double *sorted_by;
static int largest_first(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    if (sorted_by[x] != sorted_by[y]) return sorted_by[x] > sorted_by[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int in_order(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void test_top(rng *r) {
    sample s;
    int64_t ids[MOST_VOCAB], order[MOST_VOCAB];
    grpo_real logp[MOST_VOCAB], numbers[MOST_VOCAB];
    reference_real z[MOST_VOCAB], expected[MOST_VOCAB];
    int64_t k;
    random_sample(r, &s);
    k = 1 + rng_below(r, s.vocab);
    for (int v = 0; v < s.vocab; v++) { order[v] = v; z[v] = s.z[v]; }
    sorted_by = s.z;
    qsort(order, (size_t)s.vocab, sizeof *order, largest_first);
    check(!grpo_distill_at(&s.x.student, NULL, order, k, logp), "at");
    log_softmax(z, s.vocab, s.x.student.temperature, expected);
    for (int64_t j = 0; j < k; j++) {
        if (isinf(s.z[order[j]])) check(logp[j] == -(grpo_real)HUGE_VAL, "at: banned");
        else judge("log-probability", (double)logp[j], expected[order[j]], ref_abs(expected[order[j]]) + 1e-15, 1);
        numbers[j] = (grpo_real)order[j];
    }
    check(!grpo_distill_top(&s.x.student, NULL, k, ids), "top");
    check(!grpo_distill_sort(1, k, order, numbers), "sort");
    for (int64_t j = 0; j < k; j++)
        check(ids[j] == order[j] && numbers[j] == (grpo_real)order[j], "top: %d, expected %d", (int)ids[j], (int)order[j]);
    qsort(order, (size_t)k, sizeof *order, in_order);
    check(!memcmp(ids, order, (size_t)k * sizeof *ids), "not in order");
}

/* ---- pairs and weights ------------------------------------------------------------------------------------------------------------- */

static void test_pairs(rng *r, sequences *p) {
    const int64_t G = p->b.n_groups;
    int64_t *teacher = test_alloc(G, sizeof *teacher), *student = test_alloc(G, sizeof *student), n;
    double *weight = test_alloc(G, sizeof *weight);
    const double strength = rng_unit(r);
    check(!grpo_distill_pairs(&p->b, p->flag, teacher, student) && !grpo_frontier_weight(&p->b, p->flag, strength, weight), "pairs");
    for (int64_t g = 0; g < G; g++) {
        int64_t best = -1, worst = -1, most = -1, least = INT64_MAX, right = 0;
        const int64_t size = p->b.group_begin[g + 1] - p->b.group_begin[g];
        for (int64_t i = p->b.group_begin[g + 1] - 1; i >= p->b.group_begin[g]; i--) {
            mean_of(p, p->b.logp, NULL, i, &n);
            right += p->flag[i];
            if (p->flag[i] && n <= least) { best = i; least = n; }
            if (!p->flag[i] && n >= most) { worst = i; most = n; }
        }
        check(teacher[g] == (worst < 0 ? -1 : best) && student[g] == (best < 0 ? -1 : worst), "pair: %d, %d",
              (int)teacher[g], (int)student[g]);
        judge("frontier_weight", weight[g], (reference_real)strength * 4 * right * (size - right) / size / size,
              (reference_real)strength * 4 * right * (size - right) / size / size, 0);
    }
    free(teacher); free(student); free(weight);
}

static void test_importance(rng *r, sequences *p) {
    const double clip = rng_chance(r, 50) ? 2 : 1e9;
    check(!grpo_distill_importance_weight(&p->b, clip, p->tokens), "importance");
    for (int64_t i = 0; i < p->N; i++)
        for (int64_t t = p->b.offset[i]; t < p->b.offset[i] + p->b.length[i]; t++) {
            reference_real x = (reference_real)p->b.logp[t] - p->b.logp_old[t], w;
            if (!counts(p, t)) { check(p->tokens[t] == 0, "importance of a masked token"); continue; }
            x = x > 20 ? 20 : x < -20 ? -20 : x;
            w = ref_exp(x) < clip ? ref_exp(x) : clip;
            judge("importance_weight", (double)p->tokens[t], w, w, 1);
        }
}

/* ---- added to a policy loss -------------------------------------------------------------------------------------------------------- */

enum { ROWS_BESIDE = 5, VOCAB_BESIDE = 6 };
static const int64_t begin_beside[2] = { 0, 2 }, offset_beside[2] = { 0, 2 }, length_beside[2] = { 2, 3 };
static const int64_t target_beside[ROWS_BESIDE] = { 0, 5, 2, 2, 1 };
static const uint8_t mask_beside[ROWS_BESIDE] = { 1, 1, 1, 0, 1 };
static const double coef_beside = 0.375, clip_beside = 0.25;

/* GRPO's clipped surrogate plus coef_beside times the divergence at logits z, both averaged over tokens, then over responses */
static reference_real loss_beside(const sample *s, const reference_real *z, const grpo_real *old, const grpo_real *advantage) {
    reference_real loss = 0, log_p[VOCAB_BESIDE];
    for (int i = 0; i < 2; i++) {
        reference_real sum = 0;
        int n = 0;
        for (int64_t t = offset_beside[i]; t < offset_beside[i] + length_beside[i]; t++) {
            reference_real w, kept, A = advantage[t];
            exact_row e;
            if (!mask_beside[t]) continue;
            log_softmax(z + t * VOCAB_BESIDE, VOCAB_BESIDE, s[t].x.student.temperature, log_p);
            exact_divergence(&s[t], z + t * VOCAB_BESIDE, &e);
            w = ref_exp(log_p[target_beside[t]] - old[t]);
            kept = w > 1 + clip_beside ? 1 + clip_beside : w < 1 - clip_beside ? 1 - clip_beside : w;
            sum += coef_beside * e.D - (w * A < kept * A ? w * A : kept * A);
            n++;
        }
        loss += sum / n / 2;
    }
    return loss;
}

static void test_beside_a_policy_loss(rng *r) {
    sample s[ROWS_BESIDE];
    grpo_real z[ROWS_BESIDE * VOCAB_BESIDE], t[ROWS_BESIDE * VOCAB_BESIDE], dz[ROWS_BESIDE * VOCAB_BESIDE], old[ROWS_BESIDE];
    grpo_real advantage[ROWS_BESIDE], D[ROWS_BESIDE], logp[ROWS_BESIDE], entropy[ROWS_BESIDE], slope[3][ROWS_BESIDE];
    reference_real exact[ROWS_BESIDE * VOCAB_BESIDE], up, h = 0x1p-36;
    grpo_logits_part parts[ROWS_BESIDE];
    grpo_distill_part part[ROWS_BESIDE];
    grpo_objective obj;
    grpo_batch batch;
    grpo_output out;
    grpo_report report;
    grpo_logits_batch rows;
    grpo_distill x;
    memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out); memset(&rows, 0, sizeof rows); memset(s, 0, sizeof s);
    for (int k = 0; k < ROWS_BESIDE * VOCAB_BESIDE; k++) { z[k] = (grpo_real)rng_bell(r); t[k] = (grpo_real)rng_bell(r); exact[k] = z[k]; }
    for (int k = 0; k < ROWS_BESIDE; k++) { old[k] = (grpo_real)(-1.5 - rng_unit(r)); advantage[k] = (grpo_real)(k % 2 ? 0.75 : -1.25); }
    x = of_reals(z, ROWS_BESIDE, VOCAB_BESIDE);
    x.student.temperature = x.teacher_temperature = 1.5;
    x.kind = (grpo_distill_kind)rng_below(r, 3);
    for (int k = 0; k < ROWS_BESIDE; k++) {
        s[k].x = x; s[k].vocab = s[k].k = VOCAB_BESIDE;
        for (int v = 0; v < VOCAB_BESIDE; v++) { s[k].z[v] = z[k * VOCAB_BESIDE + v]; s[k].t[v] = t[k * VOCAB_BESIDE + v]; }
    }
    grpo_objective_named("grpo", &obj);
    obj.surrogate.eps_low = obj.surrogate.eps_high = clip_beside;
    obj.penalty.kl = GRPO_KL_EXTERNAL; obj.penalty.kl_coef = coef_beside;
    batch.n_groups = 1; batch.group_begin = begin_beside; batch.offset = offset_beside; batch.length = length_beside;
    batch.n_tokens = ROWS_BESIDE; batch.logp_old = old; batch.mask = mask_beside; batch.divergence_ref = D;
    rows.logits = x.student; rows.logits.target = target_beside;
    rows.part = parts; rows.logp = logp; rows.entropy = entropy; rows.dlogits = dz;
    out.dlogp = slope[0]; out.dentropy = slope[1]; out.ddivergence_ref = slope[2];
    check(!grpo_distill_divergence(&x, t, NULL, mask_beside, part, D), "beside: divergence");
    check(!grpo_logits_loss(&obj, &batch, advantage, NULL, &rows, &out, &report), "beside: loss");
    check(!grpo_distill_gradient(&x, t, NULL, mask_beside, part, slope[2], 1, dz), "beside: gradient");
    up = loss_beside(s, exact, old, advantage);
    check(ref_abs(report.loss - up) < 8 * REAL_EPS, "beside: loss %g, expected %g", report.loss, (double)up);
    for (int k = 0; k < ROWS_BESIDE * VOCAB_BESIDE; k++) {
        exact[k] = z[k] + h;
        up = loss_beside(s, exact, old, advantage);
        exact[k] = z[k] - h;
        up = (up - loss_beside(s, exact, old, advantage)) / (2 * h);
        exact[k] = z[k];
        judge("d loss/d logits", (double)dz[k], up, 1, 1);
    }
}

/* log-ratios are clamped to 20 */
static void test_far_ratios(void) {
    four f;
    grpo_real old[12];
    four_make(&f);
    for (int k = 0; k < 12; k++) old[k] = f.tokens[k];
    f.b.logp_old = old;
    old[0] = -26; old[1] = 24; f.mask[2] = 0;
    check(!grpo_distill_importance_weight(&f.b, 1e12, f.found), "far ratios");
    judge("importance_weight", (double)f.found[0], ref_exp(20), ref_exp(20), 1);
    judge("importance_weight", (double)f.found[1], ref_exp(-20), ref_exp(-20), 1);
    check(f.found[2] == 0 && f.found[3] == 1, "far ratios: %g %g", (double)f.found[2], (double)f.found[3]);
}

int main(void) {
    static list_test *const rows[] = { test_row }, *const few[] = { test_sets, test_top }, *const beside[] = { test_beside_a_policy_loss };
    static list_test *const few_tokens[] = { test_few_tokens };
    static sequence_test *const of_sequences[] = { test_pairs, test_importance };
    test_equal();
    test_far_apart();
    test_infinite();
    test_rows();
    test_verl();
    test_far_ratios();
    test_lists(1, 2000, rows, COUNT(rows));
    test_lists(2, 500, few, COUNT(few));
    test_lists(4, 15, beside, COUNT(beside));
    test_lists(5, 20000, few_tokens, COUNT(few_tokens));
    test_sequences(3, 20, of_sequences, COUNT(of_sequences));
    print_tallies();
    return check_summary();
}
