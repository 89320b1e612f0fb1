"""Which native base chains stand at which hook, and what of the namespace they switch on
(nf_tables_api.c v6.12).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from podpath.datapath.nftables.chains import NftStage
from podpath.datapath.nftables.tables import CompiledNftTable
from podpath.datapath.vocabulary import hook_named
from podpath.net import nft
from podpath.net.addresses import Family
from podpath.node.nftables import NftTable
from podpath.node.nftables_text import emit_statement
from podpath.node.node import Netns

FAMILIES: Mapping[Family, frozenset[str]] = {
    4: frozenset({"ip", "inet"}),
    6: frozenset({"ip6", "inet"}),
}


class Registered(NamedTuple):
    """One base chain at its hook."""

    priority: int
    serial: int
    """In the order in which the chains were registered: of equal priority, the later one runs first
    (nf_hook_entries_grow).
    """
    type: str
    stage: NftStage


class NativeChains:
    """The native tables of a namespace that see packets of one family."""

    __slots__ = ("_registered", "defragments", "tracks")

    def __init__(self, netns: Netns, family: Family) -> None:
        """Register the base chains; those that can do nothing are left out."""
        sources = [table for table in netns.nftables.items if table.family in FAMILIES[family]]
        self.tracks = any(needs_tracking(table) for table in sources)
        """True where a rule switches conntrack on."""
        self.defragments = any(_looks_for_sockets(table) for table in sources)
        """True where a rule has datagrams put together (`nf_defrag_ipv4_enable` of nft_tproxy and
        nft_socket).
        """
        self._registered: dict[str, list[Registered]] = {}
        serial = 0
        for source in sources:
            table = CompiledNftTable(source, netns.name)
            for chain in source.chains.values():
                serial += 1
                if (
                    not chain.is_base
                    or source.dormant
                    or (not chain.rules and chain.policy == "accept" and chain.type != "nat")
                ):
                    continue
                hook = hook_named(chain.hook)
                if hook is None:
                    continue
                stage = NftStage(table.chains[chain.name], hook)
                self._registered.setdefault(hook, []).append(
                    Registered(chain.priority, serial, chain.type, stage)
                )

    def at(self, hook: str) -> list[Registered]:
        """Return what runs at a hook besides NAT, in no order."""
        return [entry for entry in self._registered.get(hook, ()) if entry.type != "nat"]

    def translating(self, hook: str) -> list[Registered]:
        """Return the chains of type nat of a hook, in their order."""
        return sorted(
            (entry for entry in self._registered.get(hook, ()) if entry.type == "nat"),
            key=lambda entry: (entry.priority, -entry.serial),
        )

    @property
    def translates(self) -> bool:
        """Tell whether any chain of type nat exists: one registers the dispatcher at all its
        hooks.
        """
        return any(
            entry.type == "nat" for entries in self._registered.values() for entry in entries
        )


def needs_tracking(table: NftTable) -> bool:
    """Tell whether a loaded rule of the table switches conntrack on (`nf_ct_netns_get` of nft_ct,
    nft_nat, nft_masq, ...).
    """
    rules = (rule for chain in table.chains.values() for rule in chain.rules)
    return any(_statement_tracks(statement) for rule in rules for statement in rule.statements)


def _looks_for_sockets(table: NftTable) -> bool:
    rules = (rule for chain in table.chains.values() for rule in chain.rules)
    return any(
        emit_statement(statement).startswith(("tproxy", "socket "))
        for rule in rules
        for statement in rule.statements
    )


def _statement_tracks(statement: nft.Statement) -> bool:
    match statement:
        case nft.Nat() | nft.FlowOffload():
            return True
        case nft.NftMatch(_, left, right):
            return any(map(_reads_ct, (left, right)))
        case nft.Vmap(key, _) | nft.SetUpdate(_, key):
            return _reads_ct(key)
        case nft.Mangle(field, value):
            return _reads_ct(field) or _reads_ct(value)
        case nft.OpaqueStatement(text):
            return text.startswith(("ct ", "synproxy", "xt "))
        case _:
            return False


def _reads_ct(expression: nft.Expression) -> bool:
    return any(isinstance(part, nft.Ct) for part in _parts(expression))


def _parts(expression: nft.Expression) -> Iterator[nft.Expression]:
    yield expression
    inner: Iterable[nft.Expression] = ()
    match expression:
        case nft.Binary(_, left, right):
            inner = (left, right)
        case nft.Concat(parts):
            inner = parts
        case nft.MapOf(key, _):
            inner = (key,)
        case nft.Hash(key=key) if key is not None:
            inner = (key,)
    for each in inner:
        yield from _parts(each)
