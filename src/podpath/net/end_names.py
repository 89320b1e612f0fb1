"""The ends of a connection as people name them, taken apart: `shop/web-0`, `svc/shop/api:http`,
`node/node1:30080`, `10.0.0.1:80`, `outside`.

Only the spelling is read here. Whether there is such a pod or service, and where it is, is known to
those who hold a cluster's objects; both readers of them take the names from here, so that an end
means the same to whoever takes snapshots and to whoever walks.
"""

from __future__ import annotations

import re
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
}
"""What kubectl calls the kinds."""
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
_EXAMPLES = (
    "pod/shop/web-0, svc/shop/api:http, shop/web-0, node/node1, container/nginx, /run/netns/blue, "
    "10.0.0.1:80 or outside"
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
        namespace, one of any.
        """
        return (
            self.kind in {kind, NameKind.BARE}
            and self.name == name
            and self.namespace in {"", namespace}
        )


def parse_end(text: str) -> EndName:
    """Take an end apart; `UsageError` where it is spelled like none."""
    if text == OUTSIDE:
        return EndName(NameKind.OUTSIDE, text)
    found = _ADDRESS.fullmatch(text)
    if found is not None:
        address = found["v4"] or found["v6"] or found["plain"]
        return EndName(NameKind.ADDRESS, address, port=found["port4"] or found["port6"] or "")
    found = _NETNS.fullmatch(text)
    if found is not None:
        return EndName(NameKind.NETNS, found["name"], port=found["port"] or "")
    found = _NAMED.fullmatch(text)
    if found is None:
        raise UsageError(f"expected {_EXAMPLES}, saw {text!r}")
    kind = _KINDS.get(found["kind"] or "", NameKind.BARE)
    return EndName(kind, found["name"], found["namespace"] or "", found["port"] or "")
