"""A watch over drops that are made up: what is told, when the node is read again, and what is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from podpath.collect.changes import HeardChanges
from podpath.collect.drop_program import DropLosses
from podpath.collect.netns_files import NetnsAspect
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.freed import DropAgreement
from podpath.drops.choice import DropChoice
from podpath.drops.events import DropKey, DropNames, HeardDrop
from podpath.drops.tally import FlowCount
from podpath.library.watch import (
    DropExplainer,
    DropWatch,
    PartReaders,
    ReadBeside,
    ToldDrop,
    ToldTurn,
)
from podpath.library.watched_node import RereadNode, WatchedNode, find_owners
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Listing
from podpath.node.node import NetnsRole, Node
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


class Beside:
    """Work that is begun at once, and whose result is there when a test says so, or it is waited
    for.
    """

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._found: list[ReadBeside] = []
        self.done = False

    @property
    def busy(self) -> bool:
        """Tell whether a result is there or to come."""
        return bool(self._found)

    def begin(self, work: Callable[[], ReadBeside]) -> None:
        """Do the work, and keep what came of it."""
        self._found.append(work())

    def take(self, seconds: float = 0.0) -> ReadBeside | None:
        """Hand out what came of it."""
        return self._found.pop() if self._found and (self.done or seconds > 0) else None


class Made:
    """A node that changes, and a source that tells what a test puts into it."""

    lacks = ""

    def __init__(self) -> None:
        """Begin with a node that drops nothing."""
        self.clock = Clock()
        self.beside = Beside()
        self.node = node()
        self.netns: Mapping[int, str] = {HOME: "host"}
        self.pods: Mapping[str, str] = {}
        self.owners: Mapping[Address, str] = {}
        self.reads = 0
        self.cost = 0.5
        self.looks = 0
        self.drops: list[HeardDrop] = []
        self.flows: list[FlowCount] = []

    def reread(self) -> WatchedNode:
        """Read the node, which takes its time."""
        self.reads += 1
        self.clock.now += self.cost
        return WatchedNode(
            engine=Engine(self.node), netns=self.netns, pods=self.pods, owners=self.owners
        )

    def locate(self) -> Mapping[int, str]:
        """Say which namespaces there are."""
        self.looks += 1
        return self.netns

    def explainer(self) -> DropExplainer:
        """Return an explainer of the node."""
        return DropExplainer(self.clock, self.beside, self.reread, self.locate)

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
    """A drop is explained by what is known, and the node read beside; a rule that came after the
    node was read is found then.
    """
    made = Made()
    explainer = made.explainer()
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 110.0
    heard = drop("NOT_SPECIFIED", time=109.0)
    first = explainer.explain(heard, "f")
    assert (first.explanation.agreement, first.doubtful) == (DropAgreement.DISAGREES, True)
    assert (first.age, made.reads, made.beside.busy) == (9.5, 2, True)
    assert not explainer.refresh()

    made.beside.done = True
    assert explainer.refresh()
    second = explainer.explain(heard, "f")
    assert (second.explanation.agreement, second.doubtful) == (DropAgreement.NAMED, False)
    assert second.age == 0.0


def test_the_node_is_not_read_again_and_again() -> None:
    """Soon after a reading a drop that still does not fit is told as it is, with the model's
    age.
    """
    made = Made()
    explainer = made.explainer()
    made.clock.now = 103.0
    found = explainer.explain(drop(time=103.0), "f")

    assert (found.explanation.agreement, made.reads) == (DropAgreement.DISAGREES, 1)
    assert (found.age, found.doubtful) == (2.5, True)


def test_one_reading_at_a_time() -> None:
    """While the node is read, drops that do not fit begin no other reading."""
    made = Made()
    explainer = made.explainer()
    for moment in (110.0, 130.0, 150.0):
        made.clock.now = moment
        explainer.explain(drop(time=moment), "f")

    assert made.reads == 2


def test_a_drop_from_before_the_reading_has_no_newer_node() -> None:
    """What happened before the node was read cannot be explained by reading it later."""
    made = Made()
    explainer = made.explainer()
    made.clock.now = 130.0
    found = explainer.explain(drop(time=99.0), "f")

    assert (found.age, found.doubtful, made.reads) == (0.0, False, 1)


def test_an_old_model_is_not_believed_for_ever() -> None:
    """After a minute the node is read again even where the drop fits, which is doubtful until
    then.
    """
    made = Made()
    made.node = node("blackhole 198.51.100.0/24")
    explainer = made.explainer()
    for moment, reads, doubtful in ((130.0, 1, False), (170.0, 2, True)):
        made.clock.now = moment
        found = explainer.explain(drop("NOT_SPECIFIED", time=moment), "f")
        assert found.explanation.agreement is DropAgreement.NAMED
        assert (made.reads, found.doubtful) == (reads, doubtful)


class Kept(Made):
    """A node whose namespaces are read again by themselves, as changes are announced."""

    def __init__(self) -> None:
        """Begin with nothing announced; all readings are there when they are asked for."""
        super().__init__()
        self.announced: dict[int | None, NetnsAspect] = {}
        self.lost = False
        self.wanted: list[Mapping[str, NetnsAspect]] = []
        self.spent, self.refused = 0.05, False
        self.beside.done = True
        self.hearing = KeptChanges(self)

    def again(self, before: WatchedNode, wanted: Mapping[str, NetnsAspect]) -> RereadNode:
        """Read namespaces, which takes its time."""
        self.wanted.append(wanted)
        self.clock.now += 0.1
        found = {name: (aspect, self.node.namespaces[name]) for name, aspect in wanted.items()}
        return RereadNode(None if self.refused else before.renew(found), self.spent)

    def reread(self) -> WatchedNode:
        """Read the node with a number for its own namespace."""
        return replace(super().reread(), numbers={None: "host"})

    def explainer(self) -> DropExplainer:
        """Return an explainer of the node."""
        parts = PartReaders(self.again, self.hearing)
        return DropExplainer(self.clock, self.beside, self.reread, self.locate, parts=parts)


class KeptChanges:
    """What hears of the changes that a test announces."""

    def __init__(self, made: Kept) -> None:
        """Be of a node."""
        self._made = made

    def read(self) -> HeardChanges:
        """Tell what was announced since."""
        heard, self._made.announced = self._made.announced, {}
        return HeardChanges(heard, self._made.lost)


BLACKHOLE = "blackhole 198.51.100.0/24"


def test_what_is_announced_is_read_by_itself() -> None:
    """Before any drop meets it, which then is explained by what was just read."""
    made = Kept()
    explainer = made.explainer()
    made.clock.now, made.node = 110.0, node(BLACKHOLE)
    made.announced = {None: NetnsAspect.ROUTES, 99: NetnsAspect.WHOLE}  # 99 is none of the node's
    assert not explainer.refresh()
    assert explainer.busy
    assert explainer.refresh()

    found = explainer.explain(drop("NOT_SPECIFIED", time=110.05), "f")
    assert found.explanation.agreement is DropAgreement.NAMED
    assert made.wanted == [{"host": NetnsAspect.ROUTES}]
    assert made.reads == 1


def test_a_drop_meanwhile_is_explained_again() -> None:
    """It is told at once, as it was; what is being read may say otherwise."""
    made = Kept()
    watch = made.watch()
    made.clock.now, made.node = 110.0, node(BLACKHOLE)
    made.announced = {None: NetnsAspect.ROUTES}
    made.drops = [drop("NOT_SPECIFIED", time=110.0)]

    assert [one.explanation.agreement for one in drops(made.run(watch))] == [
        DropAgreement.DISAGREES,
        DropAgreement.NAMED,
    ]
    assert made.wanted == [{"host": NetnsAspect.ROUTES}]


def test_a_drop_that_does_not_fit_has_its_namespace_read() -> None:
    """What the kernel's reason is about first, where nothing was announced; then all of it."""
    made = Kept()
    explainer = made.explainer()
    for moment in (110.0, 111.0):
        made.clock.now = moment
        explainer.explain(drop(time=110.0), "f")
        assert explainer.refresh()
    found = explainer.explain(drop(time=110.0), "f")

    assert made.wanted == [{"host": NetnsAspect.RULES}, {"host": NetnsAspect.WHOLE}]
    assert (found.explanation.agreement, found.age) == (DropAgreement.DISAGREES, 0.0)
    assert (made.reads, explainer.busy) == (1, False)


