"""Progress as a callback hears it."""

from __future__ import annotations

import pytest

from podpath.library.progress import silent, stage
from podpath.library.reading import read
from podpath.net.errors import EvidenceError
from tests.library.samples import NO_FORWARDING


def test_beginning_share_and_end_are_told() -> None:
    """A share never looks like a beginning or an end, and the end is told after an error too."""
    told: list[tuple[str, float]] = []

    def fail() -> None:
        with stage(lambda doing, share: told.append((doing, share)), "reading") as tell:
            for share in (0.0, 0.5, 1.0):
                tell(share)
            raise EvidenceError("unreadable")

    with pytest.raises(EvidenceError):
        fail()
    assert [("reading", share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)] == told


def test_nobody_needs_to_listen(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a callback nothing is said; with one, every stage that begins ends."""
    told: list[tuple[str, float]] = []
    silent("reading", 0.0)
    read(NO_FORWARDING)
    read(NO_FORWARDING, progress=lambda doing, share: told.append((doing, share)))

    assert capsys.readouterr() == ("", "")
    first = [share for doing, share in told if doing == "reading 1 input"]
    assert ([0.0, 1 / 3, 2 / 3, 1.0], sorted(first)) == (first, first)
    assert [doing for doing, share in told if share == 0.0] == [
        doing for doing, share in told if share == 1.0
    ]
