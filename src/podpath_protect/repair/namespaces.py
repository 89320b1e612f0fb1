"""Which network namespace is a pod's: the one that holds its addresses, found without entering any.

Every process shows the addresses of its namespace in /proc/PID/net (fib_trie and if_inet6), so a
walk over /proc gives all namespaces with their addresses, each by the file that it is bound to, or
by its oldest process. Where two namespaces claim an address (an old sandbox that is not gone yet),
neither is taken: rules in the wrong pod are worse than none. Namespaces without a process are found
where runtimes and `ip netns` bind them.
"""

from __future__ import annotations

import ipaddress
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
BOUND = (Path("/run/netns"), Path("/run/docker/netns"))
_LOCAL = re.compile(r"\|-- (\d+\.\d+\.\d+\.\d+)\n\s+/32 host LOCAL")
_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePath:
    """A network namespace, and the file that leads into it."""

    path: str
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceLookup:
    """The namespace of a pod, or why none is known."""

    place: NamespacePath | None
    why: str = ""


class Namespaces:
    """The network namespaces of a node by the addresses that they hold, as they were at one
    moment.
    """

    def __init__(self, by_address: Mapping[str, tuple[NamespacePath, ...]], host: int) -> None:
        """Keep what was seen; `host` is the inode of the node's own namespace."""
        self._by_address, self._host = by_address, host

    def find(self, addresses: Iterable[str]) -> NamespaceLookup:
        """Return the one namespace that holds all of a pod's addresses."""
        wanted = [_canonical(address) for address in addresses]
        if not wanted:
            return NamespaceLookup(place=None, why="the pod has no address yet")
        holding = [self._by_address.get(address, ()) for address in wanted]
        first = {place.inode: place for place in holding[0]}
        shared = set(first)
        for places in holding[1:]:
            shared &= {place.inode for place in places}
        spelled = ", ".join(wanted)
        if not shared:
            return NamespaceLookup(
                place=None, why=f"no network namespace of this node holds {spelled}"
            )
        if len(shared) > 1:
            return NamespaceLookup(
                place=None,
                why=(
                    f"{len(shared)} network namespaces hold {spelled}; it is not clear which is "
                    "the pod's"
                ),
            )
        place = first[shared.pop()]
        if place.inode == self._host:
            return NamespaceLookup(place=None, why=f"{spelled} is the node's own")
        return NamespaceLookup(place=place)


def read_namespaces(proc: Path = PROC, bound: Iterable[Path] = BOUND) -> Namespaces:
    """Look at every namespace of the node. `proc` is the node's, wherever it is mounted."""
    by_address: dict[str, list[NamespacePath]] = defaultdict(list)
    lasting = _mounts(bound)
    seen: set[int] = set()
    for place, addresses in _of_processes(proc):
        seen.add(place.inode)
        for address in addresses:
            by_address[address].append(lasting.get(place.inode, place))
    for inode, place in lasting.items():
        for address in () if inode in seen else _asked(Path(place.path)):
            by_address[address].append(place)
    return Namespaces(
        {address: tuple(places) for address, places in by_address.items()},
        _inode(proc / "1/ns/net") or 0,
    )


def _of_processes(proc: Path) -> Iterator[tuple[NamespacePath, frozenset[str]]]:
    """Yield each namespace once, by its oldest process: the one that lives longest, which is the
    pod's sandbox.
    """
    oldest: dict[int, tuple[int, int]] = {}
    for entry in os.listdir(proc):  # noqa: PTH208  # names are all that is needed
        if entry.isdecimal():
            inode, born = _inode(proc / entry / "ns/net"), _born(proc / entry / "stat")
            if inode is not None and born is not None:
                oldest[inode] = min(oldest.get(inode, (born, int(entry))), (born, int(entry)))
    for inode, (_, process) in oldest.items():
        found = _addresses(proc / str(process) / "net")
        if found is not None:
            yield NamespacePath(path=str(proc / str(process) / "ns/net"), inode=inode), found


def _mounts(bound: Iterable[Path]) -> dict[int, NamespacePath]:
    """Return the namespaces that are bound to a file: that file outlives every process in them."""
    found: dict[int, NamespacePath] = {}
    for folder in bound:
        try:
            names = sorted(os.listdir(folder))  # noqa: PTH208  # as above
        except OSError:
            continue
        for name in names:
            inode = _inode(folder / name)
            if inode is not None:
                found.setdefault(inode, NamespacePath(path=str(folder / name), inode=inode))
    return found


def _asked(path: Path) -> frozenset[str]:
    """Read the addresses of a namespace in which nobody lives, by a program that goes in; none
    where it cannot.
    """
    command = (
        "nsenter",
        f"--net={path}",
        "cat",
        "/proc/thread-self/net/fib_trie",
        "/proc/thread-self/net/if_inet6",
    )
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return parse_addresses(done.stdout, done.stdout)


def _addresses(net: Path) -> frozenset[str] | None:
    try:
        four = (net / "fib_trie").read_text(encoding="ascii")
    except OSError:
        return None
    try:
        six = (net / "if_inet6").read_text(encoding="ascii")
    except OSError:  # IPv6 is off
        six = ""
    return parse_addresses(four, six)


def parse_addresses(fib_trie: str, if_inet6: str) -> frozenset[str]:
    """Read a namespace's own addresses from /proc/net's texts
    (net/ipv4/fib_trie.c:fib_trie_seq_show v6.12); no loopback's.
    """
    four = (match[1] for match in _LOCAL.finditer(fib_trie))
    words = (
        line.split() for line in if_inet6.splitlines()
    )  # six columns of the kernel's own making
    six = (
        str(ipaddress.IPv6Address(int(row[0], 16)))
        for row in words
        if len(row) == 6 and len(row[0]) == 32
    )
    return frozenset(address for address in (*four, *six) if not _own_to_everyone(address))


def _own_to_everyone(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return parsed.is_loopback or parsed.is_link_local


def _canonical(address: str) -> str:
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _born(stat: Path) -> int | None:
    """Read when a process began, in ticks since boot: field 22, behind the name
    (fs/proc/array.c:do_task_stat v6.12).
    """
    try:
        content = stat.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = content.rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 else None
