"""Captures that come without any other output to a case: what they show, and what of the node
follows from that.

It is what `assembly.case` gives of them, without what nobody asks captures alone: attempts, and the
other ways that a node may be. It stands by itself since most of the assembly, which takes longer to
load than many a capture to read, has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from podpath.assembly.captures.sightings import assemble_sightings
from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference_order import infer_topology
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.records import Reading
from podpath.net.provenance import Source
from podpath.node.case import Case


def assemble_captured(read: Iterable[tuple[Source, Reading]]) -> Case:
    """Put captures together, in the order of the evidence. Never raises for what their reader
    gives.
    """
    evidence = ReadSources.gather(read)
    draft, disputes = NodeDraft(), Disputes({})
    sightings = assemble_sightings(draft, evidence, disputes)
    infer_topology(draft, evidence, sightings, disputes)
    return Case(
        node=draft.freeze(),
        sightings=sightings.packets,
        arps=sightings.arps,
        gaps=(*evidence.gaps, *disputes.gaps),
    )
