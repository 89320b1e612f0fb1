"""The installed `podpath` command, as a user runs it."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("podpath")
MEBIBYTE = 1 << 20


def podpath(
    *arguments: str | Path, cwd: Path | None = None, timeout: float = 60, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command and give its exit code and output; `memory` bounds its address space, in
    MiB.
    """

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory * MEBIBYTE, memory * MEBIBYTE))

    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
        timeout=timeout, check=False, stdin=subprocess.DEVNULL, preexec_fn=limit,
    )  # fmt: skip
