/* Mistakes in cases with logits or hidden states: softmax and its gradient in double, with one step wrong; the loss and its gradient by the
 * log-probabilities are computed with the headers. */
#include "../../support/scratch.h"
#include "computed.h"
#include <stb_ds.h>
#include <stdlib.h>

typedef enum {
    TAU_MISSING, TAU_TWICE, GRADIENT_UNTEMPERED, GRADIENT_TEMPERED_TWICE, RAW_ENTROPY, SHIFTED, SIGN_TURNED, LOGSUMEXP_DETACHED,
    SOFTMAX_UNWEIGHTED, ONE_HOT_UNWEIGHTED, ENTROPY_OF_BANNED, ENTROPY_DETACHED, ENTROPY_UNCENTRED, ENTROPY_OF_SAMPLE,
    ENTROPY_OF_SAMPLE_ALONE, ENTROPY_PENALISED, ENTROPY_DROPPED, BAN_FORGOTTEN, BAN_BY_PRODUCT, BAN_NOT_IN_GRADIENT, PADDING_COUNTS,
    LOGSUMEXP_OF_SHARD, GRADIENT_OF_SHARD, OFFSET_FORGOTTEN, ENTROPY_OF_SHARD, MASKED_BY_PRODUCT, LAST_CHUNK, CHUNKS_AVERAGED,
    LOSS_OF_CHUNKS_AVERAGED, HIDDEN_OF_ONE_SHARD, HIDDEN_TWICE, WEIGHT_UNTEMPERED, HIDDEN_UNTEMPERED, MASKED_IN_WEIGHT, WEIGHT_TWICE,
    WEIGHT_DETACHED, HIDDEN_DETACHED, N_MISTAKES,
    NO_MISTAKE = N_MISTAKES
} mistake;

enum { SHARDS = 1, CHUNKS = 2, BANNED = 4, HIDDEN = 8, MASK = 16, LOSS = 32, SLOPES = 64 };

static const struct { const char *id; int needs; } mistakes[N_MISTAKES] = {
    { "LOGP-01", 0 }, { "VOC-01", 0 }, { "VOC-02", SLOPES }, { "VOC-03", SLOPES }, { "VOC-04", 0 }, { "VOC-05", 0 }, { "VOC-06", SLOPES },
    { "VOC-07", SLOPES }, { "VOC-08", SLOPES }, { "VOC-09", SLOPES }, { "VOC-10", 0 }, { "VOC-11", SLOPES }, { "VOC-12", SLOPES },
    { "VOC-13", SLOPES }, { "VOC-13a", SLOPES }, { "ENT-01", LOSS }, { "ENT-03", LOSS }, { "VOC-14", BANNED }, { "VOC-15", BANNED },
    { "VOC-16", BANNED },
    { "VOC-17", 0 }, { "VOC-18", SHARDS }, { "VOC-19", SHARDS | SLOPES }, { "VOC-20", SHARDS | SLOPES }, { "VOC-21", SHARDS },
    { "VOC-22", MASK | SLOPES }, { "HEAD-01", HIDDEN | CHUNKS }, { "HEAD-02", HIDDEN | CHUNKS }, { "HEAD-03", HIDDEN | CHUNKS | LOSS },
    { "HEAD-04", HIDDEN | SHARDS }, { "HEAD-05", HIDDEN | SHARDS }, { "HEAD-06", HIDDEN }, { "HEAD-07", HIDDEN },
    { "HEAD-09", HIDDEN | MASK }, { "HEAD-10", HIDDEN }, { "HEAD-11", HIDDEN }, { "HEAD-12", HIDDEN },
};

typedef struct {
    const test_case *c;
    mistake made;
    double tau, loss;
    double *logits, *log_p, *slope;         /* (tokens, vocab) before the temperature, banned ones -inf; log p; d loss / d logits */
    grpo_real *logp, *entropy, *g, *e;      /* (tokens) */
    int64_t *target;
} work;

static void *room(int64_t count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    if (!p) abort();
    return p;
}

