#!/bin/sh
# build.sh [PROGRAM]: builds the runner with a C compiler, without meson (needs libcjson-dev, libstb-dev). PROGRAM: default ./conform.
set -eu
program=$(realpath "${1:-conform}")
cd "$(dirname "$0")/../.."
flags=$(pkg-config --cflags libcjson stb 2>/dev/null || echo "-I/usr/include/cjson -I/usr/include/stb")
parts=$(grep -L '^int main(' tests/conformance/runner/*.c)
${CC:-cc} -std=c99 -O1 -w -DGRPO_DOUBLE -DVECTORS="\"$PWD/tests/vectors\"" -I. $flags tests/conformance/runner/conform.c $parts \
    tests/support/case.c tests/support/compare.c tests/support/headers.c tests/support/stb_ds.c -lcjson -lm -o "$program"
