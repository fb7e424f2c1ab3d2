/* What single choices of the advantage promise, on random batches: pass_at_k sums to 0 in each group, a quantile has as many rewards below
 * it as it says, hdi_median and leave_one_out_std are those of plain sorting and sums, equal lengths have no weight ...; in plain double
 * arithmetic, within its rounding. */
#include "../../gspo.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/random_batch.h"
#include "../support/scratch.h"

enum { MAX_SEQUENCES = 64 };
static const double EPS = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52;

/* a batch with rewards of one kind in all groups; advantage[offset[i]] is the advantage of response i */
typedef struct {
    rollouts b;
    grpo_objective obj;
    grpo_real *advantage;
    grpo_status status;
} trial;

static void trial_make(rng *r, int kind, int rewards, trial *x) {
    int64_t i;
    rollouts_random(r, kind, &x->b);
    for (i = 0; i < x->b.n_sequences; i++) x->b.reward[i] = (grpo_real)random_reward(r, rewards);
    memset(&x->obj, 0, sizeof x->obj);
    x->advantage = unwritten(x->b.n_tokens);
}

static void trial_run(trial *x) {
    grpo_batch batch = rollouts_view(&x->b);
    x->status = grpo_advantages(&x->obj, &batch, x->advantage);
}

static void trial_free(trial *x) { rollouts_free(&x->b); free(x->advantage); }

static double A_of(const trial *x, int64_t i) { return (double)x->advantage[x->b.offset[i]]; }

/* is the sum of the advantages of sequences begin .. end - 1 0 but for rounding? */
static int sums_to_zero(const trial *x, int64_t begin, int64_t end) {
    double sum = 0, size = 0;
    for (; begin < end; begin++) { sum += A_of(x, begin); size += fabs(A_of(x, begin)); }
    return fabs(sum) <= 16 * EPS * size;
}

static int same_advantages(const trial *x, const grpo_objective *other) {
    trial y = *x;
    int same;
    y.obj = *other;
    y.advantage = unwritten(x->b.n_tokens);
    trial_run(&y);
    same = !y.status && !memcmp(x->advantage, y.advantage, (size_t)x->b.n_tokens * sizeof *y.advantage);
    free(y.advantage);
    return same;
}

static void choice_pass_at_k(trial *x) {
    int64_t g, smallest = 1000;
    int scale;
    for (g = 0; g < x->b.n_groups; g++) {
        int64_t size = x->b.group_begin[g + 1] - x->b.group_begin[g];
        if (size < smallest) smallest = size;
    }
    x->obj.advantage.transform = GRPO_TRANSFORM_PASS_AT_K;
    x->obj.advantage.pass_k = (double)smallest;
    for (scale = GRPO_SCALE_NONE; scale <= GRPO_SCALE_GROUP_STD; scale++) {
        x->obj.advantage.scale = (grpo_scale_kind)scale;
        trial_run(x);
        for (g = 0; g < x->b.n_groups; g++) {
            int zero = sums_to_zero(x, x->b.group_begin[g], x->b.group_begin[g + 1]);
            check(!x->status && zero, "pass_at_k: group %d does not sum to 0", (int)g);
        }
    }
}

static void choice_best_minus_second(trial *x) {
    int64_t g, i;
    x->obj.advantage.transform = GRPO_TRANSFORM_BEST_MINUS_SECOND;
    trial_run(x);
    for (g = 0; g < x->b.n_groups; g++) {
        int paid = 0;
        for (i = x->b.group_begin[g]; i < x->b.group_begin[g + 1]; i++) {
            paid += A_of(x, i) != 0;
            check(A_of(x, i) >= 0, "the best is worth less than 0");
        }
        check(paid <= 1, "best_minus_second pays %d", paid);
    }
}

static void choice_quantile(trial *x) {
    int64_t i;
    int linear;
    for (linear = 0; linear < 2; linear++) {
        x->obj.advantage.baseline = linear ? GRPO_BASELINE_QUANTILE_LINEAR : GRPO_BASELINE_QUANTILE;
        x->obj.advantage.quantile = 1;
        trial_run(x);
        for (i = 0; i < x->b.n_sequences; i++) check(!x->status && A_of(x, i) <= 0, "above the highest quantile");
        x->obj.advantage.quantile = 0;
        trial_run(x);
        for (i = 0; i < x->b.n_sequences; i++) check(!x->status && A_of(x, i) >= 0, "below the lowest quantile");
    }
}

