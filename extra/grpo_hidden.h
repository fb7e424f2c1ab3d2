/* grpo_hidden.h - from hidden states through a language model's output head to the loss, and back, one tile of logits at a time.
 * An optional part of gspo.h.  In the one source file that has the implementation of gspo.h write instead
 *
 *     #define GRPO_HIDDEN_IMPLEMENTATION     // implies GRPO_CONTEXT_IMPLEMENTATION, and that GSPO_IMPLEMENTATION
 *     #define GRPO_LOGITS_IMPLEMENTATION     // here, or in a file of its own
 *     #include "extra/grpo_hidden.h"
 *
 * and include it plainly elsewhere.  examples/hidden.c is a program.
 *
 * With hidden states H (tokens, width), the head's weight W (vocab, width) as in a linear layer, and temperature tau:
 *
 *     Z = H W^T                                               logits
 *     logp, entropy of each row of softmax(Z / tau)           extra/grpo_logits.h
 *     loss, dlogp, dentropy                                   gspo.h, every objective
 *     dZ                                                      overwrites Z
 *     d_hidden = dZ W,  d_weight += dZ^T H                    d loss/d H, d loss/d W
 *
 * Z is never stored as a whole: only tile_rows rows of it at a time.  A tile has the next unmasked tokens in the order of the responses,
 * whatever the layout; masked tokens and padding take no part in the products.  Tokens whose gradient is 0 (A = 0, clipped) take no part in
 * the backward products.  Each tile reads weight and d_weight anew: from some 256 rows on that cost is hidden by the products
 * (MEASUREMENTS.md).
 *
 * If a token's gradient depends on no other token, a tile goes forward and back before the next one is computed, in three products per
 * token: `one pass`.  Tiles may cut responses; the divisors are counted first, which needs no logits.  Otherwise (ratio of a response or of
 * a prefix, functions of a group) all tiles go forward, then the loss is computed, then Z is computed again: `two passes`, four products.
 * grpo_hidden_passes returns which.
 *
 * Accuracy and reproducibility.  From Z on everything is as exact as in extra/grpo_logits.h; Z is as exact as the product.  If a product
 * gives each row the same bits whatever the other rows are, then logp, loss, report and dlogp have the same bits for every tile_rows, for
 * one pass and two, with padding and without: those of grpo_logits_loss on the whole of Z.  grpo_hidden_product is such a product, and sums
 * d_weight token by token: with it d_hidden and d_weight, too, have the same bits for every tile_rows, one pass and two, and every split
 * into parts that keeps the order (except for the sign of a 0).  With any product, the number of threads that share the rows changes no
 * bit.  BLAS guarantees neither: there the bits of a row may depend on the number of rows, and d_weight on how tiles and library sum it.
 * Another order of responses changes the rounding of d_weight in any case. */
#ifndef GRPO_HIDDEN_H
#define GRPO_HIDDEN_H

#include "grpo_context.h"
#include "grpo_logits.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_hidden.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_product grpo_product_f64
#define grpo_hidden grpo_hidden_f64
#define grpo_hidden_check grpo_hidden_check_f64
#define grpo_hidden_passes grpo_hidden_passes_f64
#define grpo_hidden_loss grpo_hidden_loss_f64
#define grpo_hidden_loss_add grpo_hidden_loss_add_f64
#define grpo_hidden_product grpo_hidden_product_f64
#endif

GRPO_C_BEGIN_

/* The matrix product: c (m, n) = op(a) op(b), or with `add` c += op(a) op(b); op(a) is (m, k), op(b) (k, n), all row-major without gaps.
 * transpose_a: a is stored as (k, m); transpose_b: b as (n, k).  c overlaps neither, and is read only with `add`.  With CBLAS:
 *
 *     cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
 *                 m, n, k, 1, a, transpose_a ? m : k, b, transpose_b ? k : n, add, c, n);
 *
 * It is called for (rows, vocab) = H W^T, (rows, width) = dZ W, and (vocab, width) += dZ^T H. */
typedef void (*grpo_product)(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                             const grpo_real *a, const grpo_real *b, int add, grpo_real *c);

/* scratch for a row of a tile */
typedef struct {
    grpo_logits_part part;
    int64_t slot;                       /* index of its token */
} grpo_hidden_row;

