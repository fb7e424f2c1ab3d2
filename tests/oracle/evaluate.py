"""One case: the answers of an objective on a batch, and the scale of each.

L = sum over active tokens of c_it x_it, x_it = M_it v_it g_it S_it + P_it; the KL and the entropy in P may have other coefficients.
"""
from functools import cache

from autodiff import Var, gradient, sg, size, value
from axes import advantage as advantage_axis
from axes import aggregation, factors, group, off_policy, own_divisor, penalty, ratio, segments, weight
from axes import report as report_axis
from axes.allowed import check_loss
from axes.surrogate import surrogate
from limits import Growth, ONE, ZERO, Undefined, certain, grows, magnitude, number, of_one_sign, over, rounded_up, settle, to_double
from reals import mpf


class Token:
    """A token whose mask is true; fields that the batch lacks are None."""

    def __init__(self, sequence, t, row):
        self.sequence, self.t = sequence, t
        self.l = Var(row("logp"))
        self.o, self.f, self.b = row("logp_old"), row("logp_ref"), row("logp_rollout")
        self.teacher = row("logp_teacher")
        self.entropy, self.value = row("entropy"), row("value")
        self.H = None if self.entropy is None else Var(self.entropy)  # a variable, as the entropy bonus differentiates it
        self.step_reward = row("step_reward")
        self.sum_pi_squared = row("sum_pi_squared")
        self.advantage, self.weight = row("advantage"), row("external_weight")
        self.clip_low, self.clip_high = row("eps_low"), row("eps_high")
        away = row("divergence_ref")
        self.divergence_ref = None if away is None else Var(away)  # a variable, since its derivative is an answer
        self.divergence_old = row("divergence_old")


class Sequence:
    def __init__(self, batch, i):
        self.index, self.group, self.length = i, batch["group"][i], batch["length"][i]
        self.reward = mpf(batch["reward"][i]) if "reward" in batch else None
        self.rewards = [mpf(r) for r in batch["rewards"][i]] if "rewards" in batch else []
        self.truncated = "truncated" in batch and batch["truncated"][i]
        self.outside = "excluded" in batch and batch["excluded"][i]
        self.unmasked = []
        segment = segments.numbered(batch["segment_end"][i]) if "segment_end" in batch else [0] * self.length
        for t in range(self.length):
            if "mask" in batch and not batch["mask"][i][t]:
                continue  # the other arrays are not read there
            token = Token(self, t, lambda key: number(batch[key][i][t]) if key in batch else None)
            token.step_end = "step_end" in batch and batch["step_end"][i][t]
            token.segment = segment[t]
            for mask in ("selected", "kl_mask", "nll_mask", "marked", "shaping_mask"):
                setattr(token, mask, mask in batch and batch[mask][i][t])
            token.state = batch["state"][i][t] if "state" in batch else None
            token.token_id = batch["token_id"][i][t] if "token_id" in batch else None
            self.unmasked.append(token)


class Batch:
    def __init__(self, batch):
        self.have = set(batch)
        self.sequences = [Sequence(batch, i) for i in range(len(batch["group"]))]
        self.groups = batch["group"][-1] + 1
        for s in self.sequences:
            s.varied = aggregation.varied([x.reward for x in self.sequences if x.group == s.group])
        self.baseline = [mpf(b) for b in batch.get("baseline", [])]
        self.log_partition = [Var(mpf(z)) for z in batch.get("log_partition", [])]
        self.reward_weight = [mpf(w) for w in batch.get("reward_weight", [1] * len(self.sequences[0].rewards))]


class Entry:
    """The terms of an active token in the loss: c M v g S, and its penalties.

    v: the weight after correction and rejection; factor: the product of the other weights.
    """

    def __init__(self, token, v, c, y, w, policy, paid, dropped=False, factor=ONE):
        """paid: [(KL, its coefficient), (entropy bonus, its coefficient)]"""
        self.token, self.v, self.c, self.y, self.w = token, v, c, y, w
        self.factor = factor
        self.policy, self.paid = policy, paid
        self.dropped = dropped  # by trust or off_policy_mask

    def __iter__(self):
        """[(summand of x, its coefficient)], separate because sizes add up summand by summand."""
        return iter([(self.policy, self.c), *self.paid])

    def term(self, measure=value):
        """x without any coefficient; with measure = size its size."""
        return sum(of_one_sign([measure(x) for x, _ in self]), ZERO)

    def penalty(self, measure=value):
        """The penalties in the loss; with measure = size their size."""
        return sum(of_one_sign([c * measure(x) for x, c in self.paid]), ZERO)

    def place(self):
        return self.token.sequence.index, self.token.t


