/* extra/grpo_context.h: every response is cut at random places over one to five ranks, some of which get no token; loss, gradients, terms
 * and report have the bits of gspo_loss, for every row that can be cut and for random objectives; the others are refused.  Totals count
 * what the merged partials do, and are the same where logp is not there yet.  If the loss needs no groups, micro-batches of arbitrary
 * responses, each a group of its own, give the bits of the whole batch; if it does, they give a different loss.  If A needs no moments,
 * grpo_advantages of each group alone gives the bits of the whole batch; if it does, other ones. */
#include "../../extra/grpo_context.h"
#include "../../extra/grpo_lint.h"
#include "../support/check.h"
#include "../support/random_objective.h"
#include "../support/scratch.h"
#include "../support/small_batch.h"
#include "../support/status.h"

enum { RANKS = 5, OBJECTIVES = 2000 };

/* ---- the inputs and outputs of the ranks ---- */

typedef struct {
    grpo_batch batch;
    int64_t *offset, *length;
    grpo_response *part;
    grpo_sum *through;
    grpo_partial partial;
} context_rank;

typedef struct { grpo_real *dlogp, *dentropy, *ddivergence_ref, *term; grpo_report report; } answer;

static grpo_output output_of(const answer *a) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy; out.ddivergence_ref = a->ddivergence_ref; out.term = a->term;
    return out;
}

static answer answer_room(int64_t tokens) {
    answer a;
    memset(&a, 0, sizeof a);
    a.dlogp = test_alloc(tokens, sizeof *a.dlogp);
    a.dentropy = test_alloc(tokens, sizeof *a.dentropy);
    a.ddivergence_ref = test_alloc(tokens, sizeof *a.ddivergence_ref);
    a.term = test_alloc(tokens, sizeof *a.term);
    memset(a.dlogp, 1, (size_t)tokens * sizeof *a.dlogp);
    memset(a.dentropy, 1, (size_t)tokens * sizeof *a.dentropy);
    memset(a.ddivergence_ref, 1, (size_t)tokens * sizeof *a.ddivergence_ref);
    memset(a.term, 1, (size_t)tokens * sizeof *a.term);
    return a;
}

static void answer_free(answer *a) { free(a->dlogp); free(a->dentropy); free(a->ddivergence_ref); free(a->term); }

/* cuts every response into `ranks` pieces, and assigns them to the ranks in an order drawn for each response */
static void cut(rng *r, const rollouts *b, int ranks, context_rank *rank) {
    for (int k = 0; k < ranks; k++) {
        memset(&rank[k], 0, sizeof rank[k]);
        rank[k].batch = rollouts_view(b);
        rank[k].batch.offset = rank[k].offset = test_alloc(b->n_sequences, sizeof *rank[k].offset);
        rank[k].batch.length = rank[k].length = test_alloc(b->n_sequences, sizeof *rank[k].length);
        rank[k].part = test_alloc(b->n_sequences, sizeof *rank[k].part);
        rank[k].through = test_alloc(b->n_sequences, sizeof *rank[k].through);
    }
    for (int64_t i = 0; i < b->n_sequences; i++) {
        int64_t begin = 0, first = rng_below(r, ranks);
        for (int k = 0; k < ranks; k++) {
            context_rank *to = &rank[(first + k) % ranks];
            const int64_t left = b->length[i] - begin, n = k == ranks - 1 ? left : rng_below(r, left + 1);
            to->offset[i] = b->offset[i] + begin;
            to->length[i] = n;
            begin += n;
        }
    }
}

static void ranks_free(context_rank *rank, int ranks) {
    for (int k = 0; k < ranks; k++) { free(rank[k].offset); free(rank[k].length); free(rank[k].part); free(rank[k].through); }
}

/* ---- the protocol of the header, with additions in place of communication ---- */

static void add_parts(const context_rank *rank, int ranks, int64_t n, grpo_response *whole) {
    memset(whole, 0, (size_t)n * sizeof *whole);
    for (int k = 0; k < ranks; k++) grpo_context_add(whole, rank[k].part, n);
}

static void add_through(const context_rank *rank, int ranks, int64_t n, grpo_sum *through) {
    memset(through, 0, (size_t)n * sizeof *through);
    for (int k = 0; k < ranks; k++) grpo_context_add_sums(through, rank[k].through, n);
}

