"""A watch over drops that are made up: what is told, when the node is read again, and what is left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from podpath.collect.drop_program import DropLosses
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey, HeardDrop
from podpath.drops.tally import FlowCount
from podpath.library.watch import DropExplainer, DropWatch, ToldDrop, ToldTurn, WatchedNode
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node, ip

SYN = Packet(ip("10.244.0.5"), ip("198.51.100.7"), protocols.TCP, 40000, 80, protocols.SYN)
HOME, STRANGE, NEW = 7, 8, 9


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        """Begin at a hundred seconds."""
        self.now = 100.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


def drop(
    reason: str = "NETFILTER_DROP", *, inode: int = HOME, time: float = 101.0, sport: int = 40000
) -> HeardDrop:
    """Return a drop of a SYN from the pods' bridge."""
    packet = SYN._replace(sport=sport)
    key = DropKey(reason, 1, inode, 2, 2, 0x0800, 6, 2, sport, 80, SYN.src, SYN.dst)
    return HeardDrop(key, int(time * 1e9), packet)


def node(*routes: str) -> Node:
    """Return a host between pods and the world."""
    host = given_netns(
        "host", "cni0 10.244.0.1/24", "eth0 192.0.2.1/24",
        routes=["default via 192.0.2.254 dev eth0", *routes], sysctls=forwarding(),
    )  # fmt: skip
    first, second = (link for link in host.links.items if link.name != "lo")
    links = (replace(first, ifindex=2), replace(second, ifindex=3))
    return given_node(replace(host, links=Listing(links, True, "ip link")))


class Made:
    """A node that changes, and a source that tells what a test puts into it."""

    lacks = ""

    def __init__(self) -> None:
        """Begin with a node that drops nothing."""
        self.clock = Clock()
        self.node = node()
        self.netns: Mapping[int, str] = {HOME: "host"}
        self.reads = 0
        self.cost = 0.5
        self.looks = 0
        self.drops: list[HeardDrop] = []
        self.flows: list[FlowCount] = []

    def reread(self) -> WatchedNode:
        """Read the node, which takes its time."""
        self.reads += 1
        self.clock.now += self.cost
        return WatchedNode(engine=Engine(self.node), netns=self.netns)

    def locate(self) -> Mapping[int, str]:
        """Say which namespaces there are."""
        self.looks += 1
        return self.netns

    def explainer(self) -> DropExplainer:
        """Return an explainer of the node."""
        return DropExplainer(self.clock, self.reread, self.locate)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.now += seconds

    def read(self) -> Sequence[HeardDrop]:
        """Tell what was put in."""
        told, self.drops = self.drops, []
        return told

    def take_flows(self) -> Sequence[FlowCount]:
        """Tell the counts."""
        told, self.flows = self.flows, []
        return told

    def count_losses(self) -> DropLosses:
        """Say that nothing was lost."""
        return DropLosses(0, 0, 0, 0)

    def read_run_time(self) -> int:
        """Say that it cost nothing."""
        return 0

    def name(self, key: DropKey) -> str:
        """Name the function."""
        return f"function{key.location}"

    def close(self) -> None:
        """Do nothing."""

    def watch(
        self, choice: DropChoice | None = None, netns: frozenset[str] = frozenset()
    ) -> DropWatch:
        """Return a watch of this."""
        return DropWatch(self, self.explainer(), choice or DropChoice(), self.clock, netns)

    def run(self, watch: DropWatch, seconds: float = 1.0) -> list[ToldDrop | ToldTurn]:
        """Run a watch for some time."""
        end = self.clock.now + seconds
        return list(watch.run(0.5, lambda: self.clock.now >= end))


def drops(told: Sequence[ToldDrop | ToldTurn]) -> list[ToldDrop]:
    """Return the drops among what was told."""
    return [one for one in told if isinstance(one, ToldDrop)]


def test_a_disagreement_has_the_node_read_again() -> None:
    """A rule that came after the node was read is found by reading it once more."""
    made = Made()
    explainer = made.explainer()
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 110.0
    found, age = explainer.explain(drop("NOT_SPECIFIED", time=110.0), "f")

    assert (found.agreement, made.reads) == (DropAgreement.NAMED, 2)
    assert age == 0.0


