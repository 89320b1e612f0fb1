"""Probes whose ends are named as kubectl names them.

tcp pod/shop/web-0 > svc/shop/api:http
udp host > svc/kube-system/kube-dns
tcp /run/netns/blue > node/node2:22
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.packet import endpoint
from podpath.net.probe import SYNTAX, Probe, parse_endpoint
from podpath.node.node import HOST, NetnsRole, Node, Service

_NAMED = re.compile(
    r"node/(?P<node>[^/:\s]+)(?::(?P<door>\d+))?|"
    r"(?:netns/|(?:/var)?/run/netns/)(?P<netns>[^:\s]+)(?::(?P<inner>\d+))?|"
    r"(?P<kind>po|pods?|svc|services?)/(?:(?P<namespace>[^/:\s]+)/)?(?P<name>[^/:\s]+)"
    r"(?::(?P<port>[\w-]+))?|(?P<host>host)(?::(?P<at>\d+))?"
)
_PORT = re.compile(r":[\w-]+\Z")
_SHOWN = 6
"""Names that an error lists."""
_NEAR = 3
"""Names that it suggests."""
_ALIKE = 0.75
"""How much of a name has to be spelled alike."""


class NamedEnd(NamedTuple):
    """One way to spell an end with an address."""

    address: Address
    port: int = 0
    netns: str | None = None
    """The namespace that it is in; None where it is not known."""

    def __str__(self) -> str:
        """Spell it as a probe does."""
        if self.port:
            return endpoint(self.address, self.port)
        return str(self.address)


def names_ends(text: str) -> bool:
    """Tell whether a probe names an end: then it takes the evidence to read it."""
    found = SYNTAX.fullmatch(text.strip())
    return found is not None and any(
        _NAMED.fullmatch(found[end]) is not None for end in ("src", "dst")
    )


def resolve_probe(text: str, node: Node) -> Probe:
    """Read a probe, with the addresses of the pods and services that it names; `UsageError` says
    which names there are.
    """
    found = SYNTAX.fullmatch(text.strip())
    if found is None or not names_ends(text):
        return Probe.parse(text)
    protocol = protocols.NUMBERS[found["protocol"].lower()]
    sources = _resolve(found["src"], node, protocol)
    destinations = _resolve(found["dst"], node, protocol)
    for source, destination in product(sources, destinations):
        if source.address.family == destination.address.family:
            return _spell(found, source, destination)
    raise UsageError(
        f"expected ends with addresses of one family in {text!r}, saw "
        f"{_list([str(end.address) for end in sources])} and "
        f"{_list([str(end.address) for end in destinations])}"
    )


def _spell(found: re.Match[str], source: NamedEnd, destination: NamedEnd) -> Probe:
    """Read the probe with its names replaced; a pod's namespace sends, unless the probe says where
    it starts.
    """
    place = f" {found['where']} {found['place']}" if found["where"] else ""
    words = f"{place}{found['sending']}"
    probe = Probe.parse(f"{found['protocol']} {source} > {destination}{words}")
    if place or source.netns is None:
        return probe
    return probe._replace(netns=source.netns)


def _resolve(text: str, node: Node, protocol: int) -> tuple[NamedEnd, ...]:
    """Return the ways to spell an end: the one that it has, or those of what it names."""
    found = _NAMED.fullmatch(text)
    if found is None:
        return (NamedEnd(*parse_endpoint(text)),)
    if found["host"]:
        ends = tuple(_hosts(node, HOST, int(found["at"] or 0)))
    elif found["node"]:
        ends = tuple(_nodes(node, found["node"], int(found["door"] or 0)))
    elif found["netns"]:
        ends = tuple(_inside(node, found["netns"], int(found["inner"] or 0)))
    elif found["kind"].startswith("p"):
        ends = tuple(_pods(node, found["namespace"], found["name"], found["port"]))
    else:
        ends = tuple(_services(node, found, protocol))
    if not ends:
        raise UsageError(
            f"expected {_what(found)} that the evidence shows with its address, saw {text!r}; "
            f"{_known(node, found)}"
        )
    return ends


def _nodes(node: Node, name: str, port: int) -> Iterator[NamedEnd]:
    """Yield the addresses of a node by its name: the one at hand, or one of its cluster."""
    if name == node.name:
        yield from _hosts(node, HOST, port)
    elif name in node.beside:
        yield from _hosts(node, f"{name}/{HOST}", port)


def _hosts(node: Node, netns: str, port: int) -> Iterator[NamedEnd]:
    """Yield a host's addresses, those on the devices of default routes first, then those on the
    wire to other nodes.
    """
    host = node.namespaces[netns]
    wired = {end.link for wire in node.wires for end in wire.ends if end.netns == netns}
    defaults = [route for route in host.routes.items if route.prefix.length == 0]
    uplinks = {hop.link for route in defaults for hop in route.nexthops}
    own = [
        item
        for item in host.addresses.items
        if item.scope == "global" and not item.address.is_loopback
    ]
    own.sort(key=lambda item: (item.link not in uplinks, item.link not in wired))
    yield from (NamedEnd(item.address, port, netns) for item in own)


def _pods(node: Node, namespace: str | None, name: str, port: str | None) -> Iterator[NamedEnd]:
    """Yield a pod's addresses: as kubectl shows them, or those in the namespace that is called as
    the pod is.
    """
    number = _number(port)
    named = [pod for pod in node.pods if pod.name == name and namespace in (None, pod.namespace)]
    found = [pod for pod in named if pod.address is not None or pod.netns in node.namespaces]
    if len({pod.namespace for pod in found}) > 1:
        raise UsageError(
            f"pod/{name} is in several namespaces ({_list([pod.namespace for pod in found])}): "
            f"name one, pod/NS/{name}"
        )
    for pod in found:
        if pod.address is not None:
            netns = pod.netns or node.find_holder(pod.address, pods_only=True)
            yield NamedEnd(pod.address, number, netns)
        elif pod.netns is not None:
            yield from _inside(node, pod.netns, number)
    if not found:
        yield from _inside(node, name, number)


def _inside(node: Node, netns: str, number: int) -> Iterator[NamedEnd]:
    """Yield the addresses that a namespace has."""
    inside = node.namespaces.get(netns)
    for item in inside.addresses.items if inside is not None else ():
        if item.scope == "global" and not item.address.is_loopback:
            yield NamedEnd(item.address, number, netns)


def _services(node: Node, found: re.Match[str], protocol: int) -> Iterator[NamedEnd]:
    """Yield a service's addresses at the port that is asked for, by number or name; at its only one
    where none is.
    """
    services = [
        each
        for each in node.services
        if each.name == found["name"] and found["namespace"] in (None, each.namespace)
    ]
    if len({each.namespace for each in services}) > 1:
        spaces = _list([each.namespace for each in services])
        raise UsageError(
            f"svc/{found['name']} is in several namespaces ({spaces}): name one, "
            f"svc/NS/{found['name']}"
        )
    for service in services:
        if not service.addresses:
            yield _behind(node, service, found["port"])
            continue
        port = _service_port(service, found["port"], protocol)
        yield from (NamedEnd(address, port) for address in service.addresses)


def _behind(node: Node, service: Service, asked: str | None) -> NamedEnd:
    """Return the one end that a service without an address of its own stands for; `UsageError`
    says what its name stands for otherwise.
    """
    title = f"svc/{service.namespace}/{service.name}"
    if service.type == "ExternalName":
        raise UsageError(
            f"{title} is another name of something else (ExternalName), and has no address: name "
            "what it stands for by an address (kubectl get svc shows the name; getent hosts)"
        )
    ends = dict.fromkeys(
        NamedEnd(address, int(asked) if asked is not None and asked.isdigit() else number)
        for port in service.ports
        if asked is None or asked.isdigit() or asked == port.name
        for address, number in port.endpoints
    )
    if len(ends) == 1:
        (end,) = ends
        return end._replace(netns=node.find_holder(end.address, pods_only=True))
    if ends:
        shown = f"name one of {_list([str(end) for end in ends])}"
    else:
        shown = (
            "no endpoint of it is shown, and then its name has no address either (kubectl get "
            "endpoints)"
        )
    raise UsageError(f"{title} has no address of its own, its name is that of its pods: {shown}")


def _service_port(service: Service, asked: str | None, protocol: int) -> int:
    ports = [each for each in service.ports if each.protocol == protocol]
    if protocol in (protocols.ICMP, protocols.ICMPV6) or (asked is not None and asked.isdigit()):
        return _number(asked)
    chosen = [each.port for each in ports if asked in (None, each.name)]
    if not ports and service.ports:
        spoken = sorted({protocols.protocol_name(each.protocol) for each in service.ports})
        raise UsageError(
            f"svc/{service.namespace}/{service.name} has no port of "
            f"{protocols.protocol_name(protocol)}: it speaks {', '.join(spoken)}"
        )
    if len(chosen) != 1:
        names = (
            _list([f"{each.port}{f' ({each.name})' if each.name else ''}" for each in ports])
            or "none"
        )
        raise UsageError(
            f"svc/{service.namespace}/{service.name} has the {protocols.protocol_name(protocol)} "
            f"ports: {names}; name one of them"
        )
    return chosen[0]


def _number(port: str | None) -> int:
    if port is not None and not port.isdigit():
        raise UsageError(
            f"expected a port's number, saw {port!r}; only a service's ports have names"
        )
    return int(port or 0)


def _what(found: re.Match[str]) -> str:
    if found["netns"]:
        return "a namespace"
    if found["node"] or found["host"]:
        return "a node" if found["node"] else "a host"
    if found["kind"].startswith("p"):
        return "a pod"
    return "a service"


def _known(node: Node, found: re.Match[str]) -> str:
    if found["host"]:
        return "it shows no address of the host: ip addr"
    names = list(_list_known(node, found))
    if found["node"] and f"node/{found['node']}" in names:
        return "it shows no address of that node: ip addr"
    if names:
        return f"{suggest(found[0], names)}it shows {_list(names)}"
    wanted = "pods" if found["kind"].startswith("p") else "svc"
    return f"it shows none: kubectl get {wanted} -A{' -o wide' if wanted == 'pods' else ''}"


def _list_known(node: Node, found: re.Match[str]) -> Iterator[str]:
    """Yield what there is of the kind that an end names."""
    if found["node"]:
        yield from (f"node/{name}" for name in (node.name, *node.beside))
    elif found["netns"]:
        yield from (f"netns/{name}" for name in node.namespaces)
    elif found["kind"].startswith("p"):
        pods = [pod for pod in node.pods if pod.address is not None or pod.netns is not None]
        placed = {pod.netns for pod in pods}
        yield from (f"pod/{pod.namespace}/{pod.name}" for pod in pods)
        for netns in node.namespaces.values():
            if netns.role == NetnsRole.POD and not netns.inferred and netns.name not in placed:
                yield f"pod/{netns.name}"
    else:
        yield from (f"svc/{each.namespace}/{each.name}" for each in node.services)


def suggest(text: str, names: Sequence[str]) -> str:
    """Ask whether what is nearly spelled so was meant; empty where nothing is."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load, and for mistakes alone

    wanted = _PORT.sub("", text)
    spelled = {name.rpartition("/")[2]: name for name in reversed(names)}
    near = get_close_matches(wanted, names, n=_NEAR, cutoff=_ALIKE)
    near += [
        spelled[name]
        for name in get_close_matches(wanted.rpartition("/")[2], spelled, n=_NEAR, cutoff=_ALIKE)
    ]
    found = list(dict.fromkeys(near))[:_NEAR]
    if found:
        return f"did you mean {' or '.join(found)}? "
    return ""


def _list(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:_SHOWN]) + (
        f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    )
