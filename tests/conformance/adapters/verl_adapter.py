"""verl's own policy losses, KL penalties, advantage estimators and rollout correction, written for verl 0.9.1 (requirements-no-deps.txt
pins it).

Called as in its trainer: rewards at the last token of a response, advantages from a registered estimator, and the loss by ppo_loss of
verl/workers/utils/losses.py, which the engine calls: it selects the policy loss by policy_loss.loss_mode, and adds the KL. Padding is 0 in
rewards and -1 in log-probabilities. What no option changes (log-ratios clamped to +-20, epsilons) is left as it is: a case without it has
the paper's objective, and the answer shows how verl differs from it.

ray is not installed: importing verl needs the name, the functions under test do not use it. Rows are already padded where ppo_loss pads.
"""
from protocol import serve, wanted  # first: it keeps standard output for the answers
import os
import types
from importlib.metadata import version

os.environ.setdefault("VERL_LOGGING_LEVEL", "ERROR")
from options import Options, fields_of, last
from padded import PRECISIONS, Rows, answer_by, batch_of, logits_of, optimiser_step, ragged
from stand_ins import module_stand_in, names_stand_in

try:
    import ray
except ImportError:
    module_stand_in("ray", ObjectRef=object)
names_stand_in("verl.utils.dataset.rl_dataset", "verl.utils.dataset.vision_utils")  # they need Pillow
import torch
from verl.trainer.ppo import core_algos as verl
from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_weights, compute_rollout_rejection_mask
from verl.utils.torch_functional import entropy_from_logits, logprobs_from_logits
from verl.workers.config import ActorConfig, PolicyLossConfig
from verl.workers.utils import losses

losses.no_padding_2_padding = lambda rows, data: rows

NO_DUAL_CLIP = 1e9  # clip_ratio_c cannot be switched off; above e^20, the largest ratio that verl lets through
SAFETY = 20  # the clamp of log-ratios
VERL = Options("verl")
ACTOR, CORRECTION = "actor_rollout_ref.actor.", "algorithm.rollout_correction."


# ---- advantages

def token_rewards(o, b):
    """The score at the last token that counts (or at the last token, if none counts), minus the KL in the reward."""
    r, rewards = o["reward"], torch.zeros_like(b.logp)
    for row, mask in enumerate(b.mask):
        places = torch.nonzero(mask)[:, 0]
        rewards[row, places[-1] if len(places) else b.length[row] - 1] = b.reward[row]
    if r["kl"] != "none":
        kind = last(VERL.of(("algorithm.kl_penalty",), {"reward.kl": r["kl"]}, **{"algorithm.use_kl_in_reward": True}))["kl_penalty"]
        rewards = rewards - r["kl_coef"] * torch.where(b.mask, verl.kl_penalty(b.logp_old, b.logp_ref, kind), 0)
    return rewards


EPS = {"group_std": 1e-6, "token_whiten": 1e-8}  # no option of the trainer reaches them


def estimator(a):
    """The options for these advantages. verl always whitens GAE, ReMax is an undiscounted return, and GPG counts rewards that are not
    0."""
    same = {"advantage." + field: a[field] for field in ("baseline", "scale", "credit", "reweight", "token_baseline")}
    same.update({"advantage.transform": "none", "advantage.rewards": "one"})
    if a["credit"] == "gae" and a["scale"] == "none":
        same["advantage.scale"] = "token_whiten"
    discount = a["gamma"]
    if (a["baseline"] == "external" or a["token_baseline"] != "none") and a["credit"] == "outcome":
        same["advantage.credit"], discount = "return", 1
    if a["reweight"] != "none":
        same["advantage.reweight"] = "nonzero_rewards"
    return VERL.of(("algorithm.adv_estimator", "algorithm.norm_adv_by_std_in_grpo"), same, {"advantage.gamma": discount,
                                                                                           "advantage.lambda": a["lambda"]})


