/* cuts.c - one batch, cut in every way that trainers cut it: the loss and its gradient have the bits of the whole batch.
 *
 *     cc -std=c99 -O2 examples/cuts.c -lm -o cuts && ./cuts gspo dapo gvpo reinforce++
 *     ./cuts --all            every row of OBJECTIVES.md that reads no more than this batch has
 *
 * A program that cuts a batch has four passes over its parts, with a communication after each:
 *     1. grpo_moments_add, of whole groups            -> grpo_moments_merge over all ranks         (if A depends on the whole batch)
 *     2. grpo_advantages_with_moments, of whole groups
 *     3. grpo_totals_add, once A is there             -> sum of 64-bit integers over all ranks
 *     4. gspo_loss_add                                -> grpo_partial_merge over all ranks
 * Responses of which every rank has a piece go through the functions of extra/grpo_context.h instead of 3 and 4. */
#define GRPO_CONTEXT_IMPLEMENTATION
#include "../extra/grpo_context.h"
#define GRPO_LINT_IMPLEMENTATION
#include "../extra/grpo_lint.h"
#include <stdio.h>
#include <stdlib.h>

enum { PROMPTS = 6, RESPONSES = 17, LONGEST = 24, TOKENS = RESPONSES * LONGEST, RANKS = 2, MICRO = 3 };

/* the batch: prompts with unequal numbers of responses, responses of several turns with a tool's answer, masked, between them */
static const int64_t group_begin[PROMPTS + 1] = { 0, 4, 7, 8, 10, 14, RESPONSES };
static int64_t offset[RESPONSES], length[RESPONSES];
static float logp[TOKENS], logp_old[TOKENS], logp_ref[TOKENS], logp_rollout[TOKENS], logp_teacher[TOKENS], entropy[TOKENS], value[TOKENS];
static uint8_t mask[TOKENS], turn_end[TOKENS], truncated[RESPONSES];
static float reward[RESPONSES], baseline[PROMPTS], log_partition[PROMPTS];

typedef struct { float advantage[TOKENS], dlogp[TOKENS], dentropy[TOKENS]; grpo_report report; } answer;

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text));
    exit(1);
}

static void *room(int64_t n, size_t size) {
    void *x = calloc((size_t)n + 1, size);
    if (!x) { fputs("out of memory\n", stderr); exit(1); }
    return x;
}

static float unit(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(state >> 40) * 0x1p-24f;
}

static void sample(void) {
    for (int i = 0; i < RESPONSES; i++) {
        const int tool = 2 + (int)(3 * unit());                             /* the tool's answer follows the first `tool` tokens */
        offset[i] = i * LONGEST;
        length[i] = 6 + (int64_t)((LONGEST - 5) * unit());
        reward[i] = (float)(int)(3 * unit()) / 2;
        truncated[i] = length[i] == LONGEST;
        for (int64_t t = offset[i]; t < offset[i] + length[i]; t++) {
            const int64_t at = t - offset[i];
            mask[t] = at < tool || at >= tool + 2;
            turn_end[t] = at == tool - 1 || at == length[i] - 1;
            logp[t] = -3 * unit();
            logp_old[t] = logp[t] + 0.4f * (unit() - 0.5f);
            logp_ref[t] = logp[t] + unit() - 0.5f;
            logp_teacher[t] = logp[t] + unit() - 0.5f;
            logp_rollout[t] = logp_old[t] + (at < tool ? 0.2f : 0.02f) * (unit() - 0.5f);      /* the rest: under newer weights */
            entropy[t] = 2 * unit();
            value[t] = unit();
        }
    }
    for (int g = 0; g < PROMPTS; g++) { baseline[g] = unit(); log_partition[g] = unit(); }
}

/* a part: responses, or pieces of them, in any order.  Arrays per token are those of the batch; those per response and per group are in the
 * order of the part */
typedef struct {
    int64_t groups, n, begin[RESPONSES + 1], offset[RESPONSES], length[RESPONSES];
    float reward[RESPONSES], baseline[RESPONSES], log_partition[RESPONSES];
    uint8_t truncated[RESPONSES];
} part;

static int group_of(int i) {
    int g = 0;
    while (i >= group_begin[g + 1]) g++;
    return g;
}

