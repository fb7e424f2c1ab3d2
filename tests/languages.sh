#!/bin/sh
# The examples in other languages print the same numbers, as far as their tools are installed; cuts.c and padded.c print what their pages
# show; a wrongly declared struct is refused; the declarations match the headers, and cffi reads them.  Prints "N passed, N failed".
# CFLAGS: of the library (default -O0).
# ZIG, SWIFTC: the compilers of these languages (default zig, swiftc).
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
python=$(command -v /usr/bin/python3 || command -v python3)
zig=${ZIG:-zig} swiftc=${SWIFTC:-swiftc}               # may be several words
CFLAGS=${CFLAGS:--O0} GRPO_LIBRARY=$work/libgrpo.so
export CFLAGS GRPO_LIBRARY

lacks_a_member() { # language, command...: must fail with an error that names the member
    language=$1; shift
    refused "$language: a struct that lacks a member is refused" 'grpo_batch reward is not declared as in grpo.h' "$@"
}

rust() { rustc --edition 2021 -D warnings -C link-arg="$work/grpo.o" -C link-arg=-lm "$1" -o "$2"; }
build_zig() { # a folder with the headers, the program
    $zig translate-c -lc "$1/gspo.h" >"$work/grpo.zig" &&
        ZIG_LOCAL_CACHE_DIR=$work/zig-cache $zig build-exe -lc "$work/grpo.o" \
            --dep grpo -Mroot=examples/zig/gspo.zig -Mgrpo="$work/grpo.zig" -femit-bin="$2"
}
build_swift() { # a folder with the headers and examples/swift, the program
    $swiftc -warnings-as-errors -module-cache-path "$work/swift-cache" -I "$1/examples/swift" \
        examples/swift/gspo.swift "$work/grpo.o" -lm -o "$2"
}

exported() { nm -D --defined-only "$1" | awk 'NF == 3 && $3 !~ /^_/ { print $3 }' | LC_ALL=C sort; }
cc -std=c99 $CFLAGS -fPIC -c examples/library.c -o "$work/grpo.o" && cc -shared "$work/grpo.o" -lm -o "$work/linked.so"
exported "$work/linked.so" | diff examples/library.symbols - >"$work/log"
verdict "the library exports what library.symbols lists" $?
cc -std=c99 $CFLAGS -fPIC -fvisibility=hidden -shared examples/library.c -lm -o "$work/hidden.so" &&
    exported "$work/hidden.so" | diff examples/library.symbols - >"$work/log"
verdict "and with -fvisibility=hidden too" $?
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
c++ -std=c++11 $warnings examples/cpp/gspo.cpp "$work/grpo.o" -o "$work/cpp" >"$work/log" 2>&1 &&
    "$work/cpp" >"$work/cpp.txt"
verdict "C++" $?
# worked by hand: the ratios of two of four responses are outside [1 - 3e-4, 1 + 4e-4], the advantages are +-sqrt(1/2)
awk 'BEGIN { printf "loss %.9f, clipped 70 %%\n", -(3e-4 + 4e-4) * sqrt(0.5) / 4 }' >"$work/hand"
cut -d, -f1,2 "$work/cpp.txt" | tail -1 | diff - "$work/hand" >"$work/log"
verdict "C++: the loss by hand" $?
{ printf 'gspo: '; cat "$work/hand"; } >"$work/want"
for flags in "" -fno-exceptions; do
    c++ -std=c++17 $flags $warnings examples/cpp/view.cpp "$work/grpo.o" -o "$work/view" >"$work/log" 2>&1 &&
        "$work/view" >"$work/view$flags.txt" &&
        head -1 "$work/view$flags.txt" | cut -d, -f1,2 | diff - "$work/want" >"$work/log" &&
        grep -q 'parts: every bit' "$work/view$flags.txt"
    verdict "C++17, the view${flags:+, }$flags" $?
