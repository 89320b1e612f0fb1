"""What an extension is: one value that the reader of rules, the model and the lab all take their
part of.

A module of this package holds one extension: which options it has, how `iptables -L` words it,
which tables take it, what each option asks of a packet, and which values the lab draws. It answers
from the packet alone; a match that asks more (a connection, a set, a route) has its semantics in
`datapath.xtables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from podpath.net.packet import Packet
from podpath.xtables.legality import ALL_TABLES
from podpath.xtables.wording import Form


class PacketSeen(Protocol):
    """What a match may look at (`struct sk_buff`)."""

    @property
    def packet(self) -> Packet:
        """The packet itself."""

    @property
    def mark(self) -> int:
        """Its firewall mark."""

    @property
    def pkt_type(self) -> str:
        """What the link layer addressed it to: `host`, `otherhost`, `broadcast`, `multicast`."""


Condition = Callable[[PacketSeen], bool]


class OptionMeaning(NamedTuple):
    """One option of a match."""

    read: Callable[[str], Condition]
    """Read the option's words, as iptables-save spells them, to what it asks; `ValueError` where
    they are none of its values.
    """
    draws: tuple[str, ...] = ()
    """Values that the lab draws; empty where it draws none."""
    negatable: bool = True
    """True where iptables takes `!` before it."""
    words: int = 1
    """How many words it takes."""
    save: Callable[[str], str] | None = None
    """Spell a word of `iptables -L` as iptables-save does; None where both spell it alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchExtension:
    """A match (`-m NAME`) that looks at nothing but the packet."""

    name: str
    options: Mapping[str, OptionMeaning]
    """By their long names without dashes."""
    forms: tuple[Form, ...]
    """How `iptables -L` words it."""
    tables: frozenset[str] = ALL_TABLES
    """The tables that take it."""

    @property
    def words(self) -> dict[str, int]:
        """Return how many words each option takes."""
        return {name: option.words for name, option in self.options.items()}
