#!/bin/sh
# Every lesson compiles without a warning, by the command that README.md shows, and prints what README.md shows.
# Prints "N passed, N failed".
set -u
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. ../../tests/support/counting.sh

shown() { # lesson: its block of output in README.md
    awk -v heading="\`$1.c\`" '/^## / { here = index($0, heading) } /^```/ { block = here && $0 == "```text"; next } block' README.md
}

judge() { # lesson
    [ "$(grep -cF "    cc -std=c99 examples/lessons/$1.c -lm -o lesson && ./lesson" README.md)" -eq 1 ] ||
        { echo "README.md does not show its command"; return 1; }
    [ "$(wc -l <"$1.c")" -le 80 ] || { echo "it has more than 80 lines"; return 1; }
    "${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$1.c" -lm -o "$work/lesson" && "$work/lesson" >"$work/printed" || return 1
    shown "$1" >"$work/shown"
    [ -s "$work/shown" ] && diff "$work/shown" "$work/printed"
}

for file in [0-9][0-9]_*.c; do
    check "$file" judge "${file%.c}"
done
summary
