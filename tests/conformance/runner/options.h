/* Reads the command line of conform. */
#ifndef OPTIONS_H
#define OPTIONS_H
#include "judge.h"
#include "profile.h"
#include "report.h"

#ifndef VECTORS
#define VECTORS "tests/vectors"
#endif
#define CONVENTIONS VECTORS "/../conformance/profiles/conventions.json"       /* documented conventions of frameworks */

typedef struct {
    const char *vectors;
    const char **only;              /* stb_ds array of globs: a case is run if one of them matches its id, or if there is none */
    const char **skip_flag;         /* stb_ds array: cases with one of these flags are skipped */
    const char *format, *expect, *repro;   /* expect: a file of expectations; repro: the id of a case; NULL where not given */
    report_writer *write;
    rules rules;
    double timeout;
    profile profile;
    int verbose, complete, strict, identify, metamorphic, objective_fixed, done;      /* done: --help or --version was printed */
    char **holds;               /* stb_ds array: properties of the program's own objective */
    char *const *command;           /* ends with NULL */
} options;

int options_read(int argc, char **argv, options *o);        /* 0, or 2 after a message */
void options_free(options *o);

int options_want(const options *o, const char *id);                      /* does --only select the case with this id? */
int options_want_file(const options *o, const char *variant);            /* can --only select a case of this file? */
const char *options_leave_out(const options *o, const test_case *c);     /* the flag of --skip-flag that the case has, else NULL */

#endif
