"""Which sorts of fault follow from which."""

from __future__ import annotations

import pytest

from podpath.checks.category import Category
from podpath.diagnosis.following import FOLLOWS, follows_from


def test_a_consequence_follows_from_its_cause_and_not_the_reverse() -> None:
    """No endpoints follow from a missing route."""
    assert follows_from((Category.NO_ENDPOINTS,), (Category.NO_ROUTE,))
    assert not follows_from((Category.NO_ROUTE,), (Category.NO_ENDPOINTS,))


def test_what_may_be_either_way_follows_neither() -> None:
    """An agent installs routes, and needs one to the API server."""
    agent, route = (Category.CNI_AGENT,), (Category.NO_ROUTE,)
    assert not follows_from(route, agent)
    assert not follows_from(agent, route)


@pytest.mark.parametrize("category", Category)
def test_nothing_follows_from_itself(category: Category) -> None:
    """Two faults of one sort are the same, or stand side by side."""
    assert category not in FOLLOWS.get(category, frozenset())
    assert not follows_from((category,), (category,))


def test_a_left_over_device_follows_from_a_network_that_was_not_made() -> None:
    """The engine stopped halfway, and finds its own device at the next try."""
    device = (Category.TUNNEL_CONFIGURATION, Category.KERNEL_MODULE)
    assert follows_from(device, (Category.OVERLAPPING_RANGES,))
    assert not follows_from((Category.OVERLAPPING_RANGES,), device)
