/* vectors_rows DIRECTORY: the cases with logits or hidden states, by rows_run.c: log-probabilities, entropy, loss and every gradient within
 * COMPARE_LIMIT ulps of their scale.  Cases with hidden states and a loss are also evaluated by extra/grpo_hidden.h, by tiles, and logits
 * that bfloat16 represents also as bfloat16.  With ROWS_ON_GPU all but the tiles are evaluated on a GPU (rows_on_gpu.h). */
#include "../../extra/grpo_hidden.h"
#include "../support/check.h"
#include "../support/compare.h"
#include "rows_on_gpu.h"
#include "rows_run.h"
#include "../support/scratch.h"
#include "sixteen_bits.h"
#include <cJSON.h>
#include <stdlib.h>

typedef struct { long cases, numbers, tiled; double worst; } tally;

static void compare_one(tally *t, const test_case *c, const char *what, int64_t index, double found, double expected, double scale) {
    const double error = compare_error(found, expected, scale, 1);
    t->numbers++;
    if (error > t->worst) t->worst = error;
    check(error <= COMPARE_LIMIT, "%s: %s[%lld] is %.17g, expected %.17g, %.3g ulps", c->id, what, (long long)index, found, expected,
          error);
}

#define COMPARE(t, c, what, found, answer, count) do { \
        if (check((found) != NULL, "%s: no %s", (c)->id, what)) \
            for (int64_t k_ = 0; k_ < (count); k_++) \
                compare_one(t, c, what, k_, (double)(found)[k_], (answer)->expect[k_], (answer)->scale[k_]); \
    } while (0)

static void check_case(tally *t, const test_case *c) {
    const int64_t n = c->batch.n_tokens;
    rows_result r = rows_run(c);
    t->cases++;
    if (check(r.status == GRPO_OK, "%s: it is refused", c->id)) {
        if (c->rows.has_loss) compare_one(t, c, "loss", 0, r.loss, c->loss, c->loss_scale);
        else {
            COMPARE(t, c, "logp", r.logp, &c->logp, n);
            COMPARE(t, c, "entropy", r.entropy, &c->entropy, n);
        }
        if (c->dlogits.expect) COMPARE(t, c, "dlogits", r.dlogits, &c->dlogits, n * c->rows.vocab);
        if (c->dhidden.expect) COMPARE(t, c, "dhidden", r.dhidden, &c->dhidden, n * c->rows.width);
        if (c->dweight.expect) COMPARE(t, c, "dweight", r.dweight, &c->dweight, c->rows.vocab * c->rows.width);
    }
    rows_free(&r);
}

/* ---- by tiles --------------------------------------------------------------------------------------------------------------------- */

static grpo_real *reals(int64_t n) {
    grpo_real *x = (grpo_real *)calloc((size_t)n + 1, sizeof *x);
    if (!x) abort();
    return x;
}

static void check_tiles(tally *t, const test_case *c, int64_t tile_rows, int passes) {
    const int64_t n = c->batch.n_tokens, width = c->rows.width, vocab = c->rows.vocab;
    grpo_real *dlog_partition = reals(c->batch.n_groups);
    grpo_output out = output_with_scratch(&c->objective, &c->batch);
    grpo_hidden rows;
    grpo_report report;
    memset(&rows, 0, sizeof rows);
    rows.hidden = c->rows.hidden; rows.weight = c->rows.weight; rows.width = width; rows.vocab = vocab;
    rows.target = c->rows.target; rows.temperature = c->rows.temperature; rows.tile_rows = tile_rows; rows.passes = passes;
    rows.tile = reals(tile_rows * (vocab + width));
    rows.row = (grpo_hidden_row *)calloc((size_t)tile_rows, sizeof *rows.row);
    rows.logp = reals(n); rows.entropy = reals(n); rows.d_hidden = reals(n * width); rows.d_weight = reals(vocab * width);
    out.dlogp = reals(n); out.dentropy = reals(n);
    if (c->batch.log_partition) out.dlog_partition = dlog_partition;
    t->tiled++;
    if (check(!grpo_hidden_loss(&c->objective, &c->batch, c->given, NULL, &rows, &out, &report), "%s: tiles are refused", c->id)) {
        compare_one(t, c, "loss by tiles", 0, report.loss, c->loss, c->loss_scale);
        if (c->dhidden.expect) COMPARE(t, c, "dhidden by tiles", rows.d_hidden, &c->dhidden, n * width);
        if (c->dweight.expect) COMPARE(t, c, "dweight by tiles", rows.d_weight, &c->dweight, vocab * width);
    }
    free(rows.tile); free(rows.row); free(rows.logp); free(rows.entropy); free(rows.d_hidden); free(rows.d_weight);
    free(out.dlogp); free(out.dentropy); free(out.scratch); free(dlog_partition);
}

