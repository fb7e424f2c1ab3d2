#!/bin/sh
# Runs the vectors through released frameworks and our own ports, and writes results/ and FRAMEWORKS.md.
#   tests/conformance/frameworks.sh VENV [NAME ...]
# VENV is a folder with a Python environment; it is made, with the pinned versions (several GB, mostly torch), if it is not there.
# NAME: trl, verl ... as in frameworks.py; all, if none is named.
# CONFORM names the runner (default: build/tests/conformance/conform, built with the C adapters beside it if it is not there).
# It exits with 0 when every result could be written: a framework that differs is a finding, not an error.
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
