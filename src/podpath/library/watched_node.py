"""This node as a watch of drops has it: read whole once, and then each namespace by itself where
something in it changed.

A namespace that is read again needs of the others only their devices, for who is whose peer: the
rest of it is told by its own outputs. Where its own devices are others by now, whose peers they
are is not known, and the whole node is read.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from podpath.assembly.case import assemble_case
from podpath.collect.apart import NICE, run_apart
from podpath.collect.live import collect_live, gather_collected
from podpath.collect.namespaces import FoundNamespaces, find_namespaces, list_inodes
from podpath.collect.netns_files import NetnsAspect
from podpath.collect.snapshot import Collected, collect_namespace
from podpath.datapath.netfilter.ruleset import compile_ruleset
from podpath.datapath.netfilter.tracking import track_known
from podpath.datapath.walk.compiled import Engine
from podpath.evidence.recognition import read as read_source
from podpath.library.memory import collecting_nothing
from podpath.library.progress import Progress, silent, stage
from podpath.net.addresses import WIDTH, Address
from podpath.node.node import HOST, Netns, NetnsRole, Node

_Read = TypeVar("_Read")
_MANIFEST, _LINKS = "bundle.json", "ip-link.json"
_FIELDS: Mapping[NetnsAspect, tuple[str, ...]] = {
    NetnsAspect.RULES: ("netfilter", "nftables"),
    NetnsAspect.ROUTES: ("routes", "rules"),
}
"""What of a namespace each aspect's outputs tell, and no other output does."""
_WHOSE = ("ifindex", "ifname", "link", "link_index", "link_netnsid")
"""What of a device says which other one it belongs to."""


Renewed = Mapping[str, tuple[NetnsAspect, Netns]]
"""Namespaces that were read again, by their names; of one that is not whole the rest says
nothing.
"""


class NodeFrame(NamedTuple):
    """What reading one namespace again needs of the node as it was read."""

    paths: Mapping[str, str]
    """The files that stand for namespaces, by their names."""
    inodes: Mapping[str, int]
    files: Mapping[str, bytes]
    """The manifest, the node's own outputs, and the devices of every namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedNode:
    """This node as it was read, and which namespace each number of the kernel's stands for."""

    engine: Engine
    netns: Mapping[int, str]
    """Names by the namespaces' inodes."""
    pods: Mapping[str, str] = field(default_factory=dict)
    """What namespaces' pods are called, `NAMESPACE/NAME`, where a runtime says so."""
    owners: Mapping[Address, str] = field(default_factory=dict)
    """The namespace of the one pod that has an address."""
    frame: NodeFrame = NodeFrame({}, {}, {})
    numbers: Mapping[int | None, str] = field(default_factory=dict)
    """Names by the numbers that the node's own namespace knows others by, itself by None."""

    def list_parts(self) -> list[object]:
        """Return the parts that hold nearly all of it."""
        engine = self.engine
        compiled = (engine.namespaces, engine.rulesets, engine.tracked, engine.lines)
        parts = [part for parts in compiled for part in parts.values()]
        return [*engine.node.namespaces.values(), *parts]

    def list_parts_of(self, names: Collection[str]) -> list[object]:
        """Return the parts that hold nearly all of some namespaces."""
        rulesets = (each for at, each in self.engine.rulesets.items() if at[0] in names)
        return [*(self.engine.node.namespaces[name] for name in names), *rulesets]

    def renew(self, renewed: Renewed) -> WatchedNode:
        """Return the node with what was read again; what was compiled of the rest stays."""
        before = self.engine
        namespaces = dict(before.node.namespaces)
        for name, (aspect, netns) in renewed.items():
            fields = _FIELDS.get(aspect)
            taken = {field: getattr(netns, field) for field in fields or ()}
            namespaces[name] = replace(namespaces[name], **taken) if fields else netns
        engine = Engine(replace(before.node, namespaces=namespaces))
        same = {name for name, (aspect, _) in renewed.items() if aspect is NetnsAspect.ROUTES}
        stale = renewed.keys() - same
        engine.rulesets |= {at: each for at, each in before.rulesets.items() if at[0] not in stale}
        engine.device_chains |= _without(before.device_chains, stale)
        engine.tracked |= _without(before.tracked, _list_whole(renewed))
        engine.lines |= _without(before.lines, renewed)
        _compile(engine, renewed)
        return replace(self, engine=engine, owners=find_owners(engine.node))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadFacts:
    """What is read of this node, before anything is compiled of it. Local to this module."""

    node: Node
    netns: Mapping[int, str]
    pods: Mapping[str, str]
    frame: NodeFrame


def read_node(progress: Progress = silent, *, node: str | None = None) -> WatchedNode:
    """Read this node; `node` names its own namespace where that is not process 1's. Needs root."""
    with collecting_nothing():
        return _take_over(_read_facts(progress, node))


def read_node_apart(node: str | None = None) -> WatchedNode:
    """Read this node in a process of its own, and take over what it found: that is a small part of
    the work, in which other threads have their turns.
    """
    return _take_over(_ask_apart(lambda: _read_facts(silent, node))[0])


class RereadNode(NamedTuple):
    """A node of which some namespaces were read again."""

    node: WatchedNode | None
    """None where that does not do, as one of them is gone or has other devices."""
    spent: float
    """Seconds of a processor that it took."""


def reread_apart(watched: WatchedNode, wanted: Mapping[str, NetnsAspect]) -> RereadNode:
    """Read some namespaces of a node again, or what of them is wanted, in a process of its own:
    it is short, and drops wait for it, so that it yields to nobody.
    """
    renewed, spent = _ask_apart(lambda: read_namespaces(watched.frame, wanted), nice=0)
    if renewed is None:
        return RereadNode(None, spent)
    with collecting_nothing():
        return RereadNode(watched.renew(renewed), spent)


