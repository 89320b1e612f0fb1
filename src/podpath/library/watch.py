"""Drops as they happen, each with what the model of this node makes of it.

The node is read when the watch begins. A namespace of it, or what of it changed, is read again when
the kernel announces a change there or a drop does not fit what was read; the whole node where there
are new namespaces or devices. All of it is done beside the telling, and takes a bounded share of a
processor. No drop waits for it: it is told by the model that there is, with the model's age, and
again once that was read anew, if it says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

from podpath.collect.changes import HeardChanges, join_aspects
from podpath.collect.drop_program import DropLosses
from podpath.collect.drop_sources import DropSource
from podpath.collect.namespaces import find_namespaces, list_inodes
from podpath.collect.netns_files import NetnsAspect, aspect_of
from podpath.diagnosis.freed import FILTERED, DropAgreement, DropExplanation, explain_drop
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey, DropNames, HeardDrop
from podpath.drops.tally import DropTally, FlowCount, TurnCount, group
from podpath.library.watched_node import RereadNode, WatchedNode, read_node
from podpath.report.drop_json import CountedFlow

Clock = Callable[[], float]
"""Seconds of a clock that never goes back (CLOCK_MONOTONIC)."""
PATIENCE = 10
"""How many times as long as reading the node took it is not read again."""
MOST_AGE = 60.0
"""Seconds after which what explains a drop is read again, even if the drop fits."""
SHARE, BURST = 0.15, 1.0
"""What share of a processor reading namespaces again takes in the long run, and how many seconds of
one it takes at once.
"""
LAST_WAIT = 1.0
"""Seconds beside twice the last reading's that the end of a watch waits for one under way."""
LOOK_AGAIN = 1.0
"""Seconds between two looks at which namespaces the node has, which cost little."""
WAKING, SOON = 0.1, 0.01
"""Seconds between two looks at what changed, and at what is read beside while that goes on."""
COUNTED_AT_ONCE = 256
"""Flows of a turn that are counted before it is looked at what was dropped meanwhile."""
_A_MOMENT = 0.001
_REMEMBERED = 4096
_UNFIT = frozenset({DropAgreement.DISAGREES, DropAgreement.OTHERWISE, DropAgreement.ELSEWHERE})


def locate_namespaces(node: str | None = None) -> Mapping[int, str]:
    """Return the names of this node's namespaces by their inodes."""
    return list_inodes(find_namespaces(node=node))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """The node as it was read between two moments."""

    node: WatchedNode
    began: float
    ended: float

    @property
    def cost(self) -> float:
        """The seconds that the reading took."""
        return self.ended - self.began


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLook:
    """Which namespaces belong to the node by now, of some that it did not have."""

    asked: frozenset[int]
    """Their inodes."""
    known: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainReading:
    """Some namespaces of the node as they were read again between two moments."""

    wanted: Mapping[str, NetnsAspect]
    found: RereadNode
    began: float
    ended: float


ReadBeside = NodeReading | NamespaceLook | AgainReading
"""What is found out beside the telling."""


