"""Drops of a cluster's nodes as they happen: each agent streams those of its node through the API
server's pod proxy, or a pod that lives for it runs the watch there.

Every node has a thread that waits for lines; whoever asks takes them from one queue. A stream whose
time is over is opened again, with a new token, as long as nobody said for how long.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

from podpath.kube.client import Client, KubeError, Stream
from podpath.sources.agents import AgentAccess, ServingAgent, open_drops
from podpath.sources.collector import CollectorOptions, follow_watch
from podpath.sources.gathering import say_how
from podpath.sources.objects import SourceError

MOST_WAITING = 4096
"""Lines that wait to be taken; whoever reads them then waits, and so does the agent."""
MOST_NODES = 32
"""Nodes that are watched at once, each by a thread."""
JOIN_SECONDS = 5.0
AGAIN = "its time is over"
"""What an agent says at the end of the time that one may watch."""


class NodeLine(NamedTuple):
    """A line of `podpath/drops/v1` from a node."""

    node: str
    document: Mapping[str, Any]


class NodeEnd(NamedTuple):
    """A node is watched no more."""

    node: str
    why: str
    failed: bool


NodeNews = NodeLine | NodeEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class DropRequest:
    """What is asked of each node."""

    pods: frozenset[str] = frozenset()
    """`NAMESPACE/NAME` of the pods whose drops are wanted; all drops where there are none."""
    addresses: frozenset[str] = frozenset()
    """Those of the same pods."""
    seconds: float | None = None
    """How long from when each node is heard; None for as long as anybody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedNodes:
    """Which nodes are watched, and how."""

    nodes: Sequence[str]
    agents: Mapping[str, ServingAgent]
    asker: AgentAccess = field(default_factory=AgentAccess)
    collector: CollectorOptions | None = None
    """What pods are made of where a node has no agent; None where nobody asked for that."""


class DropStreams:
    """The streams of some nodes. Leaving its block ends all of them."""

    def __init__(self, client: Client, watched: WatchedNodes, request: DropRequest) -> None:
        """Keep what is asked; nothing is opened before the block begins."""
        self._client, self._watched, self._request = client, watched, request
        self._news: queue.Queue[NodeNews] = queue.Queue(MOST_WAITING)
        self._stop = threading.Event()
        self._open: set[Stream] = set()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._watch, args=(node,), name="watch-drops", daemon=True)
            for node in watched.nodes
        ]

    def __enter__(self) -> Self:
        """Open the streams."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the streams; what agents attached for them alone goes with them."""
        self._stop.set()
        with self._lock:
            for stream in self._open:
                stream.cut()
        until = time.monotonic() + JOIN_SECONDS
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < until:
                with suppress(queue.Empty):  # a thread may wait for room
                    self._news.get_nowait()
                thread.join(0.05)

    def read(self, seconds: float) -> Iterator[NodeNews]:
        """Yield what has come, after waiting so many seconds for the first."""
        try:
            yield self._news.get(timeout=seconds)
            while True:
                yield self._news.get_nowait()
        except queue.Empty:
            return

    def _watch(self, node: str) -> None:
        """Watch a node until it ends, or nobody reads any more."""
        try:
            why = self._follow(node)
        except (SourceError, KubeError) as error:
            self._tell(NodeEnd(node, str(error), failed=True))
        else:
            self._tell(NodeEnd(node, why, failed=False))

    def _tell(self, news: NodeNews) -> None:
        while not self._stop.is_set():
            with suppress(queue.Full):
                self._news.put(news, timeout=0.2)
                return

    def _follow(self, node: str) -> str:
        agent, collector = self._watched.agents.get(node), self._watched.collector
        if agent is not None:
            why = self._follow_agent(agent)
            while why == AGAIN and self._request.seconds is None and not self._stop.is_set():
                why = self._follow_agent(agent)
            return why
        if collector is None:
            raise SourceError(say_how(node))
        follow_watch(
            self._client,
            node,
            collector,
            sorted(self._request.pods),
            partial(self._hear, node),
            self._stop.is_set,
        )
        return AGAIN

    def _follow_agent(self, agent: ServingAgent) -> str:
        request = self._request
        query = [("pod", name) for name in sorted(request.pods)]
        query += [("address", each) for each in sorted(request.addresses)]
        if request.seconds is not None:
            query.append(("seconds", f"{request.seconds:g}"))
        why = "the stream ended"
        with open_drops(self._client, agent, query, self._watched.asker) as stream:
            with self._lock:
                self._open.add(stream)
            try:
                for line in () if self._stop.is_set() else stream.lines():
                    why = self._take(agent.node, line) or why
            finally:
                with self._lock:
                    self._open.discard(stream)
        return why

    def _hear(self, node: str, line: bytes) -> None:
        self._take(node, line)

    def _take(self, node: str, line: bytes) -> str:
        """Hand on a line; return why a stream ends where the line says so."""
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            return ""
        if not isinstance(document, dict):
            return ""
        if document.get("kind") == "end":
            return str(document.get("why") or "the stream ended")
        self._tell(NodeLine(node, document))
        return ""
