/* Policy, penalty and entropy bonus of an edited case, evaluated separately: by the headers, or a formula token by token. */
#include "loss_parts.h"
#include "sixteen_bits.h"

#define MARGIN 1e-11

static part part_room(edited *s) {
    part p;
    memset(&p, 0, sizeof p);
    p.term = edited_room(s, edited_tokens(s), sizeof *p.term);
    p.dlogp = edited_room(s, edited_tokens(s), sizeof *p.dlogp);
    p.dentropy = edited_room(s, edited_tokens(s), sizeof *p.dentropy);
    return p;
}

static part header_part(edited *s, const grpo_objective *obj, const double *advantage) {
    part p = part_room(s);
    grpo_real *a = edited_room(s, edited_tokens(s), sizeof *a);
    outcome o;
    for (int64_t k = 0; k < edited_tokens(s); k++) a[k] = (grpo_real)advantage[k];
    o = outcome_of_parts(&s->c, obj, a, gspo_loss_add);
    p.ok = !o.status;
    for (int64_t k = 0; p.ok && k < edited_tokens(s); k++) {
        p.term[k] = o.term[k];
        p.dlogp[k] = o.dlogp[k];
        p.dentropy[k] = o.dentropy[k];
    }
    p.loss = o.report.loss;
    outcome_free(&o);
    return p;
}

static grpo_objective without_penalty(const edited *s) {
    grpo_objective obj = s->obj;
    memset(&obj.penalty, 0, sizeof obj.penalty);
    if (s->policy_aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)s->policy_aggregation;
    return obj;
}

/* masked tokens have the gradient of those that count, through the mean log-ratio of their response */
static void spread_gradient(edited *s, part *p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double of_one = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (edited_counts(s, i, k)) of_one = p->dlogp[k];
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (!edited_counts(s, i, k)) p->dlogp[k] = of_one;
    }
}

/* a token has a share of the gradient of every response at its position */
static void share_position(const edited *s, part *p) {
    const grpo_batch *b = &s->c.batch;
    for (int64_t t = 0; (double)t < edited_width(s); t++) {
        double sum = 0, n = 0;
        for (int64_t i = 0; i < s->c.n_sequences; i++)
            if (t < b->length[i] && edited_counts(s, i, b->offset[i] + t)) { sum += p->dlogp[b->offset[i] + t]; n++; }
        for (int64_t i = 0; i < s->c.n_sequences; i++)
            if (t < b->length[i] && edited_counts(s, i, b->offset[i] + t)) p->dlogp[b->offset[i] + t] = sum / n;
    }
}

static void add_gradient_of_tokens(edited *s, part *p) {
    grpo_objective obj = without_penalty(s);
    part of_tokens;
    obj.ratio.gradient = GRPO_GRADIENT_TOKEN;
    of_tokens = header_part(s, &obj, s->advantage);
    p->ok &= of_tokens.ok;
    for (int64_t k = 0; k < edited_tokens(s); k++) p->dlogp[k] += of_tokens.dlogp[k];
}

static part policy_part(edited *s) {
    grpo_objective obj = without_penalty(s);
    part p = header_part(s, &obj, s->advantage);
    int direct = obj.surrogate.kind == GRPO_SURROGATE_REINFORCE || obj.surrogate.kind == GRPO_SURROGATE_CISPO;
    for (int64_t k = 0; k < edited_tokens(s) && s->rounded_ratio && !direct; k++)
        if (s->rounded_ratio[k] > 0) p.dlogp[k] = sixteen_bits(p.dlogp[k] / s->rounded_ratio[k], s->ratio_bits) * s->rounded_ratio[k];
    for (int64_t k = 0; k < edited_tokens(s) && !direct; k++) p.dlogp[k] *= s->chain[k];
    if (s->both_gradients) add_gradient_of_tokens(s, &p);
    if (s->ratio_of_position && !direct) share_position(s, &p);
    if (s->ratio_of_all && s->obj.ratio.gradient == GRPO_GRADIENT_FULL && !direct) spread_gradient(s, &p);
    return p;
}

