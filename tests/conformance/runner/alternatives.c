/* The catalogue of changes of an objective: values of fields that presets and programs use, and axes of presets. */
#include "alternatives.h"
#include "text.h"
#include "../../support/field.h"
#include <stb_ds.h>
#include <stdio.h>
#include <stdlib.h>

/* values that programs use, besides those of the presets */
static const struct { const char *path; double value[8]; } common[] = {
    { "reward.kl_coef", { 0, 0.001, 0.01, 0.04, 0.05, 0.1, 1 } },
    { "reward.overlong_factor", { 0, 0.5, 1 } },
    { "advantage.gamma", { 0, 0.95, 0.99, 1 } },
    { "advantage.step_gamma", { 0, 0.95, 0.99, 1 } },
    { "advantage.lambda", { 0, 0.95, 0.97, 1 } },
    { "advantage.eps", { 0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3 } },
    { "advantage.scale_divisor", { 0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3 } },
    { "ratio.clamp_low", { 0, -5, -10, -20, -HUGE_VAL } },
    { "ratio.clamp_high", { 0, 5, 10, 20, HUGE_VAL } },
    { "ratio.level_clamp_low", { 0, -5, -10, -20, -HUGE_VAL } },
    { "ratio.level_clamp_high", { 0, 5, 10, 20, HUGE_VAL } },
    { "surrogate.eps_low", { 0.1, 0.2, 0.27, 3e-4, 3e-3 } },
    { "surrogate.eps_high", { 0.1, 0.2, 0.27, 0.28, 0.3, 4e-4, 4e-3 } },
    { "surrogate.quadratic_eps", { 0.1, 0.2, 0.27, 0.28, 0.3, 4e-4, 4e-3 } },
    { "surrogate.contrast_temperature", { 1, 10 } },
    { "surrogate.contrast_margin", { 0, 0.01 } },
    { "surrogate.clip_dual", { 3, 4, 5, 10 } },
    { "surrogate.weight_min", { 0, 0.8 } },
    { "surrogate.weight_max", { 1, 1.2, 2, 5, HUGE_VAL } },
    { "surrogate.tau_pos", { 1, 1.05, 4 } },
    { "surrogate.advantage_temperature", { 1, 1.05, 4 } },
    { "surrogate.tau_neg", { 1, 1.05, 4 } },
    { "penalty.kl_coef", { 0, 0.001, 0.01, 0.04, 0.1, 1 } },
    { "penalty.kl_clamp_log", { 0, 5, 10, 20 } },
    { "penalty.kl_clamp_value", { 0, 1, 10, 100 } },
    { "penalty.entropy_coef", { 0, 1e-4, 1e-3, 3e-3, 0.01, 0.1 } },
    { "weight.off_policy_mask_threshold", { 0, 1e-4, 0.1, 0.5 } },
    { "weight.rollout_veto", { 0, 1e-4, 1e-3 } },
    { "weight.rollout_is_low", { 0, 0.5, 0.999 } },
    { "weight.rollout_is_high", { 1, 1.001, 2, 3, 5, HUGE_VAL, 10 } },
    { "weight.rollout_clamp", { 0, 10, 20 } },
    { "aggregation.constant", { 1, 1024, 3000 } }
};

/* fields that are often set to the value of another field, times a factor */
static const struct { const char *path, *other; double sign; } twins[] = {
    { "surrogate.eps_high", "surrogate.eps_low", 1 }, { "surrogate.eps_low", "surrogate.eps_high", 1 },
    { "surrogate.quadratic_eps", "surrogate.eps_low", 1 }, { "surrogate.eps_low", "surrogate.quadratic_eps", 1 },
    { "ratio.token_clip_high", "ratio.token_clip_low", 1 }, { "ratio.token_clip_low", "ratio.token_clip_high", 1 },
    { "ratio.clamp_low", "ratio.clamp_high", -1 }, { "ratio.clamp_high", "ratio.clamp_low", -1 },
    { "ratio.level_clamp_low", "ratio.level_clamp_high", -1 }, { "ratio.level_clamp_high", "ratio.level_clamp_low", -1 },
    { "surrogate.tau_pos", "surrogate.tau_neg", 1 }, { "surrogate.tau_neg", "surrogate.tau_pos", 1 },
    { "surrogate.advantage_temperature", "surrogate.tau_neg", 1 }, { "surrogate.tau_neg", "surrogate.advantage_temperature", 1 },
    { "surrogate.vespo_k_pos", "surrogate.vespo_k_neg", 1 }, { "surrogate.vespo_k_neg", "surrogate.vespo_k_pos", 1 },
    { "surrogate.vespo_lambda_pos", "surrogate.vespo_lambda_neg", 1 }, { "surrogate.vespo_lambda_neg", "surrogate.vespo_lambda_pos", 1 },
    { "weight.trust_high", "weight.trust_low", 1 }, { "weight.trust_low", "weight.trust_high", 1 },
    { "penalty.kl_coef", "reward.kl_coef", 1 }, { "reward.kl_coef", "penalty.kl_coef", 1 }
};

