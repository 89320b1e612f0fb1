"""Messages of the kernel's log (`printk` in net/ and drivers/net/ v6.12), as dmesg, the journal or syslog show them."""

from __future__ import annotations

from podpath.evidence.messages.row import Row, make_row
from podpath.net.messages import MessageKind

_ADDRESS = r"[0-9a-fA-F:.x]+"
_DEVICE = r"[^\s:/]+"

ROWS: tuple[Row, ...] = (
    make_row(MessageKind.CONNTRACK_TABLE_FULL, "conntrack: table full"),
    make_row(
        MessageKind.NEIGHBOUR_TABLE_FULL, "able overflow", r"[Nn]eighbou?r(?::? \w+:)? (?:table|.*table) overflow|arp_cache"
    ),
    make_row(
        MessageKind.MARTIAN_SOURCE,
        "martian source ",
        rf"martian source (?P<dst>{_ADDRESS}) from (?P<src>{_ADDRESS}),? on dev (?P<device>{_DEVICE})",
    ),
    make_row(
        MessageKind.OWN_ADDRESS_RECEIVED,
        "own address as source address",
        rf"(?P<bridge>{_DEVICE}): received packet on (?P<device>{_DEVICE}) with\s+own address as source address"
        r"(?: \(addr:(?P<mac>[0-9a-f:]+))?",
    ),
    make_row(
        MessageKind.DUPLICATE_ADDRESS,
        "uplicate address ",
        rf"(?:(?P<device>{_DEVICE}): )?(?:IPv6 )?[Dd]uplicate address (?:detected:? )?(?P<address>{_ADDRESS})",
    ),
    make_row(
        MessageKind.NETFILTER_LOG,
        " SRC=",
        r"(?:^|\] |: )(?P<prefix>\[[^\]\d][^\]]*\]|[^\]]*?)\s?IN=(?P<iif>\S*) OUT=(?P<oif>\S*) "
        r".*?SRC=(?P<src>\S+) DST=(?P<dst>\S+) .*?PROTO=(?P<protocol>\w+)(?: SPT=(?P<sport>\d+) DPT=(?P<dport>\d+))?",
    ),
    make_row(MessageKind.TRANSMIT_TIMEOUT, "NETDEV WATCHDOG", rf"NETDEV WATCHDOG: (?P<device>{_DEVICE}) \((?P<driver>[^)]+)\)"),
    make_row(
        MessageKind.LINK_DOWN, "ink is ", rf"(?P<device>{_DEVICE}):? (?:NIC )?(?:carrier )?[Ll]ink is (?:[Dd]own|not ready)"
    ),
    make_row(MessageKind.BRIDGE_NETFILTER_GONE, "is no longer available by default", "bridge: filtering via"),
    make_row(MessageKind.SYN_FLOOD, "ossible SYN flooding on port", r"on port (?:\S*:)?(?P<port>\d+)"),
    make_row(
        MessageKind.DEVICE_HELD,
        "to become free. Usage count",
        rf"waiting for (?P<device>{_DEVICE}) to become free",
    ),
)
