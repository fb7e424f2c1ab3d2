"""The preset rows: one published objective each, with every choice spelled out.

A row is written as its differences from `plain` (everything off, the sum of -r l). Where a paper writes a mean or a
standard deviation without saying more, the rows take the sample one without epsilon.
"""
import copy
import os

INF = "Infinity"
MINUS_INF = "-Infinity"


def plain():
    return {
        "reward": {"truncated": "keep", "truncated_factor": 0, "length": "none", "length_coef": 0, "length_max": 0,
                   "correct_low": 0, "correct_high": 0, "wrong_low": 0, "wrong_high": 0,
                   "overlong": "none", "overlong_max": 0, "overlong_cache": 0, "overlong_factor": 0,
                   "map": "none", "map_bias": 0, "map_factor": 0, "map_low": 0, "map_high": 0,
                   "kl": "none", "kl_coef": 0},
        "advantage": {"rewards": "one", "transform": "none", "pass_k": 0, "baseline": "none", "quantile": 0, "temperature": 0,
                      "window": 0, "process_noise": 0, "observation_noise": 0, "shift": 0,
                      "scale": "none", "std": "sample", "eps": 0, "eps_place": "add", "singleton": "zero",
                      "gain": "none", "gain_low": 0, "gain_high": 0, "gain_slope": 0, "gain_centre": 0, "length_power": 0,
                      "gain_temperature": 0, "gain_power": 0,
                      "second": "none", "second_eps": 0,
                      "credit": "outcome", "gamma": 0, "lambda": 0, "lambda_length": 0, "step_discount": "tokens",
                      "bootstrap": "zero", "truncated_tail": 0,
                      "step_value": "reward", "step_group": "prompt", "history": 0, "history_power": 0, "step_coef": 0,
                      "share_coef": 0, "share_eps": 0, "token_baseline": "none",
                      "entropy": "none", "entropy_coef": 0, "entropy_cap": 0, "teacher_coef": 0,
                      "teacher_gamma": 0, "teacher_norm": "none", "teacher_share": 0, "teacher_clip": 0,
                      "kl_centred_coef": 0, "marked": "none", "marked_value": 0,
                      "advantage_low": 0, "advantage_high": 0, "outside": "none", "outside_coef": 0},
        "ratio": {"against": "old", "clamp_low": 0, "clamp_high": 0, "unit": "token", "pool_low": 0, "pool_high": 0,
                  "unit_clamp_low": 0, "unit_clamp_high": 0, "gradient": "unit", "mix": "none", "mix_token": 0, "mix_unit": 0,
                  "power": 1},
        "surrogate": {"kind": "score", "bounds": "fixed", "eps_low": 0, "eps_high": 0, "bound_cap": 0, "dual": 0,
                      "dual_pos": 0, "weight_min": 0, "weight_max": 0, "tau_pos": 0, "tau_neg": 0, "k_pos": 0,
                      "lambda_pos": 0, "k_neg": 0, "lambda_neg": 0, "strength": 0, "beta_low": 0, "beta_high": 0, "margin": 0,
                      "score": "log", "length_rate": 0, "shift": 0, "weight_min_neg": 0, "weight_max_neg": 0, "shape": 0,
                      "log_low": 0, "log_high": 0, "log_dual": 0, "position_power": 0, "score_eps": 0},
        "penalty": {"kl": "none", "kl_against": "ref", "kl_on": "all", "kl_gradient": "own", "kl_ratio": "none",
                    "kl_ratio_max": 0, "kl_coef": 0, "kl_clamp_log": 0, "kl_clamp_value": 0, "entropy_coef": 0,
                    "likelihood_on": "none", "likelihood_coef": 0, "likelihood_weight": "none",
                    "likelihood_form": "logp", "likelihood_gain": 0, "likelihood_gate": "none",
                    "pairs": "none", "pair_coef": 0, "pair_margin": 0, "pair_beta": 0, "pair_score": "ref",
                    "pair_gain": 0},
        "weight": {"truncated": "keep", "correction": "none", "correction_low": 0, "correction_high": 0,
                   "correction_unit": "token", "correction_clamp": 0, "rejected": "zero_weight", "reject": "none",
                   "reject_unit": "token", "reject_low": 0, "reject_high": 0, "veto": 0, "correction_norm": "none",
                   "future": "none", "future_half_life": 0, "future_max": 0, "future_low": 0, "future_high": 0,
                   "future_safe": 0, "future_safe_low": 0, "future_safe_high": 0, "given": "none", "trust": "none",
                   "trust_low": 0, "trust_high": 0, "ring_low": 0, "ring_high": 0, "off_policy": "none",
                   "off_policy_max": 0, "selected": "all", "drift": "none", "drift_low": 0, "drift_high": 0},
        "aggregation": {"kind": "token_sum", "constant": 0, "power": 0, "empty": "count"},
    }


