"""No command holds a name that was made up: a word in capitals stands in its place, and the command
says what to put there.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.datapath.reasons.routes import NoRoute
from podpath.datapath.tracing.trace import Assumption, Branch, Conversation, Trace, Undecided
from podpath.datapath.vocabulary import Direction, Reachability
from podpath.diagnosis.diagnose import diagnose
from podpath.diagnosis.diagnosis import Question
from podpath.diagnosis.placeholders import Placeholders
from podpath.net.addresses import IfName
from podpath.net.provenance import Basis, Inferred, Listing
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress, Link
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST
from podpath.testing.nodes import given_netns, given_node, ip, probe
from tests.assembly.evidence_text import case_of_document
from tests.checks.nodes import chain, rule, table
from tests.checks.pasted import ticket_of
from tests.datapath.walks import packet

UPLINK = "the device that leads out"
OWN = "the host's own address"
GUESS = Inferred(Basis.GUESSED, "no output shows it")


def unseen(name: str, meaning: str) -> Link:
    """Make a device whose name is made up."""
    return Link(name=IfName(name), inferred=GUESS, stands_for=meaning)


def given_case(*links: Link, matched: str | None = None) -> Case:
    """Return a case of a host with devices that no output shows, beside a listed one."""
    host = given_netns(HOST, "ens3 10.0.0.1/24")
    own = InterfaceAddress(
        link=IfName("ens3"), address=ip("192.0.2.1"), length=32, inferred=GUESS, stands_for=OWN
    )
    dropping = rule("FORWARD", 1, "DROP", in_link=matched)
    host = replace(
        host,
        links=Listing((*host.links.items, *links), False, "ip link"),
        addresses=Listing((*host.addresses.items, own), False, "ip addr"),
        netfilter={4: Netfilter(tables=(table("filter", chain("FORWARD", dropping)),))},
    )
    pod = given_netns("pod-10.0.1.2", netns={"inferred": GUESS})
    return Case(node=given_node(host, pod))


@pytest.mark.parametrize(
    ("command", "typed"),
    [
        ("sysctl -w net.ipv4.conf.eth0.rp_filter=0", "sysctl -w net.ipv4.conf.DEVICE.rp_filter=0"),
        ("tcpdump -ni eth0; ethtool -i eth0", "tcpdump -ni DEVICE; ethtool -i DEVICE"),
        ("bridge link set dev 'eth0' hairpin on", "bridge link set dev 'DEVICE' hairpin on"),
    ],
)
def test_a_made_up_device_is_a_placeholder_that_says_what_to_put_there(
    command: str, typed: str
) -> None:
    """Wherever the name stands in the command; the comment of the shell may be typed, too."""
    filled = Placeholders(given_case(unseen("eth0", UPLINK))).fill_in(command)
    assert f"{typed}  # DEVICE: {UPLINK}" == filled


def test_a_second_made_up_device_has_a_word_of_its_own() -> None:
    """Each of them says what it is."""
    case = given_case(unseen("eth0", UPLINK), unseen("veth-of-10-0-1-2", "the pod's end"))
    filled = Placeholders(case).fill_in("tc -s qdisc show dev veth-of-10-0-1-2; ip link show eth0")
    assert (
        "tc -s qdisc show dev DEVICE; ip link show DEVICE2"
        f"  # DEVICE: the pod's end; DEVICE2: {UPLINK}"
    ) == filled


def test_an_address_that_stands_for_another_is_a_placeholder() -> None:
    """A longer address that begins alike is another one."""
    filled = Placeholders(given_case()).fill_in
    assert f"ip route get ADDRESS  # ADDRESS: {OWN}" == filled("ip route get 192.0.2.1")
    assert "ip route get 192.0.2.12" == filled("ip route get 192.0.2.12")
    assert "ip route get 8.192.0.2.1" == filled("ip route get 8.192.0.2.1")


@pytest.mark.parametrize("command", ["ip link show ens3", "ip link show eth0.100", "ip -d link"])
def test_what_an_output_names_stays(command: str) -> None:
    """So does a name that only begins like a made-up one, and what names nothing."""
    assert command == Placeholders(given_case(unseen("eth0", UPLINK))).fill_in(command)


def test_a_device_that_a_rule_matches_is_stated() -> None:
    """The rule that is to be deleted has to be spelled as it stands."""
    case = given_case(unseen("eth0", UPLINK), matched="eth0")
    command = "iptables -D FORWARD -i eth0 -j DROP"
    assert command == Placeholders(case).fill_in(command)


def test_a_pod_has_its_own_eth0() -> None:
    """A command that enters another namespace does not speak of the host's devices; a namespace
    that no output shows has no name that can be typed.
    """
    placeholders = Placeholders(given_case(unseen("eth0", UPLINK)))
    entered = placeholders.fill_in("nsenter -t $(pidof nginx) -n ip link show eth0")
    made_up = placeholders.fill_in("ip netns exec pod-10.0.1.2 ip link show eth0")
    assert "nsenter -t $(pidof nginx) -n ip link show eth0" == entered
    assert made_up.startswith("ip netns exec NETNS ip link show eth0  # NETNS: ")
    words = "in the network namespace of pod-10.0.1.2: ip link show eth0"
    assert words == placeholders.fill_in(words)


def test_repairs_and_questions_are_filled_in_alike() -> None:
    """All that a person is to run."""
    placeholders = Placeholders(given_case(unseen("eth0", UPLINK)))
    finding = Finding(
        check="rp-filter",
        severity=Severity.CAUSE,
        claim="it is refused",
        evidence=(),
        repairs=(Repair(title="let it in", commands=("ip link set eth0 up", "ip link")),),
        asks=(FollowUp("whether it is up", "ip link show eth0", "then it is"),),
    )
    filled = placeholders.of_finding(finding)
    asked = placeholders.of_question(Question(fact="it", ask="ip link show eth0", decides=()))

    assert (f"ip link set DEVICE up  # DEVICE: {UPLINK}", "ip link") == filled.repairs[0].commands
    assert f"ip link show DEVICE  # DEVICE: {UPLINK}" == filled.asks[0].command == asked.ask


def test_a_whole_answer_is_filled_in() -> None:
    """No route is shown, so the assembly gave the host an uplink: what an expert asks about a
    tunnel asks for a look at that device.
    """
    failing = case_of_document("""
        $ curl -m 5 http://10.244.3.7:8080
        curl: (28) Connection timed out after 5001 milliseconds
    """)
    case = replace(failing, mentions=frozenset({Technology.VXLAN, Technology.ESXI}))
    (uplink,) = (link for link in case.node.host.links.items if link.stands_for)
    asked = [question.ask for question in diagnose(case).questions]

    assert [] == [ask for ask in asked if uplink.name in ask]
    assert any(f"uname -r  # DEVICE: {uplink.stands_for}" in ask for ask in asked)


def test_connections_of_an_answer_ask_for_what_can_be_typed() -> None:
    """Only an event shows the pod, so the assembly gave it the host's end of a veth pair."""
    case = case_of_document("""
        # readiness probes fail on every node

        ```
        Warning  Unhealthy  49s  kubelet  Readiness probe failed: Get "http://10.77.220.9:8080/": dial tcp 10.77.220.9:8080: i/o timeout
        ```
    """)  # noqa: E501 - as kubectl prints it
    made_up = [link for link in case.node.host.links.items if link.stands_for]
    names = re.compile("|".join(re.escape(link.name) for link in made_up))
    walked = [branch for each in diagnose(case).conversations for branch in each.branches]
    asked = {made.ask for branch in walked for made in branch.assumptions}

    assert [] == [ask for ask in asked if names.search(ask)]
    told = "DEVICE: the host's end of the veth pair of the pod with 10.77.220.9"
    assert f"sysctl net.ipv4.conf.DEVICE.rp_filter  # {told}" in asked


