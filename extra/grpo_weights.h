/* grpo_weights.h - weights of tokens, responses and prompts.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_WEIGHTS_IMPLEMENTATION
 *     #include "extra/grpo_weights.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * Arrays, accuracy, overlap and statuses of all functions: see the rules at the top of extra/grpo_shared.h.  To use weights of (sequences)
 * as batch.external_weight, copy each to all tokens of its response.
 *
 * T: the number of unmasked tokens of a response; r, l, o: batch.reward, logp, logp_old; A: advantage (n_tokens); logarithms are
 * natural. */
#ifndef GRPO_WEIGHTS_H
#define GRPO_WEIGHTS_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_weights.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_sample_weights grpo_sample_weights_f64
#define grpo_teacher_gate grpo_teacher_gate_f64
#define grpo_prefix_discrepancy_weight grpo_prefix_discrepancy_weight_f64
#define grpo_soft_top_k_weight grpo_soft_top_k_weight_f64
#define grpo_probability_weight grpo_probability_weight_f64
#define grpo_conflict_weight grpo_conflict_weight_f64
#define grpo_prompt_weight grpo_prompt_weight_f64
#define grpo_invariance_weight grpo_invariance_weight_f64
#define grpo_centroid_weight grpo_centroid_weight_f64
#define grpo_agent_weights grpo_agent_weights_f64
#define grpo_centred_weights grpo_centred_weights_f64
#define grpo_consistency_weights grpo_consistency_weights_f64
#define grpo_confidence_factor grpo_confidence_factor_f64
#define grpo_surprisal_weight grpo_surprisal_weight_f64
#define grpo_difficulty_weight grpo_difficulty_weight_f64
#define grpo_covariance_weight grpo_covariance_weight_f64
#define grpo_routed_weight grpo_routed_weight_f64
#define grpo_entropy_factor grpo_entropy_factor_f64
#define grpo_semantic_entropy grpo_semantic_entropy_f64
#define grpo_dynamic_scale grpo_dynamic_scale_f64
#define grpo_length_preference_weight grpo_length_preference_weight_f64
#endif

GRPO_C_BEGIN_

/* weight (sequences) = w N/sum w over the N responses of the batch, w = (0.5 + 1.5 clamp(difficulty, 0, 1)) (1.5 - (T - Tmin)/(Tmax -
 * Tmin)), the second factor 1.5 if Tmax = Tmin, Tmin and Tmax over the batch (ROLL, 2506.06122, its code, without its 1e-8).  difficulty
 * (sequences; NULL: w has no first factor); by_length 0: w has no second factor */
grpo_status grpo_sample_weights(const grpo_batch *batch, const double *difficulty, int by_length, double *weight);

/* weight (n_tokens) = (1 - strength) + strength clip(e^(sign(A)(q - l)), 1 - clip, 1 + clip), q = batch.logp_teacher; 1 where A = 0 or
 * selected (n_tokens; NULL: set everywhere) is not set (SERL, 2605.19447, official code: strength 0.5, clip 0.2; VISD, 2605.06094) */
grpo_status grpo_teacher_gate(const grpo_batch *batch, const grpo_real *advantage, double strength, double clip, const uint8_t *selected,
                              grpo_real *weight);

/* weight (n_tokens) = 1 + gamma (1 - S_{t-1}/D), S_t the sum of |q - o| over the unmasked tokens up to t, q = batch.logp_teacher (IW-OPD,
 * 2606.22600, section 3.2: gamma 0.5) */
typedef enum {
    GRPO_DISCREPANCY_PAPER,       /* D = S_{T-1}; all weights 1 if it is 0 */
    GRPO_DISCREPANCY_TRL          /* D = S_T (TRL; its 1e-8 is left out); all weights 1 + gamma if it is 0 */
} grpo_discrepancy_form;

grpo_status grpo_prefix_discrepancy_weight(const grpo_batch *batch, double gamma, grpo_discrepancy_form form, grpo_real *weight);

/* weight (n) = min(1, e^((x - c)/temperature)), with c such that they sum to target > 0; all 1 if target >= n; normalised (n) = n
 * weight/sum weight; x (n) <= 0: log-probabilities (the soft top-K of TAWin, 2604.22504, section 3.3: temperature 1).  O(n^2) */
grpo_status grpo_soft_top_k_weight(const double *x, int64_t n, double target, double temperature, double *weight, double *normalised);

/* weight (n_tokens) = strength e^o + 1 - strength (AR of AR-Lopti, 2505.12929, official code: 0.2 by itself, 0.3 with Lopti) */
grpo_status grpo_probability_weight(const grpo_batch *batch, double strength, grpo_real *weight);

/* weight (n_tokens): a position, counted over unmasked tokens, is in conflict if the same id is there in a response with sign > 0 and in
 * one with sign < 0 of the group.  In the longest run of conflict positions from the first token on, the weight is multiplied by `inside`
 * if sign > 0, by 0 if sign < 0; so again in the longest run that ends at the last token, with positions counted from the end; elsewhere 1.
 * token (n_tokens): ids, sign (sequences): the sign of A (GTPO, 2508.03772, the paper's form: inside 2) */
grpo_status grpo_conflict_weight(const grpo_batch *batch, const int64_t *token, const int64_t *sign, double inside, grpo_real *weight);

/* weight (n_groups) of a prompt: 1 or `low`, from T = batch.length; a response is right if r > threshold; P: the largest T of the right
 * ones, Q: the mean T of the wrong ones with T < limit (ADORA, 2602.10019, official code: threshold, limit, low in brackets below) */
typedef enum {
    GRPO_PROMPT_LLM,              /* 1 if some are right, and P > Q or no response counts in Q (1.01, 4054, 0.1) */
    GRPO_PROMPT_VLM               /* 1 if none is right, or some count in Q and P > Q (0.5, 4094, 0.1) */
} grpo_prompt_form;

grpo_status grpo_prompt_weight(const grpo_batch *batch, double threshold, double limit, double low, grpo_prompt_form form, double *weight);

/* weight (sequences) = D r for responses to open prompts, 0 for those to anchors; D = (mean, over the anchors of the prompt's meta group,
 * of their mean rewards) - the prompt's own mean reward; 0 if there are no anchors (AIR, 2605.20994: it weights log pi of the response, not
 * the ratio).  meta (n_groups): any ids; anchor (n_groups): 1 for anchors */
grpo_status grpo_invariance_weight(const grpo_batch *batch, const int64_t *meta, const uint8_t *anchor, grpo_real *weight);

/* weight (n_tokens) = lambda n/sum lambda over the n unmasked tokens, lambda = low + (high - low) s, low where A = 0; all 0 if the sum of
 * lambda is 0 (DelTA, 2605.21467, official code: refine 1, low 0.8, high 1.2).  Separately for the tokens with A > 0 and those with A < 0:
 *     mu = sum |A| v/max(sum |A|, 1e-8),  M = |v - mu'|^2 - |v - mu|^2, mu' that of the other sign
 *     gamma = sqrt max(Var M, 1e-8),  s = sigmoid(M/gamma)
 * then, `refine` times: mu with |A| s in place of |A|; M from that mu; s from that M and the previous gamma; then the new gamma.
 * feature (n_tokens, width): v, at most 1e70 in magnitude, (1 - p) times the last hidden state; scratch (2 n_tokens + 2 width) */
