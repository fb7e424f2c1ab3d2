"""What a failing test says."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Iterable, List, Sequence, Set

import numpy as np

from .loader import Case
from .comparison import PRECISIONS, Difference, Output
from .diagnosis import ADVANTAGES, ONE_NUMBER, SAME, Finding, Reason, fits, known
from .pages import formula, mistakes

WIDTH = 110
_CHOICE = re.compile(r"(\w+)\.(\w+) = (\w+)")
SMALL = 1e-6  # a relative error that float32 explains
SHOWN = 4  # names of mistakes, or of cases, on one line
NEXT = (
    "what has no name here may have one in the runner `conform`, which compares with other objectives and computes more "
    "mistakes. In a checkout of the repository: `sh tests/conformance/build.sh`, then `./conform -- python3 my_adapter.py`; the adapter is "
    "some 30 lines around your function (tests/conformance/README.md)"
)


def _wrapped(head: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False
    )


def _some(names: Sequence[str], shown: int = SHOWN) -> str:
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")


def _called(cause: str) -> str:
    if known(cause) in mistakes():
        return f"known mistake {cause}"
    return f"the choice {cause}" if _CHOICE.fullmatch(cause) else f'"{cause}"'


def about_mistake(name: str, indent: str = "    ") -> List[str]:
    """What a known mistake is, or the formula of a choice; nothing for other words."""
    mistake, choice = mistakes().get(known(name)), _CHOICE.fullmatch(name)
    text = formula(*choice.groups()) if choice else None
    if text:
        return [_wrapped(indent + f"{name}: ", text)]
    if not mistake:
        return []
    parts = (("wrong: ", mistake.wrong), ("right: ", mistake.right), ("seen in: ", mistake.seen))
    return [_wrapped(indent + head, text) for head, text in parts if text]


def _numbers(wrong: Sequence[Difference], judged: Sequence[Output]) -> List[str]:
    names = list(dict.fromkeys(d.output for d in wrong))
    right = [o.name for o in judged if o.name not in names]
    lines = [
        f"{names[0]} is wrong"
        + (f" first, then {_some(names[1:])}" if names[1:] else "")
        + (f"; right: {_some(right)}" if right else "")
    ]
    for name in names[:3]:
        of_output = [d for d in wrong if d.output == name]
        worst = max(of_output, key=lambda d: abs(d.found - d.expected) if d.found == d.found else float("inf"))
        total, zero = next((len(o.places), not o.found.any()) for o in judged if o.name == name)
        lines.append(f"    {worst}" + (f", {len(of_output)} of {total} numbers wrong" if total > 1 else ""))
        if name == "dlogp" and zero:
            lines.append("    the gradient is 0: is the ratio, or the loss, detached? Return loss.item() to have the loss alone judged")
    return lines


def where_from(case: Case, wrong: Sequence[Difference]) -> str:
    """Where a NaN of the loss may come from, by the numbers of the case: the likeliest source; empty: nowhere."""
    if case.kind != "objective" or not any(math.isnan(d.found) for d in wrong if d.output not in ADVANTAGES):
        return ""
    arrays = case.numpy()
    slots = np.arange(arrays.mask.shape[1]) < np.array(case.batch["length"], int)[:, None]
    against = {"old": arrays.logp_old, "rollout": arrays.logp_rollout, "ref": arrays.logp_ref}.get(case.setting("ratio.behaviour"))
    others = [x for x in (against, arrays.logp_ref) if x is not None]
    masked, of = slots & ~arrays.mask, np.isinf(arrays.logp)
    with np.errstate(all="ignore"):
        overflows = np.zeros_like(of) if against is None else arrays.logp - against > math.log(PRECISIONS[case.precision].max)
    words = (
        (any(np.isnan(x[masked]).any() for x in (arrays.logp, *others)),
         "masked tokens hold NaN, and 0 times NaN is NaN: select tokens, do not multiply by the mask"),
        (any((of & np.isinf(x))[arrays.mask].any() for x in others),
         "a token has -inf in both log-probabilities, and -inf minus -inf is NaN"),
        (any((of | np.isinf(x) | overflows)[arrays.mask].any() for x in (arrays.logp, *others)),
         "0 times infinity is NaN: a ratio or log-probability is infinite where its factor is 0"),
    )
    return next((text for holds, text in words if holds), "")


def _is_small(wrong: Sequence[Difference]) -> bool:
    return all(abs(d.found - d.expected) <= SMALL * abs(d.expected) for d in wrong)


def _findings(findings: Iterable[Finding], wrong: Sequence[Difference]) -> List[str]:
    lines: List[str] = []
    fitting = [f for f in findings if fits(f)]
    for stage in ("advantage", "loss"):
        for says, text in (
            (SAME, "every number is what it gives"),
            (ONE_NUMBER, "the one number that is recorded of it is found"),
        ):
            names = [f.cause for f in fitting if f.stage == stage and f.says == says]
            if names:
                also = f" (or, the same here: {_some(names[1:])})" if names[1:] else ""
                besides = next((f.besides for f in fitting if f.stage == stage and f.besides), "")
                lines += [_wrapped("", f"{_called(names[0])}: {text}{also}"), *about_mistake(names[0])]
                lines += [_wrapped("    besides: ", besides)] if besides else []
                break
    small = ", which are nearly right: float32 somewhere, or a small number in a divisor, would do this" if _is_small(wrong) else ""
    return lines or [_wrapped("", "no known mistake gives these numbers" + small)]


def _objective(case: Case) -> List[str]:
    paper = f"https://arxiv.org/abs/{case.paper}" if re.fullmatch(r"\d{4}\.\d{5}", case.paper) else case.paper
    lines = [f"{case.variant}: {paper}, equations: {case.equations}; evidence: {case.evidence}"]
    for axis, fields in case.objective.items():
        numbers = [f"{name} = {value}" for name, value in fields.items() if not formula(axis, name, str(value))]
        for name, value in fields.items():
            text = formula(axis, name, str(value))
            if text:
                lines.append(_wrapped(f"    {axis}.{name} = {value}: ", text))
        if numbers:
            lines.append(_wrapped(f"    {axis}: ", ", ".join(numbers)))
    return lines


def failure(case: Case, judged: Sequence[Output], wrong: Sequence[Difference], findings: Sequence[Finding]) -> str:
    head, *numbers = _numbers(wrong, judged)
    nan = where_from(case, wrong)
    return "\n".join(
        [
            f"{case.id}: {head}",
            *numbers,
            *([_wrapped("    NaN: ", nan)] if nan else []),
            *_findings(findings, wrong),
            *_objective(case),
            _wrapped("batch: ", case.comment + (f" (flags: {', '.join(case.flags)})" if case.flags else "")),
        ]
    )


def summary(test: str, total: int, failed: int, reasons: Sequence[Reason]) -> List[str]:
    """The lines of a test below all tests: one reason for many failures."""
    lines = [f"{test}: {failed} of {total} cases fail"]
    told: Set[str] = set()  # what a mistake is stands below its first set of cases
    for reason in reasons:
        also = f" (or, with the same numbers in these cases: {_some(reason.also)})" if reason.also else ""
        what = f"{_called(reason.cause)} explains" if reason.cause else f"no known mistake explains the {reason.stage} of"
        where = f", of those with {reason.within}" if reason.within else ""
        common = f"; what all of these have and no passing case has: {_some(reason.common)}" if reason.common else ""
        lines.append(_wrapped("  ", f"{what} {len(reason.cases)} of them{where}{also}: {_some(reason.cases, 3)}{common}"))
        lines += [_wrapped("      besides: ", reason.besides)] if reason.besides else []
        lines += [_wrapped("      NaN: ", reason.nan)] if reason.nan else []
        lines += _nearly(reason, told)
        lines += _once(reason.cause or "", told)
    return lines


def _once(cause: str, told: Set[str]) -> List[str]:
    new = known(cause) not in told
    told.add(known(cause))
    return about_mistake(cause, "      ") if new else []


def _nearly(reason: Reason, told: Set[str]) -> List[str]:
    cause, same, other = reason.nearly
    if not cause:
        return []
    some = _some(other, 3)
    return [_wrapped("      nearly: ", f"in {same} of them all numbers are those of {_called(cause)}, in {some} they are not"),
            *_once(cause, told)]


def what_next(reasons: Iterable[Reason]) -> List[str]:
    """The last lines of all: what to do about failures without a cause."""
    return [] if all(reason.cause for reason in reasons) else [_wrapped("", NEXT)]
