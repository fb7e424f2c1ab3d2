/* The conversion of bytes to an objective and a batch, and back, and checks that the harnesses share.
 *
 *     objective   u8 u8 preset, the low byte first: its number mod the count of presets, or 65535: a zeroed objective
 *                 u8 n, then n changes: u8 field (index into grpo_fields), then a number, or for a choice
 *                     u8 c: 0..249: choice c mod count; 250..255: a value that is none of the choices
 *     missing     u8 u8 u8: bits of the optional arrays that are NULL
 *     shape       u8 groups (mod 6), u8 sequences of each (1 + mod 4), rewards, u8 length of each sequence (mod 8),
 *                 u8 gap between sequences (mod 4)
 *     fault       u8 kind: 0: none; else the layout is made invalid, u8 where
 *     rewards     u8 number of columns (1 + mod 3), a number for the weight of each
 *     sequences   number reward, a number for each column, u8 (bit 0: truncated, bit 1: outside)
 *     groups      numbers baseline, log_partition
 *     slots       u8 (bit 0: masked, bit 1: end of a step, bit 2: selected, bits 3 and 4: state), a number for each of the token arrays
 *                 in the order of TOKEN_...
 *     advantages  u8 (even: from grpo_advantages where it gives any; odd: as follows), a number per slot
 *     ranks       u8 (mod 4)
 *
 * A number is u8 c: 0..223: (c - 112)/16; 224..254: an entry of the table of special numbers; 255: eight bytes of an IEEE double,
 * little-endian.  Bytes past the end are 0. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H
#include "../gspo.h"
#include "../tests/support/field.h"
#include "../tests/support/random_batch.h"
#include "../tests/support/result_bits.h"
#include "../tests/support/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------- */

typedef struct { const uint8_t *at; size_t left; } reader;

static inline int read_u8(reader *in) {
    if (!in->left) return 0;
    in->left--;
    return *in->at++;
}

enum { FIRST_SPECIAL = 224, RAW = 255, NO_PRESET = 65535 };

static inline const double *special_numbers(void) {
    static const double special[RAW - FIRST_SPECIAL] = {
        NAN, INFINITY, -INFINITY, -0.0, 0x1p-1074, -0x1p-149, 0x1p-1022, 1e-310, 1e-7, -1e-7, 0.7, 3e-4, 1.0 / 3, 19.9, 20.1, -88, 89, 103,
            350,
        -709, 710, 800, -800, 1e7, 3e38, -3e38, 1e150, -1.01e150, 1e300, -0x1.fffffffffffffp1023, 1e-45
    };
    return special;
}

