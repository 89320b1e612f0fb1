"""What all agents of a cluster together may do: one state that they share, and how it changes.

What comes in is the state as it is stored, the limits and the time; what goes out is the state as
it shall be stored and what was granted. Evictions and mendings are tokens that come back with time;
taints are places that a node holds while its taint is on, and that lapse where its agent has not
been heard of for an hour. Beside the cluster's tokens each namespace has a share of them, so that
one tenant cannot spend what is everybody's; a share that is full is not stored.

Time is the wall clock's, since it is all that nodes share. The stored stamp never goes back, so an
agent whose clock is behind gets nothing for the difference, and one whose clock runs ahead gets
early what the others then wait for: all together never have more than the burst, and the rate times
the time that any of their clocks saw pass. What is stored and cannot be read counts as spent.

A change is a generator that asks for what it needs (`Read`, `Write`), so that it is the same for an
API server and for a test that lets agents overtake each other at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, TypeVar

import msgspec

from podpath.net.errors import PodpathError
from podpath_protect.cluster.limits import HOUR, SHARED_ACTIONS, ClusterLimits, SharedAction

T = TypeVar("T")
HELD_SECONDS: Final = HOUR
"""A place whose node has not renewed it for so long is free: its agent, or the node, is gone."""
ATTEMPTS: Final = 10
WHOLE: Final = 1.0 - 1e-9


class Contended(PodpathError):
    """Others wrote at each attempt; nothing was granted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedState:
    """What is stored."""

    stamp: float
    """The latest time that an agent wrote at, in seconds since 1970."""
    tokens: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[str, float] = field(default_factory=dict)
    """Nodes that hold a place for their taint, and when each said so last."""
    spaces: Mapping[SharedAction, Mapping[str, float]] = field(default_factory=dict)
    """What is left to each namespace of its share, where that is not all."""


class _Stored(msgspec.Struct):
    stamp: float
    tokens: dict[str, float] = {}
    held: dict[str, float] = {}
    spaces: dict[str, dict[str, float]] = {}


def parse_state(text: str, limits: ClusterLimits, now: float) -> SharedState:
    """Read what is stored: nothing yet is a full budget, and what cannot be read an empty one."""
    if not text:
        full: dict[str, float] = {action: limits.burst(action) for action in SHARED_ACTIONS}
        return SharedState(stamp=now, tokens=full)
    try:
        stored = msgspec.json.decode(text, type=_Stored)
    except (msgspec.MsgspecError, UnicodeError):
        return SharedState(stamp=now, tokens={str(action): 0.0 for action in SHARED_ACTIONS})
    tokens = {str(action): max(0.0, stored.tokens.get(action, 0.0)) for action in SHARED_ACTIONS}
    spaces = {action: stored.spaces[action] for action in SHARED_ACTIONS if action in stored.spaces}
    return SharedState(stamp=stored.stamp, tokens=tokens, held=stored.held, spaces=spaces)


def emit_state(state: SharedState) -> str:
    """Write what is stored."""
    stored = _Stored(
        stamp=state.stamp,
        tokens=dict(state.tokens),
        held=dict(state.held),
        spaces={str(action): dict(left) for action, left in state.spaces.items()},
    )
    return msgspec.json.encode(stored).decode()


def advance(state: SharedState, limits: ClusterLimits, now: float) -> SharedState:
    """Let time pass: tokens come back, places lapse; a clock that is behind changes nothing."""
    later = max(now, state.stamp)
    tokens: dict[str, float] = {
        action: min(
            limits.burst(action),
            state.tokens[action] + (later - state.stamp) * limits.per_hour(action) / HOUR,
        )
        for action in SHARED_ACTIONS
    }
    held = {node: said for node, said in state.held.items() if later - said < HELD_SECONDS}
    spaces = {
        action: _refill(left, limits, action, later - state.stamp)
        for action, left in state.spaces.items()
    }
    return SharedState(
        stamp=later,
        tokens=tokens,
        held=held,
        spaces={action: left for action, left in spaces.items() if left},
    )


