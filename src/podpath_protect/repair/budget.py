"""How much may be done: a token bucket for the node and one for each owner, and a pause after deeds
that did not help.

Time is an argument: the seconds of a clock that runs evenly since boot, so that a clock that is set
forward or back buys nothing, and that a controller that is killed and begins again finds its budget
as it left it (`save`, `load`). Sending a pod away needs a token of the node's bucket and one of the
owner's; mending in place needs one of a wider bucket. Where a deed did not happen (the server
refused), its tokens are given back.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from podpath_protect.repair.policy import Policy

HOUR = 3600.0
FORGET = 6 * HOUR
"""An owner of whom nothing was heard so long has a full bucket and no pause, and is forgotten."""


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
        return 0.0 if self.tokens >= 1.0 - 1e-9 else (1.0 - self.tokens) * HOUR / self.per_hour

    def give_back(self) -> None:
        self.tokens = min(self.burst, self.tokens + 1)


@dataclass(slots=True)
class _Owner:
    bucket: _Bucket
    in_vain: int = 0
    """Deeds in a row after which no healthy pod came."""
    not_before: float = 0.0
    touched: float = 0.0


class _Saved(msgspec.Struct):
    node: tuple[float, float]
    mends: tuple[float, float]
    owners: dict[str, tuple[float, float, int, float, float]]


class RepairBudget:
    """What may still be done on this node. Mutable, and of one thread."""

    def __init__(self, policy: Policy, now: float) -> None:
        """Begin with full buckets."""
        self._policy = policy
        self._node = _Bucket(policy.node_burst, policy.node_per_hour, policy.node_burst, now)
        self._mends = _Bucket(policy.mend_burst, policy.mend_per_hour, policy.mend_burst, now)
        self._owners: dict[str, _Owner] = {}

    def take(self, owner: str, now: float) -> float:
        """Take what sending a pod of an owner away costs and give 0; or take nothing and give the
        seconds to wait.
        """
        held = self._owner(owner, now)
        wait = max(self._node.wait(now), held.bucket.wait(now), held.not_before - now)
        if wait > 0:
            return wait
        self._node.tokens -= 1
        held.bucket.tokens -= 1
        return 0.0

    def take_mend(self, now: float) -> float:
        """Take what mending a pod in place costs and give 0; or take nothing and give the seconds
        to wait.
        """
        wait = self._mends.wait(now)
        if wait <= 0:
            self._mends.tokens -= 1
        return wait

    def give_back(self, owner: str, now: float) -> None:
        """Put back what sending a pod away costs, since nothing happened."""
        self._node.give_back()
        self._owner(owner, now).bucket.give_back()

    def give_back_mend(self) -> None:
        """Put back what mending costs, since nothing happened."""
        self._mends.give_back()

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
        """Return how many deeds in a row did not help an owner's pods."""
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
        return {**buckets, "owners": owners}

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
