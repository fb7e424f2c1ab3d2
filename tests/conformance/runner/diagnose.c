/* Tries known and computed mistakes, other objectives and factors on failing cases, and compares them with all answers. */
#include "diagnose.h"
#include "computed.h"
#include "rounding.h"
#include "sixteen_bits.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

/* Limits of the search, in tokens evaluated; an evaluation counts TOKENS_OF_CALL more than its tokens.  In all some fifteen seconds. */
enum { SEARCHED_TOKENS = 100000000, TOKENS_OF_CALL = 32, TOKENS_FOR_PAIRS = 8000000 };
enum { MOST_PROBES = 60, PROBES_OF_ROW = 5, PAIRS_OF_STAGE = 6, PAIRS_OF_ROW = 2 };
enum { TOO_LONG = ROUNDING_LONG };  /* longer cases are not probed, in tokens */
#define TOO_COARSE 1e-3             /* of the scale: with a larger tolerance, the numbers do not identify other objectives */

void diagnostician_open(diagnostician *d, const char *vectors, const rules *r) {
    memset(d, 0, sizeof *d);
    d->r = r;
    d->work_left = SEARCHED_TOKENS;
    d->known = known_mistakes(vectors);
}

void diagnostician_free(diagnostician *d) {
    known_free(d->known);
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++) {
        free(d->causes[k].name);
        free(d->causes[k].text);
        free(d->causes[k].says);
        free(d->causes[k].evidence);
    }
    for (ptrdiff_t k = 0; k < arrlen(d->kept); k++) {
        loss_of_rows_free(d->kept[k]->loss);
        question_free(&d->kept[k]->q);
        answer_free(&d->kept[k]->found);
        free(d->kept[k]);
    }
    arrfree(d->causes);
    arrfree(d->items);
    arrfree(d->kept);
}

/* ---- what was answered ----------------------------------------------------------------------------------------------------------- */

int diagnostician_is_fragile(const test_case *c) {
    static const char *const flags[] = { "NegInf", "Extreme", "NaNMasked", "OffsetRewards" };
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) if (case_has_flag(c, flags[k])) return 1;
    return 0;
}

/* `order`: the outputs in the order in which they are computed, so that the first wrong one can be found */
static void put_wrong_outputs(item *it, const mismatch *wrong) {
    static const output_kind order[N_OUTPUTS] = { OUT_ADVANTAGE, OUT_DYNAMIC_SAMPLING, OUT_TERM, OUT_LOSS, OUT_DLOGP, OUT_DENTROPY,
        OUT_DDIVERGENCE_REF, OUT_DLOG_Z, OUT_REPORT, OUT_LOGP, OUT_ENTROPY, OUT_ROW_LOSS, OUT_DLOGITS, OUT_DHIDDEN, OUT_DWEIGHT, OUT_CALL,
        (output_kind)(OUT_LIST + CASE_SLICE_TOKENS), (output_kind)(OUT_LIST + CASE_SLICE_LOG_RATIO),
        (output_kind)(OUT_LIST + CASE_PART_TOKENS), (output_kind)(OUT_LIST + CASE_PART_SEQUENCES),
        (output_kind)(OUT_LIST + CASE_PART_GROUPS), (output_kind)(OUT_LIST + CASE_PART_SUM), (output_kind)(OUT_LIST + CASE_PART_LOSS) };
    for (ptrdiff_t k = 0; k < arrlen(wrong); k++) if (stage_of(wrong[k].output) == it->stage) it->wrong_outputs |= 1 << wrong[k].output;
    for (int k = N_OUTPUTS - 1; k >= 0; k--) if (it->wrong_outputs >> order[k] & 1) it->first_wrong = order[k];
}

static int has_stage(const answer *found, stage_kind stage) {
    for (int k = 0; k < N_OUTPUTS; k++) if (stage_of((output_kind)k) == stage && found->of[k].value) return 1;
    return 0;
}

void diagnostician_keep(diagnostician *d, int result, const question *q, const answer *found, const mismatch *wrong) {
    kept_answer *kept = malloc(sizeof *kept);
    if (!kept) abort();
    kept->q = *q;
    kept->found = *found;
    kept->loss = loss_of_rows(q->c);
    arrput(d->kept, kept);
    for (int s = 0; s < N_STAGES; s++) {
        item it;
        memset(&it, 0, sizeof it);
        it.result = result;
        it.c = q->c;
        it.q = &kept->q;
        it.found = &kept->found;
        it.loss = s == STAGE_LOGITS ? kept->loss : NULL;
        it.stage = (stage_kind)s;
        it.failed = judge_failed(wrong, it.stage);
        it.fragile = diagnostician_is_fragile(q->c);
        put_wrong_outputs(&it, wrong);
        if (has_stage(found, it.stage)) arrput(d->items, it);
    }
}

/* ---- what a cause would have given ------------------------------------------------------------------------------------------------ */

static int all_finite(const numbers *n) {
    for (int64_t k = 0; k < n->count; k++) if (!grpo_is_finite(n->value[k])) return 0;
    return 1;
}

