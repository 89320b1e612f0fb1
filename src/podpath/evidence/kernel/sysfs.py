"""/sys/class/net as cat, grep, head and tail print it: a device's attributes, one file each.

A value without its path gets it from the command. Files of a bridge's port (`brport/`) and of a
bridge are read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.evidence.commands.command import expand_braces, parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import BridgePortRecord, LinkRecord
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_mac, parse_name, parse_number
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source, Span
from podpath.net.statements import PortSwitch

_ROOT = r"/sys/(?:class/net|devices/virtual/net|devices/\S*?/net)/"
_LINE = re.compile(
    rf"\s*{_ROOT}(?P<link>[^/\s:]+)/(?P<file>[\w/]+)(?:\s*[:=]\s*|\s+(?=\S+\s*$))(?P<value>\S.*?)\s*$"
)
"""A path and its value, as grep prints them or as a loop does with echo."""
_HEADING = re.compile(rf"\s*==> {_ROOT}(?P<link>[^/\s:]+)/(?P<file>[\w/]+) <==\s*$")
_PATH = re.compile(rf"{_ROOT}(?P<link>[^/\s:*?\[$]+)/(?P<file>[\w/]+)$")
_MEMBER = re.compile(r"/sys/\S*/(?P<bridge>[^/\s]+)/brif/(?P<port>[^/\s]+)/(?P<file>\w+)")
_ALL_PORTS = re.compile(
    r"/sys/\S*/(?:(?P<bridge>[^/\s*]+)/brif/[^/\s]*\*[^/\s]*|"
    r"net/[^/\s]*\*[^/\s]*/brport)/(?P<switch>hairpin_mode|isolated)$"
)
_SWITCHES = {
    "hairpin_mode": "hairpin",
    "isolated": "isolated",
    "learning": "learning",
    "unicast_flood": "flood",
}
_PORT_SWITCHES = frozenset({"hairpin_mode", "isolated"})
_STATES = {"0": "disabled", "1": "listening", "2": "learning", "3": "forwarding", "4": "blocking"}
_UP, _NOARP, _PROMISC = 0x1, 0x80, 0x100
"""include/uapi/linux/if.h."""
_BIT = re.compile(r"\s*[01]\s*")
_VALUE = re.compile(r"\s*[\w:.-]+\s*$")
_EXPECTED = "a file of /sys/class/net"


def recognise(source: Source) -> int:
    """Recognize a path with its value, or values that the command's paths name."""
    lines = sample(source)
    if any(_LINE.match(line) or _HEADING.match(line) or _MEMBER.match(line) for line in lines):
        return CERTAIN
    if _find_ports(source) is not None and lines and all(_BIT.fullmatch(line) for line in lines):
        return CERTAIN
    asked = list(_asked(source))
    return (
        LIKELY
        if asked
        and lines
        and len(lines) <= len(asked)
        and all(_VALUE.match(line) for line in lines)
        else NO
    )


def read(source: Source) -> Reading:
    """Read attributes of devices and of bridge ports."""
    ledger = Ledger(source)
    ports = _find_ports(source)
    owed = _list_owed(source)[::-1]
    for index, line in plain_lines(source):
        if ports is not None and _BIT.fullmatch(line) is not None:
            switch = PortSwitch(ports["bridge"] or "", ports["switch"], line.strip() == "1")
            ledger.add(StatementRecord(span=ledger.span(index), statement=switch))
            continue
        heading = _HEADING.match(line)
        if heading is not None:
            owed = [(heading["link"], heading["file"])]
            ledger.head(index)
            continue
        found = _LINE.match(line)
        if found is not None:
            link, file, value = _place(found["link"], found["file"]), found["file"], found["value"]
        elif owed and _VALUE.match(line):
            name, file = owed.pop()
            link, value = _place(name, file), line.strip()
        else:
            continue
        try:
            record = _make(ledger.span(index), link, file, value)
        except ValueError as error:
            ledger.gap(index, str(error))
            continue
        if record is None:
            ledger.head(index)
        else:
            ledger.add(record)
            named = () if found is None else _make_switch(record.span, line)
            for setting in named or _make_own_switch(record.span, file, value):
                ledger.add(setting)
    return ledger.close(_EXPECTED)


