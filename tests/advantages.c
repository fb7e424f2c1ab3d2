/* grpo_advantages against reference/credit.h on random batches, within 4 ulps of the size of each advantage, and 0 where it is exactly 0:
 * steps, transforms, reweighting, normalisation and token-level terms.  Axis 1 is not covered. */
#include "check.h"
#include "status.h"
#include "reference/credit.h"

enum { TRIALS = 400 / DRAWS_OVER };
static const double ULP = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52;
static const double SMALLEST = sizeof(grpo_real) == 4 ? 0x1p-149 : 0x1p-1074;
static double worst;                                             /* ulps of size */
static long compared;

/* ---- the comparison --------------------------------------------------------------------------------------------------------------- */

static void compare(evaluation *k, const char *what, int trial) {
    const grpo_batch batch = rollouts_view(&k->b);
    grpo_real *found = (grpo_real *)test_alloc(k->b.n_tokens, sizeof *found);
    const grpo_status st = grpo_advantages(&k->obj, &batch, found);
    int64_t i, t;
    check(!st, "%s %d: %s", what, trial, status_line(st));
    for (i = 0; i < k->b.n_sequences && !st; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
        const reference_real off = ref_abs((reference_real)found[t] - k->A[t].v);
        if (!is_active(&k->b, t) || !(k->A[t].s < (sizeof *found == 4 ? 1e37 : 1e290))) continue;         /* near overflow */
        compared++;
        if (off > SMALLEST && (double)(off / k->A[t].s) / ULP > worst) worst = (double)(off / k->A[t].s) / ULP;
        check(off <= 4 * ULP * k->A[t].s + SMALLEST, "%s %d: %.17g instead of %.17g, %.3g ulps of its size, sequence %d, token %d",
              what, trial, (double)found[t], (double)k->A[t].v, (double)(off / k->A[t].s) / ULP, (int)i, (int)(t - k->b.offset[i]));
    }
    free(found);
}

static double any(rng *r, double a, double b, double c) { const double x[] = { a, b, c }; return rng_pick(r, x, 3); }

/* draws baseline, scale and normalisation */
static void random_common(rng *r, grpo_advantage *a) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT, GRPO_SCALE_TOKEN_WHITEN,
                                             GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION };
    a->baseline = (grpo_baseline_kind)rng_below(r, 3);
    a->scale = scale[rng_below(r, a->step_group == GRPO_STEP_GROUP_PROMPT ? 5 : 3)];
    a->std = (grpo_std_kind)rng_below(r, 2);
    a->eps_place = (grpo_eps_place_kind)rng_below(r, 4);
    a->eps = a->scale_divisor = any(r, 1e-6, 0.5, 1);
    a->singleton = (grpo_singleton_kind)rng_below(r, 2);
    a->baseline_shift = rng_chance(r, 25) ? -0.1 : 0;
    if (a->step_group == GRPO_STEP_GROUP_PROMPT && a->scale != GRPO_SCALE_TOKEN_WHITEN && rng_chance(r, 50)) a->batch_norm
        = rng_chance(r, 50) ? GRPO_BATCH_NORM_TOKENS : GRPO_BATCH_NORM_MEAN_ABS;
    a->batch_norm_eps = any(r, 0, 1e-8, 0.5);
}

/* draws advantage.samples where it is compatible with the rest */
static void random_samples(rng *r, grpo_advantage *a) {
    const int plain = a->scale == GRPO_SCALE_NONE || a->scale == GRPO_SCALE_GROUP_STD || a->scale == GRPO_SCALE_CONSTANT;
    if (!plain || a->baseline == GRPO_BASELINE_LEAVE_ONE_OUT || a->transform != GRPO_TRANSFORM_NONE
        || a->reweight != GRPO_REWEIGHT_NONE || a->batch_norm != GRPO_BATCH_NORM_NONE) return;
    a->samples = (grpo_samples_kind)rng_below(r, 2);
}

