/* Bad input: every status is provoked, by every function it concerns; the message names the field; nothing has been written.
 * The starting point is an objective that needs every array, on a batch that has them all. */
#include "../extra/grpo_control.h"
#include "../extra/grpo_credit.h"
#include "../extra/grpo_critic.h"
#include "../extra/grpo_logits.h"
#include "../extra/grpo_rewards.h"
#include "../extra/grpo_selection.h"
#include "../extra/grpo_weights.h"
#include "../gspo.h"
#include "check.h"
#include "random_batch.h"

enum { TOKENS = 8, SEQUENCES = 4, GROUPS = 2, REWARDS = 2, FIRST_UNMASKED = 0, MASKED = 2, LAST_UNMASKED = 7 };

enum {                                   /* the functions of the library */
    ADVANTAGES = 1, WITH = 2, MOMENTS = 4, COUNT = 8, LOSS = 16, LOSS_ADD = 32, INFORMATIVE = 64, CHECK = 128,
    AXIS_2 = ADVANTAGES | WITH | MOMENTS, LOSSES = LOSS | LOSS_ADD, WITH_OBJECTIVE = AXIS_2 | COUNT | LOSSES, ALL = WITH_OBJECTIVE | INFORMATIVE, OBJECTIVE = WITH_OBJECTIVE | CHECK
};

/* everything that a call could write to */
typedef struct {
    grpo_real advantage[TOKENS], dlogp[TOKENS], dentropy[TOKENS], term[TOKENS], dlog_z[GROUPS];
    double scratch[10 * 2];              /* of the largest group */
    grpo_totals totals;
    grpo_partial partial;
    grpo_moments moments;
    grpo_report report;
    uint8_t keep[GROUPS];
} outputs;

typedef struct {
    grpo_objective objective;
    rollouts b;
    grpo_batch batch;
    grpo_totals totals;
    grpo_real advantage[TOKENS];
    outputs out, before;
    /* what is passed */
    const grpo_objective *pass_objective;
    const grpo_batch *pass_batch;
    const grpo_real *pass_advantage;
    const grpo_totals *pass_totals;
    int no_output, less_scratch;         /* less_scratch: one too few; 2: NULL */
} setup;

static int seen[GRPO_N_STATUS];

/* ---- a setup without fault ----------------------------------------------------------------------------------------------------- */

static void choose(grpo_objective *obj, const char *path, const char *choice)
{
    check(grpo_objective_choose(obj, path, choice) == GRPO_OK, "choose %s %s", path, choice);
}

static void set(grpo_objective *obj, const char *path, double value)
{
    check(grpo_objective_set(obj, path, value) == GRPO_OK, "set %s", path);
}

static void hungry_objective(grpo_objective *obj)
{
    memset(obj, 0, sizeof *obj);
    choose(obj, "reward.overlong", "soft"); set(obj, "reward.overlong_max", 8); set(obj, "reward.overlong_cache", 4);
    choose(obj, "reward.kl", "k1"); set(obj, "reward.kl_coef", 0.1);
    choose(obj, "advantage.credit", "gae"); set(obj, "advantage.gamma", 1); set(obj, "advantage.lambda", 1);
    choose(obj, "advantage.baseline", "given");
    choose(obj, "advantage.scale", "batch_std");
    choose(obj, "surrogate.kind", "ppo_clip"); set(obj, "surrogate.eps_low", 0.2); set(obj, "surrogate.eps_high", 0.2);
    choose(obj, "penalty.kl", "k3"); set(obj, "penalty.kl_coef", 0.1);
    choose(obj, "weight.truncated", "mask");
    choose(obj, "weight.correction", "truncate"); set(obj, "weight.correction_high", 2);
    choose(obj, "aggregation.kind", "token_mean");
}

static void fill_batch(rollouts *b)
{
    static const int64_t group_begin[] = { 0, 2, 4 }, length[] = { 3, 2, 0, 3 }, offset[] = { 0, 3, 5, 5 };
    int64_t t;
    int k;
    rollouts_alloc_groups(b, GROUPS, SEQUENCES, REWARDS);
    rollouts_alloc_tokens(b, TOKENS);
    memcpy(b->group_begin, group_begin, sizeof group_begin);
    memcpy(b->length, length, sizeof length);
    memcpy(b->offset, offset, sizeof offset);
    for (t = 0; t < SEQUENCES; t++) { b->reward[t] = (grpo_real)t; b->truncated[t] = b->outside[t] = 0; }
    for (t = 0; t < SEQUENCES * REWARDS; t++) b->rewards[t] = (grpo_real)(t % 3);
    for (t = 0; t < REWARDS; t++) b->reward_weight[t] = 1;
    for (t = 0; t < GROUPS; t++) b->baseline[t] = b->log_z[t] = (grpo_real)0.5;
    for (t = 0; t < TOKENS; t++) {
        for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k][t] = (grpo_real)(-0.125 * (double)(t + k));
        b->token[TOKEN_WEIGHT][t] = b->token[TOKEN_CLIP_HIGH][t] = (grpo_real)(0.25 * (double)t);
        b->token[TOKEN_CLIP_LOW][t] = (grpo_real)(0.125 * (double)t);
        b->mask[t] = t != MASKED;
        b->selected[t] = 1;
        b->step_end[t] = 1;
        b->state[t] = t % 2;
    }
}

static void setup_make(setup *s)
{
    int64_t t;
    memset(s, 0, sizeof *s);
    hungry_objective(&s->objective);
    fill_batch(&s->b);
    s->batch = rollouts_view(&s->b);
    for (t = 0; t < TOKENS; t++) s->advantage[t] = 1;
    s->totals.tokens = s->totals.sequences = s->totals.sequences_nonempty = s->totals.groups = s->totals.groups_nonempty = 100;
    s->pass_objective = &s->objective;
    s->pass_batch = &s->batch;
    s->pass_advantage = s->advantage;
    for (t = 0; t < TOKENS; t++) s->out.advantage[t] = s->out.dlogp[t] = s->out.dentropy[t] = s->out.term[t] = 4321;
    for (t = 0; t < GROUPS; t++) s->out.dlog_z[t] = 4321;
    memset(&s->out.report, 0x5a, sizeof s->out.report);
    memset(s->out.keep, 0x5a, sizeof s->out.keep);
    memcpy(&s->before, &s->out, sizeof s->out);
}

static void setup_free(setup *s) { rollouts_free(&s->b); }

/* ---- the calls ----------------------------------------------------------------------------------------------------------------- */

typedef grpo_status call(setup *s);

static grpo_status call_advantages(setup *s)
{
    return grpo_advantages(s->pass_objective, s->pass_batch, s->no_output ? NULL : s->out.advantage);
}

static grpo_status call_with(setup *s)
{
    grpo_moments m;
    memset(&m, 0, sizeof m);
    return grpo_advantages_with(s->pass_objective, s->pass_batch, &m, s->no_output ? NULL : s->out.advantage);
}

static grpo_status call_moments(setup *s)
{
    return grpo_moments_add(s->pass_objective, s->pass_batch, s->no_output ? NULL : &s->out.moments);
}

static grpo_status call_count(setup *s)
{
    return grpo_count(s->pass_objective, s->pass_batch, s->pass_advantage, s->no_output ? NULL : &s->out.totals);
}

static grpo_status call_informative(setup *s) { return grpo_informative(s->pass_batch, s->no_output ? NULL : s->out.keep); }

static grpo_output output_of(setup *s)
{
    grpo_output out;
    out.dlogp = s->out.dlogp;
    out.dentropy = s->out.dentropy;
    out.term = s->out.term;
    out.dlog_z = s->out.dlog_z;
    out.scratch = s->less_scratch == 2 ? NULL : s->out.scratch;
    out.scratch_size = (int64_t)(sizeof s->out.scratch / sizeof *s->out.scratch) - s->less_scratch;
    return out;
}

static grpo_status call_grpo_loss(setup *s)
{
    grpo_output out = output_of(s);
    return grpo_loss(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.report);
}

static grpo_status call_gspo_loss(setup *s)
{
    grpo_output out = output_of(s);
    return gspo_loss(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.report);
}

static grpo_status call_grpo_loss_add(setup *s)
{
    grpo_output out = output_of(s);
    return grpo_loss_add(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.partial);
}

static grpo_status call_gspo_loss_add(setup *s)
{
    grpo_output out = output_of(s);
    return gspo_loss_add(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.partial);
}

static grpo_status call_check(setup *s) { return grpo_objective_check(s->pass_objective); }

static const struct { int group; const char *name; call *make; } calls[] = {
    { ADVANTAGES, "grpo_advantages", call_advantages },
    { WITH, "grpo_advantages_with", call_with },
    { MOMENTS, "grpo_moments_add", call_moments },
    { COUNT, "grpo_count", call_count },
    { INFORMATIVE, "grpo_informative", call_informative },
    { LOSS, "grpo_loss", call_grpo_loss },
    { LOSS, "gspo_loss", call_gspo_loss },
    { LOSS_ADD, "grpo_loss_add", call_grpo_loss_add },
    { LOSS_ADD, "gspo_loss_add", call_gspo_loss_add },
    { CHECK, "grpo_objective_check", call_check },
};
enum { CALLS = sizeof calls / sizeof *calls };

static void check_status(const char *call_name, const char *what, grpo_status found, grpo_status expected, const char *names)
{
    check(found == expected, "%s, %s: \"%s\" instead of \"%s\"", call_name, what, grpo_status_text(found), grpo_status_text(expected));
    check(strstr(grpo_status_text(expected), names) != NULL, "\"%s\" does not name %s", grpo_status_text(expected), names);
    if (found == expected) seen[expected]++;
}

/* a fault is put into a setup by `spoil`, which then finds its argument in `fault` */
typedef struct fault {
    grpo_status status;
    int concerns;                        /* functions that must see it; the others must not mind */
    const char *names;                   /* what the message must contain */
    void (*spoil)(setup *s, const struct fault *f);
    const char *path;
    double value;
    int where;                           /* an index; of a token array, TOKENS array + index */
} fault;

static void check_call(int k, const fault *f, const char *what)
{
    static setup s;                                              /* large */
    grpo_status st;
    setup_make(&s);
    f->spoil(&s, f);
    memcpy(&s.before, &s.out, sizeof s.out);
    st = calls[k].make(&s);
    if (calls[k].group & f->concerns) {
        check_status(calls[k].name, what, st, f->status, f->names);
        check(!memcmp(&s.out, &s.before, sizeof s.out), "%s, %s: something was written", calls[k].name, what);
    } else {
        check(st == GRPO_OK, "%s minds %s: %s", calls[k].name, what, grpo_status_text(st));
    }
    setup_free(&s);
}

static void check_fault(const fault *f, const char *what)
{
    int k;
    for (k = 0; k < CALLS; k++) check_call(k, f, what);
}

/* ---- nothing wrong ------------------------------------------------------------------------------------------------------------- */

static void spoil_nothing(setup *s, const fault *f) { (void)s; (void)f; }

static void spoil_no_groups(setup *s, const fault *f)
{
    (void)f;
    memset(&s->batch, 0, sizeof s->batch);
    s->pass_advantage = NULL;
}

static void spoil_totals_given(setup *s, const fault *f) { (void)f; s->pass_totals = &s->totals; }

static void check_nothing(void)
{
    const fault none = { GRPO_OK, 0, "", spoil_nothing, NULL, 0, 0 };
    const fault empty = { GRPO_OK, 0, "", spoil_no_groups, NULL, 0, 0 };
    const fault given = { GRPO_OK, 0, "", spoil_totals_given, NULL, 0, 0 };
    check_fault(&none, "no fault");
    check_fault(&empty, "no groups, no arrays");
    check_fault(&given, "totals");
}

/* ---- missing things ------------------------------------------------------------------------------------------------------------ */

static void spoil_objective(setup *s, const fault *f) { (void)f; s->pass_objective = NULL; }
static void spoil_batch(setup *s, const fault *f) { (void)f; s->pass_batch = NULL; }
static void spoil_output(setup *s, const fault *f) { (void)f; s->no_output = 1; }
static void spoil_advantage(setup *s, const fault *f) { (void)f; s->pass_advantage = NULL; }
static void spoil_group_begin(setup *s, const fault *f) { (void)f; s->batch.group_begin = NULL; }
static void spoil_offset(setup *s, const fault *f) { (void)f; s->batch.offset = NULL; }
static void spoil_length(setup *s, const fault *f) { (void)f; s->batch.length = NULL; }
static void spoil_logp(setup *s, const fault *f) { (void)f; s->batch.logp = NULL; }
static void spoil_old(setup *s, const fault *f) { (void)f; s->batch.logp_old = NULL; }
static void spoil_ref(setup *s, const fault *f) { (void)f; s->batch.logp_ref = NULL; }
static void spoil_rollout(setup *s, const fault *f) { (void)f; s->batch.logp_rollout = NULL; }
static void spoil_entropy(setup *s, const fault *f) { (void)f; s->batch.entropy = NULL; }
static void spoil_reward(setup *s, const fault *f) { (void)f; s->batch.reward = NULL; }
static void spoil_baseline(setup *s, const fault *f) { (void)f; s->batch.baseline = NULL; }
static void spoil_value(setup *s, const fault *f) { (void)f; s->batch.value = NULL; }
static void spoil_truncated(setup *s, const fault *f) { (void)f; s->batch.truncated = NULL; }
static void spoil_mask(setup *s, const fault *f) { (void)f; s->batch.mask = NULL; }
static void spoil_selected(setup *s, const fault *f) { (void)f; s->batch.selected = NULL; }

static void spoil_step_reward(setup *s, const fault *f)
{
    (void)f;
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
    s->batch.step_reward = NULL;
}

static void spoil_step_end(setup *s, const fault *f)
{
    (void)f;
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
    s->batch.step_end = NULL;
}

/* several rewards, as far as the setup can have them */
static void columns_objective(grpo_objective *obj)
{
    memset(&obj->reward, 0, sizeof obj->reward);
    obj->advantage.rewards = GRPO_REWARDS_EACH;
    obj->advantage.credit = GRPO_CREDIT_OUTCOME;
    obj->advantage.scale = GRPO_SCALE_GROUP_STD;
}

static void spoil_rewards(setup *s, const fault *f)
{
    (void)f;
    columns_objective(&s->objective);
    s->batch.rewards = NULL;
}

static void spoil_reward_weight(setup *s, const fault *f)
{
    (void)f;
    columns_objective(&s->objective);
    s->batch.reward_weight = NULL;
}

/* value: does the entropy ask for the sign of the reward? */
static void spoil_reward_of_columns(setup *s, const fault *f)
{
    columns_objective(&s->objective);
    if (f->value != 0) s->objective.advantage.entropy = GRPO_ENTROPY_ZERO_VARIANCE;
    s->batch.reward = NULL;
}

static void spoil_teacher_unread(setup *s, const fault *f) { (void)f; s->batch.logp_teacher = NULL; }

static void spoil_teacher(setup *s, const fault *f)
{
    (void)f;
    s->objective.advantage.teacher_coef = -1;
    s->batch.logp_teacher = NULL;
}

static void spoil_entropy_read(setup *s, const fault *f)
{
    (void)f;
    s->objective.advantage.entropy = GRPO_ENTROPY_BONUS;
    s->objective.advantage.entropy_cap = 2;
    s->batch.entropy = NULL;
}

static void spoil_truncated_read(setup *s, const fault *f)
{
    (void)f;
    s->objective.reward.truncated = GRPO_CUT_SCALE;
    s->batch.truncated = NULL;
}

static void check_missing(void)
{
    static const fault missing[] = {
        { GRPO_NULL_OBJECTIVE, OBJECTIVE, "objective", spoil_objective, NULL, 0, 0 },
        { GRPO_NULL_BATCH, ALL, "batch", spoil_batch, NULL, 0, 0 },
        { GRPO_NULL_OUTPUT, ALL, "advantage, totals, partial, moments, keep or report", spoil_output, NULL, 0, 0 },
        { GRPO_NULL_ADVANTAGE, LOSSES, "advantage", spoil_advantage, NULL, 0, 0 },
        { GRPO_NULL_GROUP_BEGIN, ALL, "batch.group_begin", spoil_group_begin, NULL, 0, 0 },
        { GRPO_NULL_OFFSET, ALL, "batch.offset", spoil_offset, NULL, 0, 0 },
        { GRPO_NULL_LENGTH, ALL, "batch.length", spoil_length, NULL, 0, 0 },
        { GRPO_NULL_LOGP, LOSSES, "batch.logp", spoil_logp, NULL, 0, 0 },
        { GRPO_NULL_LOGP_OLD, WITH_OBJECTIVE, "batch.logp_old", spoil_old, NULL, 0, 0 },
        { GRPO_NULL_LOGP_REF, AXIS_2 | LOSSES, "batch.logp_ref", spoil_ref, NULL, 0, 0 },
        { GRPO_NULL_LOGP_ROLLOUT, COUNT | LOSSES, "batch.logp_rollout", spoil_rollout, NULL, 0, 0 },
        { GRPO_OK, 0, "", spoil_entropy, NULL, 0, 0 },
        { GRPO_NULL_REWARD, AXIS_2 | INFORMATIVE, "batch.reward", spoil_reward, NULL, 0, 0 },
        { GRPO_NULL_BASELINE, AXIS_2, "batch.baseline", spoil_baseline, NULL, 0, 0 },
        { GRPO_NULL_VALUE, AXIS_2, "batch.value", spoil_value, NULL, 0, 0 },
        { GRPO_NULL_TRUNCATED, COUNT | LOSSES, "batch.truncated", spoil_truncated, NULL, 0, 0 },
        { GRPO_OK, 0, "", spoil_mask, NULL, 0, 0 },
        { GRPO_OK, 0, "", spoil_selected, NULL, 0, 0 },
        { GRPO_NULL_STEP_REWARD, AXIS_2, "batch.step_reward", spoil_step_reward, NULL, 0, 0 },
        { GRPO_NULL_STEP_END, AXIS_2, "batch.step_end", spoil_step_end, NULL, 0, 0 },
        { GRPO_NULL_REWARDS, AXIS_2, "batch.rewards", spoil_rewards, NULL, 0, 0 },
        { GRPO_NULL_REWARD, AXIS_2 | INFORMATIVE, "batch.reward", spoil_reward_of_columns, NULL, 1, 0 },
        { GRPO_NULL_REWARD, INFORMATIVE, "batch.reward", spoil_reward_of_columns, NULL, 0, 0 },
        { GRPO_OK, 0, "", spoil_reward_weight, NULL, 0, 0 },
        { GRPO_OK, 0, "", spoil_teacher_unread, NULL, 0, 0 },
        { GRPO_NULL_LOGP_TEACHER, AXIS_2, "batch.logp_teacher", spoil_teacher, NULL, 0, 0 },
        { GRPO_NULL_ENTROPY, AXIS_2, "batch.entropy", spoil_entropy_read, NULL, 0, 0 },
        { GRPO_NULL_TRUNCATED, AXIS_2 | COUNT | LOSSES, "batch.truncated", spoil_truncated_read, NULL, 0, 0 },
    };
    size_t k;
    for (k = 0; k < sizeof missing / sizeof *missing; k++) check_fault(&missing[k], missing[k].status ? "NULL" : "an optional array NULL");
}

/* ---- what a choice needs -------------------------------------------------------------------------------------------------------
 * From an objective that needs nothing but logp: settings, then the arrays that are NULL. */

enum { NO_OLD = 1, NO_REF = 2, NO_ROLLOUT = 4, NO_ENTROPY = 8, NO_SELECTED = 16, NO_TEACHER = 32, NO_STATE = 64, NO_SQUARES = 128,
       NO_STEP_END = 256, NO_STEP_REWARD = 512, NO_WEIGHT = 1024, NO_CLIP_LOW = 2048, NO_CLIP_HIGH = 4096, NO_OPTIONAL = 8191, NO_REWARD = 8192,
       NO_ADVANTAGE = 16384, NO_TRUNCATED = 32768, NO_OUTSIDE = 65536, NO_VALUE = 131072 };

typedef struct {
    const char *path[2];
    int value[2];
    int missing;
    grpo_status status;
    int concerns;
    const char *names;
} need;

