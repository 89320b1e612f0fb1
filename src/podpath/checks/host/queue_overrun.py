"""queue-overrun: a listener's queue or a socket's buffer is full, so incoming packets are dropped.

What it is
    ss shows a listener with more waiting connections (Recv-Q) than its backlog holds (Send-Q), or
    the kernel's counters show that listen queues overflowed, that SYNs to listeners were dropped,
    or that packets were lost because socket buffers were full.

Why it breaks
    A SYN to a full queue is dropped: the client retries after 1, 3 and 7 seconds (since Linux 6.5,
    every second for the first five), or gives up. For UDP there is no retry. The program accepts or
    reads too slowly, or its backlog, net.core.somaxconn or rmem is too small for the bursts.

How to confirm
    ss -ltn    # for listeners: Recv-Q above Send-Q
    nstat -az TcpExtListenOverflows TcpExtListenDrops UdpRcvbufErrors; sleep 10
    (again)     # they grow

How to fix
    Raise the program's own backlog and net.core.somaxconn (the smaller one applies), or make it
    accept faster; for buffers, raise net.core.rmem_max and the program's SO_RCVBUF.

References
    tcp_v4_syn_recv_sock, sk_acceptq_is_full (include/net/sock.h); listen(2); ss(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.statements import ListenQueue
from podpath.node.case import Case

CATEGORIES = (Category.RESOURCE_LIMIT, Category.APPLICATION)
NAME = "queue-overrun"
OFTEN = 20
"""Losses from which it is no single burst at the start of a program."""
COUNTERS = {
    "TcpExtListenOverflows": "a listener's queue overflowed",
    "TcpExtListenDrops": "a SYN to a listener was dropped",
    "TcpExtTCPReqQFullDrop": "a SYN was dropped because the half-open queue was full",
    "TcpExtTCPBacklogDrop": "a packet was dropped because a socket's backlog was full",
    "UdpRcvbufErrors": "a UDP packet was dropped because the socket's buffer was full",
    "TcpExtTCPAbortOnMemory": "a connection was aborted for lack of memory",
}
_FITS = frozenset({
    FailureKind.TIMEOUT, FailureKind.SOMETIMES, FailureKind.SLOW, FailureKind.HANGS,
    FailureKind.RESET, FailureKind.REFUSED, FailureKind.NAME_NOT_RESOLVED, FailureKind.ERROR_ANSWER,
    FailureKind.UNREACHABLE,
})  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    """Report listeners whose queue is full now, and what the kernel has counted as lost."""
    queues = [
        (one, stated.span)
        for one, stated in statements_of(case, ListenQueue)
        if one.waiting > one.backlog > 0
    ]
    counted = [
        (name, fact.value, fact.span)
        for name in COUNTERS
        if (fact := case.node.host.counters.get(name)) is not None
    ]
    lost = [(name, value, span) for name, value, span in counted if value and span is not None]
    for one, span in queues:
        yield _report_queue(
            one, span, tuple(where for name, _, where in lost if name.startswith("TcpExtListen"))
        )
    if lost and not queues:
        yield _report_counters(case, lost)


def _report_queue(one: ListenQueue, span: Span, counted: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The queue of the listener on port {one.port} is full: {one.waiting} connections "
            f"are waiting, and its backlog is {one.backlog}."
        ),
        evidence=(span, *counted),
        reasoning=(
            (
                "For a listener, Recv-Q counts the connections waiting to be accepted, and Send-Q "
                "is the backlog: the next SYN is dropped."
            ),
        ),
        breaks=(f"new connections to port {one.port}",),
        repairs=(_repair(),),
        prevention="Monitor TcpExtListenOverflows.",
    )


def _report_counters(case: Case, lost: list[tuple[str, int, Span]]) -> Finding:
    name, value, _ = lost[0]
    fits = any(one.failure in _FITS and not one.works for one in case.complaints)
    sure = fits and value >= OFTEN
    ask = FollowUp(
        fact=f"whether {name} grows while it fails, and which listener's queue is full",
        command=f"nstat -az {name}; (let it fail); nstat -az {name}; ss -ltn",
        decides=(
            "it grows with each failure: it is the cause, and Recv-Q above Send-Q shows the port"
        ),
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The kernel counted {value} times that {COUNTERS[name]}.",
        evidence=tuple(span for _, _, span in lost),
        reasoning=("More arrives than the program takes from its queue.",),
        breaks=("new connections, or packets, to programs on this host",),
        repairs=(_repair(),),
        prevention="Monitor TcpExtListenOverflows and UdpRcvbufErrors.",
        certainty=1.0 if sure else 0.7,
        asks=() if sure else (ask,),
    )


def _repair() -> Repair:
    return Repair(
        title=(
            "raise the program's backlog and the host's limit, or make the program accept "
            "connections faster"
        ),
        commands=("sysctl -w net.core.somaxconn=4096",),
    )
