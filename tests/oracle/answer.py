#!/usr/bin/env python3
"""Answers the conformance protocol (../conformance/PROTOCOL.md) from the definition; with --defect, with that mistake.

    answer.py                   the right answers
    answer.py --defect GSPO-05  the right answers but for one known mistake
    answer.py --all-defects     the names of the mistakes, one per line
"""
import sys

sys.dont_write_bytecode = True

import argparse
import json
import os

import functions
import objectives
from attempt import Attempt, right
from defects import DEFECTS
from limits import Undefined, tidy
from refused import faults

OUTPUTS = ["advantage", "dynamic_sampling_mask", "loss", "term", "dlogp", "dentropy", "ddivergence_ref", "dlog_partition", "report",
           "logp", "entropy", "dlogits", "dhidden", "dweight"]
KINDS = ("objective", "split", "logits", "hidden", "call", "refuse")
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vectors", "schema.json")


def unknown(objective, axes):
    """The part of an objective that this program does not know, or None; axes: those of the schema, all of which it computes."""
    for axis, fields in objective.items():
        known = axes[axis]["properties"] if axis in axes else {}
        for field, x in fields.items():
            if field not in known or x not in known[field].get("enum", [x]):
                return f"no {axis}.{field} = {x}"
    return None


def answers(case, defect):
    if case.get("kind") == "call":
        return functions.answers(case["function"], case["arguments"], case.get("batch"))[0]
    advantage = case.get("advantage")
    found = right(case, advantage)
    if defect and defect.applies(case):
        attempt = Attempt(case, advantage)
        defect.commit(attempt)
        wrong = attempt.run(defect.stages)
        found.update({name: x for name, x in wrong.items() if name in (attempt.outputs or wrong)})
    return found


def start(request):
    if request.get("version") != 1 or request.get("precision") != "f64":
        return {"error": "this program knows version 1 and f64"}
    return {"version": 1, "name": "oracle", "language": "python", "release": "1", "precision": "f64", "outputs": OUTPUTS}


def run(request, defect, axes):
    case = request["case"]
    if case.get("kind", "objective") not in KINDS:
        return {"seq": request["seq"], "skip": "no such kind"}
    if case.get("kind") == "call" and case["function"] not in functions.FUNCTIONS:
        return {"seq": request["seq"], "skip": "no such function"}
    if "objective" in case:
        why = unknown(case["objective"], axes)
        if why:
            return {"seq": request["seq"], "skip": why}
        case = {**case, "objective": objectives.filled(case["objective"])}
    if case.get("kind") == "refuse":
        for fault in faults(case["objective"], case["batch"]):
            return {"seq": request["seq"], "error": fault.reason}
    try:
        return {"seq": request["seq"], "result": tidy(answers(case, defect))}
    except Undefined as why:
        return {"seq": request["seq"], "skip": f"left open by the definition: {why}"}
    except (ArithmeticError, KeyError, IndexError, TypeError, ValueError) as why:
        return {"seq": request["seq"], "error": repr(why)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--defect", choices=DEFECTS, metavar="ID")
    parser.add_argument("--all-defects", action="store_true")
    args = parser.parse_args()
    if args.all_defects:
        print("\n".join(sorted(DEFECTS)))
        return 0
    defect = DEFECTS.get(args.defect)
    with open(SCHEMA, encoding="ascii") as f:
        axes = json.load(f)["$defs"]["objective"]["properties"]
    for line in sys.stdin:
        request = json.loads(line)
        if request["cmd"] == "stop":
            print("{}", flush=True)
            return 0
        reply = start(request) if request["cmd"] == "start" else run(request, defect, axes)
        print(json.dumps(reply, separators=(",", ":"), allow_nan=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