done
mkdir "$work/copied" && cp ./*.h examples/cpp/view.hpp examples/cpp/view.cpp examples/python/gspo.py "$work/copied" &&
    c++ -std=c++17 $warnings "$work/copied/view.cpp" "$work/grpo.o" -o "$work/view_copied" >"$work/log" 2>&1 &&
    "$work/view_copied" >"$work/view_copied.txt" && diff "$work/view.txt" "$work/view_copied.txt" >"$work/log"
verdict "C++17, the view copied beside the headers" $?
c++ -std=c++17 $warnings $CFLAGS examples/cpp/parts.cpp -o "$work/parts" >"$work/log" 2>&1 &&
    "$work/parts" >"$work/log" && [ "$(grep -c 'every bit' "$work/log")" -eq 2 ]
verdict "C++17, a batch in parts" $?
as_its_page_shows() { # what, source, page, arguments...: prints the block of text that follows the command on the page
    what=$1 source=$2 page=$3 program=${2##*/}; program=${program%.c}; shift 3
    cc -std=c99 $warnings $CFLAGS "$source" -lm -o "$work/$program" >"$work/log" 2>&1 && "$work/$program" "$@" >"$work/printed.txt" &&
        awk -v command="./$program${*:+ $*}" '/^```/ { block = here && $0 == "```text"; here = 0; next }
            substr($0, length($0) - length(command) + 1) == command { here = 1 }
            block' "$page" | diff - "$work/printed.txt" >"$work/log" && [ -s "$work/printed.txt" ]
    verdict "$what" $?
}
{
    printf '#include "gspo.h"\nvoid set(const float *logp_ref, const float *logp_rollout, const uint8_t *truncated, uint8_t *keep) {\n'
    printf 'grpo_objective objective; grpo_batch batch; grpo_totals totals;\n'
    sed -n '/^### What you want/,/^Settings/p' examples/README.md | grep -o '`[^`]*`' | tr -d '`' |
        grep -E '^(objective|batch|totals)\.[a-z_.]* =|^grpo_[a-z_]*\(' | sed 's/$/;/'
    printf '(void)objective; (void)batch; (void)totals; }\n'
} >"$work/set.c"
cc -std=c99 $warnings -Wno-uninitialized -I. -c "$work/set.c" -o "$work/set.o" >"$work/log" 2>&1 &&
    [ "$(grep -c ';$' "$work/set.c")" -ge 20 ]
verdict "C, what a page says to set compiles" $?
as_its_page_shows "C, a batch cut in every way, as its page shows" examples/cuts.c examples/cuts.md gspo dapo gvpo
as_its_page_shows "C, a batch from padded tensors, as its page shows" examples/padded.c examples/README.md
grep '^refused' "$work/view.txt" >"$work/log"
printf 'refused: %s\n' "name is unknown" "dlogp has not one element per token" \
    "dentropy has not one element per token" "batch.logp[3] is NaN" |
    diff - "$work/log" >"$work/view.diff"
verdict "C++17, what the view refuses" $?

"$python" examples/python/gspo.py >"$work/python.txt" 2>"$work/log" && diff "$work/cpp.txt" "$work/python.txt" >"$work/log"
verdict "Python, which builds its library" $?
GRPO_LIBRARY=$work/linked.so "$python" -B "$work/copied/gspo.py" >"$work/copied.txt" 2>"$work/log" &&
    diff "$work/cpp.txt" "$work/copied.txt" >"$work/log"
verdict "Python, copied, with a library that is there" $?
mkdir -p "$work/tree/examples/python" && cp -p examples/library.c "$work/tree/examples" &&
    cp -pR grpo.h gspo.h grpo_blocks.h grpo_rows.h extra "$work/tree" &&
    sed "s/ 'sum_pi_squared',//" examples/python/gspo.py >"$work/tree/examples/python/gspo.py"
lacks_a_member Python env GRPO_LIBRARY="$work/linked.so" "$python" "$work/tree/examples/python/gspo.py"

if command -v rustc >/dev/null; then
    rust examples/rust/gspo.rs "$work/rust" >"$work/log" 2>&1 && "$work/rust" >"$work/rust.txt" 2>"$work/log" &&
        diff "$work/cpp.txt" "$work/rust.txt" >"$work/log"
    verdict "Rust" $?
    sed 's/ sum_pi_squared: \*const f32,//' examples/rust/gspo.rs >"$work/lacks.rs" && rust "$work/lacks.rs" "$work/lacks" >"$work/log" 2>&1
    lacks_a_member Rust "$work/lacks"
else
    echo "skipped: Rust, there is no rustc"
