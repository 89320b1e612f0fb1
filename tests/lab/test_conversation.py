"""How long the lab waits for a probe's frames."""

from __future__ import annotations

from podpath_lab.conversation import LATE, QUIET, Timeouts
from podpath_lab.frames import SeenFrame
from tests.datapath.walks import packet


def frames(count: int) -> list[SeenFrame]:
    """Return some IP frames and one of ARP."""
    held = [
        SeenFrame(time, "host", "eth0", outgoing=True, packet=packet("10.0.0.1", "10.0.0.2"))
        for time in range(count)
    ]
    return [*held, SeenFrame(count, "host", "eth0", outgoing=True, packet=None)]


def test_a_silence_before_the_predicted_frames_lasts_longer() -> None:
    """While a predicted frame has not come the machine is taken to be busy; ARP does not count."""
    assert [LATE, LATE, QUIET, QUIET] == [
        Timeouts(predicted=2).seconds(frames(count)) for count in range(4)
    ]


def test_patience_is_never_cut_short() -> None:
    """A look with much patience keeps it, whatever is predicted."""
    assert [1.0, 1.0] == [Timeouts(1.0, predicted).seconds([]) for predicted in (0, 5)]