/* adds count tokens of response i, from `from` on */
static void put(part *p, int i, int new_group, int64_t from, int64_t count) {
    if (new_group) {
        p->begin[p->groups] = p->n;
        p->baseline[p->groups] = baseline[group_of(i)];
        p->log_partition[p->groups++] = log_partition[group_of(i)];
    }
    p->offset[p->n] = offset[i] + from; p->length[p->n] = count;
    p->reward[p->n] = reward[i]; p->truncated[p->n] = truncated[i];
    p->begin[p->groups] = ++p->n;
}

static grpo_batch view(const part *p) {
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = p->groups; b.group_begin = p->begin; b.offset = p->offset; b.length = p->length; b.n_tokens = TOKENS;
    b.logp = logp; b.logp_old = logp_old; b.logp_ref = logp_ref; b.logp_rollout = logp_rollout; b.logp_teacher = logp_teacher;
    b.entropy = entropy; b.value = value; b.mask = mask; b.segment_end = turn_end;
    b.reward = p->reward; b.truncated = p->truncated; b.baseline = p->baseline; b.log_partition = p->log_partition;
    return b;
}

/* ---- ways of cutting ----------------------------------------------------------------------------------------------------------------- */

static void all_in_one(part *p) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < RESPONSES; i++) put(p, i, i == group_begin[group_of(i)], 0, length[i]);
}

static void whole_groups(part p[MICRO]) {
    memset(p, 0, MICRO * sizeof *p);
    for (int i = 0; i < RESPONSES; i++) put(&p[group_of(i) % MICRO], i, i == group_begin[group_of(i)], 0, length[i]);
}

static int is_longer(const void *a, const void *b) {
    const int i = *(const int *)a, j = *(const int *)b;
    return length[i] != length[j] ? (length[i] > length[j] ? 1 : -1) : i - j;
}

/* responses of all prompts by their length, each a group of its own */
static void any_responses(part p[MICRO]) {
    int order[RESPONSES];
    memset(p, 0, MICRO * sizeof *p);
    for (int i = 0; i < RESPONSES; i++) order[i] = i;
    qsort(order, RESPONSES, sizeof *order, is_longer);
    for (int k = 0; k < RESPONSES; k++) put(&p[MICRO * k / RESPONSES], order[k], 1, 0, length[order[k]]);
}

/* each rank of a context group has a piece of every response of the micro-batch */
static void pieces(part p[MICRO][RANKS]) {
    memset(p, 0, MICRO * sizeof *p);
    for (int i = 0; i < RESPONSES; i++)
        for (int c = 0; c < RANKS; c++) {
            const int64_t from = length[i] * c / RANKS, end = length[i] * (c + 1) / RANKS;
            put(&p[group_of(i) % MICRO][c], i, i == group_begin[group_of(i)], from, end - from);
        }
}

/* micro-batches of any responses that know all responses of their groups: what is elsewhere has length 0 */
static void cut_groups(part p[RANKS]) {
    memset(p, 0, RANKS * sizeof *p);
    for (int i = 0; i < RESPONSES; i++)
        for (int c = 0; c < RANKS; c++) put(&p[c], i, i == group_begin[group_of(i)], 0, i % RANKS == c ? length[i] : 0);
}

/* ---- evaluation ---------------------------------------------------------------------------------------------------------------------- */

static grpo_output output_of(const grpo_objective *o, const grpo_batch *b, answer *a) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy;
    out.scratch_size = gspo_scratch(o, b);
    out.scratch = (double *)room(out.scratch_size, sizeof *out.scratch);    /* free it after the call */
    return out;
}

/* passes 1 and 2, of parts that are whole groups */
static void advantages(const grpo_objective *o, const part *p, int parts, answer *a) {
    grpo_moments of_rank[RANKS], all;
    memset(of_rank, 0, sizeof of_rank); memset(&all, 0, sizeof all);
    for (int k = 0; k < parts; k++) {
        const grpo_batch b = view(&p[k]);
        ask(grpo_moments_add(o, &b, &of_rank[k % RANKS]));
    }
    for (int r = 0; r < RANKS; r++) ask(grpo_moments_merge(&all, &of_rank[r]));     /* MPI_Allgather: they are no sums of integers */
    for (int k = 0; k < parts; k++) {
        const grpo_batch b = view(&p[k]);
        ask(grpo_advantages_with_moments(o, &b, &all, a->advantage));
    }
}

