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
