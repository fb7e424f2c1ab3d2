#!/bin/sh
# The kernels of examples/cuda.  Prints "N passed, N failed".
#   tests/cuda.sh          without a GPU: clang compiles every scalar function, every function of a row and every kernel as device code;
#                          cuda_on_host runs the kernels on the vectors and the tests of rows, the threads of a block in sequence, then
#                          concurrently under ThreadSanitizer
#   tests/cuda.sh --gpu    with nvcc on a GPU: the same programs, and compute-sanitizer if it is there; exit status 77: there is no GPU
# CJSON, STB: compiler flags for cJSON and stb, if pkg-config has none.  ARCH: nvcc's -arch (native).
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
warnings="-Wall -Wextra -Werror"
cjson=${CJSON:-$(pkg-config --cflags --libs libcjson 2>/dev/null)} stb=${STB:-$(pkg-config --cflags stb 2>/dev/null)}

ended() {
    summary
    exit $?
}

run() { # what, command...: prints the worst errors too
    check "$@" && grep 'ulps of float\|^worst' "$work/log"
}

# ---- what is device code -------------------------------------------------------------------------------------------------------------

# a device function that takes the address of every function marked as device code
every_function() {
    echo '#include "examples/cuda/rows.cuh"'
    echo '__device__ void every_function(void **at) {'
    marks='GRPO_FN|GRPO_NOINLINE_FN_|GRPO_FORCE_INLINE_FN_|GRPO_LOGITS_FN|static GRPO_LOGITS_FN'
    sed -nE "s/^($marks) [^(=]*[ *]([a-z0-9_]+)\\(.*/    *at++ = (void *)\\2;/p" \
        grpo.h gspo.h extra/grpo_logits.h extra/grpo_shared_logits.h | sort -u
    echo '}'
}

by_clang() { # a .cu file, and for which GPU: sm_80 has instructions for bfloat16
    clang++ -x cuda --cuda-device-only --cuda-gpu-arch="$2" -nocudainc -nocudalib -std=c++17 -O1 -S -D__CUDACC__ -Wno-unknown-cuda-version \
        -Werror -Itests/logits/cuda_by_clang -include cuda_runtime.h -I. "$1" -o "$work/device.ptx"
}

device_code() {
    every_function >"$work/every.cu"
    [ "$(grep -c 'at++' "$work/every.cu")" -gt 100 ] || return 1
    by_clang "$work/every.cu" sm_70 && by_clang examples/cuda/rows.cu sm_70 && by_clang examples/cuda/rows.cu sm_80
}

host_function_is_seen() { # without one of the marks the compilation must fail
    mkdir -p "$work/marks" && cp -r grpo.h grpo_blocks.h grpo_rows.h gspo.h extra examples tests "$work/marks" || return 1
    sed 's/^GRPO_NOINLINE_FN_ grpo_term grpo_quadratic_from_/static grpo_term grpo_quadratic_from_/' grpo.h >"$work/marks/grpo.h"
    ! cmp -s grpo.h "$work/marks/grpo.h" || return 1
    (cd "$work/marks" && ! by_clang "$work/every.cu" sm_70 2>&1) | grep "reference to __host__ function 'grpo_quadratic_from_'"
}

# ---- programs --------------------------------------------------------------------------------------------------------------------------

c_objects() { # compiler's options...: the tests that evaluate rows on the GPU
    for file in logits_rows rows_run vectors_rows case compare; do
        [ $file = logits_rows ] || [ -n "$cjson" ] || continue
        cc -std=c99 -O2 -DROWS_ON_GPU "$@" $cjson $stb -c "$(find tests -name $file.c)" -o "$work/$file.o" || return 1
    done
    [ -z "$cjson" ] || cc -w $stb -c tests/support/stb_ds.c -o "$work/stb_ds.o"
}

on_host() { # program, source, options...
    program=$1 source=$2; shift 2
    c++ -std=c++17 $warnings -Itests/logits/cuda_on_host "$@" -x c++ "$source" -o "$work/$program" -lpthread -lm
}

