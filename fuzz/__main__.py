"""Run a reader on inputs that atheris makes: `python -m fuzz NAME OPTIONS...`, the options being
libFuzzer's.

The first inputs are captures, printed packets, log lines and what tenants write, from the tests,
so that much of what is made of them is read.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["podpath", "podpath_capture", "podpath_protect"]):
    from fuzz.readers import READERS

from fuzz.seeds import seeds_of


def main() -> None:
    """Fuzz the reader that the first argument names; what follows goes to libFuzzer."""
    name, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds_of(name)):
            (Path(folder) / str(number)).write_bytes(seed)
        atheris.Setup([sys.argv[0], *options, folder], READERS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
