"""A file for `iptables-restore` to the tables that a namespace has after it.

What each command does was seen on the kernel with iptables 1.8.9. Without `--noflush` a table is
emptied where its block begins; a base chain that the file does not name keeps its policy where the
legacy program did it, and has ACCEPT where iptables-nft did. With `--noflush` a user chain that the
file declares is emptied, a base chain only takes its policy, and rules are appended. A command
that fails takes its whole block with it: it is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.assembly.planned.table_draft import RefusedError, TableDraft
from podpath.evidence.planned.restore import RestoreRecord, RestoreVerb
from podpath.net.addresses import Family
from podpath.net.provenance import Fact, Gap, Known, Span
from podpath.node.change import PutTable
from podpath.node.netfilter import Chain, Table
from podpath.node.node import Netns
from podpath.xtables.legality import BASE_CHAINS, ChainPolicy, TableFlavour, TableName

_Key = tuple[Family, str, str]


def assemble_tables(
    records: Iterable[RestoreRecord], namespace: Netns, flavour: str | None, *, noflush: bool
) -> tuple[tuple[PutTable, ...], tuple[Gap, ...]]:
    """Return the tables after a file, and what of it cannot be taken over."""
    run = _Restore(namespace, flavour, noflush=noflush)
    for record in records:
        run.take(record)
    run.close()
    changes = tuple(
        PutTable(netns=namespace.name, table=table, replaced=tuple(run.replaced.get(key, ())))
        for key, table in run.tables.items()
    )
    return changes, tuple(run.gaps)


class _Restore:
    """The tables as a file finds and leaves them. Mutable, used once."""

    def __init__(self, namespace: Netns, flavour: str | None, *, noflush: bool) -> None:
        self.tables: dict[_Key, Table] = {}
        self.replaced: dict[_Key, list[tuple[Span, Span]]] = {}
        self.gaps: list[Gap] = []
        self._namespace = namespace
        self._flavour = flavour
        self._noflush = noflush
        self._draft: TableDraft | None = None
        self._key: _Key = (4, "", "")

    def take(self, record: RestoreRecord) -> None:
        """Take one line over."""
        if record.verb is RestoreVerb.TABLE:
            self.close()
            self._open(record)
            return
        if self._draft is None:
            return
        try:
            _apply(self._draft, record)
        except RefusedError as error:
            self.gaps.append(Gap(record.span, str(error)))

    def close(self) -> None:
        """Close the block at hand, as COMMIT does."""
        draft, self._draft = self._draft, None
        if draft is None:
            return
        self.gaps += draft.find_loops()
        self.tables[self._key] = draft.close()
        self.replaced.setdefault(self._key, []).extend(draft.replaced)

    def _open(self, record: RestoreRecord) -> None:
        if record.table not in BASE_CHAINS:
            self.gaps.append(Gap(record.span, f"there is no table {record.table}"))
            return
        namespace = self._namespace
        named = self._flavour or (record.flavour if record.called else None)
        kind = named or _judge_flavour(namespace, record.family) or record.flavour or "nft"
        self._key = (record.family, record.table, kind)
        held = self.tables.get(self._key) or _find_table(namespace, *self._key)
        if held is None and self._noflush and not _is_listed(namespace, record.family):
            self.gaps.append(Gap(record.span, f"no output shows table {record.table} as it is"))
            return
        self._draft = _open_draft(record, held, kind, noflush=self._noflush)


def _open_draft(
    record: RestoreRecord, held: Table | None, kind: str, *, noflush: bool
) -> TableDraft:
    """Return the table as the block finds it; without `--noflush` it is emptied."""
    before: Mapping[str, Fact[Chain]] = held.chains if held is not None else {}
    chains: dict[str, Fact[Chain]] = dict(before) if noflush else {}
    for base in BASE_CHAINS[record.table]:
        if base not in chains:
            policy = _policy(before.get(base)) if kind == "legacy" else ChainPolicy.ACCEPT
            chains[base] = Known(Chain(name=base, rules=(), policy=policy), record.span)
    table = Table(
        name=TableName(record.table),
        family=record.family,
        flavour=TableFlavour(kind),
        chains=chains,
        complete=not noflush or held is None or held.complete,
        span=record.span,
    )
    draft = TableDraft(table, noflush=noflush)
    if not noflush:
        for fact in before.values():
            if isinstance(fact, Known):
                draft.note_emptied(fact.value, record.span)
    return draft


def _apply(draft: TableDraft, record: RestoreRecord) -> None:
    """Do what one line says; `RefusedError` where the program or the kernel would not."""
    if record.rule is not None or record.number is not None:
        _change_rules(draft, record)
    else:
        _change_chains(draft, record)


def _change_rules(draft: TableDraft, record: RestoreRecord) -> None:
    chain, number = record.chain, record.number
    if record.rule is None:
        draft.delete_number(chain, number or 0, record.span)
        return
    rule = assemble_rule(record.rule, record.table, 1)
    if rule.unread:
        raise RefusedError(rule.unread)
    match record.verb:
        case RestoreVerb.APPEND:
            draft.insert(chain, rule, None)
        case RestoreVerb.INSERT:
            draft.insert(chain, rule, 1 if number is None else number)
        case RestoreVerb.REPLACE:
            draft.replace(chain, rule, number or 0)
        case RestoreVerb.DELETE:
            draft.delete(chain, rule)
        case _:
            draft.find(chain, rule)


def _change_chains(draft: TableDraft, record: RestoreRecord) -> None:
    span, chain = record.span, record.chain
    match record.verb:
        case RestoreVerb.DECLARE:
            draft.declare(chain, record.policy, span)
        case RestoreVerb.CREATE:
            draft.create(chain, span)
        case RestoreVerb.RENAME:
            draft.rename(chain, record.renamed)
        case RestoreVerb.REMOVE if chain:
            draft.remove(chain)
        case RestoreVerb.REMOVE:
            draft.remove_all()
        case RestoreVerb.FLUSH:
            draft.flush(chain, span)
        case RestoreVerb.POLICY:
            draft.set_policy(chain, record.policy, span)
        case _:
            draft.zero(chain)


def _judge_flavour(namespace: Netns, family: Family) -> str | None:
    """Return the flavor of the tables that are there; None where there are none or both."""
    held = namespace.netfilter.get(family)
    found = {table.flavour for table in held.tables} if held is not None else set()
    return next(iter(found)) if len(found) == 1 else None


def _is_listed(namespace: Netns, family: Family) -> bool:
    held = namespace.netfilter.get(family)
    return held is not None and held.complete


def _find_table(namespace: Netns, family: Family, name: str, flavour: str) -> Table | None:
    held = namespace.netfilter.get(family)
    tables = held.tables if held is not None else ()
    return next((one for one in tables if (one.name, one.flavour) == (name, flavour)), None)


def _policy(old: Fact[Chain] | None) -> ChainPolicy:
    found = old.value.policy if isinstance(old, Known) else None
    return found or ChainPolicy.ACCEPT
