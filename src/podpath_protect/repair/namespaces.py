"""Which network namespace is a pod's: the one that holds its addresses, found without entering any.

Every process shows the addresses of its namespace in /proc/PID/net (fib_trie and if_inet6), so a
walk over /proc gives all namespaces with their addresses, each by the file that it is bound to, or
by its oldest process. Where two namespaces claim an address (an old sandbox that is not gone yet,
or a tenant who gives another's address to a namespace of its own), the control group of the oldest
process tells which is the pod's, since no tenant can write that; where it does not, neither is
taken: rules in the wrong pod are worse than none. So only namespaces of the pod's own control group
are looked into, or those of none. Namespaces without a process are found where runtimes and
`ip netns` bind them.

Everything here but the control group can be filled by whoever has an unprivileged namespace: names
of devices are bytes, lists of addresses are read so far and no further, and a namespace that has
more costs itself alone.
"""

from __future__ import annotations

import ipaddress
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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
MOST_OF_A_POD = 8
"""Namespaces that are looked into of those in one pod, the oldest first: its sandbox is the first
of all, and whoever is in it may make as many as there are processes.
"""
READ_SECONDS = 5.0
"""How long the namespaces of no pod are looked into, for all pods of one look together."""


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
    """The network namespaces of a node as they were at one moment, whose addresses are read when a
    pod is looked for: of a tenant's many only as many as may be its pod's. Mutable, and of one
    thread.
    """

    def __init__(
        self,
        places: Iterable[NamespacePath],
        host: int,
        read: Callable[[NamespacePath], frozenset[str]],
    ) -> None:
        """Keep what was seen, the oldest first; `host` is the inode of the node's own namespace,
        and `read` returns the addresses of one.
        """
        self._host, self._read = host, read
        self._of_pods: dict[str, list[NamespacePath]] = defaultdict(list)
        for place in places:
            self._of_pods[place.pod].append(place)
        self._known: dict[int, frozenset[str]] = {}
        self._spent = 0.0

    def find(self, addresses: Iterable[str], pod: str = "") -> NamespaceLookup:
        """Return the one namespace that holds all of a pod's addresses; `pod` is its UID."""
        wanted = frozenset(map(_canonical, addresses))
        if not wanted:
            return NamespaceLookup(place=None, why="the pod has no address yet")
        spelled = ", ".join(sorted(wanted))
        mine = self._of_pods.get(pod, ())[:MOST_OF_A_POD] if pod else ()
        found = [place for place in mine if wanted <= self._addresses(place)]
        if not found:
            found = self._search(wanted, "" if pod else None)
            if self._spent > READ_SECONDS:
                why = "the node has more network namespaces than can be looked into"
                return NamespaceLookup(place=None, why=why)
        if not found:
            return NamespaceLookup(
                place=None, why=f"no network namespace of this node holds {spelled}"
            )
        if len(found) > 1:
            return NamespaceLookup(
                place=None,
                why=(
                    f"{len(found)} network namespaces hold {spelled}; it is not clear which is "
                    "the pod's"
                ),
            )
        if found[0].inode == self._host:
            return NamespaceLookup(place=None, why=f"{spelled} is the node's own")
        return NamespaceLookup(place=found[0])

    def _search(self, wanted: frozenset[str], pod: str | None) -> list[NamespacePath]:
        """Return the namespaces that hold all of the addresses among those of no pod, or among all
        where `pod` is None, as far as there is time.
        """
        found = []
        for owner, places in self._of_pods.items():
            for place in places if pod in {None, owner} else ():
                began = time.monotonic()
                if self._spent <= READ_SECONDS and wanted <= self._addresses(place):
                    found.append(place)
                self._spent += time.monotonic() - began
        return found

    def _addresses(self, place: NamespacePath) -> frozenset[str]:
        if place.inode not in self._known:
            self._known[place.inode] = self._read(place)
        return self._known[place.inode]


def read_namespaces(proc: Path = PROC, bound: Iterable[Path] = BOUND) -> Namespaces:
    """Look at every namespace of the node. `proc` is the node's, wherever it is mounted."""
    lasting = _mounts(bound)
    processes: dict[int, Path] = {}
    places: list[NamespacePath] = []
    for place, process in _of_processes(proc):
        processes[place.inode] = process
        places.append(replace(lasting.get(place.inode, place), pod=place.pod))
    places += [place for inode, place in lasting.items() if inode not in processes]

    def read(place: NamespacePath) -> frozenset[str]:
        process = processes.get(place.inode)
        if process is not None:
            found = _read_addresses(process / "net")
            if _inode(process / "ns/net") == place.inode:
                return found  # it has not ended meanwhile, and left its number to another
        bound_to = lasting.get(place.inode)
        if bound_to is None:
            return frozenset()
        return _asked(Path(bound_to.path))

    return Namespaces(places, _inode(proc / "1/ns/net") or 0, read)


def _of_processes(proc: Path) -> Iterator[tuple[NamespacePath, Path]]:
    """Yield each namespace once, by its oldest process: the one that lives longest, which is the
    pod's sandbox. Those whose process was born first come first.
    """
    oldest: dict[int, tuple[int, int]] = {}
    around = _pod_of(proc / "1/cgroup")  # a node that lives in a pod itself
    for entry in os.listdir(proc):  # noqa: PTH208  # names are all that is needed
        if entry.isdecimal():
            inode, born = _inode(proc / entry / "ns/net"), _born(proc / entry / "stat")
            if inode is not None and born is not None:
                oldest[inode] = min(oldest.get(inode, (born, int(entry))), (born, int(entry)))
    for inode, (_, number) in sorted(oldest.items(), key=lambda each: each[1]):
        process = proc / str(number)
        owner = _pod_of(process / "cgroup")
        pod = "" if owner == around else owner
        yield NamespacePath(path=str(process / "ns/net"), inode=inode, pod=pod), process


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
    if told.trouble:
        return frozenset()
    return parse_addresses(told.text, told.text)


def _read_addresses(net: Path) -> frozenset[str]:
    """Read the addresses of a process' namespace; none where there are more than any pod has."""
    four = _read(net / "fib_trie", MOST_TEXT) or ""
    six = _read(net / "if_inet6", MOST_TEXT) or ""  # none where IPv6 is off
    if MOST_TEXT in {len(four), len(six)}:
        return frozenset()
    return parse_addresses(four, six)


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
    if found is None:
        return ""
    return found["uid"].replace("_", "-")


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
