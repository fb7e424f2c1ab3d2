/* --expect: compares the results of a run with those recorded in a file, so that only a change fails. */
#ifndef EXPECTATIONS_H
#define EXPECTATIONS_H
#include "report.h"

/* Compares the results with the file and prints the changes; a file that does not exist is written.  Returns 0 if nothing has changed, 1
 * if something has or the file is new, 2 if it cannot be read or written.  part: only some cases were run, so that missing ones are no
 * change. */
int expectations_check(const report *r, const char *path, int part);

#endif
