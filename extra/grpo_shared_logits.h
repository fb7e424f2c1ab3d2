/* grpo_shared_logits.h - elements of rows of logits, in their three storage types: grpo_real, bfloat16, binary16.
 * Internal: include the headers that need it. */
#ifndef GRPO_SHARED_LOGITS_H
#define GRPO_SHARED_LOGITS_H

#include "grpo_logits.h"

#define GRPO_NAN_ (HUGE_VAL - HUGE_VAL)      /* a function on a GPU has no nan(""), and Apple's C++20 no NAN after <float.h> */

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"      /* no header uses all of them */
#endif

#ifdef _OPENMP
#define GRPO_OMP_(text) _Pragma(text)
#else
#define GRPO_OMP_(text)
#endif

GRPO_C_BEGIN_

/* *sum += x, rounded to a double-double */
static GRPO_LOGITS_FN void grpo_dd_accumulate_(grpo_dd *sum, double x) {
    grpo_dd s = grpo_two_sum(sum->hi, x);
    *sum = grpo_two_sum(s.hi, s.lo + sum->lo);
}

/* (z - from)/tau as a double-double, so that its exponential has an error of 1 ulp; from halves where the difference, or its rounding
 * error on the way, overflows */
static GRPO_LOGITS_FN grpo_dd grpo_logit_exponent_(double z, double from, double tau) {
    const grpo_dd d = grpo_two_diff(z, from);
    return grpo_is_finite(d.hi + d.lo) ? grpo_dd_div(d, tau) : grpo_dd_div(grpo_two_diff(0.5 * z, 0.5 * from), 0.5 * tau);
}

static GRPO_LOGITS_FN float grpo_float_of_bits_(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static GRPO_LOGITS_FN uint32_t grpo_bits_of_float_(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }

/* y = 2^-15 + half the number where the exponent is 0, else the number itself: no float below the normal range, which may count as 0 */
static GRPO_LOGITS_FN float grpo_from_half_(uint16_t h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = (uint32_t)(h & 0x7fff) << 13;
    const float y = grpo_float_of_bits_(magnitude + 0x38000000), below = y - 6.103515625e-05f;           /* 2^-14 */
    const uint32_t bits = grpo_bits_of_float_(y + (below < 0 ? below : 0));
    return grpo_float_of_bits_(sign | bits | (magnitude >= 0x0f800000 ? 0x7f800000 : 0));                /* infinity, NaN */
}

/* rounds to nearest, ties to even */
static GRPO_LOGITS_FN uint16_t grpo_to_half_(float x) {
    const uint32_t bits = grpo_bits_of_float_(x), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    const uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
    const uint32_t subnormal = grpo_bits_of_float_(grpo_float_of_bits_(a) + 0.5f) - 0x3f000000;             /* units of 2^-24 */
    const uint32_t finite = a >= 0x38800000 ? normal : subnormal, other = a > 0x7f800000 ? 0x7e00 : 0x7c00;
    return (uint16_t)(sign | (a >= 0x477ff000 ? other : finite));                                       /* 65520 rounds to 2^16 */
}

static GRPO_LOGITS_FN uint16_t grpo_to_bfloat_(float x) {
    const uint32_t bits = grpo_bits_of_float_(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

static size_t grpo_element_size_(grpo_logits_type type) { return type == GRPO_LOGITS_REAL ? sizeof(grpo_real) : sizeof(uint16_t); }

static GRPO_LOGITS_FN double grpo_stored_number_(grpo_logits_type type, const void *x, int64_t at) {
    switch (type) {
    case GRPO_LOGITS_BFLOAT16: return (double)grpo_float_of_bits_((uint32_t)((const uint16_t *)x)[at] << 16);
    case GRPO_LOGITS_FLOAT16:  return (double)grpo_from_half_(((const uint16_t *)x)[at]);
    default:                return (double)((const grpo_real *)x)[at];
    }
}

/* -inf if the token is not kept */
static GRPO_LOGITS_FN double grpo_logit_(const grpo_logits *x, int64_t row, int64_t v) {
    const int64_t at = row * x->stride + v;
    return x->kept && !x->kept[at] ? -HUGE_VAL : grpo_stored_number_(x->type, x->logits, at);
}

/* out[v] = g, rounded to the type */
static void grpo_put_logit_(grpo_logits_type type, void *out, int64_t v, double g) {
    int overflow;
    switch (type) {
    case GRPO_LOGITS_BFLOAT16: ((uint16_t *)out)[v] = grpo_to_bfloat_((float)g); break;
    case GRPO_LOGITS_FLOAT16:  ((uint16_t *)out)[v] = grpo_to_half_((float)g); break;
    default:                grpo_put_((grpo_real *)out, v, g, &overflow); break;
    }
}

/* the rule that a temperature violates, GRPO_NO_RULE if it is valid */
static GRPO_LOGITS_FN grpo_rule grpo_rule_of_temperature_(double tau) {
    return tau != tau ? GRPO_NAN : !(tau > 0) ? GRPO_NOT_POSITIVE : grpo_is_finite(tau) ? GRPO_NO_RULE : GRPO_INFINITE;
}

static grpo_status grpo_check_logits_(const grpo_logits *x) {
    if (!x) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_logits_);
    if (!x->logits) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_logits_logits_);
    if (!x->target) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_logits_target_);
    if ((int)x->type < (int)GRPO_LOGITS_REAL || (int)x->type > (int)GRPO_LOGITS_FLOAT16)
        return GRPO_STATUS_(GRPO_NOT_A_CHOICE, GRPO_AT_logits_type_);
    if (x->rows < 0) return GRPO_STATUS_(GRPO_NEGATIVE, GRPO_AT_logits_rows_);
    if (x->vocab < 0) return GRPO_STATUS_(GRPO_NEGATIVE, GRPO_AT_logits_vocab_);
    if (x->stride < x->vocab) return grpo_status_between_(GRPO_CROSSED, GRPO_AT_logits_vocab_, GRPO_AT_logits_stride_, -1);
    if (x->stride > 0 && x->rows > INT64_MAX / (int64_t)sizeof(double) / x->stride)
        return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_logits_rows_);
    return grpo_rule_of_temperature_(x->temperature) ? GRPO_STATUS_(grpo_rule_of_temperature_(x->temperature), GRPO_AT_logits_temperature_)
                                                     : GRPO_OK;
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

GRPO_C_END_
#endif /* GRPO_SHARED_LOGITS_H */
