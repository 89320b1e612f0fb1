"""Columns in files without a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.collect.spool import Spool


def test_columns_come_back_as_they_were_written() -> None:
    """Pieces of several columns stand in their order; a column that nobody wrote is empty."""
    spool = Spool()
    for piece in (b"ab", b"cd"):
        spool.append("one", memoryview(piece))
        spool.append("other", memoryview(piece * 2))

    assert (b"abcd", b"ababcdcd", b"") == tuple(
        bytes(spool.view(name)) for name in ("one", "other", "none")
    )
    spool.close()


def test_files_have_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left in the folder for temporary files, not even while they are used."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    spool = Spool()
    spool.append("one", memoryview(b"ab"))

    assert [] == list(tmp_path.iterdir())
    spool.close()