static int from_own_advantages(const item *it, answer *a) {
    const numbers *own = &it->found->of[OUT_ADVANTAGE];
    if (it->stage != STAGE_LOSS || !own->value || !all_finite(own)) return 0;
    return answer_evaluate(it->c, &it->c->objective, STAGE_LOSS, own->value, a);
}

static double longest(const test_case *c) {
    int64_t most = 0;
    for (int64_t i = 0; i < c->n_sequences; i++) if (c->batch.length[i] > most) most = c->batch.length[i];
    return (double)most;
}

static double padded_places(const test_case *c) {
    int64_t most = 0;
    for (int64_t g = 0; g < c->batch.n_groups; g++) {
        int64_t n = c->batch.group_begin[g + 1] - c->batch.group_begin[g];
        if (n > most) most = n;
    }
    return (double)(most * c->batch.n_groups);
}

static double tokens_that_count(const test_case *c) {
    const case_metric *tokens = case_metric_named(c, "tokens");
    double n = 0;
    for (int64_t k = 0; k < c->batch.n_tokens && !tokens; k++) n += !c->batch.mask || c->batch.mask[k];
    return tokens ? tokens->expect : n;
}

static const char *const quantities[] = { "-1 (the sign is turned)", "2", "the number of sequences", "the number of groups",
    "the number of tokens that count", "the number of tokens", "the length of the longest sequence", "the number of ranks",
    "the number of micro-batches", "tokens that count over all tokens", "sequences less one over sequences", "sequences per group",
    "tokens per sequence", "sequences plus one over sequences", "sequences over places in groups that are padded to the largest", "0" };
enum { N_QUANTITIES = sizeof quantities / sizeof *quantities };

/* the quantity "0"; other quantities are 0 in cases that lack them, such as ranks, and are then no factor */
static int is_zero_itself(int quantity) { return quantity == N_QUANTITIES - 1; }

static double quantity_of(const test_case *c, int n) {
    const double v[N_QUANTITIES] = { -1, 2, (double)c->n_sequences, (double)c->batch.n_groups, tokens_that_count(c),
        (double)c->batch.n_tokens,
        longest(c), (double)c->ranks, (double)c->n_parts, tokens_that_count(c) / (double)c->batch.n_tokens,
        (double)(c->n_sequences - 1) / (double)c->n_sequences, (double)c->n_sequences / (double)c->batch.n_groups,
        tokens_that_count(c) / (double)c->n_sequences, (double)(c->n_sequences + 1) / (double)c->n_sequences,
        (double)c->n_sequences / padded_places(c), 0 };
    return v[n];
}

static void scale_output(answer *a, output_kind output, const char *key, const test_case *c, double factor) {
    for (int64_t k = 0; a->of[output].value && k < a->of[output].count; k++)
        if (!key || !strcmp(c->report[k].key, key)) a->of[output].value[k] *= factor;
}

/* the right answer with these outputs multiplied */
static int multiplied(const item *it, unsigned outputs, double factor, answer *a) {
    if (!grpo_is_finite(factor) || factor == 1) return 0;
    *a = answer_expected(it->c);
    for (int k = 0; k < N_OUTPUTS; k++) if (outputs >> k & 1) scale_output(a, (output_kind)k, NULL, it->c, factor);
    if (!(outputs >> OUT_LOSS & 1)) return 1;
    scale_output(a, OUT_REPORT, "policy_loss", it->c, factor);
    scale_output(a, OUT_REPORT, "penalty_loss", it->c, factor);
    return 1;
}

static int by_factor(const cause *x, const item *it, answer *a) {
    double v = x->quantity < 0 ? x->factor : quantity_of(it->c, x->quantity);
    if (v == 0 && !is_zero_itself(x->quantity)) return 0;
    return it->stage != STAGE_CALL && multiplied(it, x->outputs, x->divided ? 1 / v : v, a);
}

static int of_objective(const item *it, const grpo_objective *obj, answer *a) {
    return !same_in_stage(obj, &it->c->objective, it->stage) && answer_evaluate(it->c, obj, it->stage, NULL, a);
}

/* Is the policy's gradient of this objective 0 everywhere?  Then equal numbers show a missing gradient, not this objective. */
static int has_no_gradient(const item *it, const grpo_objective *asked) {
    grpo_objective obj = *asked;
    answer a;
    int none = 1;
    memset(&a, 0, sizeof a);
    memset(&obj.penalty, 0, sizeof obj.penalty);
    if (!answer_evaluate(it->c, &obj, STAGE_LOSS, NULL, &a)) return 0;
    for (int64_t k = 0; k < a.of[OUT_DLOGP].count; k++) none &= a.of[OUT_DLOGP].value[k] == 0;
    answer_free(&a);
    return none;
}

static grpo_objective objective_of(const cause *x, const item *it) {
    grpo_objective obj;
    if (x->kind == CAUSE_PRESET) return with_stage_of(&it->c->objective, x->preset, it->stage);
    obj = change_made(&it->c->objective, &x->made[0]);
    return x->kind == CAUSE_PAIR ? change_made(&obj, &x->made[1]) : obj;
}

