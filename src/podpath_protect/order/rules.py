"""Which jump must stand before which others: data with its source, and what a configuration
adds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources

from podpath.net.tables import parse_tables
from podpath_protect.agent.keeper import Severity

_NAME = re.compile(r"[^\s!-][^\s]*")
_TABLES = frozenset({"raw", "mangle", "nat", "filter", "security"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRule:
    """One order that a CNI depends on. Where one of the jumps is not there, it asks for nothing."""

    name: str
    chain: str
    """The base chain: `FORWARD`."""
    first: str
    """The chain whose jump must be met before those to any of `then`."""
    then: tuple[str, ...]
    table: str = "filter"
    severity: Severity = "error"
    why: str = ""
    rival: str = ""
    """Who is known to bring it into disorder."""
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse names that could be options, since they become arguments of iptables."""
        if self.table not in _TABLES:
            raise ValueError(f"one of the tables {', '.join(sorted(_TABLES))}, saw {self.table!r}")
        for name in (self.chain, self.first, *self.then):
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"the name of a chain, saw {name!r}")
        if not self.then or self.first in self.then:
            raise ValueError(f"other chains than {self.first} in `then`")


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRules:
    """A file of rules."""

    rule: tuple[OrderRule, ...]


def load_rules() -> tuple[OrderRule, ...]:
    """Read the orders that are known."""
    file = resources.files("podpath_protect.order") / "jumps.toml"
    return parse_tables(file.read_text(encoding="utf-8"), file.name, OrderRules).rule
