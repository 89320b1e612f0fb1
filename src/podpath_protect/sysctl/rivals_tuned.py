"""tuned: the [sysctl] section of the active profile and of those that it includes.

With `reapply_sysctl` (the default) tuned applies /etc/sysctl.d and /run/sysctl.d after its profile,
and not /usr/lib/sysctl.d, so a drop-in under /etc wins over the profile, and one of a package does
not (tuned-main.conf(5), plugin_sysctl.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from podpath_protect.sysctl.claims import OtherWriter
from podpath_protect.sysctl.ini import read_entries
from podpath_protect.sysctl.keys import parse_key

PROFILE_DIRECTORIES = ("etc/tuned/profiles", "etc/tuned", "usr/lib/tuned/profiles", "usr/lib/tuned")
_ACTIVE = "etc/tuned/active_profile"
_MAIN = "etc/tuned/tuned-main.conf"
_DEPTH = 8
_NAME = re.compile(r"[\w.+-]+")


def read_tuned(root: Path) -> tuple[OtherWriter, ...]:
    """Return what the active profile sets; the including profile's value, where both set a key."""
    try:
        active = (root / _ACTIVE).read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return ()
    found: dict[str, OtherWriter] = {}
    for name in reversed(active):
        for claim in _read_profile(root, name, _reapplies(root), _DEPTH):
            found.setdefault(str(claim.pattern), claim)
    return tuple(found.values())


def _reapplies(root: Path) -> bool:
    values = [entry.value for entry in read_entries(root / _MAIN) if entry.key == "reapply_sysctl"]
    return not values or values[-1].lower() in {"1", "true", "yes", "on"}


def _read_profile(root: Path, name: str, reapplies: bool, depth: int) -> Iterator[OtherWriter]:  # noqa: FBT001  # passed down
    path = _find(root, name)
    if path is None or depth == 0:
        return
    entries = read_entries(path)
    shown = "/" + str(path.relative_to(root))
    note = "applied when tuned starts or changes its profile"
    note += (
        "; drop-ins under /etc and /run are applied after it"
        if reapplies
        else "; reapply_sysctl is off: drop-ins do not win"
    )
    for entry in entries:
        if entry.section == "sysctl" and entry.key not in {
            "type",
            "replace",
            "enabled",
            "priority",
        }:
            try:
                pattern = parse_key(entry.key)
            except ValueError:
                continue
            value = " ".join(entry.value.strip("\"'").lstrip("<>=").split())
            yield OtherWriter(
                actor=f"tuned profile {name}",
                pattern=pattern,
                value=None if "$" in value else value,
                where=f"{shown}:{entry.line}: {entry.text}",
                note=note,
            )
    for entry in entries:
        if entry.section == "main" and entry.key == "include":
            for included in _NAME.findall(entry.value):
                yield from _read_profile(root, included, reapplies, depth - 1)


def _find(root: Path, name: str) -> Path | None:
    if _NAME.fullmatch(name) is None or name in {".", ".."}:
        return None
    paths = (root / directory / name / "tuned.conf" for directory in PROFILE_DIRECTORIES)
    return next((path for path in paths if os.access(path, os.R_OK)), None)
