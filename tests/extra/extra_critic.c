/* extra/grpo_critic.h: value loss and proximal policy against binary128; derivatives of divergences against differences. */
#include "extra.h"

/* ---- values -------------------------------------------------------------------------------------------------------------------------- */

/* the coefficient of a token of sequence i in group g */
static reference_real reference_coefficient(const trial *t, const grpo_aggregation *a, int64_t g, int64_t i) {
    const int64_t T = mask_tokens(t, i, i + 1), of_group = mask_tokens(t, t->b.group_begin[g], t->b.group_begin[g + 1]);
    int64_t N = 0, G = 0, in_group = 0;
    for (int64_t j = 0; j < t->b.n_sequences; j++) {
        const int counts = a->empty_sequences == GRPO_EMPTY_SEQUENCES_KEEP || mask_tokens(t, j, j + 1) > 0;
        N += counts;
        in_group += counts && j >= t->b.group_begin[g] && j < t->b.group_begin[g + 1];
    }
    for (int64_t j = 0; j < t->b.n_groups; j++)
        G += a->empty_sequences == GRPO_EMPTY_SEQUENCES_KEEP || mask_tokens(t, t->b.group_begin[j], t->b.group_begin[j + 1]) > 0;
    switch (a->kind) {
    case GRPO_AGGREGATION_TOKEN_SUM:             return 1;
    case GRPO_AGGREGATION_TOKEN_MEAN:            return 1 / at_least_one(mask_tokens(t, 0, t->b.n_sequences));
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN:   return 1 / (at_least_one(N) * T);
    case GRPO_AGGREGATION_SEQ_MEAN_TOKEN_SUM:    return 1 / at_least_one(N);
    case GRPO_AGGREGATION_SEQ_MEAN_CONSTANT:     return 1 / (at_least_one(N) * a->constant);
    case GRPO_AGGREGATION_CONSTANT:              return 1 / (reference_real)a->constant;
    case GRPO_AGGREGATION_GROUP_MEAN:            return 1 / (at_least_one(G) * T);
    case GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN: return 1 / (at_least_one(G) * of_group);
    case GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN:   return 1 / (at_least_one(G) * at_least_one(in_group) * T);
    case GRPO_AGGREGATION_SEQ_MEAN_LENGTH_POWER: return ref_exp((a->power - 1) * ref_ln(T)) / at_least_one(N);
    default:                         return 1 / (reference_real)T;
    }
}

static void test_value_with(trial *t, const grpo_real *V, const grpo_real *old, const grpo_real *R, double clip,
                            const grpo_aggregation *a) {
    grpo_real *dvalue = no_tokens(t);
    grpo_value_report found = { 0, 0 };
    reference_real loss = 0, scale = 0, v, error, other, c;
    int64_t clipped = 0;
    const int64_t n = mask_tokens(t, 0, t->b.n_sequences);
    check(grpo_value_loss(&t->view, V, old, R, clip, a, dvalue, &found) == GRPO_OK, "value_loss");
    for (int64_t g = 0; g < t->b.n_groups; g++)
        for (int64_t i = t->b.group_begin[g]; i < t->b.group_begin[g + 1]; i++) {
            c = mask_tokens(t, i, i + 1) ? reference_coefficient(t, a, g, i) : 0;
            for (int64_t s = t->b.offset[i]; s < t->b.offset[i] + t->b.length[i]; s++) {
                if (!t->b.mask[s]) { check(dvalue[s] == 0, "dvalue of a masked token"); continue; }
                v = V[s];
                if (clip > 0 && v > (reference_real)old[s] + clip) v = (reference_real)old[s] + clip;
                if (clip > 0 && v < (reference_real)old[s] - clip) v = (reference_real)old[s] - clip;
                error = ref_abs((reference_real)V[s] - R[s]); other = ref_abs(v - R[s]);
                if (other > error) {
                    clipped++;
                    loss += c * other * other / 2;
                    scale += c * (ref_abs(v) + fabs((double)R[s])) * (ref_abs(v) + fabs((double)R[s])) / 2;
                    check(dvalue[s] == 0, "dvalue where the clip binds");
                } else {
                    loss += c * error * error / 2;
                    scale += c * (fabs((double)V[s]) + fabs((double)R[s])) * (fabs((double)V[s]) + fabs((double)R[s])) / 2;
                    judge("value_loss dvalue", (double)dvalue[s], c * ((reference_real)V[s] - R[s]),
                          c * (fabs((double)V[s]) + fabs((double)R[s])), 1);
                }
            }
        }
    judge("value_loss", found.loss, loss, scale, 0);
    judge("value_loss clip_fraction", found.clip_fraction, n ? (reference_real)clipped / n : 0, 1, 0);
    free(dvalue);
}

