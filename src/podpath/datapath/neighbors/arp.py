"""ARP itself: the sender address of a request, and whether a host answers one (`net/ipv4/arp.c
v6.12`).
"""

from __future__ import annotations

from podpath.datapath.cilium import programs as cilium
from podpath.datapath.devices.segment import Station
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.neighbours import (
    ArpFiltered,
    ArpIgnored,
    ArpIgnoredAcrossSubnets,
    ArpIgnoredElsewhere,
    ArpIgnoredHostScope,
    NoArp,
    NotAddressOf,
    OnlyForItself,
    Refusal,
    RequestWithoutSender,
)
from podpath.datapath.routing.input import route_input
from podpath.datapath.routing.output import route_output
from podpath.datapath.routing.source_address import select_address
from podpath.datapath.walk import settings
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address
from podpath.net.provenance import Known
from podpath.node.links import Link

REPLY = "net/ipv4/arp.c:arp_process v6.12"


def announced_source(
    namespace: Namespace, link: Link, target: Address, source: Address
) -> Address | None:
    """Return the sender address of the ARP request that a packet from `source` causes
    (`arp_solicit`).

    arp_announce 0: the packet's source if it is the host's, whatever device has it; 1: only if the
    target's subnet holds it; 2: the best address of the device.
    """
    if target.family == 6:
        return source if _has_on(namespace, link, source) else _link_local(namespace, link)
    level = settings.assumed_maximum(namespace, settings.ARP_ANNOUNCE, link.name)
    own = namespace.has_local(source)
    if own and level == 0:
        return source
    if own and level == 1 and _on_link(namespace, link, target, source):
        return source
    chosen = select_address(namespace, link, target, "link")
    return chosen.address if chosen is not None else None


def _link_local(namespace: Namespace, link: Link) -> Address | None:
    """Return a device's link-local address; where none is listed, another one of IPv6."""
    own = [item.address for item in namespace.by_link.get(link.name, ())]
    six = [address for address in own if address.family == 6]
    return next((address for address in six if address.is_link_local), next(iter(six), None))


def _has_on(namespace: Namespace, link: Link, address: Address) -> bool:
    """Tell whether a device itself has an address: neighbor discovery knows no other
    (`net/ipv6/ndisc.c:ndisc_solicit v6.12`, `ndisc_recv_ns`).
    """
    return any(item.address == address for item in namespace.by_link.get(link.name, ()))


def _on_link(namespace: Namespace, link: Link, target: Address, source: Address) -> bool:
    items = namespace.by_link.get(link.name, ())
    return any(item.prefix.covers(target) and item.prefix.covers(source) for item in items)


def answer(
    walk: Walk, station: Station, sender: Address | None, target: Address, *, proxy: bool = False
) -> Refusal | None:
    """Say why a station does not answer a request; None where it does. `proxy` asks whether it
    answers for others.
    """
    link = station.link
    namespace = walk.engine.namespace(station.netns)
    if walk.engine.cilium is not None and cilium.is_endpoint(link):
        return None
    if link.noarp:
        return NoArp(link.name)
    if target.family == 6:
        proxied = proxy and _is_neighbour_proxy(namespace, link, target)
        return (
            None
            if proxied or _has_on(namespace, link, target)
            else NotAddressOf(target, namespace.name)
        )
    listed = any(proxied == (link.name, target) for proxied in namespace.netns.proxied)
    private = _is_private(namespace, link)
    if proxy and not (listed or private or _is_proxy(namespace, link)):
        return OnlyForItself()
    if sender is None:
        return None if namespace.has_local(target) else RequestWithoutSender()
    decided = route_input(walk.choices, namespace, FlowKey(target, sender, link.name), link)
    if decided.cause:
        return decided.check.reason if decided.check.cause else decided.reason
    if decided.path == "local":
        return _why_ignored(walk, namespace, link, sender, target)
    destination = decided.destination
    if proxy and destination is not None and destination.link is link:
        answers = private
    else:
        answers = proxy and (listed or _is_proxy(namespace, link))
    return None if answers else NotAddressOf(target, namespace.name)


def _is_private(namespace: Namespace, link: Link) -> bool:
    """Tell whether a device answers for what is on its own segment (`arp_fwd_pvlan`)."""
    fact = namespace.netns.sysctls.get(f"net.ipv4.conf.{link.name}.proxy_arp_pvlan")
    return isinstance(fact, Known) and fact.value == "1"


def _is_neighbour_proxy(namespace: Namespace, link: Link, target: Address) -> bool:
    """Tell whether a device answers neighbor solicitations for another's address
    (`net/ipv6/ndisc.c:ndisc_recv_ns v6.12`).
    """
    if all(proxied != (link.name, target) for proxied in namespace.netns.proxied):
        return False
    switches = (f"net.ipv6.conf.{name}.proxy_ndp" for name in (link.name, settings.ALL))
    facts = (namespace.netns.sysctls.get(key) for key in switches)
    return any(isinstance(fact, Known) and fact.value == "1" for fact in facts)


def _is_proxy(namespace: Namespace, link: Link) -> bool:
    for device in (link.name, settings.ALL):
        fact = settings.device_fact(namespace, settings.PROXY_ARP, device)
        if isinstance(fact, Known) and fact.value == "1":
            return True
    return False


def _why_ignored(
    walk: Walk, namespace: Namespace, link: Link, sender: Address, target: Address
) -> Refusal | None:
    """Apply arp_ignore and arp_filter to a request for an own address."""
    level = settings.known_maximum(namespace, settings.ARP_IGNORE, link.name) or 0
    own = [item for item in namespace.by_link.get(link.name, ()) if item.address == target]
    if level >= 8:
        return ArpIgnored(level, link.name)
    if level in {1, 2} and not own:
        return ArpIgnoredElsewhere(level, target, link.name)
    if level == 2 and not any(item.prefix.covers(sender) for item in own):
        return ArpIgnoredAcrossSubnets(sender, target)
    if level == 3 and any(item.scope == "host" for item in own):
        return ArpIgnoredHostScope(target)
    if _filters(namespace, link):
        back = route_output(
            walk.choices, namespace, FlowKey(sender, target), any_source=True
        ).destination
        if back is None or back.link is not link:
            return ArpFiltered(sender, link.name)
    return None


def _filters(namespace: Namespace, link: Link) -> bool:
    return (settings.known_maximum(namespace, settings.ARP_FILTER, link.name) or 0) > 0
