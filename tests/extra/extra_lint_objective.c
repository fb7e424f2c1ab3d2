/* extra/grpo_lint_objective.h against advantages and loss: changing a number or array that is reported as unread changes no bit; under
 * every choice that is said to read a number, some change of it changes a bit; what is reported of a number left at 0 is true, and no other
 * choice gives a report; no published row has a finding, except those listed with reasons. */
#include "../../extra/grpo_lint_objective.h"
#include "../support/check.h"
#include "../support/result_bits.h"
#include "../support/random_objective.h"

/* ---- results of an objective on a batch ---------------------------------------------------------------------------------------------- */

enum { MOST_TOKENS = 1024, MOST_GROUPS = 16, MOST_SCRATCH = 16384, KINDS = 5 };

typedef struct {
    grpo_status advantages, loss;
    grpo_real A[MOST_TOKENS], dlogp[MOST_TOKENS], dentropy[MOST_TOKENS], term[MOST_TOKENS], ddivergence[MOST_TOKENS], dlog_z[MOST_GROUPS];
    grpo_report report;
} answer;

static void answer_with(const grpo_objective *obj, const grpo_batch *b, const grpo_real *advantage, answer *a) {
    static double scratch[MOST_SCRATCH];
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy; out.term = a->term; out.ddivergence_ref = a->ddivergence;
    out.dlog_partition = a->dlog_z;
    out.scratch = scratch; out.scratch_size = MOST_SCRATCH;
    if (gspo_scratch(obj, b) > MOST_SCRATCH) abort();
    a->loss = gspo_loss(obj, b, advantage, NULL, &out, &a->report);
}

/* with the objective's advantages, or the given ones where these are refused */
static void answer_of(const grpo_objective *obj, const grpo_batch *b, const grpo_real *given, answer *a) {
    memset(a, 0, sizeof *a);
    if (b->n_tokens > MOST_TOKENS || b->n_groups > MOST_GROUPS) abort();
    a->advantages = grpo_advantages(obj, b, a->A);
    answer_with(obj, b, a->advantages ? given : a->A, a);
}

static uint64_t hash_of(const answer *a, const grpo_batch *b) {
    uint64_t hash = hash_bytes(HASH_START, &a->advantages, sizeof a->advantages);
    hash = hash_bytes(hash, &a->loss, sizeof a->loss);
    hash = hash_array(hash, a->A, b->n_tokens);
    hash = hash_array(hash, a->dlogp, b->n_tokens);
    hash = hash_array(hash, a->dentropy, b->n_tokens);
    hash = hash_array(hash, a->term, b->n_tokens);
    hash = hash_array(hash, a->ddivergence, b->n_tokens);
    hash = hash_array(hash, a->dlog_z, b->n_groups);
    return a->loss ? hash : hash_report(hash, &a->report);
}

typedef struct { rollouts b; grpo_batch view; grpo_real *given; int extreme; answer before, after; } trial;

static void trial_make(rng *r, int kind, trial *t) {
    static const int kinds[KINDS] = { RANDOM_SMALL, RANDOM_SMALL | RANDOM_DYADIC, RANDOM_SMALL | RANDOM_EXTREME,
        RANDOM_SMALL | RANDOM_NEG_INF, 0 };
    rollouts_random(r, kinds[kind % KINDS], &t->b);
    t->extreme = (kinds[kind % KINDS] & (RANDOM_EXTREME | RANDOM_NEG_INF)) != 0;
    t->view = rollouts_view(&t->b);
    t->given = (grpo_real *)test_alloc(t->b.n_tokens, sizeof *t->given);
    for (int64_t k = 0; k < t->b.n_tokens; k++) t->given[k] = (grpo_real)(rng_chance(r, 10) ? 0 : rng_bell(r));
}

static void trial_free(trial *t) { free(t->given); rollouts_free(&t->b); }

/* do the results of x and y differ in any bit? */
static int differs(trial *t, const grpo_objective *x, const grpo_objective *y, const grpo_batch *b) {
    answer_of(x, &t->view, t->given, &t->before);
    answer_of(y, b, t->given, &t->after);
    return hash_of(&t->before, &t->view) != hash_of(&t->after, b);
}

/* ---- unread numbers change nothing --------------------------------------------------------------------------------------------------- */

static long changed[RANDOM_MOST_FIELDS], of_rows[RANDOM_MOST_FIELDS];      /* changes of unread numbers: all, published rows */

/* sets a number to another value that the check accepts; 0: none was found, it is unchanged */
static int change_number(rng *r, const grpo_field *f, grpo_objective *obj) {
    const double before = grpo_objective_get(obj, f);
    for (int draws = 0; draws < 12; draws++) {
        static const double large[] = { 1.3, 2, 7 };
        const double x = rng_chance(r, 80) ? random_number(r, f) : rng_pick(r, large, 3);
        field_set(obj, f, x);
        if (x != before && !grpo_objective_check(obj)) return 1;
    }
    field_set(obj, f, before);
    return 0;
}

/* A KL in the reward that the credit does not subtract still has effects: beyond 1e150 it is refused, and whitening after a reweighting
 * over the batch sums A in two parts, which changes the rounding. */
static int is_looked_at(const grpo_objective *obj, const grpo_field *f, int extreme) {
    const int in_parts = obj->advantage.scale == GRPO_SCALE_TOKEN_WHITEN && obj->advantage.reweight != GRPO_REWEIGHT_NONE;
    return obj->reward.kl != GRPO_KL_NONE && !strcmp(f->path, "reward.kl_coef") && (extreme || in_parts);
}

static void numbers_change_nothing(rng *r, trial *t, const grpo_objective *obj, long *count, const char *name) {
    grpo_objective other = *obj;
    int n, turned[RANDOM_MOST_FIELDS] = { 0 };
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < n; k++) {
        if (grpo_objective_reads(obj, &f[k]) || is_looked_at(obj, &f[k], t->extreme) || !change_number(r, &f[k], &other)) continue;
        turned[k] = 1;
        count[k]++;
    }
    if (check(!differs(t, obj, &other, &t->view), "%s: numbers that nothing reads make a difference", name)) return;
    for (int k = 0; k < n; k++) {
        grpo_objective one = *obj;
        if (!turned[k]) continue;
        field_set(&one, &f[k], grpo_objective_get(&other, &f[k]));
        if (differs(t, obj, &one, &t->view))
            printf("    %s from %g to %g\n", f[k].path, grpo_objective_get(obj, &f[k]), grpo_objective_get(&other, &f[k]));
    }
}

