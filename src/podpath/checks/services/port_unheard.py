"""port-unheard: nothing listens on the port that fails, or its program listens only on loopback.

What it is
    The socket listing shows no listener on the port that is reported to fail, or only one on
    127.0.0.1 or ::1.

Why it breaks
    A socket on loopback accepts only connections from its own network namespace; for everyone else,
    the port is closed. The kernel answers with a reset: "connection refused". On the host itself,
    the same port works at localhost.

How to confirm
    ss -ltnp | grep PORT; curl -v http://ADDRESS:PORT/ (on the host, by its own address)

How to fix
    Bind the program to the address that clients connect to, or to all (0.0.0.0, [::]), on the port
    that they use; start it if it is not running.

References
    tcp_v4_rcv (net/ipv4/tcp_ipv4.c v6.12); ip(7), bind(2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.asked_ports import AskedPort, is_translated, list_asked_ports
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import FailedConnection, failures
from podpath.net import protocols
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import Netns, NetnsRole, Socket

CATEGORIES = (Category.NO_LISTENER, Category.WRONG_PORT)
NAME = "port-unheard"
POSSIBLE, QUOTED = 0.7, 3
_CLOSED = frozenset({FailureKind.REFUSED, FailureKind.RESET})
_VAGUE = frozenset({None, FailureKind.UNREACHABLE})
ASK = FollowUp(
    "which process has the port in the network namespace that clients connect to",
    "ss -ltnp (there); iptables -t nat -S | grep PORT",
    "none, or loopback only: that is why it is refused",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first port that people say fails and that no socket of the host takes, and the
    first that a pod refused and none of its own takes.
    """
    yield from _check_pods(case)
    host = case.node.host
    for asked in list_asked_ports(case):
        if asked.protocol != protocols.TCP or asked.failure not in _CLOSED | _VAGUE:
            continue
        listening = [one for one in host.sockets.items if _is_listener(one)]
        heard = [one for one in listening if one.port == asked.port]
        spans = [one.span for one in heard if one.span is not None]
        inner = all(one.local is not None and one.local.is_loopback for one in heard)
        if spans and inner and not asked.loopback:
            yield _report(case, asked, f"has a listener only on {heard[0].local}", spans)
            return
        whole = bool(listening) and host.shows_sockets(protocols.TCP)
        if whole and not heard and asked.failure is FailureKind.REFUSED:
            others = [one.span for one in listening if one.span is not None]
            yield _report(case, asked, "has no listener", others[:QUOTED])
            return


def _check_pods(case: Case) -> Iterator[Finding]:
    for failed in failures(case):
        if failed.result is not FailureKind.REFUSED or not failed.dport:
            continue
        for netns in case.node.namespaces.values():
            shown = [one for one in netns.sockets.items if _is_listener(one) and one.span]
            mine = netns.role is NetnsRole.POD and _is_of_pod(netns, failed)
            if not mine or not netns.shows_sockets(protocols.TCP) or not shown:
                continue
            if all(one.port != failed.dport for one in shown):
                yield _report_pod(netns, failed, [one.span for one in shown if one.span])
                return


def _is_of_pod(netns: Netns, failed: FailedConnection) -> bool:
    """Tell whether a connection went to a pod: to its address, or as the description of the pod
    says, where no address of it is shown.
    """
    if any(one.span is not None for one in netns.addresses.items):
        return netns.holds(failed.dst)
    name = netns.name.rpartition("/")[2]
    words = (failed.span.source.command or "").split()
    return netns.holds(failed.dst) or ("describe" in words and name in words)


def _report_pod(netns: Netns, failed: FailedConnection, spans: Sequence[Span]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Nothing listens on port {failed.dport} of {netns.name} ({failed.dst}), so clients "
            "are refused."
        ),
        evidence=(*spans[:QUOTED], failed.span),
        reasoning=(
            "The kernel answers a connection to a port without a listening socket with a reset.",
        ),
        breaks=(f"connections to port {failed.dport} of {netns.name}",),
        prevention="Give pods a readiness probe on the port that their service sends clients to.",
        marks=(f":{failed.dport}",),
    )


def _is_listener(socket: Socket) -> bool:
    return socket.protocol == protocols.TCP and socket.state == "LISTEN"


def _report(case: Case, asked: AskedPort, claim: str, spans: Sequence[Span]) -> Finding:
    who = "whoever asks is" if asked.loopback else "clients from elsewhere are"
    sure = asked.own and not is_translated(case, asked.port)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Port {asked.port} of the host {claim}, so {who} refused.",
        evidence=(*spans, asked.span),
        reasoning=(
            "The kernel answers a connection to a port without a listening socket with a reset.",
        ),
        breaks=(f"connections to port {asked.port}",),
        prevention="Check the port at the host's own address, as its clients do.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        marks=(f":{asked.port}",),
    )
