/* Generates the batches of --identify from fixed tables and pseudo-random numbers. */
#include "full_batch.h"
#include "../../support/field.h"
#include "request.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

enum { N_SEQUENCES = 12, N_REWARDS = 2 };
/* In three batches group 2 has equal rewards and group 3 one response, which some advantages refuse; in the others groups have at least
 * two responses. */
static const int one_alone[N_SEQUENCES] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4 };
static const int none_alone[N_SEQUENCES] = { 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3 };
static const int length_of[N_SEQUENCES] = { 4, 1, 6, 3, 2, 5, 7, 4, 4, 3, 6, 2 };
static const double reward_of[N_SEQUENCES] = { 1, 0.25, -0.5, 0, 0.75, 2, -1.5, 0.5, 0.5, 1.25, 0, 3 };
static const double advantage_of[N_SEQUENCES] = { 1.25, -0.75, -1.5, 0.5, 0.625, -1.125, 0.875, 0, -2, 1, -0.5, 1.75 };
static const int truncated_of[N_SEQUENCES] = { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1 };

/* The mean log-ratios of the sequences of each batch: inside and outside of clips of widths from a few 1e-4 to 0.2 and more, between the
 * bounds 2, 3, 4 and 5 of the ratio, and beyond clamps of 10 and 20.  The tokens' log-ratios vary around the mean, so that clips of tokens
 * and of sequences differ.  In FULL_PROBABLE some responses with A < 0 have a mean log-ratio below -0.5, against logp_old, logp_rollout or
 * both. */
static const double log_ratio[N_FULL_BATCHES][N_SEQUENCES] = {
    { 0.00035, -0.00025, -0.00035, 0.00045, 0.0021, -0.0022, 0.0026, 0.001, -0.0027, -0.00015, 0.0003, -0.002 },
    { 0.19, 0.22, -0.25, 0.26, -0.2, 0.15, -0.4, 0.1, 1.25, 0.5, -0.15, 0.02 },
    { 1.3, 1.25, 1.5, -1, 0.5, 1.7, -2, 0.1, 11, -12, 21, -22 },
    { 0.3, -0.7, -0.6, 0.25, 0.35, -0.4, -0.3, -0.05, -0.55, 0.1, 0.1, 0.28 },
    { 0.1, -0.15, 0.0002, 0.12, -0.05, 0.08, -0.0001, 0.3, -0.3, 0.0004, 0.05, -0.1 }
};
static const double spread[N_FULL_BATCHES] = { 0.3, 0.25, 0.5, 0.4, 0.2 };
/* the same for logp_old against logp_rollout: inside and outside of bands of 0.001, 0.5 to 2, 0.5 to 5 */
static const double mismatch[N_FULL_BATCHES][N_SEQUENCES] = {
    { 0.0005, -0.0008, 0.002, -0.003, 0.0002, -0.0004, 0.0009, 0.004, 0.0001, -0.0007, 0.01, -0.02 },
    { 0.1, 0.8, -0.2, -0.4, 0.3, 0.02, -0.05, 0.15, -0.75, 0.5, 0.0005, 1.7 },
    { -0.9, 0.7, 1.2, 0.05, -0.1, 0.9, 0.2, -0.3, 2, 0.01, -0.02, 0.4 },
    { 0.1, 0.3, 0.2, -0.2, 0.15, -0.2, -0.1, 0.05, 0.02, -0.08, -0.3, 0.25 },
    { 0.1, -0.1, 0.2, 0.3, -0.2, 0.15, 0.05, -0.3, 0.25, 0.01, -0.02, 0.4 }
};

/* of FULL_PROBABLE: the mean of logp_old, such that differences of probabilities are below and above 0.1 and 0.2 */
static const double likely[N_SEQUENCES] = { -0.9, -0.3, -0.5, -1.2, -0.7, -0.4, -0.3, -1, -0.6, -0.15, -0.8, -2 };
static const double reward_weight[N_REWARDS] = { 1, 0.5 };

/* ---- numbers --------------------------------------------------------------------------------------------------------------------- */

/* rounds to a multiple of 2^-16, so that a few sums and differences are exact in a float */
static double short_number(double x) { return floor(x * 65536 + 0.5) / 65536; }
static double short_logp(double x) { return short_number(fmin(x, -0.015625)); }
static int group_of(int which, int i) { return which < FULL_PROBABLE ? one_alone[i] : none_alone[i]; }

