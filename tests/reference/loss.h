/* The loss, and its slopes by central differences of the terms that depend on a log-probability. */
#ifndef REFERENCE_LOSS_H
#define REFERENCE_LOSS_H
#include "weight.h"
#include "aggregation.h"
#include "group.h"

static inline reference_real *ref_zeros(int64_t n) {
    reference_real *x = (reference_real *)test_alloc(n, sizeof *x);
    int64_t k;
    for (k = 0; k < n; k++) x[k] = 0;
    return x;
}

static inline uint8_t *ref_flags(int64_t n) {
    uint8_t *x = (uint8_t *)test_alloc(n, 1);
    int64_t k;
    for (k = 0; k < n; k++) x[k] = 0;
    return x;
}

static inline int ref_has_ratio(const reference *ref) {
    const grpo_penalty *p = &ref->obj->penalty;
    const int without = ref->obj->surrogate.kind == GRPO_SURROGATE_REINFORCE || ref->obj->surrogate.kind == GRPO_SURROGATE_NONE;
    return !without || (p->kl != GRPO_KL_NONE && p->kl_importance_weight != GRPO_KL_IMPORTANCE_WEIGHT_NONE);
}

/* unit_fixed of every active token; NaN, which is never judged, where a log-probability is infinite or too large */
static inline void ref_find_units(reference *ref) {
    int64_t i, t;
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        ref_begin(ref);
        if (ref->active[t]) ref->unit_fixed[t] = ref_unit_log_ratio(ref, ref->fixed, i, t);
        if (ref->beyond) ref->unit_fixed[t] = NAN;
    }
}

static inline void reference_alloc(reference *ref, const grpo_objective *obj, const rollouts *b, const grpo_real *advantage,
                                   int64_t ranks) {
    int64_t i;
    memset(ref, 0, sizeof *ref);
    ref->obj = obj;
    ref->b = b;
    ref->advantage = advantage;
    ref->factor = ranks ? (reference_real)ranks : 1;
    ref->active = ref_flags(b->n_tokens);
    ref->dropped = ref_flags(b->n_tokens);
    ref->l = ref_zeros(b->n_tokens);
    ref->fixed = ref_zeros(b->n_tokens);
    ref->weight = ref_zeros(b->n_tokens);
    ref->whole = ref_zeros(b->n_tokens);
    ref->coefficient = ref_zeros(b->n_tokens);
    ref->of_kl = ref_zeros(b->n_tokens);
    ref->of_entropy = ref_zeros(b->n_tokens);
    ref->unit_fixed = ref_zeros(b->n_tokens);
    ref->count = (int64_t *)test_alloc(b->n_sequences, sizeof *ref->count);
    for (i = 0; i < b->n_sequences; i++) ref_find_active(ref, i);
    ref_find_coefficients(ref);
    ref->unsure |= ref->beyond;
    ref_weigh(ref);
    if (ref_has_ratio(ref) || obj->weight.trust != GRPO_TRUST_NONE) ref_find_units(ref);
    for (i = 0; i < b->n_sequences; i++) ref_find_dropped(ref, i);
}

static inline void reference_free(reference *ref) {
    free(ref->active); free(ref->dropped);
    free(ref->l); free(ref->fixed); free(ref->weight); free(ref->whole);
    free(ref->coefficient); free(ref->unit_fixed);
    free(ref->of_kl); free(ref->of_entropy);
    free(ref->count);
}

/* ---- terms ------------------------------------------------------------------------------------------------------------------------- */

/* the coefficients of a term's parts */
typedef struct { reference_real policy, kl, entropy; } ref_parts;

static inline ref_parts ref_coefficients(const reference *ref, int64_t t) {
    ref_parts c;
    c.policy = ref->coefficient[t];
    c.kl = ref->of_kl[t];
    c.entropy = ref->of_entropy[t];
    return c;
}

/* c v S (if policy) + c' beta u K - c'' alpha H (if penalty) */
static inline reference_real ref_term(reference *ref, int64_t t, ref_parts c, reference_real unit, int policy, int penalty) {
    ref_size S_size = { 1, 0, 0 }, K_size = { 1, 0, 0 };
    const reference_real v = ref_note(ref, ref->weight[t]);
    reference_real S = policy && v != 0 ? ref_note(ref, v * ref_note(ref, ref_surrogate(ref, t, unit, &S_size))) : 0;
    reference_real K = penalty ? ref_note(ref, ref->whole[t] * ref_note(ref, ref_weighted_kl(ref, t, unit, &K_size))) : 0;
    reference_real H = penalty ? ref_note(ref, ref->whole[t] * ref_note(ref, ref_entropy_bonus(ref, t))) : 0;
    const reference_real S_scale = S_size.added != 0 ? v * S_size.added : ref_abs(S);
    reference_real paid;
    K_size.added *= ref->whole[t];
    K_size.derivative *= ref->whole[t];
    paid = ref_note(ref, c.kl * K_size.added) + ref_note(ref, c.entropy * ref_abs(H));
    ref->size += c.policy * S_scale + paid;
    ref->scale += ref_note(ref, c.policy * S_size.rounding * S_scale) + paid;
    ref->steep += ref_note(ref, c.policy * v * ref_abs(S_size.derivative)) + ref_note(ref, c.kl * K_size.derivative);
    return ref_note(ref, c.policy * S) + ref_note(ref, c.kl * K) + ref_note(ref, c.entropy * H);
}

