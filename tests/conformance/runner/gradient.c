/* The relation finite-differences: compares dlogp with central differences of the loss. */
#include "gradient.h"
#include "request.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The loss f(x) with x v added to the log-probabilities, v a direction, is evaluated at x = 0, +-h and +-h/2:
 *
 *     D(x) = (f(x) - f(-x))/2x     the central difference, f' + x^2 f'''/6 + ...
 *     s(x) = (f(x) - 2 f(0) + f(-x))/x     the difference of the two one-sided differences, x f'' + ...
 *
 * Where f is smooth, D(h) - D(h/2) is three times the error of D(h/2), and s(h) - 2 s(h/2) is of third order.  A kink in which the slope
 * jumps by J, at distance a from 0, makes an error of J (1 - 2 a/h)/2 in D(h/2) if a < h/2, else none; it changes D(h) - D(h/2) by J a/2h
 * and s(h) - 2 s(h/2) by J abs(1 - 3 a/h), whose sum is never smaller.  So |D(h) - D(h/2)| + |s(h) - 2 s(h/2)| bounds the error of D(h/2).
 * The rounding error of the two losses is added: at the run's tolerance of k eps it is 2 k eps scale/h.  Where this bound is more than
 * 2^-13 of the derivative, there is a kink and nothing is reported.  Several kinks, as of tokens exactly on a clip bound, do not cancel in
 * the bound, since each token has another component of v. */
#define STEP (1.0 / 4096)           /* h */
#define LARGEST_BOUND (1.0 / 8192)  /* of the derivative */

typedef struct { double at0, far[2], near[2]; } losses;          /* [0]: at -x, [1]: at x */

/* ---- the direction -------------------------------------------------------------------------------------------------------------- */

static int is_float(double x) { return (double)(float)x == x; }

/* are all moved log-probabilities exact in a float, and at most 0? */
static int may_move(double l, double v) {
    for (double x = -STEP; x <= STEP; x += STEP / 2) if (!is_float(l + x * v) || l + x * v > 0) return 0;
    return 1;
}

/* Has response i only probabilities above 0?  In a mean over the response an infinite log-probability hides how the others move. */
static int is_possible(const cJSON *request, int i) {
    const cJSON *row = cJSON_GetArrayItem(json_get(json_get(request, "batch"), "logp"), i);
    for (const cJSON *l = row ? row->child : NULL; l; l = l->next) if (!cJSON_IsNumber(l)) return 0;
    return 1;
}

static double direction_of(const cJSON *request, int i, int t, const cJSON *logp) {
    const int n = 7 * i + t, sign = n % 3 ? 1 : -1;
    const double v = sign * (16 + 5 * n % 31) / 16.0;
    return is_possible(request, i) && request_active(request, i, t) && may_move(logp->valuedouble, v) ? v : 0;
}

static cJSON *moved(const cJSON *request, double x) {
    cJSON *copy = cJSON_Duplicate(request, 1);
    int i = 0;
    for (cJSON *row = json_get(json_get(copy, "batch"), "logp")->child; row; row = row->next, i++) {
        int t = 0;
        for (cJSON *l = row->child; l; l = l->next, t++) {
            const double v = direction_of(request, i, t, l);
            if (v != 0) cJSON_SetNumberHelper(l, l->valuedouble + x * v);
        }
    }
    return copy;
}

/* the sums of dlogp v, of |dlogp v| and of |scale v|; returns 0 if a number is missing or not finite */
static int along(const cJSON *request, const cJSON *dlogp, const cJSON *scale, double *slope, double *size, double *rounding) {
    int i = 0;
    const cJSON *grad_row = dlogp->child, *scale_row = scale->child;
    *slope = *size = *rounding = 0;
    for (const cJSON *row = json_get(json_get(request, "batch"), "logp")->child; row; row = row->next, i++) {
        int t = 0;
        const cJSON *g = grad_row ? grad_row->child : NULL, *s = scale_row ? scale_row->child : NULL;
        for (const cJSON *l = row->child; l; l = l->next, t++) {
            const double v = direction_of(request, i, t, l);
            if (!cJSON_IsNumber(g) || !cJSON_IsNumber(s)) return 0;
            *slope += g->valuedouble * v;
            *size += fabs(g->valuedouble * v);
            *rounding += fabs(s->valuedouble * v);
            g = g->next;
            s = s->next;
        }
        grad_row = grad_row ? grad_row->next : NULL;
        scale_row = scale_row ? scale_row->next : NULL;
    }
    return 1;
}

