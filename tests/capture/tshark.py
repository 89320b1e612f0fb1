"""What tshark reads of captures, as rows to compare columns with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath_capture.columns import SACK_OK, SCALE, Packets

FIELDS = {
    "time": "frame.time_epoch", "wirelen": "frame.len", "caplen": "frame.cap_len",
    "protocols": "frame.protocols", "src4": "ip.src", "dst4": "ip.dst", "src6": "ipv6.src",
    "dst6": "ipv6.dst", "ttl": "ip.ttl", "ident": "ip.id", "hlim": "ipv6.hlim",
    "fragment": "ip.frag_offset", "dont_fragment": "ip.flags.df", "more": "ip.flags.mf",
    "protocol": "ip.proto", "length": "ip.len", "tcp_sport": "tcp.srcport",
    "tcp_dport": "tcp.dstport", "seq": "tcp.seq", "ack": "tcp.ack", "flags": "tcp.flags",
    "payload": "tcp.len", "window": "tcp.window_size_value", "tsval": "tcp.options.timestamp.tsval",
    "tsecr": "tcp.options.timestamp.tsecr", "mss": "tcp.options.mss_val",
    "scale": "tcp.options.wscale.shift", "sack_ok": "tcp.options.sack_perm",
    "udp_sport": "udp.srcport", "udp_dport": "udp.dstport", "udp_length": "udp.length",
    "sctp_sport": "sctp.srcport", "sctp_dport": "sctp.dstport", "icmp_type": "icmp.type",
    "icmp_code": "icmp.code", "icmp_ident": "icmp.ident", "icmp_seq": "icmp.seq",
    "icmp_mtu": "icmp.mtu", "icmp6_type": "icmpv6.type", "icmp6_code": "icmpv6.code",
    "vlan": "vlan.id", "vxlan_vni": "vxlan.vni", "geneve_vni": "geneve.vni", "gre_key": "gre.key",
    "smac": "eth.src", "dmac": "eth.dst", "arp_operation": "arp.opcode",
    "arp_sender": "arp.src.proto_ipv4", "arp_target": "arp.dst.proto_ipv4",
    "arp_smac": "arp.src.hw_mac", "arp_tmac": "arp.dst.hw_mac", "direction": "sll.pkttype",
    "ifindex": "sll.ifindex",
}  # fmt: skip
OPTIONS = (
    "tcp.relative_sequence_numbers:FALSE", "tcp.desegment_tcp_streams:FALSE", "ip.defragment:FALSE",
    "ipv6.defragment:FALSE", "ip.tso_support:TRUE", "udp.try_heuristic_first:FALSE",
)  # fmt: skip
INNER = (
    "udp_sport", "udp_dport", "udp_length", "tcp_sport", "tcp_dport", "sctp_sport", "sctp_dport",
    "seq", "ack", "flags", "payload", "window", "tsval", "tsecr", "mss", "scale", "sack_ok", "vlan",
)  # fmt: skip
"""Fields of the innermost header; of addresses, the tunnel's own stand before."""
Row = dict[str, list[str]]


class Difference(NamedTuple):
    """A field of a packet that is read in two ways."""

    packet: int
    field: str
    expected: str
    actual: str


def read_fields(path: Path, *extra: str) -> list[Row]:
    """Return for each packet the values of each field, in the order of the headers."""
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
        [*arguments, *extra],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        errors="replace",
    )
    rows = []
    for line in done.stdout.splitlines():
        cells = line.split("\t")
        rows.append(
            {
                name: cell.split("|") if cell else []
                for name, cell in zip(FIELDS, cells, strict=False)
            }
        )
    return rows


def read_many(paths: Sequence[Path], folder: Path) -> list[Row]:
    """Return the rows of several captures of one link type, one after the other: tshark takes long
    to start.
    """
    merged = folder / "merged.pcapng"
    subprocess.run(
        ["mergecap", "-a", "-w", str(merged), *map(str, paths)], capture_output=True, check=False
    )
    return read_fields(merged)


def differences(packets: Packets, rows: Sequence[Row]) -> Iterator[Difference]:
    """Yield the fields that tshark and the columns read unlike, of all packets that both decode."""
    columns = packets.columns
    arps = {int(row): place for place, row in enumerate(packets.arps.row)}
    quotes = {int(row): place for place, row in enumerate(packets.quotes.row)}
    for number, row in enumerate(rows[: len(columns)]):
        for name in ("wirelen", "caplen"):
            yield from _compare(number, name, row[name], str(getattr(columns, name)[number]))
        layers = ":".join(row["protocols"]).split(":")
        if columns.broken[number] or "_ws.malformed" in layers:
            continue
        depth = int(columns.depth[number])
        if number in arps and "arp" in layers:
            for name, actual in _arp(packets, arps[number]):
                yield from _compare(number, name, row[name], actual)
        if not columns.version[number]:
            if layers.count("ip") + layers.count("ipv6") > depth and "arp" not in layers:
                yield Difference(number + 1, "network", ":".join(layers), "nothing")
            continue
        if layers.count("ip") + layers.count("ipv6") <= depth:
            continue  # tshark takes no tunnel for one on a port that another conversation of it had
        for name, actual in decoded(packets, number):
            values = row[name]
            if name in {"scale", "sack_ok"}:
                yield from _compare(number, name, ["present" if values else "absent"], actual)
            elif values:
                at = min(_occurrence(packets, number, name), len(values) - 1)
                yield from _compare(
                    number,
                    name,
                    [values[-1 if name in INNER and number not in quotes else at]],
                    actual,
                )


