"""Which drops are asked for."""

from __future__ import annotations

from typing import NamedTuple

from podpath.drops.events import DropKey
from podpath.drops.noise import is_daily
from podpath.net.addresses import Prefix


class DropChoice(NamedTuple):
    """What a drop must have; empty where anything will do."""

    prefixes: tuple[Prefix, ...] = ()
    """One of its ends lies in one of these."""
    ports: frozenset[int] = frozenset()
    reasons: frozenset[str] = frozenset()
    daily: bool = False
    """True: the daily life of a node too."""

    def takes(self, key: DropKey) -> bool:
        """Tell whether a drop is one of them."""
        if self.reasons and key.reason not in self.reasons:
            return False
        if self.ports and not self.ports & {key.sport, key.dport}:
            return False
        if self.prefixes and not self._has_end(key):
            return False
        # a reason that is asked for by its name is wanted, however common it is
        return self.daily or key.reason in self.reasons or not is_daily(key)

    def _has_end(self, key: DropKey) -> bool:
        ends = [end for end in (key.src, key.dst) if end is not None]
        return any(prefix.covers(end) for prefix in self.prefixes for end in ends)