static void test_numbers(int times) {
    rng r = { 1 };
    int n, rows;
    const grpo_preset *preset = grpo_presets(&rows);
    const grpo_field *f = grpo_fields(&n);
    for (int k = 0; k < times / DRAWS_OVER; k++) {
        grpo_objective obj;
        trial t;
        const int of_row = k % 4 == 3;
        if (of_row) obj = grpo_objective_from_preset(&preset[k / 4 % rows]);
        else random_objective(&r, &obj);
        trial_make(&r, k / 4, &t);
        numbers_change_nothing(&r, &t, &obj, of_row ? of_rows : changed, of_row ? preset[k / 4 % rows].name : "a random objective");
        trial_free(&t);
    }
    for (int k = 0; k < n; k++) {
        /* numbers that are always read, and numbers that must be 0 where nothing reads them */
        static const char *const never[] = { "advantage.baseline_shift", "advantage.truncated_tail", "advantage.teacher_share",
            "advantage.teacher_coef", "advantage.kl_centred_coef", "advantage.clamp_low", "advantage.clamp_high", "penalty.entropy_coef",
            "weight.rollout_veto" };
        int expected = !f[k].n_choices;
        long times_turned;
        for (size_t j = 0; j < sizeof never / sizeof *never; j++) expected &= strcmp(f[k].path, never[j]) != 0;
        times_turned = changed[k] + of_rows[k];
        check(expected ? times_turned >= times / 200 / DRAWS_OVER : times_turned == 0, "%s: turned %ld times where nothing reads it",
              f[k].path, times_turned);
    }
}

/* ---- numbers that a choice reads have an effect -------------------------------------------------------------------------------------- */

typedef struct { const char *number; const char *path[3]; uint64_t choices[3]; } reader;

static const reader readers[] = {
#define PATH_(path, some) #path
#define SOME_(path, some) some
#define READER(number, level, a, b, c) { #number, { PATH_ a, PATH_ b, PATH_ c }, { SOME_ a, SOME_ b, SOME_ c } },
    GRPO_LINT_READS_(READER)
};
enum { READERS = sizeof readers / sizeof *readers };

static int is_among(const grpo_objective *obj, const char *path, uint64_t choices) {
    const grpo_field *f = field_named(path);
    const double x = grpo_objective_get(obj, f);
    return choices == ~UINT64_C(0) || (choices >> (f->n_choices ? (int)x : x != 0) & 1);
}

/* a random choice of the set, a random number for "not 0" */
static void put_among(rng *r, const char *path, uint64_t choices, grpo_objective *obj) {
    const grpo_field *f = field_named(path);
    do random_field(r, f, obj); while (!is_among(obj, path, choices));
}

/* a random objective that has the choices of reader x, with `choice` at its field `place`; 0: none was found */
static int random_reader(rng *r, const reader *x, int place, int choice, grpo_objective *obj) {
    random_fields all;
    for (int tries = 0; tries < 50; tries++) {
        all.field = grpo_fields(&all.count);
        for (int k = 0; k < all.count; k++) { all.free[k] = 1; random_field(r, &all.field[k], obj); }
        for (int j = 0; j < 3; j++) {
            const grpo_field *f = field_named(x->path[j]);
            if (x->choices[j] == ~UINT64_C(0)) continue;
            all.free[f - all.field] = 0;
            if (j == place && f->n_choices) field_set(obj, f, choice);
            else put_among(r, x->path[j], x->choices[j], obj);
        }
        for (int draws = 0; draws < RANDOM_REDRAWS; draws++) {
            const grpo_status st = grpo_objective_check(obj);
            if (!st) return 1;
            if (!random_redraw(r, &all, st, obj)) break;
        }
    }
    return 0;
}

/* does another row of the table read the number too? */
static int is_read_otherwise(const reader *x, const grpo_objective *obj) {
    for (int k = 0; k < READERS; k++) {
        int reads = &readers[k] != x && !strcmp(readers[k].number, x->number);
        for (int j = 0; j < 3; j++) reads = reads && is_among(obj, readers[k].path[j], readers[k].choices[j]);
        if (reads) return 1;
    }
    return 0;
}

/* can the number change a result through this row alone?  1: yes; 0: not in `times` draws; -1: the check refuses the choices together */
static int makes_a_difference(rng *r, const reader *x, int place, int choice, int times) {
    const grpo_field *f = field_named(x->number);
    for (int k = 0; k < times; k++) {
        grpo_objective obj, other;
        trial t;
        int found;
        if (!random_reader(r, x, place, choice, &obj)) return -1;
        other = obj;
        if (is_read_otherwise(x, &obj) || !change_number(r, f, &other)) continue;
        trial_make(r, k, &t);
        found = differs(&t, &obj, &other, &t.view) && t.before.loss == t.after.loss && t.before.advantages == t.after.advantages;
        trial_free(&t);
        if (found) return 1;
    }
    return 0;
}

/* surrogates of a group refuse interpolation, and two surrogates some levels: only for numbers of the ratio */
static int may_be_refused(const reader *x, const char *path, int choice) {
    const int level = choice == GRPO_SURROGATE_TILTED_CROSS_ENTROPY || choice == GRPO_SURROGATE_QUADRATIC_PROBABILITY;
    return !strncmp(x->number, "ratio.", 6) && !strcmp(path, "surrogate.kind")
        && (level || (is_of_a_group((grpo_surrogate_kind)choice) && !strncmp(x->number, "ratio.interpolate", 17)));
}

/* weight.trust ring compares w with 1 + rec_outer_high, which has no effect if w is a probability, as with that surrogate */
static int can_not_matter(const reader *x, const char *path, int choice) {
    return !strcmp(x->number, "weight.rec_outer_high") && !strcmp(path, "surrogate.kind") && choice == GRPO_SURROGATE_TILTED_CROSS_ENTROPY;
}

static long test_choice(rng *r, const reader *x, int place, int choice, int times) {
    const int found = makes_a_difference(r, x, place, choice, times);
    if (can_not_matter(x, x->path[place], choice)) return check(!found, "%s matters with %s=%d", x->number, x->path[place], choice) - 1;
    if (found < 0) {
        check(may_be_refused(x, x->path[place], choice), "%s is never read with %s=%d", x->number, x->path[place], choice);
        return 0;
    }
    return check(found, "%s makes no difference with %s=%d (%s %s %s)", x->number, x->path[place], choice, x->path[0], x->path[1],
                 x->path[2]);
}

static void test_readers(int times) {
    rng r = { 2 };
    long made = 0;
    for (int k = 0; k < READERS; k += DRAWS_OVER)
        for (int j = 0; j < 3; j++) {
            const grpo_field *f = field_named(readers[k].path[j]);
            for (int choice = 0; readers[k].choices[j] != ~UINT64_C(0) && choice < (f->n_choices ? f->n_choices : 2); choice++)
                if (readers[k].choices[j] >> choice & 1) made += test_choice(&r, &readers[k], j, choice, times);
        }
    check(made >= (DRAWS_OVER == 1 ? 1400 : 1000 / DRAWS_OVER), "only %ld choices make a difference", made);
}

/* ---- arrays -------------------------------------------------------------------------------------------------------------------------- */

typedef struct { const char *name; size_t at; long idle, read; } array;

static array arrays[] = {
#define ARRAY(member, ...) { "batch." #member, offsetof(grpo_batch, member), 0, 0 },
    GRPO_ARRAYS_(ARRAY)
    { "batch.excluded", offsetof(grpo_batch, excluded), 0, 0 },
};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static int is_said_idle(const array *a, const grpo_objective_finding *finding, int n) {
    for (int k = 0; k < n; k++) if (finding[k].rule == GRPO_OBJECTIVE_ARRAY && !strcmp(finding[k].what, a->name)) return 1;
    return 0;
}

