#!/bin/sh
# The ways of embedding that the README names, each in a project made for the purpose. Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
top=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

verdict() { # what, exit status
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL $1"; tail -5 "$work/log"; fi
}

cat >"$work/app.c" <<'C'
#define GSPO_IMPLEMENTATION
#include <gspo.h>
int main(void) { grpo_objective obj; return grpo_objective_named("gspo", &obj) || obj.surrogate.eps_high != 4e-4; }
C

copied() {
    mkdir "$work/copy" && cp grpo.h grpo_rows.h gspo.h "$work/copy" &&
    cc -std=c99 -I"$work/copy" "$work/app.c" -lm -o "$work/copy/app" && "$work/copy/app"
}

copied_without_rows() {
    cat >"$work/no_rows.c" <<'C'
#define GRPO_NO_ROWS
#define GSPO_IMPLEMENTATION
#include <gspo.h>
int main(void) { grpo_objective obj; memset(&obj, 0, sizeof obj); return grpo_objective_choose(&obj, "ratio.level", "sequence_mean") != GRPO_OK; }
C
    mkdir "$work/two" && cp grpo.h gspo.h "$work/two" && cc -std=c99 -I"$work/two" "$work/no_rows.c" -lm -o "$work/two/app" && "$work/two/app"
}

meson_subproject() {
    mkdir -p "$work/meson/subprojects/grpo/tests" && cp -R grpo.h grpo_rows.h gspo.h extra meson.build "$work/meson/subprojects/grpo" && cp "$work/app.c" "$work/meson" &&
    cat >"$work/meson/meson.build" <<'M' &&
project('app', 'c')
executable('app', 'app.c', dependencies: dependency('grpo', fallback: ['grpo', 'gspo_dep']))
M
    meson setup "$work/meson/build" "$work/meson" && ninja -C "$work/meson/build" && "$work/meson/build/app"
}

pkg_config() {
    meson setup "$work/install" "$top" --prefix "$work/prefix" && meson install -C "$work/install" --no-rebuild --tags devel &&
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name grpo.pc)") && export PKG_CONFIG_PATH &&
    cc -std=c99 $(pkg-config --cflags grpo) "$work/app.c" $(pkg-config --libs grpo) -o "$work/app" && "$work/app"
}

for way in copied copied_without_rows meson_subproject pkg_config; do
    $way >"$work/log" 2>&1
    verdict "$way" $?
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
