#!/bin/sh
# All headers, alone and together, declarations and implementation, float and double, in every promised language standard and compiler.
# Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh

# without optimisation, on which some of gcc's warnings depend: the tests' own build has those, in C
compile() { # compiler standard language source element
    out=$work/$1
    if $1 -x "$3" "-std=$2" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. $5 -fsyntax-only "$work/$4" >"$out.log" 2>&1
    then echo "ok $1 -std=$2 $5 $4"
    else echo "FAIL $1 -std=$2 $5 $4"; head -5 "$out.log"; fi
}

printf '#include "grpo.h"\nint unused;\n' >"$work/grpo_only.c"
printf '#include "gspo.h"\nint unused;\n' >"$work/gspo_only.c"
printf '#include "grpo.h"\n#include "gspo.h"\n#include "grpo.h"\nint unused;\n' >"$work/both.c"
printf '#define GRPO_IMPLEMENTATION\n#include "grpo.h"\n' >"$work/grpo_body.c"
printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n' >"$work/gspo_body.c"
printf '#include "grpo.h"\n#include "gspo.h"\n#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n' >"$work/late_body.c"

# the optional headers: each alone as declarations, each as an implementation in a file of its own, all after that of gspo.h
extra=$(cd extra && ls *.h | grep -vE 'shared|declarations')
sources="grpo_only.c gspo_only.c both.c grpo_body.c late_body.c extra_body.c"
printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\n' >"$work/extra_body.c"
for header in $extra; do
    macro=$(basename "$header" .h | tr a-z A-Z)_IMPLEMENTATION
    printf '#include "extra/%s"\nint unused;\n' "$header" >"$work/only_${header%.h}.c"
    printf '#define %s\n#include "extra/%s"\n' "$macro" "$header" | tee "$work/body_${header%.h}.c" >>"$work/extra_body.c"
    sources="$sources only_${header%.h}.c body_${header%.h}.c"
done

lane() { # C compiler, C++ compiler
    for element in -UGRPO_DOUBLE -DGRPO_DOUBLE; do
        for source in $sources; do
            # extra_body.c has them all in both element types
            case $element$source in -DGRPO_DOUBLE*body_grpo_*|-DGRPO_DOUBLEonly_*|-DGRPO_DOUBLElate*) continue ;; esac
            c="c99 c11" cpp="c++11 c++20"
            case $element$source in *only_grpo_*|*body_grpo_*|*g*_body.c|*late_body.c|-DGRPO_DOUBLE*) c=c99 cpp=c++11 ;; esac
            for standard in $c; do compile "$1" $standard c $source "$element"; done
            for standard in $cpp; do compile "$2" $standard c++ $source "$element"; done
        done
    done
}

take_lanes() { # compilers: adds up their results and prints failures
    for lane in "$@"; do
        grep -v '^ok' "$work/$lane.lane"
        count "$(grep -c '^ok' "$work/$lane.lane")" "$(grep -c '^FAIL' "$work/$lane.lane")"
    done
}

lane gcc g++ >"$work/gcc.lane" &
lane clang clang++ >"$work/clang.lane"
wait
take_lanes gcc clang

