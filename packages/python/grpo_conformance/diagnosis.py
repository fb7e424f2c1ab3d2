"""Which known mistake gives the numbers that were found? The vectors record what each gives, in full or by one number."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from .loader import Case
from .computed_advantage import EQUAL_IS_NAN
from .computed import ALL, ENORMOUS, FAINTLY, NONE, findings as computed_findings
from .sixteen_bits import NAMES, sixteen_bits
from .comparison import PRECISIONS, TOLERANCE, Output, Precision, differences, errors, flat, judge, leaves

STORED_DIGITS = 6e-7  # a wrong answer is stored with seven digits
UNSTORED_OF_SCALE, UNSTORED_OF_LARGEST = 1e-5, 1e-9  # nearer to the right one than this it is not stored
FRAGILE = {"NegInf", "Extreme", "NaNMasked", "OffsetRewards"}  # a program may have its own trouble with these
FEW = 2  # parts of what no cause explains
CONTRADICTED = 0.1  # of the cases in which a mistake would show
ADVANTAGES = ("advantage", "dynamic_sampling_mask")
GRADIENTS = ("dlogp", "dentropy", "ddivergence_ref", "dlog_partition", "dlogits", "dhidden", "dweight")
HALVES = {
    "": (False, True),
    ", in the value only": (False,),
    ", in the gradient only": (True,),
}  # of which outputs: is it a gradient?

SAME, ONE_NUMBER, OTHER = "same", "one number", "other"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one cause says of one case."""

    cause: str  # the name of a known mistake, perhaps with one of HALVES, or words
    stage: str  # "advantage" or "loss": they are explained apart
    says: str  # SAME: every number is the cause's; ONE_NUMBER: the recorded one is; OTHER: it would have given others
    evidence: int = 0  # numbers that are the same, and neither right nor 0
    besides: str = ""  # what is wrong in other advantages, whatever these are made of


Told = Dict[str, Tuple[np.ndarray, np.ndarray]]  # of each output where the numbers stand, and the numbers


def known(cause: str) -> str:
    """The name of a mistake without its half."""
    return cause.split(", in the ")[0]


def stage_of(output: str) -> str:
    return "advantage" if output in ADVANTAGES else "loss"


def recorded(mistake: Any, judged: Sequence[Output]) -> Tuple[Told, bool]:
    """The wrong numbers that a case records, and whether they are all."""
    by_name = {output.name: output for output in judged}
    if isinstance(mistake, Mapping):
        full = {name: np.array([x for _, x in flat(value)], float) for name, value in leaves(mistake).items() if name in by_name}
        kept = {name: x if by_name[name].kept is None else x[by_name[name].kept] for name, x in full.items()}
        return {name: (np.arange(len(x)), x) for name, x in kept.items()}, True
    name, place, x = ("loss", "", mistake) if not isinstance(mistake, list) else _brief(mistake)
    if name not in by_name or place not in by_name[name].places:
        return {}, False
    return {name: (np.array([by_name[name].places.index(place)]), np.array([float(x)]))}, False


def _brief(mistake: List[Any]) -> Tuple[str, str, Any]:
    """["dlogp", i, t, x] or ["report", key, x]"""
    keys = [k for k in mistake[1:-1] if isinstance(k, str)]
    return ".".join([mistake[0], *keys]), "".join(f"[{k}]" for k in mistake[1:-1] if not isinstance(k, str)), mistake[-1]


def _agrees(
    found: np.ndarray, other: np.ndarray, expected: np.ndarray, scale: np.ndarray, p: Precision, tolerance: float
) -> np.ndarray:
    """Is `found` the stored number `other`? A larger wrong answer may carry an error that is larger in proportion."""
    with np.errstate(all="ignore"):
        grown = np.abs(other / expected) * scale
        size = np.fmax(np.fmax(np.abs(other), scale), np.where((expected != 0) & (scale > 0) & np.isfinite(grown), grown, 0))
        near = np.abs(found - other) <= tolerance * p.eps * size + STORED_DIGITS * np.abs(other) + p.tiny
        same = (found == other) | (np.isnan(found) & np.isnan(other))
        overflown = ~np.isfinite(found) & (np.abs(other) >= p.max) & (found == np.copysign(math.inf, other))
        agrees: np.ndarray = same | overflown | (near & np.isfinite(found) & np.isfinite(other))
        return agrees


