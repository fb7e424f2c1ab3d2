/* grpo_selection.h - which tokens, responses and prompts are kept, chosen or sampled again.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_SELECTION_IMPLEMENTATION
 *     #include "extra/grpo_selection.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h.  An array `selected` is read by
 * an objective as batch.selected, with weight.selected keep, drop or only; as batch.kl_mask, with penalty.kl_on selected. */
#ifndef GRPO_SELECTION_H
#define GRPO_SELECTION_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_selection.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_select_top_fraction grpo_select_top_fraction_f64
#define grpo_select_top_k grpo_select_top_k_f64
#define grpo_select_between grpo_select_between_f64
#define grpo_select_second_moment grpo_select_second_moment_f64
#define grpo_covariance grpo_covariance_f64
#define grpo_reward_range_filter grpo_reward_range_filter_f64
#define grpo_resampling_weights grpo_resampling_weights_f64
#define grpo_resample grpo_resample_f64
#define grpo_replay_score grpo_replay_score_f64
#define grpo_entropy_clip_batch grpo_entropy_clip_batch_f64
#define grpo_entropy_clip_vocabulary grpo_entropy_clip_vocabulary_f64
#define grpo_balanced_subset grpo_balanced_subset_f64
#define grpo_prefix_trust_region grpo_prefix_trust_region_f64
#define grpo_allocate_rollouts grpo_allocate_rollouts_f64
#define grpo_select_value_of_information grpo_select_value_of_information_f64
#define grpo_visit_value grpo_visit_value_f64
#define grpo_max_variance_subset grpo_max_variance_subset_f64
#define grpo_pad_valid grpo_pad_valid_f64
#define grpo_cluster_probability grpo_cluster_probability_f64
#define grpo_explore_weight grpo_explore_weight_f64
#define grpo_reward_std_filter grpo_reward_std_filter_f64
#define grpo_advantage_filter grpo_advantage_filter_f64
#define grpo_select_low_probability grpo_select_low_probability_f64
#define grpo_sequence_distance grpo_sequence_distance_f64
#endif

GRPO_C_BEGIN_

/* selected (n_tokens) = 1 for the unmasked tokens whose `by` (n_tokens; batch.entropy, batch.logp ...) is at or above its (1 - fraction)
 * quantile over the n unmasked tokens, linearly interpolated at position (1 - fraction)(n - 1), with 1 - fraction as a double (Beyond the
 * 80/20 Rule, 2506.01939, as TRL: by entropy, 0.2).  fraction in [0, 1] */
grpo_status grpo_select_top_fraction(const grpo_batch *batch, const grpo_real *by, double fraction, uint8_t *selected);

/* selected (n_tokens) = 1 for the `count` >= 0 largest of `by` (n_tokens), all if there are fewer (KL-Cov, 2505.22617: by grpo_covariance,
 * max(1, floor(2e-4 n)) of n) */
grpo_status grpo_select_top_k(const grpo_batch *batch, const grpo_real *by, int64_t count, uint8_t *selected);

/* selected (n_tokens) = 1 for the first `count` >= 0 tokens in `order` that have low < by < high and are not `excluded` (n_tokens; NULL:
 * none is); low <= high (Clip-Cov, 2505.22617: by grpo_covariance, 1, 5, excluding tokens that PPO's clip already cuts, in random order,
 * max(1, floor(2e-4 n)) of n).  order: a permutation of 0 .. (sum of batch.length) - 1, indices of the tokens counted through the
 * sequences, masked ones too; repeated entries are detected by a 64-bit checksum */
grpo_status grpo_select_between(const grpo_batch *batch, const grpo_real *by, double low, double high, const uint8_t *excluded,
                                const int64_t *order, int64_t count, uint8_t *selected);

/* M2PO (2510.01161: 0.04): sorts the tokens by delta^2, ascending; the longest prefix whose mean of delta^2 is below a threshold > 0 */
typedef enum {
    GRPO_SECOND_MOMENT_ALL,       /* delta = logp_rollout - logp_old; mean < threshold, or one token (AReaL) */
    GRPO_SECOND_MOMENT_DRIFTING   /* delta = logp - logp_old, over the tokens where it has the sign of the advantage; mean <= threshold; all
                                     other tokens are selected too (Trinity-RFT) */
} grpo_second_moment_form;

/* selected (n_tokens) = 1 for the tokens of that prefix.  Form all reads batch.logp_rollout and batch.logp_old, drifting reads batch.logp,
 * batch.logp_old and advantage (n_tokens) */
grpo_status grpo_select_second_moment(const grpo_batch *batch, const grpo_real *advantage, grpo_second_moment_form form, double threshold,
                                      uint8_t *selected);

/* covariance (n_tokens) = (A - mean A)(batch.logp - mean batch.logp), A = advantage (n_tokens), means over the mask (2505.22617) */
grpo_status grpo_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *covariance);

/* keep (n_groups) = 1 if low < mean batch.reward of the group < high; low <= high (DAPO's dynamic sampling, 2503.14476, as in OpenRLHF,
 * torchrl and ROLL; 0, 1 for rewards of 0 and 1) */
grpo_status grpo_reward_range_filter(const grpo_batch *batch, double low, double high, uint8_t *keep);

/* weight (sequences) = |batch.reward|^power + eps, 0^0 = 1, both numbers >= 0 (PF-PPO, 2409.06957, as verl: 2, 1e-8) */
grpo_status grpo_resampling_weights(const grpo_batch *batch, double power, double eps, double *weight);

/* index (draws): the smallest j with weight[0] + ... + weight[j] > uniform times the sum of weight; weight (n) >= 0, not all 0, uniform
 * (draws) in [0, 1).  Sampling with replacement, by weights as from grpo_resampling_weights; 2 n additions per draw */
grpo_status grpo_resample(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index);

/* score (n_groups) = sum over the responses of |A| at their first unmasked token (0 without one), times the sample standard deviation of
 * batch.reward, 0 for one response; A = advantage (n_tokens) (the replay buffer of TRL's experimental trainers) */
grpo_status grpo_replay_score(const grpo_batch *batch, const grpo_real *advantage, double *score);

/* tokens to drop so that the policy keeps its entropy (2602.03392, as Trinity-RFT), by S = e^l (batch.entropy + l), l = batch.logp:
 * selected (n_tokens) = 1 where A < 0 and S - mean S < -mu std S, by more than 2^-60 of S - mean S, mean and population std over the mask,
 * A = advantage (n_tokens) (Clip_B: 2.5); no token if all S are equal */
grpo_status grpo_entropy_clip_batch(const grpo_batch *batch, const grpo_real *advantage, double mu, uint8_t *selected);

/* the same by x = expected - S (Clip_V: 8.5, 1e-4): A < 0 and x > mu std x, std x not 0; of these tokens only the max(1, floor(fraction n))
 * with the largest x, n the unmasked tokens, the product rounded to double, fraction in [0, 1].  expected (n_tokens): the expectation of S
 * under the full distribution */
grpo_status grpo_entropy_clip_vocabulary(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *expected, double mu,
                                         double fraction, uint8_t *selected);

/* index (count), ascending: of the subsets of `count` elements of reward (n) with low < mean < high, the one whose mean is nearest to (low
 * + high)/2; among equals that with the largest max - min, then the first in lexicographic order (torchrl's MCAdvantageSelector where it
 * enumerates them); 1 <= count <= n <= 20, low <= high; GRPO_NONE_LEFT, of low, if there is no such subset.  Enumerates all subsets:
 * microseconds for 4 of 8, a third of a second for 10 of 20 */
grpo_status grpo_balanced_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *index);

