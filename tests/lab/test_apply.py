"""Commands of the lab that need no process."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath_lab import apply
from podpath_lab.apply import LabError, run
from podpath_lab.script import WRITE_SYSCTLS, ScriptCommand


def test_sysctls_are_written_where_they_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line sets its key; one that the kernel lacks is passed over, as sysctl(8) does with
    -e.
    """
    monkeypatch.setattr(apply, "SYSCTLS", tmp_path)
    (tmp_path / "net").mkdir()
    (tmp_path / "net/one").write_text("0")
    assert run(ScriptCommand(WRITE_SYSCTLS, "net/one = 1\nother/two = 2\n")) == ""
    assert (tmp_path / "net/one").read_text() == "1"


def test_a_value_that_is_refused_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which line could not be written, and why."""
    monkeypatch.setattr(apply, "SYSCTLS", tmp_path)
    (tmp_path / "net").mkdir()
    with pytest.raises(LabError, match="net = 1: Is a directory"):
        run(ScriptCommand(WRITE_SYSCTLS, "net = 1\n"))
