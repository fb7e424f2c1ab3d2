/* rows.cuh - rows of logits on a GPU: to log-probabilities and entropies, and from their gradients back to d loss / d logits.
 *
 *     #include "rows.cuh"                 // in one .cu file; brings gspo.h and extra/grpo_logits.h with their implementations
 *
 *     grpo_cuda_batch_read(&rows, mask, stream);                                  // logits -> logp, entropy, on the device
 *     ... logp and entropy to the host: gspo_loss, any objective: dlogp and dentropy to the device ...
 *     grpo_cuda_batch_gradient(&rows, mask, dlogp, dentropy, stream);             // -> d loss / d logits, in place if wanted
 *
 * These are grpo_logits_batch_read and grpo_logits_batch_gradient of extra/grpo_logits.h for all rows, with every array on the device.
 * A token costs the host some 20 ns for its objective and 16 bytes of transfer, beside a row of a hundred thousand logits.
 *
 * A block of threads takes a row, two passes over it, eight logits of 16 bytes or 32 at a time.  The arithmetic is that of
 * extra/grpo_shared_loops.h, with R = 0: powers in float, of which each thread adds up eight in float, eights in double.  The largest
 * logit is in no sum, so that a probability near 1 does not swallow the rest: a thread holds the largest that it has met apart, and all
 * but the largest of the row join the sums in the end.  Powers are relative to a power of two near the largest, so a larger one changes
 * sums by a power of two.  The same bits in every run and for every number of rows.
 *
 * Rows whose largest logit is beyond 8192 tau ln 2, or whose dlogp or dentropy is so large that powers below 2^-190 of the largest would
 * count, and temperatures out of 1e-4 to 1e4, go logit by logit in double (`each`). */
#ifndef GRPO_ROWS_CUH
#define GRPO_ROWS_CUH

#ifdef GRPO_DOUBLE
#error "rows of float, bfloat16 and binary16 only"
#endif
#ifndef GSPO_IMPLEMENTATION
#define GSPO_IMPLEMENTATION
#endif
#ifndef GRPO_LOGITS_IMPLEMENTATION
#define GRPO_LOGITS_IMPLEMENTATION
#endif
#include <cuda_runtime.h>
#include "../../extra/grpo_logits.h"

/* rows->logits.logits (rows, stride) -> rows->part (rows), rows->logp and rows->entropy (rows, or NULL); all on the device, as are
 * target, kept and mask ((rows), NULL: all count; where it is 0 nothing is read, and logp and entropy are 0).  Asynchronous.  Where a row
 * has a NaN or +infinity, or its target is outside the vocabulary, its logp and entropy are NaN: the loss then names the token; of the
 * first two part.sum is NaN, too.  cudaErrorInvalidValue: a member is missing or out of range. */
static cudaError_t grpo_cuda_batch_read(const grpo_logits_batch *rows, const uint8_t *mask, cudaStream_t stream);

/* rows->part, dlogp and dentropy (rows; NULL: 0), all on the device -> rows->dlogits (rows, stride), which may be the logits; 0 where
 * mask is 0.  A row whose gradients are 0 is not read. */
static cudaError_t grpo_cuda_batch_gradient(const grpo_logits_batch *rows, const uint8_t *mask, const float *dlogp, const float *dentropy,
                                            cudaStream_t stream);

#ifndef GRPO_CUDA_THREADS
#define GRPO_CUDA_THREADS 256                                          /* of a block; a power of two */
#endif
#define GRPO_CUDA_FN_ static __device__ __forceinline__

enum { GRPO_PACK_ = 8, GRPO_ROW_FOR_EACH_ = -4 };

/* ---- eight logits at a time ------------------------------------------------------------------------------------------------------ */

template <int TYPE> struct grpo_pack_ { uint4 words; };                /* as they lie in memory */
template <> struct grpo_pack_<GRPO_LOGITS_REAL> { float4 low, high; };

template <int TYPE> GRPO_CUDA_FN_ int grpo_pack_bytes_() { return TYPE == GRPO_LOGITS_REAL ? 4 : 2; }

GRPO_CUDA_FN_ void grpo_unpack_(const grpo_pack_<GRPO_LOGITS_REAL> &p, float *z) {
    z[0] = p.low.x; z[1] = p.low.y; z[2] = p.low.z; z[3] = p.low.w;
    z[4] = p.high.x; z[5] = p.high.y; z[6] = p.high.z; z[7] = p.high.w;
}

