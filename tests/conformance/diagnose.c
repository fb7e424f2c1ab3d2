#include "diagnose.h"
#include "text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Fifteen seconds in all.  An evaluation costs as much as TOKENS_OF_CALL, on top of the tokens of the case. */
enum { SEARCHED_TOKENS = 100000000, TOKENS_OF_CALL = 32, SEARCHED_PAIRS = 4, TOKENS_FOR_PAIRS = 8000000, KEPT_PAIRS = 16 };
#define TOO_COARSE 1e-3      /* of the scale: objectives that are this near each other are not told apart by their numbers */
#define NEAR_ENOUGH 0.1     /* of the distance to the right answer: what is farther is no hint */

/* ---- what is known of the mistakes ---------------------------------------------------------------------------------------------- */

static char *slurp(const char *directory, const char *name) {
    char path[4096], *text = NULL;
    FILE *f;
    int c;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    f = fopen(path, "rb");
    if (!f) return NULL;
    while ((c = getc(f)) != EOF) arrput(text, (char)c);
    fclose(f);
    return text_string(&text);
}

static char *copy(const char *string) {
    char *t = NULL;
    text_add(&t, string ? string : "");
    return text_string(&t);
}

static char *member(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return copy(cJSON_IsString(item) ? item->valuestring : "");
}

static void read_json(diagnostician *d, const char *text) {
    cJSON *json = cJSON_Parse(text);
    for (const cJSON *item = cJSON_IsObject(json) ? json->child : NULL; item; item = item->next) {
        known_mistake k;
        k.id = copy(item->string);
        k.wrong = member(item, "wrong");
        k.right = member(item, "right");
        k.seen = member(item, "seen");
        arrput(d->known, k);
    }
    cJSON_Delete(json);
}

/* the cells of a row of a table, "| NORM-01 | ... |"; which is which says the row of heads */
enum { MAX_CELLS = 12 };
typedef struct { char *cell[MAX_CELLS]; int count; } row;

static char *trimmed(const char *from, const char *to) {
    char *t = NULL;
    while (from < to && (isspace((unsigned char)*from) || *from == '`' || *from == '*')) from++;
    while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == '`' || to[-1] == '*')) to--;
    for (; from < to; from++) if (*from != '\\' || from[1] != '|') arrput(t, *from);
    return text_string(&t);
}

static row read_row(const char *line, const char *end) {
    row r = { { NULL }, 0 };
    const char *start = line + 1;
    for (const char *p = start; p < end && r.count < MAX_CELLS; p++) {
        if (*p != '|' || p[-1] == '\\') continue;
        r.cell[r.count++] = trimmed(start, p);
        start = p + 1;
    }
    return r;
}

static void free_row(row *r) {
    for (int k = 0; k < r->count; k++) free(r->cell[k]);
    r->count = 0;
}

static const char *cell_under(const row *heads, const row *r, const char *head) {
    for (int k = 0; k < heads->count && k < r->count; k++) {
        const char *h = heads->cell[k];
        if (tolower((unsigned char)h[0]) == head[0] && !strncmp(h + 1, head + 1, strlen(head) - 1)) return r->cell[k];
    }
    return NULL;
}

static void read_table_row(diagnostician *d, const row *heads, const row *r) {
    known_mistake k;
    if (!r->count || !strspn(r->cell[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || !cell_under(heads, r, "wrong")) return;
    k.id = copy(r->cell[0]);
    k.wrong = copy(cell_under(heads, r, "wrong"));
    k.right = copy(cell_under(heads, r, "right"));
    k.seen = copy(cell_under(heads, r, "seen"));
    arrput(d->known, k);
}

static void read_markdown(diagnostician *d, const char *text) {
    row heads = { { NULL }, 0 };
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (*line != '|') { free_row(&heads); continue; }
        if (!heads.count) heads = read_row(line, end);
        else { row r = read_row(line, end); read_table_row(d, &heads, &r); free_row(&r); }
    }
    free_row(&heads);
}

void diagnostician_open(diagnostician *d, const char *vectors) {
    char *text = slurp(vectors, "defects.json");
    memset(d, 0, sizeof *d);
    d->work_left = SEARCHED_TOKENS;
    d->pairs_left = SEARCHED_PAIRS;
    if (text) read_json(d, text);
    else if ((text = slurp(vectors, "DEFECTS.md")) != NULL) read_markdown(d, text);
    free(text);
}

void diagnostician_free(diagnostician *d) {
    for (ptrdiff_t k = 0; k < arrlen(d->known); k++) {
        free(d->known[k].id);
        free(d->known[k].wrong);
        free(d->known[k].right);
        free(d->known[k].seen);
    }
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++) { free(d->causes[k].name); free(d->causes[k].text); }
    arrfree(d->known);
    arrfree(d->causes);
    arrfree(d->pairs);
}

