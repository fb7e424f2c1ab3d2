#!/bin/sh
# The pages generated from the headers' tables: OBJECTIVES.md and examples/cuts.md, between their marks, and tests/vectors/CATALOGUE.md.
#   tests/tables.sh BUILD            rewrites them; BUILD is the folder of meson
#   tests/tables.sh BUILD --check    prints the differences
set -eu
build=$(cd "${1:?the build folder}" && pwd)
check=${2:-}
cd "$(dirname "$0")/.."
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

python=$(command -v /usr/bin/python3 || command -v python3)
"$python" tests/evidence/sources_check.py --table >"$new/evidence"
"$python" tests/evidence/sources_check.py --default >"$new/default"
"$build/tests/presets_table" "$new/evidence" >"$new/tables"
awk -v words="$new/default" '{ print }
    /^## Frameworks$/ { print ""; while ((getline line <words) > 0) print line }' "$new/tables" >"$new/rows"
"$build/tests/arrays_table" >"$new/arrays"
awk -v rows="$new/rows" -v arrays="$new/arrays" '{ if (!on) print }
    /<!-- presets -->/ { on = 1; while ((getline line <rows) > 0) print line }
    /<!-- arrays -->/ { on = 1; while ((getline line <arrays) > 0) print line }
    /<!-- end of (presets|arrays) -->/ { on = 0; print }' OBJECTIVES.md >"$new/OBJECTIVES.md"
"$build/tests/cuts_table" >"$new/choices"
awk -v choices="$new/choices" '{ if (!on) print }
    /<!-- choices -->/ { on = 1; while ((getline line <choices) > 0) print line }
    /<!-- end of choices -->/ { on = 0; print }' examples/cuts.md >"$new/cuts.md"
if ! "$build/tests/catalogue_check" --markdown tests/catalogue grpo.h gspo.h extra/*.h >"$new/CATALOGUE.md"; then
    grep '^FAIL' "$new/CATALOGUE.md" >&2
    echo "tables.sh: tests/catalogue/titles.txt and entries.txt do not match the headers; neither page was written" >&2
    exit 1
fi

page() { # the new page, its path
    if [ "$check" = --check ]; then diff "$2" "$1"; else cp "$1" "$2"; fi
}
page "$new/OBJECTIVES.md" OBJECTIVES.md
page "$new/cuts.md" examples/cuts.md
page "$new/CATALOGUE.md" tests/vectors/CATALOGUE.md
