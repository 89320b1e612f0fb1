"""`protect.watch`: no change is missed, whatever happens to the directory or to inotify."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from podpath_protect import watch
from podpath_protect.watch import DirectoryChange, DirectoryWatch

PATIENCE = 60.0


def settle(watched: DirectoryWatch) -> set[DirectoryChange]:
    """Return all changes that come within a moment after the first."""
    seen = set(watched.wait(PATIENCE))
    while more := watched.wait(0.05):
        seen.update(more)
    return seen


def test_what_happens_before_the_first_wait_is_seen(tmp_path: Path) -> None:
    """The watch is armed when it is made: a file written before anybody waits is told."""
    with DirectoryWatch([tmp_path]) as watched:
        (tmp_path / "10-a.conflist").write_text("{}")

        assert DirectoryChange(tmp_path, "10-a.conflist") in settle(watched)


@pytest.mark.parametrize("action", ["rename", "hardlink", "symlink", "truncate", "delete", "chmod"])
def test_every_way_of_changing_a_file_is_seen(tmp_path: Path, action: str) -> None:
    """Renaming in, linking in, writing in place, removing and changing the mode are all told, by
    the entry's name.
    """
    folder, other, path = tmp_path / "net.d", tmp_path / "other", tmp_path / "net.d" / "a.conf"
    folder.mkdir()
    other.write_text("{}")
    if action in {"truncate", "delete", "chmod"}:
        path.write_text("old")
    actions: dict[str, Callable[[], object]] = {
        "rename": lambda: other.rename(path),
        "hardlink": lambda: path.hardlink_to(other),
        "symlink": lambda: path.symlink_to(other),
        "truncate": lambda: path.write_text("new"),
        "delete": path.unlink,
        "chmod": lambda: path.chmod(0o600),
    }
    with DirectoryWatch([folder]) as watched:
        actions[action]()

        assert {DirectoryChange(folder, "a.conf")} == settle(watched)


def test_nothing_happens_and_nothing_is_told(tmp_path: Path) -> None:
    """A quiet directory ends the wait at its time, and not before."""
    with DirectoryWatch([tmp_path]) as watched:
        started = time.monotonic()

        assert watched.wait(0.2) == ()
        assert time.monotonic() - started >= 0.2


def test_a_directory_survives_removal(tmp_path: Path) -> None:
    """A directory that is removed with its parents and made again is watched again, and files in it
    are told.
    """
    folder = tmp_path / "etc" / "cni" / "net.d"
    folder.mkdir(parents=True)
    with DirectoryWatch([folder]) as watched:
        shutil.rmtree(tmp_path / "etc")
        assert DirectoryChange(folder, "") in settle(watched)

        folder.mkdir(parents=True)
        assert DirectoryChange(folder, "") in settle(watched)

        (folder / "10-a.conf").write_text("{}")
        assert DirectoryChange(folder, "10-a.conf") in settle(watched)


def test_a_directory_that_comes_late_is_awaited(tmp_path: Path) -> None:
    """A directory that does not exist yet is told when it comes, and strangers beside it are
    not.
    """
    folder = tmp_path / "cni" / "net.d"
    with DirectoryWatch([folder]) as watched:
        (tmp_path / "unrelated").mkdir()
        assert watched.wait(0.2) == ()

        (tmp_path / "cni").mkdir()
        folder.mkdir()
        (folder / "a.conf").write_text("{}")
        assert DirectoryChange(folder, "") in settle(watched)

        (folder / "b.conf").write_text("{}")
        assert DirectoryChange(folder, "b.conf") in settle(watched)


def test_a_directory_that_is_exchanged_is_watched_anew(tmp_path: Path) -> None:
    """A directory moved away and replaced by another of the name: what happens in the new one is
    told.
    """
    folder, new = tmp_path / "net.d", tmp_path / "new"
    folder.mkdir()
    new.mkdir()
    with DirectoryWatch([folder]) as watched:
        folder.rename(tmp_path / "old")
        new.rename(folder)
        settle(watched)
        (folder / "a.conf").write_text("{}")

        assert DirectoryChange(folder, "a.conf") in settle(watched)


def test_another_path_to_the_directory_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parent that is exchanged gives no event; the slow look finds that the path names another
    directory now.
    """
    monkeypatch.setattr(watch, "SAFETY_SECONDS", 0.1)
    folder, other = tmp_path / "a" / "net.d", tmp_path / "b" / "net.d"
    folder.mkdir(parents=True)
    other.mkdir(parents=True)
    with DirectoryWatch([folder]) as watched:
        (tmp_path / "a").rename(tmp_path / "c")
        (tmp_path / "b").rename(tmp_path / "a")
        assert {DirectoryChange(folder, "")} == settle(watched)

        (folder / "a.conf").write_text("{}")
        assert DirectoryChange(folder, "a.conf") in settle(watched)


