/* grpo_rewards.h - rewards of responses: from their lengths, their group, lists of answers, trees and judges.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_REWARDS_IMPLEMENTATION
 *     #include "extra/grpo_rewards.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h.
 *
 * G: the number of responses of a group; T: the number of unmasked tokens of a response; r: batch.reward; logarithms are natural.  Settings
 * in parentheses are in the order of the arguments. */
#ifndef GRPO_REWARDS_H
#define GRPO_REWARDS_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_rewards.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_relative_cost_penalty grpo_relative_cost_penalty_f64
#define grpo_diversity_reward grpo_diversity_reward_f64
#define grpo_unlikeliness_reward grpo_unlikeliness_reward_f64
#define grpo_early_exit_reward grpo_early_exit_reward_f64
#define grpo_trust_reward grpo_trust_reward_f64
#define grpo_tool_efficiency_reward grpo_tool_efficiency_reward_f64
#define grpo_entity_reward grpo_entity_reward_f64
#define grpo_retention_reward grpo_retention_reward_f64
#define grpo_efficiency_reward grpo_efficiency_reward_f64
#define grpo_consistency_bonus grpo_consistency_bonus_f64
#define grpo_gated_reward_sum grpo_gated_reward_sum_f64
#define grpo_brier_reward grpo_brier_reward_f64
#define grpo_length_shape_reward grpo_length_shape_reward_f64
#define grpo_log_exp_reward grpo_log_exp_reward_f64
#define grpo_tree_reward grpo_tree_reward_f64
#define grpo_hint_reward grpo_hint_reward_f64
#define grpo_meta_reward grpo_meta_reward_f64
#define grpo_win_rate_reward grpo_win_rate_reward_f64
#define grpo_entropy_rank_reward grpo_entropy_rank_reward_f64
#define grpo_interval_reward grpo_interval_reward_f64
#define grpo_dense_rewards grpo_dense_rewards_f64
#define grpo_information_gain_reward grpo_information_gain_reward_f64
#define grpo_shorter_correct_reward grpo_shorter_correct_reward_f64
#define grpo_permutation_reward grpo_permutation_reward_f64
#define grpo_frequency_reward grpo_frequency_reward_f64
#define grpo_repetition_penalty grpo_repetition_penalty_f64
#define grpo_correct_length_reward grpo_correct_length_reward_f64
#define grpo_pairwise_rewards grpo_pairwise_rewards_f64
#define grpo_min_max_reward grpo_min_max_reward_f64
#endif

GRPO_C_BEGIN_

/* reward (sequences) = r - rbar (output_coef output/max output + input_coef input/max input + turns_coef turns/max turns), rbar the group's
 * mean reward, maxima over the group, a quotient being 0 if its maximum is 0 (prime-rl's code, linear length penalty: 0.25, 0.1, 0.1, with
 * integer counts and max(1, maximum); no paper) */
typedef struct {
    const double *output, *input, *turns;       /* (sequences) tokens of the response, tokens it was conditioned on, turns; all >= 0 */
    double output_coef, input_coef, turns_coef; /* as shares of the mean reward */
} grpo_cost;

grpo_status grpo_relative_cost_penalty(const grpo_batch *batch, const grpo_cost *cost, grpo_real *reward);

/* shaped (n) = reward_i/(sum_j similarity_ij + eps), reward (n) of the responses to one prompt, similarity (n, n): the cosines of their
 * embeddings, j = i included; a divisor of 0 is refused; shaped may be reward (DRA-GRPO, 2505.09655, official code: eps 1e-6) */
grpo_status grpo_diversity_reward(const double *reward, const double *similarity, int64_t n, double eps, double *shaped);

/* reward (sequences) = r (1 - beta rank/G), rank 0 .. G - 1 in ascending order of the mean of batch.logp_old over the response's unmasked
 * tokens (0 if it has none); scratch (sequences) (Rewarding the Unlikely, 2506.02355, official code: 0.25) */
grpo_status grpo_unlikeliness_reward(const grpo_batch *batch, double beta, grpo_dd *scratch, grpo_real *reward);

/* reward (sequences) = 2^-(c-1) where r > 0, else 0; c is how many responses with r > 0 the group has up to and including this one (S-GRPO,
 * 2505.07686: exits from one chain of thought, in order; that c counts correct ones only is how a restatement reads it) */
grpo_status grpo_early_exit_reward(const grpo_batch *batch, grpo_real *reward);

/* reward (sequences) = outcome + gamma decay thought, with thought replaced by 0 where outcome < low.  gamma, of a group: 0 if all outcomes
 * >= every or all <= none; else 1 if mc >= mw or no outcome >= right; else e^(mc - mw), where mc and mw are the means of thought over
 * outcome >= right and over the others, 0 if there are none.  outcome, thought (sequences): rewards of the answer and of the reasoning;
 * none > every is refused (TRUST-GRPO: SophiaVL-R1, 2505.17018, eq. 1-5: right 0.5; official code: low 0.2, every 0.9, none 0.1, decay 0.3
 * e^(-step/500)) */
typedef struct { double low, right, every, none; } grpo_trust_bounds;

grpo_status grpo_trust_reward(const grpo_batch *batch, const double *outcome, const double *thought, double decay,
                              const grpo_trust_bounds *bounds, grpo_real *reward);

/* reward (sequences) = alpha t for correct (sequences) responses, else 0, m = calls (sequences): the number of tool calls; smooth > 0 (OTC,
 * 2504.14870, eq. 4-7: alpha 1; its smooth was not found) */
typedef enum {
    GRPO_TOOLS_PPO,               /* t = cos(pi m/(2 m + smooth)) */
    GRPO_TOOLS_GRPO               /* with n the smallest m of the group's correct responses: sin(pi m/(m + n)); as for PPO if n = 0 */
} grpo_tools_form;

grpo_status grpo_tool_efficiency_reward(const grpo_batch *batch, const double *calls, const uint8_t *correct, double smooth, double alpha,
                                 grpo_tools_form form, grpo_real *reward);

/* reward (sequences) = 0 if invalid, 1 if correct, else alpha found/(largest found of the group), 0 if that is 0; all (sequences), found in
 * [0, 1]: the share of the question's entities that the response has found (E-GRPO, 2510.24694, eq. 1-6: 0.3) */
grpo_status grpo_entity_reward(const grpo_batch *batch, const double *found, const uint8_t *correct, const uint8_t *invalid, double alpha,
                               grpo_real *reward);

/* reward (sequences) = r + lambda e^(-alpha d), d = max(0, mean over the unmasked tokens of batch.logp_old - batch.logp_ref), where
 * logp_ref is of the policy after the previous task (RaPO, 2605.09640, eq. 2-4, as a reproduction has them: 0.5, 20) */
grpo_status grpo_retention_reward(const grpo_batch *batch, double lambda, double alpha, grpo_real *reward);

/* reward (sequences): 0 if not correct (sequences), else 1; but in the first max(1, ceil(share n_groups)) groups, those with the largest
 * share of correct responses (product rounded to double), which have efficient (n_groups) = 1, a correct response has 1 - alpha sigmoid((T
 * - m)/s), m and s mean and population deviation of T over the group's correct ones, sigmoid(0) if s = 0 (GRPO-lambda, 2505.18086: 0.2, a
 * port 0.6) */
grpo_status grpo_efficiency_reward(const grpo_batch *batch, const uint8_t *correct, double share, double alpha, grpo_real *reward,
                                   uint8_t *efficient);