GRPO_CUDA_FN_ void grpo_unpack_(const grpo_pack_<GRPO_LOGITS_BFLOAT16> &p, float *z) {
    const uint32_t word[4] = { p.words.x, p.words.y, p.words.z, p.words.w };
    for (int j = 0; j < 4; j++) {
        z[2 * j] = grpo_float_of_bits_(word[j] << 16);
        z[2 * j + 1] = grpo_float_of_bits_(word[j] & 0xffff0000);
    }
}

GRPO_CUDA_FN_ void grpo_unpack_(const grpo_pack_<GRPO_LOGITS_FLOAT16> &p, float *z) {
    const uint32_t word[4] = { p.words.x, p.words.y, p.words.z, p.words.w };
    for (int j = 0; j < 4; j++) {
        z[2 * j] = grpo_from_half_((uint16_t)word[j]);
        z[2 * j + 1] = grpo_from_half_((uint16_t)(word[j] >> 16));
    }
}

GRPO_CUDA_FN_ uint32_t grpo_two_halves_(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }

GRPO_CUDA_FN_ void grpo_repack_(const float *z, grpo_pack_<GRPO_LOGITS_REAL> *p) {
    p->low.x = z[0]; p->low.y = z[1]; p->low.z = z[2]; p->low.w = z[3];
    p->high.x = z[4]; p->high.y = z[5]; p->high.z = z[6]; p->high.w = z[7];
}

/* to nearest, ties to even: one instruction where there is one, a dozen elsewhere */
GRPO_CUDA_FN_ uint32_t grpo_two_bfloats_(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return grpo_two_halves_(grpo_to_bfloat_(low), grpo_to_bfloat_(high));
#endif
}

GRPO_CUDA_FN_ void grpo_repack_(const float *z, grpo_pack_<GRPO_LOGITS_BFLOAT16> *p) {
    p->words.x = grpo_two_bfloats_(z[0], z[1]);
    p->words.y = grpo_two_bfloats_(z[2], z[3]);
    p->words.z = grpo_two_bfloats_(z[4], z[5]);
    p->words.w = grpo_two_bfloats_(z[6], z[7]);
}

GRPO_CUDA_FN_ void grpo_repack_(const float *z, grpo_pack_<GRPO_LOGITS_FLOAT16> *p) {
    p->words.x = grpo_two_halves_(grpo_to_half_(z[0]), grpo_to_half_(z[1]));
    p->words.y = grpo_two_halves_(grpo_to_half_(z[2]), grpo_to_half_(z[3]));
    p->words.z = grpo_two_halves_(grpo_to_half_(z[4]), grpo_to_half_(z[5]));
    p->words.w = grpo_two_halves_(grpo_to_half_(z[6]), grpo_to_half_(z[7]));
}

GRPO_CUDA_FN_ void grpo_put_one_(int type, void *out, int64_t at, float g) {
    if (type == GRPO_LOGITS_REAL) ((float *)out)[at] = g;
    else ((uint16_t *)out)[at] = type == GRPO_LOGITS_BFLOAT16 ? grpo_to_bfloat_(g) : grpo_to_half_(g);
}

/* ---- a row ------------------------------------------------------------------------------------------------------------------------ */

/* packs begin `head` logits into the row, where an address is a multiple of 16 bytes; the logits before and after them are edges */
struct grpo_device_row_ {
    const char *z;
    const uint8_t *kept;
    int vocab, target, packs, head;                                    /* target -1: it is not there */
};

template <int TYPE> GRPO_CUDA_FN_ grpo_device_row_ grpo_device_row_of_(const grpo_logits &x, int64_t t) {
    const int bytes = grpo_pack_bytes_<TYPE>();
    grpo_device_row_ r;
    r.z = (const char *)x.logits + t * x.stride * bytes;
    r.kept = x.kept ? x.kept + t * x.stride : NULL;
    r.vocab = (int)x.vocab;
    r.target = x.target[t] >= 0 && x.target[t] < x.vocab ? (int)x.target[t] : -1;
    r.head = (int)(-(uintptr_t)r.z & 15) / bytes;
    if (r.head > r.vocab) r.head = r.vocab;
    r.packs = (x.vocab - r.head) / GRPO_PACK_;
    return r;
}

template <int TYPE> GRPO_CUDA_FN_ grpo_pack_<TYPE> grpo_load_pack_(const grpo_device_row_ &r, int pack) {
    return *(const grpo_pack_<TYPE> *)(r.z + (int64_t)(r.head + pack * GRPO_PACK_) * grpo_pack_bytes_<TYPE>());
}

/* -inf: banned tokens, and the target, which is kept apart */
GRPO_CUDA_FN_ void grpo_ban_(const grpo_device_row_ &r, int at, float *z) {
    const int target = r.target - at;
    if (r.kept)
        for (int j = 0; j < GRPO_PACK_; j++) if (at + j < r.vocab && !r.kept[at + j]) z[j] = -HUGE_VALF;
    if (target >= 0 && target < GRPO_PACK_)
        for (int j = 0; j < GRPO_PACK_; j++) if (j == target) z[j] = -HUGE_VALF;
}

