"""This node as evidence, without a bundle in between: what `podpath snapshot` would write is read
at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from podpath.collect.namespaces import FoundNamespaces, find_namespaces
from podpath.collect.snapshot import Collected, collect_files
from podpath.evidence.bundle import assemble_bundle
from podpath.evidence.gathered import Evidence, make_gap

NAME = "live"
"""What stands before the names of its outputs: `live/netns/host/sysctl.txt`."""


def read_live(
    progress: Callable[[float], None] = lambda _: None,
    *,
    logs: bool = False,
    wanted: Collection[str] = (),
    node: str | None = None,
) -> Evidence:
    """Collect this node, its pods' namespaces, and those that are named; what could not be had is a
    gap. `CollectError` without root. `node` is the node's own namespace, where that is not the one
    of process 1.
    """
    found = find_namespaces(node=node, wanted=wanted)
    return gather_collected(collect_live(found, progress, logs=logs))


def collect_live(
    found: FoundNamespaces,
    progress: Callable[[float], None] = lambda _: None,
    *,
    logs: bool = False,
) -> Collected:
    """Collect the namespaces that were found, as they are now."""
    return collect_files(found, now=time.time(), progress=progress, logs=logs)


def gather_collected(collected: Collected) -> Evidence:
    """Return what was collected as evidence."""
    evidence = assemble_bundle(
        (name, f"{NAME}/{name}", data) for name, data in collected.files.items()
    )
    return Evidence(
        evidence.sources,
        (*evidence.gaps, *(make_gap(NAME, sentence) for sentence in collected.missing)),
    )