static const need needs[] = {
    { { NULL, NULL }, { 0, 0 }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_LOG_RATIO, GRPO_AGAINST_OLD }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_RATIO, GRPO_AGAINST_ROLLOUT }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, LOSSES, "logp_rollout" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_RATIO, GRPO_AGAINST_REF }, NO_REF, GRPO_NULL_LOGP_REF, LOSSES, "logp_ref" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_RATIO, GRPO_AGAINST_REF }, NO_OLD | NO_ROLLOUT, GRPO_OK, 0, "" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_RATIO, GRPO_AGAINST_CURRENT }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "surrogate.kind", NULL }, { GRPO_SURROGATE_NONE, 0 }, NO_OPTIONAL | NO_REWARD | NO_ADVANTAGE, GRPO_NULL_REWARD,
      AXIS_2 | INFORMATIVE, "reward" },
    { { "surrogate.kind", "weight.future" }, { GRPO_SURROGATE_NONE, GRPO_FUTURE_DECAYED }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE, LOSSES,
      "advantage" },
    { { "surrogate.kind", "weight.trust" }, { GRPO_SURROGATE_NONE, GRPO_TRUST_TWO_SIDED }, NO_ADVANTAGE, GRPO_OK, 0, "" },
    { { "surrogate.kind", "penalty.likelihood_on" }, { GRPO_SURROGATE_NONE, GRPO_LIKELIHOOD_POSITIVE }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE,
      COUNT | LOSSES, "advantage" },
    { { "weight.trust", NULL }, { GRPO_TRUST_TWO_SIDED, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "weight.trust", "ratio.against" }, { GRPO_TRUST_K2, GRPO_AGAINST_REF }, NO_REF, GRPO_NULL_LOGP_REF, LOSSES, "logp_ref" },
    { { "penalty.kl", NULL }, { GRPO_KL_K3, 0 }, NO_REF, GRPO_NULL_LOGP_REF, LOSSES, "logp_ref" },
    { { "penalty.kl", "penalty.kl_against" }, { GRPO_KL_K3, GRPO_KL_AGAINST_OLD }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "penalty.kl", "penalty.kl_against" }, { GRPO_KL_K3, GRPO_KL_AGAINST_OLD }, NO_REF | NO_ROLLOUT, GRPO_OK, 0, "" },
    { { "penalty.kl", "penalty.kl_against" }, { GRPO_KL_K1, GRPO_KL_AGAINST_ROLLOUT }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, LOSSES, "logp_rollout" },
    { { "penalty.kl", "penalty.kl_ratio" }, { GRPO_KL_K3, GRPO_KL_RATIO_SCORE }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "penalty.kl_on", NULL }, { GRPO_KL_ON_SELECTED, 0 }, NO_SELECTED, GRPO_NULL_SELECTED, LOSSES, "penalty.kl_on" },
    { { "penalty.entropy_coef", NULL }, { 1, 0 }, NO_ENTROPY, GRPO_NULL_ENTROPY, LOSSES, "batch.entropy" },
    { { "weight.selected", NULL }, { GRPO_SELECTED_KEEP, 0 }, NO_SELECTED, GRPO_NULL_SELECTED, LOSSES, "batch.selected" },
    { { "weight.selected", NULL }, { GRPO_SELECTED_DROP, 0 }, NO_SELECTED, GRPO_NULL_SELECTED, LOSSES, "weight.selected" },
    { { "weight.off_policy", NULL }, { GRPO_OFF_POLICY_OLD, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "weight.off_policy", NULL }, { GRPO_OFF_POLICY_ROLLOUT, 0 }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, LOSSES, "logp_rollout" },
    { { "weight.off_policy", NULL }, { GRPO_OFF_POLICY_ROLLOUT, 0 }, NO_OLD, GRPO_OK, 0, "" },
    { { "weight.reject", NULL }, { GRPO_REJECT_RATIO, 0 }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, COUNT | LOSSES, "logp_rollout" },
    { { "weight.reject", NULL }, { GRPO_REJECT_K3, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, COUNT | LOSSES, "logp_old" },
    { { "surrogate.kind", "ratio.against" }, { GRPO_SURROGATE_RATIO, GRPO_AGAINST_NOTHING }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "penalty.kl", "penalty.kl_against" }, { GRPO_KL_K1, GRPO_KL_AGAINST_TEACHER }, NO_TEACHER, GRPO_NULL_LOGP_TEACHER, LOSSES, "kl_against" },
    { { "penalty.kl", "penalty.kl_against" }, { GRPO_KL_K1, GRPO_KL_AGAINST_TEACHER }, NO_OLD | NO_REF | NO_ROLLOUT, GRPO_OK, 0, "" },
    { { "penalty.likelihood_on", NULL }, { GRPO_LIKELIHOOD_CORRECT, 0 }, NO_REWARD, GRPO_NULL_REWARD, AXIS_2 | INFORMATIVE | COUNT | LOSSES, "reward" },
    { { "penalty.likelihood_on", NULL }, { GRPO_LIKELIHOOD_SELECTED, 0 }, NO_SELECTED, GRPO_NULL_SELECTED, COUNT | LOSSES, "likelihood_on" },
    { { "penalty.likelihood_on", NULL }, { GRPO_LIKELIHOOD_POSITIVE, 0 }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE, COUNT | LOSSES, "advantage" },
    { { "penalty.likelihood_on", NULL }, { GRPO_LIKELIHOOD_ALL, 0 }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "penalty.likelihood_on", NULL }, { GRPO_LIKELIHOOD_NOT_NEGATIVE, 0 }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE, COUNT | LOSSES, "advantage" },
    { { "penalty.likelihood_on", "penalty.likelihood_form" }, { GRPO_LIKELIHOOD_ALL, GRPO_LIKELIHOOD_FORM_LOST }, NO_OLD, GRPO_NULL_LOGP_OLD,
      LOSSES, "logp_old" },
    { { "penalty.likelihood_on", "penalty.likelihood_form" }, { GRPO_LIKELIHOOD_ALL, GRPO_LIKELIHOOD_FORM_TEACHER_GAP }, NO_TEACHER,
      GRPO_NULL_LOGP_TEACHER, LOSSES, "penalty.likelihood_" },
    { { "penalty.likelihood_on", "penalty.likelihood_weight" }, { GRPO_LIKELIHOOD_ALL, GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE }, NO_TEACHER,
      GRPO_NULL_LOGP_TEACHER, LOSSES, "logp_teacher" },
    { { "penalty.likelihood_form", "penalty.likelihood_gate" }, { GRPO_LIKELIHOOD_FORM_LOST, GRPO_LIKELIHOOD_GATE_SEGMENT }, NO_OPTIONAL,
      GRPO_OK, 0, "" },
    { { "penalty.likelihood_weight", NULL }, { GRPO_LIKELIHOOD_WEIGHT_TEACHER_GATE, 0 }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "aggregation.kind", NULL }, { GRPO_TOKEN_MEAN_BY_SIGN, 0 }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE, COUNT | LOSSES, "counting" },
    { { "aggregation.kind", NULL }, { GRPO_SEQ_MEAN_BY_SIGN, 0 }, NO_ADVANTAGE, GRPO_NULL_ADVANTAGE, COUNT | LOSSES, "counting" },
    { { "surrogate.shape", "surrogate.kind" }, { 1, GRPO_SURROGATE_SHAPED }, NO_SELECTED, GRPO_NULL_SELECTED, LOSSES, "surrogate.kind shaped" },
    { { "surrogate.kind", "surrogate.bounds" }, { GRPO_SURROGATE_PPO_CLIP, GRPO_BOUNDS_GIVEN }, NO_CLIP_LOW, GRPO_NULL_CLIP_LOW, LOSSES, "clip_low" },
    { { "surrogate.kind", "surrogate.bounds" }, { GRPO_SURROGATE_GPPO, GRPO_BOUNDS_GIVEN }, NO_CLIP_HIGH, GRPO_NULL_CLIP_HIGH, LOSSES,
      "batch.clip_high" },
    { { "surrogate.kind", "surrogate.bounds" }, { GRPO_SURROGATE_PPO_CLIP, GRPO_BOUNDS_POSITION }, NO_CLIP_LOW | NO_CLIP_HIGH, GRPO_OK, 0, "" },
    { { "weight.veto", NULL }, { 1, 0 }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, COUNT | LOSSES, "logp_rollout" },
    { { "aggregation.kind", NULL }, { GRPO_TOKEN_MEAN_VARIED, 0 }, NO_REWARD, GRPO_NULL_REWARD, AXIS_2 | INFORMATIVE | COUNT | LOSSES, "reward" },
    { { "advantage.credit", "advantage.step_group" }, { GRPO_CREDIT_STEP_OWN, GRPO_STEP_GROUP_STATE }, NO_STATE, GRPO_NULL_STATE, AXIS_2, "batch.state" },
    { { "advantage.credit", "advantage.step_group" }, { GRPO_CREDIT_STEP_OWN, GRPO_STEP_GROUP_INDEX }, NO_STATE, GRPO_OK, 0, "" },
    { { "advantage.credit", "advantage.step_group" }, { GRPO_CREDIT_OUTCOME, GRPO_STEP_GROUP_STATE }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_STEP_OWN, 0 }, NO_STEP_REWARD, GRPO_NULL_STEP_REWARD, AXIS_2, "step_reward" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_STEP_GAE, 0 }, NO_STEP_END, GRPO_NULL_STEP_END, AXIS_2, "step_end" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_STEP_GAE, 0 }, NO_STEP_REWARD, GRPO_NULL_STEP_REWARD, AXIS_2, "step_reward" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_STEP_GAE, 0 }, NO_VALUE, GRPO_NULL_VALUE, AXIS_2, "batch.value" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_EPISODE_STEP, 0 }, NO_STEP_END, GRPO_NULL_STEP_END, AXIS_2, "step_end" },
    { { "advantage.credit", "advantage.step_value" }, { GRPO_CREDIT_STEP, GRPO_STEP_VALUE_RESPONSE }, NO_STEP_END, GRPO_NULL_STEP_END, AXIS_2, "step_end" },
    { { "advantage.credit", "advantage.step_value" }, { GRPO_CREDIT_STEP, GRPO_STEP_VALUE_RESPONSE }, NO_STEP_REWARD, GRPO_OK, 0, "" },
    { { "advantage.token_baseline", NULL }, { GRPO_TOKEN_BASELINE_OPTIMAL, 0 }, NO_SQUARES, GRPO_NULL_PROBABILITY_SQUARES, AXIS_2, "batch.probability_squares" },
    { { "advantage.token_baseline", NULL }, { GRPO_TOKEN_BASELINE_OPTIMAL, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, AXIS_2, "batch.logp_old" },
    { { "advantage.entropy", NULL }, { GRPO_ENTROPY_RELATIVE, 0 }, NO_ENTROPY, GRPO_NULL_ENTROPY, AXIS_2, "batch.entropy" },
    { { "advantage.entropy", NULL }, { GRPO_ENTROPY_RESPONSE, 0 }, NO_ENTROPY, GRPO_NULL_ENTROPY, AXIS_2, "batch.entropy" },
    { { "advantage.credit", NULL }, { GRPO_CREDIT_PREFIX_TREE, 0 }, NO_STATE, GRPO_NULL_STATE, AXIS_2, "prefix_tree" },
    { { "advantage.teacher_share", NULL }, { 1, 0 }, NO_TEACHER, GRPO_NULL_LOGP_TEACHER, AXIS_2, "advantage.teacher_" },
    { { "advantage.teacher_share", NULL }, { 1, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, AXIS_2, "logp_old" },
    { { "advantage.teacher_gamma", "advantage.teacher_norm" }, { 1, GRPO_TEACHER_NORM_MEAN }, NO_OPTIONAL, GRPO_OK, 0, "" },
    { { "advantage.outside", NULL }, { GRPO_OUTSIDE_OWN, 0 }, NO_OUTSIDE, GRPO_OK, 0, "" },
    { { "advantage.credit", "advantage.bootstrap" }, { GRPO_CREDIT_GAE, GRPO_BOOTSTRAP_REPEAT }, NO_TRUNCATED, GRPO_OK, 0, "" },
    { { "advantage.credit", "advantage.truncated_tail" }, { GRPO_CREDIT_RETURN, 8 }, NO_TRUNCATED, GRPO_OK, 0, "" },
    { { "advantage.kl_centred_coef", NULL }, { 1, 0 }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, AXIS_2, "logp_rollout" },
    { { "advantage.kl_centred_coef", NULL }, { -1, 0 }, NO_REF, GRPO_NULL_LOGP_REF, AXIS_2, "logp_ref" },
    { { "advantage.marked", NULL }, { GRPO_MARKED_BOOST, 0 }, NO_SELECTED, GRPO_NULL_SELECTED, AXIS_2, "advantage.marked" },
    { { "advantage.credit", "advantage.share_eps" }, { GRPO_CREDIT_ENTROPY_SHARE, 1 }, NO_ENTROPY, GRPO_NULL_ENTROPY, AXIS_2, "batch.entropy" },
    { { "weight.off_policy", NULL }, { GRPO_OFF_POLICY_TOTAL_VARIATION, 0 }, NO_OLD, GRPO_NULL_LOGP_OLD, LOSSES, "logp_old" },
    { { "weight.off_policy", NULL }, { GRPO_OFF_POLICY_TOTAL_VARIATION, 0 }, NO_ROLLOUT, GRPO_NULL_LOGP_ROLLOUT, LOSSES, "logp_rollout" },
    { { "weight.given", NULL }, { GRPO_GIVEN_POLICY, 0 }, NO_WEIGHT, GRPO_NULL_TOKEN_WEIGHT, LOSSES, "batch.weight" },
    { { "weight.given", NULL }, { GRPO_GIVEN_TERM, 0 }, NO_WEIGHT, GRPO_NULL_TOKEN_WEIGHT, LOSSES, "weight.given" },
    { { "aggregation.kind", NULL }, { GRPO_SEQ_MEAN_SEGMENT_MEAN, 0 }, NO_STEP_END, GRPO_NULL_STEP_END, LOSSES, "batch.step_end" },
    { { "weight.reject_unit", "weight.reject" }, { GRPO_REJECT_SEGMENT_MAX, GRPO_REJECT_K3 }, NO_STEP_END,
      GRPO_NULL_STEP_END, COUNT | LOSSES, "step_end" },
    { { "weight.correction_unit", "weight.correction" }, { GRPO_CORRECTION_SEGMENT_SUM, GRPO_CORRECTION_TRUNCATE }, NO_STEP_END,
      GRPO_NULL_STEP_END, COUNT | LOSSES, "step_end" },
    { { "weight.reject_unit", "weight.correction_unit" }, { GRPO_REJECT_SEGMENT_SUM, GRPO_CORRECTION_SEGMENT_MEAN }, NO_OPTIONAL,
      GRPO_OK, 0, "" },
};

/* the units of gspo.h need what segments are made of, where there is a ratio */
static void check_segment_units(void)
{
    static setup s;
    int unit;
    for (unit = GRPO_UNIT_SEQUENCE_MEAN; unit <= GRPO_UNIT_SEQUENCE_POWER_MEAN; unit++) {
        const int segment = unit == GRPO_UNIT_SEGMENT_MEAN || unit == GRPO_UNIT_SEGMENT_SUM;
        const grpo_status expected = segment ? GRPO_NULL_STEP_END : GRPO_OK;
        setup_make(&s);
        s.objective.ratio.unit = (grpo_unit_kind)unit;
        s.objective.ratio.power = 1;
        s.batch.step_end = NULL;
        check_status("gspo_loss", "a unit without step_end", call_gspo_loss(&s), expected, segment ? "step_end" : "");
        s.objective.surrogate.kind = GRPO_SURROGATE_SCORE;
        check(call_gspo_loss(&s) == GRPO_OK, "step_end is wanted where there is no ratio");
        setup_free(&s);
    }
}

static void spoil_need(setup *s, const fault *f)
{
    const need *n = &needs[f->where];
    int k;
    memset(&s->objective, 0, sizeof s->objective);
    s->objective.weight.future_half_life = 1;
    for (k = 0; k < 2 && n->path[k]; k++) set(&s->objective, n->path[k], n->value[k]);
    if (n->missing & NO_OLD) s->batch.logp_old = NULL;
    if (n->missing & NO_REF) s->batch.logp_ref = NULL;
    if (n->missing & NO_ROLLOUT) s->batch.logp_rollout = NULL;
    if (n->missing & NO_ENTROPY) s->batch.entropy = NULL;
    if (n->missing & NO_SELECTED) s->batch.selected = NULL;
    if (n->missing & NO_TEACHER) s->batch.logp_teacher = NULL;
    if (n->missing & NO_REWARD) s->batch.reward = NULL;
    if (n->missing & NO_ADVANTAGE) s->pass_advantage = NULL;
    if (n->missing & NO_STATE) s->batch.state = NULL;
    if (n->missing & NO_SQUARES) s->batch.probability_squares = NULL;
    if (n->missing & NO_STEP_END) s->batch.step_end = NULL;
    if (n->missing & NO_STEP_REWARD) s->batch.step_reward = NULL;
    if (n->missing & NO_WEIGHT) s->batch.weight = NULL;
    if (n->missing & NO_CLIP_LOW) s->batch.clip_low = NULL;
    if (n->missing & NO_TRUNCATED) s->batch.truncated = NULL;
    if (n->missing & NO_OUTSIDE) s->batch.outside = NULL;
    if (n->missing & NO_VALUE) s->batch.value = NULL;
    if (n->missing & NO_CLIP_HIGH) s->batch.clip_high = NULL;
}

static void check_needs(void)
{
    fault f = { GRPO_OK, 0, "", spoil_need, NULL, 0, 0 };
    for (f.where = 0; f.where < (int)(sizeof needs / sizeof *needs); f.where++) {
        f.status = needs[f.where].status;
        f.concerns = needs[f.where].concerns;
        f.names = needs[f.where].names;
        check_fault(&f, needs[f.where].path[0] ? needs[f.where].path[0] : "nothing but logp");
    }
    check_segment_units();
}

/* ---- shapes -------------------------------------------------------------------------------------------------------------------- */

static void spoil_n_groups(setup *s, const fault *f) { s->batch.n_groups = (int64_t)f->value; }
static void spoil_begin(setup *s, const fault *f) { s->b.group_begin[f->where] = (int64_t)f->value; }
static void spoil_length_at(setup *s, const fault *f) { s->b.length[f->where] = (int64_t)f->value; }
static void spoil_offset_at(setup *s, const fault *f) { s->b.offset[f->where] = (int64_t)f->value; }
static void spoil_n_tokens(setup *s, const fault *f) { s->batch.n_tokens = (int64_t)f->value; }
static void spoil_length_huge(setup *s, const fault *f) { s->b.length[f->where] = INT64_MAX; }
static void spoil_offset_huge(setup *s, const fault *f) { s->b.offset[f->where] = INT64_MAX; }
static void spoil_offset_low(setup *s, const fault *f) { s->b.offset[f->where] = INT64_MIN; }

static void check_shapes(void)
{
    static const fault shape[] = {
        { GRPO_BAD_GROUPS, ALL, "batch.n_groups", spoil_n_groups, NULL, -1, 0 },
        { GRPO_BAD_GROUP_BEGIN, ALL, "batch.group_begin", spoil_begin, NULL, -1, 0 },
        { GRPO_BAD_GROUP_BEGIN, ALL, "batch.group_begin", spoil_begin, NULL, 2, 0 },
        { GRPO_BAD_GROUP_BEGIN, ALL, "batch.group_begin", spoil_begin, NULL, 0, 1 },
        { GRPO_BAD_GROUP_BEGIN, ALL, "batch.group_begin", spoil_begin, NULL, 1, 2 },
        { GRPO_BAD_LENGTH, ALL, "batch.length", spoil_length_at, NULL, -1, 0 },
        { GRPO_BAD_LENGTH, ALL, "batch.length", spoil_length_at, NULL, -1, 3 },
        { GRPO_BAD_OFFSET, ALL, "batch.offset", spoil_offset_at, NULL, -1, 0 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_offset_at, NULL, 6, 3 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_offset_at, NULL, 9, 2 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_length_at, NULL, 9, 0 },
        { GRPO_BAD_OFFSET, ALL, "n_tokens", spoil_n_tokens, NULL, 7, 0 },
        { GRPO_BAD_OFFSET, ALL, "n_tokens", spoil_n_tokens, NULL, -1, 0 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_length_huge, NULL, 0, 3 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_offset_huge, NULL, 0, 3 },
        { GRPO_BAD_OFFSET, ALL, "offset + length", spoil_offset_low, NULL, 0, 3 },
        { GRPO_OK, 0, "", spoil_offset_at, NULL, 8, 2 },                             /* an empty sequence may stand at the end */
    };
    size_t k;
    for (k = 0; k < sizeof shape / sizeof *shape; k++) check_fault(&shape[k], "a shape");
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static void spoil_token(setup *s, const fault *f) { s->b.token[f->where / TOKENS][f->where % TOKENS] = (grpo_real)f->value; }
static void spoil_reward_at(setup *s, const fault *f) { s->b.reward[f->where] = (grpo_real)f->value; }
static void spoil_baseline_at(setup *s, const fault *f) { s->b.baseline[f->where] = (grpo_real)f->value; }
static void spoil_advantage_at(setup *s, const fault *f) { s->advantage[f->where] = (grpo_real)f->value; }

static void spoil_step_reward_at(setup *s, const fault *f)
{
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
    s->b.token[TOKEN_STEP_REWARD][f->where] = (grpo_real)f->value;
}

static void spoil_reward_column(setup *s, const fault *f)
{
    columns_objective(&s->objective);
    s->b.rewards[f->where] = (grpo_real)f->value;
}

static void spoil_weight_of_column(setup *s, const fault *f)
{
    columns_objective(&s->objective);
    s->b.reward_weight[f->where] = (grpo_real)f->value;
}

static void spoil_n_rewards(setup *s, const fault *f)
{
    columns_objective(&s->objective);
    s->batch.n_rewards = (int64_t)f->value;
}

static void spoil_token_of_teacher(setup *s, const fault *f)
{
    s->objective.advantage.teacher_coef = 0.5;
    s->objective.reward.kl = GRPO_KL_NONE;
    spoil_token(s, f);
}

static void spoil_token_of_entropy(setup *s, const fault *f)
{
    s->objective.advantage.entropy = GRPO_ENTROPY_BONUS;
    s->objective.advantage.entropy_cap = 2;
    spoil_token(s, f);
}

static void spoil_token_centred(setup *s, const fault *f)
{
    s->objective.advantage.kl_centred_coef = -1;
    s->objective.reward.kl = GRPO_KL_NONE;
    s->objective.penalty.kl = GRPO_KL_NONE;
    s->objective.weight.correction = GRPO_CORRECTION_NONE;
    spoil_token(s, f);
}

static void spoil_squares(setup *s, const fault *f)
{
    s->objective.advantage.token_baseline = GRPO_TOKEN_BASELINE_OPTIMAL;
    spoil_token(s, f);
}

/* returns that are too large where no reward is */
static void spoil_return(setup *s, const fault *f)
{
    int64_t t;
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
    s->objective.advantage.step_value = GRPO_STEP_VALUE_RETURN;
    for (t = 0; t < TOKENS; t++) s->b.token[TOKEN_STEP_REWARD][t] = (grpo_real)f->value;
}

static void spoil_unit_reward(setup *s, const fault *f)
{
    int64_t t;
    memset(&s->objective.reward, 0, sizeof s->objective.reward);
    s->objective.advantage.scale = GRPO_SCALE_BETA;
    for (t = 0; t < SEQUENCES; t++) s->b.reward[t] = (grpo_real)(t % 2);
    s->b.reward[f->where] = (grpo_real)f->value;
}

static void spoil_unit_step(setup *s, const fault *f)
{
    int64_t t;
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
    s->objective.advantage.scale = GRPO_SCALE_BETA;
    for (t = 0; t < TOKENS; t++) s->b.token[TOKEN_STEP_REWARD][t] = 1;
    s->b.token[TOKEN_STEP_REWARD][f->where] = (grpo_real)f->value;
}

/* two items in each group, four steps in the first */
static void spoil_pass_k(setup *s, const fault *f)
{
    s->objective.advantage.transform = f->where ? GRPO_TRANSFORM_PKPO : GRPO_TRANSFORM_PASS_AT_K;
    s->objective.advantage.pass_k = f->value;
}

static void spoil_pass_k_of_steps(setup *s, const fault *f)
{
    spoil_pass_k(s, f);
    s->objective.advantage.credit = GRPO_CREDIT_STEP;
}

static void spoil_step_reward_unread(setup *s, const fault *f)
{
    spoil_step_reward_at(s, f);
    s->b.step_end[f->where] = 0;
}

enum { NO_NAN_OR_PLUS_INF, FINITE, MODERATE };

/* the values outside a domain; larger than 1e150 only where the elements can hold it */
static int bad_values(int domain, double *value)
{
    int n = 0;
    value[n++] = NAN;
    value[n++] = INFINITY;
    if (domain != NO_NAN_OR_PLUS_INF) value[n++] = -INFINITY;
    if (domain == MODERATE && sizeof(grpo_real) == 8) { value[n++] = 1.001e150; value[n++] = -1.001e150; }
    return n;
}

static void check_values(fault f, int domain, const char *what)
{
    double value[5];
    int k, n = bad_values(domain, value);
    for (k = 0; k < n; k++) {
        f.value = value[k];
        check_fault(&f, what);
    }
}

static void check_harmless(fault f, double value, const char *what)
{
    f.status = GRPO_OK;
    f.concerns = 0;
    f.value = value;
    check_fault(&f, what);
}

static void check_token_values(void)
{
    static const struct { grpo_status status; int concerns; const char *names; int array, domain; } token[] = {
        { GRPO_BAD_LOGP, LOSSES, "batch.logp", TOKEN_LOGP, NO_NAN_OR_PLUS_INF },
        { GRPO_BAD_LOGP_OLD, WITH_OBJECTIVE, "batch.logp_old", TOKEN_OLD, NO_NAN_OR_PLUS_INF },
        { GRPO_BAD_LOGP_REF, AXIS_2 | LOSSES, "batch.logp_ref", TOKEN_REF, NO_NAN_OR_PLUS_INF },
        { GRPO_BAD_LOGP_ROLLOUT, COUNT | LOSSES, "batch.logp_rollout", TOKEN_ROLLOUT, NO_NAN_OR_PLUS_INF },
        { GRPO_BAD_ENTROPY, LOSSES, "batch.entropy", TOKEN_ENTROPY, FINITE },
        { GRPO_BAD_VALUE, AXIS_2, "batch.value", TOKEN_VALUE, MODERATE },
    };
    size_t k;
    for (k = 0; k < sizeof token / sizeof *token; k++) {
        fault f;
        f.status = token[k].status;
        f.concerns = token[k].concerns;
        f.names = token[k].names;
        f.spoil = spoil_token;
        f.path = NULL;
        f.where = token[k].array * TOKENS + FIRST_UNMASKED;
        check_values(f, token[k].domain, "a bad first value");
        if (token[k].array == TOKEN_LOGP || token[k].array == TOKEN_ROLLOUT) check_harmless(f, -INFINITY, "-infinity");
        f.where = token[k].array * TOKENS + LAST_UNMASKED;
        check_values(f, token[k].domain, "a bad last value");
        f.where = token[k].array * TOKENS + MASKED;
        check_harmless(f, NAN, "NaN under the mask");
        check_harmless(f, INFINITY, "infinity under the mask");
    }
}

static void spoil_k3(setup *s, const fault *f)
{
    s->objective.reward.kl = GRPO_KL_K3;
    spoil_token(s, f);
}

static void spoil_factor(setup *s, const fault *f)
{
    s->objective.reward.overlong_max = s->objective.reward.overlong_cache = 2;
    s->objective.reward.overlong_factor = f->value;
}

static void spoil_map(setup *s, const fault *f)
{
    s->objective.reward.map = GRPO_MAP_AFFINE;
    s->objective.reward.map_factor = f->value;
}

static void spoil_kimi(setup *s, const fault *f)
{
    s->objective.reward.length = GRPO_LENGTH_KIMI;
    s->objective.reward.length_coef = f->value;
}

/* what axis 1 makes of good input can still be too large for axis 2 */
static void check_shaped_rewards(void)
{
    static const fault larger[] = {
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "reward", spoil_map, "map_factor", 1e151, 0 },
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "reward", spoil_kimi, "length_coef", 1e152, 0 },
        { GRPO_OK, 0, "", spoil_map, "map_factor", 1e140, 0 },
        { GRPO_OK, 0, "", spoil_kimi, "length_coef", 1e140, 0 },
    };
    enum { OLD = TOKEN_OLD * TOKENS, REF = TOKEN_REF * TOKENS };
    static const fault shaped[] = {
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "objective.reward", spoil_token, "logp_old", -INFINITY, OLD + FIRST_UNMASKED },
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "KL", spoil_token, "logp_ref", -INFINITY, REF + LAST_UNMASKED },
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "KL", spoil_k3, "e^400", -400, OLD + LAST_UNMASKED },
        { GRPO_BAD_SHAPED_REWARD, AXIS_2, "reward", spoil_factor, "overlong_factor", 1e151, 0 },
        { GRPO_OK, 0, "", spoil_k3, "e^300", -300, OLD + LAST_UNMASKED },
        { GRPO_OK, 0, "", spoil_factor, "overlong_factor", 1e149, 0 },
        { GRPO_OK, 0, "", spoil_token, "masked logp_ref", -INFINITY, REF + MASKED },
    };
    size_t k;
    for (k = 0; k < sizeof shaped / sizeof *shaped; k++) check_fault(&shaped[k], shaped[k].path);
    for (k = 0; k < sizeof larger / sizeof *larger; k++) check_fault(&larger[k], larger[k].path);
}

