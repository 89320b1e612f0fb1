"""docs/quality/parity.md tells the truth: every row stands in it, and every test that it names
exists.
"""

from __future__ import annotations

import re
from pathlib import Path

ROWS = {"V": 11, "W": 5, "L": 12, "N": 13, "D": 7, "P": 11, "R": 11, "I": 10, "Y": 12}


def test_every_row_has_its_line(repository: Path) -> None:
    """Each numbered row is held by a test or has a reason."""
    page = (repository / "docs" / "quality" / "parity.md").read_text()
    told = {
        found[1]
        for found in re.finditer(r"^\| ([A-Z]\d+) \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE)
    }

    assert [] == [
        f"{letter}{number}"
        for letter, last in ROWS.items()
        for number in range(1, last + 1)
        if f"{letter}{number}" not in told
    ]


def test_every_gap_has_its_line(repository: Path) -> None:
    """Each complaint of the others' users, G1 to G26, has tests or a reason."""
    page = (repository / "docs" / "quality" / "parity.md").read_text()
    told = re.findall(r"^\| (G\d+) [^|]+ \| [^|]+ \|$", page, re.MULTILINE)

    assert told == [f"G{number}" for number in range(1, 27)]


def test_no_line_is_empty_of_proof(repository: Path) -> None:
    """Whatever is claimed names a test; a row without one says that it does not apply, or what is
    done instead.
    """
    page = (repository / "docs" / "quality" / "parity.md").read_text()
    rows = re.findall(r"^\| ([A-Z]\d+)\b[^|]*\|(.*)\|$", page, re.MULTILINE)
    bare = [
        name
        for name, rest in rows
        if "`test_" not in rest and not re.search(r"not applicable|not needed|differs", rest)
    ]

    assert [] == bare


def test_every_named_test_exists(repository: Path) -> None:
    """A test that the page names is one that pytest would run."""
    page = (repository / "docs" / "quality" / "parity.md").read_text()
    tests = "\n".join(path.read_text() for path in (repository / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))

    assert [] == sorted(name for name in named if f"def {name}(" not in tests)
