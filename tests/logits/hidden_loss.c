/* extra/grpo_hidden.h: loss, d hidden and d weight by tiles, against all logits at once by extra/grpo_logits.h.  With a matrix product
 * whose rows do not depend on each other, loss, report and dlogp have the same bits for every tile size, in one pass and in two; d hidden
 * and d weight are also compared with sums in long double and finite differences. */
#include "../../extra/grpo_hidden.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/result_bits.h"
#include "../support/scratch.h"

static const double EPSILON = sizeof(grpo_real) == sizeof(float) ? 1.1920929e-7 : 2.220446049250313e-16;

/* the inputs and outputs of a call */
typedef struct {
    grpo_hidden rows;
    int64_t n;
    grpo_real *hidden, *weight, *advantage, *dlogp, *dentropy, *term, *d_weight_before;
    int64_t *target;
    grpo_report report;
    grpo_status status;
} evaluation;

static int is_untouched(const void *p, size_t n) { return all_bytes(p, n, UNTOUCHED); }
static grpo_real *reals(int64_t n) { return (grpo_real *)untouched(n, sizeof(grpo_real)); }

/* clears the outputs, and sizes the scratch for a tile */
static void evaluation_outputs(evaluation *e, int64_t tile_rows) {
    const int64_t head = e->rows.vocab * e->rows.width;
    e->rows.tile_rows = tile_rows;
    e->rows.tile = reals(tile_rows * (e->rows.vocab + e->rows.width));
    e->rows.row = (grpo_hidden_row *)untouched(tile_rows, sizeof *e->rows.row);
    e->rows.logp = reals(e->n); e->rows.entropy = reals(e->n);
    e->dlogp = reals(e->n); e->dentropy = reals(e->n); e->term = reals(e->n);
    e->rows.d_hidden = reals(e->n * e->rows.width);
    e->rows.d_weight = reals(head);
    memcpy(e->rows.d_weight, e->d_weight_before, (size_t)head * sizeof(grpo_real));
    memset(&e->report, UNTOUCHED, sizeof e->report);
}

static void evaluation_free_outputs(evaluation *e) {
    free(e->rows.tile); free(e->rows.row); free(e->rows.logp); free(e->rows.entropy); free(e->dlogp); free(e->dentropy); free(e->term);
    if (e->rows.d_hidden != e->hidden) free(e->rows.d_hidden);
    free(e->rows.d_weight);
}

/* random inputs, with garbage at masked tokens and in slots of no response, which must not be read */
static void evaluation_inputs(rng *r, const rollouts *b, evaluation *e) {
    static const double tau[] = { 1, 1, 0.7, 2 };
    int64_t i, t, k;
    memset(e, 0, sizeof *e);
    e->n = b->n_tokens;
    e->rows.width = 1 + rng_below(r, rng_chance(r, 10) ? 200 : 20);
    e->rows.vocab = 1 + rng_below(r, rng_chance(r, 10) ? 300 : 50);
    e->rows.temperature = rng_pick(r, tau, 4);
    e->rows.hidden = e->hidden = reals(e->n * e->rows.width);
    e->rows.weight = e->weight = reals(e->rows.vocab * e->rows.width);
    e->d_weight_before = reals(e->rows.vocab * e->rows.width);
    e->rows.target = e->target = (int64_t *)untouched(e->n, sizeof *e->target);
    e->advantage = reals(e->n);
    for (k = 0; k < e->n * e->rows.width; k++) e->hidden[k] = rng_garbage(r);
    for (k = 0; k < e->rows.vocab * e->rows.width; k++) {
        e->weight[k] = (grpo_real)(2 * rng_bell(r) / sqrt((double)e->rows.width));
        e->d_weight_before[k] = (grpo_real)(0.01 * rng_bell(r));
    }
    for (i = 0; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            e->advantage[t] = (grpo_real)(rng_chance(r, 20) ? 0 : rng_bell(r));
            if (!b->mask[t]) continue;
            e->target[t] = rng_below(r, e->rows.vocab);
            for (k = 0; k < e->rows.width; k++) e->hidden[t * e->rows.width + k] = (grpo_real)rng_bell(r);
        }
}

static void evaluation_free_inputs(evaluation *e) {
    free(e->hidden); free(e->weight); free(e->target); free(e->advantage); free(e->d_weight_before);
}

static void evaluate(const grpo_objective *obj, const rollouts *b, evaluation *e) {
    grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    batch.logp = batch.entropy = NULL;
    out.dlogp = e->dlogp; out.dentropy = e->dentropy; out.term = e->term;
    e->status = grpo_hidden_loss(obj, &batch, e->advantage, NULL, &e->rows, &out, &e->report);
    free(out.scratch);
}

static int same_reals(const grpo_real *a, const grpo_real *b, int64_t n) { return !memcmp(a, b, (size_t)n * sizeof *a); }

/* equal numbers; -0 equals 0, since a row that is left out may differ from a row of zeros in the sign */
static int equal_reals(const grpo_real *a, const grpo_real *b, int64_t n) {
    while (n > 0) { n--; if (a[n] != b[n] && (a[n] == a[n] || b[n] == b[n])) return 0; }
    return 1;
}

static int is_unwritten(const evaluation *e) {
    const size_t real = sizeof(grpo_real), n = (size_t)e->n;
    return is_untouched(e->rows.logp, n * real) && is_untouched(e->rows.entropy, n * real) && is_untouched(e->dlogp, n * real)
        && is_untouched(e->rows.d_hidden, n * (size_t)e->rows.width * real) && is_untouched(&e->report, sizeof e->report)
        && same_reals(e->rows.d_weight, e->d_weight_before, e->rows.vocab * e->rows.width);
}

/* ---- the product ------------------------------------------------------------------------------------------------------------------- */

