"""Messages of the kernel's log (`printk` in net/ and drivers/net/ v6.12), as dmesg, the journal or
syslog show them.
"""

from __future__ import annotations

from podpath.evidence.messages.row import MessagePattern, make_row
from podpath.net.messages import MessageKind

_ADDRESS = r"[0-9a-fA-F:.x]+"
_DEVICE = r"[^\s:/]+"

ROWS: tuple[MessagePattern, ...] = (
    make_row(MessageKind.CONNTRACK_TABLE_FULL, "conntrack: table full"),
    make_row(
        MessageKind.NEIGHBOUR_TABLE_FULL,
        "able overflow",
        r"[Nn]eighbou?r(?::? (?P<table>\w+):)? (?:table|.*table) overflow|arp_cache",
    ),
    make_row(
        MessageKind.MARTIAN_SOURCE,
        "martian source ",
        (
            rf"martian source (?P<dst>{_ADDRESS}) from (?P<src>{_ADDRESS}),? on dev "
            rf"(?P<device>{_DEVICE})"
        ),
    ),
    make_row(
        MessageKind.OWN_ADDRESS_RECEIVED,
        "own address as source address",
        rf"(?P<bridge>{_DEVICE}): received packet on (?P<device>{_DEVICE}) with\s+own address as "
        r"source address(?: \(addr:(?P<mac>[0-9a-f:]+))?",
    ),
    make_row(
        MessageKind.DUPLICATE_ADDRESS,
        "uplicate address ",
        (
            rf"(?:(?P<device>{_DEVICE}): )?(?:IPv6 )?[Dd]uplicate address (?:detected:? )?"
            rf"(?P<address>{_ADDRESS})"
        ),
    ),
    make_row(
        MessageKind.NETFILTER_LOG,
        " SRC=",
        r"(?:^|\] |: )(?P<prefix>\[[^\]\d][^\]]*\]|[^\]]*?)\s?IN=(?P<iif>\S*) OUT=(?P<oif>\S*) "
        r".*?SRC=(?P<src>\S+) DST=(?P<dst>\S+) .*?PROTO=(?P<protocol>\w+)(?: SPT=(?P<sport>\d+) "
        r"DPT=(?P<dport>\d+))?",
    ),
    make_row(
        MessageKind.TRACED_TO_DROP,
        "(verdict drop)",
        (
            r"trace id [0-9a-f]+ (?:ip6?|inet|arp|bridge|netdev) (?P<table>\S+) (?P<chain>\S+) "
            r"rule (?P<rule>.*?)\s*\(verdict drop\)"
        ),
    ),
    make_row(
        MessageKind.TRACED_TO_DROP,
        " policy drop",
        (
            r"trace id [0-9a-f]+ (?:ip6?|inet|arp|bridge|netdev) (?P<table>\S+) (?P<chain>\S+) "
            r"(?P<rule>policy drop)\s*$"
        ),
    ),
    make_row(
        MessageKind.TRACED_TO_DROP,
        ":DROP",
        r"TRACE: \d+ [0-9a-f]+ (?P<table>[^\s:]+):(?P<chain>[^\s:]+):rule:0x[0-9a-f]+:DROP\s*"
        r"(?:-[46] -t \S+ (?P<rule>-A .*?))?\s*$",
    ),
    make_row(
        MessageKind.TRACED_TO_DROP,
        ":policy:DROP",
        r"TRACE: \d+ [0-9a-f]+ (?P<table>[^\s:]+):(?P<chain>[^\s:]+):(?P<rule>policy):DROP",
    ),
    make_row(
        MessageKind.TRANSMIT_TIMEOUT,
        "NETDEV WATCHDOG",
        rf"NETDEV WATCHDOG: (?P<device>{_DEVICE}) \((?P<driver>[^)]+)\)",
    ),
    make_row(
        MessageKind.LINK_DOWN,
        "ink is ",
        rf"(?P<device>{_DEVICE}):? (?:NIC )?(?:carrier )?[Ll]ink is (?:[Dd]own|not ready)",
    ),
    make_row(
        MessageKind.BRIDGE_NETFILTER_GONE,
        "is no longer available by default",
        "bridge: filtering via",
    ),
    make_row(
        MessageKind.SYN_FLOOD, "ossible SYN flooding on port", r"on port (?:\S*:)?(?P<port>\d+)"
    ),
    make_row(
        MessageKind.DEVICE_HELD,
        "to become free. Usage count",
        rf"waiting for (?P<device>{_DEVICE}) to become free",
    ),
    make_row(
        MessageKind.DEVICE_RESET,
        "Unit Hang",
        rf"(?:(?P<driver>\w+) \S+ )?(?P<device>{_DEVICE}): Detected (?:Hardware|Tx) Unit Hang",
    ),
    make_row(
        MessageKind.DEVICE_RESET,
        "TX timeout",
        (
            rf"(?:(?P<driver>\w+) \S+ )?(?P<device>{_DEVICE}): (?:\w+: )?TX timeout (?:detected|"
            r"on queue)"
        ),
    ),
    make_row(
        MessageKind.DEVICE_RESET,
        "transmit timed out",
        rf"(?:(?P<driver>\w+) \S+ )?(?P<device>{_DEVICE}): transmit timed out",
    ),
    make_row(MessageKind.DEVICE_RESET, "tx hang", rf"(?P<device>{_DEVICE}): tx hang"),
    make_row(
        MessageKind.DEVICE_RESET,
        "Keep alive watchdog timeout",
        r"(?P<driver>ena) \S+ (?P<device>\S*?):? ?Keep alive watchdog timeout",
    ),
    make_row(
        MessageKind.DEVICE_RESET,
        "ueue failure",
        rf"(?P<device>{_DEVICE}): Unexpected TXQ \(\d+\) queue failure",
    ),
    make_row(
        MessageKind.TRANSMIT_TIMEOUT,
        "ransmit queue",
        rf"(?P<device>{_DEVICE}) \((?P<driver>\w+)\): transmit queue \d+ timed out",
    ),
    make_row(
        MessageKind.CHECKSUM_FAILED, "hw csum failure", rf"(?P<device>{_DEVICE}): hw csum failure"
    ),
    make_row(
        MessageKind.CHECKSUM_FAILED,
        "UDP: bad checksum",
        r"UDP: bad checksum\. From (?P<src>[\d.]+):\d+ to (?P<dst>[\d.]+):\d+",
    ),
    make_row(
        MessageKind.BOND_WITHOUT_LINK,
        "without any active interface",
        rf"(?P<bond>{_DEVICE}): (?:now )?running without any active interface",
    ),
    make_row(
        MessageKind.BOND_WITHOUT_PARTNER,
        "No 802.3ad response from the link partner",
        (
            rf"(?P<bond>{_DEVICE}): (?:Warning|[Ww]arning)?:? ?No 802\.3ad response from the link "
            r"partner"
        ),
    ),
    make_row(
        MessageKind.DATAPATH_ACTION_REFUSED,
        "openvswitch: netlink: ",
        r"openvswitch: netlink: (?P<error>Flow actions may not be safe on all matching packets|"
        r"Unknown \w+ attribute|Flow action size exceeds max|Unknown nat action|Unknown conntrack "
        r"attr)",
    ),
    make_row(
        MessageKind.SCHEDULER_MISSING,
        "IPVS: Scheduler module",
        r"IPVS: Scheduler module (?P<module>\S+) not found",
    ),
    make_row(MessageKind.SOCKET_MEMORY_FULL, "TCP: out of memory", "TCP: out of memory"),
    make_row(
        MessageKind.SOCKET_MEMORY_FULL, "too many orphaned sockets", "too many orphaned sockets"
    ),
    make_row(
        MessageKind.PROCESS_KILLED,
        "Kill",
        r"(?:Memory cgroup out|Out) of memory: Kill(?:ed)? process \d+,? \((?P<program>[\w.:-]+)\)",
    ),
    make_row(MessageKind.PROCESS_KILLED, "oom-kill:", r"oom-kill:.*\btask=(?P<program>[\w.:-]+)"),
    make_row(
        MessageKind.ACCESS_DENIED,
        "avc:  denied",
        r"avc: +denied +\{ (?P<right>name_connect|name_bind|node_bind|connectto|create|"
        r"connect)[^}]*\}.*?comm=\"(?P<program>[^\"]+)\""
        r"(?:.*?\bdest=(?P<port>\d+))?.*?tclass=(?P<sort>tcp_socket|udp_socket|unix_stream_socket|"
        r"rawip_socket)(?! permissive=1)",
    ),
    make_row(
        MessageKind.PEER_SOURCE_NOT_ALLOWED,
        "has unallowed src IP",
        (
            rf"(?:(?P<device>{_DEVICE}): )?Packet has unallowed src IP \((?P<src>[^)]+)\) from "
            r"peer (?P<peer>\S+)"
        ),
    ),
    make_row(
        MessageKind.MTU_TOO_LARGE,
        "mtu ",
        (
            rf"(?:(?!Error:)(?P<device>{_DEVICE}): )?\bmtu (?:greater than device maximum|"
            r"less than device minimum)"
        ),
    ),
    make_row(
        MessageKind.MTU_TOO_LARGE,
        "Invalid MTU ",
        rf"(?P<device>{_DEVICE}): Invalid MTU (?P<size>\d+) requested",
    ),
)
