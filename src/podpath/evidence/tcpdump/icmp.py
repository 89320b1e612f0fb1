"""What tcpdump prints of ICMP and ICMPv6: echoes, and errors with as much of the quoted packet as
the line names.

The texts are those of print-icmp.c and print-icmp6.c (tcpdump 4.9 to 4.99).
"""

from __future__ import annotations

import re

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet

_ECHO = re.compile(
    r"ICMP6?,? (?P<extended>extended )?echo (?P<kind>request|reply)(?:, id (?P<id>\d+))?"
    r"(?:, seq (?P<seq>\d+))?(?P<note>.*)"
)
_UNREACHABLE = re.compile(
    r"ICMP (?P<what>net |host )?(?P<target>\S+) (?:(?P<protocol>tcp|udp|sctp) port (?P<port>\S+) |"
    r"protocol (?P<number>\d+) )?unreachable(?P<why> - [^,]*)?(?P<note>.*)"
)
_EXCEEDED = re.compile(
    r"ICMP (?P<what>time exceeded in-transit|ip reassembly time exceeded)(?P<note>.*)"
)
_REDIRECT = re.compile(
    r"ICMP redirect (?P<target>\S+) to (?P<kind>net|host) (?P<gateway>\S+?)(?:, |$)(?P<note>.*)"
)
_BARE = re.compile(r"type-#(?P<number>\d{1,3})")
_LENGTH = re.compile(r"length:? (?P<length>\d+)")
_ICMP6 = re.compile(r"ICMP6, (?P<what>[A-Za-z][A-Za-z 0-9-]*)(?P<note>.*)")
_UNREACHABLE6 = re.compile(
    r"unreachable port, (?P<at>\S+) (?:(?P<protocol>tcp|udp)|protocol (?P<number>\d+)) port "
    r"(?P<port>\d+)|(?:unreachable )?(?P<what>route|prohibited|beyond scope|address) "
    r"(?P<target>[0-9a-fA-F:.]+)"
)
_EXCEEDED6 = re.compile(r"in-transit for (?P<target>[0-9a-fA-F:.]+)")
_CODES6 = {"route": 0, "prohibited": 1, "beyond scope": 2, "address": 3}
_WHYS = (
    ("need to frag", 4), ("source route failed", 5), ("net unknown", 6), ("host unknown", 7),
    ("isolated", 8), ("admin prohibited filter", 13), ("tos prohibited", 11), ("precedence", 14),
)  # fmt: skip
_TYPES4 = (
    ("parameter problem", 12), ("source quench", 4), ("router advertisement", 9),
    ("router solicitation", 10), ("time stamp reply", 14), ("time stamp", 13),
    ("information request", 15), ("information reply", 16), ("address mask request", 17),
    ("address mask is", 18), ("time exceeded", 11), ("redirect", 5),
)  # fmt: skip
_TYPES6 = (
    ("destination unreachable", 1), ("packet too big", 2), ("time exceeded", 3),
    ("parameter problem", 4), ("echo request", 128), ("echo reply", 129),
    ("multicast listener query", 130), ("multicast listener report v2", 143),
    ("multicast listener report", 131), ("multicast listener done", 132),
    ("router solicitation", 133), ("router advertisement", 134), ("neighbor solicitation", 135),
    ("neighbor advertisement", 136), ("redirect", 137), ("router renumbering", 138),
    ("node information query", 139), ("node information reply", 140),
    ("inverse neighbor solicitation", 141), ("inverse neighbor advertisement", 142),
    ("ha discovery request", 144), ("ha discovery reply", 145), ("mobile router solicitation", 146),
    ("mobile router advertisement", 147), ("rpl", 155),
)  # fmt: skip


