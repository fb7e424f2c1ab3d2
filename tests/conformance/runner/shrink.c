/* Removes groups, responses, tokens, arrays, fields and digits from a request while a relation still does not hold. */
#include "shrink.h"
#include "request.h"
#include "text.h"
#include <stdlib.h>
#include <stdio.h>

enum { MOST_TRIALS = 3000 };
/* A reduced request has no scale in the vectors, only the size of its answers: differences below this share of it may be rounding. */
#define VISIBLE 1e-6

typedef struct {
    const asker *a;
    const relation *rel;
    int fixed, outputs, trials;
    trial best;
} shrinker;

/* ---- does it still not hold? ---------------------------------------------------------------------------------------------------- */

/* can the headers evaluate the objective on the batch? */
static int is_sound(const cJSON *request) {
    test_case c;
    answer found;
    char error[200];
    int sound;
    if (case_request_read(request, &c, error, sizeof error)) return 0;
    sound = c.kind != CASE_OBJECTIVE;
    if (!sound) {
        sound = c.given != NULL;
        if (!sound && answer_evaluate(&c, &c.objective, STAGE_ADVANTAGE, NULL, &found)) { sound = 1; answer_free(&found); }
        if (sound) sound = answer_evaluate(&c, &c.objective, STAGE_LOSS, NULL, &found);
        if (sound) answer_free(&found);
    }
    case_free(&c);
    return sound;
}

/* tries the relation on the request; 0 if it holds, or if the request (after `prepare`) is the same as the best one */
static int still_broken(shrinker *s, cJSON *request, trial *t) {
    const int outputs = s->fixed ? s->outputs : s->rel->holds(request) & s->outputs;
    memset(t, 0, sizeof *t);
    if (s->rel->prepare) s->rel->prepare(request);
    if (cJSON_Compare(request, s->best.request, 1)) return 0;
    if (s->trials >= MOST_TRIALS || !outputs || (!s->fixed && !is_sound(request))) return 0;
    s->trials++;
    *t = relation_try(s->a, s->rel, request, NULL, NULL, outputs);
    return t->kind == TRIAL_BROKEN && t->changed_answer;
}

/* takes ownership of the request; keeps it as the best one if the relation still does not hold there */
static int keep_if_broken(shrinker *s, cJSON *smaller) {
    trial t;
    int broken = still_broken(s, smaller, &t);
    cJSON_Delete(smaller);
    if (broken) {
        trial_free(&s->best);
        s->best = t;
    } else trial_free(&t);
    return broken;
}

static cJSON *copy_of_best(const shrinker *s) { return cJSON_Duplicate(s->best.request, 1); }

/* ---- fewer responses and tokens ------------------------------------------------------------------------------------------------- */

static int drop_groups(shrinker *s) {
    int dropped = 0;
    for (int g = request_groups(s->best.request) - 1; g >= 0 && request_groups(s->best.request) > 1; g--) {
        int *groups = NULL, n = request_groups(s->best.request);
        selection left;
        cJSON *smaller = copy_of_best(s);
        for (int k = 0; k < n; k++) if (k != g) arrput(groups, k);
        left = selection_of_groups(smaller, groups, n - 1);
        request_select(smaller, &left);
        selection_free(&left);
        arrfree(groups);
        dropped += keep_if_broken(s, smaller);
    }
    return dropped;
}

static selection everything(const cJSON *request) {
    int *groups = NULL;
    selection s;
    for (int k = 0; k < request_groups(request) || !k; k++) arrput(groups, k);
    s = selection_of_groups(request, groups, (int)arrlen(groups));
    arrfree(groups);
    return s;
}

static int drop_responses(shrinker *s) {
    int dropped = 0;
    for (int i = request_sequences(s->best.request) - 1; i >= 0 && request_sequences(s->best.request) > 1; i--) {
        cJSON *smaller = copy_of_best(s);
        selection left = everything(smaller);
        selection_drop(&left, i);
        request_select(smaller, &left);
        selection_free(&left);
        dropped += keep_if_broken(s, smaller);
    }
    return dropped;
}

/* drops half of the tokens of long responses at once */
static int halve_responses(shrinker *s) {
    int dropped = 0;
    for (int i = 0; i < request_sequences(s->best.request); i++)
        for (int n = request_length(s->best.request, i); n > 4; n = request_length(s->best.request, i)) {
            cJSON *smaller = copy_of_best(s);
            for (int t = n - 1; t >= n / 2; t--) request_drop_token(smaller, i, t);
            if (!keep_if_broken(s, smaller)) break;
            dropped++;
        }
    return dropped;
}

static int drop_tokens(shrinker *s) {
    int dropped = 0;
    for (int i = 0; i < request_sequences(s->best.request); i++)
        for (int t = request_length(s->best.request, i) - 1; t >= 0 && request_length(s->best.request, i) > 1; t--) {
            cJSON *smaller = copy_of_best(s);
            request_drop_token(smaller, i, t);
            dropped += keep_if_broken(s, smaller);
        }
    return dropped;
}

/* ---- fewer arrays and fields ---------------------------------------------------------------------------------------------------- */