static void check_product(rng *r) {
    const int64_t m = 1 + rng_below(r, 40), n = 1 + rng_below(r, 300), k = rng_below(r, 80);
    const int ta = rng_chance(r, 50), tb = rng_chance(r, 50), add = rng_chance(r, 50);
    grpo_real *a = reals(m * k), *b = reals(k * n), *c = reals(m * n), *row = reals(n);
    int64_t i, j, d, bad = 0;
    for (i = 0; i < m * k; i++) a[i] = (grpo_real)rng_bell(r);
    for (i = 0; i < k * n; i++) b[i] = (grpo_real)rng_bell(r);
    for (i = 0; add && i < m * n; i++) c[i] = (grpo_real)(0.125 * (double)(i % 7));
    grpo_hidden_product(NULL, ta, tb, m, n, k, a, b, add, c);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            long double sum = add ? 0.125L * (long double)((i * n + j) % 7) : 0, size = fabsl(sum);
            for (d = 0; d < k; d++) {
                const long double x = (long double)a[ta ? d * m + i : i * k + d] * (long double)b[tb ? j * k + d : d * n + j];
                sum += x; size += fabsl(x);
            }
            bad += !(fabsl((long double)c[i * n + j] - sum) <= (long double)EPSILON * (long double)(k + 1) * size);
        }
    check(bad == 0, "product %d x %d x %d, transposed %d %d, add %d: %d elements", (int)m, (int)n, (int)k, ta, tb, add, (int)bad);
    if (!ta && !add) {
        i = rng_below(r, m);
        grpo_hidden_product(NULL, 0, tb, 1, n, k, a + i * k, b, 0, row);
        check(same_reals(row, c + i * n, n), "a row by itself is another");
    }
    free(a); free(b); free(c); free(row);
}

/* ---- all logits at once ------------------------------------------------------------------------------------------------------------- */

/* without tiles: logits of all rows, grpo_logits_loss, and gradients from d logits, over unmasked tokens in the order of the responses */
typedef struct {
    grpo_logits_batch rows;
    grpo_real *logits, *dlogp, *dentropy, *term, *d_hidden, *d_weight, *packed_dz, *packed_h;
    int64_t counted, *slot;
    grpo_report report;
    grpo_status status;
} whole;

static void whole_run(const grpo_objective *obj, const rollouts *b, const evaluation *e, whole *w) {
    grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    const int64_t n = e->n, V = e->rows.vocab;
    memset(w, 0, sizeof *w);
    w->logits = reals(n * V); w->dlogp = reals(n); w->dentropy = reals(n); w->term = reals(n);
    grpo_hidden_product(NULL, 0, 1, n, V, e->rows.width, e->hidden, e->weight, 0, w->logits);
    w->rows.logits.logits = w->rows.dlogits = w->logits;
    w->rows.logits.rows = n; w->rows.logits.vocab = w->rows.logits.stride = V;
    w->rows.logits.target = e->target; w->rows.logits.temperature = e->rows.temperature;
    w->rows.part = (grpo_logits_part *)untouched(n, sizeof *w->rows.part);
    w->rows.logp = reals(n); w->rows.entropy = reals(n);
    batch.logp = batch.entropy = NULL;
    out.dlogp = w->dlogp; out.dentropy = w->dentropy; out.term = w->term;
    w->status = grpo_logits_loss(obj, &batch, e->advantage, NULL, &w->rows, &out, &w->report);
    free(out.scratch);
}

static void whole_back(const rollouts *b, const evaluation *e, whole *w) {
    const int64_t V = e->rows.vocab, W = e->rows.width;
    int64_t i, t, n = 0;
    w->slot = (int64_t *)test_alloc(e->n, sizeof *w->slot);
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (b->mask[t]) w->slot[n++] = t;
    w->counted = n;
    w->packed_dz = reals(n * V); w->packed_h = reals(n * W); w->d_hidden = reals(n * W); w->d_weight = reals(V * W);
    for (i = 0; i < n; i++) {
        memcpy(w->packed_dz + i * V, w->logits + w->slot[i] * V, (size_t)V * sizeof *w->logits);
        memcpy(w->packed_h + i * W, e->hidden + w->slot[i] * W, (size_t)W * sizeof *w->logits);
    }
    memcpy(w->d_weight, e->d_weight_before, (size_t)(V * W) * sizeof *w->logits);
    grpo_hidden_product(NULL, 1, 0, V, W, n, w->packed_dz, w->packed_h, 1, w->d_weight);
    grpo_hidden_product(NULL, 0, 0, n, W, V, w->packed_dz, e->weight, 0, w->d_hidden);
}

static void whole_free(whole *w) {
    free(w->logits); free(w->rows.part); free(w->rows.logp); free(w->rows.entropy); free(w->dlogp); free(w->dentropy); free(w->term);
    free(w->d_hidden); free(w->d_weight); free(w->packed_dz); free(w->packed_h); free(w->slot);
}

/* the gradients of e against sums in long double over the d logits of w */
static void check_sums(const evaluation *e, const whole *w) {
    const int64_t V = e->rows.vocab, W = e->rows.width, n = w->counted;
    int64_t i, k, v, bad = 0;
    for (i = 0; i < n; i++)
        for (k = 0; k < W; k++) {
            const long double found = (long double)e->rows.d_hidden[w->slot[i] * W + k];
            long double sum = 0, size = 0;
            for (v = 0; v < V; v++) {
                const long double x = (long double)w->packed_dz[i * V + v] * (long double)e->weight[v * W + k];
                sum += x; size += fabsl(x);
            }
            bad += !(fabsl(found - sum) <= (long double)EPSILON * (long double)V * size + 1e-37L);
        }
    check(bad == 0, "%d of d_hidden", (int)bad);
    bad = 0;
    for (v = 0; v < V; v++)
        for (k = 0; k < W; k++) {
            long double sum = (long double)e->d_weight_before[v * W + k], size = fabsl(sum);
            for (i = 0; i < n; i++) {
                const long double x = (long double)w->packed_dz[i * V + v] * (long double)w->packed_h[i * W + k];
                sum += x; size += fabsl(x);
            }
            bad += !(fabsl((long double)e->rows.d_weight[v * W + k] - sum) <= (long double)EPSILON * (long double)(n + 1) * size + 1e-37L);
        }
    check(bad == 0, "%d of d_weight", (int)bad);
}

