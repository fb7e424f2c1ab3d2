"""Mistakes with one formula, seen under several names: no case can tell them apart."""
SAME = [
    (("NORM-24", "GSPO-09"), "responses weighted by their tokens: once as a mistake, once as another design"),
    (("NORM-12", "NORM-20"), "the logged loss is divided by the micro-batches, in evaluation or by averaging shares"),
    (("ADV-02a", "ADV-03a"), "the deviation of one number is NaN, whether chunks hold one response or one is picked"),
    (("ADV-06", "SEL-03"), "a micro-batch passes for a group, in the mean or in the filter"),
    (("MASK-01", "MASK-03"), "tokens after the end count: after the only end token, or after one of several"),
    (("RATIO-01", "RATIO-02"), "the ratio is 1: old log-probabilities made too late, or a shortcut taken too often"),
]
