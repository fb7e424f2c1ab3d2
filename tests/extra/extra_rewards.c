/* extra/grpo_rewards.h: rewards of random batches against their formulas in binary128, and worked cases. */
#include "extra.h"

/* ---- batches ------------------------------------------------------------------------------------------------------------------------- */

static double random_amount(rng *r) { return rng_chance(r, 30) ? 0 : rng_chance(r, 50) ? (double)rng_below(r, 4) : 1000 * rng_unit(r); }

static void test_relative_cost_penalty(rng *r, trial *t) {
    const int64_t N = t->b.n_sequences;
    double *x[3];
    grpo_real *found = test_alloc(N, sizeof *found);
    grpo_cost c;
    const double coefs[] = { 0.25, rng_bell(r), 0.1 };
    for (int k = 0; k < 3; k++) {
        x[k] = test_alloc(N, sizeof **x);
        for (int64_t i = 0; i < N; i++) x[k][i] = random_amount(r);
    }
    c.output = x[0]; c.input = x[1]; c.turns = x[2]; c.output_coef = coefs[0]; c.input_coef = coefs[1]; c.turns_coef = coefs[2];
    check(grpo_relative_cost_penalty(&t->view, &c, found) == GRPO_OK, "relative_cost_penalty");
    for (int64_t g = 0; g < t->b.n_groups; g++) {
        const int64_t begin = t->b.group_begin[g], end = t->b.group_begin[g + 1];
        reference_real mean = 0, size = 0, most[3] = { 0, 0, 0 };
        for (int64_t i = begin; i < end; i++) {
            mean += t->b.reward[i];
            size += fabs((double)t->b.reward[i]);
            for (int k = 0; k < 3; k++) if (x[k][i] > most[k]) most[k] = x[k][i];
        }
        for (int64_t i = begin; i < end; i++) {
            reference_real share = 0, all = 0;
            for (int k = 0; k < 3; k++) {
                share += most[k] > 0 ? coefs[k] * (x[k][i] / most[k]) : 0;
                all += most[k] > 0 ? fabs(coefs[k]) * (x[k][i] / most[k]) : 0;
            }
            judge("relative_cost_penalty", (double)found[i], t->b.reward[i] - mean / (end - begin) * share,
                  fabs((double)t->b.reward[i]) + size / (end - begin) * all, 1);
        }
    }
    for (int k = 0; k < 3; k++) free(x[k]);
    free(found);
}

static void test_rewards_by_likelihood(rng *r, sequences *p) {
    const double beta = rng_bell(r), lambda = rng_bell(r), alpha = 20 * rng_unit(r);
    grpo_real *retained = test_alloc(p->N, sizeof *retained);
    check(!grpo_unlikeliness_reward(&p->b, beta, p->scratch, p->found), "unlikeliness_reward");
    check(!grpo_retention_reward(&p->b, lambda, alpha, retained), "retention_reward");
    for (int64_t g = 0; g < p->b.n_groups; g++)
        for (int64_t i = p->b.group_begin[g]; i < p->b.group_begin[g + 1]; i++) {
            const int64_t G = p->b.group_begin[g + 1] - p->b.group_begin[g];
            const double R = (double)p->reward[i];
            int64_t rank = 0, n;
            const reference_real mine = mean_of(p, p->old, NULL, i, &n);
            reference_real more;
            for (int64_t j = p->b.group_begin[g]; j < p->b.group_begin[g + 1]; j++) {
                const reference_real other = mean_of(p, p->old, NULL, j, &n);
                rank += other < mine || (other == mine && j < i);
            }
            judge("unlikeliness_reward", (double)p->found[i], R * (1 - beta * (reference_real)rank / G),
                  fabs(R) * (1 + fabs(beta) * (reference_real)rank / G), 1);
            more = mean_of(p, p->old, p->ref, i, &n);
            more = lambda * ref_exp(more > 0 ? -alpha * more : 0);
            judge("retention_reward", (double)retained[i], R + more, fabs(R) + ref_abs(more), 1);
        }
    free(retained);
}

static reference_real ref_sine(reference_real x) {
    reference_real s = 0, term = x;
    for (int k = 1; k < 40; k++) { s += term; term *= -x * x / (2 * k * (2 * k + 1)); }
    return s;
}