fi

sed -n '/^<!-- output -->$/,/^```$/ { /^<!--/d; /^```/d; p; }' README.md >"$work/first.txt"      # of first.c
cp -pR examples/swift "$work/tree/examples" && sed '/\*sum_pi_squared;/d' grpo.h >"$work/tree/grpo.h"
prints_as_first() { # language, what builds it
    "$2" . "$work/program" >"$work/log" 2>&1 && "$work/program" >"$work/printed.txt" 2>"$work/log" &&
        diff "$work/first.txt" "$work/printed.txt" >"$work/log"
    verdict "$1" $?
    "$2" "$work/tree" "$work/lacks" >"$work/log" 2>&1
    lacks_a_member "$1" "$work/lacks"
}
if $zig version >/dev/null 2>&1; then prints_as_first Zig build_zig; else echo "skipped: Zig, there is no zig"; fi
if $swiftc --version >/dev/null 2>&1; then prints_as_first Swift build_swift; else echo "skipped: Swift, there is no swiftc"; fi

if "$python" -c 'import torch' 2>/dev/null; then
    "$python" -B examples/python/padded.py >"$work/log" 2>&1
    verdict "PyTorch, the library's loss of padded tensors" $?
else
    echo "skipped: padded tensors with PyTorch, it is not there"
fi
# what trl_loss.py and verl_loss.py take from padded.py is there; in the trainers: trl_trainer.py, verl_policy_loss.py in framework_options
"$python" - <<'END' >"$work/log" 2>&1
import ast
*trees, padded = (ast.parse(open(f"examples/python/{name}.py").read()) for name in ("trl_loss", "verl_loss", "padded"))
there = {n.name for n in padded.body if hasattr(n, "name")} | {t.id for n in padded.body if isinstance(n, ast.Assign)
                                                              for x in n.targets for t in ast.walk(x) if isinstance(t, ast.Name)}
for tree in trees:
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "padded"}
    assert len(used) > 5 and used <= there, used - there
END
verdict "Python, the files for TRL and verl are Python and use what there is" $?
if "$python" -c 'import torch, cffi, numpy' 2>/dev/null; then
    GRPO_CONFORMANCE_CACHE=$work "$python" -B examples/python/train.py >"$work/log" 2>&1
    verdict "PyTorch learns by the reference loss" $?
else
    echo "skipped: training with PyTorch, for torch, cffi or numpy is not there (python3-torch, python3-cffi, python3-numpy)"
fi

"$python" tests/declarations.py --check >"$work/log" 2>&1
verdict "the declarations are those of the headers" $?
{ printf '#include <stddef.h>\n#include <stdint.h>\n'; cat extra/grpo_declarations.h; } >"$work/declared.c"
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$work/declared.c" >"$work/log" 2>&1
verdict "and are C without macros" $?
[ "$(grep -c '^ *#' extra/grpo_declarations.h)" -eq 0 ]
verdict "no directive among them" $?

if "$python" -c 'import cffi' 2>/dev/null; then
    "$python" tests/declarations_cffi.py "$work/linked.so" extra/grpo_declarations.h >"$work/log" 2>&1
    verdict "cffi reads them, and lays out every struct as the library does" $?
    sed '/const float \*logp_ref;/d' extra/grpo_declarations.h >"$work/lacks.h"
    ! "$python" tests/declarations_cffi.py "$work/linked.so" "$work/lacks.h" >"$work/log" 2>&1 &&
        grep -q 'FAIL grpo_batch.reward' "$work/log"
    verdict "and finds out about a member that is missing" $?
else
    echo "skipped: cffi is not there (python3-cffi)"
fi
if command -v bindgen >/dev/null && command -v rustc >/dev/null; then
    bindgen extra/grpo_declarations.h -- -include stdint.h -include stddef.h >"$work/declared.rs" 2>"$work/log" &&
        rustc --edition 2021 --crate-type lib --emit metadata -A warnings "$work/declared.rs" -o "$work/declared.rmeta" \
            >>"$work/log" 2>&1 &&
        grep -q 'pub struct grpo_batch {' "$work/declared.rs"
    verdict "bindgen reads them" $?
else
    echo "skipped: bindgen or rustc is not there"
fi
summary
