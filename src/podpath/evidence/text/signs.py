"""Many signs looked for in one text at once: only those whose rarest three characters the text has
are looked for at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence


class SignIndex:
    """Signs by their rarest three characters; a sign that is shorter is looked for in every
    text.
    """

    def __init__(self, signs: Iterable[str]) -> None:
        """Index signs; one that is given twice counts once."""
        self._signs: Sequence[str] = tuple(dict.fromkeys(signs))
        common = Counter(gram for sign in self._signs for gram in _part(sign))
        self._by_gram: dict[str, list[int]] = {}
        for number, sign in enumerate(self._signs):
            rarest = min(_part(sign), key=lambda gram: (common[gram], gram), default="")
            self._by_gram.setdefault(rarest, []).append(number)

    def find(self, text: str) -> Sequence[str]:
        """Return the signs that a text holds, in the order in which they were given."""
        grams = {"", *_part(text)} & self._by_gram.keys()
        numbers = sorted(number for gram in grams for number in self._by_gram[gram])
        return [self._signs[number] for number in numbers if self._signs[number] in text]


def _part(text: str) -> Iterator[str]:
    # Threes: a text of a few lines has hundreds, and of a thousand signs' rarest ones hardly any.
    return map("".join, zip(text, text[1:], text[2:], strict=False))


_TOKEN = re.compile(
    r"(?P<literal>[^\\\[\](){}|?*+.^$]|\\[^\w\s])|(?P<open>\((?:\?(?::|<?[!=]|P<\w+>))?)|(?P<close>\))|"
    r"(?P<none>[?*]|\{[^}]*\})|(?P<other>\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|.)",
    re.DOTALL,
)


def list_signs(pattern: str) -> frozenset[str]:
    """Return literals of which every text that a pattern matches holds one: of each alternative the
    longest that is in no group; none where an alternative has none.
    """
    signs: set[str] = set()
    runs, depth = [""], 0
    for token in _TOKEN.finditer(f"{pattern}|"):
        kind, text = token.lastgroup, token.group()
        depth += (kind == "open") - (kind == "close")
        if depth or kind == "close":
            runs.append("")
        elif kind == "literal":
            runs[-1] += text[-1]
        elif text == "|":
            signs.add(max(runs, key=len))
            runs = [""]
        else:
            if kind == "none":
                runs[-1] = runs[-1][:-1]
            runs.append("")
    return frozenset() if "" in signs else frozenset(signs)
