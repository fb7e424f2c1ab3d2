/* bits_random FIRST COUNT prints a hash of loss, gradients, terms and report of each of COUNT random objectives, on a random batch each.
 * An objective is a row with one axis, or up to four fields, drawn at random (not of reward and advantage), or everything is drawn.
 *
 * bits_random pairs prints one for each choice: a hash over all pairs that it makes with another (support/choice_combinations.h).
 * bits_random triples PART PARTS: the same of three choices; PART of PARTS.
 * bits_random quadruples SEED COUNT prints one for each hundred of COUNT combinations of four choices, drawn at random.
 *
 * bits.sh compares the lines with and without blocks of tokens. */
#include "../support/result_bits.h"
#include "../support/choice_combinations.h"

/* draws an objective that the check accepts; returns the name of its row */
static const char *draw_objective(rng *r, grpo_objective *obj) {
    static const char *const all_but_one[] = { "reward. advantage. surrogate. penalty. weight. aggregation.",
        "reward. advantage. ratio. penalty. weight. aggregation.", "reward. advantage. ratio. surrogate. weight. aggregation.",
        "reward. advantage. ratio. surrogate. penalty. aggregation.", "reward. advantage. ratio. surrogate. penalty. weight." };
    int presets, count;
    const grpo_preset *preset = grpo_presets(&presets);
    const grpo_field *field = grpo_fields(&count);
    const char *name = preset[rng_below(r, presets)].name;
    if (rng_chance(r, 30)) { random_objective(r, obj); return "everything drawn"; }
    if (grpo_objective_named(name, obj)) abort();
    if (rng_chance(r, 50)) { random_objective_around(r, all_but_one[rng_below(r, 5)], obj); return name; }
    for (int64_t n = rng_below(r, 5); n > 0; n--) {
        const grpo_objective before = *obj;
        const grpo_field *f = &field[rng_below(r, count)];
        if (!strncmp(f->path, "reward.", 7) || !strncmp(f->path, "advantage.", 10)) continue;
        random_field(r, f, obj);
        if (grpo_objective_check(obj)) *obj = before;
    }
    return name;
}

/* mostly the same advantage at all tokens of a response, sometimes 0 */
static void draw_advantages(rng *r, const grpo_batch *b, grpo_real *advantage) {
    const int by_token = rng_chance(r, 25);
    for (int64_t i = 0; i < b->group_begin[b->n_groups]; i++) {
        double A = rng_chance(r, 15) ? 0 : rng_bell(r);
        for (int64_t t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
            if (by_token && rng_chance(r, 30)) A = rng_chance(r, 15) ? 0 : rng_bell(r);
            advantage[t] = (grpo_real)A;
        }
    }
}

static uint64_t hash_of(rng *r, const grpo_objective *obj, const grpo_batch *b) {
    enum { OUTPUTS = 5 };
    const int64_t n = b->n_tokens, room = gspo_scratch(obj, b);
    uint64_t hash = HASH_START;
    grpo_real *array[OUTPUTS];
    grpo_output out;
    grpo_report report;
    grpo_status st;
    for (int k = 0; k < OUTPUTS; k++) {
        array[k] = (grpo_real *)test_alloc(n, sizeof **array);
        memset(array[k], 0, (size_t)n * sizeof **array);
    }
    draw_advantages(r, b, array[0]);
    memset(&out, 0, sizeof out);
    memset(&report, 0, sizeof report);
    out.dlogp = array[1]; out.dentropy = array[2]; out.term = array[3]; out.ddivergence_ref = array[4];
    out.scratch = (double *)test_alloc(room, sizeof *out.scratch);
    out.scratch_size = room;
    st = gspo_loss(obj, b, array[0], NULL, &out, &report);
    hash = hash_number(hash, (double)st);
    for (int k = 1; !st && k < OUTPUTS; k++) hash = hash_array(hash, array[k], n);
    if (!st) hash = hash_report(hash, &report);
    for (int k = 0; k < OUTPUTS; k++) free(array[k]);
    free(out.scratch);
    return hash;
}

/* ---- combinations of choices ------------------------------------------------------------------------------------------------------ */

enum { BATCHES = 32 };
static rollouts drawn[BATCHES];

static void add_hash(rng *r, const grpo_objective *obj, void *hash) {
    const grpo_batch batch = rollouts_view(&drawn[rng_below(r, BATCHES)]);
    *(uint64_t *)hash = hash_number(*(uint64_t *)hash, (double)hash_of(r, obj, &batch));
}

static void roll_batches(void) {
    rng r = { 5 };
    for (int k = 0; k < BATCHES; k++) rollouts_random(&r, k % 8 ? RANDOM_SMALL : 0, &drawn[k]);
}

static void print_combinations(int of, int part, int parts) {
    static chosen all[MOST_CHOICES];
    const int n = all_choices(all);
    roll_batches();
    for (int a = part; a < n; a += parts) {
        uint64_t hash = HASH_START;
        const long valid = each_combination(all, n, a, of, add_hash, &hash);
        int length;
        const char *name = field_choice(all[a].field, all[a].choice, &length);
        printf("%s = %.*s in %ld combinations %016llx\n", all[a].field->path, length, name, valid, (unsigned long long)hash);
    }
}

static void print_quadruples(int seed, long combinations) {
    static chosen all[MOST_CHOICES];
    const int n = all_choices(all);
    rng r = { 1000003 * (uint64_t)seed + 1 };
    roll_batches();
    for (long k = 0; k < combinations; ) {
        uint64_t hash = HASH_START;
        const long first = k;
        do if (!random_combination(&r, all, n, add_hash, &hash)) abort(); while (++k % 100 && k < combinations);
        printf("quadruples %ld to %ld of seed %d %016llx\n", first, k - 1, seed, (unsigned long long)hash);
    }
}

int main(int count, char **word) {
    static const int kinds[] = { 0, RANDOM_LONG, RANDOM_LONG, RANDOM_EXTREME, RANDOM_LONG | RANDOM_EXTREME | RANDOM_NEG_INF, RANDOM_SMALL };
    const int first = count > 1 ? atoi(word[1]) : 0, objectives = count > 2 ? atoi(word[2]) : 1000;
    if (count == 2 && !strcmp(word[1], "pairs")) { print_combinations(2, 0, 1); return 0; }
    if (count == 4 && !strcmp(word[1], "triples")) { print_combinations(3, atoi(word[2]), atoi(word[3])); return 0; }
    if (count == 4 && !strcmp(word[1], "quadruples")) { print_quadruples(atoi(word[2]), atol(word[3])); return 0; }
    for (int k = first; k < first + objectives; k++) {
        rng r = { (uint64_t)k * 2 + 1 };
        rollouts rolled;
        grpo_batch batch;
        grpo_objective obj;
        const char *name = draw_objective(&r, &obj);
        rollouts_random(&r, kinds[rng_below(&r, (int64_t)(sizeof kinds / sizeof *kinds))], &rolled);
        if (k % 2) rollouts_set_bytes(&rolled);
        batch = rollouts_view(&rolled);
        if (rng_chance(&r, 30)) batch.mask = NULL;
        printf("%d %s %016llx\n", k, name, (unsigned long long)hash_of(&r, &obj, &batch));
        rollouts_free(&rolled);
    }
    return 0;
}
