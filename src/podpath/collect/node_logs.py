"""What a bundle holds of a node's logs: the journal of the last hours, the kernel's ring buffer,
the histories of packages.

Logs are the one part of a bundle that may be endless, and that may hold what is nobody's business:
each is cut to its end, and the caller may leave them out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST = 4 << 20
"""Bytes of each log: its end is taken, since what broke was working a while ago."""
HOURS = 6


class LogCommand(NamedTuple):
    """One log that a program prints."""

    name: str
    arguments: tuple[str, ...]


COMMANDS: tuple[LogCommand, ...] = (
    LogCommand(
        "journal.txt",
        ("journalctl", "--quiet", "--no-pager", "--output=short-iso-precise", f"--since=-{HOURS}h"),
    ),
    LogCommand("dmesg.txt", ("dmesg", "--time-format", "iso")),
    LogCommand("rpm-last.txt", ("rpm", "-qa", "--last")),
)
FILES: tuple[str, ...] = (
    "dpkg.log",
    "apt/history.log",
    "yum.log",
    "dnf.rpm.log",
    "audit/audit.log",
)
"""Below /var/log; what the journal does not have."""
SYSLOGS: tuple[str, ...] = ("messages", "syslog", "kern.log")
"""The same lines as the journal's, where there is one: taken only where it printed nothing."""


def collect_logs(folder: Path = Path("/var/log")) -> Iterator[tuple[str, bytes]]:
    """Yield the logs that there are, each with its name in a bundle and its end."""
    journal = b""
    for command in COMMANDS:
        text = _run(command.arguments)
        if command.name == COMMANDS[0].name:
            journal = text
        if text:
            yield command.name, text
    for name in (*FILES, *(() if journal else SYSLOGS)):
        text = read_end(folder / name)
        if text:
            yield name.replace("/", "-"), text


def _run(arguments: tuple[str, ...]) -> bytes:
    """Return the end of what a program prints; nothing where it is missing or fails."""
    if shutil.which(arguments[0]) is None:
        return b""
    done = subprocess.run(arguments, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return _cut(done.stdout) if done.returncode == 0 else b""


def read_end(path: Path, most: int = MOST) -> bytes:
    """Return the last whole lines of a file, up to that many bytes; nothing where it cannot be read
    or is no file.
    """
    try:
        if not path.is_file() or path.is_symlink():
            return b""
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most - 1))
            return _cut(file.read(most + 1), most)
    except OSError:
        return b""


def _cut(data: bytes, most: int = MOST) -> bytes:
    """Leave whole lines at the end."""
    if len(data) <= most:
        return data
    data = data[-most:]
    return data[data.find(b"\n") + 1 :]
