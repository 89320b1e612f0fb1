"""Which pod a process is of: what the container runtime wrote beside the container.

Each container has a bundle, a folder whose `config.json` names the pod (OCI runtime specification).
It is the working directory of containerd's shim, and an argument of CRI-O's conmon; both are
parents of the pod's first process. No runtime is asked, so it need not run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_NAMED = (
    ("io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name"),
    ("io.kubernetes.pod.namespace", "io.kubernetes.pod.name"),
)
"""The annotations of containerd, and of CRI-O."""
_BUNDLE_OPTIONS = ("-b", "--bundle")
_DEPTH = 4
"""Parents that are looked at: a pod's first process is the shim's own child, or its grandchild."""
_MOST = 1 << 22
"""Bytes of a specification that are read; 10,000 are usual."""


class RuntimePod(NamedTuple):
    """A pod as its runtime knows it."""

    namespace: str
    name: str
    keeper: int
    """The process of the runtime that keeps the pod: it lives where the node does."""

    def __str__(self) -> str:
        """Spell it as kubectl does."""
        return f"{self.namespace}/{self.name}"


def find_pod(process: int, proc: Path) -> RuntimePod | None:
    """Find the pod that a process is of; None where no runtime says."""
    for keeper in _list_parents(process, proc):
        for bundle in _list_bundles(proc / str(keeper)):
            named = _read_names(bundle / "config.json")
            if named is not None:
                return RuntimePod(*named, keeper)
    return None


def _list_parents(process: int, proc: Path) -> Iterator[int]:
    for _ in range(_DEPTH):
        try:
            status = (proc / str(process) / "stat").read_bytes()
        except OSError:
            return
        process = int(status.rpartition(b")")[2].split()[1])  # the name may hold anything
        if process <= 1:
            return
        yield process


def _list_bundles(keeper: Path) -> Iterator[Path]:
    yield keeper / "cwd"
    with suppress(OSError):
        words = (keeper / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        for option, value in pairwise(words):
            if option in _BUNDLE_OPTIONS:
                yield keeper / "root" / value.lstrip("/")


def _read_names(specification: Path) -> tuple[str, str] | None:
    try:
        with specification.open("rb") as file:
            content = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):
        return None
    notes = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(notes, dict):
        return None
    for keys in _NAMED:
        namespace, name = (notes.get(key) for key in keys)
        if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
            return namespace, name
    return None