/* a pseudo-random number in [-1, 1] that depends on the arguments only */
static double wobble(int stream, int i, int t) {
    uint32_t x = (uint32_t)(stream * 7919 + i * 131 + t * 17 + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (double)(x % 2001) / 1000 - 1;
}

/* a number around `mean`; the mean of these over the sequence is `mean` up to rounding */
static double around(int stream, int i, int t, double mean, double width) {
    double sum = 0;
    for (int k = 0; k < length_of[i]; k++) sum += wobble(stream, i, k);
    return mean + width * (wobble(stream, i, t) - sum / length_of[i]);
}

typedef enum {
    LOGP, LOGP_OLD, LOGP_REF, LOGP_ROLLOUT, LOGP_TEACHER, ENTROPY, VALUE, STEP_REWARD, WEIGHT, SQUARES, DIVERGENCE_REF, DIVERGENCE_OLD,
    ADVANTAGE
} token_key;

/* around -24 the log-ratios of all batches keep logp below 0 */
static double logp_old(int which, int i, int t) {
    return which == FULL_PROBABLE ? likely[i] + 0.2 * wobble(1, i, t) : -24 + 0.5 * wobble(1, i, t);
}

static double token_number(int which, token_key key, int i, int t) {
    double old = logp_old(which, i, t);
    switch (key) {
    case LOGP: return short_logp(short_logp(old) + short_number(around(2, i, t, log_ratio[which][i], spread[which])));
    case LOGP_OLD: return short_logp(old);
    case LOGP_REF: return short_logp(old - 0.4 * wobble(3, i, t));
    case LOGP_ROLLOUT: return short_logp(short_logp(old) - short_number(around(4, i, t, mismatch[which][i], 0.6 * mismatch[which][i])));
    case LOGP_TEACHER: return short_logp(old + 0.6 * wobble(10, i, t));
    case ENTROPY: return short_number(1 + 0.5 * wobble(5, i, t));
    case VALUE: return short_number(0.5 * wobble(6, i, t));
    case STEP_REWARD: return short_number(wobble(7, i, t));
    case WEIGHT: return short_number(1 + 0.75 * wobble(13, i, t));
    case SQUARES: return short_number(0.5 + 0.4 * wobble(14, i, t));
    case DIVERGENCE_REF: return short_number(1 + 0.9 * wobble(16, i, t));
    case DIVERGENCE_OLD: return short_number(6e-5 * fabs(wobble(17, i, t)));                 /* on both sides of 1e-5 */
    case ADVANTAGE: return which == FULL_TOKEN_ADVANTAGES ? short_number(wobble(9, i, t)) : advantage_of[i];
    }
    return 0;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------------------ */

static void write_rows(char **t, const char *key, int which, token_key what) {
    text_format(t, ",\"%s\":[", key);
    for (int i = 0; i < N_SEQUENCES; i++) {
        text_add(t, i ? ",[" : "[");
        for (int k = 0; k < length_of[i]; k++) { text_add(t, k ? "," : ""); text_number(t, token_number(which, what, i, k)); }
        text_add(t, "]");
    }
    text_add(t, "]");
}

static int is_step_end(int i, int t) { return t + 1 == length_of[i] || (t % 2 == 1 && i % 3 != 1); }
static int is_selected(int i, int t) { return wobble(12, i, t) > -0.2; }

/* 0 or 1 at random, as states or token ids: responses of a prompt share some states, fewer histories and prefixes */
static int state_of(int i, int t) { return wobble(15, i, t) > 0; }

/* yes, no: the words for 1 and 0 */
static void write_flag_rows(char **t, const char *key, int (*flag)(int i, int t), const char *yes, const char *no) {
    text_format(t, ",\"%s\":[", key);
    for (int i = 0; i < N_SEQUENCES; i++) {
        text_add(t, i ? ",[" : "[");
        for (int k = 0; k < length_of[i]; k++) text_format(t, "%s%s", k ? "," : "", flag(i, k) ? yes : no);
        text_add(t, "]");
    }
    text_add(t, "]");
}

/* FULL_PROBABLE has rewards in [0, 1], which some advantages require */
static double reward(int which, int i) { return which == FULL_PROBABLE ? (reward_of[i] + 2) / 8 : reward_of[i] * (1 + which) / 2; }

/* the first column is the reward */
static void write_rewards(char **t, int which) {
    text_add(t, ",\"rewards\":[");
    for (int i = 0; i < N_SEQUENCES; i++) {
        text_add(t, i ? ",[" : "[");
        text_number(t, reward(which, i));
        text_add(t, ",");
        text_number(t, short_number(wobble(11, i, which)));
        text_add(t, "]");
    }
    text_add(t, "],\"reward_weight\":[");
    for (int k = 0; k < N_REWARDS; k++) { text_add(t, k ? "," : ""); text_number(t, reward_weight[k]); }
    text_add(t, "]");
}

static void write_per_sequence(char **t, int which) {
    int n_groups = group_of(which, N_SEQUENCES - 1) + 1;
    text_add(t, "\"group\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%d", i ? "," : "", group_of(which, i));
    text_add(t, "],\"length\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%d", i ? "," : "", length_of[i]);
    text_add(t, "],\"reward\":[");
    for (int i = 0; i < N_SEQUENCES; i++) { text_add(t, i ? "," : ""); text_number(t, reward(which, i)); }
    text_add(t, "],\"truncated\":[");
    for (int i = 0; i < N_SEQUENCES; i++) text_format(t, "%s%s", i ? "," : "", truncated_of[i] ? "true" : "false");
    text_add(t, "],\"baseline\":[");
    for (int g = 0; g < n_groups; g++) { text_add(t, g ? "," : ""); text_number(t, short_number(0.5 * wobble(8, g, which))); }
    text_add(t, "],\"log_partition\":[");
    for (int g = 0; g < n_groups; g++) { text_add(t, g ? "," : ""); text_number(t, short_number(wobble(13, g, which))); }
    text_add(t, "]");
    write_rewards(t, which);
}

static void write_batch(char **t, int which) {
    static const struct { const char *key; token_key what; } tokens[] = {
        { "logp", LOGP }, { "logp_old", LOGP_OLD }, { "logp_ref", LOGP_REF }, { "logp_rollout", LOGP_ROLLOUT },
        { "logp_teacher", LOGP_TEACHER }, { "entropy", ENTROPY }, { "value", VALUE }, { "step_reward", STEP_REWARD },
        { "external_weight", WEIGHT }, { "sum_pi_squared", SQUARES },
        { "divergence_ref", DIVERGENCE_REF }, { "divergence_old", DIVERGENCE_OLD }
    };
    static const char *const ends[] = { "step_end", "segment_end" }, *const states[] = { "state", "token_id" };
    static const char *const marks[] = { "selected", "kl_mask", "nll_mask", "marked", "shaping_mask" };
    text_add(t, ",\"batch\":{");
    write_per_sequence(t, which);
    for (size_t k = 0; k < sizeof tokens / sizeof *tokens; k++) write_rows(t, tokens[k].key, which, tokens[k].what);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) write_flag_rows(t, ends[k], is_step_end, "true", "false");
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) write_flag_rows(t, marks[k], is_selected, "true", "false");
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) write_flag_rows(t, states[k], state_of, "1", "0");
    text_add(t, "}");
}

