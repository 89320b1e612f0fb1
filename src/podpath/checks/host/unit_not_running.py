"""unit-not-running: a systemd unit that others depend on is stopped, has failed, or does not exist.

What it is
    `systemctl status UNIT` shows `inactive (dead)`, `failed` or `activating (auto-restart)`, or
    says that the unit is masked or could not be found. A unit that ran once and ended successfully
    is none of these.

Why it breaks
    Nothing listens where the unit should serve: clients are refused, names are not resolved,
    devices are not set up. An `enabled` unit starts at the next boot; if somebody stopped it, it
    stays stopped until then. A `disabled` unit does not start at boot at all.

How to confirm
    systemctl status UNIT
    journalctl -b -u UNIT
    ss -lntup

How to fix
    Start it, and let it start at boot: systemctl enable --now UNIT. If it fails, its last log lines
    name the cause.

References
    systemctl(1); systemd.unit(5); systemd.service(5)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import UnitState
from podpath.node.case import Case, Stated

CATEGORIES = (
    Category.NO_LISTENER,
    Category.OTHER,
    Category.DNS_SERVER,
    Category.APPLICATION,
)
NAME = "unit-not-running"
SHORTEST_NAME = 4
"""Letters of a name that a sentence may mean: shorter ones are words of their own."""
_SERVES = re.compile(r".+\.(?:service|socket)$")
_PLAIN_UNIT = re.compile(r"(?!-)[\w.@:-]+", re.ASCII)
_COMMON = frozenset({"network", "networking", "docker", "container", "host", "node", "local"})
"""Stems of units that every sentence about a network speaks of."""
_READY = frozenset({"notready", "ready"})
_HOST = re.compile(r"@([\w-]+)")
_NODE = re.compile(r"[a-z][\w-]*\d|[a-z]+-[\w-]+")
"""A word that may be a node's name."""
_ABSENT = frozenset({
    FailureKind.REFUSED, FailureKind.NOT_STARTED, FailureKind.UNREACHABLE, FailureKind.TIMEOUT,
    FailureKind.NAME_NOT_RESOLVED, None,
})  # fmt: skip
"""How people say that nobody serves."""
_SORTED = frozenset(kind for kind in MessageKind if kind.name.endswith("_UNIT_FAILED"))


def check(case: Case) -> Iterator[Finding]:
    """Report units that do not run in the state shown last, where something fails."""
    if not any(True for _ in list_failing(case)) and not any(one.is_bad for one in case.attempts):
        return
    last: dict[str, tuple[UnitState, Stated]] = {}
    for unit, stated in statements_of(case, UnitState):
        last[unit.unit] = (unit, stated)
    told = {one.values.get("unit", "") for one in case.messages if one.kind in _SORTED}
    for name, (unit, stated) in last.items():
        named = _find_named(case, unit)
        down = _SERVES.match(name) and _is_down(unit) and name not in told
        meant = unit.enabled == "disabled" and unit.active == "inactive"
        missed = _is_missed(case, unit, stated.span)
        if meant and named is None and not missed:
            continue
        if down and (named is not None or not unit.once or unit.enabled == "enabled"):
            yield _report(unit, stated.span, named, missed=missed)


def _is_missed(case: Case, unit: UnitState, span: Span) -> bool:
    """Tell whether people say that a node is not ready whose kubelet this is: the prompt names no
    other node than they do.
    """
    if unit.unit != "kubelet.service":
        return False
    host = _HOST.search(span.source.prompt or "")
    for complaint in list_failing(case):
        ready = bool(_READY & complaint.spoken) and "node" in complaint.spoken
        named = {word for word in complaint.words if _NODE.fullmatch(word)}
        if ready and (host is None or not named or host[1] in named):
            return complaint.failure is FailureKind.NOT_STARTED
    return False


def _is_down(unit: UnitState) -> bool:
    """Tell whether a unit does not run, though it may have done what it is for."""
    if unit.active == "failed" or unit.loaded in {"not-found", "masked"}:
        return True
    if unit.active == "activating":
        return unit.detail.startswith("auto-restart")
    return unit.active == "inactive"


def _report(unit: UnitState, span: Span, named: Span | None, *, missed: bool) -> Finding:
    stopped = unit.active == "inactive" and unit.loaded != "not-found" and not unit.once
    likely = named is not None and stopped and unit.enabled != "disabled"
    possible = 0.5 if unit.once else 0.6
    unmissed = 0.9 if likely else possible
    how = f"{unit.active} ({unit.detail})" if unit.detail else unit.active
    plain = _PLAIN_UNIT.fullmatch(unit.unit) is not None
    ask = FollowUp(
        "why the unit does not run, and whether the failing connection needs it",
        f"systemctl status {unit.unit}; journalctl -b -u {unit.unit}; ss -lntup"
        if plain
        else "systemctl status UNIT; journalctl -b -u UNIT; ss -lntup",
        "its last lines before it ended name the cause; once it runs, the connection works",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{unit.unit} is not running: systemd says that it is {how}.",
        evidence=(span, *((named,) if named is not None else ())),
        reasoning=("Whatever it serves or sets up is missing as long as it does not run.",),
        breaks=("whatever that unit provides",),
        repairs=(
            Repair(
                title="start it",
                commands=(f"systemctl enable --now {unit.unit}",)
                if plain and unit.loaded == "loaded"
                else (),
            ),
        ),
        certainty=1.0 if missed else unmissed,
        asks=() if missed else (ask,),
        explains=frozenset({FailureKind.NOT_STARTED}) if missed else None,
        marks=(unit.active, unit.detail),
    )


def _find_named(case: Case, unit: UnitState) -> Span | None:
    """Return the sentence that names the unit as what does not answer; None where none does."""
    stem = unit.unit.rpartition(".")[0].partition("@")[0].lower()
    names = {unit.unit.lower(), stem, stem.removesuffix("d"), stem.replace("_", "-")}
    names = {name for name in names if len(name) >= SHORTEST_NAME} - _COMMON
    for complaint in list_failing(case):
        if names & complaint.spoken and complaint.failure in _ABSENT:
            return complaint.span
    return None
