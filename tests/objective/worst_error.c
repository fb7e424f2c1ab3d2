/* Searches for the largest error, in ulps of the scale, against the reference in binary128.
 *
 *     worst_error [--steps N] [--seed N] [--random N] [--save FILE] [ROW...]
 *
 * For each row (or those named), then for N random objectives, and for each output: from the worst of a few random batches, N steps, each
 * of which changes one to three inputs or numbers of the objective and is taken back if the error fell.  Then towards numbers at the ends
 * of the range, for NaN and for numbers of the report outside their ranges.  First the same for scalar functions whose declaration states a
 * bound.  Prints the largest errors; fails beyond the bounds.  --save appends the worst inputs of each row and output, which
 * oracle/worst_error.py --judge compares with the oracle: only what that confirms is an error of the headers.
 * The scale of loss and terms is that of vectors/scale.md; for slopes it is the reference's estimate of it, which is mostly larger. */
#include "../../gspo.h"
#include "../support/check.h"
#include "../support/climb.h"
#include "../support/random_objective.h"
#include "../reference/reference.h"
#include "../support/scratch.h"
#include "../support/status.h"
#include <stdlib.h>

enum { LOSS, TERM, DLOGP, DENTROPY, DDIVERGENCE_REF, DLOG_PARTITION, OUTPUTS, STARTS = 4 };
static const char *const output_name[OUTPUTS] = { "loss", "term", "dlogp", "dentropy", "ddivergence_ref", "dlog_partition" };
static const double LIMIT = 4, EPS = sizeof(grpo_real) == 4 ? 0x1p-23 : 0x1p-52, SMALLEST = sizeof(grpo_real) == 4 ? 0x1p-149 : 0x1p-1072;
static const double REACH = 700;                                 /* the log-ratios of a response together */
static FILE *saved;

/* ---- a candidate and its errors -------------------------------------------------------------------------------------------------- */

typedef struct { grpo_objective obj; rollouts b; grpo_real *advantage; } candidate;
typedef struct { double of[OUTPUTS]; int judged; } errors;
typedef struct { grpo_real *dlogp, *dentropy, *ddivergence_ref, *term, *dlog_partition; grpo_report report; grpo_status status; } answer;

static void answer_find(const candidate *c, answer *a) {
    const grpo_batch batch = rollouts_view(&c->b);
    grpo_output out = output_with_scratch(&c->obj, &batch);
    grpo_totals totals;
    grpo_partial partial;
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    out.dlogp = a->dlogp = unwritten(c->b.n_tokens);
    out.dentropy = a->dentropy = unwritten(c->b.n_tokens);
    out.ddivergence_ref = a->ddivergence_ref = unwritten(c->b.n_tokens);
    out.term = a->term = unwritten(c->b.n_tokens);
    out.dlog_partition = a->dlog_partition = unwritten(c->b.n_groups);
    a->status = grpo_totals_add(&c->obj, &batch, c->advantage, &totals);
    if (!a->status) a->status = gspo_loss_add(&c->obj, &batch, c->advantage, &totals, &out, &partial);
    if (!a->status) grpo_partial_report(&partial, &a->report);
    free(out.scratch);
}

static void answer_free(answer *a) {
    free(a->dlogp); free(a->dentropy); free(a->ddivergence_ref); free(a->term); free(a->dlog_partition);
}

static void note(errors *e, int output, double found, const reference_answer *expected, reference_real scale, double eps) {
    const reference_real off = ref_abs((reference_real)found - expected->value) - SMALLEST;
    double x = 0;
    check(found == found, "%s is NaN", output_name[output]);
    if (!expected->judged) return;
    e->judged++;
    if (off > 0) x = scale > 0 ? (double)(off / scale) / eps : HUGE_VAL;
    if (x > e->of[output]) e->of[output] = x;
}

/* d loss / d l[t] more precisely than properties needs it: Richardson's extrapolation removes the error of the second order of the step */
static reference_answer precise_slope(reference *ref, int64_t i, int64_t t, reference_real *scale) {
    reference_answer slope = reference_slope(ref, i, t);
    ref_difference near, far;
    if (!slope.judged || !ref->active[t]) return slope;
    ref_entered(ref, i, t);
    *scale = ref->steep;
    near = ref_central(ref, i, t, REFERENCE_STEP);
    far = ref_central(ref, i, t, 2 * REFERENCE_STEP);
    slope.value = (4 * near.value - far.value) / 3;
    slope.judged = near.scale <= 0x1p12 * *scale && ref_abs(near.value - far.value) <= 0x1p-46 * *scale;
    return slope;
}

