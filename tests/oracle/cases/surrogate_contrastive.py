"""The surrogate as a function of a group: the contrastive loss."""
from cases.bases import NEG, kind, only, unlikely_response
from cases.table import cases_of
from objectives import changed, plain
from scenarios import placed

case = cases_of("choices-surrogate-contrastive")

MEAN = changed(plain(), ratio={"level": "sequence_mean"}, aggregation={"kind": "group_mean"})
SCORES = changed(MEAN, ratio={"behaviour": "none"})
CONTRASTIVE = kind("contrastive", contrast_temperature=0.75, contrast_margin=0.125)
OF = changed(MEAN, **CONTRASTIVE)

# two positive responses against three, of different lengths; one against one; only positive ones; only negative ones
D = (0.5,), (-0.25, 0.75, 0.5, 1), (1.5, -1), (-0.75,), (0.25, -0.5), (-0.5, 0.25), (1,), (0.125,), (0.5, -1), (0.75,)
A = 1, 0.5, -0.5, 0, -1, -1, 2, 0.25, -0.5, 0
teams = only((5, 2, 1, 2), 1101, D, [[a] * len(d) for a, d in zip(A, D)], mask={(1, 1), (9, 0)})
first = only((3,), 1102, ((0.5, -0.25), (-1, 0.25), (0.75, -0.25)), ((1, -1), (-0.5, 2), (0, 1.5)), mask={(1, 1)})
case("contrastive", "responses with A > 0 against those with A <= 0, not against each other; a group of one side only adds 0",
     MEAN, CONTRASTIVE,
     teams)
case("contrastive-scores", "contrastive loss of mean log-probabilities instead of log-ratios (behaviour none), as in the paper",
     SCORES, CONTRASTIVE, teams)
for label, fields in (("cold", {"contrast_temperature": 0.0625}), ("warm", {"contrast_temperature": 10}),
                      ("no-margin", {"contrast_margin": 0}), ("margin", {"contrast_margin": 2}),
                      ("margin-below", {"contrast_margin": -0.75})):
    case(f"contrastive-{label}",
         f"contrastive loss of a group's scores, {', '.join(f'{name} = {value}' for name, value in fields.items())}",
         OF, {"surrogate": fields}, teams)
case("contrastive-first", "contrastive loss: the first counting token's advantage decides whether a response is positive or negative",
     MEAN, CONTRASTIVE, first)
case("contrastive-sum", "contrastive loss of summed log-ratios; gradient token: each token gets the derivative of its response's score", OF,
     {"ratio": {"level": "sequence_sum", "gradient": "token"}}, teams)
case("contrastive-ratio", "contrastive loss of the response's mean token ratio itself, not of its logarithm",
     changed(OF, ratio={"level": "sequence_mean_ratio"}),
     {"surrogate": {"group_score": "ratio"}}, teams)
case("contrastive-for-lse", "contrastive loss: the log of 1 plus a sum over negative responses, not discriminative_lse's bare soft maximum",
     changed(MEAN, surrogate={"kind": "discriminative_lse", "tau_neg": 0.75}),
     {"surrogate": {**CONTRASTIVE["surrogate"], "tau_neg": 0}}, teams)
case("contrastive-weighted", "rollout weights and unselected tokens change a response's weight in the contrastive loss, not its score",
     changed(OF, aggregation={"kind": "token_mean"}),
     {"weight": {"rollout_is": "truncate", "rollout_is_high": 1.25, "selected": "keep"}}, teams)
case("contrastive-far-800", "contrastive loss of scores 800 and 1600 apart: one negative response dominates, or none matters",
     MEAN, CONTRASTIVE,
     only((3, 3), 1103, ((800,), (-800, -800), (0.25,), (0.25,), (-800,), (-1600,)), ((-1,), (0.5, 0.5), (0.25,), (1,), (-0.5,), (0,))))
for label, policy, old, a in (("policy-bad", NEG, -1, -1), ("policy-good", NEG, -1, 1), ("old-bad", -1, NEG, -1)):
    case(f"contrastive-neginf-{label}",
         f"contrastive loss: {unlikely_response(a, (policy, old))}",
         MEAN, CONTRASTIVE,
         lambda o, policy=policy, old=old, a=a: placed(o, 1104, (3,), ((a,), (0.5, 0.5), (-0.25,)),
                                                       logp=((policy,), (-1.25, -0.5), (-0.75,)), logp_old=((old,), (-1.5, -0.25), (-1,))))
