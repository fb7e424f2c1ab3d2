/* What must hold for every objective and every batch: order, parts, layout and garbage change no bit; nothing is NaN; gradients are
 * those of the loss as vectors/README.md writes it.  Presets first, then objectives drawn at random from all choices. */
#include "../gspo.h"
#include "check.h"
#include "reference.h"

enum { RANDOM_OBJECTIVES = 400, MAX_GROUPS = 16 };
static const grpo_real UNWRITTEN = 12345;
static const double EPS = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52;
static char label[160];                                          /* which objective and batch a failure belongs to */

static int same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* ---- answers ------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    grpo_status status;
    grpo_real *advantage, *dlogp, *term;
    grpo_report report;
} answer;

static grpo_real *unwritten(int64_t n)
{
    grpo_real *x = (grpo_real *)test_alloc(n, sizeof *x);
    int64_t t;
    for (t = 0; t < n; t++) x[t] = UNWRITTEN;
    return x;
}

static void answer_alloc(answer *a, int64_t tokens)
{
    memset(a, 0, sizeof *a);
    a->advantage = unwritten(tokens);
    a->dlogp = unwritten(tokens);
    a->term = unwritten(tokens);
}

static void answer_free(answer *a) { free(a->advantage); free(a->dlogp); free(a->term); }

/* from the advantages in a->advantage */
static void answer_loss(const grpo_objective *obj, const rollouts *b, answer *a)
{
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals = { 0, 0, 0, 0, 0, 0 };
    grpo_partial partial;
    grpo_output out;
    out.dlogp = a->dlogp;
    out.term = a->term;
    memset(&partial, 0, sizeof partial);
    a->status = grpo_count(obj, &batch, &totals);
    if (!a->status) a->status = gspo_loss_add(obj, &batch, a->advantage, &totals, &out, &partial);
    if (!a->status) grpo_report_of(&partial, &a->report);
}

static void answer_find(const grpo_objective *obj, const rollouts *b, answer *a)
{
    grpo_batch batch = rollouts_view(b);
    answer_alloc(a, b->n_tokens);
    a->status = grpo_advantages(obj, &batch, a->advantage);
    if (!a->status) answer_loss(obj, b, a);
}

/* the fields before `overflow` are eight bytes each, without padding */
static int same_report(const grpo_report *a, const grpo_report *b)
{
    return same_bits(a, b, offsetof(grpo_report, overflow)) && a->overflow == b->overflow;
}

static int64_t report_words(void) { return (int64_t)(offsetof(grpo_report, overflow) / 8); }

static void report_difference(const char *what, const grpo_report *a, const grpo_report *b)
{
    int64_t k, x, y;
    double u, v;
    for (k = 0; k < report_words(); k++) {
        memcpy(&x, (const char *)a + 8 * k, 8);
        memcpy(&y, (const char *)b + 8 * k, 8);
        memcpy(&u, &x, 8);
        memcpy(&v, &y, 8);
        if (x != y) check(0, "%s: %s: report word %d: %.17g (%lld) became %.17g (%lld)", label, what, (int)k, u, (long long)x, v, (long long)y);
    }
}

static void check_report(const char *what, const grpo_report *a, const grpo_report *b)
{
    if (!check(same_report(a, b), "%s: %s: report", label, what)) report_difference(what, a, b);
}

/* overflow is also that of the outputs asked for */
static void check_fewer_outputs(const char *what, const grpo_report *all, grpo_report fewer)
{
    check(fewer.overflow <= all->overflow, "%s: %s: overflow", label, what);
    fewer.overflow = all->overflow;
    check_report(what, all, &fewer);
}

/* found is the answer to an arrangement of the batch of base */
static void check_tokens(const char *what, const char *name, const grpo_real *base, const grpo_real *found, const rollouts *arranged)
{
    int64_t t, s, bad = -1;
    for (t = 0; t < arranged->n_tokens; t++) {
        s = arranged->from[t];
        if (s < 0 ? found[t] != UNWRITTEN : !same_bits(&found[t], &base[s], sizeof *base)) bad = t;
    }
    check(bad < 0, "%s: %s: %s of slot %lld: %.17g became %.17g", label, what, name, (long long)bad,
          bad < 0 || arranged->from[bad] < 0 ? (double)UNWRITTEN : (double)base[arranged->from[bad]], bad < 0 ? 0 : (double)found[bad]);
}