/* of an item with logits or hidden states: its objective alone, on the log-probabilities that a correct softmax gives */
static item of_loss(const item *it) {
    item by_itself = *it;
    if (it->loss) {
        by_itself.c = it->loss;
        by_itself.loss = NULL;
        by_itself.goes_on = it;
        by_itself.stage = STAGE_LOSS;
    }
    return by_itself;
}

/* is it a cause of the loss, and does the item go from logits or hidden states through a loss? */
static int is_through_loss(const cause *x, const item *it) {
    return it->loss && x->kind < CAUSE_ROUNDING && (x->kind == CAUSE_KNOWN ? !x->forms[STAGE_LOGITS] : x->stage == STAGE_LOSS);
}

static int forms_of(const cause *x, const item *it) {
    if (x->kind != CAUSE_KNOWN && x->kind != CAUSE_COMPUTED) return 1;
    return x->forms[is_through_loss(x, it) ? STAGE_LOSS : it->stage];
}

/* the answer that the cause gives on this item; 0 if it cannot be computed */
static int would_give_here(const cause *x, const item *it, int form, answer *a) {
    memset(a, 0, sizeof *a);
    switch (x->kind) {
    case CAUSE_KNOWN: case CAUSE_COMPUTED: return computed_answer(it->c, it->stage, x->form[it->stage] + form, a);
    case CAUSE_OWN_ADVANTAGES: return from_own_advantages(it, a);
    case CAUSE_FACTOR: return by_factor(x, it, a);
    case CAUSE_ROUNDING: case CAUSE_LONG_SUM: return 0;
    default: break;
    }
    if (case_has_loss(it->c)) {
        const grpo_objective obj = objective_of(x, it);
        return of_objective(it, &obj, a);
    }
    return 0;
}

/* the same, also through the loss of logits and hidden states */
static int would_give(const cause *x, const item *it, int form, answer *a) {
    const item inner = of_loss(it);
    answer of_inner;
    int ok;
    if (!is_through_loss(x, it)) return would_give_here(x, it, form, a);
    memset(a, 0, sizeof *a);
    ok = would_give_here(x, &inner, form, &of_inner) && answer_of_rows(it->c, &of_inner, a);
    answer_free(&of_inner);
    return ok;
}

/* ---- comparing causes with answers ------------------------------------------------------------------------------------------------ */

static saying said(judge_match match) { return match == JUDGE_SAME ? SAYS_SAME : match == JUDGE_DIFFERENT ? SAYS_OTHER : SAYS_NOTHING; }

/* The tolerance for comparing with a mistake: in long cases a program may have the rounding of a running sum too. */
static rules rules_for(const diagnostician *d, const test_case *c) {
    rules r = *d->r;
    if (rounding_is_long(d, c)) r.tolerance = fmax(r.tolerance, ROUNDING_SUM / r.precision->eps);
    return r;
}

static saying compare_half(const diagnostician *d, const item *it, const answer *a, cause_half half, int *evidence) {
    const rules r = rules_for(d, it->c);
    answer right = answer_expected(it->c), mixed = *a;
    judge_match match;
    for (int k = 0; k < N_OUTPUTS; k++) {
        const int of_loss = k == OUT_DLOGP || k == OUT_DENTROPY || k == OUT_DDIVERGENCE_REF || k == OUT_DLOG_Z;
        const int gradient = of_loss || k == OUT_DLOGITS || k == OUT_DHIDDEN || k == OUT_DWEIGHT;
        if (half != WHOLE && gradient == (half == VALUE_ONLY)) mixed.of[k] = right.of[k];
    }
    match = judge_against(&r, it->q, it->stage, it->found, &mixed, JUDGE_COMPUTED, evidence);
    if (match == JUDGE_DIFFERENT && it->stage == STAGE_ADVANTAGE)
        match = judge_against(&r, it->q, it->stage, it->found, &mixed, JUDGE_APART, evidence);
    answer_free(&right);
    return it->failed || match != JUDGE_SAME ? said(match) : SAYS_NOTHING;
}

unsigned diagnostician_apart(const diagnostician *d, const cause *x, const item *it) {
    const int forms = forms_of(x, it);
    const unsigned apart = it->stage == STAGE_ADVANTAGE ? judge_apart(it->q, it->found) : 0;
    int whole = !apart;
    for (int form = 0; form < forms && !whole; form++) {
        answer a;
        if (would_give(x, it, form, &a))
            whole = judge_against(d->r, it->q, it->stage, it->found, &a, JUDGE_COMPUTED, NULL) == JUDGE_SAME;
        answer_free(&a);
    }
    return whole ? 0 : apart;
}

/* over all forms of the cause: SAYS_SAME if one is, SAYS_NOTHING if one gives the right answer, SAYS_OTHER only if all differ */
static saying compare_computed(const diagnostician *d, const cause *x, const item *it, int *evidence) {
    const int forms = forms_of(x, it);
    int said_of[SAYS_OTHER + 1] = { 0 };
    for (int form = 0; form < forms && !said_of[SAYS_SAME]; form++) {
        answer a;
        if (would_give(x, it, form, &a)) said_of[compare_half(d, it, &a, x->half, evidence)]++;
        answer_free(&a);
    }
    return said_of[SAYS_SAME] ? SAYS_SAME : said_of[SAYS_NOTHING] || !said_of[SAYS_OTHER] ? SAYS_NOTHING : SAYS_OTHER;
}