/* #{R < b}/n < q <= #{R <= b}/n, b the reward whose advantage is 0 */
static void choice_inf_quantile(trial *x) {
    static const double q[] = { 0.25, 0.4, 0.5, 0.75 };
    int64_t g, i, j;
    int k, found;
    x->obj.advantage.baseline = GRPO_BASELINE_QUANTILE;
    for (k = 0; k < 4; k++) for (g = 0; g < x->b.n_groups; g++) {
        const int64_t begin = x->b.group_begin[g], end = x->b.group_begin[g + 1];
        x->obj.advantage.quantile = q[k];
        trial_run(x);
        for (found = 0, i = begin; i < end; i++) {
            double below = 0, up_to = 0;
            if (x->status || A_of(x, i) != 0) continue;
            for (j = begin; j < end; j++) { below += x->b.reward[j] < x->b.reward[i]; up_to += x->b.reward[j] <= x->b.reward[i]; }
            found = 1;
            check(below / (double)(end - begin) < q[k] && up_to / (double)(end - begin) >= q[k], "no quantile of %g", q[k]);
        }
        check(found, "no reward is the quantile of %g", q[k]);
    }
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double narrowest_median(double *R, int n, int h) {
    int k, best = 0;
    qsort(R, (size_t)n, sizeof *R, by_value);
    for (k = 1; k + h <= n; k++) if (R[k + h - 1] - R[k] < R[best + h - 1] - R[best]) best = k;
    return (R[best + (h - 1) / 2] + R[best + h / 2]) / 2;
}

static double std_without(const double *R, int n, int without) {
    double mean = 0, squares = 0;
    int k;
    for (k = 0; k < n; k++) if (k != without) mean += R[k] / (n - 1);
    for (k = 0; k < n; k++) if (k != without) squares += (R[k] - mean) * (R[k] - mean);
    return squares > 0 ? sqrt(squares / (n - 2)) : 1;
}

/* baseline hdi_median and scale leave_one_out_std against plain sorting and sums, on exact rewards */
static void choice_sorted(trial *x) {
    double R[MAX_SEQUENCES], sorted[MAX_SEQUENCES], b;
    int64_t g;
    int i, n, both;
    for (both = 0; both < 2; both++) for (g = 0; g < x->b.n_groups; g++) {
        n = (int)(x->b.group_begin[g + 1] - x->b.group_begin[g]);
        x->obj.advantage.baseline = GRPO_BASELINE_HDI_MEDIAN;
        x->obj.advantage.hdi_mass = 0.6;
        x->obj.advantage.scale = both ? GRPO_SCALE_LEAVE_ONE_OUT_STD : GRPO_SCALE_NONE;
        trial_run(x);
        for (i = 0; i < n; i++) sorted[i] = R[i] = (double)x->b.reward[x->b.group_begin[g] + i];
        b = narrowest_median(sorted, n, (int)ceil(0.6 * n));
        for (i = 0; i < n && n > 1; i++) {
            double expected = (R[i] - b) / (both && n > 2 ? std_without(R, n, i) : 1), found = A_of(x, x->b.group_begin[g] + i);
            check(!x->status && fabs(found - expected) <= 1e-5 * (1 + fabs(expected)), "densest: %g instead of %g", found, expected);
        }
    }
}

/* a window of all items gives their median, and so do the interpolated quantiles; log_mean_exp tends to the largest and to the mean */
static void choice_median(trial *x) {
    grpo_objective half = x->obj;
    double before[MAX_SEQUENCES];
    int64_t i;
    x->obj.advantage.baseline = GRPO_BASELINE_HDI_MEDIAN;
    x->obj.advantage.hdi_mass = 1;
    trial_run(x);
    half.advantage.baseline = GRPO_BASELINE_QUANTILE_LINEAR;
    half.advantage.quantile = 0.5;
    check(!x->status && same_advantages(x, &half), "a window of all has another median");
    x->obj.advantage.baseline = GRPO_BASELINE_LOG_MEAN_EXP;
    x->obj.advantage.temperature = 1e-300;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) check(!x->status && A_of(x, i) < 1e-290, "a cold log_mean_exp is below the largest");
    x->obj.advantage.temperature = 1e300;
    half.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) before[i] = A_of(x, i);
    x->obj = half;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++)
        check(!x->status && fabs(A_of(x, i) - before[i]) <= 64 * EPS, "a hot log_mean_exp leaves %g, the mean %g", before[i], A_of(x, i));
}