# the switches: no warning in any compiler, the same bits, and the functions left out are absent; gcc reports unused functions only when it
# generates code
all="-DGRPO_NO_ROWS -DGRPO_NO_TEXT -DGRPO_NO_BLOCKS"
switched() { # compiler options...; C++ with all of them at once
    each="-DGRPO_NO_ROWS -DGRPO_NO_TEXT -DGRPO_NO_BLOCKS"
    case $1 in *++) each= ;; esac
    for switches in $each "$all"; do
        for source in grpo_body extra_body; do                           # grpo.h alone has no caller for what gspo.h alone calls
            if "$@" $switches -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I. "$work/$source.c" >"$work/$1.log" 2>&1
            then echo "ok $* $switches $source"
            else echo "FAIL $* $switches $source"; head -5 "$work/$1.log"; fi
        done
    done
}
# objects for the link tests below, built in the meantime: all in one, and the optional headers in files of their own, in both element types
objects() { # of one element type: the first letter of its objects, option
    gcc -std=c99 $2 -I. -c "$work/extra_body.c" -o "$work/$1.o"
    for header in $extra; do
        case $header in grpo_context.h|grpo_hidden.h) continue ;; esac          # include the implementation of gspo.h
        gcc -std=c99 $2 -I. -c "$work/body_${header%.h}.c" -o "$work/$1_${header%.h}.o"
    done
    gcc -std=c99 $2 -I. -c "$work/body_grpo_hidden.c" -o "$work/$1_core.o"          # and of grpo_context.h
}
switched gcc -std=c99 -O0 -c -o "$work/gcc.o" >"$work/gcc.lane" &
switched g++ -std=c++11 -x c++ -O0 -c -o "$work/g++.o" >"$work/g++.lane"
switched clang -std=c99 -fsyntax-only >"$work/clang.lane"
switched clang++ -std=c++11 -x c++ -fsyntax-only >"$work/clang++.lane"
objects f -UGRPO_DOUBLE >"$work/f.log" 2>&1
wait
take_lanes gcc g++ clang clang++
objects d -DGRPO_DOUBLE >"$work/d.log" 2>&1 &
cat >"$work/alone.c" <<'C'
#include <stdio.h>
#define GSPO_IMPLEMENTATION
#include "gspo.h"
static const float logp[] = { -1, -2, -0.5f, -3, -0.25f }, old[] = { -1.125f, -1.75f, -0.5f, -3.5f, -0.375f }, reward[] = { 1, 0 };
static const int64_t group[] = { 0, 2 }, offset[] = { 0, 2 }, length[] = { 2, 3 };
int main(void)
{
    grpo_objective obj; grpo_batch b; grpo_report r; grpo_output out;
    float A[5], dlogp[5];
    memset(&obj, 0, sizeof obj); memset(&b, 0, sizeof b); memset(&out, 0, sizeof out);
    obj.advantage.baseline = GRPO_BASELINE_GROUP_MEAN; obj.advantage.scale = GRPO_SCALE_GROUP_STD;
    obj.ratio.level = GRPO_LEVEL_SEQUENCE_MEAN; obj.aggregation.kind = GRPO_AGGREGATION_SEQ_MEAN_TOKEN_MEAN;
    obj.surrogate.kind = GRPO_SURROGATE_PPO_CLIP; obj.surrogate.eps_low = 3e-4; obj.surrogate.eps_high = 4e-4;
    b.n_groups = 1; b.group_begin = group; b.offset = offset; b.length = length; b.n_tokens = 5;
    b.logp = logp; b.logp_old = old; b.reward = reward;
    out.dlogp = dlogp;
    if (grpo_advantages(&obj, &b, A) || gspo_loss(&obj, &b, A, NULL, &out, &r)) return 1;
    printf("%.17g %.9g %.9g %.9g %.9g %.9g\n", r.loss, dlogp[0], dlogp[1], dlogp[2], dlogp[3], dlogp[4]);
    return 0;
}
C
gcc -std=c99 -I. "$work/alone.c" -lm -o "$work/with" && "$work/with" >"$work/with.txt"; status=$?
gcc -std=c99 -I. $all "$work/alone.c" -lm -o "$work/alone" >"$work/log" 2>&1 && "$work/alone" | diff "$work/with.txt" - >"$work/log"
verdict "GSPO alone gives the same bits" $((status + $?))
for absent in NO_ROWS:grpo_objective_named NO_ROWS:grpo_presets NO_TEXT:grpo_status_message; do
    printf '#define GSPO_IMPLEMENTATION\n#include "gspo.h"\nint main(void) { return !%s; }\n' "${absent#*:}" >"$work/absent.c"
    check "${absent#*:} is there" \
        gcc -std=c99 -I. -fsyntax-only "$work/absent.c"
    refused "${absent#*:} is absent with GRPO_${absent%:*}" "${absent#*:}. undeclared" \
        gcc -std=c99 -I. -fsyntax-only -DGRPO_${absent%:*} "$work/absent.c"
done