static void put_array(grpo_batch *b, const array *a, const void *to) { memcpy((char *)b + a->at, &to, sizeof to); }

/* an array reported as unread may be NULL or hold anything; every other one is read by some objective */
static void arrays_change_nothing(rng *r, trial *t, const grpo_objective *obj) {
    static uint64_t garbage[MOST_TOKENS];
    grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    const int n = grpo_lint_objective(obj, &t->view, finding, GRPO_LINT_OBJECTIVE_MOST);
    grpo_batch missing = t->view, any = t->view;
    for (int k = 0; k < MOST_TOKENS; k++) garbage[k] = rng_next(r);
    for (int k = 0; k < ARRAYS; k++) {
        grpo_batch without = t->view;
        if (is_said_idle(&arrays[k], finding, n)) {
            arrays[k].idle++;
            put_array(&missing, &arrays[k], NULL);
            put_array(&any, &arrays[k], garbage);
        } else {
            put_array(&without, &arrays[k], NULL);
            arrays[k].read += differs(t, obj, obj, &without);
        }
    }
    check(!differs(t, obj, obj, &missing), "arrays that nothing reads are missed");
    check(!differs(t, obj, obj, &any), "arrays that nothing reads make a difference");
}

static int is_always_read(const array *a) {
    static const char *const always[] = { "batch.logp", "batch.logp_old", "batch.logp_ref", "batch.entropy", "batch.reward" };
    for (int j = 0; j < 5; j++) if (!strcmp(a->name, always[j])) return 1;
    return 0;
}

/* 1 if the array was read ten times, and as often not, unless some output always reads it */
static int is_tried(const array *a) { return a->read >= 10 && (is_always_read(a) ? a->idle == 0 : a->idle >= 10); }

static int all_tried(void) {
    for (int k = 0; k < ARRAYS; k++) if (!is_tried(&arrays[k])) return 0;
    return 1;
}

/* as many draws as it takes to try every array, at most `times` */
static void test_arrays(int times) {
    rng r = { 3 };
    for (int k = 0; k < times && (k < times / DRAWS_OVER || !all_tried()); k++) {
        grpo_objective obj;
        trial t;
        random_objective(&r, &obj);
        trial_make(&r, k, &t);
        arrays_change_nothing(&r, &t, &obj);
        trial_free(&t);
    }
    for (int k = 0; k < ARRAYS; k++)
        check(is_tried(&arrays[k]), "%s: idle %ld times, read %ld times", arrays[k].name, arrays[k].idle, arrays[k].read);
}

/* ---- numbers left at 0 --------------------------------------------------------------------------------------------------------------- */

/* GRPO without a KL, with medium values of all numbers */
static void middle_objective(grpo_objective *obj) {
    static const struct { const char *path; double value; } numbers[] = {
        { "reward.truncated_factor", 0.5 }, { "reward.length_coef", 0.3 }, { "reward.length_max", 8 }, { "reward.correct_low", 0.5 },
        { "reward.correct_high", 1 }, { "reward.wrong_low", -1 }, { "reward.wrong_high", -0.5 }, { "reward.overlong_max", 5 },
        { "reward.overlong_cache", 3 }, { "reward.overlong_factor", 1 }, { "reward.map_bias", 0.1 }, { "reward.map_factor", 2 },
        { "reward.kl_coef", 0.1 }, { "advantage.difficulty_weight_low", 0.5 }, { "advantage.difficulty_weight_high", 1.5 },
        { "advantage.difficulty_slope", 3 }, { "advantage.difficulty_midpoint", 0.5 }, { "advantage.focal_reward_low", -2 },
        { "advantage.focal_reward_high", 3 }, { "advantage.focal_gamma", 2 }, { "advantage.length_power", 0.5 },
        { "advantage.gamma", 0.9 }, { "advantage.step_gamma", 0.8 }, { "advantage.lambda", 0.9 }, { "advantage.step_coef", 0.7 },
        { "advantage.entropy_coef", 0.1 }, { "advantage.entropy_kappa", 2 }, { "advantage.entropy_max", 1 },
        { "advantage.marked_value", 0.5 },
        { "ratio.token_clip_low", 0.1 }, { "ratio.token_clip_high", 0.1 }, { "ratio.power", 2 }, { "ratio.interpolate_token", 0.5 },
        { "ratio.interpolate_level", 0.5 }, { "surrogate.log_low", 0.2 }, { "surrogate.log_high", 0.2 },
        { "surrogate.log_clip_dual", 1 }, { "surrogate.position_power", 0.5 }, { "surrogate.clip_dual", 3 },
        { "surrogate.weight_max", 2 }, { "surrogate.weight_max_neg", 2 },
        { "surrogate.advantage_temperature", 1 }, { "surrogate.beta", 0.5 }, { "surrogate.reward_beta", 1 },
        { "surrogate.hinge_margin", 1 },
        { "surrogate.group_score_eps", 0.1 }, { "penalty.kl_coef", 0.1 }, { "penalty.nll_coef", 0.1 }, { "penalty.preference_beta", 1 },
        { "penalty.preference_coef", 1 }, { "weight.trust_low", 0.2 }, { "weight.trust_high", 0.2 },
        { "weight.off_policy_mask_threshold", 0.3 }, { "weight.rollout_is_high", 2 }, { "weight.rollout_rs_high", 1.5 },
        { "weight.fipo_half_life", 2 }, { "weight.fipo_low", 0 }, { "weight.fipo_high", 2 },
    };
    check(!grpo_objective_named("grpo", obj), "grpo");
    obj->penalty.kl = GRPO_KL_NONE;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        check(!grpo_objective_set(obj, numbers[k].path, numbers[k].value), "%s", numbers[k].path);
}

typedef struct { grpo_objective_rule rule; const char *number[2], *path[3]; uint64_t choices[3]; } zero;

