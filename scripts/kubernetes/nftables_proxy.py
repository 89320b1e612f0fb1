#!/usr/bin/env python3
"""A small service proxy that writes what kube-proxy writes in its nftables mode, which the release
at hand does not have yet: one table, verdict maps from service addresses and node ports to the
chains of services, a chain for each endpoint, and masquerading by a mark.

It runs by itself on a node: services and endpoints are read from the API and watched, and whenever
they change the table is replaced in one transaction. Learned from kube-proxy's own description of
its chains (pkg/proxy/nftables v1.33). Left out: source ranges, session affinity, traffic
distribution, IPv6, and the conntrack entries of endpoints that are gone.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

MARK = "0x4000"
_KINDS = ("services", "endpoints")
_HASH = 8
"""Letters of the hash that chains are called by."""
_FRAME = """\
add table ip kube-proxy {{ comment "rules for kube-proxy" ; }}
delete table ip kube-proxy
table ip kube-proxy {{
  comment "rules for kube-proxy"
  set cluster-ips {{
    type ipv4_addr
    comment "Active ClusterIPs"
    {cluster_ips}
  }}
  set nodeport-ips {{
    type ipv4_addr
    comment "IPs that accept NodePort traffic"
    elements = {{ {node_address} }}
  }}
  map no-endpoint-services {{
    type ipv4_addr . inet_proto . inet_service : verdict
    comment "vmap to drop or reject packets to services with no endpoints"
    {refused_services}
  }}
  map no-endpoint-nodeports {{
    type inet_proto . inet_service : verdict
    comment "vmap to drop or reject packets to service nodeports with no endpoints"
    {refused_ports}
  }}
  chain mark-for-masquerade {{
    meta mark set meta mark or {mark}
  }}
  chain masquerading {{
    meta mark and {mark} == 0 return
    meta mark set meta mark xor {mark}
    masquerade fully-random
  }}
  chain reject-chain {{
    comment "helper for @no-endpoint-services / @no-endpoint-nodeports"
    reject
  }}
{chains}
  map service-ips {{
    type ipv4_addr . inet_proto . inet_service : verdict
    comment "ClusterIP, ExternalIP and LoadBalancer IP traffic"
    {services}
  }}
  map service-nodeports {{
    type inet_proto . inet_service : verdict
    comment "NodePort traffic"
    {ports}
  }}
  chain services {{
    ip daddr . meta l4proto . th dport vmap @service-ips
    ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
  }}
  chain service-endpoints-check {{
    ip daddr . meta l4proto . th dport vmap @no-endpoint-services
  }}
  chain nodeport-endpoints-check {{
    ip daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports
  }}
  chain cluster-ips-check {{
    ip daddr @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"
    ip daddr {{ {service_cidr} }} drop comment "Drop traffic to unallocated ClusterIPs"
  }}
  chain filter-input {{
    type filter hook input priority 0;
    ct state new jump nodeport-endpoints-check
    ct state new jump service-endpoints-check
  }}
  chain filter-forward {{
    type filter hook forward priority 0;
    ct state new jump service-endpoints-check
    ct state new jump cluster-ips-check
  }}
  chain filter-output {{
    type filter hook output priority 0;
    ct state new jump service-endpoints-check
    ct state new jump cluster-ips-check
  }}
  chain nat-prerouting {{
    type nat hook prerouting priority -100;
    jump services
  }}
  chain nat-output {{
    type nat hook output priority -100;
    jump services
  }}
  chain nat-postrouting {{
    type nat hook postrouting priority 100;
    jump masquerading
  }}
}}
"""


_DOING = re.compile(
    r"^(    (?!type |comment |elements ).*?)(?=(?:jump|goto|numgen) |return$|masquerade |dnat to"
    r"|meta mark set)",
    re.MULTILINE,
)
"""A rule's conditions, before what it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a node is, as its rules know it."""

    node: str
    address: str
    pod_cidr: str
    """The range of all pods."""
    service_cidr: str