static inline double read_raw(reader *in) {
    uint64_t bits = 0;
    double x;
    int k;
    for (k = 0; k < 8; k++) bits |= (uint64_t)read_u8(in) << (8 * k);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double read_number(reader *in) {
    int c = read_u8(in);
    if (c == RAW) return read_raw(in);
    return c < FIRST_SPECIAL ? (c - 112) / 16.0 : special_numbers()[c - FIRST_SPECIAL];
}

/* converts to the element type; the conversion to float is undefined beyond its range */
static inline grpo_real element(double x) {
    if (sizeof(grpo_real) == 4 && fabs(x) > FLT_MAX && grpo_is_finite(x)) return x > 0 ? (grpo_real)FLT_MAX : (grpo_real)-FLT_MAX;
    return (grpo_real)x;
}

/* ---- the case ------------------------------------------------------------------------------------------------------------------ */

enum { MISSING_OLD = 1, MISSING_REF = 2, MISSING_ROLLOUT = 4, MISSING_ENTROPY = 8, MISSING_VALUE = 16, MISSING_STEP_REWARD = 32,
    MISSING_STEP_END = 64,
       MISSING_MASK = 128, MISSING_REWARD = 256, MISSING_TRUNCATED = 512, MISSING_BASELINE = 1024,
       MISSING_SELECTED = 2048, MISSING_LOG_Z = 4096, MISSING_TEACHER = 8192, MISSING_STATE = 16384, MISSING_SQUARES = 32768,
       MISSING_WEIGHT = 65536, MISSING_CLIP_LOW = 131072, MISSING_CLIP_HIGH = 262144, MISSING_OUTSIDE = 524288,
       MISSING_DIVERGENCE = 1048576 };

enum { FAULT_NONE, FAULT_GROUPS, FAULT_BEGIN_NEGATIVE, FAULT_BEGIN_EMPTY, FAULT_BEGIN_DESCENDING, FAULT_LENGTH_NEGATIVE, FAULT_LENGTH_LONG,
       FAULT_LENGTH_HUGE, FAULT_OFFSET_NEGATIVE, FAULT_OFFSET_LATE, FAULT_OFFSET_HUGE, FAULT_TOKENS, FAULT_TOKENS_NEGATIVE, FAULT_LOGP,
           FAULT_ARRAYS,
       FAULTS };

typedef struct {
    grpo_objective objective;
    rollouts b;
    int missing, fault, ranks;
    int given;                                   /* 1: advantages are from the input */
    grpo_real *advantage;
} fuzz_case;

/* the view of the batch, or of a rearranged one, without the missing arrays */
static inline grpo_batch fuzz_view(const fuzz_case *c, const rollouts *b) {
    grpo_batch v = rollouts_view(b);
    if (c->missing & MISSING_OLD) v.logp_old = NULL;
    if (c->missing & MISSING_REF) v.logp_ref = NULL;
    if (c->missing & MISSING_ROLLOUT) v.logp_rollout = NULL;
    if (c->missing & MISSING_ENTROPY) v.entropy = NULL;
    if (c->missing & MISSING_VALUE) v.value = NULL;
    if (c->missing & MISSING_STEP_REWARD) v.step_reward = NULL;
    if (c->missing & MISSING_STEP_END) v.step_end = v.segment_end = NULL;
    if (c->missing & MISSING_MASK) v.mask = NULL;
    if (c->missing & MISSING_REWARD) v.reward = NULL;
    if (c->missing & MISSING_TRUNCATED) v.truncated = NULL;
    if (c->missing & MISSING_BASELINE) v.baseline = NULL;
    if (c->missing & MISSING_SELECTED) v.selected = v.kl_mask = v.nll_mask = v.marked = v.shaping_mask = NULL;
    if (c->missing & MISSING_LOG_Z) v.log_partition = NULL;
    if (c->missing & MISSING_TEACHER) v.logp_teacher = NULL;
    if (c->missing & MISSING_STATE) v.state = v.token_id = NULL;
    if (c->missing & MISSING_SQUARES) v.sum_pi_squared = NULL;
    if (c->missing & MISSING_WEIGHT) v.external_weight = NULL;
    if (c->missing & MISSING_CLIP_LOW) v.eps_low = NULL;
    if (c->missing & MISSING_CLIP_HIGH) v.eps_high = NULL;
    if (c->missing & MISSING_OUTSIDE) v.excluded = NULL;
    if (c->missing & MISSING_DIVERGENCE) v.divergence_ref = v.divergence_old = NULL;
    if (c->fault == FAULT_GROUPS) v.n_groups = -v.n_groups - 1;
    if (c->fault == FAULT_TOKENS) v.n_tokens /= 2;
    if (c->fault == FAULT_TOKENS_NEGATIVE) v.n_tokens = -1;
    if (c->fault == FAULT_LOGP) v.logp = NULL;
    if (c->fault == FAULT_ARRAYS) v.length = NULL;
    return v;
}

static inline void read_change(reader *in, grpo_objective *obj) {
    static const int wrong[] = { -1, 70, 100, INT32_MAX, INT32_MIN, 256 };
    int count, choice;
    const grpo_field *field = grpo_fields(&count);
    field += read_u8(in) % count;
    if (!field->n_choices) { field_set(obj, field, read_number(in)); return; }
    choice = read_u8(in);
    field_set(obj, field, choice >= 250 ? wrong[choice - 250] : choice % field->n_choices);
}

static inline void read_objective(reader *in, grpo_objective *obj) {
    int count, n, preset = read_u8(in);
    const grpo_preset *presets = grpo_presets(&count);
    preset += 256 * read_u8(in);
    if (preset < NO_PRESET) *obj = grpo_objective_from_preset(&presets[preset % count]);
    else memset(obj, 0, sizeof *obj);
    for (n = read_u8(in); n > 0; n--) read_change(in, obj);
}

static inline void read_shape(reader *in, rollouts *b) {
    int64_t g, i, gap, end = 0, groups = read_u8(in) % 6, size[6], sequences = 0, rewards;
    for (g = 0; g < groups; g++) sequences += size[g] = 1 + read_u8(in) % 4;
    rewards = 1 + read_u8(in) % 3;
    rollouts_alloc_groups(b, groups, sequences, rewards);
    for (i = 0; i < rewards; i++) b->reward_weight[i] = element(read_number(in));
    for (b->group_begin[0] = 0, g = 0; g < groups; g++) b->group_begin[g + 1] = b->group_begin[g] + size[g];
    for (i = 0; i < sequences; i++) b->length[i] = read_u8(in) % 8;
    gap = read_u8(in) % 4;
    for (i = 0; i < sequences; i++) { b->offset[i] = end; end += b->length[i] + gap; }
    rollouts_alloc_tokens(b, end);
}

/* makes the layout invalid, in ways that the checks must detect before they read beyond the arrays */
static inline void spoil_shape(fuzz_case *c, int where) {
    rollouts *b = &c->b;
    int64_t g = b->n_groups ? where % b->n_groups : 0, i = b->n_sequences ? where % b->n_sequences : 0;
    if (!b->n_sequences) return;
    switch (c->fault) {
    case FAULT_BEGIN_NEGATIVE:   b->group_begin[0] = -1; break;
    case FAULT_BEGIN_EMPTY:      b->group_begin[g + 1] = b->group_begin[g]; break;
    case FAULT_BEGIN_DESCENDING: b->group_begin[g] = b->group_begin[g + 1] + 1; break;
    case FAULT_LENGTH_NEGATIVE:  b->length[i] = -1 - where; break;
    case FAULT_LENGTH_LONG:      b->length[i] = b->n_tokens - b->offset[i] + 1; break;
    case FAULT_LENGTH_HUGE:      b->length[i] = INT64_MAX - where; break;
    case FAULT_OFFSET_NEGATIVE:  b->offset[i] = -1 - where; break;
    case FAULT_OFFSET_LATE:      b->offset[i] = b->n_tokens + 1; break;
    case FAULT_OFFSET_HUGE:      b->offset[i] = INT64_MAX - where; break;
    default: break;
    }
}

static inline void read_values(reader *in, fuzz_case *c) {
    rollouts *b = &c->b;
    int64_t i, g, t;
    int k, flags;
    for (i = 0; i < b->n_sequences; i++) {
        b->reward[i] = element(read_number(in));
        for (k = 0; k < b->n_rewards; k++) b->rewards[i * b->n_rewards + k] = element(read_number(in));
        flags = read_u8(in);
        b->truncated[i] = (uint8_t)(flags & 1);
        b->outside[i] = (uint8_t)(flags >> 1 & 1);
    }
    for (g = 0; g < b->n_groups; g++) { b->baseline[g] = element(read_number(in)); b->log_partition[g] = element(read_number(in)); }
    for (t = 0; t < b->n_tokens; t++) {
        flags = read_u8(in);
        b->mask[t] = (c->missing & MISSING_MASK) || !(flags & 1);
        b->step_end[t] = (flags & 2) != 0;
        b->selected[t] = (flags & 4) != 0;
        b->state[t] = (flags >> 3 & 3) - 1;
        b->kl_mask[t] = (flags & 32) != 0;
        b->nll_mask[t] = (flags & 64) != 0;
        b->marked[t] = (flags & 128) != 0;
        b->shaping_mask[t] = !b->selected[t];
        b->segment_end[t] = b->step_end[t] ^ b->kl_mask[t];
        b->token_id[t] = b->state[t] ^ b->nll_mask[t];
        b->from[t] = t;
        for (k = 0; k < TOKEN_ARRAYS; k++) b->token[k][t] = element(read_number(in));
    }
    if (b->n_tokens % 2) rollouts_set_bytes(b);                        /* flags that are not 0 or 1 */
    c->given = read_u8(in) % 2;
    for (t = 0; t < b->n_tokens; t++) c->advantage[t] = element(read_number(in));
    c->ranks = read_u8(in) % 4;
}

static inline void fuzz_case_read(const uint8_t *data, size_t size, fuzz_case *c) {
    reader in;
    int where;
    in.at = data;
    in.left = size;
    memset(c, 0, sizeof *c);
    read_objective(&in, &c->objective);
    c->missing = read_u8(&in);
    c->missing |= read_u8(&in) << 8;
    c->missing |= read_u8(&in) << 16;
    read_shape(&in, &c->b);
    c->fault = read_u8(&in) % FAULTS;
    where = read_u8(&in);
    c->advantage = (grpo_real *)test_alloc(c->b.n_tokens, sizeof *c->advantage);
    read_values(&in, c);
    spoil_shape(c, where);
}

static inline void fuzz_case_free(fuzz_case *c) {
    rollouts_free(&c->b);
    free(c->advantage);
}

/* ---- writing, for the corpus --------------------------------------------------------------------------------------------------- */

typedef struct { uint8_t *data; size_t size, room; } writer;

static inline void write_u8(writer *out, int64_t value) {
    if (out->size < out->room) out->data[out->size++] = (uint8_t)value;
}

static inline void write_number(writer *out, double x) {
    double steps = x * 16 + 112;
    uint64_t bits;
    int k;
    if (steps >= 0 && steps < FIRST_SPECIAL && steps == floor(steps) && !(x == 0 && signbit(x))) { write_u8(out, (int64_t)steps); return; }
    for (k = 0; k < RAW - FIRST_SPECIAL; k++) {
        if (!memcmp(&special_numbers()[k], &x, sizeof x)) { write_u8(out, FIRST_SPECIAL + k); return; }
    }
    write_u8(out, RAW);
    memcpy(&bits, &x, sizeof bits);
    for (k = 0; k < 8; k++) write_u8(out, (int64_t)(bits >> (8 * k) & 255));
}

static inline void write_objective(writer *out, const grpo_objective *obj) {
    int count, k, changes = 0;
    const grpo_field *field = grpo_fields(&count);
    for (k = 0; k < count; k++) changes += grpo_objective_get(obj, &field[k]) != 0;
    write_u8(out, NO_PRESET % 256);
    write_u8(out, NO_PRESET / 256);
    write_u8(out, changes);
    for (k = 0; k < count; k++) {
        double value = grpo_objective_get(obj, &field[k]);
        if (value == 0) continue;
        write_u8(out, k);
        if (field[k].choices) write_u8(out, (int64_t)value);
        else write_number(out, value);
    }
}

/* writes a batch so that fuzz_case_read reads the same; b must be packed, in order */
static inline void write_batch(writer *out, const rollouts *b) {
    int64_t g, i, t;
    int k;
    write_u8(out, 0); write_u8(out, 0); write_u8(out, 0);
    write_u8(out, b->n_groups);
    for (g = 0; g < b->n_groups; g++) write_u8(out, b->group_begin[g + 1] - b->group_begin[g] - 1);
    write_u8(out, b->n_rewards - 1);
    for (k = 0; k < b->n_rewards; k++) write_number(out, (double)b->reward_weight[k]);
    for (i = 0; i < b->n_sequences; i++) write_u8(out, b->length[i]);
    write_u8(out, 0);
    write_u8(out, FAULT_NONE); write_u8(out, 0);
    for (i = 0; i < b->n_sequences; i++) {
        write_number(out, (double)b->reward[i]);
        for (k = 0; k < b->n_rewards; k++) write_number(out, (double)b->rewards[i * b->n_rewards + k]);
        write_u8(out, (b->truncated[i] != 0) + 2 * (b->outside[i] != 0));
    }
    for (g = 0; g < b->n_groups; g++) { write_number(out, (double)b->baseline[g]); write_number(out, (double)b->log_partition[g]); }
    for (i = 0; i < b->n_sequences; i++) for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        write_u8(out, !b->mask[t] + 2 * (b->step_end[t] != 0) + 4 * (b->selected[t] != 0) + 8 * ((b->state[t] + 1) & 3)
                      + 32 * (b->kl_mask[t] != 0) + 64 * (b->nll_mask[t] != 0) + 128 * (b->marked[t] != 0));
        for (k = 0; k < TOKEN_ARRAYS; k++) write_number(out, (double)b->token[k][t]);
    }
}