/* the logits that lie in no pack: at most 7 before the packs (thread 0) and 7 behind them (thread 1); how many, 0: none for this thread */
GRPO_CUDA_FN_ int grpo_edge_(const grpo_device_row_ &r, int *at) {
    const int end = r.head + r.packs * GRPO_PACK_;
    *at = threadIdx.x == 0 ? 0 : end;
    return threadIdx.x == 0 ? r.head : threadIdx.x == 1 ? r.vocab - end : 0;
}

template <int TYPE> GRPO_CUDA_FN_ void grpo_load_edge_(const grpo_device_row_ &r, int at, int count, float *z) {
    for (int j = 0; j < GRPO_PACK_; j++)
        z[j] = j < count ? (float)grpo_stored_number_((grpo_logits_type)TYPE, r.z, at + j) : -HUGE_VALF;
    grpo_ban_(r, at, z);
}

/* ---- logits -> sums --------------------------------------------------------------------------------------------------------------- */

/* of a thread: the largest logit that it has met, which is not in its sums; above `bar` there is a larger one.  Sums of powers, and of
 * powers times z - from, and squares of 2^-64 powers, where the power of z is e^(z/tau) 2^(64 - top) */
struct grpo_thread_sums_ { float held, bar, top, shift, least, from; double sum, spread, squares; };

GRPO_CUDA_FN_ void grpo_set_top_(grpo_thread_sums_ *s, float top, double h) {
    grpo_exps_ k;
    grpo_exps_set_top_(&k, top, h);
    s->top = k.top;
    s->shift = k.shift;
    s->least = k.least;
    s->from = (float)((double)top * h);
}

/* the first power of two that e^(z/tau) does not exceed, or the next; of no logit, 1 */
GRPO_CUDA_FN_ float grpo_top_of_(float z, const grpo_exps_ &k) { return z > -HUGE_VALF ? ceilf(z * k.per) : 0; }

GRPO_CUDA_FN_ void grpo_change_top_(grpo_thread_sums_ *s, float top, double h) {
    const double from = (double)s->from, by = ldexp(1.0, (int)grpo_within((double)s->top - (double)top, -500, 500));
    grpo_set_top_(s, top, h);
    s->spread = (s->spread + (from - (double)s->from) * s->sum) * by;
    s->sum *= by;
    s->squares *= by * by;
}

/* `most`, one of z, is the largest so far: it is held, and the one before takes its place */
GRPO_CUDA_FN_ void grpo_hold_(grpo_thread_sums_ *s, const grpo_exps_ &k, double h, float most, float *z) {
    const float top = grpo_top_of_(most, k);
    int found = 0;
    for (int j = 0; j < GRPO_PACK_; j++)
        if (!found && z[j] == most) { z[j] = s->held; found = 1; }
    s->held = s->bar = most;
    if (top > s->top || s->sum == 0) grpo_change_top_(s, top, h);
}

GRPO_CUDA_FN_ float grpo_thread_power_(const grpo_thread_sums_ &s, const grpo_exps_ &k, float d) {
    return grpo_exp_float_(1, d, s.shift, k.per, k.h1, k.h2, 0, 1.0f, 0.0f, k.b1, k.b2, k.b3, k.b4, k.b5, k.b6);
}

GRPO_CUDA_FN_ float grpo_most_of_8_(const float *z) {
    return fmaxf(fmaxf(fmaxf(z[0], z[1]), fmaxf(z[2], z[3])), fmaxf(fmaxf(z[4], z[5]), fmaxf(z[6], z[7])));
}

template <int SQUARES> GRPO_CUDA_FN_ void grpo_take_8_(grpo_thread_sums_ *s, const grpo_exps_ &k, double h, float *z) {
    const float most = grpo_most_of_8_(z);
    float e[GRPO_PACK_], x[GRPO_PACK_];
    if (most > s->bar) grpo_hold_(s, k, h, most, z);
    for (int j = 0; j < GRPO_PACK_; j++) {
        const float d = grpo_above_(z[j], 0, s->least);
        e[j] = grpo_thread_power_(*s, k, d);
        x[j] = d - s->from;
    }
    s->sum += (double)(((e[0] + e[1]) + (e[2] + e[3])) + ((e[4] + e[5]) + (e[6] + e[7])));
    s->spread += (double)(grpo_four_(1, e[0], x[0], e[1], x[1], e[2], x[2], e[3], x[3])
                          + grpo_four_(1, e[4], x[4], e[5], x[5], e[6], x[6], e[7], x[7]));
    if (SQUARES) {
        for (int j = 0; j < GRPO_PACK_; j++) e[j] *= GRPO_2_64_;
        s->squares += (double)(grpo_four_(1, e[0], e[0], e[1], e[1], e[2], e[2], e[3], e[3])
                               + grpo_four_(1, e[4], e[4], e[5], e[5], e[6], e[6], e[7], e[7]));
    }
}

