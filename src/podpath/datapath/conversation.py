"""A whole connection through a node: handshake, data and its replies, with conntrack carried from packet to packet."""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.compiled import Engine
from podpath.datapath.trace import Conversation
from podpath.net.probe import Probe
from podpath.node.node import Node


def converse(
    node: Node | Engine, probe: Probe, *, limit: int = 64, deviations: int = 2, settled: Mapping[str, object] | None = None
) -> Conversation:
    """Walk every packet of the probe's connection, under every combination of answers to what is not known.

    A caller with many probes makes one `Engine` of the node and hands it in. `limit`, `deviations` and `settled` are those of
    `exploration.explore`.
    """
    raise NotImplementedError(node, probe, limit, deviations, settled)
