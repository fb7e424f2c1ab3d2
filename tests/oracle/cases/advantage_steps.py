"""The advantage of steps: values, pools, credit; steps in GAE."""
from cases.bases import SCORE
from cases.table import add, cases_of
from objectives import changed, plain
from scenarios import full, like

case = cases_of("choices-steps", axis="advantage")

OWN = changed(SCORE, advantage={"credit": "step_own", "step_gamma": 0.5})


def stepped(o, groups, lengths, seed, ends, rewards, states, **options):
    """A batch with steps; rewards and states are those of the step ends, in order."""
    batch = full(o, groups, lengths, seed, **options)
    batch["step_end"] = like(lengths, lambda i, t: (i, t) in ends)
    for (i, t), r, s in zip(ends, rewards, states):
        batch["step_reward"][i][t], batch["state"][i][t] = r, s
    return batch


# a masked step end, tokens after the last step, a response without steps
ENDS = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2), (3, 1), (3, 2), (4, 0))


def walks(o):
    # states 5, 7; 5, 7; 7, (masked 5), 5 with equal rewards in 7; then 5, 6; 6, which are another prompt's
    return stepped(o, (3, 2), (4, 3, 3, 3, 2), 701, ENDS, (0.5, 1, -0.25, 1, 1, 9, 0.125, 0.75, -0.5, 0.25),
                   (5, 7, 5, 7, 7, 5, 5, 5, 6, 6), mask={(0, 0), (2, 1)}, reward=(1, 0, 0.5, 0.25, -1))


def idle(o):
    # the second response has no step, the third none that counts, the fourth is alone
    return stepped(o, (3, 1), (2, 2, 2, 2), 702, ((0, 0), (0, 1), (2, 1), (3, 0)), (0.5, -0.25, 1, 0.75), (1, 1, 1, 1),
                   mask={(2, 1)}, reward=(1, 0.25, 0, 0.5))


# ---- credit and value

case("step_own", "credit step_own: a token gets the advantage of its own step only, 0 after the last step",
     changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"credit": "step_own"}, walks)
case("step_own-idle", "credit step_own where a response has no step, or only a masked one: its advantages are 0",
     changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"credit": "step_own"}, idle)
case("step_own-group_std", "step rewards minus their mean over the prompt's steps, over the standard deviation of these steps",
     OWN, {"scale": "group_std"}, walks)
case("step_own-second", "batch_norm = items with credit step_own: normalised once more over all steps of the batch",
     OWN, {"batch_norm": "items"}, walks)
case("return", "step_value = return: steps are compared by their own reward plus the discounted step rewards after it",
     OWN, {"step_value": "return"}, walks)
case("return-step", "step returns (gamma per step 1/2) that credit step sums once more, discounted per token: both discounts apply",
     changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"step_value": "return"}, walks)
case("response", "step_value = response: every step is compared by the reward of its response, step rewards are not read",
     OWN, {"step_value": "response"}, walks)
case("response-kl", "steps valued by the response's reward: with its overlong punishment, without its KL penalty",
     changed(OWN, reward={"kl": "k1", "kl_coef": 0.5, "overlong": "linear", "overlong_max": 4, "overlong_cache": 2,
                          "overlong_factor": 0.5}), {"step_value": "response"}, walks)


# ---- pools

STATE = changed(OWN, advantage={"step_group": "state"})
case("state", "steps are compared with the prompt's steps from the same state: one is alone, two have equal rewards",
     OWN, {"step_group": "state"}, walks)
case("state-return", "steps from the same state are compared by their discounted returns", STATE, {"step_value": "return"}, walks)
for baseline, scale in (("group_mean", "group_std"), ("leave_one_out", "none"), ("leave_one_out", "group_std"),
                        ("none", "group_std"), ("none", "constant")):
    case(f"state-{baseline}-{scale}", f"steps from the same state, with baseline {baseline} and scale {scale} of these steps alone",
         changed(STATE, advantage={"eps": 0.25, "scale_divisor": 0.25}),
         {"baseline": baseline, "scale": scale}, walks)