static void test_value(rng *r, trial *t) {
    static const double clips[] = { 0, 0.25, 0.2, 1e-3, 1, 50 };
    grpo_real *V = more_tokens(r, t, -2, 2), *old = more_tokens(r, t, -2, 2), *R = more_tokens(r, t, -2, 2);
    grpo_aggregation a;
    memset(&a, 0, sizeof a);
    a.kind = (grpo_aggregation_kind)rng_below(r, GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN + 1);
    a.constant = 3000.7; a.power = rng_unit(r) * 2; a.empty_sequences = rng_chance(r, 50) ? GRPO_EMPTY_SEQUENCES_DROP
        : GRPO_EMPTY_SEQUENCES_KEEP;
    const double clip = rng_pick(r, clips, 6);
    test_value_with(t, V, clip > 0 ? old : NULL, R, clip, &a);         /* value_old is read only with a clip */
    free(V); free(old); free(R);
}

static void test_value_loss_term(void) {
    check(grpo_value_loss_term(2, 0, 1.25, 0.5).clipped == 0, "value_loss_term: as far on the other side");
    check(grpo_value_loss_term(2, 0, 1.25 + 0x1p-50, 0.5).clipped == 1, "value_loss_term: a little further");
    check(grpo_value_loss_term(-2, 0, -1.25, 0.5).slope == -0.75, "value_loss_term: the slope is the value's own");
    check(isnan(grpo_value_loss_term(NAN, 0, 1, 0.2).loss) && isnan(grpo_value_loss_term(0, NAN, 1, 0.2).slope)
          && isnan(grpo_value_loss_term(0, 0, NAN, 0).loss) && isnan(grpo_value_loss_term(0, 0, 1, NAN).loss)
          && isnan(grpo_value_loss_term(0, 0, 1, -1).loss), "value_loss_term: what is no number, or out of range, is NaN");
    check(grpo_value_loss_term(1, NAN, 0, 0).loss == 0.5, "value_loss_term: without a clip the old value is not looked at");
    check(isnan(grpo_proximal(GRPO_PROXIMAL_LINEAR, HUGE_VAL, -1, 3)) && isnan(grpo_proximal(GRPO_PROXIMAL_LOG_LINEAR, -1, HUGE_VAL, 3)),
          "proximal: a probability beyond all numbers");
    check(isnan(grpo_proximal(GRPO_PROXIMAL_LINEAR, NAN, -1, 3)) && isnan(grpo_proximal(GRPO_PROXIMAL_LOG_LINEAR, -1, NAN, 1))
          && isnan(grpo_proximal(GRPO_PROXIMAL_LINEAR, -1, -2, -1)) && isnan(grpo_proximal((grpo_proximal_form)7, -1, -2, 3)),
          "proximal: what is no number, or out of range, is NaN");
}

/* ---- the proximal policy ------------------------------------------------------------------------------------------------------------- */

