"""`brctl show` (bridges and their ports) and `brctl showmacs` (forwarding entries by port number).

The columns of `brctl show` are set with tabs, which pasting turns into any number of blanks, so a
line is read by what its words are: a bridge's name, its identifier, `yes` or `no`, a port; or a
port alone, deeper in, below its bridge.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.node_records import BridgeRecord, FdbRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_mac
from podpath.evidence.text.tokenizer import is_ellipsis, plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source

_HEADING = re.compile(r"\s*bridge name\s+bridge id\s+STP enabled\s+interfaces", re.IGNORECASE)
_BRIDGE = re.compile(
    r"\s*(?P<name>[^\s:/]{1,15})\s+(?P<id>[0-9A-Fa-fxX]{4}\.[0-9A-Fa-fxX.:]{3,17})\s+(?P<stp>yes|"
    r"no)(?:\s+(?P<port>[^\s:/]{1,15}))?\s*$"
)
_PORT = re.compile(r"[\s>]*\s(?P<port>[^\s:/]{1,15})\s*$")
_NO_SUCH = re.compile(r"\s*(?P<name>\S+)\s+can't get info")
_MACS_HEADING = re.compile(r"\s*port no\s+mac addr\s+is local\?\s+ageing timer")
_MAC_ROW = re.compile(
    r"\s*(?P<port>\d{1,4})\s+(?P<mac>(?:[0-9A-Fa-fxX*]{2}:){5}[0-9A-Fa-fxX*]{2})\s+(?P<local>yes|"
    r"no)(?:\s+(?P<age>[0-9.]+))?\s*$"
)
_EXPECTED = "a bridge or a port of one"


def recognise(source: Source) -> int:
    """Recognize the heading, or a bridge's line."""
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    return (
        LIKELY + 20
        if lines
        and _BRIDGE.match(lines[0])
        and all(_BRIDGE.match(line) or _PORT.match(line) for line in lines)
        else NO
    )


def read(source: Source) -> Reading:
    """Read bridges with their ports."""
    reader = _BridgeReader(source)
    for index, line in plain_lines(source):
        reader.feed(index, line)
    reader.flush()
    return reader.ledger.close(_EXPECTED)


class _BridgeReader:
    """Gathers the ports of one bridge, then gives its record."""

    __slots__ = ("bridge", "first", "last", "ledger", "partial", "ports")

    def __init__(self, source: Source) -> None:
        self.ledger = Ledger(source)
        self.bridge: re.Match[str] | None = None
        self.ports: list[IfName] = []
        self.partial = False
        self.first = self.last = 0

    def feed(self, index: int, line: str) -> None:
        found = _BRIDGE.match(line)
        if _HEADING.match(line) or _NO_SUCH.match(line):
            self.ledger.head(index)
        elif found is not None:
            self.flush()
            self.bridge, self.first, self.last = found, index, index
            self.ports = [IfName(found["port"])] if found["port"] else []
        elif self.bridge is not None and is_ellipsis(line):
            self.partial = self.ledger.elide(index)
        elif (
            self.bridge is not None and not self.partial and (port := _PORT.match(line)) is not None
        ):
            self.ports.append(IfName(port["port"]))
            self.last = index
        elif line.strip() and not self.ledger.elide(index):
            self.ledger.unread(index, _EXPECTED)

    def flush(self) -> None:
        """Return the record of the bridge whose ports end here."""
        found, self.bridge = self.bridge, None
        if found is not None:
            self.ledger.add(
                BridgeRecord(
                    span=self.ledger.span(self.first, self.last),
                    name=IfName(found["name"]),
                    ports=tuple(self.ports),
                    stp=found["stp"] == "yes",
                    bridge_id=found["id"],
                    partial=self.partial,
                )
            )
        self.partial = False


def recognise_macs(source: Source) -> int:
    """Recognize the heading, or rows of a port number, a MAC and `yes` or `no`."""
    lines = sample(source)
    if any(_MACS_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    return CERTAIN if share(lines, _MAC_ROW) >= 0.5 else NO


def read_macs(source: Source) -> Reading:
    """Read forwarding entries; the bridge's name stands in the command only."""
    ledger = Ledger(source)
    words = parse_command(source.command).arguments
    bridge = words[1] if len(words) > 1 and words[0] == "showmacs" else None
    for index, line in plain_lines(source):
        found = _MAC_ROW.match(line)
        if _MACS_HEADING.match(line):
            ledger.head(index)
        elif found is not None:
            try:
                mac = parse_mac(found["mac"])
            except ValueError as error:
                ledger.gap(index, str(error))
                continue
            flags = ("permanent",) if found["local"] == "yes" else ()
            ledger.add(
                FdbRecord(
                    span=ledger.span(index),
                    mac=mac,
                    link=None,
                    master=bridge,
                    port_no=int(found["port"]),
                    flags=flags,
                )
            )
    return ledger.close("a forwarding entry")


FORMATS = (
    Format("brctl show", recognise, read),
    Format("brctl showmacs", recognise_macs, read_macs),
)
