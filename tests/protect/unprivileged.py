"""Programs run as nobody with the named capabilities alone, wherever the interpreter and the
repository stand.
"""

from __future__ import annotations

import subprocess
import sys

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def as_nobody(*capabilities: str) -> tuple[str, ...]:
    """Return the words that go before a command.

    Where nobody may not even read the interpreter (a checkout below /root), CAP_DAC_READ_SEARCH is
    added, which writes nothing.
    """
    readable = subprocess.run(
        [*NOBODY, sys.executable, "-c", "import podpath.cli.main"], capture_output=True, check=False
    )
    held = (*capabilities, *(() if readable.returncode == 0 else ("dac_read_search",)))
    if not held:
        return (*NOBODY, "--bounding-set=-all")
    words = ",".join(f"+{name}" for name in held)
    return (*NOBODY, f"--inh-caps={words}", f"--ambient-caps={words}")
