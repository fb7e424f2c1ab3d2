#!/bin/sh
# Installs what testing needs (Debian), builds with gcc and clang, runs everything, and ends with "N passed, N failed".
#   tests/quick.sh         the tier before this one: two to three minutes, installs nothing
#   tests/all.sh           everything that continuous integration runs
#   FUZZ_SECONDS=600 tests/all.sh    fuzzing for that long, instead of a fixed number of runs
#   tests/all.sh --light   the same without PyTorch and OpenMPI: leaves out the PyTorch port and the ranks
#   FRAMEWORKS=FOLDER tests/all.sh   with the adapters of the frameworks that are installed in the Python environment in FOLDER
#                                    (default: build/frameworks, if there is one)
# Prints a line at least every 30 seconds: the current step and the time left.
# A step that prints "N passed, N failed" counts with those numbers, any other step as one.
set -u
cd "$(dirname "$0")/.."
mkdir -p "${BUILD:-build}"
build=$(cd "${BUILD:-build}" && pwd)
light= && [ "${1:-}" = --light ] && light=yes
: >"$build/counts"             # a line "passed failed name" for each step; a file, since steps run in parallel
begin=$(date +%s)
. tests/support/counting.sh

usual() { # usual seconds of each step on two cores, with another step running in parallel
    cat <<'END'
75 every compiler, standard and element type
80 the bits of every row
17 sizes, compile time and lines within bounds
350 gcc
160 clang, address and undefined sanitizers
136 vectors regenerate to the same bytes
36 the oracle checks itself
36 vectors obey their schema
1 the oracle knows no header
100 CONTRIBUTING.md, done
5 the vectors, read in other languages
1 they are what the README shows
1 tables of objectives and of the catalogue
1 links and tables of the pages
2 what counts checks counts crashes too
4 the pictures are of these numbers
74 the explorer shows the library's numbers
6 results of programs as a site
1 every setting of every row has a source
5 configurations of frameworks translate
2 case ids keep their meaning
64 the Python package reads the vectors
15 ports in Python conform
26 ways of embedding
31 from other languages
122 kernels for GPUs, without one
31 no function needs more than 32 KB of stack
10 the trainer runs every row
74 README, as written
65 fuzzing
50 policies learn with grpo, dapo, gspo, cispo, rloo
END
}

time_left() { # name and elapsed seconds of the current step; scaled by the speed of the finished steps
    usual | awk -v counts="$build/counts" -v now="$1" -v ran="$2" -v elapsed=$(($(date +%s) - begin)) '
        BEGIN { while ((getline line <counts) > 0) { sub(/^[0-9]+ [0-9]+ /, "", line); over[line] = 1 } }
        { seconds = $1; sub(/^[0-9]+ /, "") }
        $0 in over { done += seconds; next }
        $0 == now { part = ran < seconds ? ran : seconds; done += part; todo -= part }
        { todo += seconds }
        END { printf "about %d min left", todo * (elapsed + 180) / (done + 300) / 60 + 1 }'
}

step() { # name, command...
    name=$1; shift
    log=$build/$(echo "$name" | tr -c 'a-zA-Z0-9\n' _).log
    counted "$log" 25 progress "$@"
    if [ "$f" -ne 0 ]; then echo "--- $name failed (exit status $status):"; grep -E 'FAIL|rror' "$log" | head -20; tail -20 "$log"; fi
    echo "$p $f $name" >>"$build/counts"
    printf '%-44s %8d passed %4d failed %5d s\n' "$name" "$p" "$f" "$took"
}

progress() { # seconds: of the current step, with the last line of its log
    printf '    %s, %d s, %s: %s\n' "$name" "$1" "$(time_left "$name" "$1")" "$(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-60)"
}

needs_first() { # what for: Debian packages, of the first two steps
    cat <<'END'
the compilers that the headers promise: gcc g++ clang libclang-rt-14-dev
END
}
needs() { # all of them
    needs_first
    cat <<'END'
building the tests: make meson ninja-build pkg-config libcjson-dev libstb-dev git patch
the oracle: python3 python3-mpmath python3-gmpy2 python3-jsonschema
ports and readers of the vectors: python3-numpy nodejs
ways of embedding, declarations for other languages: cmake python3-cffi
END
    [ -n "$light" ] || cat <<'END'
a port that differentiates by itself: python3-torch
the same bits over MPI ranks: libopenmpi-dev openmpi-bin
END
}

