"""What the evidence shows on the node's way that no walk goes through: chains of bridges and ARP,
offloaded flows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from podpath.datapath.vocabulary import BoundaryName
from podpath.datapath.walk.not_modelled import BOUNDARIES
from podpath.net.provenance import Span
from podpath.node.nftables import NftTable
from podpath.node.node import Node

_BOUNDARY_OF = {"bridge": BoundaryName.EBTABLES, "arp": BoundaryName.ARPTABLES}
"""Families of nftables whose chains are not walked, by the boundary that says so."""


class Unmodelled(NamedTuple):
    """One thing on the node that is not modeled."""

    what: str
    ask: str
    spans: tuple[Span, ...]


def find_unmodelled(node: Node, passed: Collection[str]) -> Iterator[Unmodelled]:
    """Yield what the evidence shows in the namespaces that were passed, and walks leave out."""
    for name in sorted(set(passed) & set(node.namespaces)):
        for table in node.namespaces[name].nftables.items:
            spans = (table.span,) if table.span is not None else ()
            left_out = _BOUNDARY_OF.get(table.family)
            if left_out is not None and _decides(table):
                boundary = BOUNDARIES[left_out]
                yield Unmodelled(
                    f"{boundary.why} (table {table.family} {table.name})", boundary.ask, spans
                )
            if any(item.startswith("flowtable ") for item in table.objects):
                yield Unmodelled(
                    BOUNDARIES[BoundaryName.FLOWTABLE].why,
                    BOUNDARIES[BoundaryName.FLOWTABLE].ask,
                    spans,
                )


def _decides(table: NftTable) -> bool:
    """Tell whether a base chain of the table may end a frame: it has a rule, or drops what none
    takes.
    """
    return not table.dormant and any(
        chain.is_base and (chain.rules or chain.policy == "drop") for chain in table.chains.values()
    )
