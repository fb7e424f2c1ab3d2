/* grpo_shared.h - what the optional headers share: for callers, the rules below; for the implementations (internal), checks of arguments,
 * iteration over unmasked tokens, means, prefixes of the tokens in ascending order.
 *
 * These rules hold for the functions of grpo_selection.h, grpo_control.h, grpo_credit.h, grpo_rewards.h, grpo_weights.h and grpo_critic.h:
 *
 * Tokens     Only unmasked tokens count; the weights of axis 6 have no effect.  Inputs at masked tokens are not read.  Outputs per token
 *            are laid out as the batch is, and are 0 at masked tokens.
 * Arrays     of (sequences) are indexed as batch.reward, of (n_tokens) as batch.logp; lists of (n) are independent of a batch.
 * Inputs     must be finite and at most 1e150 in magnitude (those that are only compared with: finite).  A status has the argument's
 *            position and the entry, of a struct argument the member's number, from 0 (grpo_messages.h names them); nothing has been
 *            written then.  Functions that return a number return NaN if an argument is not finite or outside of the domain in their
 *            comment; they do not check for 1e150.
 * Overlap    Selection, control, credit, critic: an output may be the same array as an input of its type and length, if the function allows
 *            it; if not, and if two arrays of one type that it writes overlap, the status is GRPO_COMBINATION.  Rewards, weights: outputs
 *            overlap no argument, unless a comment says so; that is not checked.
 * Accuracy   Functions are pure, and statistics are exact: comparisons are those of the exact quantities (barring underflow; of quotients,
 *            roots and exponentials to 28 digits), ties go to the token, response or list entry that comes first.
 * Range      A result too large for its type becomes an infinity.  So may one that is not, if a product of inputs in it exceeds 1e308;
 *            infinities of opposite sign in one sum cancel.  Products and quotients of inputs below 1e-290 lose digits, and below 1e-308
 *            count as 0.
 * Sources    are in parentheses: after an arXiv id the equations, and the settings of the paper or of the code that is named. */
#ifndef GRPO_SHARED_H
#define GRPO_SHARED_H

#include "grpo_shared_mixture.h"

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"      /* no header uses all of them */
#endif

GRPO_C_BEGIN_

/* 1 if advantages read batch.truncated where there is one, although it may be NULL */
static inline int grpo_reads_truncated_(const grpo_advantage *a) {
    return a->truncated_tail != 0 || (a->credit == GRPO_CREDIT_GAE && a->bootstrap == GRPO_BOOTSTRAP_REPEAT);
}

/* 1 if a loss depends on how responses are grouped by prompt */
static inline int grpo_needs_groups_(const grpo_objective *obj) {
    switch (obj->aggregation.kind) {
    case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: case GRPO_AGGREGATION_GROUP_MEAN: case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN:
    case GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD: return 1;
    default: return GRPO_AMONG_(obj->surrogate.kind, GRPO_GROUPS_) || obj->penalty.preference != GRPO_PREFERENCE_NONE;
    }
}

/* ---- checks of arguments ----
 * They name the argument by its number in the public function, from 1, and the entry at fault; for a struct the entry is the number of the
 * member, from 0.  If a batch has no groups no array is required. */

static inline grpo_status grpo_refuse_(grpo_rule rule, int place, int64_t index) {
    return grpo_status_at_(rule, GRPO_AT_ARGUMENT_ + place, index);
}

static inline grpo_status grpo_refuse_both_(grpo_rule rule, int place, int other, int64_t index) {
    return grpo_status_between_(rule, GRPO_AT_ARGUMENT_ + place, GRPO_AT_ARGUMENT_ + other, index);
}

static inline grpo_status grpo_check_output_(const void *x, int place) { return x ? GRPO_OK : grpo_refuse_(GRPO_NULL, place, -1); }

/* an array of n entries must not be NULL, unless n is 0 */
static inline grpo_status grpo_check_not_null_(const void *x, int64_t n, int place) {
    return n > 0 ? grpo_check_output_(x, place) : GRPO_OK;
}