# short names that system headers define as macros: windows.h (also without NOMINMAX), complex.h, sys/sysmacros.h, X.h, gcc itself without
# -std=c99
cat >"$work/macros.c" <<'C'
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define near
#define far
#define small char
#define hyper long
#define interface struct
#define pascal
#define cdecl
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define THIS
#define ERROR 0
#define DELETE 0x10000L
#define ABSOLUTE 1
#define RELATIVE 2
#define TRANSPARENT 1
#define OPAQUE 2
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define I 1i
#define major(x) x
#define minor(x) x
#define None 0L
#define Always 2
#define Success 0
#define Status int
#undef unix
#define unix 1
#undef linux
#define linux 1
/* Apple's <math.h> does not define them in C++20 after <float.h> */
#undef NAN
#undef INFINITY
C
cat "$work/extra_body.c" >>"$work/macros.c"
check "C after macros of system headers" \
    gcc -std=c99 -Wall -Wextra -Werror -I. -fsyntax-only "$work/macros.c"
check "C++ after macros of system headers" \
    g++ -std=c++11 -x c++ -Wall -Wextra -Werror -I. -fsyntax-only "$work/macros.c"

# names in capitals that the including program may have as macros of its own (N, CLAMP, ROW ...): the headers use none, and leave each as
# it was
sed -n '/^#include </p' "$work/macros.c" >"$work/capitals.c"
gcc -std=c99 -dM -E "$work/capitals.c" | sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' >"$work/standard"
for header in grpo.h gspo.h grpo_blocks.h grpo_rows.h extra/*.h; do gcc -fpreprocessed -dD -E -P -w "$header"; done | sed 's/"[^"]*"//g' \
    | grep -oE '\b[A-Z][A-Z0-9_]*\b' | sort -u | grep -vE '^(GRPO|GSPO|FP_FAST)_' | grep -vxFf "$work/standard" >"$work/capitals"
for letter in A B C D E F G H J K L M N O P Q R S T U V W X Y Z; do echo $letter; done | sort -u - "$work/capitals" >"$work/names"
sed 's/.*/#define & @user@/' "$work/names" >>"$work/capitals.c"
cat "$work/extra_body.c" >>"$work/capitals.c"
sed 's/.*/#ifndef &\n#error & is no longer defined\n#endif/' "$work/names" >>"$work/capitals.c"
[ "$(wc -l <"$work/names")" -ge 200 ]; verdict "names in capitals are found" $?
check "C after macros in capitals" \
    gcc -std=c99 -Wall -Wextra -Werror -I. -fsyntax-only "$work/capitals.c"
check "C++ after macros in capitals" \
    g++ -std=c++11 -x c++ -Wall -Wextra -Werror -I. -fsyntax-only "$work/capitals.c"

# -ffast-math and -ffinite-math-only do not compile, unless overridden
for compiler in gcc clang; do
    for option in -ffast-math -ffinite-math-only; do
        refused "$compiler refuses $option" "IEEE arithmetic" \
            $compiler $option -I. -c "$work/gspo_body.c" -o "$work/out.o"
        check "$compiler $option -DGRPO_ALLOW_FAST_MATH" \
            $compiler $option -DGRPO_ALLOW_FAST_MATH -I. -c "$work/gspo_body.c" -o "$work/out.o"
    done
done
# what cl.exe defines with /fp:fast
refused "the macro of /fp:fast is refused" "IEEE arithmetic" \
    gcc -D_M_FP_FAST=1 -I. -c "$work/gspo_body.c" -o "$work/out.o"
# clang has no macro for it
refused "gcc refuses -ffast-math -fno-finite-math-only" "IEEE arithmetic" \
    gcc -ffast-math -fno-finite-math-only -I. -c "$work/gspo_body.c" -o "$work/out.o"