/* the largest of all threads' numbers */
GRPO_CUDA_FN_ float grpo_block_largest_(float mine) {
    __shared__ float room[GRPO_CUDA_THREADS];
    room[threadIdx.x] = mine;
    for (unsigned half = GRPO_CUDA_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + half]);
    }
    __syncthreads();
    mine = room[0];
    __syncthreads();
    return mine;
}

/* the sums of all threads */
GRPO_CUDA_FN_ void grpo_block_sums_(grpo_thread_sums_ *s) {
    __shared__ double room[3][GRPO_CUDA_THREADS];
    room[0][threadIdx.x] = s->sum;
    room[1][threadIdx.x] = s->spread;
    room[2][threadIdx.x] = s->squares;
    for (unsigned half = GRPO_CUDA_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            for (int j = 0; j < 3; j++) room[j][threadIdx.x] += room[j][threadIdx.x + half];
    }
    __syncthreads();
    s->sum = room[0][0];
    s->spread = room[1][0];
    s->squares = room[2][0];
}

/* the number of the first thread that holds the largest */
GRPO_CUDA_FN_ int grpo_first_holder_(int holds) {
    __shared__ int first;
    if (threadIdx.x == 0) first = GRPO_CUDA_THREADS;
    __syncthreads();
    if (holds) atomicMin(&first, (int)threadIdx.x);
    __syncthreads();
    return first;
}

/* A bar before the sums begin: the largest of the first logits, a sixteenth of them or a pack a thread.  Few logits are above it. */
template <int TYPE> GRPO_CUDA_FN_ float grpo_first_bar_(const grpo_device_row_ &r) {
    const int some = r.packs / 16 > GRPO_CUDA_THREADS ? r.packs / 16 : GRPO_CUDA_THREADS;
    float most = -HUGE_VALF, z[GRPO_PACK_];
    for (int pack = (int)threadIdx.x; pack < some && pack < r.packs; pack += GRPO_CUDA_THREADS) {
        grpo_unpack_(grpo_load_pack_<TYPE>(r, pack), z);
        grpo_ban_(r, r.head + pack * GRPO_PACK_, z);
        most = fmaxf(most, grpo_most_of_8_(z));
    }
    return grpo_block_largest_(most);
}

template <int TYPE, int SQUARES> GRPO_CUDA_FN_ grpo_thread_sums_ grpo_read_row_(const grpo_device_row_ &r, const grpo_exps_ &k, double h) {
    const float bar = grpo_first_bar_<TYPE>(r);
    float z[GRPO_PACK_];
    int at;
    grpo_thread_sums_ s;
    s.held = -HUGE_VALF;
    s.bar = nextafterf(bar, -HUGE_VALF);                               /* so that it is held itself, by who meets it */
    s.sum = s.spread = s.squares = 0;
    grpo_set_top_(&s, grpo_top_of_(bar, k), h);
    const int count = grpo_edge_(r, &at);
    if (count > 0) {
        grpo_load_edge_<TYPE>(r, at, count, z);
        grpo_take_8_<SQUARES>(&s, k, h, z);
    }
    int pack = (int)threadIdx.x;
    grpo_pack_<TYPE> next;
    if (pack < r.packs) next = grpo_load_pack_<TYPE>(r, pack);
    while (pack < r.packs) {                                           /* the next pack is on its way while this one is added up */
        grpo_unpack_(next, z);
        if (pack + GRPO_CUDA_THREADS < r.packs) next = grpo_load_pack_<TYPE>(r, pack + GRPO_CUDA_THREADS);
        grpo_ban_(r, r.head + pack * GRPO_PACK_, z);
        grpo_take_8_<SQUARES>(&s, k, h, z);
        pack += GRPO_CUDA_THREADS;
    }
    return s;
}

/* sums of the whole row into thread 0's, `held` the row's largest in all */
GRPO_CUDA_FN_ void grpo_merge_threads_(grpo_thread_sums_ *s, const grpo_exps_ &k, double h) {
    const float largest = grpo_block_largest_(s->held), own = s->held;
    const int first = grpo_first_holder_(own == largest);
    grpo_change_top_(s, grpo_top_of_(largest, k), h);
    if ((int)threadIdx.x != first) {
        const float d = grpo_above_(own, 0, s->least), e = grpo_thread_power_(*s, k, d);
        s->sum += (double)e;
        s->spread += (double)(e * (d - s->from));
        s->squares += (double)(e * GRPO_2_64_ * (e * GRPO_2_64_));
    }
    s->held = largest;
    grpo_block_sums_(s);
}

