/* grpo_credit.h - advantages beyond those of an objective's axes: from groups, trees, teachers, other responses.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_CREDIT_IMPLEMENTATION
 *     #include "extra/grpo_credit.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h.  To use advantages of
 * (sequences) in a loss, copy each to all tokens of its response.  r is batch.reward (sequences). */
#ifndef GRPO_CREDIT_H
#define GRPO_CREDIT_H

#include "../grpo.h"
#include "grpo_shared_mixture.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_credit.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_key_token_advantage grpo_key_token_advantage_f64
#define grpo_jsd_advantage grpo_jsd_advantage_f64
#define grpo_distribution_advantage grpo_distribution_advantage_f64
#define grpo_boltzmann_advantage grpo_boltzmann_advantage_f64
#define grpo_likelihood_advantage grpo_likelihood_advantage_f64
#define grpo_canon_advantage grpo_canon_advantage_f64
#define grpo_asymmetric_advantage grpo_asymmetric_advantage_f64
#define grpo_sharpening_advantage grpo_sharpening_advantage_f64
#define grpo_feature_advantage grpo_feature_advantage_f64
#define grpo_virtual_reward_advantage grpo_virtual_reward_advantage_f64
#define grpo_bundle_advantage grpo_bundle_advantage_f64
#define grpo_set_advantage grpo_set_advantage_f64
#define grpo_reference_advantage grpo_reference_advantage_f64
#define grpo_implicit_advantage grpo_implicit_advantage_f64
#define grpo_hardness_advantage grpo_hardness_advantage_f64
#define grpo_token_advantage grpo_token_advantage_f64
#define grpo_future_success_advantage grpo_future_success_advantage_f64
#define grpo_alignment_advantage grpo_alignment_advantage_f64
#define grpo_projected_advantage grpo_projected_advantage_f64
#define grpo_branch_advantage grpo_branch_advantage_f64
#define grpo_collapsed_advantage grpo_collapsed_advantage_f64
#define grpo_variant_advantage grpo_variant_advantage_f64
#define grpo_step_weight_advantage grpo_step_weight_advantage_f64
#define grpo_tree_advantage grpo_tree_advantage_f64
#define grpo_two_anchor_advantage grpo_two_anchor_advantage_f64
#define grpo_calibration_advantage grpo_calibration_advantage_f64
#define grpo_multi_scale_advantage grpo_multi_scale_advantage_f64
#define grpo_hard_negative_advantage grpo_hard_negative_advantage_f64
#define grpo_position_advantage grpo_position_advantage_f64
#define grpo_role_advantage grpo_role_advantage_f64
#define grpo_median_advantage grpo_median_advantage_f64
#define grpo_mix_advantages grpo_mix_advantages_f64
#define grpo_gram_rank grpo_gram_rank_f64
#define grpo_odds_advantage grpo_odds_advantage_f64
#endif

GRPO_C_BEGIN_

/* advantages of key tokens (KTAE, 2505.16826, official code), to be added to the others.  For an id, let a and b be the numbers of the
 * group's responses with reward > 0 and <= 0 that contain it, c and d of those that do not, n its occurrences among the L tokens of all
 * responses of one kind;
 *     key = top tanh(x/2),  x = (fisher f + gain IG) h/(fisher + gain)
 *     f = e^-2p, 0 where p = 1: p the two-sided p-value of Fisher's exact test of (a b; c d)
 *     IG = H(y) - H(y|x) in bits, y: whether the response is right, x: whether it contains the id
 *     h = asin sqrt(a/(a + c + 1e-10)) - asin sqrt(b/(b + d + 1e-10)), + tf/(tf' + 1e-5) - tf'/(tf + 1e-5) if frequency,
 *     tf = 3 q/(q + 1 + 2 L/(L + L')) of the right responses and tf' of the wrong ones, q = n/L
 * 0 for the id `ignored` (-1: no id; theirs: the end-of-sequence token) and in groups that are all right or all wrong */
typedef struct {
    double fisher, gain, top;                   /* fisher, gain >= 0, not both 0: 1, 1, 1 */
    int frequency;                              /* not 0: h has the terms of tf */
    int64_t ignored;
} grpo_key_measure;

typedef struct { int64_t token, sequence, slot; } grpo_token_place;      /* scratch only */

/* key (n_tokens); token (n_tokens): ids; scratch (capacity): capacity at least the unmasked tokens of the largest group (n_tokens is always
 * enough), else GRPO_TOO_SMALL, of capacity */
grpo_status grpo_key_token_advantage(const grpo_batch *batch, const int64_t *token, const grpo_key_measure *measure,
                                     grpo_token_place *scratch, int64_t capacity, grpo_real *key);

/* one token's term of the generalised Jensen-Shannon divergence, beta p log(p/M) + (1 - beta) q log(q/M), M = beta p + (1 - beta) q, p =
 * e^teacher, q = e^student, from log-probabilities, which may be -inf (GKD, 2306.13649, eq. 1, term by term, as in Trinity-RFT,
 * 2505.17826); 0 for beta 0 or 1, where TRL and grpo_distill.h have the KL divergences; NaN for beta outside [0, 1] */
GRPO_FN double grpo_jensen_shannon(double teacher, double student, double beta) {
    const double rest = 1 - beta;
    const grpo_dd d = grpo_two_diff(teacher, student);
    if (!(beta >= 0 && beta <= 1) || !(teacher < HUGE_VAL) || !(student < HUGE_VAL)) return nan("");
    if (beta == 0 || beta == 1) return 0;
    return grpo_mixture_term_(exp(teacher), exp(student), grpo_mixture_log_(grpo_dd_negative(d), rest, beta),
                              grpo_mixture_log_(d, beta, rest), beta);
}

/* advantage (n_tokens) = -coef times grpo_jensen_shannon of batch.logp_teacher and batch.logp_old; beta in [0, 1] */
grpo_status grpo_jsd_advantage(const grpo_batch *batch, double beta, double coef, grpo_real *advantage);

/* shaped (n_tokens) = (1 - alpha) A + alpha c_i e^(tempered - batch.logp_old), A = advantage (n_tokens), c_i = correct (sequences), alpha =
 * m/(p + m), m = min(|entropy_base - entropy|, 0.1), in nats, p the share of the batch's responses that are correct; A itself if p = 0
 * (DCPO, distribution-centric, 2601.12730, official code: entropy_base 0.5).  tempered (n_tokens): logp_old at temperature 1.2 if entropy
 * <= entropy_base, else at 0.8 */
grpo_status grpo_distribution_advantage(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *tempered,
                                        const uint8_t *correct, double entropy, double entropy_base, grpo_real *shaped);

/* advantage (sequences) = e^(r/temperature)/mean of e^(r/temperature) over the group (DRIFT, 2605.31455, official script: 0.1, beta; its
 * 1e-12 is left out); temperature >= 1e-150 */
grpo_status grpo_boltzmann_advantage(const grpo_batch *batch, double temperature, grpo_real *advantage);

/* advantage (sequences): among the group's responses that have r > threshold and unmasked tokens, softmax of (mean of batch.logp_old over
 * the unmasked tokens)/temperature; 0 for the others.  by_length not 0: each is divided by its number of unmasked tokens, then all by their
 * sum.  scratch (sequences) (POPO, 2605.06650, official code: 0, 1, its 1e-8 left out) */
grpo_status grpo_likelihood_advantage(const grpo_batch *batch, double threshold, double temperature, int by_length, grpo_dd *scratch,
                                  grpo_real *advantage);

/* advantage (sequences) = mix (r' - mean r' of the other half + offset, in the low half - offset) + (1 - mix)(r - mean r of its own half);
 * the floor(G/2) responses of the group with the smallest metric (sequences) are its low half; r' = alpha r in the half named by `scaled`,
 * r in the other; an empty mean is 0 (CANON, 2509.23962, official code: alpha 1, b 0, mu 1; scaled is low by entropy and by length, which
 * it divides by the longest) */
typedef enum { GRPO_HALF_LOW, GRPO_HALF_HIGH } grpo_half;
typedef struct { double alpha, offset, mix; grpo_half scaled; } grpo_canon;      /* offset and mix are their b and mu */

grpo_status grpo_canon_advantage(const grpo_batch *batch, const double *metric, const grpo_canon *canon, grpo_real *advantage);

/* advantage (sequences) = 1/2 A (U/(sqrt p + 1e-6) + (1 - U)/(1 - sqrt p + 1e-6)) min(1, U/alpha), the last factor only if A > 0; A = (r -
 * p)/(sample std + 1e-6), p the group's mean of rewards, which must be 0 or 1 (else GRPO_NOT_A_CHOICE), U = mean_reward, the mean of p over
 * prompts (w in the paper, P in the code); 0 for p of 0 or 1; alpha > 0 (A-GRAE, 2602.05548, official code: 1 for mathematics, 0.5; the
 * paper's equation 12 has sqrt(1 - p)) */
grpo_status grpo_asymmetric_advantage(const grpo_batch *batch, double alpha, double mean_reward, grpo_real *advantage);

/* shaped (sequences) = A + min(max(lambda (1 - e^(s - mean s)), 0), kappa A) where r > 0 and A > 0, else A = advantage (sequences); s is
 * the mean of batch.logp_old over the unmasked tokens, mean s that over the group's responses that have any (A for those without); scratch
 * (sequences) (XRPO, 2510.06672: 2.5, 0.5) */
grpo_status grpo_sharpening_advantage(const grpo_batch *batch, const double *advantage, double lambda, double kappa, grpo_dd *scratch,
                                      grpo_real *shaped);

/* shaped (sequences) = A + clip(delta (feature - mean feature)/mean divisor, -k |A|, k |A|) where eligible, means over the eligible
 * responses of the group; A elsewhere (ASPO for tools, 2508.19201, equation 2: -2, 0.7; feature is the position of the first token of code,
 * divisor the length); all arrays (sequences), divisor > 0, k >= 0 */
typedef struct { const double *advantage, *feature, *divisor; const uint8_t *eligible; double delta, k; } grpo_feature;

grpo_status grpo_feature_advantage(const grpo_batch *batch, const grpo_feature *feature, grpo_real *shaped);

/* advantage (sequences) = (r - m)/(s + eps), mean and sample standard deviation over the group's rewards and `count` additional rewards
 * equal to `virtual_reward`; r itself in a group of one, 0 if all are equal; count in 0 .. 2^40, eps >= 0 (NGRPO, 2509.18851, official
 * code: 1, 1, 1e-6; r_max, m) */
grpo_status grpo_virtual_reward_advantage(const grpo_batch *batch, double virtual_reward, int64_t count, double eps, grpo_real *advantage);

/* advantage (sequences) over bundles of groups; bundle (n_groups): any ids, equal in the groups of one bundle.  In a bundle let n be the
 * size of its smallest group, B the number of its groups, S_k the sum of the rewards of their k-th responses, k < n; scratch (n_groups):
 *     U = (omega v + u)/(omega + 1)/(std S + eps),  u = (max(S - low, 0) - max(S - high, 0))/(c - a + eps),  v = -max(low - S, 0)/(a + eps)
 *     A = U (r - m)/D, m the mean of its group, D the sum of r - m over the k-th responses; U/B where |D| <= 1e-6
 * sample std, 1 for n = 1; 0 for responses from the n-th on, and where std S + eps is 0 (RiskPO, 2510.00911, official code without its
 * natural baseline: a 0.2, c 0.8, omega 1.5, eps 1e-6; low and high, q_a and q_c there: the quantiles of S at a and c) */
typedef struct { double low, high, a, c, omega, eps; } grpo_risk;      /* low <= high, 0 <= a < c, omega, eps >= 0, a + eps > 0 */

grpo_status grpo_bundle_advantage(const grpo_batch *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd *scratch,
                                  grpo_real *advantage);

/* advantage (n_sets) = f - mean f over the sets, f = (mean reward of the set's members)(number of its distinct classes)/(size of the set)
 * (POLY, 2509.25424, where the size is n); reward (n); klass (n): any ids; set s: member[set_begin[s]] .. member[set_begin[s+1]-1], each in
 * 0 .. n - 1, not empty: set_begin (n_sets + 1) >= 0 increases */
grpo_status grpo_set_advantage(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const int64_t *set_begin,
                               int64_t n_sets, double *advantage);

/* advantages of the n responses to one prompt and of its reference answer y, for surrogate reinforce, seq_mean_token_mean over the n + 1:
 *     advantage (n) = (1 + lambda) A (n + 1)/n,  *reference = (n + 1)(beta A_y - lambda mean A)
 * A = (reward (n) - mean)/population std, both over the responses and, if with_reference is not 0, y; all 0 if that std is 0 (GRAO,
 * 2508.07750, whose text allows either) */
grpo_status grpo_reference_advantage(const double *reward, int64_t n, double reference_reward, double beta, double lambda,
                                     int with_reference, double *advantage, double *reference);

/* advantage (n_tokens) = sum, over this and the later unmasked tokens of the response, of process_coef (x G/(G - 1) - B), plus outcome_coef
 * (r - mean r of the others) at the last one; B = sum of the group's response means of x over unmasked tokens, over G - 1 (PRIME,
 * 2502.01456, as verl's recipe: 5, 5, then whitened as advantage.scale token_whiten does).  process (n_tokens): x, the implicit reward; G >
 * 1, else GRPO_LONE_RESPONSE */
grpo_status grpo_implicit_advantage(const grpo_batch *batch, const grpo_real *process, double process_coef, double outcome_coef,
                                    grpo_real *advantage);

/* advantage (sequences) = (r - m)(slope m + offset), m the mean over the group (Confucius3-Math, 2506.18330, section 6.2, rewards of -1
 * and 1: -0.256, 1.256) */
