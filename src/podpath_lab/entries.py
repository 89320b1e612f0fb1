"""Conntrack entries as the kernel lists them in /proc/net/nf_conntrack: one line each, read inside
a namespace.

net/netfilter/nf_conntrack_standalone.c:ct_seq_show v6.12 prints them; reading the file costs no
process, unlike conntrack(8).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.netfilter import ConnTuple
from podpath_lab.apply import inside

_FILE = Path("/proc/thread-self/net/nf_conntrack")
_LINE = re.compile(
    r"ipv[46]\s+\d+ \w+\s+(?P<protocol>\d+) \d+ (?:(?P<state>[A-Z_0-9]+) )?(?P<rest>.*)"
)
_TUPLE = re.compile(
    r"src=(?P<src>\S+) dst=(?P<dst>\S+) (?:sport=(?P<sport>\d+) dport=(?P<dport>\d+) |"
    r"type=\d+ code=\d+ id=(?P<id>\d+) )?"
)
_MARK = re.compile(r"\bmark=(\d+)")
_ZONE = re.compile(r"\bzone(?:-orig|-reply)?=(\d+)")


class ComparedEntry(NamedTuple):
    """What is compared of an entry."""

    netns: str
    original: ConnTuple
    reply: ConnTuple
    replied: bool
    assured: bool
    state: str
    mark: int
    zone: int

    def __str__(self) -> str:
        """Spell it in one line."""
        replied = "replied" if self.replied else "unreplied"
        flags = f"{self.state} {replied}{' assured' if self.assured else ''}"
        return (
            f"{self.netns}: {self.original}, answered {self.reply}: {flags} mark {self.mark:#x} "
            f"zone {self.zone}"
        )


def read_entries(netns: str) -> tuple[ComparedEntry, ...]:
    """Return the entries of a namespace."""
    with inside(netns):
        lines = _FILE.read_text().splitlines()
    return tuple(_parse(netns, found) for found in map(_LINE.match, lines) if found)


def _parse(netns: str, found: re.Match[str]) -> ComparedEntry:
    rest, protocol = found["rest"], int(found["protocol"])
    original, reply = (_tuple(each, protocol) for each in _TUPLE.finditer(rest))
    mark, zone = _MARK.search(rest), _ZONE.search(rest)
    return ComparedEntry(
        netns,
        original,
        reply,
        "[UNREPLIED]" not in rest,
        "[ASSURED]" in rest,
        found["state"] or "",
        int(mark[1]) if mark else 0,
        int(zone[1]) if zone else 0,
    )


def _tuple(found: re.Match[str], protocol: int) -> ConnTuple:
    ends = Address.parse(found["src"]), Address.parse(found["dst"])
    if protocol in (protocols.ICMP, protocols.ICMPV6):
        return ConnTuple(*ends, protocol, int(found["id"]), int(found["id"]))
    return ConnTuple(*ends, protocol, int(found["sport"] or 0), int(found["dport"] or 0))
