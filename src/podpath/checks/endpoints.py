"""What the API says of a service's endpoints: its Endpoints object and its slices, which of them
are ready, and how old that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from podpath.checks.objects import ObjectSightings, is_near, see
from podpath.net.addresses import Address, read_address
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which a slice says whose it is."""
CHANGED = "endpoints.kubernetes.io/last-change-trigger-time"
"""The annotation that says when the change happened which a controller last wrote down."""
TRUNCATED = "endpoints.kubernetes.io/over-capacity"
LISTING = "ApiListing"
"""The kind of what says when a list of objects was read."""
LISTED = "podpath/listed"
_HOST_LABEL = "kubernetes.io/hostname"
Place = tuple[Address, int]


class Backend(NamedTuple):
    """One endpoint of a service's port."""

    address: Address
    port: int
    ready: bool
    serving: bool
    """Whether it still answers while it ends."""
    node: str
    """Empty where it is not said."""
    pod: str
    """`namespace/name`; empty where it is none."""
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class PortBackends:
    """What stands behind one port of a service, by all objects that say it."""

    service: ObjectSightings
    port: Tree
    backends: Mapping[Place, Backend]
    sources: tuple[ObjectSightings, ...]
    """The Endpoints and slices that say so."""
    whole: bool
    """Whether an endpoint that is not here is none."""

    @property
    def title(self) -> str:
        """Name the service with its port: `shop/api:http`."""
        return f"{self.service.title}:{self.port.text_at('name') or self.port.text_at('port')}"

    @property
    def ready(self) -> tuple[Backend, ...]:
        """Those that connections are to be sent to."""
        return tuple(one for one in self.backends.values() if one.ready)


def backends_of(case: Case, service: ObjectSightings) -> Iterator[PortBackends]:
    """Yield what stands behind each port of a service; nothing where no output shows it."""
    whole = [
        one
        for one in see(case, "Endpoints")
        if one.name == service.name and is_near(one.namespace, service.namespace)
    ]
    slices = [
        one
        for one in see(case, "EndpointSlice")
        if one.text_at("metadata", "labels", SERVICE_NAME) == service.name
        and is_near(one.namespace, service.namespace)
    ]
    if not whole and not slices:
        return
    for port in service.items_at("spec", "ports"):
        found: dict[Place, Backend] = {}
        for one in (*_of_endpoints(whole, port), *_of_slices(slices, port)):
            known = found.get((one.address, one.port))
            found[one.address, one.port] = one if known is None else _join(known, one)
        yield PortBackends(
            service=service,
            port=port,
            backends=found,
            sources=(*whole, *slices),
            whole=any(_is_whole(one) for one in whole),
        )


def _join(one: Backend, other: Backend) -> Backend:
    return one._replace(
        ready=one.ready and other.ready,
        serving=one.serving or other.serving,
        node=one.node or other.node,
        pod=one.pod or other.pod,
    )


def _is_whole(endpoints: ObjectSightings) -> bool:
    """Tell whether an Endpoints object is shown with everything, not just by a row of a table."""
    named = bool(endpoints.name) and endpoints.at("metadata", "name") is not None
    return named and not is_cut(endpoints)


def is_cut(endpoints: ObjectSightings) -> bool:
    """Tell whether an output leaves some of an Endpoints object out, or the controller did: it does
    not tell who is missing.
    """
    cut = endpoints.at("elided") is not None or any(one.partial for one in endpoints.sights)
    return cut or bool(endpoints.text_at("metadata", "annotations", TRUNCATED))


def list_places(endpoints: ObjectSightings, field: str = "addresses") -> frozenset[Place]:
    """Return what an Endpoints object lists as ready (or else, by the field), at any time that it
    is shown: two listings may be of two moments.
    """
    return frozenset(
        (address, int(port.text_at("port")))
        for sight in endpoints.sights
        for subset in sight.tree.items_at("subsets")
        for port in subset.items_at("ports")
        for item in subset.items_at(field)
        if (address := read_address(item.text_at("ip"))) is not None
        and port.text_at("port").isdecimal()
    )


def _of_endpoints(shown: Sequence[ObjectSightings], port: Tree) -> Iterator[Backend]:
    for one in shown:
        for subset in one.items_at("subsets"):
            number = _number_of(subset.items_at("ports"), port)
            for field, ready in (("addresses", True), ("notReadyAddresses", False)):
                for item in subset.items_at(field):
                    yield from _make(item.at("ip"), number, item, ready=ready)


