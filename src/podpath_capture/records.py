"""Packets of a capture file as the records that its printed text would give, straight from the
columns.

The lines of a capture's source are made to be quoted, by people who know tcpdump; nobody reads them
again. What a line does not print (a TTL, an IP identification) its record does not have either, so
that a capture and its printed text are one evidence: a test holds both side by side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from podpath.evidence.records import ArpRecord, PacketRecord, Reading, Record
from podpath.evidence.tcpdump.point import parse_point
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Gap, Source, Span
from podpath_capture.columns import CUT, DIRECTIONS, MALFORMED
from podpath_capture.printed.lines import ETHERNET, EVERYBODY, GENEVE, GTP, find_places, render_mac

if TYPE_CHECKING:
    from podpath_capture.columns import Packets

_OPERATIONS = {1: "request", 2: "reply"}
_OFFSET = 0x1FFF
_DAY, _SECOND = 86_400, 1_000_000_000
_NUMBERED = protocols.SYN | protocols.FIN | protocols.RST
Macs = tuple[str | None, str | None]
"""The source's and the destination's."""


class _Cells(NamedTuple):
    """The columns of one packet. Local to `_PacketReader`."""

    time: int
    wirelen: int
    version: int
    protocol: int
    flags: int
    depth: int
    broken: int
    direction: int
    icmp_type: int
    icmp_code: int
    sport: int
    dport: int
    fragment: int
    src: int
    dst: int
    length: int
    payload: int
    seq: int
    ack: int
    vni: int
    ifindex: int
    outer_src: int
    outer_dst: int
    outer_version: int
    outer_protocol: int
    outer_sport: int
    outer_dport: int
    query: int
    mss: int
    outer_smac: int
    outer_dmac: int
    smac: int
    dmac: int


def read_records(
    source: Source,
    packets: Packets,
    rows: Sequence[int],
    devices: Mapping[int, str],
    wrong: Collection[int],
    numbers: Sequence[int] | None = None,
) -> Reading:
    """Return the records of a capture's rows, a line of the source each; packets in `wrong` have a
    wrong outer checksum. Each line stands alone, under the packet's number, where `numbers` tells
    these from 0.
    """
    reader = _PacketReader(source, packets, rows, devices)
    stand_alone = _SourceParts(source)
    records: list[Record] = []
    gaps: list[Gap] = []
    for at, row in enumerate(rows):
        if not reader.is_packet(at, row):
            continue
        number = at + 1
        if numbers is None:
            span = Span(source, number, number)
        else:
            span = stand_alone.span(number - source.first_line, numbers[at] + 1)
        if reader.is_known(row):
            records += reader.read(at, row, span, wrong_sum=row in wrong)
        else:
            gaps.append(
                Gap(
                    span, f"expected an ARP request or reply, saw operation {reader.operation(row)}"
                )
            )
    return Reading(tuple(records), tuple(gaps))


class _SourceParts:
    """Makes a source of each line of one. Local to `read_records`."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines
        self._shared = {field.name: getattr(source, field.name) for field in fields(source)}
        del self._shared["lines"], self._shared["first_line"]

    def span(self, line: int, number: int) -> Span:
        """Return a line by itself, under another number."""
        part = Source(lines=self._lines[line : line + 1], first_line=number, **self._shared)
        return Span(part, number, number)


