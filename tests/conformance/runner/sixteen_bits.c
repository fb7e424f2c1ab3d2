/* Numbers of 16 bits: bfloat16, with the exponents of binary32, and float16. */
#include "sixteen_bits.h"
#include <math.h>

double sixteen_bits(double x, int bits) {
    const int least = bits == BFLOAT16 ? -126 : -14;        /* the exponent of the smallest normal number */
    const double most = bits == BFLOAT16 ? ldexp(255, 120) : 65504;
    int exponent;
    double unit, y;
    if (!(x - x == 0) || x == 0) return x;
    frexp(x, &exponent);
    unit = ldexp(1, (exponent - 1 < least ? least : exponent - 1) - (bits - 1));
    y = rint(x / unit) * unit;
    return fabs(y) > most ? copysign(HUGE_VAL, x) : y;
}