/* ---- bfloat16 --------------------------------------------------------------------------------------------------------------------- */

/* log-probability and entropy within 2 ulps of float, d logits within these plus half an ulp of bfloat16 */
static void check_bfloat16_row(const test_case *c, int64_t t) {
    enum { MOST = 64 };
    const case_rows *rows = &c->rows;
    const int64_t vocab = rows->vocab;
    uint16_t z[MOST], d[MOST];
    grpo_logits x;
    grpo_logits_part part;
    grpo_logits_row row;
    memset(&x, 0, sizeof x);
    if (!check(vocab <= MOST, "%s: too wide for this test", c->id)) return;
    for (int64_t v = 0; v < vocab; v++) {
        z[v] = bfloat_of((double)rows->logits[t * vocab + v]);
        check(of_bfloat(z[v]) == (double)rows->logits[t * vocab + v], "%s: a logit is no bfloat16", c->id);
    }
    x.type = GRPO_LOGITS_BFLOAT16; x.logits = z; x.rows = 1; x.vocab = x.stride = vocab;
    x.target = &rows->target[t]; x.temperature = rows->temperature;
    x.kept = rows->kept ? rows->kept + t * vocab : NULL;
    if (!check(!grpo_logits_row_read(&x, 0, &part) && !grpo_logits_part_row(&part, x.temperature, &row), "%s: refused", c->id)) return;
    check(fabs(row.logp - c->logp.expect[t]) <= 2 * FLT_EPSILON * c->logp.scale[t], "%s: logp of bfloat16", c->id);
    check(fabs(row.entropy - c->entropy.expect[t]) <= 2 * FLT_EPSILON * c->entropy.scale[t], "%s: entropy of bfloat16", c->id);
    check(!grpo_logits_row_gradient(&x, 0, &part, (double)rows->dlogp[t], (double)rows->dentropy[t], d), "%s: refused", c->id);
    for (int64_t v = 0; v < vocab; v++) {
        const double expected = c->dlogits.expect[t * vocab + v], scale = c->dlogits.scale[t * vocab + v];
        check(fabs(of_bfloat(d[v]) - expected) <= fabs(expected) / 256 + 2 * FLT_EPSILON * scale, "%s: d logits of bfloat16", c->id);
    }
}

static void check_bfloat16(const test_case *c) {
    if (!c->rows.logits || !c->rows.dlogp || !case_has_flag(c, "BFloat16")) return;
    for (int64_t t = 0; t < c->batch.n_tokens; t++) check_bfloat16_row(c, t);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------ */

static void check_file(void *user, const char *name, const case_file *file) {
    tally t = { 0, 0, 0, 0 }, *all = user;
    for (int64_t k = 0; k < file->n_cases; k++) {
        const test_case *c = &file->cases[k];
        if (!case_has_rows(c)) continue;
        check_case(&t, c);
        if (!ON_GPU && c->rows.hidden && c->rows.has_loss && !c->rows.kept) {
            check_tiles(&t, c, 3, 0);
            check_tiles(&t, c, 1, 2);
        }
        check_bfloat16(c);
    }
    if (t.cases) printf("%s: %ld cases, %ld numbers, worst %.3g ulps\n", name, t.cases, t.numbers, t.worst);
    all->cases += t.cases;
    all->tiled += t.tiled;
}

int main(int argc, char **argv) {
    tally all = { 0, 0, 0, 0 };
    if (argc != 2) return fputs("usage: vectors_rows DIRECTORY\n", stderr), 2;
#ifdef ROWS_ON_GPU
    if (!is_there_a_gpu()) return 77;
#endif
    check(!case_each_file(argv[1], check_file, &all), "%s: not all can be read", argv[1]);
    check(ON_GPU || all.tiled >= 200, "only %ld times by tiles", all.tiled);
    check(all.cases >= 600, "only %ld cases", all.cases);
    return check_summary();
}