def test_the_node_is_not_read_again_and_again() -> None:
    """Soon after a reading a drop that still does not fit is told as it is, with the model's
    age.
    """
    made = Made()
    explainer = made.explainer()
    made.clock.now = 103.0
    found, age = explainer.explain(drop(time=103.0), "f")

    assert (found.agreement, made.reads) == (DropAgreement.DISAGREES, 1)
    assert age == 2.5


def test_a_drop_from_before_the_reading_has_no_newer_node() -> None:
    """What happened before the node was read cannot be explained by reading it later."""
    made = Made()
    explainer = made.explainer()
    made.clock.now = 130.0
    explainer.explain(drop(time=99.0), "f")

    assert made.reads == 1


def test_an_old_model_is_not_believed_for_ever() -> None:
    """After a minute the node is read again even where the drop fits."""
    made = Made()
    made.node = node("blackhole 198.51.100.0/24")
    explainer = made.explainer()
    for moment, reads in ((130.0, 1), (170.0, 2)):
        made.clock.now = moment
        assert (
            explainer.explain(drop("NOT_SPECIFIED", time=moment), "f")[0].agreement
            is DropAgreement.NAMED
        )
        assert made.reads == reads


def test_strange_namespaces_cost_one_look() -> None:
    """A namespace of another node on the machine is looked for once; a new pod has the node
    read.
    """
    made = Made()
    explainer = made.explainer()
    for moment in (110.0, 120.0):
        made.clock.now = moment
        found, _ = explainer.explain(drop(inode=STRANGE, time=moment), "f")
        assert found.agreement is DropAgreement.ELSEWHERE
    assert (made.looks, made.reads) == (1, 1)

    made.netns = {HOME: "host", NEW: "host"}
    made.clock.now = 130.0
    explainer.explain(drop(inode=NEW, time=130.0), "f")
    assert (made.looks, made.reads) == (2, 2)


def test_each_flow_is_told_once() -> None:
    """The same drop again is in the counts alone, also from another port of the client's."""
    made = Made()
    watch = made.watch()
    made.drops = [drop(), drop(), drop(sport=41000)]
    made.flows = [FlowCount(drop().key, 2, 80), FlowCount(drop(sport=41000).key, 1, 40)]
    told = made.run(watch)
    (turn,) = (one for one in told if isinstance(one, ToldTurn) and one.turn.flows)

    assert [one.function for one in drops(told)] == ["function1"]
    assert [(flow.packets, flow.size) for flow in turn.turn.flows] == [(3, 120)]
    assert watch.tally.total == 3
    assert watch.recall(turn.turn.flows[0].key) is drops(told)[0]


def test_another_explanation_is_told() -> None:
    """Where the same flow is dropped by something else now, it is told again."""
    made = Made()
    watch = made.watch()
    made.drops = [drop("NOT_SPECIFIED", time=100.0)]
    made.run(watch)
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 200.0
    made.drops = [drop("NOT_SPECIFIED", time=200.0)]

    assert [one.explanation.agreement for one in drops(made.run(watch))] == [DropAgreement.NAMED]


def test_what_is_left_out_is_counted() -> None:
    """Daily life and other namespaces are no flows of the answer, and still in a number."""
    made = Made()
    watch = made.watch()
    made.flows = [
        FlowCount(drop().key, 5, 0),
        FlowCount(drop("TCP_OLD_DATA").key, 3, 0),
        FlowCount(drop(inode=STRANGE).key, 2, 0),
    ]
    made.drops = [drop(inode=STRANGE), drop("TCP_OLD_DATA")]
    told = made.run(watch)

    assert drops(told) == []
    assert (watch.tally.total, watch.tally.daily) == (5, 5)


def test_namespaces_are_chosen_by_name() -> None:
    """Only drops of the pods that are asked for are told."""
    made = Made()
    made.drops = [drop()]
    assert drops(made.run(made.watch(netns=frozenset({"web-0"})))) == []
    made.drops = [drop()]
    assert len(drops(made.run(made.watch(netns=frozenset({"host"}))))) == 1
