"""On which nodes the ends of a question are, by the objects of the API: where a pod is bound, and
where the endpoints of a service are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import NamedTuple

from podpath.sources.kinds import ApiItem
from podpath.sources.objects import ApiObjects

EVERY_NODE = "*"
"""Stands for an end on every node."""
SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""


def list_nodes(objects: ApiObjects) -> tuple[str, ...]:
    """Return the names of all nodes."""
    return tuple(_name(node) for node in objects.items.get("nodes", ()))


def find_nodes(objects: ApiObjects, end: str) -> tuple[str, ...]:
    """Return the nodes that an end is on, in order: `pod/NS/NAME`, `svc/NS/NAME[:PORT]`,
    `node/NAME[:PORT]`, `container/NAME`, `NS/NAME` or `NAME` for a pod, an address with or without
    a port. None for what is outside of the cluster; all for `*`.
    """
    if end == EVERY_NODE:
        return list_nodes(objects)
    kind, sign, rest = end.partition("/")
    match kind:
        case "pod" | "pods" | "po" if sign:
            found = _nodes_of_pod(objects, *_split(rest))
        case "svc" | "service" | "services" if sign:
            found = _nodes_of_service(objects, *_split(rest))
        case "node" | "nodes" | "no" if sign:
            found = _nodes_of_node(objects, *_cut_port(rest))
        case "container" | "containers" | "co" if sign:
            found = _nodes_of_container(objects, _cut_port(rest)[0])
        case _ if _is_address(_cut_port(end)[0]):
            found = _nodes_of_address(objects, *_cut_port(end))
        case _:
            found = _nodes_of_pod(objects, *_split(end))
    return tuple(dict.fromkeys(name for name in found if name))


class PlacedPod(NamedTuple):
    """A pod, where it runs, and the addresses that are its own."""

    name: str
    """`NAMESPACE/NAME`."""
    node: str
    addresses: tuple[str, ...]
    """None for a pod on its node's network."""


def find_pod(objects: ApiObjects, end: str) -> PlacedPod | None:
    """Return the pod that an end names (`pod/NS/NAME`, `NS/NAME` or `NAME`); None where there is
    none.
    """
    kind, sign, rest = end.partition("/")
    name = _split(rest if sign and kind in {"pod", "pods", "po"} else end)
    for pod in objects.items.get("pods", ()):
        if _key(pod) == name:
            own = () if pod.get("spec", {}).get("hostNetwork") else tuple(_addresses_of(pod))
            return PlacedPod("/".join(name), _node_of(pod), tuple(dict.fromkeys(own)))
    return None


def _split(rest: str) -> tuple[str, str]:
    """Split `NS/NAME:PORT`; without a namespace it is `default`, as with kubectl."""
    space, sign, name = rest.partition("/")
    space, name = (space, name) if sign else ("default", space)
    return space, name.partition(":")[0]


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
    for service in objects.items.get("services", ()) if port else ():
        ports = service.get("spec", {}).get("ports") or ()
        if port in {str(each.get("nodePort")) for each in ports}:
            yield from _nodes_of_service(objects, *_key(service))


def _nodes_of_address(objects: ApiObjects, address: str, port: str) -> Iterator[str]:
    for node in objects.items.get("nodes", ()):
        held = [each.get("address") for each in node.get("status", {}).get("addresses") or ()]
        if address in held:
            yield from _nodes_of_node(objects, _name(node), port)
    pod = _pods_by_address(objects).get(address)
    if pod is not None:
        yield _node_of(pod)
    for service in objects.items.get("services", ()):
        if address in _addresses_of_service(service):
            yield from _nodes_of_service(objects, *_key(service))


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


def _cut_port(end: str) -> tuple[str, str]:
    """Split `10.0.0.1:80`, `[fd00::1]:80` and `node1:80`; an IPv6 address alone has no port."""
    if end.startswith("["):
        address, _, port = end[1:].partition("]")
        return address, port.removeprefix(":")
    if _is_address(end):
        return end, ""
    name, _, port = end.partition(":")
    return name, port


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
