#!/bin/sh
# The ways of embedding that the README lists, each in a small project created here, with only the flags that the README names.
# Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
top=$(pwd)
version=$(cat VERSION)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh

cat >"$work/app.c" <<'C'
#define GSPO_IMPLEMENTATION
#include <gspo.h>
int main(void) { grpo_objective obj; return grpo_objective_named("gspo", &obj) || obj.surrogate.eps_high != 4e-4; }
C
sed 's|#include <gspo.h>|&\n#define GRPO_CONTROL_IMPLEMENTATION\n#include <extra/grpo_control.h>|' "$work/app.c" >"$work/app_with_extra.c"

copied() {
    mkdir "$work/copy" && cp grpo.h grpo_blocks.h grpo_rows.h gspo.h "$work/copy" &&
    cc -std=c99 -I"$work/copy" "$work/app.c" -lm -o "$work/copy/app" && "$work/copy/app"
}

copied_in_two_files() {
    cat >"$work/no_rows.c" <<'C'
#define GRPO_NO_ROWS
#define GRPO_NO_BLOCKS
#define GSPO_IMPLEMENTATION
#include <gspo.h>
int main(void) {
    grpo_objective obj;
    memset(&obj, 0, sizeof obj);
    return grpo_objective_choose(&obj, "ratio.level", "sequence_mean") != GRPO_OK;
}
C
    mkdir "$work/two" && cp grpo.h gspo.h "$work/two" &&
    cc -std=c99 -I"$work/two" "$work/no_rows.c" -lm -o "$work/two/app" && "$work/two/app"
}

library_in() { # folder: copies the library without the tests
    mkdir -p "$1" && cp -R grpo.h grpo_blocks.h grpo_rows.h gspo.h extra meson.build meson_options.txt CMakeLists.txt "$1"
}

meson_subproject() {
    library_in "$work/meson/subprojects/grpo" && cp "$work/app_with_extra.c" "$work/meson/app.c" &&
    cat >"$work/meson/meson.build" <<'M' &&
project('app', 'c')
executable('app', 'app.c', dependencies: dependency('grpo', fallback: ['grpo', 'gspo_dep']))
M
    meson setup "$work/meson/build" "$work/meson" && ninja -C "$work/meson/build" && "$work/meson/build/app"
}

meson_install_builds_nothing() {
    meson setup "$work/install" "$top" --prefix "$work/prefix" && ninja -C "$work/install" -n | grep 'no work to do' &&
    meson install -C "$work/install"
}

pkg_config() {
    PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name grpo.pc)") && export PKG_CONFIG_PATH &&
    cc -std=c99 $(pkg-config --cflags grpo) "$work/app_with_extra.c" $(pkg-config --libs grpo) -o "$work/app" && "$work/app"
}

cmake_project() { # folder, line that defines grpo::grpo, arguments of cmake...
    folder=$1 line=$2; shift 2
    mkdir -p "$folder" && cp "$work/app_with_extra.c" "$folder/app.c" &&
    printf '%s\n' 'cmake_minimum_required(VERSION 3.14)' 'project(app C)' "$line" 'add_executable(app app.c)' \
        'target_link_libraries(app PRIVATE grpo::grpo)' >"$folder/CMakeLists.txt" &&
    cmake -S "$folder" -B "$folder/build" "$@" && cmake --build "$folder/build" && "$folder/build/app"
}

cmake_add_subdirectory() {
    library_in "$work/cmake_folder/grpo" && cmake_project "$work/cmake_folder" 'add_subdirectory(grpo)'
}

cmake_fetch_content() {
    library_in "$work/repository" &&
    (cd "$work/repository" && git init -q && git add . && git -c user.name=a -c user.email=b commit -q -m library && git tag "v$version") &&
    cmake_project "$work/cmake_fetch" "include(FetchContent)
FetchContent_Declare(grpo GIT_REPOSITORY file://$work/repository GIT_TAG v$version)
FetchContent_MakeAvailable(grpo)"
}

cmake_find_package() {
    cmake -S "$top" -B "$work/cmake_install" --install-prefix "$work/cmake_prefix" && cmake --install "$work/cmake_install" &&
    cmake_project "$work/cmake_find" "find_package(grpo ${version%.*} REQUIRED)" -DCMAKE_PREFIX_PATH="$work/cmake_prefix"
}

both_install_the_same_headers() { # and all of them
    (cd "$work/prefix/include/grpo" && find . -type f | sort) >"$work/by_meson" &&
    (cd "$work/cmake_prefix/include/grpo" && find . -type f | sort) | diff "$work/by_meson" - &&
    git ls-files '*.h' ':!tests' ':!fuzz' ':!examples' | sed 's|^|./|' | sort | diff "$work/by_meson" -
}

for way in copied copied_in_two_files meson_subproject meson_install_builds_nothing pkg_config cmake_add_subdirectory cmake_fetch_content \
    cmake_find_package both_install_the_same_headers; do
    check "$way" $way
done
summary