static saying compare_recorded(const diagnostician *d, const cause *x, const item *it, int *evidence) {
    const cJSON *recorded = json_get(json_get(it->c->json, "defects"), x->name);
    saying now = SAYS_NOTHING;
    answer mistake;
    char error[200];
    if (!recorded || x->half != WHOLE) return SAYS_NOTHING;
    if (answer_is_brief(recorded)) {
        if (!answer_read_brief(recorded, it->c, &mistake)) now = said(judge_against(d->r, it->q, it->stage, it->found, &mistake,
            JUDGE_NAMED, evidence));
        if (now == SAYS_SAME) now = SAYS_ONE_NUMBER;
    } else if (!answer_read(recorded, it->c, &mistake, error, sizeof error))
        now = said(judge_against(d->r, it->q, it->stage, it->found, &mistake, JUDGE_ALL, evidence));
    answer_free(&mistake);
    return it->failed || now == SAYS_OTHER ? now : SAYS_NOTHING;
}

static saying saying_of(const diagnostician *d, const cause *x, const item *it, int *evidence) {
    saying computed, recorded;
    int recorded_evidence = 0;
    *evidence = 0;
    if (x->kind != CAUSE_KNOWN && x->stage != it->stage && !is_through_loss(x, it)) return SAYS_NOTHING;
    if (x->kind == CAUSE_ROUNDING && x->digits) return rounding_to_digits(d, it, x->digits, x->outputs, evidence);
    if (x->kind == CAUSE_ROUNDING) return x->bits ? rounding_to_bits(d, it, x->bits, evidence) : rounding_of_float32(d, it, evidence);
    if (x->kind == CAUSE_LONG_SUM) return rounding_of_long_sum(d, it, evidence);
    computed = compare_computed(d, x, it, evidence);
    if (computed == SAYS_SAME && x->half == GRADIENT_ONLY && x->kind >= CAUSE_CHANGE && x->kind <= CAUSE_PRESET) {
        const item inner = of_loss(it);
        const grpo_objective obj = objective_of(x, &inner);
        if (has_no_gradient(&inner, &obj)) return SAYS_NOTHING;
    }
    if (x->kind != CAUSE_KNOWN || computed == SAYS_SAME) return computed;
    recorded = compare_recorded(d, x, it, &recorded_evidence);
    *evidence = recorded_evidence;
    if (recorded == SAYS_SAME || computed == SAYS_NOTHING) return recorded;
    return computed;
}

/* ---- the list of causes ----------------------------------------------------------------------------------------------------------- */

/* what DEFECTS.md says of a known mistake */
static char *text_of_known(const diagnostician *d, const char *id, cause_half half) {
    char *t = NULL;
    for (ptrdiff_t k = 0; k < arrlen(d->known); k++) {
        const known_mistake *m = &d->known[k];
        if (strncmp(m->id, id, strcspn(id, ",")) || strlen(m->id) != strcspn(id, ",")) continue;
        text_add(&t, m->wrong);
        if (half != WHOLE) text_add(&t, half == GRADIENT_ONLY ? " (in the gradient only)" : " (in the value only)");
        if (*m->right) text_format(&t, "; right: %s", m->right);
        if (*m->seen) text_format(&t, "; seen: %s", m->seen);
    }
    return text_string(&t);
}

static cause cause_of(cause_kind kind, stage_kind stage) {
    cause x;
    memset(&x, 0, sizeof x);
    x.kind = kind;
    x.stage = stage;
    return x;
}

static char *name_with_half(const char *name, cause_half half) {
    char *t = NULL;
    text_add(&t, name);
    if (half != WHOLE) text_add(&t, half == GRADIENT_ONLY ? ", in the gradient only" : ", in the value only");
    return text_string(&t);
}

/* finds the forms that computed.h computes under the name */
static void put_forms(cause *x, stage_kind stage, const char *name) {
    for (int n = 0; n < computed_count(stage); n++) {
        if (strcmp(computed_named(stage, n).name, name)) continue;
        if (!x->forms[stage]++) x->form[stage] = n;
    }
}

/* adds the cause, unless it is already there, and compares it with every item */
static void put_cause(diagnostician *d, const cause *from, const char *name, cause_half half) {
    cause x = *from;
    int n = (int)arrlen(d->items);
    x.name = name_with_half(name, half);
    x.half = half;
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++)
        if (!strcmp(d->causes[k].name, x.name) && d->causes[k].kind == x.kind && (x.kind == CAUSE_KNOWN || d->causes[k].stage == x.stage)) {
            free(x.name);
            return;
        }
    for (int s = 0; s < N_STAGES && x.kind == CAUSE_KNOWN; s++) put_forms(&x, (stage_kind)s, name);
    x.text = x.kind == CAUSE_KNOWN ? text_of_known(d, name, half)
        : x.kind == CAUSE_CHANGE && !x.made[0].field ? change_fields(&x.made[0]) : text_copy(change_remark(name));
    x.says = calloc((size_t)n + 1, sizeof *x.says);
    x.evidence = calloc((size_t)n + 1, sizeof *x.evidence);
    if (!x.says || !x.evidence) abort();
    for (int k = 0; k < n; k++) {
        x.says[k] = (unsigned char)saying_of(d, &x, &d->items[k], &x.evidence[k]);
        d->work_left -= TOKENS_OF_CALL + d->items[k].c->batch.n_tokens;
    }
    arrput(d->causes, x);
}

