"""The counters of a network namespace's protocols, as `nstat -asj` prints them: the kernel's files,
read without a process for each namespace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

_TABLES = "snmp", "snmp6", "netstat"
"""In the order in which `nstat` takes them (misc/nstat.c)."""
_WITH_SCTP = "sctp/snmp"
_NO_COUNTERS = frozenset({
    "IpForwarding", "IpDefaultTTL", "TcpRtoAlgorithm", "TcpRtoMin", "TcpRtoMax", "TcpMaxConn",
    "TcpCurrEstab",
})  # fmt: skip
"""What stands in the tables and counts nothing: `nstat` leaves it out."""
NET = Path("/proc/thread-self/net")


def list_counters(net: Path = NET) -> bytes | None:
    """Return the counters that are not zero; None where there is a table that is not known here, so
    that the program has to be asked.
    """
    if (net / _WITH_SCTP).exists():
        return None
    counted: dict[str, int] = {}
    for table in _TABLES:
        path = net / table
        try:
            text = path.read_text(encoding="ascii")
        except FileNotFoundError:  # no IPv6
            continue
        counted.update(_read_columns(text) if ":" in text else _read_rows(text))
    shown = {name: value for name, value in counted.items() if value and name not in _NO_COUNTERS}
    return json.dumps({"kernel": shown}, separators=(",", ":")).encode() + b"\n"


def _read_columns(text: str) -> Iterator[tuple[str, int]]:
    """Yield what stands in two lines, the names and the values below them: `Ip: InReceives ...`."""
    lines = text.splitlines()
    for names, values in list(pairwise(lines))[::2]:
        protocol, _, words = names.partition(":")
        for name, value in zip(words.split(), values.partition(":")[2].split(), strict=False):
            yield f"{protocol}{name}", int(value)


def _read_rows(text: str) -> Iterator[tuple[str, int]]:
    """Yield what stands in a line of its own: `Ip6InReceives 5`."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2:
            yield words[0], int(words[1])
