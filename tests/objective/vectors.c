/* vectors DIRECTORY: the headers against every vector but those with logits or hidden states (vectors_rows.c) and calls (calls.c). */
#include "../support/check.h"
#include "../support/status.h"
#include "../support/compare.h"
#include "../support/split_run.h"
#include <stdlib.h>

typedef struct {
    double worst;           /* in ulps of scale, of outputs computed from the case's own input */
    long cases, numbers, unheld;
    long cut, gathered;         /* splits whose parts have pieces of responses or groups: evaluated from the pieces, or gathered */
    long to_the_bit;            /* splits whose bits were compared */
} tally;

static void check_number(const char *what, double limit, const test_case *c, const compared *n) {
    if (n->sequence < 0)
        check(n->error <= limit, "%s %s: %s: expected %.17g, found %.17g, error %.3g ulps of scale %.3g", c->id, what, n->key, n->expected,
              n->found, n->error, n->scale);
    else
        check(n->error <= limit, "%s %s: %s sequence %lld token %lld: expected %.17g, found %.17g, error %.3g ulps of scale %.3g", c->id,
              what, n->key, (long long)n->sequence, (long long)n->token, n->expected, n->found, n->error, n->scale);
}

static void count_exact(void *user, const test_case *c, const compared *n) {
    tally *t = user;
    t->numbers++;
    if (n->error > t->worst) t->worst = n->error;
    check_number("alone", COMPARE_LIMIT, c, n);
}

static int check_status(const test_case *c, const char *what, grpo_status expected, grpo_status found) {
    return check(expected == found || (expected && grpo_status_is(found, (int)expected)), "%s %s: expected status \"%s\", found \"%s\"",
        c->id, what, status_line(expected),
                 status_line(found));
}

static void check_same(const test_case *c, const char *what, const outcome *a, const outcome *b) {
    const char *difference = outcome_difference(a, b);
    check(!difference, "%s %s: %s differs in its bits", c->id, what, difference ? difference : "");
}

/* ---- one case ------------------------------------------------------------------------------------------------------------------- */

static void check_dynamic_sampling_mask(const test_case *c) {
    int64_t n = c->batch.n_groups;
    uint8_t *keep = malloc((size_t)n + 1);
    if (!keep) abort();
    memset(keep, 2, (size_t)n + 1);
    if (check_status(c, "dynamic_sampling_mask", GRPO_OK, grpo_dynamic_sampling_mask(&c->batch, keep)))
        for (int64_t g = 0; g < n; g++)
            check(keep[g] == c->dynamic_sampling_mask[g], "%s dynamic_sampling_mask: group %lld: expected %d, found %d", c->id,
                  (long long)g, c->dynamic_sampling_mask[g], keep[g]);
    free(keep);
}

static int found_infinity(const outcome *o) {
    for (int64_t k = 0; k < o->n_tokens; k++) if (!grpo_is_finite((double)o->dlogp[k])) return 1;
    return !grpo_is_finite(o->report.loss);
}

/* grpo_loss gives the bits of gspo_loss for token-level objectives, and refuses the others */
static void check_token_level(const test_case *c, const grpo_real *advantage, const outcome *loss, const outcome *parts) {
    outcome token_loss = outcome_of_loss(c, &c->objective, advantage, grpo_loss);
    outcome token_parts = outcome_of_parts(c, &c->objective, advantage, grpo_loss_add);
    if (c->objective.ratio.level == GRPO_LEVEL_TOKEN && c->objective.penalty.preference == GRPO_PREFERENCE_NONE) {
        check_same(c, "grpo_loss and gspo_loss", &token_loss, loss);
        check_same(c, "grpo_loss_add and gspo_loss_add", &token_parts, parts);
    } else {
        check_status(c, "grpo_loss", GRPO_NEEDS_GSPO, token_loss.status);
        check_status(c, "grpo_loss_add", GRPO_NEEDS_GSPO, token_parts.status);
    }
    outcome_free(&token_loss);
    outcome_free(&token_parts);
}

