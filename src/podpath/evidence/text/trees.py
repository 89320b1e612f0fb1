"""YAML and JSON as people paste them: fragments, elided and indented anyhow, as trees whose values
know their lines.

A library would refuse the whole of what is cut or has one tab in it. Here each line is read by its
indentation alone, and what is not a field, item or text is skipped and reported; anchors and tags
are kept as the words that they are. Nothing is converted: a scalar stays the text that stands
there, since what `no` and `0600` mean is not for a reader to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from podpath.net.provenance import Source, Span
from podpath.net.trees import Tree

DEEPEST = 60
"""Levels that are kept: more than any object of Kubernetes has, and fewer than Python's own stack
bears.
"""
_KEY = re.compile(
    r"(?P<key>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s\[\]{}\"'#&*!|>%@`,-][^\s\"{}\[\]]*?|-[\w.-]+)\s*:"
    r"(?:\s+(?P<value>\S.*))?$"
)
_WORDS_KEY = re.compile(
    r"(?P<key>[A-Za-z][\w./-]*(?: [\w./()-]+){0,3})\s*:(?:\s+(?P<value>\S.*))?$"
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_TOKEN = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|[{}\[\],:]|[^\s{}\[\],:\"']+(?::[^\s{}\[\],\"']+)*"
)
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_ELIDED = re.compile(r"\s*(?:\.{3}|\u2026|<snip>|\[\.{3}\]|#.*|//.*|--)?\s*,?$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}


@dataclass(slots=True)
class _ValueDraft:
    """A value while it is being read."""

    first: int
    last: int
    text: str = ""
    fields: dict[str, _ValueDraft] | None = None
    items: list[_ValueDraft] | None = None
    open: _ValueDraft | None = None
    """The field or item that the next deeper lines belong to: it has no value yet."""

    @property
    def is_bare(self) -> bool:
        return not self.text and self.fields is None and self.items is None


@dataclass(slots=True)
class _Level:
    indent: int
    draft: _ValueDraft


@dataclass(slots=True)
class ParsedText:
    """What a text holds: its documents, and the lines (from 0) that are nothing of the kind."""

    trees: tuple[Tree, ...]
    unread: tuple[int, ...] = ()


@dataclass(slots=True)
class _YamlReader:
    lines: Sequence[str]
    roots: list[_ValueDraft] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    block: _ValueDraft | None = None
    """The text block (`|`) that is being read, and the indentation of its key."""
    block_indent: int = 0

    def read(self) -> None:
        for place, raw in enumerate(self.lines):
            line = raw.expandtabs(4).rstrip()
            indent = len(line) - len(line.lstrip())
            if self.block is not None:
                if not line or indent > self.block_indent:
                    self.block.text += ("\n" if self.block.text else "") + line
                    self.block.last = place if line else self.block.last
                    continue
                self.block = None
            self._take(place, indent, line.strip())

    def _take(self, place: int, indent: int, text: str) -> None:
        if text == "---" or text.startswith("--- "):
            self.levels.clear()
            return
        if _ELIDED.fullmatch(text):
            return
        while text == "-" or text.startswith("- "):
            self._item(place, indent)
            rest = text[1:].lstrip()
            indent += len(text) - len(rest)
            text = rest
        if text:
            self._content(place, indent, text)

    def _content(self, place: int, indent: int, text: str) -> None:
        found = _KEY.match(text) or (_WORDS_KEY.match(text) if len(text) < 400 else None)
        if found is not None:
            self._field(place, indent, _unquote(found["key"]), found["value"] or "")
            return
        top = self.levels[-1] if self.levels else None
        owner = top.draft.open if top is not None else None
        if owner is not None and owner.is_bare and top is not None and indent >= top.indent:
            _fill(owner, place, text)
        elif top is not None and top.draft.fields and indent > top.indent:
            last = next(reversed(top.draft.fields.values()))
            if last.fields is None and last.items is None:
                last.text, last.last = f"{last.text} {text}", place
            else:
                self.unread.append(place)
        else:
            self.unread.append(place)

    def _item(self, place: int, indent: int) -> None:
        levels = self.levels
        while levels and (
            levels[-1].indent > indent
            or (levels[-1].indent == indent and not self._holds(levels[-1], indent))
        ):
            levels.pop()
        if not levels or levels[-1].draft.items is None or levels[-1].indent < indent:
            self._open(place, indent, listed=True)
        owner = levels[-1].draft
        item = _ValueDraft(place, place)
        if owner.items is not None:
            owner.items.append(item)
            owner.open = item

    @staticmethod
    def _holds(level: _Level, indent: int) -> bool:
        """Tell whether an item at this indentation belongs to the level: its list, or a field that
        waits for one.
        """
        if level.draft.items is not None:
            return level.indent == indent
        return level.draft.open is not None and level.draft.open.is_bare

    def _field(self, place: int, indent: int, key: str, value: str) -> None:
        levels = self.levels
        while levels and (
            levels[-1].indent > indent
            or (levels[-1].indent == indent and levels[-1].draft.fields is None)
        ):
            levels.pop()
        if not levels or levels[-1].indent < indent:
            self._open(place, indent, listed=False)
        owner = levels[-1].draft
        if owner.fields is None:
            self.unread.append(place)
            return
        child = _ValueDraft(place, place)
        owner.fields[key] = child
        owner.open = None
        if _BLOCK.match(value):
            self.block, self.block_indent = child, indent
        elif _COMMENT.sub("", value).strip():
            _fill(child, place, value)
        else:
            owner.open = child

    def _open(self, place: int, indent: int, *, listed: bool) -> None:
        """Open a list or an object at this indentation, under the value that waits for one."""
        top = self.levels[-1] if self.levels else None
        draft = (
            top.draft.open
            if top is not None and top.draft.open is not None and top.draft.open.is_bare
            else None
        )
        if draft is None:
            draft = _ValueDraft(place, place)
            if (
                top is not None
                and top.draft.fields is not None
                and listed is False
                and indent > top.indent
            ):
                # A field that stands deeper than its siblings without a parent: taken for a
                # sibling, as people retype them.
                self.levels.append(_Level(indent, top.draft))
                return
            self.levels.clear()
            self.roots.append(draft)
        if listed:
            draft.items = []
        else:
            draft.fields = {}
        if len(self.levels) < DEEPEST:
            self.levels.append(_Level(indent, draft))


def _fill(draft: _ValueDraft, place: int, value: str) -> None:
    """Give a value its scalar, or the list or object that stands in the same line."""
    if value[:1] in {"[", "{"}:
        roots = _read_tokens([value], place)
        if roots:
            draft.fields, draft.items, draft.text = roots[0].fields, roots[0].items, roots[0].text
            draft.last = place
            return
    plain = value if value[:1] in {'"', "'"} else _COMMENT.sub("", value)
    draft.text, draft.last = _unquote(plain.strip()), place


def _unquote(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in {'"', "'"}:
        inner = text[1:-1]
        return (
            _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), inner)
            if text[0] == '"'
            else inner
        )
    return text


def _read_tokens(lines: Sequence[str], first: int = 0) -> list[_ValueDraft]:
    """Read JSON, whole or cut: what is open at the end counts as closed there."""
    roots: list[_ValueDraft] = []
    stack: list[_ValueDraft] = []
    key: list[str | None] = []
    for place, line in enumerate(lines, first):
        if _ELIDED.fullmatch(line):
            continue
        for found in _TOKEN.finditer(line):
            mark = found[0]
            if mark in {"{", "["}:
                draft = _ValueDraft(
                    place,
                    place,
                    fields={} if mark == "{" else None,
                    items=[] if mark == "[" else None,
                )
                _attach(roots, stack, key, draft)
                if len(stack) < DEEPEST:
                    stack.append(draft)
                    key.append(None)
            elif mark in {"}", "]"}:
                if stack:
                    stack.pop().last = place
                    key.pop()
            elif mark == ",":
                if key:
                    key[-1] = None
            elif mark != ":":
                is_key = bool(stack) and stack[-1].fields is not None and key[-1] is None
                if is_key:
                    key[-1] = _unquote(mark)
                else:
                    _attach(roots, stack, key, _ValueDraft(place, place, text=_unquote(mark)))
    return roots


def _attach(
    roots: list[_ValueDraft], stack: list[_ValueDraft], key: list[str | None], draft: _ValueDraft
) -> None:
    if not stack:
        roots.append(draft)
        return
    owner, name = stack[-1], key[-1]
    if owner.items is not None:
        owner.items.append(draft)
    elif owner.fields is not None and name is not None:
        known = owner.fields.get(name)
        if known is not None and known.text and draft.text:
            known.text = f"{known.text} {draft.text}"
        else:
            owner.fields[name] = draft


def read_yaml(source: Source, lines: Sequence[str], first_line: int) -> ParsedText:
    """Read the documents of a YAML text, or fragments of one; `first_line` is the number of its
    first line in the source.
    """
    reader = _YamlReader(lines)
    reader.read()
    return ParsedText(
        tuple(_grow(draft, source, first_line) for draft in reader.roots), tuple(reader.unread)
    )


def read_json(source: Source, lines: Sequence[str], first_line: int) -> ParsedText:
    """Read the objects of a JSON text, or the parts of one that is cut."""
    roots = _read_tokens(lines)
    return ParsedText(
        tuple(
            _grow(draft, source, first_line)
            for draft in roots
            if draft.fields is not None or draft.items is not None
        )
    )


def read_tree(source: Source, lines: Sequence[str], first_line: int) -> ParsedText:
    """Read a text that is JSON where it begins as JSON does, and else YAML."""
    head = next((line.lstrip() for line in lines if line.strip()), "")
    return (
        read_json(source, lines, first_line)
        if head.startswith(("{", "[{", "["))
        else read_yaml(source, lines, first_line)
    )


def read_embedded(tree: Tree) -> ParsedText:
    """Read the YAML or JSON that a scalar holds: a file in a ConfigMap."""
    lines = tree.text.split("\n")
    first = tree.span.line + (1 if tree.span.last_line > tree.span.line else 0)
    if tree.span.last_line > tree.span.line:
        return read_tree(tree.span.source, lines, first)
    grown = read_tree(tree.span.source, lines, first)
    return ParsedText(tuple(_flatten(part, tree.span) for part in grown.trees))


def lines_of(tree: Tree) -> Iterator[tuple[str, Span]]:
    """Yield the lines of a scalar that holds a text, each with its place."""
    source, first = tree.span.source, tree.span.line
    stands_apart = tree.span.last_line > first
    for number, line in enumerate(tree.text.split("\n")):
        place = min(first + 1 + number, tree.span.last_line) if stands_apart else first
        yield line, Span(source, place, place)


def _flatten(tree: Tree, span: Span) -> Tree:
    """Return every value the span of the one line that holds them all."""
    if isinstance(tree.value, str):
        return Tree(value=tree.value, span=span)
    if isinstance(tree.value, tuple):
        return Tree(value=tuple(_flatten(item, span) for item in tree.value), span=span)
    return Tree(value={name: _flatten(item, span) for name, item in tree.value.items()}, span=span)


def _grow(draft: _ValueDraft, source: Source, first: int) -> Tree:
    last = max(draft.last, draft.first)
    value: str | tuple[Tree, ...] | dict[str, Tree]
    if draft.fields is not None:
        value = {name: _grow(child, source, first) for name, child in draft.fields.items()}
        last = max([last, *(child.span.last_line - first for child in value.values())])
    elif draft.items is not None:
        value = tuple(_grow(child, source, first) for child in draft.items)
        last = max([last, *(child.span.last_line - first for child in value)])
    else:
        value = draft.text
    return Tree(value=value, span=Span(source, first + draft.first, first + last))
