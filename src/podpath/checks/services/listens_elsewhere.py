"""listens-elsewhere: a container's program listens only on its loopback, or on a port other than
the one that clients are sent to.

What it is
    A log says `listening on 127.0.0.1:8000`, or names one port, or a listing of the container's
    sockets shows it, while the service's targetPort, the endpoint, the published port or the probe
    leads to another one, or to the address of the pod or container. Clients are refused or reset.

Why it breaks
    The kernel answers a connection to a port without a listening socket with a reset. A socket on
    127.0.0.1 takes only what comes from its own network namespace: a container has a loopback of
    its own, so neither other pods nor the host nor a published port reach it. containerPort and
    EXPOSE do not open a port.

How to confirm
    kubectl exec POD -- ss -ltn; docker exec NAME netstat -ltn
    kubectl get svc NAME -o yaml; docker port NAME

How to fix
    Have the program listen on 0.0.0.0 (or ::) in its container, on the port that clients are sent
    to; or change targetPort, the published port or the probe to the program's.

References
    tcp_v4_rcv (net/ipv4/tcp_ipv4.c v6.12); bind(2); Kubernetes, Services: port definitions
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.endpoints import SERVICE_NAME
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import failures, is_made_of, see
from podpath.checks.said import find_said
from podpath.checks.told import find_told, list_failing
from podpath.net import protocols
from podpath.net.addresses import read_address
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.node import HOST

CATEGORIES = (Category.WRONG_PORT, Category.NO_LISTENER)
NAME = "listens-elsewhere"
POSSIBLE = 0.8
"""The certainty where nobody is seen to be refused on the way to that very program."""
_CLOSED = frozenset({FailureKind.REFUSED, FailureKind.RESET})
_LOG = re.compile(
    r"\blogs?\b(?:\s+-\S+(?:[ =](?!\S*/)[\w-]+(?=\s+\S*[\w/]))?)*?\s+(?:\w+/)?(?P<name>[\w.-]+)"
)
_COMPOSE = re.compile(r"\s*(?P<name>[a-z][\w.-]*?)(?:-\d+)?\s+\|\s")
"""How docker compose begins a line of a container's log."""
_LOCAL = re.compile(r"(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]):(?P<port>\d+)")
_ASIDE = re.compile(
    r"metric|health|pprof|debug|admin|prometheus|probe|exporter|webhook", re.IGNORECASE
)
"""What a program says of a port beside the one that it is there for."""
ASK = FollowUp(
    "what the program listens on, in its own network namespace",
    "kubectl exec POD -- ss -ltn; docker exec NAME netstat -ltn",
    "another port than clients are sent to, or 127.0.0.1: this is why they are refused",
)


class _Listener(NamedTuple):
    """A port on which a program listens, by its log or a listing of its sockets."""

    port: int
    inside: bool
    """True where only its own network namespace can reach it."""
    span: Span


class _Program(NamedTuple):
    """Where a program of a container listens."""

    name: str
    """Its pod's or container's name, as far as a command tells."""
    listeners: tuple[_Listener, ...]

    @property
    def ports(self) -> frozenset[int]:
        """All its ports."""
        return frozenset(one.port for one in self.listeners)

    def is_inside(self, port: int) -> bool:
        """Tell whether it has a port, and each time on loopback."""
        own = [one for one in self.listeners if one.port == port]
        return bool(own) and all(one.inside for one in own)


class _Refused(NamedTuple):
    """A connection that was refused or reset."""

    port: int
    span: Span
    local: bool
    """True where it was tried at loopback."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first program that clients are sent to where it does not listen."""
    programs = tuple(_list_programs(case))
    tried = tuple(_list_refused(case))
    said = (one.span for one in list_failing(case) if one.failure in _CLOSED)
    told = next(said, None)
    for program in programs:
        for target, span in _list_targets(case, program):
            refused = next((one for one in tried if one.port == target and not one.local), None)
            asked = refused.span if refused is not None else told
            if asked is not None and _is_missed(program, target):
                yield _report(program, target, (span, asked), sure=refused is not None)
                return
        published = _find_published(case, program, tried)
        if published is not None:
            yield published
            return


def _is_missed(program: _Program, target: int) -> bool:
    return target not in program.ports or program.is_inside(target)


