/* extra_lint VECTORS: extra/grpo_lint.h.  Every status is located; every rule fires on a batch with the mistake, with the expected
 * sentence, and not on a similar correct batch; valid batches, random ones and those of the vectors, whole and in parts, give no error and
 * no likely mistake. */
#include "../../extra/grpo_context.h"
#include "../../extra/grpo_lint.h"
#include "../support/case.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/scratch.h"

/* ---- a valid batch: three prompts of three responses, a token between responses, every tenth token masked ---------------------------- */

enum { PROMPTS = 3, EACH = 3, RESPONSES = PROMPTS * EACH, LENGTH = 7, STRIDE = LENGTH + 1, TOKENS = RESPONSES * STRIDE, COLUMNS = 2 };

typedef struct {
    grpo_objective obj;
    int64_t group[PROMPTS + 1], offset[RESPONSES], length[RESPONSES];
    grpo_real logp[TOKENS], old[TOKENS], ref[TOKENS], rollout[TOKENS], entropy[TOKENS], dlogp[TOKENS], dentropy[TOKENS], A[TOKENS];
    grpo_real reward[RESPONSES], rewards[RESPONSES * COLUMNS];
    uint8_t mask[TOKENS], truncated[RESPONSES];
    grpo_batch b;
    grpo_totals totals;
    int no_totals;
    grpo_output out;
    const grpo_real *advantage;
} setup;

static void fill_tokens(setup *s, rng *r) {
    for (int t = 0; t < TOKENS; t++) {
        const double l = -0.05 - 2 * rng_unit(r);
        s->logp[t] = (grpo_real)l;
        s->old[t] = (grpo_real)(l - 0.01 * rng_unit(r));
        s->ref[t] = (grpo_real)(l - 0.3 * rng_unit(r));
        s->rollout[t] = (grpo_real)(l - 0.02 * rng_unit(r));
        s->entropy[t] = (grpo_real)rng_unit(r);
        s->mask[t] = t % 10 != 9;
    }
}

static void setup_make(setup *s) {
    rng r = { 7 };
    memset(s, 0, sizeof *s);
    check(!grpo_objective_named("grpo", &s->obj), "grpo");
    for (int g = 0; g <= PROMPTS; g++) s->group[g] = EACH * g;
    for (int i = 0; i < RESPONSES; i++) {
        s->offset[i] = STRIDE * i + 1;
        s->length[i] = LENGTH;
        s->reward[i] = (grpo_real)(i % 3 == i / 3 ? 1 : 0);
    }
    fill_tokens(s, &r);
    s->b.n_groups = PROMPTS; s->b.group_begin = s->group; s->b.offset = s->offset; s->b.length = s->length; s->b.n_tokens = TOKENS;
    s->b.logp = s->logp; s->b.logp_old = s->old; s->b.logp_ref = s->ref; s->b.logp_rollout = s->rollout; s->b.entropy = s->entropy;
    s->b.mask = s->mask; s->b.reward = s->reward; s->b.rewards = s->rewards; s->b.n_rewards = COLUMNS;
    s->out.dlogp = s->dlogp; s->out.dentropy = s->dentropy;
    check(!grpo_advantages(&s->obj, &s->b, s->A), "advantages");
    s->advantage = s->A;
    for (int part = 0; part < 2; part++) check(!grpo_totals_add(&s->obj, &s->b, s->A, &s->totals), "totals of two parts");
}

/* grpo_lint and, if it has no error, grpo_lint_own_moments */
static int lint(const setup *s, grpo_finding *finding) {
    static grpo_real alone[sizeof s->A / sizeof *s->A];
    const grpo_totals *totals = s->no_totals ? NULL : &s->totals;
    const int n = grpo_lint(&s->obj, &s->b, s->advantage, totals, &s->out, finding, GRPO_LINT_MOST);
    if (n > 0 && finding[0].level == GRPO_LINT_ERROR) return n;
    return n + grpo_lint_own_moments(&s->obj, &s->b, s->advantage, totals, alone, &finding[n]);
}

/* ---- rules --------------------------------------------------------------------------------------------------------------------------- */

static int64_t begin_of(const setup *s, int i) { return s->offset[i]; }
static void own_totals(setup *s) {
    memset(&s->totals, 0, sizeof s->totals);
    check(!grpo_totals_add(&s->obj, &s->b, s->A, &s->totals), "totals");
}
static void no_advantage(setup *s) { s->advantage = NULL; }
static void new_advantages(setup *s) { check(!grpo_advantages(&s->obj, &s->b, s->A), "advantages"); }

static void no_groups(setup *s) { s->b.n_groups = 0; s->no_totals = 1; }
static void empty_part(setup *s) { s->b.n_groups = 0; }
static void empty_batch(setup *s) { no_groups(s); s->b.n_tokens = 0; }
static void nan_old(setup *s) { s->old[begin_of(s, 5) + 2] = (grpo_real)NAN; }
static void nan_masked(setup *s) { s->old[9] = s->logp[19] = (grpo_real)NAN; s->logp[29] = (grpo_real)5; }
static void nan_reward(setup *s) { s->reward[4] = (grpo_real)NAN; no_advantage(s); }
static void wide_clip(setup *s) { s->obj.surrogate.eps_low = -0.25; }
static void reaches_past(setup *s) { s->length[8] = 8; }
static void repeat(setup *s) { s->offset[7] = s->offset[2]; }
static void other_order(setup *s) { s->offset[7] = STRIDE * 2 + 1; s->offset[2] = STRIDE * 7 + 1; }
static void overlap(setup *s) { s->offset[4] = s->offset[1] + 3; s->length[4] = 3; }
static void begin_together(setup *s) { s->offset[4] = s->offset[1]; s->length[4] = 3; }
static void touch(setup *s) { s->offset[4] = s->offset[3] + LENGTH; }
static void mask_all(setup *s) { memset(s->mask, 0, sizeof s->mask); }
static void mask_most(setup *s) { mask_all(s); s->mask[begin_of(s, 8)] = 1; s->mask[begin_of(s, 0)] = 1; }
static void positive(setup *s) { s->logp[begin_of(s, 3) + 1] = (grpo_real)0.25; s->logp[begin_of(s, 6) + 1] = (grpo_real)0.5; }
static void rounding(setup *s) { s->logp[begin_of(s, 3) + 1] = (grpo_real)1e-6; s->logp[begin_of(s, 4)] = 0; }

static void probabilities(setup *s) {
    for (int t = 0; t < TOKENS; t++) s->rollout[t] = (grpo_real)(t % 3 ? exp((double)s->rollout[t]) : 0);
}
/* an array of the other floating-point type; in the double build it holds half as many elements */
#ifdef GRPO_DOUBLE
typedef float of_other_type;
#define TYPES "float, but is read as double"
#else
typedef double of_other_type;
#define TYPES "double, but is read as float"
#endif
static void other_type(setup *s) {
    of_other_type x[TOKENS];
    for (int t = 0; t < TOKENS; t++) x[t] = (of_other_type)(-0.1 - 0.037 * t);
    memcpy(s->rollout, x, sizeof s->rollout < sizeof x ? sizeof s->rollout : sizeof x);
}
static void not_all_of_other_type(setup *s) { other_type(s); for (int t = 2; t < 6; t++) s->rollout[t] = 3; }
static void certain(setup *s) { memset(s->rollout, 0, sizeof s->rollout); }
static void negate(setup *s) { for (int t = 0; t < TOKENS; t++) s->ref[t] = -s->ref[t]; }
static void shift(grpo_real *x, int by) {
    grpo_real copy[TOKENS];
    memcpy(copy, x, sizeof copy);
    for (int t = 0; t < TOKENS; t++) x[t] = copy[(t + by + TOKENS) % TOKENS];
}
static void shift_old(setup *s) { shift(s->old, 1); }
static void shift_rollout(setup *s) { shift(s->rollout, -1); }
static void shift_both(setup *s) { shift(s->logp, 1); shift(s->old, 1); shift(s->ref, 1); shift(s->rollout, 1); }
static void other_text(grpo_real *x, double most) {
    rng r = { 99 };
    for (int t = 0; t < TOKENS; t++) x[t] = (grpo_real)(-most * rng_unit(&r));
}
static void far_old(setup *s) { other_text(s->old, 9); }
static void unlike_old(setup *s) { other_text(s->old, 2); }
static void far_ref(setup *s) { other_text(s->ref, 9); }
static void temperature(setup *s) { for (int t = 0; t < TOKENS; t++) s->old[t] = (grpo_real)(1.5 * (double)s->logp[t]); }
static void warm(setup *s) { for (int t = 0; t < TOKENS; t++) s->old[t] = (grpo_real)(1.1 * (double)s->logp[t]); }
static void same(setup *s) { memcpy(s->old, s->logp, sizeof s->old); }
/* four tokens of a response that the sampler did not draw; three of them; four that it and the policy are certain of; four that are marked
 * as a demonstration's; all tokens */