grpo_status grpo_hardness_advantage(const grpo_batch *batch, double slope, double offset, grpo_real *advantage);

/* advantage (sequences) = (r - m)/(s + eps), m and s mean and population deviation over the group's unmasked tokens, each with the r of its
 * response; 0 if all responses with tokens have equal rewards.  If the magnitude reaches `limit` in a response with tokens, the whole group
 * takes mean and sample deviation over responses instead.  scaled 0: r - m, with the same rule; eps >= 0, limit > 0, +infinity for no limit
 * (HAPO, 2509.16591, official code: 1e-6, 5) */
grpo_status grpo_token_advantage(const grpo_batch *batch, double eps, double limit, int scaled, grpo_real *advantage);

/* advantage (n) = r_i (1 + mean of the later r), for the last step r_n; r = reward (n) of the steps of a response (StepCodeReasoner,
 * 2605.11922, equation 11; used times 0.3, lambda, beside the group's advantage) */
grpo_status grpo_future_success_advantage(const double *reward, int64_t n, double *advantage);

/* credit (n) of step t = 0 ..: g^t (own_t + beta W_t other_t), W_t = h sum_(k<t) h^(t-k) own_k, with `inclusive` h sum_(k<=t); then with
 * `per_step` divided by t + 1; then clipped to -clip .. clip (clip 0: not clipped); then with `sign` its sign; discount 0: without g^t
 * (advantage alignment, 2511.19405, official code: gamma g = weight_gamma h = 0.96, beta 2, no clip, of the flags discount alone; h is g_a
 * there).  own, other (n): advantages of the two players; gammas in [0, 1], clip >= 0 */
typedef struct { double gamma, weight_gamma, beta, clip; int inclusive, sign, per_step, discount; } grpo_coplayer;

grpo_status grpo_alignment_advantage(const double *own, const double *other, int64_t n, const grpo_coplayer *how, double *credit);

/* shaped (n) = P A + alpha (B - P B), P = V^T V, A = advantage (n), B = max(A, 0) if positive is not 0, else A (SALT, 2606.05800, official
 * code: positive, alpha = 1 - effective of grpo_gram_rank within 0 .. 1).  basis (k, n): V, orthonormal rows (not checked), the
 * eigenvectors of the Gram matrix with the k = rank largest eigenvalues, entries at most 1e75; scratch (k) */
grpo_status grpo_projected_advantage(const double *advantage, int64_t n, const double *basis, int64_t k, double alpha, int positive,
                                   grpo_dd *scratch, double *shaped);

/* advantage (n) of the nodes of a tree = (R - mean)/(s + 1e-8) over the nodes of the same depth, s their sample deviation; 0 if s < 1e-6 or
 * the node is alone at its depth (BranchGRPO, 2509.06040, official code: alpha 1).  R of a leaf is its reward (n); R of any other node: */
typedef enum {
    GRPO_BRANCH_LEAVES,           /* mean reward of the leaves below it */
    GRPO_BRANCH_PROBABILITY       /* sum over the children of softmax(alpha logp) R, logp (n) that of the edge to the child */
} grpo_branch_form;

typedef struct { grpo_dd value; int64_t leaves, depth; } grpo_branch;      /* scratch only */

/* parent (n): the index of an earlier node, -1 for the first one, the root; logp (n): not read by `leaves`, nor at the root; scratch (n).
 * O(n depth), for probability O(n^2) */
grpo_status grpo_branch_advantage(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                  double alpha, grpo_branch *scratch, double *advantage);

/* advantage (sequences) = (r - mean)/(sample deviation + eps) over the group; if all its rewards are equal: 1 if they are 1, -1 if they are
 * 0, else 0; r in a group of one; eps >= 0 (AGPO, 2503.15952, code: 1e-6) */
grpo_status grpo_collapsed_advantage(const grpo_batch *batch, double eps, grpo_real *advantage);

/* weighted (n) = e^(k (difficulty - mean) sign(A)) A, A = advantage (n); mean (n): the mean of the difficulties that each difficulty (n) is
 * compared with (DIVA-GRPO, 2603.01106, the paper's form) */
grpo_status grpo_variant_advantage(const double *advantage, const double *difficulty, const double *mean, int64_t n, double k,
                                   double *weighted);

/* weighted (n) = A W where A >= 0, A (2 - W) elsewhere; A = advantage (n), W = weight (n) in [0, 1] (DPEPO, 2604.24320) */
grpo_status grpo_step_weight_advantage(const double *advantage, const double *weight, int64_t n, double *weighted);

/* advantage (n) of the nodes of a tree, 0 at a root.  V of a node is the mean over its children c of: */
typedef enum {
    GRPO_TREE_TD,                 /* r_c + gamma V_c; V of a leaf is 0.  A = (r + gamma V' - V'(parent))/(leaves from this node on); V' = V,
                                     but if the parent has one child, both V' are `value`, for a leaf too (ATPO, 2603.02216, code) */
    GRPO_TREE_SIBLINGS,           /* V_c; V of a leaf is r.  A = V - mean V of the siblings, V if it has none (D-TreeRPO, 2512.09675,
                                     code) */
    GRPO_TREE_PARENT              /* the same, A = V - V(parent) (D-TreeRPO, the paper) */
} grpo_tree_advantage_form;

typedef struct { grpo_dd value; int64_t leaves, children; } grpo_tree_state;      /* scratch only */

/* parent (n): the index of an earlier node, or -1; reward (n); value (n), gamma: read by td only; scratch (n).  O(n^2) */
grpo_status grpo_tree_advantage(const int64_t *parent, const double *reward, const double *value, int64_t n, double gamma,
                                grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage);

/* advantage (sequences) = (1 - alpha) PT(z) + alpha PT(d), PT(v) = gain_pos tanh(beta v) for v >= 0, else gain_neg tanh(beta v); z = (r -
 * mean)/max(population deviation, 1e-8); C = constraints (sequences) >= 1 (MDP-GRPO, 2606.06058) */
typedef enum {
    GRPO_ANCHORS_PAPER,           /* d = 2 sqrt(C) (r - 1/2) */
    GRPO_ANCHORS_CODE             /* d = (r - max(1/2, mean))/sqrt(G/(4 C)) */
} grpo_anchors_form;
typedef struct { double alpha, beta, gain_pos, gain_neg; grpo_anchors_form form; } grpo_anchors;        /* 0.2, 0.8, 1.25, 2 */

grpo_status grpo_two_anchor_advantage(const grpo_batch *batch, const double *constraints, const grpo_anchors *anchors,
                                      grpo_real *advantage);

/* advantage (sequences), with s the mean of batch.logp over the response's unmasked tokens: of a correct (sequences) one, the sum over the
 * group's wrong ones j of sigmoid((s_j - s)/temperature)/temperature; of a wrong one, minus the sum over the correct ones j of sigmoid((s -
 * s_j)/temperature)/temperature; responses without tokens are left out and have 0; scratch (sequences) (CAPO, calibration-aware,
 * 2604.12632: 0.5) */
grpo_status grpo_calibration_advantage(const grpo_batch *batch, const uint8_t *correct, double temperature, grpo_dd *scratch,
                                      grpo_real *advantage);

/* advantage (n), n in 2 .. 20: the mean over sizes 2 .. n of the mean, over the subsets of that size that contain the item, of (reward -
 * mean)/(population deviation + eps) in the subset, 0 if all its rewards are equal; eps > 0 (Multi-Scale GRPO, without an arXiv id;
 * implementations draw some of the subsets).  Evaluates all 2^n subsets: a second for n = 20 */
grpo_status grpo_multi_scale_advantage(const double *reward, int64_t n, double eps, double *advantage);

/* advantage (sequences): in groups with a reward above 0 and one of 0, 1 for the largest reward and -1 for the response with the largest
 * utility (sequences) among those of reward 0, in each case the first such response; else 0.  replace (n_groups): if all rewards of the
 * group are 0 the first response with the smallest utility, else -1 (ReCast, 2604.22169) */
grpo_status grpo_hard_negative_advantage(const grpo_batch *batch, const double *utility, grpo_real *advantage, int64_t *replace);

/* advantage (n) = w/sum |w| of n >= 2 candidate tokens for one position, w = p (r - sum p r/sum p), p = e^logp_old (n), r = reward (n); all
 * 0 if sum |w| is 0 (TLPO, 2604.26553, code).  O(n^2) */
grpo_status grpo_position_advantage(const double *logp_old, const double *reward, int64_t n, double *advantage);

/* advantage (n) of turns from r = reward (n), with mean and deviation over the turns of the same role (n), any ids (MARS, 2510.15414,
 * official code, its first step) */
typedef enum {
    GRPO_ROLE_MEAN,               /* r - mean */
    GRPO_ROLE_MEAN_STD,           /* (r - mean)/(sample deviation + 1e-6), 0 where all are equal */
    GRPO_ROLE_CLIPPED             /* as mean_std, clipped to [-1, 3] */
} grpo_role_form;

grpo_status grpo_role_advantage(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double *advantage);

/* advantage (sequences) = (r - m)/(d + eps), m the lower median of the group's rewards, d that of |r - m|; 0 where r = m; eps >= 0.  pivot
 * (n_groups): the first response with r = m, indexed as batch.reward (MC-GRPO, 2601.22582, official code: 0.001; it excludes the pivot from
 * the loss) */
grpo_status grpo_median_advantage(const grpo_batch *batch, double eps, double *advantage, int64_t *pivot);

/* mixed (n) = a x + b y, rounded once; x, y (n): for advantages of two levels (GiGPO, 2505.10978, as verl-agent: 1, 1; Stratified GRPO,
 * 2510.06214: alpha and 1 - alpha) */
grpo_status grpo_mix_advantages(const double *x, const double *y, int64_t n, double a, double b, double *mixed);

/* advantage (n_tokens) = sigmoid(L + e) - sigmoid(L), L the log odds of success before the token: log(prior/(1 - prior)) at the response's
 * first token, then increased by e after each (OPPO, 2605.21851); e = informed - plain (n_tokens), clamped to -+evidence_max (0: not
 * clamped): log-probabilities by the same scorer, with and without the answer in its context.  evidence_max >= 0; prior (sequences) in [0,
 * 1], V_0 there; prior 0 or 1: all 0 */
grpo_status grpo_odds_advantage(const grpo_batch *batch, const grpo_real *informed, const grpo_real *plain, const double *prior,
                                double evidence_max, grpo_real *advantage);

/* rank and effective share from the Gram matrix gram (n, n) of the gradients of n >= 1 responses: K_ij = g_i g_j, symmetric, n times the
 * code's K.  A = advantage (n); share > 0, 1 <= least <= most (SALT, 2606.05800, official code: share, least, most, in its README 1, 1, 64;
 * rho, k_min, k_max)
 *     rank = max(least, min(share PR rounded half to even, most, n - 1)),  PR = (tr K)^2/(sum K_ij^2 + 1e-10 n^2), both as doubles
 *     effective = sum A_i A_j K_ij/(sum A_i^2 K_ii + 1e-9) */
grpo_status grpo_gram_rank(const double *gram, const double *advantage, int64_t n, double share, int64_t least, int64_t most, int64_t *rank,
                           double *effective);

GRPO_C_END_
#endif /* GRPO_CREDIT_H */

#if defined(GRPO_CREDIT_IMPLEMENTATION) && !defined(GRPO_CREDIT_IMPLEMENTED)
#define GRPO_CREDIT_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

/* counts of one id in the right [0] and wrong [1] responses: responses, responses with the id, tokens, tokens with the id */
typedef struct { double responses[2], with[2], tokens[2], hits[2]; } grpo_key_counts_;

/* two-sided p-value of (a b; c d): the share of the tables with the same margins that are not more probable than it.  Probabilities are in
 * units of that of (a b; c d).  Exactly 1 if all of them count */
static grpo_dd grpo_fisher_(double a, double b, double c, double d) {
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd rare = one, total = one, w;
    double k;
    int all = 1, up;
    for (up = 0; up < 2; up++) {
        const double most = up ? (b < c ? b : c) : (a < d ? a : d);     /* one step up: (a + 1, b - 1; c - 1, d + 1) */
        for (w = one, k = 0; k < most; k++) {
            const double from = up ? (b - k) * (c - k) : (a - k) * (d - k);
            w = grpo_dd_div(grpo_dd_mul(w, from), up ? (a + k + 1) * (d + k + 1) : (b + k + 1) * (c + k + 1));
            total = grpo_dd_add(total, w);
            if (w.hi <= 1 + 1e-15) rare = grpo_dd_add(rare, w);
            else all = 0;
        }
    }
    if (all) return one;
    return grpo_is_finite(total.hi) ? grpo_dd_quotient(rare, total) : grpo_dd_of_(0);
}

static void grpo_add_log_(grpo_dd *sum, double sign, double n) {       /* + sign n log n */
    if (n > 0) *sum = grpo_dd_add(*sum, grpo_dd_mul(grpo_log_twice(n), sign * n));
}

/* mutual information of (a b; c d) in bits; exactly 0 if its rows are proportional */
static grpo_dd grpo_information_(double a, double b, double c, double d) {
    const grpo_dd ln2 = { GRPO_LN2_HI_, GRPO_LN2_LO_ };
    grpo_dd sum = { 0, 0 };
    if (a * d == b * c) return sum;
    grpo_add_log_(&sum, 1, a); grpo_add_log_(&sum, 1, b); grpo_add_log_(&sum, 1, c); grpo_add_log_(&sum, 1, d);
    grpo_add_log_(&sum, -1, a + b); grpo_add_log_(&sum, -1, c + d); grpo_add_log_(&sum, -1, a + c); grpo_add_log_(&sum, -1, b + d);
    grpo_add_log_(&sum, 1, a + b + c + d);
    return grpo_dd_quotient(sum, grpo_dd_mul(ln2, a + b + c + d));
}

