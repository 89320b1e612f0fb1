"""The ends of a connection as users say them: `shop/web-0`, `svc/shop/api:http`, `deploy/shop/api`,
`node/node1`, an address, `outside`; and the probe that asks about it.

    shop/web-0  svc/shop/api:http   ->   tcp pod/shop/web-0 > svc/shop/api:http
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.end_names import (
    WORKLOADS,
    EndName,
    NameKind,
    OwnedPod,
    choose,
    list_owned,
    name_workloads,
    parse_end,
)
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.trees import Tree
from podpath.node.node import HOST, Node, Pod, Service
from podpath.node.objects import ApiObject
from podpath.node.probe_names import resolve_probe, suggest

CLIENT = Address.parse("198.51.100.7")
"""An address that stands for one outside, where none is named (RFC 5737)."""
_SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""
_SHOWN = 6
"""Names that an error lists."""


def make_probe(  # two ends, and what they are named in
    source: str,
    destination: str,
    node: Node,
    objects: Sequence[ApiObject],
    protocol: str = "",
    near: Collection[str] = (),
) -> Probe:
    """Return the probe of a connection whose ends are named; `UsageError` says what there is.

    `near` are the Kubernetes namespaces in which a name is looked for first that has none.
    """
    start = _spell_source(_place(source, node, objects, near))
    end, assumed = _spell_destination(_place(destination, node, objects, near), node, objects)
    probe = resolve_probe(f"{protocol or assumed} {start} > {end}", node)
    if start.startswith("node/"):
        return _with_source(probe, node)
    return probe


class ChosenPod(NamedTuple):
    """The pod that an end stands for, where it names something that has several."""

    end: str
    pod: EndName
    ready: int
    """How many pods of it are ready."""
    of: int


def choose_pods(
    ends: Iterable[str], objects: Sequence[ApiObject], near: Collection[str] = ()
) -> Iterator[ChosenPod]:
    """Yield the pod that is asked about for each end that names a workload: one that is ready
    before one that is not; `UsageError` where no pod is of it.
    """
    for text in ends:
        end = parse_end(text)
        if end.kind in WORKLOADS:
            found = _list_owned(end, objects, near)
            pod = EndName(NameKind.POD, found[0].name, found[0].namespace, end.port)
            yield ChosenPod(text, pod, sum(one.ready for one in found), len(found))


def spell_ends(text: str, node: Node, objects: Sequence[ApiObject]) -> Iterator[str]:
    """Yield what an end stands for, as probes spell ends: every pod of a workload that has an
    address, else itself. `UsageError` where it is of nothing that is shown, or of two things.
    """
    if text.partition(":")[0] == HOST:
        yield text
        return
    end = parse_end(text)
    if end.kind not in WORKLOADS:
        yield _spell_number(_place(text, node, objects, ()).end, node, objects)
        return
    owned = [pod for pod in _list_owned(end, objects, ()) if pod.has_address]
    if not owned:
        raise UsageError(f"expected a workload with a pod that has an address, saw {text!r}")
    for pod in owned:
        one = EndName(NameKind.POD, pod.name, pod.namespace, end.port)
        yield _spell_number(one, node, objects)


def _spell_number(end: EndName, node: Node, objects: Sequence[ApiObject]) -> str:
    """Spell an end with its port; one that a pod's container names by its number."""
    if end.kind is NameKind.OUTSIDE:
        return str(CLIENT)
    port = end.port
    if end.kind is NameKind.POD and port and not port.isdigit():
        port, _ = _pod_port(node, _find(node.pods, end), port, objects)
    return _spell_end(str(end), port)


def name_pods(
    ends: Iterable[str], objects: Sequence[ApiObject], near: Collection[str] = ()
) -> Iterator[EndName]:
    """Yield the pod of each end that names one of those that the objects show."""
    shown = [EndName(NameKind.POD, one.name, one.namespace) for one in objects if _is_pod(one)]
    for text in ends:
        end = parse_end(text)
        if end.kind in WORKLOADS:
            yield from (one.pod for one in choose_pods((text,), objects, near))
            continue
        found = choose(end, dict.fromkeys(shown), near)
        if len(found) == 1:
            yield found[0]


def _is_pod(one: ApiObject) -> bool:
    return one.kind == "Pod"