static void of_tool(setup *s, int n, double old) {
    for (int t = 0; t < n; t++) { s->rollout[25 + t] = 0; s->old[25 + t] = s->logp[25 + t] = (grpo_real)old; }
}
static void tool(setup *s) { of_tool(s, 4, -1.5); }
static void short_tool(setup *s) { of_tool(s, 3, -1.5); }
static void certain_run(setup *s) { of_tool(s, 4, -0.01); }
static void demonstration(setup *s) {
    static uint8_t nll_mask[TOKENS];
    memset(nll_mask, 1, sizeof nll_mask);
    tool(s);
    s->b.nll_mask = nll_mask;
}
static void old_of_tool(setup *s) { tool(s); for (int t = 25; t < 29; t++) { s->rollout[t] = s->logp[t]; s->old[t] = 0; } }
static void unequal(setup *s) { for (int t = 0; t < LENGTH; t++) s->A[s->offset[2] + t] = (grpo_real)-0.25; }
static void unequal_rewards(setup *s) { unequal(s); s->reward[2] = (grpo_real)0.25; }
static void unequal_by_token(setup *s) { unequal(s); s->A[s->offset[2] + 1] = (grpo_real)-0.5; }
static void unequal_shaped(setup *s) { unequal(s); s->obj.reward.length = GRPO_LENGTH_KIMI; s->obj.reward.length_coef = 0.1; }
static void old_is_rollout(setup *s) {
    memcpy(s->rollout, s->old, sizeof s->old);
    s->obj.weight.rollout_is = GRPO_ROLLOUT_IS_TRUNCATE; s->obj.weight.rollout_is_high = 2;
}
static void old_is_rollout_but_one(setup *s) { old_is_rollout(s); s->rollout[25] -= (grpo_real)0.01; }
static void rollout_unread(setup *s) { old_is_rollout(s); s->obj.weight.rollout_is = GRPO_ROLLOUT_IS_NONE; }
static void same_but_one(setup *s) { same(s); s->old[begin_of(s, 8)] -= (grpo_real)0.01; }
static void padded(setup *s) {
    for (int i = 2; i < RESPONSES; i++)
        for (int64_t t = begin_of(s, i) + (i < 6 ? 3 : 5); t < begin_of(s, i) + LENGTH; t++) s->logp[t] = s->old[t] = 0;
    memset(s->mask, 1, sizeof s->mask);
}
static void padded_and_cut(setup *s) {
    padded(s);
    for (int i = 2; i < RESPONSES; i++) s->length[i] = i < 6 ? 3 : 5;
    own_totals(s);
}
static void padded_unevenly(setup *s) { padded(s); s->length[0]--; own_totals(s); }
static void few_zeros(setup *s) { for (int i = 0; i < RESPONSES; i++) s->logp[begin_of(s, i) + 6] = s->old[begin_of(s, i) + 6] = 0; }
static void entropy(setup *s) { s->entropy[begin_of(s, 1) + 4] = (grpo_real)-0.5; }
static void hardly(setup *s) { s->entropy[begin_of(s, 1) + 4] = (grpo_real)-1e-6; }
static void per_response(setup *s) {
    memset(s->A, 0, sizeof s->A);
    for (int i = 0; i < RESPONSES; i++) s->A[i] = (grpo_real)(i % 3 == i / 3 ? 1.5 : -0.75);
}
static void first_response(setup *s) {
    for (int i = 1; i < RESPONSES; i++) for (int t = 0; t < LENGTH; t++) s->A[begin_of(s, i) + t] = 0;
}
static void of_tokens(setup *s) { per_response(s); s->obj.advantage.marked = GRPO_MARKED_FIXED; s->b.marked = s->mask; }
static void zero(setup *s) { memset(s->A, 0, sizeof s->A); }
static void transformed(setup *s) { zero(s); s->obj.advantage.transform = GRPO_TRANSFORM_BEST_MINUS_SECOND; }
static void equal_and_zero(setup *s) { for (int i = 0; i < RESPONSES; i++) s->reward[i] = (grpo_real)(i / 3); zero(s); }
static void equal(setup *s) { s->reward[4] = 0; s->reward[5] = (grpo_real)0; new_advantages(s); }
static void nearly_equal(setup *s) { s->reward[4] = (grpo_real)1e-3; new_advantages(s); }
static void not_compared(setup *s) { equal(s); s->obj.advantage.baseline = GRPO_BASELINE_BATCH_MEAN; new_advantages(s); }
static void other_totals(setup *s) { s->totals.tokens = s->totals.tokens / 2 + 5; s->totals.sequences = RESPONSES; }
static void small_totals(setup *s) { s->totals.tokens = 3; }
static void group_totals(setup *s) { s->totals.groups = PROMPTS; }
static void more_totals(setup *s) { s->totals.tokens += 5; s->totals.sequences += 2; s->totals.sequences_nonempty++; s->totals.groups++; }
static void add_totals(setup *s, int64_t tokens, int64_t sequences, int64_t nonempty, int64_t groups, int64_t with_tokens) {
    own_totals(s);
    s->totals.tokens += tokens; s->totals.sequences += sequences; s->totals.sequences_nonempty += nonempty;
    s->totals.groups += groups; s->totals.groups_nonempty += with_tokens;
}
static void no_group(setup *s) { add_totals(s, 0, 1, 0, 0, 0); }
static void empty_group(setup *s) { add_totals(s, 0, 1, 0, 1, 0); }
static void groups_of_none(setup *s) { add_totals(s, 5, 3, 2, 3, 1); }
static void no_such_tokens(setup *s) { add_totals(s, 1, 2, 2, 1, 1); }
static void groups_of_tokens(setup *s) { add_totals(s, 4, 2, 2, 1, 2); }
static void groups_of_one(setup *s) { add_totals(s, 4, 2, 1, 2, 2); }
static void two_tokens(setup *s) { add_totals(s, 2, 2, 2, 1, 1); }
static void negative_totals(setup *s) { s->totals.tokens = INT64_MIN; no_advantage(s); }
static void garbage(setup *s) { s->dlogp[STRIDE] = (grpo_real)2.5; s->dlogp[STRIDE * 4] = (grpo_real)NAN; s->dlogp[0] = 1; }
static void garbage_last(setup *s) {
    s->b.n_tokens = STRIDE * 8; s->b.n_groups = 2;
    s->dentropy[STRIDE * 6 + 1] = 3;
    own_totals(s);
    no_advantage(s);
}
static void inside(setup *s) {
    for (int i = 0; i < RESPONSES; i++) for (int t = 0; t < LENGTH; t++) s->dlogp[begin_of(s, i) + t] = 1;
    other_order(s);
    own_totals(s);
}
static void garbage_alone(setup *s) { garbage(s); own_totals(s); }
static void garbage_between(setup *s) { garbage(s); s->no_totals = 1; }
static void garbage_around(setup *s) { s->dlogp[0] = s->dlogp[TOKENS - 1] = 1; s->b.n_groups = 2; s->no_totals = 1; }
static void repeat_garbage(setup *s) { repeat(s); own_totals(s); s->dlogp[STRIDE * 3] = 1; }
static void nested(setup *s) {
    begin_together(s);
    own_totals(s);
    for (int i = 0; i < RESPONSES; i++) for (int t = 0; t < s->length[i]; t++) s->dlogp[begin_of(s, i) + t] = 1;
}
static void one(setup *s) { s->group[1] = 1; s->group[2] = 2; new_advantages(s); }
static void raw(setup *s) { s->obj.advantage.singleton = GRPO_SINGLETON_RAW; one(s); }
static void ones_of_part(setup *s) { s->b.n_groups = 2; one(s); }
static void ones(setup *s) { ones_of_part(s); own_totals(s); }
static void empty(setup *s) { s->length[4] = s->length[7] = 0; }
static void mask_one(setup *s) { memset(s->mask + begin_of(s, 4), 0, LENGTH); }
static void impossible(setup *s) { s->old[begin_of(s, 2)] = (grpo_real)-HUGE_VAL; }
static void unlikely(setup *s) { s->old[begin_of(s, 2)] = (grpo_real)-300; }
static void nothing(setup *s) { (void)s; }

/* ---- unfilled arrays, arrays of something else ---- */
static void no_ref(setup *s) { memset(s->ref, 0, sizeof s->ref); }
static void no_ref_of_none(setup *s) { no_ref(s); s->obj.penalty.kl = GRPO_KL_NONE; }
static void no_ref_yet(setup *s) { no_ref(s); no_advantage(s); }
static void no_ref_of_reward(setup *s) { no_ref_of_none(s); s->obj.reward.kl = GRPO_KL_K1; s->obj.reward.kl_coef = 0.1; }
static void no_ref_but_one(setup *s) { no_ref(s); s->ref[begin_of(s, 8)] = (grpo_real)-0.5; }
static void certain_ref(setup *s) { no_ref(s); for (int t = 0; t < TOKENS; t++) s->logp[t] = s->old[t] = (grpo_real)-1e-4; }
static void no_logp(setup *s) { memset(s->logp, 0, sizeof s->logp); }
static void no_old(setup *s) { memset(s->old, 0, sizeof s->old); }
static void shaped_policy(setup *s) {
    no_old(s);
    check(!grpo_objective_named("guide-grpo", &s->obj) && s->obj.surrogate.kind == GRPO_SURROGATE_POLICY_SHAPING, "a row");
    s->b.shaping_mask = s->mask;
}
static void few_far(setup *s) { for (int t = 0; t < TOKENS; t += 3) s->old[t] -= 500; }

/* ---- masks and flags ---- */
static void mask_from(setup *s, int first, int until) {
    for (int i = 0; i < RESPONSES; i++)
        for (int t = 0; t < LENGTH; t++) s->mask[begin_of(s, i) + t] = t >= first && t < until;
    own_totals(s);
}
static void unmask(setup *s) { mask_from(s, 0, LENGTH); }
static void zeros_from(const setup *s, grpo_real *x, int first) {
    for (int i = 0; i < RESPONSES; i++) for (int t = first; t < LENGTH; t++) x[begin_of(s, i) + t] = 0;
}
static void old_padded(setup *s) { unmask(s); zeros_from(s, s->old, 4); }
static void logp_padded(setup *s) { unmask(s); zeros_from(s, s->logp, 4); }
static void old_certain(setup *s) {
    old_padded(s);
    for (int i = 0; i < RESPONSES; i++) for (int t = 4; t < LENGTH; t++) s->logp[begin_of(s, i) + t] = (grpo_real)-1e-5;
}
static void truncate(setup *s, int first) {
    for (int i = first; i < RESPONSES; i++) s->truncated[i] = 1;
    s->b.truncated = s->truncated;
    s->obj.weight.truncated = GRPO_WEIGHT_TRUNCATED_MASK;
    own_totals(s);
}
static void truncate_all(setup *s) { truncate(s, 0); }
static void truncate_most(setup *s) { truncate(s, 1); }
static void truncate_part(setup *s) { truncate_all(s); s->totals.tokens += 5; s->totals.sequences += 2; s->totals.groups++; }
static void mask_int(setup *s) { for (int t = 0; t < TOKENS; t++) s->mask[t] = t % 4 == 1; own_totals(s); }
static void mask_float(setup *s) { for (int t = 0; t < TOKENS; t++) s->mask[t] = t % 4 < 2 ? 0 : t % 4 == 2 ? 0x80 : 0x3f; own_totals(s); }
static void mask_fifth(setup *s) { for (int t = 0; t < TOKENS; t++) s->mask[t] = t % 5 == 1; own_totals(s); }
static void mask_once(setup *s) { for (int t = 0; t < TOKENS; t++) s->mask[t] = t % 8 == 4; own_totals(s); }
static void inverted(setup *s) { mask_from(s, 4, LENGTH); zeros_from(s, s->old, 4); }
static void cut_beginning(setup *s) { mask_from(s, 4, LENGTH); }
static void cut_but_one(setup *s) { cut_beginning(s); memset(s->mask + begin_of(s, 4), 0, LENGTH); own_totals(s); }   /* none counts */
static void inverted_live(setup *s) {
    mask_from(s, 1, LENGTH);
    for (int i = 0; i < RESPONSES; i++) for (int t = 0; t < 1 + i % 3; t++) s->mask[begin_of(s, i) + t] = 0;
    own_totals(s);
}
static void inverted_and_short(setup *s) { inverted_live(s); s->length[4] = 6; own_totals(s); }
static void inverted_but_last(setup *s) { inverted_live(s); s->mask[begin_of(s, 4) + 6] = 0; own_totals(s); }
static void inverted_but_one(setup *s) { inverted_live(s); memset(s->mask + begin_of(s, 4), 1, LENGTH); own_totals(s); }
static void not_first(setup *s) { mask_from(s, 1, LENGTH); }
static void not_first_but_one(setup *s) { not_first(s); s->mask[begin_of(s, 5)] = 1; own_totals(s); }
static void mask_late(setup *s) { mask_from(s, 1, 6); zeros_from(s, s->old, 5); }
static void not_last_two(setup *s) { mask_from(s, 0, 5); }
static void mask_right(setup *s) { mask_from(s, 0, 5); zeros_from(s, s->old, 5); }
/* ends of responses masked from the 3rd, the 5th and the 7th token on, as padding is, with an overlong punishment; without one; all equally
 * long; two thirds of them a token shorter; one response with a length of its own */
static void mask_ends(setup *s, int first, int by) {
    s->obj.reward.overlong = GRPO_OVERLONG_SOFT;
    s->obj.reward.overlong_max = LENGTH; s->obj.reward.overlong_cache = 2; s->obj.reward.overlong_factor = 1;
    for (int i = 0; i < RESPONSES; i++)
        for (int t = 0; t < LENGTH; t++) s->mask[begin_of(s, i) + t] = t < first + by * (i % 3);
    own_totals(s);
}
static void mask_padding(setup *s) { mask_ends(s, 2, 2); }
static void mask_padding_of_no_use(setup *s) { mask_padding(s); s->obj.reward.overlong = GRPO_OVERLONG_NONE; }
static void mask_padding_of_cosine(setup *s) {
    mask_padding_of_no_use(s);
    s->obj.reward.length = GRPO_LENGTH_COSINE; s->obj.reward.length_max = LENGTH;
}
static void mask_ends_alike(setup *s) { mask_ends(s, 4, 0); }
static void mask_a_token(setup *s) {
    mask_ends(s, LENGTH, 0);
    for (int i = 0; i < RESPONSES; i++) s->mask[begin_of(s, i) + LENGTH - 1] = i % 3 == 0;
    own_totals(s);
}
static void mask_padding_of_some(setup *s) { mask_padding(s); s->length[4] = 6; own_totals(s); }

static void not_last(setup *s) { mask_from(s, 0, LENGTH - 1); }
static void mask_early(setup *s) { mask_from(s, 0, 4); zeros_from(s, s->old, 5); }
static void mask_early_and_next(setup *s) {                            /* shifted as one array: the last slot has the next one's flag */
    mask_early(s);
    for (int i = 0; i < RESPONSES; i++) s->mask[begin_of(s, i) + LENGTH - 1] = 1;
    own_totals(s);
}
static void confident_end(setup *s) { mask_from(s, 0, LENGTH); zeros_from(s, s->old, LENGTH - 1); }
static void mask_two(setup *s) { s->mask[begin_of(s, 3)] = 2; s->mask[begin_of(s, 3) + 1] = 255; s->mask[STRIDE * 5] = 9; }
static void mask_outside(setup *s) { s->mask[STRIDE * 5] = 9; }
static void letters(setup *s) { memset(s->truncated, 'F', sizeof s->truncated); s->b.truncated = s->truncated; }
static void no_letters(setup *s) { s->b.truncated = s->truncated; }
static void short_ones(setup *s) {
    unmask(s);
    for (int i = 5; i < RESPONSES; i++) s->length[i] = 3;
    truncate(s, 5);
}
static void short_and_some(setup *s) { short_ones(s); s->length[0] = 6; own_totals(s); }
static void short_and_masked(setup *s) {
    unmask(s);
    s->length[7] = s->length[8] = 3;
    memset(s->mask + begin_of(s, 8), 0, LENGTH);
    truncate(s, 7);
}
static void short_but_one(setup *s) { short_ones(s); s->length[6] = LENGTH; own_totals(s); }