/* log-ratio y of the unit of token t of sequence i */
static inline reference_real ref_unit(reference *ref, int64_t i, int64_t t) {
    return ref_ratio_is_own(ref) || !ref_has_ratio(ref) ? ref->unit_fixed[t] : ref_unit_log_ratio(ref, ref->l, i, t);
}

static inline reference_real ref_sequence(reference *ref, int64_t i) {
    reference_real sum = 0;
    int64_t t;
    for (t = ref->b->offset[i]; t < ref_end(ref, i); t++) {
        if (!ref->active[t]) continue;
        sum += ref_term(ref, t, ref_coefficients(ref, t), ref_unit(ref, i, t), !is_of_a_group(ref->obj->surrogate.kind), 1);
    }
    return sum;
}

/* the terms of group g that belong to no single sequence */
static inline reference_real ref_of_group(reference *ref, int64_t g) {
    return ref_coupled(ref, g) + ref_pairs(ref, g) + ref_signs(ref, g);
}

static inline reference_answer reference_loss(reference *ref) {
    reference_answer loss = { 0, 0, 0 };
    int64_t i, t;
    ref_begin(ref);
    for (i = 0; i < ref->b->n_sequences; i++) loss.value += ref_sequence(ref, i);
    for (i = 0; i < ref->b->n_groups; i++) loss.value += ref_of_group(ref, i);
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++)
        if (ref->active[t]) loss.value += ref_likelihood(ref, i, t);
    loss.judged = !ref->unsure && !ref->beyond;
    loss.tolerance = 0x1p-49 * ref->scale;       /* at most sixteen roundings lie between a log-probability and the sum */
    return loss;
}

/* ---- slopes ------------------------------------------------------------------------------------------------------------------------ */

/* the sum of the terms that depend on l[t] */
static inline reference_real ref_entered(reference *ref, int64_t i, int64_t t) {
    const int coupled = is_of_a_group(ref->obj->surrogate.kind), policy = ref_surrogate_has_ratio(ref) && !coupled;
    const int penalty = ref->obj->penalty.kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
    reference_real sum;
    int64_t k, g = 0;
    ref_begin(ref);
    while (ref->b->group_begin[g + 1] <= i) g++;
    sum = ref_of_group(ref, g) + ref_likelihood(ref, i, t);
    for (k = ref->b->offset[i]; k < ref_end(ref, i); k++) {
        if (k != t && (!ref->active[k] || ref_ratio_is_own(ref) || !ref_in_unit(ref, k, t))) continue;
        sum += ref_term(ref, k, ref_coefficients(ref, k), ref_unit(ref, i, k), k == t ? !coupled : policy, k == t || penalty);
    }
    return sum;
}

/* the same with `by` added to l[t] */
static inline reference_real ref_moved(reference *ref, int64_t i, int64_t t, reference_real by) {
    reference_real x;
    ref->l[t] = ref->fixed[t] + by;
    x = ref_entered(ref, i, t);
    ref->l[t] = ref->fixed[t];
    return x;
}

/* a central difference; the largest scale, the branches and `beyond` at its two ends: a huge factor times the step may overflow there */
typedef struct { reference_real value, scale; uint64_t branches[2]; int beyond; } ref_difference;

static inline ref_difference ref_central(reference *ref, int64_t i, int64_t t, reference_real by) {
    ref_difference d = { 0, 0, { 0, 0 }, 0 };
    int end;
    for (end = 0; end < 2; end++) {
        const reference_real x = ref_moved(ref, i, t, end ? by : -by);
        d.value += end ? x : -x;
        if (ref->scale > d.scale) d.scale = ref->scale;
        d.beyond |= ref->beyond;
        d.branches[end] = ref->branches;
    }
    d.value /= 2 * by;
    return d;
}

/* are all comparisons the same at l[t] - by and l[t] + by? */
static inline int ref_has_same_branches(reference *ref, int64_t i, int64_t t, reference_real by, uint64_t branches) {
    const ref_difference d = ref_central(ref, i, t, by);
    return d.branches[0] == branches && d.branches[1] == branches;
}

/* adds the rounding to an element (float or double) to the tolerance; not judged beyond the largest float */
static inline void ref_as_element(reference_answer *a) {
    if (sizeof(grpo_real) != 4) return;
    if (ref_abs(a->value) + a->tolerance > 3e38) a->judged = 0;
    a->tolerance += 0x1p-24 * ref_abs(a->value) + 0x1p-149;
}

