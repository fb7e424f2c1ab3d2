/* Surrogates and estimators of the KL, right and mistaken, as formulas of one token. */
#include "loss_formulas.h"

/* a formula of one expression */
#define FORMULA(name, expression) \
    formula_value name(double A, double y, double l, const grpo_objective *o) { \
        (void)A; (void)y; (void)l; (void)o; \
        return expression; \
    }

static formula_value plain_value(double value, double ratio, double logp) {
    formula_value v;
    v.value = value;
    v.ratio = ratio;
    v.logp = logp;
    return v;
}

static double low_of(const grpo_objective *o) { return 1 - o->surrogate.eps_low; }
static double high_of(const grpo_objective *o) { return 1 + o->surrogate.eps_high; }

/* the larger of -A w and -A clip(w), and its derivative by the log-ratio y */
static formula_value clipped(double A, double w, double low, double high) {
    double c = w < low ? low : w > high ? high : w;
    return -A * c > -A * w ? plain_value(-A * c, 0, 0) : plain_value(-A * w, -A * w, 0);
}

FORMULA(right_clip, clipped(A, exp(y), low_of(o), high_of(o)))
static formula_value at_most(formula_value v, double top) { return v.value > top ? plain_value(top, 0, 0) : v; }
static formula_value dual(double A, formula_value v, double c) { return A < 0 ? at_most(v, -A * c) : v; }
formula_value with_dual(double A, formula_value v, const grpo_objective *o) {
    return o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP ? dual(A, v, o->surrogate.clip_dual) : v;
}
FORMULA(right_dual, with_dual(A, right_clip(A, y, l, o), o))
FORMULA(unclipped, plain_value(-A * exp(y), -A * exp(y), 0))
FORMULA(reinforced, plain_value(-A * l, 0, -A))
FORMULA(ratio_of_itself, plain_value(-A, 0, -A))        /* -A e^(l - sg[l]) */
static double cispo_weight(double y, const grpo_objective *o) {
    return fmin(fmax(exp(y), o->surrogate.weight_min), o->surrogate.weight_max);
}
static formula_value weighted(double A, double w, double l) { return plain_value(-A * w * l, 0, -A * w); }
FORMULA(right_cispo, weighted(A, cispo_weight(y, o), l))

