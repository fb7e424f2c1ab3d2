/* grpo_logits_loss: its results are those of the separate passes; its gradient agrees with finite differences; its bits do not depend on
 * the number of threads (if compiled with OpenMP), the order of sequences, the split into parts, or writing in place.  logits_rows.c tests
 * the accuracy of rows. */
#include "../../extra/grpo_logits.h"
#include "../support/status.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/result_bits.h"
#include "../support/scratch.h"
#include "sixteen_bits.h"
#ifdef _OPENMP
#include <omp.h>
static void use_threads(int n) { omp_set_num_threads(n); }
#else
static void use_threads(int n) { (void)n; }
#endif


/* the logits of a batch (rows, targets, kept ids) and all outputs of a call */
typedef struct {
    grpo_logits_batch rows;
    unsigned char *logits, *dlogits;
    int64_t *target;
    uint8_t *kept;
    size_t row_bytes;
    grpo_real *dlogp, *dentropy, *advantage;
    grpo_report report;
    grpo_status status;
} evaluation;

static size_t element_size(grpo_logits_type type) { return type == GRPO_LOGITS_REAL ? sizeof(grpo_real) : sizeof(uint16_t); }

static void evaluation_alloc(evaluation *e, const grpo_logits *shape, int64_t n) {
    memset(e, 0, sizeof *e);
    e->rows.logits = *shape;
    e->rows.logits.rows = n;
    e->row_bytes = (size_t)shape->stride * element_size(shape->type);
    e->rows.logits.logits = e->logits = (unsigned char *)untouched(n, e->row_bytes);
    e->rows.dlogits = e->dlogits = (unsigned char *)untouched(n, e->row_bytes);
    e->rows.logits.target = e->target = (int64_t *)untouched(n, sizeof *e->target);
    e->kept = (uint8_t *)untouched(n, (size_t)shape->stride);
    if (shape->kept) e->rows.logits.kept = e->kept;
    e->rows.part = (grpo_logits_part *)untouched(n, sizeof *e->rows.part);
    e->rows.logp = (grpo_real *)untouched(n, sizeof *e->rows.logp);
    e->rows.entropy = (grpo_real *)untouched(n, sizeof *e->rows.entropy);
    e->dlogp = (grpo_real *)untouched(n, sizeof *e->dlogp);
    e->dentropy = (grpo_real *)untouched(n, sizeof *e->dentropy);
    e->advantage = (grpo_real *)untouched(n, sizeof *e->advantage);
}

static void evaluation_free(evaluation *e) {
    free(e->logits); free(e->dlogits); free(e->target); free(e->kept); free(e->rows.part); free(e->rows.logp); free(e->rows.entropy);
    free(e->dlogp); free(e->dentropy); free(e->advantage);
}

static void put_logit(evaluation *e, int64_t at, double z) {
    if (e->rows.logits.type == GRPO_LOGITS_REAL) ((grpo_real *)e->logits)[at] = (grpo_real)z;
    else ((uint16_t *)e->logits)[at] = e->rows.logits.type == GRPO_LOGITS_BFLOAT16 ? bfloat_of(z) : half_of(z);
}

/* random logits, with garbage at masked tokens and in slots of no sequence, which must not be read */
static void evaluation_random(rng *r, const rollouts *b, evaluation *e) {
    static const double tau[] = { 1, 1, 0.7, 2 };
    const grpo_logits_type type = (grpo_logits_type)rng_below(r, 3);
    grpo_logits shape;
    int64_t i, t, v;
    memset(&shape, 0, sizeof shape);
    shape.type = type;
    shape.vocab = rng_chance(r, 10) ? 1000 + rng_below(r, 1200) : 2 + rng_below(r, 90);
    shape.stride = shape.vocab + rng_below(r, 3);
    shape.temperature = rng_pick(r, tau, 4);
    if (rng_chance(r, 30)) shape.kept = &UNTOUCHED;                     /* any pointer: replaced by the allocation */
    evaluation_alloc(e, &shape, b->n_tokens);
    for (i = 0; i < b->group_begin[b->n_groups]; i++)
        for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            e->advantage[t] = (grpo_real)(rng_chance(r, 10) ? 0 : rng_bell(r));
            if (!b->mask[t]) continue;
            e->target[t] = rng_below(r, shape.vocab);
            for (v = 0; v < shape.vocab; v++) {
                put_logit(e, t * shape.stride + v, 3 * rng_bell(r));
                e->kept[t * shape.stride + v] = v == e->target[t] || rng_chance(r, 80);
            }
        }
    for (t = 0; t < b->n_tokens; t++) if (!b->mask[t]) memset(e->logits + (size_t)t * e->row_bytes, 0xff, e->row_bytes);      /* NaN */
}

