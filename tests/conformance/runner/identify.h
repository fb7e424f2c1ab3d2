/* conform --identify: finds the published objective that a program computes. */
#ifndef IDENTIFY_H
#define IDENTIFY_H
#include "options.h"

int identify(const options *o);     /* prints the result; returns 0 if an objective was identified, 1 if not, 2 on an error */

#endif
