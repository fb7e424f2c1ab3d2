/* Answers that are the right ones, rounded: to float32, to 16 bits, to decimal digits, or by a running sum. */
#include "rounding.h"
#include "sixteen_bits.h"
#include <stdio.h>
#include <stdlib.h>

int rounding_is_long(const diagnostician *d, const test_case *c) {
    return d->r->precision == &compare_f64 && c->batch.n_tokens > ROUNDING_LONG;
}

/* are all errors above the tolerance within what float32 rounding gives, 16 eps of float32? */
saying rounding_of_float32(const diagnostician *d, const item *it, int *evidence) {
    int seen = 0;
    if (!it->failed || d->r->precision != &compare_f64) return SAYS_NOTHING;
    for (int k = 0; k < N_OUTPUTS; k++) {
        const numbers *f = &it->found->of[k], *e = &it->q->expected.of[k], *s = &it->q->scale.of[k];
        if (stage_of((output_kind)k) != it->stage || !f->value || !e->value) continue;
        for (int64_t j = 0; j < f->count; j++) {
            if (!f->given[j] || compare_error_in(&compare_f64, f->value[j], e->value[j], s->value[j]) <= d->r->tolerance) continue;
            if (!(compare_error_in(&compare_f32, f->value[j], e->value[j], s->value[j]) <= 16)) return SAYS_OTHER;
            seen++;
        }
    }
    *evidence = seen;
    return seen ? SAYS_SAME : SAYS_NOTHING;
}

static int has_few_bits(double x) {
    int exponent;
    const double m = frexp(x, &exponent) * 16;
    return m == floor(m);
}

static double largest_scale(const numbers *s) {
    double most = 0;
    for (int64_t k = 0; k < s->count; k++) if (grpo_is_finite(s->value[k])) most = fmax(most, s->value[k]);
    return most;
}

/* Are all wrong numbers numbers of 16 bits, off by no more than the output's scale, and at least half of them evidence: of more than a few
 * bits, within 8 eps, where the right number is none of 16 bits?  Nearly all of bfloat16 are of float16 too: it is tried first, and so
 * preferred where both explain the same. */
saying rounding_to_bits(const diagnostician *d, const item *it, int bits, int *evidence) {
    int seen = 0, wrong = 0;
    if (!it->failed || d->r->precision != &compare_f64) return SAYS_NOTHING;
    for (int k = 0; k < N_OUTPUTS; k++) {
        const numbers *f = &it->found->of[k], *e = &it->q->expected.of[k], *s = &it->q->scale.of[k];
        const double most = largest_scale(s);
        if (stage_of((output_kind)k) != it->stage || !f->value || !e->value) continue;
        for (int64_t j = 0; j < f->count; j++) {
            const double x = f->value[j], right = e->value[j], near = ldexp(8, 1 - bits) * fmax(s->value[j], fabs(right));
            if (!f->given[j] || compare_error_in(&compare_f64, x, right, s->value[j]) <= d->r->tolerance) continue;
            if (sixteen_bits(x, bits) != x || !(fabs(x - right) <= most)) return SAYS_OTHER;
            seen += !has_few_bits(x) && sixteen_bits(right, bits) != right && fabs(x - right) <= near;
            wrong++;
        }
    }
    *evidence = seen;
    return seen && 2 * seen >= wrong ? SAYS_SAME : SAYS_NOTHING;
}

/* to so many decimals, or (negative) significant digits */
static double rounded_to_digits(double x, int digits) {
    char text[40];
    if (digits > 0) snprintf(text, sizeof text, "%.*f", digits, x);
    else snprintf(text, sizeof text, "%.*g", -digits, x);
    return fabs(x) < 1e15 ? strtod(text, NULL) : x;
}

/* Are these outputs those expected, rounded to digits, and all others right?  A right answer that rounding would have changed
 * contradicts. */
saying rounding_to_digits(const diagnostician *d, const item *it, int digits, unsigned outputs, int *evidence) {
    int seen = 0, other = 0;
    for (int k = 0; k < N_OUTPUTS; k++) {
        const numbers *f = &it->found->of[k], *e = &it->q->expected.of[k], *s = &it->q->scale.of[k];
        if (stage_of((output_kind)k) != it->stage || !f->value || !e->value) continue;
        for (int64_t j = 0; j < f->count; j++) {
            const double x = f->value[j], right = e->value[j], y = outputs >> k & 1 ? rounded_to_digits(right, digits) : right;
            if (!f->given[j] || !grpo_is_finite(right)) continue;
            other += fabs(x - y) > 1e-12 * fabs(y) && compare_error_in(d->r->precision, x, y, s->value[j]) > d->r->tolerance;
            seen += compare_error_in(d->r->precision, y, right, s->value[j]) > d->r->tolerance;
        }
    }
    *evidence = seen;
    return !seen ? SAYS_NOTHING : other ? SAYS_OTHER : it->failed ? SAYS_SAME : SAYS_NOTHING;
}

/* Are all errors of a long case within ROUNDING_SUM?  Short cases with such errors contradict that cause. */
saying rounding_of_long_sum(const diagnostician *d, const item *it, int *evidence) {
    int seen = 0;
    if (!it->failed) return SAYS_NOTHING;
    for (int k = 0; k < N_OUTPUTS; k++) {
        const numbers *f = &it->found->of[k], *e = &it->q->expected.of[k], *s = &it->q->scale.of[k];
        if (stage_of((output_kind)k) != it->stage || !f->value || !e->value) continue;
        for (int64_t j = 0; j < f->count; j++) {
            const double error = f->given[j] ? compare_error_in(&compare_f64, f->value[j], e->value[j], s->value[j]) : 0;
            if (!(error * compare_f64.eps <= ROUNDING_SUM)) return SAYS_NOTHING;
            seen += error > d->r->tolerance;
        }
    }
    *evidence = seen;
    return !seen ? SAYS_NOTHING : rounding_is_long(d, it->c) ? SAYS_SAME : SAYS_OTHER;
}
