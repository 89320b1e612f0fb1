"""A live node to a bundle: each namespace's state as the tools print it, and who is whose veth
peer, by the numbers that the kernel has for namespaces.

Nothing is changed on the node, and the taking leaves no process behind. A program that is missing
or fails costs its file and a line in `bundle.json`, never the bundle; a namespace that is gone when
its turn comes costs one line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from podpath.capture.workers import AllGather, LostError
from podpath.collect.namespaces import HOST, CollectedNamespace, CollectError, FoundNamespaces
from podpath.collect.netns import NetnsError, inside
from podpath.collect.netns_files import ASPECT_FILES, NETNS_FILES, NODE_FILES, NetnsAspect
from podpath.collect.netns_state import NamespaceState, Taker
from podpath.collect.node_logs import collect_logs
from podpath.collect.parallel import ForkedWorkers
from podpath.collect.sockets import list_owners
from podpath.collect.survey import NamespaceSurvey, held, survey
from podpath.collect.targets import check_target, write_bundle
from podpath.net.counted import Counted

FORMAT = "podpath/bundle/v1"
CNI_DIRECTORY = Path("/etc/cni/net.d")
_CNI_NAME = re.compile(r"\.(?:conf|conflist|json)(?:\.|$)")
_MOST_WORKERS = 8
_WEIGHT = 10
"""What a namespace costs beside its devices, in devices."""
_SHOWN = 8
"""Names of namespaces that a sentence lists."""


def collect_bundle(
    target: Path,
    found: FoundNamespaces | Sequence[CollectedNamespace],
    *,
    now: float,
    progress: Callable[[float], None] = lambda _: None,
    logs: bool = False,
) -> tuple[str, ...]:
    """Write a bundle as a folder, or as the archive that the name says; return a sentence for each
    thing that is missing.
    """
    check_target(target)
    collected = collect_files(found, now=now, progress=progress, logs=logs)
    write_bundle(target, collected.files)
    return collected.missing


class Collected(NamedTuple):
    """A node as a bundle's files."""

    files: Mapping[str, bytes]
    """By their names in the bundle."""
    missing: tuple[str, ...]
    """A sentence for each thing that could not be had."""


def collect_files(
    found: FoundNamespaces | Sequence[CollectedNamespace],
    *,
    now: float,
    progress: Callable[[float], None] = lambda _: None,
    logs: bool = False,
) -> Collected:
    """Ask every namespace and the node, and return what they say; progress is the share that is
    done.
    """
    if os.geteuid() != 0:
        raise CollectError(
            "expected root, since entering network namespaces needs it; run it with sudo"
        )
    if not isinstance(found, FoundNamespaces):
        found = FoundNamespaces(collected=tuple(found))
    files: dict[str, bytes] = {}
    with held({each.name: each.path for each in found.collected}) as descriptors:
        surveyed = survey(descriptors)
        states = _take_all(descriptors, surveyed, progress)
    missing = [sentence for state in states.values() for sentence in state.missing]
    missing += [
        f"{each.name}: it was gone before it was read"
        for each in found.collected
        if each.name not in states
    ]
    for name in surveyed.devices:
        if name in states:
            files |= {f"netns/{name}/{file}": text for file, text in states[name].files.items()}
    host = next(each for each in found.collected if each.name == HOST)
    files |= _collect_node_files(host)
    files |= {f"node/cni/{path.name}": path.read_bytes() for path in _cni_files()}
    if logs:
        files |= {f"logs/{name}": data for name, data in collect_logs()}
    collected = [each for each in found.collected if each.name in states]
    files["bundle.json"] = _emit_manifest(collected, surveyed, now, missing, found)
    return Collected(files, (*missing, *_say_left_out(found.left_out)))


def collect_namespace(
    name: str, path: str, inode: int, aspect: NetnsAspect
) -> NamespaceState | None:
    """Take one namespace by itself, or what of it is asked for; None where it is not the one that
    it was (`inode`) any more.
    """
    names = ASPECT_FILES[aspect]
    commands = [each for each in NETNS_FILES if each.name in names]
    with held({name: path}) as descriptors:
        if name not in descriptors or os.fstat(descriptors[name]).st_ino != inode:
            return None
        devices = survey(descriptors).devices
        if name not in devices:
            return None
        owners = list_owners() if aspect is NetnsAspect.WHOLE else {}
        try:
            with inside(descriptors[name]):
                return Taker(commands, owners).take(name, devices[name])
        except (NetnsError, OSError):
            return None


