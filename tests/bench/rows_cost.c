/* rows_cost [ROW ...]: prints the cost of a token for each row in ns, the median of calls, with its limit (rows.h), most expensive first;
 * then for each limit how many rows are within it, and their median.  The limits are for -O3 -march=native. */
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000, CALLS = 15 };

typedef struct { const char *name; double cost, bound; } row;

static rows_arrays arrays;

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int dearest(const void *a, const void *b) { return -ascending(&((const row *)a)->cost, &((const row *)b)->cost); }

/* returns 0 if the row needs further arrays, or is refused */
static int cost_of(row *x) {
    double taken[CALLS], loss, gradient;
    if (!rows_choose(x->name) || rows_call(&loss, &gradient) < 0) return 0;
    for (int k = 0; k < CALLS; k++) taken[k] = rows_call(&loss, &gradient);
    qsort(taken, CALLS, sizeof *taken, ascending);
    x->cost = 1e9 * taken[CALLS / 2] / rows_tokens();
    x->bound = rows_bound();
    return 1;
}

static int asked_for(const char *name, int count, char **word) {
    for (int k = 1; k < count; k++) if (strcmp(word[k], name) == 0) return 1;
    return count < 2;
}

/* prints how many rows are within this bound, and their median; rows are sorted by cost */
static void summary(const row *rows, int n, double bound) {
    static double cost[MOST_ROWS];
    int all = 0, within = 0;
    for (int k = 0; k < n; k++) {
        if (rows[k].bound != bound) continue;
        cost[all++] = rows[k].cost;
        within += rows[k].cost <= bound;
    }
    if (all) printf("%d of %d rows within %.0f ns a token, median %.1f\n", within, all, bound, cost[all / 2]);
}

int main(int count, char **word) {
    static row rows[MOST_ROWS];
    int n = 0;
    rows_begin(&arrays);
    for (int k = 0; rows_name(k) && n < MOST_ROWS; k++) {
        rows[n].name = rows_name(k);
        if (asked_for(rows[n].name, count, word)) n += cost_of(&rows[n]);
    }
    qsort(rows, (size_t)n, sizeof *rows, dearest);
    for (int k = 0; k < n; k++) {
        printf("%-6s %8.1f ns a token, at most %3.0f  %s\n", rows[k].cost <= rows[k].bound ? "within" : "above", rows[k].cost,
            rows[k].bound, rows[k].name);
    }
    summary(rows, n, 25);
    summary(rows, n, 40);
    summary(rows, n, 120);
    return 0;
}