/* the records of the whole responses.  late: logp_old stands in for logp */
static grpo_status measure_all(const grpo_objective *obj, const rollouts *b, const grpo_real *A, context_rank *rank, int ranks, int late,
                               grpo_response *whole) {
    const int64_t n = b->n_sequences;
    grpo_status st = GRPO_OK;
    for (int round = 0; round < grpo_context_rounds(obj) && !st; round++) {
        for (int k = 0; k < ranks && !st; k++) {
            const int in_place = round > 0 && k % 2 == 1;
            grpo_batch batch = rank[k].batch;
            if (late) batch.logp = batch.logp_old;
            if (in_place) memcpy(rank[k].part, whole, (size_t)n * sizeof *whole);
            st = grpo_context_measure(obj, &batch, A, in_place ? rank[k].part : round ? whole : NULL, rank[k].part);
        }
        if (!st) add_parts(rank, ranks, n, whole);
    }
    return st;
}

static grpo_status run_in_parts(const grpo_objective *obj, const rollouts *b, const grpo_real *A, context_rank *rank, int ranks,
                                answer *a) {
    const int64_t n = b->n_sequences;
    grpo_response *whole = test_alloc(n, sizeof *whole);
    grpo_sum *through = test_alloc(n, sizeof *through);
    const grpo_output out = output_of(a);
    grpo_totals totals, early;
    grpo_partial all;
    grpo_status st;
    memset(&totals, 0, sizeof totals);
    memset(&early, 0, sizeof early);
    memset(&all, 0, sizeof all);
    st = measure_all(obj, b, A, rank, ranks, 1, whole);
    if (!st) st = grpo_context_totals_add(obj, &rank[0].batch, whole, &early);
    if (!st) st = measure_all(obj, b, A, rank, ranks, 0, whole);
    if (!st) st = grpo_context_totals_add(obj, &rank[0].batch, whole, &totals);
    if (!st) check(!memcmp(&totals, &early, sizeof totals), "totals depend on logp");
    for (int k = 0; k < ranks && !st; k++)
        st = grpo_context_loss_add(obj, &rank[k].batch, A, whole, &totals, &out, k == ranks - 1, &rank[k].partial, rank[k].through);
    if (!st) add_through(rank, ranks, n, through);
    for (int k = ranks - 1; k >= 0 && !st; k--) st = grpo_context_backward(obj, &rank[k].batch, A, whole, through, &out, &rank[k].partial);
    for (int k = 0; k < ranks && !st; k++) st = grpo_partial_merge(&all, &rank[k].partial);
    if (!st) check(grpo_lint_parts(&totals, &all, NULL, NULL, 0) == 0, "totals and the merged partial count differently");
    grpo_partial_report(&all, &a->report);
    free(whole);
    free(through);
    return st;
}

/* ---- comparisons ---- */

static int same(const void *a, const void *b, int64_t n, size_t size) { return n == 0 || memcmp(a, b, (size_t)n * size) == 0; }

static void compare(const char *name, const answer *whole, const answer *parts, int64_t tokens) {
    check(same(whole->dlogp, parts->dlogp, tokens, sizeof(grpo_real)), "%s: dlogp of parts", name);
    check(same(whole->dentropy, parts->dentropy, tokens, sizeof(grpo_real)), "%s: dentropy of parts", name);
    check(same(whole->ddivergence_ref, parts->ddivergence_ref, tokens, sizeof(grpo_real)), "%s: ddivergence_ref of parts", name);
    check(same(whole->term, parts->term, tokens, sizeof(grpo_real)), "%s: terms of parts", name);
    check(same(&whole->report, &parts->report, 1, sizeof(grpo_report)), "%s: report of parts: loss %.17g, %.17g, sequences %d, %d", name,
          whole->report.loss, parts->report.loss, (int)whole->report.sequences, (int)parts->report.sequences);
}

