"""Commands of the lab that need no process."""

from __future__ import annotations

import subprocess
import sys
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


@pytest.mark.kernel
def test_a_worker_that_acted_as_another_user_ends_with_its_parent() -> None:
    """The kernel forgets that it should, and is told again."""
    lines = (
        "import ctypes, os; from podpath_lab.apply import as_user, die_with_parent",
        "die_with_parent(os.getppid())",
        "with as_user(1000): inside = os.geteuid()",
        "kept = ctypes.c_int()",
        "ctypes.CDLL(None).prctl(2, ctypes.byref(kept))",
        "print(kept.value)",
        "print(inside, os.geteuid())",
    )
    ran = subprocess.run(
        (sys.executable, "-c", "\n".join(lines)), capture_output=True, text=True, check=True
    )

    assert "9\n1000 0\n" == ran.stdout
