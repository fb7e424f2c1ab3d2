/* grpo_advantages against reference/pools.h on random batches, within 4 ulps of the size of each advantage, and 0 where it is exactly 0:
 * rewards and their shaping, baselines, scales, steps, transforms, reweighting, normalisation and token-level terms.
 *
 *     advantages                          the test, with a short search
 *     advantages SEED                     the same with other draws
 *     advantages SEED STARTS STEPS        a longer one
 *
 * The search changes one to three rewards, values or numbers of the objective at a time, and takes back what made the largest error
 * smaller.  It measures errors in the size of the vectors, and in a narrow size, in which R - b counts as one number: rewards are exact, so
 * that nothing of their size has to be in the error of R - b, which the size of the vectors allows. */
#include "../support/check.h"
#include "../support/status.h"
#include "../support/climb.h"
#include "../support/field.h"
#include "../reference/pools.h"

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
    if (hangs_on_rounding) { free(found); return; }
    for (i = 0; i < k->b.n_sequences && !st; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
        const reference_real off = ref_abs((reference_real)found[t] - k->A[t].v);
        if (!is_active(&k->b, t) || !(k->A[t].s < (sizeof *found == 4 ? 1e37 : 1e290))) continue;     /* near overflow */
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

/* rewards with ties: multiples of 1/8, or few different values; or all within a few ulps of 1 */
static void random_rewards(rng *r, rollouts *b) {
    const int kind = rng_chance(r, 50) ? REWARDS_DYADIC : REWARDS_BELL, few = rng_chance(r, 50), near_one = rng_chance(r, 15);
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        b->reward[i] = (grpo_real)(near_one ? 1 + 8 * ULP * rng_unit(r) : random_reward(r, few ? REWARDS_BINARY : kind));
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (b->mask[t]) b->token[TOKEN_STEP_REWARD][t] = (grpo_real)(few ? (double)rng_below(r, 3) - 1 : random_reward(r, kind));
    }
}

static int draw_steps(rng *r, evaluation *k) {
    grpo_advantage *a = &k->obj.advantage;
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
    rollouts_random(r, 0, &k->b);
    random_rewards(r, &k->b);
    random_finish(r, a);
    return 1;
}

