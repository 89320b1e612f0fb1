"""The row that says what becomes of a flow."""

from __future__ import annotations

from podpath.library.reading import read
from podpath.library.trace import trace
from podpath.net.packet import Packet
from podpath.net.packet import spell_ends as spell_plain
from podpath.net.probe import Probe
from podpath_fleet.flow_answers import COLUMNS, answer_flow, refuse_flow, spell_ends
from podpath_fleet.flow_classes import FlowHeader
from tests.library.samples import NO_FORWARDING, PROBE


def test_a_row_names_the_packet_and_the_line_that_decided() -> None:
    """A SYN that a node does not forward is dropped by the sysctl's line."""
    case = read(NO_FORWARDING)
    header = FlowHeader(Probe.parse(PROBE))
    walked = trace(case, header.probe)
    row = answer_flow(header, walked.conversation, walked.forbids)

    assert (row.verdict, row.failure, row.packet, row.outcome) == (
        "NEVER", "dropped", "SYN", "dropped",
    )  # fmt: skip
    assert "ip_forward" in row.text
    assert row.line is not None
    assert (row.arrives_as, row.branches) == ("", 1)


def test_a_row_that_cannot_be_read_says_why() -> None:
    """What stands in a table and is no flow has a verdict of its own; nothing reaches a terminal
    raw.
    """
    row = refuse_flow("expected a port, saw '\x1b[31m'")

    assert row.verdict == "UNREADABLE"
    assert "\x1b" not in row.reason
    assert len(row) == len(COLUMNS)


def test_ends_have_holes_for_the_flows_own_fields() -> None:
    """What NAT put into a packet stays, what is the flow's own is a hole."""
    for text in ("tcp 10.0.0.1:5 > 10.0.0.2:80", "tcp [fd00::1]:5 > [fd00::2]:80"):
        header = FlowHeader(Probe.parse(text))
        probe = header.probe
        packet = Packet(probe.src, Probe.parse(text).dst, 6, probe.sport, 8080)
        spelled = spell_ends(header, packet)
        plain = Probe.parse(text)
        again = spelled.format(plain.src, plain.sport, plain.dst, plain.dport)

        assert again == spell_plain(Packet(plain.src, plain.dst, 6, 5, 8080))
        assert "{0}" in spelled
        assert "{2}" not in spelled

    echo = FlowHeader(Probe.parse("icmp 10.0.0.1 > 10.0.0.2"))
    sent = Packet(echo.probe.src, echo.probe.dst, 1)
    assert spell_ends(echo, sent) == "{0} > {2}"
