#!/bin/sh
# Is a row slower than with the headers of another commit?  Both are compiled with the same flags and run by turns; of each row the least
# time of all its calls counts.  Ends with "N passed, N failed"; a row fails that took over 5 % more for the same numbers.  Where loss or
# gradient is another one now ("other") the times are printed and not judged.  For a quiet machine.
#   tests/bench/rows.sh COMMIT [ROW ...]     CC, CFLAGS (-O2), TURNS (7)
set -eu
cd "$(dirname "$0")/../.."
commit=$1; shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive "$commit" | tar xf - -C "$work"
cp tests/bench/rows.c "$work/rows_before.c"
${CC:-cc} -std=c99 ${CFLAGS:--O2} -I"$work" "$work/rows_before.c" -lm -o "$work/before"
${CC:-cc} -std=c99 ${CFLAGS:--O2} -I. tests/bench/rows.c -lm -o "$work/after"
turn=0
while [ $turn -lt "${TURNS:-7}" ]; do
    "$work/before" "$@" | sed 's/^/before /' >>"$work/times"
    "$work/after" "$@" | sed 's/^/after /' >>"$work/times"
    turn=$((turn + 1))
done
awk 'function same(x, y) { return (x - y) ^ 2 <= (1e-6 * x) ^ 2 + 1e-18 }
     !(($1, $2) in least) || $3 < least[$1, $2] { least[$1, $2] = $3 }
     { rows[$2]; loss[$1, $2] = $4; gradient[$1, $2] = $5 }
     END {
         for (row in rows) if (("before", row) in least && ("after", row) in least) {
             ratio = least["after", row] / least["before", row]
             if (!same(loss["before", row], loss["after", row]) || !same(gradient["before", row], gradient["after", row])) verdict = "other"
             else if (ratio > 1.05) { failed++; verdict = "FAIL" } else { passed++; verdict = "ok" }
             printf "%-5s %-32s %8.3f ms before %8.3f ms after  %.3f\n", verdict, row, 1e3 * least["before", row], 1e3 * least["after", row], ratio
         }
         printf "%d passed, %d failed\n", passed, failed
     }' "$work/times" | sort -k1,1 -k8,8n
