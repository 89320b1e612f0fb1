"""Texts that are part of the program: tables beside the modules that read them, and manual pages.

In a checkout and in the single file of `scripts/build-zipapp`, a table is a file and a check's page
the docstring of its module. A wheel holds all of them once, compressed, in one file, which
`scripts/packed_data.py` makes as it is built: a JSON object of texts by path below the package. It
is read when the first of them is asked for.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import ModuleType

PACKED = "data.json.xz"
"""The file in which a wheel has them."""


def read_data(package: str, name: str) -> str:
    """Return the text of a file by its package and its path below it.

    Raises:
        FileNotFoundError: there is no such file.
    """
    text = load_packed().get(locate(package, name))
    if text is not None:
        return text
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def list_data(package: str, folder: str, ending: str) -> tuple[str, ...]:
    """Return the names of the files in a package's folder that end so, in alphabetical order."""
    inside = locate(package, f"{folder}/")
    names = {path.removeprefix(inside) for path in load_packed() if path.startswith(inside)}
    unpacked = resources.files(package).joinpath(folder)
    if unpacked.is_dir():
        names |= {file.name for file in unpacked.iterdir()}
    return tuple(sorted(name for name in names if name.endswith(ending)))


def read_manual(module: ModuleType) -> str:
    """Return the manual page of a module: its docstring, or what a wheel has in its place."""
    return load_packed().get(locate_manual(module.__name__)) or module.__doc__ or ""


def locate_manual(module: str) -> str:
    """Return the path by which the manual page of a module is packed."""
    package, _, name = module.rpartition(".")
    return locate(package, f"{name}.txt")


def locate(package: str, name: str) -> str:
    """Return the path by which a file is packed: that below the folder of the whole program."""
    return "/".join([*package.split(".")[1:], name])


@cache
def load_packed() -> Mapping[str, str]:
    """Return what a wheel has packed, texts by path; empty where everything is a file of its
    own.
    """
    file = resources.files("podpath").joinpath(PACKED)
    if not file.is_file():
        return {}
    texts: dict[str, str] = json.loads(lzma.decompress(file.read_bytes()))
    return texts
