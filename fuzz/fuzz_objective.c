/* Axes 3 to 7: a status or a result, never both; no NaN; order, layout and parts change no bit; the two headers agree; the gradient is the
 * slope of the loss where that can be measured. */
#include "bytes.h"

typedef struct {
    grpo_status status;
    grpo_real *dlogp, *term;
    grpo_partial partial;
    grpo_report report;
} answer;

static void answer_alloc(answer *a, int64_t n)
{
    memset(a, 0, sizeof *a);
    a->dlogp = patterned(n);
    a->term = patterned(n);
}

static void answer_free(answer *a) { free(a->dlogp); free(a->term); }

static void answer_add(const fuzz_case *c, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals, answer *a)
{
    grpo_output out;
    out.dlogp = a->dlogp;
    out.term = a->term;
    a->status = gspo_loss_add(&c->objective, batch, advantage, totals, &out, &a->partial);
}

static void answer_find(const fuzz_case *c, const rollouts *b, const grpo_real *advantage, answer *a)
{
    grpo_batch batch = fuzz_view(c, b);
    grpo_totals totals;
    memset(&totals, 0, sizeof totals);
    answer_alloc(a, b->n_tokens);
    a->status = grpo_count(&c->objective, &batch, &totals);
    totals.ranks = c->ranks;
    answer_add(c, &batch, advantage, a->status ? NULL : &totals, a);
    if (!a->status) grpo_report_of(&a->partial, &a->report);
}

static int same_numbers(const grpo_report *a, const grpo_report *b) { return !memcmp(a, b, offsetof(grpo_report, overflow)); }
static int same_report(const grpo_report *a, const grpo_report *b) { return same_numbers(a, b) && a->overflow == b->overflow; }

static void require_no_nan(const grpo_report *m)
{
    const double real[] = { m->loss, m->policy_loss, m->penalty_loss, m->clip_fraction, m->clip_low, m->clip_high, m->clip_dual, m->ratio_mean,
        m->ratio_min, m->ratio_max, m->ess, m->old_k1, m->old_k3, m->kl_k1, m->kl_k2, m->kl_k3, m->entropy, m->weight_mean };
    size_t k;
    for (k = 0; k < sizeof real / sizeof *real; k++) require(real[k] == real[k], "NaN in the report");
}

/* ---- refused ------------------------------------------------------------------------------------------------------------------- */

static void require_refused(const fuzz_case *c, const answer *a)
{
    static const grpo_partial zero;
    require(a->status > GRPO_OK && a->status < GRPO_N_STATUS, "no such status");
    require(untouched(a->dlogp, c->b.n_tokens) && untouched(a->term, c->b.n_tokens), "refused, yet written");
    require(!memcmp(&a->partial, &zero, sizeof zero), "refused, yet added");
}

/* ---- the two headers, in one go and in two -------------------------------------------------------------------------------------- */

static void require_entry_points(const fuzz_case *c, const grpo_real *advantage, const answer *a)
{
    grpo_batch batch = fuzz_view(c, &c->b);
    grpo_real *dlogp = patterned(c->b.n_tokens);
    grpo_report report;
    grpo_status st;
    memset(&report, 0, sizeof report);
    st = grpo_loss(&c->objective, &batch, advantage, NULL, dlogp, &report);
    if (c->objective.ratio.unit != GRPO_UNIT_TOKEN) {
        require(st != GRPO_OK && untouched(dlogp, c->b.n_tokens), "grpo_loss takes a sequence unit");
        st = gspo_loss(&c->objective, &batch, advantage, NULL, dlogp, &report);
    }
    require(st == a->status, "the entry points have different statuses");
    if (!st && c->ranks <= 1) {                                  /* overflow is also that of the outputs asked for, here without terms */
        require(same_numbers(&report, &a->report), "the entry points have different reports");
        require(!memcmp(dlogp, a->dlogp, (size_t)c->b.n_tokens * sizeof *dlogp), "the entry points have different gradients");
    }
    free(dlogp);
}

/* ---- order, layout, parts ------------------------------------------------------------------------------------------------------- */

static grpo_real *carried(const grpo_real *x, const rollouts *b)
{
    grpo_real *y = (grpo_real *)test_alloc(b->n_tokens, sizeof *y);
    int64_t t;
    for (t = 0; t < b->n_tokens; t++) y[t] = b->from[t] < 0 ? (grpo_real)NAN : x[b->from[t]];
    return y;
}

