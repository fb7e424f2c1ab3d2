/* Invalid input to the functions of grpo.h and gspo.h, by tables: every field, array and combination, in every function that reads it.  The
 * message is the expected one, and nothing is written.  calls_refused.c and calls_faults.c do the same for extra/. */
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/field.h"
#include "../support/small_batch.h"
#include "../support/status.h"
#include <fenv.h>

enum {                                   /* the functions of the library */
    ADVANTAGES = 1, WITH = 2, MOMENTS = 4, COUNT = 8, LOSS = 16, LOSS_ADD = 32, INFORMATIVE = 64, CHECK = 128,
        AXIS_2 = ADVANTAGES | WITH | MOMENTS,
    LOSSES = LOSS | LOSS_ADD, WITH_OBJECTIVE = AXIS_2 | COUNT | LOSSES, ALL = WITH_OBJECTIVE | INFORMATIVE,
        OBJECTIVE = WITH_OBJECTIVE | CHECK
};

/* all outputs of all functions */
typedef struct {
    grpo_real advantage[TOKENS], dlogp[TOKENS], dentropy[TOKENS], ddivergence_ref[TOKENS], term[TOKENS], dlog_partition[GROUPS];
    double scratch[15 * 2];              /* of the largest group */
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
    /* the arguments */
    const grpo_objective *pass_objective;
    const grpo_batch *pass_batch;
    const grpo_real *pass_advantage;
    const grpo_totals *pass_totals;
    int no_output, less_scratch;         /* less_scratch: 1: one element too few; 2: NULL with a sufficient size */
} setup;

static int seen[GRPO_N_RULES];

/* ---- a valid setup ------------------------------------------------------------------------------------------------------------- */

/* applies settings "path=value path=value": numbers, and choices by name */
static void settle(grpo_objective *obj, const char *settings) {
    char word[160], *value, *end;
    size_t n;
    for (; *settings; settings += n + (settings[n] == ' ')) {
        n = strcspn(settings, " ");
        memcpy(word, settings, n);
        word[n] = 0;
        value = strchr(word, '=');
        *value++ = 0;
        if (field_named(word)->choices) check(!grpo_objective_choose(obj, word, value), "no choice %s of %s", value, word);
        else field_set(obj, field_named(word), strtod(value, &end));
    }
}

/* an objective that needs no optional array; numbers have values that the choices accept */
static void base_objective(grpo_objective *obj) {
    memset(obj, 0, sizeof *obj);
    settle(obj, "reward.overlong_max=1 reward.overlong_cache=1 reward.length_max=1 advantage.eps=1 advantage.scale_divisor=1 "
        "advantage.pass_k=1 advantage.hdi_mass=1");
    settle(obj, "advantage.entropy_kappa=1 advantage.entropy_max=1 advantage.observation_noise=1 advantage.history_length=1 "
        "advantage.temperature=1 advantage.entropy_share_eps=1");
    settle(obj, "advantage.reweight_temperature=1 advantage.difficulty_weight_high=1 advantage.focal_reward_high=1 surrogate.tau_pos=1 "
        "surrogate.advantage_temperature=1 surrogate.tau_neg=1 surrogate.shaping_gamma=1 surrogate.contrast_temperature=1");
    settle(obj, "surrogate.eps_high=0.1 surrogate.quadratic_eps=0.1 weight.fipo_half_life=1 weight.policy_is_high=1 "
        "aggregation.constant=1");
    settle(obj, "weight.fipo_low=1 weight.fipo_high=1 weight.fipo_safe_low=0.8 weight.fipo_safe_high=1");
}

static void setup_make(setup *s, const char *settings) {
    int64_t t;
    memset(s, 0, sizeof *s);
    base_objective(&s->objective);
    settle(&s->objective, settings);
    fill_batch(&s->b);
    s->batch = rollouts_view(&s->b);
    for (t = 0; t < TOKENS; t++) s->advantage[t] = 1;
    s->totals.tokens = s->totals.sequences = s->totals.sequences_nonempty = s->totals.groups = s->totals.groups_nonempty = 100;
    s->pass_objective = &s->objective;
    s->pass_batch = &s->batch;
    s->pass_advantage = s->advantage;
    for (t = 0; t < TOKENS; t++) s->out.advantage[t] = s->out.dlogp[t] = s->out.dentropy[t] = s->out.term[t] = 4321;
    for (t = 0; t < TOKENS; t++) s->out.ddivergence_ref[t] = 4321;
    for (t = 0; t < GROUPS; t++) s->out.dlog_partition[t] = 4321;
    memset(&s->out.report, 0x5a, sizeof s->out.report);
    memset(s->out.keep, 0x5a, sizeof s->out.keep);
    s->before = s->out;
}

static void setup_free(setup *s) { rollouts_free(&s->b); }

/* ---- the calls ----------------------------------------------------------------------------------------------------------------- */

typedef grpo_status call(setup *s);

static grpo_status call_advantages(setup *s) {
    return grpo_advantages(s->pass_objective, s->pass_batch, s->no_output ? NULL : s->out.advantage);
}

static grpo_status call_with(setup *s) {
    grpo_moments m;
    memset(&m, 0, sizeof m);
    m.sequences = 1000;                                     /* no fewer than the batch has */
    return grpo_advantages_with_moments(s->pass_objective, s->pass_batch, &m, s->no_output ? NULL : s->out.advantage);
}

static grpo_status call_moments(setup *s) {
    return grpo_moments_add(s->pass_objective, s->pass_batch, s->no_output ? NULL : &s->out.moments);
}

static grpo_status call_count(setup *s) {
    return grpo_totals_add(s->pass_objective, s->pass_batch, s->pass_advantage, s->no_output ? NULL : &s->out.totals);
}

static grpo_status call_informative(setup *s) { return grpo_dynamic_sampling_mask(s->pass_batch, s->no_output ? NULL : s->out.keep); }

static grpo_output output_of(setup *s) {
    grpo_output out;
    out.dlogp = s->out.dlogp;
    out.dentropy = s->out.dentropy;
    out.ddivergence_ref = s->out.ddivergence_ref;
    out.term = s->out.term;
    out.dlog_partition = s->out.dlog_partition;
    out.scratch = s->less_scratch == 2 ? NULL : s->out.scratch;
    out.scratch_size = (int64_t)(sizeof s->out.scratch / sizeof *s->out.scratch) - (s->less_scratch == 1);
    return out;
}

static grpo_status call_grpo_loss(setup *s) {
    grpo_output out = output_of(s);
    return grpo_loss(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.report);
}

static grpo_status call_gspo_loss(setup *s) {
    grpo_output out = output_of(s);
    return gspo_loss(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.report);
}

static grpo_status call_grpo_loss_add(setup *s) {
    grpo_output out = output_of(s);
    return grpo_loss_add(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.partial);
}

static grpo_status call_gspo_loss_add(setup *s) {
    grpo_output out = output_of(s);
    return gspo_loss_add(s->pass_objective, s->pass_batch, s->pass_advantage, s->pass_totals, &out, s->no_output ? NULL : &s->out.partial);
}

static grpo_status call_check(setup *s) { return grpo_objective_check(s->pass_objective); }

