"""A packet's Ethernet header, and the few headers that every hop rewrites.

`NamedTuple._replace` builds a dictionary, and `_make` counts the fields; on the way of every packet
that is worth avoiding.
"""

from __future__ import annotations

from podpath.net.addresses import Address, Mac, UnseenMac
from podpath.net.packet import Packet

BROADCAST = Mac("ff:ff:ff:ff:ff:ff")

_SPORT = Packet._fields.index("sport")
_DPORT = Packet._fields.index("dport")
_TTL = Packet._fields.index("ttl")
_SMAC = Packet._fields.index("smac")
_DMAC = Packet._fields.index("dmac")
_new = tuple.__new__


def with_macs(packet: Packet, smac: Mac | None, dmac: Mac | None) -> Packet:
    """Return the packet with another Ethernet header."""
    return _new(Packet, (*packet[:_SMAC], smac, dmac, *packet[_DMAC + 1 :]))


def with_source(packet: Packet, src: Address, sport: int) -> Packet:
    """Return the packet with another source address and port."""
    return _new(Packet, (src, packet.dst, packet.protocol, sport, *packet[_SPORT + 1 :]))


def with_destination(packet: Packet, dst: Address, dport: int) -> Packet:
    """Return the packet with another destination address and port."""
    return _new(
        Packet, (packet.src, dst, packet.protocol, packet.sport, dport, *packet[_DPORT + 1 :])
    )


def with_ttl(packet: Packet, ttl: int) -> Packet:
    """Return the packet with another TTL."""
    return _new(Packet, (*packet[:_TTL], ttl, *packet[_TTL + 1 :]))


def is_symbolic(mac: Mac) -> bool:
    """Tell whether words stand for a MAC that the evidence does not show."""
    return isinstance(mac, UnseenMac)


def is_group(mac: Mac) -> bool:
    """Tell whether a MAC is a broadcast or multicast one."""
    return not is_symbolic(mac) and mac[1:2] in set("13579bdf")