/* ---- causes by name ------------------------------------------------------------------------------------------------------------- */

static char *told_of(const diagnostician *d, const char *id) {
    char *t = NULL;
    for (ptrdiff_t k = 0; k < arrlen(d->known); k++) {
        const known_mistake *m = &d->known[k];
        if (strcmp(m->id, id)) continue;
        text_add(&t, m->wrong);
        if (*m->right) text_format(&t, "; right: %s", m->right);
        if (*m->seen) text_format(&t, "; seen: %s", m->seen);
    }
    return text_string(&t);
}

static int cause_named(diagnostician *d, const char *name, int known) {
    cause_info c;
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++)
        if (d->causes[k].known == known && !strcmp(d->causes[k].name, name)) return (int)k;
    c.name = copy(name);
    c.text = known ? told_of(d, name) : copy(change_remark(name));
    c.known = known;
    c.explains = 0;
    arrput(d->causes, c);
    return (int)arrlen(d->causes) - 1;
}

static void put_once(int **list, int value) {
    for (ptrdiff_t k = 0; k < arrlen(*list); k++) if ((*list)[k] == value) return;
    arrput(*list, value);
}

/* what is looked into: a stage of an answer to a case */
typedef struct {
    diagnostician *d;
    const rules *r;
    const question *q;
    const answer *found;
    stage_kind stage;
    stage_diagnosis *out;
} search;

static int is_same(const search *s, const answer *other) { return judge_against(s->r, s->q, s->stage, s->found, other) == JUDGE_SAME; }

static void explained(const search *s, const char *name, int known) {
    int k = cause_named(s->d, name, known);
    s->d->causes[k].explains = 1;
    put_once(&s->out->causes, k);
}

/* ---- known mistakes ------------------------------------------------------------------------------------------------------------- */

static void try_known(const search *s, const char *id, judge_match match) {
    switch (match) {
    case JUDGE_SAME:
        if (s->out->failed) explained(s, id, 1);
        break;
    case JUDGE_DIFFERENT: put_once(&s->out->refuted, cause_named(s->d, id, 1)); break;
    case JUDGE_SILENT: break;
    }
}

/* what the case records of a mistake, in full or by one number, against what was found */
static judge_match match_known(const search *s, const cJSON *recorded) {
    judge_match match = JUDGE_SILENT;
    answer mistake;
    char error[200];
    if (answer_is_brief(recorded)) {
        if (!answer_read_brief(recorded, s->q->c, &mistake)) match = judge_named(s->r, s->q, s->stage, s->found, &mistake);
    } else if (!answer_read(recorded, s->q->c, &mistake, error, sizeof error))
        match = judge_against(s->r, s->q, s->stage, s->found, &mistake);
    answer_free(&mistake);
    return match;
}

/* those recorded in full first: they say more */
static void try_all_known(const search *s) {
    const cJSON *defects = cJSON_GetObjectItemCaseSensitive(s->q->c->json, "defects");
    for (int brief = 0; brief < 2; brief++)
        for (const cJSON *item = cJSON_IsObject(defects) ? defects->child : NULL; item; item = item->next)
            if (answer_is_brief(item) == brief) try_known(s, item->string, match_known(s, item));
}

/* ---- the right answer, used wrongly --------------------------------------------------------------------------------------------- */

