/* Errors of single numbers in eps of their scale, and comparison with a mistake. */
#include "judge.h"
#include <stb_ds.h>

/* The numbers of known mistakes are recorded with seven digits: half a unit of the seventh, and a little more. */
#define STORED_DIGITS 6e-7
/* Numbers of a known mistake that differ from the right ones by no more than this, times their scale or times the largest scale of the
 * output, are not recorded (MARGIN of tests/oracle/record.py). */
#define UNSTORED_OF_SCALE 1e-5
#define UNSTORED_OF_LARGEST 1e-9

/* An allowed error of this size is enormous: advantages and ratios are about 1. */
#define ENORMOUS_ERROR 1e-3

question question_of(const test_case *c) {
    question q;
    q.c = c;
    q.expected = answer_expected(c);
    q.scale = answer_scale(c);
    return q;
}

void question_free(question *q) {
    answer_free(&q->expected);
    answer_free(&q->scale);
}

/* ---- right or wrong ------------------------------------------------------------------------------------------------------------- */

static double error_at(const rules *r, const question *q, const answer *found, output_kind output, int64_t k) {
    double scale = q->scale.of[output].value[k];
    if (output == OUT_DYNAMIC_SAMPLING) scale = 0;
    return compare_error_in(r->precision, found->of[output].value[k], q->expected.of[output].value[k], scale);
}

static mismatch judge_output(const rules *r, const question *q, const answer *found, output_kind output) {
    mismatch m;
    memset(&m, 0, sizeof m);
    m.output = output;
    m.index = -1;
    for (int64_t k = 0; k < found->of[output].count; k++) {
        double error;
        if (!found->of[output].given[k]) continue;
        error = error_at(r, q, found, output, k);
        m.judged++;
        if (!(error <= r->tolerance)) m.wrong++;
        if (m.index >= 0 && !(error > m.error)) continue;
        m.index = k;
        m.error = error;
        m.found = found->of[output].value[k];
        m.expected = q->expected.of[output].value[k];
    }
    return m;
}

mismatch *judge(const rules *r, const question *q, const answer *found, int64_t *judged, double *worst) {
    mismatch *wrong = NULL;
    *judged = 0;
    *worst = 0;
    for (int k = 0; k < N_OUTPUTS; k++) {
        mismatch m;
        if (!found->of[k].value || !q->expected.of[k].value) continue;
        m = judge_output(r, q, found, (output_kind)k);
        *judged += m.judged;
        if (m.error > *worst) *worst = m.error;
        if (m.wrong) arrput(wrong, m);
    }
    return wrong;
}

int judge_failed(const mismatch *wrong, stage_kind stage) {
    for (ptrdiff_t k = 0; k < arrlen(wrong); k++) if (stage_of(wrong[k].output) == stage) return 1;
    return 0;
}

/* ---- equal to a mistake? -------------------------------------------------------------------------------------------------------- */

/* the scale belongs to the right number; for a wrong number that is larger, the allowed error is larger in proportion */
static double size_of(double other, double expected, double scale) {
    double size = fmax(fabs(other), scale);
    return expected != 0 && scale > 0 && grpo_is_finite(scale / expected) ? fmax(size, fabs(other / expected) * scale) : size;
}

static int is_near(const rules *r, double found, double other, double size, double more) {
    const compare_precision *p = r->precision;
    if (found == other || (found != found && other != other)) return 1;
    if (!grpo_is_finite(found)) return fabs(other) >= p->max && found == copysign(HUGE_VAL, other);
    if (!grpo_is_finite(other)) return 0;
    return fabs(found - other) <= r->tolerance * p->eps * size + more + p->tiny;
}

int judge_agrees(const rules *r, double found, double other, double scale) {
    return is_near(r, found, other, fmax(fabs(other), grpo_is_finite(scale) ? scale : 0), 0);
}

/* stored: `other` was recorded with few digits */
static int agrees(const rules *r, double found, double other, double expected, double scale, int stored) {
    return is_near(r, found, other, size_of(other, expected, scale), stored ? STORED_DIGITS * fabs(other) : 0);
}