/* ---- advantages ---- */
static void flip(setup *s) { for (int t = 0; t < TOKENS; t++) s->A[t] = -s->A[t]; }
static void flip_overlong(setup *s) {
    flip(s);
    s->obj.reward.overlong = GRPO_OVERLONG_SOFT;
    s->obj.reward.overlong_max = 8; s->obj.reward.overlong_cache = 4; s->obj.reward.overlong_factor = 1;
}
static void zero_overlong(setup *s) { flip_overlong(s); zero(s); }
static void zero_before_overlong(setup *s) { zero_overlong(s); s->obj.reward.overlong_max = LENGTH + 4; }
static void flip_longer(setup *s) { flip_overlong(s); s->obj.reward.overlong_factor = 1.5; }
static void flip_linear(setup *s) { flip_overlong(s); s->obj.reward.overlong = GRPO_OVERLONG_LINEAR; }
static void set_response(setup *s, int i, double A) { for (int t = 0; t < LENGTH; t++) s->A[begin_of(s, i) + t] = (grpo_real)A; }
static void flip_one(setup *s) { set_response(s, 4, -2); }
static void only_positive(setup *s) { for (int t = 0; t < TOKENS; t++) if (s->A[t] < 0) s->A[t] = 0; set_response(s, 3, -0.5); }
static void flip_of_filter(setup *s) { flip(s); s->obj.advantage.scale = GRPO_SCALE_LEAVE_ONE_OUT_STD; }
static void middle(setup *s) {
    static const double reward[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    for (int i = 0; i < RESPONSES; i++) s->reward[i] = (grpo_real)reward[i];
    s->b.n_groups = 1; s->group[1] = RESPONSES;
    new_advantages(s);
    own_totals(s);
}
static void leave_out_lowest(setup *s) { middle(s); for (int i = 0; i < RESPONSES; i++) set_response(s, i, i ? -9 + i : 0); }
static void by_token(setup *s) { middle(s); for (int t = 0; t < TOKENS; t++) s->A[t] = (grpo_real)sin(t); }
static void swap_two(setup *s) { middle(s); set_response(s, 4, 0.7); set_response(s, 5, 0.2); }
static void nearly_in_order(setup *s) { middle(s); for (int i = 0; i < RESPONSES; i++) set_response(s, i, 1e6 - 10 * (i - 4)); }
static void tiny(setup *s) { for (int t = 0; t < TOKENS; t++) s->A[t] = (grpo_real)(1e-37 * (t % 7)); }
static void tiny_rewards(setup *s) { tiny(s); for (int i = 0; i < RESPONSES; i++) s->reward[i] *= (grpo_real)1e-25; }
static void raw_rewards(setup *s) { for (int i = 0; i < RESPONSES; i++) set_response(s, i, (double)s->reward[i]); }
static void raw_but_one(setup *s) { raw_rewards(s); set_response(s, 8, 0.5); }
static void raw_of_both_signs(setup *s) {
    for (int i = 0; i < RESPONSES; i++) s->reward[i] = (grpo_real)(i % 3 - 1);
    raw_rewards(s);
}
static void raw_halves(setup *s) {
    raw_rewards(s);
    for (int g = 0; g < PROMPTS; g++) memset(s->mask + begin_of(s, EACH * g + (g + 1) % 3), 0, LENGTH);
    own_totals(s);
}

static void cut_last(setup *s) { s->group[3] = 8; s->totals.sequences = 2 * RESPONSES; new_advantages(s); }
static void cut_alone(setup *s) { cut_last(s); own_totals(s); }
static void cut_both(setup *s) { s->group[0] = 1; cut_last(s); }
static void larger_last(setup *s) { s->group[1] = 1; s->group[2] = 3; new_advantages(s); }

/* a part of a batch: groups of one response with the advantages of the whole groups */
static void lone(setup *s) {
    s->group[1] = 1; s->group[2] = 2; s->group[3] = 3;
    s->obj.aggregation.kind = GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN;
}
static void lone_zero(setup *s) { lone(s); new_advantages(s); }
static void lone_needless(setup *s) { lone(s); s->obj.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN; }
static void lone_alone(setup *s) { lone(s); own_totals(s); }
static void lone_shifted(setup *s) { lone(s); s->obj.advantage.baseline_shift = 0.1; }

/* a part of a batch: of its last group one response is in another part */
static void uncentred(setup *s) {
    s->group[3] = 8;
    s->obj.aggregation.kind = GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN;
}
static void uncentred_needless(setup *s) { uncentred(s); s->obj.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN; }
static void uncentred_alone(setup *s) { uncentred(s); own_totals(s); }
static void uncentred_shifted(setup *s) { uncentred(s); s->obj.advantage.baseline_shift = 0.1; }
static void centred(setup *s) { uncentred(s); new_advantages(s); }
static void centred_nearly(setup *s) {
    uncentred(s);
    s->group[3] = 9;
    for (int64_t t = begin_of(s, 8); t < begin_of(s, 8) + LENGTH; t++) s->A[t] += (grpo_real)1e-5;
}

/* a part whose advantages are of the moments of this part alone, or of all */
static void own_moments(setup *s) { s->obj.advantage.scale = GRPO_SCALE_BATCH_STD; new_advantages(s); }
static void all_moments(setup *s) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    s->reward[0] = 2;
    own_moments(s);
    check(!grpo_moments_add(&s->obj, &s->b, &m), "moments");
    s->reward[0] = 1;
    check(!grpo_moments_add(&s->obj, &s->b, &m) && !grpo_advantages_with_moments(&s->obj, &s->b, &m, s->A), "of both parts");
}
static void own_zero(setup *s) {                                            /* nothing to learn, whatever the moments */
    for (size_t i = 0; i < sizeof s->reward / sizeof *s->reward; i++) s->reward[i] = 1;
    own_moments(s);
}
static void own_moments_whole(setup *s) { own_moments(s); own_totals(s); }
static void own_whitening(setup *s) {
    check(!grpo_objective_named("reinforce++", &s->obj), "reinforce++");
    new_advantages(s);
}
static void own_whitening_but_one(setup *s) { own_whitening(s); s->A[begin_of(s, 8) + 3] += (grpo_real)0.01; }
static void own_factor(setup *s) {
    s->obj.advantage.reweight = GRPO_REWEIGHT_VALID_GROUPS;
    for (int i = 3; i < 6; i++) s->reward[i] = 1;
    new_advantages(s);
}
static void factor_one(setup *s) { s->obj.advantage.reweight = GRPO_REWEIGHT_VALID_GROUPS; new_advantages(s); }

static void bonus(setup *s) { s->obj.penalty.entropy_coef = 0.01; }
static void lost_bonus(setup *s) { bonus(s); s->out.dentropy = NULL; }
static void no_gradient(setup *s) { lost_bonus(s); s->out.dlogp = NULL; }
static void divergence(setup *s) {
    s->obj.penalty.kl = GRPO_KL_EXTERNAL;
    s->b.divergence_ref = s->entropy;
    s->out.ddivergence_ref = s->dentropy;
}
static void lost_divergence(setup *s) { divergence(s); s->out.ddivergence_ref = NULL; }

