"""A row of the table of switches: a value alone says nothing, and each row has its manual page."""

from __future__ import annotations

import pytest

from podpath.checks.host.switches import SWITCHES
from podpath.checks.switch_check import SwitchCheck
from tests.checks.switches import case_of


@pytest.mark.parametrize("row", SWITCHES, ids=lambda row: row.name)
def test_value_alone_says_nothing(row: SwitchCheck) -> None:
    """A host that has it and of which nobody complains is healthy; each row has a manual page."""
    line = f"{row.keys[0].replace('*', 'all')} = {row.value}"

    assert list(row.find(case_of("Everything works on this host.", line))) == []
    assert row.page.startswith(f"{row.name}: ")
    assert row.key in row.page
