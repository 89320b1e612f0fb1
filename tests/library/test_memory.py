"""The garbage collector is left as it was found."""

from __future__ import annotations

import gc

import pytest

from podpath.library.memory import SELDOM, collecting_seldom
from podpath.library.reading import read
from podpath.net.errors import EvidenceError
from tests.library.samples import NO_FORWARDING


def test_collector_looks_seldom_meanwhile_and_as_before_afterwards() -> None:
    """Nested calls, and errors, change nothing of that."""
    before = gc.get_threshold(), gc.get_freeze_count(), gc.isenabled()
    with collecting_seldom():
        assert gc.get_threshold()[0] >= SELDOM
        frozen = gc.get_freeze_count()
        read(NO_FORWARDING)
        with pytest.raises(EvidenceError):
            read([])
        assert (True, frozen) == (frozen > 0, gc.get_freeze_count())

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
