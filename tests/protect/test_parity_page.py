"""docs/parity.md tells the truth: every row stands in it, and every test that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROWS = {"V": 11, "W": 5, "L": 12, "N": 13, "D": 7, "P": 11, "R": 11, "I": 10, "Y": 12}


def test_every_row_has_its_line(repository: Path) -> None:
    """Each numbered row is held by a test or has a reason."""
    page = (repository / "docs" / "parity.md").read_text()
    told = {found[1] for found in re.finditer(r"^\| ([A-Z]\d+) \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE)}

    assert [] == [
        f"{letter}{number}" for letter, last in ROWS.items() for number in range(1, last + 1) if f"{letter}{number}" not in told
    ]


def test_every_named_test_exists(repository: Path) -> None:
    """A test that the page names is one that pytest would run."""
    page = (repository / "docs" / "parity.md").read_text()
    tests = "\n".join(path.read_text() for path in (repository / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))

    assert [] == sorted(name for name in named if f"def {name}(" not in tests)
