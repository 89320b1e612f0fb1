"""Tests for how a form is made of its parts."""

from __future__ import annotations

import re

from podpath.xtables.wording import make_form


def test_a_part_may_be_missing() -> None:
    """What begins with `?` may be left out, with the blank before it."""
    form = make_form("state", "state (?P<state>[A-Z]+)", "?(?P<flag_more>more)")

    assert re.fullmatch(form.text, "state  NEW more")
    assert re.fullmatch(form.text, "state NEW")


def test_a_form_ends_with_its_word() -> None:
    """The beginning of a longer word is no match."""
    assert re.match(make_form("esp", "esp").text, "especially") is None