static void judge_token(reference *ref, const answer *a, int64_t i, int64_t t, errors *e) {
    reference_answer x = reference_term(ref, i, t);
    reference_real scale = 0;
    note(e, TERM, (double)a->term[t], &x, ref->size, EPS);
    x = reference_divergence_slope(ref, t);
    note(e, DDIVERGENCE_REF, (double)a->ddivergence_ref[t], &x, ref_abs(x.value), EPS);
    x = reference_entropy_slope(ref, t);
    note(e, DENTROPY, (double)a->dentropy[t], &x, ref_abs(x.value), EPS);
    x = precise_slope(ref, i, t, &scale);
    note(e, DLOGP, (double)a->dlogp[t], &x, scale, EPS);
}

/* are the log-ratios of every response together at most REACH? */
static int within_reach(const rollouts *b) {
    int64_t i, t;
    int k;
    for (i = 0; i < b->n_sequences; i++) {
        double sum = 0;
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            double low = 0, high = -HUGE_VAL;
            if (!b->mask[t]) continue;
            for (k = TOKEN_LOGP; k <= TOKEN_ROLLOUT; k++) {
                const double l = (double)b->token[k][t];
                low = l < low ? l : low;
                high = l > high ? l : high;
            }
            sum += high - low;
        }
        if (sum > REACH) return 0;
    }
    return 1;
}

static errors errors_of(const candidate *c) {
    errors e;
    answer a;
    memset(&e, 0, sizeof e);
    if (!within_reach(&c->b) || grpo_objective_check(&c->obj)) return e;
    answer_find(c, &a);
    if (!a.status) {
        reference ref;
        reference_answer x;
        int64_t i, t;
        reference_alloc(&ref, &c->obj, &c->b, c->advantage, 1);
        x = reference_loss(&ref);
        if (ref.scale > 512 * ref.size) x.judged = 0;                /* at a clip bound: as for terms */
        note(&e, LOSS, a.report.loss, &x, ref.size, 0x1p-52);
        for (i = 0; i < c->b.n_groups; i++) {
            x = reference_log_z_slope(&ref, i);
            note(&e, DLOG_PARTITION, (double)a.dlog_partition[i], &x, ref.steep, EPS);
        }
        for (i = 0; i < c->b.n_sequences; i++)
            for (t = c->b.offset[i]; t < c->b.offset[i] + c->b.length[i]; t++) if (c->b.mask[t]) judge_token(&ref, &a, i, t, &e);
        reference_free(&ref);
    }
    answer_free(&a);
    return e;
}

/* ---- changes ------------------------------------------------------------------------------------------------------------------------ */

static double any_logp(rng *r, const rollouts *b, int64_t t, double x) {
    static const double gap[] = { 1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.3, 1, 3, 20, 100, 350, 690 };
    if (rng_chance(r, 40)) x = near(r, x);
    else x = (double)b->token[TOKEN_LOGP + rng_below(r, 4)][t] + rng_sign(r) * rng_pick(r, gap, 12) * rng_unit(r);
    return x < 0 ? x : 0;
}

static void change_token(rng *r, candidate *c, changes *all) {
    rollouts *b = &c->b;
    const int64_t i = rng_below(r, b->n_sequences), t = b->offset[i] + (b->length[i] ? rng_below(r, b->length[i]) : 0);
    const int64_t other = b->offset[i] + (b->length[i] ? rng_below(r, b->length[i]) : 0);
    uint8_t *const flags[] = { b->step_end, b->segment_end, b->selected, b->kl_mask, b->nll_mask, b->marked, b->shaping_mask };
    const int how = (int)rng_below(r, 20);
    if (!b->length[i] || !b->mask[t] || !b->mask[other]) return;
    if (how < 9) {
        grpo_real *x = &b->token[TOKEN_LOGP + rng_below(r, 4)][t];
        put_real(all, x, any_logp(r, b, t, (double)*x));
    } else if (how < 14) put_real(all, &c->advantage[t], any_number(r, (double)c->advantage[t], (double)c->advantage[other]));
    else if (how < 17) {
        grpo_real *x = b->token[TOKEN_ENTROPY + rng_below(r, TOKEN_ARRAYS - TOKEN_ENTROPY)];
        put_real(all, &x[t], near(r, (double)x[rng_chance(r, 80) ? t : other]));
    } else {
        uint8_t *f = &flags[rng_below(r, 7)][t];
        const uint8_t y = !*f;
        put(all, f, 1, &y);
    }
}

