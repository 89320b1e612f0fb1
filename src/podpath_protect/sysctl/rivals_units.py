"""systemd units whose commands write sysctls: `sysctl -w KEY=VALUE`, and `echo VALUE >
/proc/sys/...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.ini import list_files, read_entries
from podpath_protect.sysctl.keys import parse_key

DIRECTORIES = (
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
)
_SETS = re.compile(r"(?P<key>(?:net|kernel|vm|fs)[./][\w./*@-]+)\s*=\s*[\"']?(?P<value>[\w-]+)")
_ECHOES = re.compile(
    r"echo\s+(?:-n\s+)?[\"']?(?P<value>[\w-]+)[\"']?\s*>+\s*/proc/sys/(?P<key>[\w./@-]+)"
)


def read_units(root: Path) -> tuple[OtherWriter, ...]:
    """Return what the commands of units set."""
    return tuple(_read_all(root))


def _read_all(root: Path) -> Iterator[OtherWriter]:
    for path in list_files(root, DIRECTORIES, "*.service", "*.service.d/*.conf"):
        unit = path.parent.name.removesuffix(".d") if path.suffix == ".conf" else path.name
        for entry in read_entries(path):
            if entry.section != "Service" or not entry.key.startswith("Exec"):
                continue
            found = [
                *_ECHOES.finditer(entry.value),
                *(_SETS.finditer(entry.value) if "sysctl" in entry.value else ()),
            ]
            for each in found:
                try:
                    pattern = parse_key(each["key"])
                except ValueError:
                    continue
                where = f"/{path.relative_to(root)}:{entry.line}: {entry.text}"
                yield OtherWriter(
                    actor=f"unit {unit}",
                    pattern=pattern,
                    value=each["value"],
                    where=where,
                    note="applied when the unit starts",
                )