def _list_programs(case: Case) -> Iterator[_Program]:
    """Yield the programs of containers of which logs, or whole listings of sockets, say where they
    listen.
    """
    found: dict[str, list[_Listener]] = {}
    for message in find_said(case, MessageKind.PROGRAM_LISTENS):
        name, port = _find_name(message.span), int(message.values["port"])
        inside = _is_loopback(message.values.get("address", ""))
        if name and _ASIDE.search(message.span.text) is None:
            found.setdefault(name, []).append(_Listener(port, inside, message.span))
    for netns in case.node.namespaces.values():
        name = re.split(r"[ /]", netns.name)[-1]
        if netns.name == HOST or name in found or not netns.shows_sockets(protocols.TCP):
            continue
        for socket in netns.sockets.items:
            if socket.state == "LISTEN" and socket.protocol == protocols.TCP and socket.span:
                inside = socket.local is not None and socket.local.is_loopback
                found.setdefault(name, []).append(_Listener(socket.port, inside, socket.span))
    return (_Program(name, tuple(listeners)) for name, listeners in found.items())


def _find_name(span: Span) -> str:
    """Return the container or pod whose log a line is of; empty where nothing tells."""
    prefix = _COMPOSE.match(span.text)
    if prefix is not None:
        return prefix["name"]
    asked = _LOG.search(span.source.command or "")
    return asked["name"] if asked is not None else ""


def _list_targets(case: Case, program: _Program) -> Iterator[tuple[int, Span]]:
    """Yield the ports of a pod to which services, endpoints and probes of its name send."""
    for service in see(case, "Service"):
        if not is_made_of(program.name, service.name):
            continue
        for port in service.items_at("spec", "ports"):
            target = port.at("targetPort")
            if target is not None and target.text.isdecimal():
                yield int(target.text), target.line
    for shown in see(case, "EndpointSlice"):
        if is_made_of(program.name, shown.text_at("metadata", "labels", SERVICE_NAME)):
            yield from _list_numbers((*shown.items_at("ports"), *shown.items_at("portNumbers")))
    for shown in see(case, "Endpoints"):
        for subset in shown.items_at("subsets") if is_made_of(program.name, shown.name) else ():
            yield from _list_numbers(subset.items_at("ports"))
    for failed in failures(case):
        described = (failed.span.source.command or "").split()
        if failed.dport and failed.result in _CLOSED and program.name in described:
            yield failed.dport, failed.span


def _list_numbers(ports: Iterable[Tree]) -> Iterator[tuple[int, Span]]:
    for port in ports:
        number = port.at("port") or port
        if number.text.isdecimal():
            yield int(number.text), number.line


def _list_refused(case: Case) -> Iterator[_Refused]:
    """Yield what was refused or reset, with the port that was asked for."""
    for failed in failures(case):
        if failed.result in _CLOSED and failed.dport:
            yield _Refused(failed.dport, failed.span, failed.dst.is_loopback)
    for lost in case.unplaced:
        asked = _LOCAL.search(lost.span.source.command or "")
        if lost.result in _CLOSED and lost.dst is None and asked is not None:
            yield _Refused(int(asked["port"]), lost.span, local=True)


def _find_published(case: Case, program: _Program, tried: Sequence[_Refused]) -> Finding | None:
    """Report a published port that leads to a port of the container on which its program does not
    listen for others.
    """
    for container in see(case, "Container"):
        if container.name != program.name:
            continue
        for port in container.items_at("ports"):
            outer, inner = port.text_at("hostPort"), port.text_at("containerPort")
            refused = next((one for one in tried if str(one.port) == outer), None)
            missed = inner.isdecimal() and _is_missed(program, int(inner))
            if refused is not None and missed:
                return _report(program, int(inner), (port.line, refused.span), sure=True)
    prose = find_told(case, Circumstance.PUBLISHES)
    for refused in tried if prose is not None else ():
        if prose is not None and program.is_inside(refused.port):
            return _report(program, refused.port, (prose, refused.span), sure=True)
    return None


def _report(program: _Program, target: int, shown: tuple[Span, Span], *, sure: bool) -> Finding:
    inside = program.is_inside(target)
    where = (
        f"port {target} only on its own loopback"
        if inside
        else f"{', '.join(map(str, sorted(program.ports)))}, and not on {target}"
    )
    own = [one for one in program.listeners if one.port == target] or list(program.listeners)
    said = tuple(one.span for one in own[:2])
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{program.name} listens on {where}, where clients are sent.",
        evidence=tuple(dict.fromkeys((*said, *shown))),
        reasoning=(
            "The kernel answers a connection to a port without a listening socket with a reset.",
        ),
        breaks=(f"connections to port {target} of {program.name}",),
        prevention="Give pods a readiness probe on the port that their service sends clients to.",
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        proves=_CLOSED,
        marks=tuple(map(str, (*sorted(program.ports), target))),
    )


def _is_loopback(text: str) -> bool:
    address = read_address(text.strip("[]"))
    return text == "localhost" or (address is not None and address.is_loopback)
