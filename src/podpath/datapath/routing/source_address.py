"""Which of its addresses a host takes as its own toward somewhere: `inet_select_addr`, and for
IPv6 `ipv6_dev_get_saddr`, which follows RFC 6724.

In IPv4: the first primary address of the device whose subnet holds the next hop, else the device's
first primary one, else one of any other device; never a secondary one, and never what a route's
`src` says (`net/ipv4/devinet.c:inet_select_addr v6.12`).
"""

from __future__ import annotations

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk import settings
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Known
from podpath.node.links import InterfaceAddress, Link

SCOPES = {"global": 0, "universe": 0, "site": 200, "link": 253, "host": 254, "nowhere": 255}
"""`enum rt_scope_t`: a larger number reaches less far."""


def scope_number(scope: str) -> int:
    """Return a scope's number; a numeric one is spelled as a number."""
    if scope in SCOPES:
        return SCOPES[scope]
    return settings.integer(scope)


def select_address(
    namespace: Namespace,
    link: Link,
    nexthop: Address | None,
    scope: str = "global",
    family: int = 4,
) -> InterfaceAddress | None:
    """Return the address that the kernel takes on a device toward a next hop; None where the
    namespace has none that fits.
    """
    limit = scope_number(scope)
    cap = SCOPES["link"] if _routes_localnet(namespace, link) else SCOPES["host"]
    first: InterfaceAddress | None = None
    for item in namespace.by_link.get(link.name, ()):
        if (
            item.secondary
            or item.address.family != family
            or min(scope_number(item.scope), cap) > limit
        ):
            continue
        if nexthop is None or item.prefix.covers(nexthop):
            return item
        first = first or item
    return first or _elsewhere(namespace, limit, family)


_LINK_LOCAL, _GLOBAL = 2, 14
"""Scopes of addresses (RFC 4291, 2.7); that of ::1 counts as the former."""
_LABELS = tuple(
    (Prefix.parse(text), label)
    for text, label in (
        ("::1/128", 0), ("::ffff:0:0/96", 4), ("::/96", 3), ("2001::/32", 6), ("2001:10::/28", 7),
        ("3ffe::/16", 12), ("2002::/16", 2), ("fec0::/10", 11), ("fc00::/7", 5), ("::/0", 1),
    )
)  # fmt: skip
"""The kernel's own labels, the longest prefix first (`net/ipv6/addrlabel.c v6.12`)."""


def select_address6(namespace: Namespace, link: Link, target: Address) -> Address | None:
    """Return the IPv6 address that is the best source toward a target on a device
    (`net/ipv6/addrconf.c:ipv6_dev_get_saddr v6.12`); None where there is none. Which are
    deprecated or temporary is not known.
    """
    narrow = target.is_link_local or target.is_multicast
    links = (link,) if narrow else namespace.ordered
    candidates = [
        item
        for each in links
        for item in namespace.by_link.get(each.name, ())
        if item.address.family == 6 and not item.tentative
    ]
    best = max(candidates, key=lambda item: _rank(item, link, target), default=None)
    return best.address if best is not None else None


def _rank(item: InterfaceAddress, link: Link, target: Address) -> tuple[int, ...]:
    """Rank a candidate by the rules 1, 2, 5, 6 and 8."""
    scope, wanted = _scope(item.address), _scope(target)
    common = 128 - (item.address.value ^ target.value).bit_length()
    return (
        item.address == target,
        -scope if scope >= wanted else scope - 128,
        item.link == link.name,
        _label(item.address) == _label(target),
        min(common, item.length),
    )


def _scope(address: Address) -> int:
    if address.is_multicast:
        return address.value >> 112 & 15
    if address.is_link_local or address.is_loopback:
        return _LINK_LOCAL
    return _GLOBAL


def _label(address: Address) -> int:
    return next(label for prefix, label in _LABELS if prefix.covers(address))


def _elsewhere(namespace: Namespace, limit: int, family: int) -> InterfaceAddress | None:
    for other in namespace.ordered:
        for item in namespace.by_link.get(other.name, ()):
            reach = scope_number(item.scope)
            if (
                not item.secondary
                and item.address.family == family
                and reach != SCOPES["link"]
                and reach <= limit
            ):
                return item
    return None


def _routes_localnet(namespace: Namespace, link: Link) -> bool:
    for device in (settings.ALL, link.name):
        fact = settings.device_fact(namespace, settings.ROUTE_LOCALNET, device)
        if isinstance(fact, Known) and fact.value == "1":
            return True
    return False
