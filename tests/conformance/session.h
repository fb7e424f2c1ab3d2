/* The protocol (PROTOCOL.md), from the runner's end. */
#ifndef SESSION_H
#define SESSION_H
#include "../case.h"
#include "program.h"
#include <cJSON.h>

typedef struct {
    program p;
    char *const *command;
    const char *precision;
    double timeout;             /* seconds */
    int asked, failed_starts, restarts;
    char *name, *language, *release;        /* what the program says of itself; NULL before it has */
    char *over;                 /* why nothing more is asked; NULL: the session goes on */
    int refused;                /* it is over because the program said so, by the protocol */
} session;

typedef enum {
    REPLY_RESULT,
    REPLY_SKIP,                 /* text: the program's reason */
    REPLY_ERROR,                /* text: the program's error */
    REPLY_BROKEN,               /* text: what it did against the protocol; it has been killed */
    REPLY_NONE                  /* the session is over */
} reply_kind;

typedef struct { reply_kind kind; char *text; cJSON *json; const cJSON *result; } reply;

void session_open(session *s, char *const *command, const char *precision, double timeout);
int session_start(session *s);                  /* if it is not running; 0 when the session is over */
reply session_ask(session *s, const test_case *c);
reply session_ask_json(session *s, const char *case_json, const test_case *c);
void reply_free(reply *r);
char *session_close(session *s);                /* what was wrong with the end, for the caller to free; NULL: nothing */

char *session_case(const test_case *c);         /* the case as it is asked: JSON, for the caller to free */

#endif
