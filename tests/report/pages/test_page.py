"""The page: it loads and runs nothing, and its policy names its own styles."""

from __future__ import annotations

import base64
import hashlib
import re

from hypothesis import given
from hypothesis import strategies as st

from podpath.net.provenance import Source, Span
from podpath.report.pages.page import (
    LONGEST_LIST,
    LONGEST_TEXT,
    PageHead,
    Section,
    list_items,
    quote_lines,
    render_page,
    show_commands,
    show_text,
)

HEAD = PageHead("CAUSE", "bad", "a claim")


def test_policy_allows_the_pages_own_styles() -> None:
    """Everything is forbidden but styles of these hashes."""
    page = render_page(
        HEAD, ("<figure><style>text{fill:red}</style></figure>",), (), "text{fill:red}"
    )
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; style-src ")
    for style in re.findall(r"<style>(.*?)</style>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1]


def test_claim_is_text() -> None:
    """Markup in a claim is shown, not made."""
    page = render_page(PageHead("CAUSE", "bad", "<script>alert(1)</script>"), (), ())
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2


def test_empty_parts_are_left_out() -> None:
    """A part without a body has no title either."""
    page = render_page(HEAD, (), (Section("Why", ""), Section("Not read (1)", "x")))
    assert "Why" not in page
    assert "<details><summary>Not read (1)</summary>x</details>" in page


def test_deciding_lines_stand_between_their_neighbors() -> None:
    """Three lines around, the deciding ones marked, what is near quoted once, the rest apart."""
    source = Source(name="rules.txt", lines=tuple(f"line {n}" for n in range(1, 41)))
    quoted = quote_lines((Span(source, 10, 10), Span(source, 14, 14), Span(source, 30, 30)))
    assert re.findall(r"<mark> *(\d+)  line \d+\n</mark>", quoted) == ["10", "14", "30"]
    assert quoted.count("<pre") == 2
    assert re.findall(r"rules\.txt:\d+", quoted) == [
        "rules.txt:10",
        "rules.txt:30",
    ]
    assert "line 7\n" in quoted
    assert "line 17\n" in quoted
    assert "line 18\n" not in quoted
    far = re.findall(r'<span class="far"> *(\d+)  line \d+\n</span>', quoted)
    assert far == ["7", "8", "12", "16", "17", "27", "28", "32", "33"]


def test_command_that_printed_nothing_is_quoted() -> None:
    """An empty output's line is its command."""
    source = Source(name="t.md", lines=(), command="ip route", prompt="#")
    assert "<mark># ip route</mark>" in quote_lines((Span(source, 5, 5),))


def test_long_parts_are_cut_and_say_so() -> None:
    """A page stays small whatever was found."""
    assert "The rest is left out here." in show_text("x" * (LONGEST_TEXT + 1))
    assert "The rest" not in show_text("x" * LONGEST_TEXT)
    items = list_items(["x"] * (LONGEST_LIST + 7))
    assert items.count("<li>x</li>") == LONGEST_LIST
    assert "and 7 more" in items


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_commands_are_text(commands: list[str]) -> None:
    """Whatever a command holds, it is one element."""
    shown = show_commands(commands)
    assert re.findall(r"<[^>]*>", shown) == ['<pre class="commands">', "</pre>"]
