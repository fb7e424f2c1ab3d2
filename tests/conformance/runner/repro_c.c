/* --repro --format c: writes the case as a C file: arrays in structs, a function to fill in, and a main that prints the wrong numbers. */
#include "repro.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { IN_A_LINE = 6 };

/* ---- numbers and arrays ----------------------------------------------------------------------------------------------------------- */

static const cJSON *first_leaf(const cJSON *json) {
    if (!cJSON_IsArray(json)) return json;
    for (const cJSON *i = json->child; i; i = i->next) {
        const cJSON *leaf = first_leaf(i);
        if (leaf) return leaf;
    }
    return NULL;
}

static void write_value(char **t, const cJSON *leaf) {
    double x = 0;
    if (cJSON_IsBool(leaf) || !case_number(leaf, &x)) text_add(t, cJSON_IsTrue(leaf) ? "1" : "0");
    else if (x != x) text_add(t, "NAN");
    else if (!grpo_is_finite(x)) text_add(t, x > 0 ? "INFINITY" : "-INFINITY");
    else text_number(t, x);
}

static void write_leaves(char **t, const cJSON *json, int64_t *n) {
    if (!cJSON_IsArray(json)) {
        text_add(t, *n == 0 ? " " : *n % IN_A_LINE ? ", " : ",\n      ");
        write_value(t, json);
        ++*n;
    } else for (const cJSON *i = json->child; i; i = i->next) write_leaves(t, i, n);
}

/* an array of C cannot be empty */
static void write_array(char **t, const cJSON *json) {
    int64_t n = 0;
    text_add(t, "{");
    if (case_leaves(json)) write_leaves(t, json, &n);
    else text_add(t, " 0");
    text_add(t, " }");
}

static void write_type(char **t, const char *key, const cJSON *json) {
    const cJSON *leaf = first_leaf(json);
    const int whole = cJSON_IsBool(leaf) || !strcmp(key, "group") || !strcmp(key, "length");
    const int64_t n = case_leaves(json);
    text_format(t, "    %s %s[%lld];\n", whole ? "int" : "double", key, (long long)(n ? n : 1));
}

/* ---- the batch and the objective -------------------------------------------------------------------------------------------------- */

static void write_batch(char **t, const cJSON *batch) {
    text_add(t, "/* responses one after the other: the tokens of response i are first[i] to first[i] + length[i] - 1 of each array "
                "with a number per token */\n"
                "struct batch {\n    int first[RESPONSES];\n");
    for (const cJSON *i = batch->child; i; i = i->next) if (strcmp(i->string, "advantage")) write_type(t, i->string, i);
    text_add(t, "};\n\n");
}

static void write_batch_values(char **t, const test_case *c, const cJSON *batch) {
    text_add(t, "static const struct batch batch = {\n    {");
    for (int64_t i = 0; i < c->n_sequences; i++) text_format(t, "%s %lld", i ? "," : "", (long long)c->batch.offset[i]);
    text_add(t, " }");
    for (const cJSON *i = batch->child; i; i = i->next) {
        if (!strcmp(i->string, "advantage")) continue;
        text_format(t, ",\n    /* %s */ ", i->string);
        write_array(t, i);
    }
    text_add(t, "\n};\n\n");
}

static void write_objective(char **t, const cJSON *objective) {
    text_add(t, "/* a field that is absent has its default: none, or 0 */\nstruct objective {\n");
    for (const cJSON *axis = objective->child; axis; axis = axis->next)
        for (const cJSON *i = axis->child; i; i = i->next) {
            double x;
            text_format(t, "    %s%s_%s;\n", case_number(i, &x) ? "double " : "const char *", axis->string, i->string);
        }
    text_add(t, "};\n\n");
}

static void write_objective_values(char **t, const cJSON *objective) {
    int n = 0;
    text_add(t, "static const struct objective objective = {");
    for (const cJSON *axis = objective->child; axis; axis = axis->next)
        for (const cJSON *i = axis->child; i; i = i->next) {
            double x;
            text_add(t, n++ ? ", " : " ");
            if (case_number(i, &x)) write_value(t, i);
            else text_quoted(t, i->valuestring);
        }
    text_add(t, " };\n");
}

static void write_row(char **t, const char *name, const char *suffix, const cJSON *json) {
    const int64_t n = case_leaves(json);
    text_format(t, "static const double %s%s[%lld] =\n    ", name, suffix, (long long)(n ? n : 1));
    write_array(t, json);
    text_add(t, ";\n");
}

/* ---- the program ------------------------------------------------------------------------------------------------------------------ */