/* the trust region of a prefix (CPPO, 2606.10968, pull request to verl).  D = |e^logp - e^logp_old|, a double within 4 ulps; w = least + (1
 * - least)(width - p)/max(width - 1, 1) at position p = 1 .., which counts masked tokens; S and W are the sums of w D and of w over the
 * earlier unmasked tokens; d = clip(factor Q, budget, 5 budget), Q the linearly interpolated quantile of D over the response.  selected
 * (n_tokens) = 1 where A (e^(logp - logp_old) - 1) <= 0 or w D <= min(delta, delta + d W - S) */
typedef struct {
    int64_t width;                /* in tokens, not less than any length */
    double least, delta, budget;  /* in [0, 1], > 0, >= 0: 0.8, 0.15, 0.02 */
    double quantile, factor;      /* in [0, 1], >= 0: 0.9, 1 */
} grpo_prefix_gate;

/* reads batch.logp, batch.logp_old and advantage (n_tokens); scratch (n_tokens) overlaps none of them, nor selected */
grpo_status grpo_prefix_trust_region(const grpo_batch *batch, const grpo_real *advantage, const grpo_prefix_gate *gate, double *scratch,
                                     uint8_t *selected);

/* the probability that n responses, each right with probability p, are neither all right nor all wrong: 1 - p^n - (1 - p)^n (SAGE,
 * 2602.03143, of G responses; HiLL, 2604.00698, and Knapsack RL, 2509.25849, of N); p in [0, 1], n >= 1 */
GRPO_FN double grpo_mixed_group_probability(double p, int64_t n) {
    const double a = p > 0.5 ? 1 - p : p, count = (double)n;            /* exact */
    if (!(p >= 0 && p <= 1) || n < 1) return nan("");
    if (n == 1 || a == 0) return 0;
    return -expm1(count * log1p(-a)) - pow(a, count);
}

/* count (n): how many responses N to sample for each prompt, 1 <= low <= N <= high, their sum at most `total` >= n low, so that the sum of
 * (1 - p^N - (1 - p)^N) p (1 - p)^2 is the largest (Knapsack RL, 2509.25849: 2, 128).  Greedy: starts at low and gives each further
 * response to the prompt where it adds most; low if p is 0 or 1.  p (n) in [0, 1].  One pass over the prompts per response above low */
grpo_status grpo_allocate_rollouts(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t *count);

/* index (count), 0 <= count <= n: the prompts with the largest q (1 - q)^2, in descending order; draw (n) in [0, 1]: q of each prompt,
 * drawn from Beta(alpha + 1, beta + 1) with its counts (VADE, 2511.18902: p; grpo_decayed_counts).  n log count exact comparisons */
grpo_status grpo_select_value_of_information(const double *draw, int64_t n, int64_t count, int64_t *index);

/* weight (n) = alpha p (1 - p) + beta diversity, p (n) in [0, 1]: the share of right answers (VAS of MMR1, 2509.21268: 0.8, 0.2) */
grpo_status grpo_visit_value(const double *p, const double *diversity, int64_t n, double alpha, double beta, double *weight);

/* index (count), 0 <= count <= n: the k largest and the count - k smallest of advantage (n), in descending order, with the k that gives
 * them the largest variance, the smallest such k; variances that agree to 31 digits count as equal (D3S, 2509.22115: N of them).  n log^2
 * count comparisons */
grpo_status grpo_max_variance_subset(const double *advantage, int64_t n, int64_t count, int64_t *index);

/* index (sequences), *count of them: for each group in which more than half of the responses are valid (sequences), its valid responses,
 * repeated in turn up to the size of the group; nothing for the other groups (GLM-5, 2602.15763) */
grpo_status grpo_pad_valid(const grpo_batch *batch, const uint8_t *valid, int64_t *index, int64_t *count);

/* sampling probabilities of n >= 1 clusters of prompts: new_rate (n) = success (n), the share of right answers in this step, in [0, 1]; or
 * rate (n), in [0, 1], if success is -1: not sampled.  new_probability (n) = (1 - alpha) probability + alpha new_rate/sum new_rate (1/n if
 * that sum is 0), normalised to sum 1 (ADS, 2606.22305, official code: 0.3, rates start at 0.5, probabilities at 1/n).  alpha in [0, 1];
 * probability (n) >= 0, not all 0 */
grpo_status grpo_cluster_probability(const double *rate, const double *probability, const double *success, int64_t n, double alpha,
                                     double *new_rate, double *new_probability);

/* weight (n) = sqrt(v (1 - v)) + least, v = value (n) in [0, 1], least >= 0 (SPO's sampling weights, 2509.13232: 0.05) */
grpo_status grpo_explore_weight(const double *value, int64_t n, double least, double *weight);

/* keep (n_groups) = 1 if the population deviation of batch.reward >= least >= 0, compared as squares (ReST-GRPO of ReST-RL, 2508.19576:
 * 0.05) */
grpo_status grpo_reward_std_filter(const grpo_batch *batch, double least, uint8_t *keep);

/* keep (n) = 1 if |A| >= least >= 0, A = advantage (n); then also the elements with the next largest |A|, until the number kept is a
 * multiple of `multiple` >= 0 (0 or 1: none more; all if there are too few); positive not 0: only elements with A > 0 (LOOP, 2502.01600,
 * official code: 0.01, the number of processes).  One pass over the list per additional element */
grpo_status grpo_advantage_filter(const double *advantage, int64_t n, double least, int64_t multiple, int positive, uint8_t *keep);

/* selected (n_tokens) = 1 where e^batch.logp_old < probability, in [0, 1] (Lopti, 2505.12929: eta; SPO, 2505.23564, cuts its segments at
 * such tokens) */
grpo_status grpo_select_low_probability(const grpo_batch *batch, double probability, uint8_t *selected);

/* *distance in [0, 1] of a branch a (n_a) from its parent b (n_b), lists of ids with n_a, n_b >= 1 (LATR, 2510.24302,
 * starreeze/latr@2adb0ed model/sample_filter.py: drops it if edit < 0.4, suffix > 0.2 or rouge_l > 0.5).  scratch (2 n_b + 2), not needed
 * for suffix, overlaps neither list.  n_a n_b steps */
typedef enum {
    GRPO_DISTANCE_EDIT,           /* insertions, deletions and replacements from one to the other, over the larger length */
    GRPO_DISTANCE_SUFFIX,         /* the longest suffix of one that occurs in the other, over the larger length */
    GRPO_DISTANCE_ROUGE_L         /* 2 L/(n_a + n_b), L the longest common subsequence */
} grpo_distance_form;

grpo_status grpo_sequence_distance(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form form, int64_t *scratch,
                                   double *distance);

/* how `size` >= 1 rollouts at `step` >= 1 are split between two models, where the share of the small one falls over `steps` >= 2: other =
 * ceil((1 - (step - 1)/(steps - 1)) size) from the small model, 0 after the last step, own = size - other (S2L-PO, 2605.30789, Algorithm
 * 1); -1 if an argument is out of range, or steps or size above 2^31 */
typedef struct { int64_t other, own; } grpo_split;

GRPO_FN grpo_split grpo_annealed_split(int64_t step, int64_t steps, int64_t size) {
    const int64_t most = INT64_C(1) << 31;
    grpo_split r = { -1, -1 };
    if (step < 1 || steps < 2 || size < 1 || steps > most || size > most) return r;
    r.other = step <= steps ? ((steps - step) * size + steps - 2) / (steps - 1) : 0;
    r.own = size - r.other;
    return r;
}

GRPO_C_END_
#endif /* GRPO_SELECTION_H */

#if defined(GRPO_SELECTION_IMPLEMENTATION) && !defined(GRPO_SELECTION_IMPLEMENTED)
#define GRPO_SELECTION_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

static grpo_status grpo_check_by_(const grpo_batch *b, const grpo_real *by, int place) {
    return grpo_check_tokens_(b, by, NULL, GRPO_FINITE_, GRPO_AT_ARGUMENT_ + place);
}

