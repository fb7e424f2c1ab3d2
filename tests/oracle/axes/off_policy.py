"""Off-policy masking: tokens that are dropped because their response is too far off-policy."""
from autodiff import value
from limits import ZERO, bound, exp, less, sign


def nobody(choice, tokens):
    return [False] * len(tokens)


def drifted_from(sampled):
    def dropped(choice, tokens):
        # DeepSeek-V3.2 (2512.02556): tokens with A < 0 of responses whose mean log-ratio is beyond the threshold
        moved = sum((sampled(t) - value(t.l) for t in tokens), ZERO) / len(tokens)
        left = less(bound(choice["off_policy_mask_threshold"]), moved)
        return [left and sign(t.advantage) < 0 for t in tokens]
    return dropped


def total_variation(choice, tokens):
    # VACO (2603.01365) as in open-instruct: tokens whose update would increase the total variation, where that is too large
    q = [t.o - t.b for t in tokens]
    far = less(bound(choice["off_policy_mask_threshold"]), sum((abs(exp(x) - 1) for x in q), ZERO) / len(q))
    return [far and sign(x) * sign(t.advantage) > 0 for x, t in zip(q, tokens)]


OFF_POLICY = {"none": nobody, "old": drifted_from(lambda t: t.o), "rollout": drifted_from(lambda t: t.b),
              "total_variation": total_variation}


def dropped(choice, tokens):
    """Whether each active token of a response is dropped."""
    return OFF_POLICY[choice["off_policy_mask"]](choice, tokens)
