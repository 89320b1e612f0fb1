"""What FORWARD does with packets of a bridge that no engine made."""

from __future__ import annotations

import pytest

from podpath.checks.bridged import find_end
from podpath.checks.firewall import chains_named
from podpath.library.given import Pasted
from podpath.library.reading import read_together

DOCKER = """\
-A FORWARD -j DOCKER-ISOLATION-STAGE-1
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
-A FORWARD -i docker0 -o docker0 -j ACCEPT
"""


def ended(policy: str, rules: str) -> str | None:
    """Return the line that ends such a packet, of `iptables -S`."""
    text = f"```\n# iptables -S\n-P INPUT ACCEPT\n-P FORWARD {policy}\n{rules}```\n"
    host = read_together([Pasted(text, "ticket.md")]).facts.node.host
    ((table, chain),) = chains_named(host, "filter", "FORWARD")
    end = find_end(table, chain)
    return end.text if end is not None else None


@pytest.mark.parametrize("rules", ["", DOCKER, DOCKER + "-A FORWARD -i virbr0 -j ACCEPT\n"])
def test_rules_of_engines_accept_nothing_of_another_bridge(rules: str) -> None:
    """What is left meets the policy."""
    assert ended("DROP", rules) == "-P FORWARD DROP"
    assert ended("ACCEPT", rules) is None


@pytest.mark.parametrize(
    "rule",
    [
        "-i br0 -j ACCEPT",
        "-m physdev --physdev-is-bridged -j ACCEPT",
        "-j DOCKER-USER",
        "! -i docker0 -j ACCEPT",
        "-s 10.0.0.0/8 -j ACCEPT",
    ],
)
def test_what_may_accept_it_leaves_it_open(rule: str) -> None:
    """A rule for the bridge, for bridged packets, or a chain that nobody shows."""
    assert ended("DROP", f"{DOCKER}-A FORWARD {rule}\n") is None


def test_chains_that_are_shown_are_looked_into() -> None:
    """A chain that only returns accepts nothing, and a last rule takes the rest."""
    shown = "-N DOCKER-USER\n-A FORWARD -j DOCKER-USER\n-A DOCKER-USER -j RETURN\n"
    last = "-A FORWARD -j REJECT --reject-with icmp-host-prohibited"

    assert ended("DROP", DOCKER + shown) == "-P FORWARD DROP"
    assert ended("ACCEPT", f"{DOCKER}{last}\n") == last
    assert ended("ACCEPT", f"-A FORWARD -i br0 -j ACCEPT\n{last}\n") is None