def parse_icmp(packet: Packet, rest: str) -> tuple[Packet, str] | None:
    """Read ICMP's text; None where it is none."""
    if not rest.startswith("ICMP"):
        return None
    icmp = packet._replace(protocol=protocols.ICMP, payload=_length(rest))
    echo = _ECHO.match(rest)
    if echo is not None:
        return _echo(icmp, echo, 8, 0), rest
    unreachable = _UNREACHABLE.match(rest)
    if unreachable is not None:
        quoted = _quoted(
            packet,
            unreachable["target"],
            unreachable["protocol"] or unreachable["number"],
            unreachable["port"],
        )
        return icmp._replace(
            icmp_type=3, icmp_code=_unreachable_code(unreachable), quoted=quoted
        ), rest
    exceeded = _EXCEEDED.match(rest)
    if exceeded is not None:
        return icmp._replace(icmp_type=11, icmp_code=int(exceeded["what"].startswith("ip"))), rest
    redirect = _REDIRECT.match(rest)
    if redirect is not None:
        quoted = _quoted(packet, redirect["target"], None, None)
        return icmp._replace(
            icmp_type=5, icmp_code=int(redirect["kind"] == "host"), quoted=quoted
        ), rest
    return icmp._replace(icmp_type=_type(rest.removeprefix("ICMP").lstrip(" ,"), _TYPES4)), rest


def parse_icmp6(packet: Packet, rest: str) -> tuple[Packet, str] | None:
    """Read ICMPv6's text; None where it is none."""
    found = _ICMP6.match(rest)
    if found is None:
        return None
    icmp = packet._replace(protocol=protocols.ICMPV6, payload=_length(rest))
    echo = _ECHO.match(rest)
    if echo is not None:
        return _echo(icmp, echo, 128, 129), rest
    kind = _type(found["what"].lower(), _TYPES6)
    code, quoted = _error6(packet, kind, rest)
    return icmp._replace(icmp_type=kind, icmp_code=code, quoted=quoted), rest


def _error6(packet: Packet, kind: int, text: str) -> tuple[int, Packet | None]:
    """Read the code of an ICMPv6 error, and what its line says of the packet that it is about."""
    if kind == 1 and (found := _UNREACHABLE6.search(text)) is not None:
        if found["at"] is not None:
            return 4, _quoted(
                packet, found["at"], found["protocol"] or found["number"], found["port"]
            )
        return _CODES6[found["what"]], _quoted(packet, found["target"], None, None)
    if kind == 3 and (found := _EXCEEDED6.search(text)) is not None:
        return 0, _quoted(packet, found["target"], None, None)
    return 0, None


def _type(text: str, types: tuple[tuple[str, int], ...]) -> int:
    """Return the number of the type that a text begins with; 255 where it is not known."""
    bare = _BARE.match(text)
    if bare is not None:
        return int(bare["number"]) & 255
    return next((number for name, number in types if text.startswith(name)), 255)


def _length(text: str) -> int:
    found = _LENGTH.search(text)
    return int(found["length"]) if found is not None else 0


def _echo(packet: Packet, echo: re.Match[str], request: int, reply: int) -> Packet:
    identifier = int(echo["id"] or 0) & 0xFFFF
    if echo["extended"] is not None:
        request, reply = (42, 43) if packet.protocol == protocols.ICMP else (160, 161)
    kind = request if echo["kind"] == "request" else reply
    return packet._replace(
        icmp_type=kind, sport=identifier, dport=identifier, seq=int(echo["seq"] or 0)
    )


def _unreachable_code(found: re.Match[str]) -> int:
    why = found["why"] or ""
    for text, code in _WHYS:
        if text in why:
            return code + (1 if code == 11 and found["what"] == "host " else 0)
    if "admin prohibited" in why:
        return 9 if found["what"] == "net " else 10
    if found["port"] is not None:
        return 3
    if found["number"] is not None:
        return 2
    return 0 if found["what"] == "net " else 1


def _quoted(packet: Packet, target: str, protocol: str | None, port: str | None) -> Packet | None:
    """Make what the line says of the packet that the error is about: the receiver of the error had
    sent it.
    """
    try:
        dst = Address.parse(target)
        number = protocols.protocol_number(protocol) if protocol else 0
    except ValueError:
        return None
    if dst.family != packet.dst.family:
        return None
    return Packet(
        packet.dst,
        dst,
        number,
        dport=int(port) & 0xFFFF if port is not None and port.isdigit() else 0,
    )
