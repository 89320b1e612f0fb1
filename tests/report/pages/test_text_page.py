"""An answer that is a text as a page."""

from __future__ import annotations

from podpath.net.provenance import Source, Span
from podpath.report.pages.text_page import render_text_page
from tests.report.pages.documents import Document


def test_first_line_is_the_headline() -> None:
    """The verdict's word is set apart by the color of the exit code; the rest is as printed."""
    page = render_text_page("\x1b[1;31mFAULT:\x1b[0m 2 of 3 fail\n  <b>\n", 1)
    assert '<span class="verdict bad">FAULT</span> 2 of 3 fail</h1>' in page
    assert "<pre>  &lt;b&gt;\n</pre>" in page
    assert Document(page).strange == []


def test_text_without_a_verdict() -> None:
    """A first line without a word before a colon is the claim."""
    assert "<h1>nothing</h1>" in render_text_page("nothing\n", 3)


def test_the_deciding_lines_stand_before_the_drawing() -> None:
    """A long drawing does not push them off the first screen."""
    source = Source(name="node.txt", lines=("one", "two <b>", "three"))
    page = render_text_page("FAULT: x\nrest\n", 1, "<svg></svg>", "", [Span(source, 1, 1)])

    assert Document(page).strange == []
    assert page.index("two &lt;b&gt;") < page.index("<figure>") < page.index("rest")