/* Does the agreement of a wrong number with that of a mistake tell nothing?  Where the right number is enormous, so is the error that is
 * allowed, and all usual numbers are within it.  Numbers that agree by their own size tell something. */
static int is_within_error(const rules *r, double found, double other, double expected, double scale, int stored) {
    const double own = fmax(fabs(found), fabs(other)), allowed = r->tolerance * r->precision->eps * size_of(other, expected, scale);
    if (!grpo_is_finite(found) || !grpo_is_finite(other) || found == other || !(allowed > ENORMOUS_ERROR)) return 0;
    return own <= allowed && !is_near(r, found, other, own, stored ? STORED_DIGITS * own : 0);
}

static int named(const numbers *n, int64_t k) { return n->value && n->given[k]; }

static double largest(const numbers *scale) {
    double most = 0;
    for (int64_t k = 0; k < scale->count; k++) if (grpo_is_finite(scale->value[k])) most = fmax(most, scale->value[k]);
    return most;
}

/* is a number that the recorded mistake does not list right, or so close to right that it would not have been recorded? */
static int as_good_as_right(const rules *r, const question *q, const answer *found, output_kind output, int64_t k) {
    double expected = q->expected.of[output].value[k], x = found->of[output].value[k], scale = q->scale.of[output].value[k];
    double most = output == OUT_REPORT || output == OUT_CALL ? scale : largest(&q->scale.of[output]);
    if (error_at(r, q, found, output, k) <= r->tolerance) return 1;
    if (output == OUT_DYNAMIC_SAMPLING || !grpo_is_finite(x) || !grpo_is_finite(expected)) return 0;
    return fabs(x - expected) <= fmax(UNSTORED_OF_SCALE * scale, UNSTORED_OF_LARGEST * most);
}

static int64_t group_of(const grpo_batch *b, int64_t i) {
    int64_t g = 0;
    while (g + 1 < b->n_groups && i >= b->group_begin[g + 1]) g++;
    return g;
}

/* are all advantages of the group 0, as those of equal rewards are? */
static int is_zero(const question *q, int64_t g) {
    const grpo_batch *b = &q->c->batch;
    int any = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) any |= q->expected.of[OUT_ADVANTAGE].value[k] != 0;
    return !any;
}

/* does masked token k of response i have what a token of it has that counts or, if none counts, what all have? */
static int is_of_response(const grpo_batch *b, const double *x, int64_t i, int64_t k) {
    int any = 0, all = 1;
    for (int64_t j = b->offset[i]; j < b->offset[i] + b->length[i]; j++) {
        const int same = x[j] == x[k] || (x[j] != x[j] && x[k] != x[k]);
        all &= same;
        if (!b->mask[j]) continue;
        if (same) return 1;
        any = 1;
    }
    return !any && all;
}

/* APART_MASKED, APART_ALONE or APART_EQUAL if advantage k is wrong by a mistake of its own, where `right` is right or what another mistake
 * gives */
static unsigned apart_at(const question *q, const answer *found, double right, int64_t k) {
    const grpo_batch *b = &q->c->batch;
    const double *x = found->of[OUT_ADVANTAGE].value;
    const int64_t n = b->group_begin[b->n_groups];
    int64_t i = 0, g;
    while (i < n && (k >= b->offset[i] + b->length[i] || k < b->offset[i])) i++;
    if (i == n) return 0;                                              /* padding */
    if (b->mask && !b->mask[k]) return right == 0 && x[k] != 0 && is_of_response(b, x, i, k) ? APART_MASKED : 0;
    if (x[k] == x[k] || right != right) return 0;
    g = group_of(b, i);
    return b->group_begin[g + 1] - b->group_begin[g] == 1 ? APART_ALONE : is_zero(q, g) ? APART_EQUAL : 0;
}