static inline grpo_status grpo_check_count_(int64_t n, int64_t least, int place) {
    return n >= least ? GRPO_OK : grpo_refuse_(least == 0 ? GRPO_NEGATIVE : least == 1 ? GRPO_NOT_POSITIVE : GRPO_TOO_SMALL, place, -1);
}

/* refuses n times m doubles that exceed the size of an array; n, m >= 0 */
static inline grpo_status grpo_check_table_(int64_t n, int64_t m, int place) {
    return m > 0 && n > INT64_MAX / (int64_t)sizeof(double) / m ? grpo_refuse_(GRPO_OUT_OF_RANGE, place, -1) : GRPO_OK;
}

static inline grpo_status grpo_check_choice_(int x, int choices, int place) {
    return x >= 0 && x < choices ? GRPO_OK : grpo_refuse_(GRPO_NOT_A_CHOICE, place, -1);
}

/* a number that is an entry of an array or a member of a struct */
static inline grpo_status grpo_check_member_(double x, grpo_domain_kind_ domain, int place, int64_t index) {
    const grpo_rule rule = grpo_rule_of_(x, domain);
    return rule ? grpo_refuse_(rule, place, index) : GRPO_OK;
}

static inline grpo_status grpo_check_number_(double x, grpo_domain_kind_ domain, int place) {
    return grpo_check_member_(x, domain, place, -1);
}

static inline grpo_status grpo_check_entries_(const double *x, int64_t begin, int64_t end, grpo_domain_kind_ domain, int place) {
    for (; begin < end; begin++) if (grpo_rule_of_(x[begin], domain)) return grpo_check_member_(x[begin], domain, place, begin);
    return GRPO_OK;
}

static inline grpo_status grpo_check_list_(const double *x, int64_t n, grpo_domain_kind_ domain, int place) {
    const grpo_status st = grpo_check_not_null_(x, n, place);
    return st ? st : grpo_check_entries_(x, 0, n, domain, place);
}

/* an array of (sequences) */
static inline grpo_status grpo_check_responses_(const grpo_batch *b, const double *x, grpo_domain_kind_ domain, int place) {
    const grpo_status st = grpo_check_not_null_(x, b->n_groups, place);
    return st ? st : grpo_check_entries_(x, grpo_first_sequence_(b), grpo_end_sequence_(b), domain, place);
}

/* an array per token, an argument or the batch's own: the unmasked tokens where `where` is set (NULL: everywhere) must be in the domain */
static inline grpo_status grpo_check_tokens_(const grpo_batch *b, const grpo_real *x, const uint8_t *where, grpo_domain_kind_ domain,
                                             int what) {
    int64_t t;
    if (b->n_groups == 0) return GRPO_OK;
    if (!x) return grpo_status_at_(GRPO_NULL, what, -1);
    t = grpo_first_token_outside_(b, x, where, domain);
    return t < 0 ? GRPO_OK : grpo_status_at_(grpo_rule_of_((double)x[t], domain), what, t);
}

static inline grpo_status grpo_check_disjoint_(const void *x, size_t x_bytes, int place, const void *y, size_t y_bytes, int other) {
    const uintptr_t a = (uintptr_t)x, b = (uintptr_t)y;
    if (x_bytes == 0 || y_bytes == 0 || (a < b ? b - a >= x_bytes : a - b >= y_bytes)) return GRPO_OK;
    return grpo_status_between_(GRPO_COMBINATION, GRPO_AT_ARGUMENT_ + place, other, -1);
}

/* x (n_x), argument `place`, must not overlap y (n_y), because x is written while y is still read, or both are written */
#define GRPO_DISJOINT_(x, n_x, place, y, n_y, other) \
    grpo_check_disjoint_(x, (size_t)(n_x) * sizeof *(x), place, y, (size_t)(n_y) * sizeof *(y), other)

/* checks the layout of a batch and the pointer for the result; contents are checked after the other arguments */
static inline grpo_status grpo_check_call_(const grpo_batch *b, const void *result, int place) {
    const grpo_status st = grpo_check_layout_(b);
    return st ? st : grpo_check_output_(result, place);
}