static grpo_real *random_advantages(rng *r, const rollouts *b) {
    grpo_real *A = test_alloc(b->n_tokens, sizeof *A);
    const int each = rng_chance(r, 50);
    for (int64_t t = 0; t < b->n_tokens; t++) A[t] = 0;
    for (int64_t i = 0; i < b->n_sequences; i++) {
        const double of_response = rng_chance(r, 20) ? 0 : rng_bell(r);
        for (int64_t t = 0; t < b->length[i]; t++) A[b->offset[i] + t] = (grpo_real)(each ? rng_bell(r) : of_response);
    }
    return A;
}

static void check_cut(const char *name, const grpo_objective *obj, uint64_t seed, int kind) {
    context_rank rank[RANKS];
    rng r = { seed };
    const int ranks = 1 + (int)rng_below(&r, RANKS);
    rollouts b;
    grpo_batch view;
    grpo_real *A;
    answer whole, parts;
    grpo_output out;
    grpo_status st;
    rollouts_random(&r, kind, &b);
    view = rollouts_view(&b);
    A = random_advantages(&r, &b);
    whole = answer_room(b.n_tokens);
    parts = answer_room(b.n_tokens);
    out = output_of(&whole);
    cut(&r, &b, ranks, rank);
    st = gspo_loss(obj, &view, A, NULL, &out, &whole.report);
    if (check(st == GRPO_OK, "%s: the whole is refused", name)) {
        st = run_in_parts(obj, &b, A, rank, ranks, &parts);
        if (check(st == GRPO_OK, "%s: parts are refused: %s", name, grpo_status_text(st))) compare(name, &whole, &parts, b.n_tokens);
    }
    ranks_free(rank, ranks);
    answer_free(&whole);
    answer_free(&parts);
    free(A);
    rollouts_free(&b);
}

/* ---- micro-batches of whole responses that cut groups ---- */

typedef struct { int64_t *begin, *offset, *length; grpo_real *reward; uint8_t *truncated; } alone;

/* the responses in a random order, each a group of its own */
static alone alone_room(rng *r, const rollouts *b) {
    const int64_t n = b->n_sequences;
    alone a;
    int64_t *order = test_alloc(n, sizeof *order);
    a.begin = test_alloc(n + 1, sizeof *a.begin);
    a.offset = test_alloc(n, sizeof *a.offset);
    a.length = test_alloc(n, sizeof *a.length);
    a.reward = test_alloc(n, sizeof *a.reward);
    a.truncated = test_alloc(n, sizeof *a.truncated);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    rng_shuffle(r, order, n);
    for (int64_t i = 0; i < n; i++) {
        a.begin[i] = i;
        a.offset[i] = b->offset[order[i]];
        a.length[i] = b->length[order[i]];
        a.reward[i] = b->reward[order[i]];
        a.truncated[i] = b->truncated[order[i]];
    }
    a.begin[n] = n;
    free(order);
    return a;
}

static void alone_free(alone *a) { free(a->begin); free(a->offset); free(a->length); free(a->reward); free(a->truncated); }

static grpo_status run_alone(const grpo_objective *obj, const rollouts *b, const grpo_real *A, const alone *a, int parts, answer *to) {
    grpo_totals totals;
    grpo_partial all;
    grpo_status st = GRPO_OK;
    memset(&totals, 0, sizeof totals);
    memset(&all, 0, sizeof all);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < parts && !st; k++) {
            const int64_t first = b->n_sequences * k / parts;
            grpo_batch view = rollouts_view(b);
            grpo_output out = output_of(to);
            grpo_output room;
            view.n_groups = b->n_sequences * (k + 1) / parts - first;
            view.group_begin = a->begin + first;
            view.offset = a->offset; view.length = a->length; view.reward = a->reward; view.truncated = a->truncated;
            view.log_partition = NULL;                                 /* (groups), which a single response lacks */
            room = output_with_scratch(obj, &view);
            out.scratch = room.scratch; out.scratch_size = room.scratch_size;
            st = pass == 0 ? grpo_totals_add(obj, &view, A, &totals) : gspo_loss_add(obj, &view, A, &totals, &out, &all);
            free(room.scratch);
        }
    grpo_partial_report(&all, &to->report);
    return st;
}