/* selected = `in` for the tokens of the prefix, !in for the other tokens in the order, `others` for unmasked tokens not in the order, 0 for
 * masked ones.  Here and below selected may be the mask: each token's entry is read before it is written */
static void grpo_mark_prefix_(const grpo_order_ *o, const grpo_prefix_ *p, uint8_t in, uint8_t others, uint8_t *selected) {
    const grpo_batch *b = o->batch;
    grpo_key_ key;
    int64_t ties = p->ties;
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_unmasked_(b, t)) selected[t] = 0;
            else if (!grpo_key_of_(o, t, &key)) selected[t] = others;
            else selected[t] = grpo_in_prefix_(p, &key, &ties) ? in : !in;
        }
}

/* no token lies strictly between the two order statistics that the quantile interpolates: the tokens at or above it begin at the upper one,
 * number ceil(position) */
grpo_status grpo_select_top_fraction(const grpo_batch *batch, const grpo_real *by, double fraction, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 4);
    grpo_order_ o;
    grpo_prefix_ p;
    int64_t i, n = 0;
    if (!st) st = grpo_check_number_(fraction, GRPO_PART_, 3);
    if (!st) st = grpo_check_by_(batch, by, 2);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) n += grpo_unmasked_(batch, i);
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = by;
    o.most = n > 0 ? grpo_ceil_of_(1 - fraction, n - 1) : 0;
    grpo_find_prefix_(&o, &p);
    p.ties = 0;
    grpo_mark_prefix_(&o, &p, 0, 0, selected);
    return GRPO_OK;
}

grpo_status grpo_select_top_k(const grpo_batch *batch, const grpo_real *by, int64_t count, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 4);
    grpo_order_ o;
    grpo_prefix_ p;
    if (!st) st = grpo_check_count_(count, 0, 3);
    if (!st) st = grpo_check_by_(batch, by, 2);
    if (st) return st;
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = by; o.descending = 1; o.most = count;
    grpo_find_prefix_(&o, &p);
    grpo_mark_prefix_(&o, &p, 1, 0, selected);
    return GRPO_OK;
}

grpo_status grpo_select_second_moment(const grpo_batch *batch, const grpo_real *advantage, grpo_second_moment_form form, double threshold,
                                      uint8_t *selected) {
    const int drifting = form == GRPO_SECOND_MOMENT_DRIFTING;
    grpo_status st = grpo_check_call_(batch, selected, 5);
    grpo_order_ o;
    grpo_prefix_ p;
    if (!st) st = grpo_check_choice_((int)form, 2, 3);
    if (!st) st = grpo_check_number_(threshold, GRPO_POSITIVE_, 4);
    if (!st) st = grpo_check_inputs_(batch, advantage,
                                     GRPO_NEED_OLD_ | (drifting ? GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_ : GRPO_NEED_ROLLOUT_));
    if (st) return st;
    memset(&o, 0, sizeof o);
    o.batch = batch; o.by = drifting ? batch->logp : batch->logp_rollout; o.minus = batch->logp_old;
    o.advantage = drifting ? advantage : NULL;
    o.threshold = threshold; o.inclusive = drifting;
    grpo_find_prefix_(&o, &p);
    if (!drifting && !p.whole && p.count + p.ties == 0) p.ties = 1;
    grpo_mark_prefix_(&o, &p, 1, 1, selected);
    return GRPO_OK;
}

#define GRPO_STOPS_ 256
typedef struct {
    const grpo_batch *batch;
    int64_t stride, n;                  /* sequences between two stops; tokens of the batch */
    int64_t before[GRPO_STOPS_];        /* tokens before each stop */
} grpo_places_;

static void grpo_places_of_(const grpo_batch *b, grpo_places_ *p) {
    int64_t k, first = grpo_first_sequence_(b), sequences = grpo_end_sequence_(b) - first;
    p->batch = b;
    p->stride = sequences / GRPO_STOPS_ + 1;
    p->n = 0;
    for (k = 0; k < sequences; k++) {
        if (k % p->stride == 0) p->before[k / p->stride] = p->n;
        p->n += b->length[first + k];
    }
    for (k = (sequences + p->stride - 1) / p->stride; k < GRPO_STOPS_; k++) p->before[k] = p->n;
}

/* the array index of token k < n, counted through the sequences */
static int64_t grpo_slot_of_(const grpo_places_ *p, int64_t k) {
    int64_t i;
    int stop = 0, step;
    for (step = GRPO_STOPS_ / 2; step > 0; step /= 2) if (p->before[stop + step] <= k) stop += step;
    i = grpo_first_sequence_(p->batch) + stop * p->stride;
    for (k -= p->before[stop]; k >= p->batch->length[i]; i++) k -= p->batch->length[i];
    return p->batch->offset[i] + k;
}

static uint64_t grpo_splitmix64_(uint64_t x) {                         /* its mixing function */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* 1 if order is a permutation of 0 .. n - 1; misses a repeated entry with probability 2^-64 (an exact test would need memory) */
static int grpo_is_permutation_(const int64_t *order, int64_t n) {
    uint64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        if (order[k] < 0 || order[k] >= n) return 0;
        sum += grpo_splitmix64_((uint64_t)order[k]) - grpo_splitmix64_((uint64_t)k);
    }
    return sum == 0;
}

grpo_status grpo_select_between(const grpo_batch *batch, const grpo_real *by, double low, double high, const uint8_t *excluded,
                                const int64_t *order, int64_t count, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 8);
    grpo_places_ places;
    if (!st) st = grpo_check_number_(low, GRPO_FINITE_, 3);
    if (!st) st = grpo_check_number_(high, GRPO_FINITE_, 4);
    if (!st && low > high) st = grpo_refuse_both_(GRPO_CROSSED, 3, 4, -1);
    if (!st) st = grpo_check_count_(count, 0, 7);
    if (!st) st = grpo_check_by_(batch, by, 2);
    if (st) return st;
    grpo_places_of_(batch, &places);
    if (places.n > 0 && !order) return grpo_refuse_(GRPO_NULL, 6, -1);
    if (!grpo_is_permutation_(order, places.n)) return grpo_refuse_(GRPO_NOT_PERMUTATION, 6, -1);
    for (int64_t k = 0; k < places.n; k++) {
        const int64_t t = grpo_slot_of_(&places, order[k]);
        const int wanted = count > 0 && grpo_is_unmasked_(batch, t) && !(excluded && excluded[t]);
        selected[t] = wanted && (double)by[t] > low && (double)by[t] < high;
        count -= selected[t];
    }
    return GRPO_OK;
}

grpo_status grpo_covariance(const grpo_batch *batch, const grpo_real *advantage, grpo_real *covariance) {
    grpo_status st = grpo_check_call_(batch, covariance, 3);
    grpo_sum sum[2];
    grpo_dd mean_A, mean_l;
    grpo_index_ at;
    int64_t i, t, n = 0;
    int overflow = 0;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    memset(sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n++) {
        grpo_sum_add_(&sum[0], (double)advantage[t]);
        grpo_sum_add_(&sum[1], (double)batch->logp[t]);
    }
    mean_A = grpo_dd_div(grpo_sum_dd_(&sum[0]), n > 0 ? (double)n : 1);
    mean_l = grpo_dd_div(grpo_sum_dd_(&sum[1]), n > 0 ? (double)n : 1);
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++) {
            double c = 0;
            if (grpo_is_unmasked_(batch, t))
                c = grpo_dd_product(grpo_dd_minus_(grpo_dd_of_((double)advantage[t]), mean_A),
                                    grpo_dd_minus_(grpo_dd_of_((double)batch->logp[t]), mean_l)).hi;
            grpo_put_(covariance, t, c, &overflow);
        }
    return GRPO_OK;
}