/* e has the bits of w, and nothing else is written */
static void check_same(const char *what, const rollouts *b, const evaluation *e, const whole *w) {
    const int64_t W = e->rows.width;
    unsigned char *in_response = (unsigned char *)test_alloc(b->n_tokens, 1);
    int64_t i, t, bad = 0, hidden = 0;
    memset(in_response, 0, (size_t)b->n_tokens);
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++) memset(in_response + b->offset[i], 1, (size_t)b->length[i]);
    check(same_report(&e->report, &w->report), "%s: report, loss %.17g, expected %.17g", what, e->report.loss, w->report.loss);
    check(same_reals(e->rows.logp, w->rows.logp, e->n) && same_reals(e->rows.entropy, w->rows.entropy, e->n), "%s: logp, entropy", what);
    check(same_reals(e->dlogp, w->dlogp, e->n) && same_reals(e->dentropy, w->dentropy, e->n), "%s: dlogp, dentropy", what);
    check(same_reals(e->term, w->term, e->n), "%s: terms", what);
    check(equal_reals(e->rows.d_weight, w->d_weight, e->rows.vocab * W), "%s: d_weight", what);
    for (i = 0; i < w->counted; i++) bad += !equal_reals(e->rows.d_hidden + w->slot[i] * W, w->d_hidden + i * W, W);
    for (t = 0; t < e->n; t++) {
        const grpo_real *d = e->rows.d_hidden + t * W;
        if (!in_response[t]) hidden += !is_untouched(d, (size_t)W * sizeof *d);
        else if (!b->mask[t]) for (i = 0; i < W; i++) hidden += d[i] != 0;
    }
    check(bad == 0, "%s: d_hidden of %d tokens of %d", what, (int)bad, (int)w->counted);
    check(hidden == 0, "%s: d_hidden is not 0 where masked, or written in padding", what);
    free(in_response);
}

static const char *tile_name(int64_t rows, int passes) {
    static char name[60];
    snprintf(name, sizeof name, "tiles of %d, passes %d", (int)rows, passes);
    return name;
}

/* ---- a batch ------------------------------------------------------------------------------------------------------------------------ */

static void check_tiles(rng *r, const grpo_objective *obj, const rollouts *b, evaluation *e, const whole *w) {
    const int64_t n = b->n_tokens > 0 ? b->n_tokens : 1, sizes[] = { 1, 2, 3, 1 + rng_below(r, n), n, n + 5 };
    for (int k = 0; k < 6; k++)
        for (int passes = 0; passes <= 2; passes++) {
            e->rows.passes = passes;
            evaluation_outputs(e, sizes[k]);
            evaluate(obj, b, e);
            if (passes == 1 && grpo_hidden_passes(obj) == 2) {
                check(e->status == grpo_hidden_check(obj) && grpo_status_is(e->status, GRPO_WHOLE_RESPONSE), "one pass: %s",
                      status_line(e->status));
                check(is_unwritten(e), "one pass: refused, yet written");
            } else if (check(e->status == GRPO_OK, "%s: %s", tile_name(sizes[k], passes), status_line(e->status))) {
                check_same(tile_name(sizes[k], passes), b, e, w);
                if (k == 3 && passes == 0) check_sums(e, w);
            }
            evaluation_free_outputs(e);
        }
    e->rows.passes = 0;
}

/* d hidden written over the hidden states */
static void check_in_place(const grpo_objective *obj, const rollouts *b, evaluation *e, const whole *w) {
    evaluation f = *e;
    f.hidden = reals(e->n * e->rows.width);
    memcpy(f.hidden, e->hidden, (size_t)(e->n * e->rows.width) * sizeof *f.hidden);
    f.rows.hidden = f.hidden;
    evaluation_outputs(&f, 4);
    free(f.rows.d_hidden);
    f.rows.d_hidden = f.hidden;
    evaluate(obj, b, &f);
    check(f.status == GRPO_OK && same_reals(f.dlogp, w->dlogp, e->n), "in place: %s", status_line(f.status));
    for (int64_t i = 0; i < w->counted; i++)
        check(equal_reals(f.hidden + w->slot[i] * e->rows.width, w->d_hidden + i * e->rows.width, e->rows.width), "in place: d_hidden");
    evaluation_free_outputs(&f);
    free(f.hidden);
}

/* counts matrix products and their work: outputs that are not requested must cost no product */
typedef struct { int64_t work; } tally;

static void counting_product(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const grpo_real *a,
                             const grpo_real *b, int add, grpo_real *c) {
    tally *x = (tally *)context;
    check(m > 0 && n > 0 && k > 0, "a product of nothing, %d x %d x %d", (int)m, (int)n, (int)k);
    x->work += m * n * k;
    grpo_hidden_product(NULL, transpose_a, transpose_b, m, n, k, a, b, add, c);
}

