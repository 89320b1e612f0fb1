"""`wg show`: the peers of a WireGuard device, what they may send, and their latest handshake; `wg
show DEVICE allowed-ips`, a line for each peer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name, parse_prefix
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName, Prefix
from podpath.net.provenance import Source
from podpath.net.statements import WireguardInterface, WireguardPeer

_DEVICE = re.compile(r"\s*interface:\s+(?P<link>\S+)\s*$")
_PEER = re.compile(r"\s*peer:\s+(?P<key>\S+)\s*$")
_FIELD = re.compile(
    r"\s*(?P<name>public key|private key|listening port|fwmark|preshared key|endpoint|allowed ips|"
    r"latest handshake|transfer|persistent keepalive):\s*(?P<value>.*?)\s*$"
)
_TRANSFER = re.compile(r"(?P<received>\S+ \w+) received, (?P<sent>\S+ \w+) sent")
_ALLOWED = re.compile(
    r"\s*(?:(?P<link>\S+)\t)?(?P<key>[A-Za-z0-9+/]{2,44}=?)\s+"
    r"(?P<allowed>\(none\)|[\da-fA-F.:/, ]+)\s*$"
)
_NOT_SHOWN = "not shown"
"""The handshake of a peer in a listing that has none."""
_EXPECTED = "a line of wg show"


def recognise(source: Source) -> int:
    """Recognize a device or a peer with fields below it, or peers under a command that lists what
    they may send.
    """
    lines = sample(source)
    if _asked_device(source) is not None:
        return CERTAIN if any(_ALLOWED.match(line) for line in lines) else NO
    heads = any(_DEVICE.match(line) or _PEER.match(line) for line in lines)
    return CERTAIN if heads and any(_FIELD.match(line) for line in lines) else NO


def _asked_device(source: Source) -> str | None:
    """Return the device whose allowed addresses the command lists: `all` for every one."""
    command = parse_command(source.command)
    match command.program, command.arguments:
        case "wg", ("show", device, "allowed-ips"):
            return device
        case _:
            return None


def _read_allowed(source: Source, device: str) -> Reading:
    """Read a line for each peer; with all devices, each line begins with its own."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        found = _ALLOWED.match(line)
        if found is None or (device == "all" and found["link"] is None):
            ledger.gap(index, f"expected {_EXPECTED}")
            continue
        name = found["link"] if device == "all" else device
        peer = WireguardPeer(
            link=IfName(name),
            key=found["key"],
            allowed=_parse_allowed(found["allowed"]),
            handshake=_NOT_SHOWN,
        )
        ledger.add(StatementRecord(span=ledger.span(index), statement=peer))
    return ledger.close(_EXPECTED)


def read(source: Source) -> Reading:
    """Read peers; what stands above the first one belongs to the device."""
    asked = _asked_device(source)
    if asked is not None:
        return _read_allowed(source, asked)
    ledger = Ledger(source)
    link: IfName | None = None
    peer: tuple[int, str, dict[str, str]] | None = None
    own: dict[str, str] = {}
    head = last = 0
    for index, line in plain_lines(source):
        if (device := _DEVICE.match(line)) is not None:
            _flush(ledger, link, peer, last)
            peer, own, head = None, {}, index
            try:
                link = parse_name(device["link"])
            except ValueError as error:
                link = None
                ledger.gap(index, str(error))
                continue
            ledger.head(index)
        elif (found := _PEER.match(line)) is not None:
            _flush(ledger, link, peer, last)
            peer, last = (index, found["key"], {}), index
        elif (field := _FIELD.match(line)) is not None:
            if peer is None:
                own[field["name"]] = field["value"]
                _note_device(ledger, link, own, (head, index))
            else:
                peer[2][field["name"]] = field["value"]
                last = index
    _flush(ledger, link, peer, last)
    return ledger.close(_EXPECTED)


def _note_device(
    ledger: Ledger, link: IfName | None, own: Mapping[str, str], lines: tuple[int, int]
) -> None:
    """Keep a field of a device: with the last that tells, all of them are one statement."""
    key, port = own.get("public key", ""), own.get("listening port", "")
    span = ledger.span(*lines)
    known = ledger.records[-1] if ledger.records else None
    if link is None or not key or not port.isdigit():
        ledger.head(lines[1])
        return
    mark = own.get("fwmark", "off")
    statement = WireguardInterface(link, key, int(port), _parse_mark(mark))
    if isinstance(known, StatementRecord) and isinstance(known.statement, WireguardInterface):
        ledger.records.pop()
    ledger.add(StatementRecord(span=span, statement=statement))


def _parse_mark(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return 0


def _flush(
    ledger: Ledger, link: IfName | None, peer: tuple[int, str, dict[str, str]] | None, last: int
) -> None:
    if peer is None or link is None:
        return
    first, key, fields = peer
    moved = _TRANSFER.search(fields.get("transfer", ""))
    statement = WireguardPeer(
        link=link,
        key=key,
        endpoint=fields.get("endpoint", ""),
        allowed=_parse_allowed(fields.get("allowed ips", "")),
        handshake=fields.get("latest handshake", ""),
        received=moved["received"] if moved else "",
        sent=moved["sent"] if moved else "",
        preshared="preshared key" in fields,
    )
    ledger.add(StatementRecord(span=ledger.span(first, last), statement=statement))


def _parse_allowed(text: str) -> tuple[Prefix, ...]:
    prefixes: list[Prefix] = []
    for word in text.replace(",", " ").split():
        try:
            prefixes.append(parse_prefix(word))
        except ValueError:
            continue
    return tuple(prefixes)


FORMAT = Format("wg show", recognise, read)
