"""What forbids the all-clear, in words: every kind has a name, and names are counted."""

from __future__ import annotations

import json
from importlib import resources
from typing import get_args

import pytest

from podpath.diagnosis.capture_answer import CaptureForbids
from podpath.diagnosis.forbids import BranchesTruncated, Forbids, NothingWalked, NotShown
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
        "whose": [],
    } == forbids_object(one)


@pytest.mark.parametrize(
    ("document", "reasons"),
    [
        *((name, Forbids) for name in ("check", "diagnosis", "diff", "trace")),
        ("capture", CaptureForbids),
    ],
)
def test_a_schema_lists_every_kind(document: str, reasons: object) -> None:
    """A kind that code knows and the published schema does not would make an answer invalid."""
    file = resources.files("podpath.report") / f"schema/{document}-v1.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    listed = schema["$defs"]["forbids"]["properties"]["kind"]["enum"]
    assert sorted(one.__name__ for one in get_args(reasons)) == sorted(listed)
