"""Programs that run on the node itself, by the names of their processes.

A process calls itself what it likes (prctl(2), PR_SET_NAME), and on a node run everybody's: a name
says something only where its process is in the node's own network namespace, which a pod is in only
where an admin let it. Which namespace a process is in shows without any right, since each namespace
has files of its own in /proc/PID/net (fs/proc/proc_net.c:get_proc_task_net v6.12).
"""

from __future__ import annotations

from pathlib import Path

_MARK = "net/dev"
"""A file that each network namespace has, by an inode of its own."""


def list_programs(proc: Path) -> dict[str, int]:
    """Return the names of the node's programs, each with one process number; a container sees only
    its own. `proc` is the node's /proc. Where the first process' namespace cannot be told, as in a
    part of /proc, all count.
    """
    node, found = _inode(proc / "1" / _MARK), dict[str, int]()
    try:
        processes = [entry.name for entry in proc.iterdir() if entry.name.isdecimal()]
    except OSError:
        return {}
    for process in processes:
        if node is not None and _inode(proc / process / _MARK) != node:
            continue
        try:
            name = (proc / process / "comm").read_bytes()
        except OSError:
            continue  # it ended meanwhile
        found.setdefault(name.decode("utf-8", "replace").strip(), int(process))
    return found


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
