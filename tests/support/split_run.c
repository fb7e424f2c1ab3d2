#include "split_run.h"
#include "../../extra/grpo_context.h"
#include "scratch.h"
#include <stb_ds.h>
#include <stdlib.h>

/* A part is a batch of some of the responses: the same token arrays with other groups, offsets and lengths. */
typedef struct { grpo_batch batch; int64_t *group_begin, *offset, *length; uint8_t *truncated; grpo_real *reward, *log_partition; } part;

static int by_sequence(const void *a, const void *b) {
    const case_range *x = a, *y = b;
    return x->sequence != y->sequence ? (x->sequence < y->sequence ? -1 : 1) : (x->begin > y->begin) - (x->begin < y->begin);
}

static int64_t group_of(const test_case *c, int64_t i) {
    int64_t g = 0;
    while (c->batch.group_begin[g + 1] <= i) g++;
    return g;
}

static int same_group(const test_case *c, int64_t i, int64_t j) { return group_of(c, i) == group_of(c, j); }

/* range: (n), sorted by sequence */
static part part_of(const test_case *c, const case_range *range, int64_t n) {
    size_t most = (size_t)n + 1;
    part p;
    p.batch = c->batch;
    p.batch.group_begin = p.group_begin = calloc(most, sizeof *p.group_begin);
    p.batch.offset = p.offset = calloc(most, sizeof *p.offset);
    p.batch.length = p.length = calloc(most, sizeof *p.length);
    p.truncated = calloc(most, 1);
    p.reward = calloc(most, sizeof *p.reward);
    p.log_partition = calloc(most, sizeof *p.log_partition);
    if (!p.group_begin || !p.offset || !p.length || !p.truncated || !p.reward || !p.log_partition) abort();
    p.batch.n_groups = 0;
    p.batch.truncated = c->batch.truncated ? p.truncated : NULL;
    p.batch.reward = c->batch.reward ? p.reward : NULL;
    p.batch.log_partition = c->batch.log_partition ? p.log_partition : NULL;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = range[k].sequence;
        if (k && !same_group(c, range[k - 1].sequence, i)) p.batch.n_groups++;
        p.offset[k] = c->batch.offset[i] + range[k].begin;
        p.length[k] = range[k].end - range[k].begin;
        p.group_begin[p.batch.n_groups + 1] = k + 1;
        if (c->batch.truncated) p.truncated[k] = c->batch.truncated[i];
        if (c->batch.reward) p.reward[k] = c->batch.reward[i];
        if (c->batch.log_partition) p.log_partition[p.batch.n_groups] = c->batch.log_partition[group_of(c, i)];
    }
    p.batch.n_groups += n > 0;
    return p;
}

static void part_free(part *p) {
    free(p->group_begin);
    free(p->offset);
    free(p->length);
    free(p->truncated);
    free(p->reward);
    free(p->log_partition);
}

/* the batches that an optimiser step is evaluated in: each part by itself, or, if a part has a piece of a response or group that must be
 * whole, all parts together, as after a gather */
typedef struct { part *parts; int64_t *index; int64_t n; } units;       /* index: of the part, -1: all of the step */

static int divides_by_group(const grpo_objective *o) {
    const int kind = (int)o->aggregation.kind;
    return kind == GRPO_AGGREGATION_GROUP_MEAN || kind == GRPO_AGGREGATION_GROUP_MEAN_TOKEN_MEAN
        || kind == GRPO_AGGREGATION_GROUP_MEAN_SEQ_MEAN || kind == GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD;
}

static int holds_pieces(const test_case *c, int64_t step) {
    for (int64_t k = 0; k < c->n_parts; k++) {
        const case_part *p = &c->parts[k];
        if (p->step != step || p->kind == CASE_PART_OF_GROUPS) continue;
        if (p->kind == CASE_PART_OF_TOKENS || divides_by_group(&c->objective)) return 1;
    }
    return 0;
}

