"""One round of probes: every connection is opened at once, and each arrival is asked where it meant
to go.

What comes in are probes; what goes out is an `Outcome` for each: the port of ours at which it
arrived with the destination that it had before, or the error, or silence. Redirected connections
arrive within the call that begins them, since the loopback delivers at once; so those that should
not arrive are given only a moment longer.
"""

from __future__ import annotations

import ctypes
import errno
import select
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from podpath_protect.validate.addresses import Family
from podpath_protect.validate.plan import PlannedProbe
from podpath_protect.validate.sockets import (
    ANY,
    SocketEnd,
    connect,
    listen,
    local,
    original_destination,
    peer,
)

MOMENT = 0.03
"""Seconds that a connection which should not arrive has to do so nevertheless."""
LONGEST = 1.0
"""Seconds after which a round is over and another may begin, as istio's probe does it."""


class ProbeOutcome(NamedTuple):
    """What became of a probe."""

    probe: PlannedProbe
    port: int | None
    """The port of ours at which it arrived; None where it did not."""
    original: SocketEnd | None = None
    """Where it meant to go, by conntrack; None where it did not arrive, or conntrack knows
    nothing.
    """
    error: int = 0
    """The error of the connection; 0 for none, or silence."""
    at_once: bool = False
    """The error came from the call itself: the packet was never sent. Later ones are answers from
    outside.
    """

    @property
    def arrived(self) -> bool:
        """Tell whether it came to us although it was meant for another."""
        return self.port is not None and self.original == self.probe.target

    @property
    def as_wanted(self) -> bool:
        """Tell whether the rules did what they should."""
        if self.probe.redirected:
            return self.arrived and self.port in self.probe.ports
        return self.port is None and self.error not in {
            errno.ECONNREFUSED,
            errno.EACCES,
            errno.EPERM,
        }


class Listeners:
    """Sockets at the ports where the proxy will listen, in every family that there is."""

    def __init__(self, ports: Sequence[int], families: Sequence[Family]) -> None:
        """Listen; a port that is taken is remembered, not refused."""
        self.sockets: dict[tuple[Family, int], socket.socket] = {}
        self.busy: dict[tuple[Family, int], str] = {}
        for family in families:
            for port in dict.fromkeys(ports):
                try:
                    self.sockets[family, port] = listen(SocketEnd(ANY[family], port))
                except OSError as error:
                    self.busy[family, port] = error.strerror or str(error)

    def close(self) -> None:
        """Release all of them."""
        for listener in self.sockets.values():
            listener.close()

    def arrivals(self) -> Iterator[tuple[int, Family, socket.socket]]:
        """Accept whoever waits: the port, the family and the connection."""
        for (family, port), listener in self.sockets.items():
            while True:
                try:
                    accepted, _ = listener.accept()
                except (BlockingIOError, ConnectionAbortedError):
                    break
                yield port, family, accepted


def attempt(
    listeners: Listeners, probes: Sequence[PlannedProbe], deadline: float
) -> tuple[ProbeOutcome, ...]:
    """Try all probes at once; over at the deadline at the latest."""
    callers = [_begin(probe) for probe in probes]
    arrived: dict[tuple[Family, int], tuple[int, SocketEnd | None]] = {}
    errors = [code for _, code in callers]
    try:
        over = min(deadline, time.monotonic() + LONGEST)
        quiet = time.monotonic() + MOMENT
        while True:
            arrived |= _accept(listeners)
            errors = [
                code or caller.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                for (caller, _), code in zip(callers, errors, strict=True)
            ]
            waiting = [
                caller
                for (caller, _), probe, code in zip(callers, probes, errors, strict=True)
                if not code
                and probe.redirected
                and (probe.family, local(caller).port) not in arrived
            ]
            left = (over if waiting else min(quiet, over)) - time.monotonic()
            if left <= 0:
                break
            _wait([*listeners.sockets.values(), *waiting], left)
        ends = [
            arrived.get((probe.family, local(caller).port), (None, None))
            for (caller, _), probe in zip(callers, probes, strict=True)
        ]
        return tuple(
            ProbeOutcome(probe, port, original, code, at_once=bool(first))
            for probe, (port, original), code, (_, first) in zip(
                probes, ends, errors, callers, strict=True
            )
        )
    finally:
        for caller, _ in callers:
            caller.close()


def _accept(listeners: Listeners) -> dict[tuple[Family, int], tuple[int, SocketEnd | None]]:
    found: dict[tuple[Family, int], tuple[int, SocketEnd | None]] = {}
    for port, family, accepted in listeners.arrivals():
        with accepted:
            other = peer(accepted)
            if other is not None:
                found[family, other.port] = (port, original_destination(accepted))
    return found


def _begin(probe: PlannedProbe) -> tuple[socket.socket, int]:
    with _as_user(probe.uid):
        return connect(probe.target, source=probe.source, hops=probe.hops)


def _wait(sockets: Sequence[socket.socket], seconds: float) -> None:
    poll = select.poll()
    for one in sockets:
        poll.register(one, select.POLLIN | select.POLLERR)
    poll.poll(seconds * 1000 + 1)


@contextmanager
def _as_user(uid: int | None) -> Iterator[None]:
    """Be another user while a socket is made: rules ask who made it
    (net/netfilter/xt_owner.c:owner_mt v6.12).
    """
    if uid is None:
        yield
        return
    libc = ctypes.CDLL(None)
    before = libc.setfsuid(uid)
    try:
        yield
    finally:
        libc.setfsuid(before)
