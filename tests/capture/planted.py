"""Captures of which it is known what was lost where: packets sent hop by hop past capture points,
and the real pcaps of it.

A world draws its points (host, clock, link type, tunnel, NAT, segmentation), carries TCP, DNS and
pings past them, drops packets at random, and writes down what each loss should be found as.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from podpath.net.addresses import Address
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames

SYN, ACK, PUSH, FIN, RST = 0x02, 0x10, 0x08, 0x01, 0x04
MSS = 1448
MICROSECOND, MILLISECOND, SECOND = 1_000, 1_000_000, 1_000_000_000
START = 1_700_000_000 * SECOND


class Ends(NamedTuple):
    """Who speaks to whom at one point, in the client's direction."""

    src: str
    sport: int
    dst: str
    dport: int


class Truth(NamedTuple):
    """A planted loss: what should be found."""

    file: str
    number: int
    """Of the packet at the last point that it passed."""
    missing_at: str
    """The file of the point that it did not reach."""
    size: int
    """Bytes of data that were lost, a FIN counting as one; 0 for a packet that carries none."""


@dataclass(frozen=True)
class Hop:
    """A capture point of the world, and how packets come to it from the one before."""

    name: str
    host: int
    offset: int
    """Nanoseconds that its clock is ahead."""
    delay: int
    """Nanoseconds from the point before."""
    routed: bool
    """Whether a router stands before it."""
    whole: bool
    """Whether segments are put together there (GSO, GRO), or travel as they do on the wire."""
    tunnel: str = ""
    destination: bool = False
    """Whether destinations are translated before it."""
    source: bool = False
    cooked: bool = False


@dataclass
class Packet:
    """A packet as it is sent. Its ends, TTL and link header are its points'."""

    protocol: int
    forward: bool
    flags: int = 0
    seq: int = 0
    ack: int = 0
    ident: int = 0
    stamp: int = 0
    """TCP's timestamp; 0 for none."""
    echo: int = 0
    size: int = 0
    body: bytes = b""

    @property
    def end(self) -> int:
        """One past the last sequence number that it takes."""
        return self.seq + self.size + (1 if self.flags & (SYN | FIN) else 0)


@dataclass
class Shot:
    """A packet as a point's capture has it."""

    time: int
    frame: bytes
    number: int = 0
    packet: Packet | None = None
    """What was sent."""


