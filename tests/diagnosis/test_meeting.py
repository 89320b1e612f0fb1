"""Prediction meets observation: where walks and captures agree, and where they part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.devices import LinkDown, LoopedBack, NoRemoteEnd
from podpath.datapath.tracing.trace import Dropped, Step, Trace
from podpath.datapath.vocabulary import Direction, StageName, StepDecision
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.meeting import NetnsDevice, PacketComparison, predict_places
from podpath.net.addresses import Address
from podpath.net.failures import Ending
from podpath.net.packet import Packet
from podpath.node.node import HOST
from podpath.report.claims import spell_link
from podpath.report.parting_text import render_partings
from podpath.report.style import Style
from tests.checks.made_captures import CLIENT, SERVER, case_of, handshake, tcp
from tests.diagnosis.scenes import (
    ACK,
    BAD,
    GOOD,
    HOST_IP,
    OUTSIDE,
    POD,
    attempt,
    case,
    cilium_node,
    frame,
    handshake_capture,
    known,
)

PROBE = f"tcp {POD}:5000 > {OUTSIDE}:80"


def test_cause_is_seen_to_come_true() -> None:
    """Where captures show the dropped packet as far as the walk has it come, the cause says so and
    quotes the frame.
    """
    (cause, *_) = diagnose(
        case(cilium_node(known(BAD)), attempt(PROBE), sightings=handshake_capture())
    ).findings

    assert any(
        "Captures show the same: the ACK is seen on lxc1" in reason
        for reason in map(spell_link, cause.reasoning)
    )
    assert any("never on eth0" in reason for reason in map(spell_link, cause.reasoning))
    assert f"lxc1 in {POD}:5000 > {OUTSIDE}:80" in [span.text for span in cause.evidence]


def test_parting_tells_both_sides() -> None:
    """Where the walk lets a packet pass that captures do not show further on, both say so with
    their lines.
    """
    answer = diagnose(case(cilium_node(known(GOOD)), attempt(PROBE), sightings=handshake_capture()))
    (parted,) = answer.partings

    assert not parted.agrees
    assert "not seen on" in parted.seen
    assert parted.predicted_by
    assert parted.seen_by


def test_failing_flow_of_a_capture_becomes_a_probe() -> None:
    """Nobody has to tell of a failure: a connection that a capture shows to fail is walked."""
    answer = diagnose(case_of(*handshake(), tcp(1.04, f"{SERVER} > {CLIENT}", "S.", 77_000, 1001)))

    assert ["tcp 10.7.0.5:41000 > 198.18.4.9:443"] == [
        str(one.probe).partition(" in ")[0] for one in answer.conversations
    ]


def test_nothing_parts_where_all_is_seen_as_predicted() -> None:
    """A capture of a connection that works, of which all packets pass both devices, is no
    parting.
    """
    out = frame(f"{HOST_IP}:5000 > {OUTSIDE}:80", ACK, "out eth0", seq=8)
    works = replace(attempt(PROBE), result=Ending.OK)
    answer = diagnose(case(cilium_node(known(GOOD)), works, sightings=(*handshake_capture(), out)))

    assert answer.partings == ()


def test_places_of_a_dropped_packet_end_before_the_drop() -> None:
    """The device that a dropped packet was routed to is not one that a capture would show it on."""
    answer = diagnose(case(cilium_node(known(BAD)), attempt(PROBE), sightings=handshake_capture()))
    branch = answer.findings[0].shown_by
    assert branch is not None
    syn, *_, ack = branch.traces

    assert NetnsDevice("host", "eth0") in predict_places(syn)
    assert NetnsDevice("host", "lxc1") in predict_places(ack)
    assert NetnsDevice("host", "eth0") not in predict_places(ack)
    assert ["lxc1", "eth0 in netns pod"] == [
        str(NetnsDevice("host", "lxc1")),
        str(NetnsDevice("pod", "eth0")),
    ]


def test_parting_is_safe_to_print() -> None:
    """What comes from evidence is escaped, and nothing is printed where nothing parts."""
    meeting = PacketComparison(
        "tcp a > b", "ACK\x1b[2J", False, "passes eth0", (), "seen on \x1b[31mlxc1", ()
    )
    lines = render_partings([meeting], Style(width=100))

    assert not any("\x1b" in line for line in lines)
    assert render_partings([], Style(width=100)) == []


@pytest.mark.parametrize(
    ("reason", "is_seen"), [(NoRemoteEnd("vx0", None), True), (LinkDown("vx0"), False)]
)
def test_a_driver_drops_what_a_capture_on_its_device_has_seen(
    reason: Reason, *, is_seen: bool
) -> None:
    """A capture taps what is handed to the driver; a device that is down is handed nothing."""
    packet = Packet(Address.parse("10.7.0.5"), Address.parse("10.7.1.5"), 6, 1024, 80)
    steps = tuple(
        Step(stage, HOST, "dev.c:f", packet, packet, decision, why, link=link)
        for stage, decision, why, link in (
            (StageName.DEVICE_RECEIVE, StepDecision.RECEIVE, LoopedBack("cni0"), "cni0"),
            (StageName.DEVICE_TRANSMIT, StepDecision.DROP, reason, "vx0"),
        )
    )
    trace = Trace(
        name="SYN",
        direction=Direction.ORIGINAL,
        start=HOST,
        packet=packet,
        steps=steps,
        outcome=Dropped(netns=HOST, reason="NOT_SPECIFIED"),
    )
    assert is_seen is (NetnsDevice(HOST, "vx0") in predict_places(trace))
