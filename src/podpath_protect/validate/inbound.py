"""Inbound redirection, which only a packet from outside of the pod can show: asked for at a
reflector, or waited for.

What comes in are the settings; what goes out are `RedirectionCheck`s. Nothing inside a pod shows
it: what a pod sends to itself passes OUTPUT first, where conntrack decides on NAT for the whole
connection (net/netfilter/nf_nat_core.c:nf_nat_inet_fn v6.12), and the entry goes with the packet
over the loopback. A reflector is anybody outside who connects back when a datagram asks for it.
"""

from __future__ import annotations

import ipaddress
import select
import socket
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath_protect.reflect.messages import MOST_PORTS, Fate
from podpath_protect.validate.addresses import Family
from podpath_protect.validate.attempt import Listeners
from podpath_protect.validate.judgement import RedirectionCheck
from podpath_protect.validate.plan import Settings
from podpath_protect.validate.reflection import ASK_AGAIN, Reflection
from podpath_protect.validate.sockets import SocketEnd, family_of, original_destination, peer

PORT = 15104
"""Where the outside is asked to connect to: a port of no service."""
STRAGGLER = 0.2
"""Seconds that a connection may come after the reflector said that it stood."""
OTHERS = 1.0
"""Seconds that whoever comes in another family has after the first."""
NOBODY = "nobody connected from outside in time"


class Arrival(NamedTuple):
    """A connection from outside."""

    port: int
    original: SocketEnd | None


class FamilyInbound(NamedTuple):
    """What was seen of one family."""

    arrivals: dict[int, Arrival]
    """By the port that was asked for."""
    fates: dict[int, Fate]
    """What the reflector says, by port; empty without one."""
    why: str
    """Why there is nothing; empty where there is."""


def check_inbound(
    settings: Settings, families: Sequence[Family], deadline: float, *, wait: bool = False
) -> tuple[RedirectionCheck, ...]:
    """Test inbound redirection by the reflectors, or by whoever comes where `wait` is set."""
    reflectors = {} if wait else {family_of(end): end for end in reversed(settings.reflectors)}
    chosen = list(families) if wait else [family for family in families if family in reflectors]
    asked = (PORT, *settings.skip_inbound)[:MOST_PORTS]
    listeners = Listeners((*settings.inbound, *asked), chosen)
    try:
        seen = (
            _await(listeners, settings, chosen, deadline)
            if wait
            else _ask_all(listeners, reflectors, chosen, asked, deadline)
        )
        return tuple(
            check
            for family in chosen
            for check in _judge(settings, family, seen[family], listeners)
        )
    finally:
        listeners.close()


def _await(
    listeners: Listeners, settings: Settings, families: Sequence[Family], deadline: float
) -> dict[Family, FamilyInbound]:
    """Wait for anybody, in all families at once: a kubelet probes one of them alone, so the others
    get a moment more.
    """
    found: dict[Family, dict[int, Arrival]] = {family: {} for family in families}
    while not all(found.values()) and (left := deadline - time.monotonic()) > 0:
        _wait([*listeners.sockets.values()], left)
        for port, family, arrival in _arrivals(listeners):
            if port in settings.inbound and (
                arrival.original is None or arrival.original.port == port
            ):
                continue  # somebody who meant the proxy's own port: no rule brought it here
            if not any(found.values()):
                deadline = min(deadline, time.monotonic() + OTHERS)
            found[family].setdefault(arrival.original.port if arrival.original else port, arrival)
    return {family: FamilyInbound(arrivals, {}, NOBODY) for family, arrivals in found.items()}


def _ask_all(
    listeners: Listeners,
    reflectors: dict[Family, SocketEnd],
    families: Sequence[Family],
    asked: Sequence[int],
    deadline: float,
) -> dict[Family, FamilyInbound]:
    seen: dict[Family, FamilyInbound] = {}
    for family in families:
        reflection = Reflection(reflectors[family], asked)
        try:
            seen[family] = _gather(listeners, family, reflection, deadline)
        finally:
            reflection.close()
    return seen


def _gather(
    listeners: Listeners, family: Family, reflection: Reflection, deadline: float
) -> FamilyInbound:
    """Take in what arrives until all that was asked for has come or failed, nobody is there, or the
    time is over.
    """
    found: dict[int, Arrival] = {}
    why, late = "", False
    while not why and (left := deadline - time.monotonic()) > 0:
        reflection.turn(time.monotonic())
        why = reflection.why_silent(time.monotonic())
        if reflection.fates and all(
            fate != "accepted" or port in found for port, fate in reflection.fates.items()
        ):
            break
        if reflection.fates and not late:
            late, deadline = True, min(deadline, time.monotonic() + STRAGGLER)
        _wait([*listeners.sockets.values(), reflection.socket], min(left, ASK_AGAIN))
        for port, came_by, arrival in _arrivals(listeners, reflection.token):
            if came_by == family:
                found[arrival.original.port if arrival.original else port] = arrival
    return FamilyInbound(found, dict(reflection.fates), why or NOBODY)