/* of the terms of the surrogate, with its weights; of the penalties, which only weight.external term multiplies; of the reported terms */
typedef enum { OF_SURROGATE, OF_PENALTY, OF_TERM } coefficient_of;

static double *coefficients(edited *s, int aggregation, coefficient_of what);

/* multiplies the penalty of each token by its share; not where it has a divisor of its own */
static void share_penalty(edited *s, part *p) {
    const double *c = coefficients(s, s->penalty_aggregation, OF_PENALTY);
    double loss = 0, size = 0;
    for (int64_t k = 0; k < edited_tokens(s); k++) { loss += c[k] * p->term[k]; size += fabs(c[k] * p->term[k]); }
    p->ok = fabs(loss - p->loss) <= MARGIN * size;
    p->loss = 0;
    for (int64_t k = 0; k < edited_tokens(s); k++) {
        p->loss += c[k] * s->penalty_share[k] * p->term[k];
        p->dlogp[k] *= s->penalty_share[k];
        if (!s->penalty_mask) p->term[k] *= s->penalty_share[k];        /* else it is of the divisor */
    }
}

static part penalty_part(edited *s) {
    double *zero = edited_room(s, edited_tokens(s), sizeof *zero);
    grpo_objective obj = s->obj;
    const grpo_real *logp = s->c.batch.logp;
    const uint8_t *mask = s->c.batch.mask;
    part p;
    obj.penalty.entropy_coef = 0;
    obj.penalty.entropy_aggregation = GRPO_PENALTY_AGGREGATION_TERMS;
    if (s->penalty_aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)s->penalty_aggregation;
    if (s->penalty_logp) s->c.batch.logp = s->penalty_logp;
    if (s->penalty_mask) s->c.batch.mask = s->penalty_mask;
    p = header_part(s, &obj, zero);
    s->c.batch.logp = logp;
    if (s->penalty_share && p.ok) share_penalty(s, &p);
    s->c.batch.mask = mask;
    return p;
}

/* the entropy bonus, which the mistakes of penalties leave as it is; the report counts it as penalty */
static part bonus_part(edited *s) {
    const grpo_penalty whole = s->obj.penalty;
    grpo_objective obj = s->obj;
    part p = part_room(s);
    p.ok = 1;
    if (whole.entropy_coef == 0) return p;
    memset(&obj.penalty, 0, sizeof obj.penalty);
    obj.penalty.entropy_coef = whole.entropy_coef;
    obj.penalty.entropy_aggregation = whole.entropy_aggregation;
    return header_part(s, &obj, edited_room(s, edited_tokens(s), sizeof(double)));
}

/* the weights that are not a coefficient's left out, but not what decides which tokens count */
static void without_weights(grpo_weight *w, coefficient_of what) {
    if (what == OF_SURROGATE) return;
    if (w->rollout_rejected != GRPO_ROLLOUT_REJECTED_UNMASK) {
        w->rollout_is = GRPO_ROLLOUT_IS_NONE;
        w->rollout_rs = GRPO_ROLLOUT_RS_NONE;
        w->rollout_veto = 0;
    } else if (w->rollout_is == GRPO_ROLLOUT_IS_MASK) w->rollout_is = GRPO_ROLLOUT_IS_REJECT;
    else if (w->rollout_is == GRPO_ROLLOUT_IS_TRUNCATE) w->rollout_is = GRPO_ROLLOUT_IS_NONE;
    w->rollout_is_norm = GRPO_ROLLOUT_IS_NORM_NONE;
    w->policy_is = GRPO_POLICY_IS_NONE;
    w->trust = GRPO_TRUST_NONE;
    w->off_policy_mask = GRPO_OFF_POLICY_MASK_NONE;
    w->fipo = GRPO_FIPO_NONE;
    if (w->selected != GRPO_SELECTED_ONLY) w->selected = GRPO_SELECTED_ALL;
    if (what == OF_TERM || w->external != GRPO_EXTERNAL_TERM) w->external = GRPO_EXTERNAL_NONE;
}

