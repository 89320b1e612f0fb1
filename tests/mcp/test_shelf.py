"""What stands behind an answer is kept for a while, and read in pieces of bounded size."""

from __future__ import annotations

import pytest

from podpath.net.errors import UsageError
from podpath.net.provenance import Source
from podpath_mcp.bounds import HELD, KEPT, PART, WHOLE
from podpath_mcp.shelf import AROUND, AnswerShelf, KeptAnswer, list_neighbors


def kept(text: str) -> tuple[AnswerShelf, int]:
    """Make a shelf with one answer of that text."""
    shelf = AnswerShelf()
    number = shelf.next_number()
    shelf.keep(number, KeptAnswer(forms={"text": text}, quotes=["a line"]))
    return shelf, number


def test_an_answer_is_read_whole_and_in_parts() -> None:
    """The parts joined are the whole."""
    text = "x" * PART + "y" * 10
    shelf, number = kept(text)

    assert text == shelf.read_form(number, "text")
    assert text == shelf.read_form(number, "text", 0) + shelf.read_form(number, "text", 1)
    assert "a line" == shelf.read_quote(number, 0)


def test_a_long_answer_names_its_parts() -> None:
    """Beyond a megabyte, the whole is refused with the addresses of its parts."""
    shelf, number = kept("x" * (WHOLE + 1))

    with pytest.raises(
        UsageError, match="podpath://answers/1/text/0 to podpath://answers/1/text/4"
    ):
        shelf.read_form(number, "text")
    assert WHOLE + 1 - 4 * PART == len(shelf.read_form(number, "text", 4))


@pytest.mark.parametrize(
    ("form", "part", "why"),
    [("html", None, "json or text"), ("text", 1, "from 0 to 0"), ("text", -1, "from 0 to 0")],
)
def test_what_there_is_not(form: str, part: int | None, why: str) -> None:
    """Another form or part is refused with what there is."""
    shelf, number = kept("x")

    with pytest.raises(UsageError, match=why):
        shelf.read_form(number, form, part)
    with pytest.raises(UsageError, match="1 quoted lines"):
        shelf.read_quote(number, 1)


def test_the_oldest_answer_goes_first() -> None:
    """Sixteen are kept."""
    shelf, first = kept("first")
    for _ in range(KEPT):
        shelf.keep(shelf.next_number(), KeptAnswer(forms={"text": "later"}))

    with pytest.raises(UsageError, match="answer 1 is not kept"):
        shelf.read_form(first, "text")
    assert "later" == shelf.read_form(first + 1, "text")


def test_answers_are_held_up_to_a_size() -> None:
    """One that is too large by itself is not kept, and the server does not grow with it."""
    shelf, number = kept("x" * (HELD + 1))

    with pytest.raises(UsageError, match="--json"):
        shelf.read_form(number, "text")


def test_a_quoted_line_stands_among_its_neighbors() -> None:
    """It is marked, each line has its number in the file, and all of it is safe to print."""
    lines = tuple(f"line {number}\x1b" for number in range(101, 201))
    shown = list_neighbors(Source(name="a\x07.txt", lines=lines, first_line=101), 150)
    rows = shown.splitlines()

    assert "a\\x07.txt" == rows[0]
    assert 1 + 2 * AROUND + 1 == len(rows)
    assert [">    150 | line 150\\x1b"] == [row for row in rows if row.startswith(">")]


def test_the_first_line_has_neighbors_behind_it() -> None:
    """Nothing stands before it."""
    shown = list_neighbors(Source(name="a", lines=("one", "two")), 1)

    assert "a\n>      1 | one\n       2 | two\n" == shown