def _take_all(
    descriptors: Mapping[str, int], surveyed: NamespaceSurvey, progress: Callable[[float], None]
) -> dict[str, NamespaceState]:
    """Take every namespace that could be surveyed, shared by as many processes as there are
    cores.
    """
    owners = list_owners()
    size = min(len(os.sched_getaffinity(0)), _MOST_WORKERS, max(len(surveyed.devices) // 4, 1))
    shares = _deal(surveyed, size)

    def work(number: int, _: AllGather) -> dict[str, NamespaceState]:
        taker = Taker(NETNS_FILES, owners)
        taken: dict[str, NamespaceState] = {}
        for done, name in enumerate(shares[number]):
            if number == 0:
                progress(
                    Counted(done * len(surveyed.devices) // len(shares[0]), len(surveyed.devices))
                )
            try:
                with inside(descriptors[name]):
                    taken[name] = taker.take(name, surveyed.devices[name])
            except (NetnsError, OSError):
                continue
        return taken

    try:
        parts = ForkedWorkers(size).run(work)
    except LostError as error:
        raise CollectError(str(error)) from error
    return {name: state for part in parts for name, state in part.items()}


def _deal(surveyed: NamespaceSurvey, size: int) -> list[list[str]]:
    """Deal the namespaces out so that each worker has about as much to do, the largest first."""
    weights = {name: _WEIGHT + len(devices) for name, devices in surveyed.devices.items()}
    shares: list[list[str]] = [[] for _ in range(size)]
    loads = [0] * size
    for name in sorted(weights, key=weights.__getitem__, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(name)
        loads[least] += weights[name]
    return shares


def _collect_node_files(host: CollectedNamespace) -> dict[str, bytes]:
    """Run what is asked once for the node; what is not there is not missed."""
    files: dict[str, bytes] = {}
    for command in NODE_FILES:
        if shutil.which(command.arguments[0]) is None:
            continue
        done = subprocess.run(
            ("nsenter", f"--net={host.path}", *command.arguments),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0 or done.stdout:
            files[f"node/{command.name}"] = done.stdout
    return files


def _cni_files() -> Iterator[Path]:
    """Return the configurations, set-aside ones too; a kubeconfig beside them holds a token and is
    left where it is.
    """
    if CNI_DIRECTORY.is_dir():
        for path in sorted(CNI_DIRECTORY.iterdir()):
            if _CNI_NAME.search(path.name) and path.is_file() and not path.is_symlink():
                yield path


def _say_left_out(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        (
            f"{len(names)} namespaces that no link leads to from this node: {shown}{more} (--netns "
            "NAME takes one)"
        ),
    )


def _emit_manifest(
    collected: Sequence[CollectedNamespace],
    surveyed: NamespaceSurvey,
    now: float,
    missing: Sequence[str],
    found: FoundNamespaces,
) -> bytes:
    pairs = [
        dict(zip(("netns", "link", "peer_netns", "peer"), pair, strict=True))
        for pair in surveyed.list_pairs()
    ]
    manifest = {
        "format": FORMAT,
        "node": found.node or os.uname().nodename,
        "kernel": os.uname().release,
        "time": now,
        "netns": {each.name: _describe(each, surveyed) for each in collected},
        "veth": pairs,
        "missing": missing,
        "left_out": found.left_out,
    }
    return json.dumps(manifest, indent=1).encode()


def _describe(namespace: CollectedNamespace, surveyed: NamespaceSurvey) -> dict[str, object]:
    """Describe a namespace: its role, its pod, and whom its numbers stand for (`link-netnsid`)."""
    numbers = surveyed.identifiers[namespace.name]
    pod = {} if namespace.pod is None else {"pod": namespace.pod}
    return {
        "role": namespace.role,
        **pod,
        "nsids": {str(number): name for number, name in sorted(numbers.items())},
    }