typedef struct { int64_t width, refine; double low, high; } grpo_centroids;

grpo_status grpo_centroid_weight(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *feature, const grpo_centroids *how,
                                 grpo_dd *scratch, grpo_real *weight);

/* weight (n_tokens) = 1/(a n), a the number of different ids among the response's unmasked tokens, n the number of those with this token's
 * id; agent (n_tokens): any ids (loss scales of RLinf, 2509.15965, its code; with weight.external = term and seq_mean_token_sum all agents
 * of a response have the same weight).  O(T^2) */
grpo_status grpo_agent_weights(const grpo_batch *batch, const int64_t *agent, grpo_real *weight);

/* surrogate (sequences) = 1 + k (r - mean r), penalty (sequences) = 1 - k (r - mean r), mean over the group: weights of the surrogate and
 * of the penalty (AP-GRPO, 2602.23615, section 4.3; its k was not found) */
grpo_status grpo_centred_weights(const grpo_batch *batch, double k, grpo_real *surrogate, grpo_real *penalty);

/* local (n) = sigmoid(gamma (entropy - centre)), global (n) = 1 - local: weights of the losses with advantages relative to the prompt and
 * to the batch; entropy (n), nats, from grpo_semantic_entropy (COPO, 2508.04138, eq. 6-11: gamma 20, centre 1.5) */
grpo_status grpo_consistency_weights(const double *entropy, int64_t n, double gamma, double centre, double *local, double *global);

/* factor (n_groups) = 4 c p (1 - p) + delta over the group's responses with unmasked tokens, delta if there are none: c = e^(mean over
 * responses of the mean of o), p the share of correct (sequences) ones (CoDaPO, 2606.07950: delta 0.1; it multiplies their z-scores) */
grpo_status grpo_confidence_factor(const grpo_batch *batch, const uint8_t *correct, double delta, double *factor);

/* weight (n_tokens): all 1 if the mean of batch.entropy over the mask is not below target.  Else `up` at the ceil(share n) tokens with the
 * smallest l among the n tokens with A > 0, `down` likewise among those with A < 0, 1 elsewhere; share n as rounded to double (STARE,
 * 2606.19236: share 0.1, up 1.1, down 1 or, its C2, 0.9, target 0.3) */
grpo_status grpo_surprisal_weight(const grpo_batch *batch, const grpo_real *advantage, double share, double up, double down,
                                  double target, grpo_real *weight);

/* weight (n_groups): v softmax(-D/temperature) over the v groups whose rewards are not all equal, D the group's mean of accuracy
 * (sequences); 1 for the other groups (DGPO, 2601.20614, eq. 6: temperature 2).  A mean of 0 counts as 1, as in the authors' code */
grpo_status grpo_difficulty_weight(const grpo_batch *batch, const double *accuracy, double temperature, double *weight);

/* weight (n_tokens) = w n/sum w over the n unmasked tokens of the group, w = e^(-c^2/(2 s^2)), c = (l - mean l)(A - mean A), its population
 * deviation s and the means over the batch; all 1 if all c are equal (CW-GRPO, 2605.11538) */
grpo_status grpo_covariance_weight(const grpo_batch *batch, const grpo_real *advantage, grpo_real *weight);

/* weight (n_tokens) = u/mean u over the unmasked tokens of routed (sequences) responses, u = e^(-beta H), H = batch.entropy, here the
 * teacher's; 0 at all other tokens (SRPO, sample routing, 2604.02288: beta 1) */
grpo_status grpo_routed_weight(const grpo_batch *batch, const uint8_t *routed, double beta, grpo_real *weight);

/* factor (n) = 1/(1 + alpha entropy/log size), entropy (n) >= 0 in nats; size >= 2: the number of responses to the prompt (SEED-GRPO,
 * 2505.12346, authors' code: alpha 0.0417) */
grpo_status grpo_entropy_factor(const double *entropy, int64_t n, double alpha, int64_t size, double *factor);

/* entropy (n_groups), nats, = -sum_c p_c log p_c over clusters c of responses with the same answer, p_c = sum_{i in c} e^score/sum e^score;
 * answer (sequences): ids, -1: a cluster of its own; score (sequences): log-likelihoods, or all 0 for counts (SEED-GRPO, 2505.12346; COPO,
 * 2508.04138) */
grpo_status grpo_semantic_entropy(const grpo_batch *batch, const int64_t *answer, const double *score, double *entropy);

/* factor (n) = sigmoid(d)/sigmoid(mean d) sigmoid(m)/sigmoid(mean R), d = hardness (n), R = gap (n), n >= 1, m the mean of the R with (R -
 * mean R)^2 <= bound; refused if there is none (GRPO-S of DR-IRL, 2503.18991, as restated; its bound was not found) */
grpo_status grpo_dynamic_scale(const double *hardness, const double *gap, int64_t n, double bound, double *factor);

/* over the G responses of a group, z = (length - mean)/population deviation, 0 if all are equal, h = max(1 + r z, 1e-6): weight (sequences)
 * = G softmax(h^lambda), slope (sequences) = d weight/d lambda, as lambda is trained; length (sequences) >= 0; powers beyond 1e150 are
 * refused (lambda-GRPO, 2510.06870: r 1/9, lambda starts at 0; the deviation and the 1e-6 a third party's) */
grpo_status grpo_length_preference_weight(const grpo_batch *batch, const double *length, double r, double lambda, double *weight,
    double *slope);

GRPO_C_END_
#endif /* GRPO_WEIGHTS_H */

#if defined(GRPO_WEIGHTS_IMPLEMENTATION) && !defined(GRPO_WEIGHTS_IMPLEMENTED)
#define GRPO_WEIGHTS_IMPLEMENTED

#define GRPO_KERNEL_
#include "../grpo.h"
#include "grpo_shared.h"

GRPO_C_BEGIN_

/* w of response i, which has T tokens, before normalisation */
static grpo_dd grpo_sample_weight_(const double *difficulty, int64_t i, int by_length, double len, grpo_lengths_ all) {
    const double span = all.longest - all.shortest;
    double hard;
    grpo_dd w = grpo_dd_of_(1);
    if (difficulty) {
        hard = difficulty[i] < 0 ? 0 : difficulty[i] > 1 ? 1 : difficulty[i];
        w = grpo_dd_add(grpo_dd_of_(0.5), grpo_two_prod(1.5, hard));
    }
    if (!by_length) return w;
    if (!(span > 0)) return grpo_dd_mul(w, 1.5);
    return grpo_dd_product(w, grpo_dd_div(grpo_dd_of_(1.5 * span - (len - all.shortest)), span));
}

grpo_status grpo_sample_weights(const grpo_batch *batch, const double *difficulty, int by_length, double *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    const int64_t first = st ? 0 : grpo_first_sequence_(batch), end = st ? 0 : grpo_end_sequence_(batch);
    grpo_lengths_ all = { HUGE_VAL, 0 };
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd total, w;
    double len;
    if (st) return st;
    for (int64_t i = first; i < end; i++) {
        if (difficulty && !grpo_is_finite(difficulty[i])) return grpo_check_member_(difficulty[i], GRPO_FINITE_, 2, i);
        len = (double)grpo_unmasked_(batch, i);
        if (len < all.shortest) all.shortest = len;
        if (len > all.longest) all.longest = len;
    }
    for (int64_t i = first; i < end; i++)
        grpo_sum_add_dd_(&sum, grpo_sample_weight_(difficulty, i, by_length, (double)grpo_unmasked_(batch, i), all));
    total = grpo_sum_dd_(&sum);
    for (int64_t i = first; i < end; i++) {
        w = grpo_sample_weight_(difficulty, i, by_length, (double)grpo_unmasked_(batch, i), all);
        weight[i] = grpo_dd_quotient(grpo_dd_mul(w, (double)(end - first)), total).hi;
    }
    return GRPO_OK;
}