/* reward (sequences) = r + lambda a if a > 0.1, a >= mean a of the group and c >= mean c - margin; else r.  a = accuracy (sequences); c =
 * min(e^m, cap), m the mean of batch.logp_ref over the unmasked tokens of batch.selected (the answer), 0 if there are none; mean c over the
 * responses that pass both conditions on a (GRPO-CARE, 2506.16141, official code: 0.5, 0.95, 0.01) */
grpo_status grpo_consistency_bonus(const grpo_batch *batch, const double *accuracy, double lambda, double cap, double margin,
                                   grpo_real *reward);

/* reward (n) = sum_k weight_k g_k r_k over the columns k of rewards (n, columns); g_k is the row's entry in column gate_k, or 1 if gate_k
 * is -1; weight, gate (columns).  P-GRPO (Posterior-GRPO, 2508.05170): format, outcome, thought with weights of 1 and gates -1, -1, 1 */
grpo_status grpo_gated_reward_sum(const double *rewards, int64_t n, int64_t columns, const double *weight, const int64_t *gate,
    double *reward);

/* reward (n) = 1 - (p - c)^2, p = confidence (n) clipped to [0, 1], c = correct (n); where missing (n; NULL: nowhere): -(p - c)^2 with p =
 * 1/2 (ReFIne, 2510.09062, official code) */
grpo_status grpo_brier_reward(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing, double *reward);

/* reward (n) as a function of x = length/max, length (n) >= 0, max > 0; 0 < peak < 1.  Parabola and polyline: Surrogate Signals from Format
 * and Length, 2505.19439, eq. 1-5, peak 0.5; triangle: Train Long, Think Short, 2508.08940, with the token budget as max, and peak 1 */
typedef enum {
    GRPO_SHAPE_PARABOLA,          /* 1 - (1 - x/peak)^2 below peak, 1 - 2 ((x - peak)/(1 - peak))^2 from it on */
    GRPO_SHAPE_POLYLINE,          /* x/peak below peak, 1 - 2 (x - peak)/(1 - peak) from it on */
    GRPO_SHAPE_TRIANGLE           /* x/peak below peak, max(0, 2 - x/peak) from it on; any peak > 0 */
} grpo_shape_form;

grpo_status grpo_length_shape_reward(const double *length, int64_t n, grpo_shape_form form, double peak, double max, double *reward);

/* mapped (n), of r = reward (n): threshold + upper log(1 + r - threshold) if r >= threshold, else threshold - (e^(lower (threshold - r)) -
 * 1)/(e^lower - 1), which is r for lower = 0 (TempSamp-R1, 2509.18056, eq. 2-4: 0.8, 0.01, 1) */
grpo_status grpo_log_exp_reward(const double *reward, int64_t n, double threshold, double upper, double lower, double *mapped);

/* shaped (n): R of the nodes of a tree; R = r = reward (n) of a node without children c, of the others: (MURPHY, 2511.07833, section 4, as
 * in two restatements, one of which divides by depth: gamma 0.9) */
typedef enum {
    GRPO_TREE_MAX,                /* MARS: max(r, max_c R_c) */
    GRPO_TREE_MEAN,               /* MERS: r + gamma mean_c R_c */
    GRPO_TREE_MEAN_BY_DEPTH       /* MERS divided by (turns - depth + 1) */
} grpo_tree_form;

/* parent (n): the index of an earlier node, or -1; depth (n): 1 .. turns, read by mean_by_depth only (else NULL); scratch (n).  O(n^2) */
grpo_status grpo_tree_reward(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double gamma,
                             grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped);

/* *reward_of_hint = u e^(min(D, 0)/temperature), from n rollouts under the hint with reward (n): p is the share with r > 1/2, D the mean
 * over these of gap (n), the mean log-probability without the hint minus that with it; 0 if p is 0 or 1; in any case -0.2 if gate is not 0:
 * the hint broke a rule (HiLL, 2604.00698, official code: temperature 0.3, informative) */
typedef enum {
    GRPO_HINT_VARIANCE,           /* u = p (1 - p) */
    GRPO_HINT_INFORMATIVE         /* u = 1 - p^n - (1 - p)^n */
} grpo_hint_form;

grpo_status grpo_hint_reward(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form form, int gate,
                             double *reward_of_hint);

/* *reward = (a + b + c)/3, each term 0 if its prediction is missing: a the share of net (m) that is > 0 (missing: m 0), net: for each
 * predicted notion, the number of right responses with it minus that of wrong ones; b = 0.01^|share of correct (n) - passes/8|, passes of 8
 * (missing: -1); c = 1 if min < predicted_length < max of length (n) over the correct ones, tokens (missing: -1) (MASA, 2510.03259,
 * official code) */
grpo_status grpo_meta_reward(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m, int64_t passes,
                             int64_t predicted_length, double *reward);

/* reward (n) = sum_j wins_ij/(n - 1), 0 for n = 1; wins (n, n): 1, 1/2 or 0 for i against j; the diagonal is not read (Pref-GRPO,
 * 2508.20751, which rounds to 3 decimals) */
grpo_status grpo_win_rate_reward(const double *wins, int64_t n, double *reward);

/* reward (n) = top (1 - k/(n - 1)), top for n = 1; k = 0 .. n - 1 is the rank by how many of the others have both a lower peak and a higher
 * overall entropy, the most first.  peak, overall (n): mean entropy over the response's most uncertain tokens, and over all; scratch (n)
 * (R3, 2601.19620; its top was not found) */
grpo_status grpo_entropy_rank_reward(const double *peak, const double *overall, int64_t n, double top, int64_t *scratch, double *reward);

/* reward (n) = IoU([begin, end], [mean begin, mean end]) e^(-gamma u), u = std begin + std end, IoU of two intervals = max(0, smaller end -
 * larger begin)/(larger end - smaller begin); begin < end (n), n >= 2; sample not 0: std with divisor n - 1 (URPA, 2508.06317; its gamma
 * and divisor were not found) */
grpo_status grpo_interval_reward(const double *begin, const double *end, int64_t n, double gamma, int sample, double *reward);

/* shaped (n) = reward/D, reward (n) >= 0 by turn; D = max(1, the number of rewards > 0) if score > 0, else max(1, total); score: the
 * outcome; total: the largest possible number of rewards (A Practitioner's Guide to Multi-turn Agentic RL, 2510.01132, official code) */
grpo_status grpo_dense_rewards(const double *reward, int64_t n, double score, double total, double *shaped);

/* gain (n - 1) from logp (n), n >= 1: mean log-probability of the true answer before the first turn and after each (IGPO, 2510.14967) */
typedef enum {
    GRPO_INFORMATION_LOG,         /* x_t - x_(t-1): second version */
    GRPO_INFORMATION_PROBABILITY  /* e^x_t - e^x_(t-1): first version and code */
} grpo_information_form;

grpo_status grpo_information_gain_reward(const double *logp, int64_t n, grpo_information_form form, double *gain);

/* reward (sequences) = r (1 + coef (Tmax - T)/(Tmax - Tmin)) for responses with r = 1, Tmax and Tmin over these, if the group also has
 * other responses and Tmax > Tmin; else r (AGPO, 2503.15952: 0.1) */
grpo_status grpo_shorter_correct_reward(const grpo_batch *batch, double coef, grpo_real *reward);

/* reward (permutations, n): 1 or -1, from the chosen ids, choice (permutations, n) (PA-GRPO, 2603.21016).  Votes take O((permutations
 * n)^3) */
typedef enum {
    GRPO_PERMUTATION_JUDGE,       /* permutations must be 2: 1 where both have the same choice for sample n */
    GRPO_PERMUTATION_VOTES        /* 1 where the choice is the single most frequent one of the whole table */
} grpo_permutation_form;

