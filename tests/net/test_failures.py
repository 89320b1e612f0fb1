"""What came of a try: which results are failures, and which of those are of the path."""

from __future__ import annotations

import pytest

from podpath.net.failures import (
    ANSWERED,
    NAMES,
    VAGUE,
    Ending,
    FailureKind,
    breaks_path,
    is_failure,
)


@pytest.mark.parametrize("ending", Ending)
def test_endings_are_no_failures(ending: Ending) -> None:
    """What worked did not fail, and what its person stopped did neither."""
    assert not is_failure(ending)
    assert not breaks_path(ending)


@pytest.mark.parametrize("kind", FailureKind)
def test_an_answer_breaks_no_path(kind: FailureKind) -> None:
    """Every kind is a failure; one that came as an answer is none of the way."""
    assert is_failure(kind)
    assert breaks_path(kind) == (kind not in ANSWERED)


def test_a_silent_name_server_is_no_answer() -> None:
    """Of the ways in which names are not resolved, silence alone is of the path."""
    assert {FailureKind.NAME_SERVER_SILENT} == NAMES - ANSWERED
    assert not VAGUE & NAMES
