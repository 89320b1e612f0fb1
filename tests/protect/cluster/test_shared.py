"""Several agents at once never spend more than all together may, however they overtake each other.

Each agent's change is a generator; the tests answer them one step at a time in an order that
Hypothesis draws, over a store that refuses what was decided on an older version, as an API server
does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath_protect.cluster import shared
from podpath_protect.cluster.limits import HOUR, ClusterLimits
from podpath_protect.cluster.shared import (
    ATTEMPTS,
    HELD_SECONDS,
    Change,
    Contended,
    Read,
    SharedState,
    Stored,
    Write,
    change,
    emit_state,
    parse_state,
)

LIMITS = ClusterLimits(
    evictions=3, evictions_per_hour=6.0, mends=5, mends_per_hour=60.0, taints=2, share=1.0
)
SHARED = replace(LIMITS, share=0.5)
START = 1_795_312_800.0
PAUSES = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.0, 20.0, 120.0])
STEPS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(["go", "go", "go", "go", "lose"]), PAUSES),
    min_size=10,
    max_size=80,
)
SKEWS = st.just([0.0] * 5) | st.lists(st.floats(-60, 60), min_size=5, max_size=5)


@dataclass
class Store:
    """One object with a version."""

    text: str = ""
    version: int = 1

    def answer(self, asked: Read | Write) -> Stored | None:
        """Answer as an API server does."""
        if isinstance(asked, Write):
            if asked.version != str(self.version):
                return None
            self.text, self.version = asked.text, self.version + 1
        return Stored(str(self.version), self.text)


@dataclass
class Agent:
    """One agent that wants a token again and again."""

    begin: Callable[[], Change[float]]
    granted: int = 0
    _steps: Change[float] | None = None
    _asked: Read | Write = field(default_factory=Read)

    def step(self, store: Store, *, lose: bool) -> None:
        """Send what was asked for; where the answer is lost, the agent gives up, and begins anew
        with the next step.
        """
        if self._steps is None:
            self._steps = self.begin()
            self._asked = next(self._steps)
        held = store.answer(self._asked)
        if lose:
            self._steps = None
            return
        try:
            self._asked = self._steps.send(held)
        except StopIteration as end:
            self.granted += end.value == 0.0
            self._steps = None
        except Contended:
            self._steps = None


@given(STEPS, SKEWS)
def test_all_together_never_spend_more(
    steps: list[tuple[int, str, float]], skews: list[float]
) -> None:
    """Whatever the order of reads and writes, answers that are lost and clocks that differ: what is
    granted is at most the burst, and the rate times the time that some clock saw pass.
    """
    now = [START]

    def wanting(skew: float) -> Callable[[], Change[float]]:
        def decide(text: str) -> tuple[str, float]:
            mine = now[0] + skew
            before = parse_state(text, LIMITS, mine)
            after, wait = shared.spend(before, LIMITS, "evict", "shop", mine)
            return emit_state(after), wait

        return lambda: change(decide)

    store, agents = Store(), [Agent(wanting(skew)) for skew in skews]
    for who, what, pause in steps:
        agents[who].step(store, lose=what == "lose")
        now[0] += pause

    passed = now[0] - START + max(skews) - min(skews)
    most = LIMITS.burst("evict") + passed * LIMITS.per_hour("evict") / HOUR
    assert sum(agent.granted for agent in agents) <= most + 1e-6


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=60))
def test_all_together_never_hold_more_places(steps: list[tuple[int, bool]]) -> None:
    """However takers and givers overtake each other, no more nodes than there are places believe
    that they hold one.
    """
    store = Store()
    holding: set[int] = set()
    pending: dict[int, tuple[Change[bool], Read | Write]] = {}

    def begin(who: int) -> Change[bool]:
        def decide(text: str) -> tuple[str, bool]:
            before = parse_state(text, LIMITS, START)
            if who in holding:
                return emit_state(shared.release(before, str(who))[0]), False
            after, got = shared.hold(before, LIMITS, str(who), START)
            return emit_state(after), got

        return change(decide)

    for who, _ in steps:
        if who not in pending:
            fresh = begin(who)
            pending[who] = fresh, next(fresh)
        on_its_way, asked = pending.pop(who)
        try:
            pending[who] = on_its_way, on_its_way.send(store.answer(asked))
        except StopIteration as end:
            holding = holding | {who} if end.value else holding - {who}
        except Contended:
            continue
        assert len(holding) <= LIMITS.taints


def spent(
    state: SharedState, times: int, now: float, space: str = "shop"
) -> tuple[SharedState, list[float]]:
    """Spend so often, and return the waits."""
    waits = []
    for _ in range(times):
        state, wait = shared.spend(state, LIMITS, "evict", space, now)
        waits.append(wait)
    return state, waits


def test_tokens_come_back_with_time() -> None:
    """Three at once, then one every ten minutes; what waits is told how long."""
    state, waits = spent(parse_state("", LIMITS, START), 4, START)
    later, again = spent(state, 2, START + 600)

    assert [0.0, 0.0, 0.0, 600.0] == pytest.approx(waits)
    assert [0.0, 600.0] == pytest.approx(again)
    assert 5.0 == later.tokens["mend"]


def test_a_clock_that_is_behind_gets_nothing_for_it() -> None:
    """The stamp never goes back: what the clock is behind is waited for beside the token."""
    state, _ = spent(parse_state("", LIMITS, START), 3, START)
    behind, wait = shared.spend(state, LIMITS, "evict", "shop", START - 100)

    assert state == behind
    assert 700.0 == pytest.approx(wait)


def test_what_did_not_happen_costs_nothing() -> None:
    """A token that is put back can be taken again, and there are never more than the burst."""
    state, _ = spent(parse_state("", LIMITS, START), 3, START)
    for _ in range(5):
        state, _ = shared.refund(state, LIMITS, "evict", "shop", START)

    assert [0.0, 0.0, 0.0, 600.0] == pytest.approx(spent(state, 4, START)[1])


@pytest.mark.parametrize("text", ["{", "[]", '{"stamp": "x"}', '{"stamp": 1e999}', "\udcff"])
def test_what_cannot_be_read_counts_as_spent(text: str) -> None:
    """Somebody else's words in the annotation grant nothing; time fills the budget again."""
    state = parse_state(text, LIMITS, START)

    assert spent(state, 1, START)[1] == pytest.approx([600.0])
    assert spent(state, 1, START + 600)[1] == [0.0]


