/* Where a NaN may come from in an answer whose input is infinite or masked: said of failures that no cause explains. */
#ifndef NAN_SOURCE_H
#define NAN_SOURCE_H
#include "../../support/case.h"

typedef enum { NAN_OF_MASK, NAN_OF_DIFFERENCE, NAN_OF_PRODUCT, NAN_OF_OTHERS, N_NAN_SOURCES } nan_source;

nan_source nan_source_of(const test_case *c, double largest);
extern const char *const nan_source_words[N_NAN_SOURCES];      /* of NAN_OF_OTHERS: NULL */

#endif
