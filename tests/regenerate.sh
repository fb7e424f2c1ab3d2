#!/bin/sh
# Writes everything that is generated: the vectors, their schema, DEFECTS.md and functions/*.md by the oracle, then the table of OBJECTIVES.md
# and CATALOGUE.md by what the headers say.
#   tests/regenerate.sh [NAME...]    only these files of vectors, and what is made from all
# The programs are built in the folder BUILD (default: build).
set -eu
cd "$(dirname "$0")/.."
build=${MESON_BUILD_ROOT:-${BUILD:-build}}
python=$(command -v /usr/bin/python3 || command -v python3)

"$python" tests/oracle/generate.py "$@"
if [ -z "${MESON_BUILD_ROOT:-}" ]; then
    [ -f "$build/build.ninja" ] || meson setup "$build" -Dbuildtype=release
    ninja -C "$build" tests/variants tests/catalogue_check
fi
"$build/tests/variants" --markdown >"$build/presets.md"
awk -v table="$build/presets.md" '
    /<!-- end of presets -->/ { skip = 0 }
    !skip { print }
    /<!-- presets -->/ { skip = 1; while ((getline line < table) > 0) print line }' OBJECTIVES.md >"$build/OBJECTIVES.md"
cp "$build/OBJECTIVES.md" OBJECTIVES.md
"$build/tests/catalogue_check" --markdown tests/catalogue grpo.h gspo.h extra/*.h >"$build/CATALOGUE.md"
cp "$build/CATALOGUE.md" tests/vectors/CATALOGUE.md
git --no-pager diff --stat 2>/dev/null || true
