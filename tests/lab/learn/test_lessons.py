"""The lessons as data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from podpath_lab.learn.lessons import LESSONS


def test_there_are_nine_and_each_is_another_incident() -> None:
    """More than the six that a newcomer needs, none of them twice."""
    assert len(LESSONS) == 9
    assert len({lesson.name for lesson in LESSONS.values()}) == len(LESSONS)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_does_not_give_itself_away(name: str) -> None:
    """What is told before the first hint names neither the incident nor the fault, and there are
    hints enough.
    """
    lesson = LESSONS[name]
    told = " ".join((name, lesson.story, *lesson.first)).casefold()
    assert not [word for word in (lesson.name, *lesson.incident.checks) if word in told]
    assert len(lesson.hints) == len(set(lesson.hints)) == 4
    assert lesson.first


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_names_places_that_it_has(name: str) -> None:
    """Namespaces in its drawing and its commands are those of its node."""
    lesson = LESSONS[name]
    node = lesson.incident.build().freeze()
    drawn = {one for one in ("pod1", "pod2", "pod3", "world", "node2") if one in lesson.drawing}
    assert drawn == set(node.namespaces) - {"host"}
    words = " ".join((*lesson.first, *lesson.hints)).split()
    entered = {after for before, after in pairwise(words) if before == "exec"}
    assert entered <= set(node.namespaces)