def _of_slices(shown: Sequence[ObjectSightings], port: Tree) -> Iterator[Backend]:
    for one in shown:
        number = _number_of(one.items_at("ports"), port)
        for item in one.items_at("endpoints"):
            ready = item.text_at("conditions", "ready") != "false"
            for address in item.items_at("addresses"):
                yield from _make(address, number, item, ready=ready)


def _number_of(ports: Sequence[Tree], wanted: Tree) -> int:
    """Return the number that a service's port has at the endpoints; 0 where they have none."""
    name, protocol = wanted.text_at("name"), wanted.text_at("protocol") or "TCP"
    for port in ports:
        number = port.text_at("port")
        same = (port.text_at("protocol") or "TCP") == protocol
        if same and port.text_at("name") == name and number.isdecimal():
            return int(number)
    return 0


def _make(address: Tree | None, port: int, item: Tree, *, ready: bool) -> Iterator[Backend]:
    found = read_address(address.text) if address is not None else None
    if address is None or found is None or not port:
        return
    whose = item.at("targetRef")
    is_pod = whose is not None and whose.text_at("kind") == "Pod"
    yield Backend(
        address=found,
        port=port,
        ready=ready,
        serving=item.text_at("conditions", "serving") == "true",
        node=item.text_at("nodeName") or item.text_at("topology", _HOST_LABEL),
        pod=(
            f"{whose.text_at('namespace')}/{whose.text_at('name')}"
            if whose is not None and is_pod
            else ""
        ),
        span=address.line,
    )


def changed_at(behind: PortBackends) -> float | None:
    """Return when what stands behind a port last changed, by what its objects say; None where one
    says nothing, or lists nothing: the API server notes no time of a field that went.
    """
    moments = [_last_change(one) for one in behind.sources]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and behind.backends and len(known) == len(moments) else None


def _last_change(one: ObjectSightings) -> float | None:
    """Return when an object last changed: as its managers wrote down, and as its controller did of
    what it wrote last.
    """
    noted = [entry.text_at("time") for entry in one.items_at("metadata", "managedFields")]
    noted.append(one.text_at("metadata", "annotations", CHANGED))
    stated = [moment for text in noted if (moment := read_moment(text)) is not None]
    return max(stated, default=None)


def pods_changed_at(case: Case, behind: PortBackends) -> float | None:
    """Return when a pod behind a port last became ready or unready, or a container of it began or
    ended; None where no pod says. Such a change reaches the endpoints and the rules after it.
    """
    names = {one.pod for one in behind.backends.values() if one.pod}
    addresses = {str(one.address) for one in behind.backends.values()}
    moments = [
        moment
        for pod in see(case, "Pod")
        if f"{pod.namespace}/{pod.name}" in names or pod.text_at("status", "podIP") in addresses
        for text in _list_changes(pod)
        if (moment := read_moment(text)) is not None
    ]
    return max(moments, default=None)


def _list_changes(pod: ObjectSightings) -> Iterator[str]:
    """Yield the times of a pod's changes as its status has them."""
    for condition in pod.items_at("status", "conditions"):
        if condition.text_at("type") == "Ready":
            yield condition.text_at("lastTransitionTime")
    for container in pod.items_at("status", "containerStatuses"):
        yield container.text_at("state", "running", "startedAt")
        yield container.text_at("state", "terminated", "finishedAt")
        yield container.text_at("lastState", "terminated", "finishedAt")


def listed_at(case: Case, behind: PortBackends) -> float | None:
    """Return when the oldest of the lists was read that say what is behind a port; None where
    nobody says it of one.
    """
    moments = [_listed_at(case, one.span) for one in behind.sources]
    known = [moment for moment in moments if moment is not None]
    return min(known) if known and len(known) == len(moments) else None


def _listed_at(case: Case, span: Span) -> float | None:
    """Return when the list was read that a line stands in."""
    if span.source.taken_at is not None:
        return span.source.taken_at
    for one in see(case, LISTING):
        if one.span.source is span.source:
            return read_moment(one.text_at(LISTED))
    return None


def read_moment(text: str) -> float | None:
    """Read a time of the API; None for what is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.timestamp()
