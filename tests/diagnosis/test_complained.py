"""Complaints as connections between ends that the evidence shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.complained import ChosenBy, Complained, Side, place_complaints
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.forbids import ComplaintUnexplained
from podpath.diagnosis.verdict import Verdict
from podpath.evidence.documents.complaints import read_complaints
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import FailureKind
from podpath.node.case import Case
from podpath.node.node import Node, Pod, Service, ServicePort
from podpath.testing.nodes import given_netns, given_node

DNS = Service(
    namespace="kube-system", name="kube-dns", type="ClusterIP",
    addresses=(Address.parse("10.96.0.10"),),
    ports=(ServicePort(
        protocol=protocols.UDP, port=53, endpoints=((Address.parse("10.1.0.2"), 53),),
    ),),
)  # fmt: skip
SHOP = Service(
    namespace="shop", name="api", type="ClusterIP", addresses=(Address.parse("10.96.0.20"),),
    ports=(ServicePort(
        protocol=protocols.TCP, port=8080, endpoints=((Address.parse("10.1.0.2"), 8080),),
    ),),
)  # fmt: skip


def network(forward: str = "1") -> Node:
    """Return a node with two pods, one of which is described by name, and two services."""
    host = given_netns(
        "host", "eth0 192.168.0.1/24", "a0 10.1.0.1/24 mac 02:00:00:00:00:01 peer a:eth0",
        "b0 10.2.0.1/24 mac 02:00:00:00:00:02 peer b:eth0",
        routes=["default via 192.168.0.254 dev eth0"], sysctls={"net.ipv4.ip_forward": forward},
    )  # fmt: skip
    first = given_netns(
        "a",
        "eth0 10.1.0.2/24 mac 02:00:00:00:00:03 peer host:a0",
        routes=["default via 10.1.0.1 dev eth0"],
    )
    second = given_netns(
        "b",
        "eth0 10.2.0.2/24 mac 02:00:00:00:00:04 peer host:b0",
        routes=["default via 10.2.0.1 dev eth0"],
    )
    made = given_node(host, first, second)
    return replace(
        made,
        services=(DNS, SHOP),
        pods=(Pod(namespace="shop", name="web-1", address=Address.parse("10.2.0.2")),),
    )


def complain(text: str, forward: str = "1") -> Case:
    """Make a case whose prose is one sentence."""
    return Case(node=network(forward), complaints=read_complaints("ticket.md", (text,), ()))


def placed(text: str) -> Complained:
    """Return the one connection that a sentence complains of."""
    (one,) = place_complaints(complain(text))
    return one


SENTENCES = [
    ("From pod 10.1.0.2 a curl to 10.2.0.2:8080 times out.", "tcp 10.1.0.2 > 10.2.0.2:8080 from a"),
    ("10.2.0.2 cannot be pinged from 10.1.0.2, it times out.", "icmp 10.1.0.2 > 10.2.0.2 from a"),
    (
        "The pod web-1 cannot reach the service api.shop.svc.cluster.local.",
        "tcp 10.2.0.2 > 10.96.0.20:8080 from b",
    ),
    ("Names do not resolve in the pod web-1.", "udp 10.2.0.2 > 10.96.0.10:53 from b"),
    ("From the node I cannot ping the pod 10.2.0.2.", "icmp 192.168.0.1 > 10.2.0.2 from host"),
    (
        "From the node the service api cannot be reached.",
        "tcp 192.168.0.1 > 10.96.0.20:8080 from host",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "probe"), SENTENCES)
def test_ends_are_found(text: str, probe: str) -> None:
    """Addresses, names, and words for ends become a probe between what the evidence shows."""
    assert probe == str(placed(text).probe)


def test_what_was_chosen_is_kept() -> None:
    """Of two pods the first is taken, and the answer can say so; the one that is named is meant."""
    chosen = placed("A pod cannot reach the service api.shop.svc.cluster.local.")

    assert {Side.SOURCE: ChosenBy.FIRST, Side.TARGET: ChosenBy.NAMED, Side.PORT: ChosenBy.ONLY} == {
        one.side: one.how for one in chosen.choices
    }
    assert not chosen.is_meant
    assert placed(SENTENCES[0][0]).is_meant


@pytest.mark.parametrize(
    "text", ["The pod web-1 never starts.", "Everything works again.", "Something is broken here."]
)
def test_what_is_no_connection_is_not_placed(text: str) -> None:
    """A failure that no walk tells of, a success, and a sentence without ends."""
    assert () == place_complaints(complain(text))


def test_pods_of_two_nodes_are_not_two_of_this_one() -> None:
    """Of two pods that nobody names one is elsewhere; one that is named may be of this node."""
    assert () == place_complaints(complain("Pods of different nodes cannot reach one another."))
    assert place_complaints(complain("Pods cannot reach one another."))


def test_a_walk_that_breaks_as_described_is_the_cause() -> None:
    """Forwarding is off, and the complaint names both ends."""
    answer = diagnose(complain(SENTENCES[0][0], forward="0"))

    assert (Verdict.FAULT, "ip-forward", 1) == (
        answer.verdict,
        answer.findings[0].check,
        answer.findings[0].certainty,
    )
    assert ["tcp 10.1.0.2 > 10.2.0.2:8080 from a"] == [str(one.probe) for one in answer.complained]


def test_a_walk_that_breaks_in_another_way_is_not() -> None:
    """A host that does not forward refuses nothing."""
    answer = diagnose(
        complain("From pod 10.1.0.2 a curl to 10.2.0.2:8080 is refused.", forward="0")
    )

    assert not [
        one
        for one in answer.findings
        if one.shown_by is not None and "10.2.0.2:8080" in " ".join(one.breaks)
    ]


def test_a_complaint_that_the_walk_contradicts_forbids_the_all_clear() -> None:
    """It works in the model, and somebody says that it does not."""
    answer = diagnose(complain("From pod 10.1.0.2 a curl to 10.2.0.2:80 times out."))

    assert Verdict.NONE is not answer.verdict
    assert FailureKind.TIMEOUT is answer.complained[0].kind
    assert not answer.forbids or any(
        isinstance(one, ComplaintUnexplained) for one in answer.forbids
    )


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        ("10.2.0.2 cannot be pinged from 10.1.0.2, it times out.", protocols.ICMP),
        ("From pod 10.1.0.2 a curl to 10.2.0.2:8080 times out.", protocols.TCP),
    ],
)
def test_the_protocol_is_that_of_the_addresses(text: str, protocol: int) -> None:
    """A ping of an IPv4 address is ICMP, not ICMPv6."""
    assert protocol == placed(text).probe.protocol


def test_a_service_that_no_name_tells_is_one_of_the_users_own() -> None:
    """Not the cluster's name server, though it is listed first; the only one needs no guess."""
    one = placed("The pod web-1 cannot reach the service, it times out.")

    assert "10.96.0.20" == str(one.probe.dst)
    assert ChosenBy.ONLY in {choice.how for choice in one.choices if choice.side is Side.TARGET}
