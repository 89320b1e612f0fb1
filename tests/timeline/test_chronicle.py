"""The answer of a timeline, and its exit code."""

from __future__ import annotations

import pytest

from podpath.timeline.chronicle import Chronicle
from podpath.timeline.window import FailureWindow


@pytest.mark.parametrize(
    ("window", "covered", "verdict", "code"),
    [
        (None, False, "possible", 3),
        (FailureWindow(failed_at=1.0), True, "none", 0),
        (FailureWindow(failed_at=1.0), False, "possible", 3),
    ],
)
def test_the_verdict(window: FailureWindow | None, covered: bool, verdict: str, code: int) -> None:  # noqa: FBT001 - a parameter of the test
    """Nothing found decides only where the logs reach over a window that is known."""
    chronicle = Chronicle(window=window, covered=covered)

    assert (verdict, code) == (chronicle.verdict, chronicle.exit_code)
