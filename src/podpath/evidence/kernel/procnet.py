"""/proc/net: `route` (in the machine's byte order), `dev` (counters), `bonding/BOND` (a bond's
state).
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import NexthopRecord, RouteRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.device_counts import keep_counts
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Source
from podpath.net.statements import BondState, DeviceCount

_ROUTE_HEADING = re.compile(r"\s*Iface\s+Destination\s+Gateway\s+Flags\s+RefCnt")
_ROUTE = re.compile(
    r"\s*(?P<link>\S+)\s+(?P<dst>[0-9A-F]{8})\s+(?P<gateway>[0-9A-F]{8})\s+"
    r"(?P<flags>[0-9A-F]{4})\s+\d+\s+\d+\s+(?P<metric>\d+)\s+"
    r"(?P<mask>[0-9A-F]{8})\s"
)
_DEV_HEADING = re.compile(r"\s*(?:Inter-\|\s+Receive|face\s*\|\s*bytes)")
_DEV = re.compile(r"\s*(?P<link>[^\s:]+):\s*(?P<counts>\d+(?:\s+\d+){15})\s*$")
_COUNTS = (
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed",
    "rx_multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo", "tx_collisions",
    "tx_carrier", "tx_compressed",
)  # fmt: skip
_BONDING = re.compile(r"\s*Ethernet Channel Bonding Driver:")
_BOND_FIELD = re.compile(r"\s*(?P<name>[A-Za-z][\w /()-]*?): (?P<value>.*?)\s*$")
_BOND_PART = re.compile(r"\s*(?:802\.3ad info|Active Aggregator Info:|details \w+ lacp pdu:)\s*$")
"""The headings of what 802.3ad says of the bond, and of a slave's own and its partner's words."""
_BOND_STATES = frozenset({"Bonding Mode", "MII Status", "Partner Mac Address", "Aggregator ID"})
_PARTNER = "system mac address"
_REJECT = 0x0200
"""RTF_REJECT of include/uapi/linux/ipv6_route.h and route.h: the route says that there is no
way.
"""
_EXPECTED = "a line of /proc/net"


def recognise(source: Source) -> int:
    """Recognize the heading of each file."""
    lines = sample(source)[:3]
    headed = any(
        pattern.match(line)
        for line in lines
        for pattern in (_ROUTE_HEADING, _DEV_HEADING, _BONDING)
    )
    return CERTAIN if headed else NO


def read(source: Source) -> Reading:
    """Read the file that the heading tells."""
    if any(_BONDING.match(line) for line in source.lines[:5]):
        return _read_bond(source)
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        if _ROUTE_HEADING.match(line) or _DEV_HEADING.match(line):
            ledger.head(index)
        elif (route := _ROUTE.match(line)) is not None:
            ledger.add(_make_route(ledger, index, route))
        elif (counts := _DEV.match(line)) is not None:
            _add_counts(ledger, index, counts)
    return ledger.close(_EXPECTED)


def _add_counts(ledger: Ledger, index: int, found: re.Match[str]) -> None:
    ledger.head(index)
    values = [int(word) for word in found["counts"].split()]
    for name, value in keep_counts(zip(_COUNTS, values, strict=True)):
        counted = DeviceCount(IfName(found["link"]), name, value)
        ledger.add(StatementRecord(span=ledger.span(index), statement=counted))


def _make_route(ledger: Ledger, index: int, found: re.Match[str]) -> RouteRecord:
    network, mask, gateway = (_swap(found[name]) for name in ("dst", "mask", "gateway"))
    length = mask.bit_count()
    refused = bool(int(found["flags"], 16) & _REJECT)
    hop = NexthopRecord(found["link"], Address(4, gateway) if gateway else None, None)
    return RouteRecord(
        span=ledger.span(index),
        prefix=Prefix(4, network & mask, length),
        type="unreachable" if refused else None,
        nexthops=() if refused else (hop,),
        metric=int(found["metric"]),
    )


def _swap(text: str) -> int:
    """Read eight hexadecimal digits as a little-endian machine writes an address."""
    return int.from_bytes(int(text, 16).to_bytes(4, "little"), "big")


def _read_bond(source: Source) -> Reading:
    ledger = Ledger(source)
    bond = _bond_name(source)
    mode, slave, partner, peer = "", "", "", False
    for index, line in plain_lines(source):
        found = _BOND_FIELD.match(line)
        if found is None:
            if _BOND_PART.match(line) is not None:
                ledger.head(index)
                peer = "partner" in line
            continue
        name, value = found["name"], found["value"]
        if name == "Bonding Mode":
            mode = value
        elif name == "Slave Interface":
            slave = value
        elif name == "Partner Mac Address" or (name == _PARTNER and peer):
            partner = value
        if name not in _BOND_STATES and not (name == _PARTNER and peer):
            ledger.head(index)
            continue
        if name == "Aggregator ID" and not slave:
            ledger.head(index)
            continue
        state = BondState(
            bond,
            mode,
            slave,
            value == "up" if name == "MII Status" else None,
            partner if "ac " in name.lower() else "",
            value if name == "Aggregator ID" else "",
        )
        ledger.add(StatementRecord(span=ledger.span(index), statement=state))
    return ledger.close("a field of a bond")


def _bond_name(source: Source) -> IfName:
    words = (*parse_command(source.command).arguments, source.name)
    path = next(
        (word for word in words if "/proc/net/bonding/" in word or "proc/net/bonding" in word), ""
    )
    try:
        return parse_name(path.rpartition("/")[2] or "bond0")
    except ValueError:
        return IfName("bond0")


FORMAT = Format("/proc/net", recognise, read)
