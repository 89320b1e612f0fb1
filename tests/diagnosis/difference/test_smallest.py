"""Which differences are tried first, and how a set that cures together is cut down."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.smallest import (
    PAIRED,
    SINGLES,
    Taken,
    find_smallest,
    order_by_nearness,
)
from podpath.node.change import SetSysctl
from podpath.node.node import HOST
from tests.checks.nodes import span


def made(name: str, kind: str = "sysctl", *, can_be_taken: bool = True) -> Difference:
    """Make a difference that is told by its name."""
    changes = (SetSysctl(netns=HOST, key=name, value=""),) if can_be_taken else ()
    return Difference(kind=kind, netns=HOST, words=name, changes=changes, here=(span(name),))


def many(count: int, kind: str = "sysctl") -> list[Difference]:
    """Make differences that are told by their number."""
    return [made(str(number), kind) for number in range(count)]


def curing(*names: str, but_not: Sequence[str] = ()) -> Callable[[Taken], bool]:
    """Return a test that needs all of these, and none of the others."""

    def cures(taken: Taken) -> bool:
        words = {each.words for each in taken}
        return words.issuperset(names) and words.isdisjoint(but_not)

    return cures


def found(differences: Sequence[Difference], cures: Callable[[Taken], bool]) -> list[list[str]]:
    """Return the sets that cure, in words."""
    return [[each.words for each in taken] for taken in find_smallest(differences, cures)]


def test_every_difference_that_cures_alone_is_named() -> None:
    """In the order in which they were given."""
    assert [["1"], ["3"]] == found(many(5), lambda taken: taken[0].words in "13")


def test_what_no_change_takes_over_is_never_tried() -> None:
    """Not alone and not together."""
    tried: list[str] = []
    differences = [made("told", can_be_taken=False), *many(2)]

    def cures(taken: Taken) -> bool:
        tried.extend(each.words for each in taken)
        return False

    assert [] == found(differences, cures)
    assert "told" not in tried


def test_only_so_many_are_tried_alone() -> None:
    """What comes later is found in the set of all."""
    differences = many(SINGLES + 2)
    alone: list[str] = []

    def cures(taken: Taken) -> bool:
        alone.extend(each.words for each in taken if len(taken) == 1)
        return str(SINGLES) in {each.words for each in taken}

    assert [[str(SINGLES)]] == found(differences, cures)
    assert str(SINGLES - 1) in alone


@pytest.mark.parametrize("who", ["address", "route", "policy rule", "neighbour", "link"])
def test_a_set_is_found_without_what_says_which_node_it_is(who: str) -> None:
    """Where another machine's addresses spoil the cure."""
    differences = [*many(4), made("other", who)]

    assert [["0", "2"]] == found(differences, curing("0", "2", but_not=["other"]))


def test_a_set_is_found_within_one_kind() -> None:
    """Where differences of every other kind spoil it."""
    differences = [*many(4), *(made(name, "rule") for name in ("a", "b", "c", "d"))]
    numbers, letters = ["0", "1", "2", "3"], ["a", "b", "c", "d"]

    assert [["a", "c", "d"]] == found(differences, curing("a", "c", "d", but_not=numbers))
    assert [["0", "2", "3"]] == found(differences, curing("0", "2", "3", but_not=letters))


def test_pairs_are_tried_among_the_first() -> None:
    """Those that stand further back are too many."""
    others = [str(number) for number in range(1, PAIRED + 2)]

    def with_first(last: int) -> Callable[[Taken], bool]:
        spoiling = [name for name in others if name != str(last)]
        return curing("0", str(last), but_not=spoiling)

    differences = many(PAIRED + 2)
    assert [["0", str(PAIRED - 1)]] == found(differences, with_first(PAIRED - 1))
    assert [] == found(differences, with_first(PAIRED))


def test_what_is_quoted_or_named_comes_first_and_who_it_is_last() -> None:
    """Within each group the order stays."""
    plain, who, quoted, named = (
        made("plain"),
        made("who", "address"),
        made("quoted", "rule"),
        made("net.ipv4.ip_forward"),
    )
    ordered = order_by_nearness(
        [plain, who, quoted, named], quoted.here, ["net.ipv4.ip_forward", "other"]
    )

    assert ["quoted", "net.ipv4.ip_forward", "plain", "who"] == [each.words for each in ordered]