#define RULE(name) GRPO_LINT_##name
static const struct { grpo_lint_rule rule; void (*fires)(setup *s), (*spares)(setup *s); const char *sentence; } rules[] = {
    { RULE(REFUSED), nan_old, nan_masked, "error: batch.logp_old[43] is NaN: group 1, response 2 of it, token 2 of it" },
    { RULE(REFUSED), nan_reward, no_advantage, "error: batch.reward[4] is NaN: group 1, response 1 of it" },
    { RULE(REFUSED), wide_clip, nothing, "error: surrogate.eps_low must not be negative: it is -0.25" },
    { RULE(REFUSED), reaches_past, nothing,
      "error: batch.length[8] reaches past batch.n_tokens, which is the size of arrays per token: it ends at 73, the other 72; group 2, "
      "response 2 of it" },
    { RULE(REFUSED), small_totals, own_totals,
      "error: totals is less than is needed: this batch has more; first give every part to grpo_totals_add, with the same groups" },
    { RULE(REPEATED), repeat, other_order,
      "likely mistake: batch.offset[7] and its length are those of sequence 2: a response that is there twice loses a gradient: group 2, "
      "response 1 of it" },
    { RULE(OVERLAP), overlap, touch,
      "likely mistake: batch.offset[4] begins within sequence 1, so that shared tokens lose a gradient: group 1, response 1 of it" },
    { RULE(NO_GROUPS), no_groups, empty_part, "likely mistake: batch.n_groups is 0, and batch.n_tokens 72: has it been set?" },
    { RULE(NO_GROUPS), no_groups, empty_batch, NULL },
    { RULE(NO_TOKENS), mask_all, mask_most, "likely mistake: batch has no token: every response is empty or masked" },
    { RULE(POSITIVE_LOGP), positive, rounding,
      "likely mistake: batch.logp[26] is 0.25, but a log-probability is at most 0: group 1, response 0 of it, token 1 of it; 2 in all" },
    { RULE(PROBABILITIES), probabilities, certain,
      "likely mistake: batch.logp_rollout lies within 0 and 1 at every token: it looks like probabilities" },
    { RULE(NEGATED), negate, certain,
      "likely mistake: batch.logp_ref is negative at no token: it looks like log-probabilities with the wrong sign" },
    { RULE(OTHER_TYPE), other_type, not_all_of_other_type, "likely mistake: batch.logp_rollout looks like an array of " TYPES },
    { RULE(AHEAD), shift_old, shift_both,
      "likely mistake: batch.logp differs from batch.logp_old by 0.822291 on average, one token later by 0.0045..." },
    { RULE(BEHIND), shift_rollout, nothing,
      "likely mistake: batch.logp_old differs from batch.logp_rollout by 0.707253 on average, one token earlier by 0.0063..." },
    { RULE(APART), temperature, warm, "note: batch.logp differs from batch.logp_old by 0.5..." },
    { RULE(FAR), far_old, unlike_old, "likely mistake: batch.logp is more than 1 away from batch.logp_old at a share of 0.7..." },
    { RULE(PADDED), padded, padded_and_cut,
      "likely mistake: batch.logp[20] and batch.logp_old are 0 from here to the end of the response: it looks like padding that counts, "
      "for want of a mask: group 0, response 2 of it, token 3 of it; 7 in all" },
    { RULE(NEGATIVE_ENTROPY), entropy, hardly,
      "likely mistake: batch.entropy[13] is -0.5, but an entropy is at least 0: group 0, response 1 of it, token 4 of it" },
    { RULE(PER_RESPONSE), per_response, first_response,
      "likely mistake: advantage[10] is 0, as is all behind as many elements as there are responses: it looks like an advantage per "
      "response, not per token: group 0, response 1 of it, token 1 of it" },
    { RULE(NO_ADVANTAGE), zero, equal_and_zero,
      "likely mistake: advantage[10] is 0, and no larger at any token, though rewards of a group differ: it looks unwritten: group 0, "
      "response 1 of it, token 1 of it" },
    { RULE(LOST_GRADIENT), lost_bonus, bonus,
      "likely mistake: out.dentropy is NULL, and out.dlogp is not: the gradient by batch.entropy is lost" },
    { RULE(LOST_GRADIENT), lost_bonus, no_gradient,
      "likely mistake: out.dentropy is NULL, and out.dlogp is not: the gradient by batch.entropy is lost" },
    { RULE(LOST_GRADIENT), lost_divergence, divergence,
      "likely mistake: out.ddivergence_ref is NULL, and out.dlogp is not: the gradient by batch.divergence_ref is lost" },
    { RULE(OTHER_TOTALS), other_totals, own_totals,
      "likely mistake: totals cannot be of this batch and others: they count something else, or another batch" },
    { RULE(UNWRITTEN), garbage_alone, inside,
      "likely mistake: out.dlogp[0] is 1 outside of every sequence, where the loss writes nothing: clear the array before the first "
      "part, if it is read whole; 3 in all" },
    { RULE(UNWRITTEN), garbage_alone, garbage, NULL },
    { RULE(UNWRITTEN), garbage_between, garbage_around,
      "likely mistake: out.dlogp[8] is 2.5 outside of every sequence, where the loss writes nothing: clear the array before the first "
      "part, if it is read whole; 2 in all" },
    { RULE(GROUP_OF_ONE), one, raw,
      "note: batch.group_begin[0] begins a group of one response, with nothing to compare it with: its advantage is 0: group 0; 2 in all" },
    { RULE(EQUAL_REWARDS), equal, nearly_equal,
      "note: batch.reward[3] is 0, as the reward of every response of the group: nothing is learnt from it: group 1, response 0 of it" },
    { RULE(EMPTY), empty, mask_one, "note: batch.length[4] is 0: a response without tokens: group 1, response 1 of it; 2 in all" },
    { RULE(MASKED), mask_one, empty,
      "note: batch.length[4] is of a response whose every token batch.mask leaves out: group 1, response 1 of it" },
    { RULE(ZERO_PROBABILITY), impossible, unlikely,
      "note: batch.logp_old[17] is -infinity: a token whose probability is 0: group 0, response 2 of it, token 0 of it" },
    { RULE(SAME), same, same_but_one,
      "note: batch.logp is batch.logp_old at every token: ratios are 1 and no clip acts, as in the first step on a batch" },
    { RULE(ZEROS), no_ref, no_ref_but_one,
      "likely mistake: batch.logp_ref is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(UNLIKE), unlike_old, temperature,
      "likely mistake: batch.logp differs from batch.logp_old by 0.7... on average: of other tokens, ..." },
    { RULE(PADDED_ONE), old_padded, old_certain,
      "likely mistake: batch.logp_old[5] is 0 from here to the end of the response, and batch.logp is not: it looks like padding that "
      "counts, for want of a mask: group 0, response 0 of it, token 4 of it; 9 in all" },
    { RULE(NOT_SAMPLED), tool, short_tool,
      "likely mistake: batch.logp_rollout[25] is 0 at this and the next tokens, and batch.logp_old is not: do tokens count that were not "
      "sampled, such as a tool's output?: group 1, response 0 of it, token 0 of it" },
    { RULE(NOT_SAMPLED), old_of_tool, certain_run,
      "likely mistake: batch.logp_old[25] is 0 at this and the next tokens, and batch.logp ..." },
    { RULE(NOT_SAMPLED), tool, demonstration, NULL },
    { RULE(NOT_SAMPLED), tool, certain, NULL },
    { RULE(UNEQUAL), unequal, unequal_rewards,
      "note: advantage[17] is -0.25, but -0.57735 for the same reward in this group: computed from a part of the group, or weighted by "
      "you?: group 0, response 2 of it, token 0 of it" },
    { RULE(UNEQUAL), unequal, unequal_by_token, NULL },
    { RULE(UNEQUAL), unequal, unequal_shaped, NULL },
    { RULE(UNCORRECTED), old_is_rollout, old_is_rollout_but_one,
      "note: batch.logp_old is batch.logp_rollout at every token, so that there is nothing to correct or to reject: are both the "
      "sampler's?" },
    { RULE(UNCORRECTED), old_is_rollout, rollout_unread, NULL },
    { RULE(NONE_COUNT), truncate_all, truncate_most,
      "likely mistake: batch has no token that counts: all are masked, truncated or rejected" },
    { RULE(MASK_BYTES), mask_int, mask_fifth,
      "likely mistake: batch.mask looks like numbers of another type read as bytes: a flag is one byte, 0 or 1" },
    { RULE(INVERTED_MASK), inverted, cut_beginning,
      "likely mistake: batch.mask counts only tokens whose batch.logp_old is 0, and leaves out others: it looks inverted" },
    { RULE(COUNTS_END), inverted_live, cut_beginning,
      "note: batch.mask[2] leaves out the beginning of every response and counts its end, all equally long: is it inverted, and padding "
      "counts?: group 0, response 0 of it, token 1 of it" },
    { RULE(PADDED_LENGTH), mask_padding, mask_padding_of_no_use,
      "note: batch.length[0] is 7, as that of every response, and batch.mask leaves out ends: is it padding?  reward.length and overlong "
      "take it for text: group 0, response 0 of it; 9 in all" },
    { RULE(PADDED_LENGTH), mask_padding_of_cosine, mask_ends_alike, NULL },
    { RULE(PADDED_LENGTH), mask_padding, mask_a_token, NULL },
    { RULE(PADDED_LENGTH), mask_padding, mask_padding_of_some, NULL },
    { RULE(FIRST_LEFT_OUT), not_first, not_first_but_one,
      "note: batch.mask[1] leaves out the first token of every response and counts the second: is it shifted by one token?: group 0, "
      "response 0 of it, token 0 of it" },
    { RULE(LAST_LEFT_OUT), not_last, unmask,
      "note: batch.mask[7] leaves out the last token of every response and counts the one before: is it shifted by one token?: group 0, "
      "response 0 of it, token 6 of it" },
    { RULE(FLAG), mask_two, mask_outside,
      "note: batch.mask[25] is 2, but flags are 0 or 1: an array of another type?: group 1, response 0 of it, token 0 of it; 2 in all" },
    { RULE(SHORT_TRUNCATED), short_ones, short_but_one,
      "likely mistake: batch.truncated[5] is of a response of 3 tokens, and those that are not truncated have 7 or more: are the flags "
      "inverted?: group 1, response 2 of it; 4 in all" },
    { RULE(AGAINST_REWARD), flip, only_positive,
      "likely mistake: advantage[10] is 0.57735, but -1.1547 where the reward is higher: of another step or reward, or with the wrong "
      "sign?: group 0, response 1 of it, token 1 of it; 9 in all" },
    { RULE(RAW_REWARD), raw_rewards, raw_but_one,
      "likely mistake: advantage[10] is 0, the reward itself, as at every token: nothing has been subtracted: group 0, response 1 of it, "
      "token 1 of it; 3 in all" },
    { RULE(CUT_GROUP), cut_last, cut_alone,
      "note: batch.group_begin[2] begins a group of 2 responses, where the others of this part have 3: is it cut?  Parts are of whole "
      "groups: group 2" },
    { RULE(LONE_ADVANTAGE), lone, lone_zero,
      "note: batch.group_begin[0] begins a group of one response whose advantage is not 0: is it cut?  This loss looks at whole groups: "
      "group 0; 3 in all" },
    /* a second correct batch for the same rule */
    { RULE(LONE_ADVANTAGE), lone, lone_needless, NULL },
    { RULE(LONE_ADVANTAGE), lone, lone_alone, NULL },
    { RULE(LONE_ADVANTAGE), lone, lone_shifted, NULL },
    { RULE(UNCENTRED), uncentred, centred,
      "note: batch.group_begin[2] begins a group whose advantages add up to -1.154..., not to 0: is it cut?  This loss looks at whole "
      "groups: group 2" },
    { RULE(OWN_MOMENTS), own_moments, all_moments,
      "likely mistake: advantage is that of this part alone, but it depends on the whole batch: of grpo_advantages, without the moments "
      "of other parts?" },
    { RULE(UNCENTRED), uncentred, uncentred_needless, NULL },
    { RULE(UNCENTRED), uncentred, uncentred_alone, NULL },
    { RULE(UNCENTRED), uncentred, uncentred_shifted, NULL },
    { RULE(UNCENTRED), uncentred, centred_nearly, NULL },
    { RULE(OWN_MOMENTS), own_moments, own_moments_whole, NULL },
    { RULE(OWN_MOMENTS), own_moments, own_zero, NULL },
    { RULE(OWN_MOMENTS), own_whitening, own_whitening_but_one, "likely mistake: advantage is that of this part alone, ..." },
    { RULE(OWN_MOMENTS), own_factor, factor_one, "note: advantage is that of this part alone, ..." },
    { RULE(GROUP_OF_ONE), one, lone, NULL },
    { RULE(ZEROS), no_ref_of_none, certain_ref,
      "note: batch.logp_ref is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(ZEROS), no_ref_yet, nothing,
      "likely mistake: batch.logp_ref is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(ZEROS), no_ref_of_reward, nothing,
      "likely mistake: batch.logp_ref is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(ZEROS), no_logp, nothing, "likely mistake: batch.logp is 0 at every token, and batch.logp_old is not: it looks unwritten" },
    { RULE(ZEROS), no_old, shaped_policy, "likely mistake: batch.logp_old is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(ZEROS), certain, nothing, "note: batch.logp_rollout is 0 at every token, and batch.logp is not: it looks unwritten" },
    { RULE(APART), few_far, no_old, NULL },
    { RULE(UNLIKE), unlike_old, few_far, NULL },
    { RULE(FAR), far_old, no_old, NULL },
    { RULE(PADDED_ONE), logp_padded, padded, NULL },
    { RULE(NONE_COUNT), truncate_part, nothing, "note: batch has no token that counts: all are masked, truncated or rejected" },
    { RULE(MASK_BYTES), mask_float, mask_once, NULL },
    { RULE(FLAG), mask_two, mask_float, NULL },
    { RULE(FLAG), letters, no_letters, "note: batch.truncated[0] is 70, but flags are 0 or 1: an array of another type?: group 0, "
      "response 0 of it; 9 in all" },
    { RULE(FIRST_LEFT_OUT), mask_late, mask_right, "note: batch.mask[1] leaves out the first token of every response and ..." },
    { RULE(LAST_LEFT_OUT), mask_early, mask_right, "note: batch.mask[5] leaves out the last ..." },
    { RULE(LAST_LEFT_OUT), mask_early_and_next, confident_end, "likely mistake: batch.mask[5] leaves out the last ..." },
    { RULE(SHORT_TRUNCATED), short_and_some, truncate_most, "note: batch.truncated[5] is of a response of 3 tokens, ..." },
    { RULE(NO_ADVANTAGE), zero_before_overlong, zero_overlong, "likely mistake: advantage[10] is 0, and no larger at any token, ..." },
    { RULE(NO_ADVANTAGE), tiny, tiny_rewards, "likely mistake: advantage[6] is 6e-37, and no larger at any token, ..." },
    { RULE(AGAINST_REWARD), flip_overlong, flip_longer, "likely mistake: advantage[10] is 0.57735, but -1.1547 where the reward ..." },
    { RULE(AGAINST_REWARD), flip_overlong, flip_linear, NULL },
    { RULE(AGAINST_REWARD), swap_two, middle, "note: advantage[33] is 0.7, but 0.2 where the reward is higher: of another step ..." },
    { RULE(AGAINST_REWARD), flip_one, nearly_in_order, NULL },
    { RULE(AGAINST_REWARD), flip, flip_of_filter, NULL },
    { RULE(RAW_REWARD), raw_rewards, raw_of_both_signs, NULL },
    { RULE(RAW_REWARD), raw_rewards, raw_halves, NULL },
    { RULE(COUNTS_END), inverted_live, inverted_and_short, NULL },
    { RULE(COUNTS_END), inverted_live, inverted_but_last, NULL },
    { RULE(COUNTS_END), inverted_live, inverted_but_one, NULL },
    { RULE(COUNTS_END), inverted_live, cut_but_one, NULL },
    { RULE(FIRST_LEFT_OUT), not_first, cut_beginning, NULL },
    { RULE(FIRST_LEFT_OUT), not_first, mask_float, NULL },
    { RULE(LAST_LEFT_OUT), not_last, not_last_two, NULL },
    { RULE(SHORT_TRUNCATED), short_and_some, short_and_masked, NULL },
    { RULE(AGAINST_REWARD), swap_two, leave_out_lowest, NULL },
    { RULE(AGAINST_REWARD), swap_two, by_token, NULL },
    { RULE(CUT_GROUP), cut_last, cut_both, NULL },
    { RULE(CUT_GROUP), cut_last, larger_last, NULL },
    { RULE(OVERLAP), begin_together, touch,
      "likely mistake: batch.offset[4] begins within sequence 1, so that shared tokens lose a gradient: group 1, response 1 of it" },
    { RULE(FAR), far_old, far_ref, NULL },
    { RULE(PER_RESPONSE), per_response, of_tokens, NULL },
    { RULE(PADDED), padded, few_zeros, NULL },
    { RULE(UNWRITTEN), garbage_last, nothing,
      "note: out.dentropy[49] is 3 outside of every sequence, where the loss writes nothing: clear the array before the first "
      "part, if it is read whole" },
    { RULE(GROUP_OF_ONE), ones_of_part, raw, "note: batch.group_begin[0] begins a group of one response, ..." },
    { RULE(GROUP_OF_ONE), ones, raw,
      "likely mistake: batch.group_begin[0] begins a group of one response, with nothing to compare it with: its advantage is 0: "
      "group 0; 2 in all" },
    { RULE(EQUAL_REWARDS), equal, not_compared, NULL },
    { RULE(OTHER_TOTALS), group_totals, more_totals, NULL },
    { RULE(OTHER_TOTALS), negative_totals, no_advantage, NULL },
    { RULE(OTHER_TOTALS), no_group, empty_group, NULL },
    { RULE(OTHER_TOTALS), groups_of_none, two_tokens, NULL },
    { RULE(OTHER_TOTALS), no_such_tokens, nothing, NULL },
    { RULE(OTHER_TOTALS), groups_of_tokens, nothing, NULL },
    { RULE(OTHER_TOTALS), groups_of_one, nothing, NULL },
    { RULE(PADDED), padded, padded_unevenly, NULL },
    { RULE(NO_ADVANTAGE), zero, transformed, NULL },
    { RULE(UNWRITTEN), repeat_garbage, nested,
      "note: out.dlogp[24] is 1 outside of every sequence, where the loss writes nothing: clear the array before the first "
      "part, if it is read whole" },
};

static const grpo_finding *found_in(const grpo_finding *finding, int n, grpo_lint_rule rule) {
    for (int k = 0; k < n; k++) if (finding[k].rule == rule) return &finding[k];
    return NULL;
}

/* text equals expected; "..." at the end of expected matches anything */
static int is_sentence(const char *text, const char *expected) {
    const char *dots = strstr(expected, "...");
    return dots ? !strncmp(text, expected, (size_t)(dots - expected)) : !strcmp(text, expected);
}

static void test_rule(size_t k) {
    static setup s;
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    const grpo_finding *x;
    int n;
    setup_make(&s);
    rules[k].fires(&s);
    n = lint(&s, finding);
    x = found_in(finding, n, rules[k].rule);
    if (check(x != NULL, "row %d: nothing is found", (int)k) && rules[k].sentence)
        check(is_sentence(grpo_finding_message(x, text, sizeof text), rules[k].sentence), "row %d: \"%s\"", (int)k, text);
    setup_make(&s);
    rules[k].spares(&s);
    x = found_in(finding, lint(&s, finding), rules[k].rule);
    check(!x, "row %d: found beside it: %s", (int)k, x ? grpo_finding_message(x, text, sizeof text) : "");
}

static void test_rules(void) {
    static setup s;
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    int n, seen[GRPO_N_LINT_RULES] = { 0 };
    setup_make(&s);
    n = lint(&s, finding);
    check(n == 0, "a good batch: %s", n ? grpo_finding_message(finding, text, sizeof text) : "");
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        test_rule(k);
        seen[rules[k].rule] = 1;
    }
    seen[GRPO_LINT_FIXED_LENGTH] = 1;                                             /* test_fixed_length */
    for (int rule = GRPO_LINT_MISSING_PART; rule <= GRPO_LINT_MORE_MOMENTS; rule++) seen[rule] = 1;       /* test_parts */
    for (int rule = 0; rule < GRPO_N_LINT_RULES; rule++) check(seen[rule], "rule %d is not tested", rule);
}

/* eight groups, in each of which all rewards are equal */
static void test_equal_groups(void) {
    static const int64_t group[] = { 0, 2, 4, 6, 8, 10, 12, 14, 16 };
    int64_t offset[16], length[16];
    grpo_real reward[16];
    grpo_finding finding[1];
    grpo_objective obj;
    grpo_batch b;
    memset(&b, 0, sizeof b);
    for (int i = 0; i < 16; i++) { offset[i] = i; length[i] = 1; reward[i] = (grpo_real)(i / 2); }
    b.group_begin = group; b.offset = offset; b.length = length; b.reward = reward; b.n_tokens = 16;
    check(!grpo_objective_named("grpo", &obj), "grpo");
    for (b.n_groups = 7; b.n_groups <= 8; b.n_groups++) {
        check(grpo_lint(&obj, &b, NULL, NULL, NULL, finding, 1) == 1 && finding->rule == GRPO_LINT_EQUAL_REWARDS, "equal rewards");
        check(finding->count == b.n_groups && finding->level == (b.n_groups < 8 ? GRPO_LINT_NOTE : GRPO_LINT_LIKELY), "their level");
    }
}

/* Before there are advantages: equal rewards in a group of three are reported under each credit by which they become advantages of 0,
 * and under no other.  The rewards of steps differ; the critic says 0 everywhere. */
static void test_equal_rewards_by_credit(void) {
    static const grpo_real critic[TOKENS] = { 0 };
    static const int64_t token_id[TOKENS] = { 0 };
    static setup s;
    static uint8_t step_end[TOKENS];
    static grpo_real step_reward[TOKENS];
    grpo_finding finding[GRPO_LINT_MOST];
    int with = 0, without = 0;
    for (int kind = 0; ; kind++) {
        int learns = 0, found;
        setup_make(&s);
        equal(&s);
        if (grpo_objective_set(&s.obj, "advantage.credit", kind)) break;
        for (int t = 0; t < TOKENS; t++) { step_end[t] = t % 2 == 0; step_reward[t] = (grpo_real)(t % 5); }
        s.b.step_end = step_end; s.b.step_reward = step_reward; s.b.value = critic; s.b.token_id = token_id;
        s.obj.advantage.step_coef = 1;
        if (kind == GRPO_CREDIT_ENTROPY_SHARE) {
            s.obj.advantage.baseline = GRPO_BASELINE_NONE; s.obj.advantage.scale = GRPO_SCALE_NONE;
            s.obj.advantage.entropy_share_eps = 1;
        }
        check(!grpo_advantages(&s.obj, &s.b, s.A), "credit %d: %s", kind, grpo_status_text(grpo_advantages(&s.obj, &s.b, s.A)));
        for (int i = EACH; i < 2 * EACH; i++)
            for (int64_t t = begin_of(&s, i); t < begin_of(&s, i) + LENGTH; t++) learns |= s.A[t] != 0;
        s.advantage = s.A;
        found = found_in(finding, lint(&s, finding), GRPO_LINT_EQUAL_REWARDS) != NULL;
        check(!found || !learns, "credit %d: something is learnt from equal rewards, yet they are reported", kind);
        check(found || learns || s.obj.advantage.baseline == GRPO_BASELINE_NONE, "credit %d: nothing is learnt, and nothing said", kind);
        with += found; without += learns;
    }
    check(with >= 4 && without >= 4, "%d kinds of credit are reported, by %d something is learnt", with, without);
}

/* without advantages, equal rewards and a group of one are reported only where nothing but the reward makes an advantage */
static void test_rewards_alone(void) {
    static const struct { const char *field; double value; } other[] = {
        { "reward.length", GRPO_LENGTH_KIMI }, { "reward.overlong", GRPO_OVERLONG_SOFT },
        { "reward.truncated", GRPO_REWARD_TRUNCATED_SCALE },
        { "reward.kl", GRPO_KL_K1 }, { "advantage.credit", GRPO_CREDIT_GAE }, { "advantage.baseline_shift", 0.1 },
        { "advantage.teacher_coef", 0.1 }, { "advantage.kl_centred_coef", 0.1 }, { "advantage.marked", GRPO_MARKED_FIXED },
    };
    grpo_finding finding[GRPO_LINT_MOST];
    for (int k = -1; k < (int)(sizeof other / sizeof *other); k++) {
        for (int with = 0; with < 2; with++) {
            int found;
            setup s;
            setup_make(&s);
            equal(&s);
            s.obj.reward.kl_coef = 0.1; s.obj.advantage.marked_value = -1;
            s.obj.reward.overlong_max = 8; s.obj.reward.overlong_cache = 4; s.obj.reward.overlong_factor = 1;
            if (k >= 0) check(!grpo_objective_set(&s.obj, other[k].field, other[k].value), "%s", other[k].field);
            memset(s.A, 0, sizeof s.A);
            s.advantage = with ? s.A : NULL;
            found = found_in(finding, lint(&s, finding), GRPO_LINT_EQUAL_REWARDS) != NULL;
            check(found == (with || k < 0), "%s: equal rewards are %sreported",
                  k < 0 ? "the reward alone" : other[k].field, found ? "" : "not ");
        }
    }
}

/* responses of one length, in the numbers and lengths of padded batches */
static void test_fixed_length(void) {
    static const int64_t group[] = { 0, 4, 8 };
    static const uint8_t mask[8 * 8] = { 1 };
    int64_t offset[8], length[8];
    uint8_t truncated[8];
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    grpo_objective obj;
    grpo_batch b;
    for (int k = 0; k < 7; k++) {
        static const int expected[] = { 1, 0, 0, 0, 0, 1, 0 };                    /* 0: unchanged; others: the changes below */
        const grpo_finding *x;
        memset(&b, 0, sizeof b);
        for (int i = 0; i < 8; i++) { offset[i] = 8 * i; length[i] = 8; truncated[i] = 1; }
        b.n_groups = 2; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 8 * 8;
        if (k == 1) length[7] = 7;
        if (k == 2) b.mask = mask;
        if (k == 3) b.n_groups = 1;
        if (k == 4) for (int i = 0; i < 8; i++) length[i] = 7;
        if (k >= 5) b.truncated = truncated;
        if (k == 5) truncated[7] = 0;
        check(!grpo_objective_named("grpo", &obj), "grpo");
        x = found_in(finding, grpo_lint(&obj, &b, NULL, NULL, NULL, finding, GRPO_LINT_MOST), GRPO_LINT_FIXED_LENGTH);
        check(!x == !expected[k], "fixed length, %d", k);
        if (x) check(!strcmp(grpo_finding_message(x, text, sizeof text),
                             "note: batch.length[0] is 8, as that of every response, and there is no mask: does padding count?: group 0, "
                             "response 0 of it; 8 in all"), "\"%s\"", text);
    }
}

/* many responses: up to a quarter of them swapped with a neighbour; groups of any size, cut at an end or not */
static void test_many_responses(void) {
    enum { MANY = 36 };
    static const struct { int64_t begin[6]; int cut; } cuts[] = {
        { { 0, 9, 18, 27, 36, 36 }, -1 }, { { 0, 10, 20, 30, 36, 36 }, 3 }, { { 0, 6, 16, 26, 36, 36 }, 0 },
        { { 0, 10, 20, 28, 36, 36 }, -1 },
    };
    int64_t group[6] = { 0, MANY }, offset[MANY], length[MANY];
    grpo_real reward[MANY], A[MANY];
    grpo_finding finding[GRPO_LINT_MOST];
    const grpo_finding *x;
    grpo_objective obj;
    grpo_totals totals;
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = MANY; b.reward = reward;
    check(!grpo_objective_named("grpo", &obj), "grpo");
    for (int swaps = 0; swaps <= 9; swaps++) {
        for (int i = 0; i < MANY; i++) {
            offset[i] = i; length[i] = 1; reward[i] = (grpo_real)i;
            A[i] = (grpo_real)((i / 2 < swaps ? i ^ 1 : i) - 17.5);
        }
        x = found_in(finding, grpo_lint(&obj, &b, A, NULL, NULL, finding, GRPO_LINT_MOST), GRPO_LINT_AGAINST_REWARD);
        check(!x == !swaps, "%d swaps", swaps);
        if (x) check(x->count == swaps && x->level == (swaps < 9 ? GRPO_LINT_NOTE : GRPO_LINT_LIKELY), "%d swaps, their level", swaps);
    }
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        memcpy(group, cuts[k].begin, sizeof group);
        b.n_groups = 4;
        memset(&totals, 0, sizeof totals);
        for (int part = 0; part < 2; part++) check(!grpo_totals_add(&obj, &b, A, &totals), "totals");
        x = found_in(finding, grpo_lint(&obj, &b, A, &totals, NULL, finding, GRPO_LINT_MOST), GRPO_LINT_CUT_GROUP);
        check(x ? x->at.group == cuts[k].cut && x->at.index == cuts[k].cut : cuts[k].cut < 0, "cut %d", (int)k);
    }
}