def _occurrence(packets: Packets, number: int, name: str) -> int:
    """Say which occurrence of a field is the innermost packet's: its own family's headers around it
    are counted off.
    """
    columns = packets.columns
    depth = int(columns.depth[number])
    if not depth or name in INNER:
        return 0
    same = int(columns.outer_version[number]) == int(columns.version[number])
    return depth if same or name in {"smac", "dmac"} else depth - 1


def decoded(packets: Packets, number: int) -> Iterator[tuple[str, str]]:
    """Spell the columns of a packet as tshark does."""
    columns = packets.columns
    if columns.depth[number] < 2:
        yield from _network(packets, number)
        yield from _link(packets, number)
    if columns.fragment[number] & 0x1FFF:
        return
    yield from _transport(packets, number)


def _network(packets: Packets, number: int) -> Iterator[tuple[str, str]]:
    columns = packets.columns
    version = int(columns.version[number])
    for side in ("src", "dst"):
        value = int(getattr(columns, side)[number])
        yield (
            f"{side}{version}",
            str(Address(4, value) if version == 4 else Address(6, packets.addresses[value])),
        )
    if version == 6:
        yield "hlim", str(columns.ttl[number])
        return
    fragment = int(columns.fragment[number])
    yield "ttl", str(columns.ttl[number])
    yield "ident", f"0x{columns.ident[number]:04x}"
    yield "fragment", str(fragment & 0x1FFF)
    yield "dont_fragment", str(fragment >> 14 & 1)
    yield "more", str(fragment >> 13 & 1)
    yield "protocol", str(columns.protocol[number])
    yield "length", str(columns.length[number])


def _link(packets: Packets, number: int) -> Iterator[tuple[str, str]]:
    columns = packets.columns
    if columns.dmac[number]:
        for name in ("smac", "dmac"):
            yield name, int(getattr(columns, name)[number]).to_bytes(6, "big").hex(":")
    if columns.vlan[number]:
        yield "vlan", str(columns.vlan[number])
    if columns.direction[number] and not columns.depth[number]:
        yield "direction", str(columns.direction[number] - 1)
        if columns.ifindex[number]:
            yield "ifindex", str(columns.ifindex[number])
    if columns.depth[number] == 1 and columns.outer_protocol[number] == protocols.UDP:
        vni = int(columns.vni[number])
        yield (
            ("geneve_vni", f"0x{vni:06x}")
            if columns.outer_dport[number] == 6081
            else ("vxlan_vni", str(vni))
        )
    if (
        columns.depth[number] == 1
        and columns.outer_protocol[number] == protocols.GRE
        and columns.vni[number]
    ):
        yield "gre_key", f"0x{columns.vni[number]:08x}"


def _transport(packets: Packets, number: int) -> Iterator[tuple[str, str]]:
    columns, protocol = packets.columns, int(packets.columns.protocol[number])
    kind = {protocols.TCP: "tcp", protocols.UDP: "udp", protocols.SCTP: "sctp"}.get(protocol)
    if kind is not None:
        yield f"{kind}_sport", str(columns.sport[number])
        yield f"{kind}_dport", str(columns.dport[number])
    if protocol == protocols.TCP:
        for name in ("seq", "ack", "payload", "window"):
            yield name, str(getattr(columns, name)[number])
        yield "flags", f"0x{columns.flags[number]:04x}"
        options = int(columns.options[number])
        for name in ("tsval", "tsecr", "mss"):
            if getattr(columns, name)[number]:
                yield name, str(getattr(columns, name)[number])
        yield "scale", "present" if options & SCALE else "absent"
        yield "sack_ok", "present" if options & SACK_OK else "absent"
    if protocol == protocols.ICMP and not columns.depth[number]:
        yield "icmp_type", str(columns.icmp_type[number])
        yield "icmp_code", str(columns.icmp_code[number])
        if columns.icmp_type[number] in {0, 8}:
            yield "icmp_ident", str(columns.sport[number])
            yield "icmp_seq", str(columns.seq[number])
    if protocol == protocols.ICMPV6 and not columns.depth[number]:
        yield "icmp6_type", str(columns.icmp_type[number])
        yield "icmp6_code", str(columns.icmp_code[number])


def _arp(packets: Packets, place: int) -> Iterator[tuple[str, str]]:
    arps = packets.arps
    yield "arp_operation", str(arps.operation[place])
    yield "arp_sender", str(Address(4, int(arps.sender[place])))
    yield "arp_target", str(Address(4, int(arps.target[place])))
    yield "arp_smac", int(arps.sender_mac[place]).to_bytes(6, "big").hex(":")
    yield "arp_tmac", int(arps.target_mac[place]).to_bytes(6, "big").hex(":")


def _compare(number: int, field: str, expected: list[str], actual: str) -> Iterator[Difference]:
    same = expected[:1] == [actual] or (
        field == "flags" and expected and int(expected[0], 16) & 0xFF == int(actual, 16)
    )
    if expected and not same:
        yield Difference(number + 1, field, expected[0], actual)