/* ---- trying all causes on one item ------------------------------------------------------------------------------------------------ */

static int64_t cost_of_call(const item *it) { return it->c->batch.n_tokens + TOKENS_OF_CALL; }

/* a quick test with a generous tolerance, before the exact comparison */
static int is_near(const item *it, const answer *a, output_kind output) {
    const numbers *f = &it->found->of[output], *m = &a->of[output];
    for (int64_t k = 0; f->value && m->value && k < f->count; k++) {
        const double x = f->value[k], y = m->value[k], scale = it->q->scale.of[output].value ? it->q->scale.of[output].value[k] : 0;
        if (grpo_is_finite(x) && grpo_is_finite(y) && grpo_is_finite(scale) && fabs(x - y) > 1e-4 * (fabs(x) + fabs(y) + scale)) return 0;
    }
    return 1;
}

static int is_possible(const item *it, const answer *a) {
    if (it->stage == STAGE_ADVANTAGE) return is_near(it, a, OUT_ADVANTAGE);
    if (it->loss) return is_near(it, a, OUT_ROW_LOSS) || (is_near(it, a, OUT_DLOGITS) && is_near(it, a, OUT_DHIDDEN));
    return is_near(it, a, OUT_LOSS) || is_near(it, a, OUT_DLOGP);
}

/* can the cause be in the value alone or in the gradient alone? */
static int has_halves(const cause *x, const item *it) {
    const numbers *of = it->found->of;
    if (x->whole || x->kind == CAUSE_PAIR || x->stage != STAGE_LOSS) return 0;
    return it->loss ? of[OUT_DLOGITS].value || of[OUT_DHIDDEN].value || of[OUT_DWEIGHT].value : of[OUT_DLOGP].value != NULL;
}

/* compares an answer, then its gradient alone and its value alone; adds the cause and returns 1 if one of them is what was found */
static int try_answer(diagnostician *d, const item *it, const cause *x, const char *name, const answer *a) {
    int evidence, same = 0;
    if (it->goes_on) {
        answer further;
        if (answer_of_rows(it->goes_on->c, a, &further)) same = try_answer(d, it->goes_on, x, name, &further);
        answer_free(&further);
        return same;
    }
    if (d->r->precision == &compare_f64 && !is_possible(it, a)) return 0;
    for (int half = WHOLE; half < N_HALVES && !same; half++) {
        if (half != WHOLE && !has_halves(x, it)) break;
        if (compare_half(d, it, a, (cause_half)half, &evidence) != SAYS_SAME) continue;
        put_cause(d, x, name, (cause_half)half);
        same = 1;
    }
    return same;
}

static void try_computed(diagnostician *d, const item *it) {
    for (int n = 0, first = 0; n < computed_count(it->stage); n++) {
        computed_mistake m = computed_named(it->stage, n);
        cause x = cause_of(m.id ? CAUSE_KNOWN : CAUSE_COMPUTED, it->stage);
        answer a;
        x.whole = m.whole;
        if (strcmp(m.name, computed_named(it->stage, first).name)) first = n;
        if (!m.id) put_forms(&x, it->stage, m.name);
        if (computed_answer(it->c, it->stage, n, &a)) try_answer(d, it, &x, m.name, &a);
        d->work_left -= 3 * cost_of_call(it);
        answer_free(&a);
    }
}

static void try_recorded(diagnostician *d, const item *it) {
    const cJSON *defects = json_get(it->c->json, "defects");
    for (const cJSON *one = cJSON_IsObject(defects) ? defects->child : NULL; one; one = one->next) {
        cause x = cause_of(CAUSE_KNOWN, it->stage);
        int evidence = 0;
        saying now;
        x.name = one->string;
        now = compare_recorded(d, &x, it, &evidence);
        x.name = NULL;
        if (now == SAYS_SAME || now == SAYS_ONE_NUMBER) put_cause(d, &x, one->string, WHOLE);
    }
}

static void try_own_advantages(diagnostician *d, const item *it) {
    cause x = cause_of(CAUSE_OWN_ADVANTAGES, it->stage);
    answer a;
    memset(&a, 0, sizeof a);
    if (from_own_advantages(it, &a)) try_answer(d, it, &x,
        "the loss is computed from the program's own advantages, not from case.advantage", &a);
    answer_free(&a);
}

