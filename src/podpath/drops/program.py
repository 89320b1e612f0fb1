"""The BPF program at the tracepoint `skb:kfree_skb`: it counts every freed packet by its flow, and
sends the first of each flow up with its bytes.

It runs inside the kernel for each drop, so it decides nothing: it copies what identifies the drop
into a key, counts the key, and copies the packet once in each turn of the flows' maps. What it
could not count by flow or could not send is counted apart, so that nothing is lost unseen.

The layouts of key, count, event and counters stand here too, since they are what it writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.drops.btf import TypeTable
from podpath.drops.instructions import (
    Alu,
    JumpTest,
    Label,
    Line,
    Register,
    add_atomically,
    assemble,
    call,
    compute,
    jump,
    leave,
    load,
    load_map,
    move,
    store,
    store_value,
)
from podpath.net.errors import PodpathError

R0, R1, R2, R3, R6, R7, R8, R9, FP = (
    Register.R0, Register.R1, Register.R2, Register.R3, Register.R6, Register.R7, Register.R8,
    Register.R9, Register.FP,
)  # fmt: skip
R4 = Register.R4
_LOOKUP, _UPDATE, _CLOCK, _READ, _RESERVE, _SUBMIT = 1, 2, 5, 113, 131, 132
"""The kernel's helpers by number (include/uapi/linux/bpf.h)."""
TRACEPOINT = "kfree_skb"
PACKET = 128
"""Bytes of a packet that are sent, from its network header."""

KEY = struct.Struct("<QIIII2sBBHH16s16s")
"""Location, reason, namespace, device, input device, EtherType, protocol, TCP flags, ports (as on
the wire, but read as little-endian numbers), addresses."""
COUNT = struct.Struct("<QQQQ")
"""Packets, bytes, time of the last, and whether one was sent up."""
EVENT = struct.Struct(f"<{KEY.size}sQIIIHHHH14s6x40s{PACKET}s")
"""Key, time, length, mark, the connection's status, bytes that stand in line from the network
header, VLAN tag, what conntrack says of the packet, whether a MAC header is there, that header,
conntrack's original tuple, packet."""
COUNTERS = struct.Struct("<QQQQ")
"""Drops seen, not counted by flow, not sent for lack of room, not sent for lack of budget."""

_KEY, _HEADER, _COUNTERS, _NETWORK, _SPARE, _ZERO, _COUNT = -72, -120, -128, -136, -144, -152, -184
"""Places on the stack."""
_SEEN, _UNCOUNTED, _NO_ROOM, _NO_BUDGET = 0, 8, 16, 24
_NETNS, _DEVICE, _INPUT, _TYPE, _PROTOCOL, _FLAGS, _PORTS, _SOURCE, _DESTINATION = (
    12, 16, 20, 24, 26, 27, 28, 32, 48,
)  # fmt: skip
_FLAGS_KEPT = 0x17
"""FIN, SYN, RST and ACK: what tells a connection's beginning and end."""


class ProgramMaps(NamedTuple):
    """The descriptors of the maps that a program uses."""

    counters: int
    flows: int
    """An array with one map: the flows of this turn."""
    budget: int
    ring: int


class ConntrackLayout(NamedTuple):
    """Where a packet's connection is, and in that its original tuple and status."""

    entry: int
    began: int
    status: int


class Layout(NamedTuple):
    """Where the running kernel has what is read."""

    at: Mapping[str, int]
    """Bytes from the beginning of each struct, by the names of `MEMBERS`."""
    conntrack: ConntrackLayout | None
    """None where the kernel has no conntrack, or has it in a module."""
    has_reason: bool
    """False before v5.17: drops have no reasons there."""


