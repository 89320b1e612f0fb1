"""ARP itself: the sender address of a request, and whether a host answers one (`net/ipv4/arp.c v6.12`)."""

from __future__ import annotations

from podpath.datapath import cilium, settings
from podpath.datapath.namespace import Namespace
from podpath.datapath.routing.fib import Flow
from podpath.datapath.routing.input import InputRoute, route_input
from podpath.datapath.routing.output import route_output
from podpath.datapath.routing.source_address import select_address
from podpath.datapath.segment import Station
from podpath.datapath.skb import Walk
from podpath.net.addresses import Address
from podpath.net.provenance import Known
from podpath.node.links import Link

REPLY = "net/ipv4/arp.c:arp_process v6.12"


def announced_source(namespace: Namespace, link: Link, target: Address, source: Address) -> Address | None:
    """Give the sender address of the ARP request that a packet from `source` causes (`arp_solicit`).

    arp_announce 0: the packet's source if it is the host's, whatever device has it; 1: only if the target's subnet holds it;
    2: the best address of the device.
    """
    if target.family == 6:
        return source if namespace.owns(source) else None
    level = settings.assumed_maximum(namespace, settings.ARP_ANNOUNCE, link.name)
    own = namespace.has_local(source)
    if own and level == 0:
        return source
    if own and level == 1 and _on_link(namespace, link, target, source):
        return source
    chosen = select_address(namespace, link, target, "link")
    return chosen.address if chosen is not None else None


def _on_link(namespace: Namespace, link: Link, target: Address, source: Address) -> bool:
    items = namespace.by_link.get(link.name, ())
    return any(item.prefix.covers(target) and item.prefix.covers(source) for item in items)


def answer(walk: Walk, station: Station, sender: Address | None, target: Address, *, proxy: bool = False) -> str:
    """Say why a station does not answer a request; empty where it does. `proxy` asks whether it answers for others."""
    link = station.link
    namespace = walk.engine.namespace(station.netns)
    if walk.engine.cilium is not None and cilium.is_endpoint(link):
        return ""
    if target.family == 6:
        return "" if namespace.owns(target) else f"{target} is not an address of {namespace.name}"
    if proxy and not _is_proxy(namespace, link):
        return "it answers only for itself"
    if sender is None:
        return "" if namespace.has_local(target) else "the request has no sender address"
    decided = route_input(walk, namespace, Flow(target, sender, link.name), link)
    if decided.cause:
        return _spell(decided)
    if decided.path == "local":
        return _why_ignored(walk, namespace, link, sender, target)
    out = decided.destination.link if decided.destination is not None else None
    return "" if proxy and out is not link else f"{target} is not an address of {namespace.name}"


def _is_proxy(namespace: Namespace, link: Link) -> bool:
    for device in (link.name, settings.ALL):
        fact = settings.device_fact(namespace, settings.PROXY_ARP, device)
        if isinstance(fact, Known) and fact.value == "1":
            return True
    return False


def _spell(decided: InputRoute) -> str:
    if decided.check.cause:
        return decided.check.template.format(*decided.check.arguments)
    return decided.template.format(*decided.arguments)


def _why_ignored(walk: Walk, namespace: Namespace, link: Link, sender: Address, target: Address) -> str:
    """Apply arp_ignore and arp_filter to a request for an own address."""
    level = settings.known_maximum(namespace, settings.ARP_IGNORE, link.name) or 0
    own = [item for item in namespace.by_link.get(link.name, ()) if item.address == target]
    if level >= 8:
        return f"arp_ignore is {level} on {link.name}"
    if level in {1, 2} and not own:
        return f"arp_ignore is {level}, and {target} is not on {link.name}"
    if level == 2 and not any(item.prefix.covers(sender) for item in own):
        return f"arp_ignore is 2, and {sender} is not in the subnet of {target}"
    if level == 3 and any(item.scope == "host" for item in own):
        return f"arp_ignore is 3, and {target} has scope host"
    if _filters(namespace, link):
        back = route_output(walk, namespace, Flow(sender, target), any_source=True).destination
        if back is None or back.link is not link:
            return f"arp_filter is 1, and the way back to {sender} does not lead over {link.name}"
    return ""


def _filters(namespace: Namespace, link: Link) -> bool:
    return (settings.known_maximum(namespace, settings.ARP_FILTER, link.name) or 0) > 0
