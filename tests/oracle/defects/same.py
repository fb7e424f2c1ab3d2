"""Mistakes with the same formula, seen under several names: no case can distinguish them."""
SAME = [
    (("NORM-24", "GSPO-09"), "responses weighted by their tokens: in one as a mistake, in the other by design"),
    (("NORM-12", "NORM-20"), "the logged loss is divided by the micro-batches, in evaluation or by averaging shares"),
    (("ADV-02a", "ADV-03a"), "the deviation of one number is NaN: of a chunk with one response, or of a group's first response"),
    (("ADV-06", "SEL-03"), "a micro-batch is treated as a group, in the mean or in the filter"),
    (("MASK-01", "MASK-03"), "tokens after the end-of-sequence token count: after the only one, or after one of several"),
    (("RATIO-01", "RATIO-02"), "the ratio is 1: old log-probabilities computed from the current policy, or a shortcut used too often"),
]
