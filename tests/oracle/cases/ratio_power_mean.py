"""The ratio: the power mean of a response's clipped ratios."""
from cases.table import cases_of
from cases.bases import NEG, kind, only
from objectives import changed, plain
from scenarios import placed

case = cases_of("choices-ratio-power-mean")

RATIO = changed(plain(), **kind("ratio"), aggregation={"kind": "seq_mean_token_mean"})
POOL = {"token_clip_low": 0.25, "token_clip_high": 0.1875}
CLIPPED = changed(RATIO, ratio={"level": "sequence_clipped_mean", **POOL})
POWER = changed(CLIPPED, ratio={"level": "sequence_power_mean", "power": 2})
UNBOUNDED = changed(POWER, ratio={"token_clip_low": 1024, "token_clip_high": 1024})

# beyond, between the bounds; advantages of both signs inside a response, and 0
walk = only((2, 1), 941, ((0.5, -0.5, 0.125, -0.125), (-0.75, 0.0625, 0.75), (-0.1875, 0.5)),
            ((1, 0.5, 1, -0.75), (-1, -0.5, -1.25), (0, 0.25)), mask={(1, 1)})
wide = only((2,), 942, ((3, -2, 2.5), (-1, 0.5)), ((1, 1, 1), (-0.5, -0.5)))
far = only((2,), 943, ((800, -800, 799.5), (-800, -798)), ((1, 1, 1), (-0.5, -0.5)))

case("power_mean", "the response's ratio is the power mean (p = 2) of token ratios, each clipped on the side that its own A chooses",
     CLIPPED,
     {"ratio": {"level": "sequence_power_mean", "power": 2}}, walk)
case("power_mean-1", "power mean of clipped token ratios with p = 1: their arithmetic mean", POWER, {"ratio": {"power": 1}}, walk)
case("power_mean-0.001", "power mean of clipped token ratios with p = 2^-10: nearly the geometric mean, e^(p x) is barely above 1",
     POWER, {"ratio": {"power": 2 ** -10}}, walk)
case("power_mean-16", "power mean of token ratios with p = 16: nearly the largest ratio of the response",
     UNBOUNDED, {"ratio": {"power": 16}}, wide)
case("power_mean-far-800", "power mean with p = 16 and log-ratios of 800: e^12800 overflows every format, the mean's logarithm does not",
     changed(UNBOUNDED, **kind("log_ratio")),
     {"ratio": {"power": 16}}, far)
case("power_mean-token", "power mean, gradient token: a token's derivative is that of its own log-ratio, 0 where it is clipped", POWER,
     {"ratio": {"gradient": "token"}}, walk)
case("power_mean-mix", "geometric mixture of the response's power mean and the token's own ratio, which is not clipped", POWER,
     {"ratio": {"interpolate": "geometric", "interpolate_token": 0.25, "interpolate_level": 0.5}}, walk)


def never(logp, old, a):
    return lambda o: placed(o, 944, (len(logp),), a, logp=logp, logp_old=old)


case("power_mean-neginf-policy", "power mean, policy probability 0: ratio 0 where A > 0, the lower clip bound where A < 0", POWER,
     {"ratio": {"power": 0.5}}, never(((NEG, -1), (NEG, -0.5), (NEG, NEG)), ((-0.5, -1.125), (-1, -0.75), (-1, -2)),
                                      ((1, 1), (-0.5, -0.5), (0.25, 0.25))))
case("power_mean-neginf-old", "power mean, old probability 0: an infinite ratio is the upper clip bound where A > 0, infinite where A < 0",
     POWER,
     {"ratio": {"power": 0.5}}, never(((-0.5, -1), (-1.25,)), ((NEG, -0.9375), (NEG,)), ((1, 1), (-0.5,))))
