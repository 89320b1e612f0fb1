"""A capture of any length: what it shows batch by batch is what it shows in one piece."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.net.addresses import Address
from podpath_capture import survey
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp import analyse_segments
from podpath_capture.flows.tcp_states import find_tcp_states
from podpath_capture.flows.telling import select_ends, select_telling
from podpath_capture.flows.unshown import find_unshown
from podpath_capture.points import CapturedFile, number_points
from podpath_capture.printed.lines import render_lines
from podpath_capture.reading.read import read_capture
from podpath_capture.survey import is_long, survey_capture
from tests.capture import frames
from tests.capture.flows.test_unheard import lookup
from tests.capture.flows.test_unshown import talk
from tests.capture.stores import Memory


def segment(port: int, flags: int, seq: int, *, back: bool, six: bool) -> bytes:
    """Make a frame of one of a few connections, over one or the other IP."""
    body = frames.tcp(
        flags, ports=(80, port) if back else (port, 80), numbers=(seq, 1), data=b"x" * (seq % 7)
    )
    if six:
        ends = ("fd00::1", f"fd00::{port}")
        return frames.ethernet(
            0x86DD, frames.ipv6(6, body, ends=(ends[1], ends[0]) if back else ends)
        )
    return frames.ethernet(
        0x0800,
        frames.ipv4(6, body, ends=("10.0.0.2", "10.0.0.1") if back else ("10.0.0.1", "10.0.0.2")),
    )


ARP = frames.ethernet(
    0x0806,
    bytes.fromhex("0001080006040001")
    + frames.MAC_A
    + bytes([10, 0, 0, 1])
    + bytes(6)
    + bytes([10, 0, 0, 2]),
)
ERROR = frames.ethernet(
    0x0800, frames.ipv4(1, bytes([3, 1, 0, 0, 0, 0, 0, 0]) + frames.ipv4(6, frames.tcp())[:28])
)
FRAMES = st.one_of(
    st.builds(
        segment, st.integers(1024, 1027), st.sampled_from((0x02, 0x12, 0x10, 0x11, 0x04)),
        st.integers(1000, 1020), back=st.booleans(), six=st.booleans(),
    ),
    st.sampled_from((ARP, ERROR)),
    st.sampled_from((ARP, ERROR)).map(lambda frame: frame[:6] + b"\x02\0\0\0\0\x07" + frame[12:]),
    st.binary(max_size=60),
)  # fmt: skip


def assert_same(data: bytes) -> None:
    """Hold what a survey says of a capture against what all of its columns say."""
    whole, surveyed = read_capture(data), survey_capture(data, Memory(), lambda _: None)
    flows = number_flows(whole.packets.columns)
    found = find_tcp_states(whole.packets.columns, flows)
    states = Counter(
        state for state, tcp in zip(found.state, found.tcp.tolist(), strict=True) if tcp
    )
    telling = select_telling(whole.packets).tolist()

    assert len(whole.packets) == surveyed.count
    assert telling == list(surveyed.rows)
    assert list(states.items()) == list(surveyed.states.items())
    assert (whole.damages, whole.interfaces) == (
        surveyed.capture.damages,
        surveyed.capture.interfaces,
    )
    assert render_lines(whole.packets, telling) == render_lines(
        surveyed.capture.packets, range(len(telling))
    )
    points = number_points([CapturedFile(name="x", capture=whole)]).points
    assert points == surveyed.list_points(CapturedFile(name="x", capture=surveyed.capture))
    columns = whole.packets.columns
    assert whole.omissions == surveyed.capture.omissions
    assert find_unshown(columns, flows, analyse_segments(columns, flows)) == [*surveyed.unshown]


@settings(deadline=None, max_examples=60)
@given(st.lists(FRAMES, max_size=40), st.integers(1, 9))
def test_batches_say_what_the_whole_says(made: Sequence[bytes], batch: int) -> None:
    """Of connections over both IPs, ARP, errors and nonsense, in batches of any size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "BATCH", batch)
        assert_same(frames.pcap(made))


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_what_a_selection_leaves_out_is_found_in_batches(
    monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Two of three packets of a connection, and answers whose questions are in another batch."""
    monkeypatch.setattr(survey, "BATCH", batch)
    answers = [lookup(number, back=True) for number in range(1, 20)]
    sampled = [frame for at, frame in enumerate(talk()) if at % 3 != 1]
    data = frames.pcap([*sampled, *answers, lookup(19)])

    assert_same(data)
    assert len(survey_capture(data, Memory(), lambda _: None).unshown) > 1


def test_batches_of_several_interfaces_say_what_the_whole_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Points of a file with two interfaces are counted through all batches."""
    monkeypatch.setattr(survey, "BATCH", 2)
    made = [segment(1024, 0x02, 1000, back=False, six=False)] * 3
    packets = [frames.packet(frame, number) for number in (1, 0, 1) for frame in made]

    assert_same(frames.section() + frames.interface() + frames.interface() + b"".join(packets))


@pytest.mark.parametrize("six", [False, True])
def test_what_is_said_between_two_ends_is_read_besides(
    monkeypatch: pytest.MonkeyPatch, *, six: bool
) -> None:
    """A connection that works is not shown unless it is asked about; then with the rows that the
    whole gives.
    """
    monkeypatch.setattr(survey, "BATCH", 2)
    parts = [(0x02, 1000, False), (0x12, 1000, True), (0x10, 1001, False)]
    made = [
        segment(port, flags, seq, back=back, six=six)
        for port in (1024, 1025)
        for flags, seq, back in parts
    ]
    data = frames.pcap(made)
    surveyed = survey_capture(data, Memory(), lambda _: None)
    asked = ((Address.parse("fd00::1025" if six else "10.0.0.2"), 0), (None, 1025))
    chosen, rows = surveyed.select(*asked)

    assert () == surveyed.rows
    assert (3, 4, 5) == rows == tuple(select_ends(read_capture(data).packets, *asked).tolist())
    assert render_lines(read_capture(data).packets, rows) == render_lines(chosen.packets, range(3))


def test_share_of_the_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It only grows, and is never more than all."""
    monkeypatch.setattr(survey, "BATCH", 2)
    told: list[float] = []
    survey_capture(
        frames.pcap([segment(port, 0x02, 1, back=False, six=False) for port in range(9)]),
        Memory(),
        told.append,
    )

    assert len(told) > 5
    assert told == sorted(told)
    assert 0 < told[0] <= told[-1] <= 1


def test_length_is_told_by_packets() -> None:
    """A capture is long from one packet more on; what is no capture is an error."""
    data = frames.pcap([ARP] * 5)

    assert (True, False) == (is_long(data, 4), is_long(data, 5))
    with pytest.raises(ValueError, match="expected a capture"):
        is_long(b"no capture at all", 5)
