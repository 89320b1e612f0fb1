"""Which network namespaces belong to a node, and what each is called.

A machine may hold more than one node: a test, or nodes in containers. Those of a node are its own,
those that links lead to from there, those of pods that its runtime keeps, and those that the user
names. Links are not followed out of the node: not into the machine's own namespace, not into
another node's, which keeps pods, not into what is behind a device that a gateway of the node's is
on, and not into anything that hangs together with one of those without the node between them, such
as a second switch.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from podpath.collect.netlink import NetlinkDevice, open_routing
from podpath.collect.netns import NetnsError, inside
from podpath.collect.runtime_pods import find_pod
from podpath.collect.survey import Edge, NamespaceSurvey, held, survey
from podpath.net.errors import PodpathError

HOST = "host"
"""What a bundle calls the node's own namespace."""
_CLONE_NEWUTS = 0x04000000
_STARTED = 19
"""Where the start stands in /proc/PID/stat, counted from the field after the name."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_libc = ctypes.CDLL(None, use_errno=True)


class CollectError(PodpathError):
    """The world's fault: no root, no such namespace. The message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedNamespace:
    """A network namespace that is collected."""

    name: str
    """As the bundle calls it; `host` for the node's own."""
    path: str
    """A file that stands for it: `/proc/PID/ns/net` or `/run/netns/NAME`."""
    role: str = "pod"
    pod: str | None = None
    """The pod that it is of, as `NAMESPACE/NAME`; None where no runtime says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNamespaces:
    """What is collected, and what was left out."""

    collected: tuple[CollectedNamespace, ...]
    left_out: tuple[str, ...] = ()
    """Names of namespaces of this machine that nothing leads to from the node."""
    node: str | None = None
    """What the node is called; None where that is not known."""


@dataclass(frozen=True, slots=True)
class _MachineNamespace:
    """A namespace of the machine."""

    inode: int
    path: str
    process: int | None
    """The oldest process in it."""
    called: str | None
    """Its name under /run/netns."""
    pod: str | None = None
    keeper: int | None = None
    """The inode of the namespace in which the pod's runtime lives."""


def find_namespaces(
    proc: Path = Path("/proc"),
    named: Path = Path("/run/netns"),
    *,
    node: str | None = None,
    wanted: Collection[str] = (),
) -> FoundNamespaces:
    """Find the namespaces of a node, the node's own first.

    `node` is the node's own namespace (a name under /run/netns, a process, or a file), where that
    is not the one of process 1; `wanted` are names of others to take, linked or not.
    """
    candidates = {each.inode: each for each in _list_candidates(proc, named)}
    home = _find_home(proc, named, node)
    host = candidates.pop(home.stat().st_ino, None)
    if host is None:
        raise CollectError(f"expected a network namespace at {home}, saw none that processes use")
    whole = host.inode == _inode(proc / "1/ns/net")  # this machine is the node
    machine = None if whole else _inode(_find_home(proc, named, None))
    names = _name_all(candidates.values())
    if machine in names:
        names[machine] = "machine"
    paths = {HOST: str(home)} | {name: candidates[inode].path for inode, name in names.items()}
    with held(paths) as descriptors:
        found = survey(descriptors)
        uplinks = frozenset() if whole else _list_uplinks(found, descriptors[HOST])
    own = {name for inode, name in names.items() if candidates[inode].keeper == host.inode}
    others = {each.keeper for each in candidates.values()} | {machine}
    apart = frozenset() if whole else _list_apart(found, uplinks, _pick(names, others), own)
    belonging = _spread(found, {HOST}, apart) | own
    taken, left_out = _part_candidates(candidates, names, belonging, frozenset(wanted))
    return FoundNamespaces(
        collected=(CollectedNamespace(name=HOST, path=str(home), role="host"), *taken),
        left_out=left_out,
        node=_name_node(proc, node, host),
    )


def _part_candidates(
    candidates: Mapping[int, _MachineNamespace],
    names: Mapping[int, str],
    belonging: Collection[str],
    wanted: frozenset[str],
) -> tuple[list[CollectedNamespace], tuple[str, ...]]:
    """Return the namespaces that are the node's or asked for, and the names of the others."""
    taken: list[CollectedNamespace] = []
    left_out: list[str] = []
    for inode, name in names.items():
        each = candidates[inode]
        called = {name, each.called, each.pod, str(each.process)}
        if name in belonging or called & wanted:
            taken.append(CollectedNamespace(name=name, path=each.path, pod=each.pod))
        else:
            left_out.append(name)
    return taken, tuple(left_out)