def _within_error(
    found: np.ndarray, other: np.ndarray, expected: np.ndarray, scale: np.ndarray, p: Precision, tolerance: float
) -> np.ndarray:
    """Where does the stored number agree only because the right one is enormous, and with it the error that it may have? Numbers that
    agree by their own size are none of these."""
    with np.errstate(all="ignore"):
        own = np.fmax(np.abs(found), np.abs(other))
        grown = np.abs(other / expected) * scale
        size = np.fmax(np.fmax(own, scale), np.where(np.isfinite(grown), grown, 0))
        within_error: np.ndarray = (own <= tolerance * p.eps * size) & (tolerance * p.eps * size > ENORMOUS)
        near = np.abs(found - other) <= (tolerance * p.eps + STORED_DIGITS) * own
        return within_error & ~near & (found != other) & np.isfinite(found) & np.isfinite(other)


def _as_good_as_right(output: Output, p: Precision, tolerance: float) -> bool:
    """Where a mistake records nothing: right, or so near that it would not have been stored."""
    with np.errstate(all="ignore"):
        largest = (
            np.max(output.scale[np.isfinite(output.scale)], initial=0) if not output.name.startswith("report.") else output.scale
        )
        near = np.abs(output.found - output.expected) <= np.fmax(UNSTORED_OF_SCALE * output.scale, UNSTORED_OF_LARGEST * largest)
    return bool(np.all((errors(output, p) <= tolerance) | (near & (output.name != "dynamic_sampling_mask"))))


def judge_mistake(
    mistake: Any, judged: Sequence[Output], half: str, good: Mapping[str, bool], p: Precision, tolerance: float
) -> Optional[Tuple[str, int]]:
    """SAME, ONE_NUMBER or OTHER with the evidence (of OTHER: 1 if all numbers are recorded); None where it would not show.  Of a half the
    other one must be right.
    good: of each output, is it right where a mistake records nothing?"""
    told, full = recorded(mistake, judged)
    told = {name: numbers for name, numbers in told.items() if (name in GRADIENTS) in HALVES[half]}
    given = [x for _, other in told.values() for x in other.tolist()]
    in_full = full and (len(given) > 1 or not any(map(math.isnan, given)))  # a single NaN is no evidence
    same, evidence, shows = not full or all(good[output.name] for output in judged if output.name not in told), 0, False
    within_error = False
    for output in judged:
        if output.name in told and not (shows and not same):
            at, other = told[output.name]
            rest = (output.expected[at], output.scale[at], p, tolerance)
            differs = ~_agrees(output.expected[at], other, *rest)
            shows = shows or bool(differs.any())
            same = same and bool(_agrees(output.found[at], other, *rest).all())
            evidence += int(np.sum(differs & np.isfinite(other) & (other != 0)))
            within_error = within_error or bool((differs & _within_error(output.found[at], other, *rest)).any())
    if not shows or (same and within_error):
        return None
    return ((SAME if in_full else ONE_NUMBER), evidence) if same else (OTHER, int(in_full and not half))


# ---- what needs no record: a factor, a coarser arithmetic


def _quantities(case: Case) -> Dict[str, float]:
    length, group = case.batch["length"], case.batch["group"]
    counts = sum(sum(row) for row in case.batch.get("mask", [[True] * n for n in length]))
    return {
        "the number of responses": len(length),
        "the number of groups": group[-1] + 1 if group else 0,
        "the number of tokens": sum(length),
        "the number of tokens that count": counts,
        "the length of the longest response": max(length, default=0),
        "responses per group": len(length) / (group[-1] + 1) if group else 0,
        "tokens per response": counts / len(length) if length else 0,
        "2": 2,
    }


