"""What hatchling runs as it builds the wheel: man pages and completions are made by the commands
that it packs, and installed below `share`.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SharedFiles(BuildHookInterface[Any]):
    """Adds what `scripts/man_pages.py` writes."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files before the wheel is packed; an installation in place needs none."""
        if version == "editable":
            return
        root, share = Path(self.root), Path(self.root, "build", "share")
        paths = os.pathsep.join(filter(None, (str(root / "src"), os.environ.get("PYTHONPATH"))))
        subprocess.run(
            [sys.executable, str(root / "scripts" / "man_pages.py"), str(share)],
            check=True,
            env=os.environ | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        for page in (share / "man" / "man1").glob("*.1"):
            packed = gzip.compress(page.read_bytes(), mtime=0)
            page.with_name(f"{page.name}.gz").write_bytes(packed)
            page.unlink()
        files = (path for path in sorted(share.rglob("*")) if path.is_file())
        build_data["shared_data"] = {
            str(path): f"share/{path.relative_to(share).as_posix()}" for path in files
        }
