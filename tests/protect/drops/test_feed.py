"""Tests of `protect.drops.feed`: who is told of which drops, and what bounds it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from podpath_protect.drops.feed import (
    MOST_WAITING,
    BusyError,
    DropFeed,
    DropSubscription,
    DropWish,
    RequestError,
    parse_wish,
)
from podpath_protect.drops.options import DropOptions
from tests.protect.drops.lines import encode, make_drop, make_flow, make_turn

OPTIONS = DropOptions(watchers=2, lines=1000)


def taken(told: DropSubscription) -> list[dict[str, Any]]:
    """Return what waits for a watcher."""
    found: list[dict[str, Any]] = []
    while more := told.take(0.01):
        found += more
    return found


def test_a_watcher_has_the_drops_of_its_pod() -> None:
    """From the pod, to it, in it, by its name or its address; and no byte of any packet."""
    feed = DropFeed(OPTIONS, lambda: 0.0)
    with feed.subscribe(DropWish(frozenset({"shop/web-0"}), frozenset({"10.9.9.9"}))) as told:
        for more in (
            {"src_pod": "shop/web-0"},
            {"src_pod": None, "dst_pod": "shop/web-0"},
            {"src_pod": None, "pod": "shop/web-0"},
            {"src_pod": None, "src": "10.9.9.9"},
            {"src_pod": "shop/api-0"},
        ):
            feed.take(encode(make_drop(**more)))
        found = taken(told)

    assert len(found) == 4
    assert {each["packet"] for each in found} == {None}
    assert feed.watchers == 0


def test_who_joins_late_is_told_of_a_flow_when_it_is_counted() -> None:
    """The drop comes before the rates, and once."""
    feed = DropFeed(OPTIONS, lambda: 0.0)
    feed.take(encode(make_drop()))
    with feed.subscribe(DropWish()) as told:
        for _ in range(2):
            feed.take(encode(make_turn(make_flow())))
        assert [each["kind"] for each in taken(told)] == ["drop", "flows", "flows"]


def test_every_watcher_is_told_once_drops_are_heard() -> None:
    """Who joins before, when it begins; who joins later, at once; nobody, where that is over."""
    feed = DropFeed(OPTIONS, lambda: 0.0)
    listening = {"schema": "podpath/drops/v1", "kind": "listening", "time": 1.0}
    with feed.subscribe(DropWish()) as first:
        assert taken(first) == []
        feed.take(encode(listening))
        with feed.subscribe(DropWish()) as second:
            assert taken(first) == taken(second) == [listening]
    for over in (feed.forget, feed.restart, feed.end):
        feed.take(encode(listening))
        over()
        with feed.subscribe(DropWish()) as third:
            assert taken(third) == []


def test_rates_are_of_the_flows_that_are_wanted() -> None:
    """Where none is, nothing is told."""
    feed = DropFeed(OPTIONS, lambda: 0.0)
    other = make_flow(src_pod="shop/api-0", src="10.9.1.3")
    with feed.subscribe(DropWish(frozenset({"shop/web-0"}))) as told:
        feed.take(encode(make_turn(other)))
        feed.take(encode(make_turn(other, make_flow(9))))
        (turn,) = taken(told)

    assert [flow["packets"] for flow in turn["flows"]] == [9]


def test_drops_beyond_the_bound_are_counted() -> None:
    """So many in a second, and what is beyond is said with the next rates."""
    now = [0.0]
    feed = DropFeed(DropOptions(watchers=1, lines=3), lambda: now[0])
    with feed.subscribe(DropWish()) as told:
        for number in range(10):
            feed.take(encode(make_drop(flow=f"flow {number}")))
        now[0] = 1.0
        feed.take(encode(make_drop(flow="flow 10")))
        feed.take(encode(make_turn(unsent=2)))
        *drops, turn = taken(told)

    assert [each["flow"] for each in drops] == ["flow 0", "flow 1", "flow 2", "flow 10"]
    assert turn["losses"]["unsent"] == 2 + 7


def test_a_watcher_that_does_not_read_holds_no_memory() -> None:
    """Its queue is bounded, and its end comes all the same."""
    feed = DropFeed(DropOptions(watchers=1, lines=1 << 20), lambda: 0.0)
    with feed.subscribe(DropWish()) as told:
        for number in range(2 * MOST_WAITING):
            feed.take(encode(make_drop(flow=f"flow {number}")))
        feed.end("it broke")
        rest = [told.take(0.01) for _ in range(MOST_WAITING)]

    assert rest[-1] is None
    assert None not in rest[:-1]
    assert feed.failure == "it broke"


def test_there_are_no_more_watchers_than_may_be() -> None:
    """Who comes beyond is refused, and let in when another has gone."""
    feed = DropFeed(DropOptions(watchers=1))
    with feed.subscribe(DropWish()), pytest.raises(BusyError, match="1 watch already"):
        feed.subscribe(DropWish()).__enter__()
    with feed.subscribe(DropWish()):
        assert feed.watchers == 1


def test_who_waits_for_a_place_has_it_when_another_goes() -> None:
    """A watcher with patience is let in the moment that one leaves."""
    feed = DropFeed(DropOptions(watchers=1))
    seen: list[int] = []

    def come() -> None:
        with feed.subscribe(DropWish(), 60.0):
            seen.append(feed.watchers)

    with feed.subscribe(DropWish()):
        comer = threading.Thread(target=come)
        comer.start()
        comer.join(0.1)
        assert seen == []
    comer.join(60.0)
    assert seen == [1]


@pytest.mark.parametrize("line", [b"", b"x", b"[]", b'{"kind":"flows"}', b'{"kind":"drop"}', b"{}"])
def test_whatever_the_process_prints_is_borne(line: bytes) -> None:
    """A line of another form is told to nobody as a count."""
    feed = DropFeed(OPTIONS)
    with feed.subscribe(DropWish(frozenset({"shop/web-0"}))) as told:
        feed.take(line)
        assert taken(told) == []


def test_a_wish_is_read() -> None:
    """Pods, addresses in any spelling, and a time."""
    assert parse_wish("") == DropWish()
    assert parse_wish("pod=shop/web-0&address=fd00:0::1&seconds=30") == DropWish(
        frozenset({"shop/web-0"}), frozenset({"fd00::1"}), 30.0
    )


@pytest.mark.parametrize(
    "query",
    [
        "pod=web-0",
        "pod=../x",
        "address=web",
        "seconds=x",
        "seconds=nan",
        "seconds=-1",
        "who=me",
        "&&",
    ],
)
def test_a_wish_that_is_none_is_refused(query: str) -> None:
    """Each says what was expected."""
    with pytest.raises(RequestError, match="expected"):
        parse_wish(query)
