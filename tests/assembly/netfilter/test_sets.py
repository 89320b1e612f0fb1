"""Outputs of ipset to sets."""

from __future__ import annotations

import pytest

from podpath.assembly.netfilter.sets import SetsAssembly, assemble_sets
from tests.assembly.evidence_text import Output, read_outputs

PODS = "create pods hash:ip,port family inet\nadd pods 10.0.0.1,tcp:80\nadd pods 10.0.0.2,udp:53"


def sets(*outputs: Output) -> SetsAssembly:
    """Put outputs together."""
    return assemble_sets(read_outputs(*outputs))


def test_members_belong_to_their_set() -> None:
    """By name, in their dimensions."""
    (pods,) = sets(Output("ipset save", PODS)).by_family[4].values()

    assert [member.parts for member in pods.members] == [
        ("10.0.0.1", "tcp:80"),
        ("10.0.0.2", "udp:53"),
    ]
    assert (pods.type, pods.family, pods.complete) == ("hash:ip,port", 4, True)


@pytest.mark.parametrize(
    ("command", "complete"),
    [
        ("ipset save", True),
        ("ipset save pods", False),
        ("ipset list", True),
        ("ipset save | grep pods", False),
        (None, False),
    ],
)
def test_only_a_listing_of_all_sets_lists_all(command: str | None, complete: bool) -> None:  # noqa: FBT001  # a column
    """A name or a filter leaves sets out."""
    assert sets(Output(command, PODS)).complete is complete


def test_sets_without_a_family_are_of_both() -> None:
    """A list of sets can be matched by rules of either family."""
    found = sets(
        Output("ipset save", "create all list:set size 8\ncreate six hash:net family inet6")
    ).by_family

    assert {family: sorted(own) for family, own in found.items()} == {4: ["all"], 6: ["all", "six"]}


def test_a_terse_or_cut_set_is_not_complete() -> None:
    """Fewer members than it has entries, a filter, an ellipsis."""
    terse = (
        "Name: pods\nType: hash:ip\nRevision: 4\nHeader: family inet\nSize in memory: 1\n"
        "References: 0\nNumber of entries: 2"
    )

    assert not sets(Output("ipset list -t", terse)).by_family[4]["pods"].complete
    assert not sets(Output("ipset save", PODS + "\n...")).by_family[4]["pods"].complete
    assert not sets(Output("ipset save | head", PODS)).by_family[4]["pods"].complete


def test_a_member_without_its_set_is_a_gap() -> None:
    """Its type is not known."""
    found = sets(Output("ipset save | grep 10.0", "add pods 10.0.0.1"))

    assert [gap.why for gap in found.gaps] == ["no output says which type the set pods has"]


def test_the_likelier_state_is_taken() -> None:
    """A good host's set says nothing; a whole one counts more than a part."""
    other = PODS.replace("10.0.0", "10.9.9")
    found = sets(
        Output("ipset save", other, label="On a good host:"),
        Output("ipset save | head -2", PODS),
        Output("ipset save", PODS),
    )

    assert [member.parts[0] for member in found.by_family[4]["pods"].members] == [
        "10.0.0.1",
        "10.0.0.2",
    ]
    assert found.by_family[4]["pods"].complete
