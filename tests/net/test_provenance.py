"""Spans point into their source, and an unknown fact knows whether outputs dispute it."""

from __future__ import annotations

from podpath.net.provenance import Gap, Known, Source, Span, list_spans

SOURCE = Source(name="ticket.md", lines=("a", "b", "c"), first_line=41)


def test_a_span_gives_its_lines() -> None:
    """Line numbers are those of the file that the source stands in."""
    assert ("b\nc", "ticket.md:42") == (Span(SOURCE, 42, 43).text, str(Span(SOURCE, 42, 43)))


def test_spans_of_what_stands_somewhere() -> None:
    """In order, and twice where two things stand in one line; what nothing states has none."""
    here, there = Span(SOURCE, 41, 41), Span(SOURCE, 43, 43)
    found = (Gap(there, "cut"), Known("1", None), Known("0", here), Gap(there, "cut"))
    assert (there, here, there) == list_spans(found)


def test_a_silent_command_is_quoted_as_it_was_typed() -> None:
    """With whatever ran it: `true` alone says nothing of the container that was started."""
    typed = "docker run --rm alpine ip route"
    silent = Source(name="ticket.md", lines=(), command="ip route", typed=typed, prompt="#")

    assert f"# {typed}" == Span(silent, 1, 1).text
