/* Steps of a search for the worst input: numbers that are changed, and put back where the error fell. */
#ifndef CLIMB_H
#define CLIMB_H
#include "random_batch.h"

enum { MOST_CHANGES = 16 };
typedef struct { int count; struct { void *at; size_t size; unsigned char old[8]; } of[MOST_CHANGES]; } changes;

static inline void put(changes *all, void *at, size_t size, const void *x) {
    if (all->count == MOST_CHANGES) return;
    all->of[all->count].at = at;
    all->of[all->count].size = size;
    memcpy(all->of[all->count++].old, at, size);
    memcpy(at, x, size);
}

static inline void put_real(changes *all, grpo_real *at, double x) {
    const grpo_real y = (grpo_real)x;
    put(all, at, sizeof y, &y);
}

static inline void take_back(changes *all) {
    while (all->count > 0) {
        all->count--;
        memcpy(all->of[all->count].at, all->of[all->count].old, all->of[all->count].size);
    }
}

/* x with other low bits, its neighbour, or another number of its size */
static inline double near(rng *r, double x) {
    const int how = (int)rng_below(r, 10);
    if (how < 3) return x * (1 + rng_sign(r) * ldexp(rng_unit(r), -1 - (int)rng_below(r, 51)));
    return how < 4 ? nextafter(x, rng_sign(r) * HUGE_VAL) : x * (0.5 + 1.5 * rng_unit(r));
}

static inline double any_number(rng *r, double x, double other) {
    const int how = (int)rng_below(r, 20);
    if (how < 7) return near(r, x);
    if (how < 12) return other + rng_sign(r) * (fabs(other) + 0.1) * exp(-35 * rng_unit(r));
    return how < 14 ? (double)rng_below(r, 3) - 1 : 4 * rng_unit(r) - 2;
}
#endif
