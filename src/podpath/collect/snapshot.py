"""A live node to a bundle: each namespace's state as the tools print it, and who is whose veth
peer.

Nothing is changed on the node, and the taking leaves no process behind. A program that is missing
or fails costs its file and a line in `bundle.json`, never the bundle.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from podpath.collect.netns import NetnsError, peer_identifier
from podpath.collect.netns_files import NETNS_FILES, NODE_FILES, FileCommand
from podpath.collect.node_logs import collect_logs
from podpath.collect.targets import check_target, write_bundle
from podpath.net.errors import PodpathError

FORMAT = "podpath/bundle/v1"
CNI_DIRECTORY = Path("/etc/cni/net.d")
_CNI_NAME = re.compile(r"\.(?:conf|conflist|json)(?:\.|$)")
_LISTING = re.compile(r'\s*(?:\{\s*"nftables"\s*:\s*)?\[\s*')
_BETWEEN = re.compile(r"\s*,?\s*")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


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


def find_namespaces(
    proc: Path = Path("/proc"), named: Path = Path("/run/netns")
) -> tuple[CollectedNamespace, ...]:
    """Find the network namespaces of this node, the host's first, one name each.

    A namespace is named after the host name that its oldest process sees: in a pod, that is the
    pod's name. Where that is the node's own name, or no process lives there, it is called as `ip
    netns` calls it.
    """
    oldest: dict[int, int] = {}
    for process in sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()):
        try:
            inode = (proc / str(process) / "ns/net").stat().st_ino
        except OSError:
            continue
        oldest.setdefault(inode, process)
    if not oldest:
        raise CollectError(f"expected processes under {proc}, saw none")
    home = _home(proc)
    host = home.stat().st_ino
    called = _named_namespaces(named)
    namespaces = [CollectedNamespace(name="host", path=str(home), role="host")]
    names = {"host"}
    for inode, process in oldest.items():
        if inode != host:
            name = _host_name(process)
            if not name or name == os.uname().nodename:
                name = called.get(inode, f"pid-{process}")
            unique = name if name not in names else f"{name}-{process}"
            names.add(unique)
            namespaces.append(
                CollectedNamespace(name=unique, path=str(proc / str(process) / "ns/net"))
            )
    for inode, name in called.items():
        if inode not in oldest and inode != host and name not in names:
            namespaces.append(CollectedNamespace(name=name, path=str(named / name)))
    return tuple(namespaces)


def _named_namespaces(named: Path) -> dict[int, str]:
    """Return the names that `ip netns` and CNI plugins keep, by the namespace's inode."""
    found: dict[int, str] = {}
    for path in sorted(named.iterdir()) if named.is_dir() else ():
        if _UNSAFE.search(path.name) is None and os.path.ismount(path):
            found.setdefault(path.stat().st_ino, path.name)
    return found


def _home(proc: Path) -> Path:
    """Return the node's own namespace: process 1's, or where that may not be looked at (a
    container) the one we are in.
    """
    first = proc / "1/ns/net"
    try:
        first.stat()
    except OSError:
        return proc / "self/ns/net"
    return first


