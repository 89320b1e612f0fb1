"""What a bundle's manifest and `uname` state: the node, its kernel, what each namespace is, its
pods, and the veth pairs.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSources, name_netns
from podpath.evidence.kernel.uname import KernelRecord
from podpath.evidence.node_records import BundleRecord, VethPairRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Known, Span
from podpath.node.links import Peer
from podpath.node.node import HOST, NetnsRole, Pod

_ROLES = frozenset(NetnsRole)


def assemble_manifest(draft: NodeDraft, evidence: ReadSources) -> None:
    """Put what manifests state into the node; a veth pair that an output settles comes before
    it.
    """
    for scene, told in evidence.records(KernelRecord):
        if not scene.is_elsewhere:
            draft.kernel = draft.kernel or told.release
    for scene, record in evidence.records(BundleRecord):
        if scene.is_elsewhere:
            continue
        draft.name = record.node or draft.name
        draft.kernel = record.kernel or draft.kernel
        for name, role in record.roles.items():
            if role in _ROLES and name_netns(name) != HOST and name in draft.namespaces:
                draft.namespaces[name].role = NetnsRole(role)
        for netns, named in record.pods.items():
            _place_pod(draft, netns, named, record.span)
        for pair in record.veths:
            _join(draft, pair, record.span)


def _place_pod(draft: NodeDraft, netns: str, named: str, span: Span) -> None:
    namespace, _, name = named.rpartition("/")
    pod = Pod(
        namespace=namespace or "default",
        name=name,
        node=draft.name,
        netns=name_netns(netns),
        span=span,
    )
    for place, known in enumerate(draft.pods):
        if (known.namespace, known.name) == (pod.namespace, pod.name):
            draft.pods[place] = replace(known, netns=known.netns or pod.netns)
            return
    draft.pods.append(pod)


def _join(draft: NodeDraft, pair: VethPairRecord, span: Span) -> None:
    ends = ((name_netns(pair.netns), pair.link), (name_netns(pair.peer_netns), pair.peer_link))
    for (netns, link), (other, peer) in (ends, ends[::-1]):
        draft_netns = draft.namespaces.get(netns)
        found = draft_netns.links.get(IfName(link)) if draft_netns is not None else None
        if (
            draft_netns is not None
            and found is not None
            and not isinstance(found.peer, Known)
            and other in draft.namespaces
        ):
            draft_netns.links[found.name] = replace(
                found,
                kind=found.kind or "veth",
                peer=Known(Peer(netns=other, link=IfName(peer)), span),
            )
