"""What tcpdump printed of a capture, held against the capture's own columns, packet by packet and
field by field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.records import PacketRecord, Reading
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Source
from podpath_capture.columns import Packets

NUMBER = re.compile(r"\s*(\d+)  ")
NAMES = {1: "request", 2: "reply"}


class Difference(NamedTuple):
    """A field that the text and the columns tell unlike."""

    packet: int
    field: str
    text: object
    columns: object


class Base(NamedTuple):
    """The first sequence numbers that tcpdump counts a connection's from (print-tcp.c)."""

    seq: int
    ack: int


def compare_text(text: str, flags: Sequence[str], packets: Packets) -> Iterator[Difference]:
    """Yield all differences; the text was printed with `--number`, and of a packet in a tunnel the
    innermost is compared.
    """
    lines = tuple(text.splitlines())
    reading = read_tcpdump(
        Source(name="printed", lines=lines, command=f"tcpdump -n {' '.join(flags)} -r printed.pcap")
    )
    found, printed = number_records(reading, lines)
    compare = _Comparison(packets, flags)
    for row in range(len(packets)):
        if row + 1 in printed and compare.is_read(row):
            yield from compare.packet(row, found.get(row + 1, []))


def number_records(
    reading: Reading, lines: Sequence[str]
) -> tuple[dict[int, list[PacketRecord]], set[int]]:
    """Return the records of each packet by its printed number, and the numbers that are printed."""
    owners, current = [], 0
    for line in lines:
        mark = NUMBER.match(line)
        current = int(mark[1]) if mark is not None else current
        owners.append(current)
    records: dict[int, list[PacketRecord]] = {}
    for record in reading.records:
        if isinstance(record, PacketRecord):
            records.setdefault(owners[record.span.line - 1], []).append(record)
    return records, set(owners)


class _Comparison:
    """Compares the packets of one capture, in order."""

    def __init__(self, packets: Packets, flags: Sequence[str]) -> None:
        letters = "".join(flag for flag in flags if re.fullmatch("-[a-zA-Z]+", flag))
        self._absolute, self._verbose = "S" in letters, "v" in letters
        self._packets, self._columns = packets, packets.columns
        self._arps = {int(row): place for place, row in enumerate(packets.arps.row)}
        self._bases: dict[frozenset[tuple[str, int]], tuple[tuple[str, int], Base]] = {}

    def is_read(self, row: int) -> bool:
        """Tell whether a packet is ARP, or whole TCP, UDP or ICMP."""
        kinds = (protocols.TCP, protocols.UDP, protocols.ICMP, protocols.ICMPV6)
        plain = self._columns.version[row] > 0 and self._columns.protocol[row] in kinds
        return row in self._arps or bool(plain and not self._columns.broken[row])

    def packet(self, row: int, records: list[PacketRecord]) -> Iterator[Difference]:
        """Compare one packet with its records: the outermost first."""
        depth = int(self._columns.depth[row])
        if len(records) <= min(depth, 1):
            yield Difference(row + 1, "record", len(records), depth + 1)
            return
        record = records[min(depth, len(records) - 1)]
        if row in self._arps:
            fields = self._arp(self._arps[row], record)
        elif record.packet is None:
            fields = iter([("packet", None, "IP")])
        else:
            fields = self._ip(row, record.packet)
        for name, text, columns in (*fields, *self._link(row, records[0])):
            if text != columns:
                yield Difference(row + 1, name, str(text), str(columns))

    def _link(self, row: int, record: PacketRecord) -> Iterator[tuple[str, object, object]]:
        """Compare what stands in front of the outermost packet."""
        outer = "outer_" if self._columns.depth[row] else ""
        for name in ("smac", "dmac"):
            printed, mac = getattr(record, name), int(getattr(self._columns, outer + name)[row])
            if printed is not None:
                yield (
                    name,
                    printed,
                    "Broadcast"
                    if printed == "Broadcast" and mac + 1 == 1 << 48
                    else mac.to_bytes(6, "big").hex(":"),
                )
        tags = re.findall(r"vlan (\d+)", record.note)
        if tags and not outer:
            yield "vlan", int(tags[-1]), int(self._columns.vlan[row])

    def _arp(self, place: int, record: PacketRecord) -> Iterator[tuple[str, object, object]]:
        arps = self._packets.arps
        if record.arp is None:
            yield "arp", None, "ARP"
            return
        operation = int(arps.operation[place])
        yield "operation", record.arp.operation, NAMES.get(operation, f"operation {operation}")
        for name in ("sender", "target"):
            printed = getattr(record.arp, name)
            if printed is not None:
                yield name, printed, Address(4, int(getattr(arps, name)[place]))

    def _address(self, row: int, name: str) -> Address:
        value = int(getattr(self._columns, name)[row])
        return (
            Address(4, value)
            if self._columns.version[row] == 4
            else Address(6, self._packets.addresses[value])
        )

    def _ip(self, row: int, packet: Packet) -> Iterator[tuple[str, object, object]]:
        columns, protocol = self._columns, int(self._columns.protocol[row])
        yield "src", packet.src, self._address(row, "src")
        yield "dst", packet.dst, self._address(row, "dst")
        yield "protocol", packet.protocol, protocol
        if self._verbose:
            yield "ttl", packet.ttl, int(columns.ttl[row])
            yield "fragment", packet.fragment, bool(columns.fragment[row] & 0x1FFF)
        if columns.fragment[row] & 0x1FFF:
            return
        names = ["payload"] if protocol in {protocols.TCP, protocols.UDP} else ["icmp_type"]
        names += ["icmp_code"] if protocol == protocols.ICMP else []
        names += (
            ["sport", "dport"]
            if protocol in {protocols.TCP, protocols.UDP} or columns.icmp_type[row] in {128, 129}
            else []
        )
        names += ["flags"] if protocol == protocols.TCP else []
        for name in names:
            yield name, getattr(packet, name), int(getattr(columns, name)[row])
        if protocol == protocols.TCP:
            yield from self._numbers(row, packet)

    def _numbers(self, row: int, packet: Packet) -> Iterator[tuple[str, object, object]]:
        """Compare sequence and acknowledgement numbers with what tcpdump counts them from."""
        columns = self._columns
        seq, ack, flags = int(columns.seq[row]), int(columns.ack[row]), int(columns.flags[row])
        if not self._absolute and flags & protocols.ACK:
            here = (str(packet.src), packet.sport)
            ends = frozenset((here, (str(packet.dst), packet.dport)))
            if ends not in self._bases or flags & protocols.SYN:
                self._bases[ends] = here, Base(seq, ack - 1)
            else:
                owner, base = self._bases[ends]
                seq, ack = (
                    (seq - base.seq, ack - base.ack)
                    if owner == here
                    else (seq - base.ack, ack - base.seq)
                )
        if packet.payload or flags & (protocols.SYN | protocols.FIN | protocols.RST):
            yield "seq", packet.seq, seq & 0xFFFFFFFF
        if flags & protocols.ACK:
            yield "ack", packet.ack, ack & 0xFFFFFFFF
