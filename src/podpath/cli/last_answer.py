"""The names of the faults that the last answer on a terminal found, kept so that `podpath explain`
alone opens their page: `$XDG_STATE_HOME/podpath/last-checks`, a name to a line.

Nothing else of an answer is kept, and nothing where no person looks at it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from podpath.net.errors import UsageError

_NAME = "last-checks"
_LONGEST = 1 << 16
"""Bytes that are read: the names of all checks are fewer."""


def keep_checks(names: Iterable[str]) -> None:
    """Keep the names that an answer on a terminal found, where that is possible."""
    if not sys.stdout.isatty():
        return
    with suppress(OSError, RuntimeError, ValueError):
        folder = _find_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
            return  # by sudo, with the home of somebody else
        text = "".join(f"{name}\n" for name in dict.fromkeys(names))
        import tempfile  # slow to load

        with tempfile.NamedTemporaryFile(
            "w", dir=folder, prefix=_NAME, delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        os.replace(file.name, folder / _NAME)  # noqa: PTH105  # the name is a string


def read_checks() -> tuple[str, ...]:
    """Return the names, the likeliest first; `UsageError` where no answer is kept."""
    try:
        with (_find_folder() / _NAME).open("rb") as file:
            return tuple(file.read(_LONGEST).decode("utf-8", "replace").split())
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            "expected a check to explain, since no answer on this terminal's account is kept: "
            "`podpath checks` lists them"
        ) from error


def _find_folder() -> Path:
    """Return where state is kept (XDG Base Directory Specification); a relative path counts as
    none.
    """
    stated = os.environ.get("XDG_STATE_HOME", "")
    home = Path(stated) if os.path.isabs(stated) else Path.home() / ".local" / "state"  # noqa: PTH117  # it may be empty
    return home / "podpath"
