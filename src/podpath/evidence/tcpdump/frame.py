"""What tcpdump prints before the packet itself: number, time, device and direction, link-layer
addresses, VLAN tags.

The shapes are those of tcpdump 4.9 to 4.99 (print.c, util-print.c:ts_print, print-ether.c,
print-sll.c), and what people make of them: words in place of addresses, elided digits, notes before
the line.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.net.addresses import Mac


class PrintedFrame(NamedTuple):
    """One printed packet's line, up to the network layer."""

    time: float | None
    """Seconds since midnight, or since the epoch where the date is printed; None where no time
    is.
    """
    elided: bool
    """True where digits of the time are left out."""
    link: str | None
    direction: str | None
    """`in`, `out`, `broadcast`, `multicast`, `promisc`; None where not printed."""
    smac: str | None
    dmac: str | None
    protocol: str
    """What carries the body: `IP`, `IP6`, `ARP`, `RARP`, another ethertype's name; empty where
    nothing says.
    """
    length: int | None
    """Bytes of the frame, where printed."""
    body: str
    """What is left of the line."""
    tags: str = ""
    """VLAN tags as printed: `vlan 100`."""


_MAC = re.compile(r"(?:[0-9a-fA-F]{1,2}:){5}[0-9a-fA-F]{1,2}")
_NAME = r"(?:<[^<>]*>|[^\s,<>]+(?: \(oui [^)]*\))?)"
_PREFIX = re.compile(
    r"""\s*(?:(?:[-=*>]+|\(?\d{1,3}[.)])\s+)?     # an arrow or a number that somebody put there
        (?:\d+[ ]{2,3}(?:caplen[ ]\d+[ ]len[ ]\d+[ ])?)?         # --number, --lengths
        (?:(?P<date>\d{4}-\d\d-\d\d)[ T])?
        (?P<sign>-)?(?:(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>[\dxX*?]+|\.{2,3}))?
          |(?P<epoch>\d{9,10})\.(?P<part>\d{3,9}))[ ]+(?:\(invalid[ ][un]s\)[ ]+)?""",
    re.VERBOSE,
)
_NUMBER = re.compile(r"\s*\d+ {2,3}(?=\S)")
"""`--number` with `-t`: a number and no time."""
_LINK = re.compile(r"(?P<link>\?|[\w.@:-]{1,16})\s+(?P<direction>In|Out|B|M|P)\s+(?=\S)")
_INDEX = re.compile(r"ifindex (?P<index>\d+) ")
_DIRECTION = re.compile(rf"\s*(?P<direction>In|Out|B|M|P)\s+(?={_MAC.pattern})")
_ETHERNET = re.compile(
    rf"(?P<smac>{_NAME})\s+>\s+(?P<dmac>{_NAME})\s*(?:,\s*|\s+)"
    r"(?P<kind>ethertype (?P<type>[^,(:]+)(?:\((?P<number>0x[0-9a-f]+)\))?|802\.\w+|LLC|RRCP)\s*"
    r"(?:,\s*length:? (?P<length>\d+))?\s*[:,]?\s*"
)
_COOKED = re.compile(
    rf"(?:ifindex \d+ )?(?P<smac>{_MAC.pattern}) (?:\(oui [^)]*\) )?ethertype (?P<type>[^,(:]+)"
    r"(?:\(0x[0-9a-f]+\))?(?:, length:? (?P<length>\d+))?\s*[:,]\s*"
)
_VLAN = re.compile(
    r"(?P<tag>vlan \d+), p \d+(?:, DEI)?, (?:ethertype (?P<type>[^,(:]+)(?:\(0x[0-9a-f]+\))?|"
    r"LLC)\s*[:,]\s*"
)
_NETWORK = re.compile(
    r"(?P<protocol>IP6|IP|ARP|RARP|Reverse ARP|MPLS|STP|LLDP|EAPOL|PPPoE)\b(?P<comma>,)?\s*"
)
_LABELS = re.compile(r"(?:MPLS )?(?:\(label [^)]*\)\s*)+")
_UNFRAMED = re.compile(
    r"version \d+, resource ID \d+, family (?P<family>IPv[46]) \(\d+\), length:? \d+: |"
    r"(?P<kind>IP6?) \(0x00(?:21|57)\), length:? \d+: "
)
"""What `-e` prints where there are no MACs: of NFLOG (print-nflog.c) and of PPP (print-ppp.c)."""
_NETWORKS = ("IP ", "IP6 ")
"""Where nothing of the link layer is printed."""
_ENDS = re.compile(r"[\w.:]+ > [\w.:]+: ")
_DIRECTIONS: Mapping[str, str] = {
    "In": "in",
    "Out": "out",
    "B": "broadcast",
    "M": "multicast",
    "P": "promisc",
}
_ETHERTYPES: Mapping[str, str] = {
    "IPv4": "IP",
    "IPv6": "IP6",
    "ARP": "ARP",
    "Reverse ARP": "RARP",
    "RARP": "RARP",
}


