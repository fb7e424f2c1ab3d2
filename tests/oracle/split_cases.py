"""The cases of the kind `split`: a step in micro-batches and ranks."""
from objectives import changed, objective
from scenarios import finish, full, like

GROUPS, LENGTHS = (2, 2, 1, 3, 2), (3, 1, 2, 4, 2, 1, 5, 2, 3, 1)
A = (1, -0.5, 0.25, -1.25, 0.75, 1.5, -0.75, 0.5, -0.25, 1.25)

SPLITS = []  # (label, comment, objective, batch, parts, ranks)


def split(label, name, comment, ranks, mask=None, reward=None, **axes):
    """ranks: the micro-batches of each rank, as lists of groups; axes: what differs from the row."""
    o = changed(objective(name), **axes)
    batch = full(o, GROUPS, LENGTHS, 301 + len(SPLITS), mask=mask, reward=reward)
    batch["advantage"] = like(LENGTHS, lambda i, t: A[i])
    parts = [{"rank": r, "groups": groups} for r, micro in enumerate(ranks) for groups in micro]
    SPLITS.append((label, comment, o, finish(o, batch), parts, len(ranks)))


ONE_RANK = [[[0], [1, 2], [3, 4]]]
TWO_RANKS = [[[0], [1]], [[2, 3], [4]]]
EMPTY = {(4, 0), (4, 1)}  # the only response of group 2

HIGHER = {"eps_high": 0.28}  # the clip of DAPO with a mean over tokens

split("dapo", "trl-bnpo", "mean over the tokens of the whole step, three micro-batches on one rank", ONE_RANK, surrogate=HIGHER)
split("dapo-even", "trl-bnpo", "mean over the tokens of the whole step, two micro-batches on one rank",
      [[[0, 1], [2, 3, 4]]], surrogate=HIGHER)
split("dapo-ranks", "trl-bnpo", "mean over the tokens of the whole step, two ranks with two micro-batches each",
      TWO_RANKS, surrogate=HIGHER)
split("dapo-ragged-ranks", "trl-bnpo", "mean over the tokens of the whole step, three ranks with one, two and one micro-batches",
      [[[0, 1]], [[2], [3]], [[4]]], surrogate=HIGHER)
split("dapo-whole", "trl-bnpo", "one micro-batch on one rank: nothing is split", [[[0, 1, 2, 3, 4]]], surrogate=HIGHER)
split("dapo-empty", "trl-bnpo", "mean over the tokens of the whole step; all tokens of one micro-batch are masked",
      [[[0, 1], [2], [3, 4]]], EMPTY, surrogate=HIGHER)
split("grpo", "grpo", "mean over the responses of the whole step, with a KL, three micro-batches", ONE_RANK)
split("grpo-ranks", "grpo", "mean over the responses of the whole step, with a KL, two ranks", TWO_RANKS)
split("grpo-empty", "grpo", "a fully masked response alone on its rank: it counts in the number of responses",
      [[[0, 1], [3, 4]], [[2]]], EMPTY)
split("gspo", "gspo", "one ratio per response, mean over the responses of the whole step, three micro-batches", ONE_RANK)
split("gspo-ranks", "gspo", "one ratio per response, mean over the responses of the whole step, two ranks", TWO_RANKS)
split("dr-grpo", "dr-grpo", "token sums divided by a constant and by the responses of the whole step, three micro-batches", ONE_RANK)
split("dr-grpo-ranks", "dr-grpo", "token sums divided by a constant and by the responses of the whole step, two ranks", TWO_RANKS)
split("luspo-ranks", "luspo", "token sums divided by the number of responses of the whole step, two ranks", TWO_RANKS)
split("scalerl", "scalerl", "mean over prompts, three micro-batches of one, two and two prompts", ONE_RANK)
split("verl-gspo-empty", "verl-gspo", "a fully masked response does not count in the number of responses",
      [[[0], [1, 2]], [[3, 4]]], EMPTY)
split("own-ranks", "oreal", "means by the sign of A, a likelihood term and pairs: the divisor of each is that of the whole step",
      TWO_RANKS,
      penalty={"nll_on": "correct", "preference": "pairwise", "preference_coef": 0.5, "preference_beta": 0.5, "preference_min_gap": 0.25,
               "preference_score": "reference_free"})
split("gvpo", "gvpo", "a surrogate over whole groups, mean over prompts, three micro-batches", ONE_RANK)
split("vpd-ranks", "vpd", "means over responses with A > 0 and over all others: both divisors are those of the whole step",
      TWO_RANKS, EMPTY)
split("dapo-zv", "dapo-zv", "the divisor is the number of tokens of prompts whose rewards vary, in the whole step", TWO_RANKS,
      reward=(1, 0, 0.5, 0.5, 1, 0, 1, 1, -1, -1))
split("trpa-ranks", "trpa", "all preference pairs of the step are in one micro-batch: the others contribute nothing", TWO_RANKS,
      reward=(0, 0, 1, -1, 1, 0, 0, 0, 1, 1))
split("trpa-signs", "trpa", "no preference pair in the step: a term for every response, divided by those with unmasked tokens",
      TWO_RANKS, EMPTY, reward=(1, 1, 0, 0, 1, -1, -1, -1, 1, 1))
split("kl-tokens", "grpo", "a KL averaged over the step's tokens beside a loss averaged over responses, two ranks",
      TWO_RANKS, EMPTY, penalty={"kl_aggregation": "token_mean"})
split("kl-responses", "trl-bnpo", "a KL averaged over the step's responses beside a loss averaged over tokens, three micro-batches",
      ONE_RANK, EMPTY,
      surrogate=HIGHER, penalty={"kl": "k3", "kl_coef": 0.25, "kl_aggregation": "seq_mean_token_mean", "entropy_coef": 0.125,
               "entropy_aggregation": "token_mean"})
split("selected", "high-entropy", "the divisor is the number of selected tokens of each prompt, three micro-batches", ONE_RANK)
split("selected-ranks", "high-entropy", "the divisor is the number of selected tokens of the whole step, two ranks",
      TWO_RANKS, EMPTY, aggregation={"kind": "token_mean"})
split("selected-gspo", "gspo", "one ratio per response over its selected tokens; a response without any counts in the divisor", TWO_RANKS,
      weight={"selected": "only"})
