"""The last column of an `iptables -L` row to the matches and the target that `iptables-save` would
print for the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.iptables.listing_forms import APART, BARE, MATCHES, SPECIAL, TARGETS
from podpath.evidence.iptables.listing_values import read_value
from podpath.evidence.iptables.ruleset import ExtensionText
from podpath.xtables.rule import MatchOption
from podpath.xtables.wording import Form

_GOTO = re.compile(r"\[goto\](?!\S)\s*")
_BLANK = re.compile(r"\s*")
_TARGET_NAMES = frozenset(form.extension for form in TARGETS)
_MOST_PIECES, _LONGEST = 64, 4000
"""More than iptables lets a rule hold; beyond it a text is garbage, and trying ways must stay
cheap.
"""


class ListedText(NamedTuple):
    """What the text of a row says."""

    matches: tuple[ExtensionText, ...]
    target: ExtensionText | None
    goto: bool = False
    unread: str = ""


class _TextPiece(NamedTuple):
    extension: str
    options: tuple[MatchOption, ...]
    end: int
    unread: str


def parse_listed_text(target: str | None, text: str) -> ListedText:
    """Read the text behind the destination, for a rule with that target.

    The words of one match may begin like another's, and a comment may hold anything, so ways are
    tried in turn until one reads the whole text. What no way reads makes the rule unread: it is
    kept with the matches before it.
    """
    goto = _GOTO.match(text)
    start = goto.end() if goto else 0
    search = _Search(text, target)
    last = search.run(_skip(text, start)) if len(text) <= _LONGEST else None
    if last is None:
        rest = text[search.furthest or start :]
        shown = ExtensionText(target) if target else None
        why = f"expected the words of a match or target, saw {rest.strip()[:60]!r}"
        return ListedText(_join(search.best), shown, goto is not None, why)
    unread = next((piece.unread for piece in (*search.pieces, last) if piece.unread), "")
    shown = ExtensionText(last.extension or target or "", last.options) if target else None
    return ListedText(_join(search.pieces), shown, goto is not None, unread)


class _Search:
    """Tries the ways to read a text, depth first. Mutable, local to one row."""

    __slots__ = ("_dead", "_target", "_text", "best", "furthest", "pieces")

    def __init__(self, text: str, target: str | None) -> None:
        self._text = text
        self._target = target
        self._dead: set[int] = set()
        self.pieces: list[_TextPiece] = []
        self.best: list[_TextPiece] = []
        """The pieces of the way that got furthest, where none gets to the end."""
        self.furthest = 0

    def run(self, place: int) -> _TextPiece | None:
        """Read on from a place; give the target's piece when the end is reached."""
        if place in self._dead or len(self.pieces) > _MOST_PIECES:
            return None
        if place > self.furthest:
            self.furthest, self.best = place, list(self.pieces)
        end = _end_with_target(self._text, place, self._target)
        if end is not None:
            return end
        for piece in _match_pieces(self._text, place):
            self.pieces.append(piece)
            found = self.run(_skip(self._text, piece.end))
            if found is not None:
                return found
            self.pieces.pop()
        self._dead.add(place)
        return None


def _end_with_target(text: str, place: int, target: str | None) -> _TextPiece | None:
    """Read the rest of the text as the target's, if it is that."""
    rest = text[place:].rstrip()
    if target is not None and target in _TARGET_NAMES:
        # `-j NOTRACK` is kept as CT by the kernel, and shows by its text only
        for form in TARGETS:
            if form.extension == target or (target == "CT" and form.extension == "NOTRACK"):
                found = (
                    _compile(form.text).fullmatch(text, place, place + len(rest)) if rest else None
                )
                if found is not None:
                    options, unread = _read_options(form, found)
                    return _TextPiece(form.extension, options, len(text), unread)
    if rest:
        return None
    unread = ""
    if target is not None and target in _TARGET_NAMES and target not in BARE:
        unread = f"iptables -L shows no options of {target}"
    return _TextPiece("", (), len(text), unread)


def _match_pieces(text: str, place: int) -> Iterator[_TextPiece]:
    """Yield every way to read a match at a place: a comment may end at any of its `*/`."""
    if text.startswith("/*", place):
        for closing in re.finditer(r"\*/(?!\S)", text[place + 2 :]):
            end = place + 2 + closing.end()
            comment = text[place + 2 : end - 2].removeprefix(" ").removesuffix(" ")
            yield _TextPiece("comment", (MatchOption("comment", (comment,)),), end, "")
        return
    for form in MATCHES:
        found = _compile(form.text).match(text, place)
        if found is not None:
            options, unread = _read_options(form, found)
            yield _TextPiece(form.extension, options, found.end(), unread)


@lru_cache(maxsize=512)
def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _skip(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return blank.end() if blank else place


def _read_options(form: Form, found: re.Match[str]) -> tuple[tuple[MatchOption, ...], str]:
    """Make the options of a form's groups; what is wrong with a value makes the rule unread."""
    groups = found.groupdict()
    special = SPECIAL.get(form.extension)
    read: list[MatchOption] = []
    try:
        for option in _generic_options(groups) if special is None else special(groups):
            values = tuple(read_value(option.name, value) for value in option.values)
            read.append(option._replace(values=values))
    except ValueError as error:
        return tuple(read), form.unread or str(error)
    return tuple(read), form.unread


def _generic_options(groups: dict[str, str | None]) -> Iterator[MatchOption]:
    """Spell groups as options: by name, in the order of the form."""
    for group, value in groups.items():
        if value is None or group.startswith("no_"):
            continue
        negated = groups.get(f"no_{group}") is not None
        flag = group.startswith("flag_")
        name = group.removeprefix("flag_").replace("_", "-")
        yield MatchOption(name, () if flag else (value,), negated)


def _join(pieces: list[_TextPiece]) -> tuple[ExtensionText, ...]:
    """Put neighboring texts of one match together: conntrack prints each of its options apart."""
    matches: list[ExtensionText] = []
    for piece in pieces:
        before = matches[-1] if matches else None
        if before is not None and before.name == piece.extension and piece.extension in APART:
            names = {option.name for option in before.options}
            if names.isdisjoint(option.name for option in piece.options):
                matches[-1] = ExtensionText(before.name, before.options + piece.options)
                continue
        matches.append(ExtensionText(piece.extension, piece.options))
    return tuple(matches)
