/* Which objective does a program compute? */
#ifndef IDENTIFY_H
#define IDENTIFY_H
#include "options.h"

int identify(const options *o);     /* prints; 0 when the answer is an objective that is known, or a few changes away from it */

#endif
