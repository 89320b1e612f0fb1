"""`bridge [-d] link`: ports of bridges, from text and from JSON. Switches are `on` or `off` in
both.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.iproute.link_options import collect_options
from podpath.evidence.json_objects import JsonObject, head_of, lists_nothing, read_objects, text_of
from podpath.evidence.node_records import BridgePortRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.provenance import Source

_STATES = "disabled|listening|learning|forwarding|blocking"
_HEADER = re.compile(
    rf"\s*(?:\d+:\s+)?(?P<name>[^\s:/]{{1,64}}?)(?:@[^\s:]+)?:\s+<[A-Z0-9_,-]*>\s"
    rf"(?P<rest>(?:.*\s)?state (?:{_STATES})\b.*)"
)
_OPTIONS = re.compile(
    r"\s*(?:hairpin|guard|learning|flood|neigh_suppress|hwmode|mcast_\w+|bcast_flood|isolated|"
    r"vlan_tunnel)\s+\w"
)
_JSON = re.compile(rf'"state"\s*:\s*"(?:{_STATES})"')
_JSON_PORT = re.compile(r'"(?:master|cost|hairpin)"\s*:')
_HEADER_WORDS = frozenset({"mtu", "master", "state"})
_NO_OPTION = frozenset(
    {"ifindex", "link", "ifname", "flags", "mtu", "master", "state", "link_index"}
)
_EXPECTED = "a port of a bridge"


def recognise(source: Source) -> int:
    """Recognize device lines with a state of a bridge port."""
    lines = sample(source)
    headers = share(lines, _HEADER)
    return CERTAIN if headers and headers + share(lines, _OPTIONS) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read ports from text; the options of `-d` stand on a line of their own."""
    ledger = Ledger(source)
    header: tuple[int, re.Match[str]] | None = None
    for index, line in plain_lines(source):
        found = _HEADER.match(line)
        if found is not None:
            _flush(ledger, header, None)
            header = index, found
        elif header is not None and _OPTIONS.match(line):
            _flush(ledger, header, (index, line))
            header = None
        elif line.strip():
            _flush(ledger, header, None)
            header = None
    _flush(ledger, header, None)
    return ledger.close(_EXPECTED)


def _flush(
    ledger: Ledger, header: tuple[int, re.Match[str]] | None, options: tuple[int, str] | None
) -> None:
    if header is None:
        return
    index, found = header
    words = dict(_parse_pairs(Cursor(found["rest"])))
    details = {key: value for key, value in words.items() if key not in _HEADER_WORDS}
    if options is not None:
        details |= dict(_parse_pairs(Cursor(options[1])))
    try:
        name = parse_name(found["name"])
    except ValueError as error:
        ledger.gap(index, str(error))
        return
    span = ledger.span(index, options[0] if options is not None else index)
    ledger.add(
        BridgePortRecord(
            span=span,
            port=name,
            bridge=words.get("master"),
            state=words.get("state"),
            details=details,
        )
    )


def _parse_pairs(cursor: Cursor) -> list[tuple[str, str]]:
    pairs = []
    for word in cursor:
        value = cursor.take()
        if value:
            pairs.append((word, value))
    return pairs


def recognise_json(source: Source) -> int:
    """Recognize objects with a state of a bridge port."""
    head = head_of(source)
    shown = _JSON.search(head) and _JSON_PORT.search(head) and '"operstate"' not in head
    return CERTAIN if shown or lists_nothing(source, "bridge", "link") else NO


def read_json(source: Source) -> Reading:
    """Read ports from JSON."""
    return read_objects(source, _add_port, _EXPECTED)


def _add_port(ledger: Ledger, item: JsonObject) -> str | None:
    try:
        name = parse_name(text_of(item.value, "ifname") or "")
    except ValueError as error:
        return str(error)
    options = collect_options(
        {key: value for key, value in item.value.items() if key not in _NO_OPTION}, ""
    )
    ledger.add(
        BridgePortRecord(
            span=ledger.span(item.first, item.last),
            port=name,
            bridge=text_of(item.value, "master"),
            state=text_of(item.value, "state"),
            details=options,
        )
    )
    return None


FORMATS = (
    Format("bridge link", recognise, read),
    Format("bridge -j link", recognise_json, read_json),
)
