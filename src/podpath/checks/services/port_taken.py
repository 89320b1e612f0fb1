"""port-taken: the port that a program wants to listen on is in use.

What it is
    A program or container cannot listen: `address already in use`, `port is already allocated`.

Why it breaks
    A port on an address belongs to one listener. Another container, a host service
    (systemd-resolved or dnsmasq on 53, a web server on 80) or an old process holds it, so the new
    one does not start, and clients reach the other one. A listener on all addresses blocks the port
    on each single address, and a listener on one address blocks a program that wants the port on
    all.
    A listing of listening sockets does not show all that has a port: a connection may have it as
    its own, or a socket that is bound and does not listen.

How to confirm
    ss -ltnup | grep ':PORT '; docker ps --filter publish=PORT

How to fix
    Stop what holds the port, or use another port or address for the new one.

References
    bind(2), EADDRINUSE; inet_csk_bind_conflict (net/ipv4/inet_connection_sock.c)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.objects import see
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net import protocols
from podpath.net.addresses import Address, read_address
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import HOST, Socket

CATEGORIES = (Category.APPLICATION, Category.OTHER, Category.DNS_SERVER)
NAME = "port-taken"
WAITS = frozenset({"LISTEN", "UNCONN"})
"""States of a socket that nothing is connected to."""


UNLISTED = 0.6
"""The certainty where no listening socket has the port."""
READ = 20_000
"""Lines of a log in which a program says that it listens."""
_FAILS = re.compile(r"\b(?:in use|fail\w*|error|cannot|unable|bind)\b", re.IGNORECASE)
DNS = "53"
_OF_NAMES = (MessageKind.NAME_SERVER_NOT_BOUND,)
"""What a name server says of its own port; a check of its own tells of it where nobody is seen to
have the port.
"""


class _Holder(NamedTuple):
    """Who has the port, and the line that says so."""

    name: str
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report what could not listen, and who has its port, where an output lists them."""
    named = [message for message in find_said(case, *_OF_NAMES) if _is_taken(message)]
    held = [
        (message, _find_holder(case, message))
        for message in (*find_said(case, MessageKind.PORT_TAKEN), *named)
    ]
    said = [one for one, by in held if by is not None or one not in named]
    if not said:
        return
    message, holder = next(((one, by) for one, by in held if by is not None), (said[0], None))
    port = get_value([message, *said], "port") or (DNS if message in named else "")
    found = tell(NAME, [message, *(one for one in said if one != message)], _explain(port, holder))
    shown = holder.span if holder is not None else _find_listening(case, message, port)
    if shown is not None:
        span, *others = found.evidence
        yield replace(found, evidence=tuple(dict.fromkeys((span, shown, *others))))
    elif port.isdigit() and _is_listed_free(case, message, int(port)):
        yield replace(found, certainty=UNLISTED, asks=(_ask_for_holder(port),))
    else:
        yield found


def _find_listening(case: Case, message: Message, port: str) -> Span | None:
    """Return a line of a log in which a program says that it listens on the port."""
    listens = re.compile(rf"\blisten(?:s|ing)\b(?: (?:on|at)\b)?[^\n]{{0,40}}?(?<!\d){port}(?!\d)")
    sources = dict.fromkeys((message.span.source, *(gap.span.source for gap in case.gaps)))
    for source in sources:
        for number, line in enumerate(source.lines[:READ], source.first_line):
            if port and listens.search(line) and not _FAILS.search(line):
                return Span(source, number, number)
    return None


def _is_listed_free(case: Case, message: Message, port: int) -> bool:
    """Tell whether a whole listing shows no socket with the port."""
    netns = case.node.namespaces.get(message.netns or HOST)
    protocol = _read_protocol(message)
    if netns is None or not netns.shows_sockets(protocol):
        return False
    return all(one.port != port for one in netns.sockets.items if one.protocol == protocol)


def _ask_for_holder(port: str) -> FollowUp:
    return FollowUp(
        "who has the port, which no listening socket that is listed has",
        f"ss -tuanp | grep ':{port} '; ps aux | grep -e docker-proxy -e rootlessport; lsns -t net",
        "a connection that has it as its own port, or a proxy that is left of a container: end it; "
        "nothing: a socket that is bound and does not listen, or it was free again",
    )


def _is_taken(message: Message) -> bool:
    return "ddress already in use" in message.values.get("error", "")


def _explain(port: str, holder: _Holder | None) -> Meaning:
    place = f" {port}" if port else ""
    by = f"is taken by {holder.name}" if holder is not None else "is in use already"
    return Meaning(
        claim=f"The port{place} {by}, so the new listener does not start.",
        breaks="the program that should listen there",
        cure="stop what holds the port, or use another one",
        commands=(f"ss -ltnup | grep ':{port or 'PORT'} '",),
    )


def _find_holder(case: Case, message: Message) -> _Holder | None:
    """Return who listens where the message says that somebody does: a socket with its program, or
    a container that publishes the port.
    """
    port = message.values.get("port") or message.values.get("bound") or ""
    if message.kind in _OF_NAMES:
        port = DNS
    if not port.isdigit():
        return None
    for container in see(case, "Container"):
        for published in container.items_at("ports"):
            if published.text_at("hostPort") == port and container.name:
                return _Holder(f"the container {container.name}", published.line)
    wanted = _read_end(message.values.get("address", ""))
    for name in dict.fromkeys((message.netns, HOST)):
        netns = case.node.namespaces.get(name)
        sockets = netns.sockets.items if netns is not None else ()
        for socket in sockets:
            in_the_way = _is_in_the_way(socket, message, int(port), wanted)
            if in_the_way and socket.span is not None:
                return _Holder(socket.process, socket.span)
    return None


def _is_in_the_way(socket: Socket, message: Message, port: int, wanted: Address | None) -> bool:
    """Tell whether a listed socket keeps the address and port from another, and its program is
    named. A name server listens by both protocols, and does not say which one failed.
    """
    fits = socket.protocol == _read_protocol(message) or message.kind in _OF_NAMES
    alike = fits and socket.port == port and socket.state in WAITS
    if not alike or not socket.process:
        return False
    own = None if socket.local is None or socket.local.is_unspecified else socket.local
    return wanted is None or own is None or own == wanted


def _read_protocol(message: Message) -> int:
    return protocols.UDP if "udp" in message.span.text.lower() else protocols.TCP


def _read_end(text: str) -> Address | None:
    """Return the address that somebody wants to listen on; None where he wants all."""
    address = read_address(text.strip("[]"))
    return None if address is None or address.is_unspecified else address
