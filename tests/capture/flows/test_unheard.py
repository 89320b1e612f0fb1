"""Requests that nothing answers are found in columns as they are in frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from podpath_capture.flows.flows import number_flows
from podpath_capture.flows.unheard import find_requests, find_unheard
from podpath_capture.reading.read import read_capture
from tests.capture import frames

NEAR, FAR = "10.0.0.1", "10.0.0.53"


def lookup(number: int, *, back: bool = False, size: int = 30) -> bytes:
    """Make a lookup from one port, or its answer."""
    ports, ends = ((53, 4000), (FAR, NEAR)) if back else ((4000, 53), (NEAR, FAR))
    message = (number.to_bytes(2, "big") + bytes(28))[:size]
    return frames.ethernet(0x0800, frames.ipv4(17, frames.udp(ports, message), ends=ends))


def ping(number: int, *, back: bool = False) -> bytes:
    """Make an echo request, or its reply."""
    ends = (FAR, NEAR) if back else (NEAR, FAR)
    message = bytes([0 if back else 8, 0, 0, 0, 0, 7]) + number.to_bytes(2, "big")
    return frames.ethernet(0x0800, frames.ipv4(1, message, ends=ends))


def unheard(*made: bytes) -> list[int]:
    """Return the rows that are found, of packets that come a second apart."""
    columns = read_capture(frames.pcap(made)).packets.columns
    return [int(row) for row in find_unheard(columns, number_flows(columns))]


@pytest.mark.parametrize("ask", [lookup, ping])
def test_requests_are_matched_by_their_numbers(ask: Callable[..., bytes]) -> None:
    """One without an answer is found, the last ones may still get theirs, and where none is
    answered at all the flow is silent as a whole.
    """
    assert [1] == unheard(ask(1), ask(2), ask(1, back=True), ask(3))
    assert [] == unheard(ask(1), ask(1, back=True), ask(3), ask(4))
    assert [] == unheard(ask(1), ask(2), ask(3), ask(4))


def test_request_that_is_sent_again_is_one() -> None:
    """It waits although the capture ends at once."""
    assert [2] == unheard(lookup(1), lookup(1, back=True), lookup(2), lookup(2))


def test_answer_whose_number_is_cut_off_may_be_of_any() -> None:
    """It is in no flow with answers that are known."""
    some = (lookup(1), lookup(1, back=True), lookup(2))

    assert [2] == unheard(*some, ping(1), ping(1, back=True))
    assert [] == unheard(*some, lookup(2, back=True, size=1), ping(1), ping(1, back=True))


def test_requests_and_answers_are_told_apart() -> None:
    """By port, and by type."""
    made = (lookup(1), lookup(1, back=True), ping(0), ping(0, back=True), lookup(0))
    columns = read_capture(frames.pcap(made)).packets.columns
    asking, answering = find_requests(columns, np.arange(len(made)))

    assert [True, False, True, False, False] == asking.tolist()
    assert [False, True, False, True, False] == answering.tolist()
