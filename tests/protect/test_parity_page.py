"""docs/quality/parity.md tells the truth: every row stands in it, made from the tests that bear its
name, and every test that the page names exists.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import parity_tables
from scripts.parity_tables import CoveringTest, ParityRow, find_tests, load_rows, render_table

NUMBERS = {
    "V": 11, "W": 5, "L": 12, "N": 13, "D": 7, "P": 11, "R": 11, "I": 10, "Y": 12, "G": 26,
}  # fmt: skip
MODULE = '''
@pytest.mark.parity("V1", "G2")
@pytest.mark.parametrize("x", [1])
def test_one(x):
    """V1: it holds, e.g. so far. And more."""

def test_other():
    """Nothing to do with it."""
'''


@pytest.fixture(scope="module")
def rows(repository: Path) -> dict[str, ParityRow]:
    """Provide the rows."""
    return load_rows((repository / "docs" / "quality" / "parity-rows.toml").read_text())


@pytest.fixture(scope="module")
def covering(repository: Path) -> tuple[CoveringTest, ...]:
    """Provide the tests that bear a row's name."""
    return parity_tables.covering_tests(repository / "tests")


def test_every_row_is_there(rows: dict[str, ParityRow]) -> None:
    """Each numbered row of the others' behavior and each complaint of their users."""
    wanted = [
        f"{letter}{place}" for letter, last in NUMBERS.items() for place in range(1, last + 1)
    ]

    assert sorted(wanted) == sorted(rows)


def test_a_row_says_what_a_test_shows(
    rows: dict[str, ParityRow], covering: tuple[CoveringTest, ...]
) -> None:
    """Either tests bear its name, or it says why none does; no test bears the name of no row, and
    each says in a sentence what it shows.
    """
    covered = {name for test in covering for name in test.rows}

    assert {name for name, row in rows.items() if row.without} == rows.keys() - covered
    assert set() == covered - rows.keys()
    assert [] == [test.name for test in covering if not test.shows]
    assert [] == [name for name, row in rows.items() if row.without and (row.open or row.differs)]


def test_a_row_without_a_test_claims_nothing(rows: dict[str, ParityRow]) -> None:
    """It says that it does not apply, or that what theirs does is not needed."""
    claims = [row.without for row in rows.values() if row.without]

    assert [] == [each for each in claims if not re.match(r"not (?:applicable|needed)\b", each)]


def test_every_named_test_exists(repository: Path) -> None:
    """A test that the page names beside its tables is one that pytest would run."""
    page = (repository / "docs" / "quality" / "parity.md").read_text()
    tests = "\n".join(path.read_text() for path in (repository / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", page))

    assert [] == sorted(name for name in named if f"def {name}(" not in tests)


def test_the_marks_are_read_from_the_tests() -> None:
    """The rows of a test, and its first sentence without their names."""
    (found,) = find_tests(MODULE)

    assert ("test_one", ("V1", "G2")) == (found.name, found.rows)
    assert found.shows.startswith("It holds")


@pytest.mark.parametrize("mark", ["", "1", '"v1"', 'row="V1"', '"V1", name'])
def test_a_mark_that_names_no_row_is_refused(mark: str) -> None:
    """A slip in a mark would leave a row without its test and nobody would know."""
    with pytest.raises(ValueError, match="expected names of rows"):
        list(find_tests(f"@pytest.mark.parity({mark})\ndef test_x(): ...\n"))


def test_a_table_says_what_is_open_and_what_is_shown() -> None:
    """In the order of the numbers; marks before what the tests say."""
    rows = {
        "V10": ParityRow(theirs="a|b", open="not always", differs=True),
        "V2": ParityRow(theirs="c", without="not applicable: d"),
        "W1": ParityRow(theirs="e"),
    }

    assert render_table("V", rows, (CoveringTest("test_x", "It holds.", ("V10",)),)) == (
        "| row | theirs | podpath, as its tests show |\n"
        "|---|---|---|\n"
        "| V2 | c | not applicable: d |\n"
        "| V10 | a\\|b | **open**: not always<br>differs on purpose<br>It holds. (`test_x`) |\n"
    )
