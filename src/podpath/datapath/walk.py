"""One packet through a node: the first packet of a probe, under the likeliest answers or under all."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.compiled import Engine
from podpath.datapath.trace import Trace
from podpath.net.probe import Probe
from podpath.node.node import Node


def walk(node: Node | Engine, probe: Probe, *, settled: Mapping[str, object] | None = None) -> Trace:
    """Walk the probe's first packet under the likeliest answers."""
    raise NotImplementedError(node, probe, settled)