static void test_group_rewards(rng *r, sequences *p) {
    const reference_real pi = 3.14159265358979312 + (reference_real)1.22464679914735321e-16;
    const double smooth = 0.1 + rng_unit(r), alpha = rng_bell(r);
    const int form = (int)rng_below(r, 2);
    grpo_real *credit = test_alloc(p->N, sizeof *credit);
    check(!grpo_tool_efficiency_reward(&p->b, p->positive, p->flag, smooth, alpha, form ? GRPO_TOOLS_GRPO : GRPO_TOOLS_PPO, p->found),
        "tools");
    check(!grpo_entity_reward(&p->b, p->unit, p->flag, p->second, alpha, credit), "entity_reward");
    for (int64_t g = 0; g < p->b.n_groups; g++) {
        const int64_t begin = p->b.group_begin[g], end = p->b.group_begin[g + 1];
        double least = HUGE_VAL, most = 0;
        for (int64_t i = begin; i < end; i++) {
            if (p->flag[i] && p->positive[i] < least) least = p->positive[i];
            if (p->unit[i] > most) most = p->unit[i];
        }
        for (int64_t i = begin; i < end; i++) {
            const reference_real m = p->positive[i];
            reference_real x = form && least > 0 ? m / (m + least) * pi : pi / 2 + m * pi / (2 * m + smooth);
            x = p->flag[i] ? alpha * ref_sine(x) : 0;
            judge("tool_efficiency_reward", (double)p->found[i], x, ref_abs(x), 1);
            x = p->second[i] ? 0 : p->flag[i] ? 1 : most > 0 ? alpha * (reference_real)p->unit[i] / most : 0;
            judge("entity_reward", (double)credit[i], x, ref_abs(x), 1);
        }
    }
    free(credit);
}

/* ---- lists --------------------------------------------------------------------------------------------------------------------------- */

static void test_diversity(rng *r) {
    enum { MOST = 12 };
    double reward[MOST], similarity[MOST * MOST], found[MOST];
    const int64_t n = 1 + rng_below(r, MOST);
    reference_real sum;
    for (int64_t k = 0; k < n * n; k++) similarity[k] = k % (n + 1) == 0 ? 1 : 2 * rng_unit(r) - 1;
    for (int64_t k = 0; k < n; k++) reward[k] = rng_bell(r);
    check(grpo_diversity_reward(reward, similarity, n, 1e-6, found) == GRPO_OK, "diversity_reward");
    for (int64_t i = 0; i < n; i++) {
        sum = 1e-6;
        for (int64_t j = 0; j < n; j++) sum += similarity[i * n + j];
        judge("diversity_reward", found[i], reward[i] / sum, ref_abs(reward[i] / sum), 0);
    }
}

static void test_log_exp_reward(rng *r) {
    const double threshold = rng_bell(r), upper = rng_bell(r), x = rng_bell(r);
    const double lower = rng_chance(r, 20) ? 0 : rng_chance(r, 50) ? 5 * rng_bell(r) : 100 * rng_unit(r);
    const reference_real d = (reference_real)threshold - x;
    reference_real term = d <= 0 ? upper * ref_ln1p(-d) : lower == 0 ? -d : -(ref_exp(lower * d) - 1) / (ref_exp(lower) - 1);
    double found;
    check(!grpo_log_exp_reward(&x, 1, threshold, upper, lower, &found), "log_exp_reward");
    judge("log_exp_reward", found, threshold + term, fabs(threshold) + ref_abs(term), 0);
}

/* ---- worked cases -------------------------------------------------------------------------------------------------------------------- */

