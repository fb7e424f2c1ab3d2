/* ranks: one batch evaluated by several MPI ranks, from logits to d logits, split in two ways.
 *
 *     mpicc -std=c99 -O2 examples/ranks.c -lm -o ranks && mpirun --oversubscribe -n 4 ./ranks
 *
 * By data: each rank has some groups.  Ranks add up their totals, evaluate, and merge their partials.
 * By vocabulary: each rank has some columns of every row.  Ranks exchange a grpo_logits_part per row and shard, and merge them.
 * Prints the bits of the results.  They are the same for 1, 2 and 4 ranks (the vocabulary always has four shards), and by data those of one
 * evaluation of the whole batch. */
#define GSPO_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#include "../extra/grpo_logits.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { GROUPS = 8, GROUP = 4, LENGTH = 6, TOKENS = GROUPS * GROUP * LENGTH, VOCAB = 1000, SHARDS = 4 };

/* a batch and its rows, the same on every rank; a rank reads only its own part */
static int64_t group_begin[GROUPS + 1], offset[GROUPS * GROUP], length[GROUPS * GROUP], target[TOKENS];
static float logits[TOKENS][VOCAB], logp_old[TOKENS], reward[GROUPS * GROUP];
static uint8_t mask[TOKENS];

/* the results */
typedef struct {
    float logp[TOKENS], entropy[TOKENS], advantage[TOKENS], dlogp[TOKENS], dentropy[TOKENS], dlogits[TOKENS][VOCAB];
    grpo_report report;
} answer;

static int rank, ranks;

static void fail(const char *what) {
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (st) fail(grpo_status_message(st, text, sizeof text));
}

