"""Cases of the kinds `logits` and `hidden` with gradients: rows of objectives times scenarios, and given derivatives.

The rows represent the three kinds of dependence on the log-probabilities: by token, by response, by group. All cases are small: about six
tokens, a vocabulary of 3 to 13, hidden states of 2 to 4 numbers."""
import copy

import flags
import limits
import logits_path
import scenarios
from limits import settle, to_double
from objectives import changed, objective

TOKEN = """reinforce ppo ppo-dual-clip grpo dr-grpo dapo cispo sapo two-sided grpo-unbiased-kl scalerl tis icepop gppo dppo-kl deepseek-v3.2
    dcpo decoupled-ppo verl-grpo mopd roll-topr tinker-importance-sampling cfpo bgpo dispo torchforge-grpo opmd-mean up-grpo""".split()
SEQUENCE = """gspo gspo-token gmpo luspo vespo trl-rloo verl-gspo grpo-r1 kimi-k1.5 topr dro hybrid-ratio trinity-rec-gspo ctpo-geomean
    apmpo""".split()
GROUP = "gvpo real flowrl disco-b disco disco-ratio dno dmpo dmpo-js gift tpo click reg-grpo vpd".split()
ROWS = {"token": TOKEN, "sequence": SEQUENCE, "group": GROUP}

GROUPS = (2, 2)
ONE_GROUP = {"reg-grpo"}  # with two responses its standardised scores are constants, so there would be no gradient
LENGTHS = [(2, 1, 1, 2), (1, 2, 2, 1), (3, 1, 1, 1), (1, 1, 3, 1), (2, 2, 1, 1)]
ADVANTAGES = [(1, -0.5, 0.75, -1.25), (-0.75, 1.5, -1, 0.5), (1.25, -1, -0.5, 1)]
TEMPERATURES = (0.75, 0.5, 1.25, 2, 0.625, 1.5)
MOST_SEEDS = 40


def rotated(values, k):
    return values[k % len(values)]


class Draw:
    """The random numbers of a case; k: the index of its row, so that neighbouring rows differ."""

    def __init__(self, k, seed, lengths):
        self.k, self.dice, self.lengths = k, scenarios.Dice(seed), lengths

    def each(self, f):
        return scenarios.like(self.lengths, lambda i, t: f())

    def row(self, width, most, denominator):
        return [self.dice.signed(0, most, denominator) for _ in range(width)]


# ---- scenarios: f(case, draw) completes the case; entropy: with an entropy bonus

LOGITS = []
HIDDEN = []


def scenario(table, label, comment, vocabularies, temperature, entropy=False, bfloat16=False):
    def register(make):
        table.append((label, comment, vocabularies, temperature, entropy, bfloat16, make))
        return make
    return register


def plain_logits(case, draw, width, most=3, denominator=64):
    case["logits"] = draw.each(lambda: draw.row(width, most, denominator))
    case["target"] = draw.each(lambda: draw.dice.below(width))


@scenario(LOGITS, "plain", "logits at temperature 1, vocabularies of 3 to 13 tokens", (5, 3, 7, 11, 5, 13), False)
def odd(case, draw, width):
    plain_logits(case, draw, width)


@scenario(LOGITS, "tempered", "a temperature other than 1 divides the logits, and once more the gradient", (5, 4, 3, 6), True)
def tempered(case, draw, width):
    plain_logits(case, draw, width)


@scenario(LOGITS, "banned", "logits of -infinity, and tokens banned from sampling: neither gets a gradient",
          (7, 6, 5), True)
def banned(case, draw, width):
    plain_logits(case, draw, width)
    case["banned"] = []
    for z_row, y_row in zip(case["logits"], case["target"]):
        case["banned"].append([])
        for z, y in zip(z_row, y_row):
            z[(y + 1) % width] = scenarios.MINUS_INF
            case["banned"][-1].append(sorted((y + 2 + n) % width for n in range(1 + draw.dice.below(2))))