@dataclass
class World:
    """Points in the order of the client's packets, and what passes them."""

    seed: int
    hops: list[Hop] = field(default_factory=list)
    loss: float = 0.03
    reorder: bool = False
    six: bool = False
    """Whether all of it is IPv6, which has no identifications."""

    def __post_init__(self) -> None:
        """Draw the points."""
        self.draw = random.Random(self.seed)
        draw = self.draw
        if not self.hops:
            count = draw.randint(2, 6)
            hosts = sorted(draw.randint(0, 2) for _ in range(count))
            offsets = [0] + [
                draw.choice((0, draw.randint(-SECOND, SECOND), draw.randint(-(10**14), 10**14)))
                for _ in range(2)
            ]
            translated, masked = draw.randint(0, count), draw.randint(0, count)
            inside = sorted((draw.randint(0, count), draw.randint(0, count)))
            tunnel = draw.choice(("", "vxlan", "ipip"))
            for at in range(count):
                new_host = at > 0 and hosts[at] != hosts[at - 1]
                delay = (
                    draw.randint(50, 800) * MICROSECOND
                    if new_host
                    else draw.randint(1, 40) * MICROSECOND
                )
                self.hops.append(
                    Hop(
                        name=f"point{at}.pcap", host=hosts[at], offset=offsets[hosts[at]],
                        delay=delay, routed=new_host or draw.random() < 0.4,
                        whole=draw.random() < 0.4,
                        tunnel=tunnel if inside[0] <= at < inside[1] else "",
                        destination=at == translated, source=at == masked,
                        cooked=draw.random() < 0.2,
                    )
                )  # fmt: skip
        self.shots: list[list[Shot]] = [[] for _ in self.hops]
        self.lost: list[tuple[int, Shot, int, int]] = []
        """For each loss the last point, the packet there, the point that misses it, and how many
        bytes.
        """

    def clocks(self) -> dict[str, int]:
        """Return the offset of each host's clock."""
        return {f"host{hop.host}": hop.offset for hop in self.hops}

    def ends_at(self, at: int, ends: Ends) -> Ends:
        """Say what a connection's ends are at a point."""
        for hop in self.hops[: at + 1]:
            if hop.destination:
                ends = ends._replace(
                    dst=ends.dst.replace("10.96.", "10.244."), dport=ends.dport + 8000
                )
            if hop.source:
                ends = ends._replace(src="192.168.0.1", sport=(ends.sport * 7 + 11) % 30000 + 30000)
        return ends

    def send(
        self, burst: list[Packet], ends: Ends, time: int, *, cut_at: int | None = None
    ) -> list[Packet]:
        """Send packets one right behind the other, and give those that arrive; `cut_at` is a point
        that they do not come to.
        """
        way = list(range(len(self.hops)))
        if not burst[0].forward:
            way.reverse()
        units = [(packet, time + number * 2 * MICROSECOND) for number, packet in enumerate(burst)]
        units = self._shape(way[0], units)
        shots = self._see(way[0], ends, units)
        for before, at in pairwise(way):
            wire = self._cut(units) if not self.hops[at].whole else units
            left = []
            dropped: list[tuple[Shot, Packet]] = []
            for packet, when in wire:
                if at == cut_at or (cut_at is None and self.draw.random() < self.loss):
                    shot = next(
                        shot
                        for shot, (whole, _) in zip(shots, units, strict=True)
                        if _within(packet, whole)
                    )
                    dropped.append((shot, packet))
                else:
                    left.append((packet, when + self._delay(before, at)))
            self._note(way.index(before), way, dropped)
            if not left:
                return []
            if self.reorder and len(left) > 1 and self.draw.random() < 0.1:
                left[0], left[1] = (left[0][0], left[1][1] + 3000), left[1]
            units = self._shape(at, left)
            shots = self._see(at, ends, units)
        return [packet for packet, _ in units]

    def _delay(self, before: int, at: int) -> int:
        later = self.hops[max(before, at)]
        return later.delay + self.draw.randint(0, later.delay // 4)

    def _note(self, place: int, way: list[int], dropped: list[tuple[Shot, Packet]]) -> None:
        """Write losses down; bytes of one packet that follow each other are one loss."""
        runs: list[tuple[Shot, int, int]] = []
        for shot, packet in dropped:
            data = packet.size or packet.flags & FIN
            length = packet.end - packet.seq if packet.protocol == 6 and data else 0
            if runs and runs[-1][0] is shot and runs[-1][2] == packet.seq and length:
                runs[-1] = (shot, runs[-1][1] + length, packet.end)
            else:
                runs.append((shot, length, packet.end))
        self.lost += [(way[place], shot, way[place + 1], size) for shot, size, _ in runs]

    def _shape(self, at: int, units: list[tuple[Packet, int]]) -> list[tuple[Packet, int]]:
        """Put segments together that follow each other, or cut them, as the point has them."""
        if not self.hops[at].whole:
            return self._cut(units)
        merged: list[tuple[Packet, int]] = []
        for packet, when in units:
            if merged and _mergeable(merged[-1][0], packet):
                first, since = merged[-1]
                whole = Packet(
                    **{
                        **vars(first),
                        "size": first.size + packet.size,
                        "flags": first.flags | packet.flags,
                    }
                )
                merged[-1] = (whole, max(since, when))
            else:
                merged.append((packet, when))
        return merged

    def _cut(self, units: list[tuple[Packet, int]]) -> list[tuple[Packet, int]]:
        """Cut what is longer than a segment."""
        pieces = []
        for packet, when in units:
            if packet.protocol != 6 or packet.size <= MSS:
                pieces.append((packet, when))
                continue
            for number, start in enumerate(range(0, packet.size, MSS)):
                size = min(MSS, packet.size - start)
                flags = (
                    packet.flags if start + size == packet.size else packet.flags & ~(FIN | PUSH)
                )
                piece = {
                    "seq": packet.seq + start,
                    "size": size,
                    "flags": flags,
                    "ident": (packet.ident + number) & 0xFFFF,
                }
                pieces.append((Packet(**{**vars(packet), **piece}), when + number * 1000))
        return pieces

    def _see(self, at: int, ends: Ends, units: list[tuple[Packet, int]]) -> list[Shot]:
        shots = [
            Shot(when + self.hops[at].offset, self.frame(at, ends, packet), packet=packet)
            for packet, when in units
        ]
        self.shots[at] += shots
        return shots

    def frame(self, at: int, ends: Ends, packet: Packet) -> bytes:
        """Write a packet as a point shows it."""
        here = self.ends_at(at, ends)
        src, sport, dst, dport = (
            here if packet.forward else (here.dst, here.dport, here.src, here.sport)
        )
        if packet.protocol == 6:
            stamps = (
                struct.pack(">BBBBII", 1, 1, 8, 10, packet.stamp, packet.stamp // 3)
                if packet.stamp
                else b""
            )
            numbers = packet.seq & 0xFFFFFFFF, packet.ack & 0xFFFFFFFF
            body = frames.tcp(
                packet.flags,
                ports=(sport, dport),
                numbers=numbers,
                options=stamps,
                data=bytes(packet.size),
            )
        elif packet.protocol == 17:
            body = frames.udp((sport, dport), packet.body)
        else:
            kind = (128 if packet.forward else 129) if self.six else (8 if packet.forward else 0)
            body = struct.pack(">BBHHH", kind, 0, 0, here.sport, packet.echo) + packet.body
        routers = [
            hop.routed for hop in (self.hops[1 : at + 1] if packet.forward else self.hops[at + 1 :])
        ]
        return self._in_frame(
            self.hops[at],
            self._in_ip(packet, body, (src, dst), 64 - sum(routers)),
            forward=packet.forward,
        )

    def _in_ip(self, packet: Packet, body: bytes, ends: tuple[str, str], ttl: int) -> bytes:
        if self.six:
            written = frames.ipv6(
                58 if packet.protocol == 1 else packet.protocol,
                body,
                ends=(_as_six(ends[0]), _as_six(ends[1])),
            )
            return written[:7] + bytes([ttl]) + written[8:]
        ip = bytearray(frames.ipv4(packet.protocol, body, ends=ends))
        struct.pack_into(">HHB", ip, 4, packet.ident, 0x4000, ttl)
        return bytes(ip)

    def _in_frame(self, hop: Hop, inner: bytes, *, forward: bool) -> bytes:
        """Put an IP packet into what the point sees it in."""
        kind = 0x86DD if self.six else 0x0800
        if hop.tunnel:
            if hop.tunnel == "ipip":
                inner = frames.ipv4(41 if self.six else 4, inner, ends=("172.18.0.2", "172.18.0.3"))
            else:
                content = struct.pack(">II", 0x08000000, 7 << 8) + frames.ethernet(kind, inner)
                inner = frames.ipv4(
                    17, frames.udp((50000, 8472), content), ends=("172.18.0.2", "172.18.0.3")
                )
            kind = 0x0800
        if hop.cooked:
            return (
                struct.pack(">HHIHBB8s", kind, 0, 7, 1, 0 if forward else 4, 6, frames.MAC_A)
                + inner
            )
        return frames.ethernet(kind, inner)

    def files(self) -> list[CapturedFile]:
        """Write the captures, in an order that says nothing, and read them again."""
        order = list(range(len(self.hops)))
        self.draw.shuffle(order)
        given = []
        for at in order:
            hop, shots = self.hops[at], sorted(self.shots[at], key=lambda shot: shot.time)
            for number, shot in enumerate(shots, 1):
                shot.number = number
            data = write_pcap(shots, link_type=276 if hop.cooked else 1)
            given.append(
                CapturedFile(
                    name=hop.name,
                    capture=read_capture(data),
                    data=np.frombuffer(data, np.uint8),
                    host=f"host{hop.host}",
                )
            )
        return given

    def truth(self) -> list[Truth]:
        """Return the losses, after the files were written."""
        return sorted(
            Truth(self.hops[at].name, shot.number, self.hops[missing].name, size)
            for at, shot, missing, size in self.lost
        )


def _within(packet: Packet, whole: Packet) -> bool:
    """Tell whether a packet was cut from another, or is it."""
    if packet is whole:
        return True
    return (
        packet.protocol == 6
        and packet.size > 0
        and whole.seq <= packet.seq
        and packet.end <= whole.end
    )


def _mergeable(first: Packet, second: Packet) -> bool:
    alike = (
        first.protocol == 6 and first.size and second.size and first.seq + first.size == second.seq
    )
    return bool(
        alike and first.size % MSS == 0 and first.stamp == second.stamp and not first.flags & FIN
    )


def write_pcap(shots: list[Shot], *, link_type: int = 1) -> bytes:
    """Write a pcap file with nanoseconds."""
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link_type)
    records = (
        struct.pack(
            "<4I", shot.time // SECOND, shot.time % SECOND, len(shot.frame), len(shot.frame)
        )
        + shot.frame
        for shot in shots
    )
    return head + b"".join(records)


def _as_six(address: str) -> str:
    """Spell the IPv6 address that stands for an IPv4 one."""
    return "fd00::" + address.replace(".", ":")


def address(number: int) -> str:
    """Spell a pod's address."""
    return str(Address(4, 0x0AF40000 + number))
