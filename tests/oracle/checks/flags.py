"""The flags of cases: each with a case that has it, written by hand, and one that just lacks it; and the table of the README."""
import os
import re

from flags import FLAGS, flags_of
from scenarios import MINUS_INF, NAN

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "vectors", "README.md")


def case(expect=None, **batch):
    """Two groups of two responses of three tokens, without any flag, but for what is given."""
    logp = [[-1, -2, -1]] * 4
    return {"batch": {"group": [0, 0, 1, 1], "length": [len(row) for row in batch.get("logp", logp)], "logp": logp, **batch},
            "expect": expect or {}}


def rows(*first):
    """A number per token: those of the first response, and others."""
    return [list(first), [-1, -2, -3], [-1, -2, -1], [-0.5, -2, -1]]


def masked(*first):
    return [[bool(x) for x in first]] + [[True] * 3] * 3


def clipped(**fractions):
    return case(expect={"report": {"clip_fraction_" + side: x for side, x in fractions.items()}})


def logits(number):
    return {"logits": [[[0, number], [1, 2], [1, 0]]], "target": [[0, 1, 1]], "expect": {}}


FIRST_MASKED = masked(0, 1, 1)
EXAMPLES = [  # (flag, a case with it, a case without)
    ("UnequalLengths", case(logp=[[-1, -2], [-1], [-1, -2], [-2, -2]]), case()),
    ("OneToken", case(logp=[[-1], [-1, -2], [-1, -2], [-2, -2]]), case()),
    ("OnPolicy", case(logp_old=[[-1, -2, -1]] * 4), case(logp_old=rows(-1, -2, -1))),
    ("NearOnPolicy", case(logp_old=[[-1.0078125, -2, -1]] * 4), case(logp_old=[[-1.01171875, -2, -1]] * 4)),
    ("NearOnPolicy", case(logp_old=[[-1.0078125, -2, -1]] * 4), case(logp_old=[[-1, -2, -1]] * 4)),
    ("NearOnPolicy", case(logp_old=rows(-3, -2, -1)[:1] + [[-1, -2, -1.0078125]] * 3, mask=FIRST_MASKED),
     case(logp_old=rows(MINUS_INF, -2, -1)[:1] + [[-1, -2, -1.0078125]] * 3)),
    ("Extreme", case(logp_ref=rows(-20.5, -2, -1)), case(logp_ref=rows(-20, -2, -1))),
    ("Extreme", case(logp=rows(-1, -2, -20.5), mask=FIRST_MASKED), case(logp=rows(-20.5, -2, -1), mask=FIRST_MASKED)),
    ("Extreme", logits(-1001), logits(-1000)),
    ("AllClippedHigh", clipped(high=1), clipped(high=0.75)),
    ("AllClippedLow", clipped(low=1), clipped(low=0.75, high=1)),
    ("AdvantageSigns", case(advantage=rows(0, 1, 2)), case(advantage=rows(0, 0, 0))),
    ("AdvantageSigns", case(advantage=rows(0, 1, 2)), case(advantage=rows(0, 1, 2), mask=FIRST_MASKED)),
    ("EqualRewards", case(reward=[1, 0, 0.5, 0.5]), case(reward=[1, 0.5, 0.5, 1])),
    ("OffsetRewards", case(reward=[1, 0, 100001, 100000]), case(reward=[1, 0, 50001, 50000])),
    ("OffsetRewards", case(reward=[1, 0, -100001, -100000]), case(reward=[1, 0, 100000, 100000])),
    ("Singleton", case(group=[0, 1, 1, 1]), case()),
    ("UnevenGroups", case(group=[0, 0, 0, 1]), case()),
    ("FullyMasked", case(mask=masked(0, 0, 0)), case(mask=FIRST_MASKED)),
    ("FullyMasked", case(mask=masked(0, 0, 0)), case(logp=[[], [-1], [-2], [-1]], mask=[[], [True], [True], [True]])),
    ("MaskHoles", case(mask=FIRST_MASKED), case(mask=masked(0, 0, 0))),
    ("NaNMasked", case(logp=rows(NAN, -2, -1), mask=FIRST_MASKED), case(mask=FIRST_MASKED)),
    ("NegInf", case(logp_old=rows(-1, -2, MINUS_INF), mask=FIRST_MASKED), case(logp_old=rows(MINUS_INF, -2, -1), mask=FIRST_MASKED)),
    ("NegInf", logits(MINUS_INF), logits(0)),
    ("NegInf", {"arguments": {"student": [0, MINUS_INF]}, "expect": {}}, {"arguments": {"student": [0, -900]}, "expect": {}}),
    ("Long", case(logp=[[-1] * 1000] * 4), case(logp=[[-1] * 999] * 4)),
    ("Truncated", case(truncated=[False, True, False, False]), case(truncated=[False] * 4)),
    ("Rollout", case(logp_rollout=rows(-1, -2, -1)), case(logp_old=rows(-1, -2, -1))),
    ("Reference", case(logp_ref=rows(-1, -2, -1)), case(logp_teacher=rows(-1, -2, -1))),
    ("GivenAdvantage", case(advantage=rows(1, 2, 3)), case(reward=[1, 0, 1, 0])),
    ("Square", case(logp=[[-1] * 4, [-1], [-2], [-1]]), case()),
    ("BFloat16", logits(1.0078125), logits(1.00390625)),
]


def check_flags(check):
    for name, having, lacking in EXAMPLES:
        check(f"{name} is found", name in flags_of(having))
        check(f"{name} is not found where it is not", name not in flags_of(lacking))
    check("every flag has an example", {name for name, _, _ in EXAMPLES} == set(FLAGS))
    check("a plain case has no flag", flags_of(case()) == [])
    with open(README, encoding="utf-8") as f:
        table = f.read().split("## Flags", 1)[1].split("\n## ", 1)[0]
    check("the README lists the flags and their meanings",
          re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.M) == [(name, meaning) for name, (meaning, _) in FLAGS.items()])


GROUPS = (check_flags,)