def _list_owned(
    end: EndName, objects: Sequence[ApiObject], near: Collection[str]
) -> Sequence[OwnedPod]:
    """Return the pods of a workload, the one to ask about first."""
    pods = [_read_pod(one) for one in objects if _is_pod(one)]
    found = list_owned(end, pods, near)
    if found:
        return found
    names = list(dict.fromkeys(name_workloads(end.kind, pods)))
    shown = ", ".join(names[:_SHOWN]) or "none: give --objects with pods as YAML or JSON"
    raise UsageError(
        f"expected a workload that the objects show pods of, saw {str(end)!r}; "
        f"{suggest(str(end), names)}they show {shown}"
    )


def _read_pod(one: ApiObject) -> OwnedPod:
    tree = one.tree
    owners = tree.items_at("metadata", "ownerReferences")
    owner = next((item for item in owners if item.text_at("controller") == "true"), None)
    ready = any(
        item.text_at("type") == "Ready" and item.text_at("status") == "True"
        for item in tree.items_at("status", "conditions")
    )
    return OwnedPod(
        namespace=one.namespace,
        name=one.name,
        owner_kind=owner.text_at("kind") if owner is not None else "",
        owner=owner.text_at("name") if owner is not None else "",
        template=tree.text_at("metadata", "labels", "pod-template-hash"),
        ready=ready,
        has_address=bool(tree.text_at("status", "podIP")),
    )


class _PlacedName(NamedTuple):
    """An end whose kind is one that a walk knows, and how it was written."""

    text: str
    end: EndName


def _place(
    text: str, node: Node, objects: Sequence[ApiObject], near: Collection[str]
) -> _PlacedName:
    """Take an end apart, and say what it is of; a container stands for the pod that it is in, a
    workload for one of its pods.
    """
    end = parse_end(text)
    if end.kind is NameKind.CONTAINER:
        end = _place_container(text, end, objects)
    for chosen in choose_pods((text,), objects, near):
        end = chosen.pod
    return _PlacedName(text, _find_meant(text, end, node, near))


def _place_container(text: str, end: EndName, objects: Sequence[ApiObject]) -> EndName:
    """Return the one pod that a container is in."""
    holders = [one for one in objects if end.name in _list_containers(one)]
    if len(holders) == 1:
        port = end.port or _own_port(end.name, holders[0])
        return EndName(NameKind.POD, holders[0].name, holders[0].namespace, port)
    if holders:
        spelled = ", ".join(f"pod/{one.namespace}/{one.name}" for one in holders[:_SHOWN])
        raise UsageError(f"{text!r} is in {len(holders)} pods: name one of {spelled}")
    names = dict.fromkeys(name for one in objects for name in _list_containers(one))
    shown = ", ".join(list(names)[:_SHOWN]) or "none: give --objects"
    near = suggest(end.name, list(names))
    raise UsageError(
        f"expected a container that the objects show, saw {text!r}; {near}they show {shown}"
    )


def _own_port(name: str, pod: ApiObject) -> str:
    """Return the first port that a container declares; nothing where it has none."""
    own = (one for one in pod.tree.items_at("spec", "containers") if one.text_at("name") == name)
    ports = (port.text_at("containerPort") for one in own for port in one.items_at("ports"))
    return next(ports, "")


def _list_containers(one: ApiObject) -> list[str]:
    if one.kind != "Pod":
        return []
    return [container.text_at("name") for container in one.tree.items_at("spec", "containers")]


def _with_source(probe: Probe, node: Node) -> Probe:
    """Return the probe with the address that a node sends from: its own on the destination's
    network, where it has one there.
    """
    host = node.namespaces.get(probe.netns or "")
    for item in host.addresses.items if host is not None else ():
        is_near = item.prefix.covers(probe.dst) and item.address != probe.dst
        if is_near and not item.secondary:
            return probe._replace(src=item.address)
    return probe


def _spell_source(placed: _PlacedName) -> str:
    """Spell where a connection starts, as a probe does."""
    end = placed.end
    match end.kind:
        case NameKind.OUTSIDE:
            return str(CLIENT)
        case NameKind.ADDRESS:
            return _spell_end(end.name, end.port)
        case NameKind.SERVICE:
            raise UsageError(
                f"expected a pod, a node or an address as the source, saw {placed.text!r}"
            )
        case _:
            if end.port.isdigit():
                return f"{end}:{end.port}"
            return str(end)


