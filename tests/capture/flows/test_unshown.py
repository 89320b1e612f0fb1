"""What packets say of others that no packet of the capture is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from podpath.net.protocols import ACK, PSH, SYN
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.flows.unshown import find_unshown
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.flows.test_unheard import lookup, ping

CLIENT, SERVER = "10.0.0.1", "10.0.0.2"
BEHIND = "comes behind data that are acknowledged, and that no packet shows"
LONE = "acknowledges what no packet of the other direction shows"
UNASKED = "answers what no packet asks"
IDLE = [ping(1000), ping(1001), ping(1002), ping(1003)]
"""Four seconds of something else."""


def segment(flags: int, seq: int, ack: int, size: int = 0, *, back: bool = False) -> bytes:
    """Make a segment of one connection."""
    ends, ports = (CLIENT, SERVER), (4000, 80)
    made = frames.tcp(
        flags, ports=ports[::-1] if back else ports, numbers=(seq, ack), data=bytes(size)
    )
    return frames.ethernet(0x0800, frames.ipv4(6, made, ends=ends[::-1] if back else ends))


def talk() -> list[bytes]:
    """Make a connection in which the client sends 300 bytes and gets 300 for them."""
    made = [segment(SYN, 99, 0), segment(SYN | ACK, 499, 100, back=True), segment(ACK, 100, 500)]
    for turn in range(3):
        sent = 100 * turn
        made += [
            segment(ACK | PSH, 100 + sent, 500 + sent, 100),
            segment(ACK | PSH, 500 + sent, 200 + sent, 100, back=True),
            segment(ACK, 200 + sent, 600 + sent),
        ]
    return made


def unshown(
    made: Sequence[bytes], snaplen: int = 65535, *, printed: bool = False
) -> list[tuple[int, str]]:
    """Return what is found, of packets that come a second apart."""
    columns = read_capture(frames.pcap(made, snaplen=snaplen)).packets.columns
    flows = number_flows(columns)
    segments = analyse_segments(columns, flows)
    found = find_unshown(columns, flows, segments, printed=printed)
    return [(one.row, one.what) for one in found]


def test_whole_connection_misses_nothing() -> None:
    """Nor does its late part, its early part, or one of which little is captured of each packet."""
    made = talk()

    assert [] == unshown(made)
    assert [] == unshown(made, snaplen=54)
    for cut in range(len(made)):
        assert ([], []) == (unshown(made[:cut]), unshown(made[cut:]))


@pytest.mark.parametrize("missing", [3, 4, 6, 7])
def test_data_that_are_acknowledged_and_not_there(missing: int) -> None:
    """The segment behind the gap tells of it, whoever sent it."""
    made = talk()
    del made[missing]

    assert BEHIND in [what for _, what in unshown(made)]


def test_data_beyond_all_that_is_shown() -> None:
    """The last ones are not there, or all of one side behind its SYN: an acknowledgment tells; one
    of an old connection is far off.
    """
    made = talk()
    server = {4, 7, 10}

    assert [(10, LONE)] == unshown([*made[:10], made[11]])
    assert [(4, LONE)] == unshown([one for at, one in enumerate(made) if at not in server])
    assert [] == unshown([*made, segment(ACK, 400, 800 + (1 << 27))])


def test_data_that_overtake_others_are_there() -> None:
    """Where they stand is all the same, as it is that they are sent again."""
    made = talk()
    late = [*made[:3], *made[4:], made[3]]
    lost = [segment(ACK | PSH, 400, 800, 100), segment(ACK | PSH, 600, 800, 100)]

    assert [] == unshown(late)
    assert [] == unshown([*made, *lost])  # nobody acknowledges what is missing


def test_data_at_another_device_are_there() -> None:
    """NAT changes ends, and no number: what another flow shows was captured."""
    made = talk()
    moved = frames.tcp(ACK | PSH, ports=(4000, 8080), numbers=(200, 600), data=bytes(100))
    other = frames.ethernet(0x0800, frames.ipv4(6, moved, ends=(CLIENT, "10.0.0.3")))

    assert [(7, BEHIND)] == unshown([*made[:6], *made[7:]])
    assert [] == unshown([*made[:6], other, *made[7:]])


def test_one_direction_alone() -> None:
    """It acknowledges more and more; within the first seconds that may have passed before."""
    client = [made for at, made in enumerate(talk()) if at in {0, 2, 3, 5, 6, 8, 9, 11}]

    assert [LONE] == [what for _, what in unshown([*IDLE, *client])]
    assert [] == unshown([segment(ACK, 100, 500), segment(ACK, 100, 600)])
    assert [] == unshown([*IDLE, segment(ACK, 100, 500), segment(ACK, 100, 500)])


def test_text_of_one_direction_has_numbers_that_count_from_another() -> None:
    """tcpdump prints the first acknowledgment as it is and later ones relative to it: a single step
    may be that, two are not. What the client sends has equal numbers, and is no answer.
    """
    steps = [segment(ACK | PSH, number, number, 100) for number in (1, 101, 201)]
    first = segment(ACK, 1, 0)

    assert [] == unshown([*IDLE, first, steps[0]], printed=True)
    assert [LONE] == [what for _, what in unshown([*IDLE, first, *steps], printed=True)]


@pytest.mark.parametrize("ask", [lookup, ping])
def test_answers_to_what_nobody_asks(ask: Callable[..., bytes]) -> None:
    """Two, or one that comes late, are too many for requests from before the capture."""
    first, second = ask(1, back=True), ask(2, back=True)

    assert [(4, UNASKED)] == unshown([*IDLE, first, second])
    assert [] == unshown([*IDLE, first])
    assert [(16, UNASKED)] == unshown([*IDLE * 4, first])
    assert [] == unshown([*IDLE * 4, ask(1), first])


def test_service_with_another_port_is_asked_there() -> None:
    """On a bridge the request has the server's port, and its answer comes from the service's."""
    sent = frames.udp((4000, 5353), bytes(12))
    translated = frames.ethernet(0x0800, frames.ipv4(17, sent, ends=("10.0.0.1", "10.0.0.9")))
    answers = [lookup(number, back=True) for number in (1, 2, 3)]

    assert [(4, UNASKED)] == unshown([*IDLE, *answers])
    assert [] == unshown([*IDLE, translated, *answers])


def test_damaged_packet_may_be_what_is_missed() -> None:
    """Where one could not be read, nothing is said to be missing."""
    made = talk()
    damaged = segment(ACK | PSH, 200, 600, 100)[:40]

    assert [] == unshown([*made[:6], damaged, *made[7:]])