static void test_proximal(rng *r, trial *t) {
    grpo_real *l = more_tokens(r, t, -20, 0), *b = more_tokens(r, t, rng_chance(r, 50) ? -20 : -0.01, 0), *found = no_tokens(t);
    int64_t *behaviour = test_alloc(t->b.n_tokens, sizeof *behaviour);
    const int64_t version = rng_chance(r, 50) ? 5 : 1000000;
    const int form = (int)rng_below(r, 2);
    grpo_batch view = t->view;
    view.logp = l; view.logp_rollout = b;
    for (int64_t s = 0; s < t->b.n_tokens; s++) behaviour[s] = t->b.mask[s] ? rng_below(r, rng_chance(r, 10) ? version + 1 : 6) : -7;
    for (int64_t k = 0; k < t->total; k++) if (t->b.mask[t->place[k]] && rng_chance(r, 20)) l[t->place[k]] = b[t->place[k]];
    check(grpo_proximal_logp(&view, version, behaviour, form ? GRPO_PROXIMAL_LINEAR : GRPO_PROXIMAL_LOG_LINEAR, found) == GRPO_OK,
          "proximal_logp");
    for (int64_t k = 0; k < t->total; k++) {
        const int64_t s = t->place[k], lag = version - behaviour[s];
        reference_real alpha, e;
        if (!t->b.mask[s]) { check(found[s] == 0, "proximal_logp of a masked token"); continue; }
        alpha = lag ? (reference_real)(lag - 1) / lag : 0;
        e = form ? ref_ln((1 - alpha) * ref_exp(b[s]) + alpha * ref_exp(l[s])) : b[s] + alpha * ((reference_real)l[s] - b[s]);
        judge(form ? "proximal_logp linear" : "proximal_logp log_linear", (double)found[s], e, ref_abs(e), 1);
    }
    free(l); free(b); free(found); free(behaviour);
}

/* ---- divergences --------------------------------------------------------------------------------------------------------------------- */

/* the gradient by the student's logits against differences of the value; its sum is 0 */
static void test_divergence_slopes(rng *r) {
    static const double betas[] = { 0, 1, 0.5, 0.125, 0.9 };
    const double beta = rng_pick(r, betas, 5), tau = 0.5 + rng_unit(r), h = 1e-5;
    double student[6], teacher[6], slope[6], up, down, sum = 0;
    for (int v = 0; v < 6; v++) { student[v] = rng_bell(r); teacher[v] = rng_bell(r); }
    if (beta > 0 && beta < 1) { student[1] = -INFINITY; teacher[2] = -INFINITY; }
    check(!grpo_generalised_jsd(student, teacher, 6, tau, beta, &up, slope), "divergence");
    check(up > 0, "divergence: %g", up);
    for (int v = 0; v < 6; v++) {
        const double at = student[v];
        sum += slope[v];
        if (at == -INFINITY) { check(slope[v] == 0, "divergence: a banned token has a slope"); continue; }
        student[v] = at + h;
        check(!grpo_generalised_jsd(student, teacher, 6, tau, beta, &up, NULL), "generalised_jsd");
        student[v] = at - h;
        check(!grpo_generalised_jsd(student, teacher, 6, tau, beta, &down, NULL), "generalised_jsd");
        student[v] = at;
        check(fabs((up - down) / (2 * h) - slope[v]) < 1e-8, "divergence: slope %g, difference %g", slope[v], (up - down) / (2 * h));
    }
    check(fabs(sum) < 1e-14, "divergence: slopes sum to %g", sum);
}

static void test_infinite_divergence(void) {
    const double all[3] = { 0, 1, 2 }, less[3] = { 0, 1, -INFINITY };
    double value, slope[3];
    check(!grpo_generalised_jsd(less, all, 3, 1, 0, &value, slope) && value == HUGE_VAL && slope[2] == 0, "divergence: mass that q lacks");
    check(!grpo_generalised_jsd(all, less, 3, 1, 1, &value, slope) && value == HUGE_VAL && slope[2] == HUGE_VAL,
          "divergence: mass that p lacks");
    check(!grpo_generalised_jsd(less, all, 3, 1, 1, &value, slope) && grpo_is_finite(value), "divergence: mass that only p has");
    check(!grpo_generalised_jsd(all, less, 3, 1, 0, &value, slope) && grpo_is_finite(value), "divergence: mass that only q has");
    for (int v = 0; v < 3; v++) check(grpo_is_finite(slope[v]), "divergence: slope %d", v);
}

int main(void) {
    static trial_test *const of_batches[] = {
        test_value, test_proximal
    };
    static list_test *const of_rows[] = {
        test_divergence_slopes
    };
    test_trials(21, 800, of_batches, COUNT(of_batches));
    test_lists(77, 200, of_rows, COUNT(of_rows));
    test_value_loss_term();
    test_infinite_divergence();
    print_tallies();
    return check_summary();
}