/* the coefficients of terms in the loss: the gradient of a loss whose terms are logp */
static double *coefficients(edited *s, int aggregation, coefficient_of what) {
    grpo_objective obj = without_penalty(s);
    double *minus = edited_room(s, edited_tokens(s), sizeof *minus);
    part p;
    if (aggregation >= 0) obj.aggregation.kind = (grpo_aggregation_kind)aggregation;
    memset(&obj.ratio, 0, sizeof obj.ratio);
    memset(&obj.surrogate, 0, sizeof obj.surrogate);
    without_weights(&obj.weight, what);
    obj.ratio.level = GRPO_LEVEL_TOKEN;
    obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    for (int64_t k = 0; k < edited_tokens(s); k++) minus[k] = -1;
    p = header_part(s, &obj, minus);
    s->impossible |= !p.ok;
    return p.dlogp;
}

static int is_plain_ratio(const grpo_objective *o) {
    return (o->ratio.level == GRPO_LEVEL_TOKEN || o->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN || o->ratio.level == GRPO_LEVEL_SEQUENCE_SUM)
        && o->ratio.level_clamp_low == 0 && o->ratio.level_clamp_high == 0
        && o->ratio.power == 0 && !o->ratio.interpolate;
}

/* -inf minus -inf is 0 */
static double log_ratio_of(double l, double old) { return l == old ? 0 : l - old; }

/* the log-ratio of a token after the clamp of the ratio axis; *inside: its derivative, 1 or 0 */
static double clamped_log_ratio(const grpo_objective *o, double l, double old, double *inside) {
    const double d = log_ratio_of(l, old), low = o->ratio.clamp_low, high = o->ratio.clamp_high;
    const int has = low != 0 || high != 0;
    *inside = !has || (d >= low && d <= high);
    return !has ? d : fmin(fmax(d, low), high);
}

/* a formula, and what it is for */
typedef struct { formula *of; row_kind kind; } formula_use;

static formula_value value_of(const edited *s, formula_use f, int64_t k, double y) {
    const formula_value v = f.of(s->advantage[k], y, s->c.batch.logp[k], &s->obj);
    return f.kind == FOR_CLIP ? with_dual(s->advantage[k], v, &s->obj) : v;
}

/* adds term and gradient of one response, by the formula f */
static void formula_response(edited *s, int64_t i, formula_use f, const double *c, int unit, part *p) {
    const grpo_batch *b = &s->c.batch;
    const int of_penalty = unit < 0, whole = unit > 0, mean = s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN;
    const int full = s->obj.ratio.gradient == GRPO_GRADIENT_FULL;
    const grpo_real *old = of_penalty ? b->logp_ref : *edited_behaviour(s);
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    double sum = 0, through = 0, T = edited_count(s, i);
    double *d = edited_room(s, b->length[i], sizeof *d), *inside = edited_room(s, b->length[i], sizeof *inside);
    for (int64_t k = begin; k < end; k++) {
        inside[k - begin] = 1;
        if (!old || !edited_counts(s, i, k)) continue;
        d[k - begin] = of_penalty ? log_ratio_of(b->logp[k], old[k]) : clamped_log_ratio(&s->obj, b->logp[k], old[k], &inside[k - begin]);
        sum += d[k - begin];
    }
    if (whole && mean) sum /= T;
    for (int64_t k = begin; k < end; k++) {
        formula_value v;
        if (!edited_counts(s, i, k)) continue;
        v = value_of(s, f, k, whole || !old ? sum : d[k - begin]);
        p->term[k] = v.value;
        p->loss += c[k] * v.value;
        p->dlogp[k] = c[k] * (v.logp + (whole && full ? 0 : v.ratio * inside[k - begin]));
        through += c[k] * v.ratio;
    }
    for (int64_t k = begin; k < end && whole && full; k++)
        if (edited_counts(s, i, k)) p->dlogp[k] += (mean ? through / T : through) * inside[k - begin];
}

