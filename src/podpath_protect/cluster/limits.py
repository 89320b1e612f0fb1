"""How much all agents of a cluster together may do: the section [kubernetes.budget] of the agent's
configuration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

SharedAction = Literal["evict", "mend"]
SHARED_ACTIONS: Final[tuple[SharedAction, ...]] = ("evict", "mend")
HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterLimits:
    """Section [kubernetes.budget]: what all agents together may do, by a Lease that they share."""

    lease: str = "podpath/podpath-budget"
    """NAMESPACE/NAME. It is created by who deploys the agent; agents read and patch it alone."""
    taints: int = 10
    """Nodes that have the agents' taint at one time."""
    evictions: int = 10
    """Pods that are evicted or deleted at once, and then `evictions_per_hour`."""
    evictions_per_hour: float = 60.0
    mends: int = 100
    mends_per_hour: float = 1200.0
    share: float = 0.5
    """What of the evictions and mendings one namespace may have: 1 lets a single tenant, whose pods
    break on all nodes, spend all.
    """

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        if self.lease.count("/") != 1 or not all(self.lease.split("/")):
            raise ValueError("a lease as NAMESPACE/NAME")
        if min(self.taints, self.evictions, self.mends) < 1:
            raise ValueError("cluster-wide limits of at least 1")
        rates = self.evictions_per_hour, self.mends_per_hour
        if not all(math.isfinite(each) and each > 0 for each in rates):
            raise ValueError("cluster-wide rates above 0")
        if not 0 < self.share <= 1:
            raise ValueError("a share above 0 and at most 1")

    def burst(self, action: SharedAction) -> float:
        """Return how many tokens there are at most."""
        return float(self.evictions if action == "evict" else self.mends)

    def per_hour(self, action: SharedAction) -> float:
        """Return how many tokens come back in an hour."""
        if action == "evict":
            return self.evictions_per_hour
        return self.mends_per_hour

    def burst_of_one(self, action: SharedAction) -> float:
        """Return how many tokens a namespace has at most."""
        return max(1.0, math.ceil(self.burst(action) * self.share))
