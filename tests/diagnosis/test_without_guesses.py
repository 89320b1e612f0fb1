"""What checks find only because of a guess is possible; and a namespace that is a guess owns,
answers and routes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.checks.finding import WEIGHTY, Finding, Repair, Severity
from podpath.checks.links import pod_outside_bridge
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.verdict import Verdict
from podpath.diagnosis.without_guesses import POSSIBLE, describe_cure, lower_guessed, strip_guesses
from podpath.net.addresses import Address, IfName
from podpath.net.provenance import Basis, Inferred, Known, Listing
from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.node import HOST, Pod
from podpath.testing.nodes import given_netns, given_node, probe
from tests.assembly.evidence_text import case_of_document

GUESS = Inferred(Basis.GUESSED, "nothing shows it")
TICKET = """
```
root@node1:~# ip -d addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq state UP group default
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 192.168.1.10/24 brd 192.168.1.255 scope global eth0
3: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    bridge
    inet 10.244.1.1/24 brd 10.244.1.255 scope global cni0
4: vetha1@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP group default
    link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    veth
5: vethb2@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default
    link/ether 52:54:00:00:00:04 brd ff:ff:ff:ff:ff:ff link-netnsid 1
    veth
root@node1:~# ip route
default via 192.168.1.1 dev eth0
10.244.1.0/24 dev cni0 proto kernel scope link src 10.244.1.1
10.9.0.0/24 dev vethb2 scope link
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.10
root@node1:~# sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 1
root@node1:~# iptables-save
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -p tcp -m tcp --dport 8080 -j DNAT --to-destination {target}:80
COMMIT
*filter
:INPUT ACCEPT [0:0]
:FORWARD {policy} [0:0]
:OUTPUT ACCEPT [0:0]
COMMIT
```
"""  # noqa: E501
TARGETS = st.builds(
    lambda start, last: Address.parse(f"{start}.{last}"),
    st.sampled_from(("10.244.1", "10.9.0")),
    st.integers(2, 254),
)


def shown_case(target: str, policy: str = "ACCEPT") -> Case:
    """Read the ticket of a node whose pods nothing shows, with one port published to an address."""
    return case_of_document(TICKET.format(target=target, policy=policy))


def certain(answer: Diagnosis) -> list[Finding]:
    """Return the certain findings."""
    return [
        finding
        for finding in answer.findings
        if finding.certainty == 1 and finding.severity in WEIGHTY
    ]


@settings(max_examples=12, deadline=None)
@given(
    TARGETS, st.sampled_from(("192.168.1.50", "192.168.1.10")), st.sampled_from(("ACCEPT", "DROP"))
)
def test_an_inferred_namespace_owns_and_routes_nothing(
    target: Address, source: str, policy: str
) -> None:
    """No packet for an address that no line shows in it enters one and goes on, and nothing certain
    rests on a guess.
    """
    made = shown_case(str(target), policy)
    asked = probe(f"tcp {source} > {target if source == '192.168.1.10' else '192.168.1.10'}:8080")
    answer = diagnose(made, (asked,))
    guessed = {
        name
        for name, one in made.node.namespaces.items()
        if one.inferred is not None and one.inferred.is_guess
    }
    traces = [
        trace
        for conversation in answer.conversations
        for branch in conversation.branches
        for trace in branch.traces
    ]
    inside = [
        step
        for trace in traces
        for step in trace.steps
        if step.netns in guessed and step.decision == "forward"
    ]

    assert guessed
    assert [] == inside
    assert [] == [finding for finding in certain(answer) if finding.rests_on]
    assert Verdict.NONE is not answer.verdict


def test_nobody_answers_for_an_address_that_no_line_shows() -> None:
    """A route to a device with an unseen peer: it was a certain cause that its peer sent the packet
    back.
    """
    answer = diagnose(shown_case("10.244.1.9"), (probe("tcp 192.168.1.10 > 10.9.0.77:80"),))

    assert Verdict.POSSIBLE is answer.verdict
    assert [] == certain(answer)
    assert ["unseen namespace"] == [
        conversation.branches[0].last.deciding.stage for conversation in answer.conversations
    ]


def test_a_drop_before_the_guess_stays_certain() -> None:
    """What the host's own stated rules decide hangs on nothing behind them."""
    answer = diagnose(
        shown_case("10.244.1.9", "DROP"), (probe("tcp 192.168.1.50 > 192.168.1.10:8080"),)
    )

    assert Verdict.FAULT is answer.verdict
    assert [()] == [finding.rests_on for finding in certain(answer)]


