"""A packet's Ethernet header, and the few headers that every hop rewrites.

`NamedTuple._replace` builds a dictionary; on the way of every packet that is worth avoiding.
"""

from __future__ import annotations

from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet

BROADCAST = Mac("ff:ff:ff:ff:ff:ff")

_TTL = Packet._fields.index("ttl")
_SMAC = Packet._fields.index("smac")
_DMAC = Packet._fields.index("dmac")


def with_macs(packet: Packet, smac: Mac | None, dmac: Mac | None) -> Packet:
    """Give the packet another Ethernet header."""
    return Packet._make((*packet[:_SMAC], smac, dmac, *packet[_DMAC + 1 :]))


def with_source(packet: Packet, src: Address, sport: int) -> Packet:
    """Give the packet another source address and port."""
    _, dst, protocol, _, *rest = packet
    return Packet._make((src, dst, protocol, sport, *rest))


def with_destination(packet: Packet, dst: Address, dport: int) -> Packet:
    """Give the packet another destination address and port."""
    src, _, protocol, sport, _, *rest = packet
    return Packet._make((src, dst, protocol, sport, dport, *rest))


def with_ttl(packet: Packet, ttl: int) -> Packet:
    """Give the packet another TTL."""
    return Packet._make((*packet[:_TTL], ttl, *packet[_TTL + 1 :]))


def is_symbolic(mac: Mac) -> bool:
    """Tell whether words stand for a MAC that the evidence does not show."""
    return mac.startswith("(")


def is_group(mac: Mac) -> bool:
    """Tell whether a MAC is a broadcast or multicast one."""
    return not is_symbolic(mac) and mac[1:2] in set("13579bdf")