# Written even where it is the default: readers look for them.
ALWAYS = {("advantage", "baseline"), ("advantage", "scale"), ("ratio", "unit"), ("surrogate", "kind"), ("aggregation", "kind")}


def is_written(objective, axis, field):
    """Whatever its value? The one number whose default is not 0 is, where it is read: who fills in zeros is right as well."""
    return (axis, field) in ALWAYS or field == "power" and objective[axis].get("unit") == "sequence_power_mean"


def thinned(objective):
    """As the files have it: without the fields that have their defaults."""
    axes = {axis: {field: x for field, x in objective[axis].items() if x != default[field] or is_written(objective, axis, field)}
            for axis, default in plain().items()}
    return {axis: fields for axis, fields in axes.items() if fields}


def filled(thin):
    """The other way round."""
    return changed(plain(), **thin)


def changed(objective, **axes):
    """A copy with some fields of some axes replaced; a field that does not exist is an error."""
    result = copy.deepcopy(objective)
    for axis, fields in axes.items():
        for field, choice in fields.items():
            if field not in result[axis]:
                raise KeyError((axis, field))
            result[axis][field] = choice
    return result


# ---- pieces that several rows share

def ppo_clip(low, high):
    return {"kind": "ppo_clip", "eps_low": low, "eps_high": high}


def dual_clip(low, high, dual):
    return {"kind": "dual_clip", "eps_low": low, "eps_high": high, "dual": dual}


def cispo(low, high):
    return {"kind": "cispo", "weight_min": low, "weight_max": high}


def correction(kind, unit, low, high, rejected="zero_weight"):
    return {"correction": kind, "correction_unit": unit, "correction_low": low, "correction_high": high,
            "rejected": rejected}


GROUP_NORM = {"baseline": "group_mean", "scale": "group_std"}
GROUP_MEAN = {"baseline": "group_mean"}
CLAMP20 = {"clamp_low": -20, "clamp_high": 20}