static int all_finite(const numbers *n) {
    for (int64_t k = 0; k < n->count; k++) if (!grpo_is_finite(n->value[k])) return 0;
    return 1;
}

static void try_own_advantages(const search *s) {
    const numbers *own = &s->found->of[OUT_ADVANTAGE];
    answer a;
    if (s->stage != STAGE_LOSS || !own->value || !all_finite(own)) return;
    if (answer_evaluate(s->q->c, &s->q->c->objective, STAGE_LOSS, own->value, &a) && is_same(s, &a))
        explained(s, "the loss is computed from the program's own advantages, not from case.advantage", 0);
    answer_free(&a);
}

typedef struct { const char *name; double value; } quantity;

static int64_t longest(const test_case *c) {
    int64_t most = 0;
    for (int64_t i = 0; i < c->n_sequences; i++) if (c->batch.length[i] > most) most = c->batch.length[i];
    return most;
}

static const char *quantity_named(const question *q, double factor, const char **of) {
    const test_case *c = q->c;
    const case_metric *tokens = case_metric_named(c, "tokens");
    const quantity known[] = {
        { "-1 (the sign is turned)", -1 }, { "2", 2 }, { "the number of sequences", (double)c->n_sequences },
        { "the number of groups", (double)c->batch.n_groups }, { "the number of tokens that count", tokens ? tokens->expect : 0 },
        { "the number of tokens", (double)c->batch.n_tokens }, { "the length of the longest sequence", (double)longest(c) },
        { "the number of ranks", (double)c->ranks }, { "the number of micro-batches", (double)c->n_parts }
    };
    if (factor == 0) { *of = "multiplied"; return "0"; }
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        double v = known[k].value;
        if (v == 0 || v == 1) continue;
        *of = fabs(factor / v - 1) < 1e-6 ? "multiplied" : fabs(factor * v - 1) < 1e-6 ? "divided" : NULL;
        if (*of) return known[k].name;
    }
    return NULL;
}

/* the ratio of found to expected where expected is largest; NaN if there is none */
static double factor_at(const question *q, const answer *found, output_kind output) {
    const numbers *e = &q->expected.of[output], *f = &found->of[output];
    int64_t best = -1;
    double factor;
    for (int64_t k = 0; f->value && k < e->count; k++)
        if (grpo_is_finite(e->value[k]) && e->value[k] != 0 && (best < 0 || fabs(e->value[k]) > fabs(e->value[best]))) best = k;
    if (best < 0) return nan("");
    factor = f->value[best] / e->value[best];
    return grpo_is_finite(factor) ? factor : nan("");
}

static void scale_output(answer *a, output_kind output, const char *key, const test_case *c, double factor) {
    for (int64_t k = 0; a->of[output].value && k < a->of[output].count; k++)
        if (!key || !strcmp(c->report[k].key, key)) a->of[output].value[k] *= factor;
}

/* the right answer with these outputs multiplied */
static answer multiplied(const search *s, unsigned outputs, double factor) {
    answer a = answer_expected(s->q->c);
    for (int k = 0; k < N_OUTPUTS; k++) if (outputs >> k & 1) scale_output(&a, (output_kind)k, NULL, s->q->c, factor);
    if (outputs >> OUT_LOSS & 1) {
        scale_output(&a, OUT_REPORT, "policy_loss", s->q->c, factor);
        scale_output(&a, OUT_REPORT, "penalty_loss", s->q->c, factor);
    }
    return a;
}

/* A factor fits a single number whatever it is: an unnamed one must fit two at least. */
static int has_two_numbers(const answer *found, output_kind output) {
    int n = 0;
    for (int64_t k = 0; found->of[output].value && k < found->of[output].count; k++) {
        double v = found->of[output].value[k];
        n += grpo_is_finite(v) && v != 0;
    }
    return n >= 2;
}

static void name_factor(const search *s, unsigned outputs, const char *of, const char *what, char *name, size_t size) {
    *name = 0;
    for (int k = 0; k < N_OUTPUTS; k++)
        if (outputs >> k & 1 && s->found->of[k].value)
            snprintf(name + strlen(name), size - strlen(name), "%s%s", *name ? " and " : "", output_name[k]);
    snprintf(name + strlen(name), size - strlen(name), " %s by %s", of, what);
}

