/* The headers against the C arrays of cases_to_c.py, and the arrays against the headers; ends with "N passed, N failed".
 *
 *     python3 packages/c/cases_to_c.py gspo dapo >grpo_cases.h && cc -std=c99 -I. -I../.. packages/c/check.c -lm */
#define GRPO_DOUBLE
#define GSPO_IMPLEMENTATION
#include "gspo.h"
#include "grpo_cases.h"
#include <stdio.h>
#include <stdlib.h>

static int passed, failed;

static void check_all(const grpo_case *c, const char *what, const double *found, const double *expected, const double *scale, int count) {
    for (int k = 0; k < count; k++) {
        if (grpo_case_right(found[k], expected[k], scale[k], 4)) { passed++; continue; }
        failed++;
        printf("FAIL %s %s[%d]: found %.17g, expected %.17g\n", c->id, what, k, found[k], expected[k]);
    }
}

static void *room(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    if (!p) abort();
    return p;
}

static int set_objective(const grpo_case *c, grpo_objective *objective) {
    grpo_status status = GRPO_OK;
    memset(objective, 0, sizeof *objective);
    for (int n = 0; n < c->n_settings && !status; n++) {
        const grpo_case_setting *s = &c->settings[n];
        status = s->choice ? grpo_objective_choose(objective, s->path, s->choice) : grpo_objective_set(objective, s->path, s->value);
    }
    return status == GRPO_OK;
}

/* the arrays of tokens as they are; those of groups and responses, whose integers are wider there, in new ones */
static grpo_batch batch_of(const grpo_case *c, int64_t *begin, int64_t *offset, int64_t *length) {
    grpo_batch b;
    memset(&b, 0, sizeof b);
    for (int i = 0, tokens = 0; i < c->n_responses; tokens += c->length[i++]) { offset[i] = tokens; length[i] = c->length[i]; }
    for (int i = c->n_responses - 1; i >= 0; i--) begin[c->group[i]] = i;
    begin[c->n_groups] = c->n_responses;
    b.n_groups = c->n_groups; b.group_begin = begin; b.offset = offset; b.length = length; b.n_tokens = c->n_tokens;
    b.logp = c->logp; b.logp_old = c->logp_old; b.logp_ref = c->logp_ref; b.logp_rollout = c->logp_rollout;
    b.logp_teacher = c->logp_teacher;
    b.entropy = c->entropy; b.value = c->value; b.step_reward = c->step_reward; b.sum_pi_squared = c->sum_pi_squared;
    b.external_weight = c->external_weight; b.eps_low = c->eps_low; b.eps_high = c->eps_high;
    b.divergence_ref = c->divergence_ref; b.divergence_old = c->divergence_old;
    b.mask = c->mask; b.selected = c->selected; b.step_end = c->step_end; b.segment_end = c->segment_end; b.kl_mask = c->kl_mask;
    b.nll_mask = c->nll_mask; b.marked = c->marked; b.shaping_mask = c->shaping_mask;
    b.reward = c->reward; b.rewards = c->rewards; b.reward_weight = c->reward_weight; b.n_rewards = c->n_rewards;
    b.state = c->state; b.token_id = c->token_id;
    b.truncated = c->truncated; b.excluded = c->excluded; b.baseline = c->baseline; b.log_partition = c->log_partition;
    return b;
}

static void evaluate(const grpo_case *c) {
    const size_t tokens = (size_t)c->n_tokens;
    int64_t *begin = room((size_t)c->n_groups + 1, sizeof *begin), *offset = room((size_t)c->n_responses, sizeof *offset);
    int64_t *length = room((size_t)c->n_responses, sizeof *length);
    double *advantage = room(tokens, sizeof *advantage), *term = room(tokens, sizeof *term), *dlogp = room(tokens, sizeof *dlogp);
    grpo_batch batch = batch_of(c, begin, offset, length);
    grpo_objective objective;
    grpo_output out;
    grpo_report report;
    int ok = set_objective(c, &objective);
    memset(&out, 0, sizeof out);
    out.term = term;
    out.dlogp = dlogp;
    out.scratch_size = gspo_scratch(&objective, &batch);
    out.scratch = room((size_t)(out.scratch_size > 0 ? out.scratch_size : 0), sizeof *out.scratch);
    if (ok && c->right_advantage) {
        ok = !grpo_advantages(&objective, &batch, advantage);
        check_all(c, "advantage", advantage, c->right_advantage, c->advantage_scale, c->n_tokens);
    }
    ok = ok && !gspo_loss(&objective, &batch, c->advantage, NULL, &out, &report);
    if (ok) {
        check_all(c, "loss", &report.loss, &c->loss, &c->loss_scale, 1);
        check_all(c, "term", term, c->term, c->term_scale, c->n_tokens);
        check_all(c, "dlogp", dlogp, c->dlogp, c->dlogp_scale, c->n_tokens);
    } else { failed++; printf("FAIL %s is refused\n", c->id); }
    free(begin); free(offset); free(length); free(advantage); free(term); free(dlogp); free(out.scratch);
}

static void check_name(const grpo_case *c, const char *what, double loss, int is_named) {
    const char *name = grpo_case_mistake_named(c, loss);
    if (!!strcmp(name, "no known mistake") == is_named) { passed++; return; }
    failed++;
    printf("FAIL %s %s: %g is %s\n", c->id, what, loss, name);
}

/* is it near what a mistake of the case gives? */
static int is_recorded(const grpo_case *c, double loss) {
    for (int k = 0; k < c->n_mistakes; k++) if (fabs(c->mistakes[k].loss - loss) <= 1) return 1;
    return 0;
}

int main(void) {
    int infinite = 0;
    for (int n = 0; n < N_GRPO_CASES; n++) {
        const grpo_case *c = &grpo_cases[n];
        evaluate(c);
        for (int k = 0; k < c->n_mistakes; k++) {               /* its own number names it, or one that gives the same; no NaN does */
            check_name(c, c->mistakes[k].name, c->mistakes[k].loss, !isnan(c->mistakes[k].loss));
            infinite += isinf(c->mistakes[k].loss) != 0;
        }
        check_name(c, "NaN", NAN, 0);
        if (!is_recorded(c, 12345.678)) check_name(c, "nonsense", 12345.678, 0);
    }
    if (!infinite) { failed++; printf("FAIL no case here has a mistake of an infinite loss\n"); }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
