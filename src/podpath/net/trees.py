"""Structured text with the place of every value: what YAML, JSON and the like say, as a tree whose
nodes carry their span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from podpath.net.provenance import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A value of a structured text: a scalar as it is spelled, a list, or named fields."""

    value: str | tuple[Tree, ...] | Mapping[str, Tree]
    span: Span
    """Where it stands: for a field of an object from its name to its value's last line."""

    @property
    def text(self) -> str:
        """The scalar; empty for a list or for fields."""
        return self.value if isinstance(self.value, str) else ""

    @property
    def items(self) -> tuple[Tree, ...]:
        """The elements of a list; none for anything else."""
        return self.value if isinstance(self.value, tuple) else ()

    @property
    def fields(self) -> Mapping[str, Tree]:
        """The named fields; none for a scalar or a list."""
        if isinstance(self.value, Mapping):
            return self.value
        return {}

    @property
    def texts(self) -> dict[str, str]:
        """The named fields as they are spelled; empty for one that is no scalar."""
        return {name: field.text for name, field in self.fields.items()}

    @property
    def line(self) -> Span:
        """Its first line: the one to quote."""
        return Span(self.span.source, self.span.line, self.span.line)

    @property
    def is_empty(self) -> bool:
        """Tell whether it says that there is nothing: `[]`, `{}`, `null`, `<none>` or no value at
        all.
        """
        if isinstance(self.value, str):
            return not self.value or self.value in {"null", "~", "<none>", "<unset>"}
        return not self.value

    def at(self, *path: str) -> Tree | None:
        """Return what stands under a path of field names; None where there is no such field."""
        node: Tree | None = self
        for name in path:
            node = node.fields.get(name) if node is not None else None
        return node

    def text_at(self, *path: str) -> str:
        """Return the scalar under a path of field names; empty where there is none."""
        node = self.at(*path)
        return "" if node is None else node.text

    def items_at(self, *path: str) -> tuple[Tree, ...]:
        """Return the list under a path of field names; none where there is no list."""
        node = self.at(*path)
        return () if node is None else node.items

    def walk(self) -> Iterator[tuple[str, Tree]]:
        """Yield every field below it with its name, from the top."""
        waiting: list[Tree] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node.value, Mapping):
                yield from node.value.items()
                waiting += reversed(tuple(node.value.values()))
            else:
                waiting += reversed(node.items)
