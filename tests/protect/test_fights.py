"""A fight is noticed, slowed down, and forgotten when it is over."""

from __future__ import annotations

import pytest

from podpath_protect.fights import Fights


def test_a_few_changes_are_no_fight() -> None:
    """Four times in a minute is mended at once each time."""
    fights = Fights()
    for now in (0.0, 1.0, 2.0, 3.0):
        assert fights.may_mend("k", now)
        fights.record("k", now)

    assert fights.list_fights(3.0) == ()
    assert fights.next_mend(3.0) is None


@pytest.mark.parity("G6")
def test_a_rival_at_every_step_is_met_ever_more_slowly() -> None:
    """Against a thousand changes in a minute, mending slows to a few, and it is told who is fought
    over what.
    """
    fights = Fights()
    mended = []
    for step in range(1000):
        now = step * 0.06
        if fights.may_mend("k", now):
            fights.record("k", now)
            mended.append(now)

    (fight,) = fights.list_fights(60.0)
    assert fight.subject == "k"
    assert len(mended) <= 11
    assert fights.next_mend(60.0) is not None


def test_the_pause_has_an_end() -> None:
    """However long the fight, it is mended once a minute."""
    fights = Fights()
    now = 0.0
    for _ in range(30):
        fights.record("k", now)
        now += fights.next_mend(now) or 0.0

    assert fights.list_fights(now)[0].held_until <= now + 60


def test_a_fight_that_is_over_is_forgotten() -> None:
    """After a quiet time the next change is mended at once, and nothing is kept of things that are
    gone.
    """
    fights = Fights()
    for now in range(5):
        fights.record("k", now)
    assert not fights.may_mend("k", 4.5)

    assert fights.list_fights(100.0) == ()
    assert fights.may_mend("k", 100.0)
    assert not fights._histories


def test_one_fight_holds_back_nothing_else() -> None:
    """Other things are mended as ever."""
    fights = Fights()
    for now in range(6):
        fights.record("k", now)

    assert fights.may_mend("other", 6.0)
