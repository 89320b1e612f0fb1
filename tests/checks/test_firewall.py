"""What checks of firewalls ask of rules."""

from __future__ import annotations

import pytest

from podpath.checks.firewall import is_plain, lets_new_in, owner_of
from tests.checks.rules import rule


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("-A INPUT -j ACCEPT", True),
        ("-A INPUT -i lo -j ACCEPT", False),
        ("-A INPUT -p icmp -j ACCEPT", False),
        ("-A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT", False),
        ("-A INPUT -m state --state NEW,ESTABLISHED -j ACCEPT", True),
        ("-A INPUT -j KUBE-FIREWALL", True),
        ("-A INPUT -j LOG", False),
    ],
)
def test_what_lets_new_connections_in(text: str, opens: bool) -> None:  # noqa: FBT001 - what is expected of the rule
    """Return paths, loopback and ping do not."""
    assert lets_new_in(rule(text)) is opens


def test_a_comment_is_no_condition() -> None:
    """A device is one."""
    assert is_plain(rule("-A FORWARD -m comment --comment all -j DROP"))
    assert not is_plain(rule("-A FORWARD -i eth0 -j DROP"))


def test_chains_tell_whose_they_are() -> None:
    """By the chain that a rule stands in or goes to."""
    assert owner_of(rule("-A FORWARD -j DOCKER-USER")) == "Docker"
    assert owner_of(rule("-A FORWARD -j MINE")) == ""
