"""Which table a fragment belongs to, where no output says it.

People paste bare rules, or `iptables-save | grep KUBE`. What a rule does tells much: DNAT stands in
nat only and can be reached from PREROUTING and OUTPUT only (the kernel checks every path:
`mark_source_chains` and `xt_check_target`, net/ipv4/netfilter/ ip_tables.c and
net/netfilter/x_tables.c v6.12), a base chain exists in some tables only, and chains that jump to
one another are in one table. What stays open goes to `filter`, which is what iptables itself takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.evidence.iptables.options import TARGETS, VERDICTS
from podpath.evidence.iptables.ruleset import ChainText, RulesetRecord, RuleText
from podpath.xtables import registry
from podpath.xtables.legality import ALL_HOOKS, ALL_TABLES, BASE_CHAINS, DROP_TABLES

_PREFERENCE = ("filter", "nat", "mangle", "raw", "security")
"""For what stays open: iptables' own default, then by how often people quote them."""
_USUAL: Mapping[str, frozenset[str]] = {
    "PREROUTING": frozenset({"nat"}), "INPUT": frozenset({"filter"}),
    "FORWARD": frozenset({"filter"}), "OUTPUT": frozenset({"nat", "filter"}),
    "POSTROUTING": frozenset({"nat"}),
}  # fmt: skip
"""Where base chains are used in practice: two rules that fit one table only in mangle are rather of
nat and filter.
"""


class TableChains(NamedTuple):
    """Chains of one output that are of one table."""

    record: RulesetRecord
    table: str
    chains: Mapping[str, ChainText]
    whole: bool
    """True where no other chain of the table exists."""
    because: str = ""
    """Why it is taken to be that table, where the output does not say."""


def place_rulesets(records: Sequence[RulesetRecord]) -> list[TableChains]:
    """Return each record's chains with their table; a record without one may be split over
    several.
    """
    placed = [
        TableChains(record, record.table, record.chains, record.whole)
        for record in records
        if record.table is not None
    ]
    pieces = [piece for record in records if record.table is None for piece in _cut_pieces(record)]
    if pieces:
        groups = _gather(pieces, placed)
        placed += [
            result
            for number, piece in enumerate(pieces)
            for result in _place_piece(number, piece, groups)
        ]
    return placed


class _RulePiece(NamedTuple):
    """Rules of one record that may be of several tables only if they contradict one another."""

    record: RulesetRecord
    rules: tuple[RuleText, ...]
    """In line order."""
    names: frozenset[str]
    """All chains in it."""
    single: bool
    """True where all its chains are surely of one table."""


class _ChainGroup:
    """Chains that jumps tie together, so that they are of one table. Mutable while groups are
    united.
    """

    __slots__ = ("hooks", "pieces", "tables", "users")

    def __init__(
        self, users: set[str], tables: frozenset[str], hooks: frozenset[str], piece: int
    ) -> None:
        self.users = users
        """The user chains that are in it, or are jumped to from it."""
        self.tables = tables
        """The tables it may be."""
        self.hooks = hooks
        """The base chains that may lead to it."""
        self.pieces = {piece}

    @property
    def table(self) -> str:
        return next((name for name in _PREFERENCE if name in self.tables), "filter")


class _ChainGroups:
    """Groups, found by the user chains in them. Mutable while they are united."""

    __slots__ = ("_of",)

    def __init__(self) -> None:
        self._of: dict[str, list[_ChainGroup]] = {}

    def find(self, users: Iterable[str]) -> list[_ChainGroup]:
        """Return the groups that hold one of the chains."""
        found: list[_ChainGroup] = []
        for user in users:
            found += [group for group in self._of.get(user, ()) if group not in found]
        return found

    def add(self, new: _ChainGroup) -> None:
        """Take a group in, united with all that share a chain with it and may be of the same
        table.
        """
        for user in new.users:
            self._of.setdefault(user, []).append(new)
        others = [group for group in self.find(new.users) if group is not new]
        for group in others:
            if group.tables & new.tables:
                new = self._unite(group, new)

    def _unite(self, first: _ChainGroup, second: _ChainGroup) -> _ChainGroup:
        small, large = sorted((first, second), key=lambda group: len(group.users))
        for user in small.users:
            groups = self._of[user]
            groups.remove(small)
            if large not in groups:
                groups.append(large)
        large.users |= small.users
        large.tables &= small.tables
        large.hooks &= small.hooks
        large.pieces |= small.pieces
        return large

    def __iter__(self) -> Iterator[_ChainGroup]:
        return iter({id(group): group for groups in self._of.values() for group in groups}.values())


