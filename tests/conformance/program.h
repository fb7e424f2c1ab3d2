/* A program on the other end of two pipes: lines in, lines out, and nothing it does harms us. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    char *const *command;           /* ends with NULL */
    pid_t pid;                      /* 0: not running */
    int to, from;
    char *received;                 /* an stb_ds array: bytes not yet given out as a line */
    size_t given;                   /* bytes of `received` that were the last line */
} program;

/* NULL, or what went wrong, in words that last until the next call.  A program that did something wrong has been killed. */
const char *program_start(program *p, char *const *command);
const char *program_ask(program *p, const char *line, size_t size, double seconds, const char **answer, size_t *answer_size);
const char *program_end(program *p, const char *line, double seconds);     /* sends a last line and waits for the program to exit with 0 */
void program_kill(program *p);
void program_free(program *p);

double program_clock(void);         /* seconds */

#endif