static const char function_text[] =
    "/* The one place to fill in: call the function under test. advantage: a number per token, to compute the loss from. */\n"
    "static void answer(const struct objective *objective, const struct batch *batch, const double *advantage, struct found *found) {\n"
    "    (void)objective, (void)batch, (void)advantage, (void)found;\n"
    "}\n\n"
    "static int is_wrong(const char *name, int place, double found, double right, double scale) {\n"
    "    if (found == right || (isfinite(found) && isfinite(right) && fabs(found - right) <= TOLERANCE * EPSILON * scale)) return 0;\n"
    "    printf(\"%s[%d]: expected %.17g, found %.17g\\n\", name, place, right, found);\n"
    "    return 1;\n"
    "}\n\n"
    "int main(void) {\n"
    "    struct found found;\n"
    "    int wrong = 0;\n"
    "    found.loss[0] = NAN;\n"
    "    for (int k = 0; k < TOKENS; k++) found.advantage[k] = found.dlogp[k] = NAN;\n"
    "    answer(&objective, &batch, advantage, &found);\n";

/* writes the right numbers and scales of the wrong outputs; returns how many outputs */
static int write_outputs(char **t, const case_result *found, const cJSON *expect, const cJSON *scale) {
    int n = 0;
    for (ptrdiff_t k = 0; k < arrlen(found->wrong); k++) {
        const char *name = output_name[found->wrong[k].m.output];
        if (!repro_returns(found->wrong[k].m.output)) continue;
        write_row(t, name, "_right", json_get(expect, name));
        write_row(t, name, "_scale", json_get(scale, name));
        n++;
    }
    return n;
}

static void write_checks(char **t, const case_result *found, const cJSON *expect) {
    for (ptrdiff_t k = 0; k < arrlen(found->wrong); k++) {
        const char *name = output_name[found->wrong[k].m.output];
        if (!repro_returns(found->wrong[k].m.output)) continue;
        text_format(t, "    for (int k = 0; k < %lld; k++) wrong += is_wrong(\"%s\", k, found.%s[k], %s_right[k], %s_scale[k]);\n",
                    (long long)case_leaves(json_get(expect, name)), name, name, name, name);
    }
    text_add(t, "    if (wrong) printf(\"%d numbers are wrong\\n\", wrong);\n    return wrong != 0;\n}\n");
}

static void write_sizes(char **t, const report *r, const test_case *c) {
    text_add(t, "#include <math.h>\n#include <stdio.h>\n\n");
    text_format(t, "enum { RESPONSES = %lld, TOKENS = %lld };\n", (long long)c->n_sequences,
                (long long)(c->batch.n_tokens ? c->batch.n_tokens : 1));
    text_format(t, "#define EPSILON %.17g      /* of %s */\n#define TOLERANCE %g\n\n", r->r->precision->eps, r->s->precision,
                r->r->tolerance);
    text_add(t, "struct found { double loss[1], advantage[TOKENS], dlogp[TOKENS]; };"
                "      /* dlogp: the derivative of the loss by logp */\n\n");
}

static void write_data(char **t, const test_case *c, const cJSON *batch, const cJSON *expect) {
    const cJSON *given = json_get(batch, "advantage"), *objective = json_get(c->json, "objective");
    write_batch(t, batch);
    write_objective(t, objective);
    write_batch_values(t, c, batch);
    write_objective_values(t, objective);
    write_row(t, "advantage", "", given ? given : json_get(expect, "advantage"));
}

int repro_write_c(const report *r, const test_case *c, int result) {
    const cJSON *batch = json_get(c->json, "batch"), *expect = json_get(c->json, "expect");
    char *t = NULL, *head;
    int outputs;
    if (!case_has_loss(c)) return fprintf(stderr, "conform: --repro: %s is not of kind objective or split\n", c->id), 2;
    if (c->kind == CASE_SPLIT)
        return fprintf(stderr, "conform: --repro: %s is cut into parts, which only the pytest supports: leave out --format c\n", c->id), 2;
    head = repro_head(r, c, result);
    text_format(&t, "/* %s\nFill in `answer`; then: cc -std=c99 repro.c -lm && ./a.out\n*/\n", head);
    free(head);
    write_sizes(&t, r, c);
    write_data(&t, c, batch, expect);
    outputs = write_outputs(&t, &r->results[result], expect, json_get(c->json, "scale"));
    text_add(&t, "\n");
    text_add(&t, function_text);
    write_checks(&t, &r->results[result], expect);
    if (outputs) fwrite(t, 1, (size_t)arrlen(t), stdout);
    else fprintf(stderr, "conform: --repro: nothing to reproduce: advantage, loss and dlogp of %s are right or skipped\n", c->id);
    arrfree(t);
    return outputs ? 0 : 2;
}