/* the caller's arrays.  In a status they are named rows.hidden, rows.tile_rows ...; but vocab, target and temperature logits.vocab,
 * logits.target and logits.temperature */
typedef struct {
    const grpo_real *hidden;            /* (n_tokens, width) row t: the hidden state that token t was sampled from */
    const grpo_real *weight;            /* (vocab, width) */
    int64_t width, vocab;               /* at least 1 */
    const int64_t *target;              /* (n_tokens) the sampled token, 0 .. vocab - 1; read where unmasked */
    double temperature;                 /* tau > 0, finite */
    grpo_product product;               /* NULL: grpo_hidden_product */
    void *context;                      /* passed to product */
    int passes;                         /* 0: as few as the objective allows; 2: two; 1: one, refused if the objective needs two */
    int64_t tile_rows;                  /* at least 1; more than the batch has tokens is of no use */
    grpo_real *tile;                    /* (tile_rows (vocab + width)) scratch */
    grpo_hidden_row *row;               /* (tile_rows) scratch */
    grpo_real *logp, *entropy;          /* (n_tokens) nats, written, 0 where masked */
    grpo_real *d_hidden;                /* (n_tokens, width) written, 0 where masked; may be the array of hidden; NULL: not wanted */
    grpo_real *d_weight;                /* (vocab, width) added to; NULL: not wanted */
} grpo_hidden;

/* GRPO_OK if one pass is enough; GRPO_WHOLE_RESPONSE names the field that needs two; else as grpo_objective_check. */
grpo_status grpo_hidden_check(const grpo_objective *obj);
int grpo_hidden_passes(const grpo_objective *obj);      /* 1 or 2; 0: obj is NULL or invalid */

/* gspo_loss and gspo_loss_add, with logp and entropy from the hidden states; batch.logp and batch.entropy are not read.  For a gradient,
 * out.dlogp and out.dentropy must not be NULL.  Without d_hidden and d_weight there is one product per token.  Elements that belong to no
 * response (padding) are neither read nor written; those of masked tokens may hold anything.
 *
 * After a refusal nothing has been written, with one exception: if finite numbers have a product that is NaN or +infinity (float elements
 * beyond 3e38), that is found only when the product is computed; tile, logp, entropy, outputs and gradients have then been written in part,
 * report and partial not.  A product that is -infinity is the logit of a banned token, and is not refused.  NaN or infinities in hidden
 * and weight are found beforehand, and reported as the first logit that they affect, logits.logits[t vocab + v].  In d_hidden and d_weight
 * a term or a partial sum may overflow although the exact sum does not; what comes of that, an infinity, or NaN where infinities of both
 * signs or an infinity and 0 meet, sets overflow.
 *
 * If the implementation is compiled with OpenMP, its threads share the rows of a tile; the product uses threads of its own, or none. */
grpo_status grpo_hidden_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_hidden *rows, const grpo_output *out, grpo_report *report);
grpo_status grpo_hidden_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_hidden *rows, const grpo_output *out, grpo_partial *partial);

/* the default product, in plain loops that compilers vectorise; context is not used.  Each element is summed in the order of k, in
 * grpo_real. */
void grpo_hidden_product(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                         const grpo_real *a, const grpo_real *b, int add, grpo_real *c);

GRPO_C_END_
#endif /* GRPO_HIDDEN_H */

#if defined(GRPO_HIDDEN_IMPLEMENTATION) && !defined(GRPO_HIDDEN_IMPLEMENTED)
#define GRPO_HIDDEN_IMPLEMENTED

#ifndef GRPO_CONTEXT_IMPLEMENTATION
#define GRPO_CONTEXT_IMPLEMENTATION
#endif
#include "grpo_context.h"      /* includes its implementation and that of gspo.h, if this file does not have them yet */
#include "grpo_logits.h"       /* includes its implementation, if that was requested only after the first include */
#include "grpo_shared.h"
#include "grpo_shared_logits.h"

GRPO_C_BEGIN_

/* ---- the product ---- */