class ExplainedDrop(NamedTuple):
    """What the model makes of a drop."""

    explanation: DropExplanation
    age: float
    """Seconds since the node was read; 0 where that was after the drop."""
    doubtful: bool
    """The node may be another by now, so that it is to be explained again once it was read anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldDrop:
    """A drop with what the model makes of it."""

    drop: HeardDrop
    function: str
    """The kernel's function that freed it."""
    explanation: DropExplanation
    age: float
    """Seconds between the reading of the node that explains it and the answer; 0 where the node
    was read after the drop.
    """
    seconds: float
    """Between the drop and this answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldTurn:
    """What was counted in one turn."""

    turn: TurnCount
    seconds: float
    losses: DropLosses


class BesideReader(Protocol):
    """What works beside the telling, one piece at a time (`collect.beside.BesideWorker`)."""

    @property
    def busy(self) -> bool:
        """Tell whether something is under way, or done and not yet taken."""

    def begin(self, work: Callable[[], ReadBeside]) -> None:
        """Begin a piece of work."""

    def take(self, seconds: float = 0.0) -> ReadBeside | None:
        """Return what came of it; None where it is not done within so many seconds."""


class ChangeReader(Protocol):
    """What hears of changes (`collect.changes.ChangeListener`)."""

    def read(self) -> HeardChanges:
        """Return what changed since the last look."""


class PartReaders(NamedTuple):
    """What keeps single namespaces fresh."""

    again: Callable[[WatchedNode, Mapping[str, NetnsAspect]], RereadNode]
    """Reads namespaces of a node again (`library.watched_node.reread_apart`)."""
    changes: ChangeReader | None = None
    """None where nothing is announced."""


class ReadSpan(NamedTuple):
    """When something was read."""

    began: float
    ended: float


class DropExplainer:
    """Explains drops by a model of this node that is kept fresh beside it."""

    def __init__(
        self,
        clock: Clock,
        beside: BesideReader,
        reread: Callable[[], WatchedNode] = read_node,
        locate: Callable[[], Mapping[int, str]] = locate_namespaces,
        patience: float = PATIENCE,
        parts: PartReaders | None = None,
    ) -> None:
        """Read the node for the first time, which everybody waits for; after that not before
        `patience` times as long has passed as it took. With `parts` single namespaces are read
        again, where a change is announced or a drop does not fit.
        """
        self._clock, self._beside, self._patience = clock, beside, patience
        self._reread, self._locate = reread, locate
        self._parts = parts
        self._known: dict[DropKey, DropExplanation] = {}
        self._strangers: set[int] = {0}
        """Inodes of namespaces that are none of the node's; 0 stands for none at all."""
        self._unplaced: set[int] = set()
        """Inodes of which it is not known yet whether they are."""
        self._looked = clock()
        self._outdated: list[object] = []
        """Parts of the last model, which are let go one by one: all at once takes longer than a
        drop may wait.
        """
        self._spans: dict[tuple[str, NetnsAspect], ReadSpan] = {}
        """When namespaces were read by themselves, since the whole node was."""
        self._changed: dict[str, NetnsAspect] = {}
        """What is announced to be another by now, and not yet read again."""
        self._heard: dict[str, float] = {}
        """When a change of a namespace was heard last."""
        self._being_read: Mapping[str, NetnsAspect] = {}
        self._incomplete = False
        """True where only the whole node, read again, tells."""
        self._credit, self._counted = BURST, clock()
        """Seconds of a processor that may be spent on reading namespaces again, and as of when."""
        if parts is not None and parts.changes is not None:
            parts.changes.read()  # what was before the first reading is read by it
        self._reading = self._read()

    @property
    def busy(self) -> bool:
        """Tell whether something is read beside."""
        return self._beside.busy

    def _read(self) -> NodeReading:
        began = self._clock()
        node = self._reread()
        return NodeReading(node=node, began=began, ended=self._clock())

    def _read_again(self, parts: PartReaders, wanted: Mapping[str, NetnsAspect]) -> AgainReading:
        began = self._clock()
        found = parts.again(self._reading.node, wanted)
        return AgainReading(wanted=wanted, found=found, began=began, ended=self._clock())

    def _look_for(self, inodes: frozenset[int]) -> NamespaceLook:
        return NamespaceLook(asked=inodes, known=inodes.intersection(self._locate()))

    def name(self, key: DropKey) -> str:
        """Return the name of the namespace of a drop; empty where the node has none such."""
        return self._reading.node.netns.get(key.inode, "")

    def name_all(self, key: DropKey) -> DropNames:
        """Return what the node calls the namespace and the ends of a drop."""
        node = self._reading.node
        netns = node.netns.get(key.inode, "")
        ends = [node.owners.get(end, "") if end is not None else "" for end in (key.src, key.dst)]
        source, target = (node.pods.get(name, name) for name in ends)
        return DropNames(netns, node.pods.get(netns, ""), source, target)

    def list_names(self) -> tuple[str, ...]:
        """Return the names of the node's namespaces as it was read."""
        return tuple(sorted(self._reading.node.netns.values()))

    def list_pods(self) -> Mapping[str, str]:
        """Return the pods of the node, `NAMESPACE/NAME`, by the names of their namespaces."""
        return self._reading.node.pods

    def explain(self, drop: HeardDrop, function: str) -> ExplainedDrop:
        """Return at once what the model makes of a drop, and have the node read again where it may
        be out of date.
        """
        found = self._look(drop, function)
        now = self._clock()
        name = self.name(drop.key)
        # what is no IP packet no state of the node explains
        unfit = found.agreement in _UNFIT and not (name and drop.packet is None)
        read = self._find_span(name, NetnsAspect.WHOLE if unfit else _aspect_of(found))
        heard = drop.time / 1e9
        age = now - read.ended
        if heard <= read.began:
            past = unfit and self._is_past(name, drop)
            return ExplainedDrop(found, max(age, _A_MOMENT) if past else 0.0, doubtful=False)
        aged = age > max(MOST_AGE, 2 * self._patience * self._reading.cost)
        changed = name in self._changed or name in self._being_read
        if unfit or aged:
            self._ask(drop, found, aged=aged)
        return ExplainedDrop(found, age, doubtful=unfit or aged or changed)

    def _is_past(self, name: str, drop: HeardDrop) -> bool:
        """Tell whether a namespace changed after a drop: as it is now says nothing of that."""
        return self._heard.get(name, 0.0) > drop.time / 1e9

    def _find_span(self, name: str, aspect: NetnsAspect) -> ReadSpan:
        """Return when an aspect of a namespace was read last."""
        spans = (self._spans.get((name, each)) for each in (aspect, NetnsAspect.WHOLE))
        node = ReadSpan(self._reading.began, self._reading.ended)
        return max((node, *(span for span in spans if span is not None)))

    def _ask(self, drop: HeardDrop, found: DropExplanation, *, aged: bool) -> None:
        """Begin to read beside the telling what may explain a drop otherwise. For a namespace that
        is not known, only whether the node has it is looked at first.
        """
        name = self.name(drop.key)
        if not name and drop.key.inode not in self._strangers:
            self._unplaced.add(drop.key.inode)
        if self._beside.busy:
            return
        if not name:
            asked = frozenset(self._unplaced - self._strangers)
            if asked and self._clock() - self._looked >= LOOK_AGAIN:
                self._looked = self._clock()
                self._unplaced.clear()
                self._beside.begin(partial(self._look_for, asked))
            return
        if self._parts is None:
            self._begin_whole()
            return
        self._listen()  # what is announced tells which part it is
        aspect = NetnsAspect.RULES if drop.key.reason == FILTERED else _aspect_of(found)
        if aged or self._find_span(name, aspect).began >= drop.time / 1e9:
            if self._is_past(name, drop):
                return
            aspect = NetnsAspect.WHOLE
        self._begin_again(self._parts, {name: aspect})

    def _begin_whole(self) -> None:
        """Begin to read the node, where that is not too soon."""
        if not self._beside.busy and self._may_read():
            self._incomplete = False
            self._changed.clear()
            self._beside.begin(self._read)

    def _begin_again(self, parts: PartReaders, wanted: Mapping[str, NetnsAspect]) -> None:
        """Begin to read namespaces again, where that is not too much."""
        now = self._clock()
        self._credit = min(BURST, self._credit + SHARE * (now - self._counted))
        self._counted = now
        if self._beside.busy or self._credit <= 0:
            return
        for name in wanted:
            self._changed.pop(name, None)
        self._being_read = wanted
        self._beside.begin(partial(self._read_again, parts, wanted))

    def _may_read(self) -> bool:
        return self._clock() - self._reading.ended > self._patience * self._reading.cost

    def refresh(self, seconds: float = 0.0) -> bool:
        """Take over what was read beside, waiting for it so many seconds; tell whether the model is
        a new one.
        """
        if self._outdated:
            self._outdated.pop()
        renewed = False
        match self._beside.take(seconds):
            case NodeReading() as reading:
                self._outdated += [*self._known.values(), *self._reading.node.list_parts()]
                self._reading = reading
                self._known.clear()
                self._spans.clear()
                renewed = True
            case AgainReading() as reading:
                renewed = self._take_over(reading)
            case NamespaceLook() as look:
                self._strangers |= look.asked - look.known
                self._incomplete |= bool(look.known)
            case _:
                pass
        self._listen()
        return renewed

    def _take_over(self, reading: AgainReading) -> bool:
        """Take over what was read again of some namespaces; tell whether that did."""
        self._being_read = {}
        self._credit -= reading.found.spent
        if reading.found.node is None:
            self._incomplete = True
            return False
        before = self._reading.node
        self._outdated += before.list_parts_of(reading.wanted)
        self._reading = replace(self._reading, node=reading.found.node)
        for name, aspect in reading.wanted.items():
            self._spans[name, aspect] = ReadSpan(reading.began, reading.ended)
        for key in [key for key in self._known if self.name(key) in reading.wanted]:
            self._outdated.append(self._known.pop(key))
        return True

    def _listen(self) -> None:
        """Hear what changed, and begin to read that again."""
        changes = self._parts.changes if self._parts is not None else None
        if changes is not None:
            heard = changes.read()
            self._incomplete |= heard.lost
            for number, aspect in heard.aspects.items():
                name = self._reading.node.numbers.get(number)
                if name is not None:
                    self._heard[name] = self._clock()
                    self._changed[name] = join_aspects(self._changed.get(name), aspect)
        if self._incomplete:
            self._begin_whole()
        if self._parts is not None and self._changed and not self._beside.busy:
            self._begin_again(self._parts, dict(self._changed))

    def finish(self) -> bool:
        """Wait for what is read beside, as long as it may take; tell whether the model is a new
        one.
        """
        until = self._clock() + LAST_WAIT + 2 * self._reading.cost
        while self._beside.busy and (left := until - self._clock()) > 0:
            if self.refresh(left):
                return True
        return False

    def _look(self, drop: HeardDrop, function: str) -> DropExplanation:
        key = drop.key
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = self._explain(drop, function)
        return self._known[key]

    def _explain(self, drop: HeardDrop, function: str) -> DropExplanation:
        netns = self.name(drop.key)
        if not netns:
            return DropExplanation(agreement=DropAgreement.ELSEWHERE)
        return explain_drop(self._reading.node.engine, netns, drop, function)