static void evaluate(const grpo_objective *obj, const rollouts *b, evaluation *e) {
    grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    batch.logp = batch.entropy = NULL;
    out.dlogp = e->dlogp; out.dentropy = e->dentropy;
    e->status = grpo_logits_loss(obj, &batch, e->advantage, NULL, &e->rows, &out, &e->report);
    free(out.scratch);
}

/* f: the rows and numbers of e, rearranged as `other` is */
static void evaluation_arranged(const evaluation *e, const rollouts *other, evaluation *f) {
    int64_t t, s;
    evaluation_alloc(f, &e->rows.logits, other->n_tokens);
    for (t = 0; t < other->n_tokens; t++) {
        if ((s = other->from[t]) < 0) continue;
        memcpy(f->logits + (size_t)t * e->row_bytes, e->logits + (size_t)s * e->row_bytes, e->row_bytes);
        memcpy(f->kept + t * e->rows.logits.stride, e->kept + s * e->rows.logits.stride, (size_t)e->rows.logits.stride);
        f->target[t] = e->target[s];
        f->advantage[t] = e->advantage[s];
    }
}

/* f, of the rearranged batch `other`, has the bits of e */
static void check_same(const char *what, const evaluation *e, const evaluation *f, const rollouts *other) {
    int64_t t, s, bad = 0;
    for (t = 0; t < other->n_tokens; t++) {
        if ((s = other->from[t]) < 0) continue;
        bad += memcmp(&f->dlogp[t], &e->dlogp[s], sizeof *f->dlogp) || memcmp(&f->dentropy[t], &e->dentropy[s], sizeof *f->dentropy)
               || memcmp(&f->rows.logp[t], &e->rows.logp[s], sizeof *f->dlogp)
               || memcmp((char *)f->rows.dlogits + (size_t)t * e->row_bytes, (char *)e->rows.dlogits + (size_t)s * e->row_bytes,
                         (size_t)e->rows.logits.vocab * element_size(e->rows.logits.type));
    }
    check(bad == 0, "%s: %d tokens of %d differ", what, (int)bad, (int)other->n_tokens);
}

/* ---- the separate passes ---------------------------------------------------------------------------------------------------------- */

static void check_rows(const rollouts *b, const evaluation *e) {
    const grpo_logits *x = &e->rows.logits;
    const size_t bytes = (size_t)x->vocab * element_size(x->type);
    unsigned char *g = (unsigned char *)test_alloc(1, e->row_bytes), *in_sequence = (unsigned char *)test_alloc(b->n_tokens, 1);
    int64_t i, t;
    memset(in_sequence, 0, (size_t)b->n_tokens);
    for (i = 0; i < b->n_sequences; i++) memset(in_sequence + b->offset[i], 1, (size_t)b->length[i]);
    for (t = 0; t < b->n_tokens; t++) {
        const unsigned char *row = e->dlogits + (size_t)t * e->row_bytes;
        grpo_logits_part part;
        grpo_logits_row r;
        if (!in_sequence[t]) { check(all_bytes(row, e->row_bytes, UNTOUCHED), "a row of no token is written"); continue; }
        check(all_bytes(row + bytes, e->row_bytes - bytes, UNTOUCHED), "past the vocabulary");
        if (!b->mask[t]) { check(all_bytes(row, bytes, 0) && e->rows.logp[t] == 0, "a masked row's gradient is 0"); continue; }
        check(!grpo_logits_row_read(x, t, &part) && !grpo_logits_part_row(&part, x->temperature, &r), "a row");
        check(e->rows.logp[t] == (grpo_real)r.logp && e->rows.entropy[t] == (grpo_real)r.entropy, "logp, entropy");
        check(!grpo_logits_row_gradient(x, t, &part, (double)e->dlogp[t], (double)e->dentropy[t], g), "a gradient");
        check(!memcmp(g, row, bytes), "row %d: its gradient", (int)t);
    }
    free(g); free(in_sequence);
}

