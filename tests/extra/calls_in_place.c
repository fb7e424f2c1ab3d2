/* Outputs that overlap inputs, for functions of selection, control, credit and the critic: with an output that is the same array as an
 * input of its type a function gives the same bits, or refuses it by name and writes nothing.  Overlapping outputs are refused too. */
#include "../../extra/grpo_control.h"
#include "../../extra/grpo_credit.h"
#include "../../extra/grpo_critic.h"
#include "../../extra/grpo_selection.h"
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/status.h"

enum { TOKENS = 8, SEQUENCES = 4, GROUPS = 2, ROOM = 32 };

/* arrays: of the batch, of arguments, of outputs */
typedef enum {
    MASK, LOGP, LOGP_OLD, ROLLOUT, TEACHER, ENTROPY, REWARD,
    A, B, X, Y, Z, ONES, FLAGS, IDS, OTHER_IDS, TREE,
    REAL, REAL_2, REAL_3, LIST, LIST_2, BYTES, WHOLES, ARRAYS
} array;

static double room[ARRAYS][ROOM];               /* the arrays' memory, of any type */
static void *at[ARRAYS];                        /* their addresses */
static grpo_batch batch;
static grpo_aggregation by_constant;
static grpo_dd pairs[ROOM];
static grpo_branch branches[ROOM];
static grpo_tree_state nodes[ROOM];

#define REAL_AT(k) ((grpo_real *)at[k])
#define LIST_AT(k) ((double *)at[k])
#define BYTES_AT(k) ((uint8_t *)at[k])
#define WHOLES_AT(k) ((int64_t *)at[k])

static void fill(void) {
    static const int64_t group_begin[] = { 0, 2, 4 }, length[] = { 3, 2, 0, 3 }, offset[] = { 0, 3, 5, 5 };
    static const int64_t tree[] = { -1, 0, 0, 1, 1 };
    memset(&batch, 0, sizeof batch);
    by_constant.kind = GRPO_AGGREGATION_SEQ_MEAN_CONSTANT; by_constant.constant = 8;
    memset(room, 0x5a, sizeof room);
    for (int k = 0; k < ARRAYS; k++) at[k] = room[k];
    for (int t = 0; t < TOKENS; t++) {
        for (int k = LOGP; k <= B; k++) REAL_AT(k)[t] = (grpo_real)(-0.125 * ((t * k) % 7) - 0.25);
        REAL_AT(ENTROPY)[t] = (grpo_real)(0.25 * t);
        REAL_AT(REWARD)[t] = (grpo_real)(t % 3);
        REAL_AT(A)[t] = (grpo_real)(t % 3 - 1);
        for (int k = X; k <= Z; k++) LIST_AT(k)[t] = ((t * (k - X + 3)) % 5) / 8.0;
        LIST_AT(ONES)[t] = 1 + t;
        BYTES_AT(MASK)[t] = t != 2;
        BYTES_AT(FLAGS)[t] = t % 4 == 1;
        WHOLES_AT(IDS)[t] = t % 3;
        WHOLES_AT(OTHER_IDS)[t] = TOKENS - 1 - t;
    }
    memcpy(at[TREE], tree, sizeof tree);
    WHOLES_AT(WHOLES)[0] = 0; WHOLES_AT(WHOLES)[1] = 3;                     /* as an input, a set of indices */
    batch.n_groups = GROUPS; batch.group_begin = group_begin; batch.offset = offset; batch.length = length; batch.n_tokens = TOKENS;
}

static void point(void) {
    batch.mask = BYTES_AT(MASK); batch.logp = REAL_AT(LOGP); batch.logp_old = REAL_AT(LOGP_OLD); batch.logp_rollout = REAL_AT(ROLLOUT);
    batch.logp_teacher = REAL_AT(TEACHER); batch.entropy = REAL_AT(ENTROPY); batch.reward = REAL_AT(REWARD);
}

