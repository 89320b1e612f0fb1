"""Which ways to fail a sort of cause cannot make: a silent drop never refuses, and a port without listener never hangs.

Only what is sure stands here. A cause that no row rules out may make any failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podpath.checks.category import Category
from podpath.net.failures import FailureKind as Kind

_SILENT = frozenset({Kind.REFUSED, Kind.NOT_PERMITTED})
"""What a packet that vanishes on the way cannot look like to its sender."""

CANNOT: Mapping[Category, frozenset[Kind]] = {
    Category.REVERSE_PATH_FILTER: _SILENT,
    Category.IP_FORWARD: _SILENT,
    Category.TUNNEL_CHECKSUM: _SILENT,
    Category.TUNNEL_BLOCKED: _SILENT,
    Category.MTU: _SILENT | {Kind.NO_ROUTE_TO_HOST, Kind.NETWORK_UNREACHABLE},
    Category.NO_LISTENER: frozenset({Kind.NO_ROUTE_TO_HOST, Kind.NETWORK_UNREACHABLE, Kind.NOT_PERMITTED, Kind.NO_ADDRESS}),
}
"""By sort of cause, seen on Linux 6: a router that does not forward, or that drops by rp_filter, tells the sender nothing.

Rules are not in it: REJECT returns ECONNREFUSED for port-unreachable and tcp-reset, EHOSTUNREACH for host-unreachable,
host-prohibited and admin-prohibited, ENETUNREACH for the two of the net; a DROP is silent, for TCP in OUTPUT too. A sysctl is
how another sort comes about.
"""


def can_make(categories: Iterable[Category], kinds: frozenset[Kind]) -> bool:
    """Tell whether a cause of these sorts may make one of the failures; where none is stated, any may."""
    excluded = [CANNOT.get(category, frozenset()) for category in categories if category is not Category.SYSCTL]
    return not kinds or not excluded or any(kinds - impossible for impossible in excluded)