static void change_objective(rng *r, candidate *c, changes *all) {
    int count;
    const grpo_field *f = grpo_fields(&count);
    double x;
    f += rng_below(r, count);
    if (f->choices) return;
    memcpy(&x, (char *)&c->obj + f->offset, sizeof x);
    if (x == 0 || !grpo_is_finite(x)) return;
    x = near(r, x);
    put(all, (char *)&c->obj + f->offset, sizeof x, &x);
}

static void change(rng *r, candidate *c, changes *all) {
    int n = 1 + (int)rng_below(r, 3);
    for (; n > 0 || !all->count; n--) {
        const int how = (int)rng_below(r, 20);
        const int64_t i = rng_below(r, c->b.n_sequences), g = rng_below(r, c->b.n_groups);
        if (how < 15) change_token(r, c, all);
        else if (how < 17) put_real(all, &c->b.reward[i], any_number(r, (double)c->b.reward[i], (double)c->b.reward[0]));
        else if (how < 18) put_real(all, &c->b.log_partition[g], near(r, (double)c->b.log_partition[g]));
        else change_objective(r, c, all);
    }
}

/* ---- the search ------------------------------------------------------------------------------------------------------------------ */

typedef struct { const char *name; double worst[OUTPUTS]; char row[OUTPUTS][48]; long tried, judged; } record;

static void begin(rng *r, const grpo_objective *obj, candidate *c) {
    int64_t i, t;
    rollouts_random(r, RANDOM_SMALL, &c->b);
    c->obj = *obj;
    c->advantage = unwritten(c->b.n_tokens);
    for (i = 0; i < c->b.n_sequences; i++) {
        const double A = rng_bell(r);
        for (t = c->b.offset[i]; t < c->b.offset[i] + c->b.length[i]; t++) c->advantage[t] = (grpo_real)A;
    }
}

static void end(candidate *c) {
    free(c->advantage);
    rollouts_free(&c->b);
}

static void save(const char *row, int output, double error, const candidate *c);

static errors tried(record *all, const char *row, const candidate *c) {
    const errors e = errors_of(c);
    int k;
    all->tried++;
    all->judged += e.judged > 0;
    for (k = 0; k < OUTPUTS; k++) {
        if (saved && e.of[k] > LIMIT && e.of[k] > all->worst[k]) save(row, k, e.of[k], c);
        check(e.of[k] <= LIMIT, "%s: %s is off by %.3g ulps of its scale", row, output_name[k], e.of[k]);
        if (e.of[k] > all->worst[k]) { all->worst[k] = e.of[k]; sprintf(all->row[k], "%.40s", row); }
    }
    return e;
}

static void climb(rng *r, record *all, const char *row, const grpo_objective *obj, int output, int steps) {
    candidate c, other;
    double best, x;
    int k;
    begin(r, obj, &c);
    best = tried(all, row, &c).of[output];
    for (k = 1; k < STARTS; k++) {
        begin(r, obj, &other);
        x = tried(all, row, &other).of[output];
        if (x > best) { const candidate swap = c; c = other; other = swap; best = x; }
        end(&other);
    }
    for (k = 0; k < steps; k++) {
        changes made;
        made.count = 0;
        change(r, &c, &made);
        x = tried(all, row, &c).of[output];
        if (x >= best) best = x;
        else take_back(&made);
    }
    if (saved && best > 1) save(row, output, best, &c);
    end(&c);
}

static void search_hostile(rng *r, const char *row, const grpo_objective *obj, int steps);

