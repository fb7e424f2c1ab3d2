/* padded.c - from the padded tensors of a trainer to a batch.  Nothing is copied: offset and length say where in its row a response stands.
 *
 *     cc -std=c99 -O2 examples/padded.c -lm -o padded && ./padded
 *
 * A trainer has tensors (rows, COLUMNS) with a prompt and a response in each row, padded on the left, on the right or on both sides, and
 * two masks: `response`, 1 from the first to the last token of the response, and `trained`, 0 also at the tokens inside of it that the
 * policy did not write (a tool's output).
 *
 *     offset, length    from `response`: padding and prompt are outside of every sequence, where nothing is read or written
 *     batch.mask        `trained`
 *
 * A length of COLUMNS, with a mask that is 0 at the padding, gives the same loss only while nothing depends on the length: to
 * reward.overlong and reward.length all responses are then equally long, and DAPO's overlong punishment, the same for all, is gone.
 * No function refuses it; extra/grpo_lint.h notes it. */
#define GSPO_IMPLEMENTATION
#include "../gspo.h"
#include <stdio.h>
#include <stdlib.h>

enum { PROMPTS = 6, GROUP = 4, ROWS = PROMPTS * GROUP, PROMPT = 6, RESPONSE = 16, COLUMNS = PROMPT + RESPONSE, N = ROWS * COLUMNS };
enum { LEFT, RIGHT, BOTH, PADDINGS };                  /* BOTH: prompts padded on the left, responses on the right, as TRL and verl do */

/* logp in column t is of the token in column t, which the logits in column t - 1 gave.  Where a tensor has COLUMNS - 1 columns and begins
 * with the second token's logp, cut the masks likewise: response[:, 1:] */
typedef struct {
    float logp[N], logp_old[N];
    uint8_t response[N], trained[N];
} tensors;

typedef struct { float advantage[N], dlogp[N]; grpo_report report; } answer;

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text));
    exit(1);
}

/* the part that a trainer needs: the response of each row, wherever it is; length 0 if the row has none */
static void find_responses(const uint8_t *response, int64_t rows, int64_t columns, int64_t *offset, int64_t *length) {
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *row = response + i * columns;
        int64_t first = 0, end = columns;
        while (first < columns && !row[first]) first++;
        while (end > first && !row[end - 1]) end--;
        offset[i] = i * columns + first;
        length[i] = end - first;
    }
}

/* in [0, 1), a multiple of 1/256: what is made of it below has no rounding, whatever the compiler contracts */
static float unit(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)(*state >> 56) * 0x1p-8f;
}

/* the same prompts and responses with any padding; every fourth row is cut off, and every third has a tool's output in columns 2 and 3 */
static void sample(int padding, tensors *x, float *reward) {
    uint64_t state = 1;
    for (int k = 0; k < N; k++) { x->logp[k] = x->logp_old[k] = NAN; x->response[k] = x->trained[k] = 0; }
    for (int i = 0; i < ROWS; i++) {
        const int prompt = 1 + i / GROUP, some = 4 + (int)(12 * unit(&state)), length = i % 4 == 3 ? RESPONSE : some;
        const int at = padding == RIGHT ? prompt : padding == LEFT ? COLUMNS - length : PROMPT;
        reward[i] = unit(&state) < 0.5f ? 1.0f : 0.0f;
        for (int k = 0, t = i * COLUMNS + at; k < length; k++, t++) {
            x->response[t] = 1;
            x->trained[t] = i % 3 != 0 || (k != 2 && k != 3);
            x->logp_old[t] = -0.5f - 3 * unit(&state);
            x->logp[t] = x->logp_old[t] + 0.375f * (unit(&state) - 0.5f);
        }
    }
}

/* whole_rows: the mistake described above */
static void evaluate(const grpo_objective *obj, tensors *x, const float *reward, int whole_rows, int parts, answer *a) {
    int64_t group_begin[PROMPTS + 1], offset[ROWS], length[ROWS];
    grpo_totals totals;
    grpo_partial partial;
    grpo_batch batch;
    grpo_output out;
    memset(a, 0, sizeof *a);                                    /* padding is not written: clear what is read as a whole tensor */
    memset(&totals, 0, sizeof totals); memset(&partial, 0, sizeof partial);
    memset(&batch, 0, sizeof batch); memset(&out, 0, sizeof out);
    for (int g = 0; g <= PROMPTS; g++) group_begin[g] = g * GROUP;
    find_responses(x->response, ROWS, COLUMNS, offset, length);
    for (int i = 0; whole_rows && i < ROWS; i++) { offset[i] = i * COLUMNS; length[i] = COLUMNS; }
    batch.n_groups = PROMPTS; batch.group_begin = group_begin; batch.offset = offset; batch.length = length; batch.n_tokens = N;
    batch.logp = x->logp; batch.logp_old = x->logp_old; batch.mask = x->trained; batch.reward = reward;
    out.dlogp = a->dlogp;
    ask(grpo_advantages(obj, &batch, a->advantage));
    batch.n_groups = PROMPTS / parts;                           /* micro-batches: some groups each, of the same arrays */
    for (int k = 0; k < parts; k++, batch.group_begin += batch.n_groups) ask(grpo_totals_add(obj, &batch, a->advantage, &totals));
    batch.group_begin = group_begin;
    for (int k = 0; k < parts; k++, batch.group_begin += batch.n_groups)
        ask(gspo_loss_add(obj, &batch, a->advantage, &totals, &out, &partial));
    grpo_partial_report(&partial, &a->report);
}

/* 1 if loss and gradient of each token are those of the first layout */
static int same(const answer *a, const tensors *x, const answer *b, const tensors *y) {
    int64_t at[2][ROWS], length[2][ROWS];
    int equal = memcmp(&a->report.loss, &b->report.loss, sizeof a->report.loss) == 0;
    find_responses(x->response, ROWS, COLUMNS, at[0], length[0]);
    find_responses(y->response, ROWS, COLUMNS, at[1], length[1]);
    for (int i = 0; i < ROWS && equal; i++)
        equal = length[0][i] == length[1][i]
             && memcmp(a->dlogp + at[0][i], b->dlogp + at[1][i], (size_t)length[0][i] * sizeof *a->dlogp) == 0;
    return equal;
}

int main(void) {
    static const struct { const char *name; int padding, whole_rows, parts, same; } ways[] = {
        { "padded on both sides", BOTH, 0, 1, 1 }, { "padded on the right", RIGHT, 0, 1, 1 }, { "padded on the left", LEFT, 0, 1, 1 },
        { "three micro-batches", LEFT, 0, 3, 1 }, { "length COLUMNS, masked", BOTH, 1, 1, 0 } };
    static tensors first, x;
    static answer one, a;
    float reward[ROWS];
    grpo_objective obj;
    int failed = 0;
    ask(grpo_objective_named("dapo", &obj));
    ask(grpo_objective_choose(&obj, "aggregation.kind", "token_mean"));
    obj.reward.overlong_max = RESPONSE; obj.reward.overlong_cache = 4;
    sample(BOTH, &first, reward);
    evaluate(&obj, &first, reward, 0, 1, &one);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        int equal;
        sample(ways[k].padding, &x, reward);
        evaluate(&obj, &x, reward, ways[k].whole_rows, ways[k].parts, &a);
        equal = same(&one, &first, &a, &x);
        failed += equal != ways[k].same;
        printf("%-22s  loss %12.9f, %3d tokens, %s\n", ways[k].name, a.report.loss, (int)a.report.tokens,
               equal ? "every bit" : "other numbers");
    }
    return failed;
}
