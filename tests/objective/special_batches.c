/* Batches made for one claim: equal rewards have no advantage, infinite weights are shared among those that are infinite, infinite scores
 * have the limit's gradient, a mean next to its threshold is on the right side, the report's numbers hold at the ends of their range. */
#include "../../gspo.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/result_bits.h"
#include "../support/scratch.h"

enum { MAX_GROUPS = 16 };

/* ---- equal rewards ------------------------------------------------------------------------------------------------------------- */

static void equal_batch(rng *r, double reward, rollouts *b) {
    int64_t i;
    rollouts_random(r, 0, b);
    for (i = 0; i < b->n_sequences; i++) b->reward[i] = (grpo_real)reward;
    for (i = 0; i < b->n_sequences * b->n_rewards; i++) b->rewards[i] = (grpo_real)reward;
}

/* restricts the objective to choices under which the advantages of equal rewards are 0 */
static void pin_equal(grpo_objective *obj) {
    grpo_advantage *a = &obj->advantage;
    memset(&obj->reward, 0, sizeof obj->reward);
    a->credit = GRPO_CREDIT_OUTCOME;
    a->singleton = GRPO_SINGLETON_ZERO;
    a->pass_k = 1;
    a->baseline_shift = a->teacher_coef = a->kl_centred_coef = a->clamp_low = a->clamp_high = a->truncated_tail = 0;
    a->step_discount = GRPO_STEP_DISCOUNT_TOKENS;
    a->marked = GRPO_MARKED_NONE;
    if (a->scale == GRPO_SCALE_BETA) a->scale = GRPO_SCALE_GROUP_STD;                   /* needs rewards in [0, 1] */
    if (a->transform >= GRPO_TRANSFORM_PKPO_MAX && (a->baseline == GRPO_BASELINE_BATCH_MEAN || a->batch_norm != GRPO_BATCH_NORM_NONE
                                                    || a->scale == GRPO_SCALE_TOKEN_WHITEN || a->scale == GRPO_SCALE_BATCH_STD))
        a->transform = GRPO_TRANSFORM_NONE;                                             /* factor k/n: differs between groups */
    if (a->entropy == GRPO_ENTROPY_ZERO_VARIANCE || a->entropy == GRPO_ENTROPY_RESPONSE) a->entropy = GRPO_ENTROPY_NONE;
    a->entropy_coef = fabs(a->entropy_coef);                                            /* a negative bonus is not 0 where A is */
    if (a->baseline == GRPO_BASELINE_EXTERNAL) a->baseline = GRPO_BASELINE_GROUP_MEAN;
    if (a->baseline == GRPO_BASELINE_NONE || a->baseline == GRPO_BASELINE_KALMAN) a->scale = GRPO_SCALE_GROUP_STD;
    if (a->baseline == GRPO_BASELINE_LENGTH_WEIGHTED) a->batch_norm = GRPO_BATCH_NORM_NONE;    /* a group without tokens has no such mean */
}

static void check_equal(const grpo_objective *obj, const rollouts *b, double reward) {
    grpo_batch batch = rollouts_view(b);
    grpo_real *advantage = unwritten(b->n_tokens);
    grpo_status st = grpo_advantages(obj, &batch, advantage);
    int64_t t, bad = 0;
    for (t = 0; t < b->n_tokens; t++) bad += advantage[t] != UNWRITTEN && advantage[t] != 0;
    check(!st && bad == 0, "equal rewards %.9g, baseline %d, scale %d, eps %g/%d, gain %d: %d advantages are not 0 (%s)", reward,
          obj->advantage.baseline, obj->advantage.scale, obj->advantage.eps, obj->advantage.eps_place, obj->advantage.reweight, (int)bad,
          status_line(st));
    free(advantage);
}

