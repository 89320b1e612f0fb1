"""Frames that arrive do not carry a wrong MAC."""

from __future__ import annotations

from podpath.node.case import Case
from tests.checks.made_captures import arp, case_of, clock, found, framed

NEAR, FIRST, SECOND = "02:00:00:00:00:05", "02:00:00:00:00:f1", "02:00:00:00:00:f2"
STRANGER = "02:00:00:00:00:99"
ASK, ANSWER = "10.7.0.5.5000 > 10.7.0.9.53", "10.7.0.9.53 > 10.7.0.5.5000"


def case(*lines: str) -> Case:
    """Read a capture with link-layer headers."""
    return case_of(*lines, command="tcpdump -enn -i eth0")


def segment(after: float, macs: str, ends: str, flags: str, numbers: str, length: int) -> str:
    """Write a line of TCP with its link-layer header."""
    head = f"{clock(after)} {macs}, ethertype IPv4 (0x0800), length {length + 66}"
    return f"{head}: {ends}: Flags [{flags}], {numbers}, win 501, length {length}"


def test_frames_that_are_answered_went_to_the_right_place() -> None:
    """A second gateway takes frames to an address that is heard from the first."""
    lines = (
        framed(0, f"{NEAR} > {FIRST}", ASK),
        framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
        framed(1, f"{NEAR} > {SECOND}", ASK),
        framed(1.05, f"{NEAR} > {SECOND}", ASK),
    )

    assert len(found(case(*lines), "wrong-mac")) == 1
    answered = (*lines, framed(1.1, f"{FIRST} > {NEAR}", ANSWER))
    assert found(case(*answered), "wrong-mac") == []


def test_segment_that_is_acknowledged_once_it_went_elsewhere_was_lost() -> None:
    """An acknowledgment counts for the foreign MAC where the data was not sent again with its own
    meanwhile.
    """
    there, back = "10.7.0.5.5000 > 10.7.0.9.80", "10.7.0.9.80 > 10.7.0.5.5000"
    lines = (
        segment(0, f"{NEAR} > {FIRST}", there, "P.", "seq 1:101, ack 1", 100),
        segment(0.1, f"{FIRST} > {NEAR}", back, ".", "ack 101", 0),
        segment(1, f"{NEAR} > {STRANGER}", there, "P.", "seq 101:201, ack 1", 100),
        segment(1.3, f"{NEAR} > {STRANGER}", there, "P.", "seq 101:201, ack 1", 100),
    )
    again = segment(2, f"{NEAR} > {FIRST}", there, "P.", "seq 101:201, ack 1", 100)
    taken = segment(2.1, f"{FIRST} > {NEAR}", back, ".", "ack 201", 0)

    assert len(found(case(*lines, again, taken), "wrong-mac")) == 1
    assert found(case(*lines, taken), "wrong-mac") == []


def test_mac_of_a_router_is_no_wrong_one() -> None:
    """What a station forwards for others, it forwards."""
    other = framed(3, f"{SECOND} > {NEAR}", "192.0.2.7.53 > 10.7.0.5.5000")
    more = framed(4, f"{SECOND} > {NEAR}", "192.0.2.8.53 > 10.7.0.5.5000")
    lines = (
        framed(0, f"{NEAR} > {FIRST}", ASK),
        framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
        framed(1, f"{NEAR} > {SECOND}", ASK),
        framed(1.05, f"{NEAR} > {SECOND}", ASK),
    )

    assert found(case(*lines, other, more), "wrong-mac") == []


def test_address_that_may_be_behind_a_router_is_possible_only() -> None:
    """Whoever speaks for others too may have several ways to be reached."""
    lines = (
        framed(0, f"{NEAR} > {FIRST}", ASK),
        framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
        framed(0.2, f"{FIRST} > {NEAR}", "192.0.2.7.53 > 10.7.0.5.5000"),
        framed(1, f"{NEAR} > {SECOND}", ASK),
        framed(1.05, f"{NEAR} > {SECOND}", ASK),
    )
    (finding,) = found(case(*lines), "wrong-mac")

    assert finding.certainty < 1
    assert finding.asks


def test_one_frame_alone_may_be_damaged() -> None:
    """A state shows in more than one frame."""
    lines = (
        framed(0, f"{NEAR} > {FIRST}", ASK),
        framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
        framed(1, f"{NEAR} > {STRANGER}", ASK),
    )

    assert found(case(*lines), "wrong-mac") == []
    assert len(found(case(*lines, framed(2, f"{NEAR} > {STRANGER}", ASK)), "wrong-mac")) == 1


def test_router_that_is_captured_on_both_sides_sends_frames_on() -> None:
    """The frame to the router's MAC appears again, from it and with the right MAC."""
    lines = [framed(0.5, f"{FIRST} > {STRANGER}", ANSWER)]
    for turn in (1.0, 2.0):
        lines.append(framed(turn, f"{NEAR} > {STRANGER}", ASK))
        lines.append(framed(turn + 0.02, f"{SECOND} > {FIRST}", ASK))

    assert found(case(*lines), "wrong-mac") == []
    late = [framed(3.0 + turn, f"{NEAR} > {STRANGER}", ASK) for turn in (0.0, 1.0)]
    assert len(found(case(*lines[:1], lines[2], *late), "wrong-mac")) == 1


def test_one_frame_is_enough_where_arp_mends_it() -> None:
    """An excerpt shows one frame of a time that ends when the address asks by ARP; a damaged frame
    differs in a byte or two, and the traffic around it does not wait for ARP.
    """
    unlike = "0e:51:72:27:4b:4f"
    asks = arp(2, f"{FIRST} > {NEAR}", "Request who-has 10.7.0.5 tell 10.7.0.9")
    other = arp(2, f"{SECOND} > {NEAR}", "Request who-has 10.7.0.5 tell 10.7.0.8")

    def lines(mac: str, frame: str) -> Case:
        return case(
            framed(0, f"{NEAR} > {FIRST}", ASK),
            framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
            framed(1, f"{NEAR} > {mac}", ASK),
            frame,
            framed(2.5, f"{NEAR} > {FIRST}", ASK),
        )

    assert len(found(lines(unlike, asks), "wrong-mac")) == 1
    assert found(lines(STRANGER, asks), "wrong-mac") == []
    assert found(lines(unlike, other), "wrong-mac") == []


def test_packet_to_its_own_sender_names_no_next_hop() -> None:
    """Its MACs are its sender's and the next hop's, whatever address somebody wrote into it."""
    itself = "10.7.0.9.53 > 10.7.0.9.53"
    lines = (
        framed(0, f"{NEAR} > {FIRST}", ASK),
        framed(0.1, f"{FIRST} > {NEAR}", ANSWER),
        framed(1, f"{FIRST} > {SECOND}", itself),
        framed(1.05, f"{FIRST} > {SECOND}", itself),
    )

    assert found(case(*lines), "wrong-mac") == []