/* (1 - strength) + strength clip(e^x, 1 - clip, 1 + clip) */
static double grpo_gate_(grpo_dd x, double strength, double clip) {
    grpo_dd e = grpo_dd_of_(grpo_exp(x));
    const grpo_dd low = grpo_two_diff(1, clip), high = grpo_two_sum(1, clip);
    if (grpo_dd_less(e, low)) e = low;
    if (grpo_dd_less(high, e)) e = high;
    return grpo_dd_add(grpo_two_diff(1, strength), grpo_dd_mul(e, strength)).hi;
}

grpo_status grpo_teacher_gate(const grpo_batch *batch, const grpo_real *advantage, double strength, double clip, const uint8_t *selected,
                              grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 6);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_number_(strength, GRPO_PART_, 3);
    if (!st) st = grpo_check_number_(clip, GRPO_OPEN_PART_, 4);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_LOGP_TEACHER_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) {
        const double q = (double)batch->logp_teacher[t], l = (double)batch->logp[t], adv = (double)advantage[t];
        const int acts = adv != 0 && (!selected || selected[t]);
        grpo_put_(weight, t, acts ? grpo_gate_(adv > 0 ? grpo_two_diff(q, l) : grpo_two_diff(l, q), strength, clip) : 1, &overflow);
    }
    return GRPO_OK;
}

static grpo_dd grpo_discrepancy_(const grpo_batch *b, int64_t t) {
    const grpo_dd d = grpo_two_diff((double)b->logp_teacher[t], (double)b->logp_old[t]);
    return d.hi < 0 ? grpo_dd_negative(d) : d;
}

static void grpo_discrepancy_sequence_(const grpo_batch *b, int64_t i, double gamma, grpo_discrepancy_form form, grpo_real *weight) {
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    grpo_dd sum = grpo_dd_of_(0), before = sum, whole, rest;
    int64_t t;
    int overflow = 0;
    for (t = begin; t < end; t++) if (grpo_is_unmasked_(b, t)) { before = sum; sum = grpo_dd_add(sum, grpo_discrepancy_(b, t)); }
    whole = form == GRPO_DISCREPANCY_PAPER ? before : sum;
    for (sum = grpo_dd_of_(0), t = begin; t < end; t++) {
        if (!grpo_is_unmasked_(b, t)) { weight[t] = 0; continue; }
        rest = grpo_dd_of_(form == GRPO_DISCREPANCY_TRL);
        if (whole.hi > 0) rest = grpo_dd_quotient(grpo_dd_minus_(whole, sum), whole);
        grpo_put_(weight, t, grpo_dd_add(grpo_dd_of_(1), grpo_dd_mul(rest, gamma)).hi, &overflow);
        sum = grpo_dd_add(sum, grpo_discrepancy_(b, t));
    }
}

grpo_status grpo_prefix_discrepancy_weight(const grpo_batch *batch, double gamma, grpo_discrepancy_form form, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    if (!st) st = grpo_check_number_(gamma, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_choice_((int)form, 2, 3);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_ | GRPO_NEED_LOGP_TEACHER_);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++)
        grpo_discrepancy_sequence_(batch, i, gamma, form, weight);
    return GRPO_OK;
}

/* the element that follows k in descending order (k = -1: the first); -1 if there is none */
static int64_t grpo_next_smaller_(const double *x, int64_t n, int64_t k) {
    int64_t i, next = -1;
    for (i = 0; i < n; i++) {
        if (k >= 0 && (x[i] > x[k] || (x[i] == x[k] && i <= k))) continue;
        if (next < 0 || x[i] > x[next]) next = i;
    }
    return next;
}

/* the weight of x[k], the largest that is not 1, if `above` elements have weight 1 and all sum to target: (target - above)/sum_{x <= x[k]}
 * e^((x - x[k])/temperature) */
static grpo_dd grpo_window_share_(const double *x, int64_t n, int64_t k, int64_t above, double target, double temperature) {
    grpo_sum sum = GRPO_NO_SUM_;
    for (int64_t i = 0; i < n; i++)
        if (x[i] < x[k] || (x[i] == x[k] && i >= k)) grpo_sum_add_(&sum, grpo_exp(grpo_dd_div(grpo_two_diff(x[i], x[k]), temperature)));
    return grpo_dd_quotient(grpo_two_diff(target, (double)above), grpo_sum_dd_(&sum));
}

grpo_status grpo_soft_top_k_weight(const double *x, int64_t n, double target, double temperature, double *weight, double *normalised) {
    grpo_status st = grpo_check_output_(weight, 5);
    grpo_dd share = grpo_dd_of_(1), part;
    int64_t i, k = -1, above = 0;
    if (!st) st = grpo_check_output_(normalised, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(target, GRPO_MODERATE_POSITIVE_, 3);
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 4);
    if (!st) st = grpo_check_list_(x, n, GRPO_MODERATE_NEGATIVE_, 1);
    if (st) return st;
    for (i = 0; i < n; i++) weight[i] = normalised[i] = 1;
    if (target >= (double)n) return GRPO_OK;
    for (k = grpo_next_smaller_(x, n, -1); ; k = grpo_next_smaller_(x, n, k), above++) {
        share = grpo_window_share_(x, n, k, above, target, temperature);
        if (share.hi <= 1) break;
    }
    part = grpo_dd_mul(above ? grpo_dd_div(share, target) : grpo_window_share_(x, n, k, 0, 1, temperature), (double)n);
    for (i = 0; i < n; i++) {
        const int below = x[i] < x[k] || (x[i] == x[k] && i >= k);
        const double e = below ? grpo_exp(grpo_dd_div(grpo_two_diff(x[i], x[k]), temperature)) : 1;
        if (below) weight[i] = grpo_times(share.hi, e);
        normalised[i] = below ? grpo_times(part.hi, e) : (double)n / target;
    }
    return GRPO_OK;
}

grpo_status grpo_probability_weight(const grpo_batch *batch, double strength, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 3);
    grpo_index_ at;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_number_(strength, GRPO_PART_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_OLD_, 0);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(weight, t, grpo_times(strength, exp((double)batch->logp_old[t])) + (1 - strength), &overflow);
    return GRPO_OK;
}

/* the array index of the unmasked token number `place` (from 0) of response i, counted from the end if backward; -1 if there is none */
static int64_t grpo_place_(const grpo_batch *b, int64_t i, int64_t place, int backward) {
    int64_t t;
    for (int64_t k = 0; k < b->length[i]; k++) {
        t = b->offset[i] + (backward ? b->length[i] - 1 - k : k);
        if (grpo_is_unmasked_(b, t) && place-- == 0) return t;
    }
    return -1;
}