/* minimum and maximum exchanged */
static formula_value smaller(double A, double w, double low, double high) {
    double c = w < low ? low : w > high ? high : w;
    return -A * c < -A * w ? plain_value(-A * c, 0, 0) : plain_value(-A * w, -A * w, 0);
}
static formula_value bounded(double A, double w, double low, double high) {
    return w < low ? plain_value(-A * low, 0, 0) : w > high ? plain_value(-A * high, 0, 0) : plain_value(-A * w, -A * w, 0);
}
FORMULA(exchanged, smaller(A, exp(y), low_of(o), high_of(o)))
FORMULA(only_clip, bounded(A, exp(y), low_of(o), high_of(o)))
FORMULA(only_clip_of_bad, A < 0 ? only_clip(A, y, l, o) : right_clip(A, y, l, o))
FORMULA(min_of_ratios, A < 0 ? exchanged(A, y, l, o) : right_clip(A, y, l, o))
FORMULA(max_of_ratios, A > 0 ? exchanged(A, y, l, o) : right_clip(A, y, l, o))
FORMULA(reciprocal_low, clipped(A, exp(y), 1 / high_of(o), high_of(o)))
FORMULA(reciprocal_own, clipped(A, exp(y), 1 / (1 + o->surrogate.eps_low), high_of(o)))
FORMULA(reciprocal_high, clipped(A, exp(y), low_of(o), 1 / low_of(o)))
FORMULA(epsilons_exchanged, clipped(A, exp(y), 1 - o->surrogate.eps_high, 1 + o->surrogate.eps_low))
FORMULA(eps_high_twice, clipped(A, exp(y), 1 - o->surrogate.eps_high, high_of(o)))
/* clamp(w, 1 + eps, 1 - eps), with bounds exchanged, is a constant c, by the order of the two comparisons */
static formula_value constant_clip(double A, double y, double c) {
    return -A * c > -A * exp(y) ? plain_value(-A * c, 0, 0) : plain_value(-A * exp(y), -A * exp(y), 0);
}
FORMULA(turned_low, constant_clip(A, y, low_of(o)))
FORMULA(turned_high, constant_clip(A, y, high_of(o)))
FORMULA(around_zero, clipped(A, exp(y), -o->surrogate.eps_low, o->surrogate.eps_high))
FORMULA(from_eps, clipped(A, exp(y), o->surrogate.eps_low, 1 + o->surrogate.eps_high))
FORMULA(the_epsilons, clipped(A, exp(y), o->surrogate.eps_low, o->surrogate.eps_high))
FORMULA(upper_only, clipped(A, exp(y), 0, high_of(o)))
FORMULA(lower_only, clipped(A, exp(y), low_of(o), HUGE_VAL))
FORMULA(at_log, clipped(A, exp(y), exp(-o->surrogate.eps_low), exp(o->surrogate.eps_high)))
/* the log-ratio is clamped, which cuts the gradient, and the ratio is clipped after that */
formula_value clamped_log(double A, double y, double l, const grpo_objective *o) {
    const double from = -o->surrogate.eps_low, to = o->surrogate.eps_high;
    formula_value v = right_clip(A, fmin(fmax(y, from), to), l, o);
    if (y < from || y > to) v.ratio = 0;
    return v;
}
formula_value product_clipped(double A, double y, double l, const grpo_objective *o) {
    double x = A * exp(y), c = fmin(fmax(x, low_of(o)), high_of(o));
    (void)l;
    return -c > -x ? plain_value(-c, 0, 0) : plain_value(-x, -x, 0);
}
formula_value straight_through(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio = -A * exp(y);
    return v;
}
formula_value dropped_outside(double A, double y, double l, const grpo_objective *o) {
    (void)l;
    return exp(y) < low_of(o) || exp(y) > high_of(o) ? plain_value(0, 0, 0) : plain_value(-A * exp(y), -A * exp(y), 0);
}
formula_value killed_outside(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    if (exp(y) < low_of(o) || exp(y) > high_of(o)) v.ratio = 0;
    return v;
}
/* the same without the clip */
formula_value killed_unclipped(double A, double y, double l, const grpo_objective *o) {
    (void)l;
    return plain_value(-A * exp(y), exp(y) < low_of(o) || exp(y) > high_of(o) ? 0 : -A * exp(y), 0);
}
formula_value dropped_by_eps_high(double A, double y, double l, const grpo_objective *o) {
    (void)l;
    return fabs(expm1(y)) > o->surrogate.eps_high ? plain_value(0, 0, 0) : plain_value(-A * exp(y), -A * exp(y), 0);
}
formula_value killed_elsewhere(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio = (A > 0 && exp(y) < low_of(o)) || (A < 0 && exp(y) > high_of(o)) ? 0 : -A * exp(y);
    return v;
}
/* a minimum of equal numbers gives each half of the gradient, and the clipped one has none to pass on */
formula_value halved_inside(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    if (exp(y) >= low_of(o) && exp(y) <= high_of(o)) v.ratio /= 2;
    return v;
}
formula_value without_ratio(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    if (v.ratio != 0) v.ratio = -A;
    return v;
}
formula_value ratio_again(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio *= exp(y);
    return v;
}
/* the derivative by the probability p instead of log p */
formula_value without_log(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.ratio *= exp(-l);
    return v;
}
/* the right clip with another w than e^y */
static formula_value with_ratio(double A, double w, double slope, const grpo_objective *o) {
    formula_value v = clipped(A, w, low_of(o), high_of(o));
    v.ratio = v.ratio != 0 || v.value == -A * w ? -A * slope : 0;
    return v;
}
FORMULA(no_exponential, with_ratio(A, y, 1, o))
FORMULA(linear_ratio, with_ratio(A, 1 + y, 1, o))
formula_value ratio_less_one(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_clip(A, y, l, o);
    v.value += A;
    return v;
}
FORMULA(dual_3, dual(A, right_clip(A, y, l, o), 3))
FORMULA(dual_10, dual(A, right_clip(A, y, l, o), 10))
/* the dual clip on the wrong side of A; its larger and smaller exchanged; with 0 in place of the bound */
formula_value dual_of_positive(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    return A > 0 ? at_most(v, -A * o->surrogate.clip_dual) : v;
}
formula_value dual_exchanged(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    const double bound = -A * o->surrogate.clip_dual;
    return A < 0 && v.value < bound ? plain_value(bound, 0, 0) : v;
}
formula_value dual_dropped(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    return A < 0 && v.value > -A * o->surrogate.clip_dual ? plain_value(0, 0, 0) : v;
}
FORMULA(dual_turned, dual(A, right_clip(A, y, l, o), -o->surrogate.clip_dual))
FORMULA(dual_inverted, dual(A, right_clip(A, y, l, o), 1 / o->surrogate.clip_dual))
formula_value dual_without_advantage(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_clip(A, y, l, o);
    return A < 0 ? at_most(v, o->surrogate.clip_dual) : v;
}
/* the gradient goes through the clip, and through the dual clip too */
formula_value straight_through_both(double A, double y, double l, const grpo_objective *o) {
    formula_value v = right_dual(A, y, l, o);
    v.ratio = -A * exp(y);
    return v;
}
FORMULA(clip_times_logp, weighted(A, fmin(fmax(exp(y), low_of(o)), high_of(o)), l))
formula_value both_added(double A, double y, double l, const grpo_objective *o) {
    formula_value v = only_clip(A, y, l, o);
    return plain_value(v.value - A * exp(y), v.ratio - A * exp(y), 0);
}
formula_value clipped_advantage(double A, double y, double l, const grpo_objective *o) {
    double a = fmin(fmax(A, -o->surrogate.eps_low), o->surrogate.eps_high);
    (void)l;
    return with_dual(a, plain_value(-a * exp(y), -a * exp(y), 0), o);
}

