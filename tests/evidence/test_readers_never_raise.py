"""Readers take anything: damaged outputs of real tools, and text that nobody meant as evidence."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podpath.evidence import recognition
from podpath.evidence.formats import Format
from podpath.evidence.recognition import FORMATS
from podpath.net.provenance import Source
from tests.evidence.consoles import consoles

CONSOLES = [source for source in consoles() if source.lines]
COMMANDS = st.one_of(
    st.none(),
    st.sampled_from([source.command for source in CONSOLES]),
    st.text(max_size=40),
    st.sampled_from(
        [
            "sudo",
            "ip netns exec",
            "nsenter -t",
            "kubectl exec -it",
            "bash -c",
            "cat {a,b}{c",
            "lsmod | grep",
            "sysctl -n {,}",
        ]
    ),
)
WORDS = st.sampled_from(
    [
        "via", "dev", "inet", "link/ether", "nexthop", "from", "lookup", "mtu", "metric",
        "999999999999999999999", "0x", "::", "-1", "10.0.0.300", "eth0", "{", "}", "[", '"', "\\",
        "%", "٣", "\uff11\uff10.0.0.1", "\x00", "é", "<", ">", "|", "\u2028",
        "if99999999999999999999",
    ]
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> Source:
    """Return a part of a real output with characters deleted, replaced, repeated and lines cut."""
    source = draw(st.sampled_from(CONSOLES))
    start = draw(st.integers(0, len(source.lines) - 1))
    text = "\n".join(source.lines[start : start + draw(st.integers(1, 12))])[:3000]
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 6))
        text = (
            text[:place]
            + draw(st.one_of(st.just(""), WORDS, st.text(max_size=3)))
            + text[place + length :]
        )
    return Source(
        name=draw(st.sampled_from(("ticket.md", "sysctl.conf", "ip6-route.json"))),
        lines=tuple(text.split("\n")),
        command=draw(COMMANDS),
    )


@given(damaged())
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_outputs_never_raise(source: Source) -> None:
    """Whatever was deleted, typed over or cut, every format recognises and reads it without an
    error.
    """
    recognition.recognise(source)
    for row in FORMATS:
        row.read(source)


@given(st.lists(st.text(max_size=80), max_size=8), COMMANDS)
@settings(max_examples=150)
def test_random_text_never_raises(lines: list[str], command: str | None) -> None:
    """Text that is no output at all is read without an error."""
    source = Source(name="x", lines=tuple(lines), command=command)
    recognition.recognise(source)
    for row in FORMATS:
        row.read(source)


@given(st.lists(st.lists(WORDS, max_size=14).map(" ".join), max_size=5), COMMANDS)
@settings(max_examples=150)
def test_words_of_the_formats_in_any_order_never_raise(
    lines: list[str], command: str | None
) -> None:
    """Keywords without their values, values out of range, and quotes left open are read without an
    error.
    """
    source = Source(name="x", lines=tuple(lines), command=command)
    for row in FORMATS:
        row.recognise(source)
        row.read(source)


LINES = (
    "a" * 50_000,
    " " * 50_000 + "x",
    '{"' * 25_000,
    "[" * 50_000,
    '"\\' * 25_000,
    "10." * 17_000,
    "1: " * 17_000,
    "1: eth0: <" + "UP," * 15_000,
    "-A " * 17_000,
    "net.ipv4.conf." + "a." * 22_000 + "x = ",
    "10.0.0.0/8 via " * 4_000,
    "0: from all " * 4_000,
    "\t" * 50_000,
    '[{"dst":"10.0.0.0/8"},' * 2_500,
    '{"a":' * 10_000,
    "...=>" * 10_000,
    "::" * 25_000 + " dev",
    "} , " * 50_000,
)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_a_monstrous_line_takes_linear_time(row: Format) -> None:
    """A line of 50 kB of what a format is made of is recognised and read in moments, since no
    pattern backtracks without end.
    """
    for line in LINES:
        source = Source(name="x", lines=(line, line))
        before = time.process_time()
        row.recognise(source)
        row.read(source)
        assert time.process_time() - before < 3, line[:20]