def _rows():
    """{name: (paper, equations, summary, objective)}"""
    rows = {}

    def row(name, paper, equations, summary, base, **axes):
        rows[name] = (paper, equations, summary, changed(base, **axes))
        return rows[name][3]

    row("reinforce", "Williams 1992", "REINFORCE", "score function of the raw reward, no baseline", plain(),
        aggregation={"kind": "seq_mean_token_sum"})

    ppo = row("ppo", "1707.06347", "7, 11-12", "clipped token ratio, generalised advantage estimation from a critic", plain(),
              advantage={"credit": "gae", "gamma": 0.99, "lambda": 0.95}, surrogate=ppo_clip(0.2, 0.2),
              aggregation={"kind": "token_mean"})
    row("ppo-dual-clip", "1912.09729", "dual-clip objective", "PPO whose loss is bounded for bad actions too", ppo,
        surrogate=dual_clip(0.2, 0.2, 3))

    grpo = row("grpo", "2402.03300", "3-4", "group mean and deviation as baseline, KL k3 in the loss", plain(),
               advantage=GROUP_NORM, surrogate=ppo_clip(0.2, 0.2), penalty={"kl": "k3", "kl_coef": 0.04},
               aggregation={"kind": "seq_mean_token_mean"})
    row("grpo-process", "2402.03300", "3-4, section 4.1.3", "GRPO on step rewards, normalised together and summed to go", grpo,
        advantage={"credit": "step", "gamma": 1})
    grpo_no_kl = changed(grpo, penalty={"kl": "none", "kl_coef": 0})

    row("dr-grpo", "2503.20783", "objective of section 3", "no deviation, no length: a constant divides", grpo_no_kl,
        advantage={"scale": "none"}, aggregation={"kind": "seq_mean_constant", "constant": 3000})

    dapo_filter = row("dapo-filter", "2503.14476", "8-12", "DAPO with truncated responses left out instead of punished",
                      grpo_no_kl, surrogate=ppo_clip(0.2, 0.28), weight={"truncated": "mask"},
                      aggregation={"kind": "token_mean"})
    row("dapo", "2503.14476", "8-13", "clip higher, mean over all tokens, soft overlong punishment", dapo_filter,
        weight={"truncated": "keep"},
        reward={"overlong": "soft", "overlong_max": 20480, "overlong_cache": 4096, "overlong_factor": 1})

    row("rloo", "2402.14740", "leave-one-out estimator", "leave-one-out baseline, KL in the reward, whole responses", plain(),
        reward={"kl": "k1", "kl_coef": 0.05}, advantage={"baseline": "leave_one_out"},
        aggregation={"kind": "seq_mean_token_sum"})

    reinforce_pp = row("reinforce++", "2501.03262", "REINFORCE++",
                       "KL in the token rewards, whitened over the tokens of the batch",
                       plain(), reward={"kl": "k1", "kl_coef": 0.01},
                       advantage={"scale": "token_whiten", "credit": "return", "gamma": 1}, surrogate=ppo_clip(0.2, 0.2),
                       aggregation={"kind": "token_mean"})
    row("reinforce++-baseline", "2501.03262", "REINFORCE++ with baseline", "group mean, then whitened; KL k2 in the loss",
        reinforce_pp, reward={"kl": "none", "kl_coef": 0},
        advantage={"baseline": "group_mean", "credit": "outcome", "gamma": 0}, penalty={"kl": "k2", "kl_coef": 0.001})

    row("remax", "2310.10505", "ReMax estimator", "reward of the greedy response as baseline", plain(),
        advantage={"baseline": "given"}, aggregation={"kind": "seq_mean_token_sum"})

    row("opo", "2505.23585", "optimal baseline", "length-weighted mean as baseline", plain(),
        advantage={"baseline": "length_weighted"}, aggregation={"kind": "token_mean"})

    row("gpg", "2504.02546", "GPG objective", "group mean, scaled up for the groups that give no gradient", plain(),
        advantage={"baseline": "group_mean", "gain": "valid_groups"}, aggregation={"kind": "token_mean"})

    row("lite-ppo", "2508.08221", "Lite PPO", "group mean, deviation of the batch, mean over all tokens", grpo_no_kl,
        advantage={"scale": "batch_std"}, aggregation={"kind": "token_mean"})

    gspo = row("gspo", "2507.18071", "5-7", "one length-normalised ratio per response", grpo_no_kl,
               ratio={"unit": "sequence_mean"}, surrogate=ppo_clip(3e-4, 4e-4))
    row("gspo-token", "2507.18071", "13-17",
        "GSPO whose gradient stays at the token, for advantages that differ inside a response",
        gspo, ratio={"gradient": "token"})

    row("gmpo", "2507.20673", "GMPO objective", "geometric mean of token ratios, each clipped before", grpo_no_kl,
        ratio={"unit": "sequence_clipped_mean", "pool_low": 0.4, "pool_high": 0.4},
        surrogate={"kind": "ratio", "eps_low": 0, "eps_high": 0})

    row("cispo", "2506.13585", "4-5", "clips the weight and not the gradient", plain(),
        advantage=GROUP_NORM, surrogate=cispo(0, 5), aggregation={"kind": "token_mean"})

    row("sapo", "2511.20347", "5-7", "a sigmoid gate instead of a clip", plain(),
        advantage=GROUP_NORM, surrogate={"kind": "sapo", "tau_pos": 1, "tau_neg": 1.05},
        aggregation={"kind": "seq_mean_token_mean"})

    row("luspo", "2602.05261", "LUSPO objective", "GSPO with every response weighted by its length", gspo,
        surrogate=ppo_clip(2e-3, 2.5e-3), aggregation={"kind": "seq_mean_token_sum"})

    row("vespo", "2602.10693", "VESPO kernel", "smooth detached weight of the whole response's ratio", plain(),
        advantage=GROUP_NORM, ratio={"unit": "sequence_sum"},
        surrogate={"kind": "vespo", "k_pos": 2, "lambda_pos": 3, "k_neg": 3, "lambda_neg": 2},
        aggregation={"kind": "token_mean"})

    row("two-sided", "2505.07291", "two-sided clip", "GRPO with a second clip, against huge ratios of bad tokens", grpo,
        surrogate=dual_clip(0.2, 0.2, 4), penalty={"kl_coef": 0.001})

    row("grpo-unbiased-kl", "2512.02556", "unbiased KL estimate", "k3 times the ratio; no deviation", grpo,
        advantage={"scale": "none"}, penalty={"kl_ratio": "token", "kl_coef": 0.001})

    row("scalerl", "2510.13786", "ScaleRL objective", "CISPO against the sampling engine, mean per prompt", plain(),
        advantage={"baseline": "group_mean", "scale": "batch_centred_std"}, ratio={"against": "rollout"},
        surrogate=cispo(0, 5), aggregation={"kind": "group_mean_token_mean"})

    row("tis", "Yao et al. 2025", "min(v, 2), tokens", "rollout mismatch: token weights, truncated", grpo_no_kl,
        weight=correction("truncate", "token", 0, 2))
    row("tis-sequence", "Yao et al. 2025", "min(v, 2), responses", "rollout mismatch: response weights, truncated", grpo_no_kl,
        weight=correction("truncate", "sequence_sum", 0, 2))
    row("icepop", "2510.18855", "IcePop", "rollout mismatch: tokens outside the band weigh nothing", grpo_no_kl,
        weight=correction("mask", "token", 0.5, 5))
    row("mis-sequence", "Liu, Li et al. 2025", "v 1[0.5 <= v <= 2], responses", "rollout mismatch: responses outside the band weigh nothing",
        grpo_no_kl, weight=correction("mask", "sequence_sum", 0.5, 2))
    row("geo-reject", "verl", "1[0.999 <= v <= 1.001], geometric mean",
        "rollout mismatch: responses outside the band leave the batch",
        grpo_no_kl, weight=correction("reject", "sequence_mean", 0.999, 1.001, "unmask"))

    # ---- what libraries compute under the same names
    trl = row("trl-grpo", "2402.03300", "as TRL", "GRPO as TRL computes it: eps 1e-4 beside the deviation, no KL", grpo_no_kl,
              advantage={"eps": 1e-4})
    row("trl-dapo", "2503.14476", "as TRL", "DAPO loss as TRL computes it", trl, surrogate=ppo_clip(0.2, 0.28),
        aggregation={"kind": "token_mean"})
    row("trl-bnpo", "TRL", "as TRL", "TRL's loss_type bnpo: mean over the tokens of the batch", trl,
        aggregation={"kind": "token_mean"})
    row("trl-rloo", "2402.14740", "as TRL", "RLOO as TRL computes it: a clipped ratio of the whole response", grpo_no_kl,
        reward={"kl": "k1", "kl_coef": 0.05}, advantage={"baseline": "leave_one_out", "scale": "none"},
        ratio={"unit": "sequence_sum"})
    verl_norm = {**GROUP_NORM, "eps": 1e-6, "singleton": "raw"}
    row("verl-grpo", "2402.03300", "as verl", "GRPO as verl computes it: dual clip, bounded log-ratio, mean over tokens", plain(),
        advantage=verl_norm, ratio=CLAMP20, surrogate=dual_clip(0.2, 0.2, 3),
        aggregation={"kind": "token_mean"})
    row("verl-gspo", "2507.18071", "as verl", "GSPO as verl computes it: GSPO-token, log-ratio at most 10", plain(),
        advantage=verl_norm,
        ratio={"unit": "sequence_mean", "gradient": "token", "unit_clamp_low": MINUS_INF, "unit_clamp_high": 10},
        surrogate=ppo_clip(3e-4, 4e-4), aggregation={"kind": "seq_mean_token_mean", "empty": "skip"})
    row("verl-cispo", "2506.13585", "as verl", "CISPO as verl computes it: weight in 0.8..1.2", plain(),
        advantage=verl_norm, ratio=CLAMP20, surrogate=cispo(0.8, 1.2), aggregation={"kind": "token_mean"})
    row("verl-reinforce++", "2501.03262", "as verl", "REINFORCE++ as verl computes it: eps 1e-8 inside the root", plain(),
        advantage={"scale": "token_whiten", "eps": 1e-8, "eps_place": "inside", "credit": "return", "gamma": 1},
        ratio=CLAMP20, surrogate=dual_clip(0.2, 0.2, 3), aggregation={"kind": "token_mean"})
    return rows


