"""What hatchling runs as it builds the wheel: man pages and completions are made by the commands
that it packs, and installed below `share`; tables and manual pages are packed into one file.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelFiles(BuildHookInterface[Any]):
    """Adds what `scripts/man_pages.py` and `scripts/packed_data.py` write."""

    _folder: tempfile.TemporaryDirectory[str] | None = None
    """Outside the project: only so does a file take the place of a module at the same path."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files before the wheel is packed; an installation in place needs none."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        share, packed = Path(self._folder.name, "share"), Path(self._folder.name, "packed")
        self._run("man_pages.py", share)
        for page in (share / "man" / "man1").glob("*.1"):
            compressed = gzip.compress(page.read_bytes(), mtime=0)
            page.with_name(f"{page.name}.gz").write_bytes(compressed)
            page.unlink()
        build_data["shared_data"] = {
            path: f"share/{place}" for path, place in _list_files(share).items()
        }
        self._run("packed_data.py", packed)
        apart = _list_apart(Path(self.root, "packages"))
        build_data["force_include"].update(
            {
                file: place
                for file, place in _list_files(packed).items()
                if not _is_below(place, apart)
            }
        )

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002  # hatchling's signature
        """Remove the files once the wheel has them."""
        if self._folder is not None:
            self._folder.cleanup()

    def _run(self, script: str, folder: Path) -> None:
        """Run a script that writes into a folder."""
        paths = os.pathsep.join(
            filter(None, (str(Path(self.root, "src")), self.root, os.environ.get("PYTHONPATH")))
        )
        subprocess.run(
            [sys.executable, str(Path(self.root, "scripts", script)), str(folder)],
            check=True,
            env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        )


def _list_apart(packages: Path) -> frozenset[str]:
    """Return the modules and packages of `podpath` that the wheels of other distributions bring."""
    places: set[str] = set()
    for file in packages.glob("*/pyproject.toml"):
        settings = tomllib.loads(file.read_text(encoding="utf-8"))
        places |= set(
            settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values()
        )
    return frozenset(places)


def _is_below(place: str, folders: frozenset[str]) -> bool:
    """Tell whether a path is one of those named, or below one."""
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


def _list_files(folder: Path) -> dict[str, str]:
    """Return the files below a folder, with their paths below it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): path.relative_to(folder).as_posix() for path in files}
