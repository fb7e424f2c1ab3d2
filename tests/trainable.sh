#!/bin/sh
# examples/train.c: every published objective trains for ten steps or is refused with the missing input named; errors on the command line
# are reported; output and plots.
#   tests/trainable.sh [TRAIN]     TRAIN: the program, built here if it is not given
# Prints "N rows: N trained, N refused, N failed", then "N passed, N failed".
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
train=${1:-}
if [ -z "$train" ]; then
    train=$work/train
    ${CC:-cc} -std=c99 -O2 examples/train.c -lm -o "$train" || exit 1
fi
. tests/support/counting.sh
unset LC_ALL LC_CTYPE
export LANG=C

# ---- every row

small="--steps 10 --prompts 2 --group 4 --updates 2"

# the log has ten lines of ten finite numbers after the heading; the dumped batch is valid by the vectors' schema
has_trained() { # row
    awk -F, 'NR > 1 { if (NF != 10) bad = 1; for (k = 1; k <= NF; k++) if ($k !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) bad = 1 }
        END { exit bad || NR != 11 }' "$work/log.csv" && grep -q "^objective $1: reward " "$work/out"
}

# the message names what is missing; it is no status of the library, and no step has begun
is_refusal() { # row
    grep -q "^train: $1 .*--" "$work/out" && ! grep -q -e 'batch\.' -e ', step ' "$work/out"
}

every_row() { # what, options...: counts trained, refused and failed rows
    what=$1 trained=0 refused=0 rows_failed=0
    shift
    while read -r row; do
        "$train" --objective "$row" "$@" --log "$work/log.csv" --dump "$work/dumps/$row.json" >"$work/out" 2>&1
        case $? in
        0) if has_trained "$row"; then trained=$((trained + 1)); continue; fi ;;
        2) if is_refusal "$row"; then refused=$((refused + 1)); grep "^train: $row " "$work/out"; continue; fi ;;
        esac
        rows_failed=$((rows_failed + 1))
        echo "FAIL $row: $(grep '^train:' "$work/out" || tail -1 "$work/log.csv")"
    done <"$work/rows"
    echo "$rows rows, $what: $trained trained, $refused refused, $rows_failed failed"
    count $((trained + refused)) "$rows_failed"
}

"$train" --list | awk '/^$/ { exit } { print $1 }' >"$work/rows"
rows=$(wc -l <"$work/rows")
test "$rows" -eq "$(grep -c '^    GRPO_ROW_("' grpo_rows.h)"
verdict "--list shows every row of grpo_rows.h" $?
mkdir "$work/dumps"
every_row "a response to a prompt" --steps 10 --prompts 4 --group 1 --updates 2
test "$refused" -gt 0
verdict "some rows need siblings and say so" $?
every_row "four responses to a prompt" $small
test $((20 * trained)) -ge $((19 * rows))
verdict "95 % of the rows are trained" $?

# every array that --list names is in the dump of some row, or of this run
"$train" --objective grpo --set surrogate.bounds=external $small --dump "$work/dumps/bounds.json" >/dev/null
verdict "bounds are given to who asks for them" $?
/usr/bin/python3 - "$work/dumps" >"$work/out" 2>&1 <<'PY'
import glob, json, math, sys
import jsonschema

schema = json.load(open("tests/vectors/schema.json"))
judge = jsonschema.Draft202012Validator({"$ref": "#/$defs/batch", "$defs": schema["$defs"]})

def flat(rows): return [x for row in rows for x in row]
def near(x, y, error=1e-5): return abs(x - y) < error
def is_last(b, i): return i + 1 == len(b["group"]) or b["group"][i + 1] != b["group"][i]
def expert_only(key): return lambda b: all(v == is_last(b, i) for i, row in enumerate(b[key]) for v in row)
def ends(key): return lambda b: all(v == (j % 2 == 1 or j == len(row) - 1) for row in b[key] for j, v in enumerate(row))
def gaps(b): return [abs(x - y) for x, y in zip(flat(b["logp_rollout"]), flat(b["logp_old"]))]