static void check_work(const grpo_objective *obj, const rollouts *b, evaluation *e, const whole *w) {
    const int64_t each = e->rows.vocab * e->rows.width;
    const int passes = grpo_hidden_passes(obj);
    int64_t with_gradient = 0;
    for (int64_t i = 0; i < w->counted; i++) with_gradient += w->dlogp[w->slot[i]] != 0 || w->dentropy[w->slot[i]] != 0;
    for (int asked = 0; asked < 4; asked++) {
        tally x = { 0 };
        evaluation f = *e;
        grpo_real *d_hidden, *d_weight;
        f.rows.product = counting_product; f.rows.context = &x;
        evaluation_outputs(&f, 3);
        d_hidden = f.rows.d_hidden; d_weight = f.rows.d_weight;
        if (!(asked & 1)) f.rows.d_hidden = NULL;
        if (!(asked & 2)) f.rows.d_weight = NULL;
        evaluate(obj, b, &f);
        check(f.status == GRPO_OK && same_report(&f.report, &w->report), "asked for %d: %s", asked, status_line(f.status));
        check(x.work == each * (w->counted + with_gradient * ((asked & 1) + (asked >> 1) + (asked && passes == 2))),
              "asked for %d: %d rows of products, %d tokens of which %d have a gradient", asked, (int)(x.work / each), (int)w->counted,
              (int)with_gradient);
        f.rows.d_hidden = d_hidden; f.rows.d_weight = d_weight;
        evaluation_free_outputs(&f);
    }
}

/* two parts of the batch, evaluated with the totals of both, merge to the bits of the whole */
static void check_parts(const grpo_objective *obj, const rollouts *b, evaluation *e, const whole *w) {
    grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    grpo_totals totals;
    grpo_partial partial;
    grpo_report report;
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    evaluation_outputs(e, 3);
    out.dlogp = e->dlogp; out.dentropy = e->dentropy;
    batch.logp = w->rows.logp; batch.entropy = w->rows.entropy;
    check(!grpo_totals_add(obj, &batch, e->advantage, &totals), "the count");
    batch.logp = batch.entropy = NULL;
    for (int part = 0; part < 2; part++) {
        batch.group_begin = b->group_begin + (part ? 1 : 0);
        batch.n_groups = part ? b->n_groups - 1 : 1;
        if (batch.baseline) batch.baseline = b->baseline + part;
        if (batch.log_partition) batch.log_partition = b->log_partition + part;
        check(!grpo_hidden_loss_add(obj, &batch, e->advantage, &totals, &e->rows, &out, &partial), "part %d", part);
    }
    grpo_partial_report(&partial, &report);
    check(same_report(&report, &w->report) && same_reals(e->dlogp, w->dlogp, e->n), "parts: loss %.17g, expected %.17g", report.loss,
          w->report.loss);
    check(equal_reals(e->rows.d_weight, w->d_weight, e->rows.vocab * e->rows.width), "parts: d_weight");
    evaluation_free_outputs(e);
    free(out.scratch);
}

static int check_batch(rng *r, const grpo_objective *obj, int may_fail) {
    rollouts b;
    evaluation e;
    whole w;
    int asked;
    rollouts_random(r, 0, &b);
    evaluation_inputs(r, &b, &e);
    whole_run(obj, &b, &e, &w);
    asked = w.status == GRPO_OK;
    check(asked || may_fail, "the whole: %s", status_line(w.status));
    if (asked) {
        whole_back(&b, &e, &w);
        check_tiles(r, obj, &b, &e, &w);
        check_in_place(obj, &b, &e, &w);
        check_work(obj, &b, &e, &w);
        if (b.n_groups > 1) check_parts(obj, &b, &e, &w);
    }
    whole_free(&w);
    evaluation_free_inputs(&e);
    rollouts_free(&b);
    return asked;
}

/* ---- slopes ------------------------------------------------------------------------------------------------------------------------- */

#define STEP 1e-6

/* (loss(x + h) - loss(x - h)) / 2h for an element x of the inputs, h = STEP */
static double slope(const grpo_objective *obj, const rollouts *b, evaluation *e, grpo_real *x) {
    const grpo_real kept = *x;
    const double h = STEP;
    double loss[2];
    for (int k = 0; k < 2; k++) {
        *x = (grpo_real)((double)kept + (k ? -h : h));
        evaluate(obj, b, e);
        check(e->status == GRPO_OK, "%s", status_line(e->status));
        loss[k] = e->report.loss;
    }
    *x = kept;
    return (loss[0] - loss[1]) / (2 * h);
}

/* how far a slope may be from d: each of the two losses is off by up to 4 ulps */
static double slope_error(double d, double loss) { return 1e-6 * (1 + fabs(d)) + 4 * DBL_EPSILON * fabs(loss) / STEP; }

/* only with double elements: in float the differences are too inaccurate */
static void check_slopes(rng *r, const char *name) {
    grpo_objective obj;
    rollouts b;
    evaluation e, f;
    int64_t t, k;
    check(!grpo_objective_named(name, &obj), "%s", name);
    obj.penalty.entropy_coef = 0.1;
    obj.surrogate.eps_low = obj.surrogate.eps_high = 0.9;
    if (obj.surrogate.kind == GRPO_SURROGATE_PPO_CLIP) obj.surrogate.kind = GRPO_SURROGATE_RATIO;
    do rollouts_random(r, 0, &b); while ((b.n_tokens < 12 || b.n_tokens > 60) && (rollouts_free(&b), 1));
    evaluation_inputs(r, &b, &e);
    memset(e.d_weight_before, 0, (size_t)(e.rows.vocab * e.rows.width) * sizeof *e.d_weight_before);
    f = e;
    evaluation_outputs(&e, 5);
    evaluation_outputs(&f, 5);
    evaluate(&obj, &b, &e);
    if (check(e.status == GRPO_OK, "%s: %s", name, status_line(e.status)))
        for (k = 0; k < 12; k++) {
            const int64_t column = rng_below(r, e.rows.width), row = rng_below(r, e.rows.vocab);
            double s = slope(&obj, &b, &f, &f.weight[row * e.rows.width + column]);
            double d = (double)e.rows.d_weight[row * e.rows.width + column];
            check(fabs(s - d) <= slope_error(d, e.report.loss), "%s: d_weight %.12g, slope %.12g", name, d, s);
            do t = rng_below(r, b.n_tokens); while (!b.mask[t] || is_untouched(&e.rows.logp[t], sizeof *e.rows.logp));
            s = slope(&obj, &b, &f, &f.hidden[t * e.rows.width + column]);
            d = (double)e.rows.d_hidden[t * e.rows.width + column];
            check(fabs(s - d) <= slope_error(d, e.report.loss), "%s: d_hidden %.12g, slope %.12g", name, d, s);
        }
    evaluation_free_outputs(&e); evaluation_free_outputs(&f);
    evaluation_free_inputs(&e);
    rollouts_free(&b);
}