/* a block of columns of b stays in the cache while every row of a is multiplied with it */
enum { GRPO_PRODUCT_COLUMNS_ = 512 / (int)sizeof(grpo_real), GRPO_PRODUCT_DEPTH_ = 32, GRPO_PRODUCT_ROWS_ = 16 };

static int64_t grpo_product_least_(int64_t a, int64_t b) { return a < b ? a : b; }

/* block (rows, wide) = op(x)[row + i][column + j], i < rows, j < columns; x has `stride` elements per row */
static void grpo_product_pack_(const grpo_real *x, int transposed, int64_t stride, int64_t row, int64_t rows, int64_t column,
                               int64_t columns, int64_t wide, grpo_real *block) {
    if (!transposed) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(block + i * wide, x + (row + i) * stride + column, (size_t)columns * sizeof *x);
    } else {
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < rows; i++) block[i * wide + j] = x[(column + j) * stride + row + i];
    }
}

/* sum (columns) += a (depth) times block (depth, columns), in the order of depth; columns beyond those of c are computed and not used */
static void grpo_product_row_(const grpo_real *GRPO_RESTRICT_ a, const grpo_real *GRPO_RESTRICT_ block, int64_t depth,
                              grpo_real *GRPO_RESTRICT_ sum) {
    enum { columns = GRPO_PRODUCT_COLUMNS_ };
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        const grpo_real a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3], *b = block + k * columns;
        for (int j = 0; j < columns; j++) {
            grpo_real x = sum[j];
            x += a0 * b[j];
            x += a1 * b[j + columns];
            x += a2 * b[j + 2 * columns];
            x += a3 * b[j + 3 * columns];
            sum[j] = x;
        }
    }
    for (; k < depth; k++) {
        const grpo_real a0 = a[k], *b = block + k * columns;
        for (int j = 0; j < columns; j++) sum[j] += a0 * b[j];
    }
}

/* adds to the columns of c from `column` on the products with rows from .. from + depth - 1 of op(b); first: c is not read */
static void grpo_product_panel_(int transpose_a, int64_t m, int64_t n, int64_t k, const grpo_real *a, const grpo_real *block,
                                int64_t column, int64_t columns, int64_t from, int64_t depth, int first, grpo_real *c) {
    grpo_real some[GRPO_PRODUCT_ROWS_ * GRPO_PRODUCT_DEPTH_], sum[GRPO_PRODUCT_COLUMNS_];
    for (int64_t i = 0; i < m; i += GRPO_PRODUCT_ROWS_) {
        const int64_t rows = grpo_product_least_(m - i, GRPO_PRODUCT_ROWS_);
        if (transpose_a) {
            for (int64_t d = 0; d < depth; d++)
                for (int64_t j = 0; j < rows; j++) some[j * GRPO_PRODUCT_DEPTH_ + d] = a[(from + d) * m + i + j];
        } else grpo_product_pack_(a, 0, k, i, rows, from, depth, GRPO_PRODUCT_DEPTH_, some);
        for (int64_t j = 0; j < rows; j++) {
            grpo_real *to = c + (i + j) * n + column;
            memset(sum, 0, sizeof sum);
            if (!first) memcpy(sum, to, (size_t)columns * sizeof *to);
            grpo_product_row_(some + j * GRPO_PRODUCT_DEPTH_, block, depth, sum);
            memcpy(to, sum, (size_t)columns * sizeof *to);
        }
    }
}

void grpo_hidden_product(void *context, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                         const grpo_real *a, const grpo_real *b, int add, grpo_real *c) {
    grpo_real block[GRPO_PRODUCT_DEPTH_ * GRPO_PRODUCT_COLUMNS_];
    (void)context;
    if (k == 0 && !add) memset(c, 0, (size_t)(m * n) * sizeof *c);
    memset(block, 0, sizeof block);
    for (int64_t column = 0; column < n; column += GRPO_PRODUCT_COLUMNS_) {
        const int64_t columns = grpo_product_least_(n - column, GRPO_PRODUCT_COLUMNS_);
        for (int64_t from = 0; from < k; from += GRPO_PRODUCT_DEPTH_) {
            const int64_t depth = grpo_product_least_(k - from, GRPO_PRODUCT_DEPTH_);
            grpo_product_pack_(b, transpose_b, transpose_b ? k : n, from, depth, column, columns, GRPO_PRODUCT_COLUMNS_, block);
            grpo_product_panel_(transpose_a, m, n, k, a, block, column, columns, from, depth, from == 0 && !add, c);
        }
    }
}

