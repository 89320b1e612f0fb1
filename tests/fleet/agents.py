"""An API server of a cluster whose nodes have agents, each with a bundle of its node."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tests.kube.scripted import Answer, Asked, Scripted, refusal


def make_agent(node: str, generation: int = 1) -> dict[str, Any]:
    """Make an agent's pod."""
    about = {
        "name": f"agent-{node}-{generation}",
        "namespace": "podpath",
        "labels": {"app.kubernetes.io/name": "podpath-agent"},
    }
    ports = [{"name": "snapshot", "containerPort": 9810}]
    return {
        "metadata": about,
        "spec": {"nodeName": node, "containers": [{"name": "agent", "ports": ports}]},
        "status": {"phase": "Running"},
    }


_NONE = {"services", "endpoints", "endpointslices", "networkpolicies"}
"""What the cluster has none of."""


class ServedCluster:
    """What the server knows, to be changed while it serves."""

    def __init__(self, bundles: Mapping[str, bytes], nodes: tuple[str, ...] = ()) -> None:
        """Have an agent on each node that has a bundle; `nodes` have none."""
        self.bundles = dict(bundles)
        self.nodes = (*bundles, *nodes)
        self.agents = {node: make_agent(node) for node in bundles}
        self.taken: list[str] = []
        """The nodes that gave a snapshot, in order."""

    def serve(self) -> Scripted:
        """Return a server of it, which has yet to be entered."""
        return Scripted(self._answer)

    def _answer(self, asked: Asked) -> Answer:
        path = urlsplit(asked.path).path
        if path.endswith("/serviceaccounts/podpath-reader/token"):
            return Answer(201, [b'{"status":{"token":"t.t.t"}}'])
        if path.endswith("/pods"):
            return _list(list(self.agents.values()))
        if path.endswith("/nodes"):
            return _list([{"metadata": {"name": node}} for node in self.nodes])
        if path.rpartition("/")[2] in _NONE:
            return _list([])
        for node, agent in self.agents.items():
            if f"/pods/https:{agent['metadata']['name']}:9810/proxy/snapshot" in path:
                self.taken.append(node)
                return Answer(200, [self.bundles[node]])
        return refusal(404, "NotFound", "no such pod")


def _list(items: list[dict[str, Any]]) -> Answer:
    return Answer(200, [json.dumps({"items": items}).encode()])
