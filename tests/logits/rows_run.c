/* From logits to the loss and back by extra/grpo_logits.h, or on a GPU (rows_on_gpu.h).  Hidden states are projected by plain loops in
 * double. */
#include "rows_on_gpu.h"
#include "rows_run.h"
#include "../support/scratch.h"
#include <stdlib.h>

typedef struct {
    const test_case *c;
    grpo_real *logits;              /* (tokens, vocab) */
    grpo_logits_part *part;         /* (tokens) */
    int64_t *target;                /* (tokens) relative to the first column of the current shard */
    grpo_real *dlogp, *dentropy;
    rows_result *out;
} run;

static void *room(int64_t count, size_t size) {
    void *p = calloc((size_t)count + 1, size);
    if (!p) abort();
    return p;
}

static int is_read(const test_case *c, int64_t t) { return !c->batch.mask || c->batch.mask[t]; }

/* ---- the projection -------------------------------------------------------------------------------------------------------------- */

static double dot(const grpo_real *x, const grpo_real *y, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += (double)x[k] * (double)y[k];
    return sum;
}

static void project(const test_case *c, grpo_real *logits) {
    const case_rows *rows = &c->rows;
    for (int64_t t = 0; t < c->batch.n_tokens; t++)
        for (int64_t v = 0; v < rows->vocab && is_read(c, t); v++)
            logits[t * rows->vocab + v] = (grpo_real)dot(rows->hidden + t * rows->width, rows->weight + v * rows->width, rows->width);
}

/* dhidden of tokens first .. end - 1, and their contribution to dweight */
static void back_through(const run *r, int64_t first, int64_t end) {
    const case_rows *rows = &r->c->rows;
    for (int64_t t = first; t < end; t++)
        for (int64_t v = 0; v < rows->vocab && is_read(r->c, t); v++) {
            const double d = (double)r->out->dlogits[t * rows->vocab + v];
            for (int64_t h = 0; h < rows->width; h++) {
                r->out->dhidden[t * rows->width + h] += d * (double)rows->weight[v * rows->width + h];
                r->out->dweight[v * rows->width + h] += d * (double)rows->hidden[t * rows->width + h];
            }
        }
}

static void back_to_hidden(const run *r) {
    const test_case *c = r->c;
    const case_rows *rows = &c->rows;
    int64_t first = 0;
    r->out->dhidden = room(c->batch.n_tokens * rows->width, sizeof *r->out->dhidden);
    r->out->dweight = room(rows->vocab * rows->width, sizeof *r->out->dweight);
    if (!rows->n_chunks) back_through(r, 0, c->batch.n_tokens);
    for (int64_t k = 0; k < rows->n_chunks; first += rows->chunk[k++]) back_through(r, first, first + rows->chunk[k]);
}

/* ---- rows, in shards of the vocabulary -------------------------------------------------------------------------------------------- */

/* columns begin .. begin + width - 1; targets are relative to begin */
static grpo_logits shard_of(const run *r, int64_t begin, int64_t width) {
    const case_rows *rows = &r->c->rows;
    grpo_logits x;
    memset(&x, 0, sizeof x);
    x.type = GRPO_LOGITS_REAL;
    x.logits = r->logits + begin;
    x.rows = r->c->batch.n_tokens;
    x.vocab = width;
    x.stride = rows->vocab;
    x.kept = rows->kept ? rows->kept + begin : NULL;
    x.temperature = rows->temperature;
    for (int64_t t = 0; t < x.rows; t++) r->target[t] = rows->target[t] - begin;
    x.target = r->target;
    return x;
}

static grpo_status read_shard(const run *r, const grpo_logits *x) {
    grpo_status st = GRPO_OK;
    for (int64_t t = 0; t < x->rows && !st; t++) {
        grpo_logits_part part;
        if (!is_read(r->c, t)) continue;
        st = grpo_logits_row_read(x, t, &part);
        if (!st) st = grpo_logits_part_merge(&r->part[t], &part, x->temperature);
    }
    return st;
}

static grpo_status write_shard(const run *r, const grpo_logits *x, int64_t begin) {
    grpo_status st = GRPO_OK;
    for (int64_t t = 0; t < x->rows && !st; t++)
        if (is_read(r->c, t)) st = grpo_logits_row_gradient(x, t, &r->part[t], (double)r->dlogp[t], (double)r->dentropy[t],
                                                            r->out->dlogits + t * x->stride + begin);
    return st;
}

/* reads every shard of the vocabulary, or writes its gradient */
static grpo_status each_shard(const run *r, int gradient) {
    const case_rows *rows = &r->c->rows;
    const int64_t n = rows->n_shards ? rows->n_shards : 1;
    grpo_status st = GRPO_OK;
    int64_t begin = 0;
    for (int64_t k = 0; k < n && !st; k++) {
        const int64_t width = rows->n_shards ? rows->shard[k] : rows->vocab;
        const grpo_logits x = shard_of(r, begin, width);
        st = gradient ? write_shard(r, &x, begin) : read_shard(r, &x);
        begin += width;
    }
    return st;
}