/* ---- evaluation in parts ------------------------------------------------------------------------------------------------------------- */

typedef struct { grpo_totals totals; grpo_partial partial; grpo_moments moments; } in_parts;

static grpo_batch group_of(const grpo_batch *b, int64_t g) {
    grpo_batch part = *b;
    part.group_begin += g; part.n_groups = 1;
    if (part.baseline) part.baseline += g;
    if (part.log_partition) part.log_partition += g;
    return part;
}

/* adds group g, as a part of its own, to totals, partial and moments */
static grpo_status count_part(const grpo_objective *obj, const grpo_batch *b, const grpo_real *A, int64_t g, in_parts *n) {
    const grpo_batch part = group_of(b, g);
    const grpo_status st = grpo_moments_add(obj, &part, &n->moments);
    return st ? st : grpo_totals_add(obj, &part, A, &n->totals);
}
static grpo_status evaluate_part(const grpo_objective *obj, const grpo_batch *b, const grpo_real *A, int64_t g, in_parts *n) {
    const grpo_batch part = group_of(b, g);
    grpo_output out = output_with_scratch(obj, &part);
    const grpo_status st = gspo_loss_add(obj, &part, A, &n->totals, &out, &n->partial);
    free(out.scratch);
    return st;
}
static grpo_status run_parts(const grpo_objective *obj, const grpo_batch *b, const grpo_real *A, in_parts *n) {
    grpo_status st = 0;
    memset(n, 0, sizeof *n);
    for (int64_t g = 0; g < b->n_groups && !st; g++) st = count_part(obj, b, A, g, n);
    for (int64_t g = 0; g < b->n_groups && !st; g++) st = evaluate_part(obj, b, A, g, n);
    return st;
}
static int lint_parts(const in_parts *n, grpo_finding *finding) {
    return grpo_lint_parts(&n->totals, &n->partial, &n->moments, finding, GRPO_LINT_MOST);
}

