"""`ifconfig` of net-tools, in its old form (`Link encap:`) and its new one (`flags=4163<UP,...>`),
and busybox's.

Whether a device has carrier is RUNNING there. A point-to-point address and its far end stand on one
line.
"""

from __future__ import annotations

import re
from dataclasses import replace

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import AddressRecord, LinkRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.device_counts import read_pairs
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_mac, parse_name, parse_prefix
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import DeviceCount

_NEW = re.compile(
    r"\s*(?P<name>[^\s:<>]+(?::\w+)?):\s+flags=\d+<(?P<flags>[A-Z,_-]*)>\s+mtu\s+(?P<mtu>\d+)"
)
_OLD = re.compile(
    r"\s*(?P<name>[^\s<>]+)\s+Link encap:(?P<kind>\S+(?: \S+)*?)"
    r"(?:\s+HWaddr\s+(?P<mac>[0-9A-Fa-fxX:*-]+))?\s*$"
)
_INET = re.compile(
    r"\s*inet6?\s+(?:addr:\s?)?(?P<address>[0-9A-Fa-fxX*.:]+)(?:/(?P<length>\d+))?(?P<rest>.*)$"
)
_MASK = re.compile(r"(?:netmask\s+|Mask:)(?P<mask>\S+)")
_LENGTH6 = re.compile(r"prefixlen\s+(?P<length>\d+)")
_PEER = re.compile(r"(?:destination\s+|P-t-P:)(?P<peer>\S+)")
_BROADCAST = re.compile(r"(?:broadcast\s+|Bcast:)(?P<broadcast>[0-9.]+)")
_ETHER = re.compile(r"\s*ether\s+(?P<mac>[0-9A-Fa-fxX:*]{17})")
_STATUS = re.compile(r"\s*(?P<flags>(?:[A-Z]+\s+)*)MTU:(?P<mtu>\d+)")
_REST = re.compile(
    r"\s*(?:RX|TX|collisions|Interrupt|unspec|loop|tunnel|sit|infiniband|device|Memory|"
    r"Base address|inet6? )\b|\s+[\w-]+:"
)
_EXPECTED = "a line of ifconfig"


def recognise(source: Source) -> int:
    """Recognize a header in either form."""
    lines = sample(source)
    return CERTAIN if any(_NEW.match(line) or _OLD.match(line) for line in lines) else NO


def read(source: Source) -> Reading:
    """Read devices and addresses."""
    reader = _IfconfigReader(Ledger(source))
    for index, line in plain_lines(source):
        try:
            reader.feed(index, line)
        except ValueError as error:
            reader.ledger.gap(index, str(error))
    reader.flush()
    return reader.ledger.close(_EXPECTED)


class _IfconfigReader:
    """Reads line after line; the device's own record is given where its header ends, with what
    stands below it.
    """

    __slots__ = ("addresses", "device", "ledger", "name")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.device: LinkRecord | None = None
        self.name: IfName | None = None
        self.addresses: list[AddressRecord] = []

    def feed(self, index: int, line: str) -> None:
        if (new := _NEW.match(line)) is not None:
            self._start(index, new["name"], tuple(new["flags"].split(",")), int(new["mtu"]))
        elif (old := _OLD.match(line)) is not None:
            self._start(index, old["name"], None, None)
            if old["mac"] is not None and old["mac"].count(":") == 5 and self.device is not None:
                self.device = replace(self.device, mac=parse_mac(old["mac"]))
        elif self.name is None:
            return
        elif (found := _INET.match(line)) is not None:
            self._address(index, found)
        elif (ether := _ETHER.match(line)) is not None:
            self.ledger.head(index)
            if self.device is not None:
                self.device = replace(self.device, mac=parse_mac(ether["mac"]))
        elif (status := _STATUS.match(line)) is not None:
            self.ledger.head(index)
            if self.device is not None:
                flags = _translate(tuple(status["flags"].split()))
                self.device = replace(self.device, flags=flags, mtu=int(status["mtu"]))
        elif _REST.match(line):
            self.ledger.head(index)
            self._count(index, line)

    def flush(self) -> None:
        """Return the record of the device whose lines end here, and its addresses."""
        if self.device is not None:
            self.ledger.add(self.device)
        for address in self.addresses:
            self.ledger.add(address)
        self.device, self.addresses = None, []

    def _count(self, index: int, line: str) -> None:
        if self.name is None:
            return
        for name, value in read_pairs(line):
            count = DeviceCount(self.name, name, value)
            self.ledger.add(StatementRecord(span=self.ledger.span(index), statement=count))

    def _start(self, index: int, name: str, flags: tuple[str, ...] | None, mtu: int | None) -> None:
        self.flush()
        base, _, alias = name.partition(":")
        self.name = parse_name(base)
        if alias:
            self.ledger.head(index)
            return
        shown = None if flags is None else _translate(flags)
        self.device = LinkRecord(span=self.ledger.span(index), name=self.name, flags=shown, mtu=mtu)

    def _address(self, index: int, found: re.Match[str]) -> None:
        address = parse_address(found["address"].partition("%")[0])
        rest = found["rest"]
        mask, six = _MASK.search(rest), _LENGTH6.search(rest)
        if found["length"] is not None:
            length = int(found["length"])
        elif six is not None:
            length = int(six["length"])
        elif mask is not None:
            length = parse_prefix(f"0.0.0.0/{parse_address(mask['mask'])}").length
        else:
            raise ValueError("expected the mask of an address, saw none")
        peer, broadcast = _PEER.search(rest), _BROADCAST.search(rest)
        scope = "host" if address.is_loopback else None
        if address.is_link_local and address.family == 6:
            scope = "link"
        self.addresses.append(
            AddressRecord(
                span=self.ledger.span(index),
                link=self.name,
                address=address,
                length=length,
                peer=parse_address(peer["peer"])
                if peer is not None and peer["peer"] != found["address"]
                else None,
                broadcast=parse_address(broadcast["broadcast"]) if broadcast is not None else None,
                scope=scope,
            )
        )


def _translate(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Spell flags as `ip link` does: RUNNING is what has carrier."""
    known = tuple(flag for flag in flags if flag and flag != "RUNNING")
    if "RUNNING" in flags:
        return (*known, "LOWER_UP")
    return (*known, "NO-CARRIER") if "UP" in flags else known


FORMAT = Format("ifconfig", recognise, read)
