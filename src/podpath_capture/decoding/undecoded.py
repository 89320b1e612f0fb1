"""What a capture holds in which no IP packet was found, in words: its link types, and the protocols
that its frames name.

Numbers of link types are those of the LINKTYPE_ registry (tcpdump.org), EtherTypes those of IANA.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from podpath_capture.columns import Packets
from podpath_capture.decoding.link_layer import ARP
from podpath_capture.files.index import Interface

LINK_TYPES = {
    0: "null", 1: "Ethernet", 6: "token ring", 7: "ARCNET", 8: "SLIP", 9: "PPP", 10: "FDDI",
    50: "PPP in HDLC framing", 51: "PPPoE", 100: "ATM (RFC 1483)", 101: "raw IP", 104: "Cisco HDLC",
    105: "802.11", 107: "frame relay", 108: "loopback", 113: "Linux cooked", 117: "pflog",
    119: "802.11 with Prism header", 122: "IP over Fibre Channel", 123: "SunATM",
    127: "802.11 with radiotap header", 129: "ARCNET", 137: "Juniper MLPPP",
    138: "IP over FireWire",
    140: "MTP2", 141: "MTP3", 142: "SCCP", 143: "DOCSIS", 144: "IrDA",
    163: "802.11 with AVS header",
    165: "BACnet", 177: "LAPD", 187: "Bluetooth HCI", 189: "USB", 192: "PPI", 195: "802.15.4",
    197: "ERF", 201: "Bluetooth HCI", 203: "LAPD", 204: "PPP with direction", 220: "USB",
    224: "Fibre Channel", 226: "IPNET", 227: "CAN", 228: "raw IPv4", 229: "raw IPv6",
    230: "802.15.4", 239: "NFLOG", 249: "USB", 251: "Bluetooth LE", 253: "netlink",
    276: "Linux cooked",
}  # fmt: skip
ETHERTYPES = {
    0x22F3: "TRILL", 0x8035: "RARP", 0x809B: "AppleTalk", 0x8137: "IPX", 0x8809: "LACP",
    0x8847: "MPLS", 0x8848: "MPLS", 0x8863: "PPPoE discovery", 0x8864: "PPPoE", 0x886D: "EAPOL",
    0x888E: "EAPOL", 0x88A2: "AoE", 0x88CC: "LLDP", 0x88E5: "MACsec", 0x88F7: "PTP", 0x894F: "NSH",
    0x9000: "loopback test",
}  # fmt: skip
NAMED = 3
"""Protocols that are named, the most frequent first."""


def describe_undecoded(packets: Packets, interfaces: Sequence[Interface]) -> str:
    """Say what a capture holds instead of IP and ARP; empty where it has some of these, or no
    packet at all.
    """
    columns = packets.columns
    if not len(columns) or columns.version.any() or len(packets.arps.row):
        return ""
    links = sorted({name_link(each.link_type) for each in interfaces})
    kinds = Counter(columns.ethertype[columns.ethertype != 0].tolist())
    named = [_name_kind(kind) for kind, _ in kinds.most_common(NAMED)]
    if not kinds and np.any(columns.smac):
        named = ["LLC"]
    carrying = f" with {', '.join(dict.fromkeys(named))}" if named else ""
    return f"none of {len(columns)} packets was decoded as IP: {', '.join(links)}{carrying}"


def name_link(number: int) -> str:
    """Name a link type; by its number where it has no name here."""
    return LINK_TYPES.get(number, f"link type {number}")


def _name_kind(kind: int) -> str:
    if kind <= 1500:
        return "LLC"
    name = "damaged ARP" if kind == ARP else ETHERTYPES.get(kind)
    return name or f"EtherType {kind:#06x}"
