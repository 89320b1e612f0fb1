"""The nodes of a live cluster, each of which gives its bundle when its turn comes: a snapshot from
its agent, through the API server.

What is asked for is `podpath why --live`'s: the agents of `deploy/snapshot`, in their usual
namespace, by the tokens of their usual reader.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from podpath.kube import access
from podpath.kube.client import Client
from podpath.kube.snapshots import NAMESPACE
from podpath.sources.agents import ServingAgent, find_agents, read_snapshot
from podpath.sources.kinds import NODES
from podpath.sources.objects import SourceError, read_kind, read_pods

LOOK_AGAIN = 10.0
"""Seconds after which agents are found anew for a node whose own does not serve: not for each node
where none of a thousand does.
"""


class _LiveCluster(NamedTuple):
    client: Client
    agents: Mapping[str, ServingAgent]
    """By their nodes, as they were when this process asked."""
    asked_at: float


def list_nodes(context: str) -> tuple[str, ...]:
    """Return the names of a cluster's nodes, whether they have an agent or not; the current
    context's where it is empty. `PodpathError` says what is in the way.
    """
    with _open(context) as client:
        return tuple(sorted(str(item["metadata"]["name"]) for item in read_kind(client, NODES)))


def fetch_snapshot(context: str, node: str, folder: Path) -> Path:
    """Take a snapshot of a node into a folder; `PodpathError` says what is in the way."""
    target = folder / f"{node}.tar.gz"
    target.write_bytes(_take(context, node))
    return target


def _take(context: str, node: str) -> bytes:
    cluster = _reach(context)
    agent = cluster.agents.get(node)
    try:
        return _read(cluster, agent, node)
    except SourceError:
        if time.monotonic() - cluster.asked_at < LOOK_AGAIN:
            raise
        forget()
        cluster.client.close()
        again = _reach(context)
        if again.agents.get(node) == agent:
            raise
        return _read(again, again.agents.get(node), node)  # it was replaced meanwhile


def forget() -> None:
    """Forget which agents there are: they are found anew when the next is asked."""
    _reach.cache_clear()


def _read(cluster: _LiveCluster, agent: ServingAgent | None, node: str) -> bytes:
    if agent is None:
        raise SourceError(f"{node}: no agent serves snapshots there (deploy/snapshot)")
    return read_snapshot(cluster.client, agent)


@lru_cache(maxsize=1)
def _reach(context: str) -> _LiveCluster:
    """Find the agents of a cluster, once for all the nodes that a process is given."""
    client = _open(context)
    return _LiveCluster(client, find_agents(read_pods(client, NAMESPACE)), time.monotonic())


def _open(context: str) -> Client:
    return Client(access.find(context=context or None))
