"""Which way a turn goes."""

from __future__ import annotations

import pytest

from podpath.net.provenance import Source, Span
from podpath.node.turns import Turn


@pytest.mark.parametrize(("failed", "cure"), [(1, True), (9, False)])
def test_a_failure_that_comes_first_was_cured(failed: int, cure: bool) -> None:  # noqa: FBT001
    """What was typed after a success broke it."""
    source = Source(name="ticket.md", lines=("",) * 9)
    turn = Turn(failed=Span(source, failed, failed), worked=Span(source, 5, 5), changes=())

    assert turn.is_cure is cure
