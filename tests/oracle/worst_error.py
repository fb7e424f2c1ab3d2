#!/usr/bin/env python3
"""Searches for the largest error of the headers, in ulps of the scale of each answer, by changing inputs step by step.

    worst_error.py ADAPTER [--seconds N] [--seed N] [--random | --published] [--single] [--only advantage|loss] [--narrow] [--save FILE]
                   [ROW...]
    worst_error.py ADAPTER --calls [--extreme | --ties] [--seconds N] [--seed N] [--save FILE] [FUNCTION...]
    worst_error.py ADAPTER --logits [--single] [--seconds N] [--seed N] [--save FILE]
    worst_error.py ADAPTER --judge FILE

ADAPTER: ninja -C build tests/conformance/adapter_binary64, which computes in double and reads any double. Each answer of the headers is
compared with the oracle's, and the scale is the oracle's too. The search of a row lasts --seconds (10). It keeps the worst inputs found for
each output and each number of the report. A step takes one of them, changes one to three of its numbers, flags, lengths or numbers of the
objective, and keeps the result where an error grew. Advantages are searched from rewards, all else from given advantages (--only one of
the two: advantage, or loss for all else). --random: also changes the choices of the objective, out of all that
exist; --published: changes the batch alone. --narrow: R - b counts as one number in the scale of an advantage. --calls: the functions of
extra/, from their cases, whose batches also lose tokens and responses, with --extreme also towards the ends of the ranges, equal numbers,
single entries and thousands, with --ties the calls that are else not counted, as they turn on a comparison of nearly equal numbers, which
must be exact; --logits: rows of logits.
--single: arrays of binary32, with adapter_c_f32, whose errors are in units of 2^-23. --judge: the errors of inputs that ../worst_error.c
saved.

Not counted are inputs of which rounding decides a branch, those of which the oracle's 60 digits are too few, and those outside what the
README promises: log-ratios that add up to more than 700 within a response, results below 1e-290. Prints a line for each row, and for each
error above --limit (4), whose inputs go to --save. Exits with 1 if there was one.
"""
import argparse
import copy
import json
import math
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import evaluate
import functions
import limits
import logits_path
import objectives
import random_calls
import reals
import scenarios
from axes import advantage as advantage_axis
from axes import sized
from axes.fields import FIELDS

ULP = 2.0 ** -52


class Stored:
    """What arrays hold: a unit in the last place of 1, what underflows, what is not judged because it nearly does, the largest number."""

    ulp, tiny, least, largest = ULP, 4 * 5e-324, 1e-290, sys.float_info.max

    @classmethod
    def are_single(cls):
        cls.ulp, cls.tiny, cls.least, cls.largest = 2.0 ** -23, 2.0 ** -149, 1e-30, float.fromhex("0x1.fffffep127")


TINY = Stored.tiny
REACH = 700
LOGPS = ("logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher")
POSITIVE = ("entropy", "sum_pi_squared", "external_weight", "eps_low", "eps_high", "divergence_ref", "divergence_old")
SIGNED = ("value", "step_reward", "advantage")
FLAGS = ("step_end", "segment_end", "mask", "selected", "kl_mask", "nll_mask", "marked", "shaping_mask")
GAPS = (1e-9, 1e-7, 1e-5, 1e-3, 0.03, 0.3, 1, 3, 20, 100, 350, 690)
STORED = ("advantage", "term", "dlogp", "dentropy", "ddivergence_ref", "dlog_partition")


# ---- the two sides

