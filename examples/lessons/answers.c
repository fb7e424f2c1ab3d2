/* The exercises of the lessons: is my answer right?   Licence: MIT-0
 *
 *     cc -std=c99 examples/lessons/answers.c -lm -o answers
 *     ./answers                     what each exercise asks for
 *     ./answers 3 -0.25 0.35        are these right? Without showing the answers
 *     ./answers 3                   the answers
 *
 * They are computed: by the headers where an objective is asked for, else by the formula beside them.  README.md explains them. */
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct { int exercise; const char *asked, *format, *word; double value; } answer;
static answer answers[64];
static int n_answers;

/* a number is right within 2 %; format: as README.md writes it */
static void number(int exercise, const char *asked, const char *format, double value) {
    answers[n_answers++] = (answer){ exercise, asked, format, NULL, value };
}

static void word(int exercise, const char *asked, const char *right) {
    answers[n_answers++] = (answer){ exercise, asked, NULL, right, 0 };
}

/* ---- one batch at a time: responses whose tokens have log-probability -1, now and before --------------------------------------------- */

enum { MOST = 4096, MOST_TOKENS = 2 * MOST };
static float reward[MOST], logp[MOST_TOKENS], advantage[MOST_TOKENS], dlogp[MOST_TOKENS];
static int64_t group_begin[MOST + 1], offset[MOST], length[MOST];
static grpo_report report;

/* of n responses, the same number to each prompt; i is right if right[i] and has tokens[i], both by turns of `period` */
static grpo_batch responses(int n, int prompts, int period, const int *right, const int *tokens) {
    grpo_batch batch;
    memset(&batch, 0, sizeof batch);
    for (int g = 0; g <= prompts; g++) group_begin[g] = g * (n / prompts);
    for (int i = 0, t = 0; i < n; t += tokens[i++ % period]) {
        reward[i] = (float)right[i % period];
        offset[i] = t;
        length[i] = tokens[i % period];
        batch.n_tokens = t + length[i];
    }
    for (int t = 0; t < batch.n_tokens; t++) logp[t] = -1;
    batch.n_groups = prompts; batch.group_begin = group_begin; batch.offset = offset; batch.length = length;
    batch.logp = batch.logp_old = batch.logp_ref = logp; batch.reward = reward;
    return batch;
}

/* the loss of a row, with another divisor if it is not NULL; advantage, dlogp and report have the rest */
static double loss_of(const char *row, const char *divisor, const grpo_batch *batch) {
    const grpo_output out = { .dlogp = dlogp };
    grpo_objective o;
    if (grpo_objective_named(row, &o) || (divisor && grpo_objective_choose(&o, "aggregation.kind", divisor))) exit(1);
    o.aggregation.constant = 8;
    o.reward.overlong = GRPO_OVERLONG_NONE;
    char text[GRPO_MESSAGE_SIZE];
    grpo_status st = grpo_advantages(&o, batch, advantage);
    if (!st) st = grpo_loss(&o, batch, advantage, NULL, &out, &report);
    if (st) { fprintf(stderr, "answers: %s\n", grpo_status_message(st, text, sizeof text)); exit(1); }
    return report.loss;
}

/* ---- the exercises ------------------------------------------------------------------------------------------------------------------- */

static double advantage_at(int percent, const char *row) { /* of a right answer in a group of 4000 */
    static int right[100], one[100];
    for (int i = 0; i < 100; i++) { right[i] = i < percent; one[i] = 1; }
    const grpo_batch batch = responses(4000, 1, 100, right, one);
    loss_of(row, NULL, &batch);
    return (double)advantage[0];
}

