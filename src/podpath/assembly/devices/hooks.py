"""What stands on a packet's way beside rules and routes: queueing disciplines and the filters on
them, policies of IPsec.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.node_records import QdiscRecord, XfrmPolicyRecord
from podpath.node.links import Qdisc
from podpath.node.node import XfrmPolicy


def assemble_hooks(draft: NodeDraft, evidence: ReadSources) -> None:
    """Put the disciplines that outputs show on their devices, and policies into their namespaces;
    one of a single socket is no other packet's.
    """
    for scene, qdisc in evidence.records(QdiscRecord):
        links = draft.netns(scene.netns).links
        link = links.get(qdisc.link)
        if link is not None and not scene.is_elsewhere:
            shown = Qdisc(kind=qdisc.kind, span=qdisc.span)
            links[qdisc.link] = replace(link, qdiscs=(*link.qdiscs, shown))
    for scene, policy in evidence.records(XfrmPolicyRecord):
        if not (scene.is_elsewhere or policy.of_socket):
            draft.netns(scene.netns).policies.append(
                XfrmPolicy(
                    src=policy.src,
                    dst=policy.dst,
                    direction=policy.direction,
                    blocks=policy.action == "block",
                    span=policy.span,
                )
            )
