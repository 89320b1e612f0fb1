"""What a validator and a reflector say to each other, a datagram each.

    ask        podpath-reflect/2 TOKEN PORT[,PORT] COOKIE    COOKIE is zeros at first
    cookie     podpath-cookie/2 TOKEN COOKIE        only who receives at that address can go on
    ask        podpath-reflect/2 TOKEN PORT[,PORT] COOKIE
    (a TCP connection from the reflector to each port, on which it says TOKEN)
    report     podpath-reflected/2 TOKEN PORT=FATE[,PORT=FATE]

Datagrams, since TCP is what meshes redirect: a TCP request would end in the pod's own proxy port.
The answer to an ask without a cookie is shorter than the ask, so a forged sender gets less than the
forger spent, and nothing else before it proves itself.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Fate = Literal["accepted", "refused", "silent"]
FATES: tuple[Fate, ...] = ("accepted", "refused", "silent")
"""What became of a connection: it stood, it was refused, or nothing came back in time."""
PORT = 15105
"""Where a reflector listens by default."""
NO_COOKIE = "0" * 32
MOST_PORTS = 16
LONGEST = 512
_ASK = re.compile(
    rb"podpath-reflect/2 (?P<token>[0-9a-f]{32}) (?P<ports>[0-9]{1,5}(?:,[0-9]{1,5}){0,15}) "
    rb"(?P<cookie>[0-9a-f]{32})"
)
_COOKIE = re.compile(rb"podpath-cookie/2 (?P<token>[0-9a-f]{32}) (?P<cookie>[0-9a-f]{32})")
_REPORT = re.compile(
    rb"podpath-reflected/2 (?P<token>[0-9a-f]{32}) (?P<fates>[0-9]{1,5}=[a-z]+"
    rb"(?:,[0-9]{1,5}=[a-z]+){0,15})"
)


class ReflectRequest(NamedTuple):
    """A validator's request to be connected to."""

    token: str
    ports: tuple[int, ...]
    cookie: str = NO_COOKIE


class Cookie(NamedTuple):
    """The reflector's demand to ask again with this."""

    token: str
    cookie: str


class Report(NamedTuple):
    """What became of the connections of a request."""

    token: str
    fates: dict[int, Fate]


def parse_ask(data: bytes) -> ReflectRequest | None:
    """Read a request; None where it is none, or names a port that is none."""
    found = _ASK.fullmatch(data)
    if found is None:
        return None
    ports = tuple(dict.fromkeys(int(word) for word in found["ports"].split(b",")))
    if not all(0 < port < 65536 for port in ports):
        return None
    return ReflectRequest(found["token"].decode(), ports, found["cookie"].decode())


def parse_answer(data: bytes) -> Cookie | Report | None:
    """Read what a reflector says; None where it is nothing known."""
    cookie = _COOKIE.fullmatch(data)
    if cookie is not None:
        return Cookie(cookie["token"].decode(), cookie["cookie"].decode())
    report = _REPORT.fullmatch(data)
    if report is None:
        return None
    words = (word.split("=") for word in report["fates"].decode().split(","))
    told = {int(port): fate for port, fate in words}
    known = {port: fate for port, name in told.items() for fate in FATES if fate == name}
    return Report(report["token"].decode(), known)


def emit(message: ReflectRequest | Cookie | Report) -> bytes:
    """Write a message as it is sent."""
    match message:
        case ReflectRequest(token, ports, cookie):
            text = f"podpath-reflect/2 {token} {','.join(map(str, ports))} {cookie}"
        case Cookie(token, cookie):
            text = f"podpath-cookie/2 {token} {cookie}"
        case Report(token, fates):
            text = (
                f"podpath-reflected/2 {token} "
                f"{','.join(f'{port}={fate}' for port, fate in fates.items())}"
            )
    return text.encode("ascii")
