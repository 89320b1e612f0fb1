"""What the objects of a case say together: every sight of an object as one, pods with their
templates, and what was tried.

Outputs show an object in part: a row of a table has its address, a description its selector, YAML
the rest. The first sight that has a field counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from podpath.net.addresses import Address, Prefix
from podpath.net.failures import Result, breaks_path
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.objects import ApiObject

TEMPLATES = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job")
"""Kinds that hold the template of their pods."""
NODE_PORTS = range(30000, 32768)
"""What --service-node-port-range is unless it is set."""
DNS_PORT = "53"
_MADE = re.compile(
    r"\d+|(?=[a-z]*\d)[a-z0-9]{4,10}-[a-z0-9]{4,5}|(?=[a-z]*\d)[a-z0-9]{5}|"
    r"[bcdfghjklmnpqrstvwxz]{5}"
)
"""What a StatefulSet, a Deployment or a DaemonSet puts behind its name: a number, or letters that
make no word and digits (`rand.SafeEncodeString` of Kubernetes).
"""
_WHOLE = re.compile(
    r"(?:kubectl|oc|k)\s+get\s+(?:nodes?|no|ns|namespaces?|ingressclass(?:es)?)(?:\s+-o\s*(?:wide|"
    r"name|yaml|json)|\s+--show-labels|\s+--no-headers|\s*\|\s*(?:sort|awk\s+'\{[^}]*\}'))*\s*"
)
"""Commands that list all objects of a kind that is of no namespace."""
_SELECTION = re.compile(
    r"\s(?:-l|--selector)[ =]?['\"]?(?P<pairs>[\w./-]+={1,2}[\w.-]+(?:,[\w./-]+={1,2}[\w.-]+)*)"
    r"['\"]?(?=\s|$)"
)
"""What a command of kubectl lists pods by."""
_FLAGS = (
    r"(?:\s+(?:-n[ =]?|--namespace[ =]|-o[ =]?|--output[ =])[\w-]+|"
    r"\s+(?:-A|--all-namespaces|--show-labels|--no-headers))*"
)
_OF_SPACE = re.compile(rf"(?:kubectl|oc|k){_FLAGS}\s+get\s+[\w.,]+{_FLAGS}\s*")
"""Commands that list all objects of a kind that are in a namespace, or in all of them."""
_REMEMBERED = 32
"""Kinds of objects, or sets of them, that are kept: as many as the checks of a case ask for."""


@dataclass(frozen=True, slots=True)
class ObjectSightings:
    """An object with every sight of it."""

    kind: str
    namespace: str
    name: str
    sights: tuple[ApiObject, ...]

    @property
    def title(self) -> str:
        """Its name with its namespace."""
        name = self.name or "(unnamed)"
        return f"{self.namespace}/{name}" if self.namespace else name

    @property
    def span(self) -> Span:
        """Where it is first seen."""
        return self.sights[0].tree.line

    def at(self, *path: str) -> Tree | None:
        """Return what the first sight that has the field says; None where none has it."""
        return next(
            (found for sight in self.sights if (found := sight.tree.at(*path)) is not None), None
        )

    def text_at(self, *path: str) -> str:
        """Return a scalar; empty where no sight has it."""
        found = self.at(*path)
        return "" if found is None else found.text

    def items_at(self, *path: str) -> tuple[Tree, ...]:
        """Return the first list under the path that has elements."""
        return next((items for sight in self.sights if (items := sight.tree.items_at(*path))), ())


def names_of_service(service: ObjectSightings) -> frozenset[str]:
    """Return the name and the address of a service; nothing for one that answers for names, on
    which every other rests.
    """
    ports = [port.text_at("port") for port in service.items_at("spec", "ports")]
    if DNS_PORT in ports:
        return frozenset()
    address = service.text_at("spec", "clusterIP")
    held = (service.name.casefold(), "" if address == "None" else address)
    return frozenset(filter(None, held))


def is_on_host_network(pod: ObjectSightings) -> bool | None:
    """Tell whether a pod is on its node's network; None where no sight of it says, as no table
    does.
    """
    if pod.text_at("spec", "hostNetwork") == "true":
        return True
    return False if pod.items_at("spec", "containers") else None


class _ObjectsOfCase:
    """A case's objects as a key: those of one case are asked for again by every check, and for
    every service.
    """

    __slots__ = ("objects",)

    def __init__(self, objects: tuple[ApiObject, ...]) -> None:
        self.objects = objects

    def __hash__(self) -> int:
        return id(self.objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ObjectsOfCase) and other.objects is self.objects


def see(case: Case, *kinds: str) -> tuple[ObjectSightings, ...]:
    """Return the objects of these kinds, in the order of the evidence; those without a name stand
    alone.
    """
    return _see(_ObjectsOfCase(case.objects), kinds)


@lru_cache(_REMEMBERED)
def _see(held: _ObjectsOfCase, kinds: tuple[str, ...]) -> tuple[ObjectSightings, ...]:
    found: dict[tuple[str, str, str, int], list[ApiObject]] = {}
    spaces: dict[tuple[str, str], str] = {}
    for number, one in enumerate(held.objects):
        if one.kind in kinds:
            known = spaces.setdefault((one.kind, one.name), one.namespace)
            space = one.namespace or known
            found.setdefault((one.kind, space, one.name, 0 if one.name else number), []).append(one)
    return tuple(
        ObjectSightings(kind, space, name, tuple(sights))
        for (kind, space, name, _), sights in found.items()
    )


@dataclass(frozen=True, slots=True)
class PodView:
    """A pod, or the template of pods, with what a check asks of it."""

    seen: ObjectSightings
    metadata: Tree | None
    spec: Tree | None
    labels: Mapping[str, str] | None
    """Its labels; None where no output shows them."""

    @property
    def containers(self) -> tuple[Tree, ...]:
        """Its containers, as far as they are shown."""
        return () if self.spec is None else self.spec.items_at("containers")

    @property
    def ports(self) -> tuple[Tree, ...]:
        """The ports that its containers declare."""
        return tuple(port for container in self.containers for port in container.items_at("ports"))


def pods(case: Case) -> tuple[PodView, ...]:
    """Return pods and templates of pods."""
    return _list_pods(_ObjectsOfCase(case.objects))


@lru_cache(1)
def _list_pods(held: _ObjectsOfCase) -> tuple[PodView, ...]:
    pods_seen = _see(held, ("Pod",))
    shown = [_make_pod(seen, seen.at("metadata"), seen.at("spec")) for seen in pods_seen]
    for seen in _see(held, TEMPLATES):
        template = seen.at("spec", "template")
        if template is not None:
            shown.append(_make_pod(seen, template.at("metadata"), template.at("spec")))
    return tuple(shown)


def _make_pod(seen: ObjectSightings, metadata: Tree | None, spec: Tree | None) -> PodView:
    labels = None if metadata is None else metadata.at("labels")
    return PodView(seen, metadata, spec, None if labels is None else labels.texts)


def is_near(one: str, other: str) -> bool:
    """Tell whether two objects may be of one namespace: where an output tells none it may be
    any.
    """
    return not one or not other or one == other


def is_of_all(span: Span) -> bool:
    """Tell whether an output lists all nodes, namespaces or classes: its command names none,
    selects none and cuts nothing off.
    """
    return _WHOLE.fullmatch(span.source.command or "") is not None


def is_of_namespace(span: Span, *, selected: bool = False) -> bool:
    """Tell whether an output lists all objects of its kinds in a namespace, or all that labels
    select: its command names none and cuts nothing off.
    """
    command = span.source.command or ""
    command = _SELECTION.sub("", command) if selected else command
    return _OF_SPACE.fullmatch(command) is not None


def is_made_of(pod: str, workload: str) -> bool:
    """Tell whether a pod has the name of a workload, or one that a controller makes of it:
    `api-7d9f8b6c5-x2x9k`, `api-0`, `api-x2x9k`, and not `api-gateway`.
    """
    rest = pod.removeprefix(f"{workload}-")
    made = rest != pod and _MADE.fullmatch(rest) is not None
    return bool(workload) and (pod == workload or made)


def is_ready(pod: ObjectSightings) -> bool:
    """Tell whether a pod is shown running and ready."""
    conditions = pod.items_at("status", "conditions")
    ready = any(
        one.text_at("type") == "Ready" and one.text_at("status") == "True" for one in conditions
    )
    return ready and pod.text_at("status", "phase") == "Running"


def selects(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Tell whether labels have all that a selector asks."""
    return all(labels.get(name) == value for name, value in selector.items())


