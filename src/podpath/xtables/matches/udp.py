"""`-m udp` and `-m udplite`: ports (net/netfilter/xt_tcpudp.c:udp_mt v6.12)."""

from __future__ import annotations

from podpath.xtables.extension import MatchExtension
from podpath.xtables.matches.ports import port_options
from podpath.xtables.wording import port_form

UDP = MatchExtension(name="udp", options=port_options(native=True), forms=(port_form("udp"),))
UDPLITE = MatchExtension(
    name="udplite",
    options=port_options(native=True),
    forms=(port_form("udplite"),),
    not_drawn="this iptables cannot spell it",
)
