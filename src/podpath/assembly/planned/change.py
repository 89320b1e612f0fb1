"""A file that says what somebody is about to change to changes of the node: what it does, and what
of it nobody can tell.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from podpath.assembly.planned.routes import assemble_routing
from podpath.assembly.planned.scripts import assemble_script
from podpath.assembly.planned.tables import assemble_tables
from podpath.evidence.iptables.ruleset import RulesetRecord
from podpath.evidence.kubernetes.records import ApiObjectRecord
from podpath.evidence.planned.commands import (
    ModuleCommandRecord,
    RouteCommandRecord,
    RuleCommandRecord,
)
from podpath.evidence.planned.files import ChangeKind, ReadChange
from podpath.evidence.records import SysctlRecord
from podpath.net.provenance import Gap, Span
from podpath.node.change import Change, LoadModule, SetSysctl
from podpath.node.node import HOST, Netns, Node
from podpath.node.objects import ApiObject
from podpath.node.planned import PlannedChange

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
    records, gaps = read.reading.records, list(read.reading.gaps)
    changes: tuple[Change, ...] = ()
    lines: tuple[Span | None, ...] = ()
    objects: tuple[ApiObject, ...] = ()
    match read.kind:
        case ChangeKind.IPTABLES:
            rulesets = [one for one in records if isinstance(one, RulesetRecord)]
            tables, refused = assemble_tables(rulesets, namespace, flavour, noflush=noflush)
            gaps += [gap for gap in refused if not _is_told(gap, gaps)]
            changes = tables
        case ChangeKind.NFT:
            script, refused = assemble_script(records, namespace)
            gaps += refused
            changes = (script,)
        case ChangeKind.SYSCTL:
            settings = [one for one in records if isinstance(one, SysctlRecord)]
            writes = tuple(_set_sysctls(settings, namespace))
            changes, lines = writes, tuple(write.span for write in writes)
        case ChangeKind.COMMANDS:
            made, refused = _take_commands(read, node, netns)
            changes = tuple(change for change, _ in made)
            lines = tuple(span for _, span in made)
            gaps += refused
        case ChangeKind.OBJECTS:
            objects = tuple(
                ApiObject(
                    kind=one.kind,
                    namespace=one.namespace,
                    name=one.name,
                    tree=one.tree,
                    netns=netns,
                )
                for one in records
                if isinstance(one, ApiObjectRecord)
            )
            gaps += [
                Gap(one.tree.line, f"what a {one.kind} changes is not modeled")
                for one in objects
                if one.kind != "NetworkPolicy"
            ]
    return PlannedChange(
        name=name,
        kind=read.kind.value,
        changes=changes,
        lines=lines or (None,) * len(changes),
        objects=objects,
        refused=tuple(gaps),
        sources=(read.source,),
    )


def _is_told(gap: Gap, others: list[Gap]) -> bool:
    return any(gap.span.line == other.span.line for other in others)


def _take_commands(
    read: ReadChange, node: Node, netns: str
) -> tuple[tuple[tuple[Change, Span | None], ...], tuple[Gap, ...]]:
    """Return what commands change, each with its line; sysctls and modules first, which no route
    asks for.
    """
    records = read.reading.records
    settings = [one for one in records if isinstance(one, SysctlRecord)]
    modules = [one for one in records if isinstance(one, ModuleCommandRecord)]
    routing = [one for one in records if isinstance(one, RouteCommandRecord | RuleCommandRecord)]
    made, gaps = assemble_routing(routing, node, netns)
    loads = tuple((LoadModule(name=one.name), one.span) for one in modules)
    sysctls = tuple((write, write.span) for write in _set_sysctls(settings, node.namespaces[netns]))
    return (*loads, *sysctls, *made), gaps


def _set_sysctls(records: list[SysctlRecord], namespace: Netns) -> Iterator[SetSysctl]:
    """Yield what is written, of a pattern every key that it names; a key that does not exist is not
    written.
    """
    for record in records:
        for key in _expand(record.key, namespace):
            if namespace.sysctls_complete and key not in namespace.sysctls:
                continue
            yield SetSysctl(
                netns=namespace.name, key=key, value=record.value.strip(), span=record.span
            )


def _expand(key: str, namespace: Netns) -> list[str]:
    if not any(sign in key for sign in "*?["):
        return [key]
    known = [name for name in namespace.sysctls if fnmatch.fnmatchcase(name, key)]
    prefix = next((start for start in _DEVICE_KEYS if key.startswith(start)), "")
    rest = key.removeprefix(prefix)
    pattern, _, last = rest.rpartition(".")
    if not prefix or not last or any(sign in last for sign in "*?["):
        return known
    devices = ["all", "default", *(link.name.replace(".", "/") for link in namespace.links.items)]
    named = [f"{prefix}{each}.{last}" for each in devices if fnmatch.fnmatchcase(each, pattern)]
    return list(dict.fromkeys([*known, *named]))
