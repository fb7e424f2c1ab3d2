#!/bin/sh
# Creates a Python environment with the newest PyTorch of the package index, for compare.py --python FOLDER/bin/python.
#   tests/bench/torch_env.sh FOLDER          PYTHON: the interpreter (python3); TORCH_INDEX: another index, such as one for CPUs alone
# The default index's package for x86-64 includes GPU libraries: 5 GB.  If FOLDER exists, its PyTorch is updated.
set -eu
folder=${1:?"usage: torch_env.sh FOLDER"}
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install -q --upgrade ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch numpy
"$folder/bin/python" -c 'import sys, torch; print(sys.executable, "has PyTorch", torch.__version__)'
