"""`ip -br link` and `ip -br addr`: one line per device, with its state and its addresses or its MAC
and flags.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.iproute.device_fields import LOWER_STATES, assemble_address
from podpath.evidence.node_records import LinkRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import is_elided, parse_mac, parse_name
from podpath.evidence.text.tokenizer import Cursor, plain_lines
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Source

_STATE = "|".join(sorted(LOWER_STATES))
_LINE = re.compile(rf"\s*(?P<name>[^\s:/]+)\s+(?P<state>{_STATE})(?=\s|$)(?P<rest>.*)")
_FLAGS = re.compile(r"<(?P<flags>[A-Z0-9_,-]*)>")
_ADDRESS = re.compile(r"\s+(?:[0-9A-Fa-f]*[.:][0-9A-Fa-f.:]*)/\d+(?:\s|$)|\s+\S+ peer \S")
_LINK_SHAPE = re.compile(
    rf"{_LINE.pattern}(?<=>)\s*$|\s*\S+\s+(?:{_STATE})\s+"
    rf"(?:[0-9A-Fa-fx]{{2}}:)+[0-9A-Fa-fx]{{2}}\s+<[A-Z0-9_,-]*>?\s*$"
)
_ADDRESS_SHAPE = re.compile(
    rf"\s*[^\s:/]+\s+(?:{_STATE})(?:\s*$|\s+[0-9A-Fa-fx]*[.:][0-9A-Fa-fx.:]*(?:/\d+|\s+peer)\b)"
)
_PEER_INDEX = re.compile(r"if(\d{1,9})")
_EXPECTED = "a device and its state"


def recognise_addresses(source: Source) -> int:
    """Recognize `NAME STATE ADDRESS/LENGTH ...` of which at least one line has an address."""
    lines = sample(source)
    shown = any(_ADDRESS_SHAPE.match(line) and _ADDRESS.search(line) for line in lines)
    return CERTAIN if shown and share(lines, _ADDRESS_SHAPE) >= 0.5 else NO


def recognise_links(source: Source) -> int:
    """Recognize `NAME STATE MAC <FLAGS>`."""
    return CERTAIN if share(sample(source), _LINK_SHAPE) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read devices, and addresses where they stand behind the state."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        found = _LINE.match(line)
        if found is None:
            continue
        try:
            _add_line(ledger, index, found)
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _add_line(ledger: Ledger, index: int, found: re.Match[str]) -> None:
    named, _, peer = found["name"].rpartition("@")
    name = parse_name(named or peer)
    far = _PEER_INDEX.fullmatch(peer) if named else None
    flags, mac = _FLAGS.search(found["rest"]), None
    words = Cursor(_FLAGS.sub("", found["rest"]))
    if flags is not None or (len(words.words) == 1 and "/" not in words.peek):
        mac = _take_mac(ledger, index, words)
    span = ledger.span(index)
    ledger.add(
        LinkRecord(
            span=span,
            name=name,
            flags=tuple(re.findall(r"[^,]+", flags["flags"])) if flags is not None else None,
            state=found["state"],
            peer_name=peer if named and far is None and peer != "NONE" else None,
            peer_ifindex=int(far[1]) if far is not None else None,
            mac=mac,
        )
    )
    _add_addresses(ledger, index, words, name)


def _take_mac(ledger: Ledger, index: int, words: Cursor) -> Mac | None:
    mac = words.attempt(parse_mac)
    if mac is None and is_elided(words.peek):
        ledger.gap(index, f"expected a MAC address, saw {words.take()!r} (elided)")
    elif mac is None and not words.done:
        words.take()
    return mac


def _add_addresses(ledger: Ledger, index: int, words: Cursor, name: IfName) -> None:
    for word in words:
        if word == "metric":
            words.take()
            continue
        fields = {"local": word}
        if words.accept("peer"):
            fields["peer"] = words.take()
        try:
            ledger.add(assemble_address(fields, (), name, ledger.span(index)))
        except ValueError as error:
            ledger.gap(index, str(error))


FORMATS = (
    Format("ip -br addr", recognise_addresses, read),
    Format("ip -br link", recognise_links, read),
)
