"""Text from evidence made safe to print."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from podpath.report.escape import clip, clip_columns, escape, escape_command, measure, wrap_columns


@given(st.text())
def test_escaped_text_has_no_character_that_a_terminal_acts_on(text: str) -> None:
    """Whatever the text, what comes out is printable: no controls, no format characters, no lone
    surrogates.
    """
    safe = escape(text)
    assert safe.isprintable()
    assert not {unicodedata.category(character) for character in safe} & {
        "Cc",
        "Cf",
        "Cs",
        "Zl",
        "Zp",
    }


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S", "M"))))
def test_plain_text_stays_as_it_is(text: str) -> None:
    """Letters, digits, punctuation and signs of any script are not touched."""
    assert text == escape(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("lxc\u202ecod", "lxc\\u202ecod"),
        ("a\tb", "a    b"),
        ("a\u00a0b", "a b"),
        ("a\r\nb", "a\\r\\nb"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\u2028", "\\u2028"),
    ],
)
def test_each_dangerous_character_is_spelled(text: str, expected: str) -> None:
    """A control or format character is spelled as Python spells it; blanks of any width become
    spaces.
    """
    assert expected == escape(text)


@given(st.text(), st.integers(0, 50))
def test_clipped_text_fits(text: str, width: int) -> None:
    """A clipped text is never longer than asked."""
    assert len(clip(text, width)) <= max(width, 0)


def test_wide_and_combining_signs_take_their_columns() -> None:
    """Two for a Chinese sign, none for an accent that stands on the sign before it."""
    assert [measure(text) for text in ("eth0", "网络", "e\u0301")] == [4, 4, 1]
    assert clip_columns("网络接口名字五", 14) == "网络接口名字五"
    assert measure(clip_columns("网" * 30, 16)) <= 16


@given(st.text(), st.integers(1, 40))
@example("/000\u4e5c", 4)
def test_lines_are_no_wider_than_asked(text: str, columns: int) -> None:
    """Nothing but blanks is lost, and only a sign that is wider than a line is wider."""
    lines = wrap_columns(text, columns)
    assert "".join(text.split()) == "".join("".join(lines).split())
    assert all(measure(line) <= columns or len(line) == 1 for line in lines)


def test_a_long_address_is_broken_between_its_parts() -> None:
    """Behind a colon, where one is near."""
    assert wrap_columns("as [2001:db8:1234:5678::1]:80", 18) == [
        "as [2001:db8:1234:",
        "5678::1]:80",
    ]


def test_a_command_that_nobody_copies_is_told_by_its_length() -> None:
    """A part of it would be another command."""
    assert escape_command("ip route del \x1b[2J") == "ip route del \\x1b[2J"
    assert escape_command(f"iptables {'n' * 4_000}") == (
        "(a command of 4,009 characters: --json has it)"
    )
