/* Fuzzes the loss: it returns a status and writes nothing, or writes a result; no NaN; order, layout and parts change no bit; grpo.h and
 * gspo.h agree; loss and gradient are those of the reference in binary128. */
#include "bytes.h"
#include "../tests/reference/reference.h"

typedef struct {
    grpo_status status;
    grpo_real *dlogp, *dentropy, *ddivergence_ref, *term, *dlog_partition;
    grpo_partial partial;
    grpo_report report;
} answer;

static void answer_alloc(answer *a, int64_t n, int64_t groups) {
    memset(a, 0, sizeof *a);
    a->dlog_partition = unwritten(groups);
    a->dlogp = unwritten(n);
    a->dentropy = unwritten(n);
    a->ddivergence_ref = unwritten(n);
    a->term = unwritten(n);
}

static void answer_free(answer *a) { free(a->dlogp); free(a->dentropy); free(a->ddivergence_ref); free(a->term); free(a->dlog_partition); }

static void answer_add(const fuzz_case *c, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals, answer *a) {
    grpo_output out = output_with_scratch(&c->objective, batch);
    out.dlogp = a->dlogp;
    out.dentropy = a->dentropy;
    out.ddivergence_ref = a->ddivergence_ref;
    out.term = a->term;
    out.dlog_partition = a->dlog_partition;
    a->status = gspo_loss_add(&c->objective, batch, advantage, totals, &out, &a->partial);
    free(out.scratch);
}

static void answer_find(const fuzz_case *c, const rollouts *b, const grpo_real *advantage, answer *a) {
    grpo_batch batch = fuzz_view(c, b);
    grpo_totals totals;
    memset(&totals, 0, sizeof totals);
    answer_alloc(a, b->n_tokens, b->n_groups);
    a->status = grpo_totals_add(&c->objective, &batch, advantage, &totals);
    totals.ranks = c->ranks;
    answer_add(c, &batch, advantage, a->status ? NULL : &totals, a);
    if (!a->status) grpo_partial_report(&a->partial, &a->report);
}

static int same_numbers(const grpo_report *a, const grpo_report *b) { return !memcmp(a, b, offsetof(grpo_report, overflow)); }

static void require_no_nan(const grpo_report *m) {
    const double real[] = { m->loss, m->policy_loss, m->penalty_loss, m->clip_fraction, m->clip_fraction_low, m->clip_fraction_high,
        m->clip_fraction_dual, m->ratio_mean,
        m->ratio_min, m->ratio_max, m->ess, m->approx_kl_k1, m->approx_kl_k3, m->kl_k1, m->kl_k2, m->kl_k3, m->entropy,
            m->rollout_is_mean };
    size_t k;
    for (k = 0; k < sizeof real / sizeof *real; k++) require(real[k] == real[k], "NaN in the report");
}

static void require_no_nan_of_groups(const fuzz_case *c, const answer *a) {
    int64_t g;
    for (g = 0; g < c->b.n_groups; g++) require(a->dlog_partition[g] == a->dlog_partition[g], "NaN in dlog_partition");
}

/* ---- refused ------------------------------------------------------------------------------------------------------------------- */

static void require_refused(const fuzz_case *c, const answer *a) {
    static const grpo_partial zero;
    require(grpo_status_rule(a->status) > 0 && grpo_status_rule(a->status) < GRPO_N_RULES, "no such status");
    require(all_unwritten(a->dlog_partition, c->b.n_groups), "refused, yet written");
    require(all_unwritten(a->dlogp, c->b.n_tokens) && all_unwritten(a->dentropy, c->b.n_tokens)
            && all_unwritten(a->ddivergence_ref, c->b.n_tokens) && all_unwritten(a->term, c->b.n_tokens),
            "refused, yet written");
    require(!memcmp(&a->partial, &zero, sizeof zero), "refused, yet added");
}

/* ---- entry points of the two headers -------------------------------------------------------------------------------------------- */