static void test_lists_by_hand(void) {
    const double rewards[] = { 1, 0.5, 0.25, 2, 0, 4 }, ones[] = { 1, 1, 1 }, gated[] = { 1.625, 2 };
    const double confidence[] = { 0.75, -1, 2, 7 }, brier[] = { 0.9375, 0, 1, -0.25 }, length[] = { 64, 192, 256, 512 };
    const double parabola[] = { 0.75, 0.5, -1, -17 }, polyline[] = { 0.5, 0, -1, -5 }, triangle[] = { 0.5, 0.5, 0, 0 };
    const double node[] = { 0, 1, 0.5, 0 }, most[] = { 1, 1, 0.5, 0 }, mean[] = { 0.75, 1, 0.5, 0 }, divided[] = { 0.375, 1, 0.5, 0 };
    const int64_t gate[] = { -1, -1, 1 }, parent[] = { -1, 0, 0, -1 }, depth[] = { 1, 2, 2, 1 };
    const uint8_t correct[] = { 1, 1, 1, 1 }, missing[] = { 0, 0, 0, 1 };
    grpo_dd scratch[4];
    double found[4];
    check(!grpo_gated_reward_sum(rewards, 2, 3, ones, gate, found), "gated_reward_sum");
    near_list("gated_reward_sum", found, gated, 2);
    check(!grpo_brier_reward(confidence, 4, correct, missing, found), "brier_reward");
    near_list("brier_reward", found, brier, 4);
    check(!grpo_length_shape_reward(length, 4, GRPO_SHAPE_PARABOLA, 0.5, 256, found), "length_shape_reward");
    near_list("length_shape_reward", found, parabola, 4);
    check(!grpo_length_shape_reward(length, 4, GRPO_SHAPE_POLYLINE, 0.5, 256, found), "length_shape_reward");
    near_list("length_shape_reward", found, polyline, 4);
    check(!grpo_length_shape_reward(length, 4, GRPO_SHAPE_TRIANGLE, 128, 1, found), "length_shape_reward");
    near_list("length_shape_reward", found, triangle, 4);
    check(!grpo_tree_reward(parent, node, NULL, 4, 9, GRPO_TREE_MAX, 0, scratch, found), "tree_reward");
    near_list("tree_reward", found, most, 4);
    check(!grpo_tree_reward(parent, node, NULL, 4, 1, GRPO_TREE_MEAN, 0, scratch, found), "tree_reward");
    near_list("tree_reward", found, mean, 4);
    check(!grpo_tree_reward(parent, node, depth, 4, 1, GRPO_TREE_MEAN_BY_DEPTH, 2, scratch, found), "tree_reward");
    near_list("tree_reward", found, divided, 4);
}

static void test_groups_by_hand(void) {
    const double exits[] = { 1, 0, 0.5, 0.25 }, outcomes[] = { 0.6, 0.4, 0.1, 1 }, thought[] = { 0.5, 0.25, 8, 0.5 };
    const double trusted[] = { 1.1, 0.65, 0.1, 1.5 };
    const grpo_trust_bounds bounds = { 0.2, 0.5, 0.9, 0.1 };
    four f;
    four_make(&f);
    f.reward[0] = f.reward[2] = f.reward[3] = 1;
    check(!grpo_early_exit_reward(&f.b, f.found), "early_exit_reward");
    near_reals("early_exit_reward", f.found, exits, 4);
    check(!grpo_trust_reward(&f.b, outcomes, thought, 1, &bounds, f.found), "trust_reward");       /* mc = 1/2, mw = 1/8 */
    near_reals("trust_reward", f.found, trusted, 4);
}

/* winners of 4 tokens, of none and of 2, and a tie: a length of 0 counts as 1 */
static void test_pairwise_by_hand(void) {
    static const int64_t group[] = { 0, 8 }, offset[] = { 0, 4, 5, 5, 6, 8, 9, 9 }, length[] = { 4, 1, 0, 1, 2, 1, 0, 0 };
    static const int64_t verdicts[] = { 1, 1, 1, 0 };
    static const uint8_t ended[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const double expected[] = { 0.25, -1, 1, -1, 0.5, -1, 0, 0 };
    grpo_real found[8], reward[8] = { 0 };
    uint8_t masked[8];
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 9; b.reward = reward;
    check(!grpo_pairwise_rewards(&b, verdicts, ended, found, masked), "pairwise_rewards");
    near_reals("pairwise_rewards", found, expected, 8);
    for (int i = 0; i < 8; i++) check(masked[i] == (i >= 6), "pairwise_rewards: response %d is%s masked", i, masked[i] ? "" : " not");
}

int main(void) {
    static trial_test *const of_batches[] = {
        test_relative_cost_penalty
    };
    static sequence_test *const of_sequences[] = {
        test_rewards_by_likelihood, test_group_rewards
    };
    static list_test *const of_lists[] = {
        test_diversity, test_log_exp_reward
    };
    test_trials(21, 600, of_batches, COUNT(of_batches));
    test_sequences(55, 300, of_sequences, COUNT(of_sequences));
    test_lists(22, 3000, of_lists, COUNT(of_lists));
    test_lists_by_hand();
    test_groups_by_hand();
    test_pairwise_by_hand();
    print_tallies();
    return check_summary();
}
