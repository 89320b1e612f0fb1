"""cni-configuration-invalid: the CNI configuration cannot be read, or asks for what its plugin does not know."""

from __future__ import annotations

import pytest

from podpath.checks.cni.cni_configuration_invalid import NAME
from tests.checks.said import find_by_lines


@pytest.mark.parametrize(
    "line",
    [
        "error parsing configuration list: invalid character '}' looking for beginning of object key",
    ],
)
def test_the_line_convicts_alone(line: str) -> None:
    """It names its cause itself, so the finding is certain and quotes it first."""
    found = find_by_lines(NAME, line)
    assert [(one.severity, one.certainty, one.evidence[0].text) for one in found] == [("fault", 1.0, line)]


def test_a_line_that_almost_says_it_does_not() -> None:
    """Words of the same program about the same thing are no fault."""
    assert find_by_lines(NAME, "loaded configuration list 10-flannel.conflist") == []


def test_silence_is_no_fault() -> None:
    """Where nobody says it, nothing is found."""
    assert find_by_lines(NAME, "all is well") == []