static const zero zeros[] = {
#define ZERO(effect, x, y, a, b, c) \
    { effect, { #x, #y }, { PATH_ a, PATH_ b, PATH_ c }, { SOME_ a, SOME_ b, SOME_ c } },
    GRPO_LINT_ZEROS_(ZERO)
};

/* further settings that the choice needs for its effect to show by itself */
static void put_beside(const zero *z, grpo_objective *obj) {
    for (int j = 1; j < 3; j++)
        for (int k = 0; !is_among(obj, z->path[j], z->choices[j]); k++) field_set(obj, field_named(z->path[j]), k);
    if (!strncmp(z->path[0], "weight.", 7) || !strcmp(z->path[0], "ratio.level")) obj->surrogate.kind = GRPO_SURROGATE_RATIO;
    if (!strcmp(z->path[0], "penalty.preference") && z->rule == GRPO_OBJECTIVE_NO_GRADIENT) obj->surrogate.kind = GRPO_SURROGATE_NONE;
    if (!strcmp(z->path[0], "surrogate.bounds")) obj->surrogate.kind = GRPO_SURROGATE_DUAL_CLIP;
    if (is_of_a_group(obj->surrogate.kind) || obj->ratio.interpolate != GRPO_INTERPOLATE_NONE)
        obj->ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
    if (obj->surrogate.kind == GRPO_SURROGATE_TILTED_CROSS_ENTROPY) obj->ratio.behaviour = GRPO_BEHAVIOUR_NONE;
    if (z->rule == GRPO_OBJECTIVE_NOT_BACK) { obj->advantage.baseline = GRPO_BASELINE_NONE; obj->advantage.scale = GRPO_SCALE_NONE; }
}

/* the numbers of a token that effects depend on */
typedef struct { double A, moved, rollout, divergence, slope; } token;
typedef int excepted(const grpo_objective *obj, const token *k);       /* must this token have no gradient? */

static int every(const grpo_objective *obj, const token *k) { (void)obj; (void)k; return 1; }
static int up(const grpo_objective *obj, const token *k) { (void)obj; return k->A > 0; }
static int down(const grpo_objective *obj, const token *k) { (void)obj; return k->A < 0; }
static int moved(const grpo_objective *obj, const token *k) { (void)obj; return k->moved != 0; }
static int moved_down(const grpo_objective *obj, const token *k) { (void)obj; return k->A < 0 && k->moved != 0; }
static int corrected(const grpo_objective *obj, const token *k) { (void)obj; return k->rollout != 0; }
static int on_its_way(const grpo_objective *obj, const token *k) {
    return k->A * k->moved > 0 && (obj->weight.trust != GRPO_TRUST_DIVERGENCE || k->divergence > 0);
}

/* have all tokens for which `must` holds gradient 0? */
static int are_without(const grpo_objective *obj, const trial *t, const answer *a, excepted *must) {
    for (int64_t i = 0; i < t->b.n_sequences; i++)
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
            token k = { (double)a->A[s], (double)t->view.logp[s] - (double)t->view.logp_old[s],
                (double)t->view.logp_old[s] - (double)t->view.logp_rollout[s], (double)t->view.divergence_old[s], (double)a->dlogp[s] };
            if (t->b.mask[s] && must(obj, &k) && k.slope != 0) return 0;
        }
    return 1;
}

static double mean_over(const trial *t, int64_t i, const grpo_real *x, const grpo_real *y, int absolute) {
    double sum = 0, n = 0;
    for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
        const double d = t->b.mask[s] ? (double)x[s] - (double)y[s] : 0;
        sum += absolute ? fabs(d) : d;
        n += t->b.mask[s];
    }
    return n > 0 ? sum / n : 0;
}

/* are tokens of stale responses dropped? */
static int drops_stale(const grpo_objective *obj, const trial *t, const answer *a, int at_all) {
    const grpo_real *from = obj->weight.off_policy_mask == GRPO_OFF_POLICY_MASK_OLD ? t->view.logp_old : t->view.logp_rollout;
    for (int64_t i = 0; i < t->b.n_sequences; i++) {
        const double apart = mean_over(t, i, t->view.logp_old, t->view.logp_rollout, 1), gap = mean_over(t, i, from, t->view.logp, 0);
        if (at_all ? apart == 0 : gap < 1e-9) continue;
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
            const double A = (double)a->A[s], q = t->b.mask[s] ? (double)t->view.logp_old[s] - (double)t->view.logp_rollout[s] : 0;
            if (t->b.mask[s] && (at_all ? q * A > 0 : A < 0) && a->dlogp[s] != 0) return 0;
        }
    }
    return 1;
}

/* the last active token of response i before `end`, or (steps) the last one that ends a step; -1: none */
static int64_t last_of(const trial *t, int64_t i, int64_t end, int steps) {
    int64_t s = end - 1;
    while (s >= t->b.offset[i] && !(t->b.mask[s] && (!steps || t->b.step_end[s]))) s--;
    return s >= t->b.offset[i] ? s : -1;
}

/* are the advantages of all earlier tokens independent of the reward at the end of a response, or of its last step? */
static int is_without_credit(const grpo_objective *obj, trial *t) {
    const grpo_credit_kind credit = obj->advantage.credit;
    const int steps = credit == GRPO_CREDIT_STEP || credit == GRPO_CREDIT_STEP_GAE;
    const int by_step = credit == GRPO_CREDIT_STEP && obj->advantage.step_discount == GRPO_STEP_DISCOUNT_STEPS;
    int same = 1;
    for (int64_t i = 0; i < t->b.n_sequences && same; i++) {
        const int64_t last = last_of(t, i, t->b.offset[i] + t->b.length[i], steps);
        const int64_t until = by_step && last >= 0 ? last_of(t, i, last, 1) + 1 : last;
        grpo_real *reward = steps && last >= 0 ? &t->b.token[TOKEN_STEP_REWARD][last] : &t->b.reward[i];
        const grpo_real kept = *reward;
        answer_of(obj, &t->view, t->given, &t->before);
        *reward += 1;
        answer_of(obj, &t->view, t->given, &t->after);
        *reward = kept;
        for (int64_t s = t->b.offset[i]; s < until; s++) same &= t->before.A[s] == t->after.A[s];
    }
    return same;
}

static int is_blind(const grpo_objective *obj, trial *t) {
    answer_of(obj, &t->view, t->given, &t->before);
    t->after = t->before;
    answer_with(obj, &t->view, t->given, &t->after);
    return hash_array(HASH_START, t->before.dlogp, MOST_TOKENS) == hash_array(HASH_START, t->after.dlogp, MOST_TOKENS);
}

static int is_zero(const grpo_real *x) {
    for (int k = 0; k < MOST_TOKENS; k++) if (x[k] != 0) return 0;
    return 1;
}

/* does the choice have the effect that is reported? */
static int has_effect(const zero *z, const grpo_objective *obj, trial *t) {
    const answer *a = &t->before;
    grpo_objective off = *obj;
    answer_of(obj, &t->view, t->given, &t->before);
    switch (z->rule) {
    case GRPO_OBJECTIVE_NO_EFFECT:     field_set(&off, field_named(z->path[0]), 0); return !differs(t, obj, &off, &t->view);
    case GRPO_OBJECTIVE_NO_GRADIENT:   return are_without(obj, t, a, every);
    case GRPO_OBJECTIVE_NO_ADVANTAGE: case GRPO_OBJECTIVE_EQUAL_REWARDS: return is_zero(a->A);
    case GRPO_OBJECTIVE_BLIND:         return is_blind(obj, t);
    case GRPO_OBJECTIVE_RATIO_ONE:     return a->report.ratio_min == 1 && a->report.ratio_max == 1 && is_zero(a->dlogp);
    case GRPO_OBJECTIVE_EXACT:         return are_without(obj, t, a, moved);
    case GRPO_OBJECTIVE_MOVED:         return are_without(obj, t, a, on_its_way);
    case GRPO_OBJECTIVE_EXACT_DOWN:    return are_without(obj, t, a, moved_down);
    case GRPO_OBJECTIVE_NONE_UP:       return are_without(obj, t, a, up);
    case GRPO_OBJECTIVE_NONE_DOWN:     return are_without(obj, t, a, down);
    case GRPO_OBJECTIVE_STALE:         return drops_stale(obj, t, a, 0);
    case GRPO_OBJECTIVE_STALE_AT_ALL:  return drops_stale(obj, t, a, 1);
    case GRPO_OBJECTIVE_DIFFERS:       return are_without(obj, t, a, corrected);
    case GRPO_OBJECTIVE_NOT_BACK:      return is_without_credit(obj, t);
    default:                           return 0;
    }
}

