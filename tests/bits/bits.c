/* bits: prints a hash of all results (advantages, terms, gradients, report) for every row, for every choice and number of an objective
 * applied to some rows, and for rows with settings that act together only.  Refactoring must change none of them; bits.sh compares
 * them with bits.txt.  It says nothing of correctness. */
#include "../support/result_bits.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST_TOKENS = 4096, MOST_SEQUENCES = 32, MOST_GROUPS = 8, MOST_SCRATCH = 1 << 16, N_BATCHES = 3, NEAR = N_BATCHES, N_REWARDS = 2 };

typedef struct {
    grpo_batch batch;
    int64_t group_begin[MOST_GROUPS + 1], offset[MOST_SEQUENCES], length[MOST_SEQUENCES], state[MOST_TOKENS];
    grpo_real logp[MOST_TOKENS], logp_old[MOST_TOKENS], logp_ref[MOST_TOKENS], logp_rollout[MOST_TOKENS], logp_teacher[MOST_TOKENS];
    grpo_real entropy[MOST_TOKENS], value[MOST_TOKENS], step_reward[MOST_TOKENS], squares[MOST_TOKENS], weight[MOST_TOKENS];
    grpo_real clip_low[MOST_TOKENS], clip_high[MOST_TOKENS];
    uint8_t step_end[MOST_TOKENS], mask[MOST_TOKENS], selected[MOST_TOKENS], truncated[MOST_SEQUENCES], outside[MOST_SEQUENCES];
    grpo_real reward[MOST_SEQUENCES], rewards[MOST_SEQUENCES * N_REWARDS], reward_weight[N_REWARDS];
    grpo_real baseline[MOST_GROUPS], log_partition[MOST_GROUPS];
} filled;

static filled all[N_BATCHES + 1];             /* the last: for settings that act together alone */

/* ---- batches: the same numbers for both element types --------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t draw(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* the same numbers with and without fused multiply-adds */
static double uniform(double low, double high) {
    volatile double above = (high - low) * (double)(draw() >> 11) / 9007199254740992.0;
    return low + above;
}

static grpo_real real(double low, double high) { return (grpo_real)(float)uniform(low, high); }
static uint8_t flag(double probability) { return uniform(0, 1) < probability; }

/* spread: the size of the log-ratios */
static void fill_token(filled *f, int64_t t, double spread) {
    const double rare = spread > 1 ? 0.02 : 0;
    f->logp[t] = flag(rare) ? (grpo_real)-HUGE_VAL : real(-6, -0.01);
    f->logp_old[t] = flag(rare) ? (grpo_real)-HUGE_VAL
        : (grpo_real)(float)((flag(0.9) ? (double)f->logp[t] : -3) + uniform(-spread, spread));
    f->logp_ref[t] = real(-6, -0.01);
    f->logp_rollout[t] = (grpo_real)(float)((flag(0.9) ? (double)f->logp_old[t] : -3) + uniform(-spread, spread));
    f->logp_teacher[t] = real(-6, -0.01);
    if (!grpo_is_finite((double)f->logp_old[t])) f->logp_old[t] = -2;
    if (!grpo_is_finite((double)f->logp_rollout[t])) f->logp_rollout[t] = -1;
    f->entropy[t] = real(0, 3);
    f->value[t] = real(-1, 1);
    f->step_reward[t] = real(-1, 1);
    f->squares[t] = real(0, 1);
    f->weight[t] = real(0, 2);
    f->clip_low[t] = real(0, 1);
    f->clip_high[t] = real(0, 0.5);
    f->step_end[t] = flag(0.3);
    f->mask[t] = flag(0.9);
    f->selected[t] = flag(0.5);
    f->state[t] = (int64_t)(draw() % 3);
}

static void fill_sequence(filled *f, int64_t i, int64_t first, int64_t length, double spread) {
    int64_t t;
    f->offset[i] = first;
    f->length[i] = length;
    for (t = first; t < first + length; t++) fill_token(f, t, spread);
    if (length) f->step_end[first + length - 1] = 1;
    f->reward[i] = (grpo_real)(flag(0.5) ? (double)flag(0.5) : floor(uniform(0, 9)) / 8);
    for (t = 0; t < N_REWARDS; t++) f->rewards[i * N_REWARDS + t] = real(0, 1);
    f->truncated[i] = flag(0.3);
    f->outside[i] = flag(0.2);
}