static void check_equal_rewards(void) {
    static const double value[] = { 0.7, 0.1, -0.3, 1.0 / 3, 1e7 + 1, 1e-40, -3e38, 0, sizeof(grpo_real) == 8 ? 1e150 : 1e38 };
    rng r = { 11 };
    grpo_objective obj;
    rollouts b;
    int k, trial;
    for (k = 0; k < (int)(sizeof value / sizeof *value); k++) for (trial = 0; trial < 100; trial++) {
        do {
            random_objective(&r, &obj);
            pin_equal(&obj);
        } while (grpo_objective_check(&obj));
        equal_batch(&r, value[k], &b);
        check_equal(&obj, &b, value[k]);
        rollouts_free(&b);
    }
}

/* ---- grpo_dynamic_sampling_mask -------------------------------------------------------------------------------------------------- */

static void check_dynamic_sampling_mask(void) {
    rng r = { 13 };
    int trial;
    for (trial = 0; trial < 200; trial++) {
        rollouts b;
        grpo_batch batch;
        uint8_t keep[MAX_GROUPS];
        int64_t g, i;
        grpo_status st;
        rollouts_random(&r, 0, &b);
        batch = rollouts_view(&b);
        st = grpo_dynamic_sampling_mask(&batch, keep);
        check(!st, "dynamic_sampling_mask: %s", status_line(st));
        for (g = 0; g < b.n_groups; g++) {
            int differ = 0;
            for (i = b.group_begin[g]; i < b.group_begin[g + 1]; i++) differ |= b.reward[i] != b.reward[b.group_begin[g]];
            check(keep[g] == differ, "dynamic_sampling_mask: batch %d, group %d", trial, (int)g);
        }
        rollouts_free(&b);
    }
}

/* infinite rollout weights are equal: divided by the mean, each of m infinite weights among n is n/m, and finite ones are 0 */
static void check_infinite_weights_over_their_mean(void) {
    enum { N = 5 };
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 }, length[] = { N };
    static const grpo_real l[N] = { -1, -2, -1, -3, -2 }, one[N] = { 1, 1, 1, 1, 1 };
    for (int infinite = 1; infinite <= N; infinite++) {
        grpo_real rollout[N], dlogp[N];
        grpo_objective obj;
        grpo_batch batch;
        grpo_output out;
        grpo_report report;
        memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out);
        for (int t = 0; t < N; t++) rollout[t] = t < infinite ? (grpo_real)-HUGE_VAL : l[t];
        obj.ratio.behaviour = GRPO_BEHAVIOUR_NONE;
        obj.weight.rollout_is = GRPO_ROLLOUT_IS_TRUNCATE; obj.weight.rollout_is_high = HUGE_VAL;
        obj.weight.rollout_is_norm = GRPO_ROLLOUT_IS_NORM_MEAN;
        batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = N;
        batch.logp = batch.logp_old = l; batch.logp_rollout = rollout;
        out.dlogp = dlogp;
        check(!gspo_loss(&obj, &batch, one, NULL, &out, &report), "infinite weights: refused");
        for (int t = 0; t < N; t++)
            check(dlogp[t] == (grpo_real)(t < infinite ? -(double)N / infinite : 0), "%d infinite weights: %g of token %d", infinite,
                  (double)dlogp[t], t);
    }
}

/* D = l - logp_ref next to the largest double */
static void check_report_of_largest_differences(void) {
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 };
    for (int n = 1; n <= 9 && sizeof(grpo_real) == sizeof(double); n++) {
        const int64_t length[] = { n };
        grpo_real l[9], old[9], ref[9], advantage[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
        grpo_objective obj;
        grpo_batch batch;
        grpo_report report;
        memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch);
        obj.surrogate.kind = GRPO_SURROGATE_RATIO;
        batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = n;
        batch.logp = l; batch.logp_old = old;
        for (int t = 0; t < n; t++) { l[t] = (grpo_real)-7.236411382591081e+307; ref[t] = (grpo_real)-DBL_MAX; old[t] = l[t]; }
        batch.logp_ref = ref;
        check(!gspo_loss(&obj, &batch, advantage, NULL, NULL, &report), "differences next to the largest double: refused");
        check(report.kl_k1 > 1e308 && report.kl_k3 == report.kl_k1, "D = 1.07e308 at %d tokens: kl_k1 %g, kl_k3 %g", n, report.kl_k1,
              report.kl_k3);
    }
}

