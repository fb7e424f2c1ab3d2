#include "alternatives.h"
#include <stb_ds.h>
#include <stdio.h>

/* values that are met in programs; those of the presets are taken from the presets */
static const struct { const char *path; double value[8]; } common[] = {
    { "reward.kl_coef", { 0, 0.001, 0.01, 0.04, 0.05, 0.1, 1 } },
    { "reward.overlong_factor", { 0, 0.5, 1 } },
    { "advantage.gamma", { 0, 0.95, 0.99, 1 } },
    { "advantage.lambda", { 0, 0.95, 0.97, 1 } },
    { "advantage.eps", { 0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3 } },
    { "ratio.clamp_low", { 0, -5, -10, -20, -HUGE_VAL } },
    { "ratio.clamp_high", { 0, 5, 10, 20, HUGE_VAL } },
    { "ratio.unit_clamp_low", { 0, -5, -10, -20, -HUGE_VAL } },
    { "ratio.unit_clamp_high", { 0, 5, 10, 20, HUGE_VAL } },
    { "surrogate.eps_low", { 0.1, 0.2, 0.27, 3e-4, 3e-3 } },
    { "surrogate.eps_high", { 0.1, 0.2, 0.27, 0.28, 0.3, 4e-4, 4e-3 } },
    { "surrogate.dual", { 3, 4, 5, 10 } },
    { "surrogate.weight_min", { 0, 0.8 } },
    { "surrogate.weight_max", { 1, 1.2, 2, 5, HUGE_VAL } },
    { "surrogate.tau_pos", { 1, 1.05, 4 } },
    { "surrogate.tau_neg", { 1, 1.05, 4 } },
    { "penalty.kl_coef", { 0, 0.001, 0.01, 0.04, 0.1, 1 } },
    { "penalty.kl_clamp_log", { 0, 5, 10, 20 } },
    { "penalty.kl_clamp_value", { 0, 1, 10, 100 } },
    { "weight.correction_low", { 0, 0.5, 0.999 } },
    { "weight.correction_high", { 1, 1.001, 2, 3, 5, 10, HUGE_VAL } },
    { "weight.correction_clamp", { 0, 10, 20 } },
    { "aggregation.constant", { 1, 1024, 3000 } }
};

/* fields that are often set to what another one says */
static const struct { const char *path, *other; double sign; } twins[] = {
    { "surrogate.eps_high", "surrogate.eps_low", 1 }, { "surrogate.eps_low", "surrogate.eps_high", 1 },
    { "ratio.pool_high", "ratio.pool_low", 1 }, { "ratio.pool_low", "ratio.pool_high", 1 },
    { "ratio.clamp_low", "ratio.clamp_high", -1 }, { "ratio.clamp_high", "ratio.clamp_low", -1 },
    { "ratio.unit_clamp_low", "ratio.unit_clamp_high", -1 }, { "ratio.unit_clamp_high", "ratio.unit_clamp_low", -1 },
    { "surrogate.tau_pos", "surrogate.tau_neg", 1 }, { "surrogate.tau_neg", "surrogate.tau_pos", 1 },
    { "surrogate.k_pos", "surrogate.k_neg", 1 }, { "surrogate.k_neg", "surrogate.k_pos", 1 },
    { "surrogate.lambda_pos", "surrogate.lambda_neg", 1 }, { "surrogate.lambda_neg", "surrogate.lambda_pos", 1 },
    { "penalty.kl_coef", "reward.kl_coef", 1 }, { "reward.kl_coef", "penalty.kl_coef", 1 }
};

static const struct { const char *name, *remark; } remarks[] = {
    { "advantage.std = population", "the deviation's divisor is N instead of N - 1" },
    { "advantage.std = sample", "the deviation's divisor is N - 1 instead of N" },
    { "advantage.baseline = none", "no baseline is subtracted" },
    { "advantage.scale = none", "there is no division by the deviation" },
    { "aggregation.kind = token_mean", "one mean over all tokens of the batch" },
    { "aggregation.kind = seq_mean_token_mean", "a mean over sequences of means over their tokens" },
    { "aggregation.kind = token_sum", "no divisor" },
    { "ratio.gradient = token", "the gradient does not go through the whole unit" },
    { "ratio.gradient = unit", "the gradient goes through the whole unit" },
    { "ratio.unit = token", "the ratio is each token's own" },
    { "ratio.unit = sequence_mean", "the ratio is the whole response's, length-normalised" },
    { "ratio.unit = sequence_sum", "the ratio is the whole response's, not length-normalised" },
    { "ratio.against = rollout", "the ratio's denominator is logp_rollout" },
    { "ratio.against = old", "the ratio's denominator is logp_old" },
    { "penalty.kl_coef = 0", "the KL penalty is missing" },
    { "penalty.kl = none", "the KL penalty is missing" },
    { "penalty.kl = k1", "the estimator is D instead of e^-D + D - 1" },
    { "weight.correction = none", "the rollout correction is missing" },
    { "weight.truncated = keep", "truncated responses are not masked" }
};

#define COUNT_OF(table) (sizeof table / sizeof *table)