static void check_loss(tally *t, const test_case *c, const grpo_real *advantage) {
    outcome loss = outcome_of_loss(c, &c->objective, advantage, gspo_loss);
    outcome parts = outcome_of_parts(c, &c->objective, advantage, gspo_loss_add);
    check_token_level(c, advantage, &loss, &parts);
    if (check_status(c, "gspo_loss", GRPO_OK, loss.status) && check_status(c, "gspo_loss_add", GRPO_OK, parts.status)) {
        check_same(c, "gspo_loss and gspo_loss_add", &loss, &parts);
        check(parts.report.overflow || !found_infinity(&parts), "%s: an infinity without report.overflow", c->id);
        compare_loss(c, &parts, count_exact, t);
    }
    outcome_free(&loss);
    outcome_free(&parts);
}

/* the factor from an advantage's error, in ulps of its own scale, to ulps of a term's scale: above 1 where the advantage cancels */
static double amplification(const test_case *c, int64_t k, grpo_real own, grpo_real expected) {
    return own == expected ? 0 : c->advantage.scale[k] / fabs(c->advantage.expect[k]);
}

typedef struct { const grpo_real *own, *expected; } chain;

static void count_chained(void *user, const test_case *c, const compared *n) {
    const chain *a = user;
    int64_t first = n->sequence < 0 ? 0 : c->batch.offset[n->sequence];
    int64_t end = n->sequence < 0 ? c->batch.n_tokens : first + c->batch.length[n->sequence];
    double worst = 0;
    for (int64_t k = first; k < end; k++) worst = fmax(worst, amplification(c, k, a->own[k], a->expected[k]));
    check_number("chain", COMPARE_LIMIT * (1 + worst), c, n);
}

/* rewards to gradient */
static void check_chain(const test_case *c, const grpo_real *own, const grpo_real *expected) {
    outcome loss = outcome_of_parts(c, &c->objective, own, gspo_loss_add);
    chain a;
    a.own = own;
    a.expected = expected;
    if (check_status(c, "chain", GRPO_OK, loss.status)) compare_loss(c, &loss, count_chained, &a);
    outcome_free(&loss);
}

static int check_advantages(tally *t, const test_case *c, const outcome *own) {
    if (!check_status(c, "grpo_advantages", GRPO_OK, own->status)) return 0;
    compare_advantage(c, own, count_exact, t);
    return 1;
}

static void check_case(tally *t, const test_case *c) {
    grpo_real *expected = compare_expected_advantage(c);
    t->cases++;
    if (c->dynamic_sampling_mask) check_dynamic_sampling_mask(c);
    if (expected) check_loss(t, c, expected);
    else t->unheld++;
    if (c->advantage.expect) {
        outcome own = outcome_of_advantages(c, &c->objective);
        if (check_advantages(t, c, &own) && expected) check_chain(c, own.advantage, expected);
        outcome_free(&own);
    }
    free(expected);
}

/* ---- splits ------------------------------------------------------------------------------------------------------------------------ */

static void check_split_number(tally *t, const test_case *c, const char *what, int64_t k, double found, double expected, double scale,
                               int stored) {
    const double error = compare_error(found, expected, scale, stored);
    t->numbers++;
    if (error > t->worst) t->worst = error;
    check(error <= COMPARE_LIMIT, "%s: %s[%lld]: expected %.17g, found %.17g, error %.3g ulps of scale %.3g", c->id, what, (long long)k,
          expected, found, error, scale);
}

/* is number k of the list one that no function gives for a part with pieces of responses: a count, or the value that it differentiates? */
static int may_be_missing(const test_case *c, const split_outcome *o, int list, int64_t k) {
    if (list == CASE_PART_SUM) return 0;
    if (list == CASE_PART_LOSS) return o->gathered;
    return c->parts[k].kind == CASE_PART_OF_TOKENS || (list == CASE_PART_GROUPS && c->parts[k].kind != CASE_PART_OF_GROUPS);
}

static void check_list(tally *t, const test_case *c, const split_outcome *o, int list) {
    for (int64_t k = 0; o->list[list] && k < c->n_parts; k++) {
        const double found = o->list[list][k];
        if (found != found) check(may_be_missing(c, o, list, k), "%s: %s[%lld] is missing", c->id, case_list_name[list], (long long)k);
        else check_split_number(t, c, case_list_name[list], k, found, c->list[list].expect[k], c->list[list].scale[k], 1);
    }
}