/* mistakes in the evaluation of parts, made in the totals, partial and moments of a correct step */
static void forgotten(in_parts *n, const setup *s) {
    grpo_totals totals = n->totals;
    memset(n, 0, sizeof *n);
    n->totals = totals;
    for (int g = 0; g < 2; g++) check(!evaluate_part(&s->obj, &s->b, s->A, g, n) && !grpo_moments_add(&s->obj, &s->b, &n->moments), "two");
}
static void twice(in_parts *n, const setup *s) { check(!evaluate_part(&s->obj, &s->b, s->A, 1, n), "once more"); }
static void totals_kept(in_parts *n, const setup *s) {
    memset(&n->partial, 0, sizeof n->partial);
    for (int g = 0; g < PROMPTS; g++) check(!count_part(&s->obj, &s->b, s->A, g, n), "totals");
    for (int g = 0; g < PROMPTS; g++) check(!evaluate_part(&s->obj, &s->b, s->A, g, n), "partial");
}
static void partial_kept(in_parts *n, const setup *s) {
    for (int g = 0; g < PROMPTS; g++) check(!evaluate_part(&s->obj, &s->b, s->A, g, n), "again");
}
static void all_lead(in_parts *n, const setup *s) { (void)s; n->partial.sequences *= 2; n->partial.groups *= 2; }
static void groups_cut(in_parts *n, const setup *s) { (void)s; n->totals.groups++; n->totals.groups_nonempty++; }
static void moments_lack(in_parts *n, const setup *s) {
    const grpo_batch part = group_of(&s->b, 2);
    memset(&n->moments, 0, sizeof n->moments);
    check(!grpo_moments_add(&s->obj, &part, &n->moments), "moments");
}
static void moments_kept(in_parts *n, const setup *s) { check(!grpo_moments_add(&s->obj, &s->b, &n->moments), "moments"); }

static void ranks_later(in_parts *n, const setup *s) { (void)s; n->totals.ranks = 2; }
/* two partials as MPI_SUM of their 64-bit integers */
static void added_up(in_parts *n, const setup *s) {
    in_parts half[2];
    memset(half, 0, sizeof half);
    for (int k = 0; k < 2; k++) half[k].totals = n->totals;
    for (int g = 0; g < PROMPTS; g++) check(!evaluate_part(&s->obj, &s->b, s->A, g, &half[g % 2]), "a part");
    for (size_t at = 0; at < sizeof n->partial; at += sizeof(int64_t)) {
        uint64_t x[2];                                                 /* doubles' bits may overflow: they wrap around */
        for (int k = 0; k < 2; k++) memcpy(&x[k], (char *)&half[k].partial + at, sizeof x[k]);
        x[0] += x[1];
        memcpy((char *)&n->partial + at, x, sizeof x[0]);
    }
}

static const struct { grpo_lint_rule rule; void (*mistake)(in_parts *n, const setup *s); const char *sentence; } parts[] = {
    { RULE(MISSING_PART), forgotten,
      "likely mistake: partial.tokens is 38, but totals have 56: a part is missing, or totals were not cleared, or also added up over a "
      "context group" },
    { RULE(REPEATED_PART), twice,
      "likely mistake: partial.tokens is 75, but totals have 56: a part is there twice, or not in totals, or partial was not cleared" },
    { RULE(MISSING_PART), totals_kept, "likely mistake: partial.tokens is 56, but totals have 112: ..." },
    { RULE(REPEATED_PART), partial_kept, "likely mistake: partial.tokens is 112, but totals have 56: ..." },
    { RULE(PIECES), all_lead,
      "likely mistake: partial.sequences is 18, but totals have 9 of as many tokens: cut responses are not counted once, by one rank of a "
      "context group, or the totals have other groups" },
    { RULE(PIECES), groups_cut, "likely mistake: partial.groups is 3, but totals have 4 of as many tokens: ..." },
    { RULE(NOT_MERGED), added_up, "likely mistake: partial.scales.factor is 8.98847e+307, but totals.ranks makes it 1: ..." },
    { RULE(NOT_MERGED), ranks_later,
      "likely mistake: partial.scales.factor is 1, but totals.ranks makes it 2: partials are of other totals, or were added up as integers "
      "and not by grpo_partial_merge" },
    { RULE(MISSING_MOMENTS), moments_lack,
      "likely mistake: moments.sequences is 3, but totals have 9: advantages are of moments that lack a part" },
    { RULE(MORE_MOMENTS), moments_kept,
      "note: moments.sequences is 18, and totals have 9: of more than this step, or not cleared since the last batch?" },
};

static void test_parts(void) {
    static setup s;
    static in_parts n;
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    setup_make(&s);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const grpo_finding *x;
        check(!run_parts(&s.obj, &s.b, s.A, &n) && lint_parts(&n, finding) == 0, "parts that are right");
        parts[k].mistake(&n, &s);
        x = found_in(finding, lint_parts(&n, finding), parts[k].rule);
        if (check(x != NULL, "parts %d: nothing is found", (int)k))
            check(is_sentence(grpo_finding_message(x, text, sizeof text), parts[k].sentence), "parts %d: \"%s\"", (int)k, text);
        check(grpo_lint_parts(NULL, &n.partial, &n.moments, finding, 1) == 0, "nothing to compare with");
        check(grpo_lint_parts(&n.totals, NULL, NULL, finding, 1) == 0, "nothing to compare");
        check(grpo_lint_parts(&n.totals, &n.partial, &n.moments, NULL, 0) == lint_parts(&n, finding), "the number without room");
    }
}

/* a buffer too small for all findings gets the worst ones, in the same order */
static void test_room(void) {
    static setup s;
    grpo_finding all[GRPO_LINT_MOST], some[GRPO_LINT_MOST];
    int n;
    setup_make(&s);
    mask_one(&s); impossible(&s); positive(&s); entropy(&s); garbage(&s); nan_old(&s); equal(&s); one(&s);
    n = lint(&s, all);
    check(n >= 6 && all[0].level == GRPO_LINT_ERROR && all[n - 1].level == GRPO_LINT_NOTE, "%d findings", n);
    for (int k = 1; k < n; k++) check(all[k].level <= all[k - 1].level, "the worst first");
    for (int room = 0; room <= n; room++) {
        memset(some, 0x5a, sizeof some);
        check(grpo_lint(&s.obj, &s.b, s.advantage, &s.totals, &s.out, room ? some : NULL, room) == n, "their number");
        for (int k = 0; k < room; k++) check(some[k].rule == all[k].rule && some[k].at.index == all[k].at.index, "%d of %d", k, room);
        for (size_t k = 0; k < sizeof *some; k++) check(((const char *)&some[room])[k] == 0x5a, "written past the room");
    }
}

/* ---- places of statuses -------------------------------------------------------------------------------------------------------------- */

typedef enum { OF_TOKEN, OF_STEP, OF_SEQUENCE, OF_COLUMNS, OF_COLUMN, OF_GROUP, OF_FLAG } element;

/* checks the location of element k of an array; returns whether the element exists */
static int expect_place(const setup *s, element of, int64_t k, grpo_fault *f) {
    int64_t i = of == OF_SEQUENCE ? k : of == OF_COLUMNS ? k / COLUMNS : k / STRIDE;
    f->group = f->response = f->sequence = f->token = f->column = -1;
    if (of == OF_FLAG || k < 0) return 0;
    if (of == OF_COLUMN) { if (k < COLUMNS) f->column = k; return k < COLUMNS; }
    if (of == OF_GROUP) { if (k < PROMPTS) f->group = k; return k < PROMPTS; }
    if (i >= RESPONSES || (of <= OF_STEP && k % STRIDE == 0)) return 0;
    f->group = i / EACH; f->response = i % EACH; f->sequence = i;
    if (of <= OF_STEP) f->token = k - s->offset[i];
    if (of == OF_COLUMNS) f->column = k % COLUMNS;
    return 1;
}

static void test_places_of(const setup *s, int what, const char *name, element of, const grpo_real *array) {
    for (int64_t k = -1; k < 2 * TOKENS; k++) {
        const grpo_fault f = grpo_fault_of(GRPO_STATUS_(GRPO_TOO_LARGE, what) | (k + 1) << 28, &s->obj, &s->b, s->A);
        grpo_fault expected;
        const int there = expect_place(s, of, k, &expected);
        check(!strcmp(f.what, name) && f.index == k, "%s[%d]: %s[%d]", name, (int)k, f.what, (int)f.index);
        check(f.group == expected.group && f.response == expected.response, "%s[%d]: response %d", name, (int)k, (int)f.response);
        check(f.sequence == expected.sequence && f.token == expected.token, "%s[%d]: token %d", name, (int)k, (int)f.token);
        check(f.column == expected.column, "%s[%d]: column %d", name, (int)k, (int)f.column);
        check(f.has_value == (there && array != NULL), "%s[%d]: a value", name, (int)k);
        if (f.has_value) check(f.value == (double)array[k], "%s[%d]: its value", name, (int)k);
    }
}

