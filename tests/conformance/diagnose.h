/* Which mistake makes a program's wrong answers.  All answers are kept; when the last one is in, everything that could be a cause is tried
 * on some of the failing cases, and what gives the very numbers there is held against every answer, right ones too.  A cause of the loss is
 * held against answers from logits and hidden states too: what it makes of their log-probabilities goes on by the chain rule. */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H
#include "alternatives.h"
#include "judge.h"
#include "known.h"

typedef enum {
    CAUSE_KNOWN,            /* `name` is an id of DEFECTS.md: as recorded in the vectors, and computed where it can be */
    CAUSE_COMPUTED,         /* a mistake of plain.h */
    CAUSE_OWN_ADVANTAGES,
    CAUSE_FACTOR,
    CAUSE_CHANGE,           /* another objective: one change, */
    CAUSE_PAIR,             /* two, */
    CAUSE_PRESET,           /* or a published one whatever was asked for */
    CAUSE_ROUNDING,
    CAUSE_LONG_SUM          /* rounding too, of cases with very many tokens alone */
} cause_kind;

typedef enum { WHOLE, GRADIENT_ONLY, VALUE_ONLY, N_HALVES } cause_half;

/* against one item */
typedef enum {
    SAYS_NOTHING,           /* it would have given the right answer */
    SAYS_SAME,              /* what was found: all of it */
    SAYS_ONE_NUMBER,        /* the one number that is recorded was found */
    SAYS_OTHER              /* it would have given other numbers than were found */
} saying;

typedef struct {
    char *name, *text;
    cause_kind kind;
    cause_half half;
    stage_kind stage;               /* of CAUSE_KNOWN: all */
    int form[N_STAGES], forms[N_STAGES];        /* of plain.h: the first, and how many */
    change made[2];
    int preset, quantity, divided;  /* quantity: -1, `factor` */
    unsigned outputs;
    double factor;
    unsigned char *says;            /* (items) a saying each */
    int *evidence;                  /* (items) numbers that are the same, and neither right nor 0 */
} cause;

/* one stage of the answer to one case */
typedef struct item {
    int result;
    const test_case *c;
    const question *q;
    const answer *found;
    const test_case *loss;          /* of logits and hidden states with an objective: what that is asked of (plain.h); else NULL */
    const struct item *goes_on;     /* this is the loss of that item by itself: what is answered to it goes on there, by the chain rule */
    stage_kind stage;
    int failed, accepted;           /* accepted: as a documented convention; it has no part in the diagnosis then */
    int fragile;                    /* the case is made of infinities
        or enormous numbers: what fails there may fail for a reason of its own */
    output_kind first_wrong;        /* of those that fail: in the order in which they are computed */
    int wrong_outputs;              /* a set of bits */
} item;

typedef struct { question q; answer found; test_case *loss; } kept_answer;

typedef struct {
    const rules *r;
    known_mistake *known;           /* stb_ds arrays */
    cause *causes;
    item *items;
    kept_answer **kept;
    int64_t work_left;              /* a program that gets everything wrong is no reason to take minutes */
    int pairs_left;
} diagnostician;

/* is it made of infinities or enormous numbers, on which a program may fail for a reason of its own? */
int diagnostician_is_fragile(const test_case *c);

void diagnostician_open(diagnostician *d, const char *vectors, const rules *r);
void diagnostician_free(diagnostician *d);

/* takes q and found over; the case must stay */
void diagnostician_keep(diagnostician *d, int result, const question *q, const answer *found, const mismatch *wrong);
void diagnostician_conclude(diagnostician *d);

#endif