class Headers:
    def __init__(self, adapter, precision="f64"):
        self.program = subprocess.Popen([adapter], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask({"cmd": "start", "version": 1, "precision": precision})

    def close(self):
        self.program.stdin.close()
        self.program.wait()

    def ask(self, request):
        self.program.stdin.write(json.dumps(limits.tidy(request)) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def answers(self, objective, batch):
        """{output: answer}, or the text of a refusal."""
        case = {"id": "worst", "objective": objectives.thinned(objective), "batch": batch}
        reply = self.ask({"cmd": "run", "seq": 1, "case": case})
        return reply.get("result") or reply.get("error") or reply.get("skip")


def advantages(objective, raw):
    """(expect, scale) of the advantages alone."""
    found = evaluate.credited(evaluate.given_or_computed_advantages(objective, evaluate.Batch(raw)))
    expect = {place: evaluate.pinned(x, size) for place, (x, size) in found.items()}
    scale = {place: limits.rounded_up(size) for place, (_, size) in found.items()}
    return tuple({"advantage": evaluate.laid_out(raw["length"], "advantage", x)} for x in (expect, scale))


def judged(objective, raw):
    """(expect, scale) of the oracle; None where the definition has none, or rounding decides a branch."""
    limits.near_misses.clear()
    try:
        both = (evaluate.evaluate(objective, raw) if "advantage" in raw else limits.certain(lambda: advantages(objective, raw)))
    except (limits.Undefined, ArithmeticError, KeyError, ValueError, TypeError, IndexError):
        return None
    return None if close_call() else both


def close_call():
    """Does rounding decide a comparison of the oracle?"""
    return any(abs(float(a - b)) <= 2.0 ** -47 * max(abs(float(a)), abs(float(b))) for a, b in limits.near_misses
               if not isinstance(a, str) and not isinstance(b, str))


def error(found, expected, scale, stored):
    found, expected, scale = (float(x) for x in (found, expected, scale))
    ulp, tiny, least = (Stored.ulp, Stored.tiny, Stored.least) if stored else (ULP, TINY, 1e-290)
    if found == expected or scale < least:
        return 0.0
    most = Stored.largest
    if stored and found == math.copysign(math.inf, expected) and abs(expected) + 4 * ulp * min(scale, most) >= most:
        return 0.0
    if not (math.isfinite(found) and math.isfinite(expected) and scale > 0):
        return math.inf
    return max(0.0, abs(found - expected) - tiny) / scale / ulp


def narrow():
    """From now on R - b counts as one number: its size is its own absolute value. Rewards that are doubles differ where they differ."""
    wide, apart = advantage_axis.centre, sized.a_hair_apart
    advantage_axis.centre = lambda context, item: sized.Sized(wide(context, item).settled())
    sized.a_hair_apart = lambda a, b: apart(a, b) and not (float(a) == a and float(b) == b)


def leaves(name, found, expect, scale):
    """(name, found, expected, scale) of every number of an output."""
    if isinstance(found, dict):
        for key in found:
            yield from leaves(f"{name}.{key}", found[key], expect.get(key, math.nan), scale.get(key, 0))
    elif isinstance(found, list):
        for f, e, s in zip(found, expect, scale):
            yield from leaves(name, f, e, s)
    else:
        yield name, found, expect, scale


def errors(found, both):
    """{output: (largest error, its number as (found, expected, scale))}"""
    expect, scale = both
    worst = {}
    for output in scale:
        for name, f, e, s in leaves(output, found[output], expect[output], scale[output]):
            x = error(f, e, s, output in STORED)
            if name not in worst or x > worst[name][0]:
                worst[name] = (x, (float(f), float(e), float(s)))
    return worst


# ---- what may change

class Mutation:
    """choices, numbers: may those of the objective change?"""

    def __init__(self, dice, choices, numbers):
        self.dice, self.choices, self.numbers = dice, choices, numbers

    def near(self, x):
        """x with other low bits, or another number of its size."""
        how = self.dice.random()
        if how < 0.3:
            return x * (1 + self.dice.choice((1, -1)) * self.dice.random() * 2.0 ** -self.dice.randrange(1, 52))
        return math.nextafter(x, math.copysign(math.inf, self.dice.random() - 0.5)) if how < 0.4 else x * 2 ** self.dice.uniform(-1, 1)

    def logp(self, batch, i, t):
        """A log-probability: near what it was, or at some distance from another one of the token."""
        x = batch[self.dice.choice([key for key in LOGPS if key in batch])][i][t]
        if self.dice.random() < 0.4:
            return min(0.0, self.near(x))
        return min(0.0, x + self.dice.choice((1, -1)) * self.dice.choice(GAPS) * self.dice.random())

    def number(self, x, others):
        """A number of either sign: near what it was, near another one, or any."""
        how = self.dice.random()
        if how < 0.35:
            return self.near(x)
        if how < 0.6:
            y = self.dice.choice(others)
            return y + self.dice.choice((0, 1, -1)) * max(abs(y), 0.1) * 10 ** self.dice.uniform(-15, 0)
        if how < 0.7:
            return float(self.dice.choice((0, 1, -1, x + 1, x - 1, 1000 + self.dice.random())))
        return self.dice.uniform(-2, 2) * 10 ** self.dice.choice((-3, 0, 0, 0, 2))

    def token(self, batch):
        rows = [key for key in batch if key in LOGPS + POSITIVE + SIGNED + FLAGS]
        key = self.dice.choice(rows + [key for key in rows if key in LOGPS or key == "advantage"] * 3)
        i = self.dice.randrange(len(batch["length"]))
        t = self.dice.randrange(batch["length"][i])
        if key in FLAGS:
            batch[key][i][t] = not batch[key][i][t]
        elif key in LOGPS:
            batch[key][i][t] = self.logp(batch, i, t)
        elif key in SIGNED:
            x = self.number(batch[key][i][t], [y for row in batch[key] for y in row])
            for k in (range(batch["length"][i]) if key == "advantage" and self.dice.random() < 0.5 else (t,)):
                batch[key][i][k] = x
        else:
            x = self.near(batch[key][i][t]) if self.dice.random() < 0.7 else self.dice.random() * 2
            batch[key][i][t] = min(x, 1.0) if key in ("sum_pi_squared",) else x

    def response(self, batch):
        keys = ("reward", "reward", "reward", "truncated", "excluded", "baseline", "log_partition", "rewards", "reward_weight")
        key = self.dice.choice([key for key in keys if key in batch])
        k = self.dice.randrange(len(batch[key]))
        if key in ("truncated", "excluded"):
            batch[key][k] = not batch[key][k]
        elif key == "rewards":
            c = self.dice.randrange(len(batch[key][k]))
            batch[key][k][c] = self.number(batch[key][k][c], [row[c] for row in batch[key]])
        else:
            batch[key][k] = self.number(batch[key][k], batch[key])

    def length(self, batch):
        """A response one token shorter, or with a copy of one of its tokens."""
        i = self.dice.randrange(len(batch["length"]))
        T = batch["length"][i]
        shorter = T > 1 and (T > 5 or self.dice.random() < 0.5)
        for key in [key for key in batch if key in scenarios.PER_TOKEN]:
            row = batch[key][i]
            batch[key][i] = row[:-1] if shorter else row + [row[T // 2]]
        batch["length"][i] = T - 1 if shorter else T + 1

    def objective(self, objective):
        """A number that is not at its default; with choices any field."""
        plain = [(axis, field) for axis, fields in FIELDS.items() for field, domain in fields.items()
                 if not isinstance(domain, tuple) and isinstance(objective[axis][field], (int, float)) and objective[axis][field]]
        if self.choices and self.dice.random() < 0.4:
            plain = [(axis, field) for axis, fields in FIELDS.items() for field in fields]
        if not plain:
            return
        axis, field = self.dice.choice(plain)
        domain, x = FIELDS[axis][field], objective[axis][field]
        if isinstance(domain, tuple):
            objective[axis][field] = self.dice.choice(domain)
        elif isinstance(x, str) or not x:
            objective[axis][field] = self.dice.choice((0.1, 0.5, 1, 2, self.dice.random()))
        elif domain.get("$ref", "").endswith("count"):
            objective[axis][field] = self.dice.randrange(1, 4)
        else:
            objective[axis][field] = self.near(float(x))

    def change(self, state):
        objective, batch = copy.deepcopy(state)
        for _ in range(self.dice.choice((1, 1, 2, 3))):
            how = self.dice.random()
            if how < 0.7:
                self.token(batch)
            elif how < 0.86:
                self.response(batch)
            elif how < 0.9:
                self.length(batch)
            elif self.numbers:
                self.objective(objective)
        return objective, batch


def within_reach(batch):
    """Are the log-ratios of every response together at most REACH, and no number so near 0 that its square underflows?"""
    keys = [key for key in LOGPS if key in batch]
    signed = [x for key in ("reward", "baseline") for x in batch.get(key, [])]
    signed += [x for key in ("rewards", *SIGNED) for row in batch.get(key, []) for x in row]
    signed += [x for key in keys for row in batch[key] for x in row]  # e^l of a tiny l is 1 to the oracle
    if any(0 < abs(x) < 1e-45 for x in signed):
        return False
    return all(sum(max(batch[k][i][t] for k in keys) - min(batch[k][i][t] for k in keys) for t in range(T)) <= REACH
               for i, T in enumerate(batch["length"]))


# ---- functions of extra/

def places(x, domain):
    """(the list or object that holds it, its index or name, range) of every number that may be moved."""
    within = random_calls.range_of(domain)
    stack = [x]
    while stack and within is not None:
        y = stack.pop()
        for k, z in enumerate(y) if isinstance(y, list) else y.items():
            if isinstance(z, (list, dict)):
                stack.append(z)
            elif isinstance(z, (int, float)) and not isinstance(z, bool):
                yield y, k, within


EXTREMES = (0.0, 1.0, 1e-300, 1e-160, 1e-100, 1e-20, 1e-8, 30.0, 300.0, 700.0, 745.0, 800.0, 1e10, 1e100, 1e160, 1e300)
MANY = 2000  # entries of a list that grows
EXTREME_DIGITS = 1500


class Call:
    """The same search for a function beside the objective: from its cases, by moving their numbers. extreme: also to the ends of their
    ranges, and to lists of one entry and of thousands."""

    def __init__(self, headers, seed, name, extreme=False):
        self.extreme = extreme
        self.headers, self.name, self.dice = headers, name, random.Random(seed)
        self.mutation = Mutation(self.dice, False, False)
        self.cases = [case for case in functions.all_cases() if case.function == name]
        self.answers = []  # of the last call
        self.tried = self.compared = 0

    def fresh(self, *_):
        case = self.dice.choice(self.cases)
        return self.change((copy.deepcopy(dict(case.arguments)), copy.deepcopy(case.batch and dict(case.batch))))

    def change(self, state):
        arguments, batch = state = copy.deepcopy(state)
        where = [place for name in arguments for place in places({name: arguments[name]}, random_calls.domain_of(self.name, name))
                 if isinstance(arguments[name], list)]
        where += [(arguments, name, random_calls.range_of(random_calls.domain_of(self.name, name))) for name, x in arguments.items()
                  if isinstance(x, (int, float)) and not isinstance(x, bool)]
        for name, domain in random_calls.OF_THE_BATCH.items():
            if batch and name in batch:
                where += [(y, k, domain) for y, k, _ in places(batch[name], {"type": "number"})]
        where = [place for place in where if place[2] is not None]
        for _ in range(self.dice.choice((1, 1, 2, 3)) if where else 0):
            holder, k, (least, most) = self.dice.choice(where)
            x = float(holder[k])
            others = [y for y in (holder if isinstance(holder, list) else holder.values()) if isinstance(y, (int, float))]
            x = self.number(x, others)
            reach = 1e301 if self.extreme else 1e100
            if (least is None or x > least) and (most is None or x < most) and (x == 0 or 1 / reach < abs(x) < reach):
                holder[k] = x
        if self.extreme and self.dice.random() < 0.1:
            self.resize(arguments, batch)
        if batch and self.dice.random() < 0.2:
            self.restructure(arguments, batch)
        return state

    def number(self, x, others):
        if self.extreme and self.dice.random() < 0.3:
            return self.dice.choice((x, *others)) if self.dice.random() < 0.4 else self.dice.choice((1, -1)) * self.dice.choice(EXTREMES)
        return self.mutation.near(x) if x and self.dice.random() < 0.6 else self.mutation.number(x, others)

    def picked(self, n):
        """Which of n entries a list has from now on."""
        how, k = self.dice.random(), self.dice.randrange(n)
        if how < 0.2:
            return [k]
        if how < 0.25:
            return [self.dice.randrange(n) for _ in range(self.dice.randrange(n, max(MANY, n + 1)))]
        return [j for j in range(n) if j != k] or [k] if how < 0.6 else [*range(n), k]

    def resize(self, arguments, batch):
        """All lists of one length, or all rows of one response, which have an entry for each of its tokens."""
        lists = list({id(x): x for x in arguments.values() if isinstance(x, list) and x}.values())
        if batch:
            i = self.dice.randrange(len(batch["length"]))
            n = batch["length"][i]
            every = {id(x): x for x in (*batch.values(), *lists) if isinstance(x, list) and len(x) == len(batch["length"])}
            rows = [x for x in every.values() if isinstance(x[i], list)]
            if n and rows and all(len(x[i]) == n for x in rows):
                picked = self.picked(n)
                for x in rows:
                    x[i] = [x[i][k] for k in picked]
                batch["length"][i] = len(picked)
        elif lists:
            n = len(self.dice.choice(lists))
            picked = self.picked(n)
            for x in lists:
                if len(x) == n:
                    x[:] = [copy.deepcopy(x[k]) for k in picked]

    def restructure(self, arguments, batch):
        """Another batch: tokens masked, a response cut short or empty, two exchanged, one left out, all of one prompt."""
        N, how = len(batch["length"]), self.dice.random()
        i, j = self.dice.randrange(N), self.dice.randrange(N)
        lists = list({id(x): x for x in (*batch.values(), *arguments.values()) if isinstance(x, list) and len(x) == N}.values())
        if how < 0.3:
            mask = batch.setdefault("mask", [[True] * T for T in batch["length"]])
            mask[i] = [self.dice.random() < 0.5 for _ in mask[i]]
        elif how < 0.5:
            T = self.dice.randrange(batch["length"][i] + 1)
            for x in lists:
                if isinstance(x[i], list) and all(isinstance(y, list) and len(y) == n for y, n in zip(x, batch["length"])):
                    x[i] = x[i][:T]
            batch["length"][i] = T
        elif how < 0.7:
            for x in lists:
                if x is not batch["group"]:
                    x[i], x[j] = x[j], x[i]
        elif how < 0.9 and N > 1:
            for x in lists:
                del x[i]
            groups = sorted(set(batch["group"]))
            batch["group"] = [groups.index(g) for g in batch["group"]]
        else:
            batch["group"] = [0] * N

    def counts(self):
        """Is the oracle's answer certain?"""
        return not close_call()

    def judge(self, state):
        self.tried += 1
        arguments, batch = state
        case = {"id": "worst", "kind": "call", "function": self.name, "arguments": arguments, **({"batch": batch} if batch else {})}
        found = self.headers.ask({"cmd": "run", "seq": 1, "case": case}).get("result")
        if "NaN" in json.dumps(found) and not any(True for _ in numbers(found)):  # refused: NaN alone
            return {}
        self.answers = [x for x in numbers(found) if math.isfinite(x)]
        limits.near_misses.clear()
        try:
            both = functions.answers(self.name, arguments, batch) if found else None
        except (limits.Undefined, ArithmeticError, KeyError, ValueError, TypeError, IndexError):
            return {}
        if both is None or not self.counts() or not set(both[1]) <= set(found):
            return {}
        self.compared += 1
        worst = errors(found, both)
        if self.extreme and any(x > 4 for x, _ in worst.values()):  # 1 + 1e-300 is 1 in the oracle's digits
            with reals.workdps(EXTREME_DIGITS):
                both = functions.answers(self.name, arguments, batch)
            return {} if close_call() else errors(found, both)
        return worst


def numbers(x):
    """Every number of an answer."""
    if isinstance(x, (list, dict)):
        for y in x.values() if isinstance(x, dict) else x:
            yield from numbers(y)
    elif isinstance(x, (int, float)) and not isinstance(x, bool):
        yield float(x)


class Ties(Call):
    """Calls that rounding to double would decide: a number becomes an answer of the last call, or the mean, the sum or a difference of the
    others, or a neighbour of these. Counted are those where a comparison is decided by less than 2^-46, but by more than 2^-88."""

    def counts(self):
        if any(isinstance(x, str) for pair in limits.near_misses for x in pair):
            return False
        gaps = [float(abs(a - b) / max(abs(a), abs(b))) for a, b in limits.near_misses if a != b]
        return bool(gaps) and 2.0 ** -88 < min(gaps) < 2.0 ** -46

    def number(self, x, others):
        of_list = [sum(others) / len(others), max(others) - min(others), others[0] + others[-1]] if others else []
        y = float(self.dice.choice([x, *self.answers, *others, *of_list]))
        if not 0 < abs(y) < 1e100:
            return y
        y = self.dice.choice((y, y, abs(y), -y, 1 - y, 1 / y, y * self.dice.choice((2, 3, 5, 10, 0.5, 0.1, 1 / 3))))
        return self.dice.choice((y, math.nextafter(y, math.inf), math.nextafter(y, -math.inf)))


# ---- rows of logits

class Logits:
    """The same for rows of logits, whose log-probabilities, entropies and gradients are promised relative to the exact values
    themselves."""

    def __init__(self, headers, seed, single):
        self.headers, self.dice, self.single = headers, random.Random(seed), single
        self.mutation = Mutation(self.dice, False, False)
        self.tried = self.compared = 0

    def fresh(self):
        V, size = self.dice.randrange(2, 9), self.dice.choice((1e-6, 1, 10, 300))
        row = [self.dice.uniform(-size, size) for _ in range(V)]
        return [row, self.dice.randrange(V), self.dice.choice((1, 1, 0.5, self.dice.uniform(0.1, 3))), self.dice.uniform(-2, 2)]

    def change(self, state):
        row, target, temperature, slope = copy.deepcopy(state)
        for _ in range(self.dice.choice((1, 1, 2))):
            how, v = self.dice.random(), self.dice.randrange(len(row))
            if how < 0.4:
                row[v] = self.mutation.near(row[v])
            elif how < 0.7:
                row[v] = self.dice.choice(row) + self.dice.choice((1, -1)) * self.dice.choice(GAPS) * self.dice.random()
            elif how < 0.8:
                target = v
            elif how < 0.9:
                temperature = min(max(self.mutation.near(temperature), 0.01), 100)
            else:
                slope = self.mutation.near(slope)
        return [row, target, temperature, slope]

    def judge(self, state):
        row, target, temperature, slope = state
        self.tried += 1
        if self.single:
            row, slope = [scenarios.binary32(x) for x in row], scenarios.binary32(slope)
        if max(row) - min(row) > (80 if self.single else REACH) * temperature:  # else results below the normal range
            return {}
        case = {"id": "worst", "kind": "logits", "logits": [[row]], "target": [[target]], "temperature": temperature,
                "dlogp": [[slope]], "dentropy": [[0]]}
        found = self.headers.ask({"cmd": "run", "seq": 1, "case": case}).get("result")
        if not found:
            return {}
        with reals.workdps(limits.DEEP):  # a log-probability near 0 is the logarithm of a number near 1
            exact = {name: logits_path.each(lambda x, _: limits.to_double(x), x) for name, x in logits_path.answers(case).items()}
        self.compared += 1
        exact = {name: x for name, x in exact.items() if name in found}
        worst = errors(found, (exact, {name: absolute(x) for name, x in exact.items()}))
        return {name: (x * ULP / 2.0 ** -23, number) for name, (x, number) in worst.items()} if self.single else worst


def absolute(x):
    return [absolute(y) for y in x] if isinstance(x, list) else abs(x)


# ---- the search

def single(x):
    """Every number of an array of a batch as binary32."""
    if isinstance(x, list):
        return [single(y) for y in x]
    return scenarios.binary32(max(min(x, Stored.largest), -Stored.largest)) if isinstance(x, float) else x


class Search:
    def __init__(self, headers, seed, choices, numbers):
        self.headers, self.dice = headers, random.Random(seed)
        self.mutation = Mutation(self.dice, choices, numbers)
        self.tried = self.compared = 0

    def fresh(self, objective, given):
        groups = [self.dice.randrange(1, 4) for _ in range(self.dice.randrange(1, 4))]
        lengths = [self.dice.randrange(1, 4) for _ in range(sum(groups))]
        batch = scenarios.completed(scenarios.full(objective, groups, lengths, self.dice.randrange(1 << 31)))
        batch["mask"] = [[True] * T for T in lengths]
        if given:
            batch["advantage"] = [[self.dice.uniform(-2, 2)] * T for T in lengths]
        read = scenarios.reads(objective, given) | {"group", "length", "mask", "advantage", "reward"}
        keep = set(scenarios.ORDER) if self.mutation.choices else read
        batch = {key: x for key, x in batch.items() if key in scenarios.ORDER and key in keep}
        state = (copy.deepcopy(objective), json.loads(json.dumps(batch)))
        for _ in range(8):
            state = self.mutation.change(state)
        return state

    def judge(self, state):
        self.tried += 1
        objective, batch = state
        if Stored.ulp != ULP:
            for key in batch:
                batch[key] = single(batch[key])
        if not within_reach(batch):
            return {}
        found = self.headers.answers(objective, batch)
        both = judged(objective, batch) if isinstance(found, dict) else None
        self.compared += both is not None
        return errors(found, both) if both else {}

    def change(self, state):
        return self.mutation.change(state)


def climb(search, of_what, seconds, seen):
    """{output: (error, number, state)}; calls seen(output, error, number, state) for each that grew."""
    worst, stop = {}, time.time() + seconds
    while time.time() < stop:
        climbed = [state for x, _, state in worst.values() if 0 < x < math.inf]
        state = search.change(search.dice.choice(climbed)) if climbed and search.dice.random() < 0.95 else search.fresh(*of_what)
        for name, (x, number) in search.judge(state).items():
            if name not in worst or x >= worst[name][0]:
                grew = name not in worst or x > worst[name][0]
                worst[name] = (x, number, state)
                if grew:
                    seen(name, x, number, state)
    return worst


class Record:
    """The largest errors, and the inputs of those above the limit."""

    def __init__(self, limit, file):
        self.limit, self.file = limit, file
        self.over, self.total, self.tried, self.compared = {}, {}, 0, 0

    def over_limit(self, row, name, x, number, state):
        if x <= self.limit or x <= self.over.get((row, name), 0) * 1.2:
            return
        self.over[row, name] = x
        found, expected, scale = number
        print(f"  {row}: {name} is {found!r}, must be {expected!r}, scale {scale:.3g}: {x:.3g} ulps", flush=True)
        if self.file:
            line = {"row": row, "output": name, "error": x, "number": list(number), "state": state}
            if isinstance(state[0], dict) and "ratio" in state[0]:
                line.update(state=None, objective=objectives.thinned(state[0]), batch=state[1])
            self.file.write(json.dumps(limits.tidy(line)) + "\n")
            self.file.flush()

    def climb(self, search, row, of_what, seconds):
        worst = climb(search, of_what, seconds, lambda *x: self.over_limit(row, *x))
        search.headers.close()
        self.tried, self.compared = self.tried + search.tried, self.compared + search.compared
        for name, (x, _, _) in worst.items():
            self.total[name] = max(self.total.get(name, (0.0, "")), (x, row))
        print(f"{row}: {search.compared} of {search.tried};", "  ".join(f"{name} {x:.2f}" for name, (x, _, _) in worst.items() if x > 1),
              flush=True)

    def summary(self):
        print(f"worst of {self.compared} inputs that count, of {self.tried}:")
        for name, (x, row) in sorted(self.total.items()):
            print(f"  {name:28}{x:10.2f}  {row}")
        return 1 if self.over else 0


def rejudge(headers, file, limit):
    """The errors of saved inputs, by the oracle."""
    worst = {}
    for line in file:
        saved = json.loads(line)
        objective, batch = objectives.filled(saved["objective"]), saved["batch"]
        found = headers.answers(objective, batch)
        both = judged(objective, batch) if isinstance(found, dict) else None
        x, number = errors(found, both)[saved["output"]] if both else (0.0, None)
        if x > worst.get(saved["output"], (0,))[0]:
            worst[saved["output"]] = (x, saved["row"], saved["error"])
        if x > limit:
            print(f"  {saved['row']}: {saved['output']}: {x:.3g} ulps, {number}")
    for name, (x, row, said) in worst.items():
        print(f"  {name:28}{x:10.2f}  {row} (by the reference {said:.2f})")
    return 1 if any(x > limit for x, _, _ in worst.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("adapter")
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--seconds", type=float, default=10, help="for each row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--extreme", action="store_true")
    parser.add_argument("--ties", action="store_true")
    parser.add_argument("--logits", action="store_true")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--narrow", action="store_true")
    parser.add_argument("--only", choices=("advantage", "loss"))
    parser.add_argument("--save")
    parser.add_argument("--judge", metavar="FILE")
    parser.add_argument("--limit", type=float, default=4)
    args = parser.parse_intermixed_args()
    if args.judge:
        with open(args.judge, encoding="ascii") as f:
            return rejudge(Headers(args.adapter), f, args.limit)
    record = Record(args.limit, open(args.save, "a", encoding="ascii") if args.save else None)
    precision = "f32" if args.single else "f64"
    if args.logits:
        record.climb(Logits(Headers(args.adapter, precision), args.seed, args.single), "logits", (), args.seconds)
        return record.summary()
    if args.single:
        Stored.are_single()
    if args.narrow:
        narrow()
    for k, row in enumerate(args.rows or (functions.FUNCTIONS if args.calls else objectives.ROWS)):
        seed = args.seed * 1000 + k
        if args.calls:
            record.climb((Ties if args.ties else Call)(Headers(args.adapter), seed, row, args.extreme), row, (), args.seconds)
            continue
        for given, share in ((True, 0.7), (False, 0.3)):
            if args.only != ("advantage" if given else "loss"):
                search = Search(Headers(args.adapter, precision), seed, args.random, not args.published)
                record.climb(search, row, (objectives.objective(row), given), args.seconds * (1 if args.only else share))
    return record.summary()


if __name__ == "__main__":
    sys.exit(main())
