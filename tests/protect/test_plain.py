"""Tests of `podpath_protect.plain`: nothing that a terminal obeys is left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.plain import plain


@given(st.text())
def test_what_leaves_is_printable(text: str) -> None:
    """Whatever comes, what leaves is printable and can be written; what was printable is the
    same.
    """
    assert plain(text).isprintable()
    assert plain(text).encode().decode() == plain(text)
    assert not text.isprintable() or text == plain(text)


def test_control_characters_are_spelled() -> None:
    """An escape, a line's end, one of the second range and half a character."""
    assert r"a\x1b[31m\n\x9b\x7f\ud800" == plain("a\x1b[31m\n\x9b\x7f\ud800")