static void check_loss(const grpo_objective *obj, const rollouts *b, const evaluation *e) {
    grpo_batch batch = rollouts_view(b);
    grpo_output out = output_with_scratch(obj, &batch);
    grpo_report report;
    grpo_real *dlogp = (grpo_real *)untouched(b->n_tokens, sizeof *dlogp);
    batch.logp = e->rows.logp; batch.entropy = e->rows.entropy;
    out.dlogp = dlogp;
    check(!gspo_loss(obj, &batch, e->advantage, NULL, &out, &report), "the loss");
    report.overflow = e->report.overflow;                               /* covers dentropy too */
    check(same_report(&report, &e->report), "report: loss %.17g, expected %.17g", e->report.loss, report.loss);
    check(!memcmp(dlogp, e->dlogp, (size_t)b->n_tokens * sizeof *dlogp), "d loss / d logp");
    free(out.scratch); free(dlogp);
}

/* the passes over two ranges of tokens */
static void check_ranges(rng *r, const rollouts *b, const evaluation *e) {
    rollouts same = *b;
    evaluation f;
    int64_t t, cut = rng_below(r, b->n_tokens + 1);
    uint8_t *mask = (uint8_t *)test_alloc(b->n_tokens, 1);
    same.from = (int64_t *)test_alloc(b->n_tokens, sizeof *same.from);
    for (t = 0; t < b->n_tokens; t++) same.from[t] = t;
    evaluation_arranged(e, &same, &f);
    memcpy(f.dlogp, e->dlogp, (size_t)b->n_tokens * sizeof *f.dlogp);
    memcpy(f.dentropy, e->dentropy, (size_t)b->n_tokens * sizeof *f.dentropy);
    for (t = 0; t < b->n_tokens; t++) { mask[t] = e->rows.part[t].has_target == 1; same.from[t] = mask[t] ? t : -1; }
    check(!grpo_logits_batch_read(&f.rows, mask, 0, cut) && !grpo_logits_batch_read(&f.rows, mask, cut, b->n_tokens - cut),
        "ranges, forwards");
    check(!grpo_logits_batch_gradient(&f.rows, mask, f.dlogp, f.dentropy, cut, b->n_tokens - cut)
          && !grpo_logits_batch_gradient(&f.rows, mask, f.dlogp, f.dentropy, 0, cut), "ranges, backwards");
    check_same("ranges", e, &f, &same);
    evaluation_free(&f);
    free(mask); free(same.from);
}

/* logit v of row t, -inf if it is not kept */
static double element_of(const evaluation *e, const void *rows, int64_t t, int64_t v) {
    const int64_t at = t * e->rows.logits.stride + v;
    const uint16_t h = ((const uint16_t *)rows)[e->rows.logits.type == GRPO_LOGITS_REAL ? 0 : at];
    const uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    if (e->rows.logits.type == GRPO_LOGITS_REAL) return (double)((const grpo_real *)rows)[at];
    if (e->rows.logits.type == GRPO_LOGITS_BFLOAT16) return (double)f;
    if ((h & 0x7fff) == 0x7c00) return h & 0x8000 ? -HUGE_VAL : HUGE_VAL;
    return (h & 0x8000 ? -1 : 1) * (h >> 10 & 31 ? ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25) : ldexp(h & 1023, -24));
}

/* ---- slopes: d z against differences of dlogp logp(z) + dentropy H(z) in long double ------------------------------------------------- */