unsigned judge_apart(const question *q, const answer *found) {
    const numbers *f = &found->of[OUT_ADVANTAGE], *e = &q->expected.of[OUT_ADVANTAGE];
    unsigned apart = 0;
    for (int64_t k = 0; f->value && e->value && k < f->count; k++) if (f->given[k]) apart |= apart_at(q, found, e->value[k], k);
    return apart;
}

int judge_is_only_apart(const rules *r, const question *q, const answer *found) {
    const numbers *f = &found->of[OUT_ADVANTAGE], *e = &q->expected.of[OUT_ADVANTAGE];
    int any = 0;
    for (int64_t k = 0; f->value && e->value && k < f->count; k++) {
        if (!f->given[k] || error_at(r, q, found, OUT_ADVANTAGE, k) <= r->tolerance) continue;
        if (!apart_at(q, found, e->value[k], k)) return 0;
        any = 1;
    }
    return any;
}

judge_match judge_against(const rules *r, const question *q, stage_kind stage, const answer *found, const answer *mistake, judge_how how,
                          int *evidence) {
    const int stored = how == JUDGE_ALL || how == JUDGE_NAMED;
    int tells = 0, same = 1, seen = 0, within_error = 0;
    for (int out = 0; out < N_OUTPUTS; out++) {
        const numbers *f = &found->of[out], *m = &mistake->of[out];
        if (stage_of((output_kind)out) != stage || !f->value || !q->expected.of[out].value) continue;
        for (int64_t k = 0; k < f->count && same; k++) {
            double expected = q->expected.of[out].value[k], scale = q->scale.of[out].value[k];
            int differs;
            if (!f->given[k]) continue;
            if (!named(m, k) && how != JUDGE_ALL) continue;
            if (how == JUDGE_APART && out == OUT_ADVANTAGE && apart_at(q, found, m->value[k], k)) continue;
            if (!named(m, k)) { same &= as_good_as_right(r, q, found, (output_kind)out, k); continue; }
            differs = !agrees(r, expected, m->value[k], expected, scale, stored);
            tells |= differs;
            same &= agrees(r, f->value[k], m->value[k], expected, m->size ? fmax(scale, m->size[k]) : scale, stored);
            if (!differs) continue;
            within_error |= is_within_error(r, f->value[k], m->value[k], expected, scale, stored);
            seen += grpo_is_finite(m->value[k]) && m->value[k] != 0;
        }
        for (int64_t k = 0; k < f->count && !same && !tells; k++)
            if (f->given[k] && named(m, k))
                tells = !agrees(r, q->expected.of[out].value[k], m->value[k], q->expected.of[out].value[k], q->scale.of[out].value[k],
                                stored);
    }
    if (evidence) *evidence = same ? seen : 0;
    return !tells || (same && within_error) ? JUDGE_SILENT : same ? JUDGE_SAME : JUDGE_DIFFERENT;
}

/* ---- distance ------------------------------------------------------------------------------------------------------------------- */

static double difference(double a, double b) {
    if (a == b || (a != a && b != b)) return 0;
    return grpo_is_finite(a) && grpo_is_finite(b) ? fabs(a - b) : 1;
}

static double size(double a) { return grpo_is_finite(a) ? fabs(a) : 1; }

static double output_distance(const numbers *a, const numbers *b) {
    double apart = 0, total = 0;
    for (int64_t k = 0; k < a->count; k++) {
        if (!a->given[k] || !b->given[k]) continue;
        apart += difference(a->value[k], b->value[k]);
        total += fmax(size(a->value[k]), size(b->value[k]));
    }
    return total > 0 ? fmin(apart / total, 1) : 0;
}

double judge_distance(unsigned outputs, const answer *a, const answer *b) {
    double worst = 0;
    for (int k = 0; k < N_OUTPUTS; k++)
        if ((outputs >> k & 1) && a->of[k].value && b->of[k].value && a->of[k].count == b->of[k].count)
            worst = fmax(worst, output_distance(&a->of[k], &b->of[k]));
    return worst;
}