formula_value clipped_advantage_at_bounds(double A, double y, double l, const grpo_objective *o) {
    const double a = fmin(fmax(A, low_of(o)), high_of(o));
    (void)l;
    return with_dual(a, plain_value(-a * exp(y), -a * exp(y), 0), o);
}

FORMULA(cispo_unbounded, weighted(A, exp(y), l))
FORMULA(cispo_as_loss, bounded(A, exp(y), o->surrogate.weight_min, o->surrogate.weight_max))
formula_value cispo_attached(double A, double y, double l, const grpo_objective *o) {
    double w = cispo_weight(y, o);
    return plain_value(-A * w * l, w == exp(y) ? -A * w * l : 0, -A * w);
}
FORMULA(cispo_dropped, weighted(A, cispo_weight(y, o) == exp(y) ? exp(y) : 0, l))
FORMULA(cispo_cap_more, weighted(A, fmin(fmax(exp(y), o->surrogate.weight_min), 1 + o->surrogate.weight_max), l))
FORMULA(cispo_cap_less, weighted(A, fmin(fmax(exp(y), o->surrogate.weight_min), o->surrogate.weight_max - 1), l))
FORMULA(cispo_of_log_ratio, plain_value(-A * cispo_weight(y, o) * y, 0, -A * cispo_weight(y, o)))
FORMULA(cispo_with_min, weighted(A, A < 0 ? exp(y) : cispo_weight(y, o), l))
FORMULA(cispo_log_capped, weighted(A, exp(fmin(y, o->surrogate.weight_max)), l))
/* tokens are dropped where the weight is above its bound and A > 0, not elsewhere */
FORMULA(cispo_dropped_good, weighted(A, A > 0 && exp(y) > o->surrogate.weight_max ? 0 : cispo_weight(y, o), l))
/* the detached weight times the ratio: -A sg[c] w */
FORMULA(cispo_times_ratio, plain_value(-A * cispo_weight(y, o) * exp(y), -A * cispo_weight(y, o) * exp(y), 0))

/* SAPO: 4/tau sigmoid(z) with z = tau (w - 1), and dz/dy; factor: 4/tau, or what is in its place */
static formula_value gate(double A, double z, double slope, double factor) {
    const double e = exp(-fabs(z)), g = z > 0 ? 1 / (1 + e) : e / (1 + e);
    return plain_value(-A * factor * g, -A * factor * e / ((1 + e) * (1 + e)) * slope, 0);
}
static double tau_of(double A, const grpo_objective *o) { return A > 0 ? o->surrogate.tau_pos : o->surrogate.tau_neg; }
FORMULA(right_sapo, gate(A, tau_of(A, o) * expm1(y), tau_of(A, o) * exp(y), 4 / tau_of(A, o)))
FORMULA(sapo_around_zero, gate(A, tau_of(A, o) * exp(y), tau_of(A, o) * exp(y), 4 / tau_of(A, o)))
FORMULA(sapo_of_log, gate(A, tau_of(A, o) * y, tau_of(A, o), 4 / tau_of(A, o)))
FORMULA(sapo_undivided, gate(A, tau_of(A, o) * expm1(y), tau_of(A, o) * exp(y), 4))
/* the gate itself, without -A; the temperature divides, and 4/tau is right or 4 tau */
FORMULA(sapo_gate_alone, gate(-1, tau_of(A, o) * expm1(y), tau_of(A, o) * exp(y), 4 / tau_of(A, o)))
FORMULA(sapo_divided, gate(A, expm1(y) / tau_of(A, o), exp(y) / tau_of(A, o), 4 / tau_of(A, o)))
FORMULA(sapo_divided_whole, gate(A, expm1(y) / tau_of(A, o), exp(y) / tau_of(A, o), 4 * tau_of(A, o)))
FORMULA(sapo_by_ratio, gate(A, tau_of(y, o) * expm1(y), tau_of(y, o) * exp(y), 4 / tau_of(y, o)))
formula_value sapo_times_ratio(double A, double y, double l, const grpo_objective *o) {
    const formula_value v = right_sapo(A, y, l, o);
    return plain_value(v.value * exp(y), (v.value + v.ratio) * exp(y), 0);
}
FORMULA(probability, plain_value(-A * exp(l), 0, -A * exp(l)))
formula_value cispo_probability(double A, double y, double l, const grpo_objective *o) {
    double w = cispo_weight(y, o);
    return plain_value(-A * w * exp(l), 0, -A * w * exp(l));
}

