/* Properties of every objective on random batches: order, parts, layout and masked garbage change no bit; no result is NaN; loss and
 * gradients agree with the reference in binary128 (reference.h).  For presets, then random objectives, then every choice of every field:
 *     properties              presets and random objectives
 *     properties choices      also every choice
 *     properties all          the same with twice the draws, some minutes
 *     properties WHICH SEED   other draws; WHICH: presets, choices or all
 *     properties triples PART PARTS    loss and gradients of every combination of three choices, PART of PARTS
 *     properties quadruples SEED COUNT    all properties, on a batch each, of COUNT combinations of four choices, drawn at random
 * Errors that reference and headers share would pass: the vectors test against the oracle. */
#include "../../gspo.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/choice_combinations.h"
#include "../reference/reference.h"
#include "../support/result_bits.h"
#include "../support/scratch.h"
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

enum { RANDOM_OBJECTIVES = 200, MAX_GROUPS = 16 };
static const double EPS = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52;
static char label[160];                                          /* objective and batch, for messages of failures */
static uint64_t other_draws;                                     /* added to every seed */

static int same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* ---- answers ------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    grpo_status status;
    grpo_real *advantage, *dlogp, *dentropy, *ddivergence_ref, *term, *dlog_partition;
    grpo_report report;
} answer;

static void answer_alloc(answer *a, const rollouts *b) {
    const int64_t tokens = b->n_tokens;
    memset(a, 0, sizeof *a);
    a->dlog_partition = unwritten(b->n_groups);
    a->advantage = unwritten(tokens);
    a->dlogp = unwritten(tokens);
    a->dentropy = unwritten(tokens);
    a->ddivergence_ref = unwritten(tokens);
    a->term = unwritten(tokens);
}

static void answer_free(answer *a) {
    free(a->advantage); free(a->dlogp); free(a->dentropy); free(a->ddivergence_ref); free(a->term); free(a->dlog_partition);
}

/* out.scratch is the caller's to free */
static grpo_output output_of(const grpo_objective *obj, const grpo_batch *batch, const answer *a) {
    grpo_output out = output_with_scratch(obj, batch);
    out.dlogp = a->dlogp;
    out.dentropy = a->dentropy;
    out.ddivergence_ref = a->ddivergence_ref;
    out.term = a->term;
    out.dlog_partition = a->dlog_partition;
    return out;
}

/* the loss with the advantages in a->advantage */
static void answer_loss(const grpo_objective *obj, const rollouts *b, answer *a) {
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals;
    grpo_partial partial;
    grpo_output out = output_of(obj, &batch, a);
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    a->status = grpo_totals_add(obj, &batch, a->advantage, &totals);
    if (!a->status) a->status = gspo_loss_add(obj, &batch, a->advantage, &totals, &out, &partial);
    if (!a->status) grpo_partial_report(&partial, &a->report);
    free(out.scratch);
}

static void answer_find(const grpo_objective *obj, const rollouts *b, answer *a) {
    grpo_batch batch = rollouts_view(b);
    answer_alloc(a, b);
    a->status = grpo_advantages(obj, &batch, a->advantage);
    if (!a->status) answer_loss(obj, b, a);
}

static int is_of_rewards(grpo_status st) {
    return grpo_status_is(st, GRPO_TOO_LARGE) && (speaks_of(st, "shaped reward") || speaks_of(st, "KL in the reward"));
}

/* the objective without settings that this batch does not allow: an infinite KL, pass@k of fewer than k items, a teacher's log-ratio with a
 * log-probability of -inf */
static grpo_objective allowed_by(grpo_objective obj, const rollouts *b) {
    grpo_batch batch = rollouts_view(b);
    grpo_real *advantage = unwritten(b->n_tokens);
    grpo_status st = GRPO_NULL;
    int tries;
    for (tries = 0; tries < 6 && st; tries++) {
        int infinite;
        st = grpo_advantages(&obj, &batch, advantage);
        infinite = grpo_status_is(st, GRPO_INFINITE);
        if (is_of_rewards(st)) obj.reward.kl = GRPO_KL_NONE;
        if (grpo_status_is(st, GRPO_FEW_ITEMS)) obj.advantage.transform = GRPO_TRANSFORM_NONE;
        if (infinite && (speaks_of(st, "batch.logp_teacher") || speaks_of(st, "batch.logp_old")))
            obj.advantage.teacher_coef = obj.advantage.teacher_share = 0;
        if (infinite && (speaks_of(st, "batch.logp_rollout") || speaks_of(st, "batch.logp_ref"))) obj.advantage.kl_centred_coef = 0;
        if (grpo_status_is(st, GRPO_NOT_UNIT)) obj.advantage.scale = GRPO_SCALE_GROUP_STD;
    }
    free(advantage);
    return obj;
}

static int64_t report_words(void) { return (int64_t)(offsetof(grpo_report, overflow) / 8); }

static void report_difference(const char *what, const grpo_report *a, const grpo_report *b) {
    int64_t k, x, y;
    double u, v;
    for (k = 0; k < report_words(); k++) {
        memcpy(&x, (const char *)a + 8 * k, 8);
        memcpy(&y, (const char *)b + 8 * k, 8);
        memcpy(&u, &x, 8);
        memcpy(&v, &y, 8);
        if (x != y) check(0, "%s: %s: report word %d: %.17g (%lld) became %.17g (%lld)", label, what, (int)k, u, (long long)x, v,
                          (long long)y);
    }
}

static void check_report(const char *what, const grpo_report *a, const grpo_report *b) {
    if (!check(same_report(a, b), "%s: %s: report", label, what)) report_difference(what, a, b);
}

/* compares with an evaluation of fewer outputs, whose overflow flag covers these alone */
static void check_fewer_outputs(const char *what, const grpo_report *all, grpo_report fewer) {
    check(fewer.overflow <= all->overflow, "%s: %s: overflow", label, what);
    fewer.overflow = all->overflow;
    check_report(what, all, &fewer);
}

/* compares `found`, of a rearranged batch, with `base`, of the original */
static void check_tokens(const char *what, const char *name, const grpo_real *base, const grpo_real *found, const rollouts *arranged) {
    int64_t t, s, bad = -1;
    for (t = 0; t < arranged->n_tokens; t++) {
        s = arranged->from[t];
        if (s < 0 ? found[t] != UNWRITTEN : !same_bits(&found[t], &base[s], sizeof *base)) bad = t;
    }
    check(bad < 0, "%s: %s: %s of slot %lld: %.17g became %.17g", label, what, name, (long long)bad,
          bad < 0 || arranged->from[bad] < 0 ? (double)UNWRITTEN : (double)base[arranged->from[bad]], bad < 0 ? 0 : (double)found[bad]);
}

static void check_groups(const char *what, const answer *base, const answer *found, const rollouts *arranged) {
    int64_t g, bad = 0;
    for (g = 0; g < arranged->n_groups; g++)
        bad += !same_bits(&found->dlog_partition[g], &base->dlog_partition[arranged->group_from[g]], sizeof *base->dlog_partition);
    check(bad == 0, "%s: %s: dlog_partition of %d groups", label, what, (int)bad);
}

static void check_same(const char *what, const answer *base, const answer *found, const rollouts *arranged) {
    if (!check(found->status == GRPO_OK, "%s: %s: %s", label, what, status_line(found->status))) return;
    check_tokens(what, "advantage", base->advantage, found->advantage, arranged);
    check_tokens(what, "dlogp", base->dlogp, found->dlogp, arranged);
    check_tokens(what, "dentropy", base->dentropy, found->dentropy, arranged);
    check_tokens(what, "ddivergence_ref", base->ddivergence_ref, found->ddivergence_ref, arranged);
    check_tokens(what, "term", base->term, found->term, arranged);
    check_groups(what, base, found, arranged);
    check_report(what, &base->report, &found->report);
}

/* ---- order, layout, garbage ---------------------------------------------------------------------------------------------------- */

static void check_arranged(const char *what, const grpo_objective *obj, const rollouts *b, const answer *base, rng *r, int groups,
                           int shuffle) {
    rollouts other;
    answer found;
    rollouts_rearrange(r, b, groups, shuffle, &other);
    answer_find(obj, &other, &found);
    check_same(what, base, &found, &other);
    answer_free(&found);
    rollouts_free(&other);
}