static const struct { const char *name, *remark; } remarks[] = {
    { "advantage.std = population", "the deviation's divisor is N instead of N - 1" },
    { "advantage.std = sample", "the deviation's divisor is N - 1 instead of N" },
    { "advantage.baseline = none", "no baseline is subtracted" },
    { "advantage.scale = none", "the advantages are not divided by a deviation" },
    { "aggregation.kind = token_mean", "the loss is one mean over all tokens of the batch" },
    { "aggregation.kind = seq_mean_token_mean", "the loss is the mean over sequences of the mean over their tokens" },
    { "aggregation.kind = token_sum", "the loss is a sum over all tokens, without a divisor" },
    { "ratio.gradient = token", "the gradient flows through each token's own log-probability only, not through its whole response" },
    { "ratio.gradient = full", "the gradient flows through the log-probabilities of the whole response, not only each token's own" },
    { "ratio.level = token", "each token has its own ratio" },
    { "ratio.level = sequence_mean", "the ratio is that of the whole response, normalised by length" },
    { "ratio.level = sequence_sum", "the ratio is that of the whole response, not normalised by length" },
    { "ratio.behaviour = rollout", "the ratio's denominator is logp_rollout" },
    { "ratio.behaviour = old", "the ratio's denominator is logp_old" },
    { "surrogate.eps_low = 10", "the clip has no lower bound: 1 - 10 is below every ratio" },
    { "advantage.eps = 0", "the deviation has no epsilon" },
    { "advantage.eps = 0.0001", "the deviation has the epsilon 1e-4" },
    { "advantage.eps = 1e-06", "the deviation has the epsilon 1e-6" },
    { "advantage.eps = 1e-08", "the deviation has the epsilon 1e-8" },
    { "penalty.kl_coef = 0", "the KL penalty is missing" },
    { "penalty.kl = none", "the KL penalty is missing" },
    { "penalty.kl = k1", "the KL estimator is D" },
    { "weight.rollout_is = none", "the rollout correction is missing" },
    { "weight.truncated = keep", "truncated responses are not masked" }
};

#define COUNT_OF(table) (sizeof table / sizeof *table)

const char *change_remark(const char *name) {
    for (size_t k = 0; k < COUNT_OF(remarks); k++) if (!strcmp(remarks[k].name, name)) return remarks[k].remark;
    return NULL;
}

/* ---- axes and objectives -------------------------------------------------------------------------------------------------------- */

static int same_axis(const char *a, const char *b) {
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && !strncmp(a, b, length);
}

/* the axes before `ratio`, reward and advantage, are of the advantage stage */
stage_kind stage_of_field(const grpo_field *field) {
    return field->offset < offsetof(grpo_objective, ratio) ? STAGE_ADVANTAGE : STAGE_LOSS;
}

static int same_in_fields(const grpo_objective *a, const grpo_objective *b, const grpo_field *from, const grpo_field *to) {
    for (const grpo_field *f = from; f < to; f++) if (grpo_objective_get(a, f) != grpo_objective_get(b, f)) return 0;
    return 1;
}

int same_objective(const grpo_objective *a, const grpo_objective *b) {
    int count;
    const grpo_field *field = grpo_fields(&count);
    return same_in_fields(a, b, field, field + count);
}

int same_in_stage(const grpo_objective *a, const grpo_objective *b, stage_kind stage) {
    int count;
    const grpo_field *field = grpo_fields(&count);
    for (int n = 0; n < count; n++)
        if (stage_of_field(&field[n]) == stage && grpo_objective_get(a, &field[n]) != grpo_objective_get(b, &field[n])) return 0;
    return 1;
}

/* ---- the presets, collected once ------------------------------------------------------------------------------------------------ */

