"""What Kubernetes and its network plugins say: services, pods, CNI networks, Cilium's options, and
the node's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSources, host_of_prompt
from podpath.evidence.kubernetes.cni import CNI_FILE
from podpath.evidence.kubernetes.records import (
    CiliumOptionRecord,
    CniRecord,
    PodRecord,
    ServicePortRecord,
    ServiceRecord,
)
from podpath.evidence.node_records import CiliumFrontendRecord
from podpath.evidence.records import AttemptRecord
from podpath.net.addresses import Address, read_address
from podpath.net.provenance import Fact, Source, Span
from podpath.node.node import Cilium, CniNetwork, Frontend, Pod, Service, ServicePort

_ADDRESS_NAME = re.compile(r"(?<!\d)(\d{1,3})[-.](\d{1,3})[-.](\d{1,3})[-.](\d{1,3})(?!\d)")
_V4 = r"(?P<address>\d{1,3}(?:\.\d{1,3}){3})"
_NO_MORE = r"(?=(?:/\d+)?\s*(?:[,;:)]|\.?\s*$|and\b))"
"""What follows an address of which nothing else is said."""
_SHORT_PROMPT = re.compile(r"(?P<host>[A-Za-z][\w.-]*):[~/]\S*[$#]$")
"""`w2:~$`, a prompt without a user."""
_OF_NODE = re.compile(
    r"\b(?:PullImage|[Ff]ailed to pull image|ErrImagePull|[Pp]ulling image|remote_image\.go|"
    r"Error response from daemon)\b|\[talos\]"
)
"""Words of lines in which a program of the node itself says that a connection of its own failed."""
_CILIUM_DEVICE = re.compile(r"cilium_(?:host|net|vxlan|geneve)")


def assemble_kubernetes(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put services, pods, CNI networks and Cilium's options into the node."""
    _assemble_services(draft, evidence)
    _assemble_pods(draft, evidence)
    _assemble_cni(draft, evidence)
    _assemble_cilium(draft, evidence, disputes)
    draft.name = name_node(draft, evidence)
    draft.hinted = tuple(dict.fromkeys(_hint_addresses(draft, evidence)))


def prompt_hosts(evidence: ReadSources) -> tuple[str, ...]:
    """Return the host names of bundles, and of the prompts at which commands about a node were
    typed, the one seen most first.
    """
    counts: dict[str, int] = {}
    for scene in evidence.scenes:
        host = scene.source.host or host_of_prompt(scene)
        if host is not None and not scene.is_elsewhere:
            counts[host] = counts.get(host, 0) + 1
    return tuple(sorted(counts, key=lambda host: -counts[host]))


def name_node(draft: NodeDraft, evidence: ReadSources) -> str:
    """Return the node's name: as a prompt shows it, else the one node that described pods run
    on.
    """
    hosts = prompt_hosts(evidence)
    if hosts:
        return hosts[0]
    nodes = {pod.node.partition("/")[0] for pod in draft.pods if pod.node}
    return nodes.pop() if len(nodes) == 1 else draft.name


def _hint_addresses(draft: NodeDraft, evidence: ReadSources) -> Iterator[Address]:
    """Yield the addresses that the node's name spells (`ip-172-20-121-84`), those that people give
    it above its own outputs (`On w2 (10.3.0.12):`), those that its pods say it has, and those that
    its own programs sent from: the runtime as it pulls images, or Talos.
    """
    hosts = (draft.name, *prompt_hosts(evidence))
    for host in hosts:
        found = _ADDRESS_NAME.search(host)
        if found is not None:
            try:
                yield Address.parse(".".join(found.groups()))
            except ValueError:
                continue
    for scene in evidence.scenes:
        short = _SHORT_PROMPT.match(scene.source.prompt or "")
        own = host_of_prompt(scene) or (short["host"] if short is not None else None)
        if own is not None and not scene.is_elsewhere:
            yield from _list_introduced(own, scene.source.label or "")
    for scene, record in evidence.records(PodRecord):
        is_here = record.node is None or record.node.partition("/")[0] in hosts
        if record.node_address is not None and is_here and not scene.is_elsewhere:
            yield record.node_address
    for scene, attempt in evidence.records(AttemptRecord):
        sent = attempt.src is not None and _OF_NODE.search(attempt.span.text) is not None
        if sent and attempt.src is not None and not attempt.src.is_loopback:
            yield from () if scene.is_elsewhere else (attempt.src,)


def _list_introduced(host: str, label: str) -> Iterator[Address]:
    """Yield the address that the words above an output give the host whose prompt it shows."""
    stated = rf"(?<![\w.-]){re.escape(host)} ?(?:\(|= ?|: ){_V4}{_NO_MORE}"
    for found in re.finditer(stated, label):
        address = read_address(found["address"])
        yield from () if address is None else (address,)


