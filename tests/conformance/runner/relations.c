/* The table of relations, and the changes of masked tokens, orders, padding, copies, rewards and advantages. */
#include "relations.h"
#include "relations_changes.h"
#include "relations_holds.h"
#include "request.h"
#include <math.h>
#include <stb_ds.h>
#include <string.h>

int output_part(const char *output) {
    static const char *const gradients[] = { "dlogp", "dentropy", "ddivergence_ref", "dlog_partition", "dlogits", "dhidden", "dweight" };
    if (!strcmp(output, "advantage") || !strcmp(output, "dynamic_sampling_mask")) return OF_ADVANTAGE;
    for (size_t k = 0; k < sizeof gradients / sizeof *gradients; k++) if (!strcmp(output, gradients[k])) return OF_GRADIENT;
    return OF_VALUE;
}

/* ---- nothing changes ------------------------------------------------------------------------------------------------------------ */

static void the_same(const cJSON *request, cJSON *answer, int is_scale) { (void)request; (void)answer; (void)is_scale; }

/* ---- masked tokens -------------------------------------------------------------------------------------------------------------- */

typedef struct { const cJSON *request; int wild, count; } poison;       /* wild: NaN and infinities */

static cJSON *poisoned(const char *key, const cJSON *old, poison *p) {
    static const double numbers[] = { 4.5, -9.25, 0.625, -3.5 };      /* e to any of these is finite; poison-nan tests the rest */
    const int integer = !strcmp(key, "state") || !strcmp(key, "token_id");
    int n = p->count++;
    if (cJSON_IsBool(old)) return cJSON_CreateBool(!cJSON_IsTrue(old));
    if (integer) return cJSON_CreateNumber(1000003 + n);
    if (!p->wild) return cJSON_CreateNumber(numbers[n % 4]);
    return json_number(n % 3 == 0 ? NAN : n % 3 == 1 ? INFINITY : -INFINITY);
}

/* arrays that are read at masked tokens too: the mask itself, segment_end, and arrays that have to stay valid */
static int is_read_where_masked(const char *key) {
    return !strcmp(key, "mask") || !strcmp(key, "segment_end") || !strcmp(key, "target")
        || !strcmp(key, "banned");
}

static void poison_vector(const char *key, cJSON *vector, poison *p) {
    for (cJSON *x = vector->child, *next; x; x = next) {
        next = x->next;
        cJSON_ReplaceItemViaPointer(vector, x, poisoned(key, x, p));
    }
}

static void poison_in(void *user, cJSON *holder, cJSON *array, array_shape shape) {
    poison *p = user;
    int i = 0;
    const int exact_advantage = holder == p->request && !strcmp(array->string, "advantage");     /* must stay numbers */
    if (shape != BY_TOKEN || is_read_where_masked(array->string) || (p->wild && exact_advantage)) return;
    for (cJSON *row = array->child; row; row = row->next, i++) {
        int t = 0;
        for (cJSON *x = row->child, *next; x; x = next, t++) {
            next = x->next;
            if (request_active(p->request, i, t)) continue;
            if (cJSON_IsArray(x)) poison_vector(array->string, x, p);
            else cJSON_ReplaceItemViaPointer(row, x, poisoned(array->string, x, p));
        }
    }
}

static int poison_slots(cJSON *request, int wild) {
    poison p = { NULL, 0, 0 };
    p.request = request;
    p.wild = wild;
    request_each(request, poison_in, &p);
    return p.count;
}

static int poison_numbers(cJSON *request) { return poison_slots(request, 0); }
static int poison_wild(cJSON *request) { return poison_slots(request, 1); }

