/* Numbers of 16 bits. */
#ifndef SIXTEEN_BITS_H
#define SIXTEEN_BITS_H

enum { BFLOAT16 = 8, FLOAT16 = 11 };        /* the bits of their mantissa, the first 1 included */

/* the nearest of these numbers, halves to even; beyond the largest: infinite */
double sixteen_bits(double x, int bits);

#endif
