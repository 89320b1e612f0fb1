"""unknown-error: errors that no row of the table of messages knows are shown, and decide
nothing.
"""

from __future__ import annotations

from tests.checks.said import find_by_lines


def test_errors_that_are_not_known_are_told() -> None:
    """The first is quoted in the claim, with its program, and the question leads to what stands
    around it.
    """
    (finding,) = find_by_lines(
        "unknown-error", "Jan  9 03:12:44 node1 wibbled[12]: error: the wobble is gone"
    )
    assert (finding.severity, finding.certainty < 1, len(finding.asks)) == ("note", True, 1)
    assert "wibbled" in str(finding.claim)
    assert "the wobble is gone" in str(finding.claim)


def test_an_error_that_a_check_knows_is_none() -> None:
    """What a row knows is told by its own check."""
    assert (
        find_by_lines("unknown-error", "Jan  9 03:12:44 node1 udhcpc[12]: sendto: Network is down")
        == []
    )


def test_healthy_lines_are_none() -> None:
    """No level of an error, no finding."""
    assert (
        find_by_lines("unknown-error", "Jan  9 03:12:44 node1 wibbled[12]: 0 errors, all is well")
        == []
    )
