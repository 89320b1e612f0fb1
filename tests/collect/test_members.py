"""What an archive holds."""

from __future__ import annotations

import pytest

from podpath.collect.limits import MAX_SIZE, Limits
from podpath.collect.members import inner_name, leave_out_large
from podpath.net.errors import EvidenceError
from podpath.net.provenance import Cut


@pytest.mark.parametrize("name", ["a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt"])
def test_plain_names(name: str) -> None:
    """What says nothing is taken out of a name."""
    assert "a/b.txt" == inner_name("x.tar", name)


@pytest.mark.parametrize("name", ["/a", "\\a", "..", "a/../../b", "a\0b"])
def test_names_that_lead_out(name: str) -> None:
    """They are refused, with the archive's name."""
    with pytest.raises(EvidenceError, match=r"x\.tar: .* stands outside"):
        inner_name("x.tar", name)


def test_a_large_member() -> None:
    """It is left out, and what would let it in is a fact."""
    assert (
        Cut("a", 0, 2 << 20, MAX_SIZE)
        == leave_out_large("a", 2 << 20, Limits(output_bytes=1 << 20)).cut
    )
