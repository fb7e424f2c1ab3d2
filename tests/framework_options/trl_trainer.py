#!/usr/bin/env python3
"""The trainer of ../../examples/python/trl_loss.py beside TRL's own GRPOTrainer (trl 1.16.0), with a tiny random model.

    VENV/bin/python tests/framework_options/trl_trainer.py [WORDS]             VENV: that of ../conformance/frameworks.sh; only such names

Both trainers make several optimiser steps by SGD from the same weights on the same responses, in one process and in two
(DistributedDataParallel, gloo).  At each step the gradient and the loss, averaged over processes, are compared.

- Where the objective is one that TRL's options say, and TRL's gradient is that of the whole batch, they are equal.
- Where TRL's depends on the cut by its design (CUTS.md), the objective's is that of TRL's trainer with the batch not cut; the difference
  from TRL's with the batch cut is printed, and must be there.
- An objective that TRL has not gives the same gradient for every cut.

Responses are made from a prompt and a place in its group, so that they do not depend on the cut; one scenario samples from the model.
"""
import math
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, os.pardir, "examples", "python"), os.path.join(HERE, os.pardir, "conformance", "adapters")]
sys.dont_write_bytecode = True

import cut_ranks  # noqa: E402

STEPS, PROMPTS, GROUP, LONGEST, WORDS = 4, 4, 4, 8, 24
NEAR, GROWTH = 1e-5, 4  # of the gradient's length, at the first step and per step: roundings to float32 grow with the weights' difference
EOS, RATE = 1, 0.5  # a rate at which some ratios leave the clip range


# ---- what is run

def cut(ranks, micro, **more):
    """16 responses, in micro-batches of so many on so many ranks"""
    return {"ranks": ranks, "per_device_train_batch_size": micro, "gradient_accumulation_steps": PROMPTS * GROUP // micro // ranks,
            "num_iterations": 2, **more}


UNCUT, FOUR, TWO_RANKS, SPLIT = cut(1, 16), cut(1, 4), cut(2, 4), cut(2, 2)
# two steps of a generation, in micro-batches and not; a generation for every micro-batch, and with the half of its group on each rank;
# four micro-batches of which three are a step, and the last one another
HALF, HALF_UNCUT = cut(1, 4, gradient_accumulation_steps=2, steps_per_generation=4), cut(1, 8, gradient_accumulation_steps=1,
                                                                                        steps_per_generation=2)
EACH, ACROSS = cut(1, 4, steps_per_generation=1, num_iterations=1), cut(2, 2, steps_per_generation=1, num_iterations=1)
INCOMPLETE = cut(1, 4, gradient_accumulation_steps=3, steps_per_generation=4, num_iterations=1)
KL = {"penalty.kl": "k3", "penalty.kl_coef": 0.1}
GRPO, BNPO, GSPO = {"loss_type": "grpo"}, {"loss_type": "bnpo"}, {"loss_type": "grpo", "importance_sampling_level": "sequence"}


def same(row, options=(), fields=(), cuts=(FOUR, TWO_RANKS), **more):
    """TRL's options for the row"""
    return [{"row": row, "fields": dict(fields), "options": dict(options), "ours": c, "theirs": c, "equal": True, **more} for c in cuts]


def apart(row, options, ours, whole=None, uncut=UNCUT, fields=(), **more):
    """TRL's gradient depends on the cut.  whole: options with which that of the whole batch is the row's, cut as in uncut"""
    made = {"row": row, "fields": dict(fields), "ours": ours, **more}
    return [{**made, "options": options, "theirs": ours, "equal": False}, *(
        [] if whole is None else [{**made, "options": whole, "theirs": uncut, "equal": True}])]


def invariant(row, fields=(), cuts=(FOUR, TWO_RANKS, SPLIT), **more):
    """TRL has it not: every cut gives what the batch gives that is not cut"""
    return [{"row": row, "fields": dict(fields), "options": None, "ours": c, "theirs": UNCUT, "equal": True, **more} for c in cuts]