static int counts(const test_case *c, int64_t t) { return !c->batch.mask || c->batch.mask[t]; }

/* ---- forwards --------------------------------------------------------------------------------------------------------------------- */

static double logit(const work *w, int64_t t, int64_t v) {
    const case_rows *rows = &w->c->rows;
    double sum = 0;
    if (rows->kept && !rows->kept[t * rows->vocab + v] && w->made != BAN_FORGOTTEN) return w->made == BAN_BY_PRODUCT ? 0 : -HUGE_VAL;
    if (rows->logits) return (double)rows->logits[t * rows->vocab + v];
    for (int64_t h = 0; h < rows->width; h++) sum += (double)rows->hidden[t * rows->width + h] * (double)rows->weight[v * rows->width + h];
    return sum;
}

/* log sum e^(z/tau) over n logits, and over `zeros` more logits of 0 */
static double log_sum(const double *z, int64_t n, double tau, int64_t zeros) {
    double top = zeros ? 0 : -HUGE_VAL, sum = 0;
    for (int64_t v = 0; v < n; v++) top = fmax(top, z[v] / tau);
    for (int64_t v = 0; v < n; v++) sum += exp(z[v] / tau - top);
    if (zeros) sum += (double)zeros * exp(-top);
    return top + log(sum);
}

static void shard_of(const case_rows *rows, int64_t v, int64_t *begin, int64_t *width) {
    int64_t k = 0;
    for (*begin = 0; v >= *begin + rows->shard[k]; k++) *begin += rows->shard[k];
    *width = rows->shard[k];
}

static double log_sum_of_shard(const work *w, const double *z, int64_t v) {
    int64_t begin, width;
    shard_of(&w->c->rows, v, &begin, &width);
    return log_sum(z + begin, width, w->tau, 0);
}

static double sum_entropy(const double *log_p, int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t v = begin; v < end; v++) if (log_p[v] > -HUGE_VAL) sum -= exp(log_p[v]) * log_p[v];
    return sum;
}

static double raw_entropy(const double *z, int64_t n) {
    const double all = log_sum(z, n, 1, 0);
    double sum = 0;
    for (int64_t v = 0; v < n; v++) if (z[v] > -HUGE_VAL) sum -= exp(z[v] - all) * (z[v] - all);
    return sum;
}

static double entropy_of(const work *w, int64_t t) {
    const case_rows *rows = &w->c->rows;
    const double *log_p = w->log_p + t * rows->vocab;
    int64_t begin = 0, end = rows->vocab, width;
    if (w->made == RAW_ENTROPY) return raw_entropy(w->logits + t * rows->vocab, rows->vocab);
    if (w->made == ENTROPY_OF_SAMPLE) return -log_p[w->target[t]];
    if (w->made == ENTROPY_OF_SAMPLE_ALONE) { begin = w->target[t]; end = begin + 1; }
    if (w->made == ENTROPY_OF_SHARD) end = rows->shard[0];
    if (w->made == LOGSUMEXP_OF_SHARD) { shard_of(rows, w->target[t], &begin, &width); end = begin + width; }
    return sum_entropy(log_p, begin, end);
}

static void forward(work *w, int64_t t) {
    const int64_t n = w->c->rows.vocab;
    double *z = w->logits + t * n, *log_p = w->log_p + t * n, all;
    for (int64_t v = 0; v < n; v++) z[v] = logit(w, t, v);
    all = log_sum(z, n, w->tau, w->made == PADDING_COUNTS ? (4 - n % 4) % 4 : 0);
    for (int64_t v = 0; v < n; v++) log_p[v] = z[v] / w->tau - (w->made == LOGSUMEXP_OF_SHARD ? log_sum_of_shard(w, z, v) : all);
    w->logp[t] = log_p[w->target[t]];
    w->entropy[t] = entropy_of(w, t);
    if (w->made == PADDING_COUNTS) w->entropy[t] += (double)((4 - n % 4) % 4) * exp(-all) * all;
}

