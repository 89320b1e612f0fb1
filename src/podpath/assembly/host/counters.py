"""The kernel's counters to their namespaces. Of two readings of one counter the later, larger one
counts.
"""

from __future__ import annotations

from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.kernel.nstat import CounterRecord
from podpath.net.provenance import Known


def assemble_counters(draft: NodeDraft, evidence: ReadSources) -> None:
    """Put what was counted into each namespace; what another host counted says nothing of this
    one.
    """
    for scene, record in evidence.records(CounterRecord):
        if not scene.is_elsewhere:
            counters = draft.netns(scene.netns).counters
            known = counters.get(record.name)
            if known is None or record.value >= known.value:
                counters[record.name] = Known(record.value, record.span)
