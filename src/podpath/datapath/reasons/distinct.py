"""Named tuples that differ by their class too: a reason is what decided, not only the values in it.

Walks make reasons by the thousand, so they are named tuples. Two of those are equal wherever their
fields are, and one without fields is false; neither is right for a reason.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T", bound=tuple[object, ...])


def distinct(kind: type[T]) -> type[T]:
    """Make instances of a named tuple equal only to those of its own class, and true without
    fields.
    """
    for name, method in _METHODS.items():
        setattr(kind, name, method)
    return kind


def _equals(self: tuple[object, ...], other: object) -> bool:
    return type(self) is type(other) and tuple.__eq__(self, other)


def _differs(self: tuple[object, ...], other: object) -> bool:
    return not _equals(self, other)


def _is_true(self: tuple[object, ...]) -> bool:
    del self
    return True


_METHODS = {"__eq__": _equals, "__ne__": _differs, "__hash__": tuple.__hash__, "__bool__": _is_true}