/* 1 if the id of token t is at `place` in responses of both signs of group g */
static int grpo_in_conflict_(const grpo_batch *b, int64_t g, const int64_t *token, const int64_t *sign, int64_t t, int64_t place,
                             int backward) {
    int64_t other;
    int up = 0, down = 0;
    for (int64_t j = b->group_begin[g]; j < b->group_begin[g + 1] && !(up && down); j++) {
        if (sign[j] == 0) continue;
        other = grpo_place_(b, j, place, backward);
        if (other < 0 || token[other] != token[t]) continue;
        up |= sign[j] > 0; down |= sign[j] < 0;
    }
    return up && down;
}

grpo_status grpo_conflict_weight(const grpo_batch *batch, const int64_t *token, const int64_t *sign, double inside, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 5);
    int64_t t;
    int backward, overflow = 0;
    if (!st) st = grpo_check_number_(inside, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_not_null_(token, batch->n_groups, 2);
    if (!st) st = grpo_check_not_null_(sign, batch->n_groups, 3);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++)
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            for (t = batch->offset[i]; t < batch->offset[i] + batch->length[i]; t++)
                weight[t] = (grpo_real)(grpo_is_unmasked_(batch, t) ? 1 : 0);
            for (backward = 0; backward < 2 && sign[i] != 0; backward++)
                for (int64_t place = 0; (t = grpo_place_(batch, i, place, backward)) >= 0; place++) {
                    if (!grpo_in_conflict_(batch, g, token, sign, t, place, backward)) break;
                    grpo_put_(weight, t, weight[t] == 1 ? (sign[i] > 0 ? inside : 0) : sign[i] > 0 ? inside * inside : 0, &overflow);
                }
        }
    return GRPO_OK;
}

static int grpo_prompt_counts_(const grpo_batch *b, int64_t g, double threshold, double limit, grpo_prompt_form form) {
    int64_t i, longest = -1, wrong = 0;
    double sum = 0;                                                     /* exact: a sum of integers */
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if ((double)b->reward[i] > threshold) { if (b->length[i] > longest) longest = b->length[i]; }
        else if ((double)b->length[i] < limit) { sum += (double)b->length[i]; wrong++; }
    }
    if (longest < 0) return form == GRPO_PROMPT_VLM;
    if (wrong == 0) return form == GRPO_PROMPT_LLM;
    return (double)longest * (double)wrong > sum;
}

grpo_status grpo_prompt_weight(const grpo_batch *batch, double threshold, double limit, double low, grpo_prompt_form form, double *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 6);
    if (!st) st = grpo_check_number_(threshold, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_number_(limit, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(low, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_choice_((int)form, 2, 5);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) weight[g] = grpo_prompt_counts_(batch, g, threshold, limit, form) ? 1 : low;
    return GRPO_OK;
}

/* the mean, over the anchors of a meta group, of their mean rewards; *count: how many anchors */
static grpo_dd grpo_anchor_mean_(const grpo_batch *b, const int64_t *meta, const uint8_t *anchor, int64_t id, int64_t *count) {
    grpo_sum sum = GRPO_NO_SUM_;
    int64_t g;
    for (*count = 0, g = 0; g < b->n_groups; g++) {
        if (!anchor[g] || meta[g] != id) continue;
        grpo_sum_add_dd_(&sum, grpo_group_mean_(b, g));
        ++*count;
    }
    return grpo_mean_(&sum, *count);
}

grpo_status grpo_invariance_weight(const grpo_batch *batch, const int64_t *meta, const uint8_t *anchor, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    int64_t anchors;
    int overflow = 0;
    if (!st) st = grpo_check_not_null_(meta, batch->n_groups, 2);
    if (!st) st = grpo_check_not_null_(anchor, batch->n_groups, 3);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_dd ahead = grpo_dd_minus_(grpo_anchor_mean_(batch, meta, anchor, meta[g], &anchors), grpo_group_mean_(batch, g));
        const int acts = !anchor[g] && anchors > 0;
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++)
            grpo_put_(weight, i, acts ? grpo_dd_mul(ahead, (double)batch->reward[i]).hi : 0, &overflow);
    }
    return GRPO_OK;
}

/* index 0: tokens with A > 0; index 1: tokens with A < 0 */
typedef struct {
    const grpo_batch *batch;
    const grpo_real *advantage, *feature;
    int64_t width;
    grpo_dd *centre;                    /* (2, width) mu */
    grpo_dd *margin, *share;            /* (n_tokens) M; s */
    double gamma[2];
} grpo_sides_;

/* the next token with A not 0, -1 if there is none; *side: 1 if its A < 0 */
static int64_t grpo_next_of_sides_(const grpo_sides_ *s, grpo_index_ *at, int *side) {
    int64_t t;
    while ((t = grpo_next_token_(s->batch, at)) >= 0) {
        *side = s->advantage[t] < 0;
        if (s->advantage[t] != 0) break;
    }
    return t;
}

/* mu = sum c v/max(sum c, 1e-8), c = |A| s */
static void grpo_find_centres_(const grpo_sides_ *s) {
    grpo_dd total[2] = { { 0, 0 }, { 0, 0 } };
    grpo_index_ at;
    int64_t t;
    int side;
    for (int64_t d = 0; d < 2 * s->width; d++) s->centre[d] = grpo_dd_of_(0);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) {
        const double c = fabs((double)s->advantage[t]) * s->share[t].hi;
        const grpo_real *v = s->feature + t * s->width;
        grpo_dd *mu = s->centre + side * s->width;
        total[side] = grpo_dd_add(total[side], grpo_dd_of_(c));
        for (int64_t d = 0; d < s->width; d++) mu[d] = grpo_dd_add(mu[d], grpo_two_prod(c, (double)v[d]));
    }
    for (side = 0; side < 2; side++) {
        if (grpo_dd_less(total[side], grpo_1e_minus_8_)) total[side] = grpo_1e_minus_8_;
        for (int64_t d = 0; d < s->width; d++)
            s->centre[side * s->width + d] = grpo_dd_quotient(s->centre[side * s->width + d], total[side]);
    }
}

/* M = sum over d of (mu - mu')(2 v - mu - mu'), mu' that of the other sign */
static void grpo_find_margins_(const grpo_sides_ *s) {
    grpo_index_ at;
    int64_t t;
    int side;
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) {
        const grpo_real *v = s->feature + t * s->width;
        const grpo_dd *own = s->centre + side * s->width, *other = s->centre + !side * s->width;
        grpo_dd sum = grpo_dd_of_(0);
        for (int64_t d = 0; d < s->width; d++) {
            const grpo_dd twice = grpo_dd_minus_(grpo_dd_minus_(grpo_dd_of_(2 * (double)v[d]), own[d]), other[d]);
            sum = grpo_dd_add(sum, grpo_dd_product(grpo_dd_minus_(own[d], other[d]), twice));
        }
        s->margin[t] = sum;
    }
}

/* gamma of both signs: the deviation of M, at least 1e-4 */
static void grpo_find_gammas_(grpo_sides_ *s) {
    grpo_values v[2];
    grpo_index_ at;
    int64_t t;
    int side;
    memset(v, 0, sizeof v);
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; ) grpo_values_take_(&v[side], s->margin[t]);
    for (side = 0; side < 2; side++) {
        const double variance = grpo_variance_(&v[side], GRPO_STD_POPULATION);
        s->gamma[side] = sqrt(variance > 1e-8 ? variance : 1e-8);
    }
}

