"""Numbers of TCP as tcpdump prints them become those of the wire again, whichever way they were
printed.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath.net.protocols import ACK, PSH, RST, SYN, TCP
from podpath_capture.columns import PacketColumns, empty_arrays
from podpath_capture.flows.flows import number_flows
from podpath_capture.printed.wire_numbers import restore_numbers

Segment = tuple[bool, int, int, int, int]
"""Whether the client sent it, flags, sequence number, acknowledgement number, bytes."""


def restore(segments: list[Segment], port: int = 40_000) -> list[tuple[int, int]]:
    """Return the numbers of one connection's packets as on the wire."""
    values = empty_arrays(len(segments))
    values["version"][:], values["protocol"][:] = 4, TCP
    for row, (client, flags, seq, ack, payload) in enumerate(segments):
        ends = ((1, port), (2, 80)) if client else ((2, 80), (1, port))
        (values["src"][row], values["sport"][row]), (values["dst"][row], values["dport"][row]) = (
            ends
        )
        for name, value in (("flags", flags), ("seq", seq), ("ack", ack), ("payload", payload)):
            values[name][row] = value
    columns = PacketColumns(**values)
    restore_numbers(columns, number_flows(columns))
    return list(zip(columns.seq.tolist(), columns.ack.tolist(), strict=True))


@given(
    st.integers(1000, 1 << 31),
    st.integers(1000, 1 << 31),
    st.sampled_from(["relative", "absolute"]),
)
def test_both_ways_of_printing(client: int, server: int, printed: str) -> None:
    """Relative and absolute numbers give the same; a bare acknowledgement has the number behind the
    SYN.
    """
    mine, other = (0, 0) if printed == "relative" else (client, server)
    segments = [
        (True, SYN, client, 0, 0),
        (False, SYN | ACK, server, client + 1, 0),
        (True, ACK, 0, other + 1, 0),
        (True, PSH | ACK, mine + 1, other + 1, 100),
        (False, PSH | ACK, other + 1, mine + 101, 50),
        (False, RST, other + 51, 0, 0),
    ]
    expected = [
        (client, 0), (server, client + 1), (client + 1, server + 1), (client + 1, server + 1),
        (server + 1, client + 101), (server + 51, 0),
    ]  # fmt: skip

    assert expected == restore(segments)


def test_ports_that_are_used_again() -> None:
    """A SYN with another number begins another connection; one with the same number is sent
    again.
    """
    segments = [
        (True, SYN, 5000, 0, 0), (True, SYN, 5000, 0, 0), (True, PSH | ACK, 1, 1, 10),
        (True, SYN, 9000, 0, 0), (True, PSH | ACK, 1, 1, 10),
    ]  # fmt: skip

    assert [5000, 5000, 5001, 9000, 9001] == [seq for seq, _ in restore(segments)]


def test_without_a_beginning_numbers_stay() -> None:
    """Where no SYN is there, numbers stay as printed, and a bare acknowledgement has 1."""
    assert [(7, 9), (1, 20)] == restore([(True, PSH | ACK, 7, 9, 5), (False, ACK, 0, 20, 0)])


def test_no_packets() -> None:
    """A capture without TCP is left as it is."""
    columns = PacketColumns(**empty_arrays(0))
    restore_numbers(columns, number_flows(columns))

    assert np.zeros(0).tolist() == columns.seq.tolist()