static void spoil_given_weight(setup *s, const fault *f)
{
    s->objective.weight.given = GRPO_GIVEN_TERM;
    s->b.token[TOKEN_WEIGHT][f->where] = (grpo_real)f->value;
}

/* batch.weight */
static void check_given_weights(void)
{
    static const double bad[] = { NAN, INFINITY, -1e-30, -INFINITY };
    size_t k;
    fault f = { GRPO_BAD_TOKEN_WEIGHT, LOSSES, "batch.weight", spoil_given_weight, NULL, 0, LAST_UNMASKED };
    for (k = 0; k < sizeof bad / sizeof *bad; k++) { f.value = bad[k]; check_fault(&f, "weight"); }
    f.status = GRPO_OK;
    f.concerns = 0;
    f.names = "";
    f.value = 0;
    check_fault(&f, "weight");
    f.value = NAN;
    f.where = MASKED;
    check_fault(&f, "masked weight");
}

static void check_other_values(void)
{
    const double largest = sizeof(grpo_real) == 8 ? 1e150 : 3e38;
    const fault reward = { GRPO_BAD_REWARD, AXIS_2 | INFORMATIVE, "batch.reward", spoil_reward_at, NULL, 0, SEQUENCES - 1 };
    const fault empty_reward = { GRPO_BAD_REWARD, AXIS_2 | INFORMATIVE, "batch.reward", spoil_reward_at, NULL, 0, 2 };
    const fault baseline = { GRPO_BAD_BASELINE, AXIS_2, "batch.baseline", spoil_baseline_at, NULL, 0, GROUPS - 1 };
    const fault step = { GRPO_BAD_STEP_REWARD, AXIS_2, "batch.step_reward", spoil_step_reward_at, NULL, 0, LAST_UNMASKED };
    const fault unread = { GRPO_OK, 0, "", spoil_step_reward_unread, NULL, 0, LAST_UNMASKED };
    const fault advantage = { GRPO_BAD_ADVANTAGE, LOSSES, "advantage", spoil_advantage_at, NULL, 0, LAST_UNMASKED };
    const fault column = { GRPO_BAD_REWARDS, AXIS_2, "batch.rewards", spoil_reward_column, NULL, 0, SEQUENCES * REWARDS - 1 };
    const fault weight = { GRPO_BAD_REWARD_WEIGHT, AXIS_2, "batch.reward_weight", spoil_weight_of_column, NULL, 0, REWARDS - 1 };
    enum { OLD = TOKEN_OLD * TOKENS, TEACHER = TOKEN_TEACHER * TOKENS, ENTROPY = TOKEN_ENTROPY * TOKENS, REF = TOKEN_REF * TOKENS,
           ROLLOUT = TOKEN_ROLLOUT * TOKENS, SQUARES = TOKEN_SQUARES * TOKENS };
    const fault squares = { GRPO_BAD_PROBABILITY_SQUARES, AXIS_2, "batch.probability_squares", spoil_squares, NULL, 0, SQUARES + LAST_UNMASKED };
    const fault teacher = { GRPO_BAD_LOGP_TEACHER, AXIS_2, "batch.logp_teacher", spoil_token_of_teacher, NULL, 0, TEACHER + LAST_UNMASKED };
    const fault entropy = { GRPO_BAD_ENTROPY, AXIS_2 | LOSSES, "batch.entropy", spoil_token_of_entropy, NULL, 0, ENTROPY + LAST_UNMASKED };
    const fault other[] = {
        { GRPO_BAD_N_REWARDS, AXIS_2, "batch.n_rewards", spoil_n_rewards, NULL, 0, 0 },
        { GRPO_BAD_N_REWARDS, AXIS_2, "batch.n_rewards", spoil_n_rewards, NULL, -1, 0 },
        { GRPO_BAD_N_REWARDS, AXIS_2, "GRPO_MAX_REWARDS", spoil_n_rewards, NULL, GRPO_MAX_REWARDS + 1, 0 },
        { GRPO_OK, 0, "", spoil_n_rewards, NULL, 1, 0 },
        { GRPO_BAD_LOGP_TEACHER, AXIS_2, "batch.logp_old", spoil_token_of_teacher, NULL, -INFINITY, OLD + FIRST_UNMASKED },
        { GRPO_BAD_LOGP_OLD, WITH_OBJECTIVE, "batch.logp_old", spoil_token_of_teacher, NULL, INFINITY, OLD + FIRST_UNMASKED },
        { GRPO_OK, 0, "", spoil_token_of_teacher, NULL, NAN, TEACHER + MASKED },
        { GRPO_OK, 0, "", spoil_token, NULL, NAN, TEACHER + FIRST_UNMASKED },
        { GRPO_OK, 0, "", spoil_token_of_entropy, NULL, NAN, ENTROPY + MASKED },
        { GRPO_FEW_ITEMS, AXIS_2, "pass_k", spoil_pass_k, NULL, 3, 0 },
        { GRPO_FEW_ITEMS, AXIS_2, "pass_k", spoil_pass_k, NULL, 1e300, 1 },
        { GRPO_FEW_ITEMS, AXIS_2, "fewer items", spoil_pass_k_of_steps, NULL, 4, 0 },
        { GRPO_OK, 0, "", spoil_pass_k, NULL, 2, 0 },
        { GRPO_OK, 0, "", spoil_pass_k_of_steps, NULL, 3, 1 },
        { GRPO_BAD_LOGP_CENTRED, AXIS_2, "logp_ref", spoil_token_centred, NULL, -INFINITY, REF + FIRST_UNMASKED },
        { GRPO_BAD_LOGP_CENTRED, AXIS_2, "logp_rollout", spoil_token_centred, NULL, -INFINITY, ROLLOUT + LAST_UNMASKED },
        { GRPO_BAD_LOGP_CENTRED, AXIS_2, "kl_centred_coef", spoil_token_centred, NULL, NAN, ROLLOUT + FIRST_UNMASKED },
        { GRPO_OK, 0, "", spoil_token_centred, NULL, NAN, REF + MASKED },
        { GRPO_OK, 0, "", spoil_squares, NULL, NAN, SQUARES + MASKED },
        { GRPO_OK, 0, "", spoil_token, NULL, NAN, SQUARES + FIRST_UNMASKED },
        { GRPO_OK, 0, "", spoil_return, NULL, 1e37, 0 },
        { sizeof(grpo_real) == 8 ? GRPO_BAD_STEP_REWARD : GRPO_OK, sizeof(grpo_real) == 8 ? AXIS_2 : 0, sizeof(grpo_real) == 8 ? "return" : "",
          spoil_return, NULL, sizeof(grpo_real) == 8 ? 6e149 : 3e38, 0 },
        { GRPO_BAD_UNIT_REWARD, AXIS_2, "[0, 1]", spoil_unit_reward, NULL, 1.5, 2 },
        { GRPO_BAD_UNIT_REWARD, AXIS_2, "scale beta", spoil_unit_reward, NULL, -0.25, 0 },
        { GRPO_OK, 0, "", spoil_unit_reward, NULL, 0.25, 0 },
        { GRPO_BAD_UNIT_REWARD, AXIS_2, "rewards", spoil_unit_step, NULL, -1, LAST_UNMASKED },
        { GRPO_OK, 0, "", spoil_unit_step, NULL, 0, LAST_UNMASKED },
    };
    size_t k;
    fault masked = advantage;
    masked.where = MASKED;
    check_values(column, MODERATE, "a bad column of rewards");
    check_values(weight, MODERATE, "a bad weight of rewards");
    check_values(teacher, FINITE, "a bad teacher");
    check_values(squares, MODERATE, "bad squares of probabilities");
    check_values(entropy, FINITE, "a bad entropy that is read");
    for (k = 0; k < sizeof other / sizeof *other; k++) check_fault(&other[k], "rewards, teacher or k");
    check_values(reward, MODERATE, "a bad reward");
    check_values(empty_reward, MODERATE, "a bad reward of an empty sequence");
    check_values(baseline, MODERATE, "a bad baseline");
    check_values(step, MODERATE, "a bad step reward");
    check_values(advantage, FINITE, "a bad advantage");
    check_harmless(unread, NAN, "NaN where no step ends");
    check_harmless(masked, NAN, "a masked advantage of NaN");
    check_harmless(reward, largest, "the largest reward");
    check_harmless(reward, -largest, "the lowest reward");
}

/* ---- objectives ---------------------------------------------------------------------------------------------------------------- */

static const grpo_field *field_named(const char *path)
{
    int k, count;
    const grpo_field *f = grpo_fields(&count);
    for (k = 0; k < count; k++) if (!strcmp(f[k].path, path)) return &f[k];
    check(0, "no field %s", path);
    return f;
}

/* past grpo_objective_set, which would refuse */
static void put(grpo_objective *obj, const char *path, double value)
{
    const grpo_field *f = field_named(path);
    int choice = (int)(f->choices ? value : 0);
    if (f->choices) memcpy((char *)obj + f->offset, &choice, sizeof choice);
    else memcpy((char *)obj + f->offset, &value, sizeof value);
}

static void spoil_field(setup *s, const fault *f) { put(&s->objective, f->path, f->value); }

/* f->where: the kind */
static void spoil_surrogate(setup *s, const fault *f)
{
    s->objective.surrogate.kind = (grpo_surrogate_kind)f->where;
    s->objective.surrogate.dual = s->objective.surrogate.dual_pos = 3;
    s->objective.surrogate.weight_min = 1;
    s->objective.surrogate.weight_max = 2;
    s->objective.surrogate.tau_pos = s->objective.surrogate.tau_neg = 1;
    spoil_field(s, f);
}

/* f->where: the kind of rejection */
static void spoil_reject(setup *s, const fault *f)
{
    s->objective.weight.correction = GRPO_CORRECTION_NONE;
    s->objective.weight.reject = (grpo_reject_kind)f->where;
    s->objective.weight.reject_high = 2;
    spoil_field(s, f);
}

static void spoil_bounds(setup *s, const fault *f)
{
    s->objective.surrogate.bounds = GRPO_BOUNDS_PROBABILITY;
    spoil_field(s, f);
}

/* the functions of grpo.h refuse the unit itself, without looking further */
static void check_bounds(void)
{
    static setup s;
    const fault token = { GRPO_OK, 0, "", spoil_bounds, "ratio.unit", GRPO_UNIT_TOKEN, 0 };
    int unit;
    check_fault(&token, "bounds by probability");
    for (unit = GRPO_UNIT_SEQUENCE_MEAN; unit <= GRPO_UNIT_SEQUENCE_CLIPPED_MEAN; unit++) {
        setup_make(&s);
        s.objective.surrogate.bounds = GRPO_BOUNDS_PROBABILITY;
        s.objective.ratio.unit = (grpo_unit_kind)unit;
        s.objective.ratio.power = 1;
        check_status("grpo_objective_check", "bounds of a sequence", call_check(&s), GRPO_BAD_COMBINATION, "do not go together");
        check_status("gspo_loss", "bounds of a sequence", call_gspo_loss(&s), GRPO_BAD_COMBINATION, "choices");
        check_status("grpo_count", "bounds of a sequence", call_count(&s), GRPO_BAD_COMBINATION, "choices");
        check(!memcmp(&s.out, &s.before, sizeof s.out), "bounds of a sequence: something was written");
        setup_free(&s);
    }
}

static void spoil_future(setup *s, const fault *f)
{
    grpo_weight *w = &s->objective.weight;
    w->future = GRPO_FUTURE_DECAYED;
    w->future_half_life = 32;
    w->future_low = w->future_high = 1;
    w->future_safe_low = 0.8; w->future_safe_high = 1;
    put(&s->objective, f->path, f->value);
}

static void spoil_position(setup *s, const fault *f)
{
    s->objective.surrogate.bounds = GRPO_BOUNDS_POSITION;
    s->objective.surrogate.kind = (grpo_surrogate_kind)f->where;
    s->objective.surrogate.log_dual = 0.05;
    s->objective.surrogate.shape = 1;
    put(&s->objective, f->path, f->value);
}

static void spoil_pool(setup *s, const fault *f)
{
    s->objective.ratio.pool_low = s->objective.ratio.pool_high = 0.4;
    spoil_field(s, f);
}

static void spoil_drift(setup *s, const fault *f)
{
    s->objective.weight.drift = GRPO_DRIFT_TOKEN;
    s->objective.weight.drift_high = 2;
    spoil_field(s, f);
}

static void spoil_constant(setup *s, const fault *f)
{
    s->objective.aggregation.kind = f->where ? GRPO_CONSTANT : GRPO_SEQ_MEAN_CONSTANT;
    spoil_field(s, f);
}