MEMBERS: Mapping[str, tuple[str, str]] = {
    "head": ("sk_buff", "head"),
    "network header": ("sk_buff", "network_header"),
    "MAC header": ("sk_buff", "mac_header"),
    "tail": ("sk_buff", "tail"),
    "protocol": ("sk_buff", "protocol"),
    "length": ("sk_buff", "len"),
    "mark": ("sk_buff", "mark"),
    "device": ("sk_buff", "dev"),
    "socket": ("sk_buff", "sk"),
    "route": ("sk_buff", "_skb_refdst"),
    "input": ("sk_buff", "skb_iif"),
    "VLAN": ("sk_buff", "vlan_tci"),
    "ifindex": ("net_device", "ifindex"),
    "device's namespace": ("net_device", "nd_net.net"),
    "socket's namespace": ("sock", "__sk_common.skc_net.net"),
    "inode": ("net", "ns.inum"),
    "route's device": ("dst_entry", "dev"),
}
"""What is read: struct and member."""


def find_layout(types: TypeTable) -> Layout:
    """Find in the running kernel's types what the program reads; `PodpathError` names what
    lacks.
    """
    found = {name: types.find_offset(*member) for name, member in MEMBERS.items()}
    lacking = [".".join(MEMBERS[name]) for name, offset in found.items() if offset is None]
    if lacking:
        raise PodpathError(f"expected the kernel's types to have {', '.join(lacking)}, saw none")
    parameters = types.count_parameters(f"btf_trace_{TRACEPOINT}")
    return Layout(
        {name: offset for name, offset in found.items() if offset is not None},
        _find_conntrack(types),
        parameters is not None and parameters > 3,
    )


def _find_conntrack(types: TypeTable) -> ConntrackLayout | None:
    entry = types.find_offset("sk_buff", "_nfct")
    hashes = types.find_offset("nf_conn", "tuplehash")
    began = types.find_offset("nf_conntrack_tuple_hash", "tuple")
    status = types.find_offset("nf_conn", "status")
    if entry is None or hashes is None or began is None or status is None:
        return None
    return ConntrackLayout(entry, hashes + began, status)


def assemble_program(layout: Layout, maps: ProgramMaps) -> bytes:
    """Return the program's bytes for a kernel."""
    lines: list[Line] = [
        *_begin(layout, maps),
        *_find_place(layout.at),
        *_find_packet(layout.at),
        *_key_packet(),
        Label("keyed"),
        *_count(layout.at, maps),
        *_send(layout, maps),
        Label("end"),
        move(R0, 0),
        leave(),
    ]
    return assemble(lines)


def _address(target: Register, place: int) -> Iterator[Line]:
    """Point a register at a place on the stack."""
    yield move(target, FP)
    yield compute(Alu.ADD, target, place)


def _read(place: int, size: int, base: Register, offset: int) -> Iterator[Line]:
    """Copy the kernel's memory to the stack; what cannot be read is zero."""
    yield move(R3, base)
    yield compute(Alu.ADD, R3, offset)
    yield from _address(R1, place)
    yield move(R2, size)
    yield call(_READ)


def _read_into(offset: int, size: int, base: Register, where: int) -> Iterator[Line]:
    """Copy the kernel's memory to the event that R9 points at."""
    yield move(R3, base)
    yield compute(Alu.ADD, R3, where)
    yield move(R1, R9)
    yield compute(Alu.ADD, R1, offset)
    yield move(R2, size)
    yield call(_READ)


def _follow(base: Register, offset: int, target: Register) -> Iterator[Line]:
    """Load the pointer that stands in the kernel's memory."""
    yield from _read(_SPARE, 8, base, offset)
    yield load(8, target, FP, _SPARE)


def _look_up(descriptor: int, place: int) -> Iterator[Line]:
    """Look an entry of a map up by the key on the stack."""
    yield from load_map(R1, descriptor)
    yield from _address(R2, place)
    yield call(_LOOKUP)


def _count_one(counter: int) -> Iterator[Line]:
    """Add one to a counter of this processor, which nothing else writes meanwhile."""
    yield load(8, R1, FP, _COUNTERS)
    yield load(8, R2, R1, counter)
    yield compute(Alu.ADD, R2, 1)
    yield store(8, R1, counter, R2)


