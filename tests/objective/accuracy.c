/* accuracy DIRECTORY: prints the worst error of every output over the vectors, per variant, in ulps of scale.  Fails above COMPARE_LIMIT,
 * and where an output was not measured. */
#include "../support/compare.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct { double worst[COMPARE_N_OUTPUTS]; long measured[COMPARE_N_OUTPUTS], refused; } errors;

static void note(void *user, const test_case *c, const compared *n) {
    errors *e = user;
    (void)c;
    e->measured[n->output]++;
    if (!(n->error <= e->worst[n->output])) e->worst[n->output] = n->error;
}

static void measure_advantage(const test_case *c, errors *e) {
    outcome o = outcome_of_advantages(c, &c->objective);
    if (o.status) e->refused++;
    else compare_advantage(c, &o, note, e);
    outcome_free(&o);
}

static void measure_loss(const test_case *c, const grpo_real *advantage, errors *e) {
    outcome o = outcome_of_parts(c, &c->objective, advantage, gspo_loss_add);
    if (o.status) e->refused++;
    else compare_loss(c, &o, note, e);
    outcome_free(&o);
}

static void measure_case(const test_case *c, errors *e) {
    grpo_real *advantage = compare_expected_advantage(c);
    if (advantage) measure_loss(c, advantage, e);
    if (c->advantage.expect) measure_advantage(c, e);
    free(advantage);
}

static void join(errors *into, const errors *e) {
    for (int k = 0; k < COMPARE_N_OUTPUTS; k++) {
        if (e->worst[k] > into->worst[k]) into->worst[k] = e->worst[k];
        into->measured[k] += e->measured[k];
    }
    into->refused += e->refused;
}

/* every output was measured, and is within the limit */
static int within(const errors *e) {
    for (int k = 0; k < COMPARE_N_OUTPUTS; k++) if (!e->measured[k] || !(e->worst[k] <= COMPARE_LIMIT)) return 0;
    return 1;
}

static void print_error(double error, long measured) {
    char text[32] = "-";
    if (measured) snprintf(text, sizeof text, error < 1e4 ? "%.2f" : "%.1e", error);
    printf("%10s", text);
}

static void print_head(void) {
    printf("%-28s", "ulps of scale");
    for (int k = 0; k < COMPARE_N_OUTPUTS; k++) printf("%10s", compare_output_name[k]);
    putchar('\n');
}

static void print_row(const char *name, const errors *e) {
    printf("%-28s", name);
    for (int k = 0; k < COMPARE_N_OUTPUTS; k++) print_error(e->worst[k], e->measured[k]);
    putchar('\n');
}

static void measure_file(void *user, const char *name, const case_file *file) {
    errors e;
    memset(&e, 0, sizeof e);
    for (int64_t k = 0; k < file->n_cases; k++)
        if (file->cases[k].kind == CASE_OBJECTIVE) measure_case(&file->cases[k], &e);
    if (e.refused) fprintf(stderr, "%s: %ld evaluations refused\n", name, e.refused);
    print_row(name, &e);
    join(user, &e);
}

int main(int argc, char **argv) {
    errors worst;
    int unread;
    memset(&worst, 0, sizeof worst);
    if (argc != 2) return fputs("usage: accuracy DIRECTORY\n", stderr), 2;
    print_head();
    unread = case_each_file(argv[1], measure_file, &worst);
    print_row("worst", &worst);
    return unread || worst.refused || !within(&worst);
}
