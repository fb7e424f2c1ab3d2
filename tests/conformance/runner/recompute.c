/* Recomputes advantages and loss with the rules of a convention, from evaluations by the headers here. */
#include "recompute.h"
#include "computed.h"
#include <stdlib.h>

double *convention_rule(conventions *v, const char *name) {
    const struct { const char *name; double *value; } rules[] = {
        { "row_tokens", &v->row_tokens }, { "mean_tokens", &v->mean_tokens }, { "level_tokens", &v->level_tokens },
        { "whitening_tokens", &v->whitening_tokens }, { "pooled_tokens", &v->pooled_tokens },
        { "rejection_of_inverse", &v->rejection_of_inverse }, { "penalty_token_mean", &v->penalty_token_mean },
        { "parts_apart", &v->parts_apart }
    };
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) if (!strcmp(rules[k].name, name)) return rules[k].value;
    return NULL;
}

/* a copy of a case whose arrays can be replaced; memory: what `room` allocated */
typedef struct { test_case c; grpo_objective obj; grpo_real *advantage; void **memory; } copy_of_case;

static void *room(copy_of_case *s, int64_t count, size_t size) { return case_memory(&s->memory, count, size); }

static int counts(const test_case *c, int64_t k) { return !c->batch.mask || c->batch.mask[k]; }

/* ---- advantages ----------------------------------------------------------------------------------------------------------------- */

/* whitening with mean and variance divided by n + more, and eps inside the root */
static void whiten(const test_case *c, double more, double eps, double *a) {
    double n = 0, sum = 0, squares = 0, mean, deviation;
    for (int64_t k = 0; k < c->batch.n_tokens; k++) if (counts(c, k)) { n++; sum += a[k]; }
    mean = sum / (n + more);
    for (int64_t k = 0; k < c->batch.n_tokens; k++) if (counts(c, k)) squares += (a[k] - mean) * (a[k] - mean);
    deviation = sqrt(squares / (n + more) * n / fmax(n - 1, 1) + eps);
    for (int64_t k = 0; k < c->batch.n_tokens; k++) if (counts(c, k)) a[k] = (a[k] - mean) / deviation;
}

static int recompute_advantage(const test_case *c, const conventions *v, answer *out) {
    grpo_objective obj = v->objective;
    const grpo_advantage *a = &v->objective.advantage;
    const int by_hand = v->whitening_tokens != 0 && a->scale == GRPO_SCALE_TOKEN_WHITEN;
    if (by_hand && (a->eps_place != GRPO_EPS_INSIDE || a->std != GRPO_STD_SAMPLE)) return 0;
    if (by_hand) obj.advantage.scale = GRPO_SCALE_NONE;
    if (!answer_evaluate(c, &obj, STAGE_ADVANTAGE, NULL, out)) return 0;
    if (by_hand) whiten(c, v->whitening_tokens, a->eps, out->of[OUT_ADVANTAGE].value);
    return 1;
}

/* ---- which tokens the loss counts ------------------------------------------------------------------------------------------------- */

/* The tokens that count: those where the gradient of REINFORCE with A = -1 is not 0.  Weights are left out, except those that mask. */
static uint8_t *counted_tokens(copy_of_case *s) {
    const int64_t n = s->c.batch.n_tokens;
    grpo_objective obj = s->obj;
    grpo_real *minus = room(s, n, sizeof *minus);
    uint8_t *counted = room(s, n, 1);
    outcome o;
    memset(&obj.ratio, 0, sizeof obj.ratio);
    memset(&obj.surrogate, 0, sizeof obj.surrogate);
    memset(&obj.penalty, 0, sizeof obj.penalty);
    memset(&obj.weight, 0, sizeof obj.weight);
    obj.weight.truncated = s->obj.weight.truncated;
    if (s->obj.weight.rollout_rejected == GRPO_ROLLOUT_REJECTED_UNMASK) {
        obj.weight = s->obj.weight;
        if (obj.weight.rollout_is != GRPO_ROLLOUT_IS_NONE) obj.weight.rollout_is = GRPO_ROLLOUT_IS_REJECT;
    }
    obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    for (int64_t k = 0; k < n; k++) minus[k] = -1;
    o = outcome_of_parts(&s->c, &obj, minus, gspo_loss_add);
    for (int64_t k = 0; k < n && !o.status; k++) counted[k] = o.dlogp[k] != 0;
    outcome_free(&o);
    return counted;
}

