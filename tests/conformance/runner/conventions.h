/* Accepts answers that are right by documented conventions (profiles/conventions.json), for a program without a profile. */
#ifndef CONVENTIONS_H
#define CONVENTIONS_H
#include "report.h"

/* Marks cases as acceptable that one convention, or two together, explain, and removes them from the diagnosis.  A convention is accepted
 * for a whole set of cases (all to which it applies, or those of a row) or not at all: it must give every digit of every failure there, no
 * passing case may contradict it, and no known mistake may give the same numbers, unless the convention lists it in known_as. */
void conventions_accept(const profile *p, diagnostician *d, case_result *results);

#endif