def setting(text):
    path, value = text.split("=")
    return path.split("."), value if value[0].isalpha() or value == MINUS_INF else float(value) if "." in value or "e" in value else int(value)


def _brief_rows():
    """rows.txt, a row a line: name | paper | equations | summary | its settings."""
    rows = {}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.txt"), encoding="ascii") as f:
        for line in f:
            name, paper, equations, summary, settings = line.rstrip("\n").split(" | ")
            axes = {}
            for (axis, field), value in map(setting, settings.split()):
                axes.setdefault(axis, {})[field] = value
            rows[name] = (paper, equations, summary, changed(plain(), **axes))
    return rows


BRIEF_ROWS = _brief_rows()
ROWS = {**_rows(), **BRIEF_ROWS}
# rows about steps, sets of responses and tokens, and found late: what is new in them stands in choices-steps, -shaping and -found
SHORT_ROWS = ("gigpo", "gigpo-mean", "roll-gigpo", "step-reinforce", "hgpo", "nemo-gdpo", "verl-gdpo", "verl-otb", "bnpo", "pkpo-max",
              "pkpo-gain", "gtpo", "hicra",
              "cfpo", "up-grpo", "gift", "tpo", "click", "minirl", "mirror-descent", "dapo-zv", "dgpo", "f-grpo", "apmpo", "reg-grpo")
# what is new in these stands in choices-scores, -credit and -found
SHORTEST_ROWS = ("disco-b", "disco", "disco-ratio", "drpo", "dno", "dmpo", "dmpo-js", "vpd", "dispo", "bgpo", "ctpo", "ctpo-geomean",
                 "guide-grpo", "llds", "sdar", "rlsd", "igpo", "tempo", "red-drop", "temp-samp", "gtpo-conf", "t-ppo", "rank-grpo", "minillm", "mt-guide")
# what frameworks compute: their paper is no arXiv number, or their name says so
FRAMEWORK_ROWS = [name for name, row in ROWS.items()
                  if name.startswith(("trl-", "verl-")) or name in BRIEF_ROWS and not row[0][0].isdigit()]


def objective(name):
    return copy.deepcopy(ROWS[name][3])