/* a masked row: nothing but 0 to say of it */
GRPO_CUDA_FN_ int grpo_is_masked_(const grpo_logits_batch &rows, const uint8_t *mask, int64_t t) {
    if (!mask || mask[t]) return 0;
    if (threadIdx.x == 0 && rows.logp) rows.logp[t] = 0;
    if (threadIdx.x == 0 && rows.entropy) rows.entropy[t] = 0;
    return 1;
}

/* the logit of the target, if there is one */
GRPO_CUDA_FN_ void grpo_take_target_(const grpo_logits &x, int64_t t, grpo_logits_part *p) {
    const int64_t target = x.target[t];
    p->has_target = target >= 0 && target < x.vocab;
    p->target = p->has_target ? grpo_logit_(&x, t, target) : 0;
    if (!(p->target < HUGE_VAL)) p->sum.hi = NAN;
}

/* a row's part, logp and entropy; NaN where the sum is, or where there is no target */
GRPO_CUDA_FN_ void grpo_put_row_(const grpo_logits_batch &rows, int64_t t, const grpo_logits_part &p) {
    grpo_logits_row row;
    rows.part[t] = p;
    row.logp = row.entropy = NAN;
    if (p.sum.hi == p.sum.hi && p.has_target) grpo_logits_part_row(&p, rows.logits.temperature, &row);
    if (rows.logp) rows.logp[t] = (float)row.logp;
    if (rows.entropy) rows.entropy[t] = (float)row.entropy;
}

/* an infinity, too; not -infinity: there is no other logit then */
GRPO_CUDA_FN_ int grpo_is_beyond_(double largest, double h) { return largest > -HUGE_VAL && fabs(largest) > 8192 * h; }

template <int TYPE, int SQUARES> static __global__ void __launch_bounds__(GRPO_CUDA_THREADS, 1024 / GRPO_CUDA_THREADS)
grpo_read_rows_(const grpo_logits_batch rows, const uint8_t *mask, const grpo_exps_ k) {
    const int64_t t = blockIdx.x;
    const double tau = rows.logits.temperature, h = tau * 0.69314718055994531;
    if (grpo_is_masked_(rows, mask, t)) return;
    const grpo_device_row_ r = grpo_device_row_of_<TYPE>(rows.logits, t);
    grpo_thread_sums_ s = grpo_read_row_<TYPE, SQUARES>(r, k, h);
    grpo_merge_threads_(&s, k, h);
    if (threadIdx.x != 0) return;
    grpo_logits_part p = grpo_logits_part_empty();
    p.largest = (double)s.held;
    p.sum.hi = s.sum;                                                  /* NaN stays */
    p.squares.hi = SQUARES ? 0 : NAN;
    if (grpo_is_beyond_(p.largest, h)) { rows.part[t].has_target = GRPO_ROW_FOR_EACH_; return; }
    if (s.held > -HUGE_VALF) {
        const double f = exp((double)s.top * 0.69314718055994531 - p.largest / tau), unit = ldexp(f, -64);
        p.sum.hi = unit * s.sum;
        p.spread.hi = unit * (s.spread + ((double)s.from - p.largest) * s.sum) / tau;
        if (SQUARES) p.squares.hi = f * f * s.squares;
    }
    grpo_take_target_(rows.logits, t, &p);
    grpo_put_row_(rows, t, p);
}

/* the parts of all threads into the first */
GRPO_CUDA_FN_ void grpo_merge_parts_(grpo_logits_part *part, double temperature) {
    for (unsigned half = GRPO_CUDA_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) grpo_logits_part_merge(&part[threadIdx.x], &part[threadIdx.x + half], temperature);
    }
    __syncthreads();
}