static void check_same(const char *what, const answer *base, const answer *found, const rollouts *arranged)
{
    if (!check(found->status == GRPO_OK, "%s: %s: %s", label, what, grpo_status_text(found->status))) return;
    check_tokens(what, "advantage", base->advantage, found->advantage, arranged);
    check_tokens(what, "dlogp", base->dlogp, found->dlogp, arranged);
    check_tokens(what, "term", base->term, found->term, arranged);
    check_report(what, &base->report, &found->report);
}

/* ---- order, layout, garbage ---------------------------------------------------------------------------------------------------- */

static void check_arranged(const char *what, const grpo_objective *obj, const rollouts *b, const answer *base, rng *r, int groups, int shuffle)
{
    rollouts other;
    answer found;
    rollouts_rearrange(r, b, groups, shuffle, &other);
    answer_find(obj, &other, &found);
    check_same(what, base, &found, &other);
    answer_free(&found);
    rollouts_free(&other);
}

static void property_order(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    int tokens = obj->advantage.credit == GRPO_CREDIT_OUTCOME ? ARRANGE_TOKENS : 0;
    if (tokens) check_arranged("tokens permuted", obj, b, base, r, 0, tokens);
    check_arranged("sequences permuted", obj, b, base, r, 0, ARRANGE_SEQUENCES);
    check_arranged("groups permuted", obj, b, base, r, 1, 0);
    check_arranged("all permuted", obj, b, base, r, 1, ARRANGE_SEQUENCES | tokens);
}

