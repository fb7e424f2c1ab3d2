/* What the explorer's page computes, by the headers: two objectives A and B, one small batch, curves over the log-ratio of one token;
 * and, in policy.h, a small policy that trains.
 *
 *     examples/explorer/build.py                    makes explorer.html of this, page.html and page.js
 *     cc -std=c99 -DEXPLORER_MAIN explorer.c -lm    prints the numbers that the page writes at #test, for test.py to compare
 *
 * Texts go to the page in `text`: records end with \036, their parts with \037.  Numbers are in `number`. */
#define GRPO_DOUBLE
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#define GRPO_CONTEXT_IMPLEMENTATION
#include "../../extra/grpo_context.h"                  /* which arrays an objective reads */
#include <stdio.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(#name)))
#else
#define EXPORT(name)
#endif

enum { MOST_RESPONSES = 16, MOST_LENGTH = 32, MOST_TOKENS = MOST_RESPONSES * MOST_LENGTH, MOST_POINTS = 512, MOST_SCRATCH = 1 << 16,
       ROOM = 1 << 19 };

static char text[ROOM];
static double number[4 * MOST_TOKENS + 4];
static size_t written;
static grpo_objective objective[2];

EXPORT(text_at) char *text_at(void) { return text; }
EXPORT(number_at) double *number_at(void) { return number; }

static void put(const char *s, char end) {
    const size_t n = strlen(s);
    if (written + n + 2 > ROOM) return;
    memcpy(text + written, s, n);
    written += n;
    text[written++] = end;
    text[written] = 0;
}

/* ---- what there is to choose ------------------------------------------------------------------------------------------------------- */

/* name, paper, equations, summary of every row */
EXPORT(list_rows) int list_rows(void) {
    int n;
    const grpo_preset *row = grpo_presets(&n);
    written = 0;
    for (int k = 0; k < n; k++) { put(row[k].name, 037); put(row[k].paper, 037); put(row[k].equations, 037); put(row[k].summary, 036); }
    return n;
}

/* path of every field and, of each choice, its constant, its name and what the header's table says of it */
#define DETAIL(id, name, ...) #id "\037" #name "\037" #__VA_ARGS__ "\037"
#define CHOICES(path, of) #path "\037" GRPO_##of##_CHOICES(DETAIL),
#define NUMBER(path, domain) #path "\037",
EXPORT(list_fields) int list_fields(void) {
    static const char *const field[] = { GRPO_FIELDS_(CHOICES, NUMBER) };
    const int n = (int)(sizeof field / sizeof *field);
    written = 0;
    for (int k = 0; k < n; k++) put(field[k], 036);
    return n;
}

EXPORT(choose_row) int choose_row(int side, int k) {
    int n;
    const grpo_preset *row = grpo_presets(&n);
    if (k < 0 || k >= n) return 0;
    objective[side] = grpo_objective_from_preset(&row[k]);
    return 1;
}

EXPORT(get_field) double get_field(int side, int k) {
    int n;
    return grpo_objective_get(&objective[side], &grpo_fields(&n)[k]);
}

/* the status in words, "" if it is well; a number that no objective may have is not set */
EXPORT(set_field) int set_field(int side, int k, double value) {
    int n;
    const grpo_field *f = grpo_fields(&n);
    const grpo_status status = grpo_objective_set(&objective[side], f[k].path, value);
    grpo_status_message(status, text, ROOM);
    return status == GRPO_OK;
}

/* ---- the batch: one group, whose first response holds the token that is looked at --------------------------------------------------- */

typedef struct { double log_ratio, advantage, reward; int from_rewards, responses, length; } setting;

static struct {
    int64_t group_begin[2], offset[MOST_RESPONSES], length[MOST_RESPONSES], state[MOST_TOKENS];
    double logp[MOST_TOKENS], logp_old[MOST_TOKENS], logp_ref[MOST_TOKENS], logp_rollout[MOST_TOKENS], logp_teacher[MOST_TOKENS];
    double entropy[MOST_TOKENS], value[MOST_TOKENS], step_reward[MOST_TOKENS], squares[MOST_TOKENS], weight[MOST_TOKENS];
    double bound[MOST_TOKENS], sign[MOST_TOKENS], share[MOST_TOKENS];
    double advantage[MOST_TOKENS], dlogp[MOST_TOKENS], term[MOST_TOKENS], scratch[MOST_SCRATCH];
    double reward[MOST_RESPONSES], rewards[MOST_RESPONSES], reward_weight[1], baseline[1], log_partition[1];
    uint8_t flag[MOST_TOKENS], none[MOST_TOKENS], step_end[MOST_TOKENS];
} a;

/* numbers without a pattern, the same everywhere: multiples of 1/64 in [-1, 1] */
static double noise(int k) {
    const uint32_t x = ((uint32_t)k + 1) * 2654435761u;
    return (double)(int)((x >> 16) % 129) / 64 - 1;
}

