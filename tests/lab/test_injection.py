"""Single frames put on a device, whatever they hold."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import ConversationFailure
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.node.node import Node
from podpath_lab.injection import inject
from podpath_lab.topologies import routed_pods

FRAME = Packet(
    Address.parse("10.1.0.2"), Address.parse("10.1.0.3"), protocols.TCP, 40000, 81, protocols.SYN,
    length=40, smac=Mac("02:00:00:00:01:00"), dmac=Mac("02:00:00:00:01:01"),
)  # fmt: skip


def given_node() -> Node:
    """Return a node with two routed pods where nobody listens."""
    return routed_pods().draft.freeze(ports=())


def test_a_frame_that_arrives_is_refused_where_nobody_listens() -> None:
    """The pod that gets a SYN answers with a reset, which is walked too."""
    branch = inject(given_node(), "pod1", "eth0", FRAME).branches[0]
    assert branch.works
    assert ["RST"] == [answer.name for answer in branch.answers]


def test_a_bad_checksum_is_not_answered() -> None:
    """What the transport protocol throws away makes no reset."""
    assert (
        ()
        == inject(given_node(), "pod1", "eth0", FRAME._replace(bad_checksum=True))
        .branches[0]
        .answers
    )


def test_a_ttl_that_ends_is_told() -> None:
    """The router sends an ICMP time exceeded."""
    branch = inject(given_node(), "pod1", "eth0", FRAME._replace(ttl=1)).branches[0]
    assert ["icmp-ttl-exceeded"] == [answer.name for answer in branch.answers]


def test_a_frame_for_another_mac_ends_at_the_device() -> None:
    """IP never sees a frame that is for somebody else."""
    branch = inject(
        given_node(), "pod1", "eth0", FRAME._replace(dmac=Mac("02:00:00:00:99:99"))
    ).branches[0]
    assert isinstance(branch.last.outcome, Dropped)
    assert not branch.works


def test_the_verdict_says_whether_the_frame_arrives() -> None:
    """A frame for nobody's MAC does not, and why is told."""
    arrives = inject(given_node(), "pod1", "eth0", FRAME)
    strange = FRAME._replace(dmac=Mac("02:00:00:00:99:99"))
    lost = inject(given_node(), "pod1", "eth0", strange)

    assert ("ALWAYS", "NEVER") == (arrives.verdict, lost.verdict)
    assert (None, ConversationFailure.NONE) == (
        arrives.branches[0].failure,
        arrives.branches[0].kind,
    )
    assert ConversationFailure.DROPPED is lost.branches[0].kind
    assert lost.branches[0].failure is not None
    assert () == lost.branches[0].answers