grpo_status grpo_reward_range_filter(const grpo_batch *batch, double low, double high, uint8_t *keep) {
    grpo_status st = grpo_check_call_(batch, keep, 4);
    grpo_sum sum;
    int64_t n;
    if (!st) st = grpo_check_number_(low, GRPO_FINITE_, 2);
    if (!st) st = grpo_check_number_(high, GRPO_FINITE_, 3);
    if (!st && low > high) st = grpo_refuse_both_(GRPO_CROSSED, 2, 3, -1);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        memset(&sum, 0, sizeof sum);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)batch->reward[i]);
        n = batch->group_begin[g + 1] - batch->group_begin[g];
        keep[g] = grpo_mean_exceeds_(&sum, n, low) > 0 && grpo_mean_exceeds_(&sum, n, high) < 0;
    }
    return GRPO_OK;
}

grpo_status grpo_resampling_weights(const grpo_batch *batch, double power, double eps, double *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    if (!st) st = grpo_check_number_(power, GRPO_FACTOR_, 2);
    if (!st) st = grpo_check_number_(eps, GRPO_FACTOR_, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        weight[i] = pow(fabs((double)batch->reward[i]), power) + eps;
    return GRPO_OK;
}

/* index for one draw: a first guess in double, corrected by exact sums: above = weight[0] + ... + weight[j] - u total */
static int64_t grpo_draw_index_(const double *weight, int64_t n, double u, double total) {
    grpo_sum above = GRPO_NO_SUM_;
    double before = 0;
    int64_t i, j = 0;
    for (i = 0; i < n; i++) grpo_sum_add_dd_(&above, grpo_two_prod(-u, weight[i]));
    for (; j + 1 < n && before + weight[j] <= u * total; j++) before += weight[j];
    for (i = 0; i <= j; i++) grpo_sum_add_(&above, weight[i]);
    for (; j + 1 < n && grpo_sum_value_(&above) <= 0; j++) grpo_sum_add_(&above, weight[j + 1]);
    for (; j > 0; j--) {
        grpo_sum_add_(&above, -weight[j]);
        if (grpo_sum_value_(&above) <= 0) break;
    }
    return j;
}

grpo_status grpo_resample(const double *weight, int64_t n, const double *uniform, int64_t draws, int64_t *index) {
    grpo_sum sum = GRPO_NO_SUM_;
    double total;
    grpo_status st = grpo_check_output_(index, 5);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(draws, 0, 4);
    if (!st) st = grpo_check_output_(weight, 1);
    if (!st) st = grpo_check_output_(uniform, 3);
    if (!st) st = grpo_check_list_(weight, n, GRPO_MODERATE_FACTOR_, 1);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) grpo_sum_add_(&sum, weight[k]);
    total = grpo_sum_value_(&sum);
    if (!(total > 0)) return grpo_refuse_(GRPO_ZERO_SUM, 1, -1);
    st = grpo_check_list_(uniform, draws, GRPO_BELOW_ONE_, 3);
    if (st) return st;
    for (int64_t k = 0; k < draws; k++) index[k] = grpo_draw_index_(weight, n, uniform[k], total);
    return GRPO_OK;
}

/* the sample deviation of the rewards of group g is the result times 2^exponent: scaled so that squares neither overflow nor underflow */
static double grpo_reward_deviation_(const grpo_batch *b, int64_t g, int *exponent) {
    grpo_values v = GRPO_NO_VALUES_;
    double largest = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    frexp(largest, exponent);
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -*exponent)));
    return sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE));
}

grpo_status grpo_replay_score(const grpo_batch *batch, const grpo_real *advantage, double *score) {
    grpo_status st = grpo_check_call_(batch, score, 3);
    grpo_sum sum;
    double size, deviation;
    int64_t t;
    int e_size, e_deviation;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_REWARD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        memset(&sum, 0, sizeof sum);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i] && !grpo_is_unmasked_(batch, t); t++) { }
            if (t < batch->offset[i] + batch->length[i]) grpo_sum_add_(&sum, fabs((double)advantage[t]));
        }
        size = frexp(grpo_sum_value_(&sum), &e_size);
        deviation = grpo_reward_deviation_(batch, g, &e_deviation);
        score[g] = ldexp(size * deviation, e_size + e_deviation);
    }
    return GRPO_OK;
}

/* of the signal x over the mask, in units of 2^exponent, whose squares neither overflow nor underflow: sum x; n sum x^2 - (sum x)^2 */
typedef struct { grpo_dd sum, square; double n; int exponent; } grpo_spread_;

static grpo_spread_ grpo_spread_of_(const grpo_signal_ *s) {
    grpo_spread_ r;
    grpo_values v = GRPO_NO_VALUES_;
    grpo_sum acc;
    grpo_index_ at;
    grpo_dd x;
    double largest = 0;
    int64_t t;
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_token_(s->batch, &at)) >= 0; ) {
        x = grpo_signal_at_(s, t);
        if (!(fabs(x.hi) <= largest)) largest = fabs(x.hi);
    }
    frexp(grpo_is_finite(largest) ? largest : 0, &r.exponent);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_token_(s->batch, &at)) >= 0; ) {
        x = grpo_signal_at_(s, t);
        x.hi = ldexp(x.hi, -r.exponent); x.lo = ldexp(x.lo, -r.exponent);
        grpo_values_take_(&v, x);
    }
    r.n = (double)v.count;
    r.sum = grpo_sum_dd_(&v.sum);
    r.square = grpo_dd_of_(0);
    if (v.count < 2 || !grpo_is_finite(largest) || grpo_dd_same_(v.min, v.max)) return r;
    grpo_values_scatter_(&v, &acc);
    r.square = grpo_sum_dd_(&acc);
    return r;
}

/* 1 if n y > mu n std, y = mean x - x, or x itself if s->expected is given; a difference within 2^-60 of the two numbers counts as
 * equality */
static int grpo_stands_out_(const grpo_signal_ *s, const grpo_spread_ *spread, int64_t t, double mu) {
    grpo_dd x = grpo_signal_at_(s, t), bound;
    if (!(spread->square.hi > 0)) return 0;
    x.hi = ldexp(x.hi, -spread->exponent); x.lo = ldexp(x.lo, -spread->exponent);
    x = grpo_dd_mul(x, spread->n);
    if (!s->expected) x = grpo_dd_minus_(spread->sum, x);
    bound = grpo_dd_mul(grpo_sqrt_twice_(spread->square), mu);
    if (!grpo_is_finite(bound.hi)) return bound.hi < 0;
    return grpo_dd_minus_(x, bound).hi > ldexp(fabs(x.hi), -60);
}

/* selects the unmasked tokens with A < 0 that stand out; returns how many */
static int64_t grpo_select_outliers_(const grpo_signal_ *s, const grpo_spread_ *spread, const grpo_real *advantage, double mu,
                                     uint8_t *selected) {
    const grpo_batch *b = s->batch;
    int64_t n = 0;
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            selected[t] = grpo_is_unmasked_(b, t) && advantage[t] < 0 && grpo_stands_out_(s, spread, t, mu);
            n += selected[t];
        }
    return n;
}

static grpo_status grpo_check_clip_(const grpo_batch *b, const grpo_real *advantage, double mu, int place) {
    const grpo_status st = grpo_check_number_(mu, GRPO_FINITE_, place);
    return st ? st : grpo_check_inputs_(b, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_ | GRPO_NEED_ADVANTAGE_);
}

grpo_status grpo_entropy_clip_batch(const grpo_batch *batch, const grpo_real *advantage, double mu, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 4);
    grpo_signal_ s;
    grpo_spread_ spread;
    if (!st) st = grpo_check_clip_(batch, advantage, mu, 3);
    if (st) return st;
    s.batch = batch; s.expected = NULL;
    spread = grpo_spread_of_(&s);
    grpo_select_outliers_(&s, &spread, advantage, mu, selected);
    return GRPO_OK;
}