/* ---- checks ---- */

/* the field that makes a token's gradient depend on other tokens, among those that grpo_context.h allows; 0: there is none */
static size_t grpo_hidden_obstacle_(const grpo_objective *o) {
    if (o->ratio.level != GRPO_LEVEL_TOKEN) return GRPO_FIELD_(ratio.level);
    if (o->weight.off_policy_mask != GRPO_OFF_POLICY_MASK_NONE) return GRPO_FIELD_(weight.off_policy_mask);
    if (grpo_policy_is_pool_(o->weight.policy_is).over != GRPO_OVER_TOKEN) return GRPO_FIELD_(weight.policy_is);
    return 0;
}

grpo_status grpo_hidden_check(const grpo_objective *obj) {
    const grpo_status st = grpo_context_check(obj);
    const size_t obstacle = st ? 0 : grpo_hidden_obstacle_(obj);
    return obstacle ? GRPO_STATUS_(GRPO_WHOLE_RESPONSE, grpo_at_field_(obstacle)) : st;
}

int grpo_hidden_passes(const grpo_objective *obj) { return grpo_objective_check(obj) ? 0 : grpo_hidden_check(obj) ? 2 : 1; }

static int grpo_hidden_wants_gradient_(const grpo_hidden *rows) { return rows->d_hidden || rows->d_weight; }

/* checks pointers and shapes */
static grpo_status grpo_check_hidden_shape_(const grpo_hidden *rows, int64_t n_tokens) {
    const int64_t most = INT64_MAX / (int64_t)sizeof(double);
    if (!rows->hidden) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_hidden_);
    if (!rows->weight) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_weight_);
    if (rows->width < 1) return GRPO_STATUS_(GRPO_NOT_POSITIVE, GRPO_AT_rows_width_);
    if (rows->vocab < 1) return GRPO_STATUS_(GRPO_NOT_POSITIVE, GRPO_AT_logits_vocab_);
    if (n_tokens > most / rows->width) return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_rows_width_);
    if (rows->vocab > most / rows->width) return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_logits_vocab_);
    if (!rows->target) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_logits_target_);
    if (grpo_rule_of_temperature_(rows->temperature))
        return GRPO_STATUS_(grpo_rule_of_temperature_(rows->temperature), GRPO_AT_logits_temperature_);
    if (rows->passes < 0 || rows->passes > 2) return GRPO_STATUS_(GRPO_NOT_A_CHOICE, GRPO_AT_rows_passes_);
    if (rows->tile_rows < 1) return GRPO_STATUS_(GRPO_NOT_POSITIVE, GRPO_AT_rows_tile_rows_);
    if (rows->tile_rows > most / (rows->vocab + rows->width)) return GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_rows_tile_rows_);
    if (!rows->tile) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_tile_);
    if (!rows->row) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_row_);
    if (!rows->logp) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_logp_);
    return rows->entropy ? GRPO_OK : GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_entropy_);
}

/* the index of the first of n numbers that is NaN or infinite, -1 if there is none; vectorised, as the weight is large */
static int64_t grpo_first_not_finite_(const grpo_real *x, int64_t n) {
    enum { lanes = 64, chunk = 4096 };
    for (int64_t begin = 0; begin < n; begin += chunk) {
        const int64_t end = grpo_product_least_(n, begin + chunk);
        grpo_real lane[lanes], sum = 0;
        int64_t k = begin;
        memset(lane, 0, sizeof lane);
        for (; k + lanes <= end; k += lanes) for (int j = 0; j < lanes; j++) lane[j] += x[k + j] - x[k + j];
        for (int j = 0; j < lanes; j++) sum += lane[j];
        for (; k < end; k++) sum += x[k] - x[k];
        for (k = begin; !(sum == 0) && k < end; k++) if (!(x[k] - x[k] == 0)) return k;
    }
    return -1;
}

