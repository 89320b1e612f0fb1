"""Cilium's BPF masquerade, replaced by nftables chains of the netdev family at the same places (nft(8), families).

At egress of the outward device the source becomes the device's address, after netfilter saw the pod's; at its ingress the
answer gets the pod's address back and is handed to the pod's device, so that netfilter and conntrack never see it.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.lab.script import Command
from podpath.net import protocols
from podpath.net.probe import Probe
from podpath.net.provenance import Known
from podpath.node.links import Link
from podpath.node.node import HOST, Node

OPTION = "enable-bpf-masquerade"


def emulate_masquerade(node: Node, probe: Probe, outward: tuple[str, ...]) -> tuple[Command, ...]:
    """Write the chains that do what Cilium's masquerade does to the probe's connection; none where it is not switched on."""
    option = node.cilium.options.get(OPTION) if node.cilium else None
    if not isinstance(option, Known) or option.value != "true":
        return ()
    addresses = {
        str(address.link): address.address for address in reversed(node.host.addresses.items) if address.address.family == 4
    }
    chains = [chain for name in outward if name in addresses for chain in _chains(node, probe, name, str(addresses[name]))]
    return (Command(("nft", "-f", "-"), "table netdev programs {\n" + "".join(chains) + "}\n", HOST),) if chains else ()


def _chains(node: Node, probe: Probe, device: str, address: str) -> Iterator[str]:
    pod = _pod_device(node, probe)
    if pod is None:
        return
    protocol = protocols.protocol_name(probe.protocol)
    leaving = f"ip saddr {probe.src} ip saddr set {address}"
    yield _chain(f"to_{device}", "egress", device, leaving)
    inside, outside = pod
    returning = (
        f"ip saddr {probe.dst} ip daddr {address} {protocol} dport {probe.sport} ip daddr set {probe.src} "
        f"ether daddr set {inside.mac} ether saddr set {outside.mac} fwd to {outside.name}"
    )
    yield _chain(f"from_{device}", "ingress", device, returning)


def _pod_device(node: Node, probe: Probe) -> tuple[Link, Link] | None:
    """Give the probe's own device in its pod, and the host's end of it."""
    for netns in node.namespaces.values():
        if netns.role == HOST or not any(address.address == probe.src for address in netns.addresses.items):
            continue
        for link in netns.links.items:
            if isinstance(link.peer, Known) and link.peer.value.netns == HOST:
                return link, next(other for other in node.host.links.items if other.name == link.peer.value.link)
    return None


def _chain(name: str, hook: str, device: str, rule: str) -> str:
    head = f'type filter hook {hook} device "{device}" priority 0; policy accept;'
    return f"  chain {name.replace('.', '_').replace('-', '_')} {{\n    {head}\n    {rule}\n  }}\n"