static const grpo_prefix_gate gate = { 3, 0.8, 0.15, 0.02, 0.9, 1 };
static const grpo_adaptation adaptation = { 0.2, 0.2, 1, 1 };
static const grpo_constraint constraint = { 0.95, 0.05, 5, 1 };
static const grpo_canon canon = { 1, 0, 0.5, GRPO_HALF_LOW };
static const grpo_risk risk = { 0, 1, 0.2, 0.8, 1.5, 1e-6 };
static const grpo_coplayer coplayer = { 0.96, 0.96, 2, 0, 0, 0, 0, 1 };
static const grpo_anchors anchors = { 0.2, 0.8, 1.25, 2, GRPO_ANCHORS_CODE };

/* CALL(name, arguments): all functions that have an output of the type of an input */
#define CALLS(CALL) \
    CALL(select_top_fraction, &batch, REAL_AT(A), 0.5, BYTES_AT(BYTES)) \
    CALL(select_top_k, &batch, REAL_AT(LOGP), 4, BYTES_AT(BYTES)) \
    CALL(select_between, &batch, REAL_AT(LOGP), -2, -0.25, BYTES_AT(FLAGS), WHOLES_AT(OTHER_IDS), 3, BYTES_AT(BYTES)) \
    CALL(select_second_moment, &batch, REAL_AT(A), GRPO_SECOND_MOMENT_DRIFTING, 0.04, BYTES_AT(BYTES)) \
    CALL(select_low_probability, &batch, 0.6, BYTES_AT(BYTES)) \
    CALL(entropy_clip_batch, &batch, REAL_AT(A), 0.25, BYTES_AT(BYTES)) \
    CALL(entropy_clip_vocabulary, &batch, REAL_AT(A), REAL_AT(B), -1, 0.3, BYTES_AT(BYTES)) \
    CALL(prefix_trust_region, &batch, REAL_AT(A), &gate, LIST_AT(LIST), BYTES_AT(BYTES)) \
    CALL(covariance, &batch, REAL_AT(A), REAL_AT(REAL)) \
    CALL(resampling_weights, &batch, 2, 0.5, LIST_AT(LIST)) \
    CALL(visit_value, LIST_AT(X), LIST_AT(Y), TOKENS, 0.8, 0.2, LIST_AT(LIST)) \
    CALL(pad_valid, &batch, BYTES_AT(FLAGS), WHOLES_AT(WHOLES), WHOLES_AT(IDS)) \
    CALL(cluster_probability, LIST_AT(X), LIST_AT(Y), LIST_AT(Z), TOKENS, 0.3, LIST_AT(LIST), LIST_AT(LIST_2)) \
    CALL(explore_weight, LIST_AT(X), TOKENS, 0.05, LIST_AT(LIST)) \
    CALL(sequence_distance, WHOLES_AT(IDS), 3, WHOLES_AT(OTHER_IDS), 4, GRPO_DISTANCE_EDIT, WHOLES_AT(WHOLES), LIST_AT(LIST)) \
    CALL(running_baseline, LIST_AT(X), TOKENS, 0.5, LIST_AT(LIST), LIST_AT(Y)) \
    CALL(adaptive_clip, &batch, REAL_AT(A), REAL_AT(B), &adaptation, REAL_AT(REAL), REAL_AT(REAL_2), REAL_AT(REAL_3)) \
    CALL(quantile_tracker, LIST_AT(X), LIST_AT(Y), TOKENS, 0.1, LIST_AT(Z), TOKENS, LIST_AT(LIST)) \
    CALL(turn_factor, &batch, LIST_AT(X), 0.2, 0.2, LIST_AT(LIST)) \
    CALL(hint_level, WHOLES_AT(IDS), LIST_AT(X), TOKENS, 0.1, 0.35, 3, WHOLES_AT(WHOLES)) \
    CALL(standardised_entropy, &batch, 0.5, GRPO_STANDARD_CODED, REAL_AT(REAL)) \
    CALL(multiplier_update, LIST_AT(X), BYTES_AT(FLAGS), TOKENS, &constraint, LIST_AT(Y), LIST_AT(LIST)) \
    CALL(jsd_advantage, &batch, 0.5, 1, REAL_AT(REAL)) \
    CALL(distribution_advantage, &batch, REAL_AT(A), REAL_AT(B), BYTES_AT(FLAGS), 1, 1.05, REAL_AT(REAL)) \
    CALL(boltzmann_advantage, &batch, 0.5, REAL_AT(REAL)) \
    CALL(likelihood_advantage, &batch, -1, 0.5, 1, pairs, REAL_AT(REAL)) \
    CALL(canon_advantage, &batch, LIST_AT(X), &canon, REAL_AT(REAL)) \
    CALL(sharpening_advantage, &batch, LIST_AT(X), 2.5, 0.5, pairs, REAL_AT(REAL)) \
    CALL(virtual_reward_advantage, &batch, 1, 1, 1e-6, REAL_AT(REAL)) \
    CALL(bundle_advantage, &batch, WHOLES_AT(IDS), &risk, pairs, REAL_AT(REAL)) \
    CALL(set_advantage, LIST_AT(X), WHOLES_AT(IDS), TOKENS, WHOLES_AT(IDS), WHOLES_AT(WHOLES), 1, LIST_AT(LIST)) \
    CALL(reference_advantage, LIST_AT(X), TOKENS, 1, 1, 0.5, 1, LIST_AT(LIST), LIST_AT(LIST_2)) \
    CALL(implicit_advantage, &batch, REAL_AT(A), 5, 5, REAL_AT(REAL)) \
    CALL(hardness_advantage, &batch, -0.256, 1.256, REAL_AT(REAL)) \
    CALL(token_advantage, &batch, 1e-6, 0.5, 1, REAL_AT(REAL)) \
    CALL(future_success_advantage, LIST_AT(X), TOKENS, LIST_AT(LIST)) \
    CALL(alignment_advantage, LIST_AT(X), LIST_AT(Y), TOKENS, &coplayer, LIST_AT(LIST)) \
    CALL(projected_advantage, LIST_AT(X), TOKENS, LIST_AT(Y), 1, 0.5, 1, pairs, LIST_AT(LIST)) \
    CALL(branch_advantage, WHOLES_AT(TREE), LIST_AT(X), LIST_AT(Y), 5, GRPO_BRANCH_PROBABILITY, 1, branches, LIST_AT(LIST)) \
    CALL(collapsed_advantage, &batch, 1e-6, REAL_AT(REAL)) \
    CALL(variant_advantage, LIST_AT(X), LIST_AT(Y), LIST_AT(Z), TOKENS, 0.5, LIST_AT(LIST)) \
    CALL(step_weight_advantage, LIST_AT(X), LIST_AT(Y), TOKENS, LIST_AT(LIST)) \
    CALL(tree_advantage, WHOLES_AT(TREE), LIST_AT(X), LIST_AT(Y), 5, 0.9, GRPO_TREE_TD, nodes, LIST_AT(LIST)) \
    CALL(two_anchor_advantage, &batch, LIST_AT(ONES), &anchors, REAL_AT(REAL)) \
    CALL(hard_negative_advantage, &batch, LIST_AT(X), REAL_AT(REAL), WHOLES_AT(WHOLES)) \
    CALL(multi_scale_advantage, LIST_AT(X), 5, 1e-6, LIST_AT(LIST)) \
    CALL(position_advantage, LIST_AT(X), LIST_AT(Y), TOKENS, LIST_AT(LIST)) \
    CALL(role_advantage, LIST_AT(X), WHOLES_AT(IDS), TOKENS, GRPO_ROLE_MEAN_STD, LIST_AT(LIST)) \
    CALL(median_advantage, &batch, 0.001, LIST_AT(LIST), WHOLES_AT(WHOLES)) \
    CALL(mix_advantages, LIST_AT(X), LIST_AT(Y), TOKENS, 0.5, 2, LIST_AT(LIST)) \
    CALL(odds_advantage, &batch, REAL_AT(A), REAL_AT(B), LIST_AT(X), 0, REAL_AT(REAL)) \
    CALL(value_loss, &batch, REAL_AT(A), REAL_AT(B), REAL_AT(LOGP), 0.5, &by_constant, REAL_AT(REAL), (grpo_value_report *)at[LIST]) \
    CALL(proximal_logp, &batch, 8, WHOLES_AT(IDS), GRPO_PROXIMAL_LINEAR, REAL_AT(REAL)) \
    CALL(generalised_jsd, LIST_AT(X), LIST_AT(Y), TOKENS, 1, 0.5, LIST_AT(LIST), LIST_AT(LIST_2)) \
    CALL(top_k_gap, LIST_AT(X), LIST_AT(Y), TOKENS, 1, LIST_AT(LIST))

