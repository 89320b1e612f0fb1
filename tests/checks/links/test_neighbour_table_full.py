"""The neighbour table is full where the kernel says so."""

from __future__ import annotations

from podpath.checks.links.neighbour_table_full import check
from podpath.net.messages import Message, MessageKind
from podpath.node.case import Case
from podpath.report.sentences.narrative import spell_link
from tests.checks.nodes import netns, node, span


def case(*kinds: MessageKind) -> Case:
    """Make a case in which the kernel said these, each five times."""
    said = tuple(Message(kind, {}, span(f"kernel: {kind}"), 5) for kind in kinds)
    return Case(node=node(netns()), messages=said)


def test_the_kernels_own_word_is_enough() -> None:
    """The finding quotes the line and says how often it was said."""
    (found,) = check(case(MessageKind.NEIGHBOUR_TABLE_FULL))
    assert [str(one.text) for one in found.evidence] == ["kernel: neighbour table full"]
    assert "5 times" in spell_link(found.reasoning[0])


def test_another_table_is_none_of_it() -> None:
    """A full conntrack table is another fault."""
    assert not list(check(case(MessageKind.CONNTRACK_TABLE_FULL)))
