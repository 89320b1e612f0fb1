"""Neighbors on tunnels without a forwarding entry."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.vtep_without_entry import check
from tests.checks.pasted import case_of

TEXT = """\
# {fdb}
{mac} dst 192.168.1.12 self permanent
# ip neigh show dev {device}
10.244.2.0 lladdr 9a:aa:5e:6c:33:44 {state}
"""
FDB = "bridge fdb show dev flannel.1"
OTHER = "9a:aa:5e:6c:11:22"


def _certainties(
    fdb: str = FDB, mac: str = OTHER, device: str = "flannel.1", state: str = "PERMANENT"
) -> list[float]:
    return [
        one.certainty
        for one in check(case_of(TEXT.format(fdb=fdb, mac=mac, device=device, state=state)))
    ]


def test_the_neighbor_is_quoted_with_the_listing() -> None:
    """Likely, for a listing may be cut."""
    (found,) = check(
        case_of(TEXT.format(fdb=FDB, mac=OTHER, device="flannel.1", state="PERMANENT"))
    )

    assert "10.244.2.0 lladdr" in found.evidence[0].text
    assert (0.8, 2) == (found.certainty, len(found.evidence))


@pytest.mark.parametrize(
    "changed",
    [
        {"mac": "9a:aa:5e:6c:33:44"},
        {"mac": "00:00:00:00:00:00"},
        {"state": "STALE"},
        {"fdb": f"{FDB} | grep 11:22"},
        {"device": "eth0"},
    ],
    ids=["same", "all", "learned", "filtered", "card"],
)
def test_what_only_looks_like_it_is_let_be(changed: dict[str, str]) -> None:
    """An entry for it or for all, a neighbor that was learned, a part of a listing."""
    assert [] == _certainties(**changed)
