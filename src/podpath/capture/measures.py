"""What one capture point measures of a connection: how long it took, how much it carried, what was
sent again; and as columns of a table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class ConnectionMeasures(NamedTuple):
    """One row for each conversation at each point. `client_` is what the client sends. Times are
    seconds, by the capture's own clock. None stands for what the capture does not tell.
    """

    connection: str
    """`tcp 10.0.0.1:1024 > 10.0.0.2:80`."""
    point: str
    state: str
    """Zeek's word for how TCP went; empty for what is no TCP."""
    history: str
    """As Zeek's: S SYN, H SYN-ACK, A ACK, D data, F FIN, R reset, T data again, W closed window,
    G gap, each once in their order, small where the server sends it; ^ where the server is seen
    first.
    """
    first: float
    duration: float
    client_packets: int
    server_packets: int
    client_bytes: int
    """Of payload, each time that it is sent."""
    server_bytes: int
    client_retransmissions: int
    server_retransmissions: int
    client_out_of_order: int
    server_out_of_order: int
    client_duplicate_acks: int
    server_duplicate_acks: int
    client_zero_windows: int
    server_zero_windows: int
    rtt: float | None
    """From the SYN to the client's first ACK, where neither SYN nor SYN-ACK was repeated."""
    dns_queries: int
    dns_answers: int
    dns_failures: int
    """Answers with an error code: NXDOMAIN, SERVFAIL, REFUSED and their like."""
    dns_latency: float | None
    """The longest time from a query to its first answer."""

    @property
    def throughput(self) -> float | None:
        """Payload of both directions, in bytes a second."""
        carried = self.client_bytes + self.server_bytes
        if self.duration > 0:
            return carried / self.duration
        return None


COLUMNS = (*ConnectionMeasures._fields, "throughput")
"""Names of the columns of a table."""
_TEXTS = frozenset({"connection", "point", "state", "history"})
_TIMES = frozenset({"first", "duration", "rtt", "dns_latency", "throughput"})


def kind_of(column: str) -> type[str | float]:
    """Return the type of a column's values; what is not known is None."""
    if column in _TEXTS:
        return str
    return float if column in _TIMES else int


def list_values(one: ConnectionMeasures) -> tuple[str | float | None, ...]:
    """Return a row of that table."""
    return (*one, one.throughput)


def as_columns(
    measured: Iterable[ConnectionMeasures],
) -> dict[str, tuple[type[str | float], list[str | float | None]]]:
    """Return the columns by their names, each with its type."""
    rows = [list_values(one) for one in measured]
    columns: dict[str, tuple[type[str | float], list[str | float | None]]] = {}
    for place, name in enumerate(COLUMNS):
        columns[name] = kind_of(name), [row[place] for row in rows]
    return columns


def as_objects(
    measured: Iterable[ConnectionMeasures],
) -> list[dict[str, str | float | None]]:
    """Return the rows as objects with named values."""
    return [dict(zip(COLUMNS, list_values(one), strict=True)) for one in measured]