static void property_order(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    const int tokens = order_free(obj) & ARRANGE_TOKENS, sequences = order_free(obj) & ARRANGE_SEQUENCES;
    if (tokens) check_arranged("tokens permuted", obj, b, base, r, 0, tokens);
    if (sequences) check_arranged("sequences permuted", obj, b, base, r, 0, sequences);
    check_arranged("groups permuted", obj, b, base, r, 1, 0);
    check_arranged("all permuted", obj, b, base, r, 1, sequences | tokens);
}

static void property_layout(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    check_arranged("another layout", obj, b, base, r, 0, 0);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------- */

/* totals and moments of all parts; moments are added up in one object, or each part's are merged, in every second call */
static grpo_status parts_survey(const grpo_objective *obj, const rollouts_parts *p, grpo_totals *totals, grpo_moments *moments) {
    grpo_status st = GRPO_OK;
    static int survey;
    const int merges = survey++ % 2;
    int k;
    memset(totals, 0, sizeof *totals);
    memset(moments, 0, sizeof *moments);
    for (k = p->count - 1; k >= 0 && !st; k--) {                       /* the last part first */
        grpo_batch batch = rollouts_view(&p->batch[k]);
        grpo_moments own;
        memset(&own, 0, sizeof own);
        st = grpo_moments_add(obj, &batch, merges ? &own : moments);
        if (!st && merges) st = grpo_moments_merge(moments, &own);
    }
    for (k = 0; k < p->count && !st; k++) {
        grpo_batch batch = rollouts_view(&p->batch[k]);
        grpo_real *advantage = unwritten(batch.n_tokens);
        grpo_totals own;
        memset(&own, 0, sizeof own);
        own.ranks = k > 0;                                             /* the larger of all is taken: 1 */
        st = grpo_advantages_with_moments(obj, &batch, moments, advantage);
        if (!st) st = grpo_totals_add(obj, &batch, advantage, merges ? &own : totals);
        if (!st && merges) st = grpo_totals_merge(totals, &own);
        free(advantage);
    }
    return st;
}

static void part_evaluate(const grpo_objective *obj, const answer *base, const grpo_totals *totals, const grpo_moments *moments,
                          const rollouts *part, grpo_partial *own, grpo_partial *shared) {
    grpo_batch batch = rollouts_view(part);
    grpo_output out, room;
    answer a;
    answer_alloc(&a, part);
    out = output_of(obj, &batch, &a);
    memset(&room, 0, sizeof room);
    room.scratch = out.scratch; room.scratch_size = out.scratch_size;
    a.status = grpo_advantages_with_moments(obj, &batch, moments, a.advantage);
    if (!a.status) a.status = gspo_loss_add(obj, &batch, a.advantage, totals, &out, own);
    if (!a.status) a.status = gspo_loss_add(obj, &batch, a.advantage, totals, out.scratch_size ? &room : NULL, shared);
    free(out.scratch);
    if (check(!a.status, "%s: a part: %s", label, status_line(a.status))) {
        check_tokens("parts", "advantage", base->advantage, a.advantage, part);
        check_tokens("parts", "dlogp", base->dlogp, a.dlogp, part);
        check_tokens("parts", "dentropy", base->dentropy, a.dentropy, part);
        check_tokens("parts", "ddivergence_ref", base->ddivergence_ref, a.ddivergence_ref, part);
        check_tokens("parts", "term", base->term, a.term, part);
        check_groups("parts", base, &a, part);
    }
    answer_free(&a);
}

/* merges two random partials until one is left */
static grpo_status partials_merge(rng *r, grpo_partial *partial, int left) {
    grpo_status st = GRPO_OK;
    int i, j;
    while (left > 1 && !st) {
        i = (int)rng_below(r, left);
        j = (int)rng_below(r, left - 1);
        if (j >= i) j++;
        st = grpo_partial_merge(&partial[i], &partial[j]);
        partial[j] = partial[--left];
    }
    return st;
}

static void property_parts(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    static rollouts_parts p;
    static grpo_partial partial[MOST_PARTS], shared, fresh;
    grpo_totals totals;
    grpo_moments moments;
    grpo_report report;
    grpo_status st;
    int k;
    rollouts_cut(r, b, 0, &p);
    memset(partial, 0, sizeof partial);
    memset(&shared, 0, sizeof shared);
    memset(&fresh, 0, sizeof fresh);
    st = parts_survey(obj, &p, &totals, &moments);
    if (check(!st, "%s: counting parts: %s", label, status_line(st))) {
        for (k = 0; k < p.count; k++) part_evaluate(obj, base, &totals, &moments, &p.batch[k], &partial[k], &shared);
        grpo_partial_report(&shared, &report);
        check_fewer_outputs("parts into one partial", &base->report, report);
        st = partials_merge(r, partial, p.count);
        if (!st) st = grpo_partial_merge(&fresh, &partial[0]);
        check(!st, "%s: merging: %s", label, status_line(st));
        grpo_partial_report(&fresh, &report);
        check_report("parts merged", &base->report, &report);
    }
    rollouts_parts_free(&p);
}

/* group_begin[0] may be larger than 0: the sequences before it belong to no group */
static void property_later_start(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    int64_t g, order[MAX_GROUPS];
    rollouts tail = *b, packed;
    answer found, expected;
    (void)base;
    if (b->n_groups < 2) return;
    tail.n_groups--;
    tail.group_begin++;
    tail.baseline++;
    tail.log_partition++;
    for (g = 1; g < b->n_groups; g++) order[g - 1] = g;
    rollouts_arrange(r, b, order, b->n_groups - 1, 0, &packed);
    for (g = 0; g < packed.n_groups; g++) packed.group_from[g] = g;
    answer_find(obj, &tail, &expected);
    answer_find(obj, &packed, &found);
    check(expected.status == found.status, "%s: later start: %s", label, status_line(expected.status));
    if (!expected.status) check_same("later start", &expected, &found, &packed);
    answer_free(&expected);
    answer_free(&found);
    rollouts_free(&packed);
}

/* ---- values of the outputs ---------------------------------------------------------------------------------------------------- */

static int is_nan(double x) { return x != x; }

static void check_token_values(const char *name, const rollouts *b, const grpo_real *x) {
    int64_t i, t, nan = 0, masked = 0;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            nan += is_nan((double)x[t]);
            masked += !b->mask[t] && x[t] != 0;
        }
    }
    check(nan == 0, "%s: %s has NaN at %d tokens", label, name, (int)nan);
    check(masked == 0, "%s: %s is not 0 at %d masked tokens", label, name, (int)masked);
}

static int any_infinite(const rollouts *b, const grpo_real *x) {
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_finite((double)x[t])) return 1;
        }
    }
    return 0;
}

static int all_zero(const rollouts *b, const grpo_real *x) {
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (x[t] != 0) return 0;
    }
    return 1;
}

static int64_t tokens_of(const rollouts *b) {
    int64_t i, n = 0;
    for (i = 0; i < b->n_sequences; i++) n += b->length[i];
    return n;
}

static int fraction(double x) { return x >= 0 && x <= 1 + 1e-15; }

static void check_report_values(const grpo_objective *obj, const rollouts *b, const grpo_report *m) {
    const double real[] = { m->loss, m->policy_loss, m->penalty_loss, m->clip_fraction, m->clip_fraction_low, m->clip_fraction_high,
        m->clip_fraction_dual,
        m->ratio_mean, m->ratio_min, m->ratio_max, m->ess, m->approx_kl_k1, m->approx_kl_k3, m->kl_k1, m->kl_k2, m->kl_k3, m->entropy,
            m->rollout_is_mean };
    size_t k;
    for (k = 0; k < sizeof real / sizeof *real; k++) check(!is_nan(real[k]), "%s: report value %d is NaN", label, (int)k);
    check(fraction(m->clip_fraction_low) && fraction(m->clip_fraction_high) && fraction(m->clip_fraction_dual), "%s: clip fractions",
        label);
    check(m->ess >= 0 && m->ess <= 1 + 1e-15, "%s: ess %.17g", label, m->ess);
    check(m->ratio_min <= m->ratio_mean * (1 + 1e-15) && m->ratio_mean <= m->ratio_max * (1 + 1e-15), "%s: ratio %.17g %.17g %.17g", label,
          m->ratio_min, m->ratio_mean, m->ratio_max);
    check(m->approx_kl_k3 >= 0 && m->kl_k2 >= 0 && m->kl_k3 >= 0, "%s: negative k2 or k3", label);
    check(m->tokens + m->masked_tokens == tokens_of(b), "%s: tokens %d and masked %d are not all of %d", label, (int)m->tokens,
          (int)m->masked_tokens, (int)tokens_of(b));
    check(m->groups <= m->sequences && m->sequences <= m->tokens && m->degenerate_groups <= m->groups, "%s: counts", label);
    if (obj->penalty.kl == GRPO_KL_NONE && obj->penalty.entropy_coef == 0 && obj->penalty.nll_on == GRPO_NLL_NONE
        && obj->penalty.preference == GRPO_PREFERENCE_NONE) check(m->penalty_loss == 0, "%s: penalty_loss without a penalty", label);
}