static void choice_batch(trial *x) {
    double squares = 0, n = (double)x->b.n_sequences;
    int64_t i;
    x->obj.advantage.baseline = GRPO_BASELINE_BATCH_MEAN;
    trial_run(x);
    check(!x->status && sums_to_zero(x, 0, x->b.n_sequences), "batch_mean leaves a mean");
    for (i = 1; i < x->b.n_sequences; i++) {
        double found = A_of(x, i) - A_of(x, 0), expected = (double)x->b.reward[i] - (double)x->b.reward[0];
        check(fabs(found - expected) <= 16 * EPS, "batch_mean turns a difference of %g into %g", expected, found);
    }
    x->obj.advantage.baseline = GRPO_BASELINE_LEAVE_ONE_OUT;
    x->obj.advantage.batch_norm = GRPO_BATCH_NORM_ITEMS;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) squares += A_of(x, i) * A_of(x, i);
    check(!x->status && sums_to_zero(x, 0, x->b.n_sequences), "second leaves a mean");
    check(squares == 0 || fabs(squares - (n - 1)) <= 64 * EPS * n, "second leaves the variance %g", squares / (n - 1));
}

/* without a divisor where all other rewards are equal: the advantage of one success among failures is its difference from them */
static void choice_leave_one_out_std(trial *x) {
    int64_t g, i;
    for (i = 0; i < x->b.n_sequences; i++) x->b.reward[i] = (grpo_real)0.7;
    for (g = 0; g < x->b.n_groups; g++) x->b.reward[x->b.group_begin[g]] = 2;
    x->obj.advantage.baseline = GRPO_BASELINE_LEAVE_ONE_OUT;
    x->obj.advantage.scale = GRPO_SCALE_LEAVE_ONE_OUT_STD;
    trial_run(x);
    for (g = 0; g < x->b.n_groups; g++) {
        int alone = x->b.group_begin[g + 1] - x->b.group_begin[g] == 1;
        double a = A_of(x, x->b.group_begin[g]), expected = alone ? 0 : 2 - (double)(grpo_real)0.7;
        check(!x->status && a == (double)(grpo_real)expected, "a success among failures is worth %g", a);
    }
}

/* rewards times a power of two have the same advantages, to the bit: scale residual_rms divides by it exactly */
static void choice_residual(trial *x) {
    grpo_objective obj;
    int64_t i;
    x->obj.advantage.baseline = GRPO_BASELINE_HDI_MEDIAN;
    x->obj.advantage.hdi_mass = 0.5;
    x->obj.advantage.scale = GRPO_SCALE_RESIDUAL_RMS;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) x->b.reward[i] = (grpo_real)(1024 * (double)x->b.reward[i]);
    obj = x->obj;
    check(!x->status && same_advantages(x, &obj), "residual_rms minds the unit of rewards");
}

static void choice_gain(trial *x) {
    grpo_objective plain;
    x->obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    plain = x->obj;
    x->obj.advantage.reweight = GRPO_REWEIGHT_LENGTH_POWER;
    x->obj.advantage.length_power = 0.75;                            /* all have one token */
    trial_run(x);
    check(!x->status && same_advantages(x, &plain), "equal lengths have a gain");
    x->obj.advantage.reweight = GRPO_REWEIGHT_DIFFICULTY;
    x->obj.advantage.difficulty_weight_low = x->obj.advantage.focal_reward_low = x->obj.advantage.difficulty_weight_high
        = x->obj.advantage.focal_reward_high = 1;
    x->obj.advantage.difficulty_slope = 10;
    trial_run(x);
    check(!x->status && same_advantages(x, &plain), "a difficulty between 1 and 1 is a gain");
}

/* mean and variance of A over the n tokens, or over the first ones of the sequences */
static void token_statistics(const trial *x, int by_sequence, double *mean, double *variance, double *n) {
    double sum = 0, squares = 0;
    int64_t i, t;
    for (*n = 0, i = 0; i < x->b.n_sequences; i++) for (t = x->b.offset[i]; t < x->b.offset[i] + x->b.length[i]; t++) {
        if (!x->b.mask[t]) continue;
        sum += (double)x->advantage[t];
        squares += (double)x->advantage[t] * (double)x->advantage[t];
        ++*n;
        if (by_sequence) break;
    }
    *mean = *n > 0 ? sum / *n : 0;
    *variance = *n > 1 ? (squares - *n * *mean * *mean) / (*n - 1) : 0;
}

