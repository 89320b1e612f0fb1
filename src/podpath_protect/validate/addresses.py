"""The pod's own addresses and the users it runs as, read without any right."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Family = Literal[4, 6]
SIOCGIFADDR = 0x8915
_CAP_SETUID = 1 << 7


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEnvironment:
    """What the validator finds itself in."""

    uid: int
    may_change_user: bool
    """It has CAP_SETUID: rules for other users can be tried too."""
    addresses: dict[Family, tuple[str, ...]]
    """Addresses of the pod that are neither of the loopback nor link-local, by family."""
    tracked: int | None
    """Connections that conntrack follows in this namespace (nf_conntrack_count); None where the
    file is not there.
    """


def read_surroundings() -> PodEnvironment:
    """Look around: users, addresses, conntrack."""
    return PodEnvironment(
        uid=os.geteuid(),
        may_change_user=bool(_effective_capabilities() & _CAP_SETUID),
        addresses={4: tuple(_addresses_of_ipv4()), 6: tuple(_addresses_of_ipv6())},
        tracked=read_tracked(),
    )


def read_tracked() -> int | None:
    """Return how many connections conntrack follows in this namespace; without NAT rules it follows
    none.
    """
    try:
        return int(Path("/proc/sys/net/netfilter/nf_conntrack_count").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _effective_capabilities() -> int:
    for line in (
        Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    ):
        if line.startswith("CapEff:"):
            return int(line.partition(":")[2], 16)
    return 0


def _addresses_of_ipv4() -> list[str]:
    """Ask each device for its first address (netdevice(7)): enough to know that the family is
    used.
    """
    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as asker:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asker, SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # a device without an address
            address = ipaddress.IPv4Address(answer[20:24])
            if not address.is_loopback and not address.is_link_local:
                found.append(str(address))
    return found


def _addresses_of_ipv6() -> list[str]:
    try:
        lines = Path("/proc/net/if_inet6").read_text(encoding="ascii").splitlines()
    except OSError:
        return []
    addresses = [ipaddress.IPv6Address(bytes.fromhex(line[:32])) for line in lines]
    return [
        str(address)
        for address in addresses
        if not address.is_loopback and not address.is_link_local
    ]