#define RUN(name, ...) static grpo_status run_##name(void) { return grpo_##name(__VA_ARGS__); }
CALLS(RUN)
#define NUMBER(name, ...) IS_##name,
typedef enum { CALLS(NUMBER) FUNCTIONS } function;
#define ROW(name, ...) { #name, run_##name },
static const struct { const char *name; grpo_status (*run)(void); } functions[] = { CALLS(ROW) };

/* output at the address of the input.  `refused`: the pair as a status names it; NULL: accepted, with the same bits.  of_doubles: only
 * where elements are double */
static const struct { function of; array input, output; const char *refused; int of_doubles; } cases[] = {
    { IS_select_top_fraction, MASK, BYTES, NULL, 0 }, { IS_select_top_k, MASK, BYTES, NULL, 0 },
    { IS_select_between, MASK, BYTES, NULL, 0 }, { IS_select_between, FLAGS, BYTES, NULL, 0 },
    { IS_select_second_moment, MASK, BYTES, NULL, 0 }, { IS_select_low_probability, MASK, BYTES, NULL, 0 },
    { IS_entropy_clip_batch, MASK, BYTES, NULL, 0 }, { IS_entropy_clip_vocabulary, MASK, BYTES, NULL, 0 },
    { IS_prefix_trust_region, MASK, BYTES, NULL, 0 }, { IS_prefix_trust_region, A, LIST, "scratch, advantage", 0 },
    { IS_prefix_trust_region, LOGP, LIST, "scratch, batch.logp", 0 },
    { IS_prefix_trust_region, LOGP_OLD, LIST, "scratch, batch.logp_old", 0 },
    { IS_prefix_trust_region, LIST, BYTES, "scratch, selected", 0 },
    { IS_covariance, A, REAL, NULL, 0 }, { IS_covariance, LOGP, REAL, NULL, 0 }, { IS_resampling_weights, REWARD, LIST, NULL, 1 },
    { IS_visit_value, X, LIST, NULL, 0 }, { IS_visit_value, Y, LIST, NULL, 0 }, { IS_pad_valid, IDS, WHOLES, "index, count", 0 },
    { IS_cluster_probability, X, LIST, NULL, 0 }, { IS_cluster_probability, Y, LIST, NULL, 0 },
    { IS_cluster_probability, Z, LIST, NULL, 0 },
    { IS_cluster_probability, X, LIST_2, NULL, 0 }, { IS_cluster_probability, Y, LIST_2, NULL, 0 },
    { IS_cluster_probability, Z, LIST_2, NULL, 0 }, { IS_cluster_probability, LIST_2, LIST, "new_rate, new_probability", 0 },
    { IS_explore_weight, X, LIST, NULL, 0 }, { IS_sequence_distance, IDS, WHOLES, "scratch, a", 0 },
    { IS_sequence_distance, OTHER_IDS, WHOLES, "scratch, b", 0 },
    { IS_running_baseline, X, LIST, NULL, 0 }, { IS_running_baseline, Y, LIST, "advantage, baseline", 0 },
    { IS_adaptive_clip, A, REAL, NULL, 0 }, { IS_adaptive_clip, B, REAL, NULL, 0 }, { IS_adaptive_clip, LOGP, REAL_2, NULL, 0 },
    { IS_adaptive_clip, LOGP_OLD, REAL_2, NULL, 0 }, { IS_adaptive_clip, A, REAL_3, NULL, 0 }, { IS_adaptive_clip, B, REAL_3, NULL, 0 },
    { IS_adaptive_clip, REAL_2, REAL, "clip_low, clip_high", 0 }, { IS_adaptive_clip, REAL_3, REAL, "clip_low, shaped", 0 },
    { IS_adaptive_clip, REAL_3, REAL_2, "clip_high, shaped", 0 },
    { IS_quantile_tracker, X, LIST, NULL, 0 }, { IS_quantile_tracker, Y, LIST, NULL, 0 },
    { IS_quantile_tracker, Z, LIST, "tracked, observed", 0 }, { IS_turn_factor, X, LIST, NULL, 0 },
    { IS_hint_level, IDS, WHOLES, NULL, 0 }, { IS_standardised_entropy, ENTROPY, REAL, NULL, 0 },
    { IS_multiplier_update, Y, LIST, "multiplier, mean", 0 }, { IS_multiplier_update, X, LIST, NULL, 0 },
    { IS_jsd_advantage, TEACHER, REAL, NULL, 0 }, { IS_jsd_advantage, LOGP_OLD, REAL, NULL, 0 },
    { IS_distribution_advantage, A, REAL, NULL, 0 }, { IS_distribution_advantage, B, REAL, NULL, 0 },
    { IS_distribution_advantage, LOGP_OLD, REAL, NULL, 0 }, { IS_boltzmann_advantage, REWARD, REAL, NULL, 0 },
    { IS_likelihood_advantage, REWARD, REAL, NULL, 0 }, { IS_canon_advantage, REWARD, REAL, NULL, 0 },
    { IS_canon_advantage, X, REAL, "advantage, metric", 0 }, { IS_sharpening_advantage, REWARD, REAL, NULL, 0 },
    { IS_sharpening_advantage, X, REAL, NULL, 1 }, { IS_virtual_reward_advantage, REWARD, REAL, NULL, 0 },
    { IS_bundle_advantage, REWARD, REAL, "advantage, batch.reward", 0 }, { IS_set_advantage, X, LIST, "advantage, reward", 0 },
    { IS_reference_advantage, X, LIST, NULL, 0 }, { IS_reference_advantage, X, LIST_2, NULL, 0 },
    { IS_reference_advantage, LIST_2, LIST, "advantage, reference", 0 },
    { IS_implicit_advantage, A, REAL, NULL, 0 }, { IS_hardness_advantage, REWARD, REAL, NULL, 0 },
    { IS_token_advantage, REWARD, REAL, NULL, 0 }, { IS_future_success_advantage, X, LIST, NULL, 0 },
    { IS_alignment_advantage, X, LIST, NULL, 0 }, { IS_alignment_advantage, Y, LIST, NULL, 0 },
    { IS_projected_advantage, X, LIST, NULL, 0 }, { IS_projected_advantage, Y, LIST, NULL, 0 },
    { IS_branch_advantage, X, LIST, NULL, 0 }, { IS_branch_advantage, Y, LIST, NULL, 0 }, { IS_collapsed_advantage, REWARD, REAL, NULL, 0 },
    { IS_variant_advantage, X, LIST, NULL, 0 }, { IS_variant_advantage, Y, LIST, NULL, 0 }, { IS_variant_advantage, Z, LIST, NULL, 0 },
    { IS_step_weight_advantage, X, LIST, NULL, 0 }, { IS_step_weight_advantage, Y, LIST, NULL, 0 },
    { IS_tree_advantage, X, LIST, NULL, 0 }, { IS_tree_advantage, Y, LIST, "advantage, value", 0 },
    { IS_two_anchor_advantage, REWARD, REAL, NULL, 0 }, { IS_two_anchor_advantage, ONES, REAL, NULL, 1 },
    { IS_hard_negative_advantage, REWARD, REAL, NULL, 0 }, { IS_hard_negative_advantage, X, REAL, NULL, 1 },
    { IS_multi_scale_advantage, X, LIST, NULL, 0 }, { IS_position_advantage, X, LIST, "advantage, logp_old", 0 },
    { IS_position_advantage, Y, LIST, "advantage, reward", 0 }, { IS_role_advantage, X, LIST, NULL, 0 },
    { IS_median_advantage, REWARD, LIST, NULL, 1 }, { IS_mix_advantages, X, LIST, NULL, 0 }, { IS_mix_advantages, Y, LIST, NULL, 0 },
    { IS_odds_advantage, A, REAL, NULL, 0 }, { IS_odds_advantage, B, REAL, NULL, 0 },
    { IS_value_loss, A, REAL, NULL, 0 }, { IS_value_loss, B, REAL, NULL, 0 }, { IS_value_loss, LOGP, REAL, NULL, 0 },
    { IS_proximal_logp, LOGP, REAL, NULL, 0 }, { IS_proximal_logp, ROLLOUT, REAL, NULL, 0 },
    { IS_generalised_jsd, X, LIST_2, NULL, 0 }, { IS_generalised_jsd, Y, LIST_2, NULL, 0 }, { IS_generalised_jsd, X, LIST, NULL, 0 },
    { IS_generalised_jsd, LIST_2, LIST, "value, dstudent", 0 }, { IS_top_k_gap, X, LIST, NULL, 0 }, { IS_top_k_gap, Y, LIST, NULL, 0 },
};

