"""What is asked next: each question once, with the command that answers it and what that means."""

from __future__ import annotations

from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.datapath.reasons.routes import NoRoute
from podpath.datapath.tracing.trace import (
    Assumption,
    Branch,
    Conversation,
    Dropped,
    Outcome,
    Trace,
    Undecided,
)
from podpath.datapath.vocabulary import Direction, Reachability
from podpath.diagnosis.diagnosis import BreakingValue, Question
from podpath.diagnosis.fit import Fit
from podpath.diagnosis.forbids import Forbids, NothingWalked, NotShown
from podpath.diagnosis.questions import (
    MOST,
    ask_each_once,
    ask_for_clearance,
    ask_for_ends,
    ask_for_findings,
    ask_undecided,
    ask_what_would_break,
)
from podpath.diagnosis.symptoms import Symptom
from podpath.diagnosis.unread import NotModelled
from podpath.diagnosis.worlds import Judgement
from podpath.node.case import Unplaced
from podpath.testing.nodes import ip, probe, span
from tests.datapath.walks import packet

ASKED = probe("tcp 10.0.0.1 > 10.0.0.2:80")
UNSEEN = Undecided(netns="pod", reason=NoRoute(ip("10.0.0.9")), ask="ip netns exec pod ip addr")
BLIND = Undecided(netns="pod", reason=NoRoute(ip("10.0.0.9")), ask="")


def assumption(
    fact: str, rank: int = 0, *, ask: str = "sysctl x", random: bool = False
) -> Assumption:
    """Take something for granted."""
    return Assumption(
        fact, value=rank, meaning=f"{fact} is {rank}", ask=ask, rank=rank, random=random
    )


def branch(
    *assumed: Assumption, works: bool | None = True, outcome: Outcome | None = None
) -> Branch:
    """Make a branch, of one packet where an outcome is given."""
    seen = packet("10.0.0.1", "10.0.0.2")
    traces = (
        Trace(
            name="SYN", direction=Direction.ORIGINAL, start="pod", packet=seen, steps=(),
            outcome=outcome, matched=(),
        ),
    ) if outcome is not None else ()  # fmt: skip
    return Branch(assumptions=assumed, traces=traces, works=works)


def judged(*branches: Branch, fit: Fit = Fit.OPEN) -> Judgement:
    """Judge a conversation, whose first branch is the likeliest."""
    conversation = Conversation(
        probe=ASKED, branches=branches, verdict=Reachability.UNDECIDED, truncated=False
    )
    return Judgement(Symptom(probe=ASKED, fails=None), conversation, branches[0], fit)


def test_an_undecided_walk_asks_for_what_stopped_it() -> None:
    """Once for each command; where none would tell, for a look at the namespace."""
    walked = judged(branch(works=None, outcome=UNSEEN))
    (asked,) = ask_undecided([walked, walked])
    (blind,) = ask_undecided([judged(branch(works=None, outcome=BLIND))])

    assert (UNSEEN.reason, UNSEEN.ask) == (asked.fact, asked.ask)
    assert (f"then {ASKED} can be walked further",) == asked.decides
    assert "look at netns pod" == blind.ask


def test_only_the_likeliest_branch_is_asked_about() -> None:
    """An unlikely one that was not walked to its end changes nothing yet."""
    dropped = branch(works=False, outcome=Dropped(netns="host", reason=""))

    assert () == ask_undecided([judged(dropped, branch(works=None, outcome=UNSEEN))])
    assert () == ask_undecided([judged(branch())])


def test_a_command_stands_where_it_is_first_asked_for() -> None:
    """Once, with everything that its output tells."""
    first = Question(fact="the routes", ask="ip route", decides=("none: add one",))
    other = Question(fact="the rules", ask="ip rule", decides=())
    again = Question(fact="the way back", ask="ip route", decides=("none: add one", "lxc1: look"))
    joined, between = ask_each_once((first, other, again, first))

    assert ("the routes; the way back", "ip route") == (joined.fact, joined.ask)
    assert ("none: add one", "lxc1: look") == joined.decides
    assert other == between


