"""Which network namespace is a pod's: the one that holds its addresses, found without entering any.

Every process shows the addresses of its namespace in /proc/PID/net (fib_trie and if_inet6), so a
walk over /proc gives all namespaces with their addresses, each by the file that it is bound to, or
by its oldest process. Where two namespaces claim an address (an old sandbox that is not gone yet,
or a tenant who gives another's address to a namespace of its own), the control group of the oldest
process tells which is the pod's, since no tenant can write that; where it does not, neither is
taken: rules in the wrong pod are worse than none. Namespaces without a process are found where
runtimes and `ip netns` bind them.

Everything here but the control group can be filled by whoever has an unprivileged namespace: names
of devices are bytes, lists of addresses are read so far and no further, and a namespace that has
more costs itself alone.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from podpath_protect.repair.programs import read_program

PROC = Path("/proc")
BOUND = (Path("/run/netns"), Path("/run/docker/netns"))
_SIX = re.compile(r"^([0-9a-f]{32}) ", re.MULTILINE)
_LOCAL = re.compile(r"\|-- ([0-9]{1,3}(?:\.[0-9]{1,3}){3})\n\s+/32 host LOCAL")
_POD = re.compile(
    r"[/-]pod(?P<uid>[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?=[./\n]|$)"
)
"""A pod's control group: `pod6a2b0c9e-0000-...` of cgroupfs, `kubepods-pod6a2b0c9e_0000_....slice`
of systemd; a static pod's UID is 32 digits.
"""
_SECONDS = 5.0
MOST_TEXT = 1 << 20
"""What is read of a namespace's addresses: 8,000 and more. No pod with that many is looked for."""
_CGROUP = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacePath:
    """A network namespace, and the file that leads into it."""

    path: str
    inode: int
    pod: str = ""
    """The UID of the pod whose control group its oldest process is in; empty where none shows."""


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

    def find(self, addresses: Iterable[str], pod: str = "") -> NamespaceLookup:
        """Return the one namespace that holds all of a pod's addresses; `pod` is its UID."""
        wanted = [_canonical(address) for address in addresses]
        if not wanted:
            return NamespaceLookup(place=None, why="the pod has no address yet")
        holding = [self._by_address.get(address, ()) for address in wanted]
        first = {place.inode: place for place in holding[0]}
        shared = set(first)
        for places in holding[1:]:
            shared &= {place.inode for place in places}
        spelled = ", ".join(wanted)
        mine = {inode for inode in shared if pod and first[inode].pod == pod}
        shared = mine or {inode for inode in shared if not (pod and first[inode].pod)}
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
            bound_to = lasting.get(place.inode, place)
            by_address[address].append(replace(bound_to, pod=place.pod))
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
    around = _pod_of(proc / "1/cgroup")  # a node that lives in a pod itself
    for entry in os.listdir(proc):  # noqa: PTH208  # names are all that is needed
        if entry.isdecimal():
            inode, born = _inode(proc / entry / "ns/net"), _born(proc / entry / "stat")
            if inode is not None and born is not None:
                oldest[inode] = min(oldest.get(inode, (born, int(entry))), (born, int(entry)))
    for inode, (_, process) in oldest.items():
        found = _addresses(proc / str(process) / "net")
        if found is not None:
            owner = _pod_of(proc / str(process) / "cgroup")
            yield (
                NamespacePath(
                    path=str(proc / str(process) / "ns/net"),
                    inode=inode,
                    pod="" if owner == around else owner,
                ),
                found,
            )


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
    told = read_program(command, seconds=_SECONDS, most=MOST_TEXT)
    return frozenset() if told.trouble else parse_addresses(told.text, told.text)


def _addresses(net: Path) -> frozenset[str] | None:
    four = _read(net / "fib_trie", MOST_TEXT)
    if four is None or len(four) >= MOST_TEXT:
        return None
    six = _read(net / "if_inet6", MOST_TEXT) or ""  # none where IPv6 is off
    return None if len(six) >= MOST_TEXT else parse_addresses(four, six)


def _read(path: Path, most: int) -> str | None:
    """Read a text of the kernel's so far and no further; None where it cannot be read. Names in it
    are bytes of anybody's choice.
    """
    try:
        with path.open("rb") as file:
            return file.read(most).decode("ascii", "replace")
    except OSError:
        return None


def _pod_of(cgroup: Path) -> str:
    """Return the UID of the pod in whose control group a process is (kubelet,
    `cm/pod_container_manager_linux.go`); empty where it is in none.
    """
    found = _POD.search(_read(cgroup, _CGROUP) or "")
    return "" if found is None else found["uid"].replace("_", "-")


def parse_addresses(fib_trie: str, if_inet6: str) -> frozenset[str]:
    """Read a namespace's own addresses from /proc/net's texts
    (net/ipv4/fib_trie.c:fib_trie_seq_show v6.12); no loopback's.
    """
    four = (match[1] for match in _LOCAL.finditer(fib_trie))
    six = (str(ipaddress.IPv6Address(int(word, 16))) for word in _SIX.findall(if_inet6))
    return frozenset(address for address in (*four, *six) if not _own_to_everyone(address))


def _own_to_everyone(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return True
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
        content = stat.read_bytes()
    except OSError:
        return None
    fields = content.rpartition(b")")[2].split()
    return int(fields[19]) if len(fields) > 19 else None
