"""A file that says what somebody is about to change to changes of the node: what it does, and what
of it nobody can tell.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.planned.routes import assemble_routing
from podpath.assembly.planned.scripts import assemble_script
from podpath.assembly.planned.tables import assemble_tables
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.node_records import SparedSysctlRecord, SysctlRecord
from podpath.evidence.planned.commands import (
    ModuleCommandRecord,
    RouteCommandRecord,
    RuleCommandRecord,
)
from podpath.evidence.planned.files import ChangeKind, ReadChange
from podpath.evidence.planned.restore import RestoreRecord
from podpath.evidence.records import Reading
from podpath.net.provenance import Gap, Known, Span
from podpath.node.change import Change, LoadModule, SetSysctl
from podpath.node.node import HOST, Netns, Node
from podpath.node.objects import ApiObject
from podpath.node.planned import PlannedChange

_COPIED = frozenset({"net.ipv4.conf", "net.ipv4.neigh"})
"""Where the kernel copies a new default to devices."""
_DEVICE_KEYS = ("net.ipv4.conf.", "net.ipv6.conf.", "net.ipv4.neigh.", "net.ipv6.neigh.")


def assemble_change(
    read: ReadChange,
    node: Node,
    *,
    name: str,
    netns: str = HOST,
    noflush: bool = False,
    flavour: str | None = None,
) -> PlannedChange:
    """Return what a file changes on the node as it is by then. `netns` is where it is taken in."""
    namespace = node.namespaces[netns]
    match read.kind:
        case ChangeKind.IPTABLES:
            effect = _take_tables(read.reading, namespace, flavour, noflush=noflush)
        case ChangeKind.NFT:
            script, refused = assemble_script(read.reading.records, namespace)
            effect = _Effect(changes=(script,), refused=tuple(refused))
        case ChangeKind.SYSCTL:
            writes = tuple(_set_file(read.reading, namespace))
            effect = _Effect(changes=writes, lines=tuple(write.span for write in writes))
        case ChangeKind.COMMANDS:
            effect = _take_commands(read.reading, node, netns, flavour)
        case ChangeKind.OBJECTS:
            effect = _take_objects(read.reading, netns)
    return PlannedChange(
        name=name,
        kind=read.kind.value,
        changes=effect.changes,
        lines=effect.lines or (None,) * len(effect.changes),
        objects=effect.objects,
        refused=(*read.reading.gaps, *effect.refused),
        sources=(read.source,),
    )


class _Effect(NamedTuple):
    """What a file does, and what of it nobody can tell."""

    changes: tuple[Change, ...] = ()
    lines: tuple[Span | None, ...] = ()
    """The line of each change; empty where a change is of the whole file."""
    objects: tuple[ApiObject, ...] = ()
    refused: tuple[Gap, ...] = ()


def _take_tables(
    reading: Reading, namespace: Netns, flavour: str | None, *, noflush: bool
) -> _Effect:
    """Return what iptables-restore makes of rules; a line that its reader refused is refused
    once.
    """
    tables, refused = assemble_tables(
        reading.of(RestoreRecord), namespace, flavour, noflush=noflush
    )
    told = {gap.span.line for gap in reading.gaps}
    further = tuple(gap for gap in refused if gap.span.line not in told)
    return _Effect(changes=tables, refused=further)


def _take_objects(reading: Reading, netns: str) -> _Effect:
    """Return the objects that are given; those that no model knows are refused."""
    objects: list[ApiObject] = []
    refused: list[Gap] = []
    for one in reading.of(ApiObjectRecord):
        made = ApiObject(
            kind=one.kind, namespace=one.namespace, name=one.name, tree=one.tree, netns=netns
        )
        objects.append(made)
        if one.kind != "NetworkPolicy":
            refused.append(Gap(one.tree.line, f"what a {one.kind} changes is not modeled"))
    return _Effect(objects=tuple(objects), refused=tuple(refused))


def _take_commands(reading: Reading, node: Node, netns: str, flavour: str | None) -> _Effect:
    """Return what commands change, each with its line; sysctls and modules first, which no route
    asks for. Calls of iptables change what there is, one after the other.
    """
    tables = _take_tables(reading, node.namespaces[netns], flavour, noflush=True)
    wanted = [
        one for one in reading.records if isinstance(one, RouteCommandRecord | RuleCommandRecord)
    ]
    routing, refused = assemble_routing(wanted, node, netns)
    loads = [(LoadModule(name=one.name), one.span) for one in reading.of(ModuleCommandRecord)]
    settings = reading.of(SysctlRecord)
    writes = [(write, write.span) for write in _set_sysctls(settings, node.namespaces[netns])]
    ruled = [(change, None) for change in tables.changes]
    made: tuple[tuple[Change, Span | None], ...] = (*loads, *writes, *routing, *ruled)
    return _Effect(
        changes=tuple(change for change, _ in made),
        lines=tuple(span for _, span in made),
        refused=(*refused, *tables.refused),
    )


def _set_file(reading: Reading, namespace: Netns) -> Iterator[SetSysctl]:
    """Yield what a file writes: a pattern leaves alone what the file names elsewhere (sysctl.d(5),
    and as seen with procps 4.0.2).
    """
    settings = reading.of(SysctlRecord)
    named = {one.key for one in settings if not _is_pattern(one.key)}
    spared = named | {one.key for one in reading.of(SparedSysctlRecord)}
    return _set_sysctls(settings, namespace, spared)


def _set_sysctls(
    records: Sequence[SysctlRecord], namespace: Netns, spared: Collection[str] = ()
) -> Iterator[SetSysctl]:
    """Yield what is written, of a pattern every key that it names and that is not spared; a key
    that does not exist is not written.
    """
    written: set[str] = set()
    for record in records:
        keys = _expand(record.key, namespace)
        if _is_pattern(record.key):
            keys = [key for key in keys if key not in spared]
        for key in keys:
            if namespace.sysctls_complete and key not in namespace.sysctls:
                continue
            write = SetSysctl(
                netns=namespace.name, key=key, value=record.value.strip(), span=record.span
            )
            yield write
            written.add(key)
            yield from _spread_default(write, namespace, written)


def _spread_default(
    write: SetSysctl, namespace: Netns, written: Collection[str]
) -> Iterator[SetSysctl]:
    """Yield what a new default for devices may do to those that are there."""
    before, middle, last = write.key.partition(".default.")
    old = namespace.sysctls.get(write.key)
    if not middle or before not in _COPIED or not isinstance(old, Known):
        return
    for key, fact in namespace.sysctls.items():
        of_device = key.startswith(f"{before}.") and key.endswith(f".{last}")
        if not of_device or key in written or key == f"{before}.all.{last}":
            continue
        if isinstance(fact, Known) and old.value == fact.value != write.value:
            yield replace(write, key=key, kept=fact.value)


def _expand(key: str, namespace: Netns) -> list[str]:
    if not _is_pattern(key):
        return [key]
    known = [name for name in namespace.sysctls if fnmatch.fnmatchcase(name, key)]
    prefix = next((start for start in _DEVICE_KEYS if key.startswith(start)), "")
    rest = key.removeprefix(prefix)
    pattern, _, last = rest.rpartition(".")
    if not prefix or not last or _is_pattern(last):
        return known
    devices = ["all", "default", *(link.name.replace(".", "/") for link in namespace.links.items)]
    named = [f"{prefix}{each}.{last}" for each in devices if fnmatch.fnmatchcase(each, pattern)]
    return list(dict.fromkeys([*known, *named]))


def _is_pattern(key: str) -> bool:
    return not {"*", "?", "["}.isdisjoint(key)