static int draw_outcomes(rng *r, evaluation *k) {
    grpo_advantage *a = &k->obj.advantage;
    int64_t g, smallest = MOST_ITEMS;
    random_common(r, a);
    rollouts_random(r, 0, &k->b);
    random_rewards(r, &k->b);
    for (g = 0; g < k->b.n_groups; g++) {
        const int64_t size = k->b.group_begin[g + 1] - k->b.group_begin[g];
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
    random_finish(r, a);
    return 1;
}

static int draw_returns(rng *r, evaluation *k) {
    grpo_advantage *a = &k->obj.advantage;
    int64_t i;
    a->credit = rng_chance(r, 30) ? GRPO_CREDIT_RETURN : rng_chance(r, 50) ? GRPO_CREDIT_STEP_GAE : GRPO_CREDIT_GAE;
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
    rollouts_random(r, 0, &k->b);
    for (i = 0; i < k->b.n_sequences; i++) k->b.truncated[i] = (uint8_t)rng_chance(r, 50);
    random_rewards(r, &k->b);
    random_finish(r, a);
    return 1;
}

/* credit of prefix trees and of excluded responses, with the few choices that both are compatible with */
static void draw_plain(rng *r, evaluation *k) {
    static const grpo_scale_kind scale[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_CONSTANT };
    grpo_advantage *a = &k->obj.advantage;
    int64_t t;
    random_common(r, a);
    a->batch_norm = GRPO_BATCH_NORM_NONE;
    a->scale = scale[rng_below(r, 3)];
    rollouts_random(r, 0, &k->b);
    for (t = 0; t < k->b.n_tokens; t++) if (rng_chance(r, 50)) k->b.token_id[t] = 0;             /* longer prefixes */
    random_rewards(r, &k->b);
    random_finish(r, a);
}

static int draw_tree(rng *r, evaluation *k) {
    k->obj.advantage.credit = GRPO_CREDIT_PREFIX_TREE;
    draw_plain(r, k);
    return 1;
}

static int draw_excluded(rng *r, evaluation *k) {
    k->obj.advantage.excluded = (grpo_excluded_kind)(1 + rng_below(r, 3));
    k->obj.advantage.excluded_coef = any(r, 1.2, 0, -1);
    draw_plain(r, k);
    return 1;
}

static int draw_shares(rng *r, evaluation *k) {
    grpo_advantage *a = &k->obj.advantage;
    a->credit = GRPO_CREDIT_ENTROPY_SHARE;
    a->entropy_share_coef = any(r, 0.1, 0, 3);
    a->entropy_share_eps = any(r, 1e-8, 0.5, 1);
    a->std = (grpo_std_kind)rng_below(r, 2);
    a->eps_place = (grpo_eps_place_kind)rng_below(r, 4);
    a->eps = a->scale_divisor = any(r, 1e-8, 0.5, 0);
    rollouts_random(r, 0, &k->b);
    random_rewards(r, &k->b);
    random_finish(r, a);
    return 1;
}

static int draw_beta(rng *r, evaluation *k) {
    const int kind = (int)rng_below(r, 4);
    const double near_half = kind == 2 ? 1 / 4096.0 : pow(10, -4 - 8 * rng_unit(r));
    int64_t g, i;
    k->obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    k->obj.advantage.scale = GRPO_SCALE_BETA;
    rollouts_random(r, 0, &k->b);
    for (g = 0; g < k->b.n_groups; g++) {
        const int64_t begin = k->b.group_begin[g], end = k->b.group_begin[g + 1];
        for (i = begin; i < end; i++)
            k->b.reward[i] = (grpo_real)(kind == 0 ? rng_chance(r, 50) : kind == 1 ? rng_unit(r) : 0.5 + near_half * rng_bell(r));
        if (end - begin > 1) { k->b.reward[begin] = (grpo_real)0.25; k->b.reward[begin + 1] = (grpo_real)0.75; }
    }
    for (g = 0; g < k->b.n_groups; g++) if (k->b.group_begin[g + 1] - k->b.group_begin[g] == 1) return 0;
    return 1;
}

/* every shaping of rewards */
static void random_reward_axis(rng *r, grpo_reward *o, int with_kl) {
    o->truncated = (grpo_reward_truncated_kind)rng_below(r, 2);
    o->truncated_factor = any(r, 0, 0.3, 1);
    o->length = (grpo_length_kind)rng_below(r, 4);
    o->length_coef = any(r, 0.5, 1, -0.1);
    o->length_max = any(r, 4.5, 8, 1024);
    o->correct_low = any(r, 0.5, 1, 0); o->correct_high = any(r, 1, 2, 0.1);
    o->wrong_low = any(r, -1, 0, -0.3); o->wrong_high = any(r, -0.5, 0, 0.7);
    o->overlong = (grpo_overlong_kind)rng_below(r, 3);
    o->overlong_max = any(r, 8, 12, 3); o->overlong_cache = any(r, 2, 3, 1); o->overlong_factor = any(r, 1, 0.1, -0.5);
    o->map = (grpo_map_kind)rng_below(r, 2);
    o->map_bias = any(r, 0, -0.5, 0.1); o->map_factor = any(r, 1, 10, -0.3);
    if (rng_chance(r, 30)) { o->map_low = -0.5; o->map_high = any(r, 0.5, 20, 0); }
    if (with_kl) { o->kl = (grpo_kl_kind)rng_below(r, 5); o->kl_coef = any(r, 0.05, 1, -0.3); }
}

static int draw_pools(rng *r, evaluation *k) {
    static const grpo_credit_kind credit[] = { GRPO_CREDIT_OUTCOME, GRPO_CREDIT_OUTCOME, GRPO_CREDIT_RETURN, GRPO_CREDIT_GAE };
    grpo_advantage *a = &k->obj.advantage;
    random_common(r, a);
    if (rng_chance(r, 50)) a->batch_norm = GRPO_BATCH_NORM_NONE;
    a->credit = credit[rng_below(r, 4)];
    a->baseline = (grpo_baseline_kind)rng_below(r, GRPO_BASELINE_KALMAN + 1);
    do a->scale = (grpo_scale_kind)rng_below(r, GRPO_SCALE_MEAN_ABSOLUTE_DEVIATION + 1); while (a->scale == GRPO_SCALE_BETA);
    if (a->scale != GRPO_SCALE_TOKEN_WHITEN && rng_chance(r, 20)) a->batch_norm = GRPO_BATCH_NORM_ITEMS;
    if (a->scale == GRPO_SCALE_KALMAN_STD) a->baseline = GRPO_BASELINE_KALMAN;
    a->quantile = any(r, 0.5, 0.3, 1); a->hdi_mass = any(r, 0.5, 0.8, 0.1); a->temperature = any(r, 1, 0.01, 30);
    a->process_noise = any(r, 1e-5, 0, 1); a->observation_noise = any(r, 0.01, 1, 1e-12);
    a->gamma = any(r, 1, 0.95, 0.5); a->lambda = any(r, 1, 0.9, 0); a->truncated_tail = any(r, 0, 0, 1);
    if (a->credit == GRPO_CREDIT_GAE) a->bootstrap = (grpo_bootstrap_kind)rng_below(r, 2);
    if (a->credit == GRPO_CREDIT_OUTCOME && rng_chance(r, 20)) a->rewards = GRPO_REWARDS_EACH;
    else if (rng_chance(r, 60)) random_reward_axis(r, &k->obj.reward, rng_chance(r, 50));
    rollouts_random(r, 0, &k->b);
    random_rewards(r, &k->b);
    random_finish(r, a);
    return !grpo_objective_check(&k->obj);
}

static void each_group(evaluation *k, void (*credit)(evaluation *k, int64_t g)) {
    int64_t g;
    for (g = 0; g < k->b.n_groups; g++) credit(k, g);
}

static void all_steps(evaluation *k) { each_group(k, credit_steps); }
static void all_outcomes(evaluation *k) { each_group(k, credit_outcomes); }
static void all_returns(evaluation *k) { each_group(k, credit_returns); }
static void all_trees(evaluation *k) { each_group(k, credit_tree); }
static void all_excluded(evaluation *k) { each_group(k, credit_with_excluded); }
static void all_shares(evaluation *k) { each_group(k, credit_shares); }

static const struct { const char *name; int (*draw)(rng *r, evaluation *k); void (*credit)(evaluation *k); } kinds[] = {
    { "steps", draw_steps, all_steps }, { "outcomes", draw_outcomes, all_outcomes }, { "returns", draw_returns, all_returns },
    { "tree", draw_tree, all_trees }, { "outside", draw_excluded, all_excluded }, { "shares", draw_shares, all_shares },
    { "beta", draw_beta, credit_beta }, { "pools", draw_pools, credit_pools } };
enum { KINDS = sizeof kinds / sizeof *kinds };

/* draws an objective and a batch until both are valid */
static void draw(rng *r, int kind, evaluation *k) {
    for (;;) {
        memset(k, 0, sizeof *k);
        if (kinds[kind].draw(r, k)) return;
        rollouts_free(&k->b);
    }
}

static void evaluate(int kind, int narrow, evaluation *k) {
    memset(k->A, 0, sizeof k->A);
    memset(k->cut, 0, sizeof k->cut);
    k->narrow = narrow;
    hangs_on_rounding = 0;
    kinds[kind].credit(k);
    finish_all(k);
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

/* ---- the search ------------------------------------------------------------------------------------------------------------------- */

/* is the narrow size meaningful?  Not with estimates k3 in the reward, which are rounded themselves, nor where the tokens' R are whitened
 * without subtracting their mean first and are no doubles */
static int judges_narrowly(const grpo_objective *o) {
    static const grpo_reward plain;
    const int whole = o->advantage.baseline == GRPO_BASELINE_BATCH_MEAN && o->advantage.scale == GRPO_SCALE_TOKEN_WHITEN;
    const int no_doubles = o->reward.length != plain.length || o->reward.overlong || o->reward.map || o->reward.kl;
    return o->reward.kl != GRPO_KL_K3 && !(whole && no_doubles);
}

/* the prompts' success rates are so near each other that their 96 bits are too few for their differences */
static int has_equal_prompts(const evaluation *k) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    int64_t g, i;
    for (g = 0; g < k->b.n_groups; g++) {
        double sum = 0;
        for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++) sum += (double)k->b.reward[i];
        sum /= (double)(k->b.group_begin[g + 1] - k->b.group_begin[g]);
        low = fmin(low, sum);
        high = fmax(high, sum);
    }
    return high - low < 1e-12;
}

