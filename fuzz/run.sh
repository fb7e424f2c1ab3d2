#!/bin/sh
# fuzz/run.sh [seconds]: builds the harnesses with clang and libFuzzer into $BUILD (default build/fuzz), writes their seeds, runs each (two
# at a time), prints a line for each and ends with "N passed, N failed".
# Without seconds (or $FUZZ_SECONDS) each harness runs a fixed number of inputs in one element type, about a minute, the same inputs on
# every machine; with seconds it searches that long in both element types, starting from the inputs that earlier searches found.
# SANITIZED: a Meson build that has compiled the headers with these sanitizers and fuzzer-no-link, as tests/all.sh does, to use its objects.
set -u
cd "$(dirname "$0")/.."
seconds=${1:-${FUZZ_SECONDS:-}}
build=${BUILD:-build/fuzz}
cc=${CC:-clang}
. tests/support/counting.sh
# without null and object-size: reading a null pointer faults anyway, and the address sanitizer checks sizes
sanitizers="-fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all"
flags="-std=c99 -gline-tables-only -O1 -fno-omit-frame-pointer $sanitizers"
reader_flags=$(pkg-config --cflags libcjson stb 2>/dev/null || echo "-I/usr/include/cjson -I/usr/include/stb")
rm -rf "$build/seeds"
mkdir -p "$build/seeds" "$build/obj" "$build/found"

f64=$build/obj/f64.o f32=$build/obj/f32.o
if [ -n "${SANITIZED:-}" ]; then f64=$SANITIZED/tests/libheaders.a f32=$SANITIZED/tests/libheaders_f32.a; fi

headers() { # object, flags of the element type...
    object=$1; shift
    [ -n "${SANITIZED:-}" ] || $cc $flags -fsanitize=fuzzer-no-link "$@" -c tests/support/headers.c -o "$object"
}

build_harness() { # program, source, objects and flags...
    program=$1 source=$2; shift 2
    $cc $flags -fsanitize=fuzzer "fuzz/$source.c" "$@" -lm -o "$build/$program"
}

build_all() {
    headers "$f64" -DGRPO_DOUBLE &
    headers "$f32" && wait $! &&
    for harness in fuzz_advantages fuzz_objective fuzz_lint; do
        build_harness ${harness}_f32 $harness "$f32" &
        build_harness $harness $harness -DGRPO_DOUBLE "$f64" && wait $! || return 1
    done &&
    $cc $flags -w $reader_flags -c tests/support/stb_ds.c -o "$build/obj/stb_ds.o" &&
    $cc $flags -fsanitize=fuzzer-no-link -DGRPO_DOUBLE $reader_flags -c tests/support/case.c -o "$build/obj/case.o" &&
    build_harness fuzz_json fuzz_json -DGRPO_DOUBLE "$f64" "$build/obj/case.o" "$build/obj/stb_ds.o" -lcjson &&
    $cc $flags fuzz/make_corpus.c "$f32" -lm -o "$build/make_corpus" &&
    "$build/make_corpus" "$build/seeds" tests/vectors
}

# sorted by name: the order of a folder's files differs between machines
seed_list() { printf '%s' "$(find "$1" -type f | LC_ALL=C sort | paste -sd, -)"; }

fuzz() { # harness, runs, seeds, options...
    harness=$1 runs=$2 seeds=$3; shift 3
    log=$build/$harness.log
    seed_list "$build/seeds/$seeds" >"$build/$harness.seeds"
    if [ -n "$seconds" ]; then                   # else without tracing of comparisons: compared addresses differ in every run
        mkdir -p "$build/found/$harness"
        set -- "$@" -max_total_time="$seconds" "$build/found/$harness"
    else
        set -- "$@" -runs="$runs" -max_total_time=900 -use_cmp=0
    fi
    if "$build/$harness" -seed_inputs=@"$build/$harness.seeds" -seed="${FUZZ_SEED:-1}" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$harness-" "$@" >"$log" 2>&1
    then verdict=ok
    else verdict="FAIL: $(grep -m1 -E 'broken:|ERROR:|runtime error:' "$log")"
    fi
    echo "$verdict" >"$build/$harness.verdict"
    printf '%-20s %9s runs  %s\n' "$harness" "$(awk '/number_of_executed_units/ { print $2 }' "$log")" "$verdict"
}

if ! build_all >"$build/build.log" 2>&1; then
    tail -20 "$build/build.log"
    count 0 1
    summary
    exit 1
fi
rm -f "$build"/*.verdict
double= float=_f32 of=4
[ -z "$seconds" ] || of=7
(
    fuzz fuzz_objective$double 2400 batches -max_len=2048
    [ -z "$seconds" ] || fuzz fuzz_objective$float 0 batches -max_len=2048
) &
fuzz fuzz_advantages$float 7500 batches -max_len=2048
fuzz fuzz_lint$float 1000 batches -max_len=2048
[ -z "$seconds" ] || for harness in fuzz_advantages fuzz_lint; do fuzz $harness$double 0 batches -max_len=2048; done
fuzz fuzz_json 24000 json -max_len=8192 -dict=fuzz/json.dict
wait
right=$(cat "$build"/*.verdict | grep -c '^ok$')
count "$right" $((of - right))
summary