def chosen(case: Case, service: ObjectSightings) -> tuple[PodView, ...]:
    """Return the pods that a service's selector chooses: by their labels, or as listed by a command
    that asks for just these.
    """
    selector = service.at("spec", "selector")
    wanted = {} if selector is None else selector.texts
    if not wanted:
        return ()
    held = _ObjectsOfCase(case.objects)
    labeled = _pods_by_label(held).get(next(iter(wanted.items())), ())
    found = [pod for pod in labeled if selects(wanted, pod.labels or {})]
    found += _pods_by_selection(held).get(frozenset(wanted.items()), ())
    return tuple(pod for pod in found if is_near(pod.seen.namespace, service.namespace))


@lru_cache(1)
def _pods_by_selection(
    held: _ObjectsOfCase,
) -> Mapping[frozenset[tuple[str, str]], Sequence[PodView]]:
    """Return the pods without labels by those that the command asks for which lists them."""
    found: dict[frozenset[tuple[str, str]], list[PodView]] = {}
    for pod in _list_pods(held):
        asked = _SELECTION.search(pod.seen.span.source.command or "")
        if pod.seen.kind == "Pod" and pod.labels is None and asked is not None:
            pairs = (pair.replace("==", "=").partition("=") for pair in asked["pairs"].split(","))
            found.setdefault(frozenset((key, value) for key, _, value in pairs), []).append(pod)
    return found


