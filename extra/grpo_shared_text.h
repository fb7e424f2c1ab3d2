/* grpo_shared_text.h - sentences with numbers, truncated to the caller's buffer; without printf, so independent of the locale.
 * Internal: include the headers that need it. */
#ifndef GRPO_SHARED_TEXT_H
#define GRPO_SHARED_TEXT_H

#include "../grpo.h"

GRPO_C_BEGIN_

/* the name of what a status is about; without texts "" */
GRPO_FN const char *grpo_name_of_(int what) {
#ifdef GRPO_NO_TEXT
    (void)what;
    return "";
#else
    return grpo_status_what(GRPO_STATUS_(0, what));
#endif
}

#ifndef GRPO_NO_TEXT
typedef struct { char *buffer; size_t room; } grpo_text_;              /* where to write next, and how many characters still fit before the
                                                                          final 0 */

GRPO_FN void grpo_say_part_(grpo_text_ *to, const char *text, size_t length) {
    const size_t n = length < to->room ? length : to->room;
    memcpy(to->buffer, text, n);
    to->buffer += n;
    to->room -= n;
    *to->buffer = 0;
}

GRPO_FN void grpo_say_(grpo_text_ *to, const char *text) { grpo_say_part_(to, text, strlen(text)); }

GRPO_FN void grpo_say_integer_(grpo_text_ *to, int64_t n) {
    char digits[24];
    char *p = digits + sizeof digits;
    *--p = 0;
    do { *--p = (char)('0' + (int)(n % 10)); n /= 10; } while (n);
    grpo_say_(to, p);
}

/* writes the six digits of n with a decimal point after the first `before`, without one if that is 7; trailing zeros are dropped */
GRPO_FN void grpo_say_digits_(grpo_text_ *to, int64_t n, int before) {
    char digits[6], text[8];
    int k, last = 1, place = 0;
    for (k = 5; k >= 0; k--, n /= 10) digits[k] = (char)('0' + (int)(n % 10));
    for (k = 0; k < 6; k++) if (digits[k] != '0') last = k + 1;
    for (k = 0; k < last || (k < before && before < 7); k++) {
        if (k == before) text[place++] = '.';
        text[place++] = digits[k];
    }
    text[place] = 0;
    grpo_say_(to, text);
}

GRPO_FN void grpo_say_positive_(grpo_text_ *to, double x) {
    int e = (int)floor(log10(x));
    double digits = e < -290 ? x * 1e300 * pow(10, -295 - e) : e > 290 ? x / pow(10, e - 5) : x * pow(10, 5 - e);
    int64_t n;
    if (digits >= 999999.5) { digits /= 10; e++; }
    n = (int64_t)floor(digits + 0.5);
    if (e >= 0 && e < 6) { grpo_say_digits_(to, n, e + 1); return; }
    if (e < 0 && e >= -4) {
        grpo_say_(to, "0.");
        for (; e < -1; e++) grpo_say_(to, "0");
        grpo_say_digits_(to, n, 7);
        return;
    }
    grpo_say_digits_(to, n, 1);
    grpo_say_(to, e < 0 ? "e-" : "e+");
    grpo_say_integer_(to, e < 0 ? -e : e);
}

/* to six significant digits; integers below 1e15 with all digits */
GRPO_FN void grpo_say_number_(grpo_text_ *to, double x) {
    if (x != x) { grpo_say_(to, "NaN"); return; }
    if (x < 0) grpo_say_(to, "-");
    x = fabs(x);
    if (!grpo_is_finite(x)) grpo_say_(to, "infinity");
    else if (x < 1e15 && x == floor(x)) grpo_say_integer_(to, (int64_t)x);
    else grpo_say_positive_(to, x);
}

#endif
GRPO_C_END_
#endif /* GRPO_SHARED_TEXT_H */