static void check_objectives(void)
{
    static const fault bad[] = {
        { GRPO_BAD_OVERLONG, OBJECTIVE, "objective.reward: overlong", spoil_field, "reward.overlong_cache", 0, 0 },
        { GRPO_BAD_OVERLONG, OBJECTIVE, "overlong_cache", spoil_field, "reward.overlong_cache", 9, 0 },
        { GRPO_BAD_OVERLONG, OBJECTIVE, "overlong_max", spoil_field, "reward.overlong_max", 3, 0 },
        { GRPO_BAD_OVERLONG, OBJECTIVE, "overlong_max", spoil_field, "reward.overlong_cache", -1, 0 },
        { GRPO_BAD_GAMMA, OBJECTIVE, "gamma", spoil_field, "advantage.gamma", 1.01, 0 },
        { GRPO_BAD_GAMMA, OBJECTIVE, "gamma", spoil_field, "advantage.gamma", -0.01, 0 },
        { GRPO_BAD_GAMMA, OBJECTIVE, "lambda", spoil_field, "advantage.lambda", 1.01, 0 },
        { GRPO_BAD_GAMMA, OBJECTIVE, "lambda", spoil_field, "advantage.lambda", -0.01, 0 },
        { GRPO_BAD_EPS, OBJECTIVE, "advantage.eps", spoil_field, "advantage.eps", -1e-9, 0 },
        { GRPO_BAD_EPS, OBJECTIVE, "second_eps", spoil_field, "advantage.second_eps", -1e-9, 0 },
        { GRPO_BAD_EPS, OBJECTIVE, "scale constant", spoil_field, "advantage.scale", GRPO_SCALE_CONSTANT, 0 },
        { GRPO_BAD_CLAMP, OBJECTIVE, "objective.ratio", spoil_field, "ratio.clamp_low", 1, 0 },
        { GRPO_BAD_CLAMP, OBJECTIVE, "clamp", spoil_field, "ratio.clamp_high", -1, 0 },
        { GRPO_BAD_CLAMP, OBJECTIVE, "clamp", spoil_field, "ratio.unit_clamp_low", 1, 0 },
        { GRPO_BAD_CLAMP, OBJECTIVE, "clamp", spoil_field, "ratio.unit_clamp_high", -1, 0 },
        { GRPO_BAD_CLIP, OBJECTIVE, "eps_low", spoil_field, "surrogate.eps_low", -0.1, 0 },
        { GRPO_BAD_CLIP, OBJECTIVE, "eps_high", spoil_field, "surrogate.eps_high", -0.1, 0 },
        { GRPO_BAD_DUAL, OBJECTIVE, "surrogate.dual", spoil_surrogate, "surrogate.dual", 1.2, GRPO_SURROGATE_DUAL_CLIP },
        { GRPO_BAD_DUAL, OBJECTIVE, "surrogate.dual", spoil_surrogate, "surrogate.dual", 0, GRPO_SURROGATE_DUAL_CLIP },
        { GRPO_BAD_DUAL, OBJECTIVE, "gppo", spoil_surrogate, "surrogate.dual", 1.2, GRPO_SURROGATE_GPPO },
        { GRPO_BAD_DUAL, OBJECTIVE, "gppo", spoil_surrogate, "surrogate.dual", -1, GRPO_SURROGATE_GPPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.dual", 0, GRPO_SURROGATE_GPPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.dual", 1.25, GRPO_SURROGATE_GPPO },
        { GRPO_BAD_DUAL, OBJECTIVE, "aspo", spoil_surrogate, "surrogate.dual", 1, GRPO_SURROGATE_ASPO },
        { GRPO_BAD_DUAL, OBJECTIVE, "dual_pos", spoil_surrogate, "surrogate.dual_pos", 1, GRPO_SURROGATE_ASPO },
        { GRPO_BAD_DUAL, OBJECTIVE, "dual_pos", spoil_surrogate, "surrogate.dual_pos", -3, GRPO_SURROGATE_ASPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.dual", 0, GRPO_SURROGATE_ASPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.dual_pos", 0, GRPO_SURROGATE_ASPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.dual", 1.1, GRPO_SURROGATE_ASPO },
        { GRPO_BAD_CLIP, OBJECTIVE, "bound_cap", spoil_surrogate, "surrogate.bound_cap", -1, GRPO_SURROGATE_PPO_CLIP },
        { GRPO_BAD_BETA, OBJECTIVE, "beta_low", spoil_surrogate, "surrogate.beta_low", -0.1, GRPO_SURROGATE_GPPO },
        { GRPO_BAD_BETA, OBJECTIVE, "beta_high", spoil_surrogate, "surrogate.beta_high", -0.1, GRPO_SURROGATE_GPPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", 2.5, GRPO_SURROGATE_CISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", -0.5, GRPO_SURROGATE_CISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_max", spoil_surrogate, "surrogate.weight_max", 0.5, GRPO_SURROGATE_CISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", 2.5, GRPO_SURROGATE_TOPR },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", -0.5, GRPO_SURROGATE_TOPR },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_max", spoil_surrogate, "surrogate.weight_max", 0.5, GRPO_SURROGATE_TOPR },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", 2.5, GRPO_SURROGATE_BAND },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", -0.5, GRPO_SURROGATE_BAND },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_max", spoil_surrogate, "surrogate.weight_max", 0.5, GRPO_SURROGATE_BAND },
        { GRPO_BAD_TAU, OBJECTIVE, "tau_pos", spoil_surrogate, "surrogate.tau_pos", 0, GRPO_SURROGATE_SAPO },
        { GRPO_BAD_TAU, OBJECTIVE, "tau_neg", spoil_surrogate, "surrogate.tau_neg", -1, GRPO_SURROGATE_SAPO },
        { GRPO_BAD_TAU, OBJECTIVE, "tau_pos", spoil_surrogate, "surrogate.tau_pos", 0, GRPO_SURROGATE_SAPO_DETACHED },
        { GRPO_BAD_TAU, OBJECTIVE, "tau_neg", spoil_surrogate, "surrogate.tau_neg", -1, GRPO_SURROGATE_SAPO_DETACHED },
        { GRPO_BAD_MARGIN, OBJECTIVE, "surrogate.margin", spoil_field, "surrogate.margin", -0.1, 0 },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "weight_min", spoil_surrogate, "surrogate.weight_min", 2.5, GRPO_SURROGATE_DISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "dispo", spoil_surrogate, "surrogate.weight_min_neg", 0.5, GRPO_SURROGATE_DISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "dispo", spoil_surrogate, "surrogate.weight_min_neg", -0.5, GRPO_SURROGATE_DISPO },
        { GRPO_BAD_WEIGHT_RANGE, OBJECTIVE, "dispo", spoil_surrogate, "surrogate.weight_max_neg", -0.5, GRPO_SURROGATE_DISPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.weight_max_neg", HUGE_VAL, GRPO_SURROGATE_DISPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.weight_min_neg", 0.5, GRPO_SURROGATE_CISPO },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.shift", -3, GRPO_SURROGATE_LOGISTIC },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_surrogate, "surrogate.shift", HUGE_VAL, GRPO_SURROGATE_LOGISTIC },
        { GRPO_BAD_SURROGATE_SHAPE, OBJECTIVE, "surrogate.shape", spoil_surrogate, "surrogate.shape", 0, GRPO_SURROGATE_SHAPED },
        { GRPO_BAD_SURROGATE_SHAPE, OBJECTIVE, "shaped", spoil_surrogate, "surrogate.shape", -1, GRPO_SURROGATE_SHAPED },
        { GRPO_OK, 0, "", spoil_surrogate, "surrogate.shape", 5e-324, GRPO_SURROGATE_SHAPED },
        { GRPO_OK, 0, "", spoil_field, "surrogate.shape", -1, 0 },
        { GRPO_BAD_POSITION, OBJECTIVE, "log_low", spoil_field, "surrogate.log_low", -0.1, 0 },
        { GRPO_BAD_POSITION, OBJECTIVE, "log_high", spoil_field, "surrogate.log_high", -0.1, 0 },
        { GRPO_BAD_POSITION, OBJECTIVE, "log_dual", spoil_field, "surrogate.log_dual", -0.1, 0 },
        { GRPO_BAD_POSITION, OBJECTIVE, "position_power", spoil_field, "surrogate.position_power", -16.1, 0 },
        { GRPO_BAD_POSITION, OBJECTIVE, "position_power", spoil_field, "surrogate.position_power", 16.1, 0 },
        { GRPO_OK, 0, "", spoil_position, "surrogate.log_high", 0.05, GRPO_SURROGATE_DUAL_CLIP },
        { GRPO_BAD_POSITION, OBJECTIVE, "log_dual", spoil_position, "surrogate.log_high", 0.06, GRPO_SURROGATE_DUAL_CLIP },
        { GRPO_OK, 0, "", spoil_position, "surrogate.log_high", HUGE_VAL, GRPO_SURROGATE_PPO_CLIP },
        { GRPO_OK, 0, "", spoil_position, "surrogate.dual", 0, GRPO_SURROGATE_DUAL_CLIP },
        { GRPO_BAD_COMBINATION, OBJECTIVE, "choices", spoil_position, "surrogate.log_high", 0.05, GRPO_SURROGATE_GPPO },
        { GRPO_BAD_COMBINATION, OBJECTIVE, "choices", spoil_position, "surrogate.log_high", 0.05, GRPO_SURROGATE_SHAPED },
        { GRPO_BAD_MARGIN, OBJECTIVE, "penalty.pair_margin", spoil_field, "penalty.pair_margin", -0.1, 0 },
        { GRPO_BAD_DRIFT, OBJECTIVE, "drift_low", spoil_drift, "weight.drift_low", -0.1, 0 },
        { GRPO_BAD_DRIFT, OBJECTIVE, "drift_low", spoil_drift, "weight.drift_low", 2.5, 0 },
        { GRPO_BAD_DRIFT, OBJECTIVE, "drift_high", spoil_drift, "weight.drift_high", 0, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_drift, "weight.drift_low", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_drift, "weight.drift_high", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "weight.drift_low", 3, 0 },
        { GRPO_BAD_KL_CLAMP, OBJECTIVE, "kl_ratio_max", spoil_field, "penalty.kl_ratio_max", -1, 0 },
        { GRPO_BAD_TRUST, OBJECTIVE, "trust_low", spoil_field, "weight.trust_low", -0.1, 0 },
        { GRPO_BAD_TRUST, OBJECTIVE, "trust_high", spoil_field, "weight.trust_high", -0.1, 0 },
        { GRPO_BAD_TRUST, OBJECTIVE, "ring_low", spoil_field, "weight.ring_low", -0.1, 0 },
        { GRPO_BAD_TRUST, OBJECTIVE, "ring_high", spoil_field, "weight.ring_high", -0.1, 0 },
        { GRPO_OK, 0, "", spoil_field, "weight.ring_high", HUGE_VAL, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_half_life", spoil_future, "weight.future_half_life", 0, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_half_life", spoil_future, "weight.future_half_life", -1, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_max", spoil_future, "weight.future_max", -1, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_low", spoil_future, "weight.future_low", -0.1, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_high", spoil_future, "weight.future_high", 0.5, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_safe", spoil_future, "weight.future_safe", -4, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_safe_low", spoil_future, "weight.future_safe_low", -0.5, 0 },
        { GRPO_BAD_FUTURE, OBJECTIVE, "future_safe_high", spoil_future, "weight.future_safe_high", 0.5, 0 },
        { GRPO_OK, 0, "", spoil_future, "weight.future_high", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_future, "weight.future_max", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "weight.future_half_life", -1, 0 },
        { GRPO_BAD_REJECT, OBJECTIVE, "veto", spoil_field, "weight.veto", -0.1, 0 },
        { GRPO_BAD_REJECT, OBJECTIVE, "reject_low", spoil_reject, "weight.reject_low", 3, GRPO_REJECT_K2 },
        { GRPO_BAD_REJECT, OBJECTIVE, "reject_high", spoil_reject, "weight.reject_high", -1, GRPO_REJECT_PROBABILITY },
        { GRPO_BAD_REJECT, OBJECTIVE, "reject_low", spoil_reject, "weight.reject_low", -0.1, GRPO_REJECT_RATIO },
        { GRPO_OK, 0, "", spoil_reject, "weight.reject_low", -0.1, GRPO_REJECT_PROBABILITY },
        { GRPO_OK, 0, "", spoil_reject, "weight.reject_low", 3, GRPO_REJECT_NONE },
        { GRPO_BAD_CORRECTION, OBJECTIVE, "correction_clamp", spoil_reject, "weight.correction_clamp", -1, GRPO_REJECT_K3 },
        { GRPO_OK, 0, "", spoil_reject, "weight.correction_clamp", -1, GRPO_REJECT_NONE },
        { GRPO_BAD_POOL, OBJECTIVE, "pool_low", spoil_pool, "ratio.pool_low", -0.4, 0 },
        { GRPO_BAD_POOL, OBJECTIVE, "pool_high", spoil_pool, "ratio.pool_high", -0.4, 0 },
        { GRPO_OK, 0, "", spoil_field, "ratio.power", -1, 0 },
        { GRPO_BAD_CORRECTION, OBJECTIVE, "correction_low", spoil_field, "weight.correction_low", 3, 0 },
        { GRPO_BAD_CORRECTION, OBJECTIVE, "correction_low", spoil_field, "weight.correction_low", -1, 0 },
        { GRPO_BAD_CORRECTION, OBJECTIVE, "correction_high", spoil_field, "weight.correction_high", -1, 0 },
        { GRPO_BAD_CONSTANT, OBJECTIVE, "aggregation.constant", spoil_constant, "aggregation.constant", 0, 0 },
        { GRPO_BAD_CONSTANT, OBJECTIVE, "aggregation.constant", spoil_constant, "aggregation.constant", -1, 1 },
        { GRPO_BAD_CONSTANT, OBJECTIVE, "aggregation.constant", spoil_constant, "aggregation.constant", 1e300, 0 },
        { GRPO_BAD_CORRECTION, OBJECTIVE, "correction_clamp", spoil_field, "weight.correction_clamp", -1, 0 },
        { GRPO_BAD_KL_CLAMP, OBJECTIVE, "kl_clamp_log", spoil_field, "penalty.kl_clamp_log", -1, 0 },
        { GRPO_BAD_KL_CLAMP, OBJECTIVE, "kl_clamp_value", spoil_field, "penalty.kl_clamp_value", -1, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_field, "penalty.kl_coef", HUGE_VAL, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_field, "reward.map_bias", -HUGE_VAL, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_field, "advantage.shift", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "advantage.advantage_high", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "advantage.advantage_low", -HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "reward.map_high", HUGE_VAL, 0 },
        { GRPO_OK, 0, "", spoil_field, "reward.map_low", -HUGE_VAL, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_field, "surrogate.tau_pos", HUGE_VAL, 0 },
        { GRPO_BAD_NUMBER, OBJECTIVE, "infinite", spoil_field, "advantage.eps", HUGE_VAL, 0 },
    };
    size_t k;
    for (k = 0; k < sizeof bad / sizeof *bad; k++) check_fault(&bad[k], bad[k].path);
}

/* a field and the choice that reads it */
typedef struct { const char *path, *choice, *field; double low, high; grpo_status status; } ranged;

/* inside the range all is well, outside of it is the status, and nobody minds while the choice is another */
static void check_range(const ranged *x, double value, int inside)
{
    const char *names = strchr(x->field, '.') + 1;
    grpo_objective obj;
    hungry_objective(&obj);
    put(&obj, x->field, value);
    check(!x->path || grpo_objective_check(&obj) == GRPO_OK, "%s %g is minded where it is not read", x->field, value);
    if (x->path) choose(&obj, x->path, x->choice);
    check_status("grpo_objective_check", x->field, grpo_objective_check(&obj), inside ? GRPO_OK : x->status, inside ? "" : names);
}

static void check_advantage_numbers(void)
{
    static const double inf = HUGE_VAL, least = 4.9406564584124654e-324;
    const ranged number[] = {
        { "reward.length", "cosine", "reward.length_max", least, inf, GRPO_BAD_LENGTH_MAX },
        { "reward.map", "affine", "reward.map_low", -inf, 0, GRPO_BAD_MAP },
        { "reward.map", "affine", "reward.map_high", 0, inf, GRPO_BAD_MAP },
        { "advantage.transform", "pass_at_k", "advantage.pass_k", 1, inf, GRPO_BAD_PASS_K },
        { "advantage.transform", "pkpo", "advantage.pass_k", 1, inf, GRPO_BAD_PASS_K },
        { "advantage.baseline", "quantile", "advantage.quantile", 0, 1, GRPO_BAD_QUANTILE },
        { "advantage.baseline", "quantile_linear", "advantage.quantile", 0, 1, GRPO_BAD_QUANTILE },
        { "advantage.baseline", "log_mean_exp", "advantage.temperature", least, inf, GRPO_BAD_TEMPERATURE },
        { "advantage.baseline", "densest", "advantage.window", least, 1, GRPO_BAD_WINDOW },
        { "advantage.gain", "length_power", "advantage.length_power", -16, 16, GRPO_BAD_LENGTH_POWER },
        { "advantage.entropy", "bonus", "advantage.entropy_cap", least, inf, GRPO_BAD_ENTROPY_CAP },
        { "advantage.transform", "pkpo_max", "advantage.pass_k", 1, inf, GRPO_BAD_PASS_K },
        { "advantage.transform", "pkpo_gain", "advantage.pass_k", 1, inf, GRPO_BAD_PASS_K },
        { NULL, NULL, "advantage.lambda_length", 0, inf, GRPO_BAD_LAMBDA_LENGTH },
        { "advantage.entropy", "response", "advantage.entropy_cap", 0, inf, GRPO_BAD_ENTROPY_CAP },
        { NULL, NULL, "advantage.truncated_tail", 0, inf, GRPO_BAD_TAIL },
        { NULL, NULL, "advantage.teacher_share", 0, 1, GRPO_BAD_TEACHER },
        { NULL, NULL, "advantage.teacher_gamma", 0, 1, GRPO_BAD_TEACHER },
        { NULL, NULL, "advantage.teacher_clip", 0, inf, GRPO_BAD_TEACHER },
        { NULL, NULL, "advantage.advantage_low", -inf, 0, GRPO_BAD_ADVANTAGE_CLAMP },
        { NULL, NULL, "advantage.advantage_high", 0, inf, GRPO_BAD_ADVANTAGE_CLAMP },
    };
    size_t k;
    for (k = 0; k < sizeof number / sizeof *number; k++) {
        const ranged *x = &number[k];
        double below = x->low == least ? 0 : x->low == 0 ? -least : x->low == 1 ? 0 : x->low * (1 + 1e-15);
        if (x->low > -inf) { check_range(x, below, 0); check_range(x, x->low == least ? 0.5 : x->low, 1); }
        if (x->high < inf) { check_range(x, x->high == 0 ? least : x->high * (1 + 1e-15), 0); check_range(x, x->high, 1); }
    }
    check_range(&number[3], 1.5, 0);
    check_range(&number[3], 7, 1);
    for (k = 0; k < sizeof number / sizeof *number; k++) {
        const ranged *x = &number[k];
        if (!strcmp(x->field, "advantage.truncated_tail")) { check_range(x, 1.5, 0); check_range(x, 8, 1); check_range(x, 1e300, 1); }
        if (!strcmp(x->field, "advantage.teacher_clip")) { check_range(x, 1, 0); check_range(x, 0.9375, 1); }
    }
}

static void check_noise(double process, double observation, grpo_status expected)
{
    grpo_objective obj;
    hungry_objective(&obj);
    obj.advantage.process_noise = process;
    obj.advantage.observation_noise = observation;
    check(grpo_objective_check(&obj) == GRPO_OK, "noise is minded without a filter");
    choose(&obj, "advantage.baseline", "kalman");
    check_status("grpo_objective_check", "noise", grpo_objective_check(&obj), expected, expected ? "process_noise" : "");
    check_status("grpo_objective_check", "noise", grpo_objective_check(&obj), expected, expected ? "observation_noise" : "");
}

/* numbers that only steps, gain exponential and credit entropy_share read, from an objective that is sound */
static void check_new_number(const char *path, const char *choice, const char *field, double value, grpo_status status)
{
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    obj.advantage.history = obj.advantage.gain_temperature = obj.advantage.share_eps = 1;
    put(&obj, field, value);
    check(grpo_objective_check(&obj) == GRPO_OK, "%s %g is minded where it is not read", field, value);
    choose(&obj, path, choice);
    check_status("grpo_objective_check", field, grpo_objective_check(&obj), status, status ? strchr(field, '.') + 1 : "");
}

static void check_failure_power(void)
{
    static const struct { double low, high, power; grpo_status status; } row[] = {
        { 0, 1, 1, GRPO_OK }, { 0, 1, 0, GRPO_OK }, { -2, -1, 1e300, GRPO_OK }, { 0, 1, -1e-300, GRPO_BAD_GAIN_POWER },
        { 1, 1, 1, GRPO_BAD_GAIN_POWER }, { 1, 0, 1, GRPO_BAD_GAIN_POWER } };
    size_t k;
    for (k = 0; k < sizeof row / sizeof *row; k++) {
        grpo_objective obj;
        memset(&obj, 0, sizeof obj);
        obj.advantage.gain_low = row[k].low; obj.advantage.gain_high = row[k].high; obj.advantage.gain_power = row[k].power;
        check(grpo_objective_check(&obj) == GRPO_OK, "gain_power %g is minded where it is not read", row[k].power);
        choose(&obj, "advantage.gain", "failure_power");
        check_status("grpo_objective_check", "failure_power", grpo_objective_check(&obj), row[k].status, row[k].status ? "gain_power" : "");
    }
}

static void check_surrogate_numbers(void)
{
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    choose(&obj, "surrogate.kind", "quadratic");
    check_status("grpo_objective_check", "quadratic, 0", grpo_objective_check(&obj), GRPO_BAD_QUADRATIC, "eps_high");
    obj.surrogate.eps_high = 1e-300;
    check_status("grpo_objective_check", "quadratic", grpo_objective_check(&obj), GRPO_OK, "");
    choose(&obj, "surrogate.kind", "unbounded_positive");
    obj.surrogate.dual = 1;
    check_status("grpo_objective_check", "unbounded_positive, dual 1", grpo_objective_check(&obj), GRPO_BAD_DUAL, "dual");
    obj.surrogate.dual = 1.5;
    check_status("grpo_objective_check", "unbounded_positive", grpo_objective_check(&obj), GRPO_OK, "");
    obj.penalty.pair_gain = -1e-300;
    check_status("grpo_objective_check", "pair_gain", grpo_objective_check(&obj), GRPO_BAD_PAIR_GAIN, "pair_gain");
    obj.penalty.pair_gain = 0;
    obj.surrogate.score_eps = -1e-300;
    check_status("grpo_objective_check", "score_eps", grpo_objective_check(&obj), GRPO_BAD_SCORE_EPS, "score_eps");
}

static void check_new_numbers(void)
{
    static const struct { double value; grpo_status status; } history[] = {
        { 1, GRPO_OK }, { 7, GRPO_OK }, { 1e300, GRPO_OK }, { 0, GRPO_BAD_HISTORY }, { -1, GRPO_BAD_HISTORY }, { 1.5, GRPO_BAD_HISTORY } };
    size_t k;
    for (k = 0; k < 6; k++) check_new_number("advantage.step_group", "history", "advantage.history", history[k].value, history[k].status);
    check_new_number("advantage.step_group", "history", "advantage.history_power", 16.5, GRPO_BAD_HISTORY);
    check_new_number("advantage.step_group", "history", "advantage.history_power", -16.5, GRPO_BAD_HISTORY);
    check_new_number("advantage.step_group", "history", "advantage.history_power", -16, GRPO_OK);
    check_new_number("advantage.gain", "exponential", "advantage.gain_temperature", 0, GRPO_BAD_GAIN_TEMPERATURE);
    check_new_number("advantage.gain", "exponential", "advantage.gain_temperature", -1e-300, GRPO_OK);
    check_new_number("advantage.credit", "entropy_share", "advantage.share_eps", 0, GRPO_BAD_SHARE);
    check_new_number("advantage.credit", "entropy_share", "advantage.share_eps", -1, GRPO_BAD_SHARE);
    check_new_number("advantage.credit", "entropy_share", "advantage.share_eps", 1e-300, GRPO_OK);
    check_failure_power();
    check_surrogate_numbers();
}

/* up to four choices beside the first ones, as path and choice */
typedef struct { grpo_status status; const char *choice[8]; } combination;

/* a tail is one of returns */
static void check_tails(void)
{
    grpo_objective obj;
    int credit;
    for (credit = GRPO_CREDIT_OUTCOME; credit <= GRPO_CREDIT_STEP_GAE; credit++) {
        const int tails = credit == GRPO_CREDIT_RETURN || credit == GRPO_CREDIT_GAE || credit == GRPO_CREDIT_STEP_GAE;
        memset(&obj, 0, sizeof obj);
        obj.advantage.truncated_tail = 1;
        obj.advantage.share_eps = 1;
        obj.advantage.credit = (grpo_credit_kind)credit;
        check_status("grpo_objective_check", "a tail", grpo_objective_check(&obj),
                     tails ? GRPO_OK : GRPO_BAD_COMBINATION, "");
    }
}

