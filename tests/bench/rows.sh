#!/bin/sh
# Is a row slower than with the headers of another commit?  Both are compiled with the same flags into a shared object each, and timed in
# turn in one program on the same memory (criterion: rows_beside.c).  Functions and loops are aligned, because their alignment changes times
# by up to 8 %.  Ends with "N passed, N failed".
#   tests/bench/rows.sh COMMIT [ROW ...]     CC, CFLAGS, PAIRS (101)
# The cost of a token for each row, with its limit (rows_cost.c):
#   tests/bench/rows.sh --costs [ROW ...]    CC, CFLAGS (-O3 -march=native)
set -eu
cd "$(dirname "$0")/../.."
commit=$1; shift
if [ "$commit" = --costs ]; then
    program=$(mktemp)
    trap 'rm -f "$program"' EXIT
    ${CC:-cc} -std=c99 ${CFLAGS:--O3 -march=native} -I. -Itests/bench tests/bench/rows.c tests/bench/rows_cost.c -lm -o "$program"
    "$program" "$@"
    exit
fi
: "${CFLAGS:=-O2 -falign-functions=64 -falign-loops=32 -falign-jumps=32}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/old" && git archive "$commit" | tar xf - -C "$work/old"
shared() { ${CC:-cc} -std=c99 $CFLAGS -fPIC -shared -I"$1" -Itests/bench tests/bench/rows.c -lm -o "$work/$2.so"; }
shared "$work/old" before
shared . after
${CC:-cc} -std=c99 -O2 -D_DEFAULT_SOURCE -Itests/bench tests/bench/rows_beside.c -ldl -lm -o "$work/rows_beside"
"$work/rows_beside" "$work/before.so" "$work/after.so" "${PAIRS:-101}" "$@"