static void random_finish(rng *r, grpo_advantage *a) {
    if (rng_chance(r, 40)) a->token_baseline = rng_chance(r, 50) ? GRPO_TOKEN_BASELINE_OPTIMAL : GRPO_TOKEN_BASELINE_OPTIMAL_SHARED;
    if (rng_chance(r, 30)) { a->entropy = GRPO_ENTROPY_RELATIVE; a->entropy_coef = any(r, 0.3, 2, -1); }
    else if (rng_chance(r, 30)) {
        a->entropy = GRPO_ENTROPY_RESPONSE;
        a->entropy_coef = any(r, 0.1, 1, -1);
        a->entropy_kappa = a->entropy_max = any(r, 0, 0.7, 1);
    }
    if (rng_chance(r, 30)) { a->teacher_share = any(r, 0.5, 1, 0.1); a->teacher_clip = any(r, 0.2, 0, 0.9); }
    if (rng_chance(r, 30)) a->teacher_coef = any(r, 1, -0.5, 3);
    if (rng_chance(r, 50)) { a->teacher_gamma = any(r, 1, 0.9, 0.25); a->teacher_norm = (grpo_teacher_norm_kind)rng_below(r, 2); }
    if (rng_chance(r, 30)) a->kl_centred_coef = any(r, 0.1, -1, 3);
    a->marked = (grpo_marked_kind)rng_below(r, 3);
    a->marked_value = any(r, 0.2, -5, -0.5);
    if (rng_chance(r, 20)) { a->clamp_low = -0.5; a->clamp_high = 1; }
}

/* rewards with ties: multiples of 1/8, or few different values */
static void random_rewards(rng *r, rollouts *b) {
    const int kind = rng_chance(r, 50) ? REWARDS_DYADIC : REWARDS_BELL, few = rng_chance(r, 50);
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        b->reward[i] = (grpo_real)random_reward(r, few ? REWARDS_BINARY : kind);
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (b->mask[t]) b->token[TOKEN_STEP_REWARD][t] = (grpo_real)(few ? (double)rng_below(r, 3) - 1 : random_reward(r, kind));
    }
}

static void trial_steps(rng *r, int trial) {
    static evaluation k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k.obj, 0, sizeof k.obj);
    a->credit = rng_chance(r, 30) ? GRPO_CREDIT_STEP : rng_chance(r, 50) ? GRPO_CREDIT_STEP_OWN : GRPO_CREDIT_EPISODE_STEP;
    a->step_value = (grpo_step_value_kind)rng_below(r, 3);
    a->step_group = (grpo_step_group_kind)rng_below(r, 4);
    a->gamma = a->step_gamma = any(r, 1, 0.95, 0.5);
    a->history_length = any(r, 1, 2, 4);
    a->history_power = any(r, 0, 1, -1.5);
    a->step_coef = any(r, 1, 0.5, -2);
    if (a->credit == GRPO_CREDIT_STEP) a->step_discount = (grpo_step_discount_kind)rng_below(r, 2);
    random_common(r, a);
    if (a->credit == GRPO_CREDIT_EPISODE_STEP) { a->batch_norm = GRPO_BATCH_NORM_NONE; random_samples(r, a); }
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_steps(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "steps", trial);
    rollouts_free(&k.b);
}

static void trial_outcomes(rng *r, int trial) {
    static evaluation k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g, smallest = MOST_ITEMS;
    memset(&k.obj, 0, sizeof k.obj);
    random_common(r, a);
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) {
        const int64_t size = k.b.group_begin[g + 1] - k.b.group_begin[g];
        if (size < smallest) smallest = size;
    }
    a->pass_k = (double)(1 + rng_below(r, smallest));
    if (rng_chance(r, 60)) a->transform = rng_chance(r, 33) ? GRPO_TRANSFORM_PKPO_MAX
        : rng_chance(r, 50) ? GRPO_TRANSFORM_PKPO_GAIN : GRPO_TRANSFORM_PKPO_LOO;
    if (a->scale != GRPO_SCALE_TOKEN_WHITEN && a->batch_norm == GRPO_BATCH_NORM_NONE && rng_chance(r, 50)) a->reweight
        = GRPO_REWEIGHT_EXPONENTIAL;
    a->reweight_temperature = any(r, 1, 5, -2);
    if (a->reweight == GRPO_REWEIGHT_EXPONENTIAL && rng_chance(r, 50)) a->reweight = GRPO_REWEIGHT_FOCAL;
    a->difficulty_weight_low = a->focal_reward_low = any(r, 0, -1, 0.1);
    a->difficulty_weight_high = a->focal_reward_high = any(r, 1, 0.9, 2);
    a->focal_gamma = any(r, 1, 0, 2.5);
    random_samples(r, a);
    for (g = 0; g < k.b.n_groups; g++) credit_outcomes(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "outcomes", trial);
    rollouts_free(&k.b);
}

