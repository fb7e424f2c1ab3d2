/* field_coverage DIRECTORY: every choice and every number of an objective occurs in a vector in which changing it changes an output. */
#include "../support/check.h"
#include "../support/compare.h"
#include "../support/field.h"
#include <stb_ds.h>

typedef struct {
    const grpo_field *field;
    int choice;             /* -1: the field is a number */
    int met;                /* 1: a vector has the choice, or a number other than 0 */
    int alive;              /* 1: in some vector, changing this field alone changes an output */
} setting;

/* ---- the settings ------------------------------------------------------------------------------------------------------------------ */

static setting *all_settings(void) {
    int n, count;
    const grpo_field *field = grpo_fields(&count);
    setting *settings = NULL;
    for (n = 0; n < count; n++) {
        for (int choice = field[n].n_choices ? 0 : -1; choice < field[n].n_choices; choice++) {
            setting k = { &field[n], choice, 0, 0 };
            arrput(settings, k);
        }
    }
    return settings;
}

static const char *setting_name(const setting *k, char *buffer, size_t size) {
    const char *name;
    int length;
    if (k->choice < 0) return k->field->path;
    name = field_choice(k->field, k->choice, &length);
    snprintf(buffer, size, "%s = %.*s", k->field->path, length, name);
    return buffer;
}

static int setting_in(const setting *k, const test_case *c) {
    double value = grpo_objective_get(&c->objective, k->field);
    return k->choice < 0 ? value != 0 : value == k->choice;
}

/* ---- changing a setting --------------------------------------------------------------------------------------------------------- */

typedef struct { outcome advantages, loss; } evaluation;

static evaluation evaluate(const test_case *c, const grpo_objective *obj) {
    evaluation e;
    memset(&e, 0, sizeof e);
    if (!c->given) e.advantages = outcome_of_advantages(c, obj);
    if (!e.advantages.status) e.loss = outcome_of_parts(c, obj, c->given ? c->given : e.advantages.advantage, gspo_loss_add);
    return e;
}

static void evaluation_free(evaluation *e) {
    outcome_free(&e->advantages);
    outcome_free(&e->loss);
}

/* does setting the field to value change an output?  0 if the changed objective is refused */
static int turn_changes(const test_case *c, const evaluation *before, const grpo_field *field, double value) {
    grpo_objective obj = c->objective;
    evaluation after;
    int changed;
    if (grpo_objective_set(&obj, field->path, value)) return 0;
    after = evaluate(c, &obj);
    changed = !after.advantages.status && !after.loss.status
           && (outcome_difference(&before->advantages, &after.advantages) || outcome_difference(&before->loss, &after.loss));
    evaluation_free(&after);
    return changed;
}

static int number_alive(const setting *k, const test_case *c, const evaluation *before) {
    double value = grpo_objective_get(&c->objective, k->field);
    return turn_changes(c, before, k->field, 1.5 * value) || turn_changes(c, before, k->field, 0.5 * value);
}

/* a choice has an effect if changing from it or to it has: a field that is "none" in a case may read numbers that the case leaves at 0 */
static int choice_alive(const setting *k, const test_case *c, const evaluation *before) {
    if (!setting_in(k, c)) return turn_changes(c, before, k->field, k->choice);
    for (int other = 0; other < k->field->n_choices; other++)
        if (other != k->choice && turn_changes(c, before, k->field, other)) return 1;
    return 0;
}

static void turn_all(setting *settings, const test_case *c) {
    evaluation before = evaluate(c, &c->objective);
    int refused = !check(!before.advantages.status && !before.loss.status, "%s: refused", c->id);
    for (ptrdiff_t n = 0; n < arrlen(settings) && !refused; n++) {
        setting *k = &settings[n];
        if (setting_in(k, c)) k->met = 1;
        if (!k->alive) k->alive = k->choice < 0 ? number_alive(k, c, &before) : choice_alive(k, c, &before);
    }
    evaluation_free(&before);
}

/* ---- all vectors ---------------------------------------------------------------------------------------------------------------- */

static void turn_file(void *settings, const char *name, const case_file *file) {
    (void)name;
    for (int64_t k = 0; k < file->n_cases; k++)
        if (file->cases[k].kind == CASE_OBJECTIVE) turn_all(settings, &file->cases[k]);
}

int main(int argc, char **argv) {
    setting *settings = all_settings();
    char name[160];
    if (argc != 2) return fputs("usage: field_coverage DIRECTORY\n", stderr), 2;
    check(!case_each_file(argv[1], turn_file, settings), "%s: not all can be read", argv[1]);
    for (ptrdiff_t n = 0; n < arrlen(settings); n++) {
        const char *text = setting_name(&settings[n], name, sizeof name);
        if (check(settings[n].met, "%s: in no vector", text)) check(settings[n].alive, "%s: makes no difference in any vector", text);
    }
    arrfree(settings);
    return check_summary();
}
