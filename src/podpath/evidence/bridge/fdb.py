"""`bridge fdb`: forwarding entries of bridges and of vxlan devices, from text and from JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    lists_nothing,
    read_objects,
    text_of,
    words_of,
)
from podpath.evidence.node_records import FdbRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_mac, parse_name, parse_number
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.provenance import Source, Span

_LINE = re.compile(
    r"\s*(?:[0-9A-Fa-fxX*]{2}:){5}[0-9A-Fa-fxX*]{2}\s+(?:dev\s+\S+|(?:dst\s+\S+|vlan\s+\d+|"
    r"master\s+\S+)(?:\s.*)?$|(?:self|permanent)\b)"
)
_JSON = re.compile(r'"mac"\s*:\s*"')
_JSON_LINK = re.compile(r'"(?:ifname|state|flags)"\s*:')
_VALUES = frozenset({"dev", "vlan", "master", "dst"})
_MEMBERS = (
    ("mac", "mac"),
    ("dev", "ifname"),
    ("vlan", "vlan"),
    ("master", "master"),
    ("dst", "dst"),
)
"""Words of the text, and the JSON keys that stand for them."""
_SKIPPED = frozenset({"port", "vni", "src_vni", "link", "via", "link-netnsid", "nhid", "used"})
_EXPECTED = "a forwarding entry"


def recognise(source: Source) -> int:
    """Recognize lines of a MAC and where it is."""
    return CERTAIN if share(sample(source), _LINE) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read forwarding entries from text."""
    ledger = Ledger(source)
    asked = _asked_link(source)
    for index, line in plain_lines(source):
        if _LINE.match(line) is None:
            continue
        try:
            words, flags = _parse_line(Cursor(line))
            ledger.add(_assemble(words, flags, ledger.span(index), asked))
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _parse_line(cursor: Cursor) -> tuple[dict[str, str], tuple[str, ...]]:
    words = {"mac": cursor.take()}
    flags: list[str] = []
    for word in cursor:
        if word in _VALUES:
            words[word] = cursor.take()
        elif word in _SKIPPED:
            cursor.take()
        else:
            flags.append(word)
    return words, tuple(flags)


def recognise_json(source: Source) -> int:
    """Recognize objects with `mac`."""
    head = head_of(source)
    shown = _JSON.search(head) and _JSON_LINK.search(head)
    return CERTAIN if shown or lists_nothing(source, "bridge", "fdb") else NO


def read_json(source: Source) -> Reading:
    """Read forwarding entries from JSON."""
    asked = _asked_link(source)

    def build(ledger: Ledger, item: JsonObject) -> str | None:
        words = {
            word: text for word, key in _MEMBERS if (text := text_of(item.value, key)) is not None
        }
        if "mac" not in words:
            return "expected a forwarding entry, saw an object without mac"
        state = text_of(item.value, "state")
        try:
            flags = words_of(item.value, "flags") + ((state,) if state else ())
            ledger.add(_assemble(words, flags, ledger.span(item.first, item.last), asked))
        except ValueError as error:
            return str(error)
        return None

    return read_objects(source, build, _EXPECTED)


def _asked_link(source: Source) -> str | None:
    """Return the device that the command asks for: its entries do not repeat it."""
    return parse_command(source.command).option("dev", "brport")


def _assemble(
    words: Mapping[str, str], flags: tuple[str, ...], span: Span, asked: str | None
) -> FdbRecord:
    link = words.get("dev", asked)
    return FdbRecord(
        span=span,
        mac=parse_mac(words["mac"]),
        link=parse_name(link) if link is not None else None,
        vlan=parse_number(words["vlan"]) if "vlan" in words else None,
        master=words.get("master"),
        dst=parse_address(words["dst"]) if "dst" in words else None,
        flags=flags,
    )


FORMATS = (
    Format("bridge fdb", recognise, read),
    Format("bridge -j fdb", recognise_json, read_json),
)
