"""Cilium's BPF programs, replaced by nftables chains of the netdev family at the same places
(nft(8), families).

Two of them decide over a packet's way. What the host sends to `cilium_host` is handed to the pod's
device. With masquerade in BPF, at egress of the outward device the source becomes the device's
address, after netfilter saw the pod's; at its ingress the answer gets the pod's address back and is
handed to the pod's device, so that netfilter and conntrack never see it.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Known
from podpath.node.links import Link
from podpath.node.node import HOST, NetnsRole, Node
from podpath_lab.script import ScriptCommand

OPTION = "enable-bpf-masquerade"
ROUTER = "cilium_host"


def emulate_programs(
    node: Node, probe: Probe, outward: tuple[str, ...]
) -> tuple[ScriptCommand, ...]:
    """Write the chains that do to the probe's connection what Cilium's programs do; none on a node
    without Cilium.
    """
    if node.cilium is None:
        return ()
    chains = [*_deliveries(node)]
    option = node.cilium.options.get(OPTION)
    if isinstance(option, Known) and option.value == "true":
        held = [each for each in node.host.addresses.items if each.address.family == 4]
        addresses = {str(each.link): each.address for each in reversed(held)}
        for name in outward:
            if name in addresses:
                chains += _masquerade(node, probe, name, str(addresses[name]))
    if not chains:
        return ()
    table = "table netdev programs {\n" + "".join(chains) + "}\n"
    return (ScriptCommand(("nft", "-f", "-"), table, HOST),)


def _deliveries(node: Node) -> Iterator[str]:
    if not any(link.name == ROUTER for link in node.host.links.items):
        return
    rules = [
        (
            f"ip daddr {address} ether daddr set {inside.mac} ether saddr set {outside.mac} fwd to "
            f"{outside.name}"
        )
        for address, inside, outside in _pods(node)
    ]
    if rules:
        yield _chain(f"to_{ROUTER}", "egress", ROUTER, "\n    ".join(rules))


def _masquerade(node: Node, probe: Probe, device: str, address: str) -> Iterator[str]:
    pod = next(
        ((inside, outside) for owned, inside, outside in _pods(node) if owned == probe.src), None
    )
    if pod is None:
        return
    protocol = protocols.protocol_name(probe.protocol)
    leaving = f"ip saddr {probe.src} ip saddr set {address}"
    yield _chain(f"to_{device}", "egress", device, leaving)
    inside, outside = pod
    returning = (
        f"ip saddr {probe.dst} ip daddr {address} {protocol} dport {probe.sport} ip daddr set "
        f"{probe.src} ether daddr set {inside.mac} ether saddr set {outside.mac} fwd to "
        f"{outside.name}"
    )
    yield _chain(f"from_{device}", "ingress", device, returning)


def _pods(node: Node) -> Iterator[tuple[Address, Link, Link]]:
    """Yield each pod address with its own device and the host's end of it."""
    outer = {link.name: link for link in node.host.links.items}
    for netns in node.namespaces.values():
        inner = {link.name: link for link in netns.links.items}
        for held in netns.addresses.items:
            link = inner.get(held.link)
            peer = link.peer.value if link is not None and isinstance(link.peer, Known) else None
            if peer is not None and peer.netns == HOST and netns.role != NetnsRole.HOST:
                far = outer.get(peer.link)
            else:
                far = None
            if link is not None and far is not None and held.address.family == 4:
                yield held.address, link, far


def _chain(name: str, hook: str, device: str, rule: str) -> str:
    head = f'type filter hook {hook} device "{device}" priority 0; policy accept;'
    return f"  chain {name.replace('.', '_').replace('-', '_')} {{\n    {head}\n    {rule}\n  }}\n"