/* adds the cause and returns 1 if the objective gives the numbers found */
static int try_objective(diagnostician *d, const item *it, const cause *x, const grpo_objective *obj, const char *name) {
    answer a;
    int same = 0;
    memset(&a, 0, sizeof a);
    d->work_left -= cost_of_call(it);
    if (of_objective(it, obj, &a)) same = try_answer(d, it, x, name, &a);
    answer_free(&a);
    return same;
}

static void try_changes(diagnostician *d, const item *it, const change *changes) {
    for (ptrdiff_t k = 0; k < arrlen(changes); k++) {
        cause x = cause_of(CAUSE_CHANGE, it->stage);
        grpo_objective obj = change_made(&it->c->objective, &changes[k]);
        x.made[0] = changes[k];
        try_objective(d, it, &x, &obj, changes[k].name);
    }
}

/* tries the stage of every preset, regardless of case.objective; of presets identical in the stage the first */
static void try_presets(diagnostician *d, const item *it) {
    int count;
    const grpo_preset *preset = grpo_presets(&count);
    const char *what = it->stage == STAGE_LOSS ? "the loss" : "advantages";
    for (int n = 0; n < count; n++) {
        cause x = cause_of(CAUSE_PRESET, it->stage);
        grpo_objective obj;
        char name[120];
        if (preset_first(n, it->stage) != n) continue;
        snprintf(name, sizeof name, "%s as in %s, whatever was asked for", what, preset[n].name);
        obj = with_stage_of(&it->c->objective, n, it->stage);
        x.preset = n;
        try_objective(d, it, &x, &obj, name);
    }
}

/* two changes of different fields; a whole axis taken from a preset already changes several fields */
static int is_pair(const change *a, const change *b) { return a->field && b->field && a->field != b->field; }

static judge_match match_of(const diagnostician *d, const item *it, const answer *a) {
    return judge_against(d->r, it->q, it->stage, it->found, a, JUDGE_COMPUTED, NULL);
}

/* how the answer compares with the objective after one change: not affected, different, or the same */
static judge_match match_alone(const diagnostician *d, const item *it, const change *made) {
    grpo_objective obj = change_made(&it->c->objective, made);
    judge_match match = JUDGE_SILENT;
    answer a, further;
    memset(&a, 0, sizeof a);
    if (of_objective(it, &obj, &a) && !it->goes_on) match = match_of(d, it, &a);
    else if (a.of[OUT_LOSS].value && answer_of_rows(it->goes_on->c, &a, &further)) {
        match = match_of(d, it->goes_on, &further);
        answer_free(&further);
    }
    answer_free(&a);
    return match;
}

static int is_candidate(judge_match a, judge_match b) {
    return a != JUDGE_SAME && b != JUDGE_SAME && (a == JUDGE_DIFFERENT || b == JUDGE_DIFFERENT);
}

/* tries pairs of changes, of which at least one has an effect by itself and neither alone gives the numbers found */
static void try_pairs(diagnostician *d, const item *it) {
    change *changes = changes_of(&it->c->objective, it->stage);
    judge_match *alone = calloc((size_t)arrlen(changes) + 1, sizeof *alone);
    if (!alone) abort();
    for (ptrdiff_t k = 0; k < arrlen(changes); k++) alone[k] = match_alone(d, it, &changes[k]);
    if (arrlen(changes) * arrlen(changes) / 2 * cost_of_call(it) <= TOKENS_FOR_PAIRS)
        for (ptrdiff_t j = 0; j < arrlen(changes); j++)
            for (ptrdiff_t k = j + 1; k < arrlen(changes); k++) {
                cause x = cause_of(CAUSE_PAIR, it->stage);
                grpo_objective obj = change_made(&it->c->objective, &changes[j]);
                char name[220];
                if (!is_candidate(alone[j], alone[k]) || !is_pair(&changes[j], &changes[k])) continue;
                obj = change_made(&obj, &changes[k]);
                x.made[0] = changes[j];
                x.made[1] = changes[k];
                snprintf(name, sizeof name, "%s and %s", changes[j].name, changes[k].name);
                try_objective(d, it, &x, &obj, name);
            }
    free(alone);
    arrfree(changes);
}

static void search_objectives(diagnostician *d, const item *it) {
    change *changes;
    if (!case_has_loss(it->c) || d->r->tolerance * d->r->precision->eps > TOO_COARSE) return;
    changes = changes_of(&it->c->objective, it->stage);
    try_changes(d, it, changes);
    arrfree(changes);
    try_presets(d, it);
}

/* the ratio of found to expected where expected is largest; NaN if there is none */
static double factor_at(const item *it, output_kind output) {
    const numbers *e = &it->q->expected.of[output], *f = &it->found->of[output];
    int64_t best = -1;
    for (int64_t k = 0; f->value && k < e->count; k++)
        if (grpo_is_finite(e->value[k]) && e->value[k] != 0 && (best < 0 || fabs(e->value[k]) > fabs(e->value[best]))) best = k;
    return best < 0 || !grpo_is_finite(f->value[best] / e->value[best]) ? nan("") : f->value[best] / e->value[best];
}

