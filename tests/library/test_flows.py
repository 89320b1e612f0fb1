"""Flows by the library: verdicts, exit codes, and every form of the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import podpath
from podpath.library.case import Case, NodeCase
from podpath.library.flows import ChangeFile, check, plan_changes
from podpath.library.given import Pasted
from podpath.net.errors import UsageError
from podpath.node.alteration import apply_changes
from podpath.node.node import HOST
from tests.flows.samples import DROP, FLOWS, given_case


def test_flows_as_expected_exit_with_nothing() -> None:
    """Both flows of the file hold."""
    answer = check(given_case(), FLOWS)

    assert ("met", 0) == (answer.verdict, answer.exit_code)
    assert [True, True] == [flow.is_met for flow in answer.flows]
    assert podpath.check is check


def test_a_change_that_breaks_a_flow_exits_with_one() -> None:
    """And the answer names the line."""
    answer = check(given_case(), FLOWS, [ChangeFile(path=DROP)])

    assert ("unmet", 1) == (answer.verdict, answer.exit_code)
    assert "new.rules:5 | -A FORWARD -s 10.1.0.0/24 -j DROP" in answer.text()


def test_nobody_can_tell_is_no_pass() -> None:
    """Unless the caller says that it is."""
    change = ChangeFile(
        path=Pasted("ip route add 10.9.0.0/16 via 192.0.2.7\nip link set x up\n", "r")
    )

    open_still = check(given_case(), FLOWS, [change])
    allowed = check(given_case(), FLOWS, [change], allow_undecided=True)

    assert ("undecided", 3) == (open_still.verdict, open_still.exit_code)
    assert 0 == allowed.exit_code
    assert "not applied: r:2" in open_still.text()


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a.rules", ChangeFile(path="a.rules")),
        ("a,b.rules,noflush,legacy", ChangeFile(path="a,b.rules", noflush=True, flavour="legacy")),
        ("r,ipv6,netns=pod-a", ChangeFile(path="r", family=6, netns="pod-a")),
        ("r,nft", ChangeFile(path="r", flavour="nft", netns=HOST)),
    ],
)
def test_a_change_is_spelled_with_its_options(text: str, change: ChangeFile) -> None:
    """A comma in a file's name is no option."""
    assert change == ChangeFile.parse(text)


def test_files_are_read(tmp_path: Path) -> None:
    """Flows and changes come from files as well."""
    (tmp_path / "flows.toml").write_text(FLOWS.text)
    (tmp_path / "rules").write_text(DROP.text)

    answer = check(given_case(), tmp_path / "flows.toml", [str(tmp_path / "rules")])

    assert 1 == answer.exit_code


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (ChangeFile(path=Pasted("What is this?", "x")), "expected rules for iptables-restore"),
        (ChangeFile(path=DROP, netns="nope"), "expected a namespace of the evidence"),
        (ChangeFile(path="/nonexistent"), "no such file"),
    ],
)
def test_what_cannot_be_taken_over_at_all_is_a_usage_error(change: ChangeFile, said: str) -> None:
    """One clear line."""
    with pytest.raises(UsageError, match=said):
        plan_changes([change], given_case().facts)


def test_changes_build_on_one_another() -> None:
    """The second file is taken over on the node as the first leaves it."""
    first, second = "ip route add 10.9.0.0/16 via 192.0.2.7", "ip route del 10.9.0.0/16"
    planned = plan_changes(
        [ChangeFile(path=Pasted(text, "r")) for text in (first, second)], given_case().facts
    )

    assert [(), ()] == [one.refused for one in planned]


def test_a_line_that_takes_the_deciding_rule_away_is_named() -> None:
    """What was dropped connects then, and the file holds no rule that would say so."""
    before = plan_changes([ChangeFile(path=DROP)], given_case().facts)[0]
    held = replace(given_case().facts, node=apply_changes(given_case().facts.node, before.changes))
    case = Case(nodes=(NodeCase(name="", facts=held),))
    text = "*filter\n-D FORWARD -s 10.1.0.0/24 -j DROP\nCOMMIT\n"

    answer = check(case, FLOWS, [ChangeFile(path=Pasted(text, "r"), noflush=True)])

    changed = [flow for flow in answer.flows if flow.is_changed]
    assert ["-D FORWARD -s 10.1.0.0/24 -j DROP"] == [
        line.text for flow in changed for line in flow.changing
    ]
