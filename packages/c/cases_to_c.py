"""The cases of rows as C arrays, for programs that read no JSON:

    python3 packages/c/cases_to_c.py gspo grpo dapo >grpo_cases.h

Per-token arrays hold all tokens of all responses, one after the other; an array that a case lacks is NULL."""

import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
TOKENS = (
    "logp",
    "logp_old",
    "logp_ref",
    "logp_rollout",
    "logp_teacher",
    "entropy",
    "value",
    "step_reward",
    "sum_pi_squared",
    "external_weight",
    "eps_low",
    "eps_high",
    "divergence_ref",
    "divergence_old",
)
TOKEN_FLAGS = ("mask", "selected", "step_end", "segment_end", "kl_mask", "nll_mask", "marked", "shaping_mask")
TOKEN_WHOLE = ("state", "token_id")
RESPONSES, RESPONSE_FLAGS, GROUPS = (
    ("reward", "rewards", "reward_weight"),
    ("truncated", "excluded"),
    ("baseline", "log_partition"),
)
ANSWERS = ("advantage", "term", "dlogp", "dentropy", "ddivergence_ref", "dlog_partition")
WORDS = {"Infinity": "INFINITY", "-Infinity": "-INFINITY", "NaN": "NAN"}

HEAD = """/* Exact answers of %s on small batches, of grpo-conformance %s.
 * Written by packages/c/cases_to_c.py.  What every word means stands in the README of the vectors.
 *
 *     for (int n = 0; n < N_GRPO_CASES; n++) {
 *         const grpo_case *c = &grpo_cases[n];
 *         double loss = my_loss(c->n_responses, c->length, c->logp, c->logp_old, c->advantage, c->mask);
 *         if (!grpo_case_right(loss, c->loss, c->loss_scale, 64)) printf("%%s: %%s\\n", c->id, grpo_case_mistake_named(c, loss));
 *     } */
#ifndef GRPO_CASES_H
#define GRPO_CASES_H
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { const char *path, *choice; double value; } grpo_case_setting;      /* "surrogate.eps_low"; choice NULL: a number */
typedef struct { const char *key; double value, scale; } grpo_case_metric;          /* metrics that are left out are 0 */
typedef struct { const char *name; double loss; } grpo_case_mistake;                /* what a known mistake gives for the loss */
typedef struct {
    const char *id, *flags, *comment;
    int n_settings, n_groups, n_responses, n_tokens, n_rewards, n_metrics, n_mistakes;
    const grpo_case_setting *settings;                      /* what is left out has its default: the first choice, or 0 */
    const int *group, *length;                              /* (n_responses) */
    const double *reward, *rewards, *reward_weight;         /* (n_responses), (n_responses, n_rewards), (n_rewards) */
    const unsigned char *truncated, *excluded;              /* (n_responses) */
    const double *baseline, *log_partition;                 /* (n_groups) */
    /* (n_tokens) */
    const double *%s;
    const unsigned char *%s;
    const int64_t *%s;
    const double *advantage;                                /* given with the case, or the exact ones */
    /* what is right, and the scale of each number's error */
    double loss, loss_scale;
    const double *right_advantage, *advantage_scale;        /* NULL where they are given */
    const double *term, *term_scale, *dlogp, *dlogp_scale, *dentropy, *dentropy_scale;
    const double *ddivergence_ref, *ddivergence_ref_scale;
    const double *dlog_partition, *dlog_partition_scale;    /* (n_groups) */
    const grpo_case_metric *metrics;
    const grpo_case_mistake *mistakes;
} grpo_case;

/* is the error at most k eps of the scale, or of the smallest numbers?  Where the scale is 0, none is allowed */
static inline int grpo_case_right(double found, double expected, double scale, double k) {
    return found == expected || (scale > 0 && fabs(found - expected) <= fmin(k * DBL_EPSILON * scale + 2e-323, DBL_MAX));
}

/* the first known mistake that gives this loss; they are stored with seven digits.  An infinity names one that gives the same infinity;
 * a NaN names none */
static inline const char *grpo_case_mistake_named(const grpo_case *c, double loss) {
    for (int n = 0; n < c->n_mistakes; n++) {
        double x = c->mistakes[n].loss;
        int near = isfinite(x) && fabs(x - loss) <= 6e-7 * fabs(x);
        if (near || x == loss) return c->mistakes[n].name;
    }
    return "no known mistake";
}
"""


def number(x):
    return WORDS[x] if isinstance(x, str) else str(int(x)) if isinstance(x, bool) else repr(x)


def flat(value):
    return [y for x in value for y in flat(x)] if isinstance(value, list) else [value]


