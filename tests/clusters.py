"""Two nodes of a real cluster as tests have them: snapshots that were taken of it, and the files of
snapshots that were taken while something was wrong.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

from podpath.library.case import Case
from podpath.library.reading import ReadEvidence, gather, read
from tests.folders import unpack_archive

RECORDED = Path(__file__).resolve().parent / "data" / "cluster" / "vxlan"
"""`scripts/cluster up --overlay vxlan` with web-node1 and api-node1 on node1, far, web-node2 and
api-node2 on node2.
"""
NODES = ("node1", "node2")
OBJECTS = RECORDED / "objects.yaml"
"""`kubectl get -A -o yaml pods,services,endpoints,endpointslices,nodes,networkpolicies`."""


def unpack(folder: Path, fault: str = "") -> dict[str, str]:
    """Unpack the nodes' snapshots, with the files that a fault changed; return where each is."""
    for node in NODES:
        unpack_archive(RECORDED / f"{node}.tar.gz", folder / node)
    if fault:
        shutil.copytree(RECORDED / "faults" / fault, folder, dirs_exist_ok=True)
    return {node: str(folder / node) for node in NODES}


@cache
def healthy() -> dict[str, Case]:
    """Read the healthy cluster, once."""
    return {
        node: read(str(RECORDED / f"{node}.tar.gz"), shared=objects_of_cluster()) for node in NODES
    }


@cache
def objects_of_cluster() -> ReadEvidence:
    """Read what the API said, once."""
    return gather(str(OBJECTS))
