"""The process that holds a lesson's world: it builds the node, breaks it, answers the learner's
connections, and tries the connection in question when it is asked to.

It is the first process of a process namespace of its own, in private network and mount namespaces.
When it ends, however it ends, the kernel ends everything inside and takes the world down
(pid_namespaces(7)). Outside of it there is a folder with its socket, the bundle and a note.
"""

from __future__ import annotations

import selectors
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from podpath.net.errors import PodpathError
from podpath_lab.apply import apply, enter_private_world
from podpath_lab.conversation import Timeouts
from podpath_lab.learn.answering import AnsweringServers
from podpath_lab.learn.lessons import LESSONS, Lesson
from podpath_lab.rehearsal import StagedNode, build_stage

SOCKET, BUNDLE = "socket", "bundle"
READY = "ready"
OK = "ok"
IDLE = 12 * 3600.0
"""Seconds without a word from anybody, after which a forgotten world ends."""
_TRIES = 2
"""A first packet may be lost to a neighbor that is not known yet."""
_PATIENCE = Timeouts(0.3)
"""On a busy machine the next frame is late by more than the lab's usual silence."""


@dataclass(slots=True)
class LessonWorld:
    """A lesson's world, standing."""

    lesson: Lesson
    stage: StagedNode
    attempts: int = 0

    def try_connection(self) -> str:
        """Send the connection in question, and return what its client saw: `ok`, or an error."""
        seen = ""
        for _ in range(_TRIES):
            seen = self.stage.probe(self.attempts, _PATIENCE).application
            self.attempts += 1
            if seen == OK:
                break
        return seen

    def mend(self) -> str:
        """Run the cure, and return what the client sees then."""
        apply(self.lesson.incident.mended_by)
        return self.try_connection()


def build_world(lesson: Lesson, bundle: Path) -> LessonWorld:
    """Build a lesson's node in this process's private world, see that it works, break it, and keep
    its bundle.
    """
    world = LessonWorld(lesson, build_stage(lesson.incident))
    if (seen := world.try_connection()) != OK:
        raise PodpathError(f"the lesson's node does not work on this kernel: {seen}")
    apply(lesson.incident.broken_by)
    if world.try_connection() == OK:
        raise PodpathError("the lesson's node cannot be broken on this kernel")
    world.stage.collect(bundle, broken=True)
    return world


def answer(world: LessonWorld, listening: socket.socket, idle: float = IDLE) -> None:
    """Answer the learner's connections and the command's words, until it says `stop` or nobody says
    anything for long.
    """
    words: dict[str, Callable[[], str]] = {"try": world.try_connection, "mend": world.mend}
    with selectors.DefaultSelector() as selector:
        selector.register(listening, selectors.EVENT_READ)
        servers = AnsweringServers(world.stage.servers, selector)
        while ready := selector.select(idle):
            for key, _ in ready:
                if key.fileobj is not listening:
                    if isinstance(key.fileobj, socket.socket):
                        key.data(key.fileobj)
                    continue
                servers.hang_up()
                if not _hear(listening, words):
                    return
                break  # what was ready may be closed by now


def _hear(listening: socket.socket, words: dict[str, Callable[[], str]]) -> bool:
    """Answer one word; False where it ends the world."""
    connection, _ = listening.accept()
    with connection:
        connection.settimeout(5)
        try:
            word = connection.recv(64).decode("ascii", "replace").strip()
            if word in words:
                connection.sendall(words[word]().encode())
        except PodpathError as error:
            connection.sendall(str(error).encode())
        except OSError:
            return True
    return word != "stop"


def hold(name: str, folder: Path) -> None:
    """Build a lesson's world, say on standard output that it is ready or why it is not, and hold
    it.
    """
    try:
        enter_private_world()
        world = build_world(LESSONS[name], folder / BUNDLE)
    except PodpathError as error:
        sys.stdout.write(" ".join(str(error).split()) + "\n")
        return
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / SOCKET))
        listening.listen(4)
        sys.stdout.write(f"{READY}\n")
        sys.stdout.close()
        answer(world, listening)


if __name__ == "__main__":
    hold(sys.argv[1], Path(sys.argv[2]))