static grpo_status grpo_refuse_logit_(double x, int64_t t, int64_t v, int64_t vocab) {
    return grpo_status_at_(x != x ? GRPO_NAN : GRPO_INFINITE, GRPO_AT_logits_logits_,
                           vocab > 0 && t > GRPO_MAX_INDEX_ / vocab ? -1 : t * vocab + v);
}

/* checks targets and hidden states of the unmasked tokens, and the weight, if there is such a token */
static grpo_status grpo_check_hidden_numbers_(const grpo_hidden *rows, const grpo_batch *b) {
    grpo_index_ at = grpo_before_tokens_(b);
    int64_t t, first = -1, bad;
    while ((t = grpo_next_token_(b, &at)) >= 0) {
        if (first < 0) first = t;
        if (rows->target[t] < 0 || rows->target[t] >= rows->vocab) return grpo_status_at_(GRPO_OUT_OF_RANGE, GRPO_AT_logits_target_, t);
        bad = grpo_first_not_finite_(rows->hidden + t * rows->width, rows->width);
        if (bad >= 0) return grpo_refuse_logit_((double)rows->hidden[t * rows->width + bad], t, 0, rows->vocab);
    }
    bad = first < 0 ? -1 : grpo_first_not_finite_(rows->weight, rows->vocab * rows->width);
    return bad < 0 ? GRPO_OK : grpo_refuse_logit_((double)rows->weight[bad], first, bad / rows->width, rows->vocab);
}

/* not inlined: what it keeps on the stack would lie below the loss, whose calls are the deepest of all */
GRPO_NOINLINE_FN_ grpo_status grpo_check_hidden_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                                 const grpo_totals *totals, const grpo_hidden *rows, const grpo_output *out,
                                                 const grpo_partial *partial) {
    grpo_status st = gspo_loss_check(obj, batch, advantage, totals, out, partial);
    if (!st && !rows) st = GRPO_STATUS_(GRPO_NULL, GRPO_AT_rows_);
    if (!st) st = grpo_check_hidden_shape_(rows, batch->n_tokens);
    if (!st && rows->passes == 1) st = grpo_hidden_check(obj);
    if (st) return st;
    if (grpo_hidden_wants_gradient_(rows) && !(out && out->dlogp)) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_dlogp_);
    if (grpo_hidden_wants_gradient_(rows) && !out->dentropy) return GRPO_STATUS_(GRPO_NULL, GRPO_AT_dentropy_);
    return grpo_check_hidden_numbers_(rows, batch);
}

/* ---- a tile ---- */

/* the arguments of a call; logp and entropy of its batch are replaced by those of the rows */
typedef struct {
    const grpo_objective *obj;
    const grpo_real *advantage;
    const grpo_hidden *rows;
    grpo_batch batch;
    grpo_output out;
    grpo_scales scales;
    grpo_partial *partial;
} grpo_hidden_call_;

/* which pass a tile is for: one pass forward and back, the forward pass of two, the backward pass of two */
typedef enum { GRPO_TILE_BOTH_, GRPO_TILE_READ_, GRPO_TILE_BACK_ } grpo_tile_for_;

static grpo_real *grpo_tile_logits_(const grpo_hidden *x, int64_t row) { return x->tile + row * x->vocab; }
static grpo_real *grpo_tile_hidden_(const grpo_hidden *x, int64_t row) { return x->tile + x->tile_rows * x->vocab + row * x->width; }

static void grpo_put_d_hidden_(const grpo_hidden *x, int64_t slot, const grpo_real *d) {
    if (!x->d_hidden) return;
    if (d) memcpy(x->d_hidden + slot * x->width, d, (size_t)x->width * sizeof *d);
    else memset(x->d_hidden + slot * x->width, 0, (size_t)x->width * sizeof *d);
}

static int grpo_has_gradient_(const grpo_hidden_call_ *c, int64_t slot) { return c->out.dlogp[slot] != 0 || c->out.dentropy[slot] != 0; }