static void reject_by_inverse(copy_of_case *s) {
    grpo_weight *w = &s->obj.weight;
    const double low = w->rollout_is_low, high = w->rollout_is_high;
    const int weighted = w->rollout_is == GRPO_ROLLOUT_IS_MASK;
    w->rollout_is_low = 1 / high;
    w->rollout_is_high = 1 / low;
    s->c.batch.mask = counted_tokens(s);
    w->rollout_is = weighted ? GRPO_ROLLOUT_IS_TRUNCATE : GRPO_ROLLOUT_IS_NONE;
    w->rollout_rejected = GRPO_ROLLOUT_REJECTED_ZERO_WEIGHT;
    w->rollout_is_low = 0;
    w->rollout_is_high = weighted ? high : 0;
}

/* is the ratio a mean of log-ratios against the old policy, which nothing but the surrogate uses? */
static int is_plain_mean(const grpo_objective *o) {
    const grpo_surrogate_kind kind = o->surrogate.kind;
    grpo_objective none;
    memset(&none, 0, sizeof none);
    if (kind != GRPO_SURROGATE_RATIO && kind != GRPO_SURROGATE_PPO_CLIP && kind != GRPO_SURROGATE_DUAL_CLIP && kind != GRPO_SURROGATE_SAPO)
        return 0;
    return o->ratio.level == GRPO_LEVEL_SEQUENCE_MEAN && o->ratio.behaviour == GRPO_BEHAVIOUR_OLD && o->ratio.clamp_low == 0
        && o->ratio.clamp_high == 0 && !memcmp(&o->weight, &none.weight, sizeof none.weight);
}

/* ---- parts of the loss ------------------------------------------------------------------------------------------------------------ */

typedef struct { outcome o; double loss; } part;

static part part_of(const copy_of_case *s, const grpo_objective *obj, const grpo_real *advantage) {
    part p;
    p.o = outcome_of_parts(&s->c, obj, advantage, gspo_loss_add);
    p.loss = p.o.report.loss;
    return p;
}

/* Replaces the log-ratio of each token by its clipped value, times T/(T + more), as the pooled mean uses it.  share: the derivative of the
 * new log-ratio by the old one. */
static void pool(copy_of_case *s, const uint8_t *counted, double more, grpo_real *share) {
    const grpo_batch *b = &s->c.batch;
    grpo_real *l = room(s, b->n_tokens, sizeof *l), *old = room(s, b->n_tokens, sizeof *old);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double T = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) T += counted[k];
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            const double A = s->advantage[k], x = counted[k] && A != 0 && b->logp[k] != b->logp_old[k] ? b->logp[k] - b->logp_old[k] : 0;
            const double y = A >= 0 ? fmin(x, s->obj.ratio.token_clip_high) : fmax(x, -s->obj.ratio.token_clip_low);
            (y < 0 ? l : old)[k] = -fabs(y) * T / (T + more);          /* a log-probability may be -inf, but not inf */
            share[k] = A == 0 || x != y ? 0 : T / (T + more);
        }
    }
    s->c.batch.logp = l;
    s->c.batch.logp_old = old;
}

/* The same for a mean without clip; with ratio.gradient = token the derivative is by the token's own log-probability only, and share 1.  Of
 * an infinite log-ratio both log-probabilities are scaled, so that the finite one remains where infinities of both signs cancel. */
static void lengthen(copy_of_case *s, const uint8_t *counted, double more, grpo_real *share) {
    const grpo_batch *b = &s->c.batch;
    grpo_real *l = room(s, b->n_tokens, sizeof *l), *old = room(s, b->n_tokens, sizeof *old);
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double T = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) T += counted[k];
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            const double y = counted[k] && b->logp[k] != b->logp_old[k] ? b->logp[k] - b->logp_old[k] : 0;
            if (grpo_is_finite(y)) (y < 0 ? l : old)[k] = -fabs(y) * T / (T + more);
            else { l[k] = b->logp[k] * T / (T + more); old[k] = b->logp_old[k] * T / (T + more); }
            share[k] = s->obj.ratio.gradient == GRPO_GRADIENT_TOKEN ? 1 : T / (T + more);
        }
    }
    s->c.batch.logp = l;
    s->c.batch.logp_old = old;
}

typedef void log_ratio_change(copy_of_case *s, const uint8_t *counted, double more, grpo_real *share);

static part changed_part(copy_of_case *s, const grpo_objective *obj, log_ratio_change *change, double more) {
    const grpo_batch batch = s->c.batch;
    grpo_real *share = room(s, batch.n_tokens, sizeof *share);
    part p;
    change(s, counted_tokens(s), more, share);
    p = part_of(s, obj, s->advantage);
    for (int64_t k = 0; k < batch.n_tokens && !p.o.status; k++) p.o.dlogp[k] *= share[k];
    s->c.batch = batch;
    return p;
}

static part pooled_part(copy_of_case *s, grpo_objective obj, double more) {
    obj.ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
    obj.ratio.token_clip_low = obj.ratio.token_clip_high = 0;
    return changed_part(s, &obj, pool, more);
}