static const struct { int group; const char *name; call *make; } calls[] = {
    { ADVANTAGES, "grpo_advantages", call_advantages },
    { WITH, "grpo_advantages_with_moments", call_with },
    { MOMENTS, "grpo_moments_add", call_moments },
    { COUNT, "grpo_totals_add", call_count },
    { INFORMATIVE, "grpo_dynamic_sampling_mask", call_informative },
    { LOSS, "grpo_loss", call_grpo_loss },
    { LOSS, "gspo_loss", call_gspo_loss },
    { LOSS_ADD, "grpo_loss_add", call_grpo_loss_add },
    { LOSS_ADD, "gspo_loss_add", call_gspo_loss_add },
    { CHECK, "grpo_objective_check", call_check },
};
enum { CALLS = sizeof calls / sizeof *calls };

static int is_of_gspo(const grpo_objective *o) { return o->ratio.level != GRPO_LEVEL_TOKEN
    || o->penalty.preference != GRPO_PREFERENCE_NONE; }

/* a missing array: one of the fields that its message names is set in `what`.  Log-probabilities and segments have further readers */
static void check_reader(const char *line, const char *what) {
    static const char *const many[] = {
        "batch.logp_old", "batch.logp_ref", "batch.logp_rollout", "batch.logp_teacher", "batch.segment_end"
    };
    char field[80];
    int named = 0;
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) if (!strncmp(line, many[k], strlen(many[k]))) return;
    for (const char *p = strchr(line, ':'); p; p = strchr(p + 1, ' ')) {
        snprintf(field, sizeof field, "%.*s=", (int)strspn(p + 1, "abcdefghijklmnopqrstuvwxyz_."), p + 1);
        named |= strchr(field, '.') && strstr(what, field);
    }
    check(named, "%s: %s", what, line);
}

static void expect(const char *what, grpo_status found, const char *message) {
    const char *line = found ? status_line(found) : "";
    if (grpo_status_is(found, GRPO_NULL) && !strncmp(line, "batch.", 6) && strchr(line, ':') && !strchr(message ? message : "", ':')) {
        static char whole[200];
        check_reader(line, what);
        snprintf(whole, sizeof whole, "%s%s", message ? message : "", strchr(line, ':'));                    /* what reads it follows */
        message = whole;
    }
    check(!strcmp(line, message ? message : ""), "%s: \"%s\" instead of \"%s\"", what, line, message ? message : "");
    seen[grpo_status_rule(found)]++;
}

/* calls every function: those in `concerns` must return the message and write nothing, the others must succeed.  Does not free s */
static void check_calls(setup *s, int concerns, const char *message, const char *what) {
    static setup each;
    char text[300];
    int k;
    for (k = 0; k < CALLS; k++) {
        const int tokens_only = (calls[k].group & LOSSES) && calls[k].name[1] == 'r';
        if (tokens_only && s->pass_objective && is_of_gspo(s->pass_objective)) continue;         /* refused with GRPO_NEEDS_GSPO */
        each = *s;
        if (s->pass_objective) each.pass_objective = &each.objective;
        if (s->pass_batch) each.pass_batch = &each.batch;
        snprintf(text, sizeof text, "%s, %s", calls[k].name, what);
        expect(text, calls[k].make(&each), calls[k].group & concerns ? message : NULL);
        if (calls[k].group & concerns) check(!memcmp(&each.out, &each.before, sizeof each.out), "%s: something was written", text);
    }
}

/* ---- arrays of the batch ------------------------------------------------------------------------------------------------------- */

typedef enum { REAL, INT64, NUMBER, FLAGS } element;

#define MEMBER(name, kind) { #name, offsetof(grpo_batch, name), kind }
static const struct member { const char *name; size_t offset; element kind; } members[] = {
    MEMBER(n_groups, NUMBER), MEMBER(group_begin, INT64), MEMBER(offset, INT64), MEMBER(length, INT64), MEMBER(n_tokens, NUMBER),
    MEMBER(logp, REAL), MEMBER(logp_old, REAL), MEMBER(logp_ref, REAL), MEMBER(logp_rollout, REAL), MEMBER(logp_teacher, REAL),
    MEMBER(entropy, REAL), MEMBER(value, REAL), MEMBER(step_reward, REAL), MEMBER(step_end, FLAGS), MEMBER(segment_end, FLAGS),
        MEMBER(mask, FLAGS),
    MEMBER(selected, FLAGS), MEMBER(kl_mask, FLAGS), MEMBER(nll_mask, FLAGS), MEMBER(marked, FLAGS), MEMBER(shaping_mask, FLAGS),
        MEMBER(state, INT64), MEMBER(token_id, INT64), MEMBER(sum_pi_squared, REAL), MEMBER(reward, REAL), MEMBER(rewards, REAL),
    MEMBER(n_rewards, NUMBER), MEMBER(reward_weight, REAL), MEMBER(truncated, FLAGS), MEMBER(excluded, FLAGS), MEMBER(baseline, REAL),
    MEMBER(log_partition, REAL), MEMBER(external_weight, REAL), MEMBER(eps_low, REAL), MEMBER(eps_high, REAL),
    MEMBER(divergence_ref, REAL), MEMBER(divergence_old, REAL),
};

static const struct member *member_named(const char *name, size_t length) {
    size_t k;
    for (k = 0; k < sizeof members / sizeof *members; k++)
        if (strlen(members[k].name) == length && !strncmp(members[k].name, name, length)) return &members[k];
    check(0, "no member %s", name);
    return members;
}

/* sets the named arrays to NULL; "advantage" is the argument of the loss */
static void take_away(setup *s, const char *names) {
    size_t n;
    for (; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        if (n == 9 && !strncmp(names, "advantage", n)) s->pass_advantage = NULL;
        else memset((char *)&s->batch + member_named(names, n)->offset, 0, sizeof(void *));
    }
}

static void put_element(setup *s, const char *name, int64_t at, double value) {
    const struct member *m = strcmp(name, "advantage") ? member_named(name, strlen(name)) : NULL;
    const int64_t whole = value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)(!m || m->kind == REAL ? 0 : value);
    void *array;
    if (!m) { s->advantage[at] = (grpo_real)value; return; }
    memcpy(&array, (char *)&s->batch + m->offset, sizeof array);
    if (m->kind == NUMBER) memcpy((char *)&s->batch + m->offset, &whole, sizeof whole);
    else if (m->kind == INT64) ((int64_t *)array)[at] = whole;
    else if (m->kind == FLAGS) ((uint8_t *)array)[at] = (uint8_t)whole;
    else ((grpo_real *)array)[at] = (grpo_real)value;
}

#define OPTIONAL "logp_old logp_ref logp_rollout entropy selected logp_teacher state sum_pi_squared step_end step_reward external_weight " \
                 "eps_low eps_high divergence_ref divergence_old"
static const struct { const char *settings, *missing; int concerns; } needs[] = {
#include "needs.h"
};

static void check_needs(void) {
    static setup s;
    char message[80];
    size_t k;
    for (k = 0; k < sizeof needs / sizeof *needs; k++) {
        const char *first = needs[k].missing;
        setup_make(&s, needs[k].settings);
        take_away(&s, needs[k].missing);
        if (!strncmp(first, OPTIONAL " ", sizeof OPTIONAL)) first += sizeof OPTIONAL;
        snprintf(message, sizeof message, "%s%.*s is NULL but needed", strncmp(first, "advantage", 9) ? "batch." : "", (int)strcspn(first,
            " "), first);
        check_calls(&s, needs[k].concerns, message, needs[k].settings);
        setup_free(&s);
    }
}