grpo_status grpo_permutation_reward(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form form, double *reward);

/* reward (sequences) = 1 - (f - 1/size), f the share of the response's answer (sequences), an id, among the group's valid answers; a
 * negative answer is not valid and has reward -1; size: how many different valid answers there are (GAPO, group-aware, 2511.12596) */
grpo_status grpo_frequency_reward(const grpo_batch *batch, const int64_t *answer, int64_t size, grpo_real *reward);

/* reward (sequences) = penalty times the share of the response's n-grams, n = size, that occurred before in it; 0 if it has fewer than n
 * tokens; token (n_tokens): ids, read where unmasked (2502.03373, appendix C.2, as TRL: 3, -1).  O(size T^2) */
grpo_status grpo_repetition_penalty(const grpo_batch *batch, const int64_t *token, int64_t size, double penalty, grpo_real *reward);

/* reward (sequences) = e^(-alpha z) for correct (sequences) responses, z = (T - mean)/(population deviation + eps) over the group's correct
 * ones, 0 if their T are equal; `wrong` for the others (GRPO-LEAD, 2504.09696: 0.05, wrong -1, as a third party's code has it) */
grpo_status grpo_correct_length_reward(const grpo_batch *batch, const uint8_t *correct, double alpha, double eps, double wrong,
                                grpo_real *reward);

/* responses of a group are compared in pairs, the first with the second, the third with the fourth ...; outcome (pairs, of all groups in
 * order): 1 if the first wins, -1 if the second does, 0 for a tie.  reward (sequences): for a winner that has ended (sequences), Tmin/T,
 * Tmin the smallest T of such winners of the group; -1 for other winners and for losers; 0 for ties and for the unpaired last one.  masked
 * (sequences) = 1 for ties.  A T of 0 counts as 1 (PPR-GDE, 2605.18191, official code zhiyu-co/ppr-gde@595063e
 * base/verl/workers/reward_manager/thinking.py) */
grpo_status grpo_pairwise_rewards(const grpo_batch *batch, const int64_t *outcome, const uint8_t *ended, grpo_real *reward,
    uint8_t *masked);

/* reward (n) = (distance - min)/(max - min), distance (n); all 0 if max - min < 1e-8 (PPR-GDE, 2605.18191, tools.py of the same folder) */
grpo_status grpo_min_max_reward(const double *distance, int64_t n, double *reward);

GRPO_C_END_
#endif /* GRPO_REWARDS_H */

#if defined(GRPO_REWARDS_IMPLEMENTATION) && !defined(GRPO_REWARDS_IMPLEMENTED)
#define GRPO_REWARDS_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

static double grpo_largest_(const double *x, int64_t begin, int64_t end) {
    double most = 0;
    for (; begin < end; begin++) if (x[begin] > most) most = x[begin];
    return most;
}

/* member numbers in declaration order */
static grpo_status grpo_check_cost_(const grpo_cost *c, int64_t begin, int64_t end, int place) {
    const double *const lists[] = { c->output, c->input, c->turns }, coefs[] = { c->output_coef, c->input_coef, c->turns_coef };
    grpo_status st = GRPO_OK;
    for (int k = 0; !st && k < 3; k++) if (begin < end && !lists[k]) st = grpo_refuse_(GRPO_NULL, place, k);
    for (int k = 0; !st && k < 3; k++) st = grpo_check_member_(coefs[k], GRPO_MODERATE_, place, 3 + k);
    for (int k = 0; !st && k < 3; k++)
        for (int64_t i = begin; !st && i < end; i++) st = grpo_check_member_(lists[k][i], GRPO_MODERATE_FACTOR_, place, k);
    return st;
}

static void grpo_cost_group_(const grpo_batch *b, int64_t g, const grpo_cost *c, grpo_real *reward) {
    const double *const arrays[] = { c->output, c->input, c->turns }, coefs[] = { c->output_coef, c->input_coef, c->turns_coef };
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd mean, cost;
    double most[3];
    int k, overflow = 0;
    for (int64_t i = begin; i < end; i++) grpo_sum_add_(&sum, (double)b->reward[i]);
    mean = grpo_dd_div(grpo_sum_dd_(&sum), (double)(end - begin));
    for (k = 0; k < 3; k++) most[k] = grpo_largest_(arrays[k], begin, end);
    for (int64_t i = begin; i < end; i++) {
        cost = grpo_dd_of_(0);
        for (k = 0; k < 3; k++)
            if (most[k] > 0) cost = grpo_dd_add(cost, grpo_quotient_apart_(grpo_dd_mul(mean, coefs[k]), arrays[k][i], most[k], 1));
        grpo_put_(reward, i, grpo_dd_minus_(grpo_dd_of_((double)b->reward[i]), cost).hi, &overflow);
    }
}

grpo_status grpo_relative_cost_penalty(const grpo_batch *batch, const grpo_cost *cost, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 3);
    if (!st) st = grpo_check_output_(cost, 2);
    if (st) return st;
    st = grpo_check_cost_(cost, grpo_first_sequence_(batch), grpo_end_sequence_(batch), 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_cost_group_(batch, g, cost, reward);
    return GRPO_OK;
}

static grpo_dd grpo_row_total_(const double *x, int64_t n, double eps) {
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_sum_add_(&sum, eps);
    for (int64_t k = 0; k < n; k++) grpo_sum_add_(&sum, x[k]);
    return grpo_sum_dd_(&sum);
}

grpo_status grpo_diversity_reward(const double *reward, const double *similarity, int64_t n, double eps, double *shaped) {
    grpo_dd total;
    grpo_status st = grpo_check_output_(shaped, 5);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_table_(n, n, 3);
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(similarity, n * n, GRPO_MODERATE_, 2);
    for (int64_t i = 0; !st && i < n; i++)
        if (grpo_row_total_(similarity + i * n, n, eps).hi == 0) st = grpo_refuse_(GRPO_ZERO_SUM, 2, i * n);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) {
        total = grpo_row_total_(similarity + i * n, n, eps);
        shaped[i] = total.hi > 0 ? grpo_dd_quotient(grpo_dd_of_(reward[i]), total).hi
                                 : grpo_dd_quotient(grpo_dd_of_(-reward[i]), grpo_dd_negative(total)).hi;
    }
    return GRPO_OK;
}

/* sin(pi a/b) for 0 <= a/b <= 1/2, to 2 ulps */
static double grpo_sine_pi_(grpo_dd a, grpo_dd b) {
    const grpo_dd pi = { 3.14159265358979312, 1.22464679914735321e-16 };
    const grpo_dd x = grpo_dd_product(grpo_dd_quotient(a, b), pi);
    return sin(x.hi) + cos(x.hi) * x.lo;
}

grpo_status grpo_unlikeliness_reward(const grpo_batch *batch, double beta, grpo_dd *scratch, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 4);
    int64_t begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_number_(beta, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 3);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (int64_t i = begin; i < end; i++) {
            const double n = (double)(end - begin);
            int64_t rank = 0;
            grpo_dd factor;
            for (int64_t j = begin; j < end; j++)
                rank += grpo_dd_less(scratch[j], scratch[i]) || (j < i && grpo_dd_same_(scratch[j], scratch[i]));
            factor = grpo_dd_div(grpo_dd_minus_(grpo_dd_of_(n), grpo_two_prod(beta, (double)rank)), n);
            grpo_put_(reward, i, grpo_dd_mul(factor, (double)batch->reward[i]).hi, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_early_exit_reward(const grpo_batch *batch, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 2);
    int64_t i;
    int right, overflow = 0;
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++)
        for (right = 0, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            grpo_put_(reward, i, batch->reward[i] > 0 ? ldexp(1, -right) : 0, &overflow);
            if (right < 2000) right += batch->reward[i] > 0;
        }
    return GRPO_OK;
}

