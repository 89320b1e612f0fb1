"""What every result can do."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields

import pytest

from podpath.library.captures import captures
from podpath.library.diagnosis import diagnose
from podpath.library.diff import diff
from podpath.library.given import Pasted
from podpath.library.result import Result
from podpath.library.timeline import timeline
from podpath.library.trace import trace
from podpath.net.errors import MissingExtra
from tests.library.samples import LOG, NO_FORWARDING, PROBE, RP_FILTER

HOSTILE = Pasted(NO_FORWARDING.text.replace("cni0", "<i>\x1b[1m"), "<script>")
RESULTS: list[Result] = [
    diagnose(NO_FORWARDING, [PROBE]),
    trace(NO_FORWARDING, PROBE),
    diff(NO_FORWARDING, Pasted(NO_FORWARDING.text.replace("= 0", "= 1"), "good.txt"), [PROBE]),
    captures(RP_FILTER / "ticket.md"),
    timeline(LOG),
]
EACH = pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)


@EACH
def test_result_prints_and_shows(result: Result) -> None:
    """Its text is plain, its repr one line of it, and its HTML the same text."""
    shown = re.sub(r"<[^>]*>", "", result._repr_html_())

    assert "\x1b" not in str(result)
    assert repr(result) == f"<{type(result).__name__}: {str(result).splitlines()[0]}>"
    assert len(shown.split()) >= len(str(result).split()) // 2
    assert result._repr_html_().startswith("<pre")


@EACH
def test_result_shows_its_table(result: Result) -> None:
    """Its main list has rows of plain values, which a notebook shows before all else."""
    table = result.table()
    page = result._repr_html_()

    assert table.rows
    assert {len(table.columns)} == {len(row) for row in table.rows}
    assert page.index("<table>") < page.index("<details>")


def test_what_was_walked_is_drawn() -> None:
    """A diagnosis, a trace, a comparison and a timeline show their drawing; captures have none."""
    assert [True, True, True, False, True] == ["<svg" in one._repr_html_() for one in RESULTS]


@EACH
def test_result_becomes_a_data_frame(result: Result) -> None:
    """Of pandas, with the table's columns and rows."""
    frame = result.to_dataframe("pandas")

    assert result.table().columns == tuple(frame.columns)
    assert len(result.table().rows) == len(frame)
    assert type(frame) is type(result.to_dataframe())


def test_a_finding_in_a_data_frame() -> None:
    """Its line is quoted with its place."""
    frame = RESULTS[0].to_dataframe()

    assert ["ip-forward"] == list(frame["check"])
    assert "net.ipv4.ip_forward = 0" in frame["line"][0]


def test_without_a_library_for_frames_it_is_named() -> None:
    """The error says what to install."""
    with pytest.raises(MissingExtra, match="no-such-frames: pip install"):
        RESULTS[0].to_dataframe("no-such-frames")


@EACH
def test_result_is_frozen(result: Result) -> None:
    """No field of it can be set."""
    with pytest.raises(FrozenInstanceError):
        setattr(result, fields(result)[0].name, None)  # type: ignore[arg-type]  # every result is a dataclass


@EACH
def test_result_is_a_document(result: Result) -> None:
    """Its data is what the command prints with --json."""
    assert str(result.data()["schema"]).startswith("podpath/")


def test_names_from_evidence_are_no_markup() -> None:
    """Devices and files with tags and escape sequences in their names change nothing on the
    page.
    """
    page = (
        diagnose(HOSTILE, [PROBE.replace(" in cni0", "")])._repr_html_()
        + trace(HOSTILE, PROBE[:-8])._repr_html_()
    )

    assert "<i>" not in page
    assert "<script>" not in page
    assert "\x1b" not in page