static part sorted_part(const test_case *c, case_range *range, int64_t n) {
    if (n) qsort(range, (size_t)n, sizeof *range, by_sequence);
    return part_of(c, range, n);
}

static part whole_step(const test_case *c, int64_t step) {
    case_range *range = NULL;
    part p;
    for (int64_t k = 0; k < c->n_parts; k++)
        for (int64_t j = 0; c->parts[k].step == step && j < c->parts[k].n_ranges; j++) {
            case_range x = { c->parts[k].range[j].sequence, 0, c->batch.length[c->parts[k].range[j].sequence] };
            if (!c->parts[k].range[j].begin) arrput(range, x);
        }
    p = sorted_part(c, range, arrlen(range));
    arrfree(range);
    return p;
}

static part own_part(const test_case *c, const case_part *which) {
    case_range *range = NULL;
    part p;
    for (int64_t j = 0; j < which->n_ranges; j++) arrput(range, which->range[j]);
    p = sorted_part(c, range, which->n_ranges);
    arrfree(range);
    return p;
}

static void add_unit(units *u, part p, int64_t index) {
    arrput(u->parts, p);
    arrput(u->index, index);
    u->n++;
}

static units units_of(const test_case *c, int64_t step) {
    units u = { NULL, NULL, 0 };
    if (holds_pieces(c, step)) { add_unit(&u, whole_step(c, step), -1); return u; }
    for (int64_t k = 0; k < c->n_parts; k++) if (c->parts[k].step == step) add_unit(&u, own_part(c, &c->parts[k]), k);
    return u;
}

static void units_free(units *u) {
    for (int64_t k = 0; k < u->n; k++) part_free(&u->parts[k]);
    arrfree(u->parts);
    arrfree(u->index);
}

/* ---- a step ----------------------------------------------------------------------------------------------------------------------- */

/* adds up the totals of all units of a step, then evaluates every unit with them; totals.ranks is set where ranks are averaged */
static grpo_status evaluate_step(const test_case *c, const grpo_real *advantage, const units *u, split_outcome *o) {
    grpo_totals totals;
    grpo_partial whole;
    grpo_report report;
    grpo_status st = GRPO_OK;
    memset(&totals, 0, sizeof totals);
    memset(&whole, 0, sizeof whole);
    for (int64_t k = 0; k < u->n && !st; k++) st = grpo_totals_add(&c->objective, &u->parts[k].batch, advantage, &totals);
    totals.ranks = c->added ? 0 : c->ranks;
    for (int64_t k = 0; k < u->n && !st; k++) {
        grpo_partial partial;
        grpo_output out = output_with_scratch(&c->objective, &u->parts[k].batch);
        memset(&partial, 0, sizeof partial);
        out.dlogp = o->dlogp;
        out.term = o->term;
        st = gspo_loss_add(&c->objective, &u->parts[k].batch, advantage, &totals, &out, &partial);
        free(out.scratch);
        if (!st && u->index[k] >= 0) { grpo_partial_report(&partial, &report); o->list[CASE_PART_LOSS][u->index[k]] = report.loss; }
        if (!st) st = grpo_partial_merge(&whole, &partial);
    }
    grpo_partial_report(&whole, &report);
    o->loss += report.loss;
    return st;
}

/* ---- a step whose responses are cut, from its parts ------------------------------------------------------------------------------- */

/* all responses of the step with the tokens that a part has of each; returns 0 if it has two pieces of one response */
static int context_part(const test_case *c, const case_part *which, int64_t step, part *p) {
    const int64_t n = (*p = whole_step(c, step), p->batch.n_groups ? p->group_begin[p->batch.n_groups] : 0);
    int one_piece = 1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t begin = p->offset[i], end = begin + p->length[i];
        p->length[i] = 0;
        for (int64_t j = 0; j < which->n_ranges; j++) {
            const case_range *x = &which->range[j];
            const int64_t at = c->batch.offset[x->sequence] + x->begin;
            if (x->end == x->begin || at < begin || at >= end) continue;
            one_piece &= p->length[i] == 0;
            p->offset[i] = at;
            p->length[i] = x->end - x->begin;
        }
    }
    return one_piece;
}

