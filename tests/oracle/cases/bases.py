"""Base objectives of the cases of several axes, and batches with hand-chosen numbers."""
from objectives import MINUS_INF, changed, plain
from scenarios import full, placed

def named(value):
    return str(value).replace("Infinity", "inf")


# How `advantage.eps_place` is worded in comments.
PLACES = {"add": "epsilon is added to the standard deviation, outside the square root",
          "inside": "epsilon is added to the variance, inside the square root",
          "floor": "the variance is at least epsilon, and nothing is added",
          "floor_add": "the variance is at least epsilon, which is also added to the deviation"}


# ---- bases

PPO = changed(plain(), advantage={"baseline": "group_mean"}, surrogate={"kind": "ppo_clip", "eps_low": 0.2, "eps_high": 0.2},
              aggregation={"kind": "token_mean"})
NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})
NORM = changed(SCORE, advantage={"scale": "group_std"})

# ---- batches with hand-chosen numbers

def far_pair(values, a, seed):
    """Responses of one token: log-ratio and advantage of each."""
    def make(o):
        batch = full(o, (len(values),), [1] * len(values), seed, d=lambda dice, i, t: values[i])
        batch["advantage"] = [[x] for x in a]
        return batch
    return make


FAR_80 = far_pair((80, 80, -80, -80, 0.25), (1, -0.5, 0.75, -1, 0.5), 171)
FAR_800_GOOD = far_pair((800, -800, 0.25), (1, -0.5, 0.5), 172)  # up where A > 0, down where A < 0
FAR_800_BAD = far_pair((-800, 800, 0.25), (1, -0.5, 0.5), 173)


def never_sampled(policy, old, a):
    """A token of probability 0 under one of the policies or both, beside one that is not."""
    def make(o):
        return placed(o, 174, (2,), ((a,), (0.75,)), logp=((policy,), (-1.25,)), logp_old=((old,), (-1.5,)))
    return make


NEG = MINUS_INF
NEVER = {"policy": (NEG, -1), "old": (-0.5, NEG), "both": (NEG, NEG)}
UNDER = {"policy": "the policy (ratio 0)", "old": "the old policy (infinite ratio)", "both": "both policies (ratio 1)"}


def unlikely_response(a, logps):
    """For a comment: a response's advantage, and which policy gives it probability 0."""
    return f"a response with A {'>' if a > 0 else '<'} 0 has probability 0 under the {'policy' if logps[0] == NEG else 'old policy'}"


# ---- of one surrogate, in batches of given log-ratios


def only(groups, seed, d, a=None, reward=None, **options):
    """A batch of the given log-ratios and, where they are given, advantages."""
    def make(o):
        batch = full(o, groups, [len(x) for x in d], seed, d=lambda dice, i, t: d[i][t], reward=reward, **options)
        if a:
            batch["advantage"] = [list(x) for x in a]
        return batch
    return make


def kind(name, **numbers):
    return {"surrogate": {"kind": name, **numbers}}