static int drop_keys(shrinker *s, const char *inside) {
    static const char *const kept = " id kind objective batch advantage group length logp target temperature logits hidden weight "
        "parts ranks ";
    cJSON *now = copy_of_best(s), *object = inside ? json_get(now, inside) : now;
    int dropped = 0;
    for (const cJSON *item = object ? object->child : NULL; item; item = item->next) {
        cJSON *smaller = copy_of_best(s);
        char word[80];
        snprintf(word, sizeof word, " %s ", item->string);
        if (strstr(kept, word) && !(inside && !strcmp(item->string, "advantage"))) { cJSON_Delete(smaller); continue; }
        cJSON_DeleteItemFromObjectCaseSensitive(inside ? json_get(smaller, inside) : smaller, item->string);
        dropped += keep_if_broken(s, smaller);
    }
    cJSON_Delete(now);
    return dropped;
}

/* sets fields to their defaults, all of an axis at once where the relation then still does not hold */
static int reset_fields(shrinker *s) {
    cJSON *now = copy_of_best(s), *objective = json_get(now, "objective");
    int dropped = 0;
    for (const cJSON *axis = objective ? objective->child : NULL; axis; axis = axis->next) {
        cJSON *smaller = copy_of_best(s);
        for (const cJSON *field = axis->child; field; field = field->next) request_reset(smaller, axis->string, field->string);
        if (keep_if_broken(s, smaller)) { dropped++; continue; }
        for (const cJSON *field = axis->child; field; field = field->next) {
            smaller = copy_of_best(s);
            request_reset(smaller, axis->string, field->string);
            dropped += keep_if_broken(s, smaller);
        }
    }
    cJSON_Delete(now);
    return dropped;
}

/* ---- fewer digits --------------------------------------------------------------------------------------------------------------- */

static int round_numbers(cJSON *item, double steps) {
    int changed = 0;
    if (cJSON_IsNumber(item)) {
        double x = floor(item->valuedouble * steps + 0.5) / steps;
        changed = x != item->valuedouble;
        if (changed) cJSON_SetNumberHelper(item, x);
    }
    for (cJSON *child = item->child; child; child = child->next) changed |= round_numbers(child, steps);
    return changed;
}

static int keep_rounded(shrinker *s, const char *inside, const char *key) {
    for (double steps = 1; steps <= 16; steps *= 2) {
        cJSON *smaller = copy_of_best(s), *array = json_get(inside ? json_get(smaller, inside) : smaller, key);
        if (!array || !round_numbers(array, steps)) { cJSON_Delete(smaller); return 0; }
        if (keep_if_broken(s, smaller)) return 1;
    }
    return 0;
}

static int round_arrays(shrinker *s, const char *inside) {
    cJSON *now = copy_of_best(s), *object = inside ? json_get(now, inside) : now;
    int rounded = 0;
    for (const cJSON *item = object ? object->child : NULL; item; item = item->next)
        if (cJSON_IsArray(item) && strcmp(item->string, "parts")) rounded += keep_rounded(s, inside, item->string);
    cJSON_Delete(now);
    return rounded;
}

/* ---- together ------------------------------------------------------------------------------------------------------------------- */

static int shrink_once(shrinker *s) {
    int smaller = drop_groups(s) + drop_responses(s) + halve_responses(s) + drop_tokens(s) + drop_keys(s, "batch") + drop_keys(s, NULL);
    if (!s->fixed) smaller += reset_fields(s);
    return smaller + round_arrays(s, "batch") + round_arrays(s, NULL);
}

static void add(char **t, const char *key, const cJSON *item) {
    text_format(t, ",\"%s\":", key);
    if (item) text_json(t, item);
    else text_add(t, "null");
}

/* leaves the report out, which is long, unless the wrong number is in it */
static void drop_report(cJSON *of, const char *output) {
    if (strcmp(output, "report")) cJSON_DeleteItemFromObjectCaseSensitive(of, "report");
}

static char *write_case(const relation *rel, const trial *t) {
    char *text = NULL;
    drop_report(t->answer, t->output);
    drop_report(t->changed_answer, t->output);
    text_add(&text, "{\"relation\":");
    text_quoted(&text, rel->name);
    text_add(&text, ",\"broken\":");
    text_quoted(&text, t->what);
    add(&text, "case", t->request);
    add(&text, "answer", t->answer);
    add(&text, "changed", t->changed);
    add(&text, "changed_answer", t->changed_answer);
    text_add(&text, "}");
    return text_string(&text);
}

char *shrink(const asker *a, const relation *rel, const trial *found, int outputs, int fixed) {
    rules coarse = *a->r;
    asker with = *a;
    shrinker s;
    char *text;
    memset(&s, 0, sizeof s);
    if (rel->change) coarse.tolerance = fmax(coarse.tolerance, VISIBLE / coarse.precision->eps);   /* finite differences have a bound */
    with.r = &coarse;
    s.a = &with;
    s.rel = rel;
    s.fixed = fixed;
    s.outputs = outputs;
    s.best = *found;
    s.best.what = NULL;
    s.best.request = cJSON_Duplicate(found->request, 1);
    s.best.answer = cJSON_Duplicate(found->answer, 1);
    s.best.changed = cJSON_Duplicate(found->changed, 1);
    s.best.changed_answer = cJSON_Duplicate(found->changed_answer, 1);
    text = NULL;
    text_add(&text, found->what);
    s.best.what = text_string(&text);
    while (shrink_once(&s)) { }
    text = write_case(rel, &s.best);
    trial_free(&s.best);
    return text;
}
