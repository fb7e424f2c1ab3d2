#!/bin/sh
# Runs the vectors on released frameworks and on the ports here; writes results/ and FRAMEWORKS.md.
#   tests/conformance/frameworks.sh VENV [NAME ...]
# VENV is the folder of a Python environment; if it does not exist, it is made, with the pinned versions (several GB, mostly torch).
# NAME: trl, verl ... as in frameworks.py; default: all.
# CONFORM, an environment variable: the runner; default build/tests/conformance/conform, which is built if it does not exist.
# Exit status 0 if every result was written: a difference of a framework is a finding, not an error.
set -eu
venv=${1:?"usage: frameworks.sh VENV [NAME ...]"}
shift
cd "$(dirname "$0")/../.."
conform=${CONFORM:-build/tests/conformance/conform}
adapters=tests/conformance/adapters

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q -r $adapters/requirements.txt
    "$venv/bin/pip" install -q --no-deps --ignore-requires-python -r $adapters/requirements-no-deps.txt
fi
if [ ! -x "$conform" ]; then
    [ -f build/build.ninja ] || meson setup build
    grep -q conform build/build.ninja || meson configure build -Dtests=true
    ninja -C build tests/conformance/conform tests/conformance/adapter_c tests/conformance/adapter_c_f32
fi
OMP_NUM_THREADS=1 "$venv/bin/python" tests/conformance/frameworks.py run "$conform" "$@"