static void property_form(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    int infinite = !grpo_is_finite(base->report.loss) || any_infinite(b, base->dlogp) || any_infinite(b, base->term)
        || any_infinite(b, base->dentropy) || any_infinite(b, base->ddivergence_ref);
    int64_t g;
    (void)r;
    for (g = 0; g < b->n_groups; g++) {
        check(!is_nan((double)base->dlog_partition[g]), "%s: dlog_partition of group %d is NaN", label, (int)g);
        if (obj->surrogate.kind != GRPO_SURROGATE_TRAJECTORY_BALANCE) check(base->dlog_partition[g] == 0,
            "%s: dlog_partition without a partition function", label);
    }
    check_token_values("advantage", b, base->advantage);
    check_token_values("dlogp", b, base->dlogp);
    check_token_values("dentropy", b, base->dentropy);
    check_token_values("ddivergence_ref", b, base->ddivergence_ref);
    check_token_values("term", b, base->term);
    if (obj->penalty.entropy_coef == 0) check(all_zero(b, base->dentropy), "%s: dentropy without an entropy bonus", label);
    if (obj->penalty.kl != GRPO_KL_EXTERNAL) check(all_zero(b, base->ddivergence_ref), "%s: ddivergence_ref of no divergence", label);
    check_report_values(obj, b, &base->report);
    if (infinite) check(base->report.overflow == 1, "%s: an infinity without overflow", label);
}

/* ---- entry points agree, optional outputs may be NULL, inputs are not written to ----------------------------------------------- */

static uint64_t hash_inputs(const grpo_objective *obj, const rollouts *b) {
    size_t tokens = (size_t)b->n_tokens, sequences = (size_t)b->n_sequences, groups = (size_t)b->n_groups;
    uint64_t h = hash_bytes(1, obj, sizeof *obj);
    int k;
    for (k = 0; k < TOKEN_ARRAYS; k++) h = hash_bytes(h, b->token[k], tokens * sizeof(grpo_real));
    h = hash_bytes(hash_bytes(hash_bytes(h, b->mask, tokens), b->step_end, tokens), b->selected, tokens);
    h = hash_bytes(hash_bytes(hash_bytes(h, b->segment_end, tokens), b->kl_mask, tokens), b->nll_mask, tokens);
    h = hash_bytes(hash_bytes(h, b->marked, tokens), b->shaping_mask, tokens);
    h = hash_bytes(hash_bytes(h, b->state, tokens * sizeof *b->state), b->token_id, tokens * sizeof *b->token_id);
    h = hash_bytes(hash_bytes(h, b->offset, 8 * sequences), b->length, 8 * sequences);
    h = hash_bytes(hash_bytes(h, b->reward, sequences * sizeof(grpo_real)), b->truncated, sequences);
    h = hash_bytes(h, b->rewards, sequences * (size_t)b->n_rewards * sizeof(grpo_real));
    h = hash_bytes(h, b->reward_weight, (size_t)b->n_rewards * sizeof(grpo_real));
    h = hash_bytes(h, b->log_partition, groups * sizeof(grpo_real));
    return hash_bytes(hash_bytes(h, b->group_begin, 8 * (groups + 1)), b->baseline, groups * sizeof(grpo_real));
}

static void property_whole(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_batch batch = rollouts_view(b);
    grpo_real *dlogp = unwritten(b->n_tokens);
    uint64_t before = hash_inputs(obj, b);
    grpo_report report;
    grpo_output out = output_with_scratch(obj, &batch);
    grpo_status st;
    (void)r;
    out.dlogp = dlogp;
    st = gspo_loss(obj, &batch, base->advantage, NULL, &out, &report);
    check(!st, "%s: whole: %s", label, status_line(st));
    check(same_bits(dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *dlogp), "%s: whole and added dlogp differ", label);
    check_fewer_outputs("whole and added", &base->report, report);
    out.dlogp = NULL;
    st = gspo_loss(obj, &batch, base->advantage, NULL, out.scratch_size ? &out : NULL, &report);
    check(!st, "%s: outputs NULL: %s", label, status_line(st));
    check_fewer_outputs("outputs NULL", &base->report, report);
    check(before == hash_inputs(obj, b), "%s: an input changed", label);
    free(out.scratch);
    free(dlogp);
}

static void check_output(const char *what, const grpo_objective *obj, const rollouts *b, const answer *base, int with_dlogp,
                         int with_dentropy, int with_term) {
    static grpo_partial partial;
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals;
    grpo_report report;
    grpo_output out = output_with_scratch(obj, &batch);
    answer a;
    grpo_status st;
    memset(&totals, 0, sizeof totals);
    st = grpo_totals_add(obj, &batch, base->advantage, &totals);
    answer_alloc(&a, b);
    memset(&partial, 0, sizeof partial);
    out.dlogp = with_dlogp ? a.dlogp : NULL;
    out.dentropy = with_dentropy ? a.dentropy : NULL;
    out.term = with_term ? a.term : NULL;
    if (!st) st = gspo_loss_add(obj, &batch, base->advantage, &totals, &out, &partial);
    check(!st, "%s: %s: %s", label, what, status_line(st));
    grpo_partial_report(&partial, &report);
    check_fewer_outputs(what, &base->report, report);
    if (with_dlogp) check(same_bits(a.dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *a.dlogp), "%s: %s: dlogp", label, what);
    if (with_dentropy) check(same_bits(a.dentropy, base->dentropy, (size_t)b->n_tokens * sizeof *a.term), "%s: %s: dentropy", label, what);
    if (with_term) check(same_bits(a.term, base->term, (size_t)b->n_tokens * sizeof *a.term), "%s: %s: term", label, what);
    free(out.scratch);
    answer_free(&a);
}

static void property_outputs(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    (void)r;
    check_output("dlogp alone", obj, b, base, 1, 0, 0);
    check_output("dentropy alone", obj, b, base, 0, 1, 0);
    check_output("term alone", obj, b, base, 0, 0, 1);
    check_output("none of them", obj, b, base, 0, 0, 0);
}

static void property_grpo_is_gspo(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_batch batch = rollouts_view(b);
    grpo_real *dlogp = unwritten(b->n_tokens);
    grpo_report report;
    grpo_output out = output_with_scratch(obj, &batch);
    grpo_status st;
    (void)r;
    out.dlogp = dlogp;
    st = grpo_loss(obj, &batch, base->advantage, NULL, &out, &report);
    if (obj->ratio.level != GRPO_LEVEL_TOKEN || obj->penalty.preference != GRPO_PREFERENCE_NONE) {
        check(grpo_status_is(st, GRPO_NEEDS_GSPO), "%s: grpo_loss: %s", label, status_line(st));
    } else {
        check(!st, "%s: grpo_loss: %s", label, status_line(st));
        check(same_bits(dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *dlogp), "%s: grpo_loss and gspo_loss differ in dlogp", label);
        check_fewer_outputs("grpo_loss", &base->report, report);
    }
    free(out.scratch);
    free(dlogp);
}

/* ---- ranks --------------------------------------------------------------------------------------------------------------------- */

/* found = k x, exactly if k is a power of two; near the ends of the range results are rounded separately */
static int times_close(double x, double k, double found, double eps) {
    if (!(fabs(x) > 1e-36 && fabs(x) < 1e37)) return 1;
    return fabs(found - k * x) <= eps * fabs(k * x);
}

