"""Captures narrowed to a stretch of time: how it is named, and what is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.capture_window import CaptureWindow, parse_window
from podpath.net.errors import UsageError
from podpath.node.case import Case, Sighting
from podpath.testing.nodes import given_netns, given_node
from tests.diagnosis.scenes import ACK, SYN, SYN_ACK, frame

NINE = 1_739_264_400.0
"""2025-02-11 09:00:00 UTC."""


def talk(port: int, start: float) -> tuple[Sighting, ...]:
    """See a handshake that takes a minute."""
    forth, back = f"10.0.0.1:{port} > 10.0.0.2:80", f"10.0.0.2:80 > 10.0.0.1:{port}"
    made = (
        frame(forth, SYN, "in eth0", seq=port),
        frame(back, SYN_ACK, "out eth0", seq=port + 1),
        frame(forth, ACK, "in eth0", seq=port + 2),
    )
    return tuple(replace(seen, time=start + 30 * at) for at, seen in enumerate(made))


def parse(since: str = "", until: str = "") -> CaptureWindow:
    """Read what somebody says of a capture from nine to ten."""
    shown = (*talk(1000, NINE), *talk(2000, NINE + 3540))
    return parse_window(since, until, (), shown)


def test_moments_are_named_in_several_ways() -> None:
    """As a date, a time of the capture's day, or seconds after the first packet."""
    assert CaptureWindow(NINE + 60, NINE + 120) == parse("2025-02-11 09:01:00", "09:02")
    assert CaptureWindow(NINE + 12.5) == parse("+12.5")
    with pytest.raises(UsageError, match="expected a moment"):
        parse("soon")
    with pytest.raises(UsageError, match=r"expected seconds such as \+12.5"):
        parse("+soon")
    with pytest.raises(UsageError, match="have no times"):
        parse_window("+1", "", (), ())


def test_connections_are_kept_whole() -> None:
    """One that has a packet within keeps those after the end, so that nothing is unanswered that is
    answered.
    """
    early, late = talk(1000, NINE), talk(2000, NINE + 3540)
    case = Case(node=given_node(given_netns("host")), sightings=(*early, *late))

    assert early == parse(until="+10").narrow(case).sightings
    assert late == parse("+61").narrow(case).sightings
    with pytest.raises(UsageError, match="no packet"):
        parse("+61", "+62").narrow(case)
