"""Places in files as hyperlinks of the terminal (OSC 8), where it is known to take them.

Only plain files of text that the evidence was read from are linked: a click must not start
anything that a bundle brought along.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

CHOICE = "podpath.hyperlink"
"""Where a call's `--hyperlink` is kept."""
FORCE = "FORCE_HYPERLINK"
"""Set by users whose terminal is not known, or is known wrongly: `1` or `0`."""
_SIGNS = ("VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "DOMTERM")
"""Variables that only terminals set which take hyperlinks, each since years."""
_PROGRAMS = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"}
_KINDS = ("alacritty", "foot", "xterm-kitty", "xterm-ghostty", "contour", "wezterm")
_MULTIPLEXERS = ("screen", "tmux")
"""What `TERM` begins with inside programs of which not every version passes hyperlinks on."""
_TEXTS = {"", ".txt", ".md", ".markdown", ".json", ".log", ".out", ".yaml", ".yml", ".conf"}
"""Suffixes of files that everybody's programs open as text."""
_OF_NO_FILE = ("stdin", "live/", "api/")
"""How names begin that stand for no file."""
_LONGEST = 2000
"""Characters of an address: VTE takes 2,083."""


def takes_hyperlinks(environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether standard output is a terminal that is known to take them."""
    kind = environment.get("TERM", "")
    if not sys.stdout.isatty() or kind == "dumb":
        return False
    if FORCE in environment:
        return environment[FORCE] not in {"", "0", "false"}
    if kind.startswith(_MULTIPLEXERS):
        return False
    return (
        any(name in environment for name in _SIGNS)
        or environment.get("TERM_PROGRAM") in _PROGRAMS
        or kind.startswith(_KINDS)
    )


def make_linker() -> Callable[[str, int], str | None]:
    """Return what gives a place's address: `file://HOST/PATH#LINE`; None for one that is no plain
    file of text.
    """
    known: dict[str, str | None] = {}
    host = os.uname().nodename if hasattr(os, "uname") else ""

    def link(name: str, line: int) -> str | None:
        if name not in known:
            known[name] = _find_address(name, host)
        address = known[name]
        return None if address is None else f"{address}#{line}"

    return link


def _find_address(name: str, host: str) -> str | None:
    if name.startswith(_OF_NO_FILE) or PurePath(name).suffix.lower() not in _TEXTS:
        return None
    try:
        mode = os.lstat(name).st_mode  # a member of an archive has no path: the kernel says so
        path = Path(name).resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    if not stat.S_ISREG(mode) or mode & 0o111:
        return None
    address = path.as_uri().replace("file://", f"file://{host if host.isascii() else ''}", 1)
    if len(address) <= _LONGEST and address.isprintable():
        return address
    return None
