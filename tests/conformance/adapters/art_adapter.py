"""ART's own loss, with the options of its train configuration (written for openpipe-art 0.5.23).

art.loss.loss_fn, which every backend of the package calls, with reduction mean. Only that file, the grouping it uses and its configuration
are loaded from the package. Its group_ids are those of responses: a mean of log-ratios "by group" is the mean of a response.
ART computes advantages elsewhere (art/preprocessing/tokenize.py), from trajectories: they are not tested here.
"""
from protocol import Skip, serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

from padded import PRECISIONS, answer_by, ragged
from stand_ins import names_stand_in, without_init

without_init("art", "art.utils")
names_stand_in("art.dev")
import torch
from art.loss import AlignedLossInputs, loss_fn

LEVELS = {"token": "token", "sequence_mean": "sequence"}
SAFETY = 20  # log-ratios are clamped to +-20


def policy(o):
    """The train configuration's options."""
    r, s, g, w = o["ratio"], o["surrogate"], o["aggregation"], o["weight"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted((r["clamp_low"], r["clamp_high"]) in ((0, 0), (-SAFETY, SAFETY)), "log-ratios are always clamped to +-20")
    wanted((r["level_clamp_low"], r["level_clamp_high"]) in ((0, 0), (-SAFETY, SAFETY)), "log-ratios are always clamped to +-20")
    wanted(r["level"] in LEVELS and r["gradient"] == "full", f"importance_sampling_level {r['level']}, {r['gradient']}")
    wanted(g["kind"] == "token_mean", "aggregation " + g["kind"])
    wanted(o["penalty"]["kl"] == "none", "no KL in the loss")
    wanted(w["truncated"] == "keep", "truncated responses cannot be masked")
    wanted(s["kind"] in ("ppo_clip", "cispo"), "no surrogate " + s["kind"])
    options = {"importance_sampling_level": LEVELS[r["level"]], "ppo": s["kind"] == "ppo_clip"}
    if s["kind"] == "ppo_clip":
        options.update(epsilon=s["eps_low"], epsilon_high=s["eps_high"])
    else:
        options.update(epsilon=1 - float(s["weight_min"]), epsilon_high=float(s["weight_max"]) - 1)
    if w["rollout_is"] != "none":
        wanted(w["rollout_is"] == "truncate" and w["rollout_is_level"] == "token" and w["rollout_is_low"] == w["rollout_clamp"] == 0,
               "rollout weights only by truncation of tokens")
        options["truncated_importance_sampling"] = float(w["rollout_is_high"])
    return options


def loss(o, b):
    options, leaf = policy(o), b.logp.clone().requires_grad_()
    rows = torch.arange(1, b.rows + 1)[:, None].expand_as(leaf)
    inputs = AlignedLossInputs(assistant_mask=b.mask, old_logprobs=b.logp_old, advantages=b.advantage, weights=torch.ones_like(leaf),
                               group_ids=rows, original_logprobs=b.logp_rollout)
    value = loss_fn(inputs, leaf, None, None, options).policy_loss
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def no_advantages(o, b):
    raise Skip("advantages are computed from trajectories, outside the loss")


def answer(case, dtype):
    return answer_by(case, dtype, no_advantages, loss)


if __name__ == "__main__":
    serve("ART", version("openpipe-art"), PRECISIONS, ["loss", "dlogp"], answer)
