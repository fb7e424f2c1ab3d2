#!/bin/sh
# On a GPU: examples/cuda compared with PyTorch, Liger-Kernel and cut-cross-entropy, each in a process of its own; prints their output.
#   tests/bench/cuda.sh rows        logits -> loss -> d logits
#   tests/bench/cuda.sh hidden      hidden states -> loss -> d hidden, d weight
#   tests/bench/cuda.sh cce         the same by cut-cross-entropy, separately, because its kernels wait for each other
# PYTHON: with torch, liger-kernel and cut-cross-entropy (python3).  ARCH: nvcc's -arch (native).  SIZE: "tokens width vocabulary".
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3} size=${SIZE:-8192 4096 151936}
PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
export PYTHONUNBUFFERED PYTORCH_CUDA_ALLOC_CONF

ours() { # program, options of the compiler
    program=$1; shift
    nvcc -O3 -std=c++17 -arch="${ARCH:-native}" "examples/cuda/$program.cu" "$@" -o "$work/$program"
}

peers() { # script, peers, arguments
    script=$1 all=$2; shift 2
    for peer in $all; do
        timeout 100 "$python" "examples/cuda/$script" "$@" --peers "$peer" || echo "$peer: exit status $?"
    done
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || exit 77
nvcc --version | tail -1
set -- "${1:-rows}" $size
case $1 in
rows)
    ours rows && "$work/rows" || exit 1
    for type in bfloat16 float32; do
        for shape in "$2 $4" "4096 32000"; do
            "$work/rows" --time $shape ${type%32}
            peers torch_rows.py "eager compiled liger_inplace" $shape --type $type
        done
    done ;;
hidden)
    ours hidden -lcublas && "$work/hidden" || exit 1
    for tile in 512 1024 2048 4096; do "$work/hidden" --time "$2" "$3" "$4" $tile; done
    peers torch_hidden.py "products:2048 eager compiled liger liger_tf32 liger_rows" "$2" "$3" "$4" ;;
cce)
    peers torch_hidden.py "products:2048 cce cce_nofilter cce_exact" "$2" "$3" "$4" ;;
*) sed -n '2,6s/^# *//p' "$0"; exit 2 ;;
esac