/* ess does not depend on a common factor of the ratios, also where their squares underflow; nor does the mean of the ratios, beside one of
 * e^500 or alone, hold anything of these squares */
static void check_report_of_tiny_ratios(void) {
    enum { N = 300 };
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 };
    static const double shift[] = { -1, -330, -333, -350, -360, -372, -500, -700 };
    for (int64_t n = 1; n <= N; n += n < 5 ? 1 : 59) for (int k = 0; k < 8; k++) {
        static grpo_real l[N], old[N], advantage[N];
        const double w = exp(shift[k]);
        grpo_objective obj;
        grpo_batch batch;
        grpo_report report, first, with;
        memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch);
        obj.surrogate.kind = GRPO_SURROGATE_RATIO;
        batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = &n; batch.n_tokens = n;
        batch.logp = l; batch.logp_old = old;
        for (int t = 0; t < N; t++) { l[t] = (grpo_real)(-0.5 * (t % 3) - 1); old[t] = 0; advantage[t] = 1; }
        check(!gspo_loss(&obj, &batch, advantage, NULL, NULL, &first), "ratios near 1: refused");
        for (int t = 0; t < N; t++) l[t] = (grpo_real)(-0.5 * (t % 3) + shift[k]);
        check(!gspo_loss(&obj, &batch, advantage, NULL, NULL, &report), "tiny ratios: refused");
        check(fabs(report.ess - first.ess) <= 8 * 0x1p-53, "%d ratios near e^%g: ess %.17g, not %.17g", (int)n, shift[k],
              report.ess, first.ess);
        check(report.ratio_mean <= w * (1 + 1e-15) && report.ratio_mean >= report.ratio_min, "the mean of ratios near e^%g is %g", shift[k],
              report.ratio_mean);
        l[n / 2] = 0; old[n / 2] = -500;
        check(!gspo_loss(&obj, &batch, advantage, NULL, NULL, &with), "a large ratio: refused");
        check(fabs(with.ess * (double)n - 1) <= 4 * 0x1p-52 && with.ratio_mean == with.ratio_max / (double)n,
              "one ratio of e^500 among %d near e^%g: ess %.17g, mean %g", (int)n, shift[k], with.ess, with.ratio_mean);
    }
}

/* where no advantage is below 0, tau_neg has no effect, even if 4/tau_neg overflows: in no token, and with any number of them */
static void check_tau_of_no_token(void) {
    enum { N = 9 };
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 };
    static const grpo_surrogate_kind gated[] = { GRPO_SURROGATE_SAPO, GRPO_SURROGATE_SAPO_DETACHED };
    for (int n = 1; n <= N; n++) for (int k = 0; k < 2; k++) {
        const int64_t length[] = { n };
        grpo_real l[N], old[N], advantage[N], dlogp[2][N];
        grpo_objective obj;
        grpo_batch batch;
        grpo_output out;
        grpo_report report[2];
        memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out);
        for (int t = 0; t < n; t++) {
            l[t] = (grpo_real)(-0.25 * (t + 1)); old[t] = l[t] - (grpo_real)0.125; advantage[t] = (grpo_real)(t % 3);
        }
        batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = n;
        batch.logp = l; batch.logp_old = old;
        obj.surrogate.kind = gated[k]; obj.surrogate.tau_pos = 1;
        for (int small = 0; small < 2; small++) {
            obj.surrogate.tau_neg = small ? DBL_MIN : 1;
            out.dlogp = dlogp[small];
            check(!gspo_loss(&obj, &batch, advantage, NULL, &out, &report[small]), "tau_neg of no token: refused");
        }
        check(same_report(&report[0], &report[1]), "tau_neg of no token: %d tokens have the loss %g, not %g", n, report[1].loss,
              report[0].loss);
        check(!memcmp(dlogp[0], dlogp[1], (size_t)n * sizeof **dlogp), "tau_neg of no token: a gradient of %d tokens", n);
    }
}