/* ---- elements of the arrays ------------------------------------------------------------------------------------------------------ */

/* settings that read an array, the functions that check it, its first and last element that are read, one that is not (-1: all are), and
 * the range of valid numbers */
static const struct numbers { const char *settings, *array; int concerns, first, last, unread; double low, high; } numbers[] = {
#define TOKENS_OF FIRST_UNMASKED, LAST_UNMASKED, MASKED
#define FINITE -DBL_MAX, DBL_MAX
#define LOGP -HUGE_VAL, DBL_MAX
#define MODERATE -1e150, 1e150
    { "", "logp", LOSSES, TOKENS_OF, LOGP },
    { "surrogate.kind=ratio", "logp_old", LOSSES, TOKENS_OF, LOGP },
    { "surrogate.kind=ratio ratio.behaviour=rollout", "logp_rollout", LOSSES, TOKENS_OF, LOGP },
    { "surrogate.kind=ratio ratio.behaviour=ref", "logp_ref", LOSSES, TOKENS_OF, LOGP },
    { "penalty.kl=k1 penalty.kl_reference=teacher", "logp_teacher", LOSSES, TOKENS_OF, LOGP },
    { "penalty.nll_on=all penalty.nll_form=teacher_gap", "logp_teacher", LOSSES, TOKENS_OF, LOGP },
    { "weight.rollout_is=truncate weight.rollout_is_high=2", "logp_rollout", COUNT | LOSSES, TOKENS_OF, LOGP },
    { "advantage.teacher_coef=0.5", "logp_teacher", AXIS_2, TOKENS_OF, FINITE },
    { "advantage.kl_centred_coef=-1", "logp_rollout", AXIS_2, TOKENS_OF, FINITE },
    { "advantage.entropy=bonus", "entropy", AXIS_2 | LOSSES, TOKENS_OF, FINITE },
    { "", "entropy", LOSSES, TOKENS_OF, FINITE },
    { "advantage.credit=gae", "value", AXIS_2, TOKENS_OF, MODERATE },
    { "advantage.token_baseline=optimal", "sum_pi_squared", AXIS_2, TOKENS_OF, MODERATE },
    { "weight.external=term", "external_weight", LOSSES, TOKENS_OF, 0, DBL_MAX },
    { "penalty.kl=external", "divergence_ref", LOSSES, TOKENS_OF, 0, DBL_MAX },
    { "weight.trust=divergence", "divergence_old", LOSSES, TOKENS_OF, 0, DBL_MAX },
    { "surrogate.kind=ppo_clip surrogate.bounds=external", "eps_low", LOSSES, TOKENS_OF, 0, 1 },
    { "surrogate.kind=gppo surrogate.bounds=external", "eps_high", LOSSES, TOKENS_OF, 0, DBL_MAX },
    { "", "advantage", LOSSES, TOKENS_OF, FINITE },
    { "advantage.credit=step", "step_reward", AXIS_2, TOKENS_OF, MODERATE },
    { "", "reward", AXIS_2 | INFORMATIVE, 2, SEQUENCES - 1, -1, MODERATE },
    { "advantage.rewards=each", "rewards", AXIS_2, 0, SEQUENCES * REWARDS - 1, -1, MODERATE },
    { "advantage.rewards=each", "reward_weight", AXIS_2, 0, REWARDS - 1, -1, MODERATE },
    { "advantage.baseline=external", "baseline", AXIS_2, 0, GROUPS - 1, -1, MODERATE },
    { "surrogate.kind=trajectory_balance ratio.level=sequence_mean ratio.behaviour=none", "log_partition", LOSSES, 0, GROUPS - 1, -1,
        FINITE },
};

/* changes one element of the array; rule: part of the message, NULL: all functions succeed */
static void check_element(const struct numbers *n, int at, double value, const char *rule) {
    static setup s;
    char message[120], what[160];
    for (int masked = 1; masked >= (at == n->unread); masked--) {                  /* 0: without a mask */
        setup_make(&s, n->settings);
        put_element(&s, n->array, at, value);
        if (!masked) s.batch.mask = NULL;
        snprintf(message, sizeof message, "%s%s[%d] %s", strcmp(n->array, "advantage") ? "batch." : "", n->array, at, rule ? rule : "");
        snprintf(what, sizeof what, "%s, %s[%d] = %g%s", n->settings, n->array, at, value, masked ? "" : ", no mask");
        check_calls(&s, rule ? n->concerns : 0, message, what);
        setup_free(&s);
    }
}

static void check_numbers(void) {
    const int wide = sizeof(grpo_real) == 8;
    size_t k;
    int last;
    for (k = 0; k < sizeof numbers / sizeof *numbers; k++) for (last = 0; last < 2; last++) {
        const struct numbers *n = &numbers[k];
        const int at = last ? n->last : n->first;
        check_element(n, at, NAN, "is NaN");
        check_element(n, at, INFINITY, "is infinite");
        if (n->low > -HUGE_VAL) check_element(n, at, -INFINITY, "is infinite");
        if (n->low == 0) check_element(n, at, -1e-30, n->high == 1 ? "must lie in [0, 1]" : "must not be negative");
        if (n->high == 1) check_element(n, at, 1.0001, "must lie in [0, 1]");
        if (n->high == 1e150 && wide) check_element(n, at, 1.001e150, "is larger than 1e150 in magnitude");
        if (n->high == 1e150 && wide) check_element(n, at, -1.001e150, "is larger than 1e150 in magnitude");
        if (n->high <= 1 || n->low == 0) check_element(n, at, n->low, NULL);
        if (n->high <= 1) check_element(n, at, n->high, NULL);
        if (n->unread >= 0) { check_element(n, n->unread, NAN, NULL); check_element(n, n->unread, INFINITY, NULL); }
    }
}

/* settings, the invalid element and its value, the functions that refuse it, and their message */
typedef struct { const char *settings, *array; int at; double value; int concerns; const char *message; } fault;