class Endpoint(NamedTuple):
    """One address behind a service's port."""

    address: str
    port: int
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPort:
    """One port of a service."""

    namespace: str
    service: str
    name: str
    protocol: str
    address: str
    port: int
    node_port: int
    local: bool
    """True where only endpoints on the node are for clients from outside."""
    endpoints: tuple[Endpoint, ...]

    @property
    def title(self) -> str:
        """Its name in comments."""
        named = f":{self.name}" if self.name else ""
        return f"{self.namespace}/{self.service}{named}"

    @property
    def chain(self) -> str:
        """What its chains' names end with."""
        return _hashed(f"{self.namespace}/{self.service}/{self.protocol}/{self.name}")

    def endpoint_chain(self, endpoint: Endpoint) -> str:
        """Name the chain of an endpoint."""
        owner = f"{self.namespace}/{self.service}/{self.protocol}/{self.name}"
        return "endpoint-" + _hashed(f"{owner}__{endpoint.address}/{endpoint.port}")


def _hashed(name: str) -> str:
    digest = base64.b32encode(hashlib.sha256(name.encode()).digest()).decode()
    return f"{digest[:_HASH]}-{name}"


def list_ports(
    services: Sequence[Mapping[str, Any]], endpoints: Sequence[Mapping[str, Any]]
) -> list[ServedPort]:
    """Join services and their endpoints."""
    by_owner = {_owner(each): each.get("subsets") or () for each in endpoints}
    return [
        _serve(service, port, by_owner.get(_owner(service), ()))
        for service in sorted(services, key=_owner)
        if service["spec"].get("clusterIP", "None") not in {"", "None"}
        for port in service["spec"]["ports"]
    ]


