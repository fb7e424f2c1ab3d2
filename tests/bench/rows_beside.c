/* rows_beside BEFORE.so AFTER.so PAIRS [ROW ...]: times each row with the old and the new headers, in pairs of consecutive calls whose
 * order alternates, and takes the median of the pairs' ratios: changes of the machine's speed affect both calls of a pair.  Prints a line
 * for each row and "N passed, N failed".  A row fails if it takes over 5 % longer for the same numbers; it is not judged if loss or
 * gradient differ ("other"). */
#include "rows.h"
#include "../support/check.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PAIRS = 10000 };

typedef struct {
    void (*begin)(rows_arrays *);
    const char *(*name)(int);
    int (*choose)(const char *);
    double (*call)(double *, double *);
    double loss, gradient, taken, least;
} side;

static rows_arrays arrays;
static side before, after;

static void *symbol(void *object, const char *name) {
    void *found = object ? dlsym(object, name) : NULL;
    if (!found) { fprintf(stderr, "%s\n", dlerror()); exit(2); }
    return found;
}

static void load(const char *path, side *s) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *(void **)&s->begin = symbol(object, "rows_begin");
    *(void **)&s->name = symbol(object, "rows_name");
    *(void **)&s->choose = symbol(object, "rows_choose");
    *(void **)&s->call = symbol(object, "rows_call");
    s->begin(&arrays);
}

static int call(side *s) {
    s->taken = s->call(&s->loss, &s->gradient);
    if (s->taken < s->least) s->least = s->taken;
    return s->taken >= 0;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int same(double x, double y) { return fabs(x - y) <= 1e-6 * fabs(x) + 1e-9; }

static void time_row(const char *row, int pairs) {
    static double quotient[MOST_PAIRS];
    const char *verdict = "ok";
    double median;
    int other;
    if (!before.choose(row) || !after.choose(row)) return;
    before.least = after.least = HUGE_VAL;
    if (!call(&before) || !call(&after)) return;                     /* a first call of each, not timed */
    other = !same(before.loss, after.loss) || !same(before.gradient, after.gradient);
    if (other) pairs = pairs / 4 + 1;
    for (int k = 0; k < pairs; k++) {
        call(k % 2 ? &after : &before);
        call(k % 2 ? &before : &after);
        quotient[k] = after.taken / before.taken;
    }
    qsort(quotient, (size_t)pairs, sizeof *quotient, compare);
    median = pairs % 2 ? quotient[pairs / 2] : (quotient[pairs / 2 - 1] + quotient[pairs / 2]) / 2;
    if (other) verdict = "other";
    else if (!check(median <= 1.05, "%s takes %.1f %% longer", row, 100 * (median - 1))) verdict = "FAIL";
    printf("%-5s %-32s %8.3f ms before %8.3f ms after  %.3f (%.3f to %.3f)\n", verdict, row, 1e3 * before.least, 1e3 * after.least, median,
        quotient[pairs / 4], quotient[pairs - 1 - pairs / 4]);
    fflush(stdout);
}

int main(int count, char **word) {
    const int pairs = count < 4 ? 0 : atoi(word[3]);
    if (pairs < 1 || pairs > MOST_PAIRS) { fprintf(stderr, "rows_beside BEFORE.so AFTER.so PAIRS [ROW ...]\n"); return 2; }
    load(word[1], &before);
    load(word[2], &after);
    if (count > 4) for (int k = 4; k < count; k++) time_row(word[k], pairs);
    else for (int k = 0; before.name(k); k++) time_row(before.name(k), pairs);
    return check_summary();
}