def _refill(
    left: Mapping[str, float], limits: ClusterLimits, action: SharedAction, passed: float
) -> dict[str, float]:
    """Let the namespaces' tokens come back, and forget the shares that are full again."""
    more = passed * limits.per_hour(action) * limits.share / HOUR
    filled = {space: max(0.0, tokens) + more for space, tokens in left.items()}
    most = limits.burst_of_one(action)
    return {space: tokens for space, tokens in filled.items() if tokens < most}


def spend(
    state: SharedState, limits: ClusterLimits, action: SharedAction, space: str, now: float
) -> tuple[SharedState, float]:
    """Take a token of the cluster's and one of a namespace's and return 0; or take nothing and
    return the seconds to wait.
    """
    current = advance(state, limits, now)
    there, own = current.tokens[action], _own(current, limits, action, space)
    if min(there, own) < WHOLE:
        rate = limits.per_hour(action)
        wait = max((1.0 - there) / rate, (1.0 - own) / (rate * limits.share)) * HOUR
        return state, wait + current.stamp - now
    return _with(current, limits, action, (max(0.0, there - 1.0), space, max(0.0, own - 1.0))), 0.0


def refund(
    state: SharedState, limits: ClusterLimits, action: SharedAction, space: str, now: float
) -> tuple[SharedState, None]:
    """Put a token back to the cluster's and to a namespace's, since nothing happened."""
    current = advance(state, limits, now)
    there = min(limits.burst(action), current.tokens[action] + 1.0)
    own = _own(current, limits, action, space) + 1.0
    return _with(current, limits, action, (there, space, own)), None


def _own(state: SharedState, limits: ClusterLimits, action: SharedAction, space: str) -> float:
    return state.spaces.get(action, {}).get(space, limits.burst_of_one(action))


def _with(
    state: SharedState,
    limits: ClusterLimits,
    action: SharedAction,
    left: tuple[float, str, float],
) -> SharedState:
    """Return the state with what is left of an action to the cluster, and to a namespace."""
    there, space, own = left
    spaces = {**state.spaces.get(action, {}), space: own}
    kept = {name: tokens for name, tokens in spaces.items() if tokens < limits.burst_of_one(action)}
    return replace(
        state,
        tokens={**state.tokens, action: there},
        spaces={**state.spaces, action: kept},
    )


def hold(
    state: SharedState, limits: ClusterLimits, node: str, now: float
) -> tuple[SharedState, bool]:
    """Take a node's place for its taint, or renew it; false, and nothing changed, where all are
    taken.
    """
    current = advance(state, limits, now)
    if node not in current.held and len(current.held) >= limits.taints:
        return state, False
    return replace(current, held={**current.held, node: current.stamp}), True


def release(state: SharedState, node: str) -> tuple[SharedState, None]:
    """Give a node's place back."""
    return replace(
        state, held={name: said for name, said in state.held.items() if name != node}
    ), None


class Stored(NamedTuple):
    """What stands in the store, in which version."""

    version: str
    text: str


class Read(NamedTuple):
    """Asks for what stands in the store."""


class Write(NamedTuple):
    """Asks to store a text where the version is still this one."""

    version: str
    text: str


Change = Generator[Read | Write, Stored | None, T]
"""A change on its way: each `Read` is answered by what is stored, each `Write` by what is stored
then, or by None where another was quicker.
"""


def change(decide: Callable[[str], tuple[str, T]]) -> Change[T]:
    """Read, decide and write until nobody came between; `Contended` where that does not happen."""
    for _ in range(ATTEMPTS):
        held = yield Read()
        if held is None:
            continue
        text, answer = decide(held.text)
        if text == held.text or (yield Write(held.version, text)) is not None:
            return answer
    raise Contended("the cluster's budget could not be had: others wrote at each attempt")