/* gamma of the group */
static double grpo_trust_factor_(const grpo_batch *b, int64_t g, const double *outcome, const double *thought, const grpo_trust_bounds *x) {
    grpo_sum sum[2];
    int64_t i, n[2] = { 0, 0 }, every = 0, none = 0;
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_dd mean[2] = { { 0, 0 }, { 0, 0 } };
    int k;
    memset(sum, 0, sizeof sum);
    for (i = begin; i < end; i++) {
        k = outcome[i] >= x->right;
        grpo_sum_add_(&sum[k], outcome[i] < x->low ? 0 : thought[i]);
        n[k]++;
        every += outcome[i] >= x->every; none += outcome[i] <= x->none;
    }
    for (k = 0; k < 2; k++) if (n[k]) mean[k] = grpo_dd_round_96_(grpo_dd_div(grpo_sum_dd_(&sum[k]), (double)n[k]));
    if (every == end - begin || none == end - begin) return 0;
    return n[1] == 0 || !grpo_dd_less(mean[1], mean[0]) ? 1 : grpo_exp(grpo_dd_minus_(mean[1], mean[0]));
}

grpo_status grpo_trust_reward(const grpo_batch *batch, const double *outcome, const double *thought, double decay,
                              const grpo_trust_bounds *bounds, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 6);
    int overflow = 0;
    if (!st) st = grpo_check_number_(decay, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_output_(bounds, 5);
    if (st) return st;
    st = grpo_check_member_(bounds->low, GRPO_FINITE_, 5, 0);
    if (!st) st = grpo_check_member_(bounds->right, GRPO_FINITE_, 5, 1);
    if (!st) st = grpo_check_member_(bounds->every, GRPO_FINITE_, 5, 2);
    if (!st) st = grpo_check_member_(bounds->none, GRPO_FINITE_, 5, 3);
    if (!st && bounds->none > bounds->every) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 5, 3);
    if (!st) st = grpo_check_responses_(batch, outcome, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_responses_(batch, thought, GRPO_MODERATE_, 3);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const double gamma = grpo_trust_factor_(batch, g, outcome, thought, bounds);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd more = grpo_dd_mul(grpo_two_prod(gamma, decay), outcome[i] < bounds->low ? 0 : thought[i]);
            grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_(outcome[i]), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

/* t for m calls, where the smallest number of the group's correct responses is n */
static double grpo_tool_factor_(double m, double n, double smooth, grpo_tools_form form) {
    if (form == GRPO_TOOLS_GRPO && n > 0) return grpo_sine_pi_(grpo_dd_of_(n), grpo_two_sum(m, n));
    return grpo_sine_pi_(grpo_dd_of_(smooth), grpo_two_sum(4 * m, 2 * smooth));     /* pi m/(2m + c) = pi/2 - pi c/(4m + 2c) */
}

grpo_status grpo_tool_efficiency_reward(const grpo_batch *batch, const double *calls, const uint8_t *correct, double smooth, double alpha,
                                 grpo_tools_form form, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 7);
    int overflow = 0;
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_choice_((int)form, 2, 6);
    if (!st) st = grpo_check_number_(smooth, GRPO_MODERATE_POSITIVE_, 4);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 3);
    if (!st) st = grpo_check_responses_(batch, calls, GRPO_MODERATE_FACTOR_, 2);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        double least = HUGE_VAL;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) if (correct[i] && calls[i] < least) least = calls[i];
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(reward, i, correct[i] ? alpha * grpo_tool_factor_(calls[i], least, smooth, form) : 0, &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_entity_reward(const grpo_batch *batch, const double *found, const uint8_t *correct, const uint8_t *invalid, double alpha,
                               grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 6);
    int overflow = 0;
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 3);
    if (!st) st = grpo_check_not_null_(invalid, batch->n_groups, 4);
    if (!st) st = grpo_check_responses_(batch, found, GRPO_PART_, 2);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const double most = grpo_largest_(found, batch->group_begin[g], batch->group_begin[g + 1]);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            double share = most > 0 ? grpo_quotient_apart_(grpo_dd_of_(alpha), found[i], most, 1).hi : 0;
            grpo_put_(reward, i, invalid[i] ? 0 : correct[i] ? 1 : share, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_retention_reward(const grpo_batch *batch, double lambda, double alpha, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 4);
    int overflow = 0;
    if (!st) st = grpo_check_number_(lambda, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REF_ | GRPO_NEED_REWARD_);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        grpo_dd d = grpo_response_mean_(batch, batch->logp_old, batch->logp_ref, i);
        if (d.hi < 0) d = grpo_dd_of_(0);
        d = grpo_two_prod(lambda, grpo_exp(grpo_dd_mul(d, -alpha)));
        grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_((double)batch->reward[i]), d).hi, &overflow);
    }
    return GRPO_OK;
}

static int64_t grpo_correct_in_(const grpo_batch *b, int64_t g, const uint8_t *correct) {
    int64_t i, n = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) n += correct[i] != 0;
    return n;
}

/* 1 if g is among the first `count` groups in descending order of the share of correct responses */
static int grpo_is_efficient_(const grpo_batch *b, int64_t g, const uint8_t *correct, int64_t count) {
    const double own = (double)grpo_correct_in_(b, g, correct), n = (double)(b->group_begin[g + 1] - b->group_begin[g]);
    int64_t h, rank = 0;
    for (h = 0; h < b->n_groups && rank < count; h++) {
        const double other = (double)grpo_correct_in_(b, h, correct) * n, here = own * (double)(b->group_begin[h + 1] - b->group_begin[h]);
        rank += other > here || (other == here && h < g);
    }
    return rank < count;
}

static void grpo_efficient_group_(const grpo_batch *b, int64_t g, const uint8_t *correct, double alpha, grpo_real *reward) {
    grpo_values v = GRPO_NO_VALUES_;
    grpo_dd mean;
    double s;
    int overflow = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (correct[i]) grpo_values_take_(&v, grpo_dd_of_((double)grpo_unmasked_(b, i)));
    mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1);
    s = sqrt(grpo_variance_(&v, GRPO_STD_POPULATION));
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        grpo_dd z = grpo_dd_minus_(grpo_dd_of_((double)grpo_unmasked_(b, i)), mean);
        z = s > 0 ? grpo_dd_div(z, s) : grpo_dd_of_(0);
        grpo_put_(reward, i, correct[i] ? grpo_dd_minus_(grpo_dd_of_(1), grpo_two_prod(alpha, grpo_sigmoid(z).value)).hi : 0, &overflow);
    }
}

grpo_status grpo_efficiency_reward(const grpo_batch *batch, const uint8_t *correct, double share, double alpha, grpo_real *reward,
                                   uint8_t *efficient) {
    grpo_status st = grpo_check_call_(batch, reward, 5);
    int64_t count;
    if (!st) st = grpo_check_output_(efficient, 6);
    if (!st) st = grpo_check_number_(share, GRPO_PART_, 3);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_FACTOR_, 4);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    if (st) return st;
    count = (int64_t)ceil(share * (double)batch->n_groups);
    if (count < 1) count = 1;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        efficient[g] = grpo_is_efficient_(batch, g, correct, count) ? 1 : 0;
        if (efficient[g]) grpo_efficient_group_(batch, g, correct, alpha, reward);
        else for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) reward[i] = correct[i] ? 1 : 0;
    }
    return GRPO_OK;
}

