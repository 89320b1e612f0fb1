"""Pods listed and then watched for good: a store that follows the server through restarts, cuts,
expired versions and refusals.

Each way in which a watch ends has its answer. The server ends it in peace: it is opened again where
it stood. It breaks, or nothing comes for longer than bookmarks take: the same, after a pause that
doubles. The version has expired (410 Gone): everything is listed again, and what the list lacks was
deleted in the meantime; nothing unchanged is reported twice. The server is busy (429): the pause is
at least what it asks for. It refuses (401, 403): tried again ever more slowly, since roles are
bound while we run. An attempt that ends at once with nothing heard counts as a failure, whatever
the server calls it: a library that begins again without a pause takes a whole core while its server
is away.

Lists are read in pages and from the store of record, not from the server's cache: a page of 500
pods bounds the memory, and a list never shows a pod that is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from podpath.kube.client import Client, Refused, Stream, Unreachable, decode
from podpath.kube.objects import KubeStatus
from podpath_protect.cluster.backoff import Backoff
from podpath_protect.cluster.objects import Bookmark, KubePod, MetadataFilter, PodList, WatchEvent

PODS: Final = "/api/v1/pods"
PAGE = 500
STEADY_SECONDS = 10.0
"""A watch that stood so long was a success: the next failure begins with the shortest pause."""
WATCH_SECONDS = 240.0
"""How long the server is asked to keep a watch open, up to twice that: another length each time, so
that nodes drift apart.
"""
GONE = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class ListWatchStats:
    """How the list-watch fares: what readiness and metrics are made of."""

    synced: bool = False
    """Everything was listed once: the store is whole."""
    watching: bool = False
    """A watch is open, or was closed in peace a moment ago and is opened again."""
    lists: int = 0
    watches: int = 0
    failures: int = 0
    """Lists and watches that failed or broke."""
    changes: int = 0
    trouble: str = ""
    """Why it is not watching, in the words of the last failure."""


class ListWatch:
    """The pods that a query selects, kept as the server has them."""

    def __init__(
        self,
        client: Client,
        query: Mapping[str, str],
        *,
        draw: Callable[[], float],
        clock: Callable[[], float],
        changed: Callable[[KubePod | None, KubePod | None], None],
        trim: MetadataFilter | None = None,
    ) -> None:
        """Keep what is needed; `changed` hears (before, after) of each change, in the thread that
        runs `run`.
        """
        self._client, self._query, self._trim = client, dict(query), trim or MetadataFilter()
        self._draw, self._clock, self._changed = draw, clock, changed
        self._backoff = Backoff(draw)
        self._version = ""
        self._page = PAGE
        self._pods: dict[str, KubePod] = {}
        self._figures = ListWatchStats()
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._stream: Stream | None = None

    @property
    def figures(self) -> ListWatchStats:
        """Return how it fares now."""
        return self._figures

    def pods(self) -> tuple[KubePod, ...]:
        """Return the pods as they are known now."""
        with self._lock:
            return tuple(self._pods.values())

    def pod(self, key: str) -> KubePod | None:
        """Return one pod by `NAMESPACE/NAME`; None where none is known."""
        with self._lock:
            return self._pods.get(key)

    def stop(self) -> None:
        """End `run` from another thread, wherever it waits."""
        self._stopping.set()
        with self._lock:
            if self._stream is not None:
                self._stream.cut()

    def list_once(self) -> None:
        """List the pods once, without watching; `KubeError` where the server does not answer."""
        self._list()

    def run(self) -> None:
        """List and watch until `stop`."""
        while not self._stopping.is_set():
            began = self._clock()
            pause = 0.0
            try:
                if not self._version:
                    self._list()
                heard = self._watch()
                if not heard and self._clock() - began < 1.0:
                    pause = self._failed("the watch ended at once", 0.0)
            except Refused as refused:
                if refused.code == GONE or "ResourceVersionTooLarge" in refused.causes:
                    self._version = ""
                pause = self._failed(str(refused), refused.retry_after)
            except Unreachable as error:
                pause = self._failed(str(error), 0.0)
            if self._clock() - began >= STEADY_SECONDS:
                self._backoff.reset()
            if pause:
                self._stopping.wait(pause)

    def _failed(self, why: str, at_least: float) -> float:
        if self._stopping.is_set():
            return 0.0
        self._figures = replace(
            self._figures, failures=self._figures.failures + 1, watching=False, trouble=why
        )
        return self._backoff.pause(at_least)

    def _list(self) -> None:
        try:
            version, found = self._pages()
        except Refused as refused:
            if refused.code != GONE or not self._page:
                raise
            self._page = 0  # the pages were older than the server keeps: one page holds everything
            version, found = self._pages()
        finally:
            self._page = PAGE
        gone = [pod for key, pod in self._pods.items() if key not in found]
        fresh = [
            (self._pods.get(key), pod)
            for key, pod in found.items()
            if pod is not self._pods.get(key)
        ]
        with self._lock:
            self._pods = found
        self._version = version
        self._figures = replace(
            self._figures, synced=True, lists=self._figures.lists + 1, trouble=""
        )
        for before in gone:
            self._tell(before, None)
        for before_or_none, after in fresh:
            self._tell(before_or_none, after)

    def _pages(self) -> tuple[str, dict[str, KubePod]]:
        """Read all pages; a pod that did not change is the same object as before."""
        found: dict[str, KubePod] = {}
        onward = ""
        while True:
            query = (
                self._query
                | ({"limit": str(self._page)} if self._page else {})
                | ({"continue": onward} if onward else {})
            )
            page = self._client.read(PodList, PODS, query=query)
            for pod in page.items:
                known = self._pods.get(pod.key)
                same = (
                    known is not None
                    and known.metadata.resource_version == pod.metadata.resource_version
                )
                found[pod.key] = known if known is not None and same else self._trim.pod(pod)
            onward = page.metadata.continue_
            if not onward:
                return page.metadata.resource_version, found

    def _watch(self) -> bool:
        """Follow one watch to its end, and tell whether anything was heard."""
        seconds = WATCH_SECONDS * (1.0 + self._draw())
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(int(seconds)),
        }
        with self._client.stream(PODS, query=self._query | query) as stream:
            with self._lock:
                self._stream = stream
            self._figures = replace(
                self._figures, watching=True, watches=self._figures.watches + 1, trouble=""
            )
            heard = False
            try:
                if self._stopping.is_set():
                    return True
                for line in stream.lines():
                    self._hear(decode(WatchEvent, line, PODS))
                    heard = True
            finally:
                with self._lock:
                    self._stream = None
        return heard

    def _hear(self, event: WatchEvent) -> None:
        match event.type:
            case "ADDED" | "MODIFIED":
                pod = self._trim.pod(decode(KubePod, event.object, PODS))
                before = self._pods.get(pod.key)
                with self._lock:
                    self._pods[pod.key] = pod
                self._version = pod.metadata.resource_version
                self._tell(before, pod)
            case "DELETED":
                pod = decode(KubePod, event.object, PODS)
                with self._lock:
                    last = self._pods.pop(pod.key, None)
                self._version = pod.metadata.resource_version
                if last is not None:
                    self._tell(last, None)
            case "BOOKMARK":
                self._version = decode(Bookmark, event.object, PODS).metadata.resource_version
            case "ERROR":
                raise Refused("WATCH", PODS, decode(KubeStatus, event.object, PODS))
            case other:
                raise Unreachable(
                    f"{PODS}: the watch sent an event that nobody knows: {other[:40]}"
                )

    def _tell(self, before: KubePod | None, after: KubePod | None) -> None:
        self._figures = replace(self._figures, changes=self._figures.changes + 1)
        self._changed(before, after)
