"""Networks of tunnels: joined where each direction has its own, apart where addresses are equal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.assembly.captures.networks import join_networks
from podpath.node.case import Sighting
from tests.capture.made_frames import ACK, frame


def _seen(*, back: bool, tunnel: str) -> Sighting:
    return replace(frame(0.0, ACK, back=back), tunnel=tunnel)


@pytest.mark.parametrize(
    ("there", "back", "expected"),
    [
        (("VXLAN vni 7",), ("VXLAN vni 8",), {"VXLAN"}),
        (("VXLAN vni 7", "VXLAN vni 9"), ("VXLAN vni 8",), {"VXLAN"}),
        (("Geneve vni 7",), ("Geneve vni 7",), {"Geneve vni 7"}),
        (("VXLAN vni 7", "VXLAN vni 8"), ("VXLAN vni 8", "VXLAN vni 7"),
         {"VXLAN vni 7", "VXLAN vni 8"}),
        (("VXLAN vni 7",), ("Geneve vni 8",), {"VXLAN vni 7", "Geneve vni 8"}),
        (("VXLAN vni 7",), (), {"VXLAN vni 7"}),
        (("GRE",), ("GRE",), {"GRE"}),
        (("",), ("VXLAN vni 7",), {"", "VXLAN vni 7"}),
    ],
)  # fmt: skip
def test_where_frames_are(
    there: tuple[str, ...], back: tuple[str, ...], expected: set[str]
) -> None:
    """The network is left out only where two hosts' directions have none in common."""
    frames = [_seen(back=False, tunnel=name) for name in there]
    frames += [_seen(back=True, tunnel=name) for name in back]

    assert {seen.tunnel for seen in join_networks(frames)} == expected
