"""Objects of Kubernetes and Docker for the case: every sight of one, since each output shows a part
of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.records import HeadingRecord
from podpath.node.objects import ApiObject


def list_objects(evidence: ReadSources) -> Iterator[ApiObject]:
    """Yield the objects that outputs of this host and of the cluster state, in the order of the
    evidence.
    """
    elided: dict[int, bool] = {}
    for scene, record in evidence.records(ApiObjectRecord):
        if scene.is_elsewhere:
            continue
        if scene.number not in elided:
            elided[scene.number] = _is_partial(scene)
        yield ApiObject(
            kind=record.kind,
            namespace=record.namespace,
            name=record.name,
            tree=record.tree,
            netns=scene.netns,
            partial=elided[scene.number],
        )


def _is_partial(scene: ReadSource) -> bool:
    """Tell whether lines were left out: a filter, an ellipsis."""
    return bool(scene.command.filters) or any(
        isinstance(record, HeadingRecord) and record.partial for record in scene.reading.records
    )