def _cut_pieces(record: RulesetRecord) -> Iterator[_RulePiece]:
    """Cut a record where the next table may start: iptables prints a table's base chains before the
    others.
    """
    rules = sorted(
        (rule for chain in record.chains.values() for rule in chain.rules),
        key=lambda rule: rule.span.line,
    )
    declared = {name for name, chain in record.chains.items() if chain.span is not None}
    if record.whole or declared & ALL_HOOKS or not rules:
        yield _RulePiece(record, tuple(rules), frozenset(record.chains), single=True)
        return
    start, in_users = 0, False
    for index, rule in enumerate(rules):
        if rule.chain in ALL_HOOKS and in_users:
            piece = tuple(rules[start:index])
            yield _RulePiece(record, piece, frozenset(each.chain for each in piece), single=False)
            start = index
        in_users = rule.chain not in ALL_HOOKS
    rest = tuple(rules[start:])
    names = frozenset(rule.chain for rule in rest) | (declared if start == 0 else frozenset())
    yield _RulePiece(record, rest, names, single=False)


def allowed_tables(rule: RuleText) -> frozenset[str]:
    """Return the tables that a rule may be in by its base chain, target and matches."""
    tables = ALL_TABLES
    if rule.chain in ALL_HOOKS:
        tables = frozenset(name for name, chains in BASE_CHAINS.items() if rule.chain in chains)
    if rule.target is not None:
        target = registry.TARGETS.get(rule.target.name)
        if target is not None:
            tables &= target.tables
        elif rule.target.name == "DROP":
            tables &= DROP_TABLES
    for match in rule.matches:
        known = registry.MATCHES.get(match.name)
        if known is not None:
            tables &= known.tables
    return tables


def _allowed_hooks(rule: RuleText) -> frozenset[str]:
    """Return the base chains that may lead to a rule, by its target."""
    target = registry.TARGETS.get(rule.target.name) if rule.target is not None else None
    return ALL_HOOKS if target is None else target.hooks


def _jump(rule: RuleText) -> str | None:
    """Return the user chain that the rule goes to."""
    name = rule.target.name if rule.target is not None else None
    if name is None or name in VERDICTS or name in TARGETS:
        return None
    return name


def _gather(pieces: Sequence[_RulePiece], placed: Sequence[TableChains]) -> _ChainGroups:
    """Make the groups of each piece, then unite them over the pieces and tie them to the tables
    that other outputs name.
    """
    united = _ChainGroups()
    for number, piece in enumerate(pieces):
        if piece.single:
            united.add(_gather_single(piece, number))
        else:
            for group in _gather_tied(piece, number):
                united.add(group)
    for group in united:
        anchors = frozenset(
            known.table for known in placed if not group.users.isdisjoint(known.chains)
        )
        if group.tables & anchors:
            group.tables &= anchors
    return united


def _gather_tied(piece: _RulePiece, number: int) -> _ChainGroups:
    """Tie the user chains of a piece by the jumps between them, then by the base chains that lead
    to them.
    """
    groups = _ChainGroups()
    for rule in piece.rules:
        if rule.chain not in ALL_HOOKS:
            groups.add(
                _ChainGroup(_users(rule), allowed_tables(rule), _allowed_hooks(rule), number)
            )
    for rule in piece.rules:
        users = _users(rule)
        if rule.chain not in ALL_HOOKS or not users:
            continue
        found = groups.find(users)
        if not found:
            groups.add(_ChainGroup(users, allowed_tables(rule), ALL_HOOKS, number))
        elif _leads_to(rule, found[0]):
            found[0].tables &= allowed_tables(rule)
    return groups