/* how many of the trials show the effect, and how many there are */
static int count_effects(const zero *z, const grpo_objective *obj, int *trials) {
    rng r = { 4 };
    int shown = 0;
    *trials = 0;
    for (int k = 0; k < 30; k++) {
        trial t;
        trial_make(&r, k % 2 ? 0 : 4, &t);
        answer_of(obj, &t.view, t.given, &t.before);
        if (!t.before.advantages && !t.before.loss && t.before.report.tokens > 0) {
            (*trials)++;
            shown += has_effect(z, obj, &t);
        }
        trial_free(&t);
    }
    return shown;
}

static const grpo_objective_finding *finding_of(const grpo_objective *obj, grpo_objective_rule rule, const char *what) {
    static grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    const int n = grpo_lint_objective(obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST);
    for (int k = 0; k < n; k++) if (finding[k].rule == rule && !strcmp(finding[k].what, what)) return &finding[k];
    return NULL;
}

static void test_zero(const zero *z, int choice) {
    grpo_objective obj, beside;
    const grpo_objective_finding *found;
    char text[GRPO_LINT_MESSAGE_SIZE];
    int trials, shown;
    middle_objective(&obj);
    field_set(&obj, field_named(z->path[0]), choice);
    put_beside(z, &obj);
    beside = obj;
    for (int j = 0; j < 2; j++) field_set(&obj, field_named(z->number[j]), 0);
    grpo_status_message(grpo_objective_check(&obj), text, sizeof text);
    if (!check(!grpo_objective_check(&obj), "%s=%d: %s", z->path[0], choice, text)) return;
    found = finding_of(&obj, z->rule, z->number[0]);
    if (!check(found && found->level == GRPO_LINT_LIKELY, "%s=%d: %s 0 is not found", z->path[0], choice, z->number[0])) return;
    grpo_objective_finding_message(found, text, sizeof text);
    check(strstr(text, z->number[1]) && strstr(text, " 0, so that ") && strstr(text, z->path[0]), "%s", text);
    shown = count_effects(z, &obj, &trials);
    check(trials >= 20 && shown == trials, "%s: in %d of %d batches", text, shown, trials);
    check(!finding_of(&beside, z->rule, z->number[0]), "%s=%d: %s is found though it is set", z->path[0], choice, z->number[0]);
    shown = count_effects(z, &beside, &trials);
    check(trials >= 20 && shown < trials, "%s=%d, %s set: the same in all %d batches", z->path[0], choice, z->number[0], trials);
}

static void test_zeros(void) {
    long count = 0;
    for (size_t k = 0; k < sizeof zeros / sizeof *zeros; k++) {
        const grpo_field *f = field_named(zeros[k].path[0]);
        for (int choice = 0; choice < f->n_choices; choice++)
            if (zeros[k].choices[0] >> choice & 1) { test_zero(&zeros[k], choice); count++; }
    }
    check(count >= 80, "only %ld choices with a number left 0", count);
}

/* ---- one bound of two ---------------------------------------------------------------------------------------------------------------- */

static int below(const grpo_objective *obj, const token *k) { (void)obj; return k->moved < 0; }
static int above(const grpo_objective *obj, const token *k) { (void)obj; return k->moved > 0; }

/* have responses whose y has the given sign gradient 0? */
static int units_without(const trial *t, const answer *a, double sign) {
    for (int64_t i = 0; i < t->b.n_sequences; i++) {
        if (sign * mean_over(t, i, t->view.logp, t->view.logp_old, 0) < 1e-9) continue;
        for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++)
            if (t->b.mask[s] && a->dlogp[s] != 0) return 0;
    }
    return 1;
}

static int is_bounded(const grpo_objective *obj, const trial *t, const char *set, double sign) {
    const answer *a = &t->before;
    if (!strncmp(set, "ratio.level", 11)) return units_without(t, a, -sign);
    if (!strncmp(set, "ratio", 5)) return are_without(obj, t, a, sign > 0 ? below : above);
    for (int k = 0; k < MOST_TOKENS; k++) if (sign * (double)a->A[k] < 0) return 0;
    return 1;
}

static int count_bounded(const grpo_objective *obj, const char *set, double sign) {
    rng r = { 5 };
    int shown = 0;
    for (int k = 0; k < 20; k++) {
        trial t;
        trial_make(&r, 4, &t);
        answer_of(obj, &t.view, t.given, &t.before);
        check(!t.before.advantages && !t.before.loss, "%s alone is refused", set);
        shown += is_bounded(obj, &t, set, sign);
        trial_free(&t);
    }
    return shown;
}

static void test_bound(const char *set, const char *other, double value) {
    const grpo_objective_rule rule = value > 0 ? GRPO_OBJECTIVE_BELOW : GRPO_OBJECTIVE_ABOVE;
    const grpo_objective_finding *found;
    grpo_objective obj;
    middle_objective(&obj);
    obj.surrogate.kind = GRPO_SURROGATE_RATIO;
    if (!strncmp(set, "ratio.level", 11)) obj.ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
    check(!finding_of(&obj, rule, set), "%s is found where none is set", set);
    check(count_bounded(&obj, set, value) < 20, "%s: an effect where none is set", set);
    check(!grpo_objective_set(&obj, set, value), "%s", set);
    found = finding_of(&obj, rule, set);
    check(found && found->level == GRPO_LINT_LIKELY && found->value == value && !strcmp(grpo_status_other(found->status), other),
          "%s alone", set);
    check(count_bounded(&obj, set, value) == 20, "%s alone: not in all batches", set);
    check(!grpo_objective_set(&obj, set, value > 0 ? INFINITY : -INFINITY), "%s", set);
    check(!finding_of(&obj, rule, set), "%s, infinite: on purpose", set);
    check(!grpo_objective_set(&obj, set, value) && !grpo_objective_set(&obj, other, -value), "%s", other);
    check(!finding_of(&obj, rule, set), "%s is found though both are set", set);
    check(count_bounded(&obj, set, value) < 20, "%s and %s: one side has no gradient", set, other);
}

/* ---- single rules -------------------------------------------------------------------------------------------------------------------- */