static void property_layout(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    check_arranged("another layout", obj, b, base, r, 0, 0);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------- */

typedef struct {
    int count;
    rollouts batch[MAX_GROUPS];
    grpo_partial partial[MAX_GROUPS];
} parts;

static void parts_cut(rng *r, const rollouts *b, parts *p)
{
    int64_t g, n, begin, order[MAX_GROUPS];
    for (g = 0; g < b->n_groups; g++) order[g] = g;
    rng_shuffle(r, order, b->n_groups);
    for (p->count = 0, begin = 0; begin < b->n_groups; begin += n) {
        n = 1 + rng_below(r, b->n_groups - begin);
        rollouts_arrange(r, b, order + begin, n, 0, &p->batch[p->count++]);
    }
    memset(p->partial, 0, sizeof p->partial);
}

static void parts_free(parts *p)
{
    int k;
    for (k = 0; k < p->count; k++) rollouts_free(&p->batch[k]);
}

static grpo_status parts_survey(const grpo_objective *obj, const parts *p, grpo_totals *totals, grpo_moments *moments)
{
    grpo_status st = GRPO_OK;
    int k;
    memset(totals, 0, sizeof *totals);
    memset(moments, 0, sizeof *moments);
    for (k = 0; k < p->count && !st; k++) {
        grpo_batch batch = rollouts_view(&p->batch[k]);
        st = grpo_count(obj, &batch, totals);
        if (!st) st = grpo_moments_add(obj, &batch, moments);
    }
    return st;
}

static void part_evaluate(const grpo_objective *obj, const answer *base, const grpo_totals *totals, const grpo_moments *moments,
                          const rollouts *part, grpo_partial *own, grpo_partial *shared)
{
    grpo_batch batch = rollouts_view(part);
    grpo_output out;
    answer a;
    answer_alloc(&a, part->n_tokens);
    out.dlogp = a.dlogp;
    out.term = a.term;
    a.status = grpo_advantages_with(obj, &batch, moments, a.advantage);
    if (!a.status) a.status = gspo_loss_add(obj, &batch, a.advantage, totals, &out, own);
    if (!a.status) a.status = gspo_loss_add(obj, &batch, a.advantage, totals, NULL, shared);
    if (check(!a.status, "%s: a part: %s", label, grpo_status_text(a.status))) {
        check_tokens("parts", "advantage", base->advantage, a.advantage, part);
        check_tokens("parts", "dlogp", base->dlogp, a.dlogp, part);
        check_tokens("parts", "term", base->term, a.term, part);
    }
    answer_free(&a);
}

/* any two become one until one is left */
static grpo_status parts_merge(rng *r, parts *p)
{
    grpo_status st = GRPO_OK;
    int left = p->count, i, j;
    while (left > 1 && !st) {
        i = (int)rng_below(r, left);
        j = (int)rng_below(r, left - 1);
        if (j >= i) j++;
        st = grpo_partial_merge(&p->partial[i], &p->partial[j]);
        p->partial[j] = p->partial[--left];
    }
    return st;
}

static void property_parts(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    static parts p;
    static grpo_partial shared, fresh;
    grpo_totals totals;
    grpo_moments moments;
    grpo_report report;
    grpo_status st;
    int k;
    parts_cut(r, b, &p);
    memset(&shared, 0, sizeof shared);
    memset(&fresh, 0, sizeof fresh);
    st = parts_survey(obj, &p, &totals, &moments);
    if (check(!st, "%s: counting parts: %s", label, grpo_status_text(st))) {
        for (k = 0; k < p.count; k++) part_evaluate(obj, base, &totals, &moments, &p.batch[k], &p.partial[k], &shared);
        grpo_report_of(&shared, &report);
        check_fewer_outputs("parts into one partial", &base->report, report);
        st = parts_merge(r, &p);
        if (!st) st = grpo_partial_merge(&fresh, &p.partial[0]);
        check(!st, "%s: merging: %s", label, grpo_status_text(st));
        grpo_report_of(&fresh, &report);
        check_report("parts merged", &base->report, &report);
    }
    parts_free(&p);
}

/* group_begin may start later: the sequences before it are nobody's */
static void property_later_start(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    int64_t g, order[MAX_GROUPS];
    rollouts tail = *b, packed;
    answer found, expected;
    (void)base;
    if (b->n_groups < 2) return;
    tail.n_groups--;
    tail.group_begin++;
    tail.baseline++;
    for (g = 1; g < b->n_groups; g++) order[g - 1] = g;
    rollouts_arrange(r, b, order, b->n_groups - 1, 0, &packed);
    answer_find(obj, &tail, &expected);
    answer_find(obj, &packed, &found);
    check(expected.status == found.status, "%s: later start: %s", label, grpo_status_text(expected.status));
    if (!expected.status) check_same("later start", &expected, &found, &packed);
    answer_free(&expected);
    answer_free(&found);
    rollouts_free(&packed);
}

/* ---- form of the answer -------------------------------------------------------------------------------------------------------- */

static int is_nan(double x) { return x != x; }

static void check_token_values(const char *name, const rollouts *b, const grpo_real *x)
{
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

static int any_infinite(const rollouts *b, const grpo_real *x)
{
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_finite((double)x[t])) return 1;
        }
    }
    return 0;
}

static int64_t tokens_of(const rollouts *b)
{
    int64_t i, n = 0;
    for (i = 0; i < b->n_sequences; i++) n += b->length[i];
    return n;
}

static int fraction(double x) { return x >= 0 && x <= 1 + 1e-15; }

static void check_report_values(const grpo_objective *obj, const rollouts *b, const grpo_report *m)
{
    const double real[] = { m->loss, m->policy_loss, m->penalty_loss, m->clip_fraction, m->clip_low, m->clip_high, m->clip_dual, m->ratio_mean,
        m->ratio_min, m->ratio_max, m->ess, m->old_k1, m->old_k3, m->kl_k1, m->kl_k2, m->kl_k3, m->entropy, m->weight_mean };
    size_t k;
    for (k = 0; k < sizeof real / sizeof *real; k++) check(!is_nan(real[k]), "%s: report value %d is NaN", label, (int)k);
    check(fraction(m->clip_low) && fraction(m->clip_high) && fraction(m->clip_dual), "%s: clip fractions", label);
    check(m->ess >= 0 && m->ess <= 1 + 1e-15, "%s: ess %.17g", label, m->ess);
    check(m->ratio_min <= m->ratio_mean * (1 + 1e-15) && m->ratio_mean <= m->ratio_max * (1 + 1e-15), "%s: ratio %.17g %.17g %.17g", label,
          m->ratio_min, m->ratio_mean, m->ratio_max);
    check(m->old_k3 >= 0 && m->kl_k2 >= 0 && m->kl_k3 >= 0, "%s: negative k2 or k3", label);
    check(m->tokens + m->masked_tokens == tokens_of(b), "%s: tokens %d and masked %d are not all of %d", label, (int)m->tokens,
          (int)m->masked_tokens, (int)tokens_of(b));
    check(m->groups <= m->sequences && m->sequences <= m->tokens && m->degenerate_groups <= m->groups, "%s: counts", label);
    if (obj->penalty.kl == GRPO_KL_NONE) check(m->penalty_loss == 0, "%s: penalty_loss without a penalty", label);
}

