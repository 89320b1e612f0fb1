"""The table of faults and shapes that a run ends with, as `docs/quality/cluster.md` has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest

from tests.cluster.planted import BRIDGED, FAULTS, IPTABLES, VXLAN
from tests.cluster.shapes import SHAPES, plan_of

LASTING = {
    "test_an_entry_that_outlived_its_endpoint_is_named": "conntrack-stale",
    "test_a_range_that_kubernetes_did_not_give_is_named": "pod-range-wrong",
}
"""Faults that have tests of their own, and what they are called in the table."""
_BY_COMMAND = {"conntrack-stale"}
_LACKING = {VXLAN: "no tunnel", BRIDGED: "no bridge", IPTABLES: "not in this mode"}
_TEST = re.compile(r"::(?P<test>\w+)\[(?P<words>.*)\]$")


def collect(reports: Iterable[pytest.TestReport]) -> dict[tuple[str, str], bool]:
    """Return whether each fault on each shape that was tried was named and mended."""
    found: dict[tuple[str, str], bool] = {}
    for report in reports:
        words = _TEST.search(report.nodeid)
        if words is None or (report.passed and report.when != "call"):
            continue
        fault, _, shape = words["words"].partition(" ")
        if words["test"] in LASTING:
            fault, shape = LASTING[words["test"]], words["words"]
        if shape in SHAPES:
            found[fault, shape] = found.get((fault, shape), True) and report.passed
    return found


def write_table(found: Mapping[tuple[str, str], bool]) -> str:
    """Write the table in Markdown."""
    rows = [f"| fault | {' | '.join(SHAPES)} |", f"|---|{'---|' * len(SHAPES)}"]
    for name in dict.fromkeys([*(fault.name for fault in FAULTS), *LASTING.values()]):
        cells = [_tell(name, shape, found.get((name, shape))) for shape in SHAPES]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _tell(name: str, shape: str, passed: bool | None) -> str:  # noqa: FBT001  # a result
    planted = [fault for fault in FAULTS if fault.name == name]
    fitting = [fault for fault in planted if fault.fits(plan_of(shape))]
    if planted and not fitting:
        lacking = sorted(planted[0].needs & _LACKING.keys())
        return f"– ({', '.join(_LACKING[each] for each in lacking)})"
    if passed is None:
        return "not tried"
    if not passed:
        return "**failed**"
    by_command = name in _BY_COMMAND or any(fault.cured for fault in fitting)
    return "cured" if by_command else "mended as it says"
