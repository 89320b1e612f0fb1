"""Tests of translations that the evidence may leave out."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.untranslated import list_translations_left_out


def test_a_connection_that_works_wants_no_translation() -> None:
    """Nothing that is left out counts against it."""
    assert list_translations_left_out(Branch(assumptions=(), traces=(), works=True)) == ()
