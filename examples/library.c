/* library.c - the objectives as one library, for programs in other languages.
 *
 *     cc -std=c99 -O2 -fPIC -c examples/library.c -o grpo.o           # to link
 *     cc -shared grpo.o -lm -o libgrpo.so                             # to load
 *
 * Elements are float; with -DGRPO_DOUBLE they are double and the functions' names end with _f64.  Of extra/ add what you call.
 * In a library of your own that shall not export these functions, leave out the pragma and compile with -fvisibility=hidden. */
#ifdef __GNUC__
#pragma GCC visibility push(default)             /* exported with -fvisibility=hidden too */
#endif
#define GSPO_IMPLEMENTATION
#include "../gspo.h"
#define GRPO_LAYOUT_IMPLEMENTATION
#include "../extra/grpo_layout.h"
#define GRPO_CONTEXT_IMPLEMENTATION              /* which objectives need whole groups, or moments; responses split over ranks */
#include "../extra/grpo_context.h"
#define GRPO_LINT_OBJECTIVE_IMPLEMENTATION       /* settings without effect */
#include "../extra/grpo_lint_objective.h"
