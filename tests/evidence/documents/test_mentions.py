"""Which software, devices and clouds a text speaks of."""

from __future__ import annotations

import pytest

from podpath.evidence.documents.mentions import LOOKED_AT, MENTIONS, find_mentions
from podpath.net.technologies import Technology


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        ("vxlan.calico has no route", Technology.CALICO),
        ("flannel.1 is down", Technology.FLANNEL),
        ("a VM on Proxmox", Technology.PROXMOX),
        ("wg-quick brought it up", Technology.WIREGUARD),
        ("externalTrafficPolicy: Local", Technology.TRAFFIC_POLICY_LOCAL),
        ("a NetworkPolicy admits it", Technology.NETWORK_POLICY),
    ],
)
def test_technology_is_found_by_its_words(text: str, technology: Technology) -> None:
    """Names of software, of its devices and of its settings count alike."""
    assert technology in find_mentions(text)


def test_words_within_words_do_not_count() -> None:
    """`outfoxed` mentions nothing, and neither does what stands far behind."""
    assert frozenset() == find_mentions("outfoxed, ducks dockyard".replace("dockyard", "yard") + " " * LOOKED_AT + "calico")


def test_every_technology_has_its_words() -> None:
    """The table has one row for each."""
    assert list(Technology) == sorted({row.technology for row in MENTIONS}, key=list(Technology).index)
