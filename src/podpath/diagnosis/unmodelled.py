"""What the evidence shows on the node's way that no walk goes through: chains of bridges and ARP,
offloaded flows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from podpath.datapath.vocabulary import BoundaryName
from podpath.datapath.walk.not_modelled import BOUNDARIES
from podpath.net.provenance import Known, Span
from podpath.node.nftables import NftTable
from podpath.node.node import Cilium, Netns, Node

_BOUNDARY_OF = {"bridge": BoundaryName.EBTABLES, "arp": BoundaryName.ARPTABLES}
"""Families of nftables whose chains are not walked, by the boundary that says so."""


FILTERING = frozenset({"clsact", "ingress"})
"""Queueing disciplines that queue nothing: filters hang on them."""
LOSING = frozenset({"blackhole", "netem", "plug", "tbf"})
"""Queueing disciplines that may lose packets by what they are told."""
MARKS_OF_REPLIES = (
    "net.ipv4.fwmark_reflect", "net.ipv4.tcp_fwmark_accept", "net.ipv6.fwmark_reflect",
)  # fmt: skip
"""Settings that give replies the mark of what they answer."""


class Unmodelled(NamedTuple):
    """One thing on the node that is not modeled."""

    what: str
    ask: str
    spans: tuple[Span, ...]


def find_unmodelled(node: Node, passed: Collection[str]) -> Iterator[Unmodelled]:
    """Yield what the evidence shows in the namespaces that were passed, and walks leave out."""
    for name in sorted(set(passed) & set(node.namespaces)):
        for table in list_unwalked(node.namespaces[name]):
            about = f"table {table.family} {table.name}"
            yield _name(_BOUNDARY_OF[table.family], _spans(table.span), about)
        for table in node.namespaces[name].nftables.items:
            if any(item.startswith("flowtable ") for item in table.objects):
                yield _name(BoundaryName.FLOWTABLE, _spans(table.span))
        yield from _find_on_devices(node, node.namespaces[name])
    if node.cilium is not None and passed:
        yield from _find_policies_of_bpf(node.cilium)


def _find_policies_of_bpf(cilium: Cilium) -> Iterator[Unmodelled]:
    """Yield that Cilium's programs may drop what a policy does not allow, unless it never enforces
    any.
    """
    option = cilium.options.get("enable-policy")
    stated = option if isinstance(option, Known) else None
    if stated is None or stated.value != "never":
        spans = _spans(stated.span if stated is not None else cilium.span)
        yield _name(BoundaryName.BPF_POLICY, spans)


def list_unwalked(netns: Netns) -> Iterator[NftTable]:
    """Yield the tables of a namespace that may end a frame and that no walk goes through."""
    for table in netns.nftables.items:
        if table.family in _BOUNDARY_OF and _decides(table):
            yield table


def _find_on_devices(node: Node, netns: Netns) -> Iterator[Unmodelled]:
    """Yield programs, filters and policies that may drop what passes a namespace."""
    for link in netns.links.items:
        if link.xdp:
            yield _name(BoundaryName.XDP, _spans(link.span), f"{link.name} in {netns.name}")
        for qdisc in link.qdiscs:
            filters = qdisc.kind in FILTERING and node.cilium is None
            if filters or qdisc.kind in LOSING:
                about = f"qdisc {qdisc.kind} of {link.name} in {netns.name}"
                yield _name(BoundaryName.TC, _spans(qdisc.span), about)
        if link.port is not None and not link.port.mcast_flood:
            about = f"mcast_flood off, {link.name} in {netns.name}"
            yield _name(BoundaryName.MULTICAST_SNOOPING, _spans(link.span), about)
    if netns.policies:
        yield _name(BoundaryName.XFRM, _spans(*(policy.span for policy in netns.policies)))
    for key in MARKS_OF_REPLIES:
        fact = netns.sysctls.get(key)
        if isinstance(fact, Known) and fact.value not in {"0", ""}:
            yield _name(BoundaryName.REPLY_MARK, _spans(fact.span), f"{key} = {fact.value}")


def _name(name: BoundaryName, spans: tuple[Span, ...], about: str = "") -> Unmodelled:
    boundary = BOUNDARIES[name]
    return Unmodelled(f"{boundary.why} ({about})" if about else boundary.why, boundary.ask, spans)


def _spans(*spans: Span | None) -> tuple[Span, ...]:
    return tuple(span for span in spans if span is not None)


def _decides(table: NftTable) -> bool:
    """Tell whether a base chain of the table may end a frame: it has a rule, or drops what none
    takes.
    """
    return not table.dormant and any(
        chain.is_base and (chain.rules or chain.policy == "drop") for chain in table.chains.values()
    )