def test_a_finding_shows_a_branch_of_a_conversation() -> None:
    """It is the same object once both are filled in: reports mark that branch."""
    placeholders = Placeholders(given_case(unseen("eth0", UPLINK)))
    made = Assumption("rp_filter", "1", "strict", "sysctl net.ipv4.conf.eth0.rp_filter", 0)
    branch = Branch(assumptions=(made,), traces=(), works=None)
    walked = Conversation(
        probe=probe("tcp 10.0.0.1 > 10.0.0.2:80"), branches=(branch,),
        verdict=Reachability.UNDECIDED, truncated=False,
    )  # fmt: skip
    found = Finding(
        check="rp-filter", severity=Severity.CAUSE, claim="it fails", evidence=(),
        shown_by=branch,
    )  # fmt: skip
    (filled,) = placeholders.of_conversation(walked).branches

    assert filled is placeholders.of_finding(found).shown_by
    assert branch != filled


def test_a_walk_asks_for_what_can_be_typed() -> None:
    """Where it forks, and where it ends undecided; the rest of it stays as it was."""
    made = Assumption("rp_filter", "1", "strict", "sysctl net.ipv4.conf.eth0.rp_filter", 0)
    seen = packet("10.0.0.1", "10.0.0.2")
    stopped = Undecided(netns=HOST, reason=NoRoute(ip("10.0.0.9")), ask="ip addr show dev eth0")
    first = Trace(
        name="SYN", direction=Direction.ORIGINAL, start=HOST, packet=seen, steps=(),
        outcome=stopped, matched=(),
    )  # fmt: skip
    branch = Branch(assumptions=(made,), traces=(first,), works=None)
    walked = Conversation(
        probe=probe("tcp 10.0.0.1 > 10.0.0.2:80"), branches=(branch,),
        verdict=Reachability.UNDECIDED, truncated=False,
    )  # fmt: skip
    (filled,) = Placeholders(given_case(unseen("eth0", UPLINK))).of_conversation(walked).branches

    assert f"sysctl net.ipv4.conf.DEVICE.rp_filter  # DEVICE: {UPLINK}" == filled.assumptions[0].ask
    (ended,) = filled.traces
    assert replace(stopped, ask=f"ip addr show dev DEVICE  # DEVICE: {UPLINK}") == ended.outcome


def test_a_chain_without_a_heading_has_no_name() -> None:
    """A row that was pasted alone is of a chain that nobody knows, in words as in commands."""
    row = "   64  3840 REJECT     all  --  *      *       0.0.0.0/0            0.0.0.0/0"
    answer = diagnose(ticket_of(f"Pods cannot reach the registry.\n\n```\n{row}\n```\n"))
    (finding,) = (one for one in answer.findings if one.check == "drop-counter")
    texts = [str(finding.claim), *(f"{one.fact} {one.command}" for one in finding.asks)]
    texts += [f"{one.fact} {one.ask}" for one in answer.questions]

    assert "A REJECT rule of a chain whose heading is not shown has ended 64 packets." == texts[0]
    assert any("iptables -Z CHAIN;" in text for text in texts)
    assert [] == [text for text in texts if "?4" in text]
