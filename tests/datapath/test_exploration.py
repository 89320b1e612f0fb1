"""Branches of a walk: each combination of answers once, the likeliest first, never without an end."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from podpath.datapath.exploration import Choices, explore, unknown
from podpath.net.provenance import Known, Option

WIDTHS = st.lists(st.integers(1, 4), max_size=4)


def forks(widths: list[int], *, random: bool = False) -> list[tuple[str, tuple[Option[int], ...], bool]]:
    """Make forks with these numbers of options."""
    return [
        (f"fact {n}", tuple(Option(value, f"is {value}") for value in range(width)), random) for n, width in enumerate(widths)
    ]


@given(WIDTHS)
def test_every_combination_is_run_once(widths: list[int]) -> None:
    """With no bound the results are the product of all options."""

    def run(choices: Choices) -> tuple[int, ...]:
        return tuple(choices.choose(name, options) for name, options, _ in forks(widths))

    found = explore(run, limit=300, deviations=len(widths))

    assert sorted(product(*(range(width) for width in widths))) == sorted(found.results)
    assert not found.truncated


@given(WIDTHS, st.integers(0, 3))
def test_fewest_deviations_come_first(widths: list[int], bound: int) -> None:
    """Results are ordered by how many answers are not the likeliest, and none has more than the bound."""

    def run(choices: Choices) -> int:
        return sum(choices.choose(name, options) != 0 for name, options, _ in forks(widths))

    found = explore(run, limit=300, deviations=bound).results

    assert sorted(found) == list(found)
    assert max(found) <= bound


@given(WIDTHS)
def test_the_kernels_own_choices_are_no_deviations(widths: list[int]) -> None:
    """All options of a random choice are tried even where no fact may deviate."""

    def run(choices: Choices) -> tuple[int, ...]:
        return tuple(choices.choose(name, options, random=random) for name, options, random in forks(widths, random=True))

    assert len(explore(run, limit=300, deviations=0).results) == len(list(product(*(range(width) for width in widths))))


def test_the_limit_is_said() -> None:
    """A truncated exploration says that more branches exist."""
    found = explore(lambda choices: [choices.choose(name, options) for name, options, _ in forks([3, 3])], limit=2)

    assert (2, True) == (len(found.results), found.truncated)


def test_a_fact_forks_once_in_a_run() -> None:
    """Asking twice by one name gives one answer and one assumption."""
    choices = Choices((1,))
    options = (Option("off", "not loaded"), Option("on", "loaded"))

    assert ("on", "on") == (choices.choose("switch", options, ask="lsmod"), choices.choose("switch", options, ask="lsmod"))
    assert [("switch", "loaded", "lsmod", 1)] == [(made.fact, made.meaning, made.ask, made.rank) for made in choices.made]
    assert choices.asked == 2


def test_a_known_fact_does_not_fork() -> None:
    """What the evidence says is taken as it is."""
    choices = Choices()

    assert choices.resolve(Known("1")) == "1"
    assert choices.made == []


def test_an_unknown_fact_forks_over_its_options() -> None:
    """Each option is one result; the likeliest is the first."""
    fact = unknown("rp_filter", "sysctl rp_filter", ("0", "off"), ("1", "strict"))

    assert explore(lambda choices: choices.resolve(fact)).results == ("0", "1")


def test_a_settled_fact_does_not_fork() -> None:
    """A hypothesis under test holds in every run, and is no assumption."""
    fact = unknown("rp_filter", "sysctl rp_filter", ("0", "off"), ("1", "strict"))
    found = explore(lambda choices: (choices.resolve(fact), len(choices.made)), settled={"rp_filter": "1"})

    assert found.results == (("1", 0),)


def test_looking_at_what_might_have_been_leaves_no_assumption() -> None:
    """`likeliest` keeps the run's answers and takes the likeliest for all else."""
    choices = Choices((1,))
    options = (Option(0, "no"), Option(1, "yes"))
    choices.choose("asked", options)
    beside = choices.likeliest()

    assert (1, 0) == (beside.choose("asked", options), beside.choose("not asked", options))
    assert [made.fact for made in choices.made] == ["asked"]
    assert choices.knows("asked")
    assert not choices.knows("not asked")