def _host_name(process: int) -> str:
    done = subprocess.run(
        ("nsenter", "-t", str(process), "-u", "hostname"),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return _UNSAFE.sub("-", done.stdout.strip())


def collect_bundle(
    target: Path,
    namespaces: tuple[CollectedNamespace, ...],
    *,
    now: float,
    progress: Callable[[str], None] = lambda _: None,
    logs: bool = False,
) -> tuple[str, ...]:
    """Write a bundle as a folder, or as the archive that the name says; return a sentence for each
    thing that is missing.
    """
    check_target(target)
    collected = collect_files(namespaces, now=now, progress=progress, logs=logs)
    write_bundle(target, collected.files)
    return collected.missing


class Collected(NamedTuple):
    """A node as a bundle's files."""

    files: Mapping[str, bytes]
    """By their names in the bundle."""
    missing: tuple[str, ...]
    """A sentence for each thing that could not be had."""


def collect_files(
    namespaces: tuple[CollectedNamespace, ...],
    *,
    now: float,
    progress: Callable[[str], None] = lambda _: None,
    logs: bool = False,
) -> Collected:
    """Ask every namespace and the node, and give what they say."""
    if os.geteuid() != 0:
        raise CollectError(
            "expected root, since entering network namespaces needs it; run it with sudo"
        )
    missing: list[str] = []
    files: dict[str, bytes] = {}
    for namespace in namespaces:
        progress(namespace.name)
        for name, text in _collect_commands(NETNS_FILES, namespace, missing):
            files[f"netns/{namespace.name}/{name}"] = text
    host = next(namespace for namespace in namespaces if namespace.name == "host")
    for name, text in _collect_commands(NODE_FILES, host, []):
        files[f"node/{name}"] = text
    files |= {f"node/cni/{path.name}": path.read_bytes() for path in _cni_files()}
    if logs:
        progress("logs")
        files |= {f"logs/{name}": data for name, data in collect_logs()}
    files["bundle.json"] = _emit_manifest(namespaces, files, now, missing)
    return Collected(files, tuple(missing))


def _collect_commands(
    commands: tuple[FileCommand, ...], namespace: CollectedNamespace, missing: list[str]
) -> Iterator[tuple[str, bytes]]:
    for command in commands:
        program = command.arguments[0]
        if shutil.which(program) is None:
            missing.append(
                f"{namespace.name}: {program} is not installed (Debian package {command.package})"
            )
            continue
        done = subprocess.run(
            ("nsenter", f"--net={namespace.path}", *command.arguments),
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0 and not done.stdout:
            reason = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            missing.append(f"{namespace.name}: `{' '.join(command.arguments)}` failed: {reason}")
            continue
        yield (
            command.name,
            put_in_lines(done.stdout) if command.name.endswith(".json") else done.stdout,
        )


def put_in_lines(listing: bytes) -> bytes:
    """Return a JSON listing with one of its objects to a line, so that a quoted line is one fact;
    as it is where it is none.

    The text of each object stays as it was printed: iproute2 repeats keys, which a decoded object
    would lose.
    """
    text = listing.decode("utf-8", "surrogateescape")
    opening = _LISTING.match(text)
    if opening is None:
        return listing
    decoder, place, objects = json.JSONDecoder(), opening.end(), []
    try:
        while text[place : place + 1] == "{":
            _, end = decoder.raw_decode(text, place)
            objects.append(text[place:end].replace("\n", " "))
            following = _BETWEEN.match(text, end)
            place = following.end() if following is not None else end
    except (ValueError, RecursionError):
        return listing
    lines = "\n".join(
        (text[: opening.end()].strip(), ",\n".join(objects), text[place:].strip(), "")
    )
    whole = bool(objects) and text[place : place + 1] == "]"
    return lines.encode("utf-8", "surrogateescape") if whole else listing


def _cni_files() -> Iterator[Path]:
    """Return the configurations, set-aside ones too; a kubeconfig beside them holds a token and is
    left where it is.
    """
    if CNI_DIRECTORY.is_dir():
        for path in sorted(CNI_DIRECTORY.iterdir()):
            if _CNI_NAME.search(path.name) and path.is_file() and not path.is_symlink():
                yield path


def _emit_manifest(
    namespaces: tuple[CollectedNamespace, ...],
    files: Mapping[str, bytes],
    now: float,
    missing: list[str],
) -> bytes:
    manifest = {
        "format": FORMAT,
        "node": os.uname().nodename,
        "kernel": os.uname().release,
        "time": now,
        "netns": {namespace.name: {"role": namespace.role} for namespace in namespaces},
        "veth": _pair_veths(namespaces, files),
        "missing": missing,
    }
    return json.dumps(manifest, indent=1).encode()


def _pair_veths(
    namespaces: tuple[CollectedNamespace, ...], files: Mapping[str, bytes]
) -> list[dict[str, str]]:
    """Pair veth ends by the indices that each names for the other, and the namespace id where the
    pair could be another.
    """
    ends = [
        (namespace, link)
        for namespace in namespaces
        for link in json.loads(files.get(f"netns/{namespace.name}/ip-link.json") or b"[]")
        if link.get("linkinfo", {}).get("info_kind") == "veth"
    ]
    identifiers = {
        namespace.name: _peer_identifiers(namespace, namespaces) for namespace, _ in ends
    }
    pairs = []
    for namespace, link in ends:
        there = (
            namespace.name
            if "link_netnsid" not in link
            else identifiers[namespace.name].get(link["link_netnsid"])
        )
        index = link.get("link_index")
        for other, far in ends:
            same = far["ifname"] == link.get("link") or far["ifindex"] == index
            if (
                other.name == there
                and same
                and (namespace.name, link["ifname"]) < (other.name, far["ifname"])
            ):
                pairs.append(
                    {
                        "netns": namespace.name,
                        "link": link["ifname"],
                        "peer_netns": other.name,
                        "peer": far["ifname"],
                    }
                )
    return pairs


def _peer_identifiers(
    namespace: CollectedNamespace, namespaces: tuple[CollectedNamespace, ...]
) -> dict[int, str]:
    known: dict[int, str] = {}
    for other in namespaces:
        try:
            number = peer_identifier(namespace.path, other.path) if other is not namespace else None
        except (NetnsError, OSError):
            continue  # it went while the node was asked: pods come and go
        if number is not None:
            known[number] = other.name
    return known