static int has_impossible(const work *w, int64_t t) {
    for (int64_t v = 0; v < w->c->rows.vocab; v++) if (w->logits[t * w->c->rows.vocab + v] == -HUGE_VAL) return 1;
    return 0;
}

/* ---- the loss --------------------------------------------------------------------------------------------------------------------- */

static int differentiate(work *w) {
    grpo_objective obj = w->c->objective;
    grpo_batch batch = w->c->batch;
    grpo_output out = output_with_scratch(&obj, &batch);
    grpo_real *dlog_partition = room(batch.n_groups, sizeof *dlog_partition);
    grpo_report report;
    grpo_status st;
    if (w->made == ENTROPY_DROPPED) obj.penalty.entropy_coef = 0;
    batch.logp = w->logp;
    batch.entropy = w->entropy;
    out.dlogp = w->g;
    out.dentropy = w->e;
    if (batch.log_partition) out.dlog_partition = dlog_partition;
    st = gspo_loss(&obj, &batch, w->c->given, NULL, &out, &report);
    w->loss = report.loss;
    free(out.scratch);
    free(dlog_partition);
    return !st;
}

static int from_above(work *w) {
    const case_rows *rows = &w->c->rows;
    if (rows->has_loss && !differentiate(w)) return 0;
    for (int64_t t = 0; t < w->c->batch.n_tokens; t++) {
        if (!counts(w->c, t)) continue;
        if (rows->dlogp) { w->g[t] = rows->dlogp[t]; w->e[t] = rows->dentropy[t]; }
        if (w->made == ENTROPY_PENALISED) { w->loss -= 2 * w->e[t] * w->entropy[t]; w->e[t] = -w->e[t]; }
        if (w->made != ENTROPY_OF_BANNED || !has_impossible(w, t)) continue;
        w->entropy[t] = nan("");
        if (w->e[t] != 0) w->loss = nan("");
    }
    return 1;
}

/* ---- backwards -------------------------------------------------------------------------------------------------------------------- */

static double by_entropy(const work *w, int64_t t, int64_t v, double lp) {
    const double e = w->e[t], *z = w->logits + t * w->c->rows.vocab, own = w->log_p[t * w->c->rows.vocab + w->target[t]];
    double raw;
    switch (w->made) {
    case ENTROPY_DETACHED: return 0;
    case ENTROPY_UNCENTRED: return -e * exp(lp) * lp;
    case ENTROPY_OF_SAMPLE: return -e * ((v == w->target[t]) - exp(lp));
    case ENTROPY_OF_SAMPLE_ALONE: return own > -HUGE_VAL ? -e * exp(own) * (own + 1) * ((v == w->target[t]) - exp(lp)) : 0;
    case RAW_ENTROPY:
        raw = z[v] - log_sum(z, w->c->rows.vocab, 1, 0);
        return -e * exp(raw) * (raw + w->entropy[t]) * w->tau;
    default: return e == 0 ? 0 : -e * exp(lp) * (lp + w->entropy[t]);
    }
}

static double by_logp(const work *w, int64_t t, int64_t v, double lp) {
    const double g = w->g[t], p = exp(lp);
    const int drawn = v == w->target[t];
    int64_t begin, width;
    switch (w->made) {
    case LOGSUMEXP_DETACHED: return g * drawn;
    case SOFTMAX_UNWEIGHTED: return g * drawn - p;
    case ONE_HOT_UNWEIGHTED: return drawn - g * p;
    case GRADIENT_OF_SHARD:
        return g * (drawn - exp(w->logits[t * w->c->rows.vocab + v] / w->tau - log_sum_of_shard(w, w->logits + t * w->c->rows.vocab, v)));
    case OFFSET_FORGOTTEN:
        shard_of(&w->c->rows, v, &begin, &width);
        return g * ((v - begin == w->target[t]) - p);
    default: return g * (drawn - p);
    }
}

static double factor_of(const work *w) {
    switch (w->made) {
    case GRADIENT_UNTEMPERED: return 1;
    case GRADIENT_TEMPERED_TWICE: return 1 / (w->tau * w->tau);
    case SIGN_TURNED: return -1 / w->tau;
    default: return 1 / w->tau;
    }
}

