/* Statuses in tests: lines to print, and comparison with what is expected. */
#ifndef STATUS_H
#define STATUS_H
#include "../../grpo.h"
#include "arguments.h"
#include <stdio.h>

/* the message of a status; valid for the next three calls too */
static inline const char *status_line(grpo_status st) {
    static char line[4][700];
    static int k;
    k = (k + 1) % 4;
    return grpo_status_message(st, line[k], sizeof line[k]);
}

static inline int status_what(grpo_status st) { return (int)(st >> 8 & 1023); }

static inline void write_thing(const char *arguments, int place, const char *name, char *to, size_t size) {
    size_t n = strlen(name);
    const char *p = place < 1 ? name : argument_at(arguments, place, &n);
    snprintf(to, size, "%.*s", (int)n, p);
}

/* what a status of that function is about, in the names of its declaration: "batch.logp[7]", "low, high", "gate[2]" */
static inline const char *thing_of(const char *function, grpo_status st) {
    static char line[200];
    char what[80], other[80], entry[32] = "";
    const char *arguments = arguments_of(function);
    write_thing(arguments, status_what(st) - GRPO_AT_ARGUMENT_, grpo_status_what(st), what, sizeof what);
    write_thing(arguments, (int)(st >> 18 & 1023) - GRPO_AT_ARGUMENT_, grpo_status_other(st), other, sizeof other);
    if (grpo_status_index(st) >= 0) snprintf(entry, sizeof entry, "[%d]", (int)grpo_status_index(st));
    snprintf(line, sizeof line, "%s%s%s%s", what, entry, *other ? ", " : "", other);
    return line;
}

/* is the status that rule about that thing?  "last": the last argument */
static inline int says(const char *function, grpo_status st, int rule, const char *thing) {
    if (strcmp(thing, "last") == 0) thing = strrchr(arguments_of(function), ' ') + 1;
    return grpo_status_rule(st) == rule && strcmp(thing_of(function, st), thing) == 0;
}

/* is the status about `what`? */
static inline int speaks_of(grpo_status st, const char *what) { return strcmp(grpo_status_what(st), what) == 0; }
#endif