static long double row_value(const evaluation *e, int64_t t, long double *z, double dlogp, double dentropy) {
    const int64_t n = e->rows.logits.vocab;
    long double top = -HUGE_VALL, sum = 0, H = 0, log_sum;
    int64_t v;
    for (v = 0; v < n; v++) if (z[v] > top) top = z[v];
    for (v = 0; v < n; v++) sum += expl(z[v] - top);
    log_sum = top + logl(sum);
    for (v = 0; v < n; v++) if (z[v] > -HUGE_VALL) H -= expl(z[v] - log_sum) * (z[v] - log_sum);
    return dlogp * (z[e->target[t]] - log_sum) + dentropy * H;
}

static void check_slopes(rng *r, const evaluation *e, int64_t t) {
    const grpo_logits *x = &e->rows.logits;
    const long double step = 1e-5L;
    const double dlogp = (double)e->dlogp[t], dentropy = (double)e->dentropy[t];
    static const double least[] = { 1e-45, 1e-40, 6e-8 };
    const double own = x->type == GRPO_LOGITS_REAL ? 0x1p-22 : x->type == GRPO_LOGITS_FLOAT16 ? 0x1p-11 : 0x1p-8;
    const double scale = fabs(dlogp) + fabs(dentropy);
    long double *z = (long double *)test_alloc(x->vocab, sizeof *z);
    grpo_logits_part part;
    grpo_logits_row row;
    int64_t v, k;
    check(!grpo_logits_row_read(x, t, &part) && !grpo_logits_part_row(&part, x->temperature, &row), "a row");
    for (v = 0; v < x->vocab; v++) {
        const int banned = x->kept && !x->kept[t * x->stride + v];
        z[v] = banned ? -HUGE_VALL : (long double)element_of(e, e->logits, t, v) / x->temperature;
    }
    for (k = 0; k < 4; k++) {
        long double up, down, at, slope, allowed;
        double found, p;
        v = k ? rng_below(r, x->vocab) : e->target[t];
        at = z[v];
        if (!(at > -HUGE_VALL)) continue;
        z[v] = at + step; up = row_value(e, t, z, dlogp, dentropy);
        z[v] = at - step; down = row_value(e, t, z, dlogp, dentropy);
        z[v] = at;
        slope = (up - down) / (2 * step) / x->temperature;
        found = element_of(e, e->dlogits, t, v);
        p = exp((double)at - row.log_sum);
        allowed = own * fabsl(slope) + least[x->type]                   /* roundings of the element, of its terms, and of the step */
            + (1e-6 * p * (fabs(dlogp) + fabs(dentropy) * (fabs((double)at - row.log_sum) + row.entropy)) + 1e-9 * scale) / x->temperature;
        if (x->type == GRPO_LOGITS_FLOAT16 && fabsl(slope) - allowed >= 65520) slope = slope > 0 ? HUGE_VALL : -HUGE_VALL;
        check(found == slope || fabsl(found - slope) <= allowed, "type %d, row %d, element %d: gradient %.17g, slope %.17Lg", (int)x->type,
            (int)t, (int)v,
              found, slope);
    }
    free(z);
}

/* ---- bits ------------------------------------------------------------------------------------------------------------------------- */

static void check_threads(const grpo_objective *obj, const rollouts *b, const evaluation *e) {
    static const int threads[] = { 1, 2, 4 };
    rollouts same = *b;
    int64_t t;
    int k;
    same.from = (int64_t *)test_alloc(b->n_tokens, sizeof *same.from);
    for (t = 0; t < b->n_tokens; t++) same.from[t] = t;
    for (k = 0; k < 3; k++) {
        evaluation f;
        use_threads(threads[k]);
        evaluation_arranged(e, &same, &f);
        if (k == 2) f.rows.dlogits = f.logits;                          /* in place */
        evaluate(obj, b, &f);
        for (t = 0; t < b->n_tokens; t++) same.from[t] = e->rows.part[t].has_target == 1 ? t : -1;
        check(f.status == GRPO_OK && same_report(&f.report, &e->report), "%d threads: report", threads[k]);
        check_same(k == 2 ? "four threads, in place" : k ? "two threads" : "one thread", e, &f, &same);
        for (t = 0; t < b->n_tokens; t++) same.from[t] = t;
        evaluation_free(&f);
    }
    use_threads(1);
    free(same.from);
}

