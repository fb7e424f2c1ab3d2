"""What explains numbers for which the vectors record nothing: causes that are computed."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterator, List, Sequence, Tuple

import numpy as np

from .loader import Case
from .comparison import Output, Precision, errors
from .computed_advantage import computed_advantages
from .computed_loss import computed_losses

FACTOR = 8  # of the tolerance: the changed formula is rounded too
ENORMOUS = 1e-3  # of an allowed error: advantages and ratios are about 1
KEPT = 64  # cases and stages whose numbers are kept
STORED = 1e-5  # of a number's size: nearer than this, the seven digits of a record do not tell it from another
CLEARLY = 2  # further from the right number than this many times what passes

Numbers = Dict[str, np.ndarray]
Match = int
# are the found numbers those of a cause? FAINTLY: they are, and are wrong, but the right ones are too near for that to be evidence
NONE, NEARLY, FAINTLY, ALL = range(4)
NEARER = 4  # a number that faintly agrees is so many times nearer to the cause's than to the right one


def _flat(case: Case, rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows[i, :n] for i, n in enumerate(case.batch["length"])]) if rows.ndim == 2 else rows


def _computed(case: Case, stage: str) -> Iterator[Tuple[str, Numbers]]:
    case = dataclasses.replace(case, precision="f64")  # advantages rounded to float32 would not give the exact loss
    if stage == "advantage":
        for cause, rows in computed_advantages(case):
            yield cause, {"advantage": _flat(case, rows)}
    else:
        for cause, answer in computed_losses(case):
            yield cause, {name: _flat(case, x) for name, x in answer.items()}


_recent: Dict[Tuple[int, int, str], Tuple[Any, List[Tuple[str, Numbers]]]] = {}


def computed(case: Case, stage: str) -> List[Tuple[str, Numbers]]:
    """(cause, its numbers by output, in the places of the vectors); those of the last cases are kept"""
    parts = [case.raw.get(name) for name in ("batch", "objective", "expect")]
    key = (id(parts[0]), id(parts[1]), stage + case.precision)
    if key not in _recent:
        if len(_recent) >= KEPT:
            del _recent[next(iter(_recent))]
        _recent[key] = parts, list(_computed(case, stage))  # the parts: no other object has their id meanwhile
    return _recent[key][1]


def _size(output: Output, other: np.ndarray) -> np.ndarray:
    """The scale of the other number: that of the right one, grown as the number has."""
    grown = np.abs(other / output.expected) * output.scale
    grown[~np.isfinite(grown)] = 0
    size: np.ndarray = np.fmax(np.fmax(np.abs(other), output.scale), grown)
    return size


def _verdicts(causes: List[Tuple[str, Numbers]], judged: Sequence[Output], p: Precision, tolerance: float) -> List[Tuple[bool, Match, int]]:
    """Of each cause (would it show, are the found numbers its, how many of them are evidence); a single NaN tells nothing, nor do numbers
    that agree only within the error of an enormous right one."""
    shows, same, near, telling, within_error, evidence = (np.full(len(causes), start) for start in (False, True, True, False, False, 0))
    wrong, nearer = np.zeros(len(causes), bool), np.ones(len(causes), bool)
    for output in judged:
        of = [k for k, (_, numbers) in enumerate(causes) if output.name in numbers]
        if not of:
            continue
        other = np.stack([causes[k][1][output.name] for k in of])  # a row for each cause
        other = other if output.kept is None else other[:, output.kept]
        allowed = FACTOR * tolerance * p.eps * _size(output, other) + p.tiny
        differs = ~(np.abs(other - output.expected) <= CLEARLY * allowed) & ~(other == output.expected)
        equal = (output.found == other) | (np.isnan(output.found) & np.isnan(other))
        shows[of] |= differs.any(1)
        same[of] &= (equal | (np.abs(output.found - other) <= allowed)).all(1)
        own = np.fmax(np.abs(output.found), np.abs(other))
        lost = (allowed > ENORMOUS) & (own <= allowed) & ~equal & ~(np.abs(output.found - other) <= FACTOR * tolerance * p.eps * own)
        far = ~(errors(output, p) <= tolerance)
        wrong[of] |= far.any()
        nearer[of] &= (~far | (NEARER * np.abs(output.found - other) <= np.abs(output.found - output.expected))).all(1)
        within_error[of] |= (differs & lost & np.isfinite(other)).any(1)
        near[of] &= (equal | (np.abs(output.found - other) <= np.fmax(allowed, STORED * _size(output, other)))).all(1)
        evidence[of] += (differs & np.isfinite(other) & (other != 0)).sum(1)
        telling[of] |= differs.any(1) & np.isfinite(other).any(1) & (other.shape[1] > 1)
    told = telling | (evidence > 0)  # the same numbers without evidence, such as a single 0, tell nothing: neither for nor against
    shows &= ~(same & within_error)
    faint = ~shows & same & ~within_error & wrong & nearer
    match = np.where(faint, FAINTLY, np.where(same & told, ALL, np.where(near, NEARLY, NONE))).tolist()
    return list(zip((faint | shows & (told | ~same)).tolist(), match, evidence.tolist()))


@np.errstate(all="ignore")
def findings(case: Case, stage: str, judged: Sequence[Output], p: Precision, tolerance: float) -> List[Tuple[str, Match, int]]:
    """(cause, are the found numbers its, evidence) of each cause that would show; of one with several forms, if each of them would or one
    has the numbers found."""
    found: Dict[str, Tuple[Match, int]] = {}
    silent = set()
    causes = computed(case, stage)
    for (cause, _), (shows, match, evidence) in zip(causes, _verdicts(causes, judged, p, tolerance)):
        if shows and match > found.get(cause, (-1, 0))[0]:
            found[cause] = match, evidence
        elif not shows:
            silent.add(cause)
    return [(cause, match, evidence) for cause, (match, evidence) in found.items() if match in (FAINTLY, ALL) or cause not in silent]
