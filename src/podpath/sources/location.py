"""On which nodes the ends of a question are, by the objects of the API: where a pod is bound, and
where the endpoints of a service are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from podpath.net.end_names import (
    WORKLOADS,
    EndName,
    NameKind,
    OwnedPod,
    choose,
    list_owned,
    parse_end,
    read_ends,
)
from podpath.net.errors import UsageError
from podpath.sources.kinds import ApiItem
from podpath.sources.objects import ApiObjects

EVERY_NODE = "*"
"""Stands for an end on every node."""
_NODE_PORTS = range(30000, 32768)
"""What --service-node-port-range is unless it is set."""
_ENDED = frozenset({"Succeeded", "Failed"})
"""Phases in which a pod's address may be another's."""
SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""


def list_nodes(objects: ApiObjects) -> tuple[str, ...]:
    """Return the names of all nodes."""
    return tuple(_name(node) for node in objects.items.get("nodes", ()))


def find_nodes(
    objects: ApiObjects, text: str, near: Collection[str] = (), *, every_pod: bool = False
) -> tuple[str, ...]:
    """Return the nodes that an end is on, in order, however it is spelled (`net.end_names`). None
    for what is outside of the cluster, or in no object; all for `*`. `near` are the Kubernetes
    namespaces in which a name is looked for first that has none. A workload is where the pod to ask
    about is, or where any of its pods is.
    """
    if text == EVERY_NODE:
        return list_nodes(objects)
    end = next(read_ends((text,)), None)
    if end is None:
        return ()
    match end.kind:
        case NameKind.ADDRESS:
            found = _nodes_of_address(objects, end.name, end.port)
        case NameKind.CONTAINER:
            found = _nodes_of_container(objects, end.name)
        case NameKind.NODE:
            known = list_nodes(objects)
            is_one = not known or end.name in known  # no right to list them, or a slip
            found = _nodes_of_node(objects, end.name, end.port) if is_one else iter(())
        case _:
            named = _list_named(objects, end, near, every_pod=every_pod)
            found = (node for each in named for node in _nodes_of(objects, each, end.port))
    return tuple(dict.fromkeys(name for name in found if name))


def _list_named(
    objects: ApiObjects, end: EndName, near: Collection[str], *, every_pod: bool = False
) -> Sequence[EndName]:
    """Return what an end may name: of a workload's pods the one to ask about, or every one."""
    if end.kind in WORKLOADS:
        owned = _list_owned(objects, end, near)
        asked = owned if every_pod else owned[:1]
        return [EndName(NameKind.POD, one.name, one.namespace) for one in asked]
    kinds = (("pods", NameKind.POD), ("services", NameKind.SERVICE), ("nodes", NameKind.NODE))
    known = (
        EndName(kind, _name(item), _key(item)[0])
        for resource, kind in kinds
        for item in objects.items.get(resource, ())
    )
    return choose(end, known, near)


def _list_owned(objects: ApiObjects, end: EndName, near: Collection[str]) -> Sequence[OwnedPod]:
    """Return the pods of a workload; none where two may be meant: whoever walks asks which."""
    try:
        return list_owned(end, map(_read_pod, objects.items.get("pods", ())), near)
    except UsageError:
        return ()


def _nodes_of(objects: ApiObjects, named: EndName, port: str) -> Iterator[str]:
    """Return the nodes of what an end was found to name."""
    if named.kind is NameKind.POD:
        return _nodes_of_pod(objects, named.namespace, named.name)
    if named.kind is NameKind.SERVICE:
        return _nodes_of_service(objects, named.namespace, named.name)
    return _nodes_of_node(objects, named.name, port)


def _read_pod(pod: ApiItem) -> OwnedPod:
    about, status = pod.get("metadata", {}), pod.get("status", {})
    owners: list[ApiItem] = about.get("ownerReferences") or []
    owner = next((one for one in owners if one.get("controller")), ApiItem())
    ready = any(
        (one.get("type"), one.get("status")) == ("Ready", "True")
        for one in status.get("conditions") or ()
    )
    return OwnedPod(
        namespace=_key(pod)[0],
        name=_name(pod),
        owner_kind=str(owner.get("kind") or ""),
        owner=str(owner.get("name") or ""),
        template=str((about.get("labels") or {}).get("pod-template-hash") or ""),
        ready=ready,
        has_address=bool(status.get("podIP")),
    )