@lru_cache(1)
def _pods_by_label(held: _ObjectsOfCase) -> Mapping[tuple[str, str], Sequence[PodView]]:
    """Return the pods, in their order, by each of their labels."""
    found: dict[tuple[str, str], list[PodView]] = {}
    for pod in _list_pods(held):
        for label in (pod.labels or {}).items():
            found.setdefault(label, []).append(pod)
    return found


@dataclass(frozen=True, slots=True)
class FailedConnection:
    """A connection that failed, with or without a place that it started from."""

    dst: Address
    dport: int
    result: Result | None
    span: Span


def failures(case: Case) -> Iterator[FailedConnection]:
    """Yield what was tried and failed, where its destination is known."""
    for attempt in case.attempts:
        if attempt.failed:
            yield FailedConnection(
                attempt.probe.dst, attempt.probe.dport, attempt.result, attempt.span
            )
    for lost in case.unplaced:
        if lost.dst is not None and (lost.result is None or breaks_path(lost.result)):
            yield FailedConnection(lost.dst, lost.dport, lost.result, lost.span)


def read_prefix(text: str) -> Prefix | None:
    """Read a range; None for what is none."""
    try:
        return Prefix.parse(text)
    except ValueError:
        return None


def covering(prefixes: Sequence[Prefix], address: Address) -> bool:
    """Tell whether one of the ranges holds the address."""
    return any(prefix.covers(address) for prefix in prefixes)


def endpoints(service: ObjectSightings, case: Case) -> ObjectSightings | None:
    """Return the Endpoints of a service; None where no output shows them."""
    shown = (
        one
        for one in see(case, "Endpoints")
        if one.name == service.name and is_near(one.namespace, service.namespace)
    )
    return next((one for one in shown if one.at("subsets") is not None), None)


def is_without_endpoints(found: ObjectSightings | None) -> bool:
    """Tell whether Endpoints are shown, and hold no address that is ready."""
    if found is None or found.at("elided") is not None:
        return False
    return not any(
        subset.items_at("addresses")
        for sight in found.sights
        for subset in sight.tree.items_at("subsets")
    )