case("state-raw", "singleton = raw: a step whose state occurs once in the prompt keeps its step reward", STATE, {"singleton": "raw"}, walks)
case("state-response", "prefix tree by states: a step is compared by its response's reward with the steps from its state; step_gamma is 0",
     STATE,
     {"step_value": "response", "step_gamma": 0}, walks)


def hashed(o):
    # identifiers that differ in their last bit only, and by their sign
    return stepped(o, (4,), (1, 1, 2, 2), 703, ((0, 0), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1)),
                   (0.5, 1, -0.25, 0.75, 0, 0.125),
                   (2 ** 53 - 1, 2 ** 53 - 2, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 53 - 2, -(2 ** 53 - 1)))


case("state-hash", "states are integers of up to 53 bits that differ in their last bit or in their sign only: not rounded to float",
     OWN, {"step_group": "state"}, hashed)

case("index", "steps are compared with those of the same number in their response: first steps with first steps",
     OWN, {"step_group": "index"}, walks)
case("index-group_std", "steps of the same number in their response, over the standard deviation of their rewards",
     changed(OWN, advantage={"scale": "group_std"}), {"step_group": "index"}, walks)
case("index-raw", "steps by number, leave-one-out: the only third step is alone and keeps its reward (singleton = raw)",
     changed(OWN, advantage={"step_group": "index"}),
     {"singleton": "raw", "baseline": "leave_one_out"}, walks)


# ---- histories

TRAIL = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1))


def trails(o):
    # states 1 2 1; 1 2 1; 3 2 1; and 1 2 of another prompt; values of state 2: 1, 0, 0.5 (exactly the mean)
    return stepped(o, (3, 1), (3, 3, 4, 2), 704, TRAIL, (0.25, 1, 0.5, -0.5, 0, 0.75, 1, 0.5, -1, 0.5, 0.25),
                   (1, 2, 1, 1, 2, 1, 3, 2, 1, 1, 2))


def loop(o):
    # one response that stays in its state: 1 1 1, and 1 2 of the other; a masked step end is no step
    return stepped(o, (2,), (4, 2), 705, ((0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)), (0.5, 7, -0.25, 1, 0, 0.75),
                   (1, 2, 1, 1, 1, 2), mask={(0, 1)})


HISTORY = changed(OWN, advantage={"step_group": "history", "history_length": 2, "history_power": 1})
case("history", "HGPO: pools of steps with the same last state and last two states; the longer weighs more, one whose result is 0 nothing",
     changed(OWN, advantage={"step_group": "state"}), {"step_group": "history", "history_length": 2, "history_power": 1}, trails)
case("history-1", "HGPO with history_length = 1: only steps from the same state are compared", HISTORY, {"history_length": 1}, trails)
case("history-3", "HGPO with history_length = 3: pools by the last one, two and three states, where they have more than one step",
     HISTORY, {"history_length": 3}, trails)
for power in (0, 2.5, -1):
    case(f"history-power-{power}", f"HGPO: the pool of level k weighs (k + 1)^{power}, divided by the sum over the pools that count",
         HISTORY, {"history_power": power}, trails)
case("history-group_std", "HGPO: within each pool the rewards are divided by the pool's standard deviation",
     changed(HISTORY, advantage={"std": "population", "eps": 1e-6}), {"scale": "group_std"}, trails)
case("history-leave_one_out", "HGPO: within each pool a step is compared with the other steps of the pool",
     HISTORY, {"baseline": "leave_one_out"}, trails)
case("history-return", "HGPO: steps are compared within each pool by their discounted returns", HISTORY, {"step_value": "return"}, trails)
case("history-step", "HGPO's step advantages summed from each token on, discounted per token (credit step)",
     HISTORY, {"credit": "step", "gamma": 0.5}, trails)
case("history-loop", "HGPO: a response that returns to a state is in that state's pool with each of these steps",
     changed(HISTORY, advantage={"history_length": 1}),
     {"history_length": 2}, loop)


# ---- episode and step

