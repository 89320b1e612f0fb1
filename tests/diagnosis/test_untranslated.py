"""Tests of translations that the evidence may leave out."""

from __future__ import annotations

import pytest

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.neighbours import NobodyAnswers
from podpath.datapath.reasons.routes import NoRoute
from podpath.datapath.reasons.rules import ChainTaken
from podpath.datapath.reasons.translation import NotTranslated
from podpath.datapath.tracing.trace import Assumption, Branch, Dropped, Step, Trace
from podpath.datapath.vocabulary import ConversationFailure, Direction, StageName, StepDecision
from podpath.diagnosis.untranslated import list_translations_left_out
from podpath.net.addresses import Address
from podpath.net.packet import Packet

SERVER = Address.parse("10.7.1.5")
PACKET = Packet(Address.parse("10.7.0.5"), SERVER, 6, 1024, 80)
LEFT_OUT = Assumption(
    "rules of POSTROUTING", False, "none of them matches", "iptables-save", 0
)  # its value
SILENT, TAKEN = NobodyAnswers(SERVER, "eth0"), ChainTaken("FORWARD", StepDecision.DROP)


def step(reason: Reason, *assumed: Assumption) -> Step:
    """Make a step that went so."""
    return Step(
        StageName.ROUTE_INPUT,
        "host",
        "f",
        PACKET,
        PACKET,
        StepDecision.DROP,
        reason,
        assumed=assumed,
    )


def branch(
    *steps: Step, kind: ConversationFailure = ConversationFailure.NONE, works: bool = False
) -> Branch:
    """Make a branch of one packet."""
    trace = Trace(
        name="SYN",
        direction=Direction.ORIGINAL,
        start="host",
        packet=PACKET,
        steps=steps,
        outcome=Dropped(netns="host", reason="x"),
    )
    return Branch(assumptions=(), traces=(trace,), works=works, kind=kind)


def test_a_connection_that_works_wants_no_translation() -> None:
    """Nothing that is left out counts against it."""
    assert list_translations_left_out(branch(step(NotTranslated(), LEFT_OUT), works=True)) == ()


@pytest.mark.parametrize("kind", ConversationFailure)
def test_ways_to_fail_that_a_translation_may_prevent(kind: ConversationFailure) -> None:
    """Who is refused, misdelivered or left untranslated may have been meant for another address."""
    failed = branch(step(NotTranslated(), LEFT_OUT), step(TAKEN), kind=kind)
    wants = kind in {
        ConversationFailure.REFUSED,
        ConversationFailure.UNTRANSLATED,
        ConversationFailure.STRAY,
        ConversationFailure.MISDELIVERED,
        ConversationFailure.LEFT_UNTRANSLATED,
        ConversationFailure.LEFT_NODE,
    }
    assert list_translations_left_out(failed) == ((LEFT_OUT,) if wants else ())


@pytest.mark.parametrize("reason", [NoRoute(SERVER), SILENT])
def test_an_address_that_nobody_has_may_be_one_that_is_translated(reason: Reason) -> None:
    """Each assumption is told once, and none where no stage of NAT was passed untranslated."""
    passed = step(NotTranslated(), LEFT_OUT)
    assert list_translations_left_out(branch(passed, passed, step(reason))) == (LEFT_OUT,)
    assert list_translations_left_out(branch(step(TAKEN, LEFT_OUT), step(reason))) == ()
    assert list_translations_left_out(branch(passed, step(TAKEN))) == ()
