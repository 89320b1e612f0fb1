"""Tests of the exploration of forks."""

from __future__ import annotations

from podpath.datapath.tracing.exploration import Choices, explore, unknown
from podpath.net.provenance import Known, Option

COIN = (Option("heads", "heads"), Option("tails", "tails"))


def test_known_facts_do_not_fork() -> None:
    """A known fact gives its value and leaves no assumption."""
    choices = Choices()

    assert ("x", [], 0) == (choices.resolve(Known("x")), choices.made, choices.asked)


def test_an_unknown_fact_forks_once_by_its_name() -> None:
    """The likeliest value comes first, and the same name has the same answer throughout a run."""
    choices = Choices()
    fact = unknown("rp_filter", "sysctl rp_filter", ("0", "off"), ("1", "strict"))

    assert ["0", "0"] == [choices.resolve(fact) for _ in range(2)]
    assert [("rp_filter", "off", "sysctl rp_filter", 0)] == [
        (made.fact, made.meaning, made.ask, made.rank) for made in choices.made
    ]
    assert 2 == choices.asked


def test_settled_facts_do_not_fork() -> None:
    """A fact whose name is settled has that value in every branch."""
    found = explore(lambda choices: choices.choose("coin", COIN), settled={"coin": "edge"})

    assert (("edge",), False, False) == found


def test_branches_come_by_number_of_deviations() -> None:
    """The likeliest run is first, then those with one answer turned, then two."""
    found = explore(lambda choices: "".join(choices.choose(name, COIN)[0] for name in "abc"))

    assert ("hhh", {"thh", "hth", "hht"}, {"tth", "tht", "htt"}) == (
        found.results[0],
        set(found.results[1:4]),
        set(found.results[4:]),
    )


def test_the_kernels_own_choices_are_no_deviation() -> None:
    """What the kernel draws at random is explored in full."""
    found = explore(
        lambda choices: "".join(choices.choose(name, COIN, random=True)[0] for name in "abc"),
        deviations=0,
    )

    assert 8 == len(set(found.results))


def test_what_is_taken_for_granted_leaves_nothing_out() -> None:
    """It has no other answer, so that a search without deviations is whole."""

    def run(choices: Choices) -> str:
        choices.suppose("rules", None, "no rules", ask="iptables-save")
        return choices.choose("draw", COIN, random=True)

    assert (("heads", "tails"), False, False) == explore(run, deviations=0)


def test_the_limit_is_told() -> None:
    """Where branches are left out the answer says so."""
    found = explore(
        lambda choices: [choices.choose(str(number), COIN) for number in range(9)], limit=4
    )

    assert (4, True) == (len(found.results), found.truncated)


def test_later_forks_depend_on_earlier_answers() -> None:
    """A fork that only one answer leads to is met on that branch alone."""

    def run(choices: Choices) -> str:
        first = choices.choose("first", COIN)
        return first if first == "heads" else first + choices.choose("second", COIN)

    assert ("heads", "tailsheads", "tailstails") == explore(run).results


def test_what_might_have_been_leaves_no_trace() -> None:
    """A copy of the choices answers alike and records apart."""
    choices = Choices((1,))
    choices.choose("coin", COIN)
    other = choices.likeliest()

    assert ("tails", "heads") == (other.choose("coin", COIN), other.choose("dice", COIN))
    assert ["coin"] == [made.fact for made in choices.made]


def test_what_the_kernel_draws_behind_an_unknown_fact_is_explored() -> None:
    """Though no other answer to the fact is tried."""

    def run(choices: Choices) -> str:
        fact = choices.choose("fact", COIN)
        return fact + choices.choose("draw", COIN, random=True)

    assert (("headsheads", "headstails"), False, True) == explore(run, deviations=0)