/* ---- checks shared by the harnesses -------------------------------------------------------------------------------------------- */

static inline int all_unwritten(const grpo_real *x, int64_t n) {
    int64_t t;
    for (t = 0; t < n; t++) if (x[t] != UNWRITTEN) return 0;
    return 1;
}

/* no NaN, 0 at masked tokens, slots outside the responses unchanged */
static inline void require_values(const rollouts *b, const grpo_real *x) {
    int64_t i, t, slots = 0;
    for (i = 0; i < b->n_sequences; i++) for (t = b->offset[i]; t < b->offset[i] + b->length[i]; t++) {
        require(x[t] == x[t], "NaN in an output");
        require(b->mask[t] || x[t] == 0, "a masked token has a value");
    }
    for (t = 0; t < b->n_tokens; t++) slots += x[t] == UNWRITTEN;
    for (i = 0; i < b->n_sequences; i++) slots += b->length[i];
    require(slots >= b->n_tokens, "a slot outside of all sequences was written to");
}

/* `found`, of a rearranged batch, has the bits of `base`, of the original */
static inline void require_same(const grpo_real *base, const grpo_real *found, const rollouts *arranged) {
    int64_t t;
    for (t = 0; t < arranged->n_tokens; t++) {
        if (arranged->from[t] < 0) require(found[t] == UNWRITTEN, "a slot outside of all sequences was written to");
        else require(!memcmp(&found[t], &base[arranged->from[t]], sizeof *base), "an arrangement has other bits");
    }
}
#endif
