"""Files that scripts make whole: written where they differ, or named by `--check`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path


def write_folder(
    folder: Path, wanted: Mapping[str, str], there: AbstractSet[str], *, check: bool
) -> int:
    """Make a folder's files those that are wanted; `there` are the names that it holds now, whose
    rest goes.

    With `check` nothing is written: what is out of date is printed, and is an exit code of 1.
    """
    stale = [
        name
        for name, text in wanted.items()
        if name not in there or (folder / name).read_text(encoding="utf-8") != text
    ]
    stale += sorted(there - wanted.keys())
    if check:
        shown = "/".join(folder.parts[-2:])
        sys.stdout.write("".join(f"{shown}/{name} is out of date\n" for name in stale))
        return int(bool(stale))
    for name in stale:
        path = folder / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[name], encoding="utf-8")
    return 0
