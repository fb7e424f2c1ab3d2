/* Surrogates and estimators of the KL, right and mistaken, as formulas of one token. */
#ifndef LOSS_FORMULAS_H
#define LOSS_FORMULAS_H
#include "edited.h"

/* the value, and its derivatives by the log-ratio and by the log-probability itself */
typedef struct { double value, ratio, logp; } formula_value;
typedef formula_value formula(double A, double y, double l, const grpo_objective *obj);

/* FOR_CLIP: where a dual clip is meant, it bounds what the formula gives, as trainers do in a line of their own after the clip.
 * INSTEAD_OF_CLIP: the formula stands for both.  FOR_SINGLE_CLIP: where no dual clip is meant, FOR_DUAL_CLIP: where one is */
typedef enum { FOR_ANY, FOR_CLIP, INSTEAD_OF_CLIP, FOR_SINGLE_CLIP, FOR_DUAL_CLIP, FOR_CISPO, FOR_REINFORCE, FOR_KL, FOR_K3, FOR_LINEAR,
    FOR_TOKEN_MEAN, FOR_SAPO, FOR_ENTROPY } row_kind;
int is_for(row_kind kind, const grpo_objective *o);

/* surrogates; y is the log-ratio, l the log-probability */
formula right_clip, right_dual, unclipped, reinforced, ratio_of_itself, right_cispo, exchanged, only_clip, min_of_ratios,
    max_of_ratios, reciprocal_low, reciprocal_own, reciprocal_high, epsilons_exchanged, eps_high_twice, turned_low, turned_high,
    around_zero, from_eps, upper_only, lower_only, at_log, product_clipped, straight_through, dropped_outside, killed_outside,
    killed_elsewhere, without_ratio, ratio_again, without_log, no_exponential, linear_ratio, ratio_less_one, dual_3, dual_10,
    dual_of_positive, dual_exchanged, dual_dropped, dual_turned, dual_inverted, dual_without_advantage, straight_through_both,
    clip_times_logp, both_added, clipped_advantage, clipped_advantage_at_bounds, the_epsilons, clamped_log, killed_unclipped,
    dropped_by_eps_high, only_clip_of_bad, halved_inside,
    cispo_unbounded, cispo_as_loss, cispo_attached, cispo_dropped, cispo_cap_more, cispo_cap_less, cispo_with_min, cispo_log_capped,
    probability,
    cispo_probability, cispo_dropped_good, cispo_times_ratio, cispo_of_log_ratio,
    right_sapo, sapo_around_zero, sapo_of_log, sapo_undivided, sapo_by_ratio,
    sapo_times_ratio, sapo_gate_alone, sapo_divided, sapo_divided_whole;
formula_value with_dual(double A, formula_value v, const grpo_objective *o);       /* bounded by the dual clip, if the objective has one */
/* estimators of the KL; D = logp - logp_ref in the place of y */
formula right_k1, right_k2, right_k3, right_abs, k3_without_one, k3_reversed, k3_mixed, k3_mixed_more, k3_without_linear,
    kl_square, kl_weighted, kl_negative, kl_ratio, kl_other_ratio, kl_times_advantage;

/* the formula of an objective without a mistake; NULL: it is none of these */
formula *right_surrogate(const grpo_objective *o);
formula *right_kl(const grpo_objective *o);

#endif