#define ENDS ": n_groups + 1 elements of int64_t, where each group begins and the last ends"
#define SIZE ", which is the size of arrays per token"
static const fault faults[] = {
    /* the layout */
    { "", "n_groups", 0, -1, ALL, "batch.n_groups must not be negative" },
    { "", "group_begin", 0, -1, ALL, "batch.group_begin[0] must not be negative" },
    { "", "group_begin", 0, 2, ALL, "batch.group_begin[1] must increase" ENDS },
    { "", "group_begin", 1, 0, ALL, "batch.group_begin[1] must increase" ENDS },
    { "", "group_begin", 2, 1, ALL, "batch.group_begin[2] must increase" ENDS },
    { "", "group_begin", 2, 4294967297.0, ALL, "batch.group_begin[2] is out of range: at most 2^32, of int64_t" },
    { "", "length", 0, -1, ALL, "batch.length[0] must not be negative" },
    { "", "length", 3, -1, ALL, "batch.length[3] must not be negative" },
    { "", "offset", 0, -1, ALL, "batch.offset[0] must not be negative" },
    { "", "offset", 3, 6, ALL, "batch.length[3] reaches past batch.n_tokens" SIZE },
    { "", "offset", 2, 9, ALL, "batch.offset[2] reaches past batch.n_tokens" SIZE },
    { "", "offset", 2, 8, 0, NULL },                                         /* an empty sequence may stand at the end */
    { "", "length", 0, 9, ALL, "batch.length[0] reaches past batch.n_tokens" SIZE },
    { "", "n_tokens", 0, 7, ALL, "batch.length[3] reaches past batch.n_tokens" SIZE },
    { "", "n_tokens", 0, -1, ALL, "batch.offset[0] reaches past batch.n_tokens" SIZE },
    { "", "length", 3, HUGE_VAL, ALL, "batch.length[3] reaches past batch.n_tokens" SIZE },
    { "", "offset", 3, HUGE_VAL, ALL, "batch.offset[3] reaches past batch.n_tokens" SIZE },
    { "", "offset", 3, -HUGE_VAL, ALL, "batch.offset[3] must not be negative" },
    { "advantage.rewards=each", "n_rewards", 0, 0, AXIS_2, "batch.n_rewards must be positive" },
    { "advantage.rewards=each", "n_rewards", 0, -1, AXIS_2, "batch.n_rewards must be positive" },
    { "advantage.rewards=each", "n_rewards", 0, GRPO_MAX_REWARDS + 1, AXIS_2, "batch.n_rewards is more than GRPO_MAX_REWARDS" },
    { "advantage.rewards=each", "n_rewards", 0, 1, 0, NULL },
    /* arrays that nothing reads */
    { "", "logp_teacher", FIRST_UNMASKED, NAN, 0, NULL }, { "", "sum_pi_squared", FIRST_UNMASKED, NAN, 0, NULL },
    { "penalty.kl=k3", "divergence_ref", FIRST_UNMASKED, NAN, 0, NULL },
    { "weight.trust=k2", "divergence_old", FIRST_UNMASKED, NAN, 0, NULL },
    { "", "external_weight", FIRST_UNMASKED, NAN, 0, NULL }, { "", "value", FIRST_UNMASKED, NAN, 0, NULL },
        { "", "step_reward", 0, NAN, 0, NULL },
    /* arrays that the loss uses for the report alone, where -infinity is valid */
    { "advantage.teacher_share=0.5", "logp_old", LAST_UNMASKED, -INFINITY, AXIS_2, "batch.logp_old[7] is infinite" },
    { "advantage.teacher_share=0.5", "logp_old", FIRST_UNMASKED, INFINITY, AXIS_2 | LOSSES, "batch.logp_old[0] is infinite" },
    { "advantage.kl_centred_coef=-1", "logp_ref", FIRST_UNMASKED, -INFINITY, AXIS_2, "batch.logp_ref[0] is infinite" },
    { "advantage.kl_centred_coef=-1", "logp_ref", LAST_UNMASKED, NAN, AXIS_2 | LOSSES, "batch.logp_ref[7] is NaN" },
    { "advantage.kl_centred_coef=-1", "logp_ref", MASKED, NAN, 0, NULL },
    /* valid rewards that axis 1 makes too large for axis 2 */
    { "reward.map=affine reward.map_factor=1e151", "reward", 0, 0, AXIS_2, "shaped reward[1] is larger than 1e150 in magnitude" },
    { "reward.map=affine reward.map_factor=1e140", "reward", 0, 0, 0, NULL },
    { "reward.length=kimi reward.length_coef=1e152", "reward", 0, 0, AXIS_2, "shaped reward[0] is larger than 1e150 in magnitude" },
    { "reward.length=kimi reward.length_coef=1e140", "reward", 0, 0, 0, NULL },
    { "reward.overlong=soft reward.overlong_max=2 reward.overlong_cache=2 reward.overlong_factor=1e151", "reward", 0, 0, AXIS_2,
      "shaped reward[0] is larger than 1e150 in magnitude" },
    { "reward.overlong=soft reward.overlong_max=2 reward.overlong_cache=2 reward.overlong_factor=1e149", "reward", 0, 0, 0, NULL },
    { "reward.kl=k1 reward.kl_coef=0.1", "logp_old", FIRST_UNMASKED, -INFINITY, AXIS_2,
      "KL in the reward[0] is larger than 1e150 in magnitude" },
    { "reward.kl=k1 reward.kl_coef=0.1", "logp_ref", LAST_UNMASKED, -INFINITY, AXIS_2,
      "KL in the reward[7] is larger than 1e150 in magnitude" },
    { "reward.kl=k1 reward.kl_coef=0.1", "logp_ref", MASKED, -INFINITY, 0, NULL },
    { "reward.kl=k3 reward.kl_coef=0.1", "logp_old", LAST_UNMASKED, -400, AXIS_2, "KL in the reward[7] is larger than 1e150 in magnitude" },
    { "reward.kl=k3 reward.kl_coef=0.1", "logp_old", LAST_UNMASKED, -300, 0, NULL },
    /* k of n needs n items: two responses in each group, three steps in the first of their halves */
    { "advantage.transform=pass_at_k advantage.pass_k=3", "reward", 0, 0, AXIS_2, "group[0] has fewer items than advantage.pass_k" },
    { "advantage.transform=pkpo_maxrl advantage.pass_k=1e300", "reward", 0, 0, AXIS_2, "group[0] has fewer items than advantage.pass_k" },
    { "advantage.transform=pass_at_k advantage.pass_k=4 advantage.credit=step", "reward", 0, 0, AXIS_2,
      "group[1] has fewer items than advantage.pass_k" },
    { "advantage.transform=pass_at_k advantage.pass_k=2", "reward", 0, 0, 0, NULL },
    { "advantage.transform=pkpo_maxrl advantage.pass_k=3 advantage.credit=step", "reward", 0, 0, 0, NULL },
    /* scale beta needs rewards in [0, 1] */
    { "advantage.scale=beta", "reward", 2, 1.5, AXIS_2, "shaped reward[2] must lie in [0, 1]" },
    { "advantage.scale=beta", "reward", 0, -0.25, AXIS_2, "shaped reward[0] must lie in [0, 1]" },
    { "advantage.scale=beta advantage.credit=step", "step_reward", LAST_UNMASKED, -1, AXIS_2, "batch.step_reward[7] must lie in [0, 1]" },
    /* a dual clip must exceed the upper clip bound of the batch */
    { "surrogate.kind=gppo surrogate.bounds=external surrogate.clip_dual=3", "eps_high", LAST_UNMASKED, 2, LOSSES,
      "surrogate.clip_dual must exceed 1 + batch.eps_high[7]" },
    { "surrogate.kind=dual_clip surrogate.bounds=external surrogate.clip_dual=3", "eps_high", LAST_UNMASKED, 2, LOSSES,
      "surrogate.clip_dual must exceed 1 + batch.eps_high[7]" },
    { "surrogate.kind=dual_clip surrogate.bounds=external surrogate.clip_dual=3", "eps_high", LAST_UNMASKED, 1.875, 0, NULL },
    { "surrogate.kind=dual_clip surrogate.bounds=external surrogate.clip_dual=3", "eps_high", MASKED, NAN, 0, NULL },
    { "surrogate.kind=gppo surrogate.bounds=external", "eps_high", LAST_UNMASKED, 2, 0, NULL },
    { "surrogate.kind=ppo_clip surrogate.bounds=external", "eps_high", LAST_UNMASKED, 2, 0, NULL },
};

