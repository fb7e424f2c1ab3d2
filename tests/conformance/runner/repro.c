/* --repro: writes a case as a pytest; the comment at the top is used for C too. */
#include "repro.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- the comment ------------------------------------------------------------------------------------------------------------------ */

/* text from outside in a comment, without the characters that would end it */
static void write_quiet(char **t, const char *text) {
    for (; *text; text++)
        if (*text != '\\' && (*text != '"' || text[1] != '"') && (*text != '*' || text[1] != '/') && (*text != '/' || text[1] != '*'))
            text_bytes(t, text, 1);
}

static void write_source(char **t, const char *variant, const char *evidence) {
    int count;
    const grpo_preset *preset = grpo_presets(&count);
    for (int n = 0; n < count; n++) {
        if (strcmp(preset[n].name, variant)) continue;
        text_add(t, "Formula: ");
        write_quiet(t, preset[n].summary);
        text_format(t, "\nSource: %s%s%s\n", preset[n].paper, *preset[n].equations ? ", equations " : "", preset[n].equations);
    }
    if (evidence) { text_add(t, "Evidence: "); write_quiet(t, evidence); text_add(t, "\n"); }
}

char *repro_head(const report *r, const test_case *c, int result) {
    const case_result *found = &r->results[result];
    const cJSON *comment = json_get(c->json, "comment");
    char *details = report_details(r, result), *t = NULL;
    write_quiet(&t, r->s->name ? r->s->name : "The program");
    text_add(&t, " ");
    write_quiet(&t, r->s->release ? r->s->release : "");
    text_format(&t, " differs from %s of the GRPO/GSPO vectors (%s).\n\n", c->id, r->s->precision);
    if (cJSON_IsString(comment)) { write_quiet(&t, comment->valuestring); text_add(&t, ".\n"); }
    write_source(&t, found->variant, found->evidence);
    text_add(&t, "\nDiagnosis: ");
    write_quiet(&t, details);
    free(details);
    return text_string(&t);
}

static void write_head(char **t, const report *r, const test_case *c, int result) {
    char *head = repro_head(r, c, result);
    text_format(t, "\"\"\"%s\nFill in `answer`, and run it with pytest.\n\"\"\"\n", head);
    free(head);
}

/* ---- the numbers ------------------------------------------------------------------------------------------------------------------ */

static void write_item(char **t, const char *name, const cJSON *json) {
    text_format(t, "%s = json.loads(r'''", name);
    if (json) text_json(t, json);
    else text_add(t, "null");
    text_add(t, "''')\n");
}

/* of a case that is cut into parts: `answer` runs the parts and returns loss and gradients of the whole step */
static void write_cut(char **t, const test_case *c) {
    static const char *const keys[] = { "parts", "ranks", "reduce", "context_ranks", "filtered" };
    int n = 0;
    if (c->kind != CASE_SPLIT) return;
    text_add(t, "# how the batch is cut into parts; loss and gradients are those of the whole step, after all parts have been combined\n"
                "CUT = json.loads(r'''{");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const cJSON *value = json_get(c->json, keys[k]);
        if (!value) continue;
        text_format(t, "%s\"%s\":", n++ ? "," : "", keys[k]);
        text_json(t, value);
    }
    text_add(t, "}''')\n");
}

int repro_returns(output_kind output) { return output == OUT_ADVANTAGE || output == OUT_LOSS || output == OUT_DLOGP; }

static int write_outputs(char **t, const case_result *found) {
    int n = 0;
    text_add(t, "WRONG = [");
    for (ptrdiff_t k = 0; k < arrlen(found->wrong); k++) {
        const output_kind output = found->wrong[k].m.output;
        if (!repro_returns(output)) continue;
        text_format(t, "%s\"%s\"", n++ ? ", " : "", output_name[output]);
    }
    text_add(t, "]  # the outputs that differ\n");
    return n;
}

static const char test_text[] =
    "\n\n"
    "def answer(objective, batch, advantage, logp):\n"
    "    \"\"\"The one place to fill in: call the function under test.\n\n"
    "    logp: a tensor for each response, to be differentiated; everything else is lists, with a row for each response. Returns\n"
    "    {\"loss\": a scalar tensor} for loss and dlogp, {\"advantage\": rows of numbers} for advantage, or both.\n"
    "    \"\"\"\n"
    "    raise NotImplementedError\n\n\n"
    "def numbers(x):\n"
    "    return [numbers(y) for y in x] if isinstance(x, list) else float(x)\n\n\n"
    "def flat(x):\n"
    "    return [z for y in x for z in flat(y)] if isinstance(x, list) else [x]\n\n\n"
    "def found(output):\n"
    "    rows = [torch.tensor(row, dtype=DTYPE, requires_grad=True) for row in numbers(BATCH[\"logp\"])]\n"
    "    result = answer(OBJECTIVE, BATCH, numbers(ADVANTAGE), rows)\n"
    "    if output == \"advantage\":\n"
    "        return result[\"advantage\"]\n"
    "    if output == \"loss\":\n"
    "        return float(result[\"loss\"])\n"
    "    result[\"loss\"].backward()\n"
    "    return [[0.0] * len(row) if row.grad is None else row.grad.tolist() for row in rows]\n\n\n"
    "@pytest.mark.parametrize(\"output\", WRONG)\n"
    "def test_case(output):\n"
    "    right, scale, mine = flat(numbers(EXPECT[output])), flat(numbers(SCALE[output])), flat(numbers(found(output)))\n"
    "    assert len(mine) == len(right)\n"
    "    for place, (x, y, s) in enumerate(zip(mine, right, scale)):\n"
    "        near = x == y or max(abs(x), abs(y)) < float(\"inf\") and abs(x - y) <= TOLERANCE * torch.finfo(DTYPE).eps * s\n"
    "        assert near, f\"{output}, number {place}: expected {y!r}, found {x!r}\"\n";

/* ---- the file --------------------------------------------------------------------------------------------------------------------- */

static const char *type_of(const char *precision) {
    return !strcmp(precision, "f64") ? "float64" : !strcmp(precision, "f32") ? "float32" : "bfloat16";
}

int repro_write(const report *r, const test_case *c, int result) {
    const cJSON *batch = json_get(c->json, "batch"), *expect = json_get(c->json, "expect"), *given = json_get(batch, "advantage");
    char *t = NULL;
    int outputs;
    if (!case_has_loss(c)) return fprintf(stderr, "conform: --repro: %s is not of kind objective or split\n", c->id), 2;
    write_head(&t, r, c, result);
    text_add(&t, "import json\n\nimport pytest\nimport torch\n\n");
    text_format(&t, "DTYPE, TOLERANCE = torch.%s, %g\n", type_of(r->s->precision), r->r->tolerance);
    outputs = write_outputs(&t, &r->results[result]);
    write_item(&t, "OBJECTIVE", json_get(c->json, "objective"));
    write_item(&t, "BATCH", batch);
    write_cut(&t, c);
    write_item(&t, "ADVANTAGE", given ? given : json_get(expect, "advantage"));
    write_item(&t, "EXPECT", expect);
    write_item(&t, "SCALE", json_get(c->json, "scale"));
    text_add(&t, test_text);
    if (outputs) fwrite(t, 1, (size_t)arrlen(t), stdout);
    else fprintf(stderr, "conform: --repro: nothing to reproduce: advantage, loss and dlogp of %s are right or skipped\n", c->id);
    arrfree(t);
    return outputs ? 0 : 2;
}
