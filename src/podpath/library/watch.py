"""Drops as they happen, each with what the model of this node makes of it.

The node is read when the watch begins, and again when a drop does not fit what was read: its rules
or devices may have changed. It takes as long as a snapshot, so it is done beside the telling, and
not again before ten times that has passed. No drop waits for it: it is told by the model that there
is, with the model's age, and again once the node was read anew, if that says something else.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

from podpath.collect.apart import run_apart
from podpath.collect.drop_program import DropLosses
from podpath.collect.drop_sources import DropSource
from podpath.collect.namespaces import find_namespaces, list_inodes
from podpath.datapath.netfilter.ruleset import compile_ruleset
from podpath.datapath.netfilter.tracking import track_known
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropAgreement, DropExplanation, explain_drop
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey, DropNames, HeardDrop
from podpath.drops.tally import DropTally, FlowCount, TurnCount, group
from podpath.library.given import ThisNode
from podpath.library.memory import collecting_nothing
from podpath.library.progress import Progress, silent
from podpath.library.reading import read
from podpath.net.addresses import WIDTH, Address
from podpath.node.node import NetnsRole, Node
from podpath.report.drop_json import CountedFlow

Clock = Callable[[], float]
"""Seconds of a clock that never goes back (CLOCK_MONOTONIC)."""
PATIENCE = 10
"""How many times as long as reading the node took it is not read again."""
MOST_AGE = 60.0
"""Seconds after which the node is read again at the next drop, even if the drop fits."""
LAST_WAIT = 1.0
"""Seconds beside twice the last reading's that the end of a watch waits for one under way."""
LOOK_AGAIN = 1.0
"""Seconds between two looks at which namespaces the node has, which cost little."""
COUNTED_AT_ONCE = 256
"""Flows of a turn that are counted before it is looked at what was dropped meanwhile."""
_REMEMBERED = 4096
_UNFIT = frozenset({DropAgreement.DISAGREES, DropAgreement.OTHERWISE, DropAgreement.ELSEWHERE})


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedNode:
    """This node as it was read, and which namespace each number of the kernel's stands for."""

    engine: Engine
    netns: Mapping[int, str]
    """Names by the namespaces' inodes."""
    pods: Mapping[str, str] = field(default_factory=dict)
    """What namespaces' pods are called, `NAMESPACE/NAME`, where a runtime says so."""
    owners: Mapping[Address, str] = field(default_factory=dict)
    """The namespace of the one pod that has an address."""

    def list_parts(self) -> list[object]:
        """Return the parts that hold nearly all of it."""
        engine = self.engine
        compiled = (engine.namespaces, engine.rulesets, engine.tracked, engine.lines)
        parts = [part for parts in compiled for part in parts.values()]
        return [*engine.node.namespaces.values(), *parts]


def locate_namespaces(node: str | None = None) -> Mapping[int, str]:
    """Return the names of this node's namespaces by their inodes."""
    return list_inodes(find_namespaces(node=node))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadFacts:
    """What is read of this node, before anything is compiled of it. Local to this module."""

    node: Node
    netns: Mapping[int, str]
    pods: Mapping[str, str]


def read_node(progress: Progress = silent, *, node: str | None = None) -> WatchedNode:
    """Read this node; `node` names its own namespace where that is not process 1's. Needs root."""
    with collecting_nothing():
        return _compile(_read_facts(progress, node))


def read_node_apart(node: str | None = None) -> WatchedNode:
    """Read this node in a process of its own, and take over what it found: that is a small part of
    the work, in which other threads have their turns.
    """
    found = run_apart(lambda: pickle.dumps(_read_facts(silent, node), pickle.HIGHEST_PROTOCOL))
    with collecting_nothing():
        return _compile(pickle.loads(found))  # noqa: S301 - our own copy wrote it


def _read_facts(progress: Progress, node: str | None) -> _ReadFacts:
    found = find_namespaces(node=node)
    netns = list_inodes(found)
    case = read(ThisNode(node=node), progress=progress)
    known = {inode: name for inode, name in netns.items() if name in case.node.namespaces}
    pods = {each.name: each.pod for each in found.collected if each.pod is not None}
    return _ReadFacts(node=case.node, netns=known, pods=pods)


