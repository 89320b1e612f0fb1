"""What drops are told to: the counters, and watchers who each want those of some pods.

One watching process serves them all. A watcher that joins late is told of a flow when it is counted
next. Each has a bounded number of lines in a second and a bounded queue; what does not fit is
counted, and said with the next rates. The bytes of packets are taken out: they may hold what pods
say to each other.
"""

from __future__ import annotations

import ipaddress
import json
import queue
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from podpath.net.errors import PodpathError
from podpath_protect.drops.counting import DropCounts
from podpath_protect.drops.options import DropOptions

Document = dict[str, Any]
"""A line of `podpath/drops/v1`."""
FlowName = tuple[str, str, str]
REMEMBERED = 1024
"""Flows whose drop is kept for watchers that join later."""
MOST_WAITING = 256
"""Lines that wait for a watcher to take them."""
MOST_NAMES = 64
_POD = re.compile(r"[a-z0-9]([a-z0-9.-]{0,252})/[a-z0-9]([a-z0-9.-]{0,252})")


class BusyError(PodpathError):
    """There are as many watchers as may be."""


class RequestError(PodpathError):
    """A request asks for what there is not. The message says what was expected."""


class DropWish(NamedTuple):
    """Which drops a watcher wants: those of some pods; all where it names none."""

    pods: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    seconds: float = 0.0
    """How long from when drops are heard; 0 for as long as it may."""

    def takes(self, flow: Mapping[str, object]) -> bool:
        """Tell whether a flow is one of a pod that is asked for: dropped in it, from it or to
        it.
        """
        if not (self.pods or self.addresses):
            return True
        names = {flow.get("pod"), flow.get("src_pod"), flow.get("dst_pod")}
        ends = {flow.get("src"), flow.get("dst")}
        return not (self.pods.isdisjoint(names) and self.addresses.isdisjoint(ends))


def parse_wish(query: str) -> DropWish:
    """Read `pod=NAMESPACE/NAME&address=ADDRESS&seconds=N`, the first two repeated as needed."""
    try:
        given = parse_qs(query, strict_parsing=bool(query), max_num_fields=2 * MOST_NAMES + 1)
    except ValueError as error:
        raise RequestError(f"expected pod=, address= and seconds=: {error}") from error
    strange = sorted(set(given) - {"pod", "address", "seconds"})
    if strange:
        raise RequestError(f"expected pod=, address= and seconds=, saw {strange[0]!r}")
    pods = given.get("pod", [])
    if not all(map(_POD.fullmatch, pods)):
        raise RequestError("expected pod=NAMESPACE/NAME")
    try:
        addresses = frozenset(str(ipaddress.ip_address(each)) for each in given.get("address", []))
        seconds = float(given.get("seconds", ["0"])[-1])
    except ValueError as error:
        raise RequestError(f"expected an address, and seconds as a number: {error}") from error
    if not 0 <= seconds < float("inf"):
        raise RequestError("expected seconds of 0 or more")
    return DropWish(frozenset(pods), addresses, seconds)


class DropSubscription:
    """The lines that one watcher shall have. The feed offers, the watcher's thread takes."""

    def __init__(self, wish: DropWish, lines: int, clock: Callable[[], float]) -> None:
        """Begin with nothing told."""
        self.wish = wish
        self._most, self._clock = lines, clock
        self._waiting: queue.Queue[Document | None] = queue.Queue(MOST_WAITING)
        self._told: OrderedDict[FlowName, None] = OrderedDict()
        self._second, self._spent = 0, 0
        self._held = 0
        """Drops that were not told since the last rates."""

    def offer_state(self, document: Document) -> None:
        """Take that drops are heard now."""
        self._put(document)

    def offer_drop(self, document: Document) -> None:
        """Take a drop that is wanted, where there is room for it."""
        if not self.wish.takes(document):
            return
        second = int(self._clock())
        if second != self._second:
            self._second, self._spent = second, 0
        if self._spent >= self._most or not self._put(document):
            self._held += 1
            return
        self._spent += 1
        self._told[name_flow(document, "flow")] = None
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)

    def offer_turn(self, document: Document, drops: Mapping[FlowName, Document]) -> None:
        """Take the rates of the flows that are wanted, and the drop of each that was not told."""
        flows = [flow for flow in document["flows"] if self.wish.takes(flow)]
        for flow in flows:
            name = name_flow(flow, "text")
            if name in drops and name not in self._told:
                self.offer_drop(drops[name])
        if not flows and not self._held:
            return
        losses = dict(document.get("losses") or {})
        losses["unsent"] = int(losses.get("unsent") or 0) + self._held
        if self._put(document | {"flows": flows, "losses": losses}):
            self._held = 0

    def _put(self, document: Document) -> bool:
        try:
            self._waiting.put_nowait(document)
        except queue.Full:
            return False
        return True

    def end(self) -> None:
        """Let the watcher end, once it has taken what waits."""
        while not self._try_end():
            try:
                self._waiting.get_nowait()
            except queue.Empty:
                continue

    def _try_end(self) -> bool:
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return False
        return True

    def take(self, seconds: float) -> Sequence[Document] | None:
        """Return what waits, at most one, after so many seconds nothing; None at the end."""
        try:
            found = self._waiting.get(timeout=seconds)
        except queue.Empty:
            return ()
        return None if found is None else (found,)