def test_what_changed_since_says_nothing_of_a_drop() -> None:
    """No disagreement is claimed where the node was another when it dropped the packet."""
    made = Kept()
    explainer = made.explainer()
    made.clock.now = 111.0
    made.announced = {None: NetnsAspect.WHOLE}
    explainer.refresh()
    assert explainer.refresh()
    found = explainer.explain(drop(time=110.0), "f")

    assert found.explanation.agreement is DropAgreement.DISAGREES
    assert found.age > 0
    assert not explainer.busy


def test_reading_again_takes_a_bounded_share() -> None:
    """A second at once, then 15 % of a processor, however much is announced."""
    made = Kept()
    made.spent = 0.4
    explainer = made.explainer()
    began = made.clock.now
    while made.clock.now < began + 100:
        made.announced = {None: NetnsAspect.RULES}
        explainer.refresh()
        made.clock.now += 0.05
    assert 0.4 * len(made.wanted) == pytest.approx(1 + 0.15 * 100, abs=0.5)


@pytest.mark.parametrize("lost", [False, True])
def test_what_cannot_be_read_by_itself_has_the_node_read(lost: bool) -> None:  # noqa: FBT001
    """Where its devices are others by now, or more was announced than was heard."""
    made = Kept()
    explainer = made.explainer()
    made.clock.now = 130.0
    made.refused, made.lost = not lost, lost
    made.announced = {None: NetnsAspect.WHOLE}
    for _ in range(3):
        explainer.refresh()
        made.lost = False

    assert made.reads == 2


