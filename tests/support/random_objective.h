/* Random objectives that grpo_objective_check accepts: every field is drawn, and a field that the check names is drawn again, so that this
 * file repeats no rule of the headers.
 *
 *     rng r = { 1 };
 *     grpo_objective obj;
 *     random_objective(&r, &obj);
 *     obj.surrogate.kind = GRPO_SURROGATE_VARIANCE;
 *     random_objective_around(&r, "surrogate.kind", &obj);         keeps the kind, draws everything else
 *
 * In each objective one random choice of one field is kept while the other fields are redrawn until they are compatible with it: so choices
 * that are compatible with few others occur too. */
#ifndef RANDOM_OBJECTIVE_H
#define RANDOM_OBJECTIVE_H
#include "field.h"
#include "random_batch.h"

/* ---- one field ----------------------------------------------------------------------------------------------------------------- */

static inline int random_is_in(double x, const grpo_domain *d) {
    if ((d->flags & GRPO_WHOLE) && x != floor(x)) return 0;
    if (d->flags & GRPO_HIGH_EXCLUDED ? x >= d->high : x > d->high) return 0;
    return d->flags & GRPO_LOW_EXCLUDED ? x > d->low : x >= d->low;
}

/* a number from the field's domain: often 0, seldom negative; or from the field's list, if it has one */
static inline double random_number(rng *r, const grpo_field *f) {
    static const double any[] = { 0, 0, 0, 0, 0.1, 0.3, 0.5, 0.75, 1, 1.5, 3 };
    static const struct { const char *path; int count; double value[6]; } lists[] = {
        { "reward.length_max", 3, { 4.5, 8, 1024 } }, { "reward.map_factor", 4, { 1, 10, -0.3, 0 } },
        { "reward.map_low", 4, { 0, 0, -0.5, -20 } }, { "reward.map_high", 4, { 0, 0, 0.5, 20 } },
        { "reward.overlong_max", 2, { 8, 12 } }, { "reward.overlong_cache", 3, { 2, 3, 8 } }, { "reward.kl_coef", 3, { 0, 0.05, 1 } },
        { "advantage.pass_k", 3, { 1, 1, 2 } }, { "advantage.history_length", 3, { 1, 2, 5 } },
        { "advantage.history_power", 4, { 0, 1, 0.5, -2 } }, { "advantage.reweight_temperature", 4, { 1, 0.3, -2, 50 } },
        { "advantage.entropy_share_eps", 2, { 1e-8, 0.5 } }, { "advantage.temperature", 3, { 1e-3, 1, 100 } },
        { "advantage.process_noise", 3, { 0, 1e-5, 1 } }, { "advantage.observation_noise", 3, { 1e-12, 0.01, 1 } },
        { "advantage.difficulty_slope", 3, { 10, -3, 2000 } }, { "advantage.length_power", 4, { 0, 0.75, 1, -16 } },
        { "advantage.truncated_tail", 4, { 0, 0, 1, 3 } }, { "advantage.clamp_low", 4, { 0, 0, 0, -0.5 } },
        { "advantage.clamp_high", 4, { 0, 0, 0, 2 } }, { "advantage.gamma", 4, { 1, 0.99, 0.5, 0 } },
        { "advantage.lambda", 4, { 1, 0.95, 0.5, 0 } }, { "advantage.eps", 4, { 0, 1e-8, 1e-4, 1 } },
        { "ratio.token_clip_low", 3, { 0, 3e-4, 0.4 } }, { "ratio.token_clip_high", 3, { 0, 4e-4, 0.4 } },
        { "ratio.power", 5, { 0, 0.5, 3, 16, 1e-3 } }, { "ratio.clamp_low", 4, { 0, 0, -0.5, -20 } },
        { "ratio.clamp_high", 4, { 0, 0, 0.5, 20 } }, { "ratio.level_clamp_low", 4, { 0, 0, -0.1, -10 } },
        { "ratio.level_clamp_high", 4, { 0, 0, 0.1, 10 } }, { "surrogate.eps_low", 6, { 0, 3e-4, 0.2, 0.8, 1, 1.5 } },
        { "surrogate.eps_high", 5, { 0, 4e-4, 0.2, 0.28, 1.5 } }, { "surrogate.bound_cap", 3, { 0, 1.5, 10 } },
        { "surrogate.quadratic_eps", 5, { 0, 4e-4, 0.2, 0.28, 1.5 } },
        { "surrogate.contrast_temperature", 4, { 0, 0.1, 1, 10 } }, { "surrogate.contrast_margin", 4, { 0, 0.01, 1, -0.3 } },
        { "surrogate.log_low", 4, { 0, 0.025, 0.3, INFINITY } }, { "surrogate.log_high", 3, { 0, 0.05, 0.3 } },
        { "surrogate.log_clip_dual", 3, { 0.3, 1, INFINITY } }, { "surrogate.position_power", 6, { 0, 0.5, -0.5, 1, 0.3, -16 } },
        { "surrogate.weight_min_neg", 3, { 0, 0.5, 0.9 } }, { "surrogate.weight_max_neg", 4, { 1, 1.2, 101, 1e300 } },
        { "surrogate.shaping_gamma", 4, { 1, 0.2, 1e-4, 1e3 } }, { "surrogate.clip_dual", 2, { 3, 10 } },
        { "surrogate.weight_min", 3, { 0, 0.5, 0.9 } }, { "surrogate.weight_max", 4, { 1, 1.2, 5, 1e300 } },
        { "surrogate.tau_pos", 3, { 0.5, 1, 2 } }, { "surrogate.tau_neg", 3, { 0.5, 1.05, 2 } },
        { "surrogate.advantage_temperature", 3, { 0.5, 1, 2 } },
        { "surrogate.vespo_k_pos", 4, { 0, 1, 2, -1 } }, { "surrogate.vespo_k_neg", 4, { 0, 1, 3, -1 } },
        { "surrogate.group_score_eps", 3, { 0, 1e-6, 0.5 } }, { "penalty.nll_teacher_slope", 4, { 5, 0, 1, -0.7 } },
        { "penalty.preference_min_gap", 4, { 0, 0.1, 1, 1e30 } }, { "penalty.kl_clamp_log", 4, { 0, 0, 0.5, 20 } },
        { "surrogate.beta", 6, { 0, 0.1, 0.5, 1, 3, -1 } }, { "weight.trust_low", 5, { 0, 0.1, 0.3, 0.5, 1.5 } },
        { "surrogate.reward_beta", 6, { 0, 0.1, 0.5, 1, 3, -1 } },
        { "weight.trust_high", 5, { 0, 0.01, 0.1, 0.3, 0.5 } }, { "weight.fipo_half_life", 3, { 0.5, 2, 32 } },
        { "weight.fipo_low", 4, { 0, 0.5, 0.8, 1 } }, { "weight.fipo_high", 3, { 1, 1.2, 5 } },
        { "weight.fipo_safe_low", 2, { 0, 0.8 } }, { "weight.fipo_safe_high", 2, { 0.9, 1 } },
        { "weight.off_policy_mask_threshold", 3, { -0.1, 0, 0.1 } }, { "weight.rollout_is_low", 3, { 0, 0.5, 0.9 } },
        { "weight.rollout_is_high", 4, { 1, 1.1, 2, 5 } }, { "weight.rollout_clamp", 4, { 0, 0, 0.5, 20 } },
        { "weight.policy_is_high", 4, { 1, 1.2, 5, INFINITY } }, { "weight.rollout_rs_low", 4, { 0, 0.001, 0.5, 0.8 } },
        { "weight.rollout_rs_high", 4, { 0.8, 1, 1.5, 5 } }, { "weight.rollout_veto", 4, { 0, 0, 0.3, 0.6 } },
        { "aggregation.constant", 3, { 1, 100, 1024 } },
    };
    const grpo_domain domain = grpo_field_domain(f);
    double x;
    size_t k;
    for (k = 0; k < sizeof lists / sizeof *lists; k++)
        if (!strcmp(f->path, lists[k].path)) return rng_pick(r, lists[k].value, lists[k].count);
    do x = rng_pick(r, any, (int)(sizeof any / sizeof *any)) * (rng_chance(r, 15) ? -1 : 1); while (!random_is_in(x, &domain));
    return x;
}

