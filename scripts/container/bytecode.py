"""Bytecode for an image whose files nobody may write: made by the Python that is in it, run from
a folder by its own loader, so that neither root nor a namespace is needed.
"""

from __future__ import annotations

import os
import re
import subprocess
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

from scripts.container.files import ImageFile, Tree

_COMPILE = """
import compileall, sys
from py_compile import PycInvalidationMode

sys.exit(not compileall.compile_dir(
    sys.argv[2], maxlevels=20, quiet=1, force=True, stripdir=sys.argv[1], prependdir="/",
    invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
))
"""
_LACKING = re.compile(r"^\t(\S+) => not found", re.MULTILINE)


def unpack(layer: bytes, folder: Path) -> None:
    """Write a layer's files into a folder. Pythons before 3.11.4, Debian 12's among them,
    know no filter and apply none.
    """
    with tarfile.open(fileobj=BytesIO(layer)) as files:
        files.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        files.extractall(folder)  # noqa: S202  # we have just written it


def compile_modules(root: Path, python: str) -> Tree:
    """Return the bytecode of all modules below an unpacked image. Each folder is one process that
    reads in one order: what is equal comes out equal.
    """
    folders = [root / f"usr/lib/python{python}", root / f"usr/local/lib/python{python}"]

    def compile_folder(folder: Path) -> None:
        words = (*_start(root), root / f"usr/bin/python{python}", "-SE", "-c", _COMPILE)
        subprocess.run((*words, root, folder), env=_environment(root), check=True)

    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_folder, folders))
    return {
        str(path.relative_to(root)): ImageFile(data=path.read_bytes())
        for folder in folders
        for path in folder.rglob("*.pyc")
    }


def find_missing_libraries(root: Path) -> Iterator[str]:
    """Yield the libraries that a program or a module of an unpacked image looks for in vain."""
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or not path.is_file() or not _is_dynamic(path):
            continue
        done = subprocess.run(
            (*_start(root), "--list", path), capture_output=True, text=True, check=False
        )
        for name in _LACKING.findall(done.stdout):
            yield f"/{path.relative_to(root)}: needs {name}, which is not here"


def _is_dynamic(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4)
    return head == b"\x7fELF"


def _start(root: Path) -> tuple[Path | str, ...]:
    """Return how a program of the image is started here: by the image's loader."""
    (loader,) = (root / "usr/lib").glob("*/ld-linux-*.so.?")
    # --inhibit-cache: nothing of this machine's answers for what the image lacks.
    return (loader, "--inhibit-cache", "--library-path", str(loader.parent))


def _environment(root: Path) -> dict[str, str]:
    return {"PATH": os.defpath, "PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0"}
