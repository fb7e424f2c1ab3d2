/* --repro: writes one failing case as a stand-alone test, for a report to a program's maintainers. */
#ifndef REPRO_H
#define REPRO_H
#include "report.h"

/* These write to standard output; nonzero after an error message: the case has no objective, or its advantage, loss and dlogp are right. */
int repro_write(const report *r, const test_case *c, int result);        /* a pytest, with torch */
int repro_write_c(const report *r, const test_case *c, int result);      /* one C99 file without dependencies */

char *repro_head(const report *r, const test_case *c, int result);      /* the comment at the top: formula, source, diagnosis */
int repro_returns(output_kind output);      /* does the function to fill in return this output? */

#endif
