#!/bin/sh
# What to run before a commit; two to three minutes on two cores.  Needs a C compiler, meson, ninja, pkg-config, libcjson-dev, libstb-dev,
# and python3 with python3-mpmath and python3-gmpy2 (for the oracle, which the tables use); uses gcc, clang and their C++ compilers if
# installed.  tests/all.sh has the remaining tests.  BUILD: the folder of meson (default: build).
# Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh

need() { # what, where from
    echo "quick.sh needs $1; on Debian: apt-get install $2" >&2
    exit 2
}
command -v cc >/dev/null || need "a C compiler" gcc
command -v meson >/dev/null && command -v ninja >/dev/null || need "meson and ninja" "meson ninja-build"
command -v pkg-config >/dev/null || need pkg-config pkg-config
pkg-config --exists libcjson || need cJSON libcjson-dev
pkg-config --exists stb || need stb libstb-dev
"$(command -v /usr/bin/python3 || command -v python3)" -c 'import gmpy2, mpmath' 2>/dev/null ||
    need "python3 with mpmath and gmpy2" "python3 python3-mpmath python3-gmpy2"

# ---- parts: a line when each is done, and one at least every 30 seconds

progress() { # seconds
    printf '    %s, %d s: %s\n' "$name" "$1" "$(tail -n 1 "$log" | cut -c1-90)"
}

part() { # name, command...
    name=$1; shift
    counted "$work/log" 20 progress "$@"
    if [ "$f" -ne 0 ]; then echo "--- $name failed:"; grep -E 'FAIL|rror' "$log" | head -10; tail -10 "$log"; fi
    count "$p" "$f"
    printf '%-56s %7d passed %3d failed %4d s\n' "$name" "$p" "$f" "$took"
}

every_header() { # the implementations of all headers, in one source file
    printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n'
    for header in extra/*.h; do
        macro=$(basename "$header" .h | tr '[:lower:]' '[:upper:]')_IMPLEMENTATION
        if grep -q "$macro" "$header"; then printf '#define %s\n#include "%s"\n' "$macro" "$header"; fi
    done
}

strict_with() { # compilers, as far as installed
    for compiler in "$@"; do
        command -v "$compiler" >/dev/null || continue
        case $compiler in *++) language="-x c++ -std=c++11" ;; *) language="-x c -std=c99" ;; esac
        for element in -UGRPO_DOUBLE -DGRPO_DOUBLE; do
            if $compiler $language -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $element -I. -fsyntax-only "$work/every.c" 2>&1
            then echo "1 passed, 0 failed"
            else echo "FAIL $compiler $language $element"; echo "0 passed, 1 failed"; fi
        done
    done
}

strict() {
    every_header >"$work/every.c"
    if ! { command -v gcc || command -v clang; } >/dev/null; then strict_with cc; return; fi
    strict_with clang clang++ >"$work/clang" &
    strict_with gcc g++
    wait
    cat "$work/clang"
}

programs="vectors vectors_f32 accuracy calls calls_f32 errors calls_arguments calls_in_place calls_refused calls_faults extra_layout
exact_sums"

compiled() {
    if ! grep -qs tests/vectors_f32 "$build/build.ninja"; then
        if [ -f "$build/build.ninja" ]; then meson setup --reconfigure "$build" -Dtests=true
        else meson setup "$build" -Dtests=true -Ddebug=false -Doptimization=2; fi || return 1
    fi
    ninja -C "$build" $(printf 'tests/%s ' $programs presets_table arrays_table cuts_table catalogue_check)
}

tested() {
    for program in $programs; do
        echo "$program:"
        case $program in vectors*|accuracy|calls|calls_f32) folder=tests/vectors ;; *) folder= ;; esac
        "$build/tests/$program" $folder || return 1
    done
}

part "all headers, every warning an error" strict
part "lines within their bounds" sh tests/size.sh --lines
part "the test programs compile" compiled
part "vectors, functions of extra/, errors" tested
part "the bits of every row" sh tests/bits.sh --quick
part "tables of objectives and of the catalogue" sh tests/tables.sh "$build" --check
part "links and tables of the pages" python3 tests/pages.py
part "what counts checks counts crashes too" sh tests/counters.sh
if command -v c++ >/dev/null; then part "examples in other languages" sh tests/languages.sh; fi

echo "tests/all.sh runs the rest"
summary
