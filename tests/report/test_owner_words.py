"""Whose a line is, in words and in JSON."""

from __future__ import annotations

from podpath.checks.finding import Repair
from podpath.net.owners import UNSIGNED, OwnerSign, name_owner
from podpath.node.change import DeleteRoute
from podpath.node.node import HOST
from podpath.report.owner_words import owner_object, render_owner, render_undone
from podpath.report.style import Style
from podpath.testing.nodes import given_route


def test_a_line_says_whose_it_is_and_when_it_comes_back() -> None:
    """Nothing is said where nobody is known."""
    owner = name_owner(OwnerSign.CHAIN, "ufw-user-input")

    assert ["  ufw wrote it, and writes it again at `ufw reload`, and at boot"] == render_owner(
        owner, Style(), "  "
    )
    assert [] == render_owner(None, Style(), "  ")
    assert owner_object(None) is None


def test_a_line_that_nobody_signs_says_so() -> None:
    """In words; as a value nobody is known."""
    said = " ".join(line.strip() for line in render_owner(UNSIGNED, Style(), "  "))

    assert said == "no program that podpath knows signs it: an admin's or a script's, it seems"
    assert owner_object(UNSIGNED) is None


def test_a_cure_that_will_not_last_says_so() -> None:
    """And names what to change instead."""
    route = given_route("10.0.0.0/8 via 192.0.2.1 dev eth0 proto dhcp")
    repair = Repair(
        title="x", commands=("ip route del",), changes=(DeleteRoute(netns=HOST, route=route),)
    )

    said = " ".join(line.strip() for line in render_undone(repair, Style(), "  "))

    assert said.startswith("! will not last: the DHCP client writes its own again")
    assert "instead" in said