def test_what_a_walk_could_not_decide_is_not_joined_to_words() -> None:
    """It is a value, of which only a report makes a sentence."""
    stopped = Question(fact=NoRoute(ip("10.0.0.9")), ask="ip route", decides=("then it goes on",))
    named = Question(fact="the routes", ask="ip route", decides=("none: add one",))
    (joined,) = ask_each_once((stopped, named))

    assert stopped.fact == joined.fact
    assert ("then it goes on", "none: add one") == joined.decides


def test_a_connection_that_works_asks_what_would_break_it() -> None:
    """One assumption that is turned, with what it is usually."""
    usual, turned = assumption("forwarding"), assumption("forwarding", 1)
    (asked,) = ask_what_would_break([judged(branch(usual), branch(turned, works=False))])

    assert ("forwarding", "sysctl x") == (asked.fact, asked.ask)
    assert (BreakingValue("forwarding is 1", None), "forwarding is 0: it works") == asked.decides


def test_what_cannot_be_asked_is_not() -> None:
    """Two things at once, what the kernel draws, what no command tells, and branches that work."""
    one, other = assumption("a", 1), assumption("b", 1)
    drawn, silent = assumption("c", 1, random=True), assumption("d", 1, ask="")
    branches = [
        branch(one, other, works=False),
        branch(drawn, works=False),
        branch(silent, works=False),
        branch(one),
        branch(one, works=None),
    ]

    assert () == ask_what_would_break([judged(branch(), *branches)])
    failing = branch(one, works=False)
    assert () == ask_what_would_break([judged(branch(works=False), failing)])
    assert () == ask_what_would_break([judged(branch(), failing, fit=Fit.KEEPS)])
    (asked,) = ask_what_would_break([judged(branch(), failing, failing)])
    assert "otherwise: it works" == asked.decides[-1]


def unplaced(number: int) -> Unplaced:
    """Make a failure of which an end is not known."""
    return Unplaced(
        target="",
        result=None,
        span=span("it fails"),
        missing=f"address {number}",
        ask=f"ask {number}",
    )


def test_no_more_is_asked_than_anybody_would_answer() -> None:
    """The first are kept; one command is asked for once."""
    asked = ask_for_ends([unplaced(0), *map(unplaced, range(MOST + 3))])

    assert [f"ask {number}" for number in range(MOST)] == [each.ask for each in asked]
    assert "address 0" == asked[0].fact


def finding(*commands: str) -> Finding:
    """Make a possible fault with what would settle it."""
    asks = tuple(
        FollowUp(fact=f"of {command}", command=command, decides="it is so") for command in commands
    )
    return Finding(
        check="x", severity=Severity.FAULT, claim="", evidence=(), certainty=0.5, asks=asks
    )


def test_findings_ask_for_what_settles_them() -> None:
    """In their order, each command once."""
    asked = ask_for_findings([finding("b", "a"), finding("a", "c")])

    assert [
        ("of b", "b", ("it is so",)),
        ("of a", "a", ("it is so",)),
        ("of c", "c", ("it is so",)),
    ] == [(each.fact, each.ask, each.decides) for each in asked]


def test_the_all_clear_asks_for_what_forbids_it() -> None:
    """A connection to walk, with the first that is suggested; outputs; a look at the wire."""
    other = probe("tcp 10.0.0.1 > 10.0.0.3:80")
    cases: list[tuple[Forbids, str]] = [
        (NothingWalked(suggested=(ASKED, other)), f"podpath diagnose ... --probe '{ASKED}'"),
        (
            NothingWalked(suggested=()),
            "podpath diagnose ... --probe 'tcp SOURCE > DESTINATION:PORT'",
        ),
        (NotModelled(what="a bridge", ask="nft list ruleset"), "nft list ruleset"),
        (NotShown(what="routes", netns="pod", ask="ip route"), "ip route"),
    ]
    assert [ask for _, ask in cases] == [
        each.ask for forbids, _ in cases for each in ask_for_clearance([forbids])
    ]
    assert () == ask_for_clearance([NotModelled(what="a bridge", ask="")])
    (shown,) = ask_for_clearance([cases[3][0]])
    assert "routes of netns pod" == shown.fact
