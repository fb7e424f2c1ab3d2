/* Mistakes in the advantages (R - b)/s of responses: another b, another s, other groups, another R, or a further step.  R is computed with
 * the headers, without baseline and scale. */
#include "computed.h"
#include <stdio.h>
#include <stdlib.h>

#define MARGIN 1e-11

/* ---- what an advantage is made of ------------------------------------------------------------------------------------------------ */

typedef struct {
    const double *R;            /* (n) of the group */
    const double *all;          /* (n_all) of the batch */
    const double *centred;      /* (n_all) of the batch, less their baselines */
    const double *tokens;       /* (n) of the group: how many of each response count */
    int n, n_all, own, widest;  /* own: index of the response in its group; widest: the size of the largest group */
    double mean_of_stds;        /* of the groups of more than one response */
    double n_less;              /* 1 if the divisor of the variance is n - 1, 0 if it is n */
} group_view;

typedef double statistic(const group_view *v);

static double mean(const double *x, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += x[k];
    return n ? sum / n : 0;
}

static double squares(const double *x, int n, double m) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += (x[k] - m) * (x[k] - m);
    return sum;
}

static int all_equal(const double *x, int n) {
    for (int k = 1; k < n; k++) if (x[k] != x[0]) return 0;
    return 1;
}

static double least(const double *x, int n) { double m = x[0]; for (int k = 1; k < n; k++) m = fmin(m, x[k]); return m; }
static double most(const double *x, int n) { double m = x[0]; for (int k = 1; k < n; k++) m = fmax(m, x[k]); return m; }

static double nothing(const group_view *v) { (void)v; return 0; }
static double one(const group_view *v) { (void)v; return 1; }
static double group_mean(const group_view *v) { return mean(v->R, v->n); }
static double others_sum(const group_view *v) { return mean(v->R, v->n) * v->n - v->R[v->own]; }
static double others_mean(const group_view *v) { return v->n > 1 ? others_sum(v) / (v->n - 1) : 0; }
static double others_over_group(const group_view *v) { return others_sum(v) / v->n; }
static double sum_over_others(const group_view *v) { return v->n > 1 ? mean(v->R, v->n) * v->n / (v->n - 1) : 0; }
static double group_sum(const group_view *v) { return mean(v->R, v->n) * v->n; }
static double batch_mean(const group_view *v) { return mean(v->all, v->n_all); }
static double first(const group_view *v) { return v->R[0]; }
static double last(const group_view *v) { return v->R[v->n - 1]; }
static double largest(const group_view *v) { return most(v->R, v->n); }
static double smallest(const group_view *v) { return least(v->R, v->n); }
static double padded_mean(const group_view *v) { return mean(v->R, v->n) * v->n / v->widest; }