static void fill(filled *f, int number) {
    static const double spread[N_BATCHES] = { 0.5, 0.05, 40 };
    static const int64_t longest[N_BATCHES] = { 9, 170, 12 }, groups[N_BATCHES] = { 5, 1, 6 };
    int64_t g, i = 0, k, tokens = 0;
    grpo_batch *b = &f->batch;
    seed = UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)number;
    for (g = 0; g < groups[number]; g++) {
        const int64_t responses = g == 3 ? 1 : 3 + (int64_t)(draw() % 3);
        f->group_begin[g] = i;
        for (k = 0; k < responses; k++, i++) {
            const int64_t length = k == 2 && g == 1 ? 0 : 1 + (int64_t)(draw() % (uint64_t)longest[number]);
            fill_sequence(f, i, tokens, length, spread[number]);
            if (g == 2) f->reward[i] = (grpo_real)0.5;
            tokens += length + 1;                                  /* a gap, like padding */
            if (f->length[i]) f->selected[f->offset[i]] = 1;
        }
        f->baseline[g] = real(0, 1);
        f->log_partition[g] = real(-1, 1);
    }
    f->group_begin[g] = i;
    for (k = 0; k < N_REWARDS; k++) f->reward_weight[k] = real(0.5, 1.5);
    b->n_groups = groups[number]; b->n_tokens = tokens; b->n_rewards = N_REWARDS;
    b->group_begin = f->group_begin; b->offset = f->offset; b->length = f->length; b->state = b->token_id = f->state;
    b->logp = f->logp; b->logp_old = f->logp_old; b->logp_ref = f->logp_ref; b->logp_rollout = f->logp_rollout;
    b->logp_teacher = f->logp_teacher; b->entropy = f->entropy; b->value = f->value; b->step_reward = f->step_reward;
    b->step_end = b->segment_end = f->step_end; b->mask = number == 1 ? NULL : f->mask; b->selected = b->kl_mask = b->nll_mask = b->marked
        = b->shaping_mask = f->selected; b->sum_pi_squared = f->squares;
    b->reward = f->reward; b->rewards = f->rewards; b->reward_weight = f->reward_weight; b->truncated = f->truncated;
    b->excluded = f->outside; b->baseline = f->baseline; b->log_partition = f->log_partition; b->external_weight = f->weight;
    b->eps_low = f->clip_low; b->eps_high = f->clip_high; b->divergence_ref = b->divergence_old = f->squares;
}

/* the second batch again, with old and reference policies that are near at all tokens */
static void fill_near(void) {
    filled *f = &all[NEAR];
    fill(f, 1);
    for (int64_t t = 0; t < f->batch.n_tokens; t++) {
        f->logp_old[t] = (grpo_real)(float)((double)f->logp[t] + uniform(-0.05, 0.05));
        f->logp_ref[t] = (grpo_real)(float)((double)f->logp_old[t] + uniform(-0.0005, 0.0005));
    }
}

static grpo_real advantage[MOST_TOKENS], given[MOST_TOKENS], dlogp[MOST_TOKENS], dentropy[MOST_TOKENS], term[MOST_TOKENS],
    ddivergence_ref[MOST_TOKENS], dlog_partition[MOST_GROUPS];
static double scratch[MOST_SCRATCH];

/* hashes the objective's own advantages with their loss, and the loss with given advantages */
static uint64_t hash_of(uint64_t hash, const grpo_objective *objective, const grpo_batch *b) {
    grpo_output out = { 0 };
    grpo_report report;
    int own;
    if (gspo_scratch(objective, b) > MOST_SCRATCH) abort();
    memset(advantage, 0, sizeof advantage);
    own = !grpo_advantages(objective, b, advantage);
    hash = hash_number(hash, own);
    if (own) hash = hash_array(hash, advantage, b->n_tokens);
    memset(dlogp, 0, sizeof dlogp); memset(dentropy, 0, sizeof dentropy); memset(term, 0, sizeof term);
    memset(ddivergence_ref, 0, sizeof ddivergence_ref);
    memset(dlog_partition, 0, sizeof dlog_partition);
    memset(&report, 0, sizeof report);
    out.ddivergence_ref = ddivergence_ref;
    out.dlogp = dlogp; out.dentropy = dentropy; out.term = term; out.dlog_partition = dlog_partition; out.scratch = scratch;
    out.scratch_size = MOST_SCRATCH;
    if (gspo_loss(objective, b, own ? advantage : given, NULL, &out, &report)) return hash_number(hash, -1);
    hash = hash_array(hash, dlogp, b->n_tokens);
    hash = hash_array(hash, dentropy, b->n_tokens);
    if (objective->penalty.kl == GRPO_KL_EXTERNAL) hash = hash_array(hash, ddivergence_ref, b->n_tokens);
    hash = hash_array(hash, term, b->n_tokens);
    hash = hash_array(hash, dlog_partition, b->n_groups);
    return hash_report(hash, &report);
}

