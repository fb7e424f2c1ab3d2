"""NUM, LOGP-09: rounding, cancellation, overflow."""
import math


from attempt import naive_number, narrow
from autodiff import sg, value
from axes import advantage as advantage_axis
from axes import ratio as ratio_axis
from axes import report as report_axis
from limits import ZERO
from reals import mpf

from .table import both, corrected, defect, differs, has, of, option, rewards_judged, uses_ratio

LOSS = ("loss",)
MADE = ("advantage",)
scaled = both(rewards_judged, differs("advantage", "scale", "none"))


@defect("LOGP-09", lambda o, b: True, "ragged", "signs", "choices-penalty-kl_coef",
        seen="none known; Liger #1366 is about the opposite, scalars in binary64",
        shows="parameters that bfloat16 cannot represent, such as 0.04 and 0.2", stages=LOSS)
def parameters_rounded(a):
    """The scalar parameters are rounded to bfloat16 along with the tensors. Right: not rounded."""
    for axis in ("surrogate", "penalty"):
        for field, x in a.objective[axis].items():
            if not isinstance(x, str):
                a.objective[axis][field] = float(narrow("bf16", x))


@defect("NUM-02",
        both(of(uses_ratio), has("logp_old"), lambda o, b: not o["ratio"]["clamp_low"] == 0 == o["ratio"]["clamp_high"]),
        "extreme-50", "extreme-200", "choices-ratio-clamp",
        seen="OpenRLHF before 3a9815c5, verl since 2c85b4329", shows="log-ratios beyond the clamp", stages=LOSS)
def metric_saturates(a):
    """The logged KL is of the clamped log-ratio. Right: of the raw one."""
    def reported(found, entries, batch, objective):
        d = [value(ratio_axis.clamped(objective["ratio"], e.token)) for e in entries]
        found["approx_kl_k1"] = -sum(d, ZERO) / len(d) if d else ZERO
        found["approx_kl_k3"] = sum((report_axis.k3(x) for x in d), ZERO) / len(d) if d else ZERO
    a.reported(reported)


@defect("NUM-03", both(scaled, option("advantage", "eps_place", "add", "inside"), lambda o, b: o["advantage"]["eps"] > 0),
        "tiny-spread", "uneven", "choices-advantage-add-0.001",
        seen="outside: TRL, AReaL, ROLL; a bound inside: OpenRLHF; read in their code", shows="a deviation near the epsilon", stages=MADE)
def epsilon_elsewhere(a):
    """The epsilon is inside the root where it should be added outside, or outside where it should be inside. Right: as `eps_place`
    says."""
    a.choose("advantage", eps_place={"add": "inside", "inside": "add"}[a.objective["advantage"]["eps_place"]])


def naive_k3(x):
    try:
        return math.exp(x) - x - 1
    except OverflowError:
        return math.inf - x - 1


@defect("NUM-04", lambda o, b: "logp_old" in b or "logp_ref" in b, "neginf-both", "neginf-old-good", "neginf-policy-good",
        seen="ms-swift 7b8f04b60; TRL averages what is not NaN", shows="log-probabilities of -infinity", stages=LOSS)
def metrics_are_nan(a):
    """KL metrics of infinite log-ratios are infinity minus infinity. Right: the limit, as the contract defines it."""
    def numbers(key, places):
        return [float(naive_number(a.second[key][i][t])) for i, t in places]

    def answers(found):
        mask = a.second.get("mask") or [[True] * T for T in a.second["length"]]
        places = [(i, t) for i, row in enumerate(mask) for t, m in enumerate(row) if m]
        l = numbers("logp", places)
        for key, names in (("logp_old", (("approx_kl_k1", lambda x: -x), ("approx_kl_k3", naive_k3))),
                           ("logp_ref", (("kl_k1", lambda x: x), ("kl_k3", lambda x: naive_k3(-x))))):
            if key in a.second and places:
                d = [x - y for x, y in zip(l, numbers(key, places))]
                for name, f in names:
                    mean = sum(f(x) for x in d) / len(d)
                    if math.isnan(mean):
                        found["report"][name] = mean
    a.answered(answers, "report")


@defect("NUM-05", both(scaled, option("advantage", "scale", "group_std", "batch_std")), "offset-rewards", "tiny-spread",
        seen="verl 4ff3ce2fe, NeMo-RL, read in their code; NeMo-RL #4158, where the others agree and rounding divides",
        shows="rewards with a large offset", stages=MADE)
def one_pass_variance(a):
    """The variance is (sum r^2 - (sum r)^2 / n) / (n - 1) in binary32: it comes out 0 or negative, and the group is treated as constant.
    Right: two passes."""
    def f32(x):
        return narrow("f32", x)

    def variance(original, kind, values):
        if original(kind, values) is None:
            return None
        s1 = s2 = ZERO
        for v in values:
            s1, s2 = f32(s1 + v), f32(s2 + f32(v * v))
        n = len(values)
        v = f32(f32(s2 - f32(f32(s1 * s1) / n)) / (n - 1 if kind == "sample" else n))
        return v if v > 0 else None
    a.around(advantage_axis, "variance", variance)


@defect("NUM-06", both(rewards_judged, lambda o, b: "reward" in b and any(narrow("bf16", r) != r for r in b["reward"])),
        "offset-rewards", "tiny-spread", "choices-advantage-add-0.001",
        seen="OpenRLHF #620 (f34ef60a), tunix 7fb87c96", shows="rewards that bfloat16 cannot represent", stages=MADE)
def rewards_in_bf16(a):
    """Rewards are bfloat16 before they are centred. Right: float32 or wider."""
    a.first["reward"] = [float(narrow("bf16", r)) for r in a.first["reward"]]
    a.outputs = ("advantage",)


def needs_more_bits(o, b):
    return any(isinstance(x, (int, float)) and narrow("bf16", mpf(x)) != x for row in b.get("logp_rollout", ()) for x in row)


@defect("NUM-06a", both(of(corrected), needs_more_bits), "rollout", "ragged", "choices-weight-truncate-token-zero_weight",
        seen="slime before #245 (9a291fca7), Megatron-LM before #6044 (41ba4d94e9)",
        shows="log-probabilities of the sampler that bfloat16 cannot represent", stages=LOSS)
def rollout_in_bf16(a):
    """The sampler's log-probabilities are kept in bfloat16: a weight has an error of up to |log p| / 256. Right: float32 or wider."""
    a.second["logp_rollout"] = [[float(narrow("bf16", mpf(x))) if isinstance(x, (int, float)) else x for x in row]
                                for row in a.second["logp_rollout"]]


@defect("NUM-07", both(of(uses_ratio), option("ratio", "gradient", "token"), option("ratio", "level", "sequence_mean")),
        "fine", "near", "ragged",
        seen="verl #2775, before its review; OpenRLHF #1101, of a KL; SkyRL's comment warns of it",
        shows="large log-probabilities, a small mean log-ratio, 16-bit numbers",
        stages=LOSS)
def order_of_straight_through(a):
    """(sg[mean] + l) - sg[l] in bfloat16: the low bits of the mean are lost when l is added. Right: (l - sg[l]) + sg[mean]."""
    def lost(y, l):
        return narrow("bf16", narrow("bf16", value(y) + narrow("bf16", value(l))) - narrow("bf16", value(l)))

    def log_units(original, choice, tokens):
        return [y + (lost(y, t.l) - sg(y)) for y, t in zip(original(choice, tokens), tokens)]
    a.around(ratio_axis, "log_units", log_units)
