"""Directories watched for changes, so that no change is missed: not the one before the first look,
not the one after a removal.

What comes in are directories, which need not exist; what goes out are `DirectoryChange`s. The watch
is armed when it is made, so a caller who looks afterwards has seen everything. A directory that is
removed, moved away, mounted over or not yet there is waited for at its nearest ancestor, and
watched again when it is back. Where inotify is used up (fs.inotify.max_user_instances and the like)
or the package is missing, the directories are listed at intervals instead, and inotify is tried
again later.
"""

from __future__ import annotations

import importlib
import os
import select
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

ENTRIES = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200
"""IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE
(inotify(7)).
"""
ARRIVALS = 0x80 | 0x100
ITSELF = 0x400 | 0x800
ONLY_DIRECTORY, ADD_TO_MASK = 0x01000000, 0x20000000
GONE = ITSELF | 0x2000 | 0x8000
"""IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT, IN_IGNORED."""
OVERFLOW = 0x4000

POLL_SECONDS = 2.0
SAFETY_SECONDS = 10.0
"""How often inotify's watches are held against what the paths name now: no event tells of a mount
over a directory.
"""
RETRY_SECONDS = 60.0

Listing = tuple[tuple[object, ...], ...]


class DirectoryChange(NamedTuple):
    """Something changed in a directory."""

    directory: Path
    name: str
    """The entry; empty where the directory itself came or went, or where it is not known which
    entry it was.
    """