/* outputs at masked tokens must be 0, not only unchanged */
static void zero_in(void *user, cJSON *holder, cJSON *array, array_shape shape) {
    const cJSON *request = user;
    int i = 0;
    (void)holder;
    if (shape != BY_TOKEN) return;
    for (cJSON *row = array->child; row; row = row->next, i++) {
        int t = 0;
        for (cJSON *x = row->child, *next; x; x = next, t++) {
            next = x->next;
            if (request_active(request, i, t)) continue;
            if (cJSON_IsArray(x)) json_scale(x, 0);
            else cJSON_ReplaceItemViaPointer(row, x, cJSON_CreateNumber(0));
        }
    }
}

static void zero_where_masked(const cJSON *request, cJSON *answer, int is_scale) {
    cJSON *copy = cJSON_Duplicate(request, 1);
    (void)is_scale;
    answer_each(answer, zero_in, copy);
    cJSON_Delete(copy);
}

/* ---- orders --------------------------------------------------------------------------------------------------------------------- */

static selection all_groups(const cJSON *request, int reversed, int times) {
    int *groups = NULL, n = request_groups(request);
    selection s;
    for (int k = 0; k < n * times; k++) arrput(groups, reversed ? n - 1 - k : k % n);
    s = selection_of_groups(request, groups, n * times);
    arrfree(groups);
    return s;
}

static selection responses_reversed(const cJSON *request) {
    selection s = all_groups(request, 0, 1);
    selection_reverse_responses(&s);
    return s;
}

static int moves(const selection *s) {
    for (ptrdiff_t k = 0; k < arrlen(s->sequence); k++) if (s->sequence[k] != (int)k) return 1;
    return 0;
}

static int select_request(cJSON *request, selection s) {
    int changed = moves(&s);
    request_select(request, &s);
    selection_free(&s);
    return changed;
}

static void select_answer(cJSON *answer, selection s) {
    answer_select(answer, &s);
    selection_free(&s);
}

static int reverse_responses(cJSON *request) { return select_request(request, responses_reversed(request)); }
static int reverse_groups(cJSON *request) { return select_request(request, all_groups(request, 1, 1)); }

static void responses_follow(const cJSON *request, cJSON *answer, int is_scale) {
    (void)is_scale;
    select_answer(answer, responses_reversed(request));
}

static void groups_follow(const cJSON *request, cJSON *answer, int is_scale) {
    (void)is_scale;
    select_answer(answer, all_groups(request, 1, 1));
}

/* ---- padding -------------------------------------------------------------------------------------------------------------------- */

enum { PADDED = 2 };

/* a batch without tokens is left out: its arrays do not show the type of a token */
static int pad(cJSON *request, int before, int after) {
    int tokens = 0;
    for (int i = 0; i < request_sequences(request); i++) tokens += request_length(request, i);
    if (tokens) request_pad(request, before, after, -1);
    return tokens > 0;
}

static int pad_right(cJSON *request) { return pad(request, 0, PADDED); }
static int pad_left(cJSON *request) { return pad(request, PADDED, 0); }

static void more_masked(const cJSON *request, cJSON *answer) {
    cJSON *masked = json_get(json_get(answer, "report"), "masked_tokens");
    if (cJSON_IsNumber(masked)) cJSON_SetNumberHelper(masked, masked->valuedouble + PADDED * request_sequences(request));
}

static void padded_right(const cJSON *request, cJSON *answer, int is_scale) {
    answer_pad(answer, 0, PADDED);
    if (!is_scale) more_masked(request, answer);
}

static void padded_left(const cJSON *request, cJSON *answer, int is_scale) {
    answer_pad(answer, PADDED, 0);
    if (!is_scale) more_masked(request, answer);
}

/* ---- the batch twice ------------------------------------------------------------------------------------------------------------ */

static int is_counted(const char *metric) {
    static const char *const counts[] = { "tokens", "sequences", "groups", "masked_tokens", "rejected_tokens", "degenerate_groups" };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) if (!strcmp(metric, counts[k])) return 1;
    return 0;
}

static int is_loss_metric(const char *metric) { return !strcmp(metric, "policy_loss") || !strcmp(metric, "penalty_loss"); }

static int duplicate(cJSON *request) { return select_request(request, all_groups(request, 0, 2)) || request_sequences(request) > 0; }