def _begin(layout: Layout, maps: ProgramMaps) -> Iterator[Line]:
    yield move(R6, R1)
    yield load(8, R7, R6, 0)
    yield store_value(8, FP, _ZERO, 0)
    yield from _look_up(maps.counters, _ZERO)
    yield jump("end", JumpTest.EQUAL, R0, 0)
    yield store(8, FP, _COUNTERS, R0)
    yield from _count_one(_SEEN)
    for place in range(_KEY, _KEY + KEY.size, 8):
        yield store_value(8, FP, place, 0)
    yield load(8, R1, R6, 8)
    yield store(8, FP, _KEY, R1)
    if layout.has_reason:
        yield load(8, R1, R6, 16)
        yield store(4, FP, _KEY + 8, R1)


def _find_place(at: Mapping[str, int]) -> Iterator[Line]:
    """Find the namespace: that of the device, else of the socket, else of the route's device."""
    yield from _follow(R7, at["device"], R8)
    yield jump("no device", JumpTest.EQUAL, R8, 0)
    yield from _read(_KEY + _DEVICE, 4, R8, at["ifindex"])
    yield from _follow(R8, at["device's namespace"], R8)
    yield jump("namespace")
    yield Label("no device")
    yield from _follow(R7, at["socket"], R8)
    yield jump("no socket", JumpTest.EQUAL, R8, 0)
    yield from _follow(R8, at["socket's namespace"], R8)
    yield jump("namespace")
    yield Label("no socket")
    yield from _follow(R7, at["route"], R8)
    yield compute(Alu.AND, R8, -8)  # a flag is in its lowest bit (SKB_DST_NOREF)
    yield jump("placed", JumpTest.EQUAL, R8, 0)
    yield from _follow(R8, at["route's device"], R8)
    yield jump("placed", JumpTest.EQUAL, R8, 0)
    yield from _follow(R8, at["device's namespace"], R8)
    yield Label("namespace")
    yield jump("placed", JumpTest.EQUAL, R8, 0)
    yield from _read(_KEY + _NETNS, 4, R8, at["inode"])
    yield Label("placed")
    yield from _read(_KEY + _INPUT, 4, R7, at["input"])


def _find_packet(at: Mapping[str, int]) -> Iterator[Line]:
    """Leave in R8, and on the stack, where the network header is."""
    yield from _read(_KEY + _TYPE, 2, R7, at["protocol"])
    yield store_value(8, FP, _HEADER, 0)
    yield from _read(_HEADER, 2, R7, at["network header"])
    yield from _follow(R7, at["head"], R8)
    yield load(2, R1, FP, _HEADER)
    yield compute(Alu.ADD, R8, R1)
    yield store(8, FP, _NETWORK, R8)


def _key_packet() -> Iterator[Line]:
    """Copy addresses and ports to the key."""
    yield load(2, R1, FP, _KEY + _TYPE)
    yield jump("IPv4", JumpTest.EQUAL, R1, 0x0008)
    yield jump("IPv6", JumpTest.EQUAL, R1, 0xDD86)
    yield jump("ARP", JumpTest.EQUAL, R1, 0x0608)
    yield jump("keyed")
    yield from _key_ipv4()
    yield from _key_ipv6()
    yield Label("transport")
    yield from _key_transport()
    yield from _key_arp()


def _key_ipv4() -> Iterator[Line]:
    """Copy the addresses; leave where the transport header is in R8."""
    yield Label("IPv4")
    yield from _read(_HEADER, 20, R8, 0)
    yield load(1, R1, FP, _HEADER)
    yield move(R2, R1)
    yield compute(Alu.RIGHT, R2, 4)
    yield jump("keyed", JumpTest.NOT_EQUAL, R2, 4)
    yield load(1, R2, FP, _HEADER + 9)
    yield store(1, FP, _KEY + _PROTOCOL, R2)
    for header, key in ((12, _SOURCE), (16, _DESTINATION)):
        yield load(4, R2, FP, _HEADER + header)
        yield store(4, FP, _KEY + key, R2)
    yield load(2, R2, FP, _HEADER + 6)
    yield compute(Alu.AND, R2, 0xFF1F)
    yield jump("keyed", JumpTest.NOT_EQUAL, R2, 0)  # a fragment has no ports
    yield compute(Alu.AND, R1, 15)
    yield compute(Alu.LEFT, R1, 2)
    yield compute(Alu.ADD, R8, R1)
    yield jump("transport")


