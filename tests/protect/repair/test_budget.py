"""Tests of `protect.repair.budget`: never more than its tokens, for the node and each owner (row
R7, gap G3).
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.repair.budget import HOUR, MOST_SHARES, RepairBudget
from podpath_protect.repair.policy import Policy

POLICY = Policy(
    node_burst=3,
    node_per_hour=12,
    owner_burst=1,
    owner_per_hour=4,
    owner_pause=60,
    longest_pause=3600,
)


@pytest.mark.parity("R7")
def test_r7_a_node_spends_no_more_than_its_burst() -> None:
    """Ten owners want an action at once: three get it, the others are told how long to wait."""
    budget = RepairBudget(POLICY, 0.0)

    waits = [budget.take(f"owner-{number}", 0.0) for number in range(10)]

    assert [0.0] * 3 == waits[:3]
    assert all(wait == HOUR / 12 for wait in waits[3:])


@pytest.mark.parity("R7")
def test_r7_an_owner_spends_no_more_than_its_burst() -> None:
    """The second pod of one owner waits for the owner's bucket, and takes nothing from the
    node's.
    """
    budget = RepairBudget(POLICY, 0.0)
    budget.take("web", 0.0)

    assert HOUR / 4 == budget.take("web", 0.0)
    assert 2.0 == budget.tokens(0.0)


def test_what_did_not_happen_costs_nothing() -> None:
    """Tokens that are given back can be taken again, and never make more than the burst."""
    budget = RepairBudget(POLICY, 0.0)
    budget.take("web", 0.0)
    budget.give_back("web", 0.0)
    budget.give_back("web", 0.0)

    assert (3.0, 0.0) == (budget.tokens(0.0), budget.take("web", 0.0))
    assert budget.take("web", 0.0) > 0


def test_a_token_is_there_when_it_is_whole() -> None:
    """Half a second before it is not: nothing is taken, and the half second is what there is to
    wait.
    """
    budget = RepairBudget(replace(POLICY, mend_burst=1, mend_per_hour=12, share=1.0), 0.0)
    for number in range(3):
        budget.take(f"owner-{number}", 0.0)
    budget.take_mend("web", 0.0)

    assert [0.5, 0.0] == pytest.approx([budget.take("web", 299.5), budget.take("web", 300.0)])
    assert [0.5, 0.0] == pytest.approx(
        [budget.take_mend("web", 299.5), budget.take_mend("web", 300.0)]
    )
    assert 0.0 == pytest.approx(budget.tokens(300.0))


def test_what_is_given_back_is_one_token() -> None:
    """Of two that were taken one is there again; an owner of whom nothing is known has done nothing
    in vain.
    """
    budget = RepairBudget(POLICY, 0.0)
    budget.take("web", 0.0)
    budget.take("shop", 0.0)
    budget.give_back("web", 0.0)

    assert (2.0, 0) == (budget.tokens(0.0), budget.in_vain("never-heard-of"))


def test_g3_successors_that_are_born_broken_slow_down_what_is_done() -> None:
    """Each action in vain doubles the owner's pause, up to the longest."""
    budget = RepairBudget(POLICY, 0.0)

    pauses = [budget.sent_away("web", 0.0) for _ in range(9)]

    assert [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600] == pauses
    assert 9 == budget.in_vain("web")
    assert 3600 == budget.take("web", 0.0)


def test_a_healthy_successor_ends_the_pauses() -> None:
    """Once a pod of the owner came well, the next action is not held against the last ones."""
    budget = RepairBudget(POLICY, 0.0)
    budget.sent_away("web", 0.0)
    budget.came_well("web")

    assert (0, 0.0) == (budget.in_vain("web"), budget.take("web", 0.0))


def test_a_killed_controller_finds_its_budget_as_it_left_it() -> None:
    """What was saved is taken over: a controller killed after each action spends no more."""
    spent = 0
    saved: object = None
    for _ in range(20):
        budget = RepairBudget(POLICY, 0.0)
        if saved is not None:
            assert budget.load(saved, 0.0)
        if budget.take(f"owner-{spent}", 0.0) == 0:
            spent += 1
        saved = budget.save()

    assert 3 == spent


