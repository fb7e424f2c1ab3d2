#!/bin/sh
# Runs and times README's steps on a fresh Debian that has only a C compiler and git, in a chroot. Needs root, and debootstrap, which
# downloads a few hundred MB.
#   tests/first_visit.sh [FOLDER]       FOLDER: reuses the Debian of an earlier run; without it a new one is removed at the end
# Prints the seconds of each step, and ends with "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
debian=${1:-$(mktemp -d)}
. tests/support/counting.sh
[ $# -gt 0 ] || trap 'rm -rf "$debian"' EXIT

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
    if inside "$2" >"$debian/log" 2>&1; then verdict=ok passed=$((passed + 1)); else verdict=FAIL failed=$((failed + 1)); fi
    printf '%-4s %6.1f s  %s\n' $verdict "$(echo "$(date +%s.%N) $start" | awk '{ print $1 - $2 }')" "$1"
    if [ $verdict = FAIL ]; then tail -20 "$debian/log"; fi
}

[ -x "$debian/usr/bin/gcc" ] || debootstrap --variant=minbase --include=gcc,g++,libc6-dev,git,ca-certificates bookworm "$debian" \
    >"$debian.log" 2>&1 || { tail -5 "$debian.log"; echo "0 passed, 1 failed"; exit 1; }
rm -rf "$debian/visit" "$debian/origin" && mkdir "$debian/visit" && git clone -q --bare . "$debian/origin"
step "git clone" "git clone -q /origin grpo"
step "command 1: $(block 'command 1')" "cd grpo; $(block 'command 1')"
block "file first.c" >"$debian/visit/grpo/first.c"
step "the program of README, pasted: C++20 and C99, no warning" "cd grpo; $(block run 1)"
step "packages of the runner" "apt-get update -qq; apt-get install -y -qq --no-install-recommends libcjson-dev libstb-dev python3-numpy"
step "a port is checked" "cd grpo; $(block run 2)"
summary