static void scale_gradients(cJSON *answer, double factor) {
    for (cJSON *output = answer->child; output; output = output->next)
        if (output_part(output->string) == OF_GRADIENT) json_scale(output, factor);
}

static void count_twice(cJSON *answer) {
    cJSON *report = json_get(answer, "report");
    for (cJSON *m = report ? report->child : NULL; m; m = m->next) if (is_counted(m->string)) json_scale(m, 2);
}

static void twice_a_mean(const cJSON *request, cJSON *answer, int is_scale) {
    (void)is_scale;
    select_answer(answer, all_groups(request, 0, 2));
    scale_gradients(answer, 0.5);
    count_twice(answer);
}

static void scale_losses(cJSON *answer, double factor) {
    cJSON *loss = json_get(answer, "loss"), *report = json_get(answer, "report");
    if (loss) json_scale(loss, factor);
    for (cJSON *m = report ? report->child : NULL; m; m = m->next) if (is_loss_metric(m->string)) json_scale(m, factor);
}

static void twice_a_sum(const cJSON *request, cJSON *answer, int is_scale) {
    (void)is_scale;
    select_answer(answer, all_groups(request, 0, 2));
    scale_losses(answer, 2);
    count_twice(answer);
}

/* ---- rewards and advantages ----------------------------------------------------------------------------------------------------- */

static int double_rewards(cJSON *request) {
    static const char *const keys[] = { "reward", "rewards", "step_reward", "value", "baseline" };
    cJSON *batch = json_get(request, "batch");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) if (!json_double(json_get(batch, keys[k]))) return 0;
    return 1;
}

static void twice_the_advantage(const cJSON *request, cJSON *answer, int is_scale) {
    cJSON *advantage = json_get(answer, "advantage");
    (void)request;
    (void)is_scale;
    if (advantage) json_scale(advantage, 2);
}

static int double_advantages(cJSON *request) {
    return json_double(json_get(request, "advantage")) && json_double(json_get(json_get(request, "batch"), "advantage"));
}

