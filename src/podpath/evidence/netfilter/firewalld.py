"""Reads `firewall-cmd --list-all`, also of all zones, and `--get-active-zones`: which device is in
which zone, and what the zone lets in.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.firewall import ZoneSetting
from podpath.net.provenance import Source

_ZONE = re.compile(r"(?P<zone>[\w.-]+)(?: \((?:(?:default|active)(?:, )?)+\))?\s*")
_KEYS = (
    "target", "ingress-priority", "egress-priority", "icmp-block-inversion", "interfaces",
    "sources", "services", "ports", "protocols", "forward", "masquerade", "forward-ports",
    "source-ports", "icmp-blocks", "rich rules", "module", "priority",
)  # fmt: skip
_SETTING = re.compile(rf"\s*(?P<key>{'|'.join(_KEYS)}):\s*(?P<values>.*?)\s*")
_ACTIVE = re.compile(r"\bfirewall-cmd\b.*--get-active-zones\b")
"""What lists devices and sources of zones alone."""
_RICH = re.compile(r"\s*rule (?:priority|family|service|port|source|protocol).*")
_LEAST = 3
"""Settings that a zone's listing has at least."""


def recognise(source: Source) -> int:
    """Recognize the settings of a zone."""
    found = {match["key"] for match in map(_SETTING.fullmatch, sample(source)) if match is not None}
    if _ACTIVE.search(source.command or "") and found and found <= {"interfaces", "sources"}:
        return CERTAIN
    return (
        CERTAIN if len(found) >= _LEAST and found & {"services", "interfaces", "masquerade"} else NO
    )


def read(source: Source) -> Reading:
    """Read each setting with its zone."""
    ledger = Ledger(source)
    zone = ""
    for index, line in enumerate(source.lines):
        setting = _SETTING.fullmatch(line)
        name = _ZONE.fullmatch(line)
        if setting is not None:
            values = tuple(setting["values"].split())
            statement = ZoneSetting(zone, setting["key"], values)
            ledger.add(StatementRecord(span=ledger.span(index), statement=statement))
        elif name is not None:
            zone = name["zone"]
            ledger.head(index)
        elif _RICH.fullmatch(line):
            statement = ZoneSetting(zone, "rich rules", (line.strip(),))
            ledger.add(StatementRecord(span=ledger.span(index), statement=statement))
    return ledger.close("a setting of a zone")


FORMAT = Format("firewall-cmd --list-all", recognise, read)