/* a random choice; of the fields in `seldom` mostly the first: several of those that drop tokens together would leave none, and the others
 * are compatible with few choices */
static inline double random_choice(rng *r, const grpo_field *f) {
    static const char *const seldom[] = { "weight.trust", "weight.off_policy_mask", "weight.selected", "weight.rollout_rs",
        "surrogate.bounds", "advantage.step_group", "advantage.excluded", "advantage.step_discount",
        "advantage.samples" };
    const int percent = strcmp(f->path, "surrogate.bounds") ? 70 : 90;       /* most of these go with three surrogates only */
    size_t k;
    for (k = 0; k < sizeof seldom / sizeof *seldom; k++) if (!strcmp(f->path, seldom[k]) && rng_chance(r, percent)) return 0;
    return (double)rng_below(r, f->n_choices);
}

static inline void random_field(rng *r, const grpo_field *f, grpo_objective *obj) {
    field_set(obj, f, f->choices ? random_choice(r, f) : random_number(r, f));
}

/* ---- all of them ----------------------------------------------------------------------------------------------------------------- */

enum { RANDOM_MOST_FIELDS = 255, RANDOM_REDRAWS = 400 };
typedef struct { int count, free[RANDOM_MOST_FIELDS]; const grpo_field *field; } random_fields;

