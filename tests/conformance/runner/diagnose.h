/* Finds the mistakes that explain a program's wrong answers.  All answers are kept.  After the last one every possible cause is tried on
 * some of the failing cases; a cause that gives the numbers found there is compared with every answer, right ones included.  A cause of the
 * loss is compared with answers from logits and hidden states too, its gradients continued by the chain rule. */
#ifndef DIAGNOSE_H
#define DIAGNOSE_H
#include "alternatives.h"
#include "judge.h"
#include "known.h"

typedef enum {
    CAUSE_KNOWN,            /* `name` is an id of DEFECTS.md: as recorded in the vectors, and computed where computed.h can */
    CAUSE_COMPUTED,         /* a mistake that computed.h computes */
    CAUSE_OWN_ADVANTAGES,   /* the loss is computed from the program's own advantages */
    CAUSE_FACTOR,           /* outputs multiplied by a factor */
    CAUSE_CHANGE,           /* another objective: one change away from case.objective */
    CAUSE_PAIR,             /* ... two changes away */
    CAUSE_PRESET,           /* ... a preset, regardless of case.objective */
    CAUSE_ROUNDING,         /* errors of float32 rounding, or (bits) numbers of 16 bits */
    CAUSE_LONG_SUM          /* rounding of a running sum, only in cases with very many tokens */
} cause_kind;

typedef enum { WHOLE, GRADIENT_ONLY, VALUE_ONLY, N_HALVES } cause_half;

/* what a cause says of one item */
typedef enum {
    SAYS_NOTHING,           /* it gives the right answer there, or cannot be computed */
    SAYS_SAME,              /* it gives all numbers that were found */
    SAYS_ONE_NUMBER,        /* only one of its numbers is recorded, and that number was found */
    SAYS_OTHER              /* it gives other numbers than those found */
} saying;

typedef struct {
    char *name, *text;
    cause_kind kind;
    cause_half half;
    int whole;                      /* it is not looked for in the gradient alone or the value alone */
    stage_kind stage;               /* not of CAUSE_KNOWN, which may be of several stages */
    int form[N_STAGES], forms[N_STAGES];        /* variants that computed.h computes under this name: index of the first, and how many */
    change made[2];                 /* of CAUSE_CHANGE and CAUSE_PAIR */
    int preset, quantity, divided;  /* of CAUSE_FACTOR: index of the quantity, -1: the number `factor`; divided: by it, not multiplied */
    int bits;                       /* of CAUSE_ROUNDING: 0 or those of sixteen_bits.h */
    int digits;                     /* of CAUSE_ROUNDING: 0, or so many decimals, or (negative) significant digits, of `outputs` */
    unsigned outputs;               /* of CAUSE_FACTOR, and of CAUSE_ROUNDING to digits: a bit set */
    double factor;
    unsigned char *says;            /* (items) a saying each */
    int *evidence;                  /* (items) how many numbers agree that are neither right nor 0 */
} cause;

/* one stage of the answer to one case */
typedef struct item {
    int result;
    const test_case *c;
    const question *q;
    const answer *found;
    const test_case *loss;          /* of logits and hidden states with an objective: the objective's own case (computed.h); else NULL */
    const struct item *goes_on;     /* NULL, or: this item is the objective of that one alone, and its answers are continued to that
                                       one's outputs by the chain rule */
    stage_kind stage;
    int failed, accepted;           /* accepted: by a documented convention; the diagnosis leaves it out then */
    int fragile;                    /* as diagnostician_is_fragile */
    output_kind first_wrong;        /* the first wrong output, in the order in which outputs are computed */
    int wrong_outputs;              /* a bit set */
} item;

typedef struct { question q; answer found; test_case *loss; } kept_answer;

typedef struct {
    const rules *r;
    known_mistake *known;           /* stb_ds arrays, to `kept` */
    cause *causes;
    item *items;
    kept_answer **kept;
    int64_t work_left;              /* tokens that may still be evaluated: limits the time for a program that gets everything wrong */
} diagnostician;

/* Does the case have infinities or enormous numbers?  A program may have separate problems with these, beside another mistake. */
int diagnostician_is_fragile(const test_case *c);

void diagnostician_open(diagnostician *d, const char *vectors, const rules *r);
void diagnostician_free(diagnostician *d);

/* takes ownership of q and found; the case must outlive the diagnostician.  result: the index in the report */
void diagnostician_keep(diagnostician *d, int result, const question *q, const answer *found, const mismatch *wrong);
/* of an advantage that the cause explains: what is wrong there besides, by judge_apart */
unsigned diagnostician_apart(const diagnostician *d, const cause *x, const item *it);
void diagnostician_conclude(diagnostician *d);      /* after the last answer: fills `causes` */

#endif