static double unit(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

static void make_batch(void) {
    int i, t, v;
    for (i = 0; i <= GROUPS; i++) group_begin[i] = i * GROUP;
    for (i = 0; i < GROUPS * GROUP; i++) {
        offset[i] = i * LENGTH;
        length[i] = 1 + (int64_t)(LENGTH * unit());
        reward[i] = (float)(unit() > 0.5);
    }
    for (t = 0; t < TOKENS; t++) {
        mask[t] = unit() > 0.1;
        target[t] = (int64_t)(VOCAB * unit());
        logp_old[t] = (float)(-7 + 0.2 * unit());
        for (v = 0; v < VOCAB; v++) logits[t][v] = (float)(6 * unit());
    }
}

/* groups first .. end - 1 as a batch: a view */
static grpo_batch batch_of(const answer *a, int64_t first, int64_t end) {
    grpo_batch b;
    memset(&b, 0, sizeof b);
    b.n_groups = end - first; b.group_begin = group_begin + first;
    b.offset = offset; b.length = length; b.n_tokens = TOKENS;
    b.logp = a->logp; b.entropy = a->entropy; b.logp_old = logp_old; b.mask = mask; b.reward = reward;
    return b;
}

static grpo_logits_batch rows_of(answer *a, grpo_logits_part *part) {
    grpo_logits_batch r;
    memset(&r, 0, sizeof r);
    r.logits.logits = logits; r.logits.rows = TOKENS; r.logits.vocab = r.logits.stride = VOCAB;
    r.logits.target = target; r.logits.temperature = 1;
    r.part = part; r.logp = a->logp; r.entropy = a->entropy; r.dlogits = a->dlogits;
    return r;
}

static grpo_objective objective(void) {
    grpo_objective obj;
    ask(grpo_objective_named("gspo", &obj));
    return obj;
}

/* ---- on one rank ----------------------------------------------------------------------------------------------------------------- */

static void evaluate_alone(answer *a) {
    static grpo_logits_part part[TOKENS];
    const grpo_objective obj = objective();
    const grpo_batch b = batch_of(a, 0, GROUPS);
    const grpo_logits_batch rows = rows_of(a, part);
    grpo_output out;
    memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy;
    ask(grpo_advantages(&obj, &b, a->advantage));
    ask(grpo_logits_loss(&obj, &b, a->advantage, NULL, &rows, &out, &a->report));
}

/* ---- by data --------------------------------------------------------------------------------------------------------------------- */

/* combines arrays of which each element is set on one rank and 0 on the others */
static void share(void *x, size_t bytes) { MPI_Allreduce(MPI_IN_PLACE, x, (int)(bytes / 4), MPI_UINT32_T, MPI_BOR, MPI_COMM_WORLD); }

/* sums of integers, which do not depend on the order */
static void add_totals(grpo_totals *totals) {
    MPI_Allreduce(MPI_IN_PLACE, totals, (int)(sizeof *totals / sizeof(int64_t)), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void merge_partials(const grpo_partial *own, grpo_report *report) {
    grpo_partial *all = (grpo_partial *)malloc((size_t)ranks * sizeof *all), whole;
    int k;
    if (!all) fail("out of memory");
    MPI_Allgather(own, (int)sizeof *own, MPI_BYTE, all, (int)sizeof *own, MPI_BYTE, MPI_COMM_WORLD);
    memset(&whole, 0, sizeof whole);
    for (k = 0; k < ranks; k++) ask(grpo_partial_merge(&whole, &all[k]));
    grpo_partial_report(&whole, report);
    free(all);
}

static void evaluate_by_data(answer *a) {
    static grpo_logits_part part[TOKENS];
    const int64_t first = GROUPS * rank / ranks, end = GROUPS * (rank + 1) / ranks;
    const int64_t row = first * GROUP * LENGTH, count = (end - first) * GROUP * LENGTH;
    const grpo_objective obj = objective();
    const grpo_batch b = batch_of(a, first, end);
    const grpo_logits_batch rows = rows_of(a, part);
    grpo_totals totals;
    grpo_partial partial;
    grpo_output out;
    memset(&totals, 0, sizeof totals); memset(&partial, 0, sizeof partial); memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy;
    ask(grpo_logits_batch_read(&rows, mask, row, count));
    ask(grpo_advantages(&obj, &b, a->advantage));
    ask(grpo_totals_add(&obj, &b, a->advantage, &totals));
    add_totals(&totals);
    ask(gspo_loss_add(&obj, &b, a->advantage, &totals, &out, &partial));
    ask(grpo_logits_batch_gradient(&rows, mask, out.dlogp, out.dentropy, row, count));
    merge_partials(&partial, &a->report);
    share(a->dlogits, sizeof a->dlogits);
}

/* ---- by vocabulary --------------------------------------------------------------------------------------------------------------- */

static int64_t shard_begin(int shard) { return VOCAB * shard / SHARDS; }

/* the columns of a shard; targets are relative to its first column */
static grpo_logits shard_of(int shard, int64_t *shard_target) {
    const int64_t begin = shard_begin(shard);
    grpo_logits x;
    int t;
    memset(&x, 0, sizeof x);
    x.logits = &logits[0][begin]; x.rows = TOKENS; x.vocab = shard_begin(shard + 1) - begin; x.stride = VOCAB; x.temperature = 1;
    for (t = 0; t < TOKENS; t++) shard_target[t] = target[t] - begin;
    x.target = shard_target;
    return x;
}

/* reads the shards of this rank into a part for each row and shard; after the exchange all ranks merge all parts in the order of shards */
static void read_shards(answer *a, int first, int end, grpo_logits_part *whole) {
    static grpo_logits_part part[SHARDS][TOKENS];
    static int64_t shard_target[TOKENS];
    grpo_logits_row row;
    int s, t;
    memset(part, 0, sizeof part);
    for (s = first; s < end; s++) {
        const grpo_logits x = shard_of(s, shard_target);
        for (t = 0; t < TOKENS; t++) if (mask[t]) ask(grpo_logits_row_read(&x, t, &part[s][t]));
    }
    share(part, sizeof part);
    for (t = 0; t < TOKENS; t++) {
        if (!mask[t]) continue;
        whole[t] = part[0][t];
        for (s = 1; s < SHARDS; s++) ask(grpo_logits_part_merge(&whole[t], &part[s][t], 1));
        ask(grpo_logits_part_row(&whole[t], 1, &row));
        a->logp[t] = (float)row.logp;
        a->entropy[t] = (float)row.entropy;
    }
}

static void evaluate_by_vocabulary(answer *a) {
    static grpo_logits_part whole[TOKENS];
    static int64_t shard_target[TOKENS];
    const int first = SHARDS * rank / ranks, end = SHARDS * (rank + 1) / ranks;
    const grpo_objective obj = objective();
    const grpo_batch b = batch_of(a, 0, GROUPS);
    grpo_output out;
    int s, t;
    memset(&out, 0, sizeof out);
    out.dlogp = a->dlogp; out.dentropy = a->dentropy;
    read_shards(a, first, end, whole);
    ask(grpo_advantages(&obj, &b, a->advantage));
    ask(gspo_loss(&obj, &b, a->advantage, NULL, &out, &a->report));
    for (s = first; s < end; s++) {
        const grpo_logits x = shard_of(s, shard_target);
        for (t = 0; t < TOKENS; t++)
            if (mask[t] && t % LENGTH < length[t / LENGTH])
                ask(grpo_logits_row_gradient(&x, t, &whole[t], (double)a->dlogp[t], (double)a->dentropy[t],
                    &a->dlogits[t][shard_begin(s)]));
    }
    share(a->dlogits, sizeof a->dlogits);
}

/* ---- results --------------------------------------------------------------------------------------------------------------------- */

/* the largest difference of d logits in units of 2^-23 of the gradient */
static double distance(const answer *a, const answer *b) {
    double most = 0;
    int t, v;
    for (t = 0; t < TOKENS; t++)
        for (v = 0; v < VOCAB; v++) {
            const double x = (double)a->dlogits[t][v], y = (double)b->dlogits[t][v], d = fabs(x - y) / (double)FLT_EPSILON;
            if (x != y && !(d <= most * fabs(x))) most = d / fabs(x);
        }
    return most;
}

static void print_bits(const char *how, const answer *a) {
    uint64_t loss, hash = UINT64_C(14695981039346656037);
    const unsigned char *byte = (const unsigned char *)a->dlogits;
    size_t k;
    memcpy(&loss, &a->report.loss, sizeof loss);
    for (k = 0; k < sizeof a->dlogits; k++) hash = (hash ^ byte[k]) * UINT64_C(1099511628211);
    printf("%-14s loss %.17g = %016llx, clipped %.4f, d logits %016llx\n", how, a->report.loss, (unsigned long long)loss,
           a->report.clip_fraction, (unsigned long long)hash);
}

int main(int argc, char **argv) {
    static answer alone, data, vocabulary;
    double apart;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > SHARDS) fail("at most four ranks");
    make_batch();
    evaluate_alone(&alone);
    evaluate_by_data(&data);
    evaluate_by_vocabulary(&vocabulary);
    if (memcmp(&data.report, &alone.report, offsetof(grpo_report, overflow))) fail("by data: another report");
    if (memcmp(data.dlogits, alone.dlogits, sizeof data.dlogits)) fail("by data: other gradients");
    apart = distance(&alone, &vocabulary);
    if (!(apart <= 16)) fail("by vocabulary: other gradients");         /* of logp, rounded to float, and of p */
    if (rank == 0) {
        print_bits("by data", &data);
        print_bits("by vocabulary", &vocabulary);
        printf("                gradients of whole rows are %.1f ulps from these at most\n", apart);
    }
    MPI_Finalize();
    return 0;
}