static void finish(const grpo_totals *totals, const grpo_partial *merged, answer *a) {
    grpo_finding finding[GRPO_LINT_MOST];
    char text[GRPO_LINT_MESSAGE_SIZE];
    const int n = grpo_lint_parts(totals, merged, NULL, finding, GRPO_LINT_MOST);
    for (int k = 0; k < n; k++) printf("    %s\n", grpo_finding_message(&finding[k], text, sizeof text));
    grpo_partial_report(merged, &a->report);
}

/* passes 3 and 4, of parts that are whole responses, in turns on the ranks */
static void whole_responses(const grpo_objective *o, const part *p, int parts, answer *a) {
    grpo_totals of_rank[RANKS], totals;
    grpo_partial partial[RANKS], merged;
    memset(of_rank, 0, sizeof of_rank); memset(&totals, 0, sizeof totals);
    memset(partial, 0, sizeof partial); memset(&merged, 0, sizeof merged);
    for (int k = 0; k < parts; k++) {
        const grpo_batch b = view(&p[k]);
        ask(grpo_totals_add(o, &b, a->advantage, &of_rank[k % RANKS]));
    }
    for (int r = 0; r < RANKS; r++) ask(grpo_totals_merge(&totals, &of_rank[r]));   /* or MPI_Allreduce, MPI_INT64_T, MPI_SUM */
    for (int k = 0; k < parts; k++) {
        const grpo_batch b = view(&p[k]);
        const grpo_output out = output_of(o, &b, a);
        ask(gspo_loss_add(o, &b, a->advantage, &totals, &out, &partial[k % RANKS]));
        free(out.scratch);
    }
    for (int r = 0; r < RANKS; r++) ask(grpo_partial_merge(&merged, &partial[r]));  /* MPI_Allgather */
    finish(&totals, &merged, a);
}

typedef struct { grpo_response whole[RESPONSES]; grpo_sum through[RESPONSES]; } records;

/* what the ranks of a context group measure, added up; adds the whole responses to totals */
static void measure(const grpo_objective *o, const part p[RANKS], const answer *a, records *x, grpo_totals *totals) {
    static grpo_response own[RESPONSES], sum[RESPONSES];
    for (int round = 0; round < grpo_context_rounds(o); round++) {
        memset(sum, 0, sizeof sum);
        for (int c = 0; c < RANKS; c++) {
            const grpo_batch b = view(&p[c]);
            ask(grpo_context_measure(o, &b, a->advantage, round ? x->whole : NULL, own));
            grpo_context_add(sum, own, p[c].n);                                     /* MPI_Allreduce over the context group */
        }
        memcpy(x->whole, sum, sizeof sum);
    }
    const grpo_batch b = view(&p[0]);
    ask(grpo_context_totals_add(o, &b, x->whole, totals));                          /* once for the context group */
}

/* in_turn: every response is whole in its part, so that its sum `through` is complete there, and no part waits for the next one */
static void evaluate_pieces(const grpo_objective *o, const part p[RANKS], const grpo_totals *totals, records *x, answer *a, int in_turn,
                            grpo_partial *merged) {
    static grpo_sum own[RESPONSES];
    grpo_partial partial[RANKS];
    grpo_output out;
    memset(partial, 0, sizeof partial); memset(&out, 0, sizeof out); memset(x->through, 0, sizeof x->through);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy;
    for (int c = 0; c < RANKS; c++) {
        const grpo_batch b = view(&p[c]);
        ask(grpo_context_loss_add(o, &b, a->advantage, x->whole, totals, &out, c == 0, &partial[c], own));
        if (in_turn) ask(grpo_context_backward(o, &b, a->advantage, x->whole, own, &out, &partial[c]));
        else grpo_context_add_sums(x->through, own, p[c].n);                        /* MPI_Allreduce over the context group */
    }
    for (int c = 0; c < RANKS; c++) {
        const grpo_batch b = view(&p[c]);
        if (!in_turn) ask(grpo_context_backward(o, &b, a->advantage, x->whole, x->through, &out, &partial[c]));
        ask(grpo_partial_merge(merged, &partial[c]));                               /* over all ranks */
    }
}

/* passes 3 and 4 of `parts` micro-batches, each on the ranks of a context group */
static void in_pieces(const grpo_objective *o, part p[][RANKS], int parts, int in_turn, answer *a) {
    static records x[MICRO];
    grpo_totals totals;
    grpo_partial merged;
    memset(&totals, 0, sizeof totals); memset(&merged, 0, sizeof merged);
    for (int k = 0; k < parts; k++) measure(o, p[k], a, &x[k], &totals);
    for (int k = 0; k < parts; k++) evaluate_pieces(o, p[k], &totals, &x[k], a, in_turn, &merged);
    finish(&totals, &merged, a);
}

