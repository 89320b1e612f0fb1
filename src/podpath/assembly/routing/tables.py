"""Numbers of routing tables: the names that iproute2 knows, and the node's own from
/etc/iproute2/rt_tables.

Text shows a table by its name where the node has one. Where no output shows the file, only that two
outputs mean the same table counts: such a name gets a number past those that people use.
"""

from __future__ import annotations

from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.iproute.rt_tables import TableNameRecord
from podpath.evidence.node_records import PolicyRuleRecord, RouteRecord
from podpath.node.routing import MADE_UP, MAIN, TABLES


class TableNumbers:
    """The numbers of all tables that the evidence names."""

    __slots__ = ("_own",)

    def __init__(self, evidence: ReadSources) -> None:
        """Give numbers to the names that no iproute2 knows by itself."""
        named = {
            record.name: record.number
            for scene, record in evidence.records(TableNameRecord)
            if not scene.is_elsewhere
        }
        names = {record.table for _, record in evidence.records(RouteRecord)}
        names |= {record.table for _, record in evidence.records(PolicyRuleRecord)}
        own = sorted(name for name in names if name is not None and _parse(name) is None)
        self._own = {name: named.get(name, MADE_UP + place) for place, name in enumerate(own)}

    def number(self, name: str | None) -> int:
        """Return a table's number; the main table's where no name is printed."""
        if name is None:
            return MAIN
        number = _parse(name)
        if number is None:
            return self._own.get(name, MAIN)
        return number

    def name(self, number: int) -> str:
        """Spell a table as outputs do."""
        known = {value: key for key, value in TABLES.items()} | {
            value: key for key, value in self._own.items()
        }
        return known.get(number, str(number))


def _parse(name: str) -> int | None:
    if name in TABLES:
        return TABLES[name]
    try:
        return int(name, 0)
    except ValueError:
        return None
