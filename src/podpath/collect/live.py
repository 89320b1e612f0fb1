"""This node as evidence, without a bundle in between: what `podpath snapshot` would write is read
at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from podpath.collect.snapshot import collect_files, find_namespaces
from podpath.evidence.bundle import assemble_bundle
from podpath.evidence.gathered import Evidence, make_gap

NAME = "live"
"""What stands before the names of its outputs: `live/netns/host/sysctl.txt`."""


def read_live(progress: Callable[[str], None] = lambda _: None, *, logs: bool = False) -> Evidence:
    """Collect this node and its pods' namespaces; what could not be had is a gap. `CollectError`
    without root.
    """
    collected = collect_files(find_namespaces(), now=time.time(), progress=progress, logs=logs)
    evidence = assemble_bundle(
        (name, f"{NAME}/{name}", data) for name, data in collected.files.items()
    )
    return Evidence(
        evidence.sources,
        (*evidence.gaps, *(make_gap(NAME, sentence) for sentence in collected.missing)),
    )