/* of the selected tokens keeps only the `most` with the largest signal */
static void grpo_keep_largest_(const grpo_signal_ *s, int64_t most, uint8_t *selected) {
    grpo_batch candidates = *s->batch;
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    int64_t t, ties;
    candidates.mask = selected;
    memset(&o, 0, sizeof o);
    o.batch = &candidates; o.signal = s; o.descending = 1; o.most = most;
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(&candidates); (t = grpo_next_token_(&candidates, &at)) >= 0; ) {
        grpo_key_of_(&o, t, &key);
        selected[t] = grpo_in_prefix_(&p, &key, &ties) ? 1 : 0;
    }
}

grpo_status grpo_entropy_clip_vocabulary(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *expected, double mu,
                                         double fraction, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 6);
    grpo_signal_ s;
    grpo_spread_ spread;
    int64_t most;
    if (!st) st = grpo_check_clip_(batch, advantage, mu, 4);
    if (!st) st = grpo_check_number_(fraction, GRPO_PART_, 5);
    if (!st) st = grpo_check_tokens_(batch, expected, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 3);
    if (st) return st;
    s.batch = batch; s.expected = expected;
    spread = grpo_spread_of_(&s);
    most = (int64_t)floor(fraction * spread.n);
    if (most < 1) most = 1;
    if (grpo_select_outliers_(&s, &spread, advantage, mu, selected) > most) grpo_keep_largest_(&s, most, selected);
    return GRPO_OK;
}

#define GRPO_MAX_CANDIDATES_ 20
typedef struct { int64_t index[GRPO_MAX_CANDIDATES_]; int sign; grpo_dd spread; } grpo_subset_;

/* adds sign times 2 count (mean - (low + high)/2) of the subset */
static void grpo_add_distance_(grpo_sum *s, const double *reward, const grpo_subset_ *x, int64_t count, double low, double high, int sign) {
    for (int64_t k = 0; k < count; k++) {
        grpo_sum_add_(s, sign * 2 * reward[x->index[k]]);
        grpo_sum_add_(s, -sign * low);
        grpo_sum_add_(s, -sign * high);
    }
}

static double grpo_distance_(const double *reward, const grpo_subset_ *x, int64_t count, double low, double high) {
    grpo_sum s = GRPO_NO_SUM_;
    grpo_add_distance_(&s, reward, x, count, low, high, 1);
    return grpo_sum_value_(&s);
}

/* sets the side of the midpoint on which the subset's mean is, and its spread; returns 0 if the mean is not between the bounds */
static int grpo_rate_subset_(const double *reward, grpo_subset_ *x, int64_t count, double low, double high) {
    double least = reward[x->index[0]], most = least;
    if (!(grpo_distance_(reward, x, count, low, low) > 0 && grpo_distance_(reward, x, count, high, high) < 0)) return 0;
    for (int64_t k = 1; k < count; k++) {
        if (reward[x->index[k]] < least) least = reward[x->index[k]];
        if (reward[x->index[k]] > most) most = reward[x->index[k]];
    }
    x->spread = grpo_two_diff(most, least);
    x->sign = grpo_distance_(reward, x, count, low, high) < 0 ? -1 : 1;
    return 1;
}

static int grpo_subset_better_(const double *reward, const grpo_subset_ *x, const grpo_subset_ *than, int64_t count, double low,
                               double high) {
    grpo_sum s;
    double nearer;
    memset(&s, 0, sizeof s);
    grpo_add_distance_(&s, reward, x, count, low, high, x->sign);
    grpo_add_distance_(&s, reward, than, count, low, high, -than->sign);
    nearer = grpo_sum_value_(&s);
    return nearer < 0 || (nearer == 0 && grpo_dd_less(than->spread, x->spread));
}

/* goes to the next subset in lexicographic order; returns 0 if there is none */
static int grpo_next_subset_(int64_t *index, int64_t n, int64_t count) {
    int64_t j = count - 1, k;
    while (j >= 0 && index[j] == n - count + j) j--;
    if (j < 0) return 0;
    for (index[j]++, k = j + 1; k < count; k++) index[k] = index[k - 1] + 1;
    return 1;
}

grpo_status grpo_balanced_subset(const double *reward, int64_t n, int64_t count, double low, double high, int64_t *index) {
    grpo_subset_ x, best;
    int any = 0;
    grpo_status st = grpo_check_output_(index, 6);
    if (!st) st = grpo_check_count_(n, 1, 2);
    if (!st && n > GRPO_MAX_CANDIDATES_) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 2, -1);
    if (!st) st = grpo_check_count_(count, 1, 3);
    if (!st && count > n) st = grpo_refuse_both_(GRPO_CROSSED, 3, 2, -1);
    if (!st) st = grpo_check_number_(low, GRPO_FINITE_, 4);
    if (!st) st = grpo_check_number_(high, GRPO_FINITE_, 5);
    if (!st && low > high) st = grpo_refuse_both_(GRPO_CROSSED, 4, 5, -1);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (st) return st;
    memset(&x, 0, sizeof x);
    best = x;
    for (int64_t k = 0; k < count; k++) x.index[k] = k;
    do {
        if (!grpo_rate_subset_(reward, &x, count, low, high)) continue;
        if (!any || grpo_subset_better_(reward, &x, &best, count, low, high)) best = x;
        any = 1;
    } while (grpo_next_subset_(x.index, n, count));
    if (!any) return grpo_refuse_(GRPO_NONE_LEFT, 4, -1);
    for (int64_t k = 0; k < count; k++) index[k] = best.index[k];
    return GRPO_OK;
}

/* the k-th (from 0) smallest x >= 0 over the unmasked tokens of response i; builds it bit by bit, from the highest */
static double grpo_order_statistic_(const grpo_batch *b, int64_t i, const double *x, int64_t k) {
    uint64_t found = 0, trial, bits;
    int64_t t, below;
    double value;
    for (int bit = 62; bit >= 0; bit--) {
        trial = found | UINT64_C(1) << bit;
        for (below = 0, t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_unmasked_(b, t)) continue;
            memcpy(&bits, &x[t], sizeof bits);
            below += bits < trial;
        }
        if (below <= k) found = trial;
    }
    memcpy(&value, &found, sizeof value);
    return value;
}

/* the quantile q, interpolated at position q (n - 1) */
static double grpo_linear_quantile_(const grpo_batch *b, int64_t i, const double *x, int64_t n, double q) {
    const grpo_dd h = grpo_two_prod(q, (double)(n - 1));
    double whole = floor(h.hi), low;
    if (whole == h.hi && h.lo < 0) whole--;
    low = grpo_order_statistic_(b, i, x, (int64_t)whole);
    if ((int64_t)whole >= n - 1) return low;
    return low + grpo_dd_add(h, grpo_dd_of_(-whole)).hi * (grpo_order_statistic_(b, i, x, (int64_t)whole + 1) - low);
}

/* change: D of each token; cost: w D; spent and weights: the sums of w D and of w over the tokens before */
static void grpo_gate_response_(const grpo_batch *b, int64_t i, const grpo_real *advantage, const grpo_prefix_gate *x, double *change,
                                uint8_t *selected) {
    const double span = x->width > 1 ? (double)(x->width - 1) : 1;
    const int64_t begin = b->offset[i], n = grpo_unmasked_(b, i);
    grpo_dd spent = grpo_dd_of_(0), weights = spent, w, cost, rest;
    double d;
    for (int64_t t = begin; t < begin + b->length[i]; t++)
        if (grpo_is_unmasked_(b, t)) change[t] = fabs(grpo_probability_change((double)b->logp[t], (double)b->logp_old[t]));
    d = n ? x->factor * grpo_linear_quantile_(b, i, change, n, x->quantile) : 0;
    d = d < x->budget ? x->budget : d > 5 * x->budget ? 5 * x->budget : d;
    for (int64_t t = begin; t < begin + b->length[i]; t++) {
        const double adv = (double)advantage[t], l = (double)b->logp[t], o = (double)b->logp_old[t];
        if (!grpo_is_unmasked_(b, t)) { selected[t] = 0; continue; }
        w = grpo_dd_div(grpo_dd_mul(grpo_two_diff(1, x->least), (double)(x->width - (t - begin) - 1)), span);
        w = grpo_dd_add(w, grpo_dd_of_(x->least));
        cost = grpo_dd_mul(w, change[t]);
        rest = grpo_dd_add(grpo_dd_of_(x->delta), grpo_dd_minus_(grpo_dd_mul(weights, d), spent));
        selected[t] = !((adv > 0 && l > o) || (adv < 0 && l < o)) || (!grpo_dd_exceeds(cost, x->delta) && !grpo_dd_less(rest, cost));
        spent = grpo_dd_add(spent, cost);
        weights = grpo_dd_add(weights, w);
    }
}

