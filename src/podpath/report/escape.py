"""Text from evidence made safe to print: the one place where it is done.

A device name, a rule's comment or a pasted line may hold escape sequences that move the cursor,
bidirectional controls that reorder what the reader sees, or bytes that no encoding has a sign for.
Every report passes all of its text through here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

TAB = "    "
"""What a tab is printed as: a terminal's tab stops would tear the columns of a report."""

LONGEST_COMMAND = 4_000
"""Characters of a command that is shown whole."""
PARTING = ":/-."
"""Behind these a long word is broken over lines."""


def escape(text: str) -> str:
    r"""Spell the text with every character that is not plainly visible as a backslash escape, so
    that it stays on one line.

    A space of any width becomes a space; controls, format characters (bidirectional ones too), line
    and paragraph separators, lone surrogates, private and unassigned code points are spelled
    `\x1b`, `\u202e` and so on.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _spell(character) for character in text
    )


def _spell(character: str) -> str:
    if character == "\t":
        return TAB
    if character.isspace() and character not in "\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029":
        return " "
    if character == "\n":
        return "\\n"
    if character == "\r":
        return "\\r"
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


def escape_command(command: str) -> str:
    """Escape a command; one that holds more than anybody copies from a screen (a rule's comment of
    megabytes) is told by its length, since a part of it would be another command.
    """
    if len(command) > LONGEST_COMMAND:
        return f"(a command of {len(command):,} characters: --json has it)"
    return escape(command)


def clip(text: str, width: int) -> str:
    """Shorten text to the width with an ellipsis in the middle, where it is longer: both ends of a
    line tell.
    """
    if len(text) <= width:
        return text
    if width < 8:
        return text[:width]
    tail = (width - 5) // 3
    return f"{text[: width - 5 - tail]} ... {text[len(text) - tail :]}"


def measure(text: str) -> int:
    """Return how many columns text takes: two for a sign of Chinese, Japanese or Korean, none for
    one that combines with the sign before it (Unicode Standard Annex 11).
    """
    if text.isascii():
        return len(text)
    return sum(_measure_sign(sign) for sign in text)


def _measure_sign(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    if unicodedata.east_asian_width(sign) in {"W", "F"}:
        return 2
    return 1


def clip_columns(text: str, columns: int) -> str:
    """Shorten text as `clip` does, to columns instead of characters."""
    kept = clip(text, columns)
    width = min(len(kept), columns)
    while measure(kept) > columns and width > 0:
        width -= 1
        kept = clip(text, width)
    return kept


def wrap_columns(text: str, columns: int) -> list[str]:
    """Break text into lines no wider than so many columns, between words where it can."""
    words = [part for word in text.split() for part in _part_word(word, columns)]
    lines: list[str] = []
    for word in words:
        if lines and measure(lines[-1]) + 1 + measure(word) <= columns:
            lines[-1] = f"{lines[-1]} {word}"
        else:
            lines.append(word)
    return lines


def _part_word(word: str, columns: int) -> Iterator[str]:
    """Break a word that is wider than a line, behind a sign that parts an address where it can."""
    part = ""
    for sign in word:
        while part and measure(part + sign) > columns:
            at = max(part.rfind(one) for one in PARTING) + 1 or len(part)
            yield part[:at]
            part = part[at:]
        part += sign
    yield part
