"""Which instances become one connection where sequence numbers do not decide."""

from __future__ import annotations

from podpath_capture.matching.matching import match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames
from tests.capture.planted import MILLISECOND, SECOND, Shot, write_pcap


def syn(
    ends: tuple[str, str],
    ports: tuple[int, int],
    isn: int = 1000,
    *,
    flags: int = 0x02,
    ack: int = 0,
) -> bytes:
    """Make the opening of a connection."""
    return frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(flags, ports=ports, numbers=(isn, ack)), ends=ends)
    )


def captured(name: str, *shots: tuple[int, bytes]) -> CapturedFile:
    """Make a capture of frames at milliseconds."""
    data = write_pcap([Shot(SECOND + at * MILLISECOND, frame) for at, frame in shots])
    return CapturedFile(name=name, capture=read_capture(data), host="one")


def test_equal_numbers_of_two_connections() -> None:
    """Senders that begin every connection with the same number are told apart by their ends and
    times.
    """
    first, second = ("10.0.0.1", "10.0.0.9"), ("10.0.0.2", "10.0.0.9")
    files = [
        captured("a", (0, syn(first, (1, 80))), (500, syn(second, (2, 80)))),
        captured("b", (1, syn(first, (1, 80))), (501, syn(second, (2, 80)))),
    ]
    found = [
        [str(passage.ends.src) for passage in each.forward.passages]
        for each in match_captures(files)
    ]

    assert [["10.0.0.1"] * 2, ["10.0.0.2"] * 2] == found


def test_equal_numbers_with_packets_in_common() -> None:
    """Identifications tell which connection is which, whatever ends and times say."""

    def marked(ends: tuple[str, str], ident: int) -> bytes:
        packet = bytearray(frames.ipv4(6, frames.tcp(0x02, numbers=(1000, 0)), ends=ends))
        packet[4:6] = ident.to_bytes(2, "big")
        return frames.ethernet(0x0800, bytes(packet))

    files = [
        captured(
            "a",
            (0, marked(("10.0.0.1", "10.0.0.9"), 7)),
            (500, marked(("10.0.0.2", "10.0.0.9"), 8)),
        ),
        captured(
            "b", (501, marked(("7.7.7.7", "8.8.8.8"), 8)), (900, marked(("7.7.7.8", "8.8.8.8"), 7))
        ),
    ]
    found = [
        [str(passage.ends.src) for passage in each.forward.passages]
        for each in match_captures(files)
    ]

    assert [["10.0.0.1", "7.7.7.8"], ["10.0.0.2", "7.7.7.7"]] == found


def test_equal_numbers_behind_translation() -> None:
    """Where a service hides the ends, the order of the connections tells which is which."""
    ends = ("10.0.0.1", "10.96.0.9")
    files = [
        captured("a", (0, syn(ends, (1, 80))), (500, syn(ends, (2, 80)))),
        captured(
            "b",
            (1, syn(("7.7.7.7", "8.8.8.8"), (9, 8080))),
            (501, syn(("7.7.7.7", "8.8.8.8"), (10, 8080))),
        ),
    ]
    found = [
        [passage.ends.sport for passage in each.forward.passages] for each in match_captures(files)
    ]

    assert [[1, 9], [2, 10]] == found


def test_a_device_that_shows_both_sides_of_nat() -> None:
    """A hairpin shows a connection twice on one device: one connection with two passages."""
    file = captured(
        "cni0",
        (0, syn(("10.0.0.1", "10.96.0.9"), (1, 80))),
        (1, syn(("10.0.0.1", "10.0.0.2"), (1, 8080))),
    )
    (connection,) = match_captures([file])

    assert ["10.96.0.9", "10.0.0.2"] == [
        str(passage.ends.dst) for passage in connection.forward.passages
    ]
    assert ["destination"] == [each.kind for each in connection.forward.translations]


def test_ports_that_are_used_again() -> None:
    """The same ends with another initial sequence number are another connection, at both points."""
    ends = ("10.0.0.1", "10.0.0.9")
    files = [
        captured(
            name,
            (at, syn(ends, (1, 80), 5)),
            (at + 500, syn(ends, (1, 80), 700)),
            (at + 900, syn(ends, (1, 80), 5)),
        )
        for at, name in enumerate(("a", "b"))
    ]

    assert [(5, 2), (700, 2)] == [
        (each.client_isn, len(each.forward.passages)) for each in match_captures(files)
    ]


def test_the_servers_number_decides() -> None:
    """Two connections with the client's number in common have different servers' numbers."""
    one, two = ("10.0.0.1", "10.0.0.9"), ("10.0.0.2", "10.0.0.9")

    def answers(at: int, *, swapped: bool) -> list[tuple[int, bytes]]:
        pair = [
            (at, syn(one[::-1], (80, 1), 31, flags=0x12, ack=1001)),
            (at + 1, syn(two[::-1], (80, 2), 32, flags=0x12, ack=1001)),
        ]
        return pair[::-1] if swapped else pair

    files = [captured("a", *answers(0, swapped=False)), captured("b", *answers(9, swapped=True))]

    assert [(31, 2), (32, 2)] == [
        (each.server_isn, len(each.backward.passages)) for each in match_captures(files)
    ]


def test_a_reply_that_is_captured_first_does_not_make_the_server_a_client() -> None:
    """A point that shows no SYN still knows by the SYN-ACK who is the client."""
    ends = ("10.0.0.1", "10.0.0.9")
    (connection,) = match_captures(
        [captured("a", (0, syn(ends[::-1], (80, 1), 31, flags=0x12, ack=1001)))]
    )

    assert ([], ["10.0.0.9"]) == (
        list(connection.forward.passages),
        [str(passage.ends.src) for passage in connection.backward.passages],
    )
    assert (1000, 31) == (connection.client_isn, connection.server_isn)


def test_packets_that_say_little_join_nothing() -> None:
    """Resets without numbers are alike in many connections: they do not make one of them."""

    def reset(source: str) -> bytes:
        packet = bytearray(
            frames.ipv4(6, frames.tcp(0x04, numbers=(0, 0)), ends=(source, "10.0.0.9"))
        )
        packet[4:6] = b"\0\0"
        return frames.ethernet(0x0800, bytes(packet))

    files = [captured(name, (0, reset("10.0.0.1")), (1, reset("10.0.0.2"))) for name in ("a", "b")]
    found = [
        [str(passage.ends.src) for passage in each.forward.passages]
        for each in match_captures(files)
    ]

    assert [["10.0.0.1"] * 2, ["10.0.0.2"] * 2] == found