static grpo_status read_rows(const run *r) {
    grpo_status st;
    grpo_logits_row row;
    for (int64_t t = 0; t < r->c->batch.n_tokens; t++) r->part[t] = grpo_logits_part_empty();
    st = each_shard(r, 0);
    for (int64_t t = 0; t < r->c->batch.n_tokens && !st; t++) {
        if (!is_read(r->c, t)) continue;
        st = grpo_logits_part_row(&r->part[t], r->c->rows.temperature, &row);
        r->out->logp[t] = (grpo_real)row.logp;
        r->out->entropy[t] = (grpo_real)row.entropy;
    }
    return st;
}

/* ---- the loss --------------------------------------------------------------------------------------------------------------------- */

static grpo_status loss_of_rows(const run *r, const grpo_output *out, grpo_report *report) {
    grpo_batch batch = r->c->batch;
    batch.logp = r->out->logp;
    batch.entropy = r->out->entropy;
    return gspo_loss(&r->c->objective, &batch, r->c->given, NULL, out, report);
}

static grpo_status by_pieces(const run *r, const grpo_output *out, grpo_report *report) {
    grpo_status st = read_rows(r);
    if (!st) st = loss_of_rows(r, out, report);
    return st ? st : each_shard(r, 1);
}

/* logits -> loss -> d logits by one call of grpo_logits_loss */
static grpo_status at_once(const run *r, const grpo_output *out, grpo_report *report) {
    grpo_logits_batch rows;
    memset(&rows, 0, sizeof rows);
    rows.logits = shard_of(r, 0, r->c->rows.vocab);
    rows.part = r->part;
    rows.logp = r->out->logp;
    rows.entropy = r->out->entropy;
    rows.dlogits = r->out->dlogits;
    return grpo_logits_loss(&r->c->objective, &r->c->batch, r->c->given, NULL, &rows, out, report);
}

static grpo_status differentiate_loss(const run *r) {
    grpo_report report;
    grpo_output out = output_with_scratch(&r->c->objective, &r->c->batch);
    grpo_real *dlog_partition = room(r->c->batch.n_groups, sizeof *dlog_partition);
    grpo_status st;
    out.dlogp = r->dlogp;
    out.dentropy = r->dentropy;
    if (r->c->batch.log_partition) out.dlog_partition = dlog_partition;
    memset(&report, 0, sizeof report);
    st = r->c->rows.n_shards || ON_GPU ? by_pieces(r, &out, &report) : at_once(r, &out, &report);
    r->out->loss = report.loss;
    free(dlog_partition);
    free(out.scratch);
    return st;
}

static grpo_status differentiate_given(const run *r) {
    const case_rows *rows = &r->c->rows;
    grpo_status st = read_rows(r);
    for (int64_t t = 0; t < r->c->batch.n_tokens && rows->dlogp; t++) {
        r->dlogp[t] = rows->dlogp[t];
        r->dentropy[t] = rows->dentropy[t];
    }
    return st || !rows->dlogp ? st : each_shard(r, 1);
}

/* ---- a case ----------------------------------------------------------------------------------------------------------------------- */

rows_result rows_run(const test_case *c) {
    const int64_t n = c->batch.n_tokens;
    rows_result out;
    run r;
    memset(&out, 0, sizeof out);
    r.c = c;
    r.out = &out;
    r.logits = room(n * c->rows.vocab, sizeof *r.logits);
    r.part = room(n, sizeof *r.part);
    r.target = room(n, sizeof *r.target);
    r.dlogp = room(n, sizeof *r.dlogp);
    r.dentropy = room(n, sizeof *r.dentropy);
    out.logp = room(n, sizeof *out.logp);
    out.entropy = room(n, sizeof *out.entropy);
    if (c->rows.has_loss || c->rows.dlogp) out.dlogits = room(n * c->rows.vocab, sizeof *out.dlogits);
    if (c->rows.hidden) project(c, r.logits);
    else memcpy(r.logits, c->rows.logits, (size_t)(n * c->rows.vocab) * sizeof *r.logits);
    out.status = c->rows.has_loss ? differentiate_loss(&r) : differentiate_given(&r);
    if (!out.status && out.dlogits && c->rows.hidden) back_to_hidden(&r);
    free(r.logits);
    free(r.part);
    free(r.target);
    free(r.dlogp);
    free(r.dentropy);
    return out;
}

void rows_free(rows_result *r) {
    free(r->logp);
    free(r->entropy);
    free(r->dlogits);
    free(r->dhidden);
    free(r->dweight);
    memset(r, 0, sizeof *r);
}