static int by_size(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
static double ranked(const group_view *v, int upper) {
    double *x = malloc((size_t)v->n * sizeof *x), m;
    if (!x) abort();
    memcpy(x, v->R, (size_t)v->n * sizeof *x);
    qsort(x, (size_t)v->n, sizeof *x, by_size);
    m = upper < 0 ? x[(v->n - 1) / 2] : upper > 0 ? x[v->n / 2] : (x[(v->n - 1) / 2] + x[v->n / 2]) / 2;
    free(x);
    return m;
}
static double median(const group_view *v) { return ranked(v, 0); }
static double lower_median(const group_view *v) { return ranked(v, -1); }

static double group_variance(const group_view *v) {
    return v->n > v->n_less ? squares(v->R, v->n, mean(v->R, v->n)) / (v->n - v->n_less) : 0;
}
static double group_std(const group_view *v) { return all_equal(v->R, v->n) ? 0 : sqrt(group_variance(v)); }
static double group_variance_itself(const group_view *v) { return all_equal(v->R, v->n) ? 0 : group_variance(v); }
static double root_of_std(const group_view *v) { return sqrt(group_std(v)); }
static double batch_std(const group_view *v) {
    return all_equal(v->all, v->n_all) ? 0 : sqrt(squares(v->all, v->n_all, mean(v->all, v->n_all)) / (v->n_all - v->n_less));
}
static double centred_std(const group_view *v) {
    const double *x = v->centred;
    return all_equal(x, v->n_all) ? 0 : sqrt(squares(x, v->n_all, mean(x, v->n_all)) / (v->n_all - v->n_less));
}
static double group_norm(const group_view *v) { return all_equal(v->R, v->n) ? 0 : sqrt(squares(v->R, v->n, mean(v->R, v->n))); }
static double group_rms(const group_view *v) { return sqrt(squares(v->R, v->n, 0) / v->n); }
static double group_rms_less(const group_view *v) { return v->n > 1 ? sqrt(squares(v->R, v->n, 0) / (v->n - 1)) : 0; }
static double range(const group_view *v) { return most(v->R, v->n) - least(v->R, v->n); }
static double absolute_deviation(const group_view *v) {
    double m = mean(v->R, v->n), sum = 0;
    for (int k = 0; k < v->n; k++) sum += fabs(v->R[k] - m);
    return all_equal(v->R, v->n) ? 0 : sum / v->n;
}
static double mean_itself(const group_view *v) { return mean(v->R, v->n); }
static double range_plus_4(const group_view *v) { return range(v) + 1e-4; }
static double range_plus_6(const group_view *v) { return range(v) + 1e-6; }
static double range_plus_8(const group_view *v) { return range(v) + 1e-8; }
static double middle(const group_view *v) { return (most(v->R, v->n) + least(v->R, v->n)) / 2; }
static double half_range(const group_view *v) { return range(v) / 2; }
/* mean and deviation over tokens: each token has the reward of its response */
static double tokens_of_group(const group_view *v) {
    double T = 0;
    for (int k = 0; k < v->n; k++) T += v->tokens[k];
    return T;
}
static double token_mean(const group_view *v) {
    double sum = 0, T = tokens_of_group(v);
    for (int k = 0; k < v->n; k++) sum += v->tokens[k] * v->R[k];
    return T > 0 ? sum / T : 0;
}
static double token_std(const group_view *v) {
    double sum = 0, T = tokens_of_group(v), m = token_mean(v);
    for (int k = 0; k < v->n; k++) sum += v->tokens[k] * (v->R[k] - m) * (v->R[k] - m);
    return all_equal(v->R, v->n) || !(T > v->n_less) ? 0 : sqrt(sum / (T - v->n_less));
}
static double other_token_std(const group_view *v) {
    group_view other = *v;
    other.n_less = 1 - v->n_less;
    return token_std(&other);
}
/* a standard error: the deviation of a mean */
static double std_over_root(const group_view *v) { return group_std(v) / sqrt(v->n); }
static double largest_distance(const group_view *v) {
    const double m = mean(v->R, v->n);
    return all_equal(v->R, v->n) ? 0 : fmax(most(v->R, v->n) - m, m - least(v->R, v->n));
}
static double mean_of_stds(const group_view *v) { return v->mean_of_stds; }
#define AT_LEAST(name, floor) static double name(const group_view *v) { return fmax(group_std(v), floor); }
AT_LEAST(at_least_1, 1)
AT_LEAST(at_least_0_1, 0.1)
AT_LEAST(at_least_0_01, 0.01)
AT_LEAST(at_least_3, 1e-3)
AT_LEAST(at_least_4, 1e-4)
#define INSIDE(name, eps) \
    static double name(const group_view *v) { return all_equal(v->R, v->n) ? 0 : sqrt(group_variance(v) + eps); }
INSIDE(inside_4, 1e-4)
INSIDE(inside_5, 1e-5)
INSIDE(inside_6, 1e-6)
INSIDE(inside_8, 1e-8)
static int is_inside(statistic *f) { return f == inside_4 || f == inside_5 || f == inside_6 || f == inside_8; }
static double std_plus_one(const group_view *v) { return group_std(v) + 1; }
static double padded_std(const group_view *v) {
    double m = padded_mean(v), sum = squares(v->R, v->n, m) + (v->widest - v->n) * m * m;
    return v->widest > v->n_less ? sqrt(sum / (v->widest - v->n_less)) : 0;
}
static double padded_divisor_std(const group_view *v) {
    return all_equal(v->R, v->n) || !(v->widest > v->n_less) ? 0 : sqrt(squares(v->R, v->n, mean(v->R, v->n)) / (v->widest - v->n_less));
}
static double one_pass_std(const group_view *v) {      /* in binary32 */
    float s = 0, q = 0;
    double x;
    for (int k = 0; k < v->n; k++) { s += (float)v->R[k]; q += (float)v->R[k] * (float)v->R[k]; }
    x = (double)((q - s * s / (float)v->n) / (float)(v->n - v->n_less));
    return x > 0 ? sqrt(x) : 0;
}
/* the same from the means of squares and of rewards: sqrt((E[r^2] - E[r]^2) n/(n - 1)) */
static double two_means_std(const group_view *v) {
    const float n = (float)v->n;
    float s = 0, q = 0, x;
    for (int k = 0; k < v->n; k++) { s += (float)v->R[k]; q += (float)v->R[k] * (float)v->R[k]; }
    s /= n;
    q /= n;
    x = q - s * s;
    return x > 0 ? (double)sqrtf(x * n / (float)(v->n - v->n_less)) : 0;
}

/* ---- the advantages of a case ---------------------------------------------------------------------------------------------------- */

typedef enum { OWN_GROUPS, ONE_GROUP, EACH_ALONE, EVERY_OTHER, EQUAL_CHUNKS, EVEN_CHUNKS, WHOLE_RESPONSES } grouping;
typedef enum { AFTER_NOTHING, AFTER_NEGATED, AFTER_DOUBLED, AFTER_HALVED, AFTER_ABSOLUTE, AFTER_POSITIVE, AFTER_BOUND_1, AFTER_BOUND_2,
    AFTER_BOUND_3, AFTER_BOUND_5,
    AFTER_BOUND_10, AFTER_SQUARED, AFTER_LARGEST,
    AFTER_SIGN, AFTER_NEXT, AFTER_PREVIOUS, AFTER_PER_TOKEN, AFTER_LAST_ONLY, AFTER_FIRST_ONLY, AFTER_UNMASKED, AFTER_WHITENED,
    AFTER_WHITENED_WITH_EPS, AFTER_CENTRED,
    AFTER_TWICE, AFTER_TIMES_LENGTH } afterwards;
typedef enum { REWARD_AS_IS, REWARD_01, REWARD_11, REWARD_SIGN, REWARD_SUCCESS, REWARD_NEXT, REWARD_PREVIOUS, REWARD_SQUARED,
    REWARD_OVERLONG_ADDED, REWARD_KL_ADDED, REWARD_KL_BARE, REWARD_KL_TWICE, REWARD_KL_MEAN, REWARD_KL_LEFT_OUT,
    /* the overlong punishment; STEP: -1 beyond L_max, wherever the slope has got to */
    REWARD_LATE, REWARD_SWAPPED, REWARD_OVER_REST, REWARD_OVER_REST_STEP, REWARD_OVER_MAX, REWARD_OVER_MAX_STEP, REWARD_FROM_CACHE,
    REWARD_CACHE_TO_MAX, REWARD_BY_COUNTED } reward_change;
/* the advantage where the deviation is 0, and of a response that is alone in its group */
typedef enum {
    ZERO_IS_ZERO, ZERO_IS_NAN, ZERO_AND_ALONE_ARE_NAN, ALONE_IS_NAN, ALONE_IS_RAW, ALONE_IS_ZERO, ALONE_IS_BARE, ZERO_IS_DIVIDED,
    ZERO_IS_NOISE, ZERO_IS_TURNED_NOISE
} zero_rule;

/* what the deviation is taken around: the mean; the mistaken baseline; the mistaken baseline, but 0 where all rewards are equal */
typedef enum { AROUND_MEAN, AROUND, AROUND_UNLESS_EQUAL } center;

typedef struct {
    const char *id, *name;
    statistic *baseline, *scale;        /* NULL: as in the objective */
    grouping groups;
    afterwards after;
    reward_change reward;
    zero_rule zero;
    center around;                      /* what the group's deviation is taken around */
} mistake;

/* two forms, where advantages are divided by a deviation: that around the mean, and that around the mistaken baseline */
#define BASELINE(id, name, f) \
    { id, name, f, NULL, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN }, \
    { id, name, f, NULL, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND }, \
    { id, name, f, NULL, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_UNLESS_EQUAL }
#define SCALE(id, name, f) { id, name, NULL, f, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN }
#define GROUPS(id, name, g) { id, name, NULL, NULL, g, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN }
#define AFTER(id, name, a) { id, name, NULL, NULL, OWN_GROUPS, a, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN }
#define REWARD(id, name, r) { id, name, NULL, NULL, OWN_GROUPS, AFTER_NOTHING, r, ZERO_IS_ZERO, AROUND_MEAN }
#define BOTH(name, f, g) { NULL, name, f, g, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN }
#define ZERO(id, name, z) { id, name, NULL, NULL, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, z, AROUND_MEAN }

static const mistake mistakes[] = {
    AFTER(NULL, "the sign of the advantage is turned", AFTER_NEGATED),
    BASELINE(NULL, "no baseline is subtracted", nothing),
    BASELINE(NULL, "the baseline is the mean of the whole batch", batch_mean),
    BASELINE(NULL, "the baseline is the mean of the group", group_mean),
    BASELINE(NULL, "the baseline leaves the response out", others_mean),
    BASELINE(NULL, "the baseline leaves the response out, and is divided by G for G - 1", others_over_group),
    BASELINE(NULL, "the sum of the whole group is divided by G - 1 in the baseline", sum_over_others),
    BASELINE(NULL, "the baseline is the sum of the group", group_sum),
    BASELINE(NULL, "the baseline is the sum of the other responses", others_sum),
    BASELINE(NULL, "the baseline is the group's median", median),
    BASELINE(NULL, "the baseline is the group's lower median", lower_median),
    BASELINE(NULL, "the baseline is the group's largest reward", largest),
    BASELINE(NULL, "the baseline is the group's smallest reward", smallest),
    BASELINE("ADV-03", NULL, first),
    BASELINE(NULL, "the baseline is the group's last reward", last),
    BASELINE(NULL, "padded zeros of smaller groups enter the baseline", padded_mean),
    { NULL, "padded zeros of smaller groups enter baseline and deviation", padded_mean, padded_std, OWN_GROUPS, AFTER_NOTHING,
        REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN },
    { NULL, "rewards are scaled from 0 to 1 in their group: (R - min)/(max - min)", smallest, range, OWN_GROUPS,
        AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN },
    BOTH("rewards are scaled from 0 to 1 in their group: (R - min)/(max - min + 1e-4)", smallest, range_plus_4),
    BOTH("rewards are scaled from 0 to 1 in their group: (R - min)/(max - min + 1e-6)", smallest, range_plus_6),
    BOTH("rewards are scaled from 0 to 1 in their group: (R - min)/(max - min + 1e-8)", smallest, range_plus_8),
    BOTH("rewards are scaled from -1 to 1 in their group: 2 (R - min)/(max - min) - 1", middle, half_range),
    BASELINE(NULL, "the baseline is the mean over the group's tokens: a response counts once for each of them", token_mean),
    BOTH("baseline and deviation are over the group's tokens: a response counts once for each of them", token_mean, token_std),
    BOTH("baseline and deviation are over the group's tokens: a response counts once for each of them", token_mean, other_token_std),
    { NULL, "the reward is divided by its group's deviation without a baseline", nothing, group_std, OWN_GROUPS,
        AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN },
    SCALE(NULL, "padded zeros of smaller groups enter the deviation", padded_std),
    SCALE(NULL, "the deviation is divided by the size of the largest group", padded_divisor_std),
    SCALE(NULL, "there is no division by the deviation", one),
    SCALE(NULL, "the advantage is divided by the group's deviation", group_std),
    SCALE(NULL, "the variance divides, not its root", group_variance_itself),
    SCALE(NULL, "the root of the deviation divides", root_of_std),
    SCALE(NULL, "the deviation is of the whole batch", batch_std),
    SCALE(NULL, "the deviation is not divided by the number of responses", group_norm),
    SCALE(NULL, "the deviation is taken around 0, not around the mean", group_rms),
    SCALE(NULL, "the deviation is taken around 0, not around the mean", group_rms_less),
    SCALE(NULL, "the range of the rewards divides, not the deviation", range),
    SCALE(NULL, "the mean absolute deviation divides", absolute_deviation),
    SCALE(NULL, "the mean divides, not the deviation", mean_itself),
    SCALE(NULL, "the largest distance from the mean divides, not the deviation", largest_distance),
    SCALE(NULL, "the deviation is divided by the root of the number of responses, as a standard error is", std_over_root),
    SCALE(NULL, "the deviation is the mean of the groups' deviations", mean_of_stds),
    SCALE(NULL, "the deviation is at least 1", at_least_1),
    SCALE(NULL, "the deviation is at least 0.1", at_least_0_1),
    SCALE(NULL, "the deviation is at least 0.01", at_least_0_01),
    SCALE(NULL, "the deviation is at least 1e-3", at_least_3),
    SCALE(NULL, "the deviation is at least 1e-4", at_least_4),
    SCALE(NULL, "1e-4 is added to the variance, under the root", inside_4),
    SCALE(NULL, "1e-5 is added to the variance, under the root", inside_5),
    SCALE(NULL, "1e-6 is added to the variance, under the root", inside_6),
    SCALE(NULL, "1e-8 is added to the variance, under the root", inside_8),
    SCALE(NULL, "1 is added to the deviation", std_plus_one),
    SCALE("NUM-05", NULL, one_pass_std),
    SCALE("NUM-05", NULL, two_means_std),
    { NULL, "neither baseline nor deviation: the reward is the advantage", nothing, one, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS,
        ALONE_IS_RAW, AROUND_MEAN },
    GROUPS("ADV-02", NULL, ONE_GROUP),
    GROUPS("ADV-06", NULL, EACH_ALONE),
    GROUPS("ADV-29", NULL, EVERY_OTHER),
    GROUPS("ADV-29d", NULL, EQUAL_CHUNKS),
    GROUPS(NULL, "groups are chunks of equal size, whatever the batch says", EVEN_CHUNKS),
    GROUPS(NULL, "responses that were cut off do not count in their group's baseline and deviation", WHOLE_RESPONSES),
    AFTER(NULL, "the advantage is multiplied by 2", AFTER_DOUBLED),
    AFTER(NULL, "the advantage is multiplied by 1/2", AFTER_HALVED),
    AFTER(NULL, "the absolute value of the advantage is taken", AFTER_ABSOLUTE),
    AFTER(NULL, "negative advantages are left out", AFTER_POSITIVE),
    AFTER(NULL, "the advantage is cut at -1 and 1", AFTER_BOUND_1),
    AFTER(NULL, "the advantage is cut at -2 and 2", AFTER_BOUND_2),
    AFTER(NULL, "the advantage is cut at -3 and 3", AFTER_BOUND_3),
    AFTER(NULL, "the advantage is cut at -5 and 5", AFTER_BOUND_5),
    AFTER(NULL, "the advantage is cut at -10 and 10", AFTER_BOUND_10),
    AFTER(NULL, "the advantage is squared", AFTER_SQUARED),
    AFTER(NULL, "the advantages are divided by the largest of the batch", AFTER_LARGEST),
    AFTER(NULL, "the sign of the advantage is taken for the advantage", AFTER_SIGN),
    AFTER(NULL, "each response has the advantage of the next one", AFTER_NEXT),
    AFTER(NULL, "each response has the advantage of the one before", AFTER_PREVIOUS),
    AFTER(NULL, "the advantage is divided by the response's length", AFTER_PER_TOKEN),
    AFTER(NULL, "the advantage is multiplied by the response's length", AFTER_TIMES_LENGTH),
    AFTER(NULL, "only the last token of a response has its advantage", AFTER_LAST_ONLY),
    AFTER(NULL, "only the first token of a response has its advantage", AFTER_FIRST_ONLY),
    AFTER(NULL, "masked tokens have the advantage of their response, not 0", AFTER_UNMASKED),
    AFTER("ADV-18", NULL, AFTER_WHITENED),
    AFTER("ADV-18", NULL, AFTER_WHITENED_WITH_EPS),
    AFTER(NULL, "the advantages are centred again over the batch", AFTER_CENTRED),
    AFTER(NULL, "the advantages are normalised twice in their group", AFTER_TWICE),
    REWARD(NULL, "rewards are cut at 0 and 1", REWARD_01),
    REWARD(NULL, "rewards are cut at -1 and 1", REWARD_11),
    REWARD(NULL, "the sign of the reward is taken for the reward", REWARD_SIGN),
    REWARD(NULL, "a reward is 1 where it is positive, else 0", REWARD_SUCCESS),
    REWARD(NULL, "each response has the reward of the next one", REWARD_NEXT),
    REWARD(NULL, "each response has the reward of the one before", REWARD_PREVIOUS),
    REWARD(NULL, "rewards are squared", REWARD_SQUARED),
    REWARD(NULL, "the sign of the overlong punishment is turned", REWARD_OVERLONG_ADDED),
    REWARD("REW-01", NULL, REWARD_LATE),
    REWARD("REW-01a", NULL, REWARD_OVER_REST_STEP),
    REWARD("REW-01a", NULL, REWARD_OVER_REST),
    REWARD("REW-01b", NULL, REWARD_SWAPPED),
    REWARD("REW-01c", NULL, REWARD_BY_COUNTED),
    REWARD(NULL, "the overlong punishment is divided by L_max, not by L_cache", REWARD_OVER_MAX_STEP),
    REWARD(NULL, "the overlong punishment is divided by L_max, not by L_cache", REWARD_OVER_MAX),
    REWARD(NULL, "the overlong punishment begins at L_cache, not at L_max - L_cache", REWARD_FROM_CACHE),
    REWARD(NULL, "the overlong punishment begins at L_cache, not at L_max - L_cache", REWARD_CACHE_TO_MAX),
    REWARD("ADV-28", NULL, REWARD_KL_BARE),
    REWARD("ADV-28c", NULL, REWARD_KL_ADDED),
    REWARD("ADV-28b", NULL, REWARD_KL_LEFT_OUT),
    REWARD(NULL, "the KL in the reward counts twice", REWARD_KL_TWICE),
    REWARD(NULL, "the KL in the reward is a mean over the response, not a sum", REWARD_KL_MEAN),
    ZERO(NULL, "a group of equal rewards is 0/0: NaN", ZERO_IS_NAN),
    ZERO(NULL, "a group of equal rewards is 0/0: NaN", ZERO_AND_ALONE_ARE_NAN),
    ZERO(NULL, "a group of equal rewards is divided by 0 + eps, as if the deviation were not 0", ZERO_IS_DIVIDED),
    ZERO(NULL, "a group of equal rewards is divided by the rounding error of its mean", ZERO_IS_NOISE),
    ZERO(NULL, "a group of equal rewards is divided by the rounding error of its mean", ZERO_IS_TURNED_NOISE),
    ZERO("ADV-07", NULL, ALONE_IS_NAN),
    ZERO("ADV-08", NULL, ALONE_IS_RAW),
    ZERO("ADV-08", NULL, ALONE_IS_ZERO),
    ZERO(NULL, "a response alone in its group has its reward for advantage, without the division by 1 + eps", ALONE_IS_BARE)
};

enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

typedef struct { const char *name; int of_equal, of_unequal; } mask_mistake;
static const mask_mistake mask_mistakes[] = {
    { "the dynamic sampling mask is inverted", 1, 0 }, { "the dynamic sampling mask is true everywhere", 1, 1 },
    { "the dynamic sampling mask is false everywhere", 0, 0 }
};
enum { N_MASKS = sizeof mask_mistakes / sizeof *mask_mistakes };

int computed_advantage_count(void) { return N_MISTAKES + N_MASKS + computed_credit_count(); }

computed_mistake computed_advantage_named(int n) {
    computed_mistake m = { 0 };
    if (n >= N_MISTAKES + N_MASKS) return computed_credit_named(n - N_MISTAKES - N_MASKS);
    if (n >= N_MISTAKES) { m.id = NULL; m.name = mask_mistakes[n - N_MISTAKES].name; return m; }
    m.id = mistakes[n].id;
    m.name = mistakes[n].name ? mistakes[n].name : mistakes[n].id;
    return m;
}

static int is_plain_objective(const grpo_objective *o) {
    static const int baselines[] = { GRPO_BASELINE_NONE, GRPO_BASELINE_GROUP_MEAN, GRPO_BASELINE_LEAVE_ONE_OUT, GRPO_BASELINE_BATCH_MEAN };
    static const int scales[] = { GRPO_SCALE_NONE, GRPO_SCALE_GROUP_STD, GRPO_SCALE_BATCH_STD, GRPO_SCALE_BATCH_CENTRED_STD,
        GRPO_SCALE_TOKEN_WHITEN };
    int ok = 0;
    for (size_t k = 0; k < sizeof baselines / sizeof *baselines; k++) ok |= (int)o->advantage.baseline == baselines[k];
    for (size_t k = 0; ok == 1 && k < sizeof scales / sizeof *scales; k++) if ((int)o->advantage.scale == scales[k]) ok = 2;
    return ok == 2 && o->advantage.credit == GRPO_CREDIT_OUTCOME;
}

static statistic *own_baseline(const grpo_objective *o) {
    switch (o->advantage.baseline) {
    case GRPO_BASELINE_GROUP_MEAN: return group_mean;
    case GRPO_BASELINE_LEAVE_ONE_OUT: return others_mean;
    case GRPO_BASELINE_BATCH_MEAN: return batch_mean;
    default: return nothing;
    }
}

static statistic *own_scale(const grpo_objective *o) {
    switch (o->advantage.scale) {
    case GRPO_SCALE_GROUP_STD: return group_std;
    case GRPO_SCALE_BATCH_STD: return batch_std;
    case GRPO_SCALE_BATCH_CENTRED_STD: return centred_std;
    default: return one;                /* also for whitening, which is done over tokens later */
    }
}

/* the divisor for a deviation s that is not 0 */
static double with_eps(const grpo_objective *o, double s) {
    const double eps = o->advantage.eps;
    const int floor = o->advantage.eps_place == GRPO_EPS_FLOOR || o->advantage.eps_place == GRPO_EPS_FLOOR_ADD;
    if (o->advantage.eps_place == GRPO_EPS_INSIDE) return sqrt(s * s + eps);
    if (floor) s = sqrt(fmax(s * s, eps));
    return o->advantage.eps_place == GRPO_EPS_FLOOR ? s : s + eps;
}

/* R of every response, with this coefficient of the KL in the reward; returns 0 if the headers refuse it */
static int shaped_rewards(const test_case *c, double kl_coef, double *R) {
    grpo_objective obj = c->objective;
    test_case bare = *c;
    outcome o;
    int ok;
    obj.advantage.baseline = GRPO_BASELINE_NONE;
    obj.advantage.scale = GRPO_SCALE_NONE;
    obj.reward.kl_coef = kl_coef;
    if (obj.reward.kl == GRPO_KL_NONE) bare.batch.mask = NULL;
    o = outcome_of_advantages(&bare, &obj);
    ok = !o.status;
    for (int64_t i = 0; ok && i < c->n_sequences; i++) {
        R[i] = c->batch.reward ? c->batch.reward[i] : 0;
        for (int64_t k = c->batch.offset[i]; k < c->batch.offset[i] + c->batch.length[i]; k++)
            if (!bare.batch.mask || bare.batch.mask[k]) R[i] = o.advantage[k];
    }
    outcome_free(&o);
    return ok;
}

static double tokens_that_count(const test_case *c, int64_t i) {
    double n = 0;
    for (int64_t k = c->batch.offset[i]; k < c->batch.offset[i] + c->batch.length[i]; k++) n += !c->batch.mask || c->batch.mask[k];
    return n;
}

static int is_shaped(reward_change change) { return change >= REWARD_OVERLONG_ADDED; }

/* what the KL in the reward is multiplied by; coef: its coefficient, T: the response's tokens that count */
static double share_of_kl(reward_change change, double coef, double T) {
    switch (change) {
    case REWARD_KL_ADDED: return -1;
    case REWARD_KL_BARE: return -1 / coef;
    case REWARD_KL_TWICE: return 2;
    case REWARD_KL_MEAN: return T > 0 ? 1 / T : 0;
    default: return 0;
    }
}

/* the overlong punishment of a response of n tokens */
static double punishment(const grpo_objective *o, reward_change change, double n) {
    const double most = o->reward.overlong_max, cache = o->reward.overlong_cache;
    const int stepped = change == REWARD_OVER_REST_STEP || change == REWARD_OVER_MAX_STEP;
    double from = most - cache, by = cache, x;
    switch (change) {
    case REWARD_LATE: from = most; break;
    case REWARD_SWAPPED: from = cache - most; by = most; break;
    case REWARD_OVER_REST: case REWARD_OVER_REST_STEP: by = most - cache; break;
    case REWARD_OVER_MAX: case REWARD_OVER_MAX_STEP: by = most; break;
    case REWARD_FROM_CACHE: from = cache; break;
    case REWARD_BY_COUNTED: break;
    default: from = cache; by = most - cache;
    }
    if (!(by > 0)) return nan("");
    x = fmin((from - n) / by, 0);
    if (o->reward.overlong == GRPO_OVERLONG_LINEAR) return o->reward.overlong_factor * x;
    return o->reward.overlong_factor * (!stepped ? fmax(x, -1) : n > most ? -1 : x);
}

static int change_punishment(const test_case *c, double *R, reward_change change) {
    test_case without = *c;
    int ok = c->objective.reward.overlong && !c->objective.reward.map;
    without.objective.reward.overlong = GRPO_OVERLONG_NONE;
    without.objective.reward.overlong_max = without.objective.reward.overlong_cache = without.objective.reward.overlong_factor = 0;
    ok = ok && shaped_rewards(&without, c->objective.reward.kl_coef, R);
    for (int64_t i = 0; ok && i < c->n_sequences; i++) {
        R[i] += punishment(&c->objective, change, change == REWARD_BY_COUNTED ? tokens_that_count(c, i) : (double)c->batch.length[i]);
        ok = R[i] == R[i];
    }
    return ok;
}

/* changes the KL in the rewards, or the overlong penalty */
static int change_shape(const test_case *c, double *R, reward_change change) {
    double *bare;
    int ok;
    if (change >= REWARD_LATE) return change_punishment(c, R, change);
    bare = calloc((size_t)c->n_sequences + 1, sizeof *bare);
    if (!bare) abort();
    ok = shaped_rewards(c, 0, bare)
        && (change == REWARD_OVERLONG_ADDED ? c->objective.reward.overlong && c->batch.reward : c->objective.reward.kl != GRPO_KL_NONE)
        && (change != REWARD_KL_BARE || c->objective.reward.kl_coef != 0);
    for (int64_t i = 0; ok && i < c->n_sequences; i++) {
        double kl = bare[i] - R[i], T = tokens_that_count(c, i);
        R[i] = change == REWARD_OVERLONG_ADDED ? R[i] - 2 * (bare[i] - c->batch.reward[i])
            : bare[i] - share_of_kl(change, c->objective.reward.kl_coef, T) * kl;
    }
    free(bare);
    return ok;
}

static void change_rewards(double *R, int n, reward_change change) {
    double first_one = n ? R[0] : 0, last_one = n ? R[n - 1] : 0;
    for (int j = 0; j < n; j++) {
        int i = change == REWARD_PREVIOUS ? n - 1 - j : j;
        double x = R[i];
        switch (change) {
        case REWARD_01: R[i] = fmin(fmax(x, 0), 1); break;
        case REWARD_11: R[i] = fmin(fmax(x, -1), 1); break;
        case REWARD_SIGN: R[i] = (x > 0) - (x < 0); break;
        case REWARD_SUCCESS: R[i] = x > 0; break;
        case REWARD_NEXT: R[i] = i + 1 < n ? R[i + 1] : first_one; break;
        case REWARD_PREVIOUS: R[i] = i > 0 ? R[i - 1] : last_one; break;
        case REWARD_SQUARED: R[i] = x * x; break;
        default: break;
        }
    }
}

typedef struct { const test_case *c; const mistake *m; double *R, *a, *centred, mean_of_stds; int *group, n, n_groups, ok; } work;

static int widest_group(const test_case *c) {
    int64_t w = 0;
    for (int64_t g = 0; g < c->batch.n_groups; g++) {
        int64_t n = c->batch.group_begin[g + 1] - c->batch.group_begin[g];
        if (n > w) w = n;
    }
    return (int)w;
}

static void put_groups(work *w) {
    int widest = widest_group(w->c);
    for (int64_t g = 0; g < w->c->batch.n_groups; g++)
        for (int64_t i = w->c->batch.group_begin[g]; i < w->c->batch.group_begin[g + 1]; i++) {
            switch (w->m->groups) {
            case ONE_GROUP: w->group[i] = 0; break;
            case EACH_ALONE: w->group[i] = (int)i; break;
            case EVERY_OTHER: w->group[i] = (int)(i % w->c->batch.n_groups); break;
            case EQUAL_CHUNKS: w->group[i] = (int)i / widest; break;
            case EVEN_CHUNKS: w->group[i] = (int)(i * w->c->batch.n_groups / w->n); break;
            default: w->group[i] = (int)g;
            }
        }
    w->n_groups = w->n;
}

static statistic *baseline_of(const work *w) { return w->m->baseline ? w->m->baseline : own_baseline(&w->c->objective); }

static int is_by_group(const grpo_objective *o) {
    return o->advantage.baseline == GRPO_BASELINE_GROUP_MEAN || o->advantage.baseline == GRPO_BASELINE_LEAVE_ONE_OUT
        || o->advantage.scale == GRPO_SCALE_GROUP_STD;
}

/* the advantage of a response that is alone in its group */
static double advantage_alone(const work *w, double R) {
    const grpo_objective *o = &w->c->objective;
    const int raw = o->advantage.singleton == GRPO_SINGLETON_RAW ? w->m->zero != ALONE_IS_ZERO : w->m->zero == ALONE_IS_RAW;
    if (w->m->zero == ALONE_IS_NAN) return nan("");
    if (!raw) return w->m->zero == ZERO_AND_ALONE_ARE_NAN ? nan("") : 0;
    if (o->advantage.singleton != GRPO_SINGLETON_RAW || w->m->zero == ALONE_IS_BARE) return R;
    return own_scale(o) == group_std && (!w->m->scale || w->m->scale == group_std) ? R / with_eps(o, 1) : R;
}

static double deviation_of(const work *w, const group_view *v, statistic *scale) {
    double sum = 0;
    if (!w->m->around || scale != group_std || (w->m->around == AROUND_UNLESS_EQUAL && all_equal(v->R, v->n))) return scale(v);
    for (int k = 0; k < v->n; k++) {
        group_view of = *v;
        of.own = k;
        sum += pow(v->R[k] - baseline_of(w)(&of), 2);
    }
    return v->n > v->n_less ? sqrt(sum / (v->n - v->n_less)) : 0;
}

/* The mean of equal numbers in float32 is not always the number: all centred rewards are that error, and so is their deviation. */
static double advantage_of_noise(const work *w, const group_view *v) {
    float sum = 0, error;
    double s;
    for (int k = 0; k < v->n; k++) sum += (float)v->R[k];
    error = (float)v->R[0] - sum / (float)v->n;
    s = fabs((double)error) * sqrt(v->n / (v->n - v->n_less));
    if (error == 0) return 0;
    return (w->m->zero == ZERO_IS_NOISE ? 1 : -1) * (double)error / with_eps(&w->c->objective, s);
}

/* the advantage of one response */
static double advantage_of(const work *w, const group_view *v) {
    const grpo_objective *o = &w->c->objective;
    statistic *baseline = baseline_of(w), *scale = w->m->scale ? w->m->scale : own_scale(o);
    double x, s;
    if (v->n == 1 && is_by_group(o) && (w->m->zero == ALONE_IS_NAN || !(baseline == nothing && scale == one)))
        return advantage_alone(w, v->R[0]);
    x = v->R[v->own] - baseline(v);
    if (scale == one) return x;
    s = deviation_of(w, v, scale);
    if (w->m->zero >= ZERO_IS_NOISE && scale == group_std && v->n > 1 && all_equal(v->R, v->n)) return advantage_of_noise(w, v);
    if (s == 0 && w->m->zero == ZERO_IS_DIVIDED && with_eps(o, s) > 0) return x / with_eps(o, s);
    if (s == 0 && (w->m->zero == ZERO_IS_NAN || w->m->zero == ZERO_AND_ALONE_ARE_NAN))
        return with_eps(o, s) > 0 ? 0 : x / with_eps(o, s);
    return s == 0 ? 0 : x / with_eps(o, s);
}

static void view_of(const work *w, int i, double *R, double *tokens, group_view *v) {
    memset(v, 0, sizeof *v);
    v->R = R; v->tokens = tokens; v->all = w->R; v->centred = w->centred; v->n_all = w->n; v->widest = widest_group(w->c);
    v->n_less = w->c->objective.advantage.std == GRPO_STD_SAMPLE;
    v->mean_of_stds = w->mean_of_stds;
    for (int j = 0; j < w->n; j++) {
        if (w->group[j] != w->group[i] || (w->m->groups == WHOLE_RESPONSES && w->c->batch.truncated[j])) continue;
        if (j == i) v->own = v->n;
        tokens[v->n] = tokens_that_count(w->c, j);
        R[v->n++] = w->R[j];
    }
}

/* v: of the responses of its group that were not cut off, of which it need not be one */
static double advantage_of_whole(const work *w, const group_view *v, int i) {
    const grpo_objective *o = &w->c->objective;
    const double by = own_scale(o) == one ? 1 : v->n > 1 ? with_eps(o, group_std(v)) : 0;
    int size = 0;
    for (int j = 0; j < w->n; j++) size += w->group[j] == w->group[i];
    return v->n < 2 || size < 2 || !(by > 0) ? 0 : (w->R[i] - mean(v->R, v->n)) / by;
}

/* the mean of the deviations of the groups of more than one response */
static double mean_of_deviations(const work *w, double *R, double *tokens) {
    double sum = 0, count = 0;
    group_view v;
    for (int i = 0; i < w->n; i++) {
        view_of(w, i, R, tokens, &v);
        if (v.n > 1 && v.own == 0) { sum += group_std(&v); count++; }
    }
    return count > 0 ? sum / count : 0;
}

static void put_advantages(work *w) {
    double *R = calloc((size_t)w->n + 1, sizeof *R), *tokens = calloc((size_t)w->n + 1, sizeof *tokens);
    group_view v;
    if (!R || !tokens) abort();
    w->mean_of_stds = 0;
    if (w->m->scale == mean_of_stds) w->mean_of_stds = mean_of_deviations(w, R, tokens);
    for (int i = 0; i < w->n; i++) {
        view_of(w, i, R, tokens, &v);
        w->centred[i] = v.n == 1 && is_by_group(&w->c->objective) ? advantage_alone(w, R[0]) : R[v.own] - baseline_of(w)(&v);
    }
    for (int i = 0; i < w->n; i++) {
        view_of(w, i, R, tokens, &v);
        w->a[i] = w->m->groups == WHOLE_RESPONSES ? advantage_of_whole(w, &v, i) : advantage_of(w, &v);
    }
    free(R);
    free(tokens);
}

static void change_advantages(work *w) {
    double first_one = w->n ? w->a[0] : 0, last_one = w->n ? w->a[w->n - 1] : 0, m = mean(w->a, w->n), size = 0;
    for (int j = 0; j < w->n; j++) size = fmax(size, fabs(w->a[j]));
    for (int j = 0; j < w->n; j++) {
        int i = w->m->after == AFTER_PREVIOUS ? w->n - 1 - j : j;
        double x = w->a[i];
        switch (w->m->after) {
        case AFTER_NEGATED: w->a[i] = -x; break;
        case AFTER_DOUBLED: w->a[i] = 2 * x; break;
        case AFTER_HALVED: w->a[i] = x / 2; break;
        case AFTER_ABSOLUTE: w->a[i] = fabs(x); break;
        case AFTER_POSITIVE: w->a[i] = fmax(x, 0); break;
        case AFTER_BOUND_1: w->a[i] = fmin(fmax(x, -1), 1); break;
        case AFTER_BOUND_2: w->a[i] = fmin(fmax(x, -2), 2); break;
        case AFTER_BOUND_3: w->a[i] = fmin(fmax(x, -3), 3); break;
        case AFTER_BOUND_10: w->a[i] = fmin(fmax(x, -10), 10); break;
        case AFTER_SQUARED: w->a[i] = x * x; break;
        case AFTER_LARGEST: w->a[i] = size > 0 ? x / size : 0; break;
        case AFTER_BOUND_5: w->a[i] = fmin(fmax(x, -5), 5); break;
        case AFTER_SIGN: w->a[i] = (x > 0) - (x < 0); break;
        case AFTER_NEXT: w->a[i] = i + 1 < w->n ? w->a[i + 1] : first_one; break;
        case AFTER_PREVIOUS: w->a[i] = i > 0 ? w->a[i - 1] : last_one; break;
        case AFTER_CENTRED: w->a[i] = x - m; break;
        default: break;
        }
    }
}

/* whitens the advantages over the tokens that count: as the objective says, or (plain) once more by mistake */
static void whiten(const test_case *c, int plain, double *out) {
    const grpo_batch *b = &c->batch;
    double sum = 0, count = 0, m, v = 0;
    for (int64_t k = 0; k < b->n_tokens; k++) if (!b->mask || b->mask[k]) { sum += out[k]; count++; }
    m = sum / count;
    for (int64_t k = 0; k < b->n_tokens; k++) if (!b->mask || b->mask[k]) v += (out[k] - m) * (out[k] - m);
    v = sqrt(v / (count - (c->objective.advantage.std == GRPO_STD_SAMPLE)));
    for (int64_t k = 0; k < b->n_tokens; k++)
        if (!b->mask || b->mask[k]) out[k] = v > 0 ? (out[k] - m) / (plain ? v : with_eps(&c->objective, v)) : 0;
}

/* gives each token the advantage of its response */
static void spread(const work *w, double *out) {
    const grpo_batch *b = &w->c->batch;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t from = -1, to = -1, n = 0;
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++)
            if (!b->mask || b->mask[k]) { if (from < 0) from = k; to = k; n++; }
        for (int64_t k = b->offset[i]; k < b->offset[i] + b->length[i]; k++) {
            double a = w->a[i];
            int counted = !b->mask || b->mask[k];
            if (w->m->after == AFTER_PER_TOKEN) a /= (double)n;
            if (w->m->after == AFTER_TIMES_LENGTH) a *= (double)n;
            if ((w->m->after == AFTER_LAST_ONLY && k != to) || (w->m->after == AFTER_FIRST_ONLY && k != from)) a = 0;
            out[k] = counted || w->m->after == AFTER_UNMASKED ? a : 0;
        }
    }
    if (w->c->objective.advantage.scale == GRPO_SCALE_TOKEN_WHITEN && w->m->scale != one) whiten(w->c, 0, out);
    if (w->m->after == AFTER_WHITENED) whiten(w->c, 1, out);
    if (w->m->after == AFTER_WHITENED_WITH_EPS) whiten(w->c, 0, out);
}