/* atan x in double-double: atan x = 2 atan(x/(1 + sqrt(1 + x^2))) five times, then |x| < 0.05 and x^25/25 < 2^-110 */
static grpo_dd grpo_atan_twice_(grpo_dd x) {
    const grpo_dd one = grpo_dd_of_(1);
    grpo_dd square, sum = { 0, 0 };
    for (int k = 0; k < 5; k++) x = grpo_dd_quotient(x, grpo_dd_add(one, grpo_sqrt_twice_(grpo_dd_add(one, grpo_dd_product(x, x)))));
    square = grpo_dd_product(x, x);
    for (int k = 23; k >= 1; k -= 2) sum = grpo_dd_minus_(grpo_dd_div(one, k), grpo_dd_product(square, sum));
    return grpo_dd_mul(grpo_dd_product(x, sum), 32);
}

/* asin sqrt(a/(a + c + eps)) - asin sqrt(b/(b + d + eps)) = atan sqrt(a/(c + eps)) - atan sqrt(b/(d + eps)), as a single atan */
static grpo_dd grpo_arc_difference_(double a, double b, double c, double d) {
    const grpo_dd eps = { 1e-10, -3.643219731549774e-27 };
    const grpo_dd c_eps = grpo_dd_add(grpo_dd_of_(c), eps), d_eps = grpo_dd_add(grpo_dd_of_(d), eps);
    grpo_dd over = grpo_dd_add(grpo_two_diff(a * d, b * c), grpo_dd_mul(eps, a - b)), under;
    if (over.hi == 0) return over;
    over = grpo_dd_quotient(over, grpo_dd_add(grpo_sqrt_twice_(grpo_dd_mul(d_eps, a)), grpo_sqrt_twice_(grpo_dd_mul(c_eps, b))));
    under = grpo_dd_add(grpo_sqrt_twice_(grpo_dd_product(c_eps, d_eps)), grpo_sqrt_twice_(grpo_dd_of_(a * b)));
    return grpo_atan_twice_(grpo_dd_quotient(over, under));
}

/* tf of the right (side 0) or the wrong responses: 3 n (L + L')/(n (L + L') + L (3 L + L')) */
static grpo_dd grpo_term_frequency_(const grpo_key_counts_ *k, int side) {
    const double n = k->hits[side], own = k->tokens[side], both = k->tokens[0] + k->tokens[1];
    if (n == 0) return grpo_dd_of_(0);
    return grpo_dd_round_96_(grpo_dd_quotient(grpo_two_prod(3 * n, both), grpo_dd_add(grpo_two_prod(n, both),
                                                                                           grpo_two_prod(own, 2 * own + both))));
}

/* tf/(tf' + eps) - tf'/(tf + eps) = (tf - tf')(tf + tf' + eps)/((tf' + eps)(tf + eps)) */
static grpo_dd grpo_frequency_difference_(const grpo_key_counts_ *k) {
    const grpo_dd eps = { 1e-5, -8.180305391403131e-22 };
    const grpo_dd right = grpo_term_frequency_(k, 0), wrong = grpo_term_frequency_(k, 1), sum = grpo_dd_add(grpo_dd_add(right, wrong), eps);
    const grpo_dd under = grpo_dd_product(grpo_dd_add(right, eps), grpo_dd_add(wrong, eps));
    return grpo_dd_quotient(grpo_dd_product(grpo_dd_minus_(right, wrong), sum), under);
}

static double grpo_key_of_counts_(const grpo_key_measure *m, const grpo_key_counts_ *k) {
    const double a = k->with[0], b = k->with[1], c = k->responses[0] - a, d = k->responses[1] - b;
    const grpo_dd p = grpo_fisher_(a, b, c, d);
    grpo_dd w = { 0, 0 }, h = grpo_arc_difference_(a, b, c, d);
    double t;
    if (p.hi != 1 || p.lo != 0) w = grpo_dd_mul(grpo_exp_twice(grpo_dd_mul(p, -2)), m->fisher);
    w = grpo_dd_add(w, grpo_dd_mul(grpo_information_(a, b, c, d), m->gain));
    if (m->frequency) h = grpo_dd_add(h, grpo_frequency_difference_(k));
    h = grpo_dd_mul(grpo_dd_product(grpo_dd_quotient(w, grpo_two_sum(m->fisher, m->gain)), h), 0.5);
    t = tanh(h.hi);
    return grpo_times(m->top, t + h.lo * (1 - t * t));
}

static int grpo_place_before_(const grpo_token_place *x, const grpo_token_place *y) {
    return x->token < y->token || (x->token == y->token && x->sequence < y->sequence);
}

/* restores the heap order if only `root` is out of place */
static void grpo_sift_(grpo_token_place *heap, int64_t root, int64_t n) {
    int64_t child;
    grpo_token_place x = heap[root];
    for (; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && grpo_place_before_(&heap[child], &heap[child + 1])) child++;
        if (!grpo_place_before_(&x, &heap[child])) break;
        heap[root] = heap[child];
    }
    heap[root] = x;
}

static void grpo_sort_places_(grpo_token_place *x, int64_t n) {
    grpo_token_place last;
    for (int64_t k = n / 2; k > 0; k--) grpo_sift_(x, k - 1, n);
    for (int64_t k = n - 1; k > 0; k--) {
        last = x[k]; x[k] = x[0]; x[0] = last;
        grpo_sift_(x, 0, k);
    }
}

/* lists the unmasked tokens of group g in `place`, and fills the counts that do not depend on the id; returns how many tokens */
static int64_t grpo_gather_places_(const grpo_batch *b, int64_t g, const int64_t *token, grpo_token_place *place, grpo_key_counts_ *k) {
    int64_t i, t, n = 0, before;
    int wrong;
    memset(k, 0, sizeof *k);
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        wrong = !((double)b->reward[i] > 0);
        for (before = n, t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (!grpo_is_unmasked_(b, t)) continue;
            place[n].token = token[t]; place[n].sequence = i; place[n].slot = t;
            n++;
        }
        k->responses[wrong]++;
        k->tokens[wrong] += (double)(n - before);
    }
    return n;
}

static void grpo_key_group_(const grpo_batch *b, int64_t g, const int64_t *token, const grpo_key_measure *m, grpo_token_place *place,
                            grpo_real *key) {
    grpo_key_counts_ k;
    double x;
    int64_t begin, end, j, n = grpo_gather_places_(b, g, token, place, &k);
    int wrong, overflow = 0;
    if (k.responses[0] == 0 || k.responses[1] == 0) return;
    grpo_sort_places_(place, n);
    for (begin = 0; begin < n; begin = end) {
        k.with[0] = k.with[1] = k.hits[0] = k.hits[1] = 0;
        for (end = begin; end < n && place[end].token == place[begin].token; end++) {
            wrong = !((double)b->reward[place[end].sequence] > 0);
            k.hits[wrong]++;
            k.with[wrong] += end == begin || place[end].sequence != place[end - 1].sequence;
        }
        if (m->ignored != -1 && place[begin].token == m->ignored) continue;
        x = grpo_key_of_counts_(m, &k);
        for (j = begin; j < end; j++) grpo_put_(key, place[j].slot, x, &overflow);
    }
}

static grpo_status grpo_check_places_(const grpo_batch *b, const grpo_token_place *scratch, int64_t capacity, int place) {
    int64_t i, n;
    for (int64_t g = 0; g < b->n_groups; g++) {
        for (n = 0, i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) n += grpo_unmasked_(b, i);
        if (n > capacity) return grpo_refuse_(GRPO_TOO_SMALL, place + 1, -1);
        if (n > 0 && !scratch) return grpo_refuse_(GRPO_NULL, place, -1);
    }
    return GRPO_OK;
}

grpo_status grpo_key_token_advantage(const grpo_batch *batch, const int64_t *token, const grpo_key_measure *measure,
                                     grpo_token_place *scratch, int64_t capacity, grpo_real *key) {
    grpo_status st = grpo_check_call_(batch, key, 6);
    grpo_key_measure m;
    int e;
    if (!st) st = grpo_check_output_(measure, 3);
    if (st) return st;
    st = grpo_check_member_(measure->fisher, GRPO_MODERATE_FACTOR_, 3, 0);
    if (!st) st = grpo_check_member_(measure->gain, GRPO_MODERATE_FACTOR_, 3, 1);
    if (!st) st = grpo_check_member_(measure->top, GRPO_FINITE_, 3, 2);
    if (!st && measure->fisher == 0 && measure->gain == 0) st = grpo_refuse_(GRPO_ZERO, 3, 0);
    if (!st) st = grpo_check_not_null_(token, batch->n_groups, 2);
    if (!st) st = grpo_check_places_(batch, scratch, capacity, 4);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    m = *measure;
    e = grpo_square_exponent_(m.fisher > m.gain ? m.fisher : m.gain);   /* only their quotient counts; products of them may underflow */
    m.fisher = ldexp(m.fisher, -e); m.gain = ldexp(m.gain, -e);
    grpo_clear_reals_(batch, key);
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_key_group_(batch, g, token, &m, scratch, key);
    return GRPO_OK;
}

grpo_status grpo_jsd_advantage(const grpo_batch *batch, double beta, double coef, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 4);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_number_(beta, GRPO_PART_, 2);
    if (!st) st = grpo_check_number_(coef, GRPO_FINITE_, 3);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_LOGP_TEACHER_);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(advantage, t, grpo_times(-coef, grpo_jensen_shannon((double)batch->logp_teacher[t], (double)batch->logp_old[t], beta)),
                  &overflow);
    grpo_clear_masked_(batch, advantage);
    return GRPO_OK;
}

/* alpha = m/(p + m) = m N/(c + m N), for c correct responses of N; 0 if c = 0 */
static grpo_dd grpo_distribution_share_(const grpo_batch *b, const uint8_t *correct, double entropy, double entropy_base) {
    const grpo_dd tenth = { 0.1, -5.551115123125783e-18 };
    const int64_t first = grpo_first_sequence_(b), end = grpo_end_sequence_(b);
    grpo_dd m = grpo_two_diff(entropy_base, entropy);
    int64_t i, c = 0;
    for (i = first; i < end; i++) c += correct[i] != 0;
    if (c == 0) return grpo_dd_of_(0);
    if (m.hi < 0) m = grpo_dd_negative(m);
    if (grpo_dd_less(tenth, m)) m = tenth;
    m = grpo_dd_mul(m, (double)(end - first));
    return grpo_dd_quotient(m, grpo_dd_add(grpo_dd_of_((double)c), m));
}

grpo_status grpo_distribution_advantage(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *tempered,
                                        const uint8_t *correct, double entropy, double entropy_base, grpo_real *shaped) {
    grpo_status st = grpo_check_call_(batch, shaped, 7);
    grpo_dd alpha, rest;
    int overflow = 0;
    if (!st) st = grpo_check_number_(entropy, GRPO_FINITE_, 5);
    if (!st) st = grpo_check_number_(entropy_base, GRPO_FINITE_, 6);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 4);
    if (!st) st = grpo_check_tokens_(batch, tempered, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 3);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_OLD_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    alpha = grpo_distribution_share_(batch, correct, entropy, entropy_base);
    rest = grpo_dd_minus_(grpo_dd_of_(1), alpha);
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        for (int64_t t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++) {
            double adv = 0, push = 0;
            if (grpo_is_unmasked_(batch, t)) adv = grpo_dd_mul(rest, (double)advantage[t]).hi;
            if (grpo_is_unmasked_(batch, t) && correct[i])
                push = grpo_times(alpha.hi, grpo_exp(grpo_two_diff((double)tempered[t], (double)batch->logp_old[t])));
            grpo_put_(shaped, t, adv + push, &overflow);
        }
    return GRPO_OK;
}

typedef struct { grpo_dd mean, deviation; } grpo_mean_deviation_of_;

/* mean and standard deviation of values in units of 2^e */
static grpo_mean_deviation_of_ grpo_mean_and_deviation_(const grpo_values *v, grpo_std_kind kind, int e) {
    grpo_mean_deviation_of_ r;
    r.mean = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v->sum), (double)v->count), e);
    r.deviation = grpo_values_deviation_(v, kind, e);
    return r;
}

/* an exponent e such that the squares of x/2^e and of the group's rewards/2^e neither overflow nor underflow */
static int grpo_reward_exponent_(const grpo_batch *b, int64_t g, double x) {
    double largest = fabs(x);
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (fabs((double)b->reward[i]) > largest) largest = fabs((double)b->reward[i]);
    return grpo_square_exponent_(largest);
}

static grpo_mean_deviation_of_ grpo_reward_spread_(const grpo_batch *b, int64_t g, grpo_std_kind kind) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    const int e = grpo_reward_exponent_(b, g, 0);
    grpo_values v = GRPO_NO_VALUES_;
    for (int64_t i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)b->reward[i], -e)));
    return grpo_mean_and_deviation_(&v, kind, e);
}

grpo_status grpo_boltzmann_advantage(const grpo_batch *batch, double temperature, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 3);
    grpo_sum sum;
    int64_t begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        double top = -HUGE_VAL;
        grpo_dd mean;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        memset(&sum, 0, sizeof sum);
        for (int64_t i = begin; i < end; i++) if ((double)batch->reward[i] > top) top = (double)batch->reward[i];
        for (int64_t i = begin; i < end; i++)
            grpo_sum_add_(&sum, grpo_exp(grpo_dd_div(grpo_two_diff((double)batch->reward[i], top), temperature)));
        mean = grpo_dd_div(grpo_sum_dd_(&sum), (double)(end - begin));
        for (int64_t i = begin; i < end; i++)
            grpo_put_(advantage, i, grpo_exp(grpo_dd_div(grpo_two_diff((double)batch->reward[i], top), temperature)) / mean.hi, &overflow);
    }
    return GRPO_OK;
}

