"""The reflector itself: it connects back to whoever asks and proves to be there, within its
networks and its budgets.

It is a stranger's tool unless it is held short: a request is heard only from this node's pods (or
the networks named), served only after the cookie came back from the very address and port that
asked, connected is only to that address, by at most sixteen ports, with a budget for each asker and
for all, and nothing is sent on a connection but the asker's own token. What it keeps of an asker is
bounded, and a cookie is kept nowhere: it is computed again.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import ipaddress
import secrets
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from podpath_protect.netlink import device_name
from podpath_protect.reflect.arrival import ask_for_device, list_uplinks, read_device
from podpath_protect.reflect.messages import (
    LONGEST,
    Cookie,
    Fate,
    ReflectRequest,
    Report,
    emit,
    parse_ask,
)
from podpath_protect.reflect.options import Network
from podpath_protect.validate.sockets import DOMAIN, SocketEnd, connect, family_of

LIFETIME = 1.5
"""Seconds that a connection has to stand."""
MOST_OPEN = 256
"""Connections that are open at once."""
COOKIE_SECONDS = 30
"""How long a cookie is good for at least; twice as long at most."""
ROUNDS_PER_SECOND, ROUNDS_AT_ONCE = 2.0, 4.0
"""What one asker may ask."""
MOST_ASKERS = 1024
UPLINKS_SECONDS = 10.0
"""How long the list of default routes is taken to hold."""


@dataclass(slots=True)
class Bucket:
    """A budget that fills again with time."""

    per_second: float
    most: float
    left: float
    at: float

    def take(self, now: float, cost: float) -> bool:
        """Spend where there is enough."""
        self.left = min(self.most, self.left + (now - self.at) * self.per_second)
        self.at = now
        if self.left < cost:
            return False
        self.left -= cost
        return True


@dataclass(slots=True)
class _ServedRequest:
    """A request that is being served."""

    listener: socket.socket
    asker: tuple[str, int]
    ask: ReflectRequest
    over: float
    callers: dict[int, socket.socket] = field(default_factory=dict)
    fates: dict[int, Fate] = field(default_factory=dict)


class Reflector:
    """Sockets for requests, and the connections that are being made. Mutable; of one thread."""

    def __init__(
        self,
        ends: Iterable[SocketEnd],
        networks: Sequence[Network] = (),
        *,
        per_second: float = 50.0,
        uplinks: Callable[[], frozenset[str]] = list_uplinks,
    ) -> None:
        """Listen; `OSError` where an address is taken or not of this host."""
        self.networks, self._uplinks = tuple(networks), uplinks
        self.counts: Counter[str] = Counter()
        """Requests by what became of them, and connections by their fate
        (`connection-accepted`).
        """
        self._secret = secrets.token_bytes(32)
        now = time.monotonic()
        self._budget = Bucket(per_second, 2 * per_second, 2 * per_second, now)
        self._askers: dict[str, Bucket] = {}
        self._rounds: list[_ServedRequest] = []
        self._known_uplinks: tuple[float, frozenset[str]] = (float("-inf"), frozenset())
        self._listeners: list[socket.socket] = []
        try:
            for end in ends:
                self._listeners.append(_listen(end))
        except OSError:
            self.close()
            raise

    @property
    def ends(self) -> tuple[SocketEnd, ...]:
        """Return where it listens."""
        return tuple(SocketEnd(*listener.getsockname()[:2]) for listener in self._listeners)

    def close(self) -> None:
        """End, and hang up on those who are being served."""
        for listener in self._listeners:
            listener.close()
        for one in self._rounds:
            for caller in one.callers.values():
                caller.close()
        self._rounds.clear()

    def serve(self, seconds: float, wake: int = -1) -> None:
        """Answer those who ask within so many seconds, or until the descriptor `wake` is
        readable.
        """
        over = time.monotonic() + seconds
        while (left := over - time.monotonic()) > 0:
            poll = select.poll()
            for listener in self._listeners:
                poll.register(listener, select.POLLIN)
            if wake >= 0:
                poll.register(wake, select.POLLIN)
            for one in self._rounds:
                for caller in one.callers.values():
                    poll.register(caller, select.POLLOUT)
            until = min((one.over for one in self._rounds), default=over)
            ready = dict(poll.poll(max(0.0, min(left, until - time.monotonic())) * 1000 + 1))
            for listener in self._listeners:
                if listener.fileno() in ready:
                    self._hear(listener)
            self._rounds = [one for one in self._rounds if not self._go_on(one, time.monotonic())]
            if wake in ready:
                return

    def _hear(self, listener: socket.socket) -> None:
        for data, asker, device in _receive(listener):
            ask = parse_ask(data)
            if ask is None:
                outcome = "malformed"
            else:
                outcome = self._consider(listener, ask, asker, device, time.monotonic())
            self.counts[outcome] += 1

    def _consider(
        self,
        listener: socket.socket,
        ask: ReflectRequest,
        asker: tuple[str, int],
        device: int,
        now: float,
    ) -> str:
        if not self._serves(asker[0], device, now):
            return "foreign"
        cookies = [self._cookie(ask, asker, int(now // COOKIE_SECONDS) - age) for age in (0, 1)]
        if not any(hmac.compare_digest(ask.cookie, cookie) for cookie in cookies):
            _send(listener, emit(Cookie(ask.token, cookies[0])), asker)
            return "challenged"
        if any(one.ask.token == ask.token and one.asker == asker for one in self._rounds):
            return "repeated"
        if sum(len(one.callers) for one in self._rounds) + len(
            ask.ports
        ) > MOST_OPEN or not self._may(asker[0], ask, now):
            return "held"
        self._begin(listener, ask, asker, now)
        return "served"

    def _serves(self, address: str, device: int, now: float) -> bool:
        asker = ipaddress.ip_address(address.partition("%")[0])
        if asker.is_link_local or asker.is_multicast or asker.is_unspecified:
            return False
        if self.networks:
            return any(
                asker in network for network in self.networks if network.version == asker.version
            )
        if now - self._known_uplinks[0] > UPLINKS_SECONDS:
            self._known_uplinks = (now, self._uplinks())
        name = device_name(device) if device else None
        return name is not None and name not in self._known_uplinks[1]

    def _cookie(self, ask: ReflectRequest, asker: tuple[str, int], window: int) -> str:
        text = f"{asker[0]} {asker[1]} {ask.token} {ask.ports} {window}"
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()[:32]

    def _may(self, address: str, ask: ReflectRequest, now: float) -> bool:
        if address not in self._askers and len(self._askers) >= MOST_ASKERS:
            del self._askers[next(iter(self._askers))]
        own = self._askers.setdefault(
            address, Bucket(ROUNDS_PER_SECOND, ROUNDS_AT_ONCE, ROUNDS_AT_ONCE, now)
        )
        return own.take(now, 1) and self._budget.take(now, len(ask.ports))

    def _begin(
        self, listener: socket.socket, ask: ReflectRequest, asker: tuple[str, int], now: float
    ) -> None:
        one = _ServedRequest(listener, asker, ask, now + LIFETIME)
        for port in ask.ports:
            caller, code = connect(SocketEnd(asker[0], port))
            if code:
                caller.close()
                self._settle(one, port, _name_fate(code))
            else:
                one.callers[port] = caller
        self._rounds.append(one)

    def _settle(self, one: _ServedRequest, port: int, fate: Fate) -> None:
        one.fates[port] = fate
        self.counts[f"connection-{fate}"] += 1

    def _go_on(self, one: _ServedRequest, now: float) -> bool:
        """Say the token where a connection stands, and report when all are over; tell whether the
        round is done with.
        """
        for port, caller in list(one.callers.items()):
            fate = _look(caller, one.ask.token) or ("silent" if now >= one.over else None)
            if fate is not None:
                caller.close()
                del one.callers[port]
                self._settle(one, port, fate)
        if one.callers:
            return False
        ordered = {port: one.fates[port] for port in one.ask.ports}
        _send(one.listener, emit(Report(one.ask.token, ordered)), one.asker)
        return True


def _look(caller: socket.socket, token: str) -> Fate | None:
    """Say the token on a connection that stands; give what became of it, None while that is
    open.
    """
    code = caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        return _name_fate(code)
    try:
        caller.send(token.encode() + b"\n")
    except BlockingIOError:
        return None
    except OSError as error:
        return _name_fate(error.errno)
    return "accepted"


def _name_fate(code: int | None) -> Fate:
    if code == errno.ECONNREFUSED:
        return "refused"
    return "silent"


def _listen(end: SocketEnd) -> socket.socket:
    listener = socket.socket(
        DOMAIN[family_of(end)], socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    )
    try:
        if family_of(end) == 6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        ask_for_device(listener)
        listener.bind(tuple(end))
    except OSError:
        listener.close()
        raise
    return listener


def _receive(listener: socket.socket) -> Iterator[tuple[bytes, tuple[str, int], int]]:
    """Yield the datagrams that wait, with their sender and the device by which they came; at most
    as many as fit one turn.
    """
    for _ in range(64):
        try:
            data, ancillary, _, sender = listener.recvmsg(LONGEST + 1, 256)
        except (BlockingIOError, ConnectionRefusedError):
            return
        yield data, (sender[0], sender[1]), read_device(ancillary)


def _send(listener: socket.socket, data: bytes, asker: tuple[str, int]) -> None:
    try:
        listener.sendto(data, asker)
    except OSError:
        return  # no way back by now: who asked asks again
