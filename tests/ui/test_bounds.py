"""Sizes of the page."""

from __future__ import annotations

from podpath_ui.bounds import NAME, shorten


def test_a_name_is_short_and_visible() -> None:
    """A long name is cut, and what is not plainly visible is spelled out."""
    assert shorten("\u202eevil\x1b[31m") == "\\u202eevil\\x1b[31m"
    assert len(shorten("n" * 2_000_000)) == NAME
