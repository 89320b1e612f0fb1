"""Why routing ends a packet, in the kernel's words: drop reasons change from version to version, so
they are data.

Before v6.14 input routing gave one unnamed reason for everything but the reverse path check
(`net/ipv4/ip_input.c:ip_rcv_finish_core v6.12`); since then each has its own
(`net/ipv4/route.c:ip_route_input_slow v6.14`).
"""

from __future__ import annotations

import re

REASONS: dict[str, tuple[tuple[tuple[int, int], str], ...]] = {
    "reverse path": (((0, 0), "IP_RPFILTER"),),
    "local source": (((6, 14), "IP_LOCAL_SOURCE"), ((0, 0), "NOT_SPECIFIED")),
    "invalid source": (((6, 14), "IP_INVALID_SOURCE"), ((0, 0), "NOT_SPECIFIED")),
    "invalid destination": (((6, 14), "IP_INVALID_DEST"), ((0, 0), "NOT_SPECIFIED")),
    "localnet": (((6, 14), "IP_LOCALNET"), ((0, 0), "NOT_SPECIFIED")),
    "forwarding off": (((0, 0), "IP_INADDRERRORS"),),
    "no route": (((0, 0), "IP_INNOROUTES"),),
    "blackhole": (((0, 0), "NOT_SPECIFIED"),),
    "output no route": (((0, 0), "IP_OUTNOROUTES"),),
    "not for one host": (((0, 0), "NOT_SPECIFIED"),),
    "other host": (((0, 0), "OTHERHOST"),),
    "ttl": (((0, 0), "IP_INHDR"),),
    "too big": (((0, 0), "PKT_TOO_BIG"),),
    "neighbour failed": (((0, 0), "NEIGH_FAILED"),),
    "no socket": (((0, 0), "NO_SOCKET"),),
    "device down": (((0, 0), "DEV_READY"),),
    "bridge port state": (((6, 14), "BRIDGE_INGRESS_STP_STATE"), ((0, 0), "NOT_SPECIFIED")),
    "bridge held": (((0, 0), "NOT_SPECIFIED"),),
    "vlan": (((0, 0), "NOT_SPECIFIED"),),
    "vxlan no remote": (((6, 13), "VXLAN_NO_REMOTE"), ((0, 0), "NOT_SPECIFIED")),
    "vxlan recursion": (((6, 18), "RECURSION_LIMIT"), ((0, 0), "NOT_SPECIFIED")),
    "reroute": (((0, 0), "NETFILTER_DROP"),),
}
"""For each cause, since which version which name: the newest first."""

MODELLED = (6, 12)
"""The version that counts where the evidence does not name the node's."""

_VERSION = re.compile(r"(\d+)\.(\d+)")


def drop_reason(cause: str, kernel: str | None) -> str:
    """Return the name that a kernel (`uname -r`) has for a cause of `REASONS`."""
    found = _VERSION.match(kernel or "")
    version = (int(found[1]), int(found[2])) if found is not None else MODELLED
    return next(name for since, name in REASONS[cause] if since <= version)
