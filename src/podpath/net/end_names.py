"""The ends of a connection as people name them, taken apart: `shop/web-0`, `svc/shop/api:http`,
`deploy/shop/api`, `api.shop.svc.cluster.local:80`, `node/node1:30080`, `10.0.0.1:80`, `outside`.

Only the spelling is read here. Whether there is such a pod or service, and where it is, is known to
those who hold a cluster's objects; both readers of them take the names from here, so that an end
means the same to whoever takes snapshots and to whoever walks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from podpath.net.errors import UsageError

OUTSIDE = "outside"
"""The word for a client that is not of the cluster."""


class NameKind(StrEnum):
    """What an end is said to be."""

    POD = "pod"
    SERVICE = "svc"
    NODE = "node"
    CONTAINER = "container"
    DEPLOYMENT = "deploy"
    STATEFUL_SET = "sts"
    DAEMON_SET = "ds"
    JOB = "job"
    NETNS = "netns"
    ADDRESS = "address"
    OUTSIDE = "outside"
    BARE = "bare"
    """It does not say: a pod, a service or a node."""


_KINDS = {
    "po": NameKind.POD,
    "pod": NameKind.POD,
    "pods": NameKind.POD,
    "svc": NameKind.SERVICE,
    "service": NameKind.SERVICE,
    "services": NameKind.SERVICE,
    "no": NameKind.NODE,
    "node": NameKind.NODE,
    "nodes": NameKind.NODE,
    "co": NameKind.CONTAINER,
    "container": NameKind.CONTAINER,
    "containers": NameKind.CONTAINER,
    "deploy": NameKind.DEPLOYMENT,
    "deployment": NameKind.DEPLOYMENT,
    "deployments": NameKind.DEPLOYMENT,
    "sts": NameKind.STATEFUL_SET,
    "statefulset": NameKind.STATEFUL_SET,
    "statefulsets": NameKind.STATEFUL_SET,
    "ds": NameKind.DAEMON_SET,
    "daemonset": NameKind.DAEMON_SET,
    "daemonsets": NameKind.DAEMON_SET,
    "job": NameKind.JOB,
    "jobs": NameKind.JOB,
}
"""What kubectl calls the kinds."""
_OWNERS = {
    NameKind.DEPLOYMENT: "ReplicaSet",
    NameKind.STATEFUL_SET: "StatefulSet",
    NameKind.DAEMON_SET: "DaemonSet",
    NameKind.JOB: "Job",
}
"""By which kind of object each workload owns its pods; a Deployment has ReplicaSets for that."""
WORKLOADS = frozenset(_OWNERS)
"""Kinds that stand for one of their pods."""
_NAMED = re.compile(
    r"(?:(?P<kind>KINDS)/)?(?:(?P<namespace>[a-z0-9][a-z0-9.-]*)/)?"
    r"(?P<name>[a-z0-9][a-z0-9.-]*)(?::(?P<port>[\w-]+))?".replace("KINDS", "|".join(_KINDS))
)
_NETNS = re.compile(r"(?:netns/|(?:/var)?/run/netns/)(?P<name>[^:\s]+)(?::(?P<port>[\w-]+))?")
_ADDRESS = re.compile(
    r"(?P<v4>[0-9.]+)(?::(?P<port4>\d+))?"
    r"|\[(?P<v6>[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)\](?::(?P<port6>\d+))?"
    r"|(?P<plain>[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)"
)
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_DNS = re.compile(
    rf"(?:(?P<host>{_LABEL})\.)?(?P<name>{_LABEL})\.(?P<namespace>{_LABEL})\.(?P<kind>svc|pod)"
    rf"(?:\.{_LABEL})*\.?(?::(?P<port>[\w-]+))?"
)
"""A name of the cluster's DNS: `api.shop.svc.cluster.local`, `web-0.web.shop.svc`,
`10-244-1-5.shop.pod.cluster.local`.
"""
_URL = re.compile(r"(?P<scheme>https?)://(?P<end>[^/?#\s]+)(?:[/?#]\S*)?")
_URL_PORTS = {"http": "80", "https": "443"}
_ROUTED = re.compile(r"(?:ing|ingress(?:es)?|gtw|gateways?|httproutes?)/\S+")
"""What kubectl calls objects that have no address of their own."""
_EXAMPLES = (
    "pod/shop/web-0, svc/shop/api:http, shop/web-0, deploy/shop/api, "
    "api.shop.svc.cluster.local:80, node/node1, container/nginx, /run/netns/blue, 10.0.0.1:80 or "
    "outside"
)


class EndName(NamedTuple):
    """An end, taken apart."""

    kind: NameKind
    name: str
    namespace: str = ""
    """The Kubernetes namespace; empty where the end names none."""
    port: str = ""
    """A number, or the name of a port; empty where the end has none."""

    def may_name(self, kind: NameKind, namespace: str, name: str) -> bool:
        """Tell whether an object of this kind and name may be meant: where the end names no
        namespace, one of any. A bare `api.shop` may be a service as pods' resolvers take it.
        """
        if self.kind not in {kind, NameKind.BARE}:
            return False
        if self.name == name and self.namespace in {"", namespace}:
            return True
        searched = self.kind is NameKind.BARE and kind is NameKind.SERVICE and not self.namespace
        return searched and bool(namespace) and self.name == f"{name}.{namespace}"

    @property
    def is_foreign(self) -> bool:
        """Tell whether a bare name looks like one of DNS: two labels, the last one no number."""
        labels = self.name.split(".")
        within = self.kind is NameKind.BARE and not self.namespace
        return within and len(labels) > 1 and labels[-1].isalpha()

    def __str__(self) -> str:
        """Spell it in full, without its port."""
        within = f"{self.namespace}/" if self.namespace else ""
        kind = "" if self.kind in _WITHOUT_KIND else f"{self.kind}/"
        return f"{kind}{within}{self.name}"


_WITHOUT_KIND = frozenset({NameKind.ADDRESS, NameKind.BARE, NameKind.OUTSIDE})


class OwnedPod(NamedTuple):
    """What of a pod tells whether a workload stands for it, and whether it can be an end."""

    namespace: str
    name: str
    owner_kind: str
    """Of its controller: `ReplicaSet`; empty where it has none or no output shows it."""
    owner: str
    template: str
    """The label `pod-template-hash`, which stands behind its Deployment's name in its owner's."""
    ready: bool
    has_address: bool

    def is_of(self, end: EndName) -> bool:
        """Tell whether it belongs to the workload that an end names."""
        owner = f"{end.name}-{self.template}" if end.kind is NameKind.DEPLOYMENT else end.name
        owned = (self.owner_kind, self.owner) == (_OWNERS.get(end.kind), owner)
        return owned and end.namespace in {"", self.namespace}


def parse_end(text: str) -> EndName:
    """Take an end apart; `UsageError` where it is spelled like none."""
    if text == OUTSIDE:
        return EndName(NameKind.OUTSIDE, text)
    url = _URL.fullmatch(text)
    if url is not None:
        end = parse_end(url["end"])
        return end._replace(port=end.port or _URL_PORTS[url["scheme"]])
    found = _ADDRESS.fullmatch(text)
    if found is not None:
        address = found["v4"] or found["v6"] or found["plain"]
        return EndName(NameKind.ADDRESS, address, port=found["port4"] or found["port6"] or "")
    found = _NETNS.fullmatch(text)
    if found is not None:
        return EndName(NameKind.NETNS, found["name"], port=found["port"] or "")
    found = _DNS.fullmatch(text)
    if found is not None:
        return _read_dns(found)
    found = _NAMED.fullmatch(text)
    if found is None and _ROUTED.fullmatch(text):
        raise UsageError(
            f"{text!r} has no address of its own: ask about the service of its controller, from "
            "outside, and from the controller's pod about the service that it leads to"
        )
    if found is None:
        raise UsageError(f"expected {_EXAMPLES}, saw {text!r}")
    kind = _KINDS.get(found["kind"] or "", NameKind.BARE)
    return EndName(kind, found["name"], found["namespace"] or "", found["port"] or "")


def read_ends(texts: Iterable[str]) -> Iterator[EndName]:
    """Yield ends taken apart, without what is spelled like none: whoever walks says so of that."""
    for text in texts:
        try:
            yield parse_end(text)
        except UsageError:
            continue


def _read_dns(found: re.Match[str]) -> EndName:
    """Return what a name of the cluster's DNS stands for: a service, the pod of that host name
    behind one, or a pod by its address.
    """
    namespace, port = found["namespace"], found["port"] or ""
    if found["kind"] == "svc":
        if found["host"]:
            return EndName(NameKind.POD, found["host"], namespace, port)
        return EndName(NameKind.SERVICE, found["name"], namespace, port)
    dashed = found["name"]
    address = dashed.replace("-", "." if dashed.count("-") == _DOTS else ":")
    return EndName(NameKind.ADDRESS, address, namespace, port)


_DOTS = 3
"""Dots in an IPv4 address."""


def choose(end: EndName, known: Iterable[EndName], near: Collection[str] = ()) -> list[EndName]:
    """Return those of what is known that an end may name. Where it names no namespace, those of the
    namespaces that are near come before all others.
    """
    found = [each for each in known if end.may_name(each.kind, each.namespace, each.name)]
    nearest = [each for each in found if each.namespace in {"", *near}]
    if near and nearest and not end.namespace:
        return nearest
    return found


def list_owned(
    end: EndName, pods: Iterable[OwnedPod], near: Collection[str] = ()
) -> list[OwnedPod]:
    """Return the pods of the workload that an end names, those first that are ready, then those
    that have an address; `UsageError` where two namespaces have such a workload.
    """
    found = [pod for pod in pods if pod.is_of(end)]
    nearest = [pod for pod in found if pod.namespace in near]
    found = nearest if nearest and not end.namespace else found
    spaces = sorted({pod.namespace for pod in found})
    if len(spaces) > 1:
        spelled = " or ".join(str(end._replace(namespace=space)) for space in spaces)
        raise UsageError(f"{str(end)!r} may be {spelled}: write which")
    return sorted(found, key=lambda pod: (not pod.ready, not pod.has_address, pod.name))


def name_workloads(kind: NameKind, pods: Iterable[OwnedPod]) -> Iterator[str]:
    """Yield the workloads of a kind that own pods, spelled in full."""
    for pod in pods:
        if pod.owner_kind == _OWNERS.get(kind):
            hashed = kind is NameKind.DEPLOYMENT and pod.template
            name = pod.owner.removesuffix(f"-{pod.template}") if hashed else pod.owner
            yield str(EndName(kind, name, pod.namespace))