def _factors(case: Case, judged: Sequence[Output], tolerance: float) -> List[Tuple[str, bool]]:
    """Loss and gradient that are the right ones times the same factor, in words: each quantity of the case that it equals, and the number
    itself, which other cases may have although their quantities differ. With each, is it evidence? A number is none where a single one is
    wrong: any would do."""
    outputs_ = [o for o in judged if o.name in ("loss", "dlogp")]
    wrong = [o for o in outputs_ if differences([o], case, tolerance)]
    if not wrong or any(not np.isfinite(o.expected).all() for o in wrong):
        return []
    lead = max(wrong, key=lambda o: len(o.expected))
    k = int(np.argmax(np.abs(lead.expected)))
    factor = lead.found[k] / lead.expected[k] if lead.expected[k] else math.nan
    if not np.isfinite(factor) or factor == 0:
        return []
    scaled = [
        dataclasses.replace(o, expected=o.expected * factor, scale=np.maximum(o.scale, 1e-300) * max(abs(factor), 1))
        for o in wrong
    ]
    if differences(scaled, case, 4 * tolerance):
        return []
    what = " and ".join(o.name for o in outputs_ if any(o is x for x in wrong) or not o.expected.any())  # a gradient that is 0 stays 0
    if abs(factor + 1) < 1e-9:
        return [(f"{what} with the sign turned", True)]
    names = []
    for words, x in _quantities(case).items():
        if x > 1 and abs(factor / x - 1) < 1e-9:
            names.append((f"{what} multiplied by {words}", True))
        if x > 1 and abs(factor * x - 1) < 1e-9:
            names.append((f"{what} divided by {words}", True))
    return names + [(f"{what} multiplied by {factor:.9g}", sum(np.count_nonzero(o.expected) for o in wrong) >= 2)]


def _with_digits(x: float, digits: int) -> float:
    """To so many decimals, or (negative) significant digits."""
    return float(f"{x:.{digits}f}" if digits > 0 else f"{x:.{-digits}g}") if abs(x) < 1e15 else x


def _digits(case: Case, judged: Sequence[Output], tolerance: float) -> List[str]:
    """The digits that all wrong numbers are rounded to, in words, the fewest first; others are right."""
    wrong = [o for o in judged if differences([o], case, tolerance)]
    if not wrong or case.precision != "f64" or any(not np.isfinite(o.expected).all() or not o.found.any() for o in wrong):
        return []  # a 0 is a number of any digits
    found = []
    for n, sign in ((n, sign) for n in range(2, 11) for sign in (1, -1)):
        rounded = [dataclasses.replace(o, expected=np.array([_with_digits(x, sign * n) for x in o.expected.tolist()])) for o in wrong]
        near = [np.abs(o.found - o.expected) <= 1e-12 * np.abs(o.expected) for o in rounded]
        if all(same.all() or not differences([o], case, tolerance) for same, o in zip(near, rounded)):
            kind = "decimals" if sign > 0 else "significant digits"
            found.append(f"rounding: {' and '.join(o.name for o in wrong)} rounded to {n} {kind}")
    return found


def _is_rounding(case: Case, judged: Sequence[Output], tolerance: float) -> Optional[str]:
    """Errors no larger than those in float32: SAME if they are of both signs, where an epsilon or a factor does the same to all numbers, or
    if the wrong losses and advantages are float32 numbers, which others are only by chance; else ONE_NUMBER, which is no evidence."""
    if case.precision != "f64" or differences(judged, dataclasses.replace(case, precision="f32"), 16):
        return None
    coarse = [x for o in judged if o.name in ("loss", "advantage")
              for x in o.found[~(errors(o, PRECISIONS["f64"]) <= tolerance)].tolist()]
    many_bits = any(math.frexp(x)[0] * 4096 % 1 for x in coarse)  # unlike 0.75: a reward is a float32 number by itself
    with np.errstate(over="ignore"):
        in_float32 = all(x == float(np.float32(x)) for x in coarse)
    if many_bits and in_float32:
        return SAME
    larger: Set[float] = set()
    smaller: Set[float] = set()
    for output in judged:
        wrong = ~(errors(output, PRECISIONS["f64"]) <= tolerance)
        for found, expected in zip(output.found[wrong].tolist(), output.expected[wrong].tolist()):
            (larger if abs(found) > abs(expected) else smaller).add(expected)
    return SAME if 5 * min(len(larger), len(smaller)) >= max(len(larger) + len(smaller), 1) else ONE_NUMBER