/* Has the surrogate weights that the coefficients of terms have not? */
static int has_weights(const grpo_weight *w) {
    return w->rollout_is || w->rollout_rs || w->rollout_veto != 0 || w->policy_is || w->trust || w->off_policy_mask || w->fipo
        || w->external || w->selected;
}

/* the formula's terms, with the weights of their tokens */
static part formula_part(edited *s, formula_use f) {
    part p = part_room(s);
    const double *c = coefficients(s, s->policy_aggregation, OF_SURROGATE), *bare;
    if (s->impossible || !is_plain_ratio(&s->obj) || !(s->obj.surrogate.kind == GRPO_SURROGATE_REINFORCE || *edited_behaviour(s))) return p;
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        formula_response(s, i, f, c, s->obj.ratio.level != GRPO_LEVEL_TOKEN, &p);
    if (!has_weights(&s->obj.weight)) { p.ok = p.loss == p.loss; return p; }
    bare = coefficients(s, s->policy_aggregation, OF_TERM);
    for (int64_t k = 0; k < edited_tokens(s); k++) p.term[k] = bare[k] != 0 ? grpo_times(p.term[k], c[k] / bare[k]) : 0;
    p.ok = p.loss == p.loss;
    return p;
}

static int is_plain_kl(const grpo_objective *o) {
    return o->penalty.kl != GRPO_KL_NONE && !o->penalty.kl_reference && !o->penalty.kl_on && !o->penalty.kl_gradient
        && o->penalty.kl_importance_weight <= GRPO_KL_IMPORTANCE_WEIGHT_LEVEL && o->penalty.kl_importance_weight_max == 0
        && o->penalty.kl_clamp_log == 0 && o->penalty.kl_clamp_value == 0;
}

/* multiplies the estimators of one response, and c times their slopes, by the ratio u that weighs the KL, and adds the slope of u */
static void weigh_response(edited *s, int64_t i, const double *c, part *p) {
    const grpo_batch *b = &s->c.batch;
    const grpo_real *old = *edited_behaviour(s);
    const int by_level = s->obj.penalty.kl_importance_weight == GRPO_KL_IMPORTANCE_WEIGHT_LEVEL;
    const int whole = by_level && s->obj.ratio.level != GRPO_LEVEL_TOKEN, mean = s->obj.ratio.level == GRPO_LEVEL_SEQUENCE_MEAN;
    const int full = s->obj.ratio.gradient == GRPO_GRADIENT_FULL;
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    double sum = 0, through = 0, T = edited_count(s, i);
    double *d = edited_room(s, b->length[i], sizeof *d), *inside = edited_room(s, b->length[i], sizeof *inside);
    for (int64_t k = begin; k < end; k++) {
        inside[k - begin] = 1;
        if (!edited_counts(s, i, k)) continue;
        d[k - begin] = by_level ? clamped_log_ratio(&s->obj, b->logp[k], old[k], &inside[k - begin]) : log_ratio_of(b->logp[k], old[k]);
        sum += d[k - begin];
    }
    if (mean) sum /= T;
    for (int64_t k = begin; k < end; k++) {
        double u = exp(whole ? sum : d[k - begin]);
        if (!edited_counts(s, i, k)) continue;
        p->term[k] = grpo_times(u, p->term[k]);
        p->loss += c[k] * p->term[k];
        p->dlogp[k] = grpo_times(u, p->dlogp[k]) + (whole && full ? 0 : c[k] * p->term[k] * inside[k - begin]);
        through += c[k] * p->term[k];
    }
    for (int64_t k = begin; k < end && whole && full; k++)
        if (edited_counts(s, i, k)) p->dlogp[k] += (mean ? through / T : through) * inside[k - begin];
}

