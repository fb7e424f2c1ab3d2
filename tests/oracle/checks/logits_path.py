"""From logits and hidden states: the gradients by finite differences of the loss, and identities."""
import autodiff
import evaluate
import logits_path as path
import logits_path_cases
from checks.tools import moved
from limits import ZERO
from logits import weighted
from reals import mpf

STEP = mpf(10) ** -20
NEAR = mpf(10) ** -25
ONE_CASE_OF = 37


def some_cases():
    """(file, label, case): some cases of every file, such that all rows and all scenarios occur."""
    for name in logits_path_cases.FILES:
        for label, _, case in logits_path_cases.cases(name, ONE_CASE_OF):
            yield f"{name}-{label}", case


def forward(case):
    found = path.positions(case)
    for x in found:
        path.forward(case, x)
    return found


def loss(case):
    """The differentiated number: the objective's loss, or the sum of the given derivatives times their variables."""
    found = forward(case)
    if "objective" in case:
        return evaluate.loss(case["objective"], path.batch_of(case, {(x.i, x.t): x for x in found}))
    return sum((mpf(case["dlogp"][x.i][x.t]) * x.logp + mpf(case["dentropy"][x.i][x.t]) * x.entropy for x in found), ZERO)


def difference(case, name, place, seen):
    up, down = (autodiff.replaying(lambda: loss(moved(case, {(name, *place): step})), seen) for step in (STEP, -STEP))
    return (up - down) / (2 * STEP)


def places(rows):
    return [(i, t, k) for i, row in enumerate(rows) for t, numbers in enumerate(row) for k in range(len(numbers))]


def finite_differences(check):
    for where, case in some_cases():
        answers = path.answers(case)
        _, seen = autodiff.recording(lambda: loss(case))
        names = {"logits": "dlogits"} if case["kind"] == "logits" else {"hidden": "dhidden", "weight": "dweight"}
        for name, output in names.items():
            rows = case[name]
            for place in places(rows) if name != "weight" else [(v, h) for v in range(len(rows)) for h in range(len(rows[0]))]:
                *above, last = place
                number, slope = rows, answers[output]
                for k in place:
                    number, slope = number[k], slope[k]
                if isinstance(number, str):  # of a masked token, or -infinity
                    check(f"{where}: {output} at {place} is 0", slope[0] == 0)
                    continue
                found = difference(case, name, place, seen)
                if not abs(found - slope[0]) <= NEAR * (1 + abs(slope[0])):
                    check(f"{where}: {output} at {place} is {float(slope[0])}, by differences {float(found)}", False)
        check(f"{where}: gradients", True)


def sums(check):
    """Adding a constant to all logits of a token changes nothing, so their gradients add up to 0."""
    for where, case in some_cases():
        if case["kind"] == "logits":
            rows = [d for row in path.answers(case)["dlogits"] for d in row]
            check(f"{where}: the gradients of a token add up to 0", all(abs(sum(y for y, _ in d)) < NEAR for d in rows))


def identity_projection(check):
    """With the unit matrix as projection, hidden states are logits."""
    for where, case in some_cases():
        if case["kind"] == "hidden" or "banned" in case or any(isinstance(x, str) for row in case["logits"] for z in row for x in z):
            continue
        width = len(case["logits"][0][0])
        hidden = {key: x for key, x in case.items() if key not in ("logits", "shards")}
        hidden.update(kind="hidden", hidden=case["logits"], weight=[[int(v == h) for h in range(width)] for v in range(width)])
        here, there = path.answers(case, True), path.answers(hidden, True)
        check(f"{where}: the same by a unit matrix, scales too", here["dlogits"] == there["dhidden"]
              and all(here[name] == there[name] for name in ("loss", "logp", "entropy") if name in here))


def uniform(check):
    case = {"kind": "logits", "temperature": 0.5, "logits": [[[1] * 5]], "target": [[2]], "dlogp": [[1]], "dentropy": [[0]]}
    slope = [y for y, _ in path.answers(case)["dlogits"][0][0]]
    check("equal logits: (one-hot - 1/5) / tau", all(abs(y - 2 * ((v == 2) - mpf(1) / 5)) < NEAR for v, y in enumerate(slope)))
    case.update(dlogp=[[0]], dentropy=[[1]])
    check("the entropy of equal logits is at its maximum", all(abs(y) < NEAR for y, _ in path.answers(case)["dlogits"][0][0]))
    check("0 log 0", weighted(ZERO, path.MINUS_INF) == 0)


GROUPS = (finite_differences, sums, identity_projection, uniform)
