"""The manual of faults."""

from __future__ import annotations

import pytest

from podpath.checks.registry import CHECKS
from podpath.library.manual import checks
from podpath.net.errors import UsageError


def test_manual_lists_every_fault() -> None:
    """It is as long as the registry, and each page is found by its name."""
    manual = checks()

    assert len(CHECKS) == len(manual)
    assert [check.page for check in manual] == [manual[check.name].page for check in CHECKS]
    assert [check.name for check in CHECKS] == [
        line.split()[0] for line in str(manual).splitlines()
    ]


def test_near_names_are_suggested() -> None:
    """A slip of the pen is corrected; nonsense is sent to the list."""
    with pytest.raises(UsageError, match="did you mean 'rp-filter'"):
        _ = checks()["rpfilter"]
    with pytest.raises(UsageError, match="lists them"):
        _ = checks()["zzz"]
