"""Points that lie on one way, and points that only show parts of one connection."""

from __future__ import annotations

from podpath.capture.sightings import PacketLoss, SeenPacket
from podpath_capture.journeys.losses import find_losses
from podpath_capture.journeys.shared_way import lies_on_one_way
from podpath_capture.matching.matching import match_captures
from podpath_capture.points import CapturedFile
from podpath_capture.reading.read import read_capture
from tests.capture import frames

ENDS = ("10.0.0.1", "10.0.0.2")


def segment(number: int) -> bytes:
    """Make a frame with ten bytes of data."""
    return frames.ethernet(
        0x0800,
        frames.ipv4(
            6,
            frames.tcp(
                0x18, numbers=(1000 + 10 * number, 7), data=bytes(range(number, number + 10))
            ),
            ends=ENDS,
        ),
    )


def files(*shown: tuple[int, ...]) -> list[CapturedFile]:
    """Make captures, each of the segments with these numbers at the second of their number."""
    whole = frames.pcap([segment(number) for number in range(12)])
    size = 16 + len(segment(0))
    return [
        CapturedFile(
            name=f"{name}.pcap",
            capture=read_capture(
                whole[:24]
                + b"".join(
                    whole[24 + number * size : 24 + (number + 1) * size] for number in numbers
                )
            ),
            host="node",
        )
        for name, numbers in enumerate(shown)
    ]


def test_loss_on_one_way_is_believed() -> None:
    """Two points that show the same packets, but for one."""
    matching = match_captures(files(tuple(range(12)), (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11)))
    lost = find_losses(matching).lost

    assert lost
    assert all(lies_on_one_way(matching, loss) for loss in lost)


def test_parts_of_one_connection_on_two_devices_lie_on_two_ways() -> None:
    """What passes one slave of a bond is not lost because the other one does not show it."""
    matching = match_captures(files((0, 1, 2, 9, 10, 11), (3, 4, 5, 6, 7, 8)))
    seen = SeenPacket(point=0, file="0.pcap", number=1, time=0)
    claimed = PacketLoss(
        connection=0, forward=True, what="data 1:11", begin=1, end=11, seen=(seen,), missing_at=1,
        before=seen, after=seen, basis="same direction", repeated=False,
    )  # fmt: skip

    assert not lies_on_one_way(matching, claimed)
    assert not any(lies_on_one_way(matching, loss) for loss in find_losses(matching).lost)