static void require_entry_points(const fuzz_case *c, const grpo_real *advantage, const answer *a) {
    grpo_batch batch = fuzz_view(c, &c->b);
    grpo_real *dlogp = unwritten(c->b.n_tokens);
    grpo_report report;
    grpo_output out = output_with_scratch(&c->objective, &batch);
    grpo_status st;
    memset(&report, 0, sizeof report);
    out.dlogp = dlogp;
    st = grpo_loss(&c->objective, &batch, advantage, NULL, &out, &report);
    if (c->objective.ratio.level != GRPO_LEVEL_TOKEN || c->objective.penalty.preference != GRPO_PREFERENCE_NONE) {
        require(st != GRPO_OK && all_unwritten(dlogp, c->b.n_tokens), "grpo_loss takes a sequence unit");
        st = gspo_loss(&c->objective, &batch, advantage, NULL, &out, &report);
    }
    require(st == a->status, "the entry points have different statuses");
    if (!st && c->ranks <= 1) {                                  /* overflow covers the requested outputs, here without terms */
        require(same_numbers(&report, &a->report), "the entry points have different reports");
        require(!memcmp(dlogp, a->dlogp, (size_t)c->b.n_tokens * sizeof *dlogp), "the entry points have different gradients");
    }
    free(dlogp);
    free(out.scratch);
}

/* ---- order, layout, parts ------------------------------------------------------------------------------------------------------- */

static grpo_real *carried(const grpo_real *x, const rollouts *b) {
    grpo_real *y = (grpo_real *)test_alloc(b->n_tokens, sizeof *y);
    int64_t t;
    for (t = 0; t < b->n_tokens; t++) y[t] = b->from[t] < 0 ? (grpo_real)NAN : x[b->from[t]];
    return y;
}

static void require_same_groups(const answer *base, const answer *found, const rollouts *arranged) {
    int64_t g;
    for (g = 0; g < arranged->n_groups; g++)
        require(!memcmp(&found->dlog_partition[g], &base->dlog_partition[arranged->group_from[g]], sizeof *base->dlog_partition),
            "an arrangement has another dlog_partition");
}

static void require_arrangements(const fuzz_case *c, const grpo_real *advantage, const answer *base, rng *r) {
    const int tokens = reads_positions(&c->objective) || reads_first_token(&c->objective) ? 0 : ARRANGE_TOKENS;
    rollouts other;
    answer a;
    grpo_real *carried_advantage;
    rollouts_rearrange(r, &c->b, 1, ARRANGE_SEQUENCES | tokens, &other);
    carried_advantage = carried(advantage, &other);
    answer_find(c, &other, carried_advantage, &a);
    require(!a.status, "refused in another order");
    require_same(base->dlogp, a.dlogp, &other);
    require_same(base->dentropy, a.dentropy, &other);
    require_same(base->ddivergence_ref, a.ddivergence_ref, &other);
    require_same(base->term, a.term, &other);
    require_same_groups(base, &a, &other);
    require(same_report(&base->report, &a.report), "another order has another report");
    answer_free(&a);
    free(carried_advantage);
    rollouts_free(&other);
}

static void require_part(const fuzz_case *c, const rollouts *part, const grpo_real *advantage, const grpo_totals *totals,
    const answer *base,
                         grpo_partial *sum) {
    grpo_batch view = fuzz_view(c, part);
    grpo_real *carried_advantage = carried(advantage, part);
    answer a;
    answer_alloc(&a, part->n_tokens, part->n_groups);
    answer_add(c, &view, carried_advantage, totals, &a);
    require(!a.status, "a part is refused");
    require_same(base->dlogp, a.dlogp, part);
    require_same(base->dentropy, a.dentropy, part);
    require_same(base->ddivergence_ref, a.ddivergence_ref, part);
    require_same(base->term, a.term, part);
    require_same_groups(base, &a, part);
    require(!grpo_partial_merge(sum, &a.partial), "parts do not merge");
    answer_free(&a);
    free(carried_advantage);
}