/* ---- refused ------------------------------------------------------------------------------------------------------------------------ */

/* calls with `rows` in place of e's, and checks that it is refused and writes nothing */
static void refuse(const char *what, const grpo_objective *obj, const rollouts *b, evaluation *e, const grpo_hidden *rows,
                   const grpo_output *out, int rule, const char *thing) {
    grpo_batch batch = rollouts_view(b);
    const grpo_status st = grpo_hidden_loss(obj, &batch, e->advantage, NULL, rows, out, &e->report);
    check(says("hidden_loss", st, rule, thing), "%s: %s", what, status_line(st));
    check(is_unwritten(e), "%s: refused, yet written", what);
}

static void check_refused_members(const grpo_objective *obj, const rollouts *b, evaluation *e, const grpo_output *out) {
    const int64_t bytes = INT64_MAX / (int64_t)sizeof(double);           /* an array is never larger than that many numbers */
    grpo_hidden rows;
#define REFUSE(member, value, rule, thing) \
    rows = e->rows; rows.member = value; \
    refuse(#member " " #value, obj, b, e, &rows, out, rule, thing)
    REFUSE(hidden, NULL, GRPO_NULL, "rows.hidden");
    REFUSE(weight, NULL, GRPO_NULL, "rows.weight");
    REFUSE(width, 0, GRPO_NOT_POSITIVE, "rows.width");
    REFUSE(width, INT64_MAX, GRPO_OUT_OF_RANGE, "rows.width");
    REFUSE(vocab, 0, GRPO_NOT_POSITIVE, "logits.vocab");
    REFUSE(vocab, INT64_MAX, GRPO_OUT_OF_RANGE, "logits.vocab");
    REFUSE(target, NULL, GRPO_NULL, "logits.target");
    REFUSE(temperature, -1, GRPO_NOT_POSITIVE, "logits.temperature");
    REFUSE(temperature, NAN, GRPO_NAN, "logits.temperature");
    REFUSE(passes, 3, GRPO_NOT_A_CHOICE, "rows.passes");
    REFUSE(passes, -1, GRPO_NOT_A_CHOICE, "rows.passes");
    REFUSE(passes, 1, GRPO_WHOLE_RESPONSE, "ratio.level");
    REFUSE(tile_rows, 0, GRPO_NOT_POSITIVE, "rows.tile_rows");
    REFUSE(tile_rows, INT64_MAX, GRPO_OUT_OF_RANGE, "rows.tile_rows");
    REFUSE(width, bytes / b->n_tokens + 1, GRPO_OUT_OF_RANGE, "rows.width");
    REFUSE(vocab, bytes / e->rows.width + 1, GRPO_OUT_OF_RANGE, "logits.vocab");
    REFUSE(tile_rows, bytes / (e->rows.vocab + e->rows.width) + 1, GRPO_OUT_OF_RANGE, "rows.tile_rows");
    REFUSE(tile, NULL, GRPO_NULL, "rows.tile");
    REFUSE(row, NULL, GRPO_NULL, "rows.row");
    REFUSE(logp, NULL, GRPO_NULL, "rows.logp");
    REFUSE(entropy, NULL, GRPO_NULL, "rows.entropy");
#undef REFUSE
}

/* an index beyond what a status holds is left out: here that of the last token, whose hidden state is not finite */
static void check_large_index(const grpo_objective *obj, const rollouts *b, evaluation *e, const grpo_output *out) {
    const int64_t most = (INT64_C(1) << 35) - 2;
    grpo_hidden rows = e->rows;
    grpo_batch batch = rollouts_view(b);
    grpo_real kept;
    int64_t i, t, last = 0;
    for (i = b->group_begin[0]; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) if (b->mask[t] && t > last) last = t;
    kept = e->hidden[last * rows.width];
    e->hidden[last * rows.width] = (grpo_real)HUGE_VAL;
    check(last > 0, "a token behind others");
    for (int more = 0; more < 2 && last > 0; more++) {
        grpo_status st;
        rows.vocab = most / last + more;
        st = grpo_hidden_loss(obj, &batch, e->advantage, NULL, &rows, out, &e->report);
        check(grpo_status_is(st, GRPO_INFINITE) && speaks_of(st, "logits.logits")
              && grpo_status_index(st) == (more ? -1 : last * rows.vocab), "a vocabulary of %lld: %s", (long long)rows.vocab,
              status_line(st));
    }
    e->hidden[last * rows.width] = kept;
}

static void check_refused(rng *r) {
    grpo_objective obj;
    grpo_output out, none;
    rollouts b;
    evaluation e;
    char thing[40];
    int64_t i, t, k, first = -1;
    grpo_real kept;
    check(!grpo_objective_named("gspo", &obj), "gspo");
    do rollouts_random(r, 0, &b); while (b.n_tokens < 9 && (rollouts_free(&b), 1));
    evaluation_inputs(r, &b, &e);
    for (i = b.group_begin[0]; first < 0 && i < b.group_begin[b.n_groups]; i++)
        for (t = b.offset[i]; first < 0 && t < b.offset[i] + b.length[i]; t++) if (b.mask[t]) first = t;
    evaluation_outputs(&e, 2);
    memset(&out, 0, sizeof out); memset(&none, 0, sizeof none);
    out.dlogp = e.dlogp; out.dentropy = e.dentropy;
    check_refused_members(&obj, &b, &e, &out);
    refuse("no rows", &obj, &b, &e, NULL, &out, GRPO_NULL, "rows");
    refuse("no objective", NULL, &b, &e, &e.rows, &out, GRPO_NULL, "objective");
    refuse("no output", &obj, &b, &e, &e.rows, NULL, GRPO_NULL, "out.dlogp");
    refuse("no dlogp", &obj, &b, &e, &e.rows, &none, GRPO_NULL, "out.dlogp");
    none.dlogp = e.dlogp;
    refuse("no dentropy", &obj, &b, &e, &e.rows, &none, GRPO_NULL, "out.dentropy");
    snprintf(thing, sizeof thing, "logits.target[%d]", (int)first);
    k = e.target[first];
    e.target[first] = e.rows.vocab; refuse("target", &obj, &b, &e, &e.rows, &out, GRPO_OUT_OF_RANGE, thing);
    e.target[first] = -1; refuse("target -1", &obj, &b, &e, &e.rows, &out, GRPO_OUT_OF_RANGE, thing);
    e.target[first] = k;
    snprintf(thing, sizeof thing, "logits.logits[%d]", (int)(first * e.rows.vocab));
    k = first * e.rows.width + e.rows.width - 1; kept = e.hidden[k];
    e.hidden[k] = (grpo_real)NAN; refuse("NaN in hidden", &obj, &b, &e, &e.rows, &out, GRPO_NAN, thing);
    e.hidden[k] = (grpo_real)HUGE_VAL; refuse("an infinity in hidden", &obj, &b, &e, &e.rows, &out, GRPO_INFINITE, thing);
    e.hidden[k] = kept;
    check_large_index(&obj, &b, &e, &out);
    snprintf(thing, sizeof thing, "logits.logits[%d]", (int)(first * e.rows.vocab + e.rows.vocab - 1));
    k = e.rows.vocab * e.rows.width - 1; kept = e.weight[k];
    e.weight[k] = (grpo_real)-HUGE_VAL; refuse("an infinity in weight", &obj, &b, &e, &e.rows, &out, GRPO_INFINITE, thing);
    e.weight[k] = (grpo_real)NAN; refuse("NaN in weight", &obj, &b, &e, &e.rows, &out, GRPO_NAN, thing);
    e.weight[k] = kept;
    evaluation_free_outputs(&e);
    evaluation_free_inputs(&e);
    rollouts_free(&b);
}

/* ---- extremes ----------------------------------------------------------------------------------------------------------------------- */

static const int64_t one_group[] = { 0, 1 }, no_offset[] = { 0 }, one_token[] = { 1 };

/* one response of one token, width 1, vocabulary 2: finite inputs whose product, or whose gradient, overflows */
static void check_overflow(double hidden, double weight, double advantage, int refused, int overflow) {
    const int64_t target = 0;
    const grpo_real h = (grpo_real)hidden, A = (grpo_real)advantage, w[2] = { 0, (grpo_real)weight };
    grpo_real tile[3], logp, entropy, dlogp, dentropy, d_hidden, d_weight[2] = { 0, 0 };
    grpo_hidden_row row;
    grpo_objective obj;
    grpo_batch batch;
    grpo_hidden rows;
    grpo_output out;
    grpo_report report;
    grpo_status st;
    memset(&obj, 0, sizeof obj); memset(&batch, 0, sizeof batch); memset(&rows, 0, sizeof rows); memset(&out, 0, sizeof out);
    memset(&report, UNTOUCHED, sizeof report);
    obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    batch.n_groups = batch.n_tokens = 1; batch.group_begin = one_group; batch.offset = no_offset; batch.length = one_token;
    rows.hidden = &h; rows.weight = w; rows.width = 1; rows.vocab = 2; rows.target = &target; rows.temperature = 1; rows.tile_rows = 1;
    rows.tile = tile; rows.row = &row; rows.logp = &logp; rows.entropy = &entropy; rows.d_hidden = &d_hidden; rows.d_weight = d_weight;
    out.dlogp = &dlogp; out.dentropy = &dentropy;
    st = grpo_hidden_loss(&obj, &batch, &A, NULL, &rows, &out, &report);
    if (refused) {
        check(says("hidden_loss", st, GRPO_INFINITE, "logits.logits[1]"), "a product beyond all numbers: %s", status_line(st));
        check(is_untouched(&report, sizeof report), "a product beyond all numbers: the report is written");
    } else check(st == GRPO_OK && report.overflow == overflow, "overflow %d, expected %d: %s", report.overflow, overflow, status_line(st));
}

/* three responses of 1, 2 and 1 tokens with a gap before each, width 2, vocabulary 3 */
enum { FEW_TOKENS = 8, FEW_WIDTH = 2, FEW_VOCAB = 3 };
typedef struct {
    grpo_real hidden[FEW_TOKENS * FEW_WIDTH], weight[FEW_VOCAB * FEW_WIDTH], advantage[FEW_TOKENS], logp[FEW_TOKENS], entropy[FEW_TOKENS];
    grpo_real dlogp[FEW_TOKENS], dentropy[FEW_TOKENS], d_hidden[FEW_TOKENS * FEW_WIDTH], d_weight[FEW_VOCAB * FEW_WIDTH];
    grpo_real tile[4 * (FEW_VOCAB + FEW_WIDTH)];
    grpo_hidden_row row[4];
    grpo_objective obj;
    grpo_batch batch;
    grpo_hidden rows;
    grpo_report report;
} few;

static const int64_t few_groups[] = { 0, 3 }, few_offset[] = { 1, 3, 6 }, few_length[] = { 1, 2, 1 }, few_target[FEW_TOKENS];
static const int few_token[] = { 1, 3, 4, 6 };

static void few_init(few *x) {
    memset(x, 0, sizeof *x);
    x->obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    x->batch.n_groups = 1; x->batch.n_tokens = FEW_TOKENS; x->batch.group_begin = few_groups;
    x->batch.offset = few_offset; x->batch.length = few_length;
    x->rows.hidden = x->hidden; x->rows.weight = x->weight; x->rows.width = FEW_WIDTH; x->rows.vocab = FEW_VOCAB;
    x->rows.target = few_target; x->rows.temperature = 1; x->rows.tile_rows = 4; x->rows.tile = x->tile; x->rows.row = x->row;
    x->rows.logp = x->logp; x->rows.entropy = x->entropy; x->rows.d_hidden = x->d_hidden; x->rows.d_weight = x->d_weight;
    for (int t = 0; t < FEW_TOKENS; t++) x->advantage[t] = (grpo_real)1e-3;
    for (int k = 0; k < FEW_TOKENS * FEW_WIDTH; k++) x->d_hidden[k] = (grpo_real)HUGE_VAL;      /* what it held before does not count */
}

static grpo_status few_run(few *x) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = x->dlogp; out.dentropy = x->dentropy;
    return grpo_hidden_loss(&x->obj, &x->batch, x->advantage, NULL, &x->rows, &out, &x->report);
}

