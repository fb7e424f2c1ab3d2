/* The options of conform, their help text, and checks of their values. */
#include "options.h"
#include "relations.h"
#include <cJSON.h>
#include <fnmatch.h>
#include <stb_ds.h>
#include <stdio.h>
#include <stdlib.h>

/* Default tolerances, in eps of scale.  Code that computes d = l - o, exp(d), a mean and a product in the plain way loses a few eps per
 * step, times the log-ratio where a difference is the argument of an exp, times the number of terms in a plain sum.  The largest errors of
 * correct programs over all vectors: the NumPy port 16 eps in f64 and 10 in f32, the PyTorch port with autograd 16 and 9; with k3 computed
 * as e^-D - 1 + D down to D = 0.1 it is 80.  A wrong formula is off by at least 1e5 eps of f32.  In bf16 rounding the inputs alone moves a
 * log-ratio by a few eps, and it may then be on the other side of a clip bound: the tolerance is an eighth of the scale, and cases whose
 * result depends on such a clip fail. */
static const struct { const compare_precision *precision; double tolerance; } precisions[] = {
    { &compare_f64, 64 }, { &compare_f32, 64 }, { &compare_bf16, 16 }
};

static const char help[] =
    "usage: conform [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "Sends the test vectors to PROGRAM, an adapter that implements the protocol (PROTOCOL.md), compares its answers with the\n"
    "expected numbers and, where they differ, names the mistake that explains the difference.\n"
    "\n"
    "  --vectors DIR          the folder of the vectors (default: %s)\n"
    "  --only GLOB            run only cases whose id matches, such as 'gspo-*'; may be given several times\n"
    "  --skip-flag FLAG       skip cases with this flag, such as NegInf (vectors/README.md lists them); may be given several times\n"
    "  --precision P          the precision that the program computes in: f64 (default), f32 or bf16; errors are in its eps\n"
    "  --tolerance K          an error of up to K eps of a number's scale passes (default: %g in f64, %g in f32, %g in bf16)\n"
    "  --timeout SECONDS      time limit for each answer, and for the program's start (default: 10)\n"
    "  --format F             text (default), tap, junit, json or html\n"
    "  --verbose all          print every failure, not one example for each cause\n"
    "  --complete             skipped cases count as failures: exit status 1\n"
    "  --profile FILE         the program's conventions (profiles/README.md): an answer that is right by them is acceptable, not a\n"
    "                         failure\n"
    "  --strict               acceptable answers count as failures: exit status 1; without --profile none are acceptable\n"
    "  --expect FILE          the exit status says whether a result differs from those in FILE; if FILE does not exist, it is written\n"
    "  --repro ID             write this case, with the diagnosis, as a stand-alone pytest instead of the report;\n"
    "                         with --format c as a C99 file\n"
    "  --identify             find out which published objective the program computes, for a program that ignores case.objective\n"
    "  --metamorphic          check relations between the program's own answers, such as permuted responses or padding, without\n"
    "                         expected numbers; prints a minimal case for each relation that does not hold\n"
    "  --objective-fixed      with --metamorphic: the program computes one objective of its own and ignores case.objective\n"
    "  --holds P,P            with --objective-fixed: properties of that objective: mean, sum, normalised, unnormalised, baseline,\n"
    "                         linear, differences, gradient, order, length (README.md)\n"
    "  --version, --help\n"
    "\n"
    "Exit status: 0 if something passed and nothing failed (with --complete: and nothing was skipped; with --strict: and nothing is\n"
    "acceptable), 1 otherwise, 2 for a wrong command line or unreadable vectors.\n";

typedef int setter(options *o, const char *value);      /* nonzero: the value is invalid */

static int set_vectors(options *o, const char *value) { o->vectors = value; return 0; }
static int set_only(options *o, const char *value) { arrput(o->only, value); return 0; }

static int set_skip_flag(options *o, const char *value) { arrput(o->skip_flag, value); return 0; }

static int set_precision(options *o, const char *value) {
    for (size_t k = 0; k < sizeof precisions / sizeof *precisions; k++)
        if (!strcmp(precisions[k].precision->name, value)) { o->rules.precision = precisions[k].precision; return 0; }
    return 1;
}

static int positive(const char *value, double *out) {
    char *end;
    *out = strtod(value, &end);
    return end == value || *end || !(*out > 0) || !grpo_is_finite(*out);
}

static int set_tolerance(options *o, const char *value) { return positive(value, &o->rules.tolerance); }
static int set_timeout(options *o, const char *value) { return positive(value, &o->timeout) || o->timeout > 1e6; }

static int set_format(options *o, const char *value) {
    o->format = value;
    o->write = report_format(strcmp(value, "c") ? value : "text");
    return !o->write;
}

static int set_verbose(options *o, const char *value) {
    o->verbose = !strcmp(value, "all");
    return !o->verbose;
}

static int set_complete(options *o, const char *value) { (void)value; o->complete = 1; return 0; }
static int set_strict(options *o, const char *value) { (void)value; o->strict = 1; return 0; }
static int set_profile(options *o, const char *value) { return o->profile.json || profile_load(value, &o->profile); }
static int set_expect(options *o, const char *value) { o->expect = value; return !*value; }
static int set_repro(options *o, const char *value) { o->repro = value; return !*value; }
static int set_identify(options *o, const char *value) { (void)value; o->identify = 1; return 0; }

static int set_metamorphic(options *o, const char *value) { (void)value; o->metamorphic = 1; return 0; }
static int set_objective_fixed(options *o, const char *value) { (void)value; o->objective_fixed = 1; return 0; }

