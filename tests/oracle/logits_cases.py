"""The cases of the kind `logits`."""

LOGITS = [
    # (label, comment, logits, target, temperature)
    ("plain", "ordinary logits of a vocabulary of four tokens, temperature 1",
     [[[0.5, -1.25, 2, 0.125], [1, 1, -3, 0.75], [-0.375, 4, 3.5, -2]], [[2.25, -0.5, 0, 1.5]]], [[0, 3, 2], [3]], 1),
    ("tempered", "temperature 0.5: logits are divided by it, the distribution is sharper",
     [[[0.5, -1.25, 2, 0.125], [1, 1, -3, 0.75]], [[2.25, -0.5, 0, 1.5], [0, 0.25, -0.75, 0.5]]], [[0, 3], [3, 2]], 0.5),
    ("hot", "temperature 1.25, by which division is inexact: the distribution is flatter",
     [[[3, -2, 0.5, 1.25, -0.75], [0.0625, 5, 2, -1, 4]]], [[3, 4]], 1.25),
    ("neginf", "logits of -infinity: they add nothing to the entropy, and a sampled one has log-probability -infinity",
     [[["-Infinity", 1, 0.5], [0, "-Infinity", "-Infinity"], [2, "-Infinity", 1]]], [[1, 0, 1]], 1),
    ("neginf-tempered", "logits of -infinity at temperature 0.75: they add nothing to the entropy",
     [[["-Infinity", 1, 0.5, -1], [0, 3, "-Infinity", 2.5]]], [[2, 3]], 0.75),
    ("large", "logits of 10000 and differences of 1000: e^z overflows, and the largest must be taken out first",
     [[[10000, 9999.5, -10000], [1000, 0, -1000], [-5000, -5001, -5000.5]]], [[1, 1, 2]], 1),
    ("large-tempered", "logits of 10000 at temperature 2: e^z overflows, and the largest must be taken out first",
     [[[10000, 9998, -10000, 9999], [-3000, -3001, 0, -2]]], [[1, 3]], 2),
    ("flat", "equal logits: the uniform distribution, entropy log V",
     [[[0.5] * 7, [-3] * 7], [[2.5] * 7]], [[0, 6], [3]], 1),
    ("one", "a vocabulary of one token: its probability is 1, its log-probability and the entropy 0",
     [[[3.5], [-2]]], [[0, 0]], 0.5),
    ("sharp", "one token has almost all the probability: its log-probability is near 0, others are near -40",
     [[[40, 0, 0.5, 1], [40, 0, 0.5, 1], [20, -20, 0, 19]]], [[0, 2, 1]], 1),
]
