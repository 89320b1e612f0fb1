"""Words with their columns, quotes, ellipses, and a cursor that always ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.text.tokenizer import (
    Cursor,
    Word,
    is_ellipsis,
    parse_columns,
    plain_lines,
    scan_quoted,
    scan_words,
    strip_terminal,
)
from podpath.net.provenance import Source


def test_words_know_their_columns() -> None:
    """A word points at the characters that it was read from."""
    assert [Word("via", 2, 5), Word("10.0.0.1", 7, 15)] == scan_words("  via  10.0.0.1 ")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('-m comment --comment "a b" -j X', ["-m", "comment", "--comment", "a b", "-j", "X"]),
        (r'--comment "say \"no\" -j Y"', ["--comment", 'say "no" -j Y']),
        ("a'b c'd", ["ab cd"]),
        (r"one\ word", ["one word"]),
        ('cut "in the', ["cut", "in the"]),
        ("cut \\", ["cut", ""]),
        ('""', [""]),
    ],
)
def test_quoted_words_are_read_as_a_shell_reads_them(line: str, words: list[str]) -> None:
    """Quotes join, a backslash escapes, and a quote that is left open takes the rest of the
    line.
    """
    assert words == [word.text for word in scan_quoted(line)]


@given(st.text())
def test_every_character_that_is_not_blank_is_in_a_word(line: str) -> None:
    """Neither scanner loses a character, quotes or not."""
    for words in (scan_words(line), scan_quoted(line)):
        inside = {column for word in words for column in range(word.start, word.end)}
        assert [] == [
            column
            for column, sign in enumerate(line)
            if not sign.isspace() and column not in inside
        ]


@pytest.mark.parametrize(
    "line",
    ["...", "  ...  ", "--", "…", "[...]", "# ...", "[snip]", "<output omitted>", "----------"],
)
def test_a_line_that_only_leaves_out_others_is_an_ellipsis(line: str) -> None:
    """Dots, grep's separator and the usual words for a cut are known."""
    assert is_ellipsis(line)


@pytest.mark.parametrize(
    "line", ["", "-", ".", "default via 10.0.0.1 ...", "0.0.0.0", "# comment", "cut"]
)
def test_a_line_that_says_something_is_no_ellipsis(line: str) -> None:
    """Only a line that says nothing else counts."""
    assert not is_ellipsis(line)


def test_colors_and_control_characters_are_taken_out() -> None:
    """What `ip -c` and a recorded terminal add does not reach the words; text in any script
    stays.
    """
    assert "eth0: état 状态" == strip_terminal("\x1b[36m\x1b[1meth0\x1b[0m: état 状态\x07")


def test_columns_of_a_heading_reach_to_the_next_title() -> None:
    """A title may be of several words where the gaps are wider than one blank."""
    assert [("bridge name", 0, 13), ("STP enabled", 13, 27)] == [
        tuple(column) for column in parse_columns("bridge name  STP enabled   x")[:2]
    ]


def test_a_cursor_gives_empty_words_past_the_end() -> None:
    """A line that ends early is no error: its value is empty."""
    cursor = Cursor("dev")

    assert ("dev", "dev", "", "", True) == (
        cursor.peek,
        cursor.take(),
        cursor.take(),
        cursor.peek,
        cursor.done,
    )


def test_a_cursor_accepts_words_only_together() -> None:
    """`accept` takes all of the words or none."""
    cursor = Cursor("mtu lock 1400")

    assert (False, True, "1400") == (
        cursor.accept("mtu", "1400"),
        cursor.accept("mtu", "lock"),
        cursor.rest,
    )


def test_a_cursor_leaves_a_word_that_cannot_be_read() -> None:
    """`attempt` gives None and stays where it is."""
    cursor = Cursor("x 5")

    assert (None, "x", 5, None) == (
        cursor.attempt(int),
        cursor.take(),
        cursor.attempt(int),
        cursor.attempt(int),
    )


def test_lines_are_read_as_they_look() -> None:
    """With their places, and without the colors of a terminal."""
    source = Source(name="ip.txt", lines=("\x1b[36meth0\x1b[0m up", "lo"))

    assert [(0, "eth0 up"), (1, "lo")] == list(plain_lines(source))