static void backward(work *w, int64_t t) {
    const int64_t n = w->c->rows.vocab;
    if (w->made == BAN_NOT_IN_GRADIENT) {
        double all;
        for (int64_t v = 0; v < n; v++) w->logits[t * n + v] = (double)w->c->rows.logits[t * n + v];
        all = log_sum(w->logits + t * n, n, w->tau, 0);
        for (int64_t v = 0; v < n; v++) w->log_p[t * n + v] = w->logits[t * n + v] / w->tau - all;
    }
    for (int64_t v = 0; v < n; v++) {
        const double lp = w->log_p[t * n + v];
        const int is_nan = w->made == ENTROPY_OF_BANNED && w->entropy[t] != w->entropy[t] && w->e[t] != 0;
        w->slope[t * n + v] = is_nan ? nan("") : lp == -HUGE_VAL ? 0 : factor_of(w) * (by_logp(w, t, v, lp) + by_entropy(w, t, v, lp));
    }
}

/* ---- the projection --------------------------------------------------------------------------------------------------------------- */

static double of_hidden(const work *w) {
    if (w->made == HIDDEN_DETACHED) return 0;
    if (w->made == HIDDEN_TWICE) return (double)w->c->rows.n_shards;
    return w->made == HIDDEN_UNTEMPERED ? w->tau : 1;
}

static double of_weight(const work *w) {
    switch (w->made) {
    case WEIGHT_DETACHED: return 0;
    case WEIGHT_TWICE: return 2;
    case WEIGHT_UNTEMPERED: return w->tau;
    case CHUNKS_AVERAGED: return 1 / (double)w->c->rows.n_chunks;
    case MASKED_IN_WEIGHT: return nan("");
    default: return 1;
    }
}

static void back_through(const work *w, answer *out) {
    const case_rows *rows = &w->c->rows;
    const int64_t n = w->c->batch.n_tokens, columns = w->made == HIDDEN_OF_ONE_SHARD ? rows->shard[0] : rows->vocab;
    const int64_t first = w->made == LAST_CHUNK ? n - rows->chunk[rows->n_chunks - 1] : 0;
    double *dhidden = answer_add(out, OUT_DHIDDEN, n * rows->width), *dweight = answer_add(out, OUT_DWEIGHT, rows->vocab * rows->width);
    for (int64_t t = 0; t < n; t++) {
        for (int64_t h = 0; h < rows->width; h++) {
            if (!counts(w->c, t)) { if (w->made == MASKED_BY_PRODUCT) dhidden[t * rows->width + h] = nan(""); continue; }
            for (int64_t v = 0; v < rows->vocab; v++) {
                const double d = w->slope[t * rows->vocab + v];
                if (v < columns) dhidden[t * rows->width + h] += of_hidden(w) * d * (double)rows->weight[v * rows->width + h];
                if (t >= first) dweight[v * rows->width + h] += of_weight(w) * d * (double)rows->hidden[t * rows->width + h];
            }
        }
    }
}

/* ---- a mistake -------------------------------------------------------------------------------------------------------------------- */

int computed_rows_count(void) { return N_MISTAKES; }

computed_mistake computed_rows_named(int n) {
    const computed_mistake m = { mistakes[n].id, mistakes[n].id, 0 };
    return m;
}

static int applies(const test_case *c, int n) {
    const case_rows *rows = &c->rows;
    const int has = (rows->shard ? SHARDS : 0) | (rows->chunk ? CHUNKS : 0) | (rows->kept ? BANNED : 0) | (rows->hidden ? HIDDEN : 0)
                  | (c->batch.mask ? MASK : 0) | (rows->has_loss ? LOSS : 0) | (rows->has_loss || rows->dlogp ? SLOPES : 0);
    return case_has_rows(c) && (mistakes[n].needs & ~has) == 0 && !(n == BAN_NOT_IN_GRADIENT && rows->hidden);
}

