"""Known mistakes of public implementations, one function each: the answers to a case with exactly that mistake.

The names are those of a survey of defects; `left_out.py` has the entries that no case can expose.
"""
from . import (advantage, aggregation, clip, contrastive, correction, divergence, kl, logprob, mask, metric, micro_batch, numbers, ratio,
               trust_region, vocabulary)
from .left_out import LEFT_OUT
from .projects import PROJECTS, faults, named
from .same import SAME
from .table import DEFECTS

__all__ = ["DEFECTS", "LEFT_OUT", "PROJECTS", "SAME", "advantage", "aggregation", "clip", "contrastive", "correction", "divergence",
           "faults", "kl", "logprob", "mask", "metric", "micro_batch", "named", "numbers", "ratio", "trust_region", "vocabulary"]