static int make(const test_case *c, const mistake *m, double *out) {
    work w;
    w.c = c; w.m = m; w.n = (int)c->n_sequences;
    w.R = calloc((size_t)w.n + 1, sizeof *w.R);
    w.a = calloc((size_t)w.n + 1, sizeof *w.a);
    w.centred = calloc((size_t)w.n + 1, sizeof *w.centred);
    w.group = calloc((size_t)w.n + 1, sizeof *w.group);
    if (!w.R || !w.a || !w.centred || !w.group) abort();
    w.ok = (m->groups != WHOLE_RESPONSES || c->batch.truncated) && (m->groups != EVEN_CHUNKS || w.n % (int)c->batch.n_groups == 0)
        && (!is_inside(m->scale) || own_scale(&c->objective) == group_std)
        && shaped_rewards(c, c->objective.reward.kl_coef, w.R);
    w.ok = w.ok && (!is_shaped(m->reward) || change_shape(c, w.R, m->reward));
    if (w.ok) {
        change_rewards(w.R, w.n, m->reward);
        put_groups(&w);
        put_advantages(&w);
        if (m->after == AFTER_TWICE) { memcpy(w.R, w.a, (size_t)w.n * sizeof *w.a); put_advantages(&w); }
        change_advantages(&w);
        spread(&w, out);
    }
    free(w.R);
    free(w.a);
    free(w.centred);
    free(w.group);
    return w.ok;
}