static void test_places(void) {
    static setup s;
    setup_make(&s);
    s.b.logp_teacher = s.b.value = s.b.step_reward = s.b.sum_pi_squared = s.b.external_weight = s.b.eps_low = s.b.eps_high = s.old;
    s.b.baseline = s.b.log_partition = s.b.reward_weight = s.reward;
#define PLACES_OF(member, of, domain, needs, finite) \
    test_places_of(&s, GRPO_AT_##member##_, "batch." #member, OF_##of, OF_##of == OF_FLAG ? NULL : (const void *)s.b.member);
    GRPO_ARRAYS_(PLACES_OF)
#undef PLACES_OF
    test_places_of(&s, GRPO_AT_advantage_, "advantage", OF_TOKEN, s.A);
    test_places_of(&s, GRPO_AT_shaped_reward_, "shaped reward", OF_SEQUENCE, NULL);
    test_places_of(&s, GRPO_AT_reward_kl_, "KL in the reward", OF_TOKEN, NULL);
    test_places_of(&s, GRPO_AT_group_, "group", OF_GROUP, NULL);
}

/* checks the message of a status with its location in the batch of the call */
static void expect_message(grpo_status st, const setup *s, const char *expected) {
    char text[GRPO_LINT_MESSAGE_SIZE];
    grpo_fault_message(st, &s->obj, &s->b, s->A, text, sizeof text);
    check(!strcmp(text, expected), "\"%s\" instead of \"%s\"", text, expected);
}

/* the same for a status of grpo_logits_loss: for the logits of a batch, and for rows alone */
static void expect_of_logits(const grpo_logits_batch *rows, const setup *s, const char *expected, const char *alone) {
    char text[GRPO_LINT_MESSAGE_SIZE];
    grpo_report report;
    const grpo_status st = grpo_logits_loss(&s->obj, &s->b, s->A, NULL, rows, NULL, &report);
    grpo_logits_fault_message(st, &rows->logits, &s->b, text, sizeof text);
    check(!strcmp(text, expected), "\"%s\" instead of \"%s\"", text, expected);
    grpo_logits_fault_message(st, &rows->logits, NULL, text, sizeof text);
    check(!strcmp(text, alone), "\"%s\" instead of \"%s\"", text, alone);
    for (size_t size = 0; size <= strlen(alone); size++) {
        memset(text, 0x5a, sizeof text);
        grpo_logits_fault_message(st, &rows->logits, NULL, text, size);
        check(size == 0 || !strncmp(text, alone, size - 1), "room for %d", (int)size);
        check(text[size] == 0x5a, "written past %d", (int)size);
    }
}

static void test_messages_of_logits(void) {
    enum { VOCAB = 5, WIDE = 8 };
    static grpo_real logits[TOKENS * WIDE], logp[TOKENS], entropy[TOKENS];
    static grpo_logits_part part[TOKENS];
    static int64_t target[TOKENS];
    static setup s;
    grpo_logits_batch rows;
    char text[GRPO_LINT_MESSAGE_SIZE];
    setup_make(&s);
    memset(&rows, 0, sizeof rows);
    for (int t = 0; t < TOKENS; t++) target[t] = t % VOCAB;
    rows.logits.logits = logits; rows.logits.rows = TOKENS; rows.logits.vocab = VOCAB; rows.logits.stride = WIDE;
    rows.logits.target = target; rows.logits.temperature = 1;
    rows.part = part; rows.logp = logp; rows.entropy = entropy;
    target[35] = 50257;
    expect_of_logits(&rows, &s,
                     "logits.target[35] is out of range: it is 50257, and the vocabulary has 5 entries; group 1, response 1 of it, "
                     "token 2 of it",
                     "logits.target[35] is out of range: it is 50257, and the vocabulary has 5 entries");
    target[35] = 0;
    logits[36 * WIDE + 3] = (grpo_real)NAN;
    expect_of_logits(&rows, &s, "logits.logits[291] is NaN: row 36, vocabulary entry 3; group 1, response 1 of it, token 3 of it",
                     "logits.logits[291] is NaN: row 36, vocabulary entry 3");
    rows.logits.temperature = -0.5;
    expect_of_logits(&rows, &s, "logits.temperature must be positive: it is -0.5", "logits.temperature must be positive: it is -0.5");
    rows.logits.temperature = 1; rows.logits.stride = 4;
    expect_of_logits(&rows, &s, "logits.vocab must not exceed logits.stride: it is 5, the other 4",
                     "logits.vocab must not exceed logits.stride: it is 5, the other 4");
    rows.logits.stride = WIDE;
    s.old[38] = (grpo_real)NAN;
    expect_of_logits(&rows, &s, "batch.logp_old[38] is NaN: group 1, response 1 of it, token 5 of it", "batch.logp_old[38] is NaN");
    s.old[38] = -1;
    rows.logits.rows = TOKENS + 1;
    expect_of_logits(&rows, &s, "logits.rows does not go with batch.n_tokens: it is 73, the other 72",
                     "logits.rows does not go with batch.n_tokens: it is 73");
    check(!strcmp(grpo_logits_fault_message(GRPO_STATUS_(GRPO_NAN, GRPO_AT_logits_logits_) | (grpo_status)284 << 28, NULL, NULL, text,
                                            sizeof text), "logits.logits[283] is NaN"), "\"%s\"", text);
}

static grpo_status loss_of(const setup *s) {
    grpo_report report;
    return gspo_loss(&s->obj, &s->b, s->A, NULL, NULL, &report);
}

static void choose(setup *s, const char *path, const char *choice) { check(!grpo_objective_choose(&s->obj, path, choice), "%s", path); }

static void test_messages_of_fields(setup *s) {
    expect_message(GRPO_OK, s, "all is well");
    expect_message(grpo_objective_set(&s->obj, "surrogate.eps_low", (double)NAN), s, "surrogate.eps_low is NaN");
    s->obj.advantage.clamp_low = 2.5e-7; s->obj.advantage.clamp_high = -1234567.8;
    expect_message(grpo_objective_check(&s->obj), s,
                   "advantage.clamp_low must not exceed advantage.clamp_high: it is 2.5e-7, the other -1.23457e+6");
    setup_make(s);
    choose(s, "surrogate.kind", "variance");
    expect_message(loss_of(s), s, "surrogate.kind does not go with ratio.level: it is variance, the other token");
    setup_make(s);
    choose(s, "surrogate.kind", "dual_clip"); choose(s, "surrogate.bounds", "external");
    s->obj.surrogate.clip_dual = 1.5;
    s->b.eps_low = s->b.eps_high = s->dlogp;
    s->dlogp[s->offset[4] + 1] = (grpo_real)0.75;
    expect_message(loss_of(s), s,
                   "surrogate.clip_dual must exceed 1 + batch.eps_high[34]: they are 1.5 and 0.75; group 1, response 1 of it, "
                   "token 1 of it");
    s->dlogp[s->offset[4] + 1] = -3;
    expect_message(loss_of(s), s, "batch.eps_low[34] must lie in [0, 1]: it is -3; group 1, response 1 of it, token 1 of it");
}

#define SIZE "batch.n_tokens, which is the size of arrays per token"
#define BEGINS "n_groups + 1 elements of int64_t, where each group begins and the last ends"
#define WIDTH "is it an array of 32-bit integers? It is read as int64_t"

/* arrays of 32-bit integers given as arrays of int64_t, which would be read as pairs of their elements */
static void test_32_bits(setup *s) {
    setup_make(s);
    s->offset[2] = s->offset[4] + s->offset[5] * INT64_C(4294967296);
    expect_message(loss_of(s), s, "batch.offset[2] reaches past " SIZE ": it is 176093659169, the other 72; group 0, response 2 of it; "
                   WIDTH);
    s->offset[2] = INT64_C(4294967295);
    expect_message(loss_of(s), s, "batch.offset[2] reaches past " SIZE ": it is 4294967295, the other 72; group 0, response 2 of it");
    setup_make(s);
    s->length[0] = 5 + INT64_C(4294967296);
    expect_message(loss_of(s), s, "batch.length[0] reaches past " SIZE ": it ends at 4294967302, the other 72; group 0, response 0 of it; "
                   WIDTH);
    setup_make(s);
    s->group[2] = 4 + 6 * INT64_C(4294967296);
    expect_message(loss_of(s), s, "batch.group_begin[3] must increase: it is 9, the one before 25769803780; group 2; " BEGINS "; " WIDTH);
    s->group[3] = 7 + 8 * INT64_C(4294967296);
    expect_message(loss_of(s), s, "batch.group_begin[3] is out of range: it is 34359738375, the one before 25769803780; group 2; at most "
                   "2^32, of int64_t; " WIDTH);
}

/* an array that is missing: the setting that reads it */
static void test_missing(setup *s) {
    setup_make(s);
    s->b.logp_ref = NULL;
    expect_message(loss_of(s), s, "batch.logp_ref is NULL but needed: of the frozen reference, for penalty.kl, reward.kl, "
                   "ratio.behaviour ...; penalty.kl=k3 reads it");
    s->b.logp_old = NULL;
    expect_message(loss_of(s), s, "batch.logp_old is NULL but needed: of the policy at the start of the update, for ratios and "
                   "divergences; surrogate.kind=ppo_clip reads it");
    setup_make(s);
    choose(s, "advantage.credit", "gae");
    expect_message(grpo_advantages(&s->obj, &s->b, s->A), s, "batch.value is NULL but needed: for advantage.credit gae and step_gae; "
                   "advantage.credit=gae reads it");
    s->obj.penalty.entropy_coef = 0.5;
    s->b.entropy = NULL;
    expect_message(loss_of(s), s, "batch.entropy is NULL but needed: for penalty.entropy_coef, advantage.entropy or advantage.credit; "
                   "penalty.entropy_coef=0.5 reads it");
    setup_make(s);
    s->b.logp = NULL;
    expect_message(loss_of(s), s, "batch.logp is NULL but needed");
}

/* names of choices: a fault has no value that is not in the objective */
static void test_messages_of_names(setup *s) {
    const grpo_status misspelt = grpo_objective_choose(&s->obj, "penalty.kl", "k4"), unknown = grpo_objective_named("gsop", &s->obj);
    expect_message(misspelt, s, "penalty.kl has no such choice: the nearest is k1, of none|k1|k2|k3|abs|external");
    expect_message(unknown, s, "name is unknown: the nearest is gspo");
    check(grpo_fault_of(misspelt, &s->obj, &s->b, s->A).index < 0 && grpo_fault_of(unknown, &s->obj, &s->b, s->A).index < 0,
          "a name has no element");
    s->obj.penalty.kl = (grpo_kl_kind)77;
    expect_message(grpo_objective_check(&s->obj), s, "penalty.kl has no such choice: it is 77; it has none|k1|k2|k3|abs|external; was the "
                   "objective initialised?");
}

static void test_messages(void) {
    static setup s;
    setup_make(&s);
    test_messages_of_fields(&s);
    setup_make(&s);
    test_messages_of_names(&s);
    setup_make(&s);
    s.group[2] = 3;
    expect_message(loss_of(&s), &s, "batch.group_begin[2] must increase: it is 3, the one before 3; group 1; " BEGINS);
    test_32_bits(&s);
    test_missing(&s);
    setup_make(&s);
    s.offset[5] = -2;
    expect_message(loss_of(&s), &s, "batch.offset[5] must not be negative: it is -2; group 1, response 2 of it");
    setup_make(&s);
    s.logp[s.offset[0]] = (grpo_real)HUGE_VAL;
    expect_message(loss_of(&s), &s, "batch.logp[1] is infinite: it is infinity; group 0, response 0 of it, token 0 of it");
    setup_make(&s);
    choose(&s, "advantage.rewards", "each");
    s.rewards[11] = (grpo_real)NAN;
    expect_message(grpo_advantages(&s.obj, &s.b, s.A), &s, "batch.rewards[11] is NaN: group 1, response 2 of it, reward 1");
    setup_make(&s);
    choose(&s, "advantage.transform", "pass_at_k");
    s.obj.advantage.pass_k = 4;
    expect_message(grpo_advantages(&s.obj, &s.b, s.A), &s, "group[0] has fewer items than advantage.pass_k, which is 4: group 0");
    setup_make(&s);
    s.b.n_groups = -1;
    expect_message(loss_of(&s), &s, "batch.n_groups must not be negative: it is -1");
    s.b.n_groups = 0;
    expect_message(GRPO_STATUS_ARGUMENT_(GRPO_NAN, 3, 5), &s, "argument 3[5] is NaN");
}

/* the format of numbers in sentences, through a field with that value */
/* what printf writes with six digits, without zeros before the exponent; with all digits if it is a whole number below 1e15 */
static const char *number_text(double x) {
    static char text[40];
    size_t n, zeros;
    snprintf(text, sizeof text, x == floor(x) && fabs(x) < 1e15 ? "%.0f" : "%.6g", x);
    n = strcspn(text, "e");
    if (!text[n]) return text;
    zeros = strspn(text + n + 2, "0");
    memmove(text + n + 2, text + n + 2 + zeros, strlen(text + n + 2 + zeros) + 1);
    return text;
}

static void test_numbers(void) {
    static const struct { double x; const char *text; } numbers[] = {
        { 0.1, "0.1" }, { -0.00012345678, "-0.000123457" }, { 0.0000999999996, "0.0001" }, { 99999.95, "100000" }, { 123456.7, "123457" },
        { 999999.7, "1e+6" }, { 1e15, "1e+15" }, { 999999999999999.0, "999999999999999" }, { 1.5, "1.5" }, { 0x1p-1074, "4.94066e-324" },
        { 1.7976931348623157e308, "1.79769e+308" }, { 2.2250738585072014e-308, "2.22507e-308" }, { 1e-5, "1e-5" }, { 3e-4, "0.0003" },
        { 10.000001, "10" }, { 1e300, "1e+300" }, { 20.5, "20.5" }, { -HUGE_VAL, "-infinity" }, { NAN, "NaN" }, { 0, "0" }, { -7, "-7" },
        { 1e-290, "1e-290" }, { 1e290, "1e+290" }, { 2e-291, "2e-291" }, { 3e291, "3e+291" }, { 9.99999749, "10" },
    };
    rng r = { 29 };
    grpo_finding x;
    char text[GRPO_LINT_MESSAGE_SIZE], expected[200];
    memset(&x, 0, sizeof x);
    x.rule = GRPO_LINT_POSITIVE_LOGP; x.level = GRPO_LINT_LIKELY; x.at.what = "it";
    x.at.index = x.at.group = x.at.response = x.at.sequence = x.at.token = x.at.column = -1;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        x.at.value = numbers[k].x;
        snprintf(expected, sizeof expected, "likely mistake: it is %s, but a log-probability is at most 0", numbers[k].text);
        check(!strcmp(grpo_finding_message(&x, text, sizeof text), expected), "%.17g: %s", numbers[k].x, text);
    }
    for (int k = 0; k < 4000; k++) {
        x.at.value = (rng_chance(&r, 50) ? 1 : -1) * (1 + 9 * rng_unit(&r)) * pow(10, k % 4 ? (int)rng_below(&r, 24) - 8 : 300 - k % 600);
        if (rng_chance(&r, 20)) x.at.value = floor(x.at.value);
        snprintf(expected, sizeof expected, "likely mistake: it is %s, but a log-probability is at most 0", number_text(x.at.value));
        check(!strcmp(grpo_finding_message(&x, text, sizeof text), expected), "%.17g: %s", x.at.value, text);
    }
    for (size_t size = 0; size < sizeof expected; size++) {                       /* truncated at the end of the buffer */
        memset(text, 0x5a, sizeof text);
        grpo_finding_message(&x, text, size);
        check(size == 0 || (strlen(text) == (strlen(expected) < size ? strlen(expected) : size - 1)
                            && !strncmp(text, expected, strlen(text))), "room for %d", (int)size);
        check(text[size] == 0x5a, "written past %d", (int)size);
    }
}