static void check_ranks(const grpo_objective *obj, const rollouts *b, const answer *base, int ranks, double rounding) {
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals;
    grpo_report report;
    grpo_output out;
    answer a;
    int64_t t, bad = -1;
    grpo_status st;
    memset(&totals, 0, sizeof totals);
    st = grpo_totals_add(obj, &batch, base->advantage, &totals);
    answer_alloc(&a, b);
    out = output_of(obj, &batch, &a);
    totals.ranks = ranks;
    if (!st) st = gspo_loss(obj, &batch, base->advantage, &totals, &out, &report);
    check(!st, "%s: ranks: %s", label, status_line(st));
    for (t = 0; t < b->n_tokens; t++) {
        if (base->dlogp[t] != UNWRITTEN && !times_close((double)base->dlogp[t], ranks, (double)a.dlogp[t], rounding * EPS)) bad = t;
    }
    check(bad < 0, "%s: %d ranks: dlogp of slot %d is %.17g, of one rank %.17g", label, ranks, (int)bad, bad < 0 ? 0 : (double)a.dlogp[bad],
          bad < 0 ? 0 : (double)base->dlogp[bad]);
    for (bad = -1, t = 0; t < b->n_tokens; t++) {
        if (base->dentropy[t] == UNWRITTEN) continue;
        if (!times_close((double)base->dentropy[t], ranks, (double)a.dentropy[t], rounding * EPS)) bad = t;
    }
    check(bad < 0, "%s: %d ranks: dentropy of slot %d", label, ranks, (int)bad);
    check(times_close(base->report.loss, ranks, report.loss, rounding * 0x1p-52), "%s: %d ranks: loss %.17g became %.17g", label, ranks,
          base->report.loss, report.loss);
    free(out.scratch);
    answer_free(&a);
}

static void property_ranks(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    (void)r;
    check_ranks(obj, b, base, 1, 0);
    check_ranks(obj, b, base, 4, 0);
    check_ranks(obj, b, base, 3, 4);
}

/* ---- sequences against tokens -------------------------------------------------------------------------------------------------- */

static void property_one_token(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_objective sequence, token;
    rollouts single;
    answer sequence_answer, token_answer;
    (void)b;
    (void)base;
    if (obj->ratio.level == GRPO_LEVEL_TOKEN || ref_clips_pool(&obj->ratio)) return;
    if (is_of_a_group(obj->surrogate.kind)) return;
    rollouts_random(r, RANDOM_ONE_TOKEN | (rng_chance(r, 50) ? RANDOM_EXTREME : 0), &single);
    sequence = allowed_by(*obj, &single);
    sequence.ratio.interpolate = GRPO_INTERPOLATE_NONE;
    token = sequence;
    token.ratio.level = GRPO_LEVEL_TOKEN;
    answer_find(&sequence, &single, &sequence_answer);
    answer_find(&token, &single, &token_answer);
    check(sequence_answer.status == token_answer.status, "%s: one token: %s", label, status_line(sequence_answer.status));
    check(same_bits(sequence_answer.dlogp, token_answer.dlogp, (size_t)single.n_tokens * sizeof(grpo_real)),
          "%s: one token: a sequence's gradient is not its token's", label);
    check_report("one token", &token_answer.report, &sequence_answer.report);
    answer_free(&sequence_answer);
    answer_free(&token_answer);
    rollouts_free(&single);
}

/* a power mean with power 1 and infinite clip bounds has the bits of the mean ratio */
static void property_power_of_one(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_objective power = *obj;
    answer a;
    if (obj->ratio.level != GRPO_LEVEL_SEQUENCE_MEAN_RATIO) return;
    power.ratio.level = GRPO_LEVEL_SEQUENCE_POWER_MEAN;
    power.ratio.power = rng_chance(r, 50) ? 1 : 0;
    power.ratio.token_clip_low = power.ratio.token_clip_high = HUGE_VAL;
    answer_find(&power, b, &a);
    check(a.status == base->status, "%s: a power of 1: %s", label, status_line(a.status));
    check(same_bits(a.dlogp, base->dlogp, (size_t)b->n_tokens * sizeof(grpo_real)), "%s: a power of 1 has another gradient", label);
    check_report("a power of 1", &base->report, &a.report);
    answer_free(&a);
}

/* GSPO-token's theorem: with one advantage per response its gradient is GSPO's.  It needs weights that are the same at all tokens. */
static void property_gspo_token(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_objective unit = *obj, token;
    answer u, v;
    int64_t t, bad = 0;
    (void)base;
    (void)r;
    if (obj->ratio.level != GRPO_LEVEL_SEQUENCE_MEAN || !(order_free(obj) & ARRANGE_TOKENS) || is_of_a_group(obj->surrogate.kind)) return;
    unit.advantage.entropy = GRPO_ENTROPY_NONE;
    unit.advantage.teacher_coef = unit.advantage.teacher_share = unit.advantage.kl_centred_coef = 0;
    unit.advantage.marked = GRPO_MARKED_NONE;
    unit.penalty.kl = GRPO_KL_NONE;
    unit.weight.selected = GRPO_SELECTED_ALL;
    if (unit.surrogate.kind == GRPO_SURROGATE_POLICY_SHAPING) unit.surrogate.kind = GRPO_SURROGATE_PPO_CLIP;
    if (unit.weight.policy_is == GRPO_POLICY_IS_TOKEN) unit.weight.policy_is = GRPO_POLICY_IS_NONE;
    unit.penalty.nll_on = GRPO_NLL_NONE;
    unit.penalty.preference = GRPO_PREFERENCE_NONE;
    unit.ratio.interpolate = GRPO_INTERPOLATE_NONE;
    unit.weight.fipo = GRPO_FIPO_NONE;
    unit.weight.external = GRPO_EXTERNAL_NONE;
    if (unit.weight.off_policy_mask == GRPO_OFF_POLICY_MASK_TOTAL_VARIATION) unit.weight.off_policy_mask = GRPO_OFF_POLICY_MASK_NONE;
    if (unit.aggregation.kind == GRPO_AGGREGATION_SEQ_MEAN_SEGMENT_MEAN) unit.aggregation.kind = GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    if (unit.weight.rollout_rs_level >= GRPO_ROLLOUT_RS_LEVEL_SEGMENT_SUM) unit.weight.rollout_rs = GRPO_ROLLOUT_RS_NONE;
    if (unit.weight.rollout_is_level >= GRPO_ROLLOUT_IS_LEVEL_SEGMENT_SUM) unit.weight.rollout_is = GRPO_ROLLOUT_IS_NONE;
    if (unit.weight.trust >= GRPO_TRUST_PROBABILITY) unit.weight.trust = GRPO_TRUST_NONE;
    if (unit.weight.rollout_rs_level == GRPO_ROLLOUT_RS_LEVEL_TOKEN) unit.weight.rollout_rs = GRPO_ROLLOUT_RS_NONE;
    if (unit.weight.rollout_is_level == GRPO_ROLLOUT_IS_LEVEL_TOKEN) unit.weight.rollout_is = GRPO_ROLLOUT_IS_NONE;
    token = unit;
    unit.ratio.gradient = GRPO_GRADIENT_FULL;
    token.ratio.gradient = GRPO_GRADIENT_TOKEN;
    answer_find(&unit, b, &u);
    answer_find(&token, b, &v);
    for (t = 0; t < b->n_tokens; t++) {
        const double x = (double)u.dlogp[t], y = (double)v.dlogp[t];
        bad += !(fabs(x - y) <= 4 * EPS * fabs(x) + FLT_MIN) && x != y;
    }
    check(bad == 0, "%s: gradients of gspo and gspo-token differ at %d tokens", label, (int)bad);
    answer_free(&u);
    answer_free(&v);
}

/* ---- shifted rewards ----------------------------------------------------------------------------------------------------------- */

