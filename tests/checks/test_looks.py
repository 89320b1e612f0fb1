"""The checks of captures alone: those of the manual, in its order."""

from __future__ import annotations

from podpath.checks.looks import LOOKS
from podpath.checks.registry import CHECKS


def test_table_is_the_manuals() -> None:
    """Whatever check looks at captures does so here too, and none else."""
    assert [check.look for check in CHECKS if check.look is not None] == list(LOOKS)