def _name_node(proc: Path, node: str | None, host: _MachineNamespace) -> str | None:
    """Return what a process in the node's own namespace calls the node: the one that was asked
    for, else the oldest one.
    """
    asked = node is not None and node.isdigit() and (proc / node).exists()
    holder = int(node) if node is not None and asked else host.process
    if holder is None:
        return None
    return _host_name(holder) or None


def find_own(node: str | None = None) -> str:
    """Return the file that stands for a node's own namespace, as `find_namespaces` takes it."""
    return str(_find_home(Path("/proc"), Path("/run/netns"), node))


def _list_candidates(proc: Path, named: Path) -> Iterator[_MachineNamespace]:
    """Yield every namespace that a process lives in or that has a name."""
    oldest: dict[int, int] = {}
    processes = (int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())
    for process in sorted(processes, key=lambda each: (_started(proc, each), each)):
        inode = _inode(proc / str(process) / "ns/net")
        if inode is not None:
            oldest.setdefault(inode, process)
    if not oldest:
        raise CollectError(f"expected processes under {proc}, saw none")
    called = _named_namespaces(named)
    for inode, process in oldest.items():
        path = str(proc / str(process) / "ns/net")
        plain = _MachineNamespace(inode, path, process, called.get(inode))
        pod = find_pod(process, proc)
        if pod is None:
            yield plain
        else:
            keeper = _inode(proc / str(pod.keeper) / "ns/net")
            yield replace(plain, pod=f"{pod.namespace}/{pod.name}", keeper=keeper)
    for inode, name in called.items():
        if inode not in oldest:
            yield _MachineNamespace(inode, str(named / name), None, name)


