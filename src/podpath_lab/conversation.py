"""One probe sent on a real kernel with real sockets, and everything that could be seen of it.

Servers listen in every namespace of the twin, so that a translated or misrouted connection is
answered wherever it ends up; the client binds the probe's source and connects. All sockets live in
this process, each made inside its namespace.
"""

from __future__ import annotations

import errno
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.datapath.conversations.acts import ECHO_PAYLOAD, PAYLOAD
from podpath.net import protocols
from podpath.net.addresses import Family
from podpath.net.probe import Probe, Sending
from podpath_lab.apply import as_user, inside
from podpath_lab.frames import SeenFrame, Tap

QUIET = 0.012
"""Seconds without any frame after which nothing more is to come: shorter than TCP's first
retransmission (1 s).
"""
LATE = 0.25
"""Seconds to wait for a frame that is predicted and has not come."""
REQUEST, ANSWER = b"podpath?".ljust(PAYLOAD, b"."), b"podpath!".ljust(PAYLOAD, b".")
"""As long as the model's data, so that a match on the length sees the same."""
_IP_FREEBIND = 15
_MTU_DISCOVER, _DONT, _DO = 10, 0, 2
"""IP_MTU_DISCOVER with IP_PMTUDISC_DONT and _DO (linux/in.h), which Python does not name."""
_IPV6_FREEBIND, _MTU_DISCOVER6 = 78, 23
"""Of linux/in6.h; Python does not name them either."""
_TRANSPARENT: dict[int, tuple[int, int]] = {
    socket.AF_INET: (socket.IPPROTO_IP, 19),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 75),
}
"""Level and number of IP_TRANSPARENT and IPV6_TRANSPARENT."""
_NO_ADDRESS = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - of a private world
_PACKET_INFO: dict[int, tuple[int, int, int]] = {
    socket.AF_INET: (socket.IPPROTO_IP, 8, 8),
    socket.AF_INET6: (socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, socket.IPV6_PKTINFO),
}
"""For a datagram's own destination: level, the option that asks for it (IP_PKTINFO), and what a
message calls it."""
_LINK_LOCAL = b"\xfe\x80"
_ECHO = (protocols.ICMP, protocols.ICMPV6)
_ESTABLISHED, _SYN_SENT = 1, 2
"""A connection that stands is none that failed: SO_ERROR also gives errors that only a later
failure would be put down to.
"""


class Timeouts(NamedTuple):
    """How long to wait for more to come."""

    quiet: float = QUIET
    """Seconds without any frame after which nothing more is to come."""
    predicted: int = 0
    """IP frames that a model says will come: before they are there, silence only means that the
    machine is busy.
    """

    def seconds(self, frames: list[SeenFrame]) -> float:
        """Return how long a silence may last after these frames."""
        if sum(frame.packet is not None for frame in frames) >= self.predicted:
            return self.quiet
        return max(self.quiet, LATE)


USUAL = Timeouts()