/* fills a tile with the tokens from `at` on, which is moved to where the next tile begins; returns how many rows */
static int64_t grpo_tile_fill_(const grpo_hidden_call_ *c, grpo_tile_for_ what, grpo_index_ *at) {
    const grpo_hidden *x = c->rows;
    const grpo_batch *b = &c->batch;
    int64_t n = 0;
    for (; at->i < grpo_end_sequence_(b); at->i++, at->t = 0)
        for (; at->t < b->length[at->i]; at->t++) {
            const int64_t slot = b->offset[at->i] + at->t;
            if (!grpo_is_unmasked_(b, slot) || (what == GRPO_TILE_BACK_ && !grpo_has_gradient_(c, slot))) {
                if (what != GRPO_TILE_READ_) grpo_put_d_hidden_(x, slot, NULL);
                continue;
            }
            if (n == x->tile_rows) return n;
            memcpy(grpo_tile_hidden_(x, n), x->hidden + slot * x->width, (size_t)x->width * sizeof *x->hidden);
            x->row[n++].slot = slot;
        }
    return n;
}

static void grpo_tile_product_(const grpo_hidden *x, int transpose_a, int transpose_b, int64_t m, int64_t n, int64_t k,
                               const grpo_real *a, const grpo_real *b, int add, grpo_real *c) {
    if (x->product) x->product(x->context, transpose_a, transpose_b, m, n, k, a, b, add, c);
    else grpo_hidden_product(x->context, transpose_a, transpose_b, m, n, k, a, b, add, c);
}

/* a row of the tile as a grpo_logits of one row */
static grpo_logits grpo_tile_row_(const grpo_hidden *x, int64_t row) {
    grpo_logits z;
    memset(&z, 0, sizeof z);
    z.type = GRPO_LOGITS_REAL;
    z.logits = grpo_tile_logits_(x, row);
    z.rows = 1; z.vocab = z.stride = x->vocab;
    z.target = &x->target[x->row[row].slot];
    z.temperature = x->temperature;
    return z;
}

static void grpo_tile_write_logp_(const grpo_hidden *x, int64_t row) {
    const int64_t slot = x->row[row].slot;
    grpo_logits_row r;
    int overflow;
    grpo_logits_part_row(&x->row[row].part, x->temperature, &r);
    grpo_put_(x->logp, slot, r.logp, &overflow);
    grpo_put_(x->entropy, slot, r.entropy, &overflow);
}

/* computes the logits of n rows and their parts; `takes`: also writes logp and entropy of their tokens */
static grpo_status grpo_tile_read_(const grpo_hidden *x, int64_t n, int takes) {
    int bad = 0;
    if (n == 0) return GRPO_OK;
    grpo_tile_product_(x, 0, 1, n, x->vocab, x->width, grpo_tile_hidden_(x, 0), x->weight, 0, grpo_tile_logits_(x, 0));
    GRPO_OMP_("omp parallel for schedule(static) reduction(|:bad)")
    for (int64_t j = 0; j < n; j++) {
        const grpo_logits z = grpo_tile_row_(x, j);
        const int refused = grpo_logits_row_read(&z, 0, &x->row[j].part) != GRPO_OK;
        bad |= refused;
        if (takes && !refused) grpo_tile_write_logp_(x, j);
    }
    for (int64_t j = 0; bad && j < n; j++) {
        int64_t v = 0;
        while (v < x->vocab && grpo_tile_logits_(x, j)[v] < (grpo_real)HUGE_VAL) v++;
        if (v < x->vocab) return grpo_refuse_logit_((double)grpo_tile_logits_(x, j)[v], x->row[j].slot, v, x->vocab);
    }
    return GRPO_OK;
}

/* moves the rows whose gradient is not 0 to the front; returns how many */
static int64_t grpo_tile_keep_(const grpo_hidden_call_ *c, int64_t n) {
    const grpo_hidden *x = c->rows;
    int64_t kept = 0;
    for (int64_t j = 0; j < n; j++) {
        if (!grpo_has_gradient_(c, x->row[j].slot)) { grpo_put_d_hidden_(x, x->row[j].slot, NULL); continue; }
        if (kept < j) {
            x->row[kept] = x->row[j];
            memcpy(grpo_tile_logits_(x, kept), grpo_tile_logits_(x, j), (size_t)x->vocab * sizeof *x->tile);
            memcpy(grpo_tile_hidden_(x, kept), grpo_tile_hidden_(x, j), (size_t)x->width * sizeof *x->tile);
        }
        kept++;
    }
    return kept;
}

