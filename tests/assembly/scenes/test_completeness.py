"""Whether an output shows all that its command lists."""

from __future__ import annotations

import pytest

from tests.assembly.evidence_text import (
    Output,
    addresses_of,
    case_of,
)

ROUTES = """
default via 10.1.0.1 dev eth0
10.1.0.0/24 dev eth0 proto kernel scope link src 10.1.0.7
"""


@pytest.mark.parametrize(
    ("command", "text", "whole"),
    [
        ("ip route", ROUTES, True),
        ("ip r", ROUTES, True),
        ("ip -4 route show", ROUTES, True),
        ("ip route | cat", ROUTES, True),
        ("ip route | grep 10", ROUTES, False),
        ("ip route", ROUTES + "...", False),
        ("ip route show dev eth0", ROUTES, False),
        ("ip route show table main", ROUTES, True),
        (None, ROUTES, False),
    ],
)
def test_route_listing_is_whole(command: str | None, text: str, *, whole: bool) -> None:
    """Routes are whole after an unfiltered command without an ellipsis, as the default rules look
    up no other table.
    """
    routes = case_of(Output(command, text)).node.host.routes
    assert routes.complete is whole
    assert len(routes.items) == 2


def test_cut_listing_without_lo_is_a_fragment() -> None:
    """`ip addr` without `lo` was cut by hand, though no ellipsis says so."""
    text = (
        "5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500\n"
        "    inet 10.7.0.1/24 scope global cni0"
    )
    host = case_of(Output("ip addr", text)).node.host
    assert not host.links.complete
    assert not host.addresses.complete
    assert addresses_of(host, "cni0") == ["10.7.0.1/24"]
