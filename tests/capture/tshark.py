"""What tshark reads of a capture, as rows to compare columns with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from podpath.capture.columns import CUT, Packets
from podpath.net.addresses import Address

FIELDS = {
    "time": "frame.time_epoch", "wirelen": "frame.len", "caplen": "frame.cap_len", "protocols": "frame.protocols",
    "src4": "ip.src", "dst4": "ip.dst", "src6": "ipv6.src", "dst6": "ipv6.dst", "ttl": "ip.ttl", "ident": "ip.id",
    "tcp_sport": "tcp.srcport", "tcp_dport": "tcp.dstport", "seq": "tcp.seq", "ack": "tcp.ack", "flags": "tcp.flags",
    "payload": "tcp.len", "window": "tcp.window_size_value", "tsval": "tcp.options.timestamp.tsval",
    "tsecr": "tcp.options.timestamp.tsecr", "mss": "tcp.options.mss_val", "udp_sport": "udp.srcport", "udp_dport": "udp.dstport",
    "icmp_type": "icmp.type", "icmp_code": "icmp.code", "icmp6_type": "icmpv6.type", "vlan": "vlan.id", "vni": "vxlan.vni",
    "smac": "eth.src", "dmac": "eth.dst", "arp_sender": "arp.src.proto_ipv4", "arp_target": "arp.dst.proto_ipv4",
    "arp_mac": "arp.src.hw_mac",
}  # fmt: skip
OPTIONS = (
    "tcp.relative_sequence_numbers:FALSE",
    "tcp.desegment_tcp_streams:FALSE",
    "ip.defragment:FALSE",
    "ipv6.defragment:FALSE",
)


class Difference(NamedTuple):
    """A field of a packet that is read in two ways."""

    packet: int
    field: str
    expected: str
    actual: str


def read_fields(path: Path, *extra: str) -> list[dict[str, list[str]]]:
    """Give for each packet the values of each field, in the order of the headers."""
    arguments = [
        "tshark",
        "-n",
        "-r",
        str(path),
        "-T",
        "fields",
        "-E",
        "occurrence=a",
        "-E",
        "aggregator=|",
        "-E",
        "separator=\t",
    ]
    for option in OPTIONS:
        arguments += ["-o", option]
    for field in FIELDS.values():
        arguments += ["-e", field]
    done = subprocess.run(
        [*arguments, *extra], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, errors="replace"
    )
    rows = []
    for line in done.stdout.splitlines():
        cells = line.split("\t")
        rows.append({name: cell.split("|") if cell else [] for name, cell in zip(FIELDS, cells, strict=False)})
    return rows


def differences(packets: Packets, rows: list[dict[str, list[str]]]) -> Iterator[Difference]:
    """Give the fields that tshark and the columns read unlike, of all packets that both decode."""
    columns = packets.columns
    for number, row in enumerate(rows[: len(columns)]):
        for name in ("wirelen", "caplen"):
            yield from _compare(number, name, row[name], str(getattr(columns, name)[number]))
        if columns.broken[number] or "Malformed" in row["protocols"] or not columns.version[number]:
            continue
        layers = ":".join(row["protocols"]).split(":")
        if layers.count("ip") + layers.count("ipv6") <= columns.depth[number]:
            continue  # tshark takes no tunnel for one on a port that another conversation of it had
        for name, actual in decoded(packets, number):
            values = row.get(name) or []
            if values:
                expected = values[min(int(columns.depth[number]), len(values) - 1) if name not in LAST else -1]
                yield from _compare(number, name, [expected], actual)


LAST = (
    "udp_sport",
    "udp_dport",
    "tcp_sport",
    "tcp_dport",
    "seq",
    "ack",
    "flags",
    "payload",
    "window",
    "tsval",
    "tsecr",
    "mss",
    "vlan",
)
"""Fields of the innermost header; of addresses, the tunnel's own stand before."""


def decoded(packets: Packets, number: int) -> Iterator[tuple[str, str]]:
    """Spell the columns of a packet as tshark does."""
    columns = packets.columns
    version = int(columns.version[number])
    if not columns.depth[number]:
        for side in ("src", "dst"):
            value = int(getattr(columns, side)[number])
            yield f"{side}{version}", str(Address(4, value) if version == 4 else Address(6, packets.addresses[value]))
        if version == 4:
            yield "ttl", str(columns.ttl[number])
            yield "ident", f"0x{columns.ident[number]:04x}"
    later = bool(columns.fragment[number] & 0x1FFF)
    protocol = int(columns.protocol[number])
    if protocol == 6 and not later and columns.broken[number] != CUT:
        for name in ("seq", "ack", "payload", "window"):
            yield name, str(getattr(columns, name)[number])
        yield "flags", f"0x{columns.flags[number]:04x}"
        for name in ("tsval", "tsecr", "mss"):
            if getattr(columns, name)[number]:
                yield name, str(getattr(columns, name)[number])
    if protocol in {6, 17} and not later:
        kind = "tcp" if protocol == 6 else "udp"
        for side in ("sport", "dport"):
            yield f"{kind}_{side}", str(getattr(columns, side)[number])
    if protocol in {1, 58} and not later and not columns.depth[number]:
        yield "icmp_type" if protocol == 1 else "icmp6_type", str(columns.icmp_type[number])
        if protocol == 1:
            yield "icmp_code", str(columns.icmp_code[number])


def _compare(number: int, field: str, expected: list[str], actual: str) -> Iterator[Difference]:
    same = expected[:1] == [actual] or (field == "flags" and expected and int(expected[0], 16) & 0xFF == int(actual, 16))
    if expected and not same:
        yield Difference(number + 1, field, expected[0], actual)