/* 1 if response i has r > threshold and unmasked tokens */
static int grpo_has_likelihood_share_(const grpo_batch *b, double threshold, int64_t i) {
    return (double)b->reward[i] > threshold && grpo_unmasked_(b, i) > 0;
}

/* e^((mean - largest mean)/temperature) of such a response, else 0 */
static double grpo_likelihood_(const grpo_batch *b, double threshold, double temperature, const grpo_dd *mean, grpo_dd top, int64_t i) {
    if (!grpo_has_likelihood_share_(b, threshold, i)) return 0;
    return grpo_exp(grpo_dd_div(grpo_dd_minus_(mean[i], top), temperature));
}

static void grpo_likelihood_group_(const grpo_batch *b, int64_t g, double threshold, double temperature, int by_length, const grpo_dd *mean,
                                   grpo_real *advantage) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1];
    grpo_dd top = grpo_dd_of_(-HUGE_VAL);
    grpo_sum sum, shares;
    double e, whole;
    int overflow = 0;
    memset(&sum, 0, sizeof sum);
    memset(&shares, 0, sizeof shares);
    for (int64_t i = begin; i < end; i++) if (grpo_has_likelihood_share_(b, threshold, i) && grpo_dd_less(top, mean[i])) top = mean[i];
    for (int64_t i = begin; i < end; i++) {
        e = grpo_likelihood_(b, threshold, temperature, mean, top, i);
        grpo_sum_add_(&sum, e);
        if (e > 0) grpo_sum_add_(&shares, e / (double)grpo_unmasked_(b, i));
    }
    whole = grpo_sum_value_(by_length ? &shares : &sum);
    for (int64_t i = begin; i < end; i++) {
        e = grpo_likelihood_(b, threshold, temperature, mean, top, i);
        grpo_put_(advantage, i, e > 0 ? e / (by_length ? (double)grpo_unmasked_(b, i) : 1) / whole : 0, &overflow);
    }
}

grpo_status grpo_likelihood_advantage(const grpo_batch *batch, double threshold, double temperature, int by_length, grpo_dd *scratch,
                                  grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 6);
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 3);
    if (!st) st = grpo_check_number_(threshold, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 5);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_likelihood_group_(batch, g, threshold, temperature, by_length, scratch, advantage);
    return GRPO_OK;
}

/* 1 if response i is in the low half: among the floor(G/2) smallest by metric */
static int grpo_in_low_half_(const double *metric, int64_t begin, int64_t end, int64_t i) {
    int64_t j, rank = 0;
    for (j = begin; j < end; j++) rank += metric[j] < metric[i] || (metric[j] == metric[i] && j < i);
    return rank < (end - begin) / 2;
}

static void grpo_canon_group_(const grpo_batch *b, int64_t g, const double *metric, const grpo_canon *c, grpo_real *advantage) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], half = (end - begin) / 2;
    grpo_dd mean[2] = { { 0, 0 }, { 0, 0 } }, inter, intra;             /* [0]: high half, [1]: low half */
    grpo_sum sum[2];
    int low, overflow = 0;
    memset(sum, 0, sizeof sum);
    for (int64_t i = begin; i < end; i++) grpo_sum_add_(&sum[grpo_in_low_half_(metric, begin, end, i)], (double)b->reward[i]);
    mean[0] = grpo_dd_div(grpo_sum_dd_(&sum[0]), (double)(end - begin - half));
    if (half > 0) mean[1] = grpo_dd_div(grpo_sum_dd_(&sum[1]), (double)half);
    for (int64_t i = begin; i < end; i++) {
        const grpo_dd r = grpo_dd_of_((double)b->reward[i]);
        low = grpo_in_low_half_(metric, begin, end, i);
        inter = grpo_dd_minus_(grpo_dd_mul(r, low == (c->scaled == GRPO_HALF_LOW) ? c->alpha : 1),
                               grpo_dd_mul(mean[!low], low == (c->scaled == GRPO_HALF_LOW) ? 1 : c->alpha));
        inter = grpo_dd_add(inter, grpo_dd_of_(low ? -c->offset : c->offset));
        intra = grpo_dd_minus_(r, mean[low]);
        grpo_put_(advantage, i, grpo_dd_add(grpo_dd_mul(inter, c->mix), grpo_dd_product(grpo_two_diff(1, c->mix), intra)).hi, &overflow);
    }
}

grpo_status grpo_canon_advantage(const grpo_batch *batch, const double *metric, const grpo_canon *canon, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 4);
    if (!st) st = grpo_check_output_(canon, 3);
    if (st) return st;
    st = grpo_check_member_(canon->alpha, GRPO_MODERATE_, 3, 0);
    if (!st) st = grpo_check_member_(canon->offset, GRPO_MODERATE_, 3, 1);
    if (!st) st = grpo_check_member_(canon->mix, GRPO_MODERATE_, 3, 2);
    if (!st && (int)canon->scaled != GRPO_HALF_LOW && (int)canon->scaled != GRPO_HALF_HIGH) st = grpo_refuse_(GRPO_NOT_A_CHOICE, 3, 3);
    if (!st) st = grpo_check_responses_(batch, metric, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (!st) st = GRPO_DISJOINT_(advantage, grpo_end_sequence_(batch), 4, metric, grpo_end_sequence_(batch), GRPO_AT_ARGUMENT_ + 2);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_canon_group_(batch, g, metric, canon, advantage);
    return GRPO_OK;
}

/* for n rewards of 0 or 1, `right` of them 1: 1/2 (U/(sqrt p + e) + (1 - U)/(1 - sqrt p + e))/(sample std + e), p = right/n */
static double grpo_relative_factor_(double n, double right, double mean_reward) {
    const double e = 1e-6, p = right / n, root = sqrt(p), rest = (n - right) / n / (1 + root);       /* 1 - sqrt p */
    const double deviation = sqrt(right * (n - right) / (n * (n - 1)));
    return 0.5 * (mean_reward / (root + e) + (1 - mean_reward) / (rest + e)) / (deviation + e);
}

grpo_status grpo_asymmetric_advantage(const grpo_batch *batch, double alpha, double mean_reward, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 4);
    int64_t i, begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_POSITIVE_, 2);
    if (!st) st = grpo_check_number_(mean_reward, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        if (batch->reward[i] != 0 && batch->reward[i] != 1) return grpo_status_at_(GRPO_NOT_A_CHOICE, GRPO_AT_reward_, i);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        double n, right = 0, factor;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (n = (double)(end - begin), i = begin; i < end; i++) right += (double)batch->reward[i];
        factor = right > 0 && right < n ? grpo_relative_factor_(n, right, mean_reward) : 0;
        for (i = begin; i < end; i++) {
            const double off = (n * (double)batch->reward[i] - right) / n;
            grpo_put_(advantage, i, factor * off * (off > 0 && mean_reward < alpha ? mean_reward / alpha : 1), &overflow);
        }
    }
    return GRPO_OK;
}

/* the mean over the responses of group g that have tokens */
static grpo_dd grpo_mean_of_means_(const grpo_batch *b, int64_t g, const grpo_dd *mean) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t i, n = 0;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (!grpo_unmasked_(b, i)) continue;
        grpo_sum_add_dd_(&sum, mean[i]);
        n++;
    }
    return grpo_mean_(&sum, n);
}

grpo_status grpo_sharpening_advantage(const grpo_batch *batch, const double *advantage, double lambda, double kappa, grpo_dd *scratch,
                                      grpo_real *shaped) {
    grpo_status st = grpo_check_call_(batch, shaped, 6);
    int overflow = 0;
    if (!st) st = grpo_check_number_(lambda, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(kappa, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 5);
    if (!st) st = grpo_check_responses_(batch, advantage, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_REWARD_);
    if (st) return st;
    grpo_old_means_(batch, scratch);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_dd centre = grpo_mean_of_means_(batch, g, scratch);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double adv = advantage[i];
            double more = 0;
            if (adv > 0 && batch->reward[i] > 0 && grpo_unmasked_(batch, i)) {
                more = grpo_times(-lambda, grpo_exp_minus_one(grpo_dd_minus_(scratch[i], centre)));
                if (!(more > 0)) more = 0;
                if (more > kappa * adv) more = kappa * adv;
            }
            grpo_put_(shaped, i, adv + more, &overflow);
        }
    }
    return GRPO_OK;
}

/* member numbers in declaration order */
static grpo_status grpo_check_feature_(const grpo_batch *b, const grpo_feature *f, int place) {
    const int64_t first = grpo_first_sequence_(b), end = grpo_end_sequence_(b);
    const double *const lists[] = { f->advantage, f->feature, f->divisor };
    grpo_status st = grpo_check_member_(f->delta, GRPO_MODERATE_, place, 4);
    if (!st) st = grpo_check_member_(f->k, GRPO_MODERATE_FACTOR_, place, 5);
    for (int k = 0; !st && k < 3; k++) {
        if (end > first && !lists[k]) return grpo_refuse_(GRPO_NULL, place, k);
        for (int64_t i = first; !st && i < end; i++) st = grpo_check_member_(lists[k][i], k < 2 ? GRPO_MODERATE_ : GRPO_DIVISOR_, place, k);
    }
    return !st && end > first && !f->eligible ? grpo_refuse_(GRPO_NULL, place, 3) : st;
}

grpo_status grpo_feature_advantage(const grpo_batch *batch, const grpo_feature *feature, grpo_real *shaped) {
    grpo_status st = grpo_check_call_(batch, shaped, 3);
    const grpo_feature *f = feature;
    int overflow = 0;
    if (!st) st = grpo_check_output_(f, 2);
    if (!st) st = grpo_check_feature_(batch, f, 2);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_dd centre = grpo_list_mean_(batch, g, f->feature, f->eligible), by = grpo_list_mean_(batch, g, f->divisor, f->eligible);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd most = grpo_two_prod(f->k, fabs(f->advantage[i]));
            grpo_dd more = grpo_dd_of_(0);
            if (f->eligible[i]) {
                more = grpo_dd_quotient(grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_(f->feature[i]), centre), f->delta), by);
                if (grpo_dd_less(more, grpo_dd_negative(most))) more = grpo_dd_negative(most);
                if (grpo_dd_less(most, more)) more = most;
            }
            grpo_put_(shaped, i, grpo_dd_add(grpo_dd_of_(f->advantage[i]), more).hi, &overflow);
        }
    }
    return GRPO_OK;
}

/* adds x `count` times */
static void grpo_values_repeat_(grpo_values *v, double x, int64_t count) {
    const grpo_dd square = grpo_two_prod(x, x);
    if (count == 0) return;
    if (v->count == 0 || grpo_dd_less(grpo_dd_of_(x), v->min)) v->min = grpo_dd_of_(x);
    if (v->count == 0 || grpo_dd_less(v->max, grpo_dd_of_(x))) v->max = grpo_dd_of_(x);
    v->count += count;
    grpo_sum_add_dd_(&v->sum, grpo_two_prod((double)count, x));
    grpo_sum_add_dd_(&v->squares, grpo_two_prod((double)count, square.hi));
    grpo_sum_add_dd_(&v->squares, grpo_two_prod((double)count, square.lo));
}

grpo_status grpo_virtual_reward_advantage(const grpo_batch *batch, double virtual_reward, int64_t count, double eps, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 5);
    int64_t begin, end;
    int overflow = 0;
    if (!st) st = grpo_check_number_(virtual_reward, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_FACTOR_, 4);
    if (!st) st = grpo_check_count_(count, 0, 3);
    if (!st && count > INT64_C(1) << 40) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 3, -1);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const int e = grpo_reward_exponent_(batch, g, count ? virtual_reward : 0);
        grpo_values v;
        grpo_dd mean;
        double s;
        memset(&v, 0, sizeof v);
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        for (int64_t i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp((double)batch->reward[i], -e)));
        grpo_values_repeat_(&v, ldexp(virtual_reward, -e), count);
        mean = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v.sum), (double)v.count), e);
        s = ldexp(sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE)), e);
        for (int64_t i = begin; i < end; i++) {
            const double r = (double)batch->reward[i], off = grpo_dd_minus_(grpo_dd_of_(r), mean).hi;
            grpo_put_(advantage, i, end - begin == 1 ? r : s == 0 ? 0 : off / (s + eps), &overflow);
        }
    }
    return GRPO_OK;
}

/* returns the size of the smallest group in g's bundle; *groups: the number of its groups */
static int64_t grpo_bundle_size_(const grpo_batch *b, const int64_t *bundle, int64_t g, int64_t *groups) {
    int64_t h, least = grpo_group_size_(b, g);
    for (*groups = 0, h = 0; h < b->n_groups; h++) {
        if (bundle[h] != bundle[g]) continue;
        if (grpo_group_size_(b, h) < least) least = grpo_group_size_(b, h);
        ++*groups;
    }
    return least;
}

/* the sum of the k-th rewards of the bundle, with `mean` each minus the mean of its group */
static grpo_dd grpo_bundle_sum_(const grpo_batch *b, const int64_t *bundle, int64_t g, int64_t k, const grpo_dd *mean) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t h = 0; h < b->n_groups; h++) {
        if (bundle[h] != bundle[g]) continue;
        grpo_sum_add_(&sum, (double)b->reward[b->group_begin[h] + k]);
        if (mean) grpo_sum_add_dd_(&sum, grpo_dd_negative(mean[h]));
    }
    return grpo_sum_dd_(&sum);
}

static grpo_dd grpo_positive_part_(grpo_dd x) { return x.hi > 0 ? x : grpo_dd_of_(0); }