def test_one_namespace_spends_no_more_than_its_share() -> None:
    """A tenant whose pods break on all nodes gets two of three and then half of what comes back;
    another's pod finds the third, and waits for what is everybody's.
    """

    def spend(state: SharedState, space: str, now: float) -> tuple[SharedState, float]:
        return shared.spend(
            parse_state(emit_state(state), SHARED, now), SHARED, "evict", space, now
        )

    state, waits = parse_state("", SHARED, START), []
    for space in ("loud", "loud", "loud", "quiet", "quiet"):
        state, wait = spend(state, space, START)
        waits.append(wait)
    assert [0.0, 0.0, 1200.0, 0.0, 600.0] == pytest.approx(waits)
    later = [spend(state, space, START + 600.0)[1] for space in ("loud", "quiet", "new")]
    assert [600.0, 0.0, 0.0] == pytest.approx(later)
    state, _ = shared.refund(state, SHARED, "evict", "loud", START)
    assert {"loud": 1.0, "quiet": 1.0} == state.spaces["evict"]
    assert {} == shared.advance(state, SHARED, START + HOUR).spaces


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), PAUSES), max_size=60))
def test_no_namespace_and_not_all_spend_more(asked: list[tuple[str, float]]) -> None:
    """Whoever asks when: each namespace has its burst and its part of the rate at most, and all
    have what the cluster has.
    """
    state, now = parse_state("", SHARED, START), START
    granted = dict.fromkeys("abc", 0)
    for space, pause in asked:
        state, wait = shared.spend(state, SHARED, "evict", space, now)
        granted[space] += wait <= 0.0
        now += pause
    hours = (now - START) / HOUR

    assert sum(granted.values()) <= 3 + 6 * hours + 1e-6
    assert max(granted.values()) <= 2 + 3 * hours + 1e-6


def test_places_are_renewed_and_lapse() -> None:
    """A node that is heard of keeps its place; one that is not for an hour makes room."""
    state = parse_state("", LIMITS, START)
    for node in ("a", "b"):
        state, _ = shared.hold(state, LIMITS, node, START)
    full = shared.hold(state, LIMITS, "c", START)[1]
    state, kept = shared.hold(state, LIMITS, "a", START + HELD_SECONDS - 1)
    state, room = shared.hold(state, LIMITS, "c", START + HELD_SECONDS)

    assert (False, True, True) == (full, kept, room)
    assert {"a", "c"} == set(state.held)
    assert {"a"} == set(shared.release(state, "c")[0].held)


def test_it_is_written_as_it_is_read() -> None:
    """What was stored comes back to the letter."""
    state = SharedState(stamp=START, tokens={"evict": 1.5, "mend": 0.1}, held={"node": START})
    state = replace(state, spaces={"evict": {"shop": 0.5}})

    assert state == parse_state(emit_state(state), LIMITS, START)


def test_who_is_always_overtaken_is_told() -> None:
    """After so many attempts nothing was granted, and the caller hears it."""
    steps = change(lambda text: (text + "x", True))
    asked = next(steps)
    for _ in range(2 * ATTEMPTS - 1):
        asked = steps.send(Stored("1", "") if isinstance(asked, Read) else None)
    with pytest.raises(Contended):
        steps.send(None)


def test_what_changes_nothing_is_not_written() -> None:
    """A decision that leaves the text as it is ends with the read."""
    steps = change(lambda text: (text, 7))
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send(Stored("1", "same"))

    assert end.value.value == 7