/* is the path, or its axis ("weight."), one of the words? */
static inline int random_is_kept(const char *path, const char *words) {
    const size_t axis = strcspn(path, ".") + 1;
    size_t n;
    for (; *words; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        if ((n == strlen(path) || n == axis) && !strncmp(words, path, n)) return 1;
    }
    return 0;
}

static inline const grpo_field *random_free_named(const random_fields *all, const char *path) {
    int k;
    for (k = 0; k < all->count; k++) if (all->free[k] && !strcmp(all->field[k].path, path)) return &all->field[k];
    return NULL;
}

/* draws the choice that is kept */
static inline void random_lead(rng *r, random_fields *all, grpo_objective *obj) {
    int k;
    do k = (int)rng_below(r, all->count); while (!all->field[k].choices);
    if (!all->free[k]) return;
    field_set(obj, &all->field[k], (double)rng_below(r, all->field[k].n_choices));
    all->free[k] = 0;
}

/* of two incompatible fields mostly redraws the second: the first is the one with the requirement */
static inline int random_redraw(rng *r, const random_fields *all, grpo_status st, grpo_objective *obj) {
    const grpo_field *what = random_free_named(all, grpo_status_what(st)), *other = random_free_named(all, grpo_status_other(st));
    if (other && (!what || rng_chance(r, 88))) what = other;
    if (what) random_field(r, what, obj);
    return what != NULL;
}

/* draws all fields but those whose path, or axis ("weight."), is in `kept` */
static inline void random_objective_around(rng *r, const char *kept, grpo_objective *obj) {
    random_fields all;
    grpo_status st;
    int k, draws;
    for (;;) {
        all.field = grpo_fields(&all.count);
        for (k = 0; k < all.count; k++) all.free[k] = !random_is_kept(all.field[k].path, kept);
        random_lead(r, &all, obj);
        for (k = 0; k < all.count; k++) if (all.free[k]) random_field(r, &all.field[k], obj);
        for (draws = 0; draws < RANDOM_REDRAWS; draws++) {
            st = grpo_objective_check(obj);
            if (!st) return;
            if (!random_redraw(r, &all, st, obj)) break;
        }
    }
}

static inline void random_objective(rng *r, grpo_objective *obj) {
    memset(obj, 0, sizeof *obj);
    random_objective_around(r, "", obj);
}
#endif