/* (omega v + u)/(omega + 1) of the sum S */
static double grpo_risk_(const grpo_risk *x, grpo_dd sum) {
    const grpo_dd above = grpo_dd_minus_(sum, grpo_dd_of_(x->low)), beyond = grpo_dd_minus_(sum, grpo_dd_of_(x->high));
    const grpo_dd gain = grpo_dd_minus_(grpo_positive_part_(above), grpo_positive_part_(beyond));
    const grpo_dd lost = grpo_positive_part_(grpo_dd_negative(above));
    const grpo_dd u = grpo_dd_quotient(gain, grpo_dd_add(grpo_two_diff(x->c, x->a), grpo_dd_of_(x->eps)));
    const grpo_dd v = grpo_dd_mul(grpo_dd_quotient(lost, grpo_two_sum(x->a, x->eps)), x->omega);
    return grpo_dd_quotient(grpo_dd_minus_(u, v), grpo_two_sum(x->omega, 1)).hi;
}

/* the sample deviation of the bundle's n sums S_k */
static double grpo_bundle_deviation_(const grpo_batch *b, const int64_t *bundle, int64_t g, int64_t n) {
    grpo_values v = GRPO_NO_VALUES_;
    double largest = 0;
    int e;
    for (int64_t k = 0; k < n; k++) {
        const double size = fabs(grpo_bundle_sum_(b, bundle, g, k, NULL).hi);
        if (size > largest) largest = size;
    }
    e = grpo_square_exponent_(largest);
    for (int64_t k = 0; k < n; k++) grpo_values_take_(&v, grpo_dd_scaled_(grpo_bundle_sum_(b, bundle, g, k, NULL), -e));
    return ldexp(sqrt(grpo_variance_(&v, GRPO_STD_SAMPLE)), e);
}

static void grpo_bundle_group_(const grpo_batch *b, const int64_t *bundle, const grpo_risk *risk, int64_t g, const grpo_dd *mean,
                               grpo_real *advantage) {
    int64_t groups;
    const int64_t begin = b->group_begin[g], n = grpo_bundle_size_(b, bundle, g, &groups);
    const double s = (n > 1 ? grpo_bundle_deviation_(b, bundle, g, n) : 1) + risk->eps;
    grpo_dd lead, off;
    double gain;
    int overflow = 0;
    for (int64_t k = 0; k < grpo_group_size_(b, g); k++) {
        if (k >= n || s == 0) { grpo_put_(advantage, begin + k, 0, &overflow); continue; }
        lead = grpo_bundle_sum_(b, bundle, g, k, mean);
        gain = grpo_risk_(risk, grpo_bundle_sum_(b, bundle, g, k, NULL)) / s;
        off = grpo_dd_minus_(grpo_dd_of_((double)b->reward[begin + k]), mean[g]);
        gain *= grpo_dd_less(grpo_1e_minus_6_, lead.hi < 0 ? grpo_dd_negative(lead) : lead) ? off.hi / lead.hi : 1 / (double)groups;
        grpo_put_(advantage, begin + k, gain, &overflow);
    }
}

/* member numbers in declaration order */
static grpo_status grpo_check_risk_(const grpo_risk *x, int place) {
    grpo_status st = grpo_check_member_(x->low, GRPO_MODERATE_, place, 0);
    if (!st) st = grpo_check_member_(x->high, GRPO_MODERATE_, place, 1);
    if (!st && x->low > x->high) st = grpo_refuse_(GRPO_TOO_SMALL, place, 1);
    if (!st) st = grpo_check_member_(x->a, GRPO_MODERATE_FACTOR_, place, 2);
    if (!st) st = grpo_check_member_(x->c, GRPO_MODERATE_, place, 3);
    if (!st) st = grpo_check_member_(x->omega, GRPO_MODERATE_FACTOR_, place, 4);
    if (!st) st = grpo_check_member_(x->eps, GRPO_MODERATE_FACTOR_, place, 5);
    if (!st && !(x->a + x->eps > 0)) st = grpo_refuse_(GRPO_NOT_POSITIVE, place, 5);
    return !st && !(x->a < x->c) ? grpo_refuse_(GRPO_TOO_SMALL, place, 3) : st;
}

grpo_status grpo_bundle_advantage(const grpo_batch *batch, const int64_t *bundle, const grpo_risk *risk, grpo_dd *scratch,
                                  grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 5);
    if (!st) st = grpo_check_output_(risk, 3);
    if (!st) st = grpo_check_risk_(risk, 3);
    if (!st) st = grpo_check_not_null_(bundle, batch->n_groups, 2);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 4);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (!st) st = GRPO_DISJOINT_(advantage, grpo_end_sequence_(batch), 5, batch->reward, grpo_end_sequence_(batch), GRPO_AT_reward_);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        grpo_sum sum;
        memset(&sum, 0, sizeof sum);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) grpo_sum_add_(&sum, (double)batch->reward[i]);
        scratch[g] = grpo_dd_div(grpo_sum_dd_(&sum), (double)grpo_group_size_(batch, g));
    }
    for (int64_t g = 0; g < batch->n_groups; g++) grpo_bundle_group_(batch, bundle, risk, g, scratch, advantage);
    return GRPO_OK;
}

/* mean reward times distinct classes over size */
static grpo_dd grpo_set_value_(const double *reward, const int64_t *klass, const int64_t *member, int64_t size) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t j, k, distinct = 0;
    for (k = 0; k < size; k++) {
        grpo_sum_add_(&sum, reward[member[k]]);
        for (j = 0; j < k && klass[member[j]] != klass[member[k]]; j++) { }
        distinct += j == k;
    }
    return grpo_dd_round_96_(grpo_dd_div(grpo_dd_div(grpo_dd_mul(grpo_sum_dd_(&sum), (double)distinct), (double)size), (double)size));
}

static grpo_status grpo_check_sets_(const int64_t *member, const int64_t *set_begin, int64_t n_sets, int64_t n) {
    if (set_begin[0] < 0) return grpo_refuse_(GRPO_NEGATIVE, 5, 0);
    for (int64_t s = 0; s < n_sets; s++) if (set_begin[s + 1] <= set_begin[s]) return grpo_refuse_(GRPO_NOT_INCREASING, 5, s + 1);
    for (int64_t k = set_begin[0]; k < set_begin[n_sets]; k++)
        if (member[k] < 0 || member[k] >= n) return grpo_refuse_(GRPO_OUT_OF_RANGE, 4, k);
    return GRPO_OK;
}

grpo_status grpo_set_advantage(const double *reward, const int64_t *klass, int64_t n, const int64_t *member, const int64_t *set_begin,
                               int64_t n_sets, double *advantage) {
    grpo_values v;
    grpo_dd f, mean;
    grpo_status st = grpo_check_output_(advantage, 7);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_count_(n_sets, 0, 6);
    if (st || n_sets == 0) return st;
    if (!st) st = grpo_check_output_(klass, 2);
    if (!st) st = grpo_check_output_(member, 4);
    if (!st) st = grpo_check_output_(set_begin, 5);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_sets_(member, set_begin, n_sets, n);
    if (!st) st = GRPO_DISJOINT_(advantage, n_sets, 7, reward, n, GRPO_AT_ARGUMENT_ + 1);
    if (st) return st;
    memset(&v, 0, sizeof v);
    for (int64_t s = 0; s < n_sets; s++)
        grpo_values_take_(&v, grpo_set_value_(reward, klass, member + set_begin[s], set_begin[s + 1] - set_begin[s]));
    mean = grpo_dd_div(grpo_sum_dd_(&v.sum), (double)n_sets);
    for (int64_t s = 0; s < n_sets; s++) {
        f = grpo_set_value_(reward, klass, member + set_begin[s], set_begin[s + 1] - set_begin[s]);
        advantage[s] = grpo_dd_same_(v.min, v.max) ? 0 : grpo_dd_minus_(f, mean).hi;
    }
    return GRPO_OK;
}

grpo_status grpo_reference_advantage(const double *reward, int64_t n, double reference_reward, double beta, double lambda,
                                     int with_reference, double *advantage, double *reference) {
    grpo_status st = grpo_check_output_(advantage, 7);
    const grpo_dd y = grpo_dd_of_(reference_reward);
    const double more = (double)n + 1;
    grpo_values v;
    grpo_dd mean, own, last;
    double most = with_reference ? fabs(reference_reward) : 0, s;
    int e;
    if (!st) st = grpo_check_output_(reference, 8);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(reference_reward, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(beta, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(lambda, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = GRPO_DISJOINT_(advantage, n, 7, reference, 1, GRPO_AT_ARGUMENT_ + 8);
    if (st) return st;
    for (int64_t i = 0; i < n; i++) if (fabs(reward[i]) > most) most = fabs(reward[i]);
    e = grpo_square_exponent_(most);
    memset(&v, 0, sizeof v);
    for (int64_t i = 0; i < n; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp(reward[i], -e)));
    own = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v.sum), n > 0 ? (double)n : 1), e);
    if (with_reference) grpo_values_take_(&v, grpo_dd_scaled_(y, -e));
    mean = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v.sum), v.count > 0 ? (double)v.count : 1), e);
    s = ldexp(sqrt(grpo_variance_(&v, GRPO_STD_POPULATION)), e);
    for (int64_t i = 0; i < n; i++) {
        const grpo_dd off = grpo_dd_minus_(grpo_dd_of_(reward[i]), mean);
        advantage[i] = s > 0 ? grpo_dd_product(grpo_two_sum(1, lambda), grpo_dd_div(grpo_dd_mul(off, more), (double)n)).hi / s : 0;
    }
    last = grpo_dd_mul(grpo_dd_minus_(y, mean), beta);
    if (with_reference) last = grpo_dd_minus_(last, grpo_dd_mul(grpo_dd_minus_(own, mean), lambda));        /* else mean A = 0 */
    *reference = s > 0 ? grpo_dd_mul(last, more).hi / s : 0;
    return GRPO_OK;
}

/* for a group of G = size: each token has process_coef (x G - process_sum)/(G - 1), process_sum of the responses' means; each response once
 * outcome_coef (r G - outcome_sum)/(G - 1) */
typedef struct { const grpo_real *process; double process_coef, outcome_coef, size; grpo_dd process_sum, outcome_sum; } grpo_implicit_;

static grpo_dd grpo_against_others_(double x, grpo_dd sum, double size, double coef) {
    return grpo_dd_mul(grpo_dd_div(grpo_dd_minus_(grpo_two_prod(x, size), sum), size - 1), coef);
}

static void grpo_implicit_response_(const grpo_batch *b, int64_t i, const grpo_implicit_ *x, grpo_real *advantage) {
    grpo_dd sum = grpo_against_others_((double)b->reward[i], x->outcome_sum, x->size, x->outcome_coef);
    int overflow = 0;
    for (int64_t t = b->offset[i] + b->length[i] - 1; t >= b->offset[i]; t--) {
        if (!grpo_is_unmasked_(b, t)) { advantage[t] = 0; continue; }
        sum = grpo_dd_add(sum, grpo_against_others_((double)x->process[t], x->process_sum, x->size, x->process_coef));
        grpo_put_(advantage, t, sum.hi, &overflow);
    }
}

grpo_status grpo_implicit_advantage(const grpo_batch *batch, const grpo_real *process, double process_coef, double outcome_coef,
                                    grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 5);
    grpo_implicit_ x;
    int64_t begin, end;
    if (!st) st = grpo_check_number_(process_coef, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(outcome_coef, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_tokens_(batch, process, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++)
        if (grpo_group_size_(batch, g) < 2) return grpo_status_at_(GRPO_LONE_RESPONSE, GRPO_AT_group_, g);
    x.process = process; x.process_coef = process_coef; x.outcome_coef = outcome_coef;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        grpo_sum means;
        begin = batch->group_begin[g]; end = batch->group_begin[g + 1];
        memset(&means, 0, sizeof means);
        for (int64_t i = begin; i < end; i++) grpo_sum_add_dd_(&means, grpo_response_mean_(batch, process, NULL, i));
        x.size = (double)(end - begin);
        x.process_sum = grpo_sum_dd_(&means);
        x.outcome_sum = grpo_dd_mul(grpo_group_mean_(batch, g), x.size);
        for (int64_t i = begin; i < end; i++) grpo_implicit_response_(batch, i, &x, advantage);
    }
    return GRPO_OK;
}

grpo_status grpo_hardness_advantage(const grpo_batch *batch, double slope, double offset, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 4);
    int overflow = 0;
    if (!st) st = grpo_check_number_(slope, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(offset, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_dd mean = grpo_group_mean_(batch, g), hard = grpo_dd_add(grpo_dd_mul(mean, slope), grpo_dd_of_(offset));
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_dd_product(grpo_dd_minus_(grpo_dd_of_((double)batch->reward[i]), mean), hard).hi, &overflow);
    }
    return GRPO_OK;
}

/* of a group: an advantage is (r - mean)/divisor, 0 if all rewards are equal; by: the divisor to twice the precision */
typedef struct { grpo_dd mean, by; double divisor; int equal; } grpo_reward_moments_;

static double grpo_standardised_reward_(const grpo_reward_moments_ *s, double r) {
    return s->equal ? 0 : grpo_dd_minus_(grpo_dd_of_(r), s->mean).hi / s->divisor;
}

/* 1 if the magnitude of r's advantage is at least limit, up to 2^-90: the rounding of mean and deviation */
static int grpo_reward_reaches_(const grpo_reward_moments_ *s, double r, double limit) {
    const grpo_dd off = grpo_dd_minus_(grpo_dd_of_(r), s->mean), size = off.hi < 0 ? grpo_dd_negative(off) : off;
    if (s->equal || limit == HUGE_VAL) return 0;
    return grpo_dd_minus_(grpo_dd_mul(s->by, limit), size).hi <= ldexp(size.hi, -90);
}