static void grpo_find_shares_(const grpo_sides_ *s) {
    grpo_index_ at;
    int64_t t;
    int side;
    for (at = grpo_before_tokens_(s->batch); (t = grpo_next_of_sides_(s, &at, &side)) >= 0; )
        s->share[t] = grpo_dd_of_(grpo_sigmoid(grpo_dd_div(s->margin[t], s->gamma[side])).value);
}

static grpo_status grpo_check_centroids_(const grpo_centroids *how, int place) {
    grpo_status st = grpo_check_output_(how, place);
    if (!st && how->width < 1) st = grpo_refuse_(GRPO_NOT_POSITIVE, place, 0);
    if (!st && how->refine < 0) st = grpo_refuse_(GRPO_NEGATIVE, place, 1);
    if (!st) st = grpo_check_member_(how->low, GRPO_MODERATE_, place, 2);
    return st ? st : grpo_check_member_(how->high, GRPO_MODERATE_, place, 3);
}

static grpo_status grpo_check_features_(const grpo_batch *b, const grpo_real *feature, int64_t width, int place) {
    grpo_status st = grpo_check_not_null_(feature, b->n_groups, place);
    grpo_index_ at;
    int64_t t;
    for (at = grpo_before_tokens_(b); !st && (t = grpo_next_token_(b, &at)) >= 0; )
        for (int64_t d = 0; !st && d < width; d++)
            st = grpo_check_member_((double)feature[t * width + d], GRPO_UP_TO_1E70_, place, t * width + d);
    return st;
}

/* lambda = low (1 - s) + high s, which does not cancel where one of them is small */
static grpo_dd grpo_centroid_lambda_(const grpo_sides_ *s, const grpo_centroids *how, int64_t t) {
    const int side = s->advantage[t] < 0;
    grpo_dd z;
    if (s->advantage[t] == 0) return grpo_dd_of_(how->low);
    z = grpo_dd_div(s->margin[t], s->gamma[side]);
    return grpo_dd_add(grpo_two_prod(how->low, grpo_sigmoid(grpo_dd_negative(z)).value), grpo_two_prod(how->high, grpo_sigmoid(z).value));
}

grpo_status grpo_centroid_weight(const grpo_batch *batch, const grpo_real *advantage, const grpo_real *feature, const grpo_centroids *how,
                                 grpo_dd *scratch, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 6);
    grpo_sides_ s;
    grpo_sum sum;
    grpo_index_ at;
    grpo_dd total, n;
    int64_t t;
    int overflow = 0;
    if (!st) st = grpo_check_centroids_(how, 4);
    if (!st && (how->width > INT64_MAX / 64 || batch->n_tokens > INT64_MAX / 64 / how->width)) st = grpo_refuse_(GRPO_OUT_OF_RANGE, 4, 0);
    if (!st) st = grpo_check_not_null_(scratch, batch->n_groups, 5);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_ADVANTAGE_);
    if (!st) st = grpo_check_features_(batch, feature, how->width, 3);
    if (st || batch->n_groups == 0) return st;
    s.batch = batch; s.advantage = advantage; s.feature = feature; s.width = how->width;
    s.centre = scratch; s.margin = scratch + 2 * how->width; s.share = s.margin + batch->n_tokens;
    for (t = 0; t < batch->n_tokens; t++) s.share[t] = grpo_dd_of_(1);
    for (int64_t k = 0; k <= how->refine; k++) {
        grpo_find_centres_(&s);
        grpo_find_margins_(&s);
        if (k == 0) grpo_find_gammas_(&s);
        grpo_find_shares_(&s);
        if (k > 0 && k < how->refine) grpo_find_gammas_(&s);              /* the last shares are of the gammas before them */
    }
    memset(&sum, 0, sizeof sum);
    n = grpo_dd_of_(0);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n.hi++)
        grpo_sum_add_dd_(&sum, grpo_centroid_lambda_(&s, how, t));
    total = grpo_sum_dd_(&sum);
    if (total.hi < 0) { total = grpo_dd_negative(total); n.hi = -n.hi; }
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); total.hi > 0 && (t = grpo_next_token_(batch, &at)) >= 0; )
        grpo_put_(weight, t, grpo_dd_quotient(grpo_dd_mul(grpo_centroid_lambda_(&s, how, t), n.hi), total).hi, &overflow);
    return GRPO_OK;
}

/* 1 if t is the first unmasked token of its agent, from `begin` on */
static int grpo_is_first_of_agent_(const grpo_batch *b, const int64_t *agent, int64_t begin, int64_t t) {
    for (int64_t u = t - 1; u >= begin; u--) if (grpo_is_unmasked_(b, u) && agent[u] == agent[t]) return 0;
    return 1;
}

static void grpo_agents_of_response_(const grpo_batch *b, const int64_t *agent, int64_t i, grpo_real *weight) {
    const int64_t begin = b->offset[i], end = begin + b->length[i];
    int64_t t, u, agents = 0, tokens;
    int overflow = 0;
    for (t = begin; t < end; t++) agents += grpo_is_unmasked_(b, t) && grpo_is_first_of_agent_(b, agent, begin, t);
    for (t = begin; t < end; t++) {
        if (!grpo_is_unmasked_(b, t)) { weight[t] = 0; continue; }
        if (!grpo_is_first_of_agent_(b, agent, begin, t)) continue;
        for (tokens = 0, u = t; u < end; u++) tokens += grpo_is_unmasked_(b, u) && agent[u] == agent[t];
        for (u = t; u < end; u++)
            if (grpo_is_unmasked_(b, u) && agent[u] == agent[t]) grpo_put_(weight, u, 1 / ((double)agents * (double)tokens), &overflow);
    }
}

grpo_status grpo_agent_weights(const grpo_batch *batch, const int64_t *agent, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 3);
    if (!st) st = grpo_check_not_null_(agent, batch->n_groups, 2);
    if (st) return st;
    for (int64_t i = grpo_first_sequence_(batch); i < grpo_end_sequence_(batch); i++) grpo_agents_of_response_(batch, agent, i, weight);
    return GRPO_OK;
}

grpo_status grpo_centred_weights(const grpo_batch *batch, double k, grpo_real *surrogate, grpo_real *penalty) {
    grpo_status st = grpo_check_call_(batch, surrogate, 3);
    const grpo_dd one = grpo_dd_of_(1);
    int overflow = 0;
    if (!st) st = grpo_check_output_(penalty, 4);
    if (!st) st = grpo_check_number_(k, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        const grpo_dd mean = grpo_group_mean_(batch, g);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            const grpo_dd off = grpo_dd_mul(grpo_dd_minus_(grpo_dd_of_((double)batch->reward[i]), mean), k);
            grpo_put_(surrogate, i, grpo_dd_add(one, off).hi, &overflow);
            grpo_put_(penalty, i, grpo_dd_minus_(one, off).hi, &overflow);
        }
    }
    return GRPO_OK;
}

