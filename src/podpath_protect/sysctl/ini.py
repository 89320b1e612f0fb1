"""Files of sections and `KEY=VALUE` lines (systemd units, tuned, NetworkManager), line by line, so
that a line can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SECTION = re.compile(r"\s*\[(?P<name>[^\]]+)\]\s*$")
_ENTRY = re.compile(r"\s*(?P<key>[^=#;\s\[][^=]*?)\s*=\s*(?P<value>.*?)\s*$")


class IniLine(NamedTuple):
    """One line."""

    section: str
    key: str
    value: str
    line: int
    text: str


def scan_entries(text: str) -> Iterator[IniLine]:
    """Yield the entries of a file; comments, blank lines and what is no entry are left out."""
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _SECTION.match(line)
        if heading is not None:
            section = heading["name"]
            continue
        entry = _ENTRY.match(line)
        if entry is not None:
            yield IniLine(section, entry["key"], entry["value"], number, line.strip())


def read_entries(path: Path) -> tuple[IniLine, ...]:
    """Read a file's entries; none where it cannot be read."""
    try:
        return tuple(scan_entries(path.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return ()


def list_files(root: Path, directories: tuple[str, ...], *patterns: str) -> tuple[Path, ...]:
    """Return the files below a root that count: of those with the same name the first directory's,
    ordered by name.
    """
    chosen: dict[str, Path] = {}
    for directory in directories:
        folder = root / directory
        for path in _find(folder, patterns):
            chosen.setdefault(str(path.relative_to(folder)), path)
    return tuple(chosen[name] for name in sorted(chosen))


def _find(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    try:
        return sorted(path for pattern in patterns for path in folder.glob(pattern))
    except OSError:
        return []  # a folder that may not be looked into says nothing
