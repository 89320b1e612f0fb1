"""Tests of `podpath_protect.exchange` on the real kernel: two names change places in one step, and
a file that somebody has open for writing is waited for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from podpath_protect.exchange import exchange, is_settled, move_new

MEMORY = "/dev/shm"  # noqa: S108  # a tmpfs


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Provide a directory of the disk's file system, and one of tmpfs."""
    if request.param == "disk":
        yield tmp_path
        return
    with TemporaryDirectory(dir=MEMORY) as made:
        yield Path(made)


def opened(folder: Path) -> int:
    """Open a directory."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)


def test_two_names_change_places(folder: Path) -> None:
    """Both files are there after it, each under the other's name; a name that is not there is an
    error.
    """
    (folder / "a").write_text("a")
    (folder / "b").write_text("b")
    descriptor = opened(folder)
    try:
        assert exchange(descriptor, "a", "b")
        with pytest.raises(FileNotFoundError):
            exchange(descriptor, "a", "c")
    finally:
        os.close(descriptor)

    assert ("b", "a") == ((folder / "a").read_text(), (folder / "b").read_text())


def test_a_name_that_is_taken_is_not_given(folder: Path) -> None:
    """A file gets a free name, and leaves one that is somebody's alone."""
    (folder / "a").write_text("a")
    (folder / "b").write_text("b")
    descriptor = opened(folder)
    try:
        with pytest.raises(FileExistsError):
            move_new(descriptor, "a", "b")
        assert move_new(descriptor, "a", "c")
    finally:
        os.close(descriptor)

    assert ["b", "c"] == sorted(path.name for path in folder.iterdir())


def test_a_writer_that_has_a_file_open_is_waited_for(folder: Path) -> None:
    """While somebody has it open for writing a file is not settled; readers do not matter."""
    path = folder / "a"
    path.write_text("old")
    with path.open("rb") as file, path.open("rb"):
        writer = path.open("ab")
        closing = threading.Timer(0.05, writer.close)
        assert not is_settled(file.fileno(), 0.01)
        closing.start()
        began = time.monotonic()
        assert is_settled(file.fileno(), 20.0)
        closing.join()

        assert time.monotonic() - began < 15
        assert is_settled(file.fileno(), 0.0)