grpo_status grpo_consistency_weights(const double *entropy, int64_t n, double gamma, double centre, double *local, double *global) {
    grpo_status st = grpo_check_output_(local, 5);
    if (!st) st = grpo_check_output_(global, 6);
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_number_(gamma, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(centre, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(entropy, n, GRPO_MODERATE_, 1);
    if (st) return st;
    for (int64_t k = 0; k < n; k++) {
        const grpo_dd x = grpo_dd_mul(grpo_two_diff(entropy[k], centre), gamma);
        local[k] = grpo_sigmoid(x).value;
        global[k] = grpo_sigmoid(grpo_dd_negative(x)).value;
    }
    return GRPO_OK;
}

static double grpo_confidence_group_(const grpo_batch *b, int64_t g, const uint8_t *correct) {
    grpo_sum sum = GRPO_NO_SUM_;
    double n = 0, right = 0;
    for (int64_t i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
        if (!grpo_unmasked_(b, i)) continue;
        grpo_sum_add_dd_(&sum, grpo_response_mean_(b, b->logp_old, NULL, i));
        n++;
        right += correct[i] != 0;
    }
    if (n == 0) return 0;
    return grpo_times(grpo_exp(grpo_dd_div(grpo_sum_dd_(&sum), n)), 4 * right * (n - right) / (n * n));
}

grpo_status grpo_confidence_factor(const grpo_batch *batch, const uint8_t *correct, double delta, double *factor) {
    grpo_status st = grpo_check_call_(batch, factor, 4);
    if (!st) st = grpo_check_number_(delta, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_not_null_(correct, batch->n_groups, 2);
    if (!st) st = grpo_check_inputs_(batch, NULL, GRPO_NEED_OLD_);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) factor[g] = grpo_confidence_group_(batch, g, correct) + delta;
    return GRPO_OK;
}

/* sets the weight to `by` at the ceil(share n) tokens with the smallest logp among the n tokens whose A has this sign */
static void grpo_weigh_surprising_(const grpo_batch *b, const grpo_real *advantage, int sign, double share, double by, grpo_real *weight) {
    grpo_order_ o;
    grpo_prefix_ p;
    grpo_key_ key;
    grpo_index_ at;
    int64_t t, n = 0, ties;
    int overflow = 0;
    memset(&o, 0, sizeof o);
    o.batch = b; o.by = b->logp; o.signed_by = advantage; o.sign = sign;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; ) n += grpo_key_of_(&o, t, &key);
    o.most = (int64_t)ceil(share * (double)n);
    grpo_find_prefix_(&o, &p);
    ties = p.ties;
    for (at = grpo_before_tokens_(b); (t = grpo_next_token_(b, &at)) >= 0; )
        if (grpo_key_of_(&o, t, &key) && grpo_in_prefix_(&p, &key, &ties)) grpo_put_(weight, t, by, &overflow);
}

grpo_status grpo_surprisal_weight(const grpo_batch *batch, const grpo_real *advantage, double share, double up, double down,
                                  double target, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 7);
    grpo_index_ at;
    grpo_sum sum;
    int64_t t, n = 0;
    if (!st) st = grpo_check_number_(share, GRPO_PART_, 3);
    if (!st) st = grpo_check_number_(up, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_number_(down, GRPO_MODERATE_, 5);
    if (!st) st = grpo_check_number_(target, GRPO_MODERATE_, 6);
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ENTROPY_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    grpo_clear_reals_(batch, weight);
    memset(&sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; n++) {
        weight[t] = 1;
        grpo_sum_add_(&sum, (double)batch->entropy[t]);
    }
    if (n == 0 || !(grpo_mean_exceeds_(&sum, n, target) < 0)) return GRPO_OK;
    grpo_weigh_surprising_(batch, advantage, 1, share, up, weight);
    grpo_weigh_surprising_(batch, advantage, -1, share, down, weight);
    return GRPO_OK;
}

static grpo_dd grpo_difficulty_of_(const grpo_batch *b, int64_t g, const double *accuracy) {
    const grpo_dd mean = grpo_list_mean_(b, g, accuracy, NULL);
    return mean.hi == 0 ? grpo_dd_of_(1) : mean;
}

grpo_status grpo_difficulty_weight(const grpo_batch *batch, const double *accuracy, double temperature, double *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    grpo_dd least = grpo_dd_of_(HUGE_VAL);
    grpo_sum sum = GRPO_NO_SUM_;
    double groups = 0;
    if (!st) st = grpo_check_number_(temperature, GRPO_TEMPERATURE_, 3);
    if (!st) st = grpo_check_responses_(batch, accuracy, GRPO_MODERATE_, 2);
    if (!st) st = grpo_check_arrays_(batch, NULL, GRPO_NEED_REWARD_, 0);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++) {
        if (!grpo_rewards_differ_(batch, g)) continue;
        groups++;
        if (grpo_dd_less(grpo_difficulty_of_(batch, g, accuracy), least)) least = grpo_difficulty_of_(batch, g, accuracy);
    }
    for (int64_t g = 0; g < batch->n_groups; g++) {
        weight[g] = 1;
        if (!grpo_rewards_differ_(batch, g)) continue;
        weight[g] = grpo_exp(grpo_dd_div(grpo_dd_minus_(least, grpo_difficulty_of_(batch, g, accuracy)), temperature));
        grpo_sum_add_(&sum, weight[g]);
    }
    for (int64_t g = 0; g < batch->n_groups; g++)
        if (grpo_rewards_differ_(batch, g)) weight[g] = grpo_dd_quotient(grpo_two_prod(groups, weight[g]), grpo_sum_dd_(&sum)).hi;
    return GRPO_OK;
}

/* c = (logp - mean)(A - mean) of the tokens of the batch */
typedef struct {
    const grpo_batch *batch;
    const grpo_real *advantage;
    grpo_dd mean_l, mean_A;
    int exponent;                       /* c is in units of 2^exponent, so that squares neither overflow nor underflow */
    double variance;
} grpo_products_;

static grpo_dd grpo_product_at_(const grpo_products_ *p, int64_t t) {
    const grpo_dd l = grpo_dd_minus_(grpo_dd_of_((double)p->batch->logp[t]), p->mean_l);
    const grpo_dd adv = grpo_dd_minus_(grpo_dd_of_((double)p->advantage[t]), p->mean_A);
    return grpo_dd_round_96_(grpo_dd_scaled_(grpo_dd_product(l, adv), -p->exponent));
}

static void grpo_survey_products_(grpo_products_ *p) {
    grpo_sum sum[2];
    grpo_values v = GRPO_NO_VALUES_;
    grpo_index_ at;
    double n = 0, largest = 0;
    int64_t t;
    memset(sum, 0, sizeof sum);
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; n++) {
        grpo_sum_add_(&sum[0], (double)p->batch->logp[t]);
        grpo_sum_add_(&sum[1], (double)p->advantage[t]);
    }
    p->mean_l = grpo_dd_div(grpo_sum_dd_(&sum[0]), n > 0 ? n : 1);
    p->mean_A = grpo_dd_div(grpo_sum_dd_(&sum[1]), n > 0 ? n : 1);
    p->exponent = 0;
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; ) {
        const double x = fabs(grpo_product_at_(p, t).hi);
        if (x > largest) largest = x;
    }
    p->exponent = grpo_square_exponent_(largest);
    for (at = grpo_before_tokens_(p->batch); (t = grpo_next_token_(p->batch, &at)) >= 0; ) grpo_values_take_(&v, grpo_product_at_(p, t));
    p->variance = grpo_variance_(&v, GRPO_STD_POPULATION);
}

/* c^2/(2 s^2) */
static grpo_dd grpo_product_exponent_(const grpo_products_ *p, int64_t t) {
    const grpo_dd c = grpo_product_at_(p, t);
    return grpo_dd_div(grpo_dd_product(c, c), 2 * p->variance);
}

