/* Logits and the functions of extra/, outside their domains: numbers, whole numbers and choices just past what is allowed, elements of
 * arrays, arguments that do not go together.  The status names argument and rule, and nothing is written.  Whatever is missing, not
 * finite or negative by itself is in the table of calls_arguments.c; errors.c does the same for the objective. */
#include "../../extra/grpo_control.h"
#include "../../extra/grpo_credit.h"
#include "../../extra/grpo_critic.h"
#include "../../extra/grpo_distill.h"
#include "../../extra/grpo_flow.h"
#include "../../extra/grpo_logits.h"
#include "../../extra/grpo_rewards.h"
#include "../../extra/grpo_selection.h"
#include "../../extra/grpo_weights.h"
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/small_batch.h"
#include "../support/status.h"

typedef struct {
    rollouts b;
    grpo_batch batch;
    grpo_real advantage[TOKENS];
} setup;

static void setup_make(setup *s) {
    int64_t t;
    memset(s, 0, sizeof *s);
    fill_batch(&s->b);
    s->batch = rollouts_view(&s->b);
    for (t = 0; t < TOKENS; t++) s->advantage[t] = 1;
}

static void setup_free(setup *s) { rollouts_free(&s->b); }

static int seen[GRPO_N_RULES];

static void check_status(const char *call_name, const char *what, grpo_status found, int rule, const char *thing) {
    check(says(call_name, found, rule, thing), "%s, %s: \"%s\" instead of %s: %s", call_name, what, status_line(found), thing,
          grpo_status_text(rule));
    seen[rule]++;
}

/* ---- logits --------------------------------------------------------------------------------------------------------------------- */

/* a batch of one token; tests/logits/logits_loss.c has the rest */
static void check_batch_logits(const grpo_real *z) {
    static const int64_t group[2] = { 0, 1 }, offset = 0, length = 1, past = 2, there = 1;
    const grpo_real nan[2] = { 0, (grpo_real)NAN };
    grpo_real numbers[7] = { 0, -1, 1, 5, 5, 5, 5 };
    grpo_logits_part part;
    grpo_objective obj;
    grpo_batch batch;
    grpo_output out;
    grpo_report report;
    grpo_logits_batch rows;
    memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out); memset(&rows, 0, sizeof rows);
    grpo_objective_named("grpo", &obj);
    batch.n_groups = batch.n_tokens = 1; batch.group_begin = group; batch.offset = &offset; batch.length = &length;
    batch.logp_old = batch.logp_ref = &numbers[1];
    rows.logits.logits = z; rows.logits.rows = 1; rows.logits.vocab = rows.logits.stride = 2; rows.logits.target = &past;
    rows.logits.temperature = 1; rows.part = &part; rows.logp = &numbers[3]; rows.entropy = &numbers[4];
    check_status("grpo_logits_loss", "a target past the end", grpo_logits_loss(&obj, &batch, &numbers[2], NULL, &rows, &out, &report),
                 GRPO_OUT_OF_RANGE, "logits.target[0]");
    rows.logits.target = &there;
    check_status("grpo_logits_loss_add", "no partial", grpo_logits_loss_add(&obj, &batch, &numbers[2], NULL, &rows, &out, NULL), GRPO_NULL,
                 "partial");
#define LOSS(what, rule, thing) \
    check_status("grpo_logits_loss", what, grpo_logits_loss(&obj, &batch, &numbers[2], NULL, &rows, &out, &report), rule, thing)
    rows.logits.logits = nan;
    LOSS("NaN", GRPO_NAN, "logits.logits[1]");
    rows.logits.logits = z; rows.dlogits = &numbers[5]; out.dlogp = &numbers[5];
    LOSS("no derivative by the entropy", GRPO_NULL, "out.dentropy");
    rows.dlogits = NULL; rows.entropy = NULL;
    LOSS("no entropy", GRPO_NULL, "rows.entropy");
    rows.entropy = &numbers[4]; rows.logp = NULL;
    LOSS("no logp", GRPO_NULL, "rows.logp");
#undef LOSS
    check(numbers[3] == 5 && numbers[4] == 5 && numbers[5] == 5, "grpo_logits_loss: refused logits have been written");
}

/* both passes over some rows of two: whatever is wrong with the rows, and where they begin and end */
static void check_ranges(const grpo_real *z) {
    static const int64_t target[2] = { 0, 0 };
    grpo_real numbers[4] = { 5, 5, 5, 5 }, slope[2] = { 5, 5 };
    grpo_logits_part part[2];
    grpo_logits_batch rows;
    memset(&rows, 0, sizeof rows); memset(part, 0, sizeof part);
    rows.logits.logits = z; rows.logits.rows = 2; rows.logits.vocab = rows.logits.stride = 1; rows.logits.target = target;
    rows.logits.temperature = 1; rows.part = part; rows.logp = &numbers[0]; rows.entropy = &numbers[2]; rows.dlogits = slope;
#define RANGE(what, first, count, rule, thing) \
    check_status("grpo_logits_batch_read", what, grpo_logits_batch_read(&rows, NULL, first, count), rule, thing); \
    check_status("grpo_logits_batch_gradient", what, grpo_logits_batch_gradient(&rows, NULL, NULL, NULL, first, count), rule, thing)
    RANGE("no row behind the last", 2, 0, GRPO_OK, "");
    RANGE("behind the last", 3, 0, GRPO_PAST_END, "first, logits.rows");
    RANGE("one too many", 1, 2, GRPO_PAST_END, "count, logits.rows");
    RANGE("before the first", -1, 1, GRPO_NEGATIVE, "first");
    RANGE("fewer than none", 1, -1, GRPO_NEGATIVE, "count");
    rows.logits.stride = 0;
    RANGE("rows that overlap", 0, 2, GRPO_CROSSED, "logits.vocab, logits.stride");
    rows.logits.stride = INT64_MAX / 8;
    RANGE("more than memory has", 0, 2, GRPO_OUT_OF_RANGE, "logits.rows");
    rows.logits.stride = 1; rows.logits.type = (grpo_logits_type)-1;
    RANGE("type -1", 0, 2, GRPO_NOT_A_CHOICE, "logits.type");
    rows.logits.type = GRPO_LOGITS_REAL; rows.part = NULL;
    RANGE("no scratch", 0, 2, GRPO_NULL, "rows.part");
    rows.part = part; rows.dlogits = NULL;
    check_status("grpo_logits_batch_gradient", "nowhere to", grpo_logits_batch_gradient(&rows, NULL, NULL, NULL, 0, 2), GRPO_NULL,
                 "rows.dlogits");
#undef RANGE
    check(numbers[0] == 5 && numbers[3] == 5 && slope[0] == 5 && slope[1] == 5, "the two passes: something was written");
}

static void check_logits(void) {
    grpo_real z[2] = { 1, 2 };
    const int64_t target = 1;
    grpo_logits x = { GRPO_LOGITS_REAL, NULL, 1, 2, 2, NULL, NULL, 1, 0 };
    grpo_logits_part part, other;
    memset(&part, 0xa5, sizeof part);
    other = part;
    x.logits = z;
    check_status("grpo_logits_row_read", "no target", grpo_logits_row_read(&x, 0, &part), GRPO_NULL, "logits.target");
    x.target = &target;
    check_status("grpo_logits_row_read", "a row that is not there", grpo_logits_row_read(&x, 1, &part), GRPO_OUT_OF_RANGE, "row");
    x.temperature = 0;
    check_status("grpo_logits_row_read", "temperature 0", grpo_logits_row_read(&x, 0, &part), GRPO_NOT_POSITIVE, "logits.temperature");
    x.temperature = 1;
    z[0] = (grpo_real)NAN;
    check_status("grpo_logits_row_read", "NaN", grpo_logits_row_read(&x, 0, &part), GRPO_NAN, "logits.logits[0]");
    z[0] = (grpo_real)HUGE_VAL;
    check_status("grpo_logits_row_read", "infinity", grpo_logits_row_read(&x, 0, &part), GRPO_INFINITE, "logits.logits[0]");
    check(!memcmp(&part, &other, sizeof part), "grpo_logits_row_read: a refused row has been written");
    z[0] = 1;
    check_status("grpo_logits_row_read", "a row", grpo_logits_row_read(&x, 0, &part), GRPO_OK, "");
    other = part;
    check_status("grpo_logits_part_merge", "two targets", grpo_logits_part_merge(&other, &part, 1), GRPO_COMBINATION, "from, into");
    check_batch_logits(z);
    check_ranges(z);
}

/* ---- functions of extra/ --------------------------------------------------------------------------------------------------------- */

/* the outputs, and their bytes before the call */
static struct {
    double x[TOKENS], y[TOKENS];
    grpo_real a[TOKENS], b[TOKENS], c[TOKENS];
    int64_t index[TOKENS];
    uint8_t flag[TOKENS];
} room, blank;

