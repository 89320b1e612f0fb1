"""A service with two endpoints as the API and as kube-proxy's rules have it, with times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from podpath.library.given import Pasted
from podpath.library.reading import read
from podpath.node.case import Case

TAKEN = 1_795_398_829.0
"""When the node's snapshot was taken: 2026-11-23T01:53:49Z."""
LONG_AGO, JUST_NOW = "2026-11-23T01:40:00Z", "2026-11-23T01:53:40Z"
ENDPOINTS = ("10.244.1.3", "10.244.0.2")

SERVICE = """
- kind: Service
  metadata: {name: api, namespace: shop}
  spec:
    clusterIP: 10.96.54.185
    selector: {app: api}
    ports:
    - name: http
      port: 80
      protocol: TCP
      targetPort: 8080
"""


def iptables(*backends: str) -> str:
    """Return kube-proxy's rules for a service with these endpoints, in iptables."""
    front = "-d 10.96.54.185/32 -p tcp -m tcp --dport 80"
    lines = ["*nat", ":PREROUTING ACCEPT [0:0]", ":KUBE-SERVICES - [0:0]", ":KUBE-SVC-API - [0:0]"]
    lines += [f":KUBE-SEP-{number} - [0:0]" for number, _ in enumerate(backends)]
    lines += ["-A PREROUTING -j KUBE-SERVICES", f"-A KUBE-SERVICES {front} -j KUBE-SVC-API"]
    for number, backend in enumerate(backends):
        lines.append(f"-A KUBE-SVC-API -j KUBE-SEP-{number}")
        lines.append(f"-A KUBE-SEP-{number} -p tcp -m tcp -j DNAT --to-destination {backend}:8080")
    return "\n".join((*lines, "COMMIT"))


def nftables(*backends: str) -> str:
    """Return the same as kube-proxy's nftables mode writes it."""
    goals = ", ".join(f"{number} : goto endpoint-{number}" for number, _ in enumerate(backends))
    chains = "\n".join(
        f"\tchain endpoint-{number} {{\n\t\tmeta l4proto tcp dnat to {backend}:8080\n\t}}"
        for number, backend in enumerate(backends)
    )
    return f"""table ip kube-proxy {{
	map service-ips {{
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = {{ 10.96.54.185 . tcp . 80 : goto service-ABC-shop/api/tcp/http }}
	}}
	chain services {{
		ip daddr . meta l4proto . th dport vmap @service-ips
	}}
	chain service-ABC-shop/api/tcp/http {{
		numgen random mod {len(backends)} vmap {{ {goals} }}
	}}
{chains}
}}"""


def endpoints(ready: Sequence[str], unready: Sequence[str] = (), changed: str = LONG_AGO) -> str:
    """Return the Endpoints of the service."""
    note = f'\n    annotations: {{endpoints.kubernetes.io/last-change-trigger-time: "{changed}"}}'
    lines = [f"- kind: Endpoints\n  metadata:\n    name: api\n    namespace: shop{note}"]
    lines.append("  subsets:")
    lines.append("  - ports:\n    - {name: http, port: 8080, protocol: TCP}")
    for field, addresses in (("addresses", ready), ("notReadyAddresses", unready)):
        if addresses:
            lines.append(f"    {field}:")
            lines += [f"    - ip: {address}" for address in addresses]
    return "\n".join(lines)


def listed(*objects: str, at: str = "2026-11-23T01:53:50Z") -> str:
    """Return objects as one list that says when it was read."""
    items = "\n".join(text.strip("\n") for text in objects)
    moment = f'\nmetadata: {{annotations: {{podpath/listed: "{at}"}}}}' if at else ""
    return f"apiVersion: v1\nkind: List{moment}\nitems:\n{items}\n"


def write_node(folder: Path, rules: str, *, taken: float | None = TAKEN) -> str:
    """Write a bundle of a node with these rules; return where it is."""
    name = "nft.txt" if rules.startswith("table") else "iptables-save.txt"
    place = folder / "netns" / "host"
    place.mkdir(parents=True)
    (place / name).write_text(rules + "\n", encoding="utf-8")
    about = {"format": "podpath/bundle/v1", "node": "node1", "netns": {"host": {"role": "host"}}}
    manifest = about if taken is None else about | {"time": taken}
    (folder / "bundle.json").write_text(json.dumps(manifest), encoding="utf-8")
    return str(folder)


def case_of(folder: Path, rules: str, objects: str, *, taken: float | None = TAKEN) -> Case:
    """Return the case of a node with these rules, and of what the API says."""
    bundle = write_node(folder / "node1", rules, taken=taken)
    return read((bundle, Pasted(objects, "api.yaml"))).facts