/* ---- valid batches ------------------------------------------------------------------------------------------------------------------- */

static int is_all_masked(const grpo_batch *b) {
    for (int64_t i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (!b->mask || b->mask[t]) return 0;
    return 1;
}

static int is_all_alone(const grpo_objective *obj, const grpo_batch *b) {
    for (int64_t g = 0; g < b->n_groups; g++) if (b->group_begin[g + 1] > b->group_begin[g] + 1) return 0;
    return obj->advantage.baseline != GRPO_BASELINE_NONE;
}

/* the number of tokens that the loss counts; -1: the batch is refused */
static int64_t counted_tokens(const grpo_objective *obj, const grpo_batch *b, const grpo_real *advantage) {
    grpo_output out = output_with_scratch(obj, b);
    grpo_report report;
    const grpo_status st = gspo_loss(obj, b, advantage, NULL, &out, &report);
    free(out.scratch);
    return st ? -1 : report.tokens;
}

static int looks_inverted;                 /* batches whose truncated responses are the shorter ones, and look cut by a limit */

/* expects no errors and no likely mistakes, except for a batch without tokens or comparisons, which must be reported, and flags that look
 * inverted, as random ones may; returns the number of likely mistakes */
static int check_quiet(const char *what, const grpo_objective *obj, const grpo_batch *b, const grpo_real *advantage,
                       const grpo_totals *totals) {
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    grpo_output out = output_with_scratch(obj, b);
    const int n = grpo_lint(obj, b, advantage, totals, &out, finding, GRPO_LINT_MOST), none = is_all_masked(b);
    int k, alarms = 0;
    check(n <= GRPO_LINT_MOST && !none == !found_in(finding, n, GRPO_LINT_NO_TOKENS), "%s: tokens", what);
    for (k = 0; k < n; k++) {
        if (finding[k].level == GRPO_LINT_NOTE) continue;
        alarms++;
        if (finding[k].rule == GRPO_LINT_GROUP_OF_ONE && is_all_alone(obj, b)) continue;
        if (finding[k].rule == GRPO_LINT_SHORT_TRUNCATED) { looks_inverted++; continue; }
        if (finding[k].rule == GRPO_LINT_NONE_COUNT && counted_tokens(obj, b, advantage) <= 0) continue;
        check(finding[k].rule == GRPO_LINT_NO_TOKENS, "%s: %s", what, grpo_finding_message(&finding[k], text, sizeof text));
    }
    free(out.scratch);
    return alarms;
}

/* totals, partial and moments added up group by group give no finding either; returns whether the objective could be evaluated */
static int check_quiet_parts(const char *what, const grpo_objective *obj, const grpo_batch *b, const grpo_real *advantage) {
    static in_parts n;
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    int found;
    if (run_parts(obj, b, advantage, &n)) return 0;
    found = lint_parts(&n, finding);
    check(found == 0, "%s, in parts: %s", what, found ? grpo_finding_message(finding, text, sizeof text) : "");
    return 1;
}

typedef struct { int64_t cases, alarms; } quiet_vectors;

static void test_vector(const test_case *c, quiet_vectors *n) {
    grpo_real *own = (grpo_real *)test_alloc(c->batch.n_tokens, sizeof *own);
    grpo_totals totals;
    memset(&totals, 0, sizeof totals);
    n->cases++;
    if (c->given || check(!grpo_advantages(&c->objective, &c->batch, own), "%s", c->id)) {
        const grpo_real *A = c->given ? c->given : own;
        for (int part = 0; part < 2; part++) check(!grpo_totals_add(&c->objective, &c->batch, A, &totals), "%s", c->id);
        n->alarms += check_quiet(c->id, &c->objective, &c->batch, A, &totals);
        check_quiet_parts(c->id, &c->objective, &c->batch, A);
    }
    free(own);
}

static void test_file(void *user, const char *name, const case_file *file) {
    (void)name;
    for (int64_t k = 0; k < file->n_cases; k++) if (case_has_loss(&file->cases[k])) test_vector(&file->cases[k], user);
}

static void test_vectors(const char *folder) {
    quiet_vectors n = { 0, 0 };
    looks_inverted = 0;
    check(!case_each_file(folder, test_file, &n), "%s: not all can be read", folder);
    printf("%d batches of the vectors, %d of them called a likely mistake: no token counts\n", (int)n.cases, (int)n.alarms);
    check(n.cases > 2500, "%d cases", (int)n.cases);
    check(looks_inverted == 0, "in %d batches flags look inverted", looks_inverted);
}

/* subtracts 1 from log-probabilities, of which random_logps gives some above 0, by less than 1 */
static void lower_logps(rollouts *b) {
    for (int k = TOKEN_LOGP; k <= TOKEN_ROLLOUT; k++) for (int64_t t = 0; t < b->n_tokens; t++) b->token[k][t] -= 1;
}

/* random batches with similar policies, packed or padded, in any order, with garbage at masked tokens; whole and in parts */
static void test_random(void) {
    static const char *const row[] = { "grpo", "dapo", "rloo", "gspo", "cispo" };       /* rloo refuses an infinite KL in the reward */
    static const int kinds[] = { 0, RANDOM_NEG_INF, RANDOM_DYADIC, RANDOM_SMALL, RANDOM_LONG, RANDOM_ONE_TOKEN, RANDOM_ALL_MASKED };
    rng r = { 11 };
    for (int k = 0; k < 1000; k++) {
        grpo_objective obj;
        rollouts b;
        grpo_batch view;
        grpo_real *A;
        grpo_totals totals;
        rollouts_random(&r, kinds[k % 7], &b);
        lower_logps(&b);
        view = rollouts_view(&b);
        A = (grpo_real *)test_alloc(b.n_tokens, sizeof *A);
        memset(&totals, 0, sizeof totals);
        check(!grpo_objective_named(row[kinds[k % 7] == RANDOM_NEG_INF ? 0 : k % 5], &obj), "a row");
        check(!grpo_advantages(&obj, &view, A), "advantages");
        check_quiet("random, before there are advantages", &obj, &view, NULL, NULL);
        check(!grpo_totals_add(&obj, &view, A, &totals), "totals");
        check_quiet("random", &obj, &view, A, &totals);
        view.n_groups = (view.n_groups + 1) / 2;
        check_quiet("part of a random one", &obj, &view, A, &totals);
        check(check_quiet_parts("random", &obj, &view, A), "parts");
        rollouts_free(&b);
        free(A);
    }
}

/* a random baseline, scale and normalisation, with nothing else that changes advantages */
static void random_objective_of_rewards(rng *r, grpo_objective *obj) {
    const grpo_baseline_kind baseline = obj->advantage.baseline;
    const grpo_scale_kind scale = obj->advantage.scale;
    const grpo_batch_norm_kind norm = obj->advantage.batch_norm;
    const grpo_aggregation aggregation = obj->aggregation;
    check(!grpo_objective_named("grpo", obj), "grpo");
    obj->advantage.baseline = baseline; obj->advantage.scale = scale; obj->advantage.batch_norm = norm;
    obj->advantage.temperature = 0.7; obj->advantage.hdi_mass = 0.5; obj->advantage.quantile = rng_unit(r);
    obj->advantage.process_noise = 1e-5; obj->advantage.observation_noise = 0.01; obj->advantage.scale_divisor = 2;
    obj->aggregation = aggregation;
    if (grpo_objective_check(obj)) check(!grpo_objective_named("dapo", obj), "dapo");
}

/* The first groups of a batch as a part: advantages of the moments of the whole are not reported as those of the part alone, which are.
 * Returns 1 if the two differ, 2 if that is reported */
static int check_moments(const grpo_objective *obj, const grpo_batch *b, const grpo_real *whole) {
    const grpo_advantage *a = &obj->advantage;
    const int of_factor = a->reweight == GRPO_REWEIGHT_VALID_GROUPS || a->reweight == GRPO_REWEIGHT_NONZERO_REWARDS
        || a->reweight == GRPO_REWEIGHT_LENGTH_POWER;
    grpo_finding finding;
    grpo_real *own = (grpo_real *)test_alloc(b->n_tokens, sizeof *own), *alone = (grpo_real *)test_alloc(b->n_tokens, sizeof *alone);
    grpo_batch part = *b;
    grpo_totals totals;
    int differ = 0, any = 0, found = 0;
    part.n_groups = (b->n_groups + 1) / 2;
    memset(&totals, 0, sizeof totals);
    if (!grpo_totals_add(obj, b, whole, &totals) && !grpo_advantages(obj, &part, own)) {
        for (int64_t i = part.group_begin[0]; i < part.group_begin[part.n_groups]; i++)
            for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) { differ |= own[t] != whole[t]; any |= own[t] != 0; }
        if (differ) check(!grpo_lint_own_moments(obj, &part, whole, &totals, alone, &finding), "advantages of the moments of all parts");
        found = grpo_lint_own_moments(obj, &part, own, &totals, alone, &finding);
        check(!found || (finding.rule == GRPO_LINT_OWN_MOMENTS && grpo_context_needs_moments(obj)), "advantages that need no moments");
        if (differ && any && !of_factor) check(found, "advantages of the moments of one part");
    }
    free(own);
    free(alone);
    return differ ? 1 + found : 0;
}

/* random objectives: their own advantages are never reported as opposite to the rewards, and parts give the counts of the whole */
static void test_random_objectives(void) {
    rng r = { 17 };
    int evaluated = 0, moments[3] = { 0 };
    for (int k = 0; k < 4000; k++) {
        grpo_objective obj;
        rollouts b;
        grpo_batch view;
        grpo_real *A;
        random_objective(&r, &obj);
        if (k % 2) random_objective_of_rewards(&r, &obj);
        rollouts_random(&r, k % 3 ? 0 : RANDOM_DYADIC, &b);
        lower_logps(&b);
        view = rollouts_view(&b);
        A = (grpo_real *)test_alloc(b.n_tokens, sizeof *A);
        if (!grpo_advantages(&obj, &view, A) && check_quiet_parts("random objective", &obj, &view, A)) {
            evaluated++;
            check_quiet("random objective", &obj, &view, A, NULL);
            moments[check_moments(&obj, &view, A)]++;
        }
        rollouts_free(&b);
        free(A);
    }
    check(evaluated > 2000, "%d were evaluated", evaluated);
    check(looks_inverted <= evaluated / 1000, "in %d of %d batches random flags look inverted", looks_inverted, evaluated);
    check(moments[2] > 300 && moments[2] > moments[1], "of %d parts whose own advantages differ, %d are found", moments[1] + moments[2],
          moments[2]);
}

int main(int argc, char **argv) {
    if (argc != 2) return fputs("usage: extra_lint VECTORS\n", stderr), 2;
    test_rules();
    test_equal_groups();
    test_equal_rewards_by_credit();
    test_rewards_alone();
    test_fixed_length();
    test_many_responses();
    test_parts();
    test_room();
    test_places();
    test_messages();
    test_messages_of_logits();
    test_numbers();
    test_random();
    test_random_objectives();
    test_vectors(argv[1]);
    return check_summary();
}
