#include "full_batch.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { N_SEQUENCES = 12, LONGEST = 7, N_GROUPS = 5 };
static const int group_of[N_SEQUENCES] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4 };
static const int length_of[N_SEQUENCES] = { 4, 1, 6, 3, 2, 5, 7, 4, 4, 3, 6, 2 };
/* group 2: all equal; group 3: alone */
static const double reward_of[N_SEQUENCES] = { 1, 0.25, -0.5, 0, 0.75, 2, -1.5, 0.5, 0.5, 1.25, 0, 3 };
static const double advantage_of[N_SEQUENCES] = { 1.25, -0.75, -1.5, 0.5, 0.625, -1.125, 0.875, 0, -2, 1, -0.5, 1.75 };
static const int truncated_of[N_SEQUENCES] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1 };

/* The mean log-ratios of the sequences of each batch: inside and outside of clips that are a few 1e-4, 2e-3, 0.2 and more wide, between
 * the bounds 2, 3, 4 and 5 of the ratio, and beyond clamps of 10 and 20.  Tokens are around them, so that a clip of tokens is not one of
 * sequences. */
static const double log_ratio[N_FULL_BATCHES][N_SEQUENCES] = {
    { 0.00035, -0.00025, -0.00035, 0.00045, 0.0021, -0.0022, 0.0026, 0.001, -0.0027, -0.00015, 0.0003, -0.002 },
    { 0.19, 0.22, -0.25, 0.26, -0.2, 0.15, -0.4, 0.1, 1.25, 0.5, -0.15, 0.02 },
    { 1.3, 1.25, 1.5, -1, 0.5, 1.7, -2, 0.1, 11, -12, 21, -22 },
    { 0.1, -0.15, 0.0002, 0.12, -0.05, 0.08, -0.0001, 0.3, -0.3, 0.0004, 0.05, -0.1 }
};
static const double spread[N_FULL_BATCHES] = { 0.3, 0.25, 0.5, 0.2 };
/* of logp_old over logp_rollout likewise: bands of 0.001, 0.5 to 2, 0.5 to 5 */
static const double mismatch[N_FULL_BATCHES][N_SEQUENCES] = {
    { 0.0005, -0.0008, 0.002, -0.003, 0.0002, -0.0004, 0.0009, 0.004, 0.0001, -0.0007, 0.01, -0.02 },
    { 0.1, 0.8, -0.2, -0.4, 0.3, 0.02, -0.05, 0.15, -0.75, 0.5, 0.0005, 1.7 },
    { -0.9, 0.7, 1.2, 0.05, -0.1, 0.9, 0.2, -0.3, 2, 0.01, -0.02, 0.4 },
    { 0.1, -0.1, 0.2, 0.3, -0.2, 0.15, 0.05, -0.3, 0.25, 0.01, -0.02, 0.4 }
};

/* ---- numbers --------------------------------------------------------------------------------------------------------------------- */

/* the nearest of few bits: a float holds it, and sums and differences of some of them */
static double short_number(double x) { return floor(x * 65536 + 0.5) / 65536; }