/* logit by logit, in double: rows that grpo_read_rows_ has left, or `all` */
static __global__ void grpo_read_rows_each_(const grpo_logits_batch rows, const uint8_t *mask, int all) {
    __shared__ grpo_logits_part part[GRPO_CUDA_THREADS];
    __shared__ int spoilt;
    const int64_t t = blockIdx.x;
    if (all ? grpo_is_masked_(rows, mask, t) : (mask && !mask[t]) || rows.part[t].has_target != GRPO_ROW_FOR_EACH_) return;
    part[threadIdx.x] = grpo_logits_part_empty();
    if (threadIdx.x == 0) spoilt = 0;
    __syncthreads();
    for (int64_t v = threadIdx.x; v < rows.logits.vocab; v += GRPO_CUDA_THREADS) {
        const double z = grpo_logit_(&rows.logits, t, v);
        if (!(z < HUGE_VAL)) atomicMax(&spoilt, 1);
        else if (v != rows.logits.target[t]) grpo_logits_part_add(&part[threadIdx.x], z, 0, rows.logits.temperature);
    }
    grpo_merge_parts_(part, rows.logits.temperature);
    if (threadIdx.x != 0) return;
    if (spoilt) part[0].sum.hi = NAN;
    if (!rows.logits.squares) part[0].squares.hi = NAN;
    grpo_take_target_(rows.logits, t, &part[0]);
    grpo_put_row_(rows, t, part[0]);
}

/* ---- back to the logits ----------------------------------------------------------------------------------------------------------- */

/* d loss / d z of a row: 0 but for the target; powers times a number, or times a line in z; else by grpo_write_rows_each_ */
typedef enum { GRPO_BACK_ZERO_, GRPO_BACK_POWERS_, GRPO_BACK_SLOPES_, GRPO_BACK_EACH_ } grpo_back_way_;

/* 1 if the row's gradient goes logit by logit: its largest logit is beyond, or a derivative so large that grpo_slope_is_steep_ might say
 * so, of which this is a bound: a power is at most 2 of the largest, and share |H + log share| at most 22 */
GRPO_CUDA_FN_ int grpo_back_is_each_(const grpo_logits_part &p, double tau, double dlogp, double dentropy) {
    return grpo_is_beyond_(p.largest, tau * 0.69314718055994531) || fabs(dlogp) + 1100 * fabs(dentropy) > 8e9 * tau;
}

struct grpo_device_back_ { grpo_exps_ k; grpo_powers_ c; grpo_slope_ by; float target; int way; };

GRPO_CUDA_FN_ double grpo_real_or_0_(const float *x, int64_t t) { return x ? (double)x[t] : 0; }

GRPO_CUDA_FN_ grpo_device_back_ grpo_back_of_(const grpo_logits_part &p, grpo_exps_ k, double tau, double dlogp, double dentropy) {
    const double h = tau * 0.69314718055994531, largest = p.largest > -HUGE_VAL ? p.largest : 0;
    grpo_device_back_ b;
    memset(&b, 0, sizeof b);
    b.way = GRPO_BACK_ZERO_;
    if (dlogp == 0 && dentropy == 0) return b;
    if (grpo_back_is_each_(p, tau, dlogp, dentropy)) { b.way = GRPO_BACK_EACH_; return b; }
    const grpo_logits_slopes s = grpo_logits_part_slopes(&p, tau, dlogp, dentropy);
    b.target = (float)grpo_logits_slope(&s, 0, 1);
    if (s.at == 0 && s.slope == 0) return b;
    k.origin = 0;
    k.from = (float)largest;
    grpo_exps_set_top_(&k, (float)ceil(largest / h), h);
    const double unit = ldexp(s.share * exp(-grpo_exps_log_(&k, tau, largest)) / tau, -64);
    b.by.at = s.at * unit;
    b.by.slope = s.slope * (unit / tau);
    b.way = b.by.slope == 0 && grpo_fold_(&k, tau, b.by.at, &b.c) ? GRPO_BACK_POWERS_ : GRPO_BACK_SLOPES_;
    b.k = k;
    return b;
}

template <int WAY> GRPO_CUDA_FN_ void grpo_back_8_(const grpo_device_back_ &b, const float *z, float *g) {
    const grpo_exps_ &k = b.k;
    const grpo_powers_ &c = b.c;
    for (int j = 0; j < GRPO_PACK_; j++) {
        const float d = grpo_above_(z[j], 0, k.least);
        if (WAY == GRPO_BACK_POWERS_) {
            g[j] = grpo_exp_float_(1, d, k.shift, k.per, k.h1, k.h2, 1, c.high, c.low, c.c1, c.c2, c.c3, c.c4, c.c5, c.c6);
        } else {
            const float e = grpo_exp_float_(1, d, k.shift, k.per, k.h1, k.h2, 0, 1.0f, 0.0f, k.b1, k.b2, k.b3, k.b4, k.b5, k.b6);
            g[j] = (float)((double)e * fma(b.by.slope, (double)(d - k.from), b.by.at));
        }
    }
}

