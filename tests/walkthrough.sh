#!/bin/sh
# CONTRIBUTING.md's walk-through, done in a copy of the tree: the patch that adds a surrogate, then the one that adds a row of it; after
# each the oracle writes the new vectors and the headers are held against all. Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() { # what, exit status
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); echo "ok $1"; else failed=$((failed + 1)); echo "FAIL $1"; tail -20 "$work/log"; fi
}

flags="$(pkg-config --cflags libcjson 2>/dev/null || echo -I/usr/include/cjson) $(pkg-config --cflags stb 2>/dev/null || echo -I/usr/include/stb)"
git ls-files -z | xargs -0 tar cf - | tar xf - -C "$work"
cd "$work" || exit 1

vectors_pass() {
    cc -std=c99 -w -O0 -DGRPO_DOUBLE $flags tests/vectors.c tests/split_run.c tests/case.c tests/compare.c tests/stb_ds.c tests/headers.c -lcjson -lm -o vectors >"$work/log" 2>&1
    verdict "it compiles" $?
    ./vectors tests/vectors >"$work/log" 2>&1
    verdict "the headers agree with all vectors" $?
}

patch -p1 --fuzz=0 <tests/walkthrough/add_a_surrogate.patch >"$work/log" 2>&1
verdict "the patch of a surrogate applies" $?
/usr/bin/python3 tests/oracle/generate.py choices-surrogate-token >"$work/log" 2>&1 && grep -q '"kind":"root_ratio"' tests/vectors/choices-surrogate-token.json
verdict "the oracle writes its cases" $?
vectors_pass

patch -p1 --fuzz=0 <tests/walkthrough/add_a_row.patch >"$work/log" 2>&1
verdict "the patch of a row applies" $?
/usr/bin/python3 tests/evidence/compare.py --check >"$work/log" 2>&1 && /usr/bin/python3 tests/evidence/sources_check.py >>"$work/log" 2>&1
verdict "its settings have their evidence" $?
/usr/bin/python3 tests/oracle/generate.py root-ratio >"$work/log" 2>&1 && [ -s tests/vectors/root-ratio.json ]
verdict "the oracle writes its vectors" $?
vectors_pass
grep -q '^root-ratio: [1-9]' "$work/log"
verdict "those of the row among them" $?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
