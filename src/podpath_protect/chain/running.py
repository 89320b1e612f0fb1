"""Which container runtime a node runs, by its processes: containerd, CRI-O, or both.

A node has one runtime, and what another would load from the same folder is nobody's business. What
counts are the node's own programs, since a pod's may call themselves what they like; where
processes cannot be seen, or both runtimes run, both count, as they did before anybody looked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from podpath.cni.runtimes import CONTAINERD, CRIO
from podpath_protect.processes import list_programs

LOOK_SECONDS: Final = 60.0
PROGRAMS: Final = {"containerd": CONTAINERD, "crio": CRIO}


class RunningRuntimes:
    """Looks now and then, and remembers what ran last: a runtime that restarts is the same one.
    Mutable, and of one thread.
    """

    def __init__(self, clock: Callable[[], float], proc: Path = Path("/proc")) -> None:
        """Keep where to look."""
        self._clock, self._proc = clock, proc
        self._looked = float("-inf")
        self._known: frozenset[str] = frozenset()

    def look(self) -> frozenset[str]:
        """Return the runtimes that run, or ran when one did last; none where none was ever seen."""
        now = self._clock()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._known = find_runtimes(self._proc) or self._known
        return self._known


def find_runtimes(proc: Path) -> frozenset[str]:
    """Return the runtimes among the node's own programs."""
    return frozenset(PROGRAMS[name] for name in PROGRAMS.keys() & list_programs(proc).keys())