/* gradients of eight logits from `at` on, of which `count` are there */
template <int TYPE> GRPO_CUDA_FN_ void grpo_put_8_(const grpo_device_row_ &r, const grpo_device_back_ &b, char *out, int at, int count,
                                                   float *g) {
    const int target = r.target - at;
    char *to = out + (int64_t)at * grpo_pack_bytes_<TYPE>();
    if (target >= 0 && target < GRPO_PACK_)
        for (int j = 0; j < GRPO_PACK_; j++) if (j == target) g[j] = b.target;
    if (count == GRPO_PACK_ && ((uintptr_t)to & 15) == 0) {
        grpo_pack_<TYPE> p;
        grpo_repack_(g, &p);
        *(grpo_pack_<TYPE> *)to = p;
        return;
    }
    for (int j = 0; j < GRPO_PACK_; j++) if (j < count) grpo_put_one_(TYPE, out, at + j, g[j]);
}

template <int TYPE, int WAY> GRPO_CUDA_FN_ void grpo_write_row_(const grpo_device_row_ &r, const grpo_device_back_ &b, char *out) {
    float z[GRPO_PACK_], g[GRPO_PACK_];
    int at;
    const int count = grpo_edge_(r, &at);
    for (int j = 0; j < GRPO_PACK_; j++) g[j] = 0;
    if (count > 0) {
        if (WAY != GRPO_BACK_ZERO_) {
            grpo_load_edge_<TYPE>(r, at, count, z);
            grpo_back_8_<WAY>(b, z, g);
        }
        grpo_put_8_<TYPE>(r, b, out, at, count, g);
    }
    int pack = (int)threadIdx.x;
    grpo_pack_<TYPE> next;
    if (WAY != GRPO_BACK_ZERO_ && pack < r.packs) next = grpo_load_pack_<TYPE>(r, pack);
    while (pack < r.packs) {
        at = r.head + pack * GRPO_PACK_;
        if (WAY != GRPO_BACK_ZERO_) {
            grpo_unpack_(next, z);
            if (pack + GRPO_CUDA_THREADS < r.packs) next = grpo_load_pack_<TYPE>(r, pack + GRPO_CUDA_THREADS);
            grpo_ban_(r, at, z);
            grpo_back_8_<WAY>(b, z, g);
        } else {
            for (int j = 0; j < GRPO_PACK_; j++) g[j] = 0;             /* where the target was is 0 again */
        }
        grpo_put_8_<TYPE>(r, b, out, at, GRPO_PACK_, g);
        pack += GRPO_CUDA_THREADS;
    }
}

GRPO_CUDA_FN_ char *grpo_gradient_row_(const grpo_logits_batch &rows, int64_t t) {
    return (char *)rows.dlogits + t * rows.logits.stride * (rows.logits.type == GRPO_LOGITS_REAL ? 4 : 2);
}

template <int TYPE> static __global__ void __launch_bounds__(GRPO_CUDA_THREADS, 1024 / GRPO_CUDA_THREADS)
grpo_write_rows_(const grpo_logits_batch rows, const uint8_t *mask, const float *dlogp, const float *dentropy, const grpo_exps_ k) {
    __shared__ grpo_device_back_ shared;
    const int64_t t = blockIdx.x;
    const grpo_device_row_ r = grpo_device_row_of_<TYPE>(rows.logits, t);
    if (threadIdx.x == 0) {
        const int counts = !mask || mask[t];
        shared = grpo_back_of_(rows.part[t], k, rows.logits.temperature, counts ? grpo_real_or_0_(dlogp, t) : 0,
                               counts ? grpo_real_or_0_(dentropy, t) : 0);
    }
    __syncthreads();
    const grpo_device_back_ b = shared;
    char *out = grpo_gradient_row_(rows, t);
    if (b.way == GRPO_BACK_ZERO_) grpo_write_row_<TYPE, GRPO_BACK_ZERO_>(r, b, out);
    if (b.way == GRPO_BACK_POWERS_) grpo_write_row_<TYPE, GRPO_BACK_POWERS_>(r, b, out);
    if (b.way == GRPO_BACK_SLOPES_) grpo_write_row_<TYPE, GRPO_BACK_SLOPES_>(r, b, out);
}

/* logit by logit, in double: rows that grpo_write_rows_ leaves, or `all` */
static __global__ void grpo_write_rows_each_(const grpo_logits_batch rows, const uint8_t *mask, const float *dlogp, const float *dentropy,
                                             int all) {
    __shared__ grpo_logits_slopes s;
    const int64_t t = blockIdx.x, target = rows.logits.target[t];
    const double tau = rows.logits.temperature, d = grpo_real_or_0_(dlogp, t), de = grpo_real_or_0_(dentropy, t);
    const int counts = (!mask || mask[t]) && (d != 0 || de != 0);
    if (!all && !(counts && grpo_back_is_each_(rows.part[t], tau, d, de))) return;
    if (threadIdx.x == 0 && counts) s = grpo_logits_part_slopes(&rows.part[t], tau, d, de);
    __syncthreads();
    for (int64_t v = threadIdx.x; v < rows.logits.vocab; v += GRPO_CUDA_THREADS)
        grpo_put_one_(rows.logits.type, grpo_gradient_row_(rows, t), v,
                      counts ? (float)grpo_logits_slope(&s, grpo_logit_(&rows.logits, t, v), v == target) : 0);
}