/* the formulas of the KL, with their derivatives; D = logp - logp_ref */
#define KL(name, value, slope) \
    formula_value name(double A, double D, double l, const grpo_objective *o) { \
        (void)A; (void)D; (void)l; (void)o; \
        return plain_value(value, slope, 0); \
    }
KL(right_k1, D, 1)
KL(right_k2, D * D / 2, D)
KL(right_k3, expm1(-D) + D, -expm1(-D))
KL(right_abs, fabs(D), (D > 0) - (D < 0))
KL(k3_without_one, exp(-D) + D, -expm1(-D))
KL(k3_reversed, expm1(D) - D, expm1(D))
KL(k3_mixed, expm1(-D) - D, -exp(-D) - 1)
KL(k3_mixed_more, expm1(D) + D, exp(D) + 1)
KL(k3_without_linear, expm1(-D), -exp(-D))
KL(kl_square, D * D, 2 * D)
KL(kl_weighted, exp(l) * D, exp(l) * (D + 1))
KL(kl_negative, -D, -1)
KL(kl_ratio, exp(-D), -exp(-D))
KL(kl_other_ratio, exp(D), exp(D))
formula *right_surrogate(const grpo_objective *o) {
    if (o->surrogate.bounds) return NULL;
    switch (o->surrogate.kind) {
    case GRPO_SURROGATE_PPO_CLIP: return right_clip;
    case GRPO_SURROGATE_DUAL_CLIP: return right_dual;
    case GRPO_SURROGATE_RATIO: return unclipped;
    case GRPO_SURROGATE_REINFORCE: return reinforced;
    case GRPO_SURROGATE_CISPO: return right_cispo;
    case GRPO_SURROGATE_SAPO: return right_sapo;
    default: return NULL;
    }
}

formula *right_kl(const grpo_objective *o) {
    switch (o->penalty.kl) {
    case GRPO_KL_K1: return right_k1;
    case GRPO_KL_K2: return right_k2;
    case GRPO_KL_K3: return right_k3;
    case GRPO_KL_ABS: return right_abs;
    default: return NULL;
    }
}

formula_value kl_times_advantage(double A, double D, double l, const grpo_objective *o) {
    const formula_value v = right_kl(o)(A, D, l, o);        /* there is one: is_plain has evaluated it */
    return plain_value(A * v.value, A * v.ratio, 0);
}

/* is the loss a mean over responses of what is linear in their advantages? */
static int is_linear(const grpo_objective *o) {
    const int by_response = o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN
        || o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM;
    const int surrogate = o->surrogate.kind == GRPO_SURROGATE_RATIO || o->surrogate.kind == GRPO_SURROGATE_REINFORCE
        || o->surrogate.kind == GRPO_SURROGATE_CISPO;
    return by_response && surrogate && o->penalty.kl == GRPO_KL_NONE && o->advantage.credit == GRPO_CREDIT_OUTCOME;
}

int is_for(row_kind kind, const grpo_objective *o) {
    const int single = o->surrogate.kind == GRPO_SURROGATE_PPO_CLIP;
    switch (kind) {
    case FOR_CLIP: case INSTEAD_OF_CLIP: return single || o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP;
    case FOR_SINGLE_CLIP: return single;
    case FOR_DUAL_CLIP: return o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP;
    case FOR_SAPO: return o->surrogate.kind == GRPO_SURROGATE_SAPO;
    case FOR_ENTROPY: return o->penalty.entropy_coef != 0;
    case FOR_CISPO: return o->surrogate.kind == GRPO_SURROGATE_CISPO;
    case FOR_REINFORCE: return o->surrogate.kind == GRPO_SURROGATE_REINFORCE;
    case FOR_KL: return o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_coef != 0;
    case FOR_K3: return o->penalty.kl == GRPO_KL_K3 && o->penalty.kl_coef != 0;
    case FOR_LINEAR: return is_linear(o);
    case FOR_TOKEN_MEAN: return o->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN && o->ratio.level == GRPO_LEVEL_TOKEN;
    case FOR_ANY: break;
    }
    return 1;
}