/* min(e^m, cap), m the mean of logp_ref over the tokens of the answer, 0 if there are none */
static grpo_dd grpo_answer_likelihood_(const grpo_batch *b, int64_t i, double cap) {
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd c = grpo_dd_of_(1);
    int64_t t, n = 0;
    for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        if (!grpo_is_unmasked_(b, t) || !b->selected[t]) continue;
        grpo_sum_add_(&sum, (double)b->logp_ref[t]);
        n++;
    }
    if (n) c = grpo_dd_round_96_(grpo_exp_twice(grpo_dd_round_96_(grpo_dd_div(grpo_sum_dd_(&sum), (double)n))));
    return grpo_dd_exceeds(c, cap) ? grpo_dd_of_(cap) : c;
}

/* 1 if accuracy > 0.1 and it is not below the mean of the n accuracies of the group, whose sum is given */
static int grpo_is_accurate_(double accuracy, const grpo_sum *sum, int64_t n) {
    return accuracy > 0.1 && grpo_mean_exceeds_(sum, n, accuracy) <= 0;
}

static void grpo_bonus_group_(const grpo_batch *b, int64_t g, const double *accuracy, double lambda, double cap, double margin,
                              grpo_real *reward) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_sum sum, likelihoods;
    grpo_dd bar;
    int64_t i, n = 0;
    int overflow = 0;
    memset(&sum, 0, sizeof sum);
    memset(&likelihoods, 0, sizeof likelihoods);
    for (i = begin; i < end; i++) grpo_sum_add_(&sum, accuracy[i]);
    for (i = begin; i < end; i++) {
        if (!grpo_is_accurate_(accuracy[i], &sum, end - begin)) continue;
        grpo_sum_add_dd_(&likelihoods, grpo_answer_likelihood_(b, i, cap));
        n++;
    }
    bar = grpo_dd_round_96_(grpo_dd_div(grpo_sum_dd_(&likelihoods), n ? (double)n : 1));
    for (i = begin; i < end; i++) {
        const grpo_dd r = grpo_dd_of_((double)b->reward[i]);
        const int passes = grpo_is_accurate_(accuracy[i], &sum, end - begin)
            && !grpo_dd_less(grpo_dd_add(grpo_dd_minus_(grpo_answer_likelihood_(b, i, cap), bar), grpo_dd_of_(margin)), grpo_dd_of_(0));
        grpo_put_(reward, i, passes ? grpo_dd_add(r, grpo_two_prod(lambda, accuracy[i])).hi : r.hi, &overflow);
    }
}

grpo_status grpo_consistency_bonus(const grpo_batch *batch, const double *accuracy, double lambda, double cap, double margin,
                                   grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 6);
    if (!st) st = grpo_check_number_(lambda, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(cap, GRPO_MODERATE_POSITIVE_, 4);
    if (!st) st = grpo_check_number_(margin, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_responses_(batch, accuracy, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_ | GRPO_NEED_SELECTED_, 0);
    if (!st) st = grpo_check_tokens_(batch, batch->logp_ref, batch->selected, GRPO_MODERATE_, GRPO_AT_logp_ref_);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_bonus_group_(batch, g, accuracy, lambda, cap, margin, reward);
    return GRPO_OK;
}

grpo_status grpo_gated_reward_sum(const double *rewards, int64_t n, int64_t columns, const double *weight, const int64_t *gate,
    double *reward) {
    grpo_status st = grpo_check_output_(reward, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(columns, 0, 3);
    if (!st) st = grpo_check_table_(n, columns, 3);
    if (!st) st = grpo_check_list_(rewards, n * columns, GRPO_MODERATE_, 1);
    if (!st && n > 0) st = grpo_check_list_(weight, columns, GRPO_MODERATE_, 4);
    if (!st && n > 0) st = grpo_check_not_null_(gate, columns, 5);
    for (int64_t k = 0; !st && n > 0 && k < columns; k++)
        if (gate[k] < -1 || gate[k] >= columns) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 5, k);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) {
        const double *r = rewards + i * columns;
        grpo_dd sum = grpo_dd_of_(0);
        for (int64_t k = 0; k < columns; k++)
            sum = grpo_dd_add(sum, grpo_dd_mul(grpo_two_prod(weight[k], r[k]), gate[k] < 0 ? 1 : r[gate[k]]));
        reward[i] = sum.hi;
    }
    return GRPO_OK;
}

grpo_status grpo_brier_reward(const double *confidence, int64_t n, const uint8_t *correct, const uint8_t *missing, double *reward) {
    grpo_dd off;
    double p;
    grpo_status st = grpo_check_output_(reward, 5);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_not_null_(confidence, n, 1);
    if (!st) st = grpo_check_not_null_(correct, n, 3);
    for (int64_t i = 0; !st && i < n; i++) if (!(missing && missing[i])) st = grpo_check_member_(confidence[i], GRPO_MODERATE_, 1, i);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) {
        const int absent = missing && missing[i];
        p = absent ? 0.5 : confidence[i] < 0 ? 0 : confidence[i] > 1 ? 1 : confidence[i];
        off = grpo_two_diff(p, correct[i] ? 1 : 0);
        reward[i] = grpo_dd_minus_(grpo_dd_of_(absent ? 0 : 1), grpo_dd_product(off, off)).hi;
    }
    return GRPO_OK;
}

static double grpo_shape_(grpo_shape_form form, double length, double peak, double max) {
    const grpo_dd one = grpo_dd_of_(1), x = grpo_dd_div(grpo_dd_of_(length), max);
    const int beyond = grpo_dd_exceeds(grpo_dd_minus_(x, grpo_dd_of_(peak)), 0);
    grpo_dd y = grpo_quotient_apart_(one, length, max, peak), rest;
    if (form == GRPO_SHAPE_TRIANGLE && beyond) y = grpo_dd_minus_(grpo_dd_of_(2), y);
    if (form == GRPO_SHAPE_TRIANGLE) return y.hi > 0 ? y.hi : 0;
    if (beyond) {
        rest = grpo_dd_quotient(grpo_dd_minus_(x, grpo_dd_of_(peak)), grpo_two_diff(1, peak));
        if (form == GRPO_SHAPE_PARABOLA) rest = grpo_dd_product(rest, rest);
        return grpo_dd_minus_(one, grpo_dd_mul(rest, 2)).hi;
    }
    return form == GRPO_SHAPE_PARABOLA ? grpo_dd_product(y, grpo_dd_minus_(grpo_dd_of_(2), y)).hi : y.hi;
}

grpo_status grpo_length_shape_reward(const double *length, int64_t n, grpo_shape_form form, double peak, double max, double *reward) {
    const int triangle = form == GRPO_SHAPE_TRIANGLE;
    grpo_status st = grpo_check_output_(reward, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_choice_((int)form, 3, 3);
    if (!st) st = grpo_check_number_(max, GRPO_MODERATE_POSITIVE_, 5);
    if (!st) st = grpo_check_number_(peak, triangle ? GRPO_MODERATE_POSITIVE_ : GRPO_OPEN_PART_, 4);
    if (!st) st = grpo_check_list_(length, n, GRPO_MODERATE_FACTOR_, 1);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) reward[i] = grpo_shape_(form, length[i], peak, max);
    return GRPO_OK;
}

