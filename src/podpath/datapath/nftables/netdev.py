"""Chains at the ingress and egress of a device: before IP sees a frame, and after it has sent one.

net/core/dev.c:nf_ingress v6.12 and nf_hook_egress beside it. What leaves by `fwd` is seen by
neither netfilter nor conntrack.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from podpath.datapath.netfilter.state import HookState
from podpath.datapath.nftables.chains import NftStage
from podpath.datapath.nftables.tables import CompiledNftTable
from podpath.datapath.tracing.paths import EMIT, Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, Hook, hook_named
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import nft
from podpath.net.addresses import IfName
from podpath.net.provenance import Option, Span
from podpath.node.links import Link
from podpath.node.nftables import NftChain
from podpath.node.node import Netns

FAMILIES = frozenset({"netdev", "inet"})
INGRESS, EGRESS = "INGRESS", "EGRESS"
_PROTOCOL = frozenset({nft.Meta("protocol"), nft.Payload("ether", "type")})
"""What asks for the protocol of a frame."""
_ARP = frozenset(map(nft.Literal, ("arp", "0x0806", "2054")))


class DeviceChain(NamedTuple):
    """One chain at a device."""

    order: tuple[int, int]
    """Its priority, and how late it was registered: of equal priority the later one runs first."""
    source: NftChain
    stage: NftStage


class DeviceChains:
    """The chains of one namespace that stand at devices, by hook and in their order."""

    __slots__ = ("by_hook",)

    def __init__(self, netns: Netns) -> None:
        """Compile no rule before a packet meets its chain."""
        self.by_hook: dict[Hook, list[DeviceChain]] = {}
        tables = [
            table
            for table in netns.nftables.items
            if table.family in FAMILIES and not table.dormant
        ]
        compiled = [CompiledNftTable(table, netns.name) for table in tables]
        chains = [chain for table in compiled for chain in table.chains.values()]
        for serial, chain in enumerate(chains):
            hook = hook_named(chain.source.hook)
            if hook is Hook.INGRESS or hook is Hook.EGRESS:
                entry = DeviceChain(
                    (chain.source.priority, -serial), chain.source, NftStage(chain, hook)
                )
                self.by_hook.setdefault(hook, []).append(entry)
        for entries in self.by_hook.values():
            entries.sort(key=lambda entry: entry.order)


def ingress(walk: Walk, skb: Skb, link: Link) -> Next:
    """Run the chains at a device's ingress; None where the frame goes on."""
    if not skb.netns.nftables.items:
        return None
    before, skb.iif = skb.iif, link
    ended = _run(walk, skb, link, Hook.INGRESS)
    skb.iif = before
    return ended


def egress(walk: Walk, skb: Skb, link: Link) -> Next:
    """Run the chains at a device's egress; None where the frame goes on."""
    if not skb.netns.nftables.items:
        return None
    before, skb.oif = skb.oif, link
    ended = _run(walk, skb, link, Hook.EGRESS)
    skb.oif = before
    return ended


def find_end_of_arp(walk: Walk, netns: Netns, link: Link) -> tuple[Span, ...] | None:
    """Return the lines of a chain at a device that may drop ARP, which these chains see as well;
    None where no chain there does.
    """
    if not netns.nftables.items:
        return None
    for entries in _chains_of(walk, netns).by_hook.values():
        for entry in entries:
            at_device = link.name in entry.source.devices or not entry.source.devices
            if at_device and (found := _find_drop_of_arp(entry.source)) is not None:
                return found
    return None


def _find_drop_of_arp(chain: NftChain) -> tuple[Span, ...] | None:
    """Return the rule that speaks of ARP and does not just accept it, or the policy that drops what
    no rule has accepted. A rule for every protocol meets the packet that ARP is for as well.
    """
    for rule in chain.rules:
        matches = [one for one in rule.statements if isinstance(one, nft.NftMatch)]
        if not any(map(_is_of_arp, matches)):
            continue
        ends = [one for one in rule.statements if isinstance(one, nft.NftVerdict | nft.Vmap)]
        accepts = all(isinstance(one, nft.NftVerdict) and one.kind == "accept" for one in ends)
        if ends and not accepts:
            return (rule.span,)
        if ends and len(matches) == 1:
            return None
    if chain.policy == "accept":
        return None
    return (chain.span,) if chain.span is not None else ()


def _is_of_arp(match: nft.NftMatch) -> bool:
    return match.op == "==" and match.left in _PROTOCOL and match.right in _ARP


def _chains_of(walk: Walk, netns: Netns) -> DeviceChains:
    chains: DeviceChains | None = walk.engine.device_chains.get(netns.name)
    if chains is None:
        chains = walk.engine.device_chains[netns.name] = DeviceChains(netns)
    return chains


def _run(walk: Walk, skb: Skb, link: Link, hook: Hook) -> Next:
    chains = _chains_of(walk, skb.netns)
    state = HookState(walk, skb, hook)
    for entry in _of_device(walk, skb, link, chains.by_hook.get(hook, ())):
        if skb.pieces:
            return boundary(walk, skb, BoundaryName.FRAGMENTS, entry.stage.label)
        verdict = entry.stage(state)
        if verdict is not None:
            return Dropped(
                netns=skb.netns.name, reason=getattr(verdict, "reason", "NETFILTER_DROP")
            )
        if state.forward_to:
            return _forward(walk, skb, state.forward_to)
    return None


def _of_device(
    walk: Walk, skb: Skb, link: Link, chains: Iterable[DeviceChain]
) -> Iterable[DeviceChain]:
    """Yield the chains of a device; JSON of nft 1.0 does not say which device a chain stands at."""
    for entry in chains:
        if link.name in entry.source.devices:
            yield entry
        elif not entry.source.devices:
            name = f"{entry.stage.label} stands at {link.name} in netns {skb.netns.name}"
            options = (Option(False, f"not at {link.name}"), Option(True, f"at {link.name}"))
            if walk.choices.choose(name, options, ask="nft list ruleset"):
                yield entry


def _forward(walk: Walk, skb: Skb, name: str) -> Next:
    """Send the frame out by another device (net/netfilter/nf_dup_netdev.c:nf_fwd_netdev_egress
    v6.12).
    """
    found = walk.engine.namespace(skb.netns.name).links.get(IfName(name))
    if found is None:
        return Dropped(netns=skb.netns.name, reason="NETFILTER_DROP")
    skb.link = found
    return EMIT