static void check_faults(void) {
    static setup s;
    size_t k;
    int64_t t;
    for (k = 0; k < sizeof faults / sizeof *faults; k++) {
        const fault *f = &faults[k];
        setup_make(&s, f->settings);
        if (s.objective.advantage.scale == GRPO_SCALE_BETA) {
            for (t = 0; t < SEQUENCES; t++) s.b.reward[t] = (grpo_real)(t % 2);
            for (t = 0; t < TOKENS; t++) s.b.token[TOKEN_STEP_REWARD][t] = 1;
        }
        put_element(&s, f->array, f->at, f->value);
        check_calls(&s, f->concerns, f->message, f->settings);
        setup_free(&s);
    }
}

/* returns that exceed 1e150 though no reward does; step rewards are not read where no step ends */
static void check_returns(void) {
    static setup s;
    const int wide = sizeof(grpo_real) == 8;
    int64_t t;
    setup_make(&s, "advantage.credit=step advantage.step_value=return advantage.gamma=1 advantage.step_gamma=1");
    for (t = 0; t < TOKENS; t++) s.b.token[TOKEN_STEP_REWARD][t] = (grpo_real)(wide ? 6e149 : 3e38);
    check_calls(&s, wide ? AXIS_2 : 0, "batch.step_reward[0] is larger than 1e150 in magnitude", "returns");
    setup_free(&s);
    setup_make(&s, "advantage.credit=step");
    s.b.token[TOKEN_STEP_REWARD][LAST_UNMASKED] = (grpo_real)NAN;
    s.b.step_end[LAST_UNMASKED] = 0;
    check_calls(&s, 0, NULL, "a reward that is not read");
    setup_free(&s);
}

/* ---- objectives ---------------------------------------------------------------------------------------------------------------- */

static const struct { const char *settings, *message; } refusals[] = {
#include "refusals.h"
};

static void check_refusals(void) {
    static setup s;
    size_t k;
    for (k = 0; k < sizeof refusals / sizeof *refusals; k++) {
        setup_make(&s, refusals[k].settings);
        if (refusals[k].message) check_calls(&s, OBJECTIVE, refusals[k].message, refusals[k].settings);
        else expect(refusals[k].settings, grpo_objective_check(&s.objective), NULL);
        setup_free(&s);
    }
}

/* in every rounding mode but to nearest: the message from each function of a batch, and nothing is written */
static void check_rounding_modes(void) {
    static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    static setup s;
    size_t k;
    for (k = 0; k < sizeof modes / sizeof *modes; k++) {
        setup_make(&s, "");
        if (!check(!fesetround(modes[k]), "rounding mode %d", modes[k])) return;
        check_calls(&s, ALL, "arithmetic is not that of IEEE 754, rounded to nearest", "rounding mode");
        fesetround(FE_TONEAREST);
        check_calls(&s, 0, NULL, "rounding to nearest");
        setup_free(&s);
    }
}

/* numbers that may be +infinity, or either infinity; all others must be finite */
static const char *const upwards[] = { "surrogate.eps_low", "surrogate.eps_high", "surrogate.quadratic_eps", "surrogate.bound_cap",
    "surrogate.log_low",
    "surrogate.log_high",
    "surrogate.log_clip_dual", "ratio.token_clip_low", "ratio.token_clip_high", "penalty.kl_importance_weight_max", "penalty.kl_clamp_log",
        "penalty.kl_clamp_value",
    "weight.trust_low", "weight.trust_high", "weight.rec_outer_high" };
static const char *const both_ways[] = { "reward.map_low", "reward.map_high", "advantage.clamp_low", "advantage.clamp_high",
    "surrogate.clip_dual", "surrogate.clip_dual_pos", "surrogate.weight_max", "surrogate.weight_max_neg", "ratio.clamp_low",
        "ratio.clamp_high",
    "ratio.level_clamp_low", "ratio.level_clamp_high", "weight.off_policy_mask_threshold", "weight.rollout_is_high", "weight.rollout_clamp",
    "weight.policy_is_high", "weight.rollout_rs_low", "weight.rollout_rs_high", "weight.fipo_ratio_max", "weight.fipo_high",
        "weight.fipo_safe_ratio",
    "weight.fipo_safe_high" };

static int is_among(const char *path, const char *const *paths, size_t n) {
    size_t k;
    for (k = 0; k < n; k++) if (!strcmp(paths[k], path)) return 1;
    return 0;
}

static void check_field(const grpo_field *f, double value, const char *rule) {
    static setup s;
    char message[700];
    snprintf(message, sizeof message, "%s %s%s%s", f->path, rule, f->choices ? ": it has " : "", f->choices ? f->choices : "");
    setup_make(&s, "");
    field_set(&s.objective, f, value);
    check_calls(&s, OBJECTIVE, message, f->path);
    setup_free(&s);
}

/* the value is valid for its field; the check may still refuse it in combination with another field */
static void check_may_be(const grpo_field *f, double value) {
    grpo_objective obj;
    grpo_status st;
    base_objective(&obj);
    field_set(&obj, f, value);
    st = grpo_objective_check(&obj);
    check(!st || grpo_status_is(st, GRPO_CROSSED), "%s of %g: %s", f->path, value, status_line(st));
}

/* every field: a choice one below and one above its range, a number NaN and infinite */
static void check_fields(void) {
    int k, count;
    const grpo_field *field = grpo_fields(&count);
    for (k = 0; k < count; k++) {
        const grpo_field *f = &field[k];
        const int both = is_among(f->path, both_ways, sizeof both_ways / sizeof *both_ways);
        const int up = both || is_among(f->path, upwards, sizeof upwards / sizeof *upwards);
        if (f->choices) {
            check_field(f, -1, "has no such choice");
            check_field(f, f->n_choices, "has no such choice");
            continue;
        }
        check_field(f, NAN, "is NaN");
        if (up) check_may_be(f, INFINITY);
        else check_field(f, INFINITY, "is infinite");
        if (both) check_may_be(f, -INFINITY);
        else check_field(f, -INFINITY, "is infinite");
        check((grpo_field_domain(f).high == HUGE_VAL) == up && (grpo_field_domain(f).low == -HUGE_VAL) == both, "%s: its domain", f->path);
    }
}

/* ---- arguments, scratch, gspo.h -------------------------------------------------------------------------------------------------- */