def _key_ipv6() -> Iterator[Line]:
    """Copy the addresses; leave what comes behind the fixed header in R8."""
    yield Label("IPv6")
    yield from _read(_HEADER, 40, R8, 0)
    yield load(1, R1, FP, _HEADER)
    yield compute(Alu.RIGHT, R1, 4)
    yield jump("keyed", JumpTest.NOT_EQUAL, R1, 6)
    yield load(1, R2, FP, _HEADER + 6)
    yield store(1, FP, _KEY + _PROTOCOL, R2)
    for byte in range(0, 32, 8):
        yield load(8, R2, FP, _HEADER + 8 + byte)
        yield store(8, FP, _KEY + _SOURCE + byte, R2)
    yield compute(Alu.ADD, R8, 40)


def _key_transport() -> Iterator[Line]:
    """Copy ports and flags, or type and code."""
    yield load(1, R1, FP, _KEY + _PROTOCOL)
    yield jump("TCP", JumpTest.EQUAL, R1, 6)
    for protocol in (17, 132):
        yield jump("ports", JumpTest.EQUAL, R1, protocol)
    for protocol in (1, 58):
        yield jump("ICMP", JumpTest.EQUAL, R1, protocol)
    yield jump("keyed")
    yield Label("TCP")
    yield from _read(_HEADER, 14, R8, 0)
    yield load(1, R1, FP, _HEADER + 13)
    yield compute(Alu.AND, R1, _FLAGS_KEPT)
    yield store(1, FP, _KEY + _FLAGS, R1)
    yield jump("copy ports")
    yield Label("ports")
    yield from _read(_HEADER, 4, R8, 0)
    yield Label("copy ports")
    yield load(4, R1, FP, _HEADER)
    yield store(4, FP, _KEY + _PORTS, R1)
    yield jump("keyed")
    yield Label("ICMP")
    yield from _read(_HEADER, 2, R8, 0)
    yield load(2, R1, FP, _HEADER)
    yield store(2, FP, _KEY + _PORTS, R1)
    yield jump("keyed")


def _key_arp() -> Iterator[Line]:
    """Copy the addresses of who asks and who is asked for."""
    yield Label("ARP")
    yield from _read(_HEADER, 28, R8, 0)
    for header, key in ((14, _SOURCE), (24, _DESTINATION)):
        for half in (0, 2):
            yield load(2, R1, FP, _HEADER + header + half)
            yield store(2, FP, _KEY + key + half, R1)


def _count(at: Mapping[str, int], maps: ProgramMaps) -> Iterator[Line]:
    """Count the key in this turn's map; leave where its count is in R9."""
    yield from _look_up(maps.flows, _ZERO)
    yield jump("end", JumpTest.EQUAL, R0, 0)
    yield move(R9, R0)
    yield from _look_up_in(R9)
    yield jump("counted", JumpTest.NOT_EQUAL, R0, 0)
    for place in range(_COUNT, _COUNT + COUNT.size, 8):
        yield store_value(8, FP, place, 0)
    yield move(R1, R9)
    yield from _address(R2, _KEY)
    yield from _address(R3, _COUNT)
    yield move(R4, 1)  # BPF_NOEXIST: another processor may have made it meanwhile
    yield call(_UPDATE)
    yield from _look_up_in(R9)
    yield jump("counted", JumpTest.NOT_EQUAL, R0, 0)
    yield from _count_one(_UNCOUNTED)
    yield jump("end")
    yield Label("counted")
    yield move(R9, R0)
    yield move(R1, 1)
    yield add_atomically(R9, 0, R1)
    yield store_value(8, FP, _SPARE, 0)
    yield from _read(_SPARE, 4, R7, at["length"])
    yield load(8, R1, FP, _SPARE)
    yield add_atomically(R9, 8, R1)
    yield call(_CLOCK)
    yield store(8, R9, 16, R0)
    yield move(R8, R0)


def _look_up_in(base: Register) -> Iterator[Line]:
    yield move(R1, base)
    yield from _address(R2, _KEY)
    yield call(_LOOKUP)