static void require_arrangements(const fuzz_case *c, const grpo_real *advantage, const answer *base, rng *r)
{
    rollouts other;
    answer a;
    grpo_real *carried_advantage;
    rollouts_rearrange(r, &c->b, 1, ARRANGE_SEQUENCES | ARRANGE_TOKENS, &other);
    carried_advantage = carried(advantage, &other);
    answer_find(c, &other, carried_advantage, &a);
    require(!a.status, "refused in another order");
    require_same(base->dlogp, a.dlogp, &other);
    require_same(base->term, a.term, &other);
    require(same_report(&base->report, &a.report), "another order has another report");
    answer_free(&a);
    free(carried_advantage);
    rollouts_free(&other);
}

static void require_part(const fuzz_case *c, const rollouts *part, const grpo_real *advantage, const grpo_totals *totals, const answer *base,
                         grpo_partial *sum)
{
    grpo_batch view = fuzz_view(c, part);
    grpo_real *carried_advantage = carried(advantage, part);
    answer a;
    answer_alloc(&a, part->n_tokens);
    answer_add(c, &view, carried_advantage, totals, &a);
    require(!a.status, "a part is refused");
    require_same(base->dlogp, a.dlogp, part);
    require_same(base->term, a.term, part);
    require(!grpo_partial_merge(sum, &a.partial), "parts do not merge");
    answer_free(&a);
    free(carried_advantage);
}

static void require_parts(const fuzz_case *c, const grpo_real *advantage, const answer *base, rng *r)
{
    static parts p;
    static grpo_partial sum;
    grpo_totals totals;
    grpo_report report;
    grpo_batch view;
    int k;
    memset(&totals, 0, sizeof totals);
    memset(&sum, 0, sizeof sum);
    parts_cut(r, &c->b, &p);
    for (k = 0; k < p.count; k++) {
        view = fuzz_view(c, &p.part[k]);
        require(!grpo_count(&c->objective, &view, &totals), "a part is refused");
    }
    totals.ranks = c->ranks;
    for (k = 0; k < p.count; k++) require_part(c, &p.part[k], advantage, &totals, base, &sum);
    if (p.count) {
        grpo_report_of(&sum, &report);
        require(same_report(&base->report, &report), "the parts have another report");
    }
    parts_free(&p);
}

/* ---- slopes ---------------------------------------------------------------------------------------------------------------------
 * The loss is measured at l +- h and l +- 2h.  A slope counts only if all four one-sided ones agree, which a corner prevents; what could
 * hide a corner (bands narrower than h, stop-gradients, numbers so large that rounding shows) is left out beforehand, and every l is
 * moved a little, away from where two corners meet. */

static const double H = 0x1p-20;

static int moderate_numbers(const grpo_objective *o)
{
    int k, count;
    const grpo_field *field = grpo_fields(&count);
    for (k = 0; k < count; k++) {
        double x = fabs(grpo_objective_get(o, &field[k]));
        if (!field[k].choices && x != 0 && !(x >= 1e-3)) return 0;
    }
    return o->penalty.kl_coef > -10 && o->penalty.kl_coef < 10 && o->surrogate.tau_pos < 10 && o->surrogate.tau_neg < 10
        && !(o->aggregation.constant > 0 && o->aggregation.constant < 0.1);
}

static int wide_band(double low, double high) { return (low == 0 && high == 0) || high - low > 0.1; }

static int smooth_objective(const grpo_objective *o)
{
    const grpo_surrogate *s = &o->surrogate;
    if (s->kind == GRPO_SURROGATE_CISPO || s->kind == GRPO_SURROGATE_VESPO) return 0;
    if (s->kind == GRPO_SURROGATE_DUAL_CLIP && !(s->dual - 1 > 0.1)) return 0;
    if (o->ratio.unit != GRPO_UNIT_TOKEN && o->ratio.gradient == GRPO_GRADIENT_TOKEN) return 0;
    if (o->penalty.kl != GRPO_KL_NONE && o->penalty.kl_gradient != GRPO_KL_GRADIENT_OWN) return 0;
    if (!wide_band(-o->penalty.kl_clamp_log, o->penalty.kl_clamp_log) || !wide_band(-o->penalty.kl_clamp_value, o->penalty.kl_clamp_value)) return 0;
    return wide_band(o->ratio.clamp_low, o->ratio.clamp_high) && wide_band(o->ratio.unit_clamp_low, o->ratio.unit_clamp_high) && moderate_numbers(o);
}

static int near(const fuzz_case *c, int array, int missing, int64_t t)
{
    return (c->missing & missing) || fabs((double)c->b.token[array][t] - (double)c->b.token[TOKEN_LOGP][t]) <= 0.6;
}