/* if the split is one step of the whole batch without a factor on its shares, the merged parts have the bits of the whole */
static void check_merged(tally *t, const test_case *c, const grpo_real *advantage, const split_outcome *o) {
    outcome whole;
    if (!c->all_at_once || (!c->added && c->ranks > 1)) return;
    whole = outcome_of_parts(c, &c->objective, advantage, gspo_loss_add);
    check(whole.report.loss == o->loss, "%s: the loss of the parts is %.17g, of the whole %.17g", c->id, o->loss, whole.report.loss);
    for (int64_t k = 0; k < c->batch.n_tokens; k++)
        check(whole.dlogp[k] == o->dlogp[k], "%s: dlogp %lld of the parts is %.17g, of the whole %.17g", c->id, (long long)k,
              (double)o->dlogp[k], (double)whole.dlogp[k]);
    outcome_free(&whole);
    t->to_the_bit++;
}

static void check_split(tally *t, const test_case *c) {
    grpo_real *advantage = compare_expected_advantage(c);
    split_outcome o = split_run(c, advantage);
    t->cases++;
    t->gathered += o.gathered;
    t->cut += o.cut;
    if (check_status(c, "split", GRPO_OK, o.status)) {
        check_split_number(t, c, "loss", 0, o.loss, c->loss, c->loss_scale, 0);
        for (int64_t k = 0; k < c->batch.n_tokens; k++)
            check_split_number(t, c, "dlogp", k, (double)o.dlogp[k], c->dlogp.expect[k], c->dlogp.scale[k], 1);
        for (int list = 0; list < CASE_N_LISTS; list++) check_list(t, c, &o, list);
        check_merged(t, c, advantage, &o);
    }
    split_outcome_free(&o);
    free(advantage);
}

/* ---- refusals --------------------------------------------------------------------------------------------------------------------- */

static int all_unwritten(const grpo_real *x, int64_t n) {
    for (int64_t k = 0; x && k < n; k++) if (x[k] == x[k]) return 0;
    return 1;
}

static int is_unwritten(const outcome *o) {
    return all_unwritten(o->advantage, o->n_tokens) && all_unwritten(o->dlogp, o->n_tokens) && all_unwritten(o->dentropy, o->n_tokens)
        && all_unwritten(o->term, o->n_tokens) && all_unwritten(o->dlog_partition, o->n_groups);
}

/* evaluates advantages, if none are given, then the loss, which checks the input that it alone reads */
static outcome refused_outcome(const test_case *c, int parts) {
    outcome o = outcome_of_advantages(c, &c->objective);
    grpo_real *given = NULL;
    if (o.status && !c->given) return o;
    if (c->given) given = compare_expected_advantage(c);
    else { given = o.advantage; o.advantage = NULL; }
    outcome_free(&o);
    o = parts ? outcome_of_parts(c, &c->objective, given, gspo_loss_add) : outcome_of_loss(c, &c->objective, given, gspo_loss);
    free(given);
    return o;
}

static void check_refused(const test_case *c, int parts) {
    outcome o = refused_outcome(c, parts);
    check(o.status != GRPO_OK, "%s: not refused: %s", c->id, c->reason);
    check(case_names_fault(c, status_line(o.status)), "%s: the status \"%s\" does not name what is wrong: %s", c->id,
          status_line(o.status), c->reason);
    check(is_unwritten(&o), "%s: refused, and something is written", c->id);
    outcome_free(&o);
}

/* input that no batch can represent is refused by the reader */
static void check_refusal(tally *t, const test_case *c) {
    t->cases++;
    if (!c->unread) for (int parts = 0; parts < 2; parts++) check_refused(c, parts);
    else check(case_names_fault(c, c->unread), "%s: the reader says \"%s\", which does not name what is wrong: %s", c->id, c->unread,
               c->reason);
}

/* ---- files and presets ---------------------------------------------------------------------------------------------------------- */