def advantages(o, b):
    a, mask = o["advantage"], b.mask.long()
    wanted(b.reward is not None, "no rewards")
    wanted(o["reward"]["overlong"] == "none", "the overlong penalty is the reward manager's")
    wanted(a["std"] == "sample" or a["scale"] == "none", "sample std only")
    wanted(a["eps"] in (0, EPS.get(a["scale"], a["eps"])), "the epsilon cannot be set to this value")
    options = estimator(a)
    wanted(options or a["reweight"] == "none", "gain belongs to gpg")
    wanted(options, "no estimator with baseline {baseline}, scale {scale}, credit {credit}".format(**a))
    options = last(options)
    name = options["adv_estimator"]
    rewards = token_rewards(o, b)
    if name == "gae":
        result = verl.compute_gae_advantage_return(rewards, b.value, mask, a["gamma"], a["lambda"])[0]
    else:
        arrays = {"reward_baselines": b.baseline[b.group]} if name == "remax" else {"index": b.group.numpy()}
        if name == "grpo":
            arrays["norm_adv_by_std_in_grpo"] = options["norm_adv_by_std_in_grpo"]
        if name == "optimal_token_baseline":
            wanted(b.sum_pi_squared is not None, "no squared probabilities")
            wanted(a["credit"] == "outcome" or a["gamma"] == 1, "its returns are not discounted")
            arrays.update(old_log_probs=b.logp_old, sum_pi_squared=b.sum_pi_squared)
        config = types.SimpleNamespace(gamma=a["gamma"])
        result = verl.get_adv_estimator_fn(name)(token_level_rewards=rewards, response_mask=mask, config=config, **arrays)[0]
    return torch.where(b.mask, result, 0)  # GAE leaves numbers outside the mask; the losses mask them


# ---- rollout correction

def rollout_correction(w, b):
    """verl's weights (or None) and mask."""
    if w["rollout_is"] == "none":
        return None, b.mask
    wanted(w["rollout_clamp"] in (0, SAFETY), "log-ratios of the rollout are clamped to +-20")
    low, high = float(w["rollout_is_low"]), float(w["rollout_is_high"])
    band = f"{low!r}_{high!r}"
    same = {"weight.rollout_is": "truncate", "weight.rollout_is_level": w["rollout_is_level"]}
    weight = VERL.of((CORRECTION + "rollout_is", CORRECTION + "rollout_is_threshold"), same)
    log_ratio, mask, weights = b.logp_old - b.logp_rollout, b.mask, None
    if w["rollout_rejected"] == "unmask" and w["rollout_is"] != "truncate":
        wanted(0 < low and high < float("inf"), "rejection needs a lower and an upper bound")
        same = {"weight.rollout_rs": "ratio", "weight.rollout_rs_level": w["rollout_is_level"]}
        mode = last(VERL.of((CORRECTION + "rollout_rs",), same))["rollout_rs"]  # its bounds are those of the objective
        mask = compute_rollout_rejection_mask(log_ratio, b.mask.long(), mode, band)[0].bool()
    if w["rollout_is"] != "reject":
        wanted(weight, "no rollout weight of the mean log-ratio")
        wanted(w["rollout_is"] == "mask" or low == 0, "truncation has no lower bound")
        threshold = band if w["rollout_is"] == "mask" and w["rollout_rejected"] == "zero_weight" else high
        weights = compute_rollout_correction_weights(log_ratio, b.mask.long(), last(weight)["rollout_is"], threshold)[0]
    else:
        wanted(w["rollout_rejected"] == "unmask", "rejection changes the mask")
    return weights, mask


# ---- loss

def unclamped(low, high):
    return low == high == 0


def clamp_claimed(r):
    """Is the clamp the one that verl always applies, or absent?"""
    return unclamped(r["clamp_low"], r["clamp_high"]) or (r["clamp_low"], r["clamp_high"]) == (-SAFETY, SAFETY)


def policy_loss(o):
    """The name of the loss, and its options."""
    r, kind = o["ratio"], o["surrogate"]["kind"]
    if kind != "reinforce":
        check_ratio(o, r, kind)
    asked = {**fields_of(o, "ratio", "surrogate"), "ratio.level": "token" if kind == "reinforce" else r["level"]}
    if kind == "ppo_clip" and r["level"] == "token":
        asked.update({"surrogate.kind": "dual_clip", "surrogate.clip_dual": NO_DUAL_CLIP})
    same = {**{field: asked[field] for field in ("ratio.level", "surrogate.kind")}, "weight.trust": "none", "penalty.kl": "none"}
    options = VERL.of((ACTOR + "policy_loss.loss_mode",), same, asked)
    wanted(options, "no surrogate " + kind)
    wanted(kind != "sapo" or o["aggregation"]["kind"] == "seq_mean_token_mean", "sapo has only the mean over responses of token means")
    options = last(options)
    return options.pop("loss_mode"), options


