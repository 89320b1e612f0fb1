"""Reads the faults whose words are data: in a room's `messages.toml` those that a message tells by
itself, in `switches.toml` those of a kernel switch; a table `[[check]]` for each fault with the
fields of a `MessageCheck` or `SwitchCheck`, and its manual page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from podpath.checks.category import Category
from podpath.checks.finding import FollowUp, Severity
from podpath.checks.ground import Ground, Unsettling
from podpath.checks.message_check import MessageCheck, Value
from podpath.checks.needs import Need
from podpath.net.data_files import read_data
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind


def read_checks(room: str) -> tuple[MessageCheck, ...]:
    """Read the faults of a room, in the order of its file."""
    return tuple(MessageCheck(**fields) for fields in read_fields(room, "messages.toml"))


def read_fields(room: str, name: str) -> Iterator[dict[str, Any]]:
    """Read the fields of each table of a room's file, by name."""
    text = read_data("podpath.checks", f"{room}/{name}")
    return map(_parse_fields, tomllib.loads(text)["check"])


def parse_checks(text: str) -> tuple[MessageCheck, ...]:
    """Parse a room's file; a field or word that does not exist is an error of ours and raises."""
    return tuple(MessageCheck(**_parse_fields(table)) for table in tomllib.loads(text)["check"])


def _parse_fields(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _READERS.get(name, _parse_text)(value) for name, value in table.items()}


def _parse_text(text: str) -> str:
    """Return a text without the end of its last line, which is the file's."""
    return text.strip()


def _parse_kinds(words: Sequence[str]) -> tuple[MessageKind, ...]:
    return tuple(map(MessageKind, words))


def _parse_categories(words: Sequence[str]) -> tuple[Category, ...]:
    return tuple(map(Category, words))


def _parse_grounds(words: Sequence[str]) -> frozenset[Ground]:
    return frozenset(Ground[word] for word in words)


def _parse_doubts(words: Sequence[str]) -> frozenset[Unsettling]:
    return frozenset(Unsettling[word] for word in words)


def _parse_failures(words: Sequence[str]) -> frozenset[FailureKind]:
    return frozenset(map(FailureKind, words))


def _parse_pattern(table: Mapping[str, str]) -> tuple[str, re.Pattern[str]]:
    ((name, pattern),) = table.items()
    return name, re.compile(pattern, re.IGNORECASE)


def _parse_needed(words: Sequence[str]) -> frozenset[Need]:
    return frozenset(map(Need, words))


def _parse_values(places: Mapping[str, Any]) -> tuple[Value, ...]:
    return tuple(_parse_value(place, table) for place, table in places.items())


def _parse_value(place: str, table: Mapping[str, Any]) -> Value:
    lists = {name: tuple(value) for name, value in table.items() if name != "default"}
    return Value(place, **lists, default=table.get("default", ""))


def _parse_need(table: Mapping[str, str]) -> tuple[str, str]:
    (need,) = table.items()
    return need


def _parse_question(table: Mapping[str, str]) -> FollowUp:
    return FollowUp(**{name: _parse_text(text) for name, text in table.items()})


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "kinds": _parse_kinds,
    "categories": _parse_categories,
    "values": _parse_values,
    "commands": tuple,
    "needs": _parse_need,
    "severity": Severity,
    "certainty": float,
    "ask": _parse_question,
    "settled_by": _parse_grounds,
    "doubted_by": _parse_doubts,
    "proves": _parse_failures,
    "proves_where": _parse_pattern,
    "needed_for": _parse_needed,
    "keys": tuple,
    "unless": frozenset,
    "possible": float,
}
"""How each field is read that is not a text."""