static void search(rng *r, record *all, const char *row, const grpo_objective *obj, int steps) {
    int k;
    for (k = 0; k < OUTPUTS; k++) {
        if (k == DENTROPY && obj->penalty.entropy_coef == 0) continue;
        if (k == DDIVERGENCE_REF && obj->penalty.kl != GRPO_KL_EXTERNAL) continue;
        if (k == DLOG_PARTITION && obj->surrogate.kind != GRPO_SURROGATE_TRAJECTORY_BALANCE) continue;
        climb(r, all, row, obj, k, steps);
    }
    search_hostile(r, row, obj, 4 * steps);
}

/* ---- saving, in the format of oracle/worst_error.py ---------------------------------------------------------------------------------- */

static void save_number(double x) {
    if (grpo_is_finite(x)) fprintf(saved, "%.17g", x);
    else fputs(x > 0 ? "\"Infinity\"" : x < 0 ? "\"-Infinity\"" : "\"NaN\"", saved);
}

static void save_objective(const grpo_objective *obj) {
    int count, k, n, length;
    const grpo_field *f = grpo_fields(&count);
    char axis[32] = "";
    for (k = 0; k < count; k++) {
        const size_t size = strcspn(f[k].path, ".");
        double x = 0;
        if (strlen(axis) != size || strncmp(axis, f[k].path, size)) {
            fprintf(saved, "%s\"%.*s\": {", *axis ? "}, " : "", (int)size, f[k].path);
            sprintf(axis, "%.*s", (int)size, f[k].path);
        } else fputs(", ", saved);
        fprintf(saved, "\"%s\": ", f[k].path + size + 1);
        if (f[k].choices) {
            memcpy(&n, (const char *)obj + f[k].offset, sizeof n);
            fprintf(saved, "\"%.*s\"", (field_choice(&f[k], n, &length), length), field_choice(&f[k], n, &length));
        } else {
            memcpy(&x, (const char *)obj + f[k].offset, sizeof x);
            save_number(x);
        }
    }
    putc('}', saved);
}

typedef struct { const char *key; const grpo_real *real; const uint8_t *flag; const int64_t *whole; } column;

static void save_cell(const column *a, int64_t t, int masked) {
    if (a->whole) fprintf(saved, "%d", masked ? 0 : (int)a->whole[t]);
    else if (a->flag) fputs(a->flag[t] ? "true" : "false", saved);
    else save_number(masked ? 0 : (double)a->real[t]);
}

static void save_column(const candidate *c, const column *a) {
    int64_t i, t;
    fprintf(saved, ", \"%s\": [", a->key);
    for (i = 0; i < c->b.n_sequences; i++) {
        fputs(i ? ", [" : "[", saved);
        for (t = c->b.offset[i]; t < c->b.offset[i] + c->b.length[i]; t++) {
            if (t > c->b.offset[i]) fputs(", ", saved);
            save_cell(a, t, !c->b.mask[t]);
        }
        putc(']', saved);
    }
    putc(']', saved);
}

