"""`import podpath`: what it offers, and that it costs nothing until it is asked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import podpath

LAZY = """
import sys
import podpath
loaded = sorted(name for name in sys.modules if name.startswith("podpath"))
dir(podpath)
sys.exit(0 if loaded == ["podpath", "podpath.version"] else " ".join(loaded))
"""
PACKAGES = """
import podpath
import podpath.checks.registry, podpath.timeline.build
from podpath.checks.routing import rp_filter
assert callable(podpath.checks) and callable(podpath.timeline), podpath.checks
assert rp_filter.__name__ == "podpath.checks.routing.rp_filter"
"""


@pytest.mark.parametrize("program", [LAZY, PACKAGES], ids=["lazy", "beside packages"])
def test_import_is_cheap_and_functions_stay_functions(program: str) -> None:
    """Importing loads nothing; packages named like a function do not take its place."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize("name", [name for name in podpath.__all__ if not name.startswith("_")])
def test_everything_offered_is_there_and_documented(name: str) -> None:
    """Each name is a function or class of podpath with a docstring."""
    offered = getattr(podpath, name)

    assert isinstance(offered, (type, FunctionType))
    assert offered.__module__.startswith("podpath.")
    assert (offered.__doc__ or "").strip()
    assert name in dir(podpath)


def test_there_is_nothing_else() -> None:
    """A wrong name is an AttributeError, as of any module."""
    with pytest.raises(AttributeError, match="no attribute 'diagnoze'"):
        _ = podpath.diagnoze  # type: ignore[attr-defined]  # what the test is about


def test_only_the_command_lines_own_tests_import_it() -> None:
    """Tests and benchmarks ask the library; beside the command's own tests one prints the lab's
    tally as the command does.
    """
    top = Path(__file__).resolve().parents[1]
    programs = [
        path for folder in ("tests", "bench", "examples") for path in (top / folder).rglob("*.py")
    ]
    importing = re.compile(r"^(?:from|import) podpath\.cli\b", re.MULTILINE)
    found = {
        str(path.relative_to(top))
        for path in programs
        if importing.search(path.read_text(encoding="utf-8"))
    }

    assert {"tests/test_cli.py", "tests/kernel/test_agreement.py"} >= {
        name for name in found if not name.startswith("tests/cli/")
    }
