"""Packets of a capture as records: what their printed lines say, without reading them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.made_capture import make_capture
from podpath.evidence.records import PacketRecord, Record
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net import protocols
from podpath.net.provenance import Source
from podpath_capture.printed.lines import render_lines
from podpath_capture.reading.read import read_capture
from podpath_capture.records import read_records

SHARED = Path(__file__).resolve().parents[3] / "shared" / "captures" / "tcpdump-tests"
DEVICES = {index: f"dev{index}" for index in range(1, 20)}
CUT = "ipv6_missing_jumbo_payload_option.pcap"
"""Its target address ends in two colons, behind which the printer's own colon cannot be told."""


def both(data: bytes) -> tuple[list[Record], list[Record]]:
    """Return the records of a capture, and those of its printed lines."""
    packets = read_capture(data).packets
    rows = range(min(len(packets), 500))
    lines = tuple(render_lines(packets, rows, DEVICES, data))
    source = Source(
        name="made.pcap", lines=lines, command="tcpdump -i eth3 -nn -e -S -tttt -r made.pcap"
    )
    return list(read_records(source, packets, rows, DEVICES, ()).records), list(
        read_tcpdump(source).records
    )


def comparable(record: Record) -> Record:
    """Leave out what only one of both knows: a line has notes, columns have ICMP's codes, quoted
    packets and inner lengths.
    """
    if not isinstance(record, PacketRecord):
        return record
    packet = record.packet
    if packet is not None and packet.protocol in {protocols.ICMP, protocols.ICMPV6}:
        packet = packet._replace(
            quoted=None, icmp_code=0, icmp_type=packet.icmp_type if packet.icmp_type < 43 else 255
        )
    if packet is not None and record.tunnel:
        packet = packet._replace(length=0)
    return replace(record, packet=packet, note="")


def test_records_are_those_of_the_printed_lines() -> None:
    """TCP, plain and in VXLAN, with every number, flag, MAC and time."""
    from_columns, from_text = both(make_capture(400, seed=3).data)

    assert 300 < len(from_columns)
    assert list(map(comparable, from_text)) == list(map(comparable, from_columns))


def test_records_of_the_tcpdump_projects_captures() -> None:
    """ARP, ICMP, fragments, cut packets and tunnels of every kind give what their lines give."""
    if not SHARED.is_dir():
        pytest.skip("the tcpdump project's test captures are not here")
    count = 0
    for path in sorted(SHARED.glob("*.pcap")):
        try:
            from_columns, from_text = both(path.read_bytes())
        except ValueError:
            continue
        count += len(from_columns)
        if path.name != CUT:
            assert list(map(comparable, from_text)) == list(map(comparable, from_columns)), (
                path.name
            )

    assert count > 5000