SCENARIOS = [
    *same("trl-bnpo", cuts=(FOUR, TWO_RANKS, SPLIT)), *same("trl-bnpo", sampled=True),
    *same("trl-grpo", GRPO, cuts=(FOUR, TWO_RANKS, SPLIT, HALF, EACH, ACROSS)), *same("trl-grpo", GRPO, cuts=(INCOMPLETE,), prompts=4),
    *same("trl-grpo", {**GRPO, "beta": 0.1, "use_bias_correction_kl": False}, KL),
    *same("trl-grpo", {**GRPO, "beta": 0.1}, {**KL, "penalty.kl_importance_weight": "level"}),
    *same("trl-grpo", GRPO, both={"mask_truncated_completions": True}),
    *same("trl-bnpo", {"mask_truncated_completions": True}, {"weight.truncated": "mask"}),
    *same("trl-bnpo", tools=True),
    *same("trl-bnpo", {"entropy_coef": 0.1}, {"penalty.entropy_coef": 0.1}, cuts=(UNCUT,)),
    *same("trl-dr-grpo", {"loss_type": "dr_grpo"}, {"aggregation.constant": LONGEST}),
    *same("trl-gspo", {**GSPO, "epsilon": 0.0003, "epsilon_high": 0.0004}),
    *same("trl-cispo", {"loss_type": "cispo"}), *same("trl-sapo", {"loss_type": "sapo"}), *same("trl-vespo", {"loss_type": "vespo"}),
    *same("trl-luspo", {**GSPO, "loss_type": "luspo", "epsilon": 0.002, "epsilon_high": 0.0025}),
    *same("trl-lite-ppo", {"scale_rewards": "batch"}), *same("trl-gdpo", {"multi_objective_aggregation": "normalize_then_sum"}),
    *same("trl-opsm", {"off_policy_mask_threshold": 0.01}, {"weight.off_policy_mask_threshold": 0.01}),
    *same("trl-unbiased-kl", {"beta": 0.1}, {"penalty.kl_coef": 0.1}),
    *same("trl-bnpo", {"loss_type": "bnpo"}, cuts=(UNCUT,)), *apart("trl-bnpo", BNPO, FOUR, BNPO), *apart("trl-bnpo", BNPO, SPLIT, BNPO),
    *apart("trl-bnpo", {}, HALF, BNPO, HALF_UNCUT), *apart("trl-bnpo", {}, EACH, BNPO, {**UNCUT, "num_iterations": 1}),
    *apart("trl-bnpo", {}, INCOMPLETE, prompts=4),
    *apart("trl-bnpo", {"entropy_coef": 0.1}, SPLIT, {"entropy_coef": 0.1}, fields={"penalty.entropy_coef": 0.1}),
    *same("trl-grpo", GRPO, {"advantage.excluded": "zero"}, unscored=True), *same("trl-grpo", loss=False, both=GRPO),
    *invariant("gvpo", cuts=(FOUR, TWO_RANKS)), *invariant("dapo", {"reward.overlong_max": LONGEST, "reward.overlong_cache": 4},
                                                           cuts=(FOUR, TWO_RANKS)),
    *invariant("reinforce++"), *invariant("verl-tis-normalized"), *invariant("entropy-advantage"), *invariant("gpg"),
]


# ---- in a process for each rank

def response_of(prompt, place):
    """Of the same tokens in every cut; the second rank's are shorter, so that its tensors are narrower"""
    rng = random.Random(f"{prompt} {place}")
    longest = LONGEST - 2 * ((int(prompt.split()[0]) - 3) // 2 % 2)
    ids = [rng.randrange(3, WORDS) for _ in range(rng.randint(1, longest))]
    return ids if len(ids) == longest and rng.random() < 0.7 else ids[:-1] + [EOS]


def rollout_of(tools):
    def rollout(prompts, trainer):
        at = trainer.accelerator.process_index * len(prompts)
        ids = [response_of(prompt, (at + k) % GROUP) for k, prompt in enumerate(prompts)]
        found = {"prompt_ids": [[int(x) for x in prompt.split()] for prompt in prompts], "completion_ids": ids, "logprobs": None}
        return {**found, "env_mask": [[int(k % 3 != 1) for k in range(len(row))] for row in ids]} if tools else found
    return rollout


def rewards_of(unscored):
    """Two, of which the second, or both, give no number to some responses"""
    def rises(completion_ids, **_):
        return [None if unscored and len(ids) == 3 else sum(a < b for a, b in zip(ids, ids[1:])) / LONGEST for ids in completion_ids]

    def brevity(completion_ids, **_):
        return [None if unscored and len(ids) in (3, 4) else 1 / len(ids) for ids in completion_ids]
    return [rises, brevity]


def trained(scenario, kind, options, given):
    """The trainer after STEPS steps, with the gradient and the loss of each."""
    import datasets
    import torch
    import transformers
    import trl
    import trl_loss
    seen = []

    class Reading(transformers.TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **_):
            seen[-1]["gradient"] = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).double()

        def on_step_begin(self, args, state, control, **_):
            seen.append({"loss": 0.0})

    class Recorded(kind):
        def training_step(self, *given, **more):
            found = super().training_step(*given, **more)
            seen[-1]["loss"] += found.item()
            return found

    model, tokenizer = trl_loss.tiny(scenario["folder"], WORDS)
    options = {**options, **scenario.get("both", {})}
    del options["ranks"]
    args = trl.GRPOConfig(
        output_dir="none", use_cpu=True, bf16=False, report_to=[], save_strategy="no", logging_strategy="no", max_steps=STEPS, optim="sgd",
        learning_rate=RATE, lr_scheduler_type="constant", max_grad_norm=0.0, num_generations=GROUP, max_completion_length=LONGEST,
        shuffle_dataset=False, disable_tqdm=True, gradient_checkpointing=False, **options)
    prompts = [f"{k % 20 + 3} {k // 20 + 3}" for k in range(scenario.get("prompts", 80))]
    trainer = Recorded(
        model=model, args=args, processing_class=tokenizer, reward_funcs=rewards_of(scenario.get("unscored")), callbacks=[Reading()],
        train_dataset=datasets.Dataset.from_dict({"prompt": prompts}),
        rollout_func=None if scenario.get("sampled") else rollout_of(scenario.get("tools")), **given)
    trainer.train()
    for step in seen:
        step["loss"] = trainer.accelerator.reduce(torch.tensor(step["loss"]), "mean").item()
    return seen, trainer.state.log_history[-1]