/* checks arrays of the batch, which must be finite: grpo_check_arrays_ allows log-probabilities of -inf */
static inline grpo_status grpo_check_inputs_(const grpo_batch *b, const grpo_real *advantage, int needs) {
    const struct { int bit, what; const grpo_real *x; } tokens[] = {
        { GRPO_NEED_LOGP_, GRPO_AT_logp_, b->logp },
        { GRPO_NEED_OLD_, GRPO_AT_logp_old_, b->logp_old },
        { GRPO_NEED_REF_, GRPO_AT_logp_ref_, b->logp_ref },
        { GRPO_NEED_ROLLOUT_, GRPO_AT_logp_rollout_, b->logp_rollout },
        { GRPO_NEED_LOGP_TEACHER_, GRPO_AT_logp_teacher_, b->logp_teacher },
        { GRPO_NEED_ADVANTAGE_, GRPO_AT_advantage_, advantage },
    };
    grpo_status st = grpo_check_arrays_(b, advantage, needs, 0);
    for (size_t k = 0; !st && k < sizeof tokens / sizeof *tokens; k++)
        if (needs & tokens[k].bit) st = grpo_check_tokens_(b, tokens[k].x, NULL, GRPO_MODERATE_, tokens[k].what);
    return st;
}

/* an iterator before the first unmasked token */
static grpo_index_ grpo_before_tokens_(const grpo_batch *b) {
    grpo_index_ at;
    at.i = grpo_first_sequence_(b); at.t = -1;
    return at;
}

/* moves to the next unmasked token and returns its index, or -1 if there is none; at.t is the position in the sequence */
static int64_t grpo_next_token_(const grpo_batch *b, grpo_index_ *at) {
    for (; at->i < grpo_end_sequence_(b); at->i++, at->t = -1)
        while (++at->t < b->length[at->i])
            if (grpo_is_unmasked_(b, b->offset[at->i] + at->t)) return b->offset[at->i] + at->t;
    return -1;
}

/* per token S = e^l (batch.entropy + l), its signal, l = batch.logp (2602.03392) */
typedef struct {
    const grpo_batch *batch;
    const grpo_real *expected;          /* x = expected - S; NULL: x = S */
} grpo_signal_;

static grpo_dd grpo_signal_at_(const grpo_signal_ *s, int64_t t) {
    const double l = (double)s->batch->logp[t];
    const grpo_dd p = grpo_exp_twice(grpo_dd_of_(l)), signal = grpo_dd_product(p, grpo_two_sum((double)s->batch->entropy[t], l));
    return s->expected ? grpo_dd_minus_(grpo_dd_of_((double)s->expected[t]), signal) : signal;
}

typedef struct {
    const grpo_batch *batch;
    const grpo_real *by, *minus;        /* the value that tokens are sorted by: by, or |by - minus| if minus is not NULL */
    const grpo_signal_ *signal;         /* not NULL: sort by this value instead */
    int with_sign;                      /* with minus: by - minus itself, not its magnitude */
    const grpo_real *advantage;         /* not NULL: only tokens at which by - minus has the sign of the advantage */
    const uint8_t *where;               /* not NULL: only tokens at which it is set */
    const grpo_real *signed_by;         /* not NULL: only tokens at which its sign is `sign`, 1 or -1 */
    int sign;
    int descending;
    double threshold;                   /* > 0: the prefix is the longest whose mean of squares is below this */
    int inclusive;                      /* ... or equal to it */
    int64_t most;                       /* if threshold is 0: the prefix has at most this many tokens */
} grpo_order_;

typedef struct { grpo_dd value; uint64_t word[2]; } grpo_key_;          /* value = hi + lo; two values compare as their two words do */

/* the prefix of the sorted tokens: all tokens below a key, and some of those that have it */
typedef struct {
    uint64_t word[2];                   /* the key */
    int64_t ties;                       /* how many of the tokens that have the key */
    int whole;                          /* 1: all tokens of the order */
    int64_t count;                      /* how many tokens below the key; during the search, below the bits found so far */
    grpo_sum squares;
} grpo_prefix_;

