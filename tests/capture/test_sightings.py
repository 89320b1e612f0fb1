"""What the plain values say of themselves."""

from __future__ import annotations

import pytest

from podpath.capture.sightings import FiveTuple, PacketLoss, SeenPacket, Translation
from podpath.net.addresses import Address

A, B, C = (Address(4, value) for value in (1, 2, 3))


@pytest.mark.parametrize(
    ("translated", "kind"),
    [((A, 1, C, 2), "destination"), ((A, 9, B, 2), "source"), ((C, 1, A, 2), "both")],
)
def test_a_translation_says_which_end_it_rewrote(
    translated: tuple[Address, int, Address, int], kind: str
) -> None:
    """Addresses and ports count."""
    both = Translation(
        after=0, before=1, original=FiveTuple(6, A, 1, B, 2), translated=FiveTuple(6, *translated)
    )

    assert kind == both.kind


def test_a_loss_names_where_it_was_last_seen() -> None:
    """The last of the points that it passed."""
    seen = tuple(SeenPacket(point, "a", 3 + point, 0) for point in range(2))
    loss = PacketLoss(
        connection=0, forward=True, what="SYN", begin=0, end=0, seen=seen, missing_at=2,
        before=seen[0], after=seen[1], basis="same direction", repeated=False,
    )  # fmt: skip

    assert 4 == loss.last_seen.number