/* ---- the host --------------------------------------------------------------------------------------------------------------------- */

/* a kernel with a block for each row */
template <class... P, class... A> static cudaError_t grpo_cuda_launch_(void (*kernel)(P...), int64_t blocks, cudaStream_t stream, A... a) {
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3((unsigned)blocks);
    how.blockDim = dim3(GRPO_CUDA_THREADS);
    how.stream = stream;
    return cudaLaunchKernelEx(&how, kernel, (P)a...);
}

static cudaError_t grpo_cuda_check_(const grpo_logits_batch *rows) {
    const grpo_logits *x = rows ? &rows->logits : NULL;
    if (!x || grpo_check_logits_(x) || !rows->part) return cudaErrorInvalidValue;
    if (x->rows > 2147483647 || x->vocab > 2147483647 - GRPO_PACK_ * GRPO_CUDA_THREADS) return cudaErrorInvalidValue;
    return cudaSuccess;
}

static int grpo_cuda_is_fast_(double tau) { return tau > 1e-4 && tau < 1e4; }

template <int TYPE> static cudaError_t grpo_cuda_read_(const grpo_logits_batch &rows, const uint8_t *mask, cudaStream_t stream) {
    const double tau = rows.logits.temperature;
    const int fast = grpo_cuda_is_fast_(tau);
    if (fast) {
        const cudaError_t e = grpo_cuda_launch_(rows.logits.squares ? grpo_read_rows_<TYPE, 1> : grpo_read_rows_<TYPE, 0>,
                                                rows.logits.rows, stream, rows, mask, grpo_exps_of_(tau));
        if (e != cudaSuccess) return e;
    }
    return grpo_cuda_launch_(grpo_read_rows_each_, rows.logits.rows, stream, rows, mask, !fast);
}

template <int TYPE> static cudaError_t grpo_cuda_write_(const grpo_logits_batch &rows, const uint8_t *mask, const float *dlogp,
                                                        const float *dentropy, cudaStream_t stream) {
    const double tau = rows.logits.temperature;
    const int fast = grpo_cuda_is_fast_(tau);
    if (fast) {
        const cudaError_t e = grpo_cuda_launch_(grpo_write_rows_<TYPE>, rows.logits.rows, stream, rows, mask, dlogp, dentropy,
                                                grpo_exps_of_(tau));
        if (e != cudaSuccess) return e;
    }
    return grpo_cuda_launch_(grpo_write_rows_each_, rows.logits.rows, stream, rows, mask, dlogp, dentropy, !fast);
}

static cudaError_t grpo_cuda_batch_read(const grpo_logits_batch *rows, const uint8_t *mask, cudaStream_t stream) {
    const cudaError_t e = grpo_cuda_check_(rows);
    if (e != cudaSuccess || rows->logits.rows == 0) return e;
    switch (rows->logits.type) {
    case GRPO_LOGITS_BFLOAT16: return grpo_cuda_read_<GRPO_LOGITS_BFLOAT16>(*rows, mask, stream);
    case GRPO_LOGITS_FLOAT16:  return grpo_cuda_read_<GRPO_LOGITS_FLOAT16>(*rows, mask, stream);
    default:                   return grpo_cuda_read_<GRPO_LOGITS_REAL>(*rows, mask, stream);
    }
}

static cudaError_t grpo_cuda_batch_gradient(const grpo_logits_batch *rows, const uint8_t *mask, const float *dlogp, const float *dentropy,
                                            cudaStream_t stream) {
    const cudaError_t e = grpo_cuda_check_(rows);
    if (e != cudaSuccess || !rows->dlogits) return cudaErrorInvalidValue;
    if (rows->logits.rows == 0) return e;
    switch (rows->logits.type) {
    case GRPO_LOGITS_BFLOAT16: return grpo_cuda_write_<GRPO_LOGITS_BFLOAT16>(*rows, mask, dlogp, dentropy, stream);
    case GRPO_LOGITS_FLOAT16:  return grpo_cuda_write_<GRPO_LOGITS_FLOAT16>(*rows, mask, dlogp, dentropy, stream);
    default:                   return grpo_cuda_write_<GRPO_LOGITS_REAL>(*rows, mask, dlogp, dentropy, stream);
    }
}
#endif /* GRPO_ROWS_CUH */
