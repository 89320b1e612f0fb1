"""TOML to frozen dataclasses, strictly: what is unknown, missing or of the wrong kind is refused
with its line.

What comes in is a file's text and the dataclass that it shall become; what goes out is that
dataclass, or one `TableError` that names every fault at once. A field may carry `parse` in its
metadata: a function from what stands in the file to the value, which says by `ValueError` what it
expected; and `key` where its name in the file is a word of Python's.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from podpath.net.errors import PodpathError

T = TypeVar("T")
Place = tuple[str | int, ...]

_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class TableError(PodpathError):
    """A file that is no valid configuration. The message has a line for each fault: `FILE:LINE:
    expected ..., saw ...`.
    """


def parse_tables(text: str, name: str, kind: type[T], *, columns: bool = False) -> T:
    """Read a file's text into a dataclass; `TableError` where it does not fit.

    With `columns` faults name the column too, as editors jump to it.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{name}: expected TOML, saw {error}") from error
    reader = _TableReader()
    value = reader.table(kind, data, ())
    if reader.faults:
        told: list[str] = []
        for place, why in reader.faults:
            line = find_line(text, place)
            column = f":{find_column(text, line, place)}" if columns else ""
            told.append(f"{name}:{line}{column}: {why}")
        raise TableError("\n".join(told))
    return typing.cast("T", value)


def find_column(text: str, line: int, place: Place) -> int:
    """Return the column at which a line names a key, from 1; 1 where it names none."""
    keys = [part for part in place if isinstance(part, str)]
    if keys:
        return text.split("\n")[line - 1].find(keys[-1]) + 1
    return 1


def find_line(text: str, place: Place) -> int:
    """Return the line in which a key of a valid file is set: the statement that first makes it,
    read prefix by prefix.
    """
    lines = text.split("\n")
    begin = 1
    for number in range(1, len(lines) + 1):
        try:
            data: Any = tomllib.loads("\n".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if _holds(data, place):
            return begin
        begin = number + 1
    return 1


def parse_duration(value: object) -> float:
    """Read `500ms`, `10s`, `5m`, `1h` or a number of seconds; not below zero."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    if isinstance(value, str):
        digits = value.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = _UNITS.get(value[len(digits) :])
        if unit is not None and digits.isascii() and digits.isdigit():
            return int(digits) * unit
    raise ValueError("a duration such as `500ms`, `10s` or `5m`")


def _holds(data: Any, place: Place) -> bool:  # noqa: ANN401  # whatever TOML holds
    for part in place:
        if isinstance(data, Mapping) and part in data:
            data = data[str(part)]
        elif isinstance(data, Sequence) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return False
    return True


class _TableReader:
    """Reads values by their types, and gathers the faults with their places."""

    def __init__(self) -> None:
        self.faults: list[tuple[Place, str]] = []

    def table(self, kind: type[Any], data: Mapping[str, Any], place: Place) -> object:
        fields = {_key_of(field): field for field in dataclasses.fields(kind)}
        hints = typing.get_type_hints(kind)
        before = len(self.faults)
        for key in data:
            if key not in fields:
                near = difflib.get_close_matches(key, fields, 1)
                meant = f"; `{near[0]}` is near" if near else ""
                self.faults.append(
                    (
                        (*place, key),
                        f"expected one of {', '.join(fields)}, saw the unknown key `{key}`{meant}",
                    )
                )
        values: dict[str, object] = {}
        for key, field in fields.items():
            if key in data:
                values[field.name] = self._field(field, hints[field.name], data[key], (*place, key))
            elif (
                field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING
            ):
                self.faults.append((place, f"expected the key `{key}`, saw none"))
        if len(self.faults) > before:
            return None
        try:
            return kind(**values)
        except ValueError as error:
            self.faults.append((place, f"expected {error}"))
            return None

    def _field(
        self, field: dataclasses.Field[Any], hint: object, value: object, place: Place
    ) -> object:
        parse: Callable[[object], object] | None = field.metadata.get("parse")
        if parse is None:
            return self._value(hint, value, place)
        try:
            return parse(value)
        except ValueError as error:
            seen = "" if ", saw " in str(error) else f", saw {_show(value)}"
            self.faults.append((place, f"expected {error}{seen}"))
            return None

    def _value(self, hint: Any, value: object, place: Place) -> object:  # noqa: ANN401  # a type, as typing gives it
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is tuple:
            return self._items(arguments[0], value, place)
        if origin is typing.Literal:
            if value not in arguments:
                self._expect(f"one of {', '.join(map(str, arguments))}", value, place)
            return value
        if origin in {typing.Union, types.UnionType}:
            fitting = [each for each in arguments if each is not type(None) and _fits(each, value)]
            return self._value(fitting[0] if fitting else arguments[0], value, place)
        if dataclasses.is_dataclass(hint):
            if isinstance(value, Mapping):
                return self.table(typing.cast("type[Any]", hint), value, place)
            self._expect("a table", value, place)
            return None
        if not _fits(hint, value):
            self._expect(_NAMES.get(hint, str(hint)), value, place)
        if hint is float and isinstance(value, int):
            return float(value)
        return value

    def _items(self, hint: object, value: object, place: Place) -> object:
        if not isinstance(value, list):
            self._expect("a list", value, place)
            return ()
        return tuple(self._value(hint, item, (*place, index)) for index, item in enumerate(value))

    def _expect(self, wanted: str, value: object, place: Place) -> None:
        self.faults.append((place, f"expected {wanted}, saw {_show(value)}"))


def _key_of(field: dataclasses.Field[Any]) -> str:
    """Return the name of a field in a file."""
    return str(field.metadata.get("key", field.name))


def _fits(hint: object, value: object) -> bool:
    if hint is bool or isinstance(value, bool):
        return hint is bool and isinstance(value, bool)
    if hint is float:
        return isinstance(value, (int, float))
    if dataclasses.is_dataclass(hint):
        return isinstance(value, Mapping)
    return isinstance(hint, type) and isinstance(value, hint)


def _show(value: object) -> str:
    kind = _NAMES.get(type(value), type(value).__name__)
    if not isinstance(value, (dict, list)):
        return f"{kind}: {value!r}"[:120]
    return kind