/* is the step large enough against the rounding of the terms at its ends, at most 2^-103 of their scale? */
static inline int ref_resolves(const ref_difference *d, reference_real steep) {
    return !d->beyond && d->scale <= 0x1p35 * steep;
}

/* d loss / d l[t], of a token of sequence i.  The step is short enough where twice the step changes the difference by less than the
 * tolerance: the remaining error is a third of that change. */
static inline reference_answer reference_slope(reference *ref, int64_t i, int64_t t) {
    reference_answer slope = { 0, 0, 0 };
    const reference_real h = REFERENCE_STEP;
    reference_real steep, reach;
    uint64_t branches;
    ref_difference near, far;
    slope.judged = !ref->unsure;
    if (ref->unsure || !ref->active[t]) return slope;
    ref_entered(ref, i, t);
    steep = ref->steep;
    branches = ref->branches;
    reach = 16 * h + 0x1p-40 * ref->largest_log;           /* the rounding of compared numbers grows with log-probabilities */
    slope.tolerance = 0x1p-33 * steep;
    slope.judged = !ref->beyond && !ref->rough && ref->scale <= 0x1p35 * steep;
    if (!slope.judged) return slope;
    near = ref_central(ref, i, t, h);
    far = ref_central(ref, i, t, 2 * h);
    slope.value = near.value;
    slope.judged = ref_resolves(&near, steep) && ref_resolves(&far, steep) && ref_abs(near.value - far.value) <= slope.tolerance
                   && ref_has_same_branches(ref, i, t, reach, branches);
    ref_as_element(&slope);
    return slope;
}

/* d loss / d log_partition of group g: the loss is quadratic in it, so a central difference is exact */
static inline reference_answer reference_log_z_slope(reference *ref, int64_t g) {
    reference_answer slope = { 0, 0, 0 };
    ref_begin(ref);
    ref->log_z_moved = 1;
    slope.value = ref_coupled(ref, g);
    ref->log_z_moved = -1;
    slope.value = (slope.value - ref_coupled(ref, g)) / 2;
    ref->log_z_moved = 0;
    slope.judged = ref->obj->surrogate.kind == GRPO_SURROGATE_TRAJECTORY_BALANCE && !ref->unsure && !ref->beyond
        && ref->size <= 0x1p58 * ref->steep;
    slope.tolerance = 0x1p-50 * ref->steep;
    ref_as_element(&slope);
    return slope;
}

/* the term of a token of sequence i; the tolerance is what the headers promise */
static inline reference_answer reference_term(reference *ref, int64_t i, int64_t t) {
    const ref_parts whole = { 1, 1, 1 };
    reference_answer term = { 0, 0, 0 };
    if (ref->unsure || !ref->active[t]) return term;
    ref_begin(ref);
    term.value = ref_term(ref, t, whole, ref_unit(ref, i, t), !is_of_a_group(ref->obj->surrogate.kind), 1);
    if (is_of_a_group(ref->obj->surrogate.kind)) term.value += ref_coupled_term(ref, i, t);
    term.judged = !ref->beyond && ref->scale <= 512 * ref->size;       /* not at a clip bound, where the headers compare logarithms */
    term.tolerance = 0x1p-50 * ref->size;
    ref_as_element(&term);
    return term;
}

/* d loss / d entropy of token t, with the same tolerance */
static inline reference_answer reference_entropy_slope(reference *ref, int64_t t) {
    reference_answer slope = { 0, 0, 0 };
    ref_begin(ref);
    slope.value = ref->active[t] ? ref_note(ref, -ref->of_entropy[t] * ref->whole[t] * ref->obj->penalty.entropy_coef) : 0;
    slope.judged = !ref->unsure && !ref->beyond;
    slope.tolerance = 0x1p-50 * ref_abs(slope.value);
    ref_as_element(&slope);
    return slope;
}

/* d loss / d divergence_ref of token t, with the same tolerance */
static inline reference_answer reference_divergence_slope(reference *ref, int64_t t) {
    const grpo_penalty *p = &ref->obj->penalty;
    const int pays = p->kl == GRPO_KL_EXTERNAL && ref->active[t] && (p->kl_on != GRPO_KL_ON_SELECTED || ref->b->kl_mask[t]);
    reference_answer slope = { 0, 0, 0 };
    ref_begin(ref);
    slope.value = pays ? ref_note(ref, ref->of_kl[t] * ref->whole[t] * p->kl_coef) : 0;
    slope.judged = !ref->unsure && !ref->beyond;
    slope.tolerance = 0x1p-50 * ref_abs(slope.value);
    ref_as_element(&slope);
    return slope;
}

static inline int reference_agrees(const reference_answer *expected, double found) {
    return ref_abs(found - expected->value) <= expected->tolerance;
}
#endif