static void check_arguments(void) {
    static const struct { int group; const char *message; } output[] = {
        { ADVANTAGES | WITH, "advantage is NULL but needed" }, { MOMENTS, "moments is NULL but needed" }, { COUNT,
          "totals is NULL but needed" },
        { LOSS, "report is NULL but needed" }, { LOSS_ADD, "partial is NULL but needed" }, { INFORMATIVE, "keep is NULL but needed" } };
    static setup s;
    static grpo_totals counted;
    static grpo_partial partial;
    static grpo_moments moments;
    size_t k;
    int c;
    setup_make(&s, "");
    s.pass_objective = NULL;
    check_calls(&s, OBJECTIVE, "objective is NULL but needed", "no objective");
    s.pass_objective = &s.objective; s.pass_batch = NULL;
    check_calls(&s, ALL, "batch is NULL but needed", "no batch");
    s.pass_batch = &s.batch; s.no_output = 1;
    for (k = 0; k < sizeof output / sizeof *output; k++)
        for (c = 0; c < CALLS; c++) if (calls[c].group & output[k].group) expect(calls[c].name, calls[c].make(&s), output[k].message);
    s.no_output = 0;
    settle(&s.objective, "advantage.scale=batch_std");
    expect("no moments", grpo_advantages_with_moments(&s.objective, &s.batch, NULL, s.out.advantage), "moments is NULL but needed");
    settle(&s.objective, "advantage.scale=group_std advantage.reweight=valid_groups");
    expect("no moments", grpo_advantages_with_moments(&s.objective, &s.batch, NULL, s.out.advantage), "moments is NULL but needed");
    expect("moments of less", grpo_advantages_with_moments(&s.objective, &s.batch, &moments, s.out.advantage),
           "moments is less than is needed: this batch has more responses; give every part to grpo_moments_add first");
    moments.sequences = s.batch.group_begin[s.batch.n_groups] - s.batch.group_begin[0] - 1;
    expect("moments of less", grpo_advantages_with_moments(&s.objective, &s.batch, &moments, s.out.advantage),
           "moments is less than is needed: this batch has more responses; give every part to grpo_moments_add first");
    moments.sequences = 0;
    check(!memcmp(&s.out, &s.before, sizeof s.out), "something was written");
    settle(&s.objective, "advantage.reweight=none");
    expect("no moments", grpo_advantages_with_moments(&s.objective, &s.batch, NULL, s.out.advantage), NULL);
    expect("merge", grpo_partial_merge(NULL, &partial), "into is NULL but needed");
    expect("merge", grpo_partial_merge(&partial, NULL), "from is NULL but needed");
    expect("merge", grpo_partial_merge(&partial, &partial), NULL);
    expect("merge", grpo_totals_merge(NULL, &counted), "into is NULL but needed");
    expect("merge", grpo_totals_merge(&counted, NULL), "from is NULL but needed");
    expect("merge", grpo_totals_merge(&counted, &counted), NULL);
    expect("merge", grpo_moments_merge(NULL, &moments), "into is NULL but needed");
    expect("merge", grpo_moments_merge(&moments, NULL), "from is NULL but needed");
    expect("merge", grpo_moments_merge(&moments, &moments), NULL);
    memset(&s.batch, 0, sizeof s.batch);                                     /* no groups: no array is needed */
    s.pass_advantage = NULL;
    check_calls(&s, 0, NULL, "no groups");
    setup_free(&s);
}

static void check_gspo(void) {
    static const char *const of_group[] = { "variance", "logistic_lse", "trajectory_balance", "pairwise_logistic", "softmax_cross_entropy",
        "discriminative_mean", "discriminative_lse",
        "pairwise_soft",
        "softmax_mse", "softmax_js", "standardised", "tilted_cross_entropy", "pairwise_hinge", "regression" };
    static setup s;
    char text[160];
    size_t k;
    int unit;
    for (unit = GRPO_LEVEL_SEQUENCE_MEAN; unit <= GRPO_LEVEL_SEQUENCE_POWER_MEAN; unit++) {
        setup_make(&s, "surrogate.kind=ratio");
        s.objective.ratio.level = (grpo_level_kind)unit;
        expect("a unit", call_grpo_loss(&s), "ratio.level needs gspo.h: gspo_loss in place of grpo_loss");
        expect("a unit", call_grpo_loss_add(&s), "ratio.level needs gspo.h: gspo_loss in place of grpo_loss");
        check(!memcmp(&s.out, &s.before, sizeof s.out), "a unit: something was written");
        check_calls(&s, 0, NULL, "a unit");
        setup_free(&s);
    }
    for (k = 0; k < sizeof of_group / sizeof *of_group + 1; k++) {
        snprintf(text, sizeof text, "surrogate.kind=%s ratio.level=sequence_mean ratio.behaviour=none", k ? of_group[k - 1] : "reinforce");
        setup_make(&s, text);
        if (k == 0) settle(&s.objective, "ratio.level=token penalty.preference=pairwise");
        expect(text, call_grpo_loss(&s), k ? "ratio.level needs gspo.h: gspo_loss in place of grpo_loss"
            : "penalty.preference needs gspo.h: gspo_loss in place of grpo_loss");
        check(gspo_scratch(&s.objective, &s.batch) == (int64_t)(sizeof s.out.scratch / sizeof *s.out.scratch), "scratch of a group");
        s.less_scratch = 1;
        check_calls(&s, LOSSES, "out.scratch_size is less than is needed: gspo_scratch says how many doubles", text);
        s.less_scratch = 2;
        check_calls(&s, LOSSES, "out.scratch is NULL but needed: gspo_scratch says how many doubles", text);
        expect(text, gspo_loss(&s.objective, &s.batch, s.advantage, NULL, NULL, &s.out.report),
               "out.scratch is NULL but needed: gspo_scratch says how many doubles");
        s.less_scratch = 0;
        check_calls(&s, 0, NULL, text);
        setup_free(&s);
    }
}

/* valid calls: NULL advantages count as 0 with surrogate none; preference pairs are counted and enter the loss */
static void check_accepted(void) {
    static setup s;
    setup_make(&s, "surrogate.kind=none penalty.kl=k3 penalty.kl_coef=1 ratio.level=sequence_clipped_mean");
    check(!call_gspo_loss(&s) && s.out.report.loss != 0 && s.out.report.loss == s.out.report.penalty_loss, "none has no penalty");
    check(s.out.report.degenerate_groups == 0, "none has advantages");
    s.pass_advantage = NULL;
    check(!call_gspo_loss(&s) && s.out.report.degenerate_groups == s.out.report.groups, "advantages that are NULL are not 0");
    setup_free(&s);
    setup_make(&s, "penalty.preference=pairwise penalty.preference_score=reference_free");
    check(!call_count(&s) && s.out.totals.preference_pairs == 1 && s.out.totals.nll_tokens == 0, "pairs are counted");
    settle(&s.objective, "penalty.preference=pairwise_else_pointwise penalty.preference_min_gap=1e9 penalty.preference_coef=1");
    check(!call_count(&s) && s.out.totals.preference_pairs == 1, "pairs beyond the margin are counted");              /* it adds to the 1 */
    check(!call_gspo_loss(&s) && s.out.report.penalty_loss > 0, "signs cost nothing");
    settle(&s.objective, "penalty.preference=pairwise");
    check(!call_gspo_loss(&s) && s.out.report.penalty_loss == 0, "no pair costs something");
    setup_free(&s);
}

/* ---- totals and partials ------------------------------------------------------------------------------------------------------- */

static const struct { const char *settings; size_t count; int64_t bad, good; } totals[] = {
#define COUNTED(name) offsetof(grpo_totals, name)
    { "", COUNTED(tokens), 6, 7 }, { "", COUNTED(sequences), 3, 4 }, { "", COUNTED(sequences_nonempty), 2, 3 }, { "", COUNTED(groups), 1,
      2 },
    { "", COUNTED(groups_nonempty), 1, 2 }, { "", COUNTED(ranks), -1, 8 },
    { "weight.rollout_is=truncate weight.rollout_is_high=2 weight.rollout_is_norm=mean", COUNTED(rollout_is_count), 6, 7 },
    { "penalty.nll_on=all", COUNTED(nll_tokens), -1, 50 }, { "penalty.preference=pairwise", COUNTED(preference_pairs), -1, 50 },
    { "aggregation.kind=token_mean_by_sign", COUNTED(positive_tokens), -1, 50 },
    { "aggregation.kind=token_mean_nonzero_std", COUNTED(nonzero_std_tokens), -1, 50 },
    { "aggregation.kind=seq_mean_by_sign", COUNTED(positive_sequences), -1, 50 },
};