def needs_ratio(objective):
    return report_axis.uses_ratio(objective) or objective["weight"]["trust"] != "none"


def paid_by(objective, token, w, c, totals, given):
    """[(KL, its coefficient), (entropy bonus, its coefficient)]; given: external weight of both"""
    choice = objective["penalty"]
    kl, bonus = penalty.weighted_kl(choice, objective["ratio"], token, w), penalty.entropy_bonus(choice, token)
    return [(given * x, aggregation.OF_PENALTY[choice[kind]](c, totals, token.sequence))
            for x, kind in ((kl, "kl_aggregation"), (bonus, "entropy_aggregation"))]


def entry_of(objective, token, v, share, factor, c, y, w, stale, of_group, totals):
    """share: v, or v over the batch's mean of v where that mean is infinite; of_group: F_i, if the surrogate is a function of the group."""
    choice = objective["weight"]
    on_policy, on_penalty = factors.given(choice, token)
    x = ratio.denominator(objective["ratio"], token) if needs_ratio(objective) else None
    distrusted = weight.distrusted(choice, w, y, x, token)
    dropped = distrusted or stale
    M = sg(ONE if weight.is_chosen(choice, token) and not dropped else ZERO)
    factor = factor * on_policy
    S = surrogate(objective["surrogate"], token.advantage, w, y, token.l, x, token) if of_group is None else of_group
    policy = M * share * factor * S
    paid = paid_by(objective, token, w, c, totals, on_penalty)
    return Entry(token, v, c, y, w, policy, paid, dropped, factor)


def units(objective, tokens):
    """(y, w) of the active tokens of a sequence."""
    if not needs_ratio(objective):
        return [ZERO] * len(tokens), [ONE] * len(tokens)
    ys = ratio.log_units(objective["ratio"], tokens)
    return ys, ratio.ratios(ys)


def number_tokens(tokens):
    """Numbers the active tokens of a sequence from 1."""
    for position, token in enumerate(tokens, 1):
        token.position = position


def entries_of(objective, batch):
    check_loss(objective)
    weighed = [weight.weigh(objective["weight"], s) for s in batch.sequences]
    totals = aggregation.Totals(objective["aggregation"], [len(kept) for kept, _ in weighed],
                                [s.group for s in batch.sequences], batch.groups)
    alive = [(s, [t for t, _ in kept], [v for _, v in kept]) for s, (kept, _) in zip(batch.sequences, weighed) if kept]
    for _, tokens, _ in alive:
        number_tokens(tokens)
    judged_by = [units(objective, tokens) for _, tokens, _ in alive]
    F = group.values(objective["surrogate"], [(s, tokens, ys) for (s, tokens, _), (ys, _) in zip(alive, judged_by)], batch.log_partition,
                     objective["ratio"]["level"])
    norm = factors.norm(objective["weight"], [[v for _, v in kept] for kept, _ in weighed])
    everything = [t for _, tokens, _ in alive for t in tokens]
    entries = []
    for (sequence, tokens, vs), (ys, ws) in zip(alive, judged_by):
        cs = aggregation.coefficients(objective["aggregation"], totals, sequence, tokens, everything)
        drifts = weight.drifts(objective["weight"], tokens)
        factor = [f * drift for f, drift in zip(factors.future(objective["weight"], tokens), drifts)]
        shares = vs
        if grows(norm):
            shares = [over(value(v), norm) for v in vs]
        else:
            factor = [f / norm for f in factor]
        stale = off_policy.dropped(objective["weight"], tokens)
        entries += [entry_of(objective, *each, F.get(sequence), totals) for each in zip(tokens, vs, shares, factor, cs, ys, ws, stale)]
    return entries, sum(rejected for _, rejected in weighed)


