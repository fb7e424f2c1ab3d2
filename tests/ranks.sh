#!/bin/sh
# ranks.sh PROGRAM [MPIRUN]: PROGRAM, built from examples/ranks.c, prints the same bits for 1, 2 and 4 ranks. Prints "N passed, N failed".
set -u
program=$1 mpirun=${2:-mpirun}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
. "$(dirname "$0")/support/counting.sh"
for n in 1 2 4; do
    "$mpirun" --oversubscribe -n $n "$program" >"$work/$n" 2>"$work/log"
    verdict "$n ranks" $?
    [ -s "$work/$n" ] && diff "$work/1" "$work/$n"
    verdict "bits of $n ranks" $?
done
cat "$work/1"
summary