/* overwrites the logits by d loss/d logits, and adds to d_hidden and d_weight */
static void grpo_tile_back_(const grpo_hidden_call_ *c, int64_t n) {
    const grpo_hidden *x = c->rows;
    grpo_real *z = grpo_tile_logits_(x, 0), *h = grpo_tile_hidden_(x, 0);
    n = grpo_tile_keep_(c, n);
    if (n == 0) return;
    GRPO_OMP_("omp parallel for schedule(static)")
    for (int64_t j = 0; j < n; j++) {
        const grpo_logits row = grpo_tile_row_(x, j);
        const int64_t slot = x->row[j].slot;
        grpo_logits_row_gradient(&row, 0, &x->row[j].part, (double)c->out.dlogp[slot], (double)c->out.dentropy[slot],
                                 grpo_tile_logits_(x, j));
    }
    if (x->d_weight) grpo_tile_product_(x, 1, 0, x->vocab, x->width, n, z, h, 1, x->d_weight);
    if (!x->d_hidden) return;
    grpo_tile_product_(x, 0, 0, n, x->width, x->vocab, z, x->weight, 0, h);
    for (int64_t j = 0; j < n; j++) grpo_put_d_hidden_(x, x->row[j].slot, h + j * x->width);
}

/* runs all tiles of a pass */
static grpo_status grpo_hidden_tiles_(const grpo_hidden_call_ *c, grpo_tile_for_ what) {
    grpo_index_ at = { grpo_first_sequence_(&c->batch), 0, 0 };
    grpo_status st = GRPO_OK;
    while (!st && at.i < grpo_end_sequence_(&c->batch)) {
        const int64_t n = grpo_tile_fill_(c, what, &at);
        st = grpo_tile_read_(c->rows, n, what == GRPO_TILE_READ_);
        if (!st && what == GRPO_TILE_BACK_) grpo_tile_back_(c, n);
    }
    return st;
}

/* ---- one pass ---- */

static grpo_run_ grpo_hidden_run_(const grpo_hidden_call_ *c) {
    grpo_run_ r = grpo_run_of_(c->obj, &c->batch, c->advantage, &c->out, c->partial);
    grpo_set_scales_(&r, c->scales);
    return r;
}

/* evaluates the tokens from `from` up to `to`; cuts responses there, with the divisors of the whole response.  Not inlined, so that its
 * large buffer is off the stack before the products */
GRPO_NOINLINE_ void grpo_hidden_evaluate_(const grpo_hidden_call_ *c, int64_t *g, grpo_index_ from, grpo_index_ to) {
    const grpo_batch *b = &c->batch;
    const int64_t end = grpo_end_sequence_(b);
    grpo_run_ r = grpo_hidden_run_(c);
    grpo_buffer_ buffer;
    grpo_buffer_open_(&r, &buffer);
    for (int64_t i = from.i; i < end && (i < to.i || (i == to.i && to.t > 0)); i++) {
        grpo_coupling_ group;
        grpo_sequence_ s;
        memset(&group, 0, sizeof group);
        while (i >= b->group_begin[*g + 1]) ++*g;
        group.count = grpo_count_group_(c->obj, b, *g);
        s = grpo_open_sequence_(&r, &group, i, 0);
        if (i == to.i) s.end = s.begin + to.t;
        if (i == from.i) s.begin += from.t;
        grpo_evaluate_tokens_(&r, &s);
    }
    grpo_buffer_close_(&r);
}

static void grpo_evaluate_nothing_(const grpo_run_ *r, const grpo_sequence_ *s) { (void)r; (void)s; }

/* counts responses and groups for the report */
GRPO_NOINLINE_ void grpo_hidden_count_(const grpo_hidden_call_ *c) {
    const grpo_method_ counting = { grpo_evaluate_nothing_, NULL, 0 };
    const grpo_run_ r = grpo_hidden_run_(c);
    grpo_run_groups_(&r, &counting);
}

