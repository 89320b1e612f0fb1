"""Make the archive that krew installs `kubectl podpath` from, and the manifest that names it.

    pip install --target lib '.[k8s]' ./packages/podpath-live
    scripts/krew.py --lib lib --uri https://downloads.example/podpath --homepage https://... dist/

An archive is for one system, processor and Python, since one of its packages is compiled; run it on
each, and give the archives of the others by `--archive`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import platform
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from podpath.version import __version__

TEMPLATES = Path(__file__).resolve().parents[1] / "deploy" / "krew"
BIN = "kubectl-podpath"
COMPLETE = "kubectl_complete-podpath"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_ENTRIES = {BIN: "podpath.cli.main", COMPLETE: "podpath.cli.plugin_completion"}
_PROCESSORS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class KrewArchive(NamedTuple):
    """An archive and where it runs, in krew's words."""

    path: Path
    os: str
    arch: str

    def describe(self, uri: str) -> dict[str, Any]:
        """Return the platform's part of the manifest."""
        return {
            "selector": {"matchLabels": {"os": self.os, "arch": self.arch}},
            "uri": f"{uri.rstrip('/')}/{self.path.name}",
            "sha256": hashlib.sha256(self.path.read_bytes()).hexdigest(),
            "bin": BIN,
        }


def write_archive(lib: Path, folder: Path) -> KrewArchive:
    """Pack the packages of a folder with the launcher, for this machine; the same bytes each
    time.
    """
    system = platform.system().lower()
    processor = _PROCESSORS.get(platform.machine().lower(), platform.machine().lower())
    path = folder / f"{BIN}_{__version__}_{system}_{processor}.tar.gz"
    launcher = (TEMPLATES / BIN).read_text(encoding="utf-8").replace("{python}", PYTHON)
    with tarfile.open(path, "w:gz") as archive:
        for name, module in _ENTRIES.items():
            entry = f"from {module} import main\n\nmain()\n"
            _add(archive, name, launcher.encode(), 0o755)
            _add(archive, f"lib/{name}", entry.encode())
        _add(archive, "LICENSE", (TEMPLATES.parents[1] / "LICENSE").read_bytes())
        for each in sorted(lib.rglob("*")):
            parts = each.relative_to(lib).parts
            if each.is_file() and "__pycache__" not in parts and parts[0] != "bin":
                _add(archive, "/".join(("lib", *parts)), each.read_bytes())
    return KrewArchive(path, system, processor)


def _add(archive: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), mode
    archive.addfile(member, io.BytesIO(data))


def render_manifest(archives: Sequence[KrewArchive], uri: str, homepage: str) -> str:
    """Return the manifest with a platform for each archive."""
    words: Mapping[str, str] = {"version": __version__, "homepage": homepage, "python": PYTHON}
    text = (TEMPLATES / "podpath.yaml").read_text(encoding="utf-8")
    for name, value in words.items():
        text = text.replace(f"{{{name}}}", value)
    content = yaml.safe_load(text)
    content["spec"]["platforms"] = [each.describe(uri) for each in archives]
    return yaml.safe_dump(content, sort_keys=False, width=100)


def parse_archive(text: str) -> KrewArchive:
    """Read `FILE`, whose name ends in `_OS_ARCH.tar.gz`."""
    path = Path(text)
    system, arch = path.name.removesuffix(".tar.gz").split("_")[-2:]
    return KrewArchive(path, system, arch)


def main() -> None:
    """Write both into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lib", type=Path, required=True, help="what pip installed by --target")
    parser.add_argument("--uri", required=True, help="where archives will be downloaded from")
    parser.add_argument("--homepage", required=True)
    parser.add_argument("--archive", type=parse_archive, action="append", default=[])
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    archives = [write_archive(given.lib, given.folder), *given.archive]
    manifest = given.folder / "podpath.yaml"
    manifest.write_text(render_manifest(archives, given.uri, given.homepage), encoding="utf-8")
    print(manifest)


if __name__ == "__main__":
    main()