class Observation(NamedTuple):
    """What the kernel did with one probe."""

    frames: tuple[SeenFrame, ...]
    """On every device of every namespace, in order of time."""
    application: str
    """What the client saw: `ok`, `connected` (but no answer to its data), `timeout`, or an error
    name such as `ECONNREFUSED`.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """Listening sockets of a lab, by file object."""

    tcp: tuple[socket.socket, ...]
    udp: tuple[socket.socket, ...]
    request: bytes = REQUEST
    """What a client sends, and a server answers once it has all of it."""
    received: dict[socket.socket, bytes] = field(default_factory=dict)
    """What came in on connections whose request is not whole yet."""

    def close(self) -> None:
        """Close them all."""
        for server in (*self.tcp, *self.udp):
            server.close()


def open_servers(
    listening: Mapping[str, Iterable[int]],
    size: int = PAYLOAD,
    version: Family = 4,
    proxies: Mapping[str, Iterable[int]] | None = None,
) -> Servers:
    """Listen on TCP and UDP ports in namespaces; `listening` maps a namespace to its ports, and
    `proxies` to those of transparent sockets of TCP; `size` is of a request in bytes, `version`
    that of IP.
    """
    family = _family(version)
    level, asks, _ = _PACKET_INFO[family]
    tcp, udp = [], []
    for netns, proxied in (proxies or {}).items():
        with inside(netns):
            tcp += [_listen(family, port, transparent=True) for port in proxied]
    for netns, ports in listening.items():
        with inside(netns):
            for port in ports:
                tcp.append(_listen(family, port))
                datagram = socket.socket(family, socket.SOCK_DGRAM)
                datagram.setsockopt(level, asks, 1)  # answer from the address that was asked
                datagram.bind((_NO_ADDRESS[family], port))
                datagram.setblocking(False)
                udp.append(datagram)
    return Servers(tcp=tuple(tcp), udp=tuple(udp), request=REQUEST.ljust(size, b"."))


def _listen(family: socket.AddressFamily, port: int, *, transparent: bool = False) -> socket.socket:
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if transparent:
        level, option = _TRANSPARENT[family]
        server.setsockopt(level, option, 1)
    server.bind((_NO_ADDRESS[family], port))
    server.listen(16)
    server.setblocking(False)
    return server


def send_probe(
    probe: Probe,
    tap: Tap,
    servers: Servers,
    *,
    patience: Timeouts = USUAL,
    before_closing: Callable[[], None] = lambda: None,
) -> Observation:
    """Send the probe from its namespace and watch until nothing moves any more.

    `before_closing` runs when all is quiet and the connection still stands: what closing sends is
    not part of the exchange.
    """
    tap.read()
    client, application = _start(probe, servers.request)
    frames: list[SeenFrame] = []
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        stack.callback(client.close)
        for descriptor in (*tap.descriptors, *servers.tcp, *servers.udp):
            selector.register(descriptor, selectors.EVENT_READ)
        if application == "timeout":
            selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
        deadline = time.monotonic() + patience.seconds(frames)
        end = time.monotonic() + 0.9
        while (left := min(deadline, end) - time.monotonic()) > 0:
            moved = False
            # Servers first: a connection is accepted before the client's data are sent, and so has
            # an owner when it answers.
            for key, events in sorted(
                selector.select(left), key=lambda ready: ready[0].fileobj is client
            ):
                if key.fileobj is client:
                    application = (
                        _advance_client(probe, client, selector, events, servers.request)
                        or application
                    )
                elif isinstance(key.fileobj, socket.socket) and key.fileobj not in tap.descriptors:
                    moved = True
                    _serve(key.fileobj, servers, selector, stack)
            new = tap.read()
            frames += new
            if moved or new:
                deadline = time.monotonic() + patience.seconds(frames) / (
                    1 if application != "ok" else 4
                )
        if _is_unanswered(probe, client):
            client.close()  # without a packet, and before its SYN goes out again
        before_closing()
        if probe.protocol == protocols.TCP and client.fileno() >= 0:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    tap.read()
    return Observation(tuple(sorted(frames, key=lambda frame: frame.time)), application)


def _is_unanswered(probe: Probe, client: socket.socket) -> bool:
    """Tell whether a client still waits for the answer to its SYN: what is counted afterwards takes
    seconds on a slow machine, and the SYN would be counted again.
    """
    if probe.protocol != protocols.TCP:
        return False
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _SYN_SENT


def watch_frame(
    send: Callable[[], None], tap: Tap, *, patience: Timeouts = USUAL, at_end: Callable[[], None]
) -> Observation:
    """Send something that no socket answers for, and watch until nothing moves any more."""
    tap.read()
    frames: list[SeenFrame] = []
    with selectors.DefaultSelector() as selector:
        for descriptor in tap.descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        send()
        while selector.select(patience.seconds(frames)):
            frames += tap.read()
    at_end()
    return Observation(tuple(sorted(frames, key=lambda frame: frame.time)), "")


def _start(probe: Probe, request: bytes) -> tuple[socket.socket, str]:
    kinds = {
        protocols.TCP: (socket.SOCK_STREAM, 0),
        protocols.UDP: (socket.SOCK_DGRAM, 0),
        protocols.ICMP: (socket.SOCK_RAW, socket.IPPROTO_ICMP),
        protocols.ICMPV6: (socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    }
    kind, protocol = kinds[probe.protocol]
    version = probe.src.family
    with inside(probe.netns):
        client = _open(_family(version), kind, protocol, probe.sending.uid)
    _configure(client, probe.sending)
    client.setblocking(False)
    if version == 4:
        client.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    else:
        client.setsockopt(socket.IPPROTO_IPV6, _IPV6_FREEBIND, 1)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        client.bind((str(probe.src), 0 if probe.protocol in _ECHO else probe.sport))
        client.connect((str(probe.dst), 0 if probe.protocol in _ECHO else probe.dport))
        if probe.protocol == protocols.UDP:
            client.send(request)
        elif probe.protocol in _ECHO:
            asks = protocols.ECHO_REQUESTS[probe.protocol]
            client.send(_echo_request(asks, probe.sport))
    except BlockingIOError:
        return client, "timeout"
    except OSError as error:
        return client, errno.errorcode.get(error.errno or 0, str(error))
    return client, "timeout"


def _family(version: Family) -> socket.AddressFamily:
    return socket.AF_INET if version == 4 else socket.AF_INET6


def _open(family: int, kind: int, protocol: int, uid: int) -> socket.socket:
    """Open a socket that a user owns: it keeps who opened it."""
    with as_user(uid) if uid else nullcontext():
        return socket.socket(family, kind, protocol)


def _configure(client: socket.socket, sending: Sending) -> None:
    """Set the options that a probe names on its client's socket."""
    if sending.mark:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, struct.pack("=I", sending.mark))
    level, lives, service, discovers = _OPTIONS[client.family]
    if sending.ttl is not None:
        client.setsockopt(level, lives, sending.ttl)
    if sending.dscp:
        client.setsockopt(level, service, sending.dscp << 2)
    if sending.dont_fragment is not None:
        client.setsockopt(level, discovers, _DO if sending.dont_fragment else _DONT)