def _spell_destination(
    placed: _PlacedName, node: Node, objects: Sequence[ApiObject]
) -> tuple[str, str]:
    """Spell where a connection goes, with the protocol that it has where nobody says."""
    end, spelled = placed.end, str(placed.end)
    match end.kind:
        case NameKind.OUTSIDE:
            raise UsageError("expected where the connection goes, saw 'outside': name an address")
        case NameKind.ADDRESS:
            return _spell_end(end.name, end.port), "tcp" if end.port else "icmp"
        case NameKind.POD:
            pod = _find(node.pods, end)
            number, protocol = _pod_port(node, pod, end.port, objects)
            return f"{spelled}:{number}" if number else spelled, protocol
        case NameKind.SERVICE:
            return _spell_service(spelled, end, node, objects)
        case _:
            if end.port:
                return (f"{spelled}:{end.port}", "tcp")
            return (spelled, "icmp")


def _spell_service(
    spelled: str, end: EndName, node: Node, objects: Sequence[ApiObject]
) -> tuple[str, str]:
    """Spell a service with the protocol of its port; one without an address is its one pod."""
    service = _find(node.services, end)
    _demand_port(spelled, end, objects)
    if isinstance(service, Service) and not service.addresses:
        ends = list(dict.fromkeys(_list_behind(service, end.port, objects)))
        if len(ends) == 1:
            return ends[0], "tcp" if parse_end(ends[0]).port else "icmp"
        if ends:
            shown = ", ".join(ends[:_SHOWN])
            raise UsageError(
                f"{spelled} has no address of its own, its name is that of {len(ends)} pods: "
                f"name one of {shown}"
            )
    protocol = _service_protocol(service, end.port)
    return f"{spelled}:{end.port}" if end.port else spelled, protocol


def _demand_port(spelled: str, end: EndName, objects: Sequence[ApiObject]) -> None:
    """Raise `UsageError` where the object of a service has no port of the number that is asked
    for; a headless one passes on any.
    """
    for one in objects:
        if (one.kind, one.namespace, one.name) != ("Service", end.namespace, end.name):
            continue
        ports = one.tree.items_at("spec", "ports")
        headless = one.tree.text_at("spec", "clusterIP") in {"", "None"}
        known = [port.text_at("port") for port in ports]
        if headless or not end.port.isdigit() or not known or end.port in known:
            return
        beside = [port.text_at("nodePort") for port in ports]
        hint = f"; {end.port} is a port of the nodes: ask for node/NAME:{end.port}"
        shown = ", ".join(
            f"{port.text_at('port')} {port.text_at('name')}".strip() for port in ports
        )
        told = hint if end.port in beside else ""
        raise UsageError(f"{spelled} has no port {end.port}, it has {shown}{told}")


def _find_meant(text: str, end: EndName, node: Node, near: Collection[str]) -> EndName:
    """Return what a name is of, with its Kubernetes namespace where the evidence shows it;
    `UsageError` where a bare one is of nothing, and where it may be of two things.
    """
    if end.kind in {NameKind.ADDRESS, NameKind.NETNS, NameKind.OUTSIDE}:
        return end
    found = choose(end, _list_named(node), near)
    if len(found) == 1:
        return found[0]._replace(port=end.port)
    if found:
        spelled = " or ".join(str(each) for each in found[:_SHOWN])
        raise UsageError(f"{text!r} may be {spelled}: write which")
    if end.kind is not NameKind.BARE:
        return end
    within = f"{end.namespace}/{end.name}" if end.namespace else end.name
    if within in node.namespaces:
        return EndName(NameKind.NETNS, within, port=end.port)
    pods = [f"{pod.namespace}/{pod.name}" for pod in node.pods]
    services = [f"svc/{service.namespace}/{service.name}" for service in node.services]
    known = ", ".join([*pods[:4], *services[:3]]) or "no pods and services: give --objects"
    nodes = [f"node/{name}" for name in (node.name, *node.beside)]
    hint = suggest(text, [*pods, *services, *nodes])
    if not hint and end.is_foreign:
        hint = (
            "a name of outside of the cluster is asked about by its address (getent hosts "
            f"{end.name}, run in the pod); "
        )
    raise UsageError(
        f"expected a pod, a service or a node that the evidence shows, saw {text!r}; "
        f"{hint}it shows {known}"
    )