/* an infinity at one token's d_hidden, at one row of d_weight, or nowhere, sets overflow if that gradient is wanted */
static void check_overflow_anywhere(void) {
    const double big = sizeof(grpo_real) == sizeof(float) ? 3e38 : 1.7e308;
    static few x;
    for (int k = 0; k < 8; k++)
        for (int in_weight = 0; in_weight < 2; in_weight++)
            for (int large = 0; large < 2; large++)
                for (int asked = 1; asked < 4; asked++)
                    for (int passes = 1; passes < 3; passes++) {
                        few_init(&x);
                        x.rows.passes = passes;
                        x.advantage[few_token[k / 2]] = large ? 1000 : (grpo_real)1e-3;
                        if (in_weight) x.hidden[few_token[k / 2] * FEW_WIDTH + k % 2] = (grpo_real)big;
                        else x.weight[k % 2] = (grpo_real)big;
                        if (!(asked & 1)) x.rows.d_hidden = NULL;
                        if (!(asked & 2)) x.rows.d_weight = NULL;
                        check(few_run(&x) == GRPO_OK && x.report.overflow == (large && (asked & (in_weight ? 2 : 1)) != 0),
                              "token %d, in weight %d, large %d, asked %d: overflow %d", few_token[k / 2], in_weight, large, asked,
                              x.report.overflow);
                    }
}

