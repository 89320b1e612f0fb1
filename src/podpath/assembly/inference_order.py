"""The inferences in the order in which they build on one another: what routes and captures show
before what is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.assembly.attempts.tries import local_pods, tried_pod
from podpath.assembly.captures.sightings import Sightings
from podpath.assembly.devices.names import looks_like_bridge
from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.bridge_pods import AddressMention, infer_bridge_pods
from podpath.assembly.inference.captures import infer_from_captures
from podpath.assembly.inference.devices import LOOPBACK, infer_devices
from podpath.assembly.inference.host_addresses import infer_from_macs, infer_from_routes
from podpath.assembly.inference.lone_pods import infer_lone_pods
from podpath.assembly.inference.pod_namespaces import POD_LINK
from podpath.assembly.inference.routed_pods import infer_routed_pods
from podpath.assembly.inference.unseen_peers import infer_unseen_peers
from podpath.assembly.inference.uplink import infer_uplink
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.records import AttemptRecord
from podpath.net.addresses import WIDTH, Address
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.links import InterfaceAddress, Link
from podpath.node.node import HOST, Pod


def infer_topology(
    draft: NodeDraft, evidence: ReadSources, sightings: Sightings, disputes: Disputes
) -> None:
    """Add to the node what no output lists, but its routes, captures, services and failures show or
    need.
    """
    infer_devices(draft, sightings)
    infer_from_routes(draft)
    _infer_described_pods(draft)
    infer_from_captures(draft, evidence, sightings)
    infer_routed_pods(draft)
    pods = dict(local_pods(draft, evidence)) or dict(tried_pod(draft, evidence))
    asked = {address: AddressMention(None, "the question is about") for address in evidence.asked}
    infer_bridge_pods(
        draft, sightings, asked | dict(_spoken_of(draft)) | dict(_unjoined(draft)) | pods
    )
    infer_from_macs(draft, sightings)
    # a pod's gateway and a host's connection both need an address of the host: the uplink comes
    # before lone pods
    if sightings.packets or next(evidence.records(AttemptRecord), None) is not None:
        infer_uplink(draft, sightings)
    infer_lone_pods(draft, pods.items(), disputes)
    infer_unseen_peers(draft)
    infer_devices(draft, sightings)
    draft.pods = [replace(pod, netns=_netns_of(draft, pod)) for pod in draft.pods]


def _infer_described_pods(draft: NodeDraft) -> None:
    """Give the namespace of a described pod, of which no output shows the address, the one that
    Kubernetes says it has.
    """
    for pod in draft.pods:
        name = _netns_of(draft, pod)
        netns = draft.namespaces.get(name) if name is not None else None
        if (
            pod.address is None
            or netns is None
            or netns.name == HOST
            or draft.owner(pod.address) is not None
        ):
            continue
        if not any(own.scope == "global" for own in netns.addresses):
            why = f"{pod.span or 'the evidence'}: pod {pod.namespace}/{pod.name} has {pod.address}"
            reason = Inferred(Basis.SHOWN, why, pod.span)
            devices = [link for link in netns.links if link != LOOPBACK] or [POD_LINK]
            netns.add_link(Link(name=devices[0], kind="veth", inferred=reason))
            netns.addresses.append(
                InterfaceAddress(
                    link=devices[0],
                    address=pod.address,
                    length=_length_of(draft, pod.address),
                    span=pod.span,
                    inferred=reason,
                )
            )


def _length_of(draft: NodeDraft, address: Address) -> int:
    """Return the prefix length of a pod's address: of the bridge in whose range it is, since its
    pods share a subnet.
    """
    host = draft.host
    bridged = [
        own
        for own in host.addresses
        if own.link in host.links and looks_like_bridge(host.links[own.link])
    ]
    return max(
        (own.length for own in bridged if own.prefix.covers(address)), default=WIDTH[address.family]
    )


def _netns_of(draft: NodeDraft, pod: Pod) -> str | None:
    """Return the namespace that is a pod's: the one stated, of its name, or with its address; the
    host's for some.
    """
    if pod.netns is not None:
        return pod.netns
    for name in (f"pod/{pod.namespace}/{pod.name}", f"pod/?/{pod.name}", pod.name):
        if name in draft.namespaces:
            return name
    owner = draft.owner(pod.address) if pod.address is not None else None
    return None if owner is None else owner.name


def _unjoined(draft: NodeDraft) -> Iterator[tuple[Address, AddressMention]]:
    """Yield the addresses of namespaces that outputs were taken in and that no output joins with
    the host.
    """
    for netns in draft.namespaces.values():
        if netns.name == HOST or any(link.peer is not None for link in netns.links.values()):
            continue
        for own in netns.addresses:
            if own.scope == "global" and own.span is not None:
                yield (
                    own.address,
                    AddressMention(own.span, f"{netns.name} shows its own address,", certain=True),
                )


def _spoken_of(draft: NodeDraft) -> Iterator[tuple[Address, AddressMention]]:
    """Yield the addresses of conntrack entries, endpoints and described pods."""
    tracked: dict[Address, Span | None] = {}
    for entry in draft.host.conntrack.items if draft.host.conntrack is not None else ():
        for end in (entry.original.src, entry.original.dst, entry.reply.src, entry.reply.dst):
            if end not in tracked:
                tracked[end] = entry.span
    for end, span in tracked.items():
        yield end, AddressMention(span, "a tracked connection")
    for service in draft.services:
        for port in service.ports:
            for address, _ in port.endpoints:
                yield (
                    address,
                    AddressMention(
                        service.span, f"an endpoint of {service.namespace}/{service.name}"
                    ),
                )
    for pod in draft.pods:
        if pod.address is not None:
            yield (
                pod.address,
                AddressMention(pod.span, f"pod {pod.namespace}/{pod.name}", shown=True),
            )