/* the target is that of the next token; the last token gets the first target */
static void take_targets(work *w) {
    const grpo_batch *b = &w->c->batch;
    for (int64_t i = 0; i < w->c->n_sequences; i++)
        for (int64_t t = 0; t < b->length[i]; t++)
            w->target[b->offset[i] + t] = w->c->rows.target[b->offset[i] + (w->made == SHIFTED ? (t + 1) % b->length[i] : t)];
}

/* has a wrong target a probability so small that the result depends on rounding? */
static int scores_impossible(const work *w) {
    for (int64_t t = 0; t < w->c->batch.n_tokens; t++) if (w->made == SHIFTED && w->logp[t] < -30) return 1;
    return 0;
}

static double tau_of(const work *w) {
    const double tau = w->c->rows.temperature;
    return w->made == TAU_MISSING ? 1 : w->made == TAU_TWICE ? tau * tau : tau;
}

static void add_elements(answer *out, output_kind output, const grpo_real *from, int64_t n) {
    double *to = answer_add(out, output, n);
    for (int64_t t = 0; t < n; t++) to[t] = (double)from[t];
}

static void write_answer(const work *w, answer *out) {
    const case_rows *rows = &w->c->rows;
    const int64_t n = w->c->batch.n_tokens;
    double *d;
    if (rows->has_loss) *answer_add(out, OUT_ROW_LOSS, 1) = w->loss / (w->made == LOSS_OF_CHUNKS_AVERAGED ? (double)rows->n_chunks : 1);
    else { add_elements(out, OUT_LOGP, w->logp, n); add_elements(out, OUT_ENTROPY, w->entropy, n); }
    if (!rows->has_loss && !rows->dlogp) return;
    if (rows->hidden) { back_through(w, out); return; }
    d = answer_add(out, OUT_DLOGITS, n * rows->vocab);
    for (int64_t k = 0; k < n * rows->vocab; k++)
        d[k] = w->made == MASKED_BY_PRODUCT && !counts(w->c, k / rows->vocab) ? nan("") : w->slope[k];
}

static work opened(const test_case *c, mistake made) {
    const int64_t tokens = c->batch.n_tokens, all = tokens * c->rows.vocab;
    work w;
    memset(&w, 0, sizeof w);
    w.c = c;
    w.made = made;
    w.tau = tau_of(&w);
    w.logits = room(3 * all, sizeof *w.logits);
    w.log_p = w.logits + all;
    w.slope = w.log_p + all;
    w.logp = room(4 * tokens, sizeof *w.logp);
    w.entropy = w.logp + tokens;
    w.g = w.entropy + tokens;
    w.e = w.g + tokens;
    w.target = room(tokens, sizeof *w.target);
    take_targets(&w);
    for (int64_t t = 0; t < tokens; t++) if (counts(c, t)) forward(&w, t);
    return w;
}

static void closed(work *w) {
    free(w->logits);
    free(w->logp);
    free(w->target);
}

/* computes the answer from the gradients by the log-probabilities */
static void finish(work *w, answer *out) {
    for (int64_t t = 0; t < w->c->batch.n_tokens; t++) if (counts(w->c, t)) backward(w, t);
    write_answer(w, out);
}

int computed_rows(const test_case *c, int n, answer *out) {
    work w;
    int ok;
    memset(out, 0, sizeof *out);
    if (!applies(c, n)) return 0;
    w = opened(c, (mistake)n);
    ok = !scores_impossible(&w) && from_above(&w);
    if (ok) finish(&w, out);
    closed(&w);
    return ok;
}

/* ---- mistakes of the objective: its own case, and the chain rule -------------------------------------------------------------------- */

