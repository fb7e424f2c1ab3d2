#!/bin/sh
# The size of the headers: object bytes (text and data) and compile time (user seconds, the median of three), compared with stb_image.h, as
# a table in Markdown; then the lines of files and functions, in C, Python and shell, against their bounds.
#   tests/size.sh            prints, about two minutes
#   tests/size.sh --check    compiles only what has a bound
#   tests/size.sh --lines    the lines alone, at once
# Ends with "N passed, N failed", and with 1 where a bound is exceeded.
# GSPO alone is gspo.h with GRPO_NO_ROWS, GRPO_NO_TEXT and GRPO_NO_BLOCKS. Sizes are in bytes, K is a thousand. CC: the compiler, gcc.
set -u
cd "$(dirname "$0")/.."
mode=${1:-}
cc=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh

bound() { # what, value, at most
    awk "BEGIN { exit !($2 <= $3) }"
    verdict "$(printf '%-64s %8s  at most %s' "$1" "$2" "$3")" $?
}

# ---- object bytes and compile time

gspo='#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n'
printf "$gspo" >"$work/gspo.c"
printf "#define GRPO_NO_ROWS\n$gspo" >"$work/no_rows.c"
printf "#define GRPO_NO_ROWS\n#define GRPO_NO_TEXT\n#define GRPO_NO_BLOCKS\n$gspo" >"$work/alone.c"
printf '#define STB_IMAGE_IMPLEMENTATION\n#include "stb_image.h"\n' >"$work/stb_image.c"
cp "$work/gspo.c" "$work/whole.c"
for header in extra/*.h; do
    name=$(basename "$header" .h | tr '[:lower:]' '[:upper:]')
    grep -q "${name}_IMPLEMENTATION" "$header" || continue
    printf '#define %s_IMPLEMENTATION\n#include "%s"\n' "$name" "$header" >>"$work/whole.c"
done
stb=$(pkg-config --cflags stb 2>/dev/null || echo -I/usr/include/stb)

compile() { # program, level: its bytes and user seconds to $work/program.level
    case ${repeats:-} in once) runs=1 ;; *) runs="1 2 3" ;; esac
    for _ in $runs; do
        sh -c '"$@" >&2; times' sh "$cc" -std=c99 -w "$2" -I. $stb -c "$work/$1.c" -o "$work/$1.o" | awk 'END { print $1 }'
    done | sed 's/m/ /; s/s//' | awk '{ print 60 * $1 + $2 }' | sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }' \
        >"$work/seconds"
    [ -f "$work/$1.o" ] || { echo "$1 does not compile" >&2; exit 1; }
    echo "$(size "$work/$1.o" | awk 'NR == 2 { print $1 + $2 }') $(cat "$work/seconds")" >"$work/$1.$2"
}

bytes() { cut -d' ' -f1 "$work/$1.$2"; }
seconds() { cut -d' ' -f2 "$work/$1.$2"; }
ratio() { awk "BEGIN { printf \"%.2f\", $(seconds "$1" "$2") / $(seconds stb_image "$2") }"; }

table() {
    echo "| | -O2: bytes | seconds / those of stb_image | -Os: bytes | seconds / those of stb_image |"
    echo "|---|---:|---:|---:|---:|"
    for program in whole gspo no_rows alone stb_image; do
        case $program in
            whole) name='everything: `grpo*.h`, `gspo.h`, `extra/*.h`';;
            gspo) name='`grpo.h`, `grpo_blocks.h`, `grpo_rows.h` and `gspo.h`';;
            no_rows) name='the same with `GRPO_NO_ROWS`';;
            alone) name='GSPO alone: `GRPO_NO_ROWS`, `GRPO_NO_TEXT`, `GRPO_NO_BLOCKS`';;
            stb_image) name='`stb_image.h`';;
        esac
        printf '| %s' "$name"
        for level in -O2 -Os; do
            [ -f "$work/$program.$level" ] || compile $program $level
            printf ' | %s | %s' "$(bytes $program $level)" "$(ratio $program $level)"
        done
        echo ' |'
    done
}

sizes() {
    if [ "$mode" = --check ]
    then # one run each; three for a compile time with a bound that the first run exceeded
        repeats=once; compile stb_image -O2; compile alone -O2; compile alone -Os; compile gspo -O2
        if awk "BEGIN { exit !($(ratio alone -O2) > 2.5) }"; then repeats=; compile stb_image -O2; compile alone -O2; fi
    else
        compile stb_image -O2
        compile stb_image -Os
        table
        echo
        echo "user seconds at -O2: grpo.h, grpo_blocks.h, grpo_rows.h and gspo.h $(seconds gspo -O2), GSPO alone $(seconds alone -O2)," \
            "stb_image.h $(seconds stb_image -O2)"
    fi
    bound "GSPO alone, bytes at -O2" "$(bytes alone -O2)" 200000
    bound "GSPO alone, bytes at -Os" "$(bytes alone -Os)" 110000
    bound "GSPO alone, compile time at -O2, times that of stb_image.h" "$(ratio alone -O2)" 2.5
    bound "grpo.h, grpo_blocks.h, grpo_rows.h and gspo.h, bytes at -O2" "$(bytes gspo -O2)" 280000
}

# ---- lines

lines_before_banner() { # the tables of choices, #define GRPO_...(X) over several lines, left out
    awk '/^ \* You can stop reading here/ { exit }
         /^#define GRPO_[A-Z0-9_]*\(X\).*\\$/ { table = 1 }
         table { if (!/\\$/) table = 0; next }
         { n++ } END { print n }' grpo.h
}

longest_function() { # lines from its { to its }, and its name
    awk 'FNR == 1 { start = signature = 0 }
         /^[a-zA-Z].*\(/ && !/^typedef/ && !/= \{$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); signature = 1 }
         signature && /\{$/ { start = FNR; signature = 0 }
         signature && /[;}]$/ { signature = 0 }
         /^\}/ && start {
             n = FNR - start + 1; start = 0
             if (n > 60) print FILENAME ": " name " has " n " lines" >"/dev/stderr"
             if (n > most) most = n
         }
         END { print most + 0 }' "$@"
}

longest_python_function() { # lines from its def to its end
    "$(command -v /usr/bin/python3 || command -v python3)" - "$@" <<'END'
import ast
import sys

# where a mistake is a branch beside the right line, and both must be seen together
EXCEPT = {"tests/conformance/self_tests/planted_port.py"}
most = 0
for path in sorted({*sys.argv[1:]} - EXCEPT):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            n = node.end_lineno - node.lineno + 1
            most = max(most, n)
            if n > 60:
                print(f"{path}: {node.name} has {n} lines", file=sys.stderr)
print(most)
END
}

scripts_of() { # ending, interpreter: the files with this ending, and those without one whose first line names the interpreter
    find tests examples fuzz packages .ci -type f -name "*.$1"
    find tests examples fuzz packages .ci -type f ! -name '*.*' -exec grep -l "^#!.*$2\$" {} +
}

longest_line() {
    awk 'length($0) > 140 { print FILENAME ":" FNR ": " length($0) " characters" >"/dev/stderr" }
         length($0) > most { most = length($0) } END { print most + 0 }' "$@"
}

lines() {
    headers="grpo.h grpo_blocks.h grpo_rows.h gspo.h extra/*.h"
    bound "lines of grpo.h" "$(awk 'END { print NR }' grpo.h)" 6500
    grep -q "^ \* You can stop reading here" grpo.h
    verdict "grpo.h has a banner: You can stop reading here" $?
    bound "lines of grpo.h before its banner, tables of choices left out" "$(lines_before_banner)" 2800
    bound "lines of the longest function of the headers" "$(longest_function $headers)" 60
    bound "characters of the longest line of the headers" "$(longest_line $headers)" 140
    others=$(find tests examples fuzz packages -name '*.[ch]')
    bound "lines of the longest function of the other C files" "$(longest_function $others)" 60
    bound "characters of the longest line of the other C files" "$(longest_line $others)" 140
    python_files=$(scripts_of py python3) shell_files=$(scripts_of sh sh)
    bound "lines of the longest function of the Python files" "$(longest_python_function $python_files)" 60
    bound "characters of the longest line of the Python files" "$(longest_line $python_files)" 140
    bound "characters of the longest line of the shell files" "$(longest_line $shell_files)" 140
}

[ "$mode" = --lines ] || sizes
lines
summary
