"""`ovs-appctl bond/show`: a bond's mode, its members, and the one that sends (ofproto/bond.c, Open
vSwitch 2.3 to 3.5).

Until 2.15 members are called slaves.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import OvsBondRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net.addresses import Mac
from podpath.net.provenance import Source

_NAME = re.compile(r"---- (?P<name>\S+) ----\s*$")
_MODE = re.compile(r"bond_mode: (?P<mode>\S+)")
_ACTIVE = re.compile(
    r"active (?:slave|member) mac: (?P<mac>[0-9a-f:]{17})(?:\s*\((?P<name>[^)]*)\))?", re.IGNORECASE
)
_MEMBER = re.compile(r"(?:slave|member) \"?(?P<name>[^\s\":]+)\"?: (?:enabled|disabled)")
_IS_ACTIVE = re.compile(r"\s+active (?:slave|member)\s*$")
_DETAIL = re.compile(
    r"\s+(?:may_enable: |hash \d+: |active (?:slave|member)|[a-z_ ]+: )|bond[\w -]*: |lb_output|"
    r"all (?:members|slaves)|updelay: |downdelay: |next rebalance: |lacp|active-backup primary: |"
    r"use_lacp|recirc|primary"
)


def recognise_bond(source: Source) -> int:
    """Recognize a bond by its mode or its members."""
    lines = sample(source)
    signs = sum(any(map(sign.match, lines)) for sign in (_MODE, _ACTIVE, _MEMBER))
    if signs > 1:
        return CERTAIN
    return LIKELY if signs or any(map(_NAME.match, lines[:2])) else NO


def read_bond(source: Source) -> Reading:
    """Read one record for each bond; a fragment that starts in the middle of one gives one without
    a name.
    """
    ledger = LineLedger(source)
    starts = [index for index, line in enumerate(ledger.lines) if _NAME.match(line)]
    first = next((index for index, line in enumerate(ledger.lines) if line.strip()), 0)
    if not starts or starts[0] > first:
        starts.insert(0, first)
    for start, end in zip(starts, [*starts[1:], len(ledger.lines)], strict=True):
        _read_one(ledger, start, end)
    return ledger.close("a line of bond/show")


class _Bond:
    """One bond while its lines are read. Local to `read_bond`."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.mode: str | None = None
        self.active: str | None = None
        self.mac: Mac | None = None
        self.members: list[str] = []

    def take(self, line: str) -> bool:
        """Take what a line states; tell whether it states something."""
        if found := _NAME.match(line):
            self.name = found["name"]
        elif found := _MODE.match(line):
            self.mode = found["mode"]
        elif found := _ACTIVE.match(line):
            self.mac, self.active = Mac(found["mac"].lower()), found["name"] or self.active
        elif found := _MEMBER.match(line):
            self.members.append(found["name"])
        elif _IS_ACTIVE.match(line) and self.members:
            self.active = self.active or self.members[-1]
        else:
            return False
        return True


def _read_one(ledger: LineLedger, start: int, end: int) -> None:
    """Read one bond; its record stands at the line that names the active member, the other lines
    are headings.
    """
    bond = _Bond()
    lines = ledger.lines
    facts = [
        index for index in range(start, end) if lines[index].strip() and bond.take(lines[index])
    ]
    for index in range(start, end):
        if index not in facts and _DETAIL.match(lines[index]) and not ledger.elide(index):
            ledger.head(index)
    if not facts or (bond.mode is None and not bond.members and bond.active is None):
        return
    anchor = next((index for index in facts if _ACTIVE.match(lines[index])), facts[0])
    record = OvsBondRecord(
        span=ledger.span(anchor),
        name=bond.name,
        mode=bond.mode,
        active_slave=bond.active,
        active_mac=bond.mac,
        slaves=tuple(bond.members),
    )
    ledger.add(record)
    for index in facts:
        if index != anchor:
            ledger.head(index)


FORMAT = Format("ovs-appctl bond/show", recognise_bond, read_bond)