static void try_factor(const search *s, output_kind lead, unsigned outputs, int any) {
    double own = factor_at(s->q, s->found, lead), factor = own == own ? own : factor_at(s->q, s->found, OUT_LOSS);
    answer a = multiplied(s, outputs, factor);
    char name[200], number[40];
    const char *of = "multiplied", *what;
    if (factor == factor && is_same(s, &a)) {
        what = quantity_named(s->q, factor, &of);
        snprintf(number, sizeof number, "%.6g", factor);
        name_factor(s, outputs, what ? of : "multiplied", what ? what : number, name, sizeof name);
        if (what || (any && has_two_numbers(s->found, lead))) explained(s, name, 0);
    }
    answer_free(&a);
}

/* any: by whatever factor, else by one that means something */
static void try_factors(const search *s, int any) {
    if (s->stage == STAGE_ADVANTAGE) try_factor(s, OUT_ADVANTAGE, 1u << OUT_ADVANTAGE, any);
    if (s->stage != STAGE_LOSS) return;
    try_factor(s, OUT_DLOGP, 1u << OUT_LOSS | 1u << OUT_DLOGP, any);
    try_factor(s, OUT_LOSS, 1u << OUT_LOSS, any);
    try_factor(s, OUT_DLOGP, 1u << OUT_DLOGP, any);
}

/* ---- other objectives ----------------------------------------------------------------------------------------------------------- */

static void swap_output(answer *a, answer *b, output_kind output) {
    numbers n = a->of[output];
    a->of[output] = b->of[output];
    b->of[output] = n;
}

/* the value of one objective with the gradient of another: a stop-gradient too many, or too few, in words of objectives */
static int try_halves(const search *s, answer *a, const char *name) {
    static const char *const where[] = { "in the gradient only", "in the value only" };
    answer right = answer_expected(s->q->c);
    char words[300];
    int same[2];
    swap_output(a, &right, OUT_DLOGP);      /* now `right` has the other's gradient, `a` the other's value */
    same[0] = is_same(s, &right);
    same[1] = is_same(s, a);
    swap_output(a, &right, OUT_DLOGP);
    answer_free(&right);
    for (int k = 0; k < 2; k++) {
        if (!same[k]) continue;
        snprintf(words, sizeof words, "%s, %s", name, where[k]);
        explained(s, words, 0);
    }
    return same[0] || same[1];
}

static int judge_objective(const search *s, answer *a, const char *name) {
    double distance = judge_distance(s->stage, s->found, a);
    if (distance < s->out->nearest_distance) {
        s->out->nearest_distance = distance;
        s->out->nearest = cause_named(s->d, name, 0);
    }
    if (is_same(s, a)) {
        explained(s, name, 0);
        return 1;
    }
    return s->stage == STAGE_LOSS && s->found->of[OUT_DLOGP].value && try_halves(s, a, name);
}

static int64_t cost_of_call(const search *s) { return s->q->c->batch.n_tokens + TOKENS_OF_CALL; }

/* 1: these are its numbers */
static int try_objective(const search *s, const grpo_objective *obj, const char *name) {
    answer a;
    int same = 0;
    s->d->work_left -= cost_of_call(s);
    if (answer_evaluate(s->q->c, obj, s->stage, NULL, &a)) same = judge_objective(s, &a, name);
    answer_free(&a);
    return same;
}

static int explains_another(const diagnostician *d, const char *name) {
    for (ptrdiff_t k = 0; k < arrlen(d->causes); k++)
        if (d->causes[k].explains && !d->causes[k].known && !strcmp(d->causes[k].name, name)) return 1;
    return 0;
}

static void try_changes(const search *s, const change *changes, int explaining) {
    for (ptrdiff_t k = 0; k < arrlen(changes); k++) {
        grpo_objective obj;
        if (explains_another(s->d, changes[k].name) != explaining) continue;
        obj = change_made(&s->q->c->objective, &changes[k]);
        try_objective(s, &obj, changes[k].name);
    }
}