link_tests() { # linker, its options...; needs rows_on_gpu.o
    "$@" "$work/logits_rows.o" "$work/rows_on_gpu.o" -o "$work/logits_rows" -lm || return 1
    [ -z "$cjson" ] || "$@" "$work/vectors_rows.o" "$work/rows_run.o" "$work/case.o" "$work/compare.o" "$work/stb_ds.o" \
        "$work/rows_on_gpu.o" -o "$work/vectors_rows" $cjson -lm
}

run_tests() {
    run "rows against long double" "$work/logits_rows"
    if [ -n "$cjson" ]; then run "vectors of rows" "$work/vectors_rows" tests/vectors; else echo "skipped: the vectors, without cJSON"; fi
}

all_on_host() {
    c_objects $warnings -DDRAWS_OVER=4 &&
        on_host rows_on_gpu.o tests/logits/rows_on_gpu.cu -O2 -c -DGRPO_CUDA_THREADS=32 &&
        link_tests c++ &&
        on_host rows examples/cuda/rows.cu -O1 && on_host hidden examples/cuda/hidden.cu -O1 &&
        on_host rows_at_once examples/cuda/rows.cu -O1 -DGRPO_CUDA_THREADS=8 -DCUDA_ON_HOST_THREADS -fsanitize=thread
}

race_is_seen() { # in one of twenty runs: whether the sanitizer sees a race depends on how the threads happen to be scheduled
    for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$work/less_at_once" 2>&1 | grep 'data race' && return 0
    done
    return 1
}

barrier_is_missed() { # without the barrier there is a data race, and a sum changes: both must be detected
    sed '/^GRPO_CUDA_FN_ void grpo_block_sums_/,/^}/ { /^        __syncthreads/d; }' examples/cuda/rows.cuh >"$work/rows.cuh"
    ! cmp -s examples/cuda/rows.cuh "$work/rows.cuh" || return 1
    sed "s|\"../../extra/|\"$PWD/extra/|" "$work/rows.cuh" >"$work/less.cuh" && mv "$work/less.cuh" "$work/rows.cuh"
    cp examples/cuda/rows.cu examples/cuda/program.h "$work"
    on_host less "$work/rows.cu" -O1 &&
        on_host less_at_once "$work/rows.cu" -O1 -DGRPO_CUDA_THREADS=8 -DCUDA_ON_HOST_THREADS -fsanitize=thread &&
        ! "$work/less" >"$work/less.log" && race_is_seen
}

if [ "${1:-}" != --gpu ]; then
    if command -v clang++ >/dev/null; then
        run "functions and kernels are device code" device_code
        run "a function of the host in one of the device's is seen" host_function_is_seen
    else echo "skipped: device code, without clang"; fi
    run "programs compile" all_on_host
    [ "$failed" -eq 0 ] || ended
    run "examples/cuda/rows.cu" "$work/rows"
    run "examples/cuda/hidden.cu" "$work/hidden"
    run "threads meet at barriers alone" "$work/rows_at_once"
    run "a barrier less is seen" barrier_is_missed
    run_tests
    ended
fi

# ---- a GPU -----------------------------------------------------------------------------------------------------------------------------

nvidia-smi -L || exit 77
by_nvcc() { # program, options...
    program=$1; shift
    nvcc -O3 -std=c++17 -arch="${ARCH:-native}" "$@" -o "$work/$program"
}
all_by_nvcc() {
    c_objects && by_nvcc rows_on_gpu.o -c tests/logits/rows_on_gpu.cu && link_tests nvcc &&
        by_nvcc rows examples/cuda/rows.cu && by_nvcc hidden examples/cuda/hidden.cu -lcublas
}
run "programs compile" all_by_nvcc
[ "$failed" -eq 0 ] || ended
run "examples/cuda/rows.cu" "$work/rows"
run "examples/cuda/hidden.cu" "$work/hidden"
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        run "examples/cuda/rows.cu, $tool" compute-sanitizer --tool $tool --error-exitcode 1 "$work/rows"
    done
else echo "skipped: compute-sanitizer"; fi
run_tests
ended