static grpo_status grpo_check_prefix_gate_(const grpo_batch *b, const grpo_prefix_gate *x, int place) {
    grpo_status st = grpo_check_output_(x, place);
    if (!st) st = grpo_check_member_(x->least, GRPO_PART_, place, 1);
    if (!st) st = grpo_check_member_(x->delta, GRPO_MODERATE_POSITIVE_, place, 2);
    if (!st) st = grpo_check_member_(x->budget, GRPO_MODERATE_FACTOR_, place, 3);
    if (!st) st = grpo_check_member_(x->quantile, GRPO_PART_, place, 4);
    if (!st) st = grpo_check_member_(x->factor, GRPO_MODERATE_FACTOR_, place, 5);
    for (int64_t i = grpo_first_sequence_(b); !st && i < grpo_end_sequence_(b); i++)
        if (x->width < b->length[i]) st = grpo_refuse_(GRPO_TOO_SMALL, place, 0);
    return st;
}

grpo_status grpo_prefix_trust_region(const grpo_batch *batch, const grpo_real *advantage, const grpo_prefix_gate *gate, double *scratch,
                                     uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 5);
    if (!st) st = grpo_check_prefix_gate_(batch, gate, 3);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 4);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (!st) st = GRPO_DISJOINT_(scratch, batch->n_tokens, 4, advantage, batch->n_tokens, GRPO_AT_ARGUMENT_ + 2);
    if (!st) st = GRPO_DISJOINT_(scratch, batch->n_tokens, 4, batch->logp, batch->n_tokens, GRPO_AT_logp_);
    if (!st) st = GRPO_DISJOINT_(scratch, batch->n_tokens, 4, batch->logp_old, batch->n_tokens, GRPO_AT_logp_old_);
    if (!st) st = GRPO_DISJOINT_(scratch, batch->n_tokens, 4, selected, batch->n_tokens, GRPO_AT_ARGUMENT_ + 5);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        grpo_gate_response_(batch, i, advantage, gate, scratch, selected);
    return GRPO_OK;
}

static grpo_power_ grpo_power_raised_(grpo_power_ x, int64_t n) {
    grpo_power_ r = grpo_power_of_(grpo_dd_of_(1), 0);
    for (; n > 0; n >>= 1) {
        if (n & 1) r = grpo_power_product_(r, x);
        x = grpo_power_product_(x, x);
    }
    return r;
}

static int grpo_power_less_(grpo_power_ a, grpo_power_ b) { return a.e != b.e ? a.e < b.e : grpo_dd_less(a.m, b.m); }

/* what the response after the N-th adds, N = size: p^2 q^3 (p^(N-1) + q^(N-1)), q = 1 - p; 0 < p < 1 */
static grpo_power_ grpo_gain_of_response_(double p, int64_t size) {
    const grpo_power_ success = grpo_power_of_(grpo_dd_of_(p), 0), failure = grpo_power_of_(grpo_two_diff(1, p), 0);
    const grpo_power_ powers = grpo_power_sum_(grpo_power_raised_(success, size - 1), grpo_power_raised_(failure, size - 1));
    return grpo_power_product_(grpo_power_product_(grpo_power_raised_(success, 2), grpo_power_raised_(failure, 3)), powers);
}

/* the logarithm of grpo_gain_of_response_, with a relative error of 1e-12 */
static double grpo_log_gain_(double p, int64_t size) {
    const double x = log(p), y = log1p(-p), most = x > y ? x : y, least = x > y ? y : x, n = (double)(size - 1);
    return 2 * x + 3 * y + n * most + log1p(exp(n * (least - most)));
}

/* the prompt to which one more response adds most; -1 if no prompt can take one */
static int64_t grpo_best_prompt_(const double *p, const int64_t *count, int64_t n, int64_t high) {
    double most = 0, x, slack;
    int64_t i, best = -1;
    for (i = 0; i < n; i++) {
        if (!(p[i] > 0 && p[i] < 1) || count[i] >= high) continue;
        x = grpo_log_gain_(p[i], count[i]);
        slack = 1e-10 * (1 + fabs(x));
        if (best >= 0 && x < most - slack) continue;
        if (best >= 0 && x <= most + slack
            && !grpo_power_less_(grpo_gain_of_response_(p[best], count[best]), grpo_gain_of_response_(p[i], count[i]))) continue;
        best = i;
        most = x;
    }
    return best;
}

grpo_status grpo_allocate_rollouts(const double *p, int64_t n, int64_t low, int64_t high, int64_t total, int64_t *count) {
    int64_t best;
    grpo_status st = grpo_check_output_(count, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(low, 1, 3);
    if (!st && high < low) st = grpo_refuse_both_(GRPO_CROSSED, 3, 4, -1);
    if (!st && (total < 0 || (n > 0 && total / n < low))) st = grpo_refuse_(GRPO_TOO_SMALL, 5, -1);
    if (!st) st = grpo_check_list_(p, n, GRPO_PART_, 1);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) count[k] = low;
    for (int64_t left = total - n * low; left > 0; left--) {
        best = grpo_best_prompt_(p, count, n, high);
        if (best < 0) break;
        count[best]++;
    }
    return GRPO_OK;
}

/* the sign of a - b, or of f(a) - f(b) for a function f */
typedef int grpo_compare_(double a, double b);

static int grpo_compare_numbers_(double a, double b) { return (a > b) - (a < b); }

/* a (1 - a)^2 - b (1 - b)^2 = (a - b)(1 - 2a - 2b + a^2 + ab + b^2) */
static int grpo_compare_information_(double a, double b) {
    grpo_sum s = GRPO_NO_SUM_;
    grpo_sum_add_(&s, 1);
    grpo_sum_add_(&s, -2 * a);
    grpo_sum_add_(&s, -2 * b);
    grpo_sum_add_dd_(&s, grpo_two_prod(a, a));
    grpo_sum_add_dd_(&s, grpo_two_prod(a, b));
    grpo_sum_add_dd_(&s, grpo_two_prod(b, b));
    return grpo_compare_numbers_(a, b) * grpo_compare_numbers_(grpo_sum_value_(&s), 0);
}

/* < 0 if x[i] comes before x[j] in descending order; of equal ones the lower index comes first */
static int grpo_compare_elements_(const double *x, grpo_compare_ *compare, int64_t i, int64_t j) {
    const int c = compare(x[j], x[i]);
    return c ? c : (i > j) - (i < j);
}

/* a list in that order (direction 1) or in reverse (-1) */
typedef struct { const double *x; int64_t n; grpo_compare_ *compare; int direction; } grpo_listing_;

static int grpo_listed_before_(const grpo_listing_ *l, int64_t i, int64_t j) {
    return l->direction * grpo_compare_elements_(l->x, l->compare, i, j) < 0;
}