/* bits of x as an integer that compares as x does; 0 and -0 are equal */
static uint64_t grpo_ordered_bits_(double x) {
    uint64_t bits;
    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* the key of token t; returns 0 if the token is not in the order */
static int grpo_key_of_(const grpo_order_ *o, int64_t t, grpo_key_ *key) {
    double sign;
    if (o->where && !o->where[t]) return 0;
    key->value = o->signal ? grpo_signal_at_(o->signal, t) : grpo_two_diff((double)o->by[t], o->minus ? (double)o->minus[t] : 0);
    if (o->signed_by && !(o->sign * (double)o->signed_by[t] > 0)) return 0;
    if (o->advantage) {
        sign = (double)o->advantage[t];
        if (!((sign > 0 && key->value.hi > 0) || (sign < 0 && key->value.hi < 0))) return 0;
    }
    if (o->minus && !o->with_sign && key->value.hi < 0) key->value = grpo_dd_negative(key->value);
    if (o->descending) key->value = grpo_dd_negative(key->value);
    key->word[0] = grpo_ordered_bits_(key->value.hi);
    key->word[1] = grpo_ordered_bits_(key->value.lo);
    return 1;
}

/* 1 if a prefix with so many tokens and this sum of squares is allowed */
static int grpo_is_allowed_prefix_(const grpo_order_ *o, int64_t count, const grpo_sum *squares) {
    grpo_sum excess;
    double sign;
    if (count == 0) return 1;
    if (o->threshold == 0) return count <= o->most;
    excess = *squares;
    grpo_sum_add_dd_(&excess, grpo_two_prod(-o->threshold, (double)count));
    sign = grpo_sum_value_(&excess);
    return o->inclusive ? sign <= 0 : sign < 0;
}

/* 1 if the key has the bits of p found so far, those above the next four */
static int grpo_has_bits_of_prefix_(const grpo_key_ *key, const grpo_prefix_ *p, int word, int shift) {
    return (word == 0 || key->word[0] == p->word[0]) && key->word[word] >> shift >> 4 == p->word[word] >> shift >> 4;
}

/* finds the next four bits of the prefix's key */
static void grpo_narrow_prefix_(const grpo_order_ *o, grpo_prefix_ *p, int word, int shift) {
    int64_t count[16], t;
    grpo_sum squares[16], with;
    grpo_index_ at = grpo_before_tokens_(o->batch);
    grpo_key_ key;
    int digit;
    memset(count, 0, sizeof count);
    memset(squares, 0, sizeof squares);
    while ((t = grpo_next_token_(o->batch, &at)) >= 0) {
        if (!grpo_key_of_(o, t, &key) || !grpo_has_bits_of_prefix_(&key, p, word, shift)) continue;
        digit = (int)(key.word[word] >> shift & 15);
        count[digit]++;
        if (o->threshold != 0) grpo_sum_add_square_(&squares[digit], 1, key.value);
    }
    for (digit = 0; digit < 16; digit++) {
        if (count[digit] == 0) continue;
        with = p->squares;
        grpo_sum_merge_(&with, &squares[digit]);
        if (!grpo_is_allowed_prefix_(o, p->count + count[digit], &with)) break;
        p->squares = with;
        p->count += count[digit];
    }
    if (digit == 16) p->whole = 1;
    else p->word[word] |= (uint64_t)digit << shift;
}

/* adds tokens that have the key, the first ones first, as long as the prefix is allowed */
static void grpo_take_ties_(const grpo_order_ *o, grpo_prefix_ *p) {
    grpo_index_ at = grpo_before_tokens_(o->batch);
    grpo_sum squares = p->squares;
    grpo_key_ key;
    int64_t t;
    while ((t = grpo_next_token_(o->batch, &at)) >= 0) {
        if (!grpo_key_of_(o, t, &key) || key.word[0] != p->word[0] || key.word[1] != p->word[1]) continue;
        if (o->threshold != 0) grpo_sum_add_square_(&squares, 1, key.value);
        if (!grpo_is_allowed_prefix_(o, p->count + p->ties + 1, &squares)) return;
        p->ties++;
    }
}

/* finds the longest allowed prefix by radix search, four bits of the key per pass over the tokens */
static void grpo_find_prefix_(const grpo_order_ *o, grpo_prefix_ *p) {
    const int single = !o->minus && !o->signal;
    memset(p, 0, sizeof *p);
    for (int word = 0; word < (single ? 1 : 2); word++)
        for (int shift = 60; shift >= 0 && !p->whole; shift -= 4) grpo_narrow_prefix_(o, p, word, shift);
    if (single) p->word[1] = grpo_ordered_bits_(0);
    if (!p->whole) grpo_take_ties_(o, p);
}

/* 1 if a token with this key is in the prefix; *ties: how many more tokens with the prefix's key are */
static int grpo_in_prefix_(const grpo_prefix_ *p, const grpo_key_ *key, int64_t *ties) {
    if (p->whole || key->word[0] < p->word[0] || (key->word[0] == p->word[0] && key->word[1] < p->word[1])) return 1;
    return key->word[0] == p->word[0] && key->word[1] == p->word[1] && (*ties)-- > 0;
}

/* ceil(q n) */
static int64_t grpo_ceil_of_(double q, int64_t n) {
    grpo_dd p = grpo_two_prod(q, (double)n);
    double c = ceil(p.hi);
    return (int64_t)c + (c == p.hi && p.lo > 0);
}

/* n (mean x - bound), given the sum of the n numbers x */
static double grpo_mean_exceeds_(const grpo_sum *sum, int64_t n, double bound) {
    grpo_sum s = *sum;
    grpo_sum_add_dd_(&s, grpo_two_prod(-bound, (double)n));
    return grpo_sum_value_(&s);
}

static void grpo_clear_reals_(const grpo_batch *b, grpo_real *out) {
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) out[t] = 0;
}

