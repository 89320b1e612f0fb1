"""The iptables outputs of one namespace and family to tables: each flavor apart, in the kernel's
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from podpath.assembly.netfilter.chains import LazyChains, OverlaidChains, assemble_chain
from podpath.assembly.netfilter.merge import ChainOutput, merge_chains
from podpath.assembly.netfilter.tables import TableChains, place_rulesets
from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.evidence.iptables.command import parse_iptables_command
from podpath.evidence.iptables.notes import parse_generated
from podpath.evidence.iptables.ruleset import ChainText, NetfilterNoteRecord, RulesetRecord
from podpath.evidence.iptables.ruleset_lines import RuleLines
from podpath.evidence.records import Reading
from podpath.net.addresses import Family
from podpath.net.provenance import Fact, Gap, Source
from podpath.node.case import Contradiction
from podpath.node.netfilter import TABLE_ORDER, Chain, Table
from podpath.node.node import HOST
from podpath.xtables.legality import TableFlavour, TableName

_OTHER = {"legacy": "nft", "nft": "legacy"}
_MODERN = "nft"
"""The flavor of `iptables` on every distribution since 2020 (Debian 10, RHEL 8, Ubuntu 20.10)."""

Read = Sequence[tuple[Source, Reading]]


class RulesetAssembly(NamedTuple):
    """The tables of one namespace and family."""

    tables: tuple[Table, ...]
    complete: bool
    """True where no other table exists."""
    ask: str
    """The command that would show what is missing."""
    gaps: tuple[Gap, ...]
    contradictions: tuple[Contradiction, ...]


def assemble_rulesets(read: Read, family: Family, netns: str) -> RulesetAssembly:
    """Make the tables of all outputs of a family."""
    rulesets: list[RulesetRecord] = []
    notes: list[NetfilterNoteRecord] = []
    for _, reading in read:
        rulesets += (one for one in reading.of(RulesetRecord) if one.family == family)
        notes += (one for one in reading.of(NetfilterNoteRecord) if one.family == family)
    program = "iptables" if family == 4 else "ip6tables"
    asker = "" if netns == HOST else f"nsenter into {netns}: "
    legacy = any(note.kind == "legacy-present" for note in notes)
    lacks_legacy = legacy and not _shows_whole(read, family, "legacy")
    hidden = tuple(_list_hidden(notes))
    tables: list[Table] = []
    contradictions: list[Contradiction] = []
    for (name, flavour), shown in _group_by_table(rulesets):
        maker = _TableMaker(name, flavour, program, f"in netns {netns}", asker)
        tables.append(maker.make(shown, contradictions))
    return RulesetAssembly(
        tables=tuple(tables),
        complete=not lacks_legacy and not hidden and _shows_whole(read, family, None),
        ask=f"{asker}{program}-legacy-save -c" if lacks_legacy else f"{asker}{program}-save -c",
        gaps=hidden,
        contradictions=tuple(contradictions),
    )


def _list_hidden(notes: Sequence[NetfilterNoteRecord]) -> Iterator[Gap]:
    """Yield the tables of which a note says that iptables cannot show them."""
    for note in notes:
        if note.kind == "incompatible":
            yield Gap(
                note.span,
                f"table {note.table} holds what iptables cannot show: nft list ruleset tells",
            )


def _group_by_table(
    rulesets: Sequence[RulesetRecord],
) -> list[tuple[tuple[str, str], list[TableChains]]]:
    """Put together what outputs show of each table and flavor, in the kernel's order of tables."""
    default = _judge_flavour(rulesets)
    grouped: dict[tuple[str, str], list[TableChains]] = {}
    for placed in place_rulesets(rulesets):
        if placed.table in TABLE_ORDER:
            key = (placed.table, placed.record.flavour or default)
            grouped.setdefault(key, []).append(placed)
    return sorted(grouped.items(), key=lambda item: (TABLE_ORDER.index(item[0][0]), item[0][1]))