/* length gains have mean 1; whitening gives mean 0 and variance 1 whatever part of A the gain multiplies */
static void choice_lengths(trial *x) {
    double mean, variance, n;
    int64_t i;
    for (i = 0; i < x->b.n_sequences; i++) if (x->b.reward[i] == 0) x->b.reward[i] = 1;
    x->obj.reward.kl = GRPO_KL_K1;
    x->obj.reward.kl_coef = 0.5;
    x->obj.advantage.credit = GRPO_CREDIT_RETURN;
    x->obj.advantage.gamma = x->obj.advantage.step_gamma = 1;
    x->obj.advantage.scale = GRPO_SCALE_TOKEN_WHITEN;
    x->obj.advantage.reweight = GRPO_REWEIGHT_LENGTH_POWER;
    x->obj.advantage.length_power = 0.75;
    trial_run(x);
    token_statistics(x, 0, &mean, &variance, &n);
    check(!x->status && fabs(mean) <= 64 * EPS * (n + 1), "whitening leaves the mean %g", mean);
    check(n < 2 || fabs(variance - 1) <= 256 * EPS * n, "whitening leaves the variance %g", variance);
    memset(&x->obj.reward, 0, sizeof x->obj.reward);
    for (i = 0; i < x->b.n_sequences; i++) x->b.reward[i] = 1;
    x->obj.advantage.credit = GRPO_CREDIT_OUTCOME;
    x->obj.advantage.scale = GRPO_SCALE_NONE;
    trial_run(x);
    token_statistics(x, 1, &mean, &variance, &n);
    check(!x->status && (n == 0 || fabs(mean - 1) <= 16 * EPS), "the mean gain of lengths is %g", mean);
}

/* groups without variance: the sign is that of the reward */
static void choice_flat(trial *x) {
    int64_t g, i, t;
    for (g = 0; g < x->b.n_groups; g++) for (i = x->b.group_begin[g]; i < x->b.group_begin[g + 1]; i++) x->b.reward[i] = (grpo_real)(g % 2);
    x->obj.advantage.entropy = GRPO_ENTROPY_ZERO_VARIANCE;
    x->obj.advantage.entropy_coef = 0.1;
    trial_run(x);
    for (g = 0; g < x->b.n_groups; g++) for (i = x->b.group_begin[g]; i < x->b.group_begin[g + 1]; i++) {
        int zeros = 0, tokens = 0;
        for (t = x->b.offset[i]; t < x->b.offset[i] + x->b.length[i]; t++) {
            double A = (double)x->advantage[t];
            if (!x->b.mask[t]) continue;
            tokens = 1;
            zeros += A == 0;
            check(!x->status && (g % 2 ? A > 0 : A <= 0), "a token of a group of rewards %d has %g", (int)(g % 2), A);
        }
        check(g % 2 || !tokens || zeros > 0, "the token of the largest entropy is punished");
    }
}

static void choice_columns(trial *x) {
    grpo_objective one;
    int64_t i;
    x->b.n_rewards = 1;                                              /* its weight is 1 */
    for (i = 0; i < x->b.n_sequences; i++) x->b.rewards[i] = x->b.reward[i];
    x->obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    x->obj.advantage.scale = GRPO_SCALE_GROUP_STD;
    one = x->obj;
    x->obj.advantage.rewards = GRPO_REWARDS_EACH;
    trial_run(x);
    check(!x->status && same_advantages(x, &one), "one column is not the reward");
}

/* two equal reward columns give twice the advantage of one, also with leave-one-out statistics */
static void choice_twin_columns(trial *x) {
    grpo_real weight[2] = { 2, 0 };
    rollouts twin = x->b;
    grpo_objective obj;
    int64_t i;
    grpo_real *pairs = unwritten(2 * x->b.n_sequences);
    for (i = 0; i < x->b.n_sequences; i++) pairs[2 * i] = pairs[2 * i + 1] = x->b.rewards[i] = x->b.reward[i];
    x->b.n_rewards = 1;
    x->b.reward_weight[0] = weight[0];
    x->obj.advantage.rewards = GRPO_REWARDS_EACH;
    x->obj.advantage.baseline = GRPO_BASELINE_LEAVE_ONE_OUT;
    x->obj.advantage.scale = GRPO_SCALE_LEAVE_ONE_OUT_STD;
    trial_run(x);
    obj = x->obj;
    weight[0] = weight[1] = 1;
    twin.rewards = pairs;
    twin.n_rewards = 2;
    twin.reward_weight = weight;
    {
        trial y = *x;
        y.b = twin;
        check(!x->status && same_advantages(&y, &obj), "two equal columns are not twice one");
    }
    free(pairs);
}

