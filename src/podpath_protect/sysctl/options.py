"""What the configuration says of the sysctl keeper, and the duty that follows from it on this
node.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from podpath.net.tables import parse_duration
from podpath_protect.sysctl.guard import SysctlPolicy
from podpath_protect.sysctl.modules import check_module_name
from podpath_protect.sysctl.profiles import (
    AUTOMATIC,
    detect_profiles,
    gather_settings,
    list_profiles,
)
from podpath_protect.sysctl.scene import look_around
from podpath_protect.sysctl.settings import SysctlSetting
from podpath_protect.sysctl.tree import PROC_SYS, SysctlTree

POLL_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlOptions:
    """The section [sysctl] of the agent's configuration, and the options of `podpath protect
    sysctl`.
    """

    mode: Literal["fix", "report"] = "fix"
    profiles: tuple[str, ...] = (AUTOMATIC,)
    key: tuple[SysctlSetting, ...] = ()
    """Own settings, [[sysctl.key]]: each replaces those of profiles for the same key."""
    modules: tuple[str, ...] = ()
    """Kernel modules that shall be there in any case."""
    load_modules: bool = False
    persist: bool = False
    """Write a drop-in below /etc/sysctl.d, and one below /etc/modules-load.d where modules are
    loaded.
    """
    lower_all: bool = True
    poll: float = field(default=POLL_SECONDS, metadata={"parse": parse_duration})
    """How often everything is looked at, whatever was heard."""
    root: str = "/"
    """Where the host's root is mounted."""
    proc: str = "/proc"
    """Where the host's processes are to be seen."""
    proc_sys: str = str(PROC_SYS)

    def __post_init__(self) -> None:
        """Refuse names of modules and profiles that are none, and a poll that would never rest."""
        known = (AUTOMATIC, *list_profiles())
        unknown = [name for name in self.profiles if name not in known]
        if unknown:
            raise ValueError(f"profiles of {', '.join(known)}, saw {unknown[0]!r}")
        for name in self.modules:
            check_module_name(name)
        if self.poll < 1:
            raise ValueError("a poll of 1s or more")


def make_duty(options: SysctlOptions) -> tuple[SysctlPolicy, Mapping[str, str]]:
    """Return what is to be kept on this node, and why each automatic profile was chosen."""
    root, proc, tree = (
        Path(options.root),
        Path(options.proc),
        SysctlTree(root=Path(options.proc_sys)),
    )
    chosen: Mapping[str, str] = {}
    if AUTOMATIC in options.profiles:
        chosen = detect_profiles(look_around(root, proc, tree))
    named = [name for name in options.profiles if name != AUTOMATIC]
    settings = gather_settings(tuple(dict.fromkeys([*named, *chosen])), options.key)
    duty = SysctlPolicy(
        settings=settings,
        modules=options.modules,
        cores=os.cpu_count() or 1,
        mend=options.mode == "fix",
        persist=options.persist,
        load_modules=options.load_modules,
        lower_all=options.lower_all,
        tree=tree,
        root=root,
        proc=proc,
    )
    return duty, chosen
