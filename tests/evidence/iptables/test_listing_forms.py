"""The wordings of `iptables -L`, as data."""

from __future__ import annotations

import re

import pytest

from podpath.evidence.iptables.listing_forms import MATCHES, SPECIAL, TARGETS
from podpath.evidence.iptables.options import MATCHES as MATCH_OPTIONS
from podpath.evidence.iptables.options import TARGETS as TARGET_OPTIONS
from podpath.xtables.wording import Form

FORMS = (*MATCHES, *TARGETS)


def option_of(group: str) -> str:
    """Return the option that a group stands for."""
    return group.removeprefix("no_").removeprefix("flag_").replace("_", "-")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.extension} {form.text[:40]}")
def test_groups_are_options_of_the_extension(form: Form) -> None:
    """A form compiles, and its groups name options that the extension has, unless a special reader
    takes them.
    """
    options = (
        MATCH_OPTIONS[form.extension]
        if form.extension in MATCH_OPTIONS
        else TARGET_OPTIONS[form.extension]
    )
    groups = re.compile(form.text).groupindex

    if form.extension not in SPECIAL:
        assert {option_of(group) for group in groups} <= options.keys()
        assert all(
            options[option_of(group)] == 0
            for group in groups
            if group.startswith(("flag_", "no_flag_"))
        )


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.extension} {form.text[:40]}")
def test_a_form_ends_with_a_word(form: Form) -> None:
    """No wording matches the beginning of a longer word."""
    assert form.text.endswith(r"(?!\S)")


def test_blanks_stand_for_any_white_space() -> None:
    """iptables pads some wordings with two blanks, and mail programs fold others."""
    connmark = next(form for form in MATCHES if form.extension == "connmark")

    assert re.fullmatch(connmark.text, "connmark match  ! 0x80/0x80")
