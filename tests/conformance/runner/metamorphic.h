/* conform --metamorphic: checks relations between a program's own answers, without expected numbers. */
#ifndef METAMORPHIC_H
#define METAMORPHIC_H
#include "options.h"

int metamorphic(const options *o);      /* the exit status */

#endif
