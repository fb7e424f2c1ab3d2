"""The advantage of steps: values, pools, credit; steps in GAE."""
from cases.table import add, cases_of
from objectives import changed, plain
from scenarios import full, like

case = cases_of("choices-steps", axis="advantage")

NONE = changed(plain(), aggregation={"kind": "token_mean"})
SCORE = changed(NONE, advantage={"baseline": "group_mean"})
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

case("step_own", "a step's advantage at its own tokens; nothing after the last step",
     changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"credit": "step_own"}, walks)
case("step_own-idle", "responses without steps", changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"credit": "step_own"}, idle)
case("step_own-group_std", "scaled by the deviation of the steps", OWN, {"scale": "group_std"}, walks)
case("step_own-second", "normalised again over the steps of the batch", OWN, {"batch_norm": "items"}, walks)
case("return", "a step is worth its reward and the discounted rewards after it", OWN, {"step_value": "return"}, walks)
case("return-step", "returns that are summed again: both are discounted",
     changed(OWN, advantage={"credit": "step", "gamma": 0.5}), {"step_value": "return"}, walks)
case("response", "a step is worth what its response is", OWN, {"step_value": "response"}, walks)
case("response-kl", "with the punishment of length and without the KL",
     changed(OWN, reward={"kl": "k1", "kl_coef": 0.5, "overlong": "linear", "overlong_max": 4, "overlong_cache": 2,
                          "overlong_factor": 0.5}), {"step_value": "response"}, walks)


# ---- pools

STATE = changed(OWN, advantage={"step_group": "state"})
case("state", "steps from the same state of the same prompt; one alone, two equal ones", OWN, {"step_group": "state"}, walks)
case("state-return", "their returns", STATE, {"step_value": "return"}, walks)
for baseline, scale in (("group_mean", "group_std"), ("leave_one_out", "none"), ("leave_one_out", "group_std"),
                        ("none", "group_std"), ("none", "constant")):
    case(f"state-{baseline}-{scale}", "another baseline and scale of the pool",
         changed(STATE, advantage={"eps": 0.25, "scale_divisor": 0.25}),
         {"baseline": baseline, "scale": scale}, walks)
case("state-raw", "a step alone in its pool keeps its value", STATE, {"singleton": "raw"}, walks)
case("state-response", "nodes of a prefix tree: what the leaves below them are worth", STATE,
     {"step_value": "response", "step_gamma": 0}, walks)


def hashed(o):
    # identifiers that differ in their last bit only, and by their sign
    return stepped(o, (4,), (1, 1, 2, 2), 703, ((0, 0), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1)),
                   (0.5, 1, -0.25, 0.75, 0, 0.125),
                   (2 ** 53 - 1, 2 ** 53 - 2, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 53 - 2, -(2 ** 53 - 1)))


case("state-hash", "identifiers of 53 bits", OWN, {"step_group": "state"}, hashed)

case("index", "first steps with first steps, second ones with second ones", OWN, {"step_group": "index"}, walks)
case("index-group_std", "over their deviation", changed(OWN, advantage={"scale": "group_std"}), {"step_group": "index"}, walks)
case("index-raw", "a third step alone", changed(OWN, advantage={"step_group": "index"}),
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
case("history", "levels of one state and of two, the longer one weighs more; a level that is 0 weighs nothing",
     changed(OWN, advantage={"step_group": "state"}), {"step_group": "history", "history_length": 2, "history_power": 1}, trails)
case("history-1", "one state only", HISTORY, {"history_length": 1}, trails)
case("history-3", "up to three states", HISTORY, {"history_length": 3}, trails)
for power in (0, 2.5, -1):
    case(f"history-power-{power}", "another power of the length", HISTORY, {"history_power": power}, trails)
case("history-group_std", "over the deviations of the levels",
     changed(HISTORY, advantage={"std": "population", "eps": 1e-6}), {"scale": "group_std"}, trails)
case("history-leave_one_out", "against the others of the level", HISTORY, {"baseline": "leave_one_out"}, trails)
case("history-return", "levels of returns", HISTORY, {"step_value": "return"}, trails)
case("history-step", "summed to go", HISTORY, {"credit": "step", "gamma": 0.5}, trails)
case("history-loop", "a response that comes back to a state is in its pools twice", changed(HISTORY, advantage={"history_length": 1}),
     {"history_length": 2}, loop)


# ---- episode and step

EPISODE = changed(OWN, advantage={"credit": "episode_step", "step_group": "state", "step_coef": 1})
case("episode_step", "the response's own advantage and that of the step", STATE, {"credit": "episode_step", "step_coef": 1},
     walks)
for coef in (0.5, -2):
    case(f"episode_step-{coef}", "another weight of the step", EPISODE, {"step_coef": coef}, walks)
case("episode_step-group_std", "both over their deviations", changed(EPISODE, advantage={"eps": 1e-6}),
     {"scale": "group_std"}, walks)
case("episode_step-return", "with the steps' returns", EPISODE, {"step_value": "return"}, walks)
case("episode_step-prompt", "steps of the prompt together", EPISODE, {"step_group": "prompt"}, walks)
case("episode_step-history", "steps of the same history", EPISODE,
     {"step_group": "history", "history_length": 2, "history_power": 1}, trails)
case("episode_step-idle", "responses without steps, and alone", changed(EPISODE, advantage={"credit": "step_own"}),
     {"credit": "episode_step"}, idle)
case("episode_step-raw", "alone, they keep what they are worth", EPISODE, {"singleton": "raw"}, idle)
case("episode_step-leave_one_out", "against the others", EPISODE, {"baseline": "leave_one_out"}, walks)
case("episode_step-whiten", "whitened over the tokens", EPISODE, {"scale": "token_whiten", "step_group": "prompt"}, walks)
add("choices-steps", 0, "episode_step-kl", "the KL of the reward reaches neither", EPISODE,
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
case("step_gae", "what steps earn, where they end; nothing for the response", GAE, {"advantage": {"credit": "step_gae"}}, turns)
case("step_gae-whiten", "whitened over the tokens but for the last of what was cut off; lambda by length",
     changed(STEPS, advantage={"scale": "token_whiten", "lambda_length": 0.75}), {"advantage": {"truncated_tail": 1}}, turns)
case("step_gae-kl", "a KL at every token", STEPS, {"reward": {"kl": "k1", "kl_coef": 0.5}}, turns)
case("step_gae-group_std", "steps compared with those of the same number, by their returns", STEPS,
     {"advantage": {"baseline": "group_mean", "scale": "group_std", "eps": 0.125, "singleton": "raw", "step_group": "index",
                    "step_value": "return", "step_gamma": 0.75}}, turns)
