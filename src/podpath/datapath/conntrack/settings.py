"""The sysctls of conntrack, asked for only where a packet's fate depends on them."""

from __future__ import annotations

from podpath.datapath.tracing.exploration import Choices
from podpath.net.provenance import Known, Span
from podpath.node.node import Netns

PREFIX = "net.netfilter.nf_conntrack_"


NEARLY = 0.99
"""The share of its entries from which a table is taken for full: whoever counts them does so
between the end of one connection and the beginning of the next.
"""


class ConntrackSettings:
    """`net.netfilter.nf_conntrack_*` of one namespace, as one branch of a walk takes them."""

    __slots__ = ("_choices", "_netns")

    def __init__(self, choices: Choices, netns: Netns) -> None:
        """Ask nothing yet."""
        self._choices = choices
        self._netns = netns

    @property
    def loose(self) -> bool:
        """Tell whether a connection may be picked up in its middle."""
        return self._flag("tcp_loose", "1", "0", "no connection is picked up in its middle")

    @property
    def be_liberal(self) -> bool:
        """Tell whether only resets out of the window are invalid."""
        return self._flag("tcp_be_liberal", "0", "1", "only resets out of the window are invalid")

    @property
    def ignore_invalid_rst(self) -> bool:
        """Tell whether resets with an old sequence number are let through as valid."""
        return self._flag(
            "tcp_ignore_invalid_rst", "0", "1", "resets with an old sequence number count as valid"
        )

    @property
    def checksum(self) -> bool:
        """Tell whether a bad checksum makes a received packet invalid."""
        return self._flag("checksum", "1", "0", "conntrack does not look at checksums")

    @property
    def is_full(self) -> bool:
        """Tell whether the table may have no room for a new connection; known only where the
        evidence counts the entries. Of a full one some have always just ended.
        """
        count, most = self._number("count"), self._number("max")
        return count is not None and most is not None and 0 < most * NEARLY <= count

    @property
    def limits(self) -> tuple[Span, ...]:
        """Return the lines that say how many entries there are, and how many there may be."""
        facts = (self._netns.sysctls.get(PREFIX + name) for name in ("count", "max"))
        spans = (fact.span for fact in facts if isinstance(fact, Known))
        return tuple(span for span in spans if span is not None)

    def _flag(self, name: str, default: str, other: str, meaning: str) -> bool:
        value: str = self._choices.resolve(
            self._netns.sysctl(PREFIX + name, default, ((other, meaning),))
        )
        return value.strip() != "0"

    def _number(self, name: str) -> int | None:
        fact = self._netns.sysctls.get(PREFIX + name)
        if not isinstance(fact, Known) or not fact.value.strip().isdigit():
            return None
        return int(fact.value)