static uint64_t hash_of_batches(uint64_t hash, const grpo_objective *objective) {
    int n;
    for (n = 0; n < N_BATCHES; n++) hash = hash_of(hash, objective, &all[n].batch);
    return hash;
}

/* ---- rows, and every choice and number on top of some --------------------------------------------------------------------------- */

static void rows(const char *element) {
    int n, count;
    const grpo_preset *preset = grpo_presets(&count);
    for (n = 0; n < count; n++) {
        grpo_objective objective;
        if (grpo_objective_named(preset[n].name, &objective)) abort();
        printf("%s row %s %016llx\n", element, preset[n].name,
            (unsigned long long)hash_of_batches(HASH_START, &objective));
    }
}

/* hashes the row with each choice of the field, or with some values of the number */
static uint64_t hash_of_field(uint64_t hash, const char *row, const grpo_field *field) {
    static const double value[] = { 0.25, 2 };
    int k;
    for (k = 0; k < (field->choices ? 64 : 2); k++) {
        grpo_objective objective;
        if (grpo_objective_named(row, &objective)) abort();
        if (grpo_objective_set(&objective, field->path, field->choices ? k : value[k])) break;
        hash = hash_of_batches(hash, &objective);
    }
    return hash;
}

static void fields(const char *element) {
    static const char *const base[] = { "grpo", "gspo", "reinforce++", "verl-ppo", "gmpo", "mis-sequence", "dppo-tv", "flowrl", "amir-grpo",
        "gigpo", "fipo", "llds" };
    int n, count;
    size_t k;
    const grpo_field *field = grpo_fields(&count);
    for (n = 0; n < count; n++) {
        uint64_t hash = HASH_START;
        for (k = 0; k < sizeof base / sizeof *base; k++) hash = hash_of_field(hash, base[k], &field[n]);
        printf("%s field %s %016llx\n", element, field[n].path, (unsigned long long)hash);
    }
}

/* what neither a row nor a single choice makes act on these batches: "row field=choice field=number ..." */
static const char *const together[] = {
    "dapo reward.overlong_max=8 reward.overlong_cache=4",
    "dapo reward.overlong=linear reward.overlong_max=170 reward.overlong_cache=100 reward.overlong_factor=0.5",
    "grpo advantage.reweight=exponential advantage.reweight_temperature=0.5",
    "grpo advantage.transform=pass_at_k advantage.pass_k=2 advantage.baseline=none advantage.scale=none",
    "grpo advantage.transform=pass_at_k advantage.pass_k=1 advantage.baseline=none advantage.scale=none",
    "opd advantage.teacher_gamma=0.5",
    "grpo reward.kl=k3 reward.kl_coef=0.1 advantage.scale=group_mean",
    "grpo aggregation.kind=constant aggregation.constant=512",
    "sapo",
    "sapo surrogate.kind=sapo_detached",
    "gspo surrogate.kind=softmax_cross_entropy surrogate.beta=2 surrogate.advantage_temperature=0.5 aggregation.kind=group_mean",
};

/* sets the field of "field=choice" or "field=number" */
static grpo_status set_field(grpo_objective *objective, char *setting) {
    char *value = strchr(setting, '='), *end;
    double number;
    *value++ = 0;
    number = strtod(value, &end);
    return *end ? grpo_objective_choose(objective, setting, value) : grpo_objective_set(objective, setting, number);
}

static void settings_together(const char *element) {
    for (size_t n = 0; n < sizeof together / sizeof *together; n++) {
        grpo_objective objective;
        char text[200], *word;
        strcpy(text, together[n]);
        if (grpo_objective_named(strtok(text, " "), &objective)) abort();
        while ((word = strtok(NULL, " ")) != NULL) if (set_field(&objective, word)) abort();
        if (grpo_objective_check(&objective)) abort();
        printf("%s together %s %016llx\n", element, together[n], 
            (unsigned long long)hash_of(hash_of_batches(HASH_START, &objective), &objective, &all[NEAR].batch));
    }
}

int main(void) {
    const char *element = sizeof(grpo_real) == sizeof(double) ? "double" : "float";
    int n;
    int64_t t;
    for (n = 0; n < N_BATCHES; n++) fill(&all[n], n);
    for (t = 0; t < MOST_TOKENS; t++) given[t] = real(-2, 2);
    fill_near();
    rows(element);
    fields(element);
    settings_together(element);
    return 0;
}