static void property_form(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    int infinite = !grpo_is_finite(base->report.loss) || any_infinite(b, base->dlogp) || any_infinite(b, base->term);
    (void)r;
    check_token_values("advantage", b, base->advantage);
    check_token_values("dlogp", b, base->dlogp);
    check_token_values("term", b, base->term);
    check_report_values(obj, b, &base->report);
    if (infinite) check(base->report.overflow == 1, "%s: an infinity without overflow", label);
}

/* ---- the entry points agree, NULL where it is allowed, inputs untouched -------------------------------------------------------- */

static uint64_t hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *p = (const unsigned char *)data;
    for (; size > 0; size--) h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_inputs(const grpo_objective *obj, const rollouts *b)
{
    size_t tokens = (size_t)b->n_tokens, sequences = (size_t)b->n_sequences, groups = (size_t)b->n_groups;
    uint64_t h = hash(1, obj, sizeof *obj);
    int k;
    for (k = 0; k < TOKEN_ARRAYS; k++) h = hash(h, b->token[k], tokens * sizeof(grpo_real));
    h = hash(hash(h, b->mask, tokens), b->step_end, tokens);
    h = hash(hash(h, b->offset, 8 * sequences), b->length, 8 * sequences);
    h = hash(hash(h, b->reward, sequences * sizeof(grpo_real)), b->truncated, sequences);
    return hash(hash(h, b->group_begin, 8 * (groups + 1)), b->baseline, groups * sizeof(grpo_real));
}

static void property_whole(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    grpo_batch batch = rollouts_view(b);
    grpo_real *dlogp = unwritten(b->n_tokens);
    uint64_t before = hash_inputs(obj, b);
    grpo_report report;
    grpo_status st = gspo_loss(obj, &batch, base->advantage, NULL, dlogp, &report);
    (void)r;
    check(!st, "%s: whole: %s", label, grpo_status_text(st));
    check(same_bits(dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *dlogp), "%s: whole and added dlogp differ", label);
    check_fewer_outputs("whole and added", &base->report, report);
    st = gspo_loss(obj, &batch, base->advantage, NULL, NULL, &report);
    check(!st, "%s: dlogp NULL: %s", label, grpo_status_text(st));
    check_fewer_outputs("dlogp NULL", &base->report, report);
    check(before == hash_inputs(obj, b), "%s: an input changed", label);
    free(dlogp);
}

static void check_output(const char *what, const grpo_objective *obj, const rollouts *b, const answer *base, int with_dlogp, int with_term)
{
    static grpo_partial partial;
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals = { 0, 0, 0, 0, 0, 0 };
    grpo_report report;
    grpo_output out;
    answer a;
    grpo_status st = grpo_count(obj, &batch, &totals);
    answer_alloc(&a, b->n_tokens);
    memset(&partial, 0, sizeof partial);
    out.dlogp = with_dlogp ? a.dlogp : NULL;
    out.term = with_term ? a.term : NULL;
    if (!st) st = gspo_loss_add(obj, &batch, base->advantage, &totals, &out, &partial);
    check(!st, "%s: %s: %s", label, what, grpo_status_text(st));
    grpo_report_of(&partial, &report);
    check_fewer_outputs(what, &base->report, report);
    if (with_dlogp) check(same_bits(a.dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *a.dlogp), "%s: %s: dlogp", label, what);
    if (with_term) check(same_bits(a.term, base->term, (size_t)b->n_tokens * sizeof *a.term), "%s: %s: term", label, what);
    answer_free(&a);
}