static void check_orders(rng *r, const grpo_objective *obj, const rollouts *b, const evaluation *e) {
    rollouts other;
    evaluation f;
    rollouts_rearrange(r, b, 1, order_free(obj) & ARRANGE_SEQUENCES, &other);
    evaluation_arranged(e, &other, &f);
    evaluate(obj, &other, &f);
    check(f.status == GRPO_OK && same_report(&f.report, &e->report), "another order: report");
    check_same("another order", e, &f, &other);
    evaluation_free(&f);
    rollouts_free(&other);
}

/* evaluates some groups as a batch of their own and adds them to the partial */
static void check_part(const grpo_objective *obj, const rollouts *part, const evaluation *e, const grpo_totals *totals,
                       grpo_partial *into) {
    evaluation f;
    grpo_partial own;
    grpo_batch batch;
    grpo_output out;
    memset(&own, 0, sizeof own);
    evaluation_arranged(e, part, &f);
    batch = rollouts_view(part);
    batch.logp = batch.entropy = NULL;
    out = output_with_scratch(obj, &batch);
    out.dlogp = f.dlogp; out.dentropy = f.dentropy;
    check(!grpo_logits_loss_add(obj, &batch, f.advantage, totals, &f.rows, &out, &own) && !grpo_partial_merge(into, &own), "a part");
    check_same("parts", e, &f, part);
    free(out.scratch);
    evaluation_free(&f);
}

static void check_parts(rng *r, const grpo_objective *obj, const rollouts *b, const evaluation *e) {
    static rollouts_parts p;
    grpo_batch batch = rollouts_view(b);
    grpo_totals totals;
    grpo_partial partial;
    grpo_report report;
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    batch.logp = e->rows.logp; batch.entropy = e->rows.entropy;
    check(!grpo_totals_add(obj, &batch, e->advantage, &totals), "the count");
    rollouts_cut(r, b, 0, &p);
    for (int k = 0; k < p.count; k++) check_part(obj, &p.batch[k], e, &totals, &partial);
    rollouts_parts_free(&p);
    grpo_partial_report(&partial, &report);
    check(same_report(&report, &e->report), "parts: report");
}

/* ---- refused ---------------------------------------------------------------------------------------------------------------------- */

static void refuse(const char *what, const grpo_objective *obj, const rollouts *b, const grpo_logits_batch *rows, const grpo_output *out,
                   const grpo_real *advantage, int rule, const char *thing) {
    grpo_batch batch = rollouts_view(b);
    grpo_report report, before;
    grpo_status st;
    memset(&report, UNTOUCHED, sizeof report);
    before = report;
    st = grpo_logits_loss(obj, &batch, advantage, NULL, rows, out, &report);
    check(says("logits_loss", st, rule, thing), "%s: %s", what, status_line(st));
    check(!memcmp(&report, &before, sizeof report), "%s: a report is written", what);
}

