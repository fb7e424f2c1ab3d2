/* grpo_messages.h - messages of statuses that name an argument, in the words of its declaration.
 * An optional part of grpo.h and gspo.h.  In one source file write
 *
 *     #define GRPO_MESSAGES_IMPLEMENTATION
 *     #include "extra/grpo_messages.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.
 *
 * A status has the position of an argument, but not the function that returned it.  So where grpo_status_message says
 * "argument 3[5] must not be negative",
 *
 *     char text[GRPO_MESSAGE_SIZE];
 *     grpo_status st = grpo_multiplier_update(score, counted, n, &constraint, &multiplier, mean);
 *     if (st) puts(grpo_call_message("grpo_multiplier_update", st, text, sizeof text));     // constraint.rate must not be negative
 *
 * names it.  Nothing is allocated.  With GRPO_NO_TEXT this header is empty. */
#ifndef GRPO_MESSAGES_H
#define GRPO_MESSAGES_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_messages.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_call_message grpo_call_message_f64
#endif

#ifndef GRPO_NO_TEXT
#ifdef __cplusplus
extern "C" {
#endif

/* the message of a status that `function` of a header in extra/ returned, truncated to size > 0 bytes; returns buffer.  The name may lack
 * "grpo_".  That of grpo_status_message, if the status names no argument, or if there is no function of this name (NULL included) */
const char *grpo_call_message(const char *function, grpo_status st, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
#endif /* GRPO_MESSAGES_H */

#if defined(GRPO_MESSAGES_IMPLEMENTATION) && !defined(GRPO_MESSAGES_IMPLEMENTED)
#define GRPO_MESSAGES_IMPLEMENTED
#ifndef GRPO_NO_TEXT
#include "grpo_shared_text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* the functions that return a status, and their arguments in order; behind a colon the members of a struct whose status has a member's
 * number as index */
#define GRPO_DISTILL_MEMBERS_ "student,teacher_type,teacher_stride,k,teacher_temperature,kind,beta,tail,clip,logp_min,divergence_max"
static const char *const grpo_arguments_[][2] = {
    { "select_top_fraction", "batch by fraction selected" },
    { "select_top_k", "batch by count selected" },
    { "select_between", "batch by low high excluded order count selected" },
    { "select_second_moment", "batch advantage form threshold selected" },
    { "covariance", "batch advantage covariance" },
    { "reward_range_filter", "batch low high keep" },
    { "resampling_weights", "batch power eps weight" },
    { "resample", "weight n uniform draws index" },
    { "replay_score", "batch advantage score" },
    { "entropy_clip_batch", "batch advantage mu selected" },
    { "entropy_clip_vocabulary", "batch advantage expected mu fraction selected" },
    { "balanced_subset", "reward n count low high index" },
    { "prefix_trust_region", "batch advantage gate:width,least,delta,budget,quantile,factor scratch selected" },
    { "allocate_rollouts", "p n low high total count" },
    { "select_value_of_information", "draw n count index" },
    { "visit_value", "p diversity n alpha beta weight" },
    { "max_variance_subset", "advantage n count index" },
    { "pad_valid", "batch valid index count" },
    { "cluster_probability", "rate probability success n alpha new_rate new_probability" },
    { "explore_weight", "value n least weight" },
    { "reward_std_filter", "batch least keep" },
    { "advantage_filter", "advantage n least multiple positive keep" },
    { "select_low_probability", "batch probability selected" },
    { "sequence_distance", "a n_a b n_b form scratch distance" },
    { "balanced_clip_bounds", "batch advantage balance:low,high,low_max,high_max,step,target bounds" },
    { "running_baseline", "reward n momentum advantage baseline" },
    { "regret_temperature", "length score n temperature" },
    { "adaptive_clip", "batch advantage standard how:low,high,clip_coef,gain clip_low clip_high shaped" },
    { "drift_decay", "batch half_life low high decay" },
    { "quantile_tracker", "quantile level n rate observed m tracked" },
    { "turn_factor", "batch factor low high updated" },
    { "hint_level", "level success n low high max new_level" },
    { "standardised_entropy", "batch quantile form standard" },
    { "ratio_quantile", "batch quantile least value" },
    { "logit_shift", "batch correct beta shift" },
    { "multiplier_update", "score counted n constraint:target,rate,max,least multiplier mean" },
    { "key_token_advantage", "batch token measure:fisher,gain,top,frequency,ignored scratch capacity key" },
    { "jsd_advantage", "batch beta coef advantage" },
    { "distribution_advantage", "batch advantage tempered correct entropy entropy_base shaped" },
    { "boltzmann_advantage", "batch temperature advantage" },
    { "likelihood_advantage", "batch threshold temperature by_length scratch advantage" },
    { "canon_advantage", "batch metric canon:alpha,offset,mix,scaled advantage" },
    { "asymmetric_advantage", "batch alpha mean_reward advantage" },
    { "sharpening_advantage", "batch advantage lambda kappa scratch shaped" },
    { "feature_advantage", "batch feature:advantage,feature,divisor,eligible,delta,k shaped" },
    { "virtual_reward_advantage", "batch virtual_reward count eps advantage" },
    { "bundle_advantage", "batch bundle risk:low,high,a,c,omega,eps scratch advantage" },
    { "set_advantage", "reward klass n member set_begin n_sets advantage" },
    { "reference_advantage", "reward n reference_reward beta lambda with_reference advantage reference" },
    { "implicit_advantage", "batch process process_coef outcome_coef advantage" },
    { "hardness_advantage", "batch slope offset advantage" },
    { "token_advantage", "batch eps limit scaled advantage" },
    { "future_success_advantage", "reward n advantage" },
    { "alignment_advantage", "own other n how:gamma,weight_gamma,beta,clip,inclusive,sign,per_step,discount credit" },
    { "projected_advantage", "advantage n basis k alpha positive scratch shaped" },
    { "branch_advantage", "parent reward logp n form alpha scratch advantage" },
    { "collapsed_advantage", "batch eps advantage" },
    { "variant_advantage", "advantage difficulty mean n k weighted" },
    { "step_weight_advantage", "advantage weight n weighted" },
    { "tree_advantage", "parent reward value n gamma form scratch advantage" },
    { "two_anchor_advantage", "batch constraints anchors:alpha,beta,gain_pos,gain_neg,form advantage" },
    { "calibration_advantage", "batch correct temperature scratch advantage" },
    { "multi_scale_advantage", "reward n eps advantage" },
    { "hard_negative_advantage", "batch utility advantage replace" },
    { "position_advantage", "logp_old reward n advantage" },
    { "role_advantage", "reward role n form advantage" },
    { "median_advantage", "batch eps advantage pivot" },
    { "mix_advantages", "x y n a b mixed" },
    { "gram_rank", "gram advantage n share least most rank effective" },
    { "odds_advantage", "batch informed plain prior evidence_max advantage" },
    { "relative_cost_penalty", "batch cost:output,input,turns,output_coef,input_coef,turns_coef reward" },
    { "diversity_reward", "reward similarity n eps shaped" },
    { "unlikeliness_reward", "batch beta scratch reward" },
    { "early_exit_reward", "batch reward" },
    { "trust_reward", "batch outcome thought decay bounds:low,right,every,none reward" },
    { "tool_efficiency_reward", "batch calls correct smooth alpha form reward" },
    { "entity_reward", "batch found correct invalid alpha reward" },
    { "retention_reward", "batch lambda alpha reward" },
    { "efficiency_reward", "batch correct share alpha reward efficient" },
    { "consistency_bonus", "batch accuracy lambda cap margin reward" },
    { "gated_reward_sum", "rewards n columns weight gate reward" },
    { "brier_reward", "confidence n correct missing reward" },
    { "length_shape_reward", "length n form peak max reward" },
    { "log_exp_reward", "reward n threshold upper lower mapped" },
    { "tree_reward", "parent reward depth n gamma form turns scratch shaped" },
    { "hint_reward", "reward gap n temperature form gate reward_of_hint" },
    { "meta_reward", "correct length n net m passes predicted_length reward" },
    { "win_rate_reward", "wins n reward" },
    { "entropy_rank_reward", "peak overall n top scratch reward" },
    { "interval_reward", "begin end n gamma sample reward" },
    { "dense_rewards", "reward n score total shaped" },
    { "information_gain_reward", "logp n form gain" },
    { "shorter_correct_reward", "batch coef reward" },
    { "permutation_reward", "choice permutations n form reward" },
    { "frequency_reward", "batch answer size reward" },
    { "repetition_penalty", "batch token size penalty reward" },
    { "correct_length_reward", "batch correct alpha eps wrong reward" },
    { "pairwise_rewards", "batch outcome ended reward masked" },
    { "min_max_reward", "distance n reward" },
    { "sample_weights", "batch difficulty by_length weight" },
    { "teacher_gate", "batch advantage strength clip selected weight" },
    { "prefix_discrepancy_weight", "batch gamma form weight" },
    { "soft_top_k_weight", "x n target temperature weight normalised" },
    { "probability_weight", "batch strength weight" },
    { "conflict_weight", "batch token sign inside weight" },
    { "prompt_weight", "batch threshold limit low form weight" },
    { "invariance_weight", "batch meta anchor weight" },
    { "centroid_weight", "batch advantage feature how:width,refine,low,high scratch weight" },
    { "agent_weights", "batch agent weight" },
    { "centred_weights", "batch k surrogate penalty" },
    { "consistency_weights", "entropy n gamma centre local global" },
    { "confidence_factor", "batch correct delta factor" },
    { "surprisal_weight", "batch advantage share up down target weight" },
    { "difficulty_weight", "batch accuracy temperature weight" },
    { "covariance_weight", "batch advantage weight" },
    { "routed_weight", "batch routed beta weight" },
    { "entropy_factor", "entropy n alpha size factor" },
    { "semantic_entropy", "batch answer score entropy" },
    { "dynamic_scale", "hardness gap n bound factor" },
    { "length_preference_weight", "batch length r lambda weight slope" },
    { "value_loss", "batch value value_old returns clip aggregation:kind dvalue report" },
    { "proximal_logp", "batch version behaviour_version form logp_old" },
    { "generalised_jsd", "student teacher n temperature beta value dstudent" },
    { "top_k_gap", "student teacher n target gap" },
    { "distill_divergence", "x:" GRPO_DISTILL_MEMBERS_ " teacher ids mask part divergence" },
    { "distill_gradient", "x:" GRPO_DISTILL_MEMBERS_ " teacher ids mask part weight add dlogits" },
    { "distill_top", "x mask k ids" },
    { "distill_at", "x mask ids k logp" },
    { "distill_sort", "rows k ids numbers" },
    { "distill_pairs", "batch correct teacher student" },
    { "frontier_weight", "batch correct strength weight" },
    { "distill_importance_weight", "batch clip weight" },
    { "flow_schedule", "kind level next_level sigma_max sigma_min eta step" },
    { "balance_steps", "n rate centre weight" },
    { "gaussian_steps", "n begin sample mean mean_old mean_ref std kl_std out" },
    { "gaussian_steps_backward", "n begin sample mean mean_old mean_ref std kl_std by dmean" },
    { "denoising_error", "n begin prediction target error" },
    { "denoising_error_backward", "n begin prediction target derror dprediction" },
    { "denoising_preference", "n error error_ref weight beta loss derror" },
    { "diffusion_nft", "n begin velocity velocity_old velocity_ref noisy clean level advantage x:advantage_max,beta,kl_coef share loss "
                       "dvelocity" },
    { "hidden_loss", "obj batch advantage totals rows out report" },
    { "hidden_loss_add", "obj batch advantage totals rows out partial" },
    { "logits_row_read", "x row part" },
    { "logits_part_merge", "into from temperature" },
    { "logits_part_row", "part temperature row" },
    { "logits_row_gradient", "x row part dlogp dentropy dlogits" },
    { "logits_loss", "obj batch advantage totals rows out report" },
    { "logits_loss_add", "obj batch advantage totals rows out partial" },
    { "logits_batch_read", "rows mask first count" },
    { "logits_batch_gradient", "rows mask dlogp dentropy first count" },
    { "context_measure", "obj batch advantage whole part" },
    { "context_totals_add", "obj batch whole totals" },
    { "context_loss_add", "obj batch advantage whole totals out leads partial through" },
    { "context_backward", "obj batch advantage whole through out partial" },
    { "context_check", "obj" },
    { "hidden_check", "obj" },
    { "layout_check", "declared n" },
};
#define GRPO_CALLS_ ((int)(sizeof grpo_arguments_ / sizeof *grpo_arguments_))

/* the arguments of a function; "" if there is none of this name */
static const char *grpo_arguments_of_(const char *function) {
    if (function && strncmp(function, "grpo_", 5) == 0) function += 5;
    for (int k = 0; function && k < GRPO_CALLS_; k++) if (strcmp(grpo_arguments_[k][0], function) == 0) return grpo_arguments_[k][1];
    return "";
}

/* item n, from 0, of a list with that separator, which ends where `end` or the text does; *length is 0 if there are fewer */
static const char *grpo_item_(const char *list, int64_t n, char separator, char end, size_t *length) {
    for (; n > 0 && *list && *list != end; list++) n -= *list == separator;
    *length = 0;
    while (n == 0 && list[*length] && list[*length] != separator && list[*length] != end) ++*length;
    return list;
}

/* "low", "reward[3]", "gate.budget", "batch.logp[7]"; index -1: none */
static void grpo_say_thing_(grpo_text_ *to, const char *arguments, int place, const char *name, int64_t index) {
    size_t length = 0, n = 0;
    const char *argument = place > 0 ? grpo_item_(arguments, place - 1, ' ', 0, &length) : "";
    const char *member = (const char *)memchr(argument, ':', length);
    grpo_say_part_(to, length ? argument : name, member ? (size_t)(member - argument) : length ? length : strlen(name));
    if (index < 0) return;
    if (member) member = grpo_item_(member + 1, index, ',', ' ', &n);
    grpo_say_(to, n ? "." : "[");
    if (n) grpo_say_part_(to, member, n);
    else { grpo_say_integer_(to, index); grpo_say_(to, "]"); }
}

const char *grpo_call_message(const char *function, grpo_status st, char *buffer, size_t size) {
    const int what = (int)(st >> 8 & 1023) - GRPO_AT_ARGUMENT_, other = (int)(st >> 18 & 1023) - GRPO_AT_ARGUMENT_;
    const char *arguments = grpo_arguments_of_(function);
    grpo_text_ to;
    if (!*arguments || (what < 1 && other < 1)) return grpo_status_message(st, buffer, size);
    if (size == 0) return "";
    to.buffer = buffer;
    to.room = size - 1;
    grpo_say_thing_(&to, arguments, what, grpo_status_what(st), grpo_status_index(st));
    grpo_say_(&to, " ");
    grpo_say_(&to, grpo_status_text(st));
    if (!*grpo_status_other(st)) return buffer;
    grpo_say_(&to, " ");
    grpo_say_thing_(&to, arguments, other, grpo_status_other(st), -1);
    return buffer;
}

#ifdef __cplusplus
}
#endif
#endif
#endif /* GRPO_MESSAGES_IMPLEMENTATION */
