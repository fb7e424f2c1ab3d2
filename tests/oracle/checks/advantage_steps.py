"""The advantage of steps, of episodes and of steps in GAE."""
import itertools
import statistics

from cases import case_of
from checks.rewards import batch_of, tokens
from checks.tools import flat, near
from evaluate import evaluate
from objectives import changed


def check_step_gae(check):
    o, batch = case_of("advantage-steps", "step_gae")
    loose = {**batch, "step_end": [[t == T - 1 for t in range(T)] for T in batch["length"]],
             "step_reward": [[r] * T for r, T in zip(batch["reward"], batch["length"])]}
    for fields in ({}, {"lambda_length": 0.75}, {"scale": "token_whiten"}, {"baseline": "group_mean", "scale": "group_std"},
                   {"truncated_tail": 2}):
        for value in ("reward", "response"):
            both = [evaluate(changed(o, advantage={"credit": c, "step_value": value, **fields}), loose)[0] for c in ("step_gae", "gae")]
            check(f"one step, the response: {fields}, {value}", both[0]["advantage"] == both[1]["advantage"])
    full = changed(o, advantage={"gamma": 1, "lambda": 1})
    sums = evaluate(changed(full, advantage={"credit": "step"}), batch)[0]["advantage"]
    mine = evaluate(full, batch)[0]["advantage"]
    mask = batch["mask"]
    check("with gamma = lambda = 1 what is to come, less the value", all(near([x], [y - v]) for x, y, v, m in
          zip(*map(flat, (mine, sums, batch["value"], mask))) if m))
    for fields in ({"bootstrap": "repeat"}, {"step_discount": "steps"}, {"reweight": "length_power"},
                   {"entropy": "zero_variance"}, {"excluded": "zero"}):
        try:
            evaluate(changed(o, advantage=fields), batch)
            check(f"no steps in GAE with {fields}", False)
        except ValueError:
            check(f"no steps in GAE with {fields}", True)


LENGTHS = (4, 3, 5, 2, 3)
PROMPTS = (3, 2)
ENDS = ((1, 3), (0, 2), (0, 1, 3), (1,), (0, 1))  # of every response
WORTH = ((0.5, 1), (-0.25, 0.75), (1, 0.5, -0.5), (0.25,), (1, -1))
STATES = ((5, 7), (5, 7), (7, 5, 7), (5,), (6, 5))


def walk(states=STATES, **more):
    rows = [[False] * T for T in LENGTHS]
    values, places = [[9] * T for T in LENGTHS], [[8] * T for T in LENGTHS]
    for i, ts in enumerate(ENDS):
        for t, r, s in zip(ts, WORTH[i], states[i]):
            rows[i][t], values[i][t], places[i][t] = True, r, s
    return batch_of((1, 0, 0.5, 0.25, -1), PROMPTS, LENGTHS, step_end=rows, step_reward=values, state=places, **more)


def at_ends(rows):
    return [[rows[i][t] for t in ts] for i, ts in enumerate(ENDS)]


def returns(gamma):
    return [[sum(r * gamma ** k for k, r in enumerate(rs[j:])) for j in range(len(rs))] for rs in WORTH]


def check_steps(check):
    own = dict(credit="step_own", baseline="group_mean")
    a = tokens(walk(), **own)
    for i, ts in enumerate(ENDS):
        last = [next((e for e in ts if t <= e), None) for t in range(LENGTHS[i])]
        check("a step's tokens share its advantage, those after the last have none",
              all(x == (0 if e is None else a[i][e]) for x, e in zip(a[i], last)))
    check("the reward to go of a discount of 0 is the step's own, at its end",
          at_ends(tokens(walk(), **{**own, "credit": "step"})) == at_ends(a))
    plain = dict(credit="step_own", step_gamma=0.5)
    check("returns by hand", near(flat(at_ends(tokens(walk(), step_value="return", **plain))), flat(returns(0.5))))
    check("what is not discounted later is what the step has",
          tokens(walk(), credit="step_own", step_value="return") == tokens(walk(), credit="step_own"))
    check("a sum to go of rewards is the return",
          near(flat(at_ends(tokens(walk(), **{**plain, "credit": "step", "gamma": 1}))), flat(returns(1))))
    check("worth what its response is", flat(at_ends(tokens(walk(), step_value="response", **plain)))
          == [r for r, ts in zip((1, 0, 0.5, 0.25, -1), ENDS) for _ in ts])


