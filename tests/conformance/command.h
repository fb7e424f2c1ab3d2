/* Runs a command and keeps what it writes on standard output; its standard error goes nowhere. */
#ifndef COMMAND_H
#define COMMAND_H

typedef struct { int status; double seconds; char *output; } command_result;       /* status: of exit, or 128 + signal */

/* command ends with NULL; killed after `limit` seconds (status 137) */
command_result command_run(const char *const *command, double limit);

#endif