static void write_field(char **t, double value, const grpo_field *field) {
    const char *choice;
    int length;
    text_format(t, "\"%s\":", strchr(field->path, '.') + 1);
    if (!field->n_choices) { text_number(t, value); return; }
    choice = field_choice(field, value, &length);
    text_format(t, "\"%.*s\"", length, choice);
}

/* the objective as in the vectors: fields that have their defaults are left out */
static void write_objective(char **t, const grpo_objective *obj) {
    const char *axis = "";
    int count;
    const grpo_field *field = grpo_fields(&count);
    text_add(t, ",\"objective\":{");
    for (int n = 0; n < count; n++) {
        double value = grpo_objective_get(obj, &field[n]);
        size_t length = strcspn(field[n].path, ".") + 1;
        int first = strncmp(axis, field[n].path, length) != 0;
        if (value == 0 && !request_always_has(field[n].path)) continue;
        if (first) text_format(t, "%s\"%.*s\":{", *axis ? "}," : "", (int)length - 1, field[n].path);
        else text_add(t, ",");
        write_field(t, value, &field[n]);
        axis = field[n].path;
    }
    text_add(t, "}}");
}

char *full_batch_case(int which, const grpo_objective *objective) {
    char *t = NULL;
    text_format(&t, "{\"id\":\"full-%d\",\"kind\":\"objective\"", which);
    write_objective(&t, objective);
    write_batch(&t, which);
    write_rows(&t, "advantage", which, ADVANTAGE);
    text_add(&t, "}");
    return text_string(&t);
}

cJSON *full_batch_read(int which, const grpo_objective *objective, test_case *out) {
    char *text = full_batch_case(which, objective), error[300];
    cJSON *json = cJSON_Parse(text);
    if (case_request_read(json, out, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    free(text);
    return json;
}