/* does the loss change if each response is a group of its own? */
static int check_alone(const char *name, const grpo_objective *obj, uint64_t seed, int kind) {
    rng r = { seed };
    rollouts b;
    grpo_batch view;
    grpo_output out, room;
    grpo_status st;
    int other = 0;
    rollouts_random(&r, kind, &b);
    view = rollouts_view(&b);
    grpo_real *A = random_advantages(&r, &b);
    answer whole = answer_room(b.n_tokens), parts = answer_room(b.n_tokens);
    alone a = alone_room(&r, &b);
    out = output_of(&whole);
    room = output_with_scratch(obj, &view);
    out.scratch = room.scratch; out.scratch_size = room.scratch_size;
    st = gspo_loss(obj, &view, A, NULL, &out, &whole.report);
    if (!st) {
        st = run_alone(obj, &b, A, &a, 1 + (int)rng_below(&r, b.n_sequences < 4 ? b.n_sequences : 4), &parts);
        check(!st || grpo_context_needs_groups(obj), "%s: refused where responses stand alone: %s", name, grpo_status_text(st));
        other = whole.report.loss != parts.report.loss;
        parts.report.groups = whole.report.groups;
        parts.report.degenerate_groups = whole.report.degenerate_groups;
        if (!st && !grpo_context_needs_groups(obj)) compare(name, &whole, &parts, b.n_tokens);
    }
    free(room.scratch);
    alone_free(&a);
    answer_free(&whole);
    answer_free(&parts);
    free(A);
    rollouts_free(&b);
    return other;
}

static const int kinds[] = { 0, RANDOM_NEG_INF, RANDOM_SMALL, RANDOM_LONG };

static void check_rows(void) {
    int n, k, taken = 0, refused = 0;
    const grpo_preset *p = grpo_presets(&n);
    for (k = 0; k < n; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&p[k]);
        const grpo_status st = grpo_context_check(&obj);
        if (grpo_status_is(st, GRPO_WHOLE_RESPONSE)) { refused++; continue; }
        taken++;
        for (int j = 0; j < (k % 8 ? 3 : 4); j++) check_cut(p[k].name, &obj, (uint64_t)(100 * k + j), kinds[j]);
    }
    printf("%d rows from parts of responses, %d need whole ones\n", taken, refused);
    check(taken > 3 * refused, "most rows go");
}

static void check_rows_alone(void) {
    int n, alike = 0, apart = 0;
    const grpo_preset *p = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&p[k]);
        int other = 0;
        for (int j = 0; j < 4; j++) other += check_alone(p[k].name, &obj, (uint64_t)(300 * k + j), kinds[j % 3]);
        if (!grpo_context_needs_groups(&obj)) { alike++; continue; }
        apart++;
        check(other > 0, "%s: needs groups, and gives the same without", p[k].name);
    }
    printf("%d rows from micro-batches of any responses, %d need whole groups\n", alike, apart);
    check(alike > 3 * apart, "most rows need no groups");
}

/* does A change if grpo_advantages is called for each group alone? */
static int check_advantages(const char *name, const grpo_objective *obj, uint64_t seed) {
    rng r = { seed };
    rollouts b;
    int other = 0;
    rollouts_random(&r, 0, &b);
    if (seed % 2) for (int64_t i = 0; i < b.n_sequences; i++) b.reward[i] = (grpo_real)rng_chance(&r, 50);      /* right or wrong */
    const grpo_batch view = rollouts_view(&b);
    grpo_real *whole = test_alloc(b.n_tokens, sizeof *whole), *single = test_alloc(b.n_tokens, sizeof *single);
    for (int64_t t = 0; t < b.n_tokens; t++) whole[t] = single[t] = 0;
    if (!grpo_advantages(obj, &view, whole)) {
        for (int64_t g = 0; g < b.n_groups; g++) {
            grpo_batch part = view;
            part.n_groups = 1;
            part.group_begin += g; part.baseline += g; part.log_partition += g;
            const grpo_status st = grpo_advantages(obj, &part, single);
            check(!st, "%s: the advantages of group %d: %s", name, (int)g, grpo_status_text(st));
        }
        other = !same(whole, single, b.n_tokens, sizeof *whole);
        if (other) check(grpo_context_needs_moments(obj), "%s: needs no moments, and other advantages in parts", name);
    }
    free(whole);
    free(single);
    rollouts_free(&b);
    return other;
}