/* over the rewards of the group's unmasked tokens (by_token), or of its responses */
static grpo_reward_moments_ grpo_group_reward_moments_(const grpo_batch *b, int64_t g, int by_token, double eps, int scaled) {
    const grpo_std_kind kind = by_token ? GRPO_STD_POPULATION : GRPO_STD_SAMPLE;
    grpo_values v = GRPO_NO_VALUES_;
    grpo_reward_moments_ s;
    double most = 0;
    int e;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        if (fabs((double)b->reward[i]) > most && (!by_token || grpo_unmasked_(b, i) > 0)) most = fabs((double)b->reward[i]);
    e = grpo_square_exponent_(most);
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++)
        grpo_values_repeat_(&v, ldexp((double)b->reward[i], -e), by_token ? grpo_unmasked_(b, i) : 1);
    s.equal = v.count == 0 || grpo_dd_same_(v.min, v.max);
    s.mean = grpo_dd_scaled_(grpo_dd_div(grpo_sum_dd_(&v.sum), v.count ? (double)v.count : 1), e);
    s.divisor = scaled ? ldexp(sqrt(grpo_variance_(&v, kind)), e) + eps : 1;
    s.by = scaled ? grpo_dd_add(grpo_values_deviation_(&v, kind, e), grpo_dd_of_(eps)) : grpo_dd_of_(1);
    return s;
}

grpo_status grpo_token_advantage(const grpo_batch *batch, double eps, double limit, int scaled, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 5);
    int64_t i;
    int beyond, overflow = 0;
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_number_(limit, GRPO_POSITIVE_BOUND_, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        grpo_reward_moments_ s = grpo_group_reward_moments_(batch, g, 1, eps, scaled);
        for (beyond = 0, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            beyond |= grpo_unmasked_(batch, i) > 0 && grpo_reward_reaches_(&s, (double)batch->reward[i], limit);
        if (beyond) s = grpo_group_reward_moments_(batch, g, 0, eps, scaled);
        for (i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_standardised_reward_(&s, (double)batch->reward[i]), &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_future_success_advantage(const double *reward, int64_t n, double *advantage) {
    grpo_dd later = grpo_dd_of_(0), more;
    double r;
    grpo_status st = grpo_check_output_(advantage, 3);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (st) return st;
    for (int64_t i = n - 1; i >= 0; i--) {
        r = reward[i];                                                  /* read before advantage, which may be the same array, is written */
        more = grpo_dd_div(later, i < n - 1 ? (double)(n - 1 - i) : 1);
        advantage[i] = grpo_dd_mul(grpo_dd_add(grpo_dd_of_(1), more), r).hi;
        later = grpo_dd_add(later, grpo_dd_of_(r));
    }
    return GRPO_OK;
}

/* a + b, also if one is 0 */
static grpo_power_ grpo_power_plus_(grpo_power_ a, grpo_power_ b) { return a.m.hi == 0 ? b : b.m.hi == 0 ? a : grpo_power_sum_(a, b); }

static grpo_dd grpo_power_value_(grpo_power_ x) {
    const int e = x.e > 4000 ? 4000 : x.e < -4000 ? -4000 : (int)x.e;
    grpo_dd r;
    r.hi = ldexp(x.m.hi, e);
    r.lo = grpo_is_finite(r.hi) ? ldexp(x.m.lo, e) : 0;
    return r;
}

static grpo_power_ grpo_power_from_(double x) { return grpo_power_of_(grpo_dd_of_(x), 0); }

/* W from the discounted sum of the earlier advantages, with `inclusive` up to the present one */
static grpo_power_ grpo_coplayer_weight_(const grpo_coplayer *c, grpo_power_ sum, int64_t t) {
    grpo_power_ weight = grpo_power_product_(grpo_power_from_(c->weight_gamma), sum);
    grpo_dd x;
    if (c->per_step) weight = grpo_power_of_(grpo_dd_div(weight.m, (double)t + 1), weight.e);
    x = grpo_power_value_(weight);
    if (c->clip > 0 && grpo_dd_exceeds(x.hi < 0 ? grpo_dd_negative(x) : x, c->clip))
        weight = grpo_power_from_(x.hi < 0 ? -c->clip : c->clip);
    if (c->sign) weight = grpo_power_from_((weight.m.hi > 0) - (weight.m.hi < 0));
    return weight;
}

/* sums and products of discounts are grpo_power_: the discount of a late step may be smaller than any double and still be multiplied by a
 * large number */
grpo_status grpo_alignment_advantage(const double *own, const double *other, int64_t n, const grpo_coplayer *how, double *credit) {
    grpo_power_ past = grpo_power_from_(0), discount = grpo_power_from_(1), with, x;
    grpo_status st = grpo_check_output_(credit, 5);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_output_(how, 4);
    if (st) return st;
    st = grpo_check_member_(how->gamma, GRPO_PART_, 4, 0);
    if (!st) st = grpo_check_member_(how->weight_gamma, GRPO_PART_, 4, 1);
    if (!st) st = grpo_check_member_(how->beta, GRPO_MODERATE_, 4, 2);
    if (!st) st = grpo_check_member_(how->clip, GRPO_MODERATE_FACTOR_, 4, 3);
    if (!st) st = grpo_check_list_(own, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(other, n, GRPO_MODERATE_, 2);
    if (st) return st;
    for (int64_t t = 0; t < n; t++) {
        with = grpo_power_plus_(past, grpo_power_from_(own[t]));
        x = grpo_power_product_(grpo_coplayer_weight_(how, how->inclusive ? with : past, t), grpo_power_from_(other[t]));
        x = grpo_power_plus_(grpo_power_from_(own[t]), grpo_power_product_(grpo_power_from_(how->beta), x));
        credit[t] = grpo_power_value_(grpo_power_product_(x, discount)).hi;
        past = grpo_power_product_(with, grpo_power_from_(how->weight_gamma));
        if (how->discount) discount = grpo_power_product_(discount, grpo_power_from_(how->gamma));
    }
    return GRPO_OK;
}

/* alpha B */
static grpo_dd grpo_project_part_(double adv, double alpha, int positive) {
    return positive && !(adv > 0) ? grpo_dd_of_(0) : grpo_two_prod(alpha, adv);
}

grpo_status grpo_projected_advantage(const double *advantage, int64_t n, const double *basis, int64_t k, double alpha, int positive,
                                   grpo_dd *scratch, double *shaped) {
    grpo_status st = grpo_check_output_(shaped, 8);
    int64_t i;
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_count_(k, 0, 4);
    if (!st && n > 0 && k > INT64_MAX / n) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 4, -1);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(basis, n * k, GRPO_UP_TO_1E75_, 3);
    if (!st) st = grpo_check_not_null_(scratch, n > 0 && k > 0, 7);
    if (st) return st;
    for (int64_t j = 0; j < k; j++)                                             /* P (A - alpha B) + alpha B */
        for (scratch[j] = grpo_dd_of_(0), i = 0; i < n; i++) {
            const grpo_dd x = grpo_dd_minus_(grpo_dd_of_(advantage[i]), grpo_project_part_(advantage[i], alpha, positive));
            if (basis[j * n + i] != 0) scratch[j] = grpo_dd_add(scratch[j], grpo_dd_mul(x, basis[j * n + i]));
        }
    for (i = 0; i < n; i++) {
        grpo_dd x = grpo_project_part_(advantage[i], alpha, positive);
        for (int64_t j = 0; j < k; j++) if (basis[j * n + i] != 0) x = grpo_dd_add(x, grpo_dd_mul(scratch[j], basis[j * n + i]));
        shaped[i] = x.hi;
    }
    return GRPO_OK;
}

/* sum over the children of k of softmax(alpha logp) R */
static grpo_dd grpo_branch_expected_(const int64_t *parent, const double *logp, int64_t n, int64_t k, double alpha,
                                     const grpo_branch *node) {
    grpo_sum sum, whole;
    grpo_dd top = { -HUGE_VAL, 0 };
    memset(&sum, 0, sizeof sum);
    memset(&whole, 0, sizeof whole);
    for (int64_t c = k + 1; c < n; c++)
        if (parent[c] == k && grpo_dd_less(top, grpo_two_prod(alpha, logp[c]))) top = grpo_two_prod(alpha, logp[c]);
    for (int64_t c = k + 1; c < n; c++) {
        double share;
        if (parent[c] != k) continue;
        share = grpo_exp(grpo_dd_minus_(grpo_two_prod(alpha, logp[c]), top));
        grpo_sum_add_(&whole, share);
        if (share > 0) grpo_sum_add_dd_(&sum, grpo_dd_mul(node[c].value, share));
    }
    return grpo_dd_round_96_(grpo_dd_quotient(grpo_sum_dd_(&sum), grpo_sum_dd_(&whole)));
}

/* finds depth, number of leaves below (1 at a leaf) and R of every node; returns the number of depths */
static int64_t grpo_branch_values_(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                   double alpha, grpo_branch *node) {
    int64_t k, depths = 0;
    for (k = 0; k < n; k++) {
        node[k].value = grpo_dd_of_(0);
        node[k].leaves = 0;
        node[k].depth = k == 0 ? 0 : node[parent[k]].depth + 1;
        if (node[k].depth >= depths) depths = node[k].depth + 1;
    }
    for (k = n - 1; k >= 0; k--) {                                      /* value holds the sum over the leaves first */
        const int leaf = node[k].leaves == 0;
        if (leaf) { node[k].leaves = 1; node[k].value = grpo_dd_of_(reward[k]); }
        if (k > 0) node[parent[k]].leaves += node[k].leaves;
        if (k > 0 && form == GRPO_BRANCH_LEAVES) node[parent[k]].value = grpo_dd_add(node[parent[k]].value, node[k].value);
        if (!leaf && form == GRPO_BRANCH_PROBABILITY) node[k].value = grpo_branch_expected_(parent, logp, n, k, alpha, node);
    }
    for (k = 0; k < n && form == GRPO_BRANCH_LEAVES; k++)
        node[k].value = grpo_dd_round_96_(grpo_dd_div(node[k].value, (double)node[k].leaves));
    return depths;
}

static grpo_status grpo_check_branches_(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form) {
    grpo_status st = grpo_check_not_null_(parent, n, 1);
    if (!st) st = grpo_check_not_null_(reward, n, 2);
    for (int64_t k = 0; !st && k < n; k++)
        if (parent[k] >= k || parent[k] < (k == 0 ? -1 : 0)) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 1, k);
    for (int64_t k = 0; !st && k < n; k++)
        if (!grpo_in_domain_(reward[k], GRPO_MODERATE_) && !grpo_has_child_(parent, n, k))
            st = grpo_check_member_(reward[k], GRPO_MODERATE_, 2, k);
    if (form != GRPO_BRANCH_PROBABILITY) return st;
    if (!st) st = grpo_check_not_null_(logp, n, 3);
    for (int64_t k = 1; !st && k < n; k++) st = grpo_check_member_(logp[k], GRPO_MODERATE_, 3, k);
    return st;
}

grpo_status grpo_branch_advantage(const int64_t *parent, const double *reward, const double *logp, int64_t n, grpo_branch_form form,
                                  double alpha, grpo_branch *scratch, double *advantage) {
    grpo_status st = grpo_check_output_(advantage, 8);
    int64_t depths;
    if (!st) st = grpo_check_choice_((int)form, 2, 5);
    if (!st) st = grpo_check_count_(n, 0, 4);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_, 6);
    if (!st) st = grpo_check_branches_(parent, reward, logp, n, form);
    if (!st) st = grpo_check_not_null_(scratch, n, 7);
    if (st) return st;
    depths = grpo_branch_values_(parent, reward, logp, n, form, alpha, scratch);
    for (int64_t depth = 0; depth < depths; depth++) {
        grpo_values v;
        grpo_dd mean, s;
        memset(&v, 0, sizeof v);
        for (int64_t k = 0; k < n; k++) if (scratch[k].depth == depth) grpo_values_take_(&v, scratch[k].value);
        mean = grpo_dd_div(grpo_sum_dd_(&v.sum), (double)v.count);
        s = grpo_values_deviation_(&v, GRPO_STD_SAMPLE, 0);
        for (int64_t k = 0; k < n; k++)
            if (scratch[k].depth == depth)
                advantage[k] = grpo_dd_less(s, grpo_1e_minus_6_) ? 0 : grpo_dd_minus_(scratch[k].value, mean).hi / (s.hi + 1e-8);
    }
    return GRPO_OK;
}

static double grpo_collapsed_(double r) { return r == 1 ? 1 : r == 0 ? -1 : 0; }

grpo_status grpo_collapsed_advantage(const grpo_batch *batch, double eps, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 3);
    int overflow = 0;
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_mean_deviation_of_ x = grpo_reward_spread_(batch, g, GRPO_STD_SAMPLE);
        const int alone = grpo_group_size_(batch, g) == 1, equal = !grpo_rewards_differ_(batch, g);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            double adv = alone ? r : grpo_collapsed_(r);
            if (!equal) adv = grpo_dd_quotient(grpo_dd_minus_(grpo_dd_of_(r), x.mean), grpo_dd_add(x.deviation, grpo_dd_of_(eps))).hi;
            grpo_put_(advantage, i, adv, &overflow);
        }
    }
    return GRPO_OK;
}

/* w e^x 2^-up, without overflow or underflow on the way; 0 for w = 0 */
static grpo_dd grpo_times_power_(grpo_dd w, grpo_dd x, int up) {
    const grpo_dd root = grpo_exp_twice(grpo_dd_scaled_(x, -1));
    int own;
    if (w.hi == 0) return w;
    (void)frexp(w.hi, &own);
    w = grpo_dd_product(grpo_dd_scaled_(w, -own), root);
    return grpo_dd_product(grpo_dd_scaled_(w, own - up), root);
}