facts = {  # properties of the arrays that the trainer's table states
    "logp_teacher": lambda b: all(near(x, math.log(0.99)) or near(x, math.log(0.001)) for x in flat(b["logp_teacher"])),
    "logp_rollout": lambda b: 0 < max(gaps(b)) < 0.05,
    "logp_ref": lambda b: all(abs(x + math.log(11)) < 0.5 for x in flat(b["logp_ref"])),
    "rewards": lambda b: [row[0] for row in b["rewards"]] == b["reward"] and all(row[1] in (0, 1) for row in b["rewards"]),
    "sum_pi_squared": lambda b: all(1 / 11 - 1e-6 <= x <= 1 for x in flat(b["sum_pi_squared"])),
    "entropy": lambda b: all(0 <= x <= math.log(11) + 1e-5 for x in flat(b["entropy"])),
    "baseline": lambda b: all(0 <= x <= 1 for x in b["baseline"]) and len(b["baseline"]) == 2,
    "step_end": ends("step_end"), "segment_end": ends("segment_end"),
    "nll_mask": expert_only("nll_mask"), "shaping_mask": expert_only("shaping_mask"),
    "marked": lambda b: all(v == (j == 0) for row in b["marked"] for j, v in enumerate(row)),
    "token_id": lambda b: all(0 <= x <= 10 for x in flat(b["token_id"])) and len(set(flat(b["token_id"]))) > 3,
    "external_weight": lambda b: set(flat(b["external_weight"])) <= {0, 1, 2, 4},      # 4: a token of both runs that are in conflict
    "divergence_ref": lambda b: 0 <= min(flat(b["divergence_ref"])) and 0 < max(flat(b["divergence_ref"])) < math.log(11) + 1,
    "divergence_old": lambda b: 0 <= min(flat(b["divergence_old"])) and 0 < max(flat(b["divergence_old"])) < 1,
}
seen = set()
for path in sorted(glob.glob(sys.argv[1] + "/*.json")):
    batch = json.load(open(path))["batch"]
    seen |= set(batch)
    for error in judge.iter_errors(batch):
        sys.exit(f"{path}: {error.message[:200]}")
    for key in set(batch) & set(facts):
        if not facts[key](batch):
            sys.exit(f"{path}: {key} is not what the trainer says it is")
missing = set(schema["$defs"]["batch"]["properties"]) - seen - {"advantage", "mask"}
sys.exit(f"in no batch: {sorted(missing)}" if missing else 0)
PY
status=$?
verdict "dumped batches obey the schema of the vectors, hold what they should, and have every array: $(tail -1 "$work/out")" $status

# ---- the command line

refuses() { # text, options...
    text=$1
    shift
    "$train" "$@" >"$work/out" 2>&1
    test $? -eq 2 && grep -q -F -e "$text" "$work/out"
    verdict "train $*: \"$text\", not \"$(head -1 "$work/out")\"" $?
}

shows() { # text, options...
    text=$1
    shift
    "$train" "$@" >"$work/out" 2>&1 && grep -q -F -e "$text" "$work/out"
    verdict "train $*: \"$text\"" $?
}

refuses "did you mean gspo?" --objective gpso
refuses "did you mean gspo?" --objective=GSPO
refuses "--list shows all" --objective nothing-like-it
refuses "did you mean --objective?" --objectve gspo
refuses "did you mean surrogate.eps_high?" --set surogate.eps_high=0.3
refuses "did you mean aggregation.kind, aggregation.constant" --set aggregation=token_mean
refuses "set surrogate.eps_high" --set clip_ratio_high=0.3
refuses "penalty.kl_coef" --set beta=0.1
refuses "    ppo_clip " --set surrogate.kind=ppo
refuses "surrogate.kind=99" --set surrogate.kind=99
refuses "is a number" --set surrogate.eps_high=wide
refuses "must be" --objective sapo --set surrogate.tau_pos=-1
refuses "PATH=VALUE" --set surrogate.kind
refuses "needs a value" --steps
refuses "whole number" --steps=ten
refuses "takes no value" --list=3
refuses "cannot write" --log /nowhere/log.csv
refuses "ends in .svg or .png, not \"$work/run.xyz\"" $small --plot "$work/run.xyz"
refuses "ends in .svg or .png" $small --plot "$work/run"
test -z "$(ls "$work" | grep '^run')"
verdict "--plot with another ending: no file is written" $?
refuses "expert" --objective chord --group 1
refuses "--group 7 is too few, take 8 or more" --objective pass-at-k --set advantage.pass_k=8 --group 7
shows "objective pass-at-k" --objective pass-at-k --set advantage.pass_k=8 --group 8 --steps 1
refuses "a group is never cut" --prompts 2 --updates 3
shows "usage: train" -h
shows "usage: train" --help
shows "https://arxiv.org/abs/2507.18071" --show gspo
shows "y = (1/T) sum d" --show=gspo
shows "0.5" --show gspo --set surrogate.eps_low=0.5
shows "over the tokens of c F" --show gspo
shows "   gradient:   token: " --show gspo-token
shows "R is less kl_coef times" --show rloo
shows "R  overlong:   soft: " --show dapo
shows "of c v F" --show tis
shows "v  correction: mask: v inside" --show icepop
shows "of c M F" --show dppo-tv
shows "left out:  responses whose generation was cut off" --show dapo-filter
shows "train: likely mistake: surrogate.weight_max is 0, so that surrogate.kind=cispo gives no gradient" --objective grpo \
    --set surrogate.kind=cispo --steps 1 --prompts 4
