"""The ends of a connection as users say them: `shop/web-0`, `svc/shop/api:http`, `node/node1`, an
address, `outside`; and the probe that asks about it.

    shop/web-0  svc/shop/api:http   ->   tcp pod/shop/web-0 > svc/shop/api:http
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.trees import Tree
from podpath.node.node import Node, Pod, Service
from podpath.node.objects import ApiObject
from podpath.node.probe_names import resolve_probe, suggest

OUTSIDE = "outside"
"""The word for a client that is not of the cluster."""
CLIENT = Address.parse("198.51.100.7")
"""An address that stands for one outside, where none is named (RFC 5737)."""
_KINDS = {"po": "pod", "pods": "pod", "service": "svc", "services": "svc", "no": "node"}
"""Other spellings of the kinds."""
_END = re.compile(
    r"(?:(?P<kind>po|pods?|svc|services?|no|node)/)?"
    r"(?:(?P<space>[a-z0-9][a-z0-9.-]*)/)?(?P<name>[a-z0-9][a-z0-9.-]*)(?::(?P<port>[\w-]+))?"
)
_NETNS = re.compile(r"(?:netns/|(?:/var)?/run/netns/)\S+")
_CONTAINER = re.compile(r"(?:co|containers?)/(?P<name>[^/:\s]+)(?P<port>:[\w-]+)?")
_NUMBER = re.compile(r"[0-9.]+(?::\d+)?|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?(?::\d+)?")
_SERVICE_NAME = "kubernetes.io/service-name"
"""The label by which an endpoint slice says whose it is."""
_SHOWN = 6
"""Names that an error lists."""
_EXAMPLES = (
    "pod/shop/web-0, svc/shop/api:http, shop/web-0, node/node1, container/nginx, /run/netns/blue, "
    "10.0.0.1:80 or outside"
)


def make_probe(
    source: str, destination: str, node: Node, objects: Sequence[ApiObject], protocol: str = ""
) -> Probe:
    """Return the probe of a connection whose ends are named; `UsageError` says what there is."""
    start = _spell_source(_place_container(source, objects), node)
    end, assumed = _spell_destination(_place_container(destination, objects), node, objects)
    probe = resolve_probe(f"{protocol or assumed} {start} > {end}", node)
    return _with_source(probe, node) if start.startswith("node/") else probe


def _place_container(text: str, objects: Sequence[ApiObject]) -> str:
    """Spell the pod that a container is in; whatever names none stays as it is."""
    found = _CONTAINER.fullmatch(text)
    if found is None:
        return text
    holders = [one for one in objects if found["name"] in _list_containers(one)]
    pods = [f"pod/{one.namespace}/{one.name}" for one in holders]
    if len(pods) == 1:
        port = found["port"] or _own_port(found["name"], holders[0])
        return f"{pods[0]}{port}"
    if holders:
        spelled = ", ".join(pods[:_SHOWN])
        raise UsageError(f"{text!r} is in {len(holders)} pods: name one of {spelled}")
    names = dict.fromkeys(name for one in objects for name in _list_containers(one))
    shown = ", ".join(list(names)[:_SHOWN]) or "none: give --objects"
    near = suggest(found["name"], list(names))
    raise UsageError(
        f"expected a container that the objects show, saw {text!r}; {near}they show {shown}"
    )


def _own_port(name: str, pod: ApiObject) -> str:
    """Return the first port that a container declares, behind a colon; nothing where it has
    none.
    """
    own = (one for one in pod.tree.items_at("spec", "containers") if one.text_at("name") == name)
    ports = (port.text_at("containerPort") for one in own for port in one.items_at("ports"))
    return next((f":{port}" for port in ports), "")


def _list_containers(one: ApiObject) -> list[str]:
    if one.kind != "Pod":
        return []
    return [container.text_at("name") for container in one.tree.items_at("spec", "containers")]


def _with_source(probe: Probe, node: Node) -> Probe:
    """Return the probe with the address that a node sends from: its own on the destination's
    network, where it has one there.
    """
    host = node.namespaces.get(probe.netns or "")
    near = (
        item.address
        for item in (host.addresses.items if host is not None else ())
        if item.prefix.covers(probe.dst) and item.address != probe.dst and not item.secondary
    )
    return probe._replace(src=next(near, probe.src))


def _spell_source(text: str, node: Node) -> str:
    """Spell where a connection starts, as a probe does."""
    if text == OUTSIDE:
        return str(CLIENT)
    if _NUMBER.fullmatch(text) or _NETNS.fullmatch(text):
        return text
    kind, space, name, port = _name(text, node)
    if kind == "svc":
        raise UsageError(f"expected a pod, a node or an address as the source, saw {text!r}")
    return f"{kind}/{space}{name}{f':{port}' if port and port.isdigit() else ''}"


def _spell_destination(text: str, node: Node, objects: Sequence[ApiObject]) -> tuple[str, str]:
    """Spell where a connection goes, with the protocol that it has where nobody says."""
    if _NUMBER.fullmatch(text):
        return text, "tcp" if _has_port(text) else "icmp"
    if _NETNS.fullmatch(text):
        return text, "tcp" if ":" in text else "icmp"
    kind, space, name, port = _name(text, node)
    spelled = f"{kind}/{space}{name}"
    if kind == "netns":
        return (f"{spelled}:{port}", "tcp") if port else (spelled, "icmp")
    if kind == "svc":
        service = _find(node.services, space, name)
        if isinstance(service, Service) and not service.addresses:
            ends = list(dict.fromkeys(_list_behind(service, port, objects)))
            if len(ends) == 1:
                return ends[0], "tcp" if _has_port(ends[0]) else "icmp"
            if ends:
                shown = ", ".join(ends[:_SHOWN])
                raise UsageError(
                    f"{spelled} has no address of its own, its name is that of {len(ends)} pods: "
                    f"name one of {shown}"
                )
        protocol = _service_protocol(service, port)
        return f"{spelled}:{port}" if port else spelled, protocol
    if kind == "node":
        return (f"{spelled}:{port}", "tcp") if port else (spelled, "icmp")
    pod = _find(node.pods, space, name)
    number, protocol = _pod_port(node, pod, port, objects)
    return f"{spelled}:{number}" if number else spelled, protocol


def _has_port(text: str) -> bool:
    return text.count(":") == 1 or "]:" in text


def _name(text: str, node: Node) -> tuple[str, str, str, str]:
    """Take a name apart: its kind, its namespace with a slash, its name and port."""
    found = _END.fullmatch(text)
    if found is None:
        raise UsageError(f"expected {_EXAMPLES}, saw {text!r}")
    kind = _KINDS.get(found["kind"] or "", found["kind"] or "")
    space, name = found["space"] or "", found["name"]
    kind = kind or _guess_kind(text, space, name, node)
    return kind, f"{space}/" if space else "", name, found["port"] or ""


def _guess_kind(text: str, space: str, name: str, node: Node) -> str:
    """Say what a bare name is of; `UsageError` where it is of nothing, or of two things."""
    kinds = [
        *(["pod"] if _find(node.pods, space, name) is not None else []),
        *(["svc"] if _find(node.services, space, name) is not None else []),
        *(["node"] if not space and name in {node.name, *node.beside} else []),
    ]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        spelled = " or ".join(f"{kind}/{text}" for kind in kinds)
        raise UsageError(f"{text!r} may be {spelled}: write which")
    if f"{space}{name}" in node.namespaces:
        return "netns"
    pods = [f"{pod.namespace}/{pod.name}" for pod in node.pods]
    services = [f"svc/{service.namespace}/{service.name}" for service in node.services]
    known = ", ".join([*pods[:4], *services[:3]]) or "no pods and services: give --objects"
    nodes = [f"node/{name}" for name in (node.name, *node.beside)]
    near = suggest(text, [*pods, *services, *nodes])
    raise UsageError(
        f"expected a pod, a service or a node that the evidence shows, saw {text!r}; "
        f"{near}it shows {known}"
    )


def _find(items: Sequence[Pod] | Sequence[Service], space: str, name: str) -> Pod | Service | None:
    space = space.rstrip("/")
    fitting = (item for item in items if item.name == name and space in {"", item.namespace})
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
    spelled = f"[{address}]" if ":" in address and port else address
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
        return (named[0][1], named[0][2]) if named else (port, "tcp")
    if declared:
        return declared[0][1], declared[0][2]
    netns = node.namespaces.get(pod.netns or "") if isinstance(pod, Pod) else None
    listening = (
        socket.port
        for socket in (netns.sockets.items if netns is not None else ())
        if socket.protocol == protocols.TCP
        and socket.state == "LISTEN"
        and not (socket.local is not None and socket.local.is_loopback)
    )
    number = next(listening, None)
    return (str(number), "tcp") if number is not None else ("", "icmp")


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