static void save(const char *row, int output, double error, const candidate *c) {
    const rollouts *b = &c->b;
    const column all[] = { { "logp", b->token[TOKEN_LOGP], 0, 0 }, { "logp_old", b->token[TOKEN_OLD], 0, 0 },
        { "logp_ref", b->token[TOKEN_REF], 0, 0 }, { "logp_rollout", b->token[TOKEN_ROLLOUT], 0, 0 },
        { "logp_teacher", b->token[TOKEN_TEACHER], 0, 0 }, { "entropy", b->token[TOKEN_ENTROPY], 0, 0 },
        { "external_weight", b->token[TOKEN_WEIGHT], 0, 0 }, { "eps_low", b->token[TOKEN_CLIP_LOW], 0, 0 },
        { "eps_high", b->token[TOKEN_CLIP_HIGH], 0, 0 }, { "divergence_ref", b->token[TOKEN_DIVERGENCE_REF], 0, 0 },
        { "divergence_old", b->token[TOKEN_DIVERGENCE_OLD], 0, 0 }, { "segment_end", 0, b->segment_end, 0 },
        { "mask", 0, b->mask, 0 }, { "selected", 0, b->selected, 0 }, { "kl_mask", 0, b->kl_mask, 0 }, { "nll_mask", 0, b->nll_mask, 0 },
        { "shaping_mask", 0, b->shaping_mask, 0 }, { "advantage", c->advantage, 0, 0 } };
    int64_t i, g;
    size_t k;
    fprintf(saved, "{\"row\": \"%s\", \"output\": \"%s\", \"error\": %.3g, \"objective\": {", row, output_name[output], error);
    save_objective(&c->obj);
    fputs("}, \"batch\": {\"group\": [", saved);
    for (g = 0, i = 0; i < b->n_sequences; i++) {
        while (i >= b->group_begin[g + 1]) g++;
        fprintf(saved, "%s%d", i ? ", " : "", (int)g);
    }
    for (fputs("], \"length\": [", saved), i = 0; i < b->n_sequences; i++) fprintf(saved, "%s%d", i ? ", " : "", (int)b->length[i]);
    for (fputs("], \"reward\": [", saved), i = 0; i < b->n_sequences; i++) {
        fputs(i ? ", " : "", saved);
        save_number((double)b->reward[i]);
    }
    for (fputs("], \"truncated\": [", saved), i = 0; i < b->n_sequences; i++)
        fprintf(saved, "%s%s", i ? ", " : "", b->truncated[i] ? "true" : "false");
    for (fputs("], \"log_partition\": [", saved), g = 0; g < b->n_groups; g++) {
        fputs(g ? ", " : "", saved);
        save_number((double)b->log_partition[g]);
    }
    putc(']', saved);
    for (k = 0; k < sizeof all / sizeof *all; k++) save_column(c, &all[k]);
    fputs("}}\n", saved);
}

/* ---- scalar functions -------------------------------------------------------------------------------------------------------------- */

typedef double scalar(double l, double x);
typedef reference_real scalar_reference(double l, double x);

static double exp_of(double l, double x) { return grpo_exp(grpo_two_diff(l, x)); }
static double exp_minus_one_of(double l, double x) { return grpo_exp_minus_one(grpo_two_diff(l, x)); }
static double exp_minus_linear_of(double l, double x) { return grpo_exp_minus_linear(grpo_two_diff(l, x)); }
static double change_of(double l, double x) { return grpo_probability_change(l, x); }
static double kl_of(double l, double x) { return grpo_binary_kl(l, x); }
static reference_real ref_exp_of(double l, double x) { return ref_exp((reference_real)l - x); }
static reference_real ref_exp_minus_one_of(double l, double x) { return ref_change((reference_real)l - x, 0); }
static reference_real ref_exp_minus_linear_of(double l, double x) { return ref_exp_minus_linear((reference_real)l - x); }
static reference_real ref_change_of(double l, double x) { return ref_change(l, x); }
static reference_real ref_kl_of(double l, double x) {
    reference ref;
    reference_real D;
    memset(&ref, 0, sizeof ref);
    D = ref_binary_kl(&ref, x, l);
    return ref.beyond ? 0 : D;
}

/* 0 where the result is near the ends of the range */
static double scalar_error(scalar *f, scalar_reference *exact, double l, double x) {
    const reference_real expected = exact(l, x), size = ref_abs(expected);
    return size < 1e-290 || size > 1e290 ? 0 : (double)(ref_abs((reference_real)f(l, x) - expected) / (size * 0x1p-52));
}

static void search_scalar(rng *r, const char *name, double limit, scalar *f, scalar_reference *exact, int steps) {
    static const double size[] = { 1e-300, 1e-20, 1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.5, 1, 5, 30, 300, 700 };
    double worst = 0, at[2] = { 0, 0 };
    int start, k;
    for (start = 0; start < 8; start++) {
        double l = 0, x = -rng_pick(r, size, 13) * rng_unit(r), best = 0;
        for (k = 0; k < steps; k++) {
            const double m = rng_chance(r, 50) ? near(r, l) : k % 8 ? l : x + rng_sign(r) * rng_pick(r, size, 13) * rng_unit(r);
            const double y = rng_chance(r, 50) ? near(r, x) : x, e = m <= 0 && y <= 0 ? scalar_error(f, exact, m, y) : 0;
            if (e < best) continue;
            best = e;
            l = m;
            x = y;
        }
        if (best > worst) { worst = best; at[0] = l; at[1] = x; }
    }
    check(worst <= limit, "%s(%.17g, %.17g) is off by %.3g ulps", name, at[0], at[1], worst);
    printf("%-28s %8.2f ulps, at most %g; %.17g, %.17g\n", name, worst, limit, at[0], at[1]);
}

