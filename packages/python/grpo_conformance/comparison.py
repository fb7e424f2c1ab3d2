"""Is an answer right? By the rule of the vectors: abs(found - expected) <= k * eps * scale for every number."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from .answer import answer_of
from .loader import Case, report_keys


@dataclasses.dataclass(frozen=True)
class Precision:
    eps: float
    max: float
    tiny: float  # what it cannot tell from 0


PRECISIONS = {
    "f64": Precision(2.0**-52, float(np.finfo(np.float64).max), 4 * 5e-324),
    "f32": Precision(2.0**-23, float(np.finfo(np.float32).max), 2.0**-149),
}
TOLERANCE = 64.0  # eps of the scale: what correct code may lose that does no more for its rounding than a series for k3
ROUNDED_INPUT = 4.0  # the same, of an expected number whose rounding may be an infinity

# the order in which they are computed: what is right up to the first wrong one is right
ORDER = (
    *(
        "advantage",
        "dynamic_sampling_mask",
        "logp",
        "entropy",
        "slice_tokens",
        "slice_log_ratio",
        "part_tokens",
        "part_sequences",
    ),
    *(
        "part_groups",
        "term",
        "part_sum",
        "part_loss",
        "loss",
        "dlogp",
        "dentropy",
        "ddivergence_ref",
        "dlog_partition",
        "dlogits",
        "dhidden",
        "dweight",
    ),
    "report",
)


@dataclasses.dataclass(frozen=True)
class Output:
    """All numbers of one output, in a row; a metric of the report is an output of its own, `report.ratio_mean`."""

    name: str
    places: Tuple[str, ...]  # "[2][0]" for each number, "" for a single one
    found: np.ndarray
    expected: np.ndarray
    scale: np.ndarray
    kept: Optional[np.ndarray] = None  # which numbers of the output these are; None: all


@dataclasses.dataclass(frozen=True)
class Difference:
    """A number that is wrong."""

    output: str
    place: str
    found: float
    expected: float
    allowed: float

    def __str__(self) -> str:
        return f"{self.output}{self.place}: found {self.found:.17g}, expected {self.expected:.17g} (allowed: {self.allowed:.2g})"


def plain(value: Any) -> Any:
    """Tensors and arrays as lists or numbers."""
    if hasattr(value, "tolist"):  # of tensors too, on any device, with or without a gradient
        return value.tolist()
    if hasattr(value, "__array__"):
        return np.asarray(value).tolist()
    return [plain(x) for x in value] if isinstance(value, (list, tuple)) else value


def _rank(name: str) -> Tuple[int, str]:
    base = name.split(".")[0]
    return (ORDER.index(base) if base in ORDER else len(ORDER), name)


def flat(value: Any, place: str = "") -> List[Tuple[str, float]]:
    """The numbers of nested lists with their places."""
    if isinstance(value, (list, tuple)):
        return [pair for k, x in enumerate(value) for pair in flat(x, f"{place}[{k}]")]
    return [(place, float(value))]


def leaves(answer: Mapping[str, Any]) -> Dict[str, Any]:
    """The outputs by name, the members of the report under `report.`."""
    out: Dict[str, Any] = {}
    for name, value in answer.items():
        out.update({f"{name}.{key}": x for key, x in value.items()} if isinstance(value, Mapping) else {name: value})
    return out


def _fitted(name: str, found: Any, expected: Any, case: Case) -> Any:
    """Padded rows cut to their length, a flat array of tokens cut into rows, advantages of responses given to their tokens."""
    found = plain(found)
    if not isinstance(expected, list):
        while isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, list):
            raise ValueError(f"{case.id}: {name} should be one number")
        return found
    if not isinstance(found, list):
        raise ValueError(f"{case.id}: {name} should be an array")
    if _depth(found) < _depth(expected):
        found = _rows(name, found, [len(row) for row in expected], case)
    if len(found) != len(expected):
        raise ValueError(f"{case.id}: {name} has {len(found)} rows, not {len(expected)}")
    return [_row(f"{name}[{i}]", x, e, case) if isinstance(e, list) else x for i, (x, e) in enumerate(zip(found, expected))]


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _rows(name: str, found: List[Any], length: List[int], case: Case) -> List[List[Any]]:
    if len(found) == sum(length):
        ends = np.cumsum(length).tolist()
        return [found[end - n : end] for n, end in zip(length, ends)]
    if name == "advantage" and len(found) == len(length):
        mask = case.batch.get("mask", [[True] * n for n in length])
        return [[x if counts else 0.0 for counts in row] for x, row in zip(found, mask)]
    raise ValueError(f"{case.id}: {name} has {len(found)} numbers, not {sum(length)}")


def _row(name: str, found: Any, expected: List[Any], case: Case) -> List[Any]:
    row: List[Any] = found if isinstance(found, list) else [found]
    if len(row) < len(expected):
        raise ValueError(f"{case.id}: {name} has {len(row)} tokens, not {len(expected)}")
    left = [t for t in range(len(expected), len(row)) if any(x != 0 for _, x in flat(row[t]))]
    if left and not name.startswith("advantage"):
        raise ValueError(f"{case.id}: {name}[{left[0]}] is padding and has {row[left[0]]} where 0 is right")
    return row[: len(expected)]


def outputs(case: Case, answer: Mapping[str, Any]) -> List[Output]:
    """What of the answer the case can judge, in the order of computation."""
    expect, scale, found = leaves(case.expect), leaves(case.scale), leaves(answer)
    if "report" in case.expect:
        expect = {**{f"report.{key}": 0 for key in report_keys()}, **expect}
    for name in found:
        if name not in expect and (name not in ORDER or name == "report"):
            raise ValueError(f"no output is called {name}; there are {', '.join(ORDER)}")
    judged = []
    for name in sorted((name for name in found if name in expect), key=_rank):
        places, numbers = zip(*flat(expect[name])) if flat(expect[name]) else ((), ())
        expected = np.array(numbers, float)
        missing = np.abs(expected) if name.startswith("report.") else np.zeros_like(expected)
        size = np.array([x for _, x in flat(scale[name])], float) if name in scale else missing
        fitted = np.array([x for _, x in flat(_fitted(name, found[name], expect[name], case))], float)
        if fitted.shape != expected.shape:
            raise ValueError(f"{case.id}: {name} has {len(fitted)} numbers, not {len(expected)}")
        judged.append(Output(name, tuple(places), fitted, expected, size))
    return judged


def errors(output: Output, precision: Precision) -> np.ndarray:
    """Each number's error in eps of its scale; infinity where it is wrong altogether."""
    found, expected, scale = output.found, output.expected, output.scale
    if (found == expected).all():
        return np.zeros_like(found)
    with np.errstate(all="ignore"):
        excess = np.maximum(np.abs(found - expected) - precision.tiny, 0)
        error = np.where(excess == 0, 0, excess / scale / precision.eps)
        error[~np.isfinite(found) | ~np.isfinite(expected) | ~(scale > 0)] = math.inf
        beyond = np.abs(expected) + ROUNDED_INPUT * precision.eps * np.minimum(scale, precision.max) >= precision.max
        single = output.name == "loss" or output.name.startswith("report.")
        error[beyond & (found == np.copysign(math.inf, expected)) & (not single or precision is not PRECISIONS["f64"])] = 0
        error[found == expected] = 0
    return error


def differences(judged: Sequence[Output], case: Case, tolerance: float = TOLERANCE) -> List[Difference]:
    precision, wrong = PRECISIONS[case.precision], []
    for output in judged:
        for k in np.flatnonzero(~(errors(output, precision) <= tolerance)):
            allowed = tolerance * precision.eps * output.scale[k]
            wrong.append(
                Difference(output.name, output.places[k], float(output.found[k]), float(output.expected[k]), float(allowed))
            )
    return wrong


def judge(case: Case, answer: Any) -> List[Output]:
    """The outputs of an answer in any form; it must have one that the case judges."""
    judged = outputs(case, answer_of(case, answer))
    if not judged:
        raise ValueError(f"{case.id}: nothing that was returned can be judged; the case has {', '.join(case.expect)}")
    return judged


def compare(case: Case, answer: Any, tolerance: float = TOLERANCE) -> List[Difference]:
    """The numbers of `answer` that are wrong: of the loss, (loss, dlogp), or {"loss": x, "dlogp": array, ...}. What the answer lacks is not
    judged."""
    return differences(judge(case, answer), case, tolerance)
