"""How connections went, in Zeek's words."""

from __future__ import annotations

import pytest

from podpath.capture.states import STATES
from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.tcp_states import (
    ANSWERED,
    ASKED,
    COMPLETE,
    NOTHING,
    TcpStates,
    find_tcp_states,
)
from podpath_capture.reading.read import read_capture
from tests.capture import frames

FLAGS = {"S": 0x02, "H": 0x12, "A": 0x10, "F": 0x11, "R": 0x14}
"""SYN, SYN-ACK, ACK, FIN, RST, as Zeek's history writes them: large from the client, small from the
server.
"""


def follow(history: str) -> TcpStates:
    """Make a connection of a history of letters, and follow it."""
    packets = [
        frames.ethernet(0x0800, frames.ipv4(
            6,
            frames.tcp(
                FLAGS[letter.upper()], ports=(40000, 80) if letter.isupper() else (80, 40000),
            ),
            ends=("10.0.0.1", "10.0.0.2") if letter.isupper() else ("10.0.0.2", "10.0.0.1"),
        ))
        for letter in history
    ]  # fmt: skip
    columns = read_capture(frames.pcap(packets)).packets.columns
    return find_tcp_states(columns, number_flows(columns))


@pytest.mark.parametrize(
    ("history", "state", "handshake"),
    [
        ("S", "S0", ASKED), ("SSS", "S0", ASKED), ("Sr", "REJ", ASKED), ("SR", "RSTOS0", ASKED), ("SF", "SH", ASKED),  # noqa: E501
        ("Sh", "S1", ANSWERED), ("ShA", "S1", COMPLETE), ("ShAF", "S2", COMPLETE), ("ShAf", "S3", COMPLETE),  # noqa: E501
        ("ShAFfA", "SF", COMPLETE), ("ShAR", "RSTO", COMPLETE), ("ShAr", "RSTR", COMPLETE), ("ShR", "RSTO", ANSWERED),  # noqa: E501
        ("h", "OTH", ANSWERED), ("hr", "RSTRH", ANSWERED), ("hf", "SHR", ANSWERED), ("Aa", "OTH", NOTHING),  # noqa: E501
        ("hAFf", "SF", ANSWERED), ("hA", "S1", ANSWERED), ("hR", "OTH", ANSWERED), ("AaFfA", "SF", NOTHING),  # noqa: E501
        ("ShAFfR", "SF", COMPLETE), ("ShAFRf", "SF", COMPLETE), ("ShAFRa", "RSTO", COMPLETE), ("ShAFr", "RSTR", COMPLETE),  # noqa: E501
        ("ShAFrf", "RSTR", COMPLETE), ("AaRFf", "OTH", NOTHING), ("AaF", "OTH", NOTHING),
    ],
)  # fmt: skip
def test_states(history: str, state: str, handshake: int) -> None:
    """Each way that a connection goes has its state, and says how far the handshake came."""
    found = follow(history)

    assert ((state,), [handshake]) == (found.state, found.handshake.tolist())
    assert state in STATES


def test_who_reset_and_how_often() -> None:
    """Resets and handshake packets are counted by their sender."""
    found = follow("SShhRrr")

    assert (2, 2, 1, 2) == tuple(
        int(each[0])
        for each in (found.syns, found.syn_acks, found.client_resets, found.server_resets)
    )


def test_client_is_known_from_a_late_capture() -> None:
    """Where a SYN-ACK comes first, its receiver is the client."""
    assert [False] == follow("hA").client_is_first.tolist()
    assert [True] == follow("Sh").client_is_first.tolist()
