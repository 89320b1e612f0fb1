"""`ethtool DEVICE`, `mii-tool` and lshw's network class: what a card and its link partner agreed
on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source
from podpath.net.statements import LinkMode

_TITLE = re.compile(r"\s*Settings for (?P<link>[^\s:]+):\s*$")
_CLASS = re.compile(r"\s*\*-(?:network|bridge)(?::\d+)?(?: (?:DISABLED|UNCLAIMED))?\s*$")
_MII = re.compile(r"\s*(?P<link>[a-zA-Z][\w.-]{0,14}): +(?P<rest>.*\b(?:link ok|no link)\b.*)$")
_FIELD = re.compile(r"\s*(?P<name>[A-Za-z][\w/ -]{1,50}?):(?:\s+(?P<value>\S.*?))?\s*$")
_MODES = re.compile(r"\s*(?:\d+base\S+(?:\s+\d+base\S+)*|Not reported|FEC\S*|drv probe.*)\s*$")
_FASTEST = re.compile(r"(?P<speed>\d+)base")
_SPEED = re.compile(r"(?P<value>\d{1,12})\s*(?:(?P<unit>[mg])b(?:it)?/s)?$")
_KNOWN = frozenset(
    (
        "supported ports", "supported link modes", "supported pause frame use",
        "supports auto-negotiation", "supported fec modes", "advertised link modes",
        "advertised pause frame use", "advertised fec modes", "advertised auto-negotiation",
        "link partner advertised link modes", "link partner advertised fec modes",
        "link partner advertised pause frame use", "link partner advertised auto-negotiation",
        "speed", "duplex", "port", "phyad", "transceiver", "auto-negotiation", "mdi-x",
        "supports wake-on", "wake-on", "current message level", "link detected", "lanes", "sqi",
        "description", "product", "vendor", "physical id", "bus info", "logical name", "version",
        "serial", "size", "capacity", "width", "clock", "capabilities", "configuration",
        "resources",
    )
)  # fmt: skip
_HALF = {"half": True, "full": False}
_EXPECTED = "a field of ethtool, mii-tool or lshw"


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A device whose fields are under way. Local to `read`."""

    first: int
    last: int
    link: str = ""
    speed: int | None = None
    half: bool | None = None
    negotiated: bool | None = None
    detected: bool | None = None
    most: int | None = None


def recognise(source: Source) -> int:
    """Recognize the titles of ethtool and lshw, and mii-tool's lines."""
    lines = sample(source)
    if any(_TITLE.match(line) or _CLASS.match(line) for line in lines):
        return CERTAIN
    typed = parse_command(source.command).program == "mii-tool"
    return CERTAIN if lines and typed and any(_MII.match(line) for line in lines) else NO


def read(source: Source) -> Reading:
    """Read the fields of each device; a field that is not known is a gap."""
    ledger = LineLedger(source)
    draft: _Draft | None = None
    for index, raw in enumerate(ledger.lines):
        line = strip_terminal(raw)
        title = _TITLE.match(line)
        mii = _MII.match(line)
        if mii is not None:
            ledger.head(index)
            _close(ledger, _read_mii(index, mii))
        elif title is not None or _CLASS.match(line):
            _close(ledger, draft)
            draft = _Draft(first=index, last=index, link=title["link"] if title is not None else "")
            ledger.head(index)
        elif draft is not None and (_MODES.match(line) or _take(draft, line)):
            draft.most = max(filter(None, (draft.most, _fastest(line))), default=None)
            draft.last = index
            ledger.head(index)
    _close(ledger, draft)
    return ledger.close(_EXPECTED)


def _take(draft: _Draft, line: str) -> bool:
    """Take a field; tell whether it is one that is known."""
    found = _FIELD.match(line)
    if found is None or found["name"].lower() not in _KNOWN:
        return False
    name, value = found["name"].lower(), (found["value"] or "").lower()
    if name in {"speed", "size"}:
        draft.speed = _speed(value)
    elif name == "capacity":
        draft.most = _speed(value)
    elif name == "logical name":
        draft.link = found["value"] or ""
    elif name == "duplex":
        draft.half = _HALF.get(value)
    elif name == "auto-negotiation":
        draft.negotiated = value == "on"
    elif name == "link detected":
        draft.detected = {"yes": True, "no": False}.get(value.partition(" ")[0])
    elif name == "configuration":
        _take_configuration(draft, value)
    return True


def _take_configuration(draft: _Draft, text: str) -> None:
    """Take what lshw puts on one line: `autonegotiation=on duplex=full link=yes`."""
    words = dict(word.split("=", 1) for word in text.split() if "=" in word)
    draft.half = _HALF.get(words.get("duplex", ""))
    draft.detected = {"yes": True, "no": False}.get(words.get("link", ""))
    draft.negotiated = {"on": True, "off": False}.get(words.get("autonegotiation", ""))


def _read_mii(index: int, found: re.Match[str]) -> _Draft:
    rest = found["rest"]
    mode = re.search(r"(?P<speed>\d+)base\S*-(?P<duplex>[FH])D", rest)
    return _Draft(
        first=index,
        last=index,
        link=found["link"],
        speed=int(mode["speed"]) if mode is not None else None,
        half=mode["duplex"] == "H" if mode is not None else None,
        negotiated=False if "autonegotiation failed" in rest else None,
        detected="no link" not in rest,
    )


def _fastest(line: str) -> int | None:
    if "partner" in line.lower():
        return None
    return max((int(found["speed"]) for found in _FASTEST.finditer(line)), default=None)


def _speed(text: str) -> int | None:
    """Return a speed in Mbit/s; a number alone, as older versions of lshw have it, counts bits."""
    found = _SPEED.match(text)
    if found is None:
        return None
    value = int(found["value"])
    return {"m": value, "g": value * 1000, None: value // 1_000_000}[found["unit"]] or None


def _close(ledger: LineLedger, draft: _Draft | None) -> None:
    if draft is None:
        return
    try:
        link = parse_name(draft.link)
    except ValueError:
        return
    mode = LinkMode(link, draft.speed, draft.half, draft.negotiated, draft.detected, draft.most)
    ledger.add(StatementRecord(span=ledger.span(draft.first, draft.last), statement=mode))


FORMAT = Format("ethtool DEVICE", recognise, read)