def name_flow(document: Mapping[str, object], spelled: str) -> FlowName:
    """Return what a drop and a count of the same flow have in common."""
    return str(document.get("reason")), str(document.get("netns")), str(document.get(spelled))


class DropFeed:
    """Where the watching process's lines go. Threads may share it."""

    def __init__(self, options: DropOptions, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nobody."""
        self.options = options
        self.counts = DropCounts()
        self.failure = ""
        """Why drops cannot be heard; empty where they can, or nobody has tried."""
        self._clock = clock
        self._lock = threading.Lock()
        self._left = threading.Condition(self._lock)
        self._watchers: list[DropSubscription] = []
        self._drops: OrderedDict[FlowName, Document] = OrderedDict()
        self._losses: Mapping[str, object] = {}
        self._listening: Document | None = None
        """What the watching process said when it began to hear drops; None before."""

    @property
    def watchers(self) -> int:
        """How many watch."""
        return len(self._watchers)

    @contextmanager
    def subscribe(self, wish: DropWish, patience: float = 0.0) -> Iterator[DropSubscription]:
        """Be a watcher for a block; `BusyError` where there are enough for so many seconds: one
        who just left may not have been missed yet.
        """
        made = DropSubscription(wish, self.options.lines, self._clock)
        with self._lock:
            if not self._left.wait_for(self._has_room, patience):
                raise BusyError(f"{self.options.watchers} watch already, which is all that may")
            self._watchers.append(made)
            if self._listening is not None:
                made.offer_state(self._listening)
        try:
            yield made
        finally:
            with self._lock:
                if made in self._watchers:
                    self._watchers.remove(made)
                self._left.notify()

    def _has_room(self) -> bool:
        return len(self._watchers) < self.options.watchers

    def take(self, line: bytes) -> None:
        """Take a line of the watching process; what is none of the format counts for nothing."""
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            return
        kind = document.get("kind") if isinstance(document, dict) else None
        with self._lock:
            if kind == "drop":
                self._take_drop(document)
            elif kind == "listening":
                self._listening = document
                for each in self._watchers:
                    each.offer_state(document)
            elif kind == "flows" and isinstance(document.get("flows"), list):
                self._take_turn(document)

    def _take_drop(self, document: Document) -> None:
        document["packet"] = None
        name = name_flow(document, "flow")
        self._drops[name] = document
        self._drops.move_to_end(name)
        while len(self._drops) > REMEMBERED:
            self._drops.popitem(last=False)
        for each in self._watchers:
            each.offer_drop(document)

    def _take_turn(self, document: Document) -> None:
        losses = document.get("losses")
        if isinstance(losses, dict):
            self.counts.note_losses(self._losses, losses)
            self._losses = losses
        self.counts.take(document)
        for each in self._watchers:
            each.offer_turn(document, self._drops)

    def restart(self) -> None:
        """Begin with a new watching process, which counts from its own beginning."""
        with self._lock:
            self._losses = {}
            self._drops.clear()
            self._listening = None

    def forget(self) -> None:
        """Forget that drops are heard: the process ends, since nobody needed it."""
        with self._lock:
            self._listening = None

    def end(self, why: str = "") -> None:
        """End every watcher, since drops are heard no more."""
        with self._lock:
            self.failure = why
            self._listening = None
            watchers, self._watchers = self._watchers, []
            self._left.notify_all()
        for each in watchers:
            each.end()


class DropBoard:
    """Where the part that hears drops says which feed there is, for the part that serves it."""

    def __init__(self) -> None:
        """Begin with none."""
        self.feed: DropFeed | None = None
