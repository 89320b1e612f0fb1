"""`traceroute`, `tracepath` and `mtr --report`: the routers on a path, and where it ends."""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import Address
from podpath.net.provenance import Source
from podpath.net.statements import Hop

_TITLE = re.compile(
    r"\s*(?:traceroute6? to \S+ \((?P<dst>[0-9A-Fa-f.:]+)\)|Start: |HOST: |Resume: |My traceroute)"
)
_HOP = re.compile(
    r"\s*(?P<number>\d{1,2})(?::|\?:|\.\|--|\.)?\s+(?P<rest>(?:\*|\[LOCALHOST\]|no reply|_gateway|"
    r"\?\?\?|[\w.-]+|[0-9A-Fa-f:]+)(?:\s.*)?)$"
)
_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[0-9A-Fa-f]{1,4}:){2,7}[0-9A-Fa-f:]*)(?![\w.])"
)
_MARK = re.compile(r"(?<!\S)!(?:[HNPXFSVC]|\d+)?(?![\w-])")
_MTU = re.compile(r"\bpmtu (?P<mtu>\d+)")
_TIME = re.compile(r"\d\s?ms\b|\*|no reply|\[LOCALHOST\]|pmtu|\d+\.\d%|%")
_EXPECTED = "a router on the way"


def recognise(source: Source) -> int:
    """Recognize numbered lines with times or stars below a title or the command."""
    lines = sample(source)
    hops = [line for line in lines if _HOP.match(line) and _TIME.search(line)]
    if not hops or len(hops) * 2 < len(lines) - 2:
        return NO
    asked = parse_command(source.command).program in {
        "traceroute",
        "traceroute6",
        "tracepath",
        "tracepath6",
        "mtr",
        "tcptraceroute",
    }
    titled = any(_TITLE.match(line) for line in lines[:3])
    return (
        CERTAIN
        if asked or titled or (len(hops) > 1 and share(lines, _HOP) > 0.9 and "ms" in lines[0])
        else NO
    )


def read(source: Source) -> Reading:
    """Read hops."""
    ledger = Ledger(source)
    dst = _asked(source)
    for index, line in plain_lines(source):
        title = _TITLE.match(line)
        if title is not None:
            dst = parse_address(title["dst"]) if title["dst"] is not None else dst
            ledger.head(index)
        elif (found := _HOP.match(line)) is not None and _TIME.search(line):
            ledger.add(StatementRecord(span=ledger.span(index), statement=_parse_hop(found, dst)))
        elif line.lstrip().startswith(
            ("Too many hops", "Resume:", "Host ", "Loss%")
        ) or _MTU.search(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _parse_hop(found: re.Match[str], dst: Address | None) -> Hop:
    rest = found["rest"]
    mark, mtu = _MARK.search(rest), _MTU.search(rest)
    addresses: list[Address] = []
    for word in _ADDRESS.findall(rest):
        address = _read(word)
        if address is not None and address not in addresses:
            addresses.append(address)
    return Hop(
        dst,
        int(found["number"]),
        tuple(addresses),
        mark[0] if mark else "",
        int(mtu["mtu"]) if mtu else None,
    )


def _asked(source: Source) -> Address | None:
    for word in parse_command(source.command).arguments:
        address = _read(word)
        if address is not None:
            return address
    return None


def _read(text: str) -> Address | None:
    try:
        return parse_address(text)
    except ValueError:
        return None


FORMAT = Format("traceroute", recognise, read)