/* ---- comparison ---------------------------------------------------------------------------------------------------------------------- */

/* 1 if loss, gradients and clip fraction have the bits of the whole */
static int same(const answer *whole, answer *cut) {
    const int is = !memcmp(whole->dlogp, cut->dlogp, sizeof cut->dlogp) && !memcmp(whole->dentropy, cut->dentropy, sizeof cut->dentropy)
        && !memcmp(&whole->report.loss, &cut->report.loss, sizeof(double)) && whole->report.clip_fraction == cut->report.clip_fraction;
    memset(cut->dlogp, 0, sizeof cut->dlogp); memset(cut->dentropy, 0, sizeof cut->dentropy);
    return is;
}

static int show(const char *how, int is, int quiet) {
    if (!quiet) printf("  %-62s %s\n", how, is ? "every bit" : "OTHER");
    return !is;
}

/* the number of cuts that change a bit */
static int cut_in_all_ways(const grpo_objective *o, const answer *whole, int quiet) {
    static part groups[MICRO], any[MICRO], piece[MICRO][RANKS];
    static answer cut;
    const int needs_groups = grpo_context_needs_groups(o);
    const grpo_status in_one = grpo_context_check(o);
    char text[GRPO_MESSAGE_SIZE];
    int other = 0;
    memset(&cut, 0, sizeof cut);
    whole_groups(groups); any_responses(any); pieces(piece);
    advantages(o, groups, MICRO, &cut);
    other += show("advantages of whole groups, with the moments of all", !memcmp(whole->advantage, cut.advantage, sizeof cut.advantage),
                  quiet);
    whole_responses(o, groups, MICRO, &cut);
    other += show("three micro-batches of whole groups, on two ranks", same(whole, &cut), quiet);
    if (!needs_groups) {
        whole_responses(o, any, MICRO, &cut);
        other += show("three micro-batches of any responses by length, on two ranks", same(whole, &cut), quiet);
    }
    if (!in_one) {
        in_pieces(o, piece, MICRO, 0, &cut);
        other += show("three micro-batches, every response cut over two ranks", same(whole, &cut), quiet);
        cut_groups(piece[0]);
        in_pieces(o, piece, 1, 1, &cut);
        other += show("two micro-batches of any responses that know their groups", same(whole, &cut), quiet);
    }
    if (!quiet && needs_groups) puts("  its loss depends on groups: any responses as groups of their own give another one");
    if (!quiet && in_one) printf("  no pieces of responses: %s\n", grpo_status_message(in_one, text, sizeof text));
    return other;
}

/* -1: the batch lacks what the objective reads */
static int cut_one(const grpo_objective *o, int quiet) {
    static answer whole;
    static part one;
    char text[GRPO_MESSAGE_SIZE];
    memset(&whole, 0, sizeof whole);
    all_in_one(&one);
    const grpo_batch b = view(&one);
    grpo_status st = grpo_advantages(o, &b, whole.advantage);
    if (!st) {
        const grpo_output out = output_of(o, &b, &whole);
        st = gspo_loss(o, &b, whole.advantage, NULL, &out, &whole.report);
        free(out.scratch);
    }
    if (st && !quiet) printf("  %s\n", grpo_status_message(st, text, sizeof text));
    return st ? -1 : cut_in_all_ways(o, &whole, quiet);
}

static int cut_all(void) {
    int n, cut = 0, lack = 0, wrong = 0;
    const grpo_preset *row = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        const grpo_objective o = grpo_objective_from_preset(&row[k]);
        const int other = cut_one(&o, 1);
        if (other < 0) { lack++; continue; }
        cut++;
        wrong += other > 0;
        if (other) printf("%s: OTHER\n", row[k].name);
    }
    printf("%d rows cut, every bit in %d; %d read what this batch does not have\n", cut, cut - wrong, lack);
    return wrong > 0;
}

int main(int argc, char **argv) {
    int wrong = 0;
    sample();
    if (argc < 2) return fputs("usage: cuts --all | ROW ...\n", stderr), 2;
    if (!strcmp(argv[1], "--all")) return cut_all();
    for (int k = 1; k < argc; k++) {
        grpo_objective o;
        ask(grpo_objective_named(argv[k], &o));
        puts(argv[k]);
        wrong += cut_one(&o, 0) != 0;
    }
    return wrong > 0;
}