def parse_frame(line: str) -> PrintedFrame | None:
    """Read a line up to the network layer; None where it starts no packet."""
    found = _PREFIX.match(line)
    time, elided = (None, False) if found is None else _parse_time(found)
    number = found or _NUMBER.match(line)
    rest = line[number.end() :] if number is not None else line.strip()
    link = _LINK.match(rest) or _DIRECTION.match(rest)
    names = link.groupdict() if link is not None else {}
    if link is not None:
        rest = rest[link.end() :]
    plain = rest.startswith(_NETWORKS) and not rest.startswith(("IP (0x", "IP6 (0x"))
    layer = None if plain else _parse_link_layer(rest)
    if (
        layer is None
        and found is None
        and link is None
        and _NETWORK.match(rest) is None
        and _ENDS.match(rest) is None
    ):
        return None
    smac, dmac, kind, length, body = layer or (None, None, "", None, rest)
    tags, kind, body = _parse_tags(kind, body)
    network = _NETWORK.match(body)
    if network is not None and (not kind or network["protocol"] == kind):
        kind, body = network["protocol"], body[network.end() :]
    if kind.startswith("MPLS"):
        kind, body = parse_labeled(body)
    direction = _DIRECTIONS.get(names.get("direction") or "")
    return PrintedFrame(
        time,
        elided,
        _name_link(names.get("link"), rest),
        direction,
        smac,
        dmac,
        kind,
        length,
        body,
        tags,
    )


def parse_labeled(body: str) -> tuple[str, str]:
    """Pass over MPLS's labels (print-mpls.c); return what they stand before and its text: `MPLS`
    and nothing where that is on the next line.
    """
    labels = _LABELS.match(body)
    rest = body if labels is None else body[labels.end() :]
    network = _NETWORK.match(rest)
    if network is not None:
        return network["protocol"], rest[network.end() :]
    if rest.startswith("("):
        return "IP" if rest.startswith(("(tos ", "(ttl ", "(id ")) else "IP6", rest
    return "MPLS", rest


def _name_link(name: str | None, rest: str) -> str | None:
    """Return the device's name; its index where tcpdump, reading a file of another host, knew no
    name and printed `?`.
    """
    if name != "?":
        return name
    found = _INDEX.match(rest)
    return f"ifindex {found['index']}" if found is not None else None


def parse_mac(text: str | None) -> Mac | None:
    """Return a printed link-layer address in its usual spelling; None where a word stands in its
    place.
    """
    if text is None:
        return None
    word = text.partition(" (")[0]
    if word in {"Broadcast", "broadcast"}:
        return Mac("ff:ff:ff:ff:ff:ff")
    if _MAC.fullmatch(word) is None:
        return None
    return Mac(":".join(part.zfill(2) for part in word.lower().split(":")))


def _parse_time(found: re.Match[str]) -> tuple[float, bool]:
    if found["epoch"]:
        return float(f"{found['epoch']}.{found['part']}"), False
    fraction = found["fraction"] or ""
    digits = re.match(r"\d*", fraction)
    known = digits[0] if digits is not None else ""
    seconds = (
        int(found["hour"]) * 3600
        + int(found["minute"]) * 60
        + int(found["second"])
        + float(f"0.{known or 0}")
    )
    if found["date"]:
        seconds += _parse_day(found["date"])
    return (-seconds if found["sign"] else seconds), known != fraction


def _parse_day(date: str) -> int:
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:])
    return (
        calendar.timegm((year, month, day, 0, 0, 0))
        if 1 <= month <= 12 and 1 <= day <= 31 and year > 0
        else 0
    )


def _parse_link_layer(rest: str) -> tuple[str | None, str | None, str, int | None, str] | None:
    ethernet = _ETHERNET.match(rest)
    if ethernet is not None:
        kind = (ethernet["type"] or ethernet["kind"]).strip()
        length = int(ethernet["length"]) if ethernet["length"] else None
        return (
            ethernet["smac"],
            ethernet["dmac"],
            _ETHERTYPES.get(kind, kind),
            length,
            rest[ethernet.end() :],
        )
    unframed = _UNFRAMED.match(rest)
    if unframed is not None:
        kind = unframed["kind"] or _ETHERTYPES[unframed["family"]]
        return None, None, kind, None, rest[unframed.end() :]
    cooked = _COOKED.match(rest)
    if cooked is None:
        return None
    kind = cooked["type"].strip()
    length = int(cooked["length"]) if cooked["length"] else None
    return cooked["smac"], None, _ETHERTYPES.get(kind, kind), length, rest[cooked.end() :]


def _parse_tags(kind: str, body: str) -> tuple[str, str, str]:
    """Take VLAN tags (one, or two of QinQ) off the body."""
    tags: list[str] = []
    for _ in range(4):
        found = _VLAN.match(body)
        if found is None:
            break
        tags.append(found["tag"])
        name = (found["type"] or "LLC").strip()
        kind, body = _ETHERTYPES.get(name, name), body[found.end() :]
    return ", ".join(tags), kind, body
