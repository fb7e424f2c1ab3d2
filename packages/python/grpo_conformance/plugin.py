"""The pytest plugin: below all tests, what explains the failures of each test that grpo_cases made."""

from __future__ import annotations

import json
from typing import Any, Dict, Generator, List, Tuple

import pytest

from .diagnosis import Finding, Reason, Record, summarise
from .report import summary, what_next

_KEY = "grpo_conformance"


def _packed(record: Record) -> str:
    findings = [[f.cause, f.stage, f.says, f.evidence] for f in record.findings]
    return json.dumps([record.case, record.flags, record.failed, findings, record.traits, record.is_zero, record.nan])


def _unpacked(text: str) -> Record:
    case, flags, failed, findings, traits, zero, nan = json.loads(text)
    return Record(case, tuple(flags), tuple(failed), tuple(Finding(*f) for f in findings), tuple(traits), zero, nan)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """The record of the case travels with the report: from the workers of pytest-xdist too."""
    outcome = yield
    records: Dict[str, Record] = getattr(getattr(item, "obj", None), "grpo_records", {})
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    if call.when == "call" and records and case is not None and case.id in records:
        outcome.get_result().grpo_conformance = _packed(records.pop(case.id))


def _test(nodeid: str, case: str) -> str:
    """The test without its case, with what else it is parametrised by."""
    test, _, parameters = nodeid.partition("[")
    others = parameters[:-1].replace(case, "", 1).strip("-")
    return f"{test}[{others}]" if others else test


def _records(terminalreporter: Any) -> Dict[str, List[Record]]:
    found: Dict[str, List[Record]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            packed = getattr(report, _KEY, None)
            if packed:
                record = _unpacked(packed)
                found.setdefault(_test(report.nodeid, record.case), []).append(record)
    return found


def pytest_terminal_summary(terminalreporter: Any) -> None:
    failing: List[Tuple[str, List[Record]]] = [
        (test, records) for test, records in _records(terminalreporter).items() if any(r.failed for r in records)
    ]
    if failing:
        terminalreporter.section("why the cases fail")
    every: List[Reason] = []
    for test, records in failing:
        reasons = summarise(records)
        every += reasons
        for line in summary(test, len(records), sum(bool(r.failed) for r in records), reasons):
            terminalreporter.line(line)
    for line in what_next(every):
        terminalreporter.line(line)
