"""Messages are found wherever a line says them, once for each thing that they say, and cost nothing
where there are none.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.messages.endings import ASIDE
from podpath.evidence.messages.table import CHUNK, MOST, ROWS, find_messages
from podpath.evidence.recognition import read
from podpath.evidence.records import MessageRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source
from tests.evidence.messages.spellings import SPELLINGS


def source(*lines: str) -> Source:
    """Make a source of these lines, the first of which is line 7 of its file."""
    return Source(name="ticket.md", lines=lines, first_line=7)


def said(line: str) -> list[tuple[MessageKind, dict[str, str]]]:
    """Return what one line says."""
    return [(record.kind, dict(record.values)) for record in find_messages(source(line))]


@pytest.mark.parametrize(
    ("line", "kind", "values"),
    [
        (
            "Jan  9 03:12:44 node1 kernel: nf_conntrack: nf_conntrack: table full, dropping packet",
            MessageKind.CONNTRACK_TABLE_FULL,
            {},
        ),
        ((
            "[ 1722.1] neighbour: arp_cache: neighbor table "
            "overflow!"
        ), MessageKind.NEIGHBOUR_TABLE_FULL, {"table": "arp_cache"}),
        ("kernel: Neighbour table overflow.", MessageKind.NEIGHBOUR_TABLE_FULL, {}),
        (
            "[52.3] IPv4: martian source 10.2.0.9 from 10.1.0.7, on dev eth1",
            MessageKind.MARTIAN_SOURCE,
            {"dst": "10.2.0.9", "src": "10.1.0.7", "device": "eth1"},
        ),
        (
            (
                "br0: received packet on vxlan100 with own address as source address "
                "(addr:02:aa:bb:cc:dd:ee, vlan:0)"
            ),
            MessageKind.OWN_ADDRESS_RECEIVED,
            {"bridge": "br0", "device": "vxlan100", "mac": "02:aa:bb:cc:dd:ee"},
        ),
        (
            (
                "[88.1] rpfilter_DROP: IN=eth0 OUT= MAC=aa SRC=10.0.0.1 DST=10.0.0.2 LEN=60 TTL=63 "
                "PROTO=TCP SPT=4000 DPT=80 SYN"
            ),
            MessageKind.NETFILTER_LOG,
            {
                "prefix": "rpfilter_DROP:", "iif": "eth0", "src": "10.0.0.1", "dst": "10.0.0.2", "protocol": "TCP",  # noqa: E501
                "sport": "4000", "dport": "80",
            },
        ),
        ((
            "RTNETLINK answers: Invalid cross-device "
            "link"
        ), MessageKind.RTNETLINK_ANSWER, {"error": "Invalid cross-device link"}),
        ((
            "ping: sendmsg: Operation not "
            "permitted"
        ), MessageKind.SEND_FAILED, {"error": "Operation not permitted"}),
        (
            (
                'network: failed to set bridge addr: "cni0" already has an IP address different '
                'from 10.244.1.1/24'
            ),
            MessageKind.BRIDGE_ADDRESS_DIFFERS,
            {"bridge": "cni0", "address": "10.244.1.1/24"},
        ),
        (
            (
                'plugin type="bridge" failed (add): failed to find plugin "bridge" in path '
                '[/opt/cni/bin]'
            ),
            MessageKind.PLUGIN_NOT_FOUND,
            {"plugin": "bridge", "path": "/opt/cni/bin"},
        ),
    ],
)  # fmt: skip
def test_a_line_says_its_kind_and_its_values(
    line: str, kind: MessageKind, values: dict[str, str]
) -> None:
    """The words that matter are kept under their names."""
    assert (kind, values) in said(line)


def test_what_is_said_again_is_counted_and_quoted_once() -> None:
    """The first line stands for the others."""
    line = "IPv4: martian source 10.2.0.9 from 10.1.0.7, on dev eth1"
    (record,) = find_messages(source("boot", line, "", line, line))
    assert (record.times, record.span.line) == (3, 8)


def test_of_many_different_messages_the_first_are_kept() -> None:
    """A log of a million drops does not become a million records."""
    lines = [
        f"martian source 10.0.0.1 from 10.1.{number // 256}.{number % 256}, on dev eth0"
        for number in range(500)
    ]
    assert len(find_messages(source(*lines))) == MOST


def test_a_message_behind_many_lines_is_found() -> None:
    """Each stretch of a long source is searched, and the line's number is right."""
    lines = ["x"] * (CHUNK + 5) + ["kernel: Neighbour table overflow."]
    (record,) = find_messages(source(*lines))
    assert record.span.line == 7 + CHUNK + 5


def test_a_block_of_nothing_but_messages_is_read() -> None:
    """What no reader of outputs knows is still evidence, and its other lines are gaps."""
    reading = read(source("connect fails", "ping: sendmsg: Operation not permitted"))
    assert reading is not None
    assert [type(record) for record in reading.records if isinstance(record, MessageRecord)] == [
        MessageRecord
    ]
    covered = {record.span.line for record in reading.records} | {
        gap.span.line for gap in reading.gaps
    }
    assert covered == {7, 8}


@given(st.lists(st.text(max_size=60), max_size=20), st.sampled_from(ROWS), st.text(max_size=20))
def test_no_text_makes_it_fail(lines: list[str], row: object, around: str) -> None:
    """Whatever stands around a sign, the search ends with records within the source."""
    assert isinstance(row, tuple)
    text = [*lines, f"{around}{row[1]}{around}".replace("\n", " ")]
    for record in find_messages(source(*text)):
        assert 7 <= record.span.line < 7 + len(text)


def test_every_row_is_met_by_a_line_of_its_own() -> None:
    """What nobody ever saw a program print is no row; nor is one whose sign its own pattern cannot
    meet.
    """
    unmet = [
        (row.kind, row.sign)
        for row in ROWS
        if not any(
            (one.kind, one.sign) == (row.kind, row.sign.strip())
            and row.sign in one.line
            and row.pattern.search(one.line)
            for one in SPELLINGS
        )
    ]
    assert unmet == []


def test_no_other_kind_claims_a_line() -> None:
    """A line tells of its kind, and of no other but those that it is known to tell of besides."""
    claimed = {one: {kind for kind, _ in said(one.line)} - ASIDE for one in SPELLINGS}
    assert [] == [
        (one.line, kinds)
        for one, kinds in claimed.items()
        if kinds != {one.kind, *one.others} - ASIDE
    ]


def test_lines_that_differ_by_numbers_and_ids_say_what_each_says_alone() -> None:
    """A log that says the same again and again is searched by the shapes of its lines: nothing that
    one line says gets lost.
    """
    lines = [spelling.line for spelling in SPELLINGS][:400]
    alone = {record.kind for line in lines for record in find_messages(source(line))}
    often = [f"{serial:x}a {line}" for line in lines for serial in range(3)]

    assert alone == {record.kind for record in find_messages(source(*often))}


def test_a_shape_does_not_speak_for_a_line() -> None:
    """Of lines of one shape only the one with the sign says it."""
    told = "[52.3] IPv4: martian source 10.2.0.9 from 10.1.0.7, on dev eth1"
    lines = [*[told.replace("martian", "mrtian")] * 3, told]
    (record,) = find_messages(source(*lines))

    assert (10, 1) == (record.span.line, record.times)