class PlacedPod(NamedTuple):
    """A pod, where it runs, and the addresses that are its own."""

    name: str
    """`NAMESPACE/NAME`."""
    node: str
    addresses: tuple[str, ...]
    """None for a pod on its node's network."""


def find_pod(objects: ApiObjects, text: str, near: Collection[str] = ()) -> PlacedPod | None:
    """Return the pod that an end names (`pod/NS/NAME`, `NS/NAME`, `NAME`, `deploy/NS/NAME`); None
    where there is none, `UsageError` where there are two.
    """
    named = [one for one in _list_named(objects, parse_end(text), near) if one.kind is NameKind.POD]
    if len(named) > 1:
        raise UsageError(f"{text!r} may be {' or '.join(map(str, named))}: write which")
    for pod in objects.items.get("pods", ()):
        if named and _key(pod) == (named[0].namespace, named[0].name):
            own = () if pod.get("spec", {}).get("hostNetwork") else tuple(_addresses_of(pod))
            title = f"{named[0].namespace}/{named[0].name}"
            return PlacedPod(title, _node_of(pod), tuple(dict.fromkeys(own)))
    return None


def list_unplaced(
    objects: ApiObjects, texts: Iterable[str], near: Collection[str] = ()
) -> Iterator[str]:
    """Yield the pods that ends name and that have no address yet, or none any more."""
    for end in read_ends(texts):
        named = _list_named(objects, end, near)
        for pod in objects.items.get("pods", ()):
            meant = any(
                (one.kind, one.namespace, one.name) == (NameKind.POD, *_key(pod)) for one in named
            )
            ended = pod.get("status", {}).get("phase") in _ENDED
            if meant and (ended or not _addresses_of(pod)):
                yield "/".join(_key(pod))