def test_what_is_no_packet_has_nothing_read() -> None:
    """No state of a node explains a frame of another protocol."""
    made = Kept()
    explainer = made.explainer()
    made.clock.now = 110.0
    found = explainer.explain(drop("IP_INHDR", time=110.0)._replace(packet=None), "f")

    assert (found.explanation.agreement, found.doubtful) == (DropAgreement.ELSEWHERE, False)
    assert not explainer.busy


def test_strange_namespaces_cost_one_look() -> None:
    """A namespace of another node on the machine is looked for once; a new pod has the node
    read.
    """
    made = Made()
    made.beside.done = True
    explainer = made.explainer()
    for moment in (110.0, 120.0):
        made.clock.now = moment
        found = explainer.explain(drop(inode=STRANGE, time=moment), "f")
        assert found.explanation.agreement is DropAgreement.ELSEWHERE
        assert not explainer.refresh()
    assert (made.looks, made.reads) == (1, 1)

    made.netns = {HOME: "host", NEW: "host"}
    made.clock.now = 130.0
    explainer.explain(drop(inode=NEW, time=130.0), "f")
    assert (made.looks, made.reads) == (2, 1)
    assert (explainer.refresh(), made.reads) == (False, 2)
    assert explainer.refresh()


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


def test_new_flows_come_before_more_of_the_same() -> None:
    """Where much begins at once, each flow is told before other ports of one client's are looked
    at.
    """
    made = Made()
    watch = made.watch()
    other = drop("TCP_CSUM")
    walked: list[int] = []
    name = made.name

    def note(key: DropKey) -> str:
        walked.append(key.sport)
        return name(key)

    made.name = note  # type: ignore[method-assign]  # to see the order
    made.drops = [drop(), drop(sport=41000), other._replace(key=other.key._replace(sport=7))]
    told = drops(made.run(watch))

    assert [one.drop.key.sport for one in told] == [40000, 7]
    assert walked[:3] == [40000, 7, 41000]


def test_drops_are_told_while_many_flows_are_counted() -> None:
    """The end of a turn with many flows keeps no drop waiting for all of them."""
    made = Made()
    watch = made.watch()
    key = drop().key
    made.flows = [FlowCount(key._replace(dport=1 + number), 1, 40) for number in range(1000)]
    counted: list[int] = []
    flows = made.take_flows()

    def take_flows() -> Iterator[FlowCount]:
        for number, one in enumerate(flows):
            if number == 300:
                made.drops = [drop()]
            counted.append(number)
            yield one

    made.take_flows = take_flows  # type: ignore[assignment,method-assign]  # as the kernel's are
    running = watch.run(0.5, lambda: False)

    assert isinstance(next(running), ToldDrop)
    assert 300 < len(counted) < 1000
    turn = next(running)
    assert isinstance(turn, ToldTurn)
    assert len(turn.turn.flows) == 1000