/* writes the name of a factor, such as "loss and dlogp multiplied by 2"; outputs: a bit set */
static void name_factor(const cause *x, unsigned outputs, const char *what, char *name, size_t size) {
    *name = 0;
    for (int k = 0; k < N_OUTPUTS; k++)
        if (outputs >> k & 1) snprintf(name + strlen(name), size - strlen(name), "%s%s", *name ? " and " : "", output_name[k]);
    snprintf(name + strlen(name), size - strlen(name), " %s by %s", x->divided ? "divided" : "multiplied", what);
}

/* is the factor v, or (divided) 1/v?  Trivial factors, such as 1, are not. */
static int is_factor(int quantity, int divided, double v, double factor) {
    if (v == 0) return is_zero_itself(quantity) && factor == 0 && !divided;
    return v != 1 && !(v == -1 && divided) && fabs(factor / (divided ? 1 / v : v) - 1) < 1e-9;
}

/* adds a cause for every quantity that equals the factor, else one for the number */
static void put_factors(diagnostician *d, const item *it, cause *x, double factor, int evidence) {
    unsigned outputs = 0;
    char name[240], number[40];
    int named = 0;
    for (int k = 0; k < N_OUTPUTS; k++) if (it->goes_on || it->found->of[k].value) outputs |= x->outputs & 1u << k;
    for (x->quantity = 0; x->quantity < N_QUANTITIES; x->quantity++)
        for (x->divided = 0; x->divided < 2; x->divided++) {
            if (!is_factor(x->quantity, x->divided, quantity_of(it->c, x->quantity), factor)) continue;
            name_factor(x, outputs, quantities[x->quantity], name, sizeof name);
            put_cause(d, x, name, WHOLE);
            named = 1;
        }
    x->quantity = -1;
    x->divided = 0;
    x->factor = factor;
    snprintf(number, sizeof number, "%.6g", factor);
    name_factor(x, outputs, number, name, sizeof name);
    if (!named && evidence >= 2) put_cause(d, x, name, WHOLE);
}

static void try_factor(diagnostician *d, const item *it, double factor, unsigned outputs) {
    const item *judged = it->goes_on ? it->goes_on : it;
    cause x = cause_of(CAUSE_FACTOR, it->stage);
    int evidence, same;
    answer a, further;
    x.outputs = outputs;
    if (!(factor == factor) || !multiplied(it, outputs, factor, &a)) return;
    if (it->goes_on && answer_of_rows(it->goes_on->c, &a, &further)) { answer_free(&a); a = further; }
    same = compare_half(d, judged, &a, WHOLE, &evidence) == SAYS_SAME;
    answer_free(&a);
    if (same) put_factors(d, it, &x, factor, evidence);
}

/* tries factors of value and gradient, together and each alone; found: the item whose answer has them */
static void try_factors_of(diagnostician *d, const item *it, const item *found, output_kind value, output_kind slope, unsigned gradient) {
    const double of_value = factor_at(found, value), of_slope = factor_at(found, slope);
    const unsigned loss = 1u << (it->goes_on ? OUT_LOSS : value);
    try_factor(d, it, of_slope == of_slope ? of_slope : of_value, loss | gradient);
    try_factor(d, it, of_value, loss);
    try_factor(d, it, of_slope == of_slope ? of_slope : of_value, gradient);
}

static void try_factors(diagnostician *d, const item *it) {
    const unsigned dlogp = 1u << OUT_DLOGP, gradient = 1u << OUT_DLOGITS | 1u << OUT_DHIDDEN | 1u << OUT_DWEIGHT;
    const output_kind slope = it->found->of[OUT_DHIDDEN].value ? OUT_DHIDDEN : OUT_DLOGITS;
    const item inner = of_loss(it);
    if (it->stage == STAGE_ADVANTAGE) try_factor(d, it, factor_at(it, OUT_ADVANTAGE), 1u << OUT_ADVANTAGE);
    if (it->stage == STAGE_LOSS) try_factors_of(d, it, it, OUT_LOSS, OUT_DLOGP, dlogp);
    if (it->loss) try_factors_of(d, &inner, it, OUT_ROW_LOSS, slope, dlogp);
    if (it->stage == STAGE_LOGITS) try_factors_of(d, it, it, OUT_ROW_LOSS, slope, gradient);
}

/* the fewest digits that all wrong numbers are rounded to */
static void try_digits(diagnostician *d, const item *it) {
    cause x = cause_of(CAUSE_ROUNDING, it->stage);
    x.outputs = (unsigned)it->wrong_outputs;
    for (int n = 2; n <= 10; n++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            int evidence;
            char name[240] = "rounding:";
            x.digits = sign * n;
            if (rounding_to_digits(d, it, x.digits, x.outputs, &evidence) != SAYS_SAME) continue;
            for (int k = 0; k < N_OUTPUTS; k++)
                if (x.outputs >> k & 1)
                    snprintf(name + strlen(name), sizeof name - strlen(name), "%s %s", strlen(name) > 9 ? " and" : "", output_name[k]);
            snprintf(name + strlen(name), sizeof name - strlen(name), " rounded to %d %s", n, sign > 0 ? "decimals" : "significant digits");
            put_cause(d, &x, name, WHOLE);
            return;
        }
}

