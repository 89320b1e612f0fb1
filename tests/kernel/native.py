"""Nodes with native nftables for kernel tests: a drafted topology whose host holds the tables of a
text.
"""

from __future__ import annotations

from collections.abc import Callable

from podpath.node.node import HOST
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import Topology, routed_pods
from tests.kernel.kernel_twin import Agreed, agree
from tests.nftables import native_tables

OUT = "tcp 10.1.0.2:40000 > 198.51.100.1:80 from pod1"
IN = "tcp 172.31.0.1:40000 > 172.31.0.10:80 from world"
LOCAL = "tcp 172.31.0.10:40000 > 198.51.100.1:80 from host"


def hold(
    text: str,
    probe: str = OUT,
    *,
    shape: Callable[[], Topology] = routed_pods,
    prepare: Callable[[DraftNetns], None] | None = None,
) -> Agreed:
    """Send a probe through a host with these tables, on the model and on the kernel."""
    topology = shape()
    host = topology.draft.namespaces[HOST]
    if prepare is not None:
        prepare(host)
    host.nftables.extend(native_tables(text))
    return agree(topology.draft.freeze(), probe)
