"""Connection tracking: who saw which packet decides NEW, ESTABLISHED, RELATED and INVALID."""

from podpath.datapath.conntrack.connection import Connection, Zone
from podpath.datapath.conntrack.table import ConntrackTable

__all__ = ["Connection", "ConntrackTable", "Zone"]
