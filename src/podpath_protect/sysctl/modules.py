"""Kernel modules without which keys do not exist: told, loaded and kept for the next boot on
request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from podpath_protect.apply import Applier, ApplyError, Effect

PERSISTED = Path("etc/modules-load.d/podpath.conf")
WITNESSES = {
    "br_netfilter": "net/bridge",
    "nf_conntrack": "net/netfilter/nf_conntrack_max",
    "ip_vs": "net/ipv4/vs",
}
"""What only stands below /proc/sys with the module: it shows one that is built in, which /sys need
not.
"""
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = (
    "# Written by podpath protect sysctl: modules that the declared sysctls need. Overwritten when "
    "they change.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleState:
    """How a module stands."""

    name: str
    loaded: bool
    """Loaded, or built into the kernel."""
    available: bool
    """There is a file of it for this kernel; False also where /lib/modules is not to be seen, as in
    a container.
    """


def check_module_name(name: str) -> str:
    """Return the name; `ValueError` for what is none (it becomes an argument of modprobe)."""
    if _NAME.fullmatch(name) is None or name.startswith("-"):
        raise ValueError(f"the name of a kernel module, saw {name!r}")
    return name


def look_at_modules(
    names: Iterable[str], root: Path, proc_sys: Path, *, sys: Path = Path("/sys")
) -> tuple[ModuleState, ...]:
    """Say of each module whether it is there."""
    directory = root / "lib/modules" / os.uname().release
    builtin = _read(directory / "modules.builtin")
    known = _read(directory / "modules.dep")
    states = []
    for name in dict.fromkeys(names):
        spelled = name.replace("-", "_")
        file = re.compile(rf"/{re.escape(spelled).replace('_', '[_-]')}\.ko")
        witness = WITNESSES.get(spelled)
        shown = (sys / "module" / spelled).is_dir() or (
            witness is not None and (proc_sys / witness).exists()
        )
        loaded = shown or file.search(builtin) is not None
        states.append(
            ModuleState(
                name=name, loaded=loaded, available=loaded or file.search(known) is not None
            )
        )
    return tuple(states)


def load_module(name: str, applier: Applier, command: tuple[str, ...] = ("modprobe",)) -> Effect:
    """Load a module; `ApplyError` with what modprobe said."""
    return applier.run((*command, "--", check_module_name(name)))


def persist_modules(names: Iterable[str], root: Path, applier: Applier) -> Effect:
    """Have modules loaded at boot (modules-load.d(5)); a file that says so already is not
    written.
    """
    path = root / PERSISTED
    content = _HEADER + "".join(f"{check_module_name(name)}\n" for name in sorted(set(names)))
    try:
        return applier.write_file(path, content.encode(), mode=0o644)
    except ApplyError as error:
        if error.refusal != "absent":
            raise
    applier.make_directory(path.parent)
    return applier.write_file(path, content.encode(), mode=0o644)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
