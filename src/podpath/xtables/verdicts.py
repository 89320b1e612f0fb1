"""What a target says of a packet in the end."""

from __future__ import annotations

from typing import NamedTuple

from podpath.net.packet import Packet


class Accept(NamedTuple):
    """The packet goes on."""

    reroute: str = ""
    """Why a packet in OUTPUT has to be routed again (`ip_route_me_harder`): a mangle rule changed
    its mark, address or TOS, or nat its destination. Empty where its route stands. The source
    address is not selected again.
    """


class Drop(NamedTuple):
    """The packet ends here, without a word."""

    reason: str = "NETFILTER_DROP"
    """The kernel's drop reason without SKB_DROP_REASON_."""


class Reject(NamedTuple):
    """The packet ends here, and the host sends an answer to its source."""

    answer: str
    """As `--reject-with` spells it: `icmp-port-unreachable`, `tcp-reset`; empty where the kernel
    sends none.
    """
    packet: Packet | None
    """The answer as it enters OUTPUT; its source address is the packet's destination for a reset,
    and chosen by routing for an ICMP error (all zeros here). None where the kernel sends none.
    """
    reason: str = "NETFILTER_DROP"


Verdict = Accept | Drop | Reject

ACCEPT = Accept()
"""The packet goes on, unchanged in its route."""
DROP = Drop()