static void require_parts(const fuzz_case *c, const grpo_real *advantage, const answer *base, rng *r) {
    static rollouts_parts p;
    static grpo_partial sum;
    grpo_totals totals;
    grpo_report report;
    grpo_batch view;
    int k;
    memset(&totals, 0, sizeof totals);
    memset(&sum, 0, sizeof sum);
    rollouts_cut(r, &c->b, ARRANGE_SEQUENCES, &p);
    for (k = 0; k < p.count; k++) {
        grpo_real *carried_advantage = carried(advantage, &p.batch[k]);
        view = fuzz_view(c, &p.batch[k]);
        require(!grpo_totals_add(&c->objective, &view, carried_advantage, &totals), "a part is refused");
        free(carried_advantage);
    }
    totals.ranks = c->ranks;
    for (k = 0; k < p.count; k++) require_part(c, &p.batch[k], advantage, &totals, base, &sum);
    if (p.count) {
        grpo_partial_report(&sum, &report);
        require(same_report(&base->report, &report), "the parts have another report");
    }
    rollouts_parts_free(&p);
}

/* ---- the reference ------------------------------------------------------------------------------------------------------------- */

enum { MAX_SLOPES = 16 };

static int64_t active_tokens(const reference *ref) {
    int64_t i, n = 0;
    for (i = 0; i < ref->b->n_sequences; i++) n += ref->count[i];
    return n;
}

/* checks the slopes at every token, or at MAX_SLOPES of them */
static void require_slopes(reference *ref, const answer *a, rng *r) {
    const int64_t stride = active_tokens(ref) / MAX_SLOPES + 1, first = rng_below(r, stride);
    int64_t i, t, n = 0;
    reference_answer slope;
    for (i = 0; i < ref->b->n_sequences; i++) for (t = ref->b->offset[i]; t < ref->b->offset[i] + ref->b->length[i]; t++) {
        if (ref->active[t] && n++ % stride != first) continue;
        slope = reference_entropy_slope(ref, t);
        if (slope.judged) require(reference_agrees(&slope, (double)a->dentropy[t]), "dentropy is not the slope of the loss");
        slope = reference_divergence_slope(ref, t);
        if (slope.judged) require(reference_agrees(&slope, (double)a->ddivergence_ref[t]), "ddivergence_ref is not the slope of the loss");
        slope = reference_slope(ref, i, t);
        if (slope.judged) require(reference_agrees(&slope, (double)a->dlogp[t]), "the gradient is not the slope of the loss");
    }
}

static void require_reference(const fuzz_case *c, const grpo_real *advantage, const answer *a, rng *r) {
    reference ref;
    reference_answer loss;
    reference_counts n;
    reference_alloc(&ref, &c->objective, &c->b, advantage, c->ranks);
    loss = reference_loss(&ref);
    if (loss.judged) require(reference_agrees(&loss, a->report.loss), "the loss is not that of the reference");
    n = reference_count(&ref);
    if (n.judged) require(n.rejected == a->report.rejected_tokens && n.tokens == a->report.tokens,
        "the tokens are not those of the reference");
    require_slopes(&ref, a, r);
    reference_free(&ref);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_case c;
    grpo_batch batch;
    grpo_real *computed;
    const grpo_real *advantage;
    answer a;
    rng r;
    r.state = hash_bytes(HASH_START, data, size);
    fuzz_case_read(data, size, &c);
    batch = fuzz_view(&c, &c.b);
    computed = unwritten(c.b.n_tokens);
    advantage = c.given || grpo_advantages(&c.objective, &batch, computed) ? c.advantage : computed;
    answer_find(&c, &c.b, advantage, &a);
    require_entry_points(&c, advantage, &a);
    if (a.status) {
        require_refused(&c, &a);
    } else {
        c.fault = FAULT_NONE;                                    /* harmless: n_tokens of a batch without tokens */
        require_values(&c.b, a.dlogp);
        require_values(&c.b, a.dentropy);
        require_values(&c.b, a.ddivergence_ref);
        require_values(&c.b, a.term);
        require_no_nan(&a.report);
        require_no_nan_of_groups(&c, &a);
        require_arrangements(&c, advantage, &a, &r);
        require_parts(&c, advantage, &a, &r);
        require_reference(&c, advantage, &a, &r);
    }
    answer_free(&a);
    free(computed);
    fuzz_case_free(&c);
    return 0;
}