_OPTIONS = {
    socket.AF_INET: (socket.IPPROTO_IP, socket.IP_TTL, socket.IP_TOS, _MTU_DISCOVER),
    socket.AF_INET6: (
        socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, socket.IPV6_TCLASS, _MTU_DISCOVER6,
    ),
}  # fmt: skip
"""Level, and options for TTL, TOS and path MTU discovery."""


def _echo_request(kind: int, identifier: int) -> bytes:
    """Encode an echo request; in ICMPv6 the kernel puts in the checksum (RFC 3542, 3.1)."""
    body: bytes = struct.pack("!BBHHH", kind, 0, 0, identifier, 1) + bytes(ECHO_PAYLOAD)
    total = sum(struct.unpack(f"!{len(body) // 2}H", body))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~(total + (total >> 16)) & 0xFFFF
    return b"".join((body[:2], checksum.to_bytes(2, "big"), body[4:]))


def _advance_client(
    probe: Probe,
    client: socket.socket,
    selector: selectors.BaseSelector,
    events: int,
    request: bytes,
) -> str | None:
    """Go on with the client's part; the answer is what the client sees now, None where that did not
    change.
    """
    try:
        if events & selectors.EVENT_WRITE:
            selector.modify(client, selectors.EVENT_READ)
            if probe.protocol == protocols.TCP:
                failure = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if (
                    failure
                    and client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != _ESTABLISHED
                ):
                    selector.unregister(client)
                    return errno.errorcode.get(failure, str(failure))
                client.send(request)
                return "connected"
        if events & selectors.EVENT_READ:
            data = client.recv(2048)
            return "ok" if _is_answer(probe, data) else None
    except BlockingIOError:
        return None
    except OSError as error:
        selector.unregister(client)
        return errno.errorcode.get(error.errno or 0, str(error))
    return None


def _is_answer(probe: Probe, data: bytes) -> bool:
    if probe.protocol not in _ECHO:
        return data == ANSWER
    header = (data[0] & 15) * 4 if data and probe.protocol == protocols.ICMP else 0
    return (
        len(data) >= header + 6
        and data[header] == protocols.ECHO_REPLIES[probe.protocol]
        and int.from_bytes(data[header + 4 : header + 6], "big") == probe.sport
    )


def _serve(
    ready: socket.socket, servers: Servers, selector: selectors.BaseSelector, stack: ExitStack
) -> None:
    try:
        if ready in servers.tcp:
            connection, _ = ready.accept()
            connection.setblocking(False)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stack.callback(connection.close)
            selector.register(connection, selectors.EVENT_READ)
        elif ready in servers.udp:
            data, ancillary, _, sender = ready.recvmsg(2048, 64)
            if data == servers.request:
                ready.sendmsg([ANSWER], list(_answer_from(ready.family, ancillary)), 0, sender)
        elif not _take(ready, servers):
            selector.unregister(ready)
    except BlockingIOError:
        return
    except OSError:
        if ready not in servers.tcp and ready not in servers.udp:
            selector.unregister(ready)


def _answer_from(
    family: int, ancillary: list[tuple[int, int, bytes]]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield what has an answer sent from the address that was asked, by whatever device."""
    level, _, called = _PACKET_INFO[family]
    for _, kind, value in ancillary:
        if kind != called:
            continue
        if family == socket.AF_INET:
            yield level, called, struct.pack("=I4s4s", 0, value[4:8], value[4:8])
        else:  # a link-local address is one of its device
            yield level, called, value if value[:2] == _LINK_LOCAL else value[:16] + bytes(4)


def _take(connection: socket.socket, servers: Servers) -> bool:
    """Read what came, and answer a request that is whole; False where nothing more is expected."""
    data = connection.recv(65536)
    held = servers.received[connection] = servers.received.get(connection, b"") + data
    if held == servers.request and data:
        connection.send(ANSWER)
    return bool(data) and servers.request.startswith(held)