static void search_scalars(rng *r, int steps) {
    search_scalar(r, "grpo_exp", 1, exp_of, ref_exp_of, steps);
    search_scalar(r, "grpo_exp_minus_one", 2, exp_minus_one_of, ref_exp_minus_one_of, steps);
    search_scalar(r, "grpo_exp_minus_linear", 3, exp_minus_linear_of, ref_exp_minus_linear_of, steps);
    search_scalar(r, "grpo_probability_change", 4, change_of, ref_change_of, steps);
    search_scalar(r, "grpo_binary_kl", 12, kl_of, ref_kl_of, steps);
}

/* ---- any finite input -------------------------------------------------------------------------------------------------------------- */

static double any_finite(rng *r) {
    static const double size[] = { 0, 5e-324, 1e-310, 1e-300, 1e-160, 1e-40, 1e-9, 1e-3, 0.5, 1, 30, 300, 700, 710, 745, 1e4, 1e30, 1e38,
                                   1e150, 1e160, 1e300, DBL_MAX };
    const double x = rng_sign(r) * rng_pick(r, size, 22) * (rng_chance(r, 50) ? 1 : rng_unit(r));
    return sizeof(grpo_real) == 4 ? fmax(-FLT_MAX, fmin(x, FLT_MAX)) : x;
}

static void make_hostile(rng *r, candidate *c, changes *all) {
    rollouts *b = &c->b;
    int n;
    for (n = 1 + (int)rng_below(r, 6); n > 0; n--) {
        const int64_t i = rng_below(r, b->n_sequences), t = b->offset[i] + (b->length[i] ? rng_below(r, b->length[i]) : 0);
        const int k = (int)rng_below(r, TOKEN_ARRAYS + 3);
        const double x = any_finite(r), low = k <= TOKEN_ROLLOUT || k == TOKEN_TEACHER ? -fabs(x) : fabs(x);
        if (k == TOKEN_ARRAYS || !b->length[i]) put_real(all, &b->reward[i], x);
        else if (k > TOKEN_ARRAYS) put_real(all, &c->advantage[t], x);
        else if (b->mask[t]) put_real(all, &b->token[k][t], k == TOKEN_VALUE || k == TOKEN_STEP_REWARD ? x : low);
    }
}

static int unlike_numbers(const candidate *c, const grpo_real *x, const char *row, const char *name) {
    int64_t i, t;
    int far = 0;
    for (i = 0; i < c->b.n_sequences; i++) for (t = c->b.offset[i]; t < c->b.offset[i] + c->b.length[i]; t++) {
        const double y = (double)x[t];
        check(y == y, "%s: %s is NaN", row, name);
        far += !grpo_is_finite(y) || fabs(y) > 1e200 || (y != 0 && fabs(y) < 1e-200);
    }
    return far;
}

/* the ranges that the report's members have */
static void check_ranges(const char *row, const grpo_report *m) {
    const double never_negative[] = { m->ess, m->approx_kl_k3, m->kl_k2, m->kl_k3, m->clip_fraction_low, m->clip_fraction_high,
                                      m->clip_fraction_dual, m->ratio_min };
    const double most_one[] = { m->ess, m->clip_fraction, m->clip_fraction_low, m->clip_fraction_high, m->clip_fraction_dual };
    size_t k;
    for (k = 0; k < sizeof never_negative / sizeof *never_negative; k++)
        check(never_negative[k] >= 0, "%s: number %d of the report is %.17g", row, (int)k, never_negative[k]);
    for (k = 0; k < sizeof most_one / sizeof *most_one; k++)
        check(most_one[k] <= 1 + 1e-15, "%s: number %d of the report is %.17g", row, (int)k, most_one[k]);
    check(m->ratio_min <= m->ratio_mean * (1 + 1e-15) && m->ratio_mean <= m->ratio_max * (1 + 1e-15), "%s: ratios %.17g, %.17g, %.17g", row,
          m->ratio_min, m->ratio_mean, m->ratio_max);
    check(m->loss == m->loss && m->policy_loss == m->policy_loss && m->penalty_loss == m->penalty_loss && m->entropy == m->entropy
          && m->approx_kl_k1 == m->approx_kl_k1 && m->kl_k1 == m->kl_k1 && m->rollout_is_mean == m->rollout_is_mean, "%s: NaN", row);
}

