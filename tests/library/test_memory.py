"""The garbage collector is left as it was found."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from podpath.library.memory import SELDOM, collecting_nothing, collecting_seldom
from podpath.library.reading import read
from podpath.net.errors import EvidenceError
from tests.library.samples import NO_FORWARDING


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Begin as a program does that never touched the collector, whatever tests of the same process
    did.
    """
    thresholds, enabled = gc.get_threshold(), gc.isenabled()
    gc.unfreeze()
    gc.enable()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*thresholds)
    if not enabled:
        gc.disable()


def test_collector_looks_seldom_meanwhile_and_as_before_afterwards() -> None:
    """Nested calls, and errors, change nothing of that."""
    before = gc.get_threshold(), gc.get_freeze_count(), gc.isenabled()
    with collecting_seldom():
        assert gc.get_threshold()[0] >= SELDOM
        assert gc.get_freeze_count() > 0
        read(NO_FORWARDING)
        with pytest.raises(EvidenceError):
            read([])
        assert gc.get_freeze_count() > 0  # what is freed meanwhile no longer counts

    assert before == (gc.get_threshold(), gc.get_freeze_count(), gc.isenabled())


def test_what_a_caller_froze_stays_frozen() -> None:
    """Only what was frozen here is thawed."""
    gc.freeze()
    try:
        with collecting_seldom():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_what_is_read_is_never_looked_at() -> None:
    """No look while it is read, and none at it after; the collector works again then."""
    try:
        with collecting_nothing():
            assert not gc.isenabled()
            kept = [[number] for number in range(1000)]
        assert gc.isenabled()
        assert gc.get_freeze_count() >= len(kept)
    finally:
        gc.unfreeze()
