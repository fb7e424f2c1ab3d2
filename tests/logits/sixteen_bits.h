/* Elements of 16 bits, IEEE binary16 and bfloat16: in double, and from it, cut off after the last bit. */
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

static inline uint16_t half_of(double x) {
    const int e = x == 0 ? -14 : !(fabs(x) <= 65000) ? 16 : ilogb(x) < -14 ? -14 : ilogb(x);
    const int m = e == 16 ? x != x : (int)ldexp(fabs(x), 10 - e);
    return (uint16_t)((x < 0 ? 0x8000 : 0) + (e < 16 && m < 1024 ? m : ((e + 15) << 10) + (m & 1023)));
}

static inline uint16_t bfloat_of(double x) {
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}
#endif