/* (e^(a y) - 1)/(e^a - 1) for y > 0; for large a as e^(a (y - 1)) (1 - e^(-a y))/(1 - e^-a) */
static double grpo_exp_curve_(double a, grpo_dd y) {
    const grpo_dd x = grpo_dd_mul(y, a);
    if (fabs(a) < 1e-20 && fabs(x.hi) < 1e-20) return y.hi;             /* else they may underflow */
    if (a < 1) return grpo_exp_minus_one(x) / expm1(a);
    return grpo_times(grpo_exp(grpo_dd_mul(grpo_dd_minus_(y, grpo_dd_of_(1)), a)), grpo_exp_minus_one(grpo_dd_negative(x)) / expm1(-a));
}

grpo_status grpo_log_exp_reward(const double *reward, int64_t n, double threshold, double upper, double lower, double *mapped) {
    grpo_status st = grpo_check_output_(mapped, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(threshold, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(upper, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(lower, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) {
        const grpo_dd above = grpo_two_diff(reward[i], threshold);
        if (reward[i] >= threshold) mapped[i] = threshold + upper * (log1p(above.hi) + above.lo / (1 + above.hi));
        else if (lower == 0) mapped[i] = reward[i];
        else mapped[i] = threshold - grpo_exp_curve_(lower, grpo_dd_negative(above));
    }
    return GRPO_OK;
}

/* R of node k, once those of its children are known */
static grpo_dd grpo_tree_node_(const int64_t *parent, const double *reward, int64_t n, int64_t k, double gamma, grpo_tree_form form,
                               const grpo_dd *rew) {
    grpo_dd most = grpo_dd_of_(reward[k]);
    grpo_sum sum;
    int64_t c, children = 0;
    memset(&sum, 0, sizeof sum);
    for (c = k + 1; c < n; c++) {
        if (parent[c] != k) continue;
        if (grpo_dd_less(most, rew[c])) most = rew[c];
        grpo_sum_add_dd_(&sum, rew[c]);
        children++;
    }
    if (children == 0 || form == GRPO_TREE_MAX) return most;
    return grpo_dd_add(grpo_dd_of_(reward[k]), grpo_dd_mul(grpo_dd_div(grpo_sum_dd_(&sum), (double)children), gamma));
}

grpo_status grpo_tree_reward(const int64_t *parent, const double *reward, const int64_t *depth, int64_t n, double gamma,
                             grpo_tree_form form, int64_t turns, grpo_dd *scratch, double *shaped) {
    const int divides = form == GRPO_TREE_MEAN_BY_DEPTH;
    grpo_status st = grpo_check_output_(shaped, 9);
    if (!st) st = grpo_check_count_(n, 0, 4);
    if (!st) st = grpo_check_choice_((int)form, 3, 6);
    if (!st) st = grpo_check_number_(gamma, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_not_null_(parent, n, 1);
    if (!st) st = grpo_check_not_null_(scratch, n, 8);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 2);
    if (!st && divides) st = grpo_check_not_null_(depth, n, 3);
    for (int64_t k = 0; !st && k < n; k++) {
        if (parent[k] < -1 || parent[k] >= k) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 1, k);
        if (!st && divides && (depth[k] < 1 || depth[k] > turns)) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 3, k);
    }
    if (st) return st;
    for (int64_t k = n - 1; k >= 0; k--) {
        scratch[k] = grpo_tree_node_(parent, reward, n, k, gamma, form, scratch);
        if (divides && grpo_has_child_(parent, n, k)) scratch[k] = grpo_dd_div(scratch[k], (double)(turns - depth[k] + 1));
        shaped[k] = scratch[k].hi;
    }
    return GRPO_OK;
}

/* u = p (1 - p) or 1 - p^n - (1 - p)^n, p = right/n */
static double grpo_hint_value_(double right, double n, grpo_hint_form form) {
    const double a = (right < n - right ? right : n - right) / n;
    if (form == GRPO_HINT_VARIANCE) return grpo_dd_div(grpo_dd_div(grpo_two_prod(right, n - right), n), n).hi;
    return -expm1(n * log1p(-a)) - pow(a, n);
}

grpo_status grpo_hint_reward(const double *reward, const double *gap, int64_t n, double temperature, grpo_hint_form form, int gate,
                             double *reward_of_hint) {
    grpo_status st = grpo_check_output_(reward_of_hint, 7);
    grpo_sum sum;
    grpo_dd mean;
    double right = 0;
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_choice_((int)form, 2, 5);
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 4);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(gap, n, GRPO_MODERATE_, 2);
    if (st) return st;
    memset(&sum, 0, sizeof sum);
    for (int64_t k = 0; k < n; k++) if (reward[k] > 0.5) { grpo_sum_add_(&sum, gap[k]); right++; }
    mean = grpo_dd_div(grpo_sum_dd_(&sum), right > 0 ? right : 1);
    if (mean.hi > 0) mean = grpo_dd_of_(0);
    *reward_of_hint = gate ? -0.2 : right == 0 || right == (double)n ? 0
        : grpo_times(grpo_hint_value_(right, (double)n, form), grpo_exp(grpo_dd_div(mean, temperature)));
    return GRPO_OK;
}

/* 1 if x is strictly between the shortest and the longest length of the correct responses */
static int grpo_inside_lengths_(const uint8_t *correct, const int64_t *length, int64_t n, int64_t x) {
    int longer = 0, shorter = 0;
    for (int64_t k = 0; k < n; k++) if (correct[k]) { longer |= length[k] > x; shorter |= length[k] < x; }
    return longer && shorter;
}

grpo_status grpo_meta_reward(const uint8_t *correct, const int64_t *length, int64_t n, const int64_t *net, int64_t m, int64_t passes,
                             int64_t predicted_length, double *reward) {
    const grpo_dd minus_ln100 = { -4.605170185988092, 4.3415124467644987e-16 };
    grpo_dd off;
    double sum = 0;
    int64_t k, right = 0, good = 0;
    grpo_status st = grpo_check_output_(reward, 8);
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_count_(m, 0, 5);
    if (!st) st = grpo_check_output_(correct, 1);
    if (!st) st = grpo_check_output_(length, 2);
    if (!st) st = grpo_check_not_null_(net, m, 4);
    if (!st && (passes < -1 || passes > 8)) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 6, -1);
    if (!st) st = grpo_check_count_(predicted_length, -1, 7);
    for (k = 0; !st && k < n; k++) if (length[k] < 0) st = grpo_refuse_(GRPO_NEGATIVE, 2, k);
    if (st) return st;
    for (k = 0; k < m; k++) good += net[k] > 0;
    for (k = 0; k < n; k++) right += correct[k] != 0;
    if (m > 0) sum = (double)good / (double)m;
    if (passes >= 0) {
        off = grpo_dd_div(grpo_dd_of_(fabs(8 * (double)right - (double)passes * (double)n)), 8 * (double)n);
        sum += grpo_exp(grpo_dd_product(off, minus_ln100));
    }
    if (predicted_length >= 0) sum += grpo_inside_lengths_(correct, length, n, predicted_length);
    *reward = sum / 3;
    return GRPO_OK;
}

grpo_status grpo_win_rate_reward(const double *wins, int64_t n, double *reward) {
    grpo_status st = grpo_check_output_(reward, 3);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_table_(n, n, 2);
    if (!st && n > 1) st = grpo_check_output_(wins, 1);
    for (int64_t i = 0; !st && i < n; i++)
        for (int64_t j = 0; !st && j < n; j++) {
            const double x = i == j ? 0.5 : wins[i * n + j], y = i == j ? 0.5 : wins[j * n + i];
            if (!(x == 0 || x == 0.5 || x == 1)) st = grpo_refuse_(GRPO_NOT_A_CHOICE, 1, i * n + j);
            else if (x + y != 1) st = grpo_refuse_(GRPO_NOT_MIRRORED, 1, i * n + j);
        }
    if (st) return st;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;                                                 /* exact: a sum of multiples of 1/2 */
        for (int64_t j = 0; j < n; j++) if (j != i) sum += wins[i * n + j];
        reward[i] = n > 1 ? sum / (double)(n - 1) : 0;
    }
    return GRPO_OK;
}

