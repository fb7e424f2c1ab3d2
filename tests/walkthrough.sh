#!/bin/sh
# CONTRIBUTING.md's walk-through in a copy of the tree: applies the patch that adds a surrogate, then the one that adds a row with it, and
# runs the page's commands after each; a row in no entry of the catalogue, and claims without their words, must fail. Prints "N passed, N
# failed".
#
# Not tested: `bits.sh --write`, which needs gcc 12 (bits.txt is written with the available compiler, bits_fma.txt not at all); tests/all.sh
# with the new row; that header and oracle are written independently.
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
unset MESON_BUILD_ROOT BUILD
python=$(command -v /usr/bin/python3 || command -v python3)

flags_of() { pkg-config --cflags "$1" 2>/dev/null || echo "$2"; } # a package, what to take without pkg-config
flags="$(flags_of libcjson -I/usr/include/cjson) $(flags_of stb -I/usr/include/stb)"
git ls-files -z | xargs -0 tar cf - | tar xf - -C "$work"
cd "$work" || exit 1

vectors_pass() {
    (cd tests/support && cc -std=c99 -w -O0 -DGRPO_DOUBLE $flags ../objective/vectors.c split_run.c case.c compare.c stb_ds.c headers.c \
        -lcjson -lm -o "$work/vectors") >"$work/log" 2>&1
    verdict "it compiles" $?
    ./vectors tests/vectors >"$work/log" 2>&1
    verdict "the headers agree with all vectors" $?
}

hashes_added() { # bits.txt: new lines for the row, one changed line for the field with the new choice, all others unchanged
    cp tests/bits/bits.txt "$work/bits.before"
    printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n' >"$work/body.c"
    for element in -DGRPO_DOUBLE -UGRPO_DOUBLE; do
        cc -std=c99 -O1 -ffp-contract=off $element -I. tests/bits/bits.c body.c -lm -o bits && ./bits || return 1
    done >tests/bits/bits.txt
    diff "$work/bits.before" tests/bits/bits.txt >"$work/changed"
    grep -q '^> .*root-ratio' "$work/changed" && ! grep '^[<>]' "$work/changed" | grep -v -e '^> .*root-ratio' -e ' field surrogate.kind '
}

patch -p1 --fuzz=0 <tests/walkthrough/add_a_surrogate.patch >"$work/log" 2>&1
verdict "the patch of a surrogate applies" $?
"$python" tests/oracle/generate.py choices-surrogate-token >"$work/log" 2>&1 &&
    grep -q '"kind":"root_ratio"' tests/vectors/choices-surrogate-token.json
verdict "the oracle writes its cases" $?
git init -q . && "$python" tests/pages.py >"$work/log" 2>&1             # which lists the pages by git
verdict "the pages name what the schema has" $?
vectors_pass

patch -p1 --fuzz=0 <tests/walkthrough/add_a_row.patch >"$work/log" 2>&1
verdict "the patch of a row applies" $?
"$python" tests/oracle/generate.py root-ratio >"$work/log" 2>&1 && [ -s tests/vectors/root-ratio.json ]
verdict "the oracle writes its vectors from rows.txt alone" $?
vectors_pass
grep -q '^root-ratio: [1-9]' "$work/log"
verdict "those of the row among them, before it has evidence and an entry in the catalogue" $?
rm tests/vectors/root-ratio.json
"$python" - <<'END'
import re
text = open("README.md").read()
open("README.md", "w").write(re.sub(r"of (\d+) published ones", lambda m: f"of {int(m[1]) + 1} published ones", text))
END
"$python" tests/evidence/compare.py --check >"$work/log" 2>&1 && "$python" tests/evidence/sources_check.py >>"$work/log" 2>&1
verdict "its settings have their evidence" $?
meson setup build -Dtests=true -Dbuildtype=plain >"$work/log" 2>&1 && sh tests/regenerate.sh root-ratio >"$work/log" 2>&1 &&
    [ -s tests/vectors/root-ratio.json ] && grep -q '^| root-ratio |' OBJECTIVES.md &&
    grep -q 'row \[root-ratio\](root-ratio.json)' tests/vectors/CATALOGUE.md
verdict "regenerate.sh writes its vectors and its place on the pages" $?
sh tests/tables.sh build --check >"$work/log" 2>&1
verdict "the pages are what the headers say" $?
hashes_added >"$work/log" 2>&1
verdict "its hashes are new lines in bits.txt, the other rows' stay" $?
sh tests/bits.sh --quick >"$work/log" 2>&1
verdict "bits.sh --quick passes" $?

mv tests/evidence/example.words.json "$work/example.words"
refused "claims without their words are refused" "example.json has no example.words.json" "$python" tests/evidence/compare.py --check
mv "$work/example.words" tests/evidence/example.words.json
for file in titles entries; do sed -i '/the square root of the ratio/d' tests/catalogue/$file.txt; done
refused "a row in no entry of the catalogue is refused, by name" "the row root-ratio is in no entry" sh tests/tables.sh build
refused "the oracle says where it looks for a row" "no row of that name in tests/oracle/rows.txt" \
    "$python" tests/oracle/generate.py no-such-row
summary