/* turns the mean over a response's T tokens into one with divisor T + more */
static void share_rows(copy_of_case *s, double more, part *p) {
    const grpo_batch *b = &s->c.batch;
    const uint8_t *counted = counted_tokens(s);
    double rows = 0, lost = 0;
    for (int64_t i = 0; i < s->c.n_sequences; i++) {
        double T = 0, terms = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) if (counted[k]) { T++; terms += p->o.term[k]; }
        rows += T > 0 || s->obj.aggregation.empty_sequences == GRPO_EMPTY_SEQUENCES_KEEP;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            p->o.dlogp[k] *= T / (T + more);
            p->o.dentropy[k] *= T / (T + more);
            p->o.ddivergence_ref[k] *= T / (T + more);
        }
        if (T > 0 && grpo_is_finite(terms)) lost += more / (T + more) * terms / T;
    }
    if (rows > 0) p->loss -= lost / rows;
}

/* the same for the mean over all tokens */
static void share_tokens(copy_of_case *s, double more, part *p) {
    const uint8_t *counted = counted_tokens(s);
    double T = 0;
    for (int64_t k = 0; k < s->c.batch.n_tokens; k++) T += counted[k];
    for (int64_t k = 0; k < s->c.batch.n_tokens; k++) {
        p->o.dlogp[k] *= T / (T + more);
        p->o.dentropy[k] *= T / (T + more);
        p->o.ddivergence_ref[k] *= T / (T + more);
    }
    p->loss *= T / (T + more);
}

static part policy_part(copy_of_case *s, const conventions *v) {
    grpo_objective obj = s->obj;
    memset(&obj.penalty, 0, sizeof obj.penalty);
    if (v->pooled_tokens != 0 && obj.ratio.level == GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN) return pooled_part(s, obj, v->pooled_tokens);
    if (v->level_tokens != 0 && is_plain_mean(&obj)) return changed_part(s, &obj, lengthen, v->level_tokens);
    return part_of(s, &obj, s->advantage);
}

static part penalty_part(copy_of_case *s, const conventions *v) {
    grpo_objective obj = s->obj;
    if (v->penalty_token_mean != 0) obj.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN;
    return part_of(s, &obj, room(s, s->c.batch.n_tokens, sizeof(grpo_real)));
}

/* ---- together --------------------------------------------------------------------------------------------------------------------- */

static int is_row_mean(const grpo_objective *o) { return o->aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN; }

static int is_token_mean(const grpo_objective *o) { return o->aggregation.kind == GRPO_AGGREGATION_TOKEN_MEAN; }

static int rules_of_loss(const test_case *c, const conventions *v) {
    const grpo_objective *o = &v->objective;
    return (v->row_tokens != 0 && is_row_mean(o)) || (v->pooled_tokens != 0 && o->ratio.level == GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN)
        || (v->mean_tokens != 0 && is_token_mean(o)) || (v->level_tokens != 0 && is_plain_mean(o))
        || v->rejection_of_inverse != 0 || (v->penalty_token_mean != 0 && o->penalty.kl != GRPO_KL_NONE)
        || (v->parts_apart != 0 && c->kind == CASE_SPLIT);
}

static void put_outputs(const test_case *c, answer *out) {
    answer_add(out, OUT_LOSS, 1);
    answer_add(out, OUT_DLOGP, c->batch.n_tokens);
    if (c->term.expect) answer_add(out, OUT_TERM, c->batch.n_tokens);
    if (c->dentropy.expect) answer_add(out, OUT_DENTROPY, c->batch.n_tokens);
    if (c->ddivergence_ref.expect) answer_add(out, OUT_DDIVERGENCE_REF, c->batch.n_tokens);
    if (!c->report) return;
    answer_add(out, OUT_REPORT, c->n_report);
    for (int64_t k = 0; k < c->n_report; k++)
        out->of[OUT_REPORT].given[k] = !strcmp(c->report[k].key, "policy_loss") || !strcmp(c->report[k].key, "penalty_loss");
}

static void add_numbers(answer *out, output_kind output, const grpo_real *a, double factor) {
    for (int64_t k = 0; out->of[output].value && k < out->of[output].count; k++)
        if (a[k] != 0) out->of[output].value[k] += factor * a[k];
}