def check_ratio(o, r, kind):
    wanted(r["behaviour"] == "old", "only ratios against old log-probabilities")
    if r["level"] == "sequence_mean":
        wanted(kind == "ppo_clip", "gspo: ppo_clip only")
        wanted(unclamped(r["clamp_low"], r["clamp_high"]), "gspo: the tokens' no clamp of log-ratios")
        bounds = (float(r["level_clamp_low"]), float(r["level_clamp_high"]))
        wanted(bounds in ((0, 0), (float("-inf"), 10)), "gspo: log-ratio clamped to at most 10")
        return
    wanted(unclamped(r["level_clamp_low"], r["level_clamp_high"]), "no clamp of the log-ratio after pooling")
    if r["level"] == "sequence_clipped_mean":
        wanted(kind == "ratio" and r["gradient"] == "full" and unclamped(r["clamp_low"], r["clamp_high"]),
               "geo_mean has only the clip before pooling")
        wanted((o["aggregation"]["kind"], o["aggregation"]["empty_sequences"]) == ("seq_mean_token_mean", "keep"),
               "geo_mean is always a mean over all responses")
        return
    wanted(r["level"] == "token", "ratio.level " + r["level"])
    wanted(clamp_claimed(r), "log-ratios are always clamped to +-20")


def kl_name(p):
    """The name of the KL penalty, None without one. verl always clamps k3."""
    if p["kl"] == "none":
        return None
    wanted(p["kl_importance_weight"] == "none", "only a KL without an importance ratio")
    clamps = (p["kl_clamp_log"], p["kl_clamp_value"])
    wanted(clamps == (0, 0) or p["kl"] == "k3" and clamps == (20, 10),
           "k3 is always clamped (log-ratio at 20, value at 10), other estimators never")
    gradient = "exact" if p["kl"] == "k2" else p["kl_gradient"]  # of k2 the two are the same
    same = {"penalty.kl": p["kl"], "penalty.kl_gradient": gradient}
    return last(VERL.of((ACTOR + "kl_loss_type",), same, **{ACTOR + "use_kl_loss": True}))["kl_loss_type"]


def batch_info(g, b, mask, ranks=None):
    """The engine's counts over all micro-batches and ranks. By default global_batch_size is the number of rows with tokens."""
    rows = b.rows if g["empty_sequences"] == "keep" else int(mask.any(-1).sum()) if ranks else None
    return {"dp_size": ranks or 1, "batch_num_tokens": int(mask.sum()), "global_batch_size": rows,
            "loss_scale_factor": g["constant"] or None}


def loss(o, b, info=None):
    wanted(o["weight"]["truncated"] == "keep" or not bool(b.truncated.any()), "truncated responses cannot be masked")
    mode = VERL.of((ACTOR + "loss_agg_mode",), {"aggregation.kind": o["aggregation"]["kind"]})
    wanted(mode, "aggregation " + o["aggregation"]["kind"])
    name, options = policy_loss(o)
    kl, mode = kl_name(o["penalty"]), last(mode)["loss_agg_mode"]
    weights, mask = rollout_correction(o["weight"], b)
    info = info or batch_info(o["aggregation"], b, mask)
    if kl:
        options.update(use_kl_loss=True, kl_loss_type=kl, kl_loss_coef=o["penalty"]["kl_coef"])
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, loss_agg_mode=mode,
                         policy_loss=PolicyLossConfig(loss_mode=name), loss_scale_factor=info["loss_scale_factor"], **options)
    leaf = b.logp.clone().requires_grad_()
    rows = {"response_mask": mask, "old_log_probs": b.logp_old if b.logp_old is not None else leaf.detach(), "advantages": b.advantage,
            "ref_log_prob": b.logp_ref, "rollout_is_weights": weights}
    value = losses.ppo_loss(config, {"log_probs": leaf}, Rows({**info, **{key: x for key, x in rows.items() if x is not None}}))[0]
    value.backward()
    return {"loss": value.item(), "dlogp": ragged(leaf.grad, b)}


def split(case, o, dtype):
    wanted(o["weight"]["rollout_rejected"] == "zero_weight", "counts before rejection")
    whole = batch_of(case, dtype)
    info = batch_info(o["aggregation"], whole, whole.mask, case["ranks"])
    return optimiser_step(case, lambda part, rank: loss(o, batch_of(part, dtype), info))


def log_probabilities(case, dtype):
    b = logits_of(case, dtype)
    tempered = b.logits / case["temperature"]
    return {"logp": ragged(logprobs_from_logits(tempered, b.target), b), "entropy": ragged(entropy_from_logits(tempered), b)}


def answer(case, dtype):
    return answer_by(case, dtype, advantages, loss, split, log_probabilities)


if __name__ == "__main__":
    serve("verl", version("verl"), PRECISIONS, ["advantage", "loss", "dlogp", "logp", "entropy"], answer,
          {"advantage": {"token_baseline": "none optimal_shared"}})
