"""Captures of the real kernel, matched: the path of a service's connections over two nodes, and a
packet that a rule drops.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.capture.sightings import ConnectionDirection
from podpath.net.addresses import Address
from podpath_capture.journeys.losses import find_losses
from podpath_capture.matching.matching import Matching, match_captures
from tests.capture.live_points import TOOLS, record

pytestmark = pytest.mark.kernel(*TOOLS)
OUT = ["pod1", "n1-any veth1", "n1-any cni0", "n1-any flannel.1"]
"""What packets pass before they stand in a tunnel."""


def passed(matching: Matching, way: ConnectionDirection) -> list[str]:
    """Name the devices that a way passes."""
    return [
        f"{matching.points[each.point].file} {matching.points[each.point].device}".strip()
        for each in way.passages
    ]


def test_connections_are_followed_over_two_nodes(tmp_path: Path) -> None:
    """Each point shows every byte, in whatever packets; translations are read off; nothing is
    called lost.
    """
    recorded = record(tmp_path, drop=False)
    matching = match_captures(recorded.files)
    connections = [each for each in matching if each.protocol == 6]
    losses = find_losses(matching)

    assert [3, 0, 0] == [len(connections), len(losses.lost), len(losses.unseen)]
    for connection in connections:
        there, back = connection.forward, connection.backward
        assert passed(matching, there)[:4] == OUT
        assert {"n1-any u1", "n1-u1", "n2-u2"} == set(passed(matching, there)[4:7])
        assert ["n2-flannel", "pod2"] == passed(matching, there)[7:]
        assert ["pod2", "n2-flannel"] == passed(matching, back)[:2]
        assert OUT[::-1] == passed(matching, back)[5:]
        assert (
            1
            == len({each.payload for each in there.passages})
            == len({each.payload for each in back.passages})
        )
        assert [("destination", 80, 8080), ("source", 8080, 8080)] == [
            (each.kind, each.original.dport, each.translated.dport) for each in there.translations
        ]
        assert Address.parse("10.244.1.0") == there.translations[1].translated.src
        assert [False] * 4 + [True] * 3 + [False] * 2 == [
            each.tunnel is not None for each in there.passages
        ]
    large = connections[1].forward.passages
    assert (
        large[4].packets > 2 * large[0].packets
    )  # u1 sends what the pod sent in large packets in small ones
    assert all(clock.nanoseconds == 0 for clock in matching.clocks)


def test_a_packet_that_a_rule_drops_is_found(tmp_path: Path) -> None:
    """The kernel counts one packet that a rule on the second node dropped, and one is found,
    between tunnel and pod.
    """
    recorded = record(tmp_path, drop=True)
    matching = match_captures(recorded.files)
    losses = find_losses(matching)
    (loss,) = losses.lost

    assert 1 == recorded.dropped
    assert ("data 1:17", "n2-flannel", "pod2", True) == (
        loss.what, loss.last_seen.file, matching.points[loss.missing_at].file, loss.repeated
    )  # fmt: skip
    assert 8 == len(loss.seen)
    assert () == losses.unseen