class _PacketReader:
    """Makes records of the packets of one capture. Local to `read_records`."""

    def __init__(
        self, source: Source, packets: Packets, rows: Sequence[int], devices: Mapping[int, str]
    ) -> None:
        self._packets, self._devices = packets, devices
        self._link = parse_point(source.command).link
        columns = packets.columns
        wanted = list(rows)
        taken = np.array(wanted, np.int64)
        values = (getattr(columns, name).take(taken).tolist() for name in _Cells._fields)
        self._rows = list(map(_Cells._make, zip(*values, strict=True)))
        self._spelled: dict[tuple[int, int], Macs] = {(0, 0): (None, None)}
        self._arps = find_places(packets.arps.row, wanted)
        self._quotes = find_places(packets.quotes.row, wanted)

    def is_packet(self, at: int, row: int) -> bool:
        """Tell whether it is IP or ARP."""
        return row in self._arps or (
            self._rows[at].version > 0 and self._rows[at].broken != MALFORMED
        )

    def operation(self, row: int) -> int:
        """Return what an ARP frame does, by its number."""
        return int(self._packets.arps.operation[self._arps[row]])

    def is_known(self, row: int) -> bool:
        """Tell whether it is no ARP frame, or one that asks or answers."""
        return row not in self._arps or self.operation(row) in _OPERATIONS

    def read(self, at: int, row: int, span: Span, *, wrong_sum: bool) -> Iterator[PacketRecord]:
        """Yield the record of a packet; of one in a tunnel that of the outer packet first."""
        value = self._rows[at]
        arp = self._read_arp(self._arps[row]) if row in self._arps else None
        link, direction, smac, dmac = self._read_link(value)
        length = max(value.wirelen - ETHERNET, 0) if smac is not None else None
        time, tunnel = _read_time(value.time), ""
        if value.depth:
            outer, tunnel = self._read_outer(value, length)
            yield PacketRecord(
                span=span,
                time=time,
                packet=_with_macs(outer, smac, dmac),
                link=link,
                direction=direction,
                relative=False,
                smac=smac,
                dmac=dmac,
                wrong_sum=wrong_sum,
            )
            wrong_sum = False
            smac, dmac = self._read_macs(value.smac, value.dmac)
            length = value.length if smac is not None else None
        macs = (smac, dmac)
        packet = None if arp is not None else self._read_packet(row, value, length, macs)
        mtu = 0 if packet is None else self._read_mtu(row)
        yield PacketRecord(
            span=span,
            time=time,
            packet=packet,
            link=link,
            direction=direction,
            relative=False,
            smac=smac,
            dmac=dmac,
            arp=arp,
            tunnel=tunnel,
            mtu=mtu,
            wrong_sum=wrong_sum,
        )

    def _read_link(self, value: _Cells) -> tuple[IfName | None, str | None, str | None, str | None]:
        """Return device, direction and MACs of the frame, as far as the link type has them."""
        source, target = value.smac, value.dmac
        if value.depth:
            source, target = value.outer_smac, value.outer_dmac
        smac, dmac = self._read_macs(source, target)
        direction = DIRECTIONS.get(value.direction)
        name = self._devices.get(value.ifindex, "") if direction else ""
        if direction and source:
            dmac = None
        elif direction:
            smac = dmac = None
            direction = direction if name else None
        link = name or self._link
        return IfName(link) if link else None, direction, smac, dmac

    def _read_macs(self, source: int, target: int) -> Macs:
        """Spell both MACs; None where the link type has none."""
        spelled = self._spelled.get((source, target))
        if spelled is None:
            spelled = self._spelled[source, target] = render_mac(source), render_mac(target)
        return spelled

    def _address(self, version: int, value: int) -> Address:
        if version == 4:
            return Address(4, value)
        return Address(6, self._packets.addresses[value])

    def _read_arp(self, place: int) -> ArpRecord:
        arps = self._packets.arps
        sender, target = Address(4, int(arps.sender[place])), Address(4, int(arps.target[place]))
        if arps.operation[place] == 2:
            return ArpRecord("reply", sender, None, render_mac(int(arps.sender_mac[place])), None)
        mac = int(arps.target_mac[place])
        return ArpRecord(
            "request", sender, target, None, None if mac in {0, EVERYBODY} else render_mac(mac)
        )

    def _read_outer(self, value: _Cells, length: int | None) -> tuple[Packet, str]:
        """Return the packet around a tunnel's, and the name of the tunnel."""
        version, protocol = value.outer_version, value.outer_protocol
        packet = Packet(
            self._address(version, value.outer_src),
            self._address(version, value.outer_dst),
            protocol,
        )
        packet = packet if length is None else packet._replace(length=length)
        if protocol == protocols.GRE:
            return packet, "GRE"
        if protocol != protocols.UDP:
            return packet, "IPIP"
        ports = (value.outer_sport, value.outer_dport)
        if ports[1] == GTP:
            name = f"GTP-U teid {value.vni}"
        else:
            name = f"{'Geneve' if GENEVE in ports else 'VXLAN'} vni {value.vni}"
        return packet._replace(sport=ports[0], dport=ports[1]), name

    def _read_packet(self, row: int, value: _Cells, length: int | None, macs: Macs) -> Packet:
        version, protocol = value.version, value.protocol
        fields: dict[str, Any] = {} if length is None else {"length": length}
        if not (value.fragment & _OFFSET or value.broken == CUT):
            fields |= self._read_transport(row, value)
        smac, dmac = macs
        return Packet(
            self._address(version, value.src),
            self._address(version, value.dst),
            protocol,
            smac=None if smac is None else Mac(smac),
            dmac=None if dmac is None else Mac(dmac),
            **fields,
        )

    def _read_transport(self, row: int, value: _Cells) -> dict[str, Any]:
        """Return the fields of a packet that stand behind its IP header."""
        protocol = value.protocol
        if protocol in {protocols.ICMP, protocols.ICMPV6}:
            return self._read_icmp(row, value)
        if protocol not in {protocols.TCP, protocols.UDP}:
            return {}
        if protocol == protocols.TCP:
            return _read_tcp(value)
        return {
            "sport": value.sport,
            "dport": value.dport,
            "payload": value.payload,
            "query": value.query,
        }

    def _read_icmp(self, row: int, value: _Cells) -> dict[str, Any]:
        kind = value.icmp_type
        fields: dict[str, Any] = {
            "icmp_type": kind,
            "icmp_code": value.icmp_code,
            "payload": value.payload + 8,
        }
        if kind in ({0, 8} if value.protocol == protocols.ICMP else {128, 129}):
            return fields | {"sport": value.sport, "dport": value.sport, "seq": value.seq}
        if row in self._quotes:
            fields["quoted"] = self._read_quote(self._quotes[row])
        return fields

    def _read_quote(self, place: int) -> Packet:
        """Return the packet that an ICMP error is about."""
        quotes = self._packets.quotes
        version = int(quotes.version[place])
        source, target = (
            self._address(version, int(getattr(quotes, end)[place])) for end in ("src", "dst")
        )
        return Packet(
            source,
            target,
            int(quotes.protocol[place]),
            int(quotes.sport[place]),
            int(quotes.dport[place]),
        )

    def _read_mtu(self, row: int) -> int:
        """Return the size that an ICMP error says would fit; 0 where it names none."""
        if row in self._quotes:
            return int(self._packets.quotes.mtu[self._quotes[row]])
        return 0


def _with_macs(packet: Packet, smac: str | None, dmac: str | None) -> Packet:
    if smac is None and dmac is None:
        return packet
    return packet._replace(
        smac=None if smac is None else Mac(smac), dmac=None if dmac is None else Mac(dmac)
    )


def _read_time(time: int) -> float:
    """Return the seconds of a time, to the microsecond that its line prints."""
    seconds, rest = divmod(time, _SECOND)
    return seconds % _DAY + rest // 1000 / 1_000_000 + seconds // _DAY * _DAY


def _read_tcp(value: _Cells) -> dict[str, int]:
    """Return what a line prints of TCP: no sequence number of a bare acknowledgement."""
    flags = value.flags
    return {
        "sport": value.sport,
        "dport": value.dport,
        "payload": value.payload,
        "flags": flags,
        "seq": value.seq if value.payload or flags & _NUMBERED else 0,
        "ack": value.ack if flags & protocols.ACK else 0,
        "mss": value.mss,
    }
