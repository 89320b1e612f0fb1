"""The notebook of docs/ is true: it runs to its last cell, and shows what it says."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def load() -> nbformat.NotebookNode:
    """Return the notebook as it is kept."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call, no-any-return]  # it has no types


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """Run the notebook where it stands, and provide what each cell shows, by the cell's id."""
    notebook = load()
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.id: "\n".join(map(show, cell.outputs)) for cell in cells}


def show(output: nbformat.NotebookNode) -> str:
    """Return an output as the reader sees it: HTML where there is some, else text."""
    if output.output_type == "stream":
        return str(output.text)
    return str(output.data.get("text/html") or output.data["text/plain"])


@pytest.mark.parametrize("cell", ["ticket", "walk", "diff", "timeline"])
def test_an_answer_shows_its_table(shown: dict[str, str], cell: str) -> None:
    """And the drawing, where something was walked or happened in order."""
    assert "<table>" in shown[cell]
    assert "<svg" in shown[cell]


def test_the_cause_is_printed_with_its_line_and_fix(shown: dict[str, str]) -> None:
    """As the page says."""
    assert shown["cause"].splitlines() == [
        "rp-filter 1.0",
        "../examples/incidents/rp-filter-reset/ticket.md:79 | net.ipv4.conf.all.rp_filter = 1",
        "('sysctl -w net.ipv4.conf.all.rp_filter=0',) simulated",
    ]


def test_frames_show_the_packets_and_all_tickets(shown: dict[str, str]) -> None:
    """The dropped packet with its line, and the cause of each ticket."""
    assert "IP_RPFILTER" in shown["steps"]
    for check in ("br-netfilter", "chain-order", "rp-filter"):
        assert check in shown["causes"]
    assert "foreign-arp" in shown["frames"]


def test_it_is_kept_without_outputs() -> None:
    """What it shows is made when it runs, and never old."""
    notebook = load()

    assert not [cell.id for cell in notebook.cells if cell.get("outputs")]
