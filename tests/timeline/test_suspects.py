"""Suspects and their rank."""

from __future__ import annotations

from podpath.timeline.suspects import mark_events, rank_suspects
from podpath.timeline.window import FailureWindow
from tests.timeline.samples import at, logs

LINES = """\
Mar 12 03:13:12 kn-04 systemd[1]: Started Docker Application Container Engine.
Mar 12 03:13:45 kn-04 dpkg: upgrade vim:amd64 1 2
Mar 12 03:13:46 kn-04 systemd[1]: Stopping Network Manager...
Mar 12 03:13:47 kn-04 systemd[1]: Stopping Network Manager...
Mar 12 03:13:48 kn-04 kernel: vetha1b2: link becomes ready
Mar 12 03:15:00 kn-04 systemd[1]: Started Apply Kernel Variables.
"""


def test_the_likeliest_comes_first() -> None:
    """What writes the network's state weighs more than any package; what came after, or long
    before, is no suspect.
    """
    window = FailureWindow(failed_at=at("03:13:59"), timeout=10, last_ok=at("03:13:40"))
    ranked = rank_suspects(mark_events(logs(LINES).readings, 0, at("23:00:00")), window)

    assert ["NetworkManager", "vim", "docker"] == [
        suspect.mark.subject for suspect in ranked if suspect.mark.kind != "link"
    ]
    assert (2, 4, 2.0) == (ranked[0].times, ranked[0].event.span.line, ranked[0].before)
    assert all(0 < suspect.score <= 1 for suspect in ranked)


def test_closeness_counts_where_the_window_is_a_guess() -> None:
    """Without a last success the change right before the failure is likelier than the same minutes
    before it.
    """
    text = (
        "Mar 12 03:05:00 n systemd[1]: Started Docker Application Container Engine.\n"
        "Mar 12 03:13:48 n systemd[1]: Started containerd container runtime."
    )
    ranked = rank_suspects(
        mark_events(logs(text).readings, 0, at("23:00:00")), FailureWindow(failed_at=at("03:13:50"))
    )

    assert ["containerd", "docker"] == [suspect.mark.subject for suspect in ranked]
