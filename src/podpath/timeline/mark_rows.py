"""Lines of the kernel, of udev, of network daemons that mean something: patterns, each with what it
tells of.

What a diagnosis knows as a message is known here by the same pattern; rows of its own say what only
a chronicle asks for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.messages.table import ROWS
from podpath.net.messages import MessageKind
from podpath.timeline.mark_kinds import MarkKind


class MarkRow(NamedTuple):
    """A kind of message."""

    pattern: re.Pattern[str]
    kind: MarkKind
    verb: str
    subjects: tuple[str, ...] = ("subject", "other", "third")
    """The pattern's groups that name what it is about."""
    sign: str = ""
    """Words that every such message holds: one without them need not meet the pattern."""


_NAMED = re.compile(r"\(\?P<\w+>")


def join_rows(rows: tuple[MarkRow, ...]) -> re.Pattern[str]:
    """Return one pattern that is found wherever one of the rows' is: most messages are none of
    theirs, which is seen at once.
    """
    parts = (
        re.escape(row.sign) if row.sign else _NAMED.sub("(?:", row.pattern.pattern) for row in rows
    )
    return re.compile("|".join(f"(?:{part})" for part in dict.fromkeys(parts)))


def _row(pattern: str, kind: str, verb: str) -> MarkRow:
    return MarkRow(re.compile(pattern), MarkKind(kind), verb)


def _said(kind: MessageKind, mark: str, verb: str, *subjects: str) -> tuple[MarkRow, ...]:
    """Return the rows of a kind of message, by the patterns that a diagnosis knows it by."""
    return tuple(
        MarkRow(row.pattern, MarkKind(mark), verb, subjects, row.sign)
        for row in ROWS
        if row.kind is kind
    )


def _join(rows: Sequence[tuple[MarkRow, ...]]) -> tuple[MarkRow, ...]:
    return tuple(row for some in rows for row in some)


SAID: tuple[MarkRow, ...] = _join(
    (
        _said(MessageKind.CONNTRACK_TABLE_FULL, "conntrack", "full"),
        _said(MessageKind.NEIGHBOUR_TABLE_FULL, "neighbour", "full", "table"),
        _said(MessageKind.DUPLICATE_ADDRESS, "address", "duplicate", "device"),
        _said(MessageKind.MARTIAN_SOURCE, "martian", "seen", "device"),
        _said(MessageKind.BRIDGE_NETFILTER_GONE, "module", "without br_netfilter"),
        _said(MessageKind.PROCESS_KILLED, "memory", "killed", "program"),
        _said(MessageKind.TRANSMIT_TIMEOUT, "link", "stuck", "device"),
        _said(MessageKind.DEVICE_RESET, "link", "stuck", "device"),
        _said(MessageKind.BOND_WITHOUT_LINK, "link", "down", "bond"),
        _said(MessageKind.OWN_ADDRESS_RECEIVED, "link", "own address received", "bridge"),
    )
)
"""Messages of the table that a diagnosis searches, with what they mean to a chronicle."""
KERNEL: tuple[MarkRow, ...] = (
    _row(r"bridge: (?:filtering via arp/ip/ip6tables is no longer available|automatic filtering "
         r"via arp/ip)",
         "module", "without br_netfilter"),
    _row(r"(?P<subject>Bridge firewalling) registered", "module", "loaded"),
    _row(
        r"(?P<subject>nf_conntrack) version|(?P<other>ip_tables|ip6_tables|ip_set|nf_tables): ",
        "module", "loaded",
    ),
    _row(r"Linux version \d", "boot", "started"),
    _row(r"(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process \d+ \("
         r"(?P<subject>[^)]{1,40})\)",
         "memory", "killed"),
    _row(r"(?P<subject>[\w.@-]+): renamed from", "link", "renamed"),
    _row(r"(?P<subject>bond\w*|team\w*): .*(?:link status (?:down|definitely down)|"
         r"making interface \S+ the new active|Removing slave|"
         r"Releasing (?:active|backup) interface)", "link", "switched"),
    _row(r"(?P<subject>[\w.@-]+): (?:NIC |carrier |\w+ )?[Ll]ink is (?:Down|down|not ready)|"
         r"(?P<other>[\w.@-]+): link down",
         "link", "down"),
    _row(r"(?P<subject>[\w.@-]+): (?:NIC |\w+ )?[Ll]ink (?:is [Uu]p|becomes ready)|"
         r"(?P<other>[\w.@-]+): link up",
         "link", "up"),
    _row(r"(?P<subject>[\w.@-]+): (?:left|entered) promiscuous mode|"
         r"port \d+\((?P<other>[\w.@-]+)\) entered (?:disabled|"
         r"blocking) state",
         "link", "changed"),
    _row(
        r"(?:device )?(?P<subject>[\w.@-]+)[: ].*(?:mtu (?:changed|greater)|changed MTU)", "link",
        "mtu changed",
    ),
)  # fmt: skip
ANYBODY: tuple[MarkRow, ...] = (
    _row(r"(?:Inserted|Loading|Loaded) (?:kernel )?module '?(?P<subject>\w+)|KERN_MODULE .*name=\"?"
         r"(?P<other>\w+)",
         "module", "loaded"),
    _row(
        r"(?:Removed|Unloading|Unloaded|Removing) (?:kernel )?module '?(?P<subject>\w+)", "module",
        "removed",
    ),
    _row(r"Time has been changed|[Ss]ystem clock (?:was|has been) (?:stepped|changed)|"
         r"System clock wrong by|clock jumped",
         "clock", "stepped"),
    _row(r"DHCPACK|bound to \d+\.\d+\.\d+\.\d+|dhcp[46] \((?P<subject>[\w.-]+)\):?.*(?:new lease|"
         r"address|lease lost|expire|changed state)|"
         r"DHCPv[46] (?:address|lease)", "address", "leased"),
    _row(r"(?P<subject>[\w.-]+): (?:Removing|Forgetting) (?:foreign |old )?(?P<what>address|route|"
         r"routing policy rule|neighbor|nexthop)",
         "network", "removed"),
    _row(r"(?P<subject>[\w.-]+): (?:Lost carrier|Link DOWN|state change: activated -> "
         r"(?:unavailable|unmanaged|deactivating|failed))",
         "link", "down"),
    _row(
        r"(?P<subject>[\w.-]+): (?:Gained carrier|Link UP|state change: \S+ -> activated)", "link",
        "up",
    ),
    _row(r"hw-addr|MAC(?: address)? .*changed|hardware address now", "link", "mac changed"),
    _row(r"IPv4 forwarding is disabled", "sysctl", "ip_forward off"),
    _row(
        r"running in system mode|Startup finished in|Booting Linux|has been rebooted", "boot",
        "started",
    ),
    _row(r"(?:Setting|Set|Updating|Applying|Changing) sysctl '?(?P<subject>[\w./-]+)|"
         r"^(?P<other>net\.[\w./-]+) ?= ?\S+$|Overwriting earlier assignment of "
         r"(?P<third>[\w./-]+)", "sysctl", "written"),
)  # fmt: skip
