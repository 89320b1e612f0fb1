"""Inbound redirection, which only a packet from outside of the pod can show: asked for at a reflector, or waited for.

What comes in are the settings; what goes out are `Check`s. A reflector is anybody outside who connects back when a datagram asks
for it (TCP alone is redirected, so the datagram gets out): `podpath protect validate --reflect` on the node. It connects to the
sender of the datagram only, within the networks that it was told, and no more often than its budget.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import select
import socket
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.protect.validate.addresses import Family
from podpath.protect.validate.attempt import Listeners
from podpath.protect.validate.judgement import Check
from podpath.protect.validate.plan import Settings
from podpath.protect.validate.sockets import DOMAIN, End, connect, family_of, original_destination, peer

PORT = 15104
"""Where the outside is asked to connect to: a port of no service."""
ASK_AGAIN = 0.2
MOST_PORTS = 16
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_REQUEST = re.compile(rb"podpath-reflect/1 (?P<token>[0-9a-f]{32}) (?P<ports>[0-9]{1,5}(?:,[0-9]{1,5}){0,15})")


class Arrival(NamedTuple):
    """A connection from outside."""

    port: int
    original: End | None
    token: str


def check_inbound(settings: Settings, families: Sequence[Family], deadline: float, *, wait: bool = False) -> tuple[Check, ...]:
    """Test inbound redirection by the reflector, or by whoever comes where `wait` is set."""
    chosen = [family_of(settings.reflector)] if settings.reflector and not wait else list(families)
    asked = (PORT, *settings.skip_inbound)[:MOST_PORTS]
    listeners = Listeners((*settings.inbound, *asked), chosen)
    try:
        token = secrets.token_hex(16)
        checks: list[Check] = []
        for family in chosen:
            asker = None if wait or settings.reflector is None else _Asker(settings.reflector, token, asked)
            try:
                arrivals = _gather(listeners, family, asker, len(asked) if asker else 1, deadline)
            finally:
                if asker is not None:
                    asker.close()
            genuine = [one for one in arrivals if asker is None or one.token == token]
            checks += _judge(settings, family, genuine, listeners, asked if asker else (PORT,))
        return tuple(checks)
    finally:
        listeners.close()


class _Asker:
    """Asks the reflector, again and again."""

    def __init__(self, reflector: End, token: str, ports: Sequence[int]) -> None:
        self.socket = socket.socket(DOMAIN[family_of(reflector)], socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self.reflector = reflector
        self.request = f"podpath-reflect/1 {token} {','.join(map(str, ports))}".encode()

    def ask(self) -> None:
        try:
            self.socket.sendto(self.request, tuple(self.reflector))
        except OSError:
            return  # no route yet: asked again soon, and silence is told at the end

    def close(self) -> None:
        self.socket.close()


def _gather(listeners: Listeners, family: Family, asker: _Asker | None, enough: int, deadline: float) -> list[Arrival]:
    """Take in what arrives until there is enough of it or the time is over."""
    found: dict[int, Arrival] = {}
    asked_at = 0.0
    while len(found) < enough and (left := deadline - time.monotonic()) > 0:
        if asker is not None and time.monotonic() - asked_at >= ASK_AGAIN:
            asker.ask()
            asked_at = time.monotonic()
        poll = select.poll()
        for listener in listeners.sockets.values():
            poll.register(listener, select.POLLIN)
        poll.poll(min(left, ASK_AGAIN) * 1000 + 1)
        for port, came_by, accepted in listeners.arrivals():
            with accepted:
                meant = original_destination(accepted)
                other = peer(accepted)
                if came_by == family and other is not None and not ipaddress.ip_address(other.address).is_loopback:
                    found[meant.port if meant else port] = Arrival(port, meant, _read_token(accepted) if asker else "")
    return list(found.values())


def _read_token(accepted: socket.socket) -> str:
    accepted.settimeout(0.5)
    try:
        return accepted.recv(64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _judge(
    settings: Settings, family: Family, arrivals: Sequence[Arrival], listeners: Listeners, asked: Sequence[int]
) -> Iterator[Check]:
    what = f"IPv{family} inbound redirection"
    by_port = {one.original.port if one.original else one.port: one for one in arrivals}
    came = by_port.get(PORT) or (next(iter(by_port.values()), None) if len(asked) == 1 else None)
    program = "ip6tables" if family == 6 else "iptables"
    rule = f"{program} -t nat -A PREROUTING -p tcp -j REDIRECT --to-ports {settings.inbound[0]}"
    if came is None:
        yield Check("inbound", family, "untested", f"{what} is not tested: nobody connected from outside in time")
    elif came.port in settings.inbound:
        said = f"{what} holds: a connection to {came.original} arrived at port {came.port}."
        yield Check("inbound", family, "passed", said)
    else:
        said = f"{what}: a connection from outside to port {came.port} arrived there; no rule redirects it."
        yield Check("inbound", family, "failed", said, "inbound-missing", rule)
    for port in settings.skip_inbound:
        one, skipped = by_port.get(port), f"IPv{family} skipped inbound port {port}"
        if (family, port) in listeners.busy or one is None:
            why = listeners.busy.get((family, port), "nobody connected to it from outside in time")
            yield Check("skipped-inbound", family, "untested", f"{skipped} is not tested: {why}")
        elif one.port == port:
            yield Check("skipped-inbound", family, "passed", f"{skipped} holds: a connection to it arrived there.")
        else:
            said = f"{skipped}: a connection to it is redirected to port {one.port}, although it must be let go."
            mend = f"{program} -t nat -I PREROUTING -p tcp --dport {port} -j RETURN"
            yield Check("skipped-inbound", family, "failed", said, "skipped-redirected", mend)


class Reflector:
    """Connects back to those who ask, within its networks and its budget."""

    def __init__(self, end: End, networks: Sequence[Network], *, per_second: float = 20.0) -> None:
        """Listen for requests; `OSError` where the port is taken."""
        self.socket = socket.socket(DOMAIN[family_of(end)], socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            self.socket.bind(tuple(end))
        except OSError:
            self.socket.close()
            raise
        self.networks = tuple(networks)
        self.per_second = per_second
        self._budget = per_second
        self._counted_at = time.monotonic()
        self._open: list[tuple[socket.socket, bytes, float]] = []

    def close(self) -> None:
        """End, and hang up on those who were being served."""
        self.socket.close()
        for caller, _, _ in self._open:
            caller.close()

    def serve(self, seconds: float) -> int:
        """Answer those who ask within so many seconds; give how many connections were begun."""
        begun, over = 0, time.monotonic() + seconds
        while (left := over - time.monotonic()) > 0:
            poll = select.poll()
            poll.register(self.socket, select.POLLIN)
            for caller, _, _ in self._open:
                poll.register(caller, select.POLLOUT)
            poll.poll(min(left, 0.2) * 1000 + 1)
            begun += sum(self._answer(*request) for request in self._requests())
            self._open = [one for one in self._open if not self._finish(*one)]
        return begun

    def _requests(self) -> Iterator[tuple[bytes, tuple[str, int]]]:
        while True:
            try:
                yield self.socket.recvfrom(512)
            except (BlockingIOError, ConnectionRefusedError):
                return

    def _answer(self, request: bytes, sender: tuple[str, int]) -> int:
        found = _REQUEST.fullmatch(request)
        address = ipaddress.ip_address(sender[0].partition("%")[0])
        if found is None or not any(address in network for network in self.networks if network.version == address.version):
            return 0
        begun = 0
        for port in dict.fromkeys(int(word) for word in found["ports"].split(b",")):
            if 0 < port < 65536 and self._may():
                caller, _ = connect(End(str(address), port))
                self._open.append((caller, found["token"] + b"\n", time.monotonic() + 2))
                begun += 1
        return begun

    def _may(self) -> bool:
        now = time.monotonic()
        self._budget = min(self.per_second, self._budget + (now - self._counted_at) * self.per_second)
        self._counted_at = now
        if self._budget < 1:
            return False
        self._budget -= 1
        return True

    @staticmethod
    def _finish(caller: socket.socket, token: bytes, over: float) -> bool:
        """Say the token when the connection stands; tell whether it is done with."""
        try:
            caller.send(token)
        except BlockingIOError:
            waiting = caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0 and time.monotonic() < over
        except OSError:
            waiting = False
        else:
            waiting = False
        if not waiting:
            caller.close()
        return not waiting
