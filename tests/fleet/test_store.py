"""The journal of a run, which survives its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.net.errors import UsageError
from podpath_fleet.questions import FleetTables
from podpath_fleet.store import JOURNAL, Journal, read_journal
from tests.fleet.made import NODES


def test_a_journal_survives_the_end_of_its_run(out: Path, tmp_path: Path) -> None:
    """A line that was not written to its end is cut off; what was written is not done again."""
    written = (out / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(written + b'{"identity": "half')
    journal = Journal(str(tmp_path))

    assert len(journal.done) == NODES + 1
    with pytest.raises(UsageError, match="another run"):
        Journal(str(tmp_path))
    journal.close()
    assert (tmp_path / JOURNAL).read_bytes() == written
    assert len(list(read_journal(str(tmp_path)))) == NODES + 1
    with pytest.raises(UsageError, match="expected the tables"):
        FleetTables(str(tmp_path))