static double apart[ARRAYS][ROOM], before[ARRAYS][ROOM];

/* calls function k with the output `bytes` after the beginning of the input */
static grpo_status run_over(size_t k, size_t bytes) {
    fill();
    at[cases[k].output] = (unsigned char *)room[cases[k].input] + bytes;
    point();
    memcpy(before, room, sizeof room);
    return functions[cases[k].of].run();
}

static void expect_same_bits(size_t k) {
    const char *name = functions[cases[k].of].name;
    const unsigned char *found = (const unsigned char *)room[cases[k].input], *right = (const unsigned char *)apart[cases[k].output];
    const grpo_status st = run_over(k, 0);
    long written = 0, wrong = 0;
    check(st == GRPO_OK, "%s over array %d: %s", name, (int)cases[k].input, status_line(st));
    for (size_t j = 0; j < sizeof apart[0]; j++) {
        if (right[j] == 0x5a) continue;
        written++;
        wrong += found[j] != right[j];
    }
    check(written > 0 && wrong == 0, "%s over array %d: %ld bytes of %ld are others", name, (int)cases[k].input, wrong, written);
    for (int other = 0; other < ARRAYS; other++)
        if (other != (int)cases[k].input && other != (int)cases[k].output)
            check(!memcmp(room[other], apart[other], sizeof apart[0]), "%s over array %d: array %d", name, (int)cases[k].input, other);
}