@scenario(LOGITS, "sharded", "the vocabulary is split into shards of unequal widths: the softmax is over all of them",
          (7, 5, 8, 9), True)
def sharded(case, draw, width):
    plain_logits(case, draw, width)
    first = 2 + draw.dice.below(2)
    case["shards"] = [first, width - first] if width < 8 else [first, 3, width - first - 3]


@scenario(LOGITS, "bfloat16", "every logit is exactly a bfloat16, so reading it as one loses nothing", (6, 5, 9), True, bfloat16=True)
def bfloat16(case, draw, width):
    plain_logits(case, draw, width, most=7, denominator=16)


@scenario(LOGITS, "masked", "logits of masked tokens hold NaN: they are not read, and their gradient is 0",
          (4, 5, 3), True)
def masked(case, draw, width):
    plain_logits(case, draw, width)
    hide(case, "logits")


@scenario(LOGITS, "entropy", "an entropy bonus: every logit has a gradient, but one of -infinity has 0", (5, 6, 4), True, True)
def bonus(case, draw, width):
    plain_logits(case, draw, width)
    for z_row, y_row in zip(case["logits"], case["target"]):
        for z, y in zip(z_row, y_row):
            if draw.dice.below(2):
                z[(y + 1) % width] = scenarios.MINUS_INF


@scenario(LOGITS, "sharded-entropy", "an entropy bonus with the vocabulary split into shards: the entropy is over all of them",
          (5, 6), True, True)
def sharded_bonus(case, draw, width):
    plain_logits(case, draw, width)
    case["shards"] = [2, width - 2]


def plain_hidden(case, draw, width, denominator=16):
    depth = rotated((3, 2, 4), draw.k)
    case["hidden"] = draw.each(lambda: draw.row(depth, 2, denominator))
    case["weight"] = [draw.row(depth, 1, denominator) for _ in range(width)]
    case["target"] = draw.each(lambda: draw.dice.below(width))


@scenario(HIDDEN, "tempered", "logits are hidden states times a projection, divided by a temperature", (5, 3, 7), True)
def projection(case, draw, width):
    plain_hidden(case, draw, width)


@scenario(HIDDEN, "sharded", "the projection is split into shards of the vocabulary: a hidden state's gradient is their sum",
          (7, 5, 6), True)
def sharded_projection(case, draw, width):
    plain_hidden(case, draw, width)
    first = 2 + draw.dice.below(2)
    case["shards"] = [first, width - first]


@scenario(HIDDEN, "chunked", "tokens are processed in chunks: the projection's gradient is the sum over them", (5, 4, 6), True)
def chunked(case, draw, width):
    plain_hidden(case, draw, width)
    tokens = sum(draw.lengths)
    case["chunks"] = rotated(([2, 3, tokens - 5], [3, tokens - 3], [1, 2, tokens - 3]), draw.k)


@scenario(HIDDEN, "masked", "hidden states of masked tokens hold NaN: they must not enter the projection's gradient", (4, 5, 3), True)
def masked_projection(case, draw, width):
    plain_hidden(case, draw, width)
    hide(case, "hidden")


@scenario(HIDDEN, "entropy", "an entropy bonus; hidden states and projection are exact bfloat16 numbers",
          (5, 6, 4), True, True, bfloat16=True)
def bonus_projection(case, draw, width):
    plain_hidden(case, draw, width, denominator=8)


@scenario(HIDDEN, "plain", "logits are hidden states times a projection, at temperature 1", (3, 5, 4), False)
def plain_projection(case, draw, width):
    plain_hidden(case, draw, width)


@scenario(HIDDEN, "banned", "tokens banned from sampling: their rows of the projection get no gradient from that position",
          (5, 4, 6), True)
def banned_projection(case, draw, width):
    plain_hidden(case, draw, width)
    case["banned"] = [[[(y + 1 + draw.dice.below(width - 1)) % width] for y in row] for row in case["target"]]


