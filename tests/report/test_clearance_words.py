"""What forbids the all-clear, in words: every kind has a name, and names are counted."""

from __future__ import annotations

from podpath.diagnosis.forbids import BranchesTruncated, NothingWalked, NotShown
from podpath.net.probe import Probe
from podpath.report.clearance_words import forbids_object, name_forbids, say_forbids

PROBE = Probe.parse("tcp 10.0.0.1:5000 > 10.0.0.2:80")


def test_kinds_are_counted_and_named_once() -> None:
    """Five listings are one clause of the headline."""
    two = (
        NotShown(what="the routes", netns="host", ask="ip route"),
        NotShown(what="the devices", netns="host", ask="ip link"),
    )
    said = name_forbids((NothingWalked(), *two))
    assert "no connection was walked, 2 listings are incomplete" == said


def test_the_question_names_a_connection_that_the_evidence_suggests() -> None:
    """Whoever reads it can copy the ends."""
    assert say_forbids(NothingWalked(suggested=(PROBE,))).endswith(f"{PROBE}?")


def test_json_has_the_kind_and_the_sentence() -> None:
    """A script asks for the kind, a person reads the sentence."""
    one = BranchesTruncated(probe=PROBE, walked=64)
    assert {
        "kind": "BranchesTruncated",
        "says": say_forbids(one),
        "evidence": [],
    } == forbids_object(one)
