"""The words of nft's own language, each with the line it stands on; a comment ends at its line's
end, quotes keep spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.text.tokenizer import strip_terminal

_TOKEN = re.compile(
    r'(?P<blank>\s+)|(?P<comment>\#.*)|(?P<quoted>"[^"]*"?)|(?P<sign>==|!=|<=|>=|<<|>>|'
    r'[{};,()|&^<>=!])|(?P<word>(?:[^\s{};,()|&^<>=!"#])+)'
)
_HANDLE = re.compile(r"#\s*handle (?P<number>[0-9]{1,20})(?!\d)")


class Token(NamedTuple):
    """One word, sign or quoted string; the end of a line is a token, too."""

    text: str
    line: int
    """The index of its line."""
    kind: str
    """`word`, `sign`, `quoted` or `end`."""
    handle: int | None = None
    """Of the end of a line: the handle that `nft -a` put there."""

    def is_sign(self, text: str) -> bool:
        """Tell whether it is this sign, and no quoted one."""
        return self.kind == "sign" and self.text == text


def scan(lines: Sequence[str]) -> Iterator[Token]:
    """Yield the tokens of a listing."""
    for index, raw in enumerate(lines):
        handle = None
        for found in _TOKEN.finditer(strip_terminal(raw)):
            kind = found.lastgroup or ""
            if kind == "comment":
                number = _HANDLE.match(found[0])
                handle = int(number["number"]) if number is not None else None
            elif kind == "quoted":
                yield Token(found[0].strip('"'), index, kind)
            elif kind != "blank":
                yield Token(found[0], index, kind)
        yield Token("", index, "end", handle)


class TokenCursor:
    """The tokens of one rule, read from left to right. Mutable, local to a reader."""

    __slots__ = ("place", "tokens")

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Stand before the first word; ends of lines count for nothing within a rule."""
        self.tokens = [token for token in tokens if token.kind != "end"]
        self.place = 0

    @property
    def is_done(self) -> bool:
        """Tell whether no word is left."""
        return self.place >= len(self.tokens)

    def peek(self, ahead: int = 0) -> str:
        """Return a coming word without taking it; empty at the end."""
        place = self.place + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def sees(self, *texts: str) -> bool:
        """Tell whether the next word is one of these, unquoted."""
        return (
            not self.is_done and self.tokens[self.place].kind != "quoted" and self.peek() in texts
        )

    def take(self) -> str:
        """Take the next word; `ValueError` where there is none."""
        if self.is_done:
            raise ValueError("expected another word, saw the end")
        self.place += 1
        return self.tokens[self.place - 1].text

    def take_part(self, rest: str) -> None:
        """Take the beginning of the next word: only the rest of it is left, if any."""
        self.tokens[self.place] = self.tokens[self.place]._replace(text=rest)
        if not rest:
            self.place += 1

    def accept(self, *texts: str) -> str:
        """Take the next word if it is one of these; empty where it is not."""
        return self.take() if self.sees(*texts) else ""

    def expect(self, text: str) -> None:
        """Take a word that has to come now."""
        if not self.accept(text):
            raise ValueError(f"expected {text!r}, saw {self.peek()!r}")

    def rest(self) -> str:
        """Take all that is left, as it is spelled."""
        tokens = self.tokens[self.place :]
        self.place = len(self.tokens)
        return " ".join(
            f'"{token.text}"' if token.kind == "quoted" else token.text for token in tokens
        )
