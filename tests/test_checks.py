"""What every check has in common: its page, its name, and silence on a node that has nothing
wrong.
"""

from __future__ import annotations

from podpath.checks.finding import Severity
from podpath.checks.registry import CHECKS, run_checks
from podpath.net.addresses import Prefix
from podpath.node.case import Case
from podpath.node.netfilter import MatchOption, PrefixMatch, Target
from tests.checks.nodes import address, bridge, chain, link, netns, node, route, rule, table
from tests.checks.scenes import bonded, foreign_arp, tracked


def test_every_check_has_a_page_of_the_same_shape() -> None:
    """The page names the check first, then says what, why, how to confirm, how to fix, and where to
    read on.
    """
    for check in CHECKS:
        assert check.page.startswith(f"{check.name}: ")
        for heading in (
            "\nWhat it is\n",
            "\nWhy it breaks\n",
            "\nHow to confirm\n",
            "\nHow to fix\n",
            "\nReferences\n",
        ):
            assert heading in check.page, (check.name, heading)
        assert check.summary.endswith(".")


def test_names_are_unique() -> None:
    """No two faults share a name."""
    assert len(CHECKS) == len({check.name for check in CHECKS})


def test_a_plain_docker_host_has_nothing_wrong() -> None:
    """The rules that Docker writes on a host with one bridge and a published port give no
    finding.
    """
    published = rule("DOCKER", 1, "DNAT", in_link="docker0", table="nat")
    assert published.in_link is not None
    published = published._replace(
        in_link=published.in_link._replace(negated=True),
        target=Target("DNAT", (MatchOption("to-destination", ("172.17.0.2:80",)),)),
        dst=PrefixMatch(Prefix.parse("10.0.0.1/32")),
    )
    forward = chain(
        "FORWARD",
        rule("FORWARD", 1, "DOCKER-USER"),
        rule("FORWARD", 2, "ACCEPT", in_link="docker0"),
        policy="DROP",
    )
    host = netns(
        links=[bridge("docker0"), link("eth0")],
        addresses=[address("docker0", "172.17.0.1", 16), address("eth0", "10.0.0.1")],
        routes=[
            route("0.0.0.0/0", "eth0", gateway="10.0.0.254"),
            route("172.17.0.0/16", "docker0"),
        ],
        sysctls={"net.ipv4.ip_forward": "1", "net.bridge.bridge-nf-call-iptables": "0"},
        tables=[
            table("nat", chain("DOCKER", published)),
            table("filter", forward, chain("DOCKER-USER", rule("DOCKER-USER", 1, "RETURN"))),
        ],
    )
    assert list(run_checks(Case(node=node(host)))) == []


def test_severities_are_the_published_ones() -> None:
    """A check gives no other weight than the schema names."""
    cases = [Case(node=bonded(1002)), foreign_arp(), Case(node=tracked("10.0.0.66"))]
    assert {found.severity for case in cases for found in run_checks(case)} <= set(Severity)