def _gather_single(piece: _RulePiece, number: int) -> _ChainGroup:
    """Make the one group of a piece that is of one table, by its base chains and all its rules."""
    base = piece.names & ALL_HOOKS
    tables = (
        frozenset(name for name, chains in BASE_CHAINS.items() if base <= set(chains)) or ALL_TABLES
    )
    if piece.record.whole:
        # nat had no INPUT chain before Linux 2.6.36
        exact = frozenset(
            name
            for name in tables
            if set(BASE_CHAINS[name]) - ({"INPUT"} if name == "nat" else set()) <= base
        )
        tables = exact or tables
    users = set(piece.names - ALL_HOOKS)
    for rule in piece.rules:
        tables = tables & allowed_tables(rule) or tables
        users |= _users(rule)
    return _ChainGroup(users, tables, ALL_HOOKS, number)


def _users(rule: RuleText) -> set[str]:
    """Return the user chains that a rule is in or goes to."""
    return {
        name for name in (rule.chain, _jump(rule)) if name is not None and name not in ALL_HOOKS
    }


def _leads_to(rule: RuleText, group: _ChainGroup) -> bool:
    """Tell whether a base chain's rule is of the table of the group that it jumps to: could be, and
    would be in practice.
    """
    if rule.chain not in group.hooks or not group.tables & allowed_tables(rule):
        return False
    usual = group.tables & {"filter", "nat"}
    return group.hooks != ALL_HOOKS or not usual or bool(usual & _USUAL[rule.chain])


def _place_piece(number: int, piece: _RulePiece, groups: _ChainGroups) -> Iterator[TableChains]:
    """Yield the piece's chains, by table."""
    if piece.single:
        group = next((group for group in groups.find(piece.names) if number in group.pieces), None)
        table = group.table if group is not None else _gather_single(piece, number).table
        yield TableChains(
            piece.record, table, piece.record.chains, piece.record.whole, _because(table)
        )
        return
    rules: dict[str, dict[str, list[RuleText]]] = {}
    for rule in piece.rules:
        table = _table_of_rule(number, rule, groups)
        rules.setdefault(table, {}).setdefault(rule.chain, []).append(rule)
    for name in piece.names:
        if not any(name in chains for chains in rules.values()):
            table = next((group.table for group in groups.find((name,))), "filter")
            rules.setdefault(table, {})[name] = []
    for table, chains in rules.items():
        texts = {name: _part(piece.record.chains[name], own) for name, own in chains.items()}
        yield TableChains(piece.record, table, texts, whole=False, because=_because(table))


def _part(chain: ChainText, rules: list[RuleText]) -> ChainText:
    """Return the chain with those of its rules that are of one table."""
    if len(rules) == len(chain.rules):
        return chain
    return chain._replace(rules=tuple(rules), whole=False)


def _table_of_rule(number: int, rule: RuleText, groups: _ChainGroups) -> str:
    """Return the rule's table: that of the chains it is tied to, unless the kernel would not take
    it there.
    """
    tables = allowed_tables(rule)
    tied = sorted(groups.find(_users(rule)), key=lambda group: number not in group.pieces)
    for group in tied:
        if group.table in tables and (rule.chain not in ALL_HOOKS or _leads_to(rule, group)):
            return group.table
    others = tables - {group.table for group in tied} or tables
    if rule.chain in ALL_HOOKS:
        others = others & _USUAL[rule.chain] or others
    return next((name for name in _PREFERENCE if name in others), "filter")


def _because(table: str) -> str:
    return f"no output says which table it is in: taken to be {table}"