def check_pools(check):
    one = [[1] * len(s) for s in STATES]
    apart = [[10 * i + j for j in range(len(s))] for i, s in enumerate(STATES)]
    numbers = [list(range(len(s))) for s in STATES]
    for scale in ("none", "group_std"):
        norm = dict(credit="step_own", baseline="group_mean", scale=scale)
        state = dict(norm, step_group="state")
        check("one state for all is the prompt", tokens(walk(one), **state) == tokens(walk(), **norm))
        check("a state for each is nothing", not any(flat(tokens(walk(apart), **state))))
        check("the number of the step as its state", tokens(walk(numbers), **state) == tokens(walk(), step_group="index", **norm))
        check("a history of one state is the state, for any power",
              tokens(walk(), step_group="history", history_length=1, history_power=3, **norm) == tokens(walk(), **state))
        check("levels that agree, as none is longer than a step", near(flat(at_ends(tokens(
            walk(one), step_group="history", history_length=1, history_power=-1, **norm))), flat(at_ends(tokens(walk(), **norm)))))
    a = at_ends(tokens(walk(), credit="step_own", baseline="leave_one_out", step_group="state"))
    check("against the other of two: their difference", a[0][0] == 0.5 - (-0.25 + 0.5) / 2 and a[3][0] == 0.25 - -1)


def histories(worth, depth, power):
    """HGPO by loops over all steps, in floats."""
    group = [g for g, n in enumerate(PROMPTS) for _ in range(n)]
    steps = [(i, j) for i, s in enumerate(STATES) for j in range(len(s))]
    result = []
    for i, j in steps:
        levels = []
        for k in range(1, min(depth, j + 1) + 1):
            pool = [worth[x][y] for x, y in steps if group[x] == group[i] and y + 1 >= k
                    and STATES[x][y + 1 - k:y + 1] == STATES[i][j + 1 - k:j + 1]]
            a = worth[i][j] - statistics.mean(pool)
            if len(pool) > 1 and abs(a) > 1e-12:
                levels.append(((k + 1) ** power, a))
        result.append(sum(w * a for w, a in levels) / sum(w for w, _ in levels) if levels else 0)
    return result


def check_histories(check):
    for depth, power in itertools.product((1, 2, 3), (0, 1, -0.5)):
        fields = dict(credit="step_own", baseline="group_mean", step_group="history", history_length=depth, history_power=power)
        check(f"histories by loops: {depth} {power}", near(flat(at_ends(tokens(walk(), **fields))), histories(WORTH, depth, power)))
        a = tokens(walk(), step_value="return", step_gamma=0.5, **fields)
        check(f"of returns: {depth} {power}", near(flat(at_ends(a)), histories(returns(0.5), depth, power)))


def check_episodes(check):
    for scale in ("none", "group_std"):
        norm = dict(baseline="group_mean", scale=scale)
        outcome, own = tokens(walk(), **norm), tokens(walk(), credit="step_own", step_group="state", **norm)
        for coef in (0, 1, -0.5):
            a = tokens(walk(), credit="episode_step", step_group="state", step_coef=coef, **norm)
            check(f"episode and step add up: {scale} {coef}",
                  near(flat(a), [x + coef * y for x, y in zip(flat(outcome), flat(own))]))


GROUPS = (check_steps, check_pools, check_histories, check_episodes, check_step_gae)
