"""Quotes: a span of JSON shows the element that counts on one line, other text as it stands."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from podpath.net.provenance import Gap, Source, Span
from podpath.report.quotes import LONGEST_LINE, render_gaps, render_quotes
from podpath.report.style import Style

ROUTES = [
    {"dst": f"10.1.{number}.0/24", "dev": f"veth{number}", "flags": []} for number in range(40)
]


def shown(text: str, *marks: str) -> list[str]:
    """Quote a whole text as one span, without the lines that underline."""
    lines = tuple(text.split("\n"))
    span = Span(Source(name="b/ip-route.json", lines=lines), 1, len(lines))
    return [line for line in render_quotes((span,), marks, Style(), "") if line.startswith("b/")]


def test_the_element_that_counts_of_a_line_of_json() -> None:
    """A listing on one line, and one over many, show the route that is meant."""
    for text in (json.dumps(ROUTES), json.dumps(ROUTES, indent=1)):
        assert ['b/ip-route.json:1 | {"dst": "10.1.7.0/24", "dev": "veth7", "flags": []}'] == shown(
            text, "veth7", "10.1.7.0/24"
        )


def test_other_text_is_quoted_as_it_stands() -> None:
    """What is no JSON keeps its lines, though it begins like it."""
    assert ["b/ip-route.json:1 | [0:0] -A FORWARD", "b/ip-route.json:2 | -j DROP"] == shown(
        "[0:0] -A FORWARD\n-j DROP", "DROP"
    )


@given(
    st.text(st.characters(codec="utf-8"), max_size=400), st.lists(st.text(max_size=5), max_size=3)
)
def test_quotes_are_short_and_printable(text: str, marks: list[str]) -> None:
    """Whatever stands in the evidence."""
    lines = shown(text, *marks)
    assert all(line.isprintable() and len(line) <= LONGEST_LINE + 60 for line in lines)


def test_gaps_are_counted_and_the_first_are_shown() -> None:
    """All of them where the reader asked for all."""
    source = Source(name="t.md", lines=("a", "b", "c", "d", "e"))
    gaps = [Gap(Span(source, line, line), f"saw {line}") for line in range(1, 6)]

    assert ["", "Not read (5)", "  t.md:1 | a", "    saw 1"] == render_gaps(gaps, Style())[:4]
    assert "  and 2 more lines: --verbose lists all" == render_gaps(gaps, Style())[-1]
    assert ["  t.md:5 | e", "    saw 5"] == render_gaps(gaps, Style(verbose=True))[-2:]
    assert [] == render_gaps([], Style())
