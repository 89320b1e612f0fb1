"""Tests of reasons in words: every one has a sentence, and no finding depends on what the sentence
says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest

import podpath
from podpath.datapath.reasons import (
    Reason,
    boundaries,
    failures,
    neighbours,
    routes,
    rules,
    tracking,
)
from podpath.datapath.reasons.failures import Failure
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.datapath.walk.not_modelled import BOUNDARIES
from podpath.net import nft
from podpath.net.addresses import Mac
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Rule, Target
from podpath.node.nftables import NftRule
from podpath.report.sentences import boundaries as boundary_words
from podpath.report.sentences import near, reasons, spell_failure, spell_reason
from podpath.testing.nodes import ip

TICKETS = Path(__file__).parent.parent / "data" / "tickets"
SPAN = Span(Source(name="rules", lines=("a rule",)), 1, 1)
RULE = Rule("filter", "FORWARD", 3, SPAN, Target("DROP"))
NATIVE = NftRule(nft.NftFamily.INET, "t", "c", 1, SPAN, (nft.NftVerdict("drop"),), 7)
A, B = ip("10.0.0.1"), ip("10.0.0.2")
FAMILIES = (
    "spell_device", "spell_bridge", "spell_cilium", "spell_route", "spell_neighbour",
    "spell_tracking", "spell_translation", "spell_rule", "spell_boundary",
)  # fmt: skip
PROSE = ("claim", "reasoning", "history", "certainty_words")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (rules.RuleDecided(RULE, StepDecision.DROP), "FORWARD rule 3 drops it"),
        (rules.RuleDecided(NATIVE, StepDecision.DROP), "inet t c rule 1, handle 7 (drop) drops it"),
        (rules.PolicyDecided("filter", "FORWARD", False), (
            "no rule of FORWARD decides, and its policy is "
            "DROP"
        )),
        (rules.PolicyDecided("ip t", "c", True), (
            "no rule of ip t c decides, and its policy is "
            "drop"
        )),
        (rules.ZoneSet(RULE, 9, "ftp"), (
            "FORWARD rule 3 has conntrack look it up in zone 9, with the helper "
            "ftp"
        )),
        (routes.TtlExceeded(1), "its TTL of 1 expires here"),
        (routes.LocalAddress(A, "host", "broadcast"), "10.0.0.1 is a broadcast address of host"),
        (routes.ForwardingOff("pod", "eth0", A),
         (
             "10.0.0.1 is not for pod, which does not forward what comes in on eth0, and no ICMP "
             "error is sent"
         )),
        (routes.ReversePathFailed(A, ("eth1", "eth2"), 2, "eth0", True),
         ("the route back to 10.0.0.1 uses eth1, eth2, not eth0; rp_filter is loose, which "
             "amounts to strict because eth0 has no address (the larger of all and eth0)")),
        (routes.ReversePathFailed(A, (), 1, "eth0", False),
         "no route leads to 10.0.0.1; rp_filter is strict (the larger of all and eth0)"),
        (neighbours.ArpRefused(A, neighbours.ArpIgnored(8, "eth0")), (
            "10.0.0.1 does not answer ARP: arp_ignore is 8 on "
            "eth0"
        )),
        (neighbours.ForeignSenderAsked(
            neighbours.PresumedToAnswer(A, Mac("02:00:00:00:00:09")),
            neighbours.ArpRequest("eth1", Mac("02:00:00:00:00:02"), B, A), "mgnt"),
         ("10.0.0.1 is outside the model and assumed to answer: 02:00:00:00:00:09; "
             "the ARP request leaves with eth1's MAC 02:00:00:00:00:02 and the address 10.0.0.2 of "
             "mgnt")),
        (tracking.ConntrackInvalid(tracking.OutOfState("ack", "SYN_SENT", False)),
         "an ACK in state SYN_SENT: conntrack has seen the SYN, but no SYN-ACK"),
        (tracking.ConntrackInvalid(tracking.OutOfState("rst", "NONE", True)), (
            "a rst in the reply direction in state "
            "NONE"
        )),
    ],
)  # fmt: skip
def test_reasons_are_said_in_words(reason: Any, words: str) -> None:  # noqa: ANN401  # of any family
    """Each reason says what decided, and where."""
    assert words == spell_reason(reason)


def list_classes(kind: Any) -> list[type]:  # noqa: ANN401  # a union is no type
    """Return the classes of a union of unions."""
    parts = get_args(kind)
    return [one for part in parts for one in list_classes(part)] if parts else [kind]


def speak_nonsense(patch: pytest.MonkeyPatch) -> None:
    """Have every reason said in a language that nobody speaks."""
    for family in FAMILIES:
        patch.setattr(reasons, family, lambda reason: f"blim {len(type(reason).__name__)} florp")
    patch.setattr(near, "spell_near", lambda _: "quux")


@pytest.mark.parametrize("kind", list_classes(Reason), ids=lambda kind: kind.__name__)
def test_no_reason_escapes_the_nonsense(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401  # a class of any fields
    """Each of all classes of reasons is said by a family that the nonsense replaces, whatever
    tickets lead to it.
    """
    speak_nonsense(monkeypatch)
    reason = tuple.__new__(kind, (None,) * len(kind._fields))

    assert f"blim {len(kind.__name__)} florp" == spell_reason(reason)


def test_every_boundary_says_where_it_was_met() -> None:
    """The names that a boundary is told with stand in its sentence."""
    for name in BOUNDARIES:
        said = boundary_words.spell_boundary(boundaries.BoundaryMet(name, ("eth7", "br7")))
        assert BOUNDARIES[name].why in said
        assert "eth7" in said


def test_a_failure_says_which_packet_failed() -> None:
    """Each failure begins with the packet's name; without one nothing is said."""
    assert "" == spell_failure(None)
    assert "SYN dropped in host at forward: its TTL of 1 expires here" == spell_failure(
        failures.PacketDropped("SYN", "host", StageName.FORWARD, routes.TtlExceeded(1))
    )
    assert (
        "data misdelivered: it reached a process in pod, but the connection is with a host "
        "behind eth0"
    ) == spell_failure(
        failures.Misdelivered(
            "data", failures.EndPlace("pod", None), failures.EndPlace("host", "eth0"), False
        )
    )
    assert all("name" in kind._fields or kind is failures.FrameEnded for kind in get_args(Failure))


def diagnose(folder: Path) -> dict[str, Any]:
    """Diagnose a ticket, and give all of the answer that is no sentence."""
    answer = json.loads(podpath.diagnose([str(folder / "console.txt")]).json())
    found = [
        {key: value for key, value in finding.items() if key not in PROSE}
        for finding in answer["findings"]
    ]
    asked = [unknown["ask"] for unknown in answer["unknowns"]]
    return {"verdict": answer["verdict"], "findings": found, "asked": asked}


@pytest.mark.parametrize("name", sorted(path.name for path in TICKETS.iterdir()))
def test_no_finding_depends_on_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every reason said in a nonsense language the same is found, by the same lines, with the
    same cure.
    """
    sensible = diagnose(TICKETS / name)
    speak_nonsense(monkeypatch)

    assert "blim 11 florp" == reasons.spell_reason(routes.TtlExceeded(1))
    assert sensible == diagnose(TICKETS / name)
