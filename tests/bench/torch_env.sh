#!/bin/sh
# Makes a Python environment with the newest PyTorch of the package index, for compare.py --python FOLDER/bin/python.
#   tests/bench/torch_env.sh FOLDER          PYTHON: of what interpreter (python3); TORCH_INDEX: another index, one without GPUs say
# The usual index has it for x86-64 with what GPUs need: 5 GB.  If FOLDER is there, its PyTorch is brought up to date.
set -eu
folder=${1:?"usage: torch_env.sh FOLDER"}
[ -x "$folder/bin/python" ] || "${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/python" -m pip install -q --upgrade ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch numpy
"$folder/bin/python" -c 'import sys, torch; print(sys.executable, "has PyTorch", torch.__version__)'