def of_rank(scenario, side, parts, rank):
    """The losses and gradients of one side."""
    os.environ.update(TRANSFORMERS_VERBOSITY="error", TRL_EXPERIMENTAL_SILENCE="1")
    import warnings
    warnings.simplefilter("ignore")
    import torch
    import trl
    import trl_loss
    torch.set_num_threads(1)
    ours = side == "ours" or scenario["options"] is None
    options = {**scenario[side], **({} if ours else scenario["options"])}
    given = {"objective": scenario["row"], "fields": scenario["fields"], "loss": scenario.get("loss", True)} if ours else {}
    seen, metrics = trained(scenario, trl_loss.ObjectiveTrainer if ours else trl.GRPOTrainer, options, given)
    return [{**step, "gradient": step["gradient"].tolist()} for step in seen], metrics


# ---- the comparison

def length(x):
    return math.sqrt(sum(a * a for a in x))


def compared(scenario):
    """(the largest distance between gradients, of their length; between losses; the share of clipped tokens)"""
    found = {}
    for side in ("ours", "theirs"):
        ranks = scenario[side]["ranks"]
        answers = cut_ranks.run("trl_trainer", scenario, side, [[]] * ranks)
        assert all(x[0] == answers[0][0] for x in answers), "the ranks see different gradients"
        found[side], metrics = answers[0]
        if side == "ours":
            clipped = metrics.get("clip_ratio/region_mean", 0)
    assert len(found["ours"]) == len(found["theirs"]) == STEPS and any(found["theirs"][0]["gradient"])
    if "VERBOSE" in os.environ:
        print(*(f"{x['loss']:.5f} {y['loss']:.5f} {length(x['gradient']):.4f}" for x, y in zip(found["ours"], found["theirs"])), sep="\n")
    distance = [length([a - b for a, b in zip(x["gradient"], y["gradient"])]) / (length(y["gradient"]) or 1)
                for x, y in zip(found["ours"], found["theirs"])]
    losses = max(abs(x["loss"] - y["loss"]) / max(1, abs(y["loss"])) for x, y in zip(found["ours"], found["theirs"]))
    return distance, losses, clipped


def words(c):
    several = f", {c['steps_per_generation']} of a generation" if "steps_per_generation" in c else ""
    return f"{c['ranks']} ranks, {c['gradient_accumulation_steps']} micro-batches of {c['per_device_train_batch_size']}{several}"


def name_of(s):
    more = [f"{key}={x}" for key, x in {**s["fields"], **s.get("both", {})}.items()]
    more += [key for key in ("sampled", "tools", "unscored") if s.get(key)] + ([] if s.get("loss", True) else ["advantages only"])
    other = "itself" if s["options"] is None else "TRL " + " ".join(f"{key}={x}" for key, x in s["options"].items())
    return f"{s['row']} {' '.join(more)} [{words(s['ours'])}] and {other} [{words(s['theirs'])}]"


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        import trl_loss
        trl_loss.tiny(folder, WORDS)
        return run(arguments, folder)


def run(arguments, folder):
    passed = failed = 0
    for scenario in SCENARIOS:
        name = name_of(scenario)
        if arguments and not all(word in name for word in arguments):
            continue
        distance, losses, clipped = compared({**scenario, "folder": folder})
        if scenario["equal"]:
            apart, good = max(distance), all(x < NEAR * GROWTH ** k for k, x in enumerate(distance)) and losses < NEAR * GROWTH ** STEPS
        else:                                                           # later steps are of other weights
            apart, good = distance[0], distance[0] > 100 * NEAR
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok' if good else 'FAIL'} {name}: gradients {apart:.1g} apart, losses {losses:.1g}, {100 * clipped:.0f} % clipped",
              flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