def _rounded_to(judged: Sequence[Output], case: Case, tolerance: float) -> List[str]:
    """Causes by which all wrong numbers are numbers of 16 bits, off by no more than the output's scale, and at least half of them evidence:
    of more than a few bits, within 8 eps, where the right number is none of 16 bits."""
    p, names = PRECISIONS[case.precision], []
    for bits, name in NAMES.items() if case.precision == "f64" else ():
        fit, seen, many = True, 0, 0
        for output in judged:
            wrong = ~(errors(output, p) <= tolerance)
            x, right = output.found[wrong], output.expected[wrong]
            most, near = np.max(output.scale[np.isfinite(output.scale)], initial=0), 8 * 2.0 ** (1 - bits) * output.scale[wrong]
            with np.errstate(all="ignore"):
                fit = fit and bool(np.all((sixteen_bits(x, bits) == x) & (np.abs(x - right) <= most)))
                tells = (np.frexp(x)[0] * 16 % 1 != 0) & (sixteen_bits(right, bits) != right)
                seen += int(np.sum(tells & (np.abs(x - right) <= np.fmax(near, 8 * 2.0 ** (1 - bits) * np.abs(right)))))
                many += len(x)
        if fit and seen and 2 * seen >= many:
            names.append(SIXTEEN_BITS.format(name))
    return names[:1]


SIXTEEN_BITS = "rounding: computed in {}, or rounded to it"
ROUNDING = 'rounding as in float32 (compute in float64, or ask for precision="f32")'


MASKED_TOO = "masked tokens have the advantage of their response, not 0"
ALONE_NAN = "a response alone in its group has NaN"
EQUAL_NAN = "a group of equal rewards has NaN"


def _apart(case: Case, output: Output) -> Dict[str, np.ndarray]:
    """Of the advantages: where masked ones are those of tokens of their response that count, where a response alone has NaN, and where a
    group has NaN whose advantages should all be 0."""
    rows = case.batch["length"]
    response = np.repeat(np.arange(len(rows)), rows)
    mask = np.array([x for row in case.batch.get("mask", [[True] * n for n in rows]) for x in row], bool)
    group = np.array(case.batch["group"])
    of_group = [g for g in set(group.tolist()) if not output.expected[group[response] == g].any()]
    lone, zero = (np.isin(group, of)[response] for of in ([g for g in set(group.tolist()) if np.sum(group == g) == 1], of_group))
    x, masked = output.found, np.zeros(len(mask), bool)
    for k in np.flatnonzero(~mask & (x != 0)):
        own = x[mask & (response == response[k])]
        own = own if len(own) else np.array([x[k]]) if _one_number(x[response == response[k]]) else own
        masked[k] = bool(np.any((own == x[k]) | (np.isnan(own) & np.isnan(x[k]))))
    return {MASKED_TOO: masked, ALONE_NAN: mask & lone & np.isnan(x), EQUAL_NAN: mask & zero & ~lone & np.isnan(x)}


def _one_number(x: np.ndarray) -> bool:
    return bool(np.all((x == x[0]) | (np.isnan(x) & np.isnan(x[0]))))