def _compile(facts: _ReadFacts) -> WatchedNode:
    """Compile what the first walks would have to wait for."""
    engine = Engine(facts.node)
    for namespace in facts.node.namespaces.values():
        track_known(engine, namespace)
        for family in WIDTH:
            compile_ruleset(engine, namespace, family)
    return WatchedNode(
        engine=engine, netns=facts.netns, pods=facts.pods, owners=find_owners(facts.node)
    )


def find_owners(node: Node) -> Mapping[Address, str]:
    """Return which pod's namespace has each address, of addresses that one alone has."""
    owners: dict[Address, str] = {}
    shared: set[Address] = set()
    for name, namespace in node.namespaces.items():
        for each in namespace.addresses.items:
            if owners.setdefault(each.address, name) != name:
                shared.add(each.address)
    return {
        address: name
        for address, name in owners.items()
        if node.namespaces[name].role is NetnsRole.POD
        and not (address in shared or address.is_loopback)
    }


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
    """Whether a namespace belongs to the node by now."""

    inode: int
    known: bool


ReadBeside = NodeReading | NamespaceLook
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


class DropExplainer:
    """Explains drops by a model of this node that is kept fresh beside it."""

    def __init__(
        self,
        clock: Clock,
        beside: BesideReader,
        reread: Callable[[], WatchedNode] = read_node,
        locate: Callable[[], Mapping[int, str]] = locate_namespaces,
        patience: float = PATIENCE,
    ) -> None:
        """Read the node for the first time, which everybody waits for; after that not before
        `patience` times as long has passed as it took.
        """
        self._clock, self._beside, self._patience = clock, beside, patience
        self._reread, self._locate = reread, locate
        self._known: dict[DropKey, DropExplanation] = {}
        self._strangers: set[int] = {0}
        """Inodes of namespaces that are none of the node's; 0 stands for none at all."""
        self._looked = clock()
        self._outdated: list[object] = []
        """Parts of the last model, which are let go one by one: all at once takes longer than a
        drop may wait.
        """
        self._reading = self._read()

    def _read(self) -> NodeReading:
        began = self._clock()
        node = self._reread()
        return NodeReading(node=node, began=began, ended=self._clock())

    def _look_for(self, inode: int) -> NamespaceLook:
        return NamespaceLook(inode=inode, known=inode in self._locate())

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
        if drop.time / 1e9 <= self._reading.began:
            return ExplainedDrop(found, 0.0, doubtful=False)
        age = now - self._reading.ended
        aged = age > max(MOST_AGE, 2 * self._patience * self._reading.cost)
        unfit = found.agreement in _UNFIT
        if unfit or aged:
            self._ask(drop.key, aged=aged)
        return ExplainedDrop(found, age, doubtful=unfit or aged)

    def _ask(self, key: DropKey, *, aged: bool) -> None:
        """Begin to read the node beside the telling, where that may find something else. For a
        namespace that is not known, only whether the node has it is looked at first.
        """
        if self._beside.busy:
            return
        if not aged and not self.name(key):
            if key.inode in self._strangers or self._clock() - self._looked < LOOK_AGAIN:
                return
            self._looked = self._clock()
            self._beside.begin(partial(self._look_for, key.inode))
        elif self._may_read():
            self._beside.begin(self._read)

    def _may_read(self) -> bool:
        return self._clock() - self._reading.ended > self._patience * self._reading.cost

    def refresh(self, seconds: float = 0.0) -> bool:
        """Take over what was read beside, waiting for it so many seconds; tell whether the model is
        a new one.
        """
        if self._outdated:
            self._outdated.pop()
        match self._beside.take(seconds):
            case NodeReading() as reading:
                self._outdated += [*self._known.values(), *self._reading.node.list_parts()]
                self._reading = reading
                self._known.clear()
                return True
            case NamespaceLook(known=False, inode=inode):
                self._strangers.add(inode)
            case NamespaceLook() if self._may_read():
                self._beside.begin(self._read)
            case _:
                pass
        return False

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
                self._source.wait(min(left, 0.1))
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