static void grpo_gaussian_group_(const grpo_products_ *p, int64_t g, grpo_real *weight) {
    const grpo_batch *b = p->batch;
    grpo_batch one = *b;
    grpo_dd least = grpo_dd_of_(HUGE_VAL), x, total;
    grpo_index_ at;
    grpo_sum sum = GRPO_NO_SUM_;
    double n = 0;
    int64_t t;
    int overflow = 0;
    one.n_groups = 1; one.group_begin = b->group_begin + g;
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; n++) {
        x = grpo_product_exponent_(p, t);
        if (grpo_dd_less(x, least)) least = x;
    }
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; )
        grpo_sum_add_(&sum, grpo_exp(grpo_dd_minus_(least, grpo_product_exponent_(p, t))));
    total = grpo_sum_dd_(&sum);
    for (at = grpo_before_tokens_(&one); (t = grpo_next_token_(&one, &at)) >= 0; ) {
        x = grpo_two_prod(n, grpo_exp(grpo_dd_minus_(least, grpo_product_exponent_(p, t))));
        grpo_put_(weight, t, grpo_dd_quotient(x, total).hi, &overflow);
    }
}

grpo_status grpo_covariance_weight(const grpo_batch *batch, const grpo_real *advantage, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 3);
    grpo_products_ p;
    grpo_index_ at;
    int64_t t;
    if (!st) st = grpo_check_inputs_(batch, advantage, GRPO_NEED_LOGP_ | GRPO_NEED_ADVANTAGE_);
    if (st) return st;
    p.batch = batch; p.advantage = advantage;
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_token_(batch, &at)) >= 0; ) weight[t] = 1;
    grpo_survey_products_(&p);
    for (int64_t g = 0; p.variance > 0 && g < batch->n_groups; g++) grpo_gaussian_group_(&p, g, weight);
    return GRPO_OK;
}

/* the next unmasked token of a routed response, -1 if there is none */
static int64_t grpo_next_routed_(const grpo_batch *b, const uint8_t *routed, grpo_index_ *at) {
    int64_t t;
    do t = grpo_next_token_(b, at); while (t >= 0 && !routed[at->i]);
    return t;
}

grpo_status grpo_routed_weight(const grpo_batch *batch, const uint8_t *routed, double beta, grpo_real *weight) {
    grpo_status st = grpo_check_call_(batch, weight, 4);
    grpo_index_ at;
    grpo_sum sum = GRPO_NO_SUM_;
    grpo_dd top = { -HUGE_VAL, 0 }, level = { 0, 0 };
    int64_t t, n = 0;
    int overflow = 0;
    if (!st) st = grpo_check_number_(beta, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_not_null_(routed, batch->n_groups, 2);
    if (!st && batch->n_groups && !batch->entropy) st = GRPO_STATUS_(GRPO_NULL, GRPO_AT_entropy_);
    if (st) return st;
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; n++) {
        const grpo_dd x = grpo_two_prod(-beta, (double)batch->entropy[t]);
        if (!grpo_in_domain_((double)batch->entropy[t], GRPO_MODERATE_))
            return grpo_status_at_(grpo_rule_of_((double)batch->entropy[t], GRPO_MODERATE_), GRPO_AT_entropy_, t);
        if (grpo_dd_less(top, x)) top = x;
    }
    grpo_clear_reals_(batch, weight);
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; )
        grpo_sum_add_dd_(&sum, grpo_exp_twice(grpo_dd_minus_(grpo_two_prod(-beta, (double)batch->entropy[t]), top)));
    if (n > 0) level = grpo_dd_log(grpo_dd_div(grpo_sum_dd_(&sum), (double)n));     /* log mean u - top: lost if it were added to top */
    for (at = grpo_before_tokens_(batch); (t = grpo_next_routed_(batch, routed, &at)) >= 0; ) {
        const grpo_dd x = grpo_dd_minus_(grpo_two_prod(-beta, (double)batch->entropy[t]), top);
        grpo_put_(weight, t, grpo_exp(grpo_dd_minus_(x, level)), &overflow);
    }
    return GRPO_OK;
}

grpo_status grpo_entropy_factor(const double *entropy, int64_t n, double alpha, int64_t size, double *factor) {
    grpo_status st = grpo_check_output_(factor, 5);
    grpo_dd most, x;
    if (!st) st = grpo_check_count_(n, 0, 2);
    if (!st) st = grpo_check_list_(entropy, n, GRPO_MODERATE_FACTOR_, 1);
    if (!st) st = grpo_check_number_(alpha, GRPO_MODERATE_FACTOR_, 3);
    if (!st) st = grpo_check_count_(size, 2, 4);
    if (st) return st;
    most = grpo_log_twice((double)size);
    for (int64_t k = 0; k < n; k++) {
        x = grpo_dd_quotient(grpo_two_prod(alpha, entropy[k]), most);
        factor[k] = grpo_dd_quotient(grpo_dd_of_(1), grpo_dd_add(grpo_dd_of_(1), x)).hi;
    }
    return GRPO_OK;
}

/* 1 if responses i and j are in the same cluster */
static int grpo_one_answer_(const int64_t *answer, int64_t i, int64_t j) { return i == j || (answer[i] >= 0 && answer[i] == answer[j]); }

static double grpo_answer_entropy_group_(const int64_t *answer, const double *score, int64_t begin, int64_t end) {
    grpo_sum in, out, ent = GRPO_NO_SUM_;
    double top = -HUGE_VAL, w, rest;
    int64_t j;
    for (int64_t i = begin; i < end; i++) if (score[i] > top) top = score[i];
    for (int64_t i = begin; i < end; i++) {
        for (j = begin; j < i && !grpo_one_answer_(answer, i, j); j++) { }
        if (j < i) continue;                                            /* its cluster has been counted */
        memset(&in, 0, sizeof in);
        memset(&out, 0, sizeof out);
        for (j = begin; j < end; j++) grpo_sum_add_(grpo_one_answer_(answer, i, j) ? &in : &out, grpo_exp(grpo_two_diff(score[j], top)));
        w = grpo_sum_value_(&in); rest = grpo_sum_value_(&out);
        if (w > 0) grpo_sum_add_(&ent, w / (w + rest) * (rest < 1e300 * w ? log1p(rest / w) : log(rest) - log(w)));     /* -p log p */
    }
    return grpo_sum_value_(&ent);
}

grpo_status grpo_semantic_entropy(const grpo_batch *batch, const int64_t *answer, const double *score, double *entropy) {
    grpo_status st = grpo_check_call_(batch, entropy, 4);
    if (!st) st = grpo_check_not_null_(answer, batch->n_groups, 2);
    if (!st) st = grpo_check_responses_(batch, score, GRPO_MODERATE_, 3);
    if (st) return st;
    for (int64_t g = 0; g < batch->n_groups; g++)
        entropy[g] = grpo_answer_entropy_group_(answer, score, batch->group_begin[g], batch->group_begin[g + 1]);
    return GRPO_OK;
}

