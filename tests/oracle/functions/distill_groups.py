"""Self-distillation within a group: teacher and student responses, and weights of prompts."""
from fractions import Fraction

from functions.arithmetic import Number, by_group, lengths_of
from functions.batches import marks, of_lengths, tokens
from functions.comparing import cases_of, exactly
from functions.domains import FLAG, NOT_NEGATIVE, integer, many
from functions.registry import cases, checks, function
from scenarios import NAN

CORRECT = many(FLAG)


def parted(batch, correct):
    """The correct and the wrong responses of each group."""
    return [[[i for i in group if correct[i] is right] for right in (True, False)] for group in by_group(batch)]


@function(teacher=many(integer(-1)), student=many(integer(-1)))
def distill_pairs(batch, correct: CORRECT):
    """SSOPD: the shortest correct response is the teacher of the longest wrong one.

    Source: SSOPD, 2605.17497, as summaries have it
    Takes: batch; `correct`: flags of responses
    Gives: a response per group: `teacher`: of the correct ones the first with the fewest mask tokens; `student`: of the wrong ones the
    first with the most; both -1 where the group has no correct or no wrong one
    """
    n, pairs = lengths_of(batch), []
    for right, wrong in parted(batch, correct):
        both = right and wrong
        pairs.append((min(right, key=lambda i: (n[i], i)), min(wrong, key=lambda i: (-n[i], i))) if both else (-1, -1))
    return {"teacher": [x for x, _ in pairs], "student": [x for _, x in pairs]}


MIXED = of_lengths([3, 2, 4, 1, 2, 5, 2, 3], [0, 0, 0, 0, 1, 1, 2, 2])


@cases("distill_pairs")
def distill_pairs_cases(case):
    case("mixed", "groups with two of each, one of each, and no wrong response: the last one has no pair",
         MIXED, correct=marks("10011011"))
    case("other", "groups with two of each, one of each, and no correct response: the last one has no pair",
         MIXED, correct=marks("01100100"))
    case("ties", "of equally long responses the first is taken, as teacher and as student",
         of_lengths([2, 2, 3, 3, 2], [0] * 5), correct=marks("11000"))
    case("alone", "a group of a single response has no pair",
         of_lengths([2, 3, 1], [0, 1, 1]), correct=marks("101"))
    case("holes", "a wrong response with more slots but fewer unmasked tokens is not the longest one",
         tokens([0, 0, 0, 0], "1001 110 111 1", logp=[[-0.5, NAN, NAN, -1], [-1, -0.5, NAN], [-2, -1, -1], [-0.5]]),
         correct=marks("0101"))
    case("masked-long", "of wrong responses the one with most unmasked tokens is taken, not with most slots",
         tokens([0, 0, 0, 1, 1], "10001 111 1 11 1", logp=[[-0.5, NAN, NAN, NAN, -1], [-1, -0.5, -0.25], [-2], [-1, -1], [-0.5]]),
         correct=marks("00110"))


@checks("distill_pairs")
def check_distill_pairs(check):
    for label, given, batch in cases_of("distill_pairs"):
        found, n = exactly("distill_pairs", batch, **given), lengths_of(batch)
        for (right, wrong), teacher, student in zip(parted(batch, given["correct"]), found["teacher"], found["student"]):
            if right and wrong:
                check(f"no correct one is shorter: {label}", teacher in right and all((n[teacher], teacher) <= (n[i], i) for i in right))
                check(f"no wrong one is longer: {label}", student in wrong and all((-n[student], student) <= (-n[i], i) for i in wrong))
            else:
                check(f"no pair: {label}", teacher == student == -1)


@function(weight=many(NOT_NEGATIVE))
def frontier_weight(batch, correct: CORRECT, strength: NOT_NEGATIVE):
    """SSOPD: a weight that is largest for prompts with half of the responses correct, and 0 for solved and unsolved prompts.

    Source: SSOPD, 2605.17497, as summaries have it (`strength` 0.5)
    Takes: batch; `correct`: flags of responses; `strength` >= 0
    Gives: `weight` per group: strength 4 p (1 - p), p the fraction of its responses that is correct. Scale itself
    """
    weights = []
    for right, wrong in parted(batch, correct):
        p = Fraction(len(right), len(right) + len(wrong))
        weights.append(strength * 4 * p * (1 - p))
    return {"weight": [Number(w, w) for w in weights]}


@cases("frontier_weight")
def frontier_weight_cases(case):
    case("mixed", "half, half and all of the responses are correct: the solved prompt has weight 0",
         MIXED, correct=marks("10011011"), strength=0.5)
    case("few", "one of five and four of five responses are correct: equal weights",
         of_lengths([1] * 10, [0] * 5 + [1] * 5), correct=marks("1000001111"), strength=0.5)
    case("thirds", "one of three responses is correct, strength 0.7",
         of_lengths([1, 2, 1], [0] * 3), correct=marks("010"),
         strength=0.7)
    case("none", "strength 0: every weight is 0", MIXED, correct=marks("10011011"), strength=0)
    case("solved", "prompts all correct and all wrong: both weights are 0",
         of_lengths([1, 2, 3, 1], [0, 0, 1, 1]), correct=marks("1100"), strength=1)


@checks("frontier_weight")
def check_frontier_weight(check):
    for label, given, batch in cases_of("frontier_weight"):
        strength = Fraction(given["strength"])
        weights = [w.value for w in exactly("frontier_weight", batch, **given)["weight"]]
        other = [w.value for w in exactly("frontier_weight", batch, correct=[not x for x in given["correct"]], strength=strength)["weight"]]
        check(f"correct and wrong change places: {label}", weights == other)
        for (right, wrong), w in zip(parted(batch, given["correct"]), weights):
            off = Fraction(len(right) - len(wrong), len(right) + len(wrong))
            check(f"strength at a half, less by the square of what is off: {label}", w == strength * (1 - off ** 2))