static void check_rows_advantages(void) {
    int n, apart = 0;
    const grpo_preset *p = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        const grpo_objective obj = grpo_objective_from_preset(&p[k]);
        int other = 0;
        for (int j = 0; j < 8; j++) other += check_advantages(p[k].name, &obj, (uint64_t)(500 * k + j));
        if (!grpo_context_needs_moments(&obj)) continue;
        apart++;
        check(other > 0, "%s: needs moments, and gives the same advantages without", p[k].name);
    }
    printf("%d rows whose advantages need moments of the whole batch, %d that do not\n", apart, n - apart);
    check(apart > 20 && apart < n / 2, "some rows need moments");
}

/* sets every field that needs whole responses to its first choice; 0: the result is no valid objective */
static int make_cuttable(rng *r, grpo_objective *obj) {
    static const double levels[] = { GRPO_LEVEL_TOKEN, GRPO_LEVEL_SEQUENCE_MEAN, GRPO_LEVEL_SEQUENCE_SUM,
                                     GRPO_LEVEL_SEQUENCE_CLIPPED_MEAN };
    grpo_status st;
    while (grpo_status_is(st = grpo_context_check(obj), GRPO_WHOLE_RESPONSE)) {
        const char *field = grpo_status_what(st);
        if (grpo_objective_set(obj, field, strcmp(field, "ratio.level") ? 0 : rng_pick(r, levels, 4))) return 0;
    }
    return st == GRPO_OK;
}

static void check_random(void) {
    int taken = 0;
    rng r = { 11 };
    for (int k = 0; k < OBJECTIVES / DRAWS_OVER; k++) {
        char name[40];
        grpo_objective obj;
        random_objective(&r, &obj);
        sprintf(name, "objective %d", k);
        check_alone(name, &obj, 9000 + (uint64_t)k, kinds[k % 3]);
        check_advantages(name, &obj, 13000 + (uint64_t)k);
        if (!make_cuttable(&r, &obj)) continue;
        taken++;
        check_cut(name, &obj, 7000 + (uint64_t)k, kinds[k % 16 == 3 ? 3 : k % 3]);
    }
    check(taken > OBJECTIVES / DRAWS_OVER / 3, "%d of %d random objectives go", taken, OBJECTIVES / DRAWS_OVER);
}

/* ---- refusals ---- */

static void check_obstacle(const char *path, const char *choice, const char *row) {
    char text[GRPO_MESSAGE_SIZE];
    grpo_objective obj;
    grpo_status st;
    check(!grpo_objective_named(row, &obj) && !grpo_objective_choose(&obj, path, choice), "%s %s can be said", path, choice);
    st = grpo_context_check(&obj);
    check(grpo_status_is(st, GRPO_WHOLE_RESPONSE) && strcmp(grpo_status_what(st), path) == 0, "%s %s: %s", path, choice,
          grpo_status_message(st, text, sizeof text));
    check(grpo_context_rounds(&obj) == 0, "%s %s has no rounds", path, choice);
}

/* grpo_totals from records read the layout of the batch and no other array */
static void check_layout_is_asked(const grpo_objective *obj, const rollouts *b, const grpo_response *whole) {
    const int64_t first = b->length[0];
    grpo_batch bare;
    grpo_totals totals;
    grpo_status st;
    memset(&bare, 0, sizeof bare); memset(&totals, 0, sizeof totals);
    bare.n_groups = b->n_groups; bare.group_begin = b->group_begin; bare.offset = b->offset; bare.length = b->length;
    bare.n_tokens = b->n_tokens;
    check(grpo_context_totals_add(obj, &bare, whole, &totals) == GRPO_OK, "no array is asked for");
    check(totals.sequences == b->n_sequences && totals.tokens == 0, "responses are counted");
    b->length[0] = -1;
    st = grpo_context_totals_add(obj, &bare, whole, &totals);
    check(grpo_status_is(st, GRPO_NEGATIVE) && !strcmp(grpo_status_what(st), "batch.length"), "a negative length: %s",
          grpo_status_text(st));
    check(totals.sequences == b->n_sequences, "a negative length: something was counted");
    b->length[0] = first;
}

/* ---- contents: each of the four functions refuses what is wrong, by name and place, and writes nothing ---- */

