"""Which packets of a long capture are looked at one by one."""

from __future__ import annotations

import numpy as np

from podpath.net.addresses import Address
from podpath_capture.flows.telling import EDGE, find_cut, select_ends, select_telling
from podpath_capture.reading.read import read_capture
from tests.capture import frames

ENDS, BACK = ("10.0.0.1", "10.0.0.2"), ("10.0.0.2", "10.0.0.1")


def segment(
    flags: int, port: int, seq: int = 1000, *, data: bytes = b"", back: bool = False
) -> bytes:
    """Make a frame of a connection from the client's port, or of its way back."""
    ports = (80, port) if back else (port, 80)
    return frames.ethernet(
        0x0800,
        frames.ipv4(
            6,
            frames.tcp(flags, ports=ports, numbers=(seq, 7), data=data),
            ends=BACK if back else ENDS,
        ),
    )


def handshake(port: int) -> list[bytes]:
    """Make a handshake that works."""
    return [segment(0x02, port), segment(0x12, port, 7, back=True), segment(0x10, port, 1001)]


def telling(made: list[bytes]) -> list[int]:
    """Return the rows that tell something."""
    return [int(row) for row in select_telling(read_capture(frames.pcap(made)).packets)]


def test_connection_that_works_tells_nothing() -> None:
    """A handshake with its data is only counted; one that is never answered is shown."""
    works = [
        *handshake(4000),
        segment(0x18, 4000, 1001, data=b"x" * 9),
        segment(0x10, 4000, 8, back=True),
    ]

    assert telling(works) == []
    assert telling([*works, segment(0x02, 4001), segment(0x02, 4001)]) == [5, 6]


def test_long_connection_keeps_its_edges_and_what_was_sent_again() -> None:
    """Of a transfer that was reset in the end, what flows on is left out."""
    data = [segment(0x18, 4000, 1001 + 9 * number, data=b"x" * 9) for number in range(200)]
    again = [data[100]] * 3
    made = [*handshake(4000), *data, *again, segment(0x04, 4000, 5000)]
    whole = read_capture(frames.pcap(made)).packets
    whole.columns.time[:] = np.arange(len(made)) * 1_000_000
    rows = select_telling(whole).tolist()

    assert {0, 1, 2, 103, 203, 204, 205, 206} <= set(rows)
    assert len(rows) < 4 * EDGE


def test_silence_keeps_the_packets_around_it() -> None:
    """What a direction shows before and after it was silent stays, so that the silence is neither
    longer nor shorter.
    """
    data = [segment(0x18, 4000, 1001 + 9 * number, data=b"x" * 9) for number in range(100)]
    made = [*handshake(4000), *data, segment(0x04, 4000, 5000)]
    whole = read_capture(frames.pcap(made)).packets
    whole.columns.time[:] = np.arange(len(made)) * 1_000_000
    whole.columns.time[53:] += 5_000_000_000

    assert {52, 53} <= set(select_telling(whole).tolist())


def test_questions_without_answers_are_shown() -> None:
    """Datagrams that nobody answers are looked at; of those that are answered the last packet is,
    since it tells how long the capture goes on.
    """
    question = frames.ethernet(
        0x0800, frames.ipv4(17, frames.udp((5000, 53), b"a" * 20), ends=ENDS)
    )
    asked = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((5001, 53), b"a" * 20), ends=ENDS))
    answer = frames.ethernet(0x0800, frames.ipv4(17, frames.udp((53, 5001), b"a" * 20), ends=BACK))

    assert telling([question, question, asked, answer]) == [0, 1, 3]


def test_frames_with_another_mac_are_shown() -> None:
    """An address to which frames go with two MACs is shown where that changes, and with what MAC it
    speaks.
    """
    plain, back = segment(0x10, 4000), segment(0x10, 4000, back=True)
    astray = bytes.fromhex("020000000099") + plain[6:]

    assert telling([back, plain, plain, plain, astray, astray, plain]) == [0, 1, 3, 4, 5, 6]


def test_what_is_said_between_two_ends_is_chosen() -> None:
    """Both directions of a connection that works are given where it is asked about; an address that
    nobody has gives nothing.
    """
    made = [*handshake(4000), *handshake(4001)]
    packets = read_capture(frames.pcap(made)).packets
    client, server = Address.parse(ENDS[0]), Address.parse(ENDS[1])

    assert [3, 4, 5] == select_ends(packets, (None, 4001), (server, 80)).tolist()
    assert [0, 1, 2, 3, 4, 5] == select_ends(packets, (client, 0), (None, 0)).tolist()
    assert [] == select_ends(packets, (Address.parse("10.9.9.9"), 0), (None, 0)).tolist()
    assert [] == select_ends(packets, (Address.parse("fd00::9"), 0), (None, 0)).tolist()


def test_rows_behind_which_others_are_left_out_are_known() -> None:
    """The next one of the same stream counts, and what is of no stream does not."""
    rows, streams = np.array([0, 1, 2, 4, 5]), np.array([0, 1, 0, 0, 1])

    assert {0, 1} == set(find_cut(rows, streams, np.array([0, 1, 3, 4])).tolist())
    assert find_cut(rows, streams, np.arange(6)).tolist() == []