static void check_refused(rng *r) {
    grpo_objective obj;
    grpo_output out = { 0 }, none = { 0 };
    grpo_logits_batch rows;
    rollouts b;
    evaluation e;
    char thing[40];
    int64_t t = 0, target;
    check(!grpo_objective_named("gspo", &obj), "gspo");
    do rollouts_random(r, 0, &b); while (b.n_tokens < 9 && (rollouts_free(&b), 1));
    evaluation_random(r, &b, &e);
    while (!b.mask[t] || e.target[t] < 0 || e.target[t] >= e.rows.logits.vocab) t++;
    out.dlogp = e.dlogp; out.dentropy = e.dentropy;
    refuse("no rows", &obj, &b, NULL, &out, e.advantage, GRPO_NULL, "rows");
    rows = e.rows; rows.part = NULL; refuse("no part", &obj, &b, &rows, &out, e.advantage, GRPO_NULL, "rows.part");
    rows = e.rows; rows.logp = NULL; refuse("no logp", &obj, &b, &rows, &out, e.advantage, GRPO_NULL, "rows.logp");
    rows = e.rows; rows.entropy = NULL; refuse("no entropy", &obj, &b, &rows, &out, e.advantage, GRPO_NULL, "rows.entropy");
    refuse("no dlogp", &obj, &b, &e.rows, &none, e.advantage, GRPO_NULL, "out.dlogp");
    refuse("no output", &obj, &b, &e.rows, NULL, e.advantage, GRPO_NULL, "out.dlogp");
    refuse("no advantage", &obj, &b, &e.rows, &out, NULL, GRPO_NULL, "advantage");
    refuse("no objective", NULL, &b, &e.rows, &out, e.advantage, GRPO_NULL, "objective");
    rows = e.rows; rows.logits.rows--;
    refuse("a row too few", &obj, &b, &rows, &out, e.advantage, GRPO_COMBINATION, "logits.rows, batch.n_tokens");
    rows = e.rows; rows.logits.temperature = -1;
    refuse("temperature", &obj, &b, &rows, &out, e.advantage, GRPO_NOT_POSITIVE, "logits.temperature");
    rows = e.rows; rows.logits.type = (grpo_logits_type)3;
    refuse("type", &obj, &b, &rows, &out, e.advantage, GRPO_NOT_A_CHOICE, "logits.type");
    rows = e.rows; rows.logits.logits = NULL; refuse("no logits", &obj, &b, &rows, &out, e.advantage, GRPO_NULL, "logits.logits");
    target = e.target[t];
    snprintf(thing, sizeof thing, "logits.target[%d]", (int)t);
    e.target[t] = e.rows.logits.vocab; refuse("target", &obj, &b, &e.rows, &out, e.advantage, GRPO_OUT_OF_RANGE, thing);
    e.target[t] = -1; refuse("target -1", &obj, &b, &e.rows, &out, e.advantage, GRPO_OUT_OF_RANGE, thing);
    e.target[t] = target;
    check(all_bytes(e.rows.part, sizeof *e.rows.part * (size_t)b.n_tokens, UNTOUCHED), "part");
    memset(e.logits + (size_t)t * e.row_bytes, 0xff, e.row_bytes);
    e.rows.logits.kept = NULL;
    snprintf(thing, sizeof thing, "logits.logits[%d]", (int)(t * e.rows.logits.stride));
    refuse("NaN", &obj, &b, &e.rows, &out, e.advantage, GRPO_NAN, thing);
    check(all_bytes(e.rows.logp, sizeof *e.rows.logp * (size_t)b.n_tokens, UNTOUCHED), "logp");
    check(all_bytes(e.dlogp, sizeof *e.dlogp * (size_t)b.n_tokens, UNTOUCHED), "dlogp");
    check(all_bytes(e.dlogits, e.row_bytes * (size_t)b.n_tokens, UNTOUCHED), "d logits");
    check(says("logits_batch_read", grpo_logits_batch_read(&e.rows, NULL, 0, b.n_tokens + 1), GRPO_PAST_END, "count, logits.rows"),
          "more rows than there are");
    check(says("logits_batch_read", grpo_logits_batch_read(NULL, NULL, 0, 0), GRPO_NULL, "rows"), "ranges of nothing");
    rows = e.rows; rows.dlogits = NULL;
    check(says("logits_batch_gradient", grpo_logits_batch_gradient(&rows, NULL, e.dlogp, NULL, 0, 1), GRPO_NULL, "rows.dlogits"),
          "no d logits");
    evaluation_free(&e);
    rollouts_free(&b);
}

/* ---- extremes --------------------------------------------------------------------------------------------------------------------- */

/* a batch of one response of one token, and its row */
typedef struct {
    grpo_objective obj;
    grpo_batch batch;
    grpo_logits_batch rows;
    grpo_real advantage, logp, entropy, logp_old, low, high, dlogp, dentropy;
    grpo_logits_part part;
    grpo_report report;
    union { grpo_real real[3]; uint16_t half[3]; } z, dz;
} single;

