"""Aggregation: the coefficient c of a token, from the numbers of active tokens, sequences and groups."""

from axes.segments import apart
from limits import less, sign
from reals import mpf


class Totals:
    def __init__(self, choice, per_sequence, group_of, groups):
        """per_sequence: active tokens T_i; group_of: the group of each sequence."""
        self.T = per_sequence
        self.tokens = sum(per_sequence)
        self.group_tokens = [sum(T for T, h in zip(per_sequence, group_of) if h == g) for g in range(groups)]
        skip = choice["empty_sequences"] == "drop"
        self.N = sum(1 for T in per_sequence if T) if skip else len(per_sequence)
        self.groups = sum(1 for T in self.group_tokens if T) if skip else groups
        alive = [h for T, h in zip(per_sequence, group_of) if T or not skip]
        self.group_sequences = [alive.count(g) for g in range(groups)]  # G_g
        self.C = mpf(choice["constant"])
        self.power = mpf(choice["power"])


def token_sum(n, i, g):
    return mpf(1)


def token_mean(n, i, g):
    # DAPO (2503.14476) eq. 8
    return mpf(1) / n.tokens


def seq_mean_token_mean(n, i, g):
    # GRPO (2402.03300) eq. 3
    return mpf(1) / (n.N * n.T[i])


def seq_mean_token_sum(n, i, g):
    return mpf(1) / n.N


def seq_mean_constant(n, i, g):
    # Dr.GRPO (2503.20783)
    return 1 / (n.N * n.C)


def constant(n, i, g):
    return 1 / n.C


def group_mean_token_mean(n, i, g):
    # ScaleRL (2510.13786): token mean of each prompt, then the mean over prompts
    return mpf(1) / (n.groups * n.group_tokens[g])


def seq_mean_length_power(n, i, g):
    # 2607.23364: (1/N) sum_i T_i^(alpha - 1) sum_t x, between the mean (0) and the sum (1) over a response's tokens
    return mpf(n.T[i]) ** (n.power - 1) / n.N


def seq_sum_token_mean(n, i, g):
    # DCPO (2509.02333), "only token mean": the sum of the responses' token means
    return mpf(1) / n.T[i]


def group_mean(n, i, g):
    # GVPO (2504.19599), REAL (2602.05630): a loss of the group, the sum over its responses, then the mean over prompts
    return mpf(1) / (n.groups * n.T[i])


def group_mean_seq_mean(n, i, g):
    return mpf(1) / (n.groups * n.group_sequences[g] * n.T[i])


def seq_mean(n, i, g):
    return mpf(1) / n.N


KIND = {"token_sum": token_sum, "token_mean": token_mean, "seq_mean_token_mean": seq_mean_token_mean,
        "seq_mean_token_sum": seq_mean_token_sum, "seq_mean_constant": seq_mean_constant, "constant": constant,
        "group_mean_token_mean": group_mean_token_mean, "seq_mean_length_power": seq_mean_length_power,
        "seq_sum_token_mean": seq_sum_token_mean, "group_mean": group_mean, "group_mean_seq_mean": group_mean_seq_mean,
        "seq_mean_segment_mean": seq_mean}


def coefficient(choice, totals, sequence):
    return KIND[choice["kind"]](totals, sequence.index, sequence.group)


# ---- c of the KL and of the entropy: that of the terms, or an independent one (SkyRL, OpenRLHF)

def own(kind):
    return lambda c, totals, sequence: KIND[kind](totals, sequence.index, sequence.group)


OF_PENALTY = {"terms": lambda c, totals, sequence: c, "token_mean": own("token_mean"), "seq_mean_token_mean": own("seq_mean_token_mean")}


# ---- c that differs inside a response

def segment_mean(tokens):
    # the mean over the segments of the means over their tokens (equal weights of turns, as in RLinf's agent_level)
    parts = apart(tokens)
    size = {place: len(places) for places in parts for place in places}
    return [mpf(1) / (len(parts) * size[place]) for place in range(len(tokens))]


def good(token):
    return sign(token.advantage) > 0


def token_mean_by_sign(tokens, token):
    # OREAL (2502.06781) as xtuner: one mean over the tokens with A > 0, another over the rest
    return mpf(1) / sum(1 for t in tokens if good(t) == good(token))


def seq_mean_by_sign(tokens, token):
    # VPD (2605.15113): one mean over the positive responses, another over the rest; the first active token decides which a response is
    first = {}
    for t in tokens:
        first.setdefault(t.sequence, t)
    own = first[token.sequence]
    alike = sum(1 for t in first.values() if good(t) == good(own))
    return mpf(1) / (alike * sum(1 for t in tokens if t.sequence is token.sequence))


def varied(rewards):
    """Do the rewards of a group differ by more than the binary64 1e-6? Compared exactly."""
    return None not in rewards and less(mpf(1e-6), max(rewards) - min(rewards))


def token_mean_varied(tokens, token):
    # DAPO without zero-variance groups in the divisor (TRL): they have no gradient, and would reduce that of the others
    return mpf(1) / max(1, sum(t.sequence.varied for t in tokens))


WITHIN = {"seq_mean_segment_mean": segment_mean}
BY_TOKEN = {"token_mean_by_sign": token_mean_by_sign, "seq_mean_by_sign": seq_mean_by_sign, "token_mean_nonzero_std": token_mean_varied}


def coefficients(choice, totals, sequence, kept, tokens):
    """c of the active tokens of a sequence; tokens: all active ones of the batch."""
    if choice["kind"] in BY_TOKEN:
        return [BY_TOKEN[choice["kind"]](tokens, t) for t in kept]
    c = coefficient(choice, totals, sequence)
    return [c * share for share in WITHIN[choice["kind"]](kept)] if choice["kind"] in WITHIN else [c] * len(kept)