/* with at most 7 tokens no ratio of a sequence is above e^9 */
static int moderate_batch(const fuzz_case *c, const grpo_real *advantage)
{
    int64_t t;
    for (t = 0; t < c->b.n_tokens; t++) {
        if (!c->b.mask[t]) continue;
        if (!(fabs((double)c->b.token[TOKEN_LOGP][t]) < 50 && fabs((double)advantage[t]) < 10)) return 0;
        if (!near(c, TOKEN_OLD, MISSING_OLD, t) || !near(c, TOKEN_REF, MISSING_REF, t) || !near(c, TOKEN_ROLLOUT, MISSING_ROLLOUT, t)) return 0;
    }
    return 1;
}

static double loss_at(const fuzz_case *c, const rollouts *b, const grpo_real *advantage, int64_t t, double l)
{
    grpo_batch batch = fuzz_view(c, b);
    grpo_report report;
    grpo_real before = b->token[TOKEN_LOGP][t];
    grpo_status st;
    b->token[TOKEN_LOGP][t] = (grpo_real)l;
    st = gspo_loss(&c->objective, &batch, advantage, NULL, NULL, &report);
    b->token[TOKEN_LOGP][t] = before;
    require(!st, "refused at l + h");
    return report.loss;
}

/* the terms' own size: what rounding and curvature are measured against */
static double loss_size(const rollouts *b, const answer *a)
{
    double size = 1;
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) size += fabs((double)a->term[t]) + fabs((double)a->dlogp[t]);
    }
    return size;
}

static void require_slope(const fuzz_case *c, const rollouts *b, const grpo_real *advantage, const answer *a, int64_t t)
{
    const double l = (double)b->token[TOKEN_LOGP][t], at = loss_at(c, b, advantage, t, l), tolerance = 1e-3 * loss_size(b, a);
    double slope[4], least, most;
    int k;
    for (k = 0; k < 4; k++) {
        double x = l + H * (k < 2 ? k - 2 : k - 1);
        slope[k] = (loss_at(c, b, advantage, t, x) - at) / (x - l);
    }
    least = most = slope[0];
    for (k = 1; k < 4; k++) {
        if (slope[k] < least) least = slope[k];
        if (slope[k] > most) most = slope[k];
    }
    if (most - least <= tolerance) require(fabs((double)a->dlogp[t] - (least + most) / 2) <= 2 * tolerance, "the gradient is not the slope of the loss");
}

static void require_slopes(const fuzz_case *c, const grpo_real *advantage, rng *r)
{
    rollouts b;
    answer a;
    grpo_real *moved;
    int64_t i, t;
    if (sizeof(grpo_real) != 8 || c->ranks > 1 || !smooth_objective(&c->objective) || !moderate_batch(c, advantage)) return;
    rollouts_rearrange(r, &c->b, 0, 0, &b);
    for (t = 0; t < b.n_tokens; t++) b.token[TOKEN_LOGP][t] = (grpo_real)((double)b.token[TOKEN_LOGP][t] + 0.01 * (rng_unit(r) - 0.5));
    moved = carried(advantage, &b);
    answer_find(c, &b, moved, &a);
    require(!a.status, "refused at another l");
    for (i = 0; i < b.n_sequences; i++) {
        for (t = b.offset[i]; t < b.offset[i] + b.length[i]; t += 2) if (b.mask[t]) require_slope(c, &b, moved, &a, t);
    }
    free(moved);
    answer_free(&a);
    rollouts_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_case c;
    grpo_batch batch;
    grpo_real *computed;
    const grpo_real *advantage;
    answer a;
    rng r;
    r.state = hash_bytes(data, size);
    fuzz_case_read(data, size, &c);
    batch = fuzz_view(&c, &c.b);
    computed = patterned(c.b.n_tokens);
    advantage = c.given || grpo_advantages(&c.objective, &batch, computed) ? c.advantage : computed;
    answer_find(&c, &c.b, advantage, &a);
    require_entry_points(&c, advantage, &a);
    if (a.status) {
        require_refused(&c, &a);
    } else {
        c.fault = FAULT_NONE;                                    /* it did not matter: n_tokens of a batch without tokens */
        require_values(&c.b, a.dlogp);
        require_values(&c.b, a.term);
        require_no_nan(&a.report);
        require_arrangements(&c, advantage, &a, &r);
        require_parts(&c, advantage, &a, &r);
        require_slopes(&c, advantage, &r);
    }
    answer_free(&a);
    free(computed);
    fuzz_case_free(&c);
    return 0;
}
