"""Tests of `protect.repair.memory`: what was tried bounds what is tried next (rows I6, I7, gap
G2).
"""

from __future__ import annotations

import pytest

from podpath_protect.repair.actions import RepairOutcome
from podpath_protect.repair.judgement import PodJudgement
from podpath_protect.repair.memory import BrokenPod
from podpath_protect.repair.policy import Policy

POLICY = Policy(
    actions=("mend", "evict", "delete"), mend_attempts=2, attempts=5, pause=5.0, mend_patience=330.0
)


def memory(seen: str = "1:") -> BrokenPod:
    """Remember a pod that was just found."""
    return BrokenPod(key="shop/web-1", judgement=PodJudgement(state="broken", why="95", seen=seen))


@pytest.mark.parity("I7")
def test_i7_each_action_is_tried_so_often_and_then_the_next_is() -> None:
    """Two tries to mend, five to evict, five to delete, and then nothing more."""
    one, tried = memory(), []
    while (action := one.next_action(POLICY)) is not None:
        tried.append(action)
        one.note(action, RepairOutcome("fail", "no"), POLICY, 0.0)

    assert ["mend"] * 2 + ["evict"] * 5 + ["delete"] * 5 == tried


def test_pauses_double_with_each_failure() -> None:
    """5, 10, 20 seconds."""
    one = memory()
    waits = []
    for _ in range(3):
        one.note("evict", RepairOutcome("fail", "no"), POLICY, 100.0)
        waits.append(one.not_before - 100.0)

    assert [5, 10, 20] == waits


def test_a_disruption_budgets_no_does_not_count() -> None:
    """However often it refuses, eviction stays next, and the server's own wait is kept."""
    one = memory()
    one.hopeless.add("mend")
    for _ in range(50):
        one.note("evict", RepairOutcome("refused", "not now", retry_after=30.0), POLICY, 100.0)

    assert ("evict", 130.0) == (one.next_action(POLICY), one.not_before)


@pytest.mark.parity("G2")
def test_g2_a_mended_pod_that_fails_again_is_mended_once_more_and_then_sent_away() -> None:
    """A new failure after the mending counts against it; the same failure still shown says
    nothing.
    """
    one = memory()
    one.note("mend", RepairOutcome("success", "proven"), POLICY, 0.0)
    waiting = one.mending_failed(POLICY, 10.0)
    one.judgement = PodJudgement(state="broken", why="95", seen="2:")
    failed = one.mending_failed(POLICY, 20.0)
    again = one.next_action(POLICY)
    one.note("mend", RepairOutcome("success", "proven"), POLICY, 20.0)
    one.judgement = PodJudgement(state="broken", why="95", seen="3:")
    one.mending_failed(POLICY, 30.0)

    assert (False, True, "mend", "evict") == (waiting, failed, again, one.next_action(POLICY))


def test_a_mended_pod_that_never_says_anything_is_not_waited_for_forever() -> None:
    """After the kubelet's longest pause the mending counts as failed."""
    one = memory()
    one.note("mend", RepairOutcome("success", "proven"), POLICY, 0.0)

    assert (False, True) == (one.mending_failed(POLICY, 329.0), one.mending_failed(POLICY, 330.0))


def test_a_pod_that_was_not_mended_is_not_waited_for() -> None:
    """Without a mending there is nothing that could have failed."""
    assert memory().mending_failed(POLICY, 5.0) is None


def test_a_pod_that_was_sent_away_is_done_with() -> None:
    """After a deletion was accepted nothing more is done to the pod, also in a dry run."""
    done, rehearsed = memory(), memory()
    done.note("delete", RepairOutcome("success", ""), POLICY, 0.0)
    rehearsed.note("delete", RepairOutcome("would", ""), POLICY, 0.0)

    assert done.ended
    assert rehearsed.ended


@pytest.mark.parity("G2")
def test_a_mending_that_was_not_proven_is_final() -> None:
    """What was written and taken back is not tried again on that pod, and is no mending that is
    waited for: the next action is.
    """
    one = memory()
    one.note("mend", RepairOutcome("undone", "not proven"), POLICY, 0.0)

    assert ("evict", None, 0.0) == (
        one.next_action(POLICY),
        one.mending_failed(POLICY, 1.0),
        one.not_before,
    )
