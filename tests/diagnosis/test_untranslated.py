"""Translations that the evidence may leave out."""

from __future__ import annotations

import pytest

from podpath.datapath.reasons import Reason
from podpath.datapath.reasons.routes import ForwardingOff, NoRoute
from podpath.datapath.reasons.translation import NotTranslated
from podpath.datapath.tracing.trace import Assumption, Branch, Dropped, Step, Trace
from podpath.datapath.vocabulary import (
    ConversationFailure,
    Direction,
    Hook,
    HookStage,
    StepDecision,
)
from podpath.diagnosis.untranslated import list_translations_left_out
from podpath.testing.nodes import ip
from tests.datapath.walks import packet

SEEN = packet("10.0.0.1", "10.0.0.2")
LEFT_OUT = Assumption(
    "rules of PREROUTING", value=None, meaning="none", ask="iptables-save", rank=0
)


def step(reason: Reason, *assumed: Assumption) -> Step:
    """Make a step at PREROUTING."""
    stage = HookStage(Hook.PREROUTING, "nat")
    return Step(stage, "host", "f", SEEN, SEEN, StepDecision.PASS, reason, assumed=assumed)


def branch(
    *steps: Step,
    works: bool | None = False,
    kind: ConversationFailure = ConversationFailure.DROPPED,
) -> Branch:
    """Make a branch of one packet."""
    outcome = Dropped(netns="host", reason="")
    trace = Trace(
        name="SYN", direction=Direction.ORIGINAL, start="pod", packet=SEEN, steps=steps,
        outcome=outcome, matched=(),
    )  # fmt: skip
    return Branch(assumptions=(), traces=(trace,), works=works, kind=kind)


PASSED = step(NotTranslated(), LEFT_OUT)
OFF = step(ForwardingOff("host", "lxc1"))
NOWHERE = step(NoRoute(ip("10.0.0.2")))


def test_a_connection_that_works_or_is_open_wants_no_translation() -> None:
    """Nothing that is left out counts against it."""
    for works in (True, None):
        assert () == list_translations_left_out(branch(PASSED, NOWHERE, works=works))
    assert () == list_translations_left_out(Branch(assumptions=(), traces=(), works=True))


def test_what_has_no_way_or_no_neighbour_may_want_one() -> None:
    """Each rule that is left out is told once; a host that does not forward wants none."""
    assert (LEFT_OUT,) == list_translations_left_out(branch(PASSED, PASSED, NOWHERE))
    assert () == list_translations_left_out(branch(PASSED, OFF))
    assert () == list_translations_left_out(branch(step(NotTranslated()), NOWHERE))


@pytest.mark.parametrize(
    "kind",
    [
        ConversationFailure.REFUSED,
        ConversationFailure.UNTRANSLATED,
        ConversationFailure.STRAY,
        ConversationFailure.MISDELIVERED,
        ConversationFailure.LEFT_UNTRANSLATED,
        ConversationFailure.LEFT_NODE,
    ],
)
def test_a_packet_that_came_to_the_wrong_one_may_want_one(kind: ConversationFailure) -> None:
    """Whatever step decided last."""
    assert (LEFT_OUT,) == list_translations_left_out(branch(PASSED, OFF, kind=kind))
