"""JSON arrays of objects, as iproute2 and jq print them, to objects that know their lines.

Python's decoder reads object after object, so a listing of 100 MB never stands in memory as a whole
tree, and one damaged or cut object costs a gap and not the rest. What JSON values are is not
trusted: the getters at the end give None for another type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from podpath.evidence.commands.command import asked_object, parse_command
from podpath.evidence.formats import sample
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source


class JsonObject(NamedTuple):
    """One object of the top-level array."""

    value: Mapping[str, object]
    first: int
    """Index of the line on which it begins."""
    last: int
    text: str
    """Its own JSON text."""


class InvalidJson(NamedTuple):
    """A part that is no JSON."""

    first: int
    last: int
    why: str
    text: str


Build = Callable[[Ledger, JsonObject], str | None]
"""Adds the records of one object to the ledger; gives the reason where it cannot."""

_DECODER = json.JSONDecoder(parse_float=str)
_FILL = re.compile(r"[\s,\[\]\ufeff]*+")
_NEXT = re.compile(r"\}\s*+,\s*+(?=\{)|^[ \t]*+(?=\{)", re.MULTILINE)
_BRACKETS = re.compile(r"[\s,\[\]{}\ufeff]*")


def read_objects(source: Source, build: Build, expected: str) -> Reading:
    """Read a JSON listing: records from `build`, a gap for each damaged part, headings for lines of
    brackets only.
    """
    ledger = Ledger(source)
    for item in scan_objects(source):
        if isinstance(item, InvalidJson):
            ledger.gap(item.first, item.why, item.last)
            continue
        why = (
            build(ledger, item) if item.value else None
        )  # iproute2 prints `{}` for what its filter left out
        if why is not None:
            ledger.gap(item.first, why, item.last)
    for index, line in enumerate(source.lines):
        if (
            line
            and not ledger.is_claimed(index)
            and not line.isspace()
            and _BRACKETS.fullmatch(line)
        ):
            ledger.head(index)
    return ledger.close(expected)


def scan_objects(source: Source, start: int = 0) -> Iterator[JsonObject | InvalidJson]:
    """Yield the objects of the top-level array, and what is damaged between them; from a place in
    the text on.
    """
    text = "\n".join(source.lines)
    place, line = start, text.count("\n", 0, start)
    while True:
        start = _skip_fill(text, place)
        line += text.count("\n", place, start)
        if start >= len(text):
            return
        value, end, why = _decode(text, start)
        last = line + text.count("\n", start, end)
        if isinstance(value, dict):
            yield JsonObject(value, line, last, text[start:end])
        else:
            yield InvalidJson(line, last - (text[end - 1 : end] == "\n"), why, text[start:end])
        place, line = end, last


def head_of(source: Source) -> str:
    """Return the beginning of a source that starts as JSON does; empty where it does not."""
    head = "\n".join(sample(source)[:60])[:4000]
    return head if head.lstrip(" \t\n\ufeff")[:1] in {"[", "{"} else ""


def lists_nothing(source: Source, program: str, asked: str) -> bool:
    """Tell whether a source is an empty listing: `[]`, or `[{},{}]` as older versions print it, of
    what its command asks for.
    """
    command = parse_command(source.command)
    found = asked_object(command)
    if command.program != program or found is None or found[0] != asked:
        return False
    lines = sample(source)
    return (
        bool(lines)
        and lines[0].lstrip().startswith("[")
        and all(_BRACKETS.fullmatch(line) for line in lines)
    )


def decode_first_wins(text: str) -> Mapping[str, object]:
    """Decode one object so that of equal keys the first counts: iproute2 6.1 prints `dst` twice for
    a route with `encap`.
    """

    def keep_first(pairs: list[tuple[str, object]]) -> dict[str, object]:
        return dict(reversed(pairs))

    decoded: Mapping[str, object] = json.loads(text, object_pairs_hook=keep_first, parse_float=str)
    return decoded


def _skip_fill(text: str, place: int) -> int:
    found = _FILL.match(text, place)
    return found.end() if found is not None else place


def _decode(text: str, start: int) -> tuple[object, int, str]:
    """Decode one value; where it is no object, give the place of the next one that looks like an
    object.
    """
    broken, why = start, "expected a JSON object"
    if text[start] == "{":
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            broken, why = error.pos, f"damaged JSON: {error.msg}"
        except (ValueError, RecursionError):
            why = "damaged JSON: nested too deeply, or a number beyond reason"
        else:
            return value, end, ""
    found = _NEXT.search(text, max(broken, start + 1))
    if found is None:
        return None, len(text), why
    return None, found.start() + (text[found.start()] == "}"), why


def text_of(value: Mapping[str, object], key: str) -> str | None:
    """Return a string or a number as text; None where there is none."""
    found = value.get(key)
    if isinstance(found, str):
        return found
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else None


def number_of(value: Mapping[str, object], key: str, most: int = 0xFFFFFFFF) -> int | None:
    """Return a number from 0 to `most`; None where there is none."""
    found = value.get(key)
    return (
        found
        if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= most
        else None
    )


def object_of(value: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return a nested object; an empty one where there is none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def objects_of(value: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    """Return the objects of a nested array."""
    found = value.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def words_of(value: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return the strings of a nested array."""
    found = value.get(key)
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def is_set(value: Mapping[str, object], key: str) -> bool:
    """Tell whether a switch is on: iproute2 prints it as null, true, or not at all."""
    return key in value and value[key] is not False
