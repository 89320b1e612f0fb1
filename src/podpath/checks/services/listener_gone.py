"""listener-gone: a port that has a listener in one output has none in the next.

What it is
    `ss -lnt` or `netstat -lnt` was taken twice on one host, while it worked and when it failed, and
    the port that clients connect to is missing from the second.

Why it breaks
    Nobody accepts the connection: the kernel answers a SYN with a reset, clients are refused.

How to confirm
    ss -lntup
    systemctl status UNIT; journalctl -b -u UNIT

How to fix
    Start the server again, and find out from its log why it exited. A server that binds to an
    address that is missing has to wait for it (network-online.target) or listen on all addresses.

References
    ss(8); tcp(7)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.shifts import Shift, ShiftKind

CATEGORIES = (Category.NO_LISTENER,)
NAME = "listener-gone"
_CLOSED = frozenset({FailureKind.REFUSED, FailureKind.UNREACHABLE, FailureKind.TIMEOUT, None})


def check(case: Case) -> Iterator[Finding]:
    """Report a port that lost its listener, where somebody fails to reach it."""
    gone = [one for one in case.shifts if one.kind is ShiftKind.LISTENER and one.bad is None]
    kept = {one.port for one in case.shifts if one.kind is ShiftKind.LISTENER and one.good is None}
    for shift in gone:
        asked = _find_asked(case, shift)
        if asked is not None and shift.port not in kept:
            yield _report(shift, asked)


def _find_asked(case: Case, shift: Shift) -> Span | None:
    """Return who fails to reach the port: a sentence that names it, or an attempt."""
    for complaint in list_failing(case):
        if shift.port in complaint.ports and complaint.failure in _CLOSED:
            return complaint.span
    tried = (one for one in case.attempts if one.is_bad and one.probe.dport == shift.port)
    return next((one.span for one in tried if one.result is FailureKind.REFUSED), None)


def _report(shift: Shift, asked: Span) -> Finding:
    spans = [span for span in (shift.good, asked) if span is not None]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Nothing listens on port {shift.port} in the failing state.",
        evidence=tuple(spans),
        reasoning=("The other output lists a listener on that port.",),
        breaks=(f"connections to port {shift.port}",),
        prevention="Monitor the server's unit, and let systemd restart it.",
        certainty=1.0 if shift.told else 0.7,
        marks=(str(shift.port),),
        asks=()
        if shift.told
        else (FollowUp("who listens now", "ss -lntup", "a row with the port: it is served again"),),
    )