/* the same for weights of responses: each is one of n, however many tokens it has */
static void check_infinite_weights_of_responses(void) {
    enum { N = 4, TOKENS = 10 };
    static const int64_t group[] = { 0, N }, offset[N] = { 0, 1, 3, 6 }, length[N] = { 1, 2, 3, 4 };
    static const grpo_rollout_is_level_kind level[] = { GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_SUM, GRPO_ROLLOUT_IS_LEVEL_SEQUENCE_MEAN };
    for (int which = 1; which < 1 << N; which++)                         /* a set of responses */
        for (int k = 0; k < 2; k++) {
            grpo_real l[TOKENS], rollout[TOKENS], one[TOKENS], dlogp[TOKENS];
            int infinite = 0;
            grpo_objective obj;
            grpo_batch batch;
            grpo_output out;
            grpo_report report;
            memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out);
            for (int t = 0; t < TOKENS; t++) { l[t] = rollout[t] = (grpo_real)(-1 - t % 3); one[t] = 1; }
            for (int i = 0; i < N; i++) if (which >> i & 1) { infinite++; rollout[offset[i] + length[i] - 1] = (grpo_real)-HUGE_VAL; }
            obj.ratio.behaviour = GRPO_BEHAVIOUR_NONE;
            obj.weight.rollout_is = GRPO_ROLLOUT_IS_TRUNCATE; obj.weight.rollout_is_high = HUGE_VAL;
            obj.weight.rollout_is_level = level[k]; obj.weight.rollout_is_norm = GRPO_ROLLOUT_IS_NORM_MEAN;
            batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = TOKENS;
            batch.logp = batch.logp_old = l; batch.logp_rollout = rollout;
            out.dlogp = dlogp;
            check(!gspo_loss(&obj, &batch, one, NULL, &out, &report), "infinite weights of responses: refused");
            for (int i = 0; i < N; i++) for (int64_t t = offset[i]; t < offset[i] + length[i]; t++)
                check(dlogp[t] == (grpo_real)(which >> i & 1 ? -(double)N / infinite : 0), "responses %d have infinite weights: %g of %d",
                      which, (double)dlogp[t], i);
        }
}

/* ---- infinite scores in functions of a group ---------------------------------------------------------------------------------------
 * Responses of one token with log-ratios K - 1, finite, or 1 - K, where -K stands for a log-probability of -infinity: the z-scores that
 * these have as K grows.  Not here: scores that are all infinite alike, where K cancels. */

enum { SCORES = 4 };
typedef struct { long double s[SCORES], mean, deviation, divisor; int grows; } score_set;

/* scores over K or e^K, if some grow like that */
static score_set score_set_of(const grpo_surrogate *o, const int *sign, const double *y) {
    const int ratio = o->group_score == GRPO_GROUP_SCORE_RATIO;
    score_set x = { { 0 }, 0, 0, 0, 0 };
    int same = 1;
    for (int i = 0; i < SCORES; i++) x.grows |= sign[i] > 0 || (sign[i] < 0 && !ratio);
    for (int i = 0; i < SCORES; i++) {
        if (x.grows) x.s[i] = ratio ? sign[i] > 0 : sign[i];
        else x.s[i] = !ratio ? (long double)y[i] : sign[i] < 0 ? 0 : expl((long double)y[i]);
        x.mean += x.s[i] / SCORES;
        same &= x.s[i] == x.s[0];
    }
    for (int i = 0; i < SCORES; i++) x.deviation += (x.s[i] - x.mean) * (x.s[i] - x.mean) / (SCORES - 1);
    x.deviation = same ? 0 : sqrtl(x.deviation);
    x.divisor = x.deviation + (x.grows ? 0 : (long double)o->group_score_eps);
    return x;
}

