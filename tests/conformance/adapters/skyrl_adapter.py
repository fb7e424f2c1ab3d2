"""SkyRL's own policy losses and advantage estimators, by the names under which users choose them (written for skyrl 0.4.0).

As in its trainer: advantages from compute_advantages_and_returns, divided by apply_loss_reduction_to_advantages_minibatch for the
whole batch of an optimiser step, then the registered policy loss as a sum over a micro-batch, times the number of ranks. A KL is added as
in worker.py: a mean over responses of token means, divided by the number of micro-batches.

ray and the packages' __init__ are replaced by stand-ins: the functions under test do not use them.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
from importlib.metadata import version

from options import Options, fields_of, last
from padded import PRECISIONS, answer_by, batch_of, logits_of, optimiser_step, part_of, ragged, rewards_at_end
from stand_ins import module_stand_in, names_stand_in, without_init

module_stand_in("ray", remote=lambda x: x, is_initialized=lambda: False)
without_init("skyrl", "skyrl.backends", "skyrl.backends.skyrl_train", "skyrl.backends.skyrl_train.utils", "skyrl.train")
names_stand_in("skyrl.train.config")  # its AlgorithmConfig is an annotation there
import torch
from skyrl.backends.skyrl_train.utils import ppo_utils as skyrl
from skyrl.backends.skyrl_train.utils.off_policy_correction_utils import masked_mean
from skyrl.backends.skyrl_train.utils.torch_utils import chunked_entropy_from_logits, logprobs_from_logits

SKYRL = Options("skyrl")
NAME = "trainer.algorithm."
CORRECTION = "trainer.algorithm.off_policy_correction."


class Config:
    """The options that were set, as attributes; other options are not there."""
    def __init__(self, options):
        for name, value in options.items():
            at, path = self, name.split(".")
            for part in path[:-1]:
                at.__dict__.setdefault(part, Config({}))
                at = getattr(at, part)
            setattr(at, path[-1], value)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


# ---- advantages

def advantages(o, b):
    a, r = o["advantage"], o["reward"]
    wanted(b.reward is not None, "no rewards")
    wanted(r["overlong"] == "none" and r["kl"] == "none", "no change of the rewards")
    wanted(a["std"] == "sample" or a["scale"] == "none", "sample std only")
    wanted(a["reweight"] == "none", "no gain")
    wanted(a["scale"] == "none" or a["eps"] in (0, {"group_std": 1e-6, "token_whiten": 1e-8}.get(a["scale"])),
           "the epsilon cannot be set to this value")
    same = {"advantage." + field: a[field] for field in ("baseline", "scale", "credit")}
    if a["credit"] == "gae" and a["scale"] == "none":
        same["advantage.scale"] = "token_whiten"  # GAE is always whitened
    options = SKYRL.of((NAME + "advantage_estimator", NAME + "grpo_norm_by_std"), same)
    wanted(options, "no estimator with baseline {baseline}, scale {scale}, credit {credit}".format(**a))
    wanted(a["credit"] != "gae" or b.value is not None, "no values")
    options = last(options)
    wanted(options["advantage_estimator"] != "rloo" or a["singleton"] == "zero", "rloo gives a response alone in its group the advantage 0")
    inside = torch.arange(b.logp.shape[1])[None] < torch.tensor(b.length)[:, None]  # of padding the critic has values 0
    values = None if b.value is None else torch.where(inside, b.value, 0)
    found = skyrl.compute_advantages_and_returns(
        rewards_at_end(b), b.mask.long(), b.group.numpy(), options["advantage_estimator"], Config({}), values=values,
        grpo_norm_by_std=options["grpo_norm_by_std"], gamma=a["gamma"], lambd=a["lambda"])[0]
    return torch.where(b.mask, found, 0)


# ---- loss

REDUCTIONS = {"token_mean": "token_mean", "seq_mean_token_mean": "sequence_mean", "seq_mean_constant": "seq_mean_token_sum_norm"}


def policy(o):
    """The options of the policy loss."""
    r, s, w, g = o["ratio"], o["surrogate"], o["weight"], o["aggregation"]
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    wanted((r["clamp_low"], r["clamp_high"]) in ((0, 0), (-20, 20)), "log-ratios are always clamped to +-20")
    wanted((float(r["level_clamp_low"]), float(r["level_clamp_high"])) in ((0, 0), (float("-inf"), 10)),
           "gspo always clamps its log-ratio to at most 10")
    wanted(g["kind"] in REDUCTIONS and g["empty_sequences"] == "keep", f"aggregation {g['kind']}, {g['empty_sequences']}")
    wanted(w["truncated"] == "keep", "truncated responses cannot be masked")
    same = {"ratio.level": r["level"], "surrogate.kind": s["kind"], "ratio.behaviour": "old"}
    options = SKYRL.of((NAME + "policy_loss_type",), same, fields_of(o, "ratio", "surrogate"))
    wanted(options, f"no surrogate {s['kind']} with ratio.level {r['level']}")
    options = {"off_policy_correction": Config({}), **{name[len(NAME):]: x for name, x in options.items()}}
    wanted(options["policy_loss_type"] not in ("clip_cov", "importance_sampling", "rollout_is", "dppo"), "no surrogate " + s["kind"])
    return Config({**options, **correction(w)})


def correction(w):
    if w["rollout_is"] == "none":
        return {}
    wanted(w["rollout_rejected"] == "zero_weight" and w["rollout_is"] == "truncate" and w["rollout_is_low"] == 0
           and w["rollout_is_level"] in ("token", "sequence_sum") and w["rollout_clamp"] in (0, 20),
           "rollout weights only by truncation, of tokens or of their product")
    level = "token" if w["rollout_is_level"] == "token" else "sequence"
    return {"off_policy_correction.tis_ratio_type": level,
            f"off_policy_correction.{level}_tis_ratio_clip_high": float(w["rollout_is_high"])}


def kl_type(p):
    if p["kl"] == "none":
        return None
    wanted(p["kl_importance_weight"] == "none" and (p["kl_gradient"] == "exact" or p["kl"] == "k2"),
           "only a KL without an importance ratio")
    wanted((p["kl_clamp_log"], p["kl_clamp_value"]) in ((0, 0), (20, 10)), "k3 clamped at 20 and 10")
    return p["kl"]


def divided(o, b):
    """The advantages of the whole batch of an optimiser step."""
    starts = [int((b.group == g).nonzero()[0]) for g in range(b.groups)] + [b.rows]
    return skyrl.apply_loss_reduction_to_advantages_minibatch(
        b.advantage, b.mask, REDUCTIONS[o["aggregation"]["kind"]], b.rows, o["aggregation"]["constant"] or None,
        list(zip(starts, starts[1:])))


def loss(o, b, advantage=None, ranks=1, weight=1):
    """The loss of a micro-batch. weight: the share of its rows in those of its rank, for its KL."""
    config, kl = policy(o), kl_type(o["penalty"])
    wanted(not kl or o["aggregation"]["kind"] == "seq_mean_token_mean", "the KL is always a mean over responses")
    if advantage is None:
        advantage = divided(o, b)
    mask, leaf = b.mask.to(b.logp.dtype), b.logp.clone().requires_grad_()
    function = skyrl.PolicyLossRegistry.get(config.policy_loss_type)
    value = function(leaf, b.logp_old, advantage, config, loss_mask=mask, rollout_logprobs=b.logp_rollout)[0] * ranks
    if kl:
        penalty = skyrl.compute_approx_kl(leaf, b.logp_ref, loss_mask=mask, kl_estimator_type=kl)
        value = value + o["penalty"]["kl_coef"] * masked_mean(penalty, mask, dim=-1).mean() * weight
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    policy(o)
    advantage = divided(o, batch_of(case, dtype))
    rows = [part_of(case, part)[1] for part in case["parts"]]
    on_rank = [sum(len(r) for r, part in zip(rows, case["parts"]) if part["rank"] == rank) for rank in range(case["ranks"])]
    wanted(o["penalty"]["kl"] == "none" or len(set(on_rank)) == 1, "the KL needs ranks with equally many responses")
    following = iter(rows)

    def of_part(part, rank):
        b, own = batch_of(part, dtype), next(following)
        return loss(o, b, advantage[own, :max(b.length)], case["ranks"], len(own) / on_rank[rank])

    return optimiser_step(case, of_part)


def log_probabilities(case, dtype):
    b = logits_of(case, dtype)
    tempered = b.logits / case["temperature"]
    return {"logp": ragged(logprobs_from_logits(tempered, b.target), b), "entropy": ragged(chunked_entropy_from_logits(tempered), b)}


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split, log_probabilities)


if __name__ == "__main__":
    serve("SkyRL", version("skyrl"), PRECISIONS, ["advantage", "loss", "dlogp", "logp", "entropy"], answer)
