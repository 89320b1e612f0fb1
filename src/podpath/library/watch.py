"""Drops as they happen, each with what the model of this node makes of it.

The node is read when the watch begins, and again when a drop does not fit what was read: its rules
or devices may have changed. It takes as long as a snapshot, so it is not read again before ten
times that has passed; a drop that meets an older model says how old it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from podpath.collect.drop_program import DropLosses
from podpath.collect.drop_sources import DropSource
from podpath.collect.namespaces import find_namespaces, list_inodes
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropAgreement, DropExplanation, explain_drop
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey, HeardDrop
from podpath.drops.tally import DropTally, FlowCount, TurnCount, group
from podpath.library.given import ThisNode
from podpath.library.progress import Progress, silent
from podpath.library.reading import read

Clock = Callable[[], float]
"""Seconds of a clock that never goes back (CLOCK_MONOTONIC)."""
PATIENCE = 10
"""How many times as long as reading the node took it is not read again."""
MOST_AGE = 60.0
"""Seconds after which the node is read again at the next drop, even if the drop fits."""
LOOK_AGAIN = 1.0
"""Seconds between two looks at which namespaces the node has, which cost little."""
_REMEMBERED = 4096
_UNFIT = frozenset({DropAgreement.DISAGREES, DropAgreement.OTHERWISE, DropAgreement.ELSEWHERE})


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedNode:
    """This node as it was read, and which namespace each number of the kernel's stands for."""

    engine: Engine
    netns: Mapping[int, str]
    """Names by the namespaces' inodes."""


def locate_namespaces(node: str | None = None) -> Mapping[int, str]:
    """Return the names of this node's namespaces by their inodes."""
    return list_inodes(find_namespaces(node=node))


def read_node(progress: Progress = silent, *, node: str | None = None) -> WatchedNode:
    """Read this node; `node` names its own namespace where that is not process 1's. Needs root."""
    netns = locate_namespaces(node)
    case = read(ThisNode(node=node), progress=progress)
    known = {inode: name for inode, name in netns.items() if name in case.node.namespaces}
    return WatchedNode(engine=Engine(case.node), netns=known)


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


class DropExplainer:
    """Explains drops by a model of this node that is kept fresh."""

    def __init__(
        self,
        clock: Clock,
        reread: Callable[[], WatchedNode] = read_node,
        locate: Callable[[], Mapping[int, str]] = locate_namespaces,
    ) -> None:
        """Read the node for the first time."""
        self._clock = clock
        self._reread, self._locate = reread, locate
        self._known: dict[DropKey, DropExplanation] = {}
        self._strangers: set[int] = {0}
        """Inodes of namespaces that are none of the node's; 0 stands for none at all."""
        self._looked = clock()
        self._read()

    def _read(self) -> None:
        began = self._clock()
        self._node = self._reread()
        self._ended = self._clock()
        self._began, self._cost = began, self._ended - began
        self._known.clear()

    def name(self, key: DropKey) -> str:
        """Return the name of the namespace of a drop; empty where the node has none such."""
        return self._node.netns.get(key.inode, "")

    def list_names(self) -> tuple[str, ...]:
        """Return the names of the node's namespaces as it was read."""
        return tuple(sorted(self._node.netns.values()))

    def explain(self, drop: HeardDrop, function: str) -> tuple[DropExplanation, float]:
        """Return what the model makes of a drop, and how many seconds old the model is; 0 where it
        was read after the drop.
        """
        found = self._look(drop, function)
        now = self._clock()
        unfit = found.agreement in _UNFIT and drop.time / 1e9 > self._began
        if unfit and not self.name(drop.key):
            unfit = self._is_new(drop.key.inode)
        aged = now - self._ended > max(MOST_AGE, 2 * PATIENCE * self._cost)
        if (unfit or aged) and now - self._ended > PATIENCE * self._cost:
            self._read()
            found = self._look(drop, function)
        newer = drop.time / 1e9 <= self._began
        return found, 0.0 if newer else self._clock() - self._ended

    def _is_new(self, inode: int) -> bool:
        """Tell whether a namespace belongs to the node by now, without reading the node."""
        if inode in self._strangers or self._clock() - self._looked < LOOK_AGAIN:
            return False
        self._looked = self._clock()
        if inode in self._locate():
            return True
        self._strangers.add(inode)
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
        return explain_drop(self._node.engine, netns, drop, function)


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
        namespaces that are asked for, empty for all.
        """
        self._netns = netns
        self._source, self._explainer = source, explainer
        self._choice, self._clock = choice, clock
        self.tally = DropTally()
        self._told: dict[DropKey, ToldDrop] = {}
        self._unfit: dict[DropKey, HeardDrop] = {}
        """Drops that a model did not fit which may be out of date: to be explained again."""

    def takes(self, key: DropKey) -> bool:
        """Tell whether a drop is one of those that are asked for, in a namespace of this node.

        A source that knows no namespaces is of the whole machine.
        """
        if not self._choice.takes(key):
            return False
        name = self.name(key)
        if self._netns:
            return name in self._netns
        return self._choice.daily or bool(self._source.lacks or name)

    def name(self, key: DropKey) -> str:
        """Return the name of the namespace of a flow; empty where it is none of the node's."""
        return self._explainer.name(key)

    def run(self, turn: float, until: Callable[[], bool]) -> Iterator[ToldDrop | ToldTurn]:
        """Yield each flow's drop when it is first seen or gets another explanation, and the counts
        at the end of each turn of so many seconds, until the caller says so.
        """
        began = self._clock()
        while True:
            over = until()
            left = began + turn - self._clock()
            if left > 0 and not over:
                self._source.wait(min(left, 0.1))
            yield from self._tell(self._source.read())
            if left <= 0 or over:
                now = self._clock()
                yield from self._tell(self._take_unfit())
                yield self._end_turn(now - began)
                began = now
            if over:
                return

    def _tell(self, drops: Iterable[HeardDrop]) -> Iterator[ToldDrop]:
        for drop in drops:
            if not self._choice.takes(drop.key):
                continue
            function = self._source.name(drop.key)
            found, age = self._explainer.explain(drop, function)
            if not self.takes(drop.key):
                continue
            key = group(drop.key)
            if age and found.agreement in _UNFIT and len(self._unfit) < _REMEMBERED:
                self._unfit[key] = drop
            before = self._told.get(key)
            if before is not None and _says(before) == _says_of(found, age):
                continue
            if len(self._told) >= _REMEMBERED:
                self._told.clear()
            told = self._told[key] = ToldDrop(
                drop=drop,
                function=function,
                explanation=found,
                age=age,
                seconds=self._clock() - drop.time / 1e9,
            )
            yield told

    def _take_unfit(self) -> Iterable[HeardDrop]:
        unfit, self._unfit = self._unfit, {}
        return unfit.values()

    def _end_turn(self, seconds: float) -> ToldTurn:
        counted: list[FlowCount] = []
        daily = 0
        for one in self._source.take_flows():
            if self.takes(one.key):
                counted.append(one)
            else:
                daily += one.packets
        turn = self.tally.end_turn(counted, daily)
        return ToldTurn(turn=turn, seconds=seconds, losses=self._source.count_losses())

    def recall(self, key: DropKey) -> ToldDrop | None:
        """Return what was told of a flow last; None where nothing was, or it is forgotten."""
        return self._told.get(key)


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
