/* The command line of conform. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "judge.h"
#include "profile.h"
#include "report.h"

#ifndef VECTORS
#define VECTORS "tests/vectors"
#endif
#define CONVENTIONS VECTORS "/../conformance/profiles/conventions.json"       /* what is documented of frameworks */

typedef struct {
    const char *vectors;
    const char **only;              /* stb_ds array of globs; a case is asked if one of them matches, or if there is none */
    const char **skip_flag;     /* cases with such a flag are not asked */
    const char *format, *expect, *repro;   /* expect: a file of expectations; repro: a case; or NULL */
    report_writer *write;
    rules rules;
    double timeout;
    profile profile;
    int verbose, complete, strict, identify, metamorphic, objective_fixed, done;      /* done: all that was wanted has been printed */
    char **holds;               /* stb_ds array: properties of the program's own objective */
    char *const *command;           /* ends with NULL */
} options;

int options_read(int argc, char **argv, options *o);        /* 0, or 2 after a message */
void options_free(options *o);

int options_want(const options *o, const char *id);
int options_want_file(const options *o, const char *variant);            /* may a case of it be wanted? */
const char *options_leave_out(const options *o, const test_case *c);     /* NULL, or the flag for which it is not asked */

#endif