"$train" --set reward.overlong=soft --set reward.overlong_factor=1 $small >"$work/out" 2>"$work/warnings" && test ! -s "$work/warnings" &&
    "$train" --set aggregation.kind=seq_mean_constant $small >"$work/out" 2>"$work/warnings" && test ! -s "$work/warnings"
verdict "no warning of lengths that the trainer sets itself: $(head -1 "$work/warnings")" $?
shows "    sequence_mean " --fields
shows "w = e^y: ratio" --fields
shows "surrogate.eps_high  a number that must not be negative; 0.28 in dapo, " --fields --objective dapo
shows "advantage.pass_k  a number that must be positive and must be a whole number; " --fields
"$train" --fields | grep '  a number' >"$work/numbers"
test "$(wc -l <"$work/numbers")" -gt 100 && ! grep -qv ' in gspo, .* rows' "$work/numbers" &&
    test "$(grep -c '; read by [a-z]*\.[a-z_]*: ' "$work/numbers")" -gt 100
verdict "--fields says of every number what it is in rows, and of most what reads them" $?
shows "warning: --group 1" --group 1 --steps 1
while read -r row; do "$train" --show "$row" | grep -q "^formula" || echo "$row"; done <"$work/rows" >"$work/out"
test ! -s "$work/out"
verdict "--show has a formula for every row: $(head -1 "$work/out")" $?

# ---- what it prints

"$train" --objective grpo $small --steps 30 | sed 's/ in [0-9.]* s$//; s/[0-9]* s left//' >"$work/two words"
"$train" --objective=grpo $small --steps=30 | sed 's/ in [0-9.]* s$//; s/[0-9]* s left//' >"$work/one word"
cmp "$work/two words" "$work/one word"
verdict "--objective=x is --objective x" $?
test "$(grep -c '^ *[0-9]*  *[0-9.]*  *[0-9.]* %' "$work/one word")" -eq 10
verdict "a line for every tenth of the run" $?
test "$(grep -c '^  prompt .* response ' "$work/one word")" -eq 6
verdict "three prompts with their responses, before and after" $?
test "$(grep '^  prompt' "$work/one word" | cut -d r -f 2 | sort -u | wc -l)" -eq 3
verdict "the prompts are the same before and after" $?
grep -q '^  reward   [_.:=+*#-]* ' "$work/one word" && grep -q '^  clipped  [_.:=+*#-]* ' "$work/one word"
verdict "sparklines in ASCII" $?
LC_ALL=C.UTF-8 "$train" $small | grep -q '^  reward   ▁'
verdict "sparklines of blocks where the locale is UTF-8" $?
if command -v script >/dev/null; then
    script -qec "'$train' $small --steps 30" /dev/null </dev/null | tr '\r' '\n' >"$work/terminal"
    test "$(grep -c '%.* s left$' "$work/terminal")" -eq 10 && grep -q '  29 of 30, ' "$work/terminal"
    verdict "on a terminal the lines stay, and the step is written between" $?
fi
mkdir "$work/bin"
for tool in sh cat; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
(cd "$work" && PATH=$work/bin "$train" $small --plot none.svg) >"$work/out" 2>&1
test $? -eq 0 && grep -q '\*' "$work/out" && grep -q 'no gnuplot' "$work/out" && [ "$(wc -l <"$work/none.svg.csv")" -eq 11 ]
verdict "--plot without gnuplot: a chart, and the numbers" $?
if command -v gnuplot >/dev/null; then
    (cd "$work" && "$train" $small --plot "it's.svg") >"$work/out" 2>&1 && grep -q '</svg>' "$work/it's.svg"
    verdict "--plot with gnuplot: a picture" $?
    (cd "$work" && "$train" $small --plot run.png) >"$work/out" 2>&1 && head -c 4 "$work/run.png" | grep -q PNG
    verdict "--plot with the ending .png: a PNG" $?
fi
summary