/* restores the heap, which has the element that comes last on top, if only `root` is out of place */
static void grpo_sift_index_(const grpo_listing_ *l, int64_t *heap, int64_t root, int64_t n) {
    const int64_t i = heap[root];
    int64_t child;
    for (; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && grpo_listed_before_(l, heap[child], heap[child + 1])) child++;
        if (!grpo_listed_before_(l, i, heap[child])) break;
        heap[root] = heap[child];
    }
    heap[root] = i;
}

/* index (count): in order, the first `count` elements that come after `last` (-1: of all); there must be as many.  n log count
 * comparisons */
static void grpo_list_first_(const grpo_listing_ *l, int64_t last, int64_t count, int64_t *index) {
    int64_t i, k, top, size = 0;
    for (i = 0; i < l->n && count > 0; i++) {
        if (last >= 0 && !grpo_listed_before_(l, last, i)) continue;
        if (size < count) {
            index[size++] = i;
            for (k = size == count ? count / 2 : -1; k >= 0; k--) grpo_sift_index_(l, index, k, count);
        } else if (grpo_listed_before_(l, i, index[0])) {
            index[0] = i;
            grpo_sift_index_(l, index, 0, count);
        }
    }
    for (k = count - 1; k > 0; k--) {
        top = index[0]; index[0] = index[k]; index[k] = top;
        grpo_sift_index_(l, index, 0, k);
    }
}

grpo_status grpo_select_value_of_information(const double *draw, int64_t n, int64_t count, int64_t *index) {
    const grpo_listing_ list = { draw, n, grpo_compare_information_, 1 };
    grpo_status st = grpo_check_output_(index, 4);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(count, 0, 3);
    if (!st && count > n) st = grpo_refuse_both_(GRPO_CROSSED, 3, 2, -1);
    if (!st) st = grpo_check_list_(draw, n, GRPO_PART_, 1);
    if (st) return st;
    grpo_list_first_(&list, -1, count, index);
    return GRPO_OK;
}

grpo_status grpo_visit_value(const double *p, const double *diversity, int64_t n, double alpha, double beta, double *weight) {
    grpo_dd v;
    grpo_status st = grpo_check_output_(weight, 6);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_list_(p, n, GRPO_PART_, 1);
    if (!st) st = grpo_check_list_(diversity, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(beta, GRPO_MODERATE_, 5);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        v = grpo_dd_mul(grpo_dd_mul(grpo_two_diff(1, p[k]), p[k]), alpha);
        weight[k] = grpo_dd_add(v, grpo_two_prod(beta, diversity[k])).hi;
    }
    return GRPO_OK;
}

/* index (count): the last `count` elements, in order */
static void grpo_list_last_(const double *x, int64_t n, int64_t count, int64_t *index) {
    const grpo_listing_ back = { x, n, grpo_compare_numbers_, -1 };
    grpo_list_first_(&back, -1, count, index);
    for (int64_t k = 0; 2 * k + 1 < count; k++) {
        const int64_t other = index[count - 1 - k];
        index[count - 1 - k] = index[k];
        index[k] = other;
    }
}

/* sums of numbers and of their squares, each number times 2^e */
typedef struct { grpo_sum sum, squares; int e; } grpo_moments_of_;

static void grpo_move_moments_(grpo_moments_of_ *m, double x, double sign) {
    const double y = ldexp(x, m->e);
    grpo_sum_add_(&m->sum, sign * y);
    grpo_sum_add_square_(&m->squares, sign, grpo_dd_of_(y));
}

/* n sum x^2 - (sum x)^2 of n numbers */
static grpo_dd grpo_spread_of_moments_(const grpo_moments_of_ *m, int64_t n) {
    grpo_sum acc = GRPO_NO_SUM_;
    grpo_covariance_add_(&acc, (double)n, &m->squares, &m->sum, &m->sum);
    return grpo_sum_dd_(&acc);
}

/* the number k of largest elements which, with the count - k smallest, have the largest variance.  index holds the `count` smallest in
 * order; each step replaces the first of these that is left by the next largest element.  Entries of index that have been replaced buffer
 * the next largest elements, twice as many each time: n log^2 count comparisons in all */
static int64_t grpo_best_prefix_(const double *advantage, int64_t n, int64_t count, int64_t *index) {
    const grpo_listing_ list = { advantage, n, grpo_compare_numbers_, 1 };
    grpo_moments_of_ m;
    grpo_dd best, spread;
    int64_t k, first = -1, prefix = 0, next = 0, room = 0;
    memset(&m, 0, sizeof m);
    m.e = -grpo_exponent_of_(advantage, n);
    for (k = 0; k < count; k++) grpo_move_moments_(&m, advantage[index[k]], 1);
    best = grpo_spread_of_moments_(&m, count);
    for (k = 1; k <= count; k++) {
        if (k == 1) grpo_list_first_(&list, -1, 1, &first);
        else if (next == room) {
            room = k - 1 < count - k + 1 ? k - 1 : count - k + 1;
            grpo_list_first_(&list, first, room, index);
            next = 0;
        }
        if (k > 1) first = index[next++];
        grpo_move_moments_(&m, advantage[first], 1);
        grpo_move_moments_(&m, advantage[index[k - 1]], -1);
        spread = grpo_spread_of_moments_(&m, count);
        if (grpo_dd_less(best, spread)) { best = spread; prefix = k; }
    }
    return prefix;
}

grpo_status grpo_max_variance_subset(const double *advantage, int64_t n, int64_t count, int64_t *index) {
    const grpo_listing_ list = { advantage, n, grpo_compare_numbers_, 1 };
    int64_t prefix;
    grpo_status st = grpo_check_output_(index, 4);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(count, 0, 3);
    if (!st && count > n) st = grpo_refuse_both_(GRPO_CROSSED, 3, 2, -1);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 1);
    if (st) return st;
    grpo_list_last_(advantage, n, count, index);
    prefix = grpo_best_prefix_(advantage, n, count, index);
    grpo_list_first_(&list, -1, prefix, index);
    grpo_list_last_(advantage, n, count - prefix, index + prefix);
    return GRPO_OK;
}

grpo_status grpo_pad_valid(const grpo_batch *batch, const uint8_t *valid, int64_t *index, int64_t *count) {
    grpo_status st = grpo_check_call_(batch, index, 3);
    int64_t g, i, begin, end, k, first, n = 0;
    if (!st) st = grpo_check_output_(count, 4);
    if (!st) st = grpo_check_not_null_(valid, batch->n_groups, 2);
    if (!st) st = GRPO_DISJOINT_(index, grpo_end_sequence_(batch), 3, count, 1, GRPO_AT_ARGUMENT_ + 4);
    if (st) return st;
    for (g = 0; g < batch->n_groups; g++) {
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (first = n, i = begin; i < end; i++) if (valid[i]) index[n++] = i;
        k = n - first;
        if (2 * k > end - begin) for (i = first; n - first < end - begin; i++) index[n++] = index[i];
        else n = first;
    }
    *count = n;
    return GRPO_OK;
}