def with_pods_range(inferred: Inferred | None) -> Case:
    """Make a case whose bridge's address is known in a way, and whose pod's address is outside of
    its range.
    """
    made = case_of_document(
        TICKET.format(target="10.244.1.9", policy="ACCEPT").replace(
            "```\n",
            "```\nroot@node1:~# ip netns exec cni-1 ip addr\n"
            "3: eth0@if4: <BROADCAST,UP,LOWER_UP> mtu 1500 link-netnsid 0\n"
            "    inet 10.77.0.5/24 scope global eth0\n",
            1,
        )
    )
    host = made.node.host
    addresses = [
        replace(item, inferred=inferred) if item.link == "cni0" else item
        for item in host.addresses.items
    ]
    host = replace(host, addresses=host.addresses._replace(items=tuple(addresses)))
    return replace(made, node=replace(made.node, namespaces={**made.node.namespaces, HOST: host}))


def test_a_finding_that_is_gone_without_the_guess_is_possible() -> None:
    """It is told with what it rests on, and its cure has no commands."""
    made = with_pods_range(GUESS)
    repair = Repair(title="mend it", commands=("ip addr add 10.77.0.1/24 dev cni0",))
    told = Finding(
        check=pod_outside_bridge.NAME,
        severity=Severity.FAULT,
        claim="it is so",
        evidence=(),
        repairs=(repair,),
    )
    (lowered,) = lower_guessed(made, (told,))

    assert POSSIBLE == lowered.certainty
    assert 0 < lowered.certainty < 1
    assert lowered.rests_on
    assert (describe_cure(repair),) == lowered.repairs
    assert () == describe_cure(repair).commands


@pytest.mark.parametrize("inferred", [None, Inferred(Basis.SHOWN, "a line shows it")])
def test_a_finding_on_stated_facts_stays(inferred: Inferred | None) -> None:
    """What is found without any guess as well is as certain as its check says."""
    made = with_pods_range(inferred)
    found = tuple(pod_outside_bridge.check(made))

    assert found == lower_guessed(made, found)


def test_stripping_leaves_what_is_stated() -> None:
    """Only what was guessed so goes: namespaces, and the other ends of pairs that led there."""
    node = shown_case("10.244.1.9").node
    guesses = [one.inferred for one in node.namespaces.values() if one.inferred is not None]
    stripped = strip_guesses(node, guesses)

    assert {HOST} == set(stripped.namespaces)
    assert {link.name for link in node.host.links.items} == {
        link.name for link in stripped.host.links.items
    }
    assert [None] == list({link.peer for link in stripped.host.links.items})
    assert node == strip_guesses(node, ())


def test_a_pod_whose_namespace_is_a_guess_has_none_without_it() -> None:
    """Other pods keep theirs; one that has none has none still."""
    guessed = replace(given_netns("pod 2"), inferred=GUESS)
    pods = tuple(
        Pod(namespace="shop", name=str(number), netns=name)
        for number, name in enumerate(("pod 1", "pod 2", None))
    )
    made = replace(given_node(given_netns("pod 1"), guessed), pods=pods)
    stripped = strip_guesses(made, (GUESS,))

    assert ["pod 1", None, None] == [pod.netns for pod in stripped.pods]
    assert {HOST, "pod 1"} == set(stripped.namespaces)
    assert made == strip_guesses(made, ())


def test_only_what_was_guessed_is_stripped() -> None:
    """Links, addresses, routes and neighbors of the guess; a peer that is one, but not its
    device.
    """
    host = given_netns(
        "host", "eth0 10.0.0.1/24", "lxc1 peer pod:eth0", routes=["default dev eth0"],
        neighbours=["10.0.0.9 dev eth0 lladdr 02:00:00:00:00:09 STALE"],
    )  # fmt: skip

    def guessing(listing: Listing[Any]) -> Listing[Any]:
        return listing._replace(
            items=tuple(replace(item, inferred=GUESS) for item in listing.items)
        )

    for name in ("links", "addresses", "routes", "neighbours"):
        changed: dict[str, Any] = {name: guessing(getattr(host, name))}
        guessed = replace(host, **changed)
        left = strip_guesses(given_node(guessed), (GUESS,)).host
        assert () == getattr(left, name).items
        others = {"links", "addresses", "routes", "neighbours"} - {name}
        assert all(getattr(left, other) == getattr(host, other) for other in others)
    peered = replace(
        host.links.items[1], peer=Known(Peer(netns="pod", link=IfName("eth0")), inferred=GUESS)
    )
    listing = host.links._replace(items=(host.links.items[0], peered))
    left = strip_guesses(given_node(replace(host, links=listing)), (GUESS,)).host
    assert [None, None] == [link.peer for link in left.links.items]