typedef struct {
    int n_fields, n_presets;
    const grpo_field *field;
    const grpo_preset *preset;
    grpo_objective *objective;      /* (n_presets) */
    int *first[N_STAGES];           /* (n_presets): the first preset that is identical in the stage */
    double **numbers;               /* (n_fields) stb_ds arrays: the values that the presets and programs have of a number, each once */
    int **rows;                     /* (n_fields) stb_ds arrays: at the first field of an axis, a preset for each setting of the axis */
} catalogue;

static void put_number(double **list, double value) {
    for (ptrdiff_t k = 0; k < arrlen(*list); k++) if ((*list)[k] == value) return;
    arrput(*list, value);
}

static void list_numbers(catalogue *c, int n) {
    for (size_t k = 0; k < COUNT_OF(common); k++)
        for (int j = 0; j < 8 && !strcmp(common[k].path, c->field[n].path); j++) put_number(&c->numbers[n], common[k].value[j]);
    for (int j = 0; j < c->n_presets; j++) put_number(&c->numbers[n], grpo_objective_get(&c->objective[j], &c->field[n]));
}

static const grpo_field *end_of_axis(const catalogue *c, const grpo_field *first) {
    const grpo_field *end = first;
    while (end < c->field + c->n_fields && same_axis(end->path, first->path)) end++;
    return end;
}

static void list_rows(catalogue *c, int n) {
    const grpo_field *from = &c->field[n], *to = end_of_axis(c, from);
    for (int j = 0; j < c->n_presets; j++) {
        ptrdiff_t k = 0;
        while (k < arrlen(c->rows[n]) && !same_in_fields(&c->objective[j], &c->objective[c->rows[n][k]], from, to)) k++;
        if (k == arrlen(c->rows[n])) arrput(c->rows[n], j);
    }
}

static void list_firsts(catalogue *c, stage_kind stage) {
    c->first[stage] = calloc((size_t)c->n_presets, sizeof **c->first);
    if (!c->first[stage]) abort();
    for (int j = 0; j < c->n_presets; j++)
        while (!same_in_stage(&c->objective[c->first[stage][j]], &c->objective[j], stage)) c->first[stage][j]++;
}

static int is_first_of_axis(const catalogue *c, int n) { return n == 0 || !same_axis(c->field[n - 1].path, c->field[n].path); }

static void read_catalogue(catalogue *c) {
    c->field = grpo_fields(&c->n_fields);
    c->preset = grpo_presets(&c->n_presets);
    c->objective = calloc((size_t)c->n_presets, sizeof *c->objective);
    c->numbers = calloc((size_t)c->n_fields, sizeof *c->numbers);
    c->rows = calloc((size_t)c->n_fields, sizeof *c->rows);
    if (!c->objective || !c->numbers || !c->rows) abort();
    for (int j = 0; j < c->n_presets; j++) c->objective[j] = grpo_objective_from_preset(&c->preset[j]);
    for (int n = 0; n < c->n_fields; n++) {
        if (!c->field[n].choices) list_numbers(c, n);
        if (is_first_of_axis(c, n)) list_rows(c, n);
    }
    list_firsts(c, STAGE_ADVANTAGE);
    list_firsts(c, STAGE_LOSS);
}

/* filled by the first call */
static const catalogue *presets_known(void) {
    static catalogue c;
    if (!c.field) read_catalogue(&c);
    return &c;
}

const grpo_objective *preset_objective(int n) { return &presets_known()->objective[n]; }
int preset_first(int n, stage_kind stage) { return presets_known()->first[stage][n]; }

grpo_objective with_stage_of(const grpo_objective *asked, int preset, stage_kind stage) {
    const catalogue *c = presets_known();
    grpo_objective obj = *asked;
    for (const grpo_field *f = c->field; f < c->field + c->n_fields; f++)
        if (stage_of_field(f) == stage) field_set(&obj, f, grpo_objective_get(&c->objective[preset], f));
    return obj;
}