/* log-ratios of the tokens that are not looked at: within this of 0 */
static double others = 0.125;
EXPORT(set_others) void set_others(double reach) { others = reach; }

/* the token that is looked at: the reference's log-probability less the old policy's */
static double reference = 0;
EXPORT(set_reference) void set_reference(double log_ratio) { reference = log_ratio; }

/* the same token: the old policy's log-probability less the sampler's */
static double sampler = 0;
EXPORT(set_sampler) void set_sampler(double log_ratio) { sampler = log_ratio; }

/* the first token, which is looked at, is so improbable that no log-ratio of the page makes its probability more than 1 */
static void fill_token(int t, int last) {
    a.logp_old[t] = t == 0 ? -4.5 : -1.5 + noise(7 * t);
    a.logp[t] = a.logp_old[t] + noise(7 * t + 1) * others;
    a.logp_ref[t] = a.logp_old[t] + noise(7 * t + 2) / 4;
    a.logp_rollout[t] = a.logp_old[t] + noise(7 * t + 3) * others / 4;
    a.logp_teacher[t] = a.logp_old[t] + noise(7 * t + 4) / 4;
    a.entropy[t] = 1 + noise(7 * t + 5) / 2;
    a.value[t] = noise(7 * t + 6) / 4;
    a.step_reward[t] = last ? 1 : 0;
    a.squares[t] = 0.25; a.weight[t] = 1; a.bound[t] = 0.25;
    a.flag[t] = 1; a.none[t] = 0; a.step_end[t] = (uint8_t)last;
    a.state[t] = t % 3;
}

static grpo_batch batch_of(const setting *s) {
    grpo_batch b;
    int t = 0;
    memset(&b, 0, sizeof b);
    for (int i = 0; i < s->responses; i++) {
        a.offset[i] = t;
        a.length[i] = i == 0 || s->length < 3 ? s->length : s->length - i % 3;
        for (int k = 0; k < a.length[i]; k++, t++) fill_token(t, k + 1 == a.length[i]);
        a.reward[i] = a.rewards[i] = i == 0 ? s->reward : i % 2;
    }
    a.logp[0] = a.logp_old[0] + s->log_ratio;
    a.logp_ref[0] = a.logp_old[0] + reference;
    a.logp_rollout[0] = a.logp_old[0] - sampler;
    a.group_begin[0] = 0; a.group_begin[1] = s->responses;
    a.reward_weight[0] = 1; a.baseline[0] = 0.5; a.log_partition[0] = 0;
    b.n_groups = 1; b.n_tokens = t; b.n_rewards = 1;
    b.group_begin = a.group_begin; b.offset = a.offset; b.length = a.length;
    b.logp = a.logp; b.logp_old = a.logp_old; b.logp_ref = a.logp_ref; b.logp_rollout = a.logp_rollout; b.logp_teacher = a.logp_teacher;
    b.entropy = a.entropy; b.value = a.value; b.step_reward = a.step_reward; b.sum_pi_squared = a.squares; b.external_weight = a.weight;
    b.eps_low = b.eps_high = a.bound; b.divergence_ref = b.divergence_old = a.squares;
    b.step_end = b.segment_end = a.step_end; b.state = b.token_id = a.state;
    b.mask = b.selected = b.kl_mask = b.nll_mask = b.marked = b.shaping_mask = a.flag;
    b.truncated = b.excluded = a.none;
    b.reward = a.reward; b.rewards = a.rewards; b.reward_weight = a.reward_weight; b.baseline = a.baseline;
    b.log_partition = a.log_partition;
    return b;
}

/* terms and gradients of all tokens; 0: refused, and `text` says why */
static int evaluate(const grpo_objective *o, const setting *s, grpo_report *report, grpo_batch *b) {
    grpo_output out;
    grpo_status status = GRPO_OK;
    *b = batch_of(s);
    memset(&out, 0, sizeof out);
    out.dlogp = a.dlogp; out.term = a.term; out.scratch = a.scratch; out.scratch_size = MOST_SCRATCH;
    if (s->from_rewards) status = grpo_advantages(o, b, a.advantage);
    else for (int i = 0; i < s->responses; i++)
        for (int64_t t = a.offset[i]; t < a.offset[i] + a.length[i]; t++)
            a.advantage[t] = i == 0 ? s->advantage : -s->advantage / (s->responses - 1 ? s->responses - 1 : 1);
    if (!status) status = gspo_loss(o, b, a.advantage, NULL, &out, report);
    grpo_status_message(status, text, ROOM);
    return status == GRPO_OK;
}

/* what the loss multiplies the token's term by, from the gradient of -sign(A) log pi, divided alike; after evaluate */
static double coefficient(const grpo_objective *o, const grpo_batch *b) {
    grpo_objective plain;
    grpo_output out;
    grpo_report report;
    memset(&plain, 0, sizeof plain);
    memset(&out, 0, sizeof out);
    plain.aggregation = o->aggregation;
    plain.surrogate.kind = GRPO_SURROGATE_REINFORCE;
    out.dlogp = a.share; out.scratch = a.scratch; out.scratch_size = MOST_SCRATCH;
    for (int64_t t = 0; t < b->n_tokens; t++) a.sign[t] = a.advantage[t] > 0 ? 1 : -1;
    return gspo_loss(&plain, b, a.sign, NULL, &out, &report) ? 1 : fabs(a.share[0]);
}