static void property_outputs(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    (void)r;
    check_output("dlogp alone", obj, b, base, 1, 0);
    check_output("term alone", obj, b, base, 0, 1);
    check_output("neither", obj, b, base, 0, 0);
}

static void property_grpo_is_gspo(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    grpo_batch batch = rollouts_view(b);
    grpo_real *dlogp = unwritten(b->n_tokens);
    grpo_report report;
    grpo_status st = grpo_loss(obj, &batch, base->advantage, NULL, dlogp, &report);
    (void)r;
    if (obj->ratio.unit != GRPO_UNIT_TOKEN) {
        check(st == GRPO_NEEDS_GSPO, "%s: grpo_loss: %s", label, grpo_status_text(st));
    } else {
        check(!st, "%s: grpo_loss: %s", label, grpo_status_text(st));
        check(same_bits(dlogp, base->dlogp, (size_t)b->n_tokens * sizeof *dlogp), "%s: grpo_loss and gspo_loss differ in dlogp", label);
        check_fewer_outputs("grpo_loss", &base->report, report);
    }
    free(dlogp);
}

/* ---- ranks --------------------------------------------------------------------------------------------------------------------- */

/* exact for a power of two; results near the ends of the range round on their own */
static int times_close(double x, double k, double found, double eps)
{
    if (!(fabs(x) > 1e-36 && fabs(x) < 1e37)) return 1;
    return fabs(found - k * x) <= eps * fabs(k * x);
}

static void check_ranks(const grpo_objective *obj, const rollouts *b, const answer *base, int ranks, double rounding)
{
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals = { 0, 0, 0, 0, 0, 0 };
    grpo_report report;
    answer a;
    int64_t t, bad = -1;
    grpo_status st = grpo_count(obj, &batch, &totals);
    answer_alloc(&a, b->n_tokens);
    totals.ranks = ranks;
    if (!st) st = gspo_loss(obj, &batch, base->advantage, &totals, a.dlogp, &report);
    check(!st, "%s: ranks: %s", label, grpo_status_text(st));
    for (t = 0; t < b->n_tokens; t++) {
        if (base->dlogp[t] != UNWRITTEN && !times_close((double)base->dlogp[t], ranks, (double)a.dlogp[t], rounding * EPS)) bad = t;
    }
    check(bad < 0, "%s: %d ranks: dlogp of slot %d is %.17g, of one rank %.17g", label, ranks, (int)bad, bad < 0 ? 0 : (double)a.dlogp[bad],
          bad < 0 ? 0 : (double)base->dlogp[bad]);
    check(times_close(base->report.loss, ranks, report.loss, rounding * 0x1p-52), "%s: %d ranks: loss %.17g became %.17g", label, ranks,
          base->report.loss, report.loss);
    answer_free(&a);
}

static void property_ranks(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    (void)r;
    check_ranks(obj, b, base, 1, 0);
    check_ranks(obj, b, base, 4, 0);
    check_ranks(obj, b, base, 3, 4);
}

/* ---- sequences against tokens -------------------------------------------------------------------------------------------------- */

static int is_mean_or_sum(const grpo_objective *obj)
{
    return obj->ratio.unit == GRPO_UNIT_SEQUENCE_MEAN || obj->ratio.unit == GRPO_UNIT_SEQUENCE_SUM;
}

