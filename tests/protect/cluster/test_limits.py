"""What the section [kubernetes.budget] takes and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from podpath_protect.cluster.limits import ClusterLimits


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"lease": "podpath-budget"}, "NAMESPACE/NAME"),
        ({"lease": "a/b/c"}, "NAMESPACE/NAME"),
        ({"lease": "/b"}, "NAMESPACE/NAME"),
        ({"taints": 0}, "at least 1"),
        ({"mends": 0}, "at least 1"),
        ({"evictions_per_hour": 0.0}, "above 0"),
        ({"mends_per_hour": float("nan")}, "above 0"),
        ({"mends_per_hour": float("inf")}, "above 0"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(given: dict[str, Any], word: str) -> None:
    """No Lease, no place, no rate: each is refused where the configuration is read."""
    with pytest.raises(ValueError, match=word):
        ClusterLimits(**given)


def test_each_action_has_its_limits() -> None:
    """Evictions and mendings are counted apart."""
    limits = ClusterLimits(evictions=2, evictions_per_hour=3.0, mends=4, mends_per_hour=5.0)

    assert (2.0, 3.0) == (limits.burst("evict"), limits.per_hour("evict"))
    assert (4.0, 5.0) == (limits.burst("mend"), limits.per_hour("mend"))
