"""The first bytes of a freed packet, from its network header, to its values.

They are what stood in line in the kernel's memory: cut off at 128 bytes, and of a packet in pages
there may be only headers. Lengths come from the headers, so that a cut packet keeps its size.
"""

from __future__ import annotations

import struct

from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet

IPV4, IPV6, ARP, VLAN, IEEE_AD = 0x0800, 0x86DD, 0x0806, 0x8100, 0x88A8
_PORTS = struct.Struct("!HH")
_TCP = struct.Struct("!HHIIBB")
_ICMP = struct.Struct("!BBxxH")
_EXTENSIONS = frozenset({0, 43, 60, 135})
"""IPv6 headers that say which comes next and how long they are (RFC 8200, 4)."""
_FRAGMENT = 44
_ECHOES = {
    protocols.ICMP: frozenset({0, 8}),
    protocols.ICMPV6: frozenset({128, 129}),
}


def parse_packet(ethertype: int, data: bytes) -> Packet | None:
    """Parse an IP packet; None where it is something else, or too short for its own header."""
    if ethertype == IPV4:
        return _parse_ipv4(data)
    return _parse_ipv6(data) if ethertype == IPV6 else None


def skip_tags(ethertype: int, data: bytes) -> tuple[int, bytes]:
    """Return the EtherType and bytes behind VLAN tags that still stand in the frame."""
    while ethertype in (VLAN, IEEE_AD) and len(data) >= 4:
        ethertype, data = int.from_bytes(data[2:4], "big"), data[4:]
    return ethertype, data


def parse_macs(header: bytes) -> tuple[Mac, Mac] | None:
    """Return the destination and source of an Ethernet header; None where it has only zeros, as
    what the host sends to itself.
    """
    if len(header) < 12 or not any(header[:12]):
        return None
    return Mac(header[:6].hex(":")), Mac(header[6:12].hex(":"))


def _parse_ipv4(data: bytes) -> Packet | None:
    if len(data) < 20 or data[0] >> 4 != 4:
        return None
    header = (data[0] & 15) * 4
    fragment = int.from_bytes(data[6:8], "big")
    packet = Packet(
        src=Address(4, int.from_bytes(data[12:16], "big")),
        dst=Address(4, int.from_bytes(data[16:20], "big")),
        protocol=data[9],
        ttl=data[8],
        tos=data[1],
        length=int.from_bytes(data[2:4], "big"),
        dont_fragment=bool(fragment & 0x4000),
        fragment=bool(fragment & 0x1FFF),
    )
    if packet.fragment:
        return packet
    return _parse_transport(packet, data[header:], header)


def _parse_ipv6(data: bytes) -> Packet | None:
    if len(data) < 40 or data[0] >> 4 != 6:
        return None
    following, header = data[6], 40
    later = False
    while following in _EXTENSIONS or following == _FRAGMENT:
        if len(data) < header + 8:
            break
        size = 8 if following == _FRAGMENT else (data[header + 1] + 1) * 8
        if following == _FRAGMENT:
            later = int.from_bytes(data[header + 2 : header + 4], "big") >> 3 != 0
        following, header = data[header], header + size
    packet = Packet(
        src=Address(6, int.from_bytes(data[8:24], "big")),
        dst=Address(6, int.from_bytes(data[24:40], "big")),
        protocol=following,
        ttl=data[7],
        tos=(data[0] & 15) << 4 | data[1] >> 4,
        length=40 + int.from_bytes(data[4:6], "big"),
        fragment=later,
    )
    if later:
        return packet
    return _parse_transport(packet, data[header:], header)


def _parse_transport(packet: Packet, body: bytes, header: int) -> Packet:
    """Parse what comes behind the IP header, as far as it is there."""
    rest = max(packet.length - header, 0)
    protocol = packet.protocol
    if protocol == protocols.TCP and len(body) >= _TCP.size:
        sport, dport, seq, ack, offset, flags = _TCP.unpack_from(body)
        payload = max(rest - (offset >> 4) * 4, 0)
        return packet._replace(
            sport=sport, dport=dport, seq=seq, ack=ack, flags=flags & 0x3F, payload=payload
        )
    if protocol in (protocols.UDP, protocols.SCTP) and len(body) >= _PORTS.size:
        sport, dport = _PORTS.unpack_from(body)
        return packet._replace(sport=sport, dport=dport, payload=max(rest - 8, 0))
    if protocol in _ECHOES and len(body) >= _ICMP.size:
        kind, code, identifier = _ICMP.unpack_from(body)
        echo = kind in _ECHOES[protocol]
        inside = IPV4 if protocol == protocols.ICMP else IPV6
        error = kind in protocols.ICMP_ERRORS[protocol]
        return packet._replace(
            icmp_type=kind,
            icmp_code=code,
            sport=identifier if echo else 0,
            dport=identifier if echo else 0,
            payload=max(rest - 8, 0),
            quoted=parse_packet(inside, body[8:]) if error else None,
        )
    return packet