/* a product that overflows, of each token and each vocabulary entry, is refused as that logit */
static void check_infinite_product(void) {
    const double big = sizeof(grpo_real) == sizeof(float) ? 1e30 : 1e200;
    static few x;
    char thing[40];
    for (int k = 0; k < 4; k++)
        for (int v = 0; v < FEW_VOCAB; v++)
            for (int tile = 1; tile < 5; tile++) {
                few_init(&x);
                x.rows.tile_rows = tile;
                x.hidden[few_token[k] * FEW_WIDTH] = x.weight[v * FEW_WIDTH] = (grpo_real)big;
                snprintf(thing, sizeof thing, "logits.logits[%d]", few_token[k] * FEW_VOCAB + v);
                check(says("hidden_loss", few_run(&x), GRPO_INFINITE, thing), "%s: %s", thing, status_line(few_run(&x)));
            }
}

/* a product that is -infinity is the logit of a banned token: without a gradient, and with probability 0 if it was sampled */
static void check_banned_by_product(void) {
    const double big = sizeof(grpo_real) == sizeof(float) ? 1e30 : 1e200;
    static few x;
    for (int v = 0; v < FEW_VOCAB; v++) {
        const int sampled = v == (int)few_target[3];
        few_init(&x);
        x.hidden[3 * FEW_WIDTH] = (grpo_real)big; x.weight[v * FEW_WIDTH] = (grpo_real)-big;
        check(few_run(&x) == GRPO_OK, "-infinity at %d", v);
        check(sampled ? x.logp[3] == (grpo_real)-HUGE_VAL : fabs((double)x.logp[3] + log(2.0)) < 1e-6, "-infinity at %d: %g", v,
              (double)x.logp[3]);
        check(fabs((double)x.entropy[3] - log(2.0)) < 1e-6, "-infinity at %d: entropy %g", v, (double)x.entropy[3]);
    }
}

/* terms of a gradient that overflow with both signs: its exact sum is 0, it is NaN, or an infinity where products are
 * fused with sums, and overflow says so, whatever else is wanted */
static void check_cancelling_overflow(void) {
    const double big = sizeof(grpo_real) == sizeof(float) ? 3e38 : 1.7e308;
    static few x;
    for (int asked = 1; asked < 4; asked++)
        for (int passes = 1; passes < 3; passes++)
            for (int far = 0; far < 2; far++) {
                few_init(&x);
                x.rows.passes = passes;
                x.advantage[3] = 1000;
                for (int v = 0; v < FEW_VOCAB; v++) x.weight[v * FEW_WIDTH] = (grpo_real)(far ? big : 1);
                if (!(asked & 1)) x.rows.d_hidden = NULL;
                if (!(asked & 2)) x.rows.d_weight = NULL;
                check(few_run(&x) == GRPO_OK && x.report.overflow == (far && (asked & 1)), "asked %d, far %d: overflow %d", asked, far,
                      x.report.overflow);
                check(!(asked & 1) || grpo_is_finite((double)x.d_hidden[3 * FEW_WIDTH]) != far, "asked %d, far %d: %g", asked, far,
                      (double)x.d_hidden[3 * FEW_WIDTH]);
            }
}