static void probe(diagnostician *d, const item *it) {
    cause rounding = cause_of(CAUSE_ROUNDING, it->stage);
    int evidence;
    try_recorded(d, it);
    if (it->stage != STAGE_CALL) try_computed(d, it);
    try_own_advantages(d, it);
    search_objectives(d, it);
    try_factors(d, it);
    if (it->loss) {
        const item inner = of_loss(it);
        try_computed(d, &inner);
        search_objectives(d, &inner);
    }
    if (d->r->precision == &compare_f64) try_digits(d, it);
    if (rounding_of_float32(d, it, &evidence) == SAYS_SAME) put_cause(d, &rounding, "rounding: errors as of float32", WHOLE);
    for (rounding.bits = BFLOAT16; rounding.bits <= FLOAT16; rounding.bits += FLOAT16 - BFLOAT16)
        if (rounding_to_bits(d, it, rounding.bits, &evidence) == SAYS_SAME)
            put_cause(d, &rounding, rounding.bits == BFLOAT16 ? "rounding: computed in bfloat16, or rounded to it"
                : "rounding: computed in float16, or rounded to it", WHOLE);
}

/* ---- which items ------------------------------------------------------------------------------------------------------------------ */

static const char *row_of(const item *it) { return it->c->id; }

static size_t row_length(const item *it) { return strcspn(row_of(it), "-"); }

/* the same beginning of the id, up to the first "-": the same row, or one with a similar name */
static int same_row(const item *a, const item *b) {
    return a->stage == b->stage && row_length(a) == row_length(b) && !strncmp(row_of(a), row_of(b), row_length(a));
}

/* does a cause give these numbers, and contradict at most a quarter of the answers that it affects in the same row? */
static int is_explained(const diagnostician *d, int n) {
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++) {
        const cause *x = &d->causes[k];
        int same = 0, other = 0;
        if (x->says[n] != SAYS_SAME || x->kind == CAUSE_ROUNDING) continue;
        for (int j = 0; j < (int)arrlen(d->items); j++) {
            if (!same_row(&d->items[n], &d->items[j]) || d->items[j].fragile) continue;
            same += x->says[j] == SAYS_SAME || x->says[j] == SAYS_ONE_NUMBER;
            other += x->says[j] == SAYS_OTHER;
        }
        if (4 * other <= same + other) return 1;
    }
    return 0;
}

static int probes_of_row(const diagnostician *d, const unsigned char *probed, int n) {
    int count = 0;
    for (int k = 0; k < (int)arrlen(d->items); k++) count += probed[k] && same_row(&d->items[k], &d->items[n]);
    return count;
}

/* tries pairs on a few of the cases that were searched in vain, of several rows and of either stage */
static void search_pairs(diagnostician *d, const unsigned char *probed) {
    const int n = (int)arrlen(d->items);
    unsigned char *tried = calloc((size_t)n + 1, 1);
    int of_stage[N_STAGES] = { 0 };
    if (!tried) abort();
    for (int k = 0; k < n && d->work_left > 0; k++) {
        const item it = of_loss(&d->items[k]);
        if (!probed[k] || it.fragile || is_explained(d, k) || (it.stage != STAGE_ADVANTAGE && it.stage != STAGE_LOSS)) continue;
        if (d->r->tolerance * d->r->precision->eps > TOO_COARSE || !case_has_loss(it.c)) continue;
        if (of_stage[it.stage] >= PAIRS_OF_STAGE || probes_of_row(d, tried, k) >= PAIRS_OF_ROW) continue;
        try_pairs(d, &it);
        of_stage[it.stage]++;
        tried[k] = 1;
    }
    free(tried);
}

/* adds the rounding of a long sum, the only cause that is looked for in long cases */
static void put_long_sums(diagnostician *d) {
    for (int k = 0; k < (int)arrlen(d->items); k++) {
        const item *it = &d->items[k];
        const cause x = cause_of(CAUSE_LONG_SUM, it->stage);
        int evidence;
        if (!rounding_is_long(d, it->c) || rounding_of_long_sum(d, it, &evidence) != SAYS_SAME) continue;
        put_cause(d, &x, "rounding of a long sum: errors below 1e-11 of their scale, as of a running sum over the tokens "
                         "(math.fsum, pairwise or Kahan summation keep within the tolerance)", WHOLE);
    }
}

void diagnostician_conclude(diagnostician *d) {
    int n = (int)arrlen(d->items), probes[N_STAGES] = { 0 };
    unsigned char *probed = calloc((size_t)n + 1, 1);
    if (!probed) abort();
    for (int fragile = 0; fragile < 2; fragile++)
        for (int k = 0; k < n; k++) {
            const item *it = &d->items[k];
            if (!it->failed || it->fragile != fragile || it->c->batch.n_tokens > TOO_LONG || d->work_left < 0) continue;
            if (probes[it->stage] >= MOST_PROBES || probes_of_row(d, probed, k) >= PROBES_OF_ROW || is_explained(d, k)) continue;
            probe(d, it);
            probes[it->stage]++;
            probed[k] = 1;
        }
    search_pairs(d, probed);
    put_long_sums(d);
    free(probed);
}