/* ---- the losses ----------------------------------------------------------------------------------------------------------------- */

/* the last request and its answer stay in the trial */
static int loss_at(const asker *a, trial *t, double x, double *loss) {
    const cJSON *found;
    cJSON_Delete(t->changed);
    cJSON_Delete(t->changed_answer);
    t->changed = moved(t->request, x);
    t->changed_answer = request_ask(a, t->changed, t);
    found = json_get(t->changed_answer, "loss");
    return cJSON_IsNumber(found) && (*loss = found->valuedouble, 1);
}

static int ask_losses(const asker *a, trial *t, losses *f) {
    const cJSON *loss = json_get(t->answer, "loss");
    if (!cJSON_IsNumber(loss)) return 0;
    f->at0 = loss->valuedouble;
    return loss_at(a, t, -STEP, &f->far[0]) && loss_at(a, t, STEP, &f->far[1])
        && loss_at(a, t, -STEP / 2, &f->near[0]) && loss_at(a, t, STEP / 2, &f->near[1]);
}

/* ---- the verdict ---------------------------------------------------------------------------------------------------------------- */

static double central(const double *f, double x) { return (f[1] - f[0]) / (2 * x); }
static double one_sided(const losses *f, const double *at, double x) { return (at[1] - 2 * f->at0 + at[0]) / x; }

static double uncertainty(const losses *f) {
    return fabs(central(f->far, STEP) - central(f->near, STEP / 2))
         + fabs(one_sided(f, f->far, STEP) - 2 * one_sided(f, f->near, STEP / 2));
}

static void report_slope(trial *t, double slope, double found, double bound) {
    char *text = NULL;
    text_format(&text, "along a direction the derivative of the loss is %.17g by dlogp, but %.17g +- %.2g by finite differences", slope,
                found, bound);
    t->kind = TRIAL_BROKEN;
    t->what = text_string(&text);
    snprintf(t->where, sizeof t->where, "dlogp");
    snprintf(t->output, sizeof t->output, "dlogp");
}

static void judge_slope(const asker *a, const cJSON *scale, const losses *f, trial *t) {
    const double k = a->r->tolerance * a->r->precision->eps, found = central(f->near, STEP / 2);
    const cJSON *loss = json_get(scale, "loss");
    const cJSON *dlogp = json_get(t->answer, "dlogp");
    double slope, size, rounding, bound;
    if (!cJSON_IsNumber(loss) || !along(t->request, dlogp, json_get(scale, "dlogp"), &slope, &size, &rounding)) return;
    bound = uncertainty(f) + k * (2 * loss->valuedouble / STEP + rounding);
    if (!(bound <= LARGEST_BOUND * fmax(size, fabs(found)))) return;
    t->kind = TRIAL_HELD;
    t->judged = 1;
    if (!(fabs(found - slope) <= bound)) report_slope(t, slope, found, bound);
}

void try_gradient(const asker *a, const cJSON *base, const cJSON *scale, trial *t) {
    losses f;
    cJSON *sizes;
    t->kind = TRIAL_NOTHING;
    if (strcmp(a->r->precision->name, "f64")) return;          /* in lower precision the difference of two losses is mostly rounding */
    t->answer = base ? cJSON_Duplicate(base, 1) : request_ask(a, t->request, t);
    if (!t->answer || !json_get(t->answer, "dlogp") || !ask_losses(a, t, &f)) return;
    sizes = scale ? cJSON_Duplicate(scale, 1) : sizes_of(t->answer);
    judge_slope(a, sizes, &f, t);
    cJSON_Delete(sizes);
}