def read_namespaces(frame: NodeFrame, wanted: Mapping[str, NetnsAspect]) -> Renewed | None:
    """Read namespaces as they are now; None where one is gone or has other devices. Needs root."""
    outputs: dict[str, bytes] = {}
    for name, aspect in wanted.items():
        taken = collect_namespace(name, frame.paths[name], frame.inodes[name], aspect)
        if taken is None:
            return None
        outputs |= {f"netns/{name}/{file}": text for file, text in taken.files.items()}
    return assemble_again(frame, wanted, outputs)


def assemble_again(
    frame: NodeFrame, wanted: Mapping[str, NetnsAspect], outputs: Mapping[str, bytes]
) -> Renewed | None:
    """Put namespaces together by their outputs; None where one has other devices."""
    for name, listed in outputs.items():
        if name.endswith(f"/{_LINKS}") and _list_whose(listed) != _list_whose(frame.files[name]):
            return None
    files = {**dict(_pick_frame(frame, wanted)), **outputs}
    node = _assemble(Collected(files, ()))
    return {name: (aspect, node.namespaces[name]) for name, aspect in wanted.items()}


def _pick_frame(frame: NodeFrame, wanted: Mapping[str, NetnsAspect]) -> Iterator[tuple[str, bytes]]:
    """Yield what of the node the namespaces need that are read again: of one that is read whole
    the devices of those that it has peers in, for the node's own those of all.
    """
    whole = [name for name, aspect in wanted.items() if aspect is NetnsAspect.WHOLE]
    pairs = json.loads(frame.files[_MANIFEST])["veth"] if whole else []
    ends = [{each["netns"], each["peer_netns"]} for each in pairs]
    near = set(wanted).union(*(pair for pair in ends if not pair.isdisjoint(whole)), whole)
    for name, text in frame.files.items():
        folder = name.split("/")
        if folder[0] != "netns" or folder[1] in near or (whole and folder[1] == HOST):
            yield name, text


def _without(known: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: each for name, each in known.items() if name not in names}


def _list_whole(renewed: Renewed) -> set[str]:
    return {name for name, (aspect, _) in renewed.items() if aspect is NetnsAspect.WHOLE}


def _list_whose(listed: bytes) -> list[dict[str, object]]:
    """Return what a listing of devices says of whose peers they are."""
    return [dict(filter(_says_whose, each.items())) for each in json.loads(listed)]


def _says_whose(said: tuple[str, object]) -> bool:
    return said[0] in _WHOSE


def _ask_apart(work: Callable[[], _Read], nice: int = NICE) -> tuple[_Read, float]:
    asked = run_apart(lambda: pickle.dumps(work(), pickle.HIGHEST_PROTOCOL), nice)
    with collecting_nothing():
        found: _Read = pickle.loads(asked.found)  # noqa: S301 - our own copy wrote it
    return found, asked.spent


def _read_facts(progress: Progress, node: str | None) -> _ReadFacts:
    with stage(progress, "asking this node") as share:
        found = find_namespaces(node=node)
        collected = collect_live(found, share)
    with stage(progress, "putting the node together"):
        made = _assemble(collected)
    inodes = list_inodes(found)
    return _ReadFacts(
        node=made,
        netns={inode: name for inode, name in inodes.items() if name in made.namespaces},
        pods={each.name: each.pod for each in found.collected if each.pod is not None},
        frame=_keep_frame(found, inodes, collected.files),
    )


def _keep_frame(
    found: FoundNamespaces, inodes: Mapping[int, str], files: Mapping[str, bytes]
) -> NodeFrame:
    kept = {
        name: text
        for name, text in files.items()
        if not name.startswith("netns/") or name.endswith(f"/{_LINKS}")
    }
    paths = {each.name: each.path for each in found.collected}
    return NodeFrame(paths, {name: inode for inode, name in inodes.items()}, kept)


def _assemble(collected: Collected) -> Node:
    sources = gather_collected(collected).sources
    read = ((source, read_source(source)) for source in sources)
    return assemble_case((source, found) for source, found in read if found is not None).node


def _take_over(facts: _ReadFacts) -> WatchedNode:
    """Compile what the first walks would have to wait for."""
    engine = Engine(facts.node)
    _compile(engine, facts.node.namespaces)
    numbered = json.loads(facts.frame.files[_MANIFEST])["netns"][HOST]["nsids"]
    return WatchedNode(
        engine=engine,
        netns=facts.netns,
        pods=facts.pods,
        owners=find_owners(facts.node),
        frame=facts.frame,
        numbers={None: HOST, **{int(number): name for number, name in numbered.items()}},
    )


def _compile(engine: Engine, names: Collection[str]) -> None:
    for name in names:
        namespace = engine.node.namespaces[name]
        track_known(engine, namespace)
        for family in WIDTH:
            compile_ruleset(engine, namespace, family)


def find_owners(node: Node) -> Mapping[Address, str]:
    """Return which pod's namespace has each address, of addresses that one alone has."""
    owners: dict[Address, str] = {}
    shared: set[Address] = set()
    for name, namespace in node.namespaces.items():
        for each in namespace.addresses.items:
            if owners.setdefault(each.address, name) != name:
                shared.add(each.address)
    return {
        address: name
        for address, name in owners.items()
        if node.namespaces[name].role is NetnsRole.POD
        and not (address in shared or address.is_loopback)
    }
