"""`ip neigh`: the neighbor table, from text (`-s` too) and from JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample, share
from podpath.evidence.json_objects import (
    JsonObject,
    head_of,
    is_set,
    lists_nothing,
    read_objects,
    text_of,
    words_of,
)
from podpath.evidence.node_records import NeighbourRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_mac
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.addresses import Mac
from podpath.net.provenance import Source, Span

STATES = frozenset(
    {"PERMANENT", "NOARP", "REACHABLE", "STALE", "NONE", "INCOMPLETE", "DELAY", "PROBE", "FAILED"}
)
"""NUD states as iproute2 spells them (`print_neigh_state`)."""
FLAGS = ("router", "proxy", "extern_learn", "managed", "extern_valid", "offload", "sticky")
_STATE = "|".join(sorted(STATES))
_LINE = re.compile(
    rf"\s*[0-9A-Fa-fxX*.:]+\s+(?:dev\s+\S+\s+)?(?:lladdr\s+\S+\s|.*\b(?:{_STATE})\s*"
    r"(?:proto\s+\w+\s*)?$|(?:proxy|router)\b)"
)
_START = re.compile(
    r"\s*(?=[0-9A-Fa-fxX*]*[.:])[0-9A-Fa-fxX*.:]+\s+(?:dev|lladdr|used|ref|proxy|router|[A-Z]+\b)"
)
_TIMES = re.compile(r"\d+(?:/\d+)+(?:probes)?")
_JSON = re.compile(r'"dst"\s*:\s*"[^"]*"')
_JSON_STATE = re.compile(r'"(?:state|lladdr|proxy)"\s*:')
_NOT_NEIGHBOUR = re.compile(r'"(?:mac|ifname|priority)"\s*:')
_EXPECTED = "a neighbour"


def recognise(source: Source) -> int:
    """Recognize lines with an address and a link-layer address or a state."""
    if share(sample(source), _LINE) < 0.5:
        return NO
    return CERTAIN if parse_command(source.command).program == "ip" else LIKELY + 20


def read(source: Source) -> Reading:
    """Read neighbors from text."""
    ledger = Ledger(source)
    asked = parse_command(source.command).option("dev")
    for index, line in plain_lines(source):
        if _START.match(line) is None:
            continue
        try:
            ledger.add(_parse_line(Cursor(line), ledger.span(index), asked))
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _parse_line(cursor: Cursor, span: Span, asked: str | None) -> NeighbourRecord:
    words: dict[str, str] = {"dst": cursor.take()}
    flags: list[str] = []
    for word in cursor:
        if word in {"dev", "lladdr"}:
            words[word] = cursor.take()
        elif word in STATES:
            words["state"] = word
        elif word in FLAGS:
            flags.append(word)
        elif word in {"used", "ref", "probes", "proto", "nud", "vni", "protocol"}:
            cursor.take()
        elif not (_TIMES.fullmatch(word) or word.isdigit()):
            raise ValueError(f"expected a word of a neighbour, saw {word[:60]!r}")
    return _assemble(words, tuple(flags), span, asked)


def recognise_json(source: Source) -> int:
    """Recognize objects with `dst` and a state or link-layer address."""
    head = head_of(source)
    shown = _JSON.search(head) and _JSON_STATE.search(head) and not _NOT_NEIGHBOUR.search(head)
    return CERTAIN if shown or lists_nothing(source, "ip", "neigh") else NO


def read_json(source: Source) -> Reading:
    """Read neighbors from JSON."""
    asked = parse_command(source.command).option("dev")

    def build(ledger: Ledger, item: JsonObject) -> str | None:
        value = item.value
        words = {
            key: text
            for key in ("dst", "dev", "lladdr")
            if (text := text_of(value, key)) is not None
        }
        states = words_of(value, "state")
        if "dst" not in words:
            return "expected a neighbour, saw an object without dst"
        if states:
            words["state"] = states[0]
        try:
            flags = tuple(flag for flag in FLAGS if is_set(value, flag))
            ledger.add(_assemble(words, flags, ledger.span(item.first, item.last), asked))
        except ValueError as error:
            return str(error)
        return None

    return read_objects(source, build, _EXPECTED)


def _assemble(
    words: Mapping[str, str], flags: tuple[str, ...], span: Span, asked: str | None
) -> NeighbourRecord:
    lladdr = words.get("lladdr")
    mac: Mac | None = (
        parse_mac(lladdr) if lladdr is not None and not _is_tunnel_end(lladdr) else None
    )
    return NeighbourRecord(
        span=span,
        address=parse_address(words["dst"]),
        link=words.get("dev", asked),
        mac=mac,
        state=words.get("state"),
        flags=flags,
    )


def _is_tunnel_end(lladdr: str) -> bool:
    """Tell whether a link-layer address is an IP address, as tunnel devices have."""
    try:
        parse_address(lladdr)
    except ValueError:
        return False
    return True


FORMATS = (Format("ip neigh", recognise, read), Format("ip -j neigh", recognise_json, read_json))
