/* Does rounding explain an answer?  evidence: how many numbers it changes. */
#ifndef ROUNDING_H
#define ROUNDING_H
#include "diagnose.h"

enum { ROUNDING_LONG = 1024 };      /* tokens of a case beyond which a running sum may be seen */
#define ROUNDING_SUM 1e-11          /* of the scale, in f64: largest rounding error of a running sum over very many tokens */

int rounding_is_long(const diagnostician *d, const test_case *c);
saying rounding_of_float32(const diagnostician *d, const item *it, int *evidence);
saying rounding_to_bits(const diagnostician *d, const item *it, int bits, int *evidence);        /* of sixteen_bits.h */
/* to so many decimals, or (negative) significant digits, of these outputs, a bit set */
saying rounding_to_digits(const diagnostician *d, const item *it, int digits, unsigned outputs, int *evidence);
saying rounding_of_long_sum(const diagnostician *d, const item *it, int *evidence);

#endif