def test_the_last_model_is_let_go_bit_by_bit() -> None:
    """Freeing all of a large node at once would keep drops waiting; in the end nothing of it is
    held.
    """
    made = Made()
    made.beside.done = True
    explainer = made.explainer()
    first = explainer._reading.node.list_parts()[0]
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 110.0
    explainer.explain(drop("NOT_SPECIFIED", time=109.0), "f")
    assert explainer.refresh()

    assert any(part is first for part in explainer._outdated)
    for _ in range(len(explainer._outdated)):
        explainer.refresh()
    assert explainer._outdated == []


def test_another_explanation_is_told() -> None:
    """Where the same flow is dropped by something else now, it is told again."""
    made = Made()
    watch = made.watch()
    made.drops = [drop("NOT_SPECIFIED", time=100.0)]
    made.run(watch)
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 200.0
    made.drops = [drop("NOT_SPECIFIED", time=200.0)]
    made.beside.done = True

    assert [one.explanation.agreement for one in drops(made.run(watch))] == [
        DropAgreement.DISAGREES,
        DropAgreement.NAMED,
    ]


def test_a_drop_does_not_wait_for_the_node() -> None:
    """It is told at once by the model that there is, and again once the node was read anew; the
    end waits for a reading that is under way.
    """
    made = Made()
    made.cost = 0.0
    watch = made.watch()
    made.node = node("blackhole 198.51.100.0/24")
    made.clock.now = 110.0
    made.drops = [drop(time=110.0)]
    told = drops(made.run(watch, 0.3))

    assert [(one.explanation.agreement, one.age > 0) for one in told] == [
        (DropAgreement.DISAGREES, True),
        (DropAgreement.OTHERWISE, False),
    ]


def test_a_new_pods_drop_is_told_once_its_namespace_is_known() -> None:
    """A drop in a namespace that came after the reading is kept until the node was read anew."""
    made = Made()
    made.beside.done = True
    watch = made.watch()
    made.netns = {HOME: "host", NEW: "host"}
    made.clock.now = 110.0
    made.drops = [drop(inode=NEW, time=110.0)]
    told = drops(made.run(watch))

    assert [(one.explanation.netns, one.age) for one in told] == [("host", 0.0)]


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


@pytest.mark.parametrize("wanted", ["web-0", "shop/web-0"])
def test_what_is_dropped_of_a_pods_packets_elsewhere_is_its_own(wanted: str) -> None:
    """A pod is asked for by either name: its packets that the host drops count, others do not."""
    made = Made()
    made.pods, made.owners = {"web-0": "shop/web-0"}, {SYN.src: "web-0"}
    other = drop()._replace(key=drop().key._replace(src=ip("10.244.0.9")))
    made.drops = [drop(), other]
    watch = made.watch(netns=frozenset({wanted}))
    (told,) = drops(made.run(watch))

    assert watch.name_all(told.drop.key) == DropNames("host", "", "shop/web-0", "")


def test_an_address_that_two_namespaces_have_names_nobody() -> None:
    """Only what one pod alone has is a name for it; loopback is everybody's."""
    pods = [
        replace(
            given_netns(name, f"eth0 {address}", "lo 127.0.0.1/8", routes=[]), role=NetnsRole.POD
        )
        for name, address in (("a", "10.0.0.2/24"), ("b", "10.0.0.3/24"), ("c", "10.0.0.3/24"))
    ]
    host = given_netns("host", "eth0 192.0.2.1/24", routes=[])

    assert find_owners(given_node(host, *pods)) == {ip("10.0.0.2"): "a"}


def test_a_count_says_what_is_known_beside() -> None:
    """The function, and what was told of the flow last."""
    made = Made()
    watch = made.watch()
    made.drops = [drop()]
    made.flows = [FlowCount(drop().key, 2, 80)]
    turn = next(one for one in made.run(watch) if isinstance(one, ToldTurn) and one.turn.flows).turn
    count = watch.count(turn.flows[0])

    assert (count.function, count.names.netns) == ("function1", "host")
    assert count.explanation is not None
    assert count.explanation.agreement is DropAgreement.DISAGREES