grpo_status grpo_variant_advantage(const double *advantage, const double *difficulty, const double *mean, int64_t n, double k,
                                   double *weighted) {
    grpo_status st = grpo_check_output_(weighted, 6);
    if (!st) st = grpo_check_count_(n, 0, 4);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(difficulty, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_list_(mean, n, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(k, GRPO_MODERATE_, 5);
    if (st) return st;
    for (int64_t j = 0; j < n; j++) {
        const grpo_dd x = grpo_dd_mul(grpo_two_diff(difficulty[j], mean[j]), advantage[j] < 0 ? -k : k);
        weighted[j] = grpo_times_power_(grpo_dd_of_(advantage[j]), x, 0).hi;
    }
    return GRPO_OK;
}

grpo_status grpo_step_weight_advantage(const double *advantage, const double *weight, int64_t n, double *weighted) {
    grpo_status st = grpo_check_output_(weighted, 4);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(weight, n, GRPO_PART_, 2);
    if (st) return st;
    for (int64_t k = 0; k < n; k++)
        weighted[k] = grpo_dd_mul(advantage[k] < 0 ? grpo_two_diff(2, weight[k]) : grpo_dd_of_(weight[k]), advantage[k]).hi;
    return GRPO_OK;
}

/* the state of node k, once those of its children are known */
static grpo_tree_state grpo_tree_state_(const int64_t *parent, const double *reward, int64_t n, int64_t k, double gamma,
                                        grpo_tree_advantage_form form, const grpo_tree_state *of) {
    grpo_tree_state s = { { 0, 0 }, 0, 0 };
    grpo_sum sum;
    memset(&sum, 0, sizeof sum);
    for (int64_t c = k + 1; c < n; c++) {
        if (parent[c] != k) continue;
        if (form == GRPO_TREE_TD) grpo_sum_add_(&sum, reward[c]);
        grpo_sum_add_dd_(&sum, form == GRPO_TREE_TD ? grpo_dd_mul(of[c].value, gamma) : of[c].value);
        s.children++;
        s.leaves += of[c].leaves;
    }
    if (s.children) s.value = grpo_dd_div(grpo_sum_dd_(&sum), (double)s.children);
    else { s.leaves = 1; s.value = grpo_dd_of_(form == GRPO_TREE_TD ? 0 : reward[k]); }
    return s;
}

static double grpo_tree_difference_(const int64_t *parent, const double *reward, const double *value, int64_t k, double gamma,
                                    const grpo_tree_state *of) {
    const int64_t up = parent[k];
    const int alone = of[up].children == 1;
    grpo_dd x = grpo_dd_mul(alone ? grpo_dd_of_(value[k]) : of[k].value, gamma);
    x = grpo_dd_add(grpo_dd_of_(reward[k]), x);
    return grpo_divide_(grpo_dd_minus_(x, alone ? grpo_dd_of_(value[up]) : of[up].value), (double)of[k].leaves);
}

/* V - mean V of the other children of its parent */
static double grpo_sibling_difference_(const int64_t *parent, int64_t n, int64_t k, const grpo_tree_state *of) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t c, others = of[parent[k]].children - 1;
    for (c = 0; c < n; c++) if (c != k && parent[c] == parent[k]) grpo_sum_add_dd_(&sum, of[c].value);
    return others ? grpo_dd_minus_(of[k].value, grpo_dd_div(grpo_sum_dd_(&sum), (double)others)).hi : of[k].value.hi;
}

static grpo_status grpo_check_tree_(const int64_t *parent, const double *reward, const double *value, int64_t n,
                                    grpo_tree_advantage_form form) {
    grpo_status st = grpo_check_not_null_(parent, n, 1);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 2);
    if (!st && form == GRPO_TREE_TD) st = grpo_check_list_(value, n, GRPO_MODERATE_, 3);
    for (int64_t k = 0; !st && k < n; k++) if (parent[k] < -1 || parent[k] >= k) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 1, k);
    return st;
}

grpo_status grpo_tree_advantage(const int64_t *parent, const double *reward, const double *value, int64_t n, double gamma,
                                grpo_tree_advantage_form form, grpo_tree_state *scratch, double *advantage) {
    grpo_status st = grpo_check_output_(advantage, 8);
    if (!st) st = grpo_check_count_(n, 0, 4);
    if (!st) st = grpo_check_choice_((int)form, 3, 6);
    if (!st) st = grpo_check_tree_(parent, reward, value, n, form);
    if (!st) st = grpo_check_not_null_(scratch, n, 7);
    if (!st) st = grpo_check_number_(gamma, GRPO_MODERATE_, 5);
    if (!st && form == GRPO_TREE_TD) st = GRPO_DISJOINT_(advantage, n, 8, value, n, GRPO_AT_ARGUMENT_ + 3);
    if (st) return st;
    for (int64_t k = n - 1; k >= 0; k--) scratch[k] = grpo_tree_state_(parent, reward, n, k, gamma, form, scratch);
    for (int64_t k = 0; k < n; k++) {
        if (parent[k] < 0) advantage[k] = 0;
        else if (form == GRPO_TREE_TD) advantage[k] = grpo_tree_difference_(parent, reward, value, k, gamma, scratch);
        else if (form == GRPO_TREE_SIBLINGS) advantage[k] = grpo_sibling_difference_(parent, n, k, scratch);
        else advantage[k] = grpo_dd_minus_(scratch[k].value, scratch[parent[k]].value).hi;
    }
    return GRPO_OK;
}

/* PT(v) = gain tanh(beta v) */
static grpo_dd grpo_anchored_(const grpo_anchors *a, grpo_dd v) {
    const grpo_dd x = grpo_dd_mul(v, a->beta);
    double t = tanh(x.hi);
    if (grpo_is_finite(x.hi)) t += (1 - t * t) * x.lo;
    return grpo_two_prod(v.hi < 0 ? a->gain_neg : a->gain_pos, t);
}

/* d: the scaled distance from the goal */
static grpo_dd grpo_from_goal_(const grpo_anchors *a, double r, grpo_dd mean, double constraints, double n) {
    grpo_dd goal = grpo_dd_of_(0.5), root = grpo_dd_of_(constraints);
    if (a->form == GRPO_ANCHORS_CODE) {
        if (grpo_dd_less(goal, mean)) goal = mean;
        root = grpo_dd_div(root, n);
    }
    return grpo_dd_mul(grpo_dd_product(grpo_sqrt_twice_(root), grpo_dd_minus_(grpo_dd_of_(r), goal)), 2);
}

/* member numbers in declaration order */
static grpo_status grpo_check_anchors_(const grpo_anchors *a, int place) {
    const double members[] = { a->alpha, a->beta, a->gain_pos, a->gain_neg };
    grpo_status st = GRPO_OK;
    for (int k = 0; !st && k < 4; k++) st = grpo_check_member_(members[k], GRPO_MODERATE_, place, k);
    return !st && (int)a->form != GRPO_ANCHORS_PAPER && (int)a->form != GRPO_ANCHORS_CODE ? grpo_refuse_(GRPO_NOT_A_CHOICE, place, 4) : st;
}

grpo_status grpo_two_anchor_advantage(const grpo_batch *batch, const double *constraints, const grpo_anchors *anchors,
                                      grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 4);
    int overflow = 0;
    if (!st) st = grpo_check_output_(anchors, 3);
    if (!st) st = grpo_check_anchors_(anchors, 3);
    if (!st) st = grpo_check_responses_(batch, constraints, GRPO_AT_LEAST_ONE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_mean_deviation_of_ x = grpo_reward_spread_(batch, g, GRPO_STD_POPULATION);
        const grpo_dd s = grpo_dd_less(x.deviation, grpo_1e_minus_8_) ? grpo_1e_minus_8_ : x.deviation;
        const double n = (double)grpo_group_size_(batch, g);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const double r = (double)batch->reward[i];
            grpo_dd z = grpo_dd_quotient(grpo_dd_minus_(grpo_dd_of_(r), x.mean), s);
            const grpo_dd d = grpo_from_goal_(anchors, r, x.mean, constraints[i], n);
            if (x.deviation.hi == 0) z = grpo_dd_of_(0);
            z = grpo_dd_product(grpo_two_diff(1, anchors->alpha), grpo_anchored_(anchors, z));
            grpo_put_(advantage, i, grpo_dd_add(z, grpo_dd_mul(grpo_anchored_(anchors, d), anchors->alpha)).hi, &overflow);
        }
    }
    return GRPO_OK;
}

static double grpo_calibrated_(const grpo_batch *b, int64_t g, int64_t i, const uint8_t *correct, double temperature, const grpo_dd *mean) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t j = b->group_begin[g]; j < b->group_begin[g + 1]; j++) {
        const grpo_dd ahead = correct[i] ? grpo_dd_minus_(mean[i], mean[j]) : grpo_dd_minus_(mean[j], mean[i]);
        if (!correct[j] == !correct[i] || !grpo_unmasked_(b, j)) continue;
        grpo_sum_add_(&sum, -grpo_logistic_loss(grpo_dd_div(ahead, temperature)).slope);
    }
    return grpo_sum_value_(&sum) / (correct[i] ? temperature : -temperature);
}

grpo_status grpo_calibration_advantage(const grpo_batch *batch, const uint8_t *correct, double temperature, grpo_dd *scratch,
                                      grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 5);
    int overflow = 0;
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 3);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 4);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_LOGP_);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        scratch[i] = grpo_response_mean_(batch, batch->logp, NULL, i);
    for (int64_t g = 0; g < batch->n_groups; g++)
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(advantage, i, grpo_unmasked_(batch, i) ? grpo_calibrated_(batch, g, i, correct, temperature, scratch) : 0, &overflow);
    return GRPO_OK;
}

/* adds, for each member of the subset (of this size), its standardised reward to sum */
static void grpo_add_subset_(const double *reward, int64_t n, uint32_t subset, int size, double eps, grpo_dd *sum) {
    grpo_dd off[20], mean = { 0, 0 }, squares = { 0, 0 };
    double s, first = 0, largest = 0;
    int any = 0, equal = 1, e;
    for (int64_t k = 0; k < n; k++) {
        if (!(subset >> k & 1)) continue;
        if (any && reward[k] != first) equal = 0;
        if (!any) first = reward[k];
        any = 1;
        if (fabs(reward[k]) > largest) largest = fabs(reward[k]);
    }
    if (equal) return;
    e = grpo_square_exponent_(largest);
    for (int64_t k = 0; k < n; k++) if (subset >> k & 1) mean = grpo_dd_add(mean, grpo_dd_of_(ldexp(reward[k], -e)));
    mean = grpo_dd_div(mean, (double)size);
    for (int64_t k = 0; k < n; k++) {
        if (!(subset >> k & 1)) continue;
        off[k] = grpo_dd_minus_(grpo_dd_of_(ldexp(reward[k], -e)), mean);
        squares = grpo_dd_add(squares, grpo_two_prod(off[k].hi, off[k].hi));
    }
    s = sqrt(squares.hi / (double)size) + ldexp(eps, -e);
    for (int64_t k = 0; k < n; k++) if (subset >> k & 1) sum[k] = grpo_dd_add(sum[k], grpo_dd_of_(off[k].hi / s));
}

grpo_status grpo_multi_scale_advantage(const double *reward, int64_t n, double eps, double *advantage) {
    grpo_status st = grpo_check_output_(advantage, 4);
    double count;
    grpo_dd sum[21][20], total;
    uint32_t subset, rest;
    int size;
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_POSITIVE_, 3);
    if (!st) st = grpo_check_count_(n, 2, 2);
    if (!st && n > 20) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 2, -1);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (st) return st;
    memset(sum, 0, sizeof sum);
    for (subset = 3; subset < UINT32_C(1) << n; subset++) {
        for (size = 0, rest = subset; rest; rest &= rest - 1) size++;
        if (size > 1) grpo_add_subset_(reward, n, subset, size, eps, sum[size]);
    }
    for (int64_t k = 0; k < n; k++) {
        total = grpo_dd_of_(0);
        for (count = 1, size = 2; size <= n; size++) {
            count = count * (double)(n - size + 1) / (double)(size - 1);       /* C(n - 1, size - 1) */
            total = grpo_dd_add(total, grpo_dd_div(sum[size][k], count));
        }
        advantage[k] = grpo_divide_(total, (double)(n - 1));
    }
    return GRPO_OK;
}

grpo_status grpo_hard_negative_advantage(const grpo_batch *batch, const double *utility, grpo_real *advantage, int64_t *replace) {
    grpo_status st = grpo_check_call_(batch, advantage, 3);
    if (!st) st = grpo_check_output_(replace, 4);
    if (!st) st = grpo_check_responses_(batch, utility, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        int64_t hit = batch->group_begin[g], miss = -1, least = hit, misses = 0;
        int told_apart;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            if (batch->reward[i] > batch->reward[hit]) hit = i;
            if (utility[i] < utility[least]) least = i;
            if (batch->reward[i] != 0) continue;
            misses++;
            if (miss < 0 || utility[i] > utility[miss]) miss = i;
        }
        replace[g] = misses == grpo_group_size_(batch, g) ? least : -1;
        told_apart = batch->reward[hit] > 0 && miss >= 0;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            advantage[i] = (grpo_real)(told_apart ? (i == hit) - (i == miss) : 0);
    }
    return GRPO_OK;
}

/* w = p sum_j p_j (r - r_j) of candidate k, not divided by sum p: the result times e^exponent.  The largest other probability is factored
 * out, so that only negligible terms underflow */
