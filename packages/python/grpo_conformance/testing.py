"""grpo_cases: a test for each case of a row."""

from __future__ import annotations

import dataclasses
import functools
from typing import AbstractSet, Any, Callable, Dict, Iterable, Optional

from . import report
from .answer import answer_of as answer_of
from .loader import Case, cases
from .comparison import TOLERANCE, differences, judge
from .diagnosis import SAME, Record, explain, is_zero, stage_of, traits_of

def grpo_cases(
    *names: str,
    tolerance: float = TOLERANCE,
    precision: str = "f64",
    kind: str = "objective",
    only: Optional[str] = None,
    without: Iterable[str] = (),
    accept: Iterable[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes of a test with an argument `case` one test for each case of the rows; what it returns is compared with the exact answers.

    names       rows, or patterns: "gspo", "trl-*"
    tolerance   how many eps of an answer's scale pass
    precision   "f64" or "f32": of the case's arrays, and what errors are measured by
    only        a pattern of case ids, "gspo-rag*"
    without     flags of cases to leave out, ("NegInf", "Extreme") say: no pattern
    accept      causes, in the words of the report: a case passes where all its wrong numbers are what one of these gives
    """
    import pytest

    if not tolerance >= 1:
        raise ValueError(f"tolerance = {tolerance}: it counts eps of the answer's scale (64 is usual), and is no relative error")
    accepted = frozenset([accept] if isinstance(accept, str) else accept)
    chosen = cases(*names, kind=kind, only=only, without=without, precision=precision)

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        records: Dict[str, Record] = {}

        @functools.wraps(function)
        def test(*args: Any, **kwargs: Any) -> None:
            case = kwargs["case"] = dataclasses.replace(kwargs["case"])  # its own tensors
            if not case.fits():
                pytest.skip("the advantages do not fit the precision")
            message = _check(case, function(*args, **kwargs), tolerance, records, accepted)
            if message:
                pytest.fail(message, pytrace=False)

        setattr(test, "grpo_records", records)
        by_case: Callable[..., None] = pytest.mark.parametrize("case", chosen, ids=lambda case: case.id)(test)
        return by_case

    return decorate


def _check(case: Case, returned: Any, tolerance: float, records: Dict[str, Record], accepted: AbstractSet[str] = frozenset()) -> str:
    """The message of a wrong answer, empty for a right one; leaves the record for the summary of all cases."""
    try:
        judged = judge(case, returned)
    except ValueError as error:
        return str(error)
    wrong, findings = differences(judged, case, tolerance), explain(case, judged, tolerance)
    passing = {f.stage for f in findings if f.says == SAME and f.cause in accepted}
    wrong, findings = [d for d in wrong if stage_of(d.output) not in passing], [f for f in findings if f.stage not in passing]
    failed = sorted({stage_of(d.output) for d in wrong})
    nan = report.where_from(case, wrong)
    records[case.id] = Record(case.id, case.flags, tuple(failed), tuple(findings), traits_of(case), is_zero(judged), nan)
    return report.failure(case, judged, wrong, findings) if wrong else ""