typedef struct { part *parts; int64_t *index, n, sequences; grpo_response *whole, *own; grpo_sum *through, *handed; } context;

/* every part of the step as a context rank; n is 0 where that is impossible, or where no response is cut */
static context context_of(const test_case *c, int64_t step, int cut) {
    context x = { NULL, NULL, 0, 0, NULL, NULL, NULL, NULL };
    int one_piece = cut && grpo_context_rounds(&c->objective) > 0;
    for (int64_t k = 0; k < c->n_parts && one_piece; k++) {
        part p;
        if (c->parts[k].step != step) continue;
        one_piece = context_part(c, &c->parts[k], step, &p);
        arrput(x.parts, p);
        arrput(x.index, k);
    }
    x.n = one_piece ? arrlen(x.parts) : 0;
    if (!x.n) return x;
    x.sequences = x.parts[0].batch.n_groups ? x.parts[0].group_begin[x.parts[0].batch.n_groups] : 0;
    x.whole = calloc((size_t)x.sequences + 1, sizeof *x.whole);
    x.own = calloc((size_t)x.sequences + 1, sizeof *x.own);
    x.through = calloc((size_t)x.sequences + 1, sizeof *x.through);
    x.handed = calloc((size_t)x.sequences + 1, sizeof *x.handed);
    if (!x.whole || !x.own || !x.through || !x.handed) abort();
    return x;
}

static void context_free(context *x) {
    for (int64_t k = 0; k < arrlen(x->parts); k++) part_free(&x->parts[k]);
    arrfree(x->parts);
    arrfree(x->index);
    free(x->whole);
    free(x->own);
    free(x->through);
    free(x->handed);
}

static grpo_status measure(const test_case *c, const grpo_real *advantage, context *x) {
    grpo_status st = GRPO_OK;
    grpo_response *sum = calloc((size_t)x->sequences + 1, sizeof *sum);
    if (!sum) abort();
    for (int round = 0; round < grpo_context_rounds(&c->objective) && !st; round++) {
        memset(sum, 0, (size_t)x->sequences * sizeof *sum);
        for (int64_t k = 0; k < x->n && !st; k++) {
            st = grpo_context_measure(&c->objective, &x->parts[k].batch, advantage, round ? x->whole : NULL, x->own);
            if (!st) grpo_context_add(sum, x->own, x->sequences);
        }
        memcpy(x->whole, sum, (size_t)x->sequences * sizeof *sum);
    }
    free(sum);
    return st;
}

/* evaluates the ranks of a context group, with additions in place of communication */
static grpo_status evaluate_context(const test_case *c, const grpo_real *advantage, context *x, split_outcome *o) {
    grpo_totals totals;
    grpo_partial whole, partial;
    grpo_report report;
    grpo_output out;
    grpo_status st = measure(c, advantage, x);
    memset(&totals, 0, sizeof totals);
    memset(&whole, 0, sizeof whole);
    memset(&out, 0, sizeof out);
    out.dlogp = o->dlogp;
    out.term = o->term;
    if (!st) st = grpo_context_totals_add(&c->objective, &x->parts[0].batch, x->whole, &totals);
    totals.ranks = c->added ? 0 : c->ranks;
    for (int64_t k = 0; k < x->n && !st; k++) {
        memset(&partial, 0, sizeof partial);
        st = grpo_context_loss_add(&c->objective, &x->parts[k].batch, advantage, x->whole, &totals, &out, k == 0, &partial, x->through);
        if (!st) grpo_context_add_sums(x->handed, x->through, x->sequences);
        if (!st) { grpo_partial_report(&partial, &report); o->list[CASE_PART_LOSS][x->index[k]] = report.loss; }
        if (!st) st = grpo_partial_merge(&whole, &partial);
    }
    for (int64_t k = 0; k < x->n && !st; k++)
        st = grpo_context_backward(&c->objective, &x->parts[k].batch, advantage, x->whole, x->handed, &out, &whole);
    grpo_partial_report(&whole, &report);
    o->loss += report.loss;
    return st;
}

