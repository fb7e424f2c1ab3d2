/* Elements of 16 bits in double: IEEE binary16, and bfloat16. */
#ifndef SIXTEEN_BITS_H
#define SIXTEEN_BITS_H
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double of_half(uint16_t h) {
    const int e = h >> 10 & 31, m = h & 1023;
    const double x = e == 31 ? (m ? NAN : HUGE_VAL) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -x : x;
}

static inline double of_bfloat(uint16_t h) {
    const uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}
#endif
