"""Work that is done beside what goes on: by a thread of its own, one piece after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from podpath.net.errors import PodpathError

T = TypeVar("T")


class BesideWorker(Generic[T]):
    """Does a piece of work at a time; whoever gave it asks now and then whether it is done."""

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._thread: threading.Thread | None = None
        self._results: list[T] = []
        self._errors: list[PodpathError | OSError] = []

    @property
    def busy(self) -> bool:
        """Tell whether something is under way, or done and not yet taken."""
        return self._thread is not None

    def begin(self, work: Callable[[], T]) -> None:
        """Begin a piece of work; `AssertionError` while another is under way."""
        if self._thread is not None:
            raise AssertionError("one piece of work at a time")
        # a daemon: where the process ends, nobody waits for what it would have said
        self._thread = threading.Thread(target=self._run, args=(work,), name="beside", daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._results.append(work())
        except (PodpathError, OSError) as error:
            self._errors.append(error)

    def take(self, seconds: float = 0.0) -> T | None:
        """Return what came of the work, and raise what it raised; None where it is not done within
        so many seconds, or nothing was begun.
        """
        if self._thread is None:
            return None
        self._thread.join(seconds)
        if self._thread.is_alive():
            return None
        self._thread = None
        if self._errors:
            raise self._errors.pop()
        if not self._results:  # a mistake, which the thread has printed
            raise AssertionError("the work beside did not come to its end")
        return self._results.pop()