static void refused(const char *name, const char *what, grpo_status found, int rule, const char *thing) {
    check_status(name, what, found, rule, thing);
    check(!memcmp(&room, &blank, sizeof room), "%s, %s: something was written", name, what);
    memcpy(&room, &blank, sizeof room);
}

static void refused_for(const char *name, grpo_status found, int rule, const char *thing) { refused(name, thing, found, rule, thing); }

static void accepted(const char *name, grpo_status found) {
    check(found == GRPO_OK, "%s: %s", name, grpo_status_text(found));
    memcpy(&room, &blank, sizeof room);
}

static const double fine[8] = { 0.5, 0.25, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5 }, zeros[8], wild[8] = { 0.5, NAN, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
static const double below[8] = { -0.5, -0.25, -1, -2, -1, -1, -1, -1 }, beyond[8] = { 0.5, 1.5, 0.5, 0.5 };
static const double below_wild[4] = { -0.5, NAN, -1, -2 };
static const double ones[4] = { 1, 1, 1, 1 }, last_nan[4] = { 1, 1, 1, NAN }, last_large[4] = { 1, 1, 1, 1e151 };
static const double last_below[4] = { 1, 1, 1, -1 };
static const uint8_t flags[8] = { 1, 0, 1, 0 };
static const int64_t ids[TOKENS] = { 1, 2, 1, 2 };

static void check_lists_of_numbers(void) {
    static const double wins[4] = { NAN, 1, 0, NAN }, no_wins[4] = { 0, 0.25, 0.75, 0 }, both[4] = { 0, 1, 1, 0 };
    const double *const x = fine;
    const int64_t minus[2] = { 3, -1 };
    int64_t scratch[4];
    double *const out = room.x;
    accepted("hint_reward", grpo_hint_reward(x, x, 4, 1, GRPO_HINT_VARIANCE, 0, out));
    refused("hint_reward", "no rollout", grpo_hint_reward(x, x, 0, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_NOT_POSITIVE, "n");
    refused("hint_reward", "n -1", grpo_hint_reward(x, x, -1, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_NOT_POSITIVE, "n");
    refused("hint_reward", "gap NaN", grpo_hint_reward(x, wild, 4, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_NAN, "gap[1]");
    refused("hint_reward", "temperature 0", grpo_hint_reward(x, x, 4, 0, GRPO_HINT_VARIANCE, 0, out),
            GRPO_TOO_SMALL, "temperature");
    refused("hint_reward", "form 2", grpo_hint_reward(x, x, 4, 1, (grpo_hint_form)2, 0, out), GRPO_NOT_A_CHOICE, "form");
    accepted("meta_reward", grpo_meta_reward(flags, ids, 4, NULL, 0, 8, 1, out));
    refused("meta_reward", "m -1", grpo_meta_reward(flags, ids, 4, ids, -1, 8, 1, out), GRPO_NEGATIVE, "m");
    refused("meta_reward", "n 0", grpo_meta_reward(flags, ids, 0, ids, 1, 8, 1, out), GRPO_NOT_POSITIVE, "n");
    refused("meta_reward", "passes 9", grpo_meta_reward(flags, ids, 4, ids, 1, 9, 1, out), GRPO_OUT_OF_RANGE, "passes");
    refused("meta_reward", "passes -2", grpo_meta_reward(flags, ids, 4, ids, 1, -2, 1, out), GRPO_OUT_OF_RANGE, "passes");
    refused("meta_reward", "length -2", grpo_meta_reward(flags, ids, 4, ids, 1, 8, -2, out), GRPO_TOO_SMALL, "predicted_length");
    refused("meta_reward", "a length of -1", grpo_meta_reward(flags, minus, 2, ids, 1, 8, 1, out), GRPO_NEGATIVE, "length[1]");
    accepted("win_rate_reward", grpo_win_rate_reward(wins, 2, out));
    refused("win_rate_reward", "a quarter", grpo_win_rate_reward(no_wins, 2, out), GRPO_NOT_A_CHOICE, "wins[1]");
    refused("win_rate_reward", "two winners", grpo_win_rate_reward(both, 2, out), GRPO_NOT_MIRRORED, "wins[1]");
    accepted("entropy_rank_reward", grpo_entropy_rank_reward(x, x, 4, 1, scratch, out));
    refused("entropy_rank_reward", "NaN", grpo_entropy_rank_reward(x, wild, 4, 1, scratch, out), GRPO_NAN, "overall[1]");
    accepted("interval_reward", grpo_interval_reward(below, x, 4, 1, 0, out));
    refused("interval_reward", "one", grpo_interval_reward(below, x, 1, 1, 0, out), GRPO_TOO_SMALL, "n");
    refused("interval_reward", "empty", grpo_interval_reward(x, x, 4, 1, 0, out), GRPO_NOT_BELOW, "begin[0], end");
    refused("interval_reward", "gamma -1", grpo_interval_reward(below, x, 4, -1, 0, out), GRPO_NEGATIVE, "gamma");
    refused("interval_reward", "NaN", grpo_interval_reward(below, wild, 4, 1, 0, out), GRPO_NAN, "end[1]");
    accepted("dense_rewards", grpo_dense_rewards(x, 4, 1, 1, out));
    refused("dense_rewards", "negative", grpo_dense_rewards(below, 4, 1, 1, out), GRPO_NEGATIVE, "reward[0]");
    refused("dense_rewards", "NaN", grpo_dense_rewards(wild, 4, 1, 1, out), GRPO_NAN, "reward[1]");
    accepted("information_gain_reward", grpo_information_gain_reward(below, 4, GRPO_INFORMATION_LOG, out));
    refused("information_gain_reward", "above 0", grpo_information_gain_reward(x, 4, GRPO_INFORMATION_LOG, out), GRPO_POSITIVE, "logp[0]");
    refused("information_gain_reward", "NaN", grpo_information_gain_reward(below_wild, 4, GRPO_INFORMATION_LOG, out), GRPO_NAN, "logp[1]");
    refused("information_gain_reward", "form 2", grpo_information_gain_reward(below, 4, (grpo_information_form)2, out), GRPO_NOT_A_CHOICE,
        "form");
    refused("information_gain_reward", "none", grpo_information_gain_reward(below, 0, GRPO_INFORMATION_LOG, out), GRPO_NOT_POSITIVE, "n");
    accepted("consistency_weights", grpo_consistency_weights(x, 4, 20, 1.5, out, room.y));
    refused("consistency_weights", "NaN", grpo_consistency_weights(wild, 4, 20, 1.5, out, room.y), GRPO_NAN, "entropy[1]");
}

/* counts whose product is beyond int64_t, or beyond an array: refused before anything is read */
static void check_sizes(setup *s) {
    const int64_t many = INT64_C(1) << 32, most = INT64_C(1) << 62;
    const grpo_centroids c = { most, 1, 0.8, 1.2 }, many_by_tokens = { INT64_MAX / 64 / TOKENS + 1, 1, 0.8, 1.2 };
    grpo_batch none;
    double *const out = room.x;
    grpo_dd scratch[8];
    refused("diversity_reward", "too many", grpo_diversity_reward(wild, fine, most, 1e-6, out), GRPO_OUT_OF_RANGE, "n");
    refused("gated_reward_sum", "too many", grpo_gated_reward_sum(NULL, many, many, wild, ids, out), GRPO_OUT_OF_RANGE, "columns");
    refused("win_rate_reward", "too many", grpo_win_rate_reward(NULL, many, out), GRPO_OUT_OF_RANGE, "n");
    refused("permutation_reward", "too many", grpo_permutation_reward(NULL, many, many, GRPO_PERMUTATION_VOTES, out),
            GRPO_OUT_OF_RANGE, "n");
    refused("centroid_weight", "too wide", grpo_centroid_weight(&s->batch, s->advantage, s->advantage, &c, scratch, room.a),
            GRPO_OUT_OF_RANGE, "how.width");
    refused("centroid_weight", "too wide together", grpo_centroid_weight(&s->batch, s->advantage, s->advantage, &many_by_tokens, scratch,
            room.a), GRPO_OUT_OF_RANGE, "how.width");
    memset(&none, 0, sizeof none);
    refused("centroid_weight", "too wide of nothing", grpo_centroid_weight(&none, s->advantage, s->advantage, &c, scratch, room.a),
            GRPO_OUT_OF_RANGE, "how.width");
    refused("allocate_rollouts", "-1 for nobody", grpo_allocate_rollouts(NULL, 0, 1, 4, -1, room.index), GRPO_TOO_SMALL, "total");
    accepted("virtual_reward_advantage", grpo_virtual_reward_advantage(&s->batch, 1, INT64_C(1) << 40, 0, room.a));
    refused("virtual_reward_advantage", "more than doubles count", grpo_virtual_reward_advantage(&s->batch, 1, (INT64_C(1) << 40) + 1, 0,
            room.a), GRPO_OUT_OF_RANGE, "count");
    refused("entropy_rank_reward", "nobody, top NaN", grpo_entropy_rank_reward(NULL, NULL, 0, NAN, NULL, out), GRPO_NAN, "top");
    accepted("entropy_rank_reward", grpo_entropy_rank_reward(NULL, NULL, 0, 1, NULL, out));
}

static void check_choices(setup *s) {
    const int64_t twice[TOKENS] = { 0 };
    refused("select_between", "an entry twice", grpo_select_between(&s->batch, s->advantage, 0, 1, NULL, twice, 4, room.flag),
            GRPO_NOT_PERMUTATION, "order");
    refused("select_between", "bounds that cross", grpo_select_between(&s->batch, s->advantage, 1, 0, NULL, twice, 4, room.flag),
            GRPO_CROSSED, "low, high");
    refused("reward_range_filter", "bounds that cross", grpo_reward_range_filter(&s->batch, 1, 0, room.flag), GRPO_CROSSED, "low, high");
    refused("balanced_subset", "bounds that cross", grpo_balanced_subset(fine, 4, 2, 1, 0, room.index), GRPO_CROSSED, "low, high");
    refused("resample", "no weights", grpo_resample(NULL, 0, fine, 4, room.index), GRPO_NULL, "weight");
    refused("resample", "no draws", grpo_resample(fine, 4, NULL, 0, room.index), GRPO_NULL, "uniform");
    refused("balanced_subset", "none between", grpo_balanced_subset(fine, 4, 2, 3, 4, room.index), GRPO_NONE_LEFT, "low");
}

static void check_advantages_of_lists(void) {
    static const int64_t tree[4] = { -1, 0, 0, 1 }, two_roots[4] = { -1, 0, -1, 1 };
    static const int64_t later[4] = { -1, 2, 0, 1 }, rootless[4] = { 0, 0, 0, 1 };
    static const double inner[4] = { NAN, NAN, 0.5, 0.5 };
    const double *const x = fine;
    double *const out = room.x;
    grpo_coplayer c = { 0.96, 0.96, 2, 0, 0, 0, 0, 1 };
    grpo_branch nodes[4];
    grpo_dd scratch[4];
    accepted("future_success_advantage", grpo_future_success_advantage(x, 4, out));
    refused("future_success_advantage", "NaN", grpo_future_success_advantage(wild, 4, out), GRPO_NAN, "reward[1]");
    accepted("alignment_advantage", grpo_alignment_advantage(x, x, 4, &c, out));
    refused("alignment_advantage", "NaN", grpo_alignment_advantage(x, wild, 4, &c, out), GRPO_NAN, "other[1]");
    c.clip = -1;
    refused("alignment_advantage", "clip -1", grpo_alignment_advantage(x, x, 4, &c, out), GRPO_NEGATIVE, "how.clip");
    c.clip = 0; c.weight_gamma = 1.5;
    refused("alignment_advantage", "gamma 1.5", grpo_alignment_advantage(x, x, 4, &c, out), GRPO_NOT_UNIT, "how.weight_gamma");
    accepted("projected_advantage", grpo_projected_advantage(x, 4, x, 1, 1, 0, scratch, out));
    refused("projected_advantage", "basis NaN", grpo_projected_advantage(x, 4, wild, 1, 1, 0, scratch, out), GRPO_NAN, "basis[1]");
    refused("projected_advantage", "NaN", grpo_projected_advantage(wild, 4, x, 1, 1, 0, scratch, out), GRPO_NAN, "advantage[1]");
    refused("projected_advantage", "more than memory has", grpo_projected_advantage(x, 4, x, INT64_MAX / 2, 1, 0, scratch, out),
            GRPO_OUT_OF_RANGE, "k");
    refused("projected_advantage", "k -1", grpo_projected_advantage(x, 4, x, -1, 1, 0, scratch, out), GRPO_NEGATIVE, "k");
    accepted("dynamic_scale", grpo_dynamic_scale(x, x, 4, 1, out));
    refused("dynamic_scale", "bound -1", grpo_dynamic_scale(x, x, 4, -1, out), GRPO_NONE_LEFT, "bound");
    refused("dynamic_scale", "NaN", grpo_dynamic_scale(wild, x, 4, 1, out), GRPO_NAN, "hardness[1]");
    accepted("branch_advantage", grpo_branch_advantage(tree, inner, NULL, 4, GRPO_BRANCH_LEAVES, 1, nodes, out));
    accepted("branch_advantage", grpo_branch_advantage(tree, inner, x, 4, GRPO_BRANCH_PROBABILITY, 1, nodes, out));
    refused("branch_advantage", "two roots", grpo_branch_advantage(two_roots, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_OUT_OF_RANGE, "parent[2]");
    refused("branch_advantage", "a later parent", grpo_branch_advantage(later, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_OUT_OF_RANGE, "parent[1]");
    refused("branch_advantage", "no root", grpo_branch_advantage(rootless, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_OUT_OF_RANGE, "parent[0]");
    refused("branch_advantage", "a leaf NaN", grpo_branch_advantage(tree, inner, x, 2, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_NAN, "reward[1]");
    refused("branch_advantage", "logp NaN", grpo_branch_advantage(tree, x, wild, 4, GRPO_BRANCH_PROBABILITY, 1, nodes, out),
            GRPO_NAN, "logp[1]");
    refused("branch_advantage", "form 2", grpo_branch_advantage(tree, x, x, 4, (grpo_branch_form)2, 1, nodes, out),
            GRPO_NOT_A_CHOICE, "form");
    refused("branch_advantage", "no scratch", grpo_branch_advantage(tree, x, x, 4, GRPO_BRANCH_LEAVES, 1, NULL, out),
            GRPO_NULL, "scratch");
}

static void check_sets(void) {
    static const int64_t member[4] = { 0, 1, 0, 2 }, before[4] = { 0, 1, -1, 2 }, begin[3] = { 0, 2, 4 }, early[3] = { -1, 2, 4 };
    accepted("set_advantage", grpo_set_advantage(fine, ids, 4, member, begin, 2, room.x));
    refused("set_advantage", "NaN", grpo_set_advantage(wild, ids, 4, member, begin, 2, room.x), GRPO_NAN, "reward[1]");
    refused("set_advantage", "set_begin -1", grpo_set_advantage(fine, ids, 4, member + 1, early, 2, room.x), GRPO_NEGATIVE, "set_begin[0]");
    refused("set_advantage", "a member -1", grpo_set_advantage(fine, ids, 4, before, begin, 2, room.x), GRPO_OUT_OF_RANGE, "member[2]");
}

static void check_teachers_and_samplers(void) {
    static const double banned[3] = { -INFINITY, -INFINITY, -INFINITY }, up[3] = { 0, INFINITY, 0 };
    static const double gram[4] = { 1, 0.5, 0.5, 1 }, lopsided[4] = { 1, 0.5, 0.25, 1 }, negative[4] = { -1, 0, 0, 1 };
    const int64_t minus[2] = { 3, -1 };
    const double *const x = fine;
    double *const out = room.x, *const more = room.y;
    accepted("generalised_jsd", grpo_generalised_jsd(x, x, 4, 1, 0.5, out, NULL));
    refused("generalised_jsd", "all banned", grpo_generalised_jsd(banned, x, 3, 1, 0.5, out, more), GRPO_NONE_LEFT, "student");
    refused("generalised_jsd", "+infinity", grpo_generalised_jsd(x, up, 3, 1, 0.5, out, more), GRPO_INFINITE, "teacher[1]");
    refused("generalised_jsd", "NaN", grpo_generalised_jsd(x, wild, 3, 1, 0.5, out, more), GRPO_NAN, "teacher[1]");
    refused("generalised_jsd", "beta 1.5", grpo_generalised_jsd(x, x, 3, 1, 1.5, out, more), GRPO_NOT_UNIT, "beta");
    refused("generalised_jsd", "temperature 0", grpo_generalised_jsd(x, x, 3, 0, 0.5, out, more), GRPO_TOO_SMALL, "temperature");
    refused("generalised_jsd", "no token", grpo_generalised_jsd(x, x, 0, 1, 0.5, out, more), GRPO_NOT_POSITIVE, "n");
    accepted("top_k_gap", grpo_top_k_gap(below, below, 4, 3, out));
    refused("top_k_gap", "target 4", grpo_top_k_gap(below, below, 4, 4, out), GRPO_OUT_OF_RANGE, "target");
    refused("top_k_gap", "target -1", grpo_top_k_gap(below, below, 4, -1, out), GRPO_OUT_OF_RANGE, "target");
    refused("top_k_gap", "banned", grpo_top_k_gap(below, banned, 3, 0, out), GRPO_INFINITE, "teacher[0]");
    accepted("cluster_probability", grpo_cluster_probability(x, x, below + 2, 1, 0.3, out, more));
    refused("cluster_probability", "rate", grpo_cluster_probability(beyond, x, x, 4, 0.3, out, more), GRPO_NOT_UNIT, "rate[1]");
    refused("cluster_probability", "success -1/2", grpo_cluster_probability(x, x, below, 4, 0.3, out, more), GRPO_NOT_UNIT, "success[0]");
    refused("cluster_probability", "alpha 2", grpo_cluster_probability(x, x, x, 4, 2, out, more), GRPO_NOT_UNIT, "alpha");
    refused("cluster_probability", "all 0", grpo_cluster_probability(x, zeros, x, 4, 0.3, out, more), GRPO_ZERO_SUM, "probability");
    refused("cluster_probability", "negative", grpo_cluster_probability(x, below, x, 4, 0.3, out, more), GRPO_NEGATIVE, "probability[0]");
    accepted("explore_weight", grpo_explore_weight(x, 4, 0.05, out));
    refused("explore_weight", "value", grpo_explore_weight(beyond, 4, 0.05, out), GRPO_NOT_UNIT, "value[1]");
    refused("explore_weight", "least -1", grpo_explore_weight(x, 4, -1, out), GRPO_NEGATIVE, "least");
    accepted("hint_level", grpo_hint_level(ids, x, 4, 0.1, 0.35, 3, room.index));
    refused("hint_level", "level -1", grpo_hint_level(minus, x, 2, 0.1, 0.35, 3, room.index), GRPO_NEGATIVE, "level[1]");
    refused("hint_level", "low > high", grpo_hint_level(ids, x, 4, 0.5, 0.35, 3, room.index), GRPO_CROSSED, "low, high");
    refused("hint_level", "max -1", grpo_hint_level(ids, x, 4, 0.1, 0.35, -1, room.index), GRPO_NEGATIVE, "max");
    refused("hint_level", "success", grpo_hint_level(ids, beyond, 4, 0.1, 0.35, 3, room.index), GRPO_NOT_UNIT, "success[1]");
    accepted("gram_rank", grpo_gram_rank(gram, x, 2, 1, 1, 64, room.index, out));
    refused("gram_rank", "lopsided", grpo_gram_rank(lopsided, x, 2, 1, 1, 64, room.index, out), GRPO_NOT_MIRRORED, "gram[2]");
    refused("gram_rank", "a norm below 0", grpo_gram_rank(negative, x, 2, 1, 1, 64, room.index, out), GRPO_NEGATIVE, "gram[0]");
    refused("gram_rank", "share 0", grpo_gram_rank(gram, x, 2, 0, 1, 64, room.index, out), GRPO_NOT_POSITIVE, "share");
    refused("gram_rank", "least 0", grpo_gram_rank(gram, x, 2, 1, 0, 64, room.index, out), GRPO_NOT_POSITIVE, "least");
    refused("gram_rank", "least > most", grpo_gram_rank(gram, x, 2, 1, 3, 2, room.index, out), GRPO_CROSSED, "least, most");
    refused("gram_rank", "more than memory has", grpo_gram_rank(gram, x, INT64_C(1) << 32, 1, 1, 1, room.index, out),
            GRPO_OUT_OF_RANGE, "n");
    refused("gram_rank", "NaN", grpo_gram_rank(gram, wild, 2, 1, 1, 64, room.index, out), GRPO_NAN, "advantage[1]");
}

static void check_rewards_of_batches(setup *s) {
    const grpo_batch *b = &s->batch;
    grpo_real *const out = room.a;
    accepted("invariance_weight", grpo_invariance_weight(b, ids, flags, out));
    accepted("efficiency_reward", grpo_efficiency_reward(b, flags, 0.2, 0.6, out, room.flag));
    refused("efficiency_reward", "share 2", grpo_efficiency_reward(b, flags, 2, 0.6, out, room.flag), GRPO_NOT_UNIT, "share");
    refused("efficiency_reward", "alpha -1", grpo_efficiency_reward(b, flags, 0.2, -1, out, room.flag), GRPO_NEGATIVE, "alpha");
    accepted("consistency_bonus", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, out));
    refused("consistency_bonus", "accuracy NaN", grpo_consistency_bonus(b, wild, 0.5, 0.95, 0.01, out), GRPO_NAN, "accuracy[1]");
    refused("consistency_bonus", "cap 0", grpo_consistency_bonus(b, fine, 0.5, 0, 0.01, out), GRPO_NOT_POSITIVE, "cap");
    accepted("hardness_advantage", grpo_hardness_advantage(b, -0.256, 1.256, out));
    accepted("token_advantage", grpo_token_advantage(b, 1e-6, 5, 1, out));
    refused("token_advantage", "eps -1", grpo_token_advantage(b, -1, 5, 1, out), GRPO_NEGATIVE, "eps");
    refused("token_advantage", "limit 0", grpo_token_advantage(b, 0, 0, 1, out), GRPO_NOT_POSITIVE, "limit");
    accepted("centred_weights", grpo_centred_weights(b, 1, out, room.b));
    accepted("ratio_quantile", grpo_ratio_quantile(b, 0.9, 1e-4, room.x));
    refused("ratio_quantile", "quantile 2", grpo_ratio_quantile(b, 2, 1e-4, room.x), GRPO_NOT_UNIT, "quantile");
    accepted("logit_shift", grpo_logit_shift(b, flags, 0.1, room.x));
}

static void check_numbers_of_structs(setup *s) {
    static const double halves[4] = { 0.5, 0.5, 0.5, 0.5 };
    const grpo_feature f = { halves, halves, halves, flags, 1, -1 };
    const grpo_risk r = { 1, 0.5, 0.2, 0.8, 1.5, 1e-6 }, no_divisor = { 0, 1, 0, 0.8, 1.5, 0 };
    grpo_dd scratch[GROUPS];
    refused("feature_advantage", "k -1", grpo_feature_advantage(&s->batch, &f, room.a), GRPO_NEGATIVE, "feature.k");
    refused("bundle_advantage", "high < low", grpo_bundle_advantage(&s->batch, ids, &r, scratch, room.a), GRPO_TOO_SMALL, "risk.high");
    refused("bundle_advantage", "a + eps 0", grpo_bundle_advantage(&s->batch, ids, &no_divisor, scratch, room.a), GRPO_NOT_POSITIVE,
            "risk.eps");
}

static void check_multiplier(void) {
    const double score[] = { 1, NAN };
    const uint8_t counted[] = { 1, 0 }, all[] = { 1, 1 };
    grpo_constraint x = { 0.95, 0.05, 5, 1 };
    double multiplier = 1, mean = 2;
    refused("multiplier_update", "NaN", grpo_multiplier_update(score, all, 2, &x, &multiplier, &mean), GRPO_NAN, "score[1]");
    x.rate = -1;
    refused("multiplier_update", "rate -1", grpo_multiplier_update(score, counted, 2, &x, &multiplier, &mean), GRPO_NEGATIVE,
            "constraint.rate");
    x.rate = 0; x.least = -1;
    refused("multiplier_update", "least -1", grpo_multiplier_update(score, counted, 2, &x, &multiplier, &mean), GRPO_NEGATIVE,
            "constraint.least");
    x.least = 1; multiplier = -1;
    refused("multiplier_update", "below 0", grpo_multiplier_update(score, counted, 2, &x, &multiplier, &mean), GRPO_NEGATIVE, "multiplier");
    check(multiplier == -1 && mean == 2, "multiplier_update has written");
    multiplier = 6; x.least = 2;
    accepted("multiplier_update", grpo_multiplier_update(score, counted, 2, &x, &multiplier, &mean));
    check(multiplier == 6 && mean == 1, "multiplier_update of too few");
}

static void check_tokens_of_batches(setup *s) {
    static grpo_real feature[2 * TOKENS];
    static grpo_dd scratch[2 * TOKENS + 4];
    const grpo_batch *b = &s->batch;
    const grpo_adaptation a = { 0.2, 0.2, 1, 1 };
    grpo_centroids c = { 2, 1, 0.8, 1.2 };
    grpo_real list[TOKENS] = { 0 }, *const out = room.a;
    list[MASKED] = feature[2 * MASKED] = (grpo_real)NAN;
    accepted("implicit_advantage", grpo_implicit_advantage(b, list, 5, 5, out));
    accepted("adaptive_clip", grpo_adaptive_clip(b, s->advantage, list, &a, out, room.b, room.c));
    accepted("centroid_weight", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out));
    c.refine = -1;
    refused("centroid_weight", "refine -1", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_NEGATIVE, "how.refine");
    c.refine = 1; c.width = 0;
    refused("centroid_weight", "width 0", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_NOT_POSITIVE, "how.width");
    accepted("odds_advantage", grpo_odds_advantage(b, list, list, fine, 0, out));
    refused("odds_advantage", "prior NaN", grpo_odds_advantage(b, list, list, wild, 0, out), GRPO_NAN, "prior[1]");
    refused("odds_advantage", "a bound below 0", grpo_odds_advantage(b, list, list, fine, -1, out), GRPO_NEGATIVE, "evidence_max");
    list[0] = feature[1] = (grpo_real)NAN;
    c.width = 2;
    refused("odds_advantage", "NaN", grpo_odds_advantage(b, list, s->advantage, fine, 0, out), GRPO_NAN, "informed[0]");
    refused("odds_advantage", "NaN", grpo_odds_advantage(b, s->advantage, list, fine, 0, out), GRPO_NAN, "plain[0]");
    refused("adaptive_clip", "NaN", grpo_adaptive_clip(b, s->advantage, list, &a, out, room.b, room.c), GRPO_NAN, "standard[0]");
    refused("implicit_advantage", "NaN", grpo_implicit_advantage(b, list, 5, 5, out), GRPO_NAN, "process[0]");
    refused("centroid_weight", "NaN", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_NAN, "feature[1]");
}

/* tokens outside the answer are not read */
static void check_tokens_of_answers(setup *s) {
    grpo_batch *b = &s->batch;
    s->b.selected[0] = s->b.shaping_mask[0] = 0;
    s->b.token[TOKEN_REF][0] = s->b.token[TOKEN_LOGP][0] = (grpo_real)NAN;
    accepted("consistency_bonus", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a));
    accepted("ratio_quantile", grpo_ratio_quantile(b, 0.9, 1e-4, room.x));
    refused("logit_shift", "NaN", grpo_logit_shift(b, flags, 0.1, room.x), GRPO_NAN, "batch.logp[0]");
    s->b.token[TOKEN_LOGP][0] = -1;
    refused("logit_shift", "NaN", grpo_logit_shift(b, flags, 0.1, room.x), GRPO_NAN, "batch.logp_ref[0]");
    s->b.token[TOKEN_LOGP][0] = (grpo_real)NAN;
    s->b.selected[0] = s->b.shaping_mask[0] = 1;
    refused("consistency_bonus", "NaN", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a), GRPO_NAN, "batch.logp_ref[0]");
    refused("ratio_quantile", "NaN", grpo_ratio_quantile(b, 0.9, 1e-4, room.x), GRPO_NAN, "batch.logp[0]");
    s->b.reward[1] = (grpo_real)NAN;
    refused("hardness_advantage", "NaN", grpo_hardness_advantage(b, 1, 1, room.a), GRPO_NAN, "batch.reward[1]");
    refused("token_advantage", "NaN", grpo_token_advantage(b, 1e-6, 5, 1, room.a), GRPO_NAN, "batch.reward[1]");
    refused("invariance_weight", "NaN", grpo_invariance_weight(b, ids, flags, room.a), GRPO_NAN, "batch.reward[1]");
    refused("centred_weights", "NaN", grpo_centred_weights(b, 1, room.a, room.b), GRPO_NAN, "batch.reward[1]");
    b->selected = b->shaping_mask = NULL;
    refused("consistency_bonus", "no answer", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a), GRPO_NULL, "batch.selected");
    refused("ratio_quantile", "none selected", grpo_ratio_quantile(b, 0.9, 1e-4, room.x), GRPO_NULL, "batch.shaping_mask");
}

static void check_weights(setup *s) {
    const grpo_batch *b = &s->batch;
    const grpo_prefix_gate good = { 3, 0.8, 0.15, 0.02, 0.9, 1 };
    grpo_prefix_gate gate = good;
    grpo_real *x = room.a;
    double *y = room.x;
    refused_for("confidence_factor", grpo_confidence_factor(b, flags, -1, y), GRPO_NEGATIVE, "delta");
    refused_for("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1.5, 1, 1, 1, x), GRPO_NOT_UNIT, "share");
    refused_for("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1, 1, 1, 1e151, x), GRPO_TOO_LARGE, "target");
    gate.width = 2;
    refused_for("prefix_trust_region", grpo_prefix_trust_region(b, s->advantage, &gate, y, room.flag), GRPO_TOO_SMALL, "gate.width");
    gate = good; gate.delta = 0;
    refused_for("prefix_trust_region", grpo_prefix_trust_region(b, s->advantage, &gate, y, room.flag), GRPO_NOT_POSITIVE, "gate.delta");
    gate = good; gate.budget = -1;
    refused_for("prefix_trust_region", grpo_prefix_trust_region(b, s->advantage, &gate, y, room.flag), GRPO_NEGATIVE, "gate.budget");
    gate = good; gate.least = -0.1;
    refused_for("prefix_trust_region", grpo_prefix_trust_region(b, s->advantage, &gate, y, room.flag), GRPO_NOT_UNIT, "gate.least");
    gate = good; gate.quantile = 1.1;
    refused_for("prefix_trust_region", grpo_prefix_trust_region(b, s->advantage, &gate, y, room.flag), GRPO_NOT_UNIT, "gate.quantile");
    refused_for("difficulty_weight", grpo_difficulty_weight(b, last_nan, 1, y), GRPO_NAN, "accuracy[3]");
    refused_for("difficulty_weight", grpo_difficulty_weight(b, ones, 0, y), GRPO_TOO_SMALL, "temperature");
    refused_for("entropy_factor", grpo_entropy_factor(last_below, 4, 1, 2, y), GRPO_NEGATIVE, "entropy[3]");
    refused_for("entropy_factor", grpo_entropy_factor(ones, 4, -1, 2, y), GRPO_NEGATIVE, "alpha");
    refused_for("entropy_factor", grpo_entropy_factor(ones, 4, 1, 1, y), GRPO_TOO_SMALL, "size");
    refused_for("entropy_factor", grpo_entropy_factor(ones, -1, 1, 2, y), GRPO_NEGATIVE, "n");
}

static void check_rewards_of_lists(setup *s) {
    static const int64_t answers[4] = { 0, 1, 2, -1 }, far[4] = { 0, 2, 0, 0 }, low[4] = { -1, -2, 0, 0 };
    const grpo_batch *b = &s->batch;
    grpo_real *x = room.a;
    double *y = room.x;
    const grpo_permutation_form none = (grpo_permutation_form)2;
    refused_for("permutation_reward", grpo_permutation_reward(answers, 4, 1, GRPO_PERMUTATION_JUDGE, y),
                GRPO_OUT_OF_RANGE, "permutations");
    refused_for("permutation_reward", grpo_permutation_reward(answers, -1, 1, GRPO_PERMUTATION_VOTES, y), GRPO_NEGATIVE, "permutations");
    refused_for("permutation_reward", grpo_permutation_reward(answers, 2, 2, none, y), GRPO_NOT_A_CHOICE, "form");
    refused_for("frequency_reward", grpo_frequency_reward(b, answers, 0, x), GRPO_NOT_POSITIVE, "size");
    refused_for("repetition_penalty", grpo_repetition_penalty(b, answers, 0, -1, x), GRPO_NOT_POSITIVE, "size");
    refused_for("correct_length_reward", grpo_correct_length_reward(b, flags, 1, -1, 1, x), GRPO_NEGATIVE, "eps");
    refused_for("pairwise_rewards", grpo_pairwise_rewards(b, far, flags, x, room.flag), GRPO_OUT_OF_RANGE, "outcome[1]");
    refused_for("pairwise_rewards", grpo_pairwise_rewards(b, low, flags, x, room.flag), GRPO_OUT_OF_RANGE, "outcome[1]");
    refused_for("min_max_reward", grpo_min_max_reward(last_large, 4, y), GRPO_TOO_LARGE, "distance[3]");
    check(grpo_annealed_split(0, 2, 1).own < 0 && grpo_annealed_split(1, 1, 1).own < 0 && grpo_annealed_split(1, 2, 0).own < 0,
          "annealed_split refuses");
    check(grpo_annealed_split(3, 5, 3).other == 2 && grpo_annealed_split(3, 5, 3).own == 1, "annealed_split");
}

static void check_distances(void) {
    static const int64_t id[4] = { 1, 2, 3, 4 };
    int64_t scratch[10];
    double *y = room.x;
    const grpo_distance_form none = (grpo_distance_form)3;
    refused_for("sequence_distance", grpo_sequence_distance(id, 4, id, 4, none, scratch, y), GRPO_NOT_A_CHOICE, "form");
    refused_for("sequence_distance", grpo_sequence_distance(id, 0, id, 4, GRPO_DISTANCE_EDIT, scratch, y), GRPO_NOT_POSITIVE, "n_a");
    refused_for("sequence_distance", grpo_sequence_distance(id, 4, id, -1, GRPO_DISTANCE_SUFFIX, scratch, y), GRPO_NOT_POSITIVE, "n_b");
    refused_for("sequence_distance", grpo_sequence_distance(NULL, 4, id, 4, GRPO_DISTANCE_SUFFIX, NULL, y), GRPO_NULL, "a");
    refused_for("sequence_distance", grpo_sequence_distance(id, 4, id, 4, GRPO_DISTANCE_ROUGE_L, NULL, y), GRPO_NULL, "scratch");
}

static void check_roles_and_routes(setup *s) {
    static const int64_t role[4] = { 1, 2, 1, 1 };
    static const uint8_t some[SEQUENCES] = { 1 };
    const grpo_batch *b = &s->batch;
    const double *x = ones;
    double *y = room.x;
    grpo_real *w = room.a, weight[TOKENS];
    const grpo_role_form none = (grpo_role_form)3;
    refused_for("role_advantage", grpo_role_advantage(x, role, 4, none, y), GRPO_NOT_A_CHOICE, "form");
    refused_for("role_advantage", grpo_role_advantage(last_nan, role, 4, GRPO_ROLE_MEAN, y), GRPO_NAN, "reward[3]");
    refused_for("role_advantage", grpo_role_advantage(last_large, role, 4, GRPO_ROLE_CLIPPED, y), GRPO_TOO_LARGE, "reward[3]");
    refused_for("role_advantage", grpo_role_advantage(x, role, -1, GRPO_ROLE_MEAN, y), GRPO_NEGATIVE, "n");
    refused_for("routed_weight", grpo_routed_weight(b, some, -1, w), GRPO_NEGATIVE, "beta");
    s->b.token[TOKEN_ENTROPY][FIRST_UNMASKED] = (grpo_real)NAN;
    refused_for("routed_weight", grpo_routed_weight(b, some, 1, w), GRPO_NAN, "batch.entropy[0]");
    s->b.token[TOKEN_ENTROPY][FIRST_UNMASKED] = 1;
    s->b.token[TOKEN_ENTROPY][LAST_UNMASKED] = (grpo_real)NAN;
    check(grpo_routed_weight(b, some, 1, weight) == GRPO_OK, "routed_weight: what is not routed is read");
    s->b.token[TOKEN_ENTROPY][LAST_UNMASKED] = 1;
}

static void check_trees(void) {
    static const int64_t tree[4] = { -1, 0, 0, 2 }, later[4] = { -1, 0, 3, 0 }, low[4] = { -1, 0, -2, 0 };
    static grpo_tree_state state[4];
    const grpo_tree_advantage_form none = (grpo_tree_advantage_form)3;
    double *y = room.x;
    refused_for("tree_advantage", grpo_tree_advantage(later, ones, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_OUT_OF_RANGE, "parent[2]");
    refused_for("tree_advantage", grpo_tree_advantage(low, ones, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_OUT_OF_RANGE, "parent[2]");
    refused_for("tree_advantage", grpo_tree_advantage(tree, ones, last_nan, 4, 1, GRPO_TREE_TD, state, y), GRPO_NAN, "value[3]");
    refused_for("tree_advantage", grpo_tree_advantage(tree, last_nan, NULL, 4, 1, GRPO_TREE_PARENT, state, y), GRPO_NAN, "reward[3]");
    refused_for("tree_advantage", grpo_tree_advantage(tree, ones, ones, 4, 1, none, state, y), GRPO_NOT_A_CHOICE, "form");
}

static void check_advantages(setup *s) {
    static grpo_dd scratch[SEQUENCES];
    const grpo_batch *b = &s->batch;
    grpo_anchors a = { 0.2, 0.8, 1.25, 2, GRPO_ANCHORS_PAPER };
    grpo_real *x = room.a;
    double *y = room.x;
    refused_for("collapsed_advantage", grpo_collapsed_advantage(b, -1, x), GRPO_NEGATIVE, "eps");
    refused_for("variant_advantage", grpo_variant_advantage(last_nan, ones, ones, 4, 1, y), GRPO_NAN, "advantage[3]");
    refused_for("variant_advantage", grpo_variant_advantage(ones, last_nan, ones, 4, 1, y), GRPO_NAN, "difficulty[3]");
    refused_for("step_weight_advantage", grpo_step_weight_advantage(ones, last_below, 4, y), GRPO_NOT_UNIT, "weight[3]");
    refused_for("two_anchor_advantage", grpo_two_anchor_advantage(b, last_below, &a, x), GRPO_TOO_SMALL, "constraints[3]");
    a.form = (grpo_anchors_form)2;
    refused_for("two_anchor_advantage", grpo_two_anchor_advantage(b, ones, &a, x), GRPO_NOT_A_CHOICE, "anchors.form");
    refused_for("calibration_advantage", grpo_calibration_advantage(b, flags, 0, scratch, x), GRPO_TOO_SMALL, "temperature");
    refused_for("multi_scale_advantage", grpo_multi_scale_advantage(ones, 1, 1, y), GRPO_TOO_SMALL, "n");
    refused_for("multi_scale_advantage", grpo_multi_scale_advantage(ones, 21, 1, y), GRPO_OUT_OF_RANGE, "n");
    refused_for("multi_scale_advantage", grpo_multi_scale_advantage(ones, 4, 0, y), GRPO_NOT_POSITIVE, "eps");
    refused_for("multi_scale_advantage", grpo_multi_scale_advantage(last_nan, 4, 1, y), GRPO_NAN, "reward[3]");
    refused_for("hard_negative_advantage", grpo_hard_negative_advantage(b, last_large, x, room.index), GRPO_TOO_LARGE, "utility[3]");
    refused_for("position_advantage", grpo_position_advantage(ones, ones, 1, y), GRPO_TOO_SMALL, "n");
    refused_for("position_advantage", grpo_position_advantage(last_nan, ones, 4, y), GRPO_NAN, "logp_old[3]");
    refused_for("position_advantage", grpo_position_advantage(ones, last_nan, 4, y), GRPO_NAN, "reward[3]");
}

/* elements of arrays of the batch that are invalid */
static void check_elements_of_batches(setup *s) {
    grpo_real *x = room.a;
    s->b.token[TOKEN_LOGP][LAST_UNMASKED] = (grpo_real)-INFINITY;
    refused_for("covariance_weight", grpo_covariance_weight(&s->batch, s->advantage, x), GRPO_INFINITE, "batch.logp[7]");
    s->b.length[0] = -1;
    refused_for("frequency_reward", grpo_frequency_reward(&s->batch, s->b.state, 1, x), GRPO_NEGATIVE, "batch.length[0]");
}

static void check_functions(void) {
    static setup s;
    static const int64_t lone[] = { 0, 1, 4 };
    grpo_real list[TOKENS] = { 0 };
    setup_make(&s);
    memset(&blank, 0x5a, sizeof blank);
    memcpy(&room, &blank, sizeof room);
    check_sizes(&s);
    check_lists_of_numbers();
    check_advantages_of_lists();
    check_sets();
    check_choices(&s);
    check_teachers_and_samplers();
    check_rewards_of_batches(&s);
    check_tokens_of_batches(&s);
    check_numbers_of_structs(&s);
    check_multiplier();
    check_tokens_of_answers(&s);
    setup_free(&s);
    setup_make(&s);
    check_weights(&s);
    check_rewards_of_lists(&s);
    check_distances();
    check_roles_and_routes(&s);
    check_trees();
    check_advantages(&s);
    check_elements_of_batches(&s);
    setup_free(&s);
    setup_make(&s);
    s.batch.group_begin = lone;
    refused("implicit_advantage", "a group of one", grpo_implicit_advantage(&s.batch, list, 5, 5, room.a), GRPO_LONE_RESPONSE, "group[0]");
    setup_free(&s);
}

/* ---- distillation: two rows of four logits, of which two are in the set ------------------------------------------------------------ */

static struct { grpo_distill_part part[2]; grpo_real divergence[2]; } distilled;
static grpo_distill right_distill;

static grpo_status distill_with(const grpo_distill *x, const grpo_real *teacher, const int64_t *set) {
    return grpo_distill_divergence(x, teacher, set, NULL, distilled.part, distilled.divergence);
}

static void distill_refused(const char *what, grpo_status st, int rule, const char *thing) {
    static unsigned char before[sizeof distilled];
    memset(before, 0x5a, sizeof before);
    check_status("distill_divergence", what, st, rule, thing);
    check(!memcmp(&distilled, before, sizeof before), "distill_divergence, %s: something was written", what);
    memset(&distilled, 0x5a, sizeof distilled);
}

static void check_distilled_numbers(grpo_real *z, const int64_t *set) {
    static const int64_t twice[4] = { 1, 2, 3, 3 }, disordered[4] = { 2, 1, 0, 3 }, past[4] = { 0, 1, 2, 4 }, far[4] = { 0, 1, 2, 9 },
        before[4] = { -1, 1, 2, 3 };
    const grpo_real none = -(grpo_real)INFINITY, half[4] = { -1, -1, -1, -1 };
    const grpo_real nans[4] = { -1, -1, -1, (grpo_real)NAN }, infinite[4] = { -1, (grpo_real)INFINITY, -1, -1 };
    const grpo_real nothing[4] = { -1, -1, none, none };
    grpo_distill x = right_distill;
    distill_refused("ids twice", distill_with(&x, half, twice), GRPO_NOT_INCREASING, "ids[3]");
    distill_refused("ids out of order", distill_with(&x, half, disordered), GRPO_NOT_INCREASING, "ids[1]");
    distill_refused("an id past the end", distill_with(&x, half, past), GRPO_OUT_OF_RANGE, "ids[3]");
    distill_refused("an id far past the end", distill_with(&x, half, far), GRPO_OUT_OF_RANGE, "ids[3]");
    distill_refused("a negative id", distill_with(&x, half, before), GRPO_OUT_OF_RANGE, "ids[0]");
    distill_refused("a teacher's NaN", distill_with(&x, nans, set), GRPO_NAN, "teacher[3]");
    distill_refused("a teacher's infinity", distill_with(&x, infinite, set), GRPO_INFINITE, "teacher[1]");
    x.tail = GRPO_TAIL_RENORMALISED;
    distill_refused("a teacher without probability", distill_with(&x, nothing, set), GRPO_NONE_LEFT, "teacher[2]");
    z[1] = z[2] = none;
    distill_refused("a student without probability on the ids", distill_with(&x, half, set), GRPO_NONE_LEFT, "logits.logits[0]");
    z[0] = z[3] = none;
    distill_refused("a student without probability", distill_with(&right_distill, half, set), GRPO_NONE_LEFT, "logits.logits[0]");
    z[0] = 0; z[6] = (grpo_real)NAN;
    distill_refused("a student's NaN", distill_with(&right_distill, half, set), GRPO_NAN, "logits.logits[6]");
}

/* the gradient reads rows that the divergence has checked: it checks their shape alone */
static void check_distilled_slopes(const grpo_real *teacher, const int64_t *set) {
    const grpo_real weight[2] = { 1, 1 };
    grpo_real slope[8] = { 9, 9, 9, 9, 9, 9, 9, 9 };
    grpo_distill x = right_distill;
    grpo_distill_part part[2];
    check(grpo_distill_divergence(&x, teacher, set, NULL, part, distilled.divergence) == GRPO_OK, "distill_divergence: nothing is wrong");
    memset(&distilled, 0x5a, sizeof distilled);
#define SLOPES(what, member, value, rule, thing) \
    x = right_distill; x.student.member = value; \
    check_status("distill_gradient", what, grpo_distill_gradient(&x, teacher, set, NULL, part, weight, 0, slope), rule, thing)
    SLOPES("no logits", logits, NULL, GRPO_NULL, "logits.logits");
    SLOPES("type -1", type, (grpo_logits_type)-1, GRPO_NOT_A_CHOICE, "logits.type");
    SLOPES("rows -1", rows, -1, GRPO_NEGATIVE, "logits.rows");
    SLOPES("temperature 0", temperature, 0, GRPO_NOT_POSITIVE, "logits.temperature");
#undef SLOPES
    for (int k = 0; k < 8; k++) check(slope[k] == 9, "distill_gradient: something was written");
}

static void check_distill(void) {
    static const int64_t set[4] = { 1, 2, 0, 3 };
    static const grpo_real half[4] = { -1, -1, -1, -1 };
    grpo_real z[8] = { 0, 1, 2, 3, 0, 1, 2, 3 };
    grpo_distill x;
    memset(&right_distill, 0, sizeof right_distill);
    right_distill.student.logits = z; right_distill.student.rows = 2; right_distill.student.vocab = right_distill.student.stride = 4;
    right_distill.student.temperature = right_distill.teacher_temperature = 1;
    right_distill.teacher_stride = right_distill.k = 2;
    check(distill_with(&right_distill, half, set) == GRPO_OK, "distill_divergence: nothing is wrong");
    memset(&distilled, 0x5a, sizeof distilled);
#define DISTILL(what, member, value, rule, thing) \
    x = right_distill; x.member = value; distill_refused(what, distill_with(&x, half, set), rule, thing)
    DISTILL("teacher_type -1", teacher_type, (grpo_logits_type)-1, GRPO_NOT_A_CHOICE, "x.teacher_type");
    DISTILL("kind -1", kind, (grpo_distill_kind)-1, GRPO_NOT_A_CHOICE, "x.kind");
    DISTILL("tail -1", tail, (grpo_tail_kind)-1, GRPO_NOT_A_CHOICE, "x.tail");
    DISTILL("teacher_type 3", teacher_type, (grpo_logits_type)3, GRPO_NOT_A_CHOICE, "x.teacher_type");
    DISTILL("rows that overlap", teacher_stride, 1, GRPO_TOO_SMALL, "x.teacher_stride");
    DISTILL("more than memory has", teacher_stride, INT64_MAX / 8, GRPO_OUT_OF_RANGE, "x.teacher_stride");
    DISTILL("k 0", k, 0, GRPO_NOT_POSITIVE, "x.k");
    DISTILL("the teacher's temperature 0", teacher_temperature, 0, GRPO_NOT_POSITIVE, "x.teacher_temperature");
    DISTILL("log-probabilities at another temperature", teacher_temperature, 2, GRPO_COMBINATION, "x.teacher_temperature, ids");
    DISTILL("kind 3", kind, (grpo_distill_kind)3, GRPO_NOT_A_CHOICE, "x.kind");
    DISTILL("beta 1.5", beta, 1.5, GRPO_NOT_UNIT, "x.beta");
    DISTILL("tail 3", tail, (grpo_tail_kind)3, GRPO_NOT_A_CHOICE, "x.tail");
    DISTILL("clip -1", clip, -1, GRPO_NEGATIVE, "x.clip");
    DISTILL("logp_min 1", logp_min, 1, GRPO_POSITIVE, "x.logp_min");
    DISTILL("divergence_max NaN", divergence_max, NAN, GRPO_NAN, "x.divergence_max");
    DISTILL("temperature 0", student.temperature, 0, GRPO_NOT_POSITIVE, "logits.temperature");
#undef DISTILL
    x = right_distill; x.tail = GRPO_TAIL_BUCKET; x.logp_min = -10;
    distill_refused("a floor of a bucket", distill_with(&x, half, set), GRPO_COMBINATION, "x.logp_min, ids");
    x.logp_min = 0; x.teacher_stride = 4;
    distill_refused("a tail of the whole vocabulary", distill_with(&x, z, NULL), GRPO_COMBINATION, "x.tail, ids");
    check_distilled_slopes(half, set);
    check_distilled_numbers(z, set);
}

static void check_likeliest(void) {
    static const grpo_real z[4] = { 0, 1, 2, 3 }, nan[4] = { 0, 1, 2, (grpo_real)NAN };
    static const int64_t set[2] = { 0, 4 };
    static const uint8_t none[2] = { 0, 0 };
    int64_t top[4] = { 9, 9, 9, 9 };
    grpo_real logp[2] = { 9, 9 };
    grpo_logits x = right_distill.student;
    x.logits = z; x.rows = 1;
    check_status("distill_top", "more than there are", grpo_distill_top(&x, NULL, 5, top), GRPO_CROSSED, "k, logits.vocab");
    check_status("distill_top", "k 0", grpo_distill_top(&x, NULL, 0, top), GRPO_NOT_POSITIVE, "k");
    check_status("distill_at", "an id past the end", grpo_distill_at(&x, NULL, set, 2, logp), GRPO_OUT_OF_RANGE, "ids[1]");
    check_status("distill_at", "k 0", grpo_distill_at(&x, NULL, set, 0, logp), GRPO_NOT_POSITIVE, "k");
    check_status("distill_sort", "k 0", grpo_distill_sort(1, 0, top, logp), GRPO_NOT_POSITIVE, "k");
    check_status("distill_sort", "more than memory has", grpo_distill_sort(INT64_MAX / 8, 2, top, logp), GRPO_OUT_OF_RANGE, "rows");
    x.logits = nan;
    check_status("distill_top", "NaN", grpo_distill_top(&x, NULL, 2, top), GRPO_NAN, "logits.logits[3]");
    check_status("distill_at", "NaN", grpo_distill_at(&x, NULL, set, 1, logp), GRPO_NAN, "logits.logits[3]");
    x.logits = z;
    x.rows = 2;
    check_status("distill_at", "more than memory has", grpo_distill_at(&x, none, set, INT64_MAX / 8, logp), GRPO_OUT_OF_RANGE, "k");
    check(top[0] == 9 && logp[0] == 9 && logp[1] == 9, "the likeliest tokens: something was written");
}

/* ---- steps of a sampler: two, of two elements and of one --------------------------------------------------------------------------- */

static grpo_real stepped[5][2];

static void flow_refused(const char *function, const char *what, grpo_status st, int rule, const char *thing) {
    static unsigned char before[sizeof stepped];
    memset(before, 0x5a, sizeof before);
    check_status(function, what, st, rule, thing);
    check(!memcmp(stepped, before, sizeof before), "%s, %s: something was written", function, what);
    memset(stepped, 0x5a, sizeof stepped);
}

static void check_schedule(void) {
    static const struct { grpo_flow_kind kind; double level, next, most, least, eta; int rule; const char *thing; } wrong[] = {
        { (grpo_flow_kind)5, 0.5, 0.4, 0.9, 0.1, 1, GRPO_NOT_A_CHOICE, "kind" },
        { GRPO_FLOW_SDE, 1.5, 0.4, 0.9, 0.1, 1, GRPO_NOT_UNIT, "level" },
        { GRPO_FLOW_SDE, 0.5, -0.1, 0.9, 0.1, 1, GRPO_NOT_UNIT, "next_level" },
        { GRPO_FLOW_SDE, 0.5, 0.5, 0.9, 0.1, 1, GRPO_NOT_BELOW, "next_level, level" },
        { GRPO_FLOW_SDE, 0.5, 0.4, 1, 0.1, 1, GRPO_NOT_BELOW_ONE, "sigma_max" },
        { GRPO_FLOW_SDE, 0.5, 0.4, 0, 0.1, 1, GRPO_NOT_POSITIVE, "sigma_max" },
        { GRPO_FLOW_SDE, 0.5, 0.4, 0.9, -0.1, 1, GRPO_NEGATIVE, "sigma_min" },
        { GRPO_FLOW_SDE, 0.5, 0.4, 0.9, 0.95, 1, GRPO_CROSSED, "sigma_min, sigma_max" },
        { GRPO_FLOW_SDE, 0.5, 0.4, 0.9, 0.1, 0, GRPO_NOT_POSITIVE, "eta" },
        { GRPO_FLOW_CPS, 0.5, 0.4, 0.9, 0.1, 1.5, GRPO_NOT_UNIT, "eta" },
        { GRPO_FLOW_SDE, 1, 0.5, 1 - 1e-15, 0.1, 1e150, GRPO_OUT_OF_RANGE, "eta" },
        { GRPO_FLOW_CPS, 0.5, 0, 0.9, 0.1, 1, GRPO_OUT_OF_RANGE, "next_level" },
        { GRPO_FLOW_SAGE_SDE, 1, 0.9999, 0.9, 0.1, 1, GRPO_OUT_OF_RANGE, "next_level" },
    };
    grpo_flow_step x;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_status("flow_schedule", "wrong", grpo_flow_schedule(wrong[k].kind, wrong[k].level, wrong[k].next, wrong[k].most,
                     wrong[k].least, wrong[k].eta, &x), wrong[k].rule, wrong[k].thing);
}

static void check_steps(void) {
    static const int64_t begin[3] = { 0, 2, 3 }, same[3] = { 0, 2, 2 }, negative[3] = { -1, 1, 2 };
    const grpo_real x[3] = { 1, 2, 3 }, nan[3] = { 1, 2, (grpo_real)NAN }, infinite[3] = { 1, (grpo_real)INFINITY, 3 };
    static const double std[2] = { 1, 0.5 }, none[2] = { 1, 0 };
    const grpo_gaussian_numbers all = { stepped[0], stepped[1], stepped[2], stepped[3], stepped[4] };
    const grpo_gaussian_gradients by_old = { NULL, x, NULL, NULL, NULL }, by_ref = { NULL, NULL, NULL, NULL, x };
    static const int64_t three[4] = { 0, 1, 2, 3 };
    static const double thrice[3] = { 1, 0.5, 2 };
    const grpo_gaussian_gradients by_nan = { nan, NULL, NULL, NULL, NULL }, by_infinite = { NULL, NULL, NULL, NULL, infinite };
    memset(stepped, 0x5a, sizeof stepped);
#define STEPS(what, begin, y, mu, old, ref, s, c, rule, thing) \
    flow_refused("gaussian_steps", what, grpo_gaussian_steps(2, begin, y, mu, old, ref, s, c, &all), rule, thing)
    STEPS("a step without elements", same, x, x, x, x, std, NULL, GRPO_NOT_INCREASING, "begin[2]");
    STEPS("before the first element", negative, x, x, x, x, std, NULL, GRPO_NEGATIVE, "begin[0]");
    STEPS("a sample's NaN", begin, nan, x, x, x, std, NULL, GRPO_NAN, "sample[2]");
    STEPS("a mean's infinity", begin, x, infinite, x, x, std, NULL, GRPO_INFINITE, "mean[1]");
    STEPS("no old mean", begin, x, x, NULL, x, std, NULL, GRPO_NULL, "mean_old");
    STEPS("no mean of the reference", begin, x, x, x, NULL, std, NULL, GRPO_NULL, "mean_ref");
    STEPS("a step without noise", begin, x, x, x, x, none, NULL, GRPO_NOT_POSITIVE, "std[1]");
    STEPS("a KL's step without noise", begin, x, x, x, x, std, none, GRPO_NOT_POSITIVE, "kl_std[1]");
#undef STEPS
    flow_refused("gaussian_steps_backward", "no old mean", grpo_gaussian_steps_backward(2, begin, x, x, NULL, x, std, NULL, &by_old,
                 stepped[0]), GRPO_NULL, "mean_old");
    flow_refused("gaussian_steps_backward", "no mean of the reference", grpo_gaussian_steps_backward(2, begin, x, x, x, NULL, std, NULL,
                 &by_ref, stepped[0]), GRPO_NULL, "mean_ref");
    flow_refused("gaussian_steps_backward", "a gradient's NaN", grpo_gaussian_steps_backward(3, three, x, x, x, x, thrice, NULL,
                 &by_nan, stepped[0]), GRPO_NAN, "by[2]");
    flow_refused("gaussian_steps_backward", "a gradient's infinity", grpo_gaussian_steps_backward(3, three, x, x, x, x, thrice, NULL,
                 &by_infinite, stepped[0]), GRPO_INFINITE, "by[1]");
    flow_refused("denoising_error", "a step without elements", grpo_denoising_error(2, same, x, x, (double *)stepped[0]),
                 GRPO_NOT_INCREASING, "begin[2]");
    flow_refused("denoising_error_backward", "NaN", grpo_denoising_error_backward(2, begin, x, nan, std, stepped[0]),
                 GRPO_NAN, "target[2]");
}

static void check_flow(void) {
    static const int64_t begin[2] = { 0, 2 };
    static const grpo_real x[2] = { 1, 2 };
    static const double one[1] = { 1 }, two[1] = { 2 }, none[1] = { 0 }, huge[1] = { -1e151 };
    static const struct { grpo_nft x; int rule; const char *thing; } wrong[] = {
        { { 0, 1, 0 }, GRPO_NOT_POSITIVE, "x.advantage_max" }, { { 5, 0, 0 }, GRPO_NOT_POSITIVE, "x.beta" },
        { { 5, 1, -1 }, GRPO_NEGATIVE, "x.kl_coef" },
        { { 5, 1, 1 }, GRPO_NULL, "velocity_ref" }, { { 5, 1, 0 }, GRPO_NOT_UNIT, "level[0]" },
    };
    double share, loss;
    grpo_real d[2];
    check_schedule();
    check_steps();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        check_status("diffusion_nft", "wrong", grpo_diffusion_nft(1, begin, x, x, NULL, x, x, two, one, &wrong[k].x, &share, &loss, d),
                     wrong[k].rule, wrong[k].thing);
    check_status("balance_steps", "no steps", grpo_balance_steps(0, one, GRPO_BALANCE_MEAN, &loss), GRPO_NOT_POSITIVE, "n");
    check_status("balance_steps", "a rate of 0", grpo_balance_steps(1, none, GRPO_BALANCE_MEAN, &loss), GRPO_NOT_POSITIVE, "rate[0]");
    check_status("denoising_preference", "beta 0", grpo_denoising_preference(1, one, one, one, 0, &loss, NULL), GRPO_NOT_POSITIVE, "beta");
    check_status("denoising_preference", "error", grpo_denoising_preference(1, huge, one, one, 1, &loss, NULL), GRPO_TOO_LARGE, "error[0]");
    check_status("denoising_preference", "error_ref", grpo_denoising_preference(1, one, huge, one, 1, &loss, NULL), GRPO_TOO_LARGE,
                 "error_ref[0]");
    check_status("denoising_preference", "weight", grpo_denoising_preference(1, one, one, huge, 1, &loss, NULL), GRPO_TOO_LARGE,
                 "weight[0]");
}

int main(void) {
    int k;
    check_logits();
    check_functions();
    check_distill();
    check_likeliest();
    check_flow();
    for (k = GRPO_POSITIVE; k <= GRPO_LONE_RESPONSE; k++)
        check(seen[k] > 0 || k == GRPO_WHOLE_RESPONSE, "nothing gave %s", grpo_status_name(k));        /* extra_context.c gives that */
    return check_summary();
}
