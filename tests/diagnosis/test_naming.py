"""Tests of what a reason names."""

from __future__ import annotations

from podpath.datapath.reasons.bridges import HiddenFromNetfilter, SwitchFloods
from podpath.datapath.reasons.neighbours import ArpRequest, EntryUsed, ForeignSenderAsked
from podpath.datapath.reasons.routes import RoutedOut
from podpath.datapath.reasons.rules import PolicyDecided, RuleDecided
from podpath.datapath.tracing.trace import Step
from podpath.datapath.vocabulary import Hook, HookStage, StepDecision
from podpath.diagnosis.naming import names_of, words_of
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Rule
from podpath.testing.nodes import ip
from tests.datapath.walks import packet

MAC = Mac("02:00:00:00:00:01")


def test_a_step_names_its_stage_and_whatever_decided() -> None:
    """Names are found however deep they stand in the reason."""
    seen = packet("10.0.0.1", "10.0.0.2")
    hidden = HiddenFromNetfilter("br0", "net.bridge.bridge-nf-call-iptables", "")
    floods = SwitchFloods("br1", ("p0",), MAC)

    def named(reason: HiddenFromNetfilter | SwitchFloods) -> set[str]:
        stage = HookStage(Hook.FORWARD, "filter")
        return set(names_of(Step(stage, "host", "f", seen, seen, StepDecision.DROP, reason)))

    assert {"FORWARD", "filter", "br0", "net.bridge.bridge-nf-call-iptables"} <= named(hidden)
    assert {"br1", "p0"} <= named(floods)


def test_the_words_of_a_reason_are_those_of_its_line() -> None:
    """A policy is found by its chain, a rule by its chain and place, a request by its device and
    the owner's.
    """
    request = ForeignSenderAsked(
        EntryUsed(ip("10.0.0.9"), MAC, "STALE"),
        ArpRequest(IfName("eth1"), MAC, ip("10.0.0.1"), ip("10.0.0.9")),
        "mgnt",
    )

    assert ["FORWARD"] == list(words_of(PolicyDecided("filter", "FORWARD", False)))
    place = Rule(
        "filter",
        "FORWARD",
        12,
        Span(Source(name="rules", lines=("-A FORWARD -j DROP",)), 1, 1),
        None,
    )
    assert ["FORWARD", "12"] == list(words_of(RuleDecided(place, StepDecision.DROP)))
    assert {"STALE", "eth1", "mgnt"} <= set(words_of(request))


def test_only_names_and_numbers_are_words() -> None:
    """Nothing that is missing, and no switch."""
    out = RoutedOut(ip("10.0.0.2"), None, None)

    assert ["eth0"] == list(words_of(out._replace(link=IfName("eth0"))))
    assert [] == list(words_of(out))