/* how many numbers are infinite or near the ends of the range; checks that none is NaN, and the ranges of the report */
static int strangeness(const char *row, const candidate *c) {
    const grpo_batch batch = rollouts_view(&c->b);
    grpo_real *advantage = unwritten(c->b.n_tokens);
    answer a;
    int far = 0;
    if (!grpo_advantages(&c->obj, &batch, advantage)) far += unlike_numbers(c, advantage, row, "advantage");
    answer_find(c, &a);
    if (!a.status) {
        far += unlike_numbers(c, a.dlogp, row, "dlogp") + unlike_numbers(c, a.term, row, "term");
        far += unlike_numbers(c, a.dentropy, row, "dentropy") + unlike_numbers(c, a.ddivergence_ref, row, "ddivergence_ref");
        check_ranges(row, &a.report);
    }
    answer_free(&a);
    free(advantage);
    return far;
}

/* towards infinities and underflow, from which NaN comes */
static void search_hostile(rng *r, const char *row, const grpo_objective *obj, int steps) {
    candidate c;
    int k, most = 0;
    begin(r, obj, &c);
    for (k = 0; k < steps; k++) {
        changes made;
        int x;
        made.count = 0;
        make_hostile(r, &c, &made);
        x = strangeness(row, &c);
        if (x >= most) most = x;
        else take_back(&made);
        if (k % 64 == 63) {
            end(&c);
            begin(r, obj, &c);
            most = 0;
        }
    }
    end(&c);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------------- */

static void report(const record *all) {
    int k;
    printf("%s: %ld inputs, %ld judged\n", all->name, all->tried, all->judged);
    for (k = 0; k < OUTPUTS; k++) printf("    %-18s%8.2f ulps of scale, %s\n", output_name[k], all->worst[k], all->row[k]);
}

/* draws of its own, so that a row or objective alone gives what it gives among others */
static rng draws(uint64_t seed, int k) {
    rng r = { seed + (uint64_t)k };
    r.state = rng_next(&r);
    return r;
}

static void search_presets(uint64_t seed, int argc, char **argv, int steps) {
    record all;
    int count, k, n, named;
    const grpo_preset *preset = grpo_presets(&count);
    memset(&all, 0, sizeof all);
    all.name = "rows";
    for (k = 0; k < count; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&preset[k]);
        rng r = draws(seed, k);
        for (named = argc == 0, n = 0; n < argc; n++) named |= !strcmp(argv[n], preset[k].name);
        if (named) search(&r, &all, preset[k].name, &obj, steps);
    }
    report(&all);
}

static void search_random(uint64_t seed, int number, int steps) {
    record all;
    int k;
    memset(&all, 0, sizeof all);
    all.name = "random objectives";
    for (k = 0; k < number; k++) {
        rng r = draws(seed, 1000 + k);
        grpo_objective obj;
        char name[40];
        random_objective(&r, &obj);
        sprintf(name, "objective %d", k);
        search(&r, &all, name, &obj, steps);
    }
    if (number) report(&all);
}

int main(int argc, char **argv) {
    int steps = 300, number = 300;
    uint64_t seed = 1;
    rng r;
    setvbuf(stdout, NULL, _IOLBF, 1 << 12);
    for (argv++, argc--; argc > 1 && !strncmp(*argv, "--", 2); argv += 2, argc -= 2) {
        if (!strcmp(*argv, "--steps")) steps = atoi(argv[1]);
        else if (!strcmp(*argv, "--seed")) seed = (uint64_t)atoi(argv[1]);
        else if (!strcmp(*argv, "--random")) number = atoi(argv[1]);
        else if (!strcmp(*argv, "--save")) saved = fopen(argv[1], "a");
        else return fprintf(stderr, "no option %s\n", *argv), 2;
    }
    r = draws(seed, -1);
    search_scalars(&r, 100 * steps);
    search_presets(seed, argc, argv, steps);
    search_random(seed, number, steps);
    if (saved) fclose(saved);
    return check_summary();
}