def list_namespaces(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the Kubernetes namespaces that ends name."""
    named = (end.namespace for end in read_ends(texts))
    return tuple(dict.fromkeys(filter(None, named)))


def is_read(objects: ApiObjects, text: str) -> bool:
    """Tell whether what was read of a cluster may be all that an address, or a port of a node, is
    of: an object has it, or it is of no private network.
    """
    end = next(read_ends((text,)), None)
    if end is None:
        return True
    if _is_node(objects, end) and end.port.isdigit() and int(end.port) in _NODE_PORTS:
        return any(_services_at(objects, end.port))
    if end.kind is not NameKind.ADDRESS or not _is_address(end.name):
        return True
    held = any(_nodes_of_address(objects, end.name, end.port))
    services = objects.items.get("services", ())
    known = held or any(end.name in _addresses_of_service(each) for each in services)
    return known or not ip_address(end.name).is_private


def _is_node(objects: ApiObjects, end: EndName) -> bool:
    if end.kind is NameKind.ADDRESS:
        nodes = objects.items.get("nodes", ())
        return any(end.name in _addresses_of_node(node) for node in nodes)
    return any(end.may_name(NameKind.NODE, "", name) for name in list_nodes(objects))


def _services_at(objects: ApiObjects, port: str) -> Iterator[ApiItem]:
    """Yield the services that have a node port."""
    for service in objects.items.get("services", ()):
        ports = service.get("spec", {}).get("ports") or ()
        if port in {str(each.get("nodePort")) for each in ports}:
            yield service


def _nodes_of_pod(objects: ApiObjects, namespace: str, name: str) -> Iterator[str]:
    for pod in objects.items.get("pods", ()):
        if _key(pod) == (namespace, name):
            yield _node_of(pod)


def _nodes_of_container(objects: ApiObjects, name: str) -> Iterator[str]:
    for pod in objects.items.get("pods", ()):
        listed = pod.get("spec", {}).get("containers") or ()
        if name in [each.get("name") for each in listed]:
            yield _node_of(pod)


def _nodes_of_service(objects: ApiObjects, namespace: str, name: str) -> Iterator[str]:
    by_address = _pods_by_address(objects)
    for listed in _list_endpoints(objects, namespace, name):
        node = listed.get("nodeName")
        addresses = listed.get("addresses") or [listed.get("ip")]
        if isinstance(node, str) and node:
            yield node
        else:
            yield from (_node_of(by_address[each]) for each in addresses if each in by_address)
    # a service whose pods are not ready has no endpoints, and the question is about those pods
    yield from (_node_of(pod) for pod in _selected(objects, namespace, name))


def _list_endpoints(objects: ApiObjects, namespace: str, name: str) -> Iterator[ApiItem]:
    for each in objects.items.get("endpoints", ()):
        if _key(each) == (namespace, name):
            for subset in each.get("subsets") or ():
                yield from subset.get("addresses") or ()
                yield from subset.get("notReadyAddresses") or ()
    for each in objects.items.get("endpointslices", ()):
        about = each.get("metadata", {})
        owner = (about.get("labels") or {}).get(SERVICE_NAME)
        if (about.get("namespace"), owner) == (namespace, name):
            yield from each.get("endpoints") or ()


def _selected(objects: ApiObjects, namespace: str, name: str) -> Iterator[ApiItem]:
    for service in objects.items.get("services", ()):
        wanted = service.get("spec", {}).get("selector") or {}
        if _key(service) != (namespace, name) or not wanted:
            continue
        for pod in objects.items.get("pods", ()):
            labels = pod.get("metadata", {}).get("labels") or {}
            if _key(pod)[0] == namespace and wanted.items() <= labels.items():
                yield pod


def _nodes_of_node(objects: ApiObjects, name: str, port: str) -> Iterator[str]:
    """Yield a node, and where a node port of it leads to."""
    yield name
    for service in _services_at(objects, port) if port else ():
        yield from _nodes_of_service(objects, *_key(service))


def _nodes_of_address(objects: ApiObjects, address: str, port: str) -> Iterator[str]:
    for node in objects.items.get("nodes", ()):
        if address in _addresses_of_node(node):
            yield from _nodes_of_node(objects, _name(node), port)
    pod = _pods_by_address(objects).get(address)
    if pod is not None:
        yield _node_of(pod)
    for service in objects.items.get("services", ()):
        if address in _addresses_of_service(service):
            yield from _nodes_of_service(objects, *_key(service))


def _addresses_of_node(node: ApiItem) -> Sequence[str]:
    return [each.get("address") for each in node.get("status", {}).get("addresses") or ()]


def _addresses_of_service(service: ApiItem) -> frozenset[str]:
    """Return every address that a service answers at."""
    spec = service.get("spec", {})
    balanced = service.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
    listed = (
        spec.get("clusterIP"),
        *(spec.get("clusterIPs") or ()),
        *(spec.get("externalIPs") or ()),
        *(each.get("ip") for each in balanced),
    )
    return frozenset(each for each in listed if each)


def _pods_by_address(objects: ApiObjects) -> Mapping[str, ApiItem]:
    """Return the pods by their addresses; those on the host's network have their node's."""
    found: dict[str, ApiItem] = {}
    for pod in objects.items.get("pods", ()):
        if not pod.get("spec", {}).get("hostNetwork"):
            found |= dict.fromkeys(_addresses_of(pod), pod)
    return found


def _addresses_of(pod: ApiItem) -> Sequence[str]:
    status = pod.get("status", {})
    listed = [each.get("ip") for each in status.get("podIPs") or ()]
    return [each for each in (*listed, status.get("podIP")) if each]


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _key(item: ApiItem) -> tuple[str, str]:
    about = item.get("metadata", {})
    return str(about.get("namespace") or ""), str(about.get("name") or "")


def _name(item: ApiItem) -> str:
    return _key(item)[1]


def _node_of(pod: ApiItem) -> str:
    return str(pod.get("spec", {}).get("nodeName") or "")
