"""Text from evidence made safe to print: the one place where it is done.

A device name, a rule's comment or a pasted line may hold escape sequences that move the cursor,
bidirectional controls that reorder what the reader sees, or bytes that no encoding has a sign for.
Every report passes all of its text through here.
"""

from __future__ import annotations

TAB = "    "
"""What a tab is printed as: a terminal's tab stops would tear the columns of a report."""


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
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


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