/* does the computation without a mistake give the right advantages of the case? */
static int is_right(const test_case *c, double *room) {
    static const mistake none = { NULL, NULL, NULL, NULL, OWN_GROUPS, AFTER_NOTHING, REWARD_AS_IS, ZERO_IS_ZERO, AROUND_MEAN };
    if (!make(c, &none, room)) return 0;
    for (int64_t k = 0; k < c->batch.n_tokens; k++)
        if (!(fabs(room[k] - c->advantage.expect[k]) <= MARGIN * fmax(c->advantage.scale[k], 1))) return 0;
    return 1;
}

int is_last_case(last_case *last, const test_case *c) {
    const int same = last->c == c && !strcmp(last->id, c->id);
    last->c = c;
    if (!same) snprintf(last->id, sizeof last->id, "%s", c->id);
    return same;
}

int computed_advantage(const test_case *c, int n, answer *out) {
    static last_case last;
    static int plain;
    double *to;
    memset(out, 0, sizeof *out);
    if (!c->advantage.expect || !is_plain_objective(&c->objective)) return 0;
    to = answer_add(out, OUT_ADVANTAGE, c->batch.n_tokens);
    if (!is_last_case(&last, c)) plain = is_right(c, to);
    return plain && make(c, &mistakes[n], to);
}