def _wait(sockets: Sequence[socket.socket], seconds: float) -> None:
    poll = select.poll()
    for one in sockets:
        poll.register(one, select.POLLIN)
    poll.poll(seconds * 1000 + 1)


def _arrivals(listeners: Listeners, token: str = "") -> Iterator[tuple[int, Family, Arrival]]:
    """Yield the connections from outside; with a token only those that say it."""
    for port, family, accepted in listeners.arrivals():
        with accepted:
            meant, other = original_destination(accepted), peer(accepted)
            outside = other is not None and not ipaddress.ip_address(other.address).is_loopback
            if outside and (not token or _read_token(accepted) == token):
                yield port, family, Arrival(port, meant)


def _read_token(accepted: socket.socket) -> str:
    accepted.settimeout(0.5)
    try:
        return accepted.recv(64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def _judge(
    settings: Settings, family: Family, seen: FamilyInbound, listeners: Listeners
) -> Iterator[RedirectionCheck]:
    what = f"IPv{family} inbound redirection"
    program = "ip6tables" if family == 6 else "iptables"
    rule = f"{program} -t nat -A PREROUTING -p tcp -j REDIRECT --to-ports {settings.inbound[0]}"
    came = seen.arrivals.get(PORT) or (
        None if seen.fates else next(iter(seen.arrivals.values()), None)
    )
    if came is None:
        yield _judge_absent(settings, family, seen, listeners, rule)
    elif came.port in settings.inbound:
        said = f"{what} holds: a connection to {came.original} arrived at port {came.port}."
        yield RedirectionCheck("inbound", family, "passed", said)
    else:
        said = (
            f"{what}: a connection from outside to port {came.port} arrived there; "
            "no rule redirects it."
        )
        yield RedirectionCheck("inbound", family, "failed", said, "inbound-missing", rule)
    for port in settings.skip_inbound:
        yield _judge_skipped(family, port, seen, listeners, program)


def _judge_absent(
    settings: Settings, family: Family, seen: FamilyInbound, listeners: Listeners, rule: str
) -> RedirectionCheck:
    """Judge a connection that did not come here, by what the reflector says of it."""
    what, fate = f"IPv{family} inbound redirection", seen.fates.get(PORT)
    elsewhere = f"to a port other than {' or '.join(map(str, settings.inbound))}"
    taken = [port for port in settings.inbound if (family, port) in listeners.busy]
    if fate == "refused":
        said = (
            f"{what}: a connection from outside to port {PORT} is refused: it is "
            f"redirected {elsewhere}, or rejected by a rule."
        )
        return RedirectionCheck("inbound", family, "failed", said, "wrong-port", rule)
    if fate == "accepted" and not taken:
        said = (
            f"{what}: a connection from outside to port {PORT} was taken by another process: it is "
            f"redirected {elsewhere}."
        )
        return RedirectionCheck("inbound", family, "failed", said, "wrong-port", rule)
    why = {
        "accepted": (
            f"another process took the connection, as the one at port {', '.join(map(str, taken))} "
            "may have"
        ),
        "silent": (
            f"the reflector's connection to port {PORT} got no answer: a policy or a filter drops "
            "it"
        ),
    }.get(fate or "", seen.why)
    return RedirectionCheck("inbound", family, "untested", f"{what} is not tested: {why}")


def _judge_skipped(
    family: Family, port: int, seen: FamilyInbound, listeners: Listeners, program: str
) -> RedirectionCheck:
    one, skipped = seen.arrivals.get(port), f"IPv{family} skipped inbound port {port}"
    rule = f"{program} -t nat -I PREROUTING -p tcp --dport {port} -j RETURN"
    if (family, port) in listeners.busy:
        return RedirectionCheck(
            "skipped-inbound",
            family,
            "untested",
            f"{skipped} is not tested: {listeners.busy[family, port]}",
        )
    if one is not None and one.port == port:
        return RedirectionCheck(
            "skipped-inbound",
            family,
            "passed",
            f"{skipped} holds: a connection to it arrived there.",
        )
    if one is None and seen.fates.get(port) != "refused":
        if seen.fates.get(port) == "silent":
            why = "the reflector's connection got no answer"
        else:
            why = seen.why
        return RedirectionCheck(
            "skipped-inbound", family, "untested", f"{skipped} is not tested: {why}"
        )
    if one is not None:
        where = f"redirected to port {one.port}"
    else:
        where = "refused, though we listen there: it is redirected elsewhere"
    said = f"{skipped}: a connection to it is {where}, although it must be let go."
    return RedirectionCheck("skipped-inbound", family, "failed", said, "skipped-redirected", rule)