/* ---- what a part reports ----------------------------------------------------------------------------------------------------------- */

static double sum_of_terms(const test_case *c, const case_part *p, const grpo_real *term) {
    double sum = 0;
    for (int64_t j = 0; j < p->n_ranges; j++)
        for (int64_t k = p->range[j].begin; k < p->range[j].end; k++) sum += (double)term[c->batch.offset[p->range[j].sequence] + k];
    return sum;
}

/* the counts of grpo_totals_add for a part without pieces of responses; of groups only if all are whole */
static void count_part(const test_case *c, const grpo_real *advantage, int64_t k, int whole_groups, split_outcome *o) {
    const int drop = c->objective.aggregation.empty_sequences == GRPO_EMPTY_SEQUENCES_DROP;
    grpo_totals n;
    part p;
    if (c->parts[k].kind == CASE_PART_OF_TOKENS) return;
    p = own_part(c, &c->parts[k]);
    memset(&n, 0, sizeof n);
    if (!grpo_totals_add(&c->objective, &p.batch, advantage, &n)) {
        o->list[CASE_PART_TOKENS][k] = (double)n.tokens;
        o->list[CASE_PART_SEQUENCES][k] = (double)(drop ? n.sequences_nonempty : n.sequences);
        if (whole_groups) o->list[CASE_PART_GROUPS][k] = (double)(drop ? n.groups_nonempty : n.groups);
    }
    part_free(&p);
}

static void report_parts(const test_case *c, const grpo_real *advantage, split_outcome *o) {
    int whole_groups = 1;
    for (int64_t k = 0; k < c->n_parts; k++) whole_groups &= c->parts[k].kind == CASE_PART_OF_GROUPS;
    for (int64_t k = 0; k < c->n_parts; k++) {
        o->list[CASE_PART_SUM][k] = sum_of_terms(c, &c->parts[k], o->term);
        count_part(c, advantage, k, whole_groups, o);
    }
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------------- */

static split_outcome with_room(const test_case *c) {
    split_outcome o;
    memset(&o, 0, sizeof o);
    o.dlogp = calloc((size_t)c->batch.n_tokens + 1, sizeof *o.dlogp);
    o.term = calloc((size_t)c->batch.n_tokens + 1, sizeof *o.term);
    if (!o.dlogp || !o.term) abort();
    for (int k = 0; k <= CASE_PART_LOSS; k++) {
        o.list[k] = malloc(((size_t)c->n_parts + 1) * sizeof *o.list[k]);
        if (!o.list[k]) abort();
        for (int64_t p = 0; p < c->n_parts; p++) o.list[k][p] = NAN;
    }
    return o;
}

split_outcome split_run(const test_case *c, const grpo_real *advantage) {
    split_outcome o = with_room(c);
    int64_t last = 0;
    for (int64_t k = 0; k < c->n_parts; k++) if (c->parts[k].step > last) last = c->parts[k].step;
    for (int64_t step = 0; step <= last && !o.status; step++) {
        units u = units_of(c, step);
        const int cut = u.n > 0 && u.index[0] < 0;
        context x = context_of(c, step, cut);
        o.gathered |= cut && !x.n;
        o.cut |= x.n > 0;
        o.status = x.n > 0 ? evaluate_context(c, advantage, &x, &o) : evaluate_step(c, advantage, &u, &o);
        context_free(&x);
        units_free(&u);
    }
    for (int64_t k = 0; k < c->batch.n_tokens && !c->added; k++) o.dlogp[k] /= (grpo_real)c->ranks;
    if (!c->added) o.loss /= (double)c->ranks;
    if (!o.status) report_parts(c, advantage, &o);
    return o;
}

void split_outcome_free(split_outcome *o) {
    free(o->dlogp);
    free(o->term);
    for (int k = 0; k < CASE_N_LISTS; k++) free(o->list[k]);
}
