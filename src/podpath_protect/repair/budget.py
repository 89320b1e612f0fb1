"""How much may be done: a token bucket for the node, one for each namespace and one for each owner,
and a pause after actions that did not help.

Time is an argument: the seconds of a clock that runs evenly since boot, so that a clock that is set
forward or back buys nothing, and that a controller that is killed and begins again finds its budget
as it left it (`save`, `load`). Sending a pod away needs a token of the node's bucket, one of the
namespace's and one of the owner's; mending in place needs one of each of three wider buckets. A
namespace has a share of what the node has, and an owner a share of its mendings, so that a tenant
whose pods break all the time spends its own. Where an action did not happen (the server refused),
its tokens are given back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from podpath_protect.repair.policy import Policy

HOUR = 3600.0
FORGET = 6 * HOUR
"""An owner of whom nothing was heard so long has a full bucket and no pause, and is forgotten."""
MOST_SHARES = 4096
"""Namespaces and owners that are remembered before those with full buckets are forgotten."""


@dataclass(slots=True)
class _Bucket:
    burst: float
    per_hour: float
    tokens: float
    filled: float

    def wait(self, now: float) -> float:
        """Fill up, and give the seconds until a token is there; 0 where one is."""
        self.tokens = min(
            self.burst, self.tokens + max(0.0, now - self.filled) * self.per_hour / HOUR
        )
        self.filled = max(self.filled, now)
        if self.tokens >= 1.0 - 1e-9:
            return 0.0
        return (1.0 - self.tokens) * HOUR / self.per_hour

    def give_back(self) -> None:
        self.tokens = min(self.burst, self.tokens + 1)


@dataclass(slots=True)
class _Owner:
    bucket: _Bucket
    in_vain: int = 0
    """Actions in a row after which no healthy pod came."""
    not_before: float = 0.0
    touched: float = 0.0


class _Saved(msgspec.Struct):
    node: tuple[float, float]
    mends: tuple[float, float]
    owners: dict[str, tuple[float, float, int, float, float]]
    shares: dict[str, tuple[float, float]] = {}


def space_of(owner: str) -> str:
    """Return the namespace of an owner as `name_owner` spells it."""
    return owner.partition("/")[0]


def _take(buckets: Sequence[_Bucket], now: float, pause: float) -> float:
    """Take a token of each bucket and give 0; or take none and give the seconds to wait."""
    wait = max(pause, *(bucket.wait(now) for bucket in buckets))
    if wait > 0:
        return wait
    for bucket in buckets:
        bucket.tokens -= 1
    return 0.0


class RepairBudget:
    """What may still be done on this node. Mutable, and of one thread."""

    def __init__(self, policy: Policy, now: float) -> None:
        """Begin with full buckets."""
        self._policy = policy
        self._node = _Bucket(policy.node_burst, policy.node_per_hour, policy.node_burst, now)
        self._mends = _Bucket(policy.mend_burst, policy.mend_per_hour, policy.mend_burst, now)
        self._owners: dict[str, _Owner] = {}
        self._shares: dict[str, _Bucket] = {}
        """By `send NAMESPACE`, `mend NAMESPACE` and `mend OWNER`."""

    def take(self, owner: str, now: float) -> float:
        """Take what sending a pod of an owner away costs and give 0; or take nothing and give the
        seconds to wait.
        """
        held = self._owner(owner, now)
        buckets = (self._node, held.bucket, self._share("send", space_of(owner), now))
        return _take(buckets, now, held.not_before - now)

    def take_mend(self, owner: str, now: float) -> float:
        """Take what mending a pod in place costs and give 0; or take nothing and give the seconds
        to wait.
        """
        return _take(self._of_mending(owner, now), now, 0.0)

    def give_back(self, owner: str, now: float) -> None:
        """Put back what sending a pod away costs, since nothing happened."""
        held = self._owner(owner, now)
        for bucket in (self._node, held.bucket, self._share("send", space_of(owner), now)):
            bucket.give_back()

    def give_back_mend(self, owner: str, now: float) -> None:
        """Put back what mending costs, since nothing happened."""
        for bucket in self._of_mending(owner, now):
            bucket.give_back()

    def _of_mending(self, owner: str, now: float) -> tuple[_Bucket, ...]:
        whose = dict.fromkeys((space_of(owner), owner))
        return self._mends, *(self._share("mend", name, now) for name in whose)

    def _share(self, action: str, whose: str, now: float) -> _Bucket:
        """Return the bucket of a namespace, or for mending of an owner: a share of the node's, and
        of the namespace's.
        """
        name = f"{action} {whose}"
        if name not in self._shares:
            if len(self._shares) >= MOST_SHARES:
                self._forget_full(now)
            whole = self._mends if action == "mend" else self._node
            part = self._policy.share ** (2 if "/" in whose else 1)
            burst = max(1.0, math.ceil(whole.burst * part))
            self._shares[name] = _Bucket(burst, whole.per_hour * part, burst, now)
        return self._shares[name]

    def _forget_full(self, now: float) -> None:
        """Forget shares that are full again: they would begin so."""
        for name, bucket in list(self._shares.items()):
            bucket.wait(now)
            if bucket.tokens >= bucket.burst:
                del self._shares[name]

    def sent_away(self, owner: str, now: float) -> float:
        """Note that a pod was evicted or deleted, and give the pause before the owner's next one
        may be.
        """
        held = self._owner(owner, now)
        pause = min(
            self._policy.owner_pause * 2.0 ** min(held.in_vain, 40), self._policy.longest_pause
        )
        held.in_vain += 1
        held.not_before = now + pause
        return pause

    def came_well(self, owner: str) -> None:
        """Note that a pod of the owner is healthy: what was done helped, and the pauses begin
        anew.
        """
        held = self._owners.get(owner)
        if held is not None:
            held.in_vain, held.not_before = 0, 0.0

    def in_vain(self, owner: str) -> int:
        """Return how many actions in a row did not help an owner's pods."""
        held = self._owners.get(owner)
        return 0 if held is None else held.in_vain

    def tokens(self, now: float) -> float:
        """Return what the node's bucket holds."""
        self._node.wait(now)
        return self._node.tokens

    def save(self) -> dict[str, object]:
        """Return all that must outlive this process, for JSON."""
        owners = {
            name: [
                held.bucket.tokens,
                held.bucket.filled,
                held.in_vain,
                held.not_before,
                held.touched,
            ]
            for name, held in self._owners.items()
        }
        buckets = {
            name: [bucket.tokens, bucket.filled]
            for name, bucket in (("node", self._node), ("mends", self._mends))
        }
        shares = {name: [bucket.tokens, bucket.filled] for name, bucket in self._shares.items()}
        return {**buckets, "owners": owners, "shares": shares}

    def load(self, saved: object, now: float) -> bool:
        """Take over what a process before us saved in this boot; false, and nothing taken, where it
        cannot be read.
        """
        try:
            state = msgspec.convert(saved, _Saved)
        except msgspec.ValidationError:
            return False
        for bucket, (tokens, filled) in ((self._node, state.node), (self._mends, state.mends)):
            bucket.tokens, bucket.filled = min(bucket.burst, max(0.0, tokens)), min(now, filled)
        for name, (tokens, filled) in state.shares.items():
            action, _, whose = name.partition(" ")
            share = self._share(action, whose, now)
            share.tokens, share.filled = min(share.burst, max(0.0, tokens)), min(now, filled)
        for name, (tokens, filled, in_vain, not_before, touched) in state.owners.items():
            held = self._owner(name, now)
            held.bucket.tokens, held.bucket.filled = (
                min(held.bucket.burst, max(0.0, tokens)),
                min(now, filled),
            )
            held.in_vain, held.touched = max(0, in_vain), min(now, touched)
            held.not_before = min(not_before, now + self._policy.longest_pause)
        return True

    def _owner(self, owner: str, now: float) -> _Owner:
        if owner not in self._owners:
            idle = [
                name
                for name, held in self._owners.items()
                if now - held.touched > FORGET and held.not_before < now
            ]
            for name in idle:
                del self._owners[name]
            burst = self._policy.owner_burst
            self._owners[owner] = _Owner(_Bucket(burst, self._policy.owner_per_hour, burst, now))
        held = self._owners[owner]
        held.touched = now
        return held
