"""Which container runtime a node runs, by its processes: containerd, CRI-O, or both.

A node has one runtime, and what another would load from the same folder is nobody's business. The
name of a process (/proc/PID/comm) is what its program is called; where processes cannot be seen, or
both runtimes run, both count, as they did before anybody looked.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from podpath.cni.runtimes import CONTAINERD, CRIO

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
    """Return the runtimes among the processes."""
    found = set()
    for path in proc.glob("[0-9]*/comm"):
        try:
            name = path.read_bytes().strip().decode("ascii", errors="replace")
        except OSError:
            continue  # it ended meanwhile
        if name in PROGRAMS:
            found.add(PROGRAMS[name])
    return frozenset(found)
