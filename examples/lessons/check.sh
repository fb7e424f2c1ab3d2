#!/bin/sh
# Every lesson compiles without a warning, by the command that README.md shows, and prints what README.md shows; the changes that README.md
# proposes do what its answers say; answers.c computes what they say.
# Prints "N passed, N failed".
set -u
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. ../../tests/support/counting.sh

shown() { # lesson: its block of output in README.md
    awk -v heading="\`$1.c\`" '/^## / { here = index($0, heading) } /^```/ { block = here && $0 == "```text"; next } block' README.md
}

judge() { # lesson
    [ "$(grep -cF "    cc -std=c99 examples/lessons/$1.c -lm -o lesson && ./lesson" README.md)" -eq 1 ] ||
        { echo "README.md does not show its command"; return 1; }
    [ "$(wc -l <"$1.c")" -le 80 ] || { echo "it has more than 80 lines"; return 1; }
    "${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$1.c" -lm -o "$work/lesson" && "$work/lesson" >"$work/printed" || return 1
    shown "$1" >"$work/shown"
    [ -s "$work/shown" ] && diff "$work/shown" "$work/printed"
}

block() { # mark: the block of README.md after <!-- mark -->, without its indentation
    awk -v mark="<!-- $1 -->" '{ sub(/^   /, "") } $0 == mark { here = 1; next }
        here && /^```/ { if (++fence == 2) exit; next } here' README.md
}

changed() { # lesson: the command that changes it, and some of the lines that it prints then
    block "change $1" | sed 's/^ *cc/cc/' >"$work/command"
    block "changed $1" >"$work/lines"
    [ -s "$work/command" ] && [ -s "$work/lines" ] || { echo "README.md shows no command or no answer"; return 1; }
    (cd ../.. && sed "s|-o lesson && ./lesson|-o $work/lesson \&\& $work/lesson|" "$work/command" | sh) >"$work/printed" || return 1
    ! grep -vxFf "$work/printed" "$work/lines"
}

formulas() { # the settings in formulas.md are the rows'
    cat >"$work/settings.c" <<'END'
#define GRPO_IMPLEMENTATION
#include "../../grpo.h"
#include "../../tests/support/field.h"
#include <stdio.h>
int main(void) {
    static const char *const row[] = { "grpo", "dapo", "dr-grpo", "gspo", "cispo" };
    static const char *const shown[] = { "advantage.scale", "ratio.level", "surrogate.kind", "penalty.kl", "aggregation.kind" };
    for (int k = 0; k < 5; k++) {
        grpo_objective o;
        int n, length;
        const grpo_field *f = grpo_fields(&n);
        if (grpo_objective_named(row[k], &o)) return 1;
        printf("| `%s` |", row[k]);
        for (int s = 0; s < 5; s++)
            for (int i = 0; i < n; i++) {
                const char *choice;
                if (strcmp(f[i].path, shown[s])) continue;
                choice = field_choice(&f[i], grpo_objective_get(&o, &f[i]), &length);
                printf(" `%.*s` |", length, choice);
            }
        printf("\n");
        if (k == 0) printf("eps %g (chosen here), beta %g\n", o.surrogate.eps_low, o.penalty.kl_coef);
        if (k == 1) printf("eps_low %g, eps_high %g, L_max %g, L_cache %g\n", o.surrogate.eps_low, o.surrogate.eps_high,
                           o.reward.overlong_max, o.reward.overlong_cache);
        if (k == 2) printf("eps %g, C %g\n", o.surrogate.eps_high, o.aggregation.constant);
        if (k == 3) printf("eps_low %ge-4, eps_high %ge-4\n", 1e4 * o.surrogate.eps_low, 1e4 * o.surrogate.eps_high);
        if (k == 4) printf("C %g (chosen here), no lower bound\n", o.surrogate.weight_max);
    }
    return 0;
}
END
    "${CC:-gcc}" -std=c99 -I. "$work/settings.c" -lm -o "$work/settings" && "$work/settings" >"$work/printed" || return 1
    while read -r line; do grep -qF -- "$line" formulas.md || { echo "formulas.md lacks: $line"; return 1; }; done <"$work/printed"
}

answers() { # README.md has the numbers that answers.c computes, which takes them for right, and another number not
    "${CC:-gcc}" -std=c99 -Wall -Wextra -Werror answers.c -lm -o "$work/answers" && "$work/answers" --page >"$work/page" || return 1
    while read -r exercise answer; do
        awk -v n="$exercise" '/^## / { here = $2 == "Answers" } here && /^[0-9]+\. / { item = $1 + 0 } here && item == n' README.md |
            grep -qF -- "$answer" || { echo "answer $exercise lacks $answer"; return 1; }
    done <"$work/page"
    for exercise in $(seq "$(grep -c '^\*Exercise [0-9]*\.\*' README.md)"); do
        set -- $("$work/answers" "$exercise" | sed 's/.*: //')
        [ $# -gt 0 ] && "$work/answers" "$exercise" "$@" >/dev/null || { echo "exercise $exercise: its own answer is not right"; return 1; }
        shift
        ! "$work/answers" "$exercise" 12345 "$@" >/dev/null || { echo "exercise $exercise: 12345 is right"; return 1; }
    done
}

for file in [0-9][0-9]_*.c; do
    check "$file" judge "${file%.c}"
done
for lesson in $(sed -n 's/^<!-- change \(.*\) -->$/\1/p' README.md); do
    check "$lesson changed" changed "$lesson"
done
check formulas.md formulas
check answers.c answers
summary