static void twice_the_loss(const cJSON *request, cJSON *answer, int is_scale) {
    cJSON *term = json_get(answer, "term");
    (void)request;
    (void)is_scale;
    scale_losses(answer, 2);
    scale_gradients(answer, 2);
    if (term) json_scale(term, 2);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

const relation relations[] = {
    { "poison-numbers", "masked tokens have other numbers and flags", "nothing changes, and outputs at masked tokens are 0",
      "every objective: masked tokens have no effect (only their segment_end is read)", holds_everywhere, "", NULL, poison_numbers,
      zero_where_masked },
    { "poison-nan", "masked tokens have NaN and infinities", "nothing changes, and outputs at masked tokens are 0",
      "every objective: numbers at masked tokens are not read", holds_everywhere, "", NULL, poison_wild, zero_where_masked },
    { "permute-responses", "the responses of each group are in reverse order", "the outputs are in reverse order too",
      "every loss; advantages except with the baseline kalman and the transform best_minus_second, which depend on the order",
      holds_in_any_order, "!order", NULL, reverse_responses, responses_follow },
    { "permute-groups", "the groups are in reverse order", "the outputs are in reverse order too",
      "every objective: nothing depends on the position of a group", holds_everywhere, "", NULL, reverse_groups, groups_follow },
    { "pad-right", "two masked tokens are added after each response", "their outputs are 0, the rest does not change",
      "every loss; advantages except with rewards that depend on the length, which counts masked tokens", holds_padded_right, "!length",
      NULL, pad_right, padded_right },
    { "pad-left", "two masked tokens are added before each response", "their outputs are 0, the rest does not change",
      "as pad-right, except with prefix trees, where a masked token ends the shared prefix", holds_padded_left, "!length", NULL, pad_left,
      padded_left },
    { "duplicate-mean", "the whole batch appears twice", "loss and advantages do not change, gradients are half",
      "aggregations that divide by a count of tokens, responses or groups, for every penalty too", holds_as_mean, "mean", NULL, duplicate,
      twice_a_mean },
    { "duplicate-sum", "the whole batch appears twice", "the loss is doubled, gradients and advantages do not change",
      "aggregations without a divisor that depends on the batch, and no penalties with such a divisor", holds_as_sum, "sum", NULL,
      duplicate, twice_a_sum },
    { "double-rewards-normalised", "rewards, values and baselines are multiplied by 2", "the advantages do not change",
      "advantages divided by a scale of the rewards with epsilon 0, without terms of another unit than rewards", holds_normalised,
      "normalised", NULL, double_rewards, the_same },
    { "double-rewards", "rewards, values and baselines are multiplied by 2", "the advantages are multiplied by 2",
      "advantages not divided by a scale of the rewards, without terms of another unit than rewards", holds_unnormalised, "unnormalised",
      NULL, double_rewards, twice_the_advantage },
    { "double-advantages", "the advantages are multiplied by 2", "loss and gradients are multiplied by 2",
      "surrogates for which a positive factor of A multiplies the loss, without a penalty", holds_linear, "linear", NULL,
      double_advantages, twice_the_loss },
    { "shift-rewards", "a constant is added to the rewards", "the advantages do not change",
      "rewards that are compared with a mean of rewards, and are not looked at by themselves", holds_shifted_rewards, "baseline", NULL,
      shift_rewards, rewards_shifted },
    { "shift-logp", "a constant, another one for each token, is added to its log-probabilities",
      "nothing changes (of surrogates whose value is A times log p: no gradient changes)",
      "objectives that use only differences of log-probabilities", holds_for_differences, "differences", NULL, shift_log_probabilities,
      the_same },
    { "cut-micro", "each group is a micro-batch", "loss and dlogp are those of the whole batch", "every objective, with advantages given",
      holds_cut, NULL, give_advantages, cut_micro_batches, loss_and_gradient },
    { "cut-ranks", "the groups are distributed over two ranks, gradients averaged", "loss and dlogp are those of the whole batch",
      "every objective, with advantages given", holds_cut, NULL, give_advantages, cut_over_ranks, loss_and_gradient },
    { "pack-rows", "each group is a part, with two of its responses in a packed row", "loss and dlogp are those of the whole batch",
      "every objective, with advantages given", holds_cut, NULL, give_advantages, pack_in_rows, loss_and_gradient },
    { "reverse-vocabulary", "the vocabulary is in reverse order, targets too", "d logits and d weight are in reverse order too",
      "every row of logits: nothing depends on the id of a token", holds_for_rows, NULL, NULL, reverse_vocabulary, vocabulary_reversed },
    { "double-temperature", "logits (of hidden states: the projection) and temperature are multiplied by 2",
      "d logits and d weight are half, the rest does not change", "every row of logits: only the quotient is used", holds_for_rows, NULL,
      NULL, double_temperature, temperature_doubled },
    { "poison-banned", "banned tokens have other logits", "nothing changes", "every row of logits: logits of banned tokens are not read",
      holds_for_logits, NULL, NULL, poison_banned, the_same },
    { "shift-logits", "a constant, different for each row, is added to the logits", "log-probabilities and entropy do not change",
      "rows of logits without an objective: softmax does not depend on it", holds_for_softmax, NULL, NULL, shift_logits, logits_shifted },
    { "finite-differences", "log-probabilities are moved a little along a direction", "the loss changes as dlogp says",
      "objectives whose dlogp is the gradient of the loss, with nothing detached from logp; in f64, where the loss is smooth",
      holds_for_exact_gradients, "gradient", NULL, NULL, the_same }
};
const int n_relations = sizeof relations / sizeof *relations;

const char *const relation_properties[] = { "mean", "sum", "normalised", "unnormalised", "baseline", "linear", "differences", "gradient",
                                            "order", "length", NULL };
