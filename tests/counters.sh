#!/bin/sh
# What counts the checks of the other tests (support/counting.sh, counting.py, check.h) ends with the right line and status: a failed check,
# a crash and no check at all are failures.  Prints "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/support/counting.sh
mkdir "$work/inner"
export PYTHONDONTWRITEBYTECODE=1

ends() { # language and what, last line, exit status, program...: it ends so
    what=$1 line=$2 wanted=$3; shift 3
    "$@" >"$work/log" 2>&1
    [ $? -eq "$wanted" ] && [ "$(tail -n 1 "$work/log")" = "$line" ]
    verdict "$what" $?
}

in_shell() { ends "shell: $1" "$2" "$3" sh -c "work=$work/inner; . tests/support/counting.sh; $1; summary"; }
in_python() { ends "Python: $1" "$2" "$3" env PYTHONPATH=tests/support python3 -c "
import sys
from counting import check, checked, count
def test(): $1
sys.exit(checked(test))"; }
in_c() {
    printf '#include "tests/support/check.h"\nint main(void) { %s return check_summary(); }\n' "$1" >"$work/inner/program.c"
    ${CC:-cc} -std=c99 -I. "$work/inner/program.c" -o "$work/inner/program" && ends "C: $1" "$2" "$3" "$work/inner/program"
}

in_shell "verdict a 0" "1 passed, 0 failed" 0
in_shell "verdict a 0; verdict b 1" "1 passed, 1 failed" 1
in_shell ":" "0 passed, 0 failed" 1
in_shell "check a true" "1 passed, 0 failed" 0
in_shell "check a false" "0 passed, 1 failed" 1
in_shell "check a echo 3 passed, 0 failed" "3 passed, 0 failed" 0
in_shell "check a echo 0 passed, 0 failed" "0 passed, 1 failed" 1
in_shell "check a sh -c 'echo 3 passed, 0 failed; exit 3'" "3 passed, 1 failed" 1
in_shell "check a sh -c 'echo 3 passed, 2 failed; exit 1'" "3 passed, 2 failed" 1
in_shell "refused a no sh -c 'echo no; exit 1'" "1 passed, 0 failed" 0
in_shell "refused a no echo no" "0 passed, 1 failed" 1
in_shell "refused a no sh -c 'echo yes; exit 1'" "0 passed, 1 failed" 1
in_python "check('a', 1)" "1 passed, 0 failed" 0
in_python "check('a', 1), check('b', [])" "1 passed, 1 failed" 1
in_python "pass" "0 passed, 0 failed" 1
in_python "check('a', 1), {}['b']" "1 passed, 1 failed" 1
in_python "count(5, 0)" "5 passed, 0 failed" 0
in_c 'check(1, "a");' "1 passed, 0 failed" 0
in_c 'check(1, "a"); check(0, "b");' "1 passed, 1 failed" 1
in_c '' "0 passed, 0 failed" 1
summary
