"""Why routing ends a packet, in the kernel's words: drop reasons change from version to version, so
they are data.

Before v6.14 input routing gave one unnamed reason for everything but the reverse path check
(`net/ipv4/ip_input.c:ip_rcv_finish_core v6.12`); since then each has its own
(`net/ipv4/route.c:ip_route_input_slow v6.14`).
"""

from __future__ import annotations

import re

from podpath.datapath.vocabulary import DropCause
from podpath.net.addresses import Family

REASONS: dict[DropCause, tuple[tuple[tuple[int, int], str], ...]] = {
    DropCause.REVERSE_PATH: (((0, 0), "IP_RPFILTER"),),
    DropCause.LOCAL_SOURCE: (((6, 14), "IP_LOCAL_SOURCE"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.INVALID_SOURCE: (((6, 14), "IP_INVALID_SOURCE"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.INVALID_DESTINATION: (((6, 14), "IP_INVALID_DEST"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.LOCALNET: (((6, 14), "IP_LOCALNET"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.FORWARDING_OFF: (((0, 0), "IP_INADDRERRORS"),),
    DropCause.NO_ROUTE: (((0, 0), "IP_INNOROUTES"),),
    DropCause.BLACKHOLE: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.OUTPUT_NO_ROUTE: (((0, 0), "IP_OUTNOROUTES"),),
    DropCause.NOT_FOR_ONE_HOST: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.GIVEN_TO_SOCKET: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.OTHER_HOST: (((0, 0), "OTHERHOST"),),
    DropCause.BAD_HEADER: (((0, 0), "IP_INHDR"),),
    DropCause.TTL: (((0, 0), "IP_INHDR"),),
    DropCause.TOO_BIG: (((0, 0), "PKT_TOO_BIG"),),
    DropCause.NEIGHBOUR_FAILED: (((0, 0), "NEIGH_FAILED"),),
    DropCause.NEIGHBOUR_PURGED: (((6, 7), "QUEUE_PURGE"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.NO_SOCKET: (((0, 0), "NO_SOCKET"),),
    DropCause.UDP_CHECKSUM: (((0, 0), "UDP_CSUM"),),
    DropCause.DEVICE_DOWN: (((0, 0), "DEV_READY"),),
    DropCause.NO_CARRIER: (((0, 0), "QDISC_DROP"),),
    DropCause.FRAME_TOO_LONG: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.BRIDGE_PORT_STATE: (((6, 14), "BRIDGE_INGRESS_STP_STATE"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.BRIDGE_HELD: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.BRIDGE_FLOODED: (((6, 14), "NO_TX_TARGET"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.VLAN: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.VXLAN_NO_REMOTE: (((6, 13), "NO_TX_TARGET"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.VXLAN_RECURSION: (((6, 18), "RECURSION_LIMIT"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.VXLAN_VNI: (((6, 13), "VXLAN_VNI_NOT_FOUND"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.TUNNEL_END: (((0, 0), "NOT_SPECIFIED"),),
    DropCause.VXLAN_LOOP: (((6, 13), "LOCAL_MAC"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.NO_OUTPUT: (((6, 6), "OVS_DROP_LAST_ACTION"), ((0, 0), "NOT_SPECIFIED")),
    DropCause.REROUTE: (((0, 0), "NETFILTER_DROP"),),
}
"""For each cause, since which version which name: the newest first."""

REASONS6: dict[DropCause, str] = {
    DropCause.NEIGHBOUR_FAILED: "NOT_SPECIFIED",
    DropCause.INVALID_SOURCE: "IP_INADDRERRORS",
}
"""What IPv6 calls some of them: it names fewer (`net/ipv6/ndisc.c:ndisc_error_report v6.18`)."""

MODELLED = (6, 12)
"""The version that counts where the evidence does not name the node's."""

_VERSION = re.compile(r"(\d+)\.(\d+)")


def kernel_version(kernel: str | None) -> tuple[int, int]:
    """Return the version of a kernel (`uname -r`) that decides what it does."""
    found = _VERSION.match(kernel or "")
    if found is not None:
        return (int(found[1]), int(found[2]))
    return MODELLED


def drop_reason(cause: DropCause, kernel: str | None, family: Family = 4) -> str:
    """Return the name that a kernel (`uname -r`) has for a cause of `REASONS`."""
    if family == 6 and cause in REASONS6:
        return REASONS6[cause]
    version = kernel_version(kernel)
    return next(name for since, name in REASONS[cause] if since <= version)