def given_or_computed_advantages(objective, batch):
    """{token: Sized}, and the advantages placed on the tokens."""
    if "advantage" in batch.have:
        return None
    found = advantage_axis.advantages(objective["advantage"], objective["reward"], batch)
    for t, a in found.items():
        t.advantage = a.settled()
    return found


def total(entries):
    return sum(of_one_sign([c * value(x) for e in entries for x, c in e]), ZERO)


def roots(entries, terms):
    """[(summand of the loss, its coefficient)]"""
    return [part for e in entries for part in e] + [(term.x, ONE) for term in terms]


def loss(objective, raw):
    """L alone, unrounded; self_check.py takes finite differences of it."""
    batch = Batch(raw)
    given_or_computed_advantages(objective, batch)
    return total(entries_of(objective, batch)[0]) + own_divisor.paid(own_divisor.terms(objective, batch))


def outputs(objective, batch):
    """For a batch whose tokens have advantages, yields (name of an output, function that returns {place: (number, scale)}, unrounded)."""
    entries, rejected = entries_of(objective, batch)
    terms = own_divisor.terms(objective, batch)
    seeds = roots(entries, terms)

    @cache
    def slopes():
        return gradient(seeds), gradient(seeds, sizes=True)

    def by(variables):
        slope, slope_size = slopes()
        return {place: (slope.get(x, ZERO), slope_size.get(x, ZERO)) for place, x in variables}

    yield "loss", lambda: {(): (sum(of_one_sign([total(entries), own_divisor.paid(terms)])), sum((c * size(x) for x, c in seeds), ZERO))}
    yield "term", lambda: {e.place(): (e.term(), e.term(size)) for e in entries}
    yield "dlogp", lambda: by((e.place(), e.token.l) for e in entries)
    if objective["penalty"]["entropy_coef"] != 0:
        yield "dentropy", lambda: by((e.place(), e.token.H) for e in entries)
    if objective["penalty"]["kl"] == "external":
        yield "ddivergence_ref", lambda: by((e.place(), e.token.divergence_ref) for e in entries)
    if objective["surrogate"]["kind"] == "trajectory_balance":
        yield "dlog_partition", lambda: by(((g,), z) for g, z in enumerate(batch.log_partition))
    yield "report", lambda: report_axis.report(objective, batch, entries, rejected)


def informative(batch):
    """Groups whose raw rewards are not all equal: DAPO's (2503.14476) dynamic sampling keeps these."""
    return [len({s.reward for s in batch.sequences if s.group == g}) > 1 for g in range(batch.groups)]


def beyond(x):
    scale = magnitude(x)
    return (scale is None or scale > 1000) and abs(to_double(x)) == float("inf")


def pinned(x, size):
    """The rounded answer. A sum of finite terms of both signs that overflow binary64 is left undefined, because no evaluation in binary64
    can find it; for infinite terms the answer is the limit."""
    x = settle(x, size)
    if not isinstance(size, Growth) and beyond(size) and beyond(size + x) and beyond(size - x):
        raise Undefined("overflow of both signs in one sum")
    return to_double(x)


def laid_out(lengths, name, found):
    """The answer in its shape in the vectors: a number, a dictionary or rows of length T_i; places without a number are 0."""
    if name == "loss":
        return found[()]
    if name == "report":
        return found
    if name == "dlog_partition":
        return [found[(g,)] for g in range(len(found))]
    return [[found.get((i, t), 0.0) for t in range(T)] for i, T in enumerate(lengths)]


def credited(sized):
    return {(t.sequence.index, t.t): (a.value, a.size) for t, a in sized.items()}


def evaluate(objective, raw):
    """(expect, scale) as plain floats."""
    return certain(lambda: answers(objective, raw))


def answers(objective, raw):
    batch = Batch(raw)
    expect, scale = {}, {}

    def keep(name, found):
        expect[name] = laid_out(raw["length"], name, {k: pinned(x, size) for k, (x, size) in found.items()})
        scale[name] = laid_out(raw["length"], name, {k: rounded_up(size) for k, (_, size) in found.items()})

    sized = given_or_computed_advantages(objective, batch)
    if sized is not None:
        keep("advantage", credited(sized))
    if "reward" in raw:
        expect["dynamic_sampling_mask"] = informative(batch)
    for name, find in outputs(objective, batch):
        keep(name, find())
    return expect, scale
