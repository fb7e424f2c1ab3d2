/* Mistakes in the loss: their table.  A mistake consists of edits of a copy of the case (edits.h), or of another formula for the surrogate
 * or the KL (loss_formulas.h), or both.  loss_parts.c evaluates the copy, policy and penalty separately.  No mistake is computed where
 * policy and penalty without a mistake do not add up to the right answer of the case. */
#include "loss_parts.h"
#include "sixteen_bits.h"

#define MEAN_OF_TOKENS GRPO_AGGREGATION_TOKEN_MEAN
#define MEAN_OF_MEANS GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN
#define MEAN_OF_SUMS GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM
#define SUM_OF_TOKENS GRPO_AGGREGATION_TOKEN_SUM

#define SHIFTED(name, make, p) { NULL, name, FOR_ANY, { { make, p } }, NULL, NULL }
/* two forms: masked tokens take part with their numbers, or with 0 */
#define ROLLED(what, shown, kind, words) \
    SHIFTED("the " shown " log-probabilities are shifted by one token, to the right" words, roll_##what##_##kind, 1), \
    ZEROED("the " shown " log-probabilities are shifted by one token, to the right" words, roll_##what##_##kind, 1), \
    SHIFTED("the " shown " log-probabilities are shifted by one token, to the left" words, roll_##what##_##kind, -1), \
    ZEROED("the " shown " log-probabilities are shifted by one token, to the left" words, roll_##what##_##kind, -1)
#define ZEROED(name, make, p) { NULL, name, FOR_ANY, { { masked_are_zero, 0 }, { make, p } }, NULL, NULL }
#define ROLLED_ROWS(what, shown, kind, words) \
    PADDED("the " shown " log-probabilities are shifted by one token, to the right" words, roll_##what##_##kind, 1), \
    PADDED("the " shown " log-probabilities are shifted by one token, to the left" words, roll_##what##_##kind, -1)
#define PADDED(name, make, p) { NULL, name, FOR_ANY, { { pad_rows, 0 }, { make, p } }, NULL, NULL }
#define ROLLED_IN_ROWS(what, shown) \
    ROLLED_ROWS(what, shown, sequence, ", round the end of the padded row"), \
    ROLLED_ROWS(what, shown, batch, ", through the padded batch")
/* two forms: by automatic differentiation, and with the gradient at the unshifted token */
#define ROLLED_POLICY(kind, words) \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the right" words, roll_policy_##kind, 1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the right" words, roll_policy_by_hand_##kind, 1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the left" words, roll_policy_##kind, -1), \
    SHIFTED("the policy's log-probabilities are shifted by one token, to the left" words, roll_policy_by_hand_##kind, -1)

#define POLICY(id, name, kind, f) { id, name, kind, { { NULL, 0 } }, f, NULL }
#define PENALTY(id, name, f) { id, name, FOR_KL, { { NULL, 0 } }, NULL, f }
#define K3(id, name, f) { id, name, FOR_K3, { { NULL, 0 } }, NULL, f }
#define EDIT(id, name, kind, make, p) { id, name, kind, { { make, p } }, NULL, NULL }
#define EDITS(id, name, kind, make, p, also, q) { id, name, kind, { { make, p }, { also, q } }, NULL, NULL }

/* two forms: with the given advantages at tokens that begin to count, and with that of the response */
#define MASK(id, name, make, p) EDIT(id, name, FOR_ANY, make, p), EDITS(id, name, FOR_ANY, advantage_everywhere, 0, make, p)
/* the same in padded rows, where padding may begin to count */
#define PADDED_MASK(id, name, make, p) \
    EDITS(id, name, FOR_ANY, pad_rows, 0, make, p), \
    { id, name, FOR_ANY, { { pad_rows, 0 }, { advantage_everywhere, 0 }, { make, p } }, NULL, NULL }
#define BEHIND "the mask is one step behind the log-probabilities"
#define AHEAD "the mask is one step ahead of the log-probabilities"
#define SHIFTED_MASK(words, make) MASK(NULL, BEHIND words, make, 1), MASK(NULL, AHEAD words, make, -1)
#define ROUNDED(what, make) \
    EDIT(NULL, what " rounded to bfloat16", FOR_ANY, make, BFLOAT16), \
    EDIT(NULL, what " rounded to float16", FOR_ANY, make, FLOAT16)
/* the same of what has a gradient: two forms */
#define ROUNDED_BOTH(what, make) \
    EDIT(NULL, what " rounded to bfloat16", FOR_ANY, make, BFLOAT16), \
    EDIT(NULL, what " rounded to bfloat16", FOR_ANY, make, -BFLOAT16), \
    EDIT(NULL, what " rounded to float16", FOR_ANY, make, FLOAT16), \
    EDIT(NULL, what " rounded to float16", FOR_ANY, make, -FLOAT16)
#define MICRO_BATCHES(n) \
    EDIT(NULL, "micro-batches of " #n " responses have a mean of their own, and the loss is the mean of these", FOR_ANY, \
        mean_of_micro_batches, n), \
    EDIT(NULL, "micro-batches of " #n " responses have a mean over their tokens, and the loss is the mean of these", FOR_ANY, \
        mean_of_micro_batches, -n)
#define PARTS(n) \
    EDIT(NULL, #n " micro-batches of a batch have a mean of their own, and the loss is the mean of these", FOR_ANY, mean_of_parts, n), \
    EDIT(NULL, #n " micro-batches of a batch have a mean over their tokens, and the loss is the mean of these", FOR_ANY, \
        mean_of_parts, -n)
#define WEIGHTED " have a mean over their tokens, and each is weighted by its share of the responses"
/* of GMPO's clipped log-ratios */
#define POOLED(name, kind) EDITS(NULL, name, FOR_ANY, pooled_otherwise, BOUNDS_RIGHT, share_ratio, kind)
#define DIVIDED(by) \
    EDIT(NULL, "the old log-probabilities are divided by a temperature, " #by, FOR_ANY, old_divided, by), \
    EDIT(NULL, "the policy's log-probabilities are divided by a temperature, " #by ", and the others are not", FOR_ANY, \
        policy_divided, by), \
    EDIT(NULL, "all log-probabilities are divided by a temperature, " #by, FOR_ANY, all_divided, by)

static const mistake mistakes[] = {
    /* the ratio */
    EDIT(NULL, "the ratio is inverted: old over new", FOR_ANY, log_ratio_times, -1),
    EDIT(NULL, "the ratio is inverted: old over new", FOR_ANY, log_ratio_times_by_hand, -1),
    EDIT(NULL, "the log-ratio is halved", FOR_ANY, log_ratio_times, 0.5),
    EDIT(NULL, "the log-ratio is halved", FOR_ANY, log_ratio_times_by_hand, 0.5),
    EDIT(NULL, "the log-ratio is doubled", FOR_ANY, log_ratio_times, 2),
    EDIT(NULL, "the log-ratio is doubled", FOR_ANY, log_ratio_times_by_hand, 2),
    EDIT(NULL, "the ratio is a power of 2, not of e", FOR_ANY, log_ratio_times, 0.69314718055994531),
    EDIT(NULL, "the ratio is a power of 10, not of e", FOR_ANY, log_ratio_times, 2.3025850929940457),
    EDIT(NULL, "the absolute value of the log-ratio is taken", FOR_ANY, log_ratio_size, 0),
    DIVIDED(0.5), DIVIDED(0.6), DIVIDED(0.7), DIVIDED(0.8), DIVIDED(0.9), DIVIDED(1.2), DIVIDED(1.5),
    EDIT(NULL, "the ratio is halved", FOR_ANY, ratio_times, 0.5),
    EDIT(NULL, "the ratio is doubled", FOR_ANY, ratio_times, 2),
    EDIT("RATIO-01", NULL, FOR_ANY, old_is_policy, 0),
    EDIT("RATIO-01", NULL, FOR_ANY, log_ratio_times_by_hand, 0),       /* a rollout correction has the right old ones */
    EDIT("RATIO-01a", NULL, FOR_ANY, log_ratio_times, 0),
    EDIT("RATIO-06", NULL, FOR_ANY, old_is_reference, 0),
    EDIT(NULL, "the ratio's denominator is logp_rollout", FOR_ANY, old_is_rollout, 0),
    EDIT(NULL, "the ratio's denominator is logp_old", FOR_ANY, old_is_old, 0),
    EDIT(NULL, "the ratio has no denominator: the policy's probability alone", FOR_ANY, old_is_certain, 0),
    EDIT(NULL, "the ratio is a quotient of log-probabilities", FOR_ANY, ratio_of_logs, 0),
    POLICY(NULL, "no exponential: the log-ratio is taken for the ratio", FOR_CLIP, no_exponential),
    POLICY(NULL, "1 + log-ratio is taken for the ratio", FOR_CLIP, linear_ratio),
    EDIT(NULL, "the policy's gradient is left out, as if the ratio were detached", FOR_ANY, policy_gradient_times, 0),
    EDIT(NULL, "the sign of the policy's gradient is turned", FOR_ANY, policy_gradient_times, -1),
    EDIT(NULL, "the mean log-ratio of a response is divided by its slots, masked ones included", FOR_ANY, share_ratio, BY_SLOTS),
    POOLED("the mean log-ratio of a response is divided by its slots, masked ones included", BY_SLOTS),
    EDIT(NULL, "the mean log-ratio of a response is divided by the width of the batch", FOR_ANY, share_ratio, BY_WIDTH),
    POOLED("the mean log-ratio of a response is divided by the width of the batch", BY_WIDTH),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length once more", FOR_ANY, share_ratio, BY_TOKENS),
    POOLED("the mean log-ratio of a response is divided by its length once more", BY_TOKENS),
    EDIT(NULL, "the mean log-ratio of a response is divided by the root of its length", FOR_ANY, share_ratio, BY_ROOT),
    EDIT(NULL, "the mean log-ratio of a response is divided by the mean length of all responses", FOR_ANY, share_ratio, BY_MEAN_LENGTH),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1", FOR_ANY, share_ratio, BY_ONE_MORE),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length less 1", FOR_ANY, share_ratio, BY_ONE_LESS),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length less 1", FOR_ANY, share_ratio, BY_ONE_LESS_OR_1),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-4", FOR_ANY, share_ratio, BY_EPS_4),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-5", FOR_ANY, share_ratio, BY_EPS_5),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-6", FOR_ANY, share_ratio, BY_EPS_6),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-8", FOR_ANY, share_ratio, BY_EPS_8),
    EDIT(NULL, "the mean log-ratio of a response is divided by its length plus 1e-9", FOR_ANY, share_ratio, BY_EPS_9),
    EDIT(NULL, "the mean of a response's ratios is taken, not of its log-ratios", FOR_ANY, mean_of_ratios, 1),
    EDIT(NULL, "the mean of a response's ratios is taken, not of its log-ratios", FOR_ANY, mean_of_ratios, 0),
    EDIT(NULL, "masked tokens enter the mean log-ratio of their response", FOR_ANY, mean_of_all, 0),
    EDIT(NULL, "masked tokens enter the mean log-ratio of their response", FOR_ANY, mean_of_all, 1),
    EDIT(NULL, "the gradient of the mean log-ratio lacks its 1/T", FOR_ANY, share_gradient, TIMES_TOKENS),
    EDIT(NULL, "the gradient of the mean log-ratio has 1/T twice", FOR_ANY, share_gradient, BY_TOKENS),
    EDIT(NULL, "the gradient of the mean log-ratio is divided by the slots of the response, masked ones included", FOR_ANY, share_gradient,
        BY_SLOTS),
    EDIT(NULL, "the gradient of the mean log-ratio is divided by the width of the batch", FOR_ANY, share_gradient, BY_WIDTH),
    EDIT(NULL, "the mean log-ratio is of the responses at a position, not of the tokens of a response", FOR_ANY, mean_of_position, 0),
    EDIT("GSPO-05", NULL, FOR_ANY, mean_not_detached, 0),
    EDIT(NULL, "GMPO's bounds are exchanged: the lower one where A >= 0, the upper one where A < 0", FOR_ANY, pooled_otherwise,
        BOUNDS_EXCHANGED),
    EDIT(NULL, "GMPO's bounds both hold, whatever the sign of A", FOR_ANY, pooled_otherwise, BOUNDS_BOTH),
    EDIT(NULL, "GMPO's bounds are of the ratio, 1 - eps and 1 + eps, not of the log-ratio", FOR_ANY, pooled_otherwise, BOUNDS_OF_RATIO),
    EDIT(NULL, "GMPO's bounds are of the ratio, and both hold, whatever the sign of A", FOR_ANY, pooled_otherwise, BOUNDS_OF_RATIO_BOTH),
    EDIT("CLIP-08", NULL, FOR_ANY, pooled_otherwise, BOUNDS_OF_ZERO),
    EDITS(NULL, "GMPO's log-ratios are added, not averaged: the product of the ratios without its root", FOR_ANY, pooled_otherwise,
        BOUNDS_RIGHT, sum_not_mean, 0),
    EDIT(NULL, "the ratios of the tokens are clipped before their mean is taken", FOR_ANY, tokens_clipped_first, 0),
    EDIT("RATIO-05", NULL, FOR_ANY, ratio_of_response, 0),
    EDIT("TIS-01a", NULL, FOR_ANY, rollout_weight_of_policy, 0),
    EDIT(NULL, "the rollout weight multiplies the ratio before the clip, not the clipped term", FOR_CLIP, rollout_weight_in_ratio, 0),
    EDIT(NULL, "the cap of the rollout weight is its lower bound, and there is no upper one", FOR_ANY, rollout_cap_is_floor, 0),
    EDIT(NULL, "the rollout correction is inverted: the sampler over the old policy", FOR_ANY, rollout_weight_inverted, 0),
    EDIT(NULL, "the temperatures of SAPO are exchanged: tau_pos and tau_neg", FOR_ANY, taus_exchanged, 0),
    /* shifted arrays */
    ROLLED(old, "old", sequence, ", round the end of the response"),
    ROLLED(old, "old", batch, ", through the whole batch"),
    ROLLED(old, "old", zero, ", with a 0 where one is missing"),
    ROLLED(old, "old", edge, ", with its own where one is missing"),
    ROLLED_POLICY(sequence, ", round the end of the response"),
    ROLLED_POLICY(batch, ", through the whole batch"),
    ROLLED_POLICY(zero, ", with a 0 where one is missing"),
    ROLLED_POLICY(edge, ", with its own where one is missing"),
    ROLLED(reference, "reference's", sequence, ", round the end of the response"),
    ROLLED(reference, "reference's", batch, ", through the whole batch"),
    ROLLED(reference, "reference's", zero, ", with a 0 where one is missing"),
    ROLLED(reference, "reference's", edge, ", with its own where one is missing"),
    ROLLED_IN_ROWS(old, "old"),
    ROLLED_IN_ROWS(policy, "policy's"),
    ROLLED_IN_ROWS(reference, "reference's"),
    EDIT(NULL, "the old log-probabilities are padded before their first token, the others after their last", FOR_ANY, old_at_other_end, 0),
    EDIT(NULL, "the reference's log-probabilities are padded before their first token, the others after their last", FOR_ANY,
        reference_at_other_end, 0),
    { NULL, "the old log-probabilities are one token ahead of the policy's, and the last column of the padded batch is cut off", FOR_ANY,
        { { pad_rows, 0 }, { roll_old_sequence, -1 }, { mask_end_of_full_rows, 0 } }, NULL, NULL },
    { NULL, "the old log-probabilities are one token behind the policy's, and the first column of the padded batch is cut off", FOR_ANY,
        { { pad_rows, 0 }, { roll_old_sequence, 1 }, { mask_first_column, 0 } }, NULL, NULL },
    /* numbers of 16 bits */
    ROUNDED_BOTH("the log-probabilities of all policies are", all_rounded),
    ROUNDED("the old log-probabilities are", old_rounded),
    ROUNDED_BOTH("the policy's log-probabilities are", policy_rounded),
    ROUNDED("the reference's log-probabilities are", reference_rounded),
    ROUNDED_BOTH("the log-ratios are", log_ratio_rounded),
    EDIT(NULL, "the ratio is rounded to bfloat16", FOR_ANY, ratio_rounded, BFLOAT16),
    EDIT(NULL, "the ratio is rounded to bfloat16", FOR_ANY, ratio_rounded, -BFLOAT16),
    EDIT(NULL, "the ratio is rounded to bfloat16", FOR_ANY, ratio_rounded_twice, BFLOAT16),
    EDIT(NULL, "the ratio is rounded to float16", FOR_ANY, ratio_rounded, FLOAT16),
    EDIT(NULL, "the ratio is rounded to float16", FOR_ANY, ratio_rounded, -FLOAT16),
    EDIT(NULL, "the ratio is rounded to float16", FOR_ANY, ratio_rounded_twice, FLOAT16),
    /* the advantage */
    EDIT(NULL, "the sign of the advantage is turned", FOR_ANY, advantage_times, -1),
    EDIT(NULL, "the absolute value of the advantage is taken", FOR_ANY, advantage_size, 0),
    EDIT(NULL, "the sign of the advantage is taken for the advantage", FOR_ANY, advantage_sign, 0),
    EDIT(NULL, "negative advantages are left out", FOR_ANY, advantage_side, 1),
    EDIT(NULL, "positive advantages are left out", FOR_ANY, advantage_side, -1),
    EDIT(NULL, "the advantage is left out, as if it were 1", FOR_ANY, advantage_one, 1),
    EDIT(NULL, "the advantage is multiplied by 2", FOR_ANY, advantage_times, 2),
    EDIT(NULL, "the advantage is multiplied by 1/2", FOR_ANY, advantage_times, 0.5),
    EDIT(NULL, "the advantage is squared", FOR_ANY, advantage_squared, 0),
    EDIT(NULL, "the advantage is cut at -1 and 1", FOR_ANY, advantage_bounded, 1),
    EDIT(NULL, "the advantage stands at the first token of a response alone", FOR_ANY, advantage_of_one, 1),
    EDIT(NULL, "the advantage stands at the last token of a response alone", FOR_ANY, advantage_of_one, -1),
    EDIT(NULL, "the advantages are shifted by one token, to the left, with a 0 where one is missing", FOR_ANY, advantage_shifted, -1),
    EDIT(NULL, "the advantages are shifted by one token, to the right, with a 0 where one is missing", FOR_ANY, advantage_shifted, 1),
    EDIT(NULL, "all tokens have the advantage at the last position of the padded row: 0 in responses shorter than the longest", FOR_ANY,
        advantage_of_last_position, 0),
    EDITS(NULL, "a response's advantage is the mean over all positions of the padded row", FOR_ANY, advantage_of_response, 0,
        advantage_by_length, BY_WIDTH),
    EDIT(NULL, "each response has the advantage of the next one", FOR_ANY, advantage_of_other, 1),
    EDITS(NULL, "each response has the advantage of the next one", FOR_ANY, advantage_of_response, 0, advantage_of_other, 1),
    EDITS(NULL, "each response has the advantage of the next one", FOR_ANY, pad_rows, 0, advantage_rolled, 1),
    EDIT(NULL, "each response has the advantage of the one before", FOR_ANY, advantage_of_other, -1),
    EDITS(NULL, "each response has the advantage of the one before", FOR_ANY, advantage_of_response, 0, advantage_of_other, -1),
    EDITS(NULL, "each response has the advantage of the one before", FOR_ANY, pad_rows, 0, advantage_rolled, -1),
    EDIT(NULL, "the advantage is divided by the response's length", FOR_ANY, advantage_by_length, BY_TOKENS),
    EDIT(NULL, "the advantage is multiplied by the response's length", FOR_ANY, advantage_by_length, TIMES_TOKENS),
    EDIT(NULL, "a response has one advantage, that of its first token, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, 1),
    EDIT(NULL, "a response has one advantage, that of its last token, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, -1),
    EDIT(NULL, "a response has one advantage, the mean of those of its tokens, where case.advantage has one for each token", FOR_ANY,
        advantage_of_response, 0),
    EDIT(NULL, "the advantages are in the order of responses sorted by length, the longest first", FOR_ANY, advantage_sorted, 1),
    EDIT(NULL, "the advantages are in the order of responses sorted by length, the shortest first", FOR_ANY, advantage_sorted, -1),
    EDIT("ADV-25b", NULL, FOR_ANY, advantage_drifts, 0),
    EDIT("ADV-25c", NULL, FOR_LINEAR, advantage_of_all, 0),
    /* the clip */
    POLICY("CLIP-01", NULL, INSTEAD_OF_CLIP, unclipped),
    POLICY("CLIP-01b", NULL, FOR_CLIP, exchanged),
    POLICY(NULL, "the clip without its minimum: -A clip(w) alone", FOR_CLIP, only_clip),
    POLICY(NULL, "the clip without its minimum where A < 0: -A clip(w) there", FOR_CLIP, only_clip_of_bad),
    POLICY("CLIP-01a", NULL, FOR_CLIP, min_of_ratios),
    POLICY(NULL, "the maximum is of the ratios, before A is multiplied: -A max(w, clip(w))", FOR_CLIP, max_of_ratios),
    POLICY(NULL, "the clip's lower bound is reciprocal: 1/(1 + eps_high)", FOR_CLIP, reciprocal_low),
    POLICY(NULL, "the clip's lower bound is reciprocal: 1/(1 + eps_low)", FOR_CLIP, reciprocal_own),
    POLICY(NULL, "the clip's upper bound is reciprocal: 1/(1 - eps_low)", FOR_CLIP, reciprocal_high),
    POLICY(NULL, "eps_low and eps_high are exchanged", FOR_CLIP, epsilons_exchanged),
    POLICY(NULL, "eps_high is used on both sides", FOR_CLIP, eps_high_twice),
    POLICY(NULL, "the bounds of the clip are exchanged: clip(w, 1 + eps_high, 1 - eps_low)", FOR_CLIP, turned_low),
    POLICY(NULL, "the bounds of the clip are exchanged: clip(w, 1 + eps_high, 1 - eps_low)", FOR_CLIP, turned_high),
    POLICY(NULL, "the clip is around 0: clip(w, -eps_low, eps_high)", FOR_CLIP, around_zero),
    POLICY("CLIP-02c", NULL, FOR_CLIP, from_eps),
    POLICY(NULL, "the bounds of the clip are the epsilons themselves: clip(w, eps_low, eps_high)", FOR_CLIP, the_epsilons),
    POLICY(NULL, "the clip has no lower bound", FOR_CLIP, upper_only),
    POLICY(NULL, "the clip has no upper bound", FOR_CLIP, lower_only),
    POLICY(NULL, "the log-ratio is clipped at -eps_low and eps_high", FOR_CLIP, at_log),
    POLICY(NULL, "the log-ratio is clamped at -eps_low and eps_high before the clip, whatever the sign of A", FOR_CLIP, clamped_log),
    POLICY(NULL, "the product w A is clipped, not the ratio", FOR_CLIP, product_clipped),
    POLICY(NULL, "the advantage is clipped, not the ratio", INSTEAD_OF_CLIP, clipped_advantage),
    POLICY(NULL, "the advantage is clipped, not the ratio", INSTEAD_OF_CLIP, clipped_advantage_at_bounds),
    POLICY(NULL, "clipped and unclipped loss are added", FOR_CLIP, both_added),
    POLICY(NULL, "the clipped ratio is a detached weight of the log-probability, as in CISPO", INSTEAD_OF_CLIP, clip_times_logp),
    POLICY(NULL, "the gradient goes through the clip, as if it did not bind", FOR_CLIP, straight_through),
    POLICY(NULL, "the gradient goes through the clip, as if it did not bind", INSTEAD_OF_CLIP, straight_through_both),
    POLICY(NULL, "tokens whose ratio is out of the clip's bounds are left out, whatever the sign of A", INSTEAD_OF_CLIP, dropped_outside),
    POLICY(NULL, "tokens whose ratio is further from 1 than eps_high are left out, whatever the sign of A", INSTEAD_OF_CLIP,
        dropped_by_eps_high),
    POLICY(NULL, "the ratio has no gradient out of the clip's bounds, whatever the sign of A, and its value is not clipped",
        INSTEAD_OF_CLIP, killed_unclipped),
    POLICY(NULL, "the clip cuts the gradient of every ratio out of its bounds, whatever the sign of A", FOR_CLIP, killed_outside),
    POLICY(NULL, "the clip cuts the gradient where it does not bind, and lets it through where it does", FOR_CLIP, killed_elsewhere),
    POLICY(NULL, "the gradient of ratios within the clip's bounds is halved, as of a minimum of two equal numbers, one of them detached",
        FOR_CLIP, halved_inside),
    POLICY(NULL, "a dual clip, c = 3, where none is meant", FOR_SINGLE_CLIP, dual_3),
    POLICY(NULL, "a dual clip, c = 10, where none is meant", FOR_SINGLE_CLIP, dual_10),
    POLICY(NULL, "the dual clip acts where A > 0, not where A < 0", FOR_DUAL_CLIP, dual_of_positive),
    POLICY(NULL, "minimum and maximum are exchanged in the dual clip", FOR_DUAL_CLIP, dual_exchanged),
    POLICY(NULL, "tokens beyond the dual clip are left out, where their loss should be -c A", FOR_DUAL_CLIP, dual_dropped),
    POLICY(NULL, "the dual clip's bound has the wrong sign: c A, not -c A", FOR_DUAL_CLIP, dual_turned),
    POLICY(NULL, "the dual clip's bound is divided by c, not multiplied: -A / c, not -c A", FOR_DUAL_CLIP, dual_inverted),
    POLICY(NULL, "the dual clip's bound is c, without the advantage", FOR_DUAL_CLIP, dual_without_advantage),
    POLICY(NULL, "the gradient lacks the ratio: -A for -A w", FOR_CLIP, without_ratio),
    POLICY(NULL, "the gradient has the ratio twice: -A w^2 for -A w", FOR_CLIP, ratio_again),
    POLICY(NULL, "the gradient is by the probability, not by the log-probability", FOR_CLIP, without_log),
    POLICY(NULL, "the ratio less 1 is taken in the loss: (w - 1) A", FOR_CLIP, ratio_less_one),
    EDITS(NULL, "both epsilons are doubled", FOR_CLIP, eps_low_times, 2, eps_high_times, 2),
    EDITS(NULL, "both epsilons are halved", FOR_CLIP, eps_low_times, 0.5, eps_high_times, 0.5),
    EDITS(NULL, "both epsilons are ten times too large", FOR_CLIP, eps_low_times, 10, eps_high_times, 10),
    EDITS(NULL, "both epsilons are ten times too small", FOR_CLIP, eps_low_times, 0.1, eps_high_times, 0.1),
    /* CISPO, REINFORCE */
    POLICY("CISPO-01", NULL, FOR_CISPO, cispo_as_loss),
    POLICY(NULL, "CISPO's weight has no bound", FOR_CISPO, cispo_unbounded),
    POLICY("TIS-02", NULL, FOR_CISPO, cispo_attached),
    POLICY(NULL, "tokens whose CISPO weight is out of its bounds are dropped", FOR_CISPO, cispo_dropped),
    POLICY("CISPO-03a", NULL, FOR_CISPO, cispo_cap_more),
    POLICY(NULL, "CISPO's weight is bounded for positive advantages alone", FOR_CISPO, cispo_with_min),
    POLICY(NULL, "CISPO's bound is taken of the log-ratio", FOR_CISPO, cispo_log_capped),
    POLICY(NULL, "CISPO's bound is one too small: eps where it is 1 + eps", FOR_CISPO, cispo_cap_less),
    POLICY(NULL, "CISPO's weight is left out: REINFORCE", FOR_CISPO, reinforced),
    POLICY(NULL, "probabilities are taken for log-probabilities", FOR_CISPO, cispo_probability),
    POLICY(NULL, "probabilities are taken for log-probabilities", FOR_REINFORCE, probability),
    POLICY(NULL, "the value of the loss is -A e^(l - sg[l]), so -A, where it should be -A l", FOR_REINFORCE, ratio_of_itself),
    POLICY(NULL, "tokens above CISPO's bound are dropped where A > 0", FOR_CISPO, cispo_dropped_good),
    POLICY(NULL, "CISPO's detached weight multiplies the ratio, not the log-probability", FOR_CISPO, cispo_times_ratio),
    POLICY(NULL, "CISPO's detached weight multiplies the log-ratio, not the log-probability", FOR_CISPO, cispo_of_log_ratio),
    /* SAPO */
    POLICY(NULL, "SAPO's gate is around 0, not around the ratio 1: sigmoid(tau w)", FOR_SAPO, sapo_around_zero),
    POLICY(NULL, "SAPO's gate is of the log-ratio: sigmoid(tau log w)", FOR_SAPO, sapo_of_log),
    POLICY(NULL, "SAPO's gate is multiplied by 4, not by 4/tau", FOR_SAPO, sapo_undivided),
    POLICY(NULL, "SAPO's temperature is chosen by the ratio, w > 1, not by the sign of A", FOR_SAPO, sapo_by_ratio),
    POLICY(NULL, "SAPO's gate is multiplied by the ratio once more", FOR_SAPO, sapo_times_ratio),
    POLICY("CLIP-09a", NULL, FOR_SAPO, sapo_gate_alone),
    POLICY(NULL, "SAPO's temperature divides: sigmoid((w - 1)/tau)", FOR_SAPO, sapo_divided),
    POLICY(NULL, "SAPO's temperature divides: sigmoid((w - 1)/tau)", FOR_SAPO, sapo_divided_whole),
    /* the KL */
    EDIT("KL-01", NULL, FOR_KL, penalty_times, -1),
    EDIT("KL-02", NULL, FOR_KL, penalty_gradient_times, 0),
    K3("KL-04", NULL, k3_reversed),
    K3(NULL, "k3 without its 1: e^-D + D", k3_without_one),
    K3(NULL, "k3 with D of one sign in the exponent and the other beside it: e^-D - D - 1", k3_mixed),
    K3(NULL, "k3 with D of one sign in the exponent and the other beside it: e^D + D - 1", k3_mixed_more),
    K3(NULL, "k3 without its D: e^-D - 1", k3_without_linear),
    PENALTY(NULL, "the KL's estimator is D, k1", right_k1),
    PENALTY(NULL, "the KL's estimator is D^2/2, k2", right_k2),
    PENALTY(NULL, "the KL's estimator is e^-D + D - 1, k3", right_k3),
    PENALTY(NULL, "the KL's estimator is |D|", right_abs),
    PENALTY(NULL, "the KL's estimator is D^2, without its 1/2", kl_square),
    PENALTY(NULL, "the KL's estimator is -D: of the other direction", kl_negative),
    PENALTY(NULL, "the KL's estimator is p D, weighted by the policy's probability", kl_weighted),
    PENALTY(NULL, "the KL's estimator is the ratio e^-D", kl_ratio),
    PENALTY(NULL, "the KL's estimator is the ratio e^D", kl_other_ratio),
    PENALTY(NULL, "the KL is multiplied by the advantage", kl_times_advantage),
    EDIT("KL-03", NULL, FOR_KL, penalty_of_old, 0),
    EDIT(NULL, "the KL is subtracted from the advantage, and not in the loss", FOR_KL, penalty_in_advantage, -1),
    EDIT(NULL, "the KL is added to the advantage, and not in the loss", FOR_KL, penalty_in_advantage, 1),
    EDIT(NULL, "the KL is of the old policy, not of the reference", FOR_KL, reference_is_old, 0),
    EDIT(NULL, "the KL's estimator is of the mean log-ratio of a response, not of each token's", FOR_KL, penalty_of_mean, 0),
    EDIT(NULL, "the KL's coefficient is applied twice", FOR_KL, penalty_coefficient_again, 1),
    EDIT(NULL, "the KL's coefficient is left out", FOR_KL, penalty_coefficient_again, 0),
    EDIT(NULL, "the KL counts twice", FOR_KL, penalty_times, 2),
    EDIT(NULL, "the KL counts half", FOR_KL, penalty_times, 0.5),
    EDIT(NULL, "the KL is left out", FOR_KL, penalty_times, 0),
    EDIT(NULL, "the KL is one mean over all tokens, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_TOKENS),
    EDIT(NULL, "the KL is a mean over responses of means, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_MEANS),
    EDIT(NULL, "the KL is a mean over responses of sums, unlike the policy's loss", FOR_KL, penalty_aggregated, MEAN_OF_SUMS),
    EDIT(NULL, "the KL is a sum over tokens, unlike the policy's loss", FOR_KL, penalty_aggregated, SUM_OF_TOKENS),
    EDIT(NULL, "the KL of tokens that do not count is in its sum, which is divided by the tokens that count", FOR_KL, penalty_of_all, 0),
    EDIT(NULL, "the KL is averaged over tokens that do not count, too", FOR_KL, penalty_of_all, 1),
    EDIT("NORM-26", NULL, FOR_KL, penalty_of_all, 2),
    EDIT("NORM-03", NULL, FOR_KL, policy_aggregated, MEAN_OF_TOKENS),
    EDIT(NULL, "the policy's loss is left out", FOR_KL, policy_times, 0),
    EDIT(NULL, "the sign of the policy's loss is turned, that of the KL is not", FOR_ANY, policy_times, -1),
    EDIT(NULL, "the KL is multiplied by the ratio, detached", FOR_KL, penalty_by_ratio, 0),
    EDIT(NULL, "the KL is multiplied by the ratio, detached", FOR_KL, penalty_by_ratio, 1),
    EDIT("KL-06", NULL, FOR_KL, penalty_weight_detached, 0),
    EDIT("ENT-01", NULL, FOR_ENTROPY, bonus_times, -1),
    EDIT(NULL, "the entropy bonus has no coefficient", FOR_ENTROPY, bonus_without_coefficient, 0),
    /* the mask */
    EDIT("MASK-06a", NULL, FOR_ANY, mask_all, 0),
    EDITS("MASK-06a", NULL, FOR_ANY, advantage_everywhere, 0, mask_all, 0),
    PADDED_MASK(NULL, "the mask is ignored, and padding counts too", mask_all, 0),
    EDIT(NULL, "the mask is in the log-ratio alone: masked tokens have the ratio 1, and stay in the sum", FOR_ANY, masked_ratio_is_one, 0),
    EDITS(NULL, "the mask is in the log-ratio alone: masked tokens have the ratio 1, and stay in the sum", FOR_ANY, pad_rows, 0,
        masked_ratio_is_one, 0),
    EDIT(NULL, "tokens with an advantage of 0 do not count", FOR_ANY, mask_zero_advantages, 0),
    EDIT(NULL, "responses whose advantages are all 0 do not count", FOR_ANY, mask_zero_advantages, 1),
    EDIT(NULL, "responses with a masked token do not count", FOR_ANY, mask_whole_responses, 0),
    EDIT("MASK-02", NULL, FOR_ANY, mask_last, 0),
    EDIT("MASK-02a", NULL, FOR_ANY, mask_end_of_full_rows, 0),
    EDIT("MASK-02b", NULL, FOR_ANY, mask_first, 0),
    EDIT(NULL, "the mask is inverted", FOR_ANY, mask_inverted, 0),
    EDITS(NULL, "the mask is inverted", FOR_ANY, advantage_everywhere, 0, mask_inverted, 0),
    MASK("MASK-05", NULL, mask_shifted, -1),
    MASK(NULL, BEHIND, mask_shifted, 1),
    PADDED_MASK(NULL, BEHIND, mask_shifted, 1),
    MASK("MASK-05b", NULL, mask_shifted_on, 1),
    PADDED_MASK("MASK-05b", NULL, mask_shifted_on, 1),
    MASK(NULL, AHEAD ", and every last token counts", mask_shifted_on, -1),
    SHIFTED_MASK(", the token at the end keeps its own", mask_shifted_own),
    SHIFTED_MASK(", round the end of the response", mask_shifted_response),
    MASK(NULL, BEHIND ", round the end of the padded row", mask_shifted_row, 1),
    PADDED_MASK(NULL, BEHIND ", round the end of the padded row", mask_shifted_response, 1),
    MASK(NULL, AHEAD ", round the end of the padded row", mask_shifted_row, -1),
    PADDED_MASK(NULL, AHEAD ", round the end of the padded row", mask_shifted_response, -1),
    PADDED_MASK(NULL, BEHIND ", through the padded batch", mask_shifted_batch, 1),
    PADDED_MASK(NULL, AHEAD ", through the padded batch", mask_shifted_batch, -1),
    SHIFTED_MASK(", through the whole batch", mask_shifted_batch),
    EDIT("MASK-12a", NULL, FOR_ANY, sum_over_all, 0),
    EDITS("MASK-12a", NULL, FOR_ANY, advantage_everywhere, 0, sum_over_all, 0),
    /* divisors */
    EDIT(NULL, "the mean over the responses at each position, and then over positions", FOR_ANY, mean_of_positions, 0),
    EDIT(NULL, "the mean over the responses at each position, and then over positions", FOR_ANY, mean_of_positions, 1),
    EDIT("NORM-05", NULL, FOR_ANY, empty_means, 1),
    EDIT("NORM-05", NULL, FOR_ANY, empty_means, 2),
    EDIT("NORM-02", NULL, FOR_ANY, share_mean_of_response, BY_TOKENS),
    EDIT("NORM-17b", NULL, FOR_TOKEN_MEAN, all_aggregated, MEAN_OF_SUMS),
    EDIT("NORM-13", NULL, FOR_ANY, share_mean_of_response, BY_SLOTS),
    EDIT("NORM-13", NULL, FOR_ANY, share_total, 0),
    EDIT("MASK-12", NULL, FOR_ANY, share_mean_of_response, BY_WIDTH),
    EDIT("MASK-12", NULL, FOR_ANY, share_total, 1),
    EDIT(NULL, "the mean of a group is divided by its slots, masked ones included", FOR_ANY, share_mean_of_group, 0),
    EDIT(NULL, "the mean of a group is divided by all its positions, padding included", FOR_ANY, share_mean_of_group, 1),
    EDIT(NULL, "the mean of a response is divided by its length plus 1", FOR_ANY, share_mean_of_response, BY_ONE_MORE),
    EDIT(NULL, "the mean of a response is divided by its length less 1", FOR_ANY, share_mean_of_response, BY_ONE_LESS),
    EDIT(NULL, "the mean of a response is divided by its length less 1", FOR_ANY, share_mean_of_response, BY_ONE_LESS_OR_1),
    EDIT(NULL, "the mean of a response is divided by the root of its length", FOR_ANY, share_mean_of_response, BY_ROOT),
    EDIT(NULL, "the number of tokens that is divided by has 1e-4 added", FOR_ANY, share_mean_of_response, BY_EPS_4),
    EDIT(NULL, "the number of tokens that is divided by has 1e-4 added", FOR_ANY, share_total, 1e-4),
    EDIT(NULL, "the number of tokens that is divided by has 1e-5 added", FOR_ANY, share_mean_of_response, BY_EPS_5),
    EDIT(NULL, "the number of tokens that is divided by has 1e-5 added", FOR_ANY, share_total, 1e-5),
    EDIT(NULL, "the number of tokens that is divided by has 1e-6 added", FOR_ANY, share_mean_of_response, BY_EPS_6),
    EDIT(NULL, "the number of tokens that is divided by has 1e-6 added", FOR_ANY, share_total, 1e-6),
    EDIT(NULL, "the number of tokens that is divided by has 1e-8 added", FOR_ANY, share_mean_of_response, BY_EPS_8),
    EDIT(NULL, "the number of tokens that is divided by has 1e-8 added", FOR_ANY, share_total, 1e-8),
    EDIT(NULL, "the number of tokens that is divided by has 1e-9 added", FOR_ANY, share_mean_of_response, BY_EPS_9),
    EDIT(NULL, "the number of tokens that is divided by has 1e-9 added", FOR_ANY, share_total, 1e-9),
    EDIT(NULL, "what divides counts only the responses that have an advantage", FOR_ANY, count_with_advantage, 0),
    MICRO_BATCHES(2),
    MICRO_BATCHES(3),
    MICRO_BATCHES(4),
    PARTS(2),
    EDIT(NULL, "2 micro-batches of a batch" WEIGHTED, FOR_ANY, weighted_micro_batches, -2),
    EDIT(NULL, "micro-batches of 2 responses" WEIGHTED, FOR_ANY, weighted_micro_batches, 2),
    EDIT(NULL, "micro-batches of 3 responses" WEIGHTED, FOR_ANY, weighted_micro_batches, 3),
    EDIT(NULL, "micro-batches of 4 responses" WEIGHTED, FOR_ANY, weighted_micro_batches, 4),
    EDIT(NULL, "the constant divisor is the most tokens that count of any response in the batch", FOR_ANY, constant_is_longest, 0),
    EDIT(NULL, "the last response is left out", FOR_ANY, drop_response, -1),
    EDIT(NULL, "the last response is left out", FOR_ANY, drop_and_uncount, -1),
    EDIT(NULL, "the first response is left out", FOR_ANY, drop_response, 0),
    EDIT(NULL, "the first response is left out", FOR_ANY, drop_and_uncount, 0),
    EDIT(NULL, "only the first group counts", FOR_ANY, only_group, 0),
    EDIT(NULL, "only the last group counts", FOR_ANY, only_group, -1),
    EDIT(NULL, "responses are weighted by their length", FOR_ANY, share_loss, TIMES_TOKENS),
    EDIT(NULL, "each response is divided by its length", FOR_ANY, share_loss, BY_TOKENS)
};

enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

int computed_loss_count(void) { return N_MISTAKES; }

computed_mistake computed_loss_named(int n) {
    computed_mistake m = { 0 };
    m.id = mistakes[n].id;
    m.name = mistakes[n].name ? mistakes[n].name : mistakes[n].id;
    m.whole = mistakes[n].edits[0].make == log_ratio_times && mistakes[n].edits[0].p == 0;      /* no gradient: a detached ratio has none */
    return m;
}

static void put_report(const test_case *c, const part *p, answer *out) {
    double *to = answer_add(out, OUT_REPORT, c->n_report);
    for (int64_t k = 0; k < c->n_report; k++) {
        const int policy = !strcmp(c->report[k].key, "policy_loss"), penalty = !strcmp(c->report[k].key, "penalty_loss");
        out->of[OUT_REPORT].given[k] = (uint8_t)(policy || penalty);
        to[k] = policy ? p->policy_loss : p->penalty_loss;
    }
}

static void put_part(const test_case *c, const part *p, answer *out) {
    *answer_add(out, OUT_LOSS, 1) = p->loss;
    if (c->term.expect) memcpy(answer_add(out, OUT_TERM, c->batch.n_tokens), p->term, (size_t)c->batch.n_tokens * sizeof *p->term);
    memcpy(answer_add(out, OUT_DLOGP, c->batch.n_tokens), p->dlogp, (size_t)c->batch.n_tokens * sizeof *p->dlogp);
    if (c->dentropy.expect)
        memcpy(answer_add(out, OUT_DENTROPY, c->batch.n_tokens), p->dentropy, (size_t)c->batch.n_tokens * sizeof *p->dentropy);
    if (c->report) put_report(c, p, out);
}

int computed_loss(const test_case *c, int n, answer *out) {
    const mistake *m = &mistakes[n];
    edited s;
    part p;
    int ok = 0;
    memset(out, 0, sizeof *out);
    if (!case_has_loss(c) || !is_for(m->kind, &c->objective) || !is_plain(c, m->policy != NULL, m->penalty != NULL)) return 0;
    s = edited_of(c);
    if (!s.impossible) {
        p = made(&s, m);
        ok = !s.impossible && p.ok;
        if (ok) put_part(c, &p, out);
    }
    case_memory_free(&s.memory);
    return ok;
}
