/* One failing case as a test that stands alone, for a report to a program's maintainers. */
#ifndef REPRO_H
#define REPRO_H
#include "report.h"

/* writes it to standard output; nonzero after a message: there is no such case, it has no objective, or nothing is wrong with it */
int repro_write(const report *r, const test_case *c, int result);        /* a pytest, with torch */
int repro_write_c(const report *r, const test_case *c, int result);      /* C99, one file that needs nothing */

/* of both: what differs, formula, source and diagnosis, fit for a comment; the outputs that a function under test returns */
char *repro_head(const report *r, const test_case *c, int result);
int repro_asks(output_kind output);

#endif