static void trial_returns(rng *r, int trial) {
    static evaluation k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k, 0, sizeof k);
    a->credit = rng_chance(r, 30) ? GRPO_CREDIT_RETURN : trial % 2 ? GRPO_CREDIT_STEP_GAE : GRPO_CREDIT_GAE;
    a->gamma = a->step_gamma = any(r, 1, 0.95, 0.5);
    a->lambda = any(r, 1, 0.9, 0);
    a->lambda_length = any(r, 0, 0.3, 1);
    if (a->credit == GRPO_CREDIT_STEP_GAE) a->step_value = (grpo_step_value_kind)rng_below(r, 3);
    if (a->credit == GRPO_CREDIT_STEP_GAE) a->step_group = (grpo_step_group_kind)rng_below(r, 4);
    a->history_length = any(r, 1, 2, 4);
    a->history_power = any(r, 0, 1, -1.5);
    if (a->credit != GRPO_CREDIT_STEP_GAE) a->bootstrap = (grpo_bootstrap_kind)rng_below(r, 2);
    a->truncated_tail = any(r, 0, 1, 4);
    random_common(r, a);
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_sequences; g++) k.b.truncated[g] = (uint8_t)rng_chance(r, 50);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_returns(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "returns", trial);
    rollouts_free(&k.b);
}

/* credit of prefix trees and of excluded responses, with the few choices that both are compatible with */
static void trial_plain(rng *r, int trial) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT };
    static evaluation k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k, 0, sizeof k);
    random_common(r, a);
    a->batch_norm = GRPO_BATCH_NORM_NONE;
    a->scale = scale[rng_below(r, 3)];
    if (trial % 2) a->credit = GRPO_CREDIT_PREFIX_TREE;
    else a->excluded = (grpo_excluded_kind)(1 + rng_below(r, 3));
    a->excluded_coef = any(r, 1.2, 0, -1);
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_tokens; g++) if (rng_chance(r, 50)) k.b.token_id[g] = 0;             /* longer prefixes */
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) { if (trial % 2) credit_tree(&k, g); else credit_with_excluded(&k, g); }
    random_finish(r, a);
    finish_all(&k);
    compare(&k, trial % 2 ? "tree" : "outside", trial);
    rollouts_free(&k.b);
}

static void trial_shares(rng *r, int trial) {
    static evaluation k;
    grpo_advantage *a = &k.obj.advantage;
    int64_t g;
    memset(&k.obj, 0, sizeof k.obj);
    a->credit = GRPO_CREDIT_ENTROPY_SHARE;
    a->entropy_share_coef = any(r, 0.1, 0, 3);
    a->entropy_share_eps = any(r, 1e-8, 0.5, 1);
    a->std = (grpo_std_kind)rng_below(r, 2);
    a->eps_place = (grpo_eps_place_kind)rng_below(r, 4);
    a->eps = a->scale_divisor = any(r, 1e-8, 0.5, 0);
    rollouts_random(r, 0, &k.b);
    random_rewards(r, &k.b);
    for (g = 0; g < k.b.n_groups; g++) credit_shares(&k, g);
    random_finish(r, a);
    finish_all(&k);
    compare(&k, "shares", trial);
    rollouts_free(&k.b);
}

static void trial_beta(rng *r, int trial) {
    static evaluation k;
    const int kind = (int)rng_below(r, 3);
    int64_t g, i;
    memset(&k.obj, 0, sizeof k.obj);
    k.obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    k.obj.advantage.scale = GRPO_SCALE_BETA;
    rollouts_random(r, 0, &k.b);
    for (g = 0; g < k.b.n_groups; g++) {
        const int64_t begin = k.b.group_begin[g], end = k.b.group_begin[g + 1];
        for (i = begin; i < end; i++)
            k.b.reward[i] = (grpo_real)(kind == 0 ? rng_chance(r, 50) : kind == 1 ? rng_unit(r) : 0.5 + rng_bell(r) / 4096);
        if (end - begin > 1) { k.b.reward[begin] = (grpo_real)0.25; k.b.reward[begin + 1] = (grpo_real)0.75; }
    }
    for (g = 0; g < k.b.n_groups; g++) if (k.b.group_begin[g + 1] - k.b.group_begin[g] == 1) { rollouts_free(&k.b); return; }
    credit_beta(&k);
    compare(&k, "beta", trial);
    rollouts_free(&k.b);
}

/* ---- large groups ------------------------------------------------------------------------------------------------------------------- */