static grpo_status grpo_hidden_one_pass_(const grpo_hidden_call_ *c) {
    const grpo_tile_for_ what = grpo_hidden_wants_gradient_(c->rows) ? GRPO_TILE_BOTH_ : GRPO_TILE_READ_;
    grpo_index_ at = { grpo_first_sequence_(&c->batch), 0, 0 };
    int64_t g = 0;
    grpo_hidden_count_(c);
    while (at.i < grpo_end_sequence_(&c->batch)) {
        const grpo_index_ from = at;
        const int64_t n = grpo_tile_fill_(c, what, &at);
        const grpo_status st = grpo_tile_read_(c->rows, n, 1);
        if (st) return st;
        grpo_hidden_evaluate_(c, &g, from, at);
        if (what == GRPO_TILE_BOTH_) grpo_tile_back_(c, n);
    }
    return GRPO_OK;
}

/* ---- the call ---- */

static void grpo_clear_masked_rows_(const grpo_hidden_call_ *c) {
    const grpo_batch *b = &c->batch;
    for (int64_t i = grpo_first_sequence_(b); i < grpo_end_sequence_(b); i++)
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++)
            if (!grpo_is_unmasked_(b, t)) c->rows->logp[t] = c->rows->entropy[t] = 0;
}

/* 1 if a gradient that is wanted has an infinity */
static int grpo_hidden_overflow_(const grpo_hidden_call_ *c) {
    const grpo_hidden *x = c->rows;
    const grpo_batch *b = &c->batch;
    for (int64_t i = grpo_first_sequence_(b); x->d_hidden && i < grpo_end_sequence_(b); i++)
        if (grpo_first_not_finite_(x->d_hidden + b->offset[i] * x->width, b->length[i] * x->width) >= 0) return 1;
    return x->d_weight && grpo_first_not_finite_(x->d_weight, x->vocab * x->width) >= 0;
}

/* the loss of the call, into `own`, to be merged with `partial` (NULL: there is none) */
static grpo_status grpo_hidden_loss_into_(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage,
                                          const grpo_totals *totals, const grpo_hidden *rows, const grpo_output *out,
                                          const grpo_partial *partial, grpo_partial *own) {
    grpo_status st = grpo_check_hidden_(obj, batch, advantage, totals, rows, out, partial);
    grpo_hidden_call_ c;
    memset(&c, 0, sizeof c);
    memset(own, 0, sizeof *own);
    if (!st) st = grpo_take_scales_(obj, batch, advantage, totals, partial ? partial : own, &c.scales);
    if (st) return st;
    c.obj = obj; c.advantage = advantage; c.rows = rows; c.batch = *batch; c.partial = own;
    c.batch.logp = rows->logp; c.batch.entropy = rows->entropy;
    if (out) c.out = *out;
    grpo_clear_masked_rows_(&c);
    if (rows->passes != 2 && grpo_hidden_passes(obj) == 1) st = grpo_hidden_one_pass_(&c);
    else {
        st = grpo_hidden_tiles_(&c, GRPO_TILE_READ_);
        if (!st) st = gspo_loss_add(obj, &c.batch, advantage, totals, out, own);
        if (!st && grpo_hidden_wants_gradient_(rows)) st = grpo_hidden_tiles_(&c, GRPO_TILE_BACK_);
    }
    if (!st) own->overflow |= grpo_hidden_overflow_(&c);
    return st;
}

grpo_status grpo_hidden_loss_add(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                                 const grpo_hidden *rows, const grpo_output *out, grpo_partial *partial) {
    grpo_partial own;
    grpo_status st;
    if (!partial) return obj ? GRPO_STATUS_(GRPO_NULL, GRPO_AT_partial_) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    st = grpo_hidden_loss_into_(obj, batch, advantage, totals, rows, out, partial, &own);
    return st ? st : grpo_partial_merge(partial, &own);
}

grpo_status grpo_hidden_loss(const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, const grpo_totals *totals,
                             const grpo_hidden *rows, const grpo_output *out, grpo_report *report) {
    grpo_partial partial;
    grpo_status st;
    if (!report) return obj ? GRPO_STATUS_(GRPO_NULL, GRPO_AT_report_) : GRPO_STATUS_(GRPO_NULL, GRPO_AT_objective_);
    st = grpo_hidden_loss_into_(obj, batch, advantage, totals, rows, out, NULL, &partial);
    if (!st) grpo_partial_report(&partial, report);
    return st;
}

GRPO_C_END_
#endif /* GRPO_HIDDEN_IMPLEMENTATION */