def _started(proc: Path, process: int) -> int:
    """Return when a process started, in ticks since boot (proc_pid_stat(5), field 22). Numbers do
    not tell: they begin anew once they have run out.
    """
    try:
        stat = (proc / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    fields = stat.rpartition(")")[2].split()  # the name before may hold anything
    if len(fields) > _STARTED:
        return int(fields[_STARTED])
    return 0


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _named_namespaces(named: Path) -> dict[int, str]:
    """Return the names that `ip netns` and CNI plugins keep, by the namespace's inode."""
    found: dict[int, str] = {}
    for path in sorted(named.iterdir()) if named.is_dir() else ():
        if _UNSAFE.search(path.name) is None and os.path.ismount(path):
            found.setdefault(path.stat().st_ino, path.name)
    return found


def _find_home(proc: Path, named: Path, node: str | None) -> Path:
    """Return the node's own namespace: the one that is asked for, else process 1's, or where that
    may not be looked at (a container) the one we are in.
    """
    if node is not None:
        tried = (proc / node / "ns/net", named / node, Path(node))
        for path in tried[0 if node.isdigit() else 1 :]:
            if _inode(path) is not None:
                return path
        raise CollectError(f"expected a network namespace, a process or a file, saw {node!r}")
    first = proc / "1/ns/net"
    if _inode(first) is not None:
        return first
    return proc / "self/ns/net"


def _name_all(candidates: Iterable[_MachineNamespace]) -> dict[int, str]:
    """Return a name for each namespace, no two alike: the pod's, the host name that its oldest
    process sees, or what `ip netns` calls it. Pods of one name bear their namespace as well.
    """
    wishes = {each.inode: _wish(each) for each in candidates}
    pods = [each for each in candidates if each.pod is not None]
    counted: dict[str, int] = {}
    for pod in pods:
        counted[wishes[pod.inode]] = counted.get(wishes[pod.inode], 0) + 1
    for pod in pods:
        if counted[wishes[pod.inode]] > 1 and pod.pod is not None:
            wishes[pod.inode] = _UNSAFE.sub("-", pod.pod.replace("/", "."))
    names: dict[int, str] = {}
    taken = {HOST}
    # what is certain of its name chooses first
    for each in sorted(candidates, key=lambda each: (each.pod is None, each.process or 0)):
        wish = wishes[each.inode]
        name = wish if wish not in taken else f"{wish}-{each.process or each.inode}"
        taken.add(name)
        names[each.inode] = name
    return names


def _wish(candidate: _MachineNamespace) -> str:
    if candidate.pod is not None:
        return _UNSAFE.sub("-", candidate.pod.rpartition("/")[2])
    host_name = "" if candidate.process is None else _host_name(candidate.process)
    if host_name and host_name != os.uname().nodename:
        return host_name
    return candidate.called or f"pid-{candidate.process}"


def _host_name(process: int) -> str:
    """Return the host name that a process sees; none where it may not be looked at."""
    try:
        with _named_as(process):
            return _UNSAFE.sub("-", os.uname().nodename)
    except OSError:
        return ""


@contextmanager
def _named_as(process: int) -> Iterator[None]:
    """Be in a process's UTS namespace for a block (setns(2))."""
    home = os.open("/proc/thread-self/ns/uts", os.O_RDONLY)
    try:
        there = os.open(f"/proc/{process}/ns/uts", os.O_RDONLY)
        try:
            if _libc.setns(there, _CLONE_NEWUTS) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(there)
        try:
            yield
        finally:
            _libc.setns(home, _CLONE_NEWUTS)
    finally:
        os.close(home)


def _pick(names: Mapping[int, str], inodes: Collection[int | None]) -> frozenset[str]:
    return frozenset(name for inode, name in names.items() if inode in inodes)


def _list_apart(
    found: NamespaceSurvey, uplinks: Collection[str], others: Collection[str], own: Collection[str]
) -> frozenset[str]:
    """Return what does not belong to the node: other nodes, what is behind the node's uplinks, and
    what links join with those on a way that neither the node nor a pod of its own is on.
    """
    behind = (_far_of_uplink(found, edge, uplinks) for edge in found.list_edges())
    first = {*others, *(name for name in behind if name is not None)} - {HOST, *own}
    return _spread(found, first, {HOST, *own})


def _far_of_uplink(found: NamespaceSurvey, edge: Edge, uplinks: Collection[str]) -> str | None:
    """Return the namespace that an uplink leads to; None for any other link, such as that of a
    pod's device which sits on the uplink.
    """
    if edge.netns == HOST:
        return edge.other if edge.device.name in uplinks else None
    if edge.other != HOST or edge.device.kind != "veth":
        return None
    far = (each.name for each in found.devices[HOST] if each.ifindex == edge.device.link)
    return edge.netns if next(far, None) in uplinks else None


def _spread(
    found: NamespaceSurvey, first: Collection[str], closed: Collection[str]
) -> frozenset[str]:
    """Return the namespaces that links lead to from the first ones, in either direction, those
    included; none that is closed is entered.
    """
    ways: dict[str, set[str]] = {}
    for edge in found.list_edges():
        ways.setdefault(edge.netns, set()).add(edge.other)
        ways.setdefault(edge.other, set()).add(edge.netns)
    reached, open_ends = set(first), list(first)
    while open_ends:
        for name in ways.get(open_ends.pop(), set()) - reached - set(closed):
            reached.add(name)
            open_ends.append(name)
    return frozenset(reached)


def _list_uplinks(found: NamespaceSurvey, descriptor: int) -> frozenset[str]:
    """Return the devices that lead out of the node: those that a route with a gateway goes over,
    and those that they sit on or consist of.
    """
    try:
        with inside(descriptor), open_routing() as kernel:
            outward = set(kernel.list_gateway_devices())
    except (NetnsError, OSError):
        return frozenset()
    devices = found.devices.get(HOST, ())
    known = 0
    while known < len(outward):
        known = len(outward)
        outward |= {each.ifindex for each in devices if _carries(found, each, outward, devices)}
    return frozenset(each.name for each in devices if each.ifindex in outward)


def _carries(
    found: NamespaceSurvey,
    device: NetlinkDevice,
    outward: Collection[int],
    devices: Sequence[NetlinkDevice],
) -> bool:
    """Tell whether what others send leaves by a device: a VLAN's or macvlan's parent, a slave, and
    of a bridge's ports any but those of pods. A veth is plugged into a switch where its far end is
    a bridge's port, too.
    """
    if any(
        each.link == device.ifindex and each.identifier is None and each.kind != "veth"
        for each in devices
        if each.ifindex in outward
    ):
        return True
    if device.master not in outward:
        return False
    if device.kind != "veth":
        return True
    there = found.find_other(HOST, device)
    far = () if there in {None, HOST} else found.devices[there]
    return any(each.ifindex == device.link and each.master is not None for each in far)


def list_inodes(found: FoundNamespaces) -> Mapping[int, str]:
    """Return the names of collected namespaces by their inodes; what is gone is left out."""
    inodes = ((_inode(Path(each.path)), each.name) for each in found.collected)
    return {inode: name for inode, name in inodes if inode is not None}