/* a list of properties separated by commas; returns 1 if one of them is unknown */
static int set_holds(options *o, const char *value) {
    for (const char *word = value; ; word++) {
        size_t length = strcspn(word, ",");
        int known = 0;
        char *property = calloc(length + 1, 1);
        if (!property) abort();
        memcpy(property, word, length);
        for (int k = 0; relation_properties[k]; k++) known |= !strcmp(property, relation_properties[k]);
        arrput(o->holds, property);
        if (!known) return 1;
        word += length;
        if (!*word) return 0;
    }
}

static int print_version(options *o, const char *value) {
    (void)value;
    o->done = 1;
    return printf("conform %s, protocol 1\n", GRPO_VERSION) < 0;
}

static int print_help(options *o, const char *value) {
    (void)value;
    o->done = 1;
    return printf(help, VECTORS, precisions[0].tolerance, precisions[1].tolerance, precisions[2].tolerance) < 0;
}

static const struct { const char *name; int valued; setter *set; } known[] = {
    { "--vectors", 1, set_vectors }, { "--only", 1, set_only }, { "--skip-flag", 1, set_skip_flag }, { "--precision", 1, set_precision },
        { "--tolerance", 1, set_tolerance },
    { "--timeout", 1, set_timeout }, { "--format", 1, set_format }, { "--verbose", 1, set_verbose }, { "--complete", 0, set_complete },
    { "--profile", 1, set_profile }, { "--strict", 0, set_strict }, { "--expect", 1, set_expect }, { "--repro", 1, set_repro },
    { "--identify", 0, set_identify }, { "--metamorphic", 0, set_metamorphic },
    { "--objective-fixed", 0, set_objective_fixed }, { "--holds", 1, set_holds },
    { "--version", 0, print_version }, { "--help", 0, print_help }
};

/* sets the option and returns the number of arguments used; 0 after an error message */
static int read_option(options *o, char **argument) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t length = strlen(known[k].name);
        const char *value = NULL;
        int used = 1;
        if (strncmp(argument[0], known[k].name, length)) continue;
        if (known[k].valued && argument[0][length] == '=') value = argument[0] + length + 1;
        else if (argument[0][length]) continue;
        else if (known[k].valued) { value = argument[1]; used = 2; }
        if (known[k].valued && !value) return fprintf(stderr, "conform: %s needs a value\n", known[k].name), 0;
        if (!known[k].set(o, value)) return used;
        return fprintf(stderr, "conform: invalid value for %s: %s\n", known[k].name, value ? value : ""), 0;
    }
    if (*argument[0] != '-') fprintf(stderr, "conform: %s is not an option; the program to test comes after --\n", argument[0]);
    else fprintf(stderr, "conform: unknown option %s\n", argument[0]);
    return 0;
}

/* the message for options that cannot be combined; NULL if there are none */
static const char *clash(const options *o) {
    if (arrlen(o->holds) && !o->objective_fixed) return "--holds needs --objective-fixed";
    if (o->objective_fixed && !o->metamorphic) return "--objective-fixed needs --metamorphic";
    if (o->metamorphic && (o->identify || o->expect || o->repro || o->profile.json))
        return "--metamorphic cannot be combined with --identify, --expect, --repro or --profile";
    return NULL;
}

int options_read(int argc, char **argv, options *o) {
    int n = 1;
    memset(o, 0, sizeof *o);
    o->vectors = VECTORS;
    o->format = "text";
    o->write = report_format("text");
    o->rules.precision = &compare_f64;
    o->timeout = 10;
    while (n < argc && strcmp(argv[n], "--")) {
        int used = read_option(o, argv + n);
        if (!used) return fputs("(conform --help lists all options)\n", stderr), 2;
        if (o->done) return 0;
        n += used;
    }
    if (n + 1 >= argc) return fputs("conform: no program to run: conform [OPTION]... -- PROGRAM [ARGUMENT]...\n", stderr), 2;
    if (!strcmp(o->format, "c") && !o->repro) return fputs("conform: --format c needs --repro\n", stderr), 2;
    o->command = argv + n + 1;
    if (clash(o)) return fprintf(stderr, "conform: %s\n", clash(o)), 2;
    for (size_t k = 0; !(o->rules.tolerance > 0); k++)
        if (precisions[k].precision == o->rules.precision) o->rules.tolerance = precisions[k].tolerance;
    return 0;
}

int options_want(const options *o, const char *id) {
    for (ptrdiff_t k = 0; k < arrlen(o->only); k++) if (!fnmatch(o->only[k], id, 0)) return 1;
    return arrlen(o->only) == 0;
}

const char *options_leave_out(const options *o, const test_case *c) {
    for (ptrdiff_t k = 0; k < arrlen(o->skip_flag); k++) if (case_has_flag(c, o->skip_flag[k])) return o->skip_flag[k];
    return NULL;
}

/* ids begin with the name of their file and a "-" */
int options_want_file(const options *o, const char *variant) {
    size_t length = strlen(variant);
    for (ptrdiff_t k = 0; k < arrlen(o->only); k++) {
        size_t literal = strcspn(o->only[k], "*?[\\");
        if (strncmp(o->only[k], variant, literal < length ? literal : length)) continue;
        if (literal <= length || o->only[k][length] == '-') return 1;
    }
    return arrlen(o->only) == 0;
}

void options_free(options *o) {
    arrfree(o->only);
    arrfree(o->skip_flag);
    for (ptrdiff_t k = 0; k < arrlen(o->holds); k++) free(o->holds[k]);
    arrfree(o->holds);
    profile_free(&o->profile);
}
