"""Network namespaces with addresses, as pods have them, for the tests of repair."""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from podpath_protect.repair.namespaces import NamespacePath, Namespaces

_NUMBERS = itertools.count(1)


def fresh_addresses() -> tuple[str, str]:
    """Return an IPv4 and an IPv6 address, with prefix lengths, that no other namespace here has:
    runs go side by side.
    """
    process, number = os.getpid() % 65536, next(_NUMBERS) % 256
    return (
        f"10.{100 + process // 256 % 100}.{process % 256}.{number}/32",
        f"fd00:{process:x}::{number:x}/128",
    )


def bare(address: str) -> str:
    """Return an address without its prefix length."""
    return address.partition("/")[0]


def namespaces_of(addresses: Mapping[NamespacePath, str], host: int = 99) -> Namespaces:
    """Return a node whose namespaces hold these addresses, behind blanks."""
    read = {place.inode: frozenset(text.split()) for place, text in addresses.items()}
    return Namespaces(addresses, host, lambda place: read[place.inode])


NONE = namespaces_of({})
"""A node without any pod."""


def ip(*arguments: str) -> None:
    """Run `ip`."""
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def inside(name: str, *command: str, check: bool = True) -> str:
    """Run a program in a namespace, and give what it printed."""
    done = subprocess.run(
        ["ip", "netns", "exec", name, *command], check=check, capture_output=True, text=True
    )
    return done.stdout


@contextmanager
def pod_namespace(*addresses: str) -> Iterator[str]:
    """Make a namespace with a device that has these addresses (with prefix lengths), and default
    routes.
    """
    name = f"prp{os.getpid()}-{next(_NUMBERS)}"
    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", "gw0")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", name, "link", "set", "gw0", "up")
        for address in addresses:
            more = ("nodad",) if ":" in address else ()
            ip("-n", name, "addr", "add", address, "dev", "eth0", *more)
            ip(
                "-n",
                name,
                *(("-6",) if ":" in address else ()),
                "route",
                "add",
                "default",
                "dev",
                "eth0",
            )
        yield name
    finally:
        ip("netns", "del", name)