/* the mean of the gaps with (R - mean R)^2 <= bound, tested exactly as (n R - sum R)^2 <= bound n^2; *count: how many */
static grpo_dd grpo_kept_mean_(const double *gap, int64_t n, double bound, int64_t *count) {
    const double size = (double)n;
    grpo_sum sum = GRPO_NO_SUM_, kept = GRPO_NO_SUM_, off, excess;
    double x[3];
    int64_t k;
    for (k = 0; k < n; k++) grpo_sum_add_(&sum, -gap[k]);
    for (*count = 0, k = 0; k < n; k++) {
        off = sum;
        grpo_sum_add_dd_(&off, grpo_two_prod(size, gap[k]));
        grpo_sum_expand_(&off, x, 3);
        memset(&excess, 0, sizeof excess);
        for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) grpo_sum_add_dd_(&excess, grpo_two_prod(x[i], x[j]));
        grpo_sum_add_dd_(&excess, grpo_two_prod(-bound, size * size));
        if (grpo_sum_value_(&excess) > 0) continue;
        grpo_sum_add_(&kept, gap[k]);
        ++*count;
    }
    return grpo_dd_div(grpo_sum_dd_(&kept), *count ? (double)*count : 1);
}

/* sigmoid(x) = e^part/(1 + rest), where the second function returns 1 + rest */
static grpo_dd grpo_sigmoid_part_(grpo_dd x) { return x.hi < 0 ? x : grpo_dd_of_(0); }
static grpo_dd grpo_sigmoid_rest_(grpo_dd x) { return grpo_two_sum(1, grpo_exp(x.hi < 0 ? x : grpo_dd_negative(x))); }

grpo_status grpo_dynamic_scale(const double *hardness, const double *gap, int64_t n, double bound, double *factor) {
    grpo_status st = grpo_check_output_(factor, 5);
    grpo_dd hard, mean, kept;
    int64_t count;
    if (!st) st = grpo_check_count_(n, 1, 3);
    if (!st) st = grpo_check_number_(bound, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_list_(hardness, n, GRPO_MODERATE_, 1);
    if (!st) st = grpo_check_list_(gap, n, GRPO_MODERATE_, 2);
    if (st) return st;
    kept = grpo_kept_mean_(gap, n, bound, &count);
    if (count == 0) return grpo_refuse_(GRPO_NONE_LEFT, 4, -1);
    hard = grpo_mean_of_(hardness, NULL, n);
    mean = grpo_mean_of_(gap, NULL, n);
    for (int64_t k = 0; k < n; k++) {
        const grpo_dd d = grpo_dd_of_(hardness[k]);
        const grpo_dd over = grpo_dd_add(grpo_sigmoid_part_(d), grpo_sigmoid_part_(kept));
        const grpo_dd under = grpo_dd_add(grpo_sigmoid_part_(hard), grpo_sigmoid_part_(mean));
        const grpo_dd rest = grpo_dd_quotient(grpo_dd_product(grpo_sigmoid_rest_(hard), grpo_sigmoid_rest_(mean)),
                                              grpo_dd_product(grpo_sigmoid_rest_(d), grpo_sigmoid_rest_(kept)));
        factor[k] = grpo_times(rest.hi, grpo_exp(grpo_dd_minus_(over, under)));
    }
    return GRPO_OK;
}

/* of a group: n lengths, their sum and deviation = n times their standard deviation in units of 2^unit; most: the largest h^lambda; total
 * and tilt: the sums of the softmax */
typedef struct { double n, r, lambda; grpo_dd sum, deviation, most, total, tilt; int unit; } grpo_preference_;

/* g = h^lambda; slope: d g/d lambda = g log h */
static grpo_dd grpo_preferred_(const grpo_preference_ *p, double length, grpo_dd *slope) {
    grpo_dd h = grpo_dd_of_(1), log_h, g;
    if (p->deviation.hi > 0)
        h = grpo_dd_add(h, grpo_dd_mul(grpo_dd_quotient(grpo_dd_minus_(grpo_two_prod(p->n, ldexp(length, -p->unit)), p->sum), p->deviation),
                                       p->r));
    if (grpo_dd_less(h, grpo_1e_minus_6_)) h = grpo_1e_minus_6_;
    log_h = grpo_dd_add(grpo_log_twice(h.hi), grpo_dd_of_(h.lo / h.hi));
    g = grpo_exp_twice(grpo_dd_mul(log_h, p->lambda));
    *slope = grpo_dd_product(g, log_h);
    return g;
}

/* returns 0 if a power h^lambda is too large */
static int grpo_survey_lengths_(const double *length, int64_t begin, int64_t end, grpo_preference_ *p) {
    grpo_values v = GRPO_NO_VALUES_;
    grpo_sum acc;
    grpo_dd g, e, slope;
    p->unit = grpo_exponent_of_(length + begin, end - begin);
    for (int64_t i = begin; i < end; i++) grpo_values_take_(&v, grpo_dd_of_(ldexp(length[i], -p->unit)));
    p->n = (double)(end - begin);
    grpo_values_scatter_(&v, &acc);
    p->sum = grpo_sum_dd_(&v.sum);
    p->deviation = grpo_dd_same_(v.min, v.max) ? grpo_dd_of_(0) : grpo_sqrt_twice_(grpo_sum_dd_(&acc));
    p->most = p->total = p->tilt = grpo_dd_of_(0);
    for (int64_t i = begin; i < end; i++) {
        g = grpo_preferred_(p, length[i], &slope);
        if (!(g.hi <= 1e150)) return 0;
        if (grpo_dd_less(p->most, g)) p->most = g;
    }
    for (int64_t i = begin; i < end; i++) {
        g = grpo_preferred_(p, length[i], &slope);
        e = grpo_exp_twice(grpo_dd_minus_(g, p->most));
        p->total = grpo_dd_add(p->total, e);
        p->tilt = grpo_dd_add(p->tilt, grpo_dd_product(e, slope));
    }
    return 1;
}

grpo_status grpo_length_preference_weight(const grpo_batch *batch, const double *length, double r, double lambda, double *weight,
    double *slope) {
    grpo_status st = grpo_check_call_(batch, weight, 5);
    grpo_preference_ p;
    grpo_dd share, rise;
    if (!st) st = grpo_check_output_(slope, 6);
    if (!st) st = grpo_check_number_(r, GRPO_MODERATE_, 3);
    if (!st) st = grpo_check_number_(lambda, GRPO_MODERATE_, 4);
    if (!st) st = grpo_check_responses_(batch, length, GRPO_MODERATE_FACTOR_, 2);
    if (st) return st;
    p.r = r; p.lambda = lambda;
    for (int64_t g = 0; g < batch->n_groups; g++)
        if (!grpo_survey_lengths_(length, batch->group_begin[g], batch->group_begin[g + 1], &p))
            return grpo_refuse_(GRPO_OUT_OF_RANGE, 4, -1);
    for (int64_t g = 0; g < batch->n_groups; g++) {
        grpo_survey_lengths_(length, batch->group_begin[g], batch->group_begin[g + 1], &p);
        for (int64_t i = batch->group_begin[g]; i < batch->group_begin[g + 1]; i++) {
            share = grpo_exp_twice(grpo_dd_minus_(grpo_preferred_(&p, length[i], &rise), p.most));
            share = grpo_dd_quotient(grpo_dd_mul(share, p.n), p.total);
            weight[i] = share.hi;
            slope[i] = grpo_dd_product(share, grpo_dd_minus_(rise, grpo_dd_quotient(p.tilt, p.total))).hi;
        }
    }
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_WEIGHTS_IMPLEMENTATION */
