#include "compare.h"
#include "scratch.h"

const compare_precision compare_f64 = { "f64", DBL_EPSILON, DBL_MAX, 4 * 4.9406564584124654e-324 };
const compare_precision compare_f32 = { "f32", (double)FLT_EPSILON, (double)FLT_MAX, 1.4012984643248171e-45 };
const compare_precision compare_bf16 = { "bf16", 0.0078125, 3.3895313892515355e38, 9.1835496157991212e-41 };
#ifdef GRPO_DOUBLE
#define COMPARE_REAL (&compare_f64)
#else
#define COMPARE_REAL (&compare_f32)
#endif

const char *const compare_output_name[COMPARE_N_OUTPUTS] = { "advantage", "term", "loss", "dlogp", "dentropy", "ddivergence_ref",
    "dlog_partition", "report" };

typedef struct { const char *key; size_t offset; int count; } metric;      /* count: an int64_t, else a double */

#define METRIC(name) { #name, offsetof(grpo_report, name), 0 },
#define COUNT(name) { #name, offsetof(grpo_report, name), 1 },
static const metric metrics[] = { CASE_METRICS(METRIC, COUNT) };
enum { N_METRICS = sizeof metrics / sizeof *metrics };

static double metric_value(const metric *m, const grpo_report *report) {
    const char *p = (const char *)report + m->offset;
    int64_t count;
    double value;
    if (m->count) { memcpy(&count, p, sizeof count); return (double)count; }
    memcpy(&value, p, sizeof value);
    return value;
}

int compare_metric(const grpo_report *report, const char *key, double *value) {
    int n = 0;
    while (n < N_METRICS && strcmp(metrics[n].key, key)) n++;
    if (n < N_METRICS) *value = metric_value(&metrics[n], report);
    return n < N_METRICS;
}

const char *compare_metric_name(int n) { return n < N_METRICS ? metrics[n].key : NULL; }

/* ---- the error of one number ---------------------------------------------------------------------------------------------------- */

/* may `expected` round to an infinity? */
static int beyond(const compare_precision *p, double expected, double scale) {
    return fabs(expected) + COMPARE_LIMIT * p->eps * fmin(scale, p->max) >= p->max;
}

static double error_of(const compare_precision *p, double found, double expected, double scale, int stored) {
    double excess;
    if (found == expected) return 0;
    if (stored && found == copysign(HUGE_VAL, expected) && beyond(p, expected, scale)) return 0;
    if (!grpo_is_finite(found) || !grpo_is_finite(expected) || !(scale > 0)) return HUGE_VAL;
    excess = fabs(found - expected) - p->tiny;
    return excess <= 0 ? 0 : excess / scale / p->eps;
}

int compare_holds(const compare_precision *p, double x) {
    return x == 0 || !grpo_is_finite(x) || (fabs(x) <= p->max && fabs(x) >= p->tiny);
}

double compare_error_in(const compare_precision *p, double found, double expected, double scale) {
    return error_of(p, found, expected, scale, 1);
}

double compare_error(double found, double expected, double scale, int stored) {
    return error_of(COMPARE_REAL, found, expected, scale, stored);
}

/* ---- evaluations ---------------------------------------------------------------------------------------------------------------- */

static grpo_real *unwritten(int64_t count) {
    grpo_real *p = malloc(((size_t)count + 1) * sizeof *p);
    if (!p) abort();
    for (int64_t k = 0; k < count; k++) p[k] = (grpo_real)nan("");
    return p;
}

static outcome nothing(const test_case *c) {
    outcome o;
    memset(&o, 0, sizeof o);
    o.n_tokens = c->batch.n_tokens;
    o.n_groups = c->batch.n_groups;
    return o;
}

outcome outcome_of_advantages(const test_case *c, const grpo_objective *obj) {
    outcome o = nothing(c);
    o.advantage = unwritten(o.n_tokens);
    o.status = grpo_advantages(obj, &c->batch, o.advantage);
    return o;
}