def _list_named(node: Node) -> Iterator[EndName]:
    """Yield what the evidence has a name for."""
    pods = {(pod.namespace, pod.name) for pod in node.pods}
    services = {(service.namespace, service.name) for service in node.services}
    yield from (EndName(NameKind.POD, name, namespace) for namespace, name in sorted(pods))
    yield from (EndName(NameKind.SERVICE, name, namespace) for namespace, name in sorted(services))
    yield from (EndName(NameKind.NODE, name) for name in dict.fromkeys((node.name, *node.beside)))


def _find(items: Sequence[Pod] | Sequence[Service], end: EndName) -> Pod | Service | None:
    fitting = (
        item for item in items if item.name == end.name and end.namespace in {"", item.namespace}
    )
    return next(fitting, None)


def _service_protocol(service: Pod | Service | None, port: str) -> str:
    """Return the protocol of a service's port: TCP where it has one of that name or number."""
    if not isinstance(service, Service):
        return "tcp"
    asked = [each for each in service.ports if port in {"", each.name, str(each.port)}]
    spoken = {each.protocol for each in asked}
    return "udp" if spoken == {protocols.UDP} else "tcp"


def _list_behind(service: Service, port: str, objects: Sequence[ApiObject]) -> Iterator[str]:
    """Yield the ends that the name of a headless service stands for, by its endpoints."""
    for one in objects:
        owner = one.tree.text_at("metadata", "labels", _SERVICE_NAME) or one.name
        if (one.namespace, owner) != (service.namespace, service.name):
            continue
        if one.kind == "Endpoints":
            for subset in one.tree.items_at("subsets"):
                numbers = list(_list_ports(subset, port))
                for address in subset.items_at("addresses"):
                    yield from (_spell_end(address.text_at("ip"), number) for number in numbers)
        elif one.kind == "EndpointSlice":
            numbers = list(_list_ports(one.tree, port))
            for endpoint in one.tree.items_at("endpoints"):
                for held in endpoint.items_at("addresses"):
                    yield from (_spell_end(held.text, number) for number in numbers)


def _list_ports(tree: Tree, port: str) -> Iterator[str]:
    """Yield the ports of endpoints that are asked for; none as an empty word."""
    if port.isdigit():
        yield port
        return
    listed = tree.items_at("ports")
    for one in listed:
        if port in {"", one.text_at("name")}:
            yield one.text_at("port")
    if not listed and not port:
        yield ""


def _spell_end(address: str, port: str) -> str:
    is_six = ":" in address and "/" not in address
    spelled = f"[{address}]" if is_six and port else address
    return f"{spelled}:{port}" if port else spelled


def _pod_port(
    node: Node, pod: Pod | Service | None, port: str, objects: Sequence[ApiObject]
) -> tuple[str, str]:
    """Return a pod's port and its protocol: the one that is asked for, else one that it declares,
    else one on which it listens; without any, an echo is asked for.
    """
    declared = list(_declared_ports(pod, objects)) if isinstance(pod, Pod) else []
    if port:
        named = [item for item in declared if port in item[:2]]
        if not named and not port.isdigit():
            names = ", ".join(item[0] for item in declared if item[0]) or "none"
            raise UsageError(
                f"expected a port of the pod by number or name ({names}), saw {port!r}"
            )
        if named:
            return (named[0][1], named[0][2])
        return (port, "tcp")
    if declared:
        return declared[0][1], declared[0][2]
    netns = node.namespaces.get(pod.netns or "") if isinstance(pod, Pod) else None
    for socket in netns.sockets.items if netns is not None else ():
        is_open = socket.local is None or not socket.local.is_loopback
        if socket.protocol == protocols.TCP and socket.state == "LISTEN" and is_open:
            return (str(socket.port), "tcp")
    return ("", "icmp")


def _declared_ports(pod: Pod, objects: Sequence[ApiObject]) -> Iterator[tuple[str, str, str]]:
    """Yield the ports that a pod's containers declare: name, number, protocol."""
    for one in objects:
        if (one.kind, one.namespace, one.name) != ("Pod", pod.namespace, pod.name):
            continue
        for container in one.tree.items_at("spec", "containers"):
            for port in container.items_at("ports"):
                protocol = (port.text_at("protocol") or "TCP").lower()
                if protocol in {"tcp", "udp"}:
                    yield port.text_at("name"), port.text_at("containerPort"), protocol
