"""Frames that no honest socket sends: bad checksums, strange flags, foreign sources, a TTL that
ends, too many bytes.

They are sent by a packet socket from a namespace that stands for another machine or a pod, and
nobody listens for them.
"""

from __future__ import annotations

import errno
import socket
import struct
from random import Random

from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.node import HOST
from podpath_lab.apply import inside
from podpath_lab.topologies import Topology

DEVICE = "eth0"
FLAGS = (
    protocols.SYN, protocols.SYN, protocols.ACK, protocols.RST, protocols.SYN | protocols.ACK,
    protocols.FIN | protocols.ACK, protocols.PSH | protocols.ACK, 0, protocols.SYN | protocols.FIN,
    protocols.RST | protocols.ACK,
)  # fmt: skip
STRANGE_SOURCES = (
    "127.0.0.1",
    "0.0.0.0",  # noqa: S104
    "224.0.0.5",
    "255.255.255.255",
    "203.0.113.9",
    "10.96.0.10",
)
NOBODY = Mac("02:00:00:00:99:99")


def draw_frame(chance: Random, topology: Topology, probe: Probe) -> Packet:
    """Draw a frame from a probe's sender, with one or two things wrong with it, or none."""
    protocol = probe.protocol
    packet = Packet(
        probe.src,
        probe.dst,
        protocol,
        probe.sport,
        probe.dport + chance.choice((0, 0, 1)),
        ttl=chance.choice((64, 64, 2, 1, 3)),
        tos=chance.choice((0, 0, 0x10)),
        seq=1000,
        ack=1,
        smac=_sender_mac(topology, probe),
        dmac=_next_mac(chance, topology, probe),
    )
    if protocol == protocols.TCP:
        packet = packet._replace(flags=chance.choice(FLAGS), length=40)
    elif protocol == protocols.UDP:
        payload = chance.choice((10, 10, 1200, 1400))
        packet = packet._replace(length=28 + payload, payload=payload)
    else:
        packet = packet._replace(icmp_type=0, length=36, payload=8, sport=77, dport=77)
    if chance.random() < 0.25:
        packet = packet._replace(bad_checksum=True)
    if chance.random() < 0.3:
        others = [address for _, address in topology.speakers]
        packet = packet._replace(src=chance.choice((*map(Address.parse, STRANGE_SOURCES), *others)))
    return packet


def _sender_mac(topology: Topology, probe: Probe) -> Mac | None:
    return topology.draft.namespaces[probe.netns or HOST].link(DEVICE).mac


def _next_mac(chance: Random, topology: Topology, probe: Probe) -> Mac | None:
    """Return the MAC at the other end of the sender's cable, of the bridge behind it, or now and
    then of nobody.
    """
    peer = topology.draft.namespaces[probe.netns or HOST].link(DEVICE).peer.value  # type: ignore[union-attr]  # drafts know peers
    far = topology.draft.namespaces[peer.netns]
    link = far.link(peer.link)
    if not link.master and chance.random() < 0.1:
        return NOBODY  # not on a bridge: what is flooded to nobody is not walked port by port
    if link.master:
        return far.link(link.master).mac
    return link.mac


def send_frame(netns: str, packet: Packet) -> None:
    """Put a frame on the sender's device. That its other end does not take it is no error
    (`drivers/net/veth.c:veth_xmit v6.12`, NET_XMIT_DROP).
    """
    with inside(netns):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    with raw:
        raw.bind((DEVICE, 0))
        try:
            raw.send(encode_frame(packet))
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise


def encode_frame(packet: Packet) -> bytes:
    """Encode an Ethernet frame with an IP packet in it."""
    macs = b"".join(
        bytes.fromhex((mac or NOBODY).replace(":", "")) for mac in (packet.dmac, packet.smac)
    )
    return macs + (b"\x86\xdd" if packet.family == 6 else b"\x08\x00") + _encode_ip(packet)


def _encode_ip(packet: Packet) -> bytes:
    body = _encode_transport(packet)
    if packet.family == 6:
        first = 6 << 28 | packet.tos << 20
        fields = struct.pack("!IHBB", first, len(body), packet.protocol, packet.ttl)
        return fields + _encode_ends(packet) + body
    flags = 0x4000 if packet.dont_fragment else 0
    header = struct.pack(
        "!BBHHHBBH", 0x45, packet.tos, 20 + len(body), 1, flags, packet.ttl, packet.protocol, 0
    ) + _encode_ends(packet)
    summed = b"".join((header[:10], _checksum(header).to_bytes(2, "big"), header[12:]))
    return summed + body


def _encode_transport(packet: Packet) -> bytes:
    data = bytes(packet.payload) if packet.quoted is None else _encode_ip(packet.quoted)
    if packet.protocol == protocols.TCP:
        ports = (packet.sport, packet.dport, packet.seq, packet.ack)
        body, place = struct.pack("!HHIIBBHHH", *ports, 0x50, packet.flags, 8192, 0, 0) + data, 16
    elif packet.protocol == protocols.UDP:
        body, place = struct.pack("!HHHH", packet.sport, packet.dport, 8 + len(data), 0) + data, 6
    else:
        body, place = (
            struct.pack("!BBHHH", packet.icmp_type, packet.icmp_code, 0, packet.sport, 1) + data,
            2,
        )
    if packet.protocol == protocols.ICMP:
        pseudo = b""
    else:
        pseudo = _encode_ends(packet) + struct.pack("!IHBB", len(body), 0, 0, packet.protocol)
    checksum = _checksum(pseudo + body) ^ (0x5555 if packet.bad_checksum else 0)
    return b"".join((body[:place], checksum.to_bytes(2, "big"), body[place + 2 :]))


def _encode_ends(packet: Packet) -> bytes:
    width = 4 if packet.family == 4 else 16
    return b"".join(each.value.to_bytes(width, "big") for each in (packet.src, packet.dst))


def _checksum(data: bytes) -> int:
    padded = data + bytes(len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
