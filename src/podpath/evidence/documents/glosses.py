"""Prose of other languages, word for word in English: enough for readers of complaints, who look
for who, whom and how it fails, and for nothing else.

Nobody could read the result aloud. Words that are not known stay; names, addresses and outputs
within a sentence are the same in all languages. The words are a file beside this module.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable

from podpath.net.data_files import read_data

_WORDS = tomllib.loads(read_data("podpath.evidence.documents", "glosses.toml"))
_JOINED: dict[str, str] = _WORDS["joined"]
_SPACED: dict[str, str] = _WORDS["spaced"]
_MARKED: dict[str, str] = _WORDS["marks"]


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_WIDE = r"\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_SCRIPT = re.compile(rf"[{_WIDE}]")
_OF_SCRIPTS = re.compile(_any_of(_JOINED))
_OF_ALPHABETS = re.compile(rf"\b(?:{_any_of(_SPACED)})\b", re.IGNORECASE)
_MARKS = re.compile(_any_of(_MARKED))
_POSTPOSITION = re.compile(
    r"(\S+?)(?:\uc5d0\uc11c|\u304b\u3089)[\ub294\ub3c4\u306f\u3082]?(?=\s|\W|$|[\u3040-\u9fff])"
)
"""Korean and Japanese say `from` behind a word."""


def gloss(text: str) -> str:
    """Return a text with the words that are known of other languages in English."""
    if _SCRIPT.search(text) is not None:
        text = _MARKS.sub(lambda found: _MARKED[found[0]], text)
        text = _POSTPOSITION.sub(r" from \1 ", text)
        text = _OF_SCRIPTS.sub(lambda found: f" {_JOINED[found[0]]} ", text)
        return " ".join(text.split())
    return _OF_ALPHABETS.sub(lambda found: _SPACED[found[0].lower()], text)