/* does the function have an output of one number, which cannot overlap at an offset of one? */
static int is_beside_one(function of) {
    return of == IS_multiplier_update || of == IS_pad_valid || of == IS_running_baseline || of == IS_reference_advantage;
}

static void expect_refusal(size_t k) {
    const char *name = functions[cases[k].of].name;
    for (size_t bytes = 0; bytes <= 8; bytes += 8) {
        const grpo_status st = run_over(k, bytes);
        if (bytes && is_beside_one(cases[k].of)) continue;
        check(says(name, st, GRPO_COMBINATION, cases[k].refused), "%s: \"%s\" and not %s", name, status_line(st), cases[k].refused);
        check(!memcmp(before, room, sizeof room), "%s, %s: something was written", name, cases[k].refused);
    }
    check(run_over(k, sizeof room[0] / 2) == GRPO_OK, "%s, %s: beside each other", name, cases[k].refused);
}

/* arrays that overlap by one number, at either end, and arrays that touch */
static void test_neighbours(void) {
    static const double zeros[TOKENS];
    double list[3 * TOKENS] = { 0 }, *const middle = list + TOKENS;
    for (int k = -TOKENS; k <= TOKENS; k++) {
        const grpo_status st = grpo_quantile_tracker(zeros, zeros, TOKENS, 0.1, middle, TOKENS, middle + k);
        check(k == -TOKENS || k == TOKENS ? !st : says("quantile_tracker", st, GRPO_COMBINATION, "tracked, observed"), "%d numbers on", k);
    }
}

int main(void) {
    int seen[FUNCTIONS] = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        seen[cases[k].of] = 1;
        if (cases[k].of_doubles && sizeof(grpo_real) != sizeof(double)) continue;
        fill();
        point();
        check(functions[cases[k].of].run() == GRPO_OK, "%s", functions[cases[k].of].name);
        memcpy(apart, room, sizeof room);
        if (cases[k].refused) expect_refusal(k);
        else expect_same_bits(k);
    }
    test_neighbours();
    for (int k = 0; k < FUNCTIONS; k++) check(seen[k], "%s: no case", functions[k].name);
    return check_summary();
}