static void choice_tokens(trial *x) {
    int64_t i;
    x->obj.advantage.teacher_coef = -0.5;
    x->obj.reward.truncated = GRPO_REWARD_TRUNCATED_SCALE;
    for (i = 0; i < x->b.n_sequences; i++) x->b.truncated[i] = 1;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) {
        int64_t t = x->b.offset[i];
        double found = A_of(x, i), expected = -0.5 * ((double)x->b.token[TOKEN_TEACHER][t] - (double)x->b.token[TOKEN_OLD][t]);
        check(!x->status && fabs(found - expected) <= EPS * fabs(expected), "a teacher gives %g instead of %g", found, expected);
    }
    memset(&x->obj, 0, sizeof x->obj);
    x->obj.advantage.clamp_low = -0.25;
    x->obj.advantage.clamp_high = 0.5;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++)
        check(!x->status && A_of(x, i) >= -0.25 && A_of(x, i) <= 0.5, "a clamp lets %g through", A_of(x, i));
}

static void choice_entropy(trial *x) {
    int64_t i;
    x->obj.advantage.entropy = GRPO_ENTROPY_BONUS;
    x->obj.advantage.entropy_coef = 0.4;
    x->obj.advantage.entropy_kappa = x->obj.advantage.entropy_max = 2;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) {
        double R = (double)x->b.reward[i];
        check(!x->status && A_of(x, i) >= R && (R < 0) == (A_of(x, i) < 0), "an entropy bonus turns %g into %g", R, A_of(x, i));
        x->b.reward[i] = (grpo_real)(i % 2 ? 0.5 : 0.5 - 1e-3);
    }
    x->obj.advantage.entropy = GRPO_ENTROPY_ZERO_VARIANCE;
    x->obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN;
    x->obj.advantage.singleton = GRPO_SINGLETON_RAW;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) {                         /* one token has its sequence's largest entropy */
        int single = A_of(x, i) == (double)(grpo_real)(0.4 * (double)x->b.token[TOKEN_ENTROPY][x->b.offset[i]]);
        check(!x->status && (single || fabs(A_of(x, i)) < 1e-3), "zero_variance gives %g", A_of(x, i));
    }
}

/* without observation noise the Kalman baseline equals the reward; with observation noise 1 it is half of the first reward */
static void choice_kalman(trial *x) {
    int64_t g, i;
    x->obj.advantage.baseline = GRPO_BASELINE_KALMAN;
    x->obj.advantage.process_noise = 1;
    x->obj.advantage.observation_noise = 1e-300;
    trial_run(x);
    for (i = 0; i < x->b.n_sequences; i++) check(!x->status && fabs(A_of(x, i)) < 1e-30, "a trusting filter leaves %g", A_of(x, i));
    x->obj.advantage.process_noise = 0;
    x->obj.advantage.observation_noise = 1;
    trial_run(x);
    for (g = 0; g < x->b.n_groups; g++) {
        double R = (double)x->b.reward[x->b.group_begin[g]], a = A_of(x, x->b.group_begin[g]);
        check(!x->status && a == 0.5 * R, "the first of a filter is %g, not half of %g", a, R);
    }
}

typedef void choice(trial *x);

static void check_choices(void) {
    enum { ONE = RANDOM_ONE_TOKEN };
    static const struct { choice *promise; int kind, rewards; } all[] = {
        { choice_pass_at_k, ONE, REWARDS_BINARY }, { choice_best_minus_second, ONE, REWARDS_BELL },
        { choice_best_minus_second, ONE, REWARDS_BINARY }, { choice_quantile, ONE, REWARDS_BELL },
        { choice_quantile, ONE, REWARDS_OFFSET }, { choice_inf_quantile, ONE, REWARDS_BELL },
        { choice_median, ONE, REWARDS_DYADIC }, { choice_sorted, ONE, REWARDS_BELL }, { choice_sorted, ONE, REWARDS_DYADIC },
        { choice_batch, ONE, REWARDS_BELL }, { choice_leave_one_out_std, ONE, REWARDS_BELL },
        { choice_residual, ONE, REWARDS_BELL }, { choice_gain, ONE, REWARDS_BELL }, { choice_lengths, 0, REWARDS_BELL },
        { choice_flat, 0, REWARDS_BELL }, { choice_columns, ONE, REWARDS_OFFSET },
        { choice_twin_columns, ONE, REWARDS_BELL }, { choice_tokens, ONE, REWARDS_BELL },
        { choice_entropy, ONE, REWARDS_BELL }, { choice_kalman, ONE, REWARDS_BELL }
    };
    rng r = { 17 };
    size_t k;
    int n;
    for (k = 0; k < sizeof all / sizeof *all; k++) for (n = 0; n < 40; n++) {
        trial x;
        trial_make(&r, all[k].kind, all[k].rewards, &x);
        all[k].promise(&x);
        trial_free(&x);
    }
}

int main(void) {
    check_choices();
    return check_summary();
}