def _apart_from(case: Case, judged: Sequence[Output], tolerance: float) -> Optional[Tuple[List[Output], List[str]]]:
    """The outputs without the advantages that are wrong by a mistake of their own, and the words for it; None: there are none."""
    output = next((o for o in judged if o.name == "advantage"), None)
    if output is None or case.kind == "call" or len(output.found) != sum(case.batch["length"]):
        return None
    apart = {words: at for words, at in _apart(case, output).items() if at.any()}
    keep = ~np.any([np.zeros(len(output.found), bool), *apart.values()], axis=0)
    rest = Output("advantage", tuple(p for p, k in zip(output.places, keep) if k), *(x[keep] for x in (
        output.found, output.expected, output.scale)), kept=keep)
    return ([rest if o is output else o for o in judged], list(apart)) if apart else None


def explain(case: Case, judged: Sequence[Output], tolerance: float = TOLERANCE) -> List[Finding]:
    """What every cause says of an answer, right or wrong; those that fit first. Advantages of masked tokens and of responses alone in their
    group, wrong by a mistake of their own, hide no other cause: it is looked for without them."""
    found = _explain(case, judged, tolerance)
    if any(f.stage == "advantage" and f.says == SAME for f in found):
        return found
    apart = _apart_from(case, judged, tolerance)
    if not apart:
        return found
    if not any(stage_of(d.output) == "advantage" for d in differences(apart[0], case, tolerance)):  # nothing else is wrong
        others = [f for f in found if f.cause not in (*apart[1], EQUAL_IS_NAN)]
        alone = (*apart[1], *([EQUAL_IS_NAN] if EQUAL_NAN in apart[1] else []))  # the last is a mistake of all advantages
        return sorted([*others, *(Finding(words, "advantage", SAME, 1) for words in alone)], key=_rank)
    more = [dataclasses.replace(f, besides="; ".join(apart[1])) for f in _explain(case, apart[0], tolerance) if f.stage == "advantage"]
    if not any(f.says == SAME for f in more):
        return found
    return sorted([*more, *(f for f in found if f.stage != "advantage")], key=_rank)


def _rank(finding: Finding) -> Tuple[int, int]:
    return (SAME, ONE_NUMBER, OTHER).index(finding.says), -finding.evidence


def _explain(case: Case, judged: Sequence[Output], tolerance: float) -> List[Finding]:
    p, findings = PRECISIONS[case.precision], []
    for stage in ("advantage", "loss"):
        part = [output for output in judged if stage_of(output.name) == stage]
        failed = bool(differences(part, case, tolerance))
        good = {output.name: _as_good_as_right(output, p, tolerance) for output in part}
        for name, mistake in case.defects.items():
            verdict = judge_mistake(mistake, part, "", good, p, tolerance)
            halves = list(HALVES)[1:] if verdict and verdict[0] == OTHER and failed and isinstance(mistake, Mapping) else []
            for half in halves:
                of_half = judge_mistake(mistake, part, half, good, p, tolerance)
                if of_half and of_half[0] == SAME:
                    name, verdict = name + half, of_half
            if verdict and (failed or verdict[0] == OTHER):
                findings.append(Finding(name, stage, *verdict))
        told = {known(f.cause): f.says for f in findings if f.stage == stage}
        for name, match, evidence in computed_findings(case, stage, part, p, tolerance) if part else []:
            # it is known of every number, where the record may have one: that one may agree by chance
            if (match == ALL and failed) or (match == NONE and told.get(name) == ONE_NUMBER):
                findings = [f for f in findings if (known(f.cause), f.stage) != (name, stage)]
            if match == ALL and failed:
                findings.append(Finding(name, stage, SAME, evidence))
            elif match == FAINTLY and failed and name not in told:
                findings.append(Finding(name, stage, ONE_NUMBER))
            elif match not in (FAINTLY, ALL) and name not in {known(f.cause) for f in findings if f.stage == stage}:
                findings.append(Finding(name, stage, OTHER))
        for factor, is_evidence in _factors(case, part, tolerance) if failed and case.kind != "call" else []:
            findings.append(Finding(factor, stage, SAME if is_evidence else ONE_NUMBER))
        if failed and case.kind != "call":
            findings += [Finding(name, stage, SAME, 1) for name in _digits(case, part, tolerance)]
        rounding = _is_rounding(case, part, tolerance) if failed else None
        if rounding:
            findings.append(Finding(ROUNDING, stage, rounding))
        if failed and case.kind != "call":
            findings += [Finding(name, stage, SAME, 1) for name in _rounded_to(part, case, tolerance)]
    return sorted(findings, key=_rank)