static void advantages_and_clips(void) {
    const int right[] = { 1, 0 }, tokens[] = { 2, 6 };
    number(1, "A of a right answer at p = 0.1, with the division", "%.2g", advantage_at(10, "grpo"));
    number(1, "and without", "%.2g", advantage_at(10, "dr-grpo"));
    number(1, "the weight that the division gives to a prompt with p = 0.01", "%.2g", advantage_at(1, "grpo") / advantage_at(1, "dr-grpo"));
    const grpo_batch batch = responses(2, 1, 2, right, tokens);
    loss_of("grpo", NULL, &batch);
    number(2, "the clip fraction of a run with one update per step", "%.2g", report.clip_fraction);
    number(3, "the largest fall of the token's log-probability, a negative number", "%.2f", 1000 * log1p(-3e-4));
    number(3, "its largest rise", "+%.2f", 1000 * log1p(4e-4));
}

static void estimators(void) {
    const grpo_kl_term k3 = grpo_kl_estimate(GRPO_KL_K3, grpo_two_diff(0.5, 0));       /* d(w k3)/d log p = w (k3 + its derivative) */
    word(4, "the factor, by its letter in lesson 2", "w");
    number(4, "with it, the derivative by log p at w = 1 and D = 0.5", "%.2g", k3.value + k3.derivative);
    number(4, "without it", "%.2g", k3.derivative);
}

/* by what the push of prompt 1's short response is divided when a response of 6 tokens gets 14 */
static double falls(const char *divisor, int prompt) {
    const int right[] = { 1, 0, 1, 0 }, before[] = { 2, 6, 2, 6 }, after[2][4] = { { 2, 14, 2, 6 }, { 2, 6, 2, 14 } };
    grpo_batch batch = responses(4, 2, 4, right, before);
    loss_of("dapo", divisor, &batch);
    const double was = (double)dlogp[0];
    batch = responses(4, 2, 4, right, after[prompt - 1]);
    loss_of("dapo", divisor, &batch);
    return was / (double)dlogp[0];
}

/* 1 if the mean of the losses of two prompts is the loss of both */
static double is_mean_of_parts(const char *divisor) {
    const int right[] = { 1, 0, 1, 0 }, tokens[] = { 2, 6, 3, 20 };
    const grpo_batch first = responses(2, 1, 2, right, tokens);
    const double part_1 = loss_of("dr-grpo", divisor, &first);
    const grpo_batch second = responses(2, 1, 2, right, tokens + 2);
    const double part_2 = loss_of("dr-grpo", divisor, &second);
    const grpo_batch both = responses(4, 2, 4, right, tokens);
    return fabs(loss_of("dr-grpo", divisor, &both) - (part_1 + part_2) / 2) < 1e-9;
}

static void divisors(void) {
    number(5, "a short response beside one of 6 tokens: by what its push is divided if that one gets 14 (both prompts: 2 and 6)", NULL,
           falls("group_mean_token_mean", 1));
    number(5, "the same if it is a response to the other prompt, by the paper's equation", NULL, falls("group_mean_token_mean", 2));
    number(5, "and with the number of all tokens of the batch", NULL, falls("token_mean", 2));
    number(6, "1/(N T_i): 1 if the mean over parts is right, else 0", NULL, is_mean_of_parts("seq_mean_token_mean"));
    number(6, "1/sum T of the batch", NULL, is_mean_of_parts("token_mean"));
    number(6, "1/(N C)", NULL, is_mean_of_parts("seq_mean_constant"));
    number(6, "1/N", NULL, is_mean_of_parts("seq_mean_token_sum"));
}

/* from how many samples on an estimate without bias is better than one with */
static double samples(double std, double biased_std, double bias) { return (std * std - biased_std * biased_std) / (bias * bias); }

/* to a multiple of unit: "about 900" */
static double about(double x, double unit) { return unit * floor(x/unit + 0.5); }

static int steps(double from, double to, double factor) {
    int n = 0;
    for (; from < to; from *= factor) n++;
    return n;
}