typedef struct {
    grpo_objective obj;
    rollouts b;
    grpo_batch batch;
    grpo_real advantage[TOKENS];
    grpo_response whole[SEQUENCES];
    grpo_totals totals;
    grpo_partial partial;
    grpo_sum through[SEQUENCES];
    struct { grpo_response part[SEQUENCES]; grpo_totals totals; grpo_sum through[SEQUENCES]; grpo_real dlogp[TOKENS]; } out;
} call;

enum { MEASURE = 1, TOTALS = 2, LOSS = 4, BACKWARD = 8, CALLS = 4, ALL = 15 };
static const char *const call_names[CALLS] = { "context_measure", "context_totals_add", "context_loss_add", "context_backward" };

static grpo_status run_call(call *c, int which) {
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = c->out.dlogp;
    switch (which) {
    case MEASURE: return grpo_context_measure(&c->obj, &c->batch, c->advantage, c->whole, c->out.part);
    case TOTALS: return grpo_context_totals_add(&c->obj, &c->batch, c->whole, &c->out.totals);
    case LOSS:
        return grpo_context_loss_add(&c->obj, &c->batch, c->advantage, c->whole, &c->totals, &out, 1, &c->partial, c->out.through);
    default: return grpo_context_backward(&c->obj, &c->batch, c->advantage, c->whole, c->through, &out, &c->partial);
    }
}

/* a valid call after the loss, so that each of the four would write something */
static void make_call(call *c) {
    memset(c, 0, sizeof *c);
    check(!grpo_objective_named("gspo", &c->obj), "gspo");
    c->obj.surrogate.eps_high = 1;                                  /* no ratio is clipped */
    fill_batch(&c->b);
    c->batch = rollouts_view(&c->b);
    for (int t = 0; t < TOKENS; t++) c->advantage[t] = 1;
    check(!grpo_context_measure(&c->obj, &c->batch, c->advantage, NULL, c->whole), "measure");
    check(!grpo_context_totals_add(&c->obj, &c->batch, c->whole, &c->totals), "totals");
    check(!run_call(c, LOSS), "loss");
    memcpy(c->through, c->out.through, sizeof c->through);
    memset(&c->out.totals, 0, sizeof c->out.totals);
}

static void set_nothing(call *c) { (void)c; }
static void set_no_objective(call *c) { c->obj.surrogate.eps_low = NAN; }
static void set_obstacle(call *c) { c->obj.ratio.level = GRPO_LEVEL_SEGMENT_MEAN; }
static void set_layout(call *c) { c->b.length[3] = -1; }
static void set_array(call *c) { c->b.token[TOKEN_LOGP][LAST_UNMASKED] = (grpo_real)NAN; }
static void set_advantage(call *c) { c->advantage[LAST_UNMASKED] = (grpo_real)INFINITY; }
static void set_reward(call *c) { c->obj.aggregation.kind = GRPO_AGGREGATION_TOKEN_MEAN_NONZERO_STD; c->b.reward[1] = (grpo_real)NAN; }
static void set_record(call *c) { c->whole[3].nll_tokens = -1; }
static void set_totals(call *c) { c->totals.groups = c->out.totals.groups = -1; }
static void set_partial(call *c) { c->partial.rejected_tokens = -1; }
static void set_no_divisor(call *c) { c->partial.scales.divisor = 0; }

/* what is set, the calls that refuse it, and how; the others do not notice */
static const struct { void (*set)(call *c); int refuse; int rule; const char *thing; } contents[] = {
    { set_nothing, 0, GRPO_NO_RULE, "" },
    { set_no_objective, ALL, GRPO_NAN, "surrogate.eps_low" },
    { set_obstacle, ALL, GRPO_WHOLE_RESPONSE, "ratio.level" },
    { set_layout, ALL, GRPO_NEGATIVE, "batch.length[3]" },
    { set_array, MEASURE | LOSS | BACKWARD, GRPO_NAN, "batch.logp[7]" },
    { set_advantage, MEASURE | LOSS | BACKWARD, GRPO_INFINITE, "advantage[7]" },
    { set_reward, ALL, GRPO_NAN, "batch.reward[1]" },                      /* this divisor counts the groups whose rewards differ */
    { set_record, ALL, GRPO_OUT_OF_RANGE, "whole[3]" },
    { set_totals, TOTALS | LOSS, GRPO_OUT_OF_RANGE, "totals" },
    { set_partial, LOSS | BACKWARD, GRPO_OUT_OF_RANGE, "partial" },
    { set_no_divisor, BACKWARD, GRPO_OUT_OF_RANGE, "partial" },
};

