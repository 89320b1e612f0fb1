"""The packets that Linux itself sends for a short exchange, where they differ from the model's
usual ones.
"""

from __future__ import annotations

from podpath.datapath.conversations.acts import PAYLOAD, Act, script_of
from podpath.datapath.conversations.own_address import name_answering
from podpath.net import protocols
from podpath.node.node import HOST
from podpath_lab.cases.routing import PORTS

_SYN, _SYN_ACK, _ACK, _DATA, _ANSWER = script_of(protocols.TCP)
LAST_ACK = "data reply ACK"
KERNEL_SCRIPTS: dict[int, tuple[Act, ...]] = {
    protocols.TCP: (
        _SYN, _SYN_ACK, _ACK, _DATA, Act("data ACK", True, protocols.ACK, 1, 1 + PAYLOAD),
        _ANSWER, Act(LAST_ACK, False, protocols.ACK, 1 + PAYLOAD, 1 + PAYLOAD),
    ),
}  # fmt: skip
"""A new connection is in quick-ack mode, so each side's data is acknowledged by a packet of its own
(tcp_enter_quickack_mode, net/ipv4/tcp_input.c v6.12)."""

REGISTRATION: dict[str, object] = {
    f"which flavour of {program} table {table} was registered last in netns {HOST}": "nft"
    for program in ("iptables", "ip6tables")
    for table in ("raw", "mangle", "nat", "filter", "security")
}
"""The twin's script loads the legacy tables first: of one priority the nft ones run first
(nf_hook_entries_grow, v6.12).
"""
SETTLED: dict[str, object] = REGISTRATION | {name_answering(port): True for port in PORTS}
"""What is known of a case beyond its node: that, and that the lab's servers look where each
datagram was for (IP_PKTINFO).
"""
