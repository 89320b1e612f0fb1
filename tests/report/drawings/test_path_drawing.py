"""What is drawn: doors in the order of the way, the packet at each of them, the break marked."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import HealthCheck, given, settings

from podpath.datapath.tracing.trace import Branch
from podpath.library.diagnosis import diagnose
from podpath.report.drawings.path_drawing import (
    MOST_PACKETS,
    DrawnEnd,
    PathDrawing,
    choose_branch,
    draw_path,
)
from podpath.report.path import MOST_HOPS
from tests.report import diagnoses

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = settings(
    max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def draw(incident: str) -> PathDrawing:
    """Draw the path of an example."""
    branch = diagnose(ROOT / "examples" / "incidents" / incident / "ticket.md").drawn
    assert branch is not None
    return draw_path(branch)


def test_translation_shows_where_it_happens() -> None:
    """Each stop has the packet as it comes and as it goes on: they differ where it is rewritten,
    and what goes on comes to the next stop.
    """
    request, reply = draw("br-netfilter-off").packets
    for packet in (request, reply):
        for before, stop in pairwise(packet.stops):
            assert before.left == stop.came
    ends = {stop.door.label: (str(stop.came.dst), str(stop.left.dst)) for stop in request.stops}
    assert ends["veth1f6b02da"] == ("10.97.44.210", "10.97.44.210")
    assert ends["cni0"] == ("10.97.44.210", "10.61.9.31")
    assert ends["vethc83e5a90"] == ("10.61.9.31", "10.61.9.31")
    assert {str(stop.left.src) for stop in reply.stops} == {"10.61.9.31"}


def test_packets_one_below_the_other_have_their_own_doors_alone() -> None:
    """For a narrow screen each packet is a drawing of its own."""
    drawing = draw("br-netfilter-off")
    assert [one.packets for one in drawing.single] == [(packet,) for packet in drawing.packets]
    reply = drawing.single[1]
    assert {stop.door for stop in reply.packets[0].stops} == set(reply.doors)
    assert [door for door in drawing.doors if door in reply.doors] == list(reply.doors)


def test_the_packet_that_its_client_does_not_know_is_the_break() -> None:
    """A reply that arrives untranslated ends broken, though it was delivered."""
    request, reply = draw("br-netfilter-off").packets
    assert (request.ending, request.backward) == (DrawnEnd.ARRIVED, False)
    assert (reply.ending, reply.backward) == (DrawnEnd.BROKEN, True)
    assert "reply not translated" in reply.words


def test_doors_of_a_namespace_stand_together() -> None:
    """A box for each namespace, its devices in the order of the way."""
    boxes = draw("rp-filter-reset").boxes
    assert [(netns, [door.label for door in doors]) for netns, doors in boxes] == [
        ("host", ["socket", "cilium_host", "lxcd25f81c07be3"]),
        ("cni-2f6ab8c1-08d4-4e39-a7c5-51b3f9d20e74", ["eth0", "socket"]),
    ]


def test_nothing_walked_is_nothing_to_draw() -> None:
    """Without a connection there is no branch."""
    assert choose_branch(()) is None


@EXAMPLES
@given(diagnoses.branches)
def test_any_branch_is_drawn_within_bounds(branch: Branch) -> None:
    """So many packets and stops, each at a door that is drawn, and one end each."""
    drawing = draw_path(branch)
    assert len(drawing.packets) == min(len(branch.traces), MOST_PACKETS)
    assert all(len(packet.stops) <= MOST_HOPS for packet in drawing.packets)
    assert {stop.door for one in drawing.packets for stop in one.stops} == set(drawing.doors)
    assert sum(len(doors) for _, doors in drawing.boxes) == len(drawing.doors)