/* in (-1, 1), by place alone */
static double wobble(int stream, int i, int t)
{
    uint32_t x = (uint32_t)(stream * 7919 + i * 131 + t * 17 + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (double)(x % 2001) / 1000 - 1;
}

/* around `mean`, and in the mean over the sequence very near it */
static double around(int stream, int i, int t, double mean, double width)
{
    double sum = 0;
    for (int k = 0; k < length_of[i]; k++) sum += wobble(stream, i, k);
    return mean + width * (wobble(stream, i, t) - sum / length_of[i]);
}

typedef enum { LOGP, LOGP_OLD, LOGP_REF, LOGP_ROLLOUT, ENTROPY, VALUE, STEP_REWARD, ADVANTAGE } token_key;

static double token_number(int which, token_key key, int i, int t)
{
    double old = -24 + 0.5 * wobble(1, i, t);       /* low enough that no logp is above 0 */
    switch (key) {
    case LOGP: return short_number(short_number(old) + short_number(around(2, i, t, log_ratio[which][i], spread[which])));
    case LOGP_OLD: return short_number(old);
    case LOGP_REF: return short_number(old - 0.4 * wobble(3, i, t));
    case LOGP_ROLLOUT: return short_number(short_number(old) - short_number(around(4, i, t, mismatch[which][i], 0.6 * mismatch[which][i])));
    case ENTROPY: return short_number(1 + 0.5 * wobble(5, i, t));
    case VALUE: return short_number(0.5 * wobble(6, i, t));
    case STEP_REWARD: return short_number(wobble(7, i, t));
    case ADVANTAGE: return which == FULL_TOKEN_ADVANTAGES ? short_number(wobble(9, i, t)) : advantage_of[i];
    }
    return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------------ */

static void write_rows(char **t, const char *key, int which, token_key what)
{
    text_format(t, ",\"%s\":[", key);
    for (int i = 0; i < N_SEQUENCES; i++) {
        text_add(t, i ? ",[" : "[");
        for (int k = 0; k < length_of[i]; k++) { text_add(t, k ? "," : ""); text_number(t, token_number(which, what, i, k)); }
        text_add(t, "]");
    }
    text_add(t, "]");
}

static void write_step_ends(char **t)
{
    text_add(t, ",\"step_end\":[");
    for (int i = 0; i < N_SEQUENCES; i++) {
        text_add(t, i ? ",[" : "[");
        for (int k = 0; k < length_of[i]; k++)
            text_format(t, "%s%s", k ? "," : "", k + 1 == length_of[i] || (k % 2 == 1 && i % 3 != 1) ? "true" : "false");
        text_add(t, "]");
    }
    text_add(t, "]");
}

static void write_per_sequence(char **t, int which)
{
    text_add(t, "\"group\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%d", i ? "," : "", group_of[i]);
    text_add(t, "],\"length\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%d", i ? "," : "", length_of[i]);
    text_add(t, "],\"reward\":[");
    for (int i = 0; i < N_SEQUENCES; i++) { text_add(t, i ? "," : ""); text_number(t, reward_of[i] * (1 + which) / 2); }
    text_add(t, "],\"truncated\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%s", i ? "," : "", truncated_of[i] ? "true" : "false");
    text_add(t, "],\"baseline\":[");
    for (int g = 0; g < N_GROUPS; g++) { text_add(t, g ? "," : ""); text_number(t, short_number(0.5 * wobble(8, g, which))); }
    text_add(t, "]");
}

static void write_batch(char **t, int which)
{
    static const struct { const char *key; token_key what; } tokens[] = {
        { "logp", LOGP }, { "logp_old", LOGP_OLD }, { "logp_ref", LOGP_REF }, { "logp_rollout", LOGP_ROLLOUT }, { "entropy", ENTROPY },
        { "value", VALUE }, { "step_reward", STEP_REWARD }
    };
    text_add(t, ",\"batch\":{");
    write_per_sequence(t, which);
    for (size_t k = 0; k < sizeof tokens / sizeof *tokens; k++) write_rows(t, tokens[k].key, which, tokens[k].what);
    write_step_ends(t);
    text_add(t, "}");
}

static void write_field(char **t, const grpo_objective *obj, const grpo_field *field)
{
    double value = grpo_objective_get(obj, field);
    const char *choice = field->choices;
    text_format(t, "\"%s\":", strchr(field->path, '.') + 1);
    if (!choice) { text_number(t, value); return; }
    for (int k = 0; k < (int)value; k++) choice = strchr(choice, '|') + 1;
    text_format(t, "\"%.*s\"", (int)strcspn(choice, "|"), choice);
}

static void write_objective(char **t, const grpo_objective *obj)
{
    int count;
    const grpo_field *field = grpo_fields(&count);
    text_add(t, ",\"objective\":{");
    for (int n = 0; n < count; n++) {
        int length = (int)strcspn(field[n].path, ".");
        int first = n == 0 || strncmp(field[n - 1].path, field[n].path, (size_t)length + 1);
        if (first) text_format(t, "%s\"%.*s\":{", n ? "}," : "", length, field[n].path);
        else text_add(t, ",");
        write_field(t, obj, &field[n]);
    }
    text_add(t, "}}");
}

char *full_batch_case(int which, const grpo_objective *objective)
{
    char *t = NULL;
    text_format(&t, "{\"id\":\"full-%d\",\"kind\":\"objective\"", which);
    write_objective(&t, objective);
    write_batch(&t, which);
    write_rows(&t, "advantage", which, ADVANTAGE);
    text_add(&t, "}");
    return text_string(&t);
}

cJSON *full_batch_read(int which, const grpo_objective *objective, test_case *out)
{
    char *text = full_batch_case(which, objective), error[300];
    cJSON *json = cJSON_Parse(text);
    if (case_request_read(json, out, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    free(text);
    return json;
}
