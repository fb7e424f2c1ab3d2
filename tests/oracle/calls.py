"""Functions beside the objective: selection, control, sampling; more of them are in calls_more.py, calls_rewards.py, calls_advantages.py,
calls_state.py, calls_lists.py, calls_groups.py, calls_found.py and calls_late.py.

Each takes its arguments as fractions, and the batch first if it reads one, and returns {answer: numbers with their
sizes, flags or counts}. Rationals are exact; roots, powers and e^x have 60 digits.
"""
from fractions import Fraction

import mpmath

import calls_advantages
import calls_found
import calls_groups
import calls_late
import calls_lists
import calls_more
import calls_rewards
import calls_state
import limits
from call_tools import NOTHING, Number, ascending, at, by_group, clamp, flags, less, mean, real, rows, sample_variance, slots, summed
from evaluate import pinned
from limits import ZERO, rounded_up


# ---- control

def kl_control(kl_coef, kl, target, steps, horizon):
    """1909.08593 section 2.2: e = clip(KL/target - 1, -0.2, 0.2), beta (1 + K e); here K = steps/horizon."""
    step = clamp(kl / target - 1, Fraction(-1, 5), Fraction(1, 5)) * steps / horizon
    return {"kl_coef": Number(kl_coef * (1 + step), abs(kl_coef) * (1 + abs(step)))}


def entropy_control(coef, entropy, target, delta, low, high, inclusive):
    """2505.22312: the coefficient walks within bounds, and is used only where the entropy is below its target."""
    below = less(entropy, target) or inclusive and entropy == target
    moved = clamp(coef + delta if below else coef - delta, low, high)
    size = abs(coef) + abs(delta)
    return {"coef": Number(moved, size), "used": Number(moved if below else Fraction(0), size)}


# ---- selection of tokens

def select_top(batch, by, fraction):
    """2506.01939: the tokens at or above the (1 - rho) quantile, which is interpolated linearly."""
    x = at(batch, by)
    if not x:
        return {"selected": flags(batch, ())}
    level = Fraction(1 - float(fraction))  # the difference of binary64
    ordered = [x[place] for place in ascending(x)]
    k, rest = divmod(level * (len(x) - 1), 1)
    quantile = ordered[k] + (rest * (ordered[k + 1] - ordered[k]) if rest else 0)
    return {"selected": flags(batch, [place for place in x if not less(x[place], quantile)])}


def covariance(batch):
    """2505.22617: (A - mean A)(l - mean l), whose mean is the covariance."""
    A, l = at(batch, "advantage"), at(batch, "logp")

    def number(place):
        a, b = A[place], l[place]
        size = (abs(a) + mean([abs(x) for x in A.values()])) * (abs(b) + mean([abs(x) for x in l.values()]))
        return Number((a - mean(A.values())) * (b - mean(l.values())), size)
    return {"covariance": rows(batch, {place: number(place) for place in A}, NOTHING)}


def select_largest(batch, by, count):
    """KL-Cov (2505.22617) takes its tokens by the covariance like this."""
    falling = ascending({place: -x for place, x in at(batch, by).items()})
    return {"selected": flags(batch, falling[:int(count)])}


def select_between(batch, by, low, high, order, count, excluded=None):
    """Clip-Cov (2505.22617): tokens strictly between two bounds, here the first in an order that is given."""
    x = at(batch, by)
    every = slots(batch)
    chosen = [(i, t) for i, t in (every[int(k)] for k in order)
              if (i, t) in x and not (excluded and excluded[i][t]) and less(low, x[i, t]) and less(x[i, t], high)]
    return {"selected": flags(batch, chosen[:int(count)])}


def longest_prefix(squares, order, below, threshold):
    """The most tokens of the order whose mean is below; the mean cannot fall along it."""
    total, longest = Fraction(0), 0
    for n, place in enumerate(order, 1):
        total += squares[place]
        if below(total, threshold * n):
            longest = n
    return order[:longest]


def second_moment_all(batch, threshold):
    """M2PO as AReaL has it: the tokens with the largest (b - o)^2 go until the mean is below; one always stays."""
    o, b = at(batch, "logp_old"), at(batch, "logp_rollout")
    squares = {place: (b[place] - o[place]) ** 2 for place in o}
    order = ascending(squares)
    return longest_prefix(squares, order, less, threshold) or order[:1]


def second_moment_drifting(batch, threshold):
    """M2PO (2510.01161) as Trinity-RFT has it: only tokens that the update already moved the way it pushes may go."""
    A, l, o = at(batch, "advantage"), at(batch, "logp"), at(batch, "logp_old")
    squares = {place: (l[place] - o[place]) ** 2 for place in A if A[place] * (l[place] - o[place]) > 0}
    kept = longest_prefix(squares, ascending(squares), lambda x, y: not less(y, x), threshold)
    return kept + [place for place in A if place not in squares]


FORMS = {"all": second_moment_all, "drifting": second_moment_drifting}


def select_second_moment(batch, threshold, form):
    return {"selected": flags(batch, FORMS[form](batch, threshold))}


# ---- bounds of a batch

def out_of_balance(w, A, low, high, target):
    """P/Q < target: what pushes up against what pushes down, under these bounds."""
    pushes = [A[place] * (min(w[place], high) if A[place] >= 0 else max(w[place], low)) for place in A]
    P, Q = (sum((abs(x) for x in pushes if (x > 0) == up), ZERO) for up in (True, False))
    return limits.less(P, target * Q)  # false for Q = 0, where P/Q is infinite


