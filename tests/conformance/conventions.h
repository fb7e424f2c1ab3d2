/* What documented conventions make of a program's answers (profiles/conventions.json), where no profile says which are its own. */
#ifndef CONVENTIONS_H
#define CONVENTIONS_H
#include "report.h"

/* Takes what one convention, or two, explain out of the diagnosis, and marks the cases.  A convention is accepted for a whole set of
 * cases (all in which it holds, or those of a row) or not at all: it explains every failure there, all digits of it, and nothing that
 * passes contradicts it; nor does a known mistake that is none of its own names give the same. */
void conventions_accept(const profile *p, diagnostician *d, case_result *results);

#endif