static void grpo_clear_masked_(const grpo_batch *b, grpo_real *out) {
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (!grpo_is_unmasked_(b, t)) out[t] = 0;
}

static grpo_group_counts_ grpo_count_mask_of_group_(const grpo_batch *b, int64_t g) {
    grpo_group_counts_ n = { 0, 0, 0 };
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const int64_t tokens = grpo_unmasked_(b, i);
        n.tokens += tokens;
        n.nonempty += tokens > 0;
        n.sequences++;
    }
    return n;
}

static const grpo_dd grpo_1e_minus_6_ = { 1e-6, 4.525188817411374e-23 }, grpo_1e_minus_8_ = { 1e-8, -2.092256083012847e-25 };

static int64_t grpo_group_size_(const grpo_batch *b, int64_t g) { return b->group_begin[g + 1] - b->group_begin[g]; }

static int grpo_exponent_of_(const double *x, int64_t n) {             /* the binary exponent of the largest magnitude */
    double largest = 0;
    int64_t k;
    int e;
    for (k = 0; k < n; k++) if (fabs(x[k]) > largest) largest = fabs(x[k]);
    frexp(largest, &e);
    return e;
}

/* the mean of x - y over the unmasked tokens of response i (y NULL: of x); 0 if there are none */
static grpo_dd grpo_response_mean_(const grpo_batch *b, const grpo_real *x, const grpo_real *y, int64_t i) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t t, n = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_is_unmasked_(b, t)) continue;
        grpo_sum_add_diff_(&sum, (double)x[t], y ? (double)y[t] : 0);
        n++;
    }
    return grpo_dd_round_96_(grpo_mean_(&sum, n));
}

static void grpo_old_means_(const grpo_batch *b, grpo_dd *mean) {
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++) mean[i] = grpo_response_mean_(b, b->logp_old, NULL, i);
}

static grpo_dd grpo_group_mean_(const grpo_batch *b, int64_t g) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)b->reward[i]);
    return grpo_mean_(&sum, grpo_group_size_(b, g));
}

