"""podpath's wheels, and those of what it needs to speak to an API server, at the versions of
`deploy/image-requirements.txt`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scripts.container.debian import FetchError

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "deploy" / "image-requirements.txt"
_OWN = (ROOT, ROOT / "packages" / "podpath-live", ROOT / "packages" / "podpath-protect")
_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-")
_LIBC = ("2_17", "2_28", "2_34")
"""Versions of glibc that wheels are built for and that Debian 12, which has 2.36, runs."""


@dataclass(frozen=True)
class Wheel:
    """A wheel's file."""

    path: Path

    @property
    def name(self) -> str:
        """The distribution's name, as indexes normalize it."""
        return self._parts[0].replace("_", "-").lower()

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self._parts[1]

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @property
    def _parts(self) -> tuple[str, str]:
        found = _NAME.match(self.path.name)
        if found is None:
            raise ValueError(f"expected a wheel's name, saw {self.path.name}")
        return found["name"], found["version"]

    def read_files(self) -> Iterator[tuple[str, bytes]]:
        """Yield its modules and metadata; scripts and man pages stay out."""
        with zipfile.ZipFile(self.path) as archive:
            for name in archive.namelist():
                if not name.endswith("/") and ".data/" not in name:
                    yield name, archive.read(name)


def fetch_wheels(cache: Path, python: str) -> tuple[Wheel, ...]:
    """Return the wheels that a Python (`3.11`) on this architecture takes, from the cache where
    they are, otherwise as pip is set to get them.
    """
    machine = platform.machine()
    asked = REQUIREMENTS.read_bytes() + f"{python} {machine}".encode()
    folder = cache / f"wheels-{hashlib.sha256(asked).hexdigest()[:16]}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        platforms = [f"--platform=manylinux_{version}_{machine}" for version in _LIBC]
        done = subprocess.run(
            (
                sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                "--no-deps", "--only-binary=:all:", f"--python-version={python}", *platforms,
                "--dest", folder, "--requirement", REQUIREMENTS,
            ),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise FetchError(f"pip cannot have {REQUIREMENTS.name}: {done.stderr.strip()}")
        (folder / "complete").touch()
    return tuple(map(Wheel, sorted(folder.glob("*.whl"))))


def build_wheels(folder: Path, epoch: int) -> tuple[Wheel, ...]:
    """Build the checkout's wheels into a folder."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    for place in _OWN:
        subprocess.run(
            (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder),
            cwd=place, env=environment, capture_output=True, check=True,
        )  # fmt: skip
    return tuple(map(Wheel, sorted(folder.glob("*.whl"))))
