"""`ethtool -k` (offloads), `ethtool -S` (the driver's counters) and `ethtool -i` (the driver)."""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import DeviceCount, OffloadFeature

_TITLE = re.compile(r"\s*(?:Features|Offload parameters) for (?P<link>\S+):\s*$")
_STATISTICS = re.compile(r"\s*NIC statistics:\s*$")
_FEATURE = re.compile(
    r"\s*(?P<feature>[a-z0-9][a-z0-9_ -]*[a-z0-9]): (?P<state>on|off)(?P<rest>(?: \[[\w ]+\])?)\s*$"
)
_COUNT = re.compile(r"\s+(?P<name>[\w\[\]. -]+?):\s+(?P<value>\d+)\s*$")
_DRIVER = re.compile(
    r"\s*(?:driver|version|firmware-version|expansion-rom-version|bus-info|supports-[\w-]+):"
    r"(?:\s.*)?$"
)
_EXPECTED = "a line of ethtool"


def recognise(source: Source) -> int:
    """Recognize the title, or features or facts of a driver below the command."""
    lines = sample(source)
    if any(_TITLE.match(line) or _STATISTICS.match(line) for line in lines[:5]):
        return CERTAIN
    if share(lines, _FEATURE) < 0.5 and share(lines, _DRIVER) < 0.5:
        return NO
    named = any(
        line.lstrip().startswith(("tx-", "rx-", "generic-", "tcp-segmentation", "driver:"))
        for line in lines
    )
    return CERTAIN if parse_command(source.command).program == "ethtool" or named else NO


def read(source: Source) -> Reading:
    """Read features and counters of a device; its name comes from the title or from the command."""
    ledger = Ledger(source)
    link = _asked_device(source)
    for index, line in plain_lines(source):
        title = _TITLE.match(line)
        if title is not None:
            link = _name(title["link"])
            ledger.head(index)
        elif _STATISTICS.match(line) or _DRIVER.match(line):
            ledger.head(index)
        elif link is None:
            continue
        elif (found := _FEATURE.match(line)) is not None:
            offload = OffloadFeature(
                link, found["feature"], found["state"] == "on", "fixed" in found["rest"]
            )
            ledger.add(StatementRecord(span=ledger.span(index), statement=offload))
        elif (count := _COUNT.match(line)) is not None:
            counted = DeviceCount(link, count["name"].strip(), int(count["value"]))
            ledger.add(StatementRecord(span=ledger.span(index), statement=counted))
    return ledger.close(_EXPECTED)


def _asked_device(source: Source) -> IfName | None:
    command = parse_command(source.command)
    words = [word for word in command.arguments if not word.startswith("-")]
    return _name(words[0]) if command.program == "ethtool" and words else None


def _name(text: str) -> IfName | None:
    try:
        return parse_name(text)
    except ValueError:
        return None


FORMAT = Format("ethtool", recognise, read)
