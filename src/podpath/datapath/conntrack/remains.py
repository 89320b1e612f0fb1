"""What a walk leaves behind in the connection tracking tables, as `conntrack -L` would list it
afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.table import ConntrackTable
from podpath.datapath.conntrack.tuples import inverse
from podpath.node.netfilter import ConntrackEntry

ConntrackTables = Mapping[str, ConntrackTable]
"""By namespace."""


def list_entries(tables: ConntrackTables) -> Mapping[str, tuple[ConntrackEntry, ...]]:
    """Return the entries that the walk's packets met or made, by namespace; a namespace without any
    is not there.
    """
    found = {}
    for name, table in tables.items():
        entries = tuple(map(_entry, table))
        if entries:
            found[name] = entries
    return found


def drawn_ports(tables: ConntrackTables) -> frozenset[int]:
    """Return the ports of translated connections that stand for one which the kernel draws at
    random.
    """
    connections = (connection for table in tables.values() for connection in table)
    return frozenset(port for connection in connections for port in _drawn(connection))


def _drawn(connection: Connection) -> Iterator[int]:
    if not connection.port_at_random:
        return
    target = inverse(connection.reply)
    if target.sport != connection.original.sport:
        yield target.sport
    if target.dport != connection.original.dport and connection.dst_nat:
        yield target.dport


def _entry(connection: Connection) -> ConntrackEntry:
    return ConntrackEntry(
        original=connection.original,
        reply=connection.reply,
        state=connection.state,
        assured=connection.assured,
        replied=connection.seen_reply,
        mark=connection.mark,
        zone=connection.zone.id,
        span=connection.span,
    )