/* d loss/d y_j, where no score grows */
static long double score_slope(const grpo_surrogate *o, const score_set *x, const double *A, int j) {
    long double sum = 0;
    for (int i = 0; i < SCORES; i++) {
        const long double off = x->s[i] - x->mean, e = (long double)A[i] - (long double)o->beta * off / x->divisor;
        long double dz = (i == j ? 1 : 0) / x->divisor;
        if (o->kind == GRPO_SURROGATE_REGRESSION) {
            dz -= 1 / (SCORES * x->divisor);
            if (x->deviation > 0) dz -= off * (x->s[j] - x->mean) / ((SCORES - 1) * x->deviation * x->divisor * x->divisor);
        }
        sum -= 2 * (long double)o->beta * e * dz;
    }
    return o->group_score == GRPO_GROUP_SCORE_RATIO ? sum * x->s[j] : sum;
}

static void check_score_set(const grpo_objective *obj, const int *sign) {
    static const int64_t group[] = { 0, SCORES }, offset[SCORES] = { 0, 1, 2, 3 }, length[SCORES] = { 1, 1, 1, 1 };
    static const double A[SCORES] = { 1, -0.5, 0.25, 2 }, y[SCORES] = { 0.25, -0.5, 1, -0.75 };
    const int ratio = obj->surrogate.group_score == GRPO_GROUP_SCORE_RATIO;
    const double allowed = sizeof(grpo_real) == sizeof(float) ? 1e-6 : 1e-13;
    const score_set x = score_set_of(&obj->surrogate, sign, y);
    grpo_real logp[SCORES], old[SCORES], advantage[SCORES], dlogp[SCORES], term[SCORES];
    grpo_batch batch;
    grpo_output out;
    grpo_report report;
    memset(&batch, 0, sizeof batch);
    for (int i = 0; i < SCORES; i++) {
        logp[i] = (grpo_real)(sign[i] < 0 ? -HUGE_VAL : -1);
        old[i] = (grpo_real)(sign[i] > 0 ? -HUGE_VAL : sign[i] < 0 ? -1 : -1 - y[i]);
        advantage[i] = (grpo_real)A[i];
    }
    batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = SCORES;
    batch.logp = logp; batch.logp_old = old;
    out = output_with_scratch(obj, &batch);
    out.dlogp = dlogp; out.term = term;
    check(!gspo_loss(obj, &batch, advantage, NULL, &out, &report), "scores %d %d %d %d: refused", sign[0], sign[1], sign[2], sign[3]);
    free(out.scratch);
    for (int i = 0; i < SCORES; i++) {
        const long double z = x.divisor > 0 ? (x.s[i] - x.mean) / x.divisor : 0;
        const long double e = (long double)A[i] - (long double)obj->surrogate.beta * z;
        check(fabsl((long double)term[i] - e * e) <= (long double)allowed * 10,
              "kind %d, ratio %d, scores %d %d %d %d: F[%d] = %.17g, not %.17Lg", (int)obj->surrogate.kind, ratio, sign[0], sign[1],
              sign[2], sign[3], i, (double)term[i], e * e);
        if (x.grows && ratio) check(dlogp[i] == dlogp[i], "NaN at score %d", i);                    /* infinity over infinity */
        else {
            const long double slope = x.grows ? 0 : score_slope(&obj->surrogate, &x, A, i);         /* something over K */
            check(fabsl((long double)dlogp[i] - slope) <= (long double)allowed * 100,
                  "kind %d, ratio %d, scores %d %d %d %d: d logp[%d] = %.17g, not %.17Lg", (int)obj->surrogate.kind, ratio, sign[0],
                  sign[1], sign[2], sign[3], i, (double)dlogp[i], slope);
        }
    }
}

static void check_infinite_scores(void) {
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    obj.ratio.behaviour = GRPO_BEHAVIOUR_OLD; obj.ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
    obj.surrogate.beta = 0.75; obj.surrogate.group_score_eps = 0.5;
    for (int k = 0; k < 4; k++)
        for (int which = 0; which < 81; which++) {
            const int sign[SCORES] = { which % 3 - 1, which / 3 % 3 - 1, which / 9 % 3 - 1, which / 27 - 1 };
            obj.surrogate.kind = k & 1 ? GRPO_SURROGATE_REGRESSION : GRPO_SURROGATE_STANDARDISED;
            obj.surrogate.group_score = k & 2 ? GRPO_GROUP_SCORE_RATIO : GRPO_GROUP_SCORE_LOG;
            if (which != 80 && !(which == 0 && obj.surrogate.group_score == GRPO_GROUP_SCORE_LOG)) check_score_set(&obj, sign);
        }
}

