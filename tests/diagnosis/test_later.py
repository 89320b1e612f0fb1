"""A fault is open where later lines say that it is over."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.checks.ground import Unsettling
from podpath.diagnosis.later import read_time
from tests.diagnosis.tickets import HANG, find


@pytest.mark.parametrize(
    ("after", "certainty"),
    [
        ("[ 5190.337218] enp2s0f0: entered promiscuous mode", 0.6),
        ("[ 9001.000001] tg3 0000:02:00.0 enp2s0f0: Link is up at 1000 Mbps, full duplex", 0.6),
        ("[   27.005530] enp2s0f0: entered promiscuous mode", 1.0),
        ("[ 9001.000001] tg3 0000:03:00.0 enp3s0: Link is up at 1000 Mbps", 1.0),
        ("[ 9001.000001] tg3 0000:02:00.0 enp2s0f0: transmit timed out, resetting", 1.0),
    ],
)
def test_a_hang_that_is_long_over_is_possible(after: str, certainty: float) -> None:
    """The same device goes on for minutes; soon after, another one, or again a hang, does not
    count.
    """
    found = find("device-hangs", HANG, after)

    assert certainty == found.certainty
    assert (Unsettling.OVER in found.reasoning) is (certainty < 1)
    assert (certainty < 1) is bool(found.asks)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("[   11.402881] eth0: up", 11.402881),
        ("Mar 02 08:11:01 n1 kernel: eth0: up", 29461.0),
        ("2024-01-01T00:01:00Z eth0", 60.0),
        ("eth0: up", None),
    ],
)
def test_the_time_of_a_line(line: str, time: float | None) -> None:
    """Since the boot, or of the day; none where it has none."""
    assert time == read_time(line)


@given(st.text(max_size=60))
def test_any_line_has_a_time_or_none(line: str) -> None:
    """No line breaks it."""
    assert read_time(line) is None or read_time(line) is not None


OVERFLOW = "neighbour: arp_cache: neighbor table overflow!"


@pytest.mark.parametrize(
    ("lines", "clock", "certainty"),
    [
        ((f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 0.6),
        ((f"2024-01-08T03:12:44Z n1 kernel: {OVERFLOW}",), "Thu 15 Feb 2024 09:30:01 AM CET", 0.6),
        ((f"Jan  8 03:12:44 n1 kernel: {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 0.6),
        ((f"[Thu Feb 15 09:12:44 2024] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 1.0),
        (
            (
                f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}",
                f"[Thu Feb 15 09:12:44 2024] {OVERFLOW}",
            ),
            "Thu Feb 15 09:30:01 UTC 2024",
            1.0,
        ),
        ((f"[  812.100000] {OVERFLOW}",), "Thu Feb 15 09:30:01 UTC 2024", 1.0),
    ],
)
def test_an_event_of_last_month_is_over(
    lines: tuple[str, ...], clock: str, certainty: float
) -> None:
    """Unless it happens again, or nothing tells when it was."""
    found = find("neighbour-table-full", *lines, "# date", clock)

    assert certainty == found.certainty
    assert (Unsettling.LONG_AGO in found.reasoning) is (certainty < 1)


def test_an_event_that_comes_each_night_is_not_over() -> None:
    """People say so."""
    old = f"[Mon Jan  8 03:12:44 2024] {OVERFLOW}"
    prose = "Every now and then the host fails to fetch packages, and then it works again."
    found = find("neighbour-table-full", old, "# date", "Thu Feb 15 09:30:01 UTC 2024", prose=prose)

    assert found.certainty == 1