def text(words):
    return json.dumps(words, ensure_ascii=True)


class Writer:
    """static arrays before the table, named by their case"""

    def __init__(self):
        self.lines, self.rows = [], []

    def array(self, kind, name, items):
        """the name of a new array, NULL if there is nothing"""
        if not items:
            return "NULL"
        self.lines.append(f"static const {kind} {name}[] = {{ {', '.join(items)} }};")
        return name

    def numbers(self, kind, name, value):
        """NULL without a value; the array of an empty batch has one element, as C has none without"""
        return "NULL" if value is None else self.array(kind, name, [number(x) for x in flat(value)] or ["0"])

    def case(self, case, n):
        batch, expect, scale = case["batch"], case["expect"], case["scale"]
        settings = [(f"{axis}.{field}", value) for axis, fields in case["objective"].items() for field, value in fields.items()]
        metrics, sizes = expect.get("report", {}), scale.get("report", {})
        wrong = mistakes(case)
        put = {
            "id": text(case["id"]),
            "flags": text(" ".join(case["flags"])),
            "comment": text(case["comment"]),
            "n_settings": len(settings),
            "n_groups": batch["group"][-1] + 1 if batch["group"] else 0,
            "n_responses": len(batch["length"]),
            "n_tokens": sum(batch["length"]),
            "n_rewards": len(batch.get("reward_weight") or (batch.get("rewards") or [[]])[0]),
            "n_metrics": len(metrics),
            "n_mistakes": len(wrong),
            "loss": number(expect["loss"]),
            "loss_scale": number(scale["loss"]),
        }
        put["settings"] = self.array("grpo_case_setting", f"settings_{n}", [setting(*pair) for pair in settings])
        put["metrics"] = self.array(
            "grpo_case_metric", f"metrics_{n}", [metric(key, x, sizes.get(key)) for key, x in metrics.items()]
        )
        put["mistakes"] = self.array(
            "grpo_case_mistake", f"mistakes_{n}", [f"{{ {text(name)}, {number(x)} }}" for name, x in wrong]
        )
        for names, kind in (
            (("group", "length"), "int"),
            (TOKENS + RESPONSES + GROUPS, "double"),
            (TOKEN_FLAGS + RESPONSE_FLAGS, "unsigned char"),
            (TOKEN_WHOLE, "int64_t"),
        ):
            for name in names:
                put[name] = self.numbers(kind, f"{name}_{n}", batch.get(name))
        put["advantage"] = self.numbers("double", f"advantage_{n}", batch.get("advantage", expect.get("advantage")))
        for name in ANSWERS:
            right = "right_advantage" if name == "advantage" else name
            put[right] = self.numbers("double", f"right_{name}_{n}", expect.get(name))
            put[f"{name}_scale"] = self.numbers("double", f"{name}_scale_{n}", scale.get(name))
        self.rows.append(
            "    { " + ", ".join(f".{name} = {value}" for name, value in put.items() if value not in ("NULL", 0)) + " }"
        )


def metric(key, x, scale):
    """without a scale its own size"""
    return f"{{ {text(key)}, {number(x)}, {number(scale) if scale is not None else number(x).lstrip('-')} }}"


def setting(path, value):
    is_choice = isinstance(value, str) and value not in WORDS
    return f"{{ {text(path)}, {text(value)}, 0 }}" if is_choice else f"{{ {text(path)}, NULL, {number(value)} }}"


def mistakes(case):
    """(name, loss) of those that say what the loss would be"""
    found = []
    for name, told in case.get("defects", {}).items():
        loss = told.get("loss") if isinstance(told, dict) else None if isinstance(told, list) else told
        if loss is not None:
            found.append((name, loss))
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    writer, n = Writer(), 0
    for row in sys.argv[1:]:
        path = TOP / "tests" / "vectors" / f"{row}.json"
        if not path.exists():
            sys.exit(f"no vectors {row}: there is no {path.relative_to(TOP)}")
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            if case.get("kind", "objective") == "objective":
                writer.case(case, n)
                n += 1
    if not n:
        sys.exit("these files have no case of an objective")
    version = (TOP / "VERSION").read_text(encoding="utf-8").strip()
    print(HEAD % (", ".join(sys.argv[1:]), version, ", *".join(TOKENS), ", *".join(TOKEN_FLAGS), ", *".join(TOKEN_WHOLE)))
    print("\n".join(writer.lines))
    print("\nstatic const grpo_case grpo_cases[] = {\n" + ",\n".join(writer.rows) + "\n};")
    print("enum { N_GRPO_CASES = sizeof grpo_cases / sizeof *grpo_cases };\n#endif")


if __name__ == "__main__":
    main()