static void property_one_token(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    grpo_objective token = *obj;
    rollouts single;
    answer sequence_answer, token_answer;
    (void)b;
    (void)base;
    if (!is_mean_or_sum(obj)) return;
    token.ratio.unit = GRPO_UNIT_TOKEN;
    rollouts_random(r, RANDOM_ONE_TOKEN | (rng_chance(r, 50) ? RANDOM_EXTREME : 0), &single);
    answer_find(obj, &single, &sequence_answer);
    answer_find(&token, &single, &token_answer);
    check(sequence_answer.status == token_answer.status, "%s: one token: %s", label, grpo_status_text(sequence_answer.status));
    check(same_bits(sequence_answer.dlogp, token_answer.dlogp, (size_t)single.n_tokens * sizeof(grpo_real)),
          "%s: one token: a sequence's gradient is not its token's", label);
    check_report("one token", &token_answer.report, &sequence_answer.report);
    answer_free(&sequence_answer);
    answer_free(&token_answer);
    rollouts_free(&single);
}

/* GSPO-token's theorem: with one advantage per response its gradient is GSPO's.  Not so for weights that differ from token to token. */
static void property_gspo_token(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
    grpo_objective unit = *obj, token;
    answer u, v;
    int64_t t, bad = 0;
    (void)base;
    (void)r;
    if (obj->ratio.unit != GRPO_UNIT_SEQUENCE_MEAN || obj->advantage.credit != GRPO_CREDIT_OUTCOME) return;
    unit.penalty.kl = GRPO_KL_NONE;
    if (unit.weight.correction_unit == GRPO_CORRECTION_TOKEN) unit.weight.correction = GRPO_CORRECTION_NONE;
    token = unit;
    unit.ratio.gradient = GRPO_GRADIENT_UNIT;
    token.ratio.gradient = GRPO_GRADIENT_TOKEN;
    answer_find(&unit, b, &u);
    answer_find(&token, b, &v);
    for (t = 0; t < b->n_tokens; t++) bad += !(fabs((double)u.dlogp[t] - (double)v.dlogp[t]) <= 4 * EPS * fabs((double)u.dlogp[t]) + FLT_MIN)
                                             && u.dlogp[t] != v.dlogp[t];
    check(bad == 0, "%s: gradients of gspo and gspo-token differ at %d tokens", label, (int)bad);
    answer_free(&u);
    answer_free(&v);
}

/* ---- rewards shifted ----------------------------------------------------------------------------------------------------------- */

static int ignores_shift(const grpo_objective *obj)
{
    const grpo_advantage *a = &obj->advantage;
    return (a->baseline == GRPO_BASELINE_GROUP_MEAN || a->baseline == GRPO_BASELINE_LEAVE_ONE_OUT) && a->credit == GRPO_CREDIT_OUTCOME
        && a->singleton == GRPO_SINGLETON_ZERO && a->gain != GRPO_GAIN_NONZERO_REWARDS
        && (obj->reward.kl == GRPO_KL_NONE || obj->reward.kl_coef == 0)
        && (obj->reward.overlong == GRPO_OVERLONG_NONE || obj->reward.overlong_factor == 0);
}

/* multiples of 1/8: the shifted rewards are exact in float, so no bit may change */
static void property_shift(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r)
{
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
    batch = rollouts_view(&dyadic);
    before = unwritten(dyadic.n_tokens);
    after = unwritten(dyadic.n_tokens);
    st = grpo_advantages(obj, &batch, before);
    for (i = 0; i < dyadic.n_sequences; i++) dyadic.reward[i] = (grpo_real)((double)dyadic.reward[i] + shift);
    if (!st) st = grpo_advantages(obj, &batch, after);
    check(!st && same_bits(before, after, (size_t)dyadic.n_tokens * sizeof *before), "%s: rewards + %g: other advantages", label, shift);
    free(before);
    free(after);
    rollouts_free(&dyadic);
}

/* ---- loss and gradient against the reference ------------------------------------------------------------------------------------ */

static long losses_judged, slopes_judged;

static void check_slope(reference *ref, const answer *a, int64_t i, int64_t t)
{
    reference_answer slope = reference_slope(ref, i, t);
    if (!slope.judged) return;
    slopes_judged++;
    check(reference_agrees(&slope, (double)a->dlogp[t]), "%s: dlogp of slot %d is %.17g, the loss has slope %.17g", label, (int)t,
          (double)a->dlogp[t], (double)slope.value);
}

