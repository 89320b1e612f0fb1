"""What the prose of a ticket tells beside the failure itself, taken from its sentences: when it
begins, what helps, and what the host is for.

No sentence is known as a whole. A circumstance is a row of words (`circumstances.toml`): who, what
is done or is so, and how these stand to each other; each of them is a set of words that people use
for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.documents.sentences import list_sentences, list_taken
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.complaints import Circumstance, Told
from podpath.net.provenance import Source, Span
from podpath.net.word_file import read_word_file

_PREFIX = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}/\d{1,2}(?![\w/])")
_ADDRESS = re.compile(r"(?<![\w./])(?:\d{1,3}\.){3}\d{1,3}(?![\w/]|\.\d)")
_ROWS: Sequence[tuple[str, str]] = read_word_file(
    "podpath.evidence.documents", "circumstances.toml"
)["rows"]
_TABLE = tuple(
    (Circumstance[name], re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE))
    for name, pattern in _ROWS
)


def read_circumstances(
    name: str, lines: Sequence[str], sources: Iterable[Source]
) -> tuple[Told, ...]:
    """Return what the prose of a document tells, each circumstance by the first sentence that does;
    by each, where it is about what stands above. Never raises.
    """
    document = Source(name=name, lines=tuple(lines))
    found: dict[tuple[Circumstance, int], Told] = {}
    for text, first, last in list_sentences(lines, list_taken(sources)):
        for one in find_circumstances(text):
            prefixes = tuple(find_prefixes(text))
            addresses = tuple(find_addresses(text))
            place = first if one is Circumstance.PAST else 0
            span = Span(document, first, last)
            found.setdefault((one, place), Told(one, span, prefixes, addresses))
    return tuple(found.values())


def find_circumstances(text: str) -> Iterator[Circumstance]:
    """Yield what a sentence tells."""
    return (one for one, pattern in _TABLE if pattern.search(text) is not None)


def find_prefixes(text: str) -> Iterator[Prefix]:
    """Yield the networks that a text names."""
    for found in _PREFIX.finditer(text):
        try:
            yield Prefix.parse(found.group())
        except ValueError:
            continue


def find_addresses(text: str) -> Iterator[Address]:
    """Yield the addresses of IPv4 that a text names without a prefix length."""
    for found in _ADDRESS.finditer(text):
        address = read_address(found.group())
        if address is not None:
            yield address