static void check_totals(void) {
    static setup s;
    size_t k;
    int good;
    for (k = 0; k < sizeof totals / sizeof *totals; k++) for (good = 0; good < 2; good++) {
        setup_make(&s, totals[k].settings);
        memcpy((char *)&s.totals + totals[k].count, good ? &totals[k].good : &totals[k].bad, sizeof(int64_t));
        s.pass_totals = &s.totals;
        check_calls(&s, good ? 0 : LOSSES, totals[k].bad < 0 ? "totals is out of range: was it zero-initialised?"
            : "totals is less than is needed: this batch has more; first give every part to grpo_totals_add, with the same groups",
            totals[k].settings);
        setup_free(&s);
    }
}

static void check_mixed(int other_ranks) {
    static setup s;
    static grpo_partial first, copy, other;
    setup_make(&s, "aggregation.kind=token_mean");
    s.pass_totals = &s.totals;
    expect("mixed: the first part", call_grpo_loss_add(&s), NULL);
    first = s.out.partial;
    s.before = s.out;
    if (other_ranks) s.totals.ranks = 2;
    else s.totals.tokens = 200;
    expect("other totals", call_grpo_loss_add(&s), "partial belongs to other totals: count all parts first");
    expect("other totals", call_gspo_loss_add(&s), "partial belongs to other totals: count all parts first");
    check(!memcmp(&s.out, &s.before, sizeof s.out), "other totals: something was written");
    memset(&s.out.partial, 0, sizeof s.out.partial);
    expect("mixed: the second part", call_grpo_loss_add(&s), NULL);
    other = s.out.partial;
    copy = first;
    expect("other totals", grpo_partial_merge(&first, &other), "from belongs to other totals: count all parts first");
    check(!memcmp(&first, &copy, sizeof first), "grpo_partial_merge: something was written");
    memset(&other, 0, sizeof other);                                        /* of a rank without responses */
    expect("nothing to merge", grpo_partial_merge(&first, &other), NULL);
    check(!memcmp(&first, &copy, sizeof first), "grpo_partial_merge: nothing changed something");
    setup_free(&s);
}

/* ---- counts that overflow -------------------------------------------------------------------------------------------------------- */

/* four responses that share their tokens, INT64_MAX in number: the sum of lengths overflows */
static void check_long(void) {
    static const int64_t group_begin[] = { 0, 2, 4 }, offset[] = { 0, 0, 0, 0 }, length[] = { INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX };
    static setup s;
    setup_make(&s, "");
    s.batch.group_begin = group_begin; s.batch.offset = offset; s.batch.length = length;
    s.batch.n_tokens = INT64_MAX;
    s.batch.mask = NULL;
    check_calls(&s, ALL, "batch.length[0] adds up to more than 2^53", "long responses");
    setup_free(&s);
}

/* totals and moments that no earlier call can have written */
static const struct { size_t at; const char *name; } in_moments[] = {
#define HELD(type, member) { offsetof(type, member), #member }
    HELD(grpo_moments, values.count), HELD(grpo_moments, tokens), HELD(grpo_moments, items), HELD(grpo_moments, sequences),
    HELD(grpo_moments, sequences_nonempty), HELD(grpo_moments, degenerate_sequences), HELD(grpo_moments, nonzero_items),
}, in_totals[] = {
    HELD(grpo_totals, tokens), HELD(grpo_totals, sequences), HELD(grpo_totals, sequences_nonempty), HELD(grpo_totals, groups),
    HELD(grpo_totals, groups_nonempty), HELD(grpo_totals, ranks), HELD(grpo_totals, positive_tokens), HELD(grpo_totals, positive_sequences),
    HELD(grpo_totals, nonzero_std_tokens), HELD(grpo_totals, nll_tokens), HELD(grpo_totals, preference_pairs),
        HELD(grpo_totals, rollout_is_count),
}, in_partial[] = {
    HELD(grpo_partial, tokens), HELD(grpo_partial, sequences), HELD(grpo_partial, groups), HELD(grpo_partial, masked_tokens),
    HELD(grpo_partial, rejected_tokens), HELD(grpo_partial, degenerate_groups), HELD(grpo_partial, ratio_tokens),
    HELD(grpo_partial, weight_tokens), HELD(grpo_partial, clips[0]), HELD(grpo_partial, clips[3]),
};

static void check_held(void) {
    static const int64_t wild[] = { INT64_MIN, -1, INT64_MAX, (INT64_C(1) << 61) + 1 };
    static setup s;
    static grpo_partial parts[2], copy;
    static grpo_moments none;
    static grpo_totals no_totals;
    size_t j, k;
    for (j = 0; j < sizeof wild / sizeof *wild; j++) {
        setup_make(&s, "advantage.scale=batch_std advantage.reweight=valid_groups");
        for (k = 0; k < sizeof in_moments / sizeof *in_moments; k++) {
            memset(&s.out.moments, 0, sizeof s.out.moments);
            memcpy((char *)&s.out.moments + in_moments[k].at, &wild[j], sizeof *wild);
            s.before = s.out;
            expect(in_moments[k].name, call_moments(&s), "moments is out of range: was it zero-initialised?");
            expect(in_moments[k].name, grpo_advantages_with_moments(&s.objective, &s.batch, &s.out.moments, s.out.advantage),
                "moments is out of range: was it zero-initialised?");
            check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: something was written", in_moments[k].name);
            expect(in_moments[k].name, grpo_moments_merge(&none, &s.out.moments), "from is out of range: was it zero-initialised?");
            expect(in_moments[k].name, grpo_moments_merge(&s.out.moments, &none), "into is out of range: was it zero-initialised?");
            check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: something was merged", in_moments[k].name);
        }
        for (k = 0; k < sizeof in_totals / sizeof *in_totals; k++) {
            memset(&s.out.totals, 0, sizeof s.out.totals);
            memcpy((char *)&s.out.totals + in_totals[k].at, &wild[j], sizeof *wild);
            s.before = s.out;
            expect(in_totals[k].name, call_count(&s), "totals is out of range: was it zero-initialised?");
            check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: something was written", in_totals[k].name);
            expect(in_totals[k].name, grpo_totals_merge(&no_totals, &s.out.totals), "from is out of range: was it zero-initialised?");
            expect(in_totals[k].name, grpo_totals_merge(&s.out.totals, &no_totals), "into is out of range: was it zero-initialised?");
            check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: something was merged", in_totals[k].name);
        }
        for (k = 0; k < sizeof in_partial / sizeof *in_partial; k++) {
            memset(&s.out.partial, 0, sizeof s.out.partial);
            memcpy((char *)&s.out.partial + in_partial[k].at, &wild[j], sizeof *wild);
            s.before = s.out;
            expect(in_partial[k].name, call_grpo_loss_add(&s), "partial is out of range: was it zero-initialised?");
            check(!memcmp(&s.out, &s.before, sizeof s.out), "%s: something was written", in_partial[k].name);
            memset(parts, 0, sizeof parts);
            parts[0] = s.out.partial;
            parts[0].scales.divisor = parts[1].scales.divisor = 1;
            copy = parts[0];
            expect(in_partial[k].name, grpo_partial_merge(&parts[1], &parts[0]), "from is out of range: was it zero-initialised?");
            expect(in_partial[k].name, grpo_partial_merge(&parts[0], &parts[1]), "into is out of range: was it zero-initialised?");
            check(!memcmp(&parts[0], &copy, sizeof copy), "%s: something was merged", in_partial[k].name);
        }
        setup_free(&s);
    }
}