/* ---- the dynamic sampling mask ------------------------------------------------------------------------------------------------------ */

static int mask_answer(const test_case *c, int n, answer *out) {
    answer right = answer_expected(c);
    memset(out, 0, sizeof *out);
    if (c->dynamic_sampling_mask) {
        *out = right;
        for (int64_t g = 0; g < c->batch.n_groups; g++)
            out->of[OUT_DYNAMIC_SAMPLING].value[g] = c->dynamic_sampling_mask[g] ? mask_mistakes[n].of_unequal : mask_mistakes[n].of_equal;
    } else answer_free(&right);
    return c->dynamic_sampling_mask != NULL;
}

/* ---- of both stages -------------------------------------------------------------------------------------------------------------- */

int computed_count(stage_kind stage) {
    if (stage == STAGE_ADVANTAGE) return computed_advantage_count();
    if (stage == STAGE_LOGITS) return computed_rows_count();
    return stage == STAGE_LOSS ? computed_loss_count() + computed_split_count() : 0;
}

computed_mistake computed_named(stage_kind stage, int n) {
    if (stage == STAGE_ADVANTAGE) return computed_advantage_named(n);
    if (stage == STAGE_LOGITS) return computed_rows_named(n);
    return n < computed_loss_count() ? computed_loss_named(n) : computed_split_named(n - computed_loss_count());
}

int computed_answer(const test_case *c, stage_kind stage, int n, answer *out) {
    if (stage == STAGE_LOGITS) return computed_rows(c, n, out);
    if (c->kind != CASE_OBJECTIVE && c->kind != CASE_SPLIT) { memset(out, 0, sizeof *out); return 0; }
    if (stage != STAGE_ADVANTAGE && n >= computed_loss_count()) return computed_split(c, n - computed_loss_count(), out);
    if (stage != STAGE_ADVANTAGE) return computed_loss(c, n, out);
    if (n >= N_MISTAKES + N_MASKS) return computed_credit(c, n - N_MISTAKES - N_MASKS, out);
    return n < N_MISTAKES ? computed_advantage(c, n, out) : mask_answer(c, n - N_MISTAKES, out);
}
