"""A packet's headers as one immutable value.

Only what some stage of the datapath looks at is here. It is a named tuple so that `_replace` (a
NAT, a TTL step) stays cheap.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address, Family, Mac

USUAL_TTL = 64
"""The TTL, or hop limit, that Linux gives its packets unless a setting says otherwise."""

TCP_HEADERS: dict[int, int] = {4: 40, 6: 60}
"""Bytes of the IP and TCP headers without options, by family."""


class Packet(NamedTuple):
    """An IP packet, with the Ethernet header that carries it where it is on a link."""

    src: Address
    dst: Address
    protocol: int
    sport: int = 0
    """Source port; for ICMP echo the identifier; 0 where the protocol has none."""
    dport: int = 0
    """Destination port; for ICMP echo the identifier."""
    flags: int = 0
    """TCP flags, bits of `protocols.SYN` and friends."""
    icmp_type: int = 0
    icmp_code: int = 0
    ttl: int = USUAL_TTL
    tos: int = 0
    length: int = 60
    """Bytes of the whole IP packet, header included."""
    payload: int = 0
    """Bytes after the transport header."""
    dont_fragment: bool = True
    fragment: bool = False
    """True for a fragment other than the first: it has no ports."""
    bad_checksum: bool = False
    seq: int = 0
    """TCP sequence number relative to the sender's initial one (the SYN has 0)."""
    ack: int = 0
    """TCP acknowledgement number relative to the peer's initial sequence number."""
    smac: Mac | None = None
    """Ethernet source; None while the packet is not on a link."""
    dmac: Mac | None = None
    mss: int = 0
    """What a SYN offers as its maximum segment size, in bytes; 0 where nobody knows."""
    quoted: Packet | None = None
    """The packet inside an ICMP error."""
    query: int = 0
    """The identifier that a DNS query over UDP and its answer have in common; 0 where it is not
    known.
    """

    @property
    def family(self) -> Family:
        """The IP version."""
        return self.dst.family

    @property
    def has_ports(self) -> bool:
        """Tell whether its ports are ports; those of an ICMP echo are its identifier."""
        return self.protocol in (protocols.TCP, protocols.UDP, protocols.SCTP) and not self.fragment

    @property
    def may_offer_mss(self) -> bool:
        """Tell whether it is a TCP packet that begins a connection, and has options."""
        syn = self.protocol == protocols.TCP and self.flags & protocols.SYN
        return bool(syn) and self.length - self.payload > TCP_HEADERS[self.family]

    def __str__(self) -> str:
        """Spell it as a probe does: `tcp 10.0.0.1:1234 > 10.0.0.2:80 [SYN]`."""
        name = protocols.protocol_name(self.protocol)
        if self.has_ports:
            if self.protocol == protocols.TCP:
                flags = f" [{protocols.flag_names(self.flags)}]"
            else:
                flags = ""
            return (
                f"{name} {endpoint(self.src, self.sport)} > {endpoint(self.dst, self.dport)}{flags}"
            )
        if self.protocol in (protocols.ICMP, protocols.ICMPV6):
            kind = f" type {self.icmp_type} code {self.icmp_code}"
        else:
            kind = ""
        return f"{name} {self.src} > {self.dst}{kind}"


def endpoint(address: Address, port: int) -> str:
    """Spell an address with its port: `10.0.0.1:80`, `[fd00::1]:80`."""
    if address.family == 6:
        return f"[{address}]:{port}"
    return f"{address}:{port}"


def spell_ends(packet: Packet) -> str:
    """Spell the two ends of a packet without its protocol: `10.0.0.1:1024 > 10.0.0.2:80`, `10.0.0.1
    > 10.0.0.2`.
    """
    if not packet.has_ports:
        return f"{packet.src} > {packet.dst}"
    return f"{endpoint(packet.src, packet.sport)} > {endpoint(packet.dst, packet.dport)}"