def _owner(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _serve(
    service: Mapping[str, Any], port: Mapping[str, Any], subsets: Sequence[Mapping[str, Any]]
) -> ServedPort:
    spec, (namespace, name) = service["spec"], _owner(service)
    called = port.get("name", "")
    found = sorted(
        Endpoint(each["ip"], offered["port"], each.get("nodeName", ""))
        for subset in subsets
        for offered in subset.get("ports", ())
        if offered.get("name", "") == called
        for each in subset.get("addresses") or ()
    )
    return ServedPort(
        namespace=namespace,
        service=name,
        name=called,
        protocol=port.get("protocol", "TCP").lower(),
        address=spec["clusterIP"],
        port=port["port"],
        node_port=port.get("nodePort", 0),
        local=spec.get("externalTrafficPolicy") == "Local",
        endpoints=tuple(found),
    )


def write_rules(settings: Settings, ports: Sequence[ServedPort]) -> str:
    """Write the whole table, as `nft -f` reads it."""
    chains = [line for port in ports for line in _write_chains(settings, port)]
    refused = [port for port in ports if not port.endpoints]
    served = [port for port in ports if port.endpoints]
    ways = [(port, _way_in(settings, port)) for port in ports if port.node_port]
    return _FRAME.format(
        mark=MARK,
        node_address=settings.address,
        service_cidr=settings.service_cidr,
        cluster_ips=_elements(sorted({port.address for port in ports})),
        refused_services=_elements(
            f'{_service_key(port)} comment "{port.title}" : goto reject-chain' for port in refused
        ),
        refused_ports=_elements(
            f'{_port_key(port)} comment "{port.title}" : {way}'
            for port, way in ways
            if not way.startswith("goto external")
        ),
        services=_elements(f"{_service_key(port)} : goto service-{port.chain}" for port in served),
        ports=_elements(
            f"{_port_key(port)} : {way}" for port, way in ways if way.startswith("goto external")
        ),
        chains="\n".join(chains),
    )


def add_counters(rules: str) -> str:
    """Return a table whose rules count what they match, which those of kube-proxy do not."""
    return _DOING.sub(r"\1counter ", rules)


def _way_in(settings: Settings, port: ServedPort) -> str:
    """Say what becomes of packets to a node port."""
    if not port.endpoints:
        return "goto reject-chain"
    here = any(endpoint.node == settings.node for endpoint in port.endpoints)
    return "drop" if port.local and not here else f"goto external-{port.chain}"


def _elements(lines: Iterator[str] | Sequence[str]) -> str:
    listed = ", ".join(lines)
    return f"elements = {{ {listed} }}" if listed else ""


def _service_key(port: ServedPort) -> str:
    return f"{port.address} . {port.protocol} . {port.port}"


def _port_key(port: ServedPort) -> str:
    return f"{port.protocol} . {port.node_port}"


def _write_chains(settings: Settings, port: ServedPort) -> Iterator[str]:
    """Yield the chains of a port that has endpoints: theirs first, as later ones refer to them."""
    if not port.endpoints:
        return
    for endpoint in port.endpoints:
        yield f"  chain {port.endpoint_chain(endpoint)} {{"
        yield f"    ip saddr {endpoint.address} jump mark-for-masquerade"
        yield f"    meta l4proto {port.protocol} dnat to {endpoint.address}:{endpoint.port}"
        yield "  }"
    yield f"  chain service-{port.chain} {{"
    yield (
        f"    ip daddr {port.address} {port.protocol} dport {port.port} "
        f"ip saddr != {settings.pod_cidr} jump mark-for-masquerade"
    )
    yield _choose(port, port.endpoints)
    yield "  }"
    if port.node_port:
        yield from _write_external(settings, port)


def _write_external(settings: Settings, port: ServedPort) -> Iterator[str]:
    here = tuple(each for each in port.endpoints if each.node == settings.node)
    if port.local and not here:
        return
    yield f"  chain external-{port.chain} {{"
    if port.local:
        yield f'    ip saddr {settings.pod_cidr} goto service-{port.chain} comment "short-circuit"'
        yield "    fib saddr type local jump mark-for-masquerade"
        yield f"    fib saddr type local goto service-{port.chain}"
        yield _choose(port, here)
    else:
        yield "    jump mark-for-masquerade"
        yield f"    goto service-{port.chain}"
    yield "  }"


def _choose(port: ServedPort, endpoints: Sequence[Endpoint]) -> str:
    """Return the rule that draws one of these endpoints."""
    ways = ", ".join(
        f"{number} : goto {port.endpoint_chain(endpoint)}"
        for number, endpoint in enumerate(endpoints)
    )
    return f"    numgen random mod {len(endpoints)} vmap {{ {ways} }}"


class Api:
    """The API, as a kubeconfig of `scripts/cluster` leads to it."""

    def __init__(self, kubeconfig: Path) -> None:
        """Read where it is, and who asks."""
        content = json.loads(kubeconfig.read_text(encoding="utf-8"))
        about = content["clusters"][0]["cluster"]
        authority = base64.b64decode(about["certificate-authority-data"]).decode("ascii")
        self._context = ssl.create_default_context(cadata=authority)
        self._server = about["server"]
        self._token = content["users"][0]["user"]["token"]

    def read(self, kind: str) -> tuple[list[Mapping[str, Any]], str]:
        """List objects, and return the version to watch from."""
        with self._open(f"/api/v1/{kind}") as answer:
            found = json.load(answer)
        return found["items"], found["metadata"]["resourceVersion"]

    def watch(self, kind: str, version: str) -> Iterator[None]:
        """Yield for each change."""
        words = f"?watch=1&timeoutSeconds=300&resourceVersion={version}"
        with self._open(f"/api/v1/{kind}{words}") as answer:
            for _ in answer:
                yield

    def _open(self, path: str) -> Any:  # noqa: ANN401  # urllib's answer
        request = urllib.request.Request(  # noqa: S310  # a server of our own, by https
            self._server + path, headers={"Authorization": f"Bearer {self._token}"}
        )
        return urllib.request.urlopen(request, context=self._context, timeout=330)  # noqa: S310


def _follow(api: Api, kind: str, changed: threading.Event) -> None:
    """Say whenever objects of a kind change, for as long as the node runs."""
    while True:
        try:
            version = api.read(kind)[1]
            changed.set()
            for _ in api.watch(kind, version):
                changed.set()
        except (OSError, ValueError, KeyError) as error:
            print(f"{kind}: {error}", flush=True)
            time.sleep(1)


def main() -> int:
    """Keep a node's table as the API wants it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("kubeconfig", "node", "address", "pod-cidr", "service-cidr"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--counters", action="store_true", help="let rules count what they match")
    asked = parser.parse_args()
    settings = Settings(
        node=asked.node,
        address=asked.address,
        pod_cidr=asked.pod_cidr,
        service_cidr=asked.service_cidr,
    )
    api, changed = Api(Path(asked.kubeconfig)), threading.Event()
    for kind in _KINDS:
        threading.Thread(target=_follow, args=(api, kind, changed), daemon=True).start()
    written = ""
    while True:
        changed.wait()
        changed.clear()
        try:
            (services, _), (endpoints, _) = map(api.read, _KINDS)
            rules = write_rules(settings, list_ports(services, endpoints))
            rules = add_counters(rules) if asked.counters else rules
            if rules != written:
                subprocess.run(("nft", "-f", "-"), input=rules, text=True, check=True)
                written = rules
        except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
            print(f"rules are not written: {error}", flush=True)
            time.sleep(1)
            changed.set()


if __name__ == "__main__":
    sys.exit(main())
