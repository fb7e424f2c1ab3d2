# Sourced by the scripts that count checks, from the top of the tree:  . tests/support/counting.sh
# The log of the command at hand is $work/log, in a folder of the script's own.
#   verdict WHAT STATUS             one check: passed if STATUS is 0, else the end of the log is printed
#   check WHAT COMMAND...           runs the command, its output in the log: one check, or those of its lines "N passed, N failed"
#   refused WHAT WORDS COMMAND...   one check: the command must fail, and its output have the words
#   count PASSED FAILED             adds checks that were counted elsewhere
#   summary                         prints the last line, "N passed, N failed"; its status is 1 if a check failed or there was none
#   tally LOG                       sets p and f to the checks that passed and failed, by the lines "N passed, N failed" of LOG, and lines
#                                   to how many of these there are
#   counted LOG SECONDS PROGRESS COMMAND...
#                                   runs the command, its output in LOG, and calls PROGRESS with the seconds that have passed every SECONDS;
#                                   sets p and f as check does, status, the command's exit status, and took, the seconds that it ran
passed=0 failed=0

count() { passed=$((passed + $1)) failed=$((failed + $2)); }

verdict() {
    if [ "$2" -eq 0 ]; then count 1 0; echo "ok $1"; return; fi
    count 0 1
    echo "FAIL $1"
    [ ! -f "$work/log" ] || tail -20 "$work/log"
}

check() {
    of_check=$1; shift
    "$@" >"$work/log" 2>&1
    counts_of "$work/log" $?
    if [ "$p" -eq 0 ] && [ "$f" -eq 1 ]; then verdict "$of_check" 1; return 1; fi
    count "$p" "$f"
    if [ "$f" -ne 0 ]; then echo "FAIL $of_check: $f of $((p + f))"; tail -20 "$work/log"; return 1; fi
    echo "ok $of_check$([ "$p" -eq 1 ] || echo ": $p")"
}

refused() {
    of_refused=$1 to_say=$2; shift 2
    if "$@" >"$work/log" 2>&1; then false; else grep -q "$to_say" "$work/log"; fi
    verdict "$of_refused" $?
}

summary() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

tally() { # lines of programs on Windows end with a carriage return
    set -- $(awk '/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?\r?$/ { p += $1; f += $3; n++ } END { print p + 0, f + 0, n + 0 }' "$1")
    p=$1 f=$2 lines=$3
}

counts_of() { # log, exit status: one that ended otherwise than with 0 has failed; a command without such lines is one check
    tally "$1"
    if [ "$f" -ne 0 ]; then return; fi
    if [ "$2" -ne 0 ]; then f=1                              # it crashed, whatever passed before
    elif [ "$lines" -eq 0 ]; then p=1
    elif [ "$p" -eq 0 ]; then f=1; fi                        # it counts, and checked nothing
}

counted() {
    log=$1 every=$2 tell=$3; shift 3
    start=$(date +%s) next=$every
    "$@" >"$log" 2>&1 &
    command=$!
    while sleep 1 && kill -0 $command 2>/dev/null; do
        took=$(($(date +%s) - start))
        if [ "$took" -ge "$next" ]; then "$tell" "$took"; next=$((next + every)); fi
    done
    wait $command
    status=$?
    took=$(($(date +%s) - start))
    counts_of "$log" $status
}
