"""What checks of single facts ask of a case: statements by type, what a device's name tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from podpath.net.addresses import read_address
from podpath.net.provenance import Span
from podpath.node.case import Case, Stated
from podpath.node.node import Netns

T = TypeVar("T")

_INNER_BRIDGE = re.compile(
    r"(?:docker\d|br-(?!\d{4}$)[0-9a-f]{4,12}|cni\d|cni-podman\d|podman\d|cbr\d|lxcbr\d|"
    r"lxdbr\d|virbr\d|kube-bridge|weave)$"
)
"""Docker's own may be shortened by whoever pastes them; four digits are a VLAN's number."""
_PROMPT_HOST = re.compile(r"[\w.-]+\]?@\[?(?P<host>[A-Za-z0-9][\w.-]*)")
_TUNNEL = re.compile(
    r"(?:flannel|vxlan|geneve|cilium|tunl|wg|tun|tap|ppp|weave|genev|ovs|ovn|antrea|sit|gre|ip6tnl|"
    r"tailscale|nordlynx|utun)"
)


def statements_of(case: Case, kind: type[T]) -> Iterator[tuple[T, Stated]]:
    """Yield the statements of a type, each with where it stands."""
    for stated in case.stated:
        if isinstance(stated.statement, kind):
            yield stated.statement, stated


def read_host(span: Span) -> str:
    """Return the host that an output's bundle or prompt (`user@host`) names, without its domain;
    empty where neither names one.
    """
    found = _PROMPT_HOST.search(span.source.prompt or "")
    host = span.source.host or (found["host"] if found is not None else "")
    return host if read_address(host) is not None else host.partition(".")[0]


def may_be_of_one_host(spans: Iterable[Span | None]) -> bool:
    """Tell whether no two outputs name different hosts."""
    return len({read_host(span) for span in spans if span is not None} - {""}) < 2


def is_typed_on(case: Case, span: Span, host: str) -> bool:
    """Tell whether an output is of a host of that name: by its own name for it, else by a prompt
    without a user, or as the case's only host.
    """
    named = read_host(span)
    if named:
        return named == host.partition(".")[0]
    own = rf"(?<![\w.-]){re.escape(host)}(?![\w-])"
    return host == case.node.name or re.search(own, span.source.prompt or "") is not None


def is_inner_bridge(name: str) -> bool:
    """Tell whether a device's name is that of a bridge for containers or guests behind the host."""
    return _INNER_BRIDGE.match(name) is not None


def has_inner_bridge(host: Netns) -> bool:
    """Tell whether a host is known to have a bridge for containers or guests."""
    return any(is_inner_bridge(str(link.name)) for link in host.links.items)


def is_tunnel(name: str) -> bool:
    """Tell whether a device's name is that of an overlay's or a VPN's device."""
    return _TUNNEL.match(name) is not None


def uplinks(namespace: Netns) -> frozenset[str]:
    """Return the devices of the default routes that outputs list."""
    defaults = (
        route for route in namespace.routes.items if route.prefix.length == 0 and not route.inferred
    )
    return frozenset(
        str(hop.link) for route in defaults for hop in route.nexthops if hop.link is not None
    )


def spans_of(found: Iterable[object]) -> tuple[Span, ...]:
    """Return the spans of facts that have one, each once."""
    spans = (getattr(one, "span", None) for one in found)
    return tuple(dict.fromkeys(span for span in spans if span is not None))
