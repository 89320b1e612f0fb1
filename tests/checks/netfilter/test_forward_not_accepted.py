"""FORWARD accepts for one engine, and drops what another one's guests send."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.forward_not_accepted import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together

RULES = """\
-A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A FORWARD -i docker0 ! -o docker0 -j ACCEPT
"""
COLUMNS = """\
# iptables -L FORWARD
Chain FORWARD (policy DROP)
target     prot opt source               destination
DOCKER-ISOLATION-STAGE-1  all  --  anywhere             anywhere
ACCEPT     all  --  anywhere             anywhere
"""


def certainty(said: str, rules: str = RULES, policy: str = "DROP") -> float | None:
    """Return how certain the finding of a ticket is; None where there is none."""
    shown = f"# iptables -S\n-P FORWARD {policy}\n{rules}" if "Chain" not in rules else rules
    text = f"{said}\n\n```\n{shown}```\n"
    found = list(check(read_together([Pasted(text, "ticket.md")]).facts))
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return found[0].certainty if found else None


@pytest.mark.parametrize(
    "said",
    [
        "Since Docker was installed the LXC containers have no internet.",
        "The VMs on virbr0 cannot reach the internet any more.",
        "Guests of libvirt ping the host, but nothing beyond it.",
        "It is a WireGuard server; its peers reach it, but nothing on the internet.",
        "Machines behind this router have lost the internet.",
        "The pods of the node cannot reach the internet; Docker runs there, too.",
    ],
)
def test_whoever_is_no_dockers_meets_the_policy(said: str) -> None:
    """By software, by device, and for machines behind a router."""
    assert certainty(said) == 1
    assert certainty(said, policy="ACCEPT") is None
    assert certainty(said, f"{RULES}-A FORWARD -s 10.0.0.0/8 -j ACCEPT\n") is None


def test_a_last_rule_is_as_good_as_a_policy() -> None:
    """It answers, so that what people see differs."""
    last = f"{RULES}-A FORWARD -j REJECT --reject-with icmp-host-prohibited\n"

    assert certainty("LXC containers get no route to host from the internet.", last, "ACCEPT") == 1
    assert certainty("LXC containers time out on the internet.", last, "ACCEPT") is None


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ("Docker containers have no internet.", RULES),
        ("Since Docker was installed LXC containers are refused by the internet.", RULES),
        ("LXC containers on lxdbr0 have no internet.", f"{RULES}-A FORWARD -i lxdbr0 -j ACCEPT\n"),
        ("The host has no internet; LXC containers run on it.", RULES),
        ("LXC containers reach the internet.", RULES),
        ("LXC containers have no internet.", ""),
    ],
)
def test_others_are_let_be(said: str, rules: str) -> None:
    """The engine's own, another symptom, an accepted device, the host itself, and none at all."""
    assert certainty(said, rules) is None


def test_hidden_devices_and_filtered_listings_are_doubted() -> None:
    """Columns without devices show a rule of one as if it were for all."""
    said = "Since Docker was installed the LXC containers have no internet."

    assert certainty(said, COLUMNS) == 0.6
    assert certainty(said, COLUMNS.replace("FORWARD\n", "FORWARD | grep -v LOG\n", 1)) in {
        None,
        0.6,
    }


LANS = "The printers behind opt2 are not reached from lan7 through this router."


def test_two_devices_that_a_sentence_names_stay_possible() -> None:
    """The sentence alone puts the host between them, so that it asks."""
    rules = "-A FORWARD -i lan7 -o ppp0 -j ACCEPT\n"

    assert certainty(LANS, rules) == 0.6
    assert certainty(LANS, rules.replace("ppp0", "wan+")) == 0.6


@pytest.mark.parametrize(
    "rules",
    [
        "-A FORWARD -i lan7 -j ACCEPT\n",
        "-A FORWARD -i lan7 -o opt+ -j ACCEPT\n",
        "-A FORWARD -i lan7 ! -o ppp0 -j ACCEPT\n",
        "-A FORWARD -o lan7 -i opt2 -j ACCEPT\n",
        "-A FORWARD -i lan7 -j SITE\n",
        "-A FORWARD -i dmz0 -o ppp0 -j ACCEPT\n",
    ],
)
def test_devices_that_some_rule_may_accept_are_let_be(rules: str) -> None:
    """In either direction, by prefix or by negation, in an unknown chain, or of a host that has
    neither device.
    """
    assert certainty(LANS, rules) is None
    assert certainty(LANS, rules, policy="ACCEPT") is None


def test_pods_of_another_node_are_cut_off_by_the_policy() -> None:
    """From its own node it would be no matter of FORWARD."""
    said = "Pods on this node cannot be reached from another node, 100% packet loss; flannel."

    assert certainty(said) == 1


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("-A FORWARD -j KUBE-FORWARD\n", 1.0),
        ("-A FORWARD -j KUBE-FORWARD\n-A FORWARD -o cali+ -j ACCEPT\n", None),
        ("-A FORWARD -j KUBE-FORWARD\n-A FORWARD -j cali-FORWARD\n", None),
        ("-A FORWARD -i flannel.1 -o cni0 -j ACCEPT\n", None),
        ("-A FORWARD -i cni0 -o ens3 -j ACCEPT\n", None),
    ],
)
def test_pods_of_two_nodes_may_come_by_the_card_or_an_overlay(
    rules: str, expected: float | None
) -> None:
    """Whatever accepts one of the ways leaves it open."""
    said = "Pods on worker-3 are not reached from pods of other nodes, pings time out."

    assert certainty(said, rules) == expected


ENGINE_ALONE = """\
-A FORWARD -j DOCKER-USER
-A FORWARD -j DOCKER-FORWARD
"""
PEERS = "Peers of the WireGuard server (wg0) reach it, but no machine of its LAN on enp3s0."


def test_a_vpns_device_is_known_by_its_name() -> None:
    """No rule names either; what people put into DOCKER-USER is not shown."""
    found = certainty(PEERS, ENGINE_ALONE)

    assert found is not None
    assert found < 1
