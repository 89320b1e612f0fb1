"""`nmcli`, `nmcli device` and `networkctl list`: which devices a manager considers its own."""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source
from podpath.net.statements import DeviceManager, ManagedDevice

_NM_HEADING = re.compile(r"\s*DEVICE\s+TYPE\s+STATE\s+(?:IP4-CONNECTIVITY\s+)?CONNECTION")
_NM_ROW = re.compile(
    r"\s*(?P<link>[^\s:]+)\s+(?P<type>[\w-]+)\s+(?P<state>connected \(externally\)|"
    r"connected \(local\)|connected|disconnected|unmanaged|unavailable|connecting \([^)]*\)|"
    r"activating|deactivating)\s*(?P<profile>.*?)\s*$"
)
_OVERVIEW = re.compile(
    r"(?P<link>[A-Za-z][\w.@-]{0,30}): (?P<state>connected \((?:externally|local|local only|site "
    r"only)\)|connected|connecting \([^)]*\)|disconnected|unmanaged|unavailable|deactivating|"
    r"connection failed)(?: to (?P<profile>\S.*?))?\s*$"
)
_DETAIL = re.compile(
    r"\s{4,}\S|(?:DNS configuration|\s+(?:servers|domains|interface)|Use \"nmcli|Consult nmcli)\b.*"
)
_ND_HEADING = re.compile(r"\s*IDX\s+LINK\s+TYPE\s+OPERATIONAL\s+SETUP")
_ND_ROW = re.compile(
    r"\s*(?:[●○*]\s*)?\d+\s+(?P<link>\S+)\s+(?P<type>[\w-]+)\s+(?P<operational>[\w-]+)\s+"
    r"(?P<state>[\w-]+)\s*$"
)
_TRAILER = re.compile(r"\s*\d+ links listed")
_EXPECTED = "a device"


def recognise(source: Source) -> int:
    """Recognize the heading of either, or the rows that `nmcli` alone prints."""
    lines = sample(source)
    if any(_NM_HEADING.match(line) or _ND_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    typed = parse_command(source.command).program == "nmcli"
    rows = sum(_OVERVIEW.fullmatch(line) is not None for line in lines)
    known = all(_OVERVIEW.fullmatch(line) or _DETAIL.match(line) for line in lines)
    return CERTAIN if rows and (typed or known or rows > 1) else NO


def read(source: Source) -> Reading:
    """Read devices with the state that their manager gives them."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        if _NM_HEADING.match(line) or _ND_HEADING.match(line) or _TRAILER.match(line):
            ledger.head(index)
            continue
        nm = _OVERVIEW.fullmatch(line) or _NM_ROW.match(line)
        nd = _ND_ROW.match(line)
        if nm is None and nd is None and _DETAIL.match(line) is not None:
            ledger.head(index)
            continue
        try:
            if nd is not None:
                statement = ManagedDevice(
                    DeviceManager.NETWORKD, parse_name(nd["link"]), nd["state"], nd["operational"]
                )
            elif nm is not None:
                profile = "" if nm["profile"] in {"--", None} else nm["profile"]
                statement = ManagedDevice(
                    DeviceManager.NETWORK_MANAGER, parse_name(nm["link"]), nm["state"], profile
                )
            else:
                continue
        except ValueError as error:
            ledger.gap(index, str(error))
            continue
        ledger.add(StatementRecord(span=ledger.span(index), statement=statement))
    return ledger.close(_EXPECTED)


FORMAT = Format("managed devices", recognise, read)