static const grpo_preset *preset_named(const char *name) {
    int n, count_of_presets;
    const grpo_preset *preset = grpo_presets(&count_of_presets);
    for (n = 0; n < count_of_presets; n++) if (!strcmp(preset[n].name, name)) return &preset[n];
    return NULL;
}

/* the case whose objective is the row unchanged */
static const test_case *plain_case(const case_file *file) {
    char id[160];
    snprintf(id, sizeof id, "%s-moderate", file->variant);
    for (int64_t k = 0; k < file->n_cases; k++) if (!strcmp(file->cases[k].id, id)) return &file->cases[k];
    return file->n_cases ? &file->cases[0] : NULL;
}

static void check_fields(const test_case *c, const grpo_objective *row) {
    int n, n_fields;
    const grpo_field *field = grpo_fields(&n_fields);
    for (n = 0; n < n_fields; n++) {
        double vector = grpo_objective_get(&c->objective, &field[n]), preset = grpo_objective_get(row, &field[n]);
        check(vector == preset, "%s: %s is %.17g in the vector, %.17g in the preset", c->id, field[n].path, vector, preset);
    }
}

static void check_preset(const case_file *file) {
    const grpo_preset *preset = preset_named(file->variant);
    const test_case *c = plain_case(file);
    grpo_objective row;
    if (!check(preset != NULL, "%s: no preset of that name", file->variant)) return;
    check(!strcmp(preset->paper, file->paper), "%s: paper is \"%s\" in the vectors, \"%s\" in the preset", file->variant, file->paper,
          preset->paper);
    check(!strcmp(preset->equations, file->equations), "%s: equations are \"%s\" in the vectors, \"%s\" in the preset", file->variant,
          file->equations, preset->equations);
    if (!check(c != NULL, "%s: no cases", file->variant)) return;
    if (check_status(c, "grpo_objective_named", GRPO_OK, grpo_objective_named(file->variant, &row))) check_fields(c, &row);
}

static void check_ids(const case_file *file, const char *name) {
    size_t length = strlen(name);
    check(!strcmp(file->variant, name), "%s: the file's variant is \"%s\"", name, file->variant);
    for (int64_t k = 0; k < file->n_cases; k++)
        check(!strncmp(file->cases[k].id, name, length) && file->cases[k].id[length] == '-', "%s: an id that does not begin with %s-",
              file->cases[k].id, name);
}

static void check_file(void *user, const char *name, const case_file *file) {
    tally t = { 0, 0, 0, 0, 0, 0, 0 };
    (void)user;
    check_ids(file, name);
    if (*file->paper) check_preset(file);
    for (int64_t k = 0; k < file->n_cases; k++) {
        if (file->cases[k].kind == CASE_OBJECTIVE) check_case(&t, &file->cases[k]);
        if (file->cases[k].kind == CASE_SPLIT) check_split(&t, &file->cases[k]);
        if (file->cases[k].kind == CASE_REFUSE) check_refusal(&t, &file->cases[k]);
    }
    printf("%s: %ld cases, %ld numbers, worst %.3g ulps", name, t.cases, t.numbers, t.worst);
    if (t.unheld) printf(", %ld with advantages that no element holds", t.unheld);
    if (t.cut) printf(", %ld from pieces of responses", t.cut);
    if (t.gathered) printf(", %ld whose parts are evaluated together", t.gathered);
    if (t.to_the_bit) printf(", %ld to the bits of the whole", t.to_the_bit);
    putchar('\n');
}

int main(int argc, char **argv) {
    case_list list;
    int n, n_presets;
    const grpo_preset *preset = grpo_presets(&n_presets);
    if (argc != 2) return fputs("usage: vectors DIRECTORY\n", stderr), 2;
    if (case_list_read(argv[1], &list)) return fprintf(stderr, "%s: cannot be read\n", argv[1]), 2;
    check(!case_each_file(argv[1], check_file, NULL), "%s: not all can be read", argv[1]);
    for (n = 0; n < n_presets; n++) check(case_list_has(&list, preset[n].name), "preset %s: no vectors", preset[n].name);
    case_list_free(&list);
    return check_summary();
}
