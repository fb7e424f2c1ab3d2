/* Statuses in tests: lines to print, and comparison with what is expected. */
#ifndef STATUS_H
#define STATUS_H
#include "../grpo.h"

/* the whole message; of the last four statuses asked for */
static inline const char *status_line(grpo_status st)
{
    static char line[4][700];
    static int k;
    k = (k + 1) % 4;
    return grpo_status_message(st, line[k], sizeof line[k]);
}

static inline int status_what(grpo_status st) { return (int)(st >> 8 & 1023); }

static inline int is_of_a_value(int rule)
{
    return rule == GRPO_NAN || rule == GRPO_INFINITE || rule == GRPO_TOO_LARGE || rule == GRPO_NEGATIVE || rule == GRPO_NOT_UNIT;
}

/* the same thing is at fault and the same rule broken; a number that is expected to be NAN may be wrong in another way */
static inline int same_status(grpo_status found, grpo_status expected)
{
    const int rule = grpo_status_rule(found), wanted = grpo_status_rule(expected);
    return status_what(found) == status_what(expected) && (rule == wanted || (wanted == GRPO_NAN && is_of_a_value(rule)));
}

/* is it about this? */
static inline int speaks_of(grpo_status st, const char *what) { return strcmp(grpo_status_what(st), what) == 0; }
#endif