static part kl_part(edited *s, formula_use f) {
    part p = part_room(s);
    double *c;
    if (!is_plain_kl(&s->obj) || !s->c.batch.logp_ref) return p;
    c = coefficients(s, s->penalty_aggregation, OF_PENALTY);
    for (int64_t i = 0; i < s->c.n_sequences; i++) formula_response(s, i, f, c, -1, &p);
    if (s->obj.penalty.kl_importance_weight) {
        if (!is_plain_ratio(&s->obj) || !*edited_behaviour(s)) return p;
        p.loss = 0;
        for (int64_t i = 0; i < s->c.n_sequences; i++) weigh_response(s, i, c, &p);
    }
    for (int64_t k = 0; k < edited_tokens(s); k++) { p.term[k] *= s->obj.penalty.kl_coef; p.dlogp[k] *= s->obj.penalty.kl_coef; }
    p.loss *= s->obj.penalty.kl_coef;
    p.ok = grpo_is_finite(p.loss);
    return p;
}

/* ---- together ------------------------------------------------------------------------------------------------------------------- */

static double sequence_of_share(const edited *s, int64_t k) {
    int64_t i = 0;
    while (i + 1 < s->c.n_sequences && k >= s->c.batch.offset[i] + s->c.batch.length[i]) i++;
    return s->share[i];
}

static part together(edited *s, const part *policy, const part *penalty, const part *bonus) {
    part all = part_room(s);
    double *dlogp = edited_room(s, edited_tokens(s), sizeof *dlogp);
    const double *c = s->share ? coefficients(s, -1, OF_TERM) : NULL;
    all.ok = policy->ok && penalty->ok && bonus->ok;
    all.policy_loss = grpo_times(s->policy_value, policy->loss);
    all.penalty_loss = grpo_times(s->penalty_value, penalty->loss) + s->bonus_value * bonus->loss;
    all.loss = all.policy_loss + all.penalty_loss;
    for (int64_t k = 0; k < edited_tokens(s); k++) {
        const double P = grpo_times(s->penalty_value, penalty->term[k]), slope = grpo_times(s->penalty_gradient, penalty->dlogp[k]);
        all.term[k] = grpo_times(s->policy_value, policy->term[k]) + P + s->bonus_value * bonus->term[k];
        all.dlogp[k] = grpo_times(s->policy_gradient, policy->dlogp[k]) + slope + s->bonus_value * bonus->dlogp[k];
        all.dentropy[k] = s->bonus_value * bonus->dentropy[k];
        all.dlogp[k] *= s->slope;
    }
    for (int64_t k = 0; k < edited_tokens(s) && s->share; k++) {
        double share = sequence_of_share(s, k);
        if (c[k] == 0) continue;
        all.loss += c[k] * (share - 1) * all.term[k];
        all.policy_loss += c[k] * (share - 1) * policy->term[k];
        all.penalty_loss += c[k] * (share - 1) * (penalty->term[k] + s->bonus_value * bonus->term[k]);
        all.dlogp[k] *= share;
        all.dentropy[k] *= share;
    }
    for (int64_t k = 0; k < edited_tokens(s) && s->term_share; k++) if (s->term_share[k] > 0) all.term[k] /= s->term_share[k];
    for (int64_t i = 0; i < s->c.n_sequences && s->empty_is_nan; i++) {
        const grpo_batch *b = &s->c.batch;
        if (edited_count(s, i) > 0) continue;
        all.loss = nan("");
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i] && s->empty_is_nan > 1; k++) all.dlogp[k] = nan("");
    }
    if (s->origin) {
        for (int64_t k = 0; k < edited_tokens(s); k++) if (s->origin[k] >= 0) dlogp[s->origin[k]] += all.dlogp[k];
        all.dlogp = dlogp;
    }
    return all;
}