def fits(finding: Finding) -> bool:
    """Has the answer the numbers of the cause? The one number that is recorded says nothing where it is NaN, infinite or 0."""
    return finding.says == SAME or (finding.says == ONE_NUMBER and finding.evidence > 0)


def diagnose(case: Case, answer: Any, tolerance: float = TOLERANCE) -> List[Finding]:
    """The causes whose numbers an answer has, the likeliest first: explain() without what does not fit."""
    return [f for f in explain(case, judge(case, answer), tolerance) if fits(f)]


# ---- over many cases


@dataclasses.dataclass(frozen=True)
class Record:
    """What is known of one case when all have run."""

    case: str
    flags: Tuple[str, ...]
    failed: Tuple[str, ...]  # its stages that are wrong
    findings: Tuple[Finding, ...]
    traits: Tuple[str, ...] = ()  # what it may have in common with others: traits_of
    is_zero: bool = False  # loss and gradient are 0, whatever they are multiplied by
    nan: str = ""  # where a NaN of the loss or its gradient may come from


@dataclasses.dataclass(frozen=True)
class Reason:
    """A cause with the failing cases that it explains; no cause: what is left."""

    stage: str
    cause: Optional[str]
    cases: Tuple[str, ...]
    also: Tuple[str, ...] = ()  # causes that give the same numbers in these cases
    within: str = ""  # a trait: the cause was looked for among the cases that have it
    common: Tuple[str, ...] = ()  # traits that all of what is left have, and no case that passes
    besides: str = ""  # what is wrong in other advantages of these cases
    nan: str = ""  # of no cause: where NaN may come from, in how many cases
    nearly: Tuple[str, int, Tuple[str, ...]] = ("", 0, ())  # of no cause: one that explains so many of them, and cases that contradict it


ALL_RECORDS = ""
FACTORS = re.compile(r"(loss|dlogp|loss and dlogp) (multiplied by|divided by|with the sign turned)")
THIRD = 3  # of the cases with errors as small as those of float32, so many times fewer must look like rounding
NEAR = 0.4  # of what is left: told as nearly explained, if no more than this share contradicts
Entries = Dict[Tuple[str, str], List[Tuple[Record, Finding]]]  # by mistake and stage


def is_zero(judged: Sequence[Output]) -> bool:
    """Are loss and gradient 0, or not judged?"""
    return not any(o.expected.any() for o in judged if o.name in ("loss", "dlogp"))


def traits_of(case: Case) -> Tuple[str, ...]:
    """The choices of its objective, its row and its flags, in words."""
    choices = [f"{axis}.{field} = {value}" for axis, fields in case.objective.items() for field, value in fields.items()
               if isinstance(value, str) and value not in ("Infinity", "-Infinity")]
    return (*choices, f"the row {case.variant}", *(f"the flag {flag}" for flag in case.flags))


def _is_factor(cause: str) -> bool:
    return bool(FACTORS.match(cause))


def _other_factors(cause: str, stage: str, entries: Entries, within: str) -> int:
    """The cases that have another factor, or none: they record only what they have. What passes may have a quantity that is 1 there."""
    of_any = not re.search(r"by [a-z]", cause)
    has = {record.case for record, _ in entries.get((cause, stage), [])}
    inside = [record for record, _ in entries.get((ALL_RECORDS, stage), []) if not within or within in record.traits]
    usual = [record for record in inside if not record.is_zero and not FRAGILE & set(record.flags)]
    return sum(record.case not in has and (of_any or stage in record.failed) for record in usual)