def hide(case, name):
    """Two tokens are masked and contain NaN."""
    lengths = [len(row) for row in case["target"]]
    longest = lengths.index(max(lengths))
    places = {(longest, 0), (longest ^ 1, 0)}
    case["mask"] = scenarios.like(lengths, lambda i, t: (i, t) not in places)
    for i, t in places:
        case[name][i][t] = [scenarios.NAN] * len(case[name][i][t])


# ---- whole rows

ARRAYS = ("logp_old", "logp_ref", "logp_rollout", "logp_teacher")


def near(x):
    return round(64 * x) / 64


def batch_beside(o, case, draw, seed, groups):
    """The objective's batch for the log-probabilities of the logits; the other policies differ from them as much as in other cases."""
    mask = case.pop("mask", None)
    batch = scenarios.full(o, groups, draw.lengths, seed)
    found = {}
    for x in logits_path.positions({**case, "batch": {"mask": mask} if mask else {}}):
        logits_path.forward(case, x)
        found[x.i, x.t] = near(to_double(x.logp))
    for key in ARRAYS:
        gap = [[y - l for y, l in zip(*rows)] for rows in zip(batch[key], batch["logp"])]
        batch[key] = scenarios.like(draw.lengths, lambda i, t: min(-1 / 64, found.get((i, t), -1) + gap[i][t]))
    if mask:
        batch["mask"] = mask
    A = rotated(ADVANTAGES, draw.k)
    batch["advantage"] = scenarios.like(draw.lengths, lambda i, t: A[i])
    batch = scenarios.finish(o, batch)
    return {key: x for key, x in batch.items() if key not in ("logp", "entropy")}


def alive(case):
    """Do at least half of the tokens have a gradient, and does no comparison depend on rounding?"""
    limits.near_misses.clear()
    found = logits_path.positions(case)
    for x in found:
        logits_path.forward(case, x)
    logits_path.from_above(case, found, False)
    return not limits.near_misses and 2 * sum(settle(x.g, x.g_size) != 0 for x in found) >= len(found)


def row_case(kind, name, k, place, made):
    """The case of a row and a scenario: the first draw in which enough tokens have a gradient."""
    label, comment, vocabularies, hot, entropy, bfloat16, make = made
    o = objective(name)
    if entropy:
        o = changed(o, penalty={"entropy_coef": rotated((0.0625, 0.125, 0.25), k)})
    for seed in range(1000 * k + 10 * place + 5, 1000 * k + 10 * place + 5 + 7 * MOST_SEEDS, 7):
        draw = Draw(k, seed, rotated(LENGTHS, k + place))
        case = {"kind": kind, "temperature": rotated(TEMPERATURES, k + place) if hot else 1}
        make(case, draw, rotated(vocabularies, k))
        case.update(objective=copy.deepcopy(o), batch=batch_beside(o, case, draw, seed, (4,) if name in ONE_GROUP else GROUPS))
        if alive(case):
            check_bfloat16(bfloat16, f"{name}-{label}", case)
            return f"{name}-{label}", comment, case
    raise AssertionError(f"{kind} {name} {label}: no draw moves half of the tokens")


# ---- given derivatives

def given_case(kind, k, place, made):
    label, comment, vocabularies, hot, _, bfloat16, make = made
    draw = Draw(k, 77 + 100 * k + place, rotated(LENGTHS, k))
    case = {"kind": kind, "temperature": rotated(TEMPERATURES, k + place) if hot else 1}
    make(case, draw, rotated(vocabularies, k))
    case["dlogp"] = draw.each(lambda: draw.dice.signed(1 / 8, 2, 16))
    case["dentropy"] = draw.each(lambda: draw.dice.signed(0, 1, 16) if k else 0)
    check_bfloat16(bfloat16, f"{label}-{k + 1}", case)
    return f"{label}-{k + 1}", comment + ("" if k else "; derivatives by log-probabilities only, none by entropies"), case