/* the stage of a published objective, whatever was asked for; of those that have the same the first */
static void try_presets(const search *s, int explaining) {
    int count;
    const grpo_preset *preset = grpo_presets(&count);
    const char *what = s->stage == STAGE_LOSS ? "the loss" : "advantages";
    for (int n = 0; n < count; n++) {
        grpo_objective obj;
        char name[120];
        if (preset_first(n, s->stage) != n) continue;
        snprintf(name, sizeof name, "%s as in %s, whatever was asked for", what, preset[n].name);
        if (explains_another(s->d, name) != explaining) continue;
        obj = with_stage_of(&s->q->c->objective, n, s->stage);
        try_objective(s, &obj, name);
    }
}

static int try_pair(const search *s, const change *first, const change *second) {
    grpo_objective obj = change_made(&s->q->c->objective, first);
    char name[220];
    obj = change_made(&obj, second);
    snprintf(name, sizeof name, "%s and %s", first->name, second->name);
    return try_objective(s, &obj, name);
}

static int is_pair(const change *a, const change *b) {
    return a->field && b->field ? a->field != b->field : !changes_same_axis(a, b);
}

static int is_long_for_pairs(const search *s, const change *changes) {
    return arrlen(changes) * arrlen(changes) / 2 * cost_of_call(s) > TOKENS_FOR_PAIRS;
}

static void try_pairs(const search *s, const change *changes) {
    diagnostician *d = s->d;
    for (ptrdiff_t k = 0; k + 1 < arrlen(d->pairs); k += 2) try_pair(s, &d->pairs[k], &d->pairs[k + 1]);
    if (arrlen(s->out->causes) || is_long_for_pairs(s, changes) || d->pairs_left-- <= 0) return;
    for (ptrdiff_t j = 0; j < arrlen(changes); j++)
        for (ptrdiff_t k = j + 1; k < arrlen(changes); k++) {
            if (!is_pair(&changes[j], &changes[k]) || !try_pair(s, &changes[j], &changes[k]) || arrlen(d->pairs) >= KEPT_PAIRS) continue;
            arrput(d->pairs, changes[j]);
            arrput(d->pairs, changes[k]);
        }
}

/* what explained another case comes first, and if it explains this one too nothing else is looked for */
static void search_objectives(const search *s) {
    ptrdiff_t before = arrlen(s->out->causes);
    change *changes;
    if (!case_has_loss(s->q->c) || s->d->work_left <= 0 || s->r->tolerance * s->r->precision->eps > TOO_COARSE) return;
    changes = changes_of(&s->q->c->objective, s->stage);
    for (int explaining = 1; explaining >= 0 && arrlen(s->out->causes) == before; explaining--) {
        try_changes(s, changes, explaining);
        try_presets(s, explaining);
    }
    if (!arrlen(s->out->causes)) try_pairs(s, changes);
    arrfree(changes);
}

/* ---- one case ------------------------------------------------------------------------------------------------------------------- */

static void diagnose_stage(const search *s) {
    try_all_known(s);
    s->out->right_distance = judge_distance(s->stage, s->found, &s->q->expected);
    s->out->nearest_distance = NEAR_ENOUGH * s->out->right_distance;
    if (!s->out->failed) return;
    try_own_advantages(s);
    search_objectives(s);
    try_factors(s, arrlen(s->out->causes) == 0);
}

diagnosis diagnose(diagnostician *d, const rules *r, const question *q, const answer *found, const mismatch *wrong) {
    diagnosis out;
    search s;
    memset(&out, 0, sizeof out);
    s.d = d; s.r = r; s.q = q; s.found = found;
    for (int k = 0; k < N_STAGES; k++) {
        s.stage = (stage_kind)k;
        s.out = &out.stage[k];
        s.out->failed = judge_failed(wrong, s.stage);
        s.out->nearest = -1;
        diagnose_stage(&s);
    }
    return out;
}

void diagnosis_free(diagnosis *d) {
    for (int s = 0; s < N_STAGES; s++) {
        arrfree(d->stage[s].causes);
        arrfree(d->stage[s].refuted);
    }
}
