"""Sources that were read, each with what its surroundings say: whose namespace it shows, in which
state, and how much of it.

A reader looks at one block alone. Whether that block is a whole listing, and of which namespace and
which host, follows from the command that printed it, from the words above it and from ellipses
within. Past this module nobody asks a source again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.assembly.scenes.netns_names import find_aliases
from podpath.evidence.commands.command import Command, asked_object, parse_command
from podpath.evidence.commands.printed_columns import parse_printed
from podpath.evidence.records import HeadingRecord, Reading, Record
from podpath.net.addresses import Address
from podpath.net.provenance import Gap, Source, Span
from podpath.node.node import HOST

R = TypeVar("R", bound=Record)

_HARMLESS_FILTERS = frozenset(
    {"cat", "less", "more", "sort", "tee", "nl", "jq", "column", "most", "bat"}
)
"""Programs that a listing passes through whole."""
_PROMPT_HOST = re.compile(r"(?:^|[\[(\s])[\w.-]+\]?@\[?(?P<host>[A-Za-z0-9][\w.-]*)")
_WORKSTATION_PROGRAMS = frozenset(
    {"kubectl", "oc", "helm", "kops", "minikube", "cilium", "istioctl", "k", ""}
)
"""Programs that are run anywhere: their prompt does not name the node."""
_HOST_NAMES = frozenset({"", "host", "pid 1", "1", "root", "default", "init"})
_HOST_NETWORK_PODS = re.compile(
    r"(?:(?:anetd|antrea-agent|aws-node|calico-node|canal|cilium|cilium-operator|kube-flannel-ds"
    r"(?:-\w+)?|kube-flannel|kube-ovn-cni|kube-proxy|kube-router|node-local-dns|ovnkube-node|ovs|"
    r"tuned|weave-net)(?:-[a-z0-9]{4,10}){1,2}|node/.*|"
    r"kube-(?:apiserver|scheduler|controller-manager)-.+)"
)
"""Pods that run in the node's own namespace: what they print shows the host."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadSource:
    """One source that was read, and what its surroundings say of it."""

    source: Source
    reading: Reading
    netns: str
    """The namespace that it shows."""
    standing: StateLikelihood
    command: Command
    whole: bool
    """True where all that the command prints is there: no filter behind it, no ellipsis, no line
    that could not be read, and not the end of a console's text, which may have gone on.
    """
    is_unabridged: bool
    """True where neither a filter behind the command nor an ellipsis leaves lines out."""
    number: int
    """Its place in the case, from 0."""

    @property
    def is_elsewhere(self) -> bool:
        """Tell whether it shows another host than the one that the case is about."""
        return self.standing is StateLikelihood.ELSEWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSources:
    """All scenes of a case, and their records by type."""

    scenes: tuple[ReadSource, ...]
    asked: tuple[Address, ...] = ()
    """Addresses that the user asks about: one of them may be a pod's that no output shows."""
    _records: Mapping[type[Record], list[tuple[ReadSource, Record]]] = field(default_factory=dict)

    @classmethod
    def gather(
        cls, read: Iterable[tuple[Source, Reading]], asked: tuple[Address, ...] = ()
    ) -> ReadSources:
        """Place every source that was read. Where all of them show a good host, the case is about
        that host.
        """
        scenes = [
            set_scene(source, reading, number) for number, (source, reading) in enumerate(read)
        ]
        scenes = _tell_hosts_apart(scenes)
        aliases = find_aliases(
            (scene.netns, scene.reading) for scene in scenes if not scene.is_elsewhere
        )
        scenes = [
            replace(scene, netns=aliases[scene.netns]) if scene.netns in aliases else scene
            for scene in scenes
        ]
        if all(scene.is_elsewhere for scene in scenes if scene.reading.records):
            scenes = [replace(scene, standing=StateLikelihood.PLAIN) for scene in scenes]
        records: dict[type[Record], list[tuple[ReadSource, Record]]] = {}
        for scene in scenes:
            for record in scene.reading.records:
                records.setdefault(type(record), []).append((scene, record))
        return cls(scenes=tuple(scenes), asked=asked, _records=records)

    def records(self, kind: type[R], netns: str | None = None) -> Iterator[tuple[ReadSource, R]]:
        """Yield the records of a type in the order of the evidence, of one namespace where one is
        named.
        """
        for scene, record in self._records.get(kind, ()):
            if netns is None or scene.netns == netns:
                yield scene, cast("R", record)

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """All that the readers could not read."""
        return tuple(gap for scene in self.scenes for gap in scene.reading.gaps)


def _tell_hosts_apart(scenes: Sequence[ReadSource]) -> list[ReadSource]:
    """Take outputs that are said to be good, and were typed on a host that no other output is of,
    for another host's.
    """
    ours = {host_of_prompt(scene) for scene in scenes if scene.standing <= StateLikelihood.AFTER}
    if not ours - {None}:
        return list(scenes)
    told: list[ReadSource] = []
    for scene in scenes:
        is_other = host_of_prompt(scene) not in {None, *ours}
        if is_other and scene.standing is StateLikelihood.GOOD:
            told.append(replace(scene, standing=StateLikelihood.ELSEWHERE))
        else:
            told.append(scene)
    return told


def host_of_prompt(scene: ReadSource) -> str | None:
    """Return the host that the prompt of a command about a node names; `kubectl` and its like are
    typed anywhere.
    """
    found = _PROMPT_HOST.search(scene.source.prompt or "")
    if found is None or scene.command.program in _WORKSTATION_PROGRAMS:
        return None
    return found["host"]


def set_scene(source: Source, reading: Reading, number: int) -> ReadSource:
    """Say which namespace a source shows, in which state, and whether it shows all that its command
    prints.
    """
    command = parse_command(source.command)
    elided = any(isinstance(record, HeadingRecord) and record.partial for record in reading.records)
    filtered = any(
        words[0].rpartition("/")[2] not in _HARMLESS_FILTERS for words in command.filters
    )
    return ReadSource(
        source=source,
        reading=reading,
        netns=name_netns(source.netns if source.netns is not None else command.netns),
        standing=judge_source(source),
        command=command,
        whole=not (
            elided or (filtered and not _names_devices(source)) or reading.gaps or source.open_end
        ),
        is_unabridged=not (filtered or elided),
        number=number,
    )


def _names_devices(source: Source) -> bool:
    """Tell whether a filter leaves the name of every device of `ip link`."""
    printed = parse_printed(source.command)
    asked = asked_object(parse_command(source.command))
    return printed is not None and printed.every and asked == ("link", ())


def name_netns(name: str | None) -> str:
    """Return the model's name of a namespace: `host` for the node's own, however it is spelled."""
    if name is None or name in _HOST_NAMES or _HOST_NETWORK_PODS.fullmatch(name):
        return HOST
    return name


def stands_after(later: Span, earlier: Span) -> bool:
    """Tell whether a span stands further down in the same file as another: what it shows may be of
    a later time.
    """
    return later.source.name == earlier.source.name and later.line > earlier.line
