/* Fuzzes grpo_advantages: it returns a status and writes nothing, or writes a result; no NaN; order, layout and parts change no bit; equal
 * rewards have advantage 0. */
#include "bytes.h"

static void require_refused(grpo_status st, const grpo_objective *obj, const grpo_batch *batch, const grpo_real *advantage, int64_t n) {
    grpo_moments m, zero;
    memset(&m, 0, sizeof m);
    memset(&zero, 0, sizeof zero);
    require(grpo_status_rule(st) > 0 && grpo_status_rule(st) < GRPO_N_RULES, "no such status");
    require(all_unwritten(advantage, n), "refused, yet written");
    require(grpo_moments_add(obj, batch, &m) == st, "grpo_moments_add has another status");
    require(!memcmp(&m, &zero, sizeof m), "refused, yet moments were added");
}

static void require_arrangements(const fuzz_case *c, const grpo_real *advantage, rng *r) {
    const int shuffle = order_free(&c->objective);
    rollouts other;
    grpo_batch view;
    grpo_real *found;
    rollouts_rearrange(r, &c->b, 1, shuffle, &other);
    view = fuzz_view(c, &other);
    found = unwritten(other.n_tokens);
    require(!grpo_advantages(&c->objective, &view, found), "refused in another order");
    require_same(advantage, found, &other);
    free(found);
    rollouts_free(&other);
}

static void require_parts(const fuzz_case *c, const grpo_real *advantage, rng *r) {
    static rollouts_parts p;
    grpo_moments m, own;
    grpo_batch view;
    grpo_real *found;
    int k;
    memset(&m, 0, sizeof m);
    rollouts_cut(r, &c->b, order_free(&c->objective) & ARRANGE_SEQUENCES, &p);
    for (k = 0; k < p.count; k++) {
        view = fuzz_view(c, &p.batch[k]);
        memset(&own, 0, sizeof own);
        require(!grpo_moments_add(&c->objective, &view, k % 2 ? &own : &m), "a part is refused");
        if (k % 2) require(!grpo_moments_merge(&m, &own), "moments do not merge");
    }
    for (k = 0; k < p.count; k++) {
        view = fuzz_view(c, &p.batch[k]);
        found = unwritten(p.batch[k].n_tokens);
        require(!grpo_advantages_with_moments(&c->objective, &view, &m, found), "a part is refused");
        require_same(advantage, found, &p.batch[k]);
        free(found);
    }
    rollouts_parts_free(&p);
}

/* are all rewards of group g equal? */
static int equal_rewards(const rollouts *b, int64_t g) {
    int64_t i;
    for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) if (b->reward[i] != b->reward[b->group_begin[g]]) return 0;
    return 1;
}

/* is the advantage of equal rewards 0 with this objective, whatever the lengths? */
static int centres_rewards(const grpo_objective *o) {
    const grpo_advantage *a = &o->advantage;
    return a->rewards == GRPO_REWARDS_ONE && a->baseline == GRPO_BASELINE_GROUP_MEAN && a->baseline_shift == 0
        && a->scale != GRPO_SCALE_TOKEN_WHITEN
        && a->singleton == GRPO_SINGLETON_ZERO && a->batch_norm == GRPO_BATCH_NORM_NONE && a->credit == GRPO_CREDIT_OUTCOME
        && tokens_alike(a) && a->clamp_low == 0 && a->clamp_high == 0
        && o->reward.truncated == GRPO_REWARD_TRUNCATED_KEEP && o->reward.length == GRPO_LENGTH_NONE
            && o->reward.overlong == GRPO_OVERLONG_NONE
        && o->reward.map == GRPO_MAP_NONE && o->reward.kl == GRPO_KL_NONE;
}

static void require_equal_is_zero(const fuzz_case *c, const grpo_real *advantage) {
    const rollouts *b = &c->b;
    int64_t g, i, t;
    if (!centres_rewards(&c->objective)) return;
    for (g = 0; g < b->n_groups; g++) {
        if (!equal_rewards(b, g)) continue;
        for (i = b->group_begin[g]; i < b->group_begin[g + 1]; i++) {
            for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) require(advantage[t] == 0, "equal rewards have an advantage");
        }
    }
}

static void require_informative(const fuzz_case *c, const grpo_batch *batch) {
    uint8_t keep[8] = { 7, 7, 7, 7, 7, 7, 7, 7 };
    int64_t g;
    if (grpo_dynamic_sampling_mask(batch, keep)) {
        for (g = 0; g < 8; g++) require(keep[g] == 7, "refused, yet kept");
        return;
    }
    for (g = 0; g < c->b.n_groups; g++) require(keep[g] == !equal_rewards(&c->b, g), "dynamic_sampling_mask");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_case c;
    grpo_batch batch;
    grpo_real *advantage;
    grpo_status st;
    rng r;
    r.state = hash_bytes(HASH_START, data, size);
    fuzz_case_read(data, size, &c);
    batch = fuzz_view(&c, &c.b);
    advantage = unwritten(c.b.n_tokens);
    st = grpo_advantages(&c.objective, &batch, advantage);
    if (st) {
        require_refused(st, &c.objective, &batch, advantage, c.b.n_tokens);
    } else {
        c.fault = FAULT_NONE;                                    /* harmless: n_tokens of a batch without tokens */
        require_values(&c.b, advantage);
        require_arrangements(&c, advantage, &r);
        require_parts(&c, advantage, &r);
        require_equal_is_zero(&c, advantage);
    }
    require_informative(&c, &batch);
    free(advantage);
    fuzz_case_free(&c);
    return 0;
}