/* do advantages depend on differences of rewards alone? */
static int ignores_shift(const grpo_objective *obj) {
    const grpo_advantage *a = &obj->advantage;
    const grpo_baseline_kind b = a->baseline;
    return (b == GRPO_BASELINE_GROUP_MEAN || b == GRPO_BASELINE_LEAVE_ONE_OUT || b == GRPO_BASELINE_BATCH_MEAN
            || b == GRPO_BASELINE_QUANTILE || b == GRPO_BASELINE_HDI_MEDIAN)
        && a->transform != GRPO_TRANSFORM_PASS_AT_K && a->transform != GRPO_TRANSFORM_PKPO_MAXRL && a->transform != GRPO_TRANSFORM_PKPO_MAX
        && a->transform != GRPO_TRANSFORM_PKPO_LOO && (a->transform != GRPO_TRANSFORM_PKPO_GAIN || a->pass_k > 1)
        && a->scale != GRPO_SCALE_GROUP_MEAN && a->scale != GRPO_SCALE_BETA
        && a->credit == GRPO_CREDIT_OUTCOME && a->singleton == GRPO_SINGLETON_ZERO && a->entropy != GRPO_ENTROPY_ZERO_VARIANCE
        && a->reweight != GRPO_REWEIGHT_NONZERO_REWARDS && a->reweight != GRPO_REWEIGHT_DIFFICULTY && a->reweight != GRPO_REWEIGHT_FOCAL
        && obj->reward.truncated == GRPO_REWARD_TRUNCATED_KEEP
        && obj->reward.length == GRPO_LENGTH_NONE && obj->reward.map == GRPO_MAP_NONE
        && (obj->reward.kl == GRPO_KL_NONE || obj->reward.kl_coef == 0)
        && (obj->reward.overlong == GRPO_OVERLONG_NONE || obj->reward.overlong_factor == 0);
}

/* multiples of 1/8: the shifted rewards are exact in float, so no bit may change */
static void property_shift(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    grpo_objective asked;
    rollouts dyadic;
    grpo_real *before, *after;
    grpo_batch batch;
    grpo_status st;
    int64_t i;
    double shift = 1000 * rng_sign(r);
    (void)b;
    (void)base;
    if (!ignores_shift(obj)) return;
    rollouts_random(r, RANDOM_DYADIC, &dyadic);
    asked = allowed_by(*obj, &dyadic);
    batch = rollouts_view(&dyadic);
    before = unwritten(dyadic.n_tokens);
    after = unwritten(dyadic.n_tokens);
    st = grpo_advantages(&asked, &batch, before);
    for (i = 0; i < dyadic.n_sequences; i++) dyadic.reward[i] = (grpo_real)((double)dyadic.reward[i] + shift);
    for (i = 0; i < dyadic.n_sequences * dyadic.n_rewards; i++) dyadic.rewards[i] = (grpo_real)((double)dyadic.rewards[i] + shift);
    if (!st) st = grpo_advantages(&asked, &batch, after);
    check(!st && same_bits(before, after, (size_t)dyadic.n_tokens * sizeof *before), "%s: rewards + %g: other advantages", label, shift);
    free(before);
    free(after);
    rollouts_free(&dyadic);
}

/* ---- loss and gradient against the reference ------------------------------------------------------------------------------------ */

static long losses_judged, terms_judged, divergences_judged, slopes_judged, slopes_not_0, log_z_judged;
static double worst_loss, worst_term;                            /* ulps of scale */

static void note_error(double *worst, reference_real error, reference_real ulp) {
    if (sizeof(grpo_real) == 4) error -= 0x1p-149;                   /* error of an underflow */
    if (error > 0 && error > *worst * ulp) *worst = (double)(error / ulp);
}

static void check_term(reference *ref, const answer *a, int64_t i, int64_t t) {
    reference_answer term = reference_term(ref, i, t), entropy, divergence;
    if (term.judged) {
        terms_judged++;
        note_error(&worst_term, ref_abs((reference_real)a->term[t] - term.value), ref->size * EPS);
        check(reference_agrees(&term, (double)a->term[t]), "%s: term of slot %d is %.17g, of the reference %.17g", label, (int)t,
              (double)a->term[t], (double)term.value);
    }
    divergence = reference_divergence_slope(ref, t);
    if (divergence.judged) {
        divergences_judged += divergence.value != 0;
        check(reference_agrees(&divergence, (double)a->ddivergence_ref[t]),
              "%s: ddivergence_ref of slot %d is %.17g, of the reference %.17g", label, (int)t,
              (double)a->ddivergence_ref[t], (double)divergence.value);
    }
    entropy = reference_entropy_slope(ref, t);
    if (!entropy.judged) return;
    check(reference_agrees(&entropy, (double)a->dentropy[t]), "%s: dentropy of slot %d is %.17g, of the reference %.17g", label, (int)t,
          (double)a->dentropy[t], (double)entropy.value);
}

static void check_slope(reference *ref, const answer *a, int64_t i, int64_t t) {
    reference_answer slope = reference_slope(ref, i, t);
    if (!slope.judged) return;
    slopes_judged++;
    slopes_not_0 += slope.value != 0;
    check(reference_agrees(&slope, (double)a->dlogp[t]), "%s: dlogp of slot %d is %.17g, the loss has slope %.17g", label, (int)t,
          (double)a->dlogp[t], (double)slope.value);
}

static long counts_judged;

static void check_counts(reference *ref, const grpo_report *m) {
    const reference_counts n = reference_count(ref);
    const double tokens = n.tokens ? (double)n.tokens : 1;
    if (!n.judged) return;
    counts_judged++;
    check(m->tokens == n.tokens && m->rejected_tokens == n.rejected, "%s: %d tokens and %d rejected, of the reference %d and %d", label,
          (int)m->tokens, (int)m->rejected_tokens, (int)n.tokens, (int)n.rejected);
    check(m->clip_fraction_low == (double)n.clips[GRPO_CLIP_LOW] / tokens
        && m->clip_fraction_high == (double)n.clips[GRPO_CLIP_HIGH] / tokens
          && m->clip_fraction_dual == (double)n.clips[GRPO_CLIP_DUAL] / tokens,
          "%s: clipped low %g, high %g, dual %g of %d, of the reference %d, %d, %d", label, m->clip_fraction_low, m->clip_fraction_high,
              m->clip_fraction_dual,
          (int)n.tokens, (int)n.clips[GRPO_CLIP_LOW], (int)n.clips[GRPO_CLIP_HIGH], (int)n.clips[GRPO_CLIP_DUAL]);
    if (ref_has_ratio(ref)) return;
    check(m->ratio_mean == 1 && m->ratio_min == 1 && m->ratio_max == 1 && m->ess == 1, "%s: a ratio is reported", label);
}

static void check_reference(const grpo_objective *obj, const rollouts *b, const answer *a) {
    reference ref;
    reference_answer loss;
    int64_t i, t;
    reference_alloc(&ref, obj, b, a->advantage, 1);
    loss = reference_loss(&ref);
    if (loss.judged) note_error(&worst_loss, ref_abs((reference_real)a->report.loss - loss.value), ref.size * 0x1p-52);
    if (loss.judged) check(reference_agrees(&loss, a->report.loss), "%s: loss is %.17g, the reference %.17g", label, a->report.loss,
                           (double)loss.value);
    check_counts(&ref, &a->report);
    losses_judged += loss.judged;
    for (i = 0; i < b->n_groups; i++) {
        reference_answer z = reference_log_z_slope(&ref, i);
        log_z_judged += z.judged;
        if (z.judged) check(reference_agrees(&z, (double)a->dlog_partition[i]),
            "%s: dlog_partition of group %d is %.17g, of the reference %.17g", label,
                            (int)i, (double)a->dlog_partition[i], (double)z.value);
    }
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            check_slope(&ref, a, i, t);
            check_term(&ref, a, i, t);
        }
    }
    reference_free(&ref);
}

static void property_gradient(const grpo_objective *obj, const rollouts *unused, const answer *base, rng *r) {
    grpo_objective asked;
    rollouts b;
    answer a;
    int kind, refusable;
    (void)unused;
    (void)base;
    kind = RANDOM_SMALL | (rng_chance(r, 30) ? RANDOM_EXTREME : 0);
    rollouts_random(r, kind, &b);
    rollouts_set_bytes(&b);
    asked = allowed_by(*obj, &b);
    answer_find(&asked, &b, &a);
    refusable = ((kind & RANDOM_EXTREME) && (speaks_of(a.status, "advantage") || is_of_rewards(a.status)))
             || (asked.advantage.reweight == GRPO_REWEIGHT_EXPONENTIAL && speaks_of(a.status, "advantage"));
    check(!a.status || refusable, "%s: gradient: %s", label, status_line(a.status));
    if (!a.status) check_reference(&asked, &b, &a);
    answer_free(&a);
    rollouts_free(&b);
}

