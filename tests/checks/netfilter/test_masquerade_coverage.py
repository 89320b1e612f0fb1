"""Ranges of rules that translate sources, held against the ranges that people speak of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.netfilter.masquerade_coverage import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.net.addresses import Prefix
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Source, Span
from tests.checks.pasted import case_of, ticket_of

SPAN = Span(Source(name="ticket.md", lines=("Pods cannot reach the internet.",)), 1, 1)
PODS = Prefix.parse("10.244.0.0/16")
NO_WAY = Complaint(
    span=SPAN, works=False, source=EndKind.POD, target=EndKind.OUTSIDE, prefixes=(PODS,)
)
HIDDEN = Complaint(
    span=SPAN, works=False, failure=FailureKind.WRONG_PEER, prefixes=(Prefix.parse("10.20.0.0/16"),)
)
HEAD = "$ iptables -t nat -S POSTROUTING\n-P POSTROUTING ACCEPT\n"


@pytest.mark.parametrize(
    ("rules", "complaint", "certainties"),
    [
        ("-A POSTROUTING -s 10.42.0.0/16 -j MASQUERADE", NO_WAY, [1.0]),
        ("-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE", NO_WAY, []),
        ("-A POSTROUTING -o eth0 -j MASQUERADE", NO_WAY, []),
        ("-A POSTROUTING -s 10.42.0.0/16 -j MASQUERADE\n-A POSTROUTING -j MINE", NO_WAY, []),
        ("-A POSTROUTING -j KUBE-POSTROUTING", NO_WAY, [0.8]),
        (
            (
                "-N KUBE-POSTROUTING\n-A POSTROUTING -j KUBE-POSTROUTING\n"
                "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN\n"
                "-A KUBE-POSTROUTING -s 10.42.0.0/16 -j MASQUERADE"
            ),
            NO_WAY,
            [1.0],
        ),
        ("-A POSTROUTING -s 10.244.0.0/16 ! -o cni0 -j MASQUERADE", HIDDEN, [1.0]),
        ("-A POSTROUTING -s 10.244.0.0/16 ! -d 10.0.0.0/8 -j MASQUERADE", HIDDEN, []),
        (
            (
                "-A POSTROUTING -d 10.20.0.0/16 -j RETURN\n"
                "-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE"
            ),
            HIDDEN,
            [],
        ),
        (
            (
                "-A POSTROUTING -s 10.244.0.0/16 ! -d 10.0.0.0/8 -j MASQUERADE\n"
                "-A POSTROUTING -s 10.244.0.0/16 -j MASQUERADE"
            ),
            NO_WAY,
            [1.0],
        ),
    ],
)
def test_rules_are_held_against_ranges(
    rules: str, complaint: Complaint, certainties: list[float]
) -> None:
    """Too few, too many, and an exception that a second rule voids."""
    case = replace(case_of(HEAD + rules), complaints=(complaint,))

    assert [finding.certainty for finding in check(case)] == certainties


WAYS = """\
# ip route
default via 203.0.113.1 dev ens5
10.66.0.0/16 dev lan0 proto kernel scope link src 10.66.0.1
"""
BEHIND = "The machines behind the gateway (10.66.0.0/16) have no internet."
SEEN = "The database in 10.30.0.0/24 sees the node's address, and refuses the pods."
LAB = """\
This box is the gateway of our lab (10.66.0.0/16). Machines behind it ping the box but no host on \
the internet.
"""
PEERS = """\
WireGuard server. Clients have addresses of 10.66.0.0/24; they reach the server, but nothing on \
the internet.
"""


@pytest.mark.parametrize(
    ("said", "rule", "expected"),
    [
        (LAB, "", 1.0),
        (PEERS, "-s 10.8.0.0/24 -j MASQUERADE", 1.0),
        (BEHIND, "-o eth0 -j MASQUERADE", 1.0),
        (BEHIND, "-o ens5 -j MASQUERADE", None),
        (BEHIND, "! -o lan0 -j MASQUERADE", None),
        ("The gateway (10.66.0.1/16) has no internet.", "-s 10.8.0.0/24 -j MASQUERADE", None),
        (SEEN, "-s 10.66.0.0/16 ! -d 10.66.0.0/16 -j MASQUERADE", 1.0),
        (SEEN.replace("node", "pod"), "-s 10.66.0.0/16 ! -d 10.66.0.0/16 -j MASQUERADE", None),
    ],
)
def test_ranges_that_prose_names_need_a_rule_that_takes_them(
    said: str, rule: str, expected: float | None
) -> None:
    """Those of machines behind a router, and by the device that a default route has."""
    rules = f"-A POSTROUTING {rule}\n" if rule else ""
    text = f"{said}\n\n```\n{HEAD}{rules}{WAYS}```\n"
    case = read_together([Pasted(text, "ticket.md")]).facts

    assert [one.certainty for one in check(case)] == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("said", "command", "expected"),
    [
        ("Docker containers cannot ping 8.8.8.8.", "iptables", 1.0),
        (
            "A container on Docker's bridge gets no answer from the internet.",
            "iptables",
            1.0,
        ),
        ("Docker containers cannot ping 8.8.8.8.", "iptables-legacy", 0.8),
        ("The guests have lost the internet.", "iptables", 0.8),
        ("Machines behind this router have lost the internet.", "iptables", 0.8),
        ("The host has lost the internet.", "iptables", None),
        ("Docker containers reach the internet.", "iptables", None),
        ("Docker containers are refused by the internet.", "iptables", None),
        ("Docker containers cannot reach each other.", "iptables", None),
        ("Docker containers cannot reach IPv6 sites on the internet.", "iptables", None),
    ],
)
def test_an_empty_chain_translates_nothing(said: str, command: str, expected: float | None) -> None:
    """Certain for what Docker gives its containers, where no other tool's rules may do it."""
    shown = f"# {command} -t nat -S POSTROUTING\n-P POSTROUTING ACCEPT\n"
    case = read_together([Pasted(f"{said}\n\n```\n{shown}```\n", "ticket.md")]).facts

    assert [one.certainty for one in check(case)] == ([] if expected is None else [expected])


