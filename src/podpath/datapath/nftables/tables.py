"""One native table, compiled rule by rule as packets reach them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.datapath.nftables.fields import ct_field, meta_field, payload_field
from podpath.datapath.nftables.sets import Elements
from podpath.datapath.nftables.statements import Op, compile_rule
from podpath.datapath.nftables.values import RulePosition
from podpath.datapath.sets.ipsets import Sets
from podpath.net import nft
from podpath.node.nftables import NftChain, NftSet, NftTable

_SEPARATOR = re.compile(r"\s+\.\s+")


def datatype_of(text: str) -> str:
    """Return the datatype of an expression that `typeof` names: `ip daddr`, `meta mark`, `tcp
    dport`.
    """
    first, _, rest = text.partition(" ")
    if first == "meta":
        return meta_field(nft.Meta(rest)).datatype
    if first == "ct":
        return ct_field(nft.Ct(rest)).datatype
    if rest:
        return payload_field(nft.Payload(first, rest)).datatype
    return text


class CompiledNftChain:
    """A chain whose rules are compiled when the first packet meets it."""

    __slots__ = ("_rules", "source", "table")

    def __init__(self, source: NftChain, table: CompiledNftTable) -> None:
        """Compile nothing yet."""
        self.source = source
        self.table = table
        self._rules: tuple[tuple[Op, ...], ...] | None = None

    @property
    def rules(self) -> tuple[tuple[Op, ...], ...]:
        """The rules, each as its statements."""
        if self._rules is None:
            self._rules = tuple(
                compile_rule(rule, RulePosition(self.table, rule)) for rule in self.source.rules
            )
        return self._rules


class CompiledNftTable:
    """A native table of the node. Shared by all walks of the node."""

    __slots__ = ("_elements", "chains", "netns", "no_sets", "source")

    def __init__(self, source: NftTable, netns: str) -> None:
        """Compile nothing yet."""
        self.source = source
        self.netns = netns
        self.no_sets = Sets({})
        self.chains: Mapping[str, CompiledNftChain] = {
            name: CompiledNftChain(chain, self) for name, chain in source.chains.items()
        }
        self._elements: dict[tuple[str, tuple[str, ...]], Elements] = {}

    @property
    def label(self) -> str:
        """Name the table as a fact's name does."""
        return f"nftables table {self.source.family} {self.source.name} in netns {self.netns}"

    def named(self, name: str) -> NftSet:
        """Return a named set or map; `ValueError` where the evidence does not show it whole."""
        found = self.source.sets.get(name)
        if found is None or not found.complete:
            raise ValueError(f"the evidence does not show the whole of set {name}")
        return found

    def elements(self, name: str, datatypes: tuple[str, ...]) -> Elements:
        """Return a named set's elements, read once."""
        known = self._elements.get((name, datatypes))
        if known is None:
            known = self._elements[name, datatypes] = Elements(self.named(name).elements, datatypes)
        return known

    def data_types(self, data: nft.SetRef | nft.SetOf) -> tuple[str, ...]:
        """Return the datatypes of what a named map leads to; none for an anonymous one, which only
        its use tells.
        """
        if isinstance(data, nft.SetOf):
            return ()
        found = self.named(data.name)
        parts = tuple(part.strip() for part in _SEPARATOR.split(found.data)) if found.data else ()
        if found.typeof:
            return tuple(map(datatype_of, parts))
        return parts