/* adds a part, policy or penalty, to the answer; key: that of its loss in the report */
static void add_part(const test_case *c, const part *p, const char *key, double factor, answer *out) {
    out->of[OUT_LOSS].value[0] += factor * p->loss;
    add_numbers(out, OUT_TERM, p->o.term, 1);
    add_numbers(out, OUT_DLOGP, p->o.dlogp, factor);
    add_numbers(out, OUT_DENTROPY, p->o.dentropy, factor);
    add_numbers(out, OUT_DDIVERGENCE_REF, p->o.ddivergence_ref, factor);
    for (int64_t k = 0; k < c->n_report; k++) if (!strcmp(c->report[k].key, key)) out->of[OUT_REPORT].value[k] += factor * p->loss;
}

/* adds loss and gradients of the batch in `s`, times factor, to `out` */
static int add_batch(copy_of_case *s, const conventions *v, double factor, answer *out) {
    part policy, penalty;
    int ok;
    if (v->rejection_of_inverse != 0) reject_by_inverse(s);
    policy = policy_part(s, v);
    penalty = penalty_part(s, v);
    ok = !policy.o.status && !penalty.o.status;
    if (ok && v->row_tokens != 0 && is_row_mean(&s->obj)) {
        share_rows(s, v->row_tokens, &policy);
        if (v->penalty_token_mean == 0) share_rows(s, v->row_tokens, &penalty);
    }
    if (ok && v->mean_tokens != 0 && is_token_mean(&s->obj)) {
        share_tokens(s, v->mean_tokens, &policy);
        share_tokens(s, v->mean_tokens, &penalty);
    }
    if (ok) {
        add_part(&s->c, &policy, "policy_loss", factor, out);
        add_part(&s->c, &penalty, "penalty_loss", factor, out);
    }
    outcome_free(&policy.o);
    outcome_free(&penalty.o);
    return ok;
}

/* masks all tokens outside the part; returns how many responses it has, 0 if it has a piece of one */
static double mask_part(const test_case *c, const case_part *p, uint8_t *mask) {
    memset(mask, 0, (size_t)c->batch.n_tokens);
    for (int64_t k = 0; k < p->n_ranges; k++) {
        const int64_t i = p->range[k].sequence, first = c->batch.offset[i];
        if (p->range[k].begin || p->range[k].end != c->batch.length[i]) return 0;
        for (int64_t t = first; t < first + c->batch.length[i]; t++) mask[t] = (uint8_t)counts(c, t);
    }
    return (double)p->n_ranges;
}

/* parts_apart: every part with its own divisor, added over the parts of a rank and averaged over ranks */
static int add_parts(copy_of_case *s, const conventions *v, answer *out) {
    const test_case whole = s->c;
    const int keep = s->obj.aggregation.empty_sequences == GRPO_EMPTY_SEQUENCES_KEEP;
    uint8_t *mask = room(s, whole.batch.n_tokens, 1);
    int ok = is_row_mean(&s->obj) && v->rejection_of_inverse == 0 && !whole.added;
    for (int64_t k = 0; ok && k < whole.n_parts; k++) {
        const double responses = mask_part(&whole, &whole.parts[k], mask), factor = keep ? (double)whole.n_sequences / responses : 1;
        s->c.batch.mask = mask;
        ok = responses > 0 && add_batch(s, v, factor / (double)whole.ranks, out);
    }
    s->c = whole;
    return ok;
}

static int recompute_loss(const test_case *c, const conventions *v, answer *out) {
    copy_of_case s = { *c, v->objective, NULL, NULL };
    int ok;
    if (!rules_of_loss(c, v)) return answer_evaluate(c, &v->objective, STAGE_LOSS, NULL, out);
    s.advantage = c->given || c->advantage.expect ? compare_expected_advantage(c) : NULL;
    if (!s.advantage) return 0;
    put_outputs(c, out);
    ok = v->parts_apart != 0 && c->kind == CASE_SPLIT ? add_parts(&s, v, out) : add_batch(&s, v, 1, out);
    if (!ok) answer_free(out);
    free(s.advantage);
    case_memory_free(&s.memory);
    return ok;
}

/* of logits and hidden states: recomputes the loss, and continues its gradients by the chain rule */
static int recompute_rows(const test_case *c, const conventions *v, answer *out) {
    test_case *loss = loss_of_rows(c);
    answer of_loss;
    int ok = 0;
    memset(&of_loss, 0, sizeof of_loss);
    if (loss) ok = recompute_loss(loss, v, &of_loss) && answer_of_rows(c, &of_loss, out);
    answer_free(&of_loss);
    loss_of_rows_free(loss);
    return ok;
}

int recompute(const test_case *c, const conventions *v, stage_kind stage, answer *out) {
    memset(out, 0, sizeof *out);
    if (stage == STAGE_LOGITS) return recompute_rows(c, v, out);
    if (!case_has_loss(c)) return 0;
    return stage == STAGE_ADVANTAGE ? recompute_advantage(c, v, out) : stage == STAGE_LOSS && recompute_loss(c, v, out);
}
