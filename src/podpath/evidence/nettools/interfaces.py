"""`netstat -i` and `ifconfig -s`: one row for each device, with its MTU, its counters and its flags
in letters.

Columns are told by the heading: `Met` is printed by old versions alone.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import LinkRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.device_counts import keep_counts
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source
from podpath.net.statements import DeviceCount

_HEADING = re.compile(r"\s*Iface\s+MTU\s.*RX-OK\s.*TX-OK\s.*Flg\s*$")
_ROW = re.compile(
    r"\s*(?P<name>[A-Za-z][\w.@:-]*)\s+(?P<values>\d+(?:\s+\d+)+)\s+(?P<flags>[A-Za-z]+)\s*$"
)
_TITLE = re.compile(r"\s*Kernel Interface table\s*$")
_COUNTS = {
    "RX-OK": "rx_packets", "RX-ERR": "rx_errors", "RX-DRP": "rx_dropped", "RX-OVR": "rx_fifo",
    "TX-OK": "tx_packets", "TX-ERR": "tx_errors", "TX-DRP": "tx_dropped", "TX-OVR": "tx_fifo",
}  # fmt: skip
"""The kernel's names of the columns."""
_FLAGS = {
    "B": "BROADCAST", "L": "LOOPBACK", "M": "MULTICAST", "R": "LOWER_UP", "U": "UP", "O": "NOARP",
    "A": "ALLMULTI", "s": "SLAVE", "m": "MASTER",
}  # fmt: skip
"""The letters of net-tools (lib/interface.c, ife_print_short), spelled as `ip link` does."""
_TWO_MEANINGS = "P"
"""Promiscuous of a device that broadcasts; of one that does not (a tun device), point to point."""


def recognise(source: Source) -> int:
    """Recognize the heading."""
    return CERTAIN if any(map(_HEADING.match, sample(source))) else NO


def read(source: Source) -> Reading:
    """Read each device with what its counters tell."""
    ledger = Ledger(source)
    columns: list[str] = []
    for index, line in plain_lines(source):
        row = _ROW.match(line)
        if _HEADING.match(line):
            columns = line.split()[1:-1]
            ledger.head(index)
        elif _TITLE.match(line):
            ledger.head(index)
        elif row is not None and columns:
            _read_row(ledger, index, row, columns)
    return ledger.close("a row of netstat -i")


def _read_row(ledger: Ledger, index: int, row: re.Match[str], columns: list[str]) -> None:
    values = [int(word) for word in row["values"].split()]
    if len(values) != len(columns):
        return
    numbers = dict(zip(columns, values, strict=True))
    name = parse_name(row["name"].partition(":")[0])
    span = ledger.span(index)
    flags = _read_flags(row["flags"])
    if "UP" in flags and "LOWER_UP" not in flags:
        flags = (*flags, "NO-CARRIER")
    ledger.add(LinkRecord(span=span, name=name, flags=flags, mtu=numbers.get("MTU")))
    counted = ((_COUNTS[key], value) for key, value in numbers.items() if key in _COUNTS)
    for kind, value in keep_counts(counted):
        ledger.add(StatementRecord(span=span, statement=DeviceCount(name, kind, value)))


def _read_flags(letters: str) -> tuple[str, ...]:
    flags = tuple(_FLAGS[letter] for letter in letters if letter in _FLAGS)
    if _TWO_MEANINGS in letters:
        flags = (*flags, "PROMISC" if "BROADCAST" in flags else "POINTOPOINT")
    return flags


FORMAT = Format("netstat -i", recognise, read)