const char *change_remark(const char *name)
{
    for (size_t k = 0; k < COUNT_OF(remarks); k++) if (!strcmp(remarks[k].name, name)) return remarks[k].remark;
    return NULL;
}

/* ---- axes and objectives -------------------------------------------------------------------------------------------------------- */

static int same_axis(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && !strncmp(a, b, length);
}

stage_kind stage_of_field(const grpo_field *field)
{
    return same_axis(field->path, "reward.") || same_axis(field->path, "advantage.") ? STAGE_ADVANTAGE : STAGE_LOSS;
}

int same_objective(const grpo_objective *a, const grpo_objective *b)
{
    int count;
    const grpo_field *field = grpo_fields(&count);
    for (int n = 0; n < count; n++) if (grpo_objective_get(a, &field[n]) != grpo_objective_get(b, &field[n])) return 0;
    return 1;
}

static const char *changed_axis(const change *made) { return made->field ? made->field->path : made->axis; }
int changes_same_axis(const change *a, const change *b) { return same_axis(changed_axis(a), changed_axis(b)); }

grpo_objective change_made(const grpo_objective *asked, const change *made)
{
    grpo_objective obj = *asked;
    int count;
    const grpo_field *field = grpo_fields(&count);
    if (made->field) grpo_objective_set(&obj, made->field->path, made->value);
    else
        for (int n = 0; n < count; n++)
            if (same_axis(field[n].path, made->axis))
                grpo_objective_set(&obj, field[n].path, grpo_objective_get(&made->like->objective, &field[n]));
    return obj;
}

/* ---- the list ------------------------------------------------------------------------------------------------------------------- */

typedef struct { const grpo_objective *asked; grpo_objective *made; change *changes; } collection;

static void collect(collection *all, const change *c)
{
    grpo_objective obj = change_made(all->asked, c);
    if (same_objective(&obj, all->asked)) return;
    for (ptrdiff_t k = 0; k < arrlen(all->made); k++) if (same_objective(&obj, &all->made[k])) return;
    arrput(all->made, obj);
    arrput(all->changes, *c);
}

static void collect_value(collection *all, const grpo_field *field, double value)
{
    change c;
    const char *choice = field->choices;
    memset(&c, 0, sizeof c);
    c.field = field;
    c.value = value;
    for (int k = 0; choice && k < (int)value; k++) choice = strchr(choice, '|') + 1;
    if (choice) snprintf(c.name, sizeof c.name, "%s = %.*s", field->path, (int)strcspn(choice, "|"), choice);
    else snprintf(c.name, sizeof c.name, "%s = %.6g", field->path, value);
    collect(all, &c);
}

static void collect_choices(collection *all, const grpo_field *field)
{
    int last = 0;
    for (const char *p = field->choices; *p; p++) last += *p == '|';
    for (int k = 0; k <= last; k++) collect_value(all, field, k);
}

static const grpo_field *field_named(const char *path)
{
    int count;
    const grpo_field *field = grpo_fields(&count);
    for (int n = 0; n < count; n++) if (!strcmp(field[n].path, path)) return &field[n];
    return NULL;
}

static void collect_numbers(collection *all, const grpo_field *field)
{
    int n_presets;
    const grpo_preset *preset = grpo_presets(&n_presets);
    for (size_t k = 0; k < COUNT_OF(twins); k++)
        if (!strcmp(twins[k].path, field->path))
            collect_value(all, field, twins[k].sign * grpo_objective_get(all->asked, field_named(twins[k].other)));
    for (size_t k = 0; k < COUNT_OF(common); k++)
        for (int n = 0; n < 8 && !strcmp(common[k].path, field->path); n++) collect_value(all, field, common[k].value[n]);
    for (int n = 0; n < n_presets; n++) collect_value(all, field, grpo_objective_get(&preset[n].objective, field));
}

static void collect_axis(collection *all, const char *path)
{
    int n_presets;
    const grpo_preset *preset = grpo_presets(&n_presets);
    for (int n = 0; n < n_presets; n++) {
        change c;
        memset(&c, 0, sizeof c);
        c.like = &preset[n];
        c.axis = path;
        snprintf(c.name, sizeof c.name, "%.*s as in %s", (int)strcspn(path, "."), path, preset[n].name);
        collect(all, &c);
    }
}

change *changes_of(const grpo_objective *asked, stage_kind stage)
{
    collection all = { NULL, NULL, NULL };
    int count;
    const grpo_field *field = grpo_fields(&count);
    all.asked = asked;
    for (int n = 0; n < count; n++)
        if (field[n].choices && stage_of_field(&field[n]) == stage) collect_choices(&all, &field[n]);
    for (int n = 0; n < count; n++)
        if (!field[n].choices && stage_of_field(&field[n]) == stage) collect_numbers(&all, &field[n]);
    for (int n = 0; n < count; n++) {
        int first = n == 0 || !same_axis(field[n - 1].path, field[n].path);
        if (first && stage_of_field(&field[n]) == stage) collect_axis(&all, field[n].path);
    }
    arrfree(all.made);
    return all.changes;
}
