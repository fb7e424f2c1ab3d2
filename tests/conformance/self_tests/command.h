/* Runs a command and returns its standard output; its standard error is discarded. */
#ifndef COMMAND_H
#define COMMAND_H

typedef struct { int status; double seconds; char *output; } command_result;       /* status: the exit status, or 128 + signal */

/* command ends with NULL; after `limit` seconds it gets SIGTERM, and the status is 143 */
command_result command_run(const char *const *command, double limit);

#endif