missing() {
    for p in $("${1:-needs}" | cut -d: -f2); do
        dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"
    done
}
announce() {
    echo "Debian packages that the tests need:"
    needs | sed 's/^/  /'
    echo "to install: $(missing | paste -sd ' ' | grep . || echo 'nothing, they are all here')"
    echo "then $(usual | awk 'END { print NR }') steps; the log of each is in $build"
}
install_packages() {
    want=$(missing "$1")
    [ -z "$want" ] && return 0
    command -v apt-get >/dev/null || { echo "not a Debian system; please install: $want"; return 1; }
    root=; [ "$(id -u)" -eq 0 ] || root=sudo
    $root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $root apt-get install -y -qq --no-install-recommends $want
}

wait_for_packages() {
    while kill -0 $rest 2>/dev/null; do sleep 1; done
    [ -z "$(missing)" ] || { cat "$build/packages.log"; return 1; }
}

meson_tests() { # build folder, compiler, meson options...
    folder=$1 compiler=$2; shift 2
    if [ -f "$folder/build.ninja" ]
    then meson setup --reconfigure "$folder" -Dtests=true
    else CC=$compiler meson setup "$folder" -Dtests=true "$@"; fi || return 1
    [ -n "${suites:-}" ] || ninja -C "$folder" || return 1               # all of it, or what the tests of some suites need
    meson test -C "$folder" --verbose --num-processes 2 ${suites:-}
}

sanitized() { # the fuzzers use the objects of this build
    UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1 suites="--no-suite long" \
    meson_tests "$build/sanitized" clang -Db_sanitize=address,undefined -Db_lundef=false -Ddebug=false -Doptimization=1 \
        -Dc_args="-DDRAWS_OVER=4 -gline-tables-only -fno-sanitize=null,object-size,pointer-overflow -fno-sanitize-recover=all"
}

vectors_regenerate() { /usr/bin/python3 tests/oracle/generate.py --check; }
vectors_validate() { /usr/bin/python3 tests/oracle/generate.py --schema; }
oracle_is_independent() { ! grep -rn --include='*' -e 'grpo\.h' -e 'gspo\.h' tests/oracle; }

example_checks() { # the single-file tests; Rust and Go if installed
    (
        cd tests/vectors/examples || exit 1
        python3 check.py || exit 1
        node check.mjs || exit 1
        if command -v rustc >/dev/null; then rustc --edition 2021 -O check.rs -o "$build/check_rs" && "$build/check_rs" || exit 1; fi
        if command -v go >/dev/null; then go run check.go || exit 1; fi
    )
}

examples_shown() { # the blocks in the README of the examples equal the files
    for file in tests/vectors/examples/check.*; do
        awk -v mark="<!-- ${file##*/} -->" '$0 == mark { on = 1; next } on && /^```/ { n++; if (n == 2) exit; next } on && n { print }' \
            tests/vectors/examples/README.md | diff - "$file" || return 1
    done
}

conform_python() { # our ports: NumPy, autograd
    "$build/tests/conformance/conform" -- /usr/bin/python3 tests/conformance/adapters/numpy_port.py || return 1
    if [ -n "$light" ]; then echo "skipped: the port in PyTorch"; return 0; fi
    "$build/tests/conformance/conform" -- /usr/bin/python3 tests/conformance/adapters/torch_autograd.py &&
    "$build/tests/conformance/conform" --precision f32 -- /usr/bin/python3 tests/conformance/adapters/torch_autograd.py
}

conform_newest_torch() { "$build/tests/conformance/conform" --timeout 120 -- "$python" tests/conformance/adapters/torch_autograd.py; }

framework() { # name. Differences are results, not failures; no answer, or none correct, is a failure.
    for precision in f64 f32; do
        case $1.$precision in tunix.f64) continue ;; esac          # computes in float32 only
        report=$build/$1.$precision.txt
        "$build/tests/conformance/conform" --timeout 120 --precision $precision -- \
            "$python" "tests/conformance/adapters/$1_adapter.py" >"$report"
        [ $? -le 1 ] || return 1
        tail -1 "$report" | grep '^[1-9][0-9]* passed' | sed "s/^/$precision: /" | grep . || { cat "$report"; return 1; }
    done
}

