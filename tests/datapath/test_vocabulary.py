"""Tests of the closed sets of the datapath."""

from __future__ import annotations

import json
import pickle

from podpath.datapath.vocabulary import (
    BoundaryName,
    CtInfo,
    Hook,
    HookStage,
    StageName,
    StepDecision,
)
from podpath.datapath.walk.not_modelled import BOUNDARIES


def test_a_stage_at_a_hook_is_spelled_as_reports_print_it() -> None:
    """It equals its spelling, and knows its hook and what runs there."""
    stage = HookStage(Hook.FORWARD, "filter")

    assert ("FORWARD filter", Hook.FORWARD, "filter") == (stage, stage.hook, stage.runs)


def test_a_stage_survives_the_way_to_another_process() -> None:
    """A copy equals its original and knows its hook."""
    stage = HookStage(Hook.FORWARD, "filter")
    copy = pickle.loads(pickle.dumps(stage))  # noqa: S301  # made here

    assert ("FORWARD filter", Hook.FORWARD, "filter") == (copy, copy.hook, copy.runs)


def test_json_carries_the_spelling() -> None:
    """Members of the sets are plain strings in a document."""
    values = [
        StageName.RP_FILTER,
        HookStage(Hook.OUTPUT, "nat"),
        StepDecision.HAND_ON,
        CtInfo.NOT_SEEN,
    ]

    assert '["rp_filter", "OUTPUT nat", "hand on", ""]' == json.dumps(values)
    assert f"{StageName.RP_FILTER}: {StepDecision.DROP}" == "rp_filter: drop"


def test_every_boundary_is_explained() -> None:
    """What is not modelled says why, and each explanation stands under its own name."""
    assert set(BoundaryName) == set(BOUNDARIES)
    assert all(name is boundary.name for name, boundary in BOUNDARIES.items())
