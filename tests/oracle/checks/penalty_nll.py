"""The penalty: likelihoods of tokens, the KL to a teacher."""
import math

from axes.penalty import ESTIMATED
from checks.groups import A, LENGTHS, answers, batch_of
from checks.tools import near
from evaluate import evaluate
from objectives import changed, plain


def check_likelihood(check):
    score = changed(plain(), aggregation={"kind": "token_mean"})
    zero = [[0] * T for T in LENGTHS]

    def by(who, weight="none", **more):
        penalty = {"nll_on": who, "nll_coef": 0.25, "nll_weight": weight}
        return answers(changed(score, penalty=penalty), **{"advantage": zero, **more})
    a, b = by("all"), answers(score, advantage=[[0.25] * T for T in LENGTHS])
    check("the likelihood of all is the score function of A = coef", a["loss"] == b["loss"] and a["dlogp"] == b["dlogp"])
    given = [[a] * T for a, T in zip(A, LENGTHS)]
    check("right answers, good tokens and selected ones, where these are the same",
          by("correct")["dlogp"] == by("selected", nll_mask=[[a > 0 for a in row] for row in given])["dlogp"])
    check("their own number divides", near([sum(map(sum, by("correct")["dlogp"]))], [-0.25])
          and by("correct")["dlogp"] == [[-0.25 / 6] * T if a > 0 else [0] * T for a, T in zip(A, LENGTHS)])
    check("good tokens by their advantage", by("positive", advantage=given)["report"]["penalty_loss"] == by("correct")["loss"])
    for weight, phi in (("p", lambda p: p), ("p_one_minus_p", lambda p: p * (1 - p))):
        batch, found = batch_of(score), by("all", weight)
        check(f"CHORD's weights: {weight}", near([x for row in found["dlogp"] for x in row],
              [-0.25 * phi(math.exp(l)) / sum(LENGTHS) for row in batch["logp"] for l in row]))


def check_teacher(check):
    score = changed(plain(), aggregation={"kind": "token_mean"}, penalty={"kl": "k1", "kl_coef": 0.005, "kl_reference": "teacher"})
    batch = batch_of(score, advantage=[[0] * T for T in LENGTHS])
    pure = evaluate(changed(score, penalty={"kl_gradient": "detached", "kl_importance_weight": "token"}), batch)[0]
    by_hand = [-0.005 * math.exp(l - o) * (t - l) / sum(LENGTHS) for rows in zip(batch["logp"], batch["logp_old"], batch["logp_teacher"])
               for l, o, t in zip(*rows)]
    check("AReaL's pure distillation", near([x for row in pure["dlogp"] for x in row], by_hand)
          and near([pure["loss"]], [math.fsum(by_hand)]))
    joint = evaluate(score, batch)[0]
    check("beside a policy loss its derivative is one number", near([x for row in joint["dlogp"] for x in row],
                                                                    [0.005 / sum(LENGTHS)] * sum(LENGTHS)))
    check("K alone, detached, has none", not any(x for row in evaluate(changed(score, penalty={"kl_gradient": "detached"}),
        batch)[0]["dlogp"]
                                                 for x in row))
    for kl in ESTIMATED:
        to_ref = changed(score, penalty={"kl": kl, "kl_reference": "ref"})
        a = evaluate(to_ref, {**batch, "logp_ref": batch["logp_teacher"]})[0]
        check(f"the teacher is another reference: {kl}", a["dlogp"] == evaluate(changed(score, penalty={"kl": kl}), batch)[0]["dlogp"])


GROUPS = (check_likelihood, check_teacher)
