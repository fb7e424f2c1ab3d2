/* The runner's side of the protocol (PROTOCOL.md): starts the program, sends cases, reads answers, restarts it where it misbehaves. */
#ifndef SESSION_H
#define SESSION_H
#include "../../support/case.h"
#include "program.h"
#include <cJSON.h>

typedef struct {
    program p;
    char *const *command;
    const char *precision;
    double timeout;             /* seconds */
    int asked, failed_starts, restarts;     /* asked: the seq of the last request */
    char *name, *language, *release;        /* from the program's answer to start; NULL before it */
    char *over;                 /* why no more requests are sent; NULL: the session goes on */
    int refused;                /* it is over because the program's answer to start was a refusal, not because it misbehaved */
} session;

typedef enum {
    REPLY_RESULT,
    REPLY_SKIP,                 /* text: the program's reason */
    REPLY_ERROR,                /* text: the program's error */
    REPLY_BROKEN,               /* text: how it violated the protocol; it has been killed */
    REPLY_NONE                  /* the session is over */
} reply_kind;

typedef struct { reply_kind kind; char *text; cJSON *json; const cJSON *result; } reply;

void session_open(session *s, char *const *command, const char *precision, double timeout);
int session_start(session *s);                  /* starts the program if it is not running; 0 when the session is over */
reply session_ask(session *s, const test_case *c);      /* sends a case and waits for the answer */
reply session_ask_json(session *s, const char *case_json, const test_case *c);      /* the same, with the JSON of the case given */
void reply_free(reply *r);
char *session_close(session *s);                /* ends the program; returns what went wrong, for the caller to free, or NULL */

char *session_case(const test_case *c);         /* the case as the program gets it: JSON, for the caller to free */

#endif
