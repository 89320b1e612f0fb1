"""Reports as HTML: the same text, balanced tags, and nothing of the evidence as markup."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from podpath.report.notebook import render_html
from podpath.report.style import SGR, Style

PAINT = Style(color=True)


def test_colors_become_styles() -> None:
    """Each meaning has its own span, and a reset ends it."""
    for meaning in SGR:
        page = render_html(f"a {PAINT.paint(meaning, 'b')} c")
        assert re.search(r'a <span style="[^"]+">b</span> c</pre>\n$', page)


def test_markup_is_text() -> None:
    """Tags, quotes and ampersands of evidence are escaped."""
    assert "&lt;script&gt;&amp;&quot;" in render_html('<script>&"')


@given(
    st.lists(
        st.tuples(st.sampled_from([*SGR, ""]), st.text(st.characters(exclude_characters="\x1b")))
    )
)
def test_page_holds_the_text_and_only_our_tags(pieces: list[tuple[str, str]]) -> None:
    """Whatever the text is: unescaped it reads the same, and every span is closed."""
    page = render_html(
        "".join(PAINT.paint(meaning, text) if meaning else text for meaning, text in pieces)
    )
    inner = page.partition(">")[2].removesuffix("</pre>\n")
    bare = re.sub(r'<span style="[a-z0-9#:;.-]+">|</span>', "", inner)

    assert "".join(text for _, text in pieces) == html.unescape(bare)
    assert "<" not in bare
    assert inner.count("<span") == inner.count("</span>")