grpo_status grpo_entropy_rank_reward(const double *peak, const double *overall, int64_t n, double top, int64_t *scratch, double *reward) {
    grpo_status st = grpo_check_output_(reward, 6);
    int64_t j, rank;
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_number_(top, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(peak, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(overall, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_not_null_(scratch, n, 5);
    if (st) return st;
    for (int64_t i = 0; i < n; i++)                                             /* how many others it dominates */
        for (scratch[i] = 0, j = 0; j < n; j++) scratch[i] += peak[i] > peak[j] && overall[i] < overall[j];
    for (int64_t i = 0; i < n; i++) {
        for (rank = 0, j = 0; j < n; j++) rank += scratch[j] > scratch[i] || (scratch[j] == scratch[i] && j < i);
        reward[i] = n > 1 ? grpo_dd_div(grpo_two_prod(top, (double)(n - 1 - rank)), (double)(n - 1)).hi : top;
    }
    return GRPO_OK;
}

/* the standard deviation of a list, scaled so that squares neither overflow nor underflow */
static double grpo_list_deviation_(const double *x, int64_t n, grpo_std_kind kind) {
    grpo_values v = GRPO_NO_VALUES_;
    double largest = 0;
    int e;
    for (int64_t k = 0; k < n; k++) if (fabs(x[k]) > largest) largest = fabs(x[k]);
    frexp(largest, &e);
    for (int64_t k = 0; k < n; k++) grpo_values_take_(&v, grpo_dd_of_(ldexp(x[k], -e)));
    return ldexp(sqrt(grpo_variance_(&v, kind)), e);
}

/* IoU of [begin, end] and [s, e]: the length in common over the length from the first begin to the last end */
static double grpo_interval_overlap_(grpo_dd begin, grpo_dd end, grpo_dd s, grpo_dd e) {
    const grpo_dd common = grpo_dd_minus_(grpo_dd_less(end, e) ? end : e, grpo_dd_less(s, begin) ? begin : s);
    const grpo_dd all = grpo_dd_minus_(grpo_dd_less(end, e) ? e : end, grpo_dd_less(s, begin) ? s : begin);
    return common.hi > 0 ? grpo_dd_quotient(common, all).hi : 0;
}

grpo_status grpo_interval_reward(const double *begin, const double *end, int64_t n, double gamma, int sample, double *reward) {
    const grpo_std_kind kind = sample ? GRPO_STD_SAMPLE : GRPO_STD_POPULATION;
    grpo_status st = grpo_check_output_(reward, 6);
    grpo_dd s, e;
    double confidence;
    if (!st) st = grpo_check_count_(n, 2, 3);
    if (!st) st = grpo_check_number_(gamma, GRPO_MODERATE_FACTOR_, 4);
    if (!st) st = grpo_check_list_(begin, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(end, n, GRPO_MODERATE_, 2);
    for (int64_t k = 0; !st && k < n; k++) if (!(end[k] > begin[k])) st = grpo_refuse_both_(GRPO_NOT_BELOW, 1, 2, k);
    if (st) return st;
    s = grpo_mean_of_(begin, NULL, n);
    e = grpo_mean_of_(end, NULL, n);
    confidence = grpo_exp(grpo_dd_mul(grpo_two_sum(grpo_list_deviation_(begin, n, kind), grpo_list_deviation_(end, n, kind)), -gamma));
    for (int64_t k = 0; k < n; k++)
        reward[k] = grpo_times(grpo_interval_overlap_(grpo_dd_of_(begin[k]), grpo_dd_of_(end[k]), s, e), confidence);
    return GRPO_OK;
}

grpo_status grpo_dense_rewards(const double *reward, int64_t n, double score, double total, double *shaped) {
    grpo_status st = grpo_check_output_(shaped, 5);
    double divisor = 0;
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(score, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(total, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_FACTOR_, 1);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) divisor += reward[k] > 0;
    if (!(score > 0)) divisor = total;
    for (int64_t k = 0; k < n; k++) shaped[k] = divisor > 1 ? reward[k] / divisor : reward[k];
    return GRPO_OK;
}

grpo_status grpo_information_gain_reward(const double *logp, int64_t n, grpo_information_form form, double *gain) {
    grpo_status st = grpo_check_output_(gain, 4);
    if (!st) st = grpo_check_count_(n, 1, 2);
    if (!st) st = grpo_check_choice_((int)form, 2, 3);
    if (!st) st = grpo_check_list_(logp, n, GRPO_MODERATE_NEGATIVE_, 1);
    if (st) return st;
    for (int64_t k = 1; k < n; k++)
        gain[k - 1] = form == GRPO_INFORMATION_LOG ? logp[k] - logp[k - 1] : exp(logp[k]) - exp(logp[k - 1]);
    return GRPO_OK;
}

/* finds the range of T over the responses with reward 1; returns 0 if there are no such responses, no others, or if all T are equal */
static int grpo_correct_lengths_(const grpo_batch *b, int64_t g, grpo_lengths_ *l) {
    int64_t i, right = 0;
    l->shortest = HUGE_VAL; l->longest = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        const double len = (double)grpo_unmasked_(b, i);
        if ((double)b->reward[i] != 1) continue;
        right++;
        if (len < l->shortest) l->shortest = len;
        if (len > l->longest) l->longest = len;
    }
    return right > 0 && right < b->group_begin[g + 1] - b->group_begin[g] && l->shortest < l->longest;
}

grpo_status grpo_shorter_correct_reward(const grpo_batch *batch, double coef, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 3);
    grpo_lengths_ l;
    int overflow = 0;
    if (!st) st = grpo_check_number_(coef, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const int pays = grpo_correct_lengths_(batch, g, &l);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            grpo_dd more = grpo_dd_of_(0);
            const double spared = l.longest - (double)grpo_unmasked_(batch, i);
            if (pays && r == 1) more = grpo_dd_div(grpo_two_prod(coef, spared), l.longest - l.shortest);
            grpo_put_(reward, i, grpo_dd_add(grpo_dd_of_(r), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

static int64_t grpo_occurrences_(const int64_t *x, int64_t n, int64_t id) {
    int64_t k, count = 0;
    for (k = 0; k < n; k++) count += x[k] == id;
    return count;
}

/* 1 if id is the single most frequent one of the n */
static int grpo_is_mode_(const int64_t *x, int64_t n, int64_t id) {
    const int64_t own = grpo_occurrences_(x, n, id);
    for (int64_t k = 0; k < n; k++) if (x[k] != id && grpo_occurrences_(x, n, x[k]) >= own) return 0;
    return 1;
}

grpo_status grpo_permutation_reward(const int64_t *choice, int64_t permutations, int64_t n, grpo_permutation_form form, double *reward) {
    grpo_status st = grpo_check_output_(reward, 5);
    int64_t all;
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_choice_((int)form, 2, 4);
    if (!st) st = grpo_check_count_(permutations, 0, 2);
    if (!st) st = grpo_check_table_(permutations, n, 3);
    if (!st && form == GRPO_PERMUTATION_JUDGE && permutations != 2) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 2, -1);
    if (st) return st;
    all = permutations * n;
    if (all > 0 && !choice) return grpo_refuse_(GRPO_NULL, 1, -1);
    for (int64_t k = 0; k < all; k++) {
        const int agrees = form == GRPO_PERMUTATION_JUDGE ? choice[k % n] == choice[n + k % n] : grpo_is_mode_(choice, all, choice[k]);
        reward[k] = agrees ? 1 : -1;
    }
    return GRPO_OK;
}

grpo_status grpo_frequency_reward(const grpo_batch *batch, const int64_t *answer, int64_t size, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 4);
    int overflow = 0;
    if (!st) st = grpo_check_not_null_(answer, batch->n_groups, 2);
    if (!st) st = grpo_check_count_(size, 1, 3);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++)
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            double valid = 0, same = 0;
            grpo_dd x = grpo_dd_div(grpo_dd_of_(1), (double)size);
            for (int64_t j = batch->group_begin[g]; j < batch->group_begin[g + 1]; j++)
                { valid += answer[j] >= 0; same += answer[j] == answer[i]; }
            if (answer[i] >= 0) x = grpo_dd_add(x, grpo_dd_div(grpo_dd_of_(valid - same), valid));      /* 1 - f */
            grpo_put_(reward, i, answer[i] < 0 ? -1 : x.hi, &overflow);
        }
    return GRPO_OK;
}

/* the first unmasked token from t on, or end */
static int64_t grpo_token_from_(const grpo_batch *b, int64_t t, int64_t end) {
    while (t < end && !grpo_is_unmasked_(b, t)) t++;
    return t;
}

/* 1 if the `size` unmasked tokens from s on equal those from t on; s < t, and there must be as many */
static int grpo_is_same_run_(const grpo_batch *b, const int64_t *token, int64_t s, int64_t t, int64_t end, int64_t size) {
    for (; size > 0; size--) {
        if (token[s] != token[t]) return 0;
        s = grpo_token_from_(b, s + 1, end);
        t = grpo_token_from_(b, t + 1, end);
    }
    return 1;
}

/* the share of the n-grams (n = size) of sequence i that occurred before in it */
static double grpo_repeated_(const grpo_batch *b, const int64_t *token, int64_t i, int64_t size) {
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    int64_t s, t, left = 0, runs, again = 0;
    for (t = begin; t < end; t++) left += grpo_is_unmasked_(b, t) != 0;
    runs = left - size + 1;
    if (runs < 1) return 0;
    for (t = grpo_token_from_(b, begin, end), left = runs; left > 0; left--, t = grpo_token_from_(b, t + 1, end)) {
        s = grpo_token_from_(b, begin, end);
        while (s < t && !grpo_is_same_run_(b, token, s, t, end, size)) s = grpo_token_from_(b, s + 1, end);
        again += s < t;
    }
    return (double)again / (double)runs;
}

grpo_status grpo_repetition_penalty(const grpo_batch *batch, const int64_t *token, int64_t size, double penalty, grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 5);
    int overflow = 0;
    if (!st) st = grpo_check_not_null_(token, batch->n_groups, 2);
    if (!st) st = grpo_check_count_(size, 1, 3);
    if (!st) st = grpo_check_number_(penalty, GRPO_MODERATE_, 4);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        grpo_put_(reward, i, grpo_times(penalty, grpo_repeated_(batch, token, i, size)), &overflow);
    return GRPO_OK;
}

grpo_status grpo_correct_length_reward(const grpo_batch *batch, const uint8_t *correct, double alpha, double eps, double wrong,
                                grpo_real *reward) {
    grpo_status st = grpo_check_call_(batch, reward, 6);
    grpo_values v;
    grpo_dd mean, s, z;
    int overflow = 0;
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(wrong, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_FACTOR_, 4);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        memset(&v, 0, sizeof v);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            if (correct[i]) grpo_values_take_(&v, grpo_dd_of_((double)grpo_unmasked_(batch, i)));
        mean = grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1);
        s = grpo_values_deviation_(&v, GRPO_STD_POPULATION, 0);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            z = grpo_dd_minus_(mean, grpo_dd_of_((double)grpo_unmasked_(batch, i)));
            z = s.hi > 0 ? grpo_dd_mul(grpo_dd_quotient(z, grpo_dd_add(s, grpo_dd_of_(eps))), alpha) : grpo_dd_of_(0);
            grpo_put_(reward, i, correct[i] ? grpo_exp(z) : wrong, &overflow);
        }
    }
    return GRPO_OK;
}

