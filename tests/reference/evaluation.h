/* The state of an evaluation of the loss in binary128.  It records the outcome of every comparison (a hash of the branches taken) and
 * whether every intermediate number is within the range of double. */
#ifndef REFERENCE_EVALUATION_H
#define REFERENCE_EVALUATION_H
#include "../support/random_batch.h"
#include "number.h"

/* beyond this log-probability a difference loses too many digits of the step */
static const double REFERENCE_LARGEST_LOG = 1e9;
/* sums that contain smaller log-probabilities are rounded in binary128 too; their error is at most REFERENCE_BLUR */
static const double REFERENCE_SMALLEST_LOG = 0x1p-30, REFERENCE_BLUR = 0x1p-60;
static const double REFERENCE_STEP = 0x1p-33;
/* a product of three numbers of at most this magnitude, or of their reciprocals, neither overflows nor underflows in double */
static const double REFERENCE_LARGEST = 1e100;

typedef struct {
    int judged;
    reference_real value, tolerance;
} reference_answer;

typedef struct {
    const grpo_objective *obj;
    const rollouts *b;
    const grpo_real *advantage;
    reference_real factor;                       /* ranks */
    uint8_t *active, *dropped;                   /* per token; dropped: by weight.trust or weight.off_policy_mask */
    int64_t rejected;                            /* number of tokens */
    reference_real *l, *fixed, *weight, *whole;  /* per token; weight: what multiplies S; whole: the term */
    reference_real *coefficient, *unit_fixed;    /* per token: c; y of its unit, 0 for unit token */
    reference_real *of_kl, *of_entropy;          /* per token: c of its KL and of its entropy */
    reference_real by_sign[2];                   /* the factor of c for A <= 0, and for A > 0 */
    reference_real likelihood, pairs, signs;     /* coef/D times ranks; signs: coef/N where there is no pair */
    reference_real log_z_moved;                  /* added to every log_partition */
    int64_t *count;                              /* per sequence: T_i */
    int blurred;                                 /* sums of log-probabilities are rounded */
    int unsure;                                  /* rounding may decide which tokens are active */
    /* of the evaluation in progress */
    uint64_t branches;                           /* hash of the outcomes of all comparisons */
    int beyond;                                  /* a number whose products may overflow or underflow in double, or a comparison
                                                    that rounding may decide */
    int rough;                                   /* the slope changes too much within a step of the difference */
    reference_real largest_log;
    reference_real scale, steep;                 /* sums of the sizes of terms and derivatives, times their amplification of rounding */
    reference_real size;                         /* the scale of vectors/scale.md */
} reference;

static inline void ref_begin(reference *ref) {
    ref->branches = 0;
    ref->beyond = ref->rough = 0;
    ref->scale = ref->steep = ref->size = ref->largest_log = 0;
}

static inline int ref_decide(reference *ref, int yes) {
    ref->branches = (ref->branches ^ (yes ? 1u : 2u)) * UINT64_C(0x100000001b3);
    return yes;
}

/* returns x; sets `beyond` if x, or a product with x, may overflow or underflow in double */
static inline reference_real ref_note(reference *ref, reference_real x) {
    if (x != 0 && !(ref_abs(x) * REFERENCE_LARGEST >= 1 && ref_abs(x) <= REFERENCE_LARGEST)) ref->beyond = 1;
    return x;
}

static inline reference_real ref_log(reference *ref, reference_real l) {
    if (!(ref_abs(l) <= REFERENCE_LARGEST_LOG)) ref->beyond = 1;
    if (l != 0 && ref_abs(l) < REFERENCE_SMALLEST_LOG) ref->blurred = 1;
    if (ref_abs(l) > ref->largest_log) ref->largest_log = ref_abs(l);
    return l;
}

static inline int ref_near(reference_real x, reference_real bound) {
    return bound < HUGE_VAL && ref_abs(x - bound) <= 0x1p-40 * ref_abs(bound);
}

/* may rounding decide on which side of the bound x lies?  exact: x is computed without rounding in double, unless blurred */
static inline int ref_is_uncertain(const reference *ref, reference_real x, reference_real bound, int exact) {
    if (x != x || (ref->blurred && ref_abs(x - bound) <= REFERENCE_BLUR)) return 1;
    return !exact && ref_near(x, bound);
}

/* x > bound, where the value or the slope is discontinuous; not judged where rounding may decide */
static inline int ref_exceeds(reference *ref, reference_real x, reference_real bound) {
    if (ref_is_uncertain(ref, x, bound, x == bound)) ref->beyond = 1;
    return ref_decide(ref, x > bound);
}

/* e^y; not judged where y is not 0 and e^y rounds to 1: comparisons of the ratio with 1 would then be wrong */
static inline reference_real ref_ratio(reference *ref, reference_real y) {
    const reference_real w = ref_exp(y);
    if (w == 1 && y != 0) ref->beyond = 1;
    return w;
}

static inline int ref_is_outside(reference *ref, reference_real x, double low, double high) {
    return ref_exceeds(ref, x, high) || ref_exceeds(ref, -x, -(reference_real)low);
}

static inline reference_real ref_bounded(reference *ref, reference_real x, reference_real low, reference_real high) {
    if (ref_decide(ref, x < low)) return low;
    return ref_decide(ref, x > high) ? high : x;
}

static inline reference_real ref_clamp(reference *ref, reference_real x, double low, double high) {
    return low == 0 && high == 0 ? x : ref_bounded(ref, x, low, high);
}

/* ---- tokens of the batch ----------------------------------------------------------------------------------------------------------- */

static inline int64_t ref_end(const reference *ref, int64_t i) { return ref->b->offset[i] + ref->b->length[i]; }

/* are tokens j and k of a response in one segment? */
static inline int ref_same_segment(const reference *ref, int64_t j, int64_t k) {
    int64_t t;
    for (t = j < k ? j : k; t < (j < k ? k : j); t++) if (ref->b->segment_end[t]) return 0;
    return 1;
}

static inline int64_t ref_group_tokens(const reference *ref, int64_t g) {
    int64_t i, n = 0;
    for (i = ref->b->group_begin[g]; i < ref->b->group_begin[g + 1]; i++) n += ref->count[i];
    return n;
}

static inline int64_t ref_first_active(const reference *ref, int64_t i) {
    int64_t t = ref->b->offset[i];
    while (!ref->active[t]) t++;
    return t;
}
#endif