/* the mean of the n numbers x at which `of` (NULL: everywhere) is set; 0 if there are none */
static grpo_dd grpo_mean_of_(const double *x, const uint8_t *of, int64_t n) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t k, count = 0;
    for (k = 0; k < n; k++) if (!of || of[k]) { grpo_sum_add_(&sum, x[k]); count++; }
    return grpo_mean_(&sum, count);
}

/* the mean of x over the responses of group g at which `of` (NULL: everywhere) is set */
static grpo_dd grpo_list_mean_(const grpo_batch *b, int64_t g, const double *x, const uint8_t *of) {
    const int64_t first = b->group_begin[g];
    return grpo_mean_of_(x + first, of ? of + first : NULL, grpo_group_size_(b, g));
}

/* an exponent e such that squares of numbers up to largest/2^e neither overflow nor underflow; 0 if none is needed */
static int grpo_square_exponent_(double largest) {
    int e;
    frexp(largest, &e);
    return e > -400 && e < 400 ? 0 : e;
}

static grpo_dd grpo_dd_scaled_(grpo_dd x, int e) {
    if (e != 0) { x.hi = ldexp(x.hi, e); x.lo = ldexp(x.lo, e); }
    return x;
}

/* a x/(b c) for b, c > 0, with the exponents apart: neither overflows nor underflows before the result does */
static grpo_dd grpo_quotient_apart_(grpo_dd a, double x, double b, double c) {
    int e_a, e_x, e_b, e_c;
    if (!grpo_is_finite(a.hi)) return a;
    frexp(a.hi, &e_a); x = frexp(x, &e_x); b = frexp(b, &e_b); c = frexp(c, &e_c);
    return grpo_dd_scaled_(grpo_dd_div(grpo_dd_div(grpo_dd_mul(grpo_dd_scaled_(a, -e_a), x), b), c), e_a + e_x - e_b - e_c);
}

/* the standard deviation of values in units of 2^e; 0 if all are equal */
static grpo_dd grpo_values_deviation_(const grpo_values *v, grpo_std_kind kind, int e) {
    return grpo_dd_scaled_(grpo_sqrt_twice_(grpo_variance_twice_(v, kind)), e);
}

static int grpo_rewards_differ_(const grpo_batch *b, int64_t g) {
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if ((double)b->reward[i] != (double)b->reward[b->group_begin[g]]) return 1;
    return 0;
}

static int grpo_has_child_(const int64_t *parent, int64_t n, int64_t k) {
    for (int64_t c = k + 1; c < n; c++) if (parent[c] == k) return 1;
    return 0;
}

typedef struct { grpo_dd m; int64_t e; } grpo_power_;                 /* m 2^e, 1/2 <= |m| < 1: for powers beyond the range of double */

static grpo_power_ grpo_power_of_(grpo_dd x, int64_t e) {
    grpo_power_ r;
    int k;
    frexp(x.hi, &k);
    r.m.hi = ldexp(x.hi, -k); r.m.lo = ldexp(x.lo, -k); r.e = e + k;
    return r;
}

static grpo_power_ grpo_power_product_(grpo_power_ a, grpo_power_ b) { return grpo_power_of_(grpo_dd_product(a.m, b.m), a.e + b.e); }

static grpo_power_ grpo_power_sum_(grpo_power_ a, grpo_power_ b) {
    const grpo_power_ big = a.e < b.e ? b : a, less = a.e < b.e ? a : b;
    const int shift = big.e - less.e < 1100 ? (int)(big.e - less.e) : 1100;
    grpo_dd s;
    s.hi = ldexp(less.m.hi, -shift); s.lo = ldexp(less.m.lo, -shift);
    return grpo_power_of_(grpo_dd_add(big.m, s), big.e);
}

/* a (log a - log b) - a + b >= 0, d = log a - log b.  The sum over distributions is unchanged by -a + b, and the error of d hardly
 * matters */
static double grpo_kl_part_(double a, double b, grpo_dd d) {
    if (d.hi > -30 && d.hi < 30) return a * grpo_exp_minus_linear(grpo_dd_negative(d));
    return grpo_times(a, d.hi) - a + b;
}

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

GRPO_C_END_
#endif /* GRPO_SHARED_H */