def test_what_was_saved_by_somebody_else_is_not_taken() -> None:
    """A state that cannot be read leaves the budget as it is, and one that claims too much is cut
    to the burst.
    """
    budget = RepairBudget(POLICY, 0.0)

    assert [False] * 3 == [
        budget.load(saved, 0.0) for saved in (None, {"node": "x"}, {"node": [1, 2]})
    ]
    assert budget.load(
        {"node": [99, 1e9], "mends": [0, 0], "owners": {"web": [9, 0, 3, 1e12, 0]}}, 5.0
    )
    assert 3.0 == budget.tokens(5.0)
    assert 3600 == budget.take("web", 5.0)


def test_owners_that_are_long_gone_are_forgotten() -> None:
    """A thousand owners that came and went leave nothing behind."""
    budget = RepairBudget(POLICY, 0.0)
    for number in range(1000):
        budget.take(f"owner-{number}", number * HOUR)

    owners = budget.save()["owners"]
    assert isinstance(owners, dict)
    assert len(owners) < 10


def test_an_owner_is_not_forgotten_because_another_came() -> None:
    """What an owner spent stays spent, and its pause stays a pause, until it was quiet for
    hours.
    """
    budget = RepairBudget(POLICY, 0.0)
    budget.take("web", 0.0)
    budget.sent_away("shop", 0.0)
    budget.take("other", 1.0)
    budget.take("another", 61.0)

    assert budget.take("web", 62.0) > 0
    assert 1 == budget.in_vain("shop")
    budget.take("late", 7 * HOUR)
    assert 0 == budget.in_vain("shop")


def test_mending_has_its_own_budget() -> None:
    """Mending in place takes from a wider bucket, and leaves the one for sending away alone."""
    budget = RepairBudget(replace(POLICY, share=1.0), 0.0)

    assert POLICY.mend_burst == sum(budget.take_mend("web", 0.0) == 0 for _ in range(100))
    assert 3.0 == budget.tokens(0.0)
    budget.give_back_mend("web", 0.0)
    assert 0.0 == budget.take_mend("web", 0.0)


def test_one_tenant_cannot_spend_the_nodes_budget() -> None:
    """A namespace whose pods break all the time, under whatever owners, has half of what the node
    has, one owner of it half of that in mendings; the next tenant finds the rest, also after a
    restart.
    """
    first = RepairBudget(POLICY, 0.0)
    hostile = [f"hostile/Deployment/{number}" for number in range(100)]
    sent = sum(first.take(owner, 0.0) == 0 for owner in hostile)
    one = sum(first.take_mend(hostile[0], 0.0) == 0 for _ in range(100))
    mended = one + sum(first.take_mend(owner, 0.0) == 0 for owner in hostile)
    budget = RepairBudget(POLICY, 0.0)
    assert budget.load(first.save(), 0.0)

    assert (2, 5, 10) == (sent, one, mended)
    assert all(budget.take(owner, 0.0) > 0 for owner in hostile)
    assert all(budget.take_mend(owner, 0.0) > 0 for owner in hostile)
    assert (0.0, 0.0) == (budget.take("shop/Deployment/a", 0.0), budget.take_mend("shop/x", 0.0))
    budget.give_back(hostile[0], 0.0)
    budget.give_back_mend(hostile[0], 0.0)
    assert (0.0, 0.0) == (budget.take("hostile/b", 0.0), budget.take_mend(hostile[0], 0.0))


def test_shares_of_those_who_spend_nothing_are_forgotten() -> None:
    """However many namespaces come and go, no more are remembered than have spent something."""
    budget = RepairBudget(replace(POLICY, mend_burst=10_000, mend_per_hour=1e9), 0.0)
    for number in range(MOST_SHARES):
        budget.take_mend(f"space-{number}/x", number)

    assert len(budget._shares) <= MOST_SHARES


@given(times=st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 4)), max_size=60))
def test_no_order_of_times_buys_more(times: list[tuple[float, int]]) -> None:
    """However the clock jumps, no more is spent than burst and rate allow for the time between its
    furthest ends.
    """
    budget = RepairBudget(POLICY, 0.0)
    spent = sum(budget.take(f"owner-{owner}", now) == 0 for now, owner in times)

    furthest = max([0.0, *(now for now, _ in times)])
    assert spent <= POLICY.node_burst + furthest * POLICY.node_per_hour / HOUR + 1
