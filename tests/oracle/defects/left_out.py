"""Entries of the survey that no case can expose, and why."""
LEFT_OUT = {
    "NORM-22": "the gradient is absent (None) instead of 0; both give the answer 0",
    "ADV-05": "responses are grouped by index; the batch has no prompt texts that could be confused",
    "ADV-14": "no case has a missing reward; with several rewards there is no KL",
    "REW-02": "a buffer longer than the maximum is an input error, not a case",
    "REW-04": "`truncated` is an input; it is not derived from token ids",
    "REW-05": "the report has no reward",
    "MASK-07": "the reference's log-probabilities are an input, so the attention mask of its forward pass is not visible",
    "MASK-14": "which tokens are selected is an input",
    "RATIO-03": "a batch does not say how often it will be used, so numerical noise cannot be told from a policy that has moved",
    "RATIO-04": "shows only in a second pass over the same batch",
    "CLIP-14": "the report has no fraction of truncated responses",
    "LOGP-03": "critic values are an input, and an objective has no sampling temperature",
    "LOGP-06": "the logits of the cases are those after soft-capping",
    "SEL-01": "which tokens are selected is an input",
    "SEL-02": "which tokens are selected is an input",
}