/* ---- every token masked -------------------------------------------------------------------------------------------------------- */

static void property_all_masked(const grpo_objective *obj, const rollouts *unused, const answer *base, rng *r) {
    grpo_objective asked;
    rollouts b;
    answer a;
    (void)unused;
    (void)base;
    rollouts_random(r, RANDOM_ALL_MASKED, &b);
    asked = allowed_by(*obj, &b);
    answer_find(&asked, &b, &a);
    if (check(!a.status, "%s: all masked: %s", label, status_line(a.status))) {
        check_token_values("advantage, all masked", &b, a.advantage);
        check_token_values("dlogp, all masked", &b, a.dlogp);
        check_token_values("dentropy, all masked", &b, a.dentropy);
        check_token_values("ddivergence_ref, all masked", &b, a.ddivergence_ref);
        check_token_values("term, all masked", &b, a.term);
        check_report_values(&asked, &b, &a.report);
        check(a.report.loss == 0 && a.report.policy_loss == 0 && a.report.penalty_loss == 0, "%s: all masked: loss", label);
        check(a.report.tokens == 0 && a.report.ratio_mean == 1 && a.report.ess == 1 && a.report.rollout_is_mean == 1,
              "%s: all masked: report", label);
    }
    answer_free(&a);
    rollouts_free(&b);
}

/* ---- weight.selected only ------------------------------------------------------------------------------------------------------ */

/* the objective with weight.selected only, without settings that pool tokens of a response that are not selected */
static grpo_objective selected_alone(const grpo_objective *obj) {
    grpo_objective only = *obj;
    only.weight.selected = GRPO_SELECTED_ONLY;
    only.weight.rollout_veto = 0;
    if (only.weight.rollout_is_level != GRPO_ROLLOUT_IS_LEVEL_TOKEN) only.weight.rollout_is = GRPO_ROLLOUT_IS_NONE;
    if (only.weight.rollout_rs_level != GRPO_ROLLOUT_RS_LEVEL_TOKEN) only.weight.rollout_rs = GRPO_ROLLOUT_RS_NONE;
    return only;
}

/* the loss with the advantages of base */
static void answer_given(const grpo_objective *obj, const rollouts *b, const answer *base, answer *a) {
    answer_alloc(a, b);
    memcpy(a->advantage, base->advantage, (size_t)b->n_tokens * sizeof *a->advantage);
    answer_loss(obj, b, a);
}

/* both 0, whatever the sign, or the same bits */
static int same_numbers(const grpo_real *a, const grpo_real *b, int64_t n) {
    int64_t t;
    for (t = 0; t < n; t++) if (a[t] != b[t]) return 0;
    return 1;
}

/* weight.selected only gives the numbers of masking the tokens that are not selected */
static void property_selected_alone(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r) {
    const size_t size = (size_t)b->n_tokens * sizeof(grpo_real);
    const grpo_objective only = selected_alone(obj);
    grpo_objective all = only;
    rollouts masked = *b;
    answer x, y;
    int64_t t;
    if (obj->weight.selected != GRPO_SELECTED_ONLY && !rng_chance(r, 25)) return;
    all.weight.selected = GRPO_SELECTED_ALL;
    masked.mask = (uint8_t *)test_alloc(b->n_tokens, 1);
    for (t = 0; t < b->n_tokens; t++) masked.mask[t] = (uint8_t)(b->mask[t] && b->selected[t]);
    answer_given(&only, b, base, &x);
    answer_given(&all, &masked, base, &y);
    check(!x.status, "%s: the selected alone: %s", label, status_line(x.status));
    if (check(!y.status, "%s: the others masked: %s", label, status_line(y.status)) && !x.status) {
        check(same_numbers(x.dlogp, y.dlogp, b->n_tokens), "%s: the selected alone: dlogp", label);
        check(same_bits(x.dentropy, y.dentropy, size), "%s: the selected alone: dentropy", label);
        check(same_bits(x.ddivergence_ref, y.ddivergence_ref, size), "%s: the selected alone: ddivergence_ref", label);
        check(same_bits(x.term, y.term, size), "%s: the selected alone: term", label);
        check(same_bits(x.dlog_partition, y.dlog_partition, (size_t)b->n_groups * sizeof(grpo_real)),
              "%s: the selected alone: dlog_partition", label);
        check_report("the selected alone", &y.report, &x.report);
    }
    free(masked.mask);
    answer_free(&x);
    answer_free(&y);
}

/* ---- flush-to-zero -------------------------------------------------------------------------------------------------------------- */

#ifdef __SSE2__
/* log-probabilities whose ratios, also those of a response, are far inside the range of double: those of 800 become 16 */
static void draw_moderate(rng *r, rollouts *b) {
    const int extreme = rng_chance(r, 50) ? RANDOM_EXTREME : 0;
    int64_t i, t;
    int k;
    rollouts_random(r, extreme | (rng_chance(r, 50) ? RANDOM_NEG_INF : 0), b);
    for (i = 0; extreme && i < b->n_sequences; i++) for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
        for (k = TOKEN_LOGP; k <= TOKEN_ROLLOUT; k++) if (b->mask[t]) b->token[k][t] = (grpo_real)((double)b->token[k][t] / 50);
}

static void find_flushing(const grpo_objective *obj, const rollouts *b, answer *a) {
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);                                   /* flush to zero, denormals are zero */
    answer_find(obj, b, a);
    _mm_setcsr(mode);
}

/* 1 if x and y differ by less than numbers below the normal range, or products of them, may change: an element of an array is an input
 * too */
static int is_flushed(double x, double y, double least) { return x == y || fabs(x - y) <= least; }

static void check_flushed(const char *name, const grpo_real *x, const grpo_real *y, int64_t n) {
    const double least = sizeof(grpo_real) == 4 ? (double)FLT_MIN : 1e-290;
    int64_t t, bad = -1;
    for (t = 0; t < n; t++) if (!is_flushed((double)x[t], (double)y[t], least)) bad = t;
    check(bad < 0, "%s: flush-to-zero: %s of slot %d: %.17g became %.17g", label, name, (int)bad, bad < 0 ? 0 : (double)x[bad],
          bad < 0 ? 0 : (double)y[bad]);
}

static void check_flushed_report(const grpo_report *a, const grpo_report *b) {
    int64_t k, bad = 0;
    double x, y;
    for (k = 0; k < report_words(); k++) {
        memcpy(&x, (const char *)a + 8 * k, 8);                  /* the counts too: as doubles they are below the normal range, or 0 */
        memcpy(&y, (const char *)b + 8 * k, 8);
        bad += !is_flushed(x, y, 1e-290);
    }
    check(!bad && a->overflow == b->overflow && a->tokens == b->tokens && a->rejected_tokens == b->rejected_tokens
          && a->degenerate_groups == b->degenerate_groups, "%s: flush-to-zero: %d numbers of the report", label, (int)bad);
}

/* with flush-to-zero and denormals-are-zero numbers below the normal range become 0, and nothing else changes but what these enter into */
static void property_flushed(const grpo_objective *obj, const rollouts *unused, const answer *base, rng *r) {
    grpo_objective asked;
    rollouts b;
    answer x, y;
    (void)unused;
    (void)base;
    draw_moderate(r, &b);
    asked = allowed_by(*obj, &b);
    answer_find(&asked, &b, &x);
    find_flushing(&asked, &b, &y);
    check(x.status == y.status, "%s: flush-to-zero: %s", label, status_line(y.status));
    if (!x.status) check_flushed("advantage", x.advantage, y.advantage, b.n_tokens);
    if (!x.status && same_bits(x.advantage, y.advantage, (size_t)b.n_tokens * sizeof *x.advantage)) {      /* 0 may count differently */
        check_flushed("dlogp", x.dlogp, y.dlogp, b.n_tokens);
        check_flushed("dentropy", x.dentropy, y.dentropy, b.n_tokens);
        check_flushed("ddivergence_ref", x.ddivergence_ref, y.ddivergence_ref, b.n_tokens);
        check_flushed("term", x.term, y.term, b.n_tokens);
        check_flushed("dlog_partition", x.dlog_partition, y.dlog_partition, b.n_groups);
        check_flushed_report(&x.report, &y.report);
    }
    answer_free(&x);
    answer_free(&y);
    rollouts_free(&b);
}
#endif