static void check_combinations(void)
{
    static const combination row[] = {
        { GRPO_OK, { "advantage.rewards", "each" } },
        { GRPO_OK, { "advantage.rewards", "each", "advantage.scale", "group_std", "advantage.second", "batch" } },
        { GRPO_OK, { "advantage.rewards", "each", "advantage.scale", "group_mean", "advantage.baseline", "batch_mean" } },
        { GRPO_OK, { "advantage.rewards", "each", "advantage.scale", "constant", "reward.truncated", "scale" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "reward.length", "kimi" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "reward.overlong", "soft" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "reward.map", "affine" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "reward.kl", "k1" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.credit", "return" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.transform", "pkpo" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.gain", "valid_groups" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.scale", "batch_std" } },
        { GRPO_OK, { "advantage.rewards", "each", "advantage.scale", "leave_one_out_std", "advantage.second", "tokens" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.scale", "beta" } },
        { GRPO_BAD_COMBINATION, { "advantage.scale", "beta", "advantage.transform", "pkpo_max" } },
        { GRPO_BAD_COMBINATION, { "advantage.scale", "beta", "advantage.second", "tokens" } },
        { GRPO_OK, { "advantage.scale", "beta", "advantage.baseline", "group_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "tokens", "advantage.scale", "token_whiten" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "tokens", "advantage.gain", "exponential" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "state", "advantage.baseline", "length_weighted" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "index", "advantage.scale", "batch_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "history", "advantage.gain", "valid_groups" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "history", "advantage.second", "tokens" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "state", "advantage.transform", "pkpo" } },
        { GRPO_OK, { "advantage.step_group", "history", "advantage.baseline", "leave_one_out", "advantage.credit", "step" } },
        { GRPO_BAD_COMBINATION, { "advantage.gain", "length_power", "advantage.credit", "step_own" } },
        { GRPO_OK, { "advantage.credit", "step_gae", "advantage.step_group", "state", "advantage.scale", "group_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_gae", "advantage.bootstrap", "repeat" } },
        { GRPO_OK, { "advantage.credit", "gae", "advantage.bootstrap", "repeat" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_gae", "advantage.step_discount", "steps" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_gae", "advantage.gain", "length_power" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_gae", "advantage.step_group", "state", "advantage.baseline", "batch_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_gae", "advantage.rewards", "each" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "episode_step", "advantage.transform", "pkpo" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "episode_step", "advantage.scale", "batch_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "episode_step", "advantage.baseline", "batch_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "episode_step", "advantage.gain", "exponential" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "episode_step", "advantage.second", "batch" } },
        { GRPO_OK, { "advantage.credit", "episode_step", "advantage.second", "tokens", "advantage.scale", "residual_rms" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "entropy_share", "advantage.baseline", "group_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "entropy_share", "advantage.scale", "group_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "entropy_share", "advantage.gain", "exponential" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "entropy_share", "advantage.transform", "pkpo" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "entropy_share", "advantage.rewards", "each" } },
        { GRPO_OK, { "advantage.credit", "entropy_share", "advantage.second", "tokens" } },
        { GRPO_BAD_COMBINATION, { "advantage.scale", "kalman_std" } },
        { GRPO_OK, { "advantage.scale", "kalman_std", "advantage.baseline", "kalman" } },
        { GRPO_BAD_COMBINATION, { "advantage.gain", "length_power", "advantage.credit", "step" } },
        { GRPO_OK, { "advantage.gain", "length_power", "advantage.credit", "gae" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.baseline", "batch_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.scale", "batch_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.scale", "batch_centred_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.scale", "token_whiten" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.gain", "difficulty" } },
        { GRPO_OK, { "advantage.second", "batch", "advantage.scale", "residual_rms", "advantage.credit", "step" } },
        { GRPO_BAD_COMBINATION, { "advantage.entropy", "zero_variance", "advantage.credit", "gae" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "variance" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "labels" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "balance" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "pairs" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "contrast" } },
        { GRPO_OK, { "surrogate.kind", "variance", "ratio.unit", "sequence_sum" } },
        { GRPO_OK, { "surrogate.kind", "labels", "ratio.unit", "sequence_clipped_mean" } },
        { GRPO_OK, { "surrogate.kind", "contrast", "ratio.unit", "sequence_mean", "ratio.against", "nothing" } },
        { GRPO_OK, { "advantage.entropy", "bonus", "advantage.credit", "gae" } },
        { GRPO_BAD_COMBINATION, { "advantage.baseline", "batch_mean", "advantage.scale", "token_whiten", "advantage.credit", "return" } },
        { GRPO_BAD_COMBINATION, { "advantage.baseline", "batch_mean", "advantage.scale", "token_whiten", "advantage.gain", "difficulty" } },
        { GRPO_OK, { "advantage.baseline", "batch_mean", "advantage.scale", "token_whiten", "advantage.gain", "valid_groups" } },
        { GRPO_BAD_COMBINATION, { "ratio.mix", "average" } },
        { GRPO_BAD_COMBINATION, { "ratio.mix", "weighted", "ratio.gradient", "token" } },
        { GRPO_OK, { "ratio.mix", "weighted", "ratio.unit", "prefix_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "variance", "ratio.unit", "sequence_mean", "ratio.mix", "average" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "variance", "ratio.unit", "segment_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "balance", "ratio.unit", "prefix_sum" } },
        { GRPO_OK, { "surrogate.kind", "pairs", "ratio.unit", "sequence_mean_ratio" } },
        { GRPO_OK, { "surrogate.kind", "contrast_lse", "ratio.unit", "sequence_mean_ratio", "surrogate.score", "ratio" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "contrast_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "contrast_lse", "ratio.unit", "segment_sum" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "soft_pairs", "ratio.unit", "prefix_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "match" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "match_js", "ratio.unit", "sequence_mean", "ratio.mix", "average" } },
        { GRPO_OK, { "surrogate.kind", "variance", "ratio.unit", "sequence_clipped_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "standardised" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "hinge" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "target", "ratio.unit", "sequence_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "target", "ratio.unit", "sequence_clipped_mean", "ratio.against", "nothing" } },
        { GRPO_OK, { "surrogate.kind", "target", "ratio.unit", "sequence_sum", "ratio.against", "nothing" } },
        { GRPO_BAD_COMBINATION, { "advantage.rewards", "each", "advantage.scale", "mean_deviation" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_group", "index", "advantage.scale", "mean_deviation" } },
        { GRPO_BAD_COMBINATION, { "advantage.second", "batch", "advantage.gain", "failure_power" } },
        { GRPO_BAD_COMBINATION,
          { "advantage.baseline", "batch_mean", "advantage.scale", "token_whiten", "advantage.gain", "failure_power" } },
        { GRPO_OK, { "advantage.baseline", "group_mean", "advantage.scale", "mean_deviation", "advantage.gain", "failure_power" } },
        { GRPO_OK, { "surrogate.kind", "ppo_clip", "surrogate.bounds", "position", "ratio.unit", "prefix_sum" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "ratio", "surrogate.bounds", "position" } },
        { GRPO_OK, { "surrogate.kind", "ppo_clip", "surrogate.bounds", "given" } },
        { GRPO_OK, { "surrogate.kind", "gppo", "surrogate.bounds", "given" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "ppo_clip", "surrogate.bounds", "given", "ratio.unit", "sequence_mean" } },
        { GRPO_BAD_COMBINATION, { "surrogate.kind", "aspo", "surrogate.bounds", "given" } },
        { GRPO_BAD_COMBINATION, { "surrogate.bounds", "given" } },
        { GRPO_OK, { "advantage.credit", "step", "advantage.step_discount", "steps" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "step_own", "advantage.step_discount", "steps" } },
        { GRPO_BAD_COMBINATION, { "advantage.step_discount", "steps" } },
        { GRPO_OK, { "advantage.credit", "prefix_tree", "advantage.baseline", "leave_one_out", "advantage.scale", "group_std" } },
        { GRPO_OK, { "advantage.credit", "prefix_tree", "advantage.entropy", "response", "advantage.scale", "constant" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.baseline", "length_weighted" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.scale", "token_whiten" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.second", "tokens" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.gain", "exponential" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.transform", "pkpo" } },
        { GRPO_BAD_COMBINATION, { "advantage.credit", "prefix_tree", "advantage.rewards", "each" } },
        { GRPO_OK, { "advantage.outside", "own", "advantage.baseline", "group_mean", "advantage.scale", "group_std" } },
        { GRPO_OK, { "advantage.outside", "anchor", "advantage.scale", "constant", "advantage.entropy", "bonus" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.credit", "return" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.credit", "prefix_tree" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.rewards", "each" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.baseline", "batch_mean" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.scale", "batch_std" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.second", "batch" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.gain", "difficulty" } },
        { GRPO_BAD_COMBINATION, { "advantage.outside", "zero", "advantage.transform", "pass_at_k" } },
        { GRPO_OK, { "penalty.likelihood_form", "lost", "penalty.likelihood_gate", "segment" } },
        { GRPO_BAD_COMBINATION, { "penalty.likelihood_form", "teacher_gap", "penalty.likelihood_gate", "sequence" } },
        { GRPO_BAD_COMBINATION, { "penalty.likelihood_gate", "segment" } },
    };
    size_t k;
    int c;
    for (k = 0; k < sizeof row / sizeof *row; k++) {
        grpo_objective obj;
        memset(&obj, 0, sizeof obj);
        obj.reward.overlong_max = obj.reward.overlong_cache = obj.reward.length_max = obj.advantage.eps = obj.advantage.pass_k = 1;
        obj.advantage.entropy_cap = obj.advantage.observation_noise = obj.advantage.history = 1;
        obj.advantage.gain_temperature = obj.advantage.share_eps = obj.surrogate.tau_pos = obj.surrogate.tau_neg = 1;
        obj.advantage.gain_high = 1;
        for (c = 0; c < 8 && row[k].choice[c]; c += 2) choose(&obj, row[k].choice[c], row[k].choice[c + 1]);
        check_status("grpo_objective_check", row[k].choice[1], grpo_objective_check(&obj), row[k].status, "");
    }
    check_tails();
    check_noise(-1, 1, GRPO_BAD_NOISE);
    check_noise(0, 0, GRPO_BAD_NOISE);
    check_noise(1e151, 1, GRPO_BAD_NOISE);
    check_noise(0, 1e151, GRPO_BAD_NOISE);
    check_noise(0, 1e-300, GRPO_OK);
}

/* every number NaN, every choice one too low and one too high */
static void check_fields(void)
{
    int k, count;
    const grpo_field *field = grpo_fields(&count);
    for (k = 0; k < count; k++) {
        fault f = { GRPO_BAD_NUMBER, OBJECTIVE, "number", spoil_field, NULL, NAN, 0 };
        f.path = field[k].path;
        if (field[k].choices) {
            f.status = GRPO_BAD_CHOICE;
            f.names = "choices";
            f.value = -1;
            check_fault(&f, f.path);
            f.value = field_choices(&field[k]);
        }
        check_fault(&f, f.path);
    }
}

static void check_needs_gspo(void)
{
    static setup s;
    int unit;
    for (unit = GRPO_UNIT_SEQUENCE_MEAN; unit <= GRPO_UNIT_SEQUENCE_POWER_MEAN; unit++) {
        setup_make(&s);
        s.objective.ratio.unit = (grpo_unit_kind)unit;
        s.objective.ratio.power = 1;
        check_status("grpo_loss", "a sequence unit", call_grpo_loss(&s), GRPO_NEEDS_GSPO, "ratio.unit");
        check_status("grpo_loss_add", "a sequence unit", call_grpo_loss_add(&s), GRPO_NEEDS_GSPO, "gspo_loss");
        check(!memcmp(&s.out, &s.before, sizeof s.out), "a sequence unit: something was written");
        check(call_gspo_loss(&s) == GRPO_OK && call_gspo_loss_add(&s) == GRPO_OK, "gspo_loss refuses unit %d", unit);
        setup_free(&s);
    }
}

/* ---- groups ----------------------------------------------------------------------------------------------------------------------- */

/* a surrogate of a group, with all it reads */
static void couple(setup *s, int kind)
{
    memset(&s->objective, 0, sizeof s->objective);
    s->objective.ratio.unit = GRPO_UNIT_SEQUENCE_MEAN;
    s->objective.surrogate.kind = (grpo_surrogate_kind)kind;
    s->objective.surrogate.tau_pos = s->objective.surrogate.tau_neg = s->objective.surrogate.strength = 1;
}

static void check_both(setup *s, const char *what, grpo_status expected, const char *names)
{
    check_status("gspo_loss", what, call_gspo_loss(s), expected, names);
    check_status("gspo_loss_add", what, call_gspo_loss_add(s), expected, names);
    check(!memcmp(&s->out, &s->before, sizeof s->out), "%s: something was written", what);
}

static void check_coupled(int kind)
{
    static setup s;
    const int reads_neg = kind == GRPO_SURROGATE_LABELS || kind == GRPO_SURROGATE_CONTRAST_LSE;
    const int reads_pos = kind == GRPO_SURROGATE_LABELS || kind == GRPO_SURROGATE_CONTRAST || kind == GRPO_SURROGATE_TARGET
        || (kind >= GRPO_SURROGATE_SOFT_PAIRS && kind <= GRPO_SURROGATE_MATCH_JS);
    setup_make(&s);
    couple(&s, kind);
    check_status("grpo_loss", "a group", call_grpo_loss(&s), GRPO_NEEDS_GSPO, "gspo_loss");
    check(gspo_scratch(&s.objective, &s.batch) == (int64_t)(sizeof s.out.scratch / sizeof *s.out.scratch), "scratch of a group");
    for (s.less_scratch = 1; s.less_scratch <= 2; s.less_scratch++) check_both(&s, "little scratch", GRPO_NEEDS_SCRATCH, "out.scratch");
    s.less_scratch = 0;
    check_status("gspo_loss", "no output", gspo_loss(&s.objective, &s.batch, s.advantage, NULL, NULL, &s.out.report), GRPO_NEEDS_SCRATCH, "gspo_scratch");
    s.objective.surrogate.tau_pos = 0;
    check_status("grpo_objective_check", "tau_pos", call_check(&s), reads_pos ? GRPO_BAD_TAU : GRPO_OK, "");
    s.objective.surrogate.tau_pos = 1;
    s.objective.surrogate.tau_neg = -1;
    check_status("grpo_objective_check", "tau_neg", call_check(&s), reads_neg ? GRPO_BAD_TAU : GRPO_OK, "");
    s.objective.surrogate.tau_neg = 1;
    s.batch.logp_old = NULL;
    check_both(&s, "no old", GRPO_NULL_LOGP_OLD, "logp_old");
    s.objective.ratio.against = GRPO_AGAINST_NOTHING;
    if (kind == GRPO_SURROGATE_BALANCE) {
        s.batch.log_z = NULL;
        check_both(&s, "no log_z", GRPO_NULL_LOG_Z, "batch.log_z");
        s.batch.log_z = s.b.log_z;
        s.b.log_z[1] = (grpo_real)NAN;
        check_both(&s, "log_z NaN", GRPO_BAD_LOG_Z, "batch.log_z");
        s.b.log_z[1] = (grpo_real)-INFINITY;
        check_both(&s, "log_z -infinity", GRPO_BAD_LOG_Z, "log_z");
        s.b.log_z[1] = 0;
    } else s.batch.log_z = NULL;
    check(call_gspo_loss(&s) == GRPO_OK && call_gspo_loss_add(&s) == GRPO_OK, "gspo_loss refuses surrogate %d", kind);
    setup_free(&s);
}

/* reads logp_old, though its ratio is against nothing */
static void check_target(void)
{
    static setup s;
    setup_make(&s);
    couple(&s, GRPO_SURROGATE_TARGET);
    check_status("grpo_objective_check", "target against old", call_check(&s), GRPO_BAD_COMBINATION, "go together");
    s.objective.ratio.against = GRPO_AGAINST_NOTHING;
    check_status("grpo_loss", "a target", call_grpo_loss(&s), GRPO_NEEDS_GSPO, "gspo_loss");
    s.objective.ratio.unit = GRPO_UNIT_SEQUENCE_CLIPPED_MEAN;
    check_both(&s, "a target of a clipped mean", GRPO_BAD_COMBINATION, "go together");
    s.objective.ratio.unit = GRPO_UNIT_SEQUENCE_SUM;
    s.objective.surrogate.tau_pos = 0;
    check_both(&s, "tau_pos", GRPO_BAD_TAU, "tau_pos");
    s.objective.surrogate.tau_pos = 1;
    s.less_scratch = 1;
    check_both(&s, "little scratch", GRPO_NEEDS_SCRATCH, "out.scratch");
    s.less_scratch = 0;
    s.batch.logp_old = NULL;
    check_both(&s, "no old", GRPO_NULL_LOGP_OLD, "logp_old");
    s.batch.logp_old = s.b.token[TOKEN_OLD];
    s.batch.logp_ref = s.batch.logp_rollout = NULL;
    check(call_gspo_loss(&s) == GRPO_OK && call_gspo_loss_add(&s) == GRPO_OK, "gspo_loss refuses a target");
    setup_free(&s);
}

/* NULL advantages are all 0 where the surrogate is none; a pool of the ratio reads them */
static void check_none(void)
{
    static setup s;
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.surrogate.kind = GRPO_SURROGATE_NONE;
    s.objective.penalty.kl = GRPO_KL_K3;
    s.objective.penalty.kl_coef = 1;
    s.objective.ratio.unit = GRPO_UNIT_SEQUENCE_CLIPPED_MEAN;
    check(call_gspo_loss(&s) == GRPO_OK && s.out.report.loss != 0 && s.out.report.loss == s.out.report.penalty_loss, "none has no penalty");
    check(s.out.report.degenerate_groups == 0, "none has advantages");
    s.pass_advantage = NULL;
    s.batch.logp_old = NULL;
    check(call_gspo_loss(&s) == GRPO_OK && s.out.report.loss != 0, "none without advantages is refused");
    check(s.out.report.degenerate_groups == s.out.report.groups, "advantages that are NULL are not 0");
    setup_free(&s);
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.surrogate.kind = GRPO_SURROGATE_NONE;
    s.objective.ratio.unit = GRPO_UNIT_SEQUENCE_CLIPPED_MEAN;
    s.objective.penalty.kl = GRPO_KL_K3;
    s.objective.penalty.kl_ratio = GRPO_KL_RATIO_UNIT;
    s.pass_advantage = NULL;
    check_both(&s, "a pool without advantages", GRPO_NULL_ADVANTAGE, "advantage");
    setup_free(&s);
}

static void check_power(void)
{
    static const double bad[] = { -1, 16.5, -1e-300 }, good[] = { 0, 1e-300, 1, 16 };
    static setup s;
    size_t k;
    setup_make(&s);
    s.objective.ratio.unit = GRPO_UNIT_SEQUENCE_POWER_MEAN;
    for (k = 0; k < sizeof bad / sizeof *bad; k++) {
        s.objective.ratio.power = bad[k];
        check_status("grpo_objective_check", "power", call_check(&s), GRPO_BAD_RATIO_POWER, "ratio.power");
        check_status("grpo_count", "power", call_count(&s), GRPO_BAD_RATIO_POWER, "(0, 16]");
        check_both(&s, "power", GRPO_BAD_RATIO_POWER, "sequence_power_mean");
    }
    for (k = 0; k < sizeof good / sizeof *good; k++) {
        s.objective.ratio.power = good[k];
        check(call_gspo_loss(&s) == GRPO_OK, "power %g is refused", good[k]);
    }
    setup_free(&s);
}

static void check_pairs(void)
{
    static setup s;
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.penalty.pairs = GRPO_PAIRS_MARGIN;
    check_status("grpo_loss", "pairs", call_grpo_loss(&s), GRPO_NEEDS_GSPO, "penalty.pairs");
    check_status("grpo_loss_add", "pairs", call_grpo_loss_add(&s), GRPO_NEEDS_GSPO, "gspo_loss");
    s.less_scratch = 1;
    check_both(&s, "pairs", GRPO_NEEDS_SCRATCH, "scratch_size");
    s.less_scratch = 0;
    s.batch.logp_ref = NULL;
    check_both(&s, "pairs without ref", GRPO_NULL_LOGP_REF, "logp_ref");
    s.objective.penalty.pair_score = GRPO_PAIR_SCORE_FREE;
    s.batch.reward = NULL;
    check_both(&s, "pairs without rewards", GRPO_NULL_REWARD, "reward");
    check_status("grpo_count", "pairs without rewards", call_count(&s), GRPO_NULL_REWARD, "reward");
    s.batch.reward = s.b.reward;
    s.batch.logp_old = NULL;
    check(call_gspo_loss(&s) == GRPO_OK, "gspo_loss refuses pairs");
    check(call_count(&s) == GRPO_OK && s.out.totals.pairs == 1 && s.out.totals.likelihood_tokens == 0, "pairs are counted");
    s.objective.penalty.pairs = GRPO_PAIRS_MARGIN_ELSE_SIGN;
    s.objective.penalty.pair_margin = 1e9;
    s.objective.penalty.pair_coef = 1;
    check_status("grpo_loss", "signs", call_grpo_loss(&s), GRPO_NEEDS_GSPO, "penalty.pairs");
    check(call_count(&s) == GRPO_OK && s.out.totals.pairs == 1, "pairs beyond the margin are counted");              /* it adds to the 1 */
    check(call_gspo_loss(&s) == GRPO_OK && s.out.report.penalty_loss > 0, "signs cost nothing");
    s.objective.penalty.pairs = GRPO_PAIRS_MARGIN;
    check(call_gspo_loss(&s) == GRPO_OK && s.out.report.penalty_loss == 0, "no pair costs something");
    s.objective.penalty.pairs = GRPO_PAIRS_MARGIN_ELSE_SIGN;
    s.batch.reward = NULL;
    s.out = s.before;
    check_both(&s, "signs without rewards", GRPO_NULL_REWARD, "reward");
    setup_free(&s);
}

/* the gate's segments want their ends, and a teacher is one of log-probabilities */
static void check_likelihood(void)
{
    static setup s;
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.penalty.likelihood_on = GRPO_LIKELIHOOD_ALL;
    s.objective.penalty.likelihood_form = GRPO_LIKELIHOOD_FORM_LOST;
    s.objective.penalty.likelihood_gate = GRPO_LIKELIHOOD_GATE_SEGMENT;
    s.batch.step_end = NULL;
    check_both(&s, "a gate of segments", GRPO_NULL_STEP_END, "step_end");
    s.objective.penalty.likelihood_gate = GRPO_LIKELIHOOD_GATE_SEQUENCE;
    check(call_grpo_loss(&s) == GRPO_OK, "a gate of responses is refused");
    setup_free(&s);
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.penalty.likelihood_on = GRPO_LIKELIHOOD_ALL;
    s.objective.penalty.likelihood_form = GRPO_LIKELIHOOD_FORM_TEACHER_GAP;
    s.b.token[TOKEN_TEACHER][LAST_UNMASKED] = (grpo_real)INFINITY;
    check_both(&s, "a gap to infinity", GRPO_BAD_LOGP_TEACHER, "logp_teacher");
    s.b.token[TOKEN_TEACHER][LAST_UNMASKED] = (grpo_real)-INFINITY;
    check(call_grpo_loss(&s) == GRPO_OK, "a gap to -infinity is refused");
    setup_free(&s);
}

static void check_teacher(void)
{
    static setup s;
    setup_make(&s);
    memset(&s.objective, 0, sizeof s.objective);
    s.objective.penalty.kl = GRPO_KL_K1;
    s.objective.penalty.kl_against = GRPO_KL_AGAINST_TEACHER;
    s.b.token[TOKEN_TEACHER][LAST_UNMASKED] = (grpo_real)INFINITY;
    check_both(&s, "a teacher of infinity", GRPO_BAD_LOGP_TEACHER, "logp_teacher");
    s.b.token[TOKEN_TEACHER][LAST_UNMASKED] = (grpo_real)NAN;
    check_both(&s, "a teacher of NaN", GRPO_BAD_LOGP_TEACHER, "logp_teacher");
    s.b.token[TOKEN_TEACHER][LAST_UNMASKED] = (grpo_real)-INFINITY;
    check(call_grpo_loss(&s) == GRPO_OK, "grpo_loss refuses a teacher of -infinity");
    setup_free(&s);
}

/* no sequence of what grpo_count says of a part may exceed the totals given */
static void check_own_totals(const char *path, int choice, int64_t *count, setup *s)
{
    put(&s->objective, path, choice);
    *count = -1;
    s->pass_totals = &s->totals;
    check_both(s, path, GRPO_BAD_TOTALS, "totals");
    *count = 50;
    check(call_gspo_loss(s) == GRPO_OK, "%s: totals of 50", path);
}

static void check_more_totals(void)
{
    static setup s;
    setup_make(&s);
    check_own_totals("penalty.likelihood_on", GRPO_LIKELIHOOD_ALL, &s.totals.likelihood_tokens, &s);
    setup_free(&s);
    setup_make(&s);
    check_own_totals("penalty.pairs", GRPO_PAIRS_MARGIN, &s.totals.pairs, &s);
    setup_free(&s);
    setup_make(&s);
    check_own_totals("aggregation.kind", GRPO_TOKEN_MEAN_BY_SIGN, &s.totals.positive_tokens, &s);
    setup_free(&s);
    setup_make(&s);
    check_own_totals("aggregation.kind", GRPO_TOKEN_MEAN_VARIED, &s.totals.varied_tokens, &s);
    setup_free(&s);
    setup_make(&s);
    check_own_totals("aggregation.kind", GRPO_SEQ_MEAN_BY_SIGN, &s.totals.positive_sequences, &s);
    setup_free(&s);
}

/* bounds of the batch: wrong ones, and where a second clip leaves no room */
static void check_clips(void)
{
    static const struct { int array; double value, dual; grpo_surrogate_kind kind; grpo_status status; } bad[] = {
        { TOKEN_CLIP_LOW, -0.1, 0, GRPO_SURROGATE_PPO_CLIP, GRPO_BAD_CLIP_LOW }, { TOKEN_CLIP_LOW, 1.5, 0, GRPO_SURROGATE_PPO_CLIP, GRPO_BAD_CLIP_LOW },
        { TOKEN_CLIP_LOW, NAN, 0, GRPO_SURROGATE_GPPO, GRPO_BAD_CLIP_LOW }, { TOKEN_CLIP_HIGH, -0.1, 0, GRPO_SURROGATE_PPO_CLIP, GRPO_BAD_CLIP_HIGH },
        { TOKEN_CLIP_HIGH, INFINITY, 0, GRPO_SURROGATE_GPPO, GRPO_BAD_CLIP_HIGH }, { TOKEN_CLIP_HIGH, 2, 3, GRPO_SURROGATE_GPPO, GRPO_BAD_CLIP_HIGH },
        { TOKEN_CLIP_HIGH, 2, 3, GRPO_SURROGATE_DUAL_CLIP, GRPO_BAD_CLIP_HIGH }, { TOKEN_CLIP_HIGH, 1.875, 3, GRPO_SURROGATE_DUAL_CLIP, GRPO_OK },
        { TOKEN_CLIP_HIGH, 2, 0, GRPO_SURROGATE_GPPO, GRPO_OK }, { TOKEN_CLIP_HIGH, 2, 0, GRPO_SURROGATE_PPO_CLIP, GRPO_OK },
    };
    static setup s;
    size_t k;
    for (k = 0; k < sizeof bad / sizeof *bad; k++) {
        setup_make(&s);
        memset(&s.objective, 0, sizeof s.objective);
        s.objective.surrogate.kind = bad[k].kind;
        s.objective.surrogate.bounds = GRPO_BOUNDS_GIVEN;
        s.objective.surrogate.dual = bad[k].dual;
        s.b.token[bad[k].array][LAST_UNMASKED] = (grpo_real)bad[k].value;
        s.b.token[TOKEN_CLIP_LOW][MASKED] = s.b.token[TOKEN_CLIP_HIGH][MASKED] = (grpo_real)NAN;
        if (bad[k].status) check_both(&s, "given bounds", bad[k].status, bad[k].array == TOKEN_CLIP_LOW ? "batch.clip_low" : "batch.clip_high");
        else check(call_grpo_loss(&s) == GRPO_OK, "given bounds %d are refused", (int)k);
        setup_free(&s);
    }
}

static void check_groups(void)
{
    int kind;
    for (kind = GRPO_SURROGATE_VARIANCE; kind <= GRPO_SURROGATE_CONTRAST; kind++) check_coupled(kind);
    check_coupled(GRPO_SURROGATE_STANDARDISED);
    check_coupled(GRPO_SURROGATE_HINGE);
    check_coupled(GRPO_SURROGATE_REGRESSION);
    check_target();
    for (kind = GRPO_SURROGATE_VARIANCE; kind <= GRPO_SURROGATE_MATCH_JS; kind++) check_coupled(kind);
    check_none();
    check_power();
    check_pairs();
    check_clips();
    check_likelihood();
    check_teacher();
    check_more_totals();
}

/* ---- totals and partials ------------------------------------------------------------------------------------------------------- */

static void spoil_totals(setup *s, const fault *f)
{
    int64_t *count[7];
    count[0] = &s->totals.tokens;
    count[1] = &s->totals.sequences;
    count[2] = &s->totals.sequences_nonempty;
    count[3] = &s->totals.groups;
    count[4] = &s->totals.groups_nonempty;
    count[5] = &s->totals.ranks;
    count[6] = &s->totals.weights;
    if (f->where == 6) s->objective.weight.correction_norm = GRPO_CORRECTION_NORM_MEAN;
    *count[f->where] = (int64_t)f->value;
    s->pass_totals = &s->totals;
}

static void check_totals(void)
{
    static const fault bad[] = {
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 6, 0 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 3, 1 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 2, 2 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 1, 3 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 1, 4 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, -1, 5 },
        { GRPO_BAD_TOTALS, LOSSES, "totals", spoil_totals, NULL, 6, 6 },
        { GRPO_OK, 0, "", spoil_totals, NULL, 7, 6 },
        { GRPO_OK, 0, "", spoil_totals, NULL, 7, 0 },
        { GRPO_OK, 0, "", spoil_totals, NULL, 8, 5 },
    };
    size_t k;
    for (k = 0; k < sizeof bad / sizeof *bad; k++) check_fault(&bad[k], "totals");
}

static void check_mixed(int other_ranks)
{
    static setup s;
    static grpo_partial first, copy, other;
    grpo_status st;
    setup_make(&s);
    s.pass_totals = &s.totals;
    check(call_grpo_loss_add(&s) == GRPO_OK, "mixed: the first part");
    first = s.out.partial;
    memcpy(&s.before, &s.out, sizeof s.out);
    if (other_ranks) s.totals.ranks = 2;
    else s.totals.tokens = 200;
    check_status("grpo_loss_add", "other totals", call_grpo_loss_add(&s), GRPO_MIXED_PARTIALS, "totals");
    check_status("gspo_loss_add", "other totals", call_gspo_loss_add(&s), GRPO_MIXED_PARTIALS, "partials");
    check(!memcmp(&s.out, &s.before, sizeof s.out), "other totals: something was written");
    memset(&s.out.partial, 0, sizeof s.out.partial);
    check(call_grpo_loss_add(&s) == GRPO_OK, "mixed: the second part");
    other = s.out.partial;
    copy = first;
    st = grpo_partial_merge(&first, &other);
    check_status("grpo_partial_merge", "other totals", st, GRPO_MIXED_PARTIALS, "totals");
    check(!memcmp(&first, &copy, sizeof first), "grpo_partial_merge: something was written");
    setup_free(&s);
}

static void check_merge_null(void)
{
    static grpo_partial partial, copy;
    check_status("grpo_partial_merge", "NULL", grpo_partial_merge(NULL, &partial), GRPO_NULL_OUTPUT, "partial");
    check_status("grpo_partial_merge", "NULL", grpo_partial_merge(&partial, NULL), GRPO_NULL_OUTPUT, "partial");
    check(!memcmp(&partial, &copy, sizeof copy), "grpo_partial_merge: something was written");
    check(grpo_partial_merge(&partial, &copy) == GRPO_OK, "grpo_partial_merge: two empty ones");
}

static void spoil_moments(setup *s)
{
    grpo_status st = grpo_advantages_with(&s->objective, &s->batch, NULL, s->out.advantage);
    check_status("grpo_advantages_with", "moments NULL", st, GRPO_NULL_OUTPUT, "moments");
    check(!memcmp(&s->out, &s->before, sizeof s->out), "moments NULL: something was written");
}

static void check_moments_null(void)
{
    static setup s;
    setup_make(&s);
    spoil_moments(&s);
    s.objective.advantage.scale = GRPO_SCALE_GROUP_STD;
    s.objective.advantage.gain = GRPO_GAIN_VALID_GROUPS;
    spoil_moments(&s);
    s.objective.advantage.gain = GRPO_GAIN_NONE;
    check(grpo_advantages_with(&s.objective, &s.batch, NULL, s.out.advantage) == GRPO_OK, "moments NULL where none are needed");
    setup_free(&s);
}

/* ---- names --------------------------------------------------------------------------------------------------------------------- */

static void check_names(void)
{
    grpo_objective obj, copy;
    hungry_objective(&obj);
    copy = obj;
    check_status("grpo_objective_named", "an unknown name", grpo_objective_named("grop", &obj), GRPO_UNKNOWN_OBJECTIVE, "objective");
    check_status("grpo_objective_named", "no name", grpo_objective_named("", &obj), GRPO_UNKNOWN_OBJECTIVE, "name");
    check_status("grpo_objective_named", "NULL name", grpo_objective_named(NULL, &obj), GRPO_UNKNOWN_OBJECTIVE, "name");
    check_status("grpo_objective_named", "NULL", grpo_objective_named("grpo", NULL), GRPO_NULL_OBJECTIVE, "objective");
    check_status("grpo_objective_set", "an unknown path", grpo_objective_set(&obj, "surrogate.eps", 1), GRPO_UNKNOWN_FIELD, "field");
    check_status("grpo_objective_set", "half a path", grpo_objective_set(&obj, "surrogate", 1), GRPO_UNKNOWN_FIELD, "path");
    check_status("grpo_objective_set", "NULL path", grpo_objective_set(&obj, NULL, 1), GRPO_UNKNOWN_FIELD, "path");
    check_status("grpo_objective_set", "NULL", grpo_objective_set(NULL, "surrogate.eps_low", 1), GRPO_NULL_OBJECTIVE, "objective");
    check_status("grpo_objective_set", "NaN", grpo_objective_set(&obj, "surrogate.eps_low", NAN), GRPO_BAD_NUMBER, "NaN");
    check_status("grpo_objective_set", "choice 99", grpo_objective_set(&obj, "surrogate.kind", 99), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_set", "a choice too many", grpo_objective_set(&obj, "surrogate.kind", GRPO_SURROGATE_NONE + 1), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_set", "choice -1", grpo_objective_set(&obj, "surrogate.kind", -1), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_set", "choice 0.5", grpo_objective_set(&obj, "surrogate.kind", 0.5), GRPO_UNKNOWN_CHOICE, "number");
    check_status("grpo_objective_set", "choice 1e300", grpo_objective_set(&obj, "surrogate.kind", 1e300), GRPO_UNKNOWN_CHOICE, "number");
    check_status("grpo_objective_choose", "an unknown path", grpo_objective_choose(&obj, "surrogate.kin", "ratio"), GRPO_UNKNOWN_FIELD, "field");
    check_status("grpo_objective_choose", "NULL path", grpo_objective_choose(&obj, NULL, "ratio"), GRPO_UNKNOWN_FIELD, "field");
    check_status("grpo_objective_choose", "a number", grpo_objective_choose(&obj, "surrogate.eps_low", "ratio"), GRPO_UNKNOWN_CHOICE, "field");
    check_status("grpo_objective_choose", "no choice", grpo_objective_choose(&obj, "surrogate.kind", ""), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_choose", "half a choice", grpo_objective_choose(&obj, "surrogate.kind", "ppo"), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_choose", "two choices", grpo_objective_choose(&obj, "surrogate.kind", "score|ratio"), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_choose", "NULL choice", grpo_objective_choose(&obj, "surrogate.kind", NULL), GRPO_UNKNOWN_CHOICE, "choice");
    check_status("grpo_objective_choose", "NULL", grpo_objective_choose(NULL, "surrogate.kind", "ratio"), GRPO_NULL_OBJECTIVE, "objective");
    check(!memcmp(&obj, &copy, sizeof obj), "an objective was written to");
}

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

static void check_texts(void)
{
    static const int outside[] = { -1, GRPO_N_STATUS, GRPO_N_STATUS + 1, 1000000, -2147483647 - 1, 2147483647 };
    size_t k;
    int a, b;
    for (k = 0; k < sizeof outside / sizeof *outside; k++) {
        int status = outside[k];
        grpo_status st;
        const char *text;
        memcpy(&st, &status, sizeof st);
        text = grpo_status_text(st);
        check(text && strlen(text) > 5 && strlen(text) < 200, "text of status %d", status);
        check(strcmp(text, "ok") != 0, "status %d is not ok", status);
    }
    for (a = 0; a < GRPO_N_STATUS; a++) for (b = 0; b < a; b++) {
        check(strcmp(grpo_status_text((grpo_status)a), grpo_status_text((grpo_status)b)) != 0, "statuses %d and %d have one text", a, b);
    }
    check(!strcmp(grpo_status_text(GRPO_OK), "ok"), "text of ok");
}

/* ---- logits --------------------------------------------------------------------------------------------------------------------- */

/* a batch of one token; tests/logits_loss.c has the rest */
static void check_batch_logits(const grpo_real *z)
{
    static const int64_t group[2] = { 0, 1 }, offset = 0, length = 1, past = 2;
    grpo_real numbers[7] = { 0, -1, 1, 5, 5, 5, 5 };
    grpo_row_part part;
    grpo_objective obj;
    grpo_batch batch;
    grpo_output out;
    grpo_report report;
    grpo_rows rows;
    memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out); memset(&rows, 0, sizeof rows);
    grpo_objective_named("grpo", &obj);
    batch.n_groups = batch.n_tokens = 1; batch.group_begin = group; batch.offset = &offset; batch.length = &length;
    batch.logp_old = batch.logp_ref = &numbers[1];
    rows.logits.logits = z; rows.logits.rows = 1; rows.logits.vocab = rows.logits.stride = 2; rows.logits.target = &past;
    rows.logits.temperature = 1; rows.part = &part; rows.logp = &numbers[3]; rows.entropy = &numbers[4];
    check_status("grpo_logits_loss", "no rows", grpo_logits_loss(&obj, &batch, &numbers[2], NULL, NULL, &out, &report),
                 GRPO_NULL_ROWS, "rows");
    check_status("grpo_logits_loss", "a target past the end", grpo_logits_loss(&obj, &batch, &numbers[2], NULL, &rows, &out, &report),
                 GRPO_BAD_TARGET, "target");
    check(numbers[3] == 5 && numbers[4] == 5, "grpo_logits_loss: refused logits have been written");
}

static void check_logits(void)
{
    grpo_real z[2] = { 1, 2 }, g[2] = { 5, 5 };
    const int64_t target = 1;
    grpo_logits x = { GRPO_ROW_REAL, NULL, 1, 2, 2, NULL, NULL, 1, 0 };
    grpo_row_part part, other;
    grpo_row row;
    memset(&part, 0xa5, sizeof part);
    other = part;
    check_status("grpo_row_read", "no logits", grpo_row_read(NULL, 0, &part), GRPO_NULL_LOGITS, "logits");
    x.logits = z;
    check_status("grpo_row_read", "no target", grpo_row_read(&x, 0, &part), GRPO_NULL_LOGITS, "logits");
    x.target = &target;
    check_status("grpo_row_read", "a row that is not there", grpo_row_read(&x, 1, &part), GRPO_BAD_LOGITS_SHAPE, "logits");
    check_status("grpo_row_read", "no part", grpo_row_read(&x, 0, NULL), GRPO_NULL_OUTPUT, "output");
    x.temperature = 0;
    check_status("grpo_row_read", "temperature 0", grpo_row_read(&x, 0, &part), GRPO_BAD_LOGITS_TEMPERATURE, "temperature");
    x.temperature = 1;
    z[0] = (grpo_real)NAN;
    check_status("grpo_row_read", "NaN", grpo_row_read(&x, 0, &part), GRPO_BAD_LOGITS, "logits");
    z[0] = (grpo_real)HUGE_VAL;
    check_status("grpo_row_read", "infinity", grpo_row_read(&x, 0, &part), GRPO_BAD_LOGITS, "logits");
    check(!memcmp(&part, &other, sizeof part), "grpo_row_read: a refused row has been written");
    z[0] = 1;
    check_status("grpo_row_read", "a row", grpo_row_read(&x, 0, &part), GRPO_OK, "ok");
    other = part;
    check_status("grpo_row_merge", "two targets", grpo_row_merge(&other, &part, 1), GRPO_BAD_LOGITS_SHAPE, "logits");
    check_status("grpo_row_merge", "nothing", grpo_row_merge(&other, NULL, 1), GRPO_NULL_OUTPUT, "output");
    check_status("grpo_row_merge", "temperature NaN", grpo_row_merge(&other, &part, NAN), GRPO_BAD_LOGITS_TEMPERATURE, "temperature");
    check_status("grpo_row_of", "temperature infinite", grpo_row_of(&part, HUGE_VAL, &row), GRPO_BAD_LOGITS_TEMPERATURE, "temperature");
    check_status("grpo_row_of", "nothing", grpo_row_of(NULL, 1, &row), GRPO_NULL_OUTPUT, "output");
    check_status("grpo_row_gradient", "no part", grpo_row_gradient(&x, 0, NULL, 1, 1, g), GRPO_NULL_OUTPUT, "output");
    check_status("grpo_row_gradient", "no gradient", grpo_row_gradient(&x, 0, &part, 1, 1, NULL), GRPO_NULL_OUTPUT, "output");
    check(g[0] == 5 && g[1] == 5, "grpo_row_gradient: a refused row has been written");
    check_batch_logits(z);
}

/* ---- functions of papers -------------------------------------------------------------------------------------------------------- */

/* what they write to, and its bytes before */
static struct { double x[8], y[8]; grpo_real a[TOKENS], b[TOKENS], c[TOKENS]; int64_t index[8]; uint8_t flag[8]; } room, blank;

static void refused(const char *name, const char *what, grpo_status found, grpo_status expected, const char *names)
{
    check_status(name, what, found, expected, names);
    check(!memcmp(&room, &blank, sizeof room), "%s, %s: something was written", name, what);
    memcpy(&room, &blank, sizeof room);
}

static void accepted(const char *name, grpo_status found)
{
    check(found == GRPO_OK, "%s: %s", name, grpo_status_text(found));
    memcpy(&room, &blank, sizeof room);
}

static const double fine[8] = { 0.5, 0.25, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5 }, zeros[8], wild[8] = { 0.5, NAN, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 };
static const double below[8] = { -0.5, -0.25, -1, -2, -1, -1, -1, -1 }, beyond[8] = { 0.5, 1.5, 0.5, 0.5 };
static const uint8_t flags[8] = { 1, 0, 1, 0 };
static const int64_t ids[TOKENS] = { 1, 2, 1, 2 };

static void check_lists_of_numbers(void)
{
    static const double wins[4] = { NAN, 1, 0, NAN }, no_wins[4] = { 0, 0.25, 0.75, 0 }, both[4] = { 0, 1, 1, 0 };
    const double *const x = fine;
    const int64_t minus[2] = { 3, -1 };
    int64_t scratch[4];
    double *const out = room.x;
    accepted("hint_reward", grpo_hint_reward(x, x, 4, 1, GRPO_HINT_VARIANCE, 0, out));
    refused("hint_reward", "no output", grpo_hint_reward(x, x, 4, 1, GRPO_HINT_VARIANCE, 0, NULL), GRPO_NULL_OUTPUT, "last argument");
    refused("hint_reward", "no rollout", grpo_hint_reward(x, x, 0, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_TOO_FEW, "n must");
    refused("hint_reward", "n -1", grpo_hint_reward(x, x, -1, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_BAD_COUNT, "negative");
    refused("hint_reward", "no gap", grpo_hint_reward(x, NULL, 4, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_NULL_LIST, "gap");
    refused("hint_reward", "gap NaN", grpo_hint_reward(x, wild, 4, 1, GRPO_HINT_VARIANCE, 0, out), GRPO_BAD_LIST, "gap");
    refused("hint_reward", "temperature 0", grpo_hint_reward(x, x, 4, 0, GRPO_HINT_VARIANCE, 0, out),
            GRPO_BAD_SOFTMAX_TEMPERATURE, "temperature");
    refused("hint_reward", "form 2", grpo_hint_reward(x, x, 4, 1, (grpo_hint_form)2, 0, out), GRPO_BAD_FORM, "form");
    accepted("meta_reward", grpo_meta_reward(flags, ids, 4, NULL, 0, 8, 1, out));
    refused("meta_reward", "no correct", grpo_meta_reward(NULL, ids, 4, ids, 1, 8, 1, out), GRPO_NULL_CORRECT, "correct");
    refused("meta_reward", "no net", grpo_meta_reward(flags, ids, 4, NULL, 1, 8, 1, out), GRPO_NULL_LIST, "net");
    refused("meta_reward", "m -1", grpo_meta_reward(flags, ids, 4, ids, -1, 8, 1, out), GRPO_BAD_COUNT, "negative");
    refused("meta_reward", "n 0", grpo_meta_reward(flags, ids, 0, ids, 1, 8, 1, out), GRPO_TOO_FEW, "n must");
    refused("meta_reward", "passes 9", grpo_meta_reward(flags, ids, 4, ids, 1, 9, 1, out), GRPO_BAD_PREDICTION, "passes");
    refused("meta_reward", "passes -2", grpo_meta_reward(flags, ids, 4, ids, 1, -2, 1, out), GRPO_BAD_PREDICTION, "passes");
    refused("meta_reward", "length -2", grpo_meta_reward(flags, ids, 4, ids, 1, 8, -2, out), GRPO_BAD_PREDICTION, "predicted_length");
    refused("meta_reward", "a length of -1", grpo_meta_reward(flags, minus, 2, ids, 1, 8, 1, out), GRPO_BAD_PREDICTION, "length");
    accepted("pairwise_wins", grpo_pairwise_wins(wins, 2, out));
    refused("pairwise_wins", "a quarter", grpo_pairwise_wins(no_wins, 2, out), GRPO_BAD_WINS, "wins");
    refused("pairwise_wins", "two winners", grpo_pairwise_wins(both, 2, out), GRPO_BAD_WINS, "wins");
    refused("pairwise_wins", "none", grpo_pairwise_wins(NULL, 2, out), GRPO_NULL_LIST, "wins");
    accepted("entropy_rank_reward", grpo_entropy_rank_reward(x, x, 4, 1, scratch, out));
    refused("entropy_rank_reward", "NaN", grpo_entropy_rank_reward(x, wild, 4, 1, scratch, out), GRPO_BAD_LIST, "overall");
    refused("entropy_rank_reward", "no scratch", grpo_entropy_rank_reward(x, x, 4, 1, NULL, out), GRPO_NULL_LIST, "scratch");
    refused("entropy_rank_reward", "top NaN", grpo_entropy_rank_reward(x, x, 4, NAN, scratch, out), GRPO_BAD_SHAPING, "top");
    accepted("interval_reward", grpo_interval_reward(below, x, 4, 1, 0, out));
    refused("interval_reward", "one", grpo_interval_reward(below, x, 1, 1, 0, out), GRPO_TOO_FEW, "interval");
    refused("interval_reward", "empty", grpo_interval_reward(x, x, 4, 1, 0, out), GRPO_BAD_INTERVAL, "begin");
    refused("interval_reward", "gamma -1", grpo_interval_reward(below, x, 4, -1, 0, out), GRPO_BAD_NEGATIVE, "gamma");
    refused("interval_reward", "NaN", grpo_interval_reward(below, wild, 4, 1, 0, out), GRPO_BAD_LIST, "end");
    accepted("dense_rewards", grpo_dense_rewards(x, 4, 1, 1, out));
    refused("dense_rewards", "negative", grpo_dense_rewards(below, 4, 1, 1, out), GRPO_BAD_NEGATIVE, "reward");
    refused("dense_rewards", "NaN", grpo_dense_rewards(wild, 4, 1, 1, out), GRPO_BAD_REWARD_LIST, "reward");
    refused("dense_rewards", "total NaN", grpo_dense_rewards(x, 4, 1, NAN, out), GRPO_BAD_SHAPING, "total");
    accepted("information_gain", grpo_information_gain(below, 4, GRPO_INFORMATION_LOG, out));
    refused("information_gain", "above 0", grpo_information_gain(x, 4, GRPO_INFORMATION_LOG, out), GRPO_BAD_ANSWER_LOGP, "logp");
    refused("information_gain", "NaN", grpo_information_gain(wild, 4, GRPO_INFORMATION_LOG, out), GRPO_BAD_ANSWER_LOGP, "logp");
    refused("information_gain", "form 2", grpo_information_gain(below, 4, (grpo_information_form)2, out), GRPO_BAD_FORM, "form");
    refused("information_gain", "none", grpo_information_gain(below, 0, GRPO_INFORMATION_LOG, out), GRPO_TOO_FEW, "n must");
    accepted("consistency_weights", grpo_consistency_weights(x, 4, 20, 1.5, out, room.y));
    refused("consistency_weights", "NaN", grpo_consistency_weights(wild, 4, 20, 1.5, out, room.y), GRPO_BAD_LIST, "entropy");
    refused("consistency_weights", "centre", grpo_consistency_weights(x, 4, 20, INFINITY, out, room.y), GRPO_BAD_SHAPING, "centre");
    refused("consistency_weights", "no global", grpo_consistency_weights(x, 4, 20, 1.5, out, NULL), GRPO_NULL_OUTPUT, "output");
}

static void check_advantages_of_lists(void)
{
    static const int64_t tree[4] = { -1, 0, 0, 1 }, two_roots[4] = { -1, 0, -1, 1 };
    static const int64_t later[4] = { -1, 2, 0, 1 }, rootless[4] = { 0, 0, 0, 1 };
    static const double inner[4] = { NAN, NAN, 0.5, 0.5 };
    const double *const x = fine;
    double *const out = room.x;
    grpo_coplayer c = { 0.96, 0.96, 2, 0, 0, 0, 0, 1 };
    grpo_branch nodes[4];
    grpo_dd scratch[4];
    accepted("future_success", grpo_future_success(x, 4, out));
    refused("future_success", "NaN", grpo_future_success(wild, 4, out), GRPO_BAD_REWARD_LIST, "reward");
    refused("future_success", "none", grpo_future_success(NULL, 4, out), GRPO_NULL_REWARD_LIST, "reward");
    accepted("coplayer_credit", grpo_coplayer_credit(x, x, 4, &c, out));
    refused("coplayer_credit", "NaN", grpo_coplayer_credit(x, wild, 4, &c, out), GRPO_BAD_LIST, "other");
    refused("coplayer_credit", "no how", grpo_coplayer_credit(x, x, 4, NULL, out), GRPO_NULL_BOUNDS, "how");
    c.clip = -1;
    refused("coplayer_credit", "clip -1", grpo_coplayer_credit(x, x, 4, &c, out), GRPO_BAD_NEGATIVE, "clip");
    c.clip = NAN;
    refused("coplayer_credit", "clip NaN", grpo_coplayer_credit(x, x, 4, &c, out), GRPO_BAD_SHAPING, "clip");
    c.weight_gamma = 1.5;
    refused("coplayer_credit", "gamma 1.5", grpo_coplayer_credit(x, x, 4, &c, out), GRPO_BAD_UNIT, "weight_gamma");
    accepted("project_advantage", grpo_project_advantage(x, 4, x, 1, 1, 0, scratch, out));
    refused("project_advantage", "basis NaN", grpo_project_advantage(x, 4, wild, 1, 1, 0, scratch, out), GRPO_BAD_BASIS, "basis");
    refused("project_advantage", "NaN", grpo_project_advantage(wild, 4, x, 1, 1, 0, scratch, out), GRPO_BAD_ADVANTAGE_LIST, "advantage");
    refused("project_advantage", "no scratch", grpo_project_advantage(x, 4, x, 1, 1, 0, NULL, out), GRPO_NULL_LIST, "scratch");
    refused("project_advantage", "k -1", grpo_project_advantage(x, 4, x, -1, 1, 0, scratch, out), GRPO_BAD_COUNT, "count");
    accepted("dynamic_scale", grpo_dynamic_scale(x, x, 4, 1, out));
    refused("dynamic_scale", "bound -1", grpo_dynamic_scale(x, x, 4, -1, out), GRPO_NONE_KEPT, "bound");
    refused("dynamic_scale", "bound NaN", grpo_dynamic_scale(x, x, 4, NAN, out), GRPO_BAD_SHAPING, "bound");
    refused("dynamic_scale", "NaN", grpo_dynamic_scale(wild, x, 4, 1, out), GRPO_BAD_LIST, "hardness");
    accepted("branch_advantage", grpo_branch_advantage(tree, inner, NULL, 4, GRPO_BRANCH_LEAVES, 1, nodes, out));
    accepted("branch_advantage", grpo_branch_advantage(tree, inner, x, 4, GRPO_BRANCH_PROBABILITY, 1, nodes, out));
    refused("branch_advantage", "two roots", grpo_branch_advantage(two_roots, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_BAD_TREE, "parent");
    refused("branch_advantage", "a later parent", grpo_branch_advantage(later, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_BAD_TREE, "parent");
    refused("branch_advantage", "no root", grpo_branch_advantage(rootless, x, x, 4, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_BAD_TREE, "parent");
    refused("branch_advantage", "a leaf NaN", grpo_branch_advantage(tree, inner, x, 2, GRPO_BRANCH_LEAVES, 1, nodes, out),
            GRPO_BAD_REWARD_LIST, "reward");
    refused("branch_advantage", "logp NaN", grpo_branch_advantage(tree, x, wild, 4, GRPO_BRANCH_PROBABILITY, 1, nodes, out),
            GRPO_BAD_LIST, "logp");
    refused("branch_advantage", "no logp", grpo_branch_advantage(tree, x, NULL, 4, GRPO_BRANCH_PROBABILITY, 1, nodes, out),
            GRPO_NULL_LIST, "logp");
    refused("branch_advantage", "form 2", grpo_branch_advantage(tree, x, x, 4, (grpo_branch_form)2, 1, nodes, out), GRPO_BAD_FORM, "form");
    refused("branch_advantage", "no scratch", grpo_branch_advantage(tree, x, x, 4, GRPO_BRANCH_LEAVES, 1, NULL, out),
            GRPO_NULL_LIST, "scratch");
}

static void check_teachers_and_samplers(void)
{
    static const double banned[3] = { -INFINITY, -INFINITY, -INFINITY }, up[3] = { 0, INFINITY, 0 };
    static const double gram[4] = { 1, 0.5, 0.5, 1 }, lopsided[4] = { 1, 0.5, 0.25, 1 }, negative[4] = { -1, 0, 0, 1 };
    const int64_t minus[2] = { 3, -1 };
    const double *const x = fine;
    double *const out = room.x, *const more = room.y;
    accepted("divergence", grpo_divergence(x, x, 4, 1, 0.5, out, NULL));
    refused("divergence", "all banned", grpo_divergence(banned, x, 3, 1, 0.5, out, more), GRPO_BAD_DISTRIBUTION, "student");
    refused("divergence", "+infinity", grpo_divergence(x, up, 3, 1, 0.5, out, more), GRPO_BAD_DISTRIBUTION, "teacher");
    refused("divergence", "NaN", grpo_divergence(x, wild, 3, 1, 0.5, out, more), GRPO_BAD_DISTRIBUTION, "NaN");
    refused("divergence", "beta 1.5", grpo_divergence(x, x, 3, 1, 1.5, out, more), GRPO_BAD_UNIT, "beta");
    refused("divergence", "temperature 0", grpo_divergence(x, x, 3, 0, 0.5, out, more), GRPO_BAD_SOFTMAX_TEMPERATURE, "temperature");
    refused("divergence", "no token", grpo_divergence(x, x, 0, 1, 0.5, out, more), GRPO_TOO_FEW, "n must");
    refused("divergence", "no value", grpo_divergence(x, x, 3, 1, 0.5, NULL, more), GRPO_NULL_OUTPUT, "output");
    accepted("set_gap", grpo_set_gap(below, below, 4, 3, out));
    refused("set_gap", "target 4", grpo_set_gap(below, below, 4, 4, out), GRPO_BAD_SET_TARGET, "target");
    refused("set_gap", "target -1", grpo_set_gap(below, below, 4, -1, out), GRPO_BAD_SET_TARGET, "target");
    refused("set_gap", "banned", grpo_set_gap(below, banned, 3, 0, out), GRPO_BAD_LIST, "teacher");
    accepted("cluster_probability", grpo_cluster_probability(x, x, below + 2, 1, 0.3, out, more));
    refused("cluster_probability", "rate", grpo_cluster_probability(beyond, x, x, 4, 0.3, out, more), GRPO_BAD_UNIT, "rate");
    refused("cluster_probability", "success -1/2", grpo_cluster_probability(x, x, below, 4, 0.3, out, more), GRPO_BAD_UNIT, "success");
    refused("cluster_probability", "alpha 2", grpo_cluster_probability(x, x, x, 4, 2, out, more), GRPO_BAD_UNIT, "alpha");
    refused("cluster_probability", "all 0", grpo_cluster_probability(x, zeros, x, 4, 0.3, out, more), GRPO_BAD_WEIGHT, "probability");
    refused("cluster_probability", "negative", grpo_cluster_probability(x, below, x, 4, 0.3, out, more), GRPO_BAD_WEIGHT, "probability");
    accepted("explore_weight", grpo_explore_weight(x, 4, 0.05, out));
    refused("explore_weight", "value", grpo_explore_weight(beyond, 4, 0.05, out), GRPO_BAD_UNIT, "value");
    refused("explore_weight", "least -1", grpo_explore_weight(x, 4, -1, out), GRPO_BAD_LEAST, "least");
    accepted("hint_level", grpo_hint_level(ids, x, 4, 0.1, 0.35, 3, room.index));
    refused("hint_level", "level -1", grpo_hint_level(minus, x, 2, 0.1, 0.35, 3, room.index), GRPO_BAD_LEVELS, "level");
    refused("hint_level", "low > high", grpo_hint_level(ids, x, 4, 0.5, 0.35, 3, room.index), GRPO_BAD_LEVELS, "low");
    refused("hint_level", "max -1", grpo_hint_level(ids, x, 4, 0.1, 0.35, -1, room.index), GRPO_BAD_LEVELS, "max");
    refused("hint_level", "success", grpo_hint_level(ids, beyond, 4, 0.1, 0.35, 3, room.index), GRPO_BAD_UNIT, "success");
    accepted("gram_rank", grpo_gram_rank(gram, x, 2, 1, 1, 64, room.index, out));
    refused("gram_rank", "lopsided", grpo_gram_rank(lopsided, x, 2, 1, 1, 64, room.index, out), GRPO_BAD_GRAM, "gram");
    refused("gram_rank", "a norm below 0", grpo_gram_rank(negative, x, 2, 1, 1, 64, room.index, out), GRPO_BAD_GRAM, "diagonal");
    refused("gram_rank", "share 0", grpo_gram_rank(gram, x, 2, 0, 1, 64, room.index, out), GRPO_BAD_POSITIVE, "share");
    refused("gram_rank", "least 0", grpo_gram_rank(gram, x, 2, 1, 0, 64, room.index, out), GRPO_BAD_POSITIVE, "least");
    refused("gram_rank", "NaN", grpo_gram_rank(gram, wild, 2, 1, 1, 64, room.index, out), GRPO_BAD_ADVANTAGE_LIST, "advantage");
}

static void check_rewards_of_batches(setup *s)
{
    const grpo_batch *b = &s->batch;
    grpo_real *const out = room.a;
    accepted("invariance_weight", grpo_invariance_weight(b, ids, flags, out));
    refused("invariance_weight", "no meta", grpo_invariance_weight(b, NULL, flags, out), GRPO_NULL_LIST, "meta");
    refused("invariance_weight", "no batch", grpo_invariance_weight(NULL, ids, flags, out), GRPO_NULL_BATCH, "batch");
    accepted("efficiency_reward", grpo_efficiency_reward(b, flags, 0.2, 0.6, out, room.flag));
    refused("efficiency_reward", "share 2", grpo_efficiency_reward(b, flags, 2, 0.6, out, room.flag), GRPO_BAD_UNIT, "share");
    refused("efficiency_reward", "alpha -1", grpo_efficiency_reward(b, flags, 0.2, -1, out, room.flag), GRPO_BAD_ALPHA, "efficiency");
    refused("efficiency_reward", "no correct", grpo_efficiency_reward(b, NULL, 0.2, 1, out, room.flag), GRPO_NULL_CORRECT, "correct");
    refused("efficiency_reward", "no flags", grpo_efficiency_reward(b, flags, 0.2, 1, out, NULL), GRPO_NULL_OUTPUT, "output");
    accepted("consistency_bonus", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, out));
    refused("consistency_bonus", "accuracy NaN", grpo_consistency_bonus(b, wild, 0.5, 0.95, 0.01, out), GRPO_BAD_LIST, "accuracy");
    refused("consistency_bonus", "cap 0", grpo_consistency_bonus(b, fine, 0.5, 0, 0.01, out), GRPO_BAD_POSITIVE, "cap");
    refused("consistency_bonus", "margin NaN", grpo_consistency_bonus(b, fine, 0.5, 0.95, NAN, out), GRPO_BAD_SHAPING, "margin");
    accepted("hardness_advantage", grpo_hardness_advantage(b, -0.256, 1.256, out));
    refused("hardness_advantage", "slope NaN", grpo_hardness_advantage(b, NAN, 1, out), GRPO_BAD_SHAPING, "slope");
    accepted("token_advantage", grpo_token_advantage(b, 1e-6, 5, 1, out));
    refused("token_advantage", "eps -1", grpo_token_advantage(b, -1, 5, 1, out), GRPO_BAD_LEAST, "eps");
    refused("token_advantage", "limit 0", grpo_token_advantage(b, 0, 0, 1, out), GRPO_BAD_POSITIVE, "limit");
    accepted("centred_weights", grpo_centred_weights(b, 1, out, room.b));
    refused("centred_weights", "k NaN", grpo_centred_weights(b, NAN, out, room.b), GRPO_BAD_SHAPING, "k,");
    refused("centred_weights", "no penalty", grpo_centred_weights(b, 1, out, NULL), GRPO_NULL_OUTPUT, "output");
    accepted("ratio_quantile", grpo_ratio_quantile(b, 0.9, 1e-4, room.x));
    refused("ratio_quantile", "quantile 2", grpo_ratio_quantile(b, 2, 1e-4, room.x), GRPO_BAD_QUANTILE_LEVEL, "quantile");
    refused("ratio_quantile", "least NaN", grpo_ratio_quantile(b, 1, NAN, room.x), GRPO_BAD_LEAST, "least");
    accepted("logistic_shift", grpo_logistic_shift(b, flags, 0.1, room.x));
    refused("logistic_shift", "no correct", grpo_logistic_shift(b, NULL, 0.1, room.x), GRPO_NULL_CORRECT, "correct");
    refused("logistic_shift", "beta NaN", grpo_logistic_shift(b, flags, NAN, room.x), GRPO_BAD_SHAPING, "beta");
}

static void check_tokens_of_batches(setup *s)
{
    static grpo_real feature[2 * TOKENS];
    static grpo_dd scratch[2 * TOKENS + 4];
    const grpo_batch *b = &s->batch;
    grpo_adaptation a = { 0.2, 0.2, 1, 1 };
    grpo_centroids c = { 2, 1, 0.8, 1.2 };
    grpo_real list[TOKENS] = { 0 }, *const out = room.a;
    list[MASKED] = feature[2 * MASKED] = (grpo_real)NAN;
    accepted("implicit_advantage", grpo_implicit_advantage(b, list, 5, 5, out));
    refused("implicit_advantage", "outcome_coef", grpo_implicit_advantage(b, list, 5, NAN, out), GRPO_BAD_SHAPING, "outcome_coef");
    refused("implicit_advantage", "no process", grpo_implicit_advantage(b, NULL, 5, 5, out), GRPO_NULL_LIST, "process");
    accepted("adapted_clip", grpo_adapted_clip(b, s->advantage, list, &a, out, room.b, room.c));
    refused("adapted_clip", "no standard", grpo_adapted_clip(b, s->advantage, NULL, &a, out, room.b, room.c), GRPO_NULL_LIST, "standard");
    refused("adapted_clip", "no how", grpo_adapted_clip(b, s->advantage, list, NULL, out, room.b, room.c), GRPO_NULL_BOUNDS, "how");
    refused("adapted_clip", "no bound", grpo_adapted_clip(b, s->advantage, list, &a, NULL, room.b, room.c), GRPO_NULL_OUTPUT, "output");
    accepted("centroid_weight", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out));
    refused("centroid_weight", "no scratch", grpo_centroid_weight(b, s->advantage, feature, &c, NULL, out), GRPO_NULL_LIST, "scratch");
    refused("centroid_weight", "no feature", grpo_centroid_weight(b, s->advantage, NULL, &c, scratch, out), GRPO_NULL_LIST, "feature");
    refused("centroid_weight", "no how", grpo_centroid_weight(b, s->advantage, feature, NULL, scratch, out), GRPO_NULL_BOUNDS, "how");
    c.refine = -1;
    refused("centroid_weight", "refine -1", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_BAD_WIDTH, "refine");
    c.refine = 1; c.width = 0;
    refused("centroid_weight", "width 0", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_BAD_WIDTH, "width");
    accepted("agent_weights", grpo_agent_weights(b, ids, out));
    refused("agent_weights", "no agent", grpo_agent_weights(b, NULL, out), GRPO_NULL_LIST, "agent");
    list[0] = feature[1] = (grpo_real)NAN;
    c.width = 2; a.gain = NAN;
    refused("adapted_clip", "gain NaN", grpo_adapted_clip(b, s->advantage, list, &a, out, room.b, room.c), GRPO_BAD_SHAPING, "gain");
    a.gain = 1;
    refused("adapted_clip", "NaN", grpo_adapted_clip(b, s->advantage, list, &a, out, room.b, room.c), GRPO_BAD_TOKEN_LIST, "standard");
    refused("implicit_advantage", "NaN", grpo_implicit_advantage(b, list, 5, 5, out), GRPO_BAD_TOKEN_LIST, "process");
    refused("centroid_weight", "NaN", grpo_centroid_weight(b, s->advantage, feature, &c, scratch, out), GRPO_BAD_TOKEN_LIST, "feature");
}

/* what a token that is not of the answer holds is not read */
static void check_tokens_of_answers(setup *s)
{
    grpo_batch *b = &s->batch;
    s->b.selected[0] = 0;
    s->b.token[TOKEN_REF][0] = s->b.token[TOKEN_LOGP][0] = (grpo_real)NAN;
    accepted("consistency_bonus", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a));
    accepted("ratio_quantile", grpo_ratio_quantile(b, 0.9, 1e-4, room.x));
    refused("logistic_shift", "NaN", grpo_logistic_shift(b, flags, 0.1, room.x), GRPO_BAD_LOGP_REF, "logp_ref");
    s->b.selected[0] = 1;
    refused("consistency_bonus", "NaN", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a), GRPO_BAD_LOGP_REF, "logp_ref");
    refused("ratio_quantile", "NaN", grpo_ratio_quantile(b, 0.9, 1e-4, room.x), GRPO_BAD_LOGP, "logp");
    s->b.reward[1] = (grpo_real)NAN;
    refused("hardness_advantage", "NaN", grpo_hardness_advantage(b, 1, 1, room.a), GRPO_BAD_REWARD, "reward");
    refused("token_advantage", "NaN", grpo_token_advantage(b, 1e-6, 5, 1, room.a), GRPO_BAD_REWARD, "reward");
    refused("invariance_weight", "NaN", grpo_invariance_weight(b, ids, flags, room.a), GRPO_BAD_REWARD, "reward");
    refused("centred_weights", "NaN", grpo_centred_weights(b, 1, room.a, room.b), GRPO_BAD_REWARD, "reward");
    b->selected = NULL;
    refused("consistency_bonus", "no answer", grpo_consistency_bonus(b, fine, 0.5, 0.95, 0.01, room.a), GRPO_NULL_SELECTED, "selected");
    refused("ratio_quantile", "none selected", grpo_ratio_quantile(b, 0.9, 1e-4, room.x), GRPO_NULL_SELECTED, "selected");
}

static void check_papers(void)
{
    static setup s;
    static const int64_t lone[] = { 0, 1, 4 };
    grpo_real list[TOKENS] = { 0 };
    setup_make(&s);
    memset(&blank, 0x5a, sizeof blank);
    memcpy(&room, &blank, sizeof room);
    check_lists_of_numbers();
    check_advantages_of_lists();
    check_teachers_and_samplers();
    check_rewards_of_batches(&s);
    check_tokens_of_batches(&s);
    check_tokens_of_answers(&s);
    setup_free(&s);
    setup_make(&s);
    s.batch.group_begin = lone;
    refused("implicit_advantage", "a group of one", grpo_implicit_advantage(&s.batch, list, 5, 5, room.a), GRPO_LONE_RESPONSE, "group");
    setup_free(&s);
}

/* ---- functions found in pull requests and code ------------------------------------------------------------------------------------ */

/* what they write to: no bit of it changes where they refuse */
typedef struct {
    grpo_real real[TOKENS];
    double number[TOKENS];
    uint8_t flag[TOKENS];
    int64_t index[TOKENS];
} found_outputs;

static found_outputs found;

static void found_refused(const char *name, grpo_status st, grpo_status expected, const char *names)
{
    const uint8_t *byte = (const uint8_t *)&found;
    size_t k, written = 0;
    check_status(name, "refused", st, expected, names);
    for (k = 0; k < sizeof found; k++) written += byte[k] != 0x5a;
    check(written == 0, "%s: \"%s\", yet written", name, grpo_status_text(expected));
}

static const double ones[4] = { 1, 1, 1, 1 }, found_nans[4] = { 1, 1, 1, NAN }, larger[4] = { 1, 1, 1, 1e151 }, found_below[4] = { 1, 1, 1, -1 };
static const uint8_t found_flags[4] = { 1, 0, 1, 0 };

static void check_found_weights(setup *s)
{
    const grpo_batch *b = &s->batch;
    const grpo_prefix_gate good = { 3, 0.8, 0.15, 0.02, 0.9, 1 };
    grpo_prefix_gate gate = good;
    grpo_real *x = found.real;
    double *y = found.number;
    found_refused("confidence_factor", grpo_confidence_factor(b, found_flags, -1, y), GRPO_NEGATIVE_PARAMETER, "delta");
    found_refused("confidence_factor", grpo_confidence_factor(b, NULL, 1, y), GRPO_NULL_CORRECT, "correct");
    found_refused("confidence_factor", grpo_confidence_factor(b, found_flags, 1, NULL), GRPO_NULL_OUTPUT, "NULL");
    found_refused("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1.5, 1, 1, 1, x), GRPO_BAD_SHARE_ARGUMENT, "share");
    found_refused("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1, NAN, 1, 1, x), GRPO_BAD_PARAMETER, "up");
    found_refused("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1, 1, INFINITY, 1, x), GRPO_BAD_PARAMETER, "down");
    found_refused("surprisal_weight", grpo_surprisal_weight(b, s->advantage, 1, 1, 1, 1e151, x), GRPO_BAD_PARAMETER, "target");
    found_refused("surprisal_weight", grpo_surprisal_weight(b, NULL, 1, 1, 1, 1, x), GRPO_NULL_ADVANTAGE, "advantage");
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, NULL, y, found.flag), GRPO_NULL_ARGUMENT, "gate");
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, NULL, found.flag), GRPO_NULL_ARGUMENT, "scratch");
    gate.width = 2;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_SMALL_WIDTH, "width");
    gate = good; gate.delta = 0;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_NEGATIVE_PARAMETER, "delta");
    gate = good; gate.budget = -1;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_NEGATIVE_PARAMETER, "budget");
    gate = good; gate.factor = NAN;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_NEGATIVE_PARAMETER, "factor");
    gate = good; gate.least = -0.1;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_BAD_SHARE_ARGUMENT, "least");
    gate = good; gate.quantile = 1.1;
    found_refused("prefix_budget", grpo_prefix_budget(b, s->advantage, &gate, y, found.flag), GRPO_BAD_SHARE_ARGUMENT, "quantile");
    found_refused("difficulty_weight", grpo_difficulty_weight(b, found_nans, 1, y), GRPO_BAD_ENTRY, "accuracy");
    found_refused("difficulty_weight", grpo_difficulty_weight(b, NULL, 1, y), GRPO_NULL_ARGUMENT, "accuracy");
    found_refused("difficulty_weight", grpo_difficulty_weight(b, ones, 0, y), GRPO_BAD_SOFTMAX_TEMPERATURE, "temperature");
    found_refused("gaussian_covariance", grpo_gaussian_covariance(b, NULL, x), GRPO_NULL_ADVANTAGE, "advantage");
    found_refused("entropy_factor", grpo_entropy_factor(found_below, 4, 1, 2, y), GRPO_BAD_ENTRY, "entropy");
    found_refused("entropy_factor", grpo_entropy_factor(ones, 4, -1, 2, y), GRPO_NEGATIVE_PARAMETER, "alpha");
    found_refused("entropy_factor", grpo_entropy_factor(ones, 4, 1, 1, y), GRPO_BAD_SIZE, "size");
    found_refused("entropy_factor", grpo_entropy_factor(ones, -1, 1, 2, y), GRPO_BAD_COUNT, "count");
}

static void check_found_rewards(setup *s)
{
    static const int64_t answers[4] = { 0, 1, 2, -1 }, far[4] = { 0, 2, 0, 0 };
    const grpo_batch *b = &s->batch;
    grpo_real *x = found.real;
    double *y = found.number;
    const grpo_permutation_form none = (grpo_permutation_form)2;
    found_refused("shorter_correct", grpo_shorter_correct(b, NAN, x), GRPO_BAD_PARAMETER, "coef");
    found_refused("permutation_reward", grpo_permutation_reward(NULL, 2, 2, GRPO_PERMUTATION_JUDGE, y), GRPO_NULL_ARGUMENT, "choice");
    found_refused("permutation_reward", grpo_permutation_reward(answers, 4, 1, GRPO_PERMUTATION_JUDGE, y), GRPO_BAD_SIZE, "permutations");
    found_refused("permutation_reward", grpo_permutation_reward(answers, -1, 1, GRPO_PERMUTATION_VOTES, y), GRPO_BAD_SIZE, "permutations");
    found_refused("permutation_reward", grpo_permutation_reward(answers, 2, 2, none, y), GRPO_BAD_FORM, "form");
    found_refused("frequency_reward", grpo_frequency_reward(b, NULL, 1, x), GRPO_NULL_ARGUMENT, "answer");
    found_refused("frequency_reward", grpo_frequency_reward(b, answers, 0, x), GRPO_BAD_SIZE, "size");
    found_refused("repetition_reward", grpo_repetition_reward(b, NULL, 3, -1, x), GRPO_NULL_ARGUMENT, "token");
    found_refused("repetition_reward", grpo_repetition_reward(b, answers, 0, -1, x), GRPO_BAD_SIZE, "size");
    found_refused("repetition_reward", grpo_repetition_reward(b, answers, 3, NAN, x), GRPO_BAD_PARAMETER, "penalty");
    found_refused("correct_length", grpo_correct_length(b, NULL, 1, 1, 1, x), GRPO_NULL_CORRECT, "correct");
    found_refused("correct_length", grpo_correct_length(b, found_flags, NAN, 1, 1, x), GRPO_BAD_PARAMETER, "alpha");
    found_refused("correct_length", grpo_correct_length(b, found_flags, 1, -1, 1, x), GRPO_NEGATIVE_PARAMETER, "eps");
    found_refused("correct_length", grpo_correct_length(b, found_flags, 1, 1, INFINITY, x), GRPO_BAD_PARAMETER, "wrong");
    found_refused("pair_rewards", grpo_pair_rewards(b, NULL, found_flags, x, found.flag), GRPO_NULL_ARGUMENT, "outcome");
    found_refused("pair_rewards", grpo_pair_rewards(b, answers, NULL, x, found.flag), GRPO_NULL_ARGUMENT, "ended");
    found_refused("pair_rewards", grpo_pair_rewards(b, far, found_flags, x, found.flag), GRPO_BAD_ENTRY, "outcome");
    found_refused("pair_rewards", grpo_pair_rewards(b, answers, found_flags, x, NULL), GRPO_NULL_OUTPUT, "NULL");
    found_refused("spread_reward", grpo_spread_reward(larger, 4, y), GRPO_BAD_ENTRY, "distance");
    found_refused("spread_reward", grpo_spread_reward(NULL, 4, y), GRPO_NULL_ARGUMENT, "distance");
    check(grpo_annealed_split(0, 2, 1).own < 0 && grpo_annealed_split(1, 1, 1).own < 0 && grpo_annealed_split(1, 2, 0).own < 0,
          "annealed_split refuses");
    check(grpo_annealed_split(3, 5, 3).other == 2 && grpo_annealed_split(3, 5, 3).own == 1, "annealed_split");
}

static void check_found_distances(void)
{
    static const int64_t id[4] = { 1, 2, 3, 4 };
    int64_t scratch[10];
    double *y = found.number;
    const grpo_distance_form none = (grpo_distance_form)3;
    found_refused("sequence_distance", grpo_sequence_distance(id, 4, id, 4, none, scratch, y), GRPO_BAD_FORM, "form");
    found_refused("sequence_distance", grpo_sequence_distance(id, 0, id, 4, GRPO_DISTANCE_EDIT, scratch, y), GRPO_TOO_FEW, "n_a");
    found_refused("sequence_distance", grpo_sequence_distance(id, 4, id, -1, GRPO_DISTANCE_SUFFIX, scratch, y), GRPO_TOO_FEW, "n_b");
    found_refused("sequence_distance", grpo_sequence_distance(NULL, 4, id, 4, GRPO_DISTANCE_SUFFIX, NULL, y), GRPO_NULL_ARGUMENT, "a, b");
    found_refused("sequence_distance", grpo_sequence_distance(id, 4, NULL, 4, GRPO_DISTANCE_EDIT, scratch, y), GRPO_NULL_ARGUMENT, "a, b");
    found_refused("sequence_distance", grpo_sequence_distance(id, 4, id, 4, GRPO_DISTANCE_ROUGE_L, NULL, y), GRPO_NULL_ARGUMENT, "scratch");
    found_refused("sequence_distance", grpo_sequence_distance(id, 4, id, 4, GRPO_DISTANCE_EDIT, scratch, NULL), GRPO_NULL_OUTPUT, "last");
}

static void check_found_roles(setup *s)
{
    static const int64_t role[4] = { 1, 2, 1, 1 };
    static const uint8_t some[SEQUENCES] = { 1 };
    const grpo_batch *b = &s->batch;
    const double *x = ones;
    double *y = found.number;
    grpo_real *w = found.real;
    const grpo_role_form none = (grpo_role_form)3;
    found_refused("role_reward", grpo_role_reward(x, role, 4, none, y), GRPO_BAD_FORM, "form");
    found_refused("role_reward", grpo_role_reward(x, NULL, 4, GRPO_ROLE_MEAN, y), GRPO_NULL_ARGUMENT, "role");
    found_refused("role_reward", grpo_role_reward(NULL, role, 4, GRPO_ROLE_MEAN, y), GRPO_NULL_REWARD_LIST, "reward");
    found_refused("role_reward", grpo_role_reward(found_nans, role, 4, GRPO_ROLE_MEAN, y), GRPO_BAD_REWARD_LIST, "reward");
    found_refused("role_reward", grpo_role_reward(larger, role, 4, GRPO_ROLE_CLIPPED, y), GRPO_BAD_REWARD_LIST, "reward");
    found_refused("role_reward", grpo_role_reward(x, role, -1, GRPO_ROLE_MEAN, y), GRPO_BAD_COUNT, "count");
    found_refused("role_reward", grpo_role_reward(x, role, 4, GRPO_ROLE_MEAN, NULL), GRPO_NULL_OUTPUT, "last argument");
    found_refused("route_weight", grpo_route_weight(b, NULL, 1, w), GRPO_NULL_ARGUMENT, "routed");
    found_refused("route_weight", grpo_route_weight(b, some, -1, w), GRPO_NEGATIVE_PARAMETER, "beta");
    found_refused("route_weight", grpo_route_weight(b, some, NAN, w), GRPO_NEGATIVE_PARAMETER, "beta");
    found_refused("route_weight", grpo_route_weight(b, some, 1, NULL), GRPO_NULL_OUTPUT, "NULL");
    s->b.token[TOKEN_ENTROPY][FIRST_UNMASKED] = (grpo_real)NAN;
    found_refused("route_weight", grpo_route_weight(b, some, 1, w), GRPO_BAD_ENTROPY, "entropy");
    s->b.token[TOKEN_ENTROPY][FIRST_UNMASKED] = 1;
    s->batch.entropy = NULL;
    found_refused("route_weight", grpo_route_weight(b, some, 1, w), GRPO_NULL_ENTROPY, "entropy");
    s->batch.entropy = s->b.token[TOKEN_ENTROPY];
    s->b.token[TOKEN_ENTROPY][LAST_UNMASKED] = (grpo_real)NAN;
    check(grpo_route_weight(b, some, 1, s->out.dlogp) == GRPO_OK, "route_weight: what is not routed is read");
    s->b.token[TOKEN_ENTROPY][LAST_UNMASKED] = 1;
}

static void check_found_trees(void)
{
    static const int64_t tree[4] = { -1, 0, 0, 2 }, later[4] = { -1, 0, 3, 0 }, low[4] = { -1, 0, -2, 0 };
    static grpo_tree_state state[4];
    const grpo_tree_advantage_form none = (grpo_tree_advantage_form)3;
    double *y = found.number;
    found_refused("tree_advantage", grpo_tree_advantage(later, ones, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_BAD_TREE, "parent");
    found_refused("tree_advantage", grpo_tree_advantage(low, ones, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_BAD_TREE, "parent");
    found_refused("tree_advantage", grpo_tree_advantage(tree, ones, NULL, 4, 1, GRPO_TREE_TD, state, y), GRPO_NULL_ARGUMENT, "value");
    found_refused("tree_advantage", grpo_tree_advantage(NULL, ones, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_NULL_ARGUMENT, "parent");
    found_refused("tree_advantage", grpo_tree_advantage(tree, ones, ones, 4, 1, GRPO_TREE_TD, NULL, y), GRPO_NULL_ARGUMENT, "scratch");
    found_refused("tree_advantage", grpo_tree_advantage(tree, ones, found_nans, 4, 1, GRPO_TREE_TD, state, y), GRPO_BAD_ENTRY, "value");
    found_refused("tree_advantage", grpo_tree_advantage(tree, NULL, ones, 4, 1, GRPO_TREE_TD, state, y), GRPO_NULL_REWARD_LIST, "reward");
    found_refused("tree_advantage", grpo_tree_advantage(tree, found_nans, NULL, 4, 1, GRPO_TREE_PARENT, state, y), GRPO_BAD_REWARD_LIST, "reward");
    found_refused("tree_advantage", grpo_tree_advantage(tree, ones, ones, 4, NAN, GRPO_TREE_TD, state, y), GRPO_BAD_PARAMETER, "gamma");
    found_refused("tree_advantage", grpo_tree_advantage(tree, ones, ones, 4, 1, none, state, y), GRPO_BAD_FORM, "form");
}

static void check_found_advantages(setup *s)
{
    static grpo_dd scratch[SEQUENCES];
    const grpo_batch *b = &s->batch;
    const grpo_anchors good = { 0.2, 0.8, 1.25, 2, GRPO_ANCHORS_PAPER };
    grpo_anchors a = good;
    grpo_real *x = found.real;
    double *y = found.number;
    found_refused("collapsed_advantage", grpo_collapsed_advantage(b, -1, x), GRPO_NEGATIVE_PARAMETER, "eps");
    found_refused("variant_advantage", grpo_variant_advantage(found_nans, ones, ones, 4, 1, y), GRPO_BAD_ENTRY, "advantage");
    found_refused("variant_advantage", grpo_variant_advantage(ones, found_nans, ones, 4, 1, y), GRPO_BAD_ENTRY, "difficulty");
    found_refused("variant_advantage", grpo_variant_advantage(ones, ones, NULL, 4, 1, y), GRPO_NULL_ARGUMENT, "mean");
    found_refused("variant_advantage", grpo_variant_advantage(ones, ones, ones, 4, NAN, y), GRPO_BAD_PARAMETER, "k,");
    found_refused("step_weight", grpo_step_weight(ones, found_below, 4, y), GRPO_BAD_ENTRY, "weight");
    found_refused("step_weight", grpo_step_weight(ones, NULL, 4, y), GRPO_NULL_ARGUMENT, "weight");
    found_refused("two_anchors", grpo_two_anchors(b, ones, NULL, x), GRPO_NULL_ARGUMENT, "anchors");
    found_refused("two_anchors", grpo_two_anchors(b, NULL, &a, x), GRPO_NULL_ARGUMENT, "constraints");
    found_refused("two_anchors", grpo_two_anchors(b, found_below, &a, x), GRPO_BAD_ENTRY, "constraints");
    a.gain_neg = NAN;
    found_refused("two_anchors", grpo_two_anchors(b, ones, &a, x), GRPO_BAD_PARAMETER, "gain_neg");
    a = good; a.form = (grpo_anchors_form)2;
    found_refused("two_anchors", grpo_two_anchors(b, ones, &a, x), GRPO_BAD_FORM, "form");
    found_refused("pairwise_calibration", grpo_pairwise_calibration(b, found_flags, 0, scratch, x), GRPO_BAD_SOFTMAX_TEMPERATURE, "temperature");
    found_refused("pairwise_calibration", grpo_pairwise_calibration(b, NULL, 1, scratch, x), GRPO_NULL_CORRECT, "correct");
    found_refused("pairwise_calibration", grpo_pairwise_calibration(b, found_flags, 1, NULL, x), GRPO_NULL_ARGUMENT, "scratch");
    found_refused("multi_scale_advantage", grpo_multi_scale_advantage(ones, 1, 1, y), GRPO_BAD_SIZE, "2 .. 20");
    found_refused("multi_scale_advantage", grpo_multi_scale_advantage(ones, 21, 1, y), GRPO_BAD_SIZE, "2 .. 20");
    found_refused("multi_scale_advantage", grpo_multi_scale_advantage(ones, 4, 0, y), GRPO_NEGATIVE_PARAMETER, "eps");
    found_refused("multi_scale_advantage", grpo_multi_scale_advantage(found_nans, 4, 1, y), GRPO_BAD_REWARD_LIST, "reward");
    found_refused("hardest_miss", grpo_hardest_miss(b, NULL, x, found.index), GRPO_NULL_ARGUMENT, "utility");
    found_refused("hardest_miss", grpo_hardest_miss(b, larger, x, found.index), GRPO_BAD_ENTRY, "utility");
    found_refused("hardest_miss", grpo_hardest_miss(b, ones, x, NULL), GRPO_NULL_OUTPUT, "NULL");
    found_refused("position_advantage", grpo_position_advantage(ones, ones, 1, y), GRPO_BAD_SIZE, "position");
    found_refused("position_advantage", grpo_position_advantage(NULL, ones, 4, y), GRPO_NULL_ARGUMENT, "logp_old");
    found_refused("position_advantage", grpo_position_advantage(found_nans, ones, 4, y), GRPO_BAD_ENTRY, "logp_old");
    found_refused("position_advantage", grpo_position_advantage(ones, found_nans, 4, y), GRPO_BAD_REWARD_LIST, "reward");
}

/* arrays of the batch that are not there, or hold what they may not */
static void check_found_batches(setup *s)
{
    grpo_real *x = found.real;
    double *y = found.number;
    s->batch.reward = NULL;
    found_refused("shorter_correct", grpo_shorter_correct(&s->batch, 1, x), GRPO_NULL_REWARD, "reward");
    found_refused("collapsed_advantage", grpo_collapsed_advantage(&s->batch, 1, x), GRPO_NULL_REWARD, "reward");
    found_refused("difficulty_weight", grpo_difficulty_weight(&s->batch, ones, 1, y), GRPO_NULL_REWARD, "reward");
    found_refused("hardest_miss", grpo_hardest_miss(&s->batch, ones, x, found.index), GRPO_NULL_REWARD, "reward");
    s->batch.logp_old = NULL;
    found_refused("confidence_factor", grpo_confidence_factor(&s->batch, found_flags, 1, y), GRPO_NULL_LOGP_OLD, "logp_old");
    s->batch.entropy = NULL;
    found_refused("surprisal_weight", grpo_surprisal_weight(&s->batch, s->advantage, 1, 1, 1, 1, x), GRPO_NULL_ENTROPY, "entropy");
    s->b.token[TOKEN_LOGP][LAST_UNMASKED] = (grpo_real)-INFINITY;
    found_refused("gaussian_covariance", grpo_gaussian_covariance(&s->batch, s->advantage, x), GRPO_UNBOUNDED_LOGP, "batch.logp");
    s->b.length[0] = -1;
    found_refused("frequency_reward", grpo_frequency_reward(&s->batch, s->b.state, 1, x), GRPO_BAD_LENGTH, "length");
    found_refused("correct_length", grpo_correct_length(NULL, found_flags, 1, 1, 1, x), GRPO_NULL_BATCH, "batch");
}

static void check_found(void)
{
    static setup s;
    setup_make(&s);
    memset(&found, 0x5a, sizeof found);
    check_found_weights(&s);
    check_found_rewards(&s);
    check_found_distances();
    check_found_roles(&s);
    check_found_trees();
    check_found_advantages(&s);
    check_found_batches(&s);
    setup_free(&s);
}

int main(void)
{
    int k;
    check_nothing();
    check_missing();
    check_needs();
    check_shapes();
    check_token_values();
    check_shaped_rewards();
    check_other_values();
    check_given_weights();
    check_objectives();
    check_bounds();
    check_logits();
    check_papers();
    check_advantage_numbers();
    check_combinations();
    check_new_numbers();
    check_fields();
    check_needs_gspo();
    check_groups();
    check_totals();
    check_mixed(0);
    check_mixed(1);
    check_merge_null();
    check_moments_null();
    check_names();
    check_texts();
    check_found();
    for (k = 1; k < GRPO_N_STATUS; k++)
        if (k < GRPO_NULL_BY || k > GRPO_BAD_WINDOW_WEIGHT)           /* calls.c gives these */
            check(seen[k] > 0, "nothing gave status %d: %s", k, grpo_status_text((grpo_status)k));
    return check_summary();
}
