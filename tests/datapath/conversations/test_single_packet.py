"""Tests of one packet's way, and of what its sender is told."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.conversations.single_packet import ERRORS_AT_ONCE
from podpath.datapath.vocabulary import Direction
from podpath.testing.nodes import listening, probe
from tests.datapath.connected import WORLD, given_connected
from tests.datapath.given import given_rules
from tests.kernel.recorded_cases import build_case

RECORDED = Path(__file__).resolve().parents[2] / "data/agreement"


def test_a_reject_tells_the_sender() -> None:
    """A rejected packet's answer is walked back to its sender."""
    branch = converse(
        given_connected(given_rules("FORWARD -j REJECT --reject-with icmp-host-prohibited")), WORLD
    ).branches[0]

    assert ("rejected", ["icmp-host-prohibited"]) == (
        branch.kind,
        [trace.name for trace in branch.answers],
    )
    assert "10.1.0.2" == str(branch.answers[0].steps[-1].after.dst)


def test_errors_about_errors_come_to_an_end() -> None:
    """Errors that a tunnel carries to who answers them are answered as often as the kernel's rate
    limit lets them be at once.
    """
    name = "error-about-errors.json"
    case = build_case((RECORDED / name).read_text(), PurePosixPath(name))
    (branch,) = converse(case.node, case.probe).branches

    assert ["icmp-port-unreachable"] * ERRORS_AT_ONCE == [each.name for each in branch.answers]


def test_an_answer_goes_the_other_way() -> None:
    """A reset about a client's packet is a reply, and leaves from the address that was asked for;
    what arrives is answered by nothing.
    """
    asked = probe("tcp 203.0.113.9 > 10.1.0.2:80")
    (refused,) = converse(given_connected(sockets=listening(22)), asked).branches
    (taken,) = converse(given_connected(sockets=listening(80)), asked).branches

    (reset,) = refused.answers
    assert (Direction.REPLY, "10.1.0.2", 80) == (
        reset.direction,
        str(reset.packet.src),
        reset.packet.sport,
    )
    assert () == taken.answers
