"""What is left to do while packets are decoded: a kind of header, and the packets in which it comes
next.
"""

from __future__ import annotations

from enum import Enum, auto

from podpath_capture.decoding.layers import Group


class Layer(Enum):
    """A kind of header; `decode` knows the reader of each."""

    ETHERNET = auto()
    TAG = auto()
    LLC = auto()
    COOKED = auto()
    COOKED2 = auto()
    NULL = auto()
    ARP = auto()
    IP = auto()
    IPV4 = auto()
    IPV6 = auto()
    TCP = auto()
    UDP = auto()
    SCTP = auto()
    ICMP = auto()
    ICMP6 = auto()
    IPIP = auto()
    IP6IP = auto()
    GRE = auto()
    VXLAN = auto()
    GENEVE = auto()
    MPLS = auto()
    PPPOE = auto()
    PPP = auto()
    GTP = auto()
    AYIYA = auto()
    VNTAG = auto()
    BACKBONE = auto()
    ERSPAN2 = auto()
    ERSPAN3 = auto()
    AH = auto()
    NFLOG = auto()


Work = tuple[Layer, Group]