/* rotates the responses of the only group to begin with `first`; the tokens stay in place */
static void rotate_responses(const rollouts *b, int64_t first, rollouts *to) {
    const int64_t n = b->n_sequences;
    int64_t i;
    for (i = 0; i < n; i++) {
        const int64_t from = (i + first) % n;
        to->offset[i] = b->offset[from]; to->length[i] = b->length[from];
        to->reward[i] = b->reward[from]; to->truncated[i] = b->truncated[from];
    }
}

/* an objective that reads the reward of any response at any time */
static void large_group_objective(int kind, grpo_objective *obj) {
    grpo_advantage *a = &obj->advantage;
    memset(obj, 0, sizeof *obj);
    obj->reward.length = GRPO_LENGTH_KIMI; obj->reward.length_coef = 0.5;
    obj->reward.kl = GRPO_KL_K2; obj->reward.kl_coef = 0.25;
    a->baseline = GRPO_BASELINE_GROUP_MEAN; a->scale = GRPO_SCALE_GROUP_STD; a->eps = a->scale_divisor = 1e-6;
    if (kind == 1) {                                                /* has an effect where all R are equal */
        memset(&obj->reward, 0, sizeof obj->reward);
        a->entropy = GRPO_ENTROPY_ZERO_VARIANCE; a->entropy_coef = 0.1;
    }
    if (kind == 2) a->token_baseline = GRPO_TOKEN_BASELINE_OPTIMAL;
    if (kind == 3) { a->credit = GRPO_CREDIT_STEP_OWN; a->step_value = GRPO_STEP_VALUE_RESPONSE; }
    if (kind == 4) a->credit = GRPO_CREDIT_PREFIX_TREE;
    if (kind == 5) {
        a->credit = GRPO_CREDIT_ENTROPY_SHARE; a->entropy_share_coef = 0.5; a->entropy_share_eps = 0.01;
        a->baseline = GRPO_BASELINE_NONE; a->scale = GRPO_SCALE_NONE;
    }
}

/* the headers cache R, and energies, of the first responses of a group: an advantage must not depend on the position in the group */
static void check_large_group(rng *r, int trial) {
    static const int64_t first[] = { 1, 100, 257 };
    enum { RESPONSES = 300 };
    const int kind = trial % 6;
    rollouts b, turned;
    grpo_objective obj;
    grpo_batch view;
    grpo_real *A, *B;
    int64_t i, size;
    int k;
    large_group_objective(kind, &obj);
    rollouts_alloc_groups(&b, 1, RESPONSES, 1);
    rollouts_alloc_groups(&turned, 1, RESPONSES, 1);
    b.group_begin[0] = turned.group_begin[0] = 0; b.group_begin[1] = turned.group_begin[1] = RESPONSES;
    for (i = 0; i < RESPONSES; i++) b.length[i] = 1 + rng_below(r, 3);
    rollouts_alloc_tokens(&b, rollouts_place(r, &b));
    rollouts_garble(r, &b);
    random_group(r, 0, &b, 0);
    for (i = 0; kind == 1 && i < RESPONSES; i++) b.reward[i] = 1;
    size = b.n_tokens;
    A = (grpo_real *)test_alloc(size, sizeof *A);
    B = (grpo_real *)test_alloc(size, sizeof *B);
    memset(A, 0, (size_t)size * sizeof *A);
    memset(B, 0, (size_t)size * sizeof *B);
    view = rollouts_view(&b);
    check(grpo_advantages(&obj, &view, A) == GRPO_OK, "trial %d: a large group is refused", trial);
    for (k = 0; k < 3; k++) {
        rotate_responses(&b, first[k], &turned);
        view.offset = turned.offset; view.length = turned.length; view.reward = turned.reward; view.truncated = turned.truncated;
        check(grpo_advantages(&obj, &view, B) == GRPO_OK, "trial %d: a large group in another order is refused", trial);
        check(memcmp(A, B, (size_t)size * sizeof *A) == 0, "trial %d, kind %d: the order of %d responses changes their advantages",
              trial, kind, (int)RESPONSES);
    }
    free(A); free(B);
    rollouts_free(&b);
    rollouts_free(&turned);
}

int main(void) {
    rng r = { 29 };
    int trial;
    for (trial = 0; trial < TRIALS; trial++) trial_steps(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_outcomes(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_returns(&r, trial);
    for (trial = 0; trial < 2 * TRIALS; trial++) trial_plain(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_shares(&r, trial);
    for (trial = 0; trial < TRIALS; trial++) trial_beta(&r, trial);
    for (trial = 0; trial < 12; trial++) check_large_group(&r, trial);
    printf("worst of %ld advantages %.2f ulps of size\n", compared, worst);
    return check_summary();
}
