"""localhost-of-another: a program listens on localhost, or is asked there, and the other end has a
localhost of its own.

What it is
    A container asks for a program at localhost and is refused, while the program runs in another
    container or on the host. Or a program says that it listens on localhost (`Local:
    http://localhost:5173/`, `Forwarding from 127.0.0.1:8080`), and is asked at another address.

Why it breaks
    127.0.0.1 belongs to a network namespace. Each container has its own, unless it runs with the
    host's network or joins another's; the containers of one pod share theirs. What is published
    comes in by the container's card, and not by its loopback.

How to confirm
    docker inspect NAME --format '{{.HostConfig.NetworkMode}}'
    ss -lntp      # in the container or pod of the program

How to fix
    Ask for the other container by its name (the service's name in Compose), for a program of the
    host by host.docker.internal or host.containers.internal. Let the program listen on 0.0.0.0
    (`--host`, `kubectl port-forward --address 0.0.0.0`).

References
    network_namespaces(7); Docker's documentation, Bridge network driver; kubectl port-forward,
    --address
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, failures, see
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import HOST

CATEGORIES = (Category.NO_LISTENER, Category.WRONG_PORT, Category.APPLICATION)
NAME = "localhost-of-another"
LIKELY, POSSIBLE = 0.8, 0.6
_CLOSED = frozenset({FailureKind.REFUSED, FailureKind.RESET})
_FRESH = re.compile(r"\b(?:docker|podman|nerdctl)\b[^\n]*\brun\b")
"""A container that is started to ask: no server runs in it."""
_OF_HOST = re.compile(r"--net(?:work)?[ =](?:host|container:)")
ASK_NETWORK = FollowUp(
    "whether the program runs in the same network as who asks",
    "docker inspect NAME --format '{{.HostConfig.NetworkMode}}'; ss -lntp (in both containers)",
    "another container's, or the host's: ask for it by its name; the same: nothing listens there",
)
ASK_LISTENER = FollowUp(
    "on which address the program listens",
    "ss -lntp (in the container or on the machine of the program)",
    "127.0.0.1 or [::1] alone: let it listen on all addresses",
)


def check(case: Case) -> Iterator[Finding]:
    """Report the first program that says it listens on localhost alone and is asked elsewhere, else
    the first workload that is refused at its own localhost.
    """
    found = next(_find_listening(case), None) or next(_find_asking(case), None)
    if found is not None:
        yield found


def _find_listening(case: Case) -> Iterator[Finding]:
    listening = find_said(case, MessageKind.PROGRAM_LISTENS)
    outer = {said.values.get("port") for said in listening if not _is_local(said)}
    for said in listening:
        port = int(said.values.get("port") or 0)
        asked = _find_asked(case, port)
        if _is_local(said) and asked is not None and said.values["port"] not in outer:
            yield _report(
                f"The program says that it listens at {said.values['address']}:{port}: nobody but "
                "its own container or machine reaches it there.",
                (said.span, asked),
                LIKELY,
                ASK_LISTENER,
            )


def _find_asked(case: Case, port: int) -> Span | None:
    """Return what shows that a port is closed to others: an attempt at another address, or words
    of the port or of what is published.
    """
    for one in failures(case):
        if one.dport == port and one.result in _CLOSED and not one.dst.is_loopback:
            return one.span
    for told in list_failing(case):
        published = Circumstance.PUBLISHES in told.circumstances and not told.ports
        inner = any(address.is_loopback for address in told.addresses)
        if told.failure in _CLOSED and not inner and (port in told.ports or published):
            return told.span
    return None


def _is_local(said: Message) -> bool:
    address = said.values.get("address", "")
    return address in {"localhost", "[::1]"} or address.startswith("127.")


def _find_asking(case: Case) -> Iterator[Finding]:
    for told in list_failing(case):
        local = "localhost" in told.spoken or any(one.is_loopback for one in told.addresses)
        closed = told.failure is FailureKind.REFUSED
        if told.source is EndKind.CONTAINER and local and closed and not _is_shared(case):
            yield _report_asking(told.span)
    tried = [(one.span, one.result) for one in case.unplaced]
    tried += [(one.span, one.result) for one in case.attempts]
    for span, result in tried:
        typed = span.source.typed
        words = set((span.source.command or "").split())
        fresh = _FRESH.search(typed) is not None and _OF_HOST.search(typed) is None
        inner = fresh and bool(words & {"localhost", "127.0.0.1"})
        if inner and result is FailureKind.REFUSED and not _is_shared(case):
            yield _report_asking(span)


def _is_shared(case: Case) -> bool:
    """Tell whether anything speaks of the host's network, or lists what listens in a container."""
    spoken = {word for told in list_failing(case) for word in told.spoken}
    inner = any(
        name != HOST and netns.sockets.items for name, netns in case.node.namespaces.items()
    )
    return inner or "hostnetwork" in spoken or any(map(_is_of_host, see(case, "Container")))


def _is_of_host(container: ObjectSightings) -> bool:
    mode = container.at("network_mode") or container.at("HostConfig", "NetworkMode")
    return mode is not None and mode.text == "host"


def _report_asking(span: Span) -> Finding:
    return _report(
        "localhost in a container is the container itself: a program of another container, or of "
        "the host, is not there.",
        (span,),
        POSSIBLE,
        ASK_NETWORK,
    )


def _report(claim: str, evidence: tuple[Span, ...], certainty: float, ask: FollowUp) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=evidence,
        reasoning=("A loopback address belongs to a network namespace.",),
        breaks=("connections between containers, or from elsewhere, that use it",),
        prevention="Use names of containers and services, and let servers listen on all addresses.",
        certainty=certainty,
        asks=(ask,),
        marks=("localhost", "127.0.0.1"),
    )