static void answer_by_headers(test_case *l) {
    case_answer *const slopes[] = { &l->dlogp, &l->dentropy };
    double *zero = room(l->batch.n_tokens, sizeof *zero);
    answer a;
    arrput(l->memory, zero);
    for (int k = 0; k < 2; k++) slopes[k]->expect = slopes[k]->scale = zero;        /* so that they are computed */
    if (answer_evaluate(l, &l->objective, STAGE_LOSS, NULL, &a)) {
        const output_kind outputs[] = { OUT_DLOGP, OUT_DENTROPY };
        for (int k = 0; k < 2; k++) {
            double *expect = room(l->batch.n_tokens, sizeof *expect);
            memcpy(expect, a.of[outputs[k]].value, (size_t)l->batch.n_tokens * sizeof *expect);
            slopes[k]->expect = expect;
            arrput(l->memory, expect);
        }
    }
    answer_free(&a);
}

test_case *loss_of_rows(const test_case *c) {
    test_case *l;
    work w;
    if (!c->rows.has_loss) return NULL;
    l = room(1, sizeof *l);
    w = opened(c, NO_MISTAKE);
    *l = *c;
    l->kind = CASE_OBJECTIVE;
    l->memory = NULL;
    memset(&l->rows, 0, sizeof l->rows);
    memset(&l->dlogits, 0, sizeof l->dlogits);
    memset(&l->dhidden, 0, sizeof l->dhidden);
    memset(&l->dweight, 0, sizeof l->dweight);
    l->batch.logp = w.logp;
    l->batch.entropy = w.entropy;
    arrput(l->memory, w.logp);
    w.logp = NULL;
    closed(&w);
    answer_by_headers(l);
    return l;
}

void loss_of_rows_free(test_case *l) {
    for (ptrdiff_t k = 0; l && k < arrlen(l->memory); k++) free(l->memory[k]);
    if (l) arrfree(l->memory);
    free(l);
}

/* the sum of the sizes of the terms of (g ([v = target] - p) - e p (log p + H))/tau */
static double slope_size(const work *w, int64_t t, int64_t v) {
    const double lp = w->log_p[t * w->c->rows.vocab + v], p = exp(lp);
    const double by_entropy_too = lp == -HUGE_VAL ? 0 : fabs(w->e[t]) * p * (fabs(lp) + w->entropy[t]);
    return (fabs(w->g[t]) * ((v == w->target[t]) + p) + by_entropy_too) / w->tau;
}

/* Sizes for comparing a mistake: where the right gradient is 0, for example because a clip binds, its scale is 0 as well. */
static void add_sizes(const work *w, answer *out) {
    const case_rows *rows = &w->c->rows;
    double *dlogits = rows->hidden ? NULL : answer_add_size(out, OUT_DLOGITS);
    double *dhidden = rows->hidden ? answer_add_size(out, OUT_DHIDDEN) : NULL;
    double *dweight = rows->hidden ? answer_add_size(out, OUT_DWEIGHT) : NULL;
    for (int64_t t = 0; t < w->c->batch.n_tokens; t++) {
        if (!counts(w->c, t)) continue;
        for (int64_t v = 0; v < rows->vocab; v++) {
            const double size = slope_size(w, t, v);
            if (dlogits) dlogits[t * rows->vocab + v] = size;
            for (int64_t h = 0; h < rows->width && rows->hidden; h++) {
                dhidden[t * rows->width + h] += size * fabs((double)rows->weight[v * rows->width + h]);
                dweight[v * rows->width + h] += size * fabs((double)rows->hidden[t * rows->width + h]);
            }
        }
    }
}

int answer_of_rows(const test_case *c, const answer *of_loss, answer *out) {
    const numbers *g = &of_loss->of[OUT_DLOGP], *e = &of_loss->of[OUT_DENTROPY];
    work w;
    memset(out, 0, sizeof *out);
    if (!of_loss->of[OUT_LOSS].value || !g->value) return 0;
    w = opened(c, NO_MISTAKE);
    w.loss = of_loss->of[OUT_LOSS].value[0];
    for (int64_t t = 0; t < c->batch.n_tokens; t++) {
        w.g[t] = g->value[t];
        w.e[t] = e->value ? e->value[t] : 0;
    }
    finish(&w, out);
    add_sizes(&w, out);
    closed(&w);
    return 1;
}
