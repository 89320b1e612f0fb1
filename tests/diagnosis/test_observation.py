"""What captures and other lines say against a branch of a walk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.tracing.trace import Branch, Dropped
from podpath.diagnosis.connections import ConnectionFrame, FramePlace, Observed
from podpath.diagnosis.observation import compare
from podpath.diagnosis.symptoms import Symptom
from podpath.testing.conversations import ask
from podpath.testing.nodes import probe, span
from tests.diagnosis.test_felt import TCP, network
from tests.diagnosis.test_repairs import DROP, OUT, cause_of, node


def test_a_packet_that_passed_the_host_did_not_end_there() -> None:
    """The first packet's fate counts, whatever became of an answer; an end in a pod is another."""
    dropped = cause_of(node(DROP)).trace
    inside = replace(dropped, outcome=Dropped(netns="pod", reason="NETFILTER_DROP"))
    passed = span("ESTABLISHED src=10.1.0.2 dst=203.0.113.9")
    symptom = Symptom(probe=probe(OUT), fails=True, passed=(passed,))

    at_host = Branch(assumptions=(), traces=(dropped, inside), works=False)
    in_pod = Branch(assumptions=(), traces=(inside, dropped), works=False)

    assert (passed,) == compare(at_host, symptom).against
    assert () == compare(in_pod, symptom).against


def _seen_at(link: str | None, netns: str | None) -> Symptom:
    """Return the first packet of a failing connection, captured at a place as it was sent."""
    packet = cause_of(node(DROP)).trace.packet
    place = FramePlace(0, netns, link, None)
    frame = ConnectionFrame("SYN", True, packet, place, None, span("SYN"))
    observed = Observed(probe=probe(OUT), seen=(frame,), missing=())
    return Symptom(probe=probe(OUT), fails=True, observed=(observed,))


@pytest.mark.parametrize(
    ("link", "netns", "expected"),
    [(None, None, 1), (None, "elsewhere", 1), ("eth9", "elsewhere", 0)],
)
def test_a_frame_counts_where_the_walk_takes_the_packet(
    link: str | None, netns: str | None, expected: int
) -> None:
    """A device of a namespace that the packet never enters shows another packet with its ends."""
    dropped = cause_of(node(DROP)).trace
    branch = Branch(assumptions=(), traces=(dropped,), works=False)

    assert expected == compare(branch, _seen_at(link, netns)).matched


def _heard_back(link: str | None, netns: str | None, direction: str | None) -> Symptom:
    """Return a connection of which the answer was captured at a place."""
    back = ask(network(), TCP).branch.traces[1].packet
    frame = ConnectionFrame(
        "SYN-ACK", False, back, FramePlace(0, netns, link, direction), None, span("SYN-ACK")
    )
    return Symptom(
        probe=probe(TCP),
        fails=True,
        observed=(Observed(probe=probe(TCP), seen=(frame,), missing=()),),
    )


@pytest.mark.parametrize(
    ("netns", "direction", "against"),
    [("client", "in", 1), ("client", None, 1), ("server", "in", 0), ("host", "in", 0)],
)
def test_an_answer_that_came_to_its_client_was_not_lost_on_the_way(
    netns: str, direction: str | None, against: int
) -> None:
    """Where it was captured before it was lost, it agrees with the loss."""
    branch = ask(network("FORWARD -s 10.2.0.2 -j DROP"), TCP).branch

    assert against == len(compare(branch, _heard_back(None, netns, direction)).against)
