"""cilium-backend-missing: a service of Cilium's load balancer has no backend.

What it is
    `cilium bpf lb list` shows the service with 0.0.0.0:0 alone: no backend is in the map.

Why it breaks
    Cilium's programs refuse a connection to such a service (EPERM or ICMP), also those of the host, the agent's own
    to the API server included. The service has no ready endpoint, or the agent's maps went wrong.

How to confirm
    cilium bpf lb list; cilium service list; kubectl get endpointslices -A

How to fix
    Where Kubernetes has endpoints and the map has none: restart the agent, upgrade it; else mend the service's
    endpoints.

References
    Cilium, Kubernetes Without kube-proxy
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.BPF,
    Category.KUBE_PROXY,
    Category.NO_ENDPOINTS,
)
NAME = "cilium-backend-missing"
KINDS = (MessageKind.BPF_BACKEND_MISSING,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    service = get_value(said, "service", default="the service")
    meaning = Meaning(
        claim=f"Cilium's load balancer has no backend for {service}, so its BPF programs refuse connections to it.",
        breaks="connections to that service",
        cure="restart the agent so that it fills its maps, or give the service endpoints",
        commands=("cilium bpf lb list",),
    )
    yield tell(NAME, said, meaning)