/* ---- all properties ------------------------------------------------------------------------------------------------------------ */

typedef void property(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r);

static property *const properties[] = {
    property_form, property_order, property_layout, property_parts, property_later_start, property_whole, property_outputs,
    property_grpo_is_gspo, property_ranks, property_one_token, property_power_of_one, property_gspo_token, property_shift,
    property_gradient, property_all_masked, property_selected_alone,
#ifdef __SSE2__
    property_flushed                                             /* last: draws before it stay the same */
#endif
};

static void check_properties(const grpo_objective *obj, const rollouts *b, rng *r) {
    answer base;
    size_t k;
    answer_find(obj, b, &base);
    if (speaks_of(base.status, "advantage") && any_infinite(b, base.advantage)) {          /* beyond the largest float */
        check_token_values("advantage", b, base.advantage);
    } else if (check(!base.status, "%s: %s", label, status_line(base.status))) {
        for (k = 0; k < sizeof properties / sizeof *properties; k++) properties[k](obj, b, &base, r);
    }
    answer_free(&base);
}

static void check_objective(const char *name, grpo_objective obj, int kind, uint64_t seed) {
    rng r;
    rollouts b;
    r.state = seed + other_draws;
    sprintf(label, "%.60s on batch %d/%d", name, kind, (int)seed);
    rollouts_random(&r, kind, &b);
    if (seed % 2) rollouts_set_bytes(&b);
    obj = allowed_by(obj, &b);
    check_properties(&obj, &b, &r);
    rollouts_free(&b);
}

static const int kinds[] = { 0, RANDOM_EXTREME, RANDOM_NEG_INF, RANDOM_EXTREME | RANDOM_NEG_INF };

static void check_presets(void) {
    int count, k;
    uint64_t seed;
    const grpo_preset *preset = grpo_presets(&count);
    for (k = 0; k < count; k++) {
        for (seed = 1; seed <= 8; seed++) check_objective(preset[k].name, grpo_objective_from_preset(&preset[k]), kinds[seed % 4], seed);
    }
}

/* responses longer than the blocks in which tokens are evaluated and summed */
static void check_long(void) {
    static const char *const names[] = {
        "grpo", "dapo", "dr-grpo", "cispo", "sapo", "gspo", "gspo-token", "gmpo", "rloo", "tis", "reinforce"
    };
    grpo_objective obj;
    size_t k;
    for (k = 0; k < sizeof names / sizeof *names; k++) {
        if (!check(!grpo_objective_named(names[k], &obj), "there is no %s", names[k])) continue;
        check_objective(names[k], obj, RANDOM_LONG, 21000 + (uint64_t)k);
        check_objective(names[k], obj, RANDOM_LONG | RANDOM_EXTREME | RANDOM_NEG_INF, 22000 + (uint64_t)k);
    }
    if (!check(!grpo_objective_named("dapo", &obj), "there is no dapo")) return;
    for (k = 0; k < 4; k++) {                                          /* bounds that never clip */
        obj.surrogate.kind = k & 1 ? GRPO_SURROGATE_DUAL_CLIP : GRPO_SURROGATE_PPO_CLIP;
        obj.surrogate.eps_low = k & 2 ? INFINITY : 0.2;
        obj.surrogate.eps_high = obj.surrogate.quadratic_eps = k == 2 ? INFINITY : 0.2;
        obj.surrogate.clip_dual = INFINITY;
        check_objective("dapo without bounds", obj, RANDOM_LONG, 23000 + (uint64_t)k);
    }
}

static void check_random_objectives(int count) {
    grpo_objective obj;
    char name[40];
    rng r = { 7 };
    int k;
    r.state += other_draws;
    for (k = 0; k < count; k++) {
        sprintf(name, "objective %d", k);
        random_objective(&r, &obj);
        check_objective(name, obj, kinds[k % 4], 1000 + (uint64_t)k);
        check_objective(name, obj, kinds[(k / 4) % 4], 5000 + (uint64_t)k);
    }
}

/* ---- every choice of every field ------------------------------------------------------------------------------------------------- */

typedef int in_effect(const grpo_objective *obj);

static int of_a_group(const grpo_objective *o) { return is_of_a_group(o->surrogate.kind); }
static int clips(const grpo_objective *o) {
    const grpo_surrogate_kind kind = o->surrogate.kind;
    return kind == GRPO_SURROGATE_PPO_CLIP || kind == GRPO_SURROGATE_DUAL_CLIP || kind == GRPO_SURROGATE_GPPO;
}
static int has_kl(const grpo_objective *o) { return o->penalty.kl_coef != 0 && o->penalty.kl != GRPO_KL_NONE; }
static int has_kl_coef(const grpo_objective *o) { return o->penalty.kl_coef != 0; }
static int has_entropy_coef(const grpo_objective *o) { return o->penalty.entropy_coef != 0; }
static int has_nll_coef(const grpo_objective *o) { return o->penalty.nll_coef != 0; }
static int has_nll(const grpo_objective *o) { return has_nll_coef(o) && o->penalty.nll_on != GRPO_NLL_NONE; }
static int has_preference_coef(const grpo_objective *o) { return o->penalty.preference_coef != 0 && o->penalty.preference_beta != 0; }
static int has_preference(const grpo_objective *o) { return has_preference_coef(o) && o->penalty.preference != GRPO_PREFERENCE_NONE; }
static int corrects(const grpo_objective *o) { return o->weight.rollout_is != GRPO_ROLLOUT_IS_NONE; }
static int rejects(const grpo_objective *o) { return o->weight.rollout_rs != GRPO_ROLLOUT_RS_NONE; }

/* how a field is tested: which axes stay at their first choices and 0, under which condition the field is read, and how many slopes other
 * than 0 must agree for each choice.  The first row whose path is a prefix of the field's applies. */
static const struct { const char *path, *plain; in_effect *read; long floor; } field_tests[] = {
    { "reward.", "weight. penalty.", NULL, 12 },
    { "advantage.", "weight. penalty.", NULL, 12 },
    { "surrogate.kind", "reward. advantage. weight. penalty.", NULL, 40 },
    { "surrogate.group_score", "reward. advantage. weight. penalty.", of_a_group, 40 },
    { "surrogate.bounds", "reward. advantage. weight. penalty.", clips, 40 },
    { "penalty.kl_", "weight.", has_kl, 24 },
    { "penalty.kl", "weight.", has_kl_coef, 24 },
    { "penalty.entropy_aggregation", "weight.", has_entropy_coef, 24 },
    { "penalty.nll_on", "weight.", has_nll_coef, 24 },
    { "penalty.nll_", "weight.", has_nll, 24 },
    { "penalty.preference_", "weight.", has_preference, 24 },
    { "penalty.preference", "weight.", has_preference_coef, 24 },
    { "weight.rollout_is_", "penalty.", corrects, 24 },
    { "weight.rollout_rs_", "penalty.", rejects, 24 },
    { "weight.", "penalty.", NULL, 24 },
    { "", "weight. penalty.", NULL, 24 },
};

static long floors_over = 2;           /* the floors are divided by it; with `all` by 1 */

/* random objectives with that choice, and without most of what could hide its effect, until enough slopes have been compared */
static void check_choice(rng *r, const grpo_field *f, int choice, int *seed) {
    enum { MOST = 200 };
    const long before = slopes_not_0;
    long least;
    char kept[100], name[60];
    grpo_objective obj;
    size_t m = 0;
    int k;
    while (strncmp(f->path, field_tests[m].path, strlen(field_tests[m].path))) m++;
    least = field_tests[m].floor / floors_over;
    snprintf(kept, sizeof kept, "%s %s", f->path, field_tests[m].plain);
    snprintf(name, sizeof name, "%s, choice %d", f->path, choice);
    for (k = 0; k < MOST && slopes_not_0 - before < least; k++) {
        do {
            memset(&obj, 0, sizeof obj);
            grpo_objective_set(&obj, f->path, choice);
            random_objective_around(r, k % 5 ? kept : f->path, &obj);
        } while (field_tests[m].read && !field_tests[m].read(&obj));
        check_objective(name, obj, kinds[k % 4], 9000 + (uint64_t)(*seed)++);
    }
    check(slopes_not_0 - before >= least, "%s: only %ld slopes could be compared", name, slopes_not_0 - before);
}

