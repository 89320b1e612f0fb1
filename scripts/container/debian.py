"""Debian packages: what an image's packages and those that they need are, fetched by apt into a
cache without touching the machine's own, and read without being installed.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SUITE = "bookworm"
MIRROR = "http://deb.debian.org"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_FIELD = re.compile(r"^(?P<name>[\w-]+): (?P<value>.*)$", re.MULTILINE)


class FetchError(Exception):
    """Packages could not be had; the message says why, and what to do."""


@dataclass(frozen=True)
class DebianPackage:
    """A package's file."""

    path: Path

    @cached_property
    def control(self) -> str:
        """What it says about itself, as `dpkg` keeps it."""
        done = subprocess.run(
            ("dpkg-deb", "--field", self.path), capture_output=True, text=True, check=True
        )
        return done.stdout

    @property
    def name(self) -> str:
        """Its name."""
        return self._fields["Package"]

    @property
    def version(self) -> str:
        """Its version, with epoch and revision."""
        return self._fields["Version"]

    @property
    def architecture(self) -> str:
        """The architecture that it is for, or `all`."""
        return self._fields["Architecture"]

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file, as Debian's index lists it."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    @cached_property
    def _fields(self) -> dict[str, str]:
        return dict(_FIELD.findall(self.control))

    def read_files(self) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        """Yield what it holds, links with no bytes and hard links with their target's."""
        done = subprocess.run(
            ("dpkg-deb", "--fsys-tarfile", self.path), capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            for member in archive:
                data = archive.extractfile(member) if member.isreg() or member.islnk() else None
                yield member, data.read() if data else b""


def fetch_packages(
    names: Sequence[str], cache: Path, *, mirror: str = MIRROR, update: bool = False
) -> tuple[DebianPackage, ...]:
    """Return the packages and all that they need, in the order of their names: from the cache
    where they are, otherwise (or to update) by apt, as the user who runs this.

    Raises `FetchError` where apt is missing or cannot reach the mirror.
    """
    asked = "\n".join((SUITE, mirror, *sorted(names)))
    folder = cache / hashlib.sha256(asked.encode()).hexdigest()[:16]
    if update or not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _download(names, folder, mirror)
        (folder / "complete").write_text(asked, encoding="utf-8")
    found = (folder / "cache" / "archives").glob("*.deb")
    return tuple(sorted(map(DebianPackage, found), key=lambda package: package.name))


def _download(names: Sequence[str], folder: Path, mirror: str) -> None:
    for needed in ("apt-get", "dpkg-deb"):
        if shutil.which(needed) is None:
            raise FetchError(f"expected {needed} here: build the image on Debian or Ubuntu")
    if not Path(KEYRING).exists():
        raise FetchError(f"expected {KEYRING}: install debian-archive-keyring")
    environment = os.environ | {"APT_CONFIG": str(_write_settings(folder, mirror))}
    for words in (
        ("apt-get", "-qq", "--error-on=any", "update"),
        ("apt-get", "-qq", "-y", "--download-only", "install", *names),
    ):
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            told = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
            raise FetchError(
                f"apt cannot have Debian {SUITE} from {mirror}: {told[-1]}\n"
                "Name a mirror that this machine reaches by --mirror, and try again."
            )


def _write_settings(folder: Path, mirror: str) -> Path:
    """Write apt's settings for a system that has nothing installed, all of it in one folder."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    signed = f"deb [signed-by={KEYRING}] {mirror}"
    (folder / "sources.list").write_text(
        f"{signed}/debian {SUITE} main\n"
        f"{signed}/debian {SUITE}-updates main\n"
        f"{signed}/debian-security {SUITE}-security main\n",
        encoding="utf-8",
    )
    settings = folder / "apt.conf"
    settings.write_text(
        f'Dir::State "{folder}/state";\n'
        f'Dir::State::status "{folder}/status";\n'
        f'Dir::Cache "{folder}/cache";\n'
        f'Dir::Etc::SourceList "{folder}/sources.list";\n'
        'Dir::Etc::SourceParts "/dev/null";\n'
        'Debug::NoLocking "1";\n'
        f'APT::Sandbox::User "{os.environ.get("USER", "root")}";\n'
        'APT::Install-Recommends "0";\n'
        'Acquire::Retries "2";\n',
        encoding="utf-8",
    )
    return settings