/* number: n times the token's log-ratio, its term, and d loss/d its log-probability over the term's coefficient in the loss: of the
 * objective, and of its surrogate without penalties.  n, or 0 */
EXPORT(curve) int curve(int side, double advantage, int responses, int length, double low, double high, int n) {
    setting s = { 0, 0, 1, 0, 0, 0 };
    grpo_objective bare = objective[side];
    grpo_report report;
    grpo_batch b;
    double c = 1;
    memset(&bare.penalty, 0, sizeof bare.penalty);
    s.advantage = advantage; s.responses = responses; s.length = length;
    for (int k = 0; k < n && k < MOST_POINTS; k++) {
        s.log_ratio = n > 1 ? low + (high - low) * k / (n - 1) : low;
        if (!evaluate(&objective[side], &s, &report, &b)) return 0;
        if (k == 0) c = coefficient(&objective[side], &b);
        number[4 * k] = s.log_ratio; number[4 * k + 1] = a.term[0]; number[4 * k + 2] = a.dlogp[0] / c;
        number[4 * k + 3] = evaluate(&bare, &s, &report, &b) ? a.dlogp[0] / c : number[4 * k + 2];
    }
    return n;
}

/* number: loss, clip fraction, KL(old || policy) by k3, coefficient of the first token's term, then of each token response, advantage,
 * log-ratio, gradient.  Tokens, or -1 */
EXPORT(evaluate_batch) int evaluate_batch(int side, double log_ratio, double advantage, double reward, int from_rewards, int responses,
                                          int length) {
    setting s;
    grpo_report report;
    grpo_batch b;
    double *to = number + 4;
    s.log_ratio = log_ratio; s.advantage = advantage; s.reward = reward; s.from_rewards = from_rewards;
    s.responses = responses; s.length = length;
    if (!evaluate(&objective[side], &s, &report, &b)) return -1;
    number[0] = report.loss; number[1] = report.clip_fraction; number[2] = report.approx_kl_k3;
    number[3] = coefficient(&objective[side], &b);
    for (int i = 0; i < s.responses; i++)
        for (int64_t t = a.offset[i]; t < a.offset[i] + a.length[i]; t++, to += 4) {
            to[0] = i; to[1] = a.advantage[t]; to[2] = a.logp[t] - a.logp_old[t]; to[3] = a.dlogp[t];
        }
    return (int)b.n_tokens;
}

/* does the array enter the loss, or the advantages where these are made of rewards? */
static int reads(int side, const char *array, int from_rewards) {
    return grpo_context_array_use(&objective[side], GRPO_READER_LOSS, array) == GRPO_ARRAY_NEEDED
        || (from_rewards && grpo_context_array_use(&objective[side], GRPO_READER_ADVANTAGES, array) == GRPO_ARRAY_NEEDED);
}
EXPORT(reads_reference) int reads_reference(int side, int from_rewards) { return reads(side, "logp_ref", from_rewards); }
EXPORT(reads_sampler) int reads_sampler(int side, int from_rewards) { return reads(side, "logp_rollout", from_rewards); }

#include "policy.h"

#ifdef EXPLORER_MAIN
static void print(const char *name, const char *what, int n) {
    printf("%s %s", name, what);
    for (int k = 0; k < n; k++) {
        uint64_t bits;
        memcpy(&bits, &number[k], sizeof bits);
        printf(" %016llx", (unsigned long long)bits);
    }
    printf("\n");
}

/* every row: two curves, a batch by given advantages and one by rewards, a curve where the other log-ratios are 0 and the sampler's is
 * not, and the second of two batches of training; as page.js at #test */
int main(void) {
    int n;
    const grpo_preset *row = grpo_presets(&n);
    for (int k = 0; k < n; k++) {
        choose_row(0, k);
        print(row[k].name, "A+", 4 * curve(0, 1, 4, 6, -1, 1, 9));
        print(row[k].name, "A-", 4 * curve(0, -1, 4, 6, -1, 1, 9));
        print(row[k].name, "given", 4 * evaluate_batch(0, 0.5, 1.5, 1, 0, 4, 6) + 4);
        print(row[k].name, "rewards", 4 * evaluate_batch(0, -0.25, 0, 0.75, 1, 4, 6) + 4);
        set_others(0);
        set_sampler(0.5);
        print(row[k].name, "alone", 4 * curve(0, 1, 4, 6, -1, 1, 9));
        set_others(0.125);
        set_sampler(0);
        train_begin(0);
        print(row[k].name, "trained", train_batch(0, 4, 2, 0.125) && train_batch(0, 4, 2, 0.125) ? 4 : 0);
    }
    return 0;
}
#endif
