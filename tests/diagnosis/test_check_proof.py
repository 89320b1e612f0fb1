"""Repairs of checks: kept where the check finds nothing after them, and what else they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.registry import find_check
from podpath.checks.routing import ip_forward
from podpath.diagnosis import check_proof
from podpath.diagnosis.check_proof import prove_check
from podpath.net.addresses import IfName
from podpath.net.probe import Probe
from podpath.net.provenance import Known, Source, Span
from podpath.node.case import Case
from podpath.node.change import Change, SetLink, SetSysctl
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST, Node
from podpath.testing.nodes import given_netns, given_node, listening, probe
from tests.datapath.given import given_rules, given_tables

KEY = "net.ipv4.ip_forward"
ACROSS = probe("tcp 10.1.0.2 > 10.2.0.2:80 from pod")


def node(value: str, *rules: str) -> Node:
    """Return a host between two pods that forwards, or not."""
    netfilter = Netfilter(tables=given_tables(given_rules(*rules)), complete=True)
    return given_node(
        given_netns(
            "host",
            "lxc1 10.1.0.1/24 peer pod:eth0",
            "lxc2 10.2.0.1/24 peer pod2:eth0",
            sysctls={KEY: value, "net.ipv4.conf.all.rp_filter": "0"},
            netns={"netfilter": {4: netfilter}},
        ),
        given_netns(
            "pod", "eth0 10.1.0.2/24 peer host:lxc1", routes=["default via 10.1.0.1 dev eth0"]
        ),
        given_netns(
            "pod2",
            "eth0 10.2.0.2/24 peer host:lxc2",
            routes=["default via 10.2.0.1 dev eth0"],
            netns={"sockets": listening(80)},
        ),
    )


def setting(value: str, key: str = KEY, *, proven: str = "") -> Repair:
    """Propose a value."""
    changes: tuple[Change, ...] = (SetSysctl(netns=HOST, key=key, value=value),)
    return Repair(
        title="set it", commands=(f"sysctl -w {key}={value}",), changes=changes, proven=proven
    )


def finding(made: Node, *repairs: Repair, check: str = ip_forward.NAME) -> Finding:
    """Find that the host does not forward."""
    fact = made.host.sysctls[KEY]
    assert isinstance(fact, Known)
    assert fact.span is not None
    claim = "The host does not forward."
    return Finding(
        check=check, severity=Severity.FAULT, claim=claim, evidence=(fact.span,), repairs=repairs
    )


def proven(
    *repairs: Repair, value: str = "0", check: str = ip_forward.NAME, flows: tuple[Probe, ...] = ()
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the repairs that are left: their commands, how they are proven, what they change."""
    made = node(value)
    found = prove_check(Case(node=made), finding(made, *repairs, check=check), flows)
    return [(each.commands[0], each.proven, each.side_effects) for each in found.repairs]


ON = f"sysctl -w {KEY}=1"
OTHER = "net.ipv4.conf.all.rp_filter"


def test_a_repair_that_cures_is_proven_and_one_that_does_not_is_left_out() -> None:
    """By the check, run on the changed node."""
    assert [(ON, "simulated", ())] == proven(setting("1"), setting("1", OTHER))


def test_a_repair_after_which_some_of_its_lines_are_found_again_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another line may come first in what is left: it may be the same fault."""
    made = node("0")
    blamed = finding(made, setting("1"))
    other = Span(Source(name="other.txt", lines=("a rule",)), 1, 1)
    known = find_check(ip_forward.NAME)
    assert known is not None

    def find_again(_: Case) -> Iterator[Finding]:
        yield replace(blamed, evidence=(other, *blamed.evidence))

    monkeypatch.setattr(check_proof, "find_check", lambda _: known._replace(run=find_again))
    (left,) = prove_check(Case(node=made), blamed, ()).repairs

    assert left.proven == ""


def test_a_repair_that_changes_nothing_known_is_kept_unproven() -> None:
    """A description, and a check that nobody knows."""
    described = Repair(title="ask the provider", commands=("ask",))

    assert [("ask", "", ())] == proven(described)
    assert [(ON, "", ())] == proven(setting("1"), check="no such check")


def test_a_proof_that_was_made_is_kept() -> None:
    """Even where the check would find it again."""
    made = setting("0", proven="simulated")
    spoilt = setting("1", OTHER, proven="simulated")

    assert ["simulated", "simulated"] == [how for _, how, _ in proven(made, spoilt)]


def test_connections_that_stop_working_are_told() -> None:
    """Those that work afterwards, or fail as before, are not."""
    both = replace(
        setting("1"),
        changes=(
            *setting("1").changes,
            SetLink(netns="pod2", link=IfName("eth0"), attributes=(("state", "down"),)),
        ),
    )
    ping, away = (
        probe("icmp 10.2.0.1 > 10.2.0.2 from host"),
        probe("tcp 10.1.0.2 > 9.9.9.9:1 from pod"),
    )
    ((_, how, effects),) = proven(both, flows=(ACROSS, ping, away))

    assert "simulated" == how
    assert [f"{ping}: works before, fails after"] == list(effects)


def test_a_repair_of_what_no_check_looks_for_stays_unproven() -> None:
    """A fault that walks alone find, or that nothing does, is not looked for on another node."""
    made = node("0")

    for check in ("forward-policy", "no-such-check"):
        found = finding(made, setting("1"), check=check)
        (repair,) = prove_check(Case(node=made), found, ()).repairs
        assert not repair.proven


def test_a_connection_that_works_now_and_then_after_a_repair_is_told() -> None:
    """What the kernel draws at random is walked each way."""
    made = node("0", "FORWARD -i lxc1 -m statistic --mode random --probability 0.5 -j DROP")
    (repair,) = prove_check(Case(node=made), finding(made, setting("1")), (ACROSS,)).repairs

    assert (f"{ACROSS}: fails before, works now and then after",) == repair.side_effects
