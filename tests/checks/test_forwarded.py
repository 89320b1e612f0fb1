"""What FORWARD does with connections of one engine's devices, or of a bridge that people made."""

from __future__ import annotations

import pytest

from podpath.checks.firewall import chains_named
from podpath.checks.forwarded import DevicePath, Family, family_of, find_end
from podpath.library.given import Pasted
from podpath.library.reading import read_together

BRIDGED = DevicePath(None, None)
DOCKER = """\
-A FORWARD -j DOCKER-ISOLATION-STAGE-1
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
-A FORWARD -i docker0 -o docker0 -j ACCEPT
"""


def ended(policy: str, rules: str, route: DevicePath = BRIDGED) -> str | None:
    """Return the line that ends such a packet, of `iptables -S`."""
    text = f"```\n# iptables -S\n-P INPUT ACCEPT\n-P FORWARD {policy}\n{rules}```\n"
    host = read_together([Pasted(text, "ticket.md")]).facts.node.host
    ((table, chain),) = chains_named(host, "filter", "FORWARD")
    end = find_end(table, chain, route)
    return end.span.text if end is not None else None


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


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("docker0", Family.DOCKER), ("br-0123456789ab", Family.DOCKER), ("virbr0", Family.LIBVIRT),
        ("lxdbr0", Family.LXC), ("cni0", Family.PODS), ("wg0", Family.VPN), ("br0", None),
        ("eth0", None),
    ],
)  # fmt: skip
def test_a_device_tells_by_its_name_who_made_it(name: str, family: Family | None) -> None:
    """A bridge that people made is nobody's."""
    assert family_of(name) is family


@pytest.mark.parametrize(
    ("rule", "route", "accepted"),
    [
        ("-i virbr0 -j ACCEPT", DevicePath(Family.LIBVIRT, None), True),
        ("-i virbr0 -j ACCEPT", DevicePath(Family.LXC, None), False),
        ("-o virbr0 -j ACCEPT", DevicePath(Family.LIBVIRT, None), False),
        ("-i virbr0 -o eth0 -j ACCEPT", DevicePath(Family.LIBVIRT, None), True),
        ("-j LIBVIRT_FWO", DevicePath(Family.LIBVIRT, None), True),
        ("-j LIBVIRT_FWO", DevicePath(Family.LXC, None), False),
        ("-j KUBE-FORWARD", DevicePath(Family.LXC, None), False),
        ("-j KUBE-FORWARD", DevicePath(Family.PODS, None), False),
        ("-j KUBE-FORWARD", DevicePath(None, Family.PODS, translated=True), True),
        ("-j KUBE-ROUTER-FORWARD", DevicePath(Family.PODS, None), True),
        ("-j OTHER", DevicePath(Family.LXC, None), True),
    ],
)
def test_a_rule_is_for_its_owners_devices(rule: str, route: DevicePath, *, accepted: bool) -> None:
    """Chains that are known by their owner are for its own devices; kube-proxy's accept what it
    marked.
    """
    assert accepted is (ended("DROP", f"{DOCKER}-A FORWARD {rule}\n", route) is None)


def test_a_chain_that_people_fill_leaves_a_doubt() -> None:
    """It returns as Docker makes it, and may accept as people fill it."""
    rules = f"```\n# iptables -S\n-P FORWARD DROP\n{DOCKER}-A FORWARD -j DOCKER-USER\n```\n"
    host = read_together([Pasted(rules, "ticket.md")]).facts.node.host
    ((table, chain),) = chains_named(host, "filter", "FORWARD")
    end = find_end(table, chain, BRIDGED)

    assert end is not None
    assert not end.sure


@pytest.mark.parametrize(
    ("entered", "accepted", "dropped", "sure"),
    [
        (11034, 57, 10977, True),
        (11034, 50, 10977, False),
        (11034, 0, 11034, True),
        (0, 0, 0, False),
        (57, 57, 0, False),
    ],
)
def test_counters_tell_that_a_chain_ended_nothing(
    entered: int, accepted: int, dropped: int, *, sure: bool
) -> None:
    """Whoever fills DOCKER-USER, what entered it met the rules below or the policy."""
    text = (
        "```\n# iptables -L FORWARD -n -v\n"
        f"Chain FORWARD (policy DROP {dropped} packets, 903K bytes)\n"
        " pkts bytes target     prot opt in     out     source               destination\n"
        f"{entered:5}  908K DOCKER-USER  0 -- *      *       0.0.0.0/0            0.0.0.0/0\n"
        f"{accepted:5}  2811 ACCEPT     0 --  *      docker0  0.0.0.0/0            0.0.0.0/0\n"
        "```\n"
    )
    host = read_together([Pasted(text, "ticket.md")]).facts.node.host
    ((table, chain),) = chains_named(host, "filter", "FORWARD")
    end = find_end(table, chain, BRIDGED)

    assert end is not None
    assert sure is end.sure


@pytest.mark.parametrize(
    ("before", "entered", "accepted", "policy"),
    [("10", "100", "50", "40"), ("0", "128K", "28K", "100K")],
    ids=["others-before-it", "rounded"],
)
def test_counters_that_agree_by_chance(
    before: str, entered: str, accepted: str, policy: str
) -> None:
    """What ended before a chain never entered it, and rounded counts tell nothing of a few."""
    text = (
        "```\n# iptables -L FORWARD -n -v\n"
        f"Chain FORWARD (policy DROP {policy} packets, 903K bytes)\n"
        " pkts bytes target     prot opt in     out     source               destination\n"
        f"{before:>5}  2811 ACCEPT     0 --  *      virbr0   0.0.0.0/0            0.0.0.0/0\n"
        f"{entered:>5}  908K DOCKER-USER  0 -- *      *       0.0.0.0/0            0.0.0.0/0\n"
        f"{accepted:>5}  2811 ACCEPT     0 --  *      docker0  0.0.0.0/0            0.0.0.0/0\n"
        "```\n"
    )
    host = read_together([Pasted(text, "ticket.md")]).facts.node.host
    ((table, chain),) = chains_named(host, "filter", "FORWARD")
    end = find_end(table, chain, BRIDGED)

    assert end is not None
    assert not end.sure
