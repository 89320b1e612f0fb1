"""Whether conntrack's settings and kube-proxy's rules agree: kube-proxy reads
nf_conntrack_tcp_be_liberal once, when it starts.

Where the key is 0, kube-proxy has a rule that drops packets that conntrack calls INVALID; where it
is not, it has none (kubernetes pkg/proxy/iptables/proxier.go, NewProxier;
pkg/proxy/nftables/proxier.go). Flipped afterwards, the two contradict each other until kube-proxy
restarts: either good packets are dropped, or bad ones reset connections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from podpath_protect.apply import Applier, ApplyError
from podpath_protect.order.listings import legacy_tables
from podpath_protect.sysctl.dropped import NAME
from podpath_protect.sysctl.keys import parse_key
from podpath_protect.sysctl.tree import SysctlTree

BE_LIBERAL = parse_key("net.netfilter.nf_conntrack_tcp_be_liberal")
_CHAIN = ("-w", "5", "-t", "filter", "-S", "KUBE-FORWARD")
_DROPS = re.compile(
    r"^-A KUBE-FORWARD .*--ctstate INVALID .*-j DROP|^\s*ct state invalid\b.*\bdrop\b", re.MULTILINE
)
_THERE = re.compile(r"^(?:-N KUBE-FORWARD|-A KUBE-FORWARD|table ip6? kube-proxy)", re.MULTILINE)


class ProxyListing(NamedTuple):
    """What one program says of kube-proxy's rules."""

    command: str
    text: str


class ProxyContradiction(NamedTuple):
    """The key says one thing, and kube-proxy's rules another."""

    kind: Literal["drops-though-liberal", "lets-pass-though-strict"]
    evidence: tuple[str, ...]


def list_rules(applier: Applier) -> tuple[ProxyListing, ...]:
    """Ask each program for kube-proxy's rules; those that are not installed, or know none, say
    nothing.
    """
    found = []
    for command in _listings():
        try:
            found.append(ProxyListing(" ".join(command), applier.run(command).detail))
        except ApplyError:
            continue
    return tuple(found)


def _listings() -> Iterator[tuple[str, ...]]:
    """Yield what tells of kube-proxy's rules, in whichever mode it runs; legacy iptables only where
    it has tables.
    """
    yield ("iptables-nft", *_CHAIN)
    yield ("ip6tables-nft", *_CHAIN)
    if "filter" in legacy_tables("ipv4"):
        yield ("iptables-legacy", *_CHAIN)
    if "filter" in legacy_tables("ipv6"):
        yield ("ip6tables-legacy", *_CHAIN)
    yield ("nft", "-t", "list", "table", "ip", "kube-proxy")
    yield ("nft", "-t", "list", "table", "ip6", "kube-proxy")


def find_contradictions(
    tree: SysctlTree, listings: Iterable[ProxyListing], dropped: int | None = None
) -> tuple[ProxyContradiction, ...]:
    """Hold the key against the rules; nothing without a kube-proxy, or conntrack. `dropped` is what
    the rule counted.
    """
    value = tree.read(BE_LIBERAL).value
    if value is None:
        return ()
    setting = f"{BE_LIBERAL.path(tree.root)} = {value}"
    found = []
    for listing in listings:
        if _THERE.search(listing.text) is None:
            continue
        drop = _DROPS.search(listing.text)
        if drop is not None and value != "0":
            line = drop[0].strip()
            counted = () if dropped is None else (f"nfacct {NAME}: {dropped} packets dropped",)
            found.append(
                ProxyContradiction(
                    "drops-though-liberal", (setting, f"{listing.command}: {line}", *counted)
                )
            )
        elif drop is None and value == "0":
            absent = f"{listing.command}: no rule drops what conntrack calls INVALID"
            found.append(ProxyContradiction("lets-pass-though-strict", (setting, absent)))
    return tuple(found)