def _send(layout: Layout, maps: ProgramMaps) -> Iterator[Line]:
    """Send the packet up, where it is the flow's first of this turn and the budget allows it."""
    yield load(8, R1, R9, 24)
    yield jump("end", JumpTest.NOT_EQUAL, R1, 0)
    yield store_value(8, R9, 24, 1)
    yield from _look_up(maps.budget, _ZERO)
    yield jump("end", JumpTest.EQUAL, R0, 0)
    yield load(8, R1, R0, 0)
    yield jump("no budget", JumpTest.AT_MOST_SIGNED, R1, 0)
    yield move(R1, -1)
    yield add_atomically(R0, 0, R1)
    yield from load_map(R1, maps.ring)
    yield move(R2, EVENT.size)
    yield move(R3, 0)
    yield call(_RESERVE)
    yield jump("no room", JumpTest.EQUAL, R0, 0)
    yield move(R9, R0)
    yield from _fill(layout)
    yield move(R1, R9)
    yield move(R2, 0)
    yield call(_SUBMIT)
    yield jump("end")
    yield Label("no room")
    yield from _count_one(_NO_ROOM)
    yield jump("end")
    yield Label("no budget")
    yield from _count_one(_NO_BUDGET)


def _fill(layout: Layout) -> Iterator[Line]:
    """Write the event that R9 points at; R8 has the time."""
    at = layout.at
    for byte in range(0, KEY.size, 8):
        yield load(8, R1, FP, _KEY + byte)
        yield store(8, R9, byte, R1)
    after = KEY.size
    yield store(8, R9, after, R8)
    for place in range(after + 16, EVENT.size - PACKET, 8):
        yield store_value(8, R9, place, 0)
    yield from _read_into(after + 8, 4, R7, at["length"])
    yield from _read_into(after + 12, 4, R7, at["mark"])
    yield from _read_into(after + 22, 2, R7, at["VLAN"])
    yield from _fill_linear(layout.at, after + 20)
    yield from _fill_mac(layout.at, after + 26)
    yield from _fill_conntrack(layout.conntrack, after)
    yield load(8, R8, FP, _NETWORK)
    yield from _read_into(EVENT.size - PACKET, PACKET, R8, 0)


def _fill_linear(at: Mapping[str, int], place: int) -> Iterator[Line]:
    """Write how many bytes from the network header stand in line: what is behind is not the
    packet's.
    """
    yield store_value(8, FP, _HEADER, 0)
    yield from _read(_HEADER, 4, R7, at["tail"])
    yield load(8, R8, FP, _HEADER)
    yield store_value(8, FP, _HEADER, 0)
    yield from _read(_HEADER, 2, R7, at["network header"])
    yield load(8, R1, FP, _HEADER)
    yield compute(Alu.SUBTRACT, R8, R1)
    yield store(2, R9, place, R8)


def _fill_mac(at: Mapping[str, int], place: int) -> Iterator[Line]:
    """Write the MAC header, where one is there, and that it is."""
    yield store_value(8, FP, _HEADER, 0)
    yield from _read(_HEADER, 2, R7, at["MAC header"])
    yield load(2, R8, FP, _HEADER)
    yield jump("no MAC", JumpTest.EQUAL, R8, 0xFFFF)
    yield store_value(2, R9, place, 1)
    yield from _follow(R7, at["head"], R1)
    yield compute(Alu.ADD, R8, R1)
    yield from _read_into(place + 2, 14, R8, 0)
    yield Label("no MAC")


def _fill_conntrack(layout: ConntrackLayout | None, after: int) -> Iterator[Line]:
    """Write what conntrack says of the packet, and how its connection began."""
    if layout is None:
        return
    yield from _follow(R7, layout.entry, R8)
    yield store(2, R9, after + 24, R8)  # the lowest three bits
    yield compute(Alu.AND, R8, -8)
    yield jump("no connection", JumpTest.EQUAL, R8, 0)
    yield from _read_into(after + 16, 4, R8, layout.status)
    yield from _read_into(EVENT.size - PACKET - 40, 40, R8, layout.began)
    yield Label("no connection")