def _place(link: str, file: str) -> str:
    """Return the device that a file is of: below `brif` it is the port."""
    parts = file.split("/")
    return parts[1] if parts[0] == "brif" and len(parts) > 2 else link


def _make(span: Span, link: str, file: str, value: str) -> LinkRecord | BridgePortRecord | None:
    name, last = parse_name(link), file.rpartition("/")[2]
    if file.startswith(("brport/", "brif/")):
        if last == "state":
            return BridgePortRecord(span=span, port=name, bridge=None, state=_STATES.get(value))
        if last in _SWITCHES and value in {"0", "1"}:
            details = {_SWITCHES[last]: "on" if value == "1" else "off"}
            return BridgePortRecord(span=span, port=name, bridge=None, details=details)
        return None
    if file == "mtu":
        return LinkRecord(span=span, name=name, mtu=parse_number(value))
    if file == "address":
        return (
            LinkRecord(span=span, name=name, mac=parse_mac(value))
            if value.count(":") == 5
            else None
        )
    if file == "flags" and value.startswith("0x"):
        bits = int(value, 16)
        flags = (
            ("UP",) * bool(bits & _UP)
            + ("NOARP",) * bool(bits & _NOARP)
            + ("PROMISC",) * bool(bits & _PROMISC)
        )
        return LinkRecord(span=span, name=name, flags=flags)
    if file == "operstate" and value in {"up", "down"}:
        return LinkRecord(span=span, name=name, state=value.upper())
    if file == "bridge/vlan_filtering":
        return LinkRecord(span=span, name=name, kind="bridge", details={"vlan_filtering": value})
    return None


def _make_switch(span: Span, line: str) -> tuple[StatementRecord, ...]:
    """Return the setting of a bridge's port, where the path names the bridge."""
    member = _MEMBER.search(line)
    if member is None or member["file"] not in _PORT_SWITCHES:
        return ()
    on = line.rstrip().endswith("1")
    return (StatementRecord(span=span, statement=PortSwitch(member["bridge"], member["file"], on)),)


def _make_own_switch(span: Span, file: str, value: str) -> tuple[StatementRecord, ...]:
    """Return the setting of a port below its own name, which does not say whose it is."""
    switch = file.removeprefix("brport/")
    if switch == file or switch not in _PORT_SWITCHES or value not in {"0", "1"}:
        return ()
    return (StatementRecord(span=span, statement=PortSwitch("", switch, value == "1")),)


def _find_ports(source: Source) -> re.Match[str] | None:
    """Return the bridge and the file of all its ports that the command prints without names; those
    of any bridge where its path names the ports alone.
    """
    command = parse_command(source.command)
    if command.filters or command.program not in {"cat", "head", "tail"}:
        return None
    found = (_ALL_PORTS.match(word) for word in command.arguments)
    return next((one for one in found if one is not None), None)


def _list_owed(source: Source) -> list[tuple[str, str]]:
    """Return the files whose values follow each other; none where there are more or fewer values
    than files, which does not say which of them is missing.
    """
    asked = list(_asked(source))
    shown = sum(_VALUE.match(line) is not None for _, line in plain_lines(source))
    return asked if len(asked) == 1 or len(asked) == shown else []


def _asked(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the files that the command prints without their names, in order."""
    command = parse_command(source.command)
    if command.filters or command.program not in {"cat", "head", "tail", "more", "less"}:
        return
    for word in (path for one in command.arguments for path in expand_braces(one)):
        found = _PATH.match(word)
        if found is not None:
            yield found["link"], found["file"]


FORMAT = Format("/sys/class/net", recognise, read)
