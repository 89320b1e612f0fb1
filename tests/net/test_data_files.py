"""Texts of the program: read from files in a checkout, from one compressed file in a wheel."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from podpath.net.data_files import list_data, locate, locate_manual, read_data, read_manual
from scripts.packed_data import compress_texts

READING = """\
import types
from podpath.net.data_files import list_data, read_data, read_manual

print(read_data("podpath.net", "owners.toml"))
print(*list_data("podpath.timeline", "chains", ".toml"))
print(read_manual(types.ModuleType("podpath.checks.links.loud", "not this")))
print(read_manual(types.ModuleType("podpath.checks.links.quiet", "its docstring")))
"""


def test_a_file_is_read_beside_its_module() -> None:
    """Who owns what is such a file."""
    assert tomllib.loads(read_data("podpath.net", "owners.toml"))["owner"]


def test_a_file_that_is_not_there_is_an_error() -> None:
    """Nothing is read in its place."""
    with pytest.raises(FileNotFoundError):
        read_data("podpath.net", "nobody.toml")


def test_a_folder_lists_what_ends_as_asked() -> None:
    """A folder's files come in alphabetical order, and no others."""
    names = list_data("podpath.timeline", "chains", ".toml")

    assert "conntrack-full.toml" in names
    assert names == tuple(sorted(names))
    assert not list_data("podpath.timeline", "chains", ".py")
    assert not list_data("podpath.timeline", "nowhere", ".toml")


def test_a_path_is_below_the_program() -> None:
    """A file and a manual page are packed by package and name."""
    assert locate("podpath.net", "owners.toml") == "net/owners.toml"
    assert locate("podpath.checks", "dns/messages.toml") == "checks/dns/messages.toml"
    assert locate_manual("podpath.checks.links.loud") == "checks/links/loud.txt"


def test_a_docstring_is_a_manual_page() -> None:
    """A module that is not packed has its page in itself; without a docstring it has none."""
    assert read_manual(ModuleType("podpath.toy", "toy: a page.")) == "toy: a page."
    assert not read_manual(ModuleType("podpath.toy"))


def test_what_is_packed_comes_first(tmp_path: Path) -> None:
    """A program with a packed file reads it, in a folder's list, too; a module whose page is not in
    it has its docstring.
    """
    package = tmp_path / "podpath"
    for folder in (package, package / "net", package / "timeline"):
        folder.mkdir()
        (folder / "__init__.py").touch()
    (package / "net/data_files.py").write_bytes(_source("podpath.net.data_files"))
    (package / "data.json.xz").write_bytes(
        compress_texts(
            {
                "net/owners.toml": "packed = 'ü'",
                "timeline/chains/b.toml": "",
                "timeline/chains/a.toml": "",
                "timeline/chains.toml": "",
                "checks/links/loud.txt": "loud: its page",
            }
        )
    )

    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "utf8",
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{READING}",
        ],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.splitlines() == [
        "packed = 'ü'",
        "a.toml b.toml",
        "loud: its page",
        "its docstring",
    ]


def _source(module: str) -> bytes:
    return Path(sys.modules[module].__file__ or "").read_bytes()