grpo_status grpo_cluster_probability(const double *rate, const double *probability, const double *success, int64_t n, double alpha,
                                     double *new_rate, double *new_probability) {
    grpo_sum rates, total;
    grpo_dd all, divisor;
    grpo_status st = grpo_check_output_(new_rate, 6);
    if (!st) st = grpo_check_output_(new_probability, 7);
    if (!st) st = grpo_check_count_(n, 1, 4);
    if (!st) st = grpo_check_number_(alpha, GRPO_PART_, 5);
    if (!st) st = grpo_check_list_(rate, n, GRPO_PART_, 1);
    if (!st) st = grpo_check_list_(probability, n, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_not_null_(success, n, 3);
    for (int64_t k = 0; !st && k < n; k++) if (success[k] != -1) st = grpo_check_member_(success[k], GRPO_PART_, 3, k);
    if (!st) st = GRPO_DISJOINT_(new_rate, n, 6, new_probability, n, GRPO_AT_ARGUMENT_ + 7);
    if (st) return st;
    memset(&rates, 0, sizeof rates);
    memset(&total, 0, sizeof total);
    for (int64_t k = 0; k < n; k++) {
        grpo_sum_add_(&rates, success[k] >= 0 ? success[k] : rate[k]);
        grpo_sum_add_(&total, probability[k]);
    }
    all = grpo_sum_dd_(&rates);
    divisor = grpo_sum_dd_(&total);
    if (!(divisor.hi > 0)) return grpo_refuse_(GRPO_ZERO_SUM, 2, -1);
    divisor = grpo_dd_add(grpo_dd_product(divisor, grpo_two_diff(1, alpha)), grpo_dd_of_(alpha));
    for (int64_t k = 0; k < n; k++) {
        const grpo_dd r = grpo_dd_of_(success[k] >= 0 ? success[k] : rate[k]);
        const grpo_dd share = all.hi > 0 ? grpo_dd_quotient(r, all) : grpo_dd_div(grpo_dd_of_(1), (double)n);
        const grpo_dd p = grpo_dd_add(grpo_dd_mul(grpo_two_diff(1, alpha), probability[k]), grpo_dd_mul(share, alpha));
        new_rate[k] = r.hi;
        new_probability[k] = grpo_dd_quotient(p, divisor).hi;
    }
    return GRPO_OK;
}

grpo_status grpo_explore_weight(const double *value, int64_t n, double least, double *weight) {
    grpo_status st = grpo_check_output_(weight, 4);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(least, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_list_(value, n, GRPO_PART_, 1);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) weight[k] = sqrt(value[k] * (1 - value[k])) + least;
    return GRPO_OK;
}

/* n sum r^2 - (sum r)^2 >= (n least)^2, all in units of 2^e */
static int grpo_spreads_(const grpo_batch *b, int64_t g, double least) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    const double n = (double)(end - begin);
    double largest = least;
    grpo_values v = GRPO_NO_VALUES_;
    grpo_sum acc;
    int e;
    if (!grpo_rewards_differ_(b, g)) return least == 0;                 /* in units of 2^e `least` may underflow */
    for (int64_t i = begin; i < end; i++) if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    frexp(largest, &e);
    for (int64_t i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -e)));
    grpo_values_scatter_(&v, &acc);
    grpo_sum_add_square_(&acc, -1, grpo_two_prod(n, ldexp(least, -e)));
    return grpo_sum_value_(&acc) >= 0;
}

grpo_status grpo_reward_std_filter(const grpo_batch *batch, double least, uint8_t *keep) {
    grpo_status st = grpo_check_call_(batch, keep, 3);
    if (!st) st = grpo_check_number_(least, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) keep[g] = grpo_spreads_(batch, g, least) ? 1 : 0;
    return GRPO_OK;
}

grpo_status grpo_advantage_filter(const double *advantage, int64_t n, double least, int64_t multiple, int positive, uint8_t *keep) {
    int64_t k, best, kept = 0;
    grpo_status st = grpo_check_output_(keep, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(multiple, 0, 4);
    if (!st) st = grpo_check_number_(least, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 1);
    if (st) return st;
    for (k = 0; k < n; k++) {
        keep[k] = fabs(advantage[k]) >= least && (!positive || advantage[k] > 0) ? 1 : 0;
        kept += keep[k];
    }
    while (multiple > 1 && kept % multiple != 0) {
        for (best = -1, k = 0; k < n; k++) {
            if (keep[k] || (positive && !(advantage[k] > 0))) continue;
            if (best < 0 || fabs(advantage[k]) > fabs(advantage[best])) best = k;
        }
        if (best < 0) break;
        keep[best] = 1;
        kept++;
    }
    return GRPO_OK;
}

grpo_status grpo_select_low_probability(const grpo_batch *batch, double probability, uint8_t *selected) {
    grpo_status st = grpo_check_call_(batch, selected, 3);
    grpo_dd bound = { -HUGE_VAL, 0 };
    if (!st) st = grpo_check_number_(probability, GRPO_PART_, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    if (probability > 1e-290) bound = grpo_log_twice(probability);
    else if (probability > 0) bound.hi = log(probability);
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        for (int64_t t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++)
            selected[t] = grpo_is_unmasked_(batch, t) && grpo_dd_less(grpo_dd_of_((double)batch->logp_old[t]), bound);
    return GRPO_OK;
}

static int64_t grpo_better_(int64_t x, int64_t y, int least) { return (x < y) == least ? x : y; }

/* row i of the dynamic program of two sequences from the row before, at j the first j ids of b: the edit distance (edits 1), or the length
 * of the longest common subsequence (0) */
static void grpo_distance_row_(int64_t id, const int64_t *b, int64_t n, int edits, const int64_t *before, int64_t *row) {
    for (int64_t j = 1; j <= n; j++) {
        const int64_t straight = before[j - 1] + (b[j - 1] == id ? !edits : edits);
        row[j] = grpo_better_(straight, grpo_better_(before[j], row[j - 1], edits) + edits, edits);
    }
}

static double grpo_table_(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, int edits, int64_t *scratch) {
    int64_t *before = scratch, *row = scratch + n_b + 1, *swap, i, j;
    for (j = 0; j <= n_b; j++) before[j] = edits ? j : 0;
    for (i = 0; i < n_a; i++) {
        row[0] = edits ? i + 1 : 0;
        grpo_distance_row_(a[i], b, n_b, edits, before, row);
        swap = before; before = row; row = swap;
    }
    return (double)before[n_b];
}

/* the length of the longest suffix of a that occurs in b */
static int64_t grpo_common_suffix_(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b) {
    int64_t end, k, most = 0;
    for (end = n_b; end > most; end--) {
        for (k = 0; k < end && k < n_a && a[n_a - 1 - k] == b[end - 1 - k]; k++) { }
        if (k > most) most = k;
    }
    return most;
}

static grpo_status grpo_check_distance_scratch_(const int64_t *scratch, const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b) {
    grpo_status st = grpo_check_output_(scratch, 6);
    if (!st) st = GRPO_DISJOINT_(scratch, 2 * ((size_t)n_b + 1), 6, a, n_a, GRPO_AT_ARGUMENT_ + 1);
    return st ? st : GRPO_DISJOINT_(scratch, 2 * ((size_t)n_b + 1), 6, b, n_b, GRPO_AT_ARGUMENT_ + 3);
}

grpo_status grpo_sequence_distance(const int64_t *a, int64_t n_a, const int64_t *b, int64_t n_b, grpo_distance_form form, int64_t *scratch,
                                   double *distance) {
    const double longer = (double)(n_a > n_b ? n_a : n_b);
    int64_t there, back;
    grpo_status st = grpo_check_output_(distance, 7);
    if (!st) st = grpo_check_choice_((int)form, 3, 5);
    if (!st) st = grpo_check_count_(n_a, 1, 2);
    if (!st) st = grpo_check_count_(n_b, 1, 4);
    if (!st) st = grpo_check_not_null_(a, n_a, 1);
    if (!st) st = grpo_check_not_null_(b, n_b, 3);
    if (!st && form != GRPO_DISTANCE_SUFFIX) st = grpo_check_distance_scratch_(scratch, a, n_a, b, n_b);
    if (st) return st;
    if (form == GRPO_DISTANCE_EDIT) *distance = grpo_table_(a, n_a, b, n_b, 1, scratch) / longer;
    if (form == GRPO_DISTANCE_ROUGE_L) *distance = 2 * grpo_table_(a, n_a, b, n_b, 0, scratch) / ((double)n_a + (double)n_b);
    if (form != GRPO_DISTANCE_SUFFIX) return GRPO_OK;
    there = grpo_common_suffix_(a, n_a, b, n_b);
    back = grpo_common_suffix_(b, n_b, a, n_a);
    *distance = (double)(there > back ? there : back) / longer;
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_SELECTION_IMPLEMENTATION */
