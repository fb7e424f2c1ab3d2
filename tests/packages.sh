#!/bin/sh
# The packages as users install them.  The wheel, in a fresh virtual environment, passes a correct program and names a planted mistake; the
# packages for other languages run their own tests if their tools are installed; the checksums of a release are correct.
# Without a package index for pip the wheel is skipped, with a message.  PYTHON: another interpreter than /usr/bin/python3.
set -u
cd "$(dirname "$0")/.."
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
begin=$(date +%s)
. tests/support/counting.sh
says() { # file, words: the file contains all of them
    file=$1; shift
    for words in "$@"; do grep -qF -- "$words" "$file" || { echo "not said: $words"; cat "$file"; return 1; }; done
}
python=${PYTHON:-/usr/bin/python3}

# ---- the wheel

ten_lines() { # a port of GSPO and the pytest file that its maintainer writes
    mkdir -p "$work/user"
    cat >"$work/user/gspo.py" <<'END'
import numpy as np


def loss(logp, logp_old, advantage, mask, low, high):
    tokens = np.maximum(mask.sum(1), 1)
    w = np.exp(np.where(mask, logp - logp_old, 0).sum(1) / tokens)[:, None]
    plain, clipped = -w * advantage, -np.clip(w, 1 - low, 1 + high) * advantage
    each = np.where(mask, np.maximum(plain, clipped), 0).sum(1) / tokens
    through = np.where(mask & (plain >= clipped), plain, 0).sum(1) / tokens / tokens / len(mask)
    return each.mean(), np.where(mask, through[:, None], 0)
END
    cat >"$work/user/test_gspo.py" <<'END'
from grpo_conformance import grpo_cases
import gspo


@grpo_cases("gspo", tolerance=64, without=("NegInf", "Extreme", "NaNMasked"))
def test_loss(case):
    low, high = case.setting("surrogate.eps_low"), case.setting("surrogate.eps_high")
    return gspo.loss(case.logp, case.logp_old, case.advantage, case.mask, low, high)
END
    cat >"$work/user/test_reference.py" <<'END'
from grpo_conformance import grpo_cases, reference


@grpo_cases("gspo", "dapo", tolerance=4)
def test_reference(case):
    return reference.loss(case.objective, **vars(case.numpy()))
END
}
run_tests() { (cd "$work/user" && "$work/env/bin/python" -m pytest -q -p no:cacheprovider "$@"); }

wheel() {
    check "pip install ." "$work/env/bin/pip" install -q "$top" pytest
    ten_lines
    check "a right GSPO is green" run_tests test_gspo.py
    sed 's/low, 1 + high/low, 1 + low/' "$work/user/gspo.py" >"$work/planted.py" && mv "$work/planted.py" "$work/user/gspo.py"
    refused "a planted mistake is red" "known mistake CLIP-02a" run_tests test_gspo.py
    cp "$work/log" "$work/planted"
    check "the planted mistake is named in one case" says "$work/planted" "gspo-ragged: loss is wrong" "known mistake CLIP-02a"
    check "and as the reason of all" says "$work/planted" "why the cases fail" "known mistake CLIP-02a explains" \
        "wrong: The upper epsilon is not passed on" "https://arxiv.org/abs/2507.18071" "1 / (N T_i)"
    seconds=$(($(date +%s) - begin))
    echo "from the tree to the mistake's name in $seconds s"
    check "within two minutes" test "$seconds" -lt 120
    check "a release" "$python" packages/release.py "$work/release"
    check "its checksums" sh -c "cd '$work/release' && sha256sum -c SHA256SUMS && [ \$(ls | wc -l) -eq 9 ]"
    check "its wheel, with the reference" "$work/env/bin/pip" install -q --force-reinstall "$(ls "$work"/release/*.whl)[reference]"
    check "the reference is right" run_tests test_reference.py
    check "the objective of a configuration" sh -c "printf 'loss_type: dr_grpo\n' >'$work/run.yaml'
        '$work/env/bin/grpo-translate' --framework trl '$work/run.yaml' >'$work/objective' 2>'$work/said'"
    check "its divisor" says "$work/objective" '"seq_mean_constant"'
    check "and its row" says "$work/said" "published: trl-dr-grpo "
    check "the whole vectors, their version and types are inside" "$work/env/bin/python" -c "
import grpo_conformance as g, pathlib, sys
here = {p.name: p.read_bytes() for p in pathlib.Path('$top/tests/vectors').glob('*.json')}
there = {p.name: p.read_bytes() for p in g.vectors_directory().glob('*.json')}
inside = str(g.vectors_directory()).startswith('$work') and (g.vectors_directory().parent / 'py.typed').is_file()
sys.exit(here != there or not inside or g.__version__ != open('$top/VERSION').read().strip())"
}