def _explained(cause: str, stage: str, entries: Entries, within: str) -> Tuple[List[str], int, int, int]:
    """The failing cases it explains, how many of them in full, the evidence, and the cases that contradict it."""
    cases_, full, evidence, other, refuted = [], 0, 0, 0, False
    if _is_factor(cause):
        other = _other_factors(cause, stage, entries, within)
    for record, finding in entries.get((known(cause), stage), []):
        if within and within not in record.traits:
            continue
        if finding.says == OTHER or finding.cause != cause:
            other += not FRAGILE & set(record.flags)
            refuted |= finding.says == OTHER and finding.evidence > 0 and stage in record.failed and not FRAGILE & set(record.flags)
        elif stage in record.failed:
            cases_.append(record.case)
            full += finding.says == SAME
            evidence += finding.evidence
    if refuted and not full:  # single numbers agree, such as the loss, where the record of all of them does not
        return [], 0, 0, other
    return cases_, full, evidence, other


def summarise(records: Sequence[Record]) -> List[Reason]:
    """The fewest causes that explain what fails: each at least half of what the ones before it leave, of all cases or of those with one
    trait, and contradicted hardly anywhere there."""
    reasons: List[Reason] = []
    entries: Entries = {}
    for record in records:
        for stage in ("advantage", "loss"):
            entries.setdefault((ALL_RECORDS, stage), []).append((record, Finding("", stage, OTHER)))
        for finding in record.findings:
            entries.setdefault((known(finding.cause), finding.stage), []).append((record, finding))
    for stage in ("advantage", "loss"):
        left = {r.case: r for r in records if stage in r.failed}
        causes = sorted({f.cause for r in records for f in r.findings if f.stage == stage and f.says != OTHER})
        while left:
            of_all, of_some = _among(stage, causes, entries, left), _narrowed(stage, causes, entries, left)
            reason = of_some if of_some and (not of_all or len(of_some.cases) > len(of_all.cases)) else of_all
            if not reason or (reason.cause == ROUNDING and any(r.stage == stage for r in reasons)):  # what a cause leaves is no rounding
                break
            reasons.append(dataclasses.replace(reason, besides=_besides(reason, records)))
            left = {case: r for case, r in left.items() if case not in reason.cases}
        reasons += [dataclasses.replace(r, nearly=_nearly(stage, causes, entries, r.cases), nan=_nans(r, records))
                    for r in _unexplained(stage, left, records)]
    return reasons


def _nearly(stage: str, causes: Sequence[str], entries: Entries, left: Sequence[str]) -> Tuple[str, int, Tuple[str, ...]]:
    """The cause that explains most of what is left, but that more cases contradict than a name may have."""
    best: Tuple[int, str, int, Tuple[str, ...]] = (0, "", 0, ())
    for cause in causes if len(left) > 2 else ():
        of = [(r, f) for r, f in entries.get((known(cause), stage), []) if not FRAGILE & set(r.flags)]
        same = [f.evidence for r, f in of if f.cause == cause and f.says == SAME and r.case in left]
        other = tuple(r.case for r, f in of if f.says == OTHER or f.cause != cause)
        enough = len(same) > 2 and sum(same) > 5 and len(same) >= NEAR * len(left) and len(other) <= NEAR * len(same)
        if enough and not _is_factor(cause) and len(same) - len(other) > best[0]:
            best = len(same) - len(other), cause, len(same), other
    return best[1:]


def _besides(reason: Reason, records: Sequence[Record]) -> str:
    told = [f.besides for r in records if r.case in reason.cases for f in r.findings if f.cause == reason.cause and f.stage == reason.stage]
    counts = [(words, sum(words in besides for besides in told)) for words in (MASKED_TOO, ALONE_NAN, EQUAL_NAN)]
    return "; ".join(f"{words}, in {n} of them" for words, n in counts if n)


def _nans(reason: Reason, records: Sequence[Record]) -> str:
    told = [r.nan for r in records if r.nan and r.case in reason.cases and reason.stage == "loss"]
    return "; ".join(f"{words}, in {told.count(words)} of them" for words in dict.fromkeys(told))


