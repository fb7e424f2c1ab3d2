#!/bin/sh
# Runs and times README's steps on a fresh Debian that has only a C compiler and git, in a chroot. Needs root, and debootstrap, which
# downloads a few hundred MB.
#   tests/first_visit.sh [FOLDER]       FOLDER: reuses the Debian of an earlier run; without it a new one is removed at the end
# Prints the seconds of each step, and ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
debian=${1:-$(mktemp -d)} keep=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -n "$keep" ] || rm -rf "$debian"' EXIT
. tests/support/counting.sh

block() { # mark, which of them: the text of the fenced block under it
    awk -v mark="<!-- $1 -->" -v which="${2:-1}" '
        $0 == mark && ++seen == which { on = 1; next }
        on && /^```/ { if (inside++) exit; next }
        on { print }' README.md
}

inside() {
    chroot "$debian" /usr/bin/env -i HOME=/visit PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        sh -ec "cd /visit; $1"
}

step() { # what, command
    start=$(date +%s.%N)
    inside "$2" >"$work/log" 2>&1
    status=$?
    verdict "$(echo "$(date +%s.%N) $start" | awk '{ printf "%6.1f s", $1 - $2 }')  $1" $status
}

[ -x "$debian/usr/bin/gcc" ] || debootstrap --variant=minbase --include=gcc,g++,libc6-dev,git,ca-certificates bookworm "$debian" \
    >"$work/log" 2>&1 || { verdict debootstrap 1; summary; exit; }
rm -rf "$debian/visit" "$debian/origin" && mkdir "$debian/visit" && git clone -q --bare . "$debian/origin"
step "git clone" "git clone -q /origin grpo"
step "command 1: $(block 'command 1')" "cd grpo; $(block 'command 1')"
block "file first.c" >"$debian/visit/grpo/first.c"
step "the program of README, pasted: C++20 and C99, no warning" "cd grpo; $(block run 1)"
step "packages of the runner" "apt-get update -qq; apt-get install -y -qq --no-install-recommends libcjson-dev libstb-dev python3-numpy"
step "a port is checked" "cd grpo; $(block run 2)"
summary