/* for the response at this place in its group: 1 if it wins its pair, -1 if it loses, 0 for a tie */
static int grpo_verdict_(const int64_t *outcome, int64_t place) {
    const int first = place % 2 == 0, up = outcome[place / 2] > 0;
    return outcome[place / 2] == 0 ? 0 : first == up ? 1 : -1;
}

static double grpo_tokens_or_one_(const grpo_batch *b, int64_t i) { return (double)(grpo_unmasked_(b, i) ? grpo_unmasked_(b, i) : 1); }

static void grpo_pair_group_(const grpo_batch *b, int64_t g, const int64_t *outcome, const uint8_t *ended, grpo_real *reward,
                             uint8_t *masked) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], paired = (end - begin) / 2 * 2;
    double least = HUGE_VAL;
    int overflow = 0;
    for (int64_t k = 0; k < paired; k++)
        if (grpo_verdict_(outcome, k) > 0 && ended[begin + k] && grpo_tokens_or_one_(b, begin + k) < least)
            least = grpo_tokens_or_one_(b, begin + k);
    for (int64_t k = 0; k < end - begin; k++) {
        const int verdict = k < paired ? grpo_verdict_(outcome, k) : 0, wins = verdict > 0 && ended[begin + k];
        masked[begin + k] = k < paired && verdict == 0;
        grpo_put_(reward, begin + k, wins ? least / grpo_tokens_or_one_(b, begin + k) : verdict ? -1 : 0, &overflow);
    }
}

grpo_status grpo_pairwise_rewards(const grpo_batch *batch, const int64_t *outcome, const uint8_t *ended, grpo_real *reward,
    uint8_t *masked) {
    grpo_status st = grpo_check_call_(batch, reward, 4);
    int64_t g, k, pairs = 0;
    if (!st) st = grpo_check_output_(masked, 5);
    if (!st) st = grpo_check_not_null_(ended, batch->n_groups, 3);
    for (g = 0; !st && g < batch->n_groups; g++) pairs += grpo_group_size_(batch, g) / 2;
    if (!st) st = grpo_check_not_null_(outcome, pairs, 2);
    for (k = 0; !st && k < pairs; k++) if (outcome[k] < -1 || outcome[k] > 1) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 2, k);
    if (st) return st;
    for (k = 0, g = 0; g < batch->n_groups; g++) {
        grpo_pair_group_(batch, g, pairs ? outcome + k : NULL, ended, reward, masked);
        k += grpo_group_size_(batch, g) / 2;
    }
    return GRPO_OK;
}

grpo_status grpo_min_max_reward(const double *distance, int64_t n, double *reward) {
    grpo_status st = grpo_check_output_(reward, 3);
    grpo_dd span;
    double least = HUGE_VAL, most = -HUGE_VAL;
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_list_(distance, n, GRPO_MODERATE_, 1);
    if (st || n == 0) return st;
    for (int64_t k = 0; k < n; k++) {
        if (distance[k] < least) least = distance[k];
        if (distance[k] > most) most = distance[k];
    }
    span = grpo_two_diff(most, least);
    for (int64_t k = 0; k < n; k++)
        reward[k] = grpo_dd_less(span, grpo_1e_minus_8_) ? 0 : grpo_dd_quotient(grpo_two_diff(distance[k], least), span).hi;
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_REWARDS_IMPLEMENTATION */