static void check_contents(size_t k, int n) {
    static call c, before;
    grpo_status st;
    int written;
    make_call(&c);
    contents[k].set(&c);
    before = c;
    st = run_call(&c, 1 << n);
    written = memcmp(&c.out, &before.out, sizeof c.out) || memcmp(&c.partial, &before.partial, sizeof c.partial);
    if (contents[k].refuse & 1 << n) {
        check(says(call_names[n], st, contents[k].rule, contents[k].thing), "%s, %s: \"%s\"", call_names[n], contents[k].thing,
              status_line(st));
        check(!written, "%s, %s: something was written", call_names[n], contents[k].thing);
    } else {
        check(st == GRPO_OK, "%s, %s: \"%s\"", call_names[n], contents[k].thing, status_line(st));
        check(written, "%s beside %s: nothing was written", call_names[n], contents[k].thing);
    }
    rollouts_free(&c.b);
}

static grpo_status backward_of_nothing(const grpo_objective *obj, const grpo_batch *view, const grpo_response *whole) {
    const int64_t n = view->group_begin[view->n_groups];
    grpo_sum *through = test_alloc(n, sizeof *through);
    grpo_real *advantage = test_alloc(view->n_tokens, sizeof *advantage);
    grpo_partial partial;
    grpo_status st;
    memset(through, 0, (size_t)n * sizeof *through); memset(&partial, 0, sizeof partial);
    memset(advantage, 0, (size_t)view->n_tokens * sizeof *advantage);
    st = grpo_context_backward(obj, view, advantage, whole, through, NULL, &partial);
    free(through); free(advantage);
    return st;
}

static void check_refusals(void) {
    rng r = { 5 };
    rollouts b;
    grpo_batch view;
    grpo_objective obj;
    grpo_response *part;
    grpo_totals totals;
    check_obstacle("ratio.level", "segment_mean", "gspo");
    check_obstacle("ratio.level", "prefix_sum", "gspo");
    check_obstacle("ratio.level", "sequence_mean_ratio", "gspo");
    check_obstacle("surrogate.kind", "discriminative_mean", "gspo");
    check_obstacle("weight.rollout_is_level", "segment_mean", "tis");
    check_obstacle("aggregation.kind", "seq_mean_segment_mean", "grpo");
    check_obstacle("aggregation.kind", "seq_mean_by_sign", "grpo");
    rollouts_random(&r, 0, &b);
    view = rollouts_view(&b);
    part = test_alloc(b.n_sequences, sizeof *part);
    memset(part, 0, (size_t)b.n_sequences * sizeof *part);
    memset(&totals, 0, sizeof totals);
    check(!grpo_objective_named("gspo", &obj), "gspo");
    part[0].tokens = -1;
    check(grpo_status_is(grpo_context_totals_add(&obj, &view, part, &totals), GRPO_OUT_OF_RANGE), "a negative count is refused");
    check(grpo_status_is(grpo_context_totals_add(&obj, &view, NULL, &totals), GRPO_NULL), "no records are refused");
    check(grpo_status_is(grpo_context_totals_add(&obj, &view, part + 0, NULL), GRPO_OUT_OF_RANGE) && totals.tokens == 0,
          "nothing is written");
    part[0].tokens = 0;
    check_layout_is_asked(&obj, &b, part);
    check(grpo_status_is(backward_of_nothing(&obj, &view, part), GRPO_OUT_OF_RANGE), "a partial without divisors is refused");
    for (size_t k = 0; k < sizeof contents / sizeof *contents; k++)
        for (int n = 0; n < CALLS; n++) check_contents(k, n);
    free(part);
    rollouts_free(&b);
}

int main(void) {
    check_rows();
    check_rows_alone();
    check_rows_advantages();
    check_random();
    check_refusals();
    return check_summary();
}