EPISODE = changed(OWN, advantage={"credit": "episode_step", "step_group": "state", "step_coef": 1})
case("episode_step", "GiGPO: the response's advantage among the prompt's responses plus the step's among steps from its state",
     STATE, {"credit": "episode_step", "step_coef": 1},
     walks)
for coef in (0.5, -2):
    case(f"episode_step-{coef}", f"GiGPO: the step's advantage is added to the response's with coefficient {coef}",
         EPISODE, {"step_coef": coef}, walks)
case("episode_step-group_std", "GiGPO: response and step advantages are each divided by their own standard deviation",
     changed(EPISODE, advantage={"eps": 1e-6}),
     {"scale": "group_std"}, walks)
case("episode_step-return", "GiGPO: steps from the same state are compared by their discounted returns",
     EPISODE, {"step_value": "return"}, walks)
case("episode_step-prompt", "GiGPO: a step is compared with all steps of its prompt, not only those from the same state",
     EPISODE, {"step_group": "prompt"}, walks)
case("episode_step-history", "GiGPO: the step's advantage comes from HGPO's pools of steps with the same last states", EPISODE,
     {"step_group": "history", "history_length": 2, "history_power": 1}, trails)
case("episode_step-idle", "GiGPO: a response with no step, or only a masked one, gets its own advantage alone; a lone response 0",
     changed(EPISODE, advantage={"credit": "step_own"}),
     {"credit": "episode_step"}, idle)
case("episode_step-raw", "GiGPO with singleton = raw: a lone response keeps its reward and a lone step its step reward",
     EPISODE, {"singleton": "raw"}, idle)
case("episode_step-leave_one_out", "GiGPO with leave-one-out baselines, for responses and for steps from the same state",
     EPISODE, {"baseline": "leave_one_out"}, walks)
case("episode_step-whiten", "GiGPO: the sums of response and step advantages are whitened over the batch's tokens",
     EPISODE, {"scale": "token_whiten", "step_group": "prompt"}, walks)
add("choices-steps", 0, "episode_step-kl",
    "GiGPO: the KL penalty of the reward axis (k2) changes neither the response's nor the steps' advantage", EPISODE,
    {"reward": {"overlong": "linear", "overlong_max": 3, "overlong_cache": 2, "overlong_factor": 0.5,
                "kl": "k2", "kl_coef": 0.5}}, walks)


# ---- steps in GAE


case = cases_of("choices-advantage-steps")


def turns(o):
    """Steps of several tokens, a masked step end, tokens after the last step, a response without steps, a truncated one."""
    batch = full(o, (2, 2), (5, 3, 2, 2), 971, reward=(1, -0.5, 0.25, 0.75), mask={(0, 1)}, more=("truncated",))
    batch["step_end"] = [[True, True, False, True, False], [False, True, True], [False, False], [True, True]]
    batch["truncated"] = [True, False, True, False]
    return batch


GAE = changed(plain(), advantage={"credit": "gae", "gamma": 0.75, "lambda": 0.5}, aggregation={"kind": "token_mean"})
STEPS = changed(GAE, advantage={"credit": "step_gae"})
case("step_gae", "GAE on step rewards, each at the last token of its step; the response's reward is not added",
     GAE, {"advantage": {"credit": "step_gae"}}, turns)
case("step_gae-whiten", "GAE on step rewards, lambda by length: whitened over tokens without the last of truncated responses, which stay 0",
     changed(STEPS, advantage={"scale": "token_whiten", "lambda_length": 0.75}), {"advantage": {"truncated_tail": 1}}, turns)
case("step_gae-kl", "GAE on step rewards with the k1 KL penalty subtracted at every token",
     STEPS, {"reward": {"kl": "k1", "kl_coef": 0.5}}, turns)
case("step_gae-group_std", "GAE on steps' advantages: returns compared among steps of the same number, over their deviation", STEPS,
     {"advantage": {"baseline": "group_mean", "scale": "group_std", "eps": 0.125, "singleton": "raw", "step_group": "index",
                    "step_value": "return", "step_gamma": 0.75}}, turns)