class _TableMaker:
    """Makes one table of all outputs that show chains of it."""

    __slots__ = ("_asker", "_flavour", "_name", "_program", "_where")

    def __init__(self, name: str, flavour: str, program: str, where: str, asker: str) -> None:
        self._name = name
        self._flavour = flavour
        self._program = program
        self._where = where
        self._asker = asker

    def make(self, shown: Sequence[TableChains], contradictions: list[Contradiction]) -> Table:
        """Take the fullest output as the base and lay over it what others make of the chains that
        they show too.
        """
        main = max(
            shown, key=lambda placed: (not _is_elsewhere(placed), placed.whole, len(placed.chains))
        )
        others = [placed for placed in shown if placed is not main]
        chains: Mapping[str, Fact[Chain]] = LazyChains(
            main.chains,
            self._name,
            self._flavour,
            whole=main.whole and not others,
            because=main.because,
        )
        contested = shown if _is_elsewhere(main) else others
        merged: dict[str, Fact[Chain]] = {}
        for chain in dict.fromkeys(name for placed in contested for name in placed.chains):
            showings = [placed for placed in shown if chain in placed.chains]
            if not self._is_settled(main, chain, showings):
                merged[chain] = self._merge(chain, showings, contradictions)
        return Table(
            name=TableName(self._name),
            family=main.record.family,
            flavour=TableFlavour(self._flavour),
            chains=OverlaidChains(chains, merged) if merged else chains,
            complete=any(placed.whole and not _is_elsewhere(placed) for placed in shown),
            span=main.record.span,
        )

    @staticmethod
    def _is_settled(main: TableChains, chain: str, showings: Sequence[TableChains]) -> bool:
        """Tell whether the base shows a chain as all others do, so that nothing needs merging."""
        if main not in showings or _is_elsewhere(main):
            return False
        return _are_alike([placed.chains[chain] for placed in showings])

    def _merge(
        self, chain: str, shown: Sequence[TableChains], contradictions: list[Contradiction]
    ) -> Fact[Chain]:
        """Make one fact of all outputs that show a chain."""
        showings = []
        for placed in shown:
            text = placed.chains[chain]
            span = text.span or (text.rules[0].span if text.rules else placed.record.span)
            showings.append(
                ChainOutput(assemble_chain(text, self._name, self._flavour), span, placed.because)
            )
        merged = merge_chains(
            showings,
            fact=(
                f"chain {chain} of {self._program} table {self._name} ({self._flavour}) "
                f"{self._where}"
            ),
            ask=f"{self._asker}{self._program} -t {self._name} -S {chain}",
        )
        contradictions += merged.contradictions
        return merged.fact


def _judge_flavour(records: Sequence[RulesetRecord]) -> str:
    """Say which flavor an output is of that does not tell: the one that others show, but where
    they show another policy for one of its chains; else what most hosts have.
    """
    told = {record.flavour for record in records if record.flavour is not None}
    if len(told) != 1:
        return _MODERN
    flavour = next(iter(told))
    theirs = dict(_list_policies(records, flavour))
    apart = any(theirs.get(key, policy) != policy for key, policy in _list_policies(records, None))
    return _OTHER[flavour] if apart else flavour


def _list_policies(
    records: Sequence[RulesetRecord], flavour: str | None
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the policies of base chains that outputs of a flavor state, by table and chain."""
    for record in records:
        for name, chain in record.chains.items() if record.flavour == flavour else ():
            if chain.policy is not None and record.table is not None:
                yield (record.table, name), chain.policy


def _is_elsewhere(placed: TableChains) -> bool:
    return judge_source(placed.record.span.source) is StateLikelihood.ELSEWHERE


def _are_alike(texts: Sequence[ChainText]) -> bool:
    """Tell whether whole outputs of a chain are the same text but for counters: then nothing needs
    to be read.
    """
    first = texts[0]
    for text in texts[1:]:
        if (
            not (text.whole and first.whole)
            or text.policy != first.policy
            or len(text.rules) != len(first.rules)
        ):
            return False
        if not text.rules:
            continue
        if not isinstance(text.rules, RuleLines) or not isinstance(first.rules, RuleLines):
            return False
        if not first.rules.is_spelled_like(text.rules):
            return False
    return True


def _shows_whole(read: Read, family: Family, flavour: str | None) -> bool:
    """Tell whether some output of this host is a whole iptables-save of the family (and flavor,
    where one is asked for).
    """
    return any(
        _is_whole_save(source, reading, family, flavour)
        for source, reading in read
        if judge_source(source) is not StateLikelihood.ELSEWHERE
    )


def _is_whole_save(source: Source, reading: Reading, family: Family, flavour: str | None) -> bool:
    """Tell whether a source is the whole output of iptables-save: of all tables, nothing cut,
    filtered or left out.
    """
    command = parse_iptables_command(source)
    records = reading.of(RulesetRecord)
    if reading.gaps or source.open_end or not all(record.whole for record in records):
        return False
    told = {record.flavour for record in records} | (
        {command.flavour} if command.flavour else set()
    )
    if flavour is not None and (flavour not in told or not records):  # its tables are said to exist
        return False
    if command.action == "save":
        return command.family == family and command.table is None and not command.filtered
    # Without a command: two tables in one output cannot come from `iptables-save -t`.
    generated = any(parse_generated(line) is not None for line in source.lines[:5])
    return generated and len(records) > 1 and all(record.family == family for record in records)
