/* Runs a program over two pipes, one line per request and one per answer, with a time limit.  It survives whatever the program does. */
#ifndef PROGRAM_H
#define PROGRAM_H
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    char *const *command;           /* ends with NULL */
    pid_t pid;                      /* 0: not running */
    int to, from;
    char *received;                 /* stb_ds array: bytes read from the program */
    size_t given;                   /* the first bytes of `received` that were returned as the last line */
} program;

/* These return NULL, or what went wrong, as text that is valid until the next call; the program has then been killed.  program_ask sends a
 * line of `size` bytes and waits for one line, without its line break in *answer. */
const char *program_start(program *p, char *const *command);
const char *program_ask(program *p, const char *line, size_t size, double seconds, const char **answer, size_t *answer_size);
const char *program_end(program *p, const char *line, double seconds);     /* sends the last line; waits for exit status 0 */
void program_kill(program *p);
void program_free(program *p);

double program_clock(void);         /* seconds */

#endif