export GRPO_CONFORMANCE_CACHE="$work"                       # where the reference is compiled
if ! "$python" -m venv "$work/env"; then echo "skipped: the wheel, because $python has no venv"
elif ! "$work/env/bin/pip" download -q --no-deps -d "$work/index" pytest >"$work/log" 2>&1
then echo "skipped: the wheel and a release, because pip has no index"
else wheel; fi
check "loader, comparison, diagnosis and reference" "$python" packages/python/check.py

# ---- other languages

c_rows="gspo dapo cispo refuse flow-dppo flowrl-code $(cd tests/vectors && ls choices-*.json | sed 's/\.json//' | tr '\n' ' ')"
c_counts() { # what check.c must print of these rows
    "$python" - $c_rows <<'END'
import json, sys
cases = [case for row in sys.argv[1:] for case in json.load(open(f"tests/vectors/{row}.json"))["cases"] if "kind" not in case]
losses = [d["loss"] if isinstance(d, dict) else d for case in cases for d in case.get("defects", {}).values()
          if not isinstance(d, list) and (not isinstance(d, dict) or "loss" in d)]
print(f"{len(cases)} cases, {sum(len(fields) for case in cases for fields in case['objective'].values())} settings,",
      f"{sum(len(case['expect'].get('report', {})) for case in cases)} metrics, {len(losses)} mistakes of the loss")
END
}
c_arrays() {
    "$python" packages/c/cases_to_c.py $c_rows >"$work/grpo_cases.h" &&
    cc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. -I"$work" packages/c/check.c -lm -o "$work/check" &&
    "$work/check" >"$work/counts" || { cat "$work/counts"; return 1; }
    tail -2 "$work/counts" | grep -Fx "$(c_counts)"
}
refuses() { # words, rows: the generator of C arrays refuses them so, and writes nothing
    words=$1; shift
    "$python" packages/c/cases_to_c.py "$@" >"$work/refused" 2>"$work/said" && return 1
    [ ! -s "$work/refused" ] && says "$work/said" "$words"
}
rust() {
    debian=/usr/share/cargo/registry
    cd "$work/stage/rust" || return 1
    if ls -d $debian/serde_json-* >/dev/null 2>&1
    then cargo --config 'source.crates-io.replace-with="debian"' --config "source.debian.directory=\"$debian\"" test -q --offline
    else cargo test -q; fi
}
has_serde() {
    ls -d /usr/share/cargo/registry/serde_json-* >/dev/null 2>&1 ||
    cargo fetch --manifest-path "$work/stage/rust/Cargo.toml" >/dev/null 2>&1
}

"$python" packages/stage.py "$work/stage"
check "C arrays" c_arrays
check "no C arrays of a row that there is not" refuses "no vectors gspoo" gspo gspoo
check "nor of rows without an objective" refuses "no case of an objective" calls split
check "nor of nothing" refuses "cases_to_c.py gspo grpo dapo"
if command -v npm >/dev/null; then check "npm" sh -c "cd '$work/stage/npm' && npm test && npm pack"
elif command -v node >/dev/null; then check "npm, without npm" sh -c "cd '$work/stage/npm' && node --test"
else echo "skipped: npm, because there is no node"; fi
if command -v go >/dev/null; then check "Go" sh -c "cd '$work/stage/go' && go vet ./... && go test ./..."
else echo "skipped: Go, because it is not here (Debian: golang-go)"; fi
if command -v cargo >/dev/null && has_serde; then check "Rust" rust
else echo "skipped: Rust, because cargo or serde_json are not here (Debian: cargo librust-serde-json-dev)"; fi
summary