static const int64_t one_group[] = { 0, 1 }, no_offset[] = { 0 }, one_token[] = { 1 }, second[] = { 1 };

/* logits 2, 0, 0; the second token was sampled */
static void single_init(single *s, grpo_logits_type type) {
    memset(s, 0, sizeof *s);
    s->batch.n_groups = s->batch.n_tokens = 1;
    s->batch.group_begin = one_group; s->batch.offset = no_offset; s->batch.length = one_token;
    s->rows.logits.type = type;
    s->rows.logits.rows = 1; s->rows.logits.vocab = s->rows.logits.stride = 3; s->rows.logits.temperature = 1;
    s->rows.logits.target = second; s->rows.logits.logits = &s->z; s->rows.dlogits = &s->dz;
    s->rows.part = &s->part; s->rows.logp = &s->logp; s->rows.entropy = &s->entropy;
    if (type == GRPO_LOGITS_REAL) s->z.real[0] = 2; else s->z.half[0] = 0x4000;
    memset(&s->logp, UNTOUCHED, sizeof s->logp);
    memset(&s->entropy, UNTOUCHED, sizeof s->entropy);
    s->obj.surrogate.kind = GRPO_SURROGATE_REINFORCE;
}

static grpo_status single_run(single *s) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = &s->dlogp; out.dentropy = &s->dentropy;
    return grpo_logits_loss(&s->obj, &s->batch, &s->advantage, NULL, &s->rows, &out, &s->report);
}

static double single_gradient(const single *s, int v) {
    const uint32_t bits = (uint32_t)s->dz.half[v] << 16;
    float f;
    if (s->rows.logits.type == GRPO_LOGITS_REAL) return (double)s->dz.real[v];
    if (s->rows.logits.type == GRPO_LOGITS_FLOAT16 && (s->dz.half[v] & 0x7c00) == 0x7c00) return s->dz.half[v] & 0x3ff ? NAN : HUGE_VAL;
    memcpy(&f, &bits, sizeof f);
    return s->rows.logits.type == GRPO_LOGITS_FLOAT16 ? 0 : (double)f;
}

/* finite input: no output is NaN, and an infinite one sets report.overflow */
static void check_single(const char *what, single *s, int overflows) {
    int v, infinite = 0;
    check(single_run(s) == GRPO_OK, "%s", what);
    for (v = 0; v < 3; v++) {
        const double g = single_gradient(s, v);
        check(g == g, "%s: d logits[%d] is NaN", what, v);
        infinite |= !(g < HUGE_VAL && g > -HUGE_VAL);
    }
    check(infinite == overflows, "%s: infinite %d", what, infinite);
    check(s->report.overflow || !infinite, "%s: an infinity without overflow", what);
}

static void check_extremes(void) {
    const double most = sizeof(grpo_real) == sizeof(float) ? 3e38 : 1.7e308;
    single s;
    int sign;
    for (sign = -1; sign <= 1; sign += 2) {
        single_init(&s, GRPO_LOGITS_REAL);
        s.advantage = (grpo_real)most; s.obj.penalty.entropy_coef = sign * most;
        check_single("advantage and entropy coefficient", &s, sign > 0 && most > 1e300);       /* overflow at the target's logit */
        single_init(&s, GRPO_LOGITS_FLOAT16);
        s.advantage = (grpo_real)(sign * 1e6);
        check_single("binary16", &s, 1);
        single_init(&s, GRPO_LOGITS_REAL);
        s.advantage = (grpo_real)(sign * 1e10); s.rows.logits.temperature = 1e-300; s.z.real[0] = 0;
        check_single("a small temperature", &s, 1);
    }
    single_init(&s, GRPO_LOGITS_FLOAT16);
    s.advantage = 1e4f;
    check_single("binary16 within its range", &s, 0);
    check(!s.report.overflow, "overflow where there is none");
}