def _assemble_services(draft: NodeDraft, evidence: ReadSources) -> None:
    seen: set[tuple[str | None, str | None]] = set()
    for scene, record in evidence.records(ServiceRecord):
        key = (record.namespace, record.name)
        if scene.is_elsewhere or key in seen:
            continue
        seen.add(key)
        draft.services.append(
            Service(
                namespace=record.namespace or "default",
                name=record.name or "",
                type=record.type or "ClusterIP",
                addresses=record.addresses,
                ports=tuple(_make_port(port) for port in record.ports),
                span=record.span,
            )
        )


def _make_port(port: ServicePortRecord) -> ServicePort:
    return ServicePort(
        protocol=port.protocol,
        port=port.port,
        name=port.name or "",
        node_port=port.node_port,
        endpoints=port.endpoints,
        complete=port.more == 0,
    )


def _assemble_pods(draft: NodeDraft, evidence: ReadSources) -> None:
    places = {
        (pod.namespace, pod.name): place for place, pod in reversed(list(enumerate(draft.pods)))
    }
    for scene, record in evidence.records(PodRecord):
        if scene.is_elsewhere or record.name is None:
            continue
        pod = Pod(
            namespace=record.namespace or "default",
            name=record.name,
            address=record.address,
            node=record.node,
            span=record.span,
        )
        place = places.setdefault((pod.namespace, pod.name), len(draft.pods))
        if place == len(draft.pods):
            draft.pods.append(pod)
        elif draft.pods[place].address is None and pod.address is not None:
            draft.pods[place] = pod


def _assemble_cni(draft: NodeDraft, evidence: ReadSources) -> None:
    for scene, record in evidence.records(CniRecord):
        if scene.is_elsewhere:
            continue
        draft.cni.append(
            CniNetwork(
                path=_cni_path(record.span.source),
                name=record.name or "",
                version=record.version or "",
                plugins=tuple(_plugin_types(record)),
                span=record.span,
                fault=record.fault,
            )
        )


def _cni_path(source: Source) -> str:
    """Return the file's path: the evidence's own, or what its command printed where the evidence is
    a document.
    """
    found = CNI_FILE.search(source.command or "")
    if found is not None and not source.name.endswith(found["path"].rpartition("/")[2]):
        return found["path"]
    return source.name


def _plugin_types(record: CniRecord) -> Iterator[str]:
    for plugin in record.plugins:
        kind = plugin.get("type")
        if isinstance(kind, str):
            yield kind


def _assemble_cilium(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    claims: dict[str, list[DisputeClaim[str]]] = {}
    span = None
    for scene, record in evidence.records(CiliumOptionRecord):
        if not scene.is_elsewhere:
            claims.setdefault(record.key, []).append(
                DisputeClaim(record.value, record.span, scene.standing)
            )
            span = span or record.span
    options: dict[str, Fact[str]] = {}
    for key, spoken in claims.items():
        fact = disputes.settle(
            f"Cilium's option {key}",
            "kubectl -n kube-system get configmap cilium-config -o yaml",
            spoken,
        )
        if fact is not None:
            options[key] = fact
    span = span or _find_cilium(draft)
    if span is not None:
        draft.cilium = Cilium(options=options, frontends=_frontends(evidence), span=span)


def _frontends(evidence: ReadSources) -> Mapping[tuple[Address, int, int], Frontend]:
    """Return the frontends of a whole listing; one without a row of its own is none."""
    found: dict[tuple[Address, int, int], Frontend] = {}
    for scene, record in evidence.records(CiliumFrontendRecord):
        if scene.is_elsewhere or not record.whole:
            continue
        key = (record.address, record.port, record.protocol)
        held = found.get(key, Frontend())
        if record.backend is None:
            spans = (record.span, *held.spans)
            found[key] = replace(held, flags=held.flags | record.flags, spans=spans)
        elif record.backend not in held.backends:
            backends, spans = (*held.backends, record.backend), (*held.spans, record.span)
            found[key] = replace(held, backends=backends, spans=spans)
    return {key: frontend for key, frontend in found.items() if frontend.flags}


def _find_cilium(draft: NodeDraft) -> Span | None:
    """Return the line that shows Cilium to run, where no option of it is shown: its devices, its
    plugin, its chains.
    """
    for link in draft.host.links.values():
        if _CILIUM_DEVICE.fullmatch(link.name) and link.span is not None:
            return link.span
    for route in draft.host.routes:
        if any(
            hop.link is not None and _CILIUM_DEVICE.fullmatch(hop.link) for hop in route.nexthops
        ):
            return route.span
    return next((network.span for network in draft.cni if "cilium-cni" in network.plugins), None)