grpo_objective change_made(const grpo_objective *asked, const change *made) {
    const catalogue *c = presets_known();
    grpo_objective obj = *asked;
    if (made->field) field_set(&obj, made->field, made->value);
    else {
        const grpo_objective *like = &c->objective[made->like - c->preset];
        for (const grpo_field *f = made->axis_from; f < made->axis_to; f++) field_set(&obj, f, grpo_objective_get(like, f));
    }
    return obj;
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------- */

typedef struct { const catalogue *known; const grpo_objective *asked; change *changes; } collection;

/* would the change give a weight with upper bound 0?  Then the loss is 0 for every program, and identifies nothing */
static int is_nothing(const collection *all, const grpo_field *field, double value) {
    const int weighs = value == GRPO_SURROGATE_CISPO || value == GRPO_SURROGATE_MASKED_WEIGHT || value == GRPO_SURROGATE_DISPO;
    return field->offset == offsetof(grpo_objective, surrogate.kind) && weighs && all->asked->surrogate.weight_max == 0;
}

static void collect_value(collection *all, const grpo_field *field, double value) {
    change c;
    if (value == grpo_objective_get(all->asked, field) || is_nothing(all, field, value)) return;
    memset(&c, 0, sizeof c);
    c.field = field;
    c.value = value;
    if (field->n_choices) {
        int length;
        const char *choice = field_choice(field, value, &length);
        snprintf(c.name, sizeof c.name, "%s = %.*s", field->path, length, choice);
    } else snprintf(c.name, sizeof c.name, "%s = %.6g", field->path, value);
    arrput(all->changes, c);
}

static void collect_choices(collection *all, const grpo_field *field) {
    for (int k = 0; k < field->n_choices; k++) collect_value(all, field, k);
}

static void collect_numbers(collection *all, int n) {
    const catalogue *c = all->known;
    double *values = NULL;
    for (size_t k = 0; k < COUNT_OF(twins); k++)
        if (!strcmp(twins[k].path, c->field[n].path))
            put_number(&values, twins[k].sign * grpo_objective_get(all->asked, field_named(twins[k].other)));
    for (ptrdiff_t k = 0; k < arrlen(c->numbers[n]); k++) put_number(&values, c->numbers[n][k]);
    for (ptrdiff_t k = 0; k < arrlen(values); k++) collect_value(all, &c->field[n], values[k]);
    arrfree(values);
}

static int fields_changed(const collection *all, const change *c) {
    grpo_objective obj = change_made(all->asked, c);
    int changed = 0;
    for (const grpo_field *f = c->axis_from; f < c->axis_to; f++)
        changed += grpo_objective_get(&obj, f) != grpo_objective_get(all->asked, f);
    return changed;
}

/* presets that differ in only one field of the axis are left out: they are changes of a field */
static void collect_axis(collection *all, int n) {
    const catalogue *known = all->known;
    for (ptrdiff_t k = 0; k < arrlen(known->rows[n]); k++) {
        change c;
        memset(&c, 0, sizeof c);
        c.like = &known->preset[known->rows[n][k]];
        c.axis_from = &known->field[n];
        c.axis_to = end_of_axis(known, c.axis_from);
        if (fields_changed(all, &c) < 2) continue;
        snprintf(c.name, sizeof c.name, "%.*s as in %s", (int)strcspn(c.axis_from->path, "."), c.axis_from->path, c.like->name);
        arrput(all->changes, c);
    }
}

char *change_fields(const change *made) {
    const catalogue *c = presets_known();
    char *t = NULL;
    int told = 0;
    for (const grpo_field *f = made->axis_from; !made->field && made->like && f < made->axis_to; f++) {
        const double value = grpo_objective_get(&c->objective[made->like - c->preset], f);
        int length;
        if (value == 0) continue;
        if (!told++) text_format(&t, "%s: ", made->name);
        else text_add(&t, ", ");
        text_format(&t, "%s = ", f->path);
        if (f->n_choices) {
            const char *choice = field_choice(f, value, &length);
            text_format(&t, "%.*s", length, choice);
        } else text_format(&t, "%.6g", value);
    }
    if (!told && !made->field && made->like) text_format(&t, "%s: every field is 0 or its first choice", made->name);
    return text_string(&t);
}

change *changes_of(const grpo_objective *asked, stage_kind stage) {
    collection all;
    const catalogue *c = presets_known();
    all.known = c;
    all.asked = asked;
    all.changes = NULL;
    for (int n = 0; n < c->n_fields; n++)
        if (c->field[n].choices && stage_of_field(&c->field[n]) == stage) collect_choices(&all, &c->field[n]);
    for (int n = 0; n < c->n_fields; n++)
        if (!c->field[n].choices && stage_of_field(&c->field[n]) == stage) collect_numbers(&all, n);
    for (int n = 0; n < c->n_fields; n++)
        if (is_first_of_axis(c, n) && stage_of_field(&c->field[n]) == stage) collect_axis(&all, n);
    return all.changes;
}
