"""`ovs-vsctl show`: bridges, their ports, and the interfaces of each
(utilities/ovs-vsctl.c:show_db, Open vSwitch 2.5 to 3.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import OvsPortRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import scan_quoted
from podpath.net.provenance import Source, Span

_TABLE = re.compile(r"\s*(?P<table>Bridge|Port|Interface)\s+(?P<name>\"[^\"]*\"|\S+)\s*$")
_TYPE = re.compile(r"\s*type:\s+(?P<type>\S+)\s*$")
_TAG = re.compile(r"\s*tag:\s+(?P<tag>\d+)\s*$")
_PEER = re.compile(r"\s*options: .*\bpeer=\"?(?P<peer>[^\s\",}]+)")
_PROGRAM = re.compile(r"\s*(?:Controller \S|fail_mode: \"?secure)")
_OTHER = re.compile(
    r"\s*(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\s*$|ovs_version: |(?:Controller|Manager) |"
    r"is_connected: |fail_mode: |trunks: |options: |datapath_type: |vlan_mode: |error: |qos: |"
    r"bfd: |lldp: |status: |\w+: )"
)


class _VsctlRow(NamedTuple):
    table: str
    name: str
    first: int


def recognise_show(source: Source) -> int:
    """Recognize the nested tables by their names."""
    lines = sample(source)
    tables = [found["table"] for found in map(_TABLE.match, lines) if found is not None]
    if not tables:
        return LIKELY if any(line.strip().startswith("ovs_version: ") for line in lines) else NO
    return (
        CERTAIN if len(set(tables)) > 1 or any("ovs_version" in line for line in lines) else LIKELY
    )


def read_show(source: Source) -> Reading:
    """Read every port with its interfaces; a port of a fragment without its bridge keeps an empty
    bridge name.
    """
    ledger = LineLedger(source)
    bridge, program = "", None
    rows = list(_rows(ledger))
    ends = _ends(rows, len(ledger.lines))
    ported = False
    for row, following in zip(rows, ends, strict=True):
        if row.table == "Bridge":
            bridge = row.name
            program = _find_program(ledger, row.first, following)
            ledger.head(row.first)
        elif row.table == "Port":
            ported = True
            _read_port(ledger, (bridge, program), row, following)
        elif not ported:
            ledger.gap(row.first, "expected a port around the interface, saw none")
    for index, line in enumerate(ledger.lines):
        if not ledger.is_claimed(index) and _OTHER.match(line):
            ledger.head(index)
    return ledger.close("a bridge, port or interface of Open vSwitch")


def _ends(rows: Sequence[_VsctlRow], end: int) -> list[int]:
    """Return the line at which each row's own lines end: the next one of a bridge or a port."""
    ends: list[int] = []
    for row in reversed(rows):
        ends.append(end)
        if row.table != "Interface":
            end = row.first
    return ends[::-1]


def _rows(ledger: LineLedger) -> Iterator[_VsctlRow]:
    for index, line in enumerate(ledger.lines):
        found = _TABLE.match(line)
        if found is not None:
            yield _VsctlRow(found["table"], scan_quoted(found["name"])[0].text, index)


def _find_program(ledger: LineLedger, first: int, following: int) -> Span | None:
    """Return the line of a bridge that names a controller, or leaves all flows to one."""
    for index in range(first + 1, following):
        if _PROGRAM.match(ledger.lines[index]):
            ledger.head(index)
            return ledger.span(index)
    return None


def _read_port(
    ledger: LineLedger, place: tuple[str, Span | None], port: _VsctlRow, following: int
) -> None:
    bridge, program = place
    interfaces: list[tuple[str, str | None]] = []
    tag: int | None = None
    peer = ""
    last = port.first
    for index in range(port.first + 1, following):
        line = ledger.lines[index]
        if not line.strip():
            break
        table, kind, vlan = _TABLE.match(line), _TYPE.match(line), _TAG.match(line)
        if table is not None:
            interfaces.append((scan_quoted(table["name"])[0].text, None))
        elif kind is not None and interfaces:
            interfaces[-1] = (interfaces[-1][0], kind["type"])
        elif vlan is not None:
            tag = int(vlan["tag"])
        elif patch := _PEER.match(line):
            peer = patch["peer"]
        elif not line.strip().startswith(
            ("options:", "trunks:", "vlan_mode:", "error:", "qos:", "bfd", "lldp")
        ):
            break
        last = index
    ledger.add(
        OvsPortRecord(
            span=ledger.span(port.first, last),
            bridge=bridge,
            port=port.name,
            interfaces=tuple(interfaces),
            tag=tag,
            peer=peer,
            program=program,
        )
    )


FORMAT = Format("ovs-vsctl show", recognise_show, read_show)