static void check_every_choice(void) {
    rng r = { 17 };
    int count, k, choice, seed = 0;
    const grpo_field *f = grpo_fields(&count);
    for (k = 0; k < count; k++) for (choice = 0; choice < f[k].n_choices; choice++) check_choice(&r, &f[k], choice, &seed);
    check(log_z_judged > 50, "only %ld slopes of log_partition could be compared", log_z_judged);
}

/* weight.trust with a surrogate that has no ratio of its own */
static void check_trust_alone(void) {
    grpo_objective obj;
    char name[60];
    rng r = { 19 };
    int k;
    for (k = 0; k < 10 * GRPO_TRUST_NEGATIVE_BAND; k++) {
        sprintf(name, "trust alone %d", k);
        memset(&obj, 0, sizeof obj);
        obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
        obj.weight.trust = (grpo_trust_kind)(1 + k % GRPO_TRUST_NEGATIVE_BAND);
        random_objective_around(&r, "surrogate.kind penalty.kl_importance_weight weight.trust", &obj);
        check_objective(name, obj, kinds[k % 4], 8000 + (uint64_t)k);
    }
}

/* ---- coverage of the random objectives --------------------------------------------------------------------------------------------- */

/* every choice of every field is drawn often enough, and of every number more than one value */
static void check_draws(void) {
    enum { DRAWS = 4000, MOST_OF_A_FIELD = 64, FLOOR = DRAWS / 250 };
    static long drawn[GRPO_AT_LAST_FIELD_][MOST_OF_A_FIELD];
    static double first[GRPO_AT_LAST_FIELD_];
    grpo_objective obj;
    rng r = { 41 };
    int count, k, c, draw;
    const grpo_field *f = grpo_fields(&count);
    for (draw = 0; draw < DRAWS; draw++) {
        random_objective(&r, &obj);
        check(!grpo_objective_check(&obj), "draw %d: %s", draw, status_line(grpo_objective_check(&obj)));
        for (k = 0; k < count; k++) {
            const double x = grpo_objective_get(&obj, &f[k]);
            if (draw == 0) first[k] = x;
            drawn[k][f[k].choices ? (int)x : x != first[k]]++;
        }
    }
    for (k = 0; k < count; k++) for (c = 0; c < (f[k].choices ? f[k].n_choices : 2); c++)
        check(drawn[k][c] >= FLOOR, "%s: %ld of %d draws are %s %d", f[k].path, drawn[k][c], (int)DRAWS,
              f[k].choices ? "choice" : "number", c);
}

/* temperatures of sapo and lambda of vespo so large that the rounding of the ratio, multiplied by them, would show in loss and gradient */
static void check_steep_gates(void) {
    rng r = { 77 };
    static const grpo_surrogate_kind steep[] = { GRPO_SURROGATE_SAPO, GRPO_SURROGATE_SAPO_DETACHED, GRPO_SURROGATE_VESPO };
    static const double factor[] = { 3, 3.5, 20, 400, 5000 };
    for (int kind = 0; kind < 3; kind++) for (int f = 0; f < 5; f++) for (int round = 0; round < 20; round++) {
        grpo_objective obj;
        rollouts b;
        answer a;
        memset(&obj, 0, sizeof obj);
        obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
        obj.surrogate.kind = steep[kind];
        obj.surrogate.tau_pos = factor[f]; obj.surrogate.tau_neg = 1.25 * factor[f];
        obj.surrogate.vespo_lambda_pos = factor[f]; obj.surrogate.vespo_lambda_neg = -factor[f];
        obj.surrogate.vespo_k_pos = 2;
        rollouts_random(&r, RANDOM_SMALL, &b);
        for (int64_t t = 0; t < b.n_tokens; t++)
            b.token[TOKEN_OLD][t] = b.token[TOKEN_LOGP][t] + (grpo_real)((rng_unit(&r) - 0.5) / factor[f]);
        snprintf(label, sizeof label, "steep gate %d, factor %g", kind, factor[f]);
        answer_find(&obj, &b, &a);
        check(!a.status, "%s: %s", label, status_line(a.status));
        if (!a.status) check_reference(&obj, &b, &a);
        answer_free(&a);
        rollouts_free(&b);
    }
}

/* ---- combinations of choices ------------------------------------------------------------------------------------------------------ */

static void check_combination(rng *r, const grpo_objective *obj, void *name) {
    rollouts b;
    answer a;
    rollouts_random(r, RANDOM_SMALL, &b);
    snprintf(label, sizeof label, "%s", (const char *)name);
    answer_find(obj, &b, &a);
    if (!a.status) {
        const long failed = check_failed;
        check_reference(obj, &b, &a);
        if (check_failed > failed) {
            int count, k, length;
            const grpo_field *f = grpo_fields(&count);
            for (k = 0; k < count; k++) if (f[k].choices && grpo_objective_get(obj, &f[k]) != 0) {
                const char *choice = field_choice(&f[k], grpo_objective_get(obj, &f[k]), &length);
                printf("    %s = %.*s\n", f[k].path, length, choice);
            }
        }
    }
    answer_free(&a);
    rollouts_free(&b);
}

static void check_combinations(int part, int parts) {
    static chosen all[MOST_CHOICES];
    const int n = all_choices(all);
    long valid = 0;
    int k;
    for (k = part; k < n; k += parts) {
        char name[100];
        sprintf(name, "with %.60s %d", all[k].field->path, all[k].choice);
        valid += each_combination(all, n, k, 3, check_combination, name);
    }
    printf("%ld combinations, worst of %ld losses %.2f, of %ld terms %.2f ulps of scale\n", valid, losses_judged, worst_loss, terms_judged,
           worst_term);
}

static void check_quadruple(rng *r, const grpo_objective *obj, void *number) {
    char name[40];
    sprintf(name, "quadruple %ld", *(const long *)number);
    check_objective(name, *obj, kinds[rng_below(r, 4)], rng_next(r));
}

static void check_quadruples(int seed, long combinations) {
    static chosen all[MOST_CHOICES];
    const int n = all_choices(all);
    rng r;
    long k;
    r.state = 1000003 * (uint64_t)seed + 1;
    for (k = 0; k < combinations; k++) check(random_combination(&r, all, n, check_quadruple, &k), "no quadruple is valid");
    printf("%ld combinations, worst of %ld losses %.2f, of %ld terms %.2f ulps of scale\n", combinations, losses_judged, worst_loss,
           terms_judged, worst_term);
}

int main(int argc, char **argv) {
    const int all = argc > 1 && !strcmp(argv[1], "all"), choices = all || (argc > 1 && !strcmp(argv[1], "choices"));
    if (all) floors_over = 1;
    if (argc == 4 && !strcmp(argv[1], "triples")) { check_combinations(atoi(argv[2]), atoi(argv[3])); return check_summary(); }
    if (argc == 4 && !strcmp(argv[1], "quadruples")) { check_quadruples(atoi(argv[2]), atol(argv[3])); return check_summary(); }
    if (argc > 2) other_draws = 1000003 * (uint64_t)atoi(argv[2]);
    check_presets();
    check_long();
    check_random_objectives(all ? RANDOM_OBJECTIVES : RANDOM_OBJECTIVES / 2);
    check_draws();
    if (choices) check_every_choice();
    check_trust_alone();
    check_steep_gates();
    check(losses_judged > 1500 && slopes_judged > 10000 && counts_judged > 1000,
          "only %ld losses, %ld slopes, %ld reports could be compared", losses_judged, slopes_judged, counts_judged);
    check(divergences_judged > 20, "only %ld slopes of divergences could be compared", divergences_judged);
    printf("worst of %ld losses %.2f, of %ld terms %.2f ulps of scale\n", losses_judged, worst_loss, terms_judged, worst_term);
    return check_summary();
}