static grpo_dd grpo_candidate_(const double *logp_old, const double *reward, int64_t n, int64_t k, grpo_dd *exponent) {
    grpo_dd sum = { 0, 0 };
    double top = -HUGE_VAL;
    for (int64_t j = 0; j < n; j++) if (reward[j] != reward[k] && logp_old[j] > top) top = logp_old[j];
    *exponent = grpo_two_sum(logp_old[k], top);
    for (int64_t j = 0; j < n; j++)
        if (reward[j] != reward[k])
            sum = grpo_dd_add(sum, grpo_times_power_(grpo_two_diff(reward[k], reward[j]), grpo_two_diff(logp_old[j], top), 0));
    return sum;
}

/* the binary exponent of the largest |w| e^-top: small rewards would otherwise leave the w of improbable tokens below the normal range */
static int grpo_candidates_exponent_(const double *logp_old, const double *reward, int64_t n, grpo_dd top) {
    double largest = -HUGE_VAL;
    for (int64_t k = 0; k < n; k++) {
        grpo_dd e, w = grpo_candidate_(logp_old, reward, n, k, &e);
        int own;
        const double m = frexp(fabs(w.hi), &own), size = own + grpo_dd_minus_(e, top).hi * 1.4426950408889634;
        if (m > 0 && size > largest) largest = size;
    }
    return largest > -HUGE_VAL ? (int)floor(largest) : 0;
}

grpo_status grpo_position_advantage(const double *logp_old, const double *reward, int64_t n, double *advantage) {
    grpo_status st = grpo_check_output_(advantage, 4);
    grpo_dd top = { -HUGE_VAL, 0 }, size = { 0, 0 }, w, e;
    int up;
    if (!st) st = grpo_check_count_(n, 2, 3);
    if (!st) st = grpo_check_list_(logp_old, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 2);
    if (!st) st = GRPO_DISJOINT_(advantage, n, 4, logp_old, n, GRPO_AT_ARGUMENT_ + 1);
    if (!st) st = GRPO_DISJOINT_(advantage, n, 4, reward, n, GRPO_AT_ARGUMENT_ + 2);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        grpo_candidate_(logp_old, reward, n, k, &e);
        if (grpo_dd_less(top, e)) top = e;
    }
    up = grpo_candidates_exponent_(logp_old, reward, n, top);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < n; k++) {
            w = grpo_candidate_(logp_old, reward, n, k, &e);
            w = grpo_times_power_(w, grpo_dd_minus_(e, top), up);
            if (pass == 0) size = grpo_dd_add(size, w.hi < 0 ? grpo_dd_negative(w) : w);
            else advantage[k] = size.hi > 0 ? grpo_dd_quotient(w, size).hi : 0;
        }
    return GRPO_OK;
}

/* 1 if turn k is the first of its role */
static int grpo_is_first_of_role_(const int64_t *role, int64_t k) {
    int64_t j = 0;
    while (role[j] != role[k]) j++;
    return j == k;
}

static grpo_mean_deviation_of_ grpo_role_spread_(const double *reward, const int64_t *role, int64_t n, int64_t id) {
    grpo_values v = GRPO_NO_VALUES_;
    double largest = 0;
    int e;
    for (int64_t k = 0; k < n; k++) if (role[k] == id && fabs(reward[k]) > largest) largest = fabs(reward[k]);
    e = grpo_square_exponent_(largest);
    for (int64_t k = 0; k < n; k++) if (role[k] == id) grpo_values_take_(&v, grpo_dd_of_(ldexp(reward[k], -e)));
    return grpo_mean_and_deviation_(&v, GRPO_STD_SAMPLE, e);
}

static double grpo_role_advantage_(double r, const grpo_mean_deviation_of_ *of, grpo_role_form form) {
    grpo_dd x = grpo_dd_minus_(grpo_dd_of_(r), of->mean);
    if (form == GRPO_ROLE_MEAN) return x.hi;
    if (of->deviation.hi == 0) return 0;
    x = grpo_dd_quotient(x, grpo_dd_add(of->deviation, grpo_dd_of_(1e-6)));
    if (form == GRPO_ROLE_MEAN_STD) return x.hi;
    return x.hi < -1 ? -1 : x.hi > 3 ? 3 : x.hi;
}

grpo_status grpo_role_advantage(const double *reward, const int64_t *role, int64_t n, grpo_role_form form, double *advantage) {
    grpo_status st = grpo_check_output_(advantage, 5);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_choice_((int)form, 3, 4);
    if (!st) st = grpo_check_list_(reward, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_not_null_(role, n, 2);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        grpo_mean_deviation_of_ of;
        if (!grpo_is_first_of_role_(role, k)) continue;
        of = grpo_role_spread_(reward, role, n, role[k]);
        for (int64_t j = k; j < n; j++) if (role[j] == role[k]) advantage[j] = grpo_role_advantage_(reward[j], &of, form);
    }
    return GRPO_OK;
}

static grpo_dd grpo_reward_from_(const grpo_batch *b, int64_t i, const double *centre) {   /* r, or |r - centre| */
    const grpo_dd d = grpo_two_diff((double)b->reward[i], centre ? *centre : 0);
    return centre && d.hi < 0 ? grpo_dd_negative(d) : d;
}

/* the floor((n + 1)/2)-th of the n numbers in ascending order */
static grpo_dd grpo_lower_median_(const grpo_batch *b, int64_t g, const double *centre) {
    const int64_t begin = b->group_begin[g], end = b->group_begin[g + 1], place = (end - begin - 1) / 2;
    int64_t j, below, same;
    grpo_dd x = { 0, 0 }, y;
    for (int64_t i = begin; i < end; i++) {
        x = grpo_reward_from_(b, i, centre);
        for (below = same = 0, j = begin; j < end; j++) {
            y = grpo_reward_from_(b, j, centre);
            below += grpo_dd_less(y, x);
            same += grpo_dd_same_(y, x);
        }
        if (below <= place && place < below + same) break;
    }
    return x;
}

grpo_status grpo_median_advantage(const grpo_batch *batch, double eps, double *advantage, int64_t *pivot) {
    grpo_status st = grpo_check_call_(batch, advantage, 3);
    grpo_dd d, scale;
    double median;
    int64_t i;
    if (!st) st = grpo_check_output_(pivot, 4);
    if (!st) st = grpo_check_number_(eps, GRPO_MODERATE_FACTOR_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        median = grpo_lower_median_(batch, g, NULL).hi;
        scale = grpo_dd_add(grpo_lower_median_(batch, g, &median), grpo_dd_of_(eps));
        for (pivot[g] = -1, i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            d = grpo_two_diff((double)batch->reward[i], median);
            if (d.hi == 0 && pivot[g] < 0) pivot[g] = i;
            if (d.hi == 0) advantage[i] = 0;
            else advantage[i] = scale.hi > 0 ? grpo_dd_quotient(d, scale).hi : d.hi > 0 ? HUGE_VAL : -HUGE_VAL;
        }
    }
    return GRPO_OK;
}

grpo_status grpo_mix_advantages(const double *x, const double *y, int64_t n, double a, double b, double *mixed) {
    grpo_sum sum;
    grpo_status st = grpo_check_output_(mixed, 6);
    if (!st) st = grpo_check_count_(n, 0, 3);
    if (!st) st = grpo_check_list_(x, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(y, n, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(a, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(b, GRPO_MODERATE_, 5);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        memset(&sum, 0, sizeof sum);
        grpo_sum_add_dd_(&sum, grpo_two_prod(a, x[k]));
        grpo_sum_add_dd_(&sum, grpo_two_prod(b, y[k]));
        mixed[k] = grpo_sum_value_(&sum);
    }
    return GRPO_OK;
}

/* sigmoid(after) - sigmoid(before) for after >= before, rise = after - before */
static double grpo_sigmoid_rise_(grpo_dd before, grpo_dd after, grpo_dd rise) {
    return -grpo_sigmoid(after).value * grpo_sigmoid(grpo_dd_negative(before)).value * grpo_exp_minus_one(grpo_dd_negative(rise));
}

static grpo_dd grpo_within_twice_(grpo_dd x, double most) {
    if (grpo_dd_exceeds(x, most)) return grpo_dd_of_(most);
    return grpo_dd_exceeds(grpo_dd_negative(x), most) ? grpo_dd_of_(-most) : x;
}

grpo_status grpo_odds_advantage(const grpo_batch *batch, const grpo_real *informed, const grpo_real *plain, const double *prior,
                                double evidence_max, grpo_real *advantage) {
    grpo_status st = grpo_check_call_(batch, advantage, 6);
    int overflow = 0;
    if (!st) st = grpo_check_number_(evidence_max, GRPO_MODERATE_FACTOR_, 5);
    if (!st) st = grpo_check_responses_(batch, prior, GRPO_PART_, 4);
    if (!st) st = grpo_check_tokens_(batch, informed, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 2);
    if (!st) st = grpo_check_tokens_(batch, plain, NULL, GRPO_MODERATE_, GRPO_AT_ARGUMENT_ + 3);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) {
        const int open = prior[i] > 0 && prior[i] < 1;
        grpo_dd odds = grpo_dd_of_(0), next, e;
        if (open) odds = grpo_dd_minus_(grpo_log_of(prior[i]), grpo_dd_log(grpo_two_diff(1, prior[i])));
        for (int64_t t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++) {
            if (!open || !grpo_is_unmasked_(batch, t)) { advantage[t] = 0; continue; }
            e = grpo_two_diff((double)informed[t], (double)plain[t]);
            if (evidence_max > 0) e = grpo_within_twice_(e, evidence_max);
            next = grpo_dd_add(odds, e);
            grpo_put_(advantage, t, e.hi < 0 ? -grpo_sigmoid_rise_(next, odds, grpo_dd_negative(e)) : grpo_sigmoid_rise_(odds, next, e),
                      &overflow);
            odds = next;
        }
    }
    return GRPO_OK;
}

static grpo_power_ grpo_gram_term_(const double *gram, const double *advantage, int64_t n, int64_t i, int64_t j) {
    const grpo_power_ pair = grpo_power_product_(grpo_power_from_(advantage[i]), grpo_power_from_(advantage[j]));
    return grpo_power_product_(pair, grpo_power_from_(gram[i * n + j]));
}

/* sum A_i A_j K_ij/(sum A_i^2 K_ii + 1e-9) */
static double grpo_effective_(const double *gram, const double *advantage, int64_t n) {
    grpo_power_ over = grpo_power_from_(0), under = grpo_power_from_(1e-9);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) over = grpo_power_plus_(over, grpo_gram_term_(gram, advantage, n, i, j));
        under = grpo_power_plus_(under, grpo_gram_term_(gram, advantage, n, i, i));
    }
    return grpo_power_value_(grpo_power_of_(grpo_dd_quotient(over.m, under.m), over.e - under.e)).hi;
}

/* (tr K)^2/(sum K^2 + 1e-10 n^2) */
static double grpo_participation_(const double *gram, int64_t n) {
    const int e = grpo_exponent_of_(gram, n * n);
    const double size = (double)n;
    grpo_sum trace = GRPO_NO_SUM_, squares = GRPO_NO_SUM_;
    double tr;
    for (int64_t k = 0; k < n; k++) grpo_sum_add_(&trace, ldexp(gram[k * n + k], -e));
    for (int64_t k = 0; k < n * n; k++) grpo_sum_add_square_(&squares, 1, grpo_dd_of_(ldexp(gram[k], -e)));
    tr = grpo_sum_value_(&trace);
    return tr * tr / (grpo_sum_value_(&squares) + ldexp(1e-10 * size * size, -2 * e));
}

static grpo_status grpo_check_gram_(const double *gram, int64_t n, int place) {
    grpo_status st = n > INT64_MAX / n ? grpo_refuse_(GRPO_OUT_OF_RANGE, 3, -1) : grpo_check_list_(gram, n * n, GRPO_MODERATE_, place);
    for (int64_t i = 0; !st && i < n; i++) {
        if (gram[i * n + i] < 0) st = grpo_refuse_(GRPO_NEGATIVE, place, i * n + i);
        for (int64_t j = 0; !st && j < i; j++)
            if (gram[i * n + j] != gram[j * n + i]) st = grpo_refuse_(GRPO_NOT_MIRRORED, place, i * n + j);
    }
    return st;
}

/* x rounded to an integer, halves to even, but at most `most` */
static int64_t grpo_rounded_(double x, int64_t most) {
    double low = floor(x);
    if (!(x < (double)most)) return most;
    if (x - low > 0.5 || (x - low == 0.5 && fmod(low, 2) != 0)) low++;
    return (int64_t)low;
}

grpo_status grpo_gram_rank(const double *gram, const double *advantage, int64_t n, double share, int64_t least, int64_t most, int64_t *rank,
                           double *effective) {
    int64_t k;
    grpo_status st = grpo_check_output_(rank, 7);
    if (!st) st = grpo_check_output_(effective, 8);
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_number_(share, GRPO_MODERATE_POSITIVE_, 4);
    if (!st) st = grpo_check_count_(least, 1, 5);
    if (!st) st = grpo_check_count_(most, 1, 6);
    if (!st && least > most) st = grpo_refuse_both_(GRPO_CROSSED, 5, 6, -1);
    if (!st) st = grpo_check_gram_(gram, n, 1);
    if (!st) st = grpo_check_list_(advantage, n, GRPO_MODERATE_, 2);
    if (st) return st;
    k = grpo_rounded_(share * grpo_participation_(gram, n), most < n - 1 ? most : n - 1);
    *rank = k > least ? k : least;
    *effective = grpo_effective_(gram, advantage, n);
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_CREDIT_IMPLEMENTATION */
