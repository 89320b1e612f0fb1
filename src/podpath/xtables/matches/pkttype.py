"""`-m pkttype`: whom the link layer addressed the frame to (net/netfilter/xt_pkttype.c v6.12)."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.xtables.extension import Condition, MatchExtension, OptionMeaning
from podpath.xtables.seen import PacketSeen
from podpath.xtables.wording import make_form

TYPES: Mapping[str, str] = {
    "unicast": "host", "host": "host", "broadcast": "broadcast", "bcast": "broadcast",
    "multicast": "multicast", "mcast": "multicast", "otherhost": "otherhost",
    "outgoing": "outgoing", "loopback": "loopback",
}  # fmt: skip
"""What iptables accepts, and the packet type that it stands for."""


def _read_type(name: str) -> Condition:
    if name not in TYPES:
        raise ValueError(f"expected a packet type, saw {name!r}")
    wanted = TYPES[name]

    def has_type(seen: PacketSeen) -> bool:
        return seen.pkt_type == wanted

    return has_type


MATCH = MatchExtension(
    name="pkttype",
    options={"pkt-type": OptionMeaning(_read_type, draws=("unicast", "broadcast", "multicast"))},
    forms=(make_form("pkttype", r"PKTTYPE (?P<no_pkt_type>!)?= (?P<pkt_type>\S+)"),),
)
