"""OpenRLHF's own losses and advantages, written for openrlhf 0.11.2 (requirements-no-deps.txt pins it).

PolicyLoss, compute_approx_kl and aggregate_loss combined as in openrlhf/trainer/ray/ppo_actor.py (loss + coefficient * KL, the KL
always a token mean), with the counts of get_loss_batch_info; advantages from RemoteExperienceMaker.compute_advantages_and_returns on an
object without its __init__.

ray, deepspeed and the packages' __init__ are replaced by stand-ins: importing needs them, the functions under test do not use them.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
import importlib.util
import sys
import types
from importlib.metadata import version

from options import Options, fields_of
from padded import PRECISIONS, accumulation_steps, answer_by, batch_of, logits_of, optimiser_step, part_of, ragged
from stand_ins import module_stand_in

for name in ("ray", "deepspeed"):
    if name not in sys.modules and importlib.util.find_spec(name) is None:
        module_stand_in(name)
ROOT = importlib.util.find_spec("openrlhf").submodule_search_locations[0]
for name in ("models", "utils", "trainer", "trainer.ray", "trainer.ppo_utils"):
    module_stand_in("openrlhf." + name, __path__=[ROOT + "/" + name.replace(".", "/")])
module_stand_in("openrlhf.trainer.ray.launcher", RayActorGroup=object)
module_stand_in("openrlhf.utils.utils", zero_pad_sequences=None)

import torch
from openrlhf.models.loss import PolicyLoss, aggregate_loss
from openrlhf.models.utils import compute_approx_kl, log_probs_from_logits
from openrlhf.trainer.ppo_utils.experience import Experience
from openrlhf.trainer.ppo_utils.experience_maker import RemoteExperienceMaker
from openrlhf.utils.loss_utils import _optimizer_step_loss_norm, get_loss_batch_info

OPENRLHF = Options("openrlhf")
ADVANTAGE = "algo.advantage."
SAFETY = 20  # PolicyLoss clamps log-ratios


# ---- advantages

def estimator(a, r):
    """The options for these advantages. The framework always whitens GAE; a reward less its baseline is an undiscounted return."""
    same = {"advantage." + field: a[field] for field in ("baseline", "scale", "credit")}
    if a["credit"] == "gae" and a["scale"] == "none":
        same["advantage.scale"] = "token_whiten"
    if a["baseline"] != "none":
        if a["credit"] != "outcome":
            return None
        same["advantage.credit"] = "return"
    return OPENRLHF.of((ADVANTAGE + "estimator",), same, fields_of({"advantage": a, "reward": r}, "advantage", "reward"))


def experience_of(b, kl):
    return Experience(action_mask=b.mask, kl=kl, rewards=b.reward.clone(), values=b.value, response_length=torch.tensor(b.length),
                      index=list(range(b.rows)), info={})


def advantages(o, b):
    a, r = o["advantage"], o["reward"]
    wanted(b.reward is not None, "no rewards")
    options = estimator(a, r)
    wanted(options and a["reweight"] == "none",
           "no estimator with baseline {baseline}, scale {scale}, credit {credit}, reweight {reweight}".format(**a))
    grouped = a["baseline"] != "none"
    wanted(a["std"] == "sample" or a["scale"] in ("none", "token_whiten"), "sample std only")
    wanted(a["eps"] == 0 or (a["scale"], a["eps"], a["eps_place"]) == ("token_whiten", 1e-8, "floor"),
           "the epsilon cannot be set to this value")
    wanted(not grouped or len(set(b.group_size.tolist())) == 1 and b.group_size[0] > 1,
           "n_samples_per_prompt: groups of one size, at least 2")
    wanted(r["overlong"] in ("none", "soft"), "overlong penalty: soft only")
    wanted(r["kl"] in ("none", "k1", "k2", "k3"), "no KL estimator " + r["kl"])
    wanted(a["credit"] != "gae" or b.value is not None, "no values")
    kl = torch.zeros_like(b.logp)
    if r["kl"] != "none":
        kl = compute_approx_kl(b.logp_old, b.logp_ref, kl_estimator=kl_estimator("reward", r["kl"], False))
    maker = maker_of(options, int(b.group_size[0]) if grouped else 1, r["overlong_max"])
    return torch.where(b.mask, maker.compute_advantages_and_returns([experience_of(b, kl)])[0].advantages, 0)


def kl_estimator(axis, kl, in_loss):
    name = "algo.kl.estimator"
    return OPENRLHF.of((name,), {axis + ".kl": kl}, **{"algo.kl.use_loss": in_loss})[name]


def maker_of(c, samples, max_new_tokens=0):
    """The experience maker, from the options of the command line."""
    space, maker = types.SimpleNamespace, object.__new__(RemoteExperienceMaker)
    advantage = space(estimator=c[ADVANTAGE + "estimator"], gamma=c.get(ADVANTAGE + "gamma", 1), lambd=c.get(ADVANTAGE + "lambd", 1),
                      no_std_norm=c.get(ADVANTAGE + "no_std_norm", False))
    reward = space(clip_range=c.get("reward.clip_range"), overlong_buffer_len=c.get("reward.overlong_buffer_len"),
                   overlong_penalty_factor=c.get("reward.overlong_penalty_factor", 1),
                   stop_properly_penalty_coef=c.get("reward.stop_properly_penalty_coef"))
    rollout = space(n_samples_per_prompt=samples, max_new_tokens=max_new_tokens)
    maker.strategy = space(args=space(rollout=rollout, reward=reward, algo=space(advantage=advantage)))
    maker.advantage_estimator, maker.kl_ctl = advantage.estimator, space(value=c.get("algo.kl.init_coef", 0))
    return maker


# ---- loss

def rule_of(c):
    """The policy loss, constructed from the options of the command line as in ppo_actor.py."""
    low, high = c["actor.eps_clip_low_high"] or (c["actor.eps_clip"],) * 2
    correction = {f"is_correction_{name}": c[ADVANTAGE + "is_correction_" + name] for name in ("level", "mode", "gating", "threshold")
                  if ADVANTAGE + "is_correction_" + name in c}
    return PolicyLoss(clip_eps_low=low, clip_eps_high=high, dual_clip=c["actor.dual_clip"],
                      token_level_loss=c["actor.loss_agg_mode"] == "token-mean", policy_loss_type=c["actor.policy_loss_type"], **correction)


def policy(o):
    r, s, g, w = o["ratio"], o["surrogate"], o["aggregation"], o["weight"]
    wanted(s["kind"] in ("ppo_clip", "dual_clip"), "no surrogate " + s["kind"])
    wanted(r["level_clamp_low"] == r["level_clamp_high"] == 0, "no clamp of the log-ratio after pooling")
    wanted(g["kind"] in ("token_mean", "seq_mean_token_mean"), "aggregation " + g["kind"])
    wanted(w["truncated"] == "keep", "truncated responses cannot be masked")
    if r["level"] == "sequence_mean":
        wanted(r["gradient"] == "full", "no GSPO-token")
        wanted(g["kind"] == "seq_mean_token_mean", "gspo has only the mean over responses of token means")
        wanted(r["clamp_low"] == r["clamp_high"] == 0 and w["rollout_is"] == "none", "gspo: no clamp, no rollout weight")
    else:
        wanted(r["level"] == "token" and r["behaviour"] == "old", f"ratio of {r['level']} against {r['behaviour']}")
        wanted((r["clamp_low"], r["clamp_high"]) in ((0, 0), (-SAFETY, SAFETY)), "log-ratios are always clamped to +-20")
    if w["rollout_is"] != "none":
        wanted(w["rollout_is_level"] == "token" and w["rollout_rejected"] == "zero_weight" and w["rollout_clamp"] == 0,
               "rollout weights only of tokens, without rejecting them")
        wanted(w["rollout_is"] in ("truncate", "mask"), "rollout weights: clip or mask")
    names = ("actor.policy_loss_type", "actor.loss_agg_mode", "actor.dual_clip", ADVANTAGE + "is_correction_level",
             ADVANTAGE + "is_correction_mode")
    same = ("ratio.level", "ratio.behaviour", "surrogate.kind", "aggregation.kind", "weight.rollout_is")
    asked = fields_of(o, "ratio", "surrogate", "aggregation", "weight")
    return rule_of(OPENRLHF.of(names, {field: asked[field] for field in same}, asked))


def kl_of(p, leaf, b):
    wanted(p["kl"] in ("k1", "k2", "k3") and p["kl_importance_weight"] == "none", "KL: k1, k2 or k3, without a ratio")
    wanted(p["kl_clamp_log"] == 0 and p["kl_clamp_value"] in (0, 10), "the KL is always clamped at +-10")
    straight = p["kl_gradient"] == "straight_through_k2" and p["kl"] != "k2"
    return compute_approx_kl(leaf, b.logp_ref, kl_estimator=kl_estimator("penalty", p["kl"], True), unbiased_gradient=straight)


def loss(o, b, info=None):
    rule, info = policy(o), info or get_loss_batch_info(None, b.mask)
    leaf = b.logp.clone().requires_grad_()
    value = rule(leaf, b.logp_old, b.advantage, action_mask=b.mask, rollout_log_probs=b.logp_rollout, **info)[0]
    if o["penalty"]["kl"] != "none":
        value = value + o["penalty"]["kl_coef"] * aggregate_loss(kl_of(o["penalty"], leaf, b), b.mask, **info)
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    """With the counts of one optimiser step; DeepSpeed divides each micro-batch's loss by their number."""
    steps = accumulation_steps(case)
    masks = [batch_of(part_of(case, part)[0], dtype).mask for part in case["parts"]]
    info = _optimizer_step_loss_norm(masks, None, case["ranks"], steps)

    def accumulated(part, rank):
        found = loss(o, batch_of(part, dtype), info)
        return {"loss": found["loss"] / steps, "dlogp": [[x / steps for x in row] for row in found["dlogp"]]}

    return optimiser_step(case, accumulated)


def log_probabilities(case, dtype):
    """Log-probabilities, without the entropy, whose function is compiled for a device first."""
    b = logits_of(case, dtype)
    return {"logp": ragged(log_probs_from_logits(b.logits, b.target, temperature=case["temperature"]), b)}


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split, log_probabilities)


if __name__ == "__main__":
    serve("OpenRLHF", version("openrlhf"), PRECISIONS, ["advantage", "loss", "dlogp", "logp"], answer)
