"""Which kinds of objects are read from an API server, by which path and with which right, and what
of each object is kept.

What an environment variable, an argument or a header of a probe holds may be a secret and decides
no path, so it is left where it is: of a pod only named fields are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ApiItem = dict[str, Any]
"""An object of the API, as its JSON has it."""

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation that holds a copy of the whole object, its environment variables too."""
_BOOKKEEPING = ("managedFields", "selfLink", "generateName")
_POD = (
    "nodeName", "hostNetwork", "dnsPolicy", "dnsConfig", "hostAliases", "readinessGates",
    "hostname", "subdomain", "priority", "terminationGracePeriodSeconds",
)  # fmt: skip
_CONTAINER = ("name", "ports")
_PROBES = ("readinessProbe", "livenessProbe", "startupProbe")
_CONTAINER_STATUS = ("name", "ready", "started", "restartCount", "state", "lastState")
_NODE_STATUS = ("addresses", "conditions", "nodeInfo", "daemonEndpoints")


def keep_all(item: ApiItem) -> ApiItem:
    """Return an object without the API server's bookkeeping."""
    about = {
        key: value for key, value in item.get("metadata", {}).items() if key not in _BOOKKEEPING
    }
    notes = {key: value for key, value in about.pop("annotations", {}).items() if key != APPLIED}
    if notes:
        about["annotations"] = notes
    return item | {"metadata": about}


def keep_changes(item: ApiItem) -> ApiItem:
    """Return an object with when each of its managers last changed it."""
    kept = keep_all(item)
    managers = item.get("metadata", {}).get("managedFields") or []
    changes = [_pick(each, ("manager", "operation", "time")) for each in managers]
    if changes:
        kept["metadata"] = kept["metadata"] | {"managedFields": changes}
    return kept


def keep_pod(item: ApiItem) -> ApiItem:
    """Return what of a pod decides paths: where it runs, its addresses, ports and probes."""
    kept = keep_all(item)
    spec, status = item.get("spec", {}), item.get("status", {})
    kept["spec"] = _pick(spec, _POD)
    for key in ("initContainers", "containers"):
        if spec.get(key):
            kept["spec"][key] = [_keep_container(each) for each in spec[key]]
    statuses = ("initContainerStatuses", "containerStatuses")
    kept["status"] = {key: value for key, value in status.items() if key not in statuses}
    for key in statuses:
        if status.get(key):
            kept["status"][key] = [_pick(each, _CONTAINER_STATUS) for each in status[key]]
    return kept


def keep_node(item: ApiItem) -> ApiItem:
    """Return what of a node decides paths; the list of its images is most of it and tells
    nothing.
    """
    return keep_all(item) | {"status": _pick(item.get("status", {}), _NODE_STATUS)}


def _keep_container(container: ApiItem) -> ApiItem:
    kept = _pick(container, _CONTAINER)
    for name in _PROBES:
        if name in container:
            kept[name] = _keep_probe(container[name])
    return kept


def _keep_probe(probe: ApiItem) -> ApiItem:
    kept = {key: value for key, value in probe.items() if key != "exec"}
    if "httpGet" in kept:
        kept["httpGet"] = _pick(kept["httpGet"], ("host", "path", "port", "scheme"))
    return kept


def _pick(item: ApiItem, names: tuple[str, ...]) -> ApiItem:
    return {name: item[name] for name in names if name in item}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKind:
    """One kind of objects."""

    resource: str
    """As RBAC names it: `pods`."""
    kind: str
    """As an object says it of itself: `Pod`."""
    group: str = ""
    """Its API group; empty for the core's."""
    versions: tuple[str, ...] = ("v1",)
    """Those that servers have it in, the newest first."""
    namespaced: bool = True
    required: bool = False
    """Whether nothing can be answered without it."""
    keep: Callable[[ApiItem], ApiItem] = keep_all

    def paths(self, namespace: str | None = None) -> tuple[str, ...]:
        """Return where a server may list it, the newest version first."""
        within = f"namespaces/{namespace}/" if namespace and self.namespaced else ""
        root = f"/apis/{self.group}" if self.group else "/api"
        return tuple(f"{root}/{version}/{within}{self.resource}" for version in self.versions)

    @property
    def rule(self) -> Mapping[str, tuple[str, ...]]:
        """Return the RBAC rule that lets somebody list it."""
        return {"apiGroups": (self.group,), "resources": (self.resource,), "verbs": ("list",)}


SLICES = ApiKind(
    resource="endpointslices",
    kind="EndpointSlice",
    group="discovery.k8s.io",
    versions=("v1", "v1beta1"),  # v1 since Kubernetes 1.21; v1beta1 until 1.24
    keep=keep_changes,
)
PODS = ApiKind(resource="pods", kind="Pod", required=True, keep=keep_pod)
ENDPOINTS = ApiKind(resource="endpoints", kind="Endpoints", required=True, keep=keep_changes)
NODES = ApiKind(resource="nodes", kind="Node", namespaced=False, required=True, keep=keep_node)
KINDS: tuple[ApiKind, ...] = (
    PODS,
    ApiKind(resource="services", kind="Service", required=True),
    NODES,
    ENDPOINTS,
    SLICES,
    ApiKind(resource="networkpolicies", kind="NetworkPolicy", group="networking.k8s.io"),
    ApiKind(resource="namespaces", kind="Namespace", namespaced=False),
)
"""What `why` needs, and `deploy/why` grants."""
