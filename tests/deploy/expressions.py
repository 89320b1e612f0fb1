"""The part of the Common Expression Language that `deploy/policy` is written in, evaluated as its
specification says (cel-spec, doc/langdef.md).

The project's own API server (1.20) knows no ValidatingAdmissionPolicy, so this is how the tests ask
what the expressions mean. Whatever is beyond this part (`SyntaxError`) fails the test that meets
it, so that the expressions stay small. What it does not show: that an API server takes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Value = object
Names = Mapping[str, Value]
Term = Callable[[Names], Value]
_WORD = re.compile(
    r"\s*(?:(?P<text>'[^'\\]*')|(?P<name>[A-Za-z_]\w*)|(?P<sign>&&|\|\||==|!=|[!?:.,()\[\]{}]))"
)


class ExpressionError(Exception):
    """What CEL calls an error: a field that is not there, an operand of another type."""


def evaluate(text: str, names: Names) -> Value:
    """Return what an expression comes to."""
    return compile_expression(text)(names)


def compile_expression(text: str) -> Term:
    """Read an expression; `SyntaxError` where it is none of the small part that is known here."""
    words = list(_words(text))
    reader = _Reader(words)
    term = reader.ternary()
    if reader.place != len(words):
        raise SyntaxError(f"{words[reader.place]!r} is left over in {text}")
    return term


def _words(text: str) -> Iterator[str]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None:
            raise SyntaxError(f"nothing known begins at {text[place : place + 20]!r}")
        place = found.end()
        yield found[0].strip()


@dataclass(slots=True)
class _Reader:
    """Reads words by descent, a method for each level of precedence."""

    words: list[str]
    place: int = 0

    def ternary(self) -> Term:
        """Read `a ? b : c`, or what binds tighter."""
        asked = self._any_of()
        if not self._skip("?"):
            return asked
        yes = self.ternary()
        self._need(":")
        no = self.ternary()
        return lambda names: (yes if _truth(asked(names)) else no)(names)

    def _any_of(self) -> Term:
        terms = [self._all_of()]
        while self._skip("||"):
            terms.append(self._all_of())
        return terms[0] if len(terms) == 1 else lambda names: _join(terms, names, decides=True)

    def _all_of(self) -> Term:
        terms = [self._relation()]
        while self._skip("&&"):
            terms.append(self._relation())
        return terms[0] if len(terms) == 1 else lambda names: _join(terms, names, decides=False)

    def _relation(self) -> Term:
        left = self._denial()
        if self._skip("=="):
            right = self._denial()
            return lambda names: left(names) == right(names)
        if self._skip("!="):
            other = self._denial()
            return lambda names: left(names) != other(names)
        if self._skip("in"):
            holder = self._denial()
            return lambda names: left(names) in _container(holder(names))
        return left

    def _denial(self) -> Term:
        if self._skip("!"):
            denied = self._denial()
            return lambda names: not _truth(denied(names))
        return self._member()

    def _member(self) -> Term:
        term = self._primary()
        while True:
            if self._skip("."):
                term = self._selected(term)
            elif self._skip("["):
                key = self.ternary()
                self._need("]")
                term = _indexed(term, key)
            else:
                return term

    def _selected(self, holder: Term) -> Term:
        name = self._name()
        if not self._skip("("):
            return lambda names: _field(holder(names), name)
        if name == "startsWith":
            prefix = self.ternary()
            self._need(")")
            return lambda names: _text(holder(names)).startswith(_text(prefix(names)))
        if name not in {"all", "filter"}:
            raise SyntaxError(f"the function {name} is not known here")
        variable = self._name()
        self._need(",")
        body = self.ternary()
        self._need(")")
        chosen = _all if name == "all" else _filtered
        return lambda names: chosen(holder(names), variable, body, names)

    def _primary(self) -> Term:
        if self._skip("("):
            term = self.ternary()
            self._need(")")
            return term
        if self._skip("["):
            return self._list()
        if self._skip("{"):
            self._need("}")
            return lambda _: {}
        if self.place < len(self.words) and self.words[self.place].startswith("'"):
            self.place += 1
            text = self.words[self.place - 1][1:-1]
            return lambda _: text
        name = self._name()
        if name == "has":
            return self._presence()
        return lambda names: _field(names, name)

    def _list(self) -> Term:
        terms: list[Term] = []
        while not self._skip("]"):
            if terms:
                self._need(",")
            terms.append(self.ternary())
        return lambda names: [term(names) for term in terms]

    def _presence(self) -> Term:
        """Read `has(a.b.c)`: whether the last field is there; without the others it is an error."""
        self._need("(")
        begin, path = self._name(), []
        while self._skip("."):
            path.append(self._name())
        self._need(")")
        if not path:
            raise SyntaxError("has() asks for a field")

        def present(names: Names) -> bool:
            holder = _field(names, begin)
            for name in path[:-1]:
                holder = _field(holder, name)
            return path[-1] in _mapping(holder)

        return present

    def _name(self) -> str:
        if self.place >= len(self.words) or not self.words[self.place].isidentifier():
            raise SyntaxError(f"expected a name at word {self.place} of {self.words}")
        self.place += 1
        return self.words[self.place - 1]

    def _skip(self, word: str) -> bool:
        there = self.place < len(self.words) and self.words[self.place] == word
        self.place += there
        return there

    def _need(self, word: str) -> None:
        if not self._skip(word):
            raise SyntaxError(f"expected {word!r} at word {self.place} of {self.words}")


def _join(terms: list[Term], names: Names, *, decides: bool) -> bool:
    """Join by `||` or `&&`: a term that decides outweighs another's error, in whatever order."""
    trouble: ExpressionError | None = None
    for term in terms:
        try:
            if _truth(term(names)) is decides:
                return decides
        except ExpressionError as error:
            trouble = error
    if trouble is not None:
        raise trouble
    return not decides


def _indexed(holder: Term, key: Term) -> Term:
    return lambda names: _field(holder(names), _text(key(names)))


def _all(items: Value, variable: str, body: Term, names: Names) -> bool:
    terms = [_bound(body, variable, item) for item in _container(items)]
    return _join(terms, names, decides=False)


def _filtered(items: Value, variable: str, body: Term, names: Names) -> list[Value]:
    return [item for item in _container(items) if _truth(_bound(body, variable, item)(names))]


def _bound(body: Term, variable: str, item: Value) -> Term:
    return lambda names: body({**names, variable: item})


def _field(holder: Value, name: str) -> Value:
    fields = _mapping(holder)
    if name not in fields:
        raise ExpressionError(f"no such field: {name}")
    return fields[name]


def _mapping(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise ExpressionError(f"{value!r} has no fields")
    return value


def _container(value: Value) -> list[Value]:
    """Return the items of a list, or the keys of a map."""
    if not isinstance(value, list | Mapping):
        raise ExpressionError(f"{value!r} holds nothing")
    return list(value)


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"{value!r} is neither true nor false")
    return value


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise ExpressionError(f"{value!r} is no text")
    return value
