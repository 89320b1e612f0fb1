"""The variables of a script for `nft -f`: `define NAME = VALUE`, and `$NAME` where it is used.

nft puts the value in where the name stands, a list into the list around it; a name has to be
defined before, and once (src/parser_bison.y 1.0.6: `redefinition of symbol`, `unknown identifier`).
Not modeled: `redefine`, `undefine`, and a name that a block defines a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from podpath.evidence.nft.tokens import Token

_CHANGING = frozenset({"redefine", "undefine"})
MOST = 500_000
"""Words that all variables of a script may come to: a few lines could ask for more than any memory
holds.
"""


class ExpandedScript(NamedTuple):
    """A script without variables."""

    tokens: tuple[Token, ...]
    defining: frozenset[int]
    """The indexes of lines that define."""
    faults: tuple[tuple[int, str], ...]
    """Lines of which nobody can tell what they stand for, with why."""


def expand_variables(tokens: Sequence[Token]) -> ExpandedScript:
    """Put values where their names stand."""
    variables = _Variables()
    defining: set[int] = set()
    out: list[Token] = []
    place, begins = 0, True
    while place < len(tokens):
        token = tokens[place]
        if begins and token.kind == "word" and token.text in {"define", *_CHANGING}:
            statement = _take_statement(tokens, place)
            place += len(statement)
            why = variables.define(statement)
            if why:
                variables.faults.append((token.line, why))
            defining.update(one.line for one in statement)
            continue
        out += variables.substitute(token, out[-1:])
        begins = token.kind == "end" or token.text in {";", "{", "}"}
        place += 1
    told = {line for line, _ in variables.faults}
    faults = tuple(dict(variables.faults).items())
    return ExpandedScript(tuple(out), frozenset(defining - told), faults)


def _take_statement(tokens: Sequence[Token], start: int) -> list[Token]:
    """Take the tokens of a statement, to the end of its line outside of braces."""
    taken: list[Token] = []
    depth = 0
    for token in tokens[start:]:
        if depth == 0 and (token.kind == "end" or token.is_sign(";") or token.is_sign("}")):
            break
        depth += token.is_sign("{") - token.is_sign("}")
        taken.append(token)
    return taken


class _Variables:
    """What the names of a script stand for, line by line."""

    def __init__(self) -> None:
        self.faults: list[tuple[int, str]] = []
        """Lines of which nobody can tell what they stand for, with why."""
        self._values: dict[str, tuple[Token, ...]] = {}
        self._left = MOST

    def define(self, statement: Sequence[Token]) -> str:
        """Keep what a name stands for; return why nobody can tell."""
        words = [token for token in statement if token.kind != "end"]
        name = words[1].text if len(words) > 1 else ""
        if words[0].text in _CHANGING:
            self._values.pop(name, None)
            return f"`{words[0].text}` is not modeled"
        if len(words) < 4 or not words[2].is_sign("="):
            return "expected `define NAME = VALUE`"
        if name in self._values:
            del self._values[name]
            return f"variable {name} is defined twice"
        value: list[Token] = []
        for token in words[3:]:
            value += self.substitute(token, value[-1:])
        self._values[name] = tuple(value)
        return ""

    def substitute(self, token: Token, before: Sequence[Token]) -> list[Token]:
        """Return what a word stands for; a list within a list is taken out of its braces."""
        if token.kind != "word" or not token.text.startswith("$"):
            return [token]
        name = token.text[1:]
        value = self._values.get(name)
        if value is None:
            self.faults.append((token.line, f"no line before it defines the variable {name}"))
            return [token]
        if len(value) > self._left:
            self.faults.append((token.line, f"the variables come to more than {MOST} words"))
            return [token]
        self._left -= len(value)
        inside = any(one.is_sign("{") or one.is_sign(",") for one in before)
        shown = value[1:-1] if inside and value[0].is_sign("{") else value
        return [one._replace(line=token.line) for one in shown]