/* the largest error of the advantages of a batch, in ulps of their size; 0 where they are not judged */
static double error_of(int kind, int narrow, evaluation *k) {
    const grpo_batch batch = rollouts_view(&k->b);
    grpo_real *found;
    double most = 0;
    int64_t i, t;
    if (grpo_objective_check(&k->obj) || (narrow && !judges_narrowly(&k->obj))) return 0;
    if (k->obj.advantage.scale == GRPO_SCALE_BETA && has_equal_prompts(k)) return 0;
    found = (grpo_real *)test_alloc(k->b.n_tokens, sizeof *found);
    evaluate(kind, narrow, k);
    if (!hangs_on_rounding && !grpo_advantages(&k->obj, &batch, found)) {
        for (i = 0; i < k->b.n_sequences; i++) for (t = k->b.offset[i]; t < k->b.offset[i] + k->b.length[i]; t++) {
            const reference_real off = ref_abs((reference_real)found[t] - k->A[t].v) - SMALLEST;
            if (!is_active(&k->b, t) || !(k->A[t].s < (sizeof *found == 4 ? 1e37 : 1e290)) || !(off > 0)) continue;
            most = fmax(most, k->A[t].s > 0 ? (double)(off / k->A[t].s) / ULP : HUGE_VAL);
        }
    }
    free(found);
    return most;
}

