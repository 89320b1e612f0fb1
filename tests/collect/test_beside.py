"""Work beside what goes on: it does not wait, its result is taken once, and its error is raised."""

from __future__ import annotations

import threading

import pytest

from podpath.collect.beside import BesideWorker
from podpath.net.errors import UsageError

PATIENCE = 10.0


def test_nothing_is_waited_for() -> None:
    """While the work goes on there is no result, and then there is one, once."""
    gate = threading.Event()
    worker: BesideWorker[int] = BesideWorker()
    worker.begin(lambda: 7 if gate.wait(PATIENCE) else 0)

    assert (worker.take(), worker.busy) == (None, True)
    gate.set()
    assert worker.take(PATIENCE) == 7
    assert (worker.take(), worker.busy) == (None, False)


def test_an_error_is_for_whoever_takes_the_result() -> None:
    """What the work raised is raised there, and then the next piece may begin."""
    worker: BesideWorker[int] = BesideWorker()

    def fail() -> int:
        raise UsageError("no such node")

    worker.begin(fail)
    with pytest.raises(UsageError, match="no such node"):
        worker.take(PATIENCE)
    worker.begin(lambda: 1)
    assert worker.take(PATIENCE) == 1


def test_one_piece_at_a_time() -> None:
    """A second piece is a mistake of the caller's."""
    gate = threading.Event()
    worker: BesideWorker[bool] = BesideWorker()
    worker.begin(lambda: gate.wait(PATIENCE))
    with pytest.raises(AssertionError):
        worker.begin(lambda: True)
    gate.set()
    assert worker.take(PATIENCE) is True