/* a product of the caller's that writes `value` as its second element, in the call-th call */
typedef struct { int call, calls; grpo_real value; } wrong_product;

static void write_wrongly(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k, const grpo_real *a,
                          const grpo_real *b, int add, grpo_real *c) {
    wrong_product *w = (wrong_product *)context;
    grpo_hidden_product(NULL, transpose_a, transpose_b, m, n, k, a, b, add, c);
    if (w->calls++ == w->call) c[1] = w->value;
}

/* NaN and +infinity that a product writes are refused as the logit, in both passes, or set overflow as a gradient; never unnoticed */
static void check_wrong_product(void) {
    static const double wrong[] = { NAN, HUGE_VAL, -HUGE_VAL };
    static few x;
    for (int passes = 1; passes < 3; passes++)
        for (int call = 0; call < passes + 2; call++)
            for (int k = 0; k < 3; k++) {
                wrong_product w = { call, 0, (grpo_real)wrong[k] };
                grpo_status st;
                few_init(&x);
                x.rows.passes = passes; x.rows.product = write_wrongly; x.rows.context = &w;
                st = few_run(&x);
                if (call < passes && k < 2)
                    check(says("hidden_loss", st, k ? GRPO_INFINITE : GRPO_NAN, "logits.logits[4]"), "call %d: %s", call, status_line(st));
                else check(!st && x.report.overflow == (call >= passes), "call %d of %d: overflow %d", call, passes, x.report.overflow);
            }
}

static void check_predicate(void) {
    static const struct { const char *name; int passes; const char *field; } rows[] = {
        { "grpo", 1, "" }, { "dapo", 1, "" }, { "dr-grpo", 1, "" }, { "cispo", 1, "" }, { "ppo", 1, "" }, { "tis", 1, "" },
        { "gspo", 2, "ratio.level" }, { "gspo-token", 2, "ratio.level" }, { "gmpo", 2, "ratio.level" }, { "gvpo", 2, "surrogate.kind" },
        { "trl-opsm", 2, "weight.off_policy_mask" },
    };
    grpo_objective obj;
    grpo_status st;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const grpo_status named = grpo_objective_named(rows[k].name, &obj);
        if (!check(named == GRPO_OK, "%s: %s", rows[k].name, status_line(named))) continue;
        check(grpo_hidden_passes(&obj) == rows[k].passes, "%s: %d passes", rows[k].name, grpo_hidden_passes(&obj));
        st = grpo_hidden_check(&obj);
        check(rows[k].passes == 1 ? st == GRPO_OK : says("hidden_check", st, GRPO_WHOLE_RESPONSE, rows[k].field), "%s: %s", rows[k].name,
              status_line(st));
    }
    check(grpo_hidden_passes(NULL) == 0, "of no objective");
    obj.surrogate.eps_low = NAN;
    check(grpo_hidden_passes(&obj) == 0, "of no sound objective");
}

/* a random objective; half of them without settings that need whole responses */
static void draw_objective(rng *r, grpo_objective *obj) {
    random_objective(r, obj);
    if (rng_chance(r, 50)) return;
    for (int k = 0; k < 30 && grpo_status_is(grpo_hidden_check(obj), GRPO_WHOLE_RESPONSE); k++)
        check(!grpo_objective_set(obj, grpo_status_what(grpo_hidden_check(obj)), 0), "%s", status_line(grpo_hidden_check(obj)));
}

int main(void) {
    static const char *const named[] = { "grpo", "dapo", "gspo", "cispo", "gvpo", "dr-grpo", "gspo-token", "gmpo", "tis", "sapo" };
    rng r = { 7 };
    int one = 0, two = 0, asked = 0;
    for (int k = 0; k < 60; k++) check_product(&r);
    for (int k = 0; k < 10; k++) {
        grpo_objective obj;
        if (check(!grpo_objective_named(named[k], &obj), "%s", named[k]))
            for (int again = 0; again < 12 / DRAWS_OVER; again++) check_batch(&r, &obj, 0);
    }
    for (int k = 0; k < 250 / DRAWS_OVER; k++) {
        grpo_objective obj;
        draw_objective(&r, &obj);
        asked += check_batch(&r, &obj, 1);
        one += grpo_hidden_passes(&obj) == 1;
        two += grpo_hidden_passes(&obj) == 2;
    }
    check(asked > 150 / DRAWS_OVER && one > 20 / DRAWS_OVER && two > 20 / DRAWS_OVER, "%d asked, %d in one pass, %d in two", asked, one,
          two);
    if (sizeof(grpo_real) == sizeof(double)) { check_slopes(&r, "grpo"); check_slopes(&r, "gspo"); check_slopes(&r, "dr-grpo"); }
    check_refused(&r);
    check_predicate();
    check_overflow(1, 1, 1, 0, 0);
    if (sizeof(grpo_real) == sizeof(float)) { check_overflow(1e30, 1e30, 1, 1, 0); check_overflow(3, 1, 3e38, 0, 1); }
    else { check_overflow(1e200, 1e200, 1, 1, 0); check_overflow(3, 1, 1.7e308, 0, 1); }
    check_overflow_anywhere();
    check_infinite_product();
    check_cancelling_overflow();
    check_wrong_product();
    check_banned_by_product();
    return check_summary();
}