EXTREME = [
    ("large", "logits of 10000 and differences of 1000: e^z overflows, and the largest must be taken out first",
     {"kind": "logits", "temperature": 2, "logits": [[[10000, 9998, -10000, 9999], [-3000, -3001, 0, -2]]], "target": [[1, 3]],
      "dlogp": [[1, -0.5]], "dentropy": [[0.25, 0.5]]}),
    ("sharp", "one token has almost all the probability: its gradient 1 - p is small, but not 0",
     {"kind": "logits", "temperature": 1, "logits": [[[40, 0, 0.5, 1], [40, 0, 0.5, 1]], [[20, -20, 0, 19]]], "target": [[0, 2], [1]],
      "dlogp": [[1, -1], [0.5]], "dentropy": [[-0.5, 0.25], [1]]}),
    ("flat", "equal logits: the entropy is at its maximum, and its gradient 0",
     {"kind": "logits", "temperature": 0.5, "logits": [[[0.5] * 7, [-3] * 7]], "target": [[0, 6]], "dlogp": [[1, -2]],
      "dentropy": [[1, 0.5]]}),
    ("one", "a vocabulary of one token: its probability is 1, every gradient is 0",
     {"kind": "logits", "temperature": 0.5, "logits": [[[3.5], [-2]]], "target": [[0, 0]], "dlogp": [[1, -2]], "dentropy": [[1, 0.5]]}),
]


def given(kind, table, extremes):
    cases = [given_case(kind, k, place, made) for place, made in enumerate(table) if made[0] not in ("masked", "entropy") for k in range(4)]
    return cases + [(label, comment, copy.deepcopy(case)) for label, comment, case in extremes]


NUMBERS = ("logits", "hidden", "weight", "dlogp", "dentropy")


def check_inputs(where, case):
    """Checks that every number is a binary32, and that no sampled token of a case with a loss has probability 0."""
    for x in leaves([case[name] for name in NUMBERS if name in case] + [case["temperature"]]):
        if isinstance(x, str):
            continue
        if scenarios.binary32(x) != x:
            raise AssertionError(f"{where}: {x!r} is not of its format")
    for x in logits_path.positions(case) if "objective" in case or "dlogp" in case else ():
        if x.logits[x.target] == logits_path.MINUS_INF:
            raise AssertionError(f"{where}: the token at {x.i}, {x.t} cannot have been drawn")


def check_bfloat16(bfloat16, where, case):
    """With bfloat16, every logit, hidden state and weight is a bfloat16 number."""
    if bfloat16 and not flags.bfloat16(case):
        raise AssertionError(f"{where}: a number is no bfloat16")


def leaves(x):
    return [z for y in x for z in leaves(y)] if isinstance(x, list) else [x]


ONE_IN = 6


def tried(mistakes, place, shown):
    """The mistakes to compute for the case at this index of its file: those that it may record in full, and some of the others, such that
    every mistake occurs with every row and scenario in some case."""
    return [name for k, name in enumerate(mistakes) if shown(name) or (k + place + place // ONE_IN) % ONE_IN == 0]


FILES = {f"{kind}-{unit}": (kind, table, rows) for kind, table in (("logits", LOGITS), ("hidden", HIDDEN)) for unit, rows in ROWS.items()}
FILES["logits-given"] = ("logits", LOGITS, None)
FILES["hidden-given"] = ("hidden", HIDDEN, None)


def cases(name, one_of=1):
    """(label, comment, case) of a file, or of every n-th case of it."""
    kind, table, rows = FILES[name]
    if rows is None:
        return given(kind, table, EXTREME if kind == "logits" else [])[::one_of]
    everything = [(kind, row, k, place, made) for k, row in enumerate(rows) for place, made in enumerate(table)]
    return [row_case(*which) for which in everything[::one_of]]