static int near(double a, double b, double scale) {
    return a == b || fabs(a - b) <= MARGIN * fmax(scale, fabs(b)) || (a != a && b != b);
}

static int is_right(const test_case *c, const part *p) {
    if (!p->ok || !near(p->loss, c->loss, c->loss_scale)) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens && c->dentropy.expect; k++)
        if (!near(p->dentropy[k], c->dentropy.expect[k], c->dentropy.scale[k] + fabs(c->loss_scale))) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens && c->dlogp.expect; k++)
        if (!near(p->dlogp[k], c->dlogp.expect[k], c->dlogp.scale[k] + fabs(c->loss_scale))) return 0;
    return 1;
}

/* from padded rows back to the tokens of the case */
static double *narrowed(edited *s, const double *x) {
    const grpo_batch *b = &s->narrow;
    double *to = edited_room(s, b->n_tokens, sizeof *to);
    for (int64_t i = 0; i < s->c.n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++) to[b->offset[i] + t] = x[s->c.batch.offset[i] + t];
    return to;
}

static void unpad(edited *s, part *p) {
    p->term = narrowed(s, p->term);
    p->dlogp = narrowed(s, p->dlogp);
    p->dentropy = narrowed(s, p->dentropy);
}

/* automatic differentiation rounds the gradient of an array where it rounds the array */
static void round_gradient(const edited *s, part *p, int bits) {
    for (int64_t k = 0; k < edited_tokens(s) && bits; k++) p->dlogp[k] = sixteen_bits(p->dlogp[k], bits);
}

part made(edited *s, const mistake *m) {
    part policy, penalty, bonus, all;
    grpo_batch before = s->c.batch;
    for (int k = 0; k < 4 && m && m->edits[k].make && !s->impossible; k++) {
        m->edits[k].make(s, m->edits[k].p);
        if (m->edits[k].make == pad_rows) before = s->c.batch;
    }
    if (!s->impossible) edited_keep_correction(s, &before);
    memset(&policy, 0, sizeof policy);
    if (s->impossible) return policy;
    policy = m && m->policy ? formula_part(s, (formula_use){ m->policy, m->kind }) : policy_part(s);
    penalty = m && m->penalty ? kl_part(s, (formula_use){ m->penalty, FOR_KL }) : penalty_part(s);
    bonus = bonus_part(s);
    round_gradient(s, &policy, s->policy_bits);
    all = together(s, &policy, &penalty, &bonus);
    round_gradient(s, &all, s->gradient_bits);
    if (s->padded) unpad(s, &all);
    return all;
}

/* do policy and penalty, or the formulas, without a mistake give the right answer of the case? */
static int is_sum_of_parts(const test_case *c, int by_formula, int kl_by_formula) {
    edited s = edited_of(c);
    mistake none;
    part p;
    int right;
    memset(&none, 0, sizeof none);
    none.policy = by_formula ? right_surrogate(&c->objective) : NULL;
    none.penalty = kl_by_formula ? right_kl(&c->objective) : NULL;
    p = made(&s, &none);
    right = !s.impossible && is_right(c, &p) && (!by_formula || none.policy) && (!kl_by_formula || none.penalty);
    case_memory_free(&s.memory);
    return right;
}

/* the same, with the results of the last case kept */
int is_plain(const test_case *c, int by_formula, int kl_by_formula) {
    static last_case last;
    static int known[2][2], right[2][2];
    if (!is_last_case(&last, c)) memset(known, 0, sizeof known);
    if (!known[by_formula][kl_by_formula]) right[by_formula][kl_by_formula] = is_sum_of_parts(c, by_formula, kl_by_formula);
    known[by_formula][kl_by_formula] = 1;
    return right[by_formula][kl_by_formula];
}