static void samples_and_steps(void) {
    const int right[] = { 1, 0 }, tokens[] = { 1, 2 };
    const grpo_batch batch = responses(4000, 1, 2, right, tokens);
    number(7, "samples, about", "%.0f", about(samples(0.6483, 0.0860, 0.0192), 10));
    number(8, "steps from 1 % to 50 % with 0.2", "%.2g", steps(0.01, 0.5, 1.2));
    number(8, "with 0.28", "%.2g", steps(0.01, 0.5, 1.28));
    number(8, "steps from 60 % to 100 %, with either", "%.2g", steps(0.6, 1, 1.28));
    number(9, "prompts, about", "%.0f", about(512 / (1 - pow(0.9, 8) - pow(0.1, 8)), 100));
    word(10, "the function", "expm1");
    number(11, "GRPO's loss in the first update at the start of training", "%.2g", fabs(loss_of("grpo", NULL, &batch)) < 1e-6 ? 0 : 1);
    number(11, "DAPO's", NULL, loss_of("dapo", NULL, &batch));
}

static void critics_and_lags(void) {
    number(12, "responses from which lambda = 1 is better than lambda = 0, about", "%.2g", samples(0.6044, 0.1324, 0.0826));
    number(12, "and than 0.95, about", "%.0f", about(samples(0.6044, 0.5073, 0.0116), 100));
    number(12, "with VAPO's alpha = 0.05: tokens from which a response is long", "%.3g", 1 / (0.05 * (1 - 0.95)));
    number(13, "the chance of a right token under the policy whose gradient it is", "%.3f", 1 / (1 + exp(4 * 0.2 - log(0.7 / 0.3))));
    number(13, "responses, four updates behind, about", "%.2g", samples(2.04, 0.58, 0.534 - 0.295));
    number(13, "eight updates behind, about", "%.0f", about(samples(14.41, 0.43, 0.534 - 0.055), 100));
}

/* ---- the answers --------------------------------------------------------------------------------------------------------------------- */

static int is_right(const answer *a, const char *given) {
    char *end;
    if (a->word) return !strncmp(given, a->word, strlen(a->word));
    const double x = strtod(given, &end);
    return end != given && !*end && fabs(x - a->value) <= 0.02 * fabs(a->value) + 1e-9;
}

static void show(const answer *a) {
    char text[32];
    snprintf(text, sizeof text, a->format ? a->format : "%.3g", a->value);
    printf("%2d  %s: %s\n", a->exercise, a->asked, a->word ? a->word : text);
}

/* exercise TAB what README.md must say in its answer, for check.sh */
static void show_for_page(void) {
    for (int k = 0; k < n_answers; k++) {
        if (!answers[k].word && !answers[k].format) continue;
        printf("%d\t", answers[k].exercise);
        if (answers[k].word) printf("%s\n", answers[k].word);
        else if (answers[k].value == 0) printf("%s\n", answers[k].exercise == 2 ? "Nothing" : "0 at the start");
        else { printf(answers[k].format, answers[k].value); printf("\n"); }
    }
}

int main(int argc, char **argv) {
    const int exercise = argc > 1 ? atoi(argv[1]) : 0;
    int n = 0, right = 0;
    advantages_and_clips();
    estimators();
    divisors();
    samples_and_steps();
    critics_and_lags();
    if (argc == 2 && !strcmp(argv[1], "--page")) { show_for_page(); return 0; }
    for (int k = 0; k < n_answers; k++) {
        if (argc == 1) { printf("%2d  %s\n", answers[k].exercise, answers[k].asked); continue; }
        if (answers[k].exercise != exercise) continue;
        n++;
        if (argc == 2) { show(&answers[k]); continue; }
        if (n > argc - 2) { printf("missing  %s\n", answers[k].asked); continue; }
        const int good = is_right(&answers[k], argv[n + 1]);
        right += good;
        printf("%s  %s: %s\n", good ? "right  " : "not yet", answers[k].asked, argv[n + 1]);
    }
    if (argc > 1 && n == 0) return fprintf(stderr, "answers: there is no exercise %s; they are 1 to 13\n", argv[1]), 2;
    return argc > 2 && (right < n || argc - 2 > n);
}