outcome outcome_of_loss(const test_case *c, const grpo_objective *obj, const grpo_real *advantage, loss_function *loss) {
    outcome o = nothing(c);
    grpo_output out = output_with_scratch(obj, &c->batch);
    out.dlogp = o.dlogp = unwritten(o.n_tokens);
    out.dentropy = o.dentropy = unwritten(o.n_tokens);
    out.ddivergence_ref = o.ddivergence_ref = unwritten(o.n_tokens);
    out.dlog_partition = o.dlog_partition = unwritten(o.n_groups);
    o.status = loss(obj, &c->batch, advantage, NULL, &out, &o.report);
    free(out.scratch);
    return o;
}

outcome outcome_of_parts(const test_case *c, const grpo_objective *obj, const grpo_real *advantage, loss_add_function *add) {
    outcome o = nothing(c);
    grpo_totals totals;
    grpo_output out = output_with_scratch(obj, &c->batch);
    grpo_partial partial;
    memset(&totals, 0, sizeof totals);
    memset(&partial, 0, sizeof partial);
    out.dlogp = o.dlogp = unwritten(o.n_tokens);
    out.dentropy = o.dentropy = unwritten(o.n_tokens);
    out.ddivergence_ref = o.ddivergence_ref = unwritten(o.n_tokens);
    out.term = o.term = unwritten(o.n_tokens);
    out.dlog_partition = o.dlog_partition = unwritten(o.n_groups);
    o.status = grpo_totals_add(obj, &c->batch, advantage, &totals);
    if (!o.status) o.status = add(obj, &c->batch, advantage, &totals, &out, &partial);
    free(out.scratch);
    if (!o.status) grpo_partial_report(&partial, &o.report);
    return o;
}

void outcome_free(outcome *o) {
    free(o->advantage);
    free(o->dlogp);
    free(o->dentropy);
    free(o->ddivergence_ref);
    free(o->term);
    free(o->dlog_partition);
    memset(o, 0, sizeof *o);
}

static int elements_differ(const grpo_real *a, const grpo_real *b, int64_t count) {
    return a && b && memcmp(a, b, (size_t)count * sizeof *a) != 0;
}

/* field by field, since padding may differ */
static const char *report_difference(const grpo_report *a, const grpo_report *b) {
    for (int k = 0; k < N_METRICS; k++)
        if (memcmp((const char *)a + metrics[k].offset, (const char *)b + metrics[k].offset, 8)) return metrics[k].key;
    return memcmp(&a->loss, &b->loss, sizeof a->loss) ? "loss" : NULL;
}

/* the flag covers the arrays that were written: not compared between evaluations that wrote different ones */
static int overflow_differs(const outcome *a, const outcome *b) {
    return !a->term == !b->term && a->report.overflow != b->report.overflow;
}

const char *outcome_difference(const outcome *a, const outcome *b) {
    if (a->status != b->status) return "status";
    if (elements_differ(a->advantage, b->advantage, a->n_tokens)) return "advantage";
    if (elements_differ(a->dlogp, b->dlogp, a->n_tokens)) return "dlogp";
    if (elements_differ(a->dentropy, b->dentropy, a->n_tokens)) return "dentropy";
    if (elements_differ(a->ddivergence_ref, b->ddivergence_ref, a->n_tokens)) return "ddivergence_ref";
    if (elements_differ(a->term, b->term, a->n_tokens)) return "term";
    if (elements_differ(a->dlog_partition, b->dlog_partition, a->n_groups)) return "dlog_partition";
    if (overflow_differs(a, b)) return "overflow";
    return report_difference(&a->report, &b->report);
}

/* ---- a case against its answers ------------------------------------------------------------------------------------------------- */

