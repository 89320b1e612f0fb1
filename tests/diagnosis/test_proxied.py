"""A meshed pod: the proxy's own connection is asked about beside the program's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.proxied import find_proxied
from podpath.diagnosis.verdict import Verdict
from podpath.diagnosis.worlds import World
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.node.case import Attempt, Case
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import forwarding, given_netns, given_node
from tests.checks.nodes import span
from tests.datapath.given import given_rules, given_tables

ASKED = Probe.parse("tcp 10.9.0.2 > 10.9.1.2:8080 from pod")
MESH = given_rules(
    "OUTPUT -p tcp -j ISTIO_OUTPUT",
    "ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN",
    "ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN",
    "ISTIO_OUTPUT -j REDIRECT --to-ports 15001",
    table="nat",
    chains=("ISTIO_OUTPUT",),
)
DROP = given_rules("FORWARD -d 10.9.1.2/32 -j DROP")
NONE = given_rules()


def node(mesh: str = MESH, host: str = NONE) -> Node:
    """Return two pods behind a host that forwards between them, with these rules."""
    spaces = (
        given_netns(
            "host",
            "v0 peer pod:eth0 10.9.0.1/24",
            "v1 peer other:eth0 10.9.1.1/24",
            sysctls=forwarding(rp_filter="0"),
        ),
        given_netns(
            "pod", "eth0 10.9.0.2/24 peer host:v0", routes=["default via 10.9.0.1 dev eth0"]
        ),
        given_netns(
            "other", "eth0 10.9.1.2/24 peer host:v1", routes=["default via 10.9.1.1 dev eth0"]
        ),
    )
    rules = {"host": host, "pod": mesh, "other": NONE}
    held = [
        replace(one, netfilter={4: Netfilter(tables=given_tables(rules[one.name]), complete=True)})
        for one in spaces
    ]
    return given_node(*held)


def ask(made: Node) -> Diagnosis:
    """Diagnose the program's connection, which somebody names."""
    return diagnose(Case(node=made), (ASKED,))


def test_the_proxys_connection_is_found_by_the_user_that_rules_spare() -> None:
    """It has the program's ends and the proxy's uid."""
    found = find_proxied(World(node()), ASKED)

    assert found is not None
    assert str(found.proxy) == "tcp 10.9.0.2 > 10.9.1.2:8080 from pod uid 1337"
    assert found.span is not None
    assert "1337" in found.span.text


@pytest.mark.parametrize(
    ("mesh", "asked"),
    [
        (NONE, ASKED),
        (MESH.replace("--uid-owner 1337", "--uid-owner 0"), ASKED),
        (MESH.replace("--uid-owner 1337", "! --uid-owner 1337"), ASKED),
        (MESH.replace("127.0.0.1/32", "10.9.1.0/24"), ASKED),
        (MESH, Probe.parse("udp 10.9.0.2 > 10.9.1.2:8080 from pod")),
        (MESH, Probe.parse("tcp 10.9.0.2 > 10.9.1.2:8080 from pod uid 1337")),
        (MESH, Probe.parse("tcp 10.9.0.2 > 10.9.0.2:8080 from pod")),
        (MESH, Probe.parse("tcp 10.9.1.2 > 10.9.0.2:8080 from other")),
        (MESH, Probe.parse("tcp 10.9.0.2 > 192.0.2.2:1404 from pod")),
    ],
    ids=["no mesh", "root", "all but it", "destination spared", "UDP", "proxy itself", "itself",
         "other pod", "nobody's"],
)  # fmt: skip
def test_where_no_proxy_stands_between_there_is_none(mesh: str, asked: Probe) -> None:
    """Nothing is asked beside the connection."""
    assert find_proxied(World(node(mesh)), asked) is None


def test_an_address_for_documentation_may_stand_for_a_real_one() -> None:
    """People mask addresses by such ones: only what validators connect to is left out."""
    masked = Probe.parse("tcp 10.9.0.2 > 192.0.2.50:443 from pod")

    assert find_proxied(World(node()), masked) is not None


def test_what_breaks_behind_the_proxy_is_found() -> None:
    """The program reaches its proxy, and the proxy does not reach the other pod."""
    answer = ask(node(host=DROP))

    assert answer.verdict is Verdict.FAULT
    assert answer.findings[0].check == "dropped-by-rule"
    assert any("uid 1337" in note for note in answer.notes)
    assert [str(one.probe) for one in answer.conversations][-1].endswith("uid 1337")


def test_an_address_that_nobody_here_has_may_be_no_proxys_destination() -> None:
    """A proxy chooses a service's endpoint by itself: a rule that drops what it is taken to send is
    possible, and no all-clear is given either.
    """
    outside = Probe.parse("tcp 10.9.0.2 > 10.96.0.7:80 from pod")
    made = node(host=given_rules("FORWARD -d 10.96.0.7/32 -j DROP"))

    answer = diagnose(Case(node=made), (outside,))

    assert answer.verdict is Verdict.POSSIBLE
    assert {finding.certainty < 1 for finding in answer.findings} == {True}


def test_an_attempt_that_failed_is_explained_by_the_proxy() -> None:
    """Who says that curl in the pod fails means the whole way."""
    tried = Attempt(probe=ASKED, result=FailureKind.TIMEOUT, span=span("curl", 1), who="curl")

    answer = diagnose(Case(node=node(host=DROP), attempts=(tried,)))

    assert [finding.check for finding in answer.findings][:1] == ["dropped-by-rule"]


def test_what_works_both_ways_is_no_fault() -> None:
    """Both connections are walked, and neither breaks."""
    answer = ask(node())

    assert not answer.findings
    assert len(answer.conversations) == 2
