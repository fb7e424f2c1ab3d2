/* Checks that count. A test program ends with `return check_summary();`, which prints "N passed, N failed" and fails without a check. */
#ifndef CHECK_H
#define CHECK_H
#include <stdarg.h>
#include <stdio.h>

#ifndef DRAWS_OVER
#define DRAWS_OVER 1      /* with sanitizers, which are slow, tests divide their number of draws by 4 */
#endif

static long check_passed, check_failed;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline int check(int ok, const char *format, ...) {
    va_list args;
    if (ok) { check_passed++; return 1; }
    if (++check_failed <= 50) {
        va_start(args, format);
        fputs("FAIL ", stdout);
        vprintf(format, args);
        putchar('\n');
        va_end(args);
    }
    return 0;
}

static inline int check_summary(void) {
    if (check_failed > 50) printf("(%ld more failures not shown)\n", check_failed - 50);
    printf("%ld passed, %ld failed\n", check_passed, check_failed);
    return check_failed != 0 || check_passed == 0;
}
#endif
