"""Entries of the survey that no case can show, and why."""
LEFT_OUT = {
    "NORM-22": "the gradient is missing instead of 0: an answer of 0 is the same in both",
    "ADV-05": "responses are grouped by position; there are no prompt texts to confuse",
    "ADV-14": "no reward is missing, of several either, and these have no KL",
    "ADV-26": "about memory that rows share; the answer depends on the order of writes",
    "REW-02": "a buffer longer than the maximum is an input error, not a case",
    "REW-04": "`truncated` is an input; there are no token ids to guess it from",
    "REW-05": "the report has no reward",
    "MASK-07": "the reference's log-probabilities are an input; how it attended does not show",
    "MASK-14": "which tokens are selected is an input",
    "RATIO-03": "the batch does not say how often it will be used: noise and a moved policy look the same",
    "RATIO-04": "needs two passes over one batch",
    "CLIP-14": "the report has no fraction of truncated responses",
    "LOGP-03": "critic values are an input, and an objective has no temperature",
    "LOGP-06": "logits come after soft-capping",
    "SEL-01": "which tokens are selected is an input",
    "SEL-02": "which tokens are selected is an input",
}
