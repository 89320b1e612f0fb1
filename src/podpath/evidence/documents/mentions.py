"""Which software, devices and clouds a text speaks of, prose and outputs alike: one table of words
(`mentions.toml`).

A mention is not evidence of anything; it tells which commands are worth asking for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain, starmap
from typing import NamedTuple

from podpath.evidence.text.signs import SignIndex, list_signs
from podpath.net.technologies import Emphasis, Technology, list_words
from podpath.net.word_file import read_word_file

LOOKED_AT = 1 << 16
"""Characters of a text that are looked at: what a ticket is about stands near its beginning."""

OPENING = 500
"""Characters of a text's beginning, in which people say what it is about."""


class _TechnologyWords(NamedTuple):
    """A technology and the words for it: `signs` are literals of which each of them holds one."""

    technology: Technology
    pattern: re.Pattern[str]
    signs: frozenset[str]


def _read_words(technology: str, words: str) -> _TechnologyWords:
    pattern = re.compile(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])")
    return _TechnologyWords(Technology(technology), pattern, list_signs(words))


_WORDS: Mapping[str, str] = read_word_file("podpath.evidence.documents", "mentions.toml")["words"]
MENTIONS: tuple[_TechnologyWords, ...] = tuple(starmap(_read_words, _WORDS.items()))
"""In the order of `Technology`; small letters, of which a text has no others by then: that is
twice as fast as letters of any case.
"""
_SIGNS = SignIndex(chain.from_iterable(row.signs for row in MENTIONS))


def find_mentions(text: str) -> frozenset[Technology]:
    """Return what a text speaks of. Never raises."""
    head = text[:LOOKED_AT].lower()
    held = frozenset(_SIGNS.find(head))
    return frozenset(
        row.technology
        for row in MENTIONS
        if (not row.signs or row.signs & held) and row.pattern.search(head) is not None
    )


def find_emphasis(text: str) -> Emphasis:
    """Return what a text makes most of. Never raises."""
    return Emphasis(find_mentions(text[:OPENING]), list_words(text[:LOOKED_AT]))
