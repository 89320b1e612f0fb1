"""The flows that the evidence itself asks for: services and their endpoints, DNS and the API among
them, probes of pods by the kubelet; and what NetworkPolicies forbid between the pods shown.

What comes out is a file to read, to cut and to keep: each flow says where it comes from. The order
is that of kinds, namespaces and names, whatever the order of the evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from podpath.checks.endpoints import Place, backends_of
from podpath.checks.objects import see
from podpath.checks.policies import KIND, PolicyAnswer, PolicyBook
from podpath.flows.flow import Expectation, Flow
from podpath.net.addresses import read_address
from podpath.net.probe import Probe
from podpath.net.protocols import NUMBERS, TCP, UDP
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.node import Node, Pod

MOST_FORBIDDEN = 100
"""Flows that policies forbid, of which one for each pair of pods may be told."""
_PROTOCOLS = {TCP: "tcp", UDP: "udp"}
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


def derive_flows(case: Case) -> tuple[Flow, ...]:
    """Return the flows that the evidence asks for, one for each pair of ends and port."""
    found: dict[str, Flow] = {}
    for flow in (*_to_services(case), *_probed(case), *_forbidden(case)):
        found.setdefault(flow.probe, flow)
    return tuple(found.values())


def emit_flows(flows: Iterable[Flow]) -> str:
    """Spell flows as the file that `read_flows` reads."""
    blocks = ["# Flows that the evidence asks for. Read them, and keep those that have to hold.\n"]
    for flow in flows:
        lines = [f"# {_clean(flow.origin)}"] if flow.origin else []
        lines += [
            "[[flow]]",
            f"name = {_quote(flow.name)}",
            f"from = {_quote(flow.source)}",
            f"to = {_quote(flow.target)}",
        ]
        if flow.protocol != "tcp":
            lines.append(f"protocol = {_quote(flow.protocol)}")
        lines.append(f"expect = {_quote(flow.expect)}")
        blocks.append("\n".join([*lines, ""]))
    return "\n".join(blocks)


def _clean(text: str) -> str:
    """Keep what a comment may hold: one line of printable characters."""
    return "".join(sign if sign.isprintable() else "?" for sign in " ".join(text.split()))


def _quote(text: str) -> str:
    """Spell a text as TOML: its basic strings are JSON's, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _own_pods(node: Node) -> Sequence[Pod]:
    """Return the pods that the node runs: those whose namespaces are shown, with an address."""
    found = [pod for pod in node.pods if pod.address is not None and pod.netns in node.namespaces]
    return sorted(found, key=lambda pod: (pod.namespace, pod.name))


def _endpoints_of(case: Case) -> Mapping[tuple[str, str, int, int], Sequence[Place]]:
    """Return the endpoints of services' ports by namespace, name, port and protocol: as outputs
    list them, else as Endpoints and slices do.
    """
    found: dict[tuple[str, str, int, int], Sequence[Place]] = {}
    for service in case.node.services:
        for port in service.ports:
            if port.endpoints:
                key = (service.namespace, service.name, port.port, port.protocol)
                found[key] = port.endpoints
    for seen in see(case, "Service"):
        for behind in backends_of(case, seen):
            number = behind.port.text_at("port")
            protocol = NUMBERS.get((behind.port.text_at("protocol") or "TCP").lower(), 0)
            places = [(one.address, one.port) for one in behind.ready]
            if places and number.isdecimal():
                key = (seen.namespace or "default", seen.name, int(number), protocol)
                found.setdefault(key, places)
    return found


def _to_services(case: Case) -> Iterator[Flow]:
    """Yield flows from a pod of the node, or from the node where it shows none, to services."""
    node, endpoints = case.node, _endpoints_of(case)
    clients = [f"pod/{pod.namespace}/{pod.name}" for pod in _own_pods(node)[:1]] or ["host"]
    for service in sorted(node.services, key=lambda one: (one.namespace, one.name)):
        title = f"svc/{service.namespace}/{service.name}"
        for port in sorted(service.ports, key=lambda one: (one.port, one.protocol)):
            protocol = _PROTOCOLS.get(port.protocol)
            key = (service.namespace, service.name, port.port, port.protocol)
            count = len(endpoints.get(key, ()))
            if protocol is None or not count or not service.addresses:
                continue
            yield Flow(
                name=f"{title}:{port.port}/{protocol} answers",
                source=clients[0],
                target=f"{title}:{port.port}",
                protocol=protocol,
                expect=Expectation.CONNECTS,
                origin=f"from the service ({count} endpoint{'s' if count > 1 else ''})"
                + (f", {service.span}" if service.span is not None else ""),
            )


def _probed(case: Case) -> Iterator[Flow]:
    """Yield the kubelet's probes of the node's pods."""
    own = {(pod.namespace, pod.name) for pod in _own_pods(case.node)}
    for seen in sorted(see(case, "Pod"), key=lambda one: (one.namespace, one.name)):
        if (seen.namespace, seen.name) not in own:
            continue
        for container in seen.items_at("spec", "containers"):
            for kind in _PROBES:
                port = _probe_port(container, kind)
                asked = read_address(container.text_at(kind, "httpGet", "host"))
                if port:
                    yield Flow(
                        name=f"the kubelet probes {seen.namespace}/{seen.name}:{port}",
                        source="host",
                        target=f"{asked or f'pod/{seen.namespace}/{seen.name}'}:{port}",
                        expect=Expectation.CONNECTS,
                        origin=f"from {kind} of {container.text_at('name')}, {seen.span}",
                    )


def _probe_port(container: Tree, kind: str) -> str:
    """Return the port of a probe, its name looked up; empty where it has none."""
    for way in ("httpGet", "tcpSocket", "grpc"):
        port = container.text_at(kind, way, "port")
        if port.isdecimal():
            return port
        for named in container.items_at("ports") if port else ():
            if named.text_at("name") == port:
                return named.text_at("containerPort")
    return ""


def _forbidden(case: Case) -> Iterator[Flow]:
    """Yield what policies forbid between pods that the evidence shows, at ports that answer."""
    policies = [one for one in case.objects if one.kind == KIND and one.tree.at("spec")]
    pods = [pod for pod in case.node.pods if pod.address is not None]
    pods.sort(key=lambda pod: (pod.namespace, pod.name))
    ports = {
        end
        for (_, _, _, protocol), ends in _endpoints_of(case).items()
        for end in ends
        if protocol == TCP
    }
    if not policies:
        return
    book = PolicyBook(case, policies)
    told = 0
    for source in _own_pods(case.node):
        for target in pods:
            held = sorted(port for address, port in ports if address == target.address)
            for port in held if target is not source else ():
                if source.address is None or target.address is None or told >= MOST_FORBIDDEN:
                    continue
                probe = Probe(TCP, source.address, target.address, dport=port)
                found = book.rule_on(probe)
                if found.ruling is not PolicyAnswer.FORBIDDEN:
                    continue
                told += 1
                ends = (
                    f"pod/{source.namespace}/{source.name}",
                    f"{target.namespace}/{target.name}",
                )
                yield Flow(
                    name=f"{ends[0]} is kept from {ends[1]}:{port}",
                    source=ends[0],
                    target=f"pod/{ends[1]}:{port}",
                    expect=Expectation.FAILS,
                    origin=f"from NetworkPolicy, {found.spans[0]}",
                )
