#!/bin/sh
# CONTRIBUTING.md's walk-through, done: the patch that adds a surrogate and a row is applied to a copy of the tree, the oracle writes the
# vectors of both, and the headers are held against all vectors. Prints "N passed, N failed".
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
patch -p1 --fuzz=0 <tests/walkthrough/add_a_surrogate.patch >"$work/log" 2>&1
verdict "the patch applies" $?
/usr/bin/python3 tests/oracle/generate.py root-ratio choices-found >"$work/log" 2>&1 && [ -s tests/vectors/root-ratio.json ]
verdict "the oracle writes the new row's vectors and the new cases" $?
cc -std=c99 -w -O1 -DGRPO_DOUBLE $flags tests/vectors.c tests/case.c tests/compare.c tests/stb_ds.c tests/headers.c -lcjson -lm -o vectors >"$work/log" 2>&1
verdict "it compiles" $?
./vectors tests/vectors >"$work/log" 2>&1
verdict "the headers agree with all vectors" $?
grep -q '^root-ratio: [1-9]' "$work/log"
verdict "those of the new row among them" $?
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
