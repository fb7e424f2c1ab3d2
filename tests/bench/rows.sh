#!/bin/sh
# Is a row slower than with the headers of another commit?  Both are compiled with the same flags.  Each row is timed by turns, the one
# with the old headers and the one with the new right after each other and each first in half of the turns, and judged by the median of
# the turns' quotients: a machine whose speed changes from one second to the next takes both along.  Functions and loops are aligned, so that
# where they happen to fall decides nothing (it is up to 8 %).  Ends with "N passed, N failed"; a
# row fails that takes over 5 % more for the same numbers.  Where loss or gradient is another one now ("other") it is not judged.
#   tests/bench/rows.sh COMMIT [ROW ...]     CC, CFLAGS, TURNS (9)
set -eu
cd "$(dirname "$0")/../.."
commit=$1; shift
: "${CFLAGS:=-O2 -falign-functions=64 -falign-loops=32 -falign-jumps=32}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive "$commit" | tar xf - -C "$work"
cp tests/bench/rows.c "$work/rows_before.c"
${CC:-cc} -std=c99 $CFLAGS -I"$work" "$work/rows_before.c" -lm -o "$work/before"
${CC:-cc} -std=c99 $CFLAGS -I. tests/bench/rows.c -lm -o "$work/after"
time_row() { "$work/$1" "$row" | sed "s/^/$1 $turn /" >>"$work/times"; }
for row in ${*:-$("$work/before" | cut -d' ' -f1)}; do
    turn=0
    while [ $turn -lt "${TURNS:-9}" ]; do
        if [ $((turn % 2)) -eq 0 ]; then time_row before; time_row after; else time_row after; time_row before; fi
        turn=$((turn + 1))
    done
done
awk 'function same(x, y) { return (x - y) ^ 2 <= (1e-6 * x) ^ 2 + 1e-18 }
     function median(row, n,  i, j, x, sorted) {
         for (i = 0; i < n; i++) {
             x = taken["after", i, row] / taken["before", i, row]
             for (j = i; j > 0 && sorted[j - 1] > x; j--) sorted[j] = sorted[j - 1]
             sorted[j] = x
         }
         return n % 2 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2
     }
     { taken[$1, $2, $3] = $4; loss[$1, $3] = $5; gradient[$1, $3] = $6 }
     $1 == "after" { rows[$3]; if ($2 + 1 > turns) turns = $2 + 1 }
     !(($1, $3) in least) || $4 < least[$1, $3] { least[$1, $3] = $4 }
     END {
         for (row in rows) if (("before", row) in least) {
             ratio = median(row, turns)
             if (!same(loss["before", row], loss["after", row]) || !same(gradient["before", row], gradient["after", row])) verdict = "other"
             else if (ratio > 1.05) { failed++; verdict = "FAIL" } else { passed++; verdict = "ok" }
             printf "%-5s %-32s %8.3f ms before %8.3f ms after  %.3f\n", verdict, row, 1e3 * least["before", row], 1e3 * least["after", row], ratio
         }
         printf "%d passed, %d failed\n", passed, failed
     }' "$work/times" | sort -k1,1 -k8,8n