def test_many_changes_are_told_once(tmp_path: Path) -> None:
    """A flood of events on one entry is one change."""
    with DirectoryWatch([tmp_path]) as watched:
        for number in range(200):
            (tmp_path / "a").write_text(str(number))

        assert (DirectoryChange(tmp_path, "a"),) == watched.wait(PATIENCE)


@pytest.mark.kernel
def test_an_overflowing_queue_loses_nothing(tmp_path: Path) -> None:
    """More events than the kernel queues (fs.inotify.max_queued_events) make every directory worth
    a look.
    """
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with DirectoryWatch([tmp_path]) as watched:
        for number in range(limit // 2 + 100):
            (tmp_path / str(number)).touch()

        assert DirectoryChange(tmp_path, "") in watched.wait(PATIENCE)


def test_another_descriptor_ends_the_wait(tmp_path: Path) -> None:
    """Who waits can be woken by a descriptor of its own."""
    woken = os.eventfd(0)
    with DirectoryWatch([tmp_path]) as watched:
        timer = threading.Timer(0.05, os.eventfd_write, (woken, 1))
        timer.start()
        started = time.monotonic()

        assert watched.wait(PATIENCE, woken) == ()
        assert time.monotonic() - started < PATIENCE / 2
        timer.join()
    os.close(woken)


EXHAUSTED = """
import os, sys, time
from pathlib import Path
from podpath_protect import watch
limit = Path("/proc/sys/user/max_inotify_instances")
before = limit.read_text()
limit.write_text("0")
folder = Path(sys.argv[1])
watch.RETRY_SECONDS = 0.2
watched = watch.DirectoryWatch([folder], poll_seconds=0.05)
print(watched.why_polling)
(folder / "a.conf").write_text("{}")
print(watched.wait(60))
(folder / "a.conf").write_text("{ }")
print(watched.wait(60))
limit.write_text(before)
deadline = time.monotonic() + 60
while watched.why_polling and time.monotonic() < deadline:
    watched.wait(0.1)
print(repr(watched.why_polling), len(watched.descriptors()))
watched.close()
"""


@pytest.mark.parity("L9", "G17")
@pytest.mark.kernel("unshare")
def test_used_up_inotify_makes_it_poll_and_come_back(tmp_path: Path) -> None:
    """Where the user may have no more inotify instances it lists the directory, says why, and goes
    back when it may.
    """
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", EXHAUSTED, str(tmp_path)],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    told = f"(DirectoryChange(directory={tmp_path!r}, name=''),)"

    assert [
        "inotify is refused: Too many open files (fs.inotify.max_user_instances, max_user_watches)",
        told,
        told,
        "'' 1",
    ] == (done.stdout.splitlines()), done.stderr


@pytest.mark.parity("G17")
def test_without_the_package_it_polls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without inotify-simple it says how to get it, and sees changes all the same, also that the
    directory goes and comes.
    """
    monkeypatch.setitem(sys.modules, "inotify_simple", None)
    folder = tmp_path / "net.d"
    with DirectoryWatch([folder], poll_seconds=0.05) as watched:
        assert "pip install inotify-simple" in watched.why_polling
        assert () == watched.descriptors()
        for action in (
            folder.mkdir,
            (folder / "a.conf").touch,
            (folder / "a.conf").unlink,
            folder.rmdir,
        ):
            action()
            assert (DirectoryChange(folder, ""),) == watched.wait(PATIENCE)