static void test_unread_by_switch(void) {
    static const struct { const char *path; double value; grpo_lint_level level; const char *text; } unread[] = {
        { "aggregation.constant", 1000, GRPO_LINT_NOTE, "aggregation.constant is 1000, but nothing reads it while "
          "aggregation.kind=seq_mean_token_mean (what does: seq_mean_constant or constant)" },
        { "surrogate.clip_dual", 3, GRPO_LINT_NOTE, "surrogate.clip_dual is 3, but nothing reads it while surrogate.kind=ppo_clip "
          "(what does: dual_clip, gppo, aspo or unbounded_positive)" },
        { "weight.rollout_is_high", 2.5, GRPO_LINT_LIKELY, "weight.rollout_is_high is 2.5, but nothing reads it while "
          "weight.rollout_is=none (what does: truncate, mask or reject)" },
        { "reward.truncated_factor", 0.5, GRPO_LINT_LIKELY, "reward.truncated_factor is 0.5, but nothing reads it while "
          "reward.truncated=keep (what does: scale)" },
        { "reward.overlong_max", 16384, GRPO_LINT_LIKELY, "reward.overlong_max is 16384, but nothing reads it while "
          "reward.overlong=none (what does: soft or linear)" },
        { "advantage.gamma", 0.99, GRPO_LINT_NOTE, "advantage.gamma is 0.99, but nothing reads it while advantage.credit=outcome "
          "(what does: return, step, gae or step_gae)" },
        { "penalty.nll_coef", 1e-5, GRPO_LINT_LIKELY, "penalty.nll_coef is 1e-5, but nothing reads it while penalty.nll_on=none "
          "(what does: correct, positive, selected, all or not_negative)" },
        { "advantage.batch_norm_eps", 1e-3, GRPO_LINT_LIKELY, "advantage.batch_norm_eps is 0.001, but nothing reads it while "
          "advantage.batch_norm=none (what does: items or tokens)" },
        { "weight.trust_low", INFINITY, GRPO_LINT_LIKELY, "weight.trust_low is infinity, but nothing reads it while weight.trust=none "
          "(what does: one_sided, two_sided, log_two_sided, probability, binary_kl, ring, divergence or negative_band)" },
        { "advantage.teacher_gamma", 0.123456789, GRPO_LINT_LIKELY, "advantage.teacher_gamma is 0.123457, but nothing reads it while "
          "advantage.teacher_coef=0 (what does: any other number)" },
        { "surrogate.vespo_k_pos", -123456789.5, GRPO_LINT_NOTE, "surrogate.vespo_k_pos is -1.23457e+8, but nothing reads it while "
          "surrogate.kind=ppo_clip (what does: vespo)" },
        { "ratio.power", 999999.7, GRPO_LINT_NOTE, "ratio.power is 1e+6, but nothing reads it while ratio.level=token "
          "(what does: sequence_power_mean)" },
    };
    for (size_t k = 0; k < sizeof unread / sizeof *unread; k++) {
        const grpo_objective_finding *found;
        grpo_objective obj;
        char text[GRPO_LINT_MESSAGE_SIZE];
        const char *said;
        check(!grpo_objective_named("grpo", &obj) && !grpo_objective_set(&obj, unread[k].path, unread[k].value), "%s", unread[k].path);
        found = finding_of(&obj, GRPO_OBJECTIVE_UNREAD, unread[k].path);
        if (!check(found && found->level == unread[k].level, "%s: unread", unread[k].path)) continue;
        grpo_objective_finding_message(found, text, sizeof text);
        said = strchr(text, ':') + 2;
        check(!strcmp(said, unread[k].text), "%s\n    %s", said, unread[k].text);
    }
}

/* expects a finding of that rule and level for the row with these settings; level -1: none */
static void expect(const char *row, const char *settings, grpo_objective_rule rule, const char *what, int level) {
    const grpo_objective_finding *found;
    grpo_objective obj;
    char text[512], *setting;
    check(!grpo_objective_named(row, &obj), "%s", row);
    snprintf(text, sizeof text, "%s", settings);
    for (setting = strtok(text, " "); setting; setting = strtok(NULL, " ")) {
        char *value = strchr(setting, '=');
        *value++ = 0;
        check(!(field_named(setting)->choices ? grpo_objective_choose(&obj, setting, value)
                                              : grpo_objective_set(&obj, setting, atof(value))), "%s=%s", setting, value);
    }
    found = finding_of(&obj, rule, what);
    check(level < 0 ? !found : found && (int)found->level == level, "%s with %s: %s", row, settings, what);
}

