"""Spans of time, as people and tools spell them."""

from __future__ import annotations

import pytest

from podpath.timeline.durations import parse_duration, parse_timeout, render_duration, tell_before


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("10", 10),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("3d4h", 273_600),
        ("2y", 63_072_000),
        ("1.5 minutes", 90),
    ],
)
def test_a_span_of_time(text: str, seconds: float) -> None:
    """Numbers with units add up; a bare number is seconds."""
    assert seconds == parse_duration(text)


@pytest.mark.parametrize("text", ["", "soon", "<invalid>", "10 parsecs", "-5s", "1e9s", "s10"])
def test_no_span_of_time(text: str) -> None:
    """What is no span of time gives None."""
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Get https://10.9.0.1:443/api?timeout=10s: context deadline exceeded", 10),
        ("curl: (28) Connection timed out after 3001 milliseconds", 3.001),
        ("no answer within 2s", 2),
        ("gave up: 30 second timeout", None),
        ("gave up after a 30s timeout", 30),
        ('level=warn timeout="5s" msg="lost"', 5),
        ("dial tcp 10.9.0.1:443: i/o timeout", None),
        ("timeout=0s", None),
    ],
)
def test_the_timeout_of_a_message(message: str, seconds: float | None) -> None:
    """A failure's message may name the timeout that passed."""
    assert seconds == parse_timeout(message)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "250 ms"),
        (2, "2 s"),
        (2.5, "2.5 s"),
        (90, "1 min 30 s"),
        (90_000, "1 d 1 h"),
        (-3, "-3 s"),
        (0, "0 ms"),
    ],
)
def test_a_span_for_a_reader(seconds: float, text: str) -> None:
    """A span is told in its two largest units."""
    assert text == render_duration(seconds)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (2.0, "2 s before the first failing request began"),
        (0.2, "as the first failing request began"),
        (-3, "3 s after the first failing request began"),
    ],
)
def test_how_long_before(before: float, text: str) -> None:
    """How long before the first failing request something was is told in words."""
    assert text == tell_before(before)