/* ---- names and texts ----------------------------------------------------------------------------------------------------------- */

/* what is misspelt, and the name that its message proposes; NULL: none */
static const struct { const char *path, *given, *nearest; } misspelt[] = {
    { NULL, "grop", "grpo" }, { NULL, "gsop", "gspo" }, { NULL, "GRPO", "grpo" }, { NULL, "gspo_token", "gspo-token" },
    { NULL, "Dr. GRPO", "dr-grpo" }, { NULL, "dapo-qwen", "dapo" }, { NULL, "gspotoken", "gspo-token" }, { NULL, "xxxxxxxxxx", NULL },
    { NULL, "", NULL }, { NULL, NULL, NULL },
    { NULL, "grpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpogrpo", "grpo" },
    { "", "surrogate.eps", "surrogate.eps_high" }, { "", "surrogate.kin", "surrogate.kind" }, { "", "surrogate", NULL }, { "", "", NULL },
    { "", NULL, NULL }, { "", "eps_high", "surrogate.eps_high" }, { "", "kl_coef", "penalty.kl_coef" }, { "", "Level", "ratio.level" },
    { "surrogate.kind", "ppo", "ppo_clip" }, { "surrogate.kind", "PPO-clip", "ppo_clip" }, { "surrogate.kind", "", NULL },
    { "surrogate.kind", NULL, NULL }, { "surrogate.kind", "score|ratio", NULL }, { "weight.rollout_is", "mis", "mask" },
    { "weight.rollout_is", "rejecting", "reject" }, { "penalty.kl", "low_var_kl", NULL }, { "penalty.kl", "none ", "none" },
};

static void check_misspelt(void) {
    grpo_objective obj, copy;
    base_objective(&obj);
    copy = obj;
    for (size_t k = 0; k < sizeof misspelt / sizeof *misspelt; k++) {
        const char *path = misspelt[k].path, *given = misspelt[k].given, *nearest = misspelt[k].nearest;
        const char *choices = path && *path ? field_named(path)->choices : NULL;
        char message[700];
        snprintf(message, sizeof message, "%s %s%s%s%s%s", !path ? "name" : choices ? path : "path",
                 choices ? "has no such choice" : "is unknown", nearest ? ": the nearest is " : choices ? ": it has " : "",
                 nearest ? nearest : "", nearest && choices ? ", of " : "", choices ? choices : "");
        expect(given, !path ? grpo_objective_named(given, &obj) : choices ? grpo_objective_choose(&obj, path, given)
               : grpo_objective_set(&obj, given, 1), message);
        if (path && !choices) expect(given, grpo_objective_choose(&obj, given, "ratio"), message);
    }
    check(!memcmp(&obj, &copy, sizeof obj), "an objective was written to");
}

static void check_names(void) {
    static const double bad_value[] = { 99, GRPO_SURROGATE_NONE + 1, -1, 0.5, 1e300, INFINITY };
    grpo_objective obj, copy;
    char text[GRPO_MESSAGE_SIZE];
    base_objective(&obj);
    copy = obj;
    for (size_t k = 0; k < 6; k++) expect("set", grpo_objective_set(&obj, "penalty.kl", bad_value[k]),
        "penalty.kl has no such choice: it has none|k1|k2|k3|abs|external");
    expect("choose", grpo_objective_choose(&obj, "surrogate.eps_low", "ratio"),
           "surrogate.eps_low has no such choice: it is a number, for grpo_objective_set");
    expect("set", grpo_objective_set(&obj, "surrogate.eps_low", NAN), "surrogate.eps_low is NaN");
    expect("named", grpo_objective_named("grpo", NULL), "objective is NULL but needed");
    expect("set", grpo_objective_set(NULL, "surrogate.eps_low", 1), "objective is NULL but needed");
    expect("choose", grpo_objective_choose(NULL, "surrogate.kind", "ratio"), "objective is NULL but needed");
    check(!memcmp(&obj, &copy, sizeof obj), "an objective was written to");
    for (size_t size = 1; size <= sizeof text; size++) {                            /* choices are cut between names */
        const char *line = grpo_status_message(grpo_objective_set(&obj, "surrogate.kind", 99), text, size), *dots = strstr(line, "|...");
        check(strlen(line) < size && (!strchr(line, '|') || (dots && !dots[4])), "a list in %d: %s", (int)size, line);
    }
    check(strstr(text, ": it has reinforce|ratio|ppo_clip|") != NULL, "some choices are listed: %s", text);
}

/* the parts of a status, and messages in buffers that are too small */
static void check_texts(void) {
    static setup s;
    char text[GRPO_MESSAGE_SIZE], little[8] = "1234567";
    grpo_status st;
    int a, b;
    setup_make(&s, "");
    s.b.token[TOKEN_LOGP][3] = (grpo_real)NAN;
    st = call_grpo_loss(&s);
    check(grpo_status_is(st, GRPO_NAN) && grpo_status_rule(st) == GRPO_NAN && grpo_status_index(st) == 3, "the parts of a status");
    check(!strcmp(grpo_status_name(st), "GRPO_NAN") && !strcmp(grpo_status_text(st), "is NaN"), "its name and text");
    check(!strcmp(grpo_status_what(st), "batch.logp") && !strcmp(grpo_status_other(st), ""), "what it speaks of");
    check(!strcmp(grpo_status_message(st, little, 7), "batch.") && little[7] == 0, "a message in seven bytes");
    check(!strcmp(grpo_status_message(st, little, 1), "") && !strcmp(grpo_status_message(st, NULL, 0), ""), "a message in no room");
    check(!strcmp(grpo_status_message(GRPO_OK, text, sizeof text), "all is well"), "the message of 0");
    check(!strcmp(grpo_status_name(GRPO_OK), "GRPO_OK") && grpo_status_index(GRPO_OK) == -1, "the name of 0");
    st = GRPO_STATUS_ARGUMENT_(GRPO_INFINITE, 3, INT64_C(5000000000));
    check(!strcmp(grpo_status_message(st, text, sizeof text), "argument 3[5000000000] is infinite"), "an element far back: %s", text);
    st = call_informative(&s);
    expect("no fault", st, NULL);
    for (a = 1; a < GRPO_N_RULES; a++) for (b = 0; b < a; b++)
        check(strcmp(grpo_status_text(a), grpo_status_text(b)) && strcmp(grpo_status_name(a), grpo_status_name(b)), "rules %d and %d", a,
            b);
    for (a = 0; a < 4096; a++) {
        const grpo_status odd = (grpo_status)a << 8 | (grpo_status)(a * 7919) << 18 | (a % 256);
        check(strlen(grpo_status_message(odd, text, sizeof text)) < sizeof text, "status %d has a long message", a);
    }
    setup_free(&s);
}

int main(void) {
    int k;
    check_needs();
    check_numbers();
    check_faults();
    check_returns();
    check_refusals();
    check_fields();
    check_arguments();
    check_gspo();
    check_accepted();
    check_totals();
    check_mixed(0);
    check_mixed(1);
    check_long();
    check_held();
    check_rounding_modes();
    check_names();
    check_misspelt();
    check_texts();
    for (k = 1; k < GRPO_N_RULES; k++)
        if (k < GRPO_POSITIVE || k > GRPO_LONE_RESPONSE) check(seen[k] > 0, "nothing gave %s", grpo_status_name(k));
    return check_summary();
}