# clang does not announce that it reorders sums: the loss returns GRPO_NOT_IEEE, and 0 with GRPO_ALLOW_FAST_MATH
cat >"$work/reordered.c" <<'C'
#define GSPO_IMPLEMENTATION
#include "gspo.h"
static float l = -1, A = 1; static int64_t g[2] = { 0, 1 }, o, n = 1;
int main(void)
{
    grpo_objective obj; grpo_batch b; grpo_report r;
    memset(&b, 0, sizeof b); b.n_groups = 1; b.group_begin = g; b.offset = &o; b.length = &n; b.n_tokens = 1; b.logp = b.logp_old = &l;
    return grpo_objective_named("gspo", &obj) ? 2 : grpo_status_is(gspo_loss(&obj, &b, &A, NULL, NULL, &r), GRPO_NOT_IEEE);
}
C
for option in "-ffast-math -fno-finite-math-only" "-fassociative-math -fno-signed-zeros -fno-trapping-math" -funsafe-math-optimizations; do
    clang -O2 $option -I. "$work/reordered.c" -lm -o "$work/reordered" >"$work/log" 2>&1
    "$work/reordered"; [ $? -eq 1 ]; verdict "the loss refuses clang $option" $?
done
clang -O2 -DGRPO_ALLOW_FAST_MATH $option -I. "$work/reordered.c" -lm -o "$work/reordered" >"$work/log" 2>&1
"$work/reordered"; verdict "clang $option -DGRPO_ALLOW_FAST_MATH" $?
# nor does a C library announce that its fma is not exact
{ printf '#include <math.h>\n#define fma(a, b, c) ((a) * (b) + (c))\n'; cat "$work/reordered.c"; } >"$work/fma.c"
gcc -std=c99 -I. "$work/fma.c" -lm -o "$work/reordered" >"$work/log" 2>&1
"$work/reordered"; [ $? -eq 1 ]; verdict "the loss refuses an fma that rounds twice" $?

# excess precision does not compile
for unit in 387 both; do
    [ "$(uname -m)" = x86_64 ] || continue
    refused "gcc refuses -mfpmath=$unit" "excess precision" \
        gcc -std=c99 -mfpmath=$unit -I. -c "$work/gspo_body.c" -o "$work/out.o"
done

# float and double in one program; without the implementation of one it does not link
cat >"$work/float.c" <<'C'
#include "gspo.h"
static float l = -1, A; static int64_t g[2] = { 0, 1 }, o, n = 1;
int main(void)
{
    grpo_objective obj; grpo_batch b; grpo_report r; double use_double(void);
    memset(&b, 0, sizeof b); b.n_groups = 1; b.group_begin = g; b.offset = &o; b.length = &n; b.n_tokens = 1;
    b.logp = b.logp_old = &l; b.reward = &l;
    return grpo_objective_named("gspo", &obj) || grpo_advantages(&obj, &b, &A) || gspo_loss(&obj, &b, &A, NULL, NULL, &r)
        || use_double() != -1;
}
C
cat >"$work/double.c" <<'C'
#define GRPO_DOUBLE
#include "gspo.h"
static double l = -1, A; static int64_t g[2] = { 0, 1 }, o, n = 1;
double use_double(void);
double use_double(void)
{
    grpo_objective obj; grpo_batch b; grpo_report r;
    memset(&b, 0, sizeof b); b.n_groups = 1; b.group_begin = g; b.offset = &o; b.length = &n; b.n_tokens = 1;
    b.logp = b.logp_old = &l; b.reward = &l;
    if (grpo_objective_named("reinforce", &obj) || grpo_advantages(&obj, &b, &A) || gspo_loss(&obj, &b, &A, NULL, NULL, &r)) return 0;
    return A;
}
C
wait
gcc -std=c99 -I. "$work/float.c" "$work/double.c" "$work/f.o" "$work/d.o" -lm -o "$work/mixed" >"$work/log" 2>&1 && "$work/mixed"
verdict "float and double in one program" $?
refused "double without its implementation does not link" "gspo_loss_f64" \
    gcc -std=c99 -I. "$work/float.c" "$work/double.c" "$work/f.o" -lm -o "$work/mixed"

# rows and blocks are included by the implementation only, and must have its version
mkdir "$work/older" && cp grpo_rows.h grpo_blocks.h "$work/older"
sed 's/GRPO_VERSION_NUMBER [0-9]*/GRPO_VERSION_NUMBER 1/' grpo.h >"$work/older/grpo.h"
for part in rows blocks; do
    printf '#include "grpo_%s.h"\n' $part >"$work/part_alone.c"
    refused "grpo_$part.h alone is refused" "a part of grpo.h" \
        gcc -std=c99 -I. -fsyntax-only "$work/part_alone.c"
    other=ROWS; [ $part = rows ] && other=BLOCKS
    printf '#define GRPO_NO_%s\n#define GRPO_IMPLEMENTATION\n#include "older/grpo.h"\n' $other >"$work/older.c"
    refused "grpo_$part.h of another version is refused" "grpo_$part.h and grpo.h are of different versions" \
        gcc -std=c99 -fsyntax-only "$work/older.c"
