/* conform --metamorphic: relations between a program's own answers; no expected number is needed. */
#ifndef METAMORPHIC_H
#define METAMORPHIC_H
#include "options.h"

int metamorphic(const options *o);      /* the exit status */

#endif