static void change_number(rng *r, evaluation *k, changes *all) {
    int count;
    const grpo_field *f = grpo_fields(&count) + rng_below(r, (grpo_fields(&count), count));
    double x;
    if (f->choices) return;
    memcpy(&x, (char *)&k->obj + f->offset, sizeof x);
    if (x == 0 || x != x || fabs(x) == HUGE_VAL || x == floor(x)) return;                /* counts stay */
    x = near(r, x);
    put(all, (char *)&k->obj + f->offset, sizeof x, &x);
}

/* no number whose square underflows */
static double ordinary(double x) { return fabs(x) < (sizeof(grpo_real) == 4 ? 1e-30 : 1e-100) ? 0 : x; }

/* a reward near x or another one; unit: what all rewards of the batch have been multiplied by */
static double any_reward(rng *r, double unit, double x, double other) { return ordinary(unit * any_number(r, x / unit, other / unit)); }

static void change_any(rng *r, double unit, evaluation *k, changes *all) {
    static const int arrays[] = { TOKEN_STEP_REWARD, TOKEN_STEP_REWARD, TOKEN_VALUE, TOKEN_ENTROPY, TOKEN_OLD, TOKEN_REF, TOKEN_TEACHER };
    rollouts *b = &k->b;
    const int64_t i = rng_below(r, b->n_sequences), j = rng_below(r, b->n_sequences), c = rng_below(r, b->n_rewards);
    const int64_t t = b->offset[i] + (b->length[i] ? rng_below(r, b->length[i]) : 0);
    const int how = (int)rng_below(r, 20), array = arrays[rng_below(r, 7)];
    if (how < 9) put_real(all, &b->reward[i], any_reward(r, unit, (double)b->reward[i], (double)b->reward[j]));
    else if (how < 11) {
        grpo_real *x = &b->rewards[i * b->n_rewards + c];
        put_real(all, x, any_reward(r, 1, (double)*x, (double)b->rewards[j * b->n_rewards + c]));
    } else if (how < 12) {
        grpo_real *x = &b->baseline[rng_below(r, b->n_groups)];
        put_real(all, x, any_reward(r, unit, (double)b->reward[j], (double)b->reward[i]));
    } else if (how < 14) change_number(r, k, all);
    else if (how < 15) { const uint8_t cut = !b->truncated[i]; put(all, &b->truncated[i], 1, &cut); }
    else if (b->length[i] && b->mask[t]) {
        grpo_real *x = &b->token[array][t];
        const double y = array == TOKEN_ENTROPY ? near(r, (double)*x)
            : array == TOKEN_STEP_REWARD ? any_reward(r, unit, (double)*x, (double)*x) : any_number(r, (double)*x, (double)*x);
        if (array == TOKEN_OLD && k->obj.advantage.token_baseline != GRPO_TOKEN_BASELINE_NONE) return;        /* the weights would cancel */
        put_real(all, x, ordinary(array == TOKEN_OLD || array == TOKEN_REF || array == TOKEN_TEACHER ? -fabs(y) : y));
    }
}

