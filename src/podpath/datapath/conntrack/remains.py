"""What a walk leaves behind in the connection tracking tables, as `conntrack -L` would list it
afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.table import ConntrackTable
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
