"""loopback-listener: the program listens only on 127.0.0.1.

What it is
    A socket that is bound to 127.0.0.1 or ::1 accepts connections only from its own network
    namespace. Connections from another pod, from the node or through a published port arrive at
    another address.

Why it breaks
    Nothing listens on the address that the connection comes to, so the kernel answers with a reset:
    "connection refused". From inside the container the same port works, which is what makes it
    puzzling.

How to confirm
    ss -ltnp  # 127.0.0.1:PORT instead of 0.0.0.0:PORT or *:PORT, in the namespace of the program

How to fix
    Bind to 0.0.0.0 and [::] (--host 0.0.0.0, bind-address, listen_addresses = '*'), or to the pod's
    address.

References
    ip(7), bind(2); Docker's documentation on published ports
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import FailedConnection, failures, pods, see
from podpath.checks.told import list_failing, may_be_of_pod
from podpath.net import protocols
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case
from podpath.node.node import Netns, Node, Socket

CATEGORIES = (Category.NO_LISTENER,)
NAME = "loopback-listener"


def check(case: Case) -> Iterator[Finding]:
    """Report each port that is asked for at another address while the program listens on the
    loopback alone.
    """
    failed = [failure for failure in failures(case) if not failure.dst.is_loopback]
    published = dict(_published(case))
    for netns in case.node.namespaces.values():
        for socket in _lonely(netns):
            told = _find_refused_port(case, socket.port)
            told = told if told is not None and _is_about(told, netns, case.node) else None
            if socket.span is not None and told is not None:
                yield _report_told(socket, socket.span, told)
                continue
            tried = [failure for failure in failed if failure.dport == socket.port]
            wanted = published.get(socket.port)
            if socket.span is not None and (tried or wanted is not None):
                ours = [failure for failure in tried if _may_be_of(case, netns, failure)]
                yield _report(socket, socket.span, ours, wanted, tried)


def _find_refused_port(case: Case, port: int) -> Complaint | None:
    """Return the sentence that says that this port of a pod, container or service refuses, and not
    that a program asks on loopback.
    """
    for one in list_failing(case):
        inner = any(address.is_loopback for address in one.addresses)
        if one.failure is FailureKind.REFUSED and one.ports == (port,) and not inner:
            return one
    return None


def _is_about(told: Complaint, netns: Netns, node: Node) -> bool:
    """Tell whether a sentence may be about what listens in a namespace: a pod's or container's that
    it does not contradict by another's name.
    """
    return netns is not node.host and may_be_of_pod(told, netns.name.rpartition("/")[2])


def _may_be_of(case: Case, netns: Netns, failure: FailedConnection) -> bool:
    """Tell whether the address that was tried is the namespace's, or may be since nothing shows its
    addresses.
    """
    owners = [one for one in case.node.namespaces.values() if one.holds(failure.dst)]
    return owners == [netns] or (not owners and not netns.addresses.items)


def _lonely(netns: Netns) -> Iterator[Socket]:
    """Yield the listeners on a loopback address whose port has no other listener."""
    listening = [
        socket
        for socket in netns.sockets.items
        if socket.state == "LISTEN" and socket.protocol == protocols.TCP
    ]
    open_ports = {
        socket.port for socket in listening if socket.local is None or not socket.local.is_loopback
    }
    told: set[int] = set()
    for socket in listening:
        if socket.port not in open_ports and socket.port not in told:
            told.add(socket.port)
            yield socket


def _published(case: Case) -> Iterator[tuple[int, Span]]:
    """Yield the ports of containers that somebody outside is meant to reach: published, declared,
    or a service's target.
    """
    for service in see(case, "Service"):
        for port in service.items_at("spec", "ports"):
            target = port.at("targetPort") or port.at("port")
            if target is not None and target.text.isdigit():
                yield int(target.text), target.line
    for pod in pods(case):
        for port in pod.ports:
            if port.text_at("containerPort").isdigit():
                yield int(port.text_at("containerPort")), port.line
    for container in see(case, "Container"):
        for port in container.items_at("ports"):
            if port.at("hostPort") is not None and port.text_at("containerPort").isdigit():
                yield int(port.text_at("containerPort")), port.line


def _report_told(socket: Socket, span: Span, told: Complaint) -> Finding:
    """Report a listener on loopback alone whose port people say is refused."""
    return replace(
        _report(socket, span, [], None, []),
        severity=Severity.FAULT,
        claim=f"Port {socket.port} has a listener only on {socket.local}, so others are refused.",
        evidence=(span, told.span),
        certainty=1.0,
    )


def _report(
    socket: Socket,
    span: Span,
    ours: list[FailedConnection],
    wanted: Span | None,
    tried: list[FailedConnection],
) -> Finding:
    refused = [failure for failure in ours if failure.result in {"refused", "reset"}]
    asked = (
        f"{refused[0].dst} was refused there" if refused else "clients connect to another address"
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT if refused else Severity.CAUSE,
        claim=f"Port {socket.port} has a listener only on {socket.local}, and {asked}.",
        evidence=(
            span,
            *list_spans(tried[:2]),
            *((wanted,) if wanted is not None else ()),
        ),
        reasoning=(
            (
                "A socket on a loopback address accepts only connections from its own network "
                "namespace."
            ),
        ),
        breaks=(f"every connection to port {socket.port} from another pod, the node or outside",),
        prevention=(
            "Probe the port at the pod's own address (readinessProbe without `host`), so that a "
            "loopback listener fails the probe."
        ),
        certainty=1.0 if refused else 0.7,
        marks=(f"{socket.local}:{socket.port}",),
    )