/* a dual clip below the given upper bound is refused before anything is written */
static void check_dual(void) {
    grpo_real untouched_real;
    single s;
    memset(&untouched_real, UNTOUCHED, sizeof untouched_real);
    single_init(&s, GRPO_LOGITS_REAL);
    s.obj.surrogate.kind = GRPO_SURROGATE_DUAL_CLIP; s.obj.surrogate.bounds = GRPO_BOUNDS_EXTERNAL; s.obj.surrogate.clip_dual = 3;
    s.obj.ratio.behaviour = GRPO_BEHAVIOUR_OLD;
    s.high = 5;
    s.batch.eps_low = &s.low; s.batch.eps_high = &s.high; s.batch.logp_old = &s.logp_old;
    check(grpo_status_is(single_run(&s), GRPO_NOT_BEYOND), "dual 3 within 1 + 5: %s", status_line(single_run(&s)));
    check(!memcmp(&s.logp, &untouched_real, sizeof s.logp) && !memcmp(&s.entropy, &untouched_real, sizeof s.entropy),
        "refused, yet written");
    s.high = 1;
    check(single_run(&s) == GRPO_OK, "dual 3 beyond 1 + 1");
}

/* refused too: totals that are too small, a partial of other totals, more rows than memory can hold */
static void check_totals(void) {
    static grpo_partial partial;
    grpo_real untouched_real;
    grpo_totals totals;
    grpo_output out;
    single s;
    memset(&untouched_real, UNTOUCHED, sizeof untouched_real);
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    memset(&out, 0, sizeof out);
    single_init(&s, GRPO_LOGITS_REAL);
    out.dlogp = &s.dlogp; out.dentropy = &s.dentropy;
    check(grpo_logits_loss_add(&s.obj, &s.batch, &s.advantage, &totals, &s.rows, &out, &partial) == GRPO_STATUS_(GRPO_TOO_SMALL,
        GRPO_AT_totals_),
          "totals of nothing");
    partial.scales.divisor = 7;
    check(grpo_logits_loss_add(&s.obj, &s.batch, &s.advantage, NULL, &s.rows, &out, &partial) == GRPO_STATUS_(GRPO_MIXED, GRPO_AT_partial_),
          "a partial of other totals");
    check(!memcmp(&s.logp, &untouched_real, sizeof s.logp) && !memcmp(&s.entropy, &untouched_real, sizeof s.entropy),
        "refused, yet written");
    s.rows.logits.rows = INT64_MAX;
    check(grpo_logits_row_read(&s.rows.logits, INT64_MAX - 1, &s.part) == GRPO_STATUS_(GRPO_OUT_OF_RANGE, GRPO_AT_logits_rows_),
        "rows beyond all memory");
    s.rows.logits.rows = INT64_MIN;
    check(grpo_logits_batch_read(&s.rows, NULL, 1, 1) == GRPO_STATUS_(GRPO_NEGATIVE, GRPO_AT_logits_rows_), "fewer rows than none");
}

int main(void) {
    rng r = { 5 };
    int k, asked = 0;
    int64_t t;
    for (k = 0; k < 250 / DRAWS_OVER; k++) {
        grpo_objective obj;
        rollouts b;
        evaluation e;
        random_objective(&r, &obj);
        rollouts_random(&r, 0, &b);
        evaluation_random(&r, &b, &e);
        use_threads(3);
        evaluate(&obj, &b, &e);
        if (check(e.status == GRPO_OK, "%s", status_line(e.status))) {
            asked++;
            check_rows(&b, &e);
            check_loss(&obj, &b, &e);
            check_ranges(&r, &b, &e);
            for (t = 0; t < b.n_tokens; t++) if (e.rows.part[t].has_target == 1) check_slopes(&r, &e, t);
            check_threads(&obj, &b, &e);
            check_orders(&r, &obj, &b, &e);
            check_parts(&r, &obj, &b, &e);
        }
        evaluation_free(&e);
        rollouts_free(&b);
    }
    check(asked > 200 / DRAWS_OVER, "only %d batches were evaluated", asked);
    check_refused(&r);
    check_extremes();
    check_dual();
    check_totals();
    return check_summary();
}