def added(bound, step, most):
    """Binary64 rounds the sum."""
    return min(float(bound) + float(step), float(most))


def balanced_bounds(batch, low, high, low_max, high_max, step, target):
    """BAPO (2510.18927), official code: the lower bound rises first, then the upper, until P/Q is at its target."""
    A = {place: real(a) for place, a in at(batch, "advantage").items()}
    l, o = at(batch, "logp"), at(batch, "logp_old")
    w = {place: mpmath.exp(real(l[place] - o[place])) for place in l}
    low, high = float(low), float(high)
    while out_of_balance(w, A, low, high, real(target)) and low < low_max:
        low = added(low, step, low_max)
    while out_of_balance(w, A, low, high, real(target)) and high < high_max:
        high = added(high, step, high_max)
    return {name: Number(Fraction(x), abs(Fraction(x))) for name, x in (("low", low), ("high", high))}


# ---- selection and sampling of responses

def keep_between(batch, low, high):
    """DAPO's filter as OpenRLHF, torchrl and ROLL have it: prompts that are neither solved nor hopeless."""
    means = [mean([Fraction(batch["reward"][i]) for i in group]) for group in by_group(batch)]
    return {"keep": [less(low, m) and less(m, high) for m in means]}


def resampling_weights(batch, power, eps):
    """PF-PPO (2409.06957), as verl: abs(r)^p + eps; 0^0 is 1."""
    weights = [real(abs(Fraction(r))) ** real(power) + real(eps) for r in batch["reward"]]
    return {"weight": [Number(w, w) for w in weights]}


def resample(weight, uniform):
    """Drawn by the inverse of the cumulative sum."""
    sums = [sum(weight[:j + 1]) for j in range(len(weight))]
    return {"index": [next(j for j, s in enumerate(sums) if less(u * sums[-1], s)) for u in uniform]}


def replay_score(batch):
    """TRL's replay buffer: sum over responses of abs(A), times the standard deviation of the rewards."""
    A = at(batch, "advantage")
    first = {i: abs(A[i, t]) for i, t in reversed(list(A))}  # a response's first mask token is written last

    def score(group):
        spread = mpmath.sqrt(real(sample_variance([Fraction(batch["reward"][i]) for i in group])))
        return real(sum((first.get(i, 0) for i in group), Fraction(0))) * spread
    return {"score": [Number(x, x) for x in map(score, by_group(batch))]}


# ---- DCPO (2509.02333): a prompt met again

def smooth_advantage(visits, new, total):
    """Section 4.2: of two averages of the step's and the cumulative advantage, the one of smaller size."""
    i = visits
    by_new = ((i - 1) / i * new, total / i)
    by_total = (new / i, (i - 1) / i * total)
    terms = by_new if less(abs(sum(by_new)), abs(sum(by_total))) else by_total
    return {"advantage": summed(terms)}


def running_moments(visits, mean, variance, new_mean, new_variance):
    """The official code's mean and variance over the visits, this one included."""
    i = visits
    means = ((i - 1) * mean / i, new_mean / i)
    variances = ((i - 1) * variance / i, new_variance / i, (i - 1) * (new_mean - mean) ** 2 / i ** 2)
    return {"mean": summed(means), "variance": summed(variances)}


# ---- by name

ALONE = {f.__name__: f for f in (kl_control, entropy_control, resample, smooth_advantage, running_moments,
                                 *calls_more.ALONE, *calls_rewards.ALONE, *calls_advantages.ALONE,
                                 *calls_state.ALONE, *calls_lists.ALONE, *calls_found.ALONE,
                                 *calls_late.ALONE)}
ON_BATCHES = {f.__name__: f for f in (select_top, covariance, select_largest, select_between, select_second_moment,
                                      balanced_bounds, keep_between, resampling_weights, replay_score,
                                      *calls_more.ON_BATCHES, *calls_rewards.ON_BATCHES, *calls_advantages.ON_BATCHES,
                                      *calls_state.ON_BATCHES, *calls_groups.ON_BATCHES, *calls_found.ON_BATCHES,
                                      *calls_late.ON_BATCHES)}
NAMES = {**ALONE, **ON_BATCHES}


def exact(x):
    if isinstance(x, list):
        return [exact(y) for y in x]
    return Fraction(x) if isinstance(x, (int, float)) and not isinstance(x, bool) else x


def found(function, arguments, batch):
    given = {name: exact(x) for name, x in arguments.items()}
    return NAMES[function](*([batch] if function in ON_BATCHES else []), **given)


def each(f, x):
    """f of every number, in the same lists; flags and counts stay."""
    if isinstance(x, Number):
        return f(x)
    return [each(f, y) for y in x] if isinstance(x, list) else x


def rounded(x):
    return float(x.value) if isinstance(x.value, Fraction) else pinned(*x)


def is_number(x):
    return isinstance(x, Number) or isinstance(x, list) and any(map(is_number, x))


def answers(function, arguments, batch=None):
    """(expect, scale) as plain floats; what is counted or chosen has no scale."""
    results = found(function, arguments, batch)
    scale = {name: each(lambda n: rounded_up(real(n.size)), x) for name, x in results.items() if is_number(x)}
    return {name: each(rounded, x) for name, x in results.items()}, scale
