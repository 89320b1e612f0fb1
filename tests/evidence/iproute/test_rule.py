"""`ip rule`: every selector and action, from text and from JSON."""

from __future__ import annotations

import pytest

from podpath.evidence import recognition
from podpath.evidence.node_records import PolicyRuleRecord
from podpath.evidence.records import Reading
from podpath.net import protocols
from podpath.net.addresses import MaskedMark, PortRange
from tests.evidence.consoles import block, read, recorded, stated


def rules(reading: Reading) -> dict[int | None, PolicyRuleRecord]:
    """Return the rules of a reading by priority."""
    return {
        record.priority: record
        for record in reading.records
        if isinstance(record, PolicyRuleRecord)
    }


@pytest.mark.parametrize(
    ("text", "structured"), [("ip-rule", "ip-j-rule"), ("ip-d-rule", "ip-d-j-p-rule")]
)
def test_text_and_json_give_the_same_records(text: str, structured: str) -> None:
    """Every selector of every rule comes out alike."""
    assert [stated(record) for record in read(recorded(text)).records] == [
        stated(record) for record in read(recorded(structured)).records
    ]


@pytest.fixture(params=["ip-rule", "ip-j-rule"])
def listing(request: pytest.FixtureRequest) -> dict[int | None, PolicyRuleRecord]:
    """Provide the recorded rules, read from each form."""
    return rules(read(recorded(request.param)))


def test_prefixes_and_devices_are_selectors(listing: dict[int | None, PolicyRuleRecord]) -> None:
    """`from all` selects nothing, so it is None."""
    rule = listing[100]

    assert ("10.244.0.0/16", "10.96.0.0/12", "cni0", "100") == (
        str(rule.src),
        str(rule.dst),
        rule.iif,
        rule.table,
    )
    assert (None, None, "main") == (listing[32766].src, listing[32766].dst, listing[32766].table)


def test_marks_keep_their_mask_and_rules_their_negation(
    listing: dict[int | None, PolicyRuleRecord],
) -> None:
    """`not` turns all selectors of the rule."""
    assert (True, MaskedMark(0x4000, 0xC000), "200") == (
        listing[101].negated,
        listing[101].mark,
        listing[101].table,
    )
    assert (False, MaskedMark(0x10), "eth0", 0) == (
        listing[102].negated, listing[102].mark, listing[102].oif,
        listing[102].suppress_prefixlength,
    )  # fmt: skip
    assert MaskedMark(0, 0xFF) == listing[111].mark


def test_protocols_ports_and_users_are_selectors(
    listing: dict[int | None, PolicyRuleRecord],
) -> None:
    """A single port is a range of one."""
    rule = listing[103]

    assert (protocols.TCP, PortRange(1000, 2000), PortRange(443, 443), PortRange(0, 99)) == (
        rule.protocol, rule.sport, rule.dport, rule.uids,
    )  # fmt: skip


def test_actions_are_kept(listing: dict[int | None, PolicyRuleRecord]) -> None:
    """A rule may send on to another rule, refuse, or do nothing."""
    assert ["goto", "goto", "prohibit", "unreachable", "blackhole", "nop", "lookup"] == [
        listing[priority].action for priority in (104, 105, 106, 107, 108, 109, 1000)
    ]
    assert (32766, 0x10, 9999, "gone0") == (
        listing[104].goto,
        listing[104].tos,
        listing[105].goto,
        listing[108].iif,
    )
    assert (True, None) == (listing[1000].l3mdev, listing[1000].table)


def test_a_selector_that_is_not_known_stays_as_it_is_spelled() -> None:
    """Without it the rule would match too much: whether it counts is for the walk to ask."""
    for name in ("ip-rule", "ip-j-rule"):
        reading = read(recorded(name))
        assert not reading.gaps
        assert "suppress_ifgroup" in rules(reading)[110].unread


def test_the_family_comes_from_prefixes_or_from_the_command() -> None:
    """`ip -6 rule` prints `from all` as IPv4 does."""
    assert {6} == {rule.family for rule in rules(read(recorded("ip-6-rule"))).values()}
    assert {4} == {rule.family for rule in rules(read(recorded("ip-rule"))).values()}


@pytest.mark.parametrize(
    "line",
    [
        "9:\tfrom all fwmark 0x200/0xf00 lookup 2004",
        "0: from all lookup local",
        "5:  not from 10.0.0.0/8 lookup 7",
    ],
)
def test_one_line_is_enough(line: str) -> None:
    """A single rule without its command is recognised."""
    assert 1 == len(rules(read(block(line))))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("100: from 10.x.x.x lookup 5", "elided"),
        ("100: from all fwmark 0x1/ lookup 5", "a number"),
        ("100: from all iif", "ends after 'iif'"),
        ("100: from all fwmark 0x1", "what the policy rule does"),
    ],
)
def test_what_cannot_be_read_is_a_gap(line: str, why: str) -> None:
    """A rule that is not wholly understood is not half believed."""
    reading = read(block(f"0: from all lookup local\n{line}", "ip rule"))

    assert ([0], [(2, True)]) == (
        list(rules(reading)),
        [(gap.span.line, why in gap.why) for gap in reading.gaps],
    )


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ('"fwmask":"0xff"', "expected fwmark beside fwmask"),
        ('"dstlen":24', "expected dst beside dstlen"),
    ],
)
def test_half_a_selector_is_a_gap(members: str, why: str) -> None:
    """A width without what it belongs to is an object that something has damaged."""
    text = f'[{{"priority":5,"src":"all",{members},"table":"7"}}]'
    reading = read(block(text, "ip -j rule"))

    assert {} == rules(reading)
    assert [True] == [why in gap.why for gap in reading.gaps]


@pytest.mark.parametrize(
    "text", ["1: from all of us, have a look", "3: from 10.0.0.1 came a packet"]
)
def test_numbered_sentences_are_no_rules(text: str) -> None:
    """A list in prose may begin alike."""
    assert None is recognition.recognise(block(text))
