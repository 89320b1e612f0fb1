"""Which suppositions are worth a world of their own, and what a world says of a symptom."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.tracing.trace import Branch, Conversation, Dropped, Trace
from podpath.datapath.vocabulary import Reachability
from podpath.diagnosis.connections import ConnectionFrame, FramePlace, Observed
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.worlds import World, _has_part, judge, list_worlds
from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, ip, listening, probe, span
from tests.diagnosis.test_repairs import DROP, cause_of, node


def test_what_a_part_of_the_suppositions_explains_needs_no_further_ones() -> None:
    """Of the same world; another one's suppositions are another matter."""
    one, two = ("FORWARD", 1), ("rp_filter", 2)
    seen = {(0, frozenset({one}))}

    assert _has_part(seen, (0, frozenset({one, two})))
    assert not _has_part(seen, (0, frozenset({one})))
    assert not _has_part(seen, (1, frozenset({one, two})))


ASKED, OTHER = (probe(f"tcp 10.1.0.2 > 10.2.0.2:{port} from pod") for port in (80, 443))


def unsettled_node() -> Node:
    """Return two pods and a host of which nothing says whether it forwards."""
    return given_node(
        given_netns(
            "host",
            "a 10.1.0.1/24 peer pod:eth0",
            "b 10.2.0.1/24 peer far:eth0",
            netns={"sysctls_complete": False},
        ),
        given_netns(
            "pod", "eth0 10.1.0.2/24 peer host:a", routes=["default via 10.1.0.1 dev eth0"]
        ),
        given_netns(
            "far",
            "eth0 10.2.0.2/24 peer host:b",
            routes=["default via 10.2.0.1 dev eth0"],
            netns={"sockets": listening(80, 443)},
        ),
    )


def test_a_connection_that_works_hides_none_that_fails_behind_it() -> None:
    """Each symptom that fails brings its worlds, whatever stands before it."""
    worked, failed = Symptom(probe=OTHER, fails=False), Symptom(probe=ASKED, fails=True)
    base = World(unsettled_node())
    worlds = list(list_worlds(base, (), (worked, failed)))

    assert worlds[0] is base
    assert [] != worlds[1:]
    assert [world.suppositions for world in worlds] == [
        world.suppositions for world in list_worlds(base, (), (failed, worked))
    ]


class GivenWorld(World):
    """A world in which each connection has the given branches."""

    def __init__(self, *branches: Branch) -> None:
        """Take the branches, the likeliest first."""
        super().__init__(unsettled_node())
        self.branches = branches

    def converse(self, probe: Probe) -> Conversation:
        """Return them for whatever is asked."""
        return Conversation(
            probe=probe, branches=self.branches, verdict=Reachability.UNDECIDED, truncated=False
        )


def branch(works: bool | None, *traces: Trace) -> Branch:  # noqa: FBT001  # a column
    """Make a branch in which nothing is assumed."""
    return Branch(assumptions=(), traces=traces, works=works)


def test_what_fails_though_it_works_in_a_world_contradicts_it() -> None:
    """Where the walk is open, nothing is said yet."""
    failed = Symptom(probe=ASKED, fails=True)

    assert Fit.CONTRADICTS is judge(GivenWorld(branch(True)), failed).fit
    assert Fit.UNDECIDED is judge(GivenWorld(branch(True), branch(None)), failed).fit


def test_of_branches_that_all_contradict_what_was_seen_the_nearest_is_told() -> None:
    """The one that less speaks against."""
    dropped = cause_of(node(DROP)).trace
    inside = replace(dropped, outcome=Dropped(netns="pod", reason="NETFILTER_DROP"))
    elsewhere = dropped.packet._replace(dst=ip("203.0.113.77"))
    frame = ConnectionFrame(
        "SYN", True, elsewhere, FramePlace(0, None, None, None), None, span("?")
    )
    symptom = Symptom(
        probe=ASKED,
        fails=True,
        passed=(span("ESTABLISHED src=10.1.0.2 dst=203.0.113.9"),),
        observed=(Observed(probe=ASKED, seen=(frame,), missing=()),),
    )
    far, near = branch(False, dropped), branch(False, inside)
    judgement = judge(GivenWorld(far, near), symptom)

    assert (Fit.CONTRADICTS, near) == (judgement.fit, judgement.branch)
    assert ["?"] == [line.text for line in judgement.agreement.against]
