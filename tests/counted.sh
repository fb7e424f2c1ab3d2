# Sourced by all.sh and quick.sh, which print what it finds.
#   counted LOG SECONDS PROGRESS COMMAND...
# runs the command with all its output in LOG, calls PROGRESS with the seconds that have passed every SECONDS, and sets
#   status    the command's exit status
#   p, f      checks that passed and failed: the sums of the lines "N passed, N failed"; a command without such lines is one check
#   took      the seconds that it ran
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
    counts=$(awk '/^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { p += $1; f += $3 } END { print p + 0, f + 0 }' "$log")
    p=${counts% *} f=${counts#* }
    if [ $status -eq 0 ] && [ "$p" -eq 0 ] && [ "$f" -eq 0 ]; then p=1; fi
    if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
}