frameworks() { # those installed in the Python environment
    python=${FRAMEWORKS:-$build/frameworks}/bin/python
    if [ -z "${FRAMEWORKS:-}" ] && [ ! -x "$python" ]; then
        echo "skipped: the adapters of frameworks; several GB, installed by: sh tests/conformance/frameworks.sh ${BUILD:-build}/frameworks"
        return
    fi
    step "the newest PyTorch conforms" conform_newest_torch
    step "frameworks compute what their configurations say" "$python" tests/framework_options/against_frameworks.py
    step "frameworks have the pitfalls that the data name" "$python" tests/framework_options/pitfalls.py
    if "$python" -c "import trl" 2>/dev/null
    then step "TRL trains by the objectives" "$python" tests/framework_options/trl_trainer.py
    else echo "skipped: objectives in TRL's trainer, it is not in $python"; fi
    if "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('verl'))"
    then step "verl updates by the objectives" "$python" tests/framework_options/verl_policy_loss.py
    else echo "skipped: objectives in verl's registries, it is not in $python"; fi
    for module in trl verl openrlhf liger_kernel swift:ms_swift skyrl trinity areal art unsloth_zoo:unsloth tunix; do
        name=${module#*:} module=${module%:*}
        if "$python" -c "import importlib.util, sys; sys.exit(not importlib.util.find_spec('$module'))"
        then step "$name can be asked" framework "${name%_kernel}"
        else echo "skipped: $module is not in $python"; fi
    done
    step "profiles accept no changed line of TRL and verl" "$python" tests/conformance/self_tests/profile_mutations.py \
        "$build/tests/conformance/conform" "$python"
}

learn() { # objectives, two at a time
    echo "$@" | tr ' ' '\n' | xargs -P 2 -I OBJECTIVE sh -c '
        steps=200; case OBJECTIVE in dapo|cispo) steps=300 ;; esac
        if "$0/tests/train" --objective OBJECTIVE --steps $steps --seed 1 --target 0.9 >"$0/learns_OBJECTIVE.log" 2>&1
        then echo "OBJECTIVE learns"; echo "1 passed, 0 failed"
        else echo "FAIL OBJECTIVE does not learn"; tail -3 "$0/learns_OBJECTIVE.log"; echo "0 passed, 1 failed"; exit 1; fi' "$build"
}

stack() {
    for options in "-O0" "-O3 -DGRPO_DOUBLE" "-O3 -march=native"; do
        echo "gcc $options" && python3 tests/stack.py $options || return 1
    done
}

evidence() { /usr/bin/python3 tests/evidence/compare.py --check && /usr/bin/python3 tests/evidence/sources_check.py; }

explorer() { python3 examples/explorer/build.py --check && python3 examples/explorer/test.py; }

tables() { sh tests/tables.sh "$build" --check; } # the generated pages are up to date with the headers

# steps that use one process each, run in sequence
first_lane() {
    step "ports in Python conform" conform_python
    step "vectors obey their schema" vectors_validate
    step "no function needs more than 32 KB of stack" stack
    step "the oracle knows no header" oracle_is_independent
    step "CONTRIBUTING.md, done" sh tests/walkthrough.sh
    step "the vectors, read in other languages" example_checks
    step "they are what the README shows" examples_shown
    step "tables of objectives and of the catalogue" tables
    step "links and tables of the pages" python3 tests/pages.py
    step "what counts checks counts crashes too" sh tests/counters.sh
    step "the pictures are of these numbers" sh examples/pictures/draw.sh --check
    step "the explorer shows the library's numbers" explorer
    step "results of programs as a site" /usr/bin/python3 tests/conformance/self_tests/site_test.py "$build/tests/conformance/conform"
    step "every setting of every row has a source" evidence
    step "configurations of frameworks translate" /usr/bin/python3 tests/framework_options/check.py
    step "case ids keep their meaning" python3 tests/released.py
    step "the Python package reads the vectors" /usr/bin/python3 packages/python/check.py
}
second_lane() {
    step "sizes, compile time and lines within bounds" sh tests/size.sh --check
    step "ways of embedding" sh tests/embed.sh
    step "from other languages" sh tests/languages.sh
    step "kernels for GPUs, without one" sh tests/cuda.sh
    step "the trainer runs every row" sh tests/trainable.sh "$build/tests/train"
    step "README, as written" python3 tests/readme.py
}

announce
step "compilers" install_packages needs_first
install_packages needs >"$build/packages.log" 2>&1 &      # the rest meanwhile
rest=$!
step "every compiler, standard and element type" sh tests/matrix.sh
step "the bits of every row" sh tests/bits.sh
step "packages" wait_for_packages
step "gcc" meson_tests "$build" gcc -Ddebug=false -Doptimization=1
step "clang, address and undefined sanitizers" sanitized
step "vectors regenerate to the same bytes" vectors_regenerate
step "the oracle checks itself" /usr/bin/python3 tests/oracle/self_check.py
first_lane &
second_lane
wait
frameworks
step "fuzzing" env BUILD="$build/fuzz" SANITIZED="$build/sanitized" sh fuzz/run.sh
step "policies learn with grpo, dapo, gspo, cispo, rloo" learn dapo grpo gspo cispo rloo

awk '{ passed += $1; failed += $2 } END { print passed " passed, " failed " failed"; exit failed > 0 || passed == 0 }' "$build/counts"