def _among(stage: str, causes: Sequence[str], entries: Entries, left: Mapping[str, Record], within: str = "") -> Optional[Reason]:
    told = {cause: _explained(cause, stage, entries, within) for cause in causes}
    everywhere = {cause: len(_explained(cause, stage, entries, "")[0]) if within and told[cause][0] else 0 for cause in causes}
    best = _best(stage, told, left, everywhere)
    return Reason(stage, *best, within) if best else None


def _narrowed(stage: str, causes: Sequence[str], entries: Entries, left: Mapping[str, Record]) -> Optional[Reason]:
    """The cause that explains most where it is looked for among the cases with one trait; a flag is none that a mistake keeps to."""
    found = []
    for trait in sorted({trait for r in left.values() for trait in r.traits if not trait.startswith("the flag ")}):
        inside = {case: r for case, r in left.items() if trait in r.traits}
        reason = _among(stage, causes, entries, inside, trait) if len(inside) > 1 else None
        if reason and len(reason.cases) > 1:
            found.append((len(reason.cases), -len(inside), reason))
    return max(found, key=lambda x: x[:2], default=(0, 0, None))[2]


def _unexplained(stage: str, left: Mapping[str, Record], records: Sequence[Record]) -> List[Reason]:
    """What no cause explains, by what some of it has in common and nothing that passes; in more than FEW parts, or where most has
    nothing in common, it would be chance."""
    axes = ("ratio.", "surrogate.", "penalty.", "weight.", "aggregation.", "the flag NegInf", "the flag Extreme", "the flag NearOnPolicy")
    ahead = ("reward.", "advantage.") if stage == "loss" else axes  # of no account: the advantages are given, or come first
    passing = {trait for r in records if stage not in r.failed for trait in r.traits}
    reasons, rest = [], dict(left)
    while rest and any(stage not in r.failed for r in records):
        counts: Dict[str, int] = {}
        for r in rest.values():
            for trait in r.traits:
                if trait not in passing and not trait.startswith(ahead):
                    counts[trait] = counts.get(trait, 0) + 1
        lead = max(counts, key=lambda trait: counts[trait], default=None)
        if lead is None or counts[lead] < 2:
            break
        cases_ = tuple(case for case, r in rest.items() if lead in r.traits)
        common = tuple(trait for trait in counts if all(trait in rest[case].traits for case in cases_))
        reasons.append(Reason(stage, None, cases_, common=common))
        rest = {case: r for case, r in rest.items() if case not in cases_}
    if len(reasons) > FEW or 2 * len(rest) > len(left):
        return [Reason(stage, None, tuple(left))]
    return reasons + ([Reason(stage, None, tuple(rest))] if rest else [])


def _best(
    stage: str, told: Mapping[str, Tuple[List[str], int, int, int]], left: Mapping[str, Record], everywhere: Mapping[str, int]
) -> Optional[Tuple[str, Tuple[str, ...], Tuple[str, ...]]]:
    choices = []
    for cause, (cases_, full, evidence, other) in told.items():
        now = tuple(case for case in cases_ if case in left)
        sturdy = [case for case, r in left.items() if not FRAGILE & set(r.flags)] or list(left)
        enough = (full > 0 or evidence >= 2) and (cause != ROUNDING or THIRD * full >= len(cases_))
        if now and enough and other <= CONTRADICTED * (len(cases_) + other) and 2 * len(set(now) & set(sturdy)) >= len(sturdy):
            likely = not (cause.startswith("ADV-") and stage == "loss")  # the advantages are given
            choices.append((len(now) - other, likely, everywhere[cause], full, evidence, cause, now))
    if not choices:
        return None
    _, _, _, full, _, cause, now = max(choices, key=lambda c: c[:5])
    return cause, now, tuple(c[5] for c in choices if c[5] != cause and c[6] == now and c[3] == full)