grpo_real *compare_expected_advantage(const test_case *c) {
    int64_t n = c->batch.n_tokens;
    grpo_real *advantage = unwritten(n);
    for (int64_t k = 0; k < n; k++) {
        double a = c->given ? (double)c->given[k] : c->advantage.expect[k];
        advantage[k] = (grpo_real)a;
        if (grpo_is_finite(a) && (!grpo_is_finite((double)advantage[k]) || (advantage[k] == 0 && a != 0))) { free(advantage); return NULL; }
    }
    return advantage;
}

static void compare_elements(const test_case *c, compare_output output, const grpo_real *found, const case_answer *answer,
                             compare_sink *sink, void *user) {
    compared n;
    n.output = output;
    n.key = compare_output_name[output];
    for (n.sequence = 0; n.sequence < c->n_sequences; n.sequence++) {
        for (n.token = 0; n.token < c->batch.length[n.sequence]; n.token++) {
            int64_t k = c->batch.offset[n.sequence] + n.token;
            n.found = (double)found[k];
            n.expected = answer->expect[k];
            n.scale = answer->scale[k];
            n.error = compare_error(n.found, n.expected, n.scale, 1);
            sink(user, c, &n);
        }
    }
}

static void compare_groups(const test_case *c, const outcome *o, compare_sink *sink, void *user) {
    compared n;
    n.output = COMPARE_DLOG_Z;
    n.key = compare_output_name[n.output];
    n.token = -1;
    for (n.sequence = 0; n.sequence < c->batch.n_groups; n.sequence++) {
        n.found = (double)o->dlog_partition[n.sequence];
        n.expected = c->dlog_partition.expect[n.sequence];
        n.scale = c->dlog_partition.scale[n.sequence];
        n.error = compare_error(n.found, n.expected, n.scale, 1);
        sink(user, c, &n);
    }
}

static void compare_number(const test_case *c, compare_output output, const char *key, double found, double expected, double scale,
                           compare_sink *sink, void *user) {
    compared n;
    n.output = output;
    n.key = key;
    n.sequence = n.token = -1;
    n.found = found;
    n.expected = expected;
    n.scale = scale;
    n.error = compare_error(found, expected, scale, 0);
    sink(user, c, &n);
}

/* a metric that only one side has is an error: NaN stands for the missing value */
static void compare_report(const test_case *c, const grpo_report *report, compare_sink *sink, void *user) {
    uint8_t known[N_METRICS] = { 0 };
    for (int64_t k = 0; k < c->n_report; k++) {
        const case_metric *m = &c->report[k];
        int n = 0;
        while (n < N_METRICS && strcmp(metrics[n].key, m->key)) n++;
        if (n < N_METRICS) known[n] = 1;
        compare_number(c, COMPARE_REPORT, m->key, n < N_METRICS ? metric_value(&metrics[n], report) : nan(""), m->expect, m->scale, sink,
                       user);
    }
    for (int n = 0; n < N_METRICS; n++)
        if (!known[n]) compare_number(c, COMPARE_REPORT, metrics[n].key, metric_value(&metrics[n], report), nan(""), 0, sink, user);
}

void compare_advantage(const test_case *c, const outcome *o, compare_sink *sink, void *user) {
    compare_elements(c, COMPARE_ADVANTAGE, o->advantage, &c->advantage, sink, user);
}

void compare_loss(const test_case *c, const outcome *o, compare_sink *sink, void *user) {
    if (o->term) compare_elements(c, COMPARE_TERM, o->term, &c->term, sink, user);
    compare_elements(c, COMPARE_DLOGP, o->dlogp, &c->dlogp, sink, user);
    if (c->dentropy.expect) compare_elements(c, COMPARE_DENTROPY, o->dentropy, &c->dentropy, sink, user);
    if (c->ddivergence_ref.expect) compare_elements(c, COMPARE_DDIVERGENCE_REF, o->ddivergence_ref, &c->ddivergence_ref, sink, user);
    if (c->dlog_partition.expect) compare_groups(c, o, sink, user);
    compare_number(c, COMPARE_LOSS, "loss", o->report.loss, c->loss, c->loss_scale, sink, user);
    compare_report(c, &o->report, sink, user);
}