class DirectoryWatch:
    """A watch on directories, armed when it is made."""

    def __init__(self, directories: Sequence[Path], *, poll_seconds: float = POLL_SECONDS) -> None:
        """Arm the watch."""
        self.directories = tuple(dict.fromkeys(directories))
        self.poll_seconds = poll_seconds
        self.why_polling = ""
        """Why it lists the directories at intervals; empty while inotify serves."""
        self._inotify: Any = None
        self._watched: dict[int, set[Path]] = {}
        self._awaited: dict[int, set[tuple[Path, str]]] = {}
        self._identities: dict[Path, tuple[int, int] | None] = {}
        self._listings: dict[Path, Listing | None] = {}
        self._next_look = 0.0
        self._next_try = 0.0
        self._start()

    def descriptors(self) -> tuple[int, ...]:
        """Return what becomes readable on a change, nothing while polling; another one after a
        directory was removed.
        """
        if self._inotify is None:
            return ()
        return (self._inotify.fileno(),)

    def pause(self) -> float:
        """Return the seconds after which `changes` should be asked even if no descriptor became
        readable.
        """
        return max(0.0, self._next_look - time.monotonic())

    def changes(self) -> tuple[DirectoryChange, ...]:
        """Return what changed since it was last asked, without waiting."""
        seen = self._read() if self._inotify is not None else []
        now = time.monotonic()
        if now >= self._next_look:
            seen += self._look(now)
        return tuple(dict.fromkeys(seen))

    def wait(self, seconds: float, *others: int) -> tuple[DirectoryChange, ...]:
        """Wait for a change, at most so long, or until another descriptor is readable."""
        deadline = time.monotonic() + seconds
        while not (seen := self.changes()):
            left = deadline - time.monotonic()
            if left <= 0 or self._poll(min(left, self.pause()), others):
                break
        return seen

    def close(self) -> None:
        """Close the descriptor."""
        if self._inotify is not None:
            self._inotify.close()
            self._inotify = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _poll(self, seconds: float, others: Sequence[int]) -> bool:
        poll = select.poll()
        for descriptor in (*self.descriptors(), *others):
            poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000 + 1)}
        return bool(ready.intersection(others))

    def _start(self) -> None:
        now = time.monotonic()
        try:
            # The library that is an extra: without it, polling serves.
            self._inotify = importlib.import_module("inotify_simple").INotify(nonblocking=True)
            self._watched, self._awaited = {}, {}
            for directory in self.directories:
                self._arm(directory)
        except ImportError:
            self._fall_back(
                "the package inotify-simple is not installed: pip install inotify-simple", now
            )
        except OSError as error:
            self._fall_back(
                (
                    f"inotify is refused: {error.strerror} (fs.inotify.max_user_instances, "
                    "max_user_watches)"
                ),
                now,
            )
        else:
            self.why_polling = ""
            self._next_look = now + SAFETY_SECONDS

    def _fall_back(self, why: str, now: float) -> None:
        self.close()
        self.why_polling = why
        self._listings = {directory: _list(directory) for directory in self.directories}
        self._next_look, self._next_try = now + self.poll_seconds, now + RETRY_SECONDS

    def _arm(self, directory: Path) -> None:
        """Watch a directory, or its nearest ancestor while it is not there; the ancestor is armed
        before the next look.
        """
        place = directory
        while True:
            mask = (
                (ENTRIES if place == directory else ARRIVALS)
                | ITSELF
                | ONLY_DIRECTORY
                | ADD_TO_MASK
            )
            try:
                number = self._inotify.add_watch(place, mask)
            except (FileNotFoundError, NotADirectoryError):
                if place == place.parent:
                    raise
                place = place.parent
                continue
            if place == directory:
                self._watched.setdefault(number, set()).add(directory)
                break
            child = _child(place, directory)
            self._awaited.setdefault(number, set()).add((directory, child.name))
            if not child.is_dir():
                break
            place = directory  # it came while its ancestor was being armed
        self._identities[directory] = _identity(directory)

    def _read(self) -> list[DirectoryChange]:
        seen: list[DirectoryChange] = []
        anew = False
        for number, mask, _, name in self._inotify.read(timeout=0):
            if mask & OVERFLOW:
                seen += [DirectoryChange(directory, "") for directory in self.directories]
            if mask & GONE:
                anew = anew or number in self._watched or number in self._awaited
            elif any(name == awaited for _, awaited in self._awaited.get(number, ())):
                anew = True
            else:
                seen += [
                    DirectoryChange(directory, name) for directory in self._watched.get(number, ())
                ]
        return seen + self._arm_anew() if anew else seen

    def _look(self, now: float) -> list[DirectoryChange]:
        if self._inotify is not None:
            self._next_look = now + SAFETY_SECONDS
            same = all(
                _identity(directory) == self._identities[directory]
                for directory in self.directories
            )
            return [] if same else self._arm_anew()
        self._next_look = now + self.poll_seconds
        listings = {directory: _list(directory) for directory in self.directories}
        seen = [
            DirectoryChange(directory, "")
            for directory in self.directories
            if listings[directory] != self._listings[directory]
        ]
        self._listings = listings
        if now >= self._next_try:
            self._start()
            seen += (
                []
                if self.why_polling
                else [DirectoryChange(directory, "") for directory in self.directories]
            )
        return seen

    def _arm_anew(self) -> list[DirectoryChange]:
        """Watch all directories anew and tell of each that is there or was: what happened between
        the watches is not known.
        """
        there = {directory for directory in self.directories if self._identities.get(directory)}
        self.close()
        self._start()
        there.update(directory for directory in self.directories if _identity(directory))
        return [
            DirectoryChange(directory, "") for directory in self.directories if directory in there
        ]


def _child(ancestor: Path, directory: Path) -> Path:
    return ancestor / directory.relative_to(ancestor).parts[0]


def _identity(directory: Path) -> tuple[int, int] | None:
    try:
        there = directory.stat()
    except OSError:
        return None
    return (there.st_dev, there.st_ino)


def _list(directory: Path) -> Listing | None:
    """List a directory with what tells one state of a file from another; None where it cannot be
    listed.
    """
    try:
        with os.scandir(directory) as entries:
            return tuple(sorted((entry.name, *_state(entry)) for entry in entries))
    except OSError:
        return None


def _state(entry: os.DirEntry[str]) -> tuple[object, ...]:
    try:
        there = entry.stat(follow_symlinks=False)
    except OSError:
        return (0, 0, 0, 0)
    return (there.st_ino, there.st_size, there.st_mtime_ns, there.st_mode)
