#!/bin/sh
# Writes everything that is generated: the vectors, their schema, DEFECTS.md and functions/*.md by the oracle, then the tables of
# OBJECTIVES.md and examples/cuts.md and CATALOGUE.md from the headers (tables.sh), extra/grpo_declarations.h, the pictures and the
# explorer's page.
#   tests/regenerate.sh [NAME...]    only these files of vectors, and everything that is generated from all vectors
# The programs are built in the folder BUILD (default: build); `ninja -C build regenerate` uses its own.
set -eu
cd "$(dirname "$0")/.."
build=${MESON_BUILD_ROOT:-${BUILD:-build}}
python=$(command -v /usr/bin/python3 || command -v python3)

"$python" tests/oracle/generate.py "$@"
"$python" tests/declarations.py
if [ -z "${MESON_BUILD_ROOT:-}" ]; then
    [ -f "$build/build.ninja" ] || meson setup "$build" -Dbuildtype=release
    grep -q presets_table "$build/build.ninja" || meson configure "$build" -Dtests=true
    ninja -C "$build" tests/presets_table tests/arrays_table tests/cuts_table tests/catalogue_check
fi
sh tests/tables.sh "$build"
if command -v gnuplot >/dev/null; then sh examples/pictures/draw.sh; else echo "the pictures stay as they are: no gnuplot"; fi
"$python" examples/explorer/build.py || echo "the explorer stays as it is"
git --no-pager diff --stat 2>/dev/null || true
