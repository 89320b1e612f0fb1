"""The one lesson that is under way on this machine: started, asked, ended, from any shell.

What is remembered of it stands in a folder that only root may read: which lesson it is and how many
hints were given; its world is a process of its own (`world`).
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from podpath_lab.apply import LabError, start_world
from podpath_lab.learn.lessons import LESSONS, Lesson
from podpath_lab.learn.world import BUNDLE, OK, READY, SOCKET

FOLDER = Path("/run/podpath-learn")
_NOTE = "lesson.json"
_PATIENCE = 60.0
"""Seconds that a try may take on a busy machine."""


@dataclass(frozen=True, slots=True)
class Classroom:
    """Where the lesson under way is remembered."""

    folder: Path = FOLDER

    @property
    def bundle(self) -> Path:
        """The bundle of the broken node."""
        return self.folder / BUNDLE

    def start(self, name: str) -> Lesson:
        """Build a lesson's world and break it; `LabError` where another one is under way, or it
        cannot be built.
        """
        if self._is_alive():
            raise LabError(
                f"the lesson {self.read_note()[0]!r} is under way: end it with `podpath learn stop`"
            )
        self._clear()
        self.folder.mkdir(mode=0o700, parents=True)
        words = (sys.executable, "-m", "podpath_lab.learn.world", name, str(self.folder))
        said = start_world(words)
        if said != READY:
            self._clear()
            raise LabError(f"the lesson cannot be started here: {said or 'its world has ended'}")
        self._write_note(name, 0)
        return LESSONS[name]

    def read_note(self) -> tuple[str, int]:
        """Return the lesson's name and how many hints were given; `LabError` where none is under
        way.
        """
        try:
            note = json.loads((self.folder / _NOTE).read_text())
            return str(note["name"]), int(note["hints"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LabError(
                "no lesson is under way: `podpath learn list` shows them, `podpath learn start`"
                " begins the first"
            ) from error

    @property
    def lesson(self) -> Lesson:
        """The lesson under way."""
        return LESSONS[self.read_note()[0]]

    def give_hint(self) -> tuple[int, str]:
        """Return the next hint with its number; the last one again where there are no more.
        `LabError` where there is no world in which to follow it.
        """
        name, given = self.read_note()
        self.find_process()
        hints = LESSONS[name].hints
        number = min(given + 1, len(hints))
        self._write_note(name, number)
        return number, hints[number - 1]

    def try_connection(self) -> str:
        """Return what a client of the connection in question sees now."""
        return self._ask("try")

    def mend(self) -> str:
        """Run the lesson's cure, and return what a client sees then."""
        return self._ask("mend")

    def find_process(self) -> int:
        """Return the process that holds the world, as this process's namespace counts it
        (SO_PEERCRED, unix(7)).
        """
        with self._connect() as connection:
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            number: int = struct.unpack("3i", raw)[0]
            return number

    def stop(self) -> None:
        """End the world, wait until it is gone, and forget it."""
        with suppress(LabError, ProcessLookupError):
            watched = os.pidfd_open(self.find_process())
            try:
                self._ask("stop")
                if not select.select([watched], [], [], _PATIENCE)[0]:
                    signal.pidfd_send_signal(watched, signal.SIGKILL)
            finally:
                os.close(watched)
        self._clear()

    def _is_alive(self) -> bool:
        try:
            with self._connect():
                return True
        except LabError:
            return False

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(_PATIENCE)
            connection.connect(str(self.folder / SOCKET))
        except OSError as error:
            connection.close()
            name = self.read_note()[0]
            raise LabError(
                f"the world of the lesson {name!r} is gone, as after a kill: `podpath learn start"
                f" {name}` builds it anew"
            ) from error
        return connection

    def _ask(self, word: str) -> str:
        try:
            with self._connect() as connection:
                connection.sendall(f"{word}\n".encode())
                said = connection.makefile("rb").read(1 << 16)
        except OSError as error:
            raise LabError(f"the lesson's world does not answer: {error}") from error
        return said.decode("utf-8", "replace")

    def _write_note(self, name: str, hints: int) -> None:
        (self.folder / _NOTE).write_text(json.dumps({"name": name, "hints": hints}))

    def _clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def is_working(seen: str) -> bool:
    """Tell whether a client got its answer."""
    return seen == OK


def list_words(netns: str, command: Sequence[str]) -> tuple[str, ...]:
    """Return the words that run a command in a namespace of the world."""
    return ("ip", "netns", "exec", netns, *(command or ("bash", "--norc")))
