#!/bin/sh
# Runs the tests of numbers and statuses on other processors and systems: built by Debian's cross compilers, run by qemu or wine.
#   tests/cross.sh [TARGET...]    windows musl aarch64 armhf i686 ppc64le riscv64 s390x; default: all; 1 to 7 minutes each
# s390x is big-endian; windows and musl are x86-64 with other C libraries, windows without and with fused multiply-adds. Loops of logits are
# those of the build there, without SSE2 on all but windows, musl and i686. Installs what it needs (Debian, root): the compilers, qemu-user,
# wine, and the source of cJSON, which is built for each target.
# Prints "N passed, N failed" at the end.
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
[ $# -gt 0 ] || set -- windows musl aarch64 armhf i686 ppc64le riscv64 s390x

of_target() { # sets tools, compiler, run, options, package; wide: yes if there is a type of 113 bits, which references need; native: what
    # takes minutes if it is emulated
    run="qemu-$1" options=-static wide=yes tools=$1-linux-gnu native= debian=$1
    case $1 in
    windows) tools=x86_64-w64-mingw32 run=wine options= native="properties special_batches advantage_choices" ;;
    musl)    run=env native="properties special_batches advantage_choices" ;;
    aarch64) debian=arm64 ;;
    armhf)   tools=arm-linux-gnueabihf run=qemu-arm wide= ;;
    i686)    run=qemu-i386 options="-static -msse2 -mfpmath=sse" debian=i386 ;;
    ppc64le) tools=powerpc64le-linux-gnu debian=ppc64el ;;
    riscv64 | s390x) ;;
    *) echo "unknown target: $1" >&2; exit 2 ;;
    esac
    compiler=$tools-gcc package="gcc-$tools libc6-dev-$debian-cross"
    [ "$1" != windows ] || package="gcc-mingw-w64-x86-64-posix wine wine64"
    [ "$1" != musl ] || compiler=musl-gcc package=musl-tools tools=x86_64-linux-gnu
}

install() { # what the targets need and is not there
    want="dpkg-dev libstb-dev"
    for target in "$@"; do
        of_target "$target"
        echo '#include <stdio.h>' | "$compiler" -E - >"$work/log" 2>&1 && command -v "$run" >/dev/null || want="$want $package qemu-user"
    done
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $want >"$work/log" 2>&1 || return 1
    mkdir -p "$work/sources" "$work/lists/partial" "$work/cjson"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
        [ ! -f $list ] || sed 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' $list >"$work/sources/${list##*/}"
    done
    [ ! -f "$work/sources/sources.list" ] || mv "$work/sources/sources.list" "$work/sources/main.list"
    with="-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$work/sources -o Dir::State::lists=$work/lists"
    (apt-get $with update -qq && cd "$work/cjson" && apt-get $with source -qq --download-only cjson && tar xf cjson_*.orig.tar.*) \
        >"$work/log" 2>&1
}

program() { # target, element, name, sources ...: builds and runs it
    target=$1 element=$2 name=$3; shift 3
    label="$target$variant, $name"
    [ $element = UGRPO_DOUBLE ] && label="$label in float"
    if ! $compiler $flags -$element "$(find tests -name "$name.c")" "$@" "$work/$element.a" -o "$work/$name.exe" -lm >"$work/log" 2>&1; then
        verdict "$label: builds" 1; return
    fi
    case $name in vectors* | calls) argument=tests/vectors ;; *) argument= ;; esac
    start=$(date +%s)
    WINEDEBUG=-all $run "$work/$name.exe" $argument >"$work/log" 2>&1
    status=$?
    tally "$work/log"
    count "$p" "$f"
    if [ "$f" -ne 0 ]; then grep -m 5 . "$work/log"; fi
    if [ "$p" -eq 0 ] || { [ $status -ne 0 ] && [ "$f" -eq 0 ]; }; then
        verdict "$label: exit status $status$([ -s "$work/log" ] || echo ', printed nothing')" 1
    fi
    echo "$label: $p passed, $f failed, $(($(date +%s) - start)) s"
}

tests_of() { # target, options: every program in both element types
    target=$1; shift
    cjson=$(echo "$work"/cjson/*/cJSON.c)
    flags="-std=c99 -O2 -w -DDRAWS_OVER=12 -D_FILE_OFFSET_BITS=64 -I. -I${cjson%/*} -I/usr/include/stb $options $*"
    for source in "$cjson" tests/support/stb_ds.c; do
        object=${source##*/}
        $compiler $flags -c "$source" -o "$work/${object%.c}.o" || { verdict "$target: $object" 1; return; }
    done
    for element in DGRPO_DOUBLE UGRPO_DOUBLE; do
        $compiler $flags -$element -c tests/support/headers.c -o "$work/headers.o" || { verdict "$target: headers" 1; return; }
        rm -f "$work/$element.a"; $tools-ar rc "$work/$element.a" "$work/headers.o"
        read="tests/support/case.c tests/support/compare.c $work/cJSON.o $work/stb_ds.o"
        program "$target" $element vectors tests/support/split_run.c $read
        program "$target" $element vectors_rows tests/logits/rows_run.c $read
        for name in errors calls_arguments exact_sums logits_loss hidden_loss; do program "$target" $element $name; done
        [ -n "$wide" ] || continue
        program "$target" $element calls tests/extra/call_run.c $read
        for name in scalar_accuracy logits_rows $native; do program "$target" $element $name; done
    done
}

install "$@" || { tail -5 "$work/log"; echo "not a Debian system, not root, or no network" >&2; exit 1; }
for target in "$@"; do
    of_target "$target"
    variant=
    tests_of "$target"
    if [ "$target" = windows ]; then variant=" -mfma"; tests_of "$target" -mfma; fi
done
summary