class DropWatch:
    """The watch itself: what is told of drops, turn by turn."""

    def __init__(
        self,
        source: DropSource,
        explainer: DropExplainer,
        choice: DropChoice,
        clock: Clock,
        netns: frozenset[str] = frozenset(),
    ) -> None:
        """Join what hears drops with what explains them; `netns` are the names of the only
        namespaces that are asked for, or of their pods, empty for all: what is dropped there, and
        what is dropped elsewhere of the packets from and to those pods.
        """
        self._netns = netns
        self._source, self._explainer = source, explainer
        self._choice, self._clock = choice, clock
        self.tally = DropTally()
        self._told: dict[DropKey, ToldDrop] = {}
        self._doubtful: dict[DropKey, HeardDrop] = {}
        """Drops explained by a model that may be out of date: to be explained again."""

    def takes(self, key: DropKey) -> bool:
        """Tell whether a drop is one of those that are asked for, in a namespace of this node.

        A source that knows no namespaces is of the whole machine.
        """
        if not self._choice.takes(key):
            return False
        if self._netns:
            return self._is_wanted(self._explainer.name_all(key))
        return self._choice.daily or bool(self._source.lacks or self.name(key))

    def _is_wanted(self, names: DropNames) -> bool:
        pods = self._explainer.list_pods()
        there = {pods.get(name, name) for name in self._netns}
        return bool(names.netns) and not there.isdisjoint(
            (names.netns, names.pod, names.source, names.target)
        )

    def name(self, key: DropKey) -> str:
        """Return the name of the namespace of a flow; empty where it is none of the node's."""
        return self._explainer.name(key)

    def name_all(self, key: DropKey) -> DropNames:
        """Return what the node calls the namespace and the ends of a flow."""
        return self._explainer.name_all(key)

    def count(self, one: FlowCount) -> CountedFlow:
        """Return a flow's count with what is known of it beside."""
        told = self._told.get(one.key)
        return CountedFlow(
            flow=one,
            names=self.name_all(one.key),
            function=self._source.name(one.key),
            explanation=None if told is None else told.explanation,
        )

    def run(self, turn: float, until: Callable[[], bool]) -> Iterator[ToldDrop | ToldTurn]:
        """Yield each flow's drop when it is first seen or gets another explanation, and the counts
        at the end of each turn of so many seconds, until the caller says so.
        """
        began = self._clock()
        while True:
            over = until()
            left = began + turn - self._clock()
            if left > 0 and not over:
                self._source.wait(min(left, SOON if self._explainer.busy else WAKING))
            renewed = self._explainer.refresh()
            yield from self._tell(self._source.read())
            if over and self._doubtful:
                renewed |= self._explainer.finish()
            if renewed or left <= 0 or over:
                yield from self._tell(self._take_doubtful())
            if left <= 0 or over:
                now = self._clock()
                yield from self._end_turn(now - began)
                began = now
            if over:
                return

    def _tell(self, drops: Iterable[HeardDrop]) -> Iterator[ToldDrop]:
        for drop in self._put_new_first(drops):
            if not self._choice.takes(drop.key):
                continue
            function = self._source.name(drop.key)
            found = self._explainer.explain(drop, function)
            key = group(drop.key)
            if found.doubtful and len(self._doubtful) < _REMEMBERED:
                self._doubtful[key] = drop
            if not self.takes(drop.key):
                continue
            before = self._told.get(key)
            if before is not None and _says(before) == _says_of(found.explanation, found.age):
                continue
            if len(self._told) >= _REMEMBERED:
                self._told.clear()
            told = self._told[key] = ToldDrop(
                drop=drop,
                function=function,
                explanation=found.explanation,
                age=found.age,
                seconds=self._clock() - drop.time / 1e9,
            )
            yield told

    def _put_new_first(self, drops: Iterable[HeardDrop]) -> Iterator[HeardDrop]:
        """Yield the first drop of each flow that was not told yet before all others, which will
        hardly say anything else: where much begins at once, each flow is told early.
        """
        begun: set[DropKey] = set()
        others: list[HeardDrop] = []
        for drop in drops:
            key = group(drop.key)
            if key in begun or key in self._told:
                others.append(drop)
                continue
            begun.add(key)
            yield drop
        yield from others

    def _take_doubtful(self) -> Iterable[HeardDrop]:
        doubtful, self._doubtful = self._doubtful, {}
        return doubtful.values()

    def _end_turn(self, seconds: float) -> Iterator[ToldDrop | ToldTurn]:
        """Yield the counts of a turn. There may be many flows, so that what is dropped while they
        are counted is told in between.
        """
        for number, one in enumerate(self._source.take_flows(), 1):
            if self.takes(one.key):
                self.tally.count(one)
            else:
                self.tally.leave_out(one.packets)
            if number % COUNTED_AT_ONCE == 0:
                yield from self._tell(self._source.read())
        turn = self.tally.end_turn()
        yield ToldTurn(turn=turn, seconds=seconds, losses=self._source.count_losses())

    def recall(self, key: DropKey) -> ToldDrop | None:
        """Return what was told of a flow last; None where nothing was, or it is forgotten."""
        return self._told.get(key)


def _aspect_of(found: DropExplanation) -> NetnsAspect:
    """Return what of a namespace tells the line that decides."""
    if found.spans:
        return aspect_of(found.spans[0].source.name)
    return NetnsAspect.WHOLE


def _says(told: ToldDrop) -> tuple[object, ...]:
    return _says_of(told.explanation, told.age)


def _says_of(found: DropExplanation, age: float) -> tuple[object, ...]:
    """Return what an explanation says, which is the same after the node was read again: but for a
    drop that did not fit, and now does not fit for certain.
    """
    texts = tuple(span.text for span in found.spans)
    stage = found.step.stage if found.step is not None else None
    doubtful = age > 0 and found.agreement in _UNFIT
    return found.agreement, found.netns, found.link, stage, texts, doubtful
