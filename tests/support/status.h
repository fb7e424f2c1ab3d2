/* Statuses in tests: lines to print, and comparison with what is expected. */
#ifndef STATUS_H
#define STATUS_H
#include "../../extra/grpo_messages.h"
#include <stdio.h>

/* the message of a status; valid for the next three calls too */
static inline const char *status_line(grpo_status st) {
    static char line[4][700];
    static int k;
    k = (k + 1) % 4;
    return grpo_status_message(st, line[k], sizeof line[k]);
}

/* what a status of that function of extra/ is about, in the words of its message: "batch.logp[7]", "low, high", "gate.delta".
 * The function's name ends at a space or a bracket */
static inline const char *thing_of(const char *function, grpo_status st) {
    static char line[200];
    char message[GRPO_MESSAGE_SIZE], name[60];
    const char *rule = grpo_status_text(st), *other = grpo_status_other(st), *end;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(function, " ("), function);
    grpo_call_message(name, st, message, sizeof message);
    end = strstr(message, rule);
    if (!end || end == message) return "";
    if (!strncmp(other, "argument ", 9)) other = end + strlen(rule) + 1;
    snprintf(line, sizeof line, "%.*s%s%s", (int)(end - message) - 1, message, *other ? ", " : "", other);
    return line;
}

/* the name of argument `place`, from 1, of that function; "" if it has fewer */
static inline const char *argument_of(const char *function, int place) {
    const char *name = thing_of(function, GRPO_STATUS_ARGUMENT_(GRPO_NULL, place, -1));
    return strchr(name, ' ') ? "" : name;                              /* "argument 3" */
}

static inline const char *last_argument(const char *function) {
    int n = 1;
    while (*argument_of(function, n + 1)) n++;
    return argument_of(function, n);
}

/* is the status that rule about that thing?  "last": the last argument */
static inline int says(const char *function, grpo_status st, int rule, const char *thing) {
    char last[40];
    if (strcmp(thing, "last") == 0) thing = strcpy(last, last_argument(function));
    return grpo_status_rule(st) == rule && strcmp(thing_of(function, st), thing) == 0;
}

/* is the status about `what`? */
static inline int speaks_of(grpo_status st, const char *what) { return strcmp(grpo_status_what(st), what) == 0; }
#endif