static void test_bounds_of_ratios(void) {
    expect("grpo", "surrogate.kind=cispo surrogate.weight_max=0.28", GRPO_OBJECTIVE_BOUND, "surrogate.weight_max", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.kind=cispo surrogate.weight_max=1.28", GRPO_OBJECTIVE_BOUND, "surrogate.weight_max", -1);
    expect("grpo", "surrogate.kind=ppo_clip surrogate.weight_max=0.28", GRPO_OBJECTIVE_BOUND, "surrogate.weight_max", -1);
    expect("grpo", "surrogate.kind=dispo surrogate.weight_max=2 surrogate.weight_max_neg=0.5", GRPO_OBJECTIVE_BOUND,
           "surrogate.weight_max_neg", GRPO_LINT_NOTE);
    expect("grpo", "weight.rollout_is=truncate weight.rollout_is_high=0.5", GRPO_OBJECTIVE_BOUND, "weight.rollout_is_high", GRPO_LINT_NOTE);
    expect("grpo", "weight.rollout_is=truncate weight.rollout_is_high=1", GRPO_OBJECTIVE_BOUND, "weight.rollout_is_high", -1);
    expect("grpo", "weight.rollout_rs=ratio weight.rollout_rs_high=0.5", GRPO_OBJECTIVE_BOUND, "weight.rollout_rs_high", GRPO_LINT_NOTE);
    expect("grpo", "weight.rollout_rs=k3 weight.rollout_rs_high=0.5", GRPO_OBJECTIVE_BOUND, "weight.rollout_rs_high", -1);
    expect("grpo", "surrogate.eps_high=1.28", GRPO_OBJECTIVE_DISTANCE, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("gspo", "surrogate.eps_low=1", GRPO_OBJECTIVE_DISTANCE, "surrogate.eps_low", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_high=10", GRPO_OBJECTIVE_DISTANCE, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.eps_high=0.99", GRPO_OBJECTIVE_DISTANCE, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.kind=sapo surrogate.tau_pos=1 surrogate.tau_neg=1 surrogate.eps_high=1.28", GRPO_OBJECTIVE_DISTANCE,
           "surrogate.eps_high", -1);
    expect("grpo", "weight.trust=two_sided weight.trust_high=1.2", GRPO_OBJECTIVE_DISTANCE, "weight.trust_high", GRPO_LINT_NOTE);
    expect("grpo", "weight.trust=k2 weight.trust_high=1.2", GRPO_OBJECTIVE_DISTANCE, "weight.trust_high", -1);
    /* a teacher without rewards; coefficients that are set in every step */
    expect("grpo", "reward.map=affine", GRPO_OBJECTIVE_EQUAL_REWARDS, "reward.map_factor", GRPO_LINT_LIKELY);
    expect("grpo", "reward.map=affine advantage.teacher_coef=1", GRPO_OBJECTIVE_EQUAL_REWARDS, "reward.map_factor", -1);
    expect("grpo", "penalty.kl_coef=0", GRPO_OBJECTIVE_NO_EFFECT, "penalty.kl_coef", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.kl_coef=0 penalty.kl_reference=old", GRPO_OBJECTIVE_NO_EFFECT, "penalty.kl_coef", -1);
}

static void test_clip(void) {
    expect("grpo", "surrogate.eps_low=20 surrogate.eps_high=20", GRPO_OBJECTIVE_PERCENT, "surrogate.eps_low", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_low=20 surrogate.eps_high=20", GRPO_OBJECTIVE_PERCENT, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_low=14 surrogate.eps_high=14", GRPO_OBJECTIVE_PERCENT, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.eps_low=101 surrogate.eps_high=1e9", GRPO_OBJECTIVE_PERCENT, "surrogate.eps_low", -1);
    expect("grpo", "surrogate.kind=reinforce surrogate.eps_high=20", GRPO_OBJECTIVE_PERCENT, "surrogate.eps_high", -1);
    expect("gspo", "surrogate.eps_low=0.2 surrogate.eps_high=0.28", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("gspo", "surrogate.eps_low=0.2 surrogate.eps_high=0.28", GRPO_OBJECTIVE_WIDE, "surrogate.eps_low", -1);
    expect("gspo", "surrogate.eps_low=0.2", GRPO_OBJECTIVE_WIDE, "surrogate.eps_low", GRPO_LINT_NOTE);
    expect("gspo", "surrogate.eps_low=0.09 surrogate.eps_high=0.09", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", -1);
    expect("gspo", "surrogate.eps_high=1", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", -1);
    expect("gspo", "surrogate.eps_high=0.2 ratio.interpolate=arithmetic", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", -1);
    expect("gspo", "surrogate.eps_high=0.2 ratio.level=sequence_sum", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", -1);
    expect("gspo", "surrogate.eps_high=0.2 ratio.level=sequence_mean_ratio", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("gspo", "surrogate.eps_high=0.2 surrogate.kind=ratio", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.eps_high=0", GRPO_OBJECTIVE_ONE_ZERO, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_low=0", GRPO_OBJECTIVE_ONE_ZERO, "surrogate.eps_low", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_low=0 surrogate.eps_high=0", GRPO_OBJECTIVE_ONE_ZERO, "surrogate.eps_low", -1);
    expect("grpo", "surrogate.kind=unbounded_positive surrogate.eps_high=0", GRPO_OBJECTIVE_ONE_ZERO, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.eps_high=0", GRPO_OBJECTIVE_NARROW, "surrogate.eps_high", -1);
    expect("grpo", "surrogate.eps_low=0.28", GRPO_OBJECTIVE_NARROW, "surrogate.eps_high", GRPO_LINT_NOTE);
    expect("grpo", "surrogate.eps_low=1.28", GRPO_OBJECTIVE_NARROW, "surrogate.eps_high", -1);
    expect("dapo", "", GRPO_OBJECTIVE_NARROW, "surrogate.eps_high", -1);
}

static void test_signs(void) {
    expect("grpo", "penalty.kl_coef=-0.1", GRPO_OBJECTIVE_NEGATIVE, "penalty.kl_coef", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.kl_coef=-0.1 penalty.kl=none", GRPO_OBJECTIVE_NEGATIVE, "penalty.kl_coef", -1);
    expect("grpo", "reward.kl=k1 reward.kl_coef=-0.1", GRPO_OBJECTIVE_NEGATIVE, "reward.kl_coef", GRPO_LINT_LIKELY);
    expect("grpo", "reward.length=kimi reward.length_coef=-1", GRPO_OBJECTIVE_NEGATIVE, "reward.length_coef", GRPO_LINT_LIKELY);
    expect("dapo", "reward.overlong=soft reward.overlong_max=9 reward.overlong_cache=4 reward.overlong_factor=-1", GRPO_OBJECTIVE_NEGATIVE,
           "reward.overlong_factor", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.entropy_coef=-0.1", GRPO_OBJECTIVE_NEGATIVE, "penalty.entropy_coef", -1);
}

/* a cap of at least 1 on a KL weight of 1 has no effect, a lower one multiplies the KL */
static void test_kl_weight(void) {
    rng r = { 6 };
    trial t;
    grpo_objective plain, cap, scale, smaller;
    expect("grpo", "penalty.kl_importance_weight_max=2", GRPO_OBJECTIVE_KL_CAP, "penalty.kl_importance_weight_max", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.kl_importance_weight_max=0.5", GRPO_OBJECTIVE_KL_SCALE, "penalty.kl_importance_weight_max", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.kl_importance_weight=score_function penalty.kl_importance_weight_max=2", GRPO_OBJECTIVE_KL_CAP,
           "penalty.kl_importance_weight_max", GRPO_LINT_LIKELY);
    expect("grpo", "penalty.kl_importance_weight=token penalty.kl_importance_weight_max=2", GRPO_OBJECTIVE_KL_CAP,
           "penalty.kl_importance_weight_max", -1);
    expect("grpo", "penalty.kl=none penalty.kl_importance_weight_max=2", GRPO_OBJECTIVE_UNREAD, "penalty.kl_importance_weight_max",
           GRPO_LINT_LIKELY);
    check(!grpo_objective_named("grpo", &plain), "grpo");
    cap = scale = smaller = plain;
    cap.penalty.kl_importance_weight_max = 2;
    scale.penalty.kl_importance_weight_max = 0.5;
    smaller.penalty.kl_coef *= 0.5;
    trial_make(&r, 0, &t);
    check(!differs(&t, &plain, &cap, &t.view), "a cap of 2 on a weight of 1");
    check(differs(&t, &plain, &scale, &t.view) && !differs(&t, &smaller, &scale, &t.view), "a cap of 1/2 on a weight of 1");
    trial_free(&t);
}

static void says(const grpo_objective_finding *finding, const char *sentence) {
    char text[GRPO_LINT_MESSAGE_SIZE];
    check(!strcmp(grpo_objective_finding_message(finding, text, sizeof text), sentence), "%s\n    %s", text, sentence);
}

static void test_whole(void) {
    grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    grpo_objective obj;
    grpo_batch b;
    int n;
    memset(&obj, 0, sizeof obj);
    memset(&b, 0, sizeof b);
    n = grpo_lint_objective(&obj, &b, finding, GRPO_LINT_OBJECTIVE_MOST);
    check(n == 2 && finding[0].rule == GRPO_OBJECTIVE_NO_GROUPS && finding[1].rule == GRPO_OBJECTIVE_NO_ROW, "nothing set: %d findings", n);
    says(&finding[0], "likely mistake: batch.n_groups is 0: nothing is evaluated");
    says(&finding[1], "likely mistake: objective is 0 throughout: no row, and no choice, has been put in it");
    b.n_groups = 1;
    obj.surrogate.eps_low = -1;
    n = grpo_lint_objective(&obj, &b, finding, GRPO_LINT_OBJECTIVE_MOST);
    check(n == 1 && finding[0].rule == GRPO_OBJECTIVE_REFUSED && finding[0].level == GRPO_LINT_ERROR, "a refused objective");
    says(&finding[0], "error: surrogate.eps_low must not be negative");
    check(grpo_lint_objective(NULL, NULL, NULL, 0) == 1, "no objective");
}

/* a number that rows for several kinds of credit read: the sentence is made of all of them, the table's first one too */
static void test_readers_said(void) {
    const grpo_objective_finding *found;
    grpo_objective obj;
    check(!grpo_objective_named("grpo", &obj) && !grpo_objective_choose(&obj, "reward.truncated", "scale")
          && !grpo_objective_choose(&obj, "advantage.credit", "step"), "steps");
    obj.reward.truncated_factor = 0.5;
    found = finding_of(&obj, GRPO_OBJECTIVE_UNREAD, "reward.truncated_factor");
    if (check(found != NULL, "rewards of responses under a credit of steps"))
        says(found, "likely mistake: reward.truncated_factor is 0.5, but nothing reads it while advantage.credit=step (what does: most of "
             "its other choices)");
}

static void test_room(void) {
    grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
    static const uint8_t flags[1] = { 0 };
    grpo_objective obj;
    grpo_batch b;
    char text[GRPO_LINT_MESSAGE_SIZE], cut[GRPO_LINT_MESSAGE_SIZE];
    int n;
    memset(&b, 0, sizeof b);
    b.n_groups = 1;
    b.excluded = flags;
    check(!grpo_objective_named("grpo", &obj), "grpo");
    check(grpo_lint_objective(&obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST) == 0, "grpo as it stands");
    obj.surrogate.kind = GRPO_SURROGATE_CISPO;
    n = grpo_lint_objective(&obj, &b, finding, GRPO_LINT_OBJECTIVE_MOST);
    check(n == 4 && finding[0].rule == GRPO_OBJECTIVE_NO_GRADIENT && finding[3].rule == GRPO_OBJECTIVE_ARRAY, "cispo: %d findings", n);
    says(&finding[0], "likely mistake: surrogate.weight_max is 0, so that surrogate.kind=cispo gives no gradient");
    says(&finding[3], "note: batch.excluded is there, but no choice of this objective reads it");
    memset(finding, 0, sizeof finding);
    check(grpo_lint_objective(&obj, &b, NULL, 0) == n && grpo_lint_objective(&obj, &b, finding, 1) == n, "the number depends on the room");
    check(finding[0].rule == GRPO_OBJECTIVE_NO_GRADIENT && !finding[1].what, "room for one");
    grpo_objective_finding_message(&finding[0], text, sizeof text);
    for (size_t size = 0; size < 60; size++) {
        memset(cut, '#', sizeof cut);
        grpo_objective_finding_message(&finding[0], cut, size);
        check(cut[size] == '#' && (size == 0 || (strlen(cut) == size - 1 && !strncmp(cut, text, size - 1))), "cut at %d", (int)size);
    }
}

/* does a row of the header's tables say so? */
static int has_row(grpo_objective_rule rule) {
    return rule == GRPO_OBJECTIVE_UNREAD || (rule >= GRPO_OBJECTIVE_NO_GRADIENT && rule <= GRPO_OBJECTIVE_NO_EFFECT);
}

/* findings are sorted, worst first, and say which row of a table, if any; never more than the buffer holds; no message is truncated */
static void test_order(int times) {
    rng r = { 7 };
    int most = 0;
    for (int k = 0; k < times; k++) {
        grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
        char text[GRPO_LINT_MESSAGE_SIZE];
        grpo_objective obj;
        trial t;
        int n;
        random_objective(&r, &obj);
        trial_make(&r, k, &t);
        n = grpo_lint_objective(&obj, &t.view, finding, GRPO_LINT_OBJECTIVE_MOST);
        for (int j = 1; j < n; j++) check(finding[j].level <= finding[j - 1].level, "finding %d is worse than the one before", j);
        for (int j = 0; j < n; j++)
            check(has_row(finding[j].rule) ? finding[j].row >= 0 : finding[j].row == -1, "%s: row %d", finding[j].what, finding[j].row);
        for (int j = 0; j < n; j++)
            check(strlen(grpo_objective_finding_message(&finding[j], text, sizeof text)) < sizeof text - 40, "%s", text);
        if (n > most) most = n;
        trial_free(&t);
    }
    check(most > 40 && most <= GRPO_LINT_OBJECTIVE_MOST, "at most %d findings", most);
}

/* ---- published rows ------------------------------------------------------------------------------------------------------------------ */

static void test_rows(void) {
    static const struct { const char *row; grpo_objective_rule rule; const char *what; } expected[] = {
        { "trl-cispo", GRPO_OBJECTIVE_BOUND, "surrogate.weight_max" },         /* TRL's default: epsilon_high is the bound itself */
        { "up-grpo", GRPO_OBJECTIVE_UNREAD, "surrogate.eps_high" },            /* clips only from below, where A < 0 */
        /* the frameworks' default for all ratios, which GSPO's hardly ever reach; ESPO's are of evidence lower bounds */
        { "verl-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" }, { "trl-gspo-token", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" },
        { "openrlhf-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" }, { "areal-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" },
        { "slime-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" }, { "verl-agent-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" },
        { "nemo-gspo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" }, { "espo", GRPO_OBJECTIVE_WIDE, "surrogate.eps_high" },
    };
    int rows, seen = 0;
    const grpo_preset *preset = grpo_presets(&rows);
    for (int k = 0; k < rows; k++) {
        grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST];
        const grpo_objective obj = grpo_objective_from_preset(&preset[k]);
        const int n = grpo_lint_objective(&obj, NULL, finding, GRPO_LINT_OBJECTIVE_MOST);
        char text[GRPO_LINT_MESSAGE_SIZE];
        for (int j = 0; j < n; j++) {
            int known = 0;
            for (size_t e = 0; e < sizeof expected / sizeof *expected; e++)
                known |= !strcmp(expected[e].row, preset[k].name) && expected[e].rule == finding[j].rule
                    && !strcmp(expected[e].what, finding[j].what);
            seen += known;
            grpo_objective_finding_message(&finding[j], text, sizeof text);
            check(known && finding[j].level == GRPO_LINT_NOTE, "%s: %s", preset[k].name, text);
        }
    }
    check(rows >= 281 && seen == (int)(sizeof expected / sizeof *expected), "%d rows, %d findings", rows, seen);
}

int main(void) {
    test_numbers(20000);
    test_readers(8000);                                                     /* the most draws until one with an effect is found */
    test_arrays(4000);
    test_zeros();
    test_bound("ratio.clamp_high", "ratio.clamp_low", 0.2);
    test_bound("ratio.clamp_low", "ratio.clamp_high", -0.2);
    test_bound("ratio.level_clamp_high", "ratio.level_clamp_low", 0.1);
    test_bound("ratio.level_clamp_low", "ratio.level_clamp_high", -0.1);
    test_bound("advantage.clamp_high", "advantage.clamp_low", 5);
    test_bound("advantage.clamp_low", "advantage.clamp_high", -5);
    test_unread_by_switch();
    test_bounds_of_ratios();
    test_clip();
    test_signs();
    test_kl_weight();
    test_whole();
    test_readers_said();
    test_room();
    test_order(500);
    test_rows();
    return check_summary();
}