WIDE = """\
{said}

```
# iptables -t nat -S | grep MASQ
-A CILIUM_POST_nat -s {src} ! -d {dst} ! -o cilium_+ -j MASQUERADE
{more}```
"""
NO_ANSWER = "Pods of the Kubernetes cluster get no answer from a machine of the office."


def test_an_exception_may_be_far_too_wide() -> None:
    """Possible, since what it leaves out may have routes to the pods."""
    text = WIDE.format(said=NO_ANSWER, src="172.28.0.0/24", dst="172.0.0.0/8", more="")
    (found,) = check(ticket_of(text))

    assert (0.6, ("172.0.0.0/8",)) == (found.certainty, found.marks)


@pytest.mark.parametrize(
    ("said", "src", "dst", "more"),
    [
        (NO_ANSWER, "10.42.3.0/24", "10.42.0.0/16", ""),
        (NO_ANSWER, "172.28.0.0/24", "10.0.0.0/8", ""),
        ("Pods reach the office.", "172.28.0.0/24", "172.0.0.0/8", ""),
        (NO_ANSWER, "172.28.0.0/24", "172.0.0.0/8", "-A POSTROUTING -o eth0 -j MASQUERADE\n"),
    ],
    ids=["cluster", "elsewhere", "works", "another"],
)
def test_an_exception_for_the_pods_own_network_is_right(
    said: str, src: str, dst: str, more: str
) -> None:
    """That of the cluster, one that is not around the sources, or a rule below that takes all."""
    text = WIDE.format(said=said, src=src, dst=dst, more=more)

    assert [] == list(check(ticket_of(text)))


OFFICE = "Pods (10.155.0.0/16) reach the internet, but no machine of the office, 10.20.0.0/16."
SERVER = "Pods of node tern-3 get no answer from the license server 10.99.9.14."


@pytest.mark.parametrize(
    ("said", "dst", "more", "certainties"),
    [
        (OFFICE, "10.0.0.0/8", "", [0.8]),
        (SERVER, "10.96.0.0/12", "", [0.8]),
        (SERVER, "10.112.0.0/12", "", []),
        (SERVER, "10.96.0.0/12", "-A POSTROUTING -s 10.155.0.0/16 -j MASQUERADE\n", []),
        (OFFICE, "10.155.0.0/16", "", []),
    ],
    ids=["network", "address", "elsewhere", "another", "own"],
)
def test_what_an_exception_leaves_out_may_be_what_fails(
    said: str, dst: str, more: str, certainties: list[float]
) -> None:
    """Where workloads are said not to reach an address or a network in it."""
    case = ticket_of(WIDE.format(said=said, src="10.155.0.0/16", dst=dst, more=more))

    found = [one.certainty for one in check(case) if one.marks == (dst,)]
    assert found == certainties


@pytest.mark.parametrize("source", ["", "-s 10.66.0.0/16 "])
def test_a_rule_for_another_device_is_told_as_one(source: str) -> None:
    """The range is in the rule, or in every one; packets leave by another device."""
    rule = f"-A POSTROUTING {source}-o eth0 -j MASQUERADE\n"
    text = f"{BEHIND}\n\n```\n{HEAD}{rule}{WAYS}```\n"
    (found,) = check(read_together([Pasted(text, "ticket.md")]).facts)

    assert "by the device that they leave on: those for it are for eth0" in str(found.claim)
    assert "the default route" in found.prevention
