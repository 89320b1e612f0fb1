"""The main list of an answer as rows, and as HTML."""

from __future__ import annotations

from podpath.report.tables import SHOWN, AnswerTable, TablePlan, fill_table, render_table

QUOTE = {"source": "a.txt", "line": 3, "text": "-j DROP"}
DOCUMENT = {
    "branches": [{"packets": [{"name": "SYN", "evidence": [QUOTE, QUOTE], "commands": ["a", "b"]}]}]
}


def test_a_table_is_filled_from_its_place() -> None:
    """A quoted line has its place, a list is joined, and what is missing is empty."""
    columns = {
        "packet": "name",
        "line": "evidence.0",
        "third": "evidence.2",
        "fix": "commands",
        "none": "other.part",
    }

    assert fill_table(DOCUMENT, TablePlan("branches.0.packets", columns)) == AnswerTable(
        tuple(columns), (("SYN", "a.txt:3 | -j DROP", None, "a; b", None),)
    )


def test_a_list_that_is_not_there_has_no_rows() -> None:
    """The columns stay."""
    assert fill_table(DOCUMENT, TablePlan("branches.1.packets", {"a": "a"})) == AnswerTable(
        ("a",), ()
    )


def test_markup_in_a_cell_is_text() -> None:
    """Of names of columns, too."""
    shown = render_table(AnswerTable(("<b>",), (("<script>&",), (None,), (0.5,))))

    assert shown == (
        "<table><tr><th>&lt;b&gt;</th></tr><tr><td>&lt;script&gt;&amp;</td></tr>"
        "<tr><td></td></tr><tr><td>0.5</td></tr></table>\n"
    )


def test_a_long_table_is_cut_and_says_so() -> None:
    """The frame has all rows; a cell of two megabytes is shortened."""
    shown = render_table(AnswerTable(("a",), (("x" * 2_000_000,),) * (SHOWN + 1500)))

    assert "and 1,500 more" in shown
    assert 20_000 > len(shown)


def test_no_rows_are_no_table() -> None:
    """Nothing is shown."""
    assert not render_table(AnswerTable(("a",), ()))