done

# the optional headers in files of their own link with the objectives', in both element types at once; one of another version is refused
gcc -std=c99 -I. "$work/float.c" "$work/double.c" "$work"/[fd]_*.o -lm -o "$work/apart" >"$work/log" 2>&1 && "$work/apart"
verdict "optional headers in files of their own, float and double in one program" $?
cat >"$work/takes_double.c" <<'C'
#define GRPO_DOUBLE
#include "extra/grpo_control.h"
int main(void) { return grpo_running_baseline(0, 0, 0, 0, 0) != 0; }
C
refused "an optional header in the other element type does not link" "grpo_running_baseline_f64" \
    gcc -std=c99 -I. "$work/takes_double.c" "$work/f_core.o" "$work/f_grpo_control.o" -lm -o "$work/mixed"
mkdir -p "$work/other/extra" && cp extra/*.h "$work/other/extra" && cp gspo.h "$work/only_grpo_control.c" "$work/other"
sed 's/GRPO_VERSION_NUMBER [0-9]*/GRPO_VERSION_NUMBER 1/' grpo.h >"$work/other/grpo.h"
refused "an optional header of another version is refused" "different versions" \
    gcc -std=c99 -fsyntax-only "$work/other/only_grpo_control.c"

# every symbol the implementation exports has the prefix
nm -g --defined-only "$work/f.o" "$work/d.o" | awk 'NF == 3 { print $3 }' | grep -vE '^(grpo|gspo)_' >"$work/log"
[ $? -ne 0 ]; verdict "exported symbols start with grpo_ or gspo_" $?
gcc -std=c99 -I. -dM -E "$work/gspo_only.c" | sort >"$work/with"; gcc -std=c99 -dM -E - <<'C' | sort >"$work/without"
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
C
comm -23 "$work/with" "$work/without" | awk '{ print $2 }' | grep -vE '^(GRPO|GSPO)_' >"$work/log"
[ $? -ne 0 ]; verdict "macros start with GRPO_ or GSPO_" $?
gcc -std=c99 -I. -dM -E "$work/extra_body.c" | sort >"$work/with"
comm -23 "$work/with" "$work/without" | awk '{ print $2 }' | grep -vE '^(GRPO|GSPO)_' >"$work/log"
[ $? -ne 0 ]; verdict "macros of the implementation start with GRPO_ or GSPO_" $?

# no dependency, no allocation, no state: the implementation of all headers calls functions of <math.h> and <string.h> only (__cpu_model
# says which loops the processor has), has no data that can be written, and includes five headers of the language
strings='mem(chr|cpy|move|set|cmp)|str(n?cmp|n?cpy|len|r?chr|c?spn|str)'
numbers='(ceil|cos|exp|expm1|fabs|floor|fma|fmax|fmin|fmod|frexp|ldexp|log|log10|log1p|pow|sin|sqrt|tanh)f?'
nm -u "$work/f.o" "$work/d.o" | awk 'NF == 2 { print $2 }' | sort -u |
    grep -vxE "_GLOBAL_OFFSET_TABLE_|__cpu_model|$strings|$numbers" >"$work/log"
[ $? -ne 0 ]; verdict "nothing is called but mathematics and strings" $?
size -A "$work/f.o" "$work/d.o" | awk '($1 == ".data" || $1 == ".bss") && $2 > 0' | grep . >"$work/log"
[ $? -ne 0 ]; verdict "there is no data that can be written" $?
grep -hE '^ *# *include <' grpo*.h gspo.h extra/*.h | sort -u | grep -vxE '#include <(float|math|stddef|stdint|string)\.h>' >"$work/log"
[ $? -ne 0 ]; verdict "five headers of the language are included" $?

summary
