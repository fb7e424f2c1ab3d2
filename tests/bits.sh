#!/bin/sh
# bits.sh [--quick | --write]: every row gives the bits of bits/bits.txt (without fused multiply-adds: with every compiler and optimisation
# level) and of bits/bits_fma.txt (gcc with fused multiply-adds, which the compiler chooses: compared with gcc 12 alone), with and without
# blocks, and with the products for C libraries whose fma is not exact.  Random variations of rows, and all combinations of three choices
# (bits/bits_random.c), give the same bits with and without blocks.  Rows of logits give the same bits on one machine with all compilers
# and options.  --quick: bits.txt once, with the compiler CC.  --write rewrites both files: only where numbers are meant to change.
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n' >"$work/body.c"

element_hashes() { # program, compiler and options
    program=$1; shift
    "$@" -I. tests/bits/bits.c "$work/body.c" -lm -o "$work/$program" && "$work/$program" >"$work/$program.found"
}

hashes() { # compiler and options: both element types, in parallel
    rm -f "$work"/*.found
    element_hashes double "$@" -DGRPO_DOUBLE &
    element_hashes float "$@" -UGRPO_DOUBLE
    wait
    cat "$work/double.found" "$work/float.found"
}

same_lines() { # what, file, file: a check for each line
    differ=$(diff "$2" "$3" | grep -c '^[<>]')
    same=$(grep -cxFf "$2" "$3") same=${same:-0}                  # of an empty file grep counts nothing
    diff "$2" "$3" | sed -n "s|^[<>]|FAIL $1:|p" | sort | head -20
    if [ "$same" -eq 0 ]; then differ=$((differ + 1)); fi
    count "$same" "$differ"
    echo "$1: $same the same, $differ differ"
}

compare() { # file, what, compiler and options
    file=tests/bits/$1 what=$2; shift 2
    if hashes "$@" >"$work/found"; then same_lines "$what" "$file" "$work/found"; else verdict "$what: builds and runs" 1; fi
}

random_hashes() { # file to write, options: random objectives, pairs and triples of choices
    out=$1; shift
    : >"$work/$out"
    for element in -DGRPO_DOUBLE -UGRPO_DOUBLE; do
        gcc -std=c99 -O1 $element "$@" -I. tests/bits/bits_random.c "$work/body.c" -lm -o "$work/$out.program" || return 1
        combinations=pairs
        [ $element = -UGRPO_DOUBLE ] || combinations="triples 0 1"
        for draws in "0 5000" "$combinations"; do "$work/$out.program" $draws >>"$work/$out" || return 1; done
    done
}

random_compare() { # the same bits with and without blocks
    random_hashes blocks & random_hashes no_blocks -DGRPO_NO_BLOCKS || : >"$work/no_blocks"
    wait
    same_lines "random objectives, combinations of choices, with and without blocks" "$work/blocks" "$work/no_blocks"
}

logits_hashes() { "$@" -std=c99 -ffp-contract=off tests/logits/logits_bits.c -lm -o "$work/logits" && "$work/logits"; }

logits_compare() { # compiler and options: the same bits as gcc -O2 on this machine
    if logits_hashes "$@" >"$work/found"; then same_lines "logits, $*" "$work/logits.first" "$work/found"
    else verdict "logits, $*: builds and runs" 1; fi
}

if [ "${1:-}" = --write ]; then
    hashes gcc -std=c99 -O1 >tests/bits/bits.txt && hashes gcc -std=gnu99 -O2 -march=x86-64-v3 >tests/bits/bits_fma.txt
    exit
fi
if [ "${1:-}" = --quick ]; then
    compare bits.txt "$(command -v "${CC:-cc}") -std=c99 -O1" "${CC:-cc}" -std=c99 -O1 -ffp-contract=off
    summary
    exit
fi
compare bits.txt "gcc -std=c99 -O1" gcc -std=c99 -O1
compare bits.txt "clang -std=c99 -O1" clang -std=c99 -O1 -ffp-contract=off
compare bits.txt "gcc -std=c99 -O1, without blocks" gcc -std=c99 -O1 -DGRPO_NO_BLOCKS
compare bits.txt "gcc -std=c99 -O1, Dekker's product" gcc -std=c99 -O1 -DGRPO_NO_EXACT_FMA_
case $(gcc -dumpversion).$(uname -m) in
12.x86_64)
    if grep -qw fma /proc/cpuinfo; then compare bits_fma.txt "gcc -std=gnu99 -march=x86-64-v3" gcc -std=gnu99 -O2 -march=x86-64-v3
    else echo "skipped: this processor has no fused multiply-add"; fi ;;
*) echo "skipped: fused multiply-adds are held for gcc 12 on x86-64" ;;
esac
random_compare
logits_hashes gcc -O2 >"$work/logits.first"
logits_compare gcc -O3 -march=native
logits_compare clang -O2
logits_compare clang -O1 -march=native
summary