/* multiplies all rewards by one number, which it returns: they may be of any size */
static double resize(rng *r, rollouts *b) {
    const double by = exp(log(10) * (sizeof(grpo_real) == 4 ? 15 : 100) * (2 * rng_unit(r) - 1));
    int64_t i, t;
    for (i = 0; i < b->n_sequences; i++) {
        b->reward[i] = (grpo_real)((double)b->reward[i] * by);
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (b->mask[t])
            b->token[TOKEN_STEP_REWARD][t] = (grpo_real)((double)b->token[TOKEN_STEP_REWARD][t] * by);
    }
    return by;
}

/* prints the fields that are not at their default, and the rewards */
static void print_input(const evaluation *k) {
    int count, f, c, length = 0;
    const grpo_field *field = grpo_fields(&count);
    int64_t g, i;
    for (f = 0; f < count; f++) {
        const char *at = (const char *)&k->obj + field[f].offset;
        double x = 0;
        if (field[f].choices) {
            memcpy(&c, at, sizeof c);
            if (c) printf("%s=%.*s ", field[f].path, (field_choice(&field[f], c, &length), length), field_choice(&field[f], c, &length));
        } else {
            memcpy(&x, at, sizeof x);
            if (x != 0) printf("%s=%.17g ", field[f].path, x);
        }
    }
    for (g = 0; g < k->b.n_groups; g++) for (i = k->b.group_begin[g]; i < k->b.group_begin[g + 1]; i++)
        printf("%s%.17g", i == k->b.group_begin[g] ? "; rewards " : ", ", (double)k->b.reward[i]);
    printf("\n");
}

/* the largest error on the way up from one random batch */
static double climb(rng *r, int kind, int narrow, int steps) {
    static evaluation k;
    double best, x, unit = 1;
    int n, m;
    draw(r, kind, &k);
    if (k.obj.advantage.scale != GRPO_SCALE_BETA && rng_chance(r, 15)) unit = resize(r, &k.b);
    best = error_of(kind, narrow, &k);
    for (n = 0; n < steps; n++) {
        changes made;
        made.count = 0;
        for (m = 1 + (int)rng_below(r, 3); m > 0; m--) change_any(r, unit, &k, &made);
        x = error_of(kind, narrow, &k);
        if (x >= best) best = x;
        else take_back(&made);
    }
    check(best <= 4, "%s: an advantage is off by %.3g ulps of its %s", kinds[kind].name, best, narrow ? "narrow size" : "size");
    if (best > 4) print_input(&k);
    rollouts_free(&k.b);
    return best;
}

/* both sizes in turns, so that a longer search begins with a shorter one */
static void search(uint64_t seed, int starts, int steps) {
    double most[KINDS][2] = { { 0 } };
    int kind, narrow, n;
    for (kind = 0; kind < KINDS; kind++) {
        rng r = { seed + (uint64_t)kind };
        r.state = rng_next(&r);
        for (n = 0; n < starts; n++) for (narrow = 0; narrow < 2; narrow++)
            most[kind][narrow] = fmax(most[kind][narrow], climb(&r, kind, narrow, steps));
        printf("%-10s at most %.2f ulps of size, %.2f of narrow size\n", kinds[kind].name, most[kind][0], most[kind][1]);
    }
}

int main(int argc, char **argv) {
    static evaluation k;
    rng r = { 29 };
    int trial, kind, narrow;
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    if (argc == 2) r.state = (uint64_t)atoi(argv[1]);
    if (argc == 4) {
        search((uint64_t)atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
        return check_summary();
    }
    for (kind = 0; kind < KINDS; kind++) for (trial = 0; trial < TRIALS; trial++) {
        draw(&r, kind, &k);
        for (narrow = 0; narrow <= judges_narrowly(&k.obj); narrow++) {
            evaluate(kind, narrow, &k);
            compare(&k, kinds[kind].name, trial);
        }
        rollouts_free(&k.b);
    }
    for (trial = 0; trial < 12; trial++) check_large_group(&r, trial);
    printf("worst of %ld advantages %.2f ulps of size\n", compared, worst);
    search(1, DRAWS_OVER > 1 ? 1 : 3, 40);
    return check_summary();
}