/* ---- a mean next to its threshold ---------------------------------------------------------------------------------------------- */

enum { MOST_TOKENS = 7 };

/* a log-probability in (-2 low, -low], one of grpo_real; and the same in units of 2^-53 */
static grpo_real log_on_grid(rng *r, double low, int64_t *units) {
    const int bits = sizeof(grpo_real) == 8 ? 53 : 24;
    const grpo_real x = (grpo_real)(-low * (1 + ldexp((double)rng_below(r, (int64_t)1 << (bits - 1)), 1 - bits)));
    *units = (int64_t)ldexp((double)x, 53);
    return x;
}

/* the threshold as off_policy_mask's, or as the lower bound of a band for the ratio of the response */
static void set_threshold(grpo_objective *obj, int of_ratio, double threshold) {
    memset(obj, 0, sizeof *obj);
    obj->surrogate.kind = GRPO_SURROGATE_REINFORCE;
    if (of_ratio) {
        obj->ratio.level = GRPO_LEVEL_SEQUENCE_MEAN;
        obj->weight.trust = GRPO_TRUST_LOG_TWO_SIDED; obj->weight.trust_low = threshold; obj->weight.trust_high = 1;
    } else {
        obj->weight.off_policy_mask = GRPO_OFF_POLICY_MASK_OLD; obj->weight.off_policy_mask_threshold = threshold;
    }
}

/* both drop a response of n tokens with A < 0 exactly where the mean of logp_old - logp is above the threshold */
static void check_mean_next_to_threshold(rng *r, int of_ratio) {
    static const int64_t group[] = { 0, 1 }, offset[] = { 0 };
    const int64_t n = 1 + rng_below(r, MOST_TOKENS), length[] = { n };
    grpo_real l[MOST_TOKENS], old[MOST_TOKENS], advantage[MOST_TOKENS], dlogp[MOST_TOKENS];
    int64_t sum = 0;
    for (int64_t t = 0; t < n; t++) {
        int64_t now, then;
        l[t] = log_on_grid(r, 2, &now); old[t] = log_on_grid(r, 0.5, &then);
        advantage[t] = -1;
        sum += then - now;
    }
    grpo_objective obj;
    grpo_batch batch;
    grpo_output out;
    grpo_report report;
    memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out);
    batch.n_groups = 1; batch.group_begin = group; batch.offset = offset; batch.length = length; batch.n_tokens = n;
    batch.logp = l; batch.logp_old = old;
    out.dlogp = dlogp;
    const double nearest = ldexp((double)(sum / n), -53);
    for (int step = -2; step <= 2; step++) {
        double threshold = nearest;
        for (int k = 0; k < abs(step); k++) threshold = nextafter(threshold, step * HUGE_VAL);
        set_threshold(&obj, of_ratio, threshold);
        const int exceeds = sum > n * (int64_t)ldexp(threshold, 53);
        const int refused = gspo_loss(&obj, &batch, advantage, NULL, &out, &report) != 0;
        check(!refused && (dlogp[0] == 0) == exceeds, "%s: a mean of %lld/%lld 2^-53, threshold %.17g: %s",
              of_ratio ? "band" : "off_policy_mask", (long long)sum, (long long)n, threshold,
              refused ? "refused" : exceeds ? "not dropped" : "dropped");
    }
}

static void check_means_next_to_thresholds(void) {
    rng r = { 31 };
    for (int trial = 0; trial < 20000; trial++) check_mean_next_to_threshold(&r, trial % 2);
}

int main(void) {
    check_equal_rewards();
    check_dynamic_sampling_mask();
    check_infinite_weights_over_their_mean();
    check_infinite_weights_of_responses();
    check_infinite_scores();
    check_means_next_to_thresholds();
    check_tau_of_no_token();
    check_report_of_largest_differences();
    check_report_of_tiny_ratios();
    return check_summary();
}
