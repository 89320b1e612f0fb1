"""Readings of ipset to the sets that rules match against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.evidence.commands.command import parse_command
from podpath.evidence.node_records import IpSetEntryRecord, IpSetRecord
from podpath.evidence.records import HeadingRecord, Reading
from podpath.net.addresses import Family
from podpath.net.provenance import Gap, Source
from podpath.node.netfilter import IpSet, MatchOption, SetMember

_HARMLESS_FILTERS = frozenset({"cat", "less", "more", "tee"})
_FAMILIES: tuple[Family, ...] = (4, 6)
_NO_FAMILY = frozenset({"list:set", "hash:mac", "bitmap:port"})
"""Set types that rules of both families can match."""
_ACTIONS = frozenset({"save", "list", "-L", "-S", "--list", "--save"})


class SetsAssembly(NamedTuple):
    """The sets of one namespace."""

    by_family: Mapping[Family, Mapping[str, IpSet]]
    complete: bool
    """True where the evidence lists all sets."""
    gaps: tuple[Gap, ...]


class _SetDraft:
    """A set while its members are collected. Mutable, local to one assembly."""

    __slots__ = ("cut", "members", "record")

    def __init__(self, record: IpSetRecord) -> None:
        self.record = record
        self.members: list[SetMember] = []
        self.cut = False

    def freeze(self, family: Family) -> IpSet:
        size = self.record.size
        return IpSet(
            name=self.record.name,
            type=self.record.type,
            family=family,
            members=tuple(self.members),
            options=self.record.options,
            complete=not self.cut and (size is None or size == len(self.members)),
            span=self.record.span,
        )


def assemble_sets(readings: Iterable[tuple[Source, Reading]]) -> SetsAssembly:
    """Return every set that the evidence shows; of one that is shown twice the likelier state."""
    gaps: list[Gap] = []
    drafts: dict[str, _SetDraft] = {}
    complete = False
    for source, reading in sorted(readings, key=lambda each: judge_source(each[0])):
        if judge_source(source) is StateLikelihood.ELSEWHERE:
            continue
        complete = complete or _is_whole(source, reading)
        found = _collect(source, reading, gaps)
        for name, draft in found.items():
            known = drafts.get(name)
            if known is None or (known.cut and not draft.cut):
                drafts[name] = draft
    families: dict[Family, dict[str, IpSet]] = {}
    for name, draft in drafts.items():
        for family in _FAMILIES if draft.record.type in _NO_FAMILY else (draft.record.family,):
            families.setdefault(family, {})[name] = draft.freeze(family)
    return SetsAssembly(families, complete, tuple(gaps))


def _collect(source: Source, reading: Reading, gaps: list[Gap]) -> Mapping[str, _SetDraft]:
    """Return the sets of one output with their members."""
    drafts: dict[str, _SetDraft] = {}
    cut = _is_cut(source, reading)
    for record in reading.records:
        if isinstance(record, IpSetRecord):
            drafts[record.name] = draft = _SetDraft(record)
            draft.cut = cut
        elif isinstance(record, IpSetEntryRecord):
            member = SetMember(
                record.parts,
                record.nomatch,
                tuple(MatchOption(name, values) for name, values in record.options),
                record.span,
            )
            if record.name in drafts:
                drafts[record.name].members.append(member)
            else:
                gaps.append(
                    Gap(record.span, f"no output says which type the set {record.name} has")
                )
    return drafts


def _is_cut(source: Source, reading: Reading) -> bool:
    """Tell whether members may be missing: a filter, an ellipsis, or a line that could not be
    read.
    """
    if reading.gaps or any(
        isinstance(record, HeadingRecord) and record.partial for record in reading.records
    ):
        return True
    return any(
        words[0].rpartition("/")[2] not in _HARMLESS_FILTERS
        for words in parse_command(source.command).filters
    )


def _is_whole(source: Source, reading: Reading) -> bool:
    """Tell whether a source lists all sets: `ipset save` without a name."""
    if _is_cut(source, reading):
        return False
    command = parse_command(source.command)
    if command.program == "ipset":
        names = [
            word for word in command.arguments if not word.startswith("-") and word not in _ACTIONS
        ]
        return any(word in _ACTIONS for word in command.arguments) and not names
    return not command.program and source.name.rpartition("/")[2] == "ipset.txt"
