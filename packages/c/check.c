/* The headers against the C arrays of cases_to_c.py, and the arrays against the headers; prints how many settings, metrics and mistakes the
 * cases have, and ends with "N passed, N failed".
 *
 *     python3 packages/c/cases_to_c.py gspo dapo >grpo_cases.h && cc -std=c99 -I. -I../.. packages/c/check.c -lm */
#define GRPO_DOUBLE
#define GSPO_IMPLEMENTATION
#include "gspo.h"
#include "grpo_cases.h"
#include "../../tests/support/check.h"
#include <stdlib.h>

static void check_all(const grpo_case *c, const char *what, const double *found, const double *expected, const double *scale, int count) {
    for (int k = 0; k < count; k++) {
        check(grpo_case_right(found[k], expected[k], scale[k], 4), "%s %s[%d]: found %.17g, expected %.17g", c->id, what, k, found[k],
              expected[k]);
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

static double metric_of(const grpo_report *r, const char *key) {
    const struct { const char *key; double value; } known[] = {
        { "policy_loss", r->policy_loss }, { "penalty_loss", r->penalty_loss }, { "clip_fraction_low", r->clip_fraction_low },
        { "clip_fraction_high", r->clip_fraction_high }, { "ratio_mean", r->ratio_mean }, { "ratio_max", r->ratio_max }, { "ess", r->ess },
        { "approx_kl_k3", r->approx_kl_k3 }, { "kl_k1", r->kl_k1 }, { "entropy", r->entropy }, { "masked_tokens", (double)r->masked_tokens }
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) if (!strcmp(known[k].key, key)) return known[k].value;
    return NAN;
}

static void check_metrics(const grpo_case *c, const grpo_report *r) {
    for (int k = 0; k < c->n_metrics; k++) {
        const double found = metric_of(r, c->metrics[k].key);
        check(c->metrics[k].scale >= 0, "%s: a scale below 0", c->id);
        if (!isnan(found)) check_all(c, c->metrics[k].key, &found, &c->metrics[k].value, &c->metrics[k].scale, 1);
    }
}

static int has_nan(const double *x, int count) {
    for (int k = 0; x && k < count; k++) if (isnan(x[k])) return 1;
    return 0;
}

/* where a log-probability is NaN, the flags say so; returns whether one is */
static int check_words(const grpo_case *c) {
    const int nan = has_nan(c->logp, c->n_tokens);
    check(!nan || strstr(c->flags, "NaNMasked"), "%s: a NaN without its flag", c->id);
    check(strlen(c->comment) > 5, "%s: its comment", c->id);
    return nan;
}

static void check_judging(void) {
    static const grpo_case_mistake two[] = { { "INFINITE", INFINITY }, { "TWO", 2 } };
    grpo_case c;
    memset(&c, 0, sizeof c);
    c.mistakes = two;
    c.n_mistakes = 2;
    check(grpo_case_right(0.5 + 1.4e-14, 0.5, 1, 64) && !grpo_case_right(0.5 + 1.5e-14, 0.5, 1, 64), "right: 64 eps of the scale");
    check(grpo_case_right(0.5 + 8e-16, 0.5, 1, 4) && !grpo_case_right(0.5 + 1e-15, 0.5, 1, 4), "right: 4 eps of the scale");
    check(grpo_case_right(2e-323, 0, 1e-320, 64) && !grpo_case_right(3e-323, 0, 1e-320, 64), "right: the smallest numbers");
    check(grpo_case_right(0, 0, 0, 64) && !grpo_case_right(5e-324, 0, 0, 64), "right: without a scale");
    check(grpo_case_right(INFINITY, INFINITY, 1, 64) && !grpo_case_right(INFINITY, 1, INFINITY, 64), "right: infinities");
    check(!grpo_case_right(NAN, 1, 1, 64) && !grpo_case_right(1, INFINITY, 1, 64), "right: NaN, and a number for an infinity");
    check(!strcmp(grpo_case_mistake_named(&c, 2.000001), "TWO"), "named: to seven digits");
    check(!strcmp(grpo_case_mistake_named(&c, 2.000002), "no known mistake"), "named: not to six");
    check(!strcmp(grpo_case_mistake_named(&c, INFINITY), "INFINITE"), "named: an infinity");
    check(!strcmp(grpo_case_mistake_named(&c, -INFINITY), "no known mistake"), "named: the other infinity");
    check(!strcmp(grpo_case_mistake_named(&c, NAN), "no known mistake"), "named: a NaN");
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
    if (check(ok, "%s is refused", c->id)) {
        check_all(c, "loss", &report.loss, &c->loss, &c->loss_scale, 1);
        check_all(c, "term", term, c->term, c->term_scale, c->n_tokens);
        check_all(c, "dlogp", dlogp, c->dlogp, c->dlogp_scale, c->n_tokens);
        check_metrics(c, &report);
    }
    free(begin); free(offset); free(length); free(advantage); free(term); free(dlogp); free(out.scratch);
}

static void check_name(const grpo_case *c, const char *what, double loss, int is_named) {
    const char *name = grpo_case_mistake_named(c, loss);
    check(!!strcmp(name, "no known mistake") == is_named, "%s %s: %g is %s", c->id, what, loss, name);
}

/* is it near what a mistake of the case gives? */
static int is_recorded(const grpo_case *c, double loss) {
    for (int k = 0; k < c->n_mistakes; k++) if (fabs(c->mistakes[k].loss - loss) <= 1) return 1;
    return 0;
}

int main(void) {
    int infinite = 0, nans = 0, settings = 0, metrics = 0, mistakes = 0;
    check_judging();
    for (int n = 0; n < N_GRPO_CASES; n++) {
        const grpo_case *c = &grpo_cases[n];
        evaluate(c);
        nans += check_words(c);
        settings += c->n_settings;
        metrics += c->n_metrics;
        mistakes += c->n_mistakes;
        for (int k = 0; k < c->n_mistakes; k++) {               /* its own number names it, or one that gives the same; no NaN does */
            check_name(c, c->mistakes[k].name, c->mistakes[k].loss, !isnan(c->mistakes[k].loss));
            infinite += isinf(c->mistakes[k].loss) != 0;
        }
        check_name(c, "NaN", NAN, 0);
        if (!is_recorded(c, 12345.678)) check_name(c, "nonsense", 12345.678, 0);
    }
    check(infinite > 0, "mistakes: none has an infinite loss");
    check(nans > 0, "flags: none says that there is a NaN");
    printf("%d cases, %d settings, %d metrics, %d mistakes of the loss\n", N_GRPO_CASES, settings, metrics, mistakes);
    return check_summary();
}
