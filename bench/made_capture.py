"""Captures made for tests and measurements: many connections side by side, with what is known of
them beforehand.

TCP over IPv4 with some over IPv6, DNS over UDP, retransmissions, and as much in VXLAN as is asked
for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
ETHERNET, IP4, IP6, TCP, UDP = 14, 20, 40, 20, 8
RECORD, FILE = 16, 24
PER_FLOW = 17
"""Packets of a connection: three of its handshake, ten with data, two that only acknowledge, two
that end it.
"""
SYN, ACK, PUSH_ACK, FIN_ACK = 0x02, 0x10, 0x18, 0x11
START = 1_700_000_000


class Made(NamedTuple):
    """A capture, and what it holds."""

    data: bytes
    packets: int
    retransmissions: int
    """TCP packets that repeat another's sequence numbers."""
    flows: int


def make_capture(packets: int, *, vxlan: float = 0.0, seed: int = 1) -> Made:
    """Make a pcap file of about so many packets, a share of the flows in VXLAN on port 8472."""
    draw = np.random.default_rng(seed)
    flows = max(packets // PER_FLOW, 1)
    table = _conversations(draw, flows)
    table = _repeat(draw, table)
    order = np.argsort(table["time"], kind="stable")
    table = {name: values[order] for name, values in table.items()}
    kind = {
        "six": draw.random(flows) < 0.05,
        "udp": draw.random(flows) < 0.04,
        "vxlan": draw.random(flows) < vxlan,
    }
    flow = table["flow"]
    table |= {name: values[flow] for name, values in kind.items()}
    udp = table["udp"]
    table["six"] &= ~udp
    option = np.where(table["flags"] == SYN, 20, 12)
    table["option"] = np.where(udp, 0, option)
    table["payload"] = np.where(udp, 40, table["payload"])
    retransmissions = int((table["repeat"] & ~udp).sum())
    return Made(_emit(draw, table), len(flow), retransmissions, flows)


def _conversations(draw: np.random.Generator, flows: int) -> dict[str, NDArray[Any]]:
    """Return the packets of all flows, flow by flow."""
    step = np.tile(np.arange(PER_FLOW), flows)
    flow = np.repeat(np.arange(flows), PER_FLOW)
    server = (step == 1) | ((step > 2) & (step % 2 == 0))
    bare = (step == 2) | (step == 7) | (step == 12)
    flags = np.select([step < 2, step >= PER_FLOW - 2, bare], [SYN, FIN_ACK, ACK], PUSH_ACK)
    payload = np.where(
        (step > 2) & (step < PER_FLOW - 2) & ~bare, draw.integers(200, 1390, len(step)), 0
    )
    used = payload + (flags == SYN) + (flags == FIN_ACK)
    start = np.cumsum(draw.exponential(20.0 / flows, flows))
    first = draw.integers(0, 1 << 32, (flows, 2))
    numbers = {}
    for side, mine in (("client", ~server), ("server", server)):
        total = np.cumsum(used * mine)
        before = total - used * mine
        base = before[::PER_FLOW][flow]
        numbers[side] = before - base + first[flow, int(side == "server")]
    return {
        "flow": flow, "step": step, "server": server,
        "flags": np.where(step == 1, SYN | ACK, flags), "payload": payload,
        "seq": np.where(server, numbers["server"], numbers["client"]) & 0xFFFFFFFF,
        "ack": np.where(
            step == 0, 0, np.where(server, numbers["client"], numbers["server"]),
        ) & 0xFFFFFFFF,
        "time": start[flow] + step * 0.02, "repeat": np.zeros(len(step), np.bool_),
    }  # fmt: skip


def _repeat(draw: np.random.Generator, table: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Send a two hundredth of the data packets, and a hundredth of the first packets, again a
    little later.
    """
    chance = draw.random(len(table["flow"]))
    again = np.flatnonzero(
        ((table["payload"] > 0) & (chance < 0.005)) | ((table["step"] == 0) & (chance < 0.01))
    )
    wait = np.where(
        table["step"][again] == 0, 0.01, 0.25
    )  # a SYN before its answer, data after all else is over
    copies = {name: values[again] for name, values in table.items()}
    copies["time"] = copies["time"] + wait
    copies["repeat"][:] = True
    return {name: np.concatenate((values, copies[name])) for name, values in table.items()}


def _emit(draw: np.random.Generator, table: dict[str, NDArray[Any]]) -> bytes:
    """Write the packets into the bytes of a pcap file."""
    network = np.where(table["six"], IP6, IP4)
    transport = np.where(table["udp"], UDP, TCP + table["option"])
    tunnel = np.where(table["vxlan"], ETHERNET + IP4 + UDP + 8, 0)
    length = tunnel + ETHERNET + network + transport + table["payload"]
    offset = FILE + np.cumsum(RECORD + length) - length
    out = draw.integers(0, 256, int(offset[-1] + length[-1]), np.uint8)
    out[:FILE] = np.frombuffer(
        bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000"), np.uint8
    )
    writer = _Writer(out)
    microseconds = np.round(table["time"] * 1e6).astype(np.int64)
    every = np.arange(len(offset))
    writer.put(every, offset - 16, "<u4", START + microseconds // 1_000_000)
    writer.put(every, offset - 12, "<u4", microseconds % 1_000_000)
    writer.put(every, offset - 8, "<u4", length)
    writer.put(every, offset - 4, "<u4", length)
    outer = np.flatnonzero(table["vxlan"])
    _emit_tunnel(writer, outer, offset, length)
    _emit_packets(writer, table, offset + tunnel, network, transport)
    return out.tobytes()


def _emit_tunnel(writer: _Writer, rows: Numbers, at: Numbers, length: Numbers) -> None:
    writer.put(rows, at, ">u4", 0x02000000)
    writer.put(rows, at + 4, ">u4", 1)
    writer.put(rows, at + 8, ">u4", 2)
    writer.put(rows, at + 12, ">u2", 0x0800)
    _emit_ip4(writer, rows, at + ETHERNET, length - ETHERNET, 17)
    writer.put(rows, at + 26, ">u4", 0xAC120002)
    writer.put(rows, at + 30, ">u4", 0xAC120003)
    writer.put(rows, at + 34, ">u2", 40000)
    writer.put(rows, at + 36, ">u2", 8472)
    writer.put(rows, at + 38, ">u2", length - ETHERNET - IP4)
    writer.put(rows, at + 40, ">u2", 0)
    writer.put(rows, at + 42, ">u4", 0x08000000)
    writer.put(rows, at + 46, ">u4", 1 << 8)


def _emit_ip4(
    writer: _Writer, rows: Numbers, at: Numbers, length: Numbers, protocol: NDArray[Any] | int
) -> None:
    writer.put(rows, at, ">u2", 0x4500)
    writer.put(rows, at + 2, ">u2", length)
    writer.put(rows, at + 6, ">u2", 0x4000)
    writer.put(rows, at + 8, "u1", 64)
    writer.put(rows, at + 9, "u1", protocol)
    writer.put(rows, at + 10, ">u2", 0)


def _emit_packets(
    writer: _Writer,
    table: dict[str, NDArray[Any]],
    at: Numbers,
    network: Numbers,
    transport: Numbers,
) -> None:
    """Write the packets that the connections send, from their Ethernet header on."""
    every = np.arange(len(at))
    back = table["server"]
    client, server = 0x0A000000 + table["flow"] % 60_000 + 1, 0x0A600000 + table["flow"] % 200 + 1
    source, target = np.where(back, server, client), np.where(back, client, server)
    writer.put(every, at, ">u4", 0x02000000)
    writer.put(every, at + 4, ">u4", 0x00010200)
    writer.put(every, at + 8, ">u4", 2)
    writer.put(every, at + 12, ">u2", np.where(table["six"], 0x86DD, 0x0800))
    body = at + ETHERNET
    protocol = np.where(table["udp"], 17, 6)
    four, six = np.flatnonzero(~table["six"]), np.flatnonzero(table["six"])
    _emit_ip4(writer, four, body, network + transport + table["payload"], protocol)
    writer.put(four, body + 12, ">u4", source)
    writer.put(four, body + 16, ">u4", target)
    writer.put(six, body, ">u4", 0x60000000)
    writer.put(six, body + 4, ">u2", transport + table["payload"])
    writer.put(six, body + 6, "u1", protocol)
    writer.put(six, body + 7, "u1", 64)
    for start, value in ((8, source), (24, target)):
        writer.put(six, body + start, ">u4", 0xFD000000)
        writer.put(six, body + start + 4, ">u4", 0)
        writer.put(six, body + start + 8, ">u4", 0)
        writer.put(six, body + start + 12, ">u4", value)
    _emit_transport(writer, table, body + network)


def _emit_transport(writer: _Writer, table: dict[str, NDArray[Any]], at: Numbers) -> None:
    back, every = table["server"], np.arange(len(at))
    near, far = (
        20_000 + table["flow"] // 60_000 * 5_000 + table["flow"] % 40_000,
        np.where(table["udp"], 53, 80),
    )
    writer.put(every, at, ">u2", np.where(back, far, near))
    writer.put(every, at + 2, ">u2", np.where(back, near, far))
    udp, tcp = np.flatnonzero(table["udp"]), np.flatnonzero(~table["udp"])
    writer.put(udp, at + 4, ">u2", UDP + table["payload"])
    writer.put(udp, at + 6, ">u2", 0)
    writer.put(tcp, at + 4, ">u4", table["seq"])
    writer.put(tcp, at + 8, ">u4", table["ack"])
    writer.put(tcp, at + 12, "u1", (TCP + table["option"]) // 4 << 4)
    writer.put(tcp, at + 13, "u1", table["flags"])
    writer.put(tcp, at + 14, ">u2", 64_000)
    writer.put(tcp, at + 16, ">u4", 0)
    stamps = at + 20
    first = np.flatnonzero(table["option"] == 20)
    writer.put(first, stamps, ">u4", 0x020405B4)
    writer.put(first, stamps + 4, ">u4", 0x0402080A)
    writer.put(first, stamps + 16, ">u4", 0x01030307)
    later = np.flatnonzero(table["option"] == 12)
    writer.put(later, stamps, ">u4", 0x0101080A)
    place = np.where(table["option"] == 20, stamps + 8, stamps + 4)
    writer.put(tcp, place, ">u4", (table["time"] * 1000).astype(np.int64) + 5_000_000)
    writer.put(
        tcp,
        place + 4,
        ">u4",
        np.where(table["step"] == 0, 0, (table["time"] * 1000).astype(np.int64) + 4_999_980),
    )


class _Writer:
    """Writes numbers at places of a buffer."""

    def __init__(self, out: NDArray[np.uint8]) -> None:
        self._out = out

    def put(self, rows: Numbers, at: Numbers, kind: str, values: NDArray[Any] | int) -> None:
        """Write a value for each of some rows, at each row's place."""
        width = np.dtype(kind).itemsize
        view: NDArray[Any] = np.ndarray(
            (len(self._out) - width + 1,), np.dtype(kind), self._out.data, 0, (1,)
        )
        view[at[rows]] = values if isinstance(values, int) else values[rows]