static void check_reference(const grpo_objective *obj, const rollouts *b, const answer *a)
{
    reference ref;
    reference_answer loss;
    int64_t i, t;
    reference_alloc(&ref, obj, b, a->advantage, 1);
    loss = reference_loss(&ref);
    if (loss.judged) check(reference_agrees(&loss, a->report.loss), "%s: loss is %.17g, the reference %.17g", label, a->report.loss, (double)loss.value);
    losses_judged += loss.judged;
    for (i = 0; i < b->n_sequences; i++) {
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) check_slope(&ref, a, i, t);
    }
    reference_free(&ref);
}

static void property_gradient(const grpo_objective *obj, const rollouts *unused, const answer *base, rng *r)
{
    rollouts b;
    answer a;
    (void)unused;
    (void)base;
    rollouts_random(r, RANDOM_SMALL, &b);
    answer_find(obj, &b, &a);
    if (check(!a.status, "%s: gradient: %s", label, grpo_status_text(a.status))) check_reference(obj, &b, &a);
    answer_free(&a);
    rollouts_free(&b);
}

/* ---- every token masked -------------------------------------------------------------------------------------------------------- */

static void property_all_masked(const grpo_objective *obj, const rollouts *unused, const answer *base, rng *r)
{
    rollouts b;
    answer a;
    (void)unused;
    (void)base;
    rollouts_random(r, RANDOM_ALL_MASKED, &b);
    answer_find(obj, &b, &a);
    if (check(!a.status, "%s: all masked: %s", label, grpo_status_text(a.status))) {
        check_token_values("advantage, all masked", &b, a.advantage);
        check_token_values("dlogp, all masked", &b, a.dlogp);
        check_token_values("term, all masked", &b, a.term);
        check_report_values(obj, &b, &a.report);
        check(a.report.loss == 0 && a.report.policy_loss == 0 && a.report.penalty_loss == 0, "%s: all masked: loss", label);
        check(a.report.tokens == 0 && a.report.ratio_mean == 1 && a.report.ess == 1 && a.report.weight_mean == 1, "%s: all masked: report", label);
    }
    answer_free(&a);
    rollouts_free(&b);
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------------- */

typedef void property(const grpo_objective *obj, const rollouts *b, const answer *base, rng *r);

static property *const properties[] = {
    property_form, property_order, property_layout, property_parts, property_later_start, property_whole, property_outputs, property_grpo_is_gspo,
    property_ranks, property_one_token, property_gspo_token, property_shift, property_gradient, property_all_masked
};

static void check_properties(const grpo_objective *obj, const rollouts *b, rng *r)
{
    answer base;
    size_t k;
    answer_find(obj, b, &base);
    if (base.status == GRPO_BAD_ADVANTAGE && any_infinite(b, base.advantage)) {          /* beyond the largest float */
        check_token_values("advantage", b, base.advantage);
    } else if (check(!base.status, "%s: %s", label, grpo_status_text(base.status))) {
        for (k = 0; k < sizeof properties / sizeof *properties; k++) properties[k](obj, b, &base, r);
    }
    answer_free(&base);
}

/* a reward may refuse a KL that diverges: then it goes without */
static int refuses_kl(const grpo_objective *obj, const rollouts *b)
{
    grpo_batch batch = rollouts_view(b);
    grpo_real *advantage = unwritten(b->n_tokens);
    grpo_status st = grpo_advantages(obj, &batch, advantage);
    free(advantage);
    return st == GRPO_BAD_SHAPED_REWARD;
}

static void check_objective(const char *name, grpo_objective obj, int kind, uint64_t seed)
{
    rng r;
    rollouts b;
    r.state = seed;
    sprintf(label, "%.60s on batch %d/%d", name, kind, (int)seed);
    rollouts_random(&r, kind, &b);
    if (kind && refuses_kl(&obj, &b)) obj.reward.kl = GRPO_KL_NONE;
    check_properties(&obj, &b, &r);
    rollouts_free(&b);
}

static const int kinds[] = { 0, RANDOM_EXTREME, RANDOM_NEG_INF, RANDOM_EXTREME | RANDOM_NEG_INF };

static void check_presets(void)
{
    int count, k;
    uint64_t seed;
    const grpo_preset *preset = grpo_presets(&count);
    for (k = 0; k < count; k++) {
        for (seed = 1; seed <= 8; seed++) check_objective(preset[k].name, preset[k].objective, kinds[seed % 4], seed);
    }
}

static void check_random_objectives(void)
{
    grpo_objective obj;
    char name[40];
    rng r = { 7 };
    int k;
    for (k = 0; k < RANDOM_OBJECTIVES; k++) {
        sprintf(name, "objective %d", k);
        random_objective(&r, &obj);
        check_objective(name, obj, kinds[k % 4], 1000 + (uint64_t)k);
        check_objective(name, obj, kinds[(k / 4) % 4], 5000 + (uint64_t)k);
    }
}

/* ---- equal rewards ------------------------------------------------------------------------------------------------------------- */

static void equal_batch(rng *r, double reward, rollouts *b)
{
    int64_t i;
    rollouts_random(r, 0, b);
    for (i = 0; i < b->n_sequences; i++) b->reward[i] = (grpo_real)reward;
}

static void check_equal(const grpo_objective *obj, const rollouts *b, double reward)
{
    grpo_batch batch = rollouts_view(b);
    grpo_real *advantage = unwritten(b->n_tokens);
    grpo_status st = grpo_advantages(obj, &batch, advantage);
    int64_t t, bad = 0;
    for (t = 0; t < b->n_tokens; t++) bad += advantage[t] != UNWRITTEN && advantage[t] != 0;
    check(!st && bad == 0, "equal rewards %.9g, baseline %d, scale %d, eps %g/%d, gain %d: %d advantages are not 0 (%s)", reward,
          obj->advantage.baseline, obj->advantage.scale, obj->advantage.eps, obj->advantage.eps_place, obj->advantage.gain, (int)bad,
          grpo_status_text(st));
    free(advantage);
}

static void check_equal_rewards(void)
{
    static const double value[] = { 0.7, 0.1, -0.3, 1.0 / 3, 1e7 + 1, 1e-40, -3e38, sizeof(grpo_real) == 8 ? 1e150 : 1e38 };
    rng r = { 11 };
    grpo_objective obj;
    rollouts b;
    int k, trial;
    for (k = 0; k < (int)(sizeof value / sizeof *value); k++) for (trial = 0; trial < 100; trial++) {
        random_objective(&r, &obj);
        memset(&obj.reward, 0, sizeof obj.reward);
        obj.advantage.credit = GRPO_CREDIT_OUTCOME;
        obj.advantage.singleton = GRPO_SINGLETON_ZERO;
        if (obj.advantage.baseline == GRPO_BASELINE_GIVEN) obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
        if (obj.advantage.baseline == GRPO_BASELINE_NONE && obj.advantage.scale == GRPO_SCALE_NONE) obj.advantage.scale = GRPO_SCALE_GROUP_STD;
        equal_batch(&r, value[k], &b);
        check_equal(&obj, &b, value[k]);
        rollouts_free(&b);
    }
}

/* ---- grpo_informative ---------------------------------------------------------------------------------------------------------- */

static void check_informative(void)
{
    rng r = { 13 };
    int trial;
    for (trial = 0; trial < 200; trial++) {
        rollouts b;
        grpo_batch batch;
        uint8_t keep[MAX_GROUPS];
        int64_t g, i;
        grpo_status st;
        rollouts_random(&r, 0, &b);
        batch = rollouts_view(&b);
        st = grpo_informative(&batch, keep);
        check(!st, "informative: %s", grpo_status_text(st));
        for (g = 0; g < b.n_groups; g++) {
            int differ = 0;
            for (i = b.group_begin[g]; i < b.group_begin[g + 1]; i++) differ |= b.reward[i] != b.reward[b.group_begin[g]];
            check(keep[g] == differ, "informative: batch %d, group %d", trial, (int)g);
        }
        rollouts_free(&b);
    }
}

int main(void)
{
    check_presets();
    check_random_objectives();
    check_equal_rewards();
    check_informative();
    check(losses_judged > 800 && slopes_judged > 10000, "only %ld losses and %ld slopes could be compared", losses_judged, slopes_judged);
    return check_summary();
}
